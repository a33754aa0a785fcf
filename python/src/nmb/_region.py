"""The part of a variable that an assignment writes: basic indexes, of which the first may lie behind the last record."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ._errors import SelectionError


class Region(NamedTuple):
    """A hyperslab, and which dimensions the values have. Without ``counts[0]`` (None), the values say how many records."""

    starts: list[int]
    counts: list[int | None]
    strides: list[int]
    kept: list[int]
    """The dimensions that are indexed by slices."""


def parts_of(key: Any, rank: int) -> list[Any]:
    """One int or slice for each dimension."""
    parts = list(key) if isinstance(key, tuple) else [key]
    out: list[Any] = []
    at = None
    for part in parts:
        if part is Ellipsis:
            if at is not None:
                raise SelectionError("an index can only have a single ellipsis ('...')")
            at = len(out)
        elif isinstance(part, slice):
            out.append(part)
        else:
            try:
                if isinstance(part, bool):
                    raise TypeError
                out.append(operator.index(part))
            except TypeError:
                raise SelectionError(f"values are written to integers and slices, not to {part!r}") from None
    if len(out) > rank:
        raise SelectionError(f"too many indices: the variable has {rank} dimensions, but {len(out)} were indexed")
    at = len(out) if at is None else at
    out[at:at] = [slice(None)] * (rank - len(out))
    return out


def region_of(key: Any, shape: tuple[int, ...], grows: bool) -> Region:
    """The region that a key selects. grows: whether the first dimension is unlimited."""
    region = Region([], [], [], [])
    for axis, (part, length) in enumerate(zip(parts_of(key, len(shape)), shape)):
        may_grow = grows and axis == 0
        if isinstance(part, int):
            at = part + length if part < 0 else part
            if at < 0 or (at >= length and not may_grow):
                raise SelectionError(f"index {part} is out of bounds for axis {axis} with size {length}")
            _add(region, at, 1, 1)
            continue
        region.kept.append(axis)
        step = 1 if part.step is None else operator.index(part.step)
        if step < 1:
            raise SelectionError("values are written in ascending order: a step must be at least 1")
        if not may_grow:
            start, stop, _ = part.indices(length)
            _add(region, start, len(range(start, stop, step)), step)
            continue
        start = _bound(part.start, 0, length)
        if part.stop is None:
            _add(region, start, None, step)
        else:
            _add(region, start, len(range(start, _bound(part.stop, 0, length), step)), step)
    return region


def _add(region: Region, start: int, count: int | None, step: int) -> None:
    region.starts.append(start)
    region.counts.append(count)
    region.strides.append(step)


def _bound(value: Any, default: int, length: int) -> int:
    if value is None:
        return default
    at = operator.index(value)
    return max(0, at + length) if at < 0 else at


def with_values(region: Region, values_shape: tuple[int, ...], length: int, name: str) -> tuple[list[int], tuple[int, ...]]:
    """The counts of a region for values of a shape, and the shape to which they are broadcast. length: that of the first
    dimension."""
    counts = [0 if one is None else one for one in region.counts]
    if region.counts and region.counts[0] is None:
        if len(values_shape) >= len(region.kept):
            counts[0] = values_shape[len(values_shape) - len(region.kept)]
        else:
            counts[0] = len(range(region.starts[0], length, region.strides[0]))
    shape = tuple(counts[axis] for axis in region.kept)
    extra = len(values_shape) - len(shape)
    fits = all(one == 1 for one in values_shape[: max(0, extra)])
    tail = values_shape[extra:] if extra > 0 else values_shape
    fits = fits and all(one in (1, of) for one, of in zip(tail[::-1], shape[::-1]))
    if not fits:
        raise SelectionError(f"values of shape {values_shape} do not fit a selection of shape {shape}", object=name)
    return counts, shape
