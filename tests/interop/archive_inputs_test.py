#!/usr/bin/python3
"""Blocks of an archive as inputs: a join, a union or tiles of the blocks of one NMB file has the bytes that the packed
files give, the values are those of ncrcat, xarray and numpy, and time series come from an archive as from files. The
inputs determine the kind of an output .nc. Files of --extract and --original with --out-dir are the packed files.

    archive_inputs_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

JOIN = ("--mode", "join", "--no-history")
KINDS = {
    "cdf1": dict(format="NETCDF3_CLASSIC"),
    "cdf5": dict(format="NETCDF3_64BIT_DATA"),
    "nc4": dict(format="NETCDF4"),
    "zip": dict(format="NETCDF4", zlib=True, shuffle=True),
    "groups": dict(format="NETCDF4", group="ocean"),
}
# Neither the alphabet nor the numbers give the order of time.
NAMES = ["dec", "jan", "m2", "m10", "aug", "feb"]
SIZES = {"CDF\x01": 1, "CDF\x02": 2, "CDF\x05": 5, "\x89HDF": 4}


def write_month(path, number, format, group=None, units="days since 2000-01-01", steps=None, **filters):
    rng = numpy.random.default_rng(number)
    with netCDF4.Dataset(path, "w", format=format) as out:
        steps = 3 + number % 2 if steps is None else steps
        out.title = "months"
        out.createDimension("time", None)
        out.createDimension("lat", 4)
        time = out.createVariable("time", "f8", ("time",))
        time.units, time.calendar = units, "noleap"
        time[:] = 30.0 * number + numpy.arange(steps)
        out.createVariable("lat", "f4", ("lat",))[:] = numpy.arange(4) * 10
        home = out.createGroup(group) if group else out
        tas = home.createVariable("tas", "f4", ("time", "lat"), fill_value=numpy.float32(1e20), **filters)
        tas.units = "K"
        tas[:] = rng.normal(280, 10, (steps, 4)).astype("f4")
        pr = out.createVariable("pr", "i2", ("time", "lat"), **filters)
        pr.scale_factor, pr.add_offset = 0.5, 3.0
        pr.set_auto_scale(False)
        pr[:] = rng.integers(-1000, 1000, (steps, 4)).astype("i2")


def make_months(work, kind):
    folder = work / kind
    folder.mkdir()
    return [folder / f"{name}.nc" for name in NAMES if not write_month(folder / f"{name}.nc", NAMES.index(name), **KINDS[kind])]


def same_bytes(test, a, b, what):
    a, b = test.work / a, test.work / b
    test.check(a.exists() and b.exists() and a.read_bytes() == b.read_bytes(), f"{what}: {a.name} and {b.name} differ")


def values(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        variable = file["ocean/" + name] if name == "tas" and "ocean" in file.groups else file[name]
        return variable[...]


def kind(path):
    return SIZES.get(Path(path).read_bytes()[:4].decode("latin1"))


def check_joins(test):
    for name in KINDS:
        months = make_months(test.work, name)  # in the order of time
        files = [str(path.relative_to(test.work)) for path in months]
        archive = f"{name}.nmb"
        test.run("nmcat", *sorted(files), "-o", archive, "--tag", "name={stem}")
        for ending in ("nc", "nc4", "nmb"):
            of_files, of_blocks = f"{name}_files.{ending}", f"{name}_blocks.{ending}"
            test.run("nmcat", "--mode", "join", "--no-history", "--no-provenance" if ending == "nmb" else "--no-sync", *files, "-o", of_files)
            test.run("nmcat", "--mode", "join", "--no-history", "--no-provenance" if ending == "nmb" else "--no-sync", archive, "-o", of_blocks,
                     says=f"{archive}: each of {len(NAMES)} blocks counts as an input, in the order of time")
            if ending != "nmb":
                same_bytes(test, of_files, of_blocks, f"join {name} {ending}")
            else:
                test.run("nminspect", "diff", of_files, of_blocks)
                test.run("nmverify", of_blocks)
        for variable in ("time", "tas", "pr"):
            expected = numpy.concatenate([values(path, variable) for path in months])
            for ending in ("nc", "nc4"):
                found = values(test.work / f"{name}_blocks.{ending}", variable)
                is_type = found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
                test.check(is_type and numpy.array_equal(found, expected), f"{name} {ending}: {variable}")
        check_peers(test, name, months)
        check_choice(test, name, files, archive)
        check_ranks(test, name, archive)


def check_peers(test, name, months):
    joined = test.work / f"{name}_blocks.nc"
    if shutil.which("ncrcat"):
        peer = test.work / f"{name}_peer.nc"
        subprocess.run(["ncrcat", "-h", "-O", *months, peer], check=True, capture_output=True)
        for variable in ("time", "tas", "pr"):
            test.check(numpy.array_equal(values(joined, variable), values(peer, variable)), f"{name}: ncrcat has another {variable}")
    try:
        import xarray
    except ImportError:
        return
    sets = [xarray.open_dataset(path, decode_times=False) for path in months]
    expected = xarray.concat(sets, "time", data_vars="minimal", coords="minimal", compat="equals")
    with xarray.open_dataset(joined, decode_times=False) as found:
        test.check(found.equals(expected), f"{name}: xarray.concat gives another dataset")


def check_choice(test, name, files, archive):
    """The chosen blocks give what their files give."""
    (test.work / "names").write_text("m10\ndec\njan\n")
    choices = {
        "where": (["--where", "name == 'jan' || name == 'aug' || name == 'm2'"], ("jan", "m2", "aug")),
        "list": (["--blocks-from", "names"], ("dec", "jan", "m10")),
        "exclude": (["--exclude", "m*", "--exclude", "aug"], ("dec", "jan", "feb")),
        "shard": (["--shard", "2/3"], ("m2", "feb") if name != "groups" else None),
    }
    for what, (options, months) in choices.items():
        if name == "groups" and what in ("list", "exclude", "shard"):
            continue  # groups have names of their own
        chosen = [file for file in files if Path(file).stem in (months or ())]
        if what == "shard":
            order = sorted(Path(file).stem for file in files)[1::3]
            chosen = [file for file in files if Path(file).stem in order]
        test.run("nmcat", "--mode", "join", "--no-history", archive, *options, "-o", f"{name}_{what}.nc")
        test.run("nmcat", "--mode", "join", "--no-history", *chosen, "-o", f"{name}_{what}_files.nc")
        if name != "groups":
            same_bytes(test, f"{name}_{what}.nc", f"{name}_{what}_files.nc", what)
    test.run("nmcat", "--mode", "join", "--no-history", archive, "--sort", "values:tas", "-o", f"{name}_sorted.nc", exit_code=None)
    if name != "groups":
        first = [(values(test.work / file, "tas")[0, 0], file) for file in files]
        expected = numpy.concatenate([values(test.work / file, "tas") for _, file in sorted(first)])
        test.check(numpy.array_equal(values(test.work / f"{name}_sorted.nc", "tas"), expected), f"{name}: --sort values:tas")
    test.run("nmcat", "--mode", "join", archive, "--where", "name == 'nobody'", "-o", "none.nmb", exit_code=2, says="no block was chosen")
    test.run("nmcat", "--mode", "join", archive, archive, "--where", "name == 'jan'", "-o", "none.nmb", exit_code=2, says="--where needs a single input")
    test.run("nmcat", "--mode", "join", files[0], "--where", "name == 'jan'", "-o", "none.nmb", exit_code=2, says="single NMB file")
    test.check(not (test.work / "none.nmb").exists(), "a refused join left a file")


def check_ranks(test, name, archive):
    launcher = shutil.which("mpiexec.openmpi") or shutil.which("mpiexec")
    one = test.work / f"{name}_blocks.nc4"
    for threads in ("1", "5"):
        test.run("nmcat", "--mode", "join", "--no-history", archive, "-o", "threads.nc4", "-f", "-j", threads)
        same_bytes(test, "threads.nc4", one, f"-j {threads}")
    if not launcher:
        return
    for ranks in ("2", "3"):
        for ending in ("nc", "nmb"):
            test.run("nmcat", "--mode", "join", "--no-history", "--no-provenance" if ending == "nmb" else "--no-sync", archive, "-o", f"one.{ending}", "-f")
            words = test.said
            done = subprocess.run([launcher, "--oversubscribe", "-n", ranks, test.tools / "nmcat", "--mode", "join", "--no-history", "--no-provenance" if ending == "nmb" else "--no-sync", archive, "-o", f"ranks.{ending}", "-f"],
                                  cwd=test.work, capture_output=True, text=True)
            if "cannot" in done.stderr and "MPI" in done.stderr:
                return
            test.check(done.returncode == 0, f"{ranks} ranks: {done.stderr}")
            test.check(done.stderr.replace(f"ranks.{ending}", f"one.{ending}") == words, f"{ranks} ranks say {done.stderr!r}, one says {words!r}")
            same_bytes(test, f"one.{ending}", f"ranks.{ending}", f"{name}: {ranks} ranks")


def check_kinds(test):
    """An output .nc has the kind of the inputs; CDF-2 or CDF-5 where CDF-1 is not enough; netCDF-4 for groups."""
    for name in KINDS:
        classic = name.startswith("cdf")
        expected = {"cdf1": 1, "cdf5": 5}.get(name, 4)
        one, archive = f"{name}/jan.nc", f"{name}.nmb"
        for mode in ("join", "union"):
            test.run("nmcat", "--mode", mode, one, "-o", "kind.nc", "-f")
            test.check(kind(test.work / "kind.nc") == expected, f"{mode} {name}: .nc is {kind(test.work / 'kind.nc')}")
        test.check(kind(test.work / f"{name}_blocks.nc") == expected, f"join of {archive}: .nc")
        test.run("nmcat", one, "-o", "kind.nc", "-f", says="is a netCDF-4 file, because blocks become groups" if classic else "")
        test.check(kind(test.work / "kind.nc") == 4, f"pack {name}: .nc")
        test.run("nmconvert", one, "kind.nc", "-f")
        test.check(kind(test.work / "kind.nc") == expected, f"nmconvert {name}: .nc")
        test.run("nmconvert", archive, "kind.nc", "-f", "--extract", "jan")
        test.check(kind(test.work / "kind.nc") == expected, f"--extract {name}: .nc")
        test.run("nmconvert", archive, "kind.nc", "-f", says="blocks become groups" if classic else "")
        test.check(kind(test.work / "kind.nc") == 4, f"nmconvert {archive}: .nc")
        for to, number in (("cdf5", 5), ("nc4", 4)):
            test.run("nmcat", "--mode", "join", archive, "-o", "kind.nc", "-f", "--to", to, exit_code=1 if name == "groups" and to == "cdf5" else 0)
            if name != "groups" or to != "cdf5":
                test.check(kind(test.work / "kind.nc") == number, f"join {name} --to {to}")
    test.run("nmcat", "--mode", "join", "cdf1/dec.nc", "nc4/jan.nc", "-o", "mixed.nc", says="mixed.nc is a netCDF-4 file, because nc4/jan.nc comes from HDF5")
    test.check(kind(test.work / "mixed.nc") == 4, "mixed: .nc")
    test.run("nmcat", "--mode", "join", "cdf1/dec.nc", "cdf5/jan.nc", "-o", "mixed5.nc")
    test.check(kind(test.work / "mixed5.nc") == 5, "CDF-1 and CDF-5: .nc")
    # 64-bit integers from --on-mismatch widen need CDF-5.
    for name, code in (("a", "i4"), ("b", "f4")):
        with netCDF4.Dataset(test.work / f"wide_{name}.nc", "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("t", None)
            out.createVariable("v", code, ("t",))[:] = numpy.arange(3)
    test.run("nmcat", "--mode", "join", "wide_a.nc", "wide_b.nc", "--on-mismatch", "widen", "-o", "wide.nc")
    test.check(kind(test.work / "wide.nc") == 1, "int and float become double: .nc")
    with h5py.File(test.work / "zip_blocks.nc") as file:
        test.check(file["tas"].compression == "gzip" and file["tas"].shuffle, "zip: .nc keeps chunks and filters")


def check_others(test):
    """Union, tiles, units, blocks without records, and blocks that cannot be inputs."""
    for name, variable in (("a", "u"), ("b", "v")):
        with netCDF4.Dataset(test.work / f"part_{name}.nc", "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("x", 3)
            out.createVariable("x", "f4", ("x",))[:] = numpy.arange(3)
            out.createVariable(variable, "f8", ("x",))[:] = numpy.arange(3) + len(name)
    test.run("nmcat", "part_a.nc", "part_b.nc", "-o", "parts.nmb")
    test.run("nmcat", "--mode", "union", "parts.nmb", "-o", "parts.nc", says="in the order of their names")
    test.run("nmcat", "--mode", "union", "part_a.nc", "part_b.nc", "-o", "parts_files.nc")
    same_bytes(test, "parts.nc", "parts_files.nc", "union")
    for i in range(2):
        with netCDF4.Dataset(test.work / f"tile.nc.000{i}", "w", format="NETCDF3_64BIT_OFFSET") as out:
            out.NumFilesInSet = numpy.int32(2)
            out.createDimension("x", 3)
            x = out.createVariable("x", "f8", ("x",))
            x.domain_decomposition = numpy.array([1, 6, 1 + 3 * i, 3 + 3 * i], "i4")
            x[:] = numpy.arange(3) + 3 * i
            out.createVariable("t", "f4", ("x",))[:] = numpy.arange(3) + 3 * i + 0.5
    test.run("nmcat", "tile.nc.0000", "tile.nc.0001", "--block-name", "{path}", "-o", "tiles.nmb")
    test.run("nmcat", "--mode", "tiles", "tiles.nmb", "-o", "tiles.nc")
    test.run("nmcat", "--mode", "tiles", "tile.nc.0000", "tile.nc.0001", "-o", "tiles_files.nc")
    same_bytes(test, "tiles.nc", "tiles_files.nc", "tiles")
    test.run("nmcat", "--mode", "tiles", "tiles.nmb", "--exclude", "*1", "-o", "gap.nc", exit_code=1, says="files in set")
    # A block without records, and one with other units: last, and refused.
    write_month(test.work / "empty.nc", 0, "NETCDF3_CLASSIC", steps=0)
    write_month(test.work / "later.nc", 1, "NETCDF3_CLASSIC")
    write_month(test.work / "other.nc", 0, "NETCDF3_CLASSIC", units="days since 1999-01-01")
    test.run("nmcat", "empty.nc", "later.nc", "-o", "empty.nmb")
    test.run("nmcat", "--mode", "join", "empty.nmb", "-o", "empty_joined.nc", says="in the order of time")
    test.check(len(values(test.work / "empty_joined.nc", "time")) == 4, "a block without records")
    test.run("nmcat", "other.nc", "later.nc", "-o", "units.nmb")
    test.run("nmcat", "--mode", "join", "units.nmb", "-o", "units.nc", exit_code=1, says='units.nmb: block "other" and units.nmb: block "later"')
    # No coordinate: the order of names, in which m2 comes before m10.
    for number in (10, 2, 1):
        with netCDF4.Dataset(test.work / f"m{number}.nc", "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("t", None)
            out.createVariable("v", "i4", ("t",))[:] = [number]
    test.run("nmcat", "m10.nc", "m2.nc", "m1.nc", "-o", "named.nmb")
    test.run("nmcat", "--mode", "join", "named.nmb", "-o", "named.nc", says="in the order of their names, because they have no coordinate variable of t")
    test.check(list(values(test.work / "named.nc", "v")) == [1, 2, 10], "the order of names")
    # A group of a file is an input only with the group that has its dimensions.
    (test.work / "inner").write_text("jan/ocean\nfeb/ocean\n")
    test.run("nmcat", "--mode", "join", "groups.nmb", "--blocks-from", "inner", "-o", "inner.nmb", exit_code=2, says="belongs to a group above the block")
    # One file with groups is one input, unless groups are chosen.
    with netCDF4.Dataset(test.work / "runs.nc4", "w") as out:
        for i in (1, 0):
            run = out.createGroup(f"run{i}")
            run.createDimension("time", None)
            run.createVariable("time", "f8", ("time",))[:] = [i]
    test.run("nmconvert", "runs.nc4", "runs.nmb")
    test.run("nmcat", "--mode", "join", "runs.nmb", "-o", "whole.nmb", says="count as one input, so nothing is joined; --blocks-from")
    (test.work / "runs").write_text("run1\nrun0\n")
    test.run("nmcat", "--mode", "join", "runs.nmb", "--blocks-from", "runs", "-o", "runs.nc")
    test.check(list(values(test.work / "runs.nc", "time")) == [0, 1], "the groups of one file")


def check_series(test):
    for name in ("cdf1", "zip"):
        files = [f"{name}/{month}.nc" for month in NAMES]
        (test.work / "list").write_text("\n".join(files) + "\n")
        test.run("nmconvert", "--files-from", "list", "--one-file-per-variable", "--no-history", "--out-dir", f"{name}_series")
        test.run("nmconvert", f"{name}.nmb", "--one-file-per-variable", "--no-history", "--out-dir", f"{name}_series_blocks", says=f"{len(NAMES)} blocks to 2")
        (test.work / "list").write_text(f"{name}.nmb\n")
        test.run("nmconvert", "--files-from", "list", "--one-file-per-variable", "--no-history", "--out-dir", f"{name}_series_list")
        names = sorted(path.name for path in (test.work / f"{name}_series").iterdir())
        test.check(len(names) == 2, f"{name}: series {names}")
        for file in names:
            test.check(kind(test.work / f"{name}_series" / file) == (1 if name == "cdf1" else 4), f"{file}: .nc")
            for other in ("blocks", "list"):
                same_bytes(test, f"{name}_series/{file}", f"{name}_series_{other}/{file}", f"series {name} {other}")


def check_files(test):
    """--extract and --original with --out-dir."""
    for name in KINDS:
        archive = f"{name}.nmb"
        test.run("nmconvert", archive, "--original", "**", "--out-dir", f"{name}_originals")
        test.run("nmconvert", archive, "--extract", "*", "--out-dir", f"{name}_extracts")
        for month in NAMES:
            original = f"{month}.nc" if name.startswith("cdf") else f"{name}/{month}.nc"
            same_bytes(test, f"{name}/{month}.nc", f"{name}_originals/{original}", "--original")
            if name.startswith("cdf"):
                same_bytes(test, f"{name}/{month}.nc", f"{name}_extracts/{month}.nc", "--extract")
            else:
                test.check(kind(test.work / f"{name}_extracts/{month}.nc") == 4, f"{name}_extracts/{month}.nc: kind")
        count = sum(1 for path in (test.work / f"{name}_originals").rglob("*") if path.is_file())
        test.check(count == len(NAMES), f"{name}: {count} originals")
        test.run("nmconvert", archive, "--original", "*", "--out-dir", f"{name}_originals", exit_code=2, says="the file exists")
        test.run("nmconvert", archive, "--extract", "nobody*", "--out-dir", "nowhere", exit_code=2, says="no block matches")
        test.run("nmconvert", archive, "--original", "nobody*", "--out-dir", "nowhere", exit_code=2, says="matches")
        test.check(not (test.work / "nowhere").exists(), "a refused call made a folder")
    test.run("nmcat", "zip/jan.nc", "-o", "bare.nmb", "--no-originals")
    test.run("nmconvert", "bare.nmb", "--original", "*", "--out-dir", "bare", exit_code=2, says="found no original of block")
    test.run("nmconvert", "zip.nmb", "--extract", "[jf]*", "--to", "hdf5", "--out-dir", "h5", "--jsonl")
    test.check(sorted(path.name for path in (test.work / "h5").iterdir()) == ["feb.h5", "jan.h5"], "--to hdf5 --out-dir")


def check_types(test):
    """Named datatypes of a block become those of the root, with which netCDF reads the variables that use them."""
    point = numpy.dtype([("x", "<i4"), ("y", "<f8")])

    def make(path, first, group):
        with netCDF4.Dataset(path, "w") as root:
            root.createDimension("time", None)
            root.createVariable("time", "f8", ("time",))[:] = [first, first + 1]
            shared = root.createEnumType("i2", "shared_t", {"no": 0, "yes": 1})
            out = root.createGroup(group) if group else root
            kinds = {"state": out.createEnumType("i1", "state_t", {"off": 0, "on": 1}), "where": out.createCompoundType(point, "point_t"),
                     "series": out.createVLType("f4", "series_t"), "shared": shared}
            for name, kind in kinds.items():
                out.createVariable(name, kind, ("time",))
            out["state"][:] = out["shared"][:] = numpy.array([0, 1], "i1")
            out["where"][:] = numpy.array([(first, 0.5), (first + 1, 1.5)], point)
            for row in range(2):
                out["series"][row] = numpy.arange(first + row, dtype="f4")

    def header(path):
        lines = subprocess.run(["ncdump", path], cwd=test.work, check=True, capture_output=True, text=True).stdout.splitlines()
        return lines[1:]  # without the name

    for group in ("", "inner", "a/b"):
        files = ["types0.nc", "types1.nc"]
        for i, file in enumerate(files):
            make(test.work / file, 2 * i, group)
        test.run("nmcat", *files, "-o", "types.nmb", "-f")
        test.run("nmcat", *JOIN, *files, "-o", "types_files.nc4", "-f")
        test.run("nmcat", *JOIN, "types.nmb", "-o", "types_blocks.nc4", "-f")
        expected = header("types_files.nc4")
        test.check(any("series" in line for line in expected), f"join of files: found {expected}")
        test.check(header("types_blocks.nc4") == expected, f"join of blocks with types in {group!r}: found {header('types_blocks.nc4')}")
        test.run("nmcat", *JOIN, "types.nmb", "-o", "types_blocks.nmb", "-f", "--hdf5-view", "on", "--view-copies")
        test.run("nmconvert", "types_blocks.nmb", "types_converted.nc4", "-f")
        for path in ("types_converted.nc4", "types_blocks.nmb"):
            with netCDF4.Dataset(test.work / path) as root:
                found = root[group] if group else root
                test.check({"state", "where", "series", "shared"} <= set(found.variables) and
                           set(root.groups) == ({group.split("/")[0]} if group else set()), f"{path}: {list(root.groups)}")
        # Parts of the files under names of their own, and a joined block with a name.
        test.run("nmcat", *files, "-o", "types_parts.nc4", "-f", "--slab", "time=1")
        test.run("nmcat", *JOIN, *(f"types{i}.nc" for i in range(2)), "-o", "types_named.nmb", "-f", "--block-name", "run/{group}")
        test.run("nmconvert", "types_named.nmb", "types_named.nc4", "-f")
        for path, blocks in (("types_parts.nc4", ("types0", "types1")), ("types_named.nc4", ("run",))):
            with netCDF4.Dataset(test.work / path) as root:
                test.check(sorted(root.groups) == list(blocks) and not root.enumtypes, f"{path}: groups {list(root.groups)}")
                for block in blocks:
                    found = root["/".join(filter(None, (block, group)))]
                    test.check({"state_t", "point_t", "series_t"} <= {*found.enumtypes, *found.cmptypes, *found.vltypes} and
                               {"state", "where", "series", "shared"} <= set(found.variables), f"{path}: {block}: {found}")


def check_made_up_names(test):
    """In an HDF5 output, dimensions that have no scale in the inputs get no data sets."""
    for i in range(2):
        with h5py.File(test.work / f"plain{i}.h5", "w") as f:
            f.create_dataset("v", data=numpy.arange(6.0).reshape(2, 3), maxshape=(None, 3))
    test.run("nmcat", "plain0.h5", "plain1.h5", "-o", "plain.nmb")
    for inputs in (["plain0.h5", "plain1.h5"], ["plain.nmb"]):
        test.run("nmcat", "--mode", "join", "--along", "axis:0", *inputs, "-o", "joined.h5", "-f")
        with h5py.File(test.work / "joined.h5") as f:
            test.check(list(f) == ["v"] and f["v"].shape == (4, 3), f"{inputs}: found data sets {list(f)}")


def check(test):
    check_joins(test)
    check_types(test)
    check_made_up_names(test)
    check_kinds(test)
    check_others(test)
    check_series(test)
    check_files(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
