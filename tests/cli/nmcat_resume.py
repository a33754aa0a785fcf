#!/usr/bin/python3
"""nmcat --resume: killed at any moment, interrupted, without room, on threads and as an MPI job: the same call goes on
from what was done, and the file is that of a run that nothing happened to. Finished parts are not read from the inputs
again, unless they are no longer there.

    nmcat_resume.py --tools FOLDER

NMB_ALL=1: killed twelve times, not three.
"""

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from interrupt import header, written  # noqa: E402
from nmcat_ranks import launchers  # noqa: E402
from tool_runs import ALL, main, some  # noqa: E402

FILES, VALUES = 6, 24 << 20  # bytes of values of a file
HIDDEN, JOURNAL = ".out.nmb.part", ".out.nmb.journal"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")


def make(path, seed):
    path.write_bytes(header(VALUES) + random.Random(seed).randbytes(1 << 20) * (VALUES >> 20))


class Resumed:
    def __init__(self, tools, output="out.nmb", options=()):
        self.tools, self.output, self.options = tools, output, options
        self.inputs = [f"in{i}.nc" for i in range(FILES)]
        for i, name in enumerate(self.inputs):
            make(tools.work / name, i)
        self.want = output.replace("out", "want")
        tools.run("nmcat", *self.inputs, "-o", self.want, *options)

    def start(self, *options, launcher=(), **more):
        return subprocess.Popen(
            [*launcher, self.tools.folder / "nmcat", *self.inputs, "-o", self.output, "--resume", *self.options, *options],
            cwd=self.tools.work, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more,
        )

    def left(self):
        return sorted(path.name for path in self.tools.work.iterdir() if path.name.startswith((".", "out.")))

    def finish(self, what, *options, launcher=()):
        process = self.start(*options, launcher=launcher)
        said = process.communicate(timeout=120)[1]
        self.tools.check(process.returncode == 0, f"{what}: exit code {process.returncode}: {said}")
        self.tools.check(self.left() == [self.output], f"{what}: found files {self.left()}")
        if (self.tools.work / self.output).exists():
            self.tools.check_equal_bytes(self.tools.work / self.output, self.tools.work / self.want, what)
            (self.tools.work / self.output).unlink()
        return said

    def stop(self, number, most, *options, **more):
        """A run that gets a signal once it has written so many bytes; False if it had ended before."""
        process = self.start(*options, **more)
        while process.poll() is None and written(process) < most:
            time.sleep(0.0005)
        process.send_signal(number)
        said = process.communicate(timeout=120)[1]
        if process.returncode == 0:
            (self.tools.work / self.output).unlink()
            return False, said
        return True, said


def check_kills(resumed, rounds):
    for i in range(rounds):
        random.seed(i)
        jobs = random.choice(("1", "2"))
        for _ in range(random.randint(1, 3)):
            resumed.stop(signal.SIGKILL, random.randrange(FILES * VALUES), "-j", jobs)
        resumed.finish(f"killed, round {i}")


