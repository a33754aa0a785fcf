"""Files with an HDF5 view for tests of programs that read them: one block, and several."""

import shutil
from pathlib import Path

import netCDF4
import numpy


def grid(path, first=0, records=3):
    """What programs for climate data take for a grid, and some more."""
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as d:
        d.setncatts({"title": "a grid", "Conventions": "CF-1.6", "numbers": numpy.array([1, 2, 3], "i4")})
        for name, length in (("time", None), ("lat", 4), ("lon", 6)):
            d.createDimension(name, length)
        times = d.createVariable("time", "f8", ("time",))
        times.setncatts({"units": "days since 2000-01-01", "calendar": "standard"})
        for name, edge, unit, axis in (("lat", 60, "degrees_north", 4), ("lon", 300, "degrees_east", 6)):
            v = d.createVariable(name, "f4", (name,))
            v.setncatts({"units": unit, "standard_name": {"lat": "latitude", "lon": "longitude"}[name]})
            v[:] = numpy.linspace(-edge if name == "lat" else 0, edge, axis)
        tas = d.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=numpy.float32(-99))
        tas.setncatts({"units": "K", "long_name": "temperature"})
        pr = d.createVariable("pr", "i4", ("time", "lat", "lon"))
        pr.units = "kg"
        d.createVariable("orog", "f8", ("lat", "lon"))[:] = numpy.arange(24).reshape(4, 6) * 1.5
        for i in range(records):
            times[i] = first + i
            tas[i] = numpy.arange(24).reshape(4, 6) + 100 * (first + i)
            pr[i] = numpy.arange(24).reshape(4, 6) * 3 - first - i
        d.createVariable("scalar", "i2", ())[...] = 12


def make(test):
    """({file of one block}, {file of several blocks: their names and sources}, source): view fresh, added later, older than
    the file."""
    work, run = Path(test.work), test.run
    source, other = work / "source.nc", work / "other.nc"
    grid(source)
    grid(other, 7, 2)
    run("nmconvert", source, "fresh.nmb", "--hdf5-view", "on")
    run("nmconvert", source, "later.nmb")
    run("nmconvert", "--add-hdf5-view", "later.nmb")
    for name in ("fresh", "later"):
        shutil.copy(work / f"{name}.nmb", work / f"{name}_appended.nmb")
        run("nmcat", other, "-o", f"{name}_appended.nmb", "--append", "--hdf5-view", "off", "--block-name", "more")
    run("nmcat", source, other, "-o", "packed.nmb", "--hdf5-view", "on")
    run("nmcat", source, "-o", "packed_appended.nmb", "--hdf5-view", "on")
    run("nmcat", other, "-o", "packed_appended.nmb", "--append", "--hdf5-view", "on")
    shutil.copy(work / "fresh_appended.nmb", work / "shown_again.nmb")
    run("nmconvert", "--add-hdf5-view", "shown_again.nmb")
    one = [work / f"{name}.nmb" for name in ("fresh", "later", "fresh_appended", "later_appended")]
    both = {"source": source, "other": other}
    several = {work / "packed.nmb": both, work / "packed_appended.nmb": both,
               work / "shown_again.nmb": {"": source, "more": other}}
    for path in (*one, *several):
        run("nmverify", path)
    return one, several, source
