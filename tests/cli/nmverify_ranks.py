#!/usr/bin/python3
"""nmverify by the processes of an MPI job: the same report and exit code as by one process, and all read values.

    nmverify_ranks.py --tools FOLDER
"""

import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from interrupt import header  # noqa: E402
from nmcat_ranks import LAUNCHERS, launchers  # noqa: E402
from tool_runs import main  # noqa: E402

VALUES = 24 << 20
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")


def nmverify(tools, launcher, *arguments):
    command = [*launcher, tools.folder / "nmverify", *arguments]
    done = subprocess.run(command, cwd=tools.work, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    said = [line for line in done.stderr.splitlines() if line.startswith("nmverify:")]
    return done.returncode, done.stdout, said


def check(tools, exit_code, *arguments):
    one = nmverify(tools, [], *arguments)
    tools.check(one[0] == exit_code, f"{arguments}: exit code {one[0]}, expected {exit_code}")
    for launcher in launchers(tools)[1:]:
        for count in ("2", "4") if launcher[0] == LAUNCHERS["openmpi"][0] else ("3",):
            many = nmverify(tools, [*launcher[:-1], count], *arguments)
            tools.check(many == one, f"{arguments} by {count} of {launcher[0]}: found {many}, expected {one}"[:2000])


def check_shares(tools, path):
    """Each process reads about its share."""
    if not shutil.which("strace"):
        return
    for launcher in launchers(tools)[1:]:
        trace = tools.work / "trace"
        trace.mkdir()
        script = f'exec strace -f -qq -e trace=pread64 -P {path} -o {trace}/$$ "$@"'
        nmverify(tools, [*launcher, "sh", "-c", script, "sh"], path)
        read = [
            sum(int(line.rsplit("= ", 1)[1]) for line in file.read_text().splitlines() if line[-1].isdigit())
            for file in trace.iterdir()
        ]
        most = path.stat().st_size // 3 + (8 << 20)
        tools.check(len(read) == 3 and max(read) <= most, f"{launcher[0]}: read {read}, expected at most {most} each")
        shutil.rmtree(trace)


def test(tools):
    work = tools.work
    for i in range(5):
        path = work / f"in{i}.nc"
        path.write_bytes(header(VALUES) + random.Random(i).randbytes(1 << 16) * (VALUES >> 16))
    inputs = [f"in{i}.nc" for i in range(5)]
    tools.run("nmcat", *inputs, "-o", "sound.nmb")
    tools.run("nmcat", *inputs, "-o", "coded.nmb", "--compress", "zstd")
    tools.run("nmcat", *inputs, "-o", "linked.nmb", "--link")
    tools.example("make_graph_samples", work / "graphs", "--files", "1", "--samples", "500")
    graphs = next((work / "graphs").iterdir())
    sound = (work / "sound.nmb").read_bytes()
    damaged = bytearray(sound)
    for at in range(1 << 20, len(damaged) - (1 << 20), 7 << 20):
        damaged[at] ^= 1
    (work / "damaged.nmb").write_bytes(damaged)
    coded = bytearray((work / "coded.nmb").read_bytes())
    coded[len(coded) // 2] ^= 1
    (work / "coded_damaged.nmb").write_bytes(coded)
    (work / "cut.nmb").write_bytes(sound[: len(sound) // 2])
    (work / "text.nmb").write_text("no such file\n")
    check(tools, 0, "sound.nmb")
    check(tools, 0, "coded.nmb", "linked.nmb", graphs, "in0.nc", "sound.nmb", "--json")
    check(tools, 1, "damaged.nmb")
    check(tools, 1, "damaged.nmb", "coded_damaged.nmb", "sound.nmb", "cut.nmb", "--json")
    check(tools, 0, "damaged.nmb", "--level", "blocks")
    check(tools, 2, "sound.nmb", "text.nmb", "damaged.nmb", "missing.nmb")
    check(tools, 2)
    check_shares(tools, work / "sound.nmb")


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
