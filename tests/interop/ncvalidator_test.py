#!/usr/bin/python3
"""nmverify finds every fault in the header of a classic file that ncvalidator (PnetCDF) finds.

    ncvalidator_test.py --tools FOLDER [--files N]

Makes classic files with netCDF4-python, changes their headers at N places (a byte, a 4-byte number, or a cut; fixed
seed), and runs both programs. A file that ncvalidator refuses and that nmverify calls sound without a warning is a
problem, and so is a crash of nmverify. Prints how many files each program refuses. Skipped (exit code 77) without ncvalidator or netCDF4-python.
"""

import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import netCDF4
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FILES = 5000 if "NMB_ALL" in os.environ else 150
FORMATS = "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"
# ncvalidator says this of a file that has records but no record variable, because it expects 0 bytes. The file is sound:
# netCDF shows the number of records as the length of the unlimited dimension.
NO_RECORD_VARIABLES = "is larger than expected (0)!"


def make(path, kind, shape):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        if shape >= 1:
            file.createDimension("x", 5)
            file.createDimension("time", None)
            file.title = "three"
            file.numbers = numpy.arange(3, dtype="i2")
        if shape >= 2:
            file.createVariable("x", "f8", ("x",))[:] = numpy.arange(5)
            file.createVariable("b", "i1", ("x",))[:] = numpy.arange(5)
            file["b"].units = "m"
        if shape >= 3:
            file.createVariable("t", "i2", ("time", "x"))[:] = numpy.arange(15).reshape(3, 5)
            file.createVariable("s", "f4", ("time",))[:] = numpy.arange(3)


def changed(data, chance):
    """One change within the header, which is smaller than 600 bytes."""
    data = bytearray(data)
    length = min(len(data), 600)
    kind = chance.randrange(5)
    if kind == 0:
        return bytes(data[: chance.randrange(1, len(data))])
    if kind == 1:
        data[chance.randrange(length)] ^= 1 << chance.randrange(8)
    elif kind == 2:
        data[chance.randrange(length)] = chance.choice((0, 1, 2, 4, 10, 11, 12, 255))
    else:
        at = 4 * chance.randrange(length // 4)
        old = int.from_bytes(data[at : at + 4], "big")
        value = chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 10, 11, 12, old + 1, old - 1, old + 4, old * 2, chance.getrandbits(32)))
        data[at : at + 4] = (value & 0xFFFFFFFF).to_bytes(4, "big")
    return bytes(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--files", type=int, default=FILES)
    arguments = parser.parse_args()
    if not shutil.which("ncvalidator"):
        print("skipped: no ncvalidator")
        return 77
    chance, counts, problems = random.Random(24), collections.Counter(), []
    with tempfile.TemporaryDirectory() as work:
        sound = []
        for kind in FORMATS:
            for shape in range(4):
                path = Path(work) / "sound.nc"
                make(path, kind, shape)
                sound.append(path.read_bytes())
        path = Path(work) / "changed.nc"
        for number in range(arguments.files):
            data = changed(sound[number % len(sound)], chance)
            path.write_bytes(data)
            theirs = subprocess.run(["timeout", "0.5", "ncvalidator", path], capture_output=True, errors="replace")
            ours = subprocess.run([arguments.tools / "nmverify", "--strict", path], capture_output=True, text=True, timeout=60)
            refused = theirs.returncode == 1
            counts[f"refused by ncvalidator: {refused}, by nmverify: {ours.returncode != 0}"] += 1
            if theirs.returncode not in (0, 1):
                counts[f"ncvalidator took too long (124) or crashed: {theirs.returncode}"] += 1
            if refused and ours.returncode == 0 and NO_RECORD_VARIABLES not in theirs.stdout:
                problems.append(f"{number}: only ncvalidator refuses: {theirs.stdout.strip()[:300]}")
                if "NMB_KEEP" in os.environ:
                    Path(os.environ["NMB_KEEP"], f"{number}.nc").write_bytes(data)
            if ours.returncode not in (0, 1, 2):
                problems.append(f"{number}: nmverify ended with {ours.returncode}")
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    print("\n".join(problems[:20]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
