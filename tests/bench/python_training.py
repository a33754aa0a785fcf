#!/usr/bin/env python3
"""Reads batches of random samples as a training program does: by nmb.torch, beside LMDB, WebDataset, MDS (mosaicml-streaming), zarr and
PyG's OnDiskDataset, with 0, 1 and 2 worker processes. Prints samples a second, and ends with 1 if a goal is not reached or a value is
wrong. FILE gets the results as Markdown; two charts lie beside it.

    /usr/bin/python3 tests/python/environments.py --build BUILD --newest
    BUILD/python/newest/bin/python tests/bench/python_training.py --build BUILD --work FOLDER [--page FILE]

BUILD has bench_samples. Peers that are not installed are left out, and named. A sample has 16 arrays, 99 KB on average; there are
35,530, and the same values are stored for each peer: LMDB, WebDataset and MDS have the bytes of all arrays of a sample in one value,
zarr has one array a variable (sharded), PyG a tensor a variable in a row of SQLite. A batch of 256 samples arrives in the main process as
one tensor of values and one of offsets for each variable; from PyG, as its Batch. LMDB reads a batch in one transaction. Files are in the
cache. Ways take turns, each in a process of its own; a figure is the median of --rounds, without the first batches.

random: a random order of all samples; WebDataset, which cannot, has random shards and a buffer of --window samples, MDS its widest
(shuffle_algo="naive", all samples). in order: the order of the file. memory: the private memory of a worker that has just read a
batch, less that of a worker which reads nothing. resuming: from the path and a state to the samples of the next batch, in a file
of 5,680,000 blocks, without where= and with an array of all positions."""

import argparse
import gc
import importlib.metadata
import json
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure import machine_in_words  # noqa: E402
from python_samples import AXES, BATCH, MANY, NAMES, expected, make_lmdb, make_zarr, order_of, samples_of  # noqa: E402

WARM = 6  # batches before the measurement
WORKERS = (0, 1, 2)
PACKAGES = {"lmdb": "lmdb", "webdataset": "webdataset", "mds": "mosaicml-streaming", "zarr": "zarr", "pyg": "torch_geometric"}
GOALS = {"lmdb": 1.0, "webdataset": 2.0, "mds": 2.0, "zarr": 2.0, "pyg": 3.0}
NAMES_OF = {"nmb": "NMB", "lmdb": "LMDB", "webdataset": "WebDataset", "mds": "MDS", "zarr": "zarr", "pyg": "PyG OnDiskDataset"}
WINDOWED = ("webdataset", "mds")


# --- one value a sample, as LMDB, WebDataset and MDS store it: the numbers of rows and columns, then the bytes of the arrays ---

HEAD = struct.Struct(f"<{2 * len(NAMES)}q")
DTYPES = [np.dtype("f4") if name.startswith("x_") else np.dtype("i8") for name in NAMES]


def encode(sample):
    head = b"".join(struct.pack("<qq", *((0, *array.shape)[-2:])) for array in sample.values())
    return head + b"".join(array.tobytes() for array in sample.values())


def decode(value):
    head, at, out = HEAD.unpack_from(value), HEAD.size, {}
    for k, name in enumerate(NAMES):
        rows, columns = head[2 * k : 2 * k + 2]
        array = np.frombuffer(value, DTYPES[k], max(rows, 1) * columns, at)
        out[name] = array.reshape(rows, columns) if rows else array
        at += array.nbytes
    return out


def packed(samples):
    """A list of dicts of arrays as tensors: name: (values, offsets)."""
    import torch

    out = {}
    for name in NAMES:
        arrays, axis = [sample[name] for sample in samples], AXES.get(name, 0)
        offsets = np.zeros(len(arrays) + 1, np.int64)
        np.cumsum([array.shape[axis] for array in arrays], out=offsets[1:])
        out[name] = torch.from_numpy(np.concatenate(arrays, axis)), torch.from_numpy(offsets)
    return out


def same(batch):
    return batch


# --- making the peers' files ---


def make_webdataset(source, target):
    import webdataset as wds

    target.mkdir(parents=True)
    with wds.ShardWriter(f"{target}/%05d.tar", maxsize=64 << 20, verbose=0) as out:
        for i, sample in enumerate(samples_of(source)):
            out.write({"__key__": f"{i:08}", "bin": encode(sample)})


