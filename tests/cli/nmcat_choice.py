#!/usr/bin/python3
"""nmcat --blocks-from, --exclude, --where and --shard: which blocks come, which errors there are, and that the file is the
same by threads and as an MPI job. tests/interop/selection_test.py compares random conditions with numpy.

    nmcat_choice.py --tools FOLDER
"""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import check_same, launchers, nmcat  # noqa: E402
from tool_runs import Skip, main, netcdf4  # noqa: E402

FILES, GROUPS = 7, 5


def make(tools):
    netcdf = netcdf4()
    for number in range(FILES):
        with netcdf.Dataset(tools.work / f"day{number}.nc", "w", format="NETCDF3_64BIT_DATA") as file:
            file.run = number // 3
            file.createDimension("x", 1000)
            file.createVariable("v", "f8", ("x",))[:] = number
    with netcdf.Dataset(tools.work / "groups.nc", "w") as file:
        file.run = 9
        file.createDimension("x", 400)
        file.createVariable("x", "f8", ("x",))[:] = range(400)
        file.createVariable("other", "f8", ("x",))[:] = 5
        for number in range(GROUPS):
            group = file.createGroup(f"g{number}")
            group.run = number
            group.createVariable("v", "f8", ("x",))[:] = number
        file["g1"].createGroup("below").createVariable("w", "f8", ("x",))[:] = 8
    tools.run("nmcat", *inputs(), "-o", "all.nmb", "--stats", "basic")


def inputs():
    return [*(f"day{number}.nc" for number in range(FILES)), "groups.nc"]


def blocks(tools, path="out.nmb"):
    return tools.run("nminspect", "ls", path).stdout.decode().split()


def expect(tools, expected, *arguments, listed=None, says=None):
    """The blocks of a merge, or its exit code and message."""
    done = nmcat(tools, [], *arguments, "-o", "out.nmb", "--hdf5-view", "off", listed=listed)
    what = " ".join(arguments)
    path = tools.work / "out.nmb"
    if isinstance(expected, int):
        tools.check(done.returncode == expected and not path.exists(), f"{what}: exit code {done.returncode}")
    else:
        tools.check(done.returncode == 0, f"{what}: {done.stderr}")
        found = blocks(tools)
        tools.check(found == sorted(expected), f"{what}: found {found}, expected {sorted(expected)}")
        tools.run("nmverify", "out.nmb")
        path.unlink()
    tools.check(says is None or says in done.stderr, f"{what}: said {done.stderr!r}, expected {says!r}")


def check_names(tools):
    one = ["all.nmb", "--block-name", "{group}"]
    days = [f"day{number}" for number in range(FILES)]
    expect(tools, ["day1", "day4"], *one, "--blocks-from", "-", listed="day4\n/day1\nday4\n")
    expect(tools, ["day1", "day4"], *one, "--blocks-from", "-", "-0", listed="day4\0day1")
    expect(tools, days, *one, "--exclude", "groups", "--exclude", "groups/**")
    expect(tools, days[2:5], *one, "--exclude", "day[0156]", "--blocks-from", "-",
           listed="\n".join(days))
    # A classic input has the name of its file, a group its path in the file.
    expect(tools, ["day0", "day2"], *inputs()[:3], "--exclude", "day1")
    expect(tools, ["day3", "groups", "groups/g2"], *inputs(), "--blocks-from", "-", listed="day3\ng2\n")
    expect(tools, ["day3", "groups"], *inputs(), "--blocks-from", "-", listed="day3\n/\n")
    found = tools.run("nminspect", "find", "all.nmb", "run == 1").stdout.decode()
    expect(tools, ["day3", "day4", "day5", "groups", "groups/g1"], *one, "--blocks-from", "-", listed=found)
    expect(tools, 2, *one, "--blocks-from", "-", listed="day4\nday9\ng1\nday4\n",
           says='no input has the blocks "day9", "g1"; nothing was written')
    expect(tools, 2, *one, "--blocks-from", "-", listed="".join(f"x{i}\n" for i in range(30)), says=' "x17" and 20 more;')
    expect(tools, 2, *one, "--blocks-from", "-", listed="", says="no block was chosen; nothing was written")
    expect(tools, 2, *one, "--blocks-from", "nosuch", says="nosuch: cannot open")
    expect(tools, 2, *one, "--exclude", "**", says="no block was chosen; nothing was written")
    expect(tools, 2, *one, "--exclude", "day[", says='pattern "day["')
    expect(tools, 2, "--files-from", "-", "--blocks-from", "-", listed="all.nmb", says="cannot both read from standard input")
    expect(tools, 2, *one, "-0", says="-0 needs --blocks-from or --files-from")


