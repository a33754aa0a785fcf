#!/usr/bin/python3
"""Proves compare_files.py: it finds each of many single changes and names it, and nothing in faithful copies.

    compare_files_test.py [--keep FOLDER]

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
try:
    import compare_cases
    import h5py
    from compare_cases import Vary
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import compare_files
from compare_files import COULD_NOT_RUN, DIFFERENT, EQUAL

PROGRAM = Path(compare_files.__file__)
AT_LEAST = 50  # changes


class Test:
    def __init__(self, work):
        self.work = work
        self.problems = []
        self.changes = 0

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)

    def build(self, build, name, change=None):
        """The file's path, and what the builder can vary."""
        path = self.work / name
        vary = Vary(change)
        build(path, vary)
        return path, vary.expected

    def check_equal(self, a, b, what, **options):
        out = compare_files.compare(a, b, **options)
        for line in out.lines():
            self.problems.append(f"{what}: found {line}, expected no difference")
        for path, field, why in out.uncompared:
            self.problems.append(f"{what}: {path}: {field}: not compared: {why}")

    def run(self, *arguments):
        return subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=120)

    def check_exit(self, code, *arguments):
        done = self.run(*arguments)
        self.check(done.returncode == code, f"{arguments}: found exit code {done.returncode}, expected {code}")
        return done


def test_changes(test, build):
    """Each change in turn: its lines, all of them and no others."""
    name = build.__name__
    normal, expected = test.build(build, f"{name}.h5")
    for change, lines in expected.items():
        changed, _ = test.build(build, f"{name}.changed.h5", change)
        for pair in ((normal, changed), (changed, normal)):
            out = compare_files.compare(*pair)
            test.check(out.count > 0, f"{change}: found no difference")
            test.check(not out.uncompared, f"{change}: not compared: {out.uncompared}")
            if pair[0] == normal:
                check_lines(test, change, out.lines(), lines, only=name != "netcdf4")
        test.changes += 1


def check_lines(test, change, found, expected, only):
    for start in expected:
        test.check(any(line.startswith(start) for line in found), f"{change}: found {found[:4]}, expected {start}")
    if only:
        for line in found:
            test.check(any(line.startswith(start) for start in expected), f"{change}: found also {line}")


def test_copies(test, build):
    """Made again, copied, and written by HDF5's own copying."""
    name = build.__name__
    normal, _ = test.build(build, f"{name}.h5")
    again, _ = test.build(build, f"{name}.again.h5")
    test.check_equal(normal, normal, f"{name} and itself")
    test.check_equal(normal, again, f"{name} made again", raw_chunks=True)
    copy = test.work / f"{name}.copy.h5"
    shutil.copy(normal, copy)
    test.check_equal(normal, copy, f"{name} copied", raw_chunks=True)


def test_versions(test):
    """The version of the format is no difference; nor is which chunks are allocated."""
    paths = []
    for version in ("earliest", "latest"):
        path = test.work / f"{version}.h5"
        with h5py.File(path, "w", libver=version) as file:
            group = file.create_group("g")
            group["x"] = range(10)
            group["y"] = file["/g/x"]
            file.attrs["a"] = ["text", "more"]
            chunked = file.create_dataset("chunked", (100,), "i4", chunks=(10,), compression="gzip")
            chunked[:10] = 1
            if version == "latest":
                chunked[50:60] = 0
        paths.append(path)
    test.check_equal(*paths, "earliest and latest")
    out = compare_files.compare(*paths, raw_chunks=True)
    check_lines(test, "allocation", out.lines(), ["/chunked: chunk (50,): not stored, stored"], only=True)


def test_copied_objects(test):
    """H5Ocopy of a tree, and h5repack of it."""
    tree, copy, repacked = (test.work / name for name in ("tree.h5", "tree.copy.h5", "tree.repacked.h5"))
    with h5py.File(tree, "w") as file:
        group = file.create_group("g/h")
        group["v"] = [["a", "bc"], ["", "d"]]
        group["n"] = range(5)
        group["n"].attrs["units"] = "K"
        group["soft"] = h5py.SoftLink("/g/h/n")
        group.create_dataset("z", data=range(100), chunks=(30,), maxshape=(None,), compression="gzip", shuffle=True)
        with h5py.File(copy, "w") as target:
            file.copy("g", target)
    test.check_equal(tree, copy, "copied objects", raw_chunks=True)
    if not shutil.which("h5repack"):
        print("h5repack is not installed: its copies are not compared")
        return
    subprocess.run(["h5repack", tree, repacked], check=True, capture_output=True, timeout=60)
    test.check_equal(tree, repacked, "repacked", raw_chunks=True)


