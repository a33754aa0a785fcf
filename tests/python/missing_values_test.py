"""Missing values: what decode=, masked= and the tables take for missing, beside netCDF4."""

import unittest

import numpy as np
from support import FolderTest, h5py, needs_h5py, needs_netcdf4, netCDF4, nmb

try:
    import pandas

    import nmb.pandas
except ImportError:
    pandas = None


@needs_netcdf4
class MissingValuesTest(FolderTest):
    def each_kind(self, make):
        """The file as netCDF-4 and classic, and converted to NMB."""
        for form in ("NETCDF4", "NETCDF3_CLASSIC"):
            path = self.path(f"{form}.nc")
            with netCDF4.Dataset(path, "w", format=form) as out:
                out.createDimension("x", 4)
                make(out)
            yield path
            nmb.convert(path, path + ".nmb")
            yield path + ".nmb"

    def test_without_scale(self):
        def make(out):
            out.createVariable("sst", "f4", ("x",), fill_value=-999.0)[:] = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])
            out.createVariable("count", "i2", ("x",), fill_value=-1)[:] = [5, -1, 7, 8]
            out.createVariable("old", "i4", ("x",))[:] = [1, 2, 3, 99]
            out["old"].missing_value = np.int32(99)
            out.createVariable("unset", "f8", ("x",))
            out.createVariable("plain", "i4", ("x",))[:] = [1, 2, 3, 4]

        for path in self.each_kind(make):
            f = nmb.open(path)
            for name, expected in (
                ("sst", np.array([1, np.nan, 3, 4], "f4")),
                ("count", np.array([5, np.nan, 7, 8], "f4")),
                ("old", np.array([1, 2, 3, np.nan])),
                ("unset", np.full(4, np.nan)),
                ("plain", np.array([1, 2, 3, 4], "i4")),
            ):
                found = f[name].read(decode=True)
                np.testing.assert_array_equal(found, expected)
                self.assertEqual(found.dtype, expected.dtype, name)
                with netCDF4.Dataset(path if path.endswith(".nc") else path[:-4]) as theirs:
                    masked = f[name].read(masked=True, decode=True)
                    np.testing.assert_array_equal(np.ma.getmaskarray(masked), np.ma.getmaskarray(theirs[name][:]))
            self.assertTrue(np.isnan(f["sst"].read(1, decode=True)))

    def test_bytes_use_every_value(self):
        def make(out):
            out.createVariable("small", "i1", ("x",))[:] = [-128, -127, 0, 127]

        for path in self.each_kind(make):
            small = nmb.open(path)["small"]
            self.assertFalse(np.ma.getmaskarray(small.read(masked=True)).any())
            self.assertEqual(small.read(decode=True).tolist(), [-128, -127, 0, 127])

    @needs_h5py
    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_fill_values_of_hdf5_data_sets_are_values(self):
        with h5py.File(self.path("hits.h5"), "w") as out:
            out.create_dataset("event/hits", data=[0, 3, 0, 5], fillvalue=0)
        f = nmb.open(self.path("hits.h5"))
        self.assertFalse(np.ma.getmaskarray(f["event/hits"].read(masked=True)).any())
        self.assertEqual(nmb.pandas.values(f, ["hits"], blocks="event")["hits"].tolist(), [0, 3, 0, 5])


if __name__ == "__main__":
    unittest.main()
