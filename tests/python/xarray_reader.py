"""Reads files with one xarray engine, and stores what it gave. A process of its own, because engines may crash.

    xarray_reader.py ENGINE OUT < PATHS

OUT/N.pickle is of the Nth path: a dict from the paths of groups to (data set, {variable: error}), or to an error's text.
OUT/at holds the number of the path that is being read."""

import pickle
import signal
import sys
import warnings
from pathlib import Path

import xarray as xr

SECONDS = 60


def groups_of(engine, path):
    if engine == "netcdf4":
        import netCDF4

        opened = netCDF4.Dataset(path)
    elif engine == "h5netcdf":
        import h5netcdf

        opened = h5netcdf.File(path, "r", phony_dims="sort")
    else:
        import nmb
        from nmb.xarray import _selected

        yield from (name.strip("/") for name, block in _selected(nmb.open(path), "", "**", 10**6).items() if block is not None)
        return
    with opened as root:
        waiting = [("", root)]
        while waiting:
            name, group = waiting.pop()
            yield name
            waiting.extend((f"{name}/{key}".strip("/"), below) for key, below in group.groups.items())


def read(engine, path, group):
    more = {"phony_dims": "sort"} if engine == "h5netcdf" else {}
    ds = xr.open_dataset(path, engine=engine, group=group or None, **more)
    errors = {}
    for name in list(ds.variables):
        try:
            ds.variables[name].load()
        except Exception as error:  # noqa: BLE001
            errors[name] = f"{type(error).__name__}: {error}"
            ds = ds.drop_vars(name)
    loaded = ds.load()
    loaded.set_close(None)
    return loaded, errors


def read_all(engine, path):
    try:
        groups = list(groups_of(engine, path))
    except Exception as error:  # noqa: BLE001
        return {"": f"{type(error).__name__}: {error}"}
    out = {}
    for group in groups:
        try:
            out[group] = read(engine, path, group)
            pickle.dumps(out[group])
        except Exception as error:  # noqa: BLE001
            out[group] = f"{type(error).__name__}: {error}"
    return out


def main():
    engine, out = sys.argv[1], Path(sys.argv[2])
    warnings.simplefilter("ignore")
    for line in sys.stdin.read().splitlines():
        number, path = line.split("\t")
        (out / "at").write_text(number)
        signal.alarm(SECONDS)
        found = read_all(engine, path)
        signal.alarm(0)
        (out / f"{number}.pickle").write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
