#!/usr/bin/python3
"""Counts what the library and the tools should have less of, and fails if a number has grown.

    scripts/check_counts.py

The numbers are those of libformat and tools:
  put_and_get       types with a function put() and a function get() for messages; fields() serves both directions
                    (libformat/base/parallel/message_fields.h)
  message_bytes     lines that put or get bytes of a message themselves
  dynamic_cast      casts, which a variant or a virtual function would replace
  byte_sources      classes that are derived from ByteSource
  public_headers    headers of libformat/include/nmb, and
  public_lines      their lines
  long_lines        lines of them with more than 100 columns
  private_includes  lines of them that include a header which is not public
The commit with which a number falls also lowers its limit below, except for public headers, whose limits are goals. Exit code 1: a number exceeds its limit; the places are printed.
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FOLDERS = "libformat", "tools"
CODEC = "message_codec.h", "message_fields.h"
LIMITS = {"put_and_get": 0, "message_bytes": 1, "dynamic_cast": 0, "byte_sources": 12, "public_headers": 20,
          "public_lines": 3000, "long_lines": 0, "private_includes": 0}  # may only fall

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
MESSAGE = r"(?:Message(?:Writer|Reader)|Fields(?:Out|In))\s*[&*]"
PUT, GET = re.compile(rf"\bput\({MESSAGE}"), re.compile(rf"\bget\({MESSAGE}")
BYTES = re.compile(r"\bMessage(?:Writer|Reader)\b|\bin_?(?:\.|->)get<|(?:\.|->)(?:get|put)_(?:raw|room|list|small|bytes)\b")
CAST = re.compile(r"\bdynamic_cast\b")
TYPE = re.compile(r"\b(?:class|struct)\s+(?:NMB_EXPORT\s+)?([\w:]+)(?:\s+final)?\s*:\s*([^{;]*)\{")


def derived(bases, root):
    """The names of classes that are derived from `root`, directly or not."""
    found = {root}
    while True:
        more = {name for name, of in bases.items() if name not in found and of & found}
        if not more:
            return found - {root}
        found |= more


def counts():
    places = {name: [] for name in LIMITS}
    bases = {}
    for path in sorted(path for folder in FOLDERS for path in (PROJECT / folder).rglob("*") if path.suffix in (".h", ".cpp")):
        text = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), path.read_text())
        name = path.relative_to(PROJECT)
        for found in TYPE.finditer(text):
            bases[found[1]] = set(re.findall(r"\w+", found[2]))
        for key, pattern in (("message_bytes", BYTES), ("dynamic_cast", CAST)):
            if key == "message_bytes" and path.name in CODEC:
                continue
            places[key] += [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) for _ in pattern.findall(line)]
        both = min(len(PUT.findall(text)), len(GET.findall(text)))
        places["put_and_get"] += [str(name)] * both
    for path in sorted((PROJECT / "libformat/include/nmb").iterdir()):
        places["public_headers"].append(path.name)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            place = f"{path.name}:{number}"
            places["public_lines"].append(place)
            places["long_lines"] += [place] * (len(line) > 100)
            if re.match(r'#include "(?!nmb/)', line):
                places["private_includes"].append(place)
    places["byte_sources"] = sorted(derived(bases, "ByteSource"))
    return places


def main():
    places = counts()
    failed = False
    for name, limit in LIMITS.items():
        number = len(places[name])
        hint = f"; lower its limit, which is {limit}" if number < limit and not name.startswith("public") else ""
        print(f"{name} {number}{hint}")
        if number > limit:
            failed = True
            print("\n".join([f"{name}: found {number}, expected at most {limit}:", *places[name]]), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
