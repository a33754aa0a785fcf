#!/usr/bin/python3
"""Runs the benchmarks beside their peers and writes benchmarks/main.md and benchmarks/main.json.

    cmake --preset bench && cmake --build --preset bench
    tests/bench/run_benchmarks.py build/bench --work FOLDER

Ours and the peer's run in turn, the first of a turn alternating. A figure is the median of the turns, a ratio that of their
ratios, with the least and the most: what disturbs a turn disturbs both. Before each timed run 3 GB of memory are used and freed
and the same command is run without being timed, at once before the other, so that all find memory that the machine has and inputs
in the cache: virtual machines give what was freed back to their hosts, and the next to use it pays; some drop what was read,
too. Targets are removed before each run; caches are left alone. FOLDER needs room for 10 GB: inputs are made once and stay.
Making the file of 5,684,800 blocks takes 7 GB of memory.
"""

import argparse
import concurrent.futures
import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))

from measure import by_name, cost, in_turn, machine, machine_in_words, middle, repeated  # noqa: E402

SPLIT = ["--split-names", r"^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}"]
GROUPS = ("pack", "pack_hdf5", "originals", "split", "join", "tiles", "convert", "create", "ranks", "arrays", "steps", "lookup", "count")


# Limits in seconds are for a machine on which these take so long; on another the ratio to them tells.
CAT_SECONDS = 0.57  # `cat` of the 64 files of the pack benchmark
PNETCDF_CPU = 1 / 10  # most of PnetCDF's CPU that creation may take
HASH_SIZE = 1 << 20  # the size of PnetCDF's hash tables: of 16,384 to 4,194,304 the quickest for this many names


class Bench:
    """Where things are, and the rows of the table so far."""

    def __init__(self, options):
        self.build, self.work, self.runs = options.build, options.work, options.runs
        self.peer_runs, self.scale, self.mpiexec = options.peer_runs, options.scale, options.mpiexec
        self.ph5_concat, self.mppnccombine = options.ph5_concat, options.mppnccombine
        self.megabytes = options.megabytes
        self.rows = []
        # Open MPI refuses to run as root unless told twice, and more ranks than cores unless told once.
        self.env = dict(os.environ, LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                        OMPI_MCA_rmaps_base_oversubscribe="1")
        self.env.setdefault("NMB_PLUGIN_PATH", str(self.build / "lib" / "nmb"))

    def program(self, name):
        for folder in ("tools", "tests/bench", "examples"):
            path = self.build / folder / name
            if path.exists():
                return str(path)
        return None

    def pnetcdf(self, name):
        """The command of a benchmark with PnetCDF, tuned; None: it is not built, or not to be run."""
        program = self.program(name)
        return [program] if program and self.peer_runs else None

    def pnetcdf_creation(self):
        command = self.pnetcdf("bench_create_pnetcdf")
        # 1.12 has no hints for its hash tables.
        tuned = command and pnetcdf_version(self) >= (1, 13)
        return command + ["--hash-size", str(HASH_SIZE)] if tuned else command

    def scaled(self, number):
        return max(1, int(number * self.scale))

    def run(self, command):
        """Standard output of a command that must succeed."""
        return subprocess.run(command, env=self.env, check=True, stdout=subprocess.PIPE, text=True).stdout

    def cost(self, command):
        return cost(self.program("bench_run"), command, env=self.env)

    def report(self, command):
        """The line of JSON that a bench_ program prints."""
        return json.loads(self.run(command))

    def make_once(self, path, command):
        """Makes an input that is not there yet."""
        if not path.exists():
            print("making", path.name, flush=True)
            part = path.with_name(path.name + ".part")
            self.run([str(part) if word == "OUT" else word for word in command])
            part.rename(path)
        return path

    def add(self, what, ours, peer=None, unit="s", target=None, limit=None, note=""):
        """A row of numbers or of one for each turn. target: most ours / peer may be; limit: most ours may be."""
        row = {"what": what, "ours": middle(ours), "peer": middle(peer), "unit": unit, "target": target, "limit": limit,
               "note": note, "ratio": None, "ratios": None}
        if peer is not None:
            in_turn = numpy.size(ours) == numpy.size(peer)
            ratios = numpy.atleast_1d(ours / peer if in_turn else row["ours"] / row["peer"])
            row["ratio"] = middle(ratios)
            row["ratios"] = [float(ratios.min()), float(ratios.max())] if ratios.size > 1 else None
        bounds = [(row["ratio"], target), (row["ours"], limit)]
        checks = [value <= bound for value, bound in bounds if value is not None and bound is not None]
        row["met"] = all(checks) if checks else None
        self.rows.append(row)
        print(table([row]).splitlines()[-1], flush=True)


def pnetcdf_version(b):
    """(major, minor), (0, 0) without PnetCDF"""
    program = b.program("bench_create_pnetcdf")
    if not program:
        return 0, 0
    return tuple(map(int, b.run([program, "--version"]).split()[0].split(".")[:2]))


def rank_files(b):
    """64 per-process files, 1.6 GB, in the cache."""
    folder = b.make_once(b.work / "rank_files", [b.program("make_rank_files"), "OUT", "--files", "64", "--samples",
                                                 str(b.scaled(100))])
    files = sorted(map(str, folder.iterdir()))
    b.run(["sh", "-c", 'cat "$@" >/dev/null', "sh", *files])
    return files


def cat(b, inputs, out, then=""):
    return lambda: b.cost(["sh", "-c", f'out=$1; shift; cat "$@" >"$out"{then}', "sh", str(out), *inputs])


