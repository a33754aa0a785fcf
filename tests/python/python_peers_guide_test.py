"""The lines of docs/guides/python_peers.md give the same samples with every package."""

import ast
import os
import re
import unittest
from pathlib import Path

import numpy as np
from support import FolderTest, h5py, nmb

try:
    import lmdb
    import netCDF4
    import zarr
except ImportError:
    lmdb = None

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs/guides/python_peers.md"


def write_samples():
    random = np.random.default_rng(7)
    samples = {
        f"s{i:04}": {"x": random.normal(size=(i % 9 + 5, 3)).astype("<f4"), "label": np.int64(i % 2)} for i in range(50)
    }
    with h5py.File("samples.h5", "w") as h5, netCDF4.Dataset("samples.nc", "w") as nc, lmdb.open("samples.lmdb") as environment:
        zr = zarr.open_group("samples.zarr", mode="w")
        with environment.begin(write=True) as db:
            for name, arrays in samples.items():
                group = nc.createGroup(name)
                for variable, values in arrays.items():
                    h5[f"{name}/{variable}"] = values
                    for axis, length in enumerate(values.shape):
                        group.createDimension(f"d{axis}", length)
                    dims = [f"d{axis}" for axis in range(values.ndim)]
                    group.createVariable(variable, values.dtype, dims)[...] = values
                    zr.create_array(f"{name}/{variable}", shape=values.shape, dtype=values.dtype)[...] = values
                    db.put(f"{name}/{variable}".encode(), values.tobytes())
    nmb.convert("samples.h5", "samples.nmb")
    return samples


@unittest.skipUnless(lmdb and h5py, "h5py, netCDF4, zarr or lmdb is not installed")
class PythonPeersGuideTest(FolderTest):
    def test_lines_agree(self):
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        samples = write_samples()
        batch = ["s0007", "s0003", "s0042"]
        expected = {
            "Number of samples": 50,
            "One sample": samples["s0007"],
            "A slice of a variable": samples["s0007"]["x"][2:5, 0],
            "A batch of samples of different lengths": np.concatenate([samples[name]["x"] for name in batch]),
        }
        text = GUIDE.read_text(encoding="utf-8")
        sections = re.findall(r"^## (.*?)\n\n```python\n(.*?)^```$", text, re.M | re.S)
        self.assertEqual([title for title, _ in sections], ["Open", *expected])
        names = {}
        for title, code in sections:
            lines = ast.parse(code).body
            values = [one.value for one in lines if isinstance(one, ast.Expr)]
            exec(compile(ast.Module([one for one in lines if not isinstance(one, ast.Expr)], []), title, "exec"), names)
            self.assertEqual(len(values), 0 if title == "Open" else 5)
            for value in values:
                with self.subTest(title, line=ast.unparse(value)):
                    np.testing.assert_equal(eval(compile(ast.Expression(value), title, "eval"), names), expected[title])


if __name__ == "__main__":
    unittest.main()
