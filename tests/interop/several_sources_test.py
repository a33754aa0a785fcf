#!/usr/bin/python3
"""Files of several sources as one netCDF-4 or HDF5 file: each variable has the dimensions of its source, a user block is
given back or told as a loss.

    several_sources_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import sys

sys.dont_write_bytecode = True
import compare_files  # noqa: E402
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

USER_BLOCK = b"made by a test".ljust(512, b"\0")


def make_netcdf4(path, x, y):
    with netCDF4.Dataset(path, "w") as root:
        root.createDimension("x", x)
        root.createDimension("y", y)
        root.createDimension("time", None)
        root.createVariable("v", "f4", ("x", "y"))[:] = numpy.arange(x * y).reshape(x, y)
        root.createVariable("x", "f8", ("x", "y"))[:] = 1  # a scale of two dimensions
        root.createVariable("record", "i2", ("time", "x"))[:] = numpy.ones((x + 1, x))
        group = root.createGroup("g")
        group.createDimension("z", x + y)
        group.createVariable("w", "i4", ("x", "z"))[:] = 2


def check_dimensions(test, output, groups):
    with netCDF4.Dataset(test.work / output) as file:
        for group, x, y in groups:
            found = {
                name: [(one.name, len(one), one.isunlimited()) for one in file[f"{group}/{name}"].get_dims()]
                for name in ("v", "x", "record", "g/w")
            }
            a, b, time, z = ("x", x, False), ("y", y, False), ("time", x + 1, True), ("z", x + y, False)
            expected = {"v": [a, b], "x": [a, b], "record": [time, a], "g/w": [a, z]}
            test.check(found == expected, f"{output}: {group}: found {found}, expected {expected}")


def check_numbers(test):
    make_netcdf4(test.work / "p.nc", 2, 4)
    make_netcdf4(test.work / "q.nc", 3, 5)
    with h5py.File(test.work / "a.h5", "w") as file:
        for name in ("lat", "lon"):
            file[name] = numpy.arange(6.0)
            file[name].make_scale(name)
        file["field"] = numpy.zeros((6, 6))
        for i, name in enumerate(("lat", "lon")):
            file["field"].dims[i].attach_scale(file[name])
    with netCDF4.Dataset(test.work / "c.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 7)
        file.createVariable("u", "i4", ("x",))[:] = 3
    both = [("p", 2, 4), ("q", 3, 5)]
    test.run("nmcat", "p.nc", "q.nc", "-o", "pq.nc")
    check_dimensions(test, "pq.nc", both)
    # Scales without numbers are counted by netCDF, among the others.
    for inputs in (["a.h5", "p.nc", "q.nc"], ["q.nc", "c.nc", "p.nc", "a.h5"]):
        test.run("nmcat", *inputs, "-o", "all.nmb", "-f")
        test.run("nmconvert", "all.nmb", "all.nc", "--to", "nc4", "-f")
        check_dimensions(test, "all.nc", both)
        with netCDF4.Dataset(test.work / "all.nc") as file:
            lengths = [len(one) for one in file["a/field"].get_dims()]
            test.check(lengths == [6, 6], f"all.nc: a/field: {lengths}")
            if "c.nc" in inputs:
                lengths = [len(one) for one in file["c/u"].get_dims()]
                test.check(lengths == [7], f"all.nc: c/u: {lengths}")
    # A file by itself keeps its numbers.
    test.run("nmconvert", "q.nc", "q.nmb")
    test.run("nmconvert", "q.nmb", "again.nc")
    out = compare_files.compare(test.work / "q.nc", test.work / "again.nc")
    test.check(not out.found, f"again.nc: {out.found[:3]}")


def check_user_block(test):
    with h5py.File(test.work / "u.h5", "w", userblock_size=512) as file:
        file["d"] = numpy.arange(3)
        file.create_dataset("unwritten", (4,), "<i8")
    with open(test.work / "u.h5", "r+b") as file:
        file.write(USER_BLOCK)
    loss = 'group "/u": a user block of 512 bytes'
    test.run("nmcat", "u.h5", "p.nc", "-o", "u.nmb")
    for arguments in (["nmcat", "u.h5", "p.nc", "-o", "up.h5"], ["nmconvert", "u.nmb", "up.h5"],
                      ["nmconvert", "u.nmb", "up.h5", "--no-check"]):
        test.run(*arguments, exit_code=1, says=loss)
        test.check(not (test.work / "up.h5").exists(), f"{arguments}: wrote a file")
        test.run(*arguments, "--lossy")
        with h5py.File(test.work / "up.h5") as file:
            test.check(list(file["u/d"]) == [0, 1, 2] and not any(file["u/unwritten"]), "up.h5: other values")
        (test.work / "up.h5").unlink()
    test.run("nmcat", "u.h5", "-o", "alone.h5")
    test.run("nmconvert", "u.h5", "whole.h5")
    for name in ("alone.h5", "whole.h5"):
        found = (test.work / name).read_bytes()[:512]
        test.check(found == USER_BLOCK, f"{name}: found the user block {found[:20]}")


def check_types_and_links(test):
    for name, field in (("t.h5", "a"), ("s.h5", "b")):
        with h5py.File(test.work / name, "w") as file:
            file["gone"] = numpy.dtype([(field, "<i4")])
            file.create_dataset("d", (2,), file["gone"])
            file.create_dataset("e", (2,), file["gone"])
            del file["gone"]
            file["soft"] = h5py.SoftLink("/d")
    test.run("nmcat", "t.h5", "s.h5", "-o", "ts.nmb")
    test.run("nmconvert", "ts.nmb", "ts.h5")
    with h5py.File(test.work / "ts.h5") as file:
        for group, field in (("t", "a"), ("s", "b")):
            types = [file[group][name].id.get_type() for name in ("d", "e")]
            test.check(all(one.committed() for one in types), f"ts.h5: {group}: no named type")
            test.check(h5py.h5o.get_info(types[0]).addr == h5py.h5o.get_info(types[1]).addr, f"ts.h5: {group}: two types")
            test.check(file[group]["d"].dtype.names == (field,), f"ts.h5: {group}: {file[group]['d'].dtype}")
            test.check(file[group]["soft"] == file[group]["d"], f"ts.h5: {group}/soft leads elsewhere")


def check_virtual(test):
    spaces, unlimited = h5py.h5s, h5py.h5s.UNLIMITED
    whole, some = spaces.create_simple((4,)), spaces.create_simple((8,))
    some.select_hyperslab((2,), (1,), block=(4,))
    here = spaces.create_simple((4,), (unlimited,))
    here.select_hyperslab((0,), (unlimited,), stride=(4,), block=(4,))
    plain = spaces.create_simple((4,))
    for i, (target, name, source) in enumerate([(here, b"f-%b.h5", whole), (here, b"f-%b-%%.h5", some),
                                                (plain, b"f.h5", whole)]):
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_layout(h5py.h5d.VIRTUAL)
        create.set_virtual(target, name, b"d", source)
        path = f"virtual{i}.h5"
        with h5py.File(test.work / path, "w") as file:
            h5py.h5d.create(file.id, b"v", h5py.h5t.STD_I32LE, target, create)
        test.run("nmconvert", path, "virtual.nmb", "-f")
        test.run("nmconvert", "virtual.nmb", f"back{i}.h5")
        out = compare_files.compare(test.work / path, test.work / f"back{i}.h5")
        test.check(not out.found, f"back{i}.h5: {out.found[:3]}")


def check_zero_length(test):
    with h5py.File(test.work / "zero.h5", "w") as file:
        file["odd"] = numpy.arange(3, dtype="i1")
        file.create_dataset("zero", (0, 4), maxshape=(None, 4), chunks=(2, 4), compression="gzip")
        file["many"] = numpy.arange(100000)
    test.run("nmconvert", "zero.h5", "small.h5", "--compress", "deflate")
    test.run("nmcat", "zero.h5", "p.nc", "-o", "small2.h5", "--compress", "deflate")
    for name, group in (("small.h5", "/"), ("small2.h5", "zero")):
        with h5py.File(test.work / name) as file:
            test.check(file[group]["zero"].shape == (0, 4), f"{name}: zero: {file[group]['zero'].shape}")
            test.check(numpy.array_equal(file[group]["many"], numpy.arange(100000)), f"{name}: many: other values")


def check(test):
    check_numbers(test)
    check_user_block(test)
    check_types_and_links(test)
    check_virtual(test)
    check_zero_length(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
