#!/usr/bin/python3
"""nmcat --mode union and join: what comes out is what numpy makes of the inputs, whatever their kinds and layouts, and
for each row of the table in docs/reference/merging.md the exit code, the message, and that an existing target stays.

    merge_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import itertools
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "merging.md"
KINDS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4")


def make(path, kind="NETCDF3_64BIT_DATA", first=0, count=3, width=4, change=None):
    """A model's output of `count` time steps; change(dataset) alters it ahead of the values."""
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.title = "run"
        out.createDimension("time", None)
        out.createDimension("x", width)
        time_ = out.createVariable("time", "f8", ("time",))
        time_.units = "days since 2000-01-01"
        time_.calendar = "standard"
        x = out.createVariable("x", "f4", ("x",))
        x.units = "m"
        # Records of two bytes each are padded to four.
        flag = out.createVariable("flag", "i2", ("time",), fill_value=numpy.int16(-1))
        flag.long_name = "state"
        t = out.createVariable("t", "f4", ("time", "x"))
        t.units = "K"
        out.history = "made"
        if change:
            change(out)
        steps = numpy.arange(first, first + count)
        if "time" in out.variables:
            out["time"][:] = steps
        out["x"][:] = numpy.arange(width) * 10
        if "flag" in out.variables:
            out["flag"][:] = steps % 7
        if "t" in out.variables and out["t"].dimensions == ("time", "x"):
            out["t"][:] = steps[:, None] * 100 + numpy.arange(width)


def values(test, file, name):
    return numpy.array(json.loads(test.run("nminspect", "dump", file, name, "--json"))["values"])


def expect(test, what, found, expected):
    found = numpy.array(found)
    test.check(
        found.size == numpy.size(expected) and numpy.array_equal(found.ravel(), numpy.ravel(expected)),
        f"{what}: found {found.ravel()[:8]}.. of {found.size}, expected {numpy.ravel(expected)[:8]}..",
    )


# --- what comes out ---


def check_classic_model(test):
    """Files of the classic model become one, if it fits the model."""
    strict = [f"strict{i}.nc" for i in range(2)]
    for i, name in enumerate(strict):
        make(test.work / name, "NETCDF4_CLASSIC", 3 * i)
    make(test.work / "loose.nc", "NETCDF4", 3)
    with netCDF4.Dataset(test.work / "fixed.nc", "w", format="NETCDF4_CLASSIC") as f:
        f.createDimension("x", 3)
        f.createVariable("v", "f4", ("x",))[:] = [1, 2, 3]
    model = "NETCDF4_CLASSIC"
    for what, arguments, expected in (
        ("join", [*JOIN.split(), *strict], model), ("join of three threads", [*JOIN.split(), *strict, "-j", "3"], model),
        ("compressed", [*JOIN.split(), *strict, "--compress", "deflate"], model),
        ("union", ["--mode", "union", strict[0], strict[0]], model), ("union of one", ["--mode", "union", strict[0]], model),
        ("union without chunks", ["--mode", "union", "fixed.nc", "fixed.nc"], model),
        ("subset", [*JOIN.split(), *strict, "--variables", "t", "--slab", "x=0:2"], model),
        ("mixed", [*JOIN.split(), strict[0], "loose.nc"], "NETCDF4"),
        ("groups", [strict[0], strict[1]], "NETCDF4"),
        ("groups of subsets", [*strict, "--slab", "x=0"], "NETCDF4"),
    ):
        test.run("nmcat", *arguments, "-o", "model.nc", "-f", "-q")
        with netCDF4.Dataset(test.work / "model.nc") as f:
            test.check(f.data_model == expected, f"{what}: found {f.data_model}, expected {expected}")
            if what == "join":
                expect(test, f"{what}: time", f["time"][:], numpy.arange(6))
    test.run("nmconvert", strict[0], "model.nc", "--to", "nc4", "--slab", "time=1", "-f")
    with netCDF4.Dataset(test.work / "model.nc") as f:
        test.check(f.data_model == model and f["time"][:].tolist() == [1], f"slab: found {f.data_model}, {f['time'][:]}")
    # An NMB file is no netCDF file.
    test.run("nmcat", *JOIN.split(), *strict, "-o", "model.nmb")
    test.check("_nc3_strict" not in test.run("nminspect", "header", "model.nmb", "--view", "stored"), "model.nmb has _nc3_strict")


def check_choice_of_dimension(test):
    """A note names the joined dimension if there are several unlimited ones."""
    for i in range(2):
        with netCDF4.Dataset(test.work / f"grow{i}.nc", "w") as f:
            f.createDimension("time", None)
            f.createDimension("station", None)
            f.createVariable("a", "f4", ("time",))[:] = [1, 2]
            f.createVariable("b", "f4", ("station",))[:] = [1, 2, 3]
    files = ("grow0.nc", "grow1.nc", "-o", "grow.nc4", "-f")
    test.run("nmcat", "--mode", "join", *files, says='joined along dimension "time"; unlimited, too: "station"; --along')
    for more in (["--along", "time"], ["--variables", "a"]):
        test.run("nmcat", "--mode", "join", *files, *more)
        test.check("unlimited, too" not in test.said, f"{more}: {test.said}")


def check_records(test):
    """Inputs of all kinds, mixed, with lengths of their own, one of them empty, and one that has a fixed length."""
    def fixed_time(out):
        out.renameDimension("time", "old")
        out.createDimension("time", 2)

    lengths = (3, 0, 1, 5)
    first = 0
    for i, (kind, count) in enumerate(zip(KINDS, lengths)):
        make(test.work / f"r{i}.nc", kind, first, count)
        first += count
    make(test.work / "r4.nc", first=first, count=2)
    test.run("nmconvert", "r4.nc", "r4.nmb")
    files = [f"r{i}.nc" for i in range(4)] + ["r4.nmb"]
    steps = numpy.arange(sum(lengths) + 2)
    for order in (files, ["r3.nc", "r0.nc", "r1.nc", "r2.nc", "r4.nmb"]):
        test.run("nmcat", "--mode", "join", *order, "-o", "joined.nmb", "-f", "--sort", "values:time")
        expect(test, "sorted with an empty file", values(test, "joined.nmb", "time"), steps)
    order = [one for one in files if one != "r1.nc"]
    for jobs in ("1", "2"):
        test.run("nmcat", "--mode", "join", *files, "-o", f"joined{jobs}.nmb", "-j", jobs)
        test.run("nmverify", f"joined{jobs}.nmb")
    test.check((test.work / "joined1.nmb").read_bytes() == (test.work / "joined2.nmb").read_bytes(), "-j 1, 2: other bytes")
    expect(test, "time", values(test, "joined1.nmb", "time"), steps)
    expect(test, "flag", values(test, "joined1.nmb", "flag"), steps % 7)
    expect(test, "t", values(test, "joined1.nmb", "t"), steps[:, None] * 100 + numpy.arange(4))
    expect(test, "x", values(test, "joined1.nmb", "x"), numpy.arange(4) * 10)
    test.run("nmcat", "--mode", "join", *reversed(order), "-o", "sorted.nmb", "--sort", "values:time")
    expect(test, "sorted", values(test, "sorted.nmb", "time"), steps)
    test.run("nmcat", "--mode", "join", *files, "-o", "coded.nmb", "--compress", "zstd")
    test.run("nmverify", "coded.nmb")
    expect(test, "coded", values(test, "coded.nmb", "t"), steps[:, None] * 100 + numpy.arange(4))
    test.run("nmcat", "--mode", "join", *files, "-o", "planned.nmb", "--dry-run")
    test.check(not (test.work / "planned.nmb").exists(), "planned.nmb: found a file of a dry run")


def check_like_ncrcat(test):
    """The classic file that comes back is ncrcat's, value by value, where there is one."""
    if not shutil.which("ncrcat"):
        return
    for i in range(3):
        make(test.work / f"n{i}.nc", first=4 * i, count=4)
    files = [f"n{i}.nc" for i in range(3)]
    subprocess.run(["ncrcat", "-O", *files, "theirs.nc"], cwd=test.work, check=True)
    test.run("nmcat", "--mode", "join", *files, "-o", "ours.nc")
    with netCDF4.Dataset(test.work / "theirs.nc") as a, netCDF4.Dataset(test.work / "ours.nc") as b:
        for name in a.variables:
            expect(test, f"ncrcat: {name}", b[name][:], a[name][:])


