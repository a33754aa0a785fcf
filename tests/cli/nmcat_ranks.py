#!/usr/bin/python3
"""nmcat on threads and as processes of an MPI job: the same file and the same words as by one process.

    nmcat_ranks.py --tools FOLDER

Processes of each MPI whose plug-in was built and whose launcher is there.
"""

import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from tool_runs import ALL, main  # noqa: E402

SPLIT = ("--split-names", "^_grp_(r[0-9]+_sr[0-9]+_evt[0-9]+)_", "--block-name", "{group}")
LAUNCHERS = {"openmpi": ("mpiexec.openmpi", "--oversubscribe"), "mpich": ("mpiexec.mpich",)}


def launchers(tools, every=ALL):
    """[] for threads of one process, and the start of a command for each MPI, or for that which starts fastest."""
    found = []
    for mpi, (program, *words) in LAUNCHERS.items():
        if shutil.which(program) and (tools.folder.parent / f"lib/nmb/nmb-mpi-{mpi}.so").exists():
            found.append([program, *words, "-n", "3"])
    return [[], *(found if every else found[-1:])]


def nmcat(tools, launcher, *arguments, listed=None):
    """listed: what standard input has; None: nothing. In reports, all runs take 0 seconds."""
    # The MPI libraries keep memory until the process ends, which a sanitizer takes for leaks.
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               ASAN_OPTIONS="detect_leaks=0")
    command = [*launcher, tools.folder / "nmcat", *arguments]
    done = subprocess.run(command, cwd=tools.work, env=env, capture_output=True, text=True, timeout=120, input=listed)
    done.stdout = re.sub(r'(?<="seconds": )[\d.e-]+', "0", done.stdout)
    return done


def words_of(done):
    """What nmcat said; Open MPI's launcher adds lines of its own after a failure."""
    return [line for line in done.stderr.splitlines() if line.startswith("nmcat:")]


def check_same(tools, launcher, *arguments):
    """As by one process: exit code, words, JSON and file."""
    one = nmcat(tools, [], *arguments, "-o", "one.nmb", "-j1", "--json", "-f")
    many = nmcat(tools, launcher, *arguments, "-o", "many.nmb", "--json", "-f", *(["-j3"] if not launcher else []))
    what = " ".join(map(str, (*launcher, *arguments[-3:])))
    tools.check(one.returncode == many.returncode, f"{what}: exit code {many.returncode}, expected {one.returncode}")
    expected = [line.replace("one.nmb", "many.nmb") for line in words_of(one)]
    tools.check(words_of(many) == expected, f"{what}: found {words_of(many)}, expected {expected}")
    tools.check(many.stdout == one.stdout.replace("one.nmb", "many.nmb"), f"{what}: another report: {many.stdout}")
    made = [tools.work / "one.nmb", tools.work / "many.nmb"]
    if one.returncode == 0:
        tools.check_equal_bytes(*made, what)
        for path in made:
            path.unlink()
    else:
        tools.check(not any(path.exists() for path in made), f"{what}: a file is left")


def check_mpi_io(tools, launcher, files):
    """By MPI-IO the same file, also by one process that mpiexec started; without MPI it is refused."""
    by_mpi_io = ("--io", "mpiio", "--hint", "striping_factor=2", "--hint", "cb_nodes=1")
    if not launcher:
        done = nmcat(tools, [], *files, "-o", "x.nmb", *by_mpi_io)
        expected = ["nmcat: MPI-IO needs MPI; start the program with mpiexec"]
        tools.check(done.returncode == 2, f"threads by MPI-IO: exit code {done.returncode}, expected 2")
        tools.check(words_of(done) == expected, f"found {words_of(done)}, expected {expected}")
        return
    nmcat(tools, [], *files, "-o", "one.nmb", "-j1", "--hdf5-view", "on")
    for ranks, more in (("1", ()), ("2", ()), ("5", ("-j2",))):
        done = nmcat(tools, [*launcher[:-1], ranks], *files, "-o", "many.nmb", "-f", "--hdf5-view", "on", *by_mpi_io,
                     *more)
        what = f"{launcher[0]} -n {ranks} by MPI-IO"
        tools.check(done.returncode == 0, f"{what}: exit code {done.returncode}: {done.stderr}")
        tools.check_equal_bytes(tools.work / "one.nmb", tools.work / "many.nmb", what)
    (tools.work / "one.nmb").unlink()
    (tools.work / "many.nmb").unlink()


