"""What nmb.Writer writes: values of all types and forms, parts of variables, attributes, and what it refuses."""

import tempfile
import unittest
import warnings
from datetime import datetime

import numpy as np
from support import FolderTest, h5py, is_same, needs_netcdf4, netCDF4, nmb

NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


class WriterTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("a.nmb")

    def writer(self, mode="x", **options):
        return nmb.Writer(self.file, mode, sync=False, **options)

    def written(self, **variables):
        """Writes a block, and reads it back."""
        with self.writer("w") as out:
            out["b"] = variables
        self.assertTrue(nmb.verify(self.file))
        return nmb.open(self.file)["b"]

    def refused(self, kind, call, *words):
        with self.assertRaises(kind) as caught:
            call()
        for word in words:
            self.assertIn(word, str(caught.exception))


class WrittenValuesTest(WriterTest):
    def test_numbers_keep_their_type_and_value(self):
        for name in NUMBERS:
            dtype = np.dtype(name)
            if dtype.kind == "f":
                limits = np.finfo(dtype)
                values = np.array([0, -0.0, 1.5, limits.max, limits.min, limits.tiny, np.inf, -np.inf, np.nan], dtype)
            else:
                limits = np.iinfo(dtype)
                values = np.array([0, 1, limits.min, limits.max, 77], dtype)
            for form in (values, values.astype(dtype.newbyteorder(">")), values.astype(dtype.newbyteorder("<"))):
                found = self.written(v=form)["v"]
                self.assertEqual(found.dtype, dtype)
                self.assertEqual(found[...].tobytes(), values.tobytes())

    def test_forms_of_memory(self):
        base = np.arange(60, dtype="i4").reshape(3, 4, 5)
        read_only = base.copy()
        read_only.setflags(write=False)
        unaligned = np.zeros(3, np.dtype([("a", "i1"), ("b", "f8")]))
        unaligned["b"] = [1, 2, 3]
        forms = {
            "fortran": np.asfortranarray(base),
            "transposed": base.T,
            "steps": base[::2, ::-1, 1::2],
            "repeated": np.broadcast_to(base[:1, :1], (2, 3, 5)),
            "read_only": read_only,
            "unaligned": unaligned["b"],
            "list": [[1.5, 2], [3, 4]],
            "range": range(4),
            "number": 7,
            "float": 2.5,
            "scalar": np.float32(3),
            "zero_dimensions": np.array(4, "u2"),
        }
        block = self.written(**forms)
        for name, values in forms.items():
            self.same(block[name][...], np.asarray(values), name)

    def test_an_array_that_changes_after_the_call(self):
        values = np.arange(4.0)
        with self.writer() as out:
            large = out.block("c").variable("v", "f8", {"x": 4})
            large[:] = values
            out["b"] = {"small": values}
            values[:] = -1
            values.dtype = "i8"
        self.assertEqual(nmb.open(self.file)["b/small"][...].tolist(), [0, 1, 2, 3])
        self.assertEqual(nmb.open(self.file)["c/v"][...].tolist(), [0, 1, 2, 3])

    def test_large_values_are_not_kept(self):
        large = np.arange(6 << 20, dtype="f8")
        with self.writer() as out:
            out["b"] = {"small": [1, 2], "large": large, "later": [3]}
            self.assertEqual(out._waiting_bytes, 8)
            out["c"] = {"large": large}
        file = nmb.open(self.file)
        for name in "b/large", "c/large":
            self.assertTrue(np.array_equal(file[name][...], large))
        self.assertEqual((file["b/small"][...].tolist(), file["b/later"][...].tolist()), ([1, 2], [3]))

    def test_texts(self):
        texts = np.array([["a", ""], ["bücher", "日本"]])
        block = self.written(
            unicode=texts, objects=texts.astype(object), one="single", bytes=np.array([b"ab", b"c\xff"]), none=np.array([""]),
            characters=np.array([[b"a", b"b"], [b"", b"d"]]), nul="a\0b",
        )  # fmt: skip
        for name in "unicode", "objects":
            self.same(block[name].strings(), texts.astype(object), name)
            self.assertEqual(block[name].attrs["_Encoding"], "utf-8")
            self.assertEqual(block[name].dims[-1], "string7")
        self.assertEqual(block["one"].strings().item(), "single")
        self.assertEqual(block["bytes"].strings().tolist(), ["ab", "c\udcff"])
        self.assertEqual(block["none"].strings().tolist(), [""])
        self.assertEqual(block["nul"].strings().item(), "a\0b")
        self.same(block["characters"][...], np.array([[b"a", b"b"], [b"", b"d"]]))
        self.assertNotIn("_Encoding", block["characters"].attrs)
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
            strings = np.array(["x", "longer"], np.dtypes.StringDType())
            self.assertEqual(self.written(v=strings)["v"].strings().tolist(), ["x", "longer"])

    def test_texts_of_a_given_length(self):
        with self.writer() as out:
            v = out.block("b").variable("name", "S6", {"i": None})
            v.append("one")
            v.append(["two", "sixsix"])
            v[5] = "ß"
            self.refused(nmb.RangeError, lambda: v.append("seven77"), "at most 6", "b/name")
            self.refused(nmb.UnsupportedError, lambda: v.append("zero\0"), "zero")
            self.assertEqual(v.shape, (6, 6))
        found = nmb.open(self.file)["b/name"].strings()
        self.assertEqual(found.tolist(), ["one", "two", "sixsix", "", "", "ß"])

    def test_masked_values_become_fill_values(self):
        masked = np.ma.array([1, 2, 3], "i4", mask=[0, 1, 0])
        with self.writer() as out:
            block = out.block("b", {"default": ("x", masked), "own": ("x", masked, {"_FillValue": -5}), "whole": ("x", masked[:0:-2])
                                    if False else ("y", np.ma.array([4, 5]))})  # fmt: skip
            later = block.variable("later", "f4", "x", {"_FillValue": np.nan})
            later[:] = masked
            byte = block.variable("byte", "i1", "x")
            self.refused(nmb.UsageError, lambda: byte.__setitem__(slice(None), masked), "_FillValue")
            own = block["own"]
            self.refused(nmb.UsageError, lambda: own.__setitem__(slice(None), np.ma.array([1, -5, 3], mask=[1, 0, 0])), "-5")
        block = nmb.open(self.file)["b"]
        self.assertEqual(block["default"][...].tolist(), [1, -2147483647, 3])
        self.assertEqual(block["own"][...].tolist(), [1, -5, 3])
        for name in "default", "own", "later":
            found = block[name].read(masked=True)
            self.assertEqual(found.mask.tolist(), [False, True, False])
            self.assertEqual(found.compressed().tolist(), [1, 3])

    def test_types_that_cannot_be_written(self):
        bad = {
            "bool": np.array([True]),
            "complex": np.array([1j]),
            "half": np.array([1], "f2"),
            "long double": np.array([1], "g"),
            "datetime": np.array(["2000-01-01"], "M8[D]"),
            "timedelta": np.array([1], "m8[s]"),
            "structured": np.zeros(2, [("a", "i4")]),
            "void": np.zeros(2, "V3"),
            "None": [None],
            "objects": np.array([1, "a"], object),
            "python dates": [datetime(2000, 1, 1)],
            "no objects": np.array([], object),
            "a large int": [2**70],
        }
        with self.writer() as out:
            for name, values in bad.items():
                with self.subTest(name):
                    self.refused(nmb.UnsupportedError, lambda values=values: out.__setitem__("b", {"ok": [1], "x": values}), "b/x")
                    self.assertNotIn("b", out)
            self.refused(nmb.UsageError, lambda: out.__setitem__("b", {"x": [[1], [2, 3]]}), "b/x")
            out["b"] = {"x": [1]}
            for dtype in ("bool", "c8", "M8[s]", "V4", "f2", object, "S0", "U0"):
                self.refused(nmb.UnsupportedError, lambda dtype=dtype: out["b"].variable("y", dtype))
            self.refused((nmb.UsageError, TypeError), lambda: out["b"].variable("y", "nothing"))
            for values in ("text", [1j], [None], np.array(["2000"], "M8[Y]")):
                self.refused(nmb.UnsupportedError, lambda values=values: out["b"]["x"].__setitem__(0, values), "b/x")
        self.assertEqual(list(nmb.open(self.file)["b"]), ["x"])

    def test_numbers_that_do_not_fit(self):
        with self.writer() as out:
            block = out.block("b")
            for name in NUMBERS:
                block.variable(name, name, {"x": 3})[:] = [1, 2, 3]
            wrong = {
                "i1": ([128], [-129], [np.nan], [1.5], [np.inf], np.array([2**63], "u8"), np.array([200], "u1")),
                "u1": ([256], [-1], [-0.5]),
                "i8": (np.array([2**63], "u8"), [2.0**63], [np.nan]),
                "u8": ([-1], [2.0**64], [-1.0]),
                "f4": ([1e39], [-1e300]),
            }
            for name, some in wrong.items():
                for values in some:
                    with self.subTest(f"{name} {values}"):
                        self.refused(OverflowError, lambda name=name, v=values: block[name].__setitem__(slice(0, 1), v), f"b/{name}")
            block["i8"][0] = -(2.0**63)
            block["u8"][0] = np.float64(2**64 - 2048)
            block["f4"][:] = [np.nan, np.inf, 1e-300]
            block["i1"][:] = np.array([True, False, True])
            block["f4"][0:0] = []
        block = nmb.open(self.file)["b"]
        self.assertEqual(block["u1"][...].tolist(), [1, 2, 3])
        self.assertEqual(int(block["i8"][0]), -(2**63))
        self.assertEqual(int(block["u8"][0]), 2**64 - 2048)
        self.assertTrue(is_same(block["f4"][...], np.array([np.nan, np.inf, 0], "f4")))
        self.assertEqual(block["i1"][...].tolist(), [1, 0, 1])