def check_axes(test):
    """Along a dimension of fixed length, in the first place and behind others; records beside it."""
    whole = numpy.arange(2 * 3 * 7).reshape(2, 3, 7)
    parts = ((0, 2), (2, 3), (3, 7))
    for i, (begin, end) in enumerate(parts):
        with netCDF4.Dataset(test.work / f"a{i}.nc", "w", format="NETCDF3_64BIT_DATA") as out:
            for name, length in (("t", None), ("y", 3), ("x", end - begin)):
                out.createDimension(name, length)
            out.createVariable("records", "i2", ("t", "y", "x"))[:] = whole[:, :, begin:end]
            out.createVariable("inner", "i2", ("y", "x"))[:] = whole[1, :, begin:end]
            out.createVariable("middle", "i4", ("y", "x", "y"))[:] = whole[0, :, begin:end, None] + numpy.arange(3)
            out.createVariable("first", "i1", ("x",))[:] = whole[0, 0, begin:end]
            out.createVariable("steps", "i4", ("t",))[:] = [5, 6]
    test.run("nmcat", "--mode", "join", "--along", "x", "a0.nc", "a1.nc", "a2.nc", "-o", "axes.nmb")
    test.run("nmverify", "axes.nmb")
    expect(test, "records", values(test, "axes.nmb", "records"), whole)
    expect(test, "inner", values(test, "axes.nmb", "inner"), whole[1])
    expect(test, "middle", values(test, "axes.nmb", "middle"), whole[0, :, :, None] + numpy.arange(3))
    expect(test, "first", values(test, "axes.nmb", "first"), whole[0, 0])
    expect(test, "steps", values(test, "axes.nmb", "steps"), [5, 6])


def check_read_ahead(test):
    """Threads read the next HDF5 input ahead, whatever it is: what comes out and what is said are one thread's."""
    work = test.work
    inputs = []
    for i in range(7):
        inputs.append(f"ahead_{i}.nc")
        make(work / inputs[-1], "NETCDF4" if i % 3 else "NETCDF3_64BIT_DATA", first=3 * i)
    (work / "ahead_text.nc").write_text("no netCDF at all")
    for name, more in ("good", []), ("bad", ["ahead_text.nc", "ahead_missing.nc", "ahead_6.nc"]):
        said = []
        for jobs in "1", "2":
            test.run("nmcat", "--mode=join", "-j", jobs, "-o", f"{name}_{jobs}.nmb", *inputs, *more, "--json",
                     exit_code=0 if not more else None)
            said.append((test.exit_code, test.said.replace(f"{name}_{jobs}", name)))
        test.check(said[0][0] == said[1][0] and bool(said[0][0]) == bool(more), f"{name}: exit codes {said}")
        if more:
            test.check(said[0][1] == said[1][1], f"{name}: two threads say {said[1][1]}, one {said[0][1]}")
            test.check(not (work / f"{name}_2.nmb").exists(), f"{name}: there is an output")
        else:
            same = (work / f"{name}_1.nmb").read_bytes() == (work / f"{name}_2.nmb").read_bytes()
            test.check(same, f"{name}: two threads write other bytes than one")


def check_tables(test):
    """HDF5 tables without names of dimensions, group by group."""
    rows = ({"a": 5, "b": 0}, {"a": 2, "b": 9})
    for i, lengths in enumerate(rows):
        with h5py.File(test.work / f"h{i}.h5", "w") as out:
            for group, n in lengths.items():
                out.create_dataset(f"{group}/id", data=numpy.arange(n, dtype="<u4")[:, None] + 100 * i,
                                   maxshape=(None, 1), chunks=(4, 1), compression=4)
                out.create_dataset(f"{group}/map", data=numpy.arange(n * 3, dtype="<f4").reshape(n, 3),
                                   maxshape=(None, 3), chunks=(2, 3))
    test.run("nmcat", "--mode", "join", "h0.h5", "h1.h5", "-o", "tables.nmb")
    test.run("nmverify", "tables.nmb")
    with h5py.File(test.work / "h0.h5") as a, h5py.File(test.work / "h1.h5") as b:
        for name in ("a/id", "a/map", "b/id", "b/map"):
            expect(test, name, values(test, "tables.nmb", name), numpy.concatenate([a[name][:], b[name][:]]))
    with h5py.File(test.work / "f0.h5", "w") as a, h5py.File(test.work / "f1.h5", "w") as b:
        a["v"], b["v"] = numpy.arange(6).reshape(2, 3), numpy.arange(9).reshape(3, 3)
        a["w"], b["w"] = numpy.arange(5.0), numpy.arange(4.0)
    check_rows(test)
    # A square has two dimensions.
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "f0.h5", "f1.h5", "-o", "first.nmb")
    with h5py.File(test.work / "f0.h5") as a, h5py.File(test.work / "f1.h5") as b:
        for name in ("v", "w"):
            expect(test, name, values(test, "first.nmb", "/" + name), numpy.concatenate([a[name][:], b[name][:]]))


def check_rows(test):
    """--along axis:0: tables that have as many rows as another table in some files only. Names of dimensions do not matter."""
    def make(name, **rows):
        with h5py.File(test.work / name, "w") as out:
            for table, n in rows.items():
                out[table] = numpy.arange(2 * n, dtype="<i4").reshape(n, 2) if table.endswith("_b") else numpy.arange(float(n))

    join = ["nmcat", "--mode", "join", "--along", "axis:0"]
    make("r0.h5", x_a=5, x_b=7, y_a=5)
    make("r1.h5", x_a=6, x_b=8, y_a=5)
    test.run(*join, "r0.h5", "r1.h5", "-o", "rows.h5", exit_code=1,
             says='shape y_a: found 5 rows, expected 6 rows like the first dimension of "x_a": r0.h5 and r1.h5')
    test.run(*join, "r1.h5", "r0.h5", "-o", "rows.h5", exit_code=1,
             says='shape y_a: found the first dimension of "x_a", expected a first dimension that no other variable has: r1.h5 and r0.h5')
    test.check(not (test.work / "rows.h5").exists(), "tables with other rows: wrote a file")
    # Each block is joined alone.
    for output in ("rows.h5", "rows.nmb"):
        test.run(*join, "r0.h5", "r1.h5", "-o", output, "--split-names", "^([xy])_")
    with h5py.File(test.work / "r0.h5") as a, h5py.File(test.work / "r1.h5") as b, h5py.File(test.work / "rows.h5") as out:
        for name in ("x_a", "x_b", "y_a"):
            expected, path = numpy.concatenate([a[name][:], b[name][:]]), name.replace("_", "/")
            test.check(numpy.array_equal(out[path][:], expected), f"rows: other values of {path}")
            expect(test, path, values(test, "rows.nmb", path), expected)


