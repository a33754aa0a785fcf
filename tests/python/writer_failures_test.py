"""Writers that fail or are misused: exceptions, signals, forks, full devices, locks. The file stays as it was, and nothing else
remains in the folder."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import numpy as np
from support import FolderTest, nmb, open_fds, python

SPACE = """
import sys
import numpy as np, nmb
path, mode = sys.argv[1:]
try:
    with nmb.Writer(path, mode) as out:
        for i in range(100):
            out[f"b{i}"] = {"v": np.full(1 << 17, i, "f8")}
            out.block("log").variable(f"v{i}", "i4", {"i": None}).append([1, 2])
except nmb.NoSpaceError as error:
    assert error.file.endswith("a.nmb"), error.file
    assert out.closed
    print(error.code)
"""


class WriterFailuresTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("a.nmb")
        with nmb.Writer(self.file, sync=False) as out:
            out["b"] = {"v": np.arange(4), "t": ("time", [1.0])}
            out.block("log").variable("n", "i4", {"i": None}).append([0])
        self.before = self.content()

    def content(self):
        with open(self.file, "rb") as file:
            return file.read()

    def check_unchanged(self):
        self.assertEqual(self.content(), self.before)
        self.assertEqual(os.listdir(self.folder), ["a.nmb"])

    def test_an_exception_discards(self):
        for mode in "wa":
            with self.assertRaises(ZeroDivisionError):
                with nmb.Writer(self.file, mode, sync=False) as out:
                    out["new"] = {"v": np.zeros(1 << 20)}
                    if mode == "a":
                        out["b/v"][:] = -1
                        out["log/n"].append(5)
                    1 / 0
            self.assertTrue(out.closed)
            self.check_unchanged()
        with self.assertRaises(ZeroDivisionError):
            with nmb.Writer(self.path("new.nmb")) as out:
                1 / 0
        self.check_unchanged()

    def test_what_was_committed_stays(self):
        with self.assertRaises(ZeroDivisionError):
            with nmb.Writer(self.file, "a", sync=False) as out:
                out["log/n"].append(1)
                self.assertEqual(out.commit(), 2)
                out["log/n"].append(2)
                1 / 0
        self.assertEqual(nmb.open(self.file)["log/n"][...].tolist(), [0, 1])
        self.assertTrue(nmb.verify(self.file))

    def test_the_file_exists(self):
        with self.assertRaises(FileExistsError):
            nmb.Writer(self.file)
        with self.assertRaises(FileNotFoundError):
            nmb.Writer(self.path("nothing/a.nmb"))
        with self.assertRaises(FileNotFoundError):
            nmb.Writer(self.path("nothing/a.nmb"), "a")
        with open(self.path("text"), "w") as file:
            file.write("text")
        with self.assertRaises(nmb.UnknownKindError):
            nmb.Writer(self.path("text"), "a")
        os.remove(self.path("text"))
        self.check_unchanged()

    def test_the_file_is_made_by_another_in_the_meantime(self):
        first, second = (nmb.Writer(self.path("c.nmb"), sync=False) for _ in range(2))
        first["first"] = {"v": 1}
        second["second"] = {"v": 1}
        first.close()
        with self.assertRaises(FileExistsError):
            second.close()
        self.assertTrue(second.closed)
        self.assertEqual(list(nmb.open(self.path("c.nmb"))), ["first"])

    def test_mode_a_makes_an_empty_file(self):
        with self.assertRaises(ZeroDivisionError):
            with nmb.Writer(self.path("c.nmb"), "a", sync=False) as out:
                out["b"] = {"v": 1}
                1 / 0
        self.assertEqual(len(nmb.open(self.path("c.nmb"))), 0)

    def test_two_writers(self):
        with nmb.Writer(self.file, "a", sync=False) as out:
            for mode in "aw":
                with self.assertRaises(nmb.BusyError) as caught:
                    nmb.Writer(self.file, mode)
                self.assertEqual(caught.exception.file, self.file)
            start = time.monotonic()
            with self.assertRaises(nmb.BusyError) as caught:
                nmb.Writer(self.file, "a", wait=0.3)
            self.assertTrue(0.3 <= time.monotonic() - start < 5)
            self.assertIn("waited 0.3 s", str(caught.exception))
            self.assertIn(self.file, str(caught.exception))
            threading.Timer(0.2, lambda: (out.block("later", {"v": 1}), out.close())).start()
            with nmb.Writer(self.file, "a", wait=30, sync=False) as second:
                self.assertIn("later", second)

    def test_ctrl_c(self):
        """While it waits, and in mid-write: a KeyboardInterrupt, and the file as it was."""
        code = """
