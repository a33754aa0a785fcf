"""The engine nmb of xarray: selections, chunks, groups, other processes, and many blocks as one data set."""

import pickle
import unittest
import warnings
from unittest import mock

import numpy as np
from support import FolderTest, h5py, needs_h5py, needs_netcdf4, netCDF4, nmb, python, write_netcdf

try:
    import xarray as xr

    import nmb.xarray
except ImportError:
    xr = None
try:
    import dask
    import dask.array
except ImportError:
    dask = None

needs_xarray = unittest.skipUnless(xr, "xarray is not installed")
needs_dask = unittest.skipUnless(dask, "dask is not installed")


def write_big(path, form="NETCDF4"):
    """A file with packed values, times and texts, in chunks if the format has them."""
    rng = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w", format=form) as d:
        d.title = "packed"
        d.createDimension("time", None)
        for name, length in (("y", 23), ("x", 31), ("letters", 6)):
            d.createDimension(name, length)
        time = d.createVariable("time", "f8", ("time",))
        time.units = "days since 2001-01-01"
        time.calendar = "noleap"
        time[...] = np.arange(40) * 1.5
        more = {"zlib": True, "complevel": 3, "fletcher32": True, "chunksizes": (7, 10, 12)} if form == "NETCDF4" else {}
        packed = d.createVariable("packed", "i2", ("time", "y", "x"), fill_value=-999, **more)
        packed.set_auto_maskandscale(False)
        packed.scale_factor, packed.add_offset, packed.units = np.float32(0.1), np.float32(5), "K"
        packed[...] = rng.integers(-999, -900, (40, 23, 31)).astype("i2")
        label = d.createVariable("label", "S1", ("y", "letters"))
        label[...] = np.array([list(f"name{i:02d}") for i in range(23)], "S1")
        lat = d.createVariable("lat", "f4", ("y",))
        lat[...] = np.linspace(-90, 90, 23)
        packed.coordinates = "lat"


def write_samples(folder, count=60, seed=5, **attributes):
    """Files of samples with lengths of their own."""
    rng = np.random.default_rng(seed)
    paths = []
    for i in range(count):
        paths.append(str(folder / f"s{i:03d}.nc"))
        with netCDF4.Dataset(paths[-1], "w", format="NETCDF3_64BIT_DATA") as d:
            for name, length in (("node", rng.integers(0, 9)), ("edge", rng.integers(1, 20)), ("two", 2)):
                d.createDimension(name, max(1, length))
            for name, kind, dims in (
                ("x", "f4", ("node", "two")),
                ("edges", "i8", ("edge", "two")),
                ("weight", "f8", ("edge",)),
                ("energy", "f8", ()),
                ("rotation", "f4", ("two", "edge")),
            ):
                v = d.createVariable(name, kind, dims)
                v[...] = rng.integers(0, 1000, v.shape)
                v.units = "m"
            for name, value in attributes.items():
                d["x"].setncattr(name, value(i))
    return paths


