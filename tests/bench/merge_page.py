#!/usr/bin/python3
"""Writes benchmarks/merging.md from the folders of `nmbench run merge` and `nmbench run recovery`.

    tests/bench/merge_page.py FOLDER... [--page FILE]

A case that several folders have is taken from the last one.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "nmbench" / "launcher"))
from merging import WORKS  # noqa: E402

LIMITS = {"compress": 0.65, "coded": 0.65, "limited": 0.65, "copy": 1.05, "small": 1.05}
PAGE = """# Merging and recovery by threads and processes

`nmbench run merge` and `nmbench run recovery` made these figures ([design](../docs/design/nmbench.md#merges-and-recoveries)), `merge_page.py` this page. Seconds are medians; starting MPI is not counted. Two threads and two processes are shown as parts of the time of one thread. All outputs of a merge have the same bytes.

{cpu}, {cores} cores, {file_system}; {build}. Other programs used {others:.1f} cores during the runs.{note}
"""


def share(summary, one):
    return f"{summary['seconds']['median'] / one['seconds']['median']:.2f}" if summary and summary["seconds"] else ""


def seconds(summary):
    return f"{summary['seconds']['median']:.2f}" if summary and summary["seconds"] else ""


def tables(summaries):
    cases = {}
    for summary in summaries:
        cases.setdefault(summary["case"], {})[summary["variant"]] = summary
    for work, about in WORKS.items():
        of_work = {name: ways for name, ways in cases.items() if name.startswith(f"merge-{work}-")}
        if not of_work:
            continue
        yield f"\n## Values {about.title}\n\n{about.files:,} files with {about.megabytes:,} MB of values. Limit: {LIMITS[work]}.\n"
        yield "| mode | to | one thread, s | two threads | two processes | met | cat, s | ncrcat, s |\n|---|---|---|---|---|---|---|---|"
        for name, ways in of_work.items():
            mode, to = name.split("-")[2:]
            one = ways["nmb"]
            shares = [share(ways.get(way), one) for way in ("nmb-threads", "nmb-processes")]
            met = all(text and float(text) <= LIMITS[work] for text in shares)
            yield (f"| {mode} | {to} | {seconds(one)} | {' | '.join(shares)} | {'yes' if met else 'no'} | {seconds(ways.get('cat'))} | "
                   f"{seconds(ways.get('ncrcat'))} |")
    recoveries = {name: ways for name, ways in cases.items() if name.startswith("recovery-")}
    if recoveries:
        yield "\n## Recovery\n\n| work | one thread, s | two threads | cat, s |\n|---|---|---|---|"
        for ways in recoveries.values():
            yield f"| {ways['nmb']['title']} | {seconds(ways['nmb'])} | {share(ways['nmb-threads'], ways['nmb'])} | {seconds(ways.get('cat'))} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--page", type=Path, default=Path(__file__).resolve().parents[2] / "benchmarks" / "merging.md")
    parser.add_argument("--note", default="", help="what else must be known of the runs")
    options = parser.parse_args()
    documents = [json.loads((folder / "results.json").read_text()) for folder in options.folders]
    others = statistics.median(row["others_cores"] for document in documents for row in document["rows"] if row.get("others_cores") is not None)
    lines = tables([summary for document in documents for summary in document["summaries"]])
    options.page.write_text(PAGE.format(**documents[0]["machine"], others=others, note=options.note and f" {options.note}") + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
