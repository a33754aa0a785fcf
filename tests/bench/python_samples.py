#!/usr/bin/env python3
"""Reads random samples in Python, as a training program does: by nmb, beside LMDB, zarr, Icechunk, h5py and netCDF4, and beside
the same reads in C++. Prints samples a second and ends with 1 if a goal is not reached or a value is wrong.

    cmake --preset bench && cmake --build --preset bench
    PYTHON tests/bench/python_samples.py --build build/bench --work FOLDER [--page FILE]

PYTHON is that of an environment with nmb, lmdb, zarr, icechunk, h5py and netCDF4; packages that are missing are left out. A
sample is a block of 16 arrays, 99 KB on average; bench_samples makes 35,530 of them, and the same values are stored in each
peer's best layout: LMDB has a key for each sample, with the bytes of all arrays in the byte order of this machine; zarr
(sharded), Icechunk, h5py and netCDF4 have one array a variable with the values of all samples, and offsets in memory. Every way
ends in arrays that own their memory, in native byte order, whose bytes were all written; files are in the cache. Ways take
turns, each in a process of its own, which opens the file, and reads the whole file and then some samples before the measurement;
a figure is the median of --rounds. FILE gets the results as Markdown.

one: a sample a call, in random order. batch: 256 samples a call; for LMDB, 256 samples are read one after the other, and kept until the last one is read.
threads: 2 threads; for nmb one call that uses both, for the others two threads with a sample or batch each.
one object: 5,680,000 blocks of one array of 128 bytes, beside 35,530 of them.
"""

import argparse
import importlib.metadata
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure import machine_in_words  # noqa: E402

BATCH, SAMPLES, MANY = 256, 35_530, 5_680_000
NAMES = [f"{kind}_{plane}" for plane in "uvy" for kind in ("x", "y_s", "y_i", "edge_index", "edge_index_3d")] + ["n_sp"]
AXES = {name: 1 for name in NAMES if name.startswith("edge_index")}  # along which samples differ
SMALL = 16  # values of a sample of one object


def order_of(count, total, seed):
    return np.random.default_rng(seed).permutation(total)[:count]


# --- making the peers' files ---


def samples_of(path):
    import nmb

    with nmb.open(path) as file:
        for block in file.blocks:
            yield {name: np.atleast_1d(values) for name, values in block.read(NAMES).items()}


def make_lmdb(source, target):
    import lmdb

    with lmdb.open(str(target), map_size=1 << 36, sync=False) as environment:
        with environment.begin(write=True) as transaction:
            for i, sample in enumerate(samples_of(source)):
                head = b"".join(struct.pack("<qq", *((0, *array.shape)[-2:])) for array in sample.values())
                transaction.put(struct.pack(">q", i), head + b"".join(array.tobytes() for array in sample.values()), append=True)


def columns_of(source):
    """One array a variable: the values of all samples along the axis in which they differ, and the offsets."""
    parts = {name: [] for name in NAMES}
    for sample in samples_of(source):
        for name, values in sample.items():
            parts[name].append(values)
    for name, arrays in parts.items():
        axis = AXES.get(name, 0)
        offsets = np.concatenate([[0], np.cumsum([array.shape[axis] for array in arrays])])
        parts[name] = None
        yield name, np.concatenate(arrays, axis), offsets


def fill_zarr(group, source):
    import zarr

    for name, values, offsets in columns_of(source):
        rows = 4096
        chunks = (2, rows) if name in AXES else (rows, *values.shape[1:])
        shards = tuple(n * (64 if n == rows else 1) for n in chunks)
        group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=chunks, shards=shards, compressors=None)[...] = values
        group.create_array(name + "_offsets", shape=offsets.shape, dtype="i8", chunks=offsets.shape)[...] = offsets
    assert zarr.__version__ >= "3"


def make_zarr(source, target):
    import zarr

    fill_zarr(zarr.create_group(str(target)), source)


def make_icechunk(source, target):
    import icechunk
    import zarr

    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(target)))
    session = repository.writable_session("main")
    fill_zarr(zarr.create_group(session.store), source)
    session.commit("samples")


def make_h5py(source, target):
    import h5py

    with h5py.File(target, "w", libver="latest") as file:
        for name, values, offsets in columns_of(source):
            file[name] = values
            file[name + "_offsets"] = offsets


