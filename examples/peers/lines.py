#!/usr/bin/python3
"""Compares the lengths of the programs in examples/ with those of the same programs in this folder.

    examples/peers/lines.py

Prints a Markdown table of lines of code, which are neither blank nor comments. All programs here name their dimensions and
check every error. Exit code 1 if a program is missing, or if one of examples/ is longer than one with another library.
"""

import re
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent
PROGRAMS = "write_and_read", "time_steps", "merge_months", "warm_samples"
LIBRARIES = {"pnetcdf": "PnetCDF", "netcdf": "netCDF-C", "highfive": "HighFive"}
TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)


def lines_of(path):
    """The lines of code of a C or C++ program."""
    code = TEXT_OR_COMMENT.sub(lambda found: found[1] or "", path.read_text(encoding="utf-8"))
    return sum(1 for line in code.splitlines() if line.strip())


def main():
    problems = []
    print("|", " | ".join(["program", "NMB", *LIBRARIES.values()]), "|\n|" + "---|" * (2 + len(LIBRARIES)))
    for program in PROGRAMS:
        ours = PEERS.parent / f"{program}.cpp"
        own = lines_of(ours) if ours.exists() else None
        if own is None:
            problems.append(f"examples/{ours.name} is missing")
        peers = {}
        for path in PEERS.glob(f"{program}_*.c*"):
            library = path.stem.removeprefix(f"{program}_")
            if library not in LIBRARIES:
                sys.exit(f"lines.py: examples/peers/{path.name}: unknown library {library}; add it to LIBRARIES")
            peers[library] = lines_of(path)
        if not peers:
            problems.append(f"examples/peers has no {program}_LIBRARY program")
        for library, lines in sorted(peers.items()):
            if own is not None and own > lines:
                problems.append(f"examples/{ours.name}: {own} lines, with {LIBRARIES[library]} {lines}; shorten it")
        print("|", " | ".join(map(str, [program, own or "missing", *(peers.get(library, "-") for library in LIBRARIES)])), "|")
    for problem in problems:
        print(f"lines.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
