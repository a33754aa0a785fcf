"""Files to merge: small classic files that go together in a mode, also as NMB files and as netCDF-4 files with coded chunks."""

import os
import random
import struct
import subprocess
from math import prod
from pathlib import Path

INT, DOUBLE = 4, 6  # types of classic files, with their sizes below
SIZE = {INT: 4, DOUBLE: 8}
CHUNKS = {"tiles": "y:128,x:128", **dict.fromkeys(("pack", "union", "join"), "cell:100000")}
LEVELS = bytes(byte & 15 for byte in range(256))  # values of which half can be compressed away


def classic(dimensions, variables, records, attributes=()):
    """The header of a CDF-2 file. dimensions: (name, length), None: unlimited; variables: (name, type, dimensions,
    attributes) as they lie in the file; attributes: (name, values of int32)."""

    def name(text):
        return struct.pack(">I", len(text)) + text.encode().ljust((len(text) + 3) // 4 * 4, b"\0")

    def items(tag, each):
        return struct.pack(">II", tag if each else 0, len(each)) + b"".join(each)

    def attribute_list(given):
        return items(12, [name(n) + struct.pack(f">II{len(v)}i", INT, len(v), *v) for n, v in given])

    lengths = [length for _, length in dimensions]

    def of_record(variable):
        return variable[2][:1] != () and lengths[variable[2][0]] is None

    def values(variable):
        return prod(lengths[d] for d in variable[2][1 if of_record(variable) else 0:]) * SIZE[variable[1]]

    def encode(begins):
        head = b"CDF\x02" + struct.pack(">I", records)
        head += items(10, [name(n) + struct.pack(">I", length or 0) for n, length in dimensions])
        head += attribute_list(attributes)
        return head + items(11, [
            name(v[0]) + struct.pack(f">I{len(v[2])}I", len(v[2]), *v[2]) + attribute_list(v[3])
            + struct.pack(">IIQ", v[1], (values(v) + 3) // 4 * 4, begin) for v, begin in zip(variables, begins)])

    at, begins = len(encode([0] * len(variables))), []
    for variable in variables:
        begins.append(at)
        at += values(variable)
    return encode(begins)


def doubles(first, count):
    return struct.pack(f">{count}d", *range(first, first + count))


class Inputs:
    """Files that go together in a mode: each has other values. Tiles lie in two columns."""

    COLUMNS = 2

    def __init__(self, folder, files, megabytes):
        self.folder, self.files = folder, files
        cells = max(64, int(megabytes * 250_000) // files)
        self.width = 512 if cells >= 1 << 18 else 32
        self.height = cells // self.width
        self.cells = self.width * self.height
        self.pool = random.Random(1).randbytes(8 * self.cells + 16384).translate(LEVELS)

    def described(self, mode, i):
        """dimensions, variables, records, values and attributes of a file."""
        cells = self.cells
        first = i * 148 % (len(self.pool) - 4 * cells) & ~3
        field = self.pool[first:first + 4 * cells]
        if mode == "tiles":
            width, height, columns = self.width, self.height, self.COLUMNS
            y, x = i // columns * height, i % columns * width
            parts = [[1, -(-self.files // columns) * height, y + 1, y + height], [1, columns * width, x + 1, x + width]]
            axes = [(name, DOUBLE, (d,), [("domain_decomposition", part)]) for d, (name, part) in enumerate(zip("yx", parts), 1)]
            return ([("time", None), ("y", height), ("x", width)], [*axes, ("t", INT, (0, 1, 2), [])], 1,
                    [doubles(y, height), doubles(x, width), field], [("NumFilesInSet", [self.files])])
        if mode == "union":
            return [("cell", cells)], [("mask", INT, (), []), (f"v{i:06}", INT, (0,), [])], 0, [b"\0\0\0\1", field], []
        return ([("time", None), ("cell", cells)], [("time", DOUBLE, (0,), []), ("t", INT, (0, 1), [])], 1,
                [doubles(i, 1), field], [])

    def make(self, mode, kind, nmconvert):
        """Paths of the files. kind: classic, nmb, or hdf5: netCDF-4 with deflated chunks."""
        self.folder.mkdir(parents=True)
        paths = [self.folder / f"in{i:06}.nc" for i in range(self.files)]
        for i, path in enumerate(paths):
            dimensions, variables, records, values, attributes = self.described(mode, i)
            path.write_bytes(b"".join([classic(dimensions, variables, records, attributes), *values]))
        if kind != "classic":
            to = {"nmb": ["--to", "nmb"], "hdf5": ["--to", "nc4", "--compress", "deflate:1", "--chunk", CHUNKS[mode]]}[kind]
            made = self.folder.with_name(self.folder.name + "_made")
            made.mkdir()
            subprocess.run([nmconvert, "--files-from", "-", "--out-dir", made, *to, "--no-sync", "--no-check", "--no-progress", "-q"],
                           input="".join(f"{path.name}\n" for path in paths), text=True, cwd=self.folder, check=True,
                           stdout=subprocess.DEVNULL)
            for path in paths:
                path.unlink()
            paths = []
            for path in sorted(made.iterdir()):
                paths.append(Path(self.folder, path.name))
                path.rename(paths[-1])
            made.rmdir()
        for path in paths:
            os.utime(path, (1e9, 1e9))  # a file that was changed just now is looked at a second time
        return paths
