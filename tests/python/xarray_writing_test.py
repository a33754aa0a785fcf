"""nmb.xarray.to_nmb: what xarray reads back is what it reads from a file of to_netcdf."""

import os
import unittest
import warnings

import numpy as np
from support import FolderTest, needs_netcdf4, nmb

try:
    import dask
    import dask.array
    import pandas as pd
    import xarray as xr

    import nmb.xarray
except ImportError:
    dask = xr = None


def random_dataset(rng):
    """A data set with times, packed and missing values, texts, logical values, coordinates, with values of dask or not."""
    sizes = {"time": int(rng.integers(1, 5)), "x": int(rng.integers(1, 6)), "y": int(rng.integers(1, 4))}
    variables = {}
    for number in range(int(rng.integers(1, 7))):
        dims = [dim for dim in sizes if rng.random() < 0.6]
        shape = [sizes[dim] for dim in dims]
        attrs = {"units": "K", "number": int(number)} if rng.random() < 0.5 else {}
        encoding = {}
        kind = rng.choice(["float", "packed", "int", "bool", "text", "bytes", "time", "delta", "fill"])
        if kind in ("float", "packed", "fill"):
            values = rng.normal(size=shape).round(2)
            if kind == "fill" and values.ndim:
                values = np.where(rng.random(shape) < 0.3, np.nan, values)
            if kind == "packed":
                encoding = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 1.0, "_FillValue": -999}
            elif rng.random() < 0.5:
                encoding = {"dtype": "f4", "_FillValue": np.float32(-1)}
        elif kind == "int":
            values = rng.integers(-100, 100, shape).astype(str(rng.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4"])) if 0 else "i8")
        elif kind == "bool":
            values = rng.random(shape) < 0.5
        elif kind == "text":
            values = rng.choice(np.array(["a", "long text", "ü"], object), shape) if shape else np.array("one", object)
        elif kind == "bytes":
            values = rng.choice(np.array([b"a", b"bcd"]), shape)
        elif kind == "time":
            values = np.datetime64("2000-01-01", "ns") + rng.integers(0, 1000, shape) * np.timedelta64(3600, "s")
            values = np.asarray(values, "M8[ns]")
            attrs.pop("units", None)
            if rng.random() < 0.5:
                encoding = {"units": "hours since 1990-01-01", "dtype": "i4"}
        else:
            values = np.asarray(rng.integers(0, 1000, shape) * np.timedelta64(1, "m"), "m8[ns]")
            attrs.pop("units", None)
        values = np.asarray(values)
        variables[f"v{number}"] = xr.Variable(dims, values, attrs, encoding)
    coords = {"x": ("x", np.arange(sizes["x"]) * 10, {"axis": "X"})}
    if rng.random() < 0.6:
        coords["time"] = pd.date_range("1999-12-31", periods=sizes["time"], freq="D")
    if rng.random() < 0.4:
        coords["label"] = ("x", list("abcdefgh")[: sizes["x"]])
    if rng.random() < 0.3:
        coords["scalar"] = 3.5
    used = {dim for one in variables.values() for dim in one.dims}
    out = xr.Dataset(variables, {k: v for k, v in coords.items() if k in ("scalar",) or k in used or k == "label" and "x" in used})
    out.attrs = {"title": "random", "version": 1.5} if rng.random() < 0.5 else {}
    return out


@unittest.skipUnless(xr and dask, "xarray, pandas or dask is not installed")
@needs_netcdf4
class XarrayWritingTest(FolderTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)
        self.file = self.path("a.nmb")
        self.ds = xr.Dataset(
            {
                "t": (("time", "x"), np.arange(6.0).reshape(2, 3), {"units": "K"}),
                "n": ("time", [1, 2]),
                "name": ("x", ["a", "bü", "c"]),
                "flag": ("time", [True, False]),
            },
            {"time": pd.date_range("2000-01-01", periods=2), "x": [10, 20, 30]},
            {"title": "T"},
        )
        self.ds["t"].encoding = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -99}

    def opened(self, path=None, group=None, **options):
        with xr.open_dataset(path or self.file, engine="nmb", group=group, **options) as ds:
            return ds.load()

    def as_netcdf(self, ds, **options):
        path = self.path("theirs.nc")
        ds.to_netcdf(path, **options)
        with xr.open_dataset(path, engine="netcdf4") as again:
            return again.load()

    def put(self, ds, **options):
        return nmb.xarray.to_nmb(ds, options.pop("path", self.file), sync=False, **options)

    def refused(self, kind, ds, *words, **options):
        before = open(self.file, "rb").read() if os.path.exists(self.file) else None
        with self.assertRaises(kind) as caught:
            self.put(ds, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertEqual(open(self.file, "rb").read() if os.path.exists(self.file) else None, before)

    def test_random_datasets(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                rng = np.random.default_rng(seed)
                ds = random_dataset(rng)
                expected = self.as_netcdf(ds)
                self.put(ds, mode="w", group="g")
                xr.testing.assert_identical(self.opened(group="g"), expected)
                with nmb.Writer(self.path("direct.nmb"), "w", sync=False) as out:
                    out["g"] = ds
                self.assertFalse(nmb.diff(self.file, self.path("direct.nmb")))
                chunked = ds.chunk({dim: int(rng.integers(1, 4)) for dim in ds.dims})
                digests = []
                for compute in (True, False):
                    done = self.put(chunked, mode="w", group="g", compute=compute)
                    if not compute:
                        done.compute()
                    xr.testing.assert_identical(self.opened(group="g"), expected)
                    digests.append(nmb.digest(self.file).file)
                self.assertEqual(digests[0], digests[1])
                nmb.convert(self.file, self.path("back.nc"), replace=True, block="g")
                with xr.open_dataset(self.path("back.nc"), engine="netcdf4") as back:
                    xr.testing.assert_identical(back.load(), expected)
                self.assertEqual(sorted(os.listdir(self.folder)), ["a.nmb", "back.nc", "direct.nmb", "theirs.nc"])

    def test_other_objects(self):
        self.put(self.ds["t"], group="array")
        xr.testing.assert_identical(self.opened(group="array"), self.as_netcdf(self.ds["t"].to_dataset()))
        self.put(self.ds, mode="a")
        xr.testing.assert_identical(self.opened(), self.as_netcdf(self.ds))
        self.put(xr.Dataset({"later": ("x", [1, 2, 3])}), mode="a")
        self.assertIn("later", self.opened())
        self.refused(nmb.ExistsError, self.ds[["t"]], mode="a")
        self.put(self.ds, path=self.path("grows.nmb"), unlimited_dims="time")
        more = xr.Dataset({"more": ("time", [5, 6])})
        nmb.xarray.to_nmb(more, self.path("grows.nmb"), "a")
        xr.testing.assert_identical(self.opened(self.path("grows.nmb")), self.as_netcdf(self.ds.assign(more=more.more)))
        with self.assertRaisesRegex(nmb.ConflictError, "more2"):
            nmb.xarray.to_nmb(xr.Dataset({"more2": ("time", [5])}), self.path("grows.nmb"), "a")
        self.refused(nmb.ExistsError, self.ds)
        self.refused(nmb.UsageError, self.ds["t"].rename(None), mode="w")
        self.refused(TypeError, {"t": 1}, mode="w")
        self.put(xr.Dataset(), group="empty", mode="a")
        self.assertEqual(len(self.opened(group="empty").variables), 0)

    def test_encodings(self):
        encoding = {"t": {"dtype": "f4", "_FillValue": -5.0}, "time": {"units": "hours since 1990-01-01", "calendar": "standard"}}
        self.put(self.ds, encoding=encoding, unlimited_dims="time")
        raw = nmb.open(self.file)[""]
        self.assertEqual((raw["t"].dtype, raw["t"].attrs["_FillValue"]), (np.dtype("f4"), -5.0))
        self.assertEqual(raw["time"].attrs["units"][:26], "hours since 1990-01-01"[:26])
        self.assertEqual((raw.unlimited, raw["flag"].attrs["dtype"]), ({"time"}, "bool"))
        xr.testing.assert_identical(self.opened(), self.as_netcdf(self.ds, encoding=encoding))
        for wrong in ({"t": {"zlib": True}}, {"t": {"chunksizes": (1, 1)}}, {"nothing": {}}):
            self.refused(nmb.Error, self.ds, mode="w", encoding=wrong)
        for wrong in ("x", ["time", "x"], "nothing"):
            self.refused(nmb.UnsupportedError, self.ds, mode="w", unlimited_dims=wrong)
        for values, dtype in (([1e6, 2], "i2"), ([np.nan, 1], "i4"), ([300, 1], "u1"), ([-1, 1], "u4"), ([1e300, 1], "f4"), ([2**40, 1], "i4")):
            for form in (lambda one: one, lambda one: one.chunk()):
                wrong = xr.Dataset({"v": form(xr.DataArray(values, dims="x"))})
                self.refused(nmb.RangeError, wrong, "v", mode="w", encoding={"v": {"dtype": dtype}})
        self.refused(nmb.UnsupportedError, self.ds.assign(c=1j), "c", mode="w")
        self.refused(nmb.UnsupportedError, self.ds.assign(e=("z", np.zeros(0))), mode="w")
        self.refused(nmb.UnsupportedError, self.ds.assign_attrs(a=["x", "y"]), mode="w")
        self.refused(nmb.UsageError, self.ds.rename(t="a/b"), mode="w")

    def test_encodings_of_another_file(self):
        """What other formats store, such as chunks and filters, is left out; unlimited dimensions stay if a block can have them."""
        path = self.path("source.nc")
        self.ds.to_netcdf(path, unlimited_dims=["time"], encoding={"t": {"zlib": True, "chunksizes": (1, 3), "dtype": "i2"}})
        with xr.open_dataset(path, engine="netcdf4") as source:
            self.put(source)
            xr.testing.assert_identical(self.opened(), source.load())
        self.assertEqual(nmb.open(self.file)[""].unlimited, {"time"})
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ds = self.ds.copy()
            ds.encoding = {"unlimited_dims": {"time", "x"}}
            self.put(ds, mode="w")
        self.assertTrue(any("at most one" in str(one.message) for one in found))
        self.assertEqual(nmb.open(self.file)[""].unlimited, set())

    def test_appending(self):
        self.put(self.ds, group="g", unlimited_dims="time")
        pieces = [self.ds]
        for step, form in enumerate((lambda ds: ds, lambda ds: ds.chunk(time=1), lambda ds: ds.chunk(x=2), lambda ds: ds.isel(time=[0]))):
            more = form(self.ds.assign(t=self.ds.t + step).assign_coords(time=pd.date_range(f"2001-0{step + 1}-01", periods=2)))
            more["t"].encoding = {"dtype": "f8"}  # the file's counts
            pieces.append(more.load())
            self.put(more.chunk(time=1) if step else more, group="g", append_dim="time")
            found = self.opened(group="g")
            for name in ("t", "n", "flag", "time"):
                expected = np.concatenate([one[name].values for one in pieces])
                np.testing.assert_array_equal(found[name].values, expected)
            self.assertEqual(found.t.attrs, {"units": "K"})
        self.assertEqual(nmb.open(self.file).generation, 5)
        delayed = self.put(self.ds.chunk(), group="g", append_dim="time", compute=False)
        self.assertEqual(self.opened(group="g").sizes["time"], 9)
        delayed.compute()
        self.assertEqual(self.opened(group="g").sizes["time"], 11)
        ds = self.ds
        for wrong, words in (
            (ds.drop_vars("n"), ("n",)), (ds.assign(new=("time", [1, 2])), ("new",)), (ds.assign_coords(x=[1, 2, 3]), ("x",)),
            (ds.isel(x=[0, 1]), ("x",)), (ds.assign(t=ds.t.T), ("dimensions",)), (ds.assign(t=ds.t.assign_attrs(units="degC")), ("units",)),
            (ds.assign(name=("x", ["other", "b", "c"])), ("name",)), (ds.assign(n=("time", [1.5, 2])), ("n",)),
            (ds.assign(t=ds.t * 1e9), ("t",)), (ds.assign(n=("time", [np.nan, 1])), ("n",)),
            (ds.assign(t=(ds.t * 1e9).chunk(x=1)), ("t",)),
        ):  # fmt: skip
            self.refused((nmb.Error, ValueError, OverflowError), wrong, *words, group="g", append_dim="time")
        for options in ({"append_dim": "x"}, {"append_dim": "nothing"}, {"append_dim": "time", "region": "auto"}, {"append_dim": "time", "mode": "w"},
                        {"append_dim": "time", "encoding": {"t": {"dtype": "f4"}}}):  # fmt: skip
            self.refused(nmb.Error, ds, group="g", **options)
        self.refused(KeyError, ds, group="nothing", append_dim="time")
        self.refused(FileNotFoundError, ds, path=self.path("nothing.nmb"), append_dim="time")

    def test_appending_texts(self):
        for form in (lambda ds: ds, lambda ds: ds.chunk(time=1)):
            self.put(xr.Dataset({"word": ("time", ["a", "bcd"])}), mode="w", unlimited_dims="time")
            self.put(form(xr.Dataset({"word": ("time", np.array(["x", "yz"]))})), append_dim="time")
            self.put(form(xr.Dataset({"word": ("time", np.array(["ü"]))})), region={"time": slice(0, 1)})
            self.assertEqual(self.opened().word.values.tolist(), ["ü", "bcd", "x", "yz"])
            self.refused(nmb.RangeError, form(xr.Dataset({"word": ("time", np.array(["long"]))})), "word", append_dim="time")

    def test_regions(self):
        self.put(self.ds, group="g")
        part = self.ds[["t"]].isel(x=slice(1, 3)) * 10
        part.t.attrs = {"units": "K"}
        expected = self.ds.t.values.copy()
        for number, (region, form) in enumerate(
            (({"x": slice(1, 3)}, lambda ds: ds.drop_vars(["time"])), ({"x": "auto"}, lambda ds: ds.drop_vars("time")), ("auto", lambda ds: ds),
             ({"x": slice(1, None), "time": slice(None)}, lambda ds: ds.drop_vars(["x", "time"])),
             ({"x": slice(1, 3), "time": slice(0, 2)}, lambda ds: ds.chunk(x=1))),
        ):  # fmt: skip
            with self.subTest(region=region):
                self.put(form(part + number), group="g", region=region)
                expected[:, 1:3] = part.t.values + number
                np.testing.assert_array_equal(self.opened(group="g").t.values, expected)
        xr.testing.assert_identical(self.opened(group="g").drop_vars("t"), self.as_netcdf(self.ds).drop_vars("t"))
        self.put((part + 50).isel(time=[1]).chunk(x=1), group="g", region="auto", compute=False).compute()
        expected[1, 1:3] = part.t.values[1] + 50
        np.testing.assert_array_equal(self.opened(group="g").t.values, expected)
        for options, ds in (
            ({"region": {"x": slice(1, 3)}}, part),  # time has no x
            ({"region": {"x": slice(0, 3)}}, part.drop_vars("time")), ({"region": {"x": slice(2, 4)}}, part.drop_vars("time")),
            ({"region": {"x": slice(1, 3, 2)}}, part.drop_vars("time")), ({"region": {"z": slice(1, 3)}}, part.drop_vars("time")),
            ({"region": {"x": 1}}, part.drop_vars("time")), ({"region": "all"}, part), ({"region": 5}, part),
            ({"region": "auto"}, part.assign_coords(x=[20, 40])), ({"region": "auto"}, part.isel(x=[1, 0])),
            ({"region": {"x": slice(1, 3)}}, part.drop_vars("time").rename(t="other")),
            ({"region": {"x": slice(1, 3)}}, part.drop_vars("time").isel(time=[0])),
            ({"region": {"x": slice(1, 3)}, "mode": "w"}, part.drop_vars("time")),
            ({"region": {"x": slice(1, 3)}, "unlimited_dims": "x"}, part.drop_vars("time")),
        ):  # fmt: skip
            with self.subTest(options=options):
                self.refused(nmb.Error, ds, group="g", **options)

    def test_regions_by_many_threads(self):
        """Each writer waits for the one before it."""
        import concurrent.futures

        template = xr.Dataset({"v": ("x", np.zeros(64))})
        self.put(template)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            some = [
                pool.submit(self.put, xr.Dataset({"v": ("x", np.full(4, i))}), region={"x": slice(4 * i, 4 * i + 4)}, wait=60)
                for i in range(16)
            ]
            for one in some:
                one.result()
        np.testing.assert_array_equal(self.opened().v.values, np.repeat(np.arange(16), 4))
        with nmb.Writer(self.file, "a"):
            self.refused(nmb.BusyError, template, mode="a", group="h", wait=0.1)

    def test_dask_arrays_are_not_loaded_as_a_whole(self):
        most, now = 0, 0

        def block(info=None):
            nonlocal most, now
            now += 1
            most = max(most, now)
            return np.ones((1, 1000))

        made = dask.array.map_blocks(block, chunks=((1,) * 50, (1000,)), dtype="f8")

        class Target:
            def __setitem__(self, key, value):
                pass

        real = nmb.WriterVariable.__setitem__

        def counted(variable, key, values):
            nonlocal now
            real(variable, key, values)
            now -= 1

        nmb.WriterVariable.__setitem__ = counted
        try:
            with dask.config.set(scheduler="synchronous"):
                self.put(xr.Dataset({"v": (("x", "y"), made)}))
        finally:
            nmb.WriterVariable.__setitem__ = real
        self.assertEqual(self.opened().v.values.sum(), 50000)
        self.assertLess(most, 10)

    def test_a_chunk_that_fails(self):
        def block(block_id=None):
            if block_id[0] == 3:
                raise ZeroDivisionError
            return np.ones(2)

        ds = xr.Dataset({"v": ("x", dask.array.map_blocks(block, chunks=((2,) * 6,), dtype="f8"))})
        self.refused(ZeroDivisionError, ds)
        with self.assertRaises(ZeroDivisionError):
            self.put(ds, compute=False).compute()
        with dask.config.set(scheduler="processes"):
            self.refused(ZeroDivisionError, ds)
        self.assertLessEqual([name for name in os.listdir(self.folder) if not name.endswith(".parts")], [])

    def test_a_part_that_is_lost(self):
        from nmb import _xarray_write

        ds = xr.Dataset({"v": ("x", dask.array.arange(6, chunks=2))})
        real = _xarray_write._PartTarget.__setitem__
        with dask.config.set(scheduler="synchronous"):
            delayed = self.put(ds, compute=False)
            _xarray_write._PartTarget.__setitem__ = lambda target, key, values: values[0] == 2 or real(target, key, values)
            try:
                with self.assertRaisesRegex(nmb.MissingError, "4 of 6"):
                    delayed.compute()
            finally:
                _xarray_write._PartTarget.__setitem__ = real
        self.assertFalse(os.path.exists(self.file))

    @unittest.skipUnless(xr and hasattr(xr, "DataTree"), "xarray has no DataTree")
    def test_trees(self):
        ds = self.ds
        tree = xr.DataTree.from_dict(
            {"/": ds[["name"]], "/a": ds[["t"]], "/a/empty": xr.Dataset(), "/c/d": xr.Dataset({"z": 5}, attrs={"deep": 1}), "/lazy": ds.chunk(x=1)}
        )
        path = self.path("tree.nc")
        tree.to_netcdf(path)
        theirs = xr.open_datatree(path, engine="netcdf4").load()
        with nmb.Writer(self.file) as out:
            with self.assertRaisesRegex(nmb.UsageError, "to_nmb"):
                out["tree"] = tree
            out.discard()
        self.put(tree)
        xr.testing.assert_identical(xr.open_datatree(self.file, engine="nmb").load(), theirs)
        self.put(tree, mode="a", group="below/here", compute=False).compute()
        xr.testing.assert_identical(xr.open_datatree(self.file, engine="nmb", group="below/here").load(), theirs)
        self.put(tree["a"], mode="w", encoding={"/a": {"t": {"dtype": "f8"}}}, unlimited_dims={"/a": "time"})
        self.assertEqual(nmb.open(self.file)["t"].dtype, np.dtype("f8"))
        self.assertEqual(nmb.open(self.file)[""].unlimited, {"time"})
        for options in ({"encoding": {"/b": {}}}, {"region": "auto"}, {"append_dim": "time"}, {"unlimited_dims": "time"}):
            self.refused(nmb.Error, tree, **({"mode": "w"} if "region" not in options and "append_dim" not in options else {}), **options)


if __name__ == "__main__":
    unittest.main()
