#!/usr/bin/python3
"""Numbers of dimensions in HDF5 views: blocks that are added, replaced or removed do not change the numbers of other
blocks, and netCDF-C finds the right dimensions of all variables.

    view_numbers_test.py --tools FOLDER

Skipped (exit code 77) without h5py, netCDF4-python and numpy.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402

SPEC = Path(__file__).resolve().parents[2] / "spec"
sys.path[:0] = [str(SPEC / "vectors")]
import assemble  # noqa: E402

ATTRIBUTES = ("_Netcdf4Dimid", "_Netcdf4Coordinates")


def make(path, kind, lengths):
    """A file with dimensions of these lengths. A netCDF-4 file also has a group that uses one of them."""
    names = [f"d{i}" for i in range(len(lengths))]
    with netCDF4.Dataset(path, "w", format=kind) as d:
        for name, length in zip(names, lengths):
            d.createDimension(name, length)
        d.createVariable("v", "i4", tuple(names))[...] = numpy.arange(numpy.prod(lengths)).reshape(lengths)
        d.createVariable(names[0], "f4", names[:1])[:] = numpy.arange(lengths[0])
        if kind == "NETCDF4":
            inner = d.createGroup("inner")
            inner.createDimension("z", 2)
            inner.createVariable("w", "i2", ("z", names[-1]))[...] = numpy.arange(2 * lengths[-1]).reshape(2, -1)


def numbers_of(path):
    """{(path of a data set, attribute): values}"""
    out = {}

    def visit(name, node):
        for attribute in ATTRIBUTES:
            if attribute in node.attrs:
                out[name, attribute] = numpy.atleast_1d(node.attrs[attribute]).tolist()

    with h5py.File(path) as file:
        file.visititems(visit)
    return out


def groups_of(file, path=""):
    yield path, file
    for name, group in file.groups.items():
        yield from groups_of(group, f"{path}{name}/")


class Numbers:
    def __init__(self, test):
        self.test = test

    def shown(self, view, blocks):
        """netCDF-C shows the blocks as it shows their files: {block: file}."""
        with netCDF4.Dataset(self.test.work / view) as file:
            for block, source in blocks.items():
                with netCDF4.Dataset(self.test.work / source) as expected:
                    for path, group in groups_of(expected):
                        shown = file[f"{block}/{path}".rstrip("/")]
                        for name, variable in group.variables.items():
                            found = shown[name]
                            same = found.dimensions == variable.dimensions and numpy.array_equal(found[...], variable[...])
                            self.test.check(same, f"{view}: {block}/{path}{name} has dimensions {found.dimensions}")
        self.test.run("nmverify", view)

    def used(self, view):
        """The numbers of all dimension scales."""
        used = []
        with h5py.File(self.test.work / view) as file:
            file.visititems(lambda _, node: used.append(int(node.attrs[ATTRIBUTES[0]])) if "CLASS" in node.attrs else None)
        return sorted(used)

    def unchanged(self, before, view, what, but=()):
        """All numbers of `before` are still there, except below some blocks."""
        now = numbers_of(self.test.work / view)
        for key, values in before.items():
            if not key[0].startswith(tuple(f"{block}/" for block in but)):
                self.test.check(now.get(key) == values, f"{view}, {what}: {key} was {values}, is {now.get(key)}")
        used = self.used(view)
        self.test.check(len(used) == len(set(used)), f"{view}, {what}: numbers {sorted(used)}")
        return now

    def changes(self, view, kinds):
        """Adds blocks before and after the others, and replaces one with more and with fewer dimensions."""
        run = self.test.run
        kind = lambda block: kinds[ord(block) % len(kinds)]
        inputs = {}

        def source(block, lengths):
            inputs[block] = f"{view}_{block}_{len(lengths)}/{block}.nc"
            (self.test.work / inputs[block]).parent.mkdir(exist_ok=True)
            make(self.test.work / inputs[block], kind(block), lengths)
            return inputs[block]

        file = f"{view}.nmb"
        name = ("--block-name", "{stem}/{group}")
        run("nmcat", source("f", (2, 3)), source("b", (4, 5, 6)), source("d", (3,)), "-o", file, "--hdf5-view", "on", *name)
        before = self.unchanged({}, file, "made")
        self.shown(file, inputs)
        for block, lengths in (("a", (2,)), ("c", (5, 2)), ("g", (3, 2, 2))):
            run("nmcat", source(block, lengths), "-o", file, "--append", *name)
            before = self.unchanged(before, file, f"{block} added")
            self.shown(file, inputs)
        for block, lengths in (("b", (2, 2)), ("d", (2, 3, 4)), ("g", (5, 6))):
            run("nmcat", source(block, lengths), "-o", file, "--append", "--replace", *name)
            before = self.unchanged(before, file, f"{block} replaced", [block])
            self.shown(file, inputs)
        # A generation without a new view does not forget the numbers.
        run("nmcat", source("e", (2, 2)), "-o", file, "--append", "--hdf5-view", "off", *name)
        run("nmcat", source("a", (4, 4)), "-o", file, "--append", "--replace", "--hdf5-view", "off", *name)
        run("nmconvert", "--add-hdf5-view", file)
        self.unchanged(before, file, "view added", ["a"])
        self.shown(file, inputs)

    def removed(self):
        """Another program has removed a block."""
        data, _, _ = assemble.assemble((SPEC / "vectors" / "hdf5_view_numbers.txt").read_text())
        (self.test.work / "removed.nmb").write_bytes(data)
        self.test.run("nmverify", "removed.nmb")
        before = numbers_of(self.test.work / "removed.nmb")
        expected = {("a/u", ATTRIBUTES[0]): [3], ("a/v", ATTRIBUTES[1]): [3], ("c/y", ATTRIBUTES[0]): [1], ("c/z", ATTRIBUTES[0]): [2],
                    ("c/w", ATTRIBUTES[1]): [2, 1]}
        self.test.check(before == expected, f"removed.nmb: numbers {before}")
        with netCDF4.Dataset(self.test.work / "removed.nmb") as file:
            self.test.check(file["c/w"].dimensions == ("z", "y") and file["c/w"][...].tolist() == [[1, 2, 3]], "removed.nmb: c/w")
        make(self.test.work / "more.nc", "NETCDF3_CLASSIC", (2, 2))
        self.test.run("nmcat", "more.nc", "-o", "removed.nmb", "--append")
        self.unchanged(before, "removed.nmb", "more added")
        self.shown("removed.nmb", {"more": "more.nc"})
        self.test.run("nmconvert", "removed.nmb", "copy.nmb")
        copied = self.used("copy.nmb")
        self.test.check(copied == list(range(len(copied))), f"copy.nmb: numbers {copied}")


def check(test):
    numbers = Numbers(test)
    numbers.changes("classic", ["NETCDF3_CLASSIC"])
    numbers.changes("netcdf4", ["NETCDF4"])
    numbers.changes("mixed", ["NETCDF4", "NETCDF3_64BIT_DATA", "NETCDF3_CLASSIC"])
    numbers.removed()


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
