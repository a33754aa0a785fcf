#!/usr/bin/python3
"""The lock of a writer: HDF5 programs and writers do not keep one another out, a second writer is refused, and so is a
program that would replace the file. While a writer holds the file, nothing is said of a commit that is not finished.

    writer_lock.py --tools FOLDER
"""

import fcntl
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import main  # noqa: E402

F_OFD_SETLK = 37
HEAD = 16384
DUMP = "netcdf {} {{ dimensions: x = 5 ; variables: int v(x) ; data: v = 1, 2, 3, 4, 5 ; }}"


def make(tools, name):
    text = tools.work / f"{name}.cdl"
    text.write_text(DUMP.format(name))
    subprocess.run(["ncgen", "-k", "cdf5", "-o", tools.work / f"{name}.nc", text], check=True)


def test(tools):
    out = tools.work / "out.nmb"
    for name in "abcd":
        make(tools, name)
    tools.run("nmcat", "a.nc", "-o", "out.nmb")
    # As an HDF5 program that reads the file.
    with open(out, "rb") as reader:
        fcntl.flock(reader, fcntl.LOCK_SH | fcntl.LOCK_NB)
        tools.run("nmcat", "b.nc", "-o", "out.nmb", "--append")
    before = out.read_bytes()[:HEAD]
    tools.run("nmcat", "c.nc", "-o", "out.nmb", "--append")
    with open(out, "r+b") as writer:
        fcntl.fcntl(writer, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 << 62, 1, 0))
        with open(out, "rb") as reader:
            fcntl.flock(reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
        busy = tools.run("nmcat", "d.nc", "-o", "out.nmb", "--append", exit_code=2)
        tools.check(b"another writer holds the file" in busy.stderr, f"a second writer: {busy.stderr}")
        # As a crash leaves it, or a commit that is at work: nothing to report while a writer holds the file.
        writer.write(before)
        writer.flush()
        at_work = tools.run("nmverify", "--strict", "out.nmb").stdout
        tools.check(b"0 findings, 0 warnings" in at_work, f"a commit in progress: {at_work}")
        summary = tools.run("nminspect", "summary", "out.nmb")
        tools.check(b"warning" not in summary.stdout + summary.stderr, f"a commit in progress: {summary}")
    crashed = tools.run("nmverify", "out.nmb").stdout
    tools.check(b"commit did not finish" in crashed and b"(R-SB-13)" in crashed, f"a crash: {crashed}")
    tools.check(b"sound, NMB" in crashed, f"a crash: {crashed}")
    tools.run("nmverify", "--strict", "out.nmb", exit_code=1)
    tools.run("nmcat", "d.nc", "-o", "out.nmb", "--append")
    tools.run("nmverify", "out.nmb")
    found = tools.run("nminspect", "ls", "out.nmb").stdout.decode().split()
    tools.check(found == ["a", "b", "c", "d"], f"blocks {found}")
    tools.run("nmcat", "a.nc", "-o", "new.nmb", "--no-lock", exit_code=2)
    test_replacing(tools, out)


def test_replacing(tools, out):
    """No program replaces a file that a writer has locked: the blocks that the writer commits would be lost."""
    replacing = [
        ("nmcat", "a.nc", "-o", "out.nmb", "-f"),
        ("nmconvert", "a.nc", "out.nmb", "-f"),
        ("nmconvert", "--repack", "copy.nmb", "out.nmb", "-f"),
        ("nmverify", "--recover", "out.nmb", "-f", "copy.nmb"),
        ("nmconvert", "copy.nmb", "-o", "out.nmb", "-f", "--extract", "a", "--to", "cdf5"),
        ("nmconvert", "copy.nmb", "-o", "out.nmb", "-f", "--original", "a"),
    ]
    if (tools.folder / "../lib/nmb/nmb-hdf5").exists():
        replacing += [
            ("nmconvert", "copy.nmb", "-o", "out.nmb", "-f", "--extract", "a", "--to", "nc4"),
            ("nmcat", "copy.nmb", "-o", "out.nmb", "-f", "--to", "hdf5"),
        ]
    (tools.work / "copy.nmb").write_bytes(out.read_bytes())
    before = out.read_bytes()
    with open(out, "r+b") as writer:
        fcntl.fcntl(writer, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 << 62, 1, 0))
        for command in replacing + [("nmconvert", "--add-hdf5-view", "out.nmb")]:
            refused = tools.run(*command, exit_code=2)
            tools.check(b"another" in refused.stderr, f"{command}: {refused.stderr}")
            tools.check(out.read_bytes() == before, f"{command} changed the file")
            left = [path.name for path in tools.work.iterdir() if path.name.startswith(".")]
            tools.check(not left, f"{command} left {left}")
    for command in replacing:
        tools.run(*command)
        out.write_bytes(before)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
