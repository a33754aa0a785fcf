#!/usr/bin/python3
"""Values in coded pieces: nmconvert and nmcat --compress of classic files, which come back byte for byte.

    compressed_values.py --tools FOLDER
"""

import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import SPLIT  # noqa: E402
from tool_runs import Skip, classic_files, main  # noqa: E402

PIECE = 1 << 20


def classic(path, seed, length=5 * PIECE + 12345):
    """A CDF-2 file: bytes that shrink, in places constant, in places noise; and something behind the last one."""
    pattern = random.Random(seed)
    values = bytearray(b"".join(struct.pack(">f", (seed + i) % 500 * 0.25) for i in range(length // 4)))
    values += bytes(length - len(values))
    values[PIECE : 2 * PIECE + 5000] = bytes(PIECE + 5000)
    values[3 * PIECE : 4 * PIECE] = pattern.randbytes(PIECE)
    name = lambda text: struct.pack(">I", len(text)) + text + bytes(-len(text) % 4)
    header = lambda begin: (
        b"CDF\2" + struct.pack(">I", 0)
        + struct.pack(">II", 10, 1) + name(b"x") + struct.pack(">I", length)
        + struct.pack(">II", 0, 0)
        + struct.pack(">II", 11, 1) + name(b"v") + struct.pack(">II", 1, 0) + struct.pack(">II", 0, 0)
        + struct.pack(">IIQ", 1, length + -length % 4, begin)
    )
    path.write_bytes(header(len(header(0))) + values + bytes(-length % 4) + b"behind")
    return path


def says(tools, done, words):
    said = done.stderr.decode(errors="replace")
    tools.check(words in said, f"found {said!r}, expected {words!r}")


def codecs(tools, level=None):
    """All codecs but none, as the message about an unknown one lists them; with `level`, if they have levels."""
    said = lambda codec: tools.run("nmconvert", "none.nc", "none.nmb", "--compress", codec, exit_code=2).stderr.decode().splitlines()[0]
    names = re.split(", | or ", said("?").partition("expected ")[2])[1:]
    tools.check("deflate" in names, f"no codecs: {names}")
    return [f"{name}:{level}" if level and "no level" not in said(f"{name}:0") else name for name in names]


def check_there_and_back(tools, path, codec):
    tools.run("nmconvert", path, "coded.nmb", "-f", "--compress", codec)
    tools.run("nmverify", "-q", "coded.nmb")
    tools.run("nmconvert", "coded.nmb", "back.nc", "-f", "--extract", "")
    tools.check_equal_bytes(path, tools.work / "back.nc", f"{path.name}: {codec}: back")


def check_codecs(tools):
    path = classic(tools.work / "in.nc", 1)
    tools.run("nmconvert", path, "plain.nmb")
    every = sorted({*codecs(tools), *codecs(tools, 1), *codecs(tools, 7)})
    for codec in every:
        check_there_and_back(tools, path, codec)
        size = (tools.work / "coded.nmb").stat().st_size
        tools.check(size < path.stat().st_size / 3, f"{codec}: {size} bytes")
        shutil.copy(tools.work / "coded.nmb", tools.work / f"{codec}.nmb")
        # Compressed values stay compressed, unless another codec is requested.
        tools.run("nmconvert", "coded.nmb", "again.nmb", "-f")
        tools.check_equal_bytes(tools.work / "coded.nmb", tools.work / "again.nmb", f"{codec}: again")
        tools.run("nmconvert", "coded.nmb", "again.nmb", "-f", "--compress", "none")
        tools.check_equal_bytes(tools.work / "plain.nmb", tools.work / "again.nmb", f"{codec}: none")
        for threads in ("1", "2", "5"):
            tools.run("nmconvert", path, "again.nmb", "-f", "--compress", codec, "-j", threads)
            tools.check_equal_bytes(tools.work / "coded.nmb", tools.work / "again.nmb", f"{codec}: -j {threads}")
    for before, codec in zip(every, every[1:] + every[:1]):
        tools.run("nmconvert", f"{before}.nmb", "again.nmb", "-f", "--compress", codec)
        tools.check_equal_bytes(tools.work / f"{codec}.nmb", tools.work / "again.nmb", f"{before}, then {codec}")


def check_merges(tools):
    paths = [classic(tools.work / f"m{i}.nc", i) for i in range(3)]
    small = tools.work / "small.nc"
    classic(small, 9, 100)
    tools.run("nmcat", *paths, small, "-o", "plain.nmb", "-f", "--no-provenance")
    for threads in ("1", "2", "5"):
        out = f"merged{threads}.nmb"
        tools.run("nmcat", *paths, small, "-o", out, "--compress", "zstd:3", "-j", threads, "--no-provenance")
        tools.check_equal_bytes(tools.work / "merged1.nmb", tools.work / out, f"nmcat -j {threads}")
    tools.run("nmverify", "-q", "merged1.nmb")
    for path in (*paths, small):
        tools.run("nmconvert", "merged1.nmb", "back.nc", "-f", "--extract", path.stem)
        tools.check_equal_bytes(path, tools.work / "back.nc", f"{path.name} out of a merged file")
    same_names = ("--block-name", "{group}", "--no-provenance")
    tools.run("nmcat", "merged1.nmb", "-o", "again.nmb", "-f", *same_names)
    tools.check_equal_bytes(tools.work / "merged1.nmb", tools.work / "again.nmb", "merged again")
    tools.run("nmcat", "merged1.nmb", "-o", "again.nmb", "-f", *same_names, "--compress", "none")
    tools.check_equal_bytes(tools.work / "plain.nmb", tools.work / "again.nmb", "merged again, without codec")


def check_split(tools):
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "2", "--samples", "60")
    files = sorted((tools.work / "graphs").iterdir())
    options = (*SPLIT, "--inline", "0")
    tools.run("nmcat", *files, *options, "-o", "split.nmb")
    tools.run("nmcat", *files, *options, "-o", "coded.nmb", "-f", "--compress", "zstd")
    tools.run("nmverify", "-q", "coded.nmb")
    sizes = [(tools.work / name).stat().st_size for name in ("split.nmb", "coded.nmb")]
    tools.check(sizes[1] < sizes[0], f"split: {sizes[1]} bytes, plain {sizes[0]}")
    # Blocks of a merged file come in the order of names.
    plain = ("--block-name", "{group}", "--inline", "0", "--compress", "none", "--no-provenance")
    tools.run("nmcat", "split.nmb", *plain, "-o", "plain.nmb", "-f")
    tools.run("nmcat", "coded.nmb", *plain, "-o", "again.nmb", "-f")
    tools.check_equal_bytes(tools.work / "plain.nmb", tools.work / "again.nmb", "split, without codec again")


def check_refusals(tools):
    tools.run("nmconvert", "in.nc", "zstd.nmb", "-f", "--compress", "zstd")
    for source in ("in.nc", "zstd.nmb"):
        for option in (("--shuffle",), ("--chunk", "x:10")):
            done = tools.run("nmconvert", source, "none.nmb", *option, exit_code=2)
            says(tools, done, "classic dataset cannot be shuffled or cut into chunks")
            done = tools.run("nmconvert", source, "none.nmb", "-f", *option, "--compress", "zstd")
            says(tools, done, "compressed without shuffle and chunks")
            (tools.work / "none.nmb").unlink()
            tools.run("nmconvert", source, "none.nmb", *option, "--compress", "zstd", "--strict", exit_code=1)
    says(tools, tools.run("nmconvert", "in.nc", "none.h5", "--compress", "zstd", exit_code=2), "use --compress deflate")
    for codec in ("gzip", "zstd:0", "zstd:20", "deflate:10", "none:1", ""):
        tools.run("nmcat", "in.nc", "-o", "none.nmb", "--compress", codec, exit_code=2)
        (tools.work / "none.nmb").unlink(missing_ok=True)


def check_damage(tools):
    path = tools.work / "zstd.nmb"
    data = bytearray(path.read_bytes())
    data[data.index(b"\x28\xb5\x2f\xfd", 20480) + 200] ^= 4
    path.write_bytes(data)
    for command in (("none.nmb",), ("none.nmb", "--compress", "deflate"), ("none.nc",)):
        says(tools, tools.run("nmconvert", path, *command, exit_code=1), "R-EX-5")
        tools.check(not (tools.work / command[0]).exists(), f"{command}: wrote a file")


def check_full_disk(tools):
    """No space for values that wait for a place."""
    folder = tools.work / "full"
    folder.mkdir()
    for exists in (False, True):
        if exists:
            (folder / "out.nmb").write_text("somebody's\n")
        done = subprocess.run(
            [tools.folder / "nmcat", "in.nc", "-f", "-o", "full/out.nmb", "--compress", "zstd"],
            cwd=tools.work, capture_output=True,
            env=dict(os.environ, TMPDIR=str(tools.work)),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        )
        tools.check(done.returncode == 2, f"no space: exit code {done.returncode}: {done.stderr}")
        says(tools, done, f"{tools.work}: cannot write a temporary file")
        left = [path.name for path in folder.iterdir()]
        tools.check(left == (["out.nmb"] if exists else []), f"no space: left {left}")


def check_collection(tools):
    try:
        _, files = classic_files(but=("bad", "hostile"))
    except Skip:
        return
    fast = codecs(tools, 1)
    for path in files:
        done = subprocess.run(
            [tools.folder / "nmconvert", path, "coded.nmb", "-f"], cwd=tools.work, capture_output=True
        )
        if done.returncode == 0:
            for codec in fast:
                check_there_and_back(tools, path, codec)


def test(tools):
    for check in (check_codecs, check_merges, check_split, check_refusals, check_damage, check_full_disk,
                  check_collection):
        check(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
