#!/usr/bin/python3
"""nmcat --where, --exclude, --blocks-from and --shard: random conditions choose the blocks that a scan of the source files
with numpy chooses, and the chosen blocks have the values of the sources. Tags that nmcat made from attributes and names take
part too.

    selection_test.py --tools FOLDER

NMB_ALL=1: 300 expressions, not 12.
"""

import copy
import json
import random
import re
import sys

import tool_runs
from tool_runs import ALL

import h5py
import netCDF4
import numpy

ROUNDS = 300 if ALL else 12
NUMBERS = ["i2", "i4", "f4", "f8"]
FILLS = {"i2": -32767, "i4": -2147483647, "f4": 9.969209968386869e36, "f8": 9.969209968386869e36}
SITES = ["north", "south", "Zürich", "a'b", ""]
GROUPS = 32  # with the other blocks, more than one leaf of the index
# Integers, doubles and text. The tag `weight` comes before the attribute.
TAGS = ["--tag", "r=@run", "--tag", "w=@weight", "--tag", "s=@site", "--tag-names", "([0-9])$", "--tag", "id={1}",
        "--tag", "label:text={1}", "--tag", "weight={1}.5"]
real = numpy.longdouble  # holds all numbers exactly, as nmcat does


class Block:
    """A block: its name in the merged file, attributes, and {name: (values, attributes, fill values)}."""

    def __init__(self, name):
        self.name, self.attributes, self.variables = name, {}, {}


def random_block(name, rng, types):
    block = Block(name)
    for key, value in (("run", numpy.int32(rng.randrange(6))), ("site", rng.choice(SITES)),
                       ("weight", numpy.float64(rng.choice([0.1, 1e300, -2.5, numpy.nan])))):
        if rng.random() < 0.8:
            block.attributes[key] = value
    for variable, type_ in types.items():
        if rng.random() < 0.2:
            continue
        values = numpy.array([rng.choice([-3, 0, 1, 7, 250]) + rng.randrange(3) for _ in range(6)], type_)
        attributes, missing = {}, [FILLS[type_]]
        if rng.random() < 0.5:
            attributes["_FillValue"] = values.dtype.type(-7)
            missing = [-7]
        if rng.random() < 0.3:
            attributes["missing_value"] = values.dtype.type(99)
            missing = [*missing, 99]
        for at in range(6):
            if rng.random() < 0.3:
                values[at] = rng.choice([*missing, 4] + ([numpy.nan, numpy.inf] if type_[0] == "f" else []))
        if rng.random() < 0.15:
            values[:] = missing[0]
        if rng.random() < 0.7:
            attributes["units"] = rng.choice(["K", "m", "m s-1"])
        if rng.random() < 0.5:
            attributes["level"] = numpy.float32(rng.choice([0.1, 850, 1e9]))
        block.variables[variable] = (values, attributes, missing)
    return block


def with_tags(block):
    """The block as an expression sees it in a file with TAGS: a name is a tag or else an attribute."""
    tagged = copy.copy(block)
    tagged.attributes = dict(block.attributes)
    for tag, attribute in (("r", "run"), ("w", "weight"), ("s", "site")):
        if attribute in block.attributes:
            tagged.attributes[tag] = block.attributes[attribute]
    if digit := re.search("([0-9])$", block.name):
        tagged.attributes |= {"id": int(digit[1]), "label": digit[1], "weight": numpy.float64(digit[1] + ".5")}
    return tagged


def write_netcdf(group, block):
    for name, value in block.attributes.items():
        group.setncattr(name, value)
    for name, (values, attributes, _) in block.variables.items():
        made = group.createVariable(name, values.dtype, ("x",), fill_value=attributes.get("_FillValue"))
        made.set_auto_maskandscale(False)
        for key, value in attributes.items():
            if key != "_FillValue":
                made.setncattr(key, value)
        made[:] = values


def write_hdf5(group, block):
    for name, value in block.attributes.items():
        group.attrs[name] = value
    for name, (values, attributes, missing) in block.variables.items():
        made = group.create_dataset(name, data=values, fillvalue=missing[0])
        for key, value in attributes.items():
            if key != "_FillValue":
                made.attrs[key] = value


