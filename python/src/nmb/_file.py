"""Files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, KeysView, Mapping
from types import TracebackType
from typing import Any

from . import _display
from ._block import Block
from ._blocks import Blocks, iterate
from ._errors import MissingError, UsageError
from ._handles import Options, State, open_state
from ._many import ManyReads
from ._reports import Finding, Totals
from ._threads import thread_count
from ._variable import Variable

_EXTERNAL = {"none": 0, "beneath": 1, "any": 2}


class File(ManyReads, Mapping[str, Any]):
    """A file that is open for reading: a mapping of blocks, and of variables by their full names::

        >>> f = nmb.open("stations.nmb")
        >>> len(f), list(f)
        (2, ['station/north', 'station/south'])
        >>> f["station/north"].dims
        {'time': 4, 'component': 2}
        >>> f["station/north/temperature"][1:3]
        array([281., 282.], dtype=float32)

    A classic file is one block, whose name is empty, so ``f["temperature"]`` is a variable of it. Each group of a netCDF-4 or
    HDF5 file is a block. Where a block and a variable have the same full name, ``f[name]`` is the block. A name that leads over
    hard or soft links of HDF5 is found too, but iterating gives each block once, under its own name.

    Files may be used by several threads and after a fork, and can be pickled: what arrives in another process reads the same
    generation of the same path. ``f[name]`` raises ``MissingError``, a ``KeyError``, if there is no such block or variable."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._closed = False

    def _current(self) -> State:
        """The current state of the file; refresh() replaces it."""
        if self._closed:
            raise UsageError("the file is closed", file=self.path)
        return self._state

    def _native(self) -> Any:
        return self._current().native()

    def _missing(self, state: State, name: str) -> MissingError:
        text = f'found no block or variable "{name}"'
        below = state.native().totals(name + "/")[0] if name else 0
        if below:
            text = f'found no block "{name}"; the names of {below} blocks begin with "{name}/": use f.blocks.glob("{name}/**")'
        return MissingError(text, file=self.path, object=name)

    # --- what the file is ---

    @property
    def path(self) -> str:
        """The absolute path."""
        return os.fsdecode(self._state.options.path)

    @property
    def kind(self) -> str:
        """"NMB", "CDF-1", "CDF-2", "CDF-5" or "HDF5" (also for netCDF-4)."""
        kind: str = self._native().kind
        return kind

    @property
    def generation(self) -> int:
        """The number of the commit that is read; 0 for files other than NMB files."""
        generation: int = self._native().generation
        return generation

    @property
    def has_hdf5_view(self) -> bool:
        """Whether HDF5 programs can read the file without conversion; False for files other than NMB files."""
        has: bool = self._native().has_hdf5_view
        return has

    @property
    def totals(self) -> Totals:
        """The numbers of all objects, from the index alone."""
        return Totals(*self._native().totals(""))

    def totals_of(self, prefix: str) -> Totals:
        """The numbers of objects of the blocks whose names begin with ``prefix``; reads a few pages of the index."""
        return Totals(*self._native().totals(prefix))

    @property
    def provenance(self) -> list[dict[str, Any]]:
        """How the file was made: what each writing program recorded, oldest first; documents of the kind that
        ``nminspect provenance`` prints."""
        return [json.loads(text) for text in self._native().provenance()]

    @property
    def warnings(self) -> list[Finding]:
        """Defects that did not prevent opening."""
        found: list[Finding] = self._native().warnings()
        return found

    def refresh(self) -> bool:
        """Opens the newest generation of the file, if a program has added one. Blocks and variables that were taken from the
        file keep what they are. Returns whether the file is now another one. Errors: those of ``nmb.open``."""
        before = self._current()
        newest = open_state(before.options)
        if newest == before:
            return False
        self._state = newest
        return True

    def close(self) -> None:
        """Ends the use of this object. Blocks and variables that were taken from it can still be read."""
        self._closed = True
        self._state = self._state.without_handle()

    def __enter__(self) -> File:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- blocks and variables ---

    @property
    def blocks(self) -> Blocks:
        """The blocks by position, as a sequence; ``f.blocks.glob(pattern)`` for some of them."""
        return Blocks(self)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"a block is found by its name; use f.blocks[{name!r}] for a position")
        state = self._current()
        handle = state.native().block(name)
        if handle is not None:
            return Block(self, state, handle.name, handle)
        if name.startswith("/"):
            return self[name.strip("/")]
        above, _, variable = name.rpartition("/")
        handle = state.native().block(above)
        if handle is None:
            raise self._missing(state, name)
        block = Block(self, state, handle.name, handle)
        try:
            return Variable(block, variable, handle.variable(variable))
        except MissingError:
            raise self._missing(state, name) from None

    def block(self, name: str) -> Block:
        """The block of this name, also where a variable has the same full name. Errors: ``MissingError``, a ``KeyError``."""
        state = self._current()
        handle = state.native().block(name)
        if handle is None:
            raise self._missing(state, name)
        return Block(self, state, handle.name, handle)

    def variable(self, name: str) -> Variable:
        """The variable of this full name, also where a block has the same name. Errors: ``MissingError``, a ``KeyError``."""
        above, _, variable = name.rpartition("/")
        return self.block(above)[variable]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if self._native().block(name) is not None:
            return True
        try:
            self[name]
        except MissingError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        for block in iterate(self, "**"):
            yield block.name

    def keys(self) -> KeysView[str]:
        """The names of the blocks."""
        return _Names(self)

    def __len__(self) -> int:
        return self.totals.blocks

    def __bool__(self) -> bool:
        return True

    def find(
        self,
        expression: str,
        *,
        read_values: bool = True,
        threads: int | None = None,
        undecided: str = "raise",
    ) -> list[Block]:
        """The blocks for which an expression over tags, attributes, statistics and values holds (docs/guides/find.md)::

            >>> [block.name for block in f.find("temperature.max > 285 || site == 'north'")]
            ['station/north', 'station/south']

        A variable of HDF5 with several names is known by the first one alone.

        Args:
            read_values: whether values are read where stored statistics do not decide.
            threads: the number of threads that read values; None for all processors.
            undecided: "raise", or "skip" to leave out blocks that cannot be decided, with a warning (``warnings.warn``).
        Errors: ``UsageError`` if the expression is wrong; ``MissingError`` if no block has what it names; those of reading.
        """
        import warnings

        if undecided not in ("raise", "skip"):
            raise UsageError(f'undecided: found {undecided!r}, expected "raise" or "skip"')
        state = self._current()
        handles, notes = state.native().find(
            expression, read_values, thread_count(threads), undecided == "raise"
        )
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return [Block(self, state, handle.name, handle) for handle in handles]

    # --- other ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, File):
            return NotImplemented
        return self._state == other._state

    def __hash__(self) -> int:
        return hash(self._state.options)  # which refresh() does not change

    def __reduce__(self) -> Any:
        return File, (self._state,)

    def __repr__(self) -> str:
        return _display.file_text(self)

    def _repr_html_(self) -> str:
        return _display.file_html(self)


