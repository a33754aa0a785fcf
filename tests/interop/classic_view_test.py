#!/usr/bin/python3
"""netCDF-4 files to .nmb and on to classic netCDF: what nccopy makes of them, or a loss is told.

    classic_view_test.py --tools FOLDER [--corpus FOLDER] [-v]

Each file of the collection's netcdf4 folder, and some made here, becomes CDF-5. Where nothing is lost the file is
compared, as netCDF4-python reads it, with what nccopy writes, or with the source where nccopy gives up. Where
something is lost it is refused, and made with --lossy. Exit code 77 (skipped) without h5py or netCDF4-python.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
try:
    import h5py
    import netCDF4
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from file_kind import CannotRun, kind_of  # noqa: E402

SECONDS = 60  # for a program


class Stop(Exception):
    """Ends the work on a file."""


class Conversion:
    """One file, in a folder of its own."""

    def __init__(self, tools, path, work):
        self.tools, self.path, self.work = tools, path, work

    def run(self, program, *arguments):
        done = subprocess.run(
            [program, *arguments], cwd=self.work, capture_output=True, text=True, errors="replace", timeout=SECONDS
        )
        if done.returncode < 0:
            raise Stop(f"failed: {program}: signal {-done.returncode}")
        return done

    def result(self):
        """What became of it: same | losses: how many | refused: why | different: where | failed: what."""
        try:
            return self.convert()
        except Stop as stop:
            return str(stop)

    def convert(self):
        packed = self.run(self.tools / "nmconvert", self.path, "made.nmb")
        if packed.returncode:
            raise Stop(f"refused: {packed.stderr.strip()}")
        done = self.run(self.tools / "nmconvert", "made.nmb", "made.nc", "--to", "cdf5")
        if done.returncode == 0:
            self.check_file("made.nc")
            self.check_direct()
            return self.compare("made.nc")
        lines = done.stderr.strip().splitlines()
        if done.returncode != 1 or "; use --lossy to write the rest" not in lines[-1]:
            raise Stop(f"failed: exit code {done.returncode}: {done.stderr.strip()}")
        if (self.work / "made.nc").exists():
            raise Stop("failed: an output of what was refused")
        lossy = self.run(self.tools / "nmconvert", "made.nmb", "made.nc", "--to", "cdf5", "--lossy", "--json")
        if lossy.returncode:
            raise Stop(f"failed: --lossy: {lossy.stderr.strip()}")
        told = json.loads(lossy.stdout)["losses"]
        # Ten of a kind are told one by one, the others by their number.
        more = [int(m[1]) for line in lines[:-1] if (m := re.search(r": (\d+) more of this kind: ", line))]
        if len(told) != len(lines) - 1 - len(more) + sum(more) or f"cannot hold {len(told)} thing" not in lines[-1]:
            raise Stop(f"failed: {len(told)} losses in the report, told: {done.stderr.strip()}")
        self.check_file("made.nc")
        self.check_direct()
        return f"losses: {len(told)}, the first {told[0]}"

    def check_direct(self):
        """Without a file between it is the same."""
        direct = self.run(self.tools / "nmconvert", self.path, "direct.nc", "--to", "cdf5", "--lossy")
        if direct.returncode:
            raise Stop(f"failed: without a file between: {direct.stderr.strip()}")
        if (self.work / "direct.nc").read_bytes() != (self.work / "made.nc").read_bytes():
            raise Stop("failed: another file without a file between")

    def check_file(self, name):
        verified = self.run(self.tools / "nmverify", "-q", name)
        dumped = self.run("ncdump", "-h", name)
        if verified.returncode or dumped.returncode:
            raise Stop(f"failed: {name}: {verified.stderr}{dumped.stderr}")

    def compare(self, made):
        copied = self.run("nccopy", "-k", "cdf5", self.path, "copy.nc")
        reference = self.work / "copy.nc" if copied.returncode == 0 else self.path
        with netCDF4.Dataset(reference) as a, netCDF4.Dataset(self.work / made) as b:
            for dataset in (a, b):
                dataset.set_auto_maskandscale(False)
                dataset.set_auto_chartostring(False)
            compare_datasets(a, b, unwritten(self.path))
        return "same" if copied.returncode == 0 else "same as the source"


def same(what, a, b):
    if a != b:
        raise Stop(f"different: {what}: found {b}, expected {a}")


def attributes(owner):
    # Their order is what HDF5 happens to keep where it does not track it.
    return {name: plain(owner.getncattr(name)) for name in sorted(owner.ncattrs())}


def plain(value):
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return (value.dtype.newbyteorder("=").str, numpy.asarray(value, value.dtype.newbyteorder("=")).tobytes())
    return value


def unwritten(path):
    """Variables whose values HDF5 makes of what happens to be in memory."""
    with h5py.File(path) as f:
        variables = [one for one in f.values() if isinstance(one, h5py.Dataset)]
        return {
            v.name[1:]
            for v in variables
            if v.id.get_storage_size() == 0 and v.id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER
        }


def compare_datasets(a, b, undefined):
    def dimensions(dataset):
        return [(name, len(d), d.isunlimited()) for name, d in dataset.dimensions.items()]

    same("dimensions", dimensions(a), dimensions(b))
    same("variables", list(a.variables), list(b.variables))
    same("attributes", attributes(a), attributes(b))
    for name, variable in a.variables.items():
        other = b.variables[name]
        same(f"dimensions of {name}", variable.dimensions, other.dimensions)
        same(f"type of {name}", variable.dtype.newbyteorder("="), other.dtype.newbyteorder("="))
        same(f"attributes of {name}", attributes(variable), attributes(other))
        if name not in undefined:
            same(f"values of {name}", plain(numpy.asarray(variable[...])), plain(numpy.asarray(other[...])))


def make_plain(path):
    """No losses: all types, chunks, filters, a shorter variable, names of dimensions, characters."""
    with netCDF4.Dataset(path, "w") as f:
        f.title = "all of classic"
        f.empty = ""
        f.numbers = numpy.array([1, 2], "i2")
        f.createDimension("unused", 7)
        f.createDimension("time", None)
        f.createDimension("x", 33)
        f.createDimension("letters", 5)
        for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
            options = {"zlib": True, "chunksizes": (2, 10), "shuffle": code != "i1", "fletcher32": code == "u4"}
            order = ">" if code in ("i4", "f8") else "<"
            endian = "big" if order == ">" else "little"
            variable = f.createVariable(f"v_{code}", order + code, ("time", "x"), endian=endian, **options)
            variable[0:7] = numpy.arange(231).reshape(7, 33) % 100
            variable.units = "m"
        f.createVariable("time", "f8", ("time",))[0:3] = [1, 2, 3]
        f.createVariable("short", "i4", ("time",), fill_value=-5)[0:2] = 4
        f.createVariable("letters", "S1", ("letters",))[:] = numpy.array(list("abcde"), "S1")
        f.createVariable("unused", "f4", ("x",))[:] = 2
        f.createVariable("scalar", "i4", ())[...] = 9
        f.createVariable("never", "i2", ("x",))


def make_text(path):
    """No losses, and strings that nccopy refuses."""
    with netCDF4.Dataset(path, "w") as f:
        f.setncattr_string("text", "zwölf")
        f.createDimension("x", 2)
        variable = f.createVariable("v", "i4", ("x",))
        variable[:] = 3
        variable.setncattr_string("units", "m")


def make_lossy(path):
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("x", 2)
        f.createDimension("a", None)
        f.createDimension("b", None)
        f.createVariable("names", str, ("x",))[0] = "one"
        f.createVariable("both", "i4", ("a", "b"))[0:2, 0:3] = 4
        f.createVariable("kept", "u8", ("x",))[:] = 5
        kind = f.createEnumType("u1", "kind_t", {"no": 0, "yes": 1})
        f.createVariable("kind", kind, ("x",))[:] = 1
        f.createGroup("g").createVariable("inner", "i4", ())
        f.createGroup("nothing")


def check_made(tools, work, problems):
    expected = {
        make_plain: "same",
        make_text: "same as the source",
        make_lossy: "losses: 5, the first type \"kind_t\": found a named datatype; left out",
    }
    for make, result in expected.items():
        folder = work / make.__name__
        folder.mkdir()
        make(folder / "source.nc")
        found = Conversion(tools, folder / "source.nc", folder).result()
        if found != result:
            problems.append(f"{make.__name__}: {found}, expected {result}")
    with netCDF4.Dataset(work / "make_lossy" / "made.nc") as f:
        if list(f.variables) != ["both", "kept", "kind"] or f.variables["kind"][:].tolist() != [1, 1]:
            problems.append(f"make_lossy: variables {list(f.variables)}")
        if not f.dimensions["a"].isunlimited() or f.dimensions["b"].isunlimited():
            problems.append("make_lossy: other dimensions grow")


def check_corpus(tools, corpus, work, problems, verbose):
    counts = {}
    for path in sorted(p for p in (corpus / "netcdf4").rglob("*") if p.is_file()):
        try:
            if kind_of(path) != "HDF5":
                continue
        except CannotRun:
            continue
        folder = work / "corpus"
        folder.mkdir()
        result = Conversion(tools, path, folder).result()
        shutil.rmtree(folder)
        word = result.split(":")[0]
        counts[word] = counts.get(word, 0) + 1
        if verbose:
            print(f"{path.relative_to(corpus)}\t{result}")
        if word in ("different", "failed"):
            problems.append(f"{path}: {result}")
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    if not counts.get("same"):
        problems.append("no file of the collection without losses")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, default=os.environ.get("NMB_CORPUS"))
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each file")
    options = parser.parse_args()
    tools, problems = options.tools.resolve(), []
    with tempfile.TemporaryDirectory() as work:
        check_made(tools, Path(work), problems)
        if options.corpus:
            check_corpus(tools, Path(options.corpus), Path(work), problems, options.verbose)
        else:
            print("NMB_CORPUS is not set: made files alone")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
