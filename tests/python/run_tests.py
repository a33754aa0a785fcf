#!/usr/bin/python3
"""Runs a test of the package in one of the environments that environments.py makes.

    run_tests.py --build BUILD --environment numpy1|numpy2 NAME_test.py

Skipped (exit code 77) if the environment could not be made, or if every test is skipped."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--environment", required=True)
    parser.add_argument("test")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    python = build / "python" / arguments.environment / "bin" / "python"
    why = build / "python" / "missing"
    if why.exists():
        print("skipped:", why.read_text())
        return SKIPPED
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [python, "-m", "unittest", "-v", Path(arguments.test).stem], cwd=HERE, env=environment, text=True, capture_output=True
    )
    print(done.stdout + done.stderr)
    if done.returncode == 0 and "OK (skipped=" in done.stderr:
        ran, skipped = re.search(r"Ran (\d+) test", done.stderr), re.search(r"skipped=(\d+)", done.stderr)
        if ran[1] == skipped[1]:
            print("skipped: " + re.search(r"skipped '(.*)'", done.stderr)[1])
            return SKIPPED
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