def check_conditions(tools):
    one = ["all.nmb", "--block-name", "{group}"]
    expect(tools, ["day3", "day4", "day5"], *inputs()[:FILES], "--where", "run == 1")
    expect(tools, ["day3"], *one, "--where", "v.min >= 3 && run == 1", "--exclude", "day[45]")
    expect(tools, ["day5"], *one, "--where", "run == 1", "--shard", "3/3", "--exclude", "groups/**")
    expect(tools, 2, *one, "--where", "run = 1", says="expression: at 4")
    expect(tools, 2, *one, "--where", " ", says="expression: at 1")
    expect(tools, 2, *one, "--where", "year == 1", says="no block has the tag or attribute year; nothing was written")
    expect(tools, ["day1", "groups", "groups/g1"], *inputs(), "--where", "v.min == 1")
    expect(tools, 2, *inputs(), "--where", "nosuch.min == 1", says="no block has the statistic nosuch.min; nothing was written")
    expect(tools, 2, *one, "--where", "any(nosuch == 1)", says="no block has the numeric variable for any(nosuch == 1); nothing was written")
    expect(tools, 2, *one, "--where", "run == 77", says="no block was chosen; nothing was written")
    expect(tools, ["all/day2", "all/groups", "all/groups/g2"], "all.nmb", "day0.nc", "--where", "v.min == 2")
    for shard in ("0/3", "4/3", "1", "1/", "1/x", "/2", "-1/2", "1/2/3"):
        expect(tools, 2, *one, "--shard", shard, says=f"found --shard {shard}, expected K/N with K from 1 to N")
    for option in (["--shard", "1/2"], ["--where", "run == 1"], ["--exclude", "x"]):
        expect(tools, 2, "all.nmb", "day0.nc", *option, "--mode", "union", says=f"{option[0]} needs a single input in modes other than pack")
        expect(tools, 2, *one[:1], *option, "--split-names", "(x)", says=f"{option[0]} and --split-names exclude each other")


def check_shards(tools):
    """The parts have no block in common and have all blocks; each is the same by all kinds of ranks."""
    whole = blocks(tools, "all.nmb")
    for names, count in ((["all.nmb", "--block-name", "{group}"], 3), (inputs(), 4)):
        found = []
        for shard in range(1, count + 1):
            tools.run("nmcat", *names, "-o", "part.nmb", "--shard", f"{shard}/{count}", "-f", "-j1")
            part = blocks(tools, "part.nmb")
            expected = whole[shard - 1::count]
            # The root group comes with its dimension wherever a group uses it.
            tools.check(set(part) - set(expected) <= {"groups"} and set(expected) <= set(part), f"{shard}/{count}: {part}")
            found += [name for name in part if name in expected]
        tools.check(sorted(found) == whole, f"{count} parts have {found}")
    for name, day in (("first", "day2.nc"), ("second", "day3.nc")):
        tools.run("nmcat", day, "-o", f"{name}.nmb", "--block-name", name)
    for launcher in launchers(tools):
        for options in (["--shard", "2/3"], ["--where", "run > 0", "--exclude", "day2"], ["--where", "nosuch == 0"],
                        ["--shard", "1/2", "--where", "run < 2", "--no-originals"]):
            check_same(tools, launcher, *inputs(), *options)
        check_same(tools, launcher, *inputs(), "all.nmb", "--shard", "2/5")
        # The ranks count the blocks of all their inputs before they read the first one, which has no provenance.
        check_same(tools, launcher, "day0.nc", "first.nmb", "day1.nc", "second.nmb", "--shard", "1/2")
        (tools.work / "list").write_text("day1\nday6\ng4\ng1/below\n")
        check_same(tools, launcher, *inputs(), "--blocks-from", "list")
        (tools.work / "list").write_text("day1\nday7\n")
        check_same(tools, launcher, *inputs(), "--blocks-from", "list")
        done = nmcat(tools, launcher, *inputs(), "-o", "out.nmb", "--blocks-from", "-", listed="day1\ng4\n")
        tools.check(done.returncode == 0 and blocks(tools) == ["day1", "groups", "groups/g4"], f"{launcher}: {done.stderr}")
        (tools.work / "out.nmb").unlink()


