#!/usr/bin/python3
"""Makes a folder of monthly model output with the faults that such folders have.

    make_months.py FOLDER [--months N] [--own-days]

Each file has the daily values of one month of 30 days: surface temperature and precipitation on a small grid, compressed
by deflate. Every file has its own history and tracking_id. Where the folder is large enough, one file has temperatures in
degC, one is cut, one begins five days early, and one has a variable that the others lack. With --own-days, the times of a
file count from the first day of its month. docs/guides/archive.md uses these folders.
"""

import argparse
import uuid
from pathlib import Path

import netCDF4
import numpy

DAYS, ROWS, COLUMNS = 30, 18, 36
OTHER_UNITS, CUT, EARLY, EXTRA = 137, 200, 250, 300  # numbers of the files with faults


def write_month(path, month, own_days):
    random = numpy.random.default_rng(month)
    first = month * DAYS - (5 if month == EARLY else 0)
    origin = month if own_days else 0
    with netCDF4.Dataset(path, "w") as file:
        file.Conventions = "CF-1.8"
        file.history = f"model step {month} on node {month % 7}"
        file.tracking_id = "hdl:21.14100/" + str(uuid.UUID(int=month))
        file.createDimension("time", None)
        file.createDimension("lat", ROWS)
        file.createDimension("lon", COLUMNS)
        file.createDimension("bnds", 2)
        time = file.createVariable("time", "f8", ("time",), chunksizes=(DAYS,))
        time.units = f"days since {1990 + origin // 12}-{origin % 12 + 1:02}-01"
        time.calendar, time.bounds, time.axis = "360_day", "time_bnds", "T"
        first -= origin * DAYS
        time[:] = first + numpy.arange(DAYS) + 0.5
        bounds = file.createVariable("time_bnds", "f8", ("time", "bnds"), chunksizes=(DAYS, 2))
        bounds[:] = first + numpy.arange(DAYS)[:, None] + numpy.array([0, 1])
        for name, length, step, units in (("lat", ROWS, 10, "degrees_north"), ("lon", COLUMNS, 10, "degrees_east")):
            axis = file.createVariable(name, "f8", (name,))
            axis.units = units
            axis[:] = numpy.arange(length) * step
        names = {"tas": ("K", 280), "pr": ("kg m-2 s-1", 0)}
        if month == OTHER_UNITS:
            names["tas"] = ("degC", 6.85)
        if month == EXTRA:
            names["snd"] = ("m", 0.1)
        for name, (units, mean) in names.items():
            variable = file.createVariable(
                name, "f4", ("time", "lat", "lon"), zlib=True, complevel=4, shuffle=True, chunksizes=(10, ROWS, COLUMNS)
            )
            variable.units = units
            variable[:] = mean + random.normal(size=(DAYS, ROWS, COLUMNS)).round(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--months", type=int, default=400)
    parser.add_argument("--own-days", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True)
    for month in range(arguments.months):
        path = arguments.folder / f"model_{1990 + month // 12}{month % 12 + 1:02}.nc"
        write_month(path, month, arguments.own_days)
        if month == CUT:
            with open(path, "r+b") as file:
                file.truncate(path.stat().st_size * 6 // 10)


if __name__ == "__main__":
    main()
