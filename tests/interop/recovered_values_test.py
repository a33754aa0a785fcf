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
    kind = ["--to", "cdf5"] if out.endswith(".nc") else []
    tools.run("nmconvert", "back.nmb", "--extract", source.split(".")[0], "-o", out, "-f", *kind)
    return tools.work / out


def make_references(path):
    with h5py.File(path, "w") as file:
        for name in "gone", "kept":  # HDF5 visits "gone" first, so a second link leads to it
            file.create_dataset(f"{name}/x", data=numpy.arange(700) + ord(name[0]))
            file[f"{name}/x"].attrs["about"] = name
        kept, gone = file["kept"], file["gone"]
        kept["same"] = gone["x"]  # a second hard link
        kept.create_dataset("to", data=[gone["x"].ref, kept["x"].ref, gone.ref], dtype=h5py.ref_dtype)
        kept.attrs["to"] = gone["x"].ref
        kept.create_dataset("part", data=[gone["x"].regionref[3:5]], dtype=h5py.regionref_dtype)


def test_references(tools):
    """Links and references to lost objects are left out and named; the rest converts."""
    make_references(tools.work / "r.h5")
    for originals in [], ["--no-originals"]:
        tools.run("nmcat", "r.h5", "other.nc", "-o", "all.nmb", "-f", "--no-sync", *originals)
        path = tools.work / "all.nmb"
        data = bytearray(path.read_bytes())
        headers = [at for at in range(16384, len(data), 8) if data[at : at + 8] == b"\x89NMBBLCK"]
        headers = [at for at in headers if data[at + 152 : at + 160].rstrip(b"\0") in (b"gone", b"r/gone")]
        for at in headers:
            data[at + 100] ^= 1
        path.write_bytes(data)
        told = tools.run("nmverify", "--recover", "back.nmb", "-f", "all.nmb", exit_code=3)
        for name in "to", "part", "same":
            tools.check(name in told, f"{name} is not named: {told}")
        plan = tools.run("nmverify", "--plan", "all.nmb", exit_code=3)
        lines = [line for line in told.splitlines() if "lost: " in line]
        tools.check(all(line in plan for line in lines), f"--plan does not say {lines}: {plan}")
        tools.run("nmverify", "back.nmb")
        tools.run("nmconvert", "back.nmb", "-o", "back.h5", "-f")
        with h5py.File(tools.work / "back.h5") as file:
            group = next(file[name] for name in ("r/kept", "kept") if name in file)
            tools.check(not group["to"][0] and not group["to"][2], "a reference leads to a lost object")
            tools.check(group.file[group["to"][1]].attrs["about"] == "kept", "a reference to a kept object is lost")
            tools.check("same" not in group and (group["x"][...] == numpy.arange(700) + ord("k")).all(), "other values")


def test(tools):
    make_netcdf(tools.work / "a.nc")
    make_hdf5(tools.work / "h.h5")
    with netCDF4.Dataset(tools.work / "other.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 3)
        file.createVariable("v", "i4", ("x",))[:] = 5
    test_references(tools)
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
