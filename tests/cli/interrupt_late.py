#!/usr/bin/python3
"""A signal at each of the last system calls of nmcat and nmconvert, of all kinds of output: either the exit code is 130,
nothing is left behind and what was at the target is as it was, or it is 0 and the output is there, whole. Skipped (exit
code 77) where strace cannot inject.

    interrupt_late.py --tools FOLDER
"""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from nmcat_faults import make  # noqa: E402
from tool_runs import Skip, main  # noqa: E402

CALLS = ("pwrite64", "ftruncate", "fdatasync", "link", "linkat", "rename", "fsync", "unlink", "close")
MOST = 6  # of a call, from the last one back
ROWS = 400
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
OLD = b"what was there"


def commands():
    """Words and the output."""
    yield ["nmcat", "a.nc", "b.nc", "-j1", "-o", "out.nmb"], "out.nmb"
    yield ["nmcat", "a.nc", "b.nc", "-j1", "--hdf5-view", "on", "-o", "out.nmb"], "out.nmb"
    yield ["nmcat", "a.nc", "b.nc", "-j1", "--digest", "sha256", "--report", "out.json", "-o", "out.nmb"], "out.nmb"
    yield ["nmcat", "a.nc", "b.nc", "-j1", "--mode", "tiles", "-o", "out.nc"], "out.nc"
    yield ["nmcat", "a.nc", "-j1", "-o", "out.h5"], "out.h5"
    yield ["nmcat", "b.nc", "-j1", "--append", "-o", "some.nmb"], "some.nmb"
    yield ["nmconvert", "a.nc", "out.nmb", "-j1", "--digest", "sha256"], "out.nmb"
    yield ["nmconvert", "a.nmb", "out.nc", "-j1"], "out.nc"
    yield ["nmconvert", "a.nc", "out.nc", "--to", "cdf2", "-j1"], "out.nc"
    yield ["nmconvert", "a.nc", "out.h5", "-j1"], "out.h5"
    yield ["nmconvert", "h.nmb", "out.h5", "-j1"], "out.h5"
    yield ["nmconvert", "a.nmb", "out.h5", "--extract", "", "--to", "nc4", "-j1"], "out.h5"
    yield ["nmconvert", "h.h5", "out.nmb", "-j1"], "out.nmb"
    yield ["nmconvert", "--add-hdf5-view", "some.nmb"], "some.nmb"


def counts(tools, words):
    """How often the first thread of a run that nothing happens to makes each call."""
    trace = tools.work.parent / (tools.work.name + ".trace")
    done = subprocess.run(
        ["strace", "-o", trace, "-e", "trace=" + ",".join(CALLS), tools.folder / words[0], *words[1:]],
        cwd=tools.work, capture_output=True, env=ENVIRONMENT, timeout=120,
    )
    lines = trace.read_text(errors="replace").splitlines()
    trace.unlink()
    return done.returncode, {call: sum(line.startswith(call + "(") for line in lines) for call in CALLS}


def files(tools):
    return {path.name: path.read_bytes() for path in tools.work.iterdir()}


def restore(tools, before):
    for path in tools.work.iterdir():
        if path.name not in before:
            path.unlink()
    for name, content in before.items():
        path = tools.work / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def check(tools, words, target, call, at, before, whole):
    what = f"{' '.join(words)}: SIGINT at {call} {at}"
    done = subprocess.run(
        ["strace", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGINT:when={at}",
         tools.folder / words[0], *words[1:]],
        cwd=tools.work, capture_output=True, env=ENVIRONMENT, timeout=120,
    )  # fmt: skip
    now = files(tools)
    told = now.pop("out.json", None)  # a report is written however the run ends
    expected = {name: content for name, content in before.items()}
    if done.returncode == 0:
        # HDF5 files contain the time of their creation.
        if target.endswith(".h5"):
            tools.run("nmverify", target)
            whole = now.get(target)
        tools.check(now.get(target) == whole, f"{what}: exit code 0, the output is not that of a whole run")
        expected[target] = whole
    else:
        # Ahead of the first look at signals it is the signal that ends the process.
        tools.check(done.returncode in (130, -2), f"{what}: exit code {done.returncode}: {done.stderr.decode()}")
        # Bytes after the end of a file that grows in place are cut off by the next run that appends.
        if target in before and now[target].startswith(before[target]):
            expected[target] = now[target]
    tools.check(set(now) == set(expected), f"{what}: exit code {done.returncode}, files {sorted(now)}")
    for name, content in expected.items():
        tools.check(now.get(name) == content, f"{what}: exit code {done.returncode}, {name} has other bytes")
    if told is not None:
        tools.check((b'"done": true' in told) == (done.returncode == 0), f"{what}: the report says something else")
    return done.returncode


def test(tools):
    if not shutil.which("strace"):
        raise Skip("no strace")
    make(tools.work / "a.nc", 0, 2, ROWS)
    make(tools.work / "b.nc", ROWS, 2, ROWS)
    tools.run("nmconvert", "a.nc", "a.nmb")
    tools.run("nmconvert", "a.nc", "h.h5")
    tools.run("nmconvert", "h.h5", "h.nmb")
    tools.run("nmcat", "a.nc", "-o", "some.nmb")
    probe = subprocess.run(["strace", "-o", "/dev/null", "-e", "inject=close:signal=SIGWINCH:when=1", "true"], capture_output=True)
    if probe.returncode != 0:
        raise Skip("strace cannot inject signals")
    for words, target in commands():
        before = files(tools)
        code, calls = counts(tools, words)
        tools.check(code == 0, f"{' '.join(words)}: exit code {code}")
        whole = files(tools).get(target)
        restore(tools, before)
        codes = set()
        for call, count in calls.items():
            for at in range(max(1, count - MOST + 1), count + 1):
                codes.add(check(tools, words, target, call, at, before, whole))
                restore(tools, before)
        tools.check(codes - {-2} == {0, 130}, f"{' '.join(words)}: exit codes {codes}, expected some of 0 and of 130")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
