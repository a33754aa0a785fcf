#!/usr/bin/python3
"""Small NMB files that ask for much: values that share bytes, chunks that share bytes or were never written, pieces that
share bytes of an original, a long chain of trailers.

    nmb_claims.py --tools FOLDER

Every tool reads each file within 1 s of CPU time and 64 MiB, and so does the reference reader, with 64 MiB for Python
itself: exit code and message as below.
"""

import argparse
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
SPEC = HERE.parents[1] / "spec"
sys.path[:0] = [str(HERE.parent / "interop"), str(SPEC / "vectors")]
import assemble  # noqa: E402
import limited_run  # noqa: E402
import zstandard  # noqa: E402

SECONDS = 1
UNIT = 4096
KIB, MIB = 1 << 10, 1 << 20
PYTHON = 64 * MIB + 64 * MIB  # what the reference reader may take, with Python and its modules

BLOCK = """
expect valid
generation
  block "a"
    kind 6
"""


def words(code, numbers):
    return f"{code} " + " ".join(map(str, numbers))


def sequences_of_sequences(levels=10, times=10):
    """10 levels of sequences, each of which leads 10 times to the level below: 10^10 values."""
    types = ["    type sequence 16  u32 4"] + [f"    type sequence 16  u32 {255 + n}" for n in range(1, levels)]
    heap = [number for level in range(1, levels) for number in [times, 16 + 16 * times * level] * times]
    lines = types + ['    dim "x" 1', f'    var "v" {255 + levels} ("x")', f"    bytes u64 {times} 16"]
    return BLOCK + "\n".join(lines + ["    heap " + words("u64", heap) + "  " + words("int", range(times))])


def compounds_of_compounds(levels=30):
    """Each compound has the one below twice, at the same bytes: 2^30 values."""
    types = ["    type compound 4  u32 2  u32 4 u64 0 text \"a\"  u32 4 u64 0 text \"b\""]
    for n in range(1, levels):
        types.append(f"    type compound 4  u32 2  u32 {255 + n} u64 0 text \"a\"  u32 {255 + n} u64 0 text \"b\"")
    lines = types + ['    dim "x" 1', f'    var "v" {255 + levels} ("x")', "    bytes u32 1"]
    return BLOCK + "\n".join(lines)


def rows_of_one_chunk(rows=900):
    """All rows of a table lead to a chunk of 64 MiB that takes a few bytes."""
    once = zstandard.ZstdCompressor().compress(bytes(64 * MIB))
    chunk = zstandard.ZstdCompressor(level=19).compress(once)
    table = b"".join(struct.pack("<QQII", 24 * rows, len(chunk), 0, 0) for _ in range(rows))
    lines = [f'    dim "x" {rows << 26}', '    var "v" byte ("x")', f"    chunks {64 * MIB}"]
    lines += ['    filter 32015 0 "zstd"', '    filter 32015 0 "zstd"', "    chunk hex " + chunk.hex()]
    lines += ["    chunk"] * (rows - 1)
    return BLOCK + "\n".join(lines + ["    extent hex " + (table + chunk).hex()])


def chunks_never_written(rows=900):
    """2 x 10^10 values that were never written, with statistics."""
    values = rows * 23 * 10**6
    lines = [f'    dim "x" {values}', '    var "v" byte ("x")', f"    chunks {23 * 10**6}"]
    lines += ["    chunk"] * rows
    return BLOCK + "\n".join(lines + [f'  statistics "v" of "a" byte {values} 0 0 0 0'])


def pieces_of_one_range(pieces=32):
    """All pieces of an extent have the same bytes of an original, which decode to 1 MiB."""
    frame = zstandard.ZstdCompressor().compress(bytes(MIB))
    lines = ["expect valid", "generation", "  original \"in.bin\" with hex " + frame.hex(), '  block "a"']
    lines += [f'    dim "x" {pieces * MIB}', f'    var "v" byte ("x") = {pieces * MIB} of 0', f"    pieces every {MIB}"]
    lines += ["    piece codecs " + "1 " * pieces]
    lines += [line for n in range(pieces) for line in (f"    piece {n} stored hex {frame.hex()}", f"    piece {n} in 1 at 0")]
    return "\n".join(lines)


def chain_of_trailers(trailers=4000):
    """A file whose newest generation is followed by a long chain of trailers that leads to another generation."""
    data, _, _ = assemble.assemble('expect valid\ngeneration\n  block "a"\n    var "v" double = 0.5\n')
    first = bytes(data[-UNIT:])
    out, before = bytearray(data), (0, 0, 0)
    for number in range(trailers):
        trailer, position = bytearray(first), len(out)
        struct.pack_into("<QQ", trailer, 16, 3 + number, position + UNIT)
        struct.pack_into("<3Q", trailer, 168, *(before if number else (16384, UNIT, 1)))
        struct.pack_into("<Q", trailer, 4088, assemble.sum64(bytes(trailer[:4088])))
        out += trailer
        before = position, UNIT, assemble.sum64(bytes(trailer))
    return bytes(out)


