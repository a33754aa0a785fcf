#!/usr/bin/python3
"""nminspect on a terminal: progress is one line, which is cleared before anything else is written; long output goes to the
user's pager.

    terminal.py --tools FOLDER
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

sys.dont_write_bytecode = True
from tool_runs import classic_array_header, main  # noqa: E402

LINE = re.compile(r"\r\x1b\[K[^\r]*: [0-9.]+ [KMG]?i?B(ytes)? of [0-9.]+ [KMG]?i?B(ytes)?, [^\r]* s left")


def write_zeros(path):
    """A CDF-5 file of one array of 256 MiB, as a hole."""
    rows, columns = 256, 1 << 17
    head = classic_array_header(rows, columns)
    with path.open("wb") as out:
        out.write(head)
        out.truncate(len(head) + 8 * rows * columns)


def on_terminal(tools, *words, pager="", exit_code=0, height=24):
    """Runs a program on a terminal. Returns what it writes there."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", height, 80, 0, 0))
    with subprocess.Popen([tools.folder / words[0], *words[1:]], cwd=tools.work, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                          env=dict(os.environ, NMB_PAGER=pager)) as process:  # fmt: skip
        os.close(follower)
        text = b""
        try:
            while part := os.read(leader, 65536):
                text += part
        except OSError:  # the program has ended
            pass
        os.close(leader)
    tools.check(process.wait() == exit_code, f"{words}: exit code {process.returncode}, expected {exit_code}: {text}")
    return text.decode().replace("\r\n", "\n")


def check_progress(tools):
    write_zeros(tools.work / "zeros.nc")
    tools.run("nmconvert", "zeros.nc", "zeros.nc4", "--to", "nc4", "--compress", "deflate:1", "--chunk", "y:1,x:131072", "--no-sync")
    for words, last in ((["nminspect", "digest", "zeros.nc4"], "zeros.nc4"), (["nminspect", "stats", "--values", "zeros.nc4"], "v"),
                        (["nminspect", "diff", "--stat", "zeros.nc", "zeros.nc4"], "0 differences of definitions")):  # fmt: skip
        plain = tools.run(*words)
        tools.check(not plain.stderr, f"{words}: found {plain.stderr}, expected no progress without a terminal")
        seen = on_terminal(tools, *words)
        tools.check(LINE.search(seen), f"{words}: found no progress in {seen[-300:]!r}")
        rest = seen[seen.rfind("\x1b[K") + 3 :]
        quiet = on_terminal(tools, *words, "--no-progress")
        tools.check(last in rest and rest == quiet, f"{words}: found {rest!r}, expected {quiet!r}")


def check_pager(tools):
    """Text of 30 lines."""
    (tools.work / "empty.nc").write_bytes(b"CDF\1" + bytes(28))
    tools.run("nmcat", *["empty.nc"] * 30, "-o", "blocks.nmb", "--block-name", "b{index}", "--no-sync")
    words = ["nminspect", "ls", "blocks.nmb"]
    plain = on_terminal(tools, *words, pager="cat")
    lines = plain.splitlines()
    tools.check(len(lines) >= 30, f"found {len(lines)} lines: {plain}")
    paged = on_terminal(tools, *words, pager="sed 's/^/P:/'")
    tools.check(paged.splitlines() == ["P:" + line for line in lines], f"pager: found {paged!r}")
    # Text that fits on the terminal, and text for another program, does not go to the pager.
    for seen in (on_terminal(tools, *words, pager="sed 's/^/P:/'", height=len(lines) + 1), on_terminal(tools, *words, "--no-pager", pager="false")):
        tools.check(seen == plain, f"no pager: found {seen!r}")
    os.environ["NMB_PAGER"] = "false"
    tools.check(len(tools.run(*words).stdout.splitlines()) == len(lines), "output into a pipe went to the pager")
    # The user leaves the pager early; the pager does not exist; an error comes after the text.
    seen = on_terminal(tools, *words, pager="head -n 3")
    tools.check(seen.splitlines() == lines[:3], f"pager that ends early: found {seen!r}")
    seen = on_terminal(tools, *words, pager="no_such_pager", exit_code=2)
    tools.check("the pager \"no_such_pager\" cannot be run" in seen, f"missing pager: found {seen!r}")
    whole = (tools.work / "blocks.nmb").read_bytes()
    (tools.work / "cut.nmb").write_bytes(whole[: len(whole) // 2])
    seen = on_terminal(tools, "nminspect", "ls", "cut.nmb", pager="sed 's/^/P:/'", exit_code=1)
    tools.check("cut.nmb" in seen, f"a damaged file: found {seen!r}")


def test(tools):
    check_progress(tools)
    check_pager(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
