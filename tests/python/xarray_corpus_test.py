"""xarray's engine nmb gives what the engines netcdf4 and h5netcdf give for real files: the same data sets with the same encoding,
for the file as it is, for an NMB file that was made from it, and for one with an HDF5 view."""

import os
import pickle
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
from support import CORPUS, FolderTest, needs_corpus, needs_netcdf4, nmb

try:
    import xarray as xr
except ImportError:
    xr = None
try:
    import h5netcdf
except ImportError:
    h5netcdf = None

HERE = Path(__file__).resolve().parent
MOST_BYTES = 20 << 20
# What the peers give differs for a reason of their own: one of two names of a file, an object, and why.
KNOWN = {
    ("flavored_vlarrays-format1.6.h5", "vlarray2"): "netCDF4 reads bytes of texts in sequences",
    ("compound-dtype-complex.h5", ">c8"): "netCDF4 shows complex numbers as compounds",
    ("compound-dtype-complex.h5", ">c16"): "netCDF4 shows complex numbers as compounds",
    ("bounds_ref_v112_v112.h5", ""): "references to regions need HDF5 1.12",
}
# Values that nmb refuses: they lie in other files, which are not there, or need a filter that the HDF5 library does not have.
REFUSED = ("other files", "finds no plug-in", "was not installed", "HDF5 before 1.8")
# Older engines give fewer encodings, and nothing for enums, texts and sequences.
OLD = xr is not None and not hasattr(xr, "DataTree")
KINDS = os.environ.get("NMB_CORPUS_KINDS", "classic netcdf4 hdf5 hep cgns").split()
# Where the values were read from.
OWN_ENCODING = {"source"}


def read_files(engine, paths, folder):
    """What an engine gives for each path; a text for a path at which it crashed."""
    folder.mkdir()
    left = list(range(len(paths)))
    crashed = {}
    while left:
        done = subprocess.run(
            [sys.executable, HERE / "xarray_reader.py", engine, folder],
            input="".join(f"{i}\t{paths[i]}\n" for i in left),
            text=True,
            capture_output=True,
        )
        if done.returncode == 0:
            break
        at = int((folder / "at").read_text())
        crashed[at] = f"crashed with exit code {done.returncode}: {done.stderr[-300:]}"
        left = [i for i in left if i > at]
    return [{"": crashed[i]} if i in crashed else pickle.loads((folder / f"{i}.pickle").read_bytes()) for i in range(len(paths))]


def same_value(ours, theirs):
    if isinstance(ours, np.dtype) and isinstance(theirs, np.dtype) and ours.names and theirs.names:
        # Offsets and alignment are those in memory.
        return ours.names == theirs.names and all(
            ours[n].base.newbyteorder("=") == theirs[n].base.newbyteorder("=") or bool(ours[n].base.names) for n in ours.names
        )
    if isinstance(ours, np.dtype) and isinstance(theirs, np.dtype):
        meta = [[dict(one.metadata or {}).get(key) for key in ("enum", "enum_name")] for one in (ours, theirs)]
        return (ours == theirs and (OLD or meta[0] == meta[1])) or (OLD and theirs.kind == "O") or (
            OLD and ours.newbyteorder("=") == theirs.newbyteorder("=")
        )
    if ours is theirs or (not isinstance(ours, np.ndarray) and ours in (False, 0) and theirs in (False, 0)):
        return True
    if isinstance(ours, (str, type, dict)) or isinstance(theirs, (str, type, dict)) or ours is None:
        return ours == theirs
    return np.shape(ours) == np.shape(theirs) and (
        np.array_equal(np.asarray(ours), np.asarray(theirs)) or bool(np.all(ours != ours) and np.all(theirs != theirs))
    )


