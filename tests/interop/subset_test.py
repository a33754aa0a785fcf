#!/usr/bin/python3
"""Subsets (--variables, --slab, --time, --box) of files with groups, of archives and of joins: their values, what is refused
with which message, and how much is read."""

import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402


def make_month(path, number, kind="NETCDF4", days=30):
    """Daily values of a noleap year that begins 2001-01-01."""
    with netCDF4.Dataset(path, "w", format=kind) as f:
        f.createDimension("time", None)
        f.createDimension("lat", 6)
        f.createDimension("lon", 8)
        time = f.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "days since 2001-01-01", "noleap"
        time[:] = number * days + numpy.arange(days)
        lat, lon = f.createVariable("lat", "f4", ("lat",)), f.createVariable("lon", "f4", ("lon",))
        lat.units, lon.units = "degrees_north", "degrees_east"
        lat[:], lon[:] = numpy.linspace(75, -75, 6), numpy.arange(8) * 45
        for name in ("tas", "pr"):
            more = {"zlib": True, "chunksizes": (1, 3, 4)} if kind == "NETCDF4" else {}
            one = f.createVariable(name, "f4", ("time", "lat", "lon"), **more)
            one[:] = numpy.random.default_rng(number).random((days, 6, 8))


def values(path, name):
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        return f[name][...]


def check_join(test):
    months = [test.work / f"m{i}.nc" for i in range(5)]
    for i, path in enumerate(months):
        make_month(path, i)
    tas = numpy.concatenate([values(path, "tas") for path in months])
    # From day 40 to day 100: without the first and the last file.
    options = ["--variables", "tas", "--time", "2001-02-10,2001-04-11", "--box", "-50,90,0,80"]
    expected = tas[40:101, :3][..., [7, 0, 1, 2]]
    for ending, to in (("nc4", "nc4"), ("nc", "cdf5"), ("nmb", "nmb")):
        out = test.work / f"join.{ending}"
        test.run("nmcat", "--mode", "join", *months, "-o", out, "--to", to, *options, says="left out 2 blocks")
        if ending == "nmb":
            test.run("nmconvert", out, test.work / "back.nc", "--to", "cdf5")
            out = test.work / "back.nc"
        test.check(numpy.array_equal(values(out, "tas"), expected), f"joined {to}")
        test.check(values(out, "lon").tolist() == [-45, 0, 45, 90], f"joined {to}: longitudes {values(out, 'lon')}")
    # An archive: blocks outside are left out; the others are subset.
    test.run("nmcat", *months, "-o", test.work / "all.nmb", "--no-originals")
    test.run("nmconvert", "all.nmb", "some.nc", "--to", "nc4", *options, says="")
    with netCDF4.Dataset(test.work / "some.nc") as f:
        test.check(sorted(f.groups) == ["m1", "m2", "m3"], f"blocks of the archive: {list(f.groups)}")
        parts = [f[f"m{i}"]["tas"][...] for i in (1, 2, 3)]
        test.check(numpy.array_equal(numpy.concatenate(parts), expected), "values of blocks of the archive")
    test.run("nmconvert", "all.nmb", "one.nc", "--extract", "m2", "--slab", "time=5", "--variables", "p*")
    test.check(numpy.array_equal(values(test.work / "one.nc", "m2/pr"), values(months[2], "pr")[5:6]), "one block")
    test.run("nmcat", *months[:2], "-o", "packed.nmb", "--slab", "time=0:2")
    test.run("nmconvert", "packed.nmb", "packed.nc", "--to", "nc4")
    with netCDF4.Dataset(test.work / "packed.nc") as f:
        for i in (0, 1):
            test.check(numpy.array_equal(f[f"m{i}"]["pr"][...], values(months[i], "pr")[:2]), f"packed block m{i}")
    test.run("nmcat", months[0], months[0], "-o", "twice.nmb", "--slab", "time=0", "--block-name", "b", exit_code=1, says="block name")


