"""Damaged and cut files raise nmb.Error with a file and, where there is one, an offset: never another exception, never a crash or
a hang, and never wrong values."""

import json
import os
import random
import select
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
from support import CORPUS, SANITIZED, FolderTest, h5py, needs_corpus, needs_h5py, needs_netcdf4, nmb, write_netcdf

READER = Path(__file__).resolve().parent / "damaged_reader.py"
SECONDS = 300 if SANITIZED else 60  # for one file
ROUNDS = 400 if os.environ.get("NMB_ALL") else 16  # damaged copies of each file


def read_all(paths, tools=None):
    """What damaged_reader.py gives for each path. After a crash or a time-out, another process goes on with the next path."""
    found = {}
    left = [str(path) for path in paths]
    while left:
        command = [sys.executable, READER, *(["--tools", tools] if tools else [])]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with child:
            for path in list(left):
                child.stdin.write(path + "\n")
                child.stdin.flush()
                ready, _, _ = select.select([child.stdout], [], [], SECONDS)
                line = child.stdout.readline() if ready else ""
                left.remove(path)
                if not line:
                    child.kill()
                    what = "a crash" if ready else "a hang"
                    found[path] = {"failures": [["all", what, path, None, "", child.stderr.read()[-2000:]]], "values": {}}
                    break
                found[path] = json.loads(line)
            child.stdin.close()
    return found


