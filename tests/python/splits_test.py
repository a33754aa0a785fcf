"""nmb.samples.split: parts are disjoint, have their shares, and stay when a file grows."""

import unittest

import numpy as np
from support import FolderTest, needs_h5py, nmb
from training_resume_test import write_graphs

from nmb.samples import Samples, split

SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}


def names(path, numbers):
    with nmb.open(path) as file:
        blocks = [block.name for block in file.blocks if len(block)]
    return {blocks[number] for number in numbers.tolist()}


class SplitsTest(FolderTest):
    def test_numbers(self):
        parts = split(100_000, SHARES, seed=3)
        self.assertEqual(sorted(np.concatenate(list(parts.values())).tolist()), list(range(100_000)))
        for name, share in SHARES.items():
            self.assertAlmostEqual(len(parts[name]) / 100_000, share, delta=0.005)
            self.assertEqual((parts[name].dtype, (np.diff(parts[name]) > 0).all()), (np.int64, True))
            grown = split(150_000, SHARES, seed=3)[name]
            np.testing.assert_array_equal(grown[grown < 100_000], parts[name])
        self.assertEqual(split(10, SHARES, seed=1)["train"].tolist(), GOLDEN)
        other = split(100_000, SHARES, seed=4)
        both = np.intersect1d(parts["test"], other["test"])
        self.assertAlmostEqual(len(both) / 100_000, 0.01, delta=0.002)
        some = split(1000, {"a": 0.25, "b": 0.25})
        self.assertAlmostEqual(len(some["a"]) + len(some["b"]), 500, delta=60)
        self.assertEqual([len(part) for part in split(50, {"none": 0, "all": 1}).values()], [0, 50])

    def test_wrong_arguments(self):
        for shares, more in (({}, {}), ({"a": 0.8, "b": 0.3}, {}), ({"a": -0.1}, {}), ({"a": 1}, {"seed": -1}), ({"a": 1}, {"by": "name"}),
                             ({"a": 1}, {"by": "block"}), ({"a": float("nan")}, {})):  # fmt: skip
            with self.subTest(shares, **more), self.assertRaises(nmb.UsageError):
                split(10, shares, **more)

    @needs_h5py
    def test_files_that_grow(self):
        files = write_graphs(self.folder)
        whole, grown = self.path("whole.nmb"), self.path("grown.nmb")
        nmb.merge(files[1:], grown)
        before = split(Samples(grown), SHARES, seed=8)
        nmb.merge(files, whole)
        nmb.merge(files[:1], grown, append=True)
        after, direct = split(Samples(grown), SHARES, seed=8), split(Samples(whole), SHARES, seed=8)
        nmb.merge(files[1:], self.path("part.nmb"))
        for name in SHARES:
            part = names(grown, after[name])
            self.assertEqual(part, names(whole, direct[name]))
            self.assertTrue(names(self.path("part.nmb"), before[name]) <= part)
        chosen = Samples(whole, where=direct["train"])
        self.assertEqual(chosen.positions.tolist(), direct["train"].tolist())
        inner = split(chosen, {"a": 0.5, "b": 0.5}, seed=9)
        self.assertEqual(sorted(np.concatenate(list(inner.values())).tolist()), direct["train"].tolist())
        # A list, and a copy.
        with nmb.open(whole) as file:
            blocks = [block for block in file.blocks if len(block)]
            nmb.merge(whole, self.path("train.nmb"), blocks=[blocks[i].name for i in direct["train"]], block_name="{group}")
        self.assertEqual(len(Samples(self.path("train.nmb"))), len(direct["train"]))

    @needs_h5py
    def test_blocks_stay_together(self):
        write_graphs(self.folder)
        samples = Samples(str(self.folder / "run_0.h5"), samples="vars:1")
        by_block = split(samples, {"a": 0.5, "b": 0.5}, by="block")
        for part in by_block.values():
            self.assertEqual(len(np.unique(part // 3)) * 3, len(part))
        by_sample = split(samples, {"a": 0.5, "b": 0.5})
        self.assertNotEqual(len(np.unique(by_sample["a"] // 3)) * 3, len(by_sample["a"]))


GOLDEN = [0, 1, 2, 3, 5, 6, 7, 8, 9]


if __name__ == "__main__":
    unittest.main()
