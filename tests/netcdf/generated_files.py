"""Makes netCDF files with random definitions and values. Files with few_records() have variables with fewer records than their
dimension, of which netCDF-C itself gets wrong what is not along the first dimension, or read with strides."""

import random

import netCDF4
import numpy as np

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
CLASSIC = {"NETCDF3_CLASSIC": ["i1", "i2", "i4", "f4", "f8"], "NETCDF3_64BIT_DATA": NUMBERS}


def few_records(seed):
    return seed % 3 == 0


class Maker:
    def __init__(self, path, seed):
        self.few_records = few_records(seed)
        self.random = random.Random(seed)
        self.format = self.random.choice(["NETCDF4"] * 5 + ["NETCDF4_CLASSIC", *CLASSIC])
        self.is_full = self.format == "NETCDF4"
        with netCDF4.Dataset(path, "w", format=self.format) as file:
            self.fill(file, [], 0)

    def values(self, kind, shape):
        count = int(np.prod(shape, dtype=int))
        if kind[0] == "f":
            numbers = [self.random.choice([0.0, 0.5, -1.5, 100.25, 3e9, -4e18, 1e30]) for _ in range(count)]
        else:
            info = np.iinfo(kind)
            numbers = [self.random.choice([info.min, info.max, 0, 1, self.random.randint(info.min, info.max)]) for _ in range(count)]
        return np.array(numbers, dtype=kind).reshape(shape)

    def attributes(self, owner):
        for n in range(self.random.randint(0, 3)):
            kind = self.random.choice(CLASSIC.get(self.format, NUMBERS if self.is_full else CLASSIC["NETCDF3_CLASSIC"]))
            what = self.random.randint(0, 3)
            if what == 0:
                owner.setncattr(f"text{n}", self.random.choice(["", "a", "two words", "two\nlines", "é"]))
            elif what == 1 and self.is_full:
                owner.setncattr_string(f"strings{n}", self.random.choice(["one", ["a", "", "ccc"]]))
            else:
                owner.setncattr(f"numbers{n}", self.values(kind, (self.random.randint(1, 4),)))

    def types(self, group):
        """Adds user types; returns them."""
        made = []
        if self.random.random() < 0.7:
            inner = np.dtype([("x", "f4"), ("y", "u1")], align=True)
            made.append(group.createCompoundType(inner, "inner"))
            made.append(group.createCompoundType(np.dtype([("n", "i2"), ("d", "f8", (2, 3)), ("in", inner)], align=True), "outer"))
        if self.random.random() < 0.7:
            made.append(group.createVLType(self.random.choice(NUMBERS), "sequence"))
        if self.random.random() < 0.7:
            made.append(group.createEnumType(self.random.choice(["i1", "u2", "i8"]), "colour", {"red": 1, "green": 2, "blue": 100}))
        return made

    def fill(self, group, dimensions, depth):
        dimensions = list(dimensions)
        # A classic file may have one unlimited dimension, which is the first.
        grows = self.random.random() < 0.6
        for n in range(self.random.randint(1, 3)):
            name = f"d{depth}_{n}"
            is_unlimited = grows and (n == 0 or (self.is_full and self.random.random() < 0.3))
            group.createDimension(name, None if is_unlimited else self.random.randint(1, 5))
            dimensions.append(name)
        self.attributes(group)
        types = self.types(group) if self.is_full and depth == 0 else []
        types += getattr(self, "root_types", [])
        self.root_types = types if depth == 0 else self.root_types
        for n in range(self.random.randint(1, 5)):
            self.variable(group, f"v{n}", dimensions, types)
        if self.is_full and depth < 2:
            for n in range(self.random.randint(0, 2)):
                self.fill(group.createGroup(f"g{n}"), dimensions, depth + 1)

    def variable(self, group, name, dimensions, types):
        count = self.random.randint(0, min(3, len(dimensions)))
        used = [dimensions[i] for i in sorted(self.random.sample(range(len(dimensions)), count))]
        growing = [name for name in used if self.grows(group, name)]
        used = (*growing[:1], *(name for name in used if name not in growing))
        kinds = CLASSIC.get(self.format, NUMBERS if self.is_full else CLASSIC["NETCDF3_CLASSIC"])
        kind = self.random.choice([*kinds, *kinds, "S1", *(([str] + types) if self.is_full else [])])
        options = {}
        if isinstance(kind, str) and kind != "S1":
            if self.random.random() < 0.3:
                options["fill_value"] = self.values(kind, ())[()]
            if self.format.startswith("NETCDF4") and used:
                options["zlib"] = self.random.random() < 0.4
                options["shuffle"] = self.random.random() < 0.5
                options["fletcher32"] = self.random.random() < 0.2
            if self.format.startswith("NETCDF4"):
                options["endian"] = self.random.choice(["native", "big", "little"])
        variable = group.createVariable(name, kind, used, **options)
        variable.set_auto_maskandscale(False)
        self.attributes(variable)
        shape = [self.length(group, name) for name in used]
        if growing:
            shape[0] = self.random.randint(0, 4) if self.few_records else 3
        if 0 in shape or (self.random.random() < 0.1 and not growing):
            return
        self.put(variable, kind, shape)

    def dimension(self, group, name):
        while name not in group.dimensions:
            group = group.parent
        return group.dimensions[name]

    def grows(self, group, name):
        return self.dimension(group, name).isunlimited()

    def length(self, group, name):
        return len(self.dimension(group, name))

    def put(self, variable, kind, shape):
        where = tuple(slice(0, n) for n in shape) or ...
        if kind == "S1":
            texts = [self.random.choice(b"abc ").to_bytes(1, "little") for _ in range(int(np.prod(shape, dtype=int)))]
            variable[where] = np.array(texts, "S1").reshape(shape)
        elif kind is str:
            texts = np.array([self.random.choice(["", "x", "long text", "é"]) for _ in range(int(np.prod(shape, dtype=int)))], object)
            variable[where] = texts.reshape(shape) if shape else texts[0]
        elif isinstance(kind, netCDF4.VLType):
            if len(shape) != 1:
                return
            for i in range(shape[0]):
                variable[i] = self.values(kind.dtype.str[1:], (self.random.randint(0, 4),))
        elif isinstance(kind, netCDF4.EnumType):
            numbers = [self.random.choice([1, 2, 100]) for _ in range(int(np.prod(shape, dtype=int)))]
            variable[where] = np.array(numbers, kind.dtype).reshape(shape)
        elif isinstance(kind, netCDF4.CompoundType):
            variable[where] = self.compound(kind.dtype, shape)
        else:
            variable[where] = self.values(kind, shape)

    def compound(self, dtype, shape):
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            part = dtype[name]
            if part.names:
                made[name] = self.compound(part, shape)
            else:
                base, inner = (part.subdtype or (part, ()))
                made[name] = self.values(base.str[1:], (*shape, *inner))
        return made


def make_file(path, seed):
    Maker(path, seed)
