#!/usr/bin/python3
"""Random sets of files whose times count from another day in each file, joined with --time-units rebase. The times
equal those of exact arithmetic, and those of ncrcat and xarray where these are exact; times that their type cannot hold
are refused. Every fourth set also has a union of files with the unlimited dimension at different positions.

    generated_times_test.py --tools build/release/tools [--sets 24] [--first 0]

Skipped (exit code 77) without netCDF4-python or cftime.
"""

import datetime
import json
import shutil
import subprocess
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
from generated_sets import main  # noqa: E402
from tool_runs import as_netcdf, netCDF4, numpy  # noqa: E402

try:
    import cftime
except ImportError:
    print("skipped: no Python module cftime")
    sys.exit(77)
try:
    import xarray
except ImportError:
    xarray = None

CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "noleap", "365_day", "360_day", "all_leap", "366_day", "julian", None)
SAME = {"gregorian": "standard", None: "standard", "365_day": "noleap", "366_day": "all_leap"}
UNITS = {"days": 86_400_000_000, "hours": 3_600_000_000, "minutes": 60_000_000, "seconds": 1_000_000}
FILL = 999


def exact(kind, value):
    """The number as a value of the type, or None."""
    if numpy.dtype(kind).kind in "iu":
        info = numpy.iinfo(kind)
        return int(value) if value.denominator == 1 and info.min <= value <= info.max else None
    number = numpy.dtype(kind).type(float(value))
    return number if Fraction(float(number)) == value else None


class File:
    def __init__(self, rng, files, first, number):
        self.name = f"f{number}.nc"
        year = int(rng.integers(1400, 2300)) if rng.random() < 0.1 else int(rng.integers(1850, 2100))
        hour = int(rng.integers(0, 24)) if rng.random() < 0.2 else 0
        self.day = files.start if rng.random() < 0.2 else cftime.datetime(
            year, int(rng.integers(1, 13)), int(rng.integers(1, 29)), hour, calendar=files.kept_calendar)
        self.unit = files.unit if rng.random() < 0.8 else str(rng.choice(list(UNITS)))
        text = f"{self.day.year:04d}-{self.day.month:02d}-{self.day.day:02d}"
        if hour or rng.random() < 0.5:
            text += f" {self.day.hour:02d}:{self.day.minute:02d}:{self.day.second:02d}"
        self.units = f"{self.unit} since {text}"
        # Microseconds from the day on which the set begins.
        self.shift = microseconds(self.day - files.start)
        count = 0 if files.has_empty and number == files.empty else int(rng.integers(1, 5))
        self.values = []
        for i in range(count):
            at = first + files.step * i
            value = Fraction(at - self.shift, UNITS[self.unit])
            held = exact(files.kind, value)
            # Times that the type cannot hold are rounded; then rebasing them may be inexact.
            self.values.append(held if held is not None else numpy.dtype(files.kind).type(float(value)))
        self.first, self.end = first, first + files.step * count


def microseconds(delta):
    return delta // datetime.timedelta(microseconds=1)


