"""The ranks of mpi4py write one file: the bytes of one process, and the same failure on all ranks."""

import os
import subprocess
import sys
import unittest

import numpy as np
from support import FolderTest, nmb

PROBE = """
from mpi4py import MPI
import nmb
from nmb import _mpi
library, why = _mpi._library_of(MPI)
if why is None:
    nmb._core.try_mpi({"mpi": library}, MPI._addressof(MPI.COMM_SELF))
print(library)
"""


def library_of_mpi4py():
    """The name of the plug-in, or why the tests cannot run."""
    found = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True)
    if "ModuleNotFoundError" in found.stderr:
        return "", "mpi4py is not installed"
    if found.returncode or not found.stdout.strip():
        return "", (found.stderr.strip().splitlines() or ["the MPI library of mpi4py is not supported"])[-1]
    return found.stdout.strip(), ""


LIBRARY, WHY_NOT = library_of_mpi4py()

HEAD = """
import os, sys
from mpi4py import MPI
import numpy as np
import nmb
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
path = sys.argv[1]

def failing(work):
    '''The failure that each rank has, as (kind, text).'''
    try:
        work()
    except Exception as error:
        return comm.allgather((type(error).__name__, str(error)))
    return comm.allgather(None)
"""

WRITE = """
with nmb.Writer(path, "w", ranks=comm, sync=False) as out:
    count = 24 // size
    mine = range(rank * count, (rank + 1) * count)
    shared = out.block("shared", attrs={"title": "all"})
    t = shared.variable("t", "f8", {"time": None, "x": 24}, {"units": "K"})
    s = shared.variable("s", "i4", "x")
    for i in mine:
        out[f"own/{i:03}"] = {"x": ("i", np.arange(5.0) + i, {"units": "m"}), "name": ("n", [f"n{i}"])}
    out.end_define()
    s[mine.start : mine.stop] = mine
    for step in range(3):
        t.put_all((step, slice(mine.start, mine.stop)), np.array(mine) + 100.0 * step)
    t.put_all(slice(3, 4), np.arange(24.0)) if rank == 0 else t.put_all()
    assert out.commit() == 1
    t[4, mine.start : mine.stop] = mine
    out.redefine()
    for i in mine:
        out[f"later/{i:03}"] = {"x": i}
    assert t.shape[1:] == (24,)
assert out.closed and out.generation == 2
"""

FAIL = """
def in_the_block():
    with nmb.Writer(path, "x", ranks=comm) as out:
        t = out.block("b").variable("t", "f8", {"x": size})
        out.end_define()
        if rank == size - 1:
            raise RuntimeError("no power")
        t.put_all(rank, 1.0)

def in_an_argument():
    with nmb.Writer(path, "x", ranks=comm) as out:
        t = out.block("b").variable("t", "i4", {"x": size})
        out.end_define()
        t.put_all(rank, 1.5 if rank == 0 else 1)

def in_definitions():
    with nmb.Writer(path, "x", ranks=comm) as out:
        out.block("b").variable("t", "f8", {"x": 5 + rank})

def forgotten():
    out = nmb.Writer(path, "x", ranks=comm)
    out.block("b").variable("t", "f8", {"x": size})
    if rank == 0:
        out.discard("changed its mind")
    out.close()

def wrong_path():
    nmb.Writer(path + "/nothing/a.nmb", ranks=comm)

for work, first, others in ((in_the_block, "RuntimeError", "no power"), (in_an_argument, "RangeError", "1.5"),
                            (in_definitions, "ConflictError", ""), (wrong_path, "MissingFileError", "nothing")):
    found = failing(work)
    assert all(found), (work, found)
    assert first in [kind for kind, _ in found], found
    assert all(others in text for _, text in found), found
    assert first == "RuntimeError" or all(kind == first for kind, _ in found), found
    assert not os.path.exists(path)
    comm.barrier()
found = failing(forgotten)
assert found[0] is None and all("changed its mind" in text for _, text in found[1:]), found
# The communicator of the program is as it was.
assert comm.allreduce(1) == size
for bad in (MPI.COMM_NULL, 5, "MPI"):
    try:
        nmb.Writer(path, ranks=bad)
    except nmb.UsageError:
        continue
    raise AssertionError(bad)
for options in ({"wait": 5, "mode": "a"},):
    try:
        nmb.Writer(path, ranks=comm, **options)
    except nmb.UsageError:
        continue
    raise AssertionError(options)

# A communicator of some ranks; and what a shared writer does not allow.
half = comm.Split(rank % 2)
import threading
with nmb.Writer(f"{path}{rank % 2}", ranks=half, sync=False) as out:
    t = out.block("b").variable("t", "i4", {"time": None})
    out.end_define()
    for call in (lambda: t.append(1),):
        try:
            call()
        except nmb.UsageError:
            continue
        raise AssertionError
    wrong = []
    def other_thread():
        try:
            t[0] = 1
        except nmb.UsageError as error:
            wrong.append(error)
    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert wrong
    t[half.rank] = half.rank
half.Free()
"""

NO_PLUGIN = """
os.environ["NMB_PLUGIN_PATH"] = "/nowhere" if rank == size - 1 else sys.argv[2]
found = failing(lambda: nmb.Writer(path, "w", ranks=comm))
assert all(kind == "UnsupportedError" and "found no plug-in" in text and f"(on rank {size - 1})" in text for kind, text in found), found
assert not os.path.exists(path)
"""

