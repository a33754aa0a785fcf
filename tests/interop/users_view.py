"""What users of netCDF4-python and of h5py see of a file, or of a group of one, as plain values, and in what two such
views differ. Nothing of this project is used.

A view is a dict of lines: (path, field) to value. Paths are relative to the group that is looked at.
"""

import warnings

import h5py
import netCDF4
import numpy

# Numbers that only keep netCDF's books: they may change, what they mean is in netCDF's view.
NUMBERS = ("_Netcdf4Dimid", "_Netcdf4Coordinates")


def netcdf_view(path, group="/", values=True):
    """None where netCDF-C cannot open the file. values: read these too; it crashes on some of
    HDF5 files that netCDF did not write."""
    try:
        file = netCDF4.Dataset(path)
    except (OSError, RuntimeError, KeyError, ValueError, AttributeError):
        return None
    with file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        at = file if group == "/" else file[group]
        lines = {}
        netcdf_group("", at, lines, at.path.rstrip("/"), values)
    return lines


# base: the path of the group that is looked at.
def netcdf_group(path, group, lines, base, values):
    lines[path, "dimensions"] = [named(name) for name in group.dimensions]
    for name, dimension in group.dimensions.items():
        if named(name) == name:
            lines[f"{path}/{name}", "length"] = len(dimension)
            lines[f"{path}/{name}", "unlimited"] = dimension.isunlimited()
    for kind, types in (("compound", group.cmptypes), ("enum", group.enumtypes), ("sequence", group.vltypes)):
        for name, one in types.items():
            lines[f"{path}/{name}", kind] = getattr(one, "enum_dict", None) or str(one.dtype)
    netcdf_attributes(path, group, lines)
    lines[path, "variables"] = list(group.variables)
    for name, variable in group.variables.items():
        netcdf_variable(f"{path}/{name}", variable, lines, base, values)
    lines[path, "groups"] = sorted(group.groups)
    for name, child in group.groups.items():
        netcdf_group(f"{path}/{name}", child, lines, base, values)


# netCDF-C numbers dimensions without names through the whole file.
def named(name):
    return "phony" if name.startswith("phony_dim_") else name


def netcdf_variable(path, variable, lines, base, values):
    lines[path, "type"] = type_text(variable.dtype)
    lines[path, "name of its type"] = getattr(variable.datatype, "name", None)
    lines[path, "endian"] = variable.endian()
    lines[path, "dimensions of it"] = [named(name) for name in variable.dimensions]
    lines[path, "their lengths"] = [len(one) for one in variable.get_dims()]
    lines[path, "their groups"] = [one.group().path.removeprefix(base).strip("/") for one in variable.get_dims()]
    lines[path, "chunks"] = variable.chunking()
    lines[path, "filters"] = variable.filters()
    netcdf_attributes(path, variable, lines)
    try:
        if values:
            lines[path, "values"] = plain(variable[...])
    except (OSError, RuntimeError, IndexError) as error:
        lines[path, "values"] = f"not readable: {type(error).__name__}"


def netcdf_attributes(path, owner, lines):
    for name in owner.ncattrs():
        try:
            value = owner.getncattr(name)
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            value = f"not readable: {type(error).__name__}"
        lines[path, f"attribute {name}"] = plain(value)


def hdf5_view(path, group="/"):
    lines = {}
    with h5py.File(path) as file:
        at = file[group]
        if group == "/":
            lines["", "user block"] = user_block(path, file.userblock_size)
        places = {}
        gather_places("", at, places)
        hdf5_attributes("", at, lines, places)
        hdf5_group("", at, lines, places)
    return lines


def user_block(path, size):
    with open(path, "rb") as file:
        return file.read(size)


# Where objects are: the first path of each.
def gather_places(path, group, places):
    places.setdefault(identity(group), path or "/")
    groups = []
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        child = group[name]
        if identity(child) in places:
            continue
        if isinstance(child, h5py.Group):
            groups.append((name, child))
        else:
            places[identity(child)] = f"{path}/{name}"
    for name, child in groups:
        gather_places(f"{path}/{name}", child, places)


def identity(thing):
    return h5py.h5o.get_info(thing.id).addr


