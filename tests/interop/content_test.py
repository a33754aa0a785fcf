#!/usr/bin/python3
"""Checks `nminspect digest` and `nminspect diff` with generated files of all kinds.

Each data set is written with netCDF4-python or h5py as files of different kinds, with other chunks, byte orders and
orders of definition, and as NMB files. numpy says which values differ. Without NMB_ALL, the test runs a sample.
"""

import copy
import itertools
import json
import random
import sys

import tool_runs
from tool_runs import ALL

import h5py
import netCDF4
import numpy

CLASSIC = ["i1", "S1", "i2", "i4", "f4", "f8"]
CDF5 = CLASSIC + ["u1", "u2", "u4", "i8", "u8"]
KINDS = {
    "cdf1": "NETCDF3_CLASSIC",
    "cdf2": "NETCDF3_64BIT_OFFSET",
    "cdf5": "NETCDF3_64BIT_DATA",
    "nc4": "NETCDF4",
}
ENUM = ("b1", {"off": 0, "on": 1, "broken": 7})


class Variable:
    def __init__(self, type_, dimensions, data, attributes):
        self.type, self.dimensions, self.data, self.attributes = type_, dimensions, data, attributes


class Group:
    def __init__(self):
        self.dimensions, self.attributes, self.variables = {}, {}, {}  # dimension: [length, unlimited]


# --- Models: {path of a group: Group} ---------------------------------------------------------------


def values_of(rng, type_, shape):
    if type_ == "S1":
        return rng.integers(97, 123, shape).astype("u1").view("S1").reshape(shape)
    if type_ == "string":
        words = numpy.array(["", "a", "Zürich", "a longer text"], dtype=object)
        return numpy.array(words[rng.integers(0, 4, shape)], dtype=object)
    if type_ in ("enum", "i1"):
        return rng.integers(0, 2, shape).astype("i1")
    kind = numpy.dtype(type_)
    if kind.kind in "iu":
        return rng.integers(0, 100, shape).astype(kind)
    return rng.normal(size=shape).astype(kind)


def classic_model(seed, types):
    """A data set that every kind of netCDF can hold, if types are CLASSIC."""
    rng, group = numpy.random.default_rng(seed), Group()
    group.dimensions = {"t": [int(rng.integers(1, 5)), True], "y": [3, False], "x": [5, False]}
    group.attributes = {"title": f"set {seed}", "list": numpy.arange(3, dtype="i2"), "f": numpy.float32(1.5)}
    shapes = [(), ("x",), ("t",), ("t", "y", "x"), ("y", "x"), ("t", "x")]
    for number, (type_, names) in enumerate(zip(types, itertools.cycle(shapes))):
        shape = tuple(group.dimensions[n][0] for n in names)
        attributes = {"units": "m", "scale": numpy.float64(0.1 * number)}
        group.variables[f"v{number}"] = Variable(type_, names, values_of(rng, type_, shape), attributes)
    group.variables["x"] = Variable("f8", ("x",), numpy.arange(5.0), {"axis": "X"})
    return {"": group}


def grouped_model(seed):
    """A data set for netCDF-4: groups that share dimensions, strings, enums, several unlimited dimensions."""
    model, rng = classic_model(seed, CDF5), numpy.random.default_rng(seed + 1)
    model[""].dimensions["u"] = [4, True]
    inner = Group()
    inner.dimensions = {"z": [2, False]}
    inner.attributes = {"names": ["a", "bc"], "note": "in a group"}
    for name, type_, names in [
        ("s", "string", ("z",)),
        ("e", "enum", ("x",)),
        ("two", "f4", ("u", "t")),
        ("deep", "i4", ("z", "x")),
        ("one", "string", ()),
    ]:
        lengths = {**model[""].dimensions, **inner.dimensions}
        data = values_of(rng, type_, tuple(lengths[n][0] for n in names))
        inner.variables[name] = Variable(type_, names, data, {"long_name": name})
    model["g"] = inner
    return model


