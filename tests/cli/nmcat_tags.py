#!/usr/bin/python3
"""nmcat --tag: which blocks get which values, which errors there are, and that the file is the same by threads and as an
MPI job. tests/interop/selection_test.py compares random conditions on tags with numpy.

    nmcat_tags.py --tools FOLDER
"""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import check_same, launchers, nmcat  # noqa: E402
from tool_runs import main, netcdf4  # noqa: E402

REFERENCE = Path(__file__).resolve().parents[2] / "spec" / "reference" / "nmb_reference.py"
SPLIT = ["--split-names", "^_grp_(r([0-9]+)_sr[0-9]+_evt([0-9]+))(_x)?_"]
SAMPLES = [(run, event) for run in (3, 40) for event in range(5)]
# Names of files, and the value of a tag made from them.
TEXTS = {"12": 12, "-7": -7, "007": 7, "-0": 0, "9223372036854775808": 9223372036854775808,
         "18446744073709551616": "18446744073709551616", "-9223372036854775809": "-9223372036854775809",
         "1.5": 1.5, "4.0": 4.0, "-.5e2": -50.0, "1e400": "1e400", "nan": "nan", "inf": "inf", "+5": "+5",
         "0x10": "0x10", "1 ": "1 ", "-": "-", "--1": "--1", "1,5": "1,5", "Zürich": "Zürich", "evt_8": "evt_8"}


def make(tools):
    netcdf = netcdf4()
    for part in range(2):
        with netcdf.Dataset(tools.work / f"part{part}.nc", "w", format="NETCDF3_64BIT_DATA") as file:
            file.title = f"of part {part}"
            file.createDimension("n", 3)
            for run, event in SAMPLES[part::2]:
                for key in ("x", "y"):
                    file.createVariable(f"_grp_r{run}_sr1_evt{event}_{key}", "f4", ("n",))[:] = event
    for number in range(6):
        with netcdf.Dataset(tools.work / f"day{number}.nc", "w", format="NETCDF3_64BIT_DATA") as file:
            file.run = number // 2
            file.site = ["north", "south"][number % 2]
            file.level = 850.5 + number
            file.setncattr("mask", file_mask(number))
            file.pair = [1, number]
            if number != 4:
                file.note = "x"
            file.createDimension("time", None)
            file.createVariable("v", "f8", ("time",))[:] = [number]
    with netcdf.Dataset(tools.work / "groups.nc", "w") as file:
        file.createDimension("x", 3)
        for number in range(3):
            group = file.createGroup(f"r{number}").createGroup("raw")
            group.run = number
            group.createVariable("v", "f8", ("x",))[:] = number


def file_mask(number):
    import numpy

    return numpy.uint64((1 << 64) - 1 - number)


DAYS = [f"day{number}.nc" for number in range(6)]


def tags(tools, path="out.nmb"):
    """{block: {tag: value}} of blocks that have tags."""
    rows = json.loads(tools.run("nminspect", "ls", "--tags", "--json", path).stdout)["blocks"]
    return {row["name"]: row["tags"] for row in rows if row["tags"]}


def expect(tools, expected, *arguments, says="", keep=False):
    """The tags of a merge, or its exit code; and what it says on standard error."""
    done = nmcat(tools, [], *arguments, "-o", "out.nmb")
    what = " ".join(map(str, arguments))
    path = tools.work / "out.nmb"
    tools.check(says in done.stderr if says else not done.stderr, f"{what}: found {done.stderr}, expected {says!r}")
    if isinstance(expected, int):
        tools.check(done.returncode == expected and not path.exists(), f"{what}: exit code {done.returncode}")
        return
    tools.check(done.returncode == 0, f"{what}: exit code {done.returncode}: {done.stderr}")
    if done.returncode != 0:
        return
    found = tags(tools)
    tools.check(found == expected and [*map(repr, flat(found))] == [*map(repr, flat(expected))],
                f"{what}: found {found}, expected {expected}")
    tools.run("nmverify", "out.nmb")
    if not keep:
        path.unlink()


def flat(tags_):
    """All values, in an order of names: 4 and 4.0 are equal, but not their texts."""
    return [value for _, of_block in sorted(tags_.items()) for _, value in sorted(of_block.items())]


def find(tools, expression, *more, path="out.nmb"):
    return tools.run("nminspect", "find", path, expression, *more).stdout.decode().split()