def check_widen(test):
    """--on-mismatch=widen: numbers of several types as those of one that holds all, whatever the order; fill values and
    other attributes of the variable's own type with them; in records, along another dimension, and as one object."""
    def change(kind, fill=None, limit=None):
        def replace(out):
            out.renameVariable("t", "old_t")
            t = out.createVariable("t", kind, ("time", "x"), fill_value=None if fill is None else numpy.dtype(kind).type(fill))
            t.units = "K"
            if limit is not None:
                t.valid_max = numpy.dtype(kind).type(limit)
            out.createVariable("fixed", kind, ("x",))[:] = numpy.arange(4) * 3

        return replace

    for n, (kinds, wide) in enumerate(((("i2", "i4"), "int"), (("i4", "u4"), "int64"), (("u2", "i2"), "int"), (("i2", "f4"), "float"),
                                       (("f4", "i4"), "double"), (("i4", "f4", "u4"), "double"), (("i2", "u2", "f4"), "float"))):
        files = [f"w{n}_{i}.nc" for i in range(len(kinds))]
        for i, kind in enumerate(kinds):
            make(test.work / files[i], first=3 * i, change=change(kind, fill=99, limit=77))
        for order in (files, files[::-1]):
            told = json.loads(test.run("nmcat", "--mode", "join", *order, "-o", "w.nmb", "-f", "--on-mismatch", "widen", "--json",
                                       says="widened 2 variables: fixed"))
            test.check(told["widened"] and {one["object"] for one in told["widened"]} == {"t", "fixed"}, f"told {told['widened']}")
            test.run("nmverify", "w.nmb")
            test.run("nmconvert", "w.nmb", "w.nc", "-f")
            with netCDF4.Dataset(test.work / "w.nc") as found:
                found.set_auto_mask(False)
                t = found["t"]
                test.check(f"{wide} t(" in test.run("nminspect", "header", "w.nmb"), f"{kinds}: other type than {wide}")
                test.check(t.dtype == t._FillValue.dtype == t.valid_max.dtype and (t._FillValue, t.valid_max) == (99, 77),
                           f"{kinds}: _FillValue {t._FillValue!r}, valid_max {t.valid_max!r}")
                want = []
                for name in order:
                    with netCDF4.Dataset(test.work / name) as source:
                        source.set_auto_mask(False)
                        want.append(source["t"][:].astype(t.dtype))
                expect(test, f"{kinds}: t", t[:], numpy.concatenate(want))
                expect(test, f"{kinds}: fixed", found["fixed"][:], numpy.arange(4) * 3)
    # Along a dimension that is not of records, behind one that is.
    for i, kind in enumerate(("i2", "f8")):
        make(test.work / f"along{i}.nc", change=change(kind))
        with netCDF4.Dataset(test.work / f"along{i}.nc", "a") as out:
            out["t"][:] = numpy.arange(12).reshape(3, 4) + 100 * i
            out["old_t"].long_name = "other"
    test.run("nmcat", "--mode", "join", "--along", "x", "along0.nc", "along1.nc", "-o", "along.nmb", "--on-mismatch=widen")
    first = numpy.arange(12.0).reshape(3, 4)
    expect(test, "along x", values(test, "along.nmb", "t"), numpy.concatenate([first, first + 100], axis=1))
    # Values that were never written stay so: what is the default fill value is that of the wider type.
    for i, kind in enumerate(("i2", "i4")):
        make(test.work / f"fill{i}.nc", first=3 * i, change=change(kind))
        with netCDF4.Dataset(test.work / f"fill{i}.nc", "a") as out:
            out["t"][1] = netCDF4.default_fillvals[kind]
    test.run("nmcat", "--mode", "join", "fill0.nc", "fill1.nc", "-o", "fill.nmb", "--on-mismatch=widen")
    found = values(test, "fill.nmb", "t").reshape(6, 4)
    test.check(all(found[row].tolist() == [netCDF4.default_fillvals["i4"]] * 4 for row in (1, 4)), f"fill values: {found}")
    # One object of several inputs: compared as numbers.
    test.run("nmcat", "--mode", "union", "along0.nc", "along0.nc", "-o", "alike.nmb", "--on-mismatch=widen")
    test.run("nmcat", "--mode", "union", "along0.nc", "along1.nc", "-o", "other.nmb", "--on-mismatch=widen", exit_code=1,
             says="values t: found 100. at [0,0], expected 0.")
    # Whatever the order, never a type that does not hold all: what two types became is one of them, too.
    kinds = {"i2": 32767, "u2": 65534, "i4": 16777217, "f4": 0.5, "u4": 4294967294, "i8": 2**53 + 1}
    for kind, value in kinds.items():
        with netCDF4.Dataset(test.work / f"p_{kind}.nc", "w", format="NETCDF3_64BIT_DATA") as out:
            out.createDimension("time", None)
            out.createVariable("v", kind, ("time",))[:] = numpy.array([value], kind)
    for some in (("i4", "u4", "i8", "f4"), ("i2", "u2", "i4", "f4"), ("i2", "u2", "f4")):
        outcomes = set()
        for order in itertools.permutations(some):
            files = [f"p_{kind}.nc" for kind in order]
            test.run("nmcat", "--mode", "join", *files, "-o", "p.nmb", "-f", "--on-mismatch=widen", exit_code=None)
            outcomes.add(test.exit_code)
            if test.exit_code == 0:
                expect(test, f"{order}", values(test, "p.nmb", "v"), [kinds[kind] for kind in order])
        test.check(outcomes == {1 if "i8" in some else 0}, f"{some}: exit codes {outcomes}")
    # HDF5 has no default fill values, and missing_value tells them itself.
    for i, (kind, numbers) in enumerate((("u2", [1, 65535]), ("u4", [2, 65535, 70000]))):
        with h5py.File(test.work / f"plain{i}.h5", "w") as out:
            out.create_dataset("v", data=numpy.array(numbers, kind), maxshape=(None,), chunks=(2,))
    test.run("nmcat", "--mode", "join", "plain0.h5", "plain1.h5", "-o", "plain.nmb", "--on-mismatch=widen")
    expect(test, "no default fill values", values(test, "plain.nmb", "v"), [1, 65535, 2, 65535, 70000])
    for i, kind in enumerate(("i2", "i4")):
        with netCDF4.Dataset(test.work / f"told{i}.nc", "w", format="NETCDF3_64BIT_DATA") as out:
            out.createDimension("time", None)
            v = out.createVariable("v", kind, ("time",))
            v.missing_value = numpy.dtype(kind).type(-32767)
            v.set_auto_mask(False)
            v[:] = [1, -32767]
    test.run("nmcat", "--mode", "join", "told0.nc", "told1.nc", "-o", "told.nmb", "--on-mismatch=widen")
    expect(test, "missing values", values(test, "told.nmb", "v"), [1, -32767, 1, -32767])
    for name, kind in (("u0.nc", "i1"), ("u1.nc", "i2")):
        with netCDF4.Dataset(test.work / name, "w", format="NETCDF3_64BIT_DATA") as out:
            out.createDimension("time", None)
            out.createVariable("v", kind, ("time",))._Unsigned = "true"
    test.run("nmcat", "--mode", "join", "u0.nc", "u1.nc", "-o", "u.nmb", "--on-mismatch=widen", exit_code=1, says="type v")
    # Values that no type holds, and values that are not numbers.
    for kinds in (("i8", "u8"), ("i8", "f8"), ("S1", "i1")):
        for i, kind in enumerate(kinds):
            make(test.work / f"none{i}.nc", first=3 * i, change=replace_t(kind))
        test.run("nmcat", "--mode", "join", "none0.nc", "none1.nc", "-o", "none.nmb", "--on-mismatch=widen", exit_code=1, says="type t")
    test.run("nmcat", "--mode", "tiles", "fill0.nc", "-o", "none.nmb", "--on-mismatch=widen", exit_code=2, says="needs --mode union or join")


def make_events(path, events, tables, kind="u4"):
    """A list of events, and tables with a row for each of some of them."""
    with h5py.File(path, "w") as out:
        for name, rows in {"spill": events, **tables}.items():
            rows = numpy.array(rows, kind).reshape(-1, 1)
            out.create_dataset(f"{name}/evt", data=rows, maxshape=(None, 1), chunks=(16, 1))
            out.create_dataset(f"{name}/value", data=rows * 2.5, maxshape=(None, 1), chunks=(16, 1))


def check_keys(test):
    """--key: numbers of the events, over all files, in each table that has some."""
    lists = [[3, 3, 5, 9, 9, 9, 20], [1, 2, 3], [7]]
    tables = [{"a": [3, 9, 9, 20], "b": []}, {"a": [2, 2, 2], "b": [1, 3]}, {"a": [], "b": [7, 7]}]
    files = [f"key{i}.h5" for i in range(3)]
    for file, events, rows in zip(files, lists, tables):
        make_events(test.work / file, events, rows)
    want = {"spill": [0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7], "a": [0, 2, 2, 3, 5, 5, 5], "b": [4, 6, 7, 7]}
    for key in ("evt", "spill/evt"):
        for out in ("key.nmb", "key.h5"):
            test.run("nmcat", "--mode", "join", "--along", "axis:0", *files, "-o", out, "-f", "--key", key)
            for table, numbers in want.items():
                expect(test, f"{out}: {table}/evt.seq", values(test, out, f"{table}/evt.seq"), numbers)
        test.run("nmverify", "key.nmb")
        test.check("int64 evt.seq(" in test.run("nminspect", "header", "key.nmb", "a"), "evt.seq is no int64 of a's dimension")
    # One file is numbered too; tables without the variable get none.
    with h5py.File(test.work / "key0.h5", "a") as out:
        out.create_dataset("other/value", data=numpy.arange(3.0).reshape(3, 1), maxshape=(None, 1), chunks=(16, 1))
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "key0.h5", "-o", "one.nmb", "--key", "evt")
    expect(test, "one file", values(test, "one.nmb", "a/evt.seq"), [0, 2, 2, 3])
    test.check("seq" not in test.run("nminspect", "header", "one.nmb", "other"), "a table without events has numbers")

    join = ("--mode", "join", "--along", "axis:0", "key1.h5", "bad.h5", "-o", "bad.nmb", "--key", "evt")
    for events, rows, kind, says in (
        ([1, 4, 2], {"a": [1], "b": []}, "u4", "partition key evt: found 2 at [2] after 4, expected values that do not decrease: bad.h5"),
        ([1, 2], {"a": [2, 5], "b": []}, "u4", "partition key a/evt: found 5 at [1], expected one of the 2 events of its file: bad.h5"),
    ):
        make_events(test.work / "bad.h5", events, rows, kind)
        test.run("nmcat", *join, exit_code=1, says=says)
    # With what else is wrong; what an input lacks for another reason is not told twice.
    make_events(test.work / "bad.h5", [1, 2], {"a": [2, 5], "b": [9]})
    with h5py.File(test.work / "bad.h5", "a") as out:
        del out["b/evt"], out["a/value"]
        out.create_dataset("b/evt", data=[[1.5]], maxshape=(None, 1))
        out.create_dataset("a/value", data=numpy.array([[1], [2]], "i2"), maxshape=(None, 1))
    for says in ("type a/value", "type b/evt", "partition key a/evt: found 5 at [1]"):
        test.run("nmcat", *join, exit_code=1, says=says)
    words = test.run("nmcat", *join, "--json", exit_code=1)
    test.check(len(json.loads(words)["conflicts"]) == 3, f"conflicts of a key with others: found {words}")
    for name in ("bad.h5", "real.h5"):
        make_events(test.work / name, [1.5], {"a": [], "b": []}, "f4")
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "bad.h5", "real.h5", "-o", "bad.nmb", "--key", "evt", exit_code=1,
             says="partition key evt: found float, expected integers")
    with h5py.File(test.work / "bad.h5", "w") as out:
        out["a/evt"] = numpy.zeros((2, 1), "u4")
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "bad.h5", "-o", "bad.nmb", "--key", "evt", exit_code=1,
             says="partition key evt: found no joined variable of this name")
    test.run("nmcat", "--mode", "join", "--along", "axis:0", "one.nmb", "one.nmb", "-o", "bad.nmb", "--key", "evt", exit_code=1,
             says="variable name a/evt.seq")
    test.run("nmcat", "key0.h5", "-o", "bad.nmb", "--key", "evt", exit_code=2, says="--mode join")


