"""The tutorials of examples/ run, and draw their pictures. The pictures are not compared."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from support import FolderTest, needs_h5py, needs_netcdf4

try:
    import matplotlib
    import xarray
except ImportError:
    matplotlib = xarray = None

try:
    import distributed
except ImportError:
    distributed = None

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


@needs_netcdf4
@unittest.skipUnless(matplotlib, "matplotlib or xarray is not installed")
class TutorialsTest(FolderTest):
    def run_tutorial(self, name, pictures):
        # matplotlib makes a list of fonts at its first use.
        environment = {**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": f"{sys.prefix}/matplotlib"}
        done = subprocess.run(
            [sys.executable, "-W", "error::DeprecationWarning", EXAMPLES / f"{name}.py"],
            cwd=self.folder, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for picture in pictures:
            content = (self.folder / name / picture).read_bytes()
            self.assertTrue(content.startswith(b"\x89PNG") and len(content) > 10_000, picture)
        return done.stdout

    def test_graph_samples(self):
        said = self.run_tutorial("graph_samples", ("sizes.png", "batch.png"))
        self.assertIn("410 blocks, 800 variables", said)
        self.assertRegex(said, r"32 samples: \d+ nodes, \d+ edges")

    @needs_h5py
    def test_merge_and_train(self):
        said = self.run_tutorial("merge_and_train", ("training.png",))
        self.assertIn("800 samples: {'train': 621, 'validation': 89, 'test': 90}", said)
        self.assertIn("stopped in epoch 3 after 528 samples of it", said)
        self.assertRegex(said, r"root of the mean square error 0\.0[56]\d")  # the noise of the labels is 0.05

    def test_climate_year(self):
        said = self.run_tutorial("climate_year", ("series.png", "anomaly.png"))
        self.assertIn("records=360", said)
        self.assertRegex(said, r"largest: \d\.\d K at -?\d° N, 2\d\d° E")

    @unittest.skipUnless(distributed, "distributed is not installed")
    def test_dask_ensemble(self):
        said = self.run_tutorial("dask_ensemble", ("spread.png", "density.png"))
        self.assertIn("24 parts became 24 blocks; one worker was killed; 0 parts are left", said)
        self.assertIn("generation 3: 25 blocks, 6 windows", said)
        self.assertRegex(said, r"is 0\.0009 at first, more than 1 from t = 4\.3, and 7\.\d at the end")
        self.assertRegex(said, r"places with states: [89]\d\d in the first window, [23]\d{3} in the last")
        self.assertEqual([one.name for one in (self.folder / "dask_ensemble").glob("*.parts")], [])


if __name__ == "__main__":
    unittest.main()
