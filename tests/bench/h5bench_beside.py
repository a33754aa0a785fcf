#!/usr/bin/python3
"""Compares what nmbench says of parallel HDF5 with what h5bench says itself, for the same configurations. They take turns.

    tests/bench/h5bench_beside.py --h5bench FOLDER --nmbench BUILD/bin/nmbench --work FOLDER [--runs 5] CONFIG.json...

FOLDER of --h5bench is a build of h5bench 1.5 with the HDF5 and the MPI of BUILD. Emulated computation is left out, and `mpi`
becomes `--ranks` processes. Exit code 1: a median differs by more than 10 %, and the extremes of both do not overlap."""

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

MOST = 0.1
# Columns of the CSV files that are compared, in seconds.
PATTERNS, METADATA = ("observed time",), ("write-phase-max [s]", "read-phase-max [s]")


def configuration(path, ranks):
    document = json.loads(path.read_text())
    document["mpi"] = {"command": "mpirun", "ranks": str(ranks), "configuration": f"--allow-run-as-root --oversubscribe -n {ranks}"}
    for number, entry in enumerate(document["benchmarks"]):
        settings = entry["configuration"]
        if "EMULATED_COMPUTE_TIME_PER_TIMESTEP" in settings:
            settings["EMULATED_COMPUTE_TIME_PER_TIMESTEP"] = "0 s"
        settings["csv-file" if entry["benchmark"] == "metadata" else "CSV_FILE"] = f"{number}.csv"
        if entry["benchmark"] == "metadata":
            settings.update({"process-rows": "1", "process-columns": str(ranks)})
    return document


def figures(path):
    """{name: seconds} of a CSV file of h5bench: one metric a line, or a line of titles and one of values."""
    lines = [[cell.strip() for cell in line] for line in csv.reader(path.open())]
    if lines[0][0] == "metric":
        found = {line[0]: line[1] for line in lines}
        return {name: float(found[name]) for name in PATTERNS}
    found = dict(zip(*lines))
    return {name: float(found[name]) for name in METADATA}


def run(command, folder, log, path):
    folder.mkdir(parents=True, exist_ok=True)
    os.sync()  # what the other side left to be written
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, HDF5_USE_FILE_LOCKING="FALSE", OMPI_MCA_io="ompio", PATH=f"{path}:{os.environ['PATH']}"))
    log.write_text(done.stdout)
    if done.returncode:
        sys.exit(f"{command[0]}: exit code {done.returncode}: {done.stdout[-2000:]}")


def theirs(options, config, count):
    folder = options.work / "h5bench"
    shutil.rmtree(folder, ignore_errors=True)
    run([sys.executable, options.h5bench / "h5bench", "--prefix", options.h5bench, config], folder, options.work / "h5bench.log", options.h5bench)
    return [figures(next(folder.rglob(f"{number}.csv"))) for number in range(count)]


def ours(options, config, count):
    folder = options.work / "nmbench"
    shutil.rmtree(folder, ignore_errors=True)
    run([options.nmbench, config, "--peers", "hdf5-parallel", "--runs", 1, "--out", "out"], folder, options.work / "nmbench.log", "/usr/bin")
    return [figures(next(folder.rglob(f"{number}.csv"))) for number in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configurations", nargs="+", type=Path)
    for name in ("h5bench", "nmbench", "work"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    missed = 0
    print("| configuration | benchmark | figure | h5bench, s | nmbench, s | ratio | |\n|---|---|---|---:|---:|---:|---|")
    for path in options.configurations:
        document = configuration(path, options.ranks)
        config = options.work / path.name
        config.write_text(json.dumps(document, indent=1))
        count = len(document["benchmarks"])
        found = {"theirs": [], "ours": []}
        for turn in range(options.runs):
            for side in (("theirs", "ours"), ("ours", "theirs"))[turn % 2]:
                found[side].append({"theirs": theirs, "ours": ours}[side](options, config, count))
        for number, entry in enumerate(document["benchmarks"]):
            for name in found["ours"][0][number]:
                values = {side: [one[number][name] for one in runs] for side, runs in found.items()}
                a, b = statistics.median(values["theirs"]), statistics.median(values["ours"])
                ratio = b / a
                overlap = min(values["ours"]) <= max(values["theirs"]) and min(values["theirs"]) <= max(values["ours"])
                said = "" if abs(ratio - 1) <= MOST else "within the spread" if overlap else "no"
                missed += said == "no"
                print(f"| {path.stem} | {entry['benchmark']} | {name} | {a:.3f} | {b:.3f} | {ratio:.2f} | {said} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
