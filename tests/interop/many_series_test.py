#!/usr/bin/python3
"""Generated sets of history files: nmconvert --one-file-per-variable writes what `ncrcat -v` writes: the same variables,
dimensions, attributes and values.

    many_series_test.py --tools build/release/tools [--sets 60] [--first 0]

Skipped (exit code 77) without ncrcat.
"""

import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import netCDF4, numpy  # noqa: E402
from generated_sets import main  # noqa: E402

KINDS = ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")
# Attributes that a join changes, and one that only ncrcat writes.
CHANGED = ("history", "tracking_id", "NCO", "history_of_appended_files")


class HistorySet:
    """The files of one set have the same definitions; their values and their numbers of records differ."""

    def __init__(self, number, folder):
        self.rng = numpy.random.default_rng(number)
        self.kind = KINDS[number % len(KINDS)]
        self.has_chunks = self.kind.startswith("NETCDF4")
        self.lengths = {name: int(self.rng.integers(2, 7)) for name in ("lat", "lon", "lev", "station")} | {"bnds": 2}
        self.calendar = self.pick("noleap", "standard", "360_day")
        self.step = float(self.pick(1, 0.25, 30))
        self.variables = [self.variable(f"v{i}") for i in range(self.rng.integers(1, 5))]
        self.is_curvilinear, self.has_terms, self.has_bounds = (bool(self.rng.integers(2)) for _ in range(3))
        self.paths, self.records = [], 0
        # Chunks of one file begin at multiples of the chunk length of the next one, or do not.
        steps = [int(self.rng.integers(1, 6))] * 6 if self.rng.integers(2) else self.rng.integers(1, 6, 6).tolist()
        for i in range(self.rng.integers(1, 7)):
            self.paths.append(folder / f"h{i:02}.nc")
            self.write(self.paths[-1], i, steps[i])

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def variable(self, name):
        types = ["i1", "i2", "i4", "f4", "f8"] + (["u2", "i8"] if self.kind in ("NETCDF4", "NETCDF3_64BIT_DATA") else [])
        dimensions = self.pick(("time",), ("time", "lat", "lon"), ("time", "lev", "lat", "lon"), ("time", "station"), ("lat", "lon"), ())
        how = {}
        if self.has_chunks and dimensions[:1] == ("time",):
            if self.rng.integers(4):
                how["chunksizes"] = [int(self.rng.integers(1, 5))] + [
                    int(self.rng.integers(1, self.lengths[d] + 1)) for d in dimensions[1:]]
            if self.rng.integers(2):
                how |= {"zlib": True, "complevel": int(self.rng.integers(1, 9)), "shuffle": bool(self.rng.integers(2))}
            how["fletcher32"] = bool(self.rng.integers(2))
            how["endian"] = self.pick("big", "little")
        attributes = {"long_name": f"the variable {name}", "weight": numpy.float32(self.rng.random())}
        if self.rng.integers(2):
            how["fill_value"] = self.pick(9, 99)
        if "lat" in dimensions and self.rng.integers(2):
            attributes |= {"cell_measures": "area: cell", "grid_mapping": "crs", "coordinates": "height place"}
        if self.rng.integers(3) == 0:
            attributes["ancillary_variables"] = "flag"
        return name, self.pick(*types), dimensions, how, attributes

    def values(self, file, variable):
        shape = [file.dimensions[d].size if d != "time" else self.now for d in variable.dimensions]
        return self.rng.integers(-100, 100, shape).astype(variable.dtype)

    def write(self, path, number, steps):
        self.now = steps
        fixed = numpy.random.default_rng(7)
        with netCDF4.Dataset(path, "w", format=self.kind) as f:
            f.Conventions, f.history, f.tracking_id = "CF-1.8", "made", f"hdl:{number}"
            f.createDimension("time", None)
            for name, length in self.lengths.items():
                f.createDimension(name, length)

            def add(name, dimensions, **attributes):
                one = f.createVariable(name, "f8", dimensions)
                one.setncatts(attributes)
                if dimensions[:1] != ("time",):
                    one[...] = fixed.random(one.shape)
                return one

            time = add("time", ("time",), units="days since 2001-02-03", calendar=self.calendar)
            if self.has_bounds:
                time.bounds = "time_bnds"
                add("time_bnds", ("time", "bnds"))
            grid = ("lat", "lon")
            if self.is_curvilinear:
                add("place", grid, bounds="corners", coordinates="code")
                add("corners", (*grid, "bnds"))
                add("code", ("lat",), units="1")
            else:
                add("lat", ("lat",), units="degrees_north", bounds="lat_bnds")
                add("lat_bnds", ("lat", "bnds"))
                add("place", ())
            add("height", ())
            add("cell", grid)
            add("crs", (), grid_mapping_name="latitude_longitude")
            if self.has_terms:
                add("lev", ("lev",), formula_terms="a: hya p0: P0 ps: ps")
                add("hya", ("lev",))
                add("P0", ())
                add("ps", ("time", *grid), units="Pa")
            add("flag", ("time",), flag_values=numpy.arange(2.0))
            for name, dtype, dimensions, how, attributes in self.variables:
                f.createVariable(name, dtype, dimensions, **how).setncatts(attributes)
            # Values of variables without records are the same in all files.
            for name, variable in f.variables.items():
                variable.set_auto_maskandscale(False)
                if variable.dimensions[:1] == ("time",):
                    variable[:] = self.values(f, variable)
                elif name in dict((v[0], v) for v in self.variables):
                    variable[...] = fixed.integers(0, 9, variable.shape).astype(variable.dtype)
            time[:] = (self.records + numpy.arange(steps)) * self.step
        self.records += steps


