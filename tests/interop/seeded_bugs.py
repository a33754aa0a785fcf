"""Bugs of writers, made by hand in a file that a tool wrote: the comparison of users' views must find each.

run(tools) returns how many there are, and a line for each that is not found where it was made.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import h5py
import netCDF4
import numpy

from file_grammar import POINT, STATES
from users_view import differences, hdf5_view, netcdf_view


def make_source(path):
    with netCDF4.Dataset(path, "w") as root:
        root.title = "seeded"
        root.createDimension("x", 3)
        root.createDimension("y", 3)
        root.createDimension("time", None)
        made = root.createVariable("v", "i4", ("x", "y"), fill_value=-9)
        made[:] = numpy.arange(9).reshape(3, 3)
        made.units = "m"
        root.createVariable("record", "f8", ("time", "x"))[:] = numpy.arange(6).reshape(2, 3)
        root.createVariable("word", str, ("x",))[:] = numpy.array(["one", "two", "three"], object)
        state = root.createEnumType("i1", "state_t", STATES)
        root.createVariable("state", state, ("x",))[:] = numpy.array([0, 1, 7], "i1")
        point = root.createCompoundType(POINT, "point_t")
        root.createVariable("point", point, ("x",))[:] = numpy.zeros(3, POINT)
        group = root.createGroup("g")
        group.createVariable("inner", "i2", ("y",), zlib=True)[:] = [1, 2, 3]


# Makes a data set anew with something changed; attributes, and lists of scales, stay.
def remake(file, name, dtype=None, values=None, **options):
    old = file[name]
    create = {"maxshape": old.maxshape, "chunks": old.chunks, "fillvalue": old.fillvalue} | options
    if old.dtype.hasobject:
        create.pop("fillvalue")
    file.move(name, "old")
    made = file.create_dataset(name, data=old[...] if values is None else values, dtype=dtype or old.dtype, **create)
    for key in old.attrs:
        made.attrs.create(key, old.attrs[key], dtype=old.attrs.get_id(key).dtype)
    del file["old"]


def dimension_number(file):
    file["s/v"].attrs["_Netcdf4Coordinates"] = numpy.array([0, 2], "i4")


def swapped_dimensions(file):
    file["s/v"].attrs["_Netcdf4Coordinates"] = numpy.array([1, 0], "i4")


def numbers_twice(file):
    file["s/time"].attrs["_Netcdf4Dimid"] = file["s/x"].attrs["_Netcdf4Dimid"]


def dropped_attribute(file):
    del file["s/v"].attrs["units"]


def attribute_of_another_type(file):
    file["s/v"].attrs["_FillValue"] = numpy.array([-9], "<i8")


def shifted_values(file):
    file["s/v"][...] = numpy.roll(file["s/v"][...], 1)


def one_value(file):
    file["s/record"][1, 2] += 1e-9


def fill_value(file):
    remake(file, "s/v", fillvalue=-8)


def lost_unlimited(file):
    remake(file, "s/record", maxshape=None)
    remake(file, "s/time", maxshape=None, chunks=None)


def byte_order(file):
    remake(file, "s/v", dtype=">i4")


def wider_type(file):
    remake(file, "s/v", dtype="<i8")


def lost_group(file):
    del file["s/g"]


def truncated_string(file):
    file["s/word"][2] = "thre"


def enum_member(file):
    remake(file, "s/state", dtype=h5py.enum_dtype(STATES | {"BROKEN": 6}, "i1"), values=[0, 1, 6])


def compound_field(file):
    named = numpy.dtype([("x", "<f8"), ("m", "<i4")])
    remake(file, "s/point", dtype=named, values=numpy.zeros(3, named))


def lost_filter(file):
    remake(file, "s/g/inner", chunks=None)


# How, and what a line that tells of it begins with and has in it.
BUGS = (
    (dimension_number, "/v: dimensions of it"),
    (swapped_dimensions, "/v: dimensions of it"),
    (numbers_twice, "netCDF cannot read it"),
    (dropped_attribute, "/v: attribute units"),
    (attribute_of_another_type, "/v: attribute _FillValue"),
    (shifted_values, "/v: values"),
    (one_value, "/record: values"),
    (fill_value, "/v: fill value"),
    (lost_unlimited, "/time: unlimited"),
    (byte_order, "/v: type"),
    (wider_type, "/v: type"),
    (lost_group, "/g: "),
    (truncated_string, "/word: values"),
    (enum_member, "/state: type"),
    (compound_field, "/point: type"),
    (lost_filter, "/g/inner: filters"),
)


def found_in(source, output):
    lines = differences(hdf5_view(output, "s"), hdf5_view(source), ("user block",))
    # netCDF-C crashes on values of variables whose dimensions are wrong.
    by_netcdf = netcdf_view(output, "s", values=False)
    if by_netcdf is None:
        return [*lines, "netCDF cannot read it"]
    return lines + differences(by_netcdf, netcdf_view(source, values=False))


def run(tools):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "s.nc", Path(folder) / "out.nc"
        make_source(source)
        subprocess.run([tools / "nmcat", source, "-o", output, "--no-sync"], check=True)
        if lines := found_in(source, output):
            problems.append(f"without a seeded bug: {lines}")
        for bug, told in BUGS:
            # Of its own: libraries may have the one before open still.
            copy = Path(folder) / f"{bug.__name__}.nc"
            shutil.copy(output, copy)
            with h5py.File(copy, "r+") as file:
                bug(file)
            lines = found_in(source, copy)
            if not any(told in line for line in lines):
                problems.append(f"seeded bug {bug.__name__}: not found; found {lines}")
    return len(BUGS), problems
