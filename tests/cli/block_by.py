#!/usr/bin/python3
"""nmconvert --block-by and --regroup, nmcat --split-names: every block holds the variables that the rule gives it, with
the values and attributes that netCDF-C reads in the source; for content that cannot be divided, a message names it and
nothing is written.

    block_by.py --tools FOLDER

The reference reader (spec/reference) reads the content of the blocks. Skipped (exit code 77) without netCDF-C's Python
module.
"""

import hashlib
import json
import os
import re
import subprocess
import shutil
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import launchers  # noqa: E402
from split_names import blocks_of  # noqa: E402
from tool_runs import ALL, main, netcdf4  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None  # netcdf4() skips


class Variable:
    """As it is in a file: names and lengths of its dimensions, big-endian values, attributes."""

    def __init__(self, dimensions, values, attributes):
        # One number is an array too: else its bytes have no order.
        self.dimensions, self.values, self.attributes = dimensions, numpy.asarray(values), attributes

    def described(self):
        big = self.values.astype(self.values.dtype.newbyteorder(">")).tobytes()
        shape = list(zip(self.dimensions, self.values.shape))
        return shape, hashlib.sha256(big).hexdigest(), self.attributes


class Block:
    def __init__(self, attributes=(), variables=()):
        self.attributes, self.variables = dict(attributes), dict(variables)


def attributes_of(owner):
    def plain(value):
        return value if isinstance(value, str) else [v.item() for v in numpy.ravel(value)]

    return {name: plain(owner.getncattr(name)) for name in owner.ncattrs()}


def read(netcdf, path):
    """The groups of a file by path, as blocks."""
    out = {}

    def add(group, name):
        block = out[name] = Block(attributes_of(group))
        for variable in group.variables.values():
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            block.variables[variable.name] = Variable(variable.dimensions, variable[...], attributes_of(variable))
        for child in group.groups.values():
            add(child, f"{name}/{child.name}".lstrip("/"))

    with netcdf.Dataset(path) as file:
        add(file, "")
    return out


def below(parent, group):
    return f"{parent}/{group}".strip("/")


def divided(blocks, place_of):
    """place_of(variables, name): [(group or None, new name, variable)]. Blocks that lose all they have go."""
    out = {}
    for path, block in blocks.items():
        stays = out[path] = Block(block.attributes)
        for name in block.variables:
            for group, new, variable in place_of(block.variables, name):
                part = stays if group is None else out.setdefault(below(path, group), Block())
                part.variables[new] = variable
        if not stays.attributes and not stays.variables and block.variables:
            del out[path]
    return out


def by_prefix(expression):
    def place(variables, name):
        v, match = variables[name], re.match(expression, name)
        if not match:
            return [(None, name, v)]
        dimensions = [re.sub(expression, "", d) for d in v.dimensions]
        return [(match[1], name[match.end() :], Variable(dimensions, v.values, v.attributes))]

    return place


