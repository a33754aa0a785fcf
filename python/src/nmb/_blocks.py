"""The blocks of a file, as a sequence that is not built."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

from . import _display
from ._block import Block
from ._errors import MissingError, SelectionError
from ._handles import State

if TYPE_CHECKING:
    from ._file import File

# Blocks that are taken from the index at once, at first and at most.
_FIRST, _MOST = 16, 1024


def iterate(file: File, glob: str) -> Iterator[Block]:
    """The blocks whose names match, in the order of names. Reads the index as it goes."""
    return _iterate(file, file._current(), glob)


def _iterate(file: File, state: State, glob: str) -> Iterator[Block]:
    start, number = "", _FIRST
    while True:
        some = state.native().blocks(glob, start, number)
        for handle in some:
            yield Block(file, state, handle.name, handle)
        if len(some) < number:
            return
        start, number = some[-1].name + "\0", min(4 * number, _MOST)


class BlockSelection:
    """The blocks whose names match a pattern. Iterating reads the index as far as it gets; ``len()`` reads it once. Has no
    positions: ``list(selection)`` does. Safe for threads::

        >>> [block.name for block in f.blocks.glob("station/n*")]
        ['station/north']
    """

    def __init__(self, file: File, glob: str) -> None:
        self._file = file
        self._state = file._current()
        self._glob = glob
        self._length: int | None = None

    def __iter__(self) -> Iterator[Block]:
        return _iterate(self._file, self._state, self._glob)

    def __len__(self) -> int:
        if self._length is None:
            self._length = int(self._state.native().count(self._glob))
        return self._length

    @property
    def names(self) -> list[str]:
        """The names of the blocks."""
        return [block.name for block in self]

    def __repr__(self) -> str:
        return _display.selection_text(self)

    def _repr_html_(self) -> str:
        return _display.selection_html(self)


class Blocks:
    """The blocks of a file, in the order of their names: ``len(f.blocks)`` and ``f.blocks[7]`` read a few pages of the index,
    whatever the number of blocks is. A position out of range raises ``SelectionError``, an ``IndexError``. Safe for threads::

        >>> f.blocks[-1].name, len(f.blocks)
        ('station/south', 2)
        >>> [block.name for block in f.blocks[:1]]
        ['station/north']
    """

    def __init__(self, file: File) -> None:
        self._file = file

    def __len__(self) -> int:
        return self._file.totals.blocks

    @overload
    def __getitem__(self, position: int) -> Block: ...
    @overload
    def __getitem__(self, position: slice) -> list[Block]: ...
    def __getitem__(self, position: int | slice) -> Block | list[Block]:
        if type(position) is int and 0 <= position < 1 << 63:
            try:
                return self._at(position)
            except MissingError:
                pass
        if isinstance(position, str):
            raise TypeError(f"blocks have positions; use f[{position!r}] for a name, f.blocks.glob({position!r}) for a pattern")
        length = len(self)
        if isinstance(position, slice):
            return [self._at(i) for i in range(*position.indices(length))]
        i = operator.index(position)
        if not -length <= i < length:
            raise SelectionError(
                f"position {i} is out of range: the file has {_display.counted(length, 'block')}", file=self._file.path
            )
        return self._at(i % length)

    def _at(self, position: int) -> Block:
        state = self._file._current()
        handle = state.native().block_at(position)
        return Block(self._file, state, handle.name, handle)

    def __iter__(self) -> Iterator[Block]:
        return iterate(self._file, "**")

    def __contains__(self, block: object) -> bool:
        if isinstance(block, Block):
            return block._state == self._file._current()
        return isinstance(block, str) and self._file._native().block(block) is not None

    def glob(self, pattern: str) -> BlockSelection:
        """The blocks whose names match as a whole: ``*`` and ``?`` match within a part of a path, ``**`` across parts, and
        ``[a-z]`` one character."""
        return BlockSelection(self._file, pattern)

    def __repr__(self) -> str:
        return _display.blocks_text(self)

    def _repr_html_(self) -> str:
        return _display.blocks_html(self)


def any_block(block: Any) -> Any:
    """Converts a block for the native calls, which take its native handle, its name or its position."""
    if isinstance(block, Block):
        return block._native()
    return block if isinstance(block, str) else operator.index(block)
