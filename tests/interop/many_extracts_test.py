#!/usr/bin/python3
"""Groups of generated netCDF-4 files (file_grammar.py), packed into an .nmb file and extracted by nmconvert, alone and by a
glob: netCDF4-python sees in them what it sees in the sources.

    many_extracts_test.py --tools build/release/tools [--sets 60] [--first 0]
"""

import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, netCDF4  # noqa: E402
import file_grammar  # noqa: E402
from generated_sets import main  # noqa: E402
from users_view import differences, netcdf_view  # noqa: E402

# If dimensions have no numbers, netCDF-C counts them through the whole file. Their order in an extract may differ.
UNNUMBERED = {"scales without numbers", "dimensions with and without numbers"}
REFUSAL = "not all dimensions of the file have numbers"
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


def may_be_refused(source, group):
    """A coordinate of two dimensions that refers to dimensions by number cannot be extracted if other dimensions have no
    number. The groups that count are the group itself, those below it and those above it."""
    scales = []

    def visit(name, item):
        place = item.name.rpartition("/")[0] + "/"
        if place.startswith(group.rstrip("/") + "/") or group.startswith(place):
            if isinstance(item, h5py.Dataset) and item.attrs.get("CLASS") == b"DIMENSION_SCALE":
                scales.append(item)

    with h5py.File(source) as file:
        file.visititems(visit)
        return any("_Netcdf4Dimid" not in one.attrs for one in scales) and any(
            one.ndim > 1 and "_Netcdf4Coordinates" in one.attrs for one in scales)


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


def was_made(test, what, source, group):
    """Whether the last call wrote a file. Another refusal than the known one, and one without its reason, are problems."""
    is_refused = test.exit_code == 2 and REFUSAL in test.said and may_be_refused(source, group)
    test.check(is_refused or test.exit_code == 0, f"{what}: {test.said}")
    return test.exit_code == 0


def check_set(test, number):
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
            if not was_made(test, f"set {number}: {' '.join(words)}", source, group):
                continue
            compare(test, f"set {number}, --extract {block}", source, group, "one.nc", f"/{block}", in_order)
            count += 1
        if groups:
            test.run("nmconvert", "all.nmb", "glob.nc", "-f", "--no-sync", "--extract", f"{source.stem}/*", "--to", "nc4", exit_code=None)
            is_made = was_made(test, f"set {number}, --extract {source.stem}/*", source, "/")
            for group in groups if is_made else ():
                compare(test, f"set {number}, --extract {source.stem}/*", source, group, "glob.nc", f"/{source.stem}{group}", in_order)
    return count


if __name__ == "__main__":
    sys.exit(main(__doc__, check_set, few=12, many=150, least=0.25))