def check_list(tools, launcher, files):
    """Inputs of which standard input has a list, which one process of a job gets."""
    for mode in ("pack", "join"):
        one = nmcat(tools, [], *files, "-o", "one.nmb", "-f", "--mode", mode)
        many = nmcat(tools, launcher, files[0], "--files-from", "-", "-o", "many.nmb", "-f", "--mode", mode,
                     listed="".join(f"{path}\n" for path in files[1:]))
        what = f"{' '.join(launcher)} --mode {mode} --files-from -"
        tools.check(one.returncode == many.returncode == 0, f"{what}: {one.stderr}, {many.stderr}")
        tools.check_equal_bytes(tools.work / "one.nmb", tools.work / "many.nmb", what)
    none = nmcat(tools, launcher, "--files-from", "-", "-o", "none.nmb", listed="")
    expected = "nmcat: -: found no names of files in the list"
    tools.check(none.returncode == 2, f"no inputs: exit code {none.returncode}")
    tools.check(words_of(none) == [expected], f"no inputs: found {words_of(none)}, expected {expected}")


def check_few_descriptors(tools, launcher):
    """More inputs than a process may have open, beside what its MPI library has."""
    inputs = [classic(tools.work / f"many{i}.nc", [i]) for i in range(100)]
    limited = ["sh", "-c", f'ulimit -n {48 if launcher else 16}; exec "$@"', "nmcat"]
    one = nmcat(tools, [], *inputs, "-o", "one.nmb", "-f", "-j1")
    many = nmcat(tools, [*launcher, *limited], *inputs, "-o", "many.nmb", "-f", *(["-j1"] if not launcher else []))
    what = f"{' '.join(launcher)} of 100 inputs with few descriptors"
    tools.check(one.returncode == many.returncode == 0, f"{what}: {one.stderr}, {many.stderr[-300:]}")
    tools.check_equal_bytes(tools.work / "one.nmb", tools.work / "many.nmb", what)


def classic(path, values):
    """A file of one integer a record."""
    head = b"CDF\x01" + struct.pack(">I", len(values)) + struct.pack(">II", 10, 1) + struct.pack(">I4sI", 4, b"time", 0)
    head += bytes(8) + struct.pack(">II", 11, 1) + struct.pack(">I4s", 1, b"v\0\0\0") + struct.pack(">II", 1, 0) + bytes(8)
    head += struct.pack(">III", 4, 4, len(head) + 12)
    path.write_bytes(head + struct.pack(f">{len(values)}i", *values))
    return path


def test(tools):
    tools.example("make_graph_samples", tools.work / "graphs", "--files", "5", "--samples", "200")
    files = sorted((tools.work / "graphs").iterdir())
    series = [classic(tools.work / f"series{i}.nc", [10 * i, 10 * i + 1]) for i in range(9)]
    (tools.work / "text.nc").write_text("no netCDF file\n")
    cut = tools.work / "cut.nc"
    cut.write_bytes(files[2].read_bytes()[:5000])
    (tools.work / "there.nmb").write_text("somebody's\n")
    for threads in ("-j1", "-j3"):
        done = nmcat(tools, [], *files, "-o", "there.nmb", threads)
        expected = ["nmcat: there.nmb: the file exists; use -f to replace it"]
        tools.check(words_of(done) == expected, f"{threads}: found {words_of(done)}, expected {expected}")
    for launcher in launchers(tools, every=True):
        check_mpi_io(tools, launcher, files)
        check_list(tools, launcher, series)
        check_few_descriptors(tools, launcher)
        check_same(tools, launcher, *files)
        check_same(tools, launcher, *files, *SPLIT)
        if launcher and launcher not in launchers(tools):
            continue  # with NMB_ALL=1, both MPIs see the other calls
        check_same(tools, launcher, *files, *SPLIT, "--aggregators", "2", "--align", "4K")
        check_same(tools, launcher, *files, "--compress", "zstd", "--hdf5-view", "auto")
        check_same(tools, launcher, *files, *SPLIT, "--hdf5-view", "on")
        check_same(tools, launcher, *files, *SPLIT, "--inline", "0", "--compress", "deflate:1")
        check_same(tools, launcher, files[0])
        check_same(tools, launcher, *files, *SPLIT, files[0], files[3])
        check_same(tools, launcher, *files, files[4], files[0])
        check_same(tools, launcher, *files, "missing.nc")
        check_same(tools, launcher, files[0], "text.nc", *files[1:], cut)


if __name__ == "__main__":
    sys.exit(main(__doc__, test))
