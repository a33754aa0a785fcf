#!/usr/bin/python3
"""Content that a join, a subset or a time series must keep: variables of types that classic netCDF lacks, groups of the
chosen files of an archive, what attributes name in other groups, the form of attributes. Read by netCDF4-python and h5py.

    kept_content_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402


def check_messages(test):
    test.run("nmverify", "types.nmb", "--recover", "-", exit_code=2, says="found the output -")
    test.check(not (test.work / "-").exists(), "nmverify made a file -")
    test.run("nmcat", "--nosuch", exit_code=2, says="--nosuch")
    (test.work / "bad.nc").write_bytes(b"CDF\x01bad")
    (test.work / "bad").write_text("bad.nc\n")
    test.run("nmconvert", "--files-from", "bad", "--out-dir", "new/folder", exit_code=1)
    test.check(not (test.work / "new").exists(), "an empty folder is left")


def check(test):
    check_messages(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
