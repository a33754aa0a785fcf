#!/usr/bin/python3
"""Generated netCDF-4 files with groups (file_grammar.py), divided by each rule of `nmconvert --block-by` and `--regroup`.

    divided_files_test.py --tools build/release/tools [--files 30] [--first 0] [-j 2]

A division is refused with a message and no output, or it is sound and can be written as netCDF-4 and as HDF5. There
netCDF4-python and h5py see each variable of the source where the rule puts it, with its type, attributes, dimensions
and values; each reference leads to an object, each dimension scale knows its users. `./night` tries 600 files. Faults
that are seeded by hand (FAULTS) must all be found.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
try:
    import h5py
    import netCDF4
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import file_grammar  # noqa: E402

# Content that divided blocks cannot have: rare here, so that most files are divided.
REFUSED = {"enum", "compound", "sequence", "strings", "attribute of strings", "several unlimited", "zero length"}
PREFIX = r"^(v)(?=1)"
NON_COORDINATE = "_nc4_non_coord_"
# The share of the divisions by a rule that must succeed.
LEAST_DONE = 0.15


class DividedFile(file_grammar.NetcdfFile):
    """A file of the grammar with fewer features that blocks of a division lack."""

    def chance(self, share, *features):
        if REFUSED & set(features):
            share *= 0.08
        elif "unlimited" in features:
            share *= 0.5
        elif "nested groups" in features:
            share = 0.75
        return super().chance(share, *features)

    def group(self, group, depth, above):
        if depth == 0 or not self.chance(0.3):
            super().group(group, depth, above)
            return
        # One that uses dimensions above it alone, as files of models have them.
        self.attributes(group)
        self.variable(group, "v0", self.random.sample(above, min(len(above), 2)))


def make_file(number, path):
    made = DividedFile(file_grammar.FileSet(number), random.Random(f"divided {number}"))
    made.write(path)
    return path


@dataclass
class Seen:
    """A variable as netCDF-C shows it, or as it is expected."""

    dtype: str
    dimensions: list  # name, length, is unlimited
    attributes: dict
    values: numpy.ndarray
    stored: numpy.ndarray = None  # as h5py reads it: without values that netCDF fills

    def differences(self, other):
        for name in ("dtype", "dimensions", "attributes"):
            if getattr(self, name) != getattr(other, name):
                yield f"{name}: found {getattr(self, name)}, expected {getattr(other, name)}"
        if not same_values(self.values, other.values):
            yield f"values: found {self.values.tolist()}, expected {other.values.tolist()}"


def same_values(one, two):
    one, two = native(numpy.asarray(one)), native(numpy.asarray(two))
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.fields:  # bytes between fields may be any
        return one.tolist() == two.tolist()
    if not one.dtype.hasobject:
        return one.tobytes() == two.tobytes()
    return all(numpy.array_equal(a, b) for a, b in zip(one.reshape(-1), two.reshape(-1)))


def native(values):
    return values if values.dtype.hasobject else values.astype(values.dtype.newbyteorder("="))


def attributes_of(owner):
    def plain(value):
        if isinstance(value, (str, list)):
            return value
        value = numpy.asarray(value)
        return (native(value).dtype.str, numpy.ravel(value).tolist()) if not value.dtype.fields else value.tobytes()

    return {name: plain(owner.getncattr(name)) for name in owner.ncattrs()}


@dataclass
class Group:
    attributes: dict
    dimensions: dict  # name to (length, is unlimited)
    variables: dict


def read(path):
    """The groups of a file by path, without the first /."""
    groups = {}

    def visit(group, file):
        name = group.path.strip("/")
        groups[name] = Group(attributes_of(group), {d.name: (len(d), d.isunlimited()) for d in group.dimensions.values()}, {})
        for variable in group.variables.values():
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            dims = [(d.name, len(d), d.isunlimited()) for d in variable.get_dims()]
            stored = next(file[at] for at in (f"{group.path}/{NON_COORDINATE}{variable.name}", f"{group.path}/{variable.name}")
                          if at in file)
            dtype = variable.dtype
            groups[name].variables[variable.name] = Seen(
                dtype.__name__ if isinstance(dtype, type) else dtype.newbyteorder("=").str, dims,
                attributes_of(variable), numpy.asarray(variable[...]), stored[()] if stored.shape is not None else None)
        for child in group.groups.values():
            visit(child, file)

    with netCDF4.Dataset(path) as root, h5py.File(path) as file:
        visit(root, file)
    return groups


def below(*parts):
    return "/".join(part for part in parts if part)


def position(i, count):
    return str(i).zfill(len(str(count - 1)))


def text_of(value):
    return value if isinstance(value, str) else ",".join(str(v) for v in value[1])


# The groups that a rule makes from those of a file.
def divided(groups, rule):
    kind, _, name = rule.partition(":")
    out = {}

    def place(block):
        return out.setdefault(block, Group({}, {}, {}))

    for path, group in groups.items():
        if kind == "one":
            stays = ""
        elif kind == "key" and name in group.attributes and len(groups) > 1:
            stays = below(text_of(group.attributes[name]), path)
        else:
            stays = path
        place(stays).attributes |= group.attributes
        used = {d for v in group.variables.values() for d, _, _ in v.dimensions}
        place(stays).dimensions |= {d: length for d, length in group.dimensions.items() if d not in used}
        for i, (variable, seen) in enumerate(group.variables.items()):
            to, new, indexes = stays, variable, None
            if kind == "vars":
                to = below(path, position(i // int(name), len(group.variables) // int(name)))
            elif kind == "prefix" and (match := re.match(name, variable)):
                to, new = below(path, match[1]), variable[match.end():]
            elif kind == "key" and stays == path and name in seen.attributes:
                to = below(path, text_of(seen.attributes[name]))
            elif kind == "dim" and seen.dimensions and seen.dimensions[0][0] == name:
                indexes = seen.dimensions[0][1]
            if indexes is None:
                place(to).variables[new] = seen
            for index in range(indexes or 0):
                place(below(path, name, position(index, indexes))).variables[new] = Seen(
                    seen.dtype, seen.dimensions[1:], seen.attributes, seen.values[index])
    return out


def compare(expected, output):
    try:
        found, lines = read(output), []
    except (OSError, RuntimeError, KeyError, AttributeError, StopIteration) as error:
        return [f"netCDF cannot read it: {error}", *broken_references(output)]
    for block, group in expected.items():
        if block not in found:
            if group.variables or group.attributes:
                lines.append(f"/{block}: not in the output")
            continue
        if found[block].attributes != group.attributes:
            lines.append(f"/{block}: attributes: found {found[block].attributes}, expected {group.attributes}")
        for name, (length, is_unlimited) in group.dimensions.items():
            # One that may grow is as long as its users, which went elsewhere.
            one = found[block].dimensions.get(name)
            if one is None or (not is_unlimited and one[0] != length) or one[1] != is_unlimited:
                lines.append(f"/{block}: dimension {name}: found {one}, expected {(length, is_unlimited)}")
    for block, group in found.items():
        wanted = expected[block].variables if block in expected else {}
        for name in sorted(group.variables.keys() | wanted.keys()):
            where = f"/{below(block, name)}"
            if name not in wanted or name not in group.variables:
                lines.append(f"{where}: {'missing' if name in wanted else 'not expected'}")
                continue
            one, two = group.variables[name], wanted[name]
            lines += [f"{where}: {line}" for line in one.differences(two)]
            stored = one.stored if one.stored is not None else one.values
            if not any(same_values(stored, v) for v in (two.values, two.stored) if v is not None):
                lines.append(f"{where}: values as h5py sees them: found {stored!r}, expected {two.values!r}")
    return lines + broken_references(output)


def broken_references(path):
    """What leads nowhere in an HDF5 file, and scales and users that do not know each other."""
    lines, uses, lists = [], set(), set()

    def identity(thing):
        return h5py.h5o.get_info(thing.id).addr

    with h5py.File(path) as file:
        def target(reference, where):
            try:
                return file[reference] if reference else lines.append(f"{where}: a reference that leads nowhere")
            except (ValueError, KeyError, RuntimeError):
                lines.append(f"{where}: a reference that leads nowhere")

        def visit(name, thing):
            if isinstance(thing, h5py.Group):
                for child in thing:
                    if thing.get(child) is None:
                        lines.append(f"{name}/{child}: a link that leads nowhere")
            for reference, place in thing.attrs.get("REFERENCE_LIST", ()):
                if (user := target(reference, f"{name}@REFERENCE_LIST")) is not None:
                    lists.add((identity(thing), identity(user), int(place)))
            for place, scales in enumerate(thing.attrs.get("DIMENSION_LIST", ())):
                for reference in scales:
                    if (scale := target(reference, f"{name}@DIMENSION_LIST")) is not None:
                        uses.add((identity(scale), identity(thing), place))
                        if thing.shape[place] > scale.shape[0] and scale.maxshape[0] is not None:
                            lines.append(f"{name}: longer than its dimension {scale.name}")

        visit("", file)
        file.visititems(visit)
    if uses != lists:
        lines.append(f"DIMENSION_LIST and REFERENCE_LIST: {len(uses - lists)} and {len(lists - uses)} without the other")
    return lines


class Division:
    """One file by one rule."""

    # packed: what is divided is an NMB file of the source.
    def __init__(self, tools, source, rule, packed=False):
        self.tools, self.source, self.rule, self.packed = tools, source, rule, packed
        self.stem = source.with_name(f"{source.stem}_{re.sub('[^a-z0-9]', '_', rule)}")
        self.problems = []

    def run(self, tool, *arguments):
        call = [self.tools / tool, *arguments]
        if tool == "nmconvert":
            call += ["--no-sync", "-j", "1"]
        return subprocess.run(call, capture_output=True, text=True, timeout=120)

    # Whether it was done.
    def check(self):
        nmb = self.stem.with_suffix(".nmb")
        option = "--regroup" if self.rule[:4] in ("dim:", "key:") else "--block-by"
        given = self.source
        if self.packed:
            given = self.stem.with_name(f"{self.stem.name}_packed.nmb")
            self.run("nmconvert", self.source, given)
        done = self.run("nmconvert", given, nmb, option, self.rule)
        if done.returncode in (1, 2) and not nmb.exists() and "nothing was written" in done.stderr:
            return False
        if done.returncode != 0:
            self.problems.append(f"exit code {done.returncode}: {done.stderr.strip()}")
            return False
        if (verified := self.run("nmverify", nmb)).returncode != 0:
            self.problems.append(f"nmverify: {verified.stdout.strip()}")
        expected = divided(read(self.source), self.rule)
        for kind in ("nc4", "hdf5"):
            back = self.stem.with_suffix(".nc" if kind == "nc4" else ".h5")
            written = self.run("nmconvert", nmb, back, "--to", kind)
            if written.returncode != 0:
                self.problems.append(f"--to {kind}: exit code {written.returncode}: {written.stderr.strip()}")
                continue
            self.problems += [f"--to {kind}: {line}" for line in compare(expected, back)]
        return True


def rules_of(path):
    groups = read(path)
    counts = [len(group.variables) for group in groups.values()]
    size = next((n for n in (3, 2) if all(count % n == 0 for count in counts)), 1)
    # A dimension that is the first one wherever it is used.
    variables = [v for group in groups.values() for v in group.variables.values()]
    names = sorted({d[0] for v in variables for d in v.dimensions})
    along = [name for name in names if not any(name in [d[0] for d in v.dimensions[1:]] for v in variables)
             and all(d[1] > 0 for v in variables for d in v.dimensions if d[0] == name)]
    return [f"vars:{size}", f"prefix:{PREFIX}", "one", "key:units", *[f"dim:{name}" for name in along[:2]]]


def worker(arguments):
    tools, numbers = arguments
    warnings.simplefilter("ignore")
    problems, done, all_ = [], collections.Counter(), collections.Counter()
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            try:
                source = make_file(number, Path(folder) / f"d{number}.nc")
                for rule in rules_of(source):
                    division = Division(tools, source, rule, number % 3 == 2)
                    kind = rule.partition(":")[0]
                    all_[kind] += 1
                    done[kind] += division.check()
                    problems += [f"file {number}, {rule}: {problem}" for problem in division.problems]
            except Exception as error:
                problems.append(f"file {number}: {type(error).__name__}: {error}")
    return problems, done, all_


def remove_reference(file):
    del file["g/0/b"].attrs["DIMENSION_LIST"]


def remove_scale(file):
    del file["g/0/x"]


def swap_values(file):
    file["g/0/b"][...] = file["g/0/b"][...][::-1]


def swap_blocks(file):
    file.move("g/0", "g/2")
    file.move("g/1", "g/0")
    file.move("g/2", "g/1")


def drop_attribute(file):
    del file["g/0/b"].attrs["units"]


def drop_group_attribute(file):
    del file["g"].attrs["title"]


def drop_dimension(file):
    del file["y"]


# How, and a part of what must be told of it.
FAULTS = (
    (remove_reference, "without the other"),
    (remove_scale, "netCDF cannot read it"),
    (swap_values, "/g/0/b: values"),
    (swap_blocks, "/g/0/b: missing"),
    (drop_attribute, "/g/0/b: attributes"),
    (drop_group_attribute, "/g: attributes"),
    (drop_dimension, "dimension y"),
)


def seeded_faults(tools):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "s.nc"
        with netCDF4.Dataset(source, "w") as root:
            root.createDimension("time", None)
            root.createDimension("y", 2)
            group = root.createGroup("g")
            group.title = "g"
            group.createDimension("x", 3)
            for i, name in enumerate("bc"):
                group.createVariable(name, "i4", ("x",))[:] = numpy.arange(3) + i
                group.variables[name].units = "m"
        division = Division(tools, source, "vars:1")
        if not division.check() or division.problems:
            return [f"without a seeded fault: {division.problems}"]
        expected = divided(read(source), "vars:1")
        for fault, told in FAULTS:
            copy = Path(folder) / f"{fault.__name__}.nc"
            shutil.copy(division.stem.with_suffix(".nc"), copy)
            with h5py.File(copy, "r+") as file:
                fault(file)
            lines = compare(expected, copy)
            if not any(told in line for line in lines):
                problems.append(f"seeded fault {fault.__name__}: not found; found {lines}")
    return problems


def make_links(path):
    """Links and references to objects that are divided or moved."""
    with h5py.File(path, "w", track_order=True) as file:
        file.attrs["title"] = "links"
        file["keep"] = numpy.array([1.5, 2.5])
        file["word"] = numpy.array(["a", "b"], object)
        group, moved = file.create_group("g"), file.create_group("h")
        for name in "ab":
            group[name] = numpy.arange(3)
            group[name].attrs["units"] = "m"
        moved.attrs["units"] = "K"
        moved["d"] = numpy.arange(4.0)
        moved["below/q"] = numpy.arange(2)
        moved["hard"], moved["relative"] = group["a"], h5py.SoftLink("d")
        for name, target in ("gone", "/g/a"), ("gone_too", "g/a"), ("group", "/g"), ("follows", "/h/d"), ("dangles", "/no"):
            file[name] = h5py.SoftLink(target)
        file["refs"] = numpy.array([group["a"].ref, file["keep"].ref, group.ref, moved["d"].ref], h5py.ref_dtype)
        file["keep"].attrs["of"] = group["b"].ref


def check_links(tools):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source, nmb, back = (Path(folder) / name for name in ("l.h5", "l.nmb", "back.h5"))
        make_links(source)
        run = Division(tools, source, "key:units").run
        done = run("nmconvert", source, nmb, "--regroup", "key:units")
        for told in ('link "gone"', 'link "gone_too"', 'attribute "keep@of"', 'variable "refs"', 'link "hard"'):
            if done.stderr.count(told) != 1:
                problems.append(f"links: {told} is not in the warnings: {done.stderr}")
        written = run("nmconvert", nmb, back, "--to", "hdf5")
        if done.returncode or run("nmverify", nmb).returncode or written.returncode:
            return [*problems, f"links: {done.stderr} {written.stderr}"]
        with h5py.File(back) as file:
            found = {name: link.path for name in file if isinstance(link := file.get(name, getlink=True), h5py.SoftLink)}
            if found != {"group": "/g", "follows": "/K/h/d", "dangles": "/no"}:
                problems.append(f"links: soft links {found}")
            refs = [file[ref].name if ref else None for ref in file["refs"][...]]
            if refs != [None, "/keep", "/g", "/K/h/d"] or file["keep"].attrs["of"]:
                problems.append(f"links: references {refs}")
            if sorted(file["K/h"]) != ["d", "relative"] or file["K/h/relative"][1] != 1 or "h/below/q" not in file:
                problems.append(f"links: /K/h has {sorted(file['K/h'])}")
    return problems


# Statistics of groups that move whole go with them.
def check_statistics(tools):
    with tempfile.TemporaryDirectory() as folder:
        source, nmb, out = (Path(folder) / name for name in ("s.nc", "s.nmb", "out.nmb"))
        with netCDF4.Dataset(source, "w") as file:
            for name in "gh":
                group = file.createGroup(name)
                group.title = name * 2
                group.createDimension("x", 2)
                group.createVariable("v", "i4", ("x",))[:] = [1, 2]
        run = Division(tools, source, "key:title").run
        run("nmconvert", source, nmb, "--stats", "basic")
        done = run("nmconvert", nmb, out, "--regroup", "key:title")
        found = run("nminspect", "stats", out).stdout if done.returncode == 0 else done.stderr
    return [] if "gg/g" in found and "hh/h" in found else [f"statistics: found {found}"]


# A group that would lose a string for the sake of a dimension; a block with the path of a variable.
def check_refusals(tools):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        torn, clash, out = (Path(folder) / name for name in ("torn.nc", "clash.nc", "out.nmb"))
        with netCDF4.Dataset(torn, "w") as file:
            file.createDimension("x", 2)
            file.createVariable("v1", "i4", ("x",))[:] = [1, 2]
            file.createGroup("g").createVariable("word", str, ("x",))[:] = numpy.array(["a", "b"], object)
        with netCDF4.Dataset(clash, "w") as file:
            file.createDimension("x", 2)
            file.createVariable("t_a", "i4", ("x",))[:] = [1, 2]
            file.createVariable("t", "i4", ("x",))[:] = [1, 2]
        for source, rule, told in (torn, PREFIX, 'group /g: variable "word"'), (torn, PREFIX, 'uses dimension "/x"'), (
            clash, "^(t)_", "block name t: found a block with the name of a variable"
        ):
            done = Division(tools, source, rule).run("nmconvert", source, out, "--block-by", f"prefix:{rule}")
            if done.returncode != 1 or told not in done.stderr or out.exists():
                problems.append(f"{source.name}: exit code {done.returncode}, expected a conflict {told!r}: {done.stderr}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="folder of the tools")
    parser.add_argument("--files", type=int, default=60 if "NMB_ALL" in os.environ else 20)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("-j", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    numbers = range(arguments.first, arguments.first + arguments.files)
    parts = arguments.j * 4
    problems, done, all_ = [], collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for some, some_done, some_all in pool.map(worker, [(tools, numbers[i::parts]) for i in range(parts)]):
            problems += some
            done += some_done
            all_ += some_all
    for kind, count in all_.items():
        print(f"{done[kind]:5} of {count} divided by {kind}")
        if done[kind] < LEAST_DONE * count:
            problems.append(f"rule {kind}: {done[kind]} of {count} divisions were done, expected 15 %")
    problems += check_links(tools) + check_statistics(tools) + check_refusals(tools) + seeded_faults(tools)
    print(f"{arguments.files} files, {sum(all_.values())} divisions, {len(FAULTS)} seeded faults, {len(problems)} problems")
    for problem in sorted(problems):
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
