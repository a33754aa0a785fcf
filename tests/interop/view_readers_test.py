#!/usr/bin/python3
"""Programs that know nothing of NMB read .nmb files by their HDF5 view: names, dimensions and values are those of the
classic files that the blocks were made of, where the view is new, was added later, or is older than the file.

    view_readers_test.py --tools FOLDER

Skipped (exit code 77) without h5py, netCDF4-python, xarray, h5netcdf, CDO, NCO and HDF5's programs.
"""

import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import main, netCDF4, numpy  # noqa: E402
import view_readers  # noqa: E402
from view_comparison import Comparison, same_values  # noqa: E402

PROGRAMS = ("cdo", "ncdump", "ncks", "h5ls", "h5dump")


class Readers:
    def __init__(self, test):
        self.test = test

    def said(self, *command, exit_code=0):
        done = subprocess.run(command, cwd=self.test.work, capture_output=True, text=True, timeout=120)
        words = " ".join(map(str, command))
        self.test.check((done.returncode == 0) == (exit_code == 0), f"{words}: exit code {done.returncode}: {done.stderr}")
        return done.stdout if exit_code == 0 else done.stderr

    def same_text(self, what, found, expected):
        self.test.check(found == expected and expected.strip(), f"{what}: found\n{found}\nexpected\n{expected}")

    def cdo(self, path, source):
        def infos(of):
            return self.said("cdo", "-s", "sinfo", of).replace(str(of), "FILE")

        # The reported kind of the file is right: NetCDF4.
        found, expected = infos(path), infos(source)
        self.test.check("NetCDF4" in found.splitlines()[0], f"{path.name}: cdo sinfo: {found}")
        self.same_text(f"{path.name}: cdo sinfo", re.sub("NetCDF4", "NetCDF2", found), expected)
        self.same_text(f"{path.name}: cdo infon", self.said("cdo", "-s", "infon", path), self.said("cdo", "-s", "infon", source))
        self.same_text(f"{path.name}: cdo outputf", self.said("cdo", "-s", "outputf,%g", "-selname,tas,pr,orog", path),
                       self.said("cdo", "-s", "outputf,%g", "-selname,tas,pr,orog", source))

    def texts(self, path, sources):
        """ncdump and ncks tell of each block what they tell of its source."""
        if len(sources) == 1:
            self.same_text(f"{path.name}: ncdump", self.said("ncdump", "-n", "x", path),
                           self.said("ncdump", "-n", "x", *sources.values()))
        else:
            said = self.said("ncdump", path)
            self.test.check(all(f"group: {name} {{" in said for name in sources if name), f"{path.name}: ncdump: {said}")
        copied = self.test.work / "copied.nc"
        self.said("ncks", "-O", "-h", "-4", path, copied)
        for name, source in sources.items():
            with netCDF4.Dataset(copied) as file, netCDF4.Dataset(source) as b:
                a = file[name] if name else file
                self.test.check(set(a.variables) == set(b.variables), f"{path.name}: ncks of {name!r}: {list(a.variables)}")
                for v in set(a.variables) & set(b.variables):
                    self.test.check(same_values(a[v][...], b[v][...]), f"{path.name}: ncks of {name!r}: {v} has other values")
                    self.test.check(a[v].dimensions == b[v].dimensions, f"{path.name}: ncks of {name!r}: {v}: other dimensions")

    def hdf5(self, path, sources):
        listed = self.said("h5ls", "-r", path)
        for name, source in sources.items():
            with netCDF4.Dataset(source) as dataset:
                for v, variable in dataset.variables.items():
                    where = f"{'/' + name if name else ''}/{v}"
                    lengths = [f"{n}/Inf" if dataset.dimensions[d].isunlimited() else str(n)
                               for n, d in zip(variable.shape, variable.dimensions)]
                    line = f"Dataset {{{', '.join(lengths) or 'SCALAR'}}}"
                    self.test.check(re.search(rf"^{where} +{re.escape(line)}$", listed, re.M), f"{path.name}: h5ls: no {where}: {line}")
                    values = self.test.work / "values"
                    self.said("h5dump", "-d", where, "-b", "NATIVE", "-o", values, path)
                    expected = numpy.asarray(variable[...].filled() if numpy.ma.isMA(variable[...]) else variable[...])
                    self.test.check(values.read_bytes() == expected.astype(expected.dtype.newbyteorder("=")).tobytes(),
                                    f"{path.name}: h5dump: other values of {where}")
        count = len(re.findall(" Dataset ", listed))
        expected = sum(len(netCDF4.Dataset(s).variables) for s in sources.values())
        self.test.check(count == expected, f"{path.name}: h5ls: {count} data sets, expected {expected}")

    def h5netcdf(self, path, sources):
        with h5netcdf.File(path, "r") as file:
            for name, source in sources.items():
                group = file[name] if name else file
                with netCDF4.Dataset(source) as dataset:
                    self.test.check({n: d.size for n, d in group.dimensions.items()} == {n: len(d) for n, d in dataset.dimensions.items()},
                                    f"{path.name}: h5netcdf: dimensions {group.dimensions}")
                    self.test.check(set(group.variables) == set(dataset.variables), f"{path.name}: h5netcdf: {list(group.variables)}")
                    for v, b in dataset.variables.items():
                        b.set_auto_maskandscale(False)
                        a = group.variables[v]
                        self.test.check(tuple(a.dimensions) == b.dimensions and same_values(a[...], b[...]),
                                        f"{path.name}: h5netcdf: {v}: {a.dimensions}")

    def xarray(self, path, sources):
        """Without an engine: xarray looks at the first bytes."""
        for name, source in sources.items():
            with xarray.open_dataset(path, group=name or None) as a, xarray.open_dataset(source) as b:
                a.load()
                b.load()
                self.test.check(a.identical(b), f"{path.name}: xarray: found {a}, expected {b}")


def check(test):
    readers, comparison = Readers(test), Comparison()
    one, several, source = view_readers.make(test)
    for path in one:
        readers.cdo(path, source)
    for path in several:
        said = readers.said("cdo", "-s", "sinfo", path, exit_code=1) if path.name.startswith("packed") else ""
        test.check(not said or "group" in said, f"{path.name}: cdo: {said}")
    for path, sources in [*((path, {"": source}) for path in one), *several.items()]:
        readers.texts(path, sources)
        readers.hdf5(path, sources)
        readers.h5netcdf(path, sources)
        readers.xarray(path, sources)
        comparison.blocks(path, sources)
    test.problems += comparison.problems


if __name__ == "__main__":
    try:
        import h5netcdf
        import xarray
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    for program in PROGRAMS:
        if not shutil.which(program):
            print(f"skipped: no {program}")
            sys.exit(77)
    sys.exit(main(__doc__, check))
