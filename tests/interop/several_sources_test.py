#!/usr/bin/python3
"""Files of several sources as one netCDF-4 or HDF5 file: each variable has the dimensions of its source, a user block is
given back or told as a loss.

    several_sources_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import sys
import unittest.mock

sys.dont_write_bytecode = True
import compare_files  # noqa: E402
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402
from nmconvert_hdf5_test import make_old_scaleoffset  # noqa: E402

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


def check_dry_runs(test):
    """--dry-run says of an HDF5 output what the run says, before values are read."""
    with netCDF4.Dataset(test.work / "records.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createVariable("v", "f4", ("time",))[:] = [1, 2]
    # Two records without a variable that has them.
    records = bytearray((test.work / "records.nc").read_bytes()[:8]) + b"\0\0\0\x0a\0\0\0\x01\0\0\0\x04time" + bytes(20)
    records[4:8] = (2).to_bytes(4, "big")
    (test.work / "records.nc").write_bytes(records)
    with netCDF4.Dataset(test.work / "long.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x" * 256, 2)
    make_old_scaleoffset(test.work / "old.h5", 4)
    calls = [
        (["u.h5", "p.nc", "-o", "dry.h5"], 1, "a user block of 512 bytes"),
        (["u.h5", "p.nc", "-o", "dry.h5", "-j", "1"], 1, "a user block of 512 bytes"),
        (["u.h5", "p.nc", "-o", "dry.nc", "--lossy"], 0, "a user block of 512 bytes"),
        (["u.h5", "-o", "dry.h5"], 0, ""),
        (["records.nc", "q.nc", "-o", "dry.nc"], 0, "2 records"),
        (["records.nc", "q.nc", "-o", "dry.nc", "--strict"], 1, "2 records"),
        (["long.nc", "-o", "dry.nc"], 2, "found a name of 256 bytes"),
        (["long.nc", "-o", "dry.h5"], 0, ""),
        (["old.h5", "p.nc", "-o", "dry.h5"], 0, "HDF5 replaces the parameters of its scaleoffset filter"),
        (["--mode", "union", "p.nc", "q.nc", "-o", "dry.nc4"], None, ""),
        (["--mode", "join", "--along", "axis:0", "u.h5", "u.h5", "-o", "dry.h5"], None, ""),
    ]
    before = sorted(path.name for path in test.work.iterdir())
    for call, code, says in calls:
        test.run("nmcat", *call, "--dry-run", exit_code=code, says=says)
        found, dry = test.exit_code, test.said
        test.check(sorted(path.name for path in test.work.iterdir()) == before, f"dry run of {call}: wrote a file")
        test.run("nmcat", *call, exit_code=found)
        test.check(test.said == dry, f"dry run of {call}: said {dry!r}, the run said {test.said!r}")
        for path in test.work.glob("dry.*"):
            path.unlink()


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


def make_own_sources(path):
    """Virtual data sets whose sources are in the same file."""
    with h5py.File(path, "w") as file:
        file["d"], file["g/x"], file["100%"] = numpy.arange(4), numpy.arange(4) + 10, numpy.arange(4) + 20
        for i in range(2):
            file[f"g/part{i}"] = numpy.arange(4) + 100 * (i + 1)
        for where, source in (("v", "/d"), ("w", "g/x"), ("g/u", "d"), ("percent", "/100%%")):
            layout = h5py.VirtualLayout((4,), "i8")
            layout[:] = h5py.VirtualSource(".", source, (4,))
            file.create_virtual_dataset(where, layout, fillvalue=-1)
        here = h5py.h5s.create_simple((8,), (h5py.h5s.UNLIMITED,))
        here.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), stride=(4,), block=(4,))
        for name, source in ((b"parts", b"g/part%b"), (b"slashed", b"/g/part%b")):
            create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            create.set_layout(h5py.h5d.VIRTUAL)
            create.set_virtual(here, b".", source, h5py.h5s.create_simple((4,)))
            h5py.h5d.create(file.id, name, h5py.h5t.STD_I64LE, here, create)


def check_own_sources(test):
    """Sources in the same file follow the names of blocks."""
    for name in ("own", "50%"):
        make_own_sources(test.work / f"{name}.h5")
    with h5py.File(test.work / "own.h5") as file:
        wanted = {name: list(file[name]) for name in ("v", "w", "g/u", "percent", "parts", "slashed")}
    test.check(wanted["parts"] == [100, 101, 102, 103, 200, 201, 202, 203], f"own.h5: {wanted}")
    test.run("nmcat", "own.h5", "50%.h5", "-o", "owns.nmb")
    test.run("nmcat", "owns.nmb", "-o", "nested.nmb", "--block-name", "run/{group}")
    for source, above in (("owns", ""), ("nested", "run/")):
        test.run("nmconvert", f"{source}.nmb", f"{source}.h5")
        with h5py.File(test.work / f"{source}.h5") as file:
            for block in ("own", "50%"):
                found = {name: list(file[f"{above}{block}/{name}"]) for name in wanted}
                test.check(found == wanted, f"{source}.h5: {block}: {found}")
    # A block that becomes the root again.
    test.run("nmconvert", "nested.nmb", "back.h5", "--extract", "run/own")
    with h5py.File(test.work / "back.h5") as file:
        group = file["run/own"] if "run" in file else file
        test.check(all(list(group[name]) == wanted[name] for name in wanted if name in group), "back.h5: other values")


def check_types_with_attributes(test):
    """Attributes whose order is not tracked, of objects beside a named datatype that has attributes."""
    with h5py.File(test.work / "typed.h5", "w") as file:
        file["t"] = numpy.dtype([("a", "<i4")])
        for name in ("z", "m", "b", "k"):
            file["t"].attrs[name] = name
        file["t"].attrs.create("of type", numpy.zeros(2, file["t"].dtype), dtype=file["t"])
        data = file.create_dataset("d", (2,), file["t"])
        for i in range(7):
            data.attrs[f"{(i * 5) % 7} long" + "x" * 40 * i] = "y" * 30 * i
        for i in (1, 3, 5):
            del data.attrs[f"{(i * 5) % 7} long" + "x" * 40 * i]
            data.attrs[f"new {i}"] = i
        del file["t"].attrs["z"]
        file["t"].attrs["a"] = 1
    test.run("nmconvert", "typed.h5", "typed.nmb")
    test.run("nmconvert", "typed.nmb", "typed_back.h5")
    test.run("nmconvert", "typed_back.h5", "typed_again.h5")
    out = compare_files.compare(test.work / "typed.h5", test.work / "typed_again.h5")
    test.check(not out.found, f"typed_again.h5: {out.found[:3]}")


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


def make_paths(path):
    """All that leads to objects by their paths."""
    with h5py.File(path, "w") as file:
        file["d"] = numpy.arange(12.0).reshape(3, 4)
        d, group = file["d"], file.create_group("g")
        file["alias"], group["up"] = d, file["g"]
        group["absolute"], file["relative"] = h5py.SoftLink("/d"), h5py.SoftLink("g/up")
        file["t/named"] = numpy.dtype([("a", "<i4")])
        file["t/named"].attrs["unit"] = "m"
        file.create_dataset("of_named", (2,), file["t/named"])
        file["anonymous"] = numpy.dtype([("b", "<i4")])
        file.create_dataset("of_anonymous", (2,), file["anonymous"])
        del file["anonymous"]
        d.attrs["region"] = d.regionref[0:2, 1:3]
        d.attrs["both"] = numpy.array([d.ref, h5py.Reference()], h5py.ref_dtype)
        file["many"] = numpy.array([file.ref, group.ref, h5py.Reference(), file["t/named"].ref], h5py.ref_dtype)
        file["regions"] = numpy.array([d.regionref[1:2], h5py.RegionReference()], h5py.regionref_dtype)
        lists = file.create_dataset("lists", (3,), h5py.vlen_dtype(h5py.ref_dtype))
        lists[0], lists[2] = numpy.array([d.ref, group.ref], h5py.ref_dtype), numpy.array([d.ref], h5py.ref_dtype)
        mixed = numpy.dtype([("name", h5py.string_dtype()), ("to", h5py.ref_dtype), ("n", "<i4")])
        table = file.create_dataset("table", (3,), mixed, chunks=(2,), compression="gzip")
        for i, text in enumerate(("first", "", "third")):
            table[i] = (text, (d.ref, group.ref, h5py.Reference())[i], i)
        # Behind what is moved.
        file["last"] = numpy.arange(1000)
        group["w"] = numpy.arange(5)
        group["w"].attrs["back"] = d.ref


def check_renamed(test):
    """Paths follow the names of blocks: the result is that of packing the source under the new name."""
    make_paths(test.work / "paths.h5")
    with netCDF4.Dataset(test.work / "flat.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",))[:] = numpy.arange(3)
    (test.work / "other").mkdir()
    (test.work / "other/flat.nc").write_bytes((test.work / "flat.nc").read_bytes())
    for template, names in (("{index}", ("0", "1")), ("{path}", ("flat.nc", "other/flat.nc"))):
        test.run("nmcat", "flat.nc", "other/flat.nc", "-o", "flat.nmb", "-f", "--strict", "--block-name", template)
        test.run("nmconvert", "flat.nmb", "flats.nc", "--to", "nc4", "-f")
        test.run("nmconvert", "flat.nmb", "flat1.nc", "--to", "nc4", "-f", "--extract", names[1])
        test.run("nmcat", "flat.nc", "other/flat.nc", "-o", "flats2.nc", "-f", "--block-name", template)
        for name in ("flats.nc", "flats2.nc", "flat1.nc"):
            with netCDF4.Dataset(test.work / name) as file:
                test.check(file[names[1]]["v"].dimensions == ("x",), f"{name}: {template}: {file[names[1]]}")
    # A block with all of a file gets another name.
    test.run("nmcat", "flat.nc", "-o", "one.nmb")
    test.run("nmcat", "one.nmb", "-o", "two.nmb", "--block-name", "run/{index}", "--strict")
    test.run("nmconvert", "two.nmb", "two.nc", "--to", "nc4")
    with netCDF4.Dataset(test.work / "two.nc") as file:
        test.check(file["run/0/v"].dimensions == ("x",), f"two.nc: {file['run/0']}")

    test.run("nmcat", "paths.h5", "p.nc", "-o", "all.nmb", "-f")
    test.run("nmcat", "all.nmb", "-o", "moved.nmb", "--strict")
    test.run("nmcat", "all.nmb", "-o", "again.nmb", "--compress", "zstd")
    test.run("nmcat", "paths.h5", "p.nc", "-o", "direct.nmb", "--block-name", "all/{stem}/{group}")
    for name in ("moved", "again", "direct"):
        test.run("nmverify", "-q", f"{name}.nmb")
        test.run("nmconvert", f"{name}.nmb", f"{name}.h5", "-f")
    # As HDF5 files alone: netCDF-C does not end on a group that leads to itself.
    with unittest.mock.patch("netcdf4_view.is_netcdf4", return_value=False):
        out = compare_files.compare(test.work / "direct.h5", test.work / "moved.h5")
    test.check(not out.found, f"moved.h5: {out.found[:3]}")
    with h5py.File(test.work / "moved.h5") as file:
        root = file["all/paths"]
        paths = ["" if not ref else file[ref].name for ref in root["many"][:]]
        test.check(paths == ["/all/paths", "/all/paths/g", "", "/all/paths/t/named"], f"moved.h5: many: {paths}")
        test.check(root["alias"] == root["d"] == root["g/absolute"] and root["relative"] == root["g"], "moved.h5: links")
        test.check(file[root["table"][0]["to"]] == root["d"] and root["table"][2]["name"] == b"third",
                   f"moved.h5: {root['table'][:]}")
        region = root["d"].attrs["region"]
        test.check(numpy.array_equal(file[region][region], root["d"][0:2, 1:3]), "moved.h5: region")
        test.check(root["of_named"].id.get_type() == root["t/named"].id, "moved.h5: of_named")
    test.run("nmconvert", "moved.nmb", "alone.h5", "-f", "--extract", "all/paths")
    # References that cannot be changed are refused, with names that work.
    for source in ("all.nmb", "paths.h5"):
        test.run("nmcat", source, "-o", "no.nmb", "--block-name", "x{group}", exit_code=1, says="'{index}/{group}'")
        test.run("nmcat", source, "-o", "yes.nmb", "-f", "--block-name", "{index}/{group}")
        test.run("nmconvert", "yes.nmb", "yes.h5", "-f")
    test.run("nmcat", "all.nmb", "-o", "no.nmb", "--link", exit_code=1, says="leave out --link")
    test.check(not (test.work / "no.nmb").exists(), "found no.nmb")


def check_empty_roots(test):
    """Roots of netCDF-4 files that only lead to groups are shared, whatever the order of groups."""
    for i, names in enumerate((("b", "a"), ("c",))):
        with netCDF4.Dataset(test.work / f"events{i}.nc", "w") as file:
            for name in names:
                group = file.createGroup(name)
                group.createDimension("x", 2)
                group.createVariable("v", "i4", ("x",))[:] = [i, 7]
    files = ["events0.nc", "events1.nc"]
    test.run("nmcat", *files, "-o", "events.nmb", "--block-name", "{group}", "--strict")
    test.run("nmconvert", "events.nmb", "events.nc", "--to", "nc4")
    with netCDF4.Dataset(test.work / "events.nc") as file:
        found = {name: list(file[name]["v"][:]) for name in file.groups}
        test.check(found == {"a": [0, 7], "b": [0, 7], "c": [1, 7]}, f"events.nc: {found}")
    # A root with nothing of its own comes with the blocks below it.
    test.run("nmcat", *files, "-o", "indexed.nmb", "--block-name", "{index}/{group}")
    test.run("nmconvert", "indexed.nmb", "one.nc", "--to", "nc4", "-f", "--extract", "1")
    with netCDF4.Dataset(test.work / "one.nc") as file:
        test.check(list(file["1/c/v"][:]) == [1, 7], f"one.nc: {file}")
    with netCDF4.Dataset(test.work / "events1.nc", "a") as file:
        file.title = "other"
    test.run("nmcat", *files, "-o", "no.nmb", "--block-name", "{group}", exit_code=1, says="two inputs have a block of this name")


def check_deflate(test):
    """Values of classic files are deflated where they become HDF5."""
    for name, kind in (("k0.nc", "NETCDF3_CLASSIC"), ("k1.nc", "NETCDF3_64BIT_DATA")):
        with netCDF4.Dataset(test.work / name, "w", format=kind) as file:
            for dimension, length in (("time", None), ("y", 300), ("x", 200)):
                file.createDimension(dimension, length)
            file.createVariable("large", "f8", ("y", "x"))[:] = numpy.arange(60000).reshape(300, 200)
            file.createVariable("small", "i2", ("x",))[:] = numpy.arange(200)
            file.createVariable("record", "i4", ("time", "x"))[:] = numpy.arange(1000).reshape(5, 200)
    calls = ((["nmconvert", "k0.nc", "k.h5", "--compress", "deflate:4"], "/"),
             (["nmconvert", "k0.nc", "k.h5", "--compress", "deflate", "--shuffle"], "/"),
             (["nmcat", "k0.nc", "k1.nc", "-o", "k.h5", "--compress", "deflate"], "k1"),
             (["nmcat", "--mode", "union", "k0.nc", "k1.nc", "-o", "k.h5", "--compress", "deflate"], "/"))
    for arguments, group in calls:
        test.run(*arguments, "-f")
        with h5py.File(test.work / "k.h5") as file:
            for name, codec in (("large", "gzip"), ("record", "gzip"), ("small", None)):
                found = file[group][name]
                test.check(found.compression == codec, f"{arguments}: {name}: {found.compression}")
                expected = numpy.arange(found.size).reshape(found.shape)
                test.check(numpy.array_equal(found[:], expected), f"{arguments}: {name}: other values")
            level, shuffle = file[group]["large"].compression_opts, file[group]["large"].shuffle
            test.check((level, shuffle) == (4 if "deflate:4" in arguments else 6, "--shuffle" in arguments),
                       f"{arguments}: level {level}, shuffle {shuffle}")
        (test.work / "k.h5").unlink()
    for arguments in (["nmcat", "k0.nc", "-o", "k.h5"], ["nmconvert", "k0.nc", "k.h5"]):
        test.run(*arguments, "--compress", "zstd", exit_code=2, says="use --compress deflate")
        test.check(not (test.work / "k.h5").exists(), f"{arguments}: wrote a file")


def check_endings(test):
    """The endings of outputs mean the same to both tools."""
    test.run("nmcat", "k0.nc", "-o", "ends.nmb", "--block-name", "{group}")
    for ending, first in ((".nc4", b"\x89HDF"), (".h5", b"\x89HDF"), (".hdf5", b"\x89HDF"), (".he5", b"\x89HDF"),
                          (".nc3", b"CDF\2"), (".nmb", b"\x89NMB")):
        for i, arguments in enumerate((["nmconvert", "k0.nc", f"out0{ending}"], ["nmconvert", "ends.nmb", f"out1{ending}"],
                                       ["nmcat", "--mode", "union", "k0.nc", "-o", f"out2{ending}"])):
            test.run(*arguments)
            found = (test.work / f"out{i}{ending}").read_bytes()[:4]
            test.check(found == first, f"{arguments}: {found}")
    test.run("nmconvert", "k0.nc", "out.what", exit_code=2, says="cannot determine the kind from the ending of the name")


def check_joined_tables(test):
    """Plain HDF5 gets no data sets for dimensions without names; fill values that are lost are told."""
    for i in range(2):
        with h5py.File(test.work / f"table{i}.h5", "w") as file:
            file.create_dataset("evt", data=numpy.arange(3) + 3 * i, maxshape=(None,))
            file.create_dataset("e", data=numpy.full((3, 2), i, ">f4"), maxshape=(None, 2), chunks=(2, 2))
            file.create_dataset("hole", (3,), "i2", maxshape=(None,), fillvalue=-5 - i)[0] = i
    join = ["nmcat", "--mode", "join", "--along", "axis:0", "table0.h5", "table1.h5"]
    lost = "the fill values of variables without an attribute _FillValue are not kept: hole (2)"
    test.run(*join, "-o", "table.h5", says=lost)
    with h5py.File(test.work / "table.h5") as file:
        test.check(sorted(file) == ["e", "evt", "hole"], f"table.h5: {sorted(file)}")
        test.check(list(file["hole"]) == [0, -5, -5, 1, -6, -6], f"table.h5: {list(file['hole'])}")
        test.check("DIMENSION_LIST" not in file["e"].attrs, "table.h5: e has scales")
    with netCDF4.Dataset(test.work / "table.h5") as file:
        test.check(file["e"].shape == (6, 2) and file["evt"].shape == (6,), f"table.h5: {file['e']}")
    test.run(*join, "-o", "no.h5", "--strict", exit_code=1, says=lost)
    # netCDF has names for them.
    test.run(*join, "-o", "table.nc4")
    with netCDF4.Dataset(test.work / "table.nc4") as file:
        test.check(all(one.startswith("phony_dim_") for one in file["e"].dimensions), f"table.nc4: {file['e']}")
    # Some dimensions of a variable have scales.
    with h5py.File(test.work / "some.h5", "w") as file:
        file["x"] = numpy.arange(2.0)
        file["x"].make_scale("x")
        file.create_dataset("v", data=numpy.ones((3, 2)), maxshape=(None, 2))
        file["v"].dims[1].attach_scale(file["x"])
    test.run("nmcat", "--mode", "union", "some.h5", "some.h5", "-o", "some2.h5")
    with h5py.File(test.work / "some2.h5") as file:
        scales = [list(one) for one in file["v"].dims]
        test.check(sorted(file) == ["v", "x"] and scales == [[], ["x"]], f"some2.h5: {sorted(file)}: {scales}")


def check(test):
    check_numbers(test)
    check_user_block(test)
    check_dry_runs(test)
    check_types_and_links(test)
    check_virtual(test)
    check_own_sources(test)
    check_types_with_attributes(test)
    check_zero_length(test)
    check_renamed(test)
    check_empty_roots(test)
    check_deflate(test)
    check_endings(test)
    check_joined_tables(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
