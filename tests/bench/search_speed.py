#!/usr/bin/python3
"""Cost of searches by values and of selections: `nminspect find` beside a scan with numpy, `nmcat --where` beside cat, and what
each level of --stats adds to a conversion. Writes benchmarks/search.md.

    search_speed.py BUILD --work FOLDER [--blocks 64] [--repeat 7] [--page FILE]

BUILD is a build with the tools, as of the preset bench. Each block has 16 MiB of values: 2^20 event numbers that ascend (int64)
and 2^20 energies (double). Searches run on one core, with the files in the page cache; numpy reads the same values from classic
files with numpy.memmap. Runs alternate. Measure on an idle machine.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy

sys.dont_write_bytecode = True
from measure import cost, in_turn, machine_in_words, middle  # noqa: E402

VALUES = 1 << 20
LEVELS = ["none", "basic", "histogram", "parts"]
# Arguments: variable, type, offset of the values, condition, files.
SCAN = """
import sys, numpy
variable, type_, offset, condition, *files = sys.argv[1:]
for name in files:
    if eval(condition, {variable: numpy.memmap(name, type_, "r", int(offset), (1 << 20,))}):
        print(name)
"""
TYPES = {"event": ">i8", "energy": ">f8"}


def write_block(path, number, rng):
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as file:
        file.createDimension("x", VALUES)
        file.setncattr("run", numpy.int32(number % 10))
        file.createVariable("event", "i8", ("x",))[:] = numpy.arange(VALUES) * 3 + number * VALUES * 3
        file.createVariable("energy", "f8", ("x",))[:] = rng.exponential(10, VALUES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--blocks", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--page", type=Path, default=Path(__file__).parents[2] / "benchmarks" / "search.md")
    arguments = parser.parse_args()
    build, work = arguments.build.resolve(), arguments.work.resolve()
    tools, bench_run = build / "tools", build / "tests/bench/bench_run"
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    rng = numpy.random.default_rng(1)
    names = [f"b{number:03}.nc" for number in range(arguments.blocks)]
    for number, name in enumerate(names):
        write_block(name, number, rng)
    pack = [tools / "nmcat", "-q", *names, "--no-sync", "--no-originals", "--hdf5-view", "off", "--tag", "run=@run"]
    for level in LEVELS:
        subprocess.run([*pack, "-f", "-o", f"{level}.nmb", "--stats", level], check=True)

    core = ["taskset", "-c", str(max(os.sched_getaffinity(0)))]
    event = arguments.blocks // 2 * VALUES * 3 + 3 * 12345
    searches = {
        f"any(event == {event})": f"(event == {event}).any()",
        "any(energy > 170)": "(energy > 170).any()",
        "count(energy > 50) >= 7000": "(energy > 50).sum() >= 7000",
        "event.min > 0 && any(energy < 0)": "(energy < 0).any()",
    }
    rows = ["| expression | found | numpy s | " + " | ".join(f"{level} s" for level in LEVELS) + " | MiB read |",
            "|---" + "|---:" * (len(LEVELS) + 3) + "|"]
    for expression, condition in searches.items():
        variable = "event" if "event" in condition else "energy"
        scans = [*core, sys.executable, "-c", SCAN, variable, TYPES[variable], str(offset_of(names[0], variable)), condition, *names]
        finds = [[*core, tools / "nminspect", "find", "-q", "-j1", f"{level}.nmb", expression] for level in LEVELS]
        expected = [name[:-3] for name in subprocess.run(scans, capture_output=True, check=True, text=True).stdout.split()]
        for command in finds:
            found = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
            if found != expected:
                print(f"{command}: found {found}, expected {expected}")
                return 1
        costs = in_turn(arguments.repeat, None, *(lambda command=command: cost(bench_run, command) for command in [scans, *finds]))
        times = [middle(each["wall"]) for each in costs]
        read = " / ".join(f"{bytes_read(command):.1f}" for command in finds)
        rows.append(f"| `{expression}` | {len(expected)} | " + " | ".join(f"{time:.3f}" for time in times) + f" | {read} |")

    # Selections and cat write the same bytes.
    select = [*core, tools / "nmcat", "-q", "none.nmb", "-f", "-o", "train.nmb", "--where", "run < 8", "--block-name", "{group}",
              "--no-sync", "--hdf5-view", "off", "-j1"]
    subprocess.run(select, check=True)
    selected = os.path.getsize("train.nmb")

    def fresh():
        for name in ("train.nmb", "copy.nmb"):
            Path(name).unlink(missing_ok=True)

    os.rename("train.nmb", "kept.nmb")
    costs = in_turn(arguments.repeat, fresh, lambda: cost(bench_run, select),
                    lambda: cost(bench_run, [*core, "sh", "-c", "cat kept.nmb > copy.nmb"]))
    selection, cat = (middle(each["wall"]) for each in costs)

    def repack(level):
        Path("stats.nmb").unlink(missing_ok=True)
        return cost(bench_run, [*core, *pack, "-j1", "-o", "stats.nmb", "--stats", level])

    costs = in_turn(arguments.repeat, fresh, *(lambda level=level: repack(level) for level in LEVELS))
    packs = {level: middle(each["wall"]) for level, each in zip(LEVELS, costs)}
    table = "\n".join(rows)
    levels = "\n".join(f"| `{level}` | {time:.3f} | {time / packs['none']:.2f} |" for level, time in packs.items())
    page = f"""# Benchmarks: searches and selections

`tests/bench/search_speed.py` wrote this page on {machine_in_words()}. The file has {arguments.blocks} blocks, each with 8 MiB of event numbers that ascend (int64) and 8 MiB of energies (double). All programs ran on one core, with the files in the page cache. Each figure is the median of {arguments.repeat} runs; the runs of the programs alternate.

## Searches

`nminspect find` ran on files with each level of `--stats`; the column *MiB read* has the levels in the same order. numpy scanned the same values in classic files with `numpy.memmap`. All found the same blocks.

{table}

## Selections

`nmcat --where 'run < 8'` wrote {selected / 1e9:.2f} GB, without a sync: {selection:.3f} s. `cat` of the result to a new file: {cat:.3f} s. Ratio: {selection / cat:.2f}.

## Cost of statistics

`nmcat` packed the classic files, without a sync:

| `--stats` | s | times `none` |
|---|---:|---:|
{levels}
"""
    print(page)
    arguments.page.write_text(page)
    for name in [*names, *(f"{level}.nmb" for level in LEVELS), "train.nmb", "kept.nmb", "copy.nmb", "stats.nmb"]:
        Path(name).unlink(missing_ok=True)
    return 0


def offset_of(path, variable):
    """Where the values of a variable begin: the classic header says it in the last 8 bytes about the variable."""
    data = Path(path).read_bytes()[:65536]
    at = data.index(variable.encode().ljust((len(variable) + 3) // 4 * 4, b"\0"))
    # After the name: number of dimensions, dimension id, attributes (absent), type, size, begin.
    return int.from_bytes(data[at + 8 + 8 + 8 + 12 + 4 + 8:][:8], "big")


def bytes_read(command):
    done = subprocess.run([*command[:-2], "--io-stats", *command[-2:]], capture_output=True, check=True, text=True)
    return int(done.stderr.rsplit("bytes ", 1)[1]) / 2**20


if __name__ == "__main__":
    sys.exit(main())
