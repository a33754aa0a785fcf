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
KINDS = os.environ.get("NMB_CORPUS_KINDS", "classic netcdf4 hdf5 hep cgns").split()
# Not a property of the values: where they were read from, and parts that the engine nmb proposes for values without chunks.
OWN_ENCODING = {"source", "preferred_chunks"}


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
    if isinstance(ours, np.dtype) and isinstance(theirs, np.dtype):
        meta = [dict(one.metadata or {}).get("enum") for one in (ours, theirs)]
        return ours == theirs and meta[0] == meta[1]
    if ours is theirs or (not isinstance(ours, np.ndarray) and ours in (False, 0) and theirs in (False, 0)):
        return True
    if isinstance(ours, (str, type, dict)) or isinstance(theirs, (str, type, dict)) or ours is None:
        return ours == theirs
    return np.shape(ours) == np.shape(theirs) and (
        np.array_equal(np.asarray(ours), np.asarray(theirs)) or bool(np.all(ours != ours) and np.all(theirs != theirs))
    )


def differences(ours, theirs, errors):
    """What differs between two data sets, as texts. Variables that a peer cannot read do not count."""
    out = []
    ours = ours.drop_vars([name for name in errors if name in ours.variables])
    try:
        xr.testing.assert_identical(ours, theirs)
    except (AssertionError, TypeError, ValueError) as error:
        out.append(str(error))
    if ours.encoding.get("unlimited_dims") != theirs.encoding.get("unlimited_dims"):
        out.append(f"unlimited: {ours.encoding.get('unlimited_dims')} {theirs.encoding.get('unlimited_dims')}")
    for name in set(ours.variables) & set(theirs.variables):
        a, b = ours.variables[name].encoding, theirs.variables[name].encoding
        keys = (set(a) | set(b)) - OWN_ENCODING
        if "preferred_chunks" in b:
            keys.add("preferred_chunks")
        wrong = {k: (a.get(k, "-"), b.get(k, "-")) for k in keys if not same_value(a.get(k, 0), b.get(k, 0))}
        if wrong:
            out.append(f"{name}: encoding: {wrong}")
        if ours.variables[name].dtype != theirs.variables[name].dtype:
            out.append(f"{name}: dtype: {ours.variables[name].dtype} {theirs.variables[name].dtype}")
    return out


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
                    if isinstance(found, str):
                        wrong.append(f"{what}: {found}")
                        continue
                    found, unread = found
                    skipped = [name for name in found.variables if all(name not in ds.variables for ds, _ in usable.values())]
                    only.extend(f"{what}: {name}, {found[name].dtype}: read by nmb alone" for name in skipped)
                    found = found.drop_vars(skipped)
                    diffs = {e: differences(found, ds, errors) for e, (ds, errors) in usable.items()}
                    engine = next((e for e, d in diffs.items() if not d), None)
                    if engine is None:
                        wrong.append(f"{what}: {unread or ''}\n" + "\n".join(f"  {e}: {t}" for e, d in diffs.items() for t in d))
                        continue
                    count["groups"] += 1
                    count[engine] = count.get(engine, 0) + 1
        print(*only, *self.refused, sep="\n", file=sys.stderr)
        print(equal, f"{len(only)} groups that no peer reads; {len(wrong)} that differ", file=sys.stderr)
        self.assertFalse(wrong, "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
