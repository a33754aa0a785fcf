#!/usr/bin/python3
"""Measures HDF5 views beside netCDF-C and libhdf5, and writes benchmarks/hdf5_views.md.

    tests/bench/hdf5_views.py --build build/bench --work FOLDER [--runs 7] [--samples 3553] [--page FILE]

The input are graph samples of make_graph_samples: 16 variables and 24 dimensions in each of 3,553 blocks, which makes 56,848
variables. The native file has the same groups, and nccopy made it from the view. Ours and the peer's run in
turn. A figure is the median of the runs. No program waits until its output is on the device.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

SPLIT = ["--split-names", r"^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}"]
READ = "import sys, h5py\nwith h5py.File(sys.argv[1]) as f:\n    print(f[sys.argv[2]][...].sum())"


class Bench:
    def __init__(self, arguments):
        self.build, self.work, self.runs = arguments.build.resolve(), arguments.work.resolve(), arguments.runs
        self.rows, self.missed = [], 0

    def run(self, *command):
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, cwd=self.work).stdout

    def tool(self, name, *arguments):
        return [str(self.build / "tools" / name), *map(str, arguments)]

    def times(self, *commands, before=lambda: None):
        """The medians of the times of commands that run in turn."""
        found = [[] for _ in commands]
        for turn in range(self.runs + 1):
            for i in range(len(commands)):
                i = (i + turn) % len(commands)
                before()
                begin = time.perf_counter()
                self.run(*commands[i])
                if turn > 0:  # the first turn fills the cache
                    found[i].append(time.perf_counter() - begin)
        return [statistics.median(one) for one in found]

    def row(self, what, ours, peer, unit, most=None, value=None):
        value = ours / peer if value is None else value
        met = "" if most is None else "yes" if value <= most else "no"
        self.missed += met == "no"
        wanted = "" if most is None else f"<= {most:,}"
        self.rows.append(f"| {what} | {ours:,.4g} | {'' if peer is None else f'{peer:,.4g}'} | {unit} | "
                         f"{'' if peer is None else f'{value:.3g}'} | {wanted} | {met} |")
        print(self.rows[-1], flush=True)


def measure(bench, samples):
    work = bench.work
    inputs = work / "inputs"
    if not inputs.exists():
        bench.run(bench.build / "examples" / "make_graph_samples", inputs, "--files", 4, "--samples", samples)
    files = sorted(inputs.iterdir())
    bench.run(*bench.tool("nmcat", *files, *SPLIT, "-o", "plain.nmb", "-f", "--no-sync"))
    bench.run(*bench.tool("nmcat", *files, *SPLIT, "-o", "view.nmb", "-f", "--no-sync", "--hdf5-view", "on"))
    bench.run(*bench.tool("nmcat", *files, *SPLIT, "-o", "none.nmb", "-f", "--no-sync", "--hdf5-view", "on", "--view-dimensions", "none"))
    count = json.loads(bench.run(*bench.tool("nminspect", "--json", "plain.nmb")))
    variables, blocks = count["objects"], count["blocks"]
    begin = time.perf_counter()
    if not (work / "native.nc").exists():
        bench.run("nccopy", "-k", "nc4", "view.nmb", "native.nc")
    copying = time.perf_counter() - begin  # takes minutes, so it is measured once
    length = {name: (work / name).stat().st_size for name in ("plain.nmb", "view.nmb", "none.nmb", "native.nc")}
    values = sum(int(line.split()[-2]) for line in bench.run("h5stat", "-S", "native.nc").splitlines() if "Raw data" in line)
    native = length["native.nc"] - values
    view, none = length["view.nmb"] - length["plain.nmb"], length["none.nmb"] - length["plain.nmb"]
    bench.row("bytes of the view for each variable, compared with the metadata of the native file", view / variables,
              native / variables, "bytes", 0.6)
    bench.row("bytes of the view for each variable with `--view-dimensions=none`", none / variables, None, "bytes", 260,
              none / variables)
    names = bench.run(*bench.tool("nminspect", "ls", "plain.nmb")).split()
    one = f"{names[len(names) // 2]}/x_u"
    ours, peer = bench.times([sys.executable, "-c", READ, "view.nmb", one], [sys.executable, "-c", READ, "native.nc", one])
    bench.row("read one variable by h5py", ours, peer, "s", 2)
    ours, peer = bench.times(["h5ls", f"view.nmb/{one}"], ["h5ls", f"native.nc/{one}"])
    bench.row("show one variable by `h5ls`", ours, peer, "s", 2)
    ours, peer = bench.times(["ncdump", "-v", f"/{one}", "view.nmb"], ["ncdump", "-v", f"/{one}", "native.nc"])
    bench.row("show one variable by `ncdump -v`", ours, peer, "s", 2)

    def fresh():
        shutil.copyfile(work / "plain.nmb", work / "added.nmb")
        (work / "out.nc").unlink(missing_ok=True)

    add = bench.tool("nmconvert", "--add-hdf5-view", "added.nmb", "--no-sync")
    write = bench.tool("nmconvert", "plain.nmb", "out.nc", "--to", "nc4", "--no-sync", "--no-check")
    ours, peer = bench.times(add, write, before=fresh)
    bench.row("make the view, compared with libhdf5 writing the same objects (`nmconvert --to nc4 --no-check`)", ours, peer, "s", 1.5)
    if copying > 1:
        bench.row("make the view, compared with one run of `nccopy` that wrote the native file", ours, copying, "s")
    for name in ("added.nmb", "out.nc"):
        (work / name).unlink(missing_ok=True)
    return variables, blocks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--samples", type=int, default=3553)
    parser.add_argument("--page", type=Path, help="file of the page; without it, the table is only printed")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    load = os.getloadavg()[0]
    variables, blocks = measure(bench, arguments.samples)
    if arguments.page:
        page = f"""# Benchmarks

`tests/bench/hdf5_views.py` wrote this page on a machine with {os.cpu_count()} cores and Linux {platform.release()}. The load of the machine was {load:.1f} at the start. Each time is the median of {arguments.runs} runs, which alternate with runs of the peer.

## HDF5 views

The file has {blocks:,} blocks with {variables:,} variables; the blocks have 24 dimensions each. The native file is a netCDF-4 file with the same groups, which `nccopy` wrote.

| what | ours | peer | unit | ratio | wanted | met |
|---|---:|---:|---|---:|---|---|
"""
        arguments.page.write_text(page + "".join(row + "\n" for row in bench.rows))
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