def make_mds(source, target):
    from streaming import MDSWriter

    with MDSWriter(out=str(target), columns={"number": "int", "value": "bytes"}, size_limit=64 << 20) as out:
        for i, sample in enumerate(samples_of(source)):
            out.write({"number": i, "value": encode(sample)})


def graphs_of(target):
    """PyG's data set; made with a schema, which it reads faster than pickled objects."""
    import torch
    from torch_geometric.data import Data, OnDiskDataset

    schema = {name: {"dtype": torch.float if dtype.kind == "f" else torch.long, "size": (2, -1) if name in AXES else (-1,)}
              for name, dtype in zip(NAMES, DTYPES)}  # fmt: skip
    for name in NAMES:
        if name.startswith("x_"):
            schema[name]["size"] = (-1, WIDTHS[name])

    class Graphs(OnDiskDataset):
        def __init__(self):
            super().__init__(str(target), schema=schema, log=False)

        def serialize(self, data):
            return {name: data[name] for name in NAMES}

        def deserialize(self, row):
            return Data(num_nodes=row["x_u"].shape[0], **row)

    return Graphs()


WIDTHS = {}


def make_pyg(source, target):
    import torch
    from torch_geometric.data import Data

    graphs, waiting = None, []
    for sample in samples_of(source):
        if graphs is None:
            WIDTHS.update({name: array.shape[1] for name, array in sample.items() if name.startswith("x_")})
            target.mkdir()
            graphs = graphs_of(target)
            (target / "widths.json").write_text(json.dumps(WIDTHS))
        waiting.append(Data(**{name: torch.from_numpy(array) for name, array in sample.items()}))
        if len(waiting) == 1024:
            graphs.extend(waiting)
            waiting = []
    graphs.extend(waiting)
    graphs.close()


MAKERS = {"lmdb": make_lmdb, "webdataset": make_webdataset, "mds": make_mds, "zarr": make_zarr, "pyg": make_pyg}
SUFFIXES = {"nmb": ".nmb", "lmdb": ".lmdb", "webdataset": ".tars", "mds": ".mds", "zarr": ".zarr", "pyg": ".pyg"}


# --- reading: each makes an iterable of batches, and a function from a batch to [(sample or None, arrays)] ---


class Lists:
    """A data set of LMDB or zarr that reads the samples of a list; opens its file where it reads."""

    def __init__(self, way, path):
        self.way, self.path, self.read = way, path, None

    def __getitem__(self, numbers):
        if self.read is None:
            self.read = self.open_lmdb() if self.way == "lmdb" else self.open_zarr()
        return numbers, packed(self.read(numbers))

    def open_lmdb(self):
        import lmdb

        environment = lmdb.open(self.path, readonly=True, lock=False, readahead=False)

        def read(numbers):
            # The arrays refer to the transaction's pages: packed() copies them before the next read.
            self.transaction = environment.begin(buffers=True)
            return [decode(self.transaction.get(struct.pack(">q", i))) for i in numbers]

        return read

    def open_zarr(self):
        import zarr

        group = zarr.open_group(self.path, mode="r")
        arrays = {name: group[name] for name in NAMES}
        offsets = {name: group[name + "_offsets"][...] for name in NAMES}

        def read(numbers):
            out = []
            for i in numbers:
                slices = {name: slice(int(offsets[name][i]), int(offsets[name][i + 1])) for name in NAMES}
                out.append({name: arrays[name][:, rows] if name in AXES else arrays[name][rows] for name, rows in slices.items()})
            return out

        return read


def batches_nmb(path, order, workers, options):
    import nmb.torch

    samples = nmb.torch.Samples(path, NAMES, axis=AXES)
    loader = nmb.torch.Loader(samples, BATCH, shuffle=order == "random", seed=2, num_workers=workers)
    return loader, lambda batch: [(int(i), sample) for i, sample in zip(batch.samples, batch)]


def of_packed(batch):
    numbers, columns = batch
    out = []
    for i, number in enumerate(numbers):
        sample = {}
        for name, (values, offsets) in columns.items():
            rows = slice(int(offsets[i]), int(offsets[i + 1]))
            sample[name] = values[:, rows] if name in AXES else values[rows]
        out.append((int(number), sample))
    return out