WRONG_LIBRARY = """
class Wrapped:
    def __getattr__(self, name):
        return getattr(MPI, name)
    def Get_library_version(self):
        return {"other": "Other MPI 5.0", "mpich": "MPICH Version: 4.0", "openmpi": "Open MPI v4.1"}[sys.argv[2]]
from nmb import _mpi
library, why = _mpi._library_of(Wrapped())
assert _mpi._library_of(MPI)[1] is None
assert why and (sys.argv[2] == "other" or "another interface" in why), (library, why)
assert len(_mpi._loaded()) == 1, _mpi._loaded()
_mpi._loaded = lambda: {"/a/libmpi.so.12", "/b/libmpich.so.12"}
try:
    nmb.Writer(path, ranks=comm)
except nmb.UnsupportedError as error:
    assert "/a/libmpi.so.12 and /b/libmpich.so.12" in str(error), error
else:
    raise AssertionError
_mpi._handle = lambda mpi: 0x101  # as mpi4py that was built for the interface of MPI 5
if sys.argv[3] == "mpich":
    assert "another interface" in _mpi._library_of(MPI)[1]
if sys.argv[3] == "mpich":  # Open MPI is there for all libraries of the process to see
    try:
        nmb._core.try_mpi({"mpi": sys.argv[3]}, MPI._addressof(MPI.COMM_SELF))
    except nmb.UsageError as error:
        assert "in this process" in str(error), error
    else:
        raise AssertionError
"""


@unittest.skipUnless(LIBRARY, WHY_NOT)
class MpiWritingTest(FolderTest):
    def run_ranks(self, size, code, *arguments):
        command = {"openmpi": ["mpiexec.openmpi", "--oversubscribe"], "mpich": ["mpiexec.mpich"]}[LIBRARY]
        environment = {
            **os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
        }  # fmt: skip
        try:
            done = subprocess.run(
                [*command, "-n", str(size), sys.executable, "-c", HEAD + code, *arguments],
                capture_output=True, text=True, timeout=300, env=environment,
            )  # fmt: skip
        except FileNotFoundError:
            self.skipTest(f"{command[0]} is not installed")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_bytes_of_one_process(self):
        contents = set()
        for size in (1, 2, 4):
            path = self.path(f"{size}.nmb")
            self.run_ranks(size, WRITE, path)
            self.assertTrue(nmb.verify(path))
            with open(path, "rb") as file:
                contents.add(file.read())
        self.assertEqual(len(contents), 1)
        alone = self.path("alone.nmb")
        code = HEAD.replace("comm = MPI.COMM_WORLD", "comm = None").replace("comm.rank, comm.size", "0, 1").replace(
            "from mpi4py import MPI\n", ""
        )  # fmt: skip
        subprocess.run([sys.executable, "-c", code + WRITE, alone], check=True, timeout=120)
        with open(alone, "rb") as file:
            self.assertEqual({file.read()}, contents)
        file = nmb.open(alone)
        self.assertEqual(len(file), 49)
        expected = [np.arange(24.0) + 100 * step for step in range(3)] + [np.arange(24.0)] * 2
        self.assertTrue(np.array_equal(file["shared/t"][...], expected))
        self.assertEqual(file["shared/s"][...].tolist(), list(range(24)))
        self.assertEqual(file["own/007"].read()["x"].tolist(), [7, 8, 9, 10, 11])

    def test_failures_are_those_of_all_ranks(self):
        for size in (2, 3):
            self.run_ranks(size, FAIL, self.path("a.nmb"))
            for parity in range(2):
                count = len(range(parity, size, 2))
                self.assertEqual(nmb.open(self.path(f"a.nmb{parity}"))["b/t"][...].tolist(), list(range(count)))
                os.remove(self.path(f"a.nmb{parity}"))
            self.assertEqual(os.listdir(self.folder), [])

    def test_a_missing_plug_in(self):
        """On one rank alone: refused on all, before anything is touched."""
        folder = os.path.join(os.path.dirname(nmb.__file__), "_bin/nmb")
        if not os.path.isdir(folder):
            build = os.path.dirname(os.path.dirname(sys.prefix))
            folder = os.path.join(build, "lib/nmb")
        self.run_ranks(3, NO_PLUGIN, self.path("a.nmb"), folder)

    def test_another_library(self):
        other = {"openmpi": "mpich", "mpich": "openmpi"}[LIBRARY]
        for version in ("other", other):
            self.run_ranks(1, WRONG_LIBRARY, self.path("a.nmb"), version, other)

    def test_the_launcher_of_another_library(self):
        """Each process would take itself for the whole job."""
        code = HEAD + "os.environ['PMI_SIZE'] = '2'\ntry: nmb.Writer(path, ranks=comm)\nexcept nmb.UnsupportedError as e: assert 'launcher' in str(e)\nelse: raise AssertionError"
        subprocess.run([sys.executable, "-c", code, self.path("a.nmb")], check=True, timeout=120)
        self.assertEqual(os.listdir(self.folder), [])

    def test_without_mpi4py(self):
        code = "import sys; sys.modules['mpi4py'] = None\nimport nmb\ntry: nmb.Writer(sys.argv[1], ranks=1)\nexcept nmb.UnsupportedError as e: assert 'mpi4py' in str(e)\nelse: raise AssertionError"
        subprocess.run([sys.executable, "-c", code, self.path("a.nmb")], check=True, timeout=120)


if __name__ == "__main__":
    unittest.main()
