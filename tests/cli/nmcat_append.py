#!/usr/bin/python3
"""nmcat --append: blocks become a new generation of a file that is there. Its old content stays value by value and byte
by byte, whatever goes wrong; the bytes are the same by threads and as an MPI job.

    nmcat_append.py --tools FOLDER
"""

import json
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from interrupt import written  # noqa: E402
from nmcat_ranks import launchers, nmcat  # noqa: E402
from nmcat_resume import FILES, VALUES, Resumed, make  # noqa: E402
from tool_runs import main  # noqa: E402


def expect(tools, done, code, says, what):
    tools.check(done.returncode == code and says in done.stderr, f"{what}: exit code {done.returncode}, said {done.stderr!r}")


def check_growth(tools):
    """A generation a file, the last by all kinds of ranks."""
    for count in range(1, FILES):
        added = nmcat(tools, [], f"in{count}.nc", "-o", "out.nmb", "--append")
        expect(tools, added, 0, "", f"append {count}")
    tools.run("nmverify", "out.nmb")
    found = tools.run("nminspect", "ls", "out.nmb").stdout.decode().split()
    tools.check([f"in{i}" for i in range(FILES)] == [word for word in found if word.startswith("in") and "/" not in word][:FILES],
                f"found blocks {found}")
    for i in range(FILES):
        tools.run("nmconvert", "out.nmb", "back.nc", "--extract", f"in{i}", "-f")
        tools.check_equal_bytes(tools.work / "back.nc", tools.work / f"in{i}.nc", f"in{i}")
    (tools.work / "back.nc").unlink()


def check_ranks(tools):
    tools.run("nmcat", "in0.nc", "-o", "first.nmb")
    last = [f"in{i}.nc" for i in range(1, FILES)]
    for n, (launcher, jobs) in enumerate([*((one, "1") for one in launchers(tools)), ([], "2"), ([], "3")]):
        shutil.copy(tools.work / "first.nmb", tools.work / "ranks.nmb")
        expect(tools, nmcat(tools, launcher, *last, "-o", "ranks.nmb", "--append", "-j", jobs), 0, "", f"{launcher} -j{jobs}")
        if n == 0:
            shutil.copy(tools.work / "ranks.nmb", tools.work / "want.nmb")
        tools.check_equal_bytes(tools.work / "ranks.nmb", tools.work / "want.nmb", f"{launcher} -j{jobs}")


def check_replace(tools):
    """A block of the file is replaced by one of its name; others stay; a dry run and a failure change nothing."""
    shutil.copy(tools.work / "want.nmb", tools.work / "new.nmb")
    make(tools.work / "changed.nc", 77)
    before = (tools.work / "new.nmb").read_bytes()
    refused = nmcat(tools, [], "changed.nc", "-o", "new.nmb", "--append", "--block-name", "in1")
    expect(tools, refused, 1, "a block that the output already has", "append of a block that is there")
    refused = nmcat(tools, [], "changed.nc", "-o", "x.nmb", "--replace")
    expect(tools, refused, 2, "--replace needs --append", "replace without append")
    refused = nmcat(tools, [], "changed.nc", "changed.nc", "-o", "new.nmb", "--append", "--replace", "--block-name", "in1")
    expect(tools, refused, 1, "two inputs", "two inputs for one block")
    tools.check((tools.work / "new.nmb").read_bytes() == before, "a refusal changed the file")
    for n, (launcher, jobs) in enumerate([([], "1"), *((one, "1") for one in launchers(tools)), ([], "3")]):
        shutil.copy(tools.work / "want.nmb", tools.work / "new.nmb")
        inputs = ["changed.nc", "-o", "new.nmb", "--append", "--replace", "--block-name", "in1", "-j", jobs]
        expect(tools, nmcat(tools, launcher, *inputs), 0, "replaced 1 block", f"{launcher} -j{jobs}")
        if n == 0:
            shutil.copy(tools.work / "new.nmb", tools.work / "want_new.nmb")
        tools.check_equal_bytes(tools.work / "new.nmb", tools.work / "want_new.nmb", f"replace, {launcher} -j{jobs}")
    tools.run("nmverify", "new.nmb")
    for name, block in (("changed", "in1"), ("in0", "in0"), ("in2", "in2")):
        tools.run("nmconvert", "new.nmb", "back.nc", "--extract", block, "-f")
        tools.check_equal_bytes(tools.work / "back.nc", tools.work / f"{name}.nc", f"replaced: {block}")
    blocks = [int(tools.run("nminspect", "count", name, "--what=blocks").stdout) for name in ("want.nmb", "new.nmb")]
    tools.check(blocks[0] == blocks[1], f"replaced: {blocks[1]} blocks, expected {blocks[0]}")
    (tools.work / "back.nc").unlink()


def check_replace_by_nothing(tools):
    """A classic file without content replaces a block like any other file."""
    shutil.copy(tools.work / "want.nmb", tools.work / "new.nmb")
    (tools.work / "empty.nc").write_bytes(b"CDF\1" + bytes(28))
    append = ["empty.nc", "-o", "new.nmb", "--append", "--block-name", "in1"]
    expect(tools, nmcat(tools, [], *append), 1, "a block that the output already has", "append of nothing")
    expect(tools, nmcat(tools, [], *append, "--replace"), 0, "", "replace by nothing")
    tools.run("nmconvert", "new.nmb", "back.nc", "--extract", "in1", "-f")
    tools.check_equal_bytes(tools.work / "back.nc", tools.work / "empty.nc", "in1 replaced by nothing")
    (tools.work / "back.nc").unlink()


