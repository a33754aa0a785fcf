"""Values of HDF5 data sets that lie in other files: those of virtual data sets, and those with external storage."""

import os
import unittest

import numpy as np
from support import FolderTest, h5py, needs_h5py, nmb

try:
    import xarray as xr
except ImportError:
    xr = None


@needs_h5py
class OtherFilesTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.numbers = np.arange(60, dtype="<f4").reshape(3, 20)
        self.numbers.tofile(self.path("raw.bin"))
        layout = h5py.VirtualLayout((3, 20), "<f4")
        for i in range(3):
            with h5py.File(self.path(f"source_{i}.h5"), "w") as file:
                file["x"] = self.numbers[i]
            layout[i] = h5py.VirtualSource(f"source_{i}.h5", "x", shape=(20,))
        self.all = self.path("all.h5")
        with h5py.File(self.all, "w") as file:
            file["here"] = np.arange(3)
            file.create_virtual_dataset("g/rows", layout, fillvalue=-1)
            file.create_dataset("outside", self.numbers.shape, "<f4", external=[(self.path("raw.bin"), 0, 240)])

    def test_they_are_read_only_where_the_caller_says_so(self):
        for more in ({}, {"external": "none"}, {"external": "beneath"}):
            with nmb.open(self.all, **more) as file:
                self.same(file["here"][...], np.arange(3))
                for name in "g/rows", "outside":
                    with self.assertRaisesRegex(nmb.UnsupportedError, 'in other files .external "any" reads'):
                        file[name][...]
        with nmb.open(self.all, external="any") as file:
            for name in "g/rows", "outside":
                self.same(file[name][...], self.numbers)
                self.same(file[name][1:, ::-3], self.numbers[1:, ::-3])

    def test_copies_have_them(self):
        nmb.convert(self.all, self.path("all.nmb"), external="any", sync=False)
        nmb.merge([self.all], self.path("merged.nmb"), external="any", sync=False)
        for i in range(3):
            os.rename(self.path(f"source_{i}.h5"), self.path(f"away_{i}.h5"))
        os.rename(self.path("raw.bin"), self.path("away.bin"))
        for path, prefix in (("all.nmb", ""), ("merged.nmb", "all/")):
            with nmb.open(self.path(path)) as file:
                for name in "g/rows", "outside":
                    self.same(file[prefix + name][...], self.numbers)

    def test_missing_sources_are_no_fill_values(self):
        os.remove(self.path("source_1.h5"))
        with self.assertRaisesRegex(nmb.MissingFileError, "source_1.h5"):
            nmb.open(self.all, external="any")
        os.rename(self.path("source_0.h5"), self.path("source_1.h5"))
        os.remove(self.path("raw.bin"))
        with self.assertRaisesRegex(nmb.MissingFileError, "raw.bin"):
            nmb.open(self.all, external="any")

    @unittest.skipUnless(xr, "xarray is not installed")
    def test_xarray(self):
        with xr.open_dataset(self.all, group="g", engine="nmb", external="any") as ds:
            self.same(ds["rows"].values, self.numbers)


if __name__ == "__main__":
    unittest.main()
