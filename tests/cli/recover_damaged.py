#!/usr/bin/python3
"""nmverify --recover on damaged files, compared with spec/reference/recovery_reference.py.

    recover_damaged.py --tools FOLDER [--files N] [--seed N] [--keep FOLDER] [--table]

Each file is made by the tools or by random sessions of the writer, and is then damaged: cut, overwritten with zeros or
random bytes, or robbed of its head, its index or its superblocks. nmverify and the reference must find the same blocks:
whole, with damaged values (and where), with values whose sums are lost, lost, and doubtful. --plan must promise what
--recover then does, in the same lines. If a file of one generation was cut, each block comes back whose header, definitions and values lie
before the cut: the undamaged file says where they lie. The new file must be sound. Each of its blocks has the
definitions and values that the block had in an undamaged generation of the file; a block without doubt has those of the
newest generation. Values that are damaged are fill values. --table prints the results by kind of damage, and adds files
with blocks of 1 KB to 100 MB that are cut everywhere.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
SPEC = HERE.parents[1] / "spec"
sys.path[:0] = [str(SPEC / "reference")]
import recovery_reference as reference  # noqa: E402

SKIPPED = 77
# Valid vectors of the specification: small files with one feature each.
VECTORS = ["growth", "removed_and_created_again", "originals", "external_files", "growth_beside", "growth_folded"]
VECTORS += ["growth_coded", "growth_two_pages", "hole", "hole_in_a_data_map", "coded_pieces", "dead_space"]
VECTORS += ["coded_pieces_change", "tags", "statistics_tree", "zstd_dictionary", "zstd_dictionary_with_id", "several_leaves"]
VECTORS += ["abandoned_range", "index_recut", "many_pieces", "records_replace_trailing_bytes", "records_of_one_byte"]
VECTORS += ["extended_types", "extended_storage", "extended_hole", "hdf5_view", "empty_extents", "root_block"]
RUNS = [1, 8, 64, 512, 4096, 65536, 1 << 20]


# --- files ---


def classic_file(path, chance, variables, length, records):
    import netCDF4
    import numpy

    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("t", None)
        file.createDimension("x", length)
        file.title = path.name
        for i in range(variables):
            kind = chance.choice(["f4", "i2", "f8", "i1", "i8"])
            of_records = i % 2 == 0
            v = file.createVariable(f"v{i}", kind, ("t", "x") if of_records else ("x",))
            v.units = "1"
            shape = (records, length) if of_records else (length,)
            v[:] = numpy.random.default_rng(chance.randrange(1 << 30)).integers(-99, 99, shape)


def hdf5_file(path, chance):
    import h5py
    import numpy

    values = numpy.random.default_rng(chance.randrange(1 << 30))
    with h5py.File(path, "w") as file:
        for i in range(3):
            group = file.create_group(f"g{i}")
            group.create_dataset("plain", data=values.integers(0, 99, 20000))
            group.create_dataset("chunked", data=values.normal(size=(300, 50)), chunks=(50, 50), compression="gzip")
            group.create_dataset("text", data=["a", "bc", "def" * i], dtype=h5py.string_dtype())


class Base:
    """An undamaged file. `versions`: for each name, (body, extent, holes) of each generation that has the block.

    has_history: `generations` has all generations of the file.
    """

    def __init__(self, path, generations, has_history=True):
        self.path, self.data, self.has_history = path, path.read_bytes(), has_history
        self.inputs = {}  # the classic file from which a block was packed whole, by the block's name
        self.versions = {}
        for generation in generations:
            found = reference.recover(generation.read_bytes(), path.parent)
            assert not found.lost, (path, found.lost)
            for name, block in found.blocks.items():
                assert block.whole, (path, name)
                self.versions.setdefault(name, []).append(content(block))
            self.newest = {name: content(block) for name, block in found.blocks.items()}
        # For each block of a file of one generation: where its header, definitions and values end. Values in other
        # files do not come back without the file table, which lies behind all blocks.
        self.ends = {}
        if has_history and len(generations) == 1:
            self.ends = {n: end_of(found, block) for n, block in found.blocks.items() if not block.in_other_files}


def end_of(found, block):
    header = reference.Fields(found.scan.bytes, None, block.position, reference.BLOCK)
    body = block.position + reference.BLOCK_HEADER + reference.up(header["name length"]) + header["stored length"]
    return max([body] + [end for _, end in block.places + block.in_originals])


def content(block):
    return block.body, bytes(block.extent), tuple(block.holes)


def table_files(work, chance):
    """Makes files of 1 KB to 100 MB. Returns the arguments of nmcat by name."""
    import h5py
    import netCDF4
    import numpy

    sizes = {"1K": 1000, "10K": 10000, "100K": 100000, "1M": 10**6, "10M": 10**7, "100M": 10**8}
    classic, hdf5 = [], []
    for name, size in sizes.items():
        classic.append(work / f"s{name}.nc")
        hdf5.append(work / f"h{name}.h5")
        values = numpy.random.default_rng(chance.randrange(1 << 30)).normal(size=size // 8)
        with netCDF4.Dataset(classic[-1], "w", format="NETCDF3_64BIT_DATA") as file:
            file.createDimension("x", len(values))
            file.createVariable("v", "f8", ("x",))[:] = values
        with h5py.File(hdf5[-1], "w") as file:
            file["plain"] = values[: len(values) // 2]
            file.create_dataset("chunked", data=values[len(values) // 2 :], chunks=True, compression="gzip")
    return {
        "sizes": classic,
        "sizes_coded": ["--compress", "zstd", *classic[:-1]],
        "sizes_hdf5": hdf5[:-1],
        "sizes_hdf5_without_originals": ["--no-originals", *hdf5[:-1]],
    }


def make_bases(tools, work, chance, full, with_sizes):
    """Returns the undamaged files."""
    bases = []

    def run(name, *arguments):
        done = subprocess.run([tools / name, *map(str, arguments)], cwd=work, capture_output=True, text=True)
        assert done.returncode == 0, (name, arguments, done.stderr)

    def snapshot(path, generations):
        copy = path.with_name(f"{path.name}.{len(generations) + 1}")
        shutil.copy(path, copy)
        generations.append(copy)

    make = tools.parent / "tests" / "fault" / "make_sessions"
    for seed in range(1, 13 if full else 4):
        count = 1 + (seed * 4) % 9
        path = work / f"sessions{seed}.nmb"
        subprocess.run([make, path, str(seed), str(count)], check=True)
        bases.append(Base(path, [work / f"sessions{seed}.nmb.{g}" for g in range(1, count + 1)]))

    for name in VECTORS if full else VECTORS[:3]:
        path = work / f"{name}.nmb"
        subprocess.run([sys.executable, SPEC / "vectors" / "assemble.py", SPEC / "vectors" / f"{name}.txt", path], check=True)
        bases.append(Base(path, [path], has_history=False))

    inputs = []
    for i in range(12):
        inputs.append(work / f"c{i:02}.nc")
        classic_file(inputs[-1], chance, 1 + i % 4, 300 if i % 3 else 30000, 1 + i % 5)
    large = work / "large.nc"
    classic_file(large, chance, 4, 100000, 4)
    hdf5 = work / "h.h5"
    hdf5_file(hdf5, chance)
    ways = {
        "packed": [*inputs, large],
        "compressed": ["--compress", "zstd", *inputs, large],
        "linked": ["--link", *inputs],
        "original": [hdf5, *inputs[:3]],
        "view": ["--hdf5-view", "on", *inputs[:5]],
        "union": ["--mode", "union", *inputs[:1]],
        "statistics": ["--stats", "basic", "--inline", "65536", *inputs],
    }
    if with_sizes:
        ways |= table_files(work, chance)
    for name, arguments in ways.items():
        path, generations = work / f"{name}.nmb", []
        if not full and name not in ("packed", "original", "view"):
            continue
        run("nmcat", "-q", "--no-sync", *arguments, "-o", path)
        snapshot(path, generations)
        if name in ("packed", "statistics", "original"):  # later generations: new, replaced and unchanged blocks
            shutil.copy(inputs[7], work / "extra.nc")
            run("nmcat", "-q", "--no-sync", "--append", "extra.nc", "-o", path)
            snapshot(path, generations)
            shutil.copy(inputs[8], work / "c01.nc.new")
            os.replace(work / "c01.nc.new", work / "again.nc")
            (work / "sub").mkdir(exist_ok=True)
            shutil.copy(work / "again.nc", work / "sub" / "c01.nc")
            run("nmcat", "-q", "--no-sync", "--append", "--replace", "sub/c01.nc", "-o", path)
            snapshot(path, generations)
        bases.append(Base(path, generations))
        if name in ("packed", "compressed", "linked", "statistics"):
            bases[-1].inputs = {file.stem.encode(): file for file in inputs if file.stem != "c01"}
    return bases


# --- damage ---


def positions_of(data, magic):
    at = data.find(magic)
    while at >= 0:
        if at % 8 == 0:
            yield at
        at = data.find(magic, at + 1)


def wipe(data, positions, length):
    for at in positions:
        end = min(at + length, len(data))
        data[at:end] = bytes(end - at)


def cut_of(length, kind):
    number = int(kind.split()[2])
    return length * number // 100 if kind.startswith("cut at") else max(0, length - number)


def damage(base, kind, chance):
    data = bytearray(base.data)
    if kind.startswith("cut"):
        del data[cut_of(len(data), kind) :]
    elif kind.startswith(("zeros", "random")):
        length = min(int(kind.split()[1]), len(data) // 2)
        at = chance.randrange(len(data) - length + 1)
        data[at : at + length] = bytes(length) if kind.startswith("zeros") else chance.randbytes(length)
    else:
        lost = kind.split(", ")
        index = [at for at in positions_of(data, b"\x89NMBINDX")]
        slots = [at for at in positions_of(data, b"\x89NMBSLOT") if at >= 16384]
        if "head" in lost:
            wipe(data, [0], 16384)
        if "index" in lost:
            wipe(data, index, 88)
        if "newest index" in lost:
            wipe(data, index[len(index) // 2 :], 88)
        if "trailers" in lost:
            wipe(data, slots, 4096)
        if "newest trailer" in lost:
            wipe(data, slots[-1:], 4096)
        if "maps" in lost:
            maps = [at for magic in (b"\x89NMBDMAP", b"\x89NMBGROW") for at in positions_of(data, magic)]
            wipe(data, chance.sample(maps, len(maps) // 2), 200)
        if "headers" in lost:
            headers = [at for at in positions_of(data, b"\x89NMBBLCK")]
            wipe(data, chance.sample(headers, -(-len(headers) // 4)), 152)
        if "bytes" in lost:
            for _ in range(20):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


KINDS = [f"cut at {percent} %" for percent in range(5, 100, 5)]
KINDS += [f"cut by {length} bytes" for length in (1000, 10000, 100000, 1000000)]
KINDS += [f"{what} {length}" for what in ("zeros", "random") for length in RUNS]
KINDS += ["head", "index", "newest index", "newest trailer", "head, newest trailer", "head, index", "trailers, index"]
KINDS += ["head, index, trailers", "head, trailers", "maps", "maps, index", "headers", "headers, index", "bytes"]
KINDS += ["headers, newest index", "bytes, index"]


# --- comparison ---


def has_fill_values(path, original, elements):
    """Returns whether a file has the values of another, except for these elements, which have fill values."""
    import netCDF4
    import numpy

    with netCDF4.Dataset(path) as file, netCDF4.Dataset(original) as expected:
        for name, variable in expected.variables.items():
            file.set_auto_mask(False)
            expected.set_auto_mask(False)
            values = numpy.array(variable[...]).ravel()
            for lost in elements:
                if lost["variable"] == name:
                    fill = netCDF4.default_fillvals[variable.dtype.str[1:]]
                    values[lost["first"] : lost["first"] + lost["count"]] = fill
            if not numpy.array_equal(values, numpy.array(file.variables[name][...]).ravel()):
                return False
    return True


def state_of(block, options):
    """Returns the state of a block that nmverify must report."""
    if block.whole:
        return "whole"
    is_left_out = block.lacks_pieces or (block.damaged and "--partial" not in options)
    if is_left_out or (block.unverified and "--unverified" not in options):
        return "left out"
    return "unverified" if block.unverified else "partial"


class Case:
    def __init__(self, base, kind, seed):
        self.base, self.kind, self.seed = base, kind, seed
        self.problems, self.counts = [], collections.Counter()

    def check(self, true, problem):
        if not true:
            self.problems.append(f"{self.base.path.name}, {self.kind}, seed {self.seed}: {problem}")

    def run(self, tools, work, keep):
        data = damage(self.base, self.kind, random.Random(self.seed))
        # External files lie in the folder of the file.
        path = work / f"damaged_{self.base.path.stem}_{self.seed}.nmb"
        path.write_bytes(data)
        try:
            self.compare(tools, path, data)
        finally:
            for made in work.glob(path.stem + "*"):
                if self.problems and keep:
                    shutil.copy(made, keep)
                made.unlink()
        return self

    def compare(self, tools, path, data):
        found = reference.recover(data, path.parent)
        whole = {name for name, block in found.blocks.items() if block.whole}
        self.counts["blocks"] = len(self.base.newest)
        self.counts["whole"] = len([name for name in whole if not found.blocks[name].doubt])
        self.counts["damaged"] = len([b for b in found.blocks.values() if not b.whole])
        self.counts["doubtful"] = len([b for b in found.blocks.values() if b.whole and b.doubt])
        for options in [], ["--partial"], ["--partial", "--unverified"]:
            if options and not self.counts["damaged"] and self.seed % 4:
                continue  # the options change nothing
            out = path.with_name(f"{path.stem}_out{len(options)}.nmb")
            command = [tools / "nmverify", "--recover", out, "--json", "--no-sync", *options, path]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if not done.stdout:
                self.check(not found.blocks, f"exit code {done.returncode}, {done.stderr}")
                continue
            told = json.loads(done.stdout)
            self.compare_report(found, told, options)
            loss = bool(told["is_loss"])
            recovered = [b for b in told["blocks"] if b["state"] != "left out"]
            expected = 0 if not loss else 3 if recovered else 1
            self.check(done.returncode == expected, f"exit code {done.returncode}, expected {expected}: {done.stderr}")
            self.check(out.exists() == (bool(recovered) or not loss), "OUT exists, or does not")
            if self.seed % 3 == len(options):
                self.compare_plan(tools, path, options, told, done.returncode)
            if out.exists():
                self.compare_output(tools, out, found, {b["name"].encode() for b in recovered})
                self.compare_classic(tools, out, told)
                out.unlink()
        if self.kind.startswith("cut"):
            self.check_promise(found)

    def check_promise(self, found):
        """Checks that each block comes back whose header, definitions and values lie before the cut."""
        cut = cut_of(len(self.base.data), self.kind)
        promised = {name for name, end in self.base.ends.items() if end <= cut}
        self.counts["promised"] = len(promised)
        for name in promised:
            block = found.blocks.get(name)
            self.check(block and block.whole and not block.doubt, f"{name} lies before the cut and is not recovered")

    def compare_plan(self, tools, path, options, told, exit_code):
        def run(*arguments):
            return subprocess.run([tools / "nmverify", *options, *arguments, path], capture_output=True, text=True)

        done = run("--plan", "--json")
        plan = json.loads(done.stdout)
        self.check(done.returncode == exit_code, f"--plan: exit code {done.returncode}, expected {exit_code}")
        again = path.with_name(f"{path.stem}_again.nmb")
        lists = [run(*words).stdout.splitlines()[:-1] for words in (["--plan"], ["--recover", again, "--no-sync"])]
        again.unlink(missing_ok=True)
        self.check(lists[0] == lists[1], f"--plan prints {lists[0]}, --recover {lists[1]}")
        for key in ("blocks", "lost", "summary", "other_losses"):
            self.check(plan[key] == told[key], f"--plan promises other {key} than --recover makes")

    def compare_report(self, found, told, options):
        def name(text):
            return text.encode("utf-8")

        for block in told["blocks"]:
            mine = found.blocks.get(name(block["name"]))
            self.check(mine, f"recovered {block['name']}, which the reference does not have")
            if not mine:
                continue
            state = state_of(mine, options)
            cannot = block["state"] == "left out" and mine.damaged and "cannot become fill values" in block["reason"]
            self.check(
                block["state"] == state or cannot,
                f"{block['name']} is {block['state']}, expected {state}: {block.get('reason')}",
            )
            self.check(block["position"] == mine.position, f"{block['name']} at {block['position']}, expected {mine.position}")
            self.check((block["doubt"] or "") == mine.doubt, f"{block['name']}: {block['doubt']}, expected {mine.doubt}")
            for key, expected in ("damaged", mine.damaged), ("unverified", mine.unverified):
                ranges = [(r["offset"], r["offset"] + r["bytes"]) for r in block.get(key, [])]
                self.check(ranges == expected, f"{block['name']}: {key} {ranges}, expected {expected}")
        missing = set(found.blocks) - {name(block["name"]) for block in told["blocks"]}
        self.check(not missing, f"not found: {missing}")
        lost = {name(b["name"]) for b in told["lost"] if not b["perhaps_removed"]}
        self.check(lost == found.lost, f"lost {lost}, expected {found.lost}")
        perhaps = {name(b["name"]) for b in told["lost"] if b["perhaps_removed"]}
        self.check(perhaps == found.perhaps_lost, f"perhaps lost {perhaps}, expected {found.perhaps_lost}")
        if not told["is_loss"]:
            self.check(set(found.blocks) == set(self.base.newest), "nothing is lost, but blocks are missing")

    def compare_output(self, tools, out, found, expected):
        done = subprocess.run([tools / "nmverify", out], capture_output=True, text=True, timeout=120)
        self.check(done.returncode == 0, f"OUT is not sound: {done.stdout}")
        new = reference.recover(out.read_bytes(), out.parent)
        self.check(set(new.blocks) == expected, f"OUT has {set(new.blocks) ^ expected}")
        for name, block in new.blocks.items():
            mine = found.blocks.get(name)
            if not mine:
                continue
            versions = self.base.versions.get(name, [])
            if mine.doubt and not self.base.has_history:
                continue
            if not mine.doubt:
                versions = [self.base.newest[name]] if name in self.base.newest else []
            self.check(versions, f"{name} was resurrected without a mark")
            # Holes of OUT may be smaller than those of the damaged file: a piece of fill values is stored.
            self.check(
                any(self.is_version(block, mine, version) for version in versions),
                f"{name}: other definitions or values than in the undamaged file",
            )

    def compare_classic(self, tools, out, told):
        """Compares a whole and a partial block with the files from which they were packed, as netCDF-C reads them."""
        for state in "whole", "partial":
            blocks = [b for b in told["blocks"] if b["state"] == state and b["name"].encode() in self.base.inputs]
            if not blocks:
                continue
            block = random.Random(self.seed).choice(blocks)
            file = out.with_suffix(".nc")
            command = [tools / "nmconvert", out, file, "-f", "--no-sync", "--extract", block["name"], "--to", "cdf5"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.check(done.returncode == 0, f"{block['name']} cannot be extracted: {done.stderr}")
            original = self.base.inputs[block["name"].encode()]
            if done.returncode != 0:
                continue
            if state == "whole":
                self.check(file.read_bytes() == original.read_bytes(), f"{block['name']}: other bytes than {original.name}")
            else:
                self.check(has_fill_values(file, original, block["elements"]), f"{block['name']}: other values or fill values")

    def is_version(self, block, mine, version):
        body, extent, holes = version
        if block.body != body or len(block.extent) != len(mine.extent):
            return False
        # If an older header was taken, the records that growth pages add may belong to a newer version.
        has_growth = mine.doubt and mine.settled is not None
        length = min(mine.settled, len(extent)) if has_growth else len(extent)
        if not has_growth and len(extent) != len(block.extent):
            return False
        if any(block.extent[start:end] != mine.extent[start:end] for start, end in mine.unverified):
            return False
        unknown = sorted([*block.holes, *mine.damaged, *mine.unverified, *mine.holes, *holes])
        at = 0
        for start, end in [*unknown, (length, length)]:
            start = min(start, length)
            if start > at and bytes(block.extent[at:start]) != extent[at:start]:
                return False
            at = max(at, end)
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--files", type=int, default=400 if "NMB_ALL" in os.environ else 24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    try:
        import h5py  # noqa: F401
        import netCDF4  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIPPED
    tools = arguments.tools.resolve()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        bases = make_bases(tools, work, chance, arguments.files > 100 or arguments.table, arguments.table)
        of_sizes = [base for base in bases if base.path.stem.startswith("sizes")]
        pairs = [(base, kind) for base in bases if base not in of_sizes for kind in KINDS]
        chance.shuffle(pairs)
        pairs = [pairs[i % len(pairs)] for i in range(arguments.files)]
        pairs = [(base, kind) for base in of_sizes for kind in KINDS if kind.startswith("cut")] + pairs
        cases = [Case(*pair, arguments.seed * 100000 + i) for i, pair in enumerate(pairs)]
        with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
            done = list(pool.map(Case.run, cases, [tools] * len(cases), [work] * len(cases), [arguments.keep] * len(cases)))
    problems = [problem for case in done for problem in case.problems]
    for problem in problems[:40]:
        print(problem)
    if arguments.table:
        print_table(done)
    print(f"{len(done)} damaged files of {len(bases)} files, {len(problems)} problems")
    return 1 if problems else 0


def print_table(cases):
    groups = {}
    for case in cases:
        name = "cut at 5 %, 10 %, ... 95 %" if case.kind.startswith("cut at") else case.kind
        if case.base.path.stem.startswith("sizes"):
            name = "blocks of 1 KB to 100 MB: cut"
        groups.setdefault(name, []).append(case)
    print("| damage | files | blocks | before the cut | whole | damaged values | doubtful | differences |")
    print("|---|---|---|---|---|---|---|---|")
    for name, group in sorted(groups.items(), key=lambda item: KINDS.index(item[0]) if item[0] in KINDS else -1):
        total = sum((case.counts for case in group), collections.Counter())
        numbers = [total[key] for key in ("blocks", "promised", "whole", "damaged", "doubtful")]
        print(f"| {name} | {len(group)} |", " | ".join(map(str, numbers)), f"| {sum(len(c.problems) for c in group)} |")


if __name__ == "__main__":
    sys.exit(main())
