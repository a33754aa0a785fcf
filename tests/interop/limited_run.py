"""Runs a tool and measures what it takes: it and the process that it starts for HDF5."""

import collections
import os
import signal
import subprocess
import tempfile
import time

MIB = 1 << 20
STEP = 0.002  # seconds between looks at a process's memory
SANITIZED = "NMB_SANITIZED" in os.environ  # shadow memory: memory is not measured then
SLOWER = 10 if SANITIZED else 1
# HDF5 requests more memory than there is, and gets an error.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1"}
PATIENCE = 10  # how often the limit of CPU time may pass on the clock, on a busy machine

# exit_code: negative for a signal, None if it was ended since it took too long; seconds: CPU time; tool_peak:
# bytes of the tool itself, as last seen; peak: of the larger one of the two; said: on standard error, or findings on
# standard output.
Run = collections.namedtuple("Run", "exit_code seconds tool_peak peak said")


def run(command, folder, limit):
    """A Run of the command in the folder. limit: of CPU time, in seconds; problems() judges it."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=ENVIRONMENT if SANITIZED else None,
            start_new_session=True,
        )
        tool_peak, ended = 0, False
        while True:
            tool_peak = max(tool_peak, high_water(process.pid))
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if not ended and time.monotonic() - start > limit * SLOWER * PATIENCE:
                os.killpg(process.pid, signal.SIGKILL)
                ended = True
            time.sleep(STEP)
        seconds = usage.ru_utime + usage.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        said = text_of(errors) or (text_of(output) if process.returncode in (1, 3) else "")
    return Run(None if ended else process.returncode, seconds, tool_peak, usage.ru_maxrss << 10, said)


def text_of(stream):
    stream.seek(0)
    return stream.read().decode(errors="replace").strip()


def high_water(process):
    """The most memory it had so far, in bytes; 0 once it has ended."""
    try:
        with open(f"/proc/{process}/status") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")), 0)
    except (OSError, ValueError):
        return 0


def problems(done, size, limit):
    """What a tool must not do whatever the file of `size` bytes: texts."""
    out = []
    if done.exit_code is None or done.seconds > limit * SLOWER:
        out.append(f"took {done.seconds:.1f} s, expected at most {limit * SLOWER}")
    elif done.exit_code < 0:
        out.append(f"ended by signal {-done.exit_code}")
    elif done.exit_code > 3:
        out.append(f"exit code {done.exit_code}, expected 0 to 3")
    elif done.exit_code and not done.said:
        out.append(f"exit code {done.exit_code} without a diagnostic")
    if not SANITIZED:
        for who, peak, most in (
            ("the tool", done.tool_peak, 64 * MIB + 2 * size),
            ("its HDF5 process", done.peak, 1024 * MIB + 4 * size),  # libformat/nmb-hdf5/resource_limits.cpp
        ):
            if peak > most:
                out.append(f"{who} took {peak / MIB:.0f} MiB, expected at most {most / MIB:.0f}")
    return out