def make_sources(folder, rng):
    """Classic, netCDF-4 and HDF5 files. Returns their names and all blocks."""
    types = dict(zip("abcd", NUMBERS))
    inputs, blocks = [], []
    for number in range(8):
        blocks.append(random_block(f"day{number}", rng, types))
        inputs.append(f"day{number}.nc")
        with netCDF4.Dataset(folder / inputs[-1], "w", format="NETCDF3_64BIT_DATA") as file:
            file.createDimension("x", 6)
            write_netcdf(file, blocks[-1])
    inputs.append("groups.nc")
    with netCDF4.Dataset(folder / "groups.nc", "w") as file:
        file.createDimension("x", 6)
        blocks.append(Block("groups"))
        for number in range(GROUPS):
            blocks.append(random_block(f"groups/g{number:02}", rng, types))
            write_netcdf(file.createGroup(f"g{number:02}"), blocks[-1])
    inputs.append("plain.h5")
    with h5py.File(folder / "plain.h5", "w") as file:
        blocks.append(Block("plain"))
        for number in range(GROUPS):
            blocks.append(random_block(f"plain/r{number:02}", rng, types))
            write_hdf5(file.create_group(f"r{number:02}"), blocks[-1])
    return inputs, blocks


# --- Expressions -------------------------------------------------------------------------------------


def statistic(block, variable, which):
    if variable not in block.variables:
        return None
    values, _, missing = block.variables[variable]
    is_missing = numpy.isin(values, numpy.array(missing, values.dtype))
    is_nan = numpy.isnan(values) & ~is_missing
    left = values[~is_missing & ~is_nan]
    if which in ("min", "max"):
        return real(getattr(left, which)()) if left.size else None
    return real({"elements": values.size, "missing": is_missing.sum(), "nan": is_nan.sum()}[which])


def number_or_text(value):
    return value if value is None or isinstance(value, str) else real(value)


class Expression:
    """A random expression: its text, and holds(block), which is True, False or None if a value is missing."""

    def __init__(self, rng, with_statistics, depth=0):
        self.kind = rng.choice(["and", "or", "not"]) if depth < 3 and rng.random() < 0.6 else "compare"
        if self.kind == "compare":
            self.text = self.random_comparison(rng, with_statistics)
            return
        count = 1 if self.kind == "not" else rng.randrange(2, 4)
        self.parts = [Expression(rng, with_statistics, depth + 1) for _ in range(count)]
        texts = [f"({part.text})" for part in self.parts]
        self.text = "!" + texts[0] if self.kind == "not" else {"and": " && ", "or": "||"}[self.kind].join(texts)

    def random_comparison(self, rng, with_statistics):
        self.operator = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        if rng.random() < 0.3:
            name = rng.choice(["site", rng.choice("abcd") + "@units"] + (["s", "label"] if with_statistics else []))
            constant = rng.choice([site for site in SITES if "'" not in site] + ["K", "m"])
            constant = rng.choice("0257") if name == "label" else constant
            self.names, self.constant, shown = [name], constant, f"'{constant}'"
        else:
            names = ["run", "weight"] + [f"{v}@level" for v in "abcd"]
            if with_statistics:
                names = ["run", "weight", "r", "w", "id"]
                names += [f"{v}.{s}" for v in "abcd" for s in ("elements", "missing", "nan", "min", "max")]
            shown = rng.choice(["0", "1", "3", "6", "0.1", "-3", "250", "1e300", "849.5", "2"])
            self.names, self.constant = [rng.choice(names)], real(shown)
            if rng.random() < 0.2:
                self.names, self.constant = [*self.names, rng.choice(names)], None
                shown = self.names[1]
        return f"{self.names[0]} {self.operator}{rng.choice(['', ' '])}{shown}"

    @staticmethod
    def value(block, name):
        if "@" in name:
            variable, key = name.split("@")
            return number_or_text(block.variables[variable][1].get(key)) if variable in block.variables else None
        if "." in name:
            return statistic(block, *name.split("."))
        return number_or_text(block.attributes.get(name))

    def holds(self, block):
        if self.kind == "compare":
            values = [self.value(block, name) for name in self.names]
            if self.constant is not None:
                values.append(self.constant)
            if None in [v if v is None else 0 for v in values]:
                return None
            a, b = (v.encode() if isinstance(v, str) else v for v in values)
            compare = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
            return bool(compare[self.operator])
        found = [part.holds(block) for part in self.parts]
        if self.kind == "not":
            return None if found[0] is None else not found[0]
        decides = self.kind == "or"
        return decides if decides in found else None if None in found else not decides

    def all_names(self):
        return set(self.names) if self.kind == "compare" else set().union(*(part.all_names() for part in self.parts))


# --- Comparison --------------------------------------------------------------------------------------


