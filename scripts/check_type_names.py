#!/usr/bin/python3
"""Fails where two headers define types of the same name in the same namespace: the linker would take members of one for those
of the other, without a word.

    scripts/check_type_names.py FOLDER...
"""

import re
import sys
from pathlib import Path

NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
TYPE = re.compile(r"(?:class|struct|union|enum class) (?:NMB_EXPORT )?(\w+)[^;]*$")


def types_of(header):
    """(namespace, name) of what a header defines outside of other types, which clang-format does not indent."""
    namespace = ""
    for line in header.read_text().splitlines():
        if found := NAMESPACE.match(line):
            namespace = found[1]
        elif found := TYPE.match(line):
            yield namespace, found[1]


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    first, failed = {}, False
    for folder in sys.argv[1:]:
        for header in sorted(Path(folder).rglob("*.h")):
            for name in types_of(header):
                other = first.setdefault(name, header)
                if other != header:
                    print(f"{header}: found {'::'.join(name)}, which {other} defines too, expected another name")
                    failed = True
    print(f"{len(first)} types")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
