#!/usr/bin/python3
"""Compares two builds of the tools on the same work: what a change costs.

    compare_builds.py BASE NEW --work FOLDER [--samples N] [--runs N] [--json FILE]

BASE and NEW are build folders of the preset `bench`. Instructions (callgrind), heap allocations (memcheck), reads and
the bytes they bring (strace) and the bytes of the output do not depend on the machine's mood: NEW may take at
most 1.02 times as many. Wall time is taken in turns and compared by the median of the ratios: at most 1.10.
Exit code 1 if a limit is passed. Needs valgrind and strace.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

COUNTS_LIMIT, TIME_LIMIT = 1.02, 1.10
SPLIT = ["--split-names", "^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}"]


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()

    def program(self, name):
        found = [path for path in self.folder.rglob(name) if path.is_file() and os.access(path, os.X_OK)]
        if not found:
            raise SystemExit(f"{self.folder}: there is no {name}: build the preset `bench`")
        return found[0]


class Work:
    """A command, and the file that it writes (None: it writes none)."""

    def __init__(self, name, command, output=None):
        self.name, self.command, self.output = name, command, output

    def fresh(self):
        if self.output:
            pathlib.Path(self.output).unlink(missing_ok=True)
        return self.command


def instructions(work, folder):
    out = folder / "callgrind.out"
    run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *work.fresh()])
    total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M)
    return int(total[1])


def allocations(work):
    text = run(["valgrind", "--leak-check=no", *work.fresh()]).stderr
    return int(re.search(r"total heap usage: ([\d,]+) allocs", text)[1].replace(",", ""))


def reads(work, folder):
    """Calls that read from a regular file, and the bytes they brought."""
    log = folder / "strace.log"
    run(["strace", "-f", "-y", "-e", "trace=read,pread64,preadv,readv", "-o", log, *work.fresh()])
    calls = total = 0
    for line in log.read_text(errors="replace").splitlines():
        match = re.search(rf"(?:read|pread64|preadv|readv)\(\d+<({re.escape(str(folder))}/[^>]*)>.* = (\d+)$", line)
        if match:
            calls += 1
            total += int(match[2])
    return calls, total


def seconds(work):
    command = work.fresh()
    begin = time.perf_counter()
    run(command)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="a folder for files, made and left")
    parser.add_argument("--samples", type=int, default=4000, help="graph samples of 16 variables")
    parser.add_argument("--files", type=int, default=64, help="input files, which share the samples")
    parser.add_argument("--runs", type=int, default=11, help="turns of the time measurement")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.work.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    builds = {"base": Build(arguments.base), "new": Build(arguments.new)}

    inputs = folder / "in"
    if not inputs.exists():
        run([builds["base"].program("make_graph_samples"), inputs, "--files", arguments.files, "--samples", arguments.samples])
    files = sorted(inputs.glob("*.nc"))

    works = {}
    for side, build in builds.items():
        nmcat, nminspect = build.program("nmcat"), build.program("nminspect")
        create, packed = build.program("bench_create"), folder / f"{side}.packed.nmb"
        run([nmcat, *files, "-o", packed, "-f", "--no-sync", *SPLIT])
        works[side] = [
            Work("create, a block a sample", [create, folder / f"{side}.samples.nmb", "--shape", "samples", "--samples", arguments.samples], folder / f"{side}.samples.nmb"),
            Work("create, one block", [create, folder / f"{side}.one.nmb", "--shape", "one", "--samples", arguments.samples], folder / f"{side}.one.nmb"),
            Work("count samples", [nminspect, "count", packed, "--what", "samples"]),
            Work("count objects under a prefix", [nminspect, "count", packed, "--what", "objects", "r4*/*"]),
            Work("pack whole files", [nmcat, *files, "-o", folder / f"{side}.whole.nmb", "--no-sync", "-j", 1], folder / f"{side}.whole.nmb"),
            Work("divide into samples", [nmcat, *files, "-o", folder / f"{side}.divided.nmb", "--no-sync", "-j", 1, *SPLIT], folder / f"{side}.divided.nmb"),
        ]

    rows, passed = [], True
    for base, new in zip(works["base"], works["new"]):
        figures = {}
        for side, work in (("base", base), ("new", new)):
            calls, total = reads(work, folder)
            figures[side] = {"instructions": instructions(work, folder), "allocations": allocations(work), "reads": calls, "bytes read": total}
            if work.output:
                figures[side]["bytes written"] = pathlib.Path(work.output).stat().st_size
        ratios = []
        for _ in range(arguments.runs):
            before = seconds(base)
            ratios.append(seconds(new) / before)
        for what, value in figures["base"].items():
            ratio = figures["new"][what] / value if value else 1.0 if not figures["new"][what] else float("inf")
            rows.append((base.name, what, value, figures["new"][what], ratio, ratio <= COUNTS_LIMIT))
        ratio = statistics.median(ratios)
        rows.append((base.name, "wall time", None, None, ratio, ratio <= TIME_LIMIT))
    for name, what, before, after, ratio, good in rows:
        passed = passed and good
        print(f"{name:30} {what:14} {before if before is not None else '':>14} {after if after is not None else '':>14} {ratio:7.3f} {'' if good else 'above the limit'}")
    if arguments.json:
        arguments.json.write_text(json.dumps([dict(zip(("work", "what", "base", "new", "ratio", "within"), row)) for row in rows], indent=1) + "\n")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
