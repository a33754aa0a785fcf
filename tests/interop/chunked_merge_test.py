#!/usr/bin/python3
"""nmcat --mode join, union and tiles of netCDF-4 and HDF5 files whose values are stored in chunks. The output has the
values that numpy and ncrcat make of the inputs, and the chunks and filters of the inputs. Chunks that fit keep their
stored bytes. Options change chunks and filters of all variables or of one.

    chunked_merge_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import itertools
import json
import random
import resource
import shutil
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True
from tool_runs import as_netcdf, h5py, main, netCDF4, numpy  # noqa: E402

NY, NX = 12, 20
OUTPUTS = ("nmb", "nc4", "h5")


class Field:
    """A variable of the inputs: its type, its chunks and its filters."""

    def __init__(self, kind="f4", chunk=(2, 6, 10), **filters):
        self.kind, self.chunk, self.filters = numpy.dtype(kind), chunk, filters
        # netCDF4-python warns if the type and the option disagree.
        self.stored = self.kind.newbyteorder(">" if filters.get("endian") == "big" else "<")

    def values(self, first, count):
        steps = numpy.arange(first, first + count)[:, None, None] * 1000
        return (steps + numpy.arange(NY * NX).reshape(NY, NX)).astype(self.kind)


PLAIN = Field()
ZLIB = Field(zlib=True, complevel=4, shuffle=True)
SUMS = Field("i2", zlib=True, complevel=1, shuffle=False, fletcher32=True)
BIG = Field("f8", zlib=True, complevel=2, shuffle=True, endian="big")


# netCDF4-python says that the byte order of numbers of one byte does not match.
warnings.filterwarnings("ignore", "endian-ness")


def make(path, fields, first, count, title="run", records=None, **more):
    with netCDF4.Dataset(path, "w") as out:
        out.title = title
        out.history = "made"
        out.tracking_id = f"hdl:{path.name}"
        out.createDimension("time", records)
        out.createDimension("y", NY)
        out.createDimension("x", NX)
        time = out.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = numpy.arange(first, first + count)
        out.createVariable("x", "f4", ("x",))[:] = numpy.arange(NX) * 0.5
        for name, field in fields.items():
            variable = out.createVariable(
                name, field.stored, ("time", "y", "x"), chunksizes=field.chunk, **(field.filters | more)
            )
            variable.units = "K"
            variable.long_name = name
            variable.set_auto_mask(False)
            if count:
                variable[:] = field.values(first, count)


def storage(path, name):
    """Chunks and filters as h5py shows them."""
    with h5py.File(path) as file:
        data = file[name]
        plist = data.id.get_create_plist()
        filters = [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]
        return data.chunks, filters, data.dtype.str, data.fillvalue.tobytes(), data.maxshape[0] is None


def stored(path, name):
    """The stored bytes and the mask of each chunk, by its place."""
    with h5py.File(path) as file:
        data = file[name].id
        places = [data.get_chunk_info(i).chunk_offset for i in range(data.get_num_chunks())]
        return {place: data.read_direct_chunk(place) for place in places}


def expect_values(test, what, path, name, expected):
    with netCDF4.Dataset(path) as file:
        variable = file[name]
        variable.set_auto_mask(False)
        found = variable[:]
    test.check(
        found.dtype.newbyteorder("=") == expected.dtype and found.shape == expected.shape and (found == expected).all(),
        f"{what}: {name}: found {found.dtype} {found.shape} {found.ravel()[:6]}, "
        f"expected {expected.dtype} {expected.shape} {expected.ravel()[:6]}",
    )


def expect_storage(test, what, path, name, like, **changed):
    found, expected = storage(path, name), list(storage(like, name))
    for place, key in enumerate(("chunk", "filters")):
        expected[place] = changed.get(key, expected[place])
    test.check(found == tuple(expected), f"{what}: {name}: found storage {found}, expected {tuple(expected)}")


def check_attributes(test, what, path, like):
    with netCDF4.Dataset(path) as a, netCDF4.Dataset(like) as b:
        test.check(a.title == b.title, f"{what}: title {a.title}")
        test.check("tracking_id" not in a.ncattrs(), f"{what}: tracking_id was kept")
        lines = a.history.split("\n")
        test.check(len(lines) == 2 and lines[1] == "made", f"{what}: history {a.history!r}")
        test.check(lines[0].startswith("nmcat "), f"{what}: history {a.history!r}")
        for name in b.variables:
            test.check(a[name].dimensions == b[name].dimensions, f"{what}: {name}: {a[name].dimensions}")
            found = {key: a[name].getncattr(key) for key in a[name].ncattrs()}
            expected = {key: b[name].getncattr(key) for key in b[name].ncattrs()}
            test.check(found == expected, f"{what}: {name}: attributes {found}, expected {expected}")
        for name, dimension in b.dimensions.items():
            test.check(a.dimensions[name].isunlimited() == dimension.isunlimited(), f"{what}: dimension {name}")


def check_joins(test):
    """Each field, with parts whose chunks fit and parts whose chunks do not."""
    fields = {"plain": PLAIN, "zlib": ZLIB, "sums": SUMS, "big": BIG}
    for number, counts in enumerate(((4, 2, 6), (4, 4, 3), (3, 5, 4), (4, 1, 5), (0, 4, 2))):
        names, first = [], 0
        for i, count in enumerate(counts):
            names.append(f"j{number}_{i}.nc")
            make(test.work / names[-1], fields, first, count)
            first += count
        for kind in OUTPUTS:
            what = f"join of {counts} to {kind}"
            output = f"j{number}.{kind}"
            test.run("nmcat", "--mode", "join", *names, "-o", output)
            path = as_netcdf(test, output)
            check_attributes(test, what, path, test.work / names[0])
            fits = set(itertools.accumulate(counts[:-1], initial=0))
            for name, field in fields.items():
                expect_values(test, what, path, name, field.values(0, first))
                expect_storage(test, what, path, name, test.work / names[0])
                found = stored(path, name)
                for i, begin in enumerate(itertools.accumulate(counts[:-1], initial=0)):
                    if begin % 2 or not fits:
                        continue
                    for (t, *rest), chunk in stored(test.work / names[i], name).items():
                        is_whole = t + 2 <= counts[i] or begin + counts[i] == first
                        if is_whole:
                            test.check(
                                found.get((begin + t, *rest)) == chunk,
                                f"{what}: {name}: chunk {t, *rest} of part {i} has other bytes",
                            )
            expect_values(test, what, path, "time", numpy.arange(first, dtype="f8"))
        # All ranks and threads write the same bytes.
        test.run("nmcat", "--mode", "join", *names, "-o", "one.nmb", "-f", "-j", "1")
        test.check(
            (test.work / "one.nmb").read_bytes() == (test.work / f"j{number}.nmb").read_bytes(),
            f"join of {counts}: another number of threads writes other bytes",
        )


def check_like_ncrcat(test):
    if not shutil.which("ncrcat"):
        return
    for i, count in enumerate((4, 3, 5)):
        make(test.work / f"n{i}.nc", {"zlib": ZLIB}, (0, 4, 7)[i], count)
    files = [f"n{i}.nc" for i in range(3)]
    subprocess.run(["ncrcat", "-O", *files, "theirs.nc"], cwd=test.work, check=True)
    test.run("nmcat", "--mode", "join", *files, "-o", "ours.nc4")
    with netCDF4.Dataset(test.work / "theirs.nc") as file:
        for name in file.variables:
            file[name].set_auto_mask(False)
            expect_values(test, "ncrcat", test.work / "ours.nc4", name, file[name][:])


def check_differing(test):
    """Chunks, filters, levels, byte orders and fill values that differ from those of the first input."""
    others = {
        "level": (Field(zlib=True, complevel=9, shuffle=True), True),
        "shape": (Field(chunk=(4, 3, 20), zlib=True, complevel=4, shuffle=True), False),
        "filters": (Field(zlib=True, complevel=4, shuffle=False), False),
        "order": (Field(zlib=True, complevel=4, shuffle=True, endian="big"), False),
        "none": (Field(chunk=(1, 12, 20)), False),
    }
    make(test.work / "first.nc", {"v": ZLIB}, 0, 4)
    for name, (field, keeps) in others.items():
        make(test.work / "other.nc", {"v": field}, 4, 4)
        for kind in OUTPUTS:
            output = f"d_{name}.{kind}"
            test.run("nmcat", "--mode", "join", "first.nc", "other.nc", "-o", output)
            path = as_netcdf(test, output)
            what = f"different {name}, {kind}"
            expect_values(test, what, path, "v", ZLIB.values(0, 8))
            expect_storage(test, what, path, "v", test.work / "first.nc")
            moved = stored(path, "v").get((4, 0, 0)) == stored(test.work / "other.nc", "v")[0, 0, 0]
            test.check(moved == keeps, f"{what}: {'other bytes' if keeps else 'the same bytes'}")
    # A classic file has no chunks.
    subprocess.run(["nccopy", "-k", "cdf5", "first.nc", "classic.nc"], cwd=test.work, check=True)
    make(test.work / "later.nc", {"v": ZLIB}, 4, 4)
    for files in (("first.nc", "later.nc"), ("classic.nc", "later.nc")):
        test.run("nmcat", "--mode", "join", *files, "-o", "mixed.nc4", "-f")
        expect_values(test, f"join of {files}", test.work / "mixed.nc4", "v", ZLIB.values(0, 8))
        expect_storage(test, f"join of {files}", test.work / "mixed.nc4", "v", test.work / "later.nc")


def widened(variable, kind):
    """The values of a variable as --on-mismatch=widen gives them; default fill values become those of the new type."""
    values = variable[:]
    if "_FillValue" in variable.ncattrs() or values.dtype.itemsize == 1 or values.dtype == kind:
        return values.astype(kind)
    return numpy.where(values == netCDF4.default_fillvals[values.dtype.str[1:]], netCDF4.default_fillvals[kind],
                       values.astype(kind)).astype(kind)


def check_widened(test):
    """--on-mismatch=widen: the united variable has the chunks, the filters and the byte order of the first input."""
    shuffled = {"zlib": True, "complevel": 3, "shuffle": True}
    for number, (kinds, wide) in enumerate((
        (("i2", "i4", "i2"), "i4"), (("i4", "i2", "i4"), "i4"), (("i2", "f4", "u1"), "f4"), (("i4", "f4", "f8"), "f8"),
        (("u2", "i2", "i2"), "i4"), (("f8", "i1", "f4"), "f8"), (("i8", "u4", "i1"), "i8"),
    )):
        for fill in (False, True):
            endian, files, first = ("little", "big")[(number + fill) % 2], [], 0
            for i, (kind, count) in enumerate(zip(kinds, (4, 3, 5))):
                files.append(f"w{i}.nc")
                # The second file has other chunks than the first, the third has the same.
                field = Field(kind, (2, 6, 10) if i % 2 == 0 else (3, 4, 20), endian=endian, **shuffled)
                make(test.work / files[-1], {"v": field}, first, count, **({"fill_value": 7} if fill else {}))
                with netCDF4.Dataset(test.work / files[-1], "a") as file:
                    file["v"].set_auto_mask(False)
                    # Beside another _FillValue, this is a value as any other.
                    if numpy.dtype(kind).itemsize < numpy.dtype(wide).itemsize or not fill:
                        file["v"][1, 2:4] = netCDF4.default_fillvals[kind]
                    # Some chunks of the last steps are never written.
                    file["v"][count + 3, 0, 0] = 1
                first += count + 4
            expected = []
            for name in files:
                with netCDF4.Dataset(test.work / name) as file:
                    file["v"].set_auto_mask(False)
                    expected.append(widened(file["v"], wide))
            expected = numpy.concatenate(expected)
            for kind in ("nmb", "nc4"):
                what = f"widened {kinds}, {endian}, {kind}"
                output = f"w{number}.{kind}"
                test.run("nmcat", "--mode", "join", *files, "-o", output, "-f", "--on-mismatch", "widen")
                path = as_netcdf(test, output)
                expect_values(test, what, path, "v", expected)
                order = ">" if endian == "big" else "<"
                filler = numpy.array(7 if fill else netCDF4.default_fillvals[wide], wide)
                if kinds[0] in ("i1", "u1") and not fill:
                    filler = numpy.array(netCDF4.default_fillvals[kinds[0]], wide)
                stored_as = numpy.dtype(wide).newbyteorder(order)
                found = storage(path, "v")
                wanted = ((2, 6, 10), [2, 1], stored_as.str, filler.tobytes(), True)
                test.check(found == wanted, f"{what}: found storage {found}, expected {wanted}")
                with h5py.File(path) as file:
                    plist = file["v"].id.get_create_plist()
                    found = [plist.get_filter(i)[2] for i in range(2)]
                    test.check(found == [(stored_as.itemsize,), (3,)], f"{what}: found parameters {found}")
                if kinds[0] == wide and kind == "nc4":
                    test.check(
                        stored(path, "v")[2, 6, 10] == stored(test.work / files[0], "v")[2, 6, 10],
                        f"{what}: a chunk of the united type has other bytes",
                    )


def check_sums(test):
    """A copied chunk with a wrong checksum is an error, wherever the checksum is among the filters."""
    for name, filters in {
        "sum": {"fletcher32": True},
        "sum_inside": {"fletcher32": True, "compression": "gzip", "netcdf": True},
        "sum_outside": {"fletcher32": True, "compression": "gzip", "shuffle": True},
    }.items():
        for i in range(2):
            path = test.work / f"{name}{i}.nc"
            if filters.get("netcdf"):
                make(path, {"v": Field(zlib=True, complevel=1, shuffle=True, fletcher32=True)}, 4 * i, 4)
                continue
            with h5py.File(path, "w") as out:
                out.create_dataset("v", data=ZLIB.values(4 * i, 4), chunks=(2, 6, 10), maxshape=(None, NY, NX), **filters)
        files = [f"{name}0.nc", f"{name}1.nc"]
        join = ["--mode", "join", *([] if filters.get("netcdf") else ["--along", "axis:0"])]
        with h5py.File(test.work / files[1]) as file:
            order = storage(test.work / files[1], "v")[1]
            chunk = file["v"].id.get_chunk_info(3)
        test.check(3 in order, f"{name}: found filters {order}")
        for kind in OUTPUTS:
            test.run("nmcat", *join, *files, "-o", f"sound.{kind}", "-f")
            expect_values(test, name, as_netcdf(test, f"sound.{kind}"), "v", ZLIB.values(0, 8))
        # The last byte of the values, or a byte of the checksum in the chunk.
        for at in (chunk.size - 5, chunk.size - 1):
            whole = (test.work / files[1]).read_bytes()
            place = chunk.byte_offset + at
            (test.work / files[1]).write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            for kind in OUTPUTS:
                test.run("nmcat", *join, *files, "-o", f"damaged.{kind}", exit_code=1,
                         says=f"nmcat: {files[1]}: variable v: chunk at index 4, 6, 10 of the result: found a chunk ")
                test.check(not (test.work / f"damaged.{kind}").exists(), f"{name}: damage was copied to {kind}")
            (test.work / files[1]).write_bytes(whole)


def check_impossible_filters(test):
    """Filters whose parameters no encoder can use. The chunks skip their filter."""
    for i, level in enumerate(((), (4000000000,))):
        with h5py.File(test.work / f"level{i}.h5", "w") as out:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((3,))
            plist.set_filter(h5py.h5z.FILTER_DEFLATE, h5py.h5z.FLAG_OPTIONAL, level)
            space = h5py.h5s.create_simple((4,), (h5py.h5s.UNLIMITED,))
            data = h5py.h5d.create(out.id, b"v", h5py.h5t.STD_I32LE, space, plist)
            for first in (0, 3):
                data.write_direct_chunk((first,), numpy.arange(first, first + 3, dtype="<i4").tobytes(), 1)
    for files, level in ((("level0.h5", "level1.h5"), 1), (("level1.h5", "level0.h5"), 9)):
        test.run("nmcat", "--mode", "join", "--along", "axis:0", *files, "-o", "level.h5", "-f")
        with h5py.File(test.work / "level.h5") as file:
            test.check(file["v"][:].tolist() == [0, 1, 2, 3] * 2, f"{files}: found {file['v'][:]}")
            test.check(file["v"].compression_opts == level, f"{files}: found level {file['v'].compression_opts}")


def check_unwritten(test):
    """Chunks that were never written stay so, and read as the fill value."""
    for i in range(2):
        with netCDF4.Dataset(test.work / f"u{i}.nc", "w") as out:
            out.createDimension("time", None)
            out.createDimension("x", 8)
            variable = out.createVariable(
                "v", "i4", ("time", "x"), zlib=True, chunksizes=(2, 4), fill_value=numpy.int32(-5)
            )
            variable[3, 5] = 7 + i
    test.run("nmcat", "--mode", "join", "u0.nc", "u1.nc", "-o", "u.nc4")
    expected = numpy.full((8, 8), -5, "i4")
    expected[3, 5], expected[7, 5] = 7, 8
    expect_values(test, "unwritten chunks", test.work / "u.nc4", "v", expected)
    found = stored(test.work / "u.nc4", "v")
    test.check(set(found) == {(2, 4), (6, 4)}, f"unwritten chunks: found {sorted(found)}")


def make_part(path, first, count, lengths, kinds):
    """A part of an array of two dimensions. kinds: how each variable is stored; None if the part does not have it."""
    with netCDF4.Dataset(path, "w") as out:
        for name, start, length, whole in zip("yx", first, count, lengths):
            out.createDimension(name, length)
            axis = out.createVariable(name, "i4", (name,))
            axis[:] = numpy.arange(start, start + length)
            axis.domain_decomposition = numpy.array([1, whole, start + 1, start + length], "i4")
        rows = numpy.arange(first[0], first[0] + count[0])
        columns = numpy.arange(first[1], first[1] + count[1])
        for number, (name, kind) in enumerate(kinds.items()):
            if kind is None:
                continue
            is_chunked, order, dimensions = kind
            values = rows[:, None] * 100 + columns + number * 10000
            if dimensions == ("y",):
                values = rows * 100 + number * 10000
            variable = out.createVariable(
                name, order + "i4", dimensions, contiguous=not is_chunked,
                chunksizes=[2] * len(dimensions) if is_chunked else None,
            )  # fmt: skip
            variable[:] = values


def check_missing(test):
    """With --missing=fill, values of variables that only some inputs have are at their places, with and without chunks."""
    choice = random.Random(1)
    fill = netCDF4.default_fillvals["i4"]
    for number in range(8):
        is_tiles = number % 2 == 1
        parts = [((y, x), (3, 4)) for y in (0, 3) for x in (0, 4)] if is_tiles else [((y, 0), (3, 4)) for y in (0, 3, 6)]
        lengths = (6, 8) if is_tiles else (9, 4)
        names = {
            name: (choice.choice([("y", "x"), ("y",)]), choice.choice(["<", ">"])) for name in "abcd"
        }  # fmt: skip
        expected = {name: numpy.full(lengths if len(d) == 2 else lengths[:1], fill, "i4") for name, (d, _) in names.items()}
        files, present = [], set()
        for i, (first, count) in enumerate(parts):
            kinds = {
                name: (choice.random() < 0.4, order, dimensions) if choice.random() < 0.6 else None
                for name, (dimensions, order) in names.items()
            }
            files.append(f"missing{i}.nc")
            make_part(test.work / files[-1], first, count, lengths, kinds)
            for v, (name, kind) in enumerate(kinds.items()):
                if kind is None:
                    continue
                present.add(name)
                rows = numpy.arange(first[0], first[0] + count[0])
                columns = numpy.arange(first[1], first[1] + count[1])
                if kind[2] == ("y",):
                    expected[name][rows] = rows * 100 + v * 10000
                else:
                    expected[name][numpy.ix_(rows, columns)] = rows[:, None] * 100 + columns + v * 10000
        options = ["--mode", "tiles"] if is_tiles else ["--mode", "join", "--along", "y"]
        for ending in OUTPUTS:
            test.run("nmcat", *options, "--missing=fill", *files, "-o", f"missing.{ending}", "-f")
            seen = as_netcdf(test, f"missing.{ending}")
            for name in sorted(present):
                expect_values(test, f"missing variables, set {number}, {ending}", seen, name, expected[name])


def check_grown(test):
    """A joined file, or a subset, that grows later has fill values in its new records, not bytes that were left over."""
    expected = numpy.arange(1, 31, dtype="i4").reshape(10, 3)

    def expect_growing(what, path, count):
        with h5py.File(path, "r+") as file:
            file["v"].resize(12, 0)
            found = file["v"][:]
        test.check((found[:count] == expected[:count]).all() and (found[count:] == -5).all(), f"{what} grows: {found[count - 1:]}")

    def make_records(name, first, end, kind="NETCDF4"):
        with netCDF4.Dataset(test.work / name, "w", format=kind) as out:
            out.createDimension("time", None)
            out.createDimension("x", 3)
            chunks = {"chunksizes": (4, 2), "zlib": True} if kind == "NETCDF4" else {}
            out.createVariable("v", "i4", ("time", "x"), fill_value=-5, **chunks)[:] = expected[first:end]

    make_records("growing.nc", 0, 10)
    make_records("some.nc", 0, 4)
    make_records("classic.nc", 4, 10, "NETCDF3_64BIT_OFFSET")
    for first, count in ((0, 6), (0, 8), (0, 10)):
        test.run("nmconvert", "growing.nc", "part.nc4", "--slab", f"time={first}:{count}", "-f")
        expect_growing(f"subset of {count} records", test.work / "part.nc4", count)
    for compress in ([], ["--compress", "deflate:3"]):
        for files in (("some.nc", "classic.nc"), ("growing.nc",)):
            test.run("nmcat", "--mode", "join", *files, "-o", "grown.nc4", "-f", *compress)
            expect_growing(f"{files} {compress}", test.work / "grown.nc4", 10)


def check_options(test):
    """--compress, --shuffle and --chunk, for inputs with and without chunks."""
    make(test.work / "o0.nc", {"a": ZLIB, "b": PLAIN}, 0, 4)
    make(test.work / "o1.nc", {"a": ZLIB, "b": PLAIN}, 4, 4)
    for i in range(2):
        subprocess.run(["nccopy", "-k", "cdf5", f"o{i}.nc", f"c{i}.nc"], cwd=test.work, check=True)
    calls = {
        ("--chunk", "time:4"): (((4, 6, 10), [2, 1]), ((4, 6, 10), [])),
        ("--chunk", "a:time:4,x:20"): (((4, 6, 20), [2, 1]), ((2, 6, 20), [])),
        ("--chunk", "y:12", "--compress", "deflate:3"): (((2, 12, 10), [2, 1]), ((2, 12, 10), [1])),
        ("--chunk", "y:12", "--compress", "none"): (((2, 12, 10), []), ((2, 12, 10), [])),
    }
    for options, expected in calls.items():
        for inputs, kind in itertools.product(("o", "c"), OUTPUTS):
            output = f"o.{kind}"
            test.run("nmcat", "--mode", "join", f"{inputs}0.nc", f"{inputs}1.nc", "-o", output, "-f", *options)
            path = as_netcdf(test, output)
            for name, (chunk, filters) in zip("ab", expected):
                what = f"{' '.join(options)}: {inputs}: {kind}"
                expect_values(test, what, path, name, PLAIN.values(0, 8))
                if inputs == "o":
                    expect_storage(test, what, path, name, test.work / "o0.nc", chunk=chunk, filters=filters)
                elif storage(path, name)[0] is None:
                    test.check(False, f"{what}: {name}: found no chunks")
            if "--compress" not in options:
                continue
            with h5py.File(path) as file:
                test.check(file["x"].chunks is None, f"{options}: a small coordinate has chunks")
    # Groups above the values may be empty, or have scalars only.
    for i in range(2):
        with h5py.File(test.work / f"below{i}.h5", "w") as file:
            file["s/crs"] = 7
            data = PLAIN.values(4 * i, 4)
            file.create_dataset("g/h/v", data=data, chunks=(2, 6, 10), maxshape=(None, *data.shape[1:]))
            file.create_dataset("g/h/time", data=4.0 * i + numpy.arange(4), chunks=(2,), maxshape=(None,))
            file["g/h/y"], file["g/h/x"] = numpy.arange(data.shape[1]), numpy.arange(data.shape[2])
            for axis, name in enumerate(("time", "y", "x")):
                file["g/h/" + name].make_scale(name)
                file["g/h/v"].dims[axis].attach_scale(file["g/h/" + name])
    for options in (("--chunk", "time:4"), ("--shuffle",), ("--compress", "deflate:3"), ("--compress", "deflate", "--shuffle")):
        for kind in OUTPUTS:
            test.run("nmcat", "--mode", "join", "below0.h5", "below1.h5", "-o", f"below.{kind}", "-f", *options)
            test.check("classic dataset" not in test.said, f"{options}: {kind}: said {test.said}")
            expect_values(test, f"{options}: {kind}", as_netcdf(test, f"below.{kind}"), "g/h/v", PLAIN.values(0, 8))
    test.run("nmcat", "--mode", "join", "o0.nc", "o1.nc", "-o", "n.nmb", "--chunk", "q:time:4", exit_code=2,
             says="no input has the dimension \"time\" of variable \"q\" (chunks)")
    test.run("nmcat", "--mode", "join", "o0.nc", "o1.nc", "-o", "h.nc4", "--no-history", "--keep-tracking-id")
    with netCDF4.Dataset(test.work / "h.nc4") as file:
        test.check(file.history == "made" and file.tracking_id == "hdl:o0.nc", "--no-history: found a new history")
    test.run("nmcat", "--mode", "union", "o0.nc", "o0.nc", "-o", "h.nmb", "--no-history", exit_code=2,
             says="--no-history needs --mode join")


def make_tile(path, y, x, chunk, **filters):
    with netCDF4.Dataset(path, "w") as out:
        for name, (first, end), whole in (("y", y, NY), ("x", x, NX)):
            out.createDimension(name, end - first)
            variable = out.createVariable(name, "f8", (name,))
            variable.domain_decomposition = numpy.array([1, whole, first + 1, end], "i4")
            variable[:] = numpy.arange(first, end)
        out.createDimension("time", None)
        variable = out.createVariable("v", "f4", ("time", "y", "x"), chunksizes=chunk, **filters)
        variable[:] = ZLIB.values(0, 3)[:, slice(*y), slice(*x)]


def check_tiles(test):
    for name, rows, columns, moves in (
        ("fit", (0, 6, 12), (0, 10, 20), 8 * 2),
        ("misfit", (0, 5, 12), (0, 10, 20), 0),
        ("half", (0, 6, 12), (0, 5, 20), None),
    ):
        files = []
        for j, i in itertools.product(range(2), repeat=2):
            files.append(f"{name}{j}{i}.nc")
            y, x = rows[j : j + 2], columns[i : i + 2]
            make_tile(test.work / files[-1], y, x, (1, min(3, y[1] - y[0]), min(5, x[1] - x[0])), zlib=True)
        for kind in OUTPUTS:
            output = f"{name}.{kind}"
            test.run("nmcat", "--mode", "tiles", *reversed(files), "-o", output)
            path = as_netcdf(test, output)
            expect_values(test, f"tiles {name} {kind}", path, "v", ZLIB.values(0, 3))
            expect_storage(test, f"tiles {name} {kind}", path, "v", test.work / files[-1])
            if name == "fit":
                found = stored(path, "v")
                for file, (j, i) in zip(files, itertools.product(range(2), repeat=2)):
                    for (t, y, x), chunk in stored(test.work / file, "v").items():
                        place = (t, y + rows[j], x + columns[i])
                        test.check(found.get(place) == chunk, f"tiles {kind}: chunk {place} has other bytes")
        # Gaps become fill values.
        test.run("nmcat", "--mode", "tiles", *files[:3], "-o", f"{name}gap.nc4", "--missing=fill")
        expected = ZLIB.values(0, 3)
        expected[:, rows[1] :, columns[1] :] = netCDF4.default_fillvals["f4"]
        expect_values(test, f"tiles {name} with a gap", test.work / f"{name}gap.nc4", "v", expected)


def check_tables(test):
    """HDF5 tables without names of dimensions."""
    rng = numpy.random.default_rng(7)
    whole = rng.integers(0, 50, (25, 3)).astype("<i8")
    for i, (begin, end) in enumerate(((0, 8), (8, 16), (16, 25))):
        with h5py.File(test.work / f"t{i}.h5", "w") as out:
            out.create_dataset(
                "g/rows", data=whole[begin:end], chunks=(4, 3), maxshape=(None, 3), compression="gzip", shuffle=True
            )
    files = [f"t{i}.h5" for i in range(3)]
    test.run("nmcat", "--mode", "join", "--along", "axis:0", *files, "-o", "t.h5")
    with h5py.File(test.work / "t.h5") as file:
        test.check((file["g/rows"][:] == whole).all(), "tables: other values")
    expect_storage(test, "tables", test.work / "t.h5", "g/rows", test.work / "t0.h5")
    first, found = stored(test.work / "t1.h5", "g/rows"), stored(test.work / "t.h5", "g/rows")
    test.check(found[12, 0] == first[4, 0], "tables: a chunk has other bytes")


def check_strings(test):
    """Strings of fixed length keep their type, chunks and filters. In a classic file they are characters."""
    def make_strings(path, names, text, **more):
        with h5py.File(path, "w") as out:
            for name, filters in more.items():
                out.create_dataset(name, data=text[names], chunks=(20,), maxshape=(None,), **filters)

    def make_with_fill(path, fill):
        """The first chunk has values, the second was never written."""
        with h5py.File(path, "w") as out:
            out.create_dataset("s", (40,), "S6", chunks=(20,), maxshape=(None,), compression="gzip", fillvalue=fill)
            out["s"][:20] = b"text"

    def expect_text(what, path, name, expected):
        with h5py.File(path) as file:
            found = file[name]
            test.check(found.dtype == expected.dtype and found.shape == expected.shape, f"{what}: {name}: found {found}")
            is_same = found.id.get_type().equal(h5py.h5t.py_create(expected.dtype))
            test.check(is_same or expected.dtype == "S1", f"{what}: {name}: another type")
            test.check(numpy.array_equal(found[...], expected), f"{what}: {name}: found {found[...].ravel()[:2]}")
            test.check(not [one for one in file if one.startswith("string")], f"{what}: found {list(file)}")

    text = numpy.array([b"station number %d" % (i % 7) for i in range(100)], "S24")
    filters = {"both": {"compression": "gzip", "shuffle": True}, "zip": {"compression": "gzip"}, "plain": {},
               "sums": {"compression": "gzip", "fletcher32": True}}

    def add_more(path, text):
        """Without chunks: an array, one string, and strings of one byte; a table with characters too."""
        with h5py.File(path, "w") as out:
            out["array"] = text
            out["grid"] = numpy.repeat(text, 6).reshape(-1, 2, 3)
            out["one"] = numpy.array(b"the same", "S9")
            out["letter"] = text.astype("S1")
            out["number"] = numpy.arange(len(text))

    for i, rows in enumerate((slice(0, 40), slice(40, 100))):
        make_strings(test.work / f"s{i}.h5", rows, text, **filters)
        add_more(test.work / f"e{i}.h5", text[rows])
    make_strings(test.work / "s2.h5", slice(0, 40), text, more={"compression": "gzip"})
    for kind in OUTPUTS:
        for call, files, expected in ((("join", "--along", "axis:0"), ("s0.h5", "s1.h5"), text),
                                      (("union",), ("s0.h5", "s2.h5"), text[:40])):
            what = f"{call[0]} of strings to {kind}"
            test.run("nmcat", "--mode", *call, *files, "-o", f"strings.{kind}", "-f")
            path = as_netcdf(test, f"strings.{kind}")
            for name in filters:
                expect_text(what, path, name, expected)
                chunk, found = storage(path, name)[:2]
                like = storage(test.work / "s0.h5", name)[1]
                test.check((chunk, found) == ((20,), like), f"{what}: {name}: found {chunk}, {found}")
            for name in "zip", "both":
                first, found = stored(test.work / "s0.h5", name), stored(path, name)
                test.check(found.get((20,)) == first[20,], f"{what}: a chunk of {name} has other bytes")
        test.run("nmcat", "--mode", "join", "--along", "axis:0", "e0.h5", "e1.h5", "-o", f"more.{kind}", "-f")
        path, what = as_netcdf(test, f"more.{kind}"), f"join of arrays of strings to {kind}"
        expect_text(what, path, "array", text)
        expect_text(what, path, "grid", numpy.repeat(text, 6).reshape(-1, 2, 3))
        expect_text(what, path, "one", numpy.array(b"the same", "S9"))
        expect_text(what, path, "letter", text.astype("S1"))
    test.run("nmverify", "strings.nmb", "more.nmb")
    dumped = json.loads(test.run("nminspect", "dump", "more.nmb", "array", "--json"))["values"]
    test.check(dumped == [one.decode() for one in text.tolist()], f"nminspect shows {dumped[:2]}")
    # In a classic file they are characters.
    for i, rows in enumerate((slice(0, 40), slice(40, 100))):
        with h5py.File(test.work / f"c{i}.h5", "w") as out:
            out["array"] = text[rows]
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "c0.h5", "c1.h5", "-o", "strings.nc", "--to", "cdf5", "-f")
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "c0.h5", "c1.h5", "-o", "c.nmb", "-f")
    test.run("nmconvert", "c.nmb", "again.nc", "--to", "cdf5", "-f")
    for path in "strings.nc", "again.nc":
        with netCDF4.Dataset(test.work / path) as out:
            out.set_auto_chartostring(False)
            found = numpy.ascontiguousarray(out["array"][:].filled(b"")).view("S24").ravel()
            test.check(numpy.array_equal(found, text), f"{path}: found {found[:2]}")
    # A joined file can be joined again.
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "s0.h5", "s1.h5", "-o", "strings.nmb", "-f")
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "strings.nmb", "s0.h5", "-o", "strings.h5", "-f")
    for name in filters:
        expect_text("join of a join", test.work / "strings.h5", name, numpy.concatenate((text, text[:40])))
    # Other types are other types.
    for i, (dtype, values) in enumerate((("S24", [b"a"]), ("S23", [b"a"]), ("S1", [b"a"]), (h5py.string_dtype("utf-8", 24), [b"a"]))):
        with h5py.File(test.work / f"type_{i}.h5", "w") as out:
            out["s"] = numpy.array(values, "S24").astype(dtype)
            out["n"] = numpy.arange(1)
    for i in range(1, 4):
        test.run("nmcat", "--mode", "join", "--along", "axis:0", "type_0.h5", f"type_{i}.h5", "-o", "no.h5", exit_code=1, says="type s: found ")
        test.check("strings of 24 bytes" in test.said, f"type_{i}.h5: said {test.said}")
    # netCDF-C opens and closes them. It crashes if they have a stated fill value.
    for kind, options in (("h5", ()), ("nmb", ("--hdf5-view", "on"))):
        for output, call in (("opened", ("nmcat", "--mode", "join", "--along", "axis:0", "s0.h5", "s1.h5", "-o")),
                             ("part", ("nmconvert", "s0.h5"))):
            slab = ("--slab", "phony_dim_0=0:30") if output == "part" else ()
            test.run(*call, f"{output}.{kind}", *slab, *options)
            program = "import netCDF4, sys; [netCDF4.Dataset(sys.argv[1]).close() for _ in range(30)]"
            done = subprocess.run([sys.executable, "-c", program, test.work / f"{output}.{kind}"], capture_output=True)
            test.check(done.returncode == 0, f"{output}.{kind}: netCDF-C ends with {done.returncode}")
    # Divided blocks have characters only.
    test.run("nmcat", "s0.h5", "--split-names", "^(z)", "-o", "no.nmb", exit_code=1, says="found strings of 24 bytes")
    for fill in (b"", b"xxxxxx", b"none"):
        make_with_fill(test.work / "f0.h5", fill)
        make_with_fill(test.work / "f1.h5", b"xxxxxx")
        test.run("nmcat", "--mode", "join", "--along", "axis:0", "f0.h5", "f1.h5", "-o", "f.h5", "-f")
        expected = numpy.array([b"text"] * 20 + [fill] * 20 + [b"text"] * 20 + [b"xxxxxx"] * 20, "S6")
        expect_text(f"fill value {fill}", test.work / "f.h5", "s", expected)
        test.check(storage(test.work / "f.h5", "s")[0] == (20,), f"fill value {fill}: other chunks")
        test.check(len(stored(test.work / "f.h5", "s")) == (2 if fill == b"xxxxxx" else 3),
                   f"fill value {fill}: other unwritten chunks")


def check_again(test):
    """A joined NMB file is joined again, becomes a classic file, and takes part in a union."""
    for i in range(4):
        make(test.work / f"a{i}.nc", {"v": ZLIB}, 4 * i, 4)
    test.run("nmcat", "--mode", "join", "a0.nc", "a1.nc", "-o", "a01.nmb")
    test.run("nmcat", "--mode", "join", "a2.nc", "a3.nc", "-o", "a23.nmb")
    test.run("nmcat", "--mode", "join", "a01.nmb", "a23.nmb", "-o", "all.nmb")
    path = as_netcdf(test, "all.nmb")
    expect_values(test, "joined twice", path, "v", ZLIB.values(0, 16))
    expect_storage(test, "joined twice", path, "v", test.work / "a0.nc")
    test.check(
        stored(path, "v")[12, 0, 0] == stored(test.work / "a3.nc", "v")[0, 0, 0], "joined twice: other bytes"
    )
    test.run("nmconvert", "all.nmb", "all.nc", "--to", "cdf5")
    expect_values(test, "as classic", test.work / "all.nc", "v", ZLIB.values(0, 16))
    with netCDF4.Dataset(test.work / "all.nc") as file:
        test.check(file.dimensions["time"].isunlimited(), "as classic: time is not unlimited")
    test.run("nmcat", "--mode", "join", "a0.nc", "a1.nc", "-o", "view.nmb", "--hdf5-view", "on")
    expect_values(test, "view", test.work / "view.nmb", "v", ZLIB.values(0, 8))
    expect_storage(test, "view", test.work / "view.nmb", "v", test.work / "a0.nc")
    test.check(stored(test.work / "view.nmb", "v")[0, 0, 0] == stored(test.work / "a0.nc", "v")[0, 0, 0], "view: other bytes")
    # A classic output has the values without compression, and a note names the ending that keeps it.
    test.run("nmcat", "--mode", "join", "a0.nc", "a1.nc", "-o", "plain.nc", "--to", "cdf5", says="give OUT the ending .nc4")
    expect_values(test, "as .nc", test.work / "plain.nc", "v", ZLIB.values(0, 8))


def check_large(test):
    """Chunks of many bytes are copied on several threads; the file does not depend on their number."""
    rng = numpy.random.default_rng(3)
    whole = rng.integers(0, 1 << 30, (24, 256, 256)).astype("i4")
    for i in range(3):
        with netCDF4.Dataset(test.work / f"large{i}.nc", "w") as out:
            for name, length in (("time", None), ("y", 256), ("x", 256)):
                out.createDimension(name, length)
            variable = out.createVariable("v", "i4", ("time", "y", "x"), zlib=True, complevel=1, chunksizes=(2, 128, 256))
            variable[:] = whole[8 * i : 8 * i + 8]
    files = [f"large{i}.nc" for i in range(3)]
    for threads in ("1", "3"):
        test.run("nmcat", "--mode", "join", *files, "-o", f"large{threads}.nc4", "-j", threads)
        expect_values(test, f"large, {threads} threads", test.work / f"large{threads}.nc4", "v", whole)
    expect_storage(test, "large", test.work / "large1.nc4", "v", test.work / files[0])
    test.check((test.work / "large1.nc4").read_bytes() == (test.work / "large3.nc4").read_bytes(), "large: other bytes")
    found = stored(test.work / "large1.nc4", "v")
    for (t, *rest), chunk in stored(test.work / files[2], "v").items():
        test.check(found.get((16 + t, *rest)) == chunk, f"large: chunk {t, *rest} has other bytes")
    # A file that may not become large enough.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20,) * 2)
    done = subprocess.run(
        [test.tools / "nmcat", "--mode", "join", *files, "-o", "limited.nc4"], cwd=test.work, preexec_fn=limit,
        capture_output=True, text=True,
    )
    left = [path.name for path in test.work.iterdir() if "limited" in path.name]
    test.check(done.returncode == 2 and not left, f"limited: exit code {done.returncode}, left {left}: {done.stderr}")


def check_reading_ahead(test):
    """Inputs are read ahead on other threads; files of other kinds and damaged files between them change nothing."""
    names = [f"ahead{i:02}.nc" for i in range(12)]
    for i, name in enumerate(names):
        make(test.work / name, {"v": ZLIB}, 2 * i, 2)
        if i % 5 == 3:
            subprocess.run(["nccopy", "-k", "cdf5", name, "classic.nc"], cwd=test.work, check=True)
            (test.work / "classic.nc").rename(test.work / name)
    for threads in ("1", "2", "8"):
        test.run("nmcat", "--mode", "join", *names, "-o", f"ahead{threads}.nmb", "-j", threads)
        same = (test.work / f"ahead{threads}.nmb").read_bytes() == (test.work / "ahead1.nmb").read_bytes()
        test.check(same, f"ahead: -j {threads}: other bytes")
    expect_values(test, "ahead", as_netcdf(test, "ahead8.nmb"), "v", ZLIB.values(0, 24))
    for number in (5, 6):
        whole = (test.work / names[number]).read_bytes()
        (test.work / names[number]).write_bytes(whole[: len(whole) // 2])
    said = [
        subprocess.run(
            [test.tools / "nmcat", "--mode", "join", *names, "-o", "damaged.nmb", "-j", threads], cwd=test.work,
            capture_output=True, text=True,
        )
        for threads in ("1", "8")
    ]
    test.check(
        said[0].returncode == 1 and names[5] in said[0].stderr and said[0].stderr == said[1].stderr,
        f"ahead: damaged inputs: {[(one.returncode, one.stderr) for one in said]}",
    )


def check_dry_runs(test):
    """--dry-run writes nothing, and reports what the run then does, for each kind of output and with --append."""
    for i in range(2):
        make(test.work / f"fit{i}.nc", {"v": ZLIB}, 4 * i, 4)
        make(test.work / f"odd{i}.nc", {"v": ZLIB}, 3 * i, 3)
        subprocess.run(["nccopy", "-k", "cdf5", f"fit{i}.nc", f"plain{i}.nc"], cwd=test.work, check=True)
    make(test.work / "other1.nc", {"v": ZLIB}, 4, 4, title="other")
    make(test.work / "bad1.nc", {"v": Field("f8", zlib=True)}, 4, 4)
    calls = [(f"{name}0.nc", f"{name}1.nc") for name in ("fit", "odd", "plain")]
    calls += [("fit0.nc", "other1.nc"), ("fit0.nc", "bad1.nc"), ("fit0.nc", "fit0.nc", "--mode", "pack", "--block-name", "x{index}")]
    for call, kind in itertools.product(calls, ("nmb", "nc4", "h5", "nc")):
        if "pack" in call and kind == "nc":
            continue
        output = test.work / f"dry.{kind}"
        mode = () if "pack" in call else ("--mode", "join")
        if kind == "nc":
            mode += ("--to", "cdf5")
        words = ("nmcat", *mode, *call, "-o", output.name, "--json", "--no-originals" if "pack" in call and kind == "nmb" else "-q")
        before = {path.name: path.stat().st_mtime_ns for path in test.work.iterdir()}
        planned = json.loads(test.run(*words, "--dry-run", exit_code=None))
        code = test.exit_code
        after = {path.name: path.stat().st_mtime_ns for path in test.work.iterdir()}
        what = f"dry run of {call} to {kind}"
        test.check(after == before, f"{what}: found files {sorted(set(after) ^ set(before))}")
        made = json.loads(test.run(*words, exit_code=code))
        plan = planned.pop("plan", None)
        test.check((plan is not None) == (code == 0), f"{what}: exit code {code}, found plan {plan}")
        if plan and plan["is_estimate"]:
            test.check(kind in ("nc4", "h5"), f"{what}: found an estimate")
            near = abs(planned["bytes_out"] - made["bytes_out"]) < 40000
            test.check(near, f"{what}: found {planned['bytes_out']} bytes, expected about {made['bytes_out']}")
            planned.pop("bytes_out"), made.pop("bytes_out")
        for key in ("done", "view_note", "seconds"):
            planned.pop(key), made.pop(key)
        test.check(planned == made, f"{what}: found {planned}, expected {made}")
        if code == 0:
            output.unlink()
    # Adding to a file.
    test.run("nmcat", "fit0.nc", "-o", "grown.nmb", "--no-originals", "--hdf5-view", "off")
    for call in (("fit1.nc",), ("plain1.nc", "odd0.nc"), ("fit0.nc",), ("fit0.nc", "--replace")):
        words = ("nmcat", *call, "-o", "grown.nmb", "--append", "--json", "--no-originals", "--hdf5-view", "off")
        before = (test.work / "grown.nmb").read_bytes()
        planned = json.loads(test.run(*words, "--dry-run", exit_code=None))
        code, what = test.exit_code, f"dry run of --append {call}"
        test.check((test.work / "grown.nmb").read_bytes() == before, f"{what}: the file has changed")
        made = json.loads(test.run(*words, exit_code=code))
        test.check(code == (1 if call == ("fit0.nc",) else 0), f"{what}: exit code {code}")
        plan = planned.pop("plan", None)
        for key in ("done", "seconds"):
            planned.pop(key), made.pop(key)
        test.check(planned == made, f"{what}: found {planned}, expected {made}")
        if plan:
            test.check(plan["bytes_before"] == len(before), f"{what}: found {plan['bytes_before']} bytes before")


def check_unlimited(test):
    """Several unlimited dimensions, and an unlimited dimension that is not the slowest."""
    def make_growing(path, first, count, second=None):
        with netCDF4.Dataset(path, "w") as out:
            for name, length in (("x", 6), ("time", None), ("station", second)):
                out.createDimension(name, length)
            out.createVariable("time", "i4", ("time",))[:] = numpy.arange(first, first + count)
            made = out.createVariable("late", "f4", ("x", "time"), zlib=True, chunksizes=(3, 2))
            made[:] = numpy.arange(first, first + count) + numpy.arange(6)[:, None] * 100
            made = out.createVariable("both", "i2", ("time", "station"), chunksizes=(2, 2), fill_value=-9)
            made[:, :] = numpy.arange(first, first + count)[:, None] * 10 + numpy.arange(5)
    for second in (None, 5):
        for i, (first, count) in enumerate(((0, 4), (4, 3), (7, 2))):
            make_growing(test.work / f"g{i}.nc", first, count, second)
        files = [f"g{i}.nc" for i in range(3)]
        for kind in OUTPUTS:
            what = f"unlimited dimensions, {second}, {kind}"
            test.run("nmcat", "--mode", "join", *files, "-o", f"g.{kind}", "-f")
            path = as_netcdf(test, f"g.{kind}")
            expect_values(test, what, path, "late", (numpy.arange(9) + numpy.arange(6)[:, None] * 100).astype("f4"))
            expect_values(test, what, path, "both", (numpy.arange(9)[:, None] * 10 + numpy.arange(5)).astype("i2"))
            for name in ("late", "both"):
                expect_storage(test, what, path, name, test.work / "g0.nc")
            with netCDF4.Dataset(path) as file:
                grow = [file.dimensions[name].isunlimited() for name in ("x", "time", "station")]
                test.check(grow == [False, True, second is None], f"{what}: found growing dimensions {grow}")
            with h5py.File(path) as file, h5py.File(test.work / "g0.nc") as first:
                for name in ("late", "both"):
                    test.check(file[name].maxshape == first[name].maxshape, f"{what}: {name}: {file[name].maxshape}")
        test.check(stored(test.work / "g.nc4", "late")[0, 4] == stored(test.work / "g1.nc", "late")[0, 0],
                   "unlimited dimensions: a chunk that fits has other bytes")
        # A joined file is joined again; a classic file cannot hold it.
        test.run("nmcat", "--mode", "join", "g.nmb", "g.nmb", "-o", "twice.nc4", "-f")
        with netCDF4.Dataset(test.work / "twice.nc4") as file:
            test.check(file["late"].shape == (6, 18), f"joined twice: found shape {file['late'].shape}")
        test.run("nmcat", "--mode", "join", *files, "-o", "g.cdf", exit_code=1, says="found an unlimited dimension that is not")
        test.run("nmcat", "--mode", "join", *files, "-o", "v.nmb", "-f", "--hdf5-view", "on")
        with netCDF4.Dataset(test.work / "v.nmb") as file:
            grow = [file.dimensions[name].isunlimited() for name in ("x", "time", "station")]
            test.check(grow == [False, True, second is None], f"view: found growing dimensions {grow}")
        # The second dimension, joined by its name.
        if second is None:
            make_growing(test.work / "s1.nc", 0, 4, None)
            test.run("nmcat", "--mode", "join", "--along", "station", "g0.nc", "s1.nc", "-o", "s.nc4")
            with netCDF4.Dataset(test.work / "s.nc4") as file:
                test.check(file["both"].shape == (4, 10), f"along station: found shape {file['both'].shape}")


def check_unlimited_orders(test):
    """Two unlimited dimensions that the files define, and use, in different orders."""
    def make_ordered(path, order, first, count):
        with netCDF4.Dataset(path, "w") as out:
            for name in order:
                out.createDimension(name, 3 if name == "x" else None)
            for name in order:
                if name == "time":
                    out.createVariable("v", "f8", ("time", "x"))[:] = numpy.arange(first, first + count)[:, None] + numpy.arange(3) / 8
                if name == "obs":
                    out.createVariable("w", "i4", ("obs",))[:] = [5, 6]
    orders = ("time obs x", "obs time x", "x obs time")
    for i, order in enumerate(orders):
        make_ordered(test.work / f"order{i}.nc", order.split(), 2 * i, 2)
    expected = numpy.arange(6)[:, None] + numpy.arange(3) / 8
    for first in range(3):
        files = [f"order{i}.nc" for i in (first, *(k for k in range(3) if k != first))]
        rows = numpy.concatenate([expected[2 * i : 2 * i + 2] for i in (first, *(k for k in range(3) if k != first))])
        for words in ([], ["-j", "3"]):
            test.run("nmcat", "--mode", "join", "--along", "time", *files, "-o", "orders.nc4", "-f", *words)
            expect_values(test, f"orders from {first}", test.work / "orders.nc4", "v", rows)
            expect_values(test, f"orders from {first}", test.work / "orders.nc4", "w", numpy.array([5, 6], "i4"))
            with netCDF4.Dataset(test.work / "orders.nc4") as file:
                grow = [file.dimensions[name].isunlimited() for name in ("time", "obs")]
                test.check(grow == [True, True], f"orders from {first}: found growing dimensions {grow}")
    # Without --along, files are joined along the record dimension of the first one; variables without it must be equal.
    test.run("nmcat", "--mode", "join", "order0.nc", "order1.nc", "-o", "orders.nc4", "-f")
    expect_values(test, "orders without --along", test.work / "orders.nc4", "v", expected[:4])
    expect_values(test, "orders without --along", test.work / "orders.nc4", "w", numpy.array([5, 6], "i4"))
    test.run("nmcat", "--mode", "join", "order1.nc", "order0.nc", "-o", "orders.nmb", exit_code=1, says="values v")


def check_late_variables(test):
    """The unlimited dimension is not the slowest of a variable that the first file lacks."""
    def make_late(path, first, has_late, size=None):
        with netCDF4.Dataset(path, "w") as out:
            out.createDimension("time", size)
            out.createDimension("x", 3)
            out.createVariable("time", "f8", ("time",))[:] = numpy.arange(first, first + 2)
            out.createVariable("slow", "i2", ("time", "x"))[:] = numpy.arange(6).reshape(2, 3) + first
            if has_late:
                out.createVariable("v", "f4", ("x", "time"))[:] = numpy.arange(6).reshape(3, 2) + first

    make_late(test.work / "late0.nc", 0, False)
    make_late(test.work / "late1.nc", 2, True)
    make_late(test.work / "late2.nc", 4, True)
    make_late(test.work / "late3.nc", 2, True, 2)
    fill = netCDF4.default_fillvals["f4"]
    late = numpy.concatenate([numpy.full((3, 2), fill)] + [numpy.arange(6).reshape(3, 2) + i for i in (2, 4)], 1)
    slow = numpy.concatenate([numpy.arange(6).reshape(2, 3) + i for i in (0, 2, 4)])
    for kind in OUTPUTS:
        for second in ("late1.nc", "late3.nc"):
            what = f"{second} to {kind}"
            test.run("nmcat", "--mode", "join", "--missing=fill", "late0.nc", second, "late2.nc", "-o", f"late.{kind}", "-f")
            path = as_netcdf(test, f"late.{kind}")
            expect_values(test, what, path, "v", late.astype("f4"))
            expect_values(test, what, path, "slow", slow.astype("i2"))
            expect_values(test, what, path, "time", numpy.arange(6.0))
            with netCDF4.Dataset(path) as file:
                test.check(file.dimensions["time"].isunlimited(), f"{what}: the dimension cannot grow")
    test.run("nmcat", "--mode", "join", "--missing=fill", "late0.nc", "late3.nc", "-o", "late.cdf", exit_code=1,
             says='variable v: found the unlimited dimension "time" as dimension 2, expected it as the first dimension')


def make_small(path, time, station):
    """Small variables: a coordinate in chunks, a matrix in chunks, a matrix without chunks, and a short series."""
    with netCDF4.Dataset(path, "w") as out:
        for name, length in (("time", None), ("x", NX), ("y", NY), ("station", 5000)):
            out.createDimension(name, length)
        filters = {"zlib": True, "complevel": 1}
        out.createVariable("x", "f8", ("x",), chunksizes=(NX,), **filters)[:] = numpy.arange(NX)
        out.createVariable("matrix", "f8", ("y", "x"), chunksizes=(NY, NX), **filters)[:] = numpy.ones((NY, NX))
        out.createVariable("plain", "f8", ("y", "x"), contiguous=True)[:] = numpy.ones((NY, NX))
        out.createVariable("time", "f8", ("time",), chunksizes=(4,))[:] = numpy.arange(time, time + 4)
        values = numpy.arange(station, station + 5000)
        out.createVariable("station", "f8", ("station",), chunksizes=(5000,), **filters)[:] = values


def check_small(test):
    """--compress leaves small coordinates alone, unless they become large or --chunk names them."""
    make_small(test.work / "s0.nc", 0, 0)
    make_small(test.work / "s1.nc", 4, 0)
    make_small(test.work / "s2.nc", 0, 5000)
    calls = (
        (("s0.nc", "s1.nc"), {"x": 1, "matrix": 5, "plain": None, "time": 5, "station": 1}),
        (("s0.nc", "s2.nc", "--along", "station"), {"x": 1, "matrix": 5, "plain": None, "time": 5, "station": 5}),
        (("s0.nc", "s1.nc", "--chunk", "x:x:10"), {"x": 5, "matrix": 5, "plain": None, "time": 5, "station": 1}),
    )
    for call, levels in calls:
        for kind in OUTPUTS:
            output = f"small.{kind}"
            test.run("nmcat", "--mode", "join", *call, "--compress", "deflate:5", "-o", output, "-f")
            with h5py.File(as_netcdf(test, output)) as file:
                for name, level in levels.items():
                    found = file[name].compression_opts
                    test.check(found == level, f"{call} to {kind}: {name}: found level {found}, expected {level}")


def check_memory(test):
    """A memory limit that is too low for one chunk is refused, with the limit that is enough for any number of threads."""
    values = numpy.random.default_rng(5).integers(0, 9, (6, 1 << 19)).astype("<f8")
    for i in range(2):
        with h5py.File(test.work / f"large{i}.h5", "w") as f:
            f.create_dataset("v", data=values[: 3 + i], chunks=(1, 1 << 19) if i else (2, 1 << 19), maxshape=(None, 1 << 19), compression=1)
    join = ["nmcat", "--mode", "join", "--along", "axis:0", "large1.h5", "large0.h5", "-o", "large.h5", "--no-sync"]
    for threads in ("1", "2"):
        test.run(*join, "-j", threads, "--chunk", "phony_dim_0:2", "--mem", "12M", exit_code=2,
                 says="a memory limit of 45 MiB is enough for these chunks")
        test.check(not (test.work / "large.h5").exists(), "too little memory: wrote a file")
        test.run(*join, "-j", threads, "--chunk", "phony_dim_0:2", "--mem", "45M")
        with h5py.File(test.work / "large.h5") as f:
            test.check(numpy.array_equal(f["v"][:], numpy.concatenate([values[:4], values[:3]])), f"-j {threads}, little memory: other values")
        (test.work / "large.h5").unlink()


def check_plain(test):
    """Arrays without chunks keep their byte order in HDF5 outputs if they follow one another in the result."""
    def values(number):
        return {"v": numpy.arange(12, dtype="<f4").reshape(3, 4) + 100 * number, "big": numpy.arange(12, dtype=">i8").reshape(3, 4),
                "w": numpy.arange(4, dtype="<i4"), "s": numpy.array(2.5, "<f8")}  # fmt: skip

    for number, order in ((0, "<"), (1, "<"), (2, ">")):
        with netCDF4.Dataset(test.work / f"plain{number}.nc", "w") as file:
            file.createDimension("t", 3)
            file.createDimension("x", 4)
            for name, array in values(number).items():
                endian = "little" if array.dtype.byteorder != ">" and order == "<" else "big"
                dimensions = ("t", "x")[len(("t", "x")) - array.ndim :]
                file.createVariable(name, array.dtype, dimensions, contiguous=True, endian=endian)[...] = array
    joins = ((("plain0.nc", "plain1.nc"), {"v": "<f4", "big": ">i8", "w": "<i4", "s": "<f8"}),
             (("plain0.nc", "plain2.nc"), {"v": ">f4", "big": ">i8", "w": "<i4"}))  # fmt: skip
    for inputs, wanted in joins:
        for kind in "nc4", "h5":
            output = f"plain.{kind}"
            test.run("nmcat", "--mode", "join", "--along", "t", *inputs, "-o", output, "-f")
            numbers = [int(name[5]) for name in inputs]
            with h5py.File(test.work / output) as file:
                for name, dtype in wanted.items():
                    found, parts = file[name], [values(number)[name] for number in numbers]
                    expected = numpy.concatenate(parts) if name in ("v", "big") else parts[0]
                    what = f"{inputs} to {kind}: {name}"
                    test.check(found.dtype.str == dtype, f"{what}: type {found.dtype.str}, expected {dtype}")
                    test.check(found.chunks is None and numpy.array_equal(found[...], expected), f"{what}: found {found[...]}")
            test.run("nmverify", output)


def check_empty(test):
    """Chunks, filters and byte order of datasets without records count as those of others do."""
    chunks = {"chunksizes": (3, 4), "zlib": True, "complevel": 5, "shuffle": True, "fletcher32": True}
    for number in range(2):
        with netCDF4.Dataset(test.work / f"empty{number}.nc", "w") as file:
            file.createDimension("t", None)
            file.createDimension("x", 4)
            file.createVariable("t", "f8", ("t",))[:] = [2 * number, 2 * number + 1]
            file.createGroup("g").createVariable("v", "i4", ("t", "x"), endian="big", **chunks)
            first = chunks if number == 0 else {"chunksizes": (1, 2)}
            file.createVariable("never", "f4", ("t", "x"), **chunks)
        with netCDF4.Dataset(test.work / f"begins{number}.nc", "w") as file:
            file.createDimension("t", None)
            file.createDimension("x", 4)
            v = file.createVariable("v", "i4", ("t", "x"), **first)
            if number == 1:
                v[:] = numpy.arange(8).reshape(2, 4)
    for mode, names in (("join", ("g/v", "never")), ("join", ("v",)), ("union", ("g/v",))):
        stem = "begins" if names == ("v",) else "empty"
        inputs = [f"{stem}0.nc", f"{stem}{0 if mode == 'union' else 1}.nc"]
        if mode == "union":
            (test.work / "same.nc").write_bytes((test.work / inputs[0]).read_bytes())
            inputs[1] = "same.nc"
        test.run("nmcat", "--mode", mode, *inputs, "-o", "empty.nc4", "-f")
        for name in names:
            expect_storage(test, f"{mode} of {inputs}", test.work / "empty.nc4", name, test.work / inputs[0])
    test.run("nmcat", "--mode", "join", "begins0.nc", "begins1.nc", "-o", "empty.nc4", "-f")
    expect_values(test, "join behind an empty file", test.work / "empty.nc4", "v", numpy.arange(8, dtype="i4").reshape(2, 4))


def check(test):
    check_joins(test)
    check_empty(test)
    check_plain(test)
    check_small(test)
    check_like_ncrcat(test)
    check_differing(test)
    check_widened(test)
    check_sums(test)
    check_impossible_filters(test)
    check_unwritten(test)
    check_missing(test)
    check_grown(test)
    check_options(test)
    check_tiles(test)
    check_tables(test)
    check_strings(test)
    check_again(test)
    check_large(test)
    check_reading_ahead(test)
    check_dry_runs(test)
    check_unlimited(test)
    check_unlimited_orders(test)
    check_late_variables(test)
    check_memory(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
