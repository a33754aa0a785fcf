#!/usr/bin/python3
"""nmconvert --one-file-per-variable: values, attributes and coordinates of time series, compared by netCDF4-python with
the history files; names, compared with cftime; and refusals, which leave nothing behind."""

import json
import shutil
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402
import cftime  # noqa: E402

FILES, STEPS = 5, 3
DATA = ("tas", "pr", "ps", "ta", "date")
NAME = "{variable}_{first}-{last}.nc"


def make_history(path, number, kind, units="days since 2000-01-01", calendar="noleap", step=1.0, packed=True):
    rng = numpy.random.default_rng(number)
    first = number * STEPS
    with netCDF4.Dataset(path, "w", format=kind) as f:
        f.title, f.history, f.tracking_id = "history", "made by a model", f"hdl:{number}"
        f.createDimension("time", None)
        for name, length in (("lat", 6), ("lon", 8), ("lev", 2), ("bnds", 2)):
            f.createDimension(name, length)
        time = f.createVariable("time", "f8", ("time",))
        time.units, time.calendar, time.bounds = units, calendar, "time_bnds"
        f.createVariable("time_bnds", "f8", ("time", "bnds"))
        for name in ("lat", "lon"):
            one = f.createVariable(name, "f8", (name,))
            one[:], one.bounds = numpy.arange(f.dimensions[name].size), name + "_bnds"
            f.createVariable(name + "_bnds", "f4", (name, "bnds"))[:] = 1
        lev = f.createVariable("lev", "f8", ("lev",))
        lev[:], lev.formula_terms = [1, 2], "a: hya p0: P0 ps: ps"
        f.createVariable("hya", "f8", ("lev",))[:] = 3
        f.createVariable("P0", "f8", ())[...] = 1e5
        f.createVariable("cell", "f4", ("lat", "lon"))[:] = 4
        f.createVariable("crs", "i4", ())[...] = 1
        f.createVariable("orog", "f4", ("lat", "lon"))[:] = 5
        f.createVariable("flag", "i1", ("time", "lat"))[:] = numpy.full((STEPS, 6), number)
        chunks = {"chunksizes": (1, 6, 8), "zlib": True, "shuffle": True, "complevel": 3} if kind == "NETCDF4" and packed else {}
        for name in DATA[:3]:
            one = f.createVariable(name, "f4", ("time", "lat", "lon"), fill_value=-9, **chunks)
            one.units, one.cell_measures, one.grid_mapping = "1", "area: cell", "crs"
            one.ancillary_variables = "flag" if name == "pr" else ""
            one[:] = rng.random((STEPS, 6, 8))
        f.createVariable("ta", "f8", ("time", "lev", "lat", "lon"))[:] = rng.random((STEPS, 2, 6, 8))
        f.createVariable("date", "i4", ("time",))[:] = numpy.arange(STEPS) + first
        time[:] = (first + numpy.arange(STEPS)) * step
        f["time_bnds"][:] = time[:][:, None] + [0, step]


WITH = {
    "tas": {"tas", "time", "time_bnds", "lat", "lon", "lat_bnds", "lon_bnds", "cell", "crs"},
    "pr": {"pr", "flag", "time", "time_bnds", "lat", "lon", "lat_bnds", "lon_bnds", "cell", "crs"},
    "ta": {"ta", "lev", "hya", "P0", "ps", "time", "time_bnds", "lat", "lon", "lat_bnds", "lon_bnds", "cell", "crs"},
    "date": {"date", "time", "time_bnds"},
    "orog": {"orog", "lat", "lon", "lat_bnds", "lon_bnds"},
}


def raw(path):
    file = netCDF4.Dataset(path)
    file.set_auto_maskandscale(False)
    return file


