#!/usr/bin/python3
"""Checks that HDF5 and netCDF-4 files come back from NMB files byte for byte, and that values in originals are right.

    originals_test.py --tools FOLDER

Packs files one by one and together, with and without --no-originals. Compares the SHA-256 of the files that --original
writes, and the HDF5 files that are made from the blocks of both. With NMB_CORPUS, also tests a fifth of the HDF5 and
netCDF-4 files in that folder; with NMB_ALL, all of them.
"""

import csv
import ctypes
import hashlib
import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import tool_runs  # noqa: E402

import h5py  # noqa: E402
import hdf5_library  # noqa: E402
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402
import original_files  # noqa: E402

USER_BLOCK = 65536  # length of a user block, in bytes
UNLIMITED = h5py.h5s.UNLIMITED
CLASSIC = ("CDF-1", "CDF-2", "CDF-5")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contiguous(file):
    file["v"] = np.arange(700001, dtype="f4")
    file["sub/small"] = np.arange(100, dtype="i2")
    file["sub/w"] = np.arange(300, dtype=">i8")


def chunked(file):
    values = np.random.default_rng(1).integers(0, 1000, (900, 700))
    file.create_dataset("v", data=values, chunks=(100, 70), compression="gzip", shuffle=True, fletcher32=True)
    file.create_dataset("w", data=values.astype("f8"), chunks=(90, 700), maxshape=(None, 700))
    file.create_dataset("never", (1000, 1000), "f8", chunks=(100, 100))


def texts(file):
    file.create_dataset("v", data=["x" * n for n in range(500)], dtype=h5py.string_dtype())
    file["refs"] = np.array([file["v"].ref] * 100, dtype=h5py.ref_dtype)
    file["numbers"] = np.arange(10000)
    file.attrs["text"] = "of variable length"


def nothing(file):
    pass


def groups(file):
    for n in range(50):
        file[f"g{n}/v"] = np.arange(n * 40)
        file[f"g{n}"].attrs["number"] = n


def make_hdf5(path, fill, **options):
    with h5py.File(path, "w", **options) as file:
        fill(file)


def make_netcdf4(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 500)
        v = file.createVariable("v", "f8", ("time", "x"), zlib=True)
        v[:] = np.arange(60 * 500).reshape(60, 500)
        v.units = "K"
        inner = file.createGroup("inner")
        inner.createVariable("w", "i4", ("x",))[:] = np.arange(500)


def make_all(test):
    for fill in (contiguous, chunked, texts, nothing, groups):
        make_hdf5(test.work / f"{fill.__name__}.h5", fill)
    make_hdf5(test.work / "late.h5", contiguous, libver="latest")
    make_hdf5(test.work / "user.h5", chunked, userblock_size=USER_BLOCK)
    make_netcdf4(test.work / "model.nc")
    return sorted(path.name for path in test.work.iterdir())


def expect_back(test, packed, block, source, what):
    back = test.work / "back"
    back.unlink(missing_ok=True)
    test.run("nmconvert", packed, "--no-sync", "--original", block, "-o", "back")
    test.check(back.exists() and digest(back) == digest(source), f"{what}: other bytes came back")


def check_one(test, path):
    """Packs one file, and checks its bytes and its blocks. Returns the length of the output, or None if it is refused."""
    test.run("nmcat", "-f", "--no-sync", path, "--digest", "sha256", "-o", "one.nmb", exit_code=None)
    if test.exit_code:
        return None  # refused, with or without originals
    test.run("nmcat", "-f", "--no-sync", path, "--no-originals", "-o", "without.nmb")
    said = test.run("nmverify", "--level", "data", "--originals", "one.nmb")
    test.check("1 of 1 original sound" in said, f"{path}: {said}")
    expect_back(test, "one.nmb", path.stem, path, path)
    files = test.run("nminspect", "files", "one.nmb").split("\t")
    test.check(files[4] == digest(path), f"{path}: {files}")
    # The blocks are the same, whether their values lie in the original or not.
    made = []
    for packed in ("one.nmb", "without.nmb"):
        test.run("nmconvert", "-f", "--no-sync", "--no-check", packed, "made.h5", exit_code=None)
        made.append((test.exit_code, digest(test.work / "made.h5") if test.exit_code == 0 else test.said))
        made[-1] = (made[-1][0], made[-1][1].replace(packed, ""))
    test.check(made[0] == made[1], f"{path}: the blocks differ: {made}")
    return (test.work / "one.nmb").stat().st_size


