"""Damaged and cut files raise nmb.Error with a file and, where there is one, an offset: never another exception, and never
wrong values."""

import random
import unittest

import numpy as np
from support import CORPUS, FolderTest, needs_corpus, needs_netcdf4, nmb, write_netcdf

MOST_VALUES = 1 << 22


def read_all(path):
    """Reads everything that is small enough. Returns the number of variables."""
    count = 0
    with nmb.open(path) as file:
        for block in file.blocks:
            for name in block.attrs:
                block.attrs[name]
            repr(block)
            for variable in block.variables.values():
                for name in variable.attrs:
                    variable.attrs[name]
                variable.fill_value
                if variable.size <= MOST_VALUES:
                    variable[...]
                count += 1
    return count


class DamagedReadsTest(FolderTest):
    @needs_corpus
    def test_the_damaged_files_of_the_corpus(self):
        raised = 0
        for path in sorted((CORPUS / "bad").rglob("*")):
            if not path.is_file():
                continue
            with self.subTest(path=path.name):
                try:
                    read_all(path)
                except nmb.Error as error:
                    raised += 1
                    self.assertEqual(error.file, str(path), str(error))
                    self.assertTrue(str(error))
        self.assertGreater(raised, 50)

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
                read_all(cut)
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
            content[at] ^= 1 << rng.randrange(8)
            with open(flipped, "wb") as file:
                file.write(content)
            content[at] ^= 0xFF & (content[at] ^ open(path, "rb").read()[at])
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