def check_files(test, files, folder, names, kind):
    inputs = [raw(test.work / name) for name in files]
    for variable, name in names.items():
        with raw(test.work / folder / name) as out:
            test.check(out.data_model == kind.split()[-1], f"{name}: {out.data_model}, expected {kind}")
            if variable in WITH:
                test.check(set(out.variables) == WITH[variable], f"{name}: has {sorted(out.variables)}")
            test.check(out.title == "history", f"{name}: other global attributes")
            for one in out.variables.values():
                first = inputs[0][one.name]
                parts = [i[one.name][...] for i in inputs]
                expected = numpy.concatenate(parts) if "time" in first.dimensions else parts[0]
                test.check(numpy.array_equal(one[...], expected), f"{name}: values of {one.name} differ")
                test.check((one.dtype == first.dtype or " " in kind) and one.dimensions == first.dimensions, f"{name}: {one.name} differs")
                test.check(repr(one.__dict__) == repr(first.__dict__), f"{name}: attributes of {one.name} differ")
                if kind == "NETCDF4" and one.name in DATA[:3]:
                    test.check(raw_chunks([test.work / folder / name], one.name) == raw_chunks([test.work / f for f in files], one.name),
                               f"{name}: chunks of {one.name} were coded again")
                    test.check(one.chunking() == first.chunking(), f"{name}: chunks of {one.name}: {one.chunking()}")
                    test.check(one.filters() == first.filters(), f"{name}: filters of {one.name}: {one.filters()}")
            test.check(out.dimensions["time"].isunlimited() if "time" in out.dimensions else True, f"{name}: time is fixed")
    for one in inputs:
        one.close()


def check_proof(test, files, outputs):
    """nmverify --against finds each output equal to the inputs, and a wrong value in it."""
    for name in outputs:
        test.run("nmverify", name, "--against", *files)
    tas = next(name for name in outputs if "/tas" in name)
    test.run("nmverify", tas, "--against", *files[:-1], exit_code=1)
    shutil.copy(test.work / tas, test.work / "bad.nc")
    with netCDF4.Dataset(test.work / "bad.nc", "a") as out:
        out.set_auto_maskandscale(False)
        out["tas"][0] = out["tas"][0] + 1
    said = test.run("nmverify", "bad.nc", "--against", *files, exit_code=1)
    test.check("/tas[0" in said, f"a wrong value: {said}")


# The stored chunks of a variable, file by file.
def raw_chunks(paths, name):
    chunks = []
    for path in paths:
        with h5py.File(path) as file:
            data_set = file[name].id
            chunks += [data_set.read_direct_chunk(data_set.get_chunk_info(i).chunk_offset) for i in range(data_set.get_num_chunks())]
    return chunks


def series(test, *options, **expected):
    return test.run(
        "nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", "series", *options, **expected)


def make_set(test, kind, **how):
    files = [f"h{i}.nc" for i in range(FILES)]
    for i, name in enumerate(files):
        make_history(test.work / name, i, kind, **how)
    (test.work / "list").write_text("\n".join(files) + "\n")
    return files


def check(test):
    for kind in ("NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"):
        files = make_set(test, kind)
        said = series(test, "-f", "--jsonl", "--name", NAME)
        lines = [json.loads(line) for line in said.splitlines()]
        names = {line["variable"]: line["output"].removeprefix("series/") for line in lines}
        times = "20000101-20000115.nc"
        wanted = {name: f"{name}_{times}" for name in (*DATA, "flag")} | {"orog": "orog_fx-fx.nc"}
        test.check(names == wanted, f"{kind}: {names}")
        check_files(test, files, "series", names, kind)
        check_proof(test, files, [f"series/{name}" for name in names.values()])
        test.check(
            sorted(p.name for p in (test.work / "series").iterdir()) == sorted(names.values()), f"{kind}: other files")
        line = "nmconvert 1.0.0 --one-file-per-variable: 5 files: h0.nc to h4.nc\nmade by a model"
        with raw(test.work / f"series/tas_{times}") as out:
            test.check(out.history == line, f"{kind}: history {out.history!r}")
            test.check("tracking_id" not in out.ncattrs(), f"{kind}: has a tracking_id")
    series(test, exit_code=2, says="-f")
    check_refusals(test, files)
    check_single(test, files)
    check_other_storage(test, files)
    check_calendars(test)
    check_coded_times(test)
    check_rebased(test)