@needs_xarray
@needs_netcdf4
class XarrayEngineTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.files = []
        for form in ("NETCDF4", "NETCDF3_64BIT_OFFSET"):
            path = self.path(f"{form}.nc")
            write_big(path, form)
            packed = self.path(f"{form}.nmb")
            nmb.convert(path, packed, sync=False, originals=False, codec="zstd" if form != "NETCDF4" else "")
            self.files.append((path, packed))

    def open(self, path, **more):
        return xr.open_dataset(path, engine="nmb", **more)

    def test_found_by_content(self):
        engine = nmb.xarray.NmbBackendEntrypoint()
        for path, packed in self.files:
            self.assertTrue(engine.guess_can_open(packed))
            self.assertFalse(engine.guess_can_open(path))
            other = self.path("name_without_ending")
            with open(packed, "rb") as a, open(other, "wb") as b:
                b.write(a.read())
            with xr.open_dataset(other) as found:
                self.assertEqual(found.attrs["title"], "packed")
        self.assertFalse(engine.guess_can_open(self.path("missing")))
        self.assertIn("nmb", xr.backends.list_engines())
        with nmb.open(packed) as file:
            xr.testing.assert_identical(self.open(file), self.open(packed))
            xr.testing.assert_identical(self.open(file.block("")), self.open(packed))

    def test_decoding_keywords(self):
        for path, packed in self.files:
            for keywords in (
                {},
                {"mask_and_scale": False},
                {"decode_times": False},
                {"use_cftime": True},
                {"concat_characters": False},
                {"decode_coords": False},
                {"decode_cf": False},
                {"drop_variables": ["packed", "label"]},
                {"drop_variables": "time"},
            ):
                with self.subTest(path=path, **keywords), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with xr.open_dataset(path, engine="netcdf4", **keywords) as expected:
                        for one in (path, packed):
                            found = self.open(one, **keywords)
                            xr.testing.assert_identical(found, expected)
                            for name in expected.variables:
                                b = {k: v for k, v in expected[name].encoding.items() if k != "source"}
                                own = {"source", "preferred_chunks"} - b.keys()
                                a = {k: v for k, v in found[name].encoding.items() if k not in own}
                                self.assertEqual(repr(sorted(a.items())), repr(sorted(b.items())), name)
                            self.assertEqual(found.encoding["unlimited_dims"], {"time"})

    def test_slices(self):
        """Selections of lazy variables are what numpy selects from the whole."""
        rng = np.random.default_rng(1)

        def part(length):
            kind = rng.integers(5)
            if kind == 0:
                return int(rng.integers(-length, length))
            if kind == 1:
                return rng.integers(-length, length, rng.integers(0, 8))
            if kind == 2:
                return rng.random(length) < 0.3
            a, b = (int(n) for n in rng.integers(-length, length + 1, 2))
            return slice(a, b, int(rng.choice([1, 1, 2, 5, -1, -2])))

        wholes = [self.open(packed).load() for _, packed in self.files]
        for number in range(2000):
            (_, packed), whole = self.files[number % 2], wholes[number % 2]
            if number % 100 < 2:
                lazy = self.open(packed, cache=False)
            name = ["packed", "label", "lat", "time"][number % 4]
            sizes = whole[name].sizes
            if number % 7 == 0 and len(sizes) > 1:  # points
                points = {dim: xr.DataArray(rng.integers(0, n, (2, 3)), dims=("p", "q")) for dim, n in sizes.items()}
                if number % 2:
                    points.popitem()
                found, expected = lazy[name].isel(points), whole[name].isel(points)
            else:
                key = {dim: part(n) for dim, n in sizes.items()}
                found, expected = lazy[name].isel(key), whole[name].isel(key)
            xr.testing.assert_identical(found, expected)
            lazy = self.open(packed, cache=False) if number % 2 else lazy

    @needs_dask
    def test_chunks_follow_storage(self):
        (path, packed), (_, classic) = self.files
        for one in (path, packed):
            self.assertEqual(self.open(one, chunks={}).packed.data.chunksize, (7, 10, 12))
        self.assertEqual(self.open(classic, chunks={}).packed.data.chunksize, (40, 23, 31))
        with mock.patch("nmb._xarray_store.PART_BYTES", 20 << 10):
            ds = self.open(classic, chunks={})
            self.assertEqual(ds.packed.data.chunksize, (14, 23, 31))
            xr.testing.assert_identical(ds.load(), self.open(classic).load())

    @needs_dask
    def test_dask_threads_without_a_lock(self):
        path, packed = self.files[0]
        expected = self.open(path).packed.mean("time").load()
        for number in range(100):
            ds = self.open(packed if number % 2 else path, chunks={})
            with dask.config.set(scheduler="threads", num_workers=8):
                found = ds.packed.mean("time").compute()
            np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)

    def test_other_processes(self):
        _, packed = self.files[0]
        ds = self.open(packed)
        code = (
            "import pickle, sys\n"
            "ds = pickle.load(open(sys.argv[1], 'rb'))\n"
            "print(repr(float(ds.packed.isel(time=slice(3, 9)).sum())))\n"
        )
        for chunks in (None, {}) if dask else (None,):
            ds = self.open(packed, chunks=chunks)
            with open(self.path("pickle"), "wb") as file:
                pickle.dump(ds, file)
            found = float(python(code, self.path("pickle")))
            self.assertAlmostEqual(found, float(ds.packed.isel(time=slice(3, 9)).sum()), places=3)

    @needs_dask
    def test_distributed(self):
        try:
            import distributed
        except ImportError:
            self.skipTest("distributed is not installed")
        _, packed = self.files[0]
        code = (
            "import sys, dask.distributed as dd, xarray as xr\n"
            "if __name__ == '__main__':\n"
            "    with dd.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as c, dd.Client(c):\n"
            "        ds = xr.open_dataset(sys.argv[1], engine='nmb', chunks={})\n"
            "        print(repr(float(ds.packed.mean())))\n"
        )
        script = self.folder / "run.py"
        script.write_text(code)
        found = float(python("import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')",
                             script, packed))  # fmt: skip
        self.assertAlmostEqual(found, float(self.open(packed).packed.mean()), places=4)
        self.assertTrue(distributed.__version__)

    @unittest.skipUnless(hasattr(xr, "DataTree"), "this xarray does not write enums")
    def test_enums_keep_their_type(self):
        """netCDF-4 stores a copy of the type, without its name, with each variable."""
        path = self.path("enums.nc")
        with netCDF4.Dataset(path, "w") as d:
            cloud = d.createEnumType("u1", "cloud_t", {"Clear": 0, "Rain": 2})
            d.createDimension("x", 3)
            d.createVariable("v", cloud, ("x",), fill_value=2)[:] = [0, 2, 0]
            d.createGroup("g/h").createVariable("v", cloud, ("x",))[:] = [2, 2, 0]
        nmb.convert(path, self.path("enums.nmb"), sync=False)
        nmb.merge([path], self.path("merged.nmb"), sync=False)
        for one, prefix in ((path, ""), (self.path("enums.nmb"), ""), (self.path("merged.nmb"), "enums")):
            for group in "", "g/h":
                with xr.open_dataset(one, engine="nmb", group=f"{prefix}/{group}".strip("/"), mask_and_scale=False) as ds:
                    dtype = ds.v.encoding["dtype"]
                    self.assertEqual(dtype.metadata["enum"], {"Clear": 0, "Rain": 2})
                    self.assertEqual(dtype.metadata["enum_name"], "cloud_t")
                    ds.to_netcdf(self.path("again.nc"), engine="netcdf4")
                with netCDF4.Dataset(self.path("again.nc")) as d:
                    self.assertEqual(d["v"].datatype.enum_dict, {"Clear": 0, "Rain": 2})

    def test_values_behind_the_end(self):
        """A variable that is shorter than its unlimited dimension ends with fill values."""
        path = self.path("short.nc")
        with netCDF4.Dataset(path, "w") as d:
            d.createDimension("t", None)
            d.createDimension("x", 3)
            d.createVariable("t", "i4", ("t",))[...] = np.arange(5)
            d.createVariable("a", "f4", ("t", "x"))[...] = np.ones((2, 3))
            d.createVariable("b", "i2", ("x", "t"), fill_value=7)[:, :1] = 1
            d.createVariable("c", "i8", ("t",))
            d.createVariable("s", str, ("t",))[0] = "a"
        nmb.convert(path, self.path("short.nmb"), sync=False)
        with xr.open_dataset(path, engine="netcdf4", mask_and_scale=False) as expected:
            expected.load()
        # netCDF mixes up values where a short unlimited dimension is not the first one.
        expected.b.values[...] = 7
        expected.b.values[:, 0] = 1
        for one in (path, self.path("short.nmb")):
            found = self.open(one, mask_and_scale=False)
            for key in ({"t": [4, 0, 0]}, {"t": slice(None, None, -2)}, {"t": -1}, {"t": slice(3, 3)}, {"t": 1}):
                for name in expected.variables:
                    some = {dim: part for dim, part in key.items() if dim in expected[name].dims}
                    np.testing.assert_array_equal(found[name].isel(some).values, expected[name].isel(some).values, str(key))
            points = {"t": xr.DataArray([0, 4, 1], dims="p"), "x": xr.DataArray([2, 1, 0], dims="p")}
            np.testing.assert_array_equal(found.a.isel(points), expected.a.isel(points))
            xr.testing.assert_identical(self.open(one, mask_and_scale=False).load(), expected)


