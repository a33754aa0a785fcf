#!/usr/bin/python3
"""Data sets of HDF5 files without dimension scales: a classic file made of them has the dimensions that netCDF4-python
shows, with the same names, lengths and order.

    phony_dimensions_test.py --tools FOLDER

Skipped (exit code 77) without h5py and netCDF4-python.
"""

import random
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

SETS = 40


def fill(group, random_, unlimited):
    """Data sets of few lengths, so that many are equal; squares among them."""
    for i in range(random_.randrange(1, 6)):
        rank = random_.randrange(0, 4)
        shape = tuple(random_.choice((2, 3, 3, 4)) for _ in range(rank))
        options = {}
        if rank and unlimited and random_.random() < 0.4:
            options = {"maxshape": (None, *shape[1:]), "chunks": shape}
        elif rank and random_.random() < 0.2:
            options = {"maxshape": tuple(9 for _ in shape), "chunks": shape}
        # Of random names: without tracked order they are read in another order than they are made in.
        group.create_dataset(random_.choice("abcxyz") + str(i), data=numpy.ones(shape, "i4"), **options)


def scales(group, random_, unlimited):
    for name in random_.sample(["k", "lat", "time"], random_.randrange(1, 3)):
        length = random_.choice((2, 3, 4))
        options = {"maxshape": (None,), "chunks": (2,)} if unlimited and random_.random() < 0.3 else {}
        group.create_dataset(name, data=numpy.arange(length), **options).make_scale(name)
        group.create_dataset("on_" + name, data=numpy.arange(length), **options).dims[0].attach_scale(group[name])


def make(path, number):
    """Scales before and behind the data sets that have none."""
    random_ = random.Random(number)
    unlimited = number % 3 == 0
    with h5py.File(path, "w", track_order=number % 2 == 0) as file:
        places = random_.choice(([], ["before"], ["behind"]))
        if "before" in places:
            scales(file, random_, unlimited)
        fill(file, random_, unlimited)
        if "behind" in places:
            scales(file, random_, unlimited)
        if number % 4 == 1:  # netCDF passes over it
            file["Pair"] = numpy.zeros((5, 3), [("a", "i4"), ("b", "f8")])


def dimensions(path):
    with netCDF4.Dataset(path) as file:
        named = {name: len(one) for name, one in file.dimensions.items()}
        variables = {name: one.dimensions for name, one in file.variables.items()}
    # Those that only what netCDF passes over uses are not there.
    used = {name for dims in variables.values() for name in dims}
    return {name: named[name] for name in sorted(used)}, variables


def check_files(test):
    seen = set()
    for number in range(SETS):
        make(test.work / "in.h5", number)
        test.run("nmconvert", "in.h5", "out.nc", "--to", "cdf5", "--lossy", "-f")
        expected, found = dimensions(test.work / "in.h5"), dimensions(test.work / "out.nc")
        # Several unlimited dimensions cannot come into a classic file: their variables may be left out.
        variables = {name: dims for name, dims in expected[1].items() if name in found[1]}
        if len(variables) < len(expected[1]):
            test.check(number % 3 == 0, f"{number}: without {set(expected[1]) - set(variables)}")
        test.check(variables == found[1], f"{number}: found {found[1]}, expected {variables}")
        lengths = {name: expected[0].get(name) for name in found[0]}
        test.check(lengths == found[0], f"{number}: found {found[0]}, expected {lengths}")
        for dims in variables.values():
            phony = [name.startswith("phony_dim_") for name in dims]
            seen |= {"phony"} if all(phony) and phony else {"named"} if phony else set()
    test.check(seen == {"phony", "named"}, f"the files have only {seen}")


def check_groups(test):
    """Groups do not share such dimensions. Their numbers are those of a group by itself."""
    with h5py.File(test.work / "groups.h5", "w") as file:
        for group in (file, file.create_group("g")):
            group["a"], group["b"] = numpy.ones((3, 3)), numpy.ones((4, 3))
    header = test.run("nmconvert", "groups.h5", "root.nc", "--to", "cdf5", "--lossy") + test.run(
        "nmconvert", "groups.h5", "groups.nmb") + test.run("nmconvert", "groups.nmb", "g.nc", "--extract", "g")
    for name, group in (("root.nc", "/"), ("g.nc", "g")):
        with netCDF4.Dataset(test.work / "groups.h5") as file:
            source = file if group == "/" else file.groups[group]
            first = min(int(one.rpartition("_")[2]) for one in source.dimensions)
            expected = {one: tuple(f"phony_dim_{int(d.rpartition('_')[2]) - first}" for d in variable.dimensions)
                        for one, variable in source.variables.items()}
        found = dimensions(test.work / name)[1]
        test.check(found == expected, f"{name}: found {found}, expected {expected} {header}")


def check_merged(test):
    """The dimensions of a union, as netCDF names those of its inputs."""
    for name in ("one", "two"):
        with h5py.File(test.work / f"{name}.h5", "w", track_order=True) as file:
            file["square"], file["field"] = numpy.ones((3, 3)), numpy.ones((4, 3))
            file[name] = numpy.ones((3, 4, 4))
    for output in ("both.nc", "both.h5"):
        test.run("nmcat", "one.h5", "two.h5", "--mode", "union", "-o", output)
        found = dimensions(test.work / output)[1]
        for name in ("one", "two"):
            expected = dimensions(test.work / f"{name}.h5")[1]
            some = {one: found.get(one) for one in expected}
            test.check(some == expected, f"{output}: found {some}, expected {expected}")


def check(test):
    check_files(test)
    check_groups(test)
    check_merged(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