def check_refusals(test, files):
    before = {p.name: p.read_bytes() for p in (test.work / "series").iterdir()}

    def unchanged(what):
        now = {p.name: p.read_bytes() for p in (test.work / "series").iterdir()}
        test.check(now == before, f"{what}: the outputs changed: {sorted(now.keys() ^ before.keys())}")

    (test.work / "list").write_text("\n".join([files[1], files[0]]) + "\n")
    series(test, "-f", exit_code=1, says="h0.nc")
    unchanged("time that decreases")
    # A folder that the run has made goes with it, and each message is there once.
    test.run("nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", "new/below", exit_code=1)
    test.check(not (test.work / "new").exists(), "a failed run left its folder")
    with netCDF4.Dataset(test.work / "back.nc", "w") as f:
        f.createDimension("time", None)
        f.createVariable("time", "f8", ("time",))[:] = [3, 2]
        f["time"].units = "days since 2000-01-01"
        f.createVariable("v", "i4", ("time",))[:] = [1, 2]
    (test.work / "list").write_text("back.nc\n")
    series(test, "-f", exit_code=1, says="back.nc")
    unchanged("time that decreases in one file")
    (test.work / "list").write_text("\n".join([files[0], files[1], "bad.nc"]) + "\n")
    (test.work / "bad.nc").write_bytes((test.work / files[2]).read_bytes()[:-5000])
    series(test, "-f", exit_code=1, says="bad.nc")
    test.check(test.said.count("bad.nc") == 1, f"a message is printed twice: {test.said}")
    unchanged("a cut file")
    (test.work / "list").write_text("\n".join(files) + "\n")
    series(test, "-f", "--name", "x.nc", exit_code=2, says="{variable}")
    series(test, "-f", "--name", "{variable}_{last.nc", exit_code=2, says="braces")
    series(test, "-f", "--name", "a/{variable}", exit_code=2, says="without /")
    series(test, "-f", "--to", "nmb", exit_code=2, says="netCDF files")
    for ending in ("nmb", "h5"):
        series(test, "-f", "--name", "{variable}." + ending, exit_code=2, says="netCDF files")
    series(test, "-f", "--name", "{variable}.cdf", exit_code=2, says="--to")
    test.run("nmconvert", files[0], "x.nmb", "--keep-tracking-id", exit_code=2, says="needs --one-file-per-variable")
    with netCDF4.Dataset(test.work / "bare.nc", "w") as f:
        f.createDimension("time", None)
        f.createVariable("time", "f8", ("time",))[:] = [1]
        f["time"].units = "days since 2000-01-01"
    (test.work / "list").write_text("bare.nc\n")
    series(test, "-f", exit_code=1, says="no variables except coordinates")
    unchanged("no variables")
    with netCDF4.Dataset(test.work / "bare.nc", "a") as f:
        f.createGroup("g").createVariable("v", "i4", ("time",))[:] = [1]
    series(test, "-f", exit_code=1, says="groups")
    (test.work / "list").write_text("\n".join(files) + "\n")
    test.run("nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", ".", "-f", "--name",
             "{variable}_{first}.nc")
    for name in ("tas_20000101.nc",):
        (test.work / name).unlink()
    (test.work / "tas").write_bytes((test.work / files[0]).read_bytes())
    (test.work / "list").write_text("tas\n" + "\n".join(files[1:]) + "\n")
    test.run("nmconvert", "--files-from", "list", "--one-file-per-variable", "--out-dir", ".", "-f", "--name", "{variable}",
             exit_code=2, says="tas")
    unchanged("refused calls")


