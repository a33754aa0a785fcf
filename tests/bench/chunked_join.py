#!/usr/bin/python3
"""Times of joins and tiles of compressed netCDF-4 files, beside cat and ncrcat. Prints a table in Markdown, and ends with 1
if a goal is missed or a value is wrong.

    chunked_join.py BUILD --work FOLDER [--files 64] [--megabytes 25] [--rounds 5] [--sets fit misfit ...] [--page FILE]

BUILD is a build with the tools, as of the preset bench. The sets:

- fit: each file has a multiple of the chunk length of time steps; chunks keep their stored bytes. Goal: at most 1.3
  times as long as cat of the inputs, and an output of at most 1.05 times their bytes
- misfit: each file has one time step more, so that most chunks are encoded again. Goal: at least 3 times as fast as
  ncrcat with the same compression
- sums: as fit, and each chunk has a checksum after its compression (fletcher32), which nmcat checks. No goal
- tiles: each file is a tile of the grid whose chunks fit. Goals as for fit
- many: 5,126 small tiles, with at most 64 open files. No goal

The programs take turns; the table has the medians. No program waits for the device (nmcat runs with --no-sync). The
values of the outputs are compared with those of numpy, except with --times. --page FILE keeps
the table; sets that are not measured keep their rows. Measure on an idle machine.
"""

import argparse
import contextlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import h5py
import netCDF4
import numpy

CHUNK = 4  # time steps
LEVEL = 1
SIDE = 720
MANY = 5126
SETS = ("fit", "misfit", "sums", "tiles", "many")
KINDS = ("nmb", "nc4")
MOST_CAT, MOST_BYTES, LEAST_NCRCAT = 1.3, 1.05, 3


def field(first, steps, rows, columns):
    """The values of a box of the whole array. They do not depend on the file that has them."""
    generator = numpy.random.default_rng((first, rows.start, columns.start))
    lengths = rows.stop - rows.start, columns.stop - columns.start
    waves = numpy.cumsum(generator.integers(-4, 5, lengths), axis=1).astype("f4") / 8
    return waves + generator.integers(0, 64, (steps, *lengths)).astype("f4") / 64


def write_coordinates(out, first, steps, parts, whole):
    out.createDimension("time", None)
    for name, part, length in zip(("y", "x"), parts, whole):
        out.createDimension(name, part.stop - part.start)
        variable = out.createVariable(name, "f8", (name,))
        if part.stop - part.start < length:
            variable.domain_decomposition = numpy.array([1, length, part.start + 1, part.stop], "i4")
        variable[:] = numpy.arange(part.start, part.stop)
    out.createVariable("time", "f8", ("time",))[:] = numpy.arange(first, first + steps)


