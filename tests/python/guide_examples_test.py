"""The examples of docs/guides/python.md, python_write.md, training.md and xarray.md run, one after the other, in a folder with the files that they read."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import FolderTest, needs_h5py, needs_netcdf4, nmb
from training_resume_test import needs_torch, write_graphs

try:
    import dask
    import pandas
    import xarray
except ImportError:
    xarray = None

ROOT = Path(__file__).resolve().parent.parent.parent


@needs_netcdf4
class GuideExamplesTest(FolderTest):
    def run_examples(self, guide, names):
        text = (ROOT / "docs/guides" / guide).read_text(encoding="utf-8")
        examples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(examples), 4)
        for number, example in enumerate(examples):
            exec(compile(example, f"example {number} of {guide}", "exec"), names)

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def check_examples(self, guide):
        subprocess.run([sys.executable, ROOT / "examples/make_months.py", "months", "--months", "6"], check=True)
        files = sorted(str(path) for path in Path("months").glob("*.nc"))
        nmb.merge(files, "year.nmb", statistics="basic")
        self.run_examples(guide, {"months_files": files})

    def test_python(self):
        self.check_examples("python.md")

    @unittest.skipUnless(xarray and dask, "xarray or dask is not installed")
    def test_python_write(self):
        self.check_examples("python_write.md")

    @needs_torch
    @needs_h5py
    def test_training(self):
        nmb.merge(write_graphs(self.folder), "graphs.nmb", statistics="basic")
        self.run_examples("training.md", {})

    @unittest.skipUnless(xarray and dask and pandas, "xarray, dask or pandas is not installed")
    def test_xarray(self):
        self.check_examples("xarray.md")


if __name__ == "__main__":
    unittest.main()
