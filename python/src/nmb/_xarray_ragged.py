"""Lazy arrays of one variable of many blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _selection
from ._file import File
from ._threads import thread_count
from ._xarray_array import OuterArray, shown_dtype, shown_values


class Selected:
    """Blocks of a file, by position or name."""

    def __init__(self, file: File, places: np.ndarray[Any, Any], threads: int | None) -> None:
        self.file = file
        self.places = places
        self.threads = threads

    def read(self, items: list[tuple[int, str, Any, Any]]) -> list[Any]:
        """Reads (number of a block, variable, hyperslab or None, array or None)."""
        places = self.places[[item[0] for item in items]].tolist()
        wanted = [(place, *item[1:]) for place, item in zip(places, items)]
        threads = self.threads or thread_count(None)
        out: list[Any] = _core.read_many(self.file._native(), wanted, threads)
        return out


def _ascending(part: slice, length: int) -> tuple[int, int, Any]:
    """The first position and the one behind the last, and the slice that remains."""
    first, stop, step = part.indices(length)
    count = len(range(first, stop, step))
    if not count:
        return 0, 0, slice(None)
    last = first + (count - 1) * step
    return (first, last + 1, slice(None, None, step)) if step > 0 else (last, first + 1, slice(None, None, step))


class RaggedArray(OuterArray):
    """Values of all blocks, one after the other along the first dimension."""

    __slots__ = ("selected", "name", "offsets", "shape", "dtype", "stored", "has_rows")

    def __init__(
        self,
        selected: Selected,
        name: str,
        offsets: np.ndarray[Any, Any],
        row_shape: tuple[int, ...],
        dtype: np.dtype[Any],
        has_rows: bool,
    ) -> None:
        self.selected = selected
        self.name = name
        self.offsets = offsets
        self.shape = (int(offsets[-1]), *row_shape)
        self.stored = dtype
        self.dtype = shown_dtype(dtype)
        self.has_rows = has_rows

    def _outer(self, key: tuple[Any, ...]) -> Any:
        rows, rest = key[0], key[1:]
        offsets = self.offsets
        then: list[Any] = []
        if isinstance(rows, slice):
            first, end, step = _ascending(rows, self.shape[0])
            spans = self._spans(first, end)
            then.append(step)
        elif isinstance(rows, (int, np.integer)):
            first = int(rows) + (self.shape[0] if rows < 0 else 0)
            spans = self._spans(first, first + 1)
            then.append(0)
        else:
            at = np.where(rows < 0, rows + self.shape[0], rows)
            number, inverse = np.unique(np.searchsorted(offsets, at, "right") - 1, return_inverse=True)
            counts = offsets[number + 1] - offsets[number]
            starts = np.cumsum(counts) - counts
            spans = [(int(n), 0, int(c)) for n, c in zip(number, counts)]
            then.append(starts[inverse] + at - offsets[number][inverse])
        slab = _selection.slab_of(tuple(slice(None) if isinstance(p, np.ndarray) else p for p in rest), self.shape[1:])
        assert slab is not None
        values = self._read(spans, slab[0])
        then.extend(p if isinstance(p, np.ndarray) else q for p, q in zip(rest, slab[1]))
        # Integers last, so that arrays do not meet them.
        for axis, part in enumerate(then):
            if isinstance(part, np.ndarray):
                values = values.take(part, axis)
        then = [slice(None) if isinstance(part, np.ndarray) else part for part in then]
        return shown_values(values[tuple(then)], self.stored, self.dtype)

    def _spans(self, first: int, end: int) -> list[tuple[int, int, int]]:
        """(number of a block, first row in it, number of rows) of the blocks with these rows."""
        if end <= first:
            return []
        offsets = self.offsets
        out = []
        begin = int(np.searchsorted(offsets, first, "right")) - 1
        for number in range(begin, int(np.searchsorted(offsets, end, "left"))):
            low, high = int(offsets[number]), int(offsets[number + 1])
            if high > low:
                out.append((number, max(first, low) - low, min(end, high) - max(first, low)))
        return out

    def _read(self, spans: list[tuple[int, int, int]], slab: _selection.Slab) -> np.ndarray[Any, Any]:
        starts, counts, strides = slab
        total = sum(count for _, _, count in spans)
        values = np.empty((total, *counts), self.stored)
        is_whole_row = tuple(counts) == self.shape[1:]
        items = []
        at = 0
        for number, first, count in spans:
            place: Any = values[at : at + count]
            whole = is_whole_row and count == self.offsets[number + 1] - self.offsets[number]
            if not self.has_rows:
                place = place.reshape(counts)
            one = None if whole or not self.has_rows else ([first, *starts], [count, *counts], [1, *strides])
            items.append((number, self.name, one, place))
            at += count
        if values.size:
            self.selected.read(items)
        return values


class PaddedArray(OuterArray):
    """Values of all blocks with the block as first dimension; behind those of a block are fill values."""

    __slots__ = ("selected", "name", "shape", "lengths", "dtype", "stored", "fill")

    def __init__(
        self,
        selected: Selected,
        name: str,
        shape: tuple[int, ...],
        lengths: np.ndarray[Any, Any],
        dtype: np.dtype[Any],
        fill: Any,
    ) -> None:
        self.selected = selected
        self.name = name
        self.shape = shape
        self.lengths = lengths
        self.stored = dtype
        self.dtype = shown_dtype(dtype)
        self.fill = fill

    def _outer(self, key: tuple[Any, ...]) -> Any:
        blocks, rest = key[0], key[1:]
        is_one = isinstance(blocks, (int, np.integer))
        numbers = np.arange(self.shape[0])[[blocks] if is_one else blocks]
        values = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        if self.fill is not None:
            values[...] = self.fill
        elif self.dtype.kind == "O":
            values[...] = ""
        items = [(int(number), self.name, None, None) for number in numbers]
        for i, one in enumerate(self.selected.read(items)):
            place: Any = (i, *(slice(n) for n in self.lengths[numbers[i]]))
            values[place] = shown_values(one, self.stored, self.dtype)
        for axis, part in enumerate(rest, 1):
            if isinstance(part, np.ndarray):
                values = values.take(part, axis)
        return values[(0 if is_one else slice(None), *(slice(None) if isinstance(p, np.ndarray) else p for p in rest))]


class RowNumbers(OuterArray):
    """The number of the block of each row."""

    __slots__ = ("offsets", "shape", "dtype")

    def __init__(self, offsets: np.ndarray[Any, Any]) -> None:
        self.offsets = offsets
        self.shape = (int(offsets[-1]),)
        self.dtype = np.dtype(np.int64)

    def _outer(self, key: tuple[Any, ...]) -> Any:
        part = key[0]
        if isinstance(part, slice):
            at: Any = np.arange(*part.indices(self.shape[0]))
        else:
            at = np.asarray(part)
            at = np.where(at < 0, at + self.shape[0], at)
        return np.asarray(np.searchsorted(self.offsets, at, "right") - 1)
