"""Runs the first example of docs/guides/python.md with the package as it is installed: numpy is all that it needs.

    first_example.py MONTHS

MONTHS is a folder of netCDF-4 files by examples/make_months.py. They are read as they are, which takes nmb-hdf5, and merged into
the file that the example reads."""

import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import nmb

ROOT = Path(__file__).resolve().parent.parent.parent


def main():
    files = sorted(str(path) for path in Path(sys.argv[1]).glob("*.nc"))
    assert len(files) > 1, f"{sys.argv[1]}: expected several files"
    example = re.search(r"^```python\n(.*?)^```$", (ROOT / "docs/guides/python.md").read_text(encoding="utf-8"), re.M | re.S)[1]
    with tempfile.TemporaryDirectory() as folder:
        merged = f"{folder}/year.nmb"
        report = nmb.merge(files, merged, statistics="basic")
        assert report.totals.blocks == len(files), report.totals
        names = {}
        exec(compile(example.replace("year.nmb", merged), "the first example of python.md", "exec"), names)
        with nmb.open(merged) as f:
            for file, block in zip(files, f.blocks, strict=True):
                with nmb.open(file) as original:
                    assert np.array_equal(original["tas"][...], block["tas"][...]), file
        assert names["tas"].shape == (18, 18) and names["tas"].dtype == "=f4", names["tas"]
        assert names["months"] == [block.name for block in names["f"].blocks if "1990" in block.name], names["months"]
    tools = Path(sys.executable).parent
    for tool in ("nmcat", "nmconvert", "nminspect", "nmverify"):
        said = subprocess.run([tools / tool, "--version"], check=True, text=True, capture_output=True).stdout
        assert nmb.__version__ in said, said
    peers = [name for name in ("netCDF4", "h5py", "xarray") if find_spec(name)]
    print(f"nmb {nmb.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}, peers: {', '.join(peers) or 'none'}")


if __name__ == "__main__":
    main()