def make_netcdf4(source, target):
    import netCDF4

    with netCDF4.Dataset(target, "w") as file:
        for name, values, offsets in columns_of(source):
            for axis, length in enumerate(values.shape):
                file.createDimension(f"{name}_{axis}", length)
            dims = [f"{name}_{axis}" for axis in range(values.ndim)]
            file.createVariable(name, values.dtype, dims, contiguous=True)[...] = values
            file.createDimension(f"{name}_samples", len(offsets))
            file.createVariable(name + "_offsets", "i8", [f"{name}_samples"], contiguous=True)[...] = offsets


# --- reading: each way makes a function that reads a list of samples, and returns their arrays, or those of the last one ---


def read_lmdb(path):
    import lmdb

    environment = lmdb.open(str(path), readonly=True, lock=False, readahead=False)
    dtypes = [np.dtype("f4") if name.startswith("x_") else np.dtype("i8") for name in NAMES]
    head_size = 16 * len(NAMES)
    head_format = struct.Struct(f"<{2 * len(NAMES)}q")

    def read(samples):
        batch = []
        with environment.begin(buffers=True) as transaction:
            for i in samples:
                value = transaction.get(struct.pack(">q", int(i)))
                head = head_format.unpack(value[:head_size])
                at, out = head_size, {}
                for k, name in enumerate(NAMES):
                    rows, columns = head[2 * k : 2 * k + 2]
                    count = max(rows, 1) * columns
                    array = np.frombuffer(value, dtypes[k], count, at).copy()
                    out[name] = array.reshape(rows, columns) if rows else array
                    at += array.nbytes
                batch.append(out)
        return batch

    return read, environment.stat()["entries"]


def read_columns(opened, offsets_of):
    offsets = {name: offsets_of(name) for name in NAMES}

    def read(samples):
        batch = []
        for i in samples:
            out = {}
            for name in NAMES:
                begin, end = int(offsets[name][i]), int(offsets[name][i + 1])
                rows = slice(begin, end)
                out[name] = np.ascontiguousarray(opened[name][:, rows] if name in AXES else opened[name][rows])
            batch.append(out)
        return batch

    return read, len(offsets["n_sp"]) - 1


def read_zarr(path):
    import zarr

    group = zarr.open_group(str(path), mode="r")
    return read_columns({name: group[name] for name in NAMES}, lambda name: group[name + "_offsets"][...])


def read_icechunk(path):
    import icechunk
    import zarr

    repository = icechunk.Repository.open(icechunk.local_filesystem_storage(str(path)))
    group = zarr.open_group(repository.readonly_session("main").store, mode="r")
    return read_columns({name: group[name] for name in NAMES}, lambda name: group[name + "_offsets"][...])


def read_h5py(path):
    import h5py

    file = h5py.File(path)
    return read_columns({name: file[name] for name in NAMES}, lambda name: file[name + "_offsets"][...])


def read_netcdf4(path):
    import netCDF4

    file = netCDF4.Dataset(path)
    file.set_auto_maskandscale(False)
    return read_columns({name: file[name] for name in NAMES}, lambda name: file[name + "_offsets"][...])


def read_nmb(path, verify=True):
    import nmb

    file = nmb.open(path, verify=verify)

    def read(samples):
        return [file.blocks[int(i)].read() for i in samples]

    return read, len(file)


def read_nmb_unverified(path):
    return read_nmb(path, verify=False)


def read_ragged(path, verify=True, threads=1):
    import nmb

    file = nmb.open(path, verify=verify)
    some = NAMES if "n_sp" in file.blocks[0] else ["edges"]
    axes = AXES if some is NAMES else {}

    def read(samples):
        columns = file.read_ragged(some, samples, axis=axes, threads=threads)
        last = {}
        for name, (values, offsets) in columns.items():
            rows = slice(int(offsets[-2]), int(offsets[-1]))
            last[name] = values[:, rows] if axes.get(name) else values[rows]
        return [last]

    return read, len(file)


def read_ragged_unverified(path):
    return read_ragged(path, verify=False)


def read_ragged_2(path):
    return read_ragged(path, threads=2)


def read_ragged_2_unverified(path):
    return read_ragged(path, verify=False, threads=2)


