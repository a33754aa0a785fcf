#!/usr/bin/python3
"""nmverify --against: silent for the files from which nmcat made a file; each change of a source is reported.
The sources are made and changed by netCDF4-python and h5py.

    nmverify_against.py --tools FOLDER
"""

import json
import shutil
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import launchers  # noqa: E402
from nmverify_ranks import nmverify  # noqa: E402
from tool_runs import Skip, main, netcdf4  # noqa: E402


def h5py():
    try:
        import h5py as module
    except ImportError:
        raise Skip("no Python module h5py") from None
    return module


def make_sources(work):
    import numpy

    for name, kind in (("a.nc", "NETCDF3_64BIT_DATA"), ("b.nc", "NETCDF4")):
        with netcdf4().Dataset(work / name, "w", format=kind) as file:
            file.title = name
            file.createDimension("time", None)
            file.createDimension("x", 5)
            t = file.createVariable("time", "f8", ("time",))
            t.units = "days since 2000-01-01"
            t[:] = numpy.arange(4)
            file.createVariable("v", "f4", ("time", "x"), fill_value=-1)[:] = numpy.arange(20).reshape(4, 5)
            if kind == "NETCDF4":
                group = file.createGroup("deep").createGroup("er")
                group.createVariable("w", "i2", ("x",), zlib=True)[:] = range(5)
                group.note = "a group"
                group.createVariable("s", str, ("x",))[:] = numpy.array(list("abcde"), dtype=object)
    with h5py().File(work / "c.h5", "w") as file:
        file["g/data"] = numpy.arange(100, dtype="<i4")
        file["g/data"].attrs["unit"] = "m"
        file["packed"] = numpy.zeros(3)
        file.create_dataset("chunked", data=numpy.arange(1000.0), chunks=(100,), compression="gzip", shuffle=True)
        file["link"] = h5py().SoftLink("/g/data")
        file["other"] = file["packed"]
        file.create_dataset("refs", data=[file["g"].ref, file["packed"].ref], dtype=h5py().ref_dtype)
        file.create_dataset("region", data=[file["g/data"].regionref[3:7]], dtype=h5py().regionref_dtype)
        file["text"] = ["a", "bc", ""]


def of_netcdf(change):
    def run(path):
        with netcdf4().Dataset(path, "a") as file:
            file.set_auto_mask(False)
            change(file)

    return run


def of_hdf5(change):
    def run(path):
        with h5py().File(path, "a") as file:
            change(file)

    return run


def set_value(path, value):
    def change(file):
        file[path][...] = value

    return change


def drop_and_make(name, make):
    def change(file):
        del file[name]
        file[name] = make(file)

    return change


# The changed source, the change, and a text that the report must have.
CHANGES = [
    ("a.nc", of_netcdf(lambda f: f["v"].__setitem__((2, 3), 99)), "/a/v[2,3]: 99 -> 13"),
    ("a.nc", of_netcdf(lambda f: f["time"].setncattr("units", "days since 2001-01-01")),
     '/a: attribute "time:units": value: "days since 2001-01-01" -> "days since 2000-01-01"'),
    ("a.nc", of_netcdf(lambda f: f.renameDimension("x", "y")), 'only in a.nc: /a: dimension "y"'),
    ("a.nc", of_netcdf(lambda f: f["v"].__setitem__((4, 0), 1)), '/a: dimension "time": length: 5 -> 4'),
    ("a.nc", of_netcdf(lambda f: f.setncattr("new", 1)), 'only in a.nc: /a: attribute ":new"'),
    ("b.nc", of_netcdf(lambda f: f["deep/er/w"].__setitem__(0, 7)), "/b/deep/er/w[0]: 7 -> 0"),
    ("b.nc", of_netcdf(lambda f: f["deep/er/s"].__setitem__(1, "B")), "1 value of 5 differs"),
    ("b.nc", of_netcdf(lambda f: f["deep/er"].delncattr("note")), 'only in all.nmb: /b/deep/er: attribute ":note"'),
    ("b.nc", of_hdf5(lambda f: f.move("deep/er/w", "deep/er/z")), 'only in b.nc: /b/deep/er: variable "z"'),
    ("b.nc", of_netcdf(lambda f: f.renameDimension("x", "y")), 'only in b.nc: /b: dimension "y"'),
    ("c.h5", of_hdf5(lambda f: f["g/data"].__setitem__(50, -1)), "/c/g/data[50]: -1 -> 50"),
    ("c.h5", of_hdf5(lambda f: f["chunked"].__setitem__(999, 0)), "/c/chunked[999]: 0 -> 999"),
    ("c.h5", of_hdf5(lambda f: f["refs"].__setitem__(0, f["g/data"].ref)), "/c/refs: 1 value of 2 differs"),
    ("c.h5", of_hdf5(lambda f: f["region"].__setitem__(0, f["g/data"].regionref[3:8])), "/c/region: 1 value of 1 differs"),
    ("c.h5", of_hdf5(drop_and_make("link", lambda f: h5py().SoftLink("/g"))),
     '/c: link "link": target: "/c/g" -> "/c/g/data"'),
    ("c.h5", of_hdf5(drop_and_make("packed", lambda f: f["g/data"][:3].astype("f8"))), 'only in c.h5: /c: variable "packed"'),
    ("c.h5", of_hdf5(lambda f: f.create_group("more").attrs.__setitem__("a", 1)), "only in c.h5: block /c/more"),
    ("c.h5", of_hdf5(lambda f: f.move("text", "texts")), 'only in c.h5: /c: variable "texts"'),
]

