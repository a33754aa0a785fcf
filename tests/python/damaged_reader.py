"""Reads all that a file has, by every call of the package. A process of its own, because it is about crashes and hangs.

    damaged_reader.py [--tools FOLDER] < PATHS

Prints a line of JSON for each path: {"path": ..., "failures": [[call, class, file, offset, object, text], ...], "values":
{"name": digest}}, "class" with its module unless it is one of nmb's. With --tools, it also calls the tools, which write into
FOLDER."""

import argparse
import hashlib
import json
import os
import pickle
import sys
import warnings

import numpy as np

import nmb

try:
    import xarray as xr
except ImportError:
    xr = None

MOST_VALUES = 1 << 22
MOST_BLOCKS = 50


def digest_of(values):
    values = np.asarray(values)
    if values.dtype.kind == "O" or values.dtype.hasobject:
        return hashlib.sha256(repr(values.tolist()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


class Reading:
    def __init__(self, path, tools):
        self.path = path
        self.tools = tools
        self.failures = []
        self.values = {}

    def output(self):
        """A path for an output, which does not exist."""
        path = f"{self.tools}/output.nmb"
        if os.path.exists(path):
            os.remove(path)
        return path

    def call(self, name, function):
        try:
            return function()
        except Exception as error:  # noqa: BLE001
            ours = isinstance(error, nmb.Error)
            self.failures.append(
                [name, type(error).__name__ if ours else f"{type(error).__module__}.{type(error).__name__}",
                 getattr(error, "file", None), getattr(error, "offset", None), getattr(error, "object", None), str(error)[:300]]
            )  # fmt: skip
            pickle.loads(pickle.dumps(error))
            return None

    def all(self):
        file = self.call("open", lambda: nmb.open(self.path))
        if file is not None:
            self.file(file)
        if self.tools:
            for name, call in (
                ("verify", lambda: bool(nmb.verify(self.path))),
                ("digest", lambda: nmb.digest(self.path)),
                ("diff", lambda: nmb.diff(self.path, self.path)),
                ("convert", lambda: nmb.convert(self.path, self.output(), sync=False, lossy=True)),
                ("recover", lambda: nmb.recover(self.path, self.output(), sync=False)),
                ("merge", lambda: nmb.merge([self.path], self.output(), sync=False)),
            ):
                self.call(name, call)
        return {"path": self.path, "failures": self.failures, "values": self.values}

    def file(self, file):
        for name, call in (
            ("repr", lambda: repr(file)),
            ("html", file._repr_html_),
            ("totals", lambda: file.totals),
            ("provenance", lambda: file.provenance),
            ("warnings", lambda: file.warnings),
            ("len", lambda: len(file)),
            ("names", lambda: file.blocks.glob("**").names),
            ("refresh", file.refresh),
            ("pickle", lambda: pickle.loads(pickle.dumps(file))),
        ):
            self.call(name, call)
        blocks = self.call("blocks", lambda: [block for _, block in zip(range(MOST_BLOCKS), file.blocks)]) or []
        for block in blocks:
            self.block(file, block)

    def block(self, file, block):
        for name, call in (
            ("attributes", lambda: {key: block.attrs[key] for key in block.attrs}),
            ("repr", lambda: repr(block)),
            ("dims", lambda: (block.dims, block.unlimited, block.counts, block.position)),
            ("tags", lambda: block.tags),
            ("cdl", block.cdl),
        ):
            self.call(f"{name} of {block.name}", call)
        small = True
        for name in self.call(f"variables of {block.name}", lambda: list(block)) or []:
            variable = self.call(f"variable {name}", lambda name=name: block[name])
            small = self.variable(file, block, variable) and small if variable is not None else small
        if small:
            self.call(f"read of {block.name}", block.read)
        if xr is not None:
            self.call(f"xarray of {block.name}", lambda: self.dataset(block, small))

    def dataset(self, block, small):
        ds = xr.open_dataset(block, engine="nmb", decode_cf=False)
        repr(ds)
        if small:
            ds.load()

    def variable(self, file, block, variable):
        """Whether the variable is small."""
        name = variable.full_name
        size = self.call(f"shape of {name}", lambda: (variable.shape, variable.dims, variable.dtype, variable.size))
        for what, call in (
            ("attributes", lambda: {key: variable.attrs[key] for key in variable.attrs}),
            ("fill", lambda: variable.fill_value),
            ("storage", lambda: variable.storage),
            ("stats", lambda: variable.stats),
            ("repr", lambda: repr(variable)),
        ):
            self.call(f"{what} of {name}", call)
        if size is None or size[3] > MOST_VALUES:
            return False
        values = self.call(f"values of {name}", lambda: variable[...])
        if values is not None:
            self.values[name] = digest_of(values)
        ragged = self.call(f"ragged {name}", lambda: file.read_ragged(variable.name, [block])[0])
        if values is not None and ragged is not None and digest_of(ragged) != digest_of(values):
            self.failures.append([f"ragged {name}", "OTHER VALUES", self.path, None, name, ""])
        self.call(f"masked {name}", lambda: variable.read(masked=True, decode=True))
        self.call(f"some of {name}", lambda: variable[(0,) * variable.ndim] if variable.size else None)
        self.call(f"backward {name}", lambda: variable[::-1] if variable.ndim else None)
        self.call(f"statistics of {name}", variable.compute_stats)
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools")
    tools = parser.parse_args().tools
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(Reading(line.rstrip("\n"), tools).all()), flush=True)


if __name__ == "__main__":
    main()