def check_failures(tools):
    before = (tools.work / "out.nmb").read_bytes()
    (tools.work / "text.nc").write_text("no netCDF file")
    make(tools.work / "more.nc", 99)
    for inputs, options, code, says in (
        (["more.nc", "in1.nc"], [], 1, "block name in1: found a block that the output already has, expected a new block: in1.nc"),
        (["more.nc", "more.nc"], [], 1, "block name more: two inputs have a block of this name"),
        (["more.nc", "text.nc"], [], 2, "text.nc"),
        (["more.nc", "nowhere.nc"], [], 2, "No such file"),
        (["out.nmb"], [], 2, "is also the input"),
        (["more.nc"], ["--mode", "join"], 2, "--append needs --mode pack"),
        (["more.nc"], ["-f"], 2, "--append and -f exclude each other"),
        (["more.nc"], ["--resume"], 2, "--append and --resume exclude each other"),
        (["more.nc"], ["--to", "nc4"], 2, "--append needs an output of kind nmb; OUT is nc4"),
    ):
        expect(tools, nmcat(tools, [], *inputs, "-o", "out.nmb", "--append", *options), code, says, f"{inputs} {options}")
        tools.check((tools.work / "out.nmb").read_bytes() == before, f"{inputs} {options}: the file was changed")
    expect(tools, nmcat(tools, [], "more.nc", "-o", "none.nmb", "--append"), 2, "No such file", "no file")
    tools.check(not (tools.work / "none.nmb").exists(), "none.nmb: found a file")
    shutil.copy(tools.work / "text.nc", tools.work / "text.nmb")
    expect(tools, nmcat(tools, [], "more.nc", "-o", "text.nmb", "--append"), 2, "text.nmb", "a text file")


def check_uncommitted(tools):
    """A writer that was stopped between its last two writes leaves a whole generation that is not committed. Wrong inputs
    are found before anything is taken over; what is taken over is told; nothing is made of the file without it."""
    tools.run("nmcat", "in0.nc", "-o", "stopped.nmb")
    head = (tools.work / "stopped.nmb").read_bytes()[:16384]
    tools.run("nmcat", "in1.nc", "-o", "stopped.nmb", "--append")
    stopped = head + (tools.work / "stopped.nmb").read_bytes()[16384:]
    (tools.work / "stopped.nmb").write_bytes(stopped)
    for command in (["nmcat", "stopped.nmb", "-o", "kept.nmb"], ["nmconvert", "--repack", "stopped.nmb", "kept.nmb"],
                    ["nmconvert", "stopped.nmb", "kept.nc", "--extract", "in0"]):
        done = tools.run(*command, exit_code=1)
        tools.check(b"generation 2 is complete, but the head refers to generation 1" in done.stderr and b"R-SB-13" in done.stderr,
                    f"{command}: said {done.stderr!r}")
        tools.check(not list(tools.work.glob("kept*")), f"{command}: found an output")
    for wrong in ("nowhere.nc", "text.nc"):
        expect(tools, nmcat(tools, [], wrong, "-o", "stopped.nmb", "--append"), 2, wrong, wrong)
        tools.check((tools.work / "stopped.nmb").read_bytes() == stopped, f"{wrong}: the file was changed")
    done = nmcat(tools, [], "in1.nc", "-o", "stopped.nmb", "--append", "--json")
    expect(tools, done, 1, "was complete but not committed; it is sound and was accepted", "append in1 again")
    warnings = json.loads(done.stdout)["warnings"]
    tools.check(len(warnings) == 2 and "accepted" in warnings[0] and "restored" in warnings[1], f"found warnings {warnings}")
    tools.run("nmverify", "stopped.nmb")
    tools.run("nmcat", "stopped.nmb", "-o", "kept.nmb")


def check_kills(tools):
    """The old content stays, and the next run that appends continues from it. The bytes that it left behind are
    recorded, and --repack removes them."""
    inputs = [f"in{i}.nc" for i in range(FILES)]
    for i, most in enumerate(range(1 << 20, FILES * VALUES, FILES * VALUES // 5)):
        process = subprocess.Popen(
            [tools.folder / "nmcat", *inputs, "-o", "out.nmb", "--append", "--block-name", f"again{i}/{{stem}}"], cwd=tools.work)
        while process.poll() is None and written(process) < most:
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        tools.run("nminspect", "count", "out.nmb", "--what", "blocks")
    left = (tools.work / "out.nmb").stat().st_size
    expect(tools, nmcat(tools, [], "more.nc", "-o", "out.nmb", "--append", "--block-name", "last"), 0, "", "after kills")
    tools.run("nmverify", "out.nmb")
    added = (tools.work / "out.nmb").stat().st_size - left
    tools.check(VALUES <= added < 2 * VALUES, f"after kills: {added} bytes more, of {VALUES} of values")
    blocks = int(tools.run("nminspect", "count", "out.nmb", "--what=blocks").stdout)
    tools.run("nmconvert", "--repack", "out.nmb", "repacked.nmb")
    repacked = (tools.work / "repacked.nmb").stat().st_size
    tools.check(blocks * VALUES < repacked < (blocks + 1) * VALUES, f"repacked: {repacked} bytes of {blocks} blocks")
    tools.run("nmconvert", "out.nmb", "back.nc", "--extract", "in1")
    tools.check_equal_bytes(tools.work / "back.nc", tools.work / "in1.nc", "after kills")


def test(tools):
    Resumed(tools)  # makes the inputs
    tools.run("nmcat", "in0.nc", "-o", "out.nmb")
    check_growth(tools)
    check_ranks(tools)
    check_replace(tools)
    check_replace_by_nothing(tools)
    check_failures(tools)
    check_uncommitted(tools)
    check_kills(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
