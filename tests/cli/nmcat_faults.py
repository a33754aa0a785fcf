#!/usr/bin/python3
"""nmcat when the system fails: each write, reservation, sync and rename in turn says EIO or that there is no room, for all
modes and kinds of output, by one and several threads: exit code 2, a message that names the file, nothing
left behind, and what was at the target as it was. A file that is appended to has the generation that it had, or the
new one whole where the failure came behind its superblock; what it had is untouched, and the next append goes on.
Skipped (exit code 77) where strace cannot inject.

    nmcat_faults.py --tools FOLDER
"""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import Skip, main  # noqa: E402

MOST = 60  # calls that fail, of a run
ROWS = 150000  # 2.4 MB a file
CALLS = "pwrite64,fallocate,ftruncate,fdatasync,renameat,rename,renameat2,link,linkat"
HEAD = 16384
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")


def number(value):
    return value.to_bytes(8, "big")


def name(text):
    return number(len(text)) + text + bytes(-len(text) % 4)


def make(path, first, records, rows):
    """CDF-5: time(time) double and grid(time, x) int, with the attribute that tells the part of x that it is."""
    def values_of(variable):
        return b"".join(bytes(3) + bytes([(variable + i) % 200]) for i in range(rows))

    size = 8 + 4 * rows
    part = b"".join(value.to_bytes(4, "big") for value in (1, 2 * rows, first + 1, first + rows))
    attributes = bytes(3) + b"\x0c" + number(1) + name(b"domain_decomposition") + bytes(3) + b"\4" + number(4) + part
    dimensions = bytes(3) + b"\x0a" + number(2) + name(b"time") + number(0) + name(b"x") + number(rows)
    none = bytes(12)

    def variables(begin):
        out = bytes(3) + b"\x0b" + number(3)
        out += name(b"x") + number(1) + number(1) + attributes + bytes(3) + b"\4" + number(4 * rows) + number(begin)
        out += name(b"time") + number(1) + number(0) + none + bytes(3) + b"\6" + number(8) + number(begin + 4 * rows)
        out += name(b"grid") + number(2) + number(0) + number(1) + none + bytes(3) + b"\4" + number(4 * rows) + number(begin + 4 * rows + 8)
        return out

    head = b"CDF\x05" + number(records) + dimensions + none
    begin = len(head) + len(variables(0))
    body = values_of(first) + b"".join(number(0x3FF0 << 48 | i) + values_of(i) for i in range(records))
    assert len(body) == 4 * rows + records * size
    path.write_bytes(head + variables(begin) + body)


def commands():
    for options, target in (
        (["a.nc", "b.nc", "-j1"], "out.nmb"),
        (["a.nc", "b.nc", "-j2"], "out.nmb"),
        (["a.nc", "b.nc", "-j1", "--compress", "zstd"], "out.nmb"),
        (["--mode", "tiles", "a.nc", "b.nc", "-j1"], "out.nmb"),
        (["--mode", "tiles", "a.nc", "b.nc", "-j1"], "out.nc"),
        (["--mode", "union", "a.nc", "a2.nc", "-j1"], "out.nmb"),
        (["a.nc", "b.nc", "-j1", "--resume"], "out.nmb"),
        (["c.nc", "-j1", "--append"], "out.nmb"),
        (["a.nc", "b.nc", "-j1", "--link"], "out.nmb"),
        (["c.nc", "-j1", "--append", "--link"], "out.nmb"),
    ):
        yield options, target


