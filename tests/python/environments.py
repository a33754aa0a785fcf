#!/usr/bin/python3
"""Builds the package against a build of NMB, and installs it into two environments: one with the system's packages (numpy 1 on
Debian 12), one with numpy 2 and newer peers from the package index.

    environments.py --build BUILD [--wheel WHEEL | --newest]

They are BUILD/python/numpy1 and BUILD/python/numpy2, and stay for the next time. Skipped (exit code 77), with what is missing,
if pip cannot install the packages. --wheel builds nothing: it makes numpy2 alone, with all peers, installs that wheel, and prints
the versions. --newest makes BUILD/python/newest, with the newest torch and torchdata, for the tests of training; the wheel was built
before."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
TOOLS = ["scikit-build-core >= 0.10", "nanobind >= 2.4", "numpy >= 2.0", "mypy", "pandas-stubs"]
PEERS = ["h5py", "netCDF4", "h5netcdf", "xarray", "dask", "distributed", "pandas", "zarr", "lmdb", "matplotlib"]
# Of the numpy1 environment, beside Debian's packages, which have no torchdata. It needs no package that is not there.
TRAINING = ["--no-deps", "torchdata"]
NEWEST = ["torch", "torchdata", "h5py", "netCDF4"]
NEWEST_PEERS = ["lmdb", "zarr", "webdataset", "mosaicml-streaming", "torch_geometric"]  # of tests/bench/python_training.py
MORE_PEERS = ["icechunk", "mypy", "pandas-stubs"]  # for the tests of a wheel


class Missing(Exception):
    """What an environment needs and cannot get."""


def run(*command, **more):
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "PIP_RETRIES": "2",
                   "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    return subprocess.run([str(part) for part in command], env=environment, text=True, **more)


def make(folder, packages, *options):
    """An environment with these packages."""
    python = folder / "bin" / "python"
    if not python.exists() or run(python, "-c", "").returncode:
        made = run(sys.executable, "-m", "venv", "--clear", *options, folder, capture_output=True)
        if made.returncode:
            raise Missing(f"{sys.executable} -m venv: {made.stdout}{made.stderr}")
    if packages:
        installed = run(python, "-m", "pip", "install", "-q", *packages, capture_output=True)
        if installed.returncode:
            said = installed.stderr.strip().splitlines() or ["?"]
            raise Missing(f"pip cannot install {', '.join(packages)}: {said[-1]}")


def install(python, wheel):
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--newest", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    folder = build / "python"
    why = folder / "missing"
    folder.mkdir(parents=True, exist_ok=True)
    why.unlink(missing_ok=True)
    try:
        if arguments.wheel:
            make(folder / "numpy2", PEERS + MORE_PEERS)
            python = folder / "numpy2/bin/python"
            install(python, arguments.wheel)
            run(python, "--version", check=True)
            run(python, "-m", "pip", "list", check=True)
            return 0
        if arguments.newest:
            make(folder / "newest", NEWEST)
            for peer in NEWEST_PEERS:  # a benchmark leaves out those that are missing
                try:
                    make(folder / "newest", [peer])
                except Missing as missing:
                    print(missing)
            install(folder / "newest/bin/python", next(folder.glob("wheels/*.whl")))
            return 0
        make(folder / "numpy1", TRAINING, "--system-site-packages")
        make(folder / "numpy2", TOOLS + PEERS)
    except Missing as missing:
        why.write_text(" ".join(str(missing).split()))
        print("skipped:", why.read_text())
        return SKIPPED
    wheels = folder / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    # fmt: off
    run(folder / "numpy2/bin/python", "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", wheels,
        ROOT / "python", f"--config-settings=cmake.define.nmb_DIR={build}", f"--config-settings=build-dir={folder}/build", check=True)
    # fmt: on
    (wheel,) = wheels.glob("*.whl")
    for name in ("numpy1", "numpy2"):
        install(folder / name / "bin/python", wheel)
        said = run(folder / name / "bin/python", "-c", "import nmb, numpy; print(numpy.__version__)", capture_output=True, check=True)
        print(name, "numpy", said.stdout.strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
