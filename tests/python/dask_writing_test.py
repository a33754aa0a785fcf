"""The workers of dask write one file, also when one of them is killed in mid-task."""

import os
import signal
import time
import unittest
import warnings

import numpy as np
from support import FolderTest, nmb

try:
    import dask
    import dask.array
    import distributed
    import xarray as xr

    import nmb.xarray
except ImportError:
    distributed = None


def write_event(parts, number, trouble):
    """A task. With trouble, the first process that runs it kills itself when it has written half of its part."""
    with parts.writer(number, sync=False) as out:
        out[f"event/{number:03}"] = {"x": ("i", np.arange(1000.0) + number), "name": f"n{number}"}
        stumble(trouble)
        out.block(f"event/{number:03}").attrs["number"] = number
    return number


def stumble(trouble):
    if trouble:
        try:
            os.close(os.open(trouble, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def chunk_of(trouble, block_id=None):
    if block_id == (2, 1):
        stumble(trouble)
    return np.full((2, 3), 10.0 * block_id[0] + block_id[1])


@unittest.skipUnless(distributed, "distributed, dask or xarray is not installed")
class DaskWritingTest(FolderTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")
        self.addCleanup(warnings.resetwarnings)
        self.cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, host="127.0.0.1"
        )
        self.addCleanup(self.cluster.close)
        self.client = distributed.Client(self.cluster)
        self.addCleanup(self.client.close)

    def files(self):
        return sorted(os.listdir(self.folder))

    def workers(self):
        return {one["id"] for one in self.client.scheduler_info()["workers"].values()}

    def wait_for_workers(self):
        """Until dask has started a worker again in place of one that was killed. On a busy machine it may give up."""
        limit = time.monotonic() + 30
        while len(self.workers()) < 2 and time.monotonic() < limit:
            time.sleep(0.05)
        self.assertTrue(self.workers())

    def run_events(self, name, trouble):
        self.wait_for_workers()
        parts = nmb.Parts(self.path(name))
        tasks = [dask.delayed(write_event)(parts, number, trouble if number in (5, 8) else "") for number in range(12)]
        self.assertEqual(list(dask.compute(*tasks)), list(range(12)))
        report = parts.commit(keys=range(12), sync=False)
        self.assertEqual((report.parts, report.totals.blocks), (12, 12))
        with open(parts.path, "rb") as file:
            return file.read()

    def test_parts_by_two_workers(self):
        """The file is byte for byte that of one process, also if a worker is killed and its tasks run again on another."""
        expected = nmb.Parts(self.path("one.nmb"))
        for number in range(12):
            write_event(expected, number, "")
        expected.commit(sync=False)
        with open(expected.path, "rb") as file:
            expected = file.read()
        self.assertEqual(self.run_events("calm.nmb", ""), expected)
        self.assertEqual(self.run_events("killed.nmb", self.path("killed")), expected)
        self.assertEqual(self.files(), ["calm.nmb", "killed", "killed.nmb", "one.nmb"])

    def dataset(self, trouble=""):
        chunks = ((2,) * 4, (3,) * 2)
        lazy = dask.array.map_blocks(chunk_of, trouble, chunks=chunks, dtype="f8", meta=np.empty((0, 0)))
        return xr.Dataset(
            {"v": (("time", "x"), lazy, {"units": "K"}), "w": ("time", dask.array.arange(8, chunks=3)), "name": ("x", list("abcdef"))},
            {"time": np.arange(8) * np.timedelta64(1, "D") + np.datetime64("2000-01-01", "ns")},
            {"title": "T"},
        )

    def check_dataset(self, name, count=1):
        with xr.open_dataset(self.path(name), engine="nmb", group="g") as found:
            expected = self.dataset().load(scheduler="synchronous")
            expected = xr.concat([expected] * count, "time", data_vars="minimal") if count > 1 else expected
            xr.testing.assert_identical(found.load(), expected)
        self.assertTrue(nmb.verify(self.path(name)))

    def test_to_nmb_by_two_workers(self):
        with dask.config.set(scheduler="synchronous"):
            nmb.xarray.to_nmb(self.dataset(), self.path("one.nmb"), group="g", unlimited_dims="time", sync=False)
        with open(self.path("one.nmb"), "rb") as file:
            expected = file.read()
        for name, trouble, compute in (("calm.nmb", "", True), ("later.nmb", "", False), ("killed.nmb", self.path("killed"), True)):
            self.wait_for_workers()
            done = nmb.xarray.to_nmb(
                self.dataset(trouble), self.path(name), group="g", unlimited_dims="time", sync=False, compute=compute
            )
            if not compute:
                self.assertNotIn(name, self.files())
                done.compute()
            self.check_dataset(name)
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), expected)
        self.assertEqual(self.files(), ["calm.nmb", "killed", "killed.nmb", "later.nmb", "one.nmb"])

    def test_a_worker_is_killed_at_the_commit(self):
        """Before and after the commit of the last task: it runs again, and nothing is there twice."""
        nmb.xarray.to_nmb(self.dataset(), self.path("a.nmb"), group="g", unlimited_dims="time", sync=False)
        count = 1
        for when in ("before", "after"):
            for mode in ("new", "append"):
                with self.subTest(f"{when} {mode}"):
                    self.wait_for_workers()
                    trouble = self.path(f"{when}-{mode}")
                    self.client.run(spoil, when, trouble)
                    if mode == "new":
                        name, options = f"{when}.nmb", {"unlimited_dims": "time"}
                    else:
                        name, options = "a.nmb", {"append_dim": "time"}
                        count += 1
                    nmb.xarray.to_nmb(self.dataset(), self.path(name), group="g", sync=False, **options)
                    self.client.run(mend)
                    self.assertTrue(os.path.exists(trouble))
                    self.check_dataset(name, count if mode == "append" else 1)
        self.assertEqual([name for name in self.files() if ".parts" in name], [])

    def test_a_task_that_fails(self):
        ds = self.dataset().assign(v=self.dataset().v.astype("f4"))
        ds["w"].encoding = {"dtype": "i1"}
        ds["w"] = ds.w * 1000
        ds["w"].encoding = {"dtype": "i1"}
        with self.assertRaises(nmb.RangeError):
            nmb.xarray.to_nmb(ds, self.path("a.nmb"), group="g")
        self.assertEqual(self.files(), [])


def spoil(when, trouble):
    """Makes the next commit of this worker kill it."""
    from nmb import _xarray_write

    real = nmb.Writer.close

    def close(writer):
        is_final = ".parts" not in writer.path
        if is_final and when == "before":
            stumble(trouble)
        real(writer)
        if is_final:
            stumble(trouble)

    class Killed(nmb.Writer):
        pass

    Killed.close = close
    _xarray_write.Writer = Killed


def mend():
    """Undoes spoil() in a worker that was not killed."""
    from nmb import _xarray_write

    _xarray_write.Writer = nmb.Writer


if __name__ == "__main__":
    unittest.main()