def check_refusals(test):
    make_month(test.work / "a.nc", 0)
    for options, code, says in (
        (["--variables", "tas,nothing"], 1, 'no input has a variable "nothing"'),
        (["--slab", "depth=0"], 1, 'no input has a dimension "depth"'),
        (["--slab", "time=30"], 1, 'dimension "time" has the length 30; it has no index 30'),
        (["--slab", "time=20:11"], 1, "from index 20 on, there are 10 indexes, not 11"),
        (["--slab", "time=0", "--time", "2001"], 1, 'dimension "time" is selected twice'),
        (["--slab", "time"], 2, "DIM=START:COUNT:STRIDE"),
        (["--slab", "time=0:0"], 2, "a count of at least 1"),
        (["--time", "2001-02-29"], 2, "not a date of the calendar"),
        (["--time", "20010101"], 2, "YYYY"),
        (["--time", ","], 2, "FROM,TO"),
        (["--time", "2002"], 1, "no input has values in the limits"),
        (["--box", "0,10,20"], 2, "WEST,EAST,SOUTH,NORTH"),
        (["--box", "0,10,1,2"], 1, "no input has values in the limits"),
        (["--box", "height=1:2"], 1, 'no input has a coordinate "height"'),
        (["--box", "tas=1:2"], 1, 'variable "tas" has 3 dimensions'),
        (["--slab", "time=0", "--repack"], 2, "exclude each other"),
    ):
        test.run("nmconvert", "a.nc", "out.nmb", *options, exit_code=code, says=says)
        test.check(not (test.work / "out.nmb").exists(), f"{options} wrote a file")
    make_month(test.work / "zone.nc", 0)
    for units, code, says in (("2001-01-01 +5:30", 2, "could be a time zone or a clock"), ("2001-01-01 00:00 +5:30", 0, "")):
        with netCDF4.Dataset(test.work / "zone.nc", "a") as f:
            f["time"].units = "days since " + units
        test.run("nmconvert", "zone.nc", "zone.nmb", "--time", "2001-01-03", exit_code=code, says=says)
    with netCDF4.Dataset(test.work / "indirect.nc", "w") as f:
        for name, n in (("lat", 4), ("lon", 5), ("land", 3), ("obs", 7), ("station", 2), ("node", 4), ("face", 2), ("three", 3)):
            f.createDimension(name, n)
        f.createVariable("land", "i4", ("land",)).compress = "lat lon"
        f.createVariable("soil", "f4", ("land",))
        f.createVariable("rows", "i4", ("station",)).sample_dimension = "obs"
        f.createVariable("which", "i4", ("obs",)).instance_dimension = "station"
        f.createVariable("grid", "i4", ()).face_node_connectivity = "faces"
        f.createVariable("faces", "i4", ("face", "three"))
        f.createVariable("depth", "f4", ("node",)).mesh = "grid"
    for options, says in (
        (["--slab", "lat=0:2"], "attribute compress"),
        (["--slab", "obs=0:2"], "attribute sample_dimension"),
        (["--slab", "station=0"], "attribute sample_dimension"),
        (["--slab", "face=0"], "face_node_connectivity"),
    ):
        test.run("nmconvert", "indirect.nc", "out.nmb", *options, exit_code=1, says=says)
    test.run("nmconvert", "indirect.nc", "soil.nc", "--to", "cdf5", "--variables", "soil", "--slab", "land=1:2")
    test.run("nmconvert", "indirect.nc", "out.nc", "--to", "cdf5", "--variables", "which", "--slab", "station=0", exit_code=1)
    with netCDF4.Dataset(test.work / "packed.nc", "w") as f:
        f.createDimension("lon", 8)
        lon = f.createVariable("lon", "i2", ("lon",))
        lon.units, lon.scale_factor = "degrees_east", 0.5
        lon[:] = numpy.arange(8) * 45
    test.run("nmconvert", "packed.nc", "out.nmb", "--box", "-50,50,0,1", exit_code=1, says="packed")
    test.run("nmconvert", "packed.nc", "out.nc", "--to", "nc4", "--box", "50,100,0,1")
    test.check(values(test.work / "out.nc", "lon").tolist() == [180], f"packed longitudes {values(test.work / 'out.nc', 'lon')}")


