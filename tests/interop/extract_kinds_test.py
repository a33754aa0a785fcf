#!/usr/bin/python3
"""nmconvert --extract writes the kind that --to or the ending names; what it cannot write it refuses.

    extract_kinds_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import json
import sys
import time

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402
from users_view import netcdf_view  # noqa: E402

KINDS = {"cdf1": "NETCDF3_CLASSIC", "cdf2": "NETCDF3_64BIT_OFFSET", "cdf5": "NETCDF3_64BIT_DATA", "nc4": "NETCDF4", "hdf5": "NETCDF4"}


def make(path, kind, first):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.title = path.name
        file.createDimension("time", None)
        file.createDimension("x", 3)
        tas = file.createVariable("tas", "f4", ("time", "x"))
        tas.units = "K"
        tas[:] = numpy.arange(6).reshape(2, 3) + first
        if kind != "NETCDF4":
            return
        file.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
        file.createGroup("below").createVariable("v", "i4", ("x",))[:] = [3, 4, 5]


def check_kind(test, block, output, options, kind, group="/"):
    test.run("nmconvert", "all.nmb", output, "--extract", block, "-f", *options)
    with netCDF4.Dataset(test.work / f"{block}.nc") as expected, netCDF4.Dataset(test.work / output) as file:
        what = f"--extract {block}, {output} {' '.join(options)}"
        test.check(file.data_model == kind, f"{what}: {file.data_model}, expected {kind}")
        found = file[group] if group != "/" else file
        test.check(found.title == expected.title, f"{what}: title {found.title}")
        for name, variable in expected.variables.items():
            same = numpy.array_equal(found[name][...], variable[...])
            test.check(same and found[name].ncattrs() == variable.ncattrs(), f"{what}: {name} differs")
        test.check(set(found.variables) == set(expected.variables), f"{what}: variables {list(found.variables)}")


def check_losses(test):
    """Classic files and blocks in kinds that do not have their types: each loss is told; with --lossy integers get a type
    that holds them, where one does."""
    with netCDF4.Dataset(test.work / "wide.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("t", None)
        file.createDimension("x", 3)
        file.big, file.title = numpy.int64(5), "kept"
        longs = {f"long{i}": numpy.arange(4) + 2**40 for i in range(28)}
        longs |= {"small": numpy.arange(4), "inexact": numpy.arange(4) + 2**60}
        for name, values in longs.items():
            file.createVariable(name, "i8", ("t",))[:] = values
        file.createVariable("short", "i2", ("t", "x"))[:] = numpy.arange(12).reshape(4, 3)
        fixed = file.createVariable("fixed", "f4", ("x",))
        fixed.units, fixed.code = "m", numpy.uint8(3)
        fixed[:] = [1, 2, 3]
    test.run("nmconvert", "wide.nc", "wide.nmb")
    for source in "wide.nc", "wide.nmb":
        for to in "cdf1", "cdf2":
            words = ("nmconvert", source, "narrow.nc", "--to", to, "--json", "-f")
            refused = json.loads(test.run(*words, exit_code=1, says="cannot hold 32 things"))
            test.check("18 more of this kind: found type int64" in test.said, f"{words}: said {test.said}")
            report = json.loads(test.run(*words, "--lossy", says="18 more of this kind: found type int64"))
            losses = report["losses"]
            test.check(losses == refused["losses"] and len(losses) == 32, f"{words}: losses {losses[:3]}")
            test.check('attribute "fixed:code": found type ubyte' in " ".join(losses), f"{words}: losses {losses}")
            with netCDF4.Dataset(test.work / "narrow.nc") as file:
                test.check(file.data_model == KINDS[to], f"{words}: {file.data_model}")
                del longs["inexact"]
                test.check(list(file.variables) == [*longs, "short", "fixed"], f"{words}: {file}")
                test.check(file.ncattrs() == ["big", "title"] and file.big == 5 and file.big.dtype == "i4", f"{words}: {file}")
                for name, values in longs.items():
                    variable = file[name]
                    test.check(variable.dtype == ("i4" if name == "small" else "f8"), f"{words}: {name} is {variable.dtype}")
                    test.check(variable[:].tolist() == values.tolist(), f"{words}: {name} differs")
                longs["inexact"] = None
                test.check(file["short"][:].tolist() == numpy.arange(12).reshape(4, 3).tolist(), f"{words}: short differs")
                test.check(file["fixed"][:].tolist() == [1, 2, 3] and file["fixed"].code == 3, f"{words}: fixed differs")
    told = json.loads(test.run("nmcat", "--mode", "union", "wide.nc", "-o", "no.nc", "--to", "cdf1", "--json", exit_code=1))
    test.check(len(told["conflicts"]) == 32, f"nmcat: {len(told['conflicts'])} conflicts")


def check_lengths(test):
    """A group that is packed and written alone: a dimension that may grow is as long as in the whole file."""
    with netCDF4.Dataset(test.work / "grows.nc", "w") as file:
        file.createDimension("t", None)
        file.createVariable("a", "f8", ("t",))[:] = [1, 2]
        group = file.createGroup("g")
        group.createVariable("b", "i4", ("t",), fill_value=-7)[:] = [1, 2, 3]
        group.createGroup("h").createVariable("c", "i2", ("t",))[:] = [1, 2, 3, 4, 5]
    test.run("nmcat", "grows.nc", "-o", "grows.nmb", "--block-name", "{group}")
    test.run("nmcat", "grows.nc", "a.nc", "-o", "two.nmb")
    for source, stem in ("grows.nmb", ""), ("two.nmb", "grows"):
        for block, name in ("", "a"), ("g", "b"), ("g/h", "c"):
            block_name = "/".join(part for part in (stem, block) if part)
            test.run("nmconvert", source, "long.nc", "--to", "cdf5", "--extract", block_name, "-f", *(["--lossy"] if block != "g/h" else []))
            with netCDF4.Dataset(test.work / "long.nc") as one, netCDF4.Dataset(test.work / "grows.nc") as file:
                one.set_auto_mask(False)
                file.set_auto_mask(False)
                found, expected = one[name][...].tolist(), file[f"{block}/{name}"][...].tolist()
                test.check(found == expected, f"{source}, {block_name!r}: found {found}, expected {expected}")


def check_same_bytes(test):
    """HDF5 writes the time into the headers of objects unless it is told not to."""
    with netCDF4.Dataset(test.work / "times.nc", "w") as file:
        pair = file.createCompoundType(numpy.dtype([("a", "i4"), ("b", "f8")]), "pair")
        file.createDimension("x", 3)
        file.createDimension("alone", 2)
        file.createVariable("v", "f4", ("x",), zlib=True)[:] = [1, 2, 3]
        file.createGroup("g").createVariable("w", pair, ("x",))
    test.run("nmconvert", "times.nc", "times.nmb")
    for k in 1, 2:
        test.run("nmconvert", "times.nmb", f"same{k}.nc", "-f")
        time.sleep(1.1)  # seconds are what HDF5 counts
    first, second = ((test.work / f"same{k}.nc").read_bytes() for k in (1, 2))
    test.check(first == second, "same1.nc and same2.nc: other bytes")


def check_globs(test):
    """A glob writes several blocks as groups; a single match is written like a block that was named."""
    for to, output in (("nc4", "globs.nc"), ("hdf5", "globs.h5")):
        test.run("nmconvert", "all.nmb", "-o", output, "--extract", "[ab]", "--to", to, "-f")
        with netCDF4.Dataset(test.work / output) as file:
            test.check(sorted(file.groups) == ["a", "b"] and not file.variables, f"{output}: {file}")
            for name in "ab":
                with netCDF4.Dataset(test.work / f"{name}.nc") as expected:
                    found = file[name]["tas"]
                    test.check(numpy.array_equal(found[...], expected["tas"][...]), f"{output}: values of {name} differ")
                    test.check(found.units == "K" and file[name].title == f"{name}.nc", f"{output}: attributes of {name} differ")
    test.run("nmconvert", "all.nmb", "whole.nc", "--extract", "four**", "--to", "nc4", "-f")
    with netCDF4.Dataset(test.work / "whole.nc") as file:
        test.check(file["four/below/v"][...].tolist() == [3, 4, 5], "whole.nc: other values of four/below/v")
    test.run("nmconvert", "all.nmb", "single.nc", "--extract", "a*", "-f")
    test.check((test.work / "single.nc").read_bytes() == (test.work / "a.nc").read_bytes(), "a*: other bytes")
    test.run("nmconvert", "all.nmb", "no.nc", "--to", "cdf5", "--extract", "[ab]", exit_code=1, says='2 blocks match "[ab]"')
    test.run("nmconvert", "all.nmb", "no.nc", "--extract", "z*", exit_code=2, says='no block matches "z*"')


def check_dimensions_above(test):
    """A group below the root uses dimensions of the groups above; they come with their coordinates, and nothing else does."""
    with netCDF4.Dataset(test.work / "deep.nc", "w") as file:
        file.title = "deep"
        pair = file.createCompoundType(numpy.dtype([("a", "i4"), ("b", "f8")]), "pair")
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createDimension("length", 4)
        file.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
        file.createVariable("length", "S1", ("length", "x"))[:] = b"a"
        file.createVariable("large", "f8", ("time", "x"))[:] = numpy.ones((5, 3))
        group = file.createGroup("run")
        group.createDimension("y", 2)
        group.createVariable("y", str, ("y",))[:] = numpy.array(["north", "south"], object)
        group.createVariable("other", "i4", ("y",))[:] = 1
        low = group.createGroup("low")
        low.createVariable("v", "i4", ("time", "y", "x"), chunksizes=(2, 2, 3), zlib=True)[:] = numpy.arange(30).reshape(5, 2, 3)
        low.createVariable("p", pair, ("length",))[:] = numpy.array([(i, i / 2) for i in range(4)], pair.dtype)
        low.createGroup("lowest").createVariable("w", "i2", ("y",))[:] = [7, 8]
        file.createGroup("beside").createVariable("u", "i4", ("x",))[:] = [3, 2, 1]
    test.run("nmcat", "deep.nc", "a.nc", "-o", "deep.nmb")
    test.run("nmconvert", "deep.nc", "alone.nmb")
    for source, top in (("deep.nmb", "deep"), ("alone.nmb", "")):
        for wanted in ("run/low", "run/l*", "run/low/lowest"):
            name = f"{top}/{wanted}".lstrip("/")
            test.run("nmconvert", source, "low.nc", "--extract", name, "--to", "nc4", "-f")
            what, low = f"{source}, --extract {name}", f"{top}/{'run/low' if '*' in name else wanted}"
            found, expected = netcdf_view(test.work / "low.nc", low), netcdf_view(test.work / "deep.nc", low.removeprefix(top))
            for key in found.keys() | expected.keys():
                if key[1] != "their groups":
                    test.check(repr(found.get(key)) == repr(expected.get(key)), f"{what}: {key}: {found.get(key)}, expected {expected.get(key)}")
            with netCDF4.Dataset(test.work / "low.nc") as file:
                above = file[f"{top}/run"]
                test.check(list(above.variables) == ["y"] and above["y"][:].tolist() == ["north", "south"], f"{what}: {above}")
                at = file[top] if top else file
                test.check("beside" not in at.groups and "large" not in at.variables, f"{what}: {at}")
                if wanted != "run/low/lowest":
                    test.check(at["x"][:].tolist() == [1, 2, 3] and at.title == "deep", f"{what}: {at}")
    test.run("nmconvert", "deep.nmb", "glob.nc", "--extract", "d*", "--to", "nc4", "-f")
    found, expected = netcdf_view(test.work / "glob.nc", "/deep"), netcdf_view(test.work / "deep.nc")
    for key in found.keys() | expected.keys():
        if key[1] not in ("their groups", "attribute _NCProperties"):
            test.check(repr(found.get(key)) == repr(expected.get(key)), f"--extract d*: {key}: {found.get(key)}, expected {expected.get(key)}")
    with h5py.File(test.work / "deep.nc", "a") as file:
        file["run/low"].attrs["large"] = file["large"].ref
    test.run("nmconvert", "deep.nc", "refers.nmb")
    test.run("nmconvert", "refers.nmb", "no.nc", "--extract", "run/low", "--to", "nc4", exit_code=1, says="cannot be written alone")


def check_replace(test):
    """A group may use dimensions of the group above, so a block from netCDF-4 is replaced with the blocks below it."""
    for name, length, groups in (("old", 300, ("sub",)), ("root", 30, ()), ("whole", 30, ("sub",))):
        (test.work / name).mkdir()
        with netCDF4.Dataset(test.work / name / "r.nc", "w") as file:
            file.createDimension("x", length)
            file.createVariable("v", "i4", ("x",))[:] = numpy.arange(length)
            for group in groups:
                file.createGroup(group).createVariable("z", "f8", ("x",))[:] = numpy.arange(length) / 2
    test.run("nmcat", "old/r.nc", "-o", "replace.nmb")
    before = (test.work / "replace.nmb").read_bytes()
    refused = ("nmcat", "root/r.nc", "-o", "replace.nmb", "--append", "--replace")
    test.run(*refused, exit_code=1, says='block "r/sub" below it may use its dimensions')
    test.check((test.work / "replace.nmb").read_bytes() == before, "a refused replacement changed the file")
    test.run("nmcat", "whole/r.nc", "-o", "replace.nmb", "--append", "--replace")
    test.run("nmconvert", "replace.nmb", "replaced.nc4")
    with netCDF4.Dataset(test.work / "replaced.nc4") as file:
        test.check(file["r/sub/z"].shape == (30,) and file["r/sub/z"][29] == 14.5, f"r/sub/z: {file['r/sub/z']}")


def check(test):
    check_losses(test)
    check_same_bytes(test)
    make(test.work / "a.nc", "NETCDF3_64BIT_OFFSET", 10)
    make(test.work / "b.nc", "NETCDF3_CLASSIC", 20)
    make(test.work / "four.nc", "NETCDF4", 30)
    test.run("nmcat", "a.nc", "b.nc", "four.nc", "-o", "all.nmb")
    for to, kind in KINDS.items():
        for output in "out.nc", "out.h5":
            check_kind(test, "a", output, ("--to", to), kind)
    check_kind(test, "a", "out.h5", (), "NETCDF4")
    check_kind(test, "four", "out.h5", (), "NETCDF4", "four")
    check_kind(test, "four", "out.nc", ("--to", "nc4"), "NETCDF4", "four")
    check_kind(test, "four", "out.nc", ("--to", "nc4", "--compress", "deflate:4"), "NETCDF4", "four")
    check_kind(test, "four", "out.nc", (), "NETCDF4", "four")
    check_kind(test, "four", "out.nc", ("--lossy", "--to", "cdf5"), "NETCDF3_64BIT_DATA")
    with h5py.File(test.work / "out.h5") as file:
        test.check(file["four/below/v"][...].tolist() == [3, 4, 5], "four/below/v: other values")
        test.check(list(file) == ["four"], f"out.h5: {list(file)}")
    # The bytes that were packed.
    for options in (), ("--to", "cdf2"):
        test.run("nmconvert", "all.nmb", "same.nc", "--extract", "a", "-f", *options)
        test.check((test.work / "same.nc").read_bytes() == (test.work / "a.nc").read_bytes(), f"{options}: other bytes")
    # A list.
    (test.work / "list").write_text("all.nmb\n")
    test.run("nmconvert", "--files-from", "list", "--out-dir", "many", "--extract", "b", "--to", "nc4")
    with netCDF4.Dataset(test.work / "many/all.nc") as file:
        test.check(file.data_model == "NETCDF4" and file.title == "b.nc", "many/all.nc: another kind or block")
    check_lengths(test)
    check_globs(test)
    check_dimensions_above(test)
    check_replace(test)
    # Refused.
    test.run("nmconvert", "all.nmb", "no.h5", "--extract", "c", exit_code=2, says='found no block "c"')
    test.run("nmconvert", "all.nmb", "no.h5", "--extract", "a", "--compress", "zstd", exit_code=2, says="classic dataset")
    test.run("nmconvert", "a.nc", "no.h5", "--extract", "a", exit_code=2, says="--extract")
    left = [path.name for path in test.work.iterdir() if path.name.startswith((".", "no."))]
    test.check(not left, f"left behind: {left}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