def check_together(test, names):
    test.run("nmcat", "--no-sync", *names, "-j1", "-o", "all.nmb")
    test.run("nmcat", "--no-sync", *names, "-j3", "-o", "threads.nmb")
    test.check(digest(test.work / "all.nmb") == digest(test.work / "threads.nmb"), "-j3 makes another file")
    test.run("nmverify", "-q", "all.nmb")
    for name in names:
        expect_back(test, "all.nmb", name.split(".")[0], test.work / name, f"{name} of all")
    # An original is also found by its path. Files that are made from this file contain its originals.
    expect_back(test, "all.nmb", names[0], test.work / names[0], "by its path")
    test.run("nmcat", "--no-sync", "all.nmb", "-o", "nested.nmb")
    test.run("nmconvert", "--no-sync", "--repack", "all.nmb", "repacked.nmb")
    for name in names:
        stem = name.split(".")[0]
        expect_back(test, "nested.nmb", f"all/{stem}", test.work / name, f"{name} of nested")
        expect_back(test, "repacked.nmb", stem, test.work / name, f"{name} of repacked")
    sizes = {name: (test.work / name).stat().st_size for name in ("all.nmb", "nested.nmb", "repacked.nmb")}
    test.check(max(sizes.values()) < 1.02 * sizes["all.nmb"], f"values are stored twice: {sizes}")
    for packed in ("nested.nmb", "repacked.nmb"):
        test.run("nmverify", "-q", packed)


def check_beside_damage(test, names):
    """An original comes back although a block is damaged: also the one that became this block."""
    with netCDF4.Dataset(test.work / "first.nc", "w") as file:
        file.createVariable("v", "f8", ())[...] = 1
    with netCDF4.Dataset(test.work / "second.nc", "w") as file:
        file.createVariable("v", "f8", ())[...] = 2
    test.run("nmcat", "--no-sync", "first.nc", "second.nc", "-o", "damaged.nmb")
    layout = [line.split() for line in test.run("nminspect", "layout", "damaged.nmb").splitlines()]
    at = next(int(line[-1]) for line in layout if line[:2] == ["block", "second"])
    content = bytearray((test.work / "damaged.nmb").read_bytes())
    content[at + 200] ^= 255
    (test.work / "damaged.nmb").write_bytes(content)
    test.run("nmverify", "damaged.nmb", exit_code=1)
    test.check("2 of 2 originals sound" in test.run("nmverify", "--level", "index", "--originals", "damaged.nmb"), test.said)
    for name in ("first", "second"):
        expect_back(test, "damaged.nmb", name, test.work / f"{name}.nc", f"{name} beside damage")


def check_appended(test, names):
    test.run("nmcat", "--no-sync", names[0], "-o", "grown.nmb")
    for name in names[1:]:
        test.run("nmcat", "--no-sync", name, "--append", "-o", "grown.nmb")
    test.run("nmverify", "-q", "grown.nmb")
    for name in names:
        expect_back(test, "grown.nmb", name.split(".")[0], test.work / name, f"{name} of grown")


