#!/usr/bin/python3
"""Random sets of netCDF-4 files, joined (or, as tiles, put together) by nmcat to .nmb, .nc4 and .nc (classic). The outputs have the values that
numpy makes of the inputs and that ncrcat writes, the types, dimensions and attributes of the first input, and the
chunks and filters of the first input that has chunks.

    generated_joins_test.py --tools build/release/tools [--sets 12] [--first 0]

`./night` tries 200 sets. Skipped (exit code 77) without h5py or netCDF4-python.
"""

import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from generated_sets import define_axes, main  # noqa: E402
from tool_runs import as_netcdf, h5py, netCDF4, numpy  # noqa: E402

KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1")
DEFLATE, SHUFFLE, SUM = 1, 2, 3
SMALL = 65536


class Variable:
    def __init__(self, rng, number, shape):
        self.name, self.shape = f"v{number}", shape
        self.kind = KINDS[rng.integers(len(KINDS))]
        self.fill = None
        if rng.random() < 0.3 and self.kind != "S1":
            self.fill = numpy.array(rng.integers(1, 100)).astype(self.kind)
        self.big = bool(rng.random() < 0.2) and self.kind not in ("S1", "i1", "u1")
        self.attributes = {"long_name": f"variable {number}", "range": rng.integers(0, 9, rng.integers(1, 4)).astype("i2")}
        if rng.random() < 0.5:
            self.attributes["units"] = "K"


class Set:
    """Files f0.nc, f1.nc, ... that are joined along `along`."""

    def __init__(self, number, work):
        self.rng = rng = numpy.random.default_rng(number)
        self.work = work
        names = [f"d{i}" for i in range(rng.integers(2, 5))]
        self.lengths = {name: int(rng.integers(1, 9)) for name in names}
        self.along = "time"
        # The position of the joined dimension in the shapes: mostly the slowest.
        self.is_slowest = rng.random() < 0.75
        # A second dimension that may grow.
        self.second = names[0] if rng.random() < 0.3 else None
        self.is_unlimited = rng.random() < 0.8
        self.variables = []
        for v in range(int(rng.integers(1, 6))):
            others = [str(name) for name in rng.permutation(names)[: rng.integers(0, 4)]]
            place = 0 if self.is_slowest else int(rng.integers(0, len(others) + 1))
            shape = others if rng.random() < 0.15 else others[:place] + [self.along] + others[place:]
            self.variables.append(Variable(rng, v, shape))
        if not any(self.along in v.shape for v in self.variables):
            self.variables.append(Variable(rng, 9, [self.along]))
        chunk = int(rng.integers(1, 4))
        # In half of the sets, each file has whole chunks.
        factor = chunk if rng.random() < 0.5 else 1
        self.counts = [int(rng.integers(1, 5)) * factor for _ in range(rng.integers(2, 6))]
        self.storage = {v.name: self.draw(v, chunk) for v in self.variables}
        self.expected = {}
        self.files = [f"f{i}.nc" for i in range(len(self.counts))]
        parts = [self.make(work / name, i) for i, name in enumerate(self.files)]
        for v in self.variables:
            arrays = [part[v.name] for part in parts]
            self.expected[v.name] = (
                numpy.concatenate(arrays, v.shape.index(self.along)) if self.along in v.shape else arrays[0]
            )

    def draw(self, v, chunk):
        """Chunks and filters of a variable, as options of createVariable."""
        rng = self.rng
        grows = (self.is_unlimited and self.along in v.shape) or self.second in v.shape
        if not v.shape or (not grows and rng.random() < 0.5):
            return {"contiguous": True} if v.shape else {}
        chunks = [chunk if d == self.along else int(rng.integers(1, self.lengths[d] + 1)) for d in v.shape]
        if self.along in v.shape and not self.is_unlimited:
            chunks[v.shape.index(self.along)] = 1
        options = {"chunksizes": chunks}
        if rng.random() < 0.6:
            options |= {"zlib": True, "complevel": int(rng.integers(1, 10)), "shuffle": bool(rng.random() < 0.6)}
        if rng.random() < 0.25:
            options["fletcher32"] = True
        return options

    def make(self, path, number):
        rng = self.rng
        values = {}
        with netCDF4.Dataset(path, "w") as out:
            out.set_auto_maskandscale(False)
            out.title = "generated"
            out.history = f"made as {number}"
            out.createDimension(self.along, None if self.is_unlimited else self.counts[number])
            for name, length in self.lengths.items():
                out.createDimension(name, None if name == self.second else length)
            for v in self.variables:
                options = dict(self.storage[v.name])
                if number > 0 and rng.random() < 0.2:
                    options = self.draw(v, int(rng.integers(1, 4)))
                elif "complevel" in options and number > 0:
                    options["complevel"] = int(rng.integers(1, 10))
                stored = numpy.dtype(v.kind).newbyteorder(">" if v.big else "<")
                made = out.createVariable(
                    v.name, stored, v.shape, fill_value=v.fill, endian="big" if v.big else "native", **options
                )
                made.set_auto_maskandscale(False)
                made.set_auto_chartostring(False)
                made.setncatts(v.attributes)
                lengths = [self.counts[number] if d == self.along else self.lengths[d] for d in v.shape]
                # A constant variable has the same values in all files.
                source = rng if self.along in v.shape else numpy.random.default_rng(77)
                array = source.integers(0, 100, lengths).astype("u1")
                array = array.view("S1") if v.kind == "S1" else array.astype(v.kind)
                if lengths:
                    # The last element determines how long an unlimited dimension is.
                    if rng.random() < 0.2 and self.along in v.shape:
                        made[tuple(n - 1 for n in lengths)] = array[tuple(n - 1 for n in lengths)]
                    else:
                        made[:] = array
                else:
                    made[...] = array
            # Every variable is as long as its dimensions, so that no storage is left short.
        with netCDF4.Dataset(path) as back:
            for v in self.variables:
                back[v.name].set_auto_maskandscale(False)
                back[v.name].set_auto_chartostring(False)
                values[v.name] = back[v.name][...]
        return values


