"""Tables for pandas: of tags, statistics, found blocks and values."""

import unittest

import numpy as np
from support import FolderTest, needs_netcdf4, netCDF4, nmb

try:
    import pandas

    import nmb.pandas
except ImportError:
    pandas = None


@needs_netcdf4
@unittest.skipUnless(pandas, "pandas is not installed")
class PandasTablesTest(FolderTest):
    def setUp(self):
        super().setUp()
        paths = []
        self.t = {}
        for i in range(12):
            paths.append(self.path(f"s{i:02d}.nc"))
            with netCDF4.Dataset(paths[-1], "w", format="NETCDF3_CLASSIC") as d:
                d.createDimension("time", i + 1)
                d.createDimension("x", 2)
                d.createVariable("time", "f8", ("time",))[...] = np.arange(i + 1)
                t = d.createVariable("t", "i2", ("time",), fill_value=-1)
                t.set_auto_maskandscale(False)
                t[...] = np.arange(i + 1) * 10 - (np.arange(i + 1) == 3) * 31
                t.scale_factor = 0.5
                d.createVariable("n", "i4", ())[...] = i
                d.createVariable("flag", "S1", ("time",))[...] = np.array([b"a"] * (i + 1), "S1")
                d.createVariable("wide", "f4", ("time", "x"))[...] = 0
            self.t[f"s{i:02d}"] = np.where(np.arange(i + 1) == 3, np.nan, np.arange(i + 1) * 5.0)
        nmb.merge(paths, self.path("all.nmb"), tags=["number={1}"], tag_names="s([0-9]+)", statistics="basic", sync=False)
        self.file = nmb.open(self.path("all.nmb"))

    def test_blocks_and_tags(self):
        table = nmb.pandas.blocks(self.file)
        self.assertEqual(table.index.tolist(), list(self.file))
        self.assertEqual(table.position.tolist(), list(range(12)))
        self.assertTrue((table.variables == 5).all())
        self.assertEqual(nmb.pandas.tags(self.file).number.tolist(), [b.tags["number"] for b in self.file.blocks])
        self.assertEqual(nmb.pandas.tags(self.file, "s0*").shape, (10, 1))
        self.assertTrue(nmb.pandas.tags(self.file.path).equals(nmb.pandas.tags(self.file)))

    def test_blocks_without_variables(self):
        with netCDF4.Dataset(self.path("groups.nc"), "w") as out:
            for name in ("a", "b"):
                out.createGroup(name).createVariable("n", "i4", ())[...] = 5
        nmb.merge(self.path("groups.nc"), self.path("groups.nmb"), block_name="{group}")
        path = self.path("groups.nmb")
        self.assertEqual(nmb.pandas.blocks(path).variables.to_dict(), {"": 0, "a": 1, "b": 1})
        self.assertEqual(nmb.pandas.values(path, "n").n.tolist(), [5, 5])
        self.assertEqual(nmb.pandas.statistics(path, "n", compute=True).minimum.tolist(), [5, 5])
        with self.assertRaises(KeyError):
            nmb.pandas.values(path, "n", blocks="**")

    def test_statistics(self):
        table = nmb.pandas.statistics(self.file, "time")
        self.assertEqual(table.maximum.tolist(), [float(i) for i in range(12)])
        self.assertEqual(table.elements.tolist(), list(range(1, 13)))
        both = nmb.pandas.statistics(self.file, ["time", "t"], ["s03", "s05"])
        self.assertEqual(both["t", "missing"].tolist(), [1, 1])
        self.assertEqual(both.index.tolist(), ["s03", "s05"])
        with self.assertRaises(nmb.MissingError):
            nmb.pandas.statistics(self.file, "nothing")
        nmb.convert(self.path("s05.nc"), self.path("none.nmb"), sync=False)
        with nmb.open(self.path("none.nmb")) as bare:
            self.assertTrue(nmb.pandas.statistics(bare, "time").maximum.isna().all())
            self.assertEqual(nmb.pandas.statistics(bare, "time", compute=True).maximum.tolist(), [5.0])

    def test_found(self):
        table = nmb.pandas.find(self.file, "time.max > 8", "time")
        self.assertEqual(table.index.tolist(), ["s09", "s10", "s11"])
        self.assertEqual(table["time.maximum"].tolist(), [9.0, 10.0, 11.0])
        self.assertEqual(table.position.tolist(), [9, 10, 11])
        none = nmb.pandas.find(self.file, "time.max > 800", ["time"])
        self.assertEqual(len(none), 0)
        self.assertIn("time.maximum", none.columns)

    def test_values(self):
        table = nmb.pandas.values(self.file, ["time", "t", "n", "flag"])
        self.assertEqual(len(table), 78)
        np.testing.assert_array_equal(table.t.to_numpy(), np.concatenate(list(self.t.values())))
        self.assertEqual(table.loc["s05"].n.tolist(), [5] * 6)
        self.assertEqual(table.loc[("s05", 2), "flag"], "a")
        self.assertEqual(list(nmb.pandas.values(self.file).columns), ["time", "t", "flag"])
        raw = nmb.pandas.values(self.file, "t", ["s04"], decode=False)
        self.assertEqual(raw.t.dtype, "i2")
        self.assertEqual(raw.t.tolist(), [0, 10, 20, -1, 40])
        with self.assertRaises(nmb.UsageError):
            nmb.pandas.values(self.file, "wide")


if __name__ == "__main__":
    unittest.main()
