"""Sets of small netCDF-4 and HDF5 files, made by rules: a set of one number is always the same.

make_set(number, folder) writes the files of a set with netCDF4-python and h5py alone and returns a FileSet, which
tells the paths, how the files are to be put together (pack, union or join), and which features of FEATURES they have.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import netCDF4
import numpy

PACK, UNION, JOIN = "pack", "union", "join"
FEATURES = (
    "same dimension names", "nested groups", "dimensions of a group above", "unlimited", "several unlimited",
    "coordinate variable", "coordinate of two dimensions", "name of a dimension, not its variable", "compound", "enum",
    "sequence", "opaque", "strings", "characters", "text attribute", "attribute of strings", "attribute of numbers",
    "attribute of a user's type", "chunked", "deflate", "shuffle", "fletcher32", "contiguous", "compact", "zero length",
    "scalar", "null space", "big-endian", "little-endian", "fill value", "user block", "scales without numbers",
    "data sets without scales", "soft link", "hard link", "reference", "linked named type", "named type without a link",
    "union", "join", "netCDF-4 and HDF5", "dimensions in another order", "group of one input alone",
    "group of one input alone, with dimensions", "group of one input alone, coordinate of two dimensions",
    "unlimited dimension that only groups use", "fixed dimension that only groups use",
    "dimension of a group, like one above", "numbers of dimensions in another order",
    "dimensions with and without numbers",
)
NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
POINT = numpy.dtype([("x", "<f8"), ("n", "<i4")])
STATES = {"OFF": 0, "ON": 1, "BROKEN": 7}
USER_BLOCK = b"MATLAB 7.3 MAT-file, made by a test".ljust(512, b"\0")


@dataclass
class FileSet:
    number: int
    mode: str = PACK
    paths: list = field(default_factory=list)
    features: set = field(default_factory=set)


def make_set(number, folder):
    made = FileSet(number, (PACK, PACK, UNION, PACK, JOIN)[number % 5])
    folder = Path(folder)
    random_ = random.Random(number)
    if made.mode != PACK:
        made.features.add(made.mode)
        for i in range(2):
            made.paths.append(folder / f"s{number}_{i}.nc")
            # United or joined files have the same definitions, except where a rule says otherwise.
            MergedFile(made, random.Random(number), i).write(made.paths[-1])
            Numbers(made, random.Random(f"numbers {number} {i}")).change(made.paths[-1])
        return made
    kinds = [("nc", "nc"), ("nc", "h5"), ("h5", "nc"), ("nc", "nc", "h5"), ("h5", "h5")][random_.randrange(5)]
    if len(set(kinds)) == 2:
        made.features.add("netCDF-4 and HDF5")
    if kinds.count("nc") > 1:
        made.features.add("same dimension names")
    for i, kind in enumerate(kinds):
        made.paths.append(folder / f"s{number}_{i}.{kind}")
        (NetcdfFile if kind == "nc" else Hdf5File)(made, random_).write(made.paths[-1])
        if kind == "nc":
            Numbers(made, random.Random(f"numbers {number} {i}")).change(made.paths[-1])
    return made


class Rules:
    """Choices, and the features that they make."""

    def __init__(self, made, random_):
        self.made, self.random = made, random_

    def chance(self, share, *features):
        if self.random.random() >= share:
            return False
        self.made.features.update(features)
        return True

    def have(self, *features):
        self.made.features.update(features)

    def number_type(self, any_order=True):
        order = self.random.choice("<>") if any_order else "<"
        name = self.random.choice(NUMBERS)
        if name[1] != "1":
            self.have("big-endian" if order == ">" else "little-endian")
        return numpy.dtype(order + name)

    def values(self, dtype, shape):
        count = int(numpy.prod(shape, dtype=int))
        low = self.random.randrange(100)
        return (numpy.arange(low, low + count) % 113).astype(dtype).reshape(shape)


class NetcdfFile(Rules):
    """A netCDF-4 file. Dimensions of all files have names of a few, and lengths of their own."""

    def write(self, path):
        with netCDF4.Dataset(path, "w") as root:
            root.set_auto_maskandscale(False)
            self.types(root)
            self.group(root, 0, [])

    def types(self, root):
        self.enum = root.createEnumType("i1", "state_t", STATES) if self.chance(0.5, "enum") else None
        self.compound = root.createCompoundType(POINT, "point_t") if self.chance(0.5, "compound") else None
        self.sequence = root.createVLType("<i4", "hits_t") if self.chance(0.5, "sequence") else None

    def group(self, group, depth, above):
        own = []
        for name in self.random.sample(["x", "y", "z", "time", "level"], self.random.randrange(1, 4)):
            own.append((name, self.dimension(group, name)))
        if sum(group.dimensions[name].isunlimited() for name, _ in own) > 1:
            self.have("several unlimited")
        names = {name for name, _ in own}
        usable = own + [(name, length) for name, length in above if name not in names]
        self.attributes(group)
        self.coordinates(group, own)
        for i in range(self.random.randrange(1, 4)):
            dims = self.random.sample(usable, self.random.randrange(0, min(3, len(usable)) + 1))
            if not dims:
                self.have("scalar")
            if any(name not in names for name, _ in dims):
                self.have("dimensions of a group above")
            self.variable(group, f"v{i}", dims)
        self.others(group, own)
        if depth < 2 and self.chance(0.55, "nested groups"):
            for name in ("g", "h")[: self.random.randrange(1, 3)]:
                self.group(group.createGroup(name), depth + 1, usable)

    # Its length: records of one that is not limited.
    def dimension(self, group, name):
        if self.chance(0.35, "unlimited"):
            group.createDimension(name, None)
            records = self.random.randrange(0, 5)
            if records == 0:
                self.have("zero length")
            return records
        length = self.random.randrange(1, 7)
        group.createDimension(name, length)
        return length

    def coordinates(self, group, own):
        for name, length in own:
            if self.chance(0.4, "coordinate variable"):
                dtype = self.number_type().newbyteorder("=")
                self.put(group.createVariable(name, dtype, (name,)), [(name, length)])
            elif len(own) > 1 and self.chance(0.3, "coordinate of two dimensions"):
                other = next(one for one in own if one[0] != name)
                self.put(group.createVariable(name, "f8", (name, other[0])), [(name, length), other])
            elif len(own) > 1 and self.chance(0.3, "name of a dimension, not its variable"):
                other = next(one for one in own if one[0] != name)
                self.put(group.createVariable(name, "i4", (other[0],)), [other])

    def variable(self, group, name, dims):
        dtype, options = self.number_type(), {}
        if self.chance(0.35, "fill value"):
            options["fill_value"] = numpy.array(111, dtype.newbyteorder("="))
        if dims and self.chance(0.4, "deflate", "chunked"):
            options |= {"zlib": True, "complevel": 3, "shuffle": self.chance(0.5, "shuffle")}
        if dims and self.chance(0.25, "fletcher32", "chunked"):
            options["fletcher32"] = True
        if dims and not options.keys() & {"zlib", "fletcher32"}:
            limited = not any(group_dimension(group, one).isunlimited() for one, _ in dims)
            self.have("contiguous" if limited else "chunked")
        endian = {"<": "little", ">": "big"}.get(dtype.byteorder, "native")
        made = group.createVariable(name, dtype.newbyteorder("="), [one for one, _ in dims], endian=endian, **options)
        self.put(made, dims)
        self.attributes(made)

    def put(self, variable, dims):
        variable.set_auto_maskandscale(False)
        shape = tuple(length for _, length in dims)
        if 0 not in shape:
            values = self.values(variable.dtype, shape)
            # Along a dimension that is not limited some have fewer values than others.
            variable[...] = values
        if self.chance(0.5):
            self.attributes(variable)

    def others(self, group, own):
        name, length = own[0]
        if group.dimensions[name].isunlimited() or length == 0:
            return
        if self.enum and self.chance(0.7):
            group.createVariable("state", self.enum, (name,))[:] = numpy.array([0, 1, 7, 1, 0, 7][:length], "i1")
        if self.compound and self.chance(0.7):
            values = numpy.zeros(length, POINT)
            values["x"], values["n"] = numpy.arange(length) / 4, numpy.arange(length) * 3
            group.createVariable("point", self.compound, (name,))[:] = values
            self.have("attribute of a user's type")
            group.variables["point"].setncattr("origin", values[:1])
        if self.sequence and self.chance(0.7):
            made = group.createVariable("hits", self.sequence, (name,))
            for i in range(length):
                made[i] = numpy.arange(i, dtype="i4")
        if self.chance(0.4, "strings"):
            made = group.createVariable("word", str, (name,))
            made[:] = numpy.array(["", "one", "zwei", "trois mots", "5", "ϕ"][:length], object)
        if self.chance(0.3, "characters"):
            group.createDimension("letters", 4)
            made = group.createVariable("code", "S1", (name, "letters"))
            made.set_auto_chartostring(False)
            made[:] = numpy.frombuffer((b"abcdefghijklmnopqrstuvwxyz")[: 4 * length], "S1").reshape(length, 4)

    def attributes(self, owner):
        if self.chance(0.4, "text attribute"):
            owner.setncattr("units", self.random.choice(["m", "K", "degrees_north"]))
        if self.chance(0.3, "attribute of strings"):
            owner.setncattr_string("names", ["a", "bc", ""])
        if self.chance(0.5, "attribute of numbers"):
            dtype = self.number_type(any_order=False)
            owner.setncattr("levels", self.values(dtype, (self.random.randrange(1, 4),)))


class Numbers(Rules):
    """The numbers of a netCDF-4 file's dimensions, as they are where programs wrote scales in another order than
    dimensions were defined in."""

    def change(self, path):
        permute = self.chance(0.6, "numbers of dimensions in another order")
        drop = self.chance(0.6)
        with h5py.File(path, "r+") as file:
            data_sets = list(data_sets_of(file))
            scales = [one for one in data_sets if one.attrs.get("CLASS") == b"DIMENSION_SCALE"]
            if permute:
                old = sorted(int(one.attrs["_Netcdf4Dimid"]) for one in scales)
                new = dict(zip(old, self.random.sample(old, len(old))))
                for one in data_sets:
                    for name in {"_Netcdf4Dimid", "_Netcdf4Coordinates"} & set(one.attrs):
                        ids = numpy.array(one.attrs[name], "i4")
                        one.attrs.modify(name, numpy.vectorize(new.get, otypes="i")(ids).astype("i4"))
            # netCDF-C gives a scale without a number the one above all that it met before.
            highest = -1
            for one in scales:
                number = int(one.attrs["_Netcdf4Dimid"])
                if drop and number == highest + 1:
                    del one.attrs["_Netcdf4Dimid"]
                    self.have("dimensions with and without numbers")
                highest = max(highest, number)


# In the order in which netCDF-C reads them.
def data_sets_of(group):
    names = []
    group.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER)
    children = [group[name.decode()] for name in names]
    for child in children:
        if isinstance(child, h5py.Dataset):
            yield child
    for child in children:
        if isinstance(child, h5py.Group):
            yield from data_sets_of(child)


def group_dimension(group, name):
    while name not in group.dimensions:
        group = group.parent
    return group.dimensions[name]


class Hdf5File(Rules):
    """An HDF5 file as programs other than netCDF write it."""

    def write(self, path):
        self.block = self.chance(0.22, "user block")
        order = self.chance(0.5)
        with h5py.File(path, "w", userblock_size=512 if self.block else 0, track_order=order) as root:
            self.group(root, 0)
            self.links(root)
        if self.block:
            with open(path, "r+b") as file:
                file.write(USER_BLOCK)

    def group(self, group, depth):
        self.attributes(group)
        names = []
        for i in range(self.random.randrange(1, 4)):
            names.append(f"d{i}")
            self.data_set(group, names[-1])
        if self.chance(0.4, "scales without numbers"):
            self.scales(group)
        else:
            self.have("data sets without scales")
        self.types(group)
        if self.chance(0.25, "null space"):
            group["nothing"] = h5py.Empty("f4")
        if self.chance(0.3, "attribute of numbers"):
            group.attrs["none"] = h5py.Empty("i2")
        if depth < 2 and self.chance(0.5, "nested groups"):
            self.group(group.create_group("g"), depth + 1)

    def data_set(self, group, name):
        dtype, rank = self.number_type(), self.random.randrange(0, 3)
        shape = tuple(self.random.randrange(1, 6) for _ in range(rank))
        options = {}
        if self.chance(0.35, "fill value"):
            options["fillvalue"] = 99
        if not rank:
            self.have("scalar")
            layout = "contiguous"
        else:
            if self.chance(0.2, "zero length"):
                shape = (0, *shape[1:])
            layout = self.random.choice(["contiguous", "chunked", "chunked", "compact"])
        if layout == "compact" and 0 not in shape:
            self.compact(group, name, dtype, shape)
        else:
            if layout == "chunked":
                self.have("chunked")
                options["chunks"] = tuple(max(1, length // 2) for length in shape)
                # h5py refuses chunks that are longer than the maximum length.
                if self.chance(1 if 0 in shape else 0.5, "unlimited"):
                    options["maxshape"] = (None, *shape[1:])
                if self.chance(0.6, "deflate"):
                    options |= {"compression": "gzip", "shuffle": self.chance(0.5, "shuffle")}
                if self.chance(0.3, "fletcher32"):
                    options["fletcher32"] = True
            elif layout == "contiguous" and rank:
                self.have("contiguous")
            if self.chance(0.2):
                group.create_dataset(name, shape, dtype, **options)  # never written
            else:
                group.create_dataset(name, data=self.values(dtype, shape), dtype=dtype, **options)
        self.attributes(group[name])

    def compact(self, group, name, dtype, shape):
        self.have("compact")
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_layout(h5py.h5d.COMPACT)
        made = h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(dtype), h5py.h5s.create_simple(shape), create)
        h5py.Dataset(made)[...] = self.values(dtype, shape)

    def scales(self, group):
        for name, length in (("lat", 3), ("lon", self.random.randrange(2, 6))):
            group.create_dataset(name, data=numpy.arange(length) * 1.5)
            group[name].make_scale(name)
        group["field"] = self.values("<f4", (3, len(group["lon"])))
        for i, name in enumerate(("lat", "lon")):
            group["field"].dims[i].attach_scale(group[name])

    def types(self, group):
        if self.chance(0.3, "enum"):
            group.create_dataset("state", data=[0, 7, 1], dtype=h5py.enum_dtype(STATES, "i1"))
        if self.chance(0.3, "compound"):
            group["point"] = numpy.array([(0.5, 1), (1.5, 2)], POINT)
            if self.chance(0.7, "attribute of a user's type"):
                group["point"].attrs["origin"] = numpy.array([(9.5, 4)], POINT)
        if self.chance(0.3, "sequence"):
            made = group.create_dataset("hits", (3,), h5py.vlen_dtype("<i4"))
            for i in range(3):
                made[i] = numpy.arange(i + 1)
        if self.chance(0.3, "opaque"):
            group["when"] = numpy.array(["2020-01-01", "2021-02-03"], "M8[s]").astype(h5py.opaque_dtype("M8[s]"))
        if self.chance(0.4, "strings"):
            group["word"] = numpy.array(["", "one", "ϕ"], object)
            group.create_dataset("fixed", data=numpy.array([b"abc", b"", b"ab"], "S5"))
        if self.chance(0.4, "linked named type"):
            # netCDF-C uses the name of one of several equal types.
            group["row_t"] = numpy.dtype([("row", "<u4"), ("weight", "<f4")])
            group.create_dataset("rows", (2,), group["row_t"])
        if self.chance(0.4, "named type without a link"):
            group["gone_t"] = numpy.dtype([("a", "<i2"), ("b", ">f4")])
            group.create_dataset("kept", data=numpy.ones(2, group["gone_t"].dtype), dtype=group["gone_t"])
            del group["gone_t"]

    def links(self, root):
        if self.chance(0.4, "soft link"):
            root["soft"] = h5py.SoftLink("/d0")
        if self.chance(0.4, "hard link"):
            root["hard"] = root["d0"]
        if self.chance(0.5, "reference"):
            root["refs"] = numpy.array([root["d0"].ref, root.ref], h5py.ref_dtype)

    def attributes(self, owner):
        if self.chance(0.4, "text attribute"):
            owner.attrs["units"] = self.random.choice(["m", "K", "Grüße"])
        if self.chance(0.3, "attribute of strings"):
            owner.attrs["names"] = numpy.array(["a", "bc", ""], object)
        if self.chance(0.4, "attribute of numbers"):
            owner.attrs["levels"] = self.values(self.number_type(), (self.random.randrange(1, 4),))


class MergedFile(Rules):
    """A netCDF-4 file of a set that is united or joined: numbers and characters, groups, one record dimension."""

    def __init__(self, made, random_, index):
        super().__init__(made, random_)
        self.index = index

    def write(self, path):
        joins = self.made.mode == JOIN
        with netCDF4.Dataset(path, "w") as root:
            root.set_auto_maskandscale(False)
            root.title = "of a set"
            dims = [("x", 3), ("y", self.random.randrange(2, 5)), ("time", None), ("z", self.random.randrange(2, 5))]
            if self.chance(0.7, "dimensions in another order") and self.index == 1:
                dims.reverse()
            for name, length in dims:
                root.createDimension(name, length)
            self.have("unlimited", "text attribute")
            self.variable(root, "x", ("x",), shared=True)
            self.have("coordinate variable")
            in_groups = self.chance(0.6)
            has_records = not in_groups and (joins or self.chance(0.6))
            if has_records:
                self.variable(root, "record", ("time", "y"), shared=not joins)
            if has_records and joins:
                self.variable(root, "time", ("time",), shared=False)
            self.variable(root, "same", ("x", "y"), shared=True)
            if not joins:
                self.variable(root, f"own{self.index}", ("y", "x"), shared=False)
            if self.chance(0.5, "scalar"):
                self.variable(root, "scalar", (), shared=True)
            if self.chance(0.6, "nested groups", "dimensions of a group above"):
                group = root.createGroup("g")
                self.variable(group, "inner", ("time", "x") if joins else ("x",), shared=not joins)
                if joins:
                    group.createDimension("k", 2)
                    self.variable(group, "table", ("time", "k"), shared=False)
            if in_groups:
                self.users(root)
            if not joins:
                self.alone(root)

    # Groups that use dimensions of the root which nothing in the root uses.
    def users(self, root):
        joins = self.made.mode == JOIN
        self.have("dimensions of a group above", "unlimited dimension that only groups use")
        group = root.createGroup("u")
        self.variable(group, "by_time", ("time", "x"), shared=not joins)
        if self.chance(0.8, "fixed dimension that only groups use"):
            self.variable(group, "by_z", ("z", "y"), shared=True)
        if not joins:
            self.variable(group, f"own{self.index}", ("time", "y"), shared=False)
        if self.chance(0.6, "nested groups"):
            below = group.createGroup("below")
            self.variable(below, "deep", ("time", "z"), shared=not joins)
        if self.chance(0.8, "dimension of a group, like one above"):
            other = root.createGroup("like")
            other.createDimension("x", 3)
            self.variable(other, "own", ("x", "y"), shared=True)
            self.variable(other, "rows", ("time", "x"), shared=not joins)

    # A group that the other input does not have. The last choices: they need not be those of the other.
    def alone(self, root):
        inputs = self.random.choice([(0,), (1,), (0, 1)])
        if self.index not in inputs or not self.chance(0.9, "group of one input alone", "dimensions of a group above"):
            return
        group = root.createGroup(f"only{self.index}")
        self.variable(group, "alone", ("x", "y"), shared=False)
        # Nothing of the other input may use the records: then it has none.
        self.variable(group, "other", ("time", "y"), shared=False)
        if self.chance(0.85, "group of one input alone, with dimensions"):
            group.createDimension("k", self.random.randrange(2, 4))
            self.variable(group, "table", ("k", "y"), shared=False)
            if self.chance(0.85, "group of one input alone, coordinate of two dimensions"):
                # Its second dimension is told by its number alone.
                self.variable(group, "k", ("k", self.random.choice("xy")), shared=False)
        if self.chance(0.5, "nested groups"):
            self.variable(group.createGroup("below"), "deep", ("y", "x"), shared=False)

    def variable(self, group, name, dims, shared):
        dtype = self.number_type()
        options = {}
        if self.chance(0.4, "fill value"):
            options["fill_value"] = numpy.array(111, dtype.newbyteorder("="))
        if dims and self.chance(0.3, "deflate", "chunked"):
            options["zlib"] = True
        if dims:
            self.have("chunked" if options.get("zlib") or "time" in dims else "contiguous")
        endian = {"<": "little", ">": "big"}.get(dtype.byteorder, "native")
        made = group.createVariable(name, dtype.newbyteorder("="), dims, endian=endian, **options)
        made.set_auto_maskandscale(False)
        rows = 2 + self.index if self.made.mode == JOIN else 2
        shape = [rows if one == "time" else len(group_dimension(group, one)) for one in dims]
        low = self.random.randrange(50)
        if not shared:
            low += 40 * self.index
        count = int(numpy.prod(shape, dtype=int))
        made[...] = ((numpy.arange(count) + low) % 113).astype(made.dtype).reshape(shape)
        if self.chance(0.5, "attribute of numbers"):
            made.setncattr("levels", numpy.arange(3, dtype="i4"))
        if self.chance(0.4):
            made.units = "m"