def check_fill(test):
    """--missing=fill: fill values where an input has none; --on-mismatch=skip: the first one's."""
    make(test.work / "m0.nc")
    make(test.work / "m1.nc", first=3, change=lambda out: out.renameVariable("flag", "other"))
    test.run("nmcat", "--mode", "join", "m0.nc", "m1.nc", "-o", "filled.nmb", "--missing", "fill")
    expect(test, "filled", values(test, "filled.nmb", "flag"), [0, 1, 2, -1, -1, -1])
    make(test.work / "m2.nc", first=3, change=lambda out: out["t"].setncatts({"units": "degC", "axis": "T"}))
    test.run("nmcat", "--mode", "join", "m0.nc", "m2.nc", "-o", "skipped.nmb", "--on-mismatch", "skip", exit_code=1,
             says="attribute t@units")
    test.run("nmcat", "--mode", "join", "m0.nc", "m2.nc", "-o", "skipped.nmb", "--on-mismatch", "skip", "--missing",
             "fill", says="left out 1 object that differs from the first file")
    found = values(test, "skipped.nmb", "t")
    expect(test, "skipped", found[:3], numpy.arange(3)[:, None] * 100 + numpy.arange(4))
    # Without the dimension nothing is filled: the values of the one that has it are all there are, which is told.
    make(test.work / "fixed0.nc", change=lambda out: out.createVariable("extra", "f4", ("x",)))
    make(test.work / "fixed1.nc", first=3)
    told = json.loads(test.run("nmcat", "--mode", "join", "fixed0.nc", "fixed1.nc", "-o", "fixed.nmb", "--missing=fill", "--json"))
    found = [(one["kind"], one["object"], one["files"]) for one in told["filled"]]
    test.check(found == [("constant variable", "extra", ["fixed0.nc", "fixed1.nc"])], f"fixed: told {found}")
    # One of many files has them, in any place: along the dimension and not.
    def two(out):
        out.createVariable("extra", "f4", ("x",))[:] = numpy.arange(4)
        out.createVariable("once", "f4", ("time", "x"))[:] = numpy.ones((2, 4))

    for place in (0, 3, 6):
        names = [f"many{i}.nc" for i in range(7)]
        for i, name in enumerate(names):
            make(test.work / name, first=2 * i, count=2, change=two if i == place else None)
        for target in "once.nmb", "once.nc":
            told = json.loads(test.run("nmcat", "--mode", "join", *names, "-o", target, "-f", "--missing=fill", "--json",
                                       says="took from other files 1 missing constant variable: extra (6)"))
            test.check("used fill values for 1 missing object: once (6)" in test.said, f"{target}, {place}: said {test.said}")
            test.check(sorted({(one["kind"], one["object"]) for one in told["filled"]}) ==
                       [("constant variable", "extra"), ("missing variable", "once")] and len(told["filled"]) == 12,
                       f"{target}, {place}: told {told['filled']}")
            with netCDF4.Dataset(test.work / "once.nc") if target == "once.nc" else contextlib.nullcontext() as out:
                if out:
                    expect(test, "extra", out["extra"][:], numpy.arange(4))
                    kept = numpy.ma.getmaskarray(out["once"][:])
                    test.check(kept.sum() == 48 and not kept[2 * place : 2 * place + 2].any(), f"once of {place}: {kept}")
        test.run("nmcat", "--mode", "join", *names, "-o", "no.nmb", "--missing=fill", "--strict", exit_code=1)
        test.run("nmcat", "--mode", "join", *names, "-o", "no.nmb", exit_code=1, says="extra")
    make(test.work / "fixed0.nc")
    make(test.work / "fixed1.nc", first=3, change=rename("flag", "other"))
    told = json.loads(test.run("nmcat", "--mode", "join", "fixed0.nc", "fixed1.nc", "-o", "part.nmb", "--missing=fill", "--json"))
    found = [(one["object"], one["files"]) for one in told["filled"]]
    test.check(found == [("other", ["fixed1.nc", "fixed0.nc"]), ("flag", ["fixed0.nc", "fixed1.nc"])], f"filled: told {found}")


def check_missing_group(test):
    """--missing=fill: a group that shares the record dimension of the root keeps the rows of the root's records."""
    def write(path, first, group=True, own=False, variable=True):
        with netCDF4.Dataset(test.work / path, "w") as out:
            out.createDimension("time", None)
            out.createVariable("time", "f8", ("time",))[:] = [first, first + 1]
            if group:
                inner = out.createGroup("g")
                if own:
                    inner.createDimension("time", None)
                    inner.createVariable("time", "f8", ("time",))[:] = [first, first + 1]
                if variable:
                    inner.createVariable("w", "i4", ("time",), fill_value=-1)[:] = [10 * first, 10 * first + 1]
                inner.createVariable("constant", "i4", ())[:] = 7
                if variable:
                    inner.createGroup("h").createVariable("u", "i4", ("time",), fill_value=-2)[:] = [first, first]

    write("m0.nc", 0)
    write("m1.nc", 2, group=False)
    write("m2.nc", 4, variable=False)
    write("m3.nc", 6)
    rows = {"m0.nc": [0, 1], "m1.nc": [-1, -1], "m2.nc": [-1, -1], "m3.nc": [60, 61]}
    deep = {"m0.nc": [0, 0], "m1.nc": [-2, -2], "m2.nc": [-2, -2], "m3.nc": [6, 6]}
    orders = list(itertools.permutations(rows)) + [("m0.nc", "m1.nc"), ("m1.nc", "m2.nc", "m3.nc"), ("m2.nc", "m3.nc")]
    for order in orders:
        test.run("nmcat", "--mode", "join", *order, "-o", "missing.nmb", "-f", "--missing=fill", says="used fill values for")
        for name, expected in (("g/w", rows), ("g/h/u", deep)):
            expect(test, f"{order}: {name}", values(test, "missing.nmb", name), numpy.concatenate([expected[one] for one in order]))
    # With a coordinate of its own the group has rows of its own.
    write("o0.nc", 0, own=True)
    write("o1.nc", 2, group=False)
    told = json.loads(test.run("nmcat", "--mode", "join", "o0.nc", "o1.nc", "o0.nc", "-o", "own.nmb", "--missing=fill", "--json",
                               says="added no rows for 1 missing block: g"))
    test.check("missing block, no rows" in [one["kind"] for one in told["filled"]], f"own: told {told['filled']}")
    expect(test, "own: g/time", values(test, "own.nmb", "g/time"), [0, 1, 0, 1])


def check_shared_records(test):
    """A record dimension is as long as the longest variable of all groups that use it; behind others netCDF shows fill values."""
    for i, (root, inner) in enumerate(((2, 4), (3, 1))):
        with netCDF4.Dataset(test.work / f"long{i}.nc", "w") as out:
            out.createDimension("time", None)
            out.createVariable("v", "i4", ("time",), fill_value=-1)[:] = 10 * i + numpy.arange(root)
            out.createGroup("g").createVariable("w", "i4", ("time",), fill_value=-2)[:] = 10 * i + numpy.arange(inner)
    v, w = [0, 1, -1, -1, 10, 11, 12], [0, 1, 2, 3, 10, -2, -2]
    for i in range(2):
        test.run("nmcat", f"long{i}.nc", "-o", f"long{i}.nmb", "--block-name", "{group}")
    for files in (["long0.nc", "long1.nc"], ["long0.nmb", "long1.nc"]):
        test.run("nmcat", "--mode", "join", *files, "-o", "long.nmb", "-f")
        expect(test, f"{files}: v", values(test, "long.nmb", "v"), v)
        expect(test, f"{files}: w", values(test, "long.nmb", "g/w"), w)
    test.run("nmcat", "--mode", "union", "long0.nc", "long0.nc", "-o", "both.nmb", says="the same file as the input")
    expect(test, "union: v", values(test, "both.nmb", "v"), v[:4])
    test.run("nmconvert", "long0.nc", "long.nc", "--to", "cdf5", "--lossy")
    expect(test, "classic: v", values(test, "long.nc", "v"), v[:4])


def group_dimensions(path):
    """Of each group: length and whether it is unlimited."""
    found = {}

    def visit(group):
        found[group.path] = {name: (len(one), one.isunlimited()) for name, one in group.dimensions.items()}
        for child in group.groups.values():
            visit(child)

    with netCDF4.Dataset(path) as root:
        visit(root)
    return found