def check_captures(tools):
    files = ["part0.nc", "part1.nc"]
    expected = {f"part{i % 2}/r{run}_sr1_evt{event}":
                {"run": run, "id": f"{event}", "name": f"r{run}_sr1_evt{event}@part{i % 2}", "title": f"of part {i % 2}"}
                for i, (run, event) in enumerate(SAMPLES)}
    rules = ["--tag", "run={2}", "--tag", "id:text={3}", "--tag", "name={1}@{stem}", "--tag", "title=@title"]
    expect(tools, expected, *files, *SPLIT, *rules, keep=True)
    tools.check(find(tools, "run == 40 && id > '2'") == ["part0/r40_sr1_evt3", "part1/r40_sr1_evt4"], "find")
    tools.run("nmcat", "out.nmb", "-o", "some.nmb", "--where", "run == 3 && name == 'r3_sr1_evt2@part0'")
    tools.check(list(tags(tools, "some.nmb")) == ["part0/r3_sr1_evt2"], f"--where: {tags(tools, 'some.nmb')}")
    (tools.work / "out.nmb").unlink()
    # The part that all variables of a block must have.
    expect(tools, 1, *files, "--split-names", "^_grp_(r[0-9]+_sr1_evt[0-9]+)_(?=(x|y))",
           "--tag", "key={2}", says="variables whose names have different texts for {2}")
    # No variable has this capture.
    expect(tools, 2, *files, *SPLIT, "--tag", "none={4}", says="no input has a block whose name has the captures")
    # Names of blocks.
    blocks = {f"groups/r{n}/raw": {"run": n, "of": f"groups.nc 6 r{n}/raw"} for n in range(3)}
    named = ["--tag", "run={1}", "--tag-names", "/r([0-9]+)/raw$"]
    others = {f"day{n}": {"of": f"day{n}.nc {n} "} for n in range(6)} | {"groups": {"of": "groups.nc 6 "}}
    expect(tools, {**blocks, **others}, *DAYS, "groups.nc", *named, "--tag", "of={path} {index} {group}",
           "--hdf5-view", "off", says="nmcat: out.nmb: 7 blocks have no tag run, because each name lacks the captures of {1}\n")
    expect(tools, 1, *DAYS, "groups.nc", *named, "--strict",
           says='tag day0@run: found a name without the captures of the tag, expected a name that has them: day0.nc')
    for mode in ("union", "join"):
        expect(tools, {"": {"group": ""}, **{f"r{n}/raw": {"run": n, "group": f"r{n}/raw"} for n in range(3)}}, "groups.nc", "groups.nc",
               "--mode", mode, "--tag", "run={1}", "--tag-names", "r([0-9]+)", "--tag", "group={group}",
               *(["--along", "x"] if mode == "join" else []), says="the same file as the input groups.nc")


def check_types(tools):
    day = (tools.work / "day0.nc").read_bytes()
    for name in TEXTS:
        (tools.work / f"{name}.nc").write_bytes(day)
    files = [f"./{name}.nc" for name in TEXTS]
    expect(tools, {name: {"v": value, "t": name} for name, value in TEXTS.items()}, *files, "--tag", "v={stem}",
           "--tag", "t:text={stem}", keep=True)
    tools.check(b"the expression compares a number with text there" in
                tools.run("nminspect", "find", "out.nmb", "v == 1").stderr, "find of both")
    (tools.work / "out.nmb").unlink()


