"""The calls of the package: blocks, variables, attributes, many reads, find and statistics."""

import os
import pickle
import threading
import unittest
from pathlib import Path

import numpy as np
from support import FolderTest, measures_memory, needs_netcdf4, netCDF4, nmb, open_fds, resident, write_netcdf


@needs_netcdf4
class PackageCallsTest(FolderTest):
    def stations(self, count=5):
        """An archive with blocks station/s0, station/s1, ... Returns its path."""
        files = []
        for i in range(count):
            path = self.path(f"s{i}.nc")
            with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as out:
                out.createDimension("time", None)
                out.createDimension("x", 3)
                out.site = f"site {i}"
                out.createVariable("temperature", "f4", ("time", "x"))[:] = np.arange(3 * (i + 1)).reshape(-1, 3) + 100 * i
                out.createVariable("label", "i8", ())[...] = i
                out.createVariable("time", "f8", ("time",))[:] = np.arange(i + 1)
                out["temperature"].units = "K"
            files.append(path)
        nmb.merge(
            files,
            self.path("all.nmb"),
            block_name="station/{stem}",
            tags=["number={1}"],
            tag_names="s([0-9]+)$",
            statistics="histogram",
        )
        return self.path("all.nmb")

    def test_a_file_is_a_mapping_of_blocks_and_variables(self):
        f = nmb.open(self.stations())
        self.assertEqual(f.kind, "NMB")
        self.assertEqual(f.generation, 1)
        self.assertEqual(list(f), [f"station/s{i}" for i in range(5)])
        self.assertEqual(len(f), 5)
        self.assertEqual(f["station/s1"].name, "station/s1")
        self.assertEqual(f["/station/s1/label"][()], 1)
        self.assertEqual(f["station/s1"]["temperature"].shape, (2, 3))
        self.assertIn("station/s1", f)
        self.assertIn("station/s1/label", f)
        self.assertNotIn("station/s9", f)
        self.assertNotIn("station/s1/none", f)
        self.assertNotIn(3, f)
        self.assertEqual([name for name, _ in f.items()], list(f))
        self.assertEqual(f.get("none", 5), 5)
        self.assertEqual(f.totals, (5, 15, 10, 10, 15, 5))
        self.assertEqual(f.totals_of("station/s4").records, 5)
        for key, hint in (("station", "begin with"), ("none", "found no block or variable"), ("station/s1/none", "none")):
            with self.assertRaises(KeyError) as caught:
                f[key]
            self.assertIn(hint, str(caught.exception))
            self.assertEqual(caught.exception.file, f.path)
            self.assertEqual(caught.exception.code, "not_found")
        with self.assertRaisesRegex(TypeError, r"use f.blocks\[0\]"):
            f[0]
        with self.assertRaisesRegex(TypeError, "blocks have positions"):
            f.blocks["station/s1"]

    def test_blocks(self):
        f = nmb.open(self.stations(40))
        names = sorted(f"station/s{i}" for i in range(40))
        self.assertEqual([b.name for b in f.blocks], names)
        self.assertEqual(f.blocks[7].name, names[7])
        self.assertEqual(f.blocks[-1].name, names[-1])
        self.assertEqual([b.name for b in f.blocks[3:30:7]], names[3:30:7])
        self.assertEqual(f.blocks[7].position, 7)
        with self.assertRaises(IndexError):
            f.blocks[40]
        some = f.blocks.glob("station/s1*")
        self.assertEqual(some.names, [n for n in names if n.startswith("station/s1")])
        self.assertEqual(len(some), 11)
        self.assertEqual(len(f.blocks.glob("s*")), 0)
        self.assertEqual(len(f.blocks.glob("**")), 40)
        b = f["station/s3"]
        self.assertEqual(list(b), ["temperature", "label", "time"])
        self.assertEqual(b.dims, {"time": 4, "x": 3})
        self.assertEqual(b.unlimited, {"time"})
        self.assertEqual(b.counts, (3, 2, 2, 4, 1))
        self.assertEqual(dict(b.attrs), {"site": "site 3"})
        self.assertEqual(b.tags, {"number": 3})
        self.assertIn("float temperature(time, x)", b.cdl())
        self.assertIn("label", b)
        self.assertEqual(b.get("none"), None)
        self.assertEqual(b, f.blocks[b.position])
        self.assertEqual(len({b, f["station/s3"]}), 1)

    def test_variables_and_attributes(self):
        f = nmb.open(self.stations())
        v = f["station/s2/temperature"]
        self.assertEqual((v.name, v.full_name), ("temperature", "station/s2/temperature"))
        self.assertEqual((v.shape, v.ndim, v.size, v.nbytes), ((3, 3), 2, 9, 36))
        self.assertEqual(v.dims, ("time", "x"))
        self.assertEqual(v.dtype, np.dtype("f4"))
        self.assertEqual(v.attrs["units"], "K")
        self.assertEqual(len(v.attrs), 1)
        self.assertIsNone(v.chunks)
        self.assertEqual(v.storage.byteorder, "big")
        with self.assertRaises(KeyError):
            v.attrs["none"]
        with self.assertRaises(KeyError):
            f["station/s2"]["none"]
        for wrong in (lambda: v[9], lambda: v.oindex[9], lambda: v.read(9)):
            with self.assertRaises(IndexError) as caught:
                wrong()
            self.assertEqual((caught.exception.file, caught.exception.object), (f.path, v.full_name))
            self.assertIn(v.full_name, str(caught.exception))
        scalar = f["station/s2/label"]
        self.assertEqual(scalar[()], 2)
        self.assertEqual(scalar[...].shape, ())
        self.assertIsInstance(scalar[()], np.int64)

    def test_many_reads(self):
        f = nmb.open(self.stations(30))
        b = f["station/s5"]
        whole = b["temperature"][...]
        values = b.read()
        self.assertEqual(list(values), ["temperature", "label", "time"])
        np.testing.assert_array_equal(values["temperature"], whole)
        self.assertTrue(values["temperature"].flags.owndata)
        self.assertEqual(list(b.read(["time"])), ["time"])
        with self.assertRaises(KeyError):
            b.read(["time", "none"])
        out = np.zeros((2, 3), "f4")
        backward = np.zeros((6, 3), "f4")
        arrays = f.read_many(
            [
                ("station/s5", "temperature"),
                (b, "temperature", slice(1, 3)),
                (f.blocks[0].position, "label"),
                "station/s5/time",
                b["label"],
                (b, "temperature", (slice(None, None, -1), 1)),
                (b, "temperature", [3, 0, 3]),
                ("station/s5", "temperature", slice(None, None, -1)),
            ],
            out=[None, out, None, None, None, None, None, backward],
        )
        for found, expected in zip(
            arrays, (whole, whole[1:3], np.int64(0), np.arange(6.0), np.int64(5), whole[::-1, 1], whole[[3, 0, 3]], whole[::-1])
        ):
            np.testing.assert_array_equal(found, expected)
        self.assertIs(arrays[1], out)
        self.assertIs(arrays[7], backward)
        for threads in (1, 2, None):
            many = f.read_many([(i, "temperature") for i in range(30)], threads=threads)
            for i, array in enumerate(many):
                np.testing.assert_array_equal(array, f.blocks[i]["temperature"][...])
        for wrong, kind in (
            ([("none", "label")], KeyError),
            ([(99, "label")], (KeyError, IndexError)),
            ([(b, "none")], KeyError),
            ([(b, "temperature", 99)], IndexError),
            ([(b, "temperature", 0, 0)], ValueError),
        ):
            with self.assertRaises(kind, msg=repr(wrong)):
                f.read_many(wrong)
        with self.assertRaises(ValueError):
            f.read_many([(b, "label")], out=[])
        with self.assertRaises(ValueError):
            f.read_many([(b, "label")], out=[np.zeros(3)])
        with self.assertRaises(ValueError):
            f.read_many([(b, "label")], threads=0)

    def test_ragged_reads(self):
        f = nmb.open(self.stations(30))
        names = ["station/s7", "station/s0", "station/s7", "station/s29"]
        expected = [f[name]["temperature"][...] for name in names]
        for blocks in (
            names,
            [f[name] for name in names],
            [f[name].position for name in names],
            np.array([f[name].position for name in names]),
            np.array([f[name].position - 30 for name in names]),
        ):
            for threads in (1, 3):
                values, offsets = f.read_ragged("temperature", blocks, threads=threads)
                np.testing.assert_array_equal(values, np.concatenate(expected))
                self.assertEqual(offsets.tolist(), [0, 8, 9, 17, 47])
                self.assertEqual(offsets.dtype, np.int64)
        some = f.blocks.glob("station/s1*")
        for blocks in (some, "station/s1*"):
            np.testing.assert_array_equal(f.read_ragged("label", blocks)[0], [b["label"][()] for b in some])
        both = f.read_ragged(["label", "time"], names)
        np.testing.assert_array_equal(both["label"][0], [7, 0, 7, 29])
        self.assertEqual(both["time"][1].tolist(), [0, 8, 9, 17, 47])
        for wrong, kind, what in (
            (("none", names), KeyError, 'no variable "none"'),
            (("time", ["none"]), KeyError, 'no block "none"'),
            (("time", []), ValueError, "at least one block"),
            (("time", "none*"), ValueError, "at least one block"),
        ):
            with self.assertRaisesRegex(kind, what):
                f.read_ragged(*wrong)
        with netCDF4.Dataset(self.path("other.nc"), "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("x", 4)
            out.createVariable("temperature", "f4", ("x",))[:] = 0
            out.createVariable("time", "i4", ("x",))[:] = 0
        nmb.merge([self.path("s1.nc"), self.path("other.nc")], self.path("two.nmb"))
        two = nmb.open(self.path("two.nmb"))
        for variable, what in (("temperature", "number of dimensions"), ("time", "type")):
            with self.assertRaises(ValueError) as caught:
                two.read_ragged(variable, ["s1", "s1", "other"])
            self.assertRegex(str(caught.exception), f'another {what}.* in block "other" than in block "s1"')

    def test_ragged_reads_along_an_axis(self):
        rng = np.random.default_rng(4)
        expected, files = {"edges": [], "cube": [], "word": []}, []
        for i, (edges, middle) in enumerate(((5, 2), (0, 3), (7, 0), (1, 1))):
            files.append(self.path(f"g{i}.nc4"))
            with netCDF4.Dataset(files[-1], "w") as out:
                for name, length in (("two", 2), ("edge", edges), ("three", 3), ("middle", middle), ("four", 4)):
                    out.createDimension(name, None if length == 0 else length)
                for name, kind, dims, shape in (
                    ("edges", "i8", ("two", "edge"), (2, edges)),
                    ("cube", "f4", ("three", "middle", "four"), (3, middle, 4)),
                    ("word", str, ("two", "edge"), (2, edges)),
                ):
                    values = rng.integers(0, 1000, shape)
                    values = values.astype(str).astype(object) if kind is str else values.astype(kind)
                    out.createVariable(name, kind, dims)[:] = values
                    expected[name].append(values)
        nmb.merge(files, self.path("graphs.nmb"))
        f = nmb.open(self.path("graphs.nmb"))
        order = [2, 0, 3, 1, 0]
        found = f.read_ragged(list(expected), order, axis={"edges": 1, "cube": 1, "word": 1})
        for name, arrays in expected.items():
            values, offsets = found[name]
            np.testing.assert_array_equal(values, np.concatenate([arrays[i] for i in order], axis=1))
            self.assertEqual(offsets.tolist(), np.cumsum([0] + [arrays[i].shape[1] for i in order]).tolist())
            np.testing.assert_array_equal(f.read_ragged(name, order, axis=1)[0], values)
        for axis in (2, -1, {"cube": 1}, {"edges": -1}):
            with self.assertRaises(ValueError):
                f.read_ragged("edges", order, axis=axis)
        with self.assertRaisesRegex(ValueError, "another length of dimension 1 in block"):
            f.read_ragged("edges", order)

    def test_find_and_statistics(self):
        f = nmb.open(self.stations())
        self.assertEqual([b.name for b in f.find("number >= 3")], ["station/s3", "station/s4"])
        self.assertEqual([b.name for b in f.find("temperature.max > 400")], ["station/s4"])
        self.assertEqual([b.name for b in f.find('site == "site 1"')], ["station/s1"])
        with self.assertRaises(ValueError):
            f.find("number >=")
        with self.assertRaises(KeyError):
            f.find("none == 1")
        stats = f["station/s4/temperature"].stats
        self.assertEqual((stats.elements, stats.missing, stats.nans), (15, 0, 0))
        self.assertEqual((stats.minimum, stats.maximum), (400.0, 414.0))
        self.assertEqual(sum(n for _, _, n in stats.histogram), 15)
        made = f["station/s4/label"].compute_stats()
        self.assertEqual((made.minimum, made.mean), (4, 4.0))
        self.assertIsInstance(made.minimum, int)
        with self.assertRaises(ValueError):
            f["station/s4/label"].compute_stats("none")
        write_netcdf(self.path("plain.nc"), "NETCDF3_CLASSIC")
        self.assertIsNone(nmb.open(self.path("plain.nc"))["t"].stats)

    def test_generations(self):
        path = self.stations()
        f = nmb.open(path)
        with netCDF4.Dataset(self.path("new.nc"), "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("n", 1)
            out.createVariable("v", "f4", ("n",))[:] = 1
        old = f["station/s1/temperature"]
        nmb.merge(self.path("new.nc"), path, append=True)
        self.assertNotIn("new", f)
        self.assertTrue(f.refresh())
        self.assertFalse(f.refresh())
        self.assertEqual(f.generation, 2)
        self.assertIn("new", f)
        self.assertEqual(old.shape, (2, 3))
        with nmb.open(path, generation=1) as first:
            self.assertEqual(len(first), 5)
            self.assertEqual(first.generation, 1)
        with self.assertRaises(KeyError):
            nmb.open(path, generation=3)
        with self.assertRaises(ValueError):
            first.totals
        self.assertIsInstance(f.provenance, list)
        self.assertEqual(f.warnings, [])

    def test_blocks_stay_what_they_are(self):
        """Blocks that were taken before refresh() and close() are those of their generation, in every call."""
        path = self.stations()
        f = nmb.open(path)
        block, selection = f["station/s1"], f.blocks.glob("station/s1*")
        v = block["temperature"]
        before = v[...]
        self.assertEqual(len(selection), 1)
        with netCDF4.Dataset(self.path("s1.nc"), "a") as out:
            out["temperature"][:] = -before
        for name in ("a", "s10"):
            with netCDF4.Dataset(self.path(name + ".nc"), "w", format="NETCDF3_CLASSIC") as out:
                out.createDimension("n", 1)
                out.createVariable("temperature", "f4", ("n",))[:] = 1
        nmb.merge(self.path("s1.nc"), path, block_name="station/{stem}", append=True, replace_blocks=True)
        nmb.merge([self.path("a.nc"), self.path("s10.nc")], path, block_name="station/{stem}", append=True)
        self.assertTrue(f.refresh())
        self.assertEqual((f.generation, block.position, f["station/s1"].position), (3, 1, 2))
        np.testing.assert_array_equal(f["station/s1/temperature"][...], -before)
        self.assertNotEqual(block, f["station/s1"])
        self.assertNotIn(block, f.blocks)
        self.assertIn(f["station/s1"], f.blocks)
        self.assertEqual((selection.names, len(selection)), (["station/s1"], 1))
        again = pickle.loads(pickle.dumps((block, v, f)))
        self.assertEqual(again, (block, v, f))
        f.close()
        for one in (block, again[0], pickle.loads(pickle.dumps(block))):
            for found in (
                one["temperature"][...],
                one["temperature"][[1, 0]][::-1],
                one["temperature"].oindex[[0, 1], [0, 1, 2]],
                one.read()["temperature"],
                again[2].read_many([(one, "temperature")])[0],
                again[2].read_ragged("temperature", [one])[0],
            ):
                np.testing.assert_array_equal(found, before)
        self.assertEqual(block.position, 1)
        np.testing.assert_array_equal(v[[1, 0]], before[::-1])
        with self.assertRaises(ValueError):
            f.refresh()

    def test_places_of_blocks(self):
        path = self.stations()
        f = nmb.open(path)
        last = f.blocks[4]["temperature"][...]
        for place in (-1, np.int64(-1), np.int8(4), np.uint64(4)):
            np.testing.assert_array_equal(f.read_ragged("temperature", [place])[0], last)
            np.testing.assert_array_equal(f.read_many([(place, "temperature")])[0], last)
            np.testing.assert_array_equal(f.blocks[place]["temperature"][...], last)
        for place in (5, -6, 1 << 63, 1 << 64, -(1 << 70)):
            for call in (
                lambda: f.read_ragged("temperature", [place]),
                lambda: f.read_many([(place, "temperature")]),
                lambda: f.blocks[place],
            ):
                with self.assertRaises(LookupError, msg=str(place)):
                    call()
        with self.assertRaises(ValueError):
            f.read_ragged("temperature", np.array([True, False, False, True, False]))  # positions 1 and 0
        with self.assertRaises(TypeError):
            f.read_ragged("temperature", [1.0])
        np.testing.assert_array_equal(f.read_ragged("temperature", "station/s4")[0], last)  # a glob
        self.assertEqual(list(f["station/s1"].read("time")), ["time"])
        self.assertNotIn("station/s1/temperature", f.blocks)
        other = nmb.open(self.path("s2.nc"))
        np.testing.assert_array_equal(f.read_many([(other[""], "temperature")])[0], other["temperature"][...])

    def test_arguments_are_checked(self):
        path = self.stations()
        for wrong in ({"generation": -1}, {"generation": 1 << 64}, {"cache": -1}, {"request_bytes": -1}):
            with self.assertRaises(ValueError, msg=str(wrong)):
                nmb.open(path, **wrong)
        with self.assertRaises(ValueError):
            nmb.open(self.path("s1.nc"), generation=1)
        self.assertEqual(nmb.open(path, generation=None, cache=0).generation, 1)
        for call in (
            lambda name: nmb.open(name),
            lambda name: nmb.merge([name], self.path("x.nmb")),
            lambda name: nmb.merge([path], name, to="nmb"),
            lambda name: nmb.verify(name),
        ):
            with self.assertRaises(ValueError):
                call(path + "\0x")
        self.assertFalse(os.path.exists(self.path("x.nmb")))
        f = nmb.open(path)
        for threads in (1 << 40, 2, np.int64(1)):
            self.assertEqual(len(f.read_many([(0, "label")], threads=threads)), 1)
        with self.assertRaises(TypeError):
            f.read_many([(0, "label")], threads=1.5)

    def test_names_that_netcdf_programs_see(self):
        """A variable that has the name of a dimension and is not its coordinate."""
        with netCDF4.Dataset(self.path("a.nc"), "w") as out:
            out.createDimension("n", 3)
            out.createDimension("m", 2)
            out.createVariable("n", "i2", ("m",))[:] = [7, 8]
            out.createVariable("other", "i4", ("n",))[:] = [1, 2, 3]
        nmb.merge(self.path("a.nc"), self.path("a.nmb"))
        for f, block in ((nmb.open(self.path("a.nc")), ""), (nmb.open(self.path("a.nmb")), "a")):
            for found in (
                f.block(block)["n"][...],
                f.read_many([(block, "n")])[0],
                f.read_ragged("n", [block])[0],
                f.block(block).read()["n"],
            ):
                self.assertEqual(found.tolist(), [7, 8])

    def test_classic_netcdf4_and_hdf5_files(self):
        for form, groups in (("NETCDF3_CLASSIC", ()), ("NETCDF3_64BIT_OFFSET", ()), ("NETCDF4", ("a", "a/b"))):
            values = write_netcdf(self.path("f.nc"), form, groups)
            with nmb.open(Path(self.path("f.nc"))) as f:
                self.assertEqual(f.generation, 0)
                self.assertEqual(list(f), ["", *groups])
                for name, expected in values.items():
                    np.testing.assert_array_equal(f[name][...], expected)
                self.assertEqual(f[""].name, "")
                self.assertEqual(f["/"].attrs["title"], "group root")
                if groups:
                    with self.assertRaisesRegex(KeyError, r'no variable "b" in block "a"; use f\["a/b"\]'):
                        f["a"]["b"]
                    self.assertEqual(f["temperature"].chunks, (2, 3, 4))
                    self.assertEqual(f["temperature"].storage.filters[-1][0], 1)

    def test_threads(self):
        f = nmb.open(self.stations(20))
        expected = {name: f[name]["temperature"][...] for name in f}
        wrong = []

        def work():
            for _ in range(20):
                for name, values in expected.items():
                    if not np.array_equal(f[name]["temperature"][...], values):
                        wrong.append(name)
                f.read_ragged("temperature", list(expected), threads=2)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @measures_memory
    def test_opens_keep_no_memory(self):
        path = self.stations(10)
        write_netcdf(self.path("a.nc"), "NETCDF4", ("g",))
        before = None
        for i in range(10000 if os.environ.get("NMB_ALL") else 3000):
            with nmb.open(path) as f:
                f["station/s3"].read()
                f["station/s3/temperature"].attrs["units"]
                repr(f.blocks[0])
            if i % 100 == 0:
                with nmb.open(self.path("a.nc")) as f:
                    f["g/temperature"][0]
            if i == 1000:
                before, fds = resident(), open_fds()
        self.assertLessEqual(resident(), before * 1.01 + 256)
        self.assertLessEqual(open_fds(), fds)

    def test_errors(self):
        with self.assertRaises(FileNotFoundError) as caught:
            nmb.open(self.path("none.nmb"))
        self.assertIsInstance(caught.exception, nmb.Error)
        self.assertEqual(caught.exception.filename, self.path("none.nmb"))
        (self.folder / "text").write_text("hello " * 100)
        with self.assertRaises(nmb.UnknownKindError):
            nmb.open(self.folder / "text")
        with self.assertRaises(OSError):
            nmb.open(self.folder)
        with self.assertRaises(ValueError):
            nmb.open(self.path("a"), external="everywhere")
        name = os.fsdecode(bytes(self.folder) + b"/\xff.nc")
        with netCDF4.Dataset(self.path("a.nc"), "w", format="NETCDF3_CLASSIC") as out:
            out.title = "t"
        os.rename(self.path("a.nc"), name)
        self.assertEqual(nmb.open(name).path, name)


if __name__ == "__main__":
    unittest.main()
