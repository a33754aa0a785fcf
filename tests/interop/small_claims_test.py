#!/usr/bin/python3
"""Small HDF5 files, all valid, that ask for much: time, memory, temporary space, other files.

    small_claims_test.py --tools FOLDER

Each is made, and read by nmconvert, nminspect and nmverify: exit code and message as below, within 2 s of CPU time and
the memory that limited_run.py says. Skipped (exit code 77) without h5py, or without nmb-hdf5 (a build without HDF5).
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import limited_run  # noqa: E402

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SECONDS = 2
TOOLS = {"nmconvert": ["out.nmb"], "nminspect": [], "nmverify": ["-q"]}
NO_HDF5 = "found no program for HDF5"


def chunks_without_number(file):
    file.create_dataset("v", (1 << 60,), "i1", chunks=(1,))


def chunks_that_are_not_there(file):
    file.create_dataset("v", (1 << 40,), "i1", chunks=(1 << 15,))


def chunks_of_many_data_sets(file):
    for i in range(50):
        file.create_dataset(f"v{i}", (1 << 20,), "i1", chunks=(1,))


def texts_that_are_not_there(file):
    file.create_dataset("v", (1 << 33,), h5py.string_dtype(), chunks=(1 << 10,))[5] = "x"


def texts_in_large_chunks(file):
    file.create_dataset("v", (1 << 20,), h5py.string_dtype(), chunks=(1 << 20,), compression=4)[5] = "x"


def small_chunks(file):  # each of which HDF5 finds by going over all
    file.create_dataset("v", data=np.arange(160000, dtype="i4"), chunks=(8,))


def values_that_are_not_there(file):
    file.create_dataset("v", (1 << 50,), "f8")


def deep_groups(file):
    for _ in range(400):
        file = file.create_group("g")


def groups_in_themselves(file):
    group = file.create_group("a")
    group["a"], group["up"], file["soft"] = group, file["/"], h5py.SoftLink("/soft")


def virtual_data_set_of_a_pipe(file):  # which nobody writes to
    pipe = f"{file.filename}.pipe"
    os.mkfifo(pipe)
    source = h5py.VirtualSource(pipe, "d", (1, 10), "i4", maxshape=(None, 10))
    layout = h5py.VirtualLayout((1, 10), "i4", maxshape=(None, 10))
    layout[0 : h5py.h5s.UNLIMITED, :] = source[0 : h5py.h5s.UNLIMITED, :]
    file.create_virtual_dataset("v", layout)


# how a file is made -> exit code, part of the message
EXPECTED = {
    chunks_without_number: (2, "data set /v: found more than 44739242 chunks"),
    chunks_that_are_not_there: (2, "decoded values and chunk tables take more than"),
    chunks_of_many_data_sets: (2, "decoded values and chunk tables take more than"),
    texts_that_are_not_there: (2, "decoded values and chunk tables take more than"),
    texts_in_large_chunks: (0, ""),
    small_chunks: (0, ""),
    values_that_are_not_there: (0, ""),
    deep_groups: (2, "found groups more than 256 deep"),
    groups_in_themselves: (0, ""),
    virtual_data_set_of_a_pipe: (0, ""),
}


def check(tools, make, work):
    """What was said on standard error, and problems: texts."""
    path = work / "in.h5"
    with h5py.File(path, "w") as file:
        make(file)
    code, expected = EXPECTED[make]
    said, problems = "", []
    for tool, arguments in TOOLS.items():
        done = limited_run.run([tools / tool, path, *arguments], work, SECONDS)
        said += done.said
        found = limited_run.problems(done, path.stat().st_size, SECONDS)
        if done.exit_code != code or expected not in done.said:
            found.append(f"exit code {done.exit_code}, {done.said!r}, expected {code}, {expected!r}")
        if tool == "nmconvert" and (work / "out.nmb").exists() != (code == 0):
            found.append(f"exit code {done.exit_code}, found {sorted(os.listdir(work))}")
        problems += [f"{make.__name__}: {tool}: {problem}" for problem in found]
    return said, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=Path, help="folder of the tools")
    tools = parser.parse_args().tools.resolve()
    failed = 0
    for make in EXPECTED:
        with tempfile.TemporaryDirectory(prefix="nmb_claims_") as work:
            said, problems = check(tools, make, Path(work))
        if NO_HDF5 in said:
            print(f"skipped: {NO_HDF5}")
            return 77
        failed += len(problems)
        for problem in problems:
            print(problem)
    print(f"{len(EXPECTED)} files, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
