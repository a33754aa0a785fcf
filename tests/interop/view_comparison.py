"""What HDF5 and netCDF-4 programs read from an NMB file with a view, compared with the classic files that its blocks were
made of: names, types, shapes, attributes, dimensions and values, by netCDF4-python and h5py."""

import subprocess

import h5py
import netCDF4
import numpy

SCALE_ATTRIBUTES = {"CLASS", "NAME", "DIMENSION_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"}
NON_COORDINATE = "_nc4_non_coord_"
ORDERED = 1024  # a group of more links has them in order of names


def same_values(a, b):
    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    return a.astype(a.dtype.newbyteorder(">")).tobytes() == b.astype(b.dtype.newbyteorder(">")).tobytes()


def attributes_of(thing):
    return {name: thing.getncattr(name) for name in thing.ncattrs()}


def same_attribute(a, b):
    if isinstance(a, str) or isinstance(b, str):
        # A text that ends in NUL, or is nothing else, has no end that both readers agree about.
        return isinstance(a, str) and isinstance(b, str) and a.rstrip("\0") == b.rstrip("\0")
    return same_values(a, b)


class Comparison:
    def __init__(self):
        self.problems = []
        self.variables = 0

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)

    def attributes(self, what, found, expected):
        self.check(list(found) == list(expected), f"{what}: attributes {list(found)}, expected {list(expected)}")
        for name in found.keys() & expected.keys():
            a, b = found[name], expected[name]
            self.check(same_attribute(a, b), f"{what}@{name}: found {a!r}, expected {b!r}")

    def netcdf(self, what, group, source):
        """A group as netCDF-C shows it, and a classic dataset."""
        lengths = {n: (len(d), d.isunlimited()) for n, d in group.dimensions.items()}
        used = {d for v in source.variables.values() for d in v.dimensions}
        # Of an unlimited dimension that no variable has, netCDF-4 does not keep the length.
        expected = {n: (len(d) if n in used or not d.isunlimited() else lengths.get(n, (0,))[0], d.isunlimited())
                    for n, d in source.dimensions.items()}
        self.check(list(lengths.items()) == list(expected.items()), f"{what}: dimensions {lengths}, expected {expected}")
        self.attributes(what, attributes_of(group), attributes_of(source))
        names = list(source.variables)
        if len(group.variables) + len(group.dimensions) + len(group.groups) > ORDERED:
            names.sort(key=lambda name: name.encode())
        self.check(list(group.variables) == names, f"{what}: variables {list(group.variables)[:9]}, expected {names[:9]}")
        for name in names:
            if name not in group.variables:
                continue
            a, b = group.variables[name], source.variables[name]
            for v in (a, b):
                v.set_auto_maskandscale(False)
                v.set_auto_chartostring(False)
            where = f"{what}: {name}"
            self.variables += 1
            self.check(a.dtype.newbyteorder("=") == b.dtype.newbyteorder("="), f"{where}: type {a.dtype}, expected {b.dtype}")
            self.check(a.dimensions == b.dimensions, f"{where}: dimensions {a.dimensions}, expected {b.dimensions}")
            self.attributes(where, attributes_of(a), attributes_of(b))
            self.check(same_values(a[...], b[...]), f"{where}: other values")

    def hdf5(self, what, group, source):
        """A group as HDF5 shows it."""
        self.attributes_hdf5(what, group, source, set())
        for name, b in source.variables.items():
            b.set_auto_maskandscale(False)
            b.set_auto_chartostring(False)
            own = name in source.dimensions and b.dimensions[:1] != (name,)
            a = group[(NON_COORDINATE if own else "") + name]
            where = f"{what}: /{name}"
            values, expected = a[...], b[...]
            if a.dtype.kind == "S":
                values = numpy.frombuffer(numpy.asarray(values).tobytes(), "S1").reshape(a.shape)
            self.check(same_values(values, expected), f"{where}: other values in HDF5")
            self.attributes_hdf5(where, a, b, SCALE_ATTRIBUTES)
            for i, dimension in enumerate(b.dimensions):
                unlimited = source.dimensions[dimension].isunlimited()
                self.check((a.maxshape[i] is None) == unlimited, f"{where}: maximal lengths {a.maxshape}")
                if not h5py.h5ds.is_scale(a.id):
                    # By address: HDF5 looks through the file for the name of what a reference leads to.
                    scales = [h5py.h5o.get_info(scale.id).addr for scale in a.dims[i].values()]
                    scale = h5py.h5o.get_info(group[dimension].id).addr
                    self.check(scales == [scale], f"{where}: scales at {scales}, expected {dimension} at {scale}")

    def attributes_hdf5(self, what, thing, source, but):
        names = set(source.ncattrs())
        found = {n for n in thing.attrs if n not in but}
        self.check(found == names, f"{what}: HDF5 attributes {sorted(found)}, expected {sorted(names)}")
        for name in found & names:
            a, b = thing.attrs[name], source.getncattr(name)
            if isinstance(a, h5py.Empty):
                self.check(len(b) == 0 if isinstance(b, str) else numpy.size(b) == 0, f"{what}@{name}: empty in HDF5")
            elif isinstance(b, str):
                text = a if isinstance(a, str) else a.tobytes().decode("utf-8", "replace")
                self.check(text.rstrip("\0") == b.rstrip("\0"), f"{what}@{name}: found {a!r}, expected {b!r}")
            else:
                self.check(same_values(numpy.ravel(a), numpy.ravel(b)), f"{what}@{name}: found {a!r}, expected {b!r}")

    def blocks(self, path, sources):
        """A view and {name of a block: its source}."""
        with netCDF4.Dataset(path) as view, h5py.File(path) as file:
            for name, source in sources.items():
                with netCDF4.Dataset(source) as dataset:
                    self.netcdf(f"{source}", view[name] if name else view, dataset)
                    self.hdf5(f"{source}", file[name] if name else file, dataset)

    def programs(self, path, work, values=True):
        """Programs that come with HDF5 and netCDF-C read it; values: these too."""
        calls = [["h5ls", "-r", path], ["h5dump", "-H", path], ["h5stat", path], ["ncdump", "-h", path]]
        if values:
            calls += [["h5dump", path], ["ncdump", path], ["h5repack", path, work / "repacked.h5"],
                      ["h5diff", path, work / "repacked.h5"], ["nccopy", path, work / "copied.nc"]]
        for call in calls:
            done = subprocess.run(call, capture_output=True, timeout=300)
            self.check(done.returncode == 0, f"{' '.join(map(str, call))}: {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
