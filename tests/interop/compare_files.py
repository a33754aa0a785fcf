#!/usr/bin/python3
"""Whether two files hold the same: HDF5 (netCDF-4, CGNS, HEP) by content, classic netCDF by their bytes.

    compare_files.py A B [--json] [--raw-chunks]

Exit code 0: equal; 1: different, each difference a line `PATH: field: A-value, B-value`; 2: could not run, or
something can be read in neither file, so that equality is not proved.

Of HDF5 files it compares: user block; groups and their links (names, character sets, kinds, targets, creation
order where tracked); which hard links lead to one object, reference counts; comments; attributes (order where tracked); types
field by field, and which named datatype is used; dataspaces; layout, chunk shapes, virtual mappings, external
files, filters, fill values and times; values bit by bit, references by what they refer to; filter masks of
chunks that both have; raw chunks where a filter is not installed, or of all chunked data sets with
--raw-chunks. If both are netCDF-4, also what netCDF-C sees in them.

Not compared, since a faithful copy may differ: addresses; sizes of files; versions of the format (library
version bounds: superblock, object headers, old and new groups); modification times, and whether they are
kept; which chunks are allocated; the numbers (not the order) of creation orders; limits between compact and
dense storage, sizes of heaps and B-trees, file space strategy, shared messages; gaps in compounds that also hold variable
lengths or references; values that lie in other files.

Uses h5py's low-level interface (and the library behind it for values of user-defined links and options of
chunks, which h5py does not give out), NumPy, netCDF4-python and the standard library; nothing of this project.
"""

import argparse
import contextlib
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # files may lie in folders that are read-only

from differences import Differences, text  # noqa: E402
from file_kind import CannotRun, kind_of  # noqa: E402

EQUAL, DIFFERENT, COULD_NOT_RUN = 0, 1, 2
SCHEMA = "nmb/compare-files/1"


def compare(path_a, path_b, raw_chunks=False):
    """A Differences; raises CannotRun."""
    out = Differences()
    kinds = [kind_of(path) for path in (path_a, path_b)]
    if not out.compare("/", "kind of file", *kinds):
        return out
    if kinds[0] == "classic":
        compare_bytes(path_a, path_b, out)
    else:
        compare_hdf5(path_a, path_b, out, raw_chunks)
    return out


def compare_bytes(path_a, path_b, out, block=1 << 20):
    out.compare("/", "length", path_a.stat().st_size, path_b.stat().st_size)
    with path_a.open("rb") as a, path_b.open("rb") as b:
        at = 0
        while (one := a.read(block)) and (two := b.read(block)):
            if one != two:
                i = next((i for i, pair in enumerate(zip(one, two)) if pair[0] != pair[1]), None)
                if i is not None:
                    out.add("/", f"byte {at + i}", one[i], two[i])
                return
            at += block


def compare_hdf5(path_a, path_b, out, raw_chunks):
    import hdf5_graph
    import netcdf4_view
    from hdf5_file import Hdf5File

    with contextlib.ExitStack() as stack:
        files = []
        for path in (path_a, path_b):
            try:
                files.append(stack.enter_context(Hdf5File(path)))
            except Exception as error:
                raise CannotRun(f"{path}: HDF5 cannot open it: {text(error)}") from error
        hdf5_graph.compare(*files, out, raw_chunks)
        netcdf = all(map(netcdf4_view.is_netcdf4, files))
    if netcdf:
        netcdf4_view.compare(path_a, path_b, out)


def print_text(a, b, out):
    for line in out.lines():
        print(line)
    if out.count:
        print(f"{out.count} differences between {a} and {b}")
    for path, field, why in out.uncompared:
        print(f"compare_files: {path}: {field}: not compared: {why}", file=sys.stderr)
    for note in out.notes:
        print(f"compare_files: note: {text(note)}", file=sys.stderr)


def print_json(a, b, out, result):
    keys = "path", "field", "a", "b"
    document = {
        "schema": SCHEMA,
        "a": str(a),
        "b": str(b),
        "result": ("equal", "different", "not compared")[result],
        "count": out.count,
        "differences": [dict(zip(keys, difference)) for difference in out.found],
        "uncompared": [dict(zip(("path", "field", "why"), one)) for one in out.uncompared],
        "notes": out.notes,
    }
    print(json.dumps(document, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", type=Path, metavar="A")
    parser.add_argument("b", type=Path, metavar="B")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--raw-chunks", action="store_true", help="compare raw chunks of all chunked data sets")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # whatever the locale
    try:
        out = compare(arguments.a, arguments.b, arguments.raw_chunks)
    except CannotRun as error:
        print(f"compare_files: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    except Exception as error:  # no verdict, whatever it was: modules that are missing, files HDF5 stumbles over
        print(f"compare_files: {arguments.a}: {type(error).__name__}: {text(error)}", file=sys.stderr)
        return COULD_NOT_RUN
    result = DIFFERENT if out.count else COULD_NOT_RUN if out.uncompared else EQUAL
    if arguments.json:
        print_json(arguments.a, arguments.b, out, result)
    else:
        print_text(arguments.a, arguments.b, out)
    return result


if __name__ == "__main__":
    sys.exit(main())