def write(path, first, steps, parts, whole):
    """A file with the time steps from `first` on and with a part of the grid."""
    with netCDF4.Dataset(path, "w") as out:
        write_coordinates(out, first, steps, parts, whole)
        lengths = [part.stop - part.start for part in parts]
        chunks = CHUNK, *(max(length // 2, 1) for length in lengths)
        variable = out.createVariable(
            "temperature", "f4", ("time", "y", "x"), zlib=True, complevel=LEVEL, shuffle=True, chunksizes=chunks
        )
        variable[:] = field(first, steps, *parts)


def write_with_sums(path, like):
    """The field of the file `like` as HDF5 alone writes it, with the checksum of each chunk after its compression."""
    with h5py.File(like) as old, h5py.File(path, "w") as out:
        field = old["temperature"]
        out.create_dataset("temperature", data=field[:], maxshape=field.maxshape, chunks=field.chunks,
                           compression=LEVEL, shuffle=True, fletcher32=True)


class JoinedSet:
    """A set of files, and the boxes of the whole array that they have."""

    def __init__(self, kind, folder, files, megabytes):
        self.kind, self.boxes = kind, []
        folder.mkdir(parents=True, exist_ok=True)
        whole = slice(0, SIDE)
        # A value takes about 1.4 bytes.
        steps = max(CHUNK, int(megabytes * 1e6 / 1.4 / SIDE / SIDE) // CHUNK * CHUNK) + (kind == "misfit")
        if kind == "many":
            across, side = 11, 6
            down = -(-MANY // across)
            self.shape = (2, down * side, across * side)
            for i in range(MANY):
                rows = slice(i // across * side, (i // across + 1) * side)
                last = across - MANY % across if i == MANY - 1 and MANY % across else 0
                self.boxes.append((0, 2, (rows, slice(i % across * side, (i % across + 1 + last) * side))))
        elif kind == "tiles":
            self.shape = (steps, SIDE, files * SIDE)
            self.boxes = [(0, steps, (whole, slice(i * SIDE, (i + 1) * SIDE))) for i in range(files)]
        else:
            self.shape = (files * steps, SIDE, SIDE)
            self.boxes = [(i * steps, steps, (whole, whole)) for i in range(files)]
        self.paths = [folder / f"{kind}{i:04d}.nc" for i in range(len(self.boxes))]
        for path, (first, count, parts) in zip(self.paths, self.boxes):
            if not path.exists():
                write(path, first, count, parts, self.shape[1:])
                if kind == "sums":
                    plain = path.rename(path.with_suffix(".plain"))
                    write_with_sums(path, plain)
                    plain.unlink()
        self.bytes = sum(path.stat().st_size for path in self.paths)
        self.mode = "tiles" if kind in ("tiles", "many") else "join"

    def problems(self, what, path):
        """Compares an output with numpy. Small tiles are read at once."""
        with netCDF4.Dataset(path) as file:
            variable = file["temperature"]
            variable.set_auto_maskandscale(False)
            if variable.shape != self.shape:
                return [f"{what}: found shape {variable.shape}, expected {self.shape}"]
            all_values = variable[:] if self.kind == "many" else variable
            for first, count, parts in self.boxes:
                found = all_values[first : first + count, parts[0], parts[1]]
                if not numpy.array_equal(found, field(first, count, *parts)):
                    return [f"{what}: found other values from {first}, {parts}"]
        return []


def run(command, into=None, limit=None):
    """Seconds that a command takes, and its CPU seconds. into: a new file for what the command prints."""
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(open(into, "wb")) if into else None
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([str(word) for word in command], check=True, stdout=out, preexec_fn=limit)
        seconds, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        return seconds, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--megabytes", type=float, default=25)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--times", action="store_true", help="do not compare values")
    options = parser.parse_args()
    nmcat = options.build / "tools" / "nmcat"
    nmconvert = options.build / "tools" / "nmconvert"
    rows, problems = [], []
    for kind in options.sets:
        files = JoinedSet(kind, options.work / kind, options.files, options.megabytes)
        outputs = {name: options.work / f"out.{name}" for name in KINDS}
        along = ["--along", "axis:0"] if kind == "sums" else []
        common = ["--mode", files.mode, *along, "--no-sync", "-q", "--files-from", options.work / "list"]
        (options.work / "list").write_text("".join(f"{path}\n" for path in files.paths))
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))) if kind == "many" else None
        programs = {f"nmcat, {name}": ([nmcat, *common, "-o", path], None, limit, path) for name, path in outputs.items()}
        copy = options.work / "cat.bin"
        programs = {"cat": (["cat", *files.paths], copy, None, copy)} | programs
        if kind == "misfit" and shutil.which("ncrcat"):
            theirs = options.work / "theirs.nc"
            programs["ncrcat"] = (["ncrcat", "-h", "-O", "-4", "-L", LEVEL, *files.paths, "-o", theirs], None, None, theirs)
        times, sizes = {name: [] for name in programs}, {}
        for turn in range(options.rounds):
            for name, (command, into, bound, output) in programs.items():
                # Bytes that other runs wrote must not slow this run down.
                output.unlink(missing_ok=True)
                os.sync()
                times[name].append(run(command, into, bound))
                sizes[name] = output.stat().st_size
                if turn == 0 and name != "cat" and not options.times:
                    seen = output
                    if output.suffix == ".nmb":
                        seen = options.work / "seen.nc4"
                        run([nmconvert, output, seen, "--no-sync", "--no-progress", "--no-check"])
                    problems += files.problems(f"{kind}: {name}", seen)
                    if seen != output:
                        seen.unlink()
                output.unlink()
        medians = {name: statistics.median(seconds for seconds, _ in both) for name, both in times.items()}
        cpu = {name: statistics.median(used for _, used in both) for name, both in times.items()}
        for name, seconds in medians.items():
            of_cat, of_bytes = seconds / medians["cat"], sizes[name] / files.bytes
            rows.append(
                f"| {kind} | {len(files.paths)} | {files.bytes / 1e6:.0f} | {name} | {seconds:.2f} | "
                f"{cpu[name]:.2f} | {of_cat:.2f} | {of_bytes:.3f} |"
            )
            print(rows[-1], flush=True)
            if kind in ("fit", "tiles") and name.startswith("nmcat"):
                if of_cat > MOST_CAT:
                    problems.append(f"{kind}: {name}: takes {of_cat:.2f} times as long as cat, expected at most {MOST_CAT}")
                if of_bytes > MOST_BYTES:
                    problems.append(f"{kind}: {name}: has {of_bytes:.3f} times the bytes, expected at most {MOST_BYTES}")
            if kind == "misfit" and name.startswith("nmcat") and "ncrcat" in medians:
                faster = medians["ncrcat"] / seconds
                if faster < LEAST_NCRCAT:
                    problems.append(f"{kind}: {name}: is {faster:.2f} times as fast as ncrcat, expected {LEAST_NCRCAT}")
    if options.page:
        # Sets that were not measured keep their rows.
        old = options.page.read_text().splitlines() if options.page.exists() else []
        others = [kind for kind in SETS if kind not in options.sets]
        rows += [row for row in old if row.startswith("| ") and row.split()[1] in others]
        rows.sort(key=lambda row: SETS.index(row.split()[1]))
        options.page.write_text(
            "# Joins and tiles of compressed files\n\n"
            "This page compares `nmcat` with `cat` and `ncrcat`. `tests/bench/chunked_join.py` measured all times and wrote "
            "this page; its help describes the sets. Each time is the median of several runs that took turns. No program "
            "waited until its output was on the device. The values of all outputs were compared with those of numpy. "
            f"Goals: `fit` and `tiles` take at most {MOST_CAT} times as long as `cat`, and their outputs have at most "
            f"{MOST_BYTES} times the bytes of the inputs; `misfit` is at least {LEAST_NCRCAT} times as fast as `ncrcat`.\n\n"
            f"The load of the machine was {os.getloadavg()[0]:.1f} at the end.\n\n"
            "| set | files | MB | program | s | CPU s | times cat | bytes of the output / inputs |\n"
            "|---|---|---|---|---|---|---|---|\n"
            + "\n".join(rows) + "\n"
        )
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
