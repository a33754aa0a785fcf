"""MPI communicators of mpi4py, for a writer of several ranks."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

from . import _core
from ._errors import Error, UnsupportedError, UsageError

# The size of an MPI_Comm tells a library's own handles from those of another interface.
_LIBRARIES = {"Open MPI": ("openmpi", 8), "MPICH": ("mpich", 4)}
# What launchers say of the number of processes.
_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
_LEAST_ADDRESS = 1 << 16


class Communicator:
    """An MPI communicator whose library has been found and tried on all its ranks."""

    def __init__(self, comm: Any) -> None:
        try:
            from mpi4py import MPI  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise UnsupportedError(f"ranks: cannot import mpi4py: {error}") from error
        if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
            raise UsageError(f"ranks: found {comm!r}, expected an intracommunicator of mpi4py, such as MPI.COMM_WORLD")
        self.comm = comm
        self.library, why = _library_of(MPI)
        if why is None:
            try:
                _core.try_mpi({"mpi": self.library}, MPI._addressof(MPI.COMM_SELF))
            except Error as error:
                why = str(error)
            if why is None and len(libraries := _loaded()) > 1:
                why = f"found two MPI libraries in this process: {' and '.join(sorted(libraries))}; that of mpi4py must be the plug-in's"
        # A rank without the plug-in must not leave the others waiting.
        for rank, found in enumerate(comm.allgather(why)):
            if found is not None:
                raise UnsupportedError(f"ranks: {found} (on rank {rank})")
        self.address = MPI._addressof(comm)


def _loaded() -> set[str]:
    """The MPI libraries in this process. A second one, of the plug-in, would take each process for a whole job."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        found = re.findall(r" (/.*/lib(?:mpi|mpich)\.so[0-9.]*)$", maps.read(), re.M)
    return {os.path.realpath(path) for path in found}


def _handle(mpi: Any) -> int:
    """The handle of a communicator: an address in Open MPI, a small number in the interface that MPI 5 defines for all
    libraries."""
    return ctypes.c_size_t.from_address(mpi._addressof(mpi.COMM_SELF)).value


def _library_of(mpi: Any) -> tuple[str, str | None]:
    """The name of the plug-in for the MPI library of mpi4py, or why there is none."""
    launched = max(int(found) if found.isdecimal() else 0 for found in (os.environ.get(name, "") for name in _LAUNCHED))
    version = mpi.Get_library_version().split(",")[0].splitlines()[0].strip()
    if mpi.COMM_WORLD.Get_size() == 1 and launched > 1:
        return "", f"found 1 rank of {version}, expected {launched}; the launcher belongs to another MPI library"
    for name, (library, size) in _LIBRARIES.items():
        if version.startswith(name):
            if mpi._sizeof(mpi.Comm) != size or (size == 8 and _handle(mpi) < _LEAST_ADDRESS):
                return "", f"this mpi4py was built for another interface than that of {version}; build it for this library"
            return library, None
    return "", f"found {version}, expected {' or '.join(_LIBRARIES)}"
