#!/usr/bin/python3
"""Prints which folder of libformat includes from which, and checks them.

    scripts/check_layers.py

The layers, from below, are NMB_LAYERS in libformat/CMakeLists.txt; an include that leads to a higher layer does not compile.
This checks the folders: those of a layer may not need each other in a circle, and none has more than 40 files.
Exit code 1: something is wrong, and is printed with the includes that cause it.
"""

import graphlib
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "libformat"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
MOST_FILES = 40


def main():
    layers = re.search(r"set\(NMB_LAYERS ([a-z0-9 ]+)\)", (ROOT / "CMakeLists.txt").read_text())[1].split()
    files = [path.relative_to(ROOT) for layer in (*layers, "nmb-hdf5", "mpi", "include") for path in (ROOT / layer).rglob("*.*")]
    files = [path for path in files if path.suffix in (".cpp", ".h")]
    folder_of = {"/".join(path.parts[1:]): path.parent for path in files}  # by the text of an include
    wrong, count, arrows = [], defaultdict(int), defaultdict(lambda: defaultdict(list))
    for path in files:
        count[path.parent] += 1
        for name in INCLUDE.findall((ROOT / path).read_text()):
            to = folder_of.get(name) or ((ROOT / path.parent / name).exists() and path.parent)
            if not to:
                wrong.append(f"{path}: {name} was not found")
            elif to != path.parent and to.parts[0] != "include":
                arrows[path.parent][to].append(f"{path} -> {name}")
    for folder, number in count.items():
        if number > MOST_FILES:
            wrong.append(f"{folder}: {number} files, expected at most {MOST_FILES}")
    for layer in layers:
        inside = {a: [b for b in arrows[a] if b.parts[0] == layer] for a in count if a.parts[0] == layer}
        try:
            order = graphlib.TopologicalSorter(inside).static_order()
            for folder in order:
                used = " ".join(f"{to} {len(arrows[folder][to])}" for to in sorted(arrows[folder]))
                print(f"{folder} ({count[folder]} files): {used}")
        except graphlib.CycleError as error:
            circle = error.args[1]
            wrong.append(f"{layer}: a circle: " + " <- ".join(map(str, circle)))
            wrong += [include for to, a in zip(circle, circle[1:]) for include in arrows[a][to]]
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
