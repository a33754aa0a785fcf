#!/usr/bin/python3
"""nminspect dump where a later piece of the values is damaged: exit code 1, a message with the offset, the values ahead
of the piece whole and none of it; with --json a document that can be read, whose key "error" says why it ends. Where the
damage comes ahead of all values, no document.

    dump_damaged.py --tools FOLDER
"""

import json
import sys

sys.dont_write_bytecode = True
from tool_runs import main  # noqa: E402

ROWS, LENGTH = 1200, 1000  # of ints: 4.8 MB, several pieces


def number(value):
    return value.to_bytes(8, "big")


def name(text):
    return number(len(text)) + text + bytes(-len(text) % 4)


def make(path):
    """CDF-5: v(rows, x) of ints, each its index."""
    head = b"CDF\x05" + number(0) + b"\0\0\0\x0a" + number(2) + name(b"rows") + number(ROWS) + name(b"x") + number(LENGTH)
    head += bytes(12) + b"\0\0\0\x0b" + number(1) + name(b"v") + number(2) + number(0) + number(1) + bytes(12)
    head += b"\0\0\0\4" + number(4 * ROWS * LENGTH)
    head += number(len(head) + 8)
    path.write_bytes(head + b"".join(value.to_bytes(4, "big") for value in range(ROWS * LENGTH)))


def test(tools):
    make(tools.work / "a.nc")
    tools.run("nmcat", "a.nc", "-o", "a.nmb")
    data = bytearray((tools.work / "a.nmb").read_bytes())
    for value, some in ((ROWS * LENGTH - 1, True), (0, False)):
        at = data.index(value.to_bytes(4, "big") if value else bytes(4) + (1).to_bytes(4, "big") + (2).to_bytes(4, "big"))
        damaged = data.copy()
        damaged[at] ^= 1
        (tools.work / "damaged.nmb").write_bytes(damaged)

        done = tools.run("nminspect", "dump", "--json", "damaged.nmb", "a/v", exit_code=1)
        message = done.stderr.decode().removeprefix("nminspect: ").strip()
        tools.check("damaged.nmb: at " in message, f"said {message!r}")
        tools.check(bool(done.stdout) == some, f"found {len(done.stdout)} bytes of JSON")
        if some:
            document = json.loads(done.stdout)
            tools.check(document["error"] == message, f"found error {document['error']!r}, said {message!r}")
            values = [value for row in document["values"] for value in row]
            tools.check(0 < len(values) < ROWS * LENGTH, f"found {len(values)} values")
            tools.check(values == list(range(len(values))), "other values ahead of the damage")

        done = tools.run("nminspect", "dump", "damaged.nmb", "a/v", exit_code=1)
        text = done.stdout.decode()
        values = [int(value) for value in text.replace("\n", " ").split(",") if value.strip()]
        tools.check(bool(values) == some and values == list(range(len(values))), "CDL: other values ahead of the damage")
        tools.check(not text or text.endswith("\n"), "CDL does not end with a line")
    whole = json.loads(tools.run("nminspect", "dump", "--json", "a.nmb", "a/v", "--slab", "0,:2").stdout)
    tools.check("error" not in whole, "found an error in a sound file")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
