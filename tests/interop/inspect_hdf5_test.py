#!/usr/bin/python3
"""nminspect and nmverify on HDF5 and netCDF-4 files: nminspect shows the same for a file and for its conversion by
nmconvert; nmverify finds damage and its place.

    inspect_hdf5_test.py --tools FOLDER

On files that it makes, and on those below hdf5/, netcdf4/, cgns/ and hep/ of NMB_CORPUS if that is set: a twelfth of them,
all with NMB_ALL=1. Skipped (exit code 77) without h5py or netCDF4-python.
"""

import json
import os
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from nmconvert_hdf5_test import make_hdf5, make_netcdf4  # noqa: E402
from tool_runs import h5py, main, netCDF4, numpy, some  # noqa: E402

FOLDERS = "hdf5", "netcdf4", "cgns", "hep"
WHATS = "objects", "blocks", "dims", "atts", "records", "samples"
GLOBS = "*", "**", "*/*", "**/*a*", "a/**", "a**", "nothing"
OF_A_FILE = "position", "header_stored"  # what an index has


def blocks(said):
    rows = [json.loads(line) for line in said.splitlines()]
    return [{key: value for key, value in row.items() if key not in OF_A_FILE} for row in rows]


def check_same(test, name, number=None):
    """Beside the file lies what nmconvert made of it. number: of a file of many, which share what there is to ask."""
    whole = number is None
    made = str(Path(name).with_suffix(".nmb"))

    def both(*command, same=lambda said: said):
        found, expected = (test.run("nminspect", command[0], file, *command[1:]) for file in (name, made))
        words = " ".join(command)
        test.check(same(found) == same(expected), f"{name}: nminspect {words}: {found[:300]!r}, not {expected[:300]!r}")
        return found

    for i, what in enumerate(WHATS):
        if whole or i == number % len(WHATS):
            both("count", "--what", what)
        for glob in GLOBS if whole else ("**",) * (i == (number + 3) % len(WHATS)):
            both("count", "--what", what, glob)
    rows = blocks(both("ls", "--jsonl", same=blocks))
    for glob in GLOBS if whole else ("**/*a*",):
        both("ls", "--what", "objects", "-l", glob)
    for i, row in enumerate(rows if whole else rows[:2]):
        block = row["name"] or "/"
        if whole or i == 0:
            both("header", block)
        if whole or i == 1:
            both("header", block, "--json")
    if not whole:
        return
    both("ls")
    both("ls", "--limit", "2", "--sort", "name")
    for line in both("ls", "--what", "objects", "--jsonl").splitlines():
        both("dump", json.loads(line)["name"])


def check_made_files(test):
    for name in ("many.h5", "four.nc"):
        test.run("nmconvert", name, f"{Path(name).stem}.nmb")
        check_same(test, name)
        test.run("nmverify", name)
        for level in ("index", "blocks", "data"):
            document = json.loads(test.run("nmverify", "--json", "--level", level, name))["files"][0]
            test.check(document["sound"] and document["kind"] == "HDF5", f"{name}: {level}: {document}")
        groups = int(test.run("nminspect", "count", "--what", "blocks", name))
        found = document["blocks"]
        test.check(found == {"recorded": groups, "sound": groups, "damaged": 0}, f"{name}: blocks {found}")
    summary = json.loads(test.run("nminspect", "--json", "many.h5"))
    test.check(
        (summary["kind"], summary["blocks"], summary["objects"]) == ("HDF5", 3, 14), f"summary of many.h5: {summary}"
    )
    (test.work / "list").write_text("many.h5\nfour.nc\n")
    said = test.run("nmverify", "--files-from", "list")
    test.check("2 files: 2 sound" in said, f"nmverify of two files: {said}")