class WrittenPartsOfVariablesTest(WriterTest):
    def test_parts_as_numpy_assigns_them(self):
        rng = np.random.default_rng(5)
        shape = (4, 5, 6)
        keys = [
            (..., 2), (1,), (-1, slice(None), 0), (slice(1, 3), slice(None, None, 2)), (slice(1, 1),), (slice(0, 4, 3), -2, slice(2, None)),
            (2, ..., slice(None, -1)), (slice(-3, -1), 4, 5), ..., (), slice(2, 100), (0, 0, 0),
        ]  # fmt: skip
        expected = np.full(shape, 9.969209968386869e36)
        with self.writer() as out:
            v = out.block("b").variable("v", "f8", dict(zip("xyz", shape)))
            for key in keys:
                selected = expected[key].shape
                for form in (selected, (), selected[-1:], (1, *selected), tuple(1 for _ in selected)):
                    values = rng.normal(size=form)
                    v[key] = values
                    expected[key] = values if selected else values.item()
                    self.assertTrue(np.array_equal(v[...], expected), (key, form))
            self.assertTrue(is_same(v[1, ::2, ::-1], expected[1, ::2, ::-1]))
            for key in (4, (0, 5), (0, 0, 0, 0), [0, 1], None, True, slice(None, None, -1), (..., ...), "x", np.ones(shape, bool)):
                self.refused(nmb.SelectionError, lambda key=key: v.__setitem__(key, 0.0), "b/v")
            for key, values in ((0, np.zeros(7)), ((0, 0), np.zeros((2, 6))), (..., np.zeros((4, 5, 6, 1)))):
                self.refused(nmb.SelectionError, lambda key=key, values=values: v.__setitem__(key, values), "shape")
        self.assertTrue(np.array_equal(nmb.open(self.file)["b/v"][...], expected))

    def test_scalars(self):
        with self.writer() as out:
            v = out.block("b").variable("v", "i4")
            v[...] = 5
            self.assertEqual((int(v[...]), v.shape), (5, ()))
            v[()] = 6
            self.refused(nmb.SelectionError, lambda: v.__setitem__(0, 7))
            self.refused(nmb.SelectionError, lambda: v.__setitem__(..., [1, 2]))
            self.refused(nmb.UsageError, lambda: v.append(1), "unlimited")
            self.refused(TypeError, lambda: len(v))
        self.assertEqual(nmb.open(self.file)["b/v"][...].item(), 6)

    def test_records(self):
        with self.writer() as out:
            v = out.block("b").variable("v", "i4", {"time": None, "x": 2})
            self.assertEqual((v.shape, len(v)), ((0, 2), 0))
            v[:] = [[1, 2], [3, 4]]
            v[1:] = [[5, 6], [7, 8], [9, 10]]
            v[-1] = 11
            v[6, 1] = 13
            v[8:10] = 14
            v[::2] = [[0, 0]]
            self.assertEqual(v.shape, (10, 2))
            self.refused(nmb.SelectionError, lambda: v.__setitem__(-11, 0))
            self.refused(nmb.SelectionError, lambda: v.__setitem__((0, 2), 0))
            v[2:2] = np.zeros((0, 2))
            v[-1:] = [[15, 16]]
            v[-2:-1, 1] = [17]
            v[-100:1, 0] = 18
        fill = -2147483647
        expected = [[18, 0], [5, 6], [7, 8], [11, 11], [fill] * 2, [fill] * 2, [fill, 13], [fill] * 2, [14, 17], [15, 16]]
        self.assertEqual(nmb.open(self.file)["b/v"][...].tolist(), expected)

    def test_several_variables_grow_side_by_side(self):
        with self.writer() as out:
            block = out.block("b", {"t": ("time", [0.0]), "p": ("time", [[0, 1]][0][:1])}, unlimited="time")
            self.assertEqual((block.dims, block["t"].shape), ({"time": 1}, (1,)))
            for step in range(1, 4):
                out["b/t"].append(step)
                self.assertEqual(block.dims["time"], step + 1)
                out["b"]["p"].append([10 * step])
                if step == 2:
                    out.commit()
            self.refused(nmb.ConflictError, lambda: block.__setitem__("late", ("time", [7, 8])), "lengths 4 and 2")
            block["same"] = ("time", [1, 2, 3, 4])
            block.variable("late", "i2", "time").append([7, 8])
        with self.writer("a") as out:
            out["b/t"].append([4.0, 5.0])
            out["b/p"].append(40)
        block = nmb.open(self.file)["b"]
        self.assertEqual(block["t"][...].tolist(), [0, 1, 2, 3, 4, 5])
        self.assertEqual(block["p"][...].tolist(), [0, 10, 20, 30, 40, -9223372036854775806])
        self.assertEqual(block["late"][...].tolist(), [7, 8] + [-32767] * 4)

    def test_appending_wrong_shapes(self):
        with self.writer() as out:
            v = out.block("b").variable("v", "i4", {"time": None, "x": 2, "y": 3})
            for shape in ((2,), (3, 2), (2, 2), (1, 1, 3), (1, 2, 3, 1), ()):
                self.refused(nmb.SelectionError, lambda shape=shape: v.append(np.zeros(shape)), "b/v")
            v.append(np.zeros((0, 2, 3)))
            v.append(np.ones((2, 3)))
            v.append(np.ones((2, 2, 3)))
        self.assertEqual(nmb.open(self.file)["b/v"].shape, (3, 2, 3))

    def test_a_committed_file_grows_and_changes(self):
        with self.writer() as out:
            out.block("b", {"t": (("time", "x"), np.zeros((2, 3)))}, unlimited="time")
            out["c"] = {"v": np.arange(4)}
            self.assertEqual((out.generation, out.commit(), out.generation), (0, 1, 1))
            self.assertEqual(nmb.open(self.file)["c/v"][...].tolist(), [0, 1, 2, 3])
        for step in range(3):
            with self.writer("a") as out:
                out["b/t"].append(np.full(3, step))
                out["c/v"][step] = -1
                out["b"].attrs["steps"] = step
                self.assertEqual((out["c"].dims, out["c/v"].dims, out["c/v"].dtype), ({"v_0": 4}, ("v_0",), np.dtype("i8")))
        file = nmb.open(self.file)
        self.assertEqual(file.generation, 4)
        self.assertEqual(file["b/t"][2:, 0].tolist(), [0, 1, 2])
        self.assertEqual(file["c/v"][...].tolist(), [-1, -1, -1, 3])
        self.assertEqual(file["b"].attrs["steps"], 2)
        self.assertEqual(nmb.open(self.file, generation=1)["c/v"][...].tolist(), [0, 1, 2, 3])
        self.assertTrue(nmb.verify(self.file))


