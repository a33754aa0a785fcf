"""Selections of variables select what numpy selects from the whole array."""

import random
import unittest

import numpy as np
from support import FolderTest, needs_netcdf4, netCDF4, nmb, write_netcdf


def random_slice(rng, length):
    def bound():
        return rng.choice([None, rng.randint(-length - 2, length + 2)])

    return slice(bound(), bound(), rng.choice([None, 1, 1, 2, 3, -1, -2, -5]))


def random_key(rng, shape):
    """A key for an array of this shape: basic, or with arrays of integers and masks."""
    if rng.random() < 0.05:
        return rng.choice([Ellipsis, (), slice(None)])
    key = []
    points = rng.randint(0, 4)  # arrays of several axes have one length
    axis = 0
    while axis < len(shape):
        length = shape[axis]
        what = rng.random()
        if what < 0.12 and axis + 1 < len(shape):
            key.append(np.random.default_rng(rng.randrange(1 << 30)).random(shape[axis : axis + 2]) < 0.3)
            axis += 2
            continue
        axis += 1
        if what < 0.3:
            key.append(rng.randint(-length, length - 1) if rng.random() < 0.97 else length + 3)
        elif what < 0.75 or length == 0:
            key.append(random_slice(rng, length))
        elif what < 0.9:
            key.append([rng.randint(-length, length - 1) for _ in range(points)])
        else:
            key.append(np.random.default_rng(rng.randrange(1 << 30)).random(length) < 0.5)
    if rng.random() < 0.3:
        del key[rng.randint(0, len(key)) :]
    if rng.random() < 0.3:
        key.insert(rng.randint(0, len(key)), Ellipsis)
    return tuple(key) if len(key) != 1 or rng.random() < 0.5 else key[0]


