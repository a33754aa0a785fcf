"""Objects of HDF5 files with several names: hard links and soft links show a variable or a group under each name, as netCDF4 and
h5netcdf do."""

import unittest

import numpy as np
from support import FolderTest, h5py, needs_h5py, needs_netcdf4, netCDF4, nmb

try:
    import xarray as xr

    from nmb.xarray import NmbBackendEntrypoint
except ImportError:
    xr = None


def make(path):
    with h5py.File(path, "w") as file:
        x = file.create_dataset("x", data=np.arange(4))
        x.make_scale("x")
        a = file.create_dataset("a", data=np.arange(4.0))
        a.dims[0].attach_scale(x)
        a.attrs["units"] = "K"
        file["hard"] = a
        file["soft"] = h5py.SoftLink("/a")
        file["chain"] = h5py.SoftLink("soft")
        file["y_scale"] = x
        group = file.create_group("g")
        group["v"] = np.arange(3)
        group["below/w"] = np.arange(2)
        group["up"] = h5py.SoftLink("/a")
        group["relative"] = h5py.SoftLink("./below/w")
        file["hard_g"] = group
        file["softly"] = h5py.SoftLink("/g/below")
        file["over"] = h5py.SoftLink("hard_g/below/w")


def show(group, prefix=""):
    """Returns the names of the variables that netCDF4 shows, by the path of their group."""
    out = {prefix.strip("/"): set(group.variables)}
    for name, below in group.groups.items():
        out.update(show(below, f"{prefix}/{name}"))
    return out


@needs_h5py
class OtherNamesTest(FolderTest):
    @needs_netcdf4
    def test_names_are_those_of_netcdf(self):
        path = self.path("names.h5")
        make(path)
        with netCDF4.Dataset(path) as theirs:
            expected = show(theirs)
            dims = {name: variable.dimensions for name, variable in theirs.variables.items() if name != "over"}
        for form in self.forms(path):
            with nmb.open(form) as file:
                for group, names in expected.items():
                    self.assertEqual(set(file.block(group)), names, f"{form}: {group}")
                for name, expected_dims in dims.items():
                    self.assertEqual(file.block("")[name].dims, expected_dims, f"{form}: {name}")
                if xr is not None and hasattr(xr, "DataTree"):
                    shown = NmbBackendEntrypoint().open_groups_as_dict(form)
                    self.assertEqual({name.strip("/") for name in shown}, set(expected), form)
                    self.assertEqual(shown["/hard_g/below"]["w"].values.tolist(), [0, 1])

    def test_the_variable_is_the_same(self):
        path = self.path("same.h5")
        make(path)
        for form in self.forms(path):
            with nmb.open(form) as file:
                root, group = file.block(""), file["g"]
                for name in "hard", "soft", "chain":
                    self.assertIn(name, root)
                    self.same(root[name][1:3], np.array([1.0, 2.0]))
                    self.same(file[name][...], np.arange(4.0))
                    self.assertEqual(root[name].attrs["units"], "K")
                    self.assertEqual(root[name].dims, ("x",))
                self.assertEqual(root["y_scale"].dims, ("y_scale",))
                self.same(group["up"][...], np.arange(4.0))
                self.same(group["relative"][...], np.arange(2))
                self.same(root["over"][...], np.arange(2))
                self.assertEqual(file["hard_g"], group)
                self.assertEqual(file["hard_g/below"], file["g/below"])
                self.same(file["hard_g/below/w"][...], np.arange(2))
                self.same(file["softly"]["w"][...], np.arange(2))
                self.assertEqual(list(file), ["", "g", "g/below"])
                read = root.read()
                self.assertEqual(set(read), set(root))
                self.same(read["soft"], np.arange(4.0))
                self.assertNotIn("hard_g/none", file)

    def test_packed_below_a_block(self):
        path = self.path("packed.h5")
        make(path)
        nmb.merge([path], self.path("packed.nmb"), block_name="far/away/{group}", sync=False)
        with nmb.open(self.path("packed.nmb")) as file:
            root = file["far/away"]
            for name in "hard", "soft", "chain":
                self.same(root[name][...], np.arange(4.0))
            self.same(file["far/away/hard_g/up"][...], np.arange(4.0))
            self.same(file["far/away/softly/w"][...], np.arange(2))

    def test_links_to_nothing(self):
        path = self.path("nothing.h5")
        with h5py.File(path, "w") as file:
            file["a"] = np.arange(4)
            file["dangling"] = h5py.SoftLink("/none/at/all")
            file["itself"] = h5py.SoftLink("itself")
            file["one"] = h5py.SoftLink("/two")
            file["two"] = h5py.SoftLink("/one")
            file["far"] = h5py.ExternalLink("other.h5", "/a")
            file["into"] = h5py.SoftLink("/a/b")
            for i in range(20):
                file[f"link{i}"] = h5py.SoftLink(f"link{i + 1}" if i < 19 else "a")
        longest = set()
        with h5py.File(path) as file:
            for i in range(20):
                try:
                    file[f"link{i}"]
                    longest.add(f"link{i}")
                except (KeyError, RuntimeError):
                    pass
        self.assertLess(1, len(longest))
        for form in self.forms(path):
            with nmb.open(form) as file:
                self.assertEqual(set(file.block("")), {"a"} | longest)
                with self.assertRaises(nmb.MissingError):
                    file["dangling"]

    def test_circles_end(self):
        path = self.path("circle.h5")
        with h5py.File(path, "w") as file:
            group = file.create_group("g")
            group["v"] = np.arange(3)
            group["top"] = file
            group["self"] = group
            group["soft"] = h5py.SoftLink("/g")
            file.create_group("h")["to_g"] = group
            group["to_h"] = file["h"]
        for form in self.forms(path):
            with nmb.open(form) as file:
                self.same(file["g/top/g/soft/self/v"][...], np.arange(3))
            if xr is not None and hasattr(xr, "DataTree"):
                shown = NmbBackendEntrypoint().open_groups_as_dict(form)
                self.assertEqual(set(shown), {"/", "/g", "/h", "/g/to_h", "/h/to_g"})

    def test_a_dimension_has_the_name_of_its_group(self):
        path = self.path("scale.h5")
        with h5py.File(path, "w") as file:
            group = file.create_group("g")
            group["L"] = np.arange(5)
            group["L"].make_scale("L")
            file["z"] = group["L"]
            group["w"] = np.zeros(5)
            group["w"].dims[0].attach_scale(group["L"])
        for form in self.forms(path):
            with nmb.open(form) as file:
                self.assertEqual((file["g/w"].dims, file["g"].dims), (("L",), {"L": 5}), form)
                self.assertEqual(file["z"].dims, ("z",))

    @unittest.skipUnless(xr is not None and hasattr(xr, "DataTree"), "xarray has no DataTree")
    def test_groups_multiply_up_to_a_limit(self):
        path = self.path("many.h5")
        with h5py.File(path, "w") as file:
            for i in range(16):
                group = file.create_group(f"level{i}")
                group["v"] = np.arange(2)
                for name in "left", "right":
                    group[name] = h5py.SoftLink(f"/level{i + 1}")
        with self.assertRaisesRegex(nmb.LimitError, "max_groups"):
            NmbBackendEntrypoint().open_groups_as_dict(path)


if __name__ == "__main__":
    unittest.main()