class WrittenDefinitionsTest(WriterTest):
    def test_attributes(self):
        good = {
            "text": "Grüße", "empty": "", "bytes": b"raw", "int": 5, "big": 2**40, "float": 1.5, "i1": np.int8(-3), "u8": np.uint64(2**63),
            "f4": np.float32(1.25), "list": [1, 2, 3], "tuple": (1.5, 2), "array": np.array([1, 2], ">i2"), "none": np.array([], "f4"),
            "zero": np.array(7, "u2"), "str_": np.str_("s"), "ünï": "name", "with space": 1,
        }  # fmt: skip
        with self.writer() as out:
            block = out.block("b", {"v": ([], 1, good)}, attrs=good)
            block.attrs["later"] = "text"
            block["v"].attrs["later"] = [1, 2]
            block.attrs["text"] = "replaced"
            del block["v"].attrs["text"]
            self.assertEqual(list(block["v"].attrs), [name for name in good if name != "text"] + ["later"])
            self.refused(KeyError, lambda: block.attrs["nothing"])
            self.refused(KeyError, lambda: block.attrs.__delitem__("nothing"))
        block = nmb.open(self.file)["b"]
        self.assertEqual(block.attrs["text"], "replaced")
        for name, value in good.items():
            for owner in (block, block["v"]):
                if name == "text":
                    continue
                with self.subTest(name):
                    found, expected = owner.attrs[name], np.asarray(value) if not isinstance(value, (str, bytes)) else value
                    if isinstance(value, (str, bytes)):
                        self.assertEqual(found, value if isinstance(value, str) else value.decode())
                    else:
                        expected = expected.reshape(-1)
                        self.same(np.atleast_1d(found), expected, name)

    def test_attributes_that_cannot_be_written(self):
        bad = [None, True, [True], 1j, ["a", "b"], np.array(["a"]), [[1, 2]], {"a": 1}, np.datetime64("2000-01-01"), object(), 2**70,
               [1, "a"], np.float16(1), "nul\0", np.ma.array([1, 2], mask=[0, 1])]  # fmt: skip
        with self.writer() as out:
            block = out.block("b", {"v": [1]})
            for value in bad:
                with self.subTest(repr(value)):
                    for call in (
                        lambda value=value: block.attrs.__setitem__("a", value),
                        lambda value=value: block["v"].attrs.__setitem__("a", value),
                        lambda value=value: out.__setitem__("c", {"v": ((), 1, {"a": value})}),
                        lambda value=value: out.block("c", attrs={"a": value}),
                    ):
                        self.refused(nmb.UnsupportedError, call)
            for name in ("", "a/b", ".", "a\0", "\udcff"):
                self.refused(nmb.UsageError, lambda name=name: block.attrs.__setitem__(name, 1))
            self.refused(TypeError, lambda: block.attrs.__setitem__(3, 1))
            self.assertNotIn("c", out)
        self.assertEqual(len(nmb.open(self.file)["b"].attrs), 0)

    def test_fill_values(self):
        with self.writer() as out:
            block = out.block("b")
            for name, dtype, fill in (("f", "f4", -9.99), ("i", "i2", -1.0), ("u", "u8", 2**64 - 1), ("c", "S1", "x"), ("n", "f8", np.nan)):
                block.variable(name, dtype, {"x": 2}, {"_FillValue": fill})
            for dtype, fill in (("i2", 1.5), ("i2", 70000), ("i2", [1, 2]), ("u1", -1), ("f4", 1e39), ("i4", "x"), ("S1", "xy")):
                with self.subTest(f"{dtype} {fill}"):
                    self.refused(nmb.Error, lambda d=dtype, f=fill: block.variable("bad", d, {"x": 2}, {"_FillValue": f}))
            self.assertNotIn("bad", block)
        block = nmb.open(self.file)["b"]
        self.assertEqual(block["f"][...].tolist(), [float(np.float32(-9.99))] * 2)
        self.assertEqual(block["i"][...].tolist(), [-1, -1])
        self.assertEqual(block["u"][...].tolist(), [2**64 - 1] * 2)
        self.assertEqual(block["c"][...].tolist(), [b"x"] * 2)
        self.assertTrue(np.isnan(block["n"][...]).all())
        self.assertEqual(block["i"].attrs["_FillValue"].dtype, np.dtype("i2"))

    def test_names(self):
        names = ["a b", "ünï", "日本", "a.b", "-", "0", "x" * 200, "CON", "a:b", "é"]
        with self.writer() as out:
            for name in names:
                out[f"block/{name}"] = {name: ((name,), [1], {name: 1})}
            out[""] = {"root": 1}
            for name in ("", ".", "..", "a/b", "/a", "a/", "a\0", "\udcff"):
                self.refused(nmb.UsageError, lambda name=name: out.__setitem__("c", {name: 1}))
                self.refused(nmb.UsageError, lambda name=name: out.__setitem__("c", {"v": (name, [1])}))
            for name in ("/a", "a/", "a//b", "a/../b", ".", "a\0", "\udcff"):
                self.refused(nmb.UsageError, lambda name=name: out.__setitem__(name, {"v": 1}))
            self.refused(TypeError, lambda: out.__setitem__("c", {3: 1}))
            self.refused(TypeError, lambda: out.__setitem__(3, {"v": 1}))
            self.assertNotIn("c", out)
            self.assertNotIn(3, out)
        file = nmb.open(self.file)
        self.assertEqual(sorted(file), sorted(["", *(f"block/{name}" for name in names)]))
        for name in names:
            found = file[f"block/{name}"][name]
            self.assertEqual((found.dims, dict(found.attrs)), ((name,), {name: 1}))

    def test_dimensions(self):
        with self.writer() as out:
            for variables, kind in (
                ({"a": ("x", [1, 2]), "b": ("x", [1])}, nmb.ConflictError),
                ({"a": (("x", "x"), [[1]])}, nmb.UsageError),
                ({"a": ("x", 1)}, nmb.UsageError),
                ({"a": (("x", "y"), [1])}, nmb.UsageError),
                ({"a": ("x", [])}, nmb.UnsupportedError),
                ({"a": (("x", "y"), np.zeros((2, 0)))}, nmb.UnsupportedError),
                ({"a": ([1], "x")}, (nmb.UsageError, TypeError)),
                ({"a": ("x",)}, nmb.UsageError),
                ({"a": ("x", [1], {}, {"zlib": True})}, nmb.UnsupportedError),
                ({"a": ("x", [1], "units")}, nmb.UsageError),
                ({"a": {"b": [1]}}, nmb.UsageError),
                ([1, 2], nmb.UsageError),
                (np.zeros(3), nmb.UsageError),
            ):
                with self.subTest(str(variables)):
                    self.refused(kind, lambda v=variables: out.__setitem__("b", v))
                    self.assertNotIn("b", out)
            for unlimited, kind in (("z", KeyError), (("x", "y"), nmb.UnsupportedError), ("y", nmb.UnsupportedError)):
                self.refused(kind, lambda u=unlimited: out.block("b", {"a": (("x", "y"), np.zeros((2, 3)))}, unlimited=u))
            self.refused(
                nmb.ConflictError, lambda: out.block("b", {"a": ("t", [1]), "c": ("t", [1, 2])}, unlimited="t"), "lengths 1 and 2"
            )
            self.assertNotIn("b", out)
            empty = out.block("b", {"a": (("t", "x"), np.zeros((0, 2)))}, unlimited="t")
            self.assertEqual((empty.dims, empty.unlimited), ({"t": 0, "x": 2}, {"t"}))
            self.refused(nmb.ConflictError, lambda: empty.variable("c", "i4", {"x": 3}))
            self.refused(nmb.ConflictError, lambda: empty.variable("c", "i4", {"x": None}))
            self.refused(nmb.UnsupportedError, lambda: empty.variable("c", "i4", ("x", "t")))
            self.refused(KeyError, lambda: empty.variable("c", "i4", ("z",)))
            self.refused(nmb.ExistsError, lambda: empty.variable("a", "i4"))
            self.refused(nmb.ExistsError, lambda: empty.dimension("x", 2))
            empty.dimension("z", 4)
            self.refused(nmb.UnsupportedError, lambda: empty.dimension("q", 0))
            empty.variable("c", "i4", ("z",))
        self.assertEqual(nmb.open(self.file)["b"].dims, {"t": 0, "x": 2, "z": 4})

    def test_blocks(self):
        with self.writer() as out:
            block = out.block("b", {"v": [1, 2]}, tags={"site": "north", "n": np.int32(3), "x": 1.5, "u": 2**63}, samples=4)
            self.assertIs(out.block("b"), block)
            self.assertIs(out["b"], block)
            self.refused(nmb.ExistsError, lambda: out.__setitem__("b", {"w": 1}))
            self.refused(nmb.ExistsError, lambda: out.block("b", {"v": 1}))
            out.block("b", {"w": 1}, attrs={"title": "t"})
            self.assertEqual((list(block), len(block), "w" in block, out["b/w"].name), (["v", "w"], 2, True, "w"))
            self.refused(KeyError, lambda: out["nothing"])
            self.refused(KeyError, lambda: out["b/nothing"])
            self.refused(KeyError, lambda: out.__delitem__("nothing"))
            for tags in ({"a": None}, {"a": True}, {"a": [1]}, {"a": 2**64}):
                self.refused(nmb.Error, lambda tags=tags: out.block("c", tags=tags))
            self.refused(nmb.UsageError, lambda: out.block("c", samples=-1))
            out["gone"] = {"v": np.arange(5)}
            del out["gone"]
            out["gone"] = {"v": 1.5}
            del out["gone"]
            self.assertNotIn("gone", out)
            out.add_provenance({"program": "test"})
        file = nmb.open(self.file)
        self.assertEqual((list(file), file.totals.samples), (["b"], 4))
        self.assertEqual(file["b"].tags, {"site": "north", "n": 3, "x": 1.5, "u": 2**63})
        self.assertEqual(file.provenance, [{"program": "test"}])
        with self.writer("a") as out:
            del out["b"]
            out["b"] = {"new": 1}
        self.assertEqual(list(nmb.open(self.file)["b"]), ["new"])
        self.assertTrue(nmb.verify(self.file))

    def test_variables_of_another_file(self):
        with self.writer() as out:
            out.block("b", {"v": ("x", [1, 2], {"units": "K"}), "name": ("y", ["a", "bc"])}, attrs={"title": "t"})
        source = nmb.open(self.file)["b"]
        with nmb.Writer(self.path("copy.nmb"), sync=False) as out:
            out.block("b", dict(source), attrs=source.attrs)
        self.assertFalse(nmb.diff(self.file, self.path("copy.nmb")))

    def test_options(self):
        with self.writer(statistics="basic", hdf5_view="on", piece_size=1 << 16, alignment=4096) as out:
            out["b"] = {"v": np.arange(1000.0)}
        file = nmb.open(self.file)
        self.assertEqual((file["b/v"].stats.maximum, file.has_hdf5_view), (999.0, True))
        if h5py:
            with h5py.File(self.file) as view:
                self.assertEqual(view["b/v"][5], 5.0)
        for options in ({"statistics": "all"}, {"hdf5_view": "maybe"}, {"piece_size": 5}, {"wait": 1}, {"wait": -1, "mode": "a"}):
            options = {"mode": "w", **options}
            self.refused(nmb.UsageError, lambda options=options: nmb.Writer(self.file, **options))
        self.refused(nmb.UsageError, lambda: nmb.Writer(self.file, "r"))
        self.refused(nmb.UsageError, lambda: nmb.Writer(""))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.writer("a") as out:  # the view of the file stays that of the newest generation
                out["c"] = {"v": 1}
        self.assertIn("c", h5py.File(self.file) if h5py else ["c"])

    def test_displayed(self):
        with self.writer() as out:
            block = out.block("b", {"v": ("x", [1, 2])})
            for one in (out, block, block["v"], block.attrs):
                self.assertTrue(repr(one))
            self.assertEqual((block["v"].full_name, block.name, block.writer.path), ("b/v", "b", self.file))
            self.assertEqual([int(one) for one in block["v"]], [1, 2])
            self.assertEqual([variable.name for variable in block.values()], list(block.keys()))
        self.assertIn("closed", repr(out))


