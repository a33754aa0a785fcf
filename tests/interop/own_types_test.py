#!/usr/bin/python3
"""nmcat --mode join, union and tiles of netCDF-4 and HDF5 files with types that classic netCDF lacks: strings, arrays of
strings in attributes, bool, enum, float16, compound, opaque, bitfield, sequences. .nmb, .nc4 and .h5 have the values and
the types of netCDF4-python, h5py and numpy (and xarray.concat, if it is installed). Other types are a conflict.

    own_types_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import json
import shutil
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True
from tool_runs import as_netcdf, h5py, main, netCDF4, numpy  # noqa: E402

try:
    import xarray
except ImportError:
    xarray = None

OUTPUTS = ("nmb", "nc4", "h5")
WORDS = numpy.array([f"station {i} " + "ä" * (i % 5) if i % 4 else "" for i in range(40)], object)
POINT = numpy.dtype([("x", "<i4"), ("y", "<f8")])
JOIN, ROWS = ("--mode", "join"), ("--mode", "join", "--along", "axis:0")
warnings.filterwarnings("ignore", "endian-ness")


def same(found, expected):
    if isinstance(expected, numpy.ndarray) and expected.dtype == object:
        return found.shape == expected.shape and all(
            numpy.array_equal(a, b) for a, b in zip(found.ravel(), expected.ravel())
        )
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def make_nc(path, first, count, words=WORDS, records=None, members=(("calm", 0), ("storm", 7)), group="", **more):
    with netCDF4.Dataset(path, "w") as root:
        root.sources = ["first", "second ü", ""]
        out = root.createGroup(group) if group else root
        out.createDimension("time", records)
        out.createDimension("x", 3)
        state = root.createEnumType("i2", "state_t", dict(members))
        point = root.createCompoundType(POINT, "point_t")
        ragged = root.createVLType("f4", "ragged_t")
        rows = numpy.arange(first, first + count)
        time = out.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = rows
        out.createVariable("place", str, ("time",))[:] = words[rows]
        out.createVariable("names", str, ("time", "x"))[:] = words[(rows[:, None] + numpy.arange(3)) % len(words)]
        fixed = out.createVariable("fixed", str, ("x",))
        fixed[:] = numpy.array(["a", "", "ccc"], object)
        fixed.flags = ["one", "two"]
        out.createVariable("one", str, ())[...] = more.get("one", "the same")
        weather = out.createVariable("weather", state, ("time",), fill_value=members[0][1])
        weather[:] = numpy.where(rows % 2, members[1][1], members[0][1])
        where = numpy.empty((count, 3), POINT)
        where["x"], where["y"] = rows[:, None], rows[:, None] * 0.5 + numpy.arange(3)
        out.createVariable("where", point, ("time", "x"), zlib=True, chunksizes=(4, 3))[:] = where
        series = out.createVariable("series", ragged, ("time",))
        for i, row in enumerate(rows):
            series[i] = numpy.arange(row % 4, dtype="f4")


def expect_nc(test, what, path, rows, words=WORDS, group="", members=(("calm", 0), ("storm", 7))):
    with netCDF4.Dataset(path) as root:
        root.set_auto_mask(False)
        out = root[group] if group else root
        expected = {
            "place": words[rows], "names": words[(rows[:, None] + numpy.arange(3)) % len(words)],
            "fixed": numpy.array(["a", "", "ccc"], object),
            "weather": numpy.where(rows % 2, members[1][1], members[0][1]).astype("i2"),
            "series": numpy.array([numpy.arange(row % 4, dtype="f4") for row in rows] + [None], object)[:-1],
        }
        test.check(set(out.variables) >= {*expected, "one", "where"}, f"{what}: found {list(out.variables)}")
        for name, values in expected.items():
            if name in out.variables:
                test.check(same(out[name][:], values), f"{what}: {name}: found {out[name][:].ravel()[:4]}")
        if "where" not in out.variables:
            return
        where = out["where"][:]
        test.check((where["x"] == rows[:, None]).all() and (where["y"] == rows[:, None] * 0.5 + numpy.arange(3)).all(),
                   f"{what}: where: found {where[:2]}")
        test.check(out["one"][...] == "the same", f"{what}: one: found {out['one'][...]}")
        test.check(list(root.sources) == ["first", "second ü", ""], f"{what}: attribute: found {root.sources}")
        test.check(list(out["fixed"].flags) == ["one", "two"], f"{what}: attribute of a variable")
        test.check(root.enumtypes["state_t"].enum_dict == dict(members), f"{what}: enum: found {root.enumtypes}")
        # netCDF4-python aligns the fields.
        aligned = numpy.dtype([("x", "<i4"), ("y", "<f8")], align=True)
        test.check(root.cmptypes["point_t"].dtype == aligned, f"{what}: compound: found {root.cmptypes}")
        test.check(out["weather"]._FillValue == members[0][1], f"{what}: _FillValue")
        test.check(out.dimensions["time"].isunlimited() and out["place"].dimensions == ("time",), f"{what}: dimensions")


def check_netcdf(test):
    for i, (first, count) in enumerate(((0, 7), (7, 9), (16, 4))):
        make_nc(test.work / f"n{i}.nc", first, count)
        make_nc(test.work / f"g{i}.nc", first, count, group="inner")
    for kind in OUTPUTS:
        for group, names in (("", "n"), ("inner", "g")):
            name = f"{names}.{kind}"
            test.run("nmcat", *JOIN, *(f"{names}{i}.nc" for i in range(3)), "-o", name)
            expect_nc(test, f"join to {name}", as_netcdf(test, name), numpy.arange(20), group=group)
    test.run("nmcat", "n0.nc", "n1.nc", "-o", "packed.nmb", "--block-name", "{index}")
    # A joined file can be joined again.
    test.run("nmcat", *JOIN, "n0.nc", "n1.nc", "-o", "first.nmb")
    test.run("nmcat", *JOIN, "first.nmb", "n2.nc", "-o", "again.nc4")
    expect_nc(test, "join of a join", as_netcdf(test, "again.nc4"), numpy.arange(20))
    test.run("nmcat", *JOIN, *(f"n{i}.nc" for i in range(3)), "-o", "few.nmb", "-j", "1")
    test.check((test.work / "few.nmb").read_bytes() == (test.work / "n.nmb").read_bytes(), "one thread writes other bytes")
    for kind in OUTPUTS:
        test.run("nmcat", "--mode", "union", "n0.nc", "n0.nc", "-o", f"u.{kind}")
        expect_nc(test, f"union to {kind}", as_netcdf(test, f"u.{kind}"), numpy.arange(7))
    dumped = json.loads(test.run("nminspect", "dump", "n.nmb", "place", "--json"))["values"]
    test.check(dumped == WORDS[:20].tolist(), f"nminspect shows {dumped[:2]}")
    # A classic file has no strings; nothing is written.
    test.run("nmcat", *JOIN, "n0.nc", "n1.nc", "-o", "no.nc", "--to", "cdf5", exit_code=1, says="place")
    test.check(not (test.work / "no.nc").exists(), "a refused output is there")


def check_conflicts(test):
    """Conflicts name the types and values that differ."""
    with h5py.File(test.work / "lists.h5", "w") as f:
        lists = h5py.h5t.vlen_create(h5py.h5t.py_create(h5py.string_dtype(), logical=True))
        h5py.h5d.create(f.id, b"lists", lists, h5py.h5s.create_simple((2,)))
    test.run("nmcat", "--mode", "union", "lists.h5", "lists.h5", "-o", "no.nmb", exit_code=1,
             says="expected a type without references and without sequences of values of variable length")
    make_nc(test.work / "c0.nc", 0, 3)
    other = WORDS.copy()
    other[1] = "somewhere else"
    make_nc(test.work / "c1.nc", 3, 3, one="another")
    make_nc(test.work / "c2.nc", 3, 3, members=(("calm", 0), ("wind", 7)))
    make_nc(test.work / "c3.nc", 0, 3, words=other)
    run = lambda *files: test.run("nmcat", *files, "-o", "no.nmb", exit_code=1)  # noqa: E731
    run(*JOIN, "c0.nc", "c1.nc")
    test.check('values one: found "another", expected "the same"' in test.said, f"said {test.said}")
    run(*JOIN, "c0.nc", "c2.nc")
    test.check("weather" in test.said and "state_t" in test.said, f"said {test.said}")
    run("--mode", "union", "c0.nc", "c3.nc")
    test.check('place: found "somewhere else" at [1], expected "station 1 ä"' in test.said, f"said {test.said}")
    # Only the last values differ.
    for name, change in (("weather", lambda v: v.__setitem__(2, 7)), ("where", lambda v: v.__setitem__((2, 2), (2, 9.5)))):
        shutil.copy(test.work / "c0.nc", test.work / "c4.nc")
        with netCDF4.Dataset(test.work / "c4.nc", "a") as out:
            change(out[name])
        run("--mode", "union", "c0.nc", "c4.nc")
        test.check(f"values {name}: found " in test.said, f"{name}: said {test.said}")
    with h5py.File(test.work / "t0.h5", "w") as out:
        out["s"] = numpy.array(["a", "b"], h5py.string_dtype())
    for i, values in enumerate((numpy.array([b"a"], h5py.string_dtype("ascii")), numpy.array([b"a"]),
                                numpy.array([True]), numpy.arange(2)), 1):
        with h5py.File(test.work / f"t{i}.h5", "w") as out:
            out["s"] = values
        run(*ROWS, "t0.h5", f"t{i}.h5")
        test.check("type s: found" in test.said and "strings of variable length" in test.said, f"t{i}: said {test.said}")
    with h5py.File(test.work / "ref.h5", "w") as out:
        out["v"] = numpy.arange(2)
        out["r"] = numpy.array([out["v"].ref], h5py.ref_dtype)
    run(*ROWS, "ref.h5", "ref.h5")
    test.check("r" in test.said and "reference" in test.said, f"said {test.said}")


def table(first, count):
    kind = numpy.dtype([("id", "<i8"), ("name", "S8"), ("e", "<f4", (2,)), ("half", "<f2"), ("ok", "?")])
    rows = numpy.zeros(count, kind)
    rows["id"] = numpy.arange(first, first + count)
    rows["name"] = [b"n%d" % i for i in rows["id"]]
    rows["e"] = rows["id"][:, None] * [0.5, 2]
    rows["half"], rows["ok"] = rows["id"] / 8, rows["id"] % 3 == 0
    return rows


def columns(first, count):
    rows = numpy.arange(first, first + count)
    words = numpy.array([f"w{i}" * (i % 3) for i in rows], object)
    color = h5py.enum_dtype({"red": 1, "green": 300}, "i2")
    mixed = numpy.zeros(count, numpy.dtype([("n", "i4"), ("s", h5py.string_dtype())]))
    mixed["n"], mixed["s"] = rows, words
    return {
        "table": table(first, count), "bool": rows % 2 == 0, "half": (rows / 4).astype("<f2"),
        "halves": (rows[:, None] + numpy.arange(4)).astype(">f2"),
        "opaque": numpy.array([b"%08d" % i for i in rows], "V8"), "words": words,
        "color": numpy.where(rows % 2, 1, 300).astype(color), "mixed": mixed,
        "array": (rows[:, None] * 10 + numpy.arange(6)).astype("<i4"),
    }


def make_columns(path, first, count, **filters):
    with h5py.File(path, "w") as out:
        group = out.create_group("events")
        group.attrs["list"] = numpy.array(["p", "qq", ""], h5py.string_dtype())
        group.attrs["flag"] = True
        group.attrs["half"] = numpy.float16(1.5)
        for name, values in columns(first, count).items():
            kind = h5py.string_dtype() if values.dtype == object else values.dtype
            group.create_dataset(name, data=values, dtype=kind, chunks=(5, *values.shape[1:]), maxshape=(None, *values.shape[1:]), **filters)
            group[name].attrs["one"] = numpy.array([b"ab", b"c"], "S2")
        out["events/plain"] = table(first, count)
        out["events/scalar"] = numpy.array((1, 2.5), POINT)
        bits = out["events"].create_dataset("bits", (count,), h5py.h5t.STD_B16LE)
        bits.id.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.arange(first, first + count, dtype="<u2"), h5py.h5t.STD_B16LE)


def check_columns(test):
    for i, (first, count) in enumerate(((0, 10), (10, 7), (17, 5))):
        make_columns(test.work / f"h{i}.h5", first, count, compression="gzip")
        make_columns(test.work / f"p{i}.h5", first, count)
    for names in "hp":
        for kind in OUTPUTS:
            name = f"{names}.{kind}"
            test.run("nmcat", *ROWS, *(f"{names}{i}.h5" for i in range(3)), "-o", name)
            with h5py.File(as_netcdf(test, name)) as file, h5py.File(test.work / f"{names}0.h5") as first:
                group = file["events"]
                for column, values in columns(0, 22).items():
                    found = group[column]
                    test.check(found.id.get_type() == first["events"][column].id.get_type(), f"{name}: {column}: another type")
                    read = found.asstr()[:] if column == "words" else found[:]
                    if column == "mixed":
                        ok = list(read["n"]) == list(values["n"]) and [s.decode() for s in read["s"]] == list(values["s"])
                    else:
                        ok = same(read, values)
                    test.check(ok, f"{name}: {column}: found {read[:3]}")
                    test.check((found.chunks, found.compression, found.maxshape) == tuple(
                        getattr(first["events"][column], one) for one in ("chunks", "compression", "maxshape")),
                        f"{name}: {column}: other chunks or filters: {found.chunks}, {found.compression}, {found.maxshape}")
                    test.check(list(found.attrs["one"]) == [b"ab", b"c"], f"{name}: {column}: attribute")
                test.check(same(group["plain"][:], table(0, 22)), f"{name}: plain")
                test.check(group["scalar"][()] == numpy.array((1, 2.5), POINT), f"{name}: scalar: {group['scalar'][()]}")
                bits = numpy.empty(22, "<u2")
                group["bits"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, bits, h5py.h5t.STD_B16LE)
                test.check(list(bits) == list(range(22)), f"{name}: bits: found {bits}")
                attrs = group.attrs
                test.check(list(attrs["list"]) == ["p", "qq", ""] and numpy.all(attrs["flag"]) and
                           numpy.dtype(attrs["flag"].dtype) == bool and attrs["half"] == numpy.float16(1.5),
                           f"{name}: attributes: {dict(attrs)}")


def check_views(test):
    """h5py reads the same in a view, also of compressed strings."""
    for names in "hp":
        test.run("nmcat", *ROWS, *(f"{names}{i}.h5" for i in range(3)), "-o", f"{names}view.nmb", "--hdf5-view", "on", "--view-copies")
        with h5py.File(test.work / f"{names}view.nmb") as file:
            for column, values in columns(0, 22).items():
                read = file["events"][column][:]
                if column in ("words", "mixed"):
                    read, values = read.tolist(), [(n, s.encode()) for n, s in values] if column == "mixed" else [s.encode() for s in values]
                    ok = read == values
                else:
                    ok = same(read, values)
                test.check(ok, f"{names}: view: {column}: found {read[:3]}")


def check_numbers(test):
    """float16 is a number in dump, and so is an attribute in find."""
    dumped = json.loads(test.run("nminspect", "dump", "h.nmb", "events/half", "--json"))["values"]
    test.check(dumped == [row / 4 for row in range(22)], f"dump of float16: {dumped}")
    halves = numpy.arange(1 << 16, dtype="u2").view("f2")
    halves = halves[numpy.isfinite(halves)]
    with h5py.File(test.work / "all.h5", "w") as out:
        out["all"] = halves
    test.run("nmcat", "--mode", "union", "all.h5", "-o", "all.nmb")
    dumped = json.loads(test.run("nminspect", "dump", "all.nmb", "all", "--json"))["values"]
    test.check(numpy.array_equal(numpy.array(dumped).astype("f2"), halves), "dump of all finite float16")
    found = test.run("nminspect", "find", "h.nmb", "half == 1.5")
    test.check(found.split() == ["events"], f"find by an attribute of float16: {found} {test.said}")


def check_ranks(test):
    """Several processes write the same bytes as one."""
    plugin = test.tools.parent / "lib/nmb/nmb-mpi-openmpi.so"
    if not plugin.exists() or not shutil.which("mpiexec.openmpi"):
        return
    for call, name, files in ((JOIN, "n.nmb", "n{}.nc"), (ROWS, "h.nmb", "h{}.h5")):
        for ranks in 2, 3:
            subprocess.run(
                ["mpiexec.openmpi", "--oversubscribe", "-n", str(ranks), test.tools / "nmcat", *call,
                 *(files.format(i) for i in range(3)), "-o", "ranks.nmb", "-f", "-q"],
                cwd=test.work, check=True, timeout=120,
            )
            same_bytes = (test.work / "ranks.nmb").read_bytes() == (test.work / name).read_bytes()
            test.check(same_bytes, f"{name}: {ranks} ranks write other bytes")


def check_tiles(test):
    def tile(path, part, columns, states, word="{r} {c}"):
        with netCDF4.Dataset(path, "w") as out:
            out.NumFilesInSet = numpy.int32(2)
            out.createDimension("x", len(columns))
            out.createDimension("y", 2)
            x = out.createVariable("x", "f8", ("x",))
            x.domain_decomposition = numpy.array([1, 4, *part], "i4")
            x[:] = columns
            out.createVariable("name", str, ("y", "x"))[:] = numpy.array([[word.format(r=r, c=c) for c in columns] for r in (1, 2)], object)
            kind = out.createEnumType("i1", "t", {"a": 1, "b": 2})
            out.createVariable("state", kind, ("y", "x"))[:] = numpy.array([states, states], "i1")

    tile(test.work / "tile.nc.0000", (1, 2), [1, 2], [1, 2])
    tile(test.work / "tile.nc.0001", (3, 4), [3, 4], [2, 1])
    for kind in OUTPUTS:
        test.run("nmcat", "--mode", "tiles", "tile.nc.0000", "tile.nc.0001", "-o", f"tiles.{kind}")
        with netCDF4.Dataset(as_netcdf(test, f"tiles.{kind}")) as out:
            names = [[f"{r} {c}" for c in (1, 2, 3, 4)] for r in (1, 2)]
            test.check(out["name"][:].tolist() == names, f"tiles to {kind}: found {out['name'][:]}")
            test.check(out["state"][:].tolist() == [[1, 2, 2, 1]] * 2, f"tiles to {kind}: state")
    # Tiles that overlap have the same values there.
    tile(test.work / "halo.nc.0000", (1, 3), [1, 2, 3], [1, 2, 2])
    tile(test.work / "halo.nc.0001", (2, 4), [2, 3, 4], [2, 2, 1])
    for files in (["halo.nc.0000", "halo.nc.0001"], ["halo.nc.0001", "halo.nc.0000"]):
        test.run("nmcat", "--mode", "tiles", *files, "-o", "halo.nc4", "-f")
        with netCDF4.Dataset(test.work / "halo.nc4") as out:
            test.check(out["name"][:].tolist() == names, f"tiles with halos: found {out['name'][:]}")
            test.check(out["state"][:].tolist() == [[1, 2, 2, 1]] * 2, "tiles with halos: state")
    tile(test.work / "word.nc.0001", (2, 4), [2, 3, 4], [2, 2, 1], word="{r}x{c}")
    tile(test.work / "state.nc.0001", (2, 4), [2, 3, 4], [2, 1, 1])
    for file, says in (("word", 'name: found "1x2" at [0,1], expected "1 2"'), ("state", "state: found a at [0,2], expected b")):
        test.run("nmcat", "--mode", "tiles", "halo.nc.0000", f"{file}.nc.0001", "-o", "no.nc4", exit_code=1, says=says)


def check_missing(test):
    """Missing values become the _FillValue, which for strings is a string."""
    for i, has in enumerate((True, False, True)):
        with netCDF4.Dataset(test.work / f"m{i}.nc", "w") as out:
            out.createDimension("time", None)
            out.createVariable("time", "i4", ("time",))[:] = [i * 2, i * 2 + 1]
            if not has:
                continue
            kind = out.createEnumType("i2", "t", {"none": -9, "a": 1})
            words = out.createVariable("word", str, ("time",))
            words.setncattr_string("_FillValue", "nothing")
            words[:] = numpy.array([f"a{i}", f"b{i}"], object)
            out.createVariable("plain", str, ("time",))[:] = numpy.array(["x", "y"], object)
            out.createVariable("state", kind, ("time",), fill_value=-9)[:] = numpy.array([1, 1], "i2")
    for kind in OUTPUTS:
        test.run("nmcat", *JOIN, "--missing", "fill", "m0.nc", "m1.nc", "m2.nc", "-o", f"m.{kind}")
        with netCDF4.Dataset(as_netcdf(test, f"m.{kind}")) as out:
            out.set_auto_mask(False)
            test.check(out["word"][:].tolist() == ["a0", "b0", "nothing", "nothing", "a2", "b2"], f"{kind}: {out['word'][:]}")
            test.check(out["plain"][:].tolist() == ["x", "y", "", "", "x", "y"], f"{kind}: {out['plain'][:]}")
            test.check(out["state"][:].tolist() == [1, 1, -9, -9, 1, 1], f"{kind}: {out['state'][:]}")


def check_xarray(test):
    if xarray is None:
        return
    rows = numpy.arange(12)
    whole = xarray.Dataset(
        {"t": ("time", rows * 1.5), "label": (("time", "k"), WORDS[rows[:, None] + numpy.arange(2)]),
         "flag": ("time", rows % 3 == 0)},
        coords={"time": rows, "k": numpy.array(["first", "second"], object), "run": "r1"},
        attrs={"contacts": ["a", "b"], "title": "text"},
    )
    for i, part in enumerate((slice(0, 5), slice(5, 12))):
        whole.isel(time=part).to_netcdf(test.work / f"x{i}.nc", unlimited_dims=["time"], engine="netcdf4")
    parts = [xarray.open_dataset(test.work / f"x{i}.nc", engine="netcdf4") for i in range(2)]
    expected = xarray.concat(parts, "time", data_vars="minimal", coords="minimal").load()
    for kind in OUTPUTS:
        test.run("nmcat", *JOIN, "x0.nc", "x1.nc", "-o", f"x.{kind}")
        with xarray.open_dataset(as_netcdf(test, f"x.{kind}"), engine="netcdf4") as found:
            found.attrs.pop("history")
            try:
                xarray.testing.assert_identical(found.load(), expected)
            except AssertionError as differs:
                test.check(False, f"xarray: {kind}: {differs}")


def check(test):
    check_netcdf(test)
    check_conflicts(test)
    check_columns(test)
    check_views(test)
    check_numbers(test)
    check_ranks(test)
    check_tiles(test)
    check_missing(test)
    check_xarray(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
