"""Files, blocks and variables in other processes: pickled, after a fork, with spawn, and while threads read."""

import multiprocessing
import os
import pickle
import signal
import threading
import time
import unittest

import numpy as np
from support import FolderTest, measures_memory, needs_netcdf4, nmb, open_fds, resident, write_netcdf


def total(variable):
    return float(np.asarray(variable[...], "f8").sum())


def in_process(context, function, *arguments):
    with context.Pool(2) as pool:
        return pool.starmap(function, [arguments] * 4)


@needs_netcdf4
class ProcessHandlesTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.values = write_netcdf(self.path("a.nc"), "NETCDF4", ("g",))
        write_netcdf(self.path("classic.nc"), "NETCDF3_CLASSIC")
        nmb.merge([self.path("a.nc"), self.path("classic.nc")], self.path("a.nmb"))
        self.files = [nmb.open(self.path(name)) for name in ("a.nmb", "a.nc", "classic.nc")]
        self.names = ["classic/temperature", "g/temperature", "temperature"]

    def test_pickles(self):
        for file, name in zip(self.files, self.names):
            variable = file[name]
            for one in (file, variable.block, variable):
                again = pickle.loads(pickle.dumps(one))
                self.assertEqual(again, one)
                self.assertEqual(hash(again), hash(one))
            np.testing.assert_array_equal(again[...], variable[...])
            first, second = pickle.loads(pickle.dumps((variable, variable.block)))
            self.assertIs(first.block.file, second.file)

    def test_a_pickle_reads_the_same_generation(self):
        file = self.files[0]
        sent = pickle.dumps(file)
        nmb.merge(self.path("classic.nc"), self.path("a.nmb"), append=True, block_name="new")
        again = pickle.loads(sent)
        self.assertNotIn("new", again)
        self.assertEqual(again.generation, 1)
        self.assertIn("new", nmb.open(self.path("a.nmb")))

    def test_another_file_of_the_same_generation_is_refused(self):
        """An NMB file with the same definitions took the place of the one that was pickled."""
        variable = self.files[0]["classic/temperature"]
        before, sent = variable[...], pickle.dumps(variable)
        write_netcdf(self.path("classic.nc"), "NETCDF3_CLASSIC", seed=9)
        nmb.merge([self.path("a.nc"), self.path("classic.nc")], self.path("a.nmb"), replace=True)
        with self.assertRaises(nmb.DamagedError) as caught:
            pickle.loads(sent)
        self.assertEqual(caught.exception.file, self.path("a.nmb"))
        np.testing.assert_array_equal(variable[...], before)
        queue = multiprocessing.get_context("fork").SimpleQueue()

        def read():
            try:
                queue.put(variable[...].tolist())
            except nmb.Error as error:
                queue.put(error)

        child = multiprocessing.get_context("fork").Process(target=read)
        child.start()
        self.assertIsInstance(queue.get(), nmb.DamagedError)
        child.join()
        self.assertTrue(self.files[0].refresh())
        self.assertEqual(self.files[0].generation, 1)
        self.assertFalse((self.files[0]["classic/temperature"][...] == before).all())

    def test_a_file_that_changed_is_refused(self):
        sent = pickle.dumps(self.files[2])
        time.sleep(0.01)
        write_netcdf(self.path("classic.nc"), "NETCDF3_CLASSIC", seed=9)
        with self.assertRaises(nmb.DamagedError):
            pickle.loads(sent)
        os.remove(self.path("classic.nc"))
        with self.assertRaises(FileNotFoundError):
            pickle.loads(sent)

    def test_spawn(self):
        context = multiprocessing.get_context("spawn")
        for file, name in list(zip(self.files, self.names))[:2]:
            variable = file[name]
            self.assertEqual(in_process(context, total, variable), [total(variable)] * 4)

    def test_fork_while_threads_read(self):
        context = multiprocessing.get_context("fork")
        stop = threading.Event()

        def read():
            while not stop.is_set():
                for file, name in zip(self.files, self.names):
                    file[name][...]
                with nmb.open(self.path("a.nc")):
                    pass

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for file, name in zip(self.files, self.names):
                variable = file[name]
                expected = total(variable)
                for _ in range(10):
                    queue = context.SimpleQueue()
                    child = context.Process(target=lambda: queue.put((total(variable), len(file))))
                    child.start()
                    child.join(30)
                    self.assertEqual(child.exitcode, 0, "a child hangs")
                    self.assertEqual(queue.get(), (expected, len(file)))
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def test_killed_children_leave_the_parent_whole(self):
        context = multiprocessing.get_context("fork")

        def work():
            while True:
                for file, name in zip(self.files, self.names):
                    file[name][...]

        for _ in range(5):
            child = context.Process(target=work)
            child.start()
            time.sleep(0.05)
            os.kill(child.pid, signal.SIGKILL)
            child.join()
        for file, name in zip(self.files, self.names):
            np.testing.assert_array_equal(file[name][...], nmb.open(file.path)[name][...])

    @measures_memory
    def test_forks_keep_no_memory(self):
        """Children that read, and children that are killed while they do, leave the memory of the parent as it was."""
        rounds = 10000 if os.environ.get("NMB_ALL") else 150
        before = fds = 0
        for i in range(rounds):
            child = os.fork()
            if child == 0:
                try:
                    for file, name in zip(self.files[:1] if i % 10 else self.files, self.names):
                        for _ in range(1 if i % 3 else 1000):
                            file[name][...]
                finally:
                    os._exit(0)
            if i % 3 == 0:
                time.sleep(0.002)
                os.kill(child, signal.SIGKILL)
            limit = time.monotonic() + 60
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                self.assertLess(time.monotonic(), limit, "a child hangs")
                time.sleep(0.001)
            with nmb.open(self.path("a.nmb")) as file:
                file["classic"].read()
            if i == rounds // 3:
                before, fds = resident(), open_fds()
        self.assertLessEqual(resident(), before * 1.01 + 256)
        self.assertLessEqual(open_fds(), fds)

    def test_errors_can_be_pickled(self):
        for code in ("usage", "damaged", "not_found", "limit", "conflict"):
            error = nmb._errors.of_failure(code, "message", "file", 5, "R-1", "object", "file: message")
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), again.offset, again.rule, str(again)), (type(error), 5, "R-1", str(error)))


if __name__ == "__main__":
    unittest.main()