def check_along(test):
    """A join needs its dimension, although the subset may lack it."""
    for kind in ("NETCDF4", "NETCDF3_CLASSIC"):
        for i in range(2):
            make_month(test.work / f"along{i}.nc", i, kind=kind)
            with netCDF4.Dataset(test.work / f"fixed{i}.nc", "w", format=kind) as f:
                f.createDimension("x", 4)
                f.createVariable("v", "f4", ("x",))[:] = 1
        months, fixed = ("along0.nc", "along1.nc"), ("fixed0.nc", "fixed1.nc")
        for more in ([], ["--slab", "lat=0"], ["--variables", "tas"], ["--variables", "tas", "-j", "2"]):
            for files in (months, months[:1]):
                test.run("nmcat", "--mode", "join", *more, "--along", "nosuch", *files, "-o", "no.nmb", exit_code=2,
                         says='no input has dimension "nosuch"')
        for more in ([], ["--slab", "x=0"], ["--variables", "v"], ["--variables", "v", "-j", "2"]):
            test.run("nmcat", "--mode", "join", *more, *fixed, "-o", "no.nmb", exit_code=1, says="no block with this dimension")
            test.run("nmcat", "--mode", "join", *more, "--along", "x", *fixed, "-o", "joined.nmb", "-f")
        test.check(not (test.work / "no.nmb").exists(), f"{kind}: a refused join wrote a file")
        # The subset has no variable with the joined dimension.
        for more in ([], ["--along", "time"]):
            test.run("nmcat", "--mode", "join", "--variables", "lat", *more, *months, "-o", "lat.nmb", "-f")


def check_filled(test):
    """With fill values, a part of a file without the wanted variables has its steps and their coordinates."""
    for kind in ("NETCDF3_64BIT_DATA", "NETCDF4"):
        for i in range(2):
            with netCDF4.Dataset(test.work / f"fill{i}.nc", "w", format=kind) as f:
                f.createDimension("time", None)
                f.createDimension("bnds", 2)
                f.createDimension("x", 2)
                steps = 3 * i + numpy.arange(3)
                time = f.createVariable("time", "f8", ("time",))
                time[:], time.bounds, time.units = steps, "time_bnds", "days since 2000-01-01"
                f.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = steps[:, None] + [0, 1]
                f.createVariable("lead", "i4", ("time",))[:] = steps * 10
                f.createVariable("other", "i4", ("time", "x"))[:] = steps[:, None]
                f["other"].coordinates = "lead"
                f.createVariable("s", "i4", ())[...] = 5
                if i == 0:
                    f.createVariable("v", "i4", ("time", "x"))[:] = steps[:, None]
                    f["v"].coordinates = "lead"
        fill = netCDF4.default_fillvals["i4"]
        for files in (("fill0.nc", "fill1.nc"), ("fill1.nc", "fill0.nc")):
            order = numpy.concatenate([3 * int(file[4]) + numpy.arange(3) for file in files])
            for more in ([], ["--along", "time"], ["--slab", "x=0"]):
                for wanted in ("v", "v,s", "s,v"):
                    test.run("nmcat", "--mode", "join", "--missing", "fill", "--variables", wanted, *more, *files, "-o", "filled.nc",
                             "--to", "nc4" if kind == "NETCDF4" else "cdf5", "-f", says="used fill values for 1 missing object: v")
                    test.run("nmverify", "filled.nc", "--against", *files)
                    what = f"{kind}: --variables {wanted} of {files}"
                    with netCDF4.Dataset(test.work / "filled.nc") as f:
                        f.set_auto_mask(False)
                        names = {"time", "time_bnds", "lead", "v"} | ({"s"} if "s" in wanted else set())
                        test.check(set(f.variables) == names, f"{what}: found {list(f.variables)}")
                        test.check(f["time"][:].tolist() == order.tolist(), f"{what}: time {f['time'][:]}")
                        test.check(f["time_bnds"][:, 1].tolist() == (order + 1).tolist(), f"{what}: {f['time_bnds'][:]}")
                        test.check(f["lead"][:].tolist() == (order * 10).tolist(), f"{what}: lead {f['lead'][:]}")
                        expected = numpy.where(order < 3, order, fill)
                        test.check(f["v"][:, 0].tolist() == expected.tolist(), f"{what}: v {f['v'][:]}")


