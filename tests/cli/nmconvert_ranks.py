#!/usr/bin/python3
"""nmconvert on threads and as processes of an MPI job: the same files and the same words as by one process.

    nmconvert_ranks.py --tools FOLDER
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
from nmcat_ranks import launchers  # noqa: E402
from tool_runs import main  # noqa: E402


def nmconvert(tools, launcher, *arguments):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               ASAN_OPTIONS="detect_leaks=0")
    command = [*launcher, tools.folder / "nmconvert", *arguments, *([] if launcher else ["-j3"])]
    done = subprocess.run(command, cwd=tools.work, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, [line for line in done.stderr.splitlines() if line.startswith("nmconvert:")]


def expect(tools, launcher, arguments, code, words=()):
    found = nmconvert(tools, launcher, *arguments)
    tools.check(found == (code, list(words)), f"{launcher} {arguments}: found {found}, expected {(code, list(words))}")


def test(tools):
    # Large enough for every rank to have windows of the values, that of the last not whole.
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "1", "--samples", "100")
    source, = (tools.work / "graphs").iterdir()
    tools.check(source.stat().st_size > 5 << 20, "an input of more than 5 MiB")
    plain = tools.work / "plain.nc"
    tools.run("nmconvert", source, plain, "--to", "cdf5", "-j1")
    tools.run("nmconvert", source, tools.work / "alone.nmb", "-j1")
    cut = tools.work / "cut.nmb"
    cut.write_bytes((tools.work / "alone.nmb").read_bytes()[:-9000])
    wrong = bytearray((tools.work / "alone.nmb").read_bytes())
    wrong[len(wrong) * 2 // 3] ^= 1
    (tools.work / "wrong.nmb").write_bytes(wrong)
    for launcher in launchers(tools):
        expect(tools, launcher, [source, "ranks.nmb", "-f"], 0)
        tools.check_equal_bytes(tools.work / "alone.nmb", tools.work / "ranks.nmb", f"{launcher} to NMB")
        expect(tools, launcher, ["ranks.nmb", "back.nc", "-f"], 0)
        tools.check_equal_bytes(source, tools.work / "back.nc", f"{launcher} back")
        expect(tools, launcher, [source, "other.nc", "--to", "cdf5", "-f"], 0)
        tools.check_equal_bytes(plain, tools.work / "other.nc", f"{launcher} to CDF-5")
        expect(tools, launcher, ["ranks.nmb", "other.nc", "--to", "cdf5", "-f"], 0)
        tools.check_equal_bytes(plain, tools.work / "other.nc", f"{launcher} from NMB to CDF-5")
        for target in ("new.nc", "new.nmb"):
            expect(tools, launcher, ["missing.nc", target], 2,
                   ["nmconvert: missing.nc: cannot open: No such file or directory"])
        where = " (on rank 0)" if launcher else ""
        expect(tools, launcher, ["ranks.nmb", "back.nc"], 2,
               ["nmconvert: back.nc: the target exists, and to replace it was not asked for" + where])
        for damaged, target in ((cut, "new.nc"), ("wrong.nmb", "new.nc"), ("wrong.nmb", "new.nmb")):
            code, words = nmconvert(tools, launcher, damaged, target)
            tools.check(code == 1 and len(words) == 1, f"{launcher} {damaged} to {target}: {code}, {words}")
            tools.check(not (tools.work / target).exists(), f"{launcher} {damaged}: a file is left")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