def hdf5_model(seed):
    """A data set for h5py: axes have lengths and no names."""
    rng, model = numpy.random.default_rng(seed), {"": Group(), "a": Group(), "a/b": Group()}
    types = ["i1", "u2", "i4", "f4", "f8", "f2", "u8", "S4", "text", "pair", "enum", "vlen", "bool"]
    for number, type_ in enumerate(types):
        shape = ((), (4,), (2, 3), (3, 2, 2))[(number + seed) % 4]
        group = model[("", "a", "a/b")[number % 3]]
        group.variables[f"d{number}"] = Variable(type_, shape, hdf5_values(rng, type_, shape), {"unit": "keV"})
    model[""].attributes = {"m": numpy.arange(6, dtype="i4").reshape(2, 3), "text": "abc"}
    model["a"].attributes = {"empty": h5py.Empty("f4"), "words": ["x", "yy"]}
    return model


PAIR = numpy.dtype([("n", "<i4"), ("xy", "<f8", (2,))])


def hdf5_values(rng, type_, shape):
    if type_ == "S4":
        return rng.integers(97, 123, (*shape, 4)).astype("u1").view("S4").reshape(shape)
    if type_ in ("text", "vlen"):
        data = numpy.empty(shape, dtype=object)
        for index in numpy.ndindex(shape):
            count = int(rng.integers(1, 4))
            data[index] = "é" * count if type_ == "text" else numpy.arange(count, dtype="i4")
        return data
    if type_ == "pair":
        data = numpy.zeros(shape, PAIR)
        data["n"], data["xy"] = rng.integers(0, 9, shape), rng.normal(size=(*shape, 2))
        return data
    if type_ == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return values_of(rng, type_, shape)


# --- Files ------------------------------------------------------------------------------------------


def shuffled(items, rng):
    items = list(items)
    rng.shuffle(items)
    return items


def write_netcdf(model, path, kind, rng):
    """rng: chooses the storage and the order of definitions."""
    with netCDF4.Dataset(path, "w", format=KINDS[kind]) as file:
        file.set_fill_on()
        for name, content in model.items():
            group = file.createGroup(name) if name else file
            for attribute, value in shuffled(content.attributes.items(), rng):
                set_attribute(group, attribute, value)
            for dimension, (length, unlimited) in shuffled(content.dimensions.items(), rng):
                group.createDimension(dimension, None if unlimited else length)
            for variable, v in shuffled(content.variables.items(), rng):
                write_variable(group, variable, v, kind, rng)


def set_attribute(owner, name, value):
    if isinstance(value, list):
        owner.setncattr_string(name, value)
    else:
        owner.setncattr(name, value)


def write_variable(group, name, v, kind, rng):
    options = {"fill_value": v.attributes.get("_FillValue")}
    type_ = v.type
    if type_ == "string":
        type_, options = str, {}
    elif type_ == "enum":
        if "switch" not in group.enumtypes:
            group.createEnumType("i1", "switch", ENUM[1])
        type_, options = group.enumtypes["switch"], {}
    if kind == "nc4" and v.dimensions and type_ is not str and rng.random() < 0.7:
        options["chunksizes"] = [rng.randint(1, max(1, n)) for n in numpy.shape(v.data)]
        options |= {"zlib": rng.random() < 0.5, "shuffle": rng.random() < 0.5}
        if numpy.dtype(v.data.dtype).itemsize > 1:
            options["endian"] = rng.choice(["little", "big", "native"])
    made = group.createVariable(name, type_, v.dimensions, **options)
    made.set_auto_maskandscale(False)
    for attribute, value in shuffled(v.attributes.items(), rng):
        if attribute != "_FillValue":
            set_attribute(made, attribute, value)
    if numpy.size(v.data):
        made[...] = v.data


