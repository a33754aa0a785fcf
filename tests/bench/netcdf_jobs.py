#!/usr/bin/python3
"""Compares the tools in daily jobs on netCDF files with the programs that people use for them. Prints the results and ends
with 1 if a goal is not reached or a result is wrong.

    tests/bench/netcdf_jobs.py all --tools build/bench/tools --work FOLDER --page benchmarks/netcdf_jobs.md
    tests/bench/netcdf_jobs.py layout --tools build/bench/tools --work FOLDER

all: all jobs; conversions are measured without and with the options --sync and --check. --page FILE keeps the
results, and FILE.json beside it what they were made of.
layout: files with one time step a chunk get the layout of CMIP7, beside h5repack, which makes the same chunks with the same
filters; goals: at most 0.8 times as long, and at most 1 % larger.
right: the same for a file that has that layout already, beside cat; goal: at most 1.5 times as long; all chunks are the same.
series: history files become a file for each variable, beside ncrcat -v in a loop; goal: 5 times as fast. Classic files and
deflated netCDF-4 files.
extract: one variable of a packed archive, beside cat of its bytes; goal: at most 1.2 times as long.
subset: one variable, one year and one box out of an archive of five years, beside the time to read and inflate the stored
bytes of the chunks that have these values (goal: at most 1.2 times as long), and beside NCO and CDO on the files of this
year and on a joined file (goal: 5 times as fast as the fastest). The archive is joined, or has a block for each month. The
reader is a function of this script: pread and zlib, in as many threads as there are cores; it finds the chunks before the
measurement. The goals are for runs without and with the check of the output.
against: nmverify --against proves a joined year of values that are not compressed, beside cat of the inputs and the joined
file to /dev/null; goal: at most 1.3 times as long.
groups: 200 groups with 41 variables each become a netCDF-4 file, with all checks; goal: at most 6 seconds.
views: the size of a merged NMB file with an HDF5 view, beside the same file without one; goal: at most 2 % larger.

--megabytes chooses other sizes, --rounds the number of measurements, of which the medians are compared. The tools and their
peers take turns; the first run of each is not counted. Nobody waits for the device (our tools run with --no-sync); with
--sync all do. --check leaves --no-check out.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path

import h5py
import netCDF4
import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))
from cmip7_test import check_chunks, check_metadata_first  # noqa: E402
from measure import machine_in_words  # noqa: E402
from monthly_files import MonthlyFiles, field  # noqa: E402

MEGABYTES = {"layout": 1000, "right": 1000, "series": 600, "extract": 1000, "subset": 5000, "against": 1500, "groups": 21,
             "views": 500}
SYNCED = ("layout", "right", "series", "extract")  # measured without and with --sync and --check
GOALS = {"layout": 0.8, "right": 1.5, "series": 1 / 5, "extract": 1.2, "subset, reader": 1.2, "subset, peers": 1 / 5,
         "against": 1.3, "groups": 1, "views": 1.02}
LARGER = 1.01  # the most of h5repack's bytes that a file with the layout of CMIP7 may have
GROUPS, GROUP_VARIABLES, GROUP_SECONDS = 200, 41, 6
LAT, LON, FILES, VARIABLES = 180, 360, 60, 40
YEARS, YEAR, BOX = 5, 1992, (60, 150, 0, 60)
CMIP7_CHUNK = 4 << 20
SKIPPED = 77


def run(*words, **options):
    subprocess.run([str(w) for w in words], check=True, **options)


def measure(rounds, jobs, clean):
    """Seconds of each job, in turns whose order alternates. jobs: by name."""
    times = {name: [] for name in jobs}
    for i in range(rounds + 1):
        for name, job in jobs.items() if i % 2 else reversed(jobs.items()):
            clean()
            start = time.perf_counter()
            job()
            if i > 0:  # the first run fills the cache
                times[name].append(time.perf_counter() - start)
    clean()
    return {name: statistics.median(list_) for name, list_ in times.items()}


def make_steps(path, megabytes, ocean=False):
    """One time step a chunk, deflated as by ncks -L 1. ocean: a third of the grid is land, without values."""
    steps, rng = max(megabytes * 1_000_000 // (LAT * LON * 4), 4), numpy.random.default_rng(1)
    land = numpy.add.outer(numpy.sin(numpy.arange(LAT) / 17), numpy.cos(numpy.arange(LON) / 23)) > 0.5
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("lat", LAT)
        f.createDimension("lon", LON)
        f.createDimension("bnds", 2)
        when = f.createVariable("time", "f8", ("time",), chunksizes=(1,))
        when.units, when.calendar, when.bounds = "days since 1850-01-01", "noleap", "time_bnds"
        f.createVariable("time_bnds", "f8", ("time", "bnds"), chunksizes=(1, 2))
        tas = f.createVariable("tas", "f4", ("time", "lat", "lon"), chunksizes=(1, LAT, LON), zlib=True, complevel=1,
                               fill_value=1e20)
        for at in range(0, steps, 50):
            count = min(50, steps - at)
            values = field(rng, count, LAT, LON)
            tas[at:at + count] = numpy.where(land, numpy.float32(1e20), values) if ocean else values
        when[:] = numpy.arange(steps)
        f["time_bnds"][:] = numpy.arange(steps)[:, None] + [0.0, 1.0]


def repack_options(path):
    """The options with which h5repack gives a file the chunks and filters of another one."""
    words = ["-M", "65536"]
    with h5py.File(path) as f:
        for name, one in f.items():
            if one.chunks:
                words += ["-l", f"{name}:CHUNK=" + "x".join(map(str, one.chunks))]
            words += ["-f", f"{name}:SHUF"] if one.shuffle else []
            words += ["-f", f"{name}:GZIP={one.compression_opts}"] if one.compression == "gzip" else []
            words += ["-f", f"{name}:FLET"] if one.fletcher32 else []
    return words


def raw_chunks(path, name):
    with h5py.File(path) as f:
        ids = f[name].id
        for i in range(ids.get_num_chunks()):
            yield ids.read_direct_chunk(ids.get_chunk_info(i).chunk_offset)


def stored_chunks(archive, names, first, count):
    """Offset and size in an NMB file of the chunks that have the time steps. names: variables whose steps follow each other."""
    found = []
    with h5py.File(archive) as file:  # by the HDF5 view
        at = 0
        for name in names:
            one = file[name]
            for i in range(one.id.get_num_chunks()):
                info = one.id.get_chunk_info(i)
                begin = at + info.chunk_offset[0]
                if begin < first + count and begin + one.chunks[0] > first:
                    found.append((info.byte_offset, info.size))
            at += one.shape[0]
    return found


def inflate(archive, chunks, threads):
    """Reads stored chunks and inflates them."""
    file = os.open(archive, os.O_RDONLY)
    try:
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda chunk: len(zlib.decompress(os.pread(file, chunk[1], chunk[0]))), chunks):
                pass
    finally:
        os.close(file)


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
        self.unsynced = ["-q"] + ([] if sync else ["--no-sync"])
        self.options = self.unsynced + ([] if checked else ["--no-check"])
        self.work.mkdir(parents=True)
        try:
            getattr(self, command)()
        finally:
            shutil.rmtree(self.work)

    # As the tests of interop call it.
    def check(self, true, problem):
        if not true:
            self.problems.append(problem)

    def tool(self, name, *words):
        run(self.tools / name, *words, cwd=self.work)

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

    def add(self, what, times, goal, ours="nmconvert", peer=None, megabytes=None, **more):
        """A row: the times of one of our tools and of another program, by name (default: the only other one)."""
        peer = peer or next(name for name in times if name != ours)
        modes = [word for word, on in (("synced", self.sync), ("checked", self.checked)) if on]
        what = f"{what} ({', '.join(modes)})" if modes else what
        seconds, others = times[ours], times[peer]
        self.rows.append({
            "job": what, "megabytes": self.megabytes if megabytes is None else megabytes, "tool": ours,
            "ours": round(seconds, 3), "peer": peer, "seconds": round(others, 3), "ratio": round(seconds / others, 3),
            "goal": round(goal, 3), "rounds": self.rounds, **more})
        self.check(seconds <= goal * others,
                   f"{what}: {ours} {seconds:.3f} s, {peer} {others:.3f} s: {seconds / others:.3f} times, the goal is {goal:.3g}")

    def relayout(self, source):
        self.tool("nmconvert", source, "-o", "out.nc", "--layout", "cmip7", *self.options)

    def layout(self):
        sizes = [size for size in (25, self.megabytes) if size <= self.megabytes]
        for megabytes, ocean in ((sizes[0], False), (sizes[0], True), *((size, False) for size in sizes[1:])):
            self.layout_of(megabytes, ocean)

    def layout_of(self, megabytes, ocean):
        (self.work / "in.nc").unlink(missing_ok=True)
        make_steps(self.work / "in.nc", megabytes, ocean)
        self.relayout("in.nc")
        what = "one time step a chunk, " + ("ocean" if ocean else "atmosphere")
        self.check(same_values(self.work / "in.nc", self.work / "out.nc", "tas"), f"{what}: other values")
        check_chunks(self, self.work / "out.nc", "layout")
        check_metadata_first(self, self.work / "out.nc", "layout")
        repack = ["h5repack", *repack_options(self.work / "out.nc"), "in.nc", "peer.nc"]
        self.peer(*repack)
        self.check(repack_options(self.work / "peer.nc") == repack_options(self.work / "out.nc"), f"{what}: other filters")
        larger = (self.work / "out.nc").stat().st_size / (self.work / "peer.nc").stat().st_size
        self.check(larger <= LARGER, f"{what}: {larger:.4f} times as large as the output of h5repack")
        times = measure(self.rounds, {"nmconvert": lambda: self.relayout("in.nc"), "h5repack": lambda: self.peer(*repack)},
                        self.clean)
        self.add(f"{what}, {megabytes} MB", times, GOALS["layout"], megabytes=megabytes, larger=round(larger, 4))

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
            self.tool("nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", "series",
                      "--name", "{variable}.nc", *self.options)

        def ncrcat():
            (self.work / "peers").mkdir()
            for name in names:
                run("ncrcat", "-h", "-v", name, *files, f"peers/{name}.nc", cwd=self.work)
            if self.sync:
                self.peer("true")

        times = measure(self.rounds, {"nmconvert": ours, "ncrcat": ncrcat}, self.clean)
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
                    one[at:at + count] = field(rng, count, LAT, LON)
        self.tool("nmcat", "ta.nc", "ua.nc", "va.nc", "wa.nc", "-o", "archive.nmb", "-q")

        def ours():
            self.tool("nmconvert", "archive.nmb", "-o", "out.nc", "--extract", "ua", *self.options)

        times = measure(
            self.rounds, {"nmconvert": ours, "cat": lambda: self.peer("cat", "ua.nc", out="peer.nc")}, self.clean)
        ours()
        if (self.work / "out.nc").read_bytes() != (self.work / "ua.nc").read_bytes():
            self.problems.append("extract: other bytes")
        self.add("one variable of a packed archive", times, GOALS["extract"], bytes=(self.work / "ua.nc").stat().st_size)

    def subset(self):
        for what, chunk_bytes in (("one time step a chunk", 1), ("chunks of 4 MiB", CMIP7_CHUNK)):
            files = MonthlyFiles(self.work / "files", YEARS, self.megabytes, chunk_bytes=chunk_bytes)
            files.make()
            paths = files.paths()
            view = ["--hdf5-view", "on"]  # by which the reader finds the chunks
            self.tool("nmcat", *paths, "-o", "packed.nmb", *view, *self.unsynced)
            for out, more in (("joined.nmb", view), ("joined.nc", [])):
                self.tool("nmcat", "--mode", "join", *paths, "-o", out, *more, *self.unsynced)
            self.subset_of(what, files)
            for path in ("packed.nmb", "joined.nmb", "joined.nc"):
                (self.work / path).unlink()
            shutil.rmtree(files.folder)

    def subset_of(self, what, files):
        name, paths = files.names[1], files.paths(YEAR)
        west, east, south, north = map(float, BOX)
        part = ["--variables", name, "--time", YEAR, "--box", ",".join(map(str, BOX)), "-o", "out.nc", *self.unsynced]
        box = ["-d", f"lat,{south},{north}", "-d", f"lon,{west},{east}"]
        days = ["-d", f"time,{YEAR}-01-01,{YEAR}-12-31 23:59:59"]
        cdo_box = f"-sellonlatbox,{west},{east},{south},{north}"
        blocks = [path.stem for path in paths]
        with h5py.File(self.work / "packed.nmb") as file:
            before = sum(file[path.stem][name].shape[0] for path in files.paths() if path < paths[0])
            count = sum(file[block][name].shape[0] for block in blocks)
        chunks = {"joined.nmb": stored_chunks(self.work / "joined.nmb", [name], before, count),
                  "packed.nmb": stored_chunks(self.work / "packed.nmb", [f"{block}/{name}" for block in blocks], 0, count)}

        def reader(archive, threads):
            return lambda: inflate(self.work / archive, chunks[archive], threads)

        ours = {
            "nmconvert": lambda: self.tool("nmconvert", "joined.nmb", *part, "--no-check"),
            "nmconvert, checked": lambda: self.tool("nmconvert", "joined.nmb", *part),
            "nmcat": lambda: self.tool("nmcat", "--mode", "join", "packed.nmb", *part),
        }
        cores = len(os.sched_getaffinity(0))
        readers = {
            "reader, joined": reader("joined.nmb", cores),
            "reader, packed": reader("packed.nmb", cores),
            "reader, joined, one thread": reader("joined.nmb", 1),
        }
        peers = {
            "ncrcat, 12 files": lambda: self.peer("ncrcat", "-h", "-v", name, *box, *paths, "peer.nc"),
            "cdo, 12 files": lambda: self.peer("cdo", "-s", cdo_box, f"-select,name={name}", *paths, "peer.nc"),
            "ncks, joined file": lambda: self.peer("ncks", "-h", "-v", name, *days, *box, "joined.nc", "peer.nc"),
            "cdo, joined file": lambda: self.peer(
                "cdo", "-s", cdo_box, f"-select,name={name},year={YEAR}", "joined.nc", "peer.nc"),
        }
        expected = files.part(name, YEAR, BOX)
        for program, job in (ours | peers).items():
            self.clean()
            job()
            with netCDF4.Dataset(self.work / ("out.nc" if program in ours else "peer.nc")) as file:
                self.check(numpy.array_equal(file[name][:].filled(), expected), f"subset, {what}: {program}: other values")
        times = measure(self.rounds, ours | readers | peers, self.clean)
        fastest = min(peers, key=times.get)
        megabytes = round(files.bytes() / 1e6)
        more = {"chunks": len(chunks["joined.nmb"]), "chunk_bytes": sum(size for _, size in chunks["joined.nmb"])}
        for tool in ours:
            archive = "packed" if tool == "nmcat" else "joined"
            subset = f"a subset of a {archive} archive, {what}" + (", with the check" if "checked" in tool else "")
            self.add(subset, times, GOALS["subset, reader"], tool, f"reader, {archive}", megabytes, **more)
            self.add(f"{subset}, beside NCO and CDO", times, GOALS["subset, peers"], tool, fastest, megabytes)
        self.rows[-1] |= {"set": what, "times": {name: round(seconds, 3) for name, seconds in times.items()}}

    def against(self):
        for kind in ("NETCDF3_64BIT_OFFSET", "NETCDF4"):
            files = MonthlyFiles(self.work / "files", 1, self.megabytes, kind, packed=False)
            files.make()
            for out in ("joined.nc", "joined.nmb"):
                self.tool("nmcat", "--mode", "join", *files.paths(), "-o", out, *self.unsynced)
                both = [*files.paths(), out]
                times = measure(self.rounds, {
                    "nmverify": lambda: self.tool("nmverify", "-q", out, "--against", *files.paths()),
                    "cat": lambda: run("cat", *both, cwd=self.work, stdout=subprocess.DEVNULL)}, self.clean)
                self.add(f"12 files of kind {kind}, against {out}", times, GOALS["against"], "nmverify",
                         megabytes=round((files.bytes() + (self.work / out).stat().st_size) / 1e6))
                (self.work / out).unlink()
            self.against_wrong(files)
            shutil.rmtree(files.folder)

    def against_wrong(self, files):
        """A value that differs must be found; else the time says nothing."""
        self.tool("nmcat", "--mode", "join", *files.paths(), "-o", "joined.nc", *self.unsynced)
        with netCDF4.Dataset(self.work / "joined.nc", "a") as file:
            file[files.names[0]][200, 3, 5] += 1
        words = [self.tools / "nmverify", "-q", "joined.nc", "--against", *files.paths()]
        done = subprocess.run(words, cwd=self.work, capture_output=True)
        self.check(done.returncode == 1, f"against, {files.kind}: nmverify does not find a wrong value")
        (self.work / "joined.nc").unlink()

    def groups(self):
        rng, names = numpy.random.default_rng(4), [f"v{i:02}" for i in range(GROUP_VARIABLES - 1)]
        values = field(rng, 4, 18, 36)

        def fill(group, **options):
            for name, length in (("time", None), ("lat", 18), ("lon", 36)):
                group.createDimension(name, length)
            when = group.createVariable("time", "f8", ("time",))
            when.units = "days since 1850-01-01"
            for i, name in enumerate(names):
                one = group.createVariable(name, "f4", ("time", "lat", "lon"), **options)
                one.units, one.long_name = "K", f"variable {name}"
                one[:] = values + numpy.float32(i)
            when[:] = numpy.arange(4)

        files = [self.work / f"group_{i:03}.nc" for i in range(GROUPS)]
        with netCDF4.Dataset(self.work / "groups.nc", "w") as all_groups:
            for path in files:
                with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
                    fill(file)
                fill(all_groups.createGroup(path.stem), zlib=True, complevel=1, shuffle=True)
        self.tool("nmcat", *files, "-o", "classic.nmb", *self.unsynced)
        self.tool("nmconvert", "groups.nc", "-o", "netcdf4.nmb", *self.unsynced)
        for what in ("classic", "netcdf4"):
            words = [f"{what}.nmb", "-o", "out.nc", "--to", "nc4", *self.unsynced]
            times = measure(self.rounds, {"nmconvert": lambda: self.tool("nmconvert", *words)}, self.clean)
            self.tool("nmconvert", *words)
            with netCDF4.Dataset(self.work / "out.nc") as file:
                found = [group[name][:] for group in file.groups.values() for name in names]
            right = len(found) == GROUPS * len(names) and all(
                numpy.array_equal(one, values + numpy.float32(i % len(names))) for i, one in enumerate(found))
            self.check(right, f"groups: {what}: other values")
            self.clean()
            self.add(f"{GROUPS} {what} groups of {GROUP_VARIABLES} variables", times | {"the limit": GROUP_SECONDS},
                     GOALS["groups"], megabytes=round((self.work / f"{what}.nmb").stat().st_size / 1e6))

    def views(self):
        files = MonthlyFiles(self.work / "files", 1, self.megabytes)
        classic = MonthlyFiles(self.work / "classic", 1, self.megabytes, "NETCDF3_64BIT_OFFSET", packed=False)
        files.make()
        classic.make()
        paths, first = files.paths(), files.paths()[0]
        for name in files.names:
            run("ncks", "-h", "-v", name, first, f"one_{name}.nc", cwd=self.work)
        lat, lon, both = files.lat, files.lon, ["--compress", "deflate:1", "--shuffle"]
        for what, words in {
            "joined, chunks as in the inputs": ["--mode", "join", *paths],
            "joined, zstd and shuffle": ["--mode", "join", *paths, "--compress", "zstd:3", "--shuffle"],
            "joined, chunks of five steps": ["--mode", "join", *paths, "--chunk", f"time:5,lat:{lat // 4},lon:{lon // 4}"],
            "joined, small chunks": ["--mode", "join", *paths, "--chunk", f"time:1,lat:{lat // 8},lon:{lon // 8}"],
            "joined classic files, deflate and shuffle": ["--mode", "join", *classic.paths(), "--chunk", "time:1", *both],
            "united variables, zstd": ["--mode", "union", *sorted(self.work.glob("one_*.nc")), "--compress", "zstd:3"],
            "packed, chunks as in the inputs": paths,
        }.items():
            sizes = {}
            for view in ("off", "on"):
                self.tool("nmcat", *words, "-o", f"{view}.nmb", "-f", "--hdf5-view", view, *self.unsynced)
                sizes[view] = (self.work / f"{view}.nmb").stat().st_size
            ratio = sizes["on"] / sizes["off"]
            with h5py.File(self.work / "on.nmb") as file:
                sets = []
                file.visititems(lambda _, item: sets.append(item) if isinstance(item, h5py.Dataset) else None)
                chunks = sum(one.id.get_num_chunks() for one in sets if one.chunks)
            self.rows.append({"job": what, "view": sizes["on"], "without": sizes["off"], "chunks": chunks,
                              "ratio": round(ratio, 4), "goal": GOALS["views"]})
            self.check(ratio <= GOALS["views"], f"views: {what}: {ratio:.4f} times as large with a view")


def table(titles, rows):
    return ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"] + ["| " + " | ".join(map(str, row)) + " |" for row in rows]


def keep(page, rows, is_all):
    """Adds the rows to those of the page, or replaces all rows, and writes the tables again."""
    path = page.with_suffix(".json")
    known = json.loads(path.read_text()) if path.exists() and not is_all else {}
    known |= {row["job"]: row for row in rows}
    path.write_text(json.dumps(known, indent=1) + "\n")
    timed = [row for row in known.values() if "seconds" in row]
    views = [row for row in known.values() if "view" in row]
    subsets = [row for row in timed if "times" in row]
    met = lambda row: "yes" if row["ratio"] <= row["goal"] and row.get("larger", 0) <= LARGER else "no"  # noqa: E731
    lines = [
        "# Daily jobs on netCDF files", "",
        "This page compares the tools with programs that people use for the same job. `tests/bench/netcdf_jobs.py` measured all "
        f"times and wrote this page on {machine_in_words()}; its help describes the jobs. Each time is the median of several runs "
        "that took turns. \"Synced\" means that both programs waited until the output was on the device. \"Checked\" and \"with "
        "the check\" mean that `nmconvert` read its output and compared it with the input. A goal is the largest ratio that the "
        "two times should have.", "",
        *table(("job", "MB", "ours", "other program", "ratio", "goal", "met"), (
            (row["job"], row["megabytes"], f"{row['tool'].split(',')[0]}: {row['ours']} s", f"{row['peer']}: {row['seconds']} s",
             row["ratio"], row["goal"], met(row)) for row in timed))]
    larger = [row for row in timed if "larger" in row]
    if larger:
        lines += [
            "", f"With `--layout cmip7`, an output may have {LARGER} times the bytes of h5repack's output. It has "
            f"{min(row['larger'] for row in larger)} to {max(row['larger'] for row in larger)} times the bytes."]
    if subsets:
        lines += [
            "", "## Subsets of an archive", "",
            f"One of several variables, one of {YEARS} years and one box are taken out of daily values. The reader only reads the "
            "stored bytes of the chunks that have these values, and inflates them by zlib, on all cores unless the table says "
            "otherwise. `nmcat` reads an archive with a block for each month, `nmconvert` a joined archive. NCO and CDO read the "
            "12 files of this year, or the file to which all files were joined. All times are in seconds.", "",
            *table(("program", *(row["set"] for row in subsets)), (
                (program, *(row["times"][program] for row in subsets)) for program in subsets[0]["times"]))]
    if views:
        lines += [
            "", "## Size of HDF5 views", "",
            "Each file was written by `nmcat` without and with `--hdf5-view on`.", "",
            *table(("output", "chunks", "MB without view", "MB with view", "ratio", "goal", "met"), (
                (row["job"], row["chunks"], round(row["without"] / 1e6, 2), round(row["view"] / 1e6, 2), row["ratio"], row["goal"],
                 met(row)) for row in views))]
    page.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["all", *sorted(MEGABYTES)])
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--megabytes", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="read results back, as nmconvert does by default")
    parser.add_argument("--sync", action="store_true", help="wait until outputs are on the device, on both sides")
    parser.add_argument("--page", type=Path, metavar="FILE", help="keep the results here, and in a .json file beside it")
    arguments = parser.parse_args()
    is_all = arguments.command == "all"
    commands = list(MEGABYTES) if is_all else [arguments.command]
    for command, peer in (("layout", "h5repack"), ("series", "ncrcat"), ("subset", "ncks"), ("subset", "cdo"), ("views", "ncks")):
        if command in commands and not shutil.which(peer):
            print(f"skipped: found no {peer}")
            return SKIPPED
    jobs = Jobs(arguments)
    for command in commands:
        modes = ((False, False), (True, True)) if command in SYNCED else ((False, False),)
        for sync, check in modes if is_all else ((arguments.sync, arguments.check),):
            shown = len(jobs.rows)
            jobs.run(command, sync, check)
            for row in jobs.rows[shown:]:
                print("\t".join(f"{key} {value}" for key, value in row.items()), flush=True)
            if arguments.page:
                keep(arguments.page, jobs.rows, is_all)
    for problem in jobs.problems:
        print(problem)
    return 1 if jobs.problems else 0


if __name__ == "__main__":
    sys.exit(main())
