#!/usr/bin/python3
"""h5wasm and jsfive, from npm, read .nmb files by their HDF5 view: names, shapes and values of all variables.

    view_javascript_test.py --tools FOLDER

Skipped (exit code 77) without h5py, netCDF4-python, npm, or where npm cannot get the two packages.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import main, netCDF4, numpy  # noqa: E402
import view_readers  # noqa: E402

REFERENCES = ("refs", "regions", "lists", "mixed")
PACKAGES = ("h5wasm@0.10.3", "jsfive@0.4.2")


def install(folder):
    """What hinders it, or nothing."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "no npm"
    try:
        done = subprocess.run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES],
                              cwd=folder, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        return "npm takes too long"
    return done.stderr if done.returncode != 0 else ""


def check_in(folder, test):
    one, several, source = view_readers.make(test)
    sources = {str(path): {"": source} for path in one} | {str(path): blocks for path, blocks in several.items()}
    script = Path(folder) / "read_views.mjs"  # node looks for modules beside what imports them
    shutil.copy(Path(__file__).with_name(script.name), script)
    done = subprocess.run(["node", script, *sources], capture_output=True, text=True, timeout=300)
    test.check(done.returncode == 0, f"read_views.mjs: {done.stderr}")
    if done.returncode != 0:
        return
    compared = 0
    for path, readers in json.loads(done.stdout).items():
        expected = {}
        for block, classic in sources[path].items():
            with netCDF4.Dataset(classic) as dataset:
                dataset.set_auto_maskandscale(False)
                for name, v in dataset.variables.items():
                    expected[(block + "/" if block else "") + name] = (
                        list(v.shape), numpy.ravel(v[...]).tolist(), getattr(v, "units", None))
        for reader, found in readers.items():
            where = f"{Path(path).name}: {reader}"
            test.check(set(found) == set(expected), f"{where}: found {sorted(found)}, expected {sorted(expected)}")
            for name in set(found) & set(expected):
                shape, values, units = expected[name]
                have = found[name]["values"]
                test.check(found[name]["shape"] == shape, f"{where}: {name}: shape {found[name]['shape']}, expected {shape}")
                test.check((have if isinstance(have, list) else [have]) == values, f"{where}: {name}: values {have}, expected {values}")
                test.check(found[name]["units"] == units, f"{where}: {name}: units {found[name]['units']}, expected {units}")
                compared += 1
    test.check(compared > 100, f"{compared} variables were compared")
    check_extended(script, test)


def check_extended(script, test):
    """h5wasm reads the same from a netCDF-4 or HDF5 file and from its view."""
    import extended_view_test as files

    sources = [test.work / name for name in ("new.nc", "strings.nc", "variable.h5")]
    for source, make in zip(sources, (files.netcdf, files.strings, files.of_variable_length)):
        make(source)
        test.run("nmconvert", source, source.with_suffix(".nmb"), "--view-copies")
    done = subprocess.run(["node", script, "--h5wasm", *sources, *(s.with_suffix(".nmb") for s in sources)],
                          capture_output=True, text=True, timeout=300)
    test.check(done.returncode == 0, f"read_views.mjs: {done.stderr}")
    if done.returncode != 0:
        return
    found = json.loads(done.stdout)
    for source in sources:
        a, b = (found[str(path)]["h5wasm"] for path in (source, source.with_suffix(".nmb")))
        test.check(len(a) > 2 and set(a) == set(b), f"{source.name}: h5wasm: {sorted(a)} in the source, {sorted(b)} in the view")
        for name in set(a) & set(b):
            # References are addresses.
            test.check(name in REFERENCES or a[name] == b[name], f"{source.name}: h5wasm: {name}: {a[name]}, in the view {b[name]}"[:400])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as modules:
        hindrance = install(modules)
        if hindrance:
            print(f"skipped: h5wasm and jsfive: {hindrance}")
            sys.exit(77)
        sys.exit(main(__doc__, lambda test: check_in(modules, test)))
