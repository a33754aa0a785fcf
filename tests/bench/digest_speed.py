#!/usr/bin/python3
"""Time of `nminspect digest` and `nminspect diff` on one core, beside xxhsum. Writes benchmarks/digest.md.

    digest_speed.py BUILD --work FOLDER [--megabytes 1024] [--repeat 7] [--page FILE]

BUILD is a build with the tools, as of the preset bench. The files have the same contiguous values: doubles and floats in
variables of different sizes, as CDF-5, as netCDF-4 with little-endian values, and as NMB. xxhsum reads the CDF-5 file
with its default checksum (XXH64), and with XXH3 of 128 bits (-H2). All programs run on one core, and their runs
alternate. The files are in the page cache.

Goal: the digest of contiguous values takes at most 1.5 times as long as xxhsum. Measure on an idle machine.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from measure import cost, in_turn, machine_in_words, middle, write_values  # noqa: E402

GOAL = 1.5
FORMATS = {"values.cdf5": "NETCDF3_64BIT_DATA", "values.nc": "NETCDF4"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--page", type=Path, default=Path(__file__).parents[2] / "benchmarks" / "digest.md")
    arguments = parser.parse_args()
    build, work = arguments.build.resolve(), arguments.work.resolve()
    tools, bench_run = build / "tools", build / "tests/bench/bench_run"
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    for name, kind in FORMATS.items():
        write_values(name, kind, arguments.megabytes)
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
    digests = {subprocess.run(command, capture_output=True, check=True).stdout for name, command in commands.items() if "digest" in name}
    if len(digests) != 1:
        print(f"the digests differ: {digests}")
        return 1
    costs = in_turn(arguments.repeat, None, *(lambda command=command: cost(bench_run, command) for command in commands.values()))
    times = {name: middle(each["wall"]) for name, each in zip(commands, costs)}
    first = times["xxhsum of the CDF-5 file"]
    met = True
    rows = ["| what | s | times xxhsum |", "|---|---:|---:|"]
    for name, median in times.items():
        rows.append(f"| {name} | {median:.3f} | {median / first:.2f} |")
        met &= "digest" not in name or median / first <= GOAL
    table = "\n".join(rows)
    page = f"""# Benchmarks: digests of content

`tests/bench/digest_speed.py` wrote this page on {machine_in_words()}. Each file has {arguments.megabytes} MiB of contiguous values. All programs ran on one core, with the files in the page cache. Each figure is the median of {arguments.repeat} runs; the runs of the programs alternate.

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