def check_groups(tools):
    """A chosen group has the dimensions of groups above it, whose other variables do not come. Links and references to
    what does not come are left out."""
    try:
        import h5py
    except ImportError:
        raise Skip("no Python module h5py") from None
    netcdf = netcdf4()
    for names in (["all.nmb", "--block-name", "{group}"], ["groups.nc"], ["all.nmb"]):
        for output in ("some.nc4", "some.nmb"):
            tools.run("nmcat", *names, "-o", output, "--where", "run == 3", "--exclude", "day*", "-f")
        for path in ("some.nc4", "from.nc4"):
            if path == "from.nc4":
                tools.run("nmconvert", "some.nmb", path, "-f")
            with netcdf.Dataset(tools.work / path) as file:
                above = file["all"] if "all" in file.groups else file
                root = above["groups"]
                tools.check(list(root.groups) == ["g3"] and list(root.variables) == ["x"] and root.run == 9, f"{names}: {file}")
                v = root["g3"]["v"]
                tools.check(v.dimensions == ("x",) and (v[:] == 3).all() and (root["x"][:] == range(400)).all(), f"{names}: {v}")
        tools.run("nmverify", "some.nmb")
    with h5py.File(tools.work / "links.h5", "w") as file:
        target = file.create_dataset("b/target", data=[1.0, 2.0])
        near = file.create_dataset("a/near", data=[3.0])
        to = file.create_dataset("a/to", (2,), dtype=h5py.ref_dtype)
        to[0], to[1] = target.ref, near.ref
        file["a/soft"] = h5py.SoftLink("/b/target")
    tools.run("nmcat", "links.h5", "-o", "links.nmb", "--no-originals")
    for names in (["links.h5", "--no-originals"], ["links.nmb"], ["links.nmb", "--block-name", "{group}"]):
        done = nmcat(tools, [], *names, "-o", "a.nmb", "-f", "--exclude", "b", "--exclude", "**/b")
        said = "left out because the referenced objects are not chosen: link \"soft\", references of variable \"to\""
        tools.check(done.returncode == 0 and said in done.stderr, f"{names}: {done.stderr}")
        tools.run("nmconvert", "a.nmb", "a.h5", "-f")
        with h5py.File(tools.work / "a.h5") as file:
            above = file["links/links" if "links/links" in file else "links"]
            to = above["a/to"]
            tools.check(list(above) == ["a"] and list(above["a"]) == ["near", "to"] and not to[0]
                        and file[to[1]].name == above["a/near"].name, f"{names}: {list(above['a'])}")
    done = nmcat(tools, [], "groups.nc", "-o", "view.nmb", "--blocks-from", "-", "--hdf5-view", "on", listed="g1/below\n")
    tools.check(done.returncode == 0 and blocks(tools, "view.nmb") == ["groups", "groups/g1/below"], f"view: {done.stderr}")
    with netcdf.Dataset(tools.work / "view.nmb") as file:
        tools.check((file["groups/g1/below/w"][:] == 8).all(), "view: other values")
    os.unlink(tools.work / "view.nmb")
    tools.run("nmcat", "groups.nc", "-o", "link.nmb", "--link", "--exclude", "/", "--exclude", "g[0-2]**")
    tools.run("nmverify", "link.nmb")
    tools.check(blocks(tools, "link.nmb") == ["groups", "groups/g3", "groups/g4"], "--link")


def check_originals(tools):
    """An original comes if all its blocks come."""
    def originals(*arguments):
        done = nmcat(tools, [], *arguments, "-o", "kept.nmb", "-f", "--json")
        tools.check(done.returncode == 0, f"{arguments}: {done.stderr}")
        tools.run("nmverify", "kept.nmb")
        return [one["file"] for one in json.loads(done.stdout)["originals"]], "stores no original of 1 HDF5 file" in done.stderr
    for names in (["all.nmb", "--block-name", "{group}"], inputs()):
        tools.check(originals(*names, "--exclude", "day*") == (["groups.nc"], False), f"{names}: all blocks of the original")
        tools.check(originals(*names, "--exclude", "**g1/below") == ([], True), f"{names}: some blocks of the original")
        tools.check(originals(*names, "--where", "run < 2", "--exclude", "**g*") == ([], False), f"{names}: no block of it")
    tools.run("nmcat", "all.nmb", "-o", "kept.nmb", "-f", "--block-name", "{group}", "--exclude", "day*")
    tools.run("nmconvert", "kept.nmb", "--original", "groups", "-o", "back.nc")
    tools.check_equal_bytes(tools.work / "back.nc", tools.work / "groups.nc", "the original")


