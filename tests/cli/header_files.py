"""Makes netCDF files whose headers have everything that a header can have: all types of attributes, names
with special characters, groups that share dimensions and types, and types that users define."""

import netCDF4
import numpy

CLASSIC = "NETCDF3_CLASSIC NETCDF3_64BIT_OFFSET NETCDF3_64BIT_DATA NETCDF4_CLASSIC".split()
NAMES = ("1abc", "a b", "a.b-c+d@e", "a%b&c", "ü", "int", "data", "types", "group", "variables", "_x", "s#()[]{}^~$")


def all_types(file, types):
    for code in types.split():
        variable = file.createVariable(f"v_{code}", code, ("x",))
        kind = numpy.dtype(code)
        if kind.kind in "iu":
            values = [0, 1, 7, numpy.iinfo(kind).min, numpy.iinfo(kind).max]
        else:
            values = [0, -0.0, 1, 2.5, 0.1, 1 / 3, 1e6, 1e7, 9999999, 99999999, 123456789, 1e10, 1e15, 1e16, 1e20,
                      1e-4, 1e-5, 1e-30, -1073741824, numpy.nan, numpy.inf, -numpy.inf]
        variable.setncattr("list", numpy.array(values, kind))
        variable.setncattr("one", numpy.array(1, kind))


def texts(file):
    variable = file.createVariable("text", "S1", ("x",))
    for number, text in enumerate(("plain", "two\nlines", "ends\n", "a\n\nb\n\n", "\t\"q\" 's' \\ \b\f\v\r\x01\x7f",
                                   "ünï", "", "nul\0in it", "ends\0\0", "x" * 3000, "<a href=\"&amp;\">")):
        variable.setncattr(f"t{number}", text)


def flat(path, form):
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("x", 3)
        file.createDimension("time", None)
        file.createDimension("2x", 2)
        has_all = form in ("NETCDF4", "NETCDF3_64BIT_DATA")
        all_types(file, "i1 i2 i4 f4 f8" + (" u1 u2 u4 i8 u8" if has_all else ""))
        texts(file)
        for name in NAMES:
            file.createVariable(name, "f8", ("time", "2x")).setncattr("1 unit", "u")
        file.createVariable("x", "f4", ("x",), fill_value=-1)[:] = 1
        file.createVariable("scalar", "i4")
        file.setncattr("title", "first\nsecond")
        file.setncattr("none", numpy.array([], "i4"))


def user_types(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 3)
        hits = file.createVLType(numpy.int32, "hits")
        inner = file.createCompoundType(
            numpy.dtype([("a", "i2"), ("b", "f8"), ("c", "S1", (5,)), ("d", "f4", (2, 3))]), "inner")
        outer = file.createCompoundType(numpy.dtype([("n", inner.dtype), ("k", "u1")]), "outer type")
        members = {"Clear": 0, "A b": 1, "Missing": 255, **{f"member_{n}": n + 2 for n in range(20)}}
        cloud = file.createEnumType(numpy.uint8, "cloud", members)
        file.createEnumType(numpy.int64, "wide", {"low": -5, "high": 2**40})
        variable = file.createVariable("compound", inner, ("t",))
        text = numpy.frombuffer(b"ab\0\0\0", "S1")
        variable.setncattr("value", numpy.array((1, 2.5, text, numpy.arange(6).reshape(2, 3)), inner.dtype))
        file.createVariable("ragged", hits, ("x",))
        file.createVariable("clouds", cloud, ("t", "x"), fill_value=255)
        file.createVariable("nested", outer, ())
        strings = file.createVariable("strings", str, ("t",))
        strings.setncattr_string("one", "a\nb")
        strings.setncattr_string("list", ["a", "b|\n", 'ü"', ""])
        strings[0:4] = numpy.array(["a", "b", "c", "d"], object)
        file.setncattr_string("title", "a string")


def groups(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 3)
        cloud = file.createEnumType(numpy.uint8, "cloud", {"Clear": 0, "Rain": 1})
        file.createVariable("root", "i2", ("x",))
        first = file.createGroup("first")
        for name, length in (("x", 5), ("u", None), ("y", 2)):
            first.createDimension(name, length)
        first.createVariable("grown", "f4", ("t", "u", "y"))[0:2, 0:7, :] = 1
        first.createVariable("own", "f4", ("x",))
        first.createVariable("above", cloud, ("t",))
        first.title = "title\nof a group"
        below = first.createGroup("below it")
        below.createVariable("all", "f8", ("t", "x", "u"))
        below.createVariable("again", below.createEnumType(numpy.int32, "cloud", {"X": 1}), ("y",))
        below.createGroup("nothing")
        file.createGroup("b")
        deep = file.createGroup("a/deep/er")
        deep.setncattr("real", numpy.float32(1.1))
        file["a"].createGroup("deep.x").createVariable("v", "f4", ("t",))
        file.createGroup("a-x")


def make_all(folder):
    """Returns the names of the files."""
    for form in (*CLASSIC, "NETCDF4"):
        flat(folder / f"{form}.nc", form)
    user_types(folder / "user types.nc")
    groups(folder / "groups.nc")
    return sorted(path.name for path in folder.glob("*.nc"))
