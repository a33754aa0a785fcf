#!/usr/bin/python3
"""Random sets of classic and netCDF-4 files that are joined, united or put together as tiles, with an HDF5 view. The
view shows the stored chunks: h5py, netCDF4-python and xarray read the values that numpy makes of the inputs, netCDF-C
sees the same objects as in the .nc4 file that nmconvert writes, and the values take as many bytes as without a view.

    united_views_test.py --tools build/release/tools [--sets 16] [--first 0]

`./night` tries 200 sets. Skipped (exit code 77) without h5py, netCDF4-python, xarray or zstandard.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import h5py, netCDF4, numpy  # noqa: E402
import netcdf4_view  # noqa: E402
from differences import Differences  # noqa: E402
from generated_sets import define_axes, main  # noqa: E402

try:
    import xarray
    import zstandard
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
CLASSIC_KINDS = ("i1", "i2", "i4", "f4", "f8")
ZSTD = 32015
REFERENCE = Path(__file__).resolve().parents[2] / "spec" / "reference" / "nmb_reference.py"
# The most bytes that a view takes for an object, and for a stored chunk.
OBJECT, CHUNK, FILE = 1500, 120, 16384


class Variable:
    def __init__(self, rng, name, shape, is_classic):
        kinds = CLASSIC_KINDS if is_classic else KINDS
        self.name, self.shape, self.kind = name, shape, numpy.dtype(kinds[rng.integers(len(kinds))])
        self.fill = self.kind.type(rng.integers(1, 100)) if rng.random() < 0.3 else None
        self.options = {}
        if not is_classic:
            self.options["endian"] = "big" if self.kind.itemsize > 1 and rng.random() < 0.2 else "native"


class Set:
    """Files with groups, several dimensions that grow, filters, and records that were never written."""

    def __init__(self, number, work):
        self.rng, self.work = numpy.random.default_rng(number), work
        rng = self.rng
        self.kind = ("NETCDF4", "NETCDF4", "NETCDF3_64BIT_OFFSET")[number % 3]
        self.is_classic = self.kind != "NETCDF4"
        self.lengths = {name: int(rng.integers(1, 9)) for name in ("y", "x", "z")}
        self.grows = {"y"} if not self.is_classic and rng.random() < 0.3 else set()
        self.counts = [int(rng.integers(1, 6)) for _ in range(rng.integers(2, 4))]
        self.groups = {"": []}
        if not self.is_classic and rng.random() < 0.6:
            self.groups |= {"g": [], "g/h": []} if rng.random() < 0.5 else {"g": []}
        self.own = {group: int(rng.integers(1, 5)) for group in self.groups if group}  # a dimension "own" of each group
        for group, variables in self.groups.items():
            variables.append(Variable(rng, "v", ("time", "y", "x"), self.is_classic))
            for i in range(int(rng.integers(0, 4))):
                shape = [name for name in ("y", "x", "z") if rng.random() < 0.5]
                shape += ["own"] if group and rng.random() < 0.5 else []
                shape = (["time"] if rng.random() < 0.6 else []) + shape
                variables.append(Variable(rng, f"v{i}", tuple(shape), self.is_classic))
            for name in ("x", "own"):
                if rng.random() < 0.5 and (name == "x" or group):
                    variables.append(Variable(rng, name, (name,), self.is_classic))
        self.dividing = {}  # chunks and filters
        for group, variables in self.groups.items():
            for v in variables:
                self.dividing[group, v.name] = self.draw(v, group)
        self.files = [f"f{i}.nc" for i in range(len(self.counts))]
        parts = [self.make(name, i) for i, name in enumerate(self.files)]
        self.expected = {
            key: numpy.concatenate([part[key] for part in parts]) if "time" in self.of(key).shape else parts[0][key]
            for key in parts[0]
        }

    def of(self, key):
        return next(v for v in self.groups[key[0]] if v.name == key[1])

    def length(self, name, group, number):
        return self.counts[number] if name == "time" else self.own[group] if name == "own" else self.lengths[name]

    def draw(self, v, group):
        rng = self.rng
        is_growing = "time" in v.shape or self.grows & set(v.shape)
        if self.is_classic or not v.shape or (not is_growing and rng.random() < 0.5):
            return {}
        chunk = [int(rng.integers(1, 5)) if d == "time" else int(rng.integers(1, self.length(d, group, 0) + 1)) for d in v.shape]
        options = {"chunksizes": chunk, "fletcher32": bool(rng.random() < 0.25)}
        if rng.random() < 0.6:
            options |= {"zlib": True, "complevel": int(rng.integers(1, 10)), "shuffle": bool(rng.random() < 0.5)}
        return options

    def make(self, path, number):
        rng, values = self.rng, {}
        with netCDF4.Dataset(self.work / path, "w", format=self.kind) as out:
            out.title = "generated"
            out.createDimension("time", None)
            for name, length in self.lengths.items():
                out.createDimension(name, None if name in self.grows else length)
            for group, variables in self.groups.items():
                at = out.createGroup(group) if group else out
                if group:
                    at.createDimension("own", self.own[group])
                    at.number = numpy.int32(len(group))
                for v in variables:
                    made = at.createVariable(v.name, v.kind, v.shape, fill_value=v.fill, **v.options, **self.dividing[group, v.name])
                    made.units, made.range = "K", numpy.array([1, 2], "i2")
                    made.set_auto_maskandscale(False)
                    source = rng if "time" in v.shape else numpy.random.default_rng(77)
                    array = source.integers(0, 100, [self.length(d, group, number) for d in v.shape]).astype(v.kind)
                    # Some chunks are never written, but the last element gives growing dimensions their lengths.
                    if "time" in v.shape and v.name != "v" and rng.random() < 0.3:
                        made[tuple(n - 1 for n in array.shape)] = array[tuple(n - 1 for n in array.shape)]
                    else:
                        made[...] = array
        with netCDF4.Dataset(self.work / path) as back:
            for group, variables in self.groups.items():
                for v in variables:
                    one = back[f"{group}/{v.name}" if group else v.name]
                    one.set_auto_maskandscale(False)
                    values[group, v.name] = one[...]
        return values


def same(found, expected):
    found = numpy.asarray(found)
    return found.shape == expected.shape and found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=") and (found == expected).all()


def compare_values(test, what, path, expected):
    """expected: {(group, variable): array}."""
    with h5py.File(path) as by_h5py, netCDF4.Dataset(path) as by_netcdf:
        for (group, name), array in expected.items():
            place = f"{group}/{name}" if group else name
            test.check(same(by_h5py[place][...], array), f"{what}: {place}: h5py found {by_h5py[place][...].ravel()[:8]}, expected {array.ravel()[:8]}")
            one = by_netcdf[place]
            one.set_auto_maskandscale(False)
            test.check(same(one[...], array), f"{what}: {place}: netCDF4 found {one[...].ravel()[:8]}, expected {array.ravel()[:8]}")
    for group in {group for group, _ in expected}:
        for engine in ("netcdf4", "h5netcdf"):
            try:
                opened = xarray.open_dataset(path, group=group or None, engine=engine, decode_cf=False)
            except (ValueError, ImportError) as error:
                if engine == "h5netcdf" and "engine" in str(error):
                    continue
                raise
            with opened as data:
                for (other, name), array in expected.items():
                    if other == group:
                        test.check(same(data[name].values, array), f"{what}: {group}/{name}: xarray with {engine} found {data[name].values.ravel()[:8]}")


def filters_of(data):
    plist = data.id.get_create_plist()
    return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]


def decoded(data):
    """The values of a data set whose chunks are decoded here, because HDF5 needs a plug-in for zstd."""
    filters = filters_of(data)
    out = numpy.full(data.shape, data.fillvalue, data.dtype)
    for i in range(data.id.get_num_chunks()):
        at = data.id.get_chunk_info(i).chunk_offset
        mask, raw = data.id.read_direct_chunk(at)
        for number in reversed(range(len(filters))):
            if mask >> number & 1:
                continue
            if filters[number] == ZSTD:
                raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
            elif filters[number] == 2:
                raw = numpy.frombuffer(raw, "u1").reshape(data.dtype.itemsize, -1).T.tobytes()
            elif filters[number] == 3:
                raw = raw[:-4]
        chunk = numpy.frombuffer(raw, data.dtype).reshape(data.chunks)
        inside = tuple(slice(0, min(c, n - o)) for o, c, n in zip(at, data.chunks, data.shape))
        out[tuple(slice(o, o + i.stop) for o, i in zip(at, inside))] = chunk[inside]
    return out


def compare_zstd(test, what, path, expected):
    with h5py.File(path) as file:
        for (group, name), array in expected.items():
            data = file[f"{group}/{name}" if group else name]
            found = decoded(data) if ZSTD in filters_of(data) else data[...]
            test.check(same(found, array), f"{what}: {data.name}: found {found.ravel()[:8]}, expected {array.ravel()[:8]}")


def check_reference(test, what):
    """The reference reader makes the same view."""
    found = subprocess.run([sys.executable, REFERENCE, "--findings", test.work / "view.nmb"], capture_output=True, text=True)
    test.check(found.returncode == 0, f"{what}: the reference reader found {found.stdout or found.stderr}")


def compare_objects(test, what, path, converted):
    """nmconvert may choose other storage for values without chunks."""
    differences = Differences()
    netcdf4_view.compare(converted, path, differences)
    for one in differences.found:
        if one[1] in ("netCDF chunks", "netCDF byte order", "netCDF filters"):
            continue
        test.check(False, f"{what}: differs from the .nc4 file: {one}")


def chunks_of(path):
    """Returns (number of objects, number of stored chunks, {filter}) of an HDF5 file."""
    objects, chunks, filters = 0, 0, set()

    def visit(_, thing):
        nonlocal objects, chunks
        objects += 1 + len(thing.attrs) // 8
        if isinstance(thing, h5py.Dataset) and thing.chunks:
            chunks += thing.id.get_num_chunks()
            filters.update(filters_of(thing))

    with h5py.File(path) as file:
        file.visititems(visit)
    return objects, chunks, filters


def values_of(test, path):
    """Returns the bytes of the values of all blocks."""
    listed = json.loads(test.run("nminspect", "ls", "--json", path))
    return sum(block["values"] for block in listed["blocks"])


def check_outputs(test, what, call, expected, may_differ):
    """may_differ: whether values may be coded in another way without a view."""
    test.run("nmcat", *call, "-o", "plain.nmb", "-f", "--hdf5-view", "off")
    test.run("nmcat", *call, "-o", "view.nmb", "-f", "--hdf5-view", "on")
    if test.problems:
        return 0
    test.check("leaves out" not in test.said, f"{what}: {test.said}")
    test.run("nmverify", "view.nmb")
    check_reference(test, what)
    view, plain = test.work / "view.nmb", test.work / "plain.nmb"
    objects, chunks, filters = chunks_of(view)
    values, before = values_of(test, view), values_of(test, plain)
    room = 4096 if may_differ else 0
    test.check(values <= before * 1.02 + room, f"{what}: {values} bytes of values, without a view {before}")
    more = view.stat().st_size - plain.stat().st_size
    most = FILE + OBJECT * objects + CHUNK * chunks + room
    test.check(more <= most, f"{what}: the view adds {more} bytes for {objects} objects and {chunks} chunks")
    if ZSTD in filters:
        compare_zstd(test, what, view, expected)
        return 1
    test.run("nmconvert", "view.nmb", "converted.nc4", "-f")
    compare_values(test, what, view, expected)
    compare_objects(test, what, view, test.work / "converted.nc4")
    return 1


def storage_options(rng, is_classic):
    options = [
        [],
        ["--compress", f"deflate:{rng.integers(1, 10)}"],
        ["--compress", "deflate", "--shuffle"],
        ["--chunk", f"time:{rng.integers(1, 5)}"],
        ["--compress", "deflate:4", "--chunk", f"time:{rng.integers(1, 5)},y:{rng.integers(1, 4)}"],
        ["--compress", "zstd:3"],
    ]
    return options[rng.integers(len(options))]


def check_costs(test):
    """Notes say what a view costs; -q hides no cost of more than 2 % of a file."""
    with netCDF4.Dataset(test.work / "many.nc", "w", format="NETCDF3_64BIT_OFFSET") as out:
        out.createDimension("x", 4)
        for i in range(6000):
            out.createVariable(f"v{i}", "f4", ("x",))
    test.run("nmcat", "many.nc", "-o", "many.nmb", "--hdf5-view", "on", "-q")
    test.check("the HDF5 view takes " in test.said, f"large view: said {test.said}")
    # Records that are too small to be compressed for a view.
    with netCDF4.Dataset(test.work / "records.nc", "w", format="NETCDF3_64BIT_OFFSET") as out:
        out.createDimension("time", None)
        out.createDimension("x", 1000)
        out.createVariable("v", "f4", ("time", "x"))[:] = numpy.zeros((1000, 1000))
    test.run("nmcat", "records.nc", "-o", "records.nmb", "--compress", "deflate", "--hdf5-view", "on", "-q")
    test.check("4000000 bytes of small variables and records are not compressed" in test.said, f"small records: said {test.said}")
    test.run("nmcat", "--mode", "join", "records.nc", "records.nc", "-o", "joined.nmb", "--compress", "deflate", "--hdf5-view", "on", "-q")
    test.check(test.said == "" and (test.work / "joined.nmb").stat().st_size < 200_000, f"joined small records: said {test.said}")


def check_many_chunks(test):
    """More chunks than are looked at together."""
    field = numpy.arange(7000, dtype="i4")
    for i, (first, end) in enumerate(((0, 5000), (5000, 7000))):
        with netCDF4.Dataset(test.work / f"chunks{i}.nc", "w") as out:
            out.createDimension("time", None)
            out.createVariable("v", "i4", ("time",), chunksizes=[1], fletcher32=True)[:] = field[first:end]
    test.run("nmcat", "--mode", "join", "chunks0.nc", "chunks1.nc", "-o", "chunks.nmb", "--hdf5-view", "on")
    compare_values(test, "many chunks", test.work / "chunks.nmb", {("", "v"): field})


def check_set(test, number):
    if number == 0:
        check_costs(test)
        check_many_chunks(test)
    files = Set(number, test.work)
    more = storage_options(files.rng, files.is_classic)
    what = f"set {number}, {files.kind}, {more}"
    compared = check_outputs(test, f"{what}, join", ["--mode", "join", "--along", "time", *files.files, *more], files.expected, bool(more))
    return compared + check_union(test, number, files, more) + check_tiles(test, number, more)


def check_union(test, number, files, more):
    """Each file has some of the variables of the first file."""
    keys = [key for key in files.expected if key[0] == ""]
    with netCDF4.Dataset(test.work / files.files[0]) as first:
        first.set_auto_maskandscale(False)
        names = [name for name in first.variables if name != "x"]
        parts = [names[::2], names[1::2]]
        expected = {("", name): first[name][...] for name in names}
        for i, part in enumerate(parts):
            subprocess.run(["nccopy", "-V", ",".join(part), files.files[0], f"u{i}.nc"], cwd=test.work, check=True) if part else None
    inputs = [f"u{i}.nc" for i, part in enumerate(parts) if part]
    if len(inputs) < 2 or not keys:
        return 0
    return check_outputs(test, f"set {number}, {more}, union", ["--mode", "union", *inputs, *more], expected, bool(more))


def check_tiles(test, number, more):
    rng = numpy.random.default_rng(number + 1000)
    chunks = [int(n) for n in rng.integers(1, 4, 3)]
    cuts = [[0, *numpy.cumsum(rng.integers(1, 6, rng.integers(1, 4))).tolist()] for _ in range(2)]
    shape = [int(rng.integers(1, 5)), cuts[0][-1], cuts[1][-1]]
    field = rng.integers(0, 99, shape).astype(CLASSIC_KINDS[rng.integers(5)])
    kind = "NETCDF4" if rng.random() < 0.6 else "NETCDF3_CLASSIC"
    names = []
    for y0, y1 in zip(cuts[0], cuts[0][1:]):
        for x0, x1 in zip(cuts[1], cuts[1][1:]):
            names.append(f"t{len(names)}.nc")
            with netCDF4.Dataset(test.work / names[-1], "w", format=kind) as out:
                out.createDimension("time", None)
                define_axes(out, ("y", y0, y1, shape[1]), ("x", x0, x1, shape[2]))
                most = [99, y1 - y0, x1 - x0]
                options = {"zlib": True, "chunksizes": [min(n, m) for n, m in zip(chunks, most)]} if kind == "NETCDF4" else {}
                out.createVariable("v", field.dtype, ("time", "y", "x"), **options)[:] = field[:, y0:y1, x0:x1]
    expected = {("", "v"): field, ("", "x"): numpy.arange(shape[2], dtype="f8"), ("", "y"): numpy.arange(shape[1], dtype="f8")}
    return check_outputs(test, f"tiles {number}, {kind}, {more}", ["--mode", "tiles", *names, *more], expected, bool(more))


if __name__ == "__main__":
    sys.exit(main(__doc__, check_set, few=16, many=200, least=2))
