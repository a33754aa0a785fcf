#!/usr/bin/python3
"""Many sets of netCDF-4 and HDF5 files (file_grammar.py) packed, united and joined, as netCDF-4 and HDF5, written at
once and by way of an .nmb file, and as an .nmb file with an HDF5 view: users of netCDF4-python and h5py see in them what they see in the sources.

    many_sets_test.py --tools build/release/tools [--sets 100] [--first 0] [-j 2]

`./night` tries 5000. Each feature of the grammar must be in a tenth of the sets. REFUSALS lists what
the tools may say that they cannot write; it may be so of one output of twelve. Bugs that are seeded by hand
(seeded_bugs.py) must all be found.
"""

import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
try:
    import h5py
    import netCDF4  # noqa: F401
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import file_grammar  # noqa: E402
import seeded_bugs  # noqa: E402
from users_view import differences, hdf5_view, netcdf_view  # noqa: E402

# Content that an HDF5 file cannot have: a part of the message.
REFUSALS = ("a user block of 512 bytes; an HDF5 file has only one",)
LEAST_SHARE, MOST_REFUSED = 0.1, 0.1
# The user block is that of the whole file, and told as a loss where it is left out.
OF_FILES = ("user block",)


class Run:
    """One set."""

    def __init__(self, tools, number, folder):
        self.tools, self.folder = tools, folder
        self.set = file_grammar.make_set(number, folder)
        self.problems, self.refused, self.outputs = [], collections.Counter(), 0

    def check(self):
        nmb = self.folder / f"all{self.set.number}.nmb"
        ending = ("nc", "h5")[self.set.number % 2]
        mode = [] if self.set.mode == file_grammar.PACK else ["--mode", self.set.mode]
        to = ["--to", "nc4" if ending == "nc" else "hdf5"]
        direct = self.folder / f"direct{self.set.number}.{ending}"
        self.write(direct, "nmcat", *self.set.paths, *mode, *to, "-o", direct)
        through = self.folder / f"through{self.set.number}.{'h5' if ending == 'nc' else 'nc'}"
        to = ["--to", "nc4" if ending == "h5" else "hdf5"]
        if self.run("nmcat", *self.set.paths, *mode, "-o", nmb).returncode == 0:
            self.write(through, "nmconvert", nmb, through, *to)
            if self.set.mode == file_grammar.PACK:
                self.check_view(nmb)
        else:
            self.problems.append(f"{nmb.name} was not written")
        self.check_single(self.set.paths[0])
        return self

    def run(self, tool, *arguments):
        # Files are small: to wait for the device would take most of the time.
        call = [self.tools / tool, *arguments, "--no-sync", "-j", "1"]
        return subprocess.run(call, capture_output=True, text=True, timeout=120)

    # Runs a tool that writes an output, which is compared; what it refuses is written with --lossy.
    def write(self, output, tool, *arguments):
        self.outputs += 1
        done = self.run(tool, *arguments)
        if done.returncode == 1:
            reason = next((reason for reason in REFUSALS if reason in done.stderr), None)
            if reason is None or output.exists():
                self.problems.append(f"{output.name}: refused: {done.stderr.strip()}")
                return
            self.refused[reason] += 1
            done = self.run(tool, *arguments, "--lossy")
        if done.returncode != 0:
            self.problems.append(f"{output.name}: exit code {done.returncode}: {done.stderr.strip()}")
            return
        compare = {file_grammar.PACK: compare_packed, file_grammar.UNION: compare_united,
                   file_grammar.JOIN: compare_joined}[self.set.mode]
        self.problems += [f"{output.name}{line}" for line in compare(self.set.paths, output)]

    # Blocks are in an order that netCDF does not read, and a later generation does not change what is there.
    def check_view(self, nmb):
        self.outputs += 1
        view = nmb.with_name(f"view{self.set.number}.nmb")
        calls = [("nmcat", "-q", *reversed(self.set.paths[1:]), "-o", view, "--view-copies"),
                 ("nmcat", "-q", self.set.paths[0], "-o", view, "--append")]
        for call in calls:
            done = self.run(*call)
            if done.returncode != 0 or done.stderr and "user block" not in done.stderr:
                self.problems.append(f"{view.name}: exit code {done.returncode}: {done.stderr.strip()}")
                return
        self.problems += [f"{view.name}{line}" for line in compare_packed(self.set.paths, view, adds_numbers=True)]
        done = subprocess.run([self.tools / "nmverify", view], capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            self.problems.append(f"{view.name}: nmverify: {done.stdout}")

    # A file by itself comes back with all that it had, numbers of dimensions too.
    def check_single(self, path):
        self.outputs += 1
        back = self.folder / f"back{path.name}"
        done = self.run("nmconvert", path, back, "--to", "nc4" if path.suffix == ".nc" else "hdf5")
        if done.returncode != 0:
            self.problems.append(f"{back.name}: exit code {done.returncode}: {done.stderr.strip()}")
            return
        lines = compare_views(path, "/", back, "/", ())
        if numbers_of(path) != numbers_of(back):
            lines.append(f": numbers of dimensions: found {numbers_of(back)}, expected {numbers_of(path)}")
        self.problems += [f"{back.name}{line}" for line in lines]


def numbers_of(path):
    numbers = {}

    def visit(name, thing):
        for attribute in ("_Netcdf4Dimid", "_Netcdf4Coordinates"):
            if attribute in thing.attrs:
                numbers[name, attribute] = numpy.array(thing.attrs[attribute]).tolist()

    with h5py.File(path) as file:
        file.visititems(visit)
    return numbers


# adds_numbers: scales without a number may have one in the output.
def compare_views(source, source_group, output, group, leave_out, adds_numbers=False):
    found, expected = hdf5_view(output, group), hdf5_view(source, source_group)
    for path, field in [key for key in found if adds_numbers and key[1] == "attribute _Netcdf4Dimid" and key not in expected]:
        del found[path, field]
        found[path, "attributes"].remove("_Netcdf4Dimid")
    lines = [f" (h5py) {line}" for line in differences(found, expected, leave_out)]
    by_netcdf = source.suffix == ".nc"
    expected = netcdf_view(source, source_group, values=False)
    if expected is None:
        return lines
    found = netcdf_view(output, group, values=False)
    if found is None:
        return lines + ([] if leave_out else [": netCDF cannot read it, but its source"])
    if not by_netcdf:
        # netCDF-C leaves out objects of an unnamed compound type, unless another group has an equal one with a name.
        fields = ("length", "unlimited", "dimensions of it", "their lengths", "their groups", "type")
        expected = {key: value for key, value in expected.items() if key[1] in fields}
        found = {key: value for key, value in found.items() if key in expected}
    lines += [f" (netCDF) {line}" for line in differences(found, expected, leave_out)]
    # Where dimensions are wrong netCDF-C may crash on values.
    if by_netcdf and not lines:
        found, expected = netcdf_view(output, group), netcdf_view(source, source_group)
        lines += [f" (netCDF) {line}" for line in differences(found, expected, leave_out)]
    return lines


def compare_packed(paths, output, adds_numbers=False):
    lines = []
    for path in paths:
        found = compare_views(path, "/", output, path.stem, OF_FILES, adds_numbers)
        lines += [f": {path.name}{line}" for line in found]
    # One that netCDF cannot read hides all others from it.
    if all(netcdf_view(path, values=False) is not None for path in paths) and not netcdf_view(output, values=False):
        lines.append(": netCDF cannot read it, but all of its sources")
    return lines


# Variables of all groups: type but for the order of bytes, dimensions, attributes, values.
def merged_view(path):
    variables = {}

    def visit(group):
        for name, variable in group.variables.items():
            variable.set_auto_maskandscale(False)
            dims = variable.get_dims()
            attributes = {key: numpy.asarray(variable.getncattr(key)) for key in variable.ncattrs()}
            variables[f"{group.path.rstrip('/')}/{name}"] = (
                [(one.name, one.isunlimited()) for one in dims],
                {key: (one.dtype.newbyteorder("="), one.tolist()) for key, one in attributes.items()},
                native(variable[...]),
            )
        for child in group.groups.values():
            visit(child)

    with netCDF4.Dataset(path) as root:
        visit(root)
        # Attributes of the file belong to all inputs.
        variables["/"] = ([], {key: root.getncattr(key) for key in root.ncattrs()}, numpy.zeros(0))
    return variables


# Dimensions of all groups, in netCDF's order: length, and whether it is unlimited.
def dimensions_of(path):
    dimensions = {}

    def visit(group):
        for name, one in group.dimensions.items():
            dimensions[group.path, name] = (len(one), one.isunlimited())
        for child in group.groups.values():
            visit(child)

    with netCDF4.Dataset(path) as root:
        visit(root)
    return dimensions


# length: of an unlimited dimension, by those in the sources.
def compare_dimensions(paths, output, length):
    parts = [dimensions_of(path) for path in paths]
    expected = {}
    for part in parts:
        for place, one in part.items():
            expected.setdefault(place, one)
    for place, (_, is_unlimited) in expected.items():
        if is_unlimited:
            expected[place] = (length([part[place][0] for part in parts if place in part]), True)
    found = dimensions_of(output)
    lines = []
    for group in sorted({group for group, _ in expected}):
        one, two = ([name for where, name in all_ if where == group] for all_ in (found, expected))
        if one != two:
            lines.append(f": dimensions of {group}: found {one}, expected {two}")
    return lines + [f": dimension {name} of {group}: found {found.get((group, name))}, expected {expected.get((group, name))}"
            for group, name in sorted(found.keys() | expected.keys())
            if found.get((group, name)) != expected.get((group, name))]


def native(values):
    return numpy.asarray(values).astype(values.dtype.newbyteorder("="))


def compare_merged(expected, output, adds_history=False):
    found, lines = merged_view(output), []
    if adds_history:
        attributes = found["/"][1]
        line, _, before = attributes.pop("history", "").partition("\n")
        if not line.startswith("nmcat "):
            lines.append(f": history: found {line!r}")
        if before:
            attributes["history"] = before
    for path in sorted(found.keys() | expected.keys()):
        if path not in found or path not in expected:
            lines.append(f": {path}: only in the {'sources' if path in expected else 'output'}")
            continue
        for what, one, two in zip(("dimensions", "attributes"), found[path], expected[path]):
            if one != two:
                lines.append(f": {path}: {what}: found {one}, expected {two}")
        one, two = found[path][2], expected[path][2]
        if one.dtype != two.dtype or one.shape != two.shape or one.tobytes() != two.tobytes():
            lines.append(f": {path}: values: found {one!r}, expected {two!r}")
            continue
        if path != "/":
            with h5py.File(output) as file:
                stored = next(file[p] for p in (path, path.replace(path.rsplit("/", 1)[1],
                                                                   "_nc4_non_coord_" + path.rsplit("/", 1)[1]))
                              if p in file)
                if native(stored[...]).tobytes() != two.tobytes():
                    lines.append(f": {path}: values as h5py sees them: found {stored[...]!r}, expected {two!r}")
    return lines


def compare_united(paths, output):
    expected = {}
    for path in paths:
        expected = merged_view(path) | expected
    return compare_merged(expected, output) + compare_dimensions(paths, output, max)


def compare_joined(paths, output):
    parts = [merged_view(path) for path in paths]
    expected = dict(parts[0])
    for path, (dims, attributes, _) in parts[0].items():
        if any(name == "time" for name, _ in dims):
            expected[path] = (dims, attributes, numpy.concatenate([part[path][2] for part in parts]))
    return compare_merged(expected, output, adds_history=True) + compare_dimensions(paths, output, sum)


def worker(arguments):
    tools, numbers = arguments
    warnings.simplefilter("ignore")
    problems, refused, features, outputs = [], collections.Counter(), collections.Counter(), 0
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            try:
                run = Run(tools, number, Path(folder)).check()
            except Exception as error:
                problems.append(f"set {number}: {type(error).__name__}: {error}")
                continue
            problems += [f"set {number}: {problem}" for problem in run.problems]
            refused += run.refused
            features.update(run.set.features)
            outputs += run.outputs
    return problems, refused, features, outputs


def run_sets(tools, first, sets, processes):
    numbers = range(first, first + sets)
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        parts = list(pool.map(worker, [(tools, numbers[i::processes * 4]) for i in range(processes * 4)]))
    problems, refused, features, outputs = [], collections.Counter(), collections.Counter(), 0
    for some, reasons, counts, count in parts:
        problems += some
        refused += reasons
        features += counts
        outputs += count
    return problems, refused, features, outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="folder of the tools")
    parser.add_argument("--sets", type=int, default=100 if "NMB_ALL" in os.environ else 24)
    parser.add_argument("--first", type=int, default=0, help="number of the first set")
    parser.add_argument("-j", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    arguments = parser.parse_args()
    tools = arguments.tools.resolve()
    problems, refused, features, outputs = run_sets(tools, arguments.first, arguments.sets, arguments.j)
    for feature in file_grammar.FEATURES:
        print(f"{features[feature]:5} {feature}")
        if features[feature] < int(LEAST_SHARE * arguments.sets):
            problems.append(f"feature {feature}: in {features[feature]} of {arguments.sets} sets, expected a tenth")
    for unknown in features.keys() - set(file_grammar.FEATURES):
        problems.append(f"feature {unknown}: not in the list")
    for reason, count in refused.items():
        print(f"{count:5} refused: {reason}")
    if sum(refused.values()) > MOST_REFUSED * outputs:
        problems.append(f"refused: {sum(refused.values())} of {outputs} outputs, expected at most a tenth")
    bugs, missed = seeded_bugs.run(tools)
    problems += missed
    print(f"{arguments.sets} sets, {outputs} outputs, {bugs} seeded bugs, {len(problems)} problems")
    for problem in sorted(problems):
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