def view(path):
    """The variables of a file: dimensions, type, attributes and values."""
    out = {}
    with netCDF4.Dataset(path) as f:
        f.set_auto_maskandscale(False)
        out["/"] = {"attributes": {n: f.getncattr(n) for n in f.ncattrs() if n not in CHANGED}}
        for name, one in f.variables.items():
            values = numpy.asarray(one[...])
            out[name] = {
                "dimensions": [(d, f.dimensions[d].size, f.dimensions[d].isunlimited()) for d in one.dimensions],
                "type": one.dtype.newbyteorder("=").str,
                "attributes": {n: repr(one.getncattr(n)) for n in one.ncattrs()},
                "values": values.astype(values.dtype.newbyteorder("=")).tobytes(),
            }
    return out


def check_set(test, number):
    options = ("--no-sync",) if number % 3 else ("--no-sync", "-j", "1")
    made = HistorySet(number, test.work)
    names = [p.name for p in made.paths]
    (test.work / "list").write_text("\n".join(names) + "\n")
    test.run("nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", "series", "--name", "{variable}.nc", *options)
    series = sorted((test.work / "series").glob("*.nc"))
    test.check(series, f"set {number}: no outputs")
    for path in series:
        main = path.stem
        test.run("nmverify", path, "--against", *names)
        with netCDF4.Dataset(made.paths[0]) as first:
            has_records = first[main].dimensions[:1] == ("time",)
        ncrcat = ["ncrcat", "-h", "-O", "--no_cll_mth", "-v", main, *names, "peer.nc"] if has_records else ["ncks", "-h", "-O", "-v", main, names[0], "peer.nc"]
        done = subprocess.run(ncrcat, cwd=test.work, capture_output=True, text=True)
        if done.returncode != 0:
            test.check(False, f"set {number}: {' '.join(ncrcat)}: {done.stderr}")
            continue
        found, expected = view(path), view(test.work / "peer.nc")
        # ncks reads only the first file, and ncrcat does not know all attributes that refer to variables.
        test.check(found.keys() >= expected.keys(), f"set {number}, {main}: {sorted(found)}, ncrcat: {sorted(expected)}")
        for name in found.keys() & expected.keys():
            if not has_records and any(d[0] == "time" for d in expected[name].get("dimensions", ())):
                continue
            for field, value in expected[name].items():
                test.check(found[name].get(field) == value,
                           f"set {number} ({made.kind}), {main}: {field} of {name}: {str(found[name].get(field))[:200]}, ncrcat: {str(value)[:200]}")
    return len(series)


if __name__ == "__main__":
    if not shutil.which("ncrcat"):
        print("skipped: found no ncrcat")
        sys.exit(77)
    sys.exit(main(__doc__, check_set, few=5, many=60, least=1))
