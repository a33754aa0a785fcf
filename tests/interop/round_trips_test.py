#!/usr/bin/python3
"""Proves round_trips.py with tools that only copy, change, refuse, crash or hang, by the file's name.

    round_trips_test.py

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
try:
    import h5py
    import netCDF4  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = Path(__file__).resolve().parent / "round_trips.py"
# Into .nmb and back: the folder of a round trip holds no other file, so the name is kept beside the copy.
NMCONVERT = """#!/bin/sh
case "$1$(cat name 2>/dev/null)" in
  *refused*) echo "nmconvert: $1: found a link, expected none" >&2; exit 1 ;;
  *crash*) kill -SEGV $$ ;;
esac
cp "$1" "$2"
case "$2$(cat name 2>/dev/null)" in
  *back*different*) printf x >>"$2" ;;
  *back*lost*) exit 2 ;;
esac
basename "$1" >name
"""
NMVERIFY = """#!/bin/sh
! grep -q unsound name
"""
CLASSIC = b"CDF\x01" + bytes(28)
# file -> how its result begins, and whether that is as it should be
EXPECTED = {
    "classic/equal.nc": ("equal", True),
    "classic/different.nc": ("different: /: length: 32, 33", False),
    "classic/refused.nc": ("refused: nmconvert: refused.nc: found a link, expected none (exit code 1)", False),
    "classic/crash.nc": ("failed: nmconvert: signal 11", False),
    "classic/unsound.nc": ("failed: nothing said (exit code 1)", False),
    "classic/lost.nc": ("refused: nothing said (exit code 2)", False),
    "hdf5/equal.h5": ("equal", True),
    "hdf5/refused.h5": ("refused: nmconvert: refused.h5: found a link", False),
    "hdf5/refused_damaged.h5": ("refused: nmconvert: refused_damaged.h5", True),
    "hdf5/damaged.h5": ("not compared: compare_files: ", True),
    "netcdf4/equal.nc": ("equal", True),
}


def make_files(folder):
    for name in ("classic", "hdf5", "netcdf4", "hostile", "tools"):
        (folder / name).mkdir()
    for name, content in (("nmconvert", NMCONVERT), ("nmverify", NMVERIFY)):
        (folder / "tools" / name).write_text(content)
        (folder / "tools" / name).chmod(0o755)
    for name in [*EXPECTED, "hostile/never_taken.nc"]:
        path = folder / name
        if name.startswith("classic") or name.startswith("hostile"):
            path.write_bytes(CLASSIC)
            continue
        with h5py.File(path, "w", track_order=True) as file:
            file["v"] = range(100)
        if "damaged" in name:
            path.write_bytes(path.read_bytes()[:-100])


def run(folder, *options):
    command = [sys.executable, PROGRAM, "--tools", folder / "tools", "--corpus", folder, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def check(folder):
    problems = []
    done = run(folder, "--json", folder / "report.json", "--jobs", "2")
    if done.returncode != 1:
        problems.append(f"found exit code {done.returncode}, expected 1: {done.stderr}")
    found = {one["file"]: one for one in json.loads((folder / "report.json").read_text())["files"]}
    if found.keys() != EXPECTED.keys():
        problems.append(f"found {sorted(found)}, expected {sorted(EXPECTED)}")
    for name, (result, accepted) in EXPECTED.items():
        one = found.get(name, {"result": "", "accepted": None})
        if not one["result"].startswith(result) or one["accepted"] != accepted:
            problems.append(f"{name}: found {one}, expected {result}, {accepted}")
        if f"{name}\t" not in done.stdout:
            problems.append(f"{name}: found no line")
    last = f"{len(EXPECTED)} files, 6 neither equal nor refused for a known reason"
    if done.stdout.splitlines()[-1] != last:
        problems.append(f"found {done.stdout.splitlines()[-1]}, expected {last}")
    done = run(folder, "--only", "equal.*")
    if done.returncode != 0 or "classic: 1 files: 1 equal" not in done.stdout:
        problems.append(f"--only: found exit code {done.returncode}, {done.stdout}")
    return problems


def main():
    with tempfile.TemporaryDirectory(prefix="nmb_interop_") as folder:
        make_files(Path(folder))
        problems = check(Path(folder))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
