#!/usr/bin/python3
"""Generated files and random subsets of them (--variables, --slab, --time, --box). The outputs of nmconvert and nmcat have
the values that numpy selects, with dates by cftime, and the variables that belong together by the CF conventions. Some
subsets are also compared with those of xarray, ncks and cdo.

    many_subsets_test.py --tools build/release/tools [--sets 400] [--first 0]
"""

import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import netCDF4, numpy  # noqa: E402
from generated_sets import main  # noqa: E402
import cftime  # noqa: E402

KINDS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4")
CALENDARS = ("standard", "noleap", "360_day", "proleptic_gregorian", "all_leap", "julian")
# TOGETHER: the other variables that a subset with this variable has.
GRID = {"lat", "lon", "lat_bnds", "lon_bnds", "crs", "cell_area"}
TIMES = {"time", "time_bnds"}
CURVED = {"lon2", "lat2"}
TOGETHER = {
    "tas": GRID | TIMES,
    "packed": GRID | TIMES,
    "orog": GRID,
    "ta": GRID | TIMES | {"plev"},
    "sst": CURVED | TIMES,
    "index": TIMES,
    "station": set(),
}


class SubsetFile:
    def __init__(self, number, folder):
        self.rng = rng = numpy.random.default_rng(number)
        self.kind = KINDS[number % len(KINDS)]
        self.has_chunks = self.kind.startswith("NETCDF4")
        self.path = folder / f"in{number}.nc"
        self.calendar = CALENDARS[int(rng.integers(len(CALENDARS)))]
        self.unit = ("days", "hours", "seconds")[int(rng.integers(3))]
        self.origin = f"{self.unit} since 1999-12-{int(rng.integers(1, 28)):02} 0{int(rng.integers(9))}:00"
        n_time, n_lat, n_lon = (int(n) for n in rng.integers((1, 2, 4), (30, 20, 24)))
        step = float(rng.choice([0.25, 1, 15, 30]))
        start = float(rng.integers(0, 300))
        per_day = {"days": 1, "hours": 24, "seconds": 86400}[self.unit]
        self.times = (start + numpy.arange(n_time) * step) * per_day
        lat = numpy.linspace(-88, 88, n_lat)
        if rng.random() < 0.6:
            lat = lat[::-1]
        self.west = float(rng.choice([0, -180, -20, 7.5]))
        lon = self.west + numpy.arange(n_lon) * (360 / n_lon)
        float_type = str(rng.choice(["f4", "f8"]))
        self.lat, self.lon = lat.astype(float_type), lon.astype(float_type)
        fixed_time = rng.random() < 0.3
        with netCDF4.Dataset(self.path, "w", format=self.kind) as f:
            f.title = "subset"
            for name, n in (("time", None if not fixed_time else n_time), ("lat", n_lat), ("lon", n_lon), ("bnds", 2), ("plev", 3),
                            ("y", 9), ("x", 11), ("station", 6), ("unused", 4)):
                f.createDimension(name, n)
            time = f.createVariable("time", rng.choice(["f8", "f8", "i4"]) if step >= 1 else "f8", ("time",))
            time.units, time.calendar, time.bounds, time.standard_name = self.origin, self.calendar, "time_bnds", "time"
            for name, values, units in (("lat", self.lat, "degrees_north"), ("lon", self.lon, "degrees_east")):
                one = f.createVariable(name, float_type, (name,))
                one[:], one.units, one.bounds = values, units, name + "_bnds"
                half = (values[1] - values[0]) / 2
                f.createVariable(name + "_bnds", float_type, (name, "bnds"))[:] = values[:, None] + [-half, half]
            plev = f.createVariable("plev", "f8", ("plev",))
            plev[:], plev.units = [100000, 50000, 10000], "Pa"
            f.createVariable("crs", "i4", ())[...] = 7
            f.createVariable("cell_area", "f4", ("lat", "lon"))[:] = rng.random((n_lat, n_lon))
            lon2, lat2 = f.createVariable("lon2", "f4", ("y", "x")), f.createVariable("lat2", "f4", ("y", "x"))
            y, x = numpy.mgrid[0:9, 0:11]
            self.lon2 = (10 + x * 3 + y * 0.7).astype("f4")
            self.lat2 = (40 + y * 2 - x * 0.4).astype("f4")
            lon2[:], lat2[:] = self.lon2, self.lat2
            lon2.units, lat2.units, lon2.standard_name, lat2.standard_name = "degrees_east", "degrees_north", "longitude", "latitude"
            self.data(f, "tas", "f4", ("time", "lat", "lon"), fill=-99).setncatts(self.on_grid())
            packed = self.data(f, "packed", "i2", ("time", "lat", "lon"), fill=-9)
            packed.setncatts(self.on_grid() | {"scale_factor": 0.5, "add_offset": 20.0})
            self.data(f, "ta", "f8", ("time", "plev", "lat", "lon")).setncatts(self.on_grid())
            self.data(f, "orog", "f4", ("lat", "lon")).setncatts(self.on_grid())
            self.data(f, "sst", "f4", ("time", "y", "x")).setncatts({"coordinates": "lon2 lat2"})
            self.data(f, "index", "i4", ("time",))
            self.data(f, "station", "i4", ("station",))
            time.set_auto_maskandscale(False)
            times = numpy.round(self.times).astype("i4") if time.dtype == "i4" else self.times
            time[:] = times
            self.times = times.astype("f8")
            f.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = self.times[:, None] + [0, 1]
        with netCDF4.Dataset(self.path) as f:
            f.set_auto_maskandscale(False)
            self.variables = {name: (v.dimensions, v[...]) for name, v in f.variables.items()}
            self.lengths = {name: len(d) for name, d in f.dimensions.items()}

    @staticmethod
    def on_grid():
        return {"grid_mapping": "crs", "cell_measures": "area: cell_area"}

    def data(self, f, name, kind, dimensions, fill=None):
        storage = {}
        if self.has_chunks and dimensions and self.rng.random() < 0.7:
            lengths = [max(1, len(f.dimensions[d]) or len(self.times)) for d in dimensions]
            storage = {"chunksizes": [int(self.rng.integers(1, n + 1)) for n in lengths], "zlib": bool(self.rng.random() < 0.7),
                       "shuffle": bool(self.rng.random() < 0.5), "fletcher32": bool(self.rng.random() < 0.3)}
        if self.has_chunks and self.rng.random() < 0.3:
            storage["endian"] = "big"
        one = f.createVariable(name, kind, dimensions, fill_value=fill, **storage)
        one.set_auto_maskandscale(False)
        shape = [len(f.dimensions[d]) or len(self.times) for d in dimensions]
        one[:] = (self.rng.random(shape) * 1000).astype(kind)
        return one


