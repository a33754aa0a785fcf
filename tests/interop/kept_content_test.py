#!/usr/bin/python3
"""Content that a join, a subset or a time series must keep: variables of types that classic netCDF lacks, groups of the
chosen files of an archive, what attributes name in other groups, the form of attributes. Read by netCDF4-python and h5py.

    kept_content_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

PAIR = numpy.dtype([("a", "<i4"), ("b", "<f8")])


def write_types(path, number):
    """An HDF5 file with dimension scales and a variable of each type."""
    with h5py.File(path, "w") as f:
        time = f.create_dataset("time", data=numpy.arange(2.0) + 10 * number, maxshape=(None,), chunks=(2,))
        time.make_scale("time")
        time.attrs["units"] = "days since 2000-01-01"
        season = f.create_dataset("season", data=["DJF", "MAM"], dtype=h5py.string_dtype(), maxshape=(None,), chunks=(2,))
        values = {
            "tas": numpy.full(2, number, "f4"),
            "half": numpy.full(2, number, "<f2"),
            "ok": numpy.array([True, False]),
            "pair": numpy.ones(2, PAIR),
            "opaque": numpy.zeros(2, "V3"),
            "fixed": numpy.array([b"abc", b"d"], "S3"),
            "z": numpy.ones(2, "<c8"),
        }
        sets = [f.create_dataset(name, data=data, maxshape=(None,), chunks=(2,)) for name, data in values.items()]
        sets.append(f.create_dataset("text", data=["x", "yy"], dtype=h5py.string_dtype(), maxshape=(None,), chunks=(2,)))
        series = f.create_dataset("list", (2,), h5py.vlen_dtype("i4"), maxshape=(None,), chunks=(2,))
        series[0], series[1] = [1, 2], [3]
        f["tas"].attrs["coordinates"] = f["text"].attrs["coordinates"] = "season"
        for one in (*sets, series, season):
            one.dims[0].attach_scale(time)


def check_series(test):
    """Each variable has a file, whatever its type; a string coordinate goes with the variables that name it."""
    files = [f"types{i}.nc" for i in range(2)]
    for i, name in enumerate(files):
        write_types(test.work / name, i)
    (test.work / "list").write_text("\n".join(files) + "\n")
    wanted = {"tas", "half", "ok", "pair", "opaque", "fixed", "z", "text", "list"}
    test.run("nmcat", *files, "-o", "types.nmb")
    (test.work / "archive").write_text("types.nmb\n")
    for inputs in ("list", "archive"):
        test.run("nmconvert", "--files-from", inputs, "--one-file-per-variable", "--out-dir", inputs + ".d", "--name", "{variable}.nc")
        found = {path.stem for path in (test.work / (inputs + ".d")).glob("*")}
        test.check(found == wanted, f"{inputs}: files of {sorted(found)}")
        for name in found & wanted:
            with h5py.File(test.work / (inputs + ".d") / (name + ".nc")) as f:
                expected = {name, "time"} | ({"season"} if name in ("tas", "text") else set())
                test.check(set(f) == expected, f"{inputs}: {name}.nc has {sorted(f)}")
                test.check(f[name].shape == (4,), f"{inputs}: {name}: shape {f[name].shape}")
    with netCDF4.Dataset(test.work / "enum.nc", "w") as f:
        f.createDimension("time", None)
        time = f.createVariable("time", "f8", ("time",))
        time.units, time[:] = "days since 2000-01-01", [0, 1]
        flags = f.createEnumType("i1", "flags", {"a": 0, "b": 1})
        f.createVariable("flag", flags, ("time",))[:] = numpy.array([1, 0], "i1")
        f.createVariable("tas", "f4", ("time",))[:] = 1
    test.run("nmconvert", "enum.nc", "--one-file-per-variable", "--out-dir", "enum.d", exit_code=None)
    (test.work / "one").write_text("enum.nc\n")
    test.run("nmconvert", "--files-from", "one", "--one-file-per-variable", "--out-dir", "enum.d", "--name", "{variable}.nc", "-f")
    with netCDF4.Dataset(test.work / "fixed.nc", "w") as f:
        f.createDimension("time", 2)
        f.createVariable("time", "f8", ("time",))[:] = [0, 1]
    (test.work / "fixed").write_text("fixed.nc\nfixed.nc\n")
    test.run("nmconvert", "--files-from", "fixed", "--one-file-per-variable", "--out-dir", "fixed.d", exit_code=None)
    test.check(test.exit_code != 0 and "--along" not in test.said, f"a fixed time: {test.said}")


def check_archive(test):
    """A chosen block of an archive brings the groups below it; shards are files."""
    files = [f"m{i}.nc" for i in range(3)]
    for i, name in enumerate(files):
        with netCDF4.Dataset(test.work / name, "w") as f:
            f.site = i
            f.createDimension("time", None)
            time = f.createVariable("time", "f8", ("time",))
            time.units, time[:] = "days since 2000-01-01", [10 * i, 10 * i + 1]
            f.createGroup("g").createVariable("pr", "f8", ("time",))[:] = [i, i + 0.5]
            f.createGroup("h").createVariable("ps", "f8", ("time",))[:] = [i, i + 0.5]
    test.run("nmcat", *files, "-o", "all.nmb")
    (test.work / "names").write_text("m0\nm2\n")
    cases = (
        (("--where", "site >= 1"), [1, 2], "gh"),
        (("--exclude", "m2"), [0, 1], "gh"),
        (("--exclude", "m*/g"), [0, 1, 2], "h"),
        (("--exclude", "m2", "--exclude", "m?/h"), [0, 1], "g"),
        (("--blocks-from", "names"), [0, 2], "gh"),
        (("--shard", "1/2"), [0, 2], "gh"),
        (("--shard", "2/2"), [1], "gh"),
    )
    for options, months, groups in cases:
        test.run("nmcat", "--mode", "join", "all.nmb", "-o", "some.nc4", "-f", *options)
        with netCDF4.Dataset(test.work / "some.nc4") as f:
            test.check(set(f.groups) == set(groups), f"{options}: groups {sorted(f.groups)}")
            times = [10 * i + k for i in months for k in range(2)]
            test.check(f["time"][:].tolist() == times, f"{options}: times {f['time'][:]}")
            for name in set(f.groups) & set(groups):
                values = f[name]["pr" if name == "g" else "ps"][:].tolist()
                test.check(values == [i + k / 2 for i in months for k in range(2)], f"{options}: {name}: {values}")
    test.run("nmcat", "--mode", "join", "all.nmb", "-o", "none.nc4", "--exclude", "m*", exit_code=2, says="no block was chosen")


def check_other_groups(test):
    """A selected variable brings what its attributes name in groups above it, and by paths."""
    with netCDF4.Dataset(test.work / "groups.nc", "w") as f:
        for name, length in (("lat", 2), ("b", 2)):
            f.createDimension(name, length)
        lat = f.createVariable("lat", "f4", ("lat",))
        lat.bounds, lat[:] = "lat_bnds", [0, 1]
        f.createVariable("lat_bnds", "f4", ("lat", "b"))[:] = 1
        f.createVariable("height", "f4", ())[...] = 3
        f.createVariable("crs", "i4", ())[...] = 3
        f.createVariable("other", "i4", ())[...] = 3
        aux = f.createGroup("aux")
        for name in ("orog", "area", "unused"):
            aux.createVariable(name, "f4", ("lat",))[:] = 1
        g = f.createGroup("g")
        t = g.createVariable("t", "f4", ("lat",))
        t[:] = 1
        t.coordinates, t.grid_mapping, t.ancillary_variables, t.cell_measures = "height", "crs", "/aux/orog", "area: ../aux/area"
        g.createVariable("u", "f4", ("lat",))[:] = 1
    test.run("nmcat", "groups.nc", "-o", "groups.nmb")
    test.run("nmconvert", "groups.nc", "alone.nmb")
    for source in ("groups.nc", "alone.nmb"):
        test.run("nmconvert", source, "t.nc", "--variables", "g/t", "-f")
        with netCDF4.Dataset(test.work / "t.nc") as f:
            found = sorted([*f.variables, *(f"{g}/{v}" for g in f.groups for v in f[g].variables)])
            wanted = ["aux/area", "aux/orog", "crs", "g/t", "height", "lat", "lat_bnds"]
            test.check(found == wanted, f"{source}: {found}")
    test.run("nmverify", "t.nc", "--against", "groups.nc", "--mode", "union", "--variables", "g/t")


def check_proofs(test):
    """Right files are proved: longitudes that wrap around above a group, fill values of strings."""
    with netCDF4.Dataset(test.work / "lon.nc", "w") as f:
        f.createDimension("lon", 8)
        f.createDimension("lat", 2)
        lon, lat = f.createVariable("lon", "f8", ("lon",)), f.createVariable("lat", "f8", ("lat",))
        lon.units, lat.units = "degrees_east", "degrees_north"
        lon[:], lat[:] = numpy.arange(8) * 45.0, [0, 1]
        f.createGroup("g").createVariable("tas", "f4", ("lat", "lon"))[:] = numpy.arange(16).reshape(2, 8)
    box = ("--box", "-100,100,-10,10")
    test.run("nmconvert", "lon.nc", "box.nc", *box)
    test.run("nmverify", "box.nc", "--against", "lon.nc", "--mode", "union", *box)
    for i in range(2):
        with netCDF4.Dataset(test.work / f"fill{i}.nc", "w") as f:
            f.createDimension("time", None)
            f.createVariable("time", "f8", ("time",))[:] = [2 * i, 2 * i + 1]
            if i == 0:
                f.createVariable("s", str, ("time",), fill_value="NA")[:] = numpy.array(["x", "y"], object)
                f.createVariable("plain", str, ("time",))[:] = numpy.array(["x", "y"], object)
    test.run("nmcat", "--mode", "join", "fill0.nc", "fill1.nc", "-o", "fill.nc", "--missing", "fill")
    test.run("nmverify", "fill.nc", "--against", "fill0.nc", "fill1.nc")


def check_messages(test):
    test.run("nmverify", "types.nmb", "--recover", "-", exit_code=2, says="found the output -")
    test.check(not (test.work / "-").exists(), "nmverify made a file -")
    test.run("nmcat", "--nosuch", exit_code=2, says="--nosuch")
    (test.work / "bad.nc").write_bytes(b"CDF\x01bad")
    (test.work / "bad").write_text("bad.nc\n")
    test.run("nmconvert", "--files-from", "bad", "--out-dir", "new/folder", exit_code=1)
    test.check(not (test.work / "new").exists(), "an empty folder is left")


def check(test):
    check_series(test)
    check_archive(test)
    check_other_groups(test)
    check_proofs(test)
    check_messages(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
