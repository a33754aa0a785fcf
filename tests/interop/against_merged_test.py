#!/usr/bin/python3
"""nmverify --against for files that were united, joined, put together from tiles, or cut: each output of nmcat is equal to
its sources, as numpy finds too; each fault that is planted in an output is reported, with the values.

    against_merged_test.py --tools build/release/tools
"""

import json
import shutil
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

DAYS = 5


def make_month(path, number, kind="NETCDF4", units="days since 2001-01-01", days=DAYS, type="f4", lacks=()):
    """Some days of a year, from a random generator with the number of the file."""
    rng = numpy.random.default_rng(number)
    with netCDF4.Dataset(path, "w", format=kind) as f:
        f.set_auto_maskandscale(False)
        f.title, f.history = f"month {number}", f"made {number}"
        for name, length in (("time", None), ("lat", 6), ("lon", 8), ("bnds", 2)):
            f.createDimension(name, length)
        time = f.createVariable("time", "f8", ("time",))
        time.units, time.calendar, time.bounds = units, "noleap", "time_bnds"
        first = number * DAYS if units.endswith("2001-01-01") else 0
        time[:] = first + numpy.arange(days) + 0.5
        f.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = first + numpy.arange(days)[:, None] + numpy.arange(2)
        seen = f.createVariable("seen", "f8", ("time",), fill_value=-1)
        seen.units, seen.calendar = units, "noleap"
        seen[:] = [-1, numpy.nan, *(first + numpy.arange(2, days))]
        lat, lon = f.createVariable("lat", "f4", ("lat",)), f.createVariable("lon", "f4", ("lon",))
        lat.units, lon.units = "degrees_north", "degrees_east"
        lat[:], lon[:] = numpy.linspace(75, -75, 6), numpy.arange(8) * 45
        if "tas" not in lacks:
            more = {"zlib": True, "chunksizes": (1, 3, 4)} if kind == "NETCDF4" else {}
            tas = f.createVariable("tas", type, ("time", "lat", "lon"), fill_value=-9, **more)
            tas.units, tas.scale_factor = "K", numpy.float32(0.5)
            tas[:] = rng.integers(-100, 100, (days, 6, 8))
        f.createVariable("mask", "i2", ("lat", "lon"))[:] = numpy.arange(48).reshape(6, 8)
        if kind == "NETCDF4":
            names = f.createVariable("names", str, ("time",))
            names[:] = numpy.array([f"day {number} {i}" for i in range(days)], dtype=object)


def values(path, name):
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        return f[name][...]


# --- faults ---

def assign(name, index, value):
    def change(f):
        f[name][index] = value

    return change


def swap(name, first, second):
    """Swaps two parts along the first dimension."""

    def change(f):
        all = f[name][...]
        all[first], all[second] = all[second].copy(), all[first].copy()
        f[name][...] = all

    return change


def attribute(name, key, value):
    def change(f):
        (f[name] if name else f).setncattr(key, value)

    return change


def drop(name, key):
    return lambda f: f[name].delncattr(key)


def rename(name, other):
    return lambda f: f.renameVariable(name, other)


def add_variable(f):
    f.createVariable("extra", "i4", ())


def copied(path, to, index=lambda name, dimensions, array: array, type=lambda name, type: type, lengths=None):
    """Copies a file; index() changes the values of a variable."""

    def copy(group, out):
        out.setncatts(group.__dict__)
        for name, dimension in group.dimensions.items():
            length = (lengths or {}).get(name, len(dimension))
            out.createDimension(name, None if dimension.isunlimited() else length)
        for name, v in group.variables.items():
            attributes = dict(v.__dict__)
            kind = v.dtype if v.dtype is str else numpy.dtype(type(name, v.dtype)).newbyteorder("=")
            fill = attributes.pop("_FillValue", None)
            one = out.createVariable(name, kind, v.dimensions, fill_value=None if fill is None else numpy.array(fill).astype(kind))
            one.set_auto_maskandscale(False)
            one.setncatts(attributes)
            array = index(name, v.dimensions, v[...])
            if v.dimensions:
                one[:] = array
            else:
                one[...] = array
        for name, below in group.groups.items():
            copy(below, out.createGroup(name))

    with netCDF4.Dataset(path) as f, netCDF4.Dataset(to, "w", format=f.data_model) as out:
        f.set_auto_maskandscale(False)
        copy(f, out)


