#!/usr/bin/python3
"""Compares HDF5 views with their sources by the programs of Debian 13: HDF5 1.14 and netCDF 4.9.3.

    debian13_views.py FOLDER [--tools build/release/tools] [--files N]

FOLDER gets a Debian 13 system of about 1 GB, by debootstrap, if it has none. Needs root and debootstrap. The tools of this
system make a view of each HDF5 and netCDF-4 file of NMB_CORPUS, and of files that the tests generate. Then
tests/interop/view_pairs.py compares them in FOLDER by chroot. --files: only every Nth file of NMB_CORPUS. The exit code is
that of view_pairs.py.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
INTEROP = Path(__file__).resolve().parents[1] / "tests" / "interop"
sys.path.insert(0, str(INTEROP))
PACKAGES = "python3-h5py,python3-netcdf4,python3-numpy,python3-xarray,hdf5-tools,netcdf-bin"
VERSIONS = "import h5py, netCDF4; print('HDF5', h5py.version.hdf5_version, 'netCDF', netCDF4.__netcdf4libversion__)"
MIRROR = "http://deb.debian.org/debian"


def make_system(folder):
    if (folder / "usr/bin/h5dump").exists():
        return
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("debian13_views.py: needs root and debootstrap")
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "trixie", folder, MIRROR], check=True)


def sources(work, every):
    import extended_view_test
    import view_readers
    from view_corpus_test import hdf5_files

    made = [work / "netcdf4.nc", work / "hdf5.h5"]
    extended_view_test.netcdf(made[0])
    extended_view_test.hdf5(made[1])
    classic = work / "classic.nc"
    view_readers.grid(classic)
    yield from (*made, classic)
    if "NMB_CORPUS" in os.environ:
        yield from list(hdf5_files(Path(os.environ["NMB_CORPUS"]).resolve()))[::every]


def make_pairs(tools, work, every):
    pairs = []
    for i, source in enumerate(sources(work, every)):
        copy, view = work / f"{i}_{source.name}", work / f"{i}.nmb"
        done = subprocess.run([tools / "nmconvert", source, view, "--hdf5-view", "on", "--view-copies", "--no-sync"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{source.name}: no view: {done.stderr.strip()[:200]}")
            continue
        said = subprocess.run([tools / "nminspect", "view", "--json", view], check=True, capture_output=True, text=True).stdout
        shutil.copyfile(source, copy)
        pairs.append({"source": copy.name, "view": view.name, "left_out": json.loads(said)["left_out"]})
    (work / "pairs.json").write_text(json.dumps(pairs))
    print(f"{len(pairs)} views")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--tools", type=Path, default=Path("build/release/tools"), help="folder of the tools")
    parser.add_argument("--files", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    folder, tools = arguments.folder.resolve(), arguments.tools.resolve()
    make_system(folder)
    with tempfile.TemporaryDirectory(dir=folder / "tmp") as work:
        shutil.copytree(INTEROP, Path(work) / "interop", ignore=shutil.ignore_patterns("*.cpp", "*.h"))
        make_pairs(tools, Path(work), arguments.files)
        inside = "/" + str(Path(work).relative_to(folder))
        subprocess.run(["mount", "-t", "proc", "proc", folder / "proc"], check=True)
        try:
            subprocess.run(["chroot", folder, "python3", "-c", VERSIONS], check=True)
            return subprocess.run(["chroot", folder, "python3", f"{inside}/interop/view_pairs.py", inside]).returncode
        finally:
            subprocess.run(["umount", folder / "proc"], check=True)


if __name__ == "__main__":
    sys.exit(main())