def check_reads(tools):
    """Blocks that are not chosen are not read: the result is the same if they are damaged. Attributes need definitions."""
    path = tools.work / "days.nmb"
    tools.run("nmcat", *inputs()[:FILES], "-o", path.name, "--stats", "basic", "--inline", "0", "--metadata-codec", "none")
    whole = path.read_bytes()
    rows = json.loads(tools.run("nminspect", "ls", "--json", path.name).stdout)["blocks"]
    without_values, damaged = bytearray(whole), bytearray(whole)
    for row in rows[:5] + rows[6:]:
        values = struct.pack(">d", float(row["name"][3:])) * 1000
        tools.check(row["values"] == len(values) and (row["name"] == "day0" or whole.count(values) == 1), f"{row}")
        for file in (without_values, damaged):
            at = whole.rfind(values)
            file[at:at + len(values)] = bytes([66]) * len(values)
        begin, end = row["position"], row["position"] + row["header_stored"]
        damaged[begin:end] = bytes([66]) * (end - begin)
    (tools.work / "list").write_text("day5\n")
    for options, bytes_ in ((["--blocks-from", "list"], damaged), (["--exclude", "day[!5]"], damaged),
                            (["--where", "v.min == 5"], damaged), (["--shard", "6/7"], damaged),
                            (["--where", "run == 1", "--exclude", "day[34]"], without_values)):
        path.write_bytes(whole)
        tools.run("nmcat", path.name, "-o", "want.nmb", *options, "-f")
        path.write_bytes(bytes_)
        tools.run("nmcat", path.name, "-o", "out.nmb", *options, "-f")
        tools.check_equal_bytes(tools.work / "out.nmb", tools.work / "want.nmb", f"{options}")
        tools.check(blocks(tools) == ["day5"], f"{options}: {blocks(tools)}")
    tools.run("nmcat", path.name, "-o", "no.nmb", "--exclude", "day5", exit_code=1)
    (tools.work / "out.nmb").unlink()


def check_runs(tools):
    one = ["all.nmb", "--block-name", "{group}"]
    tools.run("nmcat", "day6.nc", "-o", "grown.nmb")
    tools.run("nmcat", *one, "-o", "grown.nmb", "--append", "--shard", "1/4", "--exclude", "groups**")
    tools.check(blocks(tools, "grown.nmb") == ["day0", "day4", "day6"], f"--append: {blocks(tools, 'grown.nmb')}")
    (tools.work / "list").write_text("day5\nday1\n")
    done = nmcat(tools, [], *one, "-o", "dry.nmb", "--blocks-from", "list", "--dry-run", "--json")
    told = json.loads(done.stdout)
    tools.check(told["blocks"] == 2 and told["not_chosen"] == FILES + GROUPS, f"--dry-run: {told}")
    tools.run("nmcat", *one, "-o", "day.nmb", "--blocks-from", "list", "--resume")
    (told,) = json.loads(tools.run("nminspect", "provenance", "day.nmb").stdout)["runs"]
    tools.check(told["options"]["blocks-from"].startswith("2 names, SHA-256 "), f"provenance: {told['options']}")
    done = nmcat(tools, [], *one, "-o", "list", "--blocks-from", "list", "-f", "--to", "nmb")
    tools.check(done.returncode == 2 and "is also the list of blocks" in done.stderr, f"list as output: {done.stderr}")
    # Statistics of chosen blocks stay.
    tools.check(b"day1/v\t" in tools.run("nminspect", "stats", "day.nmb").stdout, "no statistics")
    for name in ("day1", "day5"):
        tools.run("nmconvert", "day.nmb", "back.nc", "--extract", name, "-f")
        tools.check_equal_bytes(tools.work / "back.nc", tools.work / f"{name}.nc", name)


def test(tools):
    make(tools)
    check_names(tools)
    check_conditions(tools)
    check_shards(tools)
    check_groups(tools)
    check_originals(tools)
    check_reads(tools)
    check_runs(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