def check_rebased(test):
    """Times that count from another day in each file."""
    files = make_set(test, "NETCDF3_64BIT_OFFSET")
    for i, name in enumerate(files):
        with netCDF4.Dataset(test.work / name, "a") as f:
            f["time"].units = f"days since 2000-01-{1 + i:02}"
            f["time"][:], f["time_bnds"][:] = f["time"][:] - i, f["time_bnds"][:] - i
    series(test, "-f", exit_code=1, says="--time-units=rebase")
    series(test, "-f", "--name", "{variable}.nc", "--time-units", "rebase")
    with raw(test.work / "series/tas.nc") as out:
        steps = numpy.arange(FILES * STEPS)
        test.check(out["time"].units == "days since 2000-01-01" and numpy.array_equal(out["time"][:], steps), f"rebased: {out['time'][:]}")
        test.check(numpy.array_equal(out["time_bnds"][:], steps[:, None] + [0, 1]), f"rebased: {out['time_bnds'][:]}")
    check_proof(test, files, ["series/tas.nc", "series/date.nc", "series/orog.nc"])


def check_single(test, files):
    """A list of one file follows the same rules."""
    (test.work / "list").write_text(files[0] + "\n")
    for options in ((), ("--no-history", "--keep-tracking-id"), ("--to", "cdf5")):
        series(test, "-f", "--name", "{variable}.nc", *options)
        with raw(test.work / "series/tas.nc") as out, raw(test.work / files[0]) as first:
            test.check(numpy.array_equal(out["tas"][...], first["tas"][...]), f"one file, {options}: values differ")
            kept = "--keep-tracking-id" in options
            test.check(("tracking_id" in out.ncattrs()) == kept, f"one file, {options}: tracking_id")
            test.check((out.history == first.history) == kept, f"one file, {options}: history {out.history!r}")
    (test.work / "list").write_text("\n".join(files) + "\n")


def check_other_storage(test, files):
    """--compress and --chunk, and the kind by the ending."""
    series(test, "-f", "--name", "{variable}.nc4", "--compress", "deflate:7", "--shuffle", "--chunk", "time:2")
    with raw(test.work / "series/tas.nc4") as out:
        filters = out["tas"].filters()
        test.check(filters["complevel"] == 7 and filters["shuffle"] and out["tas"].chunking() == [2, 6, 8], f"filters: {filters}")
    check_files(test, files, "series", {"date": "date.nc4"}, "NETCDF4")
    series(test, "-f", "--name", "{variable}.nc3")
    check_files(test, files, "series", {"ta": "ta.nc3"}, "NETCDF3_64BIT_OFFSET")
    series(test, "-f", "--name", "{variable}.nc3", "--compress", "deflate", exit_code=2, says="--to nc4")
    make_set(test, "NETCDF3_64BIT_OFFSET")
    for name, options in (("plain", ()), ("packed", ("--compress", "deflate:3"))):
        series(test, "-f", "--name", "{variable}_" + name + ".nc", "--to", "nc4", *options)
        check_files(test, files, "series", {"ta": f"ta_{name}.nc", "pr": f"pr_{name}.nc"}, "classic to NETCDF4")


# Units and calendars, with the length of a step.
TIMES = (
    ("days since 1582-10-01", "standard", 1.0),
    ("days since 1582-10-01", "gregorian", 1.25),
    ("days since 1899-12-31", "proleptic_gregorian", 31.0),
    ("hours since 2000-02-28 12:00:00", "365_day", 6.0),
    ("hours since 1900-02-28T00:00:00Z", "julian", 24.0),
    ("seconds since 1999-12-31 23:00:00 +01:00", "all_leap", 7200.0),
    ("minutes since 0001-01-01", "360_day", 20.0),
    ("days since 0000-01-01", "noleap", 400.0),
    ("milliseconds since 1970-1-1", "standard", 500.0 * 3600),
    ("days since 1850-01-01 00:00", "366_day", 0.5),
)


