#!/usr/bin/python3
"""Writes the tables of benchmarks/README.md from the other pages there, and looks for the figures of README.md in them.

    readme_figures.py            rewrites the tables between "<!-- figures: NAME -->" and "<!-- end of figures -->"
    readme_figures.py --check    changes nothing; prints the lines that differ

A row of a table here names the page, the section and the row that it takes, which must exist. Exit code 1 if a table differs
from the other pages (--check), or if README.md lacks a figure of SAID.
"""

import argparse
import difflib
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
PAGES = {
    "all": "main.md",
    "ranks": "ranks.md",
    "hdf5": "pack_hdf5.md",
    "convert": "convert.md",
}

# What the page says, what it is beside, and the page, section and row of the figures.
FASTER = [
    ("pack 64 files with 1.6 GB in total", "`cat`", "all", "Pack", "pack 64 files without sync, compared with `cat`"),
    ("pack 64 files with 1.6 GB in total and wait until they are on the device", "`cat` and `sync`", "all", "Pack",
     "pack 64 files with sync, compared with `cat` and `sync FILE`"),
    ("join 64 classic files with 1.6 GB in total into a classic file", "ncrcat", "all", "Join",
     "join 64 files to a classic file, compared with ncrcat"),
    ("join 32 HDF5 files of tables", "ph5_concat", "all", "Join",
     "join 32 HDF5 files of tables, compared with ph5_concat"),
    ("combine 9 tiles of a model's output into a classic file", "mppnccombine", "all", "Tiles",
     "assemble 9 tiles to a classic file, compared with mppnccombine"),
    ("convert a netCDF-4 file of 32,000 variables", "nccopy to CDF-5", "convert", "Convert",
     "convert a netCDF-4 file of 32,000 variables to NMB, compared with nccopy to CDF-5"),
    ("create 568,480 variables and 852,715 dimensions as 35,530 blocks", "PnetCDF with large hash tables", "all", "Create",
     "create, 35,530 blocks: wall time, compared with PnetCDF"),
    ("memory to create these 35,530 blocks", "PnetCDF", "all", "Create",
     "create, 35,530 blocks: memory, compared with PnetCDF"),
    ("open the file and read one variable of one of 35,530 samples", "HDF5 1.10", "all", "Lookup",
     "lookup in 35,530 samples: time, compared with HDF5"),
    ("4 ranks write 10 steps of 537 MB together, arrays divided along y", "PnetCDF", "ranks", "Arrays",
     "put_all, divided along y: wall time, compared with PnetCDF"),
]
SLOWER = [
    ("300 commits of 1,000 growing blocks by 4 ranks", "PnetCDF, whose sync is not atomic", "ranks", "Steps",
     "1,000 growing blocks, 300 commits: wall time, compared with PnetCDF"),
    ("6,000 commits of one growing block", "PnetCDF, whose sync is not atomic", "ranks", "Steps",
     "1 growing block, 6,000 commits: wall time, compared with PnetCDF"),
    ("pack 64 HDF5 files with 1.6 GB and 32,000 data sets in total", "`cat`", "hdf5", "Pack hdf5",
     "pack 64 HDF5 files, compared with `cat`"),
    ("CPU time to pack 64 HDF5 files", "`cat`", "hdf5", "Pack hdf5", "pack 64 HDF5 files: CPU, compared with `cat`"),
    ("memory of a rank that writes alone, arrays divided along z", "PnetCDF", "ranks", "Arrays",
     "put, divided along z: memory of a rank, compared with PnetCDF"),
]
TABLES = {"faster": FASTER, "slower": SLOWER}
# Rows of which README.md has both figures.
SAID = [
    ("all", "Lookup", "lookup in 35,530 samples: time, compared with HDF5"),
    ("all", "Create", "create, one block: wall time, compared with PnetCDF"),
    ("all", "Pack", "pack 64 files without sync, compared with `cat`"),
    ("all", "Join", "join 64 files to a classic file, compared with ncrcat"),
    ("ranks", "Steps", "1 growing block, 6,000 commits: wall time, compared with PnetCDF"),
    ("hdf5", "Pack hdf5", "pack 64 HDF5 files, compared with `cat`"),
]


def figures_of(page):
    """By section and row of a page: the cells by their column."""
    rows, section, columns = {}, "", []
    for line in (FOLDER / "benchmarks" / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells[:1] == ["what"]:
            columns = cells
        elif cells and not set("".join(cells)) <= set("-:"):
            rows[section, cells[0]] = dict(zip(columns, cells))
    return rows


def table(rows, pages):
    lines = ["| | NMB | beside | ratio |", "|---|---:|---:|---:|"]
    for text, peer, page, section, row in rows:
        cells = pages[page].get((section, row))
        if cells is None or not cells["peer"]:
            sys.exit(f"readme_figures: {PAGES[page]}: no row \"{row}\" with a peer in section {section}")
        unit = cells["unit"]
        lines.append(f"| {text} | {cells['ours']} {unit} | {peer}: {cells['peer']} {unit} | {cells['ratio']} |")
    return lines


def missing_figures(text, pages):
    """Figures of SAID that are not in a table of the text."""
    cells = [cell.strip(" *") for line in text.splitlines() if line.startswith("|") for cell in line.split("|")]
    for page, section, row in SAID:
        found = pages[page][section, row]
        for figure in (f"{found['ours']} {found['unit']}", f"{found['peer']} {found['unit']}"):
            if not any(re.search(rf"(^|: ){re.escape(figure)}( |$)", cell) for cell in cells):
                yield f"README.md: no {figure}: {PAGES[page]}, {row}"


def with_figures(text, pages):
    for name, rows in TABLES.items():
        begin, end = f"<!-- figures: {name} -->\n", "<!-- end of figures -->\n"
        place = re.compile(f"({begin}).*?({end})", re.DOTALL)
        made = "\n".join(table(rows, pages))
        text, count = place.subn(lambda found: f"{found[1]}\n{made}\n\n{found[2]}", text)
        if count != 1:
            sys.exit(f"readme_figures: benchmarks/README.md: found {count} places for the figures \"{name}\", expected 1")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the figures differ")
    arguments = parser.parse_args()
    pages = {name: figures_of(page) for name, page in PAGES.items()}
    overview = FOLDER / "benchmarks" / "README.md"
    found = overview.read_text(encoding="utf-8")
    expected = with_figures(found, pages)
    missing = list(missing_figures((FOLDER / "README.md").read_text(encoding="utf-8"), pages))
    for line in missing:
        print(line)
    if not arguments.check:
        overview.write_text(expected, encoding="utf-8")
        return 1 if missing else 0
    sys.stdout.writelines(
        difflib.unified_diff(found.splitlines(True), expected.splitlines(True), "benchmarks/README.md", "other pages", n=0)
    )
    return 1 if missing or found != expected else 0


if __name__ == "__main__":
    sys.exit(main())