def write_hdf5(model, path, rng):
    track = rng.random() < 0.5
    with h5py.File(path, "w", libver=rng.choice(["earliest", "latest"]), track_order=track) as file:
        for name, content in model.items():
            group = file.require_group(name) if name else file
            for attribute, value in shuffled(content.attributes.items(), rng):
                group.attrs[attribute] = value
            for variable, v in shuffled(content.variables.items(), rng):
                special = {
                    "text": h5py.string_dtype(),
                    "vlen": h5py.vlen_dtype("i4"),
                    "enum": h5py.enum_dtype(ENUM[1], "i1"),
                }
                type_ = special.get(v.type, v.data.dtype if v.type not in special else None)
                options = {}
                if v.dimensions and rng.random() < 0.7:
                    options["chunks"] = tuple(rng.randint(1, n) for n in numpy.shape(v.data))
                    options["compression"] = rng.choice([None, "gzip"])
                    options["shuffle"] = rng.random() < 0.5
                made = group.create_dataset(variable, numpy.shape(v.data), type_, **options)
                made[...] = v.data
                for attribute, value in shuffled(v.attributes.items(), rng):
                    made.attrs[attribute] = value


class Files:
    """Writes models as files and converts them."""

    def __init__(self, test):
        self.test, self.count = test, 0

    def write(self, model, kind, rng):
        """kind: "cdf1", ..., "h5", or one of these and "+nmb". Returns the path."""
        self.count += 1
        first = kind.split("+")[0]
        path = self.test.work / f"f{self.count}.{'h5' if first == 'h5' else 'nc'}"
        if first == "h5":
            write_hdf5(model, path, rng)
        else:
            write_netcdf(model, path, first, rng)
        if not kind.endswith("+nmb"):
            return path
        options = rng.choice([[], ["--compress", "zstd"], ["--hdf5-view", "off"]])
        self.test.run("nmconvert", "-q", *options, path, path.with_suffix(".nmb"))
        path.unlink()
        return path.with_suffix(".nmb")


def digest(test, path):
    return test.run("nminspect", "digest", "--total", path).strip()


def diff(test, first, second, *options):
    text = test.run("nminspect", "diff", "--json", *options, first, second, exit_code=None)
    if test.exit_code not in (0, 1):
        test.problems.append(f"diff {first} {second}: exit code {test.exit_code}: {test.said}")
        return {"differences": [], "same": None}
    return json.loads(text)


# --- 100 pairs: numpy says which values differ ------------------------------------------------------


def numbers_differ(a, b, tolerance=None):
    """Returns for each element whether the values differ, by the rules of `nminspect diff --help`."""
    same = (a == b) & (numpy.signbit(a) == numpy.signbit(b)) if a.dtype.kind == "f" else a == b
    if a.dtype.kind == "f":
        same |= numpy.isnan(a) & numpy.isnan(b)
    if tolerance:
        with numpy.errstate(invalid="ignore", over="ignore"):
            wide = numpy.float64 if a.dtype.kind == "f" else numpy.longdouble
            close = numpy.isclose(a.astype(wide), b.astype(wide), *reversed(tolerance), equal_nan=True)
        same |= close
    return ~same


FILL = {code: value for code, value in netCDF4.default_fillvals.items() if code[1:] != "1"}


def perturbed(model, rng):
    """Returns a copy of the model with other values in some variables, or in none."""
    other = copy.deepcopy(model)
    if rng.random() < 0.2:
        return other
    for content in other.values():
        for v in content.variables.values():
            if numpy.size(v.data) == 0 or rng.random() < 0.5:
                continue
            data = numpy.array(v.data)
            index = tuple(rng.randrange(n) for n in data.shape)
            if data.dtype.kind == "f":
                choice = rng.randrange(5)
                if choice == 0:
                    data = (data * (1 + 1e-3 * numpy.cos(numpy.arange(data.size)).reshape(data.shape))).astype(data.dtype)
                else:
                    data[index] = [numpy.nan, -0.0, numpy.inf, data[index] * 2][choice - 1]
            elif data.dtype.kind in "iu" and v.type != "enum":
                data[index] += rng.choice([1, 20])
            v.data = data
    return other


