#!/usr/bin/python3
"""Files of a collection to .nmb and back: the same, as compare_files.py sees it.

    round_trips.py --tools FOLDER [--corpus FOLDER] [--only GLOB] [--json FILE] [--jobs N] [--raw-chunks]

For each file `nmconvert FILE made.nmb`, `nmverify made.nmb`, `nmconvert made.nmb back.nc` (back.h5 for HDF5
that is not netCDF-4), and FILE compared with what came back. Prints a line for each: file, kind, result
(equal | refused: what was said | not compared: why | different: the first difference | failed: what), seconds;
then totals by folder.

Exit code 0 if all are equal, or not for a reason: refused.tsv lists the file and what may be found, or h5py cannot
open it either. 1 if not; 2 if it could not run; 77 (skipped) without a collection.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from file_kind import CannotRun, kind_of  # noqa: E402

HERE = Path(__file__).resolve().parent
FOLDERS = ("classic", "netcdf4", "hdf5", "cgns", "hep", "split")
SECONDS = 60  # for a file
COMPARE_MEMORY = 4 << 30  # bytes of address space: HDF5 believes what damaged files say
SCHEMA = "nmb/round-trips/1"
SKIPPED = 77
CANNOT_OPEN = "HDF5 cannot open it"

Result = collections.namedtuple("Result", "file kind result seconds accepted")


class Stop(Exception):
    """A file's result before its end: `word: message`."""

    def __init__(self, word, message=""):
        super().__init__(f"{word}: {message}" if message else word)
        self.word = word


class RoundTrip:
    """One file, in a folder of its own."""

    def __init__(self, options, path, work):
        self.options = options
        self.path = path
        self.work = work
        self.end = time.monotonic() + SECONDS

    def run(self, *command, **options):
        try:
            rest = max(1, self.end - time.monotonic())
            return subprocess.run(
                command, cwd=self.work, capture_output=True, text=True, errors="replace", timeout=rest, **options
            )
        except subprocess.TimeoutExpired:
            raise Stop("failed", f"{Path(command[0]).name}: not done after {SECONDS} s") from None

    def tool(self, name, *arguments, refusal="failed"):
        done = self.run(self.options.tools / name, *arguments)
        if done.returncode < 0:
            raise Stop("failed", f"{name}: signal {-done.returncode}")
        if done.returncode:
            raise Stop(refusal, f"{self.first_line(done)} (exit code {done.returncode})")

    def first_line(self, done):
        lines = done.stderr.strip().splitlines() or ["nothing said"]
        return lines[0].replace(str(self.path), self.path.name)

    def compare(self, a, b):
        program = [sys.executable, HERE / "compare_files.py", a, b]
        if self.options.raw_chunks:
            program.append("--raw-chunks")
        return self.run(*program, preexec_fn=limit_memory)

    def back(self, netcdf4, kind):
        name = "back.nc" if kind == "classic" or netcdf4 else "back.h5"
        self.tool("nmconvert", self.path, "made.nmb", refusal="refused")
        self.tool("nmverify", "made.nmb")
        self.tool("nmconvert", "made.nmb", name, refusal="refused")
        return self.work / name

    def result(self, netcdf4, kind):
        """Text; raises Stop for whatever is not equal."""
        done = self.compare(self.path, self.back(netcdf4, kind))
        if done.returncode == 1:
            raise Stop("different", done.stdout.splitlines()[0])
        if done.returncode == 2:
            raise Stop("not compared", self.first_line(done))
        if done.returncode:
            raise Stop("not compared", f"compare_files: exit code {done.returncode}")
        return "equal"

    def cannot_be_opened(self):
        """Whether the file is beyond h5py: then it was no use to compare it."""
        done = self.compare(self.path, self.path)
        return done.returncode == 2 and CANNOT_OPEN in done.stderr


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (COMPARE_MEMORY, COMPARE_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def check_file(options, reasons, path):
    start = time.monotonic()
    file = path.relative_to(options.corpus)
    try:
        kind = kind_of(path)
    except CannotRun:
        kind = "unknown"
    with tempfile.TemporaryDirectory(prefix="nmb_round_trip_") as work:
        trip = RoundTrip(options, path, Path(work))
        try:
            result, accepted = trip.result(file.parts[0] == "netcdf4", kind), True
        except Stop as stop:
            result, accepted = accept(stop, trip, kind, reasons)
    return Result(str(file), kind, result, round(time.monotonic() - start, 2), accepted)


def accept(stop, trip, kind, reasons):
    """(result, whether there is a good reason for it)."""
    words, reason = reasons.get(hashlib.sha256(trip.path.read_bytes()).hexdigest(), ((), ""))
    if stop.word in words:
        return f"{stop} [{reason}]", True
    if stop.word not in ("refused", "not compared"):
        return str(stop), False
    if kind != "classic" and trip.cannot_be_opened():
        return f"{stop} [h5py cannot open it]", True
    return str(stop), False


def read_reasons():
    lines = (HERE / "refused.tsv").read_text().splitlines()
    entries = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {digest: (words.split(", "), reason) for digest, words, reason in entries}


def files_of(corpus, only):
    out = []
    for folder in FOLDERS:
        paths = (path for path in sorted((corpus / folder).rglob("*")) if path.is_file())
        out += [path for path in paths if not only or path.relative_to(corpus).match(only)]
    return out


def totals(results):
    """folder -> {word: how many}"""
    out = {}
    for one in results:
        out.setdefault(Path(one.file).parts[0], collections.Counter())[one.result.split(":")[0]] += 1
    return out


def print_totals(results):
    for folder, counts in totals(results).items():
        print(
            f"{folder}: {sum(counts.values())} files: {', '.join(f'{n} {word}' for word, n in sorted(counts.items()))}"
        )
    unexplained = [one for one in results if not one.accepted]
    print(f"{len(results)} files, {len(unexplained)} neither equal nor refused for a known reason")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, type=Path, help="folder of nmconvert and nmverify")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("NMB_CORPUS"), help="default: NMB_CORPUS")
    parser.add_argument("--only", metavar="GLOB", help="paths in the collection, from their right end")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sample", action="store_true", help="every fifth file, but with NMB_ALL=1 all")
    parser.add_argument("--raw-chunks", action="store_true", help="compare raw chunks, too")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.corpus:
        print("skipped: no --corpus, and NMB_CORPUS is not set")
        return SKIPPED
    options.tools, options.corpus = options.tools.resolve(), options.corpus.resolve()
    files = files_of(options.corpus, options.only)
    if options.sample and "NMB_ALL" not in os.environ:
        files = files[::5]
    if not files or not (options.tools / "nmconvert").exists():
        print(f"round_trips: found {len(files)} files, expected some, and {options.tools}/nmconvert", file=sys.stderr)
        return 2
    reasons, results = read_reasons(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for one in pool.map(lambda path: check_file(options, reasons, path), files):
            print(f"{one.file}\t{one.kind}\t{one.result}\t{one.seconds}", flush=True)
            results.append(one)
    print_totals(results)
    if options.json:
        document = {"schema": SCHEMA, "files": [one._asdict() for one in results], "totals": totals(results)}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if all(one.accepted for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