def check_attributes(tools):
    expected = {f"day{n}": {"r": n // 2, "place": ["north", "south"][n % 2], "level": 850.5 + n,
                            "mask": (1 << 64) - 1 - n} for n in range(6)}
    rules = ["--tag", "r=@run", "--tag", "place=@site", "--tag", "level=@level", "--tag", "mask=@mask"]
    expect(tools, expected, *DAYS, *rules, keep=True)
    tools.check(find(tools, "r == 1 || mask == 18446744073709551615") == ["day0", "day2", "day3"], "find")
    tools.check(find(tools, "r == 1", "*2") == ["day2"], "find with a pattern")
    (tools.work / "out.nmb").unlink()
    expect(tools, {f"day{n}": {"n": "x"} for n in range(6) if n != 4}, *DAYS, "--tag", "n=@note",
           says="nmcat: out.nmb: 1 block has no tag n, because it has no global attribute note\n")
    expect(tools, 1, *DAYS, "--tag", "n=@note", "--strict",
           says='tag day4@n: found no attribute "note", expected the attribute: day4.nc')
    expect(tools, 1, *DAYS, "--tag", "p=@pair",
           says='tag day0@p: found 2 values of type int64 in attribute "pair", expected text or one number')
    expect(tools, 2, *DAYS, "--tag", "n=@nosuch", says='no input has the global attribute "nosuch" for tag "n"')
    expect(tools, {f"day{n}": {"n": "@note"} for n in range(6)}, *DAYS, "--tag", "n:text=@note")
    joined = nmcat(tools, [], *DAYS[:2], "--mode", "join", "-o", "out.nmb", "--tag", "r=@run", "--tag", "n=a b")
    tools.check(joined.returncode == 0 and tags(tools) == {"": {"r": 0, "n": "a b"}}, f"join: {joined.stderr}")
    (tools.work / "out.nmb").unlink()


def check_copies(tools):
    """Tags of a block stay in a copy; new tags replace tags of the same name."""
    tools.run("nmcat", *DAYS, "-o", "first.nmb", "--tag", "run=@run", "--tag", "site=@site")
    site = {n: ["north", "south"][n % 2] for n in range(6)}
    expect(tools, {f"day{n}": {"run": f"r{n}", "site": site[n], "new": n} for n in range(6)}, "first.nmb",
           "--block-name", "{group}", "--tag", "run=r{1}", "--tag", "new={1}", "--tag-names", "([0-9])$",
           says="nmcat: --tag replaced 6 tags of the inputs\n", keep=True)
    # Blocks of the output keep their tags, blocks that are replaced do not.
    tools.run("nmcat", DAYS[0], "groups.nc", "-o", "out.nmb", "--append", "--replace", "--tag", "new=added")
    expected = {f"day{n}": {"run": f"r{n}", "site": site[n], "new": n} for n in range(1, 6)}
    expected |= {"day0": {"new": "added"}, "groups": {"new": "added"},
                 **{f"groups/r{n}/raw": {"new": "added"} for n in range(3)}}
    tools.check(tags(tools) == expected, f"--append: found {tags(tools)}")
    tools.check(find(tools, "new == 'added'", "g*/**")[0] == "groups/r0/raw", "find after --append")
    tools.check(find(tools, "site == 'south'") == ["day1", "day3", "day5"], "find after --append")
    tools.run("nmconvert", "--repack", "out.nmb", "again.nmb")
    tools.check(tags(tools, "again.nmb") == expected, "--repack")
    tools.run("nmverify", "out.nmb", "again.nmb")
    for path in ("out.nmb", "again.nmb"):
        done = subprocess.run([sys.executable, REFERENCE, "--findings", tools.work / path], capture_output=True, text=True)
        tools.check(done.returncode == 0 and not done.stdout, f"{path}: the reference reader says {done.stdout}")
    (tools.work / "out.nmb").unlink()
    # An output that cannot hold tags says so.
    done = tools.run("nmconvert", "first.nmb", "first.h5")
    tools.check(b"the output has no place for 12 tags of 6 blocks" in done.stderr, f"{done.stderr}")


def check_refused(tools):
    for rule, says in (("run", 'found "run" as the rule of a tag'), ("=x", 'found "=x"'), (":text=x", 'found ":text=x"'),
                       ("run=@", 'found "run=@"'), ("run={x}", 'found "{x}" in template "{x}"'),
                       ("run={0}", 'found "{0}"'), ("run={", 'found "{"'), ("run={1}", "{1} is a capture and needs")):
        expect(tools, 2, *DAYS, "--tag", rule, says=says)
    expect(tools, 2, *DAYS, "--tag", "a=1", "--tag", "a=2", says='found 2 rules for tag "a", expected one')
    expect(tools, 2, *DAYS, "--tag", "a={2}", "--tag-names", "day(.)", says="the expression has only 1 capture")
    expect(tools, 2, *DAYS, "--tag-names", "day(.)", says="--tag-names needs --tag")
    expect(tools, 2, *DAYS, "--tag", "a=1", "--tag-names", "day(", says="invalid regular expression")
    expect(tools, 2, "part0.nc", *SPLIT, "--tag", "a={9}", says="found {9}, but the expression has only 4 captures")
    expect(tools, 2, *DAYS, "--mode", "join", "--tag", "a={stem}", says="{stem}, {path} and {index} need --mode pack")
    expect(tools, 2, "part0.nc", "part1.nc", *SPLIT, "--mode", "union", "--tag", "a={1}", says="{1} is a capture and needs")
    for kind in ("nc4", "hdf5"):
        expect(tools, 2, *DAYS, "--to", kind, "--tag", "a=1", says=f"--tag needs an output of kind nmb; OUT is {kind}")
    bad = nmcat(tools, [], "day0.nc", "-o", "out.nmb", "--tag", b"a=\xff")
    tools.check(bad.returncode == 1 and "expected UTF-8 without NUL" in bad.stderr, f"not UTF-8: {bad.stderr}")