def plain(ds):
    """The variables and unlimited dimensions in a form in which engines can be compared. Dimensions without names get one from
    their length, because engines number them in different orders. Texts of fixed length are objects without their padding."""

    def named(dim):
        return f"unnamed_{ds.sizes[dim]}" if str(dim).startswith("phony_dim_") else dim

    variables = {}
    for name, variable in ds.variables.items():
        dims = [named(dim) for dim in variable.dims]
        dims = [dim if dims.count(dim) == 1 else f"{dim}_{axis}" for axis, dim in enumerate(dims)]
        values = variable.values
        encoding = {k: v for k, v in variable.encoding.items() if k not in OWN_ENCODING}
        if encoding.get("preferred_chunks"):  # by axis: engines number dimensions without names in different orders
            encoding["preferred_chunks"] = tuple(encoding["preferred_chunks"].get(dim) for dim in variable.dims)
        if values.dtype.kind in "SUO" and all(isinstance(one, (str, bytes)) for one in values.reshape(-1).tolist()):
            texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values.reshape(-1).tolist()]
            if values.dtype.kind in "SU" and not encoding.get("char_dim_name"):
                encoding = {}  # xarray itself drops that of strings
            values = np.array([one.rstrip(" ") for one in texts] + [None], object)[:-1].reshape(values.shape)
        variables[name] = xr.Variable(dims, values, variable.attrs, encoding)
    return variables, {dim for dim in ds.encoding["unlimited_dims"] if not str(dim).startswith("phony_dim_")}


def has_text(dtype):
    """Whether a compound has texts of fixed length in it."""
    return bool(dtype.names) and any(dtype[n].base.kind == "S" and dtype[n].base.itemsize > 1 for n in dtype.names)


def differences(ours, theirs):
    """What differs between two data sets: texts by object, which is an attribute, a variable or "unlimited"."""
    out = {}
    a, unlimited = plain(ours)
    b, their_unlimited = plain(theirs)
    if unlimited != their_unlimited:
        out["unlimited"] = f"{unlimited} {their_unlimited}"
    if set(ours.coords) != set(theirs.coords):
        out["coordinates"] = f"{set(ours.coords)} {set(theirs.coords)}"
    for key in ours.attrs.keys() | theirs.attrs.keys():
        if not xr.Dataset(attrs={"a": ours.attrs.get(key)}).identical(xr.Dataset(attrs={"a": theirs.attrs.get(key)})):
            out["@" + key] = f"{ours.attrs.get(key)!r} {theirs.attrs.get(key)!r}"
    for name in a.keys() | b.keys():
        if name not in a or name not in b:
            out[name] = "missing on one side"
            continue
        if not same_variable(a[name], b[name]):
            out[name] = f"{a[name]} {b[name]}"
            continue
        one, two = a[name].encoding, b[name].encoding
        keys = two.keys() if OLD else one.keys() | two.keys()
        if not two.get("preferred_chunks"):  # the engine nmb proposes parts of values that are not stored in chunks
            keys = keys - {"preferred_chunks"}
        wrong = {k: (one.get(k, "-"), two.get(k, "-")) for k in keys if not same_value(one.get(k, 0), two.get(k, 0))}
        if wrong:
            out[name] = f"encoding: {wrong}"
    return out


def same_objects(ours, theirs):
    """Whether values that may have arrays and compounds in them are equal. References are equal to everything."""
    if "Reference" in type(theirs).__name__:
        return True
    if isinstance(ours, (str, bytes)) or isinstance(theirs, (str, bytes)):
        texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in (ours, theirs)]
        return texts[0] == texts[1]
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape:
        return False
    if a.dtype.names:
        return a.dtype.names == b.dtype.names and all(same_objects(a[name], b[name]) for name in a.dtype.names)
    if a.dtype.kind != "O" and b.dtype.kind != "O":
        if (a.dtype.kind == "V") != (b.dtype.kind == "V"):
            return False
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if a.ndim == 0:
        return same_objects(a.item(), b.item()) if isinstance(ours, np.ndarray) else bool(ours == theirs)
    return all(same_objects(x, y) for x, y in zip(a.reshape(-1), b.reshape(-1)))


def same_variable(ours, theirs):
    if ours.values.dtype.kind in "OV":  # parts may be arrays
        return (
            ours.dims == theirs.dims
            and xr.Variable((), 0, ours.attrs).identical(xr.Variable((), 0, theirs.attrs))
            and same_objects(ours.values, theirs.values)
        )
    return ours.identical(theirs) and ours.dtype == theirs.dtype


