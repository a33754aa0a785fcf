"""Every variable and attribute of real files is what netCDF4-python and h5py give, as it is and packed."""

import unittest
import warnings

import numpy as np
from support import CORPUS, FolderTest, h5py, is_same, needs_corpus, needs_h5py, needs_netcdf4, netCDF4, nmb, plain

MOST_BYTES = 20 << 20  # of a file that is compared
MOST_VALUES = 1 << 28  # bytes of an array
# Attributes that netCDF and dimension scales need for themselves.
INTERNAL = {
    "CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties",
    "_nc3_strict",
}  # fmt: skip


def corpus_files(*kinds):
    for kind in kinds:
        for path in sorted((CORPUS / kind).rglob("*")):
            if path.is_file() and path.stat().st_size <= MOST_BYTES:
                yield path


def attribute_of(value):
    """An attribute as the package gives it."""
    if isinstance(value, list):
        return np.array(value, object)
    if isinstance(value, (str, bytes)):
        return plain(value).rstrip("\0")
    value = np.asarray(value)
    return value.reshape(-1)[0] if value.size == 1 and value.ndim <= 1 else value


@needs_corpus
class CorpusValuesTest(FolderTest):
    def compare_netcdf(self, path, ours, prefix):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root = netCDF4.Dataset(path)
        with root:
            root.set_auto_maskandscale(False)
            root.set_auto_chartostring(False)
            for group in self.groups(root):
                name = group.path.strip("/")
                block = ours.block("/".join(part for part in (prefix, name) if part))
                # netCDF4-python ends names at a NUL, and leaves out variables of types that it does not support.
                names = [one.split("\0")[0] for one in block.variables]
                self.assertEqual([one for one in names if one in group.variables], list(group.variables), f"{path}: {name}")
                self.assertTrue(all(block[one].dtype.kind in "VO" for one in names if one not in group.variables), f"{path}")
                self.compare_netcdf_attributes(f"{path}: {name}", block.attrs, group)
                for variable in group.variables.values():
                    self.compare_variable(path, block[list(block)[names.index(variable.name)]], variable)

    def groups(self, group):
        yield group
        for below in group.groups.values():
            yield from self.groups(below)

    def compare_netcdf_attributes(self, what, ours, theirs):
        names = {name.split("\0")[0]: name for name in ours}
        for key in theirs.ncattrs():
            try:
                value = theirs.getncattr(key)
            except KeyError as error:  # a type that netCDF4-python does not support
                self.unread.append(f"{what}@{key}: {error}")
                continue
            found = ours[names[key]]
            self.assertTrue(is_same(found, attribute_of(value)), f"{what}@{key}: {found!r} {value!r}")

    def compare_variable(self, path, ours, theirs):
        what = f"{path}: {ours.full_name}"
        self.assertEqual(ours.dims, theirs.dimensions, what)
        self.compare_netcdf_attributes(what, ours.attrs, theirs)
        try:
            values = theirs[...]
        except (RuntimeError, OSError, ValueError, TypeError, IndexError) as error:
            self.unread.append(f"{what}: {error}")
            return
        if not theirs.dimensions and isinstance(theirs.datatype, netCDF4.VLType):  # given without the array around it
            values, inner = np.empty((), object), values
            values[()] = inner
        elif not theirs.dimensions and theirs.dtype == "S1" and netCDF4.__version__ < "1.7":
            self.unread.append(f"{what}: netCDF4 gives what the memory had, if the file has no value")
            return
        found = ours[...]
        if found.shape != values.shape:  # netCDF shows fill values behind the end of an unlimited dimension
            values = values[tuple(slice(n) for n in found.shape)]
        if isinstance(theirs.datatype, netCDF4.EnumType):
            self.assertEqual(ours.enum, dict(theirs.datatype.enum_dict), what)
        self.assertTrue(is_same(found, values), f"{what}: {found!r} {values!r}")

    def compare_hdf5(self, path, ours, prefix):
        with h5py.File(path) as theirs:

            def visit(name, item):
                name = "/".join(part for part in (prefix, name) if part)
                if isinstance(item, h5py.Datatype):
                    return
                if isinstance(item, h5py.Dataset):
                    try:
                        one = ours.variable(name)
                    except KeyError:
                        # Only a dimension, or an object that has another name too.
                        self.assertTrue("CLASS" in item.attrs or h5py.h5o.get_info(item.id).rc > 1, name)
                        return
                    self.compare_data_set(path, one, item)
                else:
                    one = ours.block(name)
                self.compare_attributes(path, name, one.attrs, item)

            try:
                theirs.visititems(visit)
            except KeyError as error:
                if "Unable to" not in str(error):
                    raise
                self.unread.append(f"{path}: {error}")  # h5py cannot open an object
            self.compare_attributes(path, prefix, ours.block(prefix).attrs, theirs)

    def compare_data_set(self, path, ours, theirs):
        what = f"{path}: {ours.full_name}"
        if theirs.shape and theirs.size * theirs.dtype.itemsize > MOST_VALUES:
            return
        try:
            if theirs.dtype.kind == "O" and h5py.check_ref_dtype(theirs.dtype):
                return
            values = theirs[...]
        except (OSError, TypeError, ValueError) as error:
            self.unread.append(f"{what}: {error}")
            return
        if theirs.shape is None:
            self.assertTrue(ours.storage.is_null, what)
            return
        self.assertEqual(ours.shape, theirs.shape, what)
        try:
            found = ours[...]
        except nmb.UnsupportedError as error:
            self.unread.append(f"{what}: {error}")
            return
        stored = theirs.id.get_type()
        if isinstance(stored, h5py.h5t.TypeIntegerID) and stored.get_precision() < 8 * stored.get_size():
            values = values.astype(found.dtype)  # the type follows from the bits, as in netCDF, and not from the bytes
        self.assertTrue(is_same(found, values), f"{what}: {found!r} {values!r}")

    def compare_attributes(self, path, name, ours, item):
        for key in item.attrs:
            if key in INTERNAL:
                continue
            try:
                value = item.attrs[key]
            except (OSError, TypeError, ValueError, KeyError):
                continue
            if isinstance(value, h5py.Empty) or (isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.size
                                                 and isinstance(value.flat[0], (h5py.Reference, h5py.RegionReference))):
                continue
            if isinstance(value, (h5py.Reference, h5py.RegionReference)):
                continue
            if isinstance(value, np.ndarray) and value.dtype.kind == "S" and value.dtype.itemsize == 1:
                value = value.tobytes().rstrip(b"\0")
            found = ours[key]
            expected = attribute_of(value)
            if isinstance(expected, np.ndarray) and expected.dtype.kind == "S":
                expected = expected.astype(object)
            self.assertTrue(is_same(found, expected), f"{path}: {name}@{key}: {found!r} {value!r}")

    def all_of(self, compare, *kinds):
        """Compares all files: as they are, and packed. Lists those that another program or this one refuses."""
        self.unread = []
        count, refused = 0, []
        for path in corpus_files(*kinds):
            count += 1
            with self.subTest(path=str(path)):
                try:
                    file = nmb.open(path)
                except (nmb.UnsupportedError, nmb.DamagedError) as error:
                    refused.append(f"{path}: {error}")
                    continue
                except nmb.UnknownKindError:
                    continue
                compare(path, file, "")
                packed = self.folder / "packed.nmb"
                try:
                    nmb.merge(path, packed, block_name="x" if file.kind.startswith("CDF") else "x/{group}", replace=True,
                              originals=False, sync=False)
                except nmb.Error as error:
                    refused.append(f"{path}: {error}")
                    continue
                compare(path, nmb.open(packed), "x")
        print(f"{count} files; not compared: {len(self.unread)}; refused: {len(refused)}", *self.unread, *refused, sep="\n")
        self.assertGreater(count, 0)
        self.assertLessEqual(len(refused), 5, refused)

    @needs_netcdf4
    def test_classic(self):
        self.all_of(self.compare_netcdf, "classic")

    @needs_netcdf4
    def test_netcdf4(self):
        self.all_of(self.compare_netcdf, "netcdf4")

    @needs_h5py
    def test_hdf5(self):
        self.all_of(self.compare_hdf5, "hdf5", "hep", "cgns")


if __name__ == "__main__":
    unittest.main()
