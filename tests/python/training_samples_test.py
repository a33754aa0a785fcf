"""nmb.samples and nmb.torch: what a sample is, batches, choices, loaders, states of other files."""

import gc
import os
import pickle
import threading
import time
import unittest

import numpy as np
from support import FolderTest, h5py, measures_memory, needs_h5py, needs_netcdf4, netCDF4, nmb, open_fds, python, resident
from training_resume_test import needs_torch, torch, write_graphs

import nmb.samples
from nmb.samples import Batches, Loader, Samples

if torch:
    import nmb.torch

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
except ImportError:
    StatefulDataLoader = None

AXES = {"edge_index": 1}


@needs_h5py
class TrainingSamplesTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.files = write_graphs(self.folder)
        self.file = self.path("graphs.nmb")
        nmb.merge(self.files, self.file, statistics="basic")
        with nmb.open(self.file) as file:
            self.expected = [block.read() for block in file.blocks if len(block)]

    def check(self, sample, number):
        for name, array in self.expected[number].items():
            np.testing.assert_array_equal(sample[name], np.atleast_1d(array), f"{number} {name}")
            self.assertEqual(sample[name].dtype, array.dtype)

    def test_blocks(self):
        samples = Samples(self.file, axis=AXES)
        self.assertEqual((len(samples), samples.variables), (90, ["edge_index", "x", "y"]))
        self.assertEqual(samples.file.totals.blocks, 93)  # root groups are no samples
        for number in (0, 29, 30, 89):
            self.check(samples[number], number)
        self.check(samples[-1], 89)
        for many in ([5, 89, 5], np.array([7, 3], "i4"), range(3), slice(80, None, 3)):
            batch = samples[many]
            numbers = list(range(*many.indices(90)) if isinstance(many, slice) else many)
            self.assertEqual((len(batch), batch.samples.tolist()), (len(numbers), numbers))
            for sample, number in zip(batch, numbers):
                self.check(sample, number)
            self.assertEqual(batch.offsets["x"].tolist(), np.cumsum([0] + [len(self.expected[n]["x"]) for n in numbers]).tolist())
            self.assertEqual(batch.lengths("x").tolist(), [len(self.expected[n]["x"]) for n in numbers])
            self.assertEqual(batch.owner("y").tolist(), list(range(len(numbers))))
        for wrong, error in (
            (90, nmb.SelectionError), ([0, -91], nmb.SelectionError), ([0.5], nmb.UsageError), (True, nmb.UsageError), ([], nmb.UsageError),
            ([True, False], nmb.UsageError), ("x", TypeError),
        ):  # fmt: skip
            with self.subTest(wrong), self.assertRaises(error):
                samples[wrong]
        with self.assertRaisesRegex(nmb.MissingError, "z"):
            batch["z"]
        with self.assertRaises(nmb.SelectionError):
            batch[100]
        with self.assertRaises(nmb.MissingError):
            Samples(self.file, ["x", "z"])[0]
        with self.assertRaisesRegex(nmb.UsageError, "length of dimension 1"):
            Samples(self.file)[[0, 1, 2, 3]]
        with self.assertRaises(nmb.UsageError):
            Samples(self.file, ["x"], axis=AXES)[0]
        again = pickle.loads(pickle.dumps(samples))
        self.check(again[3], 3)
        self.assertEqual(again.fingerprint, samples.fingerprint)

    def test_hdf5_itself(self):
        samples = Samples(self.files[1], axis=AXES)
        self.assertEqual(len(samples), 30)
        self.check(samples[4], 34)
        with self.assertRaisesRegex(nmb.UsageError, "fit"):
            batches = Batches(samples, 2)
            state = batches.state_dict()
            os.utime(self.files[1])
            Batches(Samples(self.files[1]), 2).load_state_dict(state)

    def test_groups_of_variables(self):
        with h5py.File(self.path("vars.h5"), "w") as file:
            for group in "ab":
                for i in range(4):
                    file[f"{group}/s{i}_x"] = np.arange(i + 2) + (100 if group == "b" else 0)
                    file[f"{group}/s{i}_y"] = float(i)
        nmb.convert(self.path("vars.h5"), self.path("vars.nmb"))
        for path in (self.path("vars.h5"), self.path("vars.nmb")):
            samples = Samples(path, samples="vars:2")
            self.assertEqual((len(samples), samples.variables), (8, ["s0_x", "s0_y"]))
            batch = samples[[1, 6]]
            self.assertEqual(batch["s0_x"].tolist(), [0, 1, 2, 100, 101, 102, 103])
            self.assertEqual(batch["s0_y"].tolist(), [1, 2])
            self.assertEqual(Samples(path, ["s0_y"], samples="vars:2", where=["b"])[:]["s0_y"].tolist(), [0, 1, 2, 3])
        with self.assertRaisesRegex(nmb.UsageError, "16 variables"):
            Samples(path, samples="vars:3")
        with self.assertRaisesRegex(nmb.UsageError, "8 variables, not a multiple of 16"):
            Samples(path, samples="vars:16")[0]
        with self.assertRaises(nmb.MissingError):
            Samples(path, ["s1_x"], samples="vars:2")[0]
        for wrong in ("vars:0", "vars:", "dim:", "one", "group", "Block"):
            with self.subTest(wrong), self.assertRaises(nmb.UsageError):
                Samples(path, samples=wrong)

    @needs_netcdf4
    def test_rows_of_a_dimension(self):
        values = {}
        for number, times in enumerate((3, 5)):
            with netCDF4.Dataset(self.path(f"{number}.nc"), "w", format="NETCDF3_CLASSIC" if number else "NETCDF4") as out:
                for name, length in (("time", times), ("lat", 4)):
                    out.createDimension(name, length)
                values[number] = np.random.default_rng(number).normal(size=(times, 4))
                out.createVariable("tas", "f8", ("time", "lat"))[:] = values[number]
                out.createVariable("turned", "f8", ("lat", "time"))[:] = values[number].T
                out.createVariable("lat", "f8", ("lat",))[:] = np.arange(4)
        rows = np.concatenate([values[0], values[1]])
        nmb.merge([self.path("0.nc"), self.path("1.nc")], self.path("rows.nmb"), samples="dim:time")
        samples = Samples(self.path("rows.nmb"), samples="dim:time")
        self.assertEqual((len(samples), samples.variables), (8, ["tas", "turned"]))
        batch = samples[[7, 0, 2, 3]]
        for name in samples.variables:
            np.testing.assert_array_equal(batch[name], rows[[7, 0, 2, 3]])
            np.testing.assert_array_equal(samples[4][name], rows[4:5])
        self.assertEqual(len(Samples(self.path("1.nc"), samples="dim:time")), 5)
        self.assertEqual(Samples(self.path("rows.nmb"), samples="dim:time", where=["1"]).positions.tolist(), [3, 4, 5, 6, 7])
        with self.assertRaisesRegex(nmb.UsageError, 'has the dimensions .*expected "time" once'):
            Samples(self.path("rows.nmb"), ["lat"], samples="dim:time")[0]
        with self.assertRaisesRegex(nmb.UsageError, "no block has"):
            Samples(self.path("rows.nmb"), samples="dim:height")
        with self.assertRaisesRegex(nmb.UsageError, "3 samples"):  # a block is one sample here, but the index counts its rows
            Samples(self.path("rows.nmb"))[0]
        # From the index alone, as in a file of very many blocks.
        few, nmb._sample_places._FEW_BLOCKS = nmb._sample_places._FEW_BLOCKS, 0
        self.addCleanup(setattr, nmb._sample_places, "_FEW_BLOCKS", few)
        samples = Samples(self.path("rows.nmb"), samples="dim:time")
        np.testing.assert_array_equal(samples[[7, 0, 2, 3]]["turned"], rows[[7, 0, 2, 3]])
        nmb.merge([self.path("0.nc"), self.path("1.nc")], self.path("other.nmb"))
        with self.assertRaisesRegex(nmb.UsageError, "nmcat --samples dim:time"):
            Samples(self.path("other.nmb"), samples="dim:time")[0]
        nmb.merge([self.path("0.nc")], self.path("none.nmb"), samples="none")
        with self.assertRaisesRegex(nmb.UsageError, "counts no samples"):
            Samples(self.path("none.nmb"))

    def test_where(self):
        everything = Samples(self.file, axis=AXES)
        for where, wanted in (
            ("y.max >= 20 && y.max < 40", range(20, 40)), ([3, 1, 1], [3, 1, 1]), (np.array([89]), [89]), ([], []),
            (["run_2/event_001", "run_0/event_000"], [61, 0]), (everything.file.find("y.max > 88"), [89]),
        ):  # fmt: skip
            samples = Samples(self.file, axis=AXES, where=where)
            self.assertEqual((len(samples), samples.positions.tolist()), (len(wanted), list(wanted)))
            for i, number in list(enumerate(wanted))[:4]:
                self.check(samples[i], number)
                self.assertEqual(samples[[i]].samples.tolist(), [number])
        self.assertIsNone(everything.positions)
        # Positions that were saved stand for the expression, which need not be evaluated again.
        by_expression = Samples(self.file, where="y.max < 7")
        Batches(Samples(self.file, where=by_expression.positions), 2).load_state_dict(Batches(by_expression, 2).state_dict())
        for wrong in ([90], [-1]):
            with self.subTest(wrong), self.assertRaises(nmb.SelectionError):
                Samples(self.file, where=wrong)
        for wrong in ([0.5], np.ones(90, bool), [[1]]):
            with self.subTest(wrong), self.assertRaises(nmb.UsageError):
                Samples(self.file, where=wrong)
        with self.assertRaises(nmb.MissingError):
            Samples(self.file, where=["run_9"])
        with self.assertRaises(nmb.MissingError):
            Samples(self.file, where="nothing > 3")

    def test_states_of_other_samples_are_refused(self):
        state = Batches(Samples(self.file), 4).state_dict()
        Batches(Samples(nmb.open(self.file)), 8).load_state_dict(state)
        for other in (Samples(self.file, where=range(90)), Samples(self.file, samples="vars:3")):
            with self.assertRaisesRegex(nmb.UsageError, "does not fit: it is of the samples"):
                Batches(other, 4).load_state_dict(state)
        nmb.merge(self.files[:1], self.file, append=True, block_name="more/{stem}/{group}")
        with self.assertRaisesRegex(nmb.UsageError, "generation 1 .* generation 2"):
            Batches(Samples(self.file), 4).load_state_dict(state)
        state = Batches(Samples(nmb.open(self.file, generation=1), where=range(90)), 4).state_dict()
        with self.assertRaisesRegex(nmb.UsageError, "generation 1 .* generation 2"):  # as many samples
            Batches(Samples(self.file, where=range(90)), 4).load_state_dict(state)
        Batches(Samples(nmb.open(self.file, generation=1), where=range(90)), 4).load_state_dict(state)

    def test_transform(self):
        samples = Samples(self.file, ["y"], transform=lambda batch: batch["y"] * 2)
        self.assertEqual(samples[3], 6)
        self.assertEqual(samples[[3, 4]].tolist(), [6, 8])
        self.assertEqual([batch.tolist() for batch in Loader(samples, 60, ahead=0)], [[2 * y for y in range(60)], [2 * y for y in range(60, 90)]])

    def test_loaders(self):
        samples = Samples(self.file, ["x", "y"])
        wanted = [batch["y"].tolist() for batch in Loader(samples, 8, shuffle=True, seed=4, ahead=0)]
        for ahead in (1, 2, 50):
            loader = Loader(samples, 8, shuffle=True, seed=4, ahead=ahead)
            self.assertEqual(len(loader), 12)
            self.assertEqual([batch["y"].tolist() for batch in loader], wanted)
            self.assertEqual(loader.epoch, 1)
            self.assertNotEqual([batch["y"].tolist() for batch in loader], wanted)
            loader.set_epoch(0)
            for number, batch in enumerate(loader):
                self.assertEqual((batch["y"].tolist(), loader.epoch), (wanted[number], 0))
                state = loader.state_dict()
                if number == 3:
                    break
            self.assertEqual(state["position"], 32)
            self.assertEqual(loader.state_dict(), state)
            resumed = Loader(samples, 8, shuffle=True, seed=4, ahead=ahead)
            resumed.load_state_dict(state)
            self.assertEqual(resumed.state_dict(), state)
            self.assertEqual([batch["y"].tolist() for batch in resumed], wanted[4:])
            self.assertNotEqual(next(iter(loader))["y"].tolist(), wanted[0])  # the next epoch

    def test_a_loader_that_is_left_stops_its_thread(self):
        before, fds = threading.active_count(), open_fds()
        samples = Samples(self.file, ["x"])
        for _ in range(5):
            for _ in Loader(samples, 4):
                break
        gc.collect()
        limit = time.monotonic() + 10
        while threading.active_count() > before and time.monotonic() < limit:
            time.sleep(0.01)
        self.assertEqual(threading.active_count(), before)
        self.assertLessEqual(open_fds(), fds + 1)

    def test_a_failure_comes_where_the_batch_is_wanted(self):
        def fails(batch):
            if 40 in batch["y"]:
                raise ValueError("forty")
            return batch

        got = 0
        with self.assertRaisesRegex(ValueError, "forty"):
            for _ in Loader(Samples(self.file, ["y"], transform=fails), 10):
                got += 1
        self.assertEqual(got, 4)

    def test_no_samples(self):
        samples = Samples(self.file, where=[])
        loader = Loader(samples, 4, shuffle=True)
        self.assertEqual((len(loader), list(loader), loader.epoch), (0, [], 1))

    @needs_torch
    def test_tensors(self):
        for num_workers in (0, 2):
            seen = []
            samples = nmb.torch.Samples(self.file, axis=AXES)
            for batch in nmb.torch.Loader(samples, 20, shuffle=True, seed=2, num_workers=num_workers):
                self.assertIsInstance(batch, nmb.torch.Batch)
                for sample, number in zip(batch, batch.samples.tolist()):
                    self.check({name: tensor.numpy() for name, tensor in sample.items()}, number)
                    seen.append(number)
                self.assertEqual(batch.owner("x").tolist(), np.repeat(range(len(batch)), batch.lengths("x")).tolist())
                self.assertEqual(batch.to("cpu")["x"].tolist(), batch["x"].tolist())
            self.assertEqual(sorted(seen), list(range(90)))
        self.assertEqual(torch.is_tensor(samples[3]["x"]), True)
        batch = pickle.loads(pickle.dumps(samples[[1, 2]]))
        self.check({name: tensor.numpy() for name, tensor in batch[1].items()}, 2)

    @needs_torch
    def test_a_transform_that_changes_a_batch(self):
        def change(batch):
            batch.values["y"] = batch["y"] * 2  # another tensor
            batch["x"].zero_()
            del batch.values["edge_index"], batch.offsets["edge_index"]
            return batch

        for num_workers in (0, 1):
            samples = nmb.torch.Samples(self.file, axis=AXES, transform=change)
            batches = list(nmb.torch.Loader(samples, 50, num_workers=num_workers))
            self.assertEqual([y for batch in batches for y in batch["y"].tolist()], [2.0 * y for y in range(90)])
            self.assertEqual(sum(float(batch["x"].abs().sum()) for batch in batches), 0)
            self.assertEqual(sorted(batches[0].values), ["x", "y"])
            self.assertEqual(batches[1].lengths("x").tolist(), [len(one["x"]) for one in self.expected[50:]])

    @needs_torch
    def test_a_batch_of_a_worker_is_one_piece_of_memory(self):
        samples = nmb.torch.Samples(self.file, axis=AXES)
        kept = []
        before = open_fds()
        for batch in nmb.torch.Loader(samples, 9, num_workers=1):
            places = {tensor.storage().data_ptr() for tensor in batch._tensors() if tensor.numel()}
            self.assertEqual(len(places), 1)
            kept.append(batch)
        self.assertLess(open_fds() - before, 2 * len(kept) + 8)

    @needs_torch
    def test_arguments_of_the_torch_loader(self):
        samples = nmb.torch.Samples(self.file, ["y"])
        for wrong in (
            {"num_workers": -1}, {"sampler": [1]}, {"collate_fn": list}, {"timeout": 3}, {"rank": 1}, {"ranks": 2},
            {"num_workers": 1, "prefetch_factor": 0},
        ):  # fmt: skip
            with self.subTest(wrong), self.assertRaises(nmb.UsageError):
                nmb.torch.Loader(samples, 4, **wrong)
        os.environ["WORLD_SIZE"] = "2"
        self.addCleanup(os.environ.pop, "WORLD_SIZE", None)
        with self.assertRaisesRegex(nmb.UsageError, "torch.distributed"):
            nmb.torch.Loader(samples, 4)
        self.assertEqual(len(nmb.torch.Loader(samples, 10, rank=1, ranks=2)), 5)
        random_state = torch.random.get_rng_state()
        list(nmb.torch.Loader(samples, 50, num_workers=1, rank=0, ranks=1))
        self.assertTrue(torch.equal(random_state, torch.random.get_rng_state()))

    @needs_torch
    def test_types_that_torch_lacks(self):
        with h5py.File(self.path("text.h5"), "w") as file:
            file["g/name"] = "north"
            file["g/x"] = np.arange(3.0)
        with self.assertRaisesRegex(nmb.UsageError, 'variable "name"'):
            nmb.torch.Samples(self.path("text.h5"))[0]
        self.assertEqual(nmb.torch.Samples(self.path("text.h5"), ["x"])[0]["x"].tolist(), [0, 1, 2])
        self.assertEqual(Samples(self.path("text.h5"))[0]["name"].tolist(), ["north"])

    @needs_torch
    def test_data_loaders_of_torch(self):
        samples = nmb.torch.Samples(self.file, ["y"])
        wanted = [batch["y"].tolist() for batch in nmb.torch.Loader(samples, 7, shuffle=True, seed=3)]
        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(samples, batch_size=None, sampler=Batches(samples, 7, shuffle=True, seed=3), num_workers=workers)
            self.assertEqual([batch["y"].tolist() for batch in loader], wanted)

    @needs_torch
    @unittest.skipUnless(StatefulDataLoader, "torchdata is not installed")
    def test_stateful_data_loader(self):
        samples = nmb.torch.Samples(self.file, ["y"])

        def make(workers):
            batches = Batches(samples, 7, shuffle=True, seed=3)
            return batches, StatefulDataLoader(samples, batch_size=None, sampler=batches, num_workers=workers)

        def labels(loader):
            return [batch["y"].tolist() for batch in loader]

        epochs = nmb.torch.Loader(samples, 7, shuffle=True, seed=3)
        first, second = labels(epochs), labels(epochs)
        for workers in (0, 1, 3):
            _, loader = make(workers)
            iterator = iter(loader)
            got = [next(iterator)["y"].tolist() for _ in range(4)]
            self.assertEqual(got, first[:4])
            state = loader.state_dict()
            _, resumed = make(workers)
            resumed.load_state_dict(state)
            self.assertEqual(labels(resumed), first[4:])
            self.assertEqual(labels(resumed), second)
            batches, other = make(2 - workers if workers < 3 else 0)  # another number of workers
            batches.load_state_dict(state)
            self.assertEqual(labels(other), first[4:])
            self.assertEqual(labels(other), second)
            ended = loader.state_dict()
            list(iterator)
            ended = loader.state_dict()
            _, resumed = make(workers)
            resumed.load_state_dict(ended)
            self.assertEqual(labels(resumed), second)

    @measures_memory
    def test_memory_does_not_grow_with_samples(self):
        code = """
import sys, nmb, nmb.samples, numpy as np
sys.path.insert(0, sys.argv[2])
from support import resident
samples = nmb.samples.Samples(sys.argv[1], ["y"])
for rounds in (20, 200):
    for i, batch in enumerate(nmb.samples.Loader(samples, 9, shuffle=True)):
        pass
    for number in range(rounds):
        samples[np.arange(number % 80, number % 80 + 9)]
    print(resident())
"""
        first, second = map(int, python(code, self.file, os.path.dirname(os.path.abspath(__file__))).split())
        self.assertLess(second - first, 4096)
        self.assertGreater(resident(), 0)


if __name__ == "__main__":
    unittest.main()