def without_record(record):
    """Leaves out one record."""

    def change(path, to):
        copied(path, to, lambda name, dimensions, array: numpy.delete(array, record, 0) if dimensions[:1] == ("time",) else array)

    return change


def rolled(dimension, by):
    """All values lie at another index of a dimension."""

    def change(path, to):
        copied(path, to, lambda name, dims, array: numpy.roll(array, by, dims.index(dimension))
               if dimension in dims and dims != (dimension,) else array)

    return change


def doubled(path, to):
    copied(path, to, type=lambda name, type: "f8" if name == "tas" else type)


COMMON = [
    (assign("tas", (3, 2, 1), 1234), "tas[3,2,1]: "),
    (assign("tas", (DAYS, 0, 0), -9), "tas[5,0,0]: "),
    (assign("lat", 2, 7), "lat[2]: 15 -> 7"),
    (assign("mask", (5, 7), 1), "mask[5,7]: 47 -> 1"),
    (assign("time", 0, 3), "time[0]: 0.5 -> 3"),
    (swap("tas", slice(0, 2), slice(DAYS, DAYS + 2)), "tas: "),
    (attribute("tas", "units", "degC"), 'attribute "tas:units": value: "K" -> "degC"'),
    (attribute("tas", "scale_factor", numpy.float32(0.25)), 'attribute "tas:scale_factor": value: 0.5'),
    (attribute("time", "units", "days since 2001-01-02"), 'attribute "time:units": value: "days since 2001-01-01"'),
    (attribute("time", "calendar", "standard"), 'attribute "time:calendar"'),
    (attribute("", "title", "other"), 'attribute ":title": value: "month 0" -> "other"'),
    (drop("time", "bounds"), 'attribute "time:bounds"'),
    (rename("mask", "masc"), 'variable "mask"'),
    (add_variable, 'variable "extra"'),
]
REWRITTEN = [
    (without_record(DAYS), 'dimension "time": length: '),
    (rolled("time", DAYS), "tas: "),
    (rolled("lon", 1), "tas: "),
    (rolled("lat", -1), "tas: "),
    (doubled, 'variable "tas": type: '),
]


def says_equal(test, out, options, sources):
    said = test.run("nmverify", out, *options, "--against", *sources)
    test.check("equal to its sources" in said, f"{out.name} {options}: {said}")
    text = test.run("nmverify", out, "--json", *options, "--against", *sources)
    report = json.loads(text or '{"same": false}')
    test.check(report["same"] and all(one["same"] for one in report["sources"]) and not report["merged"], f"{out.name}: {report}")


def says_different(test, out, options, sources, expected, fault):
    said = test.run("nmverify", out, *options, "--against", *sources, exit_code=1)
    test.check(expected in said and "not equal to its sources" in said, f"{out.name} {options} {fault}: found {said!r}, expected {expected!r}")


def check_faults(test, out, options, sources, faults=COMMON, rewritten=REWRITTEN):
    bad = test.work / f"bad{out.suffix}"
    # netCDF4-python changes no big-endian values of a netCDF-4 file rightly, so the file gets native values.
    sound = test.work / f"sound{out.suffix}"
    copied(out, sound)
    says_equal(test, sound, options, sources)
    for number, (change, expected) in enumerate(faults):
        shutil.copy(sound, bad)
        with netCDF4.Dataset(bad, "a") as f:
            f.set_auto_maskandscale(False)
            change(f)
        says_different(test, bad, options, sources, expected, f"fault {number}")
    for number, (change, expected) in enumerate(rewritten):
        bad.unlink()
        change(out, bad)
        says_different(test, bad, options, sources, expected, f"rewritten {number}")
    bad.unlink()
    sound.unlink()


def in_nmb(test, file):
    """The content of a file in an .nmb file without records of its origin."""
    out = test.work / "of_file.nmb"
    out.unlink(missing_ok=True)
    test.run("nmconvert", file, out)
    return out


