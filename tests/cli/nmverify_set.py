#!/usr/bin/python3
"""nmverify --set: the exit code and the messages of nmcat with the same options; nothing is written.

    nmverify_set.py --tools FOLDER
"""

import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import launchers  # noqa: E402
from nmverify_ranks import nmverify  # noqa: E402
from tool_runs import main, netcdf4  # noqa: E402


def make(path, times, width=3, units="K", kind="f4", format="NETCDF3_64BIT_DATA", **attributes):
    with netcdf4().Dataset(path, "w", format=format) as file:
        file.createDimension("time", None)
        file.createDimension("x", width)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        time[:] = times
        v = file.createVariable("v", kind, ("time", "x"))
        v.units = units
        v[:] = [[t] * width for t in times]
        file.setncatts(attributes)


def make_tile(path, first, last):
    with netcdf4().Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("x", last - first + 1)
        x = file.createVariable("x", "f4", ("x",))
        x.domain_decomposition = [1, 8, first, last]
        x[:] = range(first, last + 1)


def contents(folder):
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.iterdir()}


def words(text, tool):
    """The messages, without the name of the tool and of the output."""
    lines = [line.removeprefix(tool + ": ").removeprefix("out.nmb: ") for line in text.splitlines()]
    return [line for line in lines if not line.startswith("out.nmb")]


def check(tools, exit_code, files, *options):
    """nmverify --set says what nmcat --dry-run says."""
    before = contents(tools.work)
    dry = tools.run("nmcat", *files, *options, "-o", "out.nmb", "--dry-run", exit_code=exit_code)
    found = tools.run("nmverify", "--set", *files, *options, exit_code=exit_code)
    what = f"{files} {options}"
    expected = [line.removesuffix("; nothing was written") for line in words(dry.stderr.decode(), "nmcat")]
    said = words(found.stderr.decode(), "nmverify")
    tools.check(said == expected, f"{what}: found {said}, expected {expected}")
    tools.check((b"can be merged" in found.stdout) == (exit_code == 0), f"{what}: found {found.stdout}")
    report = json.loads(tools.run("nmverify", "--set", "--json", *files, *options, exit_code=exit_code).stdout)
    planned = json.loads(tools.run("nmcat", *files, *options, "-o", "out.nmb", "--dry-run", "--json", exit_code=exit_code).stdout)
    report.pop("schema"), report.pop("mergeable")
    differ = {key for key, value in report.items() if planned[key] != value} - {"errors"}
    tools.check(not differ, f"{what}: other {differ}")
    tools.check(contents(tools.work) == before, f"{what}: the folder has changed")


def check_no_writes(tools, *arguments):
    """No file is created or opened for writing, not even one without a name."""
    if not shutil.which("strace"):
        return
    trace = tools.work.parent / (tools.work.name + ".trace")
    subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=open,openat,creat,mkdir,rename,unlink,ftruncate",
                    tools.folder / "nmverify", *arguments], cwd=tools.work, capture_output=True, check=True)
    bad = [line for line in trace.read_text().splitlines()
           if any(word in line for word in ("O_CREAT", "O_TMPFILE", "O_WRONLY", "creat(", "mkdir(", "rename(", "unlink("))
           and "/dev/" not in line]
    trace.unlink()
    tools.check(not bad, f"{arguments}: found {bad[:3]}")


def test(tools):
    work = tools.work
    make(work / "a.nc", [0, 1])
    make(work / "b.nc", [2, 3])
    make(work / "later.nc4", [4, 5], format="NETCDF4")
    make(work / "wide.nc", [2, 3], width=4)
    make(work / "units.nc", [2, 3], units="degC")
    make(work / "double.nc", [2, 3], kind="f8")
    make(work / "named.nc", [0, 1], history="h", title="t")
    make(work / "other.nc", [2, 3], title="u")
    for name in "xyz":
        (work / name).mkdir()
        shutil.copy(work / "a.nc", work / name / "same.nc")
    (work / "cut.nc").write_bytes((work / "a.nc").read_bytes()[:50])
    (work / "text.nc").write_text("no netCDF\n")
    make_tile(work / "t.0", 1, 4)
    make_tile(work / "t.1", 5, 8)
    check(tools, 0, ["a.nc", "b.nc", "later.nc4"])
    check(tools, 0, ["a.nc"], "--split-names", "^(ti)", "--unmatched", "keep", "--block-name", "{stem}/{group}")
    check(tools, 1, ["x/same.nc", "y/same.nc", "z/same.nc"])
    check(tools, 0, ["x/same.nc", "y/same.nc"], "--block-name", "{path}")
    check(tools, 1, ["a.nc", "cut.nc"])
    check(tools, 2, ["a.nc", "text.nc"])
    check(tools, 2, ["a.nc", "missing.nc"])
    check(tools, 1, ["a.nc"], "--samples", "vars:3")
    check(tools, 1, ["a.nc", "b.nc"], "--mode", "union")
    check(tools, 0, ["a.nc", "b.nc"], "--mode", "union", "--shared", "first")
    check(tools, 0, ["a.nc", "b.nc", "later.nc4"], "--mode", "join")
    check(tools, 0, ["b.nc", "a.nc"], "--mode", "join", "--sort", "name", "--monotonic")
    check(tools, 1, ["b.nc", "a.nc"], "--mode", "join", "--monotonic")
    check(tools, 0, ["b.nc", "a.nc"], "--mode", "join", "--sort", "values:time", "--monotonic")
    check(tools, 1, ["a.nc", "wide.nc", "units.nc", "double.nc"], "--mode", "join")
    check(tools, 0, ["a.nc", "double.nc"], "--mode", "join", "--on-mismatch", "widen")
    check(tools, 0, ["a.nc", "named.nc"], "--mode", "join", "--atts", "list")
    check(tools, 1, ["named.nc", "other.nc"], "--mode", "join", "--atts", "strict")
    check(tools, 2, ["a.nc", "b.nc"], "--mode", "join", "--along", "nothing")
    check(tools, 2, ["a.nc", "b.nc"], "--split-names", "^(nothing)", "--unmatched", "keep", "--block-name", "{stem}/{group}")
    check(tools, 0, ["t.0", "t.1"], "--mode", "tiles")
    check(tools, 1, ["t.0"], "--mode", "tiles")
    check(tools, 0, ["t.0"], "--mode", "tiles", "--missing", "fill")
    check_no_writes(tools, "--set", "a.nc", "b.nc")
    check_no_writes(tools, "--set", "--mode", "join", "a.nc", "b.nc")
    if os.geteuid() != 0:
        work.chmod(0o555)
        tools.run("nmverify", "--set", "a.nc", "b.nc")
        work.chmod(0o755)
    for arguments in (["--set", "a.nc", "b.nc", "later.nc4"], ["--set", "--json", "x/same.nc", "y/same.nc", "z/same.nc"],
                      ["--set", "--mode", "join", "a.nc", "wide.nc", "units.nc"], ["--set", "a.nc", "text.nc"]):
        one = nmverify(tools, [], *arguments)
        for launcher in launchers(tools)[1:]:
            found = nmverify(tools, launcher, *arguments)
            tools.check(found == one, f"{launcher} {arguments}: found {found}, expected {one}")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