def check_calendars(test):
    for units, calendar, step in TIMES:
        for old in (test.work / "series").iterdir():
            old.unlink()
        make_set(test, "NETCDF3_64BIT_OFFSET", units=units, calendar=calendar, step=step)
        said = series(test, "--jsonl", "--no-check")
        lines = {line["variable"]: line for line in map(json.loads, said.splitlines())}
        line = lines.get("tas", {"first": None, "last": None})
        times = [cftime.num2date(i * step, units, calendar) for i in range(FILES * STEPS)]
        for form in ("%Y%m%d", "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S"):
            texts = [f"{t.year:04d}" + t.strftime(form.removeprefix("%Y")) for t in times]
            if len(set(texts)) == len(texts):
                break
        found = (line["first"], line["last"])
        test.check(found == (texts[0], texts[-1]), f"{units}, {calendar}: {found}, cftime: {texts[0]}, {texts[-1]}")
    for units, calendar in (("months since 2000-01-01", "standard"), ("days since 2000-02-30", "standard"), ("days", "none"),
                            ("days since 1582-10-10", "standard"), ("days since 1582-10-05", "gregorian")):
        make_set(test, "NETCDF3_64BIT_OFFSET", units=units, calendar=calendar)
        series(test, "-f", exit_code=2, says="h0.nc")


def make_coded_time(test, kind, files, dtype="i2", **attributes):
    """Files whose time is coded by attributes, with the raw values of each file."""
    for name, values in files.items():
        with netCDF4.Dataset(test.work / name, "w", format=kind) as f:
            f.createDimension("time", None)
            time = f.createVariable("time", dtype, ("time",), fill_value=attributes.get("_FillValue"))
            time.setncatts({"units": "days since 2000-01-01"} | {k: v for k, v in attributes.items() if k != "_FillValue"})
            time.set_auto_maskandscale(False)
            x = f.createVariable("x", "f4", ("time",))
            time[:] = values
            x[:] = numpy.arange(len(values))
    (test.work / "list").write_text("\n".join(files) + "\n")


def check_coded_times(test):
    """{first} and {last} with scale_factor and add_offset, compared with netCDF4-python and cftime; times without a date are refused."""
    files = {"a.nc": [0, 1, 2], "b.nc": [3, 4]}
    for kind in ("NETCDF3_64BIT_OFFSET", "NETCDF4"):
        for coding in ({"scale_factor": 0.5, "add_offset": 100.0}, {"scale_factor": 0.5}, {"add_offset": numpy.int32(-7)},
                       {"scale_factor": -2.0, "_FillValue": numpy.int16(-1), "missing_value": numpy.int16(9)}):
            ascend = coding.get("scale_factor", 1) > 0
            make_coded_time(test, kind, files if ascend else {"a.nc": [4, 3, 2], "b.nc": [1, 0]}, **coding)
            said = series(test, "-f", "--jsonl", "--name", "{variable}.nc")
            line = json.loads(said.splitlines()[0])
            times = []
            for name in files:
                with netCDF4.Dataset(test.work / name) as f:
                    times += list(cftime.num2date(f["time"][:], f["time"].units))
            texts = [t.strftime("%Y%m%d") for t in times]
            if len(set(texts)) < len(texts):
                texts = [t.strftime("%Y%m%d%H") for t in times]
            test.check((line["first"], line["last"]) == (texts[0], texts[-1]), f"{kind}, {coding}: {line}, netCDF4-python: {texts}")
    bad = (
        ({"_FillValue": numpy.int16(4)}, "missing at index 4"),
        ({"missing_value": numpy.array([7, 0], "i2")}, "missing at index 0"),
        ({"scale_factor": "0.5"}, "scale_factor"),
        ({"scale_factor": numpy.array([1.0, 2.0])}, "several values"),
        ({"_Unsigned": "true"}, "_Unsigned"),
    )
    for coding, says in bad:
        make_coded_time(test, "NETCDF3_64BIT_OFFSET", files, **coding)
        series(test, "-f", exit_code=2, says=says)
    make_coded_time(test, "NETCDF3_64BIT_OFFSET", {"a.nc": [-32767]})
    series(test, "-f", exit_code=2, says="missing at index 0")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