@needs_netcdf4
class NumpySlicesTest(FolderTest):
    def check(self, variable, whole, key):
        try:
            expected = whole[key]
        except (IndexError, ValueError) as error:
            with self.assertRaises((IndexError, ValueError), msg=f"{variable.full_name}[{key!r}]: {error}"):
                variable[key]
            return
        found = variable[key]
        what = f"{variable.full_name}[{key!r}]"
        self.assertEqual(np.shape(found), np.shape(expected), what)
        self.assertEqual(found.dtype, whole.dtype, what)
        self.assertEqual(type(found), type(expected), what)
        np.testing.assert_array_equal(found, expected, what)
        if isinstance(found, np.ndarray):
            self.assertTrue(found.flags.c_contiguous and found.flags.owndata and found.flags.writeable, what)
            self.assertTrue(found.dtype.isnative, what)

    def test_random_keys(self):
        rng = random.Random(20)
        files = []
        for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"):
            source = self.path(f"{form}.nc")
            groups = ("a", "b") if form == "NETCDF4" else ()
            values = write_netcdf(source, form, groups, seed=len(files))
            files.append((nmb.open(source), values, ""))
            nmb.merge(source, self.path(f"{form}.nmb"))
            files.append((nmb.open(self.path(f"{form}.nmb")), values, form))
            nmb.merge(source, self.path(f"{form}.z.nmb"), codec="zstd")
            files.append((nmb.open(self.path(f"{form}.z.nmb"), verify=False), values, form))
        for file, values, prefix in files:
            for name, whole in values.items():
                variable = file[f"{prefix}/{name}" if prefix else name]
                np.testing.assert_array_equal(variable[...], whole)
                for _ in range(40):
                    self.check(variable, whole, random_key(rng, whole.shape))

    def test_an_ellipsis_divides_arrays(self):
        values = write_netcdf(self.path("a.nc"), "NETCDF3_CLASSIC")
        v, whole = nmb.open(self.path("a.nc"))["temperature"], values["temperature"]
        for key in (
            (slice(1, 3), [0, 2], Ellipsis, [1, 5]),
            (slice(1, 3), [0, 2], Ellipsis, [[1], [5]]),
            (Ellipsis, [0, 2], [1, 5]),
            ([0, 2], [1, 3], Ellipsis),
            ([0, 2], Ellipsis, [1, 3]),
            (0, [0, 2], Ellipsis, [1, 3]),
        ):
            self.check(v, whole, key)

    def test_all_types_and_ways_to_read(self):
        """Random keys for variables of all types, in all kinds of files, by all calls that take a key."""
        rng, numbers = random.Random(8), np.random.default_rng(8)
        shapes = [(), (1,), (17,), (6, 5, 7), (40, 30), (2, 3, 4, 5)]
        values = {}
        source = self.path("a.nc")
        with netCDF4.Dataset(source, "w") as out:
            for length in {n for shape in shapes for n in shape}:
                out.createDimension(f"d{length}", length)
            out.createDimension("rows", None)
            for kind in "i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 S1".split():
                for number, shape in enumerate([*shapes, (9, 6)]):
                    name, dims = f"{kind}_{number}", [f"d{n}" for n in shape]
                    more = {}
                    if number == len(shapes):
                        dims[0] = "rows"
                    elif shape and rng.random() < 0.5:
                        more = dict(zlib=rng.random() < 0.6, chunksizes=[max(1, n // rng.randint(1, 4)) for n in shape])
                    v = out.createVariable(name, kind, dims, **more)
                    v.set_auto_maskandscale(False)
                    if kind == "S1":
                        values[name] = numbers.choice(np.frombuffer(b"abcdefg", "S1"), shape)
                    elif kind[0] == "f":
                        values[name] = np.asarray(numbers.normal(0, 100, shape), kind)
                    else:
                        limits = np.iinfo(kind)
                        values[name] = np.asarray(numbers.integers(limits.min, limits.max, shape, kind, endpoint=True))
                    v[...] = values[name]
        variables = [(nmb.open(source), "")]
        for name, options in (("plain", {}), ("zstd", {"codec": "zstd", "shuffle": True}), ("view", {"hdf5_view": "on"})):
            nmb.merge(source, self.path(name + ".nmb"), originals=False, sync=False, **options)
            variables += [(nmb.open(self.path(name + ".nmb")), "a"), (nmb.open(self.path(name + ".nmb"), verify=False), "a")]
        nmb.convert(source, self.path("b.nc"), to="cdf5", sync=False)
        variables.append((nmb.open(self.path("b.nc")), ""))
        for _ in range(900):
            file, block = rng.choice(variables)
            name, whole = rng.choice(list(values.items()))
            v, key = file.block(block)[name], random_key(rng, whole.shape)
            what = f"{file.path}: {name}[{key!r}]"
            try:
                expected = whole[key]
            except (IndexError, ValueError):
                with self.assertRaises((IndexError, ValueError), msg=what):
                    v.read(key)
                continue
            found = [v.read(key), file.read_many([(block, name, key)], threads=rng.choice([1, 3]))[0]]
            if isinstance(expected, np.ndarray):
                backward = np.zeros((*expected.shape, 2), whole.dtype)[..., 1]
                for out in (np.zeros(expected.shape, whole.dtype), np.zeros(expected.shape, whole.dtype, order="F"), backward):
                    found.append(v.read(key, out=out))
                    self.assertIs(found[-1], out)
                    found += file.read_many([(block, name, key)], out=[np.zeros_like(out)])
            for one in found:
                self.assertEqual((np.shape(one), one.dtype), (np.shape(expected), whole.dtype), what)
                np.testing.assert_array_equal(one, expected, what)

        for name, whole in values.items():
            file, block = rng.choice(variables)
            rows, count = whole.reshape(whole.shape or (1,)), rng.randint(1, 4)
            for axis in range(rows.ndim):
                found, offsets = file.read_ragged(name, [block] * count, axis=axis, threads=rng.choice([1, 3]))
                np.testing.assert_array_equal(found, np.concatenate([rows] * count, axis), f"{name}, axis {axis}")
                self.assertEqual((found.dtype, offsets.tolist()), (whole.dtype, [i * rows.shape[axis] for i in range(count + 1)]))

    def test_scattered_points_are_not_read_as_a_box(self):
        with netCDF4.Dataset(self.path("a.nc"), "w", format="NETCDF3_64BIT_DATA") as out:
            out.createDimension("x", 3000)
            out.createDimension("y", 400)
            whole = np.arange(1200000, dtype="i4").reshape(3000, 400)
            out.createVariable("v", "i4", ("x", "y"))[...] = whole
        v = nmb.open(self.path("a.nc"))["v"]
        rng = np.random.default_rng(5)
        i, j = rng.integers(0, 3000, 500), rng.integers(0, 400, 500)
        np.testing.assert_array_equal(v[i, j], whole[i, j])
        np.testing.assert_array_equal(v[i[:300], 3], whole[i[:300], 3])
        np.testing.assert_array_equal(v[i[:20, None], j[None, :30]], whole[i[:20, None], j[None, :30]])
        np.testing.assert_array_equal(v.oindex[i[:50], j[:60]], whole[np.ix_(i[:50], j[:60])])
        np.testing.assert_array_equal(v.oindex[::-7, j], whole[::-7, j])
        np.testing.assert_array_equal(v[[0, 2999]], whole[[0, 2999]])

    def test_what_is_refused(self):
        write_netcdf(self.path("a.nc"), "NETCDF3_CLASSIC")
        f = nmb.open(self.path("a.nc"))
        v = f["temperature"]
        for key in (None, (0, None), True, (Ellipsis, Ellipsis), (0, 0, 0, 0), 6, [6], "units", 1.5, np.zeros(5, bool)):
            with self.assertRaises((IndexError, ValueError), msg=repr(key)):
                v[key]
        with self.assertRaises(nmb.SelectionError):
            v.oindex[[[0]]]
        with self.assertRaises(TypeError):
            len(f["scalar"])

    def test_reading_into_arrays(self):
        values = write_netcdf(self.path("a.nc"), "NETCDF4")
        v = nmb.open(self.path("a.nc"))["temperature"]
        whole = values["temperature"]
        out = np.zeros((6, 5, 7), "f4")
        self.assertIs(v.read(out=out), out)
        np.testing.assert_array_equal(out, whole)
        wide = np.zeros((2, 7), "f8")
        v.read((slice(None, None, -5), 2), out=wide)
        np.testing.assert_array_equal(wide, whole[::-5, 2])
        columns = np.zeros((7, 6), "f4", order="F")
        v.read((slice(None), 0), out=columns.T)
        np.testing.assert_array_equal(columns, whole[:, 0].T)
        with self.assertRaises(ValueError):
            v.read(out=np.zeros(3))
        whole_numbers = nmb.open(self.path("a.nc"))["count"]
        for wrong, other in ((v, "i2"), (whole_numbers, "i2"), (whole_numbers, "f4"), (whole_numbers, "u4")):
            for name in (slice(None), slice(None, None, -1)):  # read into the array, and copied
                with self.assertRaises(TypeError, msg=other):
                    wrong.read(name, out=np.zeros(wrong.shape, other))
        v.read(out=(rounded := np.zeros((6, 5, 7), "f2")))
        np.testing.assert_array_equal(rounded, whole.astype("f2"))
        fixed = np.zeros((6, 5, 7), "f4")
        fixed.flags.writeable = False
        for key in (slice(None), slice(None, None, -1)):
            with self.assertRaises(ValueError):
                v.read(key, out=fixed)
        with self.assertRaises(TypeError):
            v.read(out=np.zeros((6, 5, 7), "f4"), masked=True)
        masked = np.ma.masked_all((6, 5, 7), "f4")
        self.assertIs(v.read(out=masked), masked)
        self.assertFalse(np.ma.getmaskarray(masked).any())
        many = nmb.open(self.path("a.nc")).read_many
        with self.assertRaises(ValueError):
            many([("", "temperature", (0, 0))], out=[np.zeros((3, 7), "f4")])  # not repeated in each row
        shifted = np.zeros(6 * 5 * 7 * 4 + 1, "u1")[1:].view("f4").reshape(6, 5, 7)
        for odd in (shifted, np.zeros((7, 5, 6), "f4").T):
            np.testing.assert_array_equal(v.read(out=odd), whole)
            np.testing.assert_array_equal(many([v], out=[odd])[0], whole)
        np.testing.assert_array_equal(np.asarray(v), whole)
        np.testing.assert_array_equal(np.array(v, dtype="f8"), whole.astype("f8"))
        np.testing.assert_array_equal(np.stack(list(v)), whole)
        np.testing.assert_array_equal(np.from_dlpack(v[...]), whole)


if __name__ == "__main__":
    unittest.main()