def check_pairs(test, files, count):
    families = [
        (lambda s: classic_model(s, CLASSIC), ["cdf1", "cdf2", "cdf5", "nc4", "cdf1+nmb", "nc4+nmb"]),
        (lambda s: classic_model(s, CDF5), ["cdf5", "nc4", "cdf5+nmb", "nc4+nmb"]),
        (grouped_model, ["nc4", "nc4+nmb"]),
        (hdf5_model, ["h5", "h5+nmb"]),
    ]
    for seed in range(count):
        rng = random.Random(seed)
        make, kinds = families[seed % len(families)]
        model = make(seed)
        other = perturbed(model, rng)
        tolerance = (1e-4, 5e-4) if seed % 3 == 0 else None
        pair = [files.write(m, rng.choice(kinds), rng) for m in (model, other)]
        what = f"pair {seed} ({pair[0].name}, {pair[1].name})"
        exact, expected = {}, {}
        for name, content in model.items():
            for variable, v in content.variables.items():
                w = other[name].variables[variable]
                if numpy.asarray(v.data).dtype.kind not in "iufb":
                    continue
                tolerable = tolerance if v.type not in ("f2", "enum", "bool") else None
                for found, allowed in ((exact, None), (expected, tolerable)):
                    differs = numbers_differ(numpy.asarray(v.data), numpy.asarray(w.data), allowed)
                    if differs.any():
                        found[name, variable] = (differs, v.data, w.data)
        same = digest(test, pair[0]) == digest(test, pair[1])
        test.check(same == (not exact), f"{what}: digests {'equal' if same else 'differ'}")
        options = ["--tolerance", f"{tolerance[0]},{tolerance[1]}"] if tolerance else []
        report = diff(test, *pair, *options, "-j", str(1 + seed % 3))
        test.check(report["same"] == (not expected), f"{what}: same is {report['same']}")
        found = {(d["block"], d["variable"]): d for d in report["differences"] if "variable" in d}
        test.check(len(found) == len(report["differences"]), f"{what}: {report['differences']}")
        test.check(found.keys() == expected.keys(), f"{what}: {found.keys()}, expected {expected.keys()}")
        for key in found.keys() & expected.keys():
            check_values(test, f"{what}, {key}", found[key], *expected[key])
        for path in pair:
            path.unlink()


def check_values(test, what, found, differs, a, b):
    a, b = numpy.asarray(a), numpy.asarray(b)
    test.check(found["different"] == differs.sum(), f"{what}: {found['different']}, expected {differs.sum()}")
    first = [list(map(int, i)) for i in numpy.argwhere(differs)[:3]]
    shown = [d["index"] for d in found["first_differences"]]
    test.check(shown == first, f"{what}: first at {shown}, expected {first}")
    if a.dtype.kind == "f" and a.itemsize >= 4:
        nans = numpy.isnan(a) != numpy.isnan(b)
        test.check(found["nan_in_one"] == nans.sum(), f"{what}: {found['nan_in_one']} NaNs, expected {nans.sum()}")
        with numpy.errstate(invalid="ignore"):
            apart = numpy.abs(a.astype("f8") - b.astype("f8"))[differs & ~nans]
        largest = found["largest_difference"] and float(found["largest_difference"]["difference"])
        test.check(
            largest == (apart.max() if apart.size else None), f"{what}: {largest}, expected {apart.max(initial=0)}"
        )


# --- 200 changes: each changes the digest, and diff shows it ----------------------------------------


def pick(rng, mapping, wanted=lambda name, value: True):
    return rng.choice([name for name, value in mapping.items() if wanted(name, value)])


def any_variable(model, rng, wanted=lambda v: numpy.size(v.data) > 0):
    path = pick(rng, model, lambda _, g: any(wanted(v) for v in g.variables.values()))
    name = pick(rng, model[path].variables, lambda n, v: wanted(v) and n != "x")
    return model[path], name, model[path].variables[name]


