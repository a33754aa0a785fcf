#!/usr/bin/python3
"""Cost of `nmverify`, beside ncvalidator (PnetCDF) and cat. Writes benchmarks/verify.md.

    verify_speed.py BUILD --work FOLDER [--samples 35530] [--megabytes 1024] [--repeat 7] [--page FILE]

BUILD is a build of the preset bench. The files:

- a CDF-5 file of 35,530 graph samples with 568,480 variables, which make_graph_samples writes
- this file as an NMB file with a block for each sample, and as an NMB file with one block
- an NMB file with a few large variables

The programs verify the definitions of the three files of graph samples, and all values of the three NMB files. `cat`
copies the same NMB files to new files; it is run before each check, and its output is removed outside of the measured
time. Runs alternate, and the files are in the page cache. FOLDER needs room for 12 GB.

Goals: the levels index and blocks take less CPU and less memory than ncvalidator takes for the CDF-5 file; the level
data takes at most as long as cat, on one core and on all. Measure on an idle machine.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from measure import cost, in_turn, machine_in_words, middle, write_values  # noqa: E402
from run_benchmarks import SPLIT  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "verify.md"
CDF5, BLOCKS, ONE, LARGE = "samples.nc", "blocks.nmb", "one.nmb", "large.nmb"
KINDS = {CDF5: "CDF-5", BLOCKS: "NMB with a block for each sample", ONE: "NMB with one block", LARGE: "NMB with large variables"}
COPY = "copy"


class Verification:
    """The commands, their costs, and what they must not exceed."""

    def __init__(self, arguments):
        self.build, self.repeat = arguments.build.resolve(), arguments.repeat
        self.cores = len(os.sched_getaffinity(0))
        self.missed = []

    def tool(self, name, *words):
        subprocess.run([self.build / "tools" / name, *words], check=True, stdout=subprocess.DEVNULL)

    def verify(self, level, name, threads):
        return [self.build / "tools" / "nmverify", "--level", level, f"-j{threads}", "--no-progress", name]

    def on_cores(self, count, command):
        cores = sorted(os.sched_getaffinity(0))[-count:]
        return ["taskset", "-c", ",".join(map(str, cores)), *command]

    def measure(self, before, commands):
        """The medians of the costs of (number of cores, command), in the order of the commands."""
        functions = [
            lambda words=self.on_cores(*command): cost(self.build / "tests/bench/bench_run", words) for command in commands
        ]
        for function in functions:
            before and before()
            function()  # brings the files into the page cache
        costs = in_turn(self.repeat, before, *functions)
        return [{key: middle(each[key]) for key in ("wall", "cpu", "rss_mb")} for each in costs]

    def check(self, true, what):
        if not true:
            self.missed.append(what)


def make_samples(job, samples):
    subprocess.run([job.build / "examples" / "make_graph_samples", "graphs", "--files", "1", "--samples", str(samples)],
                   check=True, stdout=subprocess.DEVNULL)
    (made,) = Path("graphs").iterdir()
    made.rename(CDF5)
    job.tool("nmcat", CDF5, "-o", BLOCKS, *SPLIT, "-qf", "--no-sync")
    job.tool("nmcat", CDF5, "-o", ONE, "-qf", "--no-sync")


def make_large(job, megabytes):
    write_values("large.nc", "NETCDF3_64BIT_DATA", megabytes)
    job.tool("nmconvert", "-qf", "--no-sync", "large.nc", LARGE)
    os.unlink("large.nc")


def row(what, cores, cost, first):
    relative = [f"{cost[key] / first[key]:.2f}" if first[key] > 0 else "" for key in ("wall", "cpu", "rss_mb")]
    return (f"| {what} | {cores} | {cost['wall']:.3f} | {cost['cpu']:.3f} | {cost['rss_mb']:.0f} | {' | '.join(relative)} |")


HEAD = ["| what | cores | s | CPU s | MB | time ratio | CPU ratio | memory ratio |", "|---|---:|---:|---:|---:|---:|---:|---:|"]


def definitions(job):
    """The cost of the levels index and blocks, compared with ncvalidator."""
    names = ["ncvalidator, CDF-5"]
    commands = [(1, ["ncvalidator", "-q", CDF5])]
    for level in ("index", "blocks"):
        for file in (CDF5, BLOCKS, ONE):
            for cores in range(1, job.cores + 1):
                names.append(f"`--level {level}`, {KINDS[file]}")
                commands.append((cores, job.verify(level, file, cores)))
    costs = job.measure(None, commands)
    for (cores, _), name, each in zip(commands[1:], names[1:], costs[1:]):
        for key, what in (("cpu", "CPU"), ("rss_mb", "memory")):
            job.check(each[key] < costs[0][key], f"{name}, {cores} cores: {what}")
    return HEAD + [row(name, cores, each, costs[0]) for (cores, _), name, each in zip(commands, names, costs)]


def data(job, file):
    """The cost of the level data, compared with cat to a new file."""
    copy = ["sh", "-c", 'cat "$1" >"$2"', "sh", file, COPY]
    commands = [(1, copy), *((cores, job.verify("data", file, cores)) for cores in range(1, job.cores + 1))]
    costs = job.measure(lambda: Path(COPY).unlink(missing_ok=True), commands)
    Path(COPY).unlink(missing_ok=True)
    for (cores, _), each in zip(commands[1:], costs[1:]):
        job.check(each["wall"] <= costs[0]["wall"], f"`--level data`, {KINDS[file]}, {cores} cores: time")
    names = [f"`cat` to a new file, {KINDS[file]}"] + [f"`--level data`, {KINDS[file]}"] * job.cores
    return [row(name, cores, each, costs[0]) for (cores, _), name, each in zip(commands, names, costs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="a folder that does not exist; it is removed at the end")
    parser.add_argument("--samples", type=int, default=35530)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--page", type=Path, default=PAGE)
    arguments = parser.parse_args()
    if not shutil.which("ncvalidator"):
        sys.exit("verify_speed: no ncvalidator; install pnetcdf-bin")
    job, page, work = Verification(arguments), arguments.page.resolve(), arguments.work.resolve()
    work.mkdir(parents=True)
    os.chdir(work)
    try:
        make_samples(job, arguments.samples)
        table = definitions(job)
        os.unlink(CDF5)
        rows, sizes = [], []
        for file in (BLOCKS, ONE, LARGE):
            if file == LARGE:
                make_large(job, arguments.megabytes)
            sizes.append(f"{os.path.getsize(file) / 1e9:.2f} GB")
            rows += data(job, file)
            os.unlink(file)
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "pnetcdf-bin"], capture_output=True, text=True).stdout
    lines = "\n".join
    met = "\n".join(f"- missed: {what}" for what in job.missed) or "All goals are met."
    text = f"""# Benchmarks: verification

`tests/bench/verify_speed.py` wrote this page on {machine_in_words()}. Each figure is the median of {arguments.repeat} runs; the runs of the programs alternate. CPU is the time in user and system mode, MB is the peak memory. The files are in the page cache. nmverify runs with as many threads as there are cores in the column *cores*; no program can use other cores.

The files of graph samples have {arguments.samples:,} samples with 16 variables each. The NMB files have {sizes[0]} (a block for each sample), {sizes[1]} (one block) and {sizes[2]} (large variables).

## Definitions

ncvalidator{f" (PnetCDF {version})" if version else ""} checks the definitions in the CDF-5 file. `nmverify --level index` checks the index of an NMB file, and `--level blocks` also the metadata of each block. Both levels check all definitions of a CDF-5 file. Ratios are those to ncvalidator.

{lines(table)}

## Values

`nmverify --level data` checks everything. `cat` copies the same file to a new file. Ratios are those to `cat`.

{lines(HEAD + rows)}

## Goals

The levels index and blocks take less CPU and less memory than ncvalidator for the CDF-5 file. The level data takes at most 1.0 times the time of `cat`.

{met}
"""
    page.write_text(text)
    print(text)
    return 1 if job.missed else 0


if __name__ == "__main__":
    sys.exit(main())
