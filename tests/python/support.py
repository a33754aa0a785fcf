"""What the tests of the package share: a folder for each test, files to read, and comparisons.

The tests run with the interpreter of an environment in which the package is installed: `python -m unittest discover -s
tests/python -p "*_test.py"`. Files are written with netCDF4-python and h5py; tests that need a missing one are skipped.
NMB_CORPUS names a folder of real files, NMB_TOOLS the folder of nmcat and the other tools."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import nmb

try:
    import h5py
except ImportError:
    h5py = None
try:
    import netCDF4
except ImportError:
    netCDF4 = None

needs_h5py = unittest.skipUnless(h5py, "h5py is not installed")
needs_netcdf4 = unittest.skipUnless(netCDF4, "netCDF4 is not installed")
CORPUS = Path(os.environ["NMB_CORPUS"]) if os.environ.get("NMB_CORPUS") else None
SANITIZED = bool(os.environ.get("NMB_SANITIZED"))
measures_memory = unittest.skipIf(SANITIZED, "the address sanitizer keeps memory that was freed")
needs_corpus = unittest.skipUnless(CORPUS, "no folder NMB_CORPUS")


class FolderTest(unittest.TestCase):
    """A test with a folder of its own, `self.folder`."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="nmb_python_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return str(self.folder / name)

    def forms(self, path):
        """The file, and NMB files that are made from it, without and with an HDF5 view."""
        out = [path]
        for view in "off", "on":
            out.append(f"{path}.{view}.nmb")
            nmb.convert(path, out[-1], hdf5_view=view, sync=False)
        return out

    def same(self, found, expected, what=""):
        """Fails unless both have the same type, shape and values; text and bytes are compared as text."""
        self.assertTrue(is_same(found, expected), f"{what}: found {found!r}, expected {expected!r}")


def plain(value):
    """Strings as str, whatever form another program gives them."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value


def is_same(found, expected):
    if isinstance(expected, (str, bytes)) or isinstance(found, str):
        # netCDF4-python replaces bytes that are not UTF-8.
        texts = [plain(one) for one in (found, expected)]
        return texts[0] == texts[1] or texts[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace") == texts[1]
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return False
    if found.dtype.kind == "O" or expected.dtype.kind == "O":
        return all(is_same(a, b) for a, b in zip(found.reshape(-1).tolist(), expected.reshape(-1).tolist()))
    if expected.dtype.names:
        return found.dtype.names == expected.dtype.names and all(
            is_same(found[name], expected[name]) for name in expected.dtype.names
        )
    if found.dtype.kind != expected.dtype.kind or found.dtype.itemsize != expected.dtype.itemsize:
        return False
    if found.dtype.kind in "fc":
        return np.array_equal(found, expected, equal_nan=True)
    return found.tobytes() == expected.astype(expected.dtype.newbyteorder("=")).tobytes()


def write_netcdf(path, form="NETCDF4", groups=(), seed=1):
    """Writes a file with variables of several shapes and types, in the root and in groups. Returns their values by full name."""
    rng = np.random.default_rng(seed)
    values = {}
    with netCDF4.Dataset(path, "w", format=form) as root:
        for name in ("", *groups):
            group = root.createGroup(name) if name else root
            prefix = name + "/" if name else ""
            group.title = f"group {name or 'root'}"
            group.createDimension("time", None)
            for dim, length in (("x", 5), ("y", 7), ("one", 1)):
                group.createDimension(dim, length)
            for variable, kind, dims, shape in (
                ("t", "f8", ("time",), (6,)),
                ("temperature", "f4", ("time", "x", "y"), (6, 5, 7)),
                ("count", "i4", ("x", "y"), (5, 7)),
                ("small", "i1", ("y", "one"), (7, 1)),
                ("label", "S1", ("x", "y"), (5, 7)),
                ("scalar", "i2", (), ()),
            ):
                more = {"zlib": True, "chunksizes": (2, 3, 4)} if form == "NETCDF4" and variable == "temperature" else {}
                made = group.createVariable(variable, kind, dims, **more)
                if kind == "S1":
                    data = rng.choice(np.frombuffer(b"abcdefg", "S1"), shape)
                elif kind.startswith("f"):
                    data = rng.normal(280, 10, shape).astype(kind)
                else:
                    data = rng.integers(-100, 100, shape).astype(kind)
                made[...] = data
                made.units = f"unit of {variable}"
                values[prefix + variable] = np.asarray(data)
    return values


def open_fds():
    return len(os.listdir("/proc/self/fd"))


def resident():
    """The memory of this process in KiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def python(code, *arguments, **environment):
    """Runs code in another interpreter, and returns what it prints."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1200 if SANITIZED else 120,
    )
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


__all__ = [name for name in dir() if not name.startswith("_")]
assert nmb.__file__