def check_runs(tools):
    rules = ["--tag", "run={2}", "--tag", "title=@title", "--tag", "file={stem}"]
    options = ["part0.nc", "part1.nc", *SPLIT, *rules]
    plan = nmcat(tools, [], *options, "-o", "out.nmb", "--dry-run", "--json")
    tools.run("nmcat", *options, "-o", "out.nmb")
    size = (tools.work / "out.nmb").stat().st_size
    tools.check(json.loads(plan.stdout)["bytes_out"] == size, f"--dry-run: {plan.stdout}")
    (run,) = json.loads(tools.run("nminspect", "provenance", "out.nmb").stdout)["runs"]
    tools.check(run["options"]["tag"] == ["run={2}", "title=@title", "file={stem}"], f"provenance: {run['options']}")
    told = json.loads(nmcat(tools, [], *DAYS, "-o", "out.nmb", "-f", "--tag", "n=@note", "--json").stdout)
    tools.check(told["without_tag"] == {"n": 1} and told["replaced_tags"] == 0, f"{told}")
    # The order of the rows in the file does not depend on the ranks.
    for launcher in launchers(tools):
        check_same(tools, launcher, *options)
        check_same(tools, launcher, *DAYS, "--tag", "n=@note", "--tag", "i={index}")
        check_same(tools, launcher, *DAYS, "--tag", "n=@pair")
        check_same(tools, launcher, *DAYS, "--tag", "n=@nosuch")
        check_same(tools, launcher, *DAYS, "--mode", "join", "--tag", "n=@note")


def check_reads(tools):
    """A query on one tag reads the rows of this tag and the orders in the index, not the index: at most 20 bytes a block,
    and the leaves of the blocks that it lists."""
    count = 4000
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "2", "--samples", str(count), "--sparse")
    files = sorted((tools.work / "graphs").iterdir())
    tools.run("nmcat", *files, "-o", "out.nmb", "-f", "--split-names", "^_grp_(r([0-9]+)_sr[0-9]+_evt([0-9]+))_",
              "--block-name", "{group}", "--tag", "event={3}", "--tag", "other=x{2}")
    listed = tools.run("nminspect", "ls", "out.nmb", "--io-stats")
    names = {name: int(name.rpartition("evt")[2]) for name in listed.stdout.decode().split()}
    tools.check(len(names) == count, f"{len(names)} blocks")
    events = sorted(names.values())
    for expression, holds in ((f"event == {events[7]}", lambda e: e == events[7]),
                              (f"event == {events[9]} || {events[-1]} <= event", lambda e: e in (events[9], events[-1])),
                              (f"!(event >= {events[5]})", lambda e: e < events[5]), ("event < 0", lambda e: False)):
        done = tools.run("nminspect", "find", "out.nmb", expression, "--io-stats")
        found = done.stdout.decode().split()
        expected = [name for name, event in names.items() if holds(event)]
        tools.check(found == expected, f"{expression}: found {found}, expected {expected}")
        read, most = bytes_read(done.stderr), 25000 + 20 * count + 8000 * len(expected)
        tools.check(read <= most, f"{expression}: {read} bytes read, expected at most {most}")
        tools.check(read < bytes_read(listed.stderr), f"{expression}: {read} bytes, as many as the index")


def bytes_read(said):
    return int(re.search(rb"bytes (\d+)", said)[1])


def test(tools):
    make(tools)
    check_captures(tools)
    check_types(tools)
    check_attributes(tools)
    check_copies(tools)
    check_refused(tools)
    check_runs(tools)
    check_reads(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