def write_groups(path, name, rows=3, own=True):
    """Root dimensions that only groups use, one of them at two levels; /g/like/x is another dimension than /x."""
    with netCDF4.Dataset(path, "w") as out:
        out.createDimension("t", None)
        out.createDimension("x", 2)
        g = out.createGroup("g")
        g.createDimension("k", 3)
        v = g.createVariable("v", "f8", ("t", "x"))
        v[:] = numpy.arange(2 * rows).reshape(rows, 2)
        if own:
            g.createVariable(f"w{name}", "i2", ("k", "x"))[:] = 5
        g.createVariable("k", "f4", ("k", "x"))[:] = 1
        g.createVariable("x", "i4", ("x",))[:] = [7, 8]  # no coordinate: the dimension is the root's
        h = g.createGroup("h")
        h.createVariable("deep", "i4", ("t", "k"))[:] = numpy.arange(3 * rows).reshape(rows, 3)
        like = g.createGroup("like")
        like.createDimension("x", 2)
        like.createVariable("u", "i1", ("t", "x"))[:] = numpy.ones((rows, 2), "i1")


def check_shared_dimensions(test):
    """Groups use the dimensions of groups above that they used in the sources, and have their own where these had some."""
    for name in "ab":
        write_groups(test.work / f"dims_{name}.nc", name)
    files = ["dims_a.nc", "dims_b.nc"]
    test.run("nmcat", "--mode", "union", *files, "-o", "dims.nc4")
    test.run("nmcat", "--mode", "union", *files, "-o", "dims.nmb")
    test.run("nmverify", "dims.nmb")
    test.run("nmconvert", "dims.nmb", "dims_2.nc4")
    test.run("nmconvert", "dims.nmb", "dims.h5")
    # United files are used again: with another file, packed below another name, compressed.
    test.run("nmcat", "--mode", "union", "dims.nmb", "dims_a.nc", "-o", "dims_3.nc4")
    test.run("nmconvert", "dims.nmb", "dims_z.nmb", "--compress", "deflate")
    test.run("nmconvert", "dims_z.nmb", "dims_4.nc4")
    expected = group_dimensions(test.work / "dims_a.nc")
    for output in ("dims.nc4", "dims_2.nc4", "dims.h5", "dims_3.nc4", "dims_4.nc4"):
        found = group_dimensions(test.work / output)
        test.check(found == expected, f"{output}: found {found}, expected {expected}")
        with netCDF4.Dataset(test.work / output) as out, netCDF4.Dataset(test.work / "dims_a.nc") as source:
            for path in ("g/v", "g/k", "g/wa", "g/x", "g/h/deep", "g/like/u"):
                one, two = out[path], source[path]
                test.check([d.group().path for d in one.get_dims()] == [d.group().path for d in two.get_dims()],
                           f"{output}: {path}: groups of its dimensions")
                expect(test, f"{output}: {path}", one[:], two[:])
        # HDF5's own interface finds all users of a scale.
        with h5py.File(test.work / output) as out:
            users = {out[user].name for user, _ in out["x"].attrs["REFERENCE_LIST"]}
            test.check(users >= {"/g/v", "/g/wa", "/g/wb", "/g/x"}, f"{output}: users of /x: {users}")
            test.check("/g/like/u" not in users, f"{output}: users of /x: {users}")
    test.run("nmcat", "dims.nmb", "-o", "dims_p.nmb")
    test.run("nmconvert", "dims_p.nmb", "dims_p.nc4")
    found = group_dimensions(test.work / "dims_p.nc4")
    test.check(found.get("/dims/g/h") == {} and found["/dims"] == expected["/"], f"dims_p.nc4: found {found}")
    # A group by itself has all its dimensions.
    test.run("nmconvert", "dims.nmb", "dims_h.nc", "--extract", "g/h", "--to", "cdf5")
    with netCDF4.Dataset(test.work / "dims_h.nc") as out:
        test.check({n: len(d) for n, d in out.dimensions.items()} == {"t": 3, "k": 3}, f"dims_h.nc: found {out.dimensions}")
        expect(test, "dims_h.nc", out["deep"][:], numpy.arange(9).reshape(3, 3))
    test.run("nmconvert", "dims.nmb", "dims_g.nc4", "--extract", "g")
    found = group_dimensions(test.work / "dims_g.nc4")
    test.check(found["/g"] == {"t": (3, True), "x": (2, False), "k": (3, False)} and found["/g/h"] == {"t": (3, True)},
               f"dims_g.nc4: found {found}")
    # Joined along a dimension that only groups use.
    for i, rows in enumerate((2, 3)):
        write_groups(test.work / f"rows_{i}.nc", "", rows, own=False)
    test.run("nmcat", "--mode", "join", "rows_0.nc", "rows_1.nc", "-o", "rows.nc4")
    found = group_dimensions(test.work / "rows.nc4")
    test.check(found == expected | {"/": {"t": (5, True), "x": (2, False)}}, f"rows.nc4: found {found}")
    # A group that has a dimension of its own in one input has it in the output.
    for name in "ab":
        with netCDF4.Dataset(test.work / f"level_{name}.nc", "w") as out:
            out.createDimension("x", 2)
            g = out.createGroup("g")
            if name == "b":
                g.createDimension("x", 2)
            g.createVariable(f"v{name}", "i4", ("x",))[:] = [1, 2]
    test.run("nmcat", "--mode", "union", "level_a.nc", "level_b.nc", "-o", "level.nc4")
    found = group_dimensions(test.work / "level.nc4")
    test.check(found == {"/": {"x": (2, False)}, "/g": {"x": (2, False)}}, f"level.nc4: found {found}")


def check_scopes(test):
    """--along names a dimension; a group below that defines another dimension of this name has its own."""

    def make(path, start, own, grows=True, rows=4):
        """own: what group g has: "same", "other" or "grows"."""
        with netCDF4.Dataset(path, "w") as out:
            out.createDimension("time", None if grows else 3)
            out.createDimension("x", 2)
            out.createVariable("time", "f8", ("time",))[:] = numpy.arange(3) + start
            group = out.createGroup("g")
            group.createDimension("time", None if own == "grows" else rows)
            group.createVariable("own", "i4", ("time",))[:] = numpy.arange(rows) + (0 if own == "same" else start)
            below = group.createGroup("below")
            below.createVariable("own", "i4", ("time",))[:] = numpy.arange(rows)
            shares = out.createGroup("h")
            shares.createVariable("w", "i4", ("time", "x"))[:] = numpy.arange(6).reshape(3, 2) + start

    def lengths(path):
        with netCDF4.Dataset(test.work / path) as out:
            return [out["time"].size, out["h/w"].shape[0], out["g/own"].size, out["g/below/own"].size]

    def join(own, along, output="scopes.nc4", grows=True, rows=(4, 4), **more):
        for i in range(2):
            make(test.work / f"scope_{i}.nc", 3 * i, own, grows, rows[i])
        words = ("--along", along) if along else ()
        test.run("nmcat", "--mode", "join", *words, "scope_0.nc", "scope_1.nc", "-o", output, "-f", **more)
        return test.exit_code == 0

    for output in "scopes.nc4", "scopes.h5":
        for own, along, expected in (
            ("same", "time", [6, 6, 4, 4]), ("same", None, [6, 6, 4, 4]), ("same", "/time", [6, 6, 4, 4]),
            ("grows", None, [6, 6, 8, 8]),
        ):
            if join(own, along, output):
                test.check(lengths(output) == expected, f"--along {along} of {own}, {output}: {lengths(output)}, expected {expected}")
    # The values of a dimension that is not joined must be equal, and so must its length.
    join("other", "time", exit_code=1, says="own")
    join("same", "time", rows=(4, 5), exit_code=1, says="dimension")
    # Which dimension is meant?
    for own, grows in ("grows", True), ("same", False):
        join(own, "time", grows=grows, exit_code=1, says="--along /time or --along /g/time")
        test.check("dimension time" in test.said, f"{own}: does not name the dimension: {test.said}")
    # A path says it. The records of all files are equal here.
    for i in range(2):
        make(test.work / f"scope_{i}.nc", 0, "grows", False)
    test.run("nmcat", "--mode", "join", "--along", "/g/time", "scope_0.nc", "scope_1.nc", "-o", "scopes.nc4", "-f")
    test.check(lengths("scopes.nc4") == [3, 3, 8, 8], f"--along /g/time: {lengths('scopes.nc4')}")
    test.run("nmcat", "--mode", "join", "--along", "/h/time", "scope_0.nc", "scope_1.nc", "-o", "no.nc4", exit_code=1, says="/h/time")
    # Groups beside each other have equal rights.
    for i in range(2):
        with netCDF4.Dataset(test.work / f"beside_{i}.nc", "w") as out:
            for name, rows in ("a", 2), ("b", 3):
                group = out.createGroup(name)
                group.createDimension("time", rows)
                group.createVariable("v", "i4", ("time",))[:] = numpy.arange(rows) + 10 * i
    test.run("nmcat", "--mode", "join", "--along", "time", "beside_0.nc", "beside_1.nc", "-o", "beside.nc4")
    with netCDF4.Dataset(test.work / "beside.nc4") as out:
        test.check([out["a/v"].size, out["b/v"].size] == [4, 6], f"beside.nc4: found {out['a/v']}, {out['b/v']}")