class _Names(KeysView[str]):
    def __repr__(self) -> str:
        return _display.names_text("Names", self, len(self))


def open(  # noqa: A001
    path: str | os.PathLike[str],
    *,
    verify: bool = True,
    generation: int | None = None,
    external: str = "beneath",
    cache: int = 64 << 20,
    request_bytes: int = 0,
) -> File:
    """Opens a file of any kind for reading: NMB, classic netCDF, netCDF-4 or HDF5. The content decides what it is::

        >>> with nmb.open("stations.nmb") as f:
        ...     f["station/south/temperature"][...]
        array([290., 291.], dtype=float32)

    Args:
        path: the path.
        verify: whether all values are compared with their checksums. Without it, a read of a few values of a large piece reads
            only those, and does not notice damage.
        generation: the commit of an NMB file to read; None for the newest.
        external: which other files may be opened if this one refers to them: "none", "beneath" its folder, or "any".
            With "any", values of external and virtual data sets of HDF5 are copied to a temporary file at once; all their
            sources must exist, and what changes in them later is not noticed.
        cache: bytes of memory for the definitions of blocks.
        request_bytes: 0 for a local file. For a file on a network, the bytes that could be transferred in the time that a
            request takes: neighbouring ranges are then read together.
    Errors:
        ``FileNotFoundError``, ``UnknownKindError``, ``DamagedError``, ``UnsupportedError``: each is an ``nmb.Error``.
    """
    if external not in _EXTERNAL:
        raise UsageError(f"external: found {external!r}, expected one of {list(_EXTERNAL)}")
    for what, number in (("cache", cache), ("request_bytes", request_bytes), ("generation", generation or 0)):
        if not 0 <= number < 1 << 63:
            raise UsageError(f"{what}: found {number}, expected at least 0")
    name = os.fsencode(path)
    if not name:
        raise UsageError("path: found an empty name")
    if b"\0" in name:  # the system's calls would end the name there
        raise UsageError("path: found a NUL in it")
    options = Options(os.path.abspath(name), bool(verify), _EXTERNAL[external], int(cache), int(request_bytes))
    state = open_state(options, generation or 0)
    if generation and not state.generation:
        raise UsageError(f"generation: found {generation}, but only NMB files have generations", file=os.fsdecode(options.path))
    return File(state)