def check_joins(test):
    for kind, endings in (("NETCDF3_64BIT_DATA", ("nc", "nc4", "nmb")), ("NETCDF4", ("nc4", "nmb"))):
        sources = [test.work / f"{kind}{i}.nc" for i in range(3)]
        for i, path in enumerate(sources):
            make_month(path, i, kind)
        tas = numpy.concatenate([values(path, "tas") for path in sources])
        for ending in endings:
            out = test.work / f"join.{ending}"
            test.run("nmcat", "--mode", "join", *sources, "-o", out, "-f")
            says_equal(test, out, [], sources)  # the file records how it was made
            says_equal(test, out, ["--mode", "join", "--along", "time"], sources)
            if ending == "nmb":
                says_different(test, out, [], sources[::-1], "time: ", "reversed")
                says_different(test, out, [], sources[:2], 'dimension "time": length: 10 -> 15', "a source is missing")
                continue
            test.check(numpy.array_equal(values(out, "tas"), tas), f"{out}: tas")
            check_faults(test, out, [], sources)
            copied(out, test.work / "bad.nc4")
            with netCDF4.Dataset(test.work / "bad.nc4", "a") as f:
                f["tas"][7, 1, 1] = 77
            says_different(test, in_nmb(test, test.work / "bad.nc4"), ["--mode", "join"], sources, "tas[7,1,1]: ", "in .nmb")
    out = test.work / "packed.nmb"
    test.run("nmcat", "--mode", "join", *sources, "-o", out, "--compress", "zstd", "--chunk", "time:4")
    says_equal(test, out, [], sources)
    bad = test.work / "bad.nc4"
    shutil.copy(test.work / "join.nc4", bad)
    with netCDF4.Dataset(bad, "a") as f:
        f["names"][6] = "nobody"
    says_different(test, bad, [], sources, "names: 1 value of 5 differs", "a string")


def check_times(test):
    sources = [test.work / f"times{i}.nc" for i in range(3)]
    for i, path in enumerate(sources):
        make_month(path, i, "NETCDF4_CLASSIC", ["hours since 2001-01-01", "days since 2001-01-11", "days since 2001-01-21"][i])
    for ending in ("nc4", "nmb", "nc"):
        out = test.work / f"times.{ending}"
        test.run("nmcat", "--mode", "join", "--time-units", "rebase", *sources, "-o", out)
        says_equal(test, out, [], sources)
    out = test.work / "times.nc4"
    days = [values(path, "time") for path in sources]
    expected = numpy.concatenate([days[0], 240 + 24 * days[1], 480 + 24 * days[2]])
    test.check(numpy.array_equal(values(out, "time"), expected), f"rebased: {values(out, 'time')}")
    check_faults(test, out, [], sources, [
        (assign("time", 7, 2.5), "time[7]: "),
        (assign("time_bnds", (12, 1), 3), "time_bnds[12,1]: 552 -> 3"),
        (attribute("time", "units", "days since 2001-01-21"), 'attribute "time:units"'),
        (attribute("time", "units", "hours since 2001-01-02"), 'attribute "time:units"'),
        (assign("seen", 5, 9), "seen[5]: -1 -> 9"),
        (assign("seen", 6, -1), "seen[6]: "),
        (lambda f: f["time"].__setitem__(slice(5, 10), days[1]), "time[5]: "),
        (lambda f: f["time"].__setitem__(slice(10, 15), days[2]), "time[10]: 492 -> 0.5"),
    ])


def check_rules(test):
    """--on-mismatch widen, --missing fill."""
    sources = [test.work / f"rules{i}.nc" for i in range(3)]
    for i, path in enumerate(sources):
        make_month(path, i, "NETCDF4_CLASSIC", type=["i2", "f4", "f8"][i])
    out = test.work / "widened.nc4"
    test.run("nmcat", "--mode", "join", "--on-mismatch", "widen", *sources, "-o", out)
    says_equal(test, out, [], sources)
    test.check(values(out, "tas").dtype == "f8", "widened")
    check_faults(test, out, [], sources, [(assign("tas", (1, 1, 1), 0.5), "tas[1,1,1]: ")], [
        (lambda path, to: copied(path, to, type=lambda name, type: "f4" if name == "tas" else type), 'variable "tas": type: ')])
    make_month(sources[1], 1, "NETCDF4_CLASSIC", lacks=("tas",))
    make_month(sources[0], 0, "NETCDF4_CLASSIC")
    make_month(sources[2], 2, "NETCDF4_CLASSIC")
    for ending in ("nmb", "nc4"):
        out = test.work / f"filled.{ending}"
        test.run("nmcat", "--mode", "join", "--missing", "fill", *sources, "-o", out)
        says_equal(test, out, [], sources)
    test.check((values(out, "tas")[DAYS : 2 * DAYS] == -9).all(), "filled")
    check_faults(test, out, [], sources, [
        (assign("tas", (7, 3, 3), 5), "no source: /tas: 1 value of 240 differs"),
        (assign("tas", (10, 3, 3), -9), "tas[10,3,3]: "),
    ], [])


