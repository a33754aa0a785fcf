#!/usr/bin/python3
"""The graph samples of several processes, as CDF-5 files of many variables and as HDF5 files of groups, packed by
nmcat: a block a sample either way. The independent reader of spec/reference finds the content that h5py and a decoder
of headers find in the sources, the same for both kinds. The exception are empty lists of edges: for classic netCDF, the
generator leaves out their dimension of length 0.

    workload_test.py --tools FOLDER

With NMB_ALL=1 of 4, 16 and 64 processes, else of 4.

Skipped (exit code 77) without h5py, and where there is no workload/gen_graphs.py beside the folder that NMB_CORPUS names.
"""

import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "spec" / "reference"))
from tool_runs import ALL, h5py, main, numpy  # noqa: E402

SAMPLES = 400
SPLIT = ["--split-names", r"^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}"]
CLASSIC = {5: ">f4", 10: ">i8"}


def reference():
    import nmb_reference

    nmb_reference.MAX_DECODED = nmb_reference.MAX_BODY = 1 << 30
    return nmb_reference


def type_of(c, code):
    if code in CLASSIC:
        return numpy.dtype(CLASSIC[code])
    t = c.extension.types[code - 256]
    kind = {"integer": "i", "float": "f"}[reference().type_document(code, t)["class"]]
    return numpy.dtype(f"<{kind}{c.extension.size_of(code)}")


def blocks_of(path):
    """{sample: {key: (dimensions with their names but for what they share with the variable's, array)}} of an NMB file."""
    r = reference()
    file = r.File(path.read_bytes(), False)
    file.read()
    assert not file.findings and not file.reading, (path, file.findings[:3], file.reading[:3])
    found = {}
    for entry, _, c in file.blocks:
        if not c.variables:
            continue
        properties = c.extension.properties if c.extension else []
        block = found[r.name_text(entry.name)] = {}
        for v in c.variables:
            raw, _ = r.read_values(file, entry, c, v, properties)
            array = numpy.frombuffer(bytes(raw), type_of(c, v.type)).reshape(r.shape_of(entry, c, v))
            block[r.name_text(v.name)] = array
    return found


def hdf5_sources(paths):
    found = {}
    for path in paths:
        with h5py.File(path) as file:
            for sample, group in file.items():
                found[sample] = {key: data[()] for key, data in group.items()}
    return found


def classic_sources(paths):
    import classic_reference

    found = {}
    for path in paths:
        data = path.read_bytes()
        c = classic_reference.decode(data, values_follow=True)
        for v in c.variables:
            sample, key = v.name.decode()[len("_grp_"):].split("_evt")
            number, key = key.split("_", 1)
            shape = [c.dimensions[d].length for d in v.dimensions]
            array = numpy.frombuffer(data, CLASSIC[v.type], int(numpy.prod(shape, dtype=int)), v.begin).reshape(shape)
            found.setdefault(f"{sample}_evt{number}", {})[key] = array
    return found


def same(test, what, found, expected):
    test.check(found.keys() == expected.keys(), f"{what}: found {len(found)} blocks, expected {len(expected)}")
    for sample in found.keys() & expected.keys():
        a, b = found[sample], expected[sample]
        test.check(a.keys() == b.keys(), f"{what}: {sample}: found {sorted(a)}, expected {sorted(b)}")
        for key in a.keys() & b.keys():
            x, y = numpy.asarray(a[key]), numpy.asarray(b[key])
            test.check(x.shape == y.shape and x.dtype.newbyteorder("=") == y.dtype.newbyteorder("=") and numpy.array_equal(x, y),
                       f"{what}: {sample}/{key}: found {x.dtype} {x.shape}, expected {y.dtype} {y.shape}")


def without_empty(blocks):
    """Those that have no empty list, and how many do."""
    kept = {sample: {k: v for k, v in block.items() if numpy.asarray(v).size} for sample, block in blocks.items()}
    return kept, sum(numpy.asarray(v).size == 0 for block in blocks.values() for v in block.values())


def check(test):
    generator = Path(os.environ.get("NMB_CORPUS", "/nowhere")).resolve().parent / "workload" / "gen_graphs.py"
    if not generator.exists():
        print("skipped: no workload/gen_graphs.py")
        sys.exit(77)
    results = {}
    for files in (4, 16, 64) if ALL else (4,):
        for kind in ("cdf5", "h5"):
            folder = test.work / f"{kind}_{files}"
            subprocess.run([sys.executable, generator, "--out", folder, "--format", kind, "--samples", str(SAMPLES), "--nfiles", str(files),
                            "--zero-every", "7", "--max-hits", "120", "--data"], check=True, capture_output=True)
            sources = sorted(folder.iterdir())
            out = test.work / f"{kind}_{files}.nmb"
            options = SPLIT if kind == "cdf5" else ["--block-name", "{group}"]
            test.run("nmcat", *sources, *options, "-o", out)
            test.run("nmverify", out)
            if test.problems:
                return
            test.check(int(test.run("nminspect", "count", out, "--what", "samples")) == SAMPLES, f"{out.name}: other samples")
            results[kind] = blocks_of(out)
            same(test, out.name, results[kind], (classic_sources if kind == "cdf5" else hdf5_sources)(sources))
        whole, empty = without_empty(results["h5"])
        test.check(empty == SAMPLES // 7, f"found {empty} empty lists, expected {SAMPLES // 7}")
        lists = {(sample, key) for sample, block in results["h5"].items() for key in block} - {
            (sample, key) for sample, block in whole.items() for key in block}
        classic = {sample: {k: v for k, v in block.items() if (sample, k) not in lists} for sample, block in results["cdf5"].items()}
        same(test, f"{files} files, both kinds", classic, whole)
        for sample, key in lists:
            test.check(results["cdf5"][sample][key].shape == (2,), f"{sample}/{key}: found {results['cdf5'][sample][key].shape}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