def bench_pack(b):
    """Packs 64 files with 32,000 variables and 1.6 GB into one file. `cat` is a lower bound for every program that copies."""
    inputs = rank_files(b)
    ours, peer = b.work / "pack.nmb", b.work / "pack.cat"

    def clean():
        ours.unlink(missing_ok=True)
        peer.unlink(missing_ok=True)

    def nmcat(*options):
        return lambda: b.cost([b.program("nmcat"), *inputs, "-o", str(ours), "--no-progress", *options])

    plain, plain_cat = in_turn(b.runs, clean, nmcat("--no-sync"), cat(b, inputs, peer))
    synced, synced_cat = in_turn(b.runs, clean, nmcat(), cat(b, inputs, peer, ' && sync "$out"'))
    clean()
    b.add("pack 64 files without sync, compared with `cat`", plain["wall"], plain_cat["wall"], target=0.6)
    b.add("pack 64 files with sync, compared with `cat` and `sync FILE`", synced["wall"], synced_cat["wall"], target=0.75)
    b.add("pack: CPU without sync, compared with `cat`", plain["cpu"], plain_cat["cpu"])
    b.add("pack: peak memory of nmcat", plain["rss_mb"], unit="MB", limit=32)


def bench_split(b):
    """Divides variables by name into 35,530 samples. The inputs are sparse files, and their values are holes. A
    plain pack measures the cost of copying the values: it copies sparse files of the same size that have one
    variable each."""
    samples = str(b.scaled(35530))
    graphs = b.make_once(b.work / "graphs", [b.program("make_graph_samples"), "OUT", "--files", "4", "--samples", samples,
                                             "--sparse"])
    inputs = sorted(graphs.iterdir())
    values = sum(path.stat().st_size for path in inputs) // len(inputs)
    plain = b.make_once(b.work / f"plain_{values}", [b.program("make_rank_files"), "OUT", "--files", str(len(inputs)),
                                                     "--plain", str(values)])
    out = b.work / "split.nmb"

    def nmcat(files, *options):
        return lambda: b.cost([b.program("nmcat"), *map(str, files), "-o", str(out), "--no-sync", "--no-progress", *options])

    split, together, moving, copying = in_turn(
        b.runs, lambda: out.unlink(missing_ok=True), nmcat(inputs, *SPLIT, "-j1"), nmcat(inputs, *SPLIT),
        nmcat(sorted(plain.iterdir()), "-j1"), cat(b, rank_files(b), out))
    out.unlink(missing_ok=True)
    b.add("split 35,530 samples by one thread: wall time", split["wall"])
    b.add("split by one thread per core: wall time, compared with one thread", together["wall"], split["wall"])
    b.add("split by one thread: total CPU", split["cpu"])
    b.add("split: CPU of a plain pack of the same size", moving["cpu"])
    b.add("split: CPU, minus CPU of a plain pack of the same size", split["cpu"] - moving["cpu"], limit=0.5)
    b.add("split: CPU, minus CPU of a plain pack of the same size, compared with `cat` of the pack benchmark",
          split["cpu"] - moving["cpu"], copying["wall"],
          target=0.5 / CAT_SECONDS)
    b.add("split: peak memory with one thread, compared with one thread per core", split["rss_mb"], together["rss_mb"], unit="MB")


def make_steps(folder, files, steps):
    """Model output: 3 fields of 180 x 360 along an unlimited time that carries on from file to file."""
    import netCDF4
    import numpy

    folder.mkdir(parents=True)
    field = numpy.random.default_rng(1).standard_normal((180, 360)).astype("f4")
    for i in range(files):
        with netCDF4.Dataset(folder / f"run_{i:04}.nc", "w", format="NETCDF3_64BIT_DATA") as out:
            out.set_fill_off()
            for name, length in (("time", None), ("lat", 180), ("lon", 360)):
                out.createDimension(name, length)
            time = out.createVariable("time", "f8", ("time",))
            time.units = "hours since 2000-01-01"
            out.createVariable("lat", "f8", ("lat",))[:] = numpy.linspace(-89.5, 89.5, 180)
            out.createVariable("lon", "f8", ("lon",))[:] = numpy.arange(360) + 0.5
            fields = [out.createVariable(name, "f4", ("time", "lat", "lon")) for name in ("tas", "pr", "psl")]
            time[:] = numpy.arange(steps) + i * steps
            for k, each in enumerate(fields):
                each[:] = numpy.stack([field + numpy.float32(k + 0.01 * (i * steps + j)) for j in range(steps)])


