"""mypy accepts the package, the tutorials and the examples of the guides, with --strict."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import FolderTest

try:
    import mypy
except ImportError:
    mypy = None

ROOT = Path(__file__).resolve().parent.parent.parent
# What tests/python/*_guide*_test.py have defined when they run the examples.
GIVEN = {"python": "months_files: list[str] = []\n", "python_write": "", "xarray": ""}
# xarray passes it to the engine, but its types allow paths and buffers only.
BLOCK_AS_PATH = 'xr.open_dataset(file.find("tas.max > 284")[0], engine="nmb")'


@unittest.skipUnless(mypy, "mypy is not installed")
class TypesTest(FolderTest):
    def check(self, *what):
        cache = Path(sys.prefix) / "mypy"
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "python/pyproject.toml", "--cache-dir", cache]
        done = subprocess.run([*command, *what], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_package(self):
        self.check("--package", "nmb")

    def test_tutorials(self):
        self.check(*(ROOT / "examples" / f"{name}.py" for name in ("graph_samples", "climate_year", "merge_and_train", "dask_ensemble")))

    def test_guides(self):
        for name, given in GIVEN.items():
            text = (ROOT / f"docs/guides/{name}.md").read_text(encoding="utf-8")
            examples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
            self.assertTrue(examples)
            code = "\n".join(examples).replace(BLOCK_AS_PATH, f"{BLOCK_AS_PATH}  # type: ignore[arg-type]")
            (self.folder / f"{name}_guide.py").write_text(given + code)
        self.check(*(self.folder / f"{name}_guide.py" for name in GIVEN))


if __name__ == "__main__":
    unittest.main()