def change_value(model, rng):
    _, _, v = any_variable(model, rng)
    v.data = numpy.array(v.data)
    index = tuple(rng.randrange(n) for n in v.data.shape)
    old = v.data[index]
    if v.data.dtype.kind == "O":
        v.data[index] = old + "!" if isinstance(old, str) else numpy.append(old, numpy.int32(1))
    elif v.data.dtype.kind == "S":
        v.data[index] = b"Q" if old != b"Q" else b"R"
    elif v.data.dtype.kind == "b":
        v.data[index] = not old
    elif v.data.dtype.names:
        v.data["n"][index] += 1
    elif v.type == "enum":
        v.data[index] = 7
    elif v.data.dtype.kind == "f":
        v.data[index] = rng.choice([numpy.nan, numpy.nextafter(old, old.dtype.type(9)), -old])
    else:
        v.data[index] = old + 1


def change_zero(model, rng):
    """0 and -0 differ."""
    _, _, v = any_variable(model, rng, lambda v: numpy.asarray(v.data).dtype.kind == "f" and numpy.size(v.data))
    v.data = numpy.array(v.data)
    v.data[(0,) * v.data.ndim] = -0.0


def change_variable_name(model, rng):
    group, name, v = any_variable(model, rng)
    group.variables[name + "2"] = group.variables.pop(name)


def change_type(model, rng):
    wider = {"i2": "i4", "f4": "f8", "i4": "f8", "u1": "i2", "u2": "i4", "i8": "u8", "u8": "i8", "u4": "i8", "i1": "i2"}
    _, _, v = any_variable(model, rng, lambda v: v.type in wider)
    if v.type == "i4" and rng.random() < 0.5:
        v.attributes["long_name"] = "another"
    v.type = wider[v.type]
    v.data = numpy.asarray(v.data).astype(v.type)


def remove_variable(model, rng):
    group, name, _ = any_variable(model, rng)
    del group.variables[name]


def add_variable(model, rng):
    model[rng.choice(list(model))].variables["added"] = Variable("f8", (), numpy.array(1.0), {})


def change_attribute_value(model, rng):
    owner = any_owner(model, rng)
    name = pick(rng, owner, lambda n, v: not isinstance(v, h5py.Empty))
    value = owner[name]
    if isinstance(value, str):
        owner[name] = value + " "
    elif isinstance(value, list):
        owner[name] = value[::-1]
    else:
        owner[name] = value + value.dtype.type(1)


def any_owner(model, rng):
    owners = [g.attributes for g in model.values()]
    owners += [v.attributes for g in model.values() for v in g.variables.values()]
    return rng.choice([o for o in owners if any(not isinstance(v, h5py.Empty) for v in o.values())])


def change_attribute_name(model, rng):
    owner = any_owner(model, rng)
    name = pick(rng, owner)
    owner[name + "_2"] = owner.pop(name)


def change_attribute_type(model, rng):
    owners = [g.attributes for g in model.values()]
    owners += [v.attributes for g in model.values() for v in g.variables.values()]
    is_number = lambda v: isinstance(v, (numpy.ndarray, numpy.generic))
    owner = rng.choice([o for o in owners if any(is_number(v) for v in o.values())])
    name = pick(rng, owner, lambda n, v: is_number(v))
    to = "f4" if owner[name].dtype == "f8" else "f8"
    owner[name] = owner[name].astype(to) if owner[name].ndim else numpy.dtype(to).type(owner[name])


def remove_attribute(model, rng):
    owner = any_owner(model, rng)
    del owner[pick(rng, owner)]


def add_attribute(model, rng):
    any_owner(model, rng)["new"] = rng.choice(["", "text", numpy.int32(1)])


def add_dimension(model, rng):
    rng.choice(list(model.values())).dimensions["unused"] = [3, False]


def change_dimension_name(model, rng):
    group = model[""]
    name = pick(rng, group.dimensions, lambda n, d: n != "x")
    group.dimensions["renamed"] = group.dimensions.pop(name)
    for content in model.values():
        for v in content.variables.values():
            v.dimensions = tuple("renamed" if d == name else d for d in v.dimensions)