# way: (the suffix of its file, function)
WAYS = {
    "nmb": (".nmb", read_nmb),
    "nmb, unverified": (".nmb", read_nmb_unverified),
    "ragged": (".nmb", read_ragged),
    "ragged, unverified": (".nmb", read_ragged_unverified),
    "ragged, 2 threads": (".nmb", read_ragged_2),
    "ragged, 2 threads, unverified": (".nmb", read_ragged_2_unverified),
    "lmdb": (".lmdb", read_lmdb),
    "zarr": (".zarr", read_zarr),
    "icechunk": (".icechunk", read_icechunk),
    "h5py": (".h5", read_h5py),
    "netcdf4": (".nc", read_netcdf4),
}
MAKERS = {"lmdb": make_lmdb, "zarr": make_zarr, "icechunk": make_icechunk, "h5py": make_h5py, "netcdf4": make_netcdf4}


def expected(i, count):
    """The values of a sample, by the rule of bench_samples."""
    return (i * 7919 + np.arange(count)) % 1000


def measure_way(way, base, count, batch, threads):
    """Samples a second of a way, in this process."""
    suffix, make = WAYS[way]
    read, total = make(Path(base + suffix))
    order = order_of(count, total, 2)
    stored = Path(base + suffix)
    for path in [stored] if stored.is_file() else sorted(stored.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:  # brings the file into the cache
                while file.read(1 << 24):
                    pass
    read(order_of(2 * BATCH, total, 3))
    batches = [order[at : at + batch] for at in range(0, len(order), batch)]

    shares = [batches[i::threads] for i in range(threads)]
    last = [None] * threads

    def work(number):
        for some in shares[number]:
            last[number] = (some[-1], read(some)[-1])

    workers = [threading.Thread(target=work, args=(number,)) for number in range(1, threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    work(0)
    for worker in workers:
        worker.join()
    took = time.perf_counter() - start
    for sample, arrays in [*last, *((i, read([i])[-1]) for i in order[:: max(len(order) // 50, 1)])]:
        for name, array in arrays.items():
            array = np.asarray(array)
            right = expected(int(sample), array.size).reshape(array.shape)
            assert array.dtype.isnative and np.array_equal(array, right.astype(array.dtype)), (way, name)
    return len(order) / took


def measure_open(path, rounds=50):
    import nmb

    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        with nmb.open(path) as file:
            len(file)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def child(*words):
    done = subprocess.run([sys.executable, __file__, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


class Bench:
    def __init__(self, options):
        self.options = options
        self.program = options.build / "tests/bench/bench_samples"
        self.base = str(options.work / "samples")

    def cpp(self, name=".nmb", count=None, batch=1, threads=1, unverified=False):
        words = [self.program, "read", self.base + name, "--count", count or self.options.count, "--batch", batch,
                 "--threads", threads, *(["--unverified"] if unverified else [])]  # fmt: skip
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["samples_per_second"]

    def make(self):
        source = Path(self.base + ".nmb")
        for path, words in ((source, []), (Path(self.base + "1.nmb"), ["--one-object"]),
                            (Path(self.base + "many.nmb"), ["--one-object", "--samples", str(self.options.many)])):  # fmt: skip
            if not path.exists():
                new = path.with_suffix(".new")
                subprocess.run([self.program, "make", new, *words], check=True)
                # The values of a sample then lie in one part of the file.
                subprocess.run([self.options.build / "tools/nmconvert", "--repack", new, "-o", path, "-q"], check=True)
                new.unlink()
        made = {}
        for name, maker in MAKERS.items():
            try:
                made[name] = importlib.metadata.version(name if name != "netcdf4" else "netCDF4")
            except importlib.metadata.PackageNotFoundError:
                print(f"{name} is not installed")
                continue
            target = Path(self.base + WAYS[name][0])
            if not target.exists():
                print(f"making {target}", flush=True)
                maker(source, target)
        return made

    def rates(self, jobs):
        """Samples a second of each job, the median of rounds in turns."""
        found = {name: [] for name in jobs}
        for i in range(self.options.rounds):
            for name in list(jobs) if i % 2 else list(reversed(list(jobs))):
                found[name].append(jobs[name]())
        return {name: statistics.median(rates) for name, rates in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=20_000, help="samples that a fast way reads in a round")
    parser.add_argument("--many", type=int, default=MANY)
    parser.add_argument("--only", help="a regular expression of rows")
    parser.add_argument("--way", nargs=5, metavar=("WAY", "BASE", "COUNT", "BATCH", "THREADS"), help=argparse.SUPPRESS)
    parser.add_argument("--open", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        way, base, *numbers = options.way
        print(json.dumps(measure_way(way, base, *map(int, numbers))))
        return 0
    if options.open:
        print(json.dumps(measure_open(options.open)))
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    versions = bench.make()
    few = max(options.count // 40, 50)  # of slow ways

    def way(name, batch, threads=1, base=None, count=options.count):
        return lambda: child("--way", name, base or bench.base, count, batch, threads)

    groups = {
        "one": {
            "nmb": way("nmb", 1), "nmb, unverified": way("nmb, unverified", 1), "C++": bench.cpp,
            **{name: way(name, 1, count=options.count if name == "lmdb" else few) for name in versions},
        },
        "one, 2 threads": {"nmb": way("nmb", 1, 2), "lmdb": way("lmdb", 1, 2), "C++": lambda: bench.cpp(threads=2)},
        "batch": {
            "nmb": way("ragged", BATCH), "nmb, unverified": way("ragged, unverified", BATCH),
            "C++": lambda: bench.cpp(batch=BATCH), "lmdb": way("lmdb", BATCH),
        },
        "batch, 2 threads": {
            "nmb": way("ragged, 2 threads", BATCH), "nmb, unverified": way("ragged, 2 threads, unverified", BATCH),
            "C++": lambda: bench.cpp(batch=BATCH, threads=2), "lmdb": way("lmdb", BATCH, 2),
        },
        "one object": {
            "35,530 blocks": way("ragged", BATCH, base=bench.base + "1"),
            f"{options.many:,} blocks": way("ragged", BATCH, base=bench.base + "many"),
        },
    }  # fmt: skip
    results = {}
    for group, jobs in groups.items():
        if options.only and options.only not in group:
            continue
        results[group] = bench.rates({name: job for name, job in jobs.items() if name != "lmdb" or "lmdb" in versions})
        for name, rate in results[group].items():
            print(f"{group:18} {name:24} {rate:10,.0f} samples/s", flush=True)
    opening = child("--open", bench.base + ".nmb")
    print(f"open and len: {opening * 1e3:.3f} ms")
    goals = goals_of(results, opening)
    for text, value, goal, met in goals:
        print(f"{'met   ' if met else 'MISSED'} {text}: {value:.3g} (goal: {goal})")
    if options.page:
        write(options.page, results, goals, versions)
    return 0 if all(met for *_, met in goals) else 1


def goals_of(results, opening):
    """(what, value, goal, whether it is met) for what was measured."""
    out = [("open and len, in ms", opening * 1e3, "2", opening < 2e-3)]

    def ratio(text, group, name, other_group, other, least=None, most=None):
        try:
            value = results[group][name] / results[other_group][other]
        except KeyError:
            return
        if most:
            value = 1 / value
        out.append((text, value, f"at least {least}" if least else f"at most {most}", value >= least if least else value <= most))

    ratio("one by one, samples a second beside LMDB", "one", "nmb", "one", "lmdb", least=1)
    ratio("batches, 1 thread, samples a second beside LMDB", "batch", "nmb", "batch", "lmdb", least=1.3)
    ratio("batches, 2 threads, samples a second beside LMDB", "batch, 2 threads", "nmb", "batch, 2 threads", "lmdb", least=1.3)
    ratio("batches, 1 thread, time beside C++", "batch", "nmb", "batch", "C++", most=1.3)
    ratio("batches, 2 threads, time beside C++", "batch, 2 threads", "nmb", "batch, 2 threads", "C++", most=1.3)
    ratio("batches, 2 threads beside 1", "batch, 2 threads", "nmb", "batch", "nmb", least=1.6)
    if "one object" in results:
        few, many = results["one object"].values()
        out.append(("millions of blocks, time a sample beside 35,530", few / many, "at most 1.3", few / many <= 1.3))
    return out


def write(path, results, goals, versions):
    lines = ["# Samples in Python", "", "Random samples of 16 arrays (99 KB), read by `tests/bench/python_samples.py`; files are in the cache.", "",
             f"{machine_in_words()}; numpy {np.__version__}, " + ", ".join(f"{k} {v}" for k, v in versions.items()), "",
             "| | way | samples/s |", "|---|---|---:|"]  # fmt: skip
    for group, rates in results.items():
        lines += [f"| {group} | {name} | {rate:,.0f} |" for name, rate in rates.items()]
    lines += ["", "| goal | found | wanted | met |", "|---|---:|---|---|"]
    lines += [f"| {text} | {value:.3g} | {goal} | {'yes' if met else 'no'} |" for text, value, goal, met in goals]
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
