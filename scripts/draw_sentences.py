#!/usr/bin/env python3
"""Draws sentences from comments, messages and documents, so that somebody can judge how they read.

The hash of the commit is the seed: whoever draws from the same commit gets the same sentences.

    scripts/draw_sentences.py                   forty sentences, each with its file and line
    scripts/draw_sentences.py -n 10 --seed x    ten others
    scripts/draw_sentences.py --habits          how often each habit to avoid occurs, per folder
    scripts/draw_sentences.py --habits --list told    every sentence with that habit
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("libformat", "tools", "docs", "benchmarks", "spec", "examples", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")

FEWEST_WORDS = 4  # of a sentence that is drawn; habits are counted in shorter ones too
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"(\[])")
CPP_COMMENT = re.compile(r"^(?P<code>(?:[^\"/]|\"(?:\\.|[^\"\\])*\"|/(?!/))*)//+!?<?\s?(?P<text>.*)$")
CPP_STRING = re.compile(r'"((?:\\.|[^"\\])*)"')
PY_COMMENT = re.compile(r"^\s*#\s(.*)$")
PY_DOCSTRING = re.compile(r'^\s*(?:def .*|class .*)?"""(.*?)"""', re.S | re.M)

PREPOSITION = r"(?:of|in|by|to|from|for|with|at|on|into|behind|below)"

# One pattern for each habit. A pattern cannot judge: some hits are right, so compare counts, and read the list.
HABITS = {
    "of-start": r"^(?:But )?[Oo]f (?!course)",
    "what-noun": r"^What (?!.*\?)|\b(?:of|by|from|to|with|than|at|in|for|and|or) what\b",
    "told": r"\b(?:tell|tells|told|telling)\b",
    "there-is-that": r"\bthere (?:is|are) (?:that|such|those|what)\b",
    "as-it-is": r"\bsuch as (?:it|they)\b|\bas (?:it|they) (?:is|are|stands?)\b(?! (?:written|read|stored|used))",
    "double-negation": r"\b(?:not|no|none|nothing|never|nobody)\b[^.;:,]{0,25}\b(?:no|nor|nothing|none|nobody|neither)\b"
                       r"|\b(?:not|no \w+)\b[^.;:,]{0,15}\bun(?!i|der|til|less|signed)\w+|\bwithout\b[^.;:,]{0,15}\bnot?\b",
    "no-verb": r"^(?:Which|Nor|Neither|Likewise|Such|Those|None|But|Else|Also|Not)\b[^.]{0,45}\.?$|^(?:[\w'-]+ ){1,2}\w+ alone\.$",
    "two-prepositions": rf"\b{PREPOSITION} (?!(?:at (?:most|least)|up to)\b){PREPOSITION} |\b{PREPOSITION} (?:what|those|that) {PREPOSITION}\b",
    "own-words": r"\b(?:anew|looked at|goes? with|said of|be it|besides|whatever it is|gone over|does without|do without"
                 r"|begun anew|taken over|beforehand|wants? (?:it|them|to be)|has it that|no more is)\b",
    "found-expected-frame": r"\bexpected (?:such|what|those|one of them|nothing|none|another|something|them|only)\b",
}
HABITS = {name: re.compile(pattern) for name, pattern in HABITS.items()}


def tracked(folders):
    names = subprocess.run(["git", "ls-files", "-z", "--", *folders], cwd=ROOT, capture_output=True, check=True).stdout
    return [Path(name.decode()) for name in names.split(b"\0") if name]


def cpp_texts(lines):
    """Comments (consecutive lines together) and the literals of each statement, each with its line.

    "{}" stands for a value between two literals.
    """
    block, block_line, block_column = [], 0, -1
    literals, literals_line = "", 0
    for number, line in enumerate(lines, 1):
        comment = CPP_COMMENT.match(line)
        code = comment["code"] if comment else line
        column = len(code) if comment else -1
        if block and (not comment or column != block_column or code.strip() or not comment["text"].strip()):
            yield block_line, " ".join(block)
            block = []
        if comment and comment["text"].strip() and not comment["text"].startswith(("---", "NOLINT", "clang-format")):
            if not block:
                block_line, block_column = number, column
            block.append(comment["text"].strip())
        if code.lstrip().startswith("#"):
            continue
        position = 0
        for match in [*CPP_STRING.finditer(code), None]:
            between = code[position : match.start() if match else len(code)]
            if literals and re.search(r"[;{}?]", between):
                yield literals_line, message(literals)
                literals = ""
            elif literals and between.strip():
                literals += "{}"
            if match:
                literals_line = literals_line if literals else number
                literals += match[1]
                position = match.end()
    if literals:
        yield literals_line, message(literals)
    if block:
        yield block_line, " ".join(block)


def message(literals):
    """The text that a user sees: without rule and escapes."""
    literals = re.sub(r"^R-[A-Z]+-\d+(?:\{\})+|(?<! )(?<!\})(?:\{\})+$", "", literals)
    return re.sub(r"\\[nt]", " ", re.sub(r"(?:\{\})+", "{}", literals)).replace('\\"', '"').replace("\\\\", "\\")


def python_texts(text):
    for match in PY_DOCSTRING.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match[1].split())
    for number, line in enumerate(text.split("\n"), 1):
        if match := PY_COMMENT.match(line):
            yield number, match[1].strip("- ")


def markdown_texts(lines):
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if fenced or line.startswith(("    ", "#", "<!--")):
            continue
        if line.startswith("|"):
            if number < len(lines) and lines[number].startswith("|--"):
                continue  # the names of columns
            for cell in re.split(r"(?<!\\)\|", line.strip("| ")):
                if re.search("[A-Za-z]", cell):
                    yield number, cell.strip()
        elif line.strip():
            yield number, re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", line)


def sentences(folders):
    """Yields (file, line, sentence) of every text in these folders."""
    for name in tracked(folders):
        if name.suffix not in (".h", ".cpp", ".c", ".py", ".md"):
            continue
        text = (ROOT / name).read_text(errors="replace")
        if name.suffix == ".md":
            found = markdown_texts(text.split("\n"))
        elif name.suffix == ".py":
            found = python_texts(text)
        else:
            found = cpp_texts(text.split("\n"))
        for line, block in found:
            for sentence in SENTENCE_END.split(block.strip()):
                words = WORD.findall(sentence)
                if len(words) >= 2 and re.search(r"[a-z]{2} [a-z(]", sentence):
                    yield name, line, sentence.strip()


def room(name):
    """The folder under which a file is counted: two levels."""
    parts = name.parts[:-1]
    return "/".join(parts[:2]) or "."


def count_habits(texts, listed):
    if listed:
        for name, line, sentence in texts:
            if HABITS[listed].search(sentence):
                print(f"{name}:{line}: {sentence}")
        return
    counts, numbers = {}, {}
    for name, _, sentence in texts:
        row = counts.setdefault(room(name), dict.fromkeys(HABITS, 0))
        numbers[room(name)] = numbers.get(room(name), 0) + 1
        for habit, pattern in HABITS.items():
            row[habit] += bool(pattern.search(sentence))
    print("\t".join(["folder", "sentences", *HABITS, "all"]))
    rows = [(folder, numbers[folder], list(row.values())) for folder, row in sorted(counts.items())]
    rows.append(("all", sum(numbers.values()), [sum(column) for column in zip(*(row[2] for row in rows))]))
    for folder, number, row in rows:
        print("\t".join(map(str, [folder, number, *row, sum(row)])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=40, help="how many sentences to draw")
    parser.add_argument("--seed", help="any text; the hash of the commit by default")
    parser.add_argument("--habits", action="store_true", help="count habits per folder")
    parser.add_argument("--list", choices=HABITS, metavar="HABIT", help="with --habits: print each sentence that has it")
    parser.add_argument("--in", dest="folders", nargs="+", default=FOLDERS, help="folders and files to draw from")
    options = parser.parse_args()
    texts = list(sentences(options.folders))
    if options.habits:
        count_habits(texts, options.list)
        return
    seed = options.seed or subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()
    texts = [text for text in texts if len(WORD.findall(text[2])) >= FEWEST_WORDS]
    for name, line, sentence in random.Random(seed).sample(texts, min(options.n, len(texts))):
        print(f"{name}:{line}: {sentence}")


if __name__ == "__main__":
    sys.exit(main())