def change_length(model, rng):
    """Adds an element along a dimension, with the values of the first element."""
    group = model[""]
    name = pick(rng, group.dimensions)
    group.dimensions[name][0] += 1
    for content in model.values():
        for v in content.variables.values():
            for axis, d in enumerate(v.dimensions):
                if d == name:
                    v.data = numpy.concatenate([v.data, numpy.take(v.data, [0], axis)], axis)


def change_unlimited(model, rng):
    dimension = model[""].dimensions[rng.choice(["t", "u"]) if "u" in model[""].dimensions else "t"]
    dimension[1] = False


def change_axes(model, rng):
    """Transposes a variable of two fixed dimensions; a symmetric array keeps its values."""
    _, _, v = any_variable(
        model, rng, lambda v: len(v.dimensions) == 2 and not {"t", "u"} & set(v.dimensions)
    )
    v.dimensions, v.data = v.dimensions[::-1], numpy.transpose(v.data)


def change_group(model, rng):
    path = rng.choice([p for p in model if p and not any(q.startswith(p + "/") for q in model)])
    model[path + "_2"] = model.pop(path)


def add_group(model, rng):
    model["another"] = Group()
    model["another"].attributes = {"a": "b"}


def change_shape(model, rng):
    _, _, v = any_variable(model, rng, lambda v: numpy.size(v.data) > 1)
    v.data = numpy.reshape(v.data, (1, *numpy.shape(v.data)))
    v.dimensions = v.data.shape


CHANGES = {
    "classic": [
        change_value, change_value, change_zero, change_variable_name, change_type, remove_variable, add_variable,
        change_attribute_value, change_attribute_name, change_attribute_type, remove_attribute, add_attribute,
        add_dimension, change_dimension_name, change_length, change_unlimited, change_axes,
    ],
    "grouped": [
        change_value, change_value, change_variable_name, remove_variable, add_variable, change_attribute_value,
        change_attribute_name, remove_attribute, add_attribute, add_dimension, change_dimension_name, change_length,
        change_unlimited, change_group, add_group,
    ],
    "hdf5": [
        change_value, change_value, change_zero, change_variable_name, remove_variable, add_variable,
        change_attribute_value, change_attribute_name, change_attribute_type, remove_attribute, add_attribute,
        change_group, add_group, change_shape,
    ],
}


def check_changes(test, files, count):
    bases = {
        "classic": (classic_model(1, CDF5), ["cdf5", "nc4", "nc4+nmb", "cdf5+nmb"]),
        "grouped": (grouped_model(2), ["nc4", "nc4+nmb"]),
        "hdf5": (hdf5_model(3), ["h5", "h5+nmb"]),
    }
    known = {}
    for family, (model, kinds) in bases.items():
        rng = random.Random(family)
        paths = [files.write(model, kind, rng) for kind in kinds]
        digests = {digest(test, path) for path in paths}
        test.check(len(digests) == 1, f"{family}: digests {digests} of the same data set")
        known[family] = (paths, digests.pop())
    # Three chunkings of netCDF-4, CDF-1, CDF-5 and NMB.
    model = classic_model(5, CLASSIC)
    kinds = ["cdf1", "cdf2", "cdf5", "nc4", "nc4", "nc4", "cdf1+nmb", "nc4+nmb"]
    digests = {digest(test, files.write(model, kind, random.Random(i))) for i, kind in enumerate(kinds)}
    test.check(len(digests) == 1, f"kinds: digests {digests} of the same data set")

    wanted = [(family, change) for family in CHANGES for change in CHANGES[family]]
    seen = {family: {known[family][1]: "no change"} for family in known}
    order = list(range(len(wanted)))
    random.Random(count).shuffle(order)
    for number in range(count):
        family, change = wanted[order[number % len(order)]]
        rng = random.Random(number)
        model = copy.deepcopy(bases[family][0])
        change(model, rng)
        path = files.write(model, rng.choice(bases[family][1]), rng)
        what = f"change {number} ({family}, {change.__name__})"
        test.check(digest(test, path) != known[family][1], f"{what}: the digest is the same")
        if number % 3 == 0:
            test.check(not diff(test, rng.choice(known[family][0]), path)["same"], f"{what}: diff shows nothing")
        path.unlink()


