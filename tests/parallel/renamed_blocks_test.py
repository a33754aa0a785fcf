#!/usr/bin/python3
"""nmcat of HDF5 and netCDF-4 files whose blocks get other names, by ranks: references, links and named datatypes follow
the names, conflicts of names are the same, and so are all bytes, as by one process. The inputs are more than the ranks, so
files of one group name lie on several ranks.

    renamed_blocks_test.py --tools FOLDER

Threads, and processes of each MPI whose plug-in was built and whose launcher is there. Skipped (exit code 77) without
h5py or netCDF4-python.
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "cli"))
from nmcat_ranks import launchers, nmcat, words_of  # noqa: E402
from tool_runs import Skip, main  # noqa: E402

try:
    import h5py
    import netCDF4
    import numpy
except ImportError:
    h5py = None

INPUTS = 7


def make_hdf5(path, number):
    """A file with each thing that names a path."""
    with h5py.File(path, "w") as file:
        file["types/hit"] = numpy.dtype([("run", "i4"), ("energy", "f8")])
        run = file.create_group("run")
        # Of the first input there are values enough that other ranks take some over.
        run["energy"] = numpy.arange(2_000_000 if number == 0 else 100 + number, dtype="f8") + number
        run["hits"] = h5py.SoftLink("/run/energy")
        run.create_dataset("table", (3,), file["types/hit"])
        file["run/again"] = run["energy"]
        file["packed"] = numpy.arange(5000 * (number + 1))
        packed = file.create_dataset("run/deep/packed", (400, 50), "i4", chunks=(100, 50), compression="gzip", shuffle=True)
        packed[:] = number
        refs = file.create_dataset("refs", (2,), h5py.ref_dtype)
        refs[0], refs[1] = run["energy"].ref, run["deep/packed"].ref
        run.attrs["region"] = packed.regionref[2:9, 1:4]
        run.create_dataset("x", data=numpy.arange(400.0)).make_scale("x")
        packed.dims[0].attach_scale(run["x"])


def make_netcdf4(path, number):
    with netCDF4.Dataset(path, "w") as root:
        root.createDimension("time", None)
        root.createDimension("x", 30 + number)
        root.createVariable("x", "f8", ("x",))[:] = numpy.arange(30 + number)
        group = root.createGroup("run")
        group.createVariable("t", "f4", ("time", "x"), zlib=True, chunksizes=(5, 10))[:] = numpy.full((20, 30 + number), number)
        kind = group.createEnumType("u1", "state_t", {"off": 0, "on": 1})
        group.createVariable("state", kind, ("x",))[:] = numpy.ones(30 + number, "u1")


def check_same(tools, launcher, arguments, code, output="nmb"):
    """As by one process: exit code, words, JSON and the file."""
    one, many = f"one.{output}", f"many.{output}"
    alone = nmcat(tools, [], *arguments, "-o", one, "-j1", "--json")
    found = nmcat(tools, launcher, *arguments, "-o", many, "--json", *([] if launcher else ["-j3"]))
    what = " ".join(map(str, [*launcher, *arguments]))
    tools.check(alone.returncode == code, f"{what}: one process: exit code {alone.returncode}, expected {code}: {alone.stderr}")
    tools.check(found.returncode == code, f"{what}: exit code {found.returncode}, expected {code}: {found.stderr}")
    expected = [line.replace(one, many) for line in words_of(alone)]
    tools.check(words_of(found) == expected, f"{what}: found {words_of(found)}, expected {expected}")
    tools.check(found.stdout == alone.stdout.replace(one, many), f"{what}: another report: {found.stdout}")
    made = [tools.work / one, tools.work / many]
    if code == 0 and all(path.exists() for path in made):
        if output == "nmb":
            tools.check_equal_bytes(*made, what)
            tools.run("nmverify", "-q", many)
        else:
            command = [sys.executable, TESTS / "interop" / "compare_files.py", *made]
            compared = subprocess.run(command, capture_output=True, text=True, timeout=120)
            tools.check(compared.returncode == 0, f"{what}: {compared.stdout}{compared.stderr}")
    else:
        tools.check(not any(path.exists() for path in made), f"{what}: a file is left, or missing")
    return expected, alone.stdout


def check_paths(tools, path, places):
    """References, links and scales lead into the group that the input became."""
    tools.run("nmconvert", path, "back.h5", "-f")
    with h5py.File(tools.work / "back.h5") as file:
        for number, place in enumerate(places):
            top = file[place]
            wanted = [top["run/energy"], top["run/deep/packed"]]  # the first has two names
            found = [file[one] for one in top["refs"]]
            tools.check(found == wanted, f"{path}: {place}: references lead to {found}, expected {wanted}")
            link = top["run"].get("hits", getlink=True).path
            tools.check(link == f"/{place}/run/energy", f"{path}: {place}: the soft link leads to {link}")
            tools.check(top["run/hits"][1] == number + 1, f"{path}: {place}: the link leads to {top['run/hits'][1]}")
            tools.check(file[top["run"].attrs["region"]] == wanted[1], f"{path}: {place}: the region")
            tools.check(top["run/deep/packed"].dims[0][0].name == f"/{place}/run/x", f"{path}: {place}: the scale")
            tools.check(top["run/table"].id.get_type().committed(), f"{path}: {place}: the named datatype")


def check_all(tools, launcher, hdf5, netcdf4):
    stems = [Path(name).stem for name in hdf5]
    check_same(tools, launcher, hdf5, 0)
    check_paths(tools, "many.nmb", stems)
    for name in ("one.nmb", "many.nmb"):
        (tools.work / name).rename(tools.work / f"packed_{name}")
    packed = ["packed_many.nmb", "packed_one.nmb"]
    calls = [
        ([*hdf5, "--block-name", "all/{index}/{group}"], 0),
        ([*hdf5, *netcdf4], 0),
        ([*netcdf4, *hdf5, "--block-name", "run{index}/{group}", "--compress", "zstd"], 0),
        ([*packed, *netcdf4, "--block-name", "{index}/{group}"], 0),
        ([*hdf5[:3], "--link"], 0),
        # Names that two inputs have, which no rank sees alone.
        ([*hdf5, "--block-name", "{group}"], 1),
        ([*hdf5, "--unique", "{group}"], 1),
        ([*netcdf4, *hdf5, *netcdf4[2:4]], 1),
        ([*hdf5, *packed[:1], "--block-name", "x{group}"], 1),
        ([*hdf5[:5], "text.h5", *hdf5[5:]], 2),
        ([*hdf5[:5], "cut.h5", *hdf5[5:]], 1),
    ]
    for arguments, code in calls:
        words, _ = check_same(tools, launcher, arguments, code)
        tools.check(code == 0 or words, f"{arguments}: nothing is said of the failure")
        for made in ("one.nmb", "many.nmb"):
            (tools.work / made).unlink(missing_ok=True)
    check_same(tools, launcher, [*hdf5[1:4], *packed[:1]], 0, "h5")
    for made in ("one.h5", "many.h5", *packed):
        (tools.work / made).unlink(missing_ok=True)
    # Behind blocks that are there, with one of their names, and with others.
    nmcat(tools, [], hdf5[0], "-o", "there.nmb")
    for names, code in (("{stem}/{group}", 1), ("later/{stem}/{group}", 0)):
        found = []
        for who in ([], launcher):
            (tools.work / "out.nmb").write_bytes((tools.work / "there.nmb").read_bytes())
            jobs = "-j1" if who == [] and not found else "-j3"
            done = nmcat(tools, who, *hdf5, "-o", "out.nmb", "--append", "--block-name", names, *([jobs] if not who else []))
            tools.check(done.returncode == code, f"{who} --append {names}: exit code {done.returncode}: {done.stderr}")
            found.append((words_of(done), (tools.work / "out.nmb").read_bytes() if code == 0 else b""))
            tools.run("nmverify", "-q", "out.nmb")
        tools.check(found[0] == found[1], f"{launcher} --append {names}: found {found[1][0]}, expected {found[0][0]}")


def test(tools):
    if h5py is None:
        raise Skip("no h5py or no netCDF4")
    hdf5 = [f"h{i}.h5" for i in range(INPUTS)]
    netcdf4 = [f"n{i}.nc" for i in range(INPUTS)]
    for i in range(INPUTS):
        make_hdf5(tools.work / hdf5[i], i)
        make_netcdf4(tools.work / netcdf4[i], i)
    (tools.work / "text.h5").write_text("no HDF5 file\n")
    (tools.work / "cut.h5").write_bytes((tools.work / hdf5[3]).read_bytes()[:-3000])
    for launcher in launchers(tools):
        check_all(tools, launcher, hdf5, netcdf4)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
