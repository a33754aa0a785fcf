"""Decompositions of E3SM-IO: which elements of an array each process of a climate model writes. Their files are read by nminspect."""

import array
import json
import subprocess
from pathlib import Path

# The cases of E3SM-IO, by the number of their decompositions. A case writes files; each file has the number of arrays of each
# decomposition, the number of other arrays, and whether -r sets the number of records (else it is one).
CASES = {
    3: ("F", {"h0": ((1, 323, 63), 27, False), "h1": ((1, 22, 1), 27, True)}),
    5: ("I", {"h0": ((465, 75, 4, 1, 1), 14, True), "h1": ((465, 69, 2, 1, 1), 14, False)}),
    6: ("G", {"hist": ((6, 2, 25, 2, 2, 4), 11, True)}),
}
SIZES = {"F": (8, 4, 4), "I": (4,) * 5, "G": (8,) * 6}  # of elements, in bytes


class Unreadable(Exception):
    """There is no such file, or it is none of E3SM-IO's."""


def asked(nminspect, *words):
    done = subprocess.run([str(nminspect), *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise Unreadable(done.stderr.strip() or f"nminspect {' '.join(map(str, words))}: exit code {done.returncode}")
    return json.loads(done.stdout)


def write_decompositions(path, folder, nminspect):
    """Writes a file for each decomposition in `path`, as kernels/decomposed.cpp reads it; their names."""
    header = asked(nminspect, "header", "--json", path)
    attributes = {attribute["name"]: attribute["values"] for attribute in header["attributes"]}
    files = []
    while f"D{len(files) + 1}.dims" in attributes:
        name = f"D{len(files) + 1}"
        runs, first, lengths = (asked(nminspect, "dump", "--json", path, f"{name}.{what}")["values"] for what in ("nreqs", "offsets", "lengths"))
        dims = attributes[f"{name}.dims"]
        if sum(runs) != len(first) or len(first) != len(lengths):
            raise Unreadable(f"{path}: {name}.nreqs says {sum(runs)} requests, but there are {len(first)}")
        numbers = array.array("Q", [len(dims), *dims, len(runs), *runs])
        for pair in zip(first, lengths):
            numbers.extend(pair)
        files.append(Path(folder) / f"{name}.decomposition")
        with open(files[-1], "wb") as out:
            numbers.tofile(out)
    if len(files) not in CASES:
        raise Unreadable(f"{path}: found {len(files)} decompositions of E3SM-IO, expected 3, 5 or 6")
    return files


def jobs(path, folder, nminspect, records):
    """{file of the case: parameters of the kernel}."""
    files = write_decompositions(path, folder, nminspect)
    case, outputs = CASES[len(files)]
    return {f"{case}-{name}": {"decompositions": [str(file) for file in files], "counts": list(counts), "element_sizes": list(SIZES[case]),
                               "small_arrays": others, "records": records if varies else 1, "sync": True}
            for name, (counts, others, varies) in outputs.items()}
