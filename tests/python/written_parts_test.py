"""Many processes write one file without MPI: parts that are committed together, and processes that append in turn."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from support import FolderTest, nmb, python

# How many processes append at once. ./night has 100.
PROCESSES = 100 if os.environ.get("NMB_ALL") else 12

APPEND = """
import sys
import numpy as np, nmb
path, number = sys.argv[1], int(sys.argv[2])
with nmb.Writer(path, "a", wait=300, sync=False) as out:
    log = out["log/n"] if "log" in out else out.block("log").variable("n", "i4", {"i": None})
    log.append([number, number])
    out.commit()
    log.append([1000 + number] * 3)
    out[f"p{number:03}"] = {"x": ("i", np.arange(100.0) + number, {"number": number})}
"""


def write_part(writer, number):
    writer[f"event/{number:03}"] = {"x": ("i", np.arange(3.0) + number), "name": f"n{number}"}


def events_of(path):
    file = nmb.open(path)
    return [(name, file[f"{name}/x"][0]) for name in file]


class PartsTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("run.nmb")
        self.parts = nmb.Parts(self.file)

    def put(self, number, key=None):
        with self.parts.writer(number if key is None else key, sync=False) as out:
            write_part(out, number)

    def test_the_file_is_that_of_one_process(self):
        """Byte for byte, in whichever order and by whichever process the parts were written."""
        for number in range(6):
            self.put(number)
        self.parts.commit(sync=False)
        again = nmb.Parts(self.path("again.nmb"))
        context = multiprocessing.get_context("fork")

        def work(numbers):
            for number in numbers:
                with pickle.loads(pickle.dumps(again)).writer(number, sync=False) as out:
                    write_part(out, number)

        processes = [context.Process(target=work, args=(some,)) for some in ([4, 0, 2], [5, 3, 1])]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
            self.assertEqual(process.exitcode, 0)
        report = again.commit(keys=range(6), sync=False)
        self.assertEqual((report.parts, report.abandoned, report.totals.blocks), (6, 0, 6))
        with open(self.file, "rb") as one, open(again.path, "rb") as other:
            self.assertEqual(one.read(), other.read())
        with nmb.Writer(self.path("direct.nmb"), sync=False) as out:
            for number in range(6):
                write_part(out, number)
        self.assertEqual(nmb.digest(self.file).file, nmb.digest(self.path("direct.nmb")).file)
        self.assertEqual(sorted(os.listdir(self.folder)), ["again.nmb", "direct.nmb", "run.nmb"])
        self.assertTrue(nmb.verify(self.file))

    def test_keys(self):
        keys = [0, 2, 10, (1, 2), (1, 10), (1, "a"), "", "a", "a/b", "b.c", "ü ,%", ("a", 3), np.int64(7), 2**62]
        for number, key in enumerate(keys):
            self.assertNotIn(key, self.parts)
            self.put(number, key)
            self.assertIn(key, self.parts)
        self.put(99, 10)  # again
        self.assertEqual(set(self.parts), set(keys))
        self.assertEqual(len(self.parts), len(keys))
        found = list(self.parts)
        self.assertEqual(found[:4], [0, (1, 2), (1, 10), (1, "a")])
        self.assertEqual(found[-6:], ["", "a", ("a", 3), "a/b", "b.c", "ü ,%"])
        for key in (-1, None, 1.5, True, b"a", "x" * 300, ((1,),), 2**63):
            with self.assertRaises(nmb.UsageError):
                self.parts.writer(key)
        self.parts.commit(keys=keys, sync=False)
        self.assertIn("event/099", nmb.open(self.file))
        self.assertNotIn("event/002", nmb.open(self.file))

    def test_commits(self):
        with self.assertRaises(nmb.MissingError):
            self.parts.commit()
        self.put(1)
        self.put(3)
        for keys, kind in (([1, 2, 3], KeyError), ([1], nmb.ConflictError), ([], nmb.ConflictError), ([2], KeyError)):
            with self.assertRaises(kind):
                self.parts.commit(keys=keys)
        self.parts.commit(keys=[3, 1], sync=False)
        self.assertEqual(events_of(self.file), [("event/001", 1.0), ("event/003", 3.0)])
        self.assertFalse(os.path.exists(self.parts.folder))
        self.parts = nmb.Parts(self.file)
        self.put(2)
        with self.assertRaises(FileExistsError):
            self.parts.commit(sync=False)
        self.assertEqual(self.parts.keys(), [2])
        self.parts.commit("a", sync=False)
        self.assertEqual(len(events_of(self.file)), 3)
        self.assertEqual(nmb.open(self.file).generation, 2)
        self.parts = nmb.Parts(self.file)
        self.put(5)
        self.parts.commit("w", sync=False)
        self.assertEqual(events_of(self.file), [("event/005", 5.0)])
        self.parts = nmb.Parts(self.file)
        self.put(5)
        self.put(5, 6)
        before = nmb.digest(self.file).file
        for mode in "wa":  # two parts have the same block
            with self.assertRaises(nmb.ConflictError):
                self.parts.commit(mode)
        self.assertEqual((self.parts.keys(), nmb.digest(self.file).file), ([5, 6], before))
        self.assertEqual(self.parts.discard(), 2)
        for arguments in (("r",), ("x", 5)):
            with self.assertRaises((nmb.UsageError, TypeError)):
                self.parts.commit(*arguments)

    def test_options_of_the_commit(self):
        with self.parts.writer(0, statistics="basic", sync=False) as out:
            out.block("b", {"v": np.zeros(100000)}, tags={"site": "north"}, samples=3)
        self.parts.commit(codec="zstd", statistics="basic", sync=False)
        block = nmb.open(self.file)["b"]
        self.assertEqual((block.tags, block["v"].stats.maximum, block.counts.samples), ({"site": "north"}, 0.0, 3))
        self.assertLess(os.path.getsize(self.file), 100000)

    def test_a_task_that_fails_leaves_nothing(self):
        with self.assertRaises(ZeroDivisionError):
            with self.parts.writer(1) as out:
                write_part(out, 1)
                with self.assertRaises(nmb.UsageError):
                    out.commit()
                1 / 0
        self.assertEqual((self.parts.keys(), os.listdir(self.parts.folder)), ([], []))

    def test_the_same_task_twice_at_the_same_time(self):
        for _ in range(30):
            barrier = threading.Barrier(4)
            failures = []

            def work(barrier=barrier, failures=failures):
                try:
                    with self.parts.writer(1, sync=False) as out:
                        write_part(out, 1)
                        barrier.wait()
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            self.assertEqual(self.parts.keys(), [1])
        self.parts.commit(keys=[1], sync=False)
        self.assertEqual(events_of(self.file), [("event/001", 1.0)])

    def test_killed_workers(self):
        """Workers that are killed at any time leave whole parts, or none; their tasks run again."""
        code = """
