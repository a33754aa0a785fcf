#!/usr/bin/python3
"""Chunks of HDF5 inputs that do not decode: nmcat and nmconvert copy them and warn, with the names of the variable and
the chunk; with --strict they write nothing.

    damaged_chunks.py --tools FOLDER
"""

import sys

sys.dont_write_bytecode = True
from tool_runs import Skip, main  # noqa: E402


def make(path, damaged):
    """Chunks 0 to 3 of /group/v, and with zstd and deflate none is the same; `damaged` are their numbers."""
    try:
        import h5py
        import numpy
    except ImportError:
        raise Skip("no Python module h5py") from None
    with h5py.File(path, "w") as file:
        v = file.create_dataset("group/v", data=numpy.arange(20000, dtype="f8"), chunks=(5000,), compression="gzip")
        file.create_dataset("group/sum", data=numpy.arange(2000), chunks=(500,), fletcher32=True)
        places = [v.id.get_chunk_info(number) for number in damaged]
    content = bytearray(path.read_bytes())
    for place in places:
        content[place.byte_offset + place.size // 2] ^= 0xFF
    path.write_bytes(content)


def check(tools):
    make(tools.work / "good.h5", [])
    make(tools.work / "bad.h5", [1, 3])
    make(tools.work / "bad.nc", [2])
    calls = (["nmcat", "IN", "-o", "out.nmb"], ["nmcat", "IN", "-o", "out.nmb", "--no-originals", "-j1"],
             ["nmconvert", "IN", "out.nmb"], ["nmconvert", "IN", "out.nmb", "--no-check", "-j1"],
             ["nmcat", "good.h5", "IN", "-o", "out.nmb", "--dry-run"])  # fmt: skip
    for name, chunks in (("good.h5", []), ("bad.h5", [1, 3]), ("bad.nc", [2])):
        for call in calls:
            words = [name if word == "IN" else word for word in call]
            if words.count("good.h5") == 2:
                continue
            said = tools.run(*words, "-f").stderr.decode()
            found = [line for line in said.splitlines() if "decode" in line]
            wanted = [f"{words[0]}: warning: {name}: \"group/v\": chunk {chunk}: " for chunk in chunks]
            tools.check(len(found) == len(wanted) and all(map(str.startswith, found, wanted)), f"{words}: said {said}")
            (tools.work / "out.nmb").unlink(missing_ok=True)
            done = tools.run(*words, "--strict", exit_code=1 if chunks else None)
            tools.check(not chunks or not (tools.work / "out.nmb").exists(), f"{words} --strict: wrote a file")
            tools.check(not chunks or b'"group/v": chunk' in done.stderr, f"{words} --strict: said {done.stderr}")
            (tools.work / "out.nmb").unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
