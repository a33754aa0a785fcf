"""Values of all types are what h5py and netCDF4-python give."""

import random
import unittest

import numpy as np
from support import FolderTest, h5py, is_same, needs_h5py, needs_netcdf4, netCDF4, nmb


def random_type(rng, depth=0):
    """A dtype that HDF5 stores with a fixed length, in either byte order."""
    if depth < 2 and rng.random() < 0.25:
        names = [f"m{i}" for i in range(rng.randint(1, 4))]
        fields = []
        for name in names:
            inner = random_type(rng, depth + 1)
            fields.append((name, inner, (rng.randint(1, 3),)) if rng.random() < 0.2 else (name, inner))
        return np.dtype(fields, align=rng.random() < 0.5)
    kind = rng.choice(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "S1", "S5", "?", "c8", "c16", "V3", "enum"])
    if kind == "enum":
        return h5py.enum_dtype({"calm": 0, "storm": 7, "low": -3}, basetype=rng.choice(["<i2", ">i4"]))
    return np.dtype(rng.choice("<>") + kind) if kind[0] in "iufc" else np.dtype(kind)


def random_values(rng, dtype, shape):
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    if dtype.names:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            field = dtype.fields[name][0]
            base, inner = field.subdtype or (field, ())
            out[name] = random_values(rng, base, (*shape, *inner))
        return out
    if dtype.kind == "b":
        return numbers.random(shape) < 0.5
    if dtype.kind == "f":
        return numbers.normal(0, 100, shape).astype(dtype)
    if dtype.kind == "c":
        return (numbers.normal(size=shape) + 1j * numbers.normal(size=shape)).astype(dtype)
    if dtype.kind == "S":
        return numbers.choice([b"", b"a", b"abc", b"hello"], shape).astype(dtype)
    if dtype.kind == "V":
        return np.frombuffer(numbers.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    if dtype.metadata and "enum" in dtype.metadata:
        return numbers.choice([0, 7, -3], shape).astype(dtype)
    return numbers.integers(0, 120, shape).astype(dtype)


@needs_h5py
class NumpyTypesTest(FolderTest):
    def compare(self, path, prefix=""):
        """Compares all data sets and attributes of the groups of a file."""
        with h5py.File(path[0] if isinstance(path, tuple) else path) as theirs:
            ours = nmb.open(path[1] if isinstance(path, tuple) else path)

            def visit(name, item):
                if isinstance(item, h5py.Dataset):
                    variable = ours[prefix + name]
                    expected = item[...] if h5py.check_string_dtype(item.dtype) is None else item[...]
                    self.assertEqual(variable.shape, item.shape, name)
                    found = variable[...]
                    self.assertTrue(is_same(found, expected), f"{name}: {item.dtype}: {found!r} {expected!r}")
                    self.assertEqual(variable.enum, h5py.check_enum_dtype(item.dtype), name)
                    attributes = variable.attrs
                else:
                    attributes = ours[prefix + name].attrs
                for key, value in item.attrs.items():
                    value = np.asarray(value) if not isinstance(value, (str, bytes)) else value
                    if isinstance(value, np.ndarray) and value.size == 1:
                        value = value.reshape(-1)[0]
                    self.assertTrue(is_same(attributes[key], value), f"{name}@{key}: {attributes[key]!r} {value!r}")

            theirs.visititems(visit)

    def both(self, path):
        """Compares the file, and the blocks that are made from it."""
        self.compare(path)
        packed = path + ".nmb"
        nmb.merge(path, packed)
        stem = path.rsplit("/", 1)[1].rsplit(".", 1)[0]
        self.compare((path, packed), stem + "/")

    def test_random_types(self):
        rng = random.Random(7)
        path = self.path("types.h5")
        with h5py.File(path, "w") as out:
            for i in range(120):
                group = out.require_group(f"g{i % 7}")
                dtype = random_type(rng)
                shape = rng.choice([(), (0,), (3,), (4, 2), (2, 0, 3), (5, 3, 2)])
                data = random_values(rng, dtype, shape)
                more = {}
                if shape and all(shape) and rng.random() < 0.4:
                    more = {"chunks": tuple(max(1, n - 1) for n in shape), "compression": "gzip"}
                made = group.create_dataset(f"v{i}", shape, dtype, data=data, **more)
                if rng.random() < 0.5:
                    inner = random_type(rng)
                    if inner.kind not in "SV" or inner.names:
                        made.attrs.create("note", random_values(rng, inner, rng.choice([(), (1,), (3,), (2, 2)])), dtype=inner)
        self.both(path)

    def test_strings_sequences_and_references(self):
        path = self.path("parts.h5")
        with h5py.File(path, "w") as out:
            words = np.array(["", "a", "grün", "x" * 3000, "hello"] * 20, object)
            out.create_dataset("words", data=words, dtype=h5py.string_dtype())
            out.create_dataset("ascii", data=np.array([b"a", b"bc"], object), dtype=h5py.string_dtype("ascii"))
            out.create_dataset("fixed", data=np.array([b"a", b"bc"], "S4"))
            out.create_dataset("one", data="text")
            pairs_of = h5py.h5t.array_create(h5py.h5t.py_create(h5py.string_dtype(), logical=True), (2,))
            h5py.h5d.create(out.id, b"word_pairs", pairs_of, h5py.h5s.create_simple((3,)))
            out["word_pairs"][...] = np.array([["a", "b"], ["", "cc"], ["x", "yz"]], object)
            ragged = out.create_dataset("ragged", (4,), h5py.vlen_dtype("<f4"))
            for i in range(4):
                ragged[i] = np.arange(i, dtype="f4")
            out.create_dataset("pairs", (3,), np.dtype([("n", "<i4"), ("word", h5py.string_dtype())]))
            out["pairs"][...] = np.array([(1, "one"), (2, ""), (3, "drei")], out["pairs"].dtype)
            out.create_dataset("refs", (2,), h5py.ref_dtype)
            out["refs"][0] = out["words"].ref
            out["refs"][1] = out["ragged"].ref
            out["words"].attrs["names"] = ["first", "zweite ü"]
            out["words"].attrs["to"] = out["ragged"].ref
            out.create_dataset("empty", data=h5py.Empty("f4"))
        f = nmb.open(path)
        with h5py.File(path) as theirs:
            self.assertEqual(f["words"][...].tolist(), [w.decode() for w in theirs["words"][...]])
            self.assertEqual(f["words"][3:1:-1].tolist(), ["x" * 3000, "grün"])
            self.assertEqual(f["ascii"][...].tolist(), ["a", "bc"])
            self.assertEqual(f["fixed"][...].tolist(), [b"a", b"bc"])
            self.assertEqual(f["fixed"].strings().tolist(), ["a", "bc"])
            self.assertEqual(f["one"][()], "text")
            self.assertEqual(f["word_pairs"][...].tolist(), [["a", "b"], ["", "cc"], ["x", "yz"]])
            self.assertEqual(f["word_pairs"][::-1].tolist(), [["x", "yz"], ["", "cc"], ["a", "b"]])
            for found, expected in zip(f["ragged"][...], theirs["ragged"][...]):
                self.assertEqual(found.dtype, np.dtype("f4"))
                np.testing.assert_array_equal(found, expected)
            pairs = f["pairs"][...]
            self.assertEqual(pairs["n"].tolist(), [1, 2, 3])
            self.assertEqual(pairs["word"].tolist(), ["one", "", "drei"])
            self.assertEqual(f["pairs"]["word"].tolist(), ["one", "", "drei"])
            self.assertEqual(f["refs"][...].tolist(), ["/words", "/ragged"])
            self.assertEqual(f["words"].attrs["names"].tolist(), ["first", "zweite ü"])
            self.assertEqual(f["words"].attrs["to"], "/ragged")
            self.assertTrue(f["empty"].storage.is_null)
        self.assertIs(h5py.check_string_dtype(f["words"].dtype) is None, False)
        self.assertEqual(h5py.check_vlen_dtype(f["ragged"].dtype), np.dtype("f4"))
        nmb.merge(path, self.path("packed.nmb"))
        p = nmb.open(self.path("packed.nmb"))
        for name in ("words", "fixed", "pairs"):
            self.assertTrue(is_same(p[f"parts/{name}"][...], f[name][...]), name)
        for name in ("words", "ragged", "pairs", "refs", "one"):
            values, offsets = p.read_ragged(name, ["parts", "parts"])
            one = np.asarray(p[f"parts/{name}"][...]).reshape(-1)
            self.assertEqual(offsets.tolist(), [0, one.size, 2 * one.size], name)
            self.assertTrue(is_same(values, np.concatenate([one, one])), name)

    def test_other_floats_and_integers(self):
        path = self.path("odd.h5")
        with h5py.File(path, "w") as out:
            bits12 = h5py.h5t.STD_I16LE.copy()
            bits12.set_precision(12)
            space = h5py.h5s.create_simple((4,))
            made = h5py.h5d.create(out.id, b"bits12", bits12, space)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([0, 1, -1, 2047], "i2"))
            out.create_dataset("long", data=np.array([1.5, -2.25], np.longdouble))
        self.compare(path)

    @needs_netcdf4
    def test_types_of_netcdf(self):
        path = self.path("types.nc")
        with netCDF4.Dataset(path, "w") as out:
            out.createDimension("n", 4)
            out.createDimension("length", 6)
            state = out.createEnumType("u1", "state_t", {"calm": 1, "storm": 9})
            point = out.createCompoundType(np.dtype([("x", "f4"), ("n", "i8")]), "point_t")
            ragged = out.createVLType("i2", "ragged_t")
            out.createVariable("state", state, ("n",))[:] = np.array([1, 9, 9, 1], "u1")
            out.createVariable("point", point, ("n",))[:] = np.array([(1, 2), (3, 4), (5, 6), (7, 8)], point.dtype)
            v = out.createVariable("ragged", ragged, ("n",))
            for i in range(4):
                v[i] = np.arange(i, dtype="i2")
            out.createVariable("words", str, ("n",))[:] = np.array(["", "b", "ö", "dd"], object)
            chars = out.createVariable("chars", "S1", ("n", "length"))
            chars[:] = netCDF4.stringtochar(np.array(["one", "two", "three", ""], "S6"))
            out.words_list = ["a", "b"]
            out.number = 3.5
            out.numbers = np.array([1, 2, 3], "i4")
        f = nmb.open(path)
        with netCDF4.Dataset(path) as theirs:
            theirs.set_auto_mask(False)
            theirs.set_auto_chartostring(False)
            self.assertEqual(list(f.block("").variables), list(theirs.variables))
            self.assertEqual(f.block("").dims, {"n": 4, "length": 6})
            for name, variable in theirs.variables.items():
                self.assertEqual(f[name].dims, variable.dimensions, name)
                self.assertTrue(is_same(f[name][...], variable[...]), name)
            self.assertEqual(f["state"].enum, {"calm": 1, "storm": 9})
            self.assertEqual(f["chars"].strings().tolist(), ["one", "two", "three", ""])
            self.assertEqual(sorted(f.block("").attrs), sorted(theirs.ncattrs()))
            self.assertEqual(f.block("").attrs["words_list"].tolist(), theirs.words_list)
            self.assertEqual(f.block("").attrs["number"], 3.5)

    @needs_netcdf4
    def test_masks_and_packed_numbers(self):
        path = self.path("packed.nc")
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as out:
            out.createDimension("n", 6)
            for name, kind, attributes in (
                ("fill", "i2", {"_FillValue": np.int16(-5)}),
                ("missing", "f4", {"missing_value": np.float32(1)}),
                ("usual", "i4", {}),
                ("byte", "i1", {}),
                ("scaled", "i2", {"_FillValue": np.int16(3), "scale_factor": 0.5, "add_offset": 10.0}),
                ("narrow", "i2", {"scale_factor": np.float32(0.25)}),
                ("unsigned", "i1", {"_Unsigned": "true", "_FillValue": np.int8(-1)}),
            ):
                fill = attributes.pop("_FillValue", None)
                v = out.createVariable(name, kind, ("n",), fill_value=fill)
                v.set_auto_maskandscale(False)
                v.setncatts(attributes)
                v[:] = np.array([1, 2, 3, -5, -1, netCDF4.default_fillvals["i4"] if kind == "i4" else 7], kind)
        f = nmb.open(path)
        with netCDF4.Dataset(path) as theirs:
            theirs.set_always_mask(True)
            for name, variable in theirs.variables.items():
                expected = variable[:]
                found = f[name].read(masked=True, decode=True)
                self.assertIsInstance(found, np.ma.MaskedArray)
                np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected), name)
                np.testing.assert_array_equal(found.compressed(), expected.compressed(), name)
        # Stated in another type than that of the values; numpy 1 and 2 compare these in different types.
        path = self.path("stated.nc")
        cases = {
            "double": ("f4", np.float64(1e20), [1e20, 1, np.nan], [True, False, False]),
            "tenth": ("f4", np.float64(0.1), [0.1, 0.2, 0], [True, False, False]),
            "several": ("f4", np.array([1.5, np.nan]), [1.5, 2, np.nan], [True, False, True]),
            "large": ("i8", np.float64(-(2.0**63)), [-(2**63), -(2**63) + 9, 1], [True, False, False]),
            "half": ("i4", np.float64(1.5), [1, 2, 0], [False, False, False]),
            "negative": ("u2", np.int8(-2), [65534, 254, 0], [False, False, False]),
            "wide": ("i1", np.int32(-1), [-1, 1, 0], [True, False, False]),
        }
        with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_DATA") as out:
            out.createDimension("n", 3)
            for name, (kind, stated, values, _) in cases.items():
                v = out.createVariable(name, kind, ("n",))
                v.set_auto_maskandscale(False)
                v.missing_value = stated
                v[:] = np.array(values, kind)
        for name, (_, _, _, missing) in cases.items():
            found = nmb.open(path)[name].read(masked=True)
            self.assertEqual(np.ma.getmaskarray(found).tolist(), missing, name)
        scaled = f["scaled"].read(decode=True)
        self.assertEqual(scaled.dtype, np.float64)
        self.assertTrue(np.isnan(scaled[2]))
        self.assertEqual(f["narrow"].read(decode=True).dtype, np.float32)
        self.assertEqual(f["fill"].fill_value, -5)
        self.assertEqual(f["usual"].fill_value, -2147483647)
        self.assertEqual(f["fill"].read(slice(2, 4), masked=True).tolist(), [3, None])


if __name__ == "__main__":
    unittest.main()
