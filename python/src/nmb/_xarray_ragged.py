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
            # Of each block, from the first row to the last that is wanted.
            at = np.where(rows < 0, rows + self.shape[0], rows)
            number, inverse = np.unique(np.searchsorted(offsets, at, "right") - 1, return_inverse=True)
            at = at - offsets[number][inverse]
            firsts, ends = offsets[number + 1] - offsets[number], np.zeros_like(number)
            np.minimum.at(firsts, inverse, at)
            np.maximum.at(ends, inverse, at + 1)
            counts = ends - firsts
            spans = [(int(n), int(a), int(c)) for n, a, c in zip(number, firsts, counts)]
            then.append((np.cumsum(counts) - counts - firsts)[inverse] + at)
        slab = _selection.slab_of(tuple(slice(None) if isinstance(p, np.ndarray) else p for p in rest), self.shape[1:])
        assert slab is not None
        values = self._read(spans, slab[0])
        then.extend(p if isinstance(p, np.ndarray) else q for p, q in zip(rest, slab[1]))
        # Integers last, so that arrays do not meet them.
        for axis, part in enumerate(then):
            if isinstance(part, np.ndarray):
                values = values.take(part, axis)
        then = [slice(None) if isinstance(part, np.ndarray) else part for part in then]
        out = values[tuple(then)]
        if all(isinstance(part, int) for part in then):  # one element, which may be an array itself
            one = np.empty((), values.dtype)
            one[()] = out
            out = one
        return shown_values(out, self.stored, self.dtype)

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
        # Reads of each block the smallest box that has what is wanted.
        wanted = [np.arange(length)[part] for length, part in zip(self.shape, key)]
        numbers, *places = (np.atleast_1d(part) for part in wanted)
        begins = [int(place.min()) if place.size else 0 for place in places]
        ends = [int(place.max()) + 1 if place.size else 0 for place in places]
        values = np.empty((len(numbers), *(end - begin for begin, end in zip(begins, ends))), self.dtype)
        if self.fill is not None:
            values[...] = self.fill
        elif self.dtype.kind == "O":
            values[...] = ""
        counts = np.maximum(np.minimum(self.lengths[numbers], ends) - begins, 0).astype(int).tolist()
        lengths = self.lengths[numbers].tolist()
        some = [i for i in range(len(numbers)) if all(counts[i])]
        ones = [1] * len(places)
        items = [
            (int(numbers[i]), self.name, None if counts[i] == lengths[i] else (begins, counts[i], ones), None) for i in some
        ]
        for i, one in zip(some, self.selected.read(items) if items else []):
            box: Any = (i, *(slice(count) for count in counts[i]))
            values[box] = shown_values(one, self.stored, self.dtype)
        for axis, (place, begin, end) in enumerate(zip(places, begins, ends), 1):
            if not np.array_equal(place, np.arange(begin, end)):
                values = values.take(place - begin, axis)
        return values[tuple(slice(None) if part.ndim else 0 for part in wanted)]


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
