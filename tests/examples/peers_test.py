#!/usr/bin/python3
"""The programs of examples/peers: what they print, the files that they write, and how they report a failure.

    peers_test.py LIBRARY PROGRAMS [MPIEXEC...]

LIBRARY is netcdf, pnetcdf or highfive; PROGRAMS is the folder where PROGRAM_LIBRARY were built; MPIEXEC is the launcher, for
PnetCDF. Skipped (exit code 77) if the library was not found when CMake ran, and without netCDF4-python.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent.parent / "examples" / "peers"
SKIPPED = 77
NAMES = {"netcdf": "netCDF-C", "pnetcdf": "PnetCDF", "highfive": "HighFive"}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


try:
    import netCDF4
    import numpy
except ImportError:
    skip("no netCDF4-python")

LIBRARY, PROGRAMS, MPIEXEC = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]


def run(program, *arguments, ranks=1):
    """The exit code, the lines of standard output, and those of standard error but for the launcher's own."""
    launcher = [*MPIEXEC, "-n", str(ranks)] if LIBRARY == "pnetcdf" else []
    command = [*launcher, PROGRAMS / f"{program}_{LIBRARY}", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
    files = tuple(map(str, arguments))
    return done.returncode, done.stdout.splitlines(), [line for line in done.stderr.splitlines() if line.startswith(files)]


def check(found, expected):
    if found != expected:
        sys.exit(f"peers_test: {LIBRARY}: found {found!r}, expected {expected!r}")


def check_failure(program, file, *arguments, ranks=1):
    """One line for each rank, which names the file."""
    code, out, error = run(program, *arguments, ranks=ranks)
    check((code, out, len(error)), (1, [], ranks))
    check({line.partition(": ")[0] for line in error}, {str(file)})


def write_and_read(folder):
    file = folder / "stations.nc"
    north, south = ("station_north", "station_south") if LIBRARY == "pnetcdf" else ("station/north", "station/south")
    check(run("write_and_read", file), (0, [f"{north}: 10 records, mean 285.5", f"{south}: 10 records, mean 295.5"], []))
    with netCDF4.Dataset(file) as data:
        for station, base in ((north, 280), (south, 290)):
            prefix = f"{station}_" if LIBRARY == "pnetcdf" else f"{station}/"
            temperature, time = data[f"{prefix}temperature"], data[f"{prefix}time"]
            check((temperature.dtype, temperature.dimensions, temperature.units), ("f4", ("time", "level"), "K"))
            check((time.dtype, time.dimensions), ("f8", ("time",)))
            check([dimension.isunlimited() for dimension in temperature.get_dims()], [True, False])
            check(temperature[:].tolist(), (base + numpy.arange(10)[:, None] + numpy.arange(3)).tolist())
            check(time[:].tolist(), list(range(10)))
    check_failure("write_and_read", folder / "none/stations.nc", folder / "none/stations.nc")


def time_steps(folder):
    # One rank has no rank 1 whose solver diverges.
    for ranks, steps in ((1, 5), (3, 3)):
        file = folder / f"steps_{ranks}.nc"
        failure = [f"{file}: my solver diverged"] * ranks
        check(run("time_steps", file, ranks=ranks), (1, [], failure) if ranks > 1 else (0, [], []))
        with netCDF4.Dataset(file) as data:
            check(data["pressure"].dimensions, ("time", "column"))
            check(data["pressure"][:].tolist(), (numpy.arange(steps)[:, None] * 1000 + numpy.arange(ranks * 100.0)).tolist())
    check_failure("time_steps", folder / "none/steps.nc", folder / "none/steps.nc", ranks=2)


def make_month(path, month, units="K", kind="f4", rows=2, extra=False):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as data:
        data.title = f"month {month}"
        data.createDimension("time", None)
        data.createDimension("lat", rows)
        data.createVariable("lat", "f8", ("lat",))[:] = numpy.arange(rows)
        time = data.createVariable("time", "f8", ("time",))
        time.units = "days since 1990-01-01"
        temperature = data.createVariable("tas", kind, ("time", "lat"))
        temperature.units = units
        data.createVariable("flag", "i2", ())[...] = 7
        if extra:
            data.createVariable("snow", "f4", ("time",))
        days = 30 * month + numpy.arange(28 + month)
        time[:] = days
        temperature[:] = days[:, None] + 100 * numpy.arange(rows)


def merge_months(folder):
    months = [folder / f"month_{month}.nc" for month in range(3)]
    for month, path in enumerate(months):
        make_month(path, month)
    out = folder / "year.nc"
    check(run("merge_months", out, *months), (0, [], []))
    days = numpy.concatenate([30 * month + numpy.arange(28 + month) for month in range(3)])
    with netCDF4.Dataset(out) as data:
        check((data.title, data["tas"].units, data["flag"][...].item()), ("month 0", "K", 7))
        check((data["lat"].dimensions, data["lat"][:].tolist()), (("lat",), [0, 1]))
        check(data["time"][:].tolist(), days.tolist())
        check(data["tas"][:].tolist(), (days[:, None] + 100 * numpy.arange(2)).tolist())

    out.unlink()
    make_month(months[1], 1, units="degC", extra=True)
    make_month(months[2], 2, kind="f8", rows=3)
    expected = "float(time, lat = 2), units K"
    conflicts = [
        f"{months[1]}: tas: found float(time, lat = 2), units degC, expected {expected}",
        f"{months[1]}: snow: found float(time), no units, expected no variable",
        f"{months[2]}: lat: found double(lat = 3), no units, expected double(lat = 2), no units",
        f"{months[2]}: tas: found double(time, lat = 3), units K, expected {expected}",
    ]
    check(run("merge_months", out, *months), (1, [], conflicts))
    check(out.exists(), False)
    check_failure("merge_months", folder / "none.nc", out, months[0], folder / "none.nc")


def warm_samples(folder):
    file = folder / "samples.nc"
    with netCDF4.Dataset(file, "w") as data:
        for sample in range(200):
            group = data.createGroup(f"sample_{sample:03}")
            group.createDimension("time", 4)
            group.createVariable("temperature", "f4", ("time",))[:] = [280, 270 + sample / 4, 281, numpy.nan]
    with netCDF4.Dataset(file, "a") as data:
        for sample in (197, 198, 199):
            data[f"sample_{sample}/temperature"][3] = 284
    out = ["sample_197", "sample_198", "sample_199", "12 values, mean 291.125"]
    check(run("warm_samples", file, 319), (0, out, []))
    check(run("warm_samples", file, 1000), (0, ["0 values, mean nan"], []))
    check_failure("warm_samples", folder / "none.nc", folder / "none.nc", 319)


def main():
    names = sorted(path.stem for path in SOURCES.glob(f"*_{LIBRARY}.c*"))
    if not any((PROGRAMS / name).exists() for name in names):
        skip(f"no {NAMES[LIBRARY]}")
    with tempfile.TemporaryDirectory(prefix="nmb_peers_") as folder:
        for name in names:
            TESTS[name.removesuffix(f"_{LIBRARY}")](Path(folder))


TESTS = {test.__name__: test for test in (write_and_read, time_steps, merge_months, warm_samples)}

if __name__ == "__main__":
    main()