def check_unused_records(test):
    """A dimension that nothing in a file uses has no length there; one that is used does."""
    for i, rows in enumerate((None, 2, 0, 3)):
        with netCDF4.Dataset(test.work / f"unused{i}.nc", "w") as out:
            out.createDimension("t", None)
            out.createVariable(f"s{i}", "i4", ())[...] = i
            if rows is not None:
                made = out.createGroup("g" if i == 1 else f"h{i}").createVariable("v", "i4", ("t",))
                made[:] = numpy.arange(rows)
    for files in (["unused0.nc", "unused1.nc"], ["unused1.nc", "unused0.nc"]):
        test.run("nmcat", "--mode", "union", *files, "-o", "unused.nc4", "-f")
        found = group_dimensions(test.work / "unused.nc4")
        test.check(found == {"/": {"t": (2, True)}, "/g": {}}, f"{files}: found {found}")
    for second, text in (("unused2.nc", "found 0 records, expected 2 records"),
                         ("unused3.nc", "found 3 records, expected 2 records")):
        test.run("nmcat", "--mode", "union", "unused1.nc", second, "-o", "no.nc4", exit_code=1, says=text)
    # Another file uses the dimension at a place that no record dimension can have.
    for name, length in (("unused4.nc", 4), ("unused5.nc", None), ("unused6.nc", None)):
        with netCDF4.Dataset(test.work / name, "w") as out:
            out.createDimension("s", 2)
            out.createDimension("t", length)
            out.createVariable("u", "i4", ("s",))[:] = [1, 2]
            if name != "unused6.nc":
                out.createVariable("w", "i4", ("s", "t"))[:] = numpy.arange(8).reshape(2, 4)
    for used in ("unused4.nc", "unused5.nc"):
        for files in ((used, "unused6.nc"), ("unused6.nc", used)):
            test.run("nmcat", "--mode", "join", "--along", "s", "--missing=fill", *files, "-o", "unused.nc4", "-f")
            with netCDF4.Dataset(test.work / "unused.nc4") as file:
                first = 2 * files.index(used)
                found = file["w"][first : first + 2]
                test.check((found == numpy.arange(8).reshape(2, 4)).all(), f"{files}: found {found}")
                test.check(file["w"].shape == (4, 4) and file["w"][:].mask.sum() == 8, f"{files}: found {file['w'][:]}")
                grows = used == "unused5.nc" or files[0] != used
                test.check(file.dimensions["t"].isunlimited() == grows, f"{files}: {file.dimensions['t']}")
            test.run("nmcat", "--mode", "union", *files, "-o", "unused.nc4", "-f")
            found = group_dimensions(test.work / "unused.nc4")
            test.check(found == {"/": {"s": (2, False), "t": (4, grows)}}, f"union of {files}: found {found}")


def check_union(test):
    """Halves of samples in two files become whole ones; what both have is there once."""
    for i, names in enumerate((("x", "y", "n"), ("z", "n"))):
        with h5py.File(test.work / f"u{i}.h5", "w") as out:
            for event in range(3):
                for name in names:
                    out[f"evt{event}/{name}"] = numpy.arange(4) + event
            out[f"only{i}/v"] = [i]
    test.run("nmcat", "--mode", "union", "u0.h5", "u1.h5", "-o", "union.nmb")
    test.run("nmverify", "union.nmb")
    found = test.run("nminspect", "ls", "union.nmb").split()
    test.check([one for one in found if one != "/"] == ["evt0", "evt1", "evt2", "only0", "only1"], f"union: blocks {found}")
    for name in "xyzn":
        expect(test, f"union: {name}", values(test, "union.nmb", f"evt2/{name}"), numpy.arange(4) + 2)
    # A block of one input is taken over as it is, with all that HDF5 needs.
    test.run("nmconvert", "union.nmb", "union.h5")
    with h5py.File(test.work / "union.h5") as back:
        test.check(back["only1/v"].dtype == numpy.dtype("<i8"), f"only1/v: found {back['only1/v'].dtype}, expected <i8")
    make(test.work / "v0.nc", count=2)
    make(test.work / "v1.nc", count=2)
    test.run("nmcat", "--mode", "union", "--split-names", "^(t)", "--unmatched", "keep", "v0.nc", "v1.nc", "-o", "no.nmb",
             exit_code=1, says="found an illegal name")
    test.run("nmcat", "--mode", "union", "v0.nc", "v1.nc", "-o", "same.nmb")
    expect(test, "same", values(test, "same.nmb", "t"), numpy.arange(2)[:, None] * 100 + numpy.arange(4))


def check_empty_groups(test):
    """Groups that only lead to groups are in all files, and no conflict where names are of groups alone."""
    for name in "abc":
        with h5py.File(test.work / f"events_{name}.h5", "w") as out:
            for path in (f"evt_{name}", f"run/evt_{name}"):
                out.create_dataset(f"{path}/x", data=numpy.arange(3))
    files = ["events_a.h5", "events_b.h5"]
    for jobs in ("1", "2"):
        test.run("nmcat", "--block-name", "{group}", *files, "-o", f"events{jobs}.nmb", "-j", jobs)
        test.run("nmverify", f"events{jobs}.nmb")
    test.check((test.work / "events1.nmb").read_bytes() == (test.work / "events2.nmb").read_bytes(), "events: -j 1, 2: other bytes")
    test.run("nmcat", "--block-name", "{group}", "events_c.h5", "-o", "events1.nmb", "--append")
    test.run("nmconvert", "events1.nmb", "events.h5")
    with h5py.File(test.work / "events.h5") as out:
        test.check(sorted(out) == ["evt_a", "evt_b", "evt_c", "run"], f"events.h5: found {sorted(out)}")
        test.check(sorted(out["run"]) == ["evt_a", "evt_b", "evt_c"], f"events.h5: found {sorted(out['run'])} in run")
    test.run("nmcat", "--block-name", "{group}", "--unique", "{group}", *files, "-o", "no.nmb", exit_code=1,
             says="two inputs have this group")
    with h5py.File(test.work / "events_b.h5", "a") as out:
        out["run"].attrs["number"] = 7
    test.run("nmcat", "--block-name", "{group}", *files, "-o", "no.nmb", exit_code=1, says="block name run: two inputs have a block of this name")


def check_outputs(test):
    """Other kinds of output have what the NMB file has."""
    for i in range(3):
        make(test.work / f"o{i}.nc", KINDS[i + 1], 2 * i, 2)
    files = [f"o{i}.nc" for i in range(3)]
    steps = numpy.arange(6)
    for name, kind in (("o.nc", None), ("old.nc", "cdf1"), ("o.nc3", None), ("o.nc4", None), ("o.h5", None), ("o.x", "nc4")):
        to = ["--to", kind] if kind else []
        test.run("nmcat", "--mode", "join", *files, "-o", name, *to)
        with netCDF4.Dataset(test.work / name) as found:
            expect(test, name, found["t"][:], steps[:, None] * 100 + numpy.arange(4))
            expect(test, name, found["flag"][:], steps % 7)
        test.run("nmcat", "--mode", "join", *files, "-o", name, *to, exit_code=2, says="exists")
    # Dimensions of netCDF-4 are references to paths, which begin with the block's name now.
    test.run("nmcat", *files, "-o", "packed.nc")
    with netCDF4.Dataset(test.work / "packed.nc") as found:
        expect(test, "packed.nc", found["o1/time"][:], [2, 3])
        expect(test, "packed.nc", found["o2/t"][:], steps[4:, None] * 100 + numpy.arange(4))
        test.check(found["o2/t"].dimensions == ("time", "x"), f"packed.nc: dimensions {found['o2/t'].dimensions}")
    test.run("nmcat", *files, "-o", "packed.nmb")
    test.run("nmconvert", "packed.nmb", "packed.h5")
    test.run("nmcat", "packed.nmb", "-o", "moved.nmb", "--strict")
    test.run("nmconvert", "moved.nmb", "moved.nc", "--to", "nc4")
    with netCDF4.Dataset(test.work / "moved.nc") as found:
        test.check(found["packed/o2/t"].dimensions == ("time", "x"), f"moved.nc: {found['packed/o2/t'].dimensions}")
    with h5py.File(test.work / "linked.h5", "w") as out:
        out.create_dataset("g/d", data=numpy.arange(3))
        out["g/again"] = out["g/d"]
    test.run("nmconvert", "linked.h5", "linked.nmb")
    test.run("nmcat", "linked.nmb", "-o", "moved_linked.nmb", "--strict")
    test.run("nmconvert", "moved_linked.nmb", "moved_linked.h5")
    with h5py.File(test.work / "moved_linked.h5") as found:
        test.check(found["linked/g/again"] == found["linked/g/d"], "moved_linked.h5: again leads elsewhere")
    test.run("nmcat", "packed.nmb", "-o", "same.nmb", "-f", "--block-name", "{group}", "--strict")
    test.run("nmcat", "--mode", "union", "u0.h5", "u1.h5", "-o", "many.nc", "--to", "cdf5", exit_code=1, says="--to nc4 or --to hdf5")
    test.run("nmcat", "--mode", "union", "o0.nc", "o0.nc", "-o", "one.nc")
    with h5py.File(test.work / "wide.h5", "w") as out:
        out.create_dataset("v", data=numpy.arange(3, dtype="u8"), maxshape=(None,))
    test.run("nmcat", "--mode", "join", "wide.h5", "wide.h5", "-o", "wide.nc", "--to", "cdf2", exit_code=1, says="uint64")
    test.run("nmcat", *files, "-o", "no.nc", "--to", "cdf5", exit_code=2, says="--mode pack")
    test.run("nmcat", "--mode", "join", *files, "-o", "no.nc", "--to", "cdf5", "--compress", "zstd", exit_code=2, says="--compress")
    test.run("nmcat", "--mode", "join", "missing.nc", *files, "-o", "no.nc", exit_code=2, says="missing.nc")
    test.run("nmcat", "--mode", "join", *files, "-o", "nowhere/no.nc", exit_code=2, says="nowhere")
    left = [one.name for one in test.work.iterdir() if one.name.startswith((".", "no."))]
    test.check(not left, f"outputs: left {left}")


