#!/usr/bin/python3
"""nminspect on the classic files of a collection: its CDL makes the same definitions, its values are
the ones that netCDF-C reads.

    corpus_cases.py --tools FOLDER

Reads the files below $NMB_CORPUS that begin as classic files; skipped (exit code 77) without it, and
without netCDF-C's Python module and ncgen.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import EVERY, FIRST  # noqa: E402

SKIPPED = 77
FOLDERS = ("classic", "split")
MOST_VALUES = 20000  # of a variable
MOST_VARIABLES = 40  # of a file
MOST_BYTES = 64 << 20  # of a file


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120).stdout


def definitions(path):
    """The output of ncdump for a file, without its name, its record count and the kind of the file."""
    text = said("ncdump", "-h", path).decode("utf-8", "surrogateescape")
    lines = [line.split(" ; // (")[0] for line in text.splitlines()[1:]]
    return [line for line in lines if ":_Format" not in line]


def equal(found, expected):
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(equal, found, expected))
    if isinstance(found, str) and not isinstance(expected, str):
        found = float(found)
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(found)
    return found == expected


def check_values(nminspect, path, problems):
    import netCDF4
    import numpy

    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        for name in list(file.variables)[:MOST_VARIABLES]:
            variable = file.variables[name]
            if variable.size > MOST_VALUES or variable.dtype == str or variable.dtype.kind == "S":
                continue
            values = variable[...]
            document = json.loads(said(nminspect, "dump", "--json", path, name))
            found = document["values"]
            if values.dtype == numpy.float32:
                # The fewest digits that read back the same float.
                found = numpy.array(found, dtype=object).astype(numpy.float32).tolist()
            if values.size and not equal(found, values.tolist()):
                problems.append(f"{path}: {name}: values differ")


def check(nminspect, path, folder, problems):
    made = folder / "made.nc"
    kind = {1: "classic", 2: "64-bit offset", 5: "cdf5"}[path.read_bytes()[3]]
    cdl = folder / "made.cdl"
    cdl.write_bytes(said(nminspect, "header", "--exact", path))
    done = subprocess.run(["ncgen", "-k", kind, "-o", made, cdl], capture_output=True, timeout=120)
    if done.returncode:
        problems.append(f"{path}: ncgen: {done.stderr.decode(errors='replace').strip()}")
    elif definitions(made) != definitions(path):
        problems.append(f"{path}: other definitions")
    check_values(nminspect, path, problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path)
    arguments = parser.parse_args()
    corpus = os.environ.get("NMB_CORPUS")
    if not corpus:
        print("skipped: NMB_CORPUS is not set")
        return SKIPPED
    try:
        import netCDF4  # noqa: F401
    except ImportError:
        print("skipped: no Python module netCDF4")
        return SKIPPED
    if not shutil.which("ncgen") or not shutil.which("ncdump"):
        print("skipped: ncgen or ncdump is not installed")
        return SKIPPED
    problems, files = [], 0
    with tempfile.TemporaryDirectory(prefix="nmb_cli_") as folder:
        for part in FOLDERS:
            for path in sorted((Path(corpus) / part).rglob("*"))[FIRST::EVERY]:
                if not path.is_file() or path.stat().st_size > MOST_BYTES:
                    continue
                with path.open("rb") as stream:
                    if stream.read(4) not in (b"CDF\x01", b"CDF\x02", b"CDF\x05"):
                        continue
                check(arguments.tools / "nminspect", path, Path(folder), problems)
                files += 1
    print(f"{files} files")
    print("\n".join(problems))
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
