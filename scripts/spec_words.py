#!/usr/bin/python3
"""Prints the number of words of each part of the specification, as `wc -w` counts them, tables included.

    scripts/spec_words.py

Exit code 1 if the core has more words than a reader should have to read.
"""

import sys
from pathlib import Path

SPEC = Path(__file__).resolve().parent.parent / "spec"
CORE = "format.md", "classic_header.md"
MOST = 9000
NO_RULES = "rationale.md", "worked_example.md"


def main():
    words = {path.name: len(path.read_text(encoding="utf-8").split()) for path in SPEC.glob("*.md")}
    for name in sorted(words, key=lambda name: (name not in CORE, name in NO_RULES, name)):
        print(f"{words[name]:6} {name}")
    core = sum(words[name] for name in CORE)
    print(f"{core:6} words in the core, at most {MOST}")
    return 1 if core > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