def make_tables(folder, files, rows):
    """HDF5 tables without names of dimensions: 10 groups of 5 data sets in chunks, of other lengths in each file."""
    import h5py
    import numpy

    folder.mkdir(parents=True)
    values = numpy.random.default_rng(1).standard_normal(1 << 21).astype("f4")
    for i in range(files):
        lengths = numpy.random.default_rng(i).uniform(0.5, 1.5, 10)
        with h5py.File(folder / f"table_{i:04}.h5", "w") as out:
            for g, length in enumerate(lengths):
                n = int(rows * length)
                for name, width in (("run", 1), ("subrun", 1), ("evt", 1), ("val", 1), ("map", 64)):
                    out.create_dataset(f"g{g}/{name}", data=values[:n * width].reshape(n, width),
                                       chunks=(max(1, min(n, 16384 // width)), width), maxshape=(None, width))


def make_tiles(folder, steps, fields):
    """A model's output of 1200 x 1600 points in 3 x 3 uneven parts, the attributes as FMS writes them."""
    import netCDF4
    import numpy

    folder.mkdir(parents=True)
    rows, columns = ((0, 400), (400, 700), (700, 1200)), ((0, 500), (500, 900), (900, 1600))
    for i, (y, x) in enumerate((y, x) for y in rows for x in columns):
        with netCDF4.Dataset(folder / f"tile.nc.{i:04}", "w", format="NETCDF3_64BIT_OFFSET") as out:
            out.NumFilesInSet = numpy.int32(9)
            for name, (first, end), whole in (("x", x, 1600), ("y", y, 1200)):
                out.createDimension(name, end - first)
                part = out.createVariable(name, "f8", (name,))
                part.domain_decomposition = numpy.int32([1, whole, first + 1, end])
                part[:] = numpy.arange(first, end)
            out.createDimension("time", None)
            out.createVariable("time", "f8", ("time",))[:] = numpy.arange(steps)
            values = numpy.arange(*y)[:, None] * 1600 + numpy.arange(*x)
            for k in range(fields):
                field = out.createVariable(f"v{k}", "f4", ("time", "y", "x"))
                for t in range(steps):
                    field[t] = values + t * k


def make_sample_files(folder, files, samples):
    """HDF5 files of 5 small contiguous data sets a sample, of 4 to 200 KB each, with two attributes."""
    import h5py
    import numpy

    folder.mkdir(parents=True)
    pool = numpy.random.default_rng(1).standard_normal(1 << 17).astype("f4")
    for i in range(files):
        random = numpy.random.default_rng(i)
        with h5py.File(folder / f"rank_{i:04}.h5", "w") as out:
            for s in range(samples):
                for name, width in (("x", 4), ("pos", 3), ("y_semantic", 1), ("y_instance", 1), ("edge_index", 2)):
                    rows = int(math.exp(random.uniform(math.log(4096), math.log(204800)))) // (4 * width)
                    data = out.create_dataset(f"r{i:04}_s{s:05}_{name}", data=pool[:rows * width].reshape(rows, width))
                    data.attrs["long_name"], data.attrs["sample"] = name, f"r{i:04}_s{s:05}"


def made(path, make, *sizes):
    """Files of a folder that make(folder, *sizes) makes, once, in the cache."""
    if not path.exists():
        print("making", path.name, flush=True)
        part = path.with_name(path.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        make(part, *sizes)
        part.rename(path)
    files = sorted(map(str, path.iterdir()))
    for file in files:
        Path(file).read_bytes()
    return files


def bench_join(b):
    """Joins 64 classic files (1.6 GB in all) along the record dimension, and joins HDF5 tables row by row. No
    program waits until its output is on the device. Comparisons with programs that are not installed are left out.
    ph5_concat (NU-CUCIS/ph5concat) writes uncompressed, contiguous data sets and holds all inputs in memory."""
    inputs = made(b.work / "steps", make_steps, 64, b.scaled(32))
    out, copy, classic = b.work / "join.nmb", b.work / "join.cat", b.work / "join.nc"

    def clean():
        for path in (out, copy, classic):
            path.unlink(missing_ok=True)

    def nmcat(target, files, *options):
        return lambda: b.cost([b.program("nmcat"), "--mode", "join", *files, "-o", str(target), "--no-sync", "--no-progress",
                               *options])

    commands = {"cat": cat(b, inputs, copy), "nmb": nmcat(out, inputs), "nc": nmcat(classic, inputs)}
    if shutil.which("ncrcat"):
        commands["ncrcat"] = lambda: b.cost(["ncrcat", "-O", *inputs, str(classic)])
    if shutil.which("cdo"):
        commands["cdo"] = lambda: b.cost(["cdo", "-s", "mergetime", *inputs, str(classic)])
    costs = dict(zip(commands, in_turn(b.runs, clean, *commands.values())))
    clean()
    b.add("join 64 files along the record dimension, compared with `cat`", costs["nmb"]["wall"], costs["cat"]["wall"], target=0.8)
    b.add("join 64 files to a classic file, compared with `cat`", costs["nc"]["wall"], costs["cat"]["wall"])
    for peer in ("ncrcat", "cdo"):
        if peer in costs:
            b.add(f"join 64 files to a classic file, compared with {peer}", costs["nc"]["wall"], costs[peer]["wall"])
    b.add("join: peak memory of nmcat", costs["nmb"]["rss_mb"], unit="MB", limit=100)

    tables = made(b.work / "tables", make_tables, 32, b.scaled(20000))
    names = b.work / "tables.list"
    names.write_text("".join(file + "\n" for file in tables))
    theirs = b.work / "join.h5"

    def clean_tables():
        out.unlink(missing_ok=True)
        theirs.unlink(missing_ok=True)

    commands = {"nmb": nmcat(out, tables), "h5": nmcat(theirs, tables)}
    if b.ph5_concat:
        commands["peer"] = lambda: b.cost([b.ph5_concat, "-q", "-i", str(names), "-o", str(theirs), "-z", "0", "-c"])
    costs = dict(zip(commands, in_turn(b.runs, clean_tables, *commands.values())))
    clean_tables()
    peer = costs.get("peer", {}).get("wall")
    b.add("join 32 HDF5 files of tables, compared with ph5_concat",
          costs["nmb"]["wall"], peer, target=0.2 if peer is not None else None)
    b.add("join 32 HDF5 files of tables to an HDF5 file, compared with ph5_concat", costs["h5"]["wall"], peer)
    b.add("join 32 HDF5 files of tables: peak memory of nmcat, compared with ph5_concat",
          costs["nmb"]["rss_mb"], costs.get("peer", {}).get("rss_mb"),
          unit="MB", limit=100)


def bench_tiles(b):
    """Assembles the output of a model (1.5 GB in all) from 9 parts of different sizes. No program waits until its
    output is on the device. The peer is mppnccombine (NOAA-GFDL/FRE-NCtools), if it is installed."""
    inputs = made(b.work / "tiles", make_tiles, b.scaled(24), 8)
    out, copy, classic = b.work / "tiles.nmb", b.work / "tiles.cat", b.work / "tiles.nc"

    def clean():
        for path in (out, copy, classic):
            path.unlink(missing_ok=True)

    def nmcat(target):
        return lambda: b.cost([b.program("nmcat"), "--mode", "tiles", *inputs, "-o", str(target), "--no-sync", "--no-progress"])

    commands = {"cat": cat(b, inputs, copy), "nmb": nmcat(out), "nc": nmcat(classic)}
    if b.mppnccombine:
        commands["peer"] = lambda: b.cost([b.mppnccombine, "-64", str(classic), *inputs])
    costs = dict(zip(commands, in_turn(b.runs, clean, *commands.values())))
    clean()
    b.add("assemble 9 tiles, compared with `cat`", costs["nmb"]["wall"], costs["cat"]["wall"])
    b.add("assemble 9 tiles to a classic file, compared with `cat`", costs["nc"]["wall"], costs["cat"]["wall"])
    if "peer" in costs:
        b.add("assemble 9 tiles to a classic file, compared with mppnccombine", costs["nc"]["wall"], costs["peer"]["wall"])
    b.add("assemble 9 tiles: peak memory of nmcat, compared with mppnccombine",
          costs["nmb"]["rss_mb"], costs.get("peer", {}).get("rss_mb"), unit="MB",
          limit=100)


def make_conversions(folder, program, samples, megabytes):
    """many.nc: CDF-5 with 5 variables a sample; many.nc4: the same by nccopy; plain.h5 and coded.h5: noise with steps in it, as
    it lies, and shuffled and deflated."""
    import h5py
    import numpy

    folder.mkdir(parents=True)
    subprocess.run([program, folder / "one", "--files", "1", "--samples", str(samples)], check=True)
    (folder / "one" / "rank_0000.nc").rename(folder / "many.nc")
    (folder / "one").rmdir()
    subprocess.run(["nccopy", "-k", "nc4", folder / "many.nc", folder / "many.nc4"], check=True)
    rows = megabytes * 250
    values = numpy.round(numpy.random.default_rng(1).standard_normal((rows, 1000)).cumsum(axis=1), 2).astype("f4")
    with h5py.File(folder / "plain.h5", "w") as plain, h5py.File(folder / "coded.h5", "w") as coded:
        for part in range(4):
            plain[f"v{part}"] = values
        for part, some in enumerate(numpy.array_split(values, 4)):
            coded.create_dataset(f"v{part}", data=some, chunks=(64, 1000), shuffle=True, compression="gzip", compression_opts=1)


def bench_convert(b):
    """Converts files one by one. As by default, each output is read back and compared with its input. No program
    waits until its output is on the device."""
    folder = b.work / "conversions"
    if not folder.exists():
        make_conversions(folder, b.program("make_rank_files"), b.scaled(6400), b.scaled(400))
    many, plain, coded = (str(folder / name) for name in ("many.nc", "plain.h5", "coded.h5"))
    out, back, copy, repacked = (b.work / f"convert.{ending}" for ending in ("nmb", "nc", "cat", "h5"))

    def clean():
        for path in (out, back, copy, repacked):
            path.unlink(missing_ok=True)

    def nmconvert(source, target, *options):
        return lambda: b.cost([b.program("nmconvert"), str(source), str(target), "--no-sync", "--no-progress", *options])

    packed = folder / "many.nmb"
    if not packed.exists():
        b.run([b.program("nmconvert"), many, str(packed), "--no-progress"])
    forth, return_, copied = in_turn(b.runs, clean, nmconvert(many, out), nmconvert(packed, back), cat(b, [many], copy))
    clean()
    b.add("convert a classic file to NMB, compared with `cat`", forth["wall"], copied["wall"], target=0.75)
    b.add("convert the NMB file back to a classic file, compared with `cat`", return_["wall"], copied["wall"], target=0.75)
    straight, copied = in_turn(b.runs, clean, nmconvert(plain, out), cat(b, [plain], copy))
    clean()
    b.add("convert an HDF5 file of contiguous data sets to NMB, compared with `cat`",
          straight["wall"], copied["wall"], target=1.2)
    few = max(1, b.runs // 2)
    if shutil.which("nccopy"):
        ours, theirs = in_turn(few, clean, nmconvert(folder / "many.nc4", out),
                               lambda: b.cost(["nccopy", "-k", "cdf5", str(folder / "many.nc4"), str(back)]))
        b.add("convert a netCDF-4 file of 32,000 variables to NMB, compared with nccopy to CDF-5",
              ours["wall"], theirs["wall"], target=1 / 3)
        b.add("convert a netCDF-4 file of 32,000 variables: peak memory, compared with nccopy",
              ours["rss_mb"], theirs["rss_mb"], unit="MB", limit=200)
    if shutil.which("h5repack"):
        ours, theirs = in_turn(few, clean, nmconvert(coded, out, "--compress", "zstd"),
                               lambda: b.cost(["h5repack", "-f", "SHUF", "-f", "GZIP=1", coded, str(repacked)]))
        b.add("convert a shuffled and deflated HDF5 file to NMB with zstd, compared with h5repack, which shuffles and deflates",
              ours["wall"], theirs["wall"], target=1 / 3)
    clean()


def bench_pack_hdf5(b):
    """Packs 64 HDF5 files with 32,000 data sets and 1.6 GB into one file. With sync, both programs wait until their
    output is on the device."""
    inputs = made(b.work / "samples_h5", make_sample_files, 64, b.scaled(100))
    out, copy = b.work / "samples.nmb", b.work / "samples.cat"

    def clean():
        out.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)

    def nmcat(threads, *options):
        return lambda: b.cost([b.program("nmcat"), *inputs, "-o", str(out), "--no-progress", "-j", threads, *options])

    copied, two, one = in_turn(b.runs, clean, cat(b, inputs, copy), nmcat("2", "--no-sync"), nmcat("1", "--no-sync"))
    synced_copy, synced = in_turn(b.runs, clean, cat(b, inputs, copy, ' && sync "$out"'), nmcat("2"))
    clean()
    b.add("pack 64 HDF5 files, compared with `cat`", two["wall"], copied["wall"], target=1.3)
    b.add("pack 64 HDF5 files with sync, compared with `cat` and `sync FILE`", synced["wall"], synced_copy["wall"],
          target=1.3)
    b.add("pack 64 HDF5 files: CPU, compared with `cat`", two["cpu"], copied["cpu"])
    b.add("pack 64 HDF5 files: two threads, compared with one thread", two["wall"], one["wall"], target=1.05)
    b.add("pack 64 HDF5 files: peak memory of nmcat", two["rss_mb"], unit="MB", limit=100)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


class Originals:
    """Packs files, and writes each original to a file again."""

    def __init__(self, b):
        self.b, self.out, self.back = b, b.work / "originals.nmb", b.work / "original.back"
        self.other = 0  # files that did not come back with the same SHA-256

    def growth(self, inputs):
        """Percent by which the packed file is larger than the inputs."""
        return 100 * (self.pack(inputs, "--hdf5-view=off") / sum(path.stat().st_size for path in inputs) - 1)

    def pack(self, inputs, *options):
        """Packs the inputs into one file, and returns its size; None: nmcat refuses the inputs."""
        done = subprocess.run([self.b.program("nmcat"), "-f", "--no-sync", "-q", *options, *map(str, inputs), "-o",
                               str(self.out)], env=self.b.env, capture_output=True, text=True)
        if done.returncode != 0:
            return None
        for number, path in enumerate(inputs):
            block = f"{number}" if "{index}/{group}" in options else path.stem
            subprocess.run([self.b.program("nmconvert"), "-f", "--no-sync", str(self.out), "--original", block, "-o",
                            str(self.back)], env=self.b.env, capture_output=True)
            self.other += not self.back.exists() or sha256(self.back) != sha256(path)
            self.back.unlink(missing_ok=True)
        return self.out.stat().st_size


def bench_originals(b):
    """Packs HDF5 files one by one and all together, and writes each original to a file again. Compares the sizes of
    output and sources, and the SHA-256 of each original and its source. An HDF5 view, which nmcat makes by default if it
    takes at most 2 % of the output, is left out."""
    import original_files

    originals = Originals(b)
    for megabytes in b.megabytes:
        folder = b.work / f"originals_{megabytes}"
        folder.mkdir(exist_ok=True)
        paths = []
        for kind in original_files.KINDS:
            path = folder / f"{kind}.h5"
            if not path.exists():
                print("making", path.name, flush=True)
                original_files.make(kind, path.with_suffix(".part"), megabytes * 1_000_000)
                path.with_suffix(".part").rename(path)
            paths.append(path)
            # The values of strings of variable length are stored once more.
            b.add(f"{kind.replace('_', ' ')}, {megabytes:,} MB: growth", originals.growth([path]), unit="%",
                  limit=100 if kind == "strings" else 1)
        rest = [path for path in paths if path.stem != "strings"]
        b.add(f"all without strings, {megabytes:,} MB each, in one file: growth", originals.growth(rest), unit="%", limit=1)
        b.add(f"all six, {megabytes:,} MB each, in one file: growth", originals.growth(paths), unit="%")
    b.add("originals that came back with another SHA-256", originals.other, unit="", limit=0)
    originals.out.unlink(missing_ok=True)
    if corpus := os.environ.get("NMB_CORPUS"):
        bench_corpus(b, Path(corpus))


def bench_corpus(b, corpus):
    """The same for the HDF5 files of a collection."""
    originals = Originals(b)
    with open(corpus / "INDEX.tsv", encoding="utf-8") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if not row["kind"].startswith("CDF")]
    paths = [path for row in rows if (path := corpus / row["path"]).exists()]
    packed = [path for path in paths if originals.pack([path]) is not None]
    if originals.pack(packed, "--block-name", "{index}/{group}") is None:
        raise RuntimeError("the files of the collection cannot be packed together")
    originals.out.unlink(missing_ok=True)
    b.add("originals of a collection of real files that came back with another SHA-256", originals.other, unit="", limit=0,
          note=f"{len(packed)} files, each alone and all together; nmcat refuses {len(paths) - len(packed)} damaged files")


def bench_create(b):
    """Creates 568,480 variables and 852,715 dimensions in one block or in 35,530 blocks. Some rows create ten times
    as many objects."""
    peer_command = b.pnetcdf_creation()
    ours, peer = b.work / "create.nmb", b.work / "create.nc"

    def clean():
        ours.unlink(missing_ok=True)
        peer.unlink(missing_ok=True)

    for shape, usual, text, larger, smaller, cpu, memory in (
            ("one", 56848, "one block", "one block, ten times as many objects", "the usual number of objects", 0.40, 140),
            ("samples", 35530, "35,530 blocks", "355,300 blocks", "35,530 blocks", 0.25, 110)):
        size = ["--shape", shape, "--samples", str(b.scaled(usual))]

        def create(*more):
            return lambda: b.report([b.program("bench_create"), str(ours), *size, *more])

        theirs = {}
        if peer_command:
            clean()
            theirs = by_name([b.report([*peer_command, str(peer), *size]) for _ in range(b.peer_runs)])
        once, none, ten = in_turn(b.runs, clean, create(), create("--codec", "none"), create("--times", "10"))
        clean()
        b.add(f"create, {text}: CPU", once["cpu"], limit=cpu)
        b.add(f"create, {text}: CPU, compared with PnetCDF", once["cpu"], theirs.get("cpu"), target=PNETCDF_CPU)
        b.add(f"create, {text}: wall time, compared with PnetCDF", once["wall"], theirs.get("wall"))
        b.add(f"create, {text}: memory, compared with PnetCDF", once["peak_mb"], theirs.get("peak_mb"), unit="MB", limit=memory)
        b.add(f"create, {text}: file size, compared with PnetCDF", once["bytes"] / 1e6, unit="MB",
              peer=theirs["bytes"] / 1e6 if theirs else None)
        b.add(f"create, {text}, metadata not compressed: CPU", none["cpu"])
        b.add(f"create, {larger}: CPU per object, compared with {smaller}", ten["cpu"] / ten["variables"] * 1e9,
              once["cpu"] / once["variables"] * 1e9, unit="ns", target=1.0)
        b.add(f"create, {larger}: user time per object, compared with {smaller}", ten["user"] / ten["variables"] * 1e9,
              once["user"] / once["variables"] * 1e9, unit="ns",
              note="without system time, which depends on the memory that the host has free")
        b.add(f"create, {larger}: memory per object, compared with {smaller}", ten["peak_mb"] / ten["variables"] * 1e6,
              once["peak_mb"] / once["variables"] * 1e6, unit="B", target=1.0)


def bench_ranks(b):
    """Divides the work of the create benchmark among ranks. The objects are in 35,530 blocks, or in one block per
    rank. The cost of one rank, multiplied by the number of ranks, is compared with the cost of one process. CPU time
    does not include the time in which a rank waits. Memory does not include the memory of MPI and of the benchmark's
    own list of objects. With PnetCDF, each rank receives and makes all definitions. Runs with thousands of threads
    measure only the messages and the memory of a rank, because all threads share a few cores."""
    peer_command = b.pnetcdf_creation()
    ours, peer = b.work / "ranks.nmb", b.work / "ranks.nc"

    def clean():
        ours.unlink(missing_ok=True)
        peer.unlink(missing_ok=True)

    def launch(ranks, program, *words):
        return lambda: b.report([b.mpiexec, "-n", str(ranks), program, *words])

    def creation(path, shape, samples):
        return lambda: b.report([b.program("bench_create"), str(path), "--shape", shape, "--samples", str(samples)])

    def processes(count, shape, samples):
        """What cores and caches take from each other, where nobody works together."""
        def run():
            with concurrent.futures.ThreadPoolExecutor(count) as pool:
                files = [ours.with_suffix(f".{i}.nmb") for i in range(count)]
                costs = list(pool.map(lambda path: creation(path, shape, samples // count)(), files))
                for path in files:
                    path.unlink()
            return {"cpu_sum": sum(cost["cpu"] for cost in costs), "cpu": max(cost["cpu"] for cost in costs)}
        return run

    program = b.program("bench_create_ranks")
    for shape, usual, alone, text, larger, smaller in (
            ("blocks", 35530, "samples", "35,530 blocks", "355,300 blocks, 2 ranks", "35,530 blocks"),
            ("rank", 56848, "one", "one block per rank", "one block per rank, 2 ranks, ten times as many objects",
             "the usual number of objects")):
        samples = ["--samples", str(b.scaled(usual))]
        words = [str(ours), "--shape", shape, *samples]
        for ranks in (2, 4, 8):
            mine, one, apart = in_turn(b.runs, clean, launch(ranks, program, *words), creation(ours, alone, b.scaled(usual)),
                                       processes(ranks, alone, b.scaled(usual)))
            b.add(f"{text}, {ranks} ranks: CPU of the slowest rank, compared with one process",
                  mine["cpu"] * ranks, one["cpu"], target=1.3)
            b.add(f"{text}, {ranks} ranks: CPU of all ranks, compared with one process",
                  mine["cpu_sum"], one["cpu"], target=1.3)
            alike = f"{text}, {ranks} independent processes, one file each"
            b.add(f"{alike}: CPU of the slowest process, compared with one process", apart["cpu"] * ranks, one["cpu"])
            b.add(f"{alike}: CPU of all processes, compared with one process", apart["cpu_sum"], one["cpu"])
            b.add(f"{text}, {ranks} ranks: memory, compared with one process",
                  mine["peak_mb"] * ranks, one["peak_mb"], unit="MB",
                  target=1.3)
            if ranks == 2:
                theirs = {}
                if peer_command:
                    clean()
                    theirs = by_name([launch(ranks, *peer_command, str(peer), "--shape", alone, *samples)()
                                      for _ in range(b.peer_runs)])
                b.add(f"{text}, 2 ranks: wall time, compared with PnetCDF", mine["wall"], theirs.get("wall"), target=1 / 8)
                ten, once = in_turn(max(1, b.runs // 2), clean, launch(ranks, program, *words, "--times", "10"),
                                    launch(ranks, program, *words))
                b.add(f"{larger}: wall time, compared with {smaller}", ten["wall"], once["wall"], target=11)
        for ranks in (8, 64, 512, 4096):
            clean()
            mine = b.report([program, *words, "--threads", str(ranks)])
            b.add(f"{text}, {ranks:,} threads: wall time", mine["wall"])
            b.add(f"{text}, {ranks:,} threads: maximum number of messages that a rank sends, divided by log2 of the number of "
                  "ranks",
                  mine["messages"] / math.log2(ranks), mine["messages_sum"] / ranks / math.log2(ranks), unit="", limit=80,
                  note="peer: mean of all ranks")
            b.add(f"{text}, {ranks:,} threads: maximum number of bytes that a rank sends", mine["sent_mb"] * 1e3,
                  mine["sent_mb_sum"] / ranks * 1e3, unit="kB", note="peer: mean of all ranks")
            b.add(f"{text}, {ranks:,} threads: memory of a rank", mine["peak_mb"] * 1e3, unit="kB")
    clean()


def bench_arrays(b):
    """Writes 10 steps of 537 MB. In each step, 4 ranks write 8 variables, which are divided among the ranks along one
    or two dimensions. The ranks use one collective put per variable (put_all), one wait for all requests of a step
    (wait_all), or independent puts (put). No program waits until its output is on the device."""
    peer_command = b.pnetcdf("bench_arrays_pnetcdf")
    ours, peer = b.work / "arrays.nmb", b.work / "arrays.nc"

    def clean():
        ours.unlink(missing_ok=True)
        peer.unlink(missing_ok=True)

    steps = ["--steps", str(b.scaled(10))]
    for way, splits in (("put_all", ("z", "y", "x", "yx")), ("wait_all", ("z", "y", "x", "yx")), ("put", "z")):
        for split in splits:
            words = ["--split", split, "--way", way, *steps]
            launched = [lambda command=command: b.report([b.mpiexec, "-n", "4", *command, *words])
                        for command in ([b.program("bench_arrays"), str(ours)], peer_command and [*peer_command, str(peer)])
                        if command]
            mine, *others = in_turn(b.runs, clean, *launched)
            theirs = others[0] if others else {}
            what = f"{way}, divided along {' and '.join(split)}"
            b.add(f"{what}: wall time, compared with PnetCDF", mine["wall"], theirs.get("wall"), target=1.0)
            b.add(f"{what}: CPU of all ranks, compared with PnetCDF", mine["cpu_sum"], theirs.get("cpu_sum"), target=1.0)
            b.add(f"{what}: memory of a rank, compared with PnetCDF", mine["peak_mb"], theirs.get("peak_mb"), unit="MB")
            b.add(f"{what}: file size, compared with PnetCDF",
                  mine["bytes"] / 1e6, theirs["bytes"] / 1e6 if theirs else None, unit="MB",
                  target=1.05)
            b.add(f"{what}: bytes that the ranks read back, divided by the file size",
                  mine["read_mb_sum"] * 1e6 / mine["bytes"], unit="", limit=0.05)
    # A million runs of 8 bytes a rank in each call.
    runs = [b.mpiexec, "-n", "4", b.program("bench_arrays"), str(ours), "--split", "x", "--z", str(b.scaled(2048)), "--x", "8",
            "--steps", "2"]
    mine = repeated(b.runs, clean, lambda: b.report(runs))
    b.add("put_all, 10^6 ranges of 8 bytes per rank: memory of a rank", mine["peak_mb"], unit="MB")
    b.add("put_all, 10^6 ranges per rank: maximum memory of a rank, divided by the mean of all ranks",
          mine["peak_mb"] / (mine["peak_mb_sum"] / 4), unit="",
          limit=1.1)
    clean()


def bench_steps(b):
    """Four ranks make many commits. Either 1,000 blocks grow by one record per commit, or one block does so, or each
    step adds new blocks. No program waits until its output is on the device."""
    ours, peer = b.work / "steps.nmb", b.work / "steps.nc"
    peer_command = b.pnetcdf("bench_steps_pnetcdf")

    def clean():
        ours.unlink(missing_ok=True)
        peer.unlink(missing_ok=True)

    def launch(command, path, words):
        return lambda: b.report([b.mpiexec, "-n", "4", *command, str(path), *words])

    own_command = [b.program("bench_steps")]
    for blocks, steps in ((1000, max(20, b.scaled(300))), (1, max(20, b.scaled(6000)))):
        what = f"{blocks:,} growing block{'s' if blocks > 1 else ''}, {steps:,} commits"
        words = ["--blocks", str(blocks), "--steps", str(steps)]
        values = blocks * steps * 256
        launched = [launch(own_command, ours, words)]
        if peer_command:
            launched.append(launch(peer_command, peer, words))
        mine, *others = in_turn(b.runs, clean, *launched)
        theirs = others[0] if others else {}
        b.add(f"{what}: wall time, compared with PnetCDF", mine["wall"], theirs.get("wall"), limit=3 if blocks > 1 else None)
        b.add(f"{what}: CPU of all ranks, compared with PnetCDF", mine["cpu_sum"], theirs.get("cpu_sum"))
        if blocks > 1:
            b.add(f"{what}: file size, divided by the size of the values",
                  mine["bytes"] / values, theirs["bytes"] / values if theirs else None, unit="",
                  limit=1.2)
        b.add(f"{what}: time of a late commit, divided by the time of an early commit",
              mine["step_late"] / mine["step_early"], unit="", limit=1.2)
    words = ["--new", "--blocks", "500", "--steps", str(max(20, b.scaled(1000)))]
    mine = repeated(b.runs, clean, launch(own_command, ours, words))
    what = "500 new blocks per rank and step"
    b.add(f"{what}: time of a late step, divided by the time of an early step",
          mine["step_late"] / mine["step_early"], unit="", limit=1.2)
    b.add(f"{what}: time of the shortest late step, divided by the time of the shortest early step",
          mine["step_least_late"] / mine["step_least_early"], unit="")
    b.add(f"{what}: time of end_define in a late step, divided by the time of end_define in an early step",
          mine["end_define_late"] / mine["end_define_early"], unit="",
          limit=1.2)
    b.add(f"{what}: time of end_define in a late step", mine["end_define_late"] * 1e3, unit="ms")
    clean()


def bench_lookup(b):
    """Each lookup opens the file and finds one variable of one sample by name. HDF5 has no checksums here, so the figures
    that are compared are those of unverified values; a verified lookup also reads the piece around the values. The larger
    NMB file has 5,684,800 blocks. The larger HDF5 file has only a tenth as many groups."""
    hdf5 = b.program("bench_make_hdf5")
    for shape, ours_samples, peer_samples, text in (
            ("samples", 35530, 35530, "in 35,530 samples"),
            ("one-object", 5684800, 568480, "in 5,684,800 blocks with one object each (HDF5: 568,480 groups)")):
        ours_size = ["--shape", shape, "--samples", str(b.scaled(ours_samples))]
        peer_size = ["--shape", shape, "--samples", str(b.scaled(peer_samples))]
        ours = b.make_once(b.work / f"lookup_{shape}.nmb", [b.program("bench_create"), "OUT", *ours_size, "--values"])
        look_up = lambda: b.report([b.program("bench_lookup"), "--unverified", str(ours), *ours_size])
        verified = repeated(b.runs, None, lambda: b.report([b.program("bench_lookup"), str(ours), *ours_size]))
        b.add(f"lookup {text}, verified: time", verified["seconds"] * 1e6, unit="µs")
        b.add(f"lookup {text}, verified: maximum KiB read in addition to the values",
              verified["most_bytes_beyond_values"] / 1024, unit="KiB")
        theirs = {}
        if hdf5:
            peer = b.make_once(b.work / f"lookup_{shape}.h5", [hdf5, "OUT", *peer_size])
            look_up_peer = lambda: b.report([b.program("bench_lookup_hdf5"), str(peer), *peer_size])
            mine, theirs = in_turn(b.runs, None, look_up, look_up_peer)
        else:
            mine = repeated(b.runs, None, look_up)
        b.add(f"lookup {text}: time, compared with HDF5", mine["seconds"] * 1e6, unit="µs", target=1.0,
              peer=theirs["seconds"] * 1e6 if theirs else None)
        b.add(f"lookup {text}: maximum number of reads, compared with HDF5",
              mine["most_reads"], theirs.get("most_reads"), unit="", limit=6)
        b.add(f"lookup {text}: maximum KiB read in addition to the values, compared with HDF5",
              mine["most_bytes_beyond_values"] / 1024, unit="KiB",
              limit=48, peer=theirs["most_bytes_beyond_values"] / 1024 if theirs else None)


def bench_count(b):
    """Counts the objects in the files that the lookup benchmark uses."""
    for shape in ("samples", "one-object"):
        path = b.work / f"lookup_{shape}.nmb"
        if not path.exists():
            raise RuntimeError("count uses the files of lookup: run that first")
        command = [b.program("nminspect"), "count", str(path)]
        time = repeated(b.runs, None, lambda: b.cost(command))
        told = subprocess.run([*command, "--io-stats"], env=b.env, check=True, capture_output=True, text=True)
        numbers = [int(word) for word in told.stderr.replace(",", "").split() if word.isdigit()]
        b.add(f"count the objects of the lookup file `{shape}`: time", time["wall"] * 1e3, unit="ms",
              note=f"{told.stdout.strip()} objects")
        b.add(f"count the objects of the lookup file `{shape}`: number of reads", numbers[0], unit="", limit=1)
        b.add(f"count the objects of the lookup file `{shape}`: KiB read", numbers[1] / 1024, unit="KiB", limit=16)


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(rows):
    lines = ["| what | ours | peer | unit | ratio | from, to | wanted | met |", "|---|---:|---:|---|---:|---|---|---|"]
    for row in rows:
        wanted = []
        if row["target"] is not None:
            wanted.append(f"ratio <= {row['target']:g}")
        if row["limit"] is not None:
            wanted.append(f"<= {row['limit']:g}{' ' + row['unit'] if row['unit'] else ''}")
        met = {True: "yes", False: "no", None: ""}[row["met"]]
        what = row["what"] + (f" ({row['note']})" if row["note"] else "")
        lines.append(f"| {what} | {number(row['ours'])} | {number(row['peer'])} | {row['unit']} | "
                     f"{number(row['ratio'])} | {', '.join(map(number, row['ratios'] or []))} | {', '.join(wanted)} | {met} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="a build with -DNMB_BUILD_BENCHMARKS=ON")
    parser.add_argument("--work", type=Path, required=True, help="folder for inputs and targets")
    parser.add_argument("--runs", type=int, default=7, help="runs of each (default 7)")
    parser.add_argument("--peer-runs", type=int, default=1,
                        help="runs of PnetCDF where it takes minutes (default 1; 0: none at all)")
    parser.add_argument("--scale", type=float, default=1, help="fraction of the size, to try the script")
    parser.add_argument("--mpiexec", default=shutil.which("mpiexec.openmpi") or "mpiexec",
                        help="launcher of ranks, of the MPI that PnetCDF uses (default %(default)s)")
    parser.add_argument("--ph5-concat", help="the program of NU-CUCIS/ph5concat (default: none)")
    parser.add_argument("--mppnccombine", default=shutil.which("mppnccombine"),
                        help="the program of NOAA-GFDL/FRE-NCtools (default: that in the PATH)")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100],
                        help="sizes of the files of the group originals (default 100)")
    parser.add_argument("--only", action="append", choices=GROUPS, help="may be given more than once")
    parser.add_argument("--page", type=Path, default=Path(__file__).resolve().parents[2] / "benchmarks" / "main.md")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    about = {**machine(), "runs": options.runs, "peer_runs": options.peer_runs, "scale": options.scale}
    text = ["# Benchmarks", "",
            f"`tests/bench/run_benchmarks.py` wrote this page on {machine_in_words()}. The load of the machine was {about['load']:.1f} at the start. Each figure is the median of "
            f"{options.runs} runs, which alternate with runs of the peer. In the benchmarks Create and Ranks, the number of runs "
            f"of PnetCDF {'.'.join(map(str, pnetcdf_version(bench)))} is {options.peer_runs}.", ""]
    if options.scale != 1:
        text += [f"This is a trial at {options.scale:g} of the size. Do not compare its figures with the limits.", ""]
    for name in options.only or GROUPS:
        function = globals()["bench_" + name]
        first = len(bench.rows)
        function(bench)
        text += [f"## {name.replace(chr(95), chr(32)).capitalize()}", "", " ".join(function.__doc__.split()), "", table(bench.rows[first:])]
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text("\n".join(text))
    options.page.with_suffix(".json").write_text(json.dumps({"about": about, "rows": bench.rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