def check_claims(test):
    """A small file may not keep the tools busy with values that were never written."""
    with h5py.File(test.work / "large.h5", "w") as file:
        file.create_dataset("v", (1 << 40,), "f8")
    for command in (["digest", "large.h5"], ["diff", "large.h5", "large.h5"]):
        test.run("nminspect", *command, exit_code=2, says="most of them were never written")


def check_blocks(test, files):
    """Blocks of an NMB file are the groups of an HDF5 file, and have the digests of the files that they came from."""
    rng = random.Random(7)
    inputs = [files.write(classic_model(1, CDF5), kind, rng) for kind in ("cdf5", "nc4")]
    inputs.append(files.write(grouped_model(2), "nc4", rng))
    for name in ("all.nmb", "all.nc"):
        test.run("nmcat", "-q", *inputs, "-o", name)
    test.run("nminspect", "diff", "all.nmb", "all.nc")
    for path in inputs:
        own = test.run("nminspect", "digest", path, "/").split()[0]
        block = test.run("nminspect", "digest", "all.nc", path.stem).split()[0]
        test.check(own == block, f"{path.name}: digest {own}, as a group {block}")


def check_unwritten(test):
    """Values that were never written are the fill values that readers get, also after the last record of a variable."""
    digests = set()
    for kind, explicit in [("cdf5", False), ("nc4", False), ("cdf5", True), ("nc4", True)]:
        name = f"unwritten_{kind}_{explicit}.nc"
        with netCDF4.Dataset(test.work / name, "w", format=KINDS[kind]) as file:
            file.createDimension("t", None)
            file.createDimension("x", 3)
            file.createVariable("t", "f8", ("t",))[:] = numpy.arange(4.0)
            inner = file.createGroup("g") if kind == "nc4" and not explicit else None
            for variable, type_, fill in [("d", "f4", None), ("f", "i2", -7), ("n", "i4", None)]:
                v = file.createVariable(variable, type_, ("t", "x"), fill_value=fill)
                v.set_auto_maskandscale(False)
                default = netCDF4.default_fillvals[type_] if fill is None else fill
                if explicit:
                    v[0:4] = numpy.full((4, 3), default, type_)
                if variable != "n":
                    v[0:2] = numpy.ones((2, 3), type_)
            del inner  # an empty group is not content
        digests.add(digest(test, name))
    test.check(len(digests) == 1, f"unwritten values: digests {digests}")


def check_memory(test):
    """A row of chunks of 29 MB does not fit into the cache of 16 MiB that --mem 64MiB leaves."""
    data = numpy.random.default_rng(1).integers(0, 99, (20, 600, 600)).astype("f4")
    for name, kind, options in [
        ("plain.nc", "cdf5", {}),
        ("chunked.nc", "nc4", {"chunksizes": (20, 100, 100), "zlib": True, "complevel": 1}),
    ]:
        with netCDF4.Dataset(test.work / name, "w", format=KINDS[kind]) as file:
            for dimension, length in zip("zyx", data.shape):
                file.createDimension(dimension, length)
            file.createVariable("v", "f4", tuple("zyx"), **options)[:] = data
    digests = {
        test.run("nminspect", "digest", "--total", *memory, name)
        for name in ("plain.nc", "chunked.nc")
        for memory in ([], ["--mem", "64MiB"])
    }
    test.check(len(digests) == 1, f"memory: digests {digests}")
    test.run("nminspect", "diff", "--mem", "64MiB", "plain.nc", "chunked.nc")


def check(test):
    files = Files(test)
    check_blocks(test, files)
    check_unwritten(test)
    check_memory(test)
    check_claims(test)
    check_pairs(test, files, 100 if ALL else 8)
    check_changes(test, files, 200 if ALL else 12)


if __name__ == "__main__":
    sys.exit(tool_runs.main(__doc__, check))
