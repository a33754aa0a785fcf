#!/usr/bin/python3
"""Builds the package against a build of NMB, and installs it into two environments: one with the system's packages (numpy 1 on
Debian 12), one with numpy 2 and newer peers from the package index.

    environments.py --build BUILD

They are BUILD/python/numpy1 and BUILD/python/numpy2, and stay for the next time. Skipped (exit code 77) if the package index
cannot be reached and they are not there yet."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
TOOLS = ["scikit-build-core >= 0.10", "nanobind >= 2.4", "numpy >= 2.0"]
PEERS = ["h5py", "netCDF4", "h5netcdf", "xarray", "dask", "distributed", "pandas"]


def run(*command, **more):
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([str(part) for part in command], env=environment, **more)


def make(folder, packages, *options):
    """An environment with these packages. False if they cannot be had."""
    python = folder / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", *options, folder, check=True)
    if packages and run(python, "-m", "pip", "install", "-q", *packages).returncode:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path)
    build = parser.parse_args().build.resolve()
    folder = build / "python"
    if not make(folder / "numpy2", TOOLS + PEERS) or not make(folder / "numpy1", [], "--system-site-packages"):
        print("skipped: the package index cannot be reached")
        return SKIPPED
    wheels = folder / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    # fmt: off
    run(folder / "numpy2/bin/python", "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", wheels,
        ROOT / "python", f"-Ccmake.define.nmb_DIR={build}", f"-Cbuild-dir={folder}/build", check=True)
    # fmt: on
    (wheel,) = wheels.glob("*.whl")
    for name in ("numpy1", "numpy2"):
        run(folder / name / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel, check=True)
        print(name, "numpy", run(folder / name / "bin/python", "-c", "import nmb, numpy; print(numpy.__version__)",
                                 capture_output=True, text=True, check=True).stdout.strip())  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
