"""What netCDF-C sees in two netCDF-4 files: dimensions, user types, attributes, variables, groups, values.

An additional view: the files' HDF5 contents are compared elsewhere, so what netCDF4-python cannot show (it
knows no sequences of compounds) is a note.
"""

import contextlib
import math
import warnings

import netCDF4
import numpy

SLAB = 4 << 20  # bytes of values read at once from either file


def is_netcdf4(file):
    """Of an Hdf5File: netCDF-C keeps the creation order of the root group's links."""
    return file.link_order.get(b"/") is not None


def compare(path_a, path_b, out):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compare_datasets(path_a, path_b, out)
    out.notes += sorted({f"netCDF4-python: {one.message}" for one in said})


def compare_datasets(path_a, path_b, out):
    with contextlib.ExitStack() as stack:
        try:
            a = stack.enter_context(netCDF4.Dataset(path_a))
        except Exception as error:
            out.notes.append(f"{path_a}: netCDF-C cannot open it: {error}")
            return
        try:
            b = stack.enter_context(netCDF4.Dataset(path_b))
        except Exception as error:
            out.add("/", "netCDF", "readable", f"unreadable: {error}")
            return
        for dataset in (a, b):
            dataset.set_auto_maskandscale(False)
            dataset.set_auto_chartostring(False)
        compare_groups("/", a, b, out)


def compare_groups(path, a, b, out):
    out.compare_fields(path, "netCDF ", describe_group(a), describe_group(b))
    compare_attributes(path, a, b, out)
    for name in common(a.variables, b.variables):
        compare_variables(f"{path.rstrip('/')}/{name}", a.variables[name], b.variables[name], out)
    for name in common(a.groups, b.groups):
        compare_groups(f"{path.rstrip('/')}/{name}", a.groups[name], b.groups[name], out)


def compare_variables(path, a, b, out):
    shown = both(path, "netCDF variable", describe_variable, a, b, out)
    if not shown:
        return
    out.compare_fields(path, "netCDF ", *shown)
    compare_attributes(path, a, b, out)
    if a.shape != b.shape:
        return
    for rows in slabs(a):
        values = both(path, "netCDF values", lambda variable: plain(variable[rows]), a, b, out)
        if not values:
            return
        if values[0] != values[1]:
            out.add(path, f"netCDF values of {rows}", *values)
            return


def compare_attributes(path, a, b, out):
    # Their order is what HDF5 happens to keep where it does not track it.
    names = sorted(a.ncattrs()), sorted(b.ncattrs())
    out.compare(path, "netCDF attributes", *names)
    for name in common(*names):
        values = both(path, f"netCDF attribute {name}", lambda one: plain(one.getncattr(name)), a, b, out)
        if values:
            out.compare(path, f"netCDF attribute {name}", *values)


def both(path, field, get, a, b, out):
    """(get(a), get(b)), or None after a difference (one cannot be shown) or a note (neither can)."""
    found, errors, words = [], [], []
    for one in (a, b):
        try:
            found.append(get(one))
            words.append("readable")
        except Exception as error:  # of netCDF4-python: nearly any class
            errors.append(error)
            words.append(f"unreadable: {error}")
    if len(errors) == 1:
        out.add(path, field, *words)
    elif errors:
        out.notes.append(f"{path}: {field}: not shown by netCDF4-python: {errors[0]}")
    return None if errors else found


def common(a, b):
    return [name for name in a if name in b]


def describe_group(group):
    out = {f"dimension {name}": (len(d), d.isunlimited()) for name, d in group.dimensions.items()}
    for names in ("dimensions", "variables", "groups"):
        out[f"order of {names}"] = list(getattr(group, names))
    for types in (group.cmptypes, group.vltypes, group.enumtypes):
        out |= {f"type {name}": describe_type(one) for name, one in types.items()}
    return out


def describe_variable(variable):
    return {
        "type": describe_type(variable.datatype),
        "dimensions": variable.dimensions,
        "shape": variable.shape,
        "byte order": variable.endian(),
        "chunks": variable.chunking(),
        "filters": variable.filters(),
    }


def describe_type(datatype):
    """Of a NumPy type, `str`, or one of netCDF4-python's user types."""
    name, dtype = getattr(datatype, "name", None), getattr(datatype, "dtype", datatype)
    fields = (type(datatype).__name__, name, getattr(dtype, "descr", dtype), getattr(dtype, "itemsize", None))
    return fields + (getattr(datatype, "enum_dict", None),)


def plain(value):
    """A value that compares bit by bit."""
    if isinstance(value, numpy.ndarray) and value.dtype.hasobject:
        return ("objects", value.shape, [plain(one) for one in value.reshape(-1).tolist()])
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        if value.dtype.names:  # without the gaps
            return ("compound", value.dtype.descr, [plain(value[name]) for name in value.dtype.names])
        return (value.dtype.str, value.dtype.descr, value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return (type(value).__name__, value)


def slabs(variable):
    """Indices that cover the variable, of about SLAB bytes each."""
    if not variable.shape:
        return [Ellipsis]
    size = getattr(variable.dtype, "itemsize", 16)
    row = max(1, size * math.prod(variable.shape[1:]))
    step = max(1, SLAB // row)
    return [slice(at, at + step) for at in range(0, variable.shape[0], step)]