@needs_corpus
@needs_netcdf4
@unittest.skipUnless(xr, "xarray is not installed")
class XarrayCorpusTest(FolderTest):
    def converted(self, paths, view):
        """NMB files made from files; None where this is refused, which is listed."""
        out = []
        folder = self.folder / f"view_{view}"
        folder.mkdir()
        for i, path in enumerate(paths):
            to = str(folder / f"{i}.nmb")
            try:
                nmb.convert(path, to, hdf5_view=view, sync=False, check=False)
            except nmb.Error as error:
                self.refused.append(f"{path}: not converted (view {view}): {error}")
                to = None
            out.append(to)
        return out

    def test_corpus(self):
        paths = [
            str(path)
            for kind in KINDS
            for path in sorted((CORPUS / kind).rglob("*"))
            if path.is_file() and path.stat().st_size <= MOST_BYTES
        ]
        if OLD and not os.environ.get("NMB_ALL"):
            paths = paths[::3]  # all of them are for the newest packages
        peers = {"netcdf4": read_files("netcdf4", paths, self.folder / "p1")}
        if h5netcdf:
            peers["h5netcdf"] = read_files("h5netcdf", paths, self.folder / "p2")
        wrong, only, equal, self.refused = [], [], {}, []
        for variant, files in {
            "as it is": paths,
            "converted": self.converted(paths, "off"),
            "with a view": self.converted(paths, "on"),
        }.items():
            have = [i for i, path in enumerate(files) if path]
            ours = dict(zip(have, read_files("nmb", [files[i] for i in have], self.folder / variant.replace(" ", "_"))))
            count = equal.setdefault(variant, {"files": len(have), "groups": 0})
            for i in have:
                for group in dict.fromkeys([g for p in peers.values() for g in p[i]] + list(ours[i])):
                    what = f"{paths[i]} [{group}] {variant}"
                    found = ours[i].get(group, "no such group")
                    usable = {e: p[i][group] for e, p in peers.items() if not isinstance(p[i].get(group, ""), str)}
                    if not usable:
                        only.append(f"{what}: {found if isinstance(found, str) else 'read by nmb alone'}")
                        continue
                    if isinstance(found, str) and (Path(paths[i]).name, "") in KNOWN:
                        self.refused.append(f"{what}: {found}")
                        continue
                    if isinstance(found, str):
                        wrong.append(f"{what}: {found}")
                        continue
                    found, unread = found
                    unsupported = {name for name, error in unread.items() if any(one in error for one in REFUSED)}
                    self.refused.extend(f"{what}: {name}: {unread[name]}" for name in unsupported)
                    diffs = {}
                    for engine, (ds, errors) in usable.items():
                        same = found.drop_vars([name for name in errors if name in found.variables])
                        try:
                            xr.testing.assert_identical(same, ds)
                            exact = True
                        except (AssertionError, TypeError, ValueError):
                            exact = False
                        diffs[engine] = differences(same, ds.drop_vars(unsupported & set(ds.variables)))
                        for name in errors:
                            diffs[engine].setdefault(name, errors[name])
                        if exact and not diffs[engine].keys() - errors.keys():
                            count[engine] = count.get(engine, 0) + 1
                            if not errors:
                                break
                    else:
                        count["parts of both"] = count.get("parts of both", 0) + 1
                    count["groups"] += 1
                    # Each object must be equal to that of one engine, unless no engine reads it.
                    for item in set.intersection(*(set(d) for d in diffs.values())):
                        name_of = Path(paths[i]).name
                        if (name_of, item) in KNOWN:
                            self.refused.append(f"{what}: {item}: {KNOWN[name_of, item]}")
                            continue
                        if item in found.variables and has_text(found[item].dtype):
                            self.refused.append(f"{what}: {item}: netCDF4 shows one character of texts in compounds")
                            continue
                        in_general = item[:1] == "@" or item in ("unlimited", "coordinates")
                        if not in_general and all(item in errors or item not in ds.variables for ds, errors in usable.values()):
                            only.append(f"{what}: {item}: read by nmb alone")
                        else:
                            wrong.append(f"{what}: {item}: " + " | ".join(f"{e}: {d[item]}" for e, d in diffs.items()))
        print(*only, *self.refused, sep="\n", file=sys.stderr)
        print(equal, f"{len(only)} groups that no peer reads; {len(wrong)} that differ", file=sys.stderr)
        self.assertFalse(wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