def batches_of_lists(way, total):
    def make(path, order, workers, options):
        from torch.utils.data import DataLoader

        numbers = (order_of(total, total, 2) if order == "random" else np.arange(total)).tolist()
        lists = [numbers[at : at + BATCH] for at in range(0, total, BATCH)]
        loader = DataLoader(Lists(way, path), batch_size=None, sampler=lists, collate_fn=same, num_workers=workers)
        return loader, of_packed

    return make


def of_pairs(pairs):
    return [int(pair[0]) for pair in pairs], packed([pair[1] for pair in pairs])


def batches_webdataset(path, order, workers, options):
    import webdataset as wds

    shards = sorted(map(str, Path(path).glob("*.tar")))
    data = wds.WebDataset(shards, shardshuffle=len(shards) if order == "random" else False, nodesplitter=None, seed=2)
    if order == "random":
        data = data.shuffle(options.window, initial=options.window // 2)
    data = data.map(lambda item: (int(item["__key__"]), decode(item["bin"]))).batched(BATCH, collation_fn=of_pairs)
    return wds.WebLoader(data, batch_size=None, num_workers=workers), of_packed


def of_items(items):
    return of_pairs([(item["number"], decode(item["value"])) for item in items])


def batches_mds(path, order, workers, options):
    from streaming import StreamingDataset
    from torch.utils.data import DataLoader

    data = StreamingDataset(local=path, shuffle=order == "random", shuffle_algo="naive", batch_size=BATCH, num_canonical_nodes=1)
    return DataLoader(data, batch_size=BATCH, collate_fn=of_items, num_workers=workers), of_packed


def batches_pyg(path, order, workers, options):
    from torch_geometric.loader import DataLoader

    WIDTHS.update(json.loads((Path(path) / "widths.json").read_text()))
    graphs = graphs_of(Path(path))
    len(graphs)
    graphs.close()
    graphs._db = None  # each process opens the data base for itself: its handles do not survive a fork
    loader = DataLoader(graphs, batch_size=BATCH, shuffle=order == "random", num_workers=workers)
    return loader, lambda batch: [(None, {name: batch[i][name] for name in NAMES}) for i in (0, batch.num_graphs - 1)]


def batches_of(way, total):
    ways = {"nmb": batches_nmb, "webdataset": batches_webdataset, "mds": batches_mds, "pyg": batches_pyg}
    return ways.get(way) or batches_of_lists(way, total)


def into_cache(path):
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file():
            with file.open("rb") as opened:
                while opened.read(1 << 24):
                    pass


def check(way, samples):
    """Values are those of bench_samples; the first of them gives the number where the way does not."""
    for number, arrays in samples:
        if number is None:
            continue
        for name, array in arrays.items():
            array = np.asarray(array)
            right = expected(number, array.size).reshape(array.shape).astype(array.dtype)
            assert np.array_equal(array, right), (way, number, name)


def measure_way(way, base, order, workers, options):
    """Samples a second."""
    path = Path(base + SUFFIXES[way])
    total = json.loads(Path(base + ".json").read_text())["samples"]
    into_cache(path)
    loader, samples_in = batches_of(way, total)(str(path), order, workers, options)
    most = WARM + max(options.count // BATCH, 1)
    count, begin, last = 0, 0.0, None
    iterator = iter(loader)
    for number, batch in enumerate(iterator):
        if number == WARM:
            begin, count = time.perf_counter(), 0
        count += BATCH
        last = batch
        if number + 1 == most:
            break
    took = time.perf_counter() - begin
    check(way, samples_in(last)[:: BATCH // 8])
    del iterator
    return (count - (BATCH if number + 1 < most else 0)) / took


# --- memory and resuming, of nmb alone ---


def private():
    """The private memory of this process in bytes."""
    gc.collect()
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith("Private"))


class Nothing:
    """A data set that reads nothing."""

    def __getitem__(self, number):
        return private()


def with_memory(batch):
    batch.seeds[0] = private()
    return batch


def measure_memory(base, options):
    """Bytes that nmb adds to a worker."""
    import nmb.torch
    from torch.utils.data import DataLoader

    samples = nmb.torch.Samples(base + ".nmb", NAMES, axis=AXES, transform=with_memory)
    loader = nmb.torch.Loader(samples, BATCH, shuffle=True, num_workers=1)
    found = [int(batch.seeds[0]) for _, batch in zip(range(max(options.count // BATCH, 8)), loader)]
    nothing = DataLoader(Nothing(), batch_size=None, sampler=range(len(found)), collate_fn=same, num_workers=1)
    return statistics.median(found[len(found) // 2 :]) - statistics.median(list(nothing)[len(found) // 2 :])


def measure_resuming(path, where):
    """Seconds from a path and a state to the numbers of the next batch's samples, and to the batch. where: a file of positions, or ""."""
    import nmb.samples

    def make():
        return nmb.samples.Samples(path, where=np.load(where) if where else None)

    batches = nmb.samples.Batches(make(), BATCH, shuffle=True, seed=1)
    batches.set_epoch(3)
    state = next(iter([it for it in [iter(batches)] if next(it) is not None])).state_dict()
    found = []
    for _ in range(5):
        begin = time.perf_counter()
        samples = make()
        batches = nmb.samples.Batches(samples, BATCH, shuffle=True, seed=1)
        batches.load_state_dict(state)
        chosen = next(iter(batches))
        middle = time.perf_counter()
        samples[chosen]
        found.append((middle - begin, time.perf_counter() - begin))
    return [statistics.median(times) for times in zip(*found)]


def child(options, *words):
    command = [sys.executable, "-W", "ignore", __file__, *map(str, words), "--count", str(options.count), "--window", str(options.window)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def make_files(options):
    """Makes the files of all ways that are installed. Returns their versions, and the names of the missing packages."""
    base, program = str(options.work / "training"), options.build / "tests/bench/bench_samples"
    source, many = Path(base + ".nmb"), Path(base + "many.nmb")
    for path, words in ((source, ["--samples", options.samples]), (many, ["--one-object", "--samples", options.many])):
        if not path.exists():
            new = path.with_suffix(".new")
            subprocess.run([program, "make", new, *map(str, words)], check=True)
            subprocess.run([options.build / "tools/nmconvert", "--repack", new, "-o", path, "-q"], check=True)
            new.unlink()
    Path(base + ".json").write_text(json.dumps({"samples": options.samples}))
    np.save(base + "where.npy", np.arange(options.many))
    versions, missing = {}, []
    for way, package in PACKAGES.items():
        if way not in options.peers.split(","):
            continue
        try:
            versions[way] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
            continue
        target = Path(base + SUFFIXES[way])
        if not target.exists():
            print(f"making {target}", flush=True)
            MAKERS[way](source, target)
    return base, versions, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=35_530)
    parser.add_argument("--many", type=int, default=MANY)
    parser.add_argument("--count", type=int, default=15_000, help="samples that a way reads in a round")
    parser.add_argument("--slow", type=int, default=1_500, help="samples that zarr reads in a round")
    parser.add_argument("--window", type=int, default=5_000, help="samples in the buffer of WebDataset")
    parser.add_argument("--peers", default=",".join(PACKAGES), help="those to compare with (%(default)s)")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        kind, *words = options.child
        if kind == "way":
            way, base, order, workers = words
            print(json.dumps(measure_way(way, base, order, int(workers), options)))
        elif kind == "memory":
            print(json.dumps(measure_memory(words[0], options)))
        else:
            print(json.dumps(measure_resuming(words[0], words[1] if len(words) > 1 else "")))
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    base, versions, missing = make_files(options)
    for package in missing:
        print(f"{package} is not installed: left out")
    rates = {}
    for number in range(options.rounds):
        for order in ("random", "in order"):
            for workers in WORKERS:
                ways = ["nmb", *versions]
                for way in ways if number % 2 == 0 else reversed(ways):
                    few = argparse.Namespace(**{**vars(options), "count": options.slow if way == "zarr" else options.count})
                    rate = child(few, "--child", "way", way, base, order, workers)
                    rates.setdefault((order, workers, way), []).append(rate)
                    print(f"{order:9} {workers} workers {NAMES_OF[way]:18} {rate:10,.0f} samples/s", flush=True)
    rates = {key: statistics.median(found) for key, found in rates.items()}
    memory = child(options, "--child", "memory", base)
    resuming = [child(options, "--child", "resuming", base + "many.nmb", *where) for where in ((), (base + "where.npy",))]
    goals = goals_of(rates, versions, memory, resuming)
    for text, value, goal, met in goals:
        print(f"{'met   ' if met else 'MISSED'} {text}: {value:.3g} (goal: {goal})")
    if options.page:
        write(options, rates, goals, versions, missing, resuming)
    return 0 if all(met for *_, met in goals) else 1


def goals_of(rates, versions, memory, resuming):
    """(what, value, goal, whether it is met)."""
    out = []
    for way in versions:
        for workers in WORKERS:
            value = rates["random", workers, "nmb"] / rates["random", workers, way]
            out.append((f"random order, {workers} workers, samples a second beside {NAMES_OF[way]}", value, f"at least {GOALS[way]}", value >= GOALS[way]))
    out.append(("private memory that a worker has more, MB", memory / 1e6, "at most 64", memory <= 64e6))
    for name, (found, _), most in zip(("without where", "with where"), resuming, (0.01, 1)):
        out.append((f"resuming in 5.68 million blocks, {name}, ms", found * 1e3, f"at most {most * 1e3:g}", found <= most))
    return out


def draw(path, title, unit, values, ways):
    """A chart with a group for each number of workers, and a bar for each way. values: by workers and way."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/nmbench/launcher"))
    import charts

    legend = [(NAMES_OF[way], number) for number, way in enumerate(ways)]
    drawing = charts.Drawing(title, unit, max(values.values()), legend)
    room = (charts.WIDTH - charts.LEFT - charts.RIGHT) / len(WORKERS)
    width = room * 0.85 / len(ways)
    for group, workers in enumerate(WORKERS):
        left = charts.LEFT + room * (group + 0.5) - width * len(ways) / 2
        drawing.text(left + width * len(ways) / 2, drawing.bottom + 17, f"{workers} workers")
        for number, way in enumerate(ways):
            value = values[workers, way]
            drawing.bar(left + width * number + 2, width - 4, 0, value, number, f"{NAMES_OF[way]}: {charts.number(value)}")
            drawing.text(left + width * (number + 0.5), drawing.y(value) - 5, charts.number(value), small=True)
    path.write_text(drawing.svg())


def write(options, rates, goals, versions, missing, resuming):
    import torch

    installed = {NAMES_OF[way]: version for way, version in versions.items()}
    lines = ["# Training", "", f"Batches of {BATCH} random samples of 16 arrays (99 KB each), read by `tests/bench/python_training.py` from files in the cache; "
             f"samples a second, the median of {options.rounds} rounds.", "",
             f"{machine_in_words()}; torch {torch.__version__}, numpy {np.__version__}, " + ", ".join(f"{k} {v}" for k, v in installed.items())
             + (f". Not installed, and left out: {', '.join(missing)}" if missing else "") + ".", ""]  # fmt: skip
    ways, page = ("nmb", *versions), options.page
    draw(page.with_name(page.stem + "_random.svg"), "Batches in random order", "samples a second",
         {(w, way): rates["random", w, way] for w in WORKERS for way in ways}, ways)  # fmt: skip
    draw(page.with_name(page.stem + "_order.svg"), "What random order leaves", "samples a second in random order, beside the order of the file",
         {(w, way): rates["random", w, way] / rates["in order", w, way] for w in WORKERS for way in ways}, ways)  # fmt: skip
    lines += [f"![Samples a second]({page.stem}_random.svg)", "", f"![Random order beside the order of the file]({page.stem}_order.svg)", ""]
    lines += ["| random order | " + " | ".join(f"{workers} workers" for workers in WORKERS) + " |", "|---|" + "---:|" * len(WORKERS)]
    lines += [f"| {NAMES_OF[way]} | " + " | ".join(f"{rates['random', w, way]:,.0f}" for w in WORKERS) + " |" for way in ("nmb", *versions)]
    lines += ["", f"WebDataset shuffles shards and a buffer of {options.window:,} samples in each worker; the others all samples.", "",
              "Samples a second in random order, beside those in the order of the file:", "",
              "| random beside in order | " + " | ".join(f"{workers} workers" for workers in WORKERS) + " |", "|---|" + "---:|" * len(WORKERS)]  # fmt: skip
    lines += [f"| {NAMES_OF[way]} | " + " | ".join(f"{rates['random', w, way] / rates['in order', w, way]:.2f}" for w in WORKERS) + " |"
              for way in ("nmb", *versions)]  # fmt: skip
    lines += ["", "| goal | found | wanted | met |", "|---|---:|---|---|"]
    lines += [f"| {text} | {value:.3g} | {goal} | {'yes' if met else 'no'} |" for text, value, goal, met in goals]
    lines += ["", f"With the batch itself, resuming took {resuming[0][1] * 1e3:.1f} and {resuming[1][1] * 1e3:.0f} ms."]
    options.page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