def check_skipped(test):
    """--on-mismatch skip: the values of the first file count."""
    sources = [test.work / f"skipped{i}.nc" for i in range(2)]
    for i, path in enumerate(sources):
        make_month(path, i, "NETCDF4_CLASSIC")
    with netCDF4.Dataset(sources[1], "a") as f:
        f["mask"][0, 0] = 5
    out = test.work / "skipped.nc4"
    test.run("nmcat", "--mode", "join", "--on-mismatch", "skip", *sources, "-o", out)
    says_equal(test, out, [], sources)
    check_faults(test, out, [], sources, [
        (assign("mask", (5, 7), 1), "mask[5,7]: 47 -> 1"),
        (assign("mask", (0, 0), 5), "mask[0,0]: 0 -> 5"),
    ], [])


def check_union(test):
    first, second = test.work / "one.nc", test.work / "two.nc"
    make_month(first, 3, "NETCDF4")
    make_month(second, 3, "NETCDF4", lacks=("tas",))
    with netCDF4.Dataset(second, "a") as f:
        f.createVariable("pr", "f4", ("time", "lat"))[:] = numpy.arange(30).reshape(5, 6)
    for ending in ("nmb", "nc4"):
        out = test.work / f"union.{ending}"
        test.run("nmcat", "--mode", "union", first, second, "-o", out)
        says_equal(test, out, ["--mode", "union"], [first, second])
    check_faults(test, out, ["--mode", "union"], [first, second], [
        (assign("pr", (1, 1), 99), "pr[1,1]: 7 -> 99"),
        (assign("tas", (1, 1, 1), 99), "tas[1,1,1]: "),
        (assign("mask", (0, 0), 99), "mask[0,0]: 0 -> 99"),
        (attribute("pr", "units", "m"), 'attribute "pr:units"'),
        (rename("pr", "rain"), 'variable "pr"'),
    ], [(rolled("lat", 1), "pr: ")])
    with netCDF4.Dataset(second, "a") as f:
        f["mask"][0, 0] = 5
    test.run("nmverify", out, "--mode", "union", "--against", first, second, exit_code=1, says="mask")
    test.run("nmcat", "--mode", "union", "--shared", "first", first, second, "-o", out, "-f")
    says_equal(test, out, ["--mode", "union", "--shared", "first"], [first, second])
    says_different(test, out, ["--mode", "union", "--shared", "first"], [second, first], "mask[0,0]: 5 -> 0", "other order")


def make_tile(path, number, halo=0):
    rows, columns = divmod(number, 2)
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as f:
        f.NumFilesInSet = 4
        f.createDimension("time", None)
        first = {"y": rows * 3, "x": columns * 4}
        count = {"y": 3 + (halo if rows == 0 else 0), "x": 4 + (halo if columns == 0 else 0)}
        for name, whole in (("y", 6), ("x", 8)):
            f.createDimension(name, count[name])
            one = f.createVariable(name, "f8", (name,))
            one.domain_decomposition = numpy.array([1, whole, first[name] + 1, first[name] + count[name]], "i4")
            one[:] = numpy.arange(first[name], first[name] + count[name])
        f.createVariable("time", "f8", ("time",))[:] = range(3)
        box = numpy.ix_(range(3), range(first["y"], first["y"] + count["y"]), range(first["x"], first["x"] + count["x"]))
        f.createVariable("t", "f4", ("time", "y", "x"))[:] = numpy.arange(144.0).reshape(3, 6, 8)[box]


def check_tiles(test):
    for halo in (0, 1):
        sources = [test.work / f"tile.nc.000{i}" for i in range(4)]
        for i, path in enumerate(sources):
            make_tile(path, i, halo)
        for ending in ("nmb", "nc"):
            out = test.work / f"tiles.{ending}"
            test.run("nmcat", "--mode", "tiles", *sources, "-o", out, "-f")
            says_equal(test, out, ["--mode", "tiles"], sources)
        test.check(numpy.array_equal(values(out, "t").ravel(), numpy.arange(144)), "tiles")
        check_faults(test, out, ["--mode", "tiles"], sources, [
            (assign("t", (1, 5, 7), 0), "t[1,5,7]: 95 -> 0"),
            (assign("x", 4, 0), "x[4]: 4 -> 0"),
            (swap("t", 0, 1), "t: "),
        ], [(rolled("x", 4), "t: "), (rolled("y", 1), "t: "), (without_record(2), 'dimension "time"')])
    test.run("nmcat", "--mode", "tiles", "--missing", "fill", *sources[:3], "-o", out, "-f")
    options = ["--mode", "tiles", "--missing", "fill"]
    says_equal(test, out, options, sources[:3])
    check_faults(test, out, options, sources[:3], [(assign("t", (0, 5, 7), 5), "no source: /t: 1 value of ")], [])


