#!/usr/bin/python3
"""nmcat --where, --exclude, --blocks-from and --shard, and nminspect find: random conditions choose the blocks that a scan of
the source files with numpy chooses, and the chosen blocks have the values of the sources. Tags that nmcat made from attributes
and names take part too. Conditions of values are decided by stored statistics of each level, or by the values.

    selection_test.py --tools FOLDER

NMB_ALL=1: 300 expressions, not 12.
"""

import copy
import json
import operator
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
LEVELS = ["none", "basic", "histogram", "parts"]
PIECE = 1 << 20  # bytes that share a sum
LONG = 30_000  # values of the variable "long": 8 parts
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
                values[at] = rng.choice([*missing, 4, *([0.1] if type_[0] == "f" else [])] + ([numpy.nan, numpy.inf] if type_[0] == "f" else []))
        if rng.random() < 0.15:
            values[:] = missing[0]
        if rng.random() < 0.7:
            attributes["units"] = rng.choice(["K", "m", "m s-1"])
        if rng.random() < 0.5:
            attributes["level"] = numpy.float32(rng.choice([0.1, 850, 1e9]))
        block.variables[variable] = (values, attributes, missing)
    if rng.random() < 0.3:
        block.variables["long"] = long_variable(rng)
    return block


def long_variable(rng):
    """Values that ascend, as those of a coordinate do, with some missing ones; a whole part may be missing."""
    values = (numpy.arange(LONG) // 50 - rng.randrange(300)).astype("i4")
    values[rng.randrange(LONG)::rng.choice([3, 977])] = FILLS["i4"]
    first = rng.choice([0, 4096, 20_000, LONG])
    values[first:first + 9000] = FILLS["i4"]
    return values, {}, [FILLS["i4"]]


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
        dimension = "x" if values.size == 6 else "y"
        chunks = {"chunksizes": (3001,), "zlib": True} if dimension == "y" and group.data_model == "NETCDF4" else {}
        made = group.createVariable(name, values.dtype, (dimension,), fill_value=attributes.get("_FillValue"), **chunks)
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
            file.createDimension("y", LONG)
            write_netcdf(file, blocks[-1])
    inputs.append("groups.nc")
    with netCDF4.Dataset(folder / "groups.nc", "w") as file:
        file.createDimension("x", 6)
        file.createDimension("y", LONG)
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


COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
QUANTIFIED = re.compile("(count|any|all)\\(([a-z]+) *([=!<>]+) *([-.0-9e]+)\\)")


def ordered_values(block, variable):
    """Returns (all values, which are missing, which are NaN, all others)."""
    values, _, missing = block.variables[variable]
    is_missing = numpy.isin(values, numpy.array(missing, values.dtype))
    is_nan = numpy.isnan(values) & ~is_missing
    return values, is_missing, is_nan, values[~is_missing & ~is_nan]


def literal(text, single):
    """Returns the value of a number in an expression: integers are exact, others are rounded to float or double."""
    if re.fullmatch("[-+]?[0-9]+", text):
        return real(text)
    return real(numpy.float32(text)) if single and abs(float(text)) < 3.4e38 else real(float(text))


def quantified(block, name):
    """Returns the number of values that match, or whether any or all values match."""
    kind, variable, compare, number = QUANTIFIED.fullmatch(name).groups()
    if variable not in block.variables:
        return None
    left = ordered_values(block, variable)[3]
    matches = COMPARE[compare](left.astype(real), literal(number, left.dtype == numpy.float32))
    return real(matches.sum()) if kind == "count" else real(bool(getattr(matches, kind)()))


def statistic(block, variable, which):
    if variable not in block.variables:
        return None
    values, is_missing, is_nan, left = ordered_values(block, variable)
    if which in ("min", "max"):
        return real(getattr(left, which)()) if left.size else None
    return real({"elements": values.size, "missing": is_missing.sum(), "nan": is_nan.sum()}[which])


def number_or_text(value):
    return value if value is None or isinstance(value, str) else real(value)


class Literal(str):
    """A number as it stands in an expression."""


class Expression:
    """A random expression: its text, and holds(block), which is True, False or None if a value is missing."""

    def __init__(self, rng, with_tags, depth=0):
        self.kind = rng.choice(["and", "or", "not"]) if depth < 3 and rng.random() < 0.6 else "compare"
        if self.kind == "compare":
            self.text = self.random_condition(rng) if rng.random() < 0.4 else self.random_comparison(rng, with_tags)
            return
        count = 1 if self.kind == "not" else rng.randrange(2, 4)
        self.parts = [Expression(rng, with_tags, depth + 1) for _ in range(count)]
        texts = [f"({part.text})" for part in self.parts]
        self.text = "!" + texts[0] if self.kind == "not" else {"and": " && ", "or": "||"}[self.kind].join(texts)

    def random_condition(self, rng):
        """A condition of values."""
        kind = rng.choice(["count", "any", "all"])
        variable = rng.choice("abcd") if rng.random() < 0.6 else "long"
        numbers = ["0", "1", "7.5", "250", "-3", "1e300", "0.1", "850.0"] if variable != "long" else ["-290", "0", "299", "150.5", "599", "1e9"]
        name = f"{kind}({variable} {rng.choice(list(COMPARE))} {rng.choice(numbers)})"
        self.names = [name]
        if kind != "count":
            self.operator, self.constant = "==", real(1)
            return name
        self.operator, shown = rng.choice(list(COMPARE)), rng.choice(["0", "1", "3", "100", "15000"])
        self.constant = real(shown)
        return f"{name} {self.operator} {shown}"

    def random_comparison(self, rng, with_tags):
        self.operator = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        if rng.random() < 0.3:
            name = rng.choice(["site", rng.choice("abcd") + "@units"] + (["s", "label"] if with_tags else []))
            constant = rng.choice([site for site in SITES if "'" not in site] + ["K", "m"])
            constant = rng.choice("0257") if name == "label" else constant
            self.names, self.constant, shown = [name], constant, f"'{constant}'"
        else:
            names = ["run", "weight", *(["r", "w", "id"] if with_tags else [])]
            if rng.random() < 0.3:
                names = [f"{v}@level" for v in "abcd"]
            if rng.random() < 0.5:
                names = [f"{v}.{s}" for v in (*"abcd", "long") for s in ("elements", "missing", "nan", "min", "max")]
            shown = rng.choice(["0", "1", "3", "6", "0.1", "-3", "250", "1e300", "849.5", "2"])
            self.names, self.constant = [rng.choice(names)], Literal(shown)
            if rng.random() < 0.2:
                self.names, self.constant = [*self.names, rng.choice(names)], None
                shown = self.names[1]
        return f"{self.names[0]} {self.operator}{rng.choice(['', ' '])}{shown}"

    @staticmethod
    def value(block, name):
        if QUANTIFIED.fullmatch(name):
            return quantified(block, name)
        if "@" in name:
            variable, key = name.split("@")
            return number_or_text(block.variables[variable][1].get(key)) if variable in block.variables else None
        if "." in name:
            return statistic(block, *name.split("."))
        return number_or_text(block.attributes.get(name))

    def holds(self, block):
        if self.kind == "compare":
            values = [self.value(block, name) for name in self.names]
            if isinstance(self.constant, Literal):
                values.append(literal(self.constant, self.is_single(block, self.names[0])))
            elif self.constant is not None:
                values.append(self.constant)
            if None in [v if v is None else 0 for v in values]:
                return None
            a, b = (v.encode() if isinstance(v, str) else v for v in values)
            return bool(COMPARE[self.operator](a, b))
        found = [part.holds(block) for part in self.parts]
        if self.kind == "not":
            return None if found[0] is None else not found[0]
        decides = self.kind == "or"
        return decides if decides in found else None if None in found else not decides

    @staticmethod
    def is_single(block, name):
        if name.endswith((".min", ".max")):
            variable = block.variables.get(name.split(".")[0])
            return variable is not None and variable[0].dtype == numpy.float32
        return name.endswith("@level")

    def all_names(self):
        return set(self.names) if self.kind == "compare" else set().union(*(part.all_names() for part in self.parts))


# --- Comparison --------------------------------------------------------------------------------------


def check_values(tools, path, block):
    """The chosen block has the values of its source."""
    for name, (values, _, _) in block.variables.items():
        back = json.loads(tools.run("nminspect", "dump", path, f"{block.name}/{name}", "--json", exit_code=0))
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
    from_merged = rng.random() < 0.6
    expression = Expression(rng, from_merged)
    options = []
    left = blocks = [with_tags(block) for block in blocks] if from_merged else blocks
    # The names of blocks in an input: those of all.nmb, or those in the source.
    in_input = {block.name: block.name for block in blocks}
    if not from_merged:
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
    level = rng.choice(LEVELS)
    names = [f"{level}.nmb", "--block-name", "{group}"] if from_merged else inputs
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
    if not options and from_merged:
        for level in LEVELS:
            listed = tools.run("nminspect", "find", f"{level}.nmb", expression.text, "-q").split()
            tools.check(listed == [block.name for block in chosen], f"{what}nminspect find {level}.nmb: {listed}")
    check_values(tools, out, rng.choice(chosen))
    (tools.work / out).unlink()
    return 1


def bytes_read(tools, *arguments):
    tools.run("nminspect", "find", *arguments, "--io-stats", exit_code=None)
    return int(re.search(r"bytes (\d+)", tools.said)[1])


def check_bytes_read(tools):
    """Values are read only where statistics do not decide, and of parts only those that do not decide."""
    values = numpy.arange(2_000_000, dtype="i4")
    with netCDF4.Dataset(tools.work / "ids.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("x", values.size)
        file.createVariable("id", "i4", ("x",))[:] = values
        file.createVariable("other", "f8", ("x",))[:] = numpy.sqrt(values)
    with netCDF4.Dataset(tools.work / "chunks.nc", "w") as file:
        file.createDimension("x", values.size)
        for name in ("id", "other"):
            file.createVariable(name, "i4", ("x",), chunksizes=(10_000,), zlib=True, complevel=1)[:] = values
    for source in ("ids.nc", "chunks.nc"):
        sizes = {}
        for level in LEVELS:
            tools.run("nmconvert", source, f"ids_{level}.nmb", "-f", "--stats", level, "--no-sync")
            for expression in ("any(id == 1234567)", "any(id == 2000000)", "id.max > 5 || any(other == 3)"):
                sizes[level, expression] = bytes_read(tools, f"ids_{level}.nmb", expression)
        whole = values.nbytes if source == "ids.nc" else 100_000
        for level in LEVELS:
            unknown, absent, decided = (sizes[level, e] for e in
                                        ("any(id == 1234567)", "any(id == 2000000)", "id.max > 5 || any(other == 3)"))
            label = f"{source}, {level}: {unknown}, {absent}, {decided} bytes read"
            # A read of values checks the sum of the whole piece in which they lie.
            tools.check(unknown < PIECE + 100_000 if level == "parts" else whole <= unknown < 1.2 * values.nbytes, label)
            if level != "none":
                tools.check(absent < 60_000 and decided < 60_000, label)


def test(tools):
    rng = random.Random(20)
    inputs, blocks = make_sources(tools.work, rng)
    for level in LEVELS:
        tools.run("nmcat", *inputs, "-o", f"{level}.nmb", "--stats", level, *TAGS)
        tools.run("nmverify", f"{level}.nmb")
    # In the order of the inputs; the names in all.nmb have the same order.
    assert [block.name for block in blocks] == sorted(block.name for block in blocks)
    written = sum(check_round(tools, rng, blocks, inputs, number) for number in range(ROUNDS))
    tools.check(written >= ROUNDS // 3, f"only {written} of {ROUNDS} expressions chose a block")
    check_bytes_read(tools)


if __name__ == "__main__":
    sys.exit(tool_runs.main(__doc__, test))