def check_longitudes(test):
    """A box of all longitudes begins at its western limit."""
    def make(lon, bounds=True, kind="f8"):
        with netCDF4.Dataset(test.work / "globe.nc", "w", format="NETCDF3_64BIT_DATA") as f:
            f.createDimension("lon", len(lon))
            f.createDimension("bnds", 2)
            one = f.createVariable("lon", kind, ("lon",))
            one[:], one.units = lon, "degrees_east"
            if bounds:
                one.bounds = "lon_bnds"
                half = (lon[1] - lon[0]) / 2
                f.createVariable("lon_bnds", kind, ("lon", "bnds"))[:] = lon[:, None] + [-half, half]
            f.createVariable("v", "i4", ("lon",))[:] = numpy.arange(len(lon))

    globe = numpy.arange(8) * 45.0
    for lon, box, expected in (
        (globe, (-180, 180), globe - 180),
        (globe, (-180, 179), globe - 180),
        (globe, (-170, 180), globe - 135),
        (globe, (30, 365), globe + 45),
        (globe, (0, 360), globe),
        (globe, (360, 720), globe),
        (globe, (-720, 720), globe),
        (globe - 180, (-720, 720), globe - 180),
        (globe - 180, (-180, 180), globe - 180),
        (globe - 180, (0, 360), globe),
        (globe - 180, (-170, 180), globe - 135),
        (globe + 22.5, (-180, 180), globe - 157.5),
        (globe[::-1], (-180, 180), globe[::-1] - 180),
        (globe[::-1], (0, 360), globe[::-1]),
        (globe + 180, (-180, 180), globe + 180),
        (numpy.arange(9) * 45.0, (0, 360), numpy.arange(9) * 45.0),
    ):
        for kind in ("f8", "f4"):
            make(lon, kind=kind)
            test.run("nmconvert", "globe.nc", "turned.nc", "-f", "--box", f"{box[0]},{box[1]},-90,90")
            what = f"{kind}: {lon[0]} to {lon[-1]}, box {box}"
            found = values(test.work / "turned.nc", "lon")
            test.check(found.tolist() == expected.tolist(), f"{what}: found {found}")
            at = [int(numpy.flatnonzero(((lon - one) % 360 == 0))[0]) for one in expected] if len(lon) == 8 else list(range(9))
            test.check(values(test.work / "turned.nc", "v").tolist() == at, f"{what}: v {values(test.work / 'turned.nc', 'v')}")
            half = (lon[1] - lon[0]) / 2
            bounds = values(test.work / "turned.nc", "lon_bnds")
            test.check(bounds.tolist() == (expected[:, None] + [-half, half]).tolist(), f"{what}: bounds {bounds}")
    make(numpy.arange(9) * 45.0)
    test.run("nmconvert", "globe.nc", "turned.nc", "-f", "--box", "-180,180,-90,90", exit_code=1, says="repeat after 360 degrees")


def check_groups(test):
    with netCDF4.Dataset(test.work / "groups.nc", "w") as f:
        f.createDimension("time", None)
        f.createDimension("lat", 6)
        time, lat = f.createVariable("time", "f8", ("time",)), f.createVariable("lat", "f8", ("lat",))
        time.units, lat.units = "hours since 2000-01-01", "degrees_north"
        time[:], lat[:] = numpy.arange(10) * 6, numpy.arange(6) * 10
        for group in ("a", "b/c", "d"):
            g = f.createGroup(group)
            if group == "d":
                g.createDimension("other", 3)
                g.createVariable("w", "i4", ("other",))[:] = [1, 2, 3]
            else:
                one = g.createVariable("v", "f4", ("time", "lat"), chunksizes=(4, 3), zlib=True)
                one[:] = numpy.arange(60).reshape(10, 6)
    v = numpy.arange(60).reshape(10, 6)
    options = ["--time", "2000-01-01T12,2000-01-02", "--box", "0,1,10,35"]
    for out in ("groups_out.nc", "groups_out.nmb"):
        test.run("nmconvert", "groups.nc", out, *options, *(["--to", "nc4"] if out.endswith("nc") else []))
    test.run("nmconvert", "groups_out.nmb", "groups_back.nc", "--to", "nc4")
    for out in ("groups_out.nc", "groups_back.nc"):
        with netCDF4.Dataset(test.work / out) as f:
            for group in ("a", "b/c"):
                test.check(numpy.array_equal(f[group]["v"][...], v[2:8, 1:4]), f"{out}: {group}: {f[group]['v'][...]}")
                test.check(not f[group].dimensions, f"{out}: {group} has own dimensions {list(f[group].dimensions)}")
            test.check(f["time"].shape == (6,) and f["lat"][...].tolist() == [10, 20, 30], f"{out}: coordinates")
            test.check(f["d"]["w"][...].tolist() == [1, 2, 3], f"{out}: d")
    test.run("nmconvert", "groups.nc", "ab.nc", "--to", "nc4", "--variables", "a/v")
    with netCDF4.Dataset(test.work / "ab.nc") as f:
        test.check(list(f.groups) == ["a"] and set(f.variables) == {"time", "lat"}, f"{list(f.groups)} {list(f.variables)}")
    # Coordinates in another group than the one that defines their dimension.
    with netCDF4.Dataset(test.work / "apart.nc", "w") as f:
        f.createDimension("x", 5)
        f.createGroup("data").createVariable("v", "f4", ("x",))[:] = 1
        lon = f.createGroup("geo").createVariable("lon", "f4", ("x",))
        lon[:], lon.units = numpy.arange(5), "degrees_east"
    test.run("nmconvert", "apart.nc", "apart_out.nc", "--to", "nc4", "--box", "1,2,0,1", exit_code=1, says="a group above it")