import sys
import numpy as np, nmb
parts = nmb.Parts(sys.argv[1])
for number in range(40):
    if number not in parts:
        with parts.writer(number, sync=False) as out:
            out[f"event/{number:03}"] = {"x": ("i", np.arange(3.0) + number), "name": f"n{number}", "more": np.zeros(50000)}
print("done")
"""
        kills = 0
        for attempt in range(100):
            process = subprocess.Popen([sys.executable, "-c", code, self.file], stdout=subprocess.PIPE)
            before = len(self.parts)
            while process.poll() is None and len(self.parts) < min(40, before + 4):
                time.sleep(0.001)
            time.sleep(0.001 * (attempt % 5))
            process.kill()
            if process.communicate()[0]:
                break
            kills += 1
        self.assertGreater(kills, 5)
        self.parts.commit(keys=range(40), sync=False)
        self.assertEqual(events_of(self.file), [(f"event/{number:03}", float(number)) for number in range(40)])
        self.assertTrue(nmb.verify(self.file))
        self.assertEqual(os.listdir(self.folder), ["run.nmb"])

    def test_temporary_files_are_removed_and_counted(self):
        self.put(1)
        for name in (".n0000000000000000002.nmb.host-1.part", ".n0000000000000000003.nmb.host-2.part"):
            with open(os.path.join(self.parts.folder, name), "wb") as file:
                file.write(b"unfinished")
        self.assertEqual(self.parts.keys(), [1])
        self.assertEqual(self.parts.commit(sync=False).abandoned, 2)
        self.assertEqual(os.listdir(self.folder), ["run.nmb"])

    def test_a_foreign_file_is_not_removed(self):
        self.put(1)
        with open(os.path.join(self.parts.folder, "notes.txt"), "w"):
            pass
        with self.assertRaisesRegex(nmb.UsageError, "notes.txt"):
            self.parts.commit()
        self.assertFalse(os.path.exists(self.file))

    def test_a_killed_commit_is_taken_up(self):
        """The process that commits is killed after the commit, before it has removed the parts."""
        for mode in "xa":
            for number in (1, 2):
                self.put(number + (10 if mode == "a" else 0), number)
            pid = os.fork()
            if pid == 0:
                remove = os.remove
                os.remove = lambda path: os.kill(os.getpid(), signal.SIGKILL) if path.endswith("2.nmb") else remove(path)
                self.parts.commit(mode)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), -signal.SIGKILL)
            self.assertTrue(os.path.exists(self.parts.folder))
            before = nmb.open(self.file).generation
            self.parts.commit(mode, sync=False)
            self.assertEqual(nmb.open(self.file).generation, before)
            self.assertFalse(os.path.exists(self.parts.folder))
            self.parts = nmb.Parts(self.file)
        self.assertEqual(len(events_of(self.file)), 4)
        # Blocks of the same names with other content are no earlier commit.
        with self.parts.writer(1, sync=False) as out:
            write_part(out, 1)
            out["event/001"].attrs["changed"] = 1
        with self.assertRaises(nmb.ConflictError):
            self.parts.commit("a")

    def test_a_late_worker_fails(self):
        sent = pickle.dumps(self.parts)
        self.put(1)
        out = self.parts.writer(2, sync=False)
        write_part(out, 2)
        self.parts.commit(keys=[1], sync=False)
        with self.assertRaises(nmb.Error):
            out.close()
        with self.assertRaises(FileNotFoundError):
            pickle.loads(sent).writer(3)
        self.assertEqual(os.listdir(self.folder), ["run.nmb"])

    def test_waiting_for_another_writer(self):
        with nmb.Writer(self.file, sync=False) as out:
            write_part(out, 0)
        self.put(1)
        out = nmb.Writer(self.file, "a", sync=False)
        with self.assertRaises(nmb.BusyError):
            self.parts.commit("a")
        with self.assertRaisesRegex(nmb.BusyError, "waited 0.2 s"):
            self.parts.commit("a", wait=0.2)
        threading.Timer(0.2, out.close).start()
        self.parts.commit("a", wait=60, sync=False)
        self.assertEqual(len(events_of(self.file)), 2)


class ManyProcessesTest(FolderTest):
    def test_processes_append_at_once(self):
        """No record and no block is lost, and each commit is there as a whole."""
        path = self.path("a.nmb")
        processes = [
            subprocess.Popen([sys.executable, "-c", APPEND, path, str(number)], stderr=subprocess.PIPE) for number in range(PROCESSES)
        ]
        for process in processes:
            self.assertEqual((process.communicate(timeout=600)[1], process.returncode), (b"", 0))
        file = nmb.open(path)
        log = file["log/n"][...].tolist()
        order = [log[at] for at in range(0, len(log), 5)]
        self.assertEqual(log, [one for number in order for one in [number] * 2 + [1000 + number] * 3])
        self.assertEqual(sorted(order), list(range(PROCESSES)))
        self.assertEqual(file.generation, 2 * PROCESSES + 1)
        self.assertTrue(nmb.verify(path))
        self.assertEqual(os.listdir(self.folder), ["a.nmb"])
        for number in range(PROCESSES):  # in each commit, what was there before, and this
            generation = nmb.open(path, generation=2 * number + 3)
            self.assertEqual(len(generation), number + 2)
            self.assertEqual(generation["log/n"][...].tolist(), log[: 5 * number + 5])
        one = self.path("one.nmb")
        for number in order:
            python(APPEND, one, number)
        self.assertEqual(nmb.digest(one).file, nmb.digest(path).file)
        with open(one, "rb") as first, open(path, "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_killed_processes_hold_no_lock(self):
        path = self.path("a.nmb")
        code = APPEND.replace("out.commit()", "out.commit(); print('x', flush=True); import time; time.sleep(100)")
        for number in range(3):
            process = subprocess.Popen([sys.executable, "-c", code, path, str(number)], stdout=subprocess.PIPE)
            process.stdout.readline()
            process.kill()
            process.communicate()
        python(APPEND, path, 9)
        self.assertEqual(nmb.open(path)["log/n"][...].tolist(), [0, 0, 1, 1, 2, 2, 9, 9, 1009, 1009, 1009])
        self.assertTrue(nmb.verify(path))


if __name__ == "__main__":
    unittest.main()