def check_subsets(test):
    sources = [test.work / f"part{i}.nc" for i in range(4)]
    for i, path in enumerate(sources):
        make_month(path, i)
    tas = numpy.concatenate([values(path, "tas") for path in sources])
    options = ["--variables", "tas", "--time", "2001-01-04,2001-01-12", "--box", "-50,90,0,80"]
    expected = tas[3:12, :3][..., [7, 0, 1, 2]]
    for ending in ("nmb", "nc4", "nc"):
        out = test.work / f"subset.{ending}"
        test.run("nmcat", "--mode", "join", *options, *sources, "-o", out, "-f", *([] if ending != "nc" else ["--to", "cdf5"]))
        says_equal(test, out, [], sources)
        if ending != "nmb":
            test.check(numpy.array_equal(values(out, "tas"), expected), f"subset {ending}")
            check_faults(test, out, [], sources, [
                (assign("tas", (4, 1, 1), 1000), "tas[4,1,1]: "),
                (assign("lon", 0, 315.5), "lon[0]: "),
                (assign("lat", slice(None), [45, 15, -15]), "lat: 3 values of 3 differ"),
                (lambda f: f["tas"].__setitem__(Ellipsis, tas[3:12, 1:4][..., [7, 0, 1, 2]]), "tas: "),
                (lambda f: f["tas"].__setitem__(Ellipsis, tas[3:12, :3][..., :4]), "tas: "),
                (lambda f: f["tas"].__setitem__(Ellipsis, tas[4:13, :3][..., [7, 0, 1, 2]]), "tas: "),
            ], [(without_record(0), 'dimension "time"'), (rolled("lon", 1), "tas: ")])
    out = test.work / "east.nc4"
    test.run("nmcat", "--mode", "join", "--box", "45,135,0,80", *sources, "-o", out)
    says_equal(test, out, [], sources)
    # Only longitudes that wrap around may differ by 360 degrees.
    check_faults(test, out, [], sources, [(assign("lon", 2, 495), "lon[2]: 135 -> 495")], [])
    out = test.work / "slab.nc4"
    test.run("nmconvert", sources[0], out, "--slab", "lat=1::2,time=2")
    slab = ["--mode", "union", "--slab", "lat=1::2,time=2"]
    says_equal(test, out, slab, sources[:1])
    check_faults(test, out, slab, sources[:1], [
        (assign("tas", (0, 2, 2), 1000), "tas[0,2,2]: "),
        (lambda f: f["tas"].__setitem__(Ellipsis, tas[2:3, 0::2]), "tas: "),
    ], [])
    out = test.work / "packed_subset.nmb"
    test.run("nmcat", *sources[:2], "-o", out, "--slab", "time=0:2")
    says_equal(test, out, [], sources[:2])
    says_different(test, out, [], [sources[1], sources[2]], "part0", "other sources")


def check_longitudes(test):
    """Longitudes that wrap, and their bounds, change by the right multiples of 360."""
    rng = numpy.random.default_rng(1)
    for kind, lon in (("f8", numpy.arange(8) * 45.0), ("f4", numpy.arange(8) * 45.1), ("i2", numpy.arange(8) * 45),
                      ("f8", numpy.sort(rng.uniform(0, 360, 40))), ("f4", numpy.sort(rng.uniform(0, 360, 40))[::-1])):
        source, out, bad = test.work / "globe.nc", test.work / "west.nc", test.work / "bad.nc"
        with netCDF4.Dataset(source, "w", format="NETCDF3_64BIT_DATA") as f:
            f.createDimension("lon", len(lon))
            f.createDimension("bnds", 2)
            one = f.createVariable("lon", kind, ("lon",))
            one.units, one.bounds = "degrees_east", "lon_bnds"
            one[:] = lon.astype(kind)
            f.createVariable("lon_bnds", kind, ("lon", "bnds"))[:] = (lon[:, None] + [-3.3, 3.3]).astype(kind)
            f.createVariable("v", "f4", ("lon",))[:] = numpy.arange(len(lon))
        options = ["--box", "-90,100,-30,90"]
        test.run("nmconvert", source, out, *options, "--to", "cdf5", "-f")
        options = ["--mode", "union", *options]
        says_equal(test, out, options, [source])
        faults = [("lon", 1, -720), ("lon", 0, 360), ("lon", 2, 1), ("lon_bnds", (0, 0), 360), ("lon_bnds", (2, 1), -360)]
        if kind != "i2":
            faults += [("lon", slice(None), 360), ("lon", 0, 3600000), ("lon", 2, 3e-5), ("lon_bnds", (0, 1), 1e-4)]
        for name, index, by in faults:
            shutil.copy(out, bad)
            with netCDF4.Dataset(bad, "a") as f:
                f.set_auto_maskandscale(False)
                f[name][index] = f[name][index] + by
                changed = not numpy.array_equal(f[name][...], values(out, name))
            test.check(changed, f"{kind} {name} {index} {by}: no change")
            says_different(test, bad, options, [source], f"/{name}", f"{kind} {name} {index} {by}")