@needs_xarray
@needs_netcdf4
class XarrayGroupsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.groups = [f"run{i}/part{k}" for i in range(3) for k in range(4)]
        self.original = self.path("groups.nc")
        write_netcdf(self.original, groups=self.groups)
        self.packed = self.path("groups.nmb")
        nmb.convert(self.original, self.packed, sync=False)

    def read(self, *arguments, **keywords):
        return nmb.xarray.NmbBackendEntrypoint().open_groups_as_dict(*arguments, **keywords)

    def test_groups(self):
        for group in (None, "", "/", *self.groups, "/run1/part2/"):
            with xr.open_dataset(self.original, engine="netcdf4", group=group) as expected:
                for one in (self.original, self.packed):
                    xr.testing.assert_identical(xr.open_dataset(one, engine="nmb", group=group), expected)
        with self.assertRaisesRegex(KeyError, "run9"):
            xr.open_dataset(self.packed, engine="nmb", group="run9")

    def test_selected_groups(self):
        found = self.read(self.packed)
        self.assertEqual(set(found), {"/"} | {"/" + g for g in self.groups} | {f"/run{i}" for i in range(3)})
        self.assertEqual(list(self.read(self.packed, select="run1/*")), ["/"] + [f"/run1/part{k}" for k in range(4)])
        self.assertEqual(list(self.read(self.packed, group="run1")), ["/"] + [f"part{k}" for k in range(4)])
        self.assertEqual(list(self.read(self.packed, group="run1", select="part[02]")), ["/", "part0", "part2"])
        with self.assertRaisesRegex(nmb.LimitError, r"found 16 groups, but max_groups is 5.*max_groups="):
            self.read(self.packed, max_groups=5)
        with self.assertRaisesRegex(KeyError, "select="):
            self.read(self.packed, select="nothing*")
        with self.assertRaisesRegex(KeyError, "run9"):
            self.read(self.packed, group="run9")

    @unittest.skipUnless(hasattr(xr, "open_datatree"), "this xarray has no DataTree")
    def test_tree(self):
        for one in (self.original, self.packed):
            with xr.open_datatree(self.original, engine="netcdf4") as expected:
                xr.testing.assert_identical(xr.open_datatree(one, engine="nmb"), expected)
            with xr.open_datatree(self.original, engine="netcdf4", group="run1") as expected:
                xr.testing.assert_identical(xr.open_datatree(one, engine="nmb", group="run1"), expected)
        tree = xr.open_datatree(self.packed, engine="nmb", select="run2/part[13]")
        self.assertEqual(set(tree["run2"].children), {"part1", "part3"})
        some = xr.open_groups(self.packed, engine="nmb", select="run1/*")
        self.assertEqual(set(some), {"/", *(f"/run1/part{k}" for k in range(4))})
        with self.assertRaises(nmb.LimitError):
            xr.open_datatree(self.packed, engine="nmb", max_groups=3)

    def test_no_root(self):
        nmb.merge(write_samples(self.folder, 5), self.path("samples.nmb"), sync=False)
        with self.assertRaisesRegex(KeyError, r"no root group; use group= for one of its 5 blocks.*'s000'"):
            xr.open_dataset(self.path("samples.nmb"))
        self.assertEqual(xr.open_dataset(self.path("samples.nmb"), group="s003").sizes["two"], 2)
        self.assertEqual(list(self.read(self.path("samples.nmb")))[:2], ["/", "/s000"])