class Subset:
    """Random options, and the indexes and values that they mean."""

    def __init__(self, of):
        self.of, self.rng = of, of.rng
        self.options, self.indexes, self.turned = [], {}, None
        self.ncks, self.cdo = [], []  # the same for these programs; None: cannot be said
        self.names = set(of.variables)
        pick = self.rng.random
        if pick() < 0.6:
            self.choose_variables()
        if pick() < 0.5:
            self.choose_slab()
        if "time" not in self.indexes and pick() < 0.6:
            self.choose_time()
        if pick() < 0.6 and not {"lat", "lon", "x", "y"} & set(self.indexes):
            self.choose_box()
        if not self.options:
            self.choose_slab()

    def choose_variables(self):
        wanted = list(self.rng.choice(list(TOGETHER), size=int(self.rng.integers(1, 3)), replace=False))
        self.names = set(wanted).union(*(TOGETHER[name] for name in wanted))
        self.options += ["--variables", ",".join(wanted)]
        self.ncks += ["-v", ",".join(wanted)]
        self.cdo = None

    def choose_slab(self):
        names = [d for d in ("time", "lat", "lon", "plev", "y", "x", "station") if self.uses(d)]
        for name in self.rng.choice(names, size=min(len(names), int(self.rng.integers(1, 4))), replace=False):
            length = self.of.lengths[name]
            start = int(self.rng.integers(length))
            stride = int(self.rng.choice([1, 1, 1, 2, 3]))
            most = (length - start - 1) // stride + 1
            count = int(self.rng.integers(1, most + 1))
            text = f"{name}={start}:{count}" + (f":{stride}" if stride > 1 else "")
            if count == most and self.rng.random() < 0.3:
                text = f"{name}={start}::{stride}"
            self.options += ["--slab", text]
            self.indexes[name] = start + numpy.arange(count) * stride
            self.ncks += ["-d", f"{name},{start},{start + (count - 1) * stride},{stride}"]
        self.cdo = None

    def uses(self, dimension):
        return any(dimension in self.of.variables[name][0] for name in self.names)

    def choose_time(self):
        of = self.of
        if not self.uses("time"):
            return
        dates = cftime.num2date(of.times, of.origin, of.calendar, only_use_cftime_datetimes=True)
        low, high = sorted(int(i) for i in self.rng.integers(len(dates), size=2))
        style = int(self.rng.integers(4))
        form = ("{0.year:04}", "{0.year:04}-{0.month:02}", "{0.year:04}-{0.month:02}-{0.day:02}",
                "{0.year:04}-{0.month:02}-{0.day:02}T{0.hour:02}")[style]
        first, last = form.format(dates[low]), form.format(dates[high])
        first, last = ("" if self.rng.random() < 0.15 else first), ("" if self.rng.random() < 0.15 else last)
        if not first and not last:
            return
        texts = [form.format(d) for d in dates]
        self.indexes["time"] = numpy.array([i for i, t in enumerate(texts) if (not first or t >= first) and (not last or t <= last)])
        self.options += ["--time", f"{first},{last}"]
        if style != 2 or not first or not last:
            self.cdo = None
        elif self.cdo is not None:
            self.cdo.append(f"-seldate,{first},{last}")
        self.ncks = None

    def choose_box(self):
        of, rng = self.of, self.rng
        west = float(numpy.round(rng.uniform(-200, 350), 1))
        width = float(numpy.round(rng.uniform(5, 300), 1))
        south, north = sorted(float(n) for n in numpy.round(rng.uniform(-90, 90, size=2), 1))
        if rng.random() < 0.3:
            west, width, south, north = 12.0, 15.0, 42.0, 52.0
        elif rng.random() < 0.3:
            west, width = float(rng.choice([-180, -90, 0, 7.5, west])), float(rng.choice([360, 360, 345]))
        east = west + width
        has_grid, has_curve = self.uses("lat") or self.uses("lon"), self.uses("x")
        if rng.random() < 0.2 and self.uses("plev") and "plev" not in self.indexes:
            low, high = sorted(float(n) for n in rng.choice([5000, 10000, 30000, 50000, 100000], size=2))
            self.options += ["--box", f"plev={low}:{high}"]
            plev = of.variables["plev"][1]
            self.indexes["plev"] = numpy.flatnonzero((plev >= low) & (plev <= high))
            self.ncks, self.cdo = None, None
        if not (has_grid or has_curve):
            return
        self.options += ["--box", f"{west},{east if rng.random() < 0.5 or east < 180 or width == 360 else east - 360},{south},{north}"]
        if has_grid:
            self.indexes["lat"] = numpy.flatnonzero((of.lat >= of.lat.dtype.type(south)) & (of.lat <= of.lat.dtype.type(north)))
            lon = of.lon.astype("f8")
            turns = numpy.floor((lon - west) / 360)
            turned = lon - 360 * turns
            inside = numpy.flatnonzero(turned <= east)
            # From west to east; the values change only if the order changes.
            ordered = inside[numpy.argsort(turned[inside], kind="stable")]
            if not numpy.array_equal(ordered, inside):
                self.turned = -360 * turns[ordered]
            self.indexes["lon"] = ordered
        if has_curve:
            lon2, lat2 = of.lon2.astype("f8"), of.lat2.astype("f8")
            inside = (lon2 - 360 * numpy.floor((lon2 - west) / 360) <= east) & (lat2 >= south) & (lat2 <= north)
            rows, columns = numpy.flatnonzero(inside.any(axis=1)), numpy.flatnonzero(inside.any(axis=0))
            for name, found in (("y", rows), ("x", columns)):
                self.indexes[name] = numpy.arange(found[0], found[-1] + 1) if found.size else found
        self.ncks = None
        if self.cdo is not None:
            self.cdo.append(f"-sellonlatbox,{west},{east},{south},{north}")

    def is_empty(self):
        return any(len(indexes) == 0 for indexes in self.indexes.values())

    def values(self, name):
        dimensions, values = self.of.variables[name]
        for axis, dimension in enumerate(dimensions):
            if dimension in self.indexes:
                values = numpy.take(values, self.indexes[dimension], axis=axis)
        if self.turned is not None and name in ("lon", "lon_bnds"):
            turned = self.turned if name == "lon" else self.turned[:, None]
            values = (values.astype("f8") + turned).astype(values.dtype)
        return values