import os, signal, sys, threading, time
import numpy as np, nmb
path, how = sys.argv[1:]
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    if how == "wait":
        with nmb.Writer(path, "a"), nmb.Writer(path, "a", wait=100):
            pass
    with nmb.Writer(path, "a") as out:
        for i in range(1000000):
            out[f"new{i}"] = {"v": np.arange(100000.0)}
            time.sleep(0.001)
except KeyboardInterrupt:
    print("interrupted")
"""
        for how in "wait", "write":
            self.assertEqual(python(code, self.file, how), "interrupted\n")
            self.assertEqual(len(nmb.open(self.file)), 2)
            with nmb.Writer(self.file, "a", sync=False) as out:  # what the other has left is no obstacle
                out["log/n"].append(7)
                out.discard()
            self.assertEqual(os.listdir(self.folder), ["a.nmb"])
        self.assertTrue(nmb.verify(self.file))

    def test_after_close(self):
        out = nmb.Writer(self.file, "a", sync=False)
        block, variable = out["b"], out["b/v"]
        variable[0] = 9
        out.close()
        out.close()
        out.discard()
        self.assertEqual((out.closed, out.generation), (True, 2))
        for call in (
            lambda: out["b"], lambda: out.commit(), lambda: out.block("c"), lambda: variable.__setitem__(0, 1), lambda: variable[0],
            lambda: block["v"].append(1), lambda: block.attrs["a"], lambda: block.attrs.__setitem__("a", 1), lambda: "b" in out,
            lambda: block.variable("w", "i4"), lambda: variable.shape if block.unlimited else out.commit(), lambda: out.end_define(),
            lambda: out.__enter__(), lambda: out.add_provenance({}),
        ):  # fmt: skip
            with self.assertRaises(nmb.UsageError) as caught:
                call()
            self.assertIn("closed", str(caught.exception))
        self.assertEqual(nmb.open(self.file)["b/v"][0], 9)

    def test_a_writer_that_is_forgotten(self):
        fds = open_fds()
        with self.assertWarnsRegex(ResourceWarning, "a.nmb"):
            out = nmb.Writer(self.file, "a", sync=False)
            out["new"] = {"v": 1}
            del out
            gc.collect()
        self.check_unchanged()
        self.assertEqual(open_fds(), fds)

    def test_a_forked_child_refuses(self):
        context = multiprocessing.get_context("fork")
        for mode, path in (("a", self.file), ("x", self.path("new.nmb"))):
            out = nmb.Writer(path, mode, sync=False)
            out["c"] = {"v": [1, 2]}
            variable = out["c/v"]
            queue = context.SimpleQueue()

            def child(out=out, variable=variable, queue=queue):
                found = []
                for call in (
                    lambda: variable.__setitem__(0, 5), lambda: out.block("d"), out.commit, out.close, lambda: out["c"], lambda: variable[0],
                ):  # fmt: skip
                    try:
                        call()
                        found.append("done")
                    except nmb.UsageError as error:
                        found.append("fork" in str(error))
                out.discard()
                del out, variable
                gc.collect()
                queue.put(found)

            process = context.Process(target=child)
            process.start()
            process.join(30)
            self.assertEqual((process.exitcode, queue.get()), (0, [True] * 6))
            variable[1] = 7
            out.close()
            self.assertEqual(nmb.open(path)["c/v"][...].tolist(), [1, 7])
            self.assertTrue(nmb.verify(path))

    def test_fork_while_threads_write(self):
        out = nmb.Writer(self.file, "a", sync=False)
        stop = threading.Event()

        def write(number):
            variable = out.block(f"thread{number}").variable("v", "f8", {"x": 1 << 16})
            while not stop.is_set():
                variable[:] = number

        threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    try:
                        out.block("x")
                    except nmb.UsageError:
                        os._exit(3)
                    os._exit(1)
                limit = time.monotonic() + 30
                while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
                    self.assertLess(time.monotonic(), limit, "a child hangs")
                    time.sleep(0.001)
                self.assertEqual(os.waitstatus_to_exitcode(done[1]), 3)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        out.close()
        self.assertTrue((nmb.open(self.file)["thread1/v"][...] == 1).all())

    def test_it_cannot_be_pickled(self):
        with nmb.Writer(self.file, "a") as out:
            for one in (out, out["b"], out["b/v"]):
                with self.assertRaisesRegex(TypeError, "Parts"):
                    pickle.dumps(one)

    def test_a_file_that_may_not_grow(self):
        """The limit of the size of files acts as a full device."""
        code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))\n" + SPACE
        for mode in "aw":
            self.assertEqual(python(code, self.file, mode), "no_space\n")
            self.assertEqual(nmb.open(self.file)["b/v"][...].tolist(), [0, 1, 2, 3])
            self.assertEqual(os.listdir(self.folder), ["a.nmb"])
        with nmb.Writer(self.file, "a", sync=False) as out:
            out["log/n"].append(1)
        self.assertEqual(nmb.open(self.file)["log/n"][...].tolist(), [0, 1])
        self.assertTrue(nmb.verify(self.file))

    def test_a_full_device(self):
        mount = f"mount -t tmpfs -o size=4m none {self.folder} && cp {self.path('copy')} {self.file} &&"
        (self.folder / "script.py").write_text(SPACE)
        os.rename(self.path("script.py"), str(self.folder) + ".py")
        self.addCleanup(os.remove, str(self.folder) + ".py")
        outside = str(self.folder) + ".nmb"
        with open(outside, "wb") as file:
            file.write(self.before)
        self.addCleanup(os.remove, outside)
        mount = mount.replace(self.path("copy"), outside)
        check = f"{sys.executable} -c \"import nmb; assert nmb.verify('{self.file}') and len(nmb.open('{self.file}')) == 2\""
        for mode in "xaw":
            path = self.path("new/a.nmb") if mode == "x" else self.file
            command = f"{mount} mkdir {self.path('new')} && {sys.executable} {self.folder}.py {path} {mode} && {check} && ls {self.path('new')}"
            done = subprocess.run(["unshare", "-rm", "sh", "-c", command], capture_output=True, text=True)
            if "unshare" in done.stderr or "mount" in done.stderr:
                self.skipTest("a small file system cannot be mounted here")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "no_space\n", ""))

    def test_a_replaced_file_while_it_is_written(self):
        out = nmb.Writer(self.file, "a", sync=False)
        out["c"] = {"v": 1}
        os.rename(self.file, self.path("old.nmb"))
        with self.assertRaises(nmb.Error):
            out.close()
        self.assertTrue(out.closed)
        self.assertEqual(nmb.open(self.path("old.nmb"))["b/v"][...].tolist(), [0, 1, 2, 3])

    def test_warnings_say_what_was_repaired(self):
        with open(self.file, "ab") as file:
            file.write(b"rest of a killed writer" * 100)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with nmb.Writer(self.file, "a", sync=False) as out:
                out["c"] = {"v": 1}
        for one in found:
            self.assertIn(self.file, str(one.message))
        self.assertTrue(nmb.verify(self.file))


class WriterThreadsTest(FolderTest):
    def test_threads_write_different_variables(self):
        """The file has what each thread has written, and other threads run meanwhile."""
        count, steps = 8, 30
        rng = np.random.default_rng(2)
        values = rng.normal(size=(count, steps, 500))
        failures = []
        with nmb.Writer(self.path("a.nmb"), sync=False) as out:
            shared = out.block("shared")
            variables = [shared.variable(f"v{i}", "f8", {"time": None, "x": 500}) for i in range(count)]

            def work(i):
                try:
                    own = out.block(f"own{i}")
                    for step in range(steps):
                        variables[i].append(values[i, step])
                        own[f"s{step}"] = ("x", values[i, step], {"step": step})
                        variables[i].attrs["steps"] = step
                        if step == 10 and i == 3:
                            out.commit()
                        self.assertTrue(np.array_equal(variables[i][step], values[i, step]))
                except BaseException as error:
                    failures.append(error)
                    raise

            threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        file = nmb.open(self.path("a.nmb"))
        for i in range(count):
            self.assertTrue(np.array_equal(file[f"shared/v{i}"][...], values[i]))
            self.assertEqual(file[f"shared/v{i}"].attrs["steps"], steps - 1)
            for step in range(steps):
                self.assertTrue(np.array_equal(file[f"own{i}/s{step}"][...], values[i, step]))
        self.assertTrue(nmb.verify(self.path("a.nmb")))

    def test_the_interpreter_is_free_while_the_library_works(self):
        large = np.zeros(24 << 20)
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.wait(0.001):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        with nmb.Writer(self.path("a.nmb")) as out:
            variable = out.block("b").variable("v", "f8", {"x": large.size})
            thread.start()
            begin = time.monotonic()
            for _ in range(3):
                variable[:] = large
            end = time.monotonic()
            stop.set()
            thread.join()
            out.discard()
        during = [one for one in ticks if begin < one < end]
        self.assertGreater(len(during), 10)

    def test_signals_are_not_lost(self):
        """A handler of Python runs after the call in which the signal came."""
        seen = []
        before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        with nmb.Writer(self.path("a.nmb"), sync=False) as out:
            os.kill(os.getpid(), signal.SIGUSR1)
            out["b"] = {"v": np.zeros(1 << 20)}
        self.assertEqual(seen, [1])


if __name__ == "__main__":
    unittest.main()
