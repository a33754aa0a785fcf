#!/usr/bin/python3
"""Compares nmconvert in daily jobs on netCDF files with the tools that people use for them. Prints a table and ends with 1
if a goal is not reached or a result is wrong.

    tests/bench/netcdf_jobs.py all --tools build/bench/tools --work FOLDER --keep
    tests/bench/netcdf_jobs.py layout --tools build/bench/tools --work FOLDER

all: all jobs, each without and with the options --sync and --check. --keep writes the results to benchmarks/netcdf_jobs.md.
layout: a file with one time step a chunk gets the layout of CMIP7, beside h5repack; goal: 3 times as fast.
right: the same for a file that has that layout already, beside cat; goal: at most 1.5 times as long; all chunks are the same.
series: history files become a file for each variable, beside ncrcat -v in a loop; goal: 5 times as fast. Classic files and
deflated netCDF-4 files.
extract: one variable of a packed archive, beside cat of its bytes; goal: at most 1.2 times as long.

--megabytes chooses other sizes, --rounds the number of measurements, of which the medians are compared. The tools and their
peers take turns. Nobody waits for the device (nmconvert runs with --no-sync); with --sync all do. --check leaves --no-check
out.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import h5py
import netCDF4
import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))
from cmip7_test import check_chunks, check_metadata_first  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "benchmarks" / "netcdf_jobs"
MEGABYTES = {"layout": 1000, "right": 1000, "series": 600, "extract": 1000}
GOALS = {"layout": 1 / 3, "right": 1.5, "series": 1 / 5, "extract": 1.2}
LAT, LON, FILES, VARIABLES = 180, 360, 60, 40
SKIPPED = 77


def field(rng, steps, lat=LAT, lon=LON):
    """Smooth values with noise, which deflate to about two thirds."""
    waves = numpy.sin(numpy.arange(lat) / 9)[:, None] + numpy.cos(numpy.arange(lon) / 11)
    noise = rng.normal(0, 0.3, (steps, lat, lon))
    return (280 + 20 * waves + noise).astype("f4").round(2)


def run(*words, **options):
    subprocess.run([str(w) for w in words], check=True, **options)


def measure(rounds, jobs, clean):
    """Seconds of each job, in turns. jobs: by name."""
    times = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            clean()
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(list_) for name, list_ in times.items()}


def make_steps(path, megabytes):
    """One time step a chunk, deflated as by ncks -L 1."""
    steps, rng = max(megabytes * 1_000_000 // (LAT * LON * 4), 4), numpy.random.default_rng(1)
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("lat", LAT)
        f.createDimension("lon", LON)
        f.createDimension("bnds", 2)
        when = f.createVariable("time", "f8", ("time",), chunksizes=(1,))
        when.units, when.calendar, when.bounds = "days since 1850-01-01", "noleap", "time_bnds"
        f.createVariable("time_bnds", "f8", ("time", "bnds"), chunksizes=(1, 2))
        tas = f.createVariable("tas", "f4", ("time", "lat", "lon"), chunksizes=(1, LAT, LON), zlib=True, complevel=1)
        for at in range(0, steps, 50):
            count = min(50, steps - at)
            tas[at:at + count] = field(rng, count)
        when[:] = numpy.arange(steps)
        f["time_bnds"][:] = numpy.arange(steps)[:, None] + [0.0, 1.0]
    return steps


def raw_chunks(path, name):
    with h5py.File(path) as f:
        ids = f[name].id
        for i in range(ids.get_num_chunks()):
            yield ids.read_direct_chunk(ids.get_chunk_info(i).chunk_offset)


def same_values(a, b, name):
    with netCDF4.Dataset(a) as one, netCDF4.Dataset(b) as other:
        steps = one[name].shape[0]
        return all(
            numpy.array_equal(one[name][at:at + 100], other[name][at:at + 100]) for at in range(0, steps, 100))


class Jobs:
    def __init__(self, arguments):
        self.tools, self.work = arguments.tools.resolve(), arguments.work / "netcdf_jobs"
        self.chosen, self.rounds, self.rows, self.problems = arguments.megabytes, arguments.rounds, [], []

    def run(self, command, sync, checked):
        self.megabytes = self.chosen or MEGABYTES[command]
        self.sync, self.checked = sync, checked
        self.options = ["-q"] + ([] if sync else ["--no-sync"]) + ([] if checked else ["--no-check"])
        self.work.mkdir(parents=True)
        try:
            getattr(self, command)()
        finally:
            shutil.rmtree(self.work)

    # As the tests of interop call it.
    def check(self, true, problem):
        if not true:
            self.problems.append(problem)

    def peer(self, *words, out=None):
        """Runs another program; out: its standard output goes there."""
        if out is None:
            run(*words, cwd=self.work)
        else:
            with open(self.work / out, "wb") as file:
                run(*words, cwd=self.work, stdout=file)
        if self.sync:
            found = self.work / "peers"
            run("sync", *([*found.iterdir(), found] if found.exists() else ["peer.nc"]), cwd=self.work)

    def clean(self):
        for name in ("out.nc", "peer.nc", "series", "peers"):
            path = self.work / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def add(self, what, times, goal, **more):
        ours, peer = times["nmconvert"], next(v for k, v in times.items() if k != "nmconvert")
        peer_name = next(k for k in times if k != "nmconvert")
        modes = [word for word, on in (("synced", self.sync), ("checked", self.checked)) if on]
        what = f"{what} ({', '.join(modes)})" if modes else what
        self.rows.append({
            "job": what, "megabytes": self.megabytes, "nmconvert": round(ours, 3), "peer": peer_name,
            "seconds": round(peer, 3), "ratio": round(ours / peer, 3), "goal": round(goal, 3), "rounds": self.rounds, **more})
        if ours > goal * peer:
            self.problems.append(f"{what}: {ours:.2f} s, {peer_name} {peer:.2f} s: the goal is {goal:.2f} times")

    def relayout(self, source):
        run(self.tools / "nmconvert", source, "-o", "out.nc", "--layout", "cmip7", *self.options, cwd=self.work)

    def layout(self):
        steps = make_steps(self.work / "in.nc", self.megabytes)
        chunk = -(-(4 << 20) // (LAT * LON * 4))
        peer = ["h5repack", "-M", "65536", "-f", "tas:SHUF", "-f", "tas:GZIP=4", "-f", "tas:FLET",
                "-l", f"tas:CHUNK={min(chunk, steps)}x{LAT}x{LON}", "-l", f"time:CHUNK={steps}",
                "-l", f"time_bnds:CHUNK={steps}x2", "in.nc", "peer.nc"]
        times = measure(self.rounds, {
            "nmconvert": lambda: self.relayout("in.nc"), "h5repack": lambda: self.peer(*peer)}, self.clean)
        self.relayout("in.nc")
        if not same_values(self.work / "in.nc", self.work / "out.nc", "tas"):
            self.problems.append("layout: other values")
        check_chunks(self, self.work / "out.nc", "layout")
        check_metadata_first(self, self.work / "out.nc", "layout")
        self.add("one time step a chunk", times, GOALS["layout"])

    def right(self):
        make_steps(self.work / "in.nc", self.megabytes)
        self.relayout("in.nc")
        os.rename(self.work / "out.nc", self.work / "right.nc")

        times = measure(self.rounds, {
            "nmconvert": lambda: self.relayout("right.nc"), "cat": lambda: self.peer("cat", "right.nc", out="peer.nc")},
            self.clean)
        self.relayout("right.nc")
        if list(raw_chunks(self.work / "right.nc", "tas")) != list(raw_chunks(self.work / "out.nc", "tas")):
            self.problems.append("right: other chunks")
        self.add("already right", times, GOALS["right"], bytes=(self.work / "right.nc").stat().st_size)

    def series(self):
        for kind in ("NETCDF3_64BIT_OFFSET", "NETCDF4"):
            self.series_of(kind)

    def series_of(self, kind):
        lat, lon = 90, 180
        steps = max(round(self.megabytes * 1e6 / (FILES * VARIABLES * lat * lon * 4)), 1)
        rng, names = numpy.random.default_rng(2), [f"v{i:02}" for i in range(VARIABLES)]
        packed = {"zlib": True, "complevel": 1, "shuffle": True, "chunksizes": (1, lat, lon)} if kind == "NETCDF4" else {}
        files = [f"h{i:03}.nc" for i in range(FILES)]
        values = field(rng, steps, lat, lon)
        for i, file in enumerate(files):
            with netCDF4.Dataset(self.work / file, "w", format=kind) as f:
                f.createDimension("time", None)
                f.createDimension("lat", lat)
                f.createDimension("lon", lon)
                when = f.createVariable("time", "f8", ("time",))
                when.units, when.calendar = "days since 1850-01-01", "noleap"
                for name in names:
                    f.createVariable(name, "f4", ("time", "lat", "lon"), **packed)
                for j, name in enumerate(names):
                    f[name][:] = values + numpy.float32(i + j)
                when[:] = numpy.arange(steps) + i * steps
        (self.work / "list").write_text("\n".join(files) + "\n")

        def ours():
            run(self.tools / "nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", "series",
                "--name", "{variable}.nc", *self.options, cwd=self.work)

        def ncrcat():
            (self.work / "peers").mkdir()
            for name in names:
                run("ncrcat", "-h", "-v", name, *files, f"peers/{name}.nc", cwd=self.work)
            if self.sync:
                self.peer("true")

        times = measure(self.rounds, {"nmconvert": ours, "ncrcat": ncrcat}, self.clean)
        self.clean()
        ours()
        ncrcat()
        for name in names:
            if not same_values(self.work / f"series/{name}.nc", self.work / f"peers/{name}.nc", name):
                self.problems.append(f"series: {kind}: other values of {name}")
        self.add(f"{FILES} history files of {VARIABLES} variables, {kind}", times, GOALS["series"])
        for file in files:
            (self.work / file).unlink()

    def extract(self):
        steps, rng = self.megabytes * 1_000_000 // (4 * LAT * LON * 4), numpy.random.default_rng(3)
        for name in ("ta", "ua", "va", "wa"):
            with netCDF4.Dataset(self.work / f"{name}.nc", "w", format="NETCDF3_64BIT_OFFSET") as f:
                for dimension, length in (("time", None), ("lat", LAT), ("lon", LON)):
                    f.createDimension(dimension, length)
                one = f.createVariable(name, "f4", ("time", "lat", "lon"))
                for at in range(0, steps, 50):
                    count = min(50, steps - at)
                    one[at:at + count] = field(rng, count)
        run(self.tools / "nmcat", "ta.nc", "ua.nc", "va.nc", "wa.nc", "-o", "archive.nmb", "-q", cwd=self.work)

        def ours():
            run(self.tools / "nmconvert", "archive.nmb", "-o", "out.nc", "--extract", "ua", *self.options, cwd=self.work)

        times = measure(
            self.rounds, {"nmconvert": ours, "cat": lambda: self.peer("cat", "ua.nc", out="peer.nc")}, self.clean)
        ours()
        if (self.work / "out.nc").read_bytes() != (self.work / "ua.nc").read_bytes():
            self.problems.append("extract: other bytes")
        self.add("one variable of a packed archive", times, GOALS["extract"], bytes=(self.work / "ua.nc").stat().st_size)


def keep(rows, is_all):
    """Adds the rows to benchmarks/netcdf_jobs.json, or replaces all rows, and writes the table again."""
    path = DOCS.with_suffix(".json")
    known = json.loads(path.read_text()) if path.exists() and not is_all else {}
    known |= {row["job"]: row for row in rows}
    path.write_text(json.dumps(known, indent=1) + "\n")
    lines = [
        "# Daily jobs on netCDF files", "",
        "This page compares `nmconvert` with tools that people use for the same job. `tests/bench/netcdf_jobs.py` measured all "
        "times and wrote this page. Each time is the median of several runs that took turns. \"Synced\" means that both programs "
        "waited until the output was on the device. \"Checked\" means that `nmconvert` read its output and compared it with the "
        "input. A goal is the largest ratio that the two times should have.",
        "", "| job | MB | nmconvert | other program | ratio | goal |", "|---|---|---|---|---|---|"]
    for row in known.values():
        lines.append(f"| {row['job']} | {row['megabytes']} | {row['nmconvert']} s | {row['peer']}: {row['seconds']} s | "
                     f"{row['ratio']} | {row['goal']} |")
    DOCS.with_suffix(".md").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["all", *sorted(MEGABYTES)])
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--megabytes", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="read results back, as nmconvert does by default")
    parser.add_argument("--sync", action="store_true", help="wait until outputs are on the device, on both sides")
    parser.add_argument("--keep", action="store_true", help="write the results to benchmarks/netcdf_jobs.md")
    arguments = parser.parse_args()
    is_all = arguments.command == "all"
    commands = sorted(MEGABYTES) if is_all else [arguments.command]
    for command, peer in (("layout", "h5repack"), ("series", "ncrcat")):
        if command in commands and not shutil.which(peer):
            print(f"skipped: found no {peer}")
            return SKIPPED
    jobs = Jobs(arguments)
    for command in commands:
        for sync, check in ((False, False), (True, True)) if is_all else ((arguments.sync, arguments.check),):
            jobs.run(command, sync, check)
    for row in jobs.rows:
        print("\t".join(f"{key} {value}" for key, value in row.items()))
    for problem in jobs.problems:
        print(problem)
    if arguments.keep:
        keep(jobs.rows, is_all)
    return 1 if jobs.problems else 0


if __name__ == "__main__":
    sys.exit(main())