def compare(test, subset, path, what):
    with netCDF4.Dataset(path) as out, netCDF4.Dataset(subset.of.path) as source:
        out.set_auto_maskandscale(False)
        if set(out.variables) != subset.names:
            test.problems.append(f"{what}: variables {sorted(out.variables)}, expected {sorted(subset.names)}")
            return
        test.check(out.title == "subset", f"{what}: global attribute")
        for name in subset.names:
            found, before, expected = out[name], source[name], subset.values(name)
            if found.dimensions != before.dimensions:
                test.problems.append(f"{what}: {name} has {found.dimensions}")
            elif found.dtype.newbyteorder("=") != before.dtype.newbyteorder("=") or found.shape != expected.shape:
                test.problems.append(f"{what}: {name} is {found.dtype} {found.shape}, expected {before.dtype} {expected.shape}")
            elif not numpy.array_equal(found[...], expected):
                test.problems.append(f"{what}: values of {name}: {found[...]}, expected {expected}")
            attributes = {a: found.getncattr(a) for a in found.ncattrs()}
            if {a: str(v) for a, v in attributes.items()} != {a: str(before.getncattr(a)) for a in before.ncattrs()}:
                test.problems.append(f"{what}: attributes of {name}: {attributes}")
            # In an .nmb file, united values without chunks are big-endian.
            if out.data_model.startswith("NETCDF4") and source.data_model.startswith("NETCDF4") and path.name != "readable.nc" and not (
                subset.turned is not None and name in ("lon", "lon_bnds")
            ):
                compare_storage(test, found, before, f"{what}: {name}")
        for name in out.dimensions:
            test.check(out.dimensions[name].isunlimited() == source.dimensions[name].isunlimited(), f"{what}: {name} unlimited")