# --- what does not go together: the rows of the table ---


class Row:
    """Files a.nc and b.nc, what is run, and what is said."""

    def __init__(self, options, code, says, first=None, second=None, files=None):
        self.options, self.code, self.says = options.split(), code, says
        self.first, self.second, self.files = first, second, files


def set_att(variable, name, value):
    return lambda out: out[variable].setncattr(name, value)


def rename(old, new):
    return lambda out: out.renameVariable(old, new)


def replace_t(kind="f4", dimensions=("time", "x")):
    def change(out):
        out.renameVariable("t", "old_t")
        out.createVariable("t", kind, dimensions).units = "K"

    return change


def other_x(out):
    out.renameDimension("x", "lon")


def shifted(work):
    make(work / "b.nc", first=3)
    with netCDF4.Dataset(work / "b.nc", "a") as out:
        out["x"][2] = 21


def overlapping(work):
    make(work / "b.nc", first=2)


def cut(work):
    make(work / "b.nc", first=3)
    os.truncate(work / "b.nc", os.path.getsize(work / "b.nc") - 9)


def no_numbers(work):
    make(work / "b.nc", first=3)
    with netCDF4.Dataset(work / "b.nc", "a") as out:
        out["time"][1] = numpy.nan


def instead(text):
    return lambda work: (work / "b.nc").write_text(text)


def group_file(path, names):
    with h5py.File(path, "w") as out:
        for name in names:
            out.create_dataset(f"{name}/v", data=numpy.arange(3), maxshape=(None,), chunks=(2,))


def two_groups(work):
    group_file(work / "a.nc", ("evt1", "evt2"))
    group_file(work / "b.nc", ("evt2",))


def compounds(work):
    for name in "ab":
        with h5py.File(work / f"{name}.nc", "w") as out:
            out["v"] = numpy.zeros(2, dtype=[("id", "i4"), ("e", "f8")])


def other_compounds(work):
    compounds(work)
    with h5py.File(work / "b.nc", "w") as out:
        out["v"] = numpy.zeros(2, dtype=[("id", "i4"), ("energy", "f8")])


def references(work):
    for name in "ab":
        with h5py.File(work / f"{name}.nc", "w") as out:
            out["v"] = numpy.array([out.ref], h5py.ref_dtype)


def many(work):
    make(work / "a.nc")
    whole = (work / "a.nc").read_bytes()
    (work / "many").mkdir()
    for i in range(10000):
        (work / "many" / f"{i:05}.nc").write_bytes(whole)
    make(work / "many" / "04711.nc", change=set_att("t", "units", "degC"))


def same_values(work):
    make(work / "a.nc")
    shutil.copy(work / "a.nc", work / "b.nc")
    with netCDF4.Dataset(work / "b.nc", "a") as out:
        out["t"][1, 2] = 7


def tiles(*parts):
    """Tiles of a row of 6 values, by their first and last index, which count from 1; and what is added to their values."""
    def files(work):
        for name, (first, last, more) in zip("ab", parts):
            with netCDF4.Dataset(work / f"{name}.nc", "w", format="NETCDF3_64BIT_DATA") as out:
                out.createDimension("x", last - first + 1)
                x = out.createVariable("x", "f4", ("x",))
                x.domain_decomposition = numpy.int32([1, 6, first, last])
                x[:] = numpy.arange(first, last + 1) + more

    return files


def tiles_with_groups(work):
    for i, name in enumerate("ab"):
        with netCDF4.Dataset(work / f"{name}.nc", "w") as out:
            out.createDimension("x", 2)
            x = out.createVariable("x", "f4", ("x",))
            x.domain_decomposition = numpy.int32([1, 4, 2 * i + 1, 2 * i + 2])
            x[:] = numpy.arange(2) + 2 * i
            out.createGroup("g").createVariable("v", "f4", ("x",))[:] = x[:]


def sets(*counts):
    """Tiles that are all there, and how many files each says that there are."""
    def files(work):
        tiles((1, 3, 0), (4, 6, 0))(work)
        for name, count in zip("ab", counts):
            with netCDF4.Dataset(work / f"{name}.nc", "a") as out:
                out.NumFilesInSet = numpy.int32(count)

    return files


