"""Selections of variables select what numpy selects from the whole array."""

import random
import unittest

import numpy as np
from support import FolderTest, needs_netcdf4, nmb, write_netcdf


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

    def test_scattered_points_are_not_read_as_a_box(self):
        with __import__("netCDF4").Dataset(self.path("a.nc"), "w", format="NETCDF3_64BIT_DATA") as out:
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
        with self.assertRaises(TypeError):
            v.read(out=np.zeros((6, 5, 7), "i2"))
        np.testing.assert_array_equal(np.asarray(v), whole)
        np.testing.assert_array_equal(np.array(v, dtype="f8"), whole.astype("f8"))
        np.testing.assert_array_equal(np.stack(list(v)), whole)
        np.testing.assert_array_equal(np.from_dlpack(v[...]), whole)


if __name__ == "__main__":
    unittest.main()