def run(tools, options, target, calls, call):
    """nmcat with the call-th call of each of its threads failing (strace counts them thread by thread, and name by name);
    None: there are fewer."""
    error = "ENOSPC" if call % 2 else "EIO"
    trace = tools.work / "trace"
    command = ["strace", "-f", "-o", trace, "-e", f"trace={calls}", "-e",
               f"inject={calls}:error={error}:when={call}", tools.folder / "nmcat", *options, "-o", target]
    done = subprocess.run(command, cwd=tools.work, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    injected = "INJECTED" in trace.read_text()
    trace.unlink()
    return done if injected else None


def check_appended(tools, what, options, target, before, said):
    """The head leads to what it led to, or to all that was appended, and the message says that it may; more may lie
    behind."""
    found = (tools.work / target).read_bytes()
    tools.check(found[HEAD:len(before)] == before[HEAD:], f"{what}: values or metadata that were there changed")
    more = found[:HEAD] != before[:HEAD]
    blocks = tools.run("nminspect", "count", target, "--what=blocks").stdout
    tools.check(blocks == (b"3\n" if more else b"2\n"), f"{what}: found {blocks} blocks, head {'changed' if more else 'as before'}")
    if more:
        tools.check("generation 2 may be in the file" in said, f"{what}: said {said!r} of a generation that is there")
        tools.run("nmverify", target)
    tools.run("nmcat", *options, "-o", target, "--block-name", "again/{stem}")
    tools.run("nmverify", target)
    for block in ("a", "b", "again/c", *(["c"] if more else [])):
        if tools.run("nmconvert", "--external=beneath", target, "back.nc", "--extract", block).returncode == 0:
            tools.check_equal_bytes(tools.work / "back.nc", tools.work / f"{block[-1]}.nc", f"{what}: {block}")
            (tools.work / "back.nc").unlink()


def failing_calls(appends):
    """Of a file that is there every kind of call fails by itself: the first write that fails ends a run, ahead of the
    waits for the device."""
    for calls in CALLS.split(",")[:4] if appends else [CALLS]:
        for call in range(1, MOST):
            yield calls, call


def check_named(tools, what, options, target):
    """Where the folder cannot be synced the output has its name, whole, and the message says so."""
    done = run(tools, options, target, "fsync", 1)
    if done is None or done.returncode == 0:
        return
    tools.check(done.returncode == 2, f"{what}, folder: exit code {done.returncode}")
    tools.check("has its name nevertheless" in done.stderr, f"{what}, folder: said {done.stderr[:300]!r}")
    tools.run("nmverify", target)


def check(tools, options, target):
    what = f"{' '.join(options)} to {target}"
    appends = "--append" in options
    if appends:
        tools.run("nmcat", "a.nc", "b.nc", "-o", target, "-f")
    else:
        (tools.work / target).write_bytes(b"what was there")
        options = [*options, "-f"]
    before = (tools.work / target).read_bytes()
    names = sorted(path.name for path in tools.work.iterdir())
    failed = 0
    none_left = None
    for calls, call in failing_calls(appends):
        if calls == none_left:
            continue
        done = run(tools, options, target, calls, call)
        if done is None:
            none_left = calls
            continue
        here = f"{what}, call {call} of {calls}"
        # Reserving space may fail, because it is not necessary.
        if done.returncode == 0:
            (tools.work / target).write_bytes(before)
            continue
        failed += 1
        tools.check(done.returncode == 2, f"{here}: exit code {done.returncode}: {done.stderr[:300]}")
        said = [line for line in done.stderr.splitlines() if line.startswith("nmcat: ")]
        tools.check(any("Input/output error" in line or "No space left" in line for line in said), f"{here}: said {done.stderr[:300]!r}")
        left = sorted(path.name for path in tools.work.iterdir())
        if "--resume" in options:
            for hidden in (".out.nmb.part", ".out.nmb.journal"):
                (tools.work / hidden).unlink(missing_ok=True)
            left = [one for one in left if not one.startswith(".out.nmb.")]
        tools.check(left == names, f"{here}: found files {left}")
        if appends:
            check_appended(tools, here, options, target, before, done.stderr)
            (tools.work / target).write_bytes(before)
        else:
            tools.check((tools.work / target).read_bytes() == before, f"{here}: the target was changed")
    if not appends:
        check_named(tools, what, options, target)
    # Links have no values to write.
    tools.check(failed >= (3 if "--link" in options else 4), f"{what}: found {failed} calls that fail")
    (tools.work / target).unlink()


def test(tools):
    if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        raise Skip("strace cannot trace here")
    make(tools.work / "a.nc", 0, 3, ROWS)
    make(tools.work / "b.nc", ROWS, 3, ROWS)
    make(tools.work / "a2.nc", 0, 3, ROWS)
    make(tools.work / "c.nc", 0, 3, ROWS)
    for options, target in commands():
        check(tools, options, target)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
