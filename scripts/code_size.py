#!/usr/bin/python3
"""How large the code is: tokens, and the longest functions, classes and files, as Markdown tables.

    scripts/code_size.py [--compare COMMIT] [FOLDER...]

Of C and C++ files below FOLDER (default: libformat and tools). Tokens are those of `clang -cc1 -dump-raw-tokens` without
comments and blanks: line breaks and dense code change nothing. --compare also counts COMMIT and exits with 1 if there are
more tokens now. Lines of a function or class are those from its name to its last brace, as universal-ctags finds them.
"""

import argparse
import collections
import concurrent.futures
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
ENDINGS = {".h", ".c", ".cpp"}
NO_TOKENS = {"comment", "unknown", "eof"}  # unknown: blanks
LONGEST = 10


def files_below(root, folders):
    return sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in ENDINGS)


def token_lines(path):
    """The line of each token."""
    command = ["clang", "-cc1", "-dump-raw-tokens", "-x", "c++", path]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr[-500:]}")
    lines = []
    # A token with line breaks takes several lines, of which the last one ends with its place.
    kind = ""
    for line in done.stderr.splitlines():
        kind = kind or line.partition(" ")[0]
        if line.endswith(">") and "\tLoc=<" in line:
            if kind not in NO_TOKENS:
                lines.append(int(line.rsplit(":", 2)[1]))
            kind = ""
    return lines


def count(root, folders):
    """{path below the root: lines of its tokens}"""
    paths = files_below(root, folders)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return {path.relative_to(root): lines for path, lines in zip(paths, pool.map(token_lines, paths))}


def part(path):
    """Returns the folder whose total includes the file: a layer of the library, a tool or another folder."""
    parts = path.parent.parts
    return "/".join(parts[:2])


def tags(root, paths):
    command = ["ctags", "--output-format=json", "--languages=C++", "--map-C++=+.h", "--kinds-C++=fcs", "--fields=+neK", "-o", "-", *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [tag for tag in map(json.loads, done.stdout.splitlines()) if "end" in tag]


def table(head, rows):
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else cell for cell in row)} |")
    print()


def print_tokens(now, before, commit):
    parts = sorted({part(path) for path in [*now, *(before or ())]})
    totals = [collections.Counter() for _ in range(2)]
    for counted, total in zip((now, before or {}), totals):
        for path, lines in counted.items():
            total[part(path)] += len(lines)
    rows = [(name, *(total[name] for total in totals)) for name in parts]
    rows.append(("all", *(total.total() for total in totals)))
    if before is None:
        table(("part", "tokens"), [row[:2] for row in rows])
        return True
    table(("part", "tokens", f"at {commit}", "more"), [(name, new, old, new - old) for name, new, old in rows])
    return totals[0].total() <= totals[1].total()


def print_longest(root, now):
    rows = {"function": [], "class": []}
    for tag in tags(root, now):
        kind = "function" if tag["kind"] == "function" else "class"
        first, last = tag["line"], tag["end"]
        tokens = sum(first <= line <= last for line in now[Path(tag["path"])])
        scope = f"{tag['scope']}::" if "scope" in tag and not tag["scope"].startswith("__anon") else ""
        rows[kind].append((f"`{scope}{tag['name']}`", f"{tag['path']}:{first}", last - first + 1, tokens))
    for kind, found in rows.items():
        table((kind, "file", "lines", "tokens"), sorted(found, key=lambda row: -row[2])[:LONGEST])
    files = ((str(path), (root / path).read_text().count("\n"), len(lines)) for path, lines in now.items())
    table(("file", "lines", "tokens"), sorted(files, key=lambda row: -row[1])[:LONGEST])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", metavar="COMMIT")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", default=["libformat", "tools"])
    arguments = parser.parse_args()
    now, before = count(PROJECT, arguments.folders), None
    if arguments.compare:
        command = ["git", "-C", PROJECT, "archive", arguments.compare, *arguments.folders]
        archive = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        with tempfile.TemporaryDirectory(prefix="nmb_code_size_") as folder:
            tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder)
            before = count(Path(folder), arguments.folders)
    fewer = print_tokens(now, before, arguments.compare)
    print_longest(PROJECT, now)
    return 0 if fewer else 1


if __name__ == "__main__":
    sys.exit(main())
