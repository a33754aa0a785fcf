"""Writers: files that are written block by block."""

from __future__ import annotations

import atexit
import os
import random
import threading
import time
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

import numpy as np

from . import _core, _stored
from ._errors import BusyError, Error, ExistsError, MissingError, MissingFileError, UnsupportedError, UsageError
from ._handles import Epoch
from ._mpi import Communicator
from ._outputs import Path
from ._writer_block import Values, WriterBlock, WriterVariable, _Plan

# Values of new variables wait in memory up to this number of bytes, so that many blocks are defined together.
_MOST_WAITING = 32 << 20
# Seconds between two looks at a file that another writer holds.
_SHORT, _LONG = 0.001, 0.05

_with_ranks: weakref.WeakSet[Writer] = weakref.WeakSet()


@atexit.register
def _discard_before_mpi_ends() -> None:
    for writer in list(_with_ranks):
        writer.discard()


class Writer:
    """Writes an NMB file, block by block. The file appears, or changes, when the ``with`` block ends without an exception; an
    exception leaves it as it was::

        >>> with nmb.Writer("new.nmb") as out:
        ...     out["station/north"] = {"temperature": ("time", np.array([280, 281], "f4"), {"units": "K"})}
        ...     wind = out.block("station/south").variable("wind", "f4", {"time": None, "component": 2})
        ...     wind.append([3, 4])
        >>> nmb.open("new.nmb")["station/south/wind"][...]
        array([[3., 4.]], dtype=float32)

    ``commit()`` makes what has been written so far a generation, which readers see at once and which a later exception keeps.

    Args:
        path: the file. It is made under this name only when it is complete.
        mode: "x" makes a new file and fails if there is one; "w" replaces a file, if there is one; "a" adds to a file. If there is
            no file, "a" makes an empty one at once, so that several processes can begin together.
        ranks: a communicator of mpi4py, whose processes write the file together (below); None for one process.
        wait: mode "a": for how many seconds to wait while another writer has the file.
        sync: whether a commit waits until the data are on the device.
        hdf5_view, statistics: as for ``merge``.
        piece_size: new files: the most bytes of values under one checksum, a power of 2 from 65,536 to 2^30.
        alignment: the stripe size of the file in bytes, 0 or a power of 2 from 4096 to 2^30.
        aggregators: how many ranks write metadata for all; 0: automatic.

    Values are not compressed; ``nmb.merge(path, new, codec="zstd")`` does that.

    **Threads.** Several threads may use one writer; their calls take turns, without the interpreter's lock while the library works. Another
    process cannot use it: after a fork it refuses, and it cannot be pickled (see ``nmb.Parts``). A forked child that starts no
    other program keeps the lock of the file until it ends. Ctrl-C waits for the end of the call that is at work, and then acts as
    any exception.

    **Ranks.** All ranks make the writer with the same arguments. These calls are collective: the constructor, ``end_define``,
    ``redefine``, ``commit``, ``close``, the end of the ``with`` block, and ``v.put_all``. All others are local. Definitions come
    first, then ``end_define()``, then values. Ranks may define the same block, in parts or alike; if they contradict each other,
    ``end_define()`` fails. Values that are passed with a definition are kept until ``end_define()``. A failure of a collective
    call is the same exception on all ranks; an exception on one rank makes the next collective call of the others fail, with the same
    exception if it is an ``nmb.Error``. Only
    the thread that made the writer uses it. The file is that of one process if the ranks define blocks in the order of ranks.

    Errors: ``ExistsError``, ``MissingFileError`` (a folder that does not exist), ``BusyError`` (another writer has the file),
    ``DamagedError``, ``UnknownKindError``, ``NoSpaceError``; ``UnsupportedError`` without a plug-in for mpi4py's MPI library.
    After a failure other than ``UsageError``, ``ExistsError``, ``MissingError`` and ``RangeError``, the writer cannot go on."""

    def __init__(
        self,
        path: Path,
        mode: str = "x",
        *,
        ranks: Any = None,
        wait: float = 0.0,
        sync: bool = True,
        hdf5_view: str = "small",
        statistics: str = "none",
        piece_size: int = 1 << 20,
        alignment: int = 0,
        aggregators: int = 0,
    ) -> None:
        self._native: Any = None
        name = os.fsencode(path)
        if not name or b"\0" in name:
            raise UsageError("path: found an empty name or a NUL in it")
        self._path = os.path.abspath(name)
        if mode not in ("x", "w", "a"):
            raise UsageError(f'mode: found {mode!r}, expected "x", "w" or "a"')
        if wait and (mode != "a" or ranks is not None):
            raise UsageError('wait: only for mode="a" of one process')
        if not wait >= 0:
            raise UsageError(f"wait: found {wait}, expected at least 0 seconds")
        communicator = None if ranks is None else Communicator(ranks)
        self._is_shared = communicator is not None
        self._comm = communicator  # keeps the communicator of mpi4py
        self._options = dict(
            mode=mode,
            sync=bool(sync),
            hdf5_view=hdf5_view,
            statistics=statistics,
            piece_size=piece_size,
            alignment=alignment,
            aggregators=aggregators,
            mpi=communicator.library if communicator else "openmpi",
        )
        self._lock = threading.RLock()
        self._thread = threading.get_ident()
        self._epoch = Epoch.now
        self._waiting: list[tuple[WriterVariable, list[int], list[int], list[int], Any]] = []
        self._waiting_bytes = 0
        self._waiting_records: dict[int, int] = {}
        self._ends: dict[tuple[str, str], int] = {}
        self._first_records: dict[str, int] = {}
        self._blocks: weakref.WeakValueDictionary[str, WriterBlock] = weakref.WeakValueDictionary()
        self._defines = True
        self._native = self._open(float(wait), communicator.address if communicator else 0)
        self._closed_generation = 0
        if self._is_shared:
            _with_ranks.add(self)
        self._warn()

    def _open(self, wait: float, address: int) -> Any:
        limit = time.monotonic() + wait
        pause = _SHORT
        while True:
            try:
                return _core.Writer(self._path, self._options, address)
            except BusyError as error:
                left = limit - time.monotonic()
                if not wait:
                    raise
                if left <= 0:
                    text = f"{error.message}; waited {wait:g} s for it"
                    raise BusyError(text, file=error.file) from None
                # Writers that come and go have equal chances, and none waits long for one that has gone.
                time.sleep(min(left, random.uniform(pause / 2, pause)))
                pause = min(_LONG, 1.5 * pause)
            except MissingFileError:
                if self._options["mode"] != "a" or self._is_shared:
                    raise
                try:
                    empty = _core.Writer(self._path, {**self._options, "mode": "x"}, 0)
                    empty.close()
                except ExistsError:
                    pass

    @property
    def path(self) -> str:
        """The absolute path."""
        return os.fsdecode(self._path)

    @property
    def generation(self) -> int:
        """The number of the last commit; 0 before the first one of a new file."""
        if self._native is None:
            return self._closed_generation
        with self._use() as native:
            return int(native.generation())

    @property
    def closed(self) -> bool:
        """Whether the writer has been closed or discarded."""
        return self._native is None

    def _check(self) -> None:
        if self._native is None:
            raise UsageError("the writer is closed", file=self.path)
        if self._epoch != Epoch.now:
            raise UsageError(
                "the writer belongs to the process that opened it; after a fork, another process cannot use it", file=self.path
            )
        if self._is_shared and threading.get_ident() != self._thread:
            raise UsageError("a writer of several ranks belongs to the thread that made it", file=self.path)

    @contextmanager
    def _use(self) -> Iterator[Any]:
        """The native writer, for this thread alone."""
        self._check()
        with self._lock:
            self._check()
            yield self._native

    @contextmanager
    def _collective(self) -> Iterator[None]:
        """A local step before a collective call: if it fails, this call fails on the other ranks."""
        try:
            yield
        except BaseException as error:
            self._fail(error)
            raise

    def _warn(self) -> None:
        if self._native is not None:
            for text in self._native.warnings():
                warnings.warn(f"{self.path}: {text}", stacklevel=4)

    # --- values ---

    def _put(
        self,
        variable: WriterVariable,
        start: list[int],
        count: list[int],
        stride: list[int],
        array: Any,
        may_wait: bool = False,
    ) -> None:
        """Writes values, or copies them if they can or must wait."""
        fits = self._waiting_bytes + array.nbytes <= _MOST_WAITING
        if (may_wait and fits) or (self._is_shared and self._defines):
            self._waiting.append((variable, start, count, stride, np.array(array)))
            self._waiting_bytes += array.nbytes
            if variable._grows:
                number = variable.block._number
                end = start[0] + (count[0] - 1) * stride[0] + 1
                self._waiting_records[number] = max(end, self._waiting_records.get(number, 0))
            return
        self._put_waiting()
        self._put_now(variable, start, count, stride, array)

    def _put_now(self, variable: WriterVariable, start: Any, count: Any, stride: Any, array: Any) -> None:
        kind = _stored.number_of(variable.dtype)
        self._native.put(variable._number, kind, start, count, stride, array, False, variable.full_name)

    def _put_waiting(self) -> None:
        if not self._waiting or (self._is_shared and self._defines):
            return
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        for one in waiting:
            self._put_now(*one)
        self._waiting_records.clear()

    # --- blocks ---

    def block(
        self,
        name: str,
        variables: Any = None,
        *,
        attrs: Mapping[str, Any] | None = None,
        tags: Mapping[str, str | int | float] | None = None,
        samples: int | None = None,
        unlimited: Iterable[str] | str = (),
    ) -> WriterBlock:
        """Finds a block of the file, or makes it. Nothing of it changes if an argument cannot be written::

            >>> b = out.block("station/west", {"t": ("time", [1.5, 2.5])}, unlimited="time", tags={"site": "west"})
            >>> b.dims, b.unlimited
            ({'time': 2}, frozenset({'time'}))

        Args:
            name: the name, a path.
            variables: new variables: a mapping from names to what ``block[name] = ...`` takes, or a data set of xarray, whose
                variables are loaded, and encoded as ``nmb.xarray.to_nmb`` does.
            attrs: attributes of the block.
            tags: tags, by which ``File.find`` finds the block: only for a block that is not committed.
            samples: the number of samples that the block counts.
            unlimited: the name of the dimension of ``variables`` that may grow, which must be the first of each that has it.
        Errors: those of ``block[name] = ...``; ``UsageError`` for an illegal name.
        """
        _stored.check_block_name(name)
        if hasattr(variables, "subtree"):
            raise UsageError("a tree becomes several blocks: use nmb.xarray.to_nmb", object=name)
        if variables is not None and hasattr(variables, "data_vars"):
            from ._xarray_write import encoded

            variables, more, dims = encoded(variables)
            attrs = {**more, **(attrs or {})}
            unlimited = unlimited or dims
        elif variables is not None and not isinstance(variables, Mapping):
            raise UsageError(
                f"expected a mapping from names of variables to arrays, or a data set of xarray, found {type(variables).__name__}",
                object=name,
            )
        checked = []
        for key, value in (attrs or {}).items():
            checked.append((_stored.check_name(key, "attribute", name), *_stored.attribute_of(key, value, None, name)))
        checked_tags = {key: _tag(key, value) for key, value in (tags or {}).items()}
        if samples is not None and not 0 <= samples < 1 << 63:
            raise UsageError(f"samples: found {samples}, expected at least 0", object=name)
        with self._use() as native:
            block = self._found(name)
            is_new = block is None
            if block is None:
                block = WriterBlock(self, name, native.block(name))
                block._lengths, block._variables = {}, {}
            try:
                plan = _Plan(block, unlimited)
                for key, one in (variables or {}).items():
                    plan.add_values(key, one)
                plan.check_unlimited()
                for key, kind, value in checked:
                    native.set_attribute(block._number, None, key, kind, value)
                for key, value in checked_tags.items():
                    native.set_tag(block._number, key, value)
                if samples is not None:
                    native.set_samples(block._number, samples)
                plan.write()
            except BaseException:
                if is_new:
                    self._forget(block)
                    with suppress(Error):  # of a writer that cannot go on
                        native.remove_block(block._number)
                raise
            self._blocks[name] = block
        return block

    def _found(self, name: str) -> WriterBlock | None:
        block = self._blocks.get(name)
        if block is not None:
            return block
        number = self._native.find_block(name)
        if number is None:
            return None
        self._blocks[name] = block = WriterBlock(self, name, number)
        return block

    def _forget(self, block: WriterBlock) -> None:
        """Drops what is known of a block that is removed."""
        kept = [one for one in self._waiting if one[0].block._number != block._number]
        self._waiting, self._waiting_bytes = kept, sum(one[4].nbytes for one in kept)
        self._waiting_records.pop(block._number, None)
        self._first_records.pop(block.name, None)
        for key in [key for key in self._ends if key[0] == block.name]:
            del self._ends[key]
        self._blocks.pop(block.name, None)

    def __setitem__(self, name: str, variables: Any) -> None:
        with self._use():
            if self._found(_stored.check_block_name(name)) is not None:
                raise ExistsError("the block exists; out.block(name, ...) adds to it, del out[name] removes it", file=self.path, object=name)
            self.block(name, variables)

    def __getitem__(self, name: str) -> Any:
        with self._use():
            block = self._found(name)
            if block is not None:
                return block
            above, _, variable = name.rpartition("/")
            block = self._found(above)
            if block is not None and variable in block:
                return block[variable]
        raise MissingError(f'found no block or variable "{name}"', file=self.path, object=name)

    def __delitem__(self, name: str) -> None:
        with self._use() as native:
            block = self._found(name)
            if block is None:
                raise MissingError(f'found no block "{name}"', file=self.path, object=name)
            native.remove_block(block._number)
            self._forget(block)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        with self._use():
            return self._found(name) is not None

    # --- commits ---

    def add_provenance(self, document: Mapping[str, Any]) -> None:
        """Records how the file was made: a document of JSON, which the next commit writes. With several ranks, only that of
        rank 0 counts. ``File.provenance`` reads it.

        Args:
            document: a mapping of what JSON can have.
        Errors: ``UsageError``.
        """
        import json

        with self._use() as native:
            native.add_provenance(json.dumps(dict(document)))

    def end_define(self) -> None:
        """Ends definitions, and compares those of several ranks. Collective. With one rank, it is not needed. Errors:
        ``ConflictError`` if ranks contradict each other."""
        with self._use() as native:
            if self._is_shared and self._defines:
                native.end_define()
                self._defines = False
            self._put_waiting()

    def redefine(self) -> None:
        """Begins definitions again. Collective. With one rank, it is not needed."""
        with self._use() as native:
            if self._is_shared and not self._defines:
                native.redefine()
                self._defines = True

    def _finish(self) -> None:
        if self._is_shared and self._defines:
            self.end_define()
        self._put_waiting()

    def commit(self) -> int:
        """Makes what has been written so far a generation. When it returns, the generation is on the device (unless ``sync`` is
        false), and no later failure of this writer takes it away. Collective; with several ranks, it ends definitions. Returns
        the number of the generation. Errors: ``NoSpaceError``, ``InputOutputError``; ``ExistsError`` if another program has made
        the file of mode "x" in the meantime; ``BusyError`` if another program has replaced the file."""
        with self._use() as native:
            self._finish()
            native.commit()
            self._warn()
            return int(native.generation())

    def close(self) -> None:
        """Commits and closes; does nothing if it is closed. Collective. Errors: those of ``commit``; the writer is then closed
        all the same, and the file as it was at the last commit."""
        if self._native is None:
            return
        with self._use() as native:
            try:
                self._finish()
                native.close()
                self._closed_generation = int(native.generation())
                self._warn()
            finally:
                self._end(None)

    def discard(self, why: str | None = None) -> None:
        """Closes without a commit: the file stays as it was at the last commit. Does nothing if the writer is closed.

        Args:
            why: with several ranks, the message of the failure that the next collective call of the others has.
        """
        self._discard(why or "a rank has discarded the writer", "usage")

    def _fail(self, error: BaseException) -> None:
        """Discards because of an exception, which the other ranks get too, if it is one of this package."""
        if isinstance(error, Error):
            self._discard(str(error), error.code)
        else:
            self._discard(f"{type(error).__name__}: {error}", "usage")

    def _discard(self, why: str, code: str) -> None:
        if self._native is None or self._epoch != Epoch.now:
            return
        with self._lock:
            self._end(why if self._is_shared else None, code)

    def _end(self, why: str | None, code: str = "usage") -> None:
        native, self._native = self._native, None
        self._waiting, self._waiting_bytes = [], 0
        self._waiting_records.clear()
        _with_ranks.discard(self)
        if native is not None:
            native.discard(why, code)

    def __enter__(self) -> Writer:
        self._check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._fail(error)

    def __del__(self) -> None:
        if getattr(self, "_native", None) is not None and self._epoch == Epoch.now:
            warnings.warn(f"{self.path}: a writer that was not closed is discarded", ResourceWarning, stacklevel=2)
            self.discard()

    def __reduce__(self) -> Any:
        raise TypeError("a Writer cannot be sent to another process; nmb.Parts lets several processes write one file")

    def __repr__(self) -> str:
        return f"<nmb.Writer {self.path!r}{', closed' if self.closed else ''}>"


def _tag(name: str, value: Any) -> str | int | float:
    if isinstance(value, (bool, np.bool_)):
        raise UnsupportedError(f"tag {name!r}: found {value!r}, expected a text or a number")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise UsageError(f"tag {name!r}: found {value}, which has more than 64 bits")
    if not isinstance(value, (str, int, float)):
        raise UnsupportedError(f"tag {name!r}: found {value!r}, expected a text or a number")
    return value


__all__ = ["Values", "Writer"]
