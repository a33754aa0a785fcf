#!/usr/bin/python3
"""Data sets of HDF5 files without dimension scales: `nminspect header` and a classic file made of them have the
dimensions that netCDF4-python shows, with the same names, lengths and order.

    phony_dimensions_test.py --tools FOLDER

Skipped (exit code 77) without h5py and netCDF4-python, and with a netCDF-C that numbers these dimensions otherwise.
"""

import json
import random
import sys

sys.dont_write_bytecode = True
from tool_runs import ALL, h5py, main, netCDF4, numpy  # noqa: E402

SETS = 40 if ALL else 9
TREES = 200 if ALL else 30


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
    # Dimensions that only objects hidden by netCDF use do not exist.
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


def fill_group(group, random_, depth, above):
    """Data sets, with scales of this group or of one above or none, and groups with the same. above: scales; None: no
    data set has scales."""
    names = random_.sample("abcdefghijklpqrstuvwyz", 20)
    scales_ = list(above or [])

    def scale():
        length = random_.choice((2, 3, 4))
        options = {"maxshape": (None,), "chunks": (2,)} if random_.random() < 0.4 else {}
        # Of no name that a group above has: a header of one group cannot tell them apart.
        one = group.create_dataset(f"s{depth}" + names.pop(), data=numpy.arange(length), **options)
        one.make_scale(one.name)
        scales_.append(one)

    def plain():
        shape = tuple(random_.choice((0, 2, 3, 3, 4)) for _ in range(random_.choice((0, 1, 1, 2, 2, 3, 4))))
        options = {}
        if shape and 0 not in shape and random_.random() < 0.4:
            options = {"maxshape": tuple(random_.choice((None, 9, n)) for n in shape), "chunks": shape}
        group.create_dataset(names.pop(), shape, random_.choice(("i4", "f8", "S3", h5py.string_dtype())), **options)

    def on_scales():
        chosen = [random_.choice(scales_) for _ in range(random_.choice((1, 2, 3)))] if scales_ else []
        if not chosen:
            return
        data = group.create_dataset(names.pop(), shape=tuple(len(one) for one in chosen), dtype="i2",
                                    maxshape=tuple(one.maxshape[0] for one in chosen), chunks=True)
        # netCDF-C fails if the first has a scale and another one has none; without the first it sees none.
        first = random_.random() < 0.3
        for place, one in enumerate(chosen):
            if place >= first:
                data.dims[place].attach_scale(one)

    def passed_over():
        group.create_dataset(names.pop(), (5, 3), [("a", "i4"), ("b", "f8")])

    def alias():
        group[names.pop()] = numpy.dtype([("c", "i4")])

    def child():
        if depth < 3:
            below = group.create_group(names.pop(), track_order=random_.random() < 0.5)
            fill_group(below, random_, depth + 1, None if above is None else scales_)

    makers = [plain] * random_.randrange(0, 6) + [child] * random_.randrange(0, 4) + [on_scales] * random_.randrange(3)
    makers += [scale] * (0 if above is None else random_.choice((0, 0, 0, 1, 2)))
    makers += random_.choice(([], [], [passed_over], [alias]))
    random_.shuffle(makers)
    for make_one in makers:
        make_one()


def make_tree(path, number):
    """Nested groups, some of a file that netCDF began, with dimensions that may grow and have no variable."""
    random_ = random.Random(1000 + number)
    if number % 5 == 0:
        with netCDF4.Dataset(path, "w") as file:
            for group in (file, file.createGroup("m"), file.createGroup("m/n")):
                name = "x" + group.name.strip("/")
                group.createDimension(name, random_.choice((None, 3)))
                group.createVariable("of_" + name, "f4", (name,))[:3] = 1
                if random_.random() < 0.5:
                    group.createVariable(name, "f4", (name,))[:3] = 1
    with h5py.File(path, "a" if number % 5 == 0 else "w", track_order=number % 2 == 0) as file:
        # Scales without numbers ahead of those with some would get the same, which netCDF-C takes for one dimension.
        fill_group(file, random_, 0, None if number % 5 == 0 else [])
        if number % 5 == 0:
            fill_group(file["m/n"], random_, 2, None)


def groups_of(path):
    """By path, what netCDF shows: dimensions with lengths and whether they are unlimited; variables' dimensions."""
    found = {}

    def take(group):
        found[group.path.strip("/")] = (
            {name: (len(one), one.isunlimited()) for name, one in group.dimensions.items()},
            {name: list(one.dimensions) for name, one in group.variables.items()})
        for below in group.groups.values():
            take(below)

    with netCDF4.Dataset(path) as file:
        take(file)
    return found


