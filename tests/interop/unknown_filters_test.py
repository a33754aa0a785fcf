#!/usr/bin/python3
"""HDF5 files whose chunks have a filter that is not installed: the files are packed, and everything but the values of
these chunks is read. Values with lzf, which h5py has and HDF5 has not, are read.

    unknown_filters_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import json
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, numpy  # noqa: E402

LZF, NOBODYS = 32000, 405
NUMBERS = numpy.arange(1000, dtype="<i4")
TABLE = [("id", "<i4"), ("name", h5py.string_dtype())]


def make(path, number):
    """Values of fixed and of variable length with filter lzf. The file may name another filter in its place."""
    with h5py.File(path, "w") as file:
        lzf = {"chunks": (50,), "compression": "lzf"}
        obs = file.create_group("obs")
        names = obs.create_dataset("names", data=["alpha", "beta", "gamma"] * 50, dtype=h5py.string_dtype(), **lzf)
        names.attrs["about"] = "cells"
        obs.create_dataset("table", data=numpy.array([(i, f"row {i}") for i in range(100)], TABLE), **lzf)
        obs.create_dataset("unwritten", (100,), h5py.string_dtype(), **lzf)
        obs.create_dataset("numbers", data=NUMBERS, **lzf)
        file["plain"] = NUMBERS
        file["words"] = numpy.array(["one", "two"], h5py.string_dtype())
        file["z/same"] = names
        file["reference"] = names.ref
    if number != LZF:
        content = path.read_bytes()
        old, new = (n.to_bytes(2, "little") for n in (LZF, number))
        name = b"lzf\0"
        at = content.find(name)
        while at >= 0:
            # filter, length of the name, flags, number of parameters, name
            if content[at - 8 : at - 6] == old:
                content = content[: at - 8] + new + content[at - 6 :]
            at = content.find(name, at + 1)
        path.write_bytes(content)


def values(test, file, name):
    return json.loads(test.run("nminspect", "dump", file, name, "--json"))["values"]


def check_nowhere(test, file):
    """nmverify names the variables whose values are not in the file."""
    found = test.run("nmverify", file)
    for variable in "names", "table":
        test.check(f"variable {variable}: found values that were not decoded" in found, f"{file}: nmverify says {found}")
    test.check("(R-H5-2)" in found, f"{file}: nmverify says {found}")
    test.run("nmverify", file, "--strict", exit_code=1)
    found = test.run("nmverify", "--plan", file, exit_code=3)
    test.check(found.count("use an undamaged copy of the source") == 2, f"{file}: --plan says {found}")


def check_nested(test, path):
    """An original does not have the values of a file that lies below its block."""
    with h5py.File(test.work / "above.h5", "w") as file:
        file["x"] = NUMBERS
    append = ("nmcat", "-q", "--append", path, "-o", "nested.nmb", "--block-name", "above/below/{group}")
    for more in [], ["--no-originals", "--lossy"]:
        test.run("nmcat", "-q", "above.h5", "-o", "nested.nmb", "-f")
        test.run(*append, *more)
        if more:
            check_nowhere(test, "nested.nmb")
        else:
            test.run("nmverify", "--strict", "nested.nmb")
            content = bytearray((test.work / "nested.nmb").read_bytes())
            content[content.rindex((test.work / path).read_bytes()[:100]) + 20] ^= 1
            (test.work / "nested.nmb").write_bytes(content)
            (test.work / "found.nmb").unlink(missing_ok=True)
            found = test.run("nmverify", "--recover", "found.nmb", "nested.nmb", exit_code=3)
            test.check('below/obs/names": its values were not decoded' in found, f"nested: says {found}")
            check_nowhere(test, "found.nmb")


def check_lzf(test):
    """Chunks of numbers are copied; values of variable length are decoded, and encoded again in an HDF5 output."""
    make(test.work / "lzf.h5", LZF)
    test.run("nmverify", "--strict", "lzf.h5")
    test.run("nmconvert", "lzf.h5", "lzf.nmb", "--strict")
    test.run("nmcat", "lzf.h5", "-o", "packed.nmb", "--no-originals", "--strict")
    test.run("nmconvert", "lzf.nmb", "lzf_back.h5", "--strict")
    names = ["alpha", "beta", "gamma"] * 50
    for file, inner in ("lzf.h5", ""), ("lzf.nmb", ""), ("packed.nmb", "lzf/"), ("lzf_back.h5", ""):
        test.check(values(test, file, f"{inner}obs/numbers") == NUMBERS.tolist(), f"{file}: numbers: other values")
        test.check(values(test, file, f"{inner}obs/names") == names, f"{file}: names: other values")
    with h5py.File(test.work / "lzf_back.h5") as back, h5py.File(test.work / "lzf.h5") as before:
        for name in "obs/names", "obs/table", "obs/numbers":
            test.check(back[name].id.get_create_plist().get_filter(0)[0] == LZF, f"{name}: another filter")
            test.check(numpy.array_equal(back[name][...], before[name][...]), f"{name}: other values for h5py")
        stored = back["obs/names"].id.get_chunk_info(0)
        test.check(stored.filter_mask == 0 and stored.size < 50 * 16, f"names: {stored}")


def check_file(test, name, number):
    work, told = test.work, f"filter {number} (lzf) was not installed"
    path, archive = f"{name}.h5", f"{name}.nmb"
    make(work / path, number)
    for tool, where, call in (("nmcat", f"{name}/", ("nmcat", path, "-o", archive)), ("nmconvert", "", ("nmconvert", path, archive))):
        test.run(*call, "-f")
        said = test.said
        for variable in "names", "table":
            line = f'variable "/obs/{variable}"'
            test.check(line in said and told in said and "original" in said, f"{tool}: does not tell of {line}: {said}")
        test.check("unwritten" not in said and "numbers" not in said, f"{tool}: tells of other variables: {said}")
        test.run("nmverify", archive)
        original = f"{name}_original.h5"
        block = name if tool == "nmcat" else "/"
        test.run("nmconvert", archive, original, "--original", block, "-f")
        test.check((work / original).read_bytes() == (work / path).read_bytes(), f"{tool}: another original")
        for file, inner in ((archive, where), (path, "")):
            test.check(values(test, file, f"{inner}plain") == NUMBERS.tolist(), f"{file}: plain: other values")
            test.check(values(test, file, f"{inner}words") == ["one", "two"], f"{file}: words: other values")
            test.check(set(values(test, file, f"{inner}obs/unwritten")) <= {"", None}, f"{file}: unwritten: has values")
            test.check("cells" in test.run("nminspect", "header", file), f"{file}: another header")
            for variable in "obs/names", "obs/table":
                out = test.run("nminspect", "dump", file, f"{inner}{variable}", exit_code=2, says=told)
                test.check("alpha" not in out and '""' not in out, f"{file}: {variable}: shows {out}")
            test.run("nminspect", "dump", file, f"{inner}obs/numbers", exit_code=2, says=f"filter {number}")
    # Without the original, the values would be lost.
    nmcat = [("nmcat", more) for more in (["--no-originals"], ["--mode", "union"], ["--compress", "zstd"], ["--dry-run", "--shuffle"])]
    for file in path, archive:
        for tool, more in (*nmcat, ("nmconvert", ["--no-originals"])):
            out, lossy = (["-o"] if tool == "nmcat" else []) + ["no.nmb"], "lossy.nmb"
            test.run(tool, file, *out, *more, exit_code=1, says=told)
            said = test.said
            test.check('"/' in said and "obs/names" in said and "--lossy" in said, f"{tool} {more}: says {said}")
            test.check(tool == "nmconvert" or "keep the originals" in said, f"{tool} {more}: says {said}")
            test.check(not (work / "no.nmb").exists(), f"{tool} {more}: wrote a file")
            # With -q, the values are named too; a copy of a file without them has no more losses.
            if "--dry-run" not in more:
                test.run(tool, file, *out[:-1], lossy, *more, "--lossy", "-f", "-q", says=told)
                test.run("nmcat", lossy, "-o", "again.nmb", "-f", says="use an undamaged copy of the source")
                test.run("nmcat", lossy, "-o", "no.nmb", "--strict", exit_code=1, says=told)
                check_nowhere(test, lossy)
    # So they are if the original is lost, or the block that it became, or the list of originals.
    content = (work / archive).read_bytes()
    original, table = content.index(b"\x89HDF", 16384), content.index(b"\x89NMBFILE", 16384)
    for what, places, says in (
        ("the superblock in the original", [original + 20], "original"),
        ("values of the original and of its block", [content.index(NUMBERS.tobytes(), original)], "original"),
        ("the block of the original", [16384 + 30], "the original is whole, and nmconvert --original"),
        ("the original and its block", [original + 20, 16384 + 30], "original"),
        ("the file table", [table + 40], "the file table"),
    ):
        damaged = bytearray(content)
        for place in places:
            damaged[place] ^= 1
        (work / "lost.nmb").write_bytes(damaged)
        for left in "found.nmb", "found.h5":
            (work / left).unlink(missing_ok=True)
        for more in ["--recover", "found.nmb"], ["--plan"]:
            found = test.run("nmverify", *more, "lost.nmb", exit_code=3)
            test.check(says in found, f"{what} lost: says {found}")
            for variable in "names", "table":
                line = f'obs/{variable}": its values were not decoded'
                test.check(line in found, f"{what} lost: says {found}")
        check_nowhere(test, "found.nmb")
        if "--original" in says:
            test.run("nmconvert", "lost.nmb", "--original", path, "-o", "found.h5")
            test.check((work / "found.h5").read_bytes() == (work / path).read_bytes(), f"{what} lost: another original")
            # No reader opens a cut file, so nothing is promised that nmconvert refuses.
            (work / "lost.nmb").write_bytes(damaged[:-10])
            found = test.run("nmverify", "--recover", "found.nmb", "lost.nmb", "-f", exit_code=3)
            test.check("is not recovered" in found and "nmconvert" not in found, f"{what} lost, cut: says {found}")
            test.run("nmconvert", "lost.nmb", "--original", path, "-o", "no.h5", exit_code=1, says="cut")
    # Without a superblock, nobody knows of originals.
    damaged = bytearray(content)
    damaged[4096:12288] = bytes(8192)
    (work / "lost.nmb").write_bytes(damaged[:table])
    (work / "found.nmb").unlink()
    found = test.run("nmverify", "--recover", "found.nmb", "lost.nmb", exit_code=3)
    test.check('obs/names": its values were not decoded' in found, f"superblocks lost: says {found}")
    check_nowhere(test, "found.nmb")
    test.run("nmverify", "--recover", "found.nmb", "-f", archive)
    check_nested(test, path)
    test.run("nmverify", path)
    test.check(told in test.said or told in test.run("nmverify", path, "--json"), "nmverify: does not tell of the filter")
    # Chunks of numbers are copied as they are. The other values are listed, and written only if that is allowed.
    for source in path, archive:
        test.run("nmconvert", source, "no.h5", exit_code=1, says=told)
        test.check("obs/names" in test.said and "obs/table" in test.said, f"{source} to HDF5: says {test.said}")
        back = f"{name}_back.h5"
        test.run("nmconvert", source, back, "--lossy", "-f", says="written without values")
        with h5py.File(work / back) as file:
            test.check(file["obs/numbers"].id.get_create_plist().get_filter(0)[0] == number, f"{back}: another filter")
            found = file["obs/numbers"].id.read_direct_chunk((0,))
            with h5py.File(work / path) as before:
                test.check(found == before["obs/numbers"].id.read_direct_chunk((0,)), f"{back}: other chunks")
            test.check(numpy.array_equal(file["plain"], NUMBERS), f"{back}: plain: other values")
            test.check(file["words"].asstr()[:].tolist() == ["one", "two"], f"{back}: words: other values")
            test.check(file["obs/names"].shape == (150,), f"{back}: names: another shape")
    left = [p.name for p in work.iterdir() if p.name.startswith((".", "no."))]
    test.check(not left, f"left behind: {left}")


def check(test):
    check_lzf(test)
    check_file(test, "nobodys", NOBODYS)
    # A view names what it leaves out, also in a view that shows values of variable length.
    for more in (), ("--view-copies",):
        test.run("nmcat", "nobodys.h5", "-o", "view.nmb", "-f", "--hdf5-view", "on", *more)
        test.check("names" in test.said, f"view {more}: says {test.said}")
        test.run("nmverify", "view.nmb")
        with h5py.File(test.work / "view.nmb") as file:
            test.check("names" not in file["nobodys/obs"] and "unwritten" not in more, f"view {more}: shows names")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
