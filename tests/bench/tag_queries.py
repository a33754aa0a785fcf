#!/usr/bin/python3
"""Bytes that `nminspect find` reads for queries on tags of many blocks. Writes benchmarks/tag_queries.md.

    tag_queries.py BUILD --work FOLDER [--samples 35530] [--page FILE]

BUILD is a build with the tools and the program make_graph_samples, as of the preset bench. Each sample is a block of 16
variables; nmcat makes its tags from the names of the variables. The answers are compared with those that the names of
the blocks give.

Goal: a query that matches at most 64 blocks reads at most 1 MiB of 35,530 blocks.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

GOAL = 1 << 20
SPLIT = "^_grp_(r([0-9]+)_sr([0-9]+)_evt([0-9]+))_"
RULES = ["run={2}", "subrun={3}", "event={4}", "label=evt{4}"]
PAGE = Path(__file__).parents[2] / "benchmarks" / "tag_queries.md"


def queries(blocks):
    """Pairs of an expression and a function of (run, subrun, event). The constants are those of a block in the middle."""
    run, subrun, event = sorted(blocks.values())[len(blocks) // 2]
    return [
        (f"run == {run} && subrun == {subrun} && event == {event}", lambda r, s, e: (r, s, e) == (run, subrun, event)),
        (f"event == {event}", lambda r, s, e: e == event),
        (f"label == 'evt{event}'", lambda r, s, e: e == event),
        (f"run == {run}", lambda r, s, e: r == run),
        ("event < 0", lambda r, s, e: False),
        ("event >= 0", lambda r, s, e: True),
    ]


def answer(tools, work, expression):
    """The blocks, bytes read, and number of reads."""
    done = subprocess.run([tools / "nminspect", "find", "graphs.nmb", expression, "--io-stats"], cwd=work, check=True,
                          capture_output=True, text=True)
    reads, read = map(int, re.search(r"reads (\d+), bytes (\d+)", done.stderr).groups())
    return done.stdout.split(), read, reads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=35530)
    parser.add_argument("--page", type=Path, default=PAGE)
    arguments = parser.parse_args()
    build, work = arguments.build.resolve(), arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run([build / "examples" / "make_graph_samples", work, "--files", "4", "--samples", str(arguments.samples),
                    "--sparse"], check=True, stdout=subprocess.DEVNULL)
    inputs = sorted(path.name for path in work.glob("graphs.*.nc"))
    subprocess.run([build / "tools" / "nmcat", *inputs, "-o", "graphs.nmb", "-f", "--block-name", "{group}", "--split-names",
                    SPLIT, *(word for rule in RULES for word in ("--tag", rule))], cwd=work, check=True)
    listed = subprocess.run([build / "tools" / "nminspect", "ls", "graphs.nmb", "--io-stats"], cwd=work, check=True,
                            capture_output=True, text=True)
    blocks = {name: tuple(map(int, re.fullmatch(r"r(\d+)_sr(\d+)_evt(\d+)", name).groups()))
              for name in listed.stdout.split()}
    whole = int(re.search(r"bytes (\d+)", listed.stderr)[1])
    rows, worst = [], 0
    for expression, holds in queries(blocks):
        found, read, reads = answer(build / "tools", work, expression)
        expected = [name for name, numbers in blocks.items() if holds(*numbers)]
        if found != expected:
            sys.exit(f"{expression}: found {len(found)} blocks, expected {len(expected)}")
        if len(found) <= 64:
            worst = max(worst, read)
        rows.append(f"| `{expression}` | {len(found):,} | {read / 1024:,.0f} | {reads:,} |")
    text = "\n".join([
        "# Queries on tags", "",
        f"`tests/bench/tag_queries.py` wrote this page. The file has {len(blocks):,} blocks, each with the tags `run`, `subrun`, "
        "`event` (integers) and `label` (text). The table shows what `nminspect find` reads to answer a query. The answers are "
        "compared with the names of the blocks. To list all blocks, `nminspect ls` reads the whole index: "
        f"{whole / 1024:,.0f} KiB.", "",
        "| expression | blocks found | KiB read | reads |", "|---|---|---|---|", *rows, "",
        "A query reads the rows of each tag in the expression, and the numbers of the blocks in the index. It also reads the "
        "leaves of the index that have a block which matches, because the answer has the names of these blocks.", ""])
    arguments.page.write_text(text)
    print(text)
    if worst > GOAL * max(1, len(blocks) / 35530):
        sys.exit(f"found {worst} bytes read, expected at most {GOAL}")


if __name__ == "__main__":
    main()