def check_other_types(test):
    """Variables that cannot be subset do not matter if they are not wanted."""
    with h5py.File(test.work / "types.h5", "w") as f:
        f["v"] = numpy.arange(20.0).reshape(4, 5)
        f["words"] = numpy.array(["a", "bc"], dtype=object)
        f["table"] = numpy.zeros(3, dtype=[("x", "i4"), ("y", "f8")])
    test.run("nmconvert", "types.h5", "v.nmb", "--variables", "v", "--slab", "phony_dim_0=1:2")
    test.run("nmconvert", "types.h5", "v.h5", "--variables", "v", "--slab", "phony_dim_0=1:2")
    with h5py.File(test.work / "v.h5") as f:
        test.check(list(f) and numpy.array_equal(f["v"][...], numpy.arange(20.0).reshape(4, 5)[1:3]), "v of types.h5")
    test.run("nmconvert", "types.h5", "t.h5", "--variables", "words,table", "--slab", "phony_dim_2=1")
    with h5py.File(test.work / "t.h5") as f:
        test.check(list(f) == ["table", "words"] and f["words"][...].tolist() == [b"bc"], f"words and table: {list(f)}")
    test.run("nmconvert", "types.h5", "t.nc", "--to", "cdf5", "--variables", "table", exit_code=1, says="table")


def check_own_types(test):
    """Strings, enums and compounds, and attributes of such types."""
    times, stations = 2000, 4
    text = numpy.array([[f"{t}-{s} " * (t % 9 + 1) for s in range(stations)] for t in range(times)], object)
    with netCDF4.Dataset(test.work / "own.nc", "w") as f:
        f.createDimension("time", None)
        f.createDimension("station", stations)
        kind = f.createEnumType("u1", "kind_t", {"land": 0, "sea": 1})
        pair = f.createCompoundType(numpy.dtype([("a", "i4"), ("b", "f8")]), "pair_t")
        f.createVariable("station", str, ("station",))[:] = numpy.array(["a", "bc", "def", "ghij"], object)
        f.createVariable("text", str, ("time", "station"), chunksizes=(3, 2))[:] = text
        f.createVariable("flag", kind, ("time", "station"), zlib=True)[:] = numpy.arange(times * stations).reshape(times, stations) % 2
        both = f.createVariable("both", pair, ("station",))
        both[:] = numpy.array([(i, i / 2) for i in range(stations)], both.dtype)
        v = f.createVariable("v", "f4", ("time", "station"), zlib=True, chunksizes=(1, 4))
        v[:] = numpy.arange(times * stations).reshape(times, stations)
        v.who = ["x", "yz"]
    test.run("nmcat", "own.nc", "-o", "own.nmb", "--no-originals", "--block-name", "{group}")
    for source in ("own.nc", "own.nmb"):
        part = test.work / "part.nc"
        test.run("nmconvert", source, part, "--to", "nc4", "--slab", "time=5:3,station=1:2", "-f")
        with netCDF4.Dataset(part) as f:
            test.check(f["station"][...].tolist() == ["bc", "def"], f"{source}: {f['station'][...]}")
            test.check(numpy.array_equal(f["text"][...], text[5:8, 1:3]), f"{source}: {f['text'][...]}")
            test.check(f["flag"][...].tolist() == [[1, 0]] * 3 and f["flag"].datatype.name == "kind_t", f"{source}: enum")
            test.check(f["both"][...]["b"].tolist() == [0.5, 1], f"{source}: compound")
            test.check(f["v"].who == ["x", "yz"], f"{source}: attribute {f['v'].who}")
        test.run("nmconvert", source, part, "--to", "nc4", "--slab", "time=7", "--variables", "v", "-f")
        with netCDF4.Dataset(part) as f:
            test.check(set(f.variables) == {"v", "station"} and f["v"].who == ["x", "yz"], f"{source}: {list(f.variables)}")
            test.check(not f.enumtypes and not f.cmptypes, f"{source}: types of variables that are left out")
        small = test.work / f"small_{source}.nmb"
        test.run("nmconvert", source, small, "--slab", f"time={times - 1}", "--variables", "text")
        test.check(small.stat().st_size < 32768, f"{source}: one of {times} times has {small.stat().st_size} bytes")
        test.run("nmconvert", small, part, "--to", "nc4", "-f")
        test.check(numpy.array_equal(values(part, "text"), text[-1:]), f"{source}: {values(part, 'text')}")


