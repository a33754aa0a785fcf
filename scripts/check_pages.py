#!/usr/bin/python3
"""Prints the words of each page, and checks how long pages are and where their links lead.

    scripts/check_pages.py

Words are those of `wc -w`; those of README.md are without code blocks and tables. A link of a page must lead to a file,
and to a heading where it names one. So must a path of a page in a source, a script or a help text, also with the title of a
section: docs/reference/hdf5.md, "Types". Exit code 1 if a page is too long or a link leads nowhere.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = "spec/format.md", "spec/classic_header.md"
NO_DOCS = ("docs/design/",)  # not for users
LIMITS = {"README.md": 900, "CONTRIBUTING.md": 1200, "benchmarks/README.md": 800}
GUIDE = 1500
ALL_FOR_USERS = 28_000
ALL_OF_CORE = 9000
CHANGELOG_LINES = 10

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"\b((?:docs|benchmarks|spec)/[\w/.-]*?\w\.(?:md|json|tsv|py|svg|png)\b)(?:(?:\]\([^)]*\))?,? \"([A-Z][^\"]+)\")?")
TEXTS = {".md", ".h", ".cpp", ".c", ".py", ".txt", ".in", ".sh", ".cmake", ".case", ".awk", ""}


def files():
    if not (ROOT / ".git").exists():
        return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and path.relative_to(ROOT).parts[0] != "build"]
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name.decode() for name in names.split(b"\0") if name and (ROOT / name.decode()).is_file()]


def without_code(text):
    return re.sub(r"^ *```.*?^ *```$", lambda code: "\n" * code[0].count("\n"), text, flags=re.S | re.M)


def prose(text):
    return "\n".join(line for line in without_code(text).splitlines() if not line.startswith("|"))


def anchors(page, known={}):
    if page not in known:
        titles = re.findall(r"^#+ (.*)$", without_code(page.read_text(encoding="utf-8")), re.M)
        slugs = [re.sub(r"[^\w -]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)).lower().replace(" ", "-") for title in titles]
        known[page] = [re.sub(r"^[\d.]+ ", "", title) for title in titles], slugs
    return known[page]


def links_of(name, text):
    """What the links of a page lead to that does not exist."""
    for target in (one or other for one, other in LINK.findall(without_code(text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists():
            yield f"{name}: no file {target}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file)[1]:
            yield f"{name}: no heading {target}"


def paths_of(name, text):
    """Paths of pages in any text that do not exist, and titles of sections that the page does not have."""
    joined = re.sub(r"\s*\n\s*(?://!?<? ?|# ?)?", " ", text)
    for path, title in PATH.findall(joined):
        if not (ROOT / path).exists():
            if not (ROOT / name).parent.joinpath(path).exists():
                yield f"{name}: no file {path}"
        elif title and path.endswith(".md") and title not in anchors(ROOT / path)[0]:
            yield f'{name}: {path} has no section "{title}"'


def too_long(pages):
    """Prints the words of each page; yields the limits that are exceeded."""
    users = core = 0
    for name, text in sorted(pages.items()):
        words = len(text.split())
        counted = len(prose(text).split()) if name == "README.md" else words
        limit = LIMITS.get(name, GUIDE if name.startswith("docs/guides/") else None)
        if name == "README.md" or name.startswith("docs/") and not name.startswith(NO_DOCS):
            users += words
        core += words if name in CORE else 0
        print(f"{words:6} {name}" + (f" ({counted} without code and tables)" if counted != words else ""))
        if limit and counted > limit:
            yield f"{name}: {counted} words, at most {limit}"
    print(f"{users:6} words for users, at most {ALL_FOR_USERS}\n{core:6} words in the core of the specification, at most {ALL_OF_CORE}")
    if users > ALL_FOR_USERS:
        yield f"pages for users: {users} words, at most {ALL_FOR_USERS}"
    if core > ALL_OF_CORE:
        yield f"{' and '.join(CORE)}: {core} words, at most {ALL_OF_CORE}"
    if (lines := pages["CHANGELOG.md"].count("\n")) > CHANGELOG_LINES:
        yield f"CHANGELOG.md: {lines} lines, at most {CHANGELOG_LINES}"


def main():
    texts = {}
    for name in files():
        if Path(name).suffix in TEXTS:
            try:
                texts[name] = (ROOT / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                pass
    pages = {name: text for name, text in texts.items() if name.endswith(".md")}
    problems = list(too_long(pages))
    for name, text in texts.items():
        if name in pages:
            problems += links_of(name, text)
        if name != "scripts/check_pages.py":
            problems += paths_of(name, text)
    for problem in dict.fromkeys(problems):
        print(f"check_pages: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