def attributes_of(owner):
    return {
        name: numpy.asarray(owner.getncattr(name)).tolist()
        for name in owner.ncattrs()
        if name not in ("history", "NCO", "_NCProperties")
    }


def storage_of(path, name):
    with h5py.File(path) as file:
        data = file[name]
        plist = data.id.get_create_plist()
        filters = {plist.get_filter(i)[0]: plist.get_filter(i)[2] for i in range(plist.get_nfilters())}
        return data.chunks, filters, data.dtype.str, data.maxshape


def compare(test, what, path, files, is_classic=False):
    with netCDF4.Dataset(path) as found, netCDF4.Dataset(test.work / files.files[0]) as first:
        test.check(attributes_of(found) == attributes_of(first), f"{what}: attributes {attributes_of(found)}")
        test.check(list(found.variables) == list(first.variables), f"{what}: variables {list(found.variables)}")
        for name, dimension in first.dimensions.items():
            # ncrcat drops dimensions that no variable uses.
            if name not in found.dimensions and not any(name in v.shape for v in files.variables):
                continue
            length = sum(files.counts) if name == files.along else len(dimension)
            test.check(name in found.dimensions and len(found.dimensions[name]) == length, f"{what}: dimension {name}")
            if not is_classic and name in found.dimensions:
                test.check(
                    found.dimensions[name].isunlimited() == dimension.isunlimited(), f"{what}: dimension {name} grows"
                )
        for v in files.variables:
            if v.name not in found.variables:
                continue
            one, expected = found[v.name], files.expected[v.name]
            one.set_auto_maskandscale(False)
            one.set_auto_chartostring(False)
            values = one[...]
            test.check(one.dimensions == tuple(v.shape), f"{what}: {v.name}: dimensions {one.dimensions}")
            test.check(
                values.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
                and values.shape == expected.shape and (values == expected).all(),
                f"{what}: {v.name}: found {values.dtype} {values.shape} {values.ravel()[:8]}, "
                f"expected {expected.dtype} {expected.shape} {expected.ravel()[:8]}",
            )
            test.check(
                attributes_of(one) == attributes_of(first[v.name]), f"{what}: {v.name}: attributes {attributes_of(one)}"
            )


def expected_chunks(files, v, chunks, length):
    """Chunks that --chunk DIM:LEN changes. length: DIM and LEN, or None."""
    if not length or length[0] not in v.shape:
        return chunks
    grows = (files.is_unlimited and length[0] == files.along) or length[0] == files.second
    most = length[1] if grows else files.expected[v.name].shape[v.shape.index(length[0])]
    return tuple(min(length[1], most) if d == length[0] else n for d, n in zip(v.shape, chunks))


def compare_storage(test, what, path, files, level, length):
    for v in files.variables:
        # Also of a constant variable, the first file that has chunks counts.
        options = [storage_of(test.work / name, v.name) for name in files.files]
        found = storage_of(path, v.name)
        with_chunks = [one for one in options if one[0]]
        size = files.expected[v.name].nbytes
        if not with_chunks and length and length[0] in v.shape:
            expected = expected_chunks(files, v, found[0] or (), length)
            test.check(found[0] and found[0] == expected, f"{what}: {v.name}: found chunks {found}, asked {length}")
            continue
        if not with_chunks:
            test.check(found[0] is None, f"{what}: {v.name}: found chunks {found}")
            continue
        chunks, filters, kind, _ = with_chunks[0]
        chunks = expected_chunks(files, v, chunks, length)
        grows = (files.is_unlimited and files.along in v.shape) or files.second in v.shape
        if level and (grows or size > SMALL or len(v.shape) > 1):
            sums = {SUM: filters[SUM]} if SUM in filters else {}
            shuffle = {SHUFFLE: filters[SHUFFLE]} if SHUFFLE in filters and v.kind not in ("i1", "u1", "S1") else {}
            filters = {DEFLATE: (level,)} | sums | shuffle
        test.check(
            found[:3] == (chunks, filters, kind), f"{what}: {v.name}: found storage {found}, expected {chunks, filters, kind}"
        )


