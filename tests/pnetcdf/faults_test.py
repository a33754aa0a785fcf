#!/usr/bin/env python3
"""Failing writes, a full disk and the death of a rank, in a program that calls PnetCDF (faults.c).

  faults_test.py --faults PROGRAM --tools FOLDER --mpiexec "mpiexec -n"
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    for option in ["--faults", "--tools", "--mpiexec"]:
        parser.add_argument(option, required=True)
    parser.add_argument("--ranks", default="2")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="nmb_faults_test"))
    failed = []

    def run(what, *arguments, expected=0):
        done = subprocess.run([*options.mpiexec.split(), options.ranks, f"{options.tools}/nmb-run", options.faults, *arguments],
                              capture_output=True, text=True, timeout=280)
        print(f"{what}: exit code {done.returncode}, {done.stdout.strip()}")
        wrong = done.returncode != 0 if expected == 0 else done.returncode == 0
        if wrong:
            failed.append(what)
            print(done.stderr)

    run("failing writes", str(folder / "a.nmb"), "write")
    if os.geteuid() == 0:
        disk = folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=False).returncode == 0:
            try:
                run("a full disk", str(disk / "b.nmb"), "full")
            finally:
                subprocess.run(["umount", disk], check=True)
    run("the death of a rank", str(folder / "c.nmb"), "die", expected=1)
    run("the file after it", str(folder / "c.nmb"), "check", "2")
    verified = subprocess.run([f"{options.tools}/nmverify", folder / "c.nmb"], capture_output=True, text=True, check=False)
    if verified.returncode != 0:
        failed.append("nmverify")
        print(verified.stdout, verified.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