def check_scales(test):
    """A dimension scale that was detached, or attached in addition, is a difference."""
    sources = [test.work / f"scales{i}.nc" for i in range(2)]
    for i, path in enumerate(sources):
        with netCDF4.Dataset(path, "w") as f:
            for name, length in (("time", None), ("x", 4), ("y", 4)):
                f.createDimension(name, length)
                f.createVariable(name, "f8", (name,))[:] = numpy.arange(3 if name == "time" else 4) + 3 * i * (name == "time")
            f.createVariable("v", "f8", ("time", "y", "x"))[:] = numpy.arange(48).reshape(3, 4, 4) + 48 * i
            f.createVariable("w", "f8", ("y",))[:] = 0
    out, bad = test.work / "scales.nc4", test.work / "bad.nc4"
    test.run("nmcat", "--mode", "join", *sources, "-o", out)
    says_equal(test, out, [], sources)

    def detach(name, axis, scale):
        return lambda f: f[name].dims[axis].detach_scale(f[scale])

    def attach(name, axis, scale):
        return lambda f: f[name].dims[axis].attach_scale(f[scale])

    def both(one, other):
        return lambda f: (one(f), other(f))

    for fault, name in ((detach("v", 0, "time"), "v"), (detach("v", 1, "y"), "v"), (detach("v", 2, "x"), "v"), (detach("w", 0, "y"), "w"),
                        (attach("w", 0, "x"), "w"), (both(detach("w", 0, "y"), attach("w", 0, "x")), "w"),
                        (both(detach("v", 1, "y"), detach("v", 2, "x")), "v")):
        shutil.copy(out, bad)
        with h5py.File(bad, "r+") as f:
            fault(f)
        expected = f'variable "{name}": dimensions: '
        says_different(test, bad, [], sources, expected, "scales")
        said = test.run("nminspect", "diff", out, bad, exit_code=1)
        test.check(expected in said, f"diff: {said!r}")
        digests = [test.run("nminspect", "digest", "--total", path) for path in (out, bad)]
        test.check(digests[0].split()[0] != digests[1].split()[0], f"digest: {digests}")
        test.run("nminspect", "diff", bad, bad)


def check_named_types(test):
    sources = [test.work / f"types{i}.nc" for i in range(2)]
    for i, path in enumerate(sources):
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("time", None)
            f.createVariable("time", "f8", ("time",))[:] = numpy.arange(2) + 2 * i
            flag = f.createEnumType("i1", "E", {"A": 0, "B": 1})
            f.createVariable("flag", flag, ("time",))[:] = [0, 1]
            pair = f.createCompoundType(numpy.dtype([("a", "i4"), ("b", "f8")]), "P")
            f.createVariable("pair", pair, ("time",))[:] = numpy.array([(i, 1), (2, 3)], pair.dtype)
            f.createGroup("g").createVariable("flag", flag, ("time",))[:] = [1, 0]
    out = test.work / "types.nc4"
    for mode in ("join", "union"):
        inputs = sources if mode == "join" else [sources[0], sources[0]]
        test.run("nmcat", "--mode", mode, *inputs, "-o", out, "-f")
        says_equal(test, out, ["--mode", mode], inputs)
    bad = test.work / "bad.nc4"
    shutil.copy(out, bad)
    with h5py.File(bad, "r+") as f:
        del f["E"]
    says_different(test, bad, ["--mode", mode], inputs, 'type "E"', "no type")


