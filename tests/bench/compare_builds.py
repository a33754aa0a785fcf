#!/usr/bin/python3
"""Compares two builds of the tools on the same work: what a change costs.

    compare_builds.py BASE NEW --work FOLDER [--scale X] [--runs N] [--json FILE]

BASE and NEW are build folders of the preset `bench`. Instructions (`perf stat` where the machine counts them, else
callgrind), heap allocations (memcheck), calls that read and write files and their bytes (strace) and peak memory do not
depend on the machine's mood: NEW may take at most 1.02 times as many. Wall time is taken in turns and compared by the median
of the ratios: at most 1.10. Exit code 1 if a limit is passed. Needs valgrind, strace and python3-netcdf4.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

COUNTS_LIMIT, TIME_LIMIT = 1.02, 1.10
SPLIT = ["--split-names", "^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}"]
FILES = 64
READS, WRITES = ("read", "pread64", "readv", "preadv"), ("write", "pwrite64", "writev", "pwritev")


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
    """A command, the file that it writes (None: it writes none), and the program that times it."""

    def __init__(self, name, command, bench_run, output=None):
        self.name, self.command, self.bench_run, self.output = name, command, bench_run, output

    def fresh(self):
        if self.output:
            self.output.unlink(missing_ok=True)
        return self.command


def perf_counts():
    """Whether the machine counts instructions."""
    try:
        done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0 and done.stderr.split(",")[0].isdigit()


def instructions(work, folder, by_perf):
    if by_perf:
        said = run(["perf", "stat", "-x,", "-e", "instructions:u", *work.fresh()]).stderr
        return int(re.search(r"^(\d+),,instructions", said, re.M)[1])
    out = folder / "callgrind.out"
    run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *work.fresh()])
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M)[1])


def allocations(work):
    text = run(["valgrind", "--leak-check=no", *work.fresh()]).stderr
    return int(re.search(r"total heap usage: ([\d,]+) allocs", text)[1].replace(",", ""))


def transfers(work, folder):
    """Calls that read from files of the folder and that write to them, and their bytes."""
    log = folder / "strace"
    run(["strace", "-ff", "-y", "-e", f"trace={','.join(READS + WRITES)}", "-o", log, *work.fresh()])
    line = re.compile(rf"^(\w+)\(\d+<{re.escape(str(folder))}/[^>]*>.* = (\d+)$", re.M)
    found = {"reads": 0, "bytes read": 0, "writes": 0, "bytes written": 0}
    for path in folder.glob("strace.*"):  # one of each thread
        for call, count in line.findall(path.read_text(errors="replace")):
            kind = "read" if call in READS else "write" if call in WRITES else sys.exit(f"strace: {call}")
            found[f"{kind}s"] += 1
            found["bytes read" if kind == "read" else "bytes written"] += int(count)
        path.unlink()
    return found


def cost_of_run(work):
    """Wall time in seconds, peak memory in MB."""
    cost = json.loads(run([work.bench_run, *work.fresh()]).stderr.splitlines()[-1])
    return cost["wall"], cost["rss_mb"]


def make_steps(folder):
    """Files to be joined: time steps of a model."""
    import netCDF4
    import numpy

    folder.mkdir()
    for i in range(FILES):
        with netCDF4.Dataset(folder / f"step{i:03}.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
            file.createDimension("time", None)
            file.createDimension("cell", 20000)
            file.createVariable("time", "f8", ("time",))[:] = [2 * i, 2 * i + 1]
            for name in ("t", "u", "v"):
                file.createVariable(name, "f4", ("time", "cell"))[:] = numpy.random.default_rng(i).random((2, 20000), "f4")


def works_of(side, build, folder, scale):
    nmcat, nmconvert, nminspect = (build.program(name) for name in ("nmcat", "nmconvert", "nminspect"))
    create, lookup, bench_run = (build.program(name) for name in ("bench_create", "bench_lookup", "bench_run"))
    files, steps = sorted((folder / "in").glob("*.nc")), sorted((folder / "steps").glob("*.nc"))
    samples, one = int(35530 * scale), int(56848 * scale)
    out = {name: folder / f"{side}.{name}" for name in (
        "packed.nmb", "looked_up.nmb", "samples.nmb", "one.nmb", "whole.nmb", "divided.nmb", "joined.nmb", "made.nmb", "source.nmb",
        "back.nc")}  # fmt: skip
    run([nmcat, *files, "-o", out["packed.nmb"], "-f", "--no-sync", *SPLIT])
    run([nmconvert, files[0], out["source.nmb"], "-f", "--no-sync"])
    run([create, out["looked_up.nmb"], "--shape", "samples", "--samples", samples, "--values"])

    def work(name, command, output=None):
        return Work(name, [*command, *(["--no-sync", "-j", 1] if output and command[0] != create else [])], bench_run, out.get(output))

    return [
        work("create, a block a sample", [create, out["samples.nmb"], "--shape", "samples", "--samples", samples], "samples.nmb"),
        work("create, one block", [create, out["one.nmb"], "--shape", "one", "--samples", one], "one.nmb"),
        work("count samples", [nminspect, "count", out["packed.nmb"], "--what", "samples"]),
        work("count objects under a prefix", [nminspect, "count", out["packed.nmb"], "--what", "objects", "r4*/*"]),
        work("look up", [lookup, out["looked_up.nmb"], "--samples", samples, "--lookups", 101]),
        work("pack whole files", [nmcat, *files, "-o", out["whole.nmb"]], "whole.nmb"),
        work("divide into samples", [nmcat, *files, "-o", out["divided.nmb"], *SPLIT], "divided.nmb"),
        work("join", [nmcat, "--mode", "join", *steps, "-o", out["joined.nmb"]], "joined.nmb"),
        work("convert to NMB", [nmconvert, files[0], out["made.nmb"]], "made.nmb"),
        work("convert to classic", [nmconvert, out["source.nmb"], out["back.nc"]], "back.nc"),
    ]


def compare(base, new, folder, by_perf, runs):
    """Rows: (name, what, of BASE, of NEW, ratio, whether it is within its limit)."""
    figures = {}
    for side, work in (("base", base), ("new", new)):
        figures[side] = {"instructions": instructions(work, folder, by_perf), "allocations": allocations(work), **transfers(work, folder)}
    costs = [(cost_of_run(base), cost_of_run(new)) for _ in range(runs)]
    for i, side in enumerate(("base", "new")):
        figures[side]["peak memory, MB"] = min(pair[i][1] for pair in costs)
    rows = []
    for what, before in figures["base"].items():
        after = figures["new"][what]
        ratio = after / before if before else 1.0 if not after else float("inf")
        rows.append((base.name, what, before, after, ratio, ratio <= COUNTS_LIMIT))
    seconds = [statistics.median(pair[i][0] for pair in costs) for i in range(2)]
    ratio = statistics.median(after[0] / before[0] for before, after in costs)
    return [*rows, (base.name, "wall time, s", *seconds, ratio, ratio <= TIME_LIMIT)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="a folder for files, made and left")
    parser.add_argument("--scale", type=float, default=1, help="1: 35,530 blocks or 568,480 variables are created, and 4,000 samples merged")
    parser.add_argument("--runs", type=int, default=11, help="turns of the time measurement")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.work.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    builds = {"base": Build(arguments.base), "new": Build(arguments.new)}
    if not (folder / "in").exists():
        make = builds["base"].program("make_graph_samples")
        run([make, folder / "in", "--files", FILES, "--samples", int(4000 * arguments.scale)])
    if not (folder / "steps").exists():
        make_steps(folder / "steps")
    by_perf = perf_counts()
    print(f"instructions are counted by {'perf stat' if by_perf else 'callgrind'}")
    rows = []
    for base, new in zip(*(works_of(side, build, folder, arguments.scale) for side, build in builds.items())):
        for row in compare(base, new, folder, by_perf, arguments.runs):
            rows.append(row)
            name, what, before, after, ratio, good = row
            shown = [f"{value:.3f}" if isinstance(value, float) else f"{value:,}" for value in (before, after)]
            print(f"{name:30} {what:16} {shown[0]:>16} {shown[1]:>16} {ratio:7.3f} {'' if good else 'above the limit'}".rstrip(), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([dict(zip(("work", "what", "base", "new", "ratio", "within"), row)) for row in rows], indent=1) + "\n")
    return 0 if all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
