"""The examples of docs/guides/python.md run, one after the other, in a folder with the files that they read."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import FolderTest, needs_netcdf4, nmb

ROOT = Path(__file__).resolve().parent.parent.parent


@needs_netcdf4
class GuideExamplesTest(FolderTest):
    def test_examples(self):
        text = (ROOT / "docs/guides/python.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.split()), 1500)
        examples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(examples), 5)
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            subprocess.run([sys.executable, ROOT / "examples/make_months.py", "months", "--months", "6"], check=True)
            files = sorted(str(path) for path in Path("months").glob("*.nc"))
            nmb.merge(files, "year.nmb", statistics="basic")
            names = {"months_files": files}
            for number, example in enumerate(examples):
                exec(compile(example, f"example {number} of python.md", "exec"), names)
        finally:
            os.chdir(here)


if __name__ == "__main__":
    unittest.main()