def check_hdf5(test):
    """Data sets without scales."""
    sources = [test.work / f"plain{i}.h5" for i in range(2)]
    for i, path in enumerate(sources):
        with h5py.File(path, "w") as f:
            f["id"], f["e"] = numpy.arange(3) + 3 * i, numpy.arange(6).reshape(3, 2) + 6 * i
    for ending in ("h5", "nc4", "nmb"):
        out = test.work / f"plain.{ending}"
        test.run("nmcat", "--mode", "join", "--along", "axis:0", *sources, "-o", out)
        says_equal(test, out, [], sources)
    out = test.work / "plain_union.h5"
    test.run("nmcat", "--mode", "union", sources[0], sources[0], "-o", out)
    says_equal(test, out, ["--mode", "union"], [sources[0], sources[0]])
    with h5py.File(out, "r+") as f:
        f["e"][1, 1] = 77
    says_different(test, out, ["--mode", "union"], [sources[0], sources[0]], "e[1,1]: 3 -> 77", "a value")


def check_parts(test):
    """Inputs that bring only a scalar, and files with scalars only."""
    sources = [test.work / f"scalars{i}.nc" for i in range(2)]
    for i, path in enumerate(sources):
        with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
            f.createDimension("time", None)
            f.createVariable("time", "f8", ("time",))[:] = numpy.arange(3 + i) + 3 * i
            f.createVariable("s", "f8", ())[...] = 1
            if i == 0:
                f.createVariable("v", "f8", ("time",))[:] = numpy.arange(3)
    out = test.work / "scalars.nc3"
    options = ["--mode", "union", "--variables", "v,s"]
    test.run("nmcat", *options, *sources, "-o", out)
    says_equal(test, out, options, sources)
    for path in sources:
        with netCDF4.Dataset(path, "w", format="NETCDF4_CLASSIC") as f:
            f.title = "scalars"
            f.createVariable("s", "f8", ())[...] = 1
    out = test.work / "scalars.nc4"
    test.run("nmcat", "--mode", "union", *sources, "-o", out)
    says_equal(test, out, ["--mode", "union"], sources)


def check_archives(test):
    sources = [test.work / f"run{i}.nc" for i in (2, 0, 1)]
    for path in sources:
        make_month(path, int(path.stem[3:]), "NETCDF3_64BIT_DATA")
    archive, out = test.work / "archive.nmb", test.work / "series.nc"
    test.run("nmcat", *sources, "-o", archive)
    test.run("nmcat", "--mode", "join", archive, "-o", out)
    says_equal(test, out, [], [archive])
    check_faults(test, out, [], [archive], COMMON[:4], REWRITTEN[:3])
    groups = [test.work / f"group{i}.nc" for i in range(2)]
    for i, path in enumerate(groups):
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("time", None)
            f.createVariable("time", "f8", ("time",))[:] = numpy.arange(3) + 3 * i
            for name in ("a", "b"):
                f.createGroup(name).createVariable("v", "i4", ("time",))[:] = numpy.arange(3) + 10 * i
    out = test.work / "groups.nc4"
    test.run("nmcat", "--mode", "join", *groups, "-o", out)
    says_equal(test, out, [], groups)
    check_faults(test, out, [], groups, [(assign("b/v", 4, 0), "/b/v[4]: 11 -> 0"), (assign("time", 4, 0), "time[4]: 4 -> 0")], [])


def check_order(test):
    sources = [test.work / f"order{i}.nc" for i in (2, 0, 1)]
    for path in sources:
        make_month(path, int(path.stem[5:]), "NETCDF3_64BIT_DATA")
    out = test.work / "sorted.nc"
    test.run("nmcat", "--mode", "join", "--sort", "values:time", *sources, "-o", out)
    says_equal(test, out, ["--mode", "join", "--sort", "values:time"], sources)
    says_equal(test, out, ["--mode", "join", "--sort", "name"], sources)
    says_different(test, out, ["--mode", "join"], sources, "time: ", "another order")
    test.run("nmcat", "--mode", "join", *sources, "-o", out, "-f")
    says_equal(test, out, [], sources)
    says_different(test, out, ["--mode", "join", "--sort", "values:time"], sources, "time: ", "not sorted")
    for ending in ("nc", "nmb"):
        for order in ("values:time", "name"):
            out = test.work / f"recorded.{ending}"
            test.run("nmcat", "--mode", "join", "--sort", order, *sources, "-o", out, "-f")
            says_equal(test, out, [], sources)