def check_values(tools, path, block):
    """The chosen block has the values of its source."""
    for name, (values, _, _) in block.variables.items():
        back = json.loads(tools.run("nminspect", "dump", path, f"{block.name}/{name}", "--json"))
        shown = [{"NaN": numpy.nan, "Infinity": numpy.inf}.get(v, v) for v in back["values"]]
        tools.check(numpy.array_equal(numpy.array(shown, values.dtype), values, equal_nan=values.dtype.kind == "f"),
                    f"{path}: {block.name}/{name}: found {shown}, expected {values}")


def missing_name(blocks, expression):
    """Whether no block has some name of the expression. A variable counts, even if all its values are missing."""
    def is_there(name, block):
        if name.endswith((".min", ".max")):
            return name.split(".")[0] in block.variables
        return Expression.value(block, name) is not None
    return any(not any(is_there(name, block) for block in blocks) for name in expression.all_names())


def check_round(tools, rng, blocks, inputs, number):
    with_statistics = rng.random() < 0.6
    expression = Expression(rng, with_statistics)
    options = []
    left = blocks = [with_tags(block) for block in blocks] if with_statistics else blocks
    # The names of blocks in an input: those of all.nmb, or those in the source.
    in_input = {block.name: block.name for block in blocks}
    if not with_statistics:
        in_input = {block.name: block.name.partition("/")[2] or ("/" if block.name in ("groups", "plain") else block.name)
                    for block in blocks}
    if rng.random() < 0.3:
        glob, matches = rng.choice([("day*", lambda n: n.startswith("day")), ("**[0-3]", lambda n: n[-1] in "0123"),
                                    ("**/g0?", lambda n: n.rpartition("/")[2][:2] == "g0" and len(n.rpartition("/")[2]) == 3)])
        options += ["--exclude", glob]
        left = [block for block in left if not matches(in_input[block.name])]
    if rng.random() < 0.3:
        names = rng.sample(sorted({in_input[block.name] for block in blocks}), rng.randrange(1, 16))
        (tools.work / "list").write_text("\n".join(names) + "\n")
        options += ["--blocks-from", "list"]
        left = [block for block in left if in_input[block.name] in names]
    is_missing = left and missing_name(left, expression)
    chosen = [block for block in left if expression.holds(block)]
    if rng.random() < 0.3:
        shards = rng.randrange(1, 5)
        shard = rng.randrange(1, shards + 1)
        options += ["--shard", f"{shard}/{shards}"]
        chosen = chosen[shard - 1::shards]
    out = f"out{number}.nmb"
    names = ["all.nmb", "--block-name", "{group}"] if with_statistics else inputs
    tools.run("nmcat", *names, "-o", out, "--where", expression.text, *options, "--no-sync", "--hdf5-view", "off",
              exit_code=None)
    what = f"{expression.text} {options}: "
    if is_missing or not chosen:
        expected = "no block has the" if is_missing else "no block was chosen"
        tools.check(tools.exit_code == 2 and expected in tools.said, f"{what}found {tools.exit_code}, {tools.said}")
        return 0
    tools.check(tools.exit_code == 0, f"{what}found {tools.exit_code}, {tools.said}")
    found = tools.run("nminspect", "ls", out).split()
    expected = sorted(block.name for block in chosen)
    # The root of groups.nc has the dimension of its groups.
    if any(name.startswith("groups/") for name in expected) and "groups" not in expected:
        expected = sorted([*expected, "groups"])
    tools.check(found == expected, f"{what}found {found}, expected {expected}")
    if not options and with_statistics:
        listed = tools.run("nminspect", "find", "all.nmb", expression.text).split()
        tools.check(listed == [block.name for block in chosen], f"{what}nminspect find: {listed}")
    check_values(tools, out, rng.choice(chosen))
    (tools.work / out).unlink()
    return 1


def test(tools):
    rng = random.Random(20)
    inputs, blocks = make_sources(tools.work, rng)
    tools.run("nmcat", *inputs, "-o", "all.nmb", "--stats", "basic", *TAGS)
    # In the order of the inputs; the names in all.nmb have the same order.
    assert [block.name for block in blocks] == sorted(block.name for block in blocks)
    written = sum(check_round(tools, rng, blocks, inputs, number) for number in range(ROUNDS))
    tools.check(written >= ROUNDS // 3, f"only {written} of {ROUNDS} expressions chose a block")
    tools.run("nmverify", "all.nmb")


if __name__ == "__main__":
    sys.exit(tool_runs.main(__doc__, test))
