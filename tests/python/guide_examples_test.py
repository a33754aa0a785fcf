"""The examples of docs/guides/python.md, python_write.md and xarray.md run, one after the other, in a folder with the files that they read."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import FolderTest, needs_netcdf4, nmb

try:
    import dask
    import pandas
    import xarray
except ImportError:
    xarray = None

ROOT = Path(__file__).resolve().parent.parent.parent


@needs_netcdf4
class GuideExamplesTest(FolderTest):
    def check_examples(self, guide):
        text = (ROOT / "docs/guides" / guide).read_text(encoding="utf-8")
        examples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(examples), 5)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        subprocess.run([sys.executable, ROOT / "examples/make_months.py", "months", "--months", "6"], check=True)
        files = sorted(str(path) for path in Path("months").glob("*.nc"))
        nmb.merge(files, "year.nmb", statistics="basic")
        names = {"months_files": files}
        for number, example in enumerate(examples):
            exec(compile(example, f"example {number} of {guide}", "exec"), names)

    def test_python(self):
        self.check_examples("python.md")

    @unittest.skipUnless(xarray and dask, "xarray or dask is not installed")
    def test_python_write(self):
        self.check_examples("python_write.md")

    @unittest.skipUnless(xarray and dask and pandas, "xarray, dask or pandas is not installed")
    def test_xarray(self):
        self.check_examples("xarray.md")


if __name__ == "__main__":
    unittest.main()
