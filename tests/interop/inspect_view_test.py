#!/usr/bin/python3
"""nminspect header, ls and dump show netCDF-4 content as netCDF does, in the file and in its conversion by nmconvert.

    inspect_view_test.py --tools FOLDER

On files that it makes, and on those below netcdf4/ of NMB_CORPUS if that is set. Skipped (exit code 77) without h5py or
netCDF4-python.
"""

import json
import os
import sys
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

NUMBERS_AND_TEXT = "byte ubyte short ushort int uint int64 uint64 float double char string".split()


def make_netcdf4(path):
    with netCDF4.Dataset(path, "w") as f:
        f.title = "made"
        for name, length in (("time", None), ("x", 3), ("only", 2)):
            f.createDimension(name, length)
        f.createVariable("time", "f8", ("time",))[:] = [0, 1, 2, 3]
        f.createVariable("tas", "f4", ("time", "x"))[:] = numpy.ones((4, 3))
        f.createVariable("late", "i4", ("time",))[:] = [5]
        # Of the name of a dimension, but no coordinate variable.
        f.createVariable("x", "i4", ("only", "x"))[:] = [[1, 2, 3], [4, 5, 6]]
        group = f.createGroup("more")
        group.createVariable("v", "i2", ("x",))[:] = [7, 8, 9]


def make_plain(path):
    with h5py.File(path, "w") as f:
        f["x"] = numpy.arange(3)
        f["x"].make_scale("x")
        f["v"] = numpy.arange(3)
        f["v"].dims[0].attach_scale(f["x"])


def header(test, name, block, *options):
    return json.loads(test.run("nminspect", "header", "--json", name, block, *options) or "{}")


def check_group(test, name, block, group):
    """That the header of a block says what netCDF-C says of the group."""
    found = header(test, name, block)

    def same(what, here, expected):
        test.check(here == expected, f"{name}: {block}: {what}: {here}, expected {expected}")

    if not found:
        return
    same("attributes", [a["name"] for a in found["attributes"]], group.ncattrs())
    variables = {v["name"]: v for v in found["variables"]}
    # netCDF4-python leaves out variables of some types.
    left_out = [n for n, v in variables.items() if n not in group.variables and v["type"] not in NUMBERS_AND_TEXT]
    same("variables", [n for n in variables if n not in left_out], list(group.variables))
    for n, v in group.variables.items():
        if n not in variables:
            continue
        same(f"attributes of {n}", [a["name"] for a in variables[n]["attributes"]], v.ncattrs())
        same(f"dimensions of {n}", variables[n]["dimensions"], list(v.dimensions))
    # A group's block has those too that it uses of the groups above, and not those that it does not.
    if group.parent is None:
        dimensions = {d["name"]: (d["length"], d["record"]) for d in found["dimensions"]}
        expected = {n: (len(d), d.isunlimited()) for n, d in group.dimensions.items()}
        same("dimensions", list(dimensions.items()), list(expected.items()))


def check_netcdf4(test):
    make_netcdf4(test.work / "four.nc")
    test.run("nmconvert", "four.nc", "four.nmb")
    with netCDF4.Dataset(test.work / "four.nc") as file:
        for name in ("four.nc", "four.nmb"):
            check_group(test, name, "/", file)
            check_group(test, name, "more", file["more"])
            listed = test.run("nminspect", "ls", "--what", "objects", name).split()
            test.check(listed == ["time", "tas", "late", "_nc4_non_coord_x", "more/v"], f"{name}: ls: {listed}")
            for view, count in (("auto", 5), ("netcdf", 5), ("stored", 7)):
                listed = test.run("nminspect", "ls", "--what", "objects", "--view", view, name).split()
                test.check(len(listed) == count, f"{name}: ls --view {view}: {listed}")
            stored = test.run("nminspect", "header", "--view", "stored", name)
            for hidden in ("_NCProperties", "_Netcdf4Dimid", "REFERENCE_LIST", "_nc4_non_coord_x", "float only(only)"):
                test.check(hidden in stored, f"{name}: header --view stored: no {hidden}")
            for variable in ("x", "_nc4_non_coord_x"):
                said = test.run("nminspect", "dump", name, variable)
                test.check("4, 5, 6" in said, f"{name}: dump {variable}: {said}")
            said = test.run("nminspect", "dump", "--view", "stored", name, "x")
            test.check("4, 5, 6" not in said, f"{name}: dump --view stored x: {said}")
            test.run("nminspect", "header", "--view", "other", name, exit_code=2, says="expected auto, netcdf or stored")


def check_plain(test):
    """A file with scales that netCDF did not write is shown as it is, unless netCDF's view is asked for."""
    make_plain(test.work / "plain.h5")
    test.run("nmconvert", "plain.h5", "plain.nmb")
    for name in ("plain.h5", "plain.nmb"):
        for view, there in (("auto", True), ("stored", True), ("netcdf", False)):
            said = test.run("nminspect", "header", "--view", view, name)
            for attribute in ("CLASS", "DIMENSION_LIST", "REFERENCE_LIST"):
                test.check((attribute in said) == there, f"{name}: header --view {view}: {attribute}: {said}")


def check_corpus(test, folder):
    warnings.simplefilter("ignore")
    files = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not h5py.is_hdf5(path):
            continue
        try:
            file = netCDF4.Dataset(path)
        except OSError:
            continue
        with file:
            check_group(test, path, "/", file)
            for name, group in file.groups.items():
                check_group(test, path, name, group)
        files += 1
    test.check(files > 0, f"no netCDF-4 files below {folder}")


def check(test):
    check_netcdf4(test)
    check_plain(test)
    if corpus := os.environ.get("NMB_CORPUS"):
        check_corpus(test, Path(corpus) / "netcdf4")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
