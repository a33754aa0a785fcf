#!/usr/bin/python3
"""Groups of generated netCDF-4 files (file_grammar.py), packed into an .nmb file and extracted by nmconvert, alone and by a
glob: netCDF4-python sees in them what it sees in the sources.

    many_extracts_test.py --tools build/dev/tools [--sets 60] [--first 0]
"""

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import ALL, Test, h5py, netCDF4  # noqa: E402
import file_grammar  # noqa: E402
from users_view import differences, netcdf_view  # noqa: E402

# If dimensions have no numbers, netCDF-C counts them through the whole file. Their order in an extract may differ. A coordinate
# of two dimensions that refers to such a number cannot be extracted.
UNNUMBERED = {"scales without numbers", "dimensions with and without numbers"}
REFUSAL, MOST_REFUSED = "not all dimensions of the file have numbers", 0.05
# Paths of groups differ if they are outside the group that is compared.
LEFT_OUT = ("their groups",)
# In an extract, an unlimited dimension is as long as the longest variable in the extract.
OF_LENGTH = ("their lengths", "values")


def groups_of(path):
    found = []

    def visit(group):
        for child in group.groups.values():
            found.append(child.path)
            visit(child)

    with netCDF4.Dataset(path) as file:
        visit(file)
    return found


def short_variables(path, group):
    """Variables with fewer records than their dimension, which is longer because of a variable elsewhere in the file."""
    found = set()

    def visit(at, below):
        for name, variable in at.variables.items():
            stored = next(h for h in (f"{at.path}/{name}", f"{at.path}/_nc4_non_coord_{name}") if h in data)
            if data[stored].shape != variable.shape:
                found.add(f"{below}/{name}")
        for name, child in at.groups.items():
            visit(child, f"{below}/{name}")

    with netCDF4.Dataset(path) as file, h5py.File(path) as data:
        visit(file[group], "")
    return found


def compare(test, what, source, group, output, there, in_order):
    short = short_variables(source, group)
    # netCDF-C may crash on values if dimensions are wrong.
    for values in (False, True):
        found = netcdf_view(test.work / output, there, values)
        expected = netcdf_view(source, group, values)
        if found is None:
            test.check(False, f"{what}: netCDF cannot read it")
            return
        lines = [{key: sorted(value) if key[1] == "dimensions" and not in_order else value for key, value in view.items()
                  if key[1] not in LEFT_OUT and (key[0] not in short or key[1] not in OF_LENGTH)} for view in (found, expected)]
        problems = differences(*lines, ())
        test.problems += [f"{what}: {there}: {line}" for line in problems]
        if problems:
            return


def check_set(test, number, refused):
    made = file_grammar.make_set(number, test.work)
    sources = [p for p in made.paths if p.suffix == ".nc"]
    if made.mode != file_grammar.PACK or not sources:
        return 0
    test.run("nmcat", *[p.name for p in made.paths], "-o", "all.nmb", "--no-sync")
    count, in_order = 0, not made.features & UNNUMBERED
    for source in sources:
        groups = groups_of(source)
        for group in groups:
            block = source.stem + group
            words = ("nmconvert", "all.nmb", "one.nc", "-f", "--no-sync", "--extract", block, "--to", "nc4")
            test.run(*words, exit_code=None)
            if test.exit_code == 2 and REFUSAL in test.said:
                refused.append(block)
                continue
            test.check(test.exit_code == 0, f"set {number}: {' '.join(words)}: {test.said}")
            if test.exit_code != 0:
                continue
            compare(test, f"set {number}, --extract {block}", source, group, "one.nc", f"/{block}", in_order)
            count += 1
        if groups:
            test.run("nmconvert", "all.nmb", "glob.nc", "-f", "--no-sync", "--extract", f"{source.stem}/*", "--to", "nc4", exit_code=None)
            is_refused = test.exit_code == 2 and REFUSAL in test.said
            test.check(is_refused or test.exit_code == 0, f"set {number}, --extract {source.stem}/*: {test.said}")
            for group in groups if test.exit_code == 0 else ():
                compare(test, f"set {number}, --extract {source.stem}/*", source, group, "glob.nc", f"/{source.stem}{group}", in_order)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--sets", type=int, default=150 if ALL else 12)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # netCDF4-python warns of byte orders
    problems, refused, count = [], [], 0
    for number in range(arguments.first, arguments.first + arguments.sets):
        with tempfile.TemporaryDirectory() as work:
            test = Test(arguments.tools.resolve(), work)
            count += check_set(test, number, refused)
        problems += test.problems
    for problem in problems:
        print(problem)
    if count < arguments.sets // 4:
        print(f"only {count} groups were compared")
        return 1
    if len(refused) > max(1, MOST_REFUSED * count):
        problems.append(f"refused {len(refused)} of {count} groups: {refused}")
        print(problems[-1])
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