# How each tool is called; the part of a name in capitals is replaced.
CALLS = {
    "nmverify": ["nmverify", "-q", "IN"],
    "recover": ["nmverify", "--recover", "OUT.nmb", "IN"],
    "summary": ["nminspect", "summary", "IN"],
    "dump": ["nminspect", "dump", "IN", "a/v"],
    "stats": ["nminspect", "stats", "--values", "IN"],
    "digest": ["nminspect", "digest", "IN"],
    "find": ["nminspect", "find", "IN", "v.max > 100"],
    "diff": ["nminspect", "diff", "IN", "COPY"],
    "nmb": ["nmconvert", "IN", "OUT.nmb"],
    "classic": ["nmconvert", "--lossy", "--to", "cdf5", "IN", "OUT.nc"],
    "hdf5": ["nmconvert", "IN", "OUT.h5"],
    "nmcat": ["nmcat", "IN", "-o", "OUT.nmb"],
}
READ = ("dump", "stats", "digest", "find", "diff", "nmb", "classic", "hdf5", "nmcat")
UNWRITTEN = {"digest": "16 GiB", "diff": "16 GiB"}
# For each file: what the calls say that do not end with exit code 0.
EXPECTED = {
    "sequences_of_sequences": dict.fromkeys(("dump", "digest", "diff", "hdf5"), "R-XV-2"),
    "compounds_of_compounds": dict.fromkeys(("nmverify", *READ, "reference"), "R-XT-2") | {"recover": "found a field at 0"},
    "rows_of_one_chunk": dict.fromkeys(("nmverify", "stats", "find", "hdf5", "nmcat"), "R-XC-2")
    | dict.fromkeys(("dump", "classic"), "R-XC-1") | UNWRITTEN | {"recover": "1 chunk cannot be decoded"},
    "chunks_never_written": UNWRITTEN,
    "pieces_of_one_range": dict.fromkeys(("nmverify", "recover", *READ, "reference"), "R-EX-17"),
    "chain_of_trailers": dict.fromkeys(("nmverify", "nmb", "classic", "hdf5", "nmcat", "reference"), "R-SB-13"),
}
# Calls that write each value that was never written, which takes as long as for stored values.
LEFT_OUT = {"chunks_never_written": ("dump", "classic")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=Path, help="folder of the tools")
    parser.add_argument("--show", action="store_true", help="show what each call says and takes")
    arguments = parser.parse_args()
    tools, failed = arguments.tools.resolve(), 0
    for make in FILES:
        made = make()
        data = made if isinstance(made, bytes) else bytes(assemble.assemble(made)[0])
        with tempfile.TemporaryDirectory(prefix="nmb_claims_") as folder:
            for problem in check(tools, make.__name__, data, Path(folder), arguments.show):
                print(f"{make.__name__}: {problem}")
                failed += 1
    print(f"{len(FILES)} files, {failed} problems")
    return 1 if failed else 0


FILES = (
    sequences_of_sequences,
    compounds_of_compounds,
    rows_of_one_chunk,
    chunks_never_written,
    pieces_of_one_range,
    chain_of_trailers,
)


def check(tools, name, data, folder, show):
    """Problems of all calls: texts."""
    (folder / "in.nmb").write_bytes(data)
    (folder / "copy.nmb").write_bytes(data)
    calls = {call: [tools / words[0], *words[1:]] for call, words in CALLS.items()}
    calls["reference"] = ["/usr/bin/python3", SPEC / "reference" / "nmb_reference.py", "--json", "IN"]
    for number, (call, command) in enumerate(calls.items()):
        if call in LEFT_OUT.get(name, ()):
            continue
        names = {"IN": "in.nmb", "COPY": "copy.nmb"} | {f"OUT.{e}": f"{number}.{e}" for e in ("nmb", "nc", "h5")}
        done = limited_run.run([names.get(word, word) for word in command], folder, SECONDS)
        problems = limited_run.problems(done, len(data), SECONDS)
        if call == "reference":
            problems = [p for p in problems if "MiB" not in p]
            if done.tool_peak > PYTHON:
                problems.append(f"took {done.tool_peak / MIB:.0f} MiB")
        if show:
            print(f"{name}: {call}: {len(data) / KIB:.0f} KiB, exit code {done.exit_code}, {done.seconds:.2f} s, "
                  f"{done.tool_peak / MIB:.0f} MiB: {done.said[:300]}")
        expected = EXPECTED.get(name, {}).get(call, "")
        reserved = re.search(r"cannot reserve (\d+) bytes", done.said)
        if reserved and done.exit_code and int(reserved[1]) > shutil.disk_usage(folder).free:
            expected = "No space left"  # what a file claims may be more than this disk has
        if expected not in done.said or (done.exit_code == 0) != (not expected):
            problems.append(f"exit code {done.exit_code}, {done.said[:300]!r}, expected {expected!r}")
        yield from (f"{call}: {problem}" for problem in problems)


if __name__ == "__main__":
    sys.exit(main())