class Set:
    def __init__(self, number, work):
        self.rng = rng = numpy.random.default_rng(number)
        self.calendar = CALENDARS[number % len(CALENDARS)]
        self.kept_calendar = SAME.get(self.calendar, self.calendar)
        self.format = str(rng.choice(["NETCDF4", "NETCDF4", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC"]))
        self.kind = str(rng.choice(["f8", "f8", "f8", "i4", "f4"] + (["i8"] if self.format == "NETCDF4" else [])))
        self.unit = str(rng.choice(list(UNITS)[:2] if self.kind == "f4" else list(UNITS)))
        self.start = cftime.datetime(int(rng.integers(1950, 2050)), 1, 1, calendar=self.kept_calendar)
        steps = [UNITS["days"]] * 4 + [6 * UNITS["hours"], UNITS["hours"], 31 * UNITS["days"]]
        self.step = int(steps[rng.integers(len(steps))])
        if self.kind[0] == "i" and self.unit == "days":
            self.step = max(self.step, UNITS["days"])
        self.has_empty = bool(rng.random() < 0.25)
        self.bounds = [None, "bounds", "climatology"][rng.integers(3)]
        self.bounds_have_units = bool(rng.random() < 0.3)
        self.has_fill = bool(rng.random() < 0.3)
        self.has_other = bool(rng.random() < 0.4)
        count = int(rng.integers(2, 5))
        self.empty = int(rng.integers(count))
        self.files, first = [], int(rng.integers(0, 40)) * UNITS["days"]
        for i in range(count):
            self.files.append(File(rng, self, first, i))
            first = self.files[-1].end
        for file in self.files:
            self.make(work / file.name, file)

    def make(self, path, file):
        rng, step = self.rng, Fraction(self.step, UNITS[file.unit])
        fill = numpy.dtype(self.kind).type(FILL * 1000) if self.has_fill else None
        chunks = {"chunksizes": [int(rng.integers(1, 4))], "zlib": bool(rng.random() < 0.5)} if "NETCDF4" in self.format else {}
        with netCDF4.Dataset(path, "w", format=self.format) as out:
            out.set_auto_maskandscale(False)
            out.createDimension("time", None)
            out.createDimension("two", 2)
            calendar = {"calendar": self.calendar} if self.calendar else {}
            time = out.createVariable("time", self.kind, ("time",), fill_value=fill, **chunks)
            time.setncatts({"units": file.units, "standard_name": "time"} | calendar)
            times = numpy.array(file.values, self.kind)
            file.time = times.copy()
            if self.has_fill and len(times) > 1:
                file.time[1] = fill
            time[:] = file.time
            if self.bounds:
                time.setncattr(self.bounds, "limits")
                limits = out.createVariable("limits", self.kind, ("time", "two"))
                if self.bounds_have_units:
                    limits.setncatts({"units": file.units} | calendar)
                ends = [exact(self.kind, Fraction(float(v)) + step) for v in times]
                file.limits = numpy.array([[v, v if e is None else e] for v, e in zip(times, ends)], self.kind).reshape(-1, 2)
                limits[:] = file.limits
            if self.has_other:
                other = out.createVariable("issued", "f8", ("time",))
                other.setncatts({"units": file.units.replace(file.unit, "hours")} | calendar)
                file.issued = numpy.arange(len(times)) * 6.0
                other[:] = file.issued
            data = out.createVariable("t", "f4", ("time", "two"))
            data.units = "K"
            file.t = rng.random((len(times), 2)).astype("f4")
            data[:] = file.t

    def rebased(self, files, name):
        """The values of a variable in the units of the first file, or None if one of them is not exact."""
        first, out = files[0], []
        fill = FILL * 1000 if self.has_fill and name == "time" else None
        for file in files:
            unit, to = (("hours",) * 2) if name == "issued" else (file.unit, first.unit)
            values = getattr(file, name)
            for value in values.ravel():
                if value == fill:
                    out.append(value)
                    continue
                x = (Fraction(float(value)) if values.dtype.kind == "f" else Fraction(int(value))) * UNITS[unit]
                new = exact(values.dtype, (x + file.shift - first.shift) / UNITS[to])
                if new is None or new == fill:
                    return None
                out.append(new)
        shape = getattr(first, name).shape[1:]
        return numpy.array(out, getattr(first, name).dtype).reshape(-1, *shape)


def names_of(files):
    return ["time", *(["limits"] if files.bounds else []), *(["issued"] if files.has_other else [])]


def compare(test, what, path, files, order, expected):
    with netCDF4.Dataset(path) as found:
        for name, values in expected.items():
            one = found[name]
            one.set_auto_maskandscale(False)
            array = one[:]
            test.check(
                array.dtype.newbyteorder("=") == values.dtype and array.shape == values.shape
                and numpy.ascontiguousarray(array, values.dtype).tobytes() == values.tobytes(),
                f"{what}: {name}: found {array.dtype} {array.ravel()[:6]}, expected {values.dtype} {values.ravel()[:6]}")
        test.check(found["time"].units == order[0].units, f"{what}: units {found['time'].units}, expected {order[0].units}")
        test.check(getattr(found["time"], "calendar", None) == files.calendar, f"{what}: another calendar")


def compare_peers(test, what, path, files, order):
    """Returns how many peers were compared."""
    with_records = [file for file in order if len(file.time)]
    compared = 0
    # ncrcat rebases floating-point times with the units of the first file. It takes the calendars julian and
    # proleptic_gregorian for standard; the latter differs before 1582-10-15.
    is_known = files.calendar != "julian" and (
        files.calendar != "proleptic_gregorian" or all(file.day.year > 1582 for file in with_records))
    if shutil.which("ncrcat") and files.kind == "f8" and is_known and not files.has_fill and order[0].time.size:
        done = subprocess.run(["ncrcat", "-h", "-O", *[file.name for file in with_records], "theirs.nc"], cwd=test.work,
                              capture_output=True, text=True)
        if done.returncode == 0 and "ERROR" not in done.stderr:
            with netCDF4.Dataset(test.work / "theirs.nc") as theirs, netCDF4.Dataset(path) as ours:
                for name in ["time", "limits"] if files.bounds else ["time"]:
                    ours[name].set_auto_mask(False), theirs[name].set_auto_mask(False)
                    a, b = ours[name][:], theirs[name][:]
                    test.check(a.shape == b.shape and numpy.allclose(a, b, rtol=0, atol=1e-5),
                               f"{what}: ncrcat has {name} {b.ravel()[:6]}, found {a.ravel()[:6]}")
            compared += 1
    if xarray and not files.has_fill and not files.has_other:
        coder = {"use_cftime": True}
        each = [xarray.open_dataset(test.work / file.name, **coder) for file in with_records]
        theirs = xarray.concat([one[["t", "time"]] for one in each], "time")
        with xarray.open_dataset(path, **coder) as ours:
            test.check(ours.time.values.tolist() == theirs.time.values.tolist(),
                       f"{what}: xarray has {theirs.time.values[:4]}, found {ours.time.values[:4]}")
            test.check((ours.t.values == theirs.t.values).all(), f"{what}: xarray has another t")
        for one in each:
            one.close()
        compared += 1
    return compared


def check_joins(test, number):
    files = Set(number, test.work)
    order = list(files.files)
    given, call = [file.name for file in order], ["--mode", "join", "--time-units", "rebase"]
    if number % 3 == 0 and not files.has_fill:
        files.rng.shuffle(given)
        call += ["--sort", "values:time"]
        # The files without records come last.
        order = [file for file in order if len(file.time)] + [file for file in order if not len(file.time)]
    expected = {name: files.rebased(order, name) for name in names_of(files)}
    what = f"set {number} ({files.calendar}, {files.kind}, {[file.units for file in order]})"
    inexact = [name for name, values in expected.items() if values is None]
    if len({file.units for file in order}) > 1:
        test.run("nmcat", "--mode", "join", *given, "-o", "refused.nmb", exit_code=1, says="--time-units=rebase")
    if inexact:
        test.run("nmcat", *call, *given, "-o", "refused.nmb", exit_code=1, says=f"values {inexact[0]}: found ")
        test.check(not (test.work / "refused.nmb").exists(), f"{what}: refused.nmb was written")
        return 0
    expected["t"] = numpy.concatenate([file.t for file in order])
    for output in ("out.nmb", "out.nc4", "out.nc"):
        test.run("nmcat", *call, *given, "-o", output, *(["--to", "cdf5"] if output == "out.nc" else []))
        if not (test.work / output).exists():
            return 0
        seen = as_netcdf(test, output)
        compare(test, f"{what}, {output}", seen, files, order, expected)
    return compare_peers(test, what, test.work / "out.nc4", files, order)


def check_unions(test, number):
    """Files with the unlimited dimension first, second or last."""
    rng = numpy.random.default_rng(number)
    lengths = {"time": int(rng.integers(1, 6)), "x": 3, "y": 2}
    shapes = [("time",), ("time", "x"), ("x", "time"), ("y", "x", "time"), ("y", "time", "x"), ("time", "y")]
    variables = [(f"v{i}", shapes[i], rng.integers(0, 99, [lengths[d] for d in shapes[i]]).astype("f4")) for i in range(len(shapes))]
    names, taken = [], set()
    for i in range(int(rng.integers(2, 4))):
        names.append(f"u{i}.nc")
        chosen = [v for v in variables if rng.random() < 0.5] or variables[:1]
        form = "NETCDF4" if any(v[1][0] != "time" and "time" in v[1] for v in chosen) or rng.random() < 0.5 else "NETCDF3_CLASSIC"
        with netCDF4.Dataset(test.work / names[-1], "w", format=form) as out:
            for d, length in lengths.items():
                out.createDimension(d, None if d == "time" else length)
            for name, shape, values in chosen:
                out.createVariable(name, "f4", shape)[:] = values
                taken.add(name)
    for output in ("union.nmb", "union.nc4"):
        test.run("nmcat", "--mode", "union", *names, "-o", output)
        if not (test.work / output).exists():
            return
        seen = as_netcdf(test, output)
        with netCDF4.Dataset(seen) as found:
            test.check(set(found.variables) == taken, f"union {number}: variables {list(found.variables)}")
            test.check(found.dimensions["time"].isunlimited(), f"union {number}: time does not grow")
            for name, shape, values in variables:
                if name in taken:
                    array = found[name][:]
                    test.check(found[name].dimensions == shape and array.shape == values.shape and (array == values).all(),
                               f"union {number}, {output}: {name}: found {array.ravel()[:6]}, expected {values.ravel()[:6]}")
        if xarray:
            theirs = xarray.merge([xarray.open_dataset(test.work / name).load() for name in names])
            with xarray.open_dataset(seen) as ours:
                test.check(theirs.equals(ours.load()), f"union {number}, {output}: xarray.merge differs")


def write(test, name, units, times, kind="f8", fill=None, calendar="noleap", **attributes):
    with netCDF4.Dataset(test.work / name, "w") as out:
        out.createDimension("time", None)
        time = out.createVariable("time", kind, ("time",), fill_value=fill)
        time.set_auto_maskandscale(False)
        time.setncatts({"units": units, "calendar": calendar} | attributes)
        time[:] = numpy.array(times, kind)


def read(path):
    with netCDF4.Dataset(path) as file:
        file["time"].set_auto_maskandscale(False)
        return file["time"].units, file["time"][:].tolist()


def check_details(test):
    join, one = ["--mode", "join", "--time-units=rebase"], ["one.nc", "two.nc", "-o", "details.nc4", "-f"]
    january, march = "days since 2001-01-01", "days since 2001-03-01"
    write(test, "one.nc", january, [0, 1])
    write(test, "two.nc", march, [0, 1])
    told = json.loads(test.run("nmcat", *join, *one, "--json", says="from the day of the first file in 1 variable: time"))
    test.check([(c["object"], c["found"], c["expected"]) for c in told["rebased"]] == [("time", f'"{march}"', f'"{january}"')],
               f"reported {told['rebased']}")
    test.check(read(test.work / "details.nc4") == (january, [0, 1, 59, 60]), f"two months: {read(test.work / 'details.nc4')}")
    test.run("nmcat", "--mode", "union", "--time-units=rebase", *one, exit_code=2, says="--time-units needs --mode join")
    test.run("nmcat", "--mode", "join", *one, exit_code=1, says="use --time-units=rebase")
    test.run("nmverify", "--set", *join, "one.nc", "two.nc")
    # A file without records, and files that are sorted by date.
    write(test, "none.nc", "days since 1999-01-01", [])
    test.run("nmcat", *join, "--sort", "values:time", "none.nc", "two.nc", "one.nc", "-o", "details.nc4", "-f")
    test.check(read(test.work / "details.nc4") == (january, [0, 1, 59, 60]), f"sorted: {read(test.work / 'details.nc4')}")
    test.run("nmcat", *join, "none.nc", "one.nc", "-o", "details.nc4", "-f")
    test.check(read(test.work / "details.nc4") == ("days since 1999-01-01", [730, 731]), f"empty first: {read(test.work / 'details.nc4')}")
    # Missing times stay missing, and no other time becomes missing.
    for fill in (None, -1e9):
        missing = netCDF4.default_fillvals["f8"] if fill is None else fill
        write(test, "one.nc", january, [0], fill=fill)
        write(test, "two.nc", march, [missing, 2], fill=fill)
        test.run("nmcat", *join, *one)
        test.check(read(test.work / "details.nc4")[1] == [0, missing, 61], f"missing times: {read(test.work / 'details.nc4')}")
    write(test, "one.nc", january, [0], missing_value=-5.0)
    write(test, "two.nc", march, [-5, 2], missing_value=-5.0)
    test.run("nmcat", *join, *one)
    test.check(read(test.work / "details.nc4")[1] == [0, -5, 61], f"missing_value: {read(test.work / 'details.nc4')}")
    write(test, "one.nc", january, [0], fill=61)
    write(test, "two.nc", march, [2], fill=61)
    test.run("nmcat", *join, *one, exit_code=1, says="values time: found 2. at [0]")
    # Inexact results and unclear units are refused.
    write(test, "one.nc", january, [0])
    for units, times, other, says in (
        (march, [0, 1 / 24], {}, "values time: found 0.041666666666666664 at [1] in"),
        ("months since 2001-03-01", [0], {}, "not rebased: time units"),
        (march + " +5:30", [0], {}, "could be a time zone or a clock"),
        (march, [0], {"calendar": "standard"}, "not rebased: the calendars differ"),
        (march, [0], {"scale_factor": 2.0}, "not rebased: the variable has an attribute scale_factor"),
        (march, [0], {"valid_max": 2.0}, "not rebased: the variable has an attribute valid_max"),
    ):
        write(test, "two.nc", units, times, **other)
        test.run("nmcat", *join, *one, exit_code=1, says=says)
    write(test, "two.nc", march, [0], calendar="365_day")
    test.run("nmcat", *join, *one)
    test.check(read(test.work / "details.nc4")[1] == [0, 59], "365_day is not noleap")


def check_set(test, number):
    if number == 0:
        check_details(test)
    compared = check_joins(test, number)
    if number % 4 == 0:
        check_unions(test, number)
    return compared


if __name__ == "__main__":
    sys.exit(main(__doc__, check_set, few=24, many=400, least=0.25))