def compare_storage(test, found, before, what):
    wanted, have = before.chunking(), found.chunking()
    if wanted != "contiguous":
        limits = [n if u else max(1, min(n, len_)) for n, len_, u in
                  zip(wanted, found.shape, [found.group().dimensions[d].isunlimited() for d in found.dimensions])]
        test.check(have == limits, f"{what}: chunks {have}, expected {limits}")
        test.check({k: v for k, v in (found.filters() or {}).items() if k != "complevel"}
                   == {k: v for k, v in (before.filters() or {}).items() if k != "complevel"}, f"{what}: {found.filters()}")
    test.check(found.dtype == before.dtype, f"{what}: byte order {found.dtype}, expected {before.dtype}")


def compare_with_ncks(test, subset, path, what):
    out = test.work / "ncks.nc"
    done = subprocess.run(["ncks", "-O", "-h", *subset.ncks, subset.of.path, out], capture_output=True, text=True)
    if done.returncode != 0:
        return
    with netCDF4.Dataset(out) as theirs, netCDF4.Dataset(path) as ours:
        theirs.set_auto_maskandscale(False)
        ours.set_auto_maskandscale(False)
        for name in set(theirs.variables) & set(ours.variables):
            test.check(numpy.array_equal(theirs[name][...], ours[name][...]), f"{what}: {name} differs from ncks {subset.ncks}")
        # ncks leaves out the coordinates that no dimension and no attribute of a variable names.
        test.check(set(theirs.variables) <= set(ours.variables), f"{what}: ncks {subset.ncks} has {set(theirs.variables)}")
    test.compared_ncks = True


def compare_with_cdo(test, subset, path, what):
    out = test.work / "cdo.nc"
    chain = subset.cdo[:-1] + [subset.cdo[-1]]
    call = ["cdo", "-s", "-O", *chain, "-selname,tas", subset.of.path, out]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0 or not out.exists():
        return
    with netCDF4.Dataset(out) as theirs, netCDF4.Dataset(path) as ours:
        theirs.set_auto_maskandscale(False)
        ours.set_auto_maskandscale(False)
        mine, other = ours["tas"][...], theirs["tas"][...]
        same = mine.shape == other.shape and numpy.array_equal(mine, other)
        test.check(same, f"{what}: tas differs from cdo {chain}: {mine.shape} and {other.shape}, {ours['lon'][...]} {theirs['lon'][...]}")
        turns = (ours["lon"][...].astype("f8") - theirs["lon"][...]) / 360 if same else numpy.zeros(1)
        test.check(numpy.allclose(turns, numpy.round(turns[0]), atol=1e-6), f"{what}: lon differs from cdo {chain} by {turns} circles")


def compare_with_xarray(test, subset, path, what):
    try:
        import xarray
    except ImportError:
        return
    with xarray.open_dataset(subset.of.path, decode_cf=False) as whole, xarray.open_dataset(path, decode_cf=False) as ours:
        part = whole[[name for name in subset.names]].isel(subset.indexes, missing_dims="ignore")
        if subset.turned is None:
            test.check(part.equals(ours), f"{what}: differs from isel of xarray")