def random_values(rng, dtype, shape):
    if dtype == "S1":
        return rng.choice(np.frombuffer(b"abc\0", "S1"), shape)
    if dtype.startswith("f"):
        return rng.normal(0, 1e3, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@needs_netcdf4
class RandomDatasetsTest(WriterTest):
    """Random data sets, written by netCDF4-python and by nmb in the same calls, have the same content."""

    def test_as_netcdf4_writes_them(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                self.check(np.random.default_rng(seed))

    def check(self, rng):
        dims = {f"d{i}": int(rng.integers(1, 6)) for i in range(4)}
        unlimited = "time" if rng.random() < 0.6 else None
        theirs, mine = tempfile.mktemp(".nc", dir=self.folder), tempfile.mktemp(".nmb", dir=self.folder)
        with netCDF4.Dataset(theirs, "w", format="NETCDF3_64BIT_DATA") as nc, nmb.Writer(mine, sync=False) as out:
            block = out.block("b")
            nc.set_auto_mask(False)
            for name, length in dims.items():
                nc.createDimension(name, length)
                block.dimension(name, length)
            if unlimited:
                nc.createDimension(unlimited, None)
                block.dimension(unlimited, None)
            for number in range(int(rng.integers(1, 6))):
                name = f"v{number}"
                dtype = str(rng.choice([*NUMBERS, "S1"]))
                some = [str(one) for one in rng.permutation(list(dims))[: rng.integers(0, 4)]]
                if unlimited and rng.random() < 0.6:
                    some.insert(0, unlimited)
                more = {"_FillValue": random_values(rng, dtype, (1,))[0]} if dtype != "S1" and rng.random() < 0.5 else {}
                v = nc.createVariable(name, dtype, some, fill_value=more.get("_FillValue"))
                v.set_auto_maskandscale(False)
                w = block.variable(name, dtype, some, more)
                for key in range(int(rng.integers(0, 3))):
                    value = str(rng.choice(["t", "text", "ü"])) if rng.random() < 0.4 else random_values(rng, str(rng.choice(NUMBERS)), (2,))
                    v.setncattr(f"a{key}", value)
                    w.attrs[f"a{key}"] = value
                for _ in range(int(rng.integers(0, 4))):
                    key, shape = [], []
                    for dim in some:
                        length = dims.get(dim, 7)
                        start = int(rng.integers(0, length))
                        if rng.random() < 0.3:
                            key.append(start)
                            continue
                        step = int(rng.integers(1, 3))
                        stop = int(rng.integers(start + 1, length + 1))
                        key.append(slice(start, stop, step))
                        shape.append(len(range(start, stop, step)))
                    values = random_values(rng, dtype, tuple(shape))
                    v[tuple(key) if key else ...] = values
                    w[tuple(key) if key else ...] = values
                if rng.random() < 0.1:
                    out.commit()
        self.assertTrue(nmb.verify(mine))
        back = tempfile.mktemp(".nc", dir=self.folder)
        nmb.convert(mine, back, to="cdf5", block="b")
        found = nmb.diff(theirs, back)
        self.assertFalse(found, found)
        with netCDF4.Dataset(back) as again, netCDF4.Dataset(theirs) as nc:
            for name, v in nc.variables.items():
                again[name].set_auto_mask(False)
                v.set_auto_mask(False)
                self.same(again[name][...], v[...], name)


if __name__ == "__main__":
    unittest.main()
