"""Makes files of daily values, one for each month, as CMIP6 has them, and says which values a part of them has."""

import datetime
import math
import multiprocessing
import os

import netCDF4
import numpy

FIRST_YEAR = 1990
LAT, LON = 360, 720
UNITS = "days since 1990-01-01"
FIELD_MEGABYTES = LAT * LON * 4 / 1e6
DEFLATED = 0.5  # how much of a field remains after shuffle and deflate


def field(rng, steps, lat, lon):
    """Smooth values with noise, which deflate to about two thirds, and with shuffle to half."""
    waves = numpy.sin(numpy.arange(lat) / 9)[:, None] + numpy.cos(numpy.arange(lon) / 11)
    noise = rng.normal(0, 0.3, (steps, lat, lon))
    return (280 + 20 * waves + noise).astype("f4").round(2)


def centres(first, last, length):
    step = (last - first) / length
    return first + step * (numpy.arange(length) + 0.5)


class MonthlyFiles:
    """The files of some years below a folder.

    kind: the format, as netCDF4 calls it. packed: shuffle and deflate. A chunk has the whole grid and at least chunk_bytes.
    The grid is so large that all files together have about `megabytes`, but at most 360 x 720; more variables make up for
    the rest.
    """

    def __init__(self, folder, years, megabytes, kind="NETCDF4", packed=True, chunk_bytes=1):
        self.folder, self.years, self.kind, self.packed = folder, years, kind, packed
        days = (datetime.date(FIRST_YEAR + years, 1, 1) - datetime.date(FIRST_YEAR, 1, 1)).days
        fields = megabytes / (FIELD_MEGABYTES * (DEFLATED if packed else 1) * days)
        count = max(round(fields), 4)
        shrink = min(math.sqrt(fields / count), 1)
        self.lat, self.lon = max(int(LAT * shrink), 18), max(int(LON * shrink), 36)
        self.chunk = math.ceil(chunk_bytes / (self.lat * self.lon * 4))
        self.names = [f"v{i}" for i in range(count)]
        self.months = [(FIRST_YEAR + i // 12, i % 12 + 1) for i in range(12 * years)]

    def path(self, month):
        return self.folder / "day_{}{:02}.nc".format(*month)

    def paths(self, year=None):
        return [self.path(month) for month in self.months if year in (None, month[0])]

    def bytes(self, year=None):
        return sum(path.stat().st_size for path in self.paths(year))

    def make(self):
        self.folder.mkdir()
        with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
            pool.map(self.write, self.months, chunksize=1)

    def write(self, month):
        begin = datetime.date(*month, 1)
        days = ((begin + datetime.timedelta(days=31)).replace(day=1) - begin).days
        first = (begin - datetime.date(FIRST_YEAR, 1, 1)).days + numpy.arange(days)
        rng = numpy.random.default_rng(month)
        chunks = lambda *lengths: {"chunksizes": lengths} if self.kind == "NETCDF4" else {}  # noqa: E731
        packed = {"zlib": True, "complevel": 1, "shuffle": True} if self.packed else {}
        with netCDF4.Dataset(self.path(month), "w", format=self.kind) as file:
            file.Conventions = "CF-1.8"
            for name, length in (("time", None), ("bnds", 2), ("lat", self.lat), ("lon", self.lon)):
                file.createDimension(name, length)
            time = file.createVariable("time", "f8", ("time",), **chunks(512))
            time.units, time.calendar, time.bounds, time.standard_name = UNITS, "standard", "time_bnds", "time"
            bounds = file.createVariable("time_bnds", "f8", ("time", "bnds"), **chunks(512, 2))
            for name, values, axis in (("lat", centres(-90, 90, self.lat), "latitude"), ("lon", centres(0, 360, self.lon), "longitude")):
                variable = file.createVariable(name, "f8", (name,))
                variable.standard_name, variable.units = axis, "degrees_north" if name == "lat" else "degrees_east"
                variable[:] = values
            for name in self.names:
                variable = file.createVariable(
                    name, "f4", ("time", "lat", "lon"), fill_value=1e20, **packed, **chunks(self.chunk, self.lat, self.lon))
                variable.units = "K"
            for name in self.names:
                file[name][:] = field(rng, days, self.lat, self.lon)
            time[:] = first + 0.5
            bounds[:] = first[:, None] + [0.0, 1.0]

    def part(self, name, year, box):
        """The values of a variable in a year and a box (west, east, south, north), by netCDF4 and numpy."""
        inside = lambda values, least, most: (values >= least) & (values <= most)  # noqa: E731
        lon = inside(centres(0, 360, self.lon), *box[:2])
        lat = inside(centres(-90, 90, self.lat), *box[2:])
        months = []
        for path in self.paths(year):
            with netCDF4.Dataset(path) as file:
                months.append(file[name][:].filled()[:, lat][:, :, lon])
        return numpy.concatenate(months)