class DamagedReadsTest(FolderTest):
    def check(self, path, found):
        """Fails unless all failures are those of a file that is damaged or not supported."""
        for call, kind, file, offset, name, text in found["failures"]:
            what = f"{path}: {call}: {kind}: {text}"
            self.assertIn(kind, ("DamagedError", "UnsupportedError", "UnknownKindError", "LimitError", "ConflictError"), what)
            self.assertTrue(file.startswith(str(path)), what)  # perhaps in an original
            self.assertIn(str(path), text)
            self.assertTrue(offset is None or offset >= 0, what)
            if call.startswith(("values", "ragged", "masked", "backward")):
                self.assertTrue(name, what)

    @needs_corpus
    def test_the_damaged_files_of_the_corpus(self):
        paths = [path for kind in ("bad", "hostile") for path in sorted((CORPUS / kind).rglob("*")) if path.is_file()]
        found = read_all(paths, self.path("."))
        self.assertEqual(len(found), len(paths))
        values = 0
        for path, one in found.items():
            with self.subTest(path=path):
                self.check(path, one)
                values += len(one["values"])
                if one["values"] and h5py:
                    self.same_as_h5py(path, one["values"])
        self.assertGreater(sum(1 for one in found.values() if one["failures"]), 50)
        self.assertGreater(values, 10)

    def same_as_h5py(self, path, values):
        code = (
            "import h5py, json, sys\n"
            "from damaged_reader import digest_of\n"
            "with h5py.File(sys.argv[1]) as file:\n"
            "    for name in json.loads(sys.argv[2]):\n"
            "        try: values, stored = file[name][...], file[name].id.get_type()\n"
            "        except Exception: continue\n"
            "        if hasattr(stored, 'get_precision') and stored.get_precision() < 8 * stored.get_size(): continue  # another type\n"
            "        if values.dtype.kind in 'iufc': values = values.astype(values.dtype.newbyteorder('='))\n"
            "        print(json.dumps([name, digest_of(values)]), flush=True)\n"
        )
        command = [sys.executable, "-c", code, path, json.dumps(list(values))]
        done = subprocess.run(command, cwd=READER.parent, capture_output=True, text=True, timeout=SECONDS)
        for line in done.stdout.splitlines():
            name, digest = json.loads(line)
            self.assertEqual(values[name], digest, name)

    @needs_netcdf4
    @needs_h5py
    def test_damaged_copies(self):
        """Files of all kinds, cut, longer, and with changed bytes: read by every call, and by the tools."""
        path, _ = self.archive()
        files = [self.path("f0.nc"), self.path("f1.nc"), path]
        for name, options in (("zstd", {"codec": "zstd", "statistics": "histogram"}), ("view", {"hdf5_view": "on"})):
            nmb.merge(files[:2], self.path(name + ".nmb"), originals=False, sync=False, **options)
            files.append(self.path(name + ".nmb"))
        nmb.merge(files[0], files[-1], append=True, block_name="more", sync=False)
        with h5py.File(self.path("x.h5"), "w") as out:
            out["words"] = ["a", "bb"] * 50
            out.create_dataset("packed", data=np.arange(5000), chunks=(100,), compression="gzip", fletcher32=True)
            out["g/pairs"] = np.zeros(30, [("a", "i4"), ("b", "f8")])
        files.append(self.path("x.h5"))
        whole = read_all(files)
        for path, one in whole.items():
            self.assertEqual(one["failures"], [], path)
        rng = random.Random(11)
        copies = {}
        for path in files:
            content = Path(path).read_bytes()
            for i in range(ROUNDS):
                damaged = bytearray(content)
                how = rng.choice(["cut", "cut", "bits", "bits", "zeros", "more"])
                if how == "cut":
                    del damaged[rng.choice([rng.randrange(len(content)), len(content) - rng.randint(1, 64)]) :]
                elif how == "more":
                    damaged += rng.randbytes(rng.choice([1, 4096]))
                for _ in range(rng.choice([1, 1, 8]) if how == "bits" else 0):
                    damaged[rng.randrange(min(len(damaged), rng.choice([len(content), 4096])))] ^= 1 << rng.randrange(8)
                if how == "zeros":
                    at, length = rng.randrange(len(content)), rng.choice([4, 64, 512])
                    damaged[at : at + length] = bytes(len(content[at : at + length]))
                copy = Path(self.path(f"{i}_{Path(path).name}"))
                copy.write_bytes(damaged)
                copies[str(copy)] = (path, how)
        (self.folder / "tools").mkdir()
        changed = 0
        for copy, one in read_all(copies, self.path("tools")).items():
            path, how = copies[copy]
            with self.subTest(path=path, how=how):
                self.check(copy, one)
                for name, digest in one["values"].items():
                    if digest != whole[path]["values"].get(name):
                        changed += 1
                        # classic files, and values of HDF5 files without a filter, have no checksums
                        self.assertFalse(path.endswith(".nmb"), f"{copy} ({how}): {name}: other values and no error")
                        self.assertIn(how, ("bits", "zeros"), f"{copy}: {name}")
        self.assertGreater(changed, 0)

    def archive(self):
        values = {}
        inputs = []
        for i in range(4):
            path = self.path(f"f{i}.nc")
            for name, value in write_netcdf(path, "NETCDF4" if i % 2 else "NETCDF3_64BIT_DATA", seed=i).items():
                values[f"f{i}/{name}"] = value
            inputs.append(path)
        nmb.merge(inputs, self.path("all.nmb"))
        return self.path("all.nmb"), values

    @needs_netcdf4
    def test_cut_files(self):
        path, _ = self.archive()
        with open(path, "rb") as file:
            content = file.read()
        rng = random.Random(3)
        cut = self.path("cut.nmb")
        for length in [0, 1, 511, 4096, 16384, *(rng.randrange(len(content)) for _ in range(60))]:
            with open(cut, "wb") as file:
                file.write(content[:length])
            with self.assertRaises(nmb.Error) as caught:
                nmb.open(cut)
            self.assertEqual(caught.exception.file, cut)

    @needs_netcdf4
    def test_a_flipped_byte_is_an_error_or_changes_nothing(self):
        path, values = self.archive()
        with open(path, "rb") as file:
            content = bytearray(file.read())
        rng = random.Random(4)
        flipped = self.path("flipped.nmb")
        errors = 0
        for _ in range(150):
            at = rng.randrange(len(content))
            bit = 1 << rng.randrange(8)
            content[at] ^= bit
            with open(flipped, "wb") as file:
                file.write(content)
            content[at] ^= bit
            try:
                with nmb.open(flipped) as file:
                    for name, expected in values.items():
                        np.testing.assert_array_equal(file[name][...], expected, f"byte {at}")
            except nmb.Error as error:
                errors += 1
                self.assertTrue(error.file.startswith(flipped), error.file)  # perhaps in an original
                if isinstance(error, nmb.DamagedError):
                    self.assertTrue(error.rule or error.offset is not None, str(error))
        self.assertGreater(errors, 20)

    @needs_netcdf4
    def test_the_error_names_file_offset_rule_and_object(self):
        path, values = self.archive()
        with open(path, "r+b") as file:
            content = file.read()
            want = values["f0/temperature"].astype(">f4").tobytes()[:40]
            at = content.index(want)
            file.seek(at)
            file.write(b"\0\1\2\3")
        with self.assertRaises(nmb.DamagedError) as caught:
            nmb.open(path)["f0/temperature"][...]
        error = caught.exception
        self.assertEqual((error.code, error.file), ("damaged", path))
        self.assertIn(error.object, ("f0", "f0/temperature"))  # small values are read with their block
        self.assertTrue(error.rule.startswith("R-EX-"))
        self.assertLessEqual(error.offset, at)
        self.assertIsInstance(error, OSError)
        with self.assertRaises(nmb.DamagedError) as caught:
            nmb.open(path)["f0"].read()
        self.assertEqual(caught.exception.object, "f0")


if __name__ == "__main__":
    unittest.main()
