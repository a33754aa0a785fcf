#!/usr/bin/python3
"""Generated netCDF files with large and small variables: nmconvert --layout cmip7 keeps what netCDF4-python sees, and h5py
finds the chunks, filters and places that docs/guides/convert.md promises. A second call changes no chunk.

    many_cmip7_test.py --tools build/release/tools [--sets 60] [--first 0]
"""

import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, netCDF4, numpy  # noqa: E402
from cmip7_test import LEAST, check_chunks, check_metadata_first, check_same, data_sets, raw_chunks  # noqa: E402
from generated_sets import main  # noqa: E402

KINDS = ("NETCDF4", "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET")


def make_file(path, number):
    """Variables of 0 to 12 MiB. Some have chunks that are right already."""
    rng = numpy.random.default_rng(number)
    kind = KINDS[number % len(KINDS)]
    has_chunks = kind.startswith("NETCDF4")
    with netCDF4.Dataset(path, "w", format=kind) as f:
        f.title = "generated"
        steps, lengths = int(rng.integers(1, 60)), {"lat": int(rng.integers(2, 180)), "lon": int(rng.integers(2, 360)), "lev": 3, "bnds": 2}
        f.createDimension("time", None if rng.integers(3) else steps)
        for name, length in lengths.items():
            f.createDimension(name, length)
        time = f.createVariable("time", "f8", ("time",), **({"chunksizes": (int(rng.integers(1, 5)) if steps > 4 else 1,)} if has_chunks else {}))
        time.units = "days since 1850-01-01"
        if rng.integers(2):
            time.bounds = "time_bnds"
            f.createVariable("time_bnds", "f8", ("time", "bnds"))[:steps] = rng.random((steps, 2))
        time[:] = numpy.arange(steps)
        for name in ("lat", "lon"):
            f.createVariable(name, "f8", (name,))[:] = numpy.arange(lengths[name])
        groups = [f, f.createGroup("g")] if kind == "NETCDF4" and rng.integers(2) else [f]
        for i in range(rng.integers(1, 4)):
            dtype = numpy.dtype(str(rng.choice(["i1", "i2", "i4", "f4", "f8"])))
            dimensions = [("time", "lat", "lon"), ("time", "lev", "lat", "lon"), ("lat", "lon"), ("time",), ("lev", "lon", "lat")][rng.integers(5)]
            shape = [steps if d == "time" else lengths[d] for d in dimensions]
            how = {}
            if has_chunks and rng.integers(5):
                how["chunksizes"] = [int(rng.integers(1, n + 1)) for n in shape]
                if rng.integers(3) == 0:
                    how["chunksizes"] = shape
                if rng.integers(2):
                    how |= {"zlib": True, "complevel": int(rng.choice([1, 4])), "shuffle": bool(rng.integers(2))}
                how["fletcher32"] = bool(rng.integers(2))
            one = groups[rng.integers(len(groups))].createVariable(f"v{i}", dtype, dimensions, **how)
            one.units = "1"
            size = int(numpy.prod(shape)) * dtype.itemsize
            if size > 3 * LEAST or rng.integers(6) == 0:
                one[:1] = 1  # only the first part is written
            else:
                one[:] = rng.integers(0, 100, shape).astype(dtype)


def check_set(test, number):
    make_file(test.work / "in.nc", number)
    what = f"set {number}"
    test.run("nmconvert", "in.nc", "-o", "out.nc", "--layout", "cmip7", "--no-sync")
    if test.exit_code != 0:
        return
    check_metadata_first(test, test.work / "out.nc", what)
    check_chunks(test, test.work / "out.nc", what)
    check_same(test, "in.nc", "out.nc", what)
    test.run("nmconvert", "out.nc", "-o", "again.nc", "--layout", "cmip7", "--no-sync")
    with h5py.File(test.work / "out.nc") as a, h5py.File(test.work / "again.nc") as b:
        for one in data_sets(a):
            if one.chunks:
                test.check(raw_chunks(one) == raw_chunks(b[one.name]), f"{what}: again: {one.name}: other chunks")


if __name__ == "__main__":
    sys.exit(main(__doc__, check_set, few=6, many=60))
