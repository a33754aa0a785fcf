#!/usr/bin/python3
"""--mem: a tool stays below it, or fails with words, exit code 2 and nothing written.

    memory_limit.py --tools FOLDER
"""

import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import main  # noqa: E402

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
            # What is mapped of the program itself is not counted.
            tools.check(most < limit + (24 << 20), f"{name}: took {most} bytes under {limit}")
            tools.check(target.read_text() == "as it was", f"{name}: the target has changed")
            left = sorted(path.name for path in tools.work.iterdir())
            tools.check(left == ["many.nc", "many.nmb", "out.nmb"], f"{name}: left {left}")
        target.unlink()
    for text, expected in (("0", "found 0"), ("1K", "expected more than"), ("much", "--mem")):
        done = tools.run("nmcat", source, "-o", target, "--mem", text, exit_code=2)
        tools.check(expected in done.stderr.decode(), f"--mem {text}: found {done.stderr.decode()}")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
