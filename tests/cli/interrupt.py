#!/usr/bin/python3
"""SIGHUP, SIGINT and SIGTERM while nmcat and nmconvert write: exit code 128 + signal, nothing is left behind, and
an existing target is as it was. SIGKILL: what is left behind is removed by the next run that writes the same file.

    interrupt.py --tools FOLDER
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from nmcat_ranks import launchers  # noqa: E402
from tool_runs import main, netcdf4  # noqa: E402

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


def hidden(tools):
    return sorted(path.name for path in tools.work.iterdir() if path.name.startswith("."))


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def start(tools, command, launcher=()):
    """Starts a command and waits until it writes to a file with a hidden name."""
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    process = subprocess.Popen(
        [*launcher, tools.folder / command[0], *command[1:]], cwd=tools.work, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=env, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: process.poll() is not None or any((tools.work / name).stat().st_size > 0 for name in hidden(tools)))
    tools.check(process.poll() is None, f"{' '.join(command)}: ended before it was stopped: {process.returncode}")
    return process


def check_ranks(tools):
    """Processes of an MPI job, whose launcher gets the signal and may end them at once."""
    for launcher in launchers(tools)[1:]:
        for number in (signal.SIGINT, signal.SIGTERM):
            for output in ("out.nmb", "out.nc4"):
                what = f"{launcher[0]}, {output}, signal {number}"
                # The launcher may pass the signal on after the file got its name: the file is then whole.
                for _ in range(5):
                    process = start(tools, ("nmcat", "large.nc", "-o", output), launcher)
                    process.send_signal(number)
                    process.wait(timeout=60)
                    tools.check(wait_until(lambda: not hidden(tools), 10), f"{what}: left behind {hidden(tools)}")
                    if not (tools.work / output).exists():
                        # MPICH's launcher, stopped by a signal, may return 0 whatever its processes returned.
                        said = process.returncode != 0 or "mpich" in launcher[0]
                        tools.check(said, f"{what}: exit code 0 without a file")
                        break
                    tools.run("nmverify", "-q", output)
                    (tools.work / output).unlink()
                else:
                    tools.check(False, f"{what}: wrote a file each time")


def check_layout(tools):
    """--layout cmip7 measures the metadata first, in files without names."""
    command = ("nmconvert", "many.nc", "out.nc4", "--layout", "cmip7", "--no-sync")
    with netcdf4().Dataset(tools.work / "many.nc", "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        for name in "time", *(f"v{i}" for i in range(300)):
            file.createVariable(name, "f8", ("time",) if name == "time" else ("time", "x"))[:] = 1
    trace = tools.work.parent / (tools.work.name + ".trace")
    if shutil.which("strace"):
        subprocess.run(
            ["strace", "-f", "-o", trace, "-e", "trace=open,openat,creat,link,linkat,rename", tools.folder / command[0], *command[1:]],
            cwd=tools.work, capture_output=True, timeout=120,
        )  # fmt: skip
        lines = trace.read_text(errors="replace").splitlines() if trace.exists() else []
        trace.unlink(missing_ok=True)
        made = {match[1] for line in lines if "O_CREAT" in line and (match := re.search(r'"(.*?)"', line)) and ".part" in match[1]}
        names = {name.rpartition("/")[2].partition(".part")[2] for name in made}
        tools.check(names <= {""}, f"{' '.join(command)}: made {sorted(made)}")
    for step in range(24):
        (tools.work / "out.nc4").unlink(missing_ok=True)
        process = subprocess.Popen([tools.folder / command[0], *command[1:]], cwd=tools.work, stderr=subprocess.DEVNULL)
        time.sleep(0.004 * step)
        process.send_signal((signal.SIGHUP, signal.SIGINT, signal.SIGTERM)[step % 3])
        process.wait(timeout=60)
        tools.check(not hidden(tools), f"{' '.join(command)}, signal after {4 * step} ms: left {hidden(tools)}")
    (tools.work / "out.nc4").unlink(missing_ok=True)
    (tools.work / "many.nc").unlink()


def check_nohup(tools):
    """A SIGHUP that is ignored when a tool begins stays ignored."""
    for output in "out.nmb", "out.nc4":
        process = subprocess.Popen(
            [tools.folder / "nmconvert", "large.nc", output, "--no-sync"], cwd=tools.work, stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN), start_new_session=True,
        )  # fmt: skip
        while process.poll() is None:
            os.killpg(process.pid, signal.SIGHUP)
            time.sleep(0.02)
        tools.check(process.returncode == 0, f"{output}, SIGHUP ignored: {process.returncode}: {process.stderr.read()}")
        (tools.work / output).unlink(missing_ok=True)


def check_killed(tools):
    def writers():
        """Processes that have a file of the folder open."""
        found = 0
        for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
            try:
                found += os.readlink(descriptor).startswith(str(tools.work) + "/.")
            except OSError:
                pass
        return found

    (tools.work / "small.nc").write_bytes(header(4) + b"\x55" * 4)
    for command, rerun in (
        (("nmconvert", "large.nc", "out.nc4"), ("nmconvert", "small.nc", "out.nc4")),
        (("nmcat", "large.nc", "-o", "out.h5"), ("nmcat", "small.nc", "-o", "out.h5")),
    ):
        what, output = " ".join(command), command[-1]
        process = start(tools, command)
        process.kill()
        process.wait()
        tools.check(wait_until(lambda: writers() == 0), f"{what}: nmb-hdf5 goes on after the tool was killed")
        left = hidden(tools)
        tools.check(len(left) > 0 and all(name.startswith(f".{output}.") for name in left), f"{what}: left {left}")
        # Files of another host, of a process that exists, and for another output stay.
        host, _, dead = left[0].removeprefix(f".{output}.").removesuffix(".part").partition("-")
        stay = [
            f".{output}.00000000-{dead}.part", f".{output}.{host}-{os.getpid()}.part", f".{output}.part",
            f".{output}.{host}-{dead}.partial", f".other{output}.{host}-{dead}.part", f"{output}.{host}-{dead}.part",
        ]  # fmt: skip
        for name in stay:
            (tools.work / name).write_bytes(b"mine")
        tools.run(*rerun)
        found = [name for name in (*left, *stay) if (tools.work / name).exists()]
        tools.check(found == stay, f"{what}: the next run left {found}, expected {stay}")
        for name in (*stay, output):
            (tools.work / name).unlink()
    (tools.work / "small.nc").unlink()


def test(tools):
    with (tools.work / "large.nc").open("wb") as file:
        file.write(header(VALUES))
        for _ in range(VALUES >> 20):
            file.write(b"\x55" * (1 << 20))
    (tools.work / "target.nc").write_bytes(b"what was there")
    (tools.work / "target").write_bytes(b"what was there")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        check(tools, number, ("nmcat", "large.nc", "-o", "out.nmb"))
        check(tools, number, ("nmcat", "large.nc", "-o", "out.nmb", "-j1"))
        check(tools, number, ("nmcat", "large.nc", "-f", "-o", "target"))
        check(tools, number, ("nmconvert", "large.nc", "target.nc", "-f", "--to", "cdf2"))
        check(tools, number, ("nmconvert", "large.nc", "out.nmb"))
        check(tools, number, ("nmconvert", "large.nc", "out.nc4"))
        check(tools, number, ("nmconvert", "large.nc", "target.nc", "-f", "--to", "hdf5"))
        check(tools, number, ("nmcat", "large.nc", "-o", "out.h5"))
    check_layout(tools)
    check_nohup(tools)
    check_ranks(tools)
    check_killed(tools)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