@needs_xarray
@needs_netcdf4
class XarrayStackTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.samples = self.path("samples.nmb")
        nmb.merge(write_samples(self.folder), self.samples, tags=["ten={1}"], tag_names="s0([0-9])", sync=False)
        self.file = nmb.open(self.samples)

    def test_ragged(self):
        ds = nmb.xarray.stack(self.samples, ["x", "edges", "weight", "energy"])
        for name, row in (("x", "node"), ("edges", "edge"), ("weight", "edge"), ("energy", None)):
            values, offsets = self.file.read_ragged(name, range(len(self.file)))
            found = nmb.xarray.stack(self.samples, [name, "weight"])[name]
            np.testing.assert_array_equal(found.values, values)
            if row:
                np.testing.assert_array_equal(ds[f"{row}_offset"].values, offsets)
                np.testing.assert_array_equal(ds[f"{row}_block"].values, np.repeat(np.arange(60), np.diff(offsets)))
        self.assertEqual(ds.energy.dims, ("block",))
        self.assertEqual(ds.edges.dims, ("edge", "two"))
        self.assertEqual(ds.block.values.tolist(), list(self.file))
        self.assertEqual(ds.x.attrs["units"], "m")

    def test_selections(self):
        rng = np.random.default_rng(2)
        whole = nmb.xarray.stack(self.file, ["x"]).x.values
        lazy = nmb.xarray.stack(self.file, ["x"], threads=2).x
        for _ in range(300):
            a, b = (int(n) for n in rng.integers(-len(whole), len(whole) + 1, 2))
            step = int(rng.choice([1, 3, -1, -4]))
            i = rng.integers(-len(whole), len(whole), 9)
            lazy = nmb.xarray.stack(self.file, ["x"], threads=2).x
            np.testing.assert_array_equal(lazy[a:b:step, ::-1], whole[a:b:step, ::-1])
            lazy = nmb.xarray.stack(self.file, ["x"]).x
            np.testing.assert_array_equal(lazy[i, 1], whole[i, 1])
            lazy = nmb.xarray.stack(self.file, ["x"]).x
            np.testing.assert_array_equal(lazy[int(i[0])], whole[i[0]])
            lazy = nmb.xarray.stack(self.file, ["x"]).x
            j = xr.DataArray(rng.integers(0, 2, 9), dims="p")
            np.testing.assert_array_equal(lazy[xr.DataArray(i, dims="p"), j], whole[i, j.values])

    def test_reads_what_is_wanted(self):
        """Of a block, rows and columns that are not wanted are not read."""
        asked = []
        read = nmb._xarray_ragged._core.read_many

        def spy(file, items, threads):
            asked.extend(items)
            return read(file, items, threads)

        at = nmb.xarray.stack(self.file, ["weight"]).edge_offset.values
        long = int(np.argmax(np.diff(at)))
        with mock.patch.object(nmb._xarray_ragged, "_core", mock.Mock(read_many=spy)):
            nmb.xarray.stack(self.file, ["weight"]).weight[[at[long] + 4, at[long] + 2]].load()
            nmb.xarray.stack(self.file, ["rotation"], form="padded").rotation[long, 1, 3:5].load()
        self.assertEqual([item[:3] for item in asked], [(long, "weight", ([2], [3], [1])),
                                                        (long, "rotation", ([1, 3], [1, 2], [1, 1]))])  # fmt: skip

    def test_padded(self):
        ds = nmb.xarray.stack(self.samples, ["x", "edges", "energy", "rotation"], form="padded")
        self.assertEqual(ds.edges.shape, (60, int(ds.edge_count.max()), 2))
        for i, block in enumerate(self.file.blocks):
            n = len(block["x"])
            np.testing.assert_array_equal(ds.x[i, :n], block["x"][...])
            self.assertTrue(np.isnan(ds.x[i, n:]).all())
            np.testing.assert_array_equal(ds.rotation[i, :, : int(ds.edge_count[i])], block["rotation"][...])
        self.assertTrue(np.isnan(ds.edges.values).any())
        ds = nmb.xarray.stack(self.samples, "edges", form="padded", fill_value=-1)
        self.assertEqual(ds.edges.dtype, "i8")
        n = int(ds.edge_count[3])
        np.testing.assert_array_equal(ds.edges[3, :n], self.file.blocks[3]["edges"][...])
        self.assertTrue((ds.edges[3, n:] == -1).all())
        ds = nmb.xarray.stack(self.samples, "edges", form="padded", fill_value=-1)
        np.testing.assert_array_equal(ds.edges[[5, 2], 0, ::-1], ds.edges.values[[5, 2], 0, ::-1])
        rng = np.random.default_rng(6)
        whole = ds.edges.values
        for _ in range(100):
            key = [rng.integers(-n, n, 3) if rng.integers(2) else slice(*map(int, rng.integers(0, n, 2))) for n in whole.shape]
            key[int(rng.integers(3))] = -1
            expected = xr.DataArray(whole, dims=ds.edges.dims)[tuple(key)]
            ds = nmb.xarray.stack(self.file, "edges", form="padded", fill_value=-1)
            np.testing.assert_array_equal(ds.edges[tuple(key)], expected)

    def test_some_blocks(self):
        found = self.file.find("ten == 3")
        ds = nmb.xarray.stack(found, "weight")
        np.testing.assert_array_equal(ds.weight, np.concatenate([b["weight"][...] for b in found]))
        for blocks in ("s03*", [f"s03{i}" for i in range(10)], range(30, 40), self.file.blocks.glob("s03*")):
            xr.testing.assert_identical(nmb.xarray.stack(self.file, "weight", blocks=blocks), ds)
        xr.testing.assert_identical(pickle.loads(pickle.dumps(nmb.xarray.stack(found, "weight"))), ds)

    def test_data_sets_stay_what_they_are(self):
        """A generation in which all positions are others, and a closed file, change nothing."""
        expected = nmb.xarray.stack(self.samples, ["x"]).x.values
        stacked = nmb.xarray.stack(self.file, ["x"])
        of_blocks = nmb.xarray.stack(list(self.file.blocks)[3:5], ["x"])
        old = self.file["s003"]
        one = xr.open_dataset(old, engine="nmb")
        with netCDF4.Dataset(self.path("a.nc"), "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("node", 3)
            out.createVariable("x", "f4", ("node",))[:] = 1
        nmb.merge(self.path("a.nc"), self.samples, block_name="{stem}", append=True)
        self.assertTrue(self.file.refresh())
        self.assertEqual(self.file.blocks[0].name, "a")
        with self.assertRaises(ValueError):
            nmb.xarray.stack(self.file, ["x"], blocks=[old])
        with self.assertRaises(ValueError):
            nmb.xarray.stack([old, self.file["s004"]], ["x"])
        self.file.close()
        again = pickle.loads(pickle.dumps(stacked))
        for ds in (stacked, again):
            np.testing.assert_array_equal(ds.x.values, expected)
        np.testing.assert_array_equal(of_blocks.x.values, nmb.xarray.stack(self.samples, ["x"], blocks=["s003", "s004"]).x.values)
        np.testing.assert_array_equal(one.x.values, old["x"][...])
        np.testing.assert_array_equal(xr.open_dataset(old, engine="nmb").x.values, old["x"][...])

    def test_other_process(self):
        ds = nmb.xarray.stack(self.samples, ["x", "weight"])
        with open(self.path("pickle"), "wb") as file:
            pickle.dump(ds, file)
        code = "import pickle, sys; print(repr(float(pickle.load(open(sys.argv[1], 'rb')).weight[5:99].sum())))"
        self.assertEqual(float(python(code, self.path("pickle"))), float(ds.weight[5:99].sum()))

    def test_refused(self):
        with self.assertRaisesRegex(nmb.ConflictError, 'form="padded"'):
            nmb.xarray.stack(self.samples, ["rotation"])
        with self.assertRaises(nmb.MissingError):
            nmb.xarray.stack(self.samples, ["nothing"])
        with self.assertRaises(nmb.MissingError):
            nmb.xarray.stack(self.samples, blocks="nothing*")
        with self.assertRaisesRegex(nmb.UsageError, "dim="):
            nmb.xarray.stack(self.samples, "x", dim="two")
        for name, value in (("scale_factor", lambda i: 1.0 + (i == 4)), ("units", lambda i: f"days since 200{i}-01-01")):
            folder = self.folder / name
            folder.mkdir()
            nmb.merge(write_samples(folder, 6, **{name: value}), self.path("other.nmb"), replace=True, sync=False)
            with self.assertRaisesRegex(nmb.ConflictError, f"another {name} in block"):
                nmb.xarray.stack(self.path("other.nmb"), "x")

    def stacked(self, make, *arguments, **keywords):
        """The data set of files that `make` fills; it gets a file of netCDF4 and its number."""
        paths = [str(self.folder / f"b{i}.nc") for i in range(3)]
        for i, path in enumerate(paths):
            with netCDF4.Dataset(path, "w") as d:
                make(d, i)
        nmb.merge(paths, self.path("made.nmb"), replace=True, sync=False)
        return nmb.xarray.stack(self.path("made.nmb"), *arguments, **keywords)

    def test_attributes_that_differ(self):
        """Only what is true for all blocks becomes an attribute."""

        def make(d, i):
            d.createDimension("n", 2)
            v = d.createVariable("v", "f4", ("n",), fill_value=np.nan)
            v[...] = [i, np.nan]
            v.units, v.long_name, v.valid_range = "m", f"of {i}", np.array([0, 9], "f4")
            if i < 2:
                v.comment = "not everywhere"

        ds = self.stacked(make, "v")
        self.assertEqual(set(ds.v.attrs), {"units", "valid_range"})
        np.testing.assert_array_equal(ds.v, [0, np.nan, 1, np.nan, 2, np.nan])
        self.assertEqual(set(self.stacked(make, "v", form="padded").v.attrs), {"units", "valid_range"})

        def logical(d, i):
            d.createDimension("n", 2)
            v = d.createVariable("v", "i1", ("n",))
            v[...] = [0, 1]
            v.setncattr("dtype", "bool" if i < 2 else "char")

        with self.assertRaisesRegex(nmb.ConflictError, "another dtype in block"):
            self.stacked(logical, "v")

    def test_order_of_dimensions(self):
        def make(d, i):
            for name in ("t", "y", "x"):
                d.createDimension(name, 2)
            d.createVariable("v", "f4", ("t", "y", "x") if i < 2 else ("t", "x", "y"))[...] = 0

        with self.assertRaisesRegex(nmb.ConflictError, "another order of dimensions in block"):
            self.stacked(make, "v")

    @needs_h5py
    def test_dimensions_without_names(self):
        """Their numbers, which depend on lengths that happen to be equal, say nothing about other blocks."""
        with h5py.File(self.path("samples.h5"), "w") as out:
            for i, n in enumerate((2, 3, 4)):
                out[f"s{i}/x"] = np.zeros((n, 3))
                out[f"s{i}/edge"] = np.arange(8).reshape(4, 2)
                out[f"s{i}/pixel"] = np.array([255] * n, "u1")
                out.create_dataset(f"s{i}/words", (n,), h5py.vlen_dtype("i4"))[0] = [1, 2, i]
        ds = nmb.xarray.stack(self.path("samples.h5"), ["x", "edge"], blocks="s*", form="padded")
        self.assertEqual((ds.edge.shape, ds.edge.dtype, ds.x.shape), ((3, 4, 2), np.dtype("i8"), (3, 4, 3)))
        rows = nmb.xarray.stack(self.path("samples.h5"), blocks="s*")
        self.assertEqual((rows.edge.shape, rows.x.shape, rows.pixel.shape), ((12, 2), (9, 3), (9,)))
        self.assertEqual(rows.words[0].values.item().tolist(), [1, 2, 0])
        self.assertEqual(rows.words.values[5].tolist(), [1, 2, 2])
        # A byte has no value to spare.
        with self.assertRaisesRegex(nmb.UsageError, "fill_value"):
            nmb.xarray.stack(self.path("samples.h5"), "pixel", blocks="s*", form="padded")
        for wrong in (-1, 256, np.nan, "x"):
            with self.assertRaises(nmb.UsageError):
                nmb.xarray.stack(self.path("samples.h5"), "pixel", blocks="s*", form="padded", fill_value=wrong)
        padded = nmb.xarray.stack(self.path("samples.h5"), "pixel", blocks="s*", form="padded", fill_value=0).pixel
        self.assertEqual(padded.values.tolist(), [[255, 255, 0, 0], [255, 255, 255, 0], [255] * 4])

    def test_names_that_stack_makes(self):
        def make(d, i):
            d.createDimension("n", i + 1)
            for name in ("block", "n_offset", "n_block", "n_count", "v"):
                d.createVariable(name, "i4", ("n",))[...] = i

        for form, names in (("ragged", ("block", "n_offset", "n_block")), ("padded", ("block", "n_count"))):
            for name in names:
                with self.assertRaisesRegex(nmb.UsageError, f'stack.. makes a variable "{name}"'):
                    self.stacked(make, ["v", name], form=form)
        ds = self.stacked(make, ["v", "block", "n_block"], dim="run")
        np.testing.assert_array_equal(ds.block, [0, 1, 1, 2, 2, 2])

    def test_blocks_without_rows(self):
        def make(d, i):
            d.createDimension("n", None)
            d.createDimension("two", 2)
            for name, dims in (("v", ("n", "two")), ("s", ())):
                d.createVariable(name, "i4", dims)
            d["s"][...] = i
            if i == 1:
                d["v"][...] = np.ones((3, 2))

        for chunks in (None, {}) if dask else (None,):
            for form in ("ragged", "padded"):
                ds = self.stacked(make, ["v", "s"], form=form, chunks=chunks)
                self.assertEqual(ds.v.values[~np.isnan(ds.v.values)].tolist(), [1] * 6)
                self.assertEqual(ds.s.values.tolist(), [0, 1, 2])
                ds = nmb.xarray.stack(self.path("made.nmb"), ["v", "s"], blocks=[0, 2], form=form, chunks=chunks)
                self.assertEqual((ds.v.size, ds.load().s.values.tolist()), (0, [0, 2]))
                ds = nmb.xarray.stack(self.path("made.nmb"), "v", blocks=[1], form=form, chunks=chunks)
                self.assertEqual(ds.v.values.sum(), 6)

    @needs_dask
    def test_chunks(self):
        with mock.patch("nmb._xarray_stack.PART_BYTES", 400):
            ds = nmb.xarray.stack(self.samples, ["edges", "weight"], chunks={})
            self.assertGreater(ds.edges.data.npartitions, 10)
            self.assertLessEqual(set(np.cumsum(ds.chunks["edge"])), set(ds.edge_offset.values.tolist()))
            xr.testing.assert_identical(ds.load(), nmb.xarray.stack(self.samples, ["edges", "weight"]).load())
            ds = nmb.xarray.stack(self.samples, ["edges"], chunks={}, form="padded")
            self.assertGreater(ds.edges.data.npartitions, 10)
            xr.testing.assert_identical(ds.load(), nmb.xarray.stack(self.samples, ["edges"], form="padded").load())

    def test_strings_and_groups(self):
        path = self.path("text.nc")
        with netCDF4.Dataset(path, "w") as d:
            for i in range(4):
                g = d.createGroup(f"g{i}")
                g.createDimension("n", i + 1)
                g.createVariable("text", str, ("n",))[:] = np.array([f"{i}.{k}" for k in range(i + 1)], object)
                g.createVariable("value", "f4", ("n",), zlib=True)[:] = np.arange(i + 1)
        nmb.convert(path, self.path("text.nmb"), sync=False)
        for one in (path, self.path("text.nmb")):
            ds = nmb.xarray.stack(one, blocks="g*")
            xr.testing.assert_identical(nmb.xarray.stack(one), ds)  # the root has no variables
            self.assertEqual(ds.text.values.tolist(), [f"{i}.{k}" for i in range(4) for k in range(i + 1)])
            self.assertEqual(ds.value.values.tolist(), [k for i in range(4) for k in range(i + 1)])
            ds = nmb.xarray.stack(one, blocks="g*", form="padded")
            self.assertEqual(ds.text.values[1].tolist(), ["1.0", "1.1", "", ""])


if __name__ == "__main__":
    unittest.main()
