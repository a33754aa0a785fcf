"""Shared by the scripts in this folder: runs of tools, folders, and files of the collection that NMB_CORPUS names."""

import argparse
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
ALL = "NMB_ALL" in os.environ
# Tests see one of so many files of the collection, each script others: from FIRST on.
EVERY = 1 if ALL else 5
FIRST = sum(Path(sys.argv[0]).stem.encode()) % EVERY
CLASSIC = (b"CDF\x01", b"CDF\x02", b"CDF\x05")


class Skip(Exception):
    pass


def some(items, every):
    """Each of so many items; with NMB_ALL=1, all."""
    return list(items)[:: 1 if ALL else every]


def classic_array_header(rows, columns):
    """The header of a CDF-5 file whose only content is an array v(y, x) of doubles. Its values follow the header."""
    def named(name):
        return struct.pack(">q4s", 1, name)

    head = b"CDF\x05" + struct.pack(">qiq", 0, 10, 2) + named(b"y") + struct.pack(">q", rows) + named(b"x")
    head += struct.pack(">q", columns) + bytes(12) + struct.pack(">iq", 11, 1) + named(b"v") + struct.pack(">qqq", 2, 0, 1)
    return head + bytes(12) + struct.pack(">iqq", 6, 8 * rows * columns, len(head) + 12 + 20)


class Tools:
    """The built tools; what they should not say is collected in `problems`."""

    def __init__(self, folder, work):
        self.folder = folder.resolve()
        self.work = Path(work)
        self.problems = []

    def run(self, name, *arguments, exit_code=0, cwd=None):
        done = subprocess.run(
            [self.folder / name, *arguments], cwd=cwd or self.work, capture_output=True, timeout=120
        )
        if exit_code is not None and done.returncode != exit_code:
            words = " ".join(map(str, (name, *arguments[:6])))
            said = done.stderr.decode(errors="replace").strip()
            self.problems.append(f"{words}: exit code {done.returncode}, expected {exit_code}: {said}")
        return done

    def example(self, name, *arguments):
        subprocess.run([self.folder.parent / "examples" / name, *arguments], check=True, capture_output=True)

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)

    def check_equal_bytes(self, a, b, problem):
        self.check(Path(a).read_bytes() == Path(b).read_bytes(), f"{problem}: other bytes")


def classic_files(*folders, but=()):
    """Classic files of the collection, sorted: of these folders all, else a share, but of the folders `but`."""
    corpus = os.environ.get("NMB_CORPUS")
    if not corpus:
        raise Skip("NMB_CORPUS is not set")
    out = []
    for path in sorted(Path(corpus).rglob("*")):
        top = path.relative_to(corpus).parts[0]
        if not path.is_file() or top in but or (folders and top not in folders):
            continue
        with path.open("rb") as stream:
            if stream.read(4) in CLASSIC:
                out.append(path)
    return Path(corpus), out if folders else out[FIRST::EVERY]


def netcdf4():
    try:
        import netCDF4
    except ImportError:
        raise Skip("no Python module netCDF4") from None
    return netCDF4


def differences(netcdf, a, b):
    """How two classic files differ for netCDF-C: dimensions, variables, attributes, values."""
    import numpy

    out = []
    with netcdf.Dataset(a) as x, netcdf.Dataset(b) as y:
        for file in (x, y):
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
        sizes = [{n: (len(d), d.isunlimited()) for n, d in f.dimensions.items()} for f in (x, y)]
        if sizes[0] != sizes[1] or list(sizes[0]) != list(sizes[1]):
            out.append("dimensions")
        if list(x.variables) != list(y.variables):
            return out + ["names of variables"]
        for p, q in [(x, y)] + [(x.variables[n], y.variables[n]) for n in x.variables]:
            name = getattr(p, "name", "") if p is not x else "the file"
            if p.ncattrs() != q.ncattrs():
                out.append(f"attributes of {name}")
                continue
            for attribute in p.ncattrs():
                m, n = p.getncattr(attribute), q.getncattr(attribute)
                if type(m) is not type(n) or not same_values(numpy, m, n):
                    out.append(f"attribute {attribute} of {name}")
        for name, p in x.variables.items():
            q = y.variables[name]
            if p.dtype != q.dtype or p.dimensions != q.dimensions:
                out.append(f"type or dimensions of {name}")
            elif not same_values(numpy, p[...], q[...]):
                out.append(f"values of {name}")
    return out


def same_values(numpy, a, b):
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def main(text, test):
    """Runs test(tools) in a folder of its own; the exit code of the script."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nmb_cli_") as work:
        tools = Tools(arguments.tools, work)
        try:
            test(tools)
        except Skip as why:
            print(f"skipped: {why}")
            return SKIPPED
    for problem in tools.problems:
        print(problem)
    return 1 if tools.problems else 0
