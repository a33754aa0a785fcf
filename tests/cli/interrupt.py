#!/usr/bin/python3
"""SIGINT and SIGTERM while nmcat and nmconvert write: exit code 128 + signal, nothing is left behind, and
an existing target is as it was.

    interrupt.py --tools FOLDER
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from tool_runs import main  # noqa: E402

VALUES = 256 << 20  # bytes
BEGUN = 4 << 20  # bytes written before the signal


def header(values):
    """CDF-5: one byte variable "v" of one dimension "x" of so many values, which lie behind this."""
    return (
        b"CDF\x05" + bytes(8) + b"\0\0\0\x0a" + (1).to_bytes(8, "big")
        + (1).to_bytes(8, "big") + b"x\0\0\0" + values.to_bytes(8, "big") + bytes(12)
        + b"\0\0\0\x0b" + (1).to_bytes(8, "big") + (1).to_bytes(8, "big") + b"v\0\0\0"
        + (1).to_bytes(8, "big") + bytes(8) + bytes(12) + b"\0\0\0\x01" + values.to_bytes(8, "big")
        + (128).to_bytes(8, "big")
    )  # fmt: skip


def written(process):
    """Bytes that a process has written so far."""
    try:
        lines = Path(f"/proc/{process.pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("wchar:")), 0)


def check(tools, number, command):
    before = {path.name: path.stat().st_size for path in tools.work.iterdir()}
    process = subprocess.Popen(
        [tools.folder / command[0], *command[1:]], cwd=tools.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    while process.poll() is None and written(process) < BEGUN:
        time.sleep(0.001)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1].decode()
    what = f"{' '.join(command)}, signal {number}"
    tools.check(process.returncode == 128 + number, f"{what}: exit code {process.returncode}: {said}")
    after = {path.name: path.stat().st_size for path in tools.work.iterdir()}
    tools.check(after == before, f"{what}: found files {after}, expected {before}")


def test(tools):
    with (tools.work / "large.nc").open("wb") as file:
        file.write(header(VALUES))
        for _ in range(VALUES >> 20):
            file.write(b"\x55" * (1 << 20))
    (tools.work / "target.nc").write_bytes(b"what was there")
    (tools.work / "target").write_bytes(b"what was there")
    for number in (signal.SIGINT, signal.SIGTERM):
        check(tools, number, ("nmcat", "large.nc", "-o", "out.nmb"))
        check(tools, number, ("nmcat", "large.nc", "-o", "out.nmb", "-j1"))
        check(tools, number, ("nmcat", "large.nc", "-f", "-o", "target"))
        check(tools, number, ("nmconvert", "large.nc", "target.nc", "-f", "--to", "cdf2"))
        check(tools, number, ("nmconvert", "large.nc", "out.nmb"))


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