def make_types(path, other=("calm", "storm")):
    """Types in the root group and in two groups, and variables that use them in the same group and below."""
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("x", 2)
        state = f.createEnumType("u1", "state_t", {"land": 0, "sea": 1})
        pair = f.createCompoundType(numpy.dtype([("a", "i4"), ("b", "f8")]), "pair_t")
        ragged = f.createVLType("i4", "ragged_t")
        unused = f.createEnumType("i2", "unused_t", {other[0]: 0, other[1]: 7})
        f.createVariable("e", state, ("time", "x"), fill_value=0)[:] = numpy.arange(6).reshape(3, 2) % 2
        c = f.createVariable("c", pair, ("x",))
        c[:] = numpy.array([(1, 0.5), (2, 1.5)], c.dtype)
        v = f.createVariable("v", ragged, ("time",))
        for i in range(3):
            v[i] = numpy.arange(i, dtype="i4")
        f.createVariable("n", "f4", ("time", "x"))[:] = 1
        f.createVariable("u", unused, ("time",))[:] = [0, 0, 7]
        below = f.createGroup("g").createGroup("h")
        below.createVariable("e", state, ("time",))[:] = [1, 0, 1]
        own = below.createEnumType("u1", "own_t", {"up": 0, "down": 1})
        below.createVariable("o", own, ("time",))[:] = [1, 1, 0]
        f.createGroup("other").createVariable("e", state, ("x",))[:] = [0, 1]
        f.createGroup("last").createVariable("o", own, ("x",))[:] = [0, 1]


def types_of(group, above=""):
    here = [above + name for types in (group.enumtypes, group.cmptypes, group.vltypes) for name in types]
    return here + [name for g in group.groups.values() for name in types_of(g, f"{above}{g.name}/")]


def groups_of(group, above=""):
    names = [above + name for name in group.groups]
    return names + [name for g in group.groups.values() for name in groups_of(g, f"{above}{g.name}/")]


def check_named_types(test):
    """A subset has exactly the named types that it uses, also those of other groups."""
    make_types(test.work / "t.nc")
    make_types(test.work / "t2.nc", ("calm", "wind"))
    test.run("nmcat", "t.nc", "-o", "t.nmb", "--no-originals", "--block-name", "{group}")
    cases = (
        ("e", {"e", "g/h/e", "other/e"}, ["state_t"]), ("c", {"c"}, ["pair_t"]), ("v", {"v"}, ["ragged_t"]), ("n", {"n"}, []),
        ("e,c,v", {"e", "c", "v", "g/h/e", "other/e"}, ["pair_t", "ragged_t", "state_t"]),
        ("g/h/e", {"g/h/e"}, ["state_t"]), ("g/h/o", {"g/h/o"}, ["g/h/own_t"]), ("last/o", {"last/o"}, ["g/h/own_t"]),
        ("*", {"e", "c", "v", "n", "u", "g/h/e", "g/h/o", "other/e", "last/o"},
         ["g/h/own_t", "pair_t", "ragged_t", "state_t", "unused_t"]),
    )
    out = test.work / "typed.nc"
    for variables, names, types in cases:
        wanted = ("--variables", variables)
        for how in ("t.nc", "t.nmb", "join", "union", "pack", "nmb"):
            what = f"--variables {variables}, {how}"
            if how in ("t.nc", "t.nmb"):
                test.run("nmconvert", how, out, "--to", "nc4", *wanted, "-f")
            elif how == "pack":
                test.run("nmcat", "t.nc", "-o", out, "--to", "nc4", "--block-name", "{group}", *wanted, "-f")
            elif how == "nmb":
                test.run("nmconvert", "t.nc", "typed.nmb", *wanted, "-f")
                test.run("nmconvert", "typed.nmb", out, "--to", "nc4", "-f")
            elif how == "union" or variables in ("c", "last/o"):
                test.run("nmcat", "--mode", "union", "t.nc", "t.nc", "-o", out, "--to", "nc4", *wanted, "-f", "-q")
            else:
                test.run("nmcat", "--mode", "join", "t.nc", "t2.nc" if variables != "*" else "t.nc", "-o", out,
                         "--to", "nc4", *wanted, "-f", "-q")
            with netCDF4.Dataset(out) as f, netCDF4.Dataset(test.work / "t.nc") as whole:
                found = sorted(types_of(f))
                test.check(found == types, f"{what}: types {found}, expected {types}")
                for name in names:
                    group, _, last = name.rpartition("/")
                    if group not in ("", *groups_of(f)) or last not in (f[group] if group else f).variables:
                        test.check(False, f"{what}: netCDF shows no {name}")
                        continue
                    expected = whole[name][:]
                    test.check(numpy.array_equal(f[name][: len(expected)], expected) or expected.dtype == object,
                               f"{what}: {name}: {f[name][:]}")
    # A type that the subset uses must be the same in all files.
    test.run("nmcat", "--mode", "join", "t.nc", "t2.nc", "-o", "no.nc", "--to", "nc4", "--variables", "u", "-q",
             exit_code=1, says="unused_t")