def check_header(test, path, block, group, groups, what):
    """header: also of what netCDF passes over, whose dimensions may be others; with dimensions of groups above."""
    expected = groups[group]
    above = {d for one in groups if one == "" or group.startswith(one + "/") for d in groups[one][0]}
    header = json.loads(test.run("nminspect", "header", "--json", path, block or "/"))
    used = {one["name"]: one["dimensions"] for one in header["variables"]}
    variables = {name: used.get(name) for name in expected[1]}
    test.check(variables == expected[1], f"{what} /{group}: found {variables}, expected {expected[1]}")
    only = {d for name in used for d in used[name] if name not in expected[1] or d in above} - set(expected[0])
    lengths = [(one["name"], (one["length"], one["record"])) for one in header["dimensions"] if one["name"] not in only]
    test.check(lengths == list(expected[0].items()), f"{what} /{group}: found {lengths}, expected {expected[0]}")


def check_trees(test):
    """The numbers are those of the file, of which each group shows its own."""
    made_up, nested, mixed = 0, 0, 0
    for number in range(TREES):
        make_tree(test.work / "tree.h5", number)
        groups = groups_of(test.work / "tree.h5")
        if number % 4 == 0:
            test.run("nmconvert", "tree.h5", "tree.nmb", "-f")
            test.run("nmcat", "tree.h5", "groups.h5", "-o", "two.nmb", "-f")
        for group, expected in groups.items():
            phony = [name.startswith("phony_dim_") for name in expected[0]]
            made_up, nested = made_up + any(phony), nested + (any(phony) and "/" in group)
            mixed += any(phony) and not all(phony)
            check_header(test, "tree.h5", group, group, groups, f"tree {number}")
            if number % 4 == 0:
                check_header(test, "tree.nmb", group, group, groups, f"tree {number}, NMB")
                check_header(test, "two.nmb", f"tree/{group}".strip("/"), group, groups, f"tree {number}, packed")
        if len(test.problems) > 20:
            return
    # The random files have what is to be compared.
    test.check(made_up > 2 * TREES / 3 and nested > TREES / 4 and mixed > TREES / 8, f"{made_up}, {nested}, {mixed}")


def make_groups(test):
    with h5py.File(test.work / "groups.h5", "w") as file:
        for group in (file, file.create_group("g")):
            group["a"], group["b"] = numpy.ones((3, 3)), numpy.ones((4, 3))


def check_groups(test):
    """Groups do not share such dimensions. Classic files have the numbers that the group has in its file."""
    test.run("nmconvert", "groups.h5", "root.nc", "--to", "cdf5", "--lossy")
    test.run("nmconvert", "groups.h5", "groups.nmb")
    test.run("nmconvert", "groups.nmb", "g.nc", "--to", "cdf5", "--extract", "g")
    test.run("nmconvert", "groups.nmb", "again.nc", "--to", "cdf5", "--extract", "", "--lossy")
    source = groups_of(test.work / "groups.h5")
    test.check(source[""][1]["b"] == ["phony_dim_5", "phony_dim_3"], f"netCDF-C numbers otherwise: {source}")
    for name, group in (("root.nc", ""), ("g.nc", "g"), ("again.nc", "")):
        found = groups_of(test.work / name)[""]
        test.check(found == source[group], f"{name}: found {found}, expected {source[group]}")


def check_listing(test):
    rows = json.loads(test.run("nminspect", "ls", "--what", "objects", "-l", "--json", "groups.nmb"))["objects"]
    found = {row["name"]: row["dimensions"] for row in rows}
    source = groups_of(test.work / "groups.h5")
    expected = {f"{group}/{name}".strip("/"): dims for group in source for name, dims in source[group][1].items()}
    test.check(found == expected, f"ls: found {found}, expected {expected}")


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
    make_groups(test)
    check_files(test)
    check_trees(test)
    check_groups(test)
    check_listing(test)
    check_merged(test)


if __name__ == "__main__":
    if netCDF4.__netcdf4libversion__ > "4.9.0":
        print(f"skipped: netCDF-C {netCDF4.__netcdf4libversion__} numbers dimensions without a scale otherwise than 4.9.0")
        sys.exit(77)
    sys.exit(main(__doc__, check))