def test_raw_chunks(test):
    """Compressed otherwise: equal, but for --raw-chunks."""
    import zlib

    import numpy

    paths = []
    for level in (1, 9):
        paths.append(test.work / f"level{level}.h5")
        with h5py.File(paths[-1], "w") as file:
            values = numpy.arange(1000, dtype="i4")
            d = file.create_dataset("d", (1000,), "i4", chunks=(1000,), compression=6)
            d.id.write_direct_chunk((0,), zlib.compress(values.tobytes(), level))
    test.check_equal(*paths, "other compression")
    out = compare_files.compare(*paths, raw_chunks=True)
    test.check(out.count == 1, f"raw chunks: found {out.lines()}, expected 1 difference")


def test_program(test):
    """Exit codes, --json, messages, the limit of lines."""
    a, b, c = (test.work / name for name in ("a.h5", "b.h5", "c.h5"))
    for path, values in ((a, range(3)), (b, range(3)), (c, (0, 7, 7))):
        with h5py.File(path, "w") as file:
            file["v"] = values
            for i in range(500):
                file.attrs[f"a{i:03}"] = values[1]
    done = test.check_exit(EQUAL, a, b)
    test.check(not done.stdout and not done.stderr, f"equal: found {done.stdout}{done.stderr}")
    done = test.check_exit(DIFFERENT, a, c)
    lines = done.stdout.splitlines()
    test.check(len(lines) == 301 and lines[-1].startswith("502 differences"), f"found {len(lines)} lines, {lines[-1:]}")
    done = test.check_exit(DIFFERENT, a, c, "--json")
    document = json.loads(done.stdout)
    first = {"path": "/", "field": "attribute a000: value 0 (1 differ)"}
    test.check(document["result"] == "different" and document["count"] == 502, f"found {done.stdout[:200]}")
    test.check(first.items() <= document["differences"][0].items(), f"found {document['differences'][0]}")
    damaged, other, classic = (test.work / name for name in ("damaged.h5", "other", "classic.nc"))
    damaged.write_bytes(a.read_bytes()[:-600])
    other.write_bytes(b"neither")
    classic.write_bytes(b"CDF\x01" + bytes(28))
    refusals = {
        damaged: "open file (truncated",
        other: "found 6e656974, expected a classic",
        test.work / "none.h5": "No such file",
    }
    for bad, words in refusals.items():
        done = test.check_exit(COULD_NOT_RUN, a, bad)
        test.check(words in done.stderr and not done.stdout, f"{bad}: found {done.stderr}, expected {words}")
    test.check_exit(DIFFERENT, a, classic)
    test.check_exit(EQUAL, classic, classic)


def test_unreadable(test):
    """A value that neither file returns proves nothing; one that only one file returns is a difference."""
    good, bad = test.work / "good.h5", test.work / "bad.h5"
    with h5py.File(good, "w") as file:
        file.create_dataset("d", data=range(100), chunks=(100,), compression="gzip", fletcher32=True)
        file.create_dataset("s", data=["x"] * 50, chunks=(50,), compression="gzip")
        info = [file[name].id.get_chunk_info(0) for name in "ds"]
    content = bytearray(good.read_bytes())
    content[info[1].byte_offset] ^= 1
    bad.write_bytes(content)
    out = compare_files.compare(good, bad)
    check_lines(test, "one unreadable", out.lines(), ["/s: values from (0,): readable, unreadable"], only=True)
    out = compare_files.compare(bad, bad)
    test.check(not out.count and [one[0] for one in out.uncompared] == ["/s"], f"found {out.lines()} {out.uncompared}")
    test.check_exit(COULD_NOT_RUN, bad, bad)
    content[info[0].byte_offset] ^= 1
    bad.write_bytes(content)
    out = compare_files.compare(bad, bad)
    test.check([one[0] for one in out.uncompared] == ["/s"], f"raw chunks: found {out.uncompared}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="work here and leave the files")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nmb_interop_") as work:
        if arguments.keep:
            arguments.keep.mkdir(exist_ok=True)
        test = Test(arguments.keep or Path(work))
        for build in compare_cases.BUILDERS:
            test_copies(test, build)
            test_changes(test, build)
        for one in (test_versions, test_copied_objects, test_raw_chunks, test_program, test_unreadable):
            one(test)
    test.check(test.changes >= AT_LEAST, f"found {test.changes} changes, expected {AT_LEAST}")
    for problem in test.problems:
        print(problem)
    print(f"{test.changes} changes, {len(test.problems)} problems")
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
