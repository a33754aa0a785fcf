#!/usr/bin/python3
"""What programs of netCDF-C show of files that were converted to NMB, without a view, is what they show of the originals: ncdump
(also with special attributes), nccopy, ncks. Originals: generated ones, and classic and netCDF-4 files of NMB_CORPUS, of which
every fourth takes part; with NMB_ALL=1, all. A file with a view shows the same by HDF5. What cannot be done has the right code.

    programs_test.py --tools FOLDER
"""

import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))
from generated_files import make_file  # noqa: E402
from tool_runs import main, some  # noqa: E402

# What these show differs in each run: the file has values that were never written, and no fill value.
NOT_REPEATABLE = {"file2.nc"}
# Special attributes that tell of the file, and not of its content.
OF_FILE = (":_NCProperties", ":_SuperblockVersion", ":_IsNetcdf4", ":_Format", ":_Storage", ":_Endianness", ":_NoFill")


def shown(test, words, file):
    """What a program prints of a file, without its name."""
    text = test.run("nmb-run", *words, file, exit_code=None)
    return test.exit_code, [line for line in text.splitlines() if not line.startswith("netcdf ")]


def without_file(lines):
    return [line for line in lines if not any(f"{name} =" in line for name in OF_FILE)]


def same(test, what, got, wanted):
    if got == wanted:
        return
    lines = [(a, b) for a, b in zip(got[1] + ["(end)"], wanted[1] + ["(end)"]) if a != b]
    test.check(False, f"{what}: exit codes {got[0]} and {wanted[0]}, first difference {lines[:1]}")


def compare(test, source):
    test.run("nmconvert", "-f", "-q", "--hdf5-view", "off", source, "x.nmb")
    for words in (["ncdump"], ["ncks"]):
        same(test, f"{words[0]} {source}", shown(test, words, "x.nmb"), shown(test, words, source))
    wanted, got = shown(test, ["ncdump", "-h", "-s"], source), shown(test, ["ncdump", "-h", "-s"], "x.nmb")
    if wanted[0] == 0:  # some classic files are too much for it
        same(test, f"ncdump -s {source}", (got[0], without_file(got[1])), (wanted[0], without_file(wanted[1])))
    for end, file in (("nmb", "x.nmb"), ("nc", source)):
        test.run("nmb-run", "nccopy", file, f"{end}.copy", exit_code=None)
    got = shown(test, ["ncdump"], "nmb.copy")
    if got != shown(test, ["ncdump"], source):  # nccopy changes some sequences
        same(test, f"nccopy {source}", got, shown(test, ["ncdump"], "nc.copy"))


def corpus_files():
    corpus = os.environ.get("NMB_CORPUS")
    for kind in ("classic", "netcdf4") if corpus else ():
        files = sorted(path for path in (Path(corpus) / kind).rglob("*") if path.is_file() and path.name not in NOT_REPEATABLE)
        yield from some(files, 4)


def views(test):
    make_file(test.work / "v.nc", 1)
    test.run("nmconvert", "-f", "-q", "--hdf5-view", "off", "v.nc", "v.nmb")
    wanted = shown(test, ["ncdump"], "v.nmb")
    test.run("nmconvert", "-q", "--add-hdf5-view", "v.nmb")
    same(test, "a file with a view", shown(test, ["ncdump"], "v.nmb"), wanted)


def packed(test):
    for name in ("one", "two"):
        make_file(test.work / f"{name}.nc", 2)
    test.run("nmcat", "-f", "-q", "one.nc", "two.nc", "-o", "both.nmb")
    _, lines = shown(test, ["ncdump", "-h"], "both.nmb")
    for name in ("one", "two"):
        test.check(f"group: {name} {{" in lines, f"ncdump shows no group {name}")


def damaged(test):
    make_file(test.work / "d.nc", 3)
    test.run("nmconvert", "-f", "-q", "--hdf5-view", "off", "d.nc", "d.nmb")
    data = bytearray((test.work / "d.nmb").read_bytes())
    whole = shown(test, ["ncdump"], "d.nmb")
    for place in range(0, len(data), max(1, len(data) // 60)):
        data[place] ^= 0x10
        (test.work / "e.nmb").write_bytes(data)
        data[place] ^= 0x10
        code, lines = shown(test, ["ncdump"], "e.nmb")
        test.check(code in (0, 1), f"byte {place} is damaged: exit code {code}")
        test.check(code == 1 or (code, lines) == whole, f"byte {place} is damaged: other values without an error")


def check(test):
    for file in corpus_files():
        compare(test, file)
    for seed in range(6):
        make_file(test.work / f"{seed}.nc", seed)
        compare(test, f"{seed}.nc")
    views(test)
    packed(test)
    damaged(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
