#!/usr/bin/python3
"""--mem: a tool stays below it, or fails with words, exit code 2 and nothing written.

    memory_limit.py --tools FOLDER
"""

import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import classic_array_header, main  # noqa: E402

VARIABLES = 200_000
LIMIT = 12 << 20
AMPLE = 512 << 20


def write_classic(path):
    """A CDF-5 file of very many variables of one number."""
    name = struct.Struct(">q8s")
    head = struct.calcsize(">4sq") + 12 + 12 + 12
    entry = name.size + 8 + 12 + 4 + 8 + 8
    begin = head + VARIABLES * entry
    with path.open("wb") as out:
        out.write(b"CDF\x05" + struct.pack(">q", 0) + bytes(12) + bytes(12) + struct.pack(">iq", 11, VARIABLES))
        for i in range(VARIABLES):
            out.write(name.pack(8, b"v%07d" % i) + struct.pack(">q", 0) + bytes(12))
            out.write(struct.pack(">iqq", 6, 8, begin + 8 * i))
        out.write(struct.pack(">%dd" % VARIABLES, *range(VARIABLES)))


def write_wide(path):
    """A CDF-5 file of one array of 16 rows, of 32 MiB."""
    rows, columns = 16, 1 << 18
    head = classic_array_header(rows, columns)
    with path.open("wb") as out:
        out.write(head)
        for row in range(rows):
            out.write(struct.pack(">%dd" % columns, *range(row, columns + row)))


def peak(command):
    """The process as it ended, and the most memory that it had."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, words = process.stdout.read(), process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, words, usage.ru_maxrss << 10


def test(tools):
    source, packed, target = (tools.work / name for name in ("many.nc", "many.nmb", "out.nmb"))
    write_classic(source)
    tools.run("nmcat", source, "-o", packed, "--no-sync")
    commands = {
        "nmcat": [source, "-o", target, "-f", "--no-sync"],
        "nmconvert": [source, target, "-f", "--no-sync"],
        "nmverify": [packed],
    }
    for name, words in commands.items():
        program = [tools.folder / name, *words]
        code, _, said, _ = peak([*program, "--mem", str(AMPLE)])
        tools.check(code == 0, f"{name}: exit code {code} under {AMPLE} bytes: {said}")
        target.write_text("as it was")
        for limit in (LIMIT, LIMIT // 2):
            code, output, said, most = peak([*program, "--mem", str(limit)])
            tools.check(code == 2 and not output, f"{name}: exit code {code} under {limit} bytes: {output} {said}")
            tools.check("out of memory" in said and "--mem allows" in said, f"{name}: found {said}")
            # The mapped parts of the program itself do not count.
            tools.check(most < limit + (24 << 20), f"{name}: took {most} bytes under {limit}")
            tools.check(target.read_text() == "as it was", f"{name}: the target has changed")
            left = sorted(path.name for path in tools.work.iterdir())
            tools.check(left == ["many.nc", "many.nmb", "out.nmb"], f"{name}: left {left}")
        target.unlink()
    test_wide(tools)
    test_threads(tools)
    test_recoding(tools)
    test_large_value(tools)
    for text, expected in (("0", "expected at least 1 byte"), ("1K", "expected more than"), ("much", "--mem")):
        done = tools.run("nmcat", source, "-o", target, "--mem", text, exit_code=2)
        tools.check(expected in done.stderr.decode(), f"--mem {text}: found {done.stderr.decode()}")


def test_wide(tools):
    """Chunks of which a row takes more than the process may: they are decoded more than once."""
    wide, chunked, target = (tools.work / name for name in ("wide.nc", "wide.nc4", "wide_again.nc"))
    write_wide(wide)
    tools.run("nmconvert", wide, chunked, "--to", "nc4", "--compress", "deflate:1", "--chunk", "y:16,x:16384", "--no-sync")
    tools.run("nmconvert", chunked, target, "--to", "cdf5", "--no-sync", "--mem", "24M")
    tools.check_equal_bytes(wide, target, "a row of chunks of 32 MiB under --mem 24M")


def test_threads(tools):
    """Large chunks that are compressed anew: fewer threads work at a time if --mem does not allow more."""
    chunked, target = tools.work / "large.nc4", tools.work / "large.nmb"
    chunks = ("--to", "nc4", "--compress", "deflate:1", "--chunk", "y:16,x:65536", "--no-sync")
    tools.run("nmconvert", tools.work / "wide.nc", chunked, *chunks)
    tools.run("nmcat", chunked, "-o", target, "--compress", "zstd", "-j", "8", "--mem", "64M", "--no-sync")
    done = tools.run("nmcat", chunked, "-o", target, "-f", "--compress", "zstd", "--mem", "16M", "--no-sync", exit_code=2)
    said = done.stderr.decode()
    tools.check("--mem allows 16" in said and f"{chunked}: variable v: out of memory" in said, f"large chunks under --mem 16M: found {said}")


def test_recoding(tools):
    """Chunks that are compressed anew: the memory depends neither on the number of files nor on their lengths."""
    inputs = [tools.work / f"run{i}.nc4" for i in range(3)]
    chunks = ("--to", "nc4", "--compress", "deflate:1", "--chunk", "y:1,x:65536", "--no-sync")
    for path in inputs:
        tools.run("nmconvert", tools.work / "wide.nc", path, *chunks)
    target = tools.work / "recoded.nmb"
    tools.run("nmcat", *inputs, "-o", target, "--compress", "zstd", "--mem", "24M", "--no-sync")
    plain = tools.work / "recoded_without_limit.nmb"
    tools.run("nmcat", *inputs, "-o", plain, "--compress", "zstd", "--no-sync")
    tools.check_equal_bytes(plain, target, "files that are compressed anew under --mem 24M")


def test_large_value(tools):
    """A file of a few KiB whose only value, an array, has 64 MiB."""
    try:
        import h5py
    except ImportError:
        return
    path = tools.work / "large_value.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("v", (1,), dtype=("f8", (1 << 23,)))
    tools.run("nmconvert", path, tools.work / "large_value.nmb", "--no-sync")
    digests = [tools.run("nminspect", "digest", name, "--mem", "96M").stdout.split()[0] for name in (path, tools.work / "large_value.nmb")]
    tools.check(digests[0] == digests[1], f"a large value: found {digests}")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
