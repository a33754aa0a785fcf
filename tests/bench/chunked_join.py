#!/usr/bin/python3
"""Time of joining compressed netCDF-4 files, beside cat and ncrcat. Prints a table in Markdown.

    chunked_join.py BUILD --work FOLDER [--files 64] [--megabytes 25] [--repeat 3]

BUILD is a build with the tools, as of the preset bench. Three sets of files are joined:

- fit: each file has a multiple of the chunk length of time steps; chunks keep their stored bytes
- misfit: each file has one time step more, so that most chunks are encoded again
- tiles: each file is a tile of the grid whose chunks fit

Goals: fit takes at most 1.3 times as long as cat, and the output has at most 1.05 times the bytes of the inputs; misfit
is at least 3 times as fast as ncrcat with the same compression. Measure on an idle machine.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy

CHUNK = 4  # time steps
LEVEL = 1


def write(path, first, steps, rows, columns, shape, level=LEVEL):
    """A file with the time steps from `first` on and with a tile of the grid."""
    generator = numpy.random.default_rng(first * 1000 + rows.start + columns.start)
    with netCDF4.Dataset(path, "w") as out:
        out.createDimension("time", None)
        for name, part, whole in (("y", rows, shape[0]), ("x", columns, shape[1])):
            out.createDimension(name, part.stop - part.start)
            variable = out.createVariable(name, "f8", (name,))
            if part.stop - part.start < whole:
                variable.domain_decomposition = numpy.array([1, whole, part.start + 1, part.stop], "i4")
            variable[:] = numpy.arange(part.start, part.stop)
        out.createVariable("time", "f8", ("time",))[:] = numpy.arange(first, first + steps)
        lengths = rows.stop - rows.start, columns.stop - columns.start
        chunks = CHUNK, max(lengths[0] // 2, 1), max(lengths[1] // 2, 1)
        variable = out.createVariable(
            "temperature", "f4", ("time", "y", "x"), zlib=True, complevel=level, shuffle=True, chunksizes=chunks
        )
        field = numpy.cumsum(generator.integers(-4, 5, lengths), axis=1).astype("f4") / 8
        for step in range(steps):
            noise = generator.integers(0, 64, lengths).astype("f4") / 64
            variable[step] = field + noise + step
    return path.stat().st_size


def make(folder, files, megabytes, kind):
    """Makes the files of a set. Returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{kind}{i:04d}.nc" for i in range(files)]
    if all(path.exists() for path in paths):
        return paths
    # A value takes about 1.4 bytes.
    side = 720
    steps = max(CHUNK, int(megabytes * 1e6 / 1.4 / side / side) // CHUNK * CHUNK)
    if kind == "misfit":
        steps += 1
    for i, path in enumerate(paths):
        whole = slice(0, side)
        if kind == "tiles":
            columns = slice(i * side, (i + 1) * side)
            write(path, 0, steps, whole, columns, (side, files * side))
        else:
            write(path, i * steps, steps, whole, whole, (side, side))
    return paths


def timed(command, outputs, repeat, into=None):
    """Returns the shortest time of a command in seconds. into: a new file for what the command prints."""
    best = None
    for _ in range(repeat):
        for output in outputs:
            output.unlink(missing_ok=True)
        # Bytes that other runs wrote must not slow this run down.
        os.sync()
        with contextlib.ExitStack() as stack:
            out = stack.enter_context(open(into, "wb")) if into else None
            begin = time.perf_counter()
            subprocess.run([str(word) for word in command], check=True, stdout=out)
            seconds = time.perf_counter() - begin
        best = seconds if best is None else min(best, seconds)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=64)
    parser.add_argument("--megabytes", type=float, default=25)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=["fit", "misfit", "tiles"], choices=["fit", "misfit", "tiles"])
    options = parser.parse_args()
    nmcat = options.build / "tools" / "nmcat"
    print("| set | bytes of the inputs | program | s | times cat | bytes of the output / inputs |")
    print("|---|---|---|---|---|---|")
    for kind in options.sets:
        paths = make(options.work / kind, options.files, options.megabytes, kind)
        size = sum(path.stat().st_size for path in paths)
        mode = "tiles" if kind == "tiles" else "join"
        output = options.work / "cat.bin"
        base = timed(["cat", *paths], [output], options.repeat, into=output)

        def tell(program, seconds, output, base=base, kind=kind, size=size):
            ratio = output.stat().st_size / size
            print(f"| {kind} | {size} | {program} | {seconds:.2f} | {seconds / base:.2f} | {ratio:.3f} |", flush=True)

        print(f"| {kind} | {size} | cat | {base:.2f} | 1.00 | |", flush=True)
        output.unlink()
        for ending in ("nmb", "nc4"):
            output = options.work / f"out.{ending}"
            command = [nmcat, "--mode", mode, *paths, "-o", output, "--no-sync", "--no-progress"]
            tell(f"nmcat, {ending}", timed(command, [output], options.repeat), output)
            output.unlink()
        if mode == "join" and shutil.which("ncrcat"):
            output = options.work / "theirs.nc"
            command = ["ncrcat", "-h", "-O", "-4", "-L", LEVEL, *paths, "-o", output]
            tell("ncrcat", timed(command, [output], 1), output)
            output.unlink()


if __name__ == "__main__":
    sys.exit(main())