def check_recorded(test):
    """Options that the file records, and lines of history that an input has brought."""
    sources = [test.work / f"record{i}.nc" for i in range(4)]
    for i, path in enumerate(sources):
        with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
            f.createDimension("my time", None)
            f.number = i
            f.createVariable("my time", "f8", ("my time",)).units = "days since 2000-01-01"
            f["my time"][:] = numpy.arange(3) + 3 * i
            for name in ("tas", "pr", "it's"):
                f.createVariable(name, "f4", ("my time",))[:] = numpy.arange(3) + 10 * i
    out = test.work / "recorded.nc4"
    for options in (["--variables", "t*,p?"], ["--variables", "it's"], ["--variables", "i*'s,tas"], ["--along", "my time"],
                    ["--time", "2000-01-02 00:00,2000-01-05"], ["--slab", "my time=0:2"], ["--variables", "t*", "--variables", "pr"]):
        test.run("nmcat", "--mode", "join", *options, *sources[:2], "-o", out, "-f")
        says_equal(test, out, [], sources[:2])
    joined = [test.work / "first.nc4", test.work / "second.nc4"]
    for i, path in enumerate(joined):
        test.run("nmcat", "--mode", "join", *sources[2 * i : 2 * i + 2], "-o", path)
    for more in (["--no-history"], []):
        test.run("nmcat", "--mode", "join", *more, *joined, "-o", out, "-f")
        says_equal(test, out, ["--mode", "join"], joined)
    with netCDF4.Dataset(out, "a") as f:
        f.history = f.history.replace("record0", "record9")
    says_different(test, out, ["--mode", "join"], joined, 'attribute ":history": value: ', "history")
    for option in (["--sort", "values:nosuch"], ["--split-names", "^(.)"], ["--unique", "{group}"], ["--samples", "none"]):
        test.run("nmverify", out, *option, "--against", *joined, exit_code=2, says=f"{option[0]} needs --mode")
    test.run("nmverify", joined[0], "--mode", "join", "--atts", "list", "--against", *sources[:2], says="number")
    test.run("nmcat", "--mode", "join", "--block-name", "X", *sources[:2], "-o", out, "-f")
    test.run("nmverify", out, "--against", *sources[:2], exit_code=1, says="give --mode")
    says_equal(test, out, ["--mode", "join", "--block-name", "X"], sources[:2])


def check_reports(test):
    sources = [test.work / f"report{i}.nc" for i in range(2)]
    for i, path in enumerate(sources):
        make_month(path, i)
    out = test.work / "report.nc4"
    test.run("nmcat", "--mode", "join", *sources, "-o", out)
    make_month(sources[1], 1, days=3)
    said = test.run("nmverify", out, "--mode", "join", "--against", *sources, exit_code=1)
    test.check("0 of 2 sources the same" in said, f"sources that do not fit: {said!r}")
    make_month(sources[1], 1)
    with netCDF4.Dataset(out, "a") as f:
        f["names"][6] = "n\u00fc"
    says_different(test, out, [], sources, 'names[6]: "day 1 1" -> "n\u00fc"', "text")
    test.run("nmverify", out, "--against", sources[0], test.work / "missing.nc", exit_code=2)
    test.check(test.said.count("missing.nc") == 1, f"an error is shown twice: {test.said!r}")


def check_failures(test):
    sources = [test.work / f"last{i}.nc" for i in range(2)]
    for i, path in enumerate(sources):
        make_month(path, i)
    out = test.work / "last.nc4"
    test.run("nmcat", "--mode", "join", *sources, "-o", out)
    test.run("nmverify", out, "--against", *sources, test.work / "missing.nc", exit_code=2, says="missing.nc")
    test.run("nmverify", out, "--against", *sources, "--along", "time", exit_code=2, says="--along needs --mode join")
    test.run("nmverify", out, "--mode", "join", "--along", "depth", "--against", *sources, exit_code=2, says="depth")
    test.run("nmverify", out, "--variables", "tas", exit_code=2, says="--variables needs --against")
    with netCDF4.Dataset(sources[1], "a") as f:
        f["tas"].units = "degC"
    test.run("nmverify", out, "--against", *sources, exit_code=1, says="tas@units")


def check(test):
    for one in (check_joins, check_times, check_rules, check_skipped, check_union, check_tiles, check_subsets, check_longitudes, check_scales, check_named_types,
                check_hdf5, check_parts, check_archives, check_order, check_recorded, check_reports, check_failures):
        one(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
