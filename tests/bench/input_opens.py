#!/usr/bin/python3
"""How often a merge by the processes of an MPI job opens its inputs, and how much memory it takes.

    input_opens.py --tools build/release/tools --work FOLDER [--files 36000 --megabytes 150 --open-files 256]

Classic, NMB and HDF5 files are packed and joined by two processes that may have few files open (--all: in each mode, by one
process too); strace counts. FOLDER is made and removed. Exit codes: 0; 1: something does not hold; 77: strace or MPI is missing.
"""

import argparse
import collections
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "nmbench" / "launcher"))
from merge_inputs import Inputs  # noqa: E402

LAUNCHER = ["mpiexec.openmpi", "--oversubscribe"]
MOST_MEMORY = 512e6  # bytes of a process
SKIPPED = 77
ENV = dict(os.environ, LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_hwloc_base_binding_policy="none")


def opens(options, ranks, words, inputs):
    """How often each input was opened, and the largest memory of a process."""
    trace = options.work / "trace"
    trace.mkdir()
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (options.open_files, options.open_files))  # noqa: E731
    calls = "--seccomp-bpf -qq -e trace=open,openat,openat2,creat"
    command = [*LAUNCHER, "-n", str(ranks), "sh", "-c", f'exec strace -f {calls} -o {trace}/$$ "$@"', "sh", *map(str, words)]
    done = subprocess.Popen(command, env=ENV, preexec_fn=limit, cwd=options.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = done.stderr.read()
    _, status, used = os.wait4(done.pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {os.waitstatus_to_exitcode(status)}\n{said[-4000:]}")
    counts = collections.Counter()
    at_input = re.compile(re.escape(f'"{inputs}/') + r'([^"]*)"')
    for path in trace.iterdir():
        with path.open(errors="replace") as lines:
            counts.update(found[1] for line in lines if (found := at_input.search(line)))
    shutil.rmtree(trace)
    return counts, used.ru_maxrss * 1024


def problems_of(options, counts, memory, ranks, most):
    """No input is opened more often than `most`, but those where two pieces of the output meet, of 1 MiB, or two shares."""
    more = [count for count in counts.values() if count > most]
    if len(counts) != options.files or len(more) > options.megabytes + ranks or max(more, default=most) > most + 1:
        yield (f"{len(counts)} of {options.files} inputs opened, {len(more)} of them more than {most} times, at most "
               f"{max(counts.values(), default=0)} times")
    if memory > MOST_MEMORY:
        yield f"{memory / 1e6:.0f} MB in memory, expected at most {MOST_MEMORY / 1e6:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=lambda text: Path(text).resolve(), required=True, help="the folder of nmcat")
    parser.add_argument("--work", type=lambda text: Path(text).resolve(), required=True, help="a folder that is not there")
    parser.add_argument("--files", type=int, default=36_000)
    parser.add_argument("--megabytes", type=int, default=150, help="of all files")
    parser.add_argument("--open-files", type=int, default=256, help="that a process may have, those of the MPI library among them")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not shutil.which(LAUNCHER[0]) or not shutil.which("strace") or not list((options.tools.parent / "lib").rglob("nmb-mpi-openmpi.so")):
        print("skipped: strace, mpiexec.openmpi or the plug-in for Open MPI is missing")
        return SKIPPED
    options.work.mkdir(parents=True)
    wrong = 0
    try:
        for kind in ("classic", "nmb", "hdf5"):
            for mode in ("pack", "union", "join", "tiles") if options.all else ("pack", "join"):
                folder, names, out = options.work / "inputs", options.work / "list", options.work / "all.nmb"
                paths = Inputs(folder, options.files, options.megabytes).make(mode, kind, options.tools / "nmconvert")
                names.write_text("".join(f"{path}\n" for path in paths))
                for ranks in (1, 2) if options.all else (2,):
                    words = [options.tools / "nmcat", "--mode", mode, "--files-from", names, "-o", out, "-f", "--no-sync", "--no-progress", "-j1"]
                    counts, memory = opens(options, ranks, words, folder)
                    what = f"{mode} of {kind} files by {ranks} processes"
                    print(f"{what}: {sum(counts.values())} opens, at most {max(counts.values())} each, {memory / 1e6:.0f} MB", flush=True)
                    # HDF5 files are also opened by the process that runs the HDF5 library; in a join for each variable.
                    for problem in problems_of(options, counts, memory, ranks, 2 if kind != "hdf5" else 4 if mode == "join" else 3):
                        print(f"WRONG: {what}: {problem}", flush=True)
                        wrong = 1
                shutil.rmtree(folder)
    finally:
        shutil.rmtree(options.work)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