def by_count(count):
    def place(variables, name):
        last = len(variables) // count - 1
        return [(str(list(variables).index(name) // count).zfill(len(str(last))), name, variables[name])]

    return place


def by_dimension(dimension):
    def place(variables, name):
        v = variables[name]
        if dimension not in v.dimensions:
            return [(None, name, v)]
        length = v.values.shape[0]
        return [
            (f"{dimension}/{str(i).zfill(len(str(length - 1)))}", name,
             Variable(v.dimensions[1:], v.values[i], v.attributes))
            for i in range(length)
        ]

    return place


def by_key(attribute):
    def place(variables, name):
        value = variables[name].attributes.get(attribute)
        if isinstance(value, list):
            value = ",".join(map(str, value))
        return [(value, name, variables[name])]

    return place


def check_blocks(tools, path, expected, what):
    found = blocks_of(path)
    tools.check(sorted(found) == sorted(expected), f"{what}: found blocks {sorted(found)}, expected {sorted(expected)}")
    plain = lambda owner: {a["name"]: a["values"] for a in owner["attributes"]}  # noqa: E731
    for name in sorted(set(found) & set(expected)):
        block = found[name]
        if "types" in block:
            continue  # as it came from HDF5
        where = f"{what}: block {name!r}"
        tools.check(plain(block) == expected[name].attributes, f"{where}: found attributes {plain(block)}")
        variables = {v["name"]: v for v in block["variables"]}
        tools.check(list(variables) == list(expected[name].variables), f"{where}: found variables {list(variables)}")
        for v in set(variables) & set(expected[name].variables):
            one = variables[v]
            got = (list(zip(one["dimensions"], one["shape"])), one["sha256"], plain(one))
            tools.check(got == expected[name].variables[v].described(), f"{where}: {v}: found {got}")


def convert(tools, source, rule, **options):
    option = "--regroup" if rule.startswith(("dim:", "key:")) else "--block-by"
    return tools.run("nmconvert", source, "out.nmb", option, rule, "-f", *options.pop("more", ()), **options)


def check_rule(tools, source, rule, expected):
    """Values, soundness, and the same bytes whoever moves the values."""
    what = f"{source} by {rule}"
    convert(tools, source, rule, more=("-j1",))
    if not (tools.work / "out.nmb").exists():
        return
    check_blocks(tools, tools.work / "out.nmb", expected, what)
    tools.run("nmverify", "out.nmb")
    alone = (tools.work / "out.nmb").read_bytes()
    option = "--regroup" if rule.startswith(("dim:", "key:")) else "--block-by"
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               ASAN_OPTIONS="detect_leaks=0")
    # Starting the processes of an MPI job takes most of the time.
    for launcher in launchers(tools) if ALL or rule in ("vars:2", "one") else [[]]:
        command = [*launcher, tools.folder / "nmconvert", source, "many.nmb", option, rule, "-f",
                   *([] if launcher else ["-j3"])]
        done = subprocess.run(command, cwd=tools.work, env=env, capture_output=True, text=True, timeout=120)
        tools.check(done.returncode == 0, f"{what}: {launcher}: {done.stderr}")
        tools.check((tools.work / "many.nmb").read_bytes() == alone, f"{what}: {launcher}: other bytes")
    convert(tools, source, rule, more=("--compress", "zstd", "--inline", "0"))
    check_blocks(tools, tools.work / "out.nmb", expected, f"{what}, compressed")
    (tools.work / "out.nmb").unlink()


def write_classic(netcdf, path, kind):
    def fill(variable):
        shape = variable.shape if "time" not in variable.dimensions else (12, *variable.shape[1:])
        count = int(numpy.prod(shape))
        # More than a piece of values in all.
        variable[...] = (numpy.arange(count) % 113 + len(variable.name)).reshape(shape).astype(variable.dtype)

    with netcdf.Dataset(path, "w", format=kind) as file:
        file.history = "made"
        file.numbers = numpy.array([1.5, 2.5], "f4")
        file.createDimension("time", None)
        file.createDimension("y", 11)
        file.createDimension("x", 3001)
        for name, type, dimensions, source in (
            ("sea_t", "f4", ("time", "x"), "sea"), ("sea_flag", "i1", ("time",), "sea"), ("y", "i2", ("y",), None),
            ("air_t", "f8", ("y", "x"), "air"), ("air_n", "i4", (), numpy.array([7, -1], "i2")),
            ("plain", "S1", ("x",), None),
        ):
            variable = file.createVariable(name, type, dimensions)
            variable.units = f"of {name}"
            if source is not None:
                variable.source = source
            if type == "S1":
                variable[...] = numpy.frombuffer(b"abc" * 1000 + b"d", "S1")
            else:
                fill(variable)


RULES = (
    ("prefix:^(sea|air)_", by_prefix("^(sea|air)_")),
    ("vars:2", by_count(2)),
    ("vars:1", by_count(1)),
    ("dim:time", by_dimension("time")),
    ("dim:y", by_dimension("y")),
    ("key:source", by_key("source")),
)


def check_classic(tools, netcdf):
    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"):
        source = f"{kind}.nc"
        write_classic(netcdf, tools.work / source, kind)
        blocks = read(netcdf, tools.work / source)
        for rule, place in RULES:
            check_rule(tools, source, rule, divided(blocks, place))
        # A file that is one block already comes back byte for byte.
        for rule in ("one", "group"):
            convert(tools, source, rule)
            tools.run("nmconvert", "out.nmb", "back.nc", "-f")
            tools.check_equal_bytes(tools.work / source, tools.work / "back.nc", f"{source} by {rule}")


def check_again(tools, netcdf):
    """Blocks of NMB files are divided, each by itself, and united again."""
    source = "NETCDF3_CLASSIC.nc"
    blocks = read(netcdf, tools.work / source)
    tools.run("nmcat", source, "NETCDF3_64BIT_DATA.nc", "-o", "two.nmb")
    two = {stem: blocks[""] for stem in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA")}
    for rule, place in RULES:
        check_rule(tools, "two.nmb", rule, divided(two, place))
    done = convert(tools, "two.nmb", "one", exit_code=1)
    tools.check(b"variable name sea_t: found a second object with this name in group /NETCDF3_CLASSIC, expected one object as in "
                b"/NETCDF3_64BIT_DATA: two.nmb" in done.stderr, f"one of two: {done.stderr}")
    tools.check(b"dimension" not in done.stderr and b"attribute" not in done.stderr, f"one of two: {done.stderr}")
    # Further groups with the same conflict are only counted.
    shutil.copy(tools.work / source, tools.work / "again.nc")
    tools.run("nmcat", source, "NETCDF3_64BIT_DATA.nc", "again.nc", "-o", "three.nmb")
    done = convert(tools, "three.nmb", "one", exit_code=1)
    tools.check(done.stderr.count(b"variable name sea_t: ") == 1 and b", and the same in 1 more group, expected" in done.stderr,
                f"one of three: {done.stderr}")
    convert(tools, source, "key:source")
    (tools.work / "out.nmb").rename(tools.work / "keyed.nmb")
    check_rule(tools, "keyed.nmb", "one", {"": united(divided(blocks, by_key("source")))})
    tools.run("nmcat", "two.nmb", "--split-names", "^(sea|air)_", "--unmatched=keep", "--block-name", "{group}", "-o",
              "cat.nmb")
    check_blocks(tools, tools.work / "cat.nmb", divided(two, by_prefix("^(sea|air)_")), "nmcat of NMB")


def united(blocks):
    out = Block()
    for name in sorted(blocks):
        out.attributes.update(blocks[name].attributes)
        out.variables.update(blocks[name].variables)
    return out


def write_groups(netcdf, path):
    """netCDF-4: dimensions that groups inherit, chunks, deflate, both orders of bytes, an attribute of groups."""
    with netcdf.Dataset(path, "w") as file:
        file.title = "groups"
        file.createDimension("time", None)
        file.createDimension("x", 40)
        time = file.createVariable("time", "f8", ("time",))
        time[:] = numpy.arange(30) / 4
        for name, region in (("north", 1), ("south", 2)):
            group = file.createGroup(name)
            group.region = numpy.int32(region)
            t = group.createVariable(f"{name}_t", "f4", ("time", "x"), zlib=True, chunksizes=(7, 11))
            t.units = "K"
            t[:] = numpy.arange(1200).reshape(30, 40) * region
            n = group.createVariable(f"{name}_n", ">i2", ("x",), endian="big")
            n[:] = numpy.arange(40) - region
            deep = group.createGroup("deep").createVariable(f"{name}_s", "i8", ())
            deep[...] = 1 << 40
            deep.kind = "scalar"


def check_groups(tools, netcdf):
    if not list((tools.folder.parent / "lib").rglob("nmb-hdf5")):
        print("without HDF5")
        return
    write_groups(netcdf, tools.work / "groups.nc")
    blocks = read(netcdf, tools.work / "groups.nc")
    tools.run("nmconvert", "groups.nc", "groups.nmb")
    for source in ("groups.nc", "groups.nmb"):
        for rule, place in (
            ("prefix:^(north|south)_", by_prefix("^(north|south)_")), ("vars:1", by_count(1)),
            ("dim:time", by_dimension("time")), ("key:units", by_key("units")),
        ):
            check_rule(tools, source, rule, divided(blocks, place))
        # Two groups disagree about an attribute.
        done = convert(tools, source, "one", exit_code=1)
        tools.check(b"attribute @region: found 2 in group /south, expected 1 as in /north" in done.stderr,
                    f"{source}: {done.stderr}")
        # A group's own attribute moves it whole.
        moved = {"": blocks[""], "1/north": blocks["north"], "2/south": blocks["south"],
                 "north/deep": blocks["north/deep"], "south/deep": blocks["south/deep"]}
        convert(tools, source, "key:region")
        found = blocks_of(tools.work / "out.nmb")
        tools.check(sorted(found) == sorted(moved), f"{source} by key:region: {sorted(found)}")
    with netcdf.Dataset(tools.work / "groups.nc", "a") as file:
        for group in file.groups.values():
            group.delncattr("region")
    check_rule(tools, "groups.nc", "one", {"": united(read(netcdf, tools.work / "groups.nc"))})
    check_nmcat_and_losses(tools, netcdf)


def check_nmcat_and_losses(tools, netcdf):
    tools.run("nmcat", "groups.nc", "--split-names", "^(north|south)_", "--unmatched=keep", "--block-name", "{group}",
              "-o", "cat4.nmb")
    blocks = read(netcdf, tools.work / "groups.nc")
    # The root stays as it is, with links to its groups.
    linked = {"north": Block(), "south": Block()}
    expected = linked | divided(blocks, by_prefix("^(north|south)_"))
    check_blocks(tools, tools.work / "cat4.nmb", expected, "nmcat of netCDF-4")
    done = tools.run("nmcat", "groups.nc", "--split-names", "^(north|south)_", "-o", "not.nmb", exit_code=1)
    tools.check(b"unmatched variable time: found" in done.stderr, f"unmatched: {done.stderr}")
    with netcdf.Dataset(tools.work / "lossy.nc", "w") as file:
        file.createDimension("x", 2)
        names = file.createVariable("g_a_names", str, ("x",))
        names[:] = numpy.array(["one", "two"], object)
        file.createGroup("fine").createVariable("g_a_v", "i4", ())[...] = 5
    done = convert(tools, "lossy.nc", "prefix:^g_([a-z])_", exit_code=1)
    tools.check(b'loss variable "g_a_names": found ' in done.stderr, f"losses: {done.stderr}")
    tools.check(not (tools.work / "out.nmb").exists(), "losses: a file is there")
    # A group that does not change loses nothing.
    convert(tools, "lossy.nc", "dim:nosuch", exit_code=1)
    with netcdf.Dataset(tools.work / "lossy.nc", "a") as file:
        file.renameVariable("g_a_names", "names")
    convert(tools, "lossy.nc", "prefix:^g_([a-z])_")
    found = blocks_of(tools.work / "out.nmb")
    tools.check(sorted(found) == ["", "fine", "fine/a"], f"a group of two: {sorted(found)}")


def check_wrong(tools, netcdf):
    """What is not to be done is said, and nothing is written."""
    source = "NETCDF3_CLASSIC.nc"
    with netcdf.Dataset(tools.work / "clash.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 3)
        file.createDimension("none", None)
        file.createVariable("g_a_v", "i4", ())
        file.createVariable("h_a_v", "i4", ("x",)).k = 1.5
        file.createVariable("w", "i4", ("none",))
    (tools.work / "out.nmb").unlink(missing_ok=True)
    for name, words, code, said in (
        (source, ("--block-by", "vars:4"), 1, "variables /: found 6 variables, expected a multiple of 4"),
        (source, ("--regroup", "dim:x"), 1, 'variable sea_t'),
        (source, ("--regroup", "dim:nosuch"), 1, "dimension nosuch: found no variable that has it"),
        (source, ("--regroup", "key:history"), 1, "attribute history: found no variable that has it"),
        ("clash.nc", ("--block-by", "prefix:^[gh]_([a-z])_"), 1, "variable name a/v: found two objects with this name"),
        ("clash.nc", ("--regroup", "key:k"), 1, "attribute value h_a_v@k: found floating point (double)"),
        ("clash.nc", ("--regroup", "dim:none"), 1, "dimension none: found length 0"),
        (source, ("--block-by", "prefix:^(nosuch)_"), 2, 'no input has a variable that the expression "^(nosuch)_" matches'),
        (source, ("--block-by", "prefix:("), 2, "missing closing parenthesis"),
        (source, ("--block-by", "prefix:abc"), 2, "without a capture"),
        (source, ("--block-by", "vars:0"), 2, "expected group, prefix:REGEX, vars:N"),
        (source, ("--block-by", "dim:time"), 2, "expected group, prefix:REGEX, vars:N or one"),
        (source, ("--regroup", "one"), 2, "expected dim:NAME or key:ATT"),
        (source, ("--block-by", "one", "--regroup", "dim:y"), 2, "--block-by and --regroup exclude each other"),
        (source, ("--regroup", "dim:y", "--extract", "a"), 2, "--extract and --regroup exclude each other"),
        (source, ("--regroup", "dim:y", "--to", "cdf5"), 2, "need an NMB output"),
    ):
        done = tools.run("nmconvert", name, "out.nmb", *words, exit_code=code)
        tools.check(said in done.stderr.decode(), f"{name} {words}: said {done.stderr.decode()!r}, expected {said!r}")
        tools.check(not (tools.work / "out.nmb").exists(), f"{name} {words}: a file is there")
    done = tools.run("nmconvert", "clash.nc", "out.nmb", "--regroup", "key:k", "--json", exit_code=1)
    record = json.loads(done.stdout)
    tools.check(record["block_by"] == "key:k" and len(record["conflicts"]) == 1, f"JSON: {record}")


def check_resume(tools):
    """A report proves what was done by the same rule alone."""
    (tools.work / "list").write_text("NETCDF3_CLASSIC.nc\n")
    command = ("nmconvert", "--files-from", "list", "--out-dir", "many", "--report", "report", "--jsonl")
    tools.run(*command, "--block-by", "vars:2")
    for words, status in ((("--block-by", "vars:2", "--resume"), "skipped"),
                          (("--block-by", "vars:1", "--resume", "-f"), "done")):
        done = tools.run(*command, *words)
        found = [json.loads(line)["status"] for line in done.stdout.splitlines()]
        tools.check(found == [status], f"{words}: {found}")


def test(tools):
    netcdf = netcdf4()
    check_classic(tools, netcdf)
    check_again(tools, netcdf)
    check_wrong(tools, netcdf)
    check_resume(tools)
    check_groups(tools, netcdf)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
