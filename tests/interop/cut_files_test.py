#!/usr/bin/python3
"""HDF5 files that were cut and files with a changed byte: the tools end by themselves, within limits.

    cut_files_test.py --tools FOLDER [FILE...]

Of each FILE (default: three that it makes: dimension scales as of netCDF-4; an old superblock with compound,
variable-length and reference values; chunks with filters in a new superblock) takes CUTS that end at places spread
over it, and CHANGES with one random byte changed (fixed seed), for the tools in turn: exit code 0, 1 or 2 with a
diagnostic, no signal, within 2 s of CPU time, memory as limited_run.py says; out.nmb only with
exit code 0, then a sound one, and nothing else.

Skipped (exit code 77) without h5py, or without nmb-hdf5 (a build without HDF5).
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
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

CUTS, CHANGES = (40, 200) if "NMB_ALL" in os.environ else (16, 80)
SECONDS = 2
SEED = 20
TOOLS = {"nmconvert": ["out.nmb"], "nmcat": ["-o", "out.nmb"], "nminspect": [], "nmverify": ["-q"]}
WRITERS = "nmconvert", "nmcat"
NO_HDF5 = "found no program for HDF5"


def make_scales(path):
    with h5py.File(path, "w", track_order=True) as file:
        for name, length in (("time", 6), ("x", 20)):
            file[name] = np.arange(length, dtype="f8")
            file[name].make_scale(name)
        file["time"].attrs["units"] = "days since 2000-01-01"
        group = file.create_group("forecast", track_order=True)
        data = group.create_dataset("t", data=np.arange(120, dtype="f4").reshape(6, 20), chunks=(2, 20))
        for i, name in enumerate(("time", "x")):
            data.dims[i].attach_scale(file[name])


def make_old(path):
    with h5py.File(path, "w", libver="earliest", userblock_size=512) as file:
        file["compound"] = np.zeros(30, dtype=[("a", "i4"), ("b", ">f8"), ("c", "S7")])
        file["text"] = np.array([f"text {i}" for i in range(20)], dtype=object)
        file["named"] = np.dtype("i2")
        file["compact/values"] = np.arange(10)
        file["soft"] = h5py.SoftLink("/compact")
        file["references"] = np.array([file["compound"].ref, file["text"].ref], dtype=h5py.ref_dtype)
        file["compact"].attrs["region"] = file["compound"].regionref[3:7]
    with path.open("r+b") as stream:
        stream.write(b"a user block")


def make_chunked(path):
    with h5py.File(path, "w", libver="latest") as file:
        values = np.arange(1000, dtype="i4").reshape(40, 25)
        filters = {"gzip": {"compression": "gzip"}, "all": {"compression": 4, "shuffle": True, "fletcher32": True}}
        for name, options in {"plain": {}, **filters}.items():
            for most, limits in (("fixed", None), ("array", (None, 25)), ("tree", (None, None))):
                file.create_dataset(f"{name}/{most}", data=values, chunks=(8, 8), maxshape=limits, **options)
        file.create_dataset("late", (100, 100), "f8", chunks=(10, 10), fillvalue=7)[5, 5] = 1
        for i in range(20):
            file.attrs[f"attribute {i}"] = i


def damaged(content):
    """(what was done, bytes)"""
    for i in range(CUTS):
        end = len(content) * i // CUTS
        yield f"cut at {end}", content[:end]
    pick = random.Random(SEED)
    for _ in range(CHANGES):
        at, byte = pick.randrange(len(content)), pick.randrange(1, 256)
        yield f"byte {at} changed by {byte}", content[:at] + bytes([content[at] ^ byte]) + content[at + 1 :]


def check(tools, case):
    """(exit code, problems: texts)"""
    number, name, what, content = case
    tool = list(TOOLS)[number % len(TOOLS)]
    with tempfile.TemporaryDirectory(prefix="nmb_cut_") as work:
        work = Path(work)
        (work / "in.h5").write_bytes(content)
        done = limited_run.run([tools / tool, "in.h5", *TOOLS[tool]], work, SECONDS)
        problems = limited_run.problems(done, len(content), SECONDS)
        made = sorted(set(os.listdir(work)) - {"in.h5"})
        if made != (["out.nmb"] if done.exit_code == 0 and tool in WRITERS else []):
            problems.append(f"exit code {done.exit_code}, and left {made}")
        if NO_HDF5 in done.said:
            problems.append(NO_HDF5)
        if not problems and made:
            sound = subprocess.run([tools / "nmverify", "--level", "blocks", "out.nmb"], cwd=work, capture_output=True, timeout=60)
            if sound.returncode:
                problems.append(f"out.nmb is not sound: nmverify: exit code {sound.returncode}")
    return done.exit_code, [f"{name}: {what}: {tool}: {problem}" for problem in problems]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=Path, help="folder of the tools")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    tools = options.tools.resolve()
    counts, problems = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="nmb_cut_") as folder:
        files = options.files
        for make in (make_scales, make_old, make_chunked) if not files else ():
            files = [*files, Path(folder) / f"{make.__name__.removeprefix('make_')}.h5"]
            make(files[-1])
        contents = [(path.name, path.read_bytes()) for path in files]
        for name, content in contents:
            code, found = check(tools, (0, name, "whole", content))
            if any(NO_HDF5 in problem for problem in found):
                print(f"skipped: {NO_HDF5}")
                return 77
            problems += found + ([f"{name}: whole: exit code {code}, expected 0"] if code != 0 else [])
        cases = ((name, what, bytes_) for name, content in contents for what, bytes_ in damaged(content))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for code, found in pool.map(lambda case: check(tools, case), [(i, *c) for i, c in enumerate(cases)]):
                counts[code] += 1
                problems += found
    print("\n".join(problems))
    print(", ".join(f"exit code {code}: {n}" for code, n in sorted(counts.items(), key=str)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