JOIN = "--mode join"
TILES = "--mode tiles"
ROWS = {
    "missing variable": Row(JOIN, 1, "missing variable t", second=rename("t", "u")),
    "missing variable, `--missing=fill`": Row(JOIN + " --missing=fill", 0, "", second=rename("flag", "u")),
    "extra variable": Row(JOIN, 1, "extra variable u", second=lambda out: out.createVariable("u", "f4", ("time",))),
    "extra variable, `--on-mismatch=skip`": Row(
        JOIN + " --on-mismatch=skip", 0, "left out 1 object that differs from the first file: u",
        second=lambda out: out.createVariable("u", "f4", ("time",))),
    "other type": Row(JOIN, 1, "type t: found double, expected float", second=replace_t("f8")),
    "other type, `--on-mismatch=widen`": Row(JOIN + " --on-mismatch=widen", 0, "widened 1 variable: t",
                                             first=replace_t("f4"), second=replace_t("f8")),
    "other shape": Row(JOIN, 1, "shape t: found (time), expected (time, x)", second=replace_t(dimensions=("time",))),
    "other order of dimensions": Row(JOIN, 1, "shape p: found (y, x), expected (x, y)",
                                     first=lambda out: (out.createDimension("y", 2), out.createVariable("p", "f4", ("x", "y"))),
                                     second=lambda out: (out.createDimension("y", 2), out.createVariable("p", "f4", ("y", "x")))),
    "other dimension name": Row(JOIN, 1, "shape x: found (lon), expected (x)", second=other_x),
    "other length of a dimension": Row(JOIN, 1, "dimension x: found length 5, expected length 4",
                                       files=lambda work: make(work / "b.nc", first=3, width=5)),
    "units": Row(JOIN, 1, 'attribute t@units: found "degC", expected "K"', second=set_att("t", "units", "degC")),
    "units in one file only": Row(JOIN, 1, 'attribute t@units: found none, expected "K"',
                                  second=lambda out: out["t"].delncattr("units")),
    "time since another day": Row(JOIN, 1, "--time-units=rebase",
                                  second=set_att("time", "units", "days since 2001-01-01")),
    "time since another day, `--time-units=rebase`": Row(
        JOIN + " --time-units=rebase", 0, "from the day of the first file in 1 variable: time",
        second=set_att("time", "units", "days since 2001-01-01")),
    "time since another day that is not exact, `--time-units=rebase`": Row(
        JOIN + " --time-units=rebase", 1, "values time: found",
        second=set_att("time", "units", "days since 2001-01-01 00:10")),
    "calendar": Row(JOIN, 1, 'attribute time@calendar: found "noleap"', second=set_att("time", "calendar", "noleap")),
    "fill value": Row(JOIN, 1, "attribute t@missing_value: found 9.f, expected none",
                      second=set_att("t", "missing_value", numpy.float32(9))),
    "valid range": Row(JOIN, 1, "attribute t@valid_range: found 0.f, 9.f, expected 0.f, 999.f",
                       first=set_att("t", "valid_range", numpy.float32([0, 999])),
                       second=set_att("t", "valid_range", numpy.float32([0, 9]))),
    "valid range in one file only": Row(JOIN, 1, "attribute t@valid_range: found 0.f, 9.f, expected none",
                                        second=set_att("t", "valid_range", numpy.float32([0, 9]))),
    "valid minimum in one file only, `--on-mismatch=widen`": Row(
        JOIN + " --on-mismatch=widen", 1, "attribute t@valid_min: found 9., expected none",
        second=lambda out: (replace_t("f8")(out), out["t"].setncattr("valid_min", 9.0))),
    "scale factor": Row(JOIN, 1, "attribute flag@scale_factor: found 0.5, expected none",
                        second=set_att("flag", "scale_factor", 0.5)),
    "offset of packed values": Row(JOIN, 1, "attribute flag@add_offset: found 0.5, expected none",
                                   second=set_att("flag", "add_offset", 0.5)),
    "values of a flag": Row(JOIN, 1, 'attribute flag@flag_meanings: found "on off"',
                            second=set_att("flag", "flag_meanings", "on off")),
    "history only": Row(JOIN, 0, "kept the first value of 1 attribute that differs: history",
                        second=lambda out: out.setncattr("history", "made again")),
    "a comment in one file only": Row(JOIN, 0, "kept the first value of 1 attribute that differs: comment",
                                      second=set_att("t", "comment", "late")),
    "history only, `--atts=list`": Row(JOIN + " --atts=list", 0, 'attribute @history: found "made again", expected "made"',
                                       second=lambda out: out.setncattr("history", "made again")),
    "equal global attributes, `--atts=strict`": Row(JOIN + " --atts=strict", 0, ""),
    "history only, `--atts=strict`": Row(JOIN + " --atts=strict", 1, "attribute @history",
                                         second=lambda out: out.setncattr("history", "made again")),
    "a coordinate with other values": Row(JOIN, 1, "values x: found 21.f at [2], expected 20.f", files=shifted),
    "overlapping times": Row(JOIN, 0, "coordinate time: values are out of order at index 3: 2, then 2", files=overlapping),
    "overlapping times, `--monotonic`": Row(JOIN + " --monotonic", 1, "coordinate time", files=overlapping),
    "a time that is not a number": Row(JOIN, 0, "coordinate time: values are out of order at index 4", files=no_numbers),
    "a time dimension of fixed length in one file": Row(JOIN, 0, "", files=lambda work: subprocess.run(
        ["ncks", "-O", "--fix_rec_dmn", "time", "b.nc", "b.nc"], cwd=work, check=True) if shutil.which("ncks") else None),
    "no dimension to join along": Row(JOIN + " --along nothing", 2, 'no input has dimension "nothing"'),
    "a group that one file lacks": Row(JOIN, 1, "missing block evt1", files=two_groups),
    "a compound type": Row(JOIN + " --along axis:0", 0, "", files=compounds),
    "a compound type with other fields": Row(
        JOIN + " --along axis:0", 1, "type v: found compound{id, energy}, expected compound{id, e}", files=other_compounds),
    "a reference": Row(JOIN + " --along axis:0", 1,
                       "a type without references and without sequences of values of variable length (blocks are divided and united as classic netCDF): a.nc, "
                       "and the same in 1 more of 2",
                       files=references),
    "a group below the root in which no variable has `domain_decomposition`": Row(
        TILES, 1, "decomposition g: found no attribute domain_decomposition", files=tiles_with_groups),
    "a tile that no file has": Row(TILES, 1, "missing tile x 3 to 4",
                                   files=tiles((1, 2, 0), (5, 6, 0))),
    "a tile that no file has, `--missing=fill`": Row(
        TILES + " --missing=fill", 0, "used fill values for 1 missing object: x 3 to 4",
        files=tiles((1, 2, 0), (5, 6, 0))),
    "tiles that overlap": Row(TILES, 0, "", files=tiles((1, 4, 0), (2, 6, 0))),
    "tiles that overlap, other values": Row(TILES, 1, "values x: found 12.f at [1], expected 2.f: a.nc and b.nc",
                                            files=tiles((1, 4, 0), (2, 6, 10))),
    "tiles that overlap, other values, `--shared=first`": Row(
        TILES + " --shared=first", 0, "used the first file's values without comparing for 1 variable: x",
        files=tiles((1, 4, 0), (2, 6, 10))),
    "a set of 3 files, of which 2 are given": Row(TILES, 1, "files in set /: found 2 files, expected 3 files (NumFilesInSet)",
                                           files=sets(3, 3)),
    "a set of 3 files, of which 2 are given, `--missing=fill`": Row(
        TILES + " --missing=fill", 0, "NumFilesInSet does not match the number of files in 1 set", files=sets(3, 3)),
    "files with `NumFilesInSet` 2 and 3": Row(TILES, 1, "files in set /: found a set of 3 files, expected a set of 2 files",
                                             files=sets(2, 3)),
    "no tiles": Row(TILES, 1, "decomposition /: found no attribute domain_decomposition"),
    "the same event twice": Row("--block-name {stem}/{group} --unique {group}", 1, "group evt2: two inputs have this group",
                                files=two_groups),
    "two inputs of one name": Row("--block-name all", 1, "block name all: two inputs have a block of this name"),
    "one variable, other values": Row("--mode union", 1, "values t: found 7.f at [1,2], expected 102.f", files=same_values),
    "one variable, other values, `--shared=first`": Row(
        "--mode union --shared=first", 0, "used the first file's values without comparing for ", files=same_values),
    "a cut file": Row(JOIN, 1, "b.nc", files=cut),
    "an empty file": Row(JOIN, 2, "b.nc", files=instead("")),
    "a text file": Row(JOIN, 2, "b.nc", files=instead("time,t\n0,280\n")),
    "a folder": Row(JOIN, 2, "b.nc", files=lambda work: (os.remove(work / "b.nc"), (work / "b.nc").mkdir())),
    "no such file": Row(JOIN, 2, "b.nc: cannot open: No such file or directory", files=lambda work: os.remove(work / "b.nc")),
    "a file that cannot be read": Row(JOIN, 2, "Input/output error"),
    "a file that changes while it is read": Row(JOIN, 1, "changed"),
    "10,000 files, one of them wrong": Row(JOIN, 1, "many/04711.nc", files=many),
    "the target is an input": Row(JOIN, 2, "is also the input"),
    "the target exists": Row(JOIN, 2, "exists"),
}


def run_row(test, title, row):
    work = test.work / "row"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    make(work / "a.nc", change=row.first)
    make(work / "b.nc", first=3, change=row.second)
    if row.files:
        row.files(work)
    target, inputs = work / "out.nmb", ["a.nc", "b.nc"]
    target.write_bytes(b"as it was")
    options = row.options + ["-f"]
    if title == "the target exists":
        options.pop()
    elif title == "the target is an input":
        inputs.append("out.nmb")
        shutil.copy(work / "a.nc", target)
    elif title.startswith("10,000"):
        inputs = [f"many/{i:05}.nc" for i in range(10000)]
    before = target.read_bytes()
    (work / "list").write_text("\n".join(inputs))
    command = [test.tools / "nmcat", *options, "--files-from", "list", "-o", "out.nmb"]
    if title == "a file that cannot be read":
        command = ["strace", "-f", "-o", "/dev/null", "-P", str(work / "b.nc"), "-e", "inject=pread64:error=EIO", *command]
    elif title == "a file that changes while it is read":
        command = ["strace", "-f", "-o", "/dev/null", "-e", "inject=renameat2,rename,link,linkat:delay_enter=1500000",
                   "-e", "inject=fallocate,pwrite64:delay_enter=300000", *command]
    if command[0] == "strace" and not (shutil.which("strace") and can_trace()):
        return
    environment = os.environ | {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment) as run:
        # Whenever it is opened, it changes after that.
        while title.endswith("changes while it is read") and run.poll() is None:
            os.utime(work / "b.nc")
            time.sleep(0.05)
        said = run.communicate(timeout=120)[1]
    test.check(run.returncode == row.code, f"{title}: exit code {run.returncode}, expected {row.code}: {said[:500]}")
    test.check(row.says in said, f"{title}: said {said[:500]!r}, expected {row.says!r}")
    if row.code != 0:
        test.check(target.read_bytes() == before, f"{title}: the target was changed")
    left = sorted(one.name for one in work.iterdir() if one.name not in ("a.nc", "b.nc", "out.nmb", "list", "many"))
    test.check(not left, f"{title}: left {left}")


def can_trace():
    return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


def check_table(test):
    table = DOCS.read_text().split("## Mismatches and errors")[1]
    rows = re.findall(r"^\| (.*?) \| .*? \| (\d) \|$", table, re.M)
    test.check(
        rows == [(title, str(row.code)) for title, row in ROWS.items()],
        f"{DOCS.name}: rows {[one for one in rows if one not in [(t, str(r.code)) for t, r in ROWS.items()]]} are not"
        f" tested, or {[t for t, r in ROWS.items() if (t, str(r.code)) not in rows]} are not told",
    )
    for title, row in ROWS.items():
        run_row(test, title, row)


def check(test):
    check_records(test)
    check_classic_model(test)
    check_choice_of_dimension(test)
    check_like_ncrcat(test)
    check_axes(test)
    check_read_ahead(test)
    check_tables(test)
    check_fill(test)
    check_missing_group(test)
    check_shared_records(test)
    check_shared_dimensions(test)
    check_scopes(test)
    check_unused_records(test)
    check_widen(test)
    check_keys(test)
    check_union(test)
    check_empty_groups(test)
    check_outputs(test)
    check_table(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