SOURCES = ["a.nc", "b.nc", "c.h5"]


def silent(tools, file, sources, *options):
    done = tools.run("nmverify", "-q", file, *options, "--against", *sources)
    tools.check(done.stdout + done.stderr == b"", f"{file} {options}: found {done.stdout + done.stderr}, expected nothing")


def check_ways(tools):
    """The same sources, packed in many ways."""
    work = tools.work
    (work / "in").mkdir()
    for i, name in enumerate(SOURCES):
        shutil.copy(work / name, work / "in" / name)
    within = [f"in/{name}" for name in SOURCES]
    for options in ([], ["--compress", "zstd"], ["--no-originals"], ["--link"], ["--hdf5-view", "on"], ["--stats", "basic"],
                    ["--block-name", "{path}/{group}"], ["--block-name", "x{index}/y/{group}"],
                    ["--block-name", "{group}", "--no-originals"]):
        sources = within[:1] if options[:2] == ["--block-name", "{group}"] else within
        tools.run("nmcat", *sources, "-f", "-o", "way.nmb", *options)
        silent(tools, "way.nmb", sources)
    # The file does not say how its blocks were named.
    tools.run("nmcat", *within, "-f", "-o", "way.nmb", "--no-provenance", "--block-name", "x/{stem}/{group}")
    silent(tools, "way.nmb", within, "--block-name", "x/{stem}/{group}")
    tools.run("nmverify", "way.nmb", "--against", *within, exit_code=1)
    tools.run("nmcat", *within, "-o", "way.h5", "--lossy")
    silent(tools, "way.h5", within)
    tools.run("nmconvert", "in/b.nc", "way2.nmb")
    silent(tools, "way2.nmb", ["in/b.nc"], "--block-name", "{group}")
    # An NMB file as a source, and two runs with different names.
    tools.run("nmcat", "way2.nmb", "in/a.nc", "-o", "way3.nmb", "--block-name", "one/{stem}/{group}")
    tools.run("nmcat", "in/c.h5", "-o", "way3.nmb", "--append", "--block-name", "{index}/{group}")
    silent(tools, "way3.nmb", ["way2.nmb", "in/c.h5", "in/a.nc"])
    (work / "list").write_text("\n".join(within[1:]) + "\n")
    silent(tools, "all.nmb", within[:1], "--against-from", "list")
    done = tools.run("nmverify", "all.nmb", "--json", "--rate", "1G", "--against", *within)
    report = json.loads(done.stdout)
    tools.check(report["same"] and [s["blocks"] for s in report["sources"]] == [1, 3, 2], f"found {report}")


def test(tools):
    work = tools.work
    make_sources(work)
    tools.run("nmcat", *SOURCES, "-o", "all.nmb")
    silent(tools, "all.nmb", SOURCES)
    for name, change, expected in CHANGES:
        shutil.copy(work / name, work / "kept")
        change(work / name)
        done = tools.run("nmverify", "all.nmb", "--against", *SOURCES, exit_code=1)
        found = done.stdout.decode()
        tools.check(f"{name}: " in found and expected in found, f"{name}: found {found}, expected {expected}")
        others = [line for line in found.splitlines()[:-1] if not line.startswith(f"{name}: ")]
        tools.check(not others, f"{name}: found {others}")
        report = json.loads(tools.run("nmverify", "--json", "all.nmb", "--against", *SOURCES, exit_code=1).stdout)
        same = [source["same"] for source in report["sources"]]
        tools.check(same == [source != name for source in SOURCES] and not report["same"], f"{name}: found {same}")
        shutil.move(work / "kept", work / name)
    done = tools.run("nmverify", "all.nmb", "--against", "a.nc", "c.h5", exit_code=1)
    lines = done.stdout.decode().splitlines()
    tools.check(lines[:-1] == [f"all.nmb: no source: block /{b}" for b in ("b", "b/deep/er")], f"found {lines}")
    shutil.copy(work / "a.nc", work / "d.nc")
    done = tools.run("nmverify", "all.nmb", "--against", *SOURCES, "d.nc", exit_code=1)
    tools.check(b"d.nc: only in d.nc: block /d\n" in done.stdout, f"found {done.stdout}")
    tools.run("nmverify", "all.nmb", "--against", *SOURCES, "missing.nc", exit_code=2)
    check_ways(tools)
    tools.run("nmcat", "a.nc", "-f", "-o", "other.nmb", "--mode", "join")
    silent(tools, "other.nmb", ["a.nc"])
    for options, what in ((["--split-names", "^(t)", "--unmatched", "keep", "--block-name", "{stem}/{group}"], "--split-names"),
                          (["--exclude", "zz"], "--exclude")):
        tools.run("nmcat", "a.nc", "-f", "-o", "other.nmb", *options)
        done = tools.run("nmverify", "other.nmb", "--against", "a.nc", exit_code=2)
        tools.check(what.encode() in done.stderr, f"{options}: found {done.stderr}")
    # The report is the same for any number of processes.
    many = SOURCES + ["d.nc", "missing.nc", "a.nc"]
    for arguments in (["all.nmb", "--against", *many], ["--json", "all.nmb", "--against", *many], ["missing.nmb", "--against", "a.nc"]):
        one = nmverify(tools, [], *arguments)
        for launcher in launchers(tools)[1:]:
            found = nmverify(tools, launcher, *arguments)
            tools.check(found == one, f"{launcher}: found {found}, expected {one}")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