def check_set(test, number):
    check_joins(test, number)
    if number % 2 == 0:
        check_tiles(test, number // 2)


def check_joins(test, number):
    files = Set(number, test.work)
    level = int(files.rng.integers(1, 10)) if files.rng.random() < 0.25 else None
    call = ["--mode", "join", *files.files, *([] if files.is_unlimited and files.second is None else ["--along", files.along])]
    more, length = ["--compress", f"deflate:{level}"] if level else [], None
    if not level and files.rng.random() < 0.25:
        shape = files.variables[0].shape
        length = (shape[0], int(files.rng.integers(1, 6))) if shape else None
        more = ["--chunk", f"{length[0]}:{length[1]}"] if length else []
    what = f"set {number}"
    for output in ("out.nmb", "out.nc4"):
        test.run("nmcat", *call, *more, "-o", output)
        if not (test.work / output).exists():
            return
        if output == "out.nc4":
            test.run("nmverify", output)
        seen = as_netcdf(test, output)
        compare(test, f"{what}, {output}", seen, files)
        compare_storage(test, f"{what}, {output}", seen, files, level, length)
    # Classic files have one unlimited dimension, which is the slowest.
    lists = [v.shape for v in files.variables]
    growing = [d for d, is_one in ((files.along, files.is_unlimited), (files.second, files.second)) if is_one]
    fits = len(growing) < 2 and all(d not in shape[1:] for d in growing for shape in lists)
    test.run("nmcat", *call, "-o", "out.nc", "--to", "cdf5", exit_code=0 if fits else 1)
    if fits:
        compare(test, f"{what}, out.nc", test.work / "out.nc", files, is_classic=True)
    # ncrcat joins along the first unlimited dimension, if it is the slowest.
    if shutil.which("ncrcat") and files.is_unlimited and fits:
        subprocess.run(["ncrcat", "-h", "--no_cll_mth", "-O", *files.files, "theirs.nc"], cwd=test.work, check=True, capture_output=True)
        compare(test, f"{what}, ncrcat", test.work / "theirs.nc", files)


def check_tiles(test, number):
    """A field that is cut into tiles at random places; in half of the sets, the places fit the chunks."""
    rng = numpy.random.default_rng(number)
    chunks = [int(n) for n in rng.integers(1, 4, 3)]
    cuts = []
    for chunk in chunks[1:]:
        step = chunk if number % 2 else 1
        cuts.append([0, *numpy.cumsum(rng.integers(1, 4, rng.integers(1, 4)) * step).tolist()])
    shape = [int(rng.integers(1, 5)), cuts[0][-1], cuts[1][-1]]
    field = rng.integers(0, 99, shape).astype(KINDS[rng.integers(10)])
    filters = {"zlib": bool(rng.random() < 0.7), "shuffle": bool(rng.random() < 0.5), "fletcher32": bool(rng.random() < 0.3)}
    names = []
    for y0, y1 in zip(cuts[0], cuts[0][1:]):
        for x0, x1 in zip(cuts[1], cuts[1][1:]):
            names.append(f"t{len(names)}.nc")
            with netCDF4.Dataset(test.work / names[-1], "w") as out:
                out.createDimension("time", None)
                define_axes(out, ("y", y0, y1, shape[1]), ("x", x0, x1, shape[2]))
                limits = [99, y1 - y0, x1 - x0]
                made = out.createVariable(
                    "v", field.dtype, ("time", "y", "x"), complevel=int(rng.integers(1, 10)),
                    chunksizes=[min(n, most) for n, most in zip(chunks, limits)], **filters
                )
                made[:] = field[:, y0:y1, x0:x1]
    rng.shuffle(names)
    for output in ("tiles.nmb", "tiles.nc4", "tiles.nc"):
        what = f"tiles {number}, {output}"
        test.run("nmcat", "--mode", "tiles", *names, "-o", output)
        seen = as_netcdf(test, output)
        with netCDF4.Dataset(seen) as file:
            file["v"].set_auto_maskandscale(False)
            found = file["v"][:]
            test.check(found.shape == field.shape and (found == field).all(), f"{what}: other values")
            test.check((file["x"][:] == numpy.arange(shape[2])).all(), f"{what}: another coordinate")
        if output != "tiles.nc":
            found, first = storage_of(seen, "v"), storage_of(test.work / names[0], "v")
            found[1].pop(DEFLATE, None), first[1].pop(DEFLATE, None)
            test.check(found[:3] == first[:3], f"{what}: found storage {found}, expected {first}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check_set, few=12, many=200))