def check_reading(test):
    """A subset reads its chunks, not the file."""
    with h5py.File(test.work / "large.h5", "w") as f:
        rng = numpy.random.default_rng(1)
        for name in ("v", "w"):
            f.create_dataset(name, data=rng.random((64, 128, 128)), chunks=(1, 128, 128), compression="gzip", compression_opts=1)
    test.run("nmcat", "large.h5", "-o", "large.nmb", "--no-originals", "--block-name", "{group}")
    for source in ("large.h5", "large.nmb"):
        out = f"part_{source}.h5"
        test.run("nmconvert", source, out, "--variables", "v", "--slab", "phony_dim_0=10:4")
        with h5py.File(test.work / out) as f, h5py.File(test.work / "large.h5") as whole:
            test.check(numpy.array_equal(f["v"][...], whole["v"][10:14]), f"{source}: values")
            # Chunks that are in the subset are copied as they are.
            for i in range(4):
                test.check(f["v"].id.read_direct_chunk((i, 0, 0)) == whole["v"].id.read_direct_chunk((10 + i, 0, 0)),
                           f"{source}: chunk {i}")


def check_damage(test):
    """Damaged chunks matter only in the subset that has them."""
    bad = test.work / "damaged.h5"
    with h5py.File(bad, "w") as f:
        data = numpy.random.default_rng(2).random((8, 64, 64))
        f.create_dataset("v", data=data, chunks=(1, 64, 64), compression="gzip")
        at = f["v"].id.get_chunk_info(5).byte_offset
    with open(bad, "r+b") as f:
        f.seek(at + 100)
        f.write(bytes(64))
    test.run("nmcat", bad, "-o", "damaged.nmb", "--no-originals", "--block-name", "{group}", says="cannot be decoded")
    for source in ("damaged.h5", "damaged.nmb"):
        for kind in ("nmb", "hdf5"):
            out = test.work / f"sound_{source}.{kind}"
            test.run("nmconvert", source, out, "--to", kind, "--slab", "phony_dim_0=1:4", says="")
            test.run("nmconvert", source, "touched", "--to", kind, "--slab", "phony_dim_0=4:2", exit_code=1, says="chunk")
        with h5py.File(out) as f:
            test.check(numpy.array_equal(f["v"][...], data[1:5]), f"{source}: values beside the damage")


def check_ranks(test):
    months = [test.work / f"m{i}.nc" for i in range(5)]
    options = ["--mode", "join", "--variables", "tas", "--slab", "time=1:14:2", "--box", "-50,90,0,80", "--no-provenance"]
    outputs = []
    for threads in (1, 3, 5):
        out = test.work / f"ranks{threads}.nmb"
        test.run("nmcat", *months, "-o", out, *options, "-j", str(threads))
        outputs.append(out.read_bytes())
    test.check(outputs[0] == outputs[1] == outputs[2], "threads change the output")


def check(test):
    check_join(test)
    check_refusals(test)
    check_along(test)
    check_filled(test)
    check_longitudes(test)
    check_groups(test)
    check_other_types(test)
    check_own_types(test)
    check_named_types(test)
    check_reading(test)
    check_damage(test)
    check_ranks(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
