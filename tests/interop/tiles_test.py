#!/usr/bin/python3
"""nmcat --mode tiles: the output has the values that numpy makes of the tiles, for uneven tiles of several dimensions,
records, gaps and overlaps; for sets of the corpus, one of which has the expected file; the values of mppnccombine, if
it is in the PATH; and refuses tiles that do not fit together.

    tiles_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import as_netcdf, main, netCDF4, numpy  # noqa: E402

NY, NX, NZ, NT = 7, 11, 3, 4
ROWS, COLUMNS = ((0, 3), (3, 7)), ((0, 2), (2, 7), (7, 11))
WHOLE = {
    "t": numpy.arange(NT * NZ * NY * NX, dtype="f4").reshape(NT, NZ, NY, NX),
    "flag": (numpy.arange(NT * NX) % 100).astype("i1").reshape(NT, NX),
    "depth": (numpy.arange(NZ * NY) + 0.5).astype("f8").reshape(NZ, NY),
    "mask": (numpy.arange(NY * NX) % 2).astype("i2").reshape(NY, NX),
    "turned": numpy.arange(NX * NY, dtype="i4").reshape(NX, NY),
    "x": numpy.arange(NX) * 10.0,
    "y": numpy.arange(NY) - 3.0,
    "z": numpy.arange(NZ) + 1.0,
    "time": numpy.arange(NT) * 0.5,
}
DIMENSIONS = {"t": "time z y x", "flag": "time x", "depth": "z y", "mask": "y x", "turned": "x y"}


def make(path, y, x, kind="NETCDF3_64BIT_OFFSET", change=None, number=0):
    """The tile of these ranges of rows and columns; change(values) alters what it says of them."""
    ranges = {"y": slice(*y), "x": slice(*x)}
    values = {}
    for name, whole in WHOLE.items():
        dimensions = DIMENSIONS.get(name, name).split()
        values[name] = whole[tuple(ranges.get(one, slice(None)) for one in dimensions)].copy()
    if change:
        change(values)
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.filename = Path(path).name
        out.NumFilesInSet = numpy.int32(6)
        out.title = "tiles"
        for name, length in (("x", x[1] - x[0]), ("y", y[1] - y[0]), ("z", NZ), ("time", None)):
            out.createDimension(name, length)
        for name, value in values.items():
            fill = numpy.float32(-9) if name == "t" else None
            variable = out.createVariable(name, value.dtype, DIMENSIONS.get(name, name).split(), fill_value=fill)
            variable.long_name = name
            if name in ("mask", "t"):  # t has a _FillValue too
                variable.missing_value = value.dtype.type(-7)
            variable.set_auto_mask(False)
            variable[:] = value
        # 1-based, with their ends.
        out["x"].domain_decomposition = numpy.int32([1, NX, x[0] + 1, x[1]])
        out["y"].domain_decomposition = numpy.int32([1, NY, y[0] + 1, y[1]])


def make_all(work, prefix="tile", **more):
    files = []
    for y in ROWS:
        for x in COLUMNS:
            files.append(f"{prefix}.nc.{len(files):04}")
            make(work / files[-1], y, x, **more)
    return files


def values(test, file, name):
    # null: what is not a number.
    return numpy.array(json.loads(test.run("nminspect", "dump", file, name, "--json"))["values"])


def expect(test, what, found, expected):
    found, expected = numpy.array(found), numpy.array(expected)
    test.check(found.size == expected.size and numpy.array_equal(found.ravel(), expected.ravel()),
               f"{what}: found {found.ravel()[:8]}.. of {found.size}, expected {expected.ravel()[:8]}..")


def expect_whole(test, file):
    for name, whole in WHOLE.items():
        expect(test, f"{file}: {name}", values(test, file, name), whole)


def check_whole(test):
    files = make_all(test.work)
    for jobs in ("1", "2"):
        test.run("nmcat", "--mode", "tiles", *files, "-o", f"whole{jobs}.nmb", "-j", jobs)
        test.run("nmverify", f"whole{jobs}.nmb")
    test.check((test.work / "whole1.nmb").read_bytes() == (test.work / "whole2.nmb").read_bytes(), "-j 1, 2: other bytes")
    expect_whole(test, "whole1.nmb")
    # In any order, of kinds that are mixed, coded, to other kinds.
    for i, kind in enumerate(("NETCDF4", "NETCDF3_64BIT_DATA", "NETCDF3_CLASSIC")):
        make(test.work / files[i], ROWS[0], COLUMNS[i], kind)
    for target in ("mixed.nmb", "mixed.nc", "mixed.h5"):
        test.run("nmcat", "--mode", "tiles", *reversed(files), "-o", target)
        test.run("nmverify", target)
    expect_whole(test, "mixed.nmb")
    test.run("nmcat", "--mode", "tiles", *files, "-o", "coded.nmb", "--compress", "zstd")
    expect_whole(test, "coded.nmb")
    with netCDF4.Dataset(test.work / "mixed.nc") as out:
        out.set_auto_mask(False)
        for name, whole in WHOLE.items():
            expect(test, f"mixed.nc: {name}", out[name][:], whole)
        test.check(out.ncattrs() == ["title"], f"mixed.nc: found attributes {out.ncattrs()}")
        test.check(out["x"].ncattrs() == ["long_name"], f"mixed.nc: found attributes {out['x'].ncattrs()} of x")


def check_like_mppnccombine(test):
    if not shutil.which("mppnccombine"):
        return
    files = make_all(test.work, "theirs")
    subprocess.run(["mppnccombine", "-64", "theirs.nc", *files], cwd=test.work, check=True)
    test.run("nmcat", "--mode", "tiles", *files, "-o", "ours.nc")
    with netCDF4.Dataset(test.work / "theirs.nc") as theirs, netCDF4.Dataset(test.work / "ours.nc") as ours:
        test.check(set(theirs.variables) == set(ours.variables), "mppnccombine: found other variables")
        for name in theirs.variables:
            expect(test, f"mppnccombine: {name}", ours[name][:], theirs[name][:])


def check_classic_model(test):
    test.run("nmcat", "--mode", "tiles", *make_all(test.work, "model", kind="NETCDF4_CLASSIC"), "-o", "model.nc")
    with netCDF4.Dataset(test.work / "model.nc") as out:
        test.check(out.data_model == "NETCDF4_CLASSIC", f"tiles: found {out.data_model}")


def check_gap(test):
    files = make_all(test.work, "gap")
    test.run("nmcat", "--mode", "tiles", *files[:4], files[5], "-o", "gap.nmb", exit_code=1,
             says="missing tile x 3 to 7, y 4 to 7")
    test.run("nmcat", "--mode", "tiles", *files[:4], files[5], "-o", "gap.nmb", "--missing=fill", says="used fill values for 1 missing object")
    expected = {name: whole.copy() for name, whole in WHOLE.items()}
    expected["t"][:, :, 3:, 2:7] = -9
    expected["mask"][3:, 2:7] = -7
    expected["turned"][2:7, 3:] = -2147483647
    for name, whole in expected.items():
        expect(test, f"gap: {name}", values(test, "gap.nmb", name), whole)
    # One that has no coordinate either, and a variable that a tile does not have.
    test.run("nmcat", "--mode", "tiles", *files[:2], "-o", "row.nmb", exit_code=1, says="missing tile y 4 to 7")
    make(test.work / files[4], ROWS[1], COLUMNS[1], change=lambda values: values.pop("mask"))
    test.run("nmcat", "--mode", "tiles", *files, "-o", "less.nmb", exit_code=1, says="missing variable mask")
    told = json.loads(test.run("nmcat", "--mode", "tiles", *files, "-o", "less.nmb", "--missing=fill", "--json"))
    test.check([(one["kind"], one["object"], one["files"][1]) for one in told["filled"]] == [("missing variable", "mask", files[4])],
               f"less.nmb: told {told['filled']}")
    expect(test, "less: mask", values(test, "less.nmb", "mask"), expected["mask"])
    expect(test, "less: t", values(test, "less.nmb", "t"), WHOLE["t"])


def make_icebergs(path, count, size, kind="NETCDF3_CLASSIC"):
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.file_format_major_version = numpy.int32(0)
        out.NumFilesInSet = numpy.int32(size)
        out.createDimension("i", None)
        out.createVariable("lon", "f8", ("i",))[:] = numpy.arange(count)


def check_sets(test):
    """NumFilesInSet: all say the same, and all are given."""
    work = test.work
    files = make_all(work, "set")
    doubled = [*files, files[2]]
    test.run("nmcat", "--mode", "tiles", *doubled, "-o", "no.nmb", exit_code=1, says="found 7 files, expected 6 files (NumFilesInSet)")
    test.run("nmcat", "--mode", "tiles", *doubled, "-o", "no.nmb", "--missing=fill", exit_code=1, says="found 7 files")
    # Of all kinds of files; the tiles of the other five cover the whole.
    make(work / "wide.nc.0000", (0, NY), (0, 7), "NETCDF4")
    make(work / "wide.nc.0002", (0, NY), (7, NX), "NETCDF4")
    wide = ["wide.nc.0000", "wide.nc.0002"]
    says = "files in set /: found 2 files, none whose name ends in .0001, .0003, .0004, .0005, expected 6 files (NumFilesInSet)"
    for target in "no.nmb", "no.nc":
        test.run("nmcat", "--mode", "tiles", *wide, "-o", target, exit_code=1, says=says)
    told = json.loads(test.run("nmcat", "--mode", "tiles", *wide, "-o", "wide.nmb", "--missing=fill", "--json",
                               says="NumFilesInSet does not match the number of files in 1 set: wide.nc.0000"))
    test.check([one["kind"] for one in told["filled"]] == ["files in set"], f"wide: told {told['filled']}")
    expect_whole(test, "wide.nmb")
    with netCDF4.Dataset(work / files[4], "a") as out:
        out.NumFilesInSet = numpy.int32(5)
    test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1, says="found a set of 5 files, expected a set of 6 files: set.nc.0000 and set.nc.0004")
    with netCDF4.Dataset(work / files[4], "a") as out:
        out.NumFilesInSet = "six"
    test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1, says="found a set of unknown size")
    # Icebergs, of which a file may have none.
    for kind in "NETCDF3_CLASSIC", "NETCDF4":
        for i, count in enumerate((3, 0, 2)):
            make_icebergs(work / f"ice.nc.{i:04}", count, 3, kind)
        ice = [f"ice.nc.{i:04}" for i in range(3)]
        for mode in "tiles", "join":
            test.run("nmcat", "--mode", mode, *ice, "-o", "ice.nmb", "-f")
            for some, missing in ((ice[:2], 2), (ice[::2], 1), (ice[1:], 0)):
                test.run("nmcat", "--mode", mode, *some, "-o", "no.nmb", exit_code=1, says=f"none whose name ends in .{missing:04}, expected 3 files")
                test.run("nmcat", "--mode", mode, *some, "-o", "ice.nmb", "-f", "--missing=fill", says="NumFilesInSet does not match the number of files in 1 set")
            make_icebergs(work / "ice.nc.0003", 2, 2, kind)
            test.run("nmcat", "--mode", mode, ice[0], "ice.nc.0003", ice[2], "-o", "no.nmb", exit_code=1, says="found a set of 2 files, expected a set of 3 files")
        test.run("nmcat", "--mode", "tiles", *ice, ice[0], "-o", "no.nmb", exit_code=1, says="found 4 files")
        # A part that is given twice; a set that another one hides.
        for again in ice[1], f"./{ice[1]}":
            for mode in "tiles", "join":
                test.run("nmcat", "--mode", mode, ice[0], ice[1], again, "-o", "no.nmb", exit_code=1, says=f"found the same file twice, expected each file once: {ice[1]} and {again}")
        for folder in "one", "two":
            (work / folder).mkdir(exist_ok=True)
            for one in ice:
                shutil.copy(work / one, work / folder / one)
        test.run("nmcat", "--mode", "tiles", *ice[:2], f"one/{ice[1]}", "-o", "no.nmb", exit_code=1, says="found a second file with number 1, expected one")
        both = [f"{folder}/{one}" for folder in ("one", "two") for one in ice]
        test.run("nmcat", "--mode", "join", *both, "-o", "ice.nmb", "-f")
        some = [one for one in both if not one.endswith("2")]
        test.run("nmcat", "--mode", "join", *some, "-o", "no.nmb", exit_code=1, says="found 2 files, none whose name ends in .0002, expected 3 files")
        test.run("nmcat", "--mode", "join", *some, "-o", "ice.nmb", "-f", "--missing=fill", says="NumFilesInSet does not match the number of files in 2 sets")
        with netCDF4.Dataset(work / "ice.nc.0000", "a") as out:
            out.NumFilesInSet = "3"
        for mode in "tiles", "join":
            test.run("nmcat", "--mode", mode, ice[0], "-o", "no.nmb", exit_code=1, says="found a set of unknown size")


def check_overlap(test):
    files = make_all(test.work, "over")
    make(test.work / files[1], ROWS[0], (1, 9))
    test.run("nmcat", "--mode", "tiles", *files, "-o", "over.nmb")
    expect_whole(test, "over.nmb")

    def wrong(values):
        values["t"][2, 1, 0, 7] += 1

    make(test.work / files[1], ROWS[0], (1, 9), change=wrong)
    at = 2 * NZ * NY * NX + NY * NX + 8
    test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1,
             says=f"values t: found {at}.f at [2,1,0,8], expected {at + 1}.f: {files[1]} and {files[2]}")
    told = json.loads(test.run("nmcat", "--mode", "tiles", *files, "-o", "first.nmb", "--shared=first", "--json",
                               says="used the first file's values without comparing for "))
    shared = {(one["object"], tuple(one["files"])) for one in told["shared"]}
    test.check(("t", (files[0], files[2])) in shared and ("z", (files[0], files[5])) in shared, f"first: told {shared}")
    expected = WHOLE["t"].copy()
    expected[2, 1, 0, 8] += 1
    expect(test, "first: t", values(test, "first.nmb", "t"), expected)
    # A coordinate that two tiles have alike is compared too.
    files = make_all(test.work, "other")
    make(test.work / files[4], ROWS[1], COLUMNS[1], change=lambda values: values["x"].__setitem__(2, 5))
    test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1, says="values x: found 5. at [4], expected 40.")


def check_mismatches(test):
    for name, (x, says) in {
        "length": ([1, NX + 1, 8, NX], "decomposition x: found a part of a dimension of length 12, expected a part of a dimension of length 11"),
        "place": ([1, NX, 9, NX], "expected a part with the length of the dimension"),
        "order": ([1, NX, 8, NX + 3], "expected first and last index of the whole"),
        "count": ([1, NX, 8], "expected four integers"),
    }.items():
        files = make_all(test.work, name)
        with netCDF4.Dataset(test.work / files[5], "a") as out:
            out["x"].domain_decomposition = numpy.int32(x)
        test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1, says=says)
    with netCDF4.Dataset(test.work / files[5], "a") as out:
        del out["x"].domain_decomposition
    test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1, says="found no domain_decomposition")
    make(test.work / files[5], ROWS[1], COLUMNS[2], change=lambda values: [values.update({n: values[n][:2]}) for n in ("t", "flag", "time")])
    test.run("nmcat", "--mode", "tiles", *files, "-o", "no.nmb", exit_code=1, says="dimension time: found 2 records, expected 4 records")
    with netCDF4.Dataset(test.work / "plain.nc", "w", format="NETCDF3_CLASSIC") as out:
        out.createDimension("x", 3)
        out.createVariable("v", "i4", ("x",))
    test.run("nmcat", "--mode", "tiles", "plain.nc", "-o", "no.nmb", exit_code=1, says="found no attribute domain_decomposition")
    test.run("nmcat", "--mode", "tiles", files[0], "-o", "no.nmb", "--along", "x", exit_code=2, says="--mode join")
    lists = [f"list.nc.{i}" for i in range(2)]
    for i, name in enumerate(lists):
        with netCDF4.Dataset(test.work / name, "w", format="NETCDF3_CLASSIC") as out:
            for dimension, length in (("lat", 4), ("lon", 5), ("lpt", 3)):
                out.createDimension(dimension, length)
            out.createVariable("lpt", "i4", ("lpt",))[:] = numpy.arange(3) + 10 * i
            out["lpt"].compress = "lat lon"
    test.run("nmcat", "--mode", "tiles", *lists, "-o", "no.nmb", exit_code=2,
             says='"lpt" lists the points of a grid (attribute compress); use --mode join and --along lpt to join')
    test.run("nmcat", "--mode", "join", "--along", "lpt", *lists, "-o", "lists.nmb")
    expect(test, "lists", values(test, "lists.nmb", "lpt"), [0, 1, 2, 10, 11, 12])
    left = [one.name for one in test.work.iterdir() if one.name.startswith((".", "no."))]
    test.check(not left, f"mismatches: left {left}")


def check_corpus(test):
    corpus = os.environ.get("NMB_CORPUS")
    sets = Path(corpus or "/", "split", "NOAA-GFDL+FRE-NCtools")
    if not corpus or not sets.exists():
        return
    tiles = lambda name: sorted(str(one) for one in (sets / name).iterdir() if one.name[-4:].isdigit())
    test.run("nmcat", "--mode", "tiles", *tiles("fre-mppnccombine__yt-decomp"), "-o", "decomp.nc")
    with netCDF4.Dataset(sets / "fre-mppnccombine__yt-decomp" / "decomp_ref.nc") as theirs, \
            netCDF4.Dataset(test.work / "decomp.nc") as ours:
        atts = lambda one: {name: one.getncattr(name) for name in one.ncattrs() if name != "filename"}
        test.check(atts(ours) == atts(theirs), "decomp_ref.nc: other attributes")
        test.check(list(ours.variables) == list(theirs.variables), "decomp_ref.nc: other variables")
        for name, variable in theirs.variables.items():
            expect(test, f"decomp_ref.nc: {name}", ours[name][:], variable[:])
            test.check(str(atts(ours[name])) == str(atts(variable)), f"decomp_ref.nc: other attributes of {name}")
    missing = tiles("fre-mppnccombine__missing-file-force")
    test.run("nmcat", "--mode", "tiles", *missing, "-o", "missing.nc", exit_code=1, says="missing tile grid_yt 7 to 8")
    test.run("nmcat", "--mode", "tiles", *missing, "-o", "missing.nc", "--missing=fill")
    # Icebergs: in all three, in two, in none.
    for name, count in (("combine", 15), ("combine-mixed-icebergs", 13), ("combine-no-icebergs", 0)):
        test.run("nmcat", "--mode", "tiles", *tiles(f"fre-iceberg_comb__{name}"), "-o", f"{name}.nc")
        with netCDF4.Dataset(test.work / f"{name}.nc") as out:
            expect(test, f"{name}: lon", out["lon"][:], numpy.concatenate(
                [netCDF4.Dataset(one)["lon"][:] for one in tiles(f"fre-iceberg_comb__{name}")]))
            test.check(len(out.dimensions["i"]) == count, f"{name}: found {len(out.dimensions['i'])} icebergs")
            test.check("NumFilesInSet" not in out.ncattrs(), f"{name}: found NumFilesInSet")
    gathered = [str(one) for one in (sets / "fre-combine-ncc__combine").iterdir()]
    test.run("nmcat", "--mode", "tiles", *gathered, "-o", "no.nc", exit_code=2, says='"lpt" lists the points of a grid')


def check_large(test):
    """Rows of tiles that are cut where values are read part by part."""
    field = numpy.arange(1501 * 1999, dtype="f4").reshape(1501, 1999)
    for i, (first, end) in enumerate(((0, 998), (998, 1999))):
        with netCDF4.Dataset(test.work / f"large{i}.nc", "w", format="NETCDF3_64BIT_OFFSET") as out:
            out.createDimension("y", 1501)
            out.createDimension("x", end - first)
            out.createVariable("x", "f8", ("x",))[:] = numpy.arange(first, end)
            out["x"].domain_decomposition = numpy.int32([1, 1999, first + 1, end])
            out.createVariable("v", "f4", ("y", "x"))[:] = field[:, first:end]
    for more in (["large.nmb"], ["large.nc", "--to", "cdf5"], ["large.nc4", "--to", "nc4", "--compress", "deflate:1"]):
        test.run("nmcat", "--mode", "tiles", "large0.nc", "large1.nc", "-o", *more)
        with netCDF4.Dataset(as_netcdf(test, more[0])) as out:
            expect(test, f"{more}: v", out["v"][:], field)


def check(test):
    check_whole(test)
    check_large(test)
    check_like_mppnccombine(test)
    check_classic_model(test)
    check_gap(test)
    check_sets(test)
    check_overlap(test)
    check_mismatches(test)
    check_corpus(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
