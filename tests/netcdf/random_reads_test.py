#!/usr/bin/python3
"""Random read programs of netCDF-C give for generated files that were converted to NMB what they give for the originals: names,
shapes, types, attributes, storage, hyperslabs with strides, conversions between types with their error codes. Then threads, each
with files of its own, and forked children read again. 40 programs; with NMB_ALL=1, 300.

    random_reads_test.py --tools FOLDER
"""

import ctypes
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))
from generated_files import few_records, make_file  # noqa: E402
from tool_runs import ALL, main  # noqa: E402

import netCDF4  # noqa: E402
import numpy as np  # noqa: E402

READERS = {"schar": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "longlong": "i8", "ulonglong": "u8",
           "float": "f4", "double": "f8", "text": "S1"}  # fmt: skip
ERANGE = -60


def netcdf_library():
    """The library that netCDF4-python uses; its own names are not seen."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return ctypes.CDLL(next(line.split()[-1] for line in lines if "libnetcdf" in line.rsplit("/", 1)[-1]))


def equal(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype == object:
            return all(equal(x, y) for x, y in zip(a.flat, b.flat))
        return a.tobytes() == b.tobytes() if not a.dtype.names else all(equal(a[n], b[n]) for n in a.dtype.names)
    return type(a) is type(b) and a == b


class Program:
    """One program: the same random calls for the original and for the NMB file."""

    def __init__(self, library, seed, original, converted):
        self.library, self.random = library, random.Random(seed)
        self.longest_stride = 1 if few_records(seed) else 3
        self.files = [netCDF4.Dataset(path) for path in (original, converted)]
        for file in self.files:
            file.set_auto_maskandscale(False)
        self.problems = []

    def same(self, what, call, groups):
        results = []
        for group in groups:
            try:
                results.append(call(group))
            except (RuntimeError, OSError, IndexError, AttributeError) as error:
                results.append(f"{type(error).__name__}: {error}")
        if not equal(*results):
            self.problems.append(f"{what}: found {results[1]!r:.300}, expected {results[0]!r:.300}")
        return results[0]

    def run(self):
        self.group("/", self.files)
        for file in self.files:
            file.close()
        return self.problems

    def attributes(self, path, owners):
        names = self.same(f"{path}: attributes", lambda owner: list(owner.ncattrs()), owners)
        for name in names:
            self.same(f"{path}:{name}", lambda owner, name=name: owner.getncattr(name), owners)

    def group(self, path, groups):
        self.same(f"{path}: dimensions", lambda g: [(d.name, len(d), d.isunlimited()) for d in g.dimensions.values()], groups)
        self.same(f"{path}: types", lambda g: [list(g.cmptypes), list(g.vltypes), list(g.enumtypes)], groups)
        self.attributes(path, groups)
        names = self.same(f"{path}: variables", lambda g: list(g.variables), groups)
        for name in names:
            self.variable(f"{path}{name}", [group.variables[name] for group in groups])
        for name in self.same(f"{path}: groups", lambda g: list(g.groups), groups):
            self.group(f"{path}{name}/", [group.groups[name] for group in groups])

    def variable(self, path, pair):
        self.same(f"{path}: definition", lambda v: [str(v.dtype), list(v.dimensions), list(v.shape)], pair)
        if self.files[0].data_model.startswith("NETCDF4"):
            self.same(f"{path}: storage", lambda v: [v.chunking(), v.filters(), v.endian()], pair)
        self.attributes(path, pair)
        self.same(f"{path}: all values", lambda v: v[...], pair)
        shape = pair[0].shape
        if not shape:
            return
        for _ in range(3):
            where = tuple(self.slice(n) for n in shape)
            self.same(f"{path}: {where}", lambda v, where=where: v[where], pair)
            self.converted(path, pair, shape)

    def slice(self, length):
        start = self.random.randint(0, length)
        return slice(start, self.random.randint(start, length), self.random.randint(1, self.longest_stride))

    def converted(self, path, pair, shape):
        """Reads by the functions for types, also outside of the variable."""
        name = self.random.choice(list(READERS))
        start = [self.random.randint(0, n) for n in shape]
        stride = [self.random.randint(1, self.longest_stride) for _ in shape]
        count = [self.random.randint(0, max(0, (n - s + t - 1) // t) + (self.random.random() < 0.1))
                 for n, s, t in zip(shape, start, stride)]  # fmt: skip
        function = getattr(self.library, f"nc_get_vars_{name}")
        size = ctypes.c_size_t * len(shape)

        def read(variable):
            out = np.zeros(count, READERS[name])
            code = function(variable._grpid, variable._varid, size(*start), size(*count), (ctypes.c_ssize_t * len(shape))(*stride),
                            out.ctypes.data_as(ctypes.c_void_p))  # fmt: skip
            # Values out of range are undefined in C, and so are values after an error.
            return [code, out if code == 0 else None]

        results = [read(variable) for variable in pair]
        if not self.files[0].data_model.startswith("NETCDF4"):  # netCDF-C has another order of checks for classic files
            for result in results:
                result[0] = {-57: -40}.get(result[0], result[0])
        # netCDF-C does not see that 2^63 and 2^64 are no 64-bit integers, and is not exact where it compares with them.
        if pair[0].dtype in (np.float32, np.float64) and READERS[name] in ("i8", "u8") and ERANGE in (results[0][0], results[1][0]):
            return
        if not equal(*results):
            self.problems.append(f"{path}: {name}, start {start}, count {count}, stride {stride}: found {results[1]}, "
                                 f"expected {results[0]}")  # fmt: skip


def all_values(group):
    values = [variable[...] for variable in group.variables.values()]
    for below in group.groups.values():
        values += all_values(below)
    return values


def threads_and_children(paths):
    """Threads and children read files that are open."""
    files = [netCDF4.Dataset(path) for path in paths]
    for file in files:
        file.set_auto_maskandscale(False)
    wanted = [all_values(file) for file in files]
    wrong = []

    def read(number):
        for _ in range(5):
            if not equal(all_values(files[number]), wanted[number]):
                wrong.append(f"thread of {paths[number]}")

    threads = [threading.Thread(target=read, args=(number,)) for number in range(len(files))]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        os._exit(0 if all(equal(all_values(file), values) for file, values in zip(files, wanted)) else 1)
    for thread in threads:
        thread.join()
    if os.waitpid(child, 0)[1] != 0:
        wrong.append("a forked child reads other values")
    return wrong


def run_programs(tools, work, count):
    library = netcdf_library()
    problems, paths = [], []
    for seed in range(count):
        original, converted = f"{work}/{seed}.nc", f"{work}/{seed}.nmb"
        make_file(original, seed)
        subprocess.run([f"{tools}/nmconvert", "-q", "--hdf5-view", "off", original, converted], check=True)
        problems += [f"program {seed}: {problem}" for problem in Program(library, seed, original, converted).run()]
        paths.append(converted)
    for first in range(0, len(paths), 8):
        problems += threads_and_children(paths[first : first + 8])
    return problems


def check(test):
    # The format is registered by nmb-run, when this script opens its first NMB file.
    done = subprocess.run(
        [test.tools / "nmb-run", sys.executable, "-W", "ignore", __file__, "--inside", test.tools, test.work, "300" if ALL else "40"],
        capture_output=True, text=True,
    )  # fmt: skip
    test.check(done.returncode == 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        found = run_programs(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        print("\n".join(found))
        sys.exit(1 if found else 0)
    sys.exit(main(__doc__, check))