def check_reads(resumed):
    """What was written by half of the run is read from there, not from the inputs."""
    if not shutil.which("strace") or subprocess.run(["strace", "true"], capture_output=True).returncode != 0:
        return
    if not resumed.stop(signal.SIGKILL, FILES * VALUES // 2, "-j1")[0]:
        return
    done = (resumed.tools.work / JOURNAL).stat().st_size // 32 << 20
    paths = [word for name in resumed.inputs for word in ("-P", resumed.tools.work / name)]
    trace = resumed.tools.work / "trace"
    resumed.finish("traced", "-j1", launcher=["strace", "-f", "-e", "trace=pread64,preadv", "-o", trace, *paths])
    read = sum(int(line.rsplit("= ", 1)[1]) for line in trace.read_text().splitlines() if line[-1].isdigit() and "= " in line)
    resumed.tools.check(read <= FILES * VALUES - done + (4 << 20), f"read {read} bytes of inputs, {done} were done")
    trace.unlink()


def check_interrupt(resumed):
    was_stopped, said = resumed.stop(signal.SIGINT, 8 << 20, "-j1")
    if was_stopped:
        resumed.tools.check(resumed.left() == [JOURNAL, HIDDEN], f"interrupted: found files {resumed.left()}")
        resumed.tools.check(f"finished work is kept in ./{HIDDEN} and its journal" in said, f"interrupted: said {said!r}")
    resumed.finish("interrupted")


def check_damage(resumed):
    """What the hidden file no longer has is done again; so is what a damaged journal tells."""
    work = resumed.tools.work
    for damage in ("file", "journal", "cut", "gone"):
        resumed.stop(signal.SIGKILL, FILES * VALUES // 2, "-j1")
        if not (work / JOURNAL).exists():
            continue
        if damage == "gone":
            (work / HIDDEN).unlink()
        else:
            path = work / (HIDDEN if damage == "file" else JOURNAL)
            with path.open("r+b") as file:
                for at in range(4000, path.stat().st_size, 1 << 20) if damage == "file" else range(24, path.stat().st_size, 100):
                    file.seek(at)
                    file.write(b"\xff\x01")
                if damage == "cut":
                    file.truncate(path.stat().st_size - 5)
        resumed.finish(f"damaged: {damage}")


def check_others(resumed):
    """Other inputs or options do not go on from it, and it stays."""
    work = resumed.tools.work
    if not resumed.stop(signal.SIGKILL, FILES * VALUES // 2, "-j1")[0]:
        return
    for options in (["--compress", "zstd:1"], ["--block-name", "x/{stem}"], ["--samples", "none"]):
        process = resumed.start(*options)
        said = process.communicate(timeout=60)[1]
        resumed.tools.check(process.returncode == 2 and "journal belongs to a run with different inputs or options" in said,
                            f"{options}: exit code {process.returncode}: {said!r}")
    before = (work / "in0.nc").stat()
    os.utime(work / "in0.nc", ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    process = resumed.start()
    said = process.communicate(timeout=60)[1]
    resumed.tools.check(process.returncode == 2 and "journal belongs to a run" in said, f"touched: exit code {process.returncode}: {said!r}")
    os.utime(work / "in0.nc", ns=(before.st_atime_ns, before.st_mtime_ns))
    # Without the option another file is written.
    resumed.tools.run("nmcat", *resumed.inputs, "-o", "out.nmb")
    resumed.tools.check(resumed.left() == [JOURNAL, HIDDEN, "out.nmb"], f"without: found files {resumed.left()}")
    (work / "out.nmb").unlink()
    resumed.finish("after others", "-j2", "--no-sync")


def check_published(resumed):
    """The next call removes what a run left that was killed after the output had its name."""
    work = resumed.tools.work
    for publish in (os.rename, os.link):
        if not resumed.stop(signal.SIGKILL, FILES * VALUES // 2, "-j1")[0]:
            continue
        publish(work / HIDDEN, work / "out.nmb")
        process = resumed.start()
        said = process.communicate(timeout=60)[1]
        resumed.tools.check(process.returncode == 2 and "the file exists" in said, f"published: exit code {process.returncode}: {said!r}")
        resumed.tools.check(resumed.left() == ["out.nmb"], f"published by {publish.__name__}: found files {resumed.left()}")
        (work / "out.nmb").unlink()


def check_failures(resumed):
    """Where nothing was done nothing stays."""
    work = resumed.tools.work
    (work / "text.nc").write_text("no netCDF file")
    resumed.inputs.append("text.nc")
    process = resumed.start()
    said = process.communicate(timeout=60)[1]
    resumed.tools.check(process.returncode == 2 and resumed.left() == [], f"text: exit code {process.returncode}, left {resumed.left()}: {said}")
    resumed.inputs.pop()
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (FILES * VALUES // 2,) * 2)
    process = resumed.start(preexec_fn=limit)
    said = process.communicate(timeout=60)[1]
    resumed.tools.check(process.returncode == 2 and resumed.left() == [], f"limit: exit code {process.returncode}, left {resumed.left()}: {said}")
    for options in (["--dry-run"], ["--io", "mpiio"]):
        process = resumed.start(*options)
        said = process.communicate(timeout=60)[1]
        resumed.tools.check(process.returncode == 2, f"{options}: exit code {process.returncode}: {said}")
        resumed.tools.check(resumed.left() == [], f"{options}: left {resumed.left()}")


def check_busy(resumed):
    """Two at once: one of them has it."""
    processes = [resumed.start("-j1"), resumed.start("-j1")]
    said = [process.communicate(timeout=60)[1] for process in processes]
    codes = sorted(process.returncode for process in processes)
    resumed.tools.check(codes == [0, 2], f"two at once: exit codes {codes}: {said}")
    (resumed.tools.work / "out.nmb").unlink(missing_ok=True)
    resumed.tools.check(resumed.left() == [], f"two at once: left {resumed.left()}")


def check_statistics(resumed):
    """What was moved before the run ended is counted too."""
    tools, counted = resumed.tools, ("--stats", "histogram")
    shutil.move(tools.work / "want.nmb", tools.work / "plain.nmb")
    tools.run("nmcat", *resumed.inputs, "-o", "want.nmb", *counted)
    for jobs in ("-j1", "-j2"):
        resumed.stop(signal.SIGKILL, FILES * VALUES // 2, jobs, *counted)
        resumed.finish(f"statistics {jobs}", jobs, *counted)
    shutil.move(tools.work / "plain.nmb", tools.work / "want.nmb")


def check_processes(resumed):
    for launcher in launchers(resumed.tools):
        if launcher:
            resumed.stop(signal.SIGKILL, FILES * VALUES // 3, "-j1")
            resumed.finish(launcher[0], launcher=launcher)
            resumed.finish(launcher[0] + " from the first", launcher=launcher)


def processes_of_session(session):
    """The processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        # The fields behind the name of the program: state, parent, group, session.
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, _, _, its = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            # A process that has ended keeps its files, and their locks, until its last thread has ended.
            if entry.name.isdigit() and int(its) == session and (state not in "ZX" or len(os.listdir(entry / "task")) > 1):
                found.append(int(entry.name))
    return found


def is_locked(path):
    """Whether a process has a lock on the file."""
    inode = path.stat().st_ino
    return any(line.split()[-3].endswith(f":{inode}") for line in Path("/proc/locks").read_text().splitlines())


def stop_job(resumed, launcher, most, *options):
    """A job all of whose processes are killed once their journal has so many bytes; False if it had ended before."""
    journal = resumed.tools.work / JOURNAL
    process = resumed.start(*options, launcher=launcher, start_new_session=True)
    while process.poll() is None and not (journal.exists() and journal.stat().st_size >= most):
        time.sleep(0.0005)
    # A launcher puts its processes into groups of their own. One that dies has the file locked until it is gone.
    while alive := processes_of_session(process.pid):
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    process.communicate(timeout=120)
    # A process that a launcher has put into a session of its own ends a moment after the launcher.
    part = resumed.tools.work / HIDDEN
    while part.exists() and is_locked(part):
        time.sleep(0.01)
    (resumed.tools.work / "out.nmb").unlink(missing_ok=True)
    return journal.exists()


def check_numbers_of_ranks(resumed, mode, *options):
    """A job goes on from what one of another number of processes has done, without reading the inputs for it."""
    tools = resumed.tools
    tools.run("nmcat", *resumed.inputs, "-o", "want.nmb", "-f", *options)
    size = sum((tools.work / name).stat().st_size for name in resumed.inputs)
    for launcher in launchers(tools)[1:]:
        for before, behind in some((("3", "2"), ("2", "4"), ("4", None)), 1 if mode == "pack" else 3):
            here = f"{mode} of {before} processes of {launcher[0]}, then of {behind or 'none'}"
            if not stop_job(resumed, [*launcher[:-1], before], 24 + 32 * (size >> 21), *options):
                continue
            noted = (tools.work / JOURNAL).stat().st_size // 32
            done = sum(
                int.from_bytes((tools.work / JOURNAL).read_bytes()[24 + 32 * i + 8 : 24 + 32 * i + 16], "little")
                for i in range(noted)
            )
            tools.check(size // 5 < done, f"{here}: only {done} of {size} bytes were done")
            words = [word for name in resumed.inputs for word in ("-P", tools.work / name)]
            trace = tools.work / "trace"
            trace.mkdir()
            script = f'exec strace -f -qq -e trace=pread64,preadv -o {trace}/$$ "$@"'
            start = [*([*launcher[:-1], behind] if behind else []), "sh", "-c", script, "sh", *words]
            resumed.finish(here, *options, launcher=start)
            read = sum(
                int(line.rsplit("= ", 1)[1])
                for file in trace.iterdir()
                for line in file.read_text().splitlines()
                if line[-1].isdigit() and "= " in line
            )
            # Each process may have been writing when it was killed, and reads each input's header.
            most = size - done + (8 << 20) + len(resumed.inputs) * 32768
            tools.check(read <= most, f"{here}: read {read} bytes of inputs, {done} of {size} were done")
            shutil.rmtree(trace)


def check_jobs(resumed):
    if not shutil.which("strace"):
        return
    tools = resumed.tools
    check_numbers_of_ranks(resumed, "pack")
    # Values of many blocks are written at once, from other blocks on by each number of processes.
    resumed.inputs = [f"small{i}.nc" for i in range(200)]
    for i, name in enumerate(resumed.inputs):
        length = 300000 + 8 * i
        (tools.work / name).write_bytes(header(length) + random.Random(i).randbytes(1000) * (length // 1000 + 1))
    check_numbers_of_ranks(resumed, "pack of small files")
    check_numbers_of_ranks(resumed, "join", "--mode", "join", "--along", "x")


def check_classic(tools):
    """A classic output goes on from what was written, on any number of processes."""
    resumed = Resumed(tools, "out.nc", ("--mode", "join", "--along", "x"))
    for jobs in ("-j1", "-j2"):
        was_stopped, _ = resumed.stop(signal.SIGKILL, FILES * VALUES // 2, jobs)
        if was_stopped:
            left = [".out.nc.journal", ".out.nc.part"]
            tools.check(resumed.left() == left, f"classic: found files {resumed.left()}, expected {left}")
        resumed.finish(f"classic, {jobs}", jobs)
    was_stopped, said = resumed.stop(signal.SIGINT, 8 << 20, "-j1")
    if was_stopped:
        tools.check("finished work is kept in ./.out.nc.part and its journal" in said, f"classic: said {said!r}")
    resumed.finish("classic, interrupted")
    for launcher in launchers(tools)[1:]:
        resumed.stop(signal.SIGKILL, FILES * VALUES // 3, "-j1")
        resumed.finish(f"classic, {launcher[0]}", launcher=launcher)


def check_hdf5(tools):
    """A netCDF-4 output: the merge continues, and the second step begins again."""
    resumed = Resumed(tools, "out.nc4", ("--mode", "join", "--along", "x"))
    between = tools.work / ".out.nc4.nmb"
    resumed.stop(signal.SIGKILL, FILES * VALUES // 2, "-j1")
    tools.check(set(resumed.left()) <= {"..out.nc4.nmb.journal", "..out.nc4.nmb.part", between.name},
                f"HDF5: found files {resumed.left()}")
    resumed.finish("HDF5, killed while it merged")
    # The merge is done; the second step is not.
    process = resumed.start("-j1")
    while process.poll() is None and not between.exists():
        time.sleep(0.0005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    if not between.exists():
        (tools.work / resumed.output).unlink()
        return
    other = resumed.start("--no-history")
    said = other.communicate(timeout=60)[1]
    tools.check(other.returncode == 2 and ".out.nc4.nmb belongs to a run with different inputs or options" in said,
                f"HDF5, other options: exit code {other.returncode}: {said!r}")
    made = between.stat()
    said = resumed.finish("HDF5, killed while it was written")
    tools.check("an earlier run has merged the inputs" in said, f"HDF5, merged before: said {said!r}")
    tools.check(made.st_size > 0, "HDF5: found an empty file between the steps")


def test(tools):
    check_classic(tools)
    check_hdf5(tools)
    resumed = Resumed(tools)
    check_kills(resumed, 12 if ALL else 3)
    check_reads(resumed)
    check_interrupt(resumed)
    check_damage(resumed)
    check_others(resumed)
    check_published(resumed)
    check_failures(resumed)
    check_busy(resumed)
    check_statistics(resumed)
    check_processes(resumed)
    check_jobs(resumed)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