def check_failures(test):
    work = test.work
    whole = (work / "many.h5").read_bytes()
    (work / "cut.h5").write_bytes(whole[: len(whole) // 2])
    (work / "text.h5").write_text("text")
    for tool in ("nminspect", "nmverify"):
        test.run(tool, "text.h5", exit_code=2, says="found no known signature")
        test.run(tool, "many.h5", exit_code=2, says="nmb-hdf5", environment={"NMB_PLUGIN_PATH": "/nowhere"})
        test.run(tool, "many.h5", exit_code=2, says="temporary", environment={"TMPDIR": "/nowhere"})
    test.run("nminspect", "many.h5", environment={"TMPDIR": ""})
    half = len(whole) // 2
    cut = f"cut.h5: at {half}: cut: found {half} bytes, expected {len(whole)}; copy or write the file again"
    for tool, call in (("nminspect", ["cut.h5"]), ("nmconvert", ["cut.h5", "no.nmb"]), ("nmcat", ["cut.h5", "-o", "no.nmb"])):
        test.run(tool, *call, exit_code=1, says=cut)
    for driver, options, name in (("family", {"memb_size": 4096}, "family%d.h5"), ("split", {}, "split")):
        with h5py.File(work / name, "w", driver=driver, **options) as file:
            file["x"] = numpy.arange(3000.0)
    for member in ("family0.h5", "split-m.h5"):
        test.run("nmcat", member, "-o", "no.nmb", exit_code=2, says="h5repack")
    said = test.run("nmverify", "cut.h5", exit_code=1)
    test.check(cut in said, f"nmverify cut.h5: {said}")
    test.run("nminspect", "header", "many.h5", "nosuch", exit_code=2, says='found no block "nosuch"')
    test.run("nminspect", "dump", "many.h5", "a/nosuch", exit_code=2, says='found no variable "nosuch" in block "a"')


def take_filter_away(path):
    """Replaces the filter lzf by 405, which nobody has. The number of a filter is stored 8 bytes before its name."""
    content = bytearray(path.read_bytes())
    at = content.index(b"lzf\0") - 8
    content[at : at + 2] = (405).to_bytes(2, "little")
    path.write_bytes(content)


def check_other_filter(test):
    with h5py.File(test.work / "lzf.h5", "w") as file:
        file.create_dataset("packed", data=numpy.zeros((40, 8), "i4"), chunks=(10, 8), compression="lzf")
        file["plain"] = 1
    said = test.run("nminspect", "dump", "lzf.h5", "packed", "--json")
    test.check(json.loads(said)["values"] == [[0] * 8] * 40, f"nminspect dump lzf.h5: {said}")
    test.run("nmverify", "lzf.h5", "--strict")
    take_filter_away(test.work / "lzf.h5")
    test.run("nminspect", "dump", "lzf.h5", "packed", exit_code=2, says="filter 405")
    test.run("nminspect", "dump", "lzf.h5", "plain")
    said = test.run("nmverify", "lzf.h5")
    test.check("warning: found chunks that were not decoded (filter 405 (lzf" in said, f"nmverify lzf.h5: {said}")
    test.check("): 4, variables: 1" in said, f"nmverify lzf.h5: {said}")
    test.run("nmverify", "lzf.h5", "--strict", exit_code=1)
    # They are kept as they are, and then are no better known.
    test.run("nmconvert", "lzf.h5", "lzf.nmb")
    said = test.run("nmverify", "lzf.nmb")
    test.check("warning: found chunks that were not decoded (filter 405 (lzf" in said, f"nmverify lzf.nmb: {said}")
    test.check("): 4, variables: 1" in said, f"nmverify lzf.nmb: {said}")
    test.run("nmverify", "lzf.nmb", "--strict", exit_code=1)
    # HDF5 itself must read strings of variable length, and for this it needs the filter. The rest of the file can be read.
    with h5py.File(test.work / "texts.h5", "w") as file:
        file.create_dataset("s", data=["one", "two"], dtype=h5py.string_dtype(), chunks=(1,), compression="lzf")
        file["plain"] = numpy.arange(3)
    take_filter_away(test.work / "texts.h5")
    test.run("nmcat", "texts.h5", "-o", "texts.nmb", says="filter 405 (lzf)")
    for name, block in (("texts.h5", ""), ("texts.nmb", "texts/")):
        test.run("nminspect", name)
        test.run("nminspect", "dump", name, f"{block}plain")
        test.run("nminspect", "dump", name, f"{block}s", exit_code=2, says="filter 405 (lzf)")
    said = test.run("nmverify", "texts.h5")
    test.check("filter 405 (lzf)" in said, f"nmverify texts.h5: {said}")
    test.run("nmverify", "texts.h5", "--strict", exit_code=1)


def check_other_files(test):
    with h5py.File(test.work / "outside.h5", "w") as file:
        file.create_dataset("v", (10,), "i4", external=[(str(test.work / "raw"), 0, 40)])
    said = test.run("nmverify", "outside.h5")
    test.check("values are in other files and were not read: 1" in said, f"nmverify outside.h5: {said}")


def check_damaged_chunks(test):
    options = {"gzip": {"compression": "gzip"}, "sum": {"fletcher32": True}}
    with h5py.File(test.work / "damaged.h5", "w") as file:
        for name, filters in options.items():
            file.create_dataset(f"a/{name}", data=numpy.arange(400).reshape(20, 20), chunks=(10, 10), **filters)
        file["sound/v"] = 1
        places = {name: file["a"][name].id.get_chunk_info(2) for name in options}
    content = bytearray((test.work / "damaged.h5").read_bytes())
    for place in places.values():
        content[place.byte_offset + place.size // 2] ^= 255
    (test.work / "damaged.h5").write_bytes(content)
    said = test.run("nmverify", "damaged.h5", exit_code=1)
    for name, place in places.items():
        expected = f'at {place.byte_offset}: block "a", variable {name}, chunk 2: found a chunk '
        test.check(expected in said, f"nmverify damaged.h5: expected {expected!r}: {said}")
    test.check('block "a" is not sound' in said and "2 of 3 blocks sound, 2 findings" in said, said)
    for threads in ("1", "3"):
        test.check(test.run("nmverify", "-j", threads, "damaged.h5", exit_code=1) == said, f"-j {threads} says other")
    test.run("nmverify", "--level", "blocks", "damaged.h5")
    test.run("nminspect", "dump", "damaged.h5", "a/sum", exit_code=1, says="chunk 2: found a chunk with a wrong checksum")
    test.run("nminspect", "dump", "damaged.h5", "sound/v")


def check_shared_bytes(test):
    path = test.work / "shared.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file["a"], file["b"] = numpy.arange(100), numpy.arange(100, 200)
        a, b = (file[name].id.get_offset() for name in "ab")
    content = path.read_bytes()
    test.check(content.count(b.to_bytes(8, "little")) == 1, "shared.h5: no single place of b")
    path.write_bytes(content.replace(b.to_bytes(8, "little"), (a + 8).to_bytes(8, "little")))
    said = test.run("nmverify", "shared.h5", exit_code=1)
    test.check(f'at {a + 8}: block "": found values that share bytes with other values' in said, f"nmverify shared.h5: {said}")


def check_reads(test):
    """Of a file of one large variable only the head is read to see what there is."""
    with h5py.File(test.work / "large.h5", "w") as file:
        file["v"] = numpy.zeros(1 << 20)
    for command in (["summary"], ["count"], ["ls", "-l"], ["header"]):
        test.run("nminspect", command[0], "--io-stats", "large.h5", *command[1:], says="large.h5: reads 2, bytes 16388")


def check_large_elements(test):
    """Elements longer than what is read at a time, and no elements at all."""
    with h5py.File(test.work / "large.h5", "w") as file:
        file["texts"] = numpy.array([b"a" * 3000000, b"b" * 3000000], "S3000000")
        file["one"] = numpy.array(b"q" * 2000001, "S2000001")
        file["record"] = numpy.ones(2, numpy.dtype([("a", "<i4", (400000,))]))
        file.create_dataset("chunked", data=numpy.array([b"x" * 2000000] * 3, "S2000000"), chunks=(2,), compression="gzip")
        file["nothing"] = h5py.Empty("f4")
    test.run("nmconvert", "large.h5", "large.nmb", "-f")
    for name in "large.h5", "large.nmb":
        def dump(*words):
            return test.run("nminspect", "dump", name, *words)

        test.check(json.loads(dump("texts", "--json"))["values"] == ["a" * 3000000, "b" * 3000000], f"{name}: texts")
        test.check(dump("texts", "--slab", "1").strip() == '"' + "b" * 3000000 + '"', f"{name}: a part of texts")
        test.check(dump("one").strip() == '"' + "q" * 2000001 + '"', f"{name}: one")
        test.check(json.loads(dump("record", "--json"))["values"] == [{"a": [1] * 400000}] * 2, f"{name}: record")
        test.check(json.loads(dump("chunked", "--json"))["values"] == ["x" * 2000000] * 3, f"{name}: chunked")
        test.check(dump("nothing") == "NULL\n", f"{name}: nothing: {dump('nothing')}")
        test.check(json.loads(dump("nothing", "--json"))["values"] is None, f"{name}: nothing as JSON")


def check_find(test):
    """Text of all forms that netCDF-4 and HDF5 have: compared as text."""
    with h5py.File(test.work / "texts.h5", "w") as file:
        tas = file.create_dataset("tas", data=numpy.arange(3))
        tas.attrs["fixed"] = numpy.bytes_("K")
        tas.attrs.create("variable", "K", dtype=h5py.string_dtype())
        tas.attrs.create("ascii", "K", dtype=h5py.string_dtype("ascii"))
        tas.attrs.create("padded", b"K", dtype="S8")
        tas.attrs.create("in_array", ["K"], dtype=h5py.string_dtype())
        tas.attrs.create("fixed_in_array", numpy.array([b"K"]))
        tas.attrs.create("characters", numpy.array([b"K", b"m"]))
        tas.attrs.create("two", ["K", "m"], dtype=h5py.string_dtype())
        tas.attrs.create("empty", "", dtype=h5py.string_dtype())
        tas.attrs.create("number", numpy.int32(7))
        file.attrs["model"] = "one"
    with netCDF4.Dataset(test.work / "texts.nc", "w") as file:
        file.model = "one"
        file.createDimension("x", 3)
        tas = file.createVariable("tas", "f4", ("x",))
        tas.units, tas.fixed = "K", "K"
        tas.setncattr_string("variable", "K")
        tas.setncattr("number", numpy.int64(7))
        tas.setncattr_string("empty", "")
    for stem, ending in (("texts", ".h5"), ("texts", ".nc")):
        test.run("nmconvert", stem + ending, f"find{ending}.nmb", "-f")
        test.run("nmcat", stem + ending, "-o", f"find{ending}.cat.nmb", "-f")
        names = ["fixed", "variable"] + (["ascii", "padded", "in_array", "fixed_in_array"] if ending == ".h5" else ["units"])
        for file in (stem + ending, f"find{ending}.nmb", f"find{ending}.cat.nmb"):
            for name in names:
                for expression, found in ((f'tas@{name} == "K"', 1), (f'tas@{name} != "K"', 0), (f'tas@{name} < "L" && model == "one"', 1)):
                    lines = test.run("nminspect", "find", file, expression).splitlines()
                    test.check(len(lines) == found, f"{file}: {expression}: {lines}")
            test.check(test.run("nminspect", "find", file, "tas@number == 7 && tas@empty == ''").count("\n") == 1, f"{file}: number")
            test.run("nminspect", "find", file, 'tas@number == "7"', exit_code=2, says="cannot compare a number with text")
    test.check(test.run("nminspect", "find", "texts.h5", 'tas@characters == "Km"').count("\n") == 1, "characters")
    test.run("nminspect", "find", "texts.h5", 'tas@two == "K"', exit_code=2, says="attribute tas@two has 2")


def check_corpus(test, corpus):
    files = 0
    for folder in FOLDERS:
        found = [path for path in sorted((corpus / folder).rglob("*")) if path.is_file() and h5py.is_hdf5(path)]
        for path in some(found, 12):
            name = f"file{path.suffix}"
            shutil.copy(path, test.work / name)
            files += 1
            before = len(test.problems)
            test.run("nmconvert", name, "file.nmb", "-f", exit_code=None)
            if test.exit_code == 0:
                test.run("nmverify", "-q", name)
                check_same(test, name, files)
            else:
                expected = test.exit_code
                test.run("nminspect", name, exit_code=expected)
                test.run("nmverify", name, exit_code=expected)
            test.problems[before:] = [f"{path.relative_to(corpus)}: {one}" for one in test.problems[before:]]
            (test.work / name).unlink()
    test.check(files > 0, f"no HDF5 files below {corpus}")


def check(test):
    make_hdf5(test.work / "many.h5")
    make_netcdf4(test.work / "four.nc")
    check_made_files(test)
    check_failures(test)
    check_other_filter(test)
    check_other_files(test)
    check_damaged_chunks(test)
    check_shared_bytes(test)
    check_reads(test)
    check_large_elements(test)
    check_find(test)
    if corpus := os.environ.get("NMB_CORPUS"):
        check_corpus(test, Path(corpus))


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
