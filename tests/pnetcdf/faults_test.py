#!/usr/bin/env python3
"""Programs that call PnetCDF, by nmb-run, when writes fail, the disk is full or a rank dies (faults.c).

  faults_test.py --faults PROGRAM --tools FOLDER --mpiexec "mpiexec -n"
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FAILED = []


def expect(what, holds, output=""):
    if not holds:
        FAILED.append(what)
        print(f"{what}\n{output}")


def main():
    parser = argparse.ArgumentParser()
    for option in ["--faults", "--tools", "--mpiexec"]:
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="nmb_faults_"))

    def command(ranks, *arguments):
        return [*options.mpiexec.split(), str(ranks), f"{options.tools}/nmb-run", options.faults, *map(str, arguments)]

    def run(line):
        return subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280)

    def verify(what, path):
        done = run([f"{options.tools}/nmverify", str(path)])
        expect(f"nmverify after {what}", done.returncode == 0, done.stdout)

    def write_fails(ranks, rows):
        here = folder / f"each{ranks}_{rows}"
        here.mkdir()
        what = f"each call of {ranks} ranks with {rows} rows"
        done = run(command(ranks, "each", here, rows))
        expect(what, done.returncode == 0 and " sessions" in done.stdout, done.stdout)
        for path in here.iterdir():
            verify(f"{what}, {path.name}", path)
        shutil.rmtree(here)

    def disk_is_full(ranks):
        here = folder / "disk"
        here.mkdir(exist_ok=True)
        path = here / "f.nmb"
        # 6144 rows of all ranks: commits of 0.45, 0.5 and 0.4 MB.
        for size, has_file in [(64, False), (300, False), (500, True), (700, True), (900, True)]:
            what = f"a disk of {size} KiB, {ranks} ranks"
            script = (f"mount -t tmpfs -o size={size}k none {here} || exit 77; \"$@\"; code=$?; "
                      f"if [ -e {path} ]; then {options.tools}/nmverify {path} || code=3; echo kept; fi; exit $code")
            done = run(["unshare", "-m", "bash", "-c", script, "bash", *command(ranks, "full", path, 6144 // ranks)])
            if done.returncode == 77 or "unshare" in done.stdout:
                print("left out: a full disk, which needs the right to mount one")
                return
            expect(what, done.returncode == 0 and ("kept" in done.stdout) == has_file, done.stdout)

    def rank_dies(ranks, rank, call):
        here = folder / f"die{ranks}_{rank}_{call}"
        here.mkdir()
        path, what = here / "f.nmb", f"rank {rank} of {ranks} dies at call {call}"
        done = run(command(ranks, "die", path, rank, call))
        expect(what + ": the job fails", done.returncode != 0, done.stdout)
        known = done.stdout.count("commit ")
        done = run(command(ranks, "check", path))
        expect(f"{what}, after {known} commits",
               any(f"state {state}\n" in done.stdout for state in (known, known + 1)), done.stdout)
        # A file of several ranks has a hidden name until it is complete.
        left = [name for name in os.listdir(here)
                if name != "f.nmb" and not (name.startswith(".f.nmb.") and name.endswith(".part") and known == 0)]
        expect(f"{what}: {left} left", not left)
        if path.exists():
            # What the commit that was not completed has left is a warning.
            verify(what, path)

    for ranks in (1, 3):
        write_fails(ranks, 8)
        if ranks > 1:
            write_fails(ranks, 8192)  # several pieces, which several ranks write
        disk_is_full(ranks)
    for rank, calls in [(0, (0, 6, 12, 18, 24, 30)), (2, (0, 1))]:
        for call in calls:
            rank_dies(3, rank, call)
    shutil.rmtree(folder)
    print(f"{len(FAILED)} failures")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
