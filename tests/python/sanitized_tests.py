#!/usr/bin/python3
"""Builds the package with its own library and tools under the address and undefined behaviour sanitizers, and runs its tests.

    sanitized_tests.py --build BUILD [--only build|tests] [NAME_test.py ...]

Needs the environment numpy2 that environments.py made in BUILD; the package and what the tests say is in BUILD/python/sanitized.
A leak counts if memory that the package's code allocated is left at the end: what the interpreter and numpy keep does not. Nor
do crashes of the HDF5 library on damaged files, in its own process.
Skipped (exit code 77) without that environment."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
# nanobind casts functions and objects of Python in ways that the checks `function` and `vptr` refuse.
FLAGS = "-fsanitize=address,undefined -fno-sanitize=vptr,null,object-size,pointer-overflow -fno-sanitize-recover=undefined"
SECONDS = 3000  # of one file of tests


def library(name):
    """The path of a library of the compiler."""
    return subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()


PRELOAD = f"{library('libasan.so')} {library('libstdc++.so')}"


def make(python, folder):
    """Builds and installs the package into `folder`."""
    build, package = folder / "build", folder / "package"
    defines = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_CXX_FLAGS": FLAGS + " -fno-omit-frame-pointer",
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": "-O1 -g1",
        "CMAKE_DISABLE_FIND_PACKAGE_nmb": "ON",
        "Python_EXECUTABLE": python,
        "SKBUILD_SCRIPTS_DIR": "bin",
    }
    subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ROOT / "python", "-B", build, *(f"-D{name}={value}" for name, value in defines.items())],
        check=True,
    )
    subprocess.run(["cmake", "--build", build], check=True)
    shutil.rmtree(package, ignore_errors=True)
    # The module is loaded to describe its functions.
    subprocess.run(
        ["cmake", "--install", build, "--component", "nmb_python", "--prefix", package],
        env={**os.environ, "LD_PRELOAD": PRELOAD, "ASAN_OPTIONS": "detect_leaks=0"}, check=True,
    )  # fmt: skip
    for source in (ROOT / "python/src/nmb").glob("*.py"):
        shutil.copy(source, package / "nmb")


def leaks_of_ours(report):
    """The leaks that code of the package made, of a report of the leak sanitizer."""
    out = []
    for leak in re.findall(r"^(?:Direct|Indirect) leak of .*\n(?:    #.*\n)+", report, re.M):
        # Frame 0 is malloc or new; the next one is what called it.
        frames = re.findall(r"#\d+ 0x\w+ (.*)", leak)
        if len(frames) > 1 and re.search(r"/(_core\.[^/]*so|libnmb\.so[^/]*)\b|libformat/|src/nmb/_core", frames[1]):
            out.append(leak)
    return out


def of_hdf5(report):
    """Whether the HDF5 library itself did it, in the process of its own that damaged files may end."""
    frames = [frame for frame in re.findall(r"#\d+ 0x\w+ (.*)", report) if "libsanitizer" not in frame]
    return bool(frames) and "libhdf5" in frames[0] and "nmb-hdf5+0x" in report


def run(python, folder, test):
    """Runs one file of tests; returns whether it passed."""
    reports = folder / "reports"
    reports.mkdir(exist_ok=True)
    for old in reports.glob(f"{test}.*"):
        old.unlink()
    environment = {
        **os.environ,
        "LD_PRELOAD": PRELOAD,
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": f"{folder / 'package'}:{HERE}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NMB_SANITIZED": "1",
        "ASAN_OPTIONS": f"detect_leaks=1:exitcode=99:allocator_may_return_null=1:log_path={reports / test}",
        "LSAN_OPTIONS": "exitcode=0:fast_unwind_on_malloc=1",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={reports / test}.ub",
    }
    done = subprocess.run(
        [python, "-m", "unittest", test], cwd=HERE, env=environment, text=True, capture_output=True, timeout=SECONDS
    )
    found = []
    for path in sorted(reports.glob(f"{test}.*")):
        report = path.read_text(errors="replace")
        if "LeakSanitizer" not in report and not of_hdf5(report):
            found.append(report)
        found.extend(leaks_of_ours(report))
    passed = done.returncode == 0 and not found
    print(f"{test}: {'passed' if passed else 'FAILED'}", flush=True)
    if not passed:
        print(done.stdout[-4000:], done.stderr[-8000:], *found[:10], sep="\n", flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--only", choices=["build", "tests"])
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    python = build / "python" / "numpy2" / "bin" / "python"
    if not python.exists():
        print("skipped: no environment", python.parent.parent)
        return SKIPPED
    folder = build / "python" / "sanitized"
    folder.mkdir(exist_ok=True)
    if arguments.only != "tests":
        make(python, folder)
    if arguments.only == "build":
        return 0
    tests = [Path(name).stem for name in arguments.tests] or sorted(path.stem for path in HERE.glob("*_test.py"))
    return 0 if all([run(python, folder, test) for test in tests]) else 1


if __name__ == "__main__":
    sys.exit(main())