def check_groups_without_file_names(test):
    """Packs inputs that share an empty root group. Each original then belongs to the first group with content."""
    for run in ("r1", "r2"):
        make_hdf5(test.work / f"{run}.h5", lambda file, run=run: file.create_dataset(f"{run}/v", data=np.arange(900)))
    test.run("nmcat", "--no-sync", "r1.h5", "r2.h5", "--block-name", "{group}", "-o", "shared.nmb")
    for run in ("r1", "r2"):
        expect_back(test, "shared.nmb", run, test.work / f"{run}.h5", f"{run} of shared groups")


def check_size(test):
    rng = np.random.default_rng(2)
    with h5py.File(test.work / "large.h5", "w") as file:
        file["v"] = rng.standard_normal(500000)
        file.create_dataset("w", data=rng.standard_normal((2000, 500)), chunks=(50, 100), compression="gzip")
    size = check_one(test, test.work / "large.h5")
    test.check(size <= 1.01 * (test.work / "large.h5").stat().st_size, f"large.h5 became {size} bytes")


def check_many_chunks(test):
    """Packs many small chunks, with each kind of index. The chunks have gaps and any order in the file."""
    rng = np.random.default_rng(3)
    latest = {"libver": "latest"}
    for name, options, maxshape in (
        ("tree", {}, (None, 70, 41)),
        ("user_block", {"userblock_size": 4096}, (None, 70, 41)),
        ("fixed", latest, (400, 70, 41)),
        ("extensible", latest, (None, 70, 41)),
        ("inner", latest | {"userblock_size": 512}, (333, None, 41)),
        ("tree_2", latest | {"fs_strategy": "page", "fs_page_size": 4096}, (None, None, 41)),
    ):
        path = test.work / f"{name}.h5"
        with h5py.File(path, "w", **options) as file:
            v = file.create_dataset("v", (333, 70, 41), "i2", chunks=(10, 7, 10), compression="gzip", shuffle=True,
                                    maxshape=maxshape, fillvalue=7)
            places = [(z, y) for z in range(0, 333, 10) for y in range(0, 70, 7)]
            rng.shuffle(places)
            for z, y in places[: len(places) * 9 // 10]:
                shape = v[z : z + 10, y : y + 7].shape
                v[z : z + 10, y : y + 7] = rng.integers(-30000, 30000, shape)
            wanted = v[:]
            file.create_dataset("w", data=rng.integers(0, 256, 4000000).astype("u1"), chunks=(1024,))
        size = check_one(test, path)
        test.check(size <= 1.15 * path.stat().st_size, f"{name}.h5 became {size} bytes")
        test.run("nmconvert", "-f", "one.nmb", "made.h5")
        with h5py.File(test.work / "made.h5") as made, h5py.File(path) as file:
            test.check((made[f"{name}/v"][:] == wanted).all(), f"{name}.h5: other values of v")
            test.check((made[f"{name}/w"][:] == file["w"][:]).all(), f"{name}.h5: other values of w")


def check_partial_chunks(test):
    """Packs chunks at the edge of a data set to which HDF5 does not apply the filters."""
    values = np.random.default_rng(4).integers(0, 1000, (25, 33))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((10, 10))
    plist.set_shuffle()
    if hdf5_library.LIBRARY.H5Pset_chunk_opts(ctypes.c_int64(plist.id), hdf5_library.PLAIN_EDGES) < 0:
        raise RuntimeError("no chunk options")
    with h5py.File(test.work / "edges.h5", "w", libver="latest") as file:
        for name, most in (("fixed", (25, 33)), ("rows", (UNLIMITED, 33)), ("both", (UNLIMITED, UNLIMITED))):
            space = h5py.h5s.create_simple((25, 33), most)
            h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I64LE, space, plist)
            file[name][:] = values
    check_one(test, test.work / "edges.h5")
    for arguments in (("one.nmb", "made.h5", "--to", "hdf5"), ("edges.h5", "made.h5", "--compress", "deflate")):
        test.run("nmconvert", "-f", *arguments)
        with h5py.File(test.work / "made.h5") as made:
            group = made["edges"] if "edges" in made else made
            for name in ("fixed", "rows", "both"):
                test.check((group[name][:] == values).all(), f"edges.h5: other values of {name} {arguments}")


