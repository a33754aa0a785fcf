"""Runs the tools in a folder of their own, and collects problems. Tests end with main(). Whoever imports this
is skipped (exit code 77) without h5py, netCDF4-python or numpy."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ALL = "NMB_ALL" in os.environ
# Open MPI refuses to run as root unless both are set.
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def some(items, every):
    """Each of so many items; with NMB_ALL=1, all."""
    return list(items)[:: 1 if ALL else every]


try:
    import h5py  # noqa: F401
    import netCDF4  # noqa: F401
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Test:
    def __init__(self, tools, work):
        self.tools, self.work, self.problems = tools, Path(work), []

    # exit_code: expected; None: any.
    def run(self, tool, *arguments, exit_code=0, says=None, environment=None):
        done = subprocess.run(
            [self.tools / tool, *arguments], cwd=self.work, capture_output=True, text=True, errors="surrogateescape", timeout=120,
            env=os.environ | (environment or {}),
        )
        words = " ".join(map(str, (tool, *arguments)))
        self.exit_code, self.said = done.returncode, done.stderr
        if exit_code is not None and done.returncode != exit_code:
            self.problems.append(f"{words}: exit code {done.returncode}, expected {exit_code}: {done.stderr}")
        if says is not None and says not in done.stderr:
            self.problems.append(f"{words}: said {done.stderr!r}, expected {says!r}")
        return done.stdout

    def check(self, true, problem):
        if not true:
            self.problems.append(problem)


def as_netcdf(test, name):
    """Returns the path of an output; of an .nmb file, verifies it and returns the netCDF-4 file that nmconvert makes."""
    if not name.endswith(".nmb"):
        return test.work / name
    test.run("nmverify", name)
    made = test.work / (name + ".made.nc4")
    made.unlink(missing_ok=True)
    test.run("nmconvert", name, made)
    return made


def main(description, check):
    """Calls check(test); returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="folder of the tools")
    tools = parser.parse_args().tools.resolve()
    with tempfile.TemporaryDirectory() as work:
        test = Test(tools, work)
        check(test)
    for problem in test.problems:
        print(problem)
    return 1 if test.problems else 0
