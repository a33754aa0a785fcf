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


def check_attributes(test):
    """Attributes of joined files keep type, character set, byte order and shape."""
    for i in range(2):
        with netCDF4.Dataset(test.work / f"s{i}.nc", "w") as f:
            f.setncattr_string("title", "é")
            f.plain = "text"
            f.createDimension("t", None)
            t = f.createVariable("t", "f8", ("t",))
            t[:] = [i]
            t.setncattr_string("long_name", "é")
            t.number = numpy.float64(2)
        with h5py.File(test.work / f"h{i}.h5", "w") as f:
            a = f.create_dataset("a", data=numpy.arange(3.0 + i), maxshape=(None,), chunks=(4,))
            a.attrs["scale"], a.attrs["unit"], a.attrs["ok"], a.attrs["big"] = 2.5, "é", True, numpy.float64(1).astype(">f8")
            a.attrs["list"], a.attrs["bytes"] = numpy.array([1, 2]), numpy.bytes_("abc")
            a.attrs["one"] = numpy.array([7], "i2")
            f.attrs.create("empty", h5py.Empty("S1"))
    for join, a, b, names in (
        ((), "s0.nc", "s1.nc", ("/", "t")),
        (("--along", "axis:0"), "h0.h5", "h1.h5", ("/", "a")),
    ):
        ending = a[-3:]
        for middle in ("", "middle.nmb", "view.nmb"):
            out = middle if middle == "view.nmb" else "out" + ending
            if middle:
                view = ("--hdf5-view", "on") if middle == "view.nmb" else ()
                test.run("nmcat", "--mode", "join", *join, a, b, "-o", middle, "-f", *view)
                test.run("nmverify", middle)
                if not view:
                    test.run("nmconvert", middle, out, "-f")
            else:
                test.run("nmcat", "--mode", "join", *join, a, b, "-o", out, "-f")
                test.run("nmverify", out, "--against", a, b, "--mode", "join", *join)
            with h5py.File(test.work / a) as old, h5py.File(test.work / out) as new:
                for name in names:
                    for attribute in old[name].attrs:
                        if attribute in ("CLASS", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties", "DIMENSION_LIST", "REFERENCE_LIST"):
                            continue
                        if attribute not in new[name].attrs:
                            test.check(False, f"{out} ({middle}): {name}@{attribute} is missing")
                            continue
                        was, now = old[name].attrs.get_id(attribute), new[name].attrs.get_id(attribute)
                        is_empty = attribute == "empty"
                        test.check(is_empty or was.get_type() == now.get_type() and was.get_space().get_simple_extent_type() ==
                                   now.get_space().get_simple_extent_type() and was.shape == now.shape,
                                   f"{out} ({middle}): {name}@{attribute}: {now.dtype} {now.shape}, expected {was.dtype} {was.shape}")
                        test.check(repr(old[name].attrs[attribute]) == repr(new[name].attrs[attribute]),
                                   f"{out} ({middle}): {name}@{attribute}: {new[name].attrs[attribute]!r}")
    # nmverify finds characters where the inputs have a string.
    test.run("nmcat", "--mode", "join", "s0.nc", "s1.nc", "-o", "chars.nc", "-f")
    with netCDF4.Dataset(test.work / "chars.nc", "a") as f:
        f.delncattr("title")
        f.setncattr("title", "é".encode())
    test.run("nmverify", "chars.nc", "--against", "s0.nc", "s1.nc", exit_code=1)


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


def check_padding(test):
    """Compounds whose fields are equal are equal; a definition that differs can be skipped."""
    aligned = numpy.dtype([("a", "i2"), ("b", "f8")], align=True)
    for i in range(3):
        values = numpy.zeros(2, aligned)
        values.view("u1")[2] = i
        values["a"], values["b"] = [1, 3], [2, 4 + (i == 2)]
        with h5py.File(test.work / f"pad{i}.nc", "w") as f:
            x, t = f.create_dataset("x", data=[0.0, 1.0]), f.create_dataset("t", data=[1.0 * i], maxshape=(None,), chunks=(2,))
            x.make_scale("x")
            t.make_scale("t")
            pairs = f.create_dataset("pairs", (2,), aligned)
            pairs.id.write(h5py.h5s.ALL, h5py.h5s.ALL, values, h5py.h5t.py_create(aligned))
            pairs.dims[0].attach_scale(x)
        with netCDF4.Dataset(test.work / f"enum{i}.nc", "w") as f:
            f.createDimension("t", None)
            f.createVariable("t", "f8", ("t",))[:] = [2 * i, 2 * i + 1]
            state = f.createEnumType("i1", "state", {"a": 0, "b" if i == 0 else "c": 1})
            f.createVariable("state_of", state, ("t",))[:] = numpy.array([1, 0], "i1")
    test.run("nmcat", "--mode", "join", "pad0.nc", "pad1.nc", "-o", "pad.h5")
    test.run("nmcat", "--mode", "join", "pad0.nc", "pad2.nc", "-o", "no.h5", exit_code=1, says="values pairs")
    test.run("nmcat", "--mode", "join", "enum0.nc", "enum1.nc", "-o", "enum.nc4", exit_code=1)
    test.run("nmcat", "--mode", "join", "enum0.nc", "enum1.nc", "-o", "enum.nc4", "--on-mismatch", "skip", "--missing", "fill")
    with netCDF4.Dataset(test.work / "enum.nc4") as f:
        test.check(f["t"].shape == (4,) and f.enumtypes["state"].enum_dict == {"a": 0, "b": 1}, f"enum.nc4: {f}")


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
    check_attributes(test)
    check_proofs(test)
    check_padding(test)
    check_messages(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
