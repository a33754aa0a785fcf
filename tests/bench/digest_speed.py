#!/usr/bin/python3
"""Time of `nminspect digest` and `nminspect diff` on one core, beside xxhsum. Writes docs/benchmarks_digest.md.

    digest_speed.py BUILD --work FOLDER [--megabytes 1024] [--repeat 7] [--page FILE]

BUILD is a build with the tools, as of the preset bench. The files have the same contiguous values: doubles and floats in
variables of different sizes, as CDF-5, as netCDF-4 with little-endian values, and as NMB. xxhsum reads the CDF-5 file
with its default checksum (XXH64), and with XXH3 of 128 bits (-H2). All programs run on one core, and their runs
alternate. The files are in the page cache.

Goal: the digest of contiguous values takes at most 1.5 times as long as xxhsum. Measure on an idle machine.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy

GOAL = 1.5
FORMATS = {"values.cdf5": "NETCDF3_64BIT_DATA", "values.nc": "NETCDF4"}


def write(path, kind, megabytes):
    rng = numpy.random.default_rng(1)
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.set_fill_off()
        for number, (type_, share) in enumerate((("f8", 0.5), ("f4", 0.25), ("f8", 0.15), ("i4", 0.1))):
            size = numpy.dtype(type_).itemsize
            length = max(1, int(megabytes * 2**20 * share / size / 1000))
            out.createDimension(f"n{number}", length)
            out.createDimension(f"m{number}", 1000)
            v = out.createVariable(f"v{number}", type_, (f"n{number}", f"m{number}"), contiguous=True)
            for first in range(0, length, 10000):
                rows = min(10000, length - first)
                v[first : first + rows] = (rng.normal(size=(rows, 1000)) * 1000).astype(type_)


def run(command):
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, check=True)
    return time.monotonic() - start, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--page", type=Path, default=Path(__file__).parents[2] / "docs" / "benchmarks_digest.md")
    arguments = parser.parse_args()
    tools, work = (arguments.build / "tools").resolve(), arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    for name, kind in FORMATS.items():
        write(name, kind, arguments.megabytes)
    subprocess.run([tools / "nmconvert", "-qf", "--no-sync", "values.cdf5", "values.nmb"], check=True)

    core = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    digest = [*core, tools / "nminspect", "digest", "--total", "-j1"]
    commands = {
        "xxhsum of the CDF-5 file": [*core, "xxhsum", "values.cdf5"],
        "xxhsum -H2 of the CDF-5 file": [*core, "xxhsum", "-H2", "values.cdf5"],
        "`digest`, CDF-5": [*digest, "values.cdf5"],
        "`digest`, netCDF-4, little-endian": [*digest, "values.nc"],
        "`digest`, NMB": [*digest, "values.nmb"],
        "`diff`, CDF-5 and NMB": [*core, tools / "nminspect", "diff", "-j1", "values.cdf5", "values.nmb"],
    }
    times, outputs = {name: [] for name in commands}, {}
    for round_ in range(arguments.repeat + 1):
        for name, command in commands.items():
            seconds, outputs[name] = run(command)
            if round_ > 0:  # the first round warms the page cache
                times[name].append(seconds)
    digests = {out for name, out in outputs.items() if "digest" in name}
    if len(digests) != 1:
        print(f"the digests differ: {digests}")
        return 1
    first = statistics.median(times["xxhsum of the CDF-5 file"])
    met = True
    rows = ["| what | s | times xxhsum |", "|---|---:|---:|"]
    for name, seconds in times.items():
        median = statistics.median(seconds)
        rows.append(f"| {name} | {median:.3f} | {median / first:.2f} |")
        met &= "digest" not in name or median / first <= GOAL
    table = "\n".join(rows)
    processor = next(
        (l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown processor"
    )
    page = f"""# Benchmarks: digests of content

`tests/bench/digest_speed.py` wrote this page on a machine with {processor}, {os.cpu_count()} cores and Linux {platform.release()}. Each file has {arguments.megabytes} MiB of contiguous values. All programs ran on one core, with the files in the page cache. Each figure is the median of {arguments.repeat} runs; the runs of the programs alternate.

{table}

The goal is that `nminspect digest` takes at most {GOAL} times as long as `xxhsum`: {"met" if met else "not met"}.
"""
    print(page)
    arguments.page.write_text(page)
    for name in [*FORMATS, "values.nmb"]:
        os.unlink(name)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