def hdf5_group(path, group, lines, places):
    lines[path, "links"] = list(group)
    for name in group:
        below = f"{path}/{name}"
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            lines[below, "link"] = (type(link).__name__, target(group, name, link, places))
            continue
        child = group[name]
        if places.get(identity(child)) != below:
            lines[below, "hard link to"] = places.get(identity(child))
            continue
        hdf5_attributes(below, child, lines, places)
        if isinstance(child, h5py.Group):
            hdf5_group(below, child, lines, places)
        elif isinstance(child, h5py.Datatype):
            lines[below, "named type"] = type_text(child.dtype)
        else:
            hdf5_data_set(below, child, lines, places)


# The target of a soft link; for other links and missing targets, the path.
def target(group, name, link, places):
    if not isinstance(link, h5py.SoftLink) or name not in group:
        return link.path
    return "object " + places.get(identity(group[name]), "elsewhere")


def hdf5_data_set(path, data_set, lines, places):
    create = data_set.id.get_create_plist()
    lines[path, "type"] = type_text(data_set.dtype)
    stored = data_set.id.get_type()
    lines[path, "named type of it"] = (
        places.get(h5py.h5o.get_info(stored).addr, "without a link") if stored.committed() else None
    )
    lines[path, "shape"] = data_set.shape
    lines[path, "limits"] = data_set.maxshape
    lines[path, "layout"] = create.get_layout()
    lines[path, "chunks"] = data_set.chunks
    lines[path, "filters"] = [create.get_filter(i) for i in range(create.get_nfilters())]
    # h5py crashes on those of variable length.
    if data_set.shape is not None and not data_set.dtype.hasobject:
        lines[path, "fill value"] = plain(data_set.fillvalue)
    lines[path, "fill value defined"] = create.fill_value_defined()
    if data_set.shape is not None:
        lines[path, "values"] = plain(data_set[...], data_set.file, places)


def hdf5_attributes(path, owner, lines, places):
    lines[path, "attributes"] = sorted(owner.attrs)
    for name in owner.attrs:
        one = owner.attrs.get_id(name)
        value = owner.attrs[name] if name not in NUMBERS else None
        shape = None if isinstance(value, h5py.Empty) else one.shape
        described = (type_text(one.dtype), shape, plain(value, owner.file, places))
        # Lists of users: their order is nobody's.
        lines[path, f"attribute {name}"] = described if name != "REFERENCE_LIST" else sorted(described[2], key=str)


def type_text(dtype):
    if isinstance(dtype, type):
        return dtype.__name__
    dtype = numpy.dtype(dtype)
    for kind in ("enum", "string", "vlen", "ref", "opaque"):
        told = getattr(h5py, f"check_{kind}_dtype")(dtype)
        if told and kind == "enum":
            return f"enum {dtype.str} {sorted(told.items(), key=str)}"
        if told and kind == "vlen":
            return f"sequence of {type_text(told)}"
        if told:
            return f"{kind} {told} {dtype.str}"
    if dtype.fields:
        parts = [f"{name}@{dtype.fields[name][1]} {type_text(dtype.fields[name][0])}" for name in dtype.names]
        return f"compound {dtype.itemsize} {parts}"
    return dtype.str


def plain(value, file=None, places=None):
    """Bytes of numbers, lists of what is of variable length, paths of references."""
    if isinstance(value, h5py.Empty):
        return f"nothing of {value.dtype}"
    if isinstance(value, h5py.Reference):
        return f"reference to {places.get(identity(file[value]), 'elsewhere')}" if value else "no reference"
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        value = numpy.asarray(value)
        if value.dtype.hasobject:
            parts = [plain(one, file, places) for one in value.reshape(-1).tolist()]
            return [value.shape, parts]
        return (value.dtype.str if not value.dtype.fields else "", value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return [plain(one, file, places) for one in value]
    return value


def differences(found, expected, leave_out=()):
    """Lines "PATH: FIELD: found F, expected E". leave_out: fields that are not compared."""
    lines = []
    for path, field in sorted(found.keys() | expected.keys(), key=str):
        if field in leave_out:
            continue
        one, two = found.get((path, field), "nothing"), expected.get((path, field), "nothing")
        if one != two:
            lines.append(f"{path or '/'}: {field}: found {short(one)}, expected {short(two)}")
    return lines


def short(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "..."
