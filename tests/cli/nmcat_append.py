#!/usr/bin/python3
"""nmcat --append: blocks become a new generation of a file that is there. What it had stays value by value and byte by
byte, whatever goes wrong; the bytes are the same by threads and as an MPI job.

    nmcat_append.py --tools FOLDER
"""

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


def check_failures(tools):
    before = (tools.work / "out.nmb").read_bytes()
    (tools.work / "text.nc").write_text("no netCDF file")
    make(tools.work / "more.nc", 99)
    for inputs, options, code, says in (
        (["more.nc", "in1.nc"], [], 1, "block name in1: found one that the output has, expected a new one: in1.nc"),
        (["more.nc", "more.nc"], [], 1, "block name more: found two inputs with this block name"),
        (["more.nc", "text.nc"], [], 2, "text.nc"),
        (["more.nc", "nowhere.nc"], [], 2, "No such file"),
        (["out.nmb"], [], 2, "is also the input"),
        (["more.nc"], ["--mode", "join"], 2, "expected pack"),
        (["more.nc"], ["-f"], 2, "found --append with -f"),
        (["more.nc"], ["--resume"], 2, "found --append with --resume"),
        (["more.nc"], ["--dry-run"], 2, "found --append with --dry-run"),
        (["more.nc"], ["--to", "nc4"], 2, "found --append with an output of kind nc4"),
    ):
        expect(tools, nmcat(tools, [], *inputs, "-o", "out.nmb", "--append", *options), code, says, f"{inputs} {options}")
        tools.check((tools.work / "out.nmb").read_bytes() == before, f"{inputs} {options}: the file was changed")
    expect(tools, nmcat(tools, [], "more.nc", "-o", "none.nmb", "--append"), 2, "No such file", "no file")
    tools.check(not (tools.work / "none.nmb").exists(), "none.nmb: found a file")
    shutil.copy(tools.work / "text.nc", tools.work / "text.nmb")
    expect(tools, nmcat(tools, [], "more.nc", "-o", "text.nmb", "--append"), 2, "text.nmb", "a text file")


def check_kills(tools):
    """What was there is there, and the next one that appends goes on from it. What it left behind is recorded, and goes
    with --repack."""
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
    check_failures(tools)
    check_kills(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