def check_stored_twice(test):
    """A note says how many bytes of values are stored twice. There is no note if they are few."""
    path = test.work / "few.h5"
    with h5py.File(path, "w") as file:
        file["v"] = np.arange(100000)
        file["text"] = np.array(["x" * 99] * 9, dtype=object)
    note = "bytes of values twice"
    for name, noted in (("texts", True), ("contiguous", False), ("few", False)):
        for command in (("nmcat", f"{name}.h5", "-o", "noted.nmb"), ("nmconvert", f"{name}.h5", "noted.nmb")):
            test.run(*command, "-f", "--no-sync")
            test.check((note in test.said) == noted, f"{name}: {command[0]} said {test.said!r}")
    report = json.loads(test.run("nmcat", "-f", "--no-sync", "--json", "few.h5", "-o", "noted.nmb"))
    # 9 strings of 99 bytes, and 16 bytes that refer to each of them.
    test.check(900 <= report["stored_twice"] <= 1200, f"few: {report['stored_twice']} bytes are stored twice")
    test.run("nmcat", "-f", "--no-sync", "--no-originals", "texts.h5", "-o", "noted.nmb")
    test.check(note not in test.said, f"no originals: said {test.said!r}")


def check_sizes(test):
    """Packs a file of each form of HDF5 together. tests/bench/run_benchmarks.py does the same with large files."""
    for kind in original_files.KINDS:
        if kind != "data_sets":  # has too many objects for a small file
            original_files.make(kind, test.work / f"{kind}.h5", 4_000_000)
    paths = [test.work / f"{kind}.h5" for kind in original_files.KINDS if kind not in ("data_sets", "strings")]
    for path in paths:
        size = check_one(test, path)
        test.check(size <= 1.01 * path.stat().st_size + 65536, f"{path.name} became {size} bytes")


def check_small_arrays(test):
    """Packs arrays whose sizes are not multiples of 8. Arrays that follow each other need one row of a data map."""
    path = test.work / "arrays.h5"
    with h5py.File(path, "w", libver="latest") as file:
        for n in range(1000):
            file.create_dataset(f"g{n // 100}/v{n % 100}", data=np.arange(n, n + 3001).astype("u1"))
    size = check_one(test, path)
    growth = size - path.stat().st_size
    test.check(growth <= 45000, f"arrays.h5 became {growth} bytes longer")


def check_reads(test):
    """nmverify reads the bytes of small originals once: for their digests, for their blocks, and to decode chunks. Other
    values are read twice if they are tables of chunks."""
    size = (test.work / "all.nmb").stat().st_size
    report = json.loads(test.run("nmverify", "--json", "all.nmb"))
    read = report["summary"]["bytes_read"]
    test.check(read <= 1.25 * size, f"all.nmb: read {read} bytes of {size}")


def check_corpus(test, corpus):
    with open(os.path.join(corpus, "INDEX.tsv"), encoding="utf-8") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["kind"] not in CLASSIC]
    paths = [Path(corpus, row["path"]) for row in rows[:: 1 if tool_runs.ALL else 5]]
    packed = [path for path in paths if path.exists() and check_one(test, path)]
    test.check(packed, "no file of the collection was packed")


def check(test):
    names = make_all(test)
    for name in names:
        check_one(test, test.work / name)
    check_together(test, names)
    check_reads(test)
    check_beside_damage(test, names)
    check_appended(test, names)
    check_groups_without_file_names(test)
    check_size(test)
    check_many_chunks(test)
    check_partial_chunks(test)
    check_stored_twice(test)
    check_sizes(test)
    check_small_arrays(test)
    if corpus := os.environ.get("NMB_CORPUS"):
        check_corpus(test, corpus)


if __name__ == "__main__":
    sys.exit(tool_runs.main(__doc__, check))