def check_large(test):
    """Rows that are cut where values are read part by part."""
    field = numpy.arange(3001 * 1009, dtype="i4").reshape(3001, 1009)
    lat, lon = numpy.linspace(-90, 90, 3001), numpy.arange(1009) * 360 / 1009
    turned = numpy.concatenate((numpy.flatnonzero(lon >= 260), numpy.flatnonzero(lon <= 80)))
    for kind, to in (("NETCDF3_64BIT_OFFSET", "cdf5"), ("NETCDF3_64BIT_OFFSET", "nmb"), ("NETCDF4", "nc4")):
        with netCDF4.Dataset(test.work / "large.nc", "w", format=kind) as f:
            for name, values, units in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
                f.createDimension(name, values.size)
                f.createVariable(name, "f8", (name,))[:] = values
                f[name].units = units
            f.createVariable("v", "i4", ("lat", "lon"), contiguous=kind == "NETCDF4")[:] = field
        for options, rows, columns in (("--slab lon=3:1001", slice(None), slice(3, 1004)),
                                       ("--slab lon=3:501:2", slice(None), slice(3, 1005, 2)),
                                       ("--slab lon=1:1008,lat=7:2900", slice(7, 2907), slice(1, 1009)),
                                       ("--box=-100,80,-90,90", slice(None), turned)):
            out = test.work / f"large.{to}"
            test.run("nmconvert", "large.nc", out, "--to", to, *options.split(), "-f", "--no-sync")
            if to == "nmb":
                test.run("nmconvert", out, "large.cdf", "--to", "cdf5", "-f", "--no-sync")
                out = test.work / "large.cdf"
            with netCDF4.Dataset(out) as f:
                test.check(numpy.array_equal(f["v"][:], field[rows][:, columns]), f"large subset {options} of {kind} to {to}")


def check_ends(test):
    """The last day, month or year of --time ends before midnight."""
    with netCDF4.Dataset(test.work / "days.nc", "w", format="NETCDF3_64BIT_OFFSET") as f:
        f.createDimension("time", None)
        time = f.createVariable("time", "f8", ("time",))
        time.units, time.calendar, time.standard_name = "hours since 2000-12-30", "noleap", "time"
        time[:] = numpy.arange(0, 80 * 24, 12)
    for text, first, end in (("2001-01-01,2001-01-02", 2, 4), ("2001-01,2001-01", 2, 33), ("2000,2000", 0, 2), ("2001-01-01T00,2001-01-01T11", 2, 2.5)):
        test.run("nmconvert", "days.nc", "ends.nc", "--time", text, "-f", "--no-sync")
        with netCDF4.Dataset(test.work / "ends.nc") as f:
            test.check(numpy.array_equal(f["time"][:], numpy.arange(first * 24, end * 24, 12)), f"--time {text}: {f['time'][:]}")


def check_set(test, number):
    if number == 0:
        check_large(test)
        check_ends(test)
    of = SubsetFile(number, test.work)
    subset = Subset(of)
    ending, to = (("nmb", "nmb"), ("nc", "nc4"), ("nc", "cdf5"), ("h5", "hdf5"), ("nc", "nc4"), ("nc", ""))[int(of.rng.integers(6))]
    if not to and of.has_chunks:
        to = "nc4"
    source = of.path
    if of.rng.random() < 0.3:
        source = test.work / "in.nmb"
        test.run("nmcat", of.path, "-o", source, "--block-name", "{group}", "--no-sync")
    out = test.work / f"out.{ending}"
    what = f"set {number} ({of.kind}, {source.name} to {to}): {' '.join(subset.options)}"
    tool = ["nmcat", source, "-o", out, "--block-name", "{group}"] if of.rng.random() < 0.3 else ["nmconvert", source, out]
    to = ["--to", to] if to else (["--to", "cdf5"] if tool[0] == "nmcat" else [])
    threads = ["-j", "1" if of.rng.random() < 0.5 else "3"]
    if subset.is_empty():
        test.run(*tool, *to, *subset.options, "--no-sync", exit_code=1, says="limits")
        test.check(not out.exists(), f"{what}: was written")
        return 0
    test.run(*tool, *to, *subset.options, "--no-sync", *threads)
    if test.exit_code != 0:
        return 0
    readable = out
    if ending == "nmb":
        readable = test.work / "readable.nc"
        test.run("nmverify", out)
        test.run("nmconvert", out, readable, "--to", "nc4" if of.has_chunks else "cdf5", "--no-sync")
    compare(test, subset, readable, what)
    compare_with_xarray(test, subset, readable, what)
    if subset.ncks and shutil.which("ncks"):
        compare_with_ncks(test, subset, readable, what)
    if subset.cdo and shutil.which("cdo") and "tas" in subset.names and len(of.lat) > 1:
        compare_with_cdo(test, subset, readable, what)
    return 1


if __name__ == "__main__":
    sys.exit(main(__doc__, check_set, few=40, many=400, least=0.5))
