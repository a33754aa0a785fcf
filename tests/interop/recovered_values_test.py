#!/usr/bin/python3
"""nmverify --recover --partial: damaged values of netCDF-4 and HDF5 arrays become the fill values that netCDF4-python and h5py
show as fill values, not other numbers.

    recovered_values_test.py --tools FOLDER
"""

import sys

import tool_runs

import h5py
import netCDF4
import numpy

VARIABLES = {  # name: (type, fill value that is set or None, byte order)
    "set": ("f4", -7, "native"),
    "default": ("f8", None, "native"),
    "short": ("i2", 99, "big"),
    "bytes": ("u1", 200, "native"),
    "large": ("i8", None, "big"),
}


def make_netcdf(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3000)
        for name, (type_, fill, order) in VARIABLES.items():
            variable = file.createVariable(name, type_, ("x",), fill_value=fill, endian=order, contiguous=True)
            variable.set_auto_maskandscale(False)
            variable[:] = numpy.arange(3000) % 97 + 1


def make_hdf5(path):
    pair = numpy.dtype([("a", "<i4"), ("b", "<f8")])
    with h5py.File(path, "w") as file:
        file.create_dataset("pair", (500,), pair, fillvalue=numpy.array((5, 2.5), pair))[...] = numpy.zeros(500, pair)
        file.create_dataset("never", (500,), "<i4", fillvalue=77)
        file.create_dataset("plain", data=numpy.arange(500) + 1)


def flip(path, values):
    """Changes one bit of the stored values."""
    data = bytearray(path.read_bytes())
    at = data.find(values.tobytes())
    assert at > 0
    data[at + 40] ^= 4
    path.write_bytes(data)


def recovered(tools, source, damaged, out):
    """The source, packed, damaged, recovered in part, and written as the kind of `out`."""
    tools.run("nmcat", source, "other.nc", "-o", "all.nmb", "-f", "--no-originals", "--no-sync")
    flip(tools.work / "all.nmb", damaged)
    tools.run("nmverify", "--recover", "back.nmb", "-f", "--partial", "all.nmb", exit_code=3)
    tools.run("nmverify", "back.nmb")
    tools.run("nmconvert", "back.nmb", "--extract", source.split(".")[0], "-o", out, "-f")
    return tools.work / out


def test(tools):
    make_netcdf(tools.work / "a.nc")
    make_hdf5(tools.work / "h.h5")
    with netCDF4.Dataset(tools.work / "other.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "i4", ("x",))[:] = 5
    with netCDF4.Dataset(recovered(tools, "a.nc", numpy.arange(3000, dtype="<f4") % 97 + 1, "back.nc")) as file:
        lost = 0
        for name, (type_, fill, _) in VARIABLES.items():
            variable = file[name]
            variable.set_auto_maskandscale(False)
            values = variable[:]
            filled = netCDF4.default_fillvals[type_] if fill is None else fill
            whole = numpy.array_equal(values, numpy.arange(3000) % 97 + 1)
            lost += not whole
            tools.check(whole or (values == numpy.array(filled, type_)).all(), f"{name}: {values[:5]}, expected {filled}")
        tools.check(lost > 0, "no variable was lost")
    with h5py.File(recovered(tools, "h.h5", numpy.arange(500) + 1, "back.h5")) as file:
        file = file["h"]
        tools.check((file["plain"][...] == 0).all(), f"plain: {file['plain'][:5]}")
        tools.check((file["never"][...] == 77).all(), f"never: {file['never'][:5]}")
        tools.check(set(file["pair"][...].tolist()) in ({(5, 2.5)}, {(0, 0.0)}), f"pair: {file['pair'][:5]}")


if __name__ == "__main__":
    sys.exit(tool_runs.main(__doc__, test))
