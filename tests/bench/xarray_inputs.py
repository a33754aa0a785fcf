"""Makes the files that xarray_jobs.py measures: days of a model's output, and samples of graphs. They are written once."""

import concurrent.futures
import datetime
import multiprocessing
import os
import shutil

import netCDF4
import numpy
from monthly_files import centres, field

LAT, LON = 90, 180
FIRST_DAY = datetime.date(1990, 1, 1)
SAMPLES = 1000  # different ones
PLANES, NODES = ("u", "v", "y"), 4.0  # the logarithm of the usual number of nodes


def in_processes(function, arguments):
    """Calls a function for each argument, in as many new processes as there are processors."""
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")) as pool:
        list(pool.map(function, arguments, chunksize=50))


def made(folder, make):
    """The folder, with the content that `make` gives it if it does not exist."""
    if not folder.exists():
        unfinished = folder.with_name(folder.name + ".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


# --- days ---


def day_name(number):
    return f"day_{FIRST_DAY + datetime.timedelta(days=number):%Y%m%d}.nc"


def write_day(folder_and_number):
    """A netCDF-4 file with one time step of two compressed fields, as CMIP has them."""
    folder, number = folder_and_number
    rng = numpy.random.default_rng(number)
    with netCDF4.Dataset(folder / day_name(number), "w") as file:
        file.Conventions, file.frequency, file.source_id = "CF-1.8", "day", "xarray_jobs"
        for name, length in (("time", None), ("lat", LAT), ("lon", LON), ("bnds", 2)):
            file.createDimension(name, length)
        for name, length, text, units, axis, first, last in (
            ("lat", LAT, "latitude", "degrees_north", "Y", -90, 90), ("lon", LON, "longitude", "degrees_east", "X", 0, 360)
        ):
            one = file.createVariable(name, "f8", (name,))
            one.standard_name, one.units, one.axis, one.bounds = text, units, axis, f"{name}_bnds"
            middles, half = centres(first, last, length), (last - first) / length / 2
            one[:] = middles
            file.createVariable(f"{name}_bnds", "f8", (name, "bnds"))[:] = middles[:, None] + [-half, half]
        when = file.createVariable("time", "f8", ("time",))
        when.standard_name, when.units, when.calendar, when.axis = "time", f"days since {FIRST_DAY}", "standard", "T"
        when.bounds = "time_bnds"
        when[:] = number + 0.5
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = [[number, number + 1.0]]
        for name, text, units, scale in (("tas", "air_temperature", "K", 1), ("pr", "precipitation_flux", "kg m-2 s-1", 1e-6)):
            one = file.createVariable(name, "f4", ("time", "lat", "lon"), fill_value=1e20, zlib=True, complevel=1, shuffle=True)
            one.standard_name, one.units, one.cell_methods = text, units, "area: time: mean"
            one[:] = field(rng, 1, LAT, LON) * numpy.float32(scale)


def days(folder, count):
    """The paths of daily files, in the order of time."""
    made(folder, lambda into: in_processes(write_day, [(into, number) for number in range(count)]))
    return [folder / day_name(number) for number in range(count)]


# --- samples ---


def sample_name(number):
    """The name of block `number`, as nmcat --block-name '{index}_{stem}' makes it."""
    return f"{number}_sample_{number % SAMPLES}"


def fill_sample(group, number):
    """16 variables of a graph, whose lengths are those of this sample. group: a file or a group of netCDF4."""
    rng = numpy.random.default_rng(number % SAMPLES)

    def add(name, values):
        dims = [f"{name}_dim_{axis}" for axis in range(values.ndim)]
        for dim, length in zip(dims, values.shape):
            group.createDimension(dim, length)
        group.createVariable(name, values.dtype, dims)[...] = values

    for plane in PLANES:
        nodes = 8 + int(rng.lognormal(NODES, 0.8))
        edges = 3 * nodes
        add(f"x_{plane}", rng.random((nodes, 9), "f4"))
        for name in ("y_s", "y_i"):
            add(f"{name}_{plane}", rng.integers(0, 9, nodes))
        for name, count in (("edge_index", edges), ("edge_index_3d", 1 + edges // 4)):
            add(f"{name}_{plane}", rng.integers(0, nodes, (2, count)))
    add("n_sp", numpy.int64(nodes // 2))


def samples(folder, count):
    """The paths of `count` CDF-5 files with a sample each; later ones are the first SAMPLES again."""

    def make(into):
        for number in range(SAMPLES):
            with netCDF4.Dataset(into / f"sample_{number}.nc", "w", format="NETCDF3_64BIT_DATA") as file:
                fill_sample(file, number)

    made(folder, make)
    return [folder / f"sample_{number % SAMPLES}.nc" for number in range(count)]


def write_groups(path, count):
    """A netCDF-4 file that the netCDF library writes, with a group for each sample."""
    with netCDF4.Dataset(path, "w") as file:
        for number in range(count):
            fill_sample(file.createGroup(sample_name(number)), number)
