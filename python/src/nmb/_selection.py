"""Selections: turns what stands in brackets behind a variable into hyperslabs.

A hyperslab is (start, count, stride), with one number for each dimension and positive strides. A selection that is not a
hyperslab is read as one or several hyperslabs, and numpy makes the result from them, so that it is what numpy would select."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import SelectionError

Slab = tuple[list[int], list[int], list[int]]
# Reads hyperslabs into new arrays.
Read = Callable[[list[Slab]], list[Any]]

# Elements that are read though they are not selected, if that takes fewer reads.
_FEW = 65536
_FACTOR = 4


def expand(key: Any, shape: tuple[int, ...]) -> tuple[list[Any], int | None]:
    """One int, slice, or array of integers for each dimension, and where the ellipsis was. A mask of several dimensions becomes
    several arrays."""
    parts = list(key) if isinstance(key, tuple) else [key]
    used = 0
    ellipsis = None
    out: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            if ellipsis is not None:
                raise SelectionError("an index can only have a single ellipsis ('...')")
            ellipsis = len(out)
            continue
        if part is None:
            raise SelectionError("newaxis is not supported: use v[...][..., None]")
        if isinstance(part, slice):
            out.append(part)
            used += 1
            continue
        if isinstance(part, (bool, np.bool_)):
            raise SelectionError("True and False are no indexes of a variable")
        try:
            out.append(operator.index(part))
            used += 1
            continue
        except TypeError:
            pass
        array = np.asarray(part)
        if array.dtype == bool:
            if array.ndim == 0:
                raise SelectionError("True and False are no indexes of a variable")
            have = shape[used : used + array.ndim] if ellipsis is None else None
            if have is not None and array.shape != have:
                raise SelectionError(
                    f"a mask of shape {array.shape} does not fit dimensions of lengths {have}"
                )
            out.append(_Mask(array))
            used += array.ndim
        else:
            if array.size == 0:
                array = array.astype(np.intp)
            if array.dtype.kind not in "iu":
                raise SelectionError(f"an index must be integers or a mask, not {array.dtype}")
            out.append(int(array) if array.ndim == 0 else array)
            used += 1
    if used > len(shape):
        raise SelectionError(f"too many indices: the variable has {len(shape)} dimensions, but {used} were indexed")
    missing = [slice(None)] * (len(shape) - used)
    at = len(out) if ellipsis is None else ellipsis
    out[at:at] = missing
    done: list[Any] = []
    gap: int | None = None
    for number, part in enumerate(out):
        if number == ellipsis:
            gap = len(done)
        if isinstance(part, _Mask):
            have = shape[len(done) : len(done) + part.mask.ndim]
            if part.mask.shape != have:
                raise SelectionError(
                    f"a mask of shape {part.mask.shape} does not fit dimensions of lengths {have}"
                )
            done.extend(part.mask.nonzero())
        else:
            done.append(part)
    return done, len(done) if ellipsis == len(out) else gap


class _Mask:
    def __init__(self, mask: np.ndarray[Any, Any]) -> None:
        self.mask = mask


def _position(index: int, length: int, axis: int) -> int:
    if not -length <= index < length:
        raise SelectionError(f"index {index} is out of bounds for axis {axis} with size {length}")
    return index + length if index < 0 else index


def _positions(index: np.ndarray[Any, Any], length: int, axis: int) -> np.ndarray[Any, Any]:
    index = index.astype(np.int64, copy=False)
    wrong = (index < -length) | (index >= length)
    if wrong.any():
        raise SelectionError(
            f"index {index[wrong].flat[0]} is out of bounds for axis {axis} with size {length}"
        )
    return np.where(index < 0, index + length, index)


def slab_of(key: Any, shape: tuple[int, ...]) -> tuple[Slab, tuple[Any, ...]] | None:
    """The hyperslab of a basic index, and the index that numpy applies to what is read. None for other indexes."""
    parts, gap = expand(key, shape)
    start: list[int] = []
    count: list[int] = []
    stride: list[int] = []
    then: list[Any] = []
    for axis, (part, length) in enumerate(zip(parts, shape)):
        if isinstance(part, slice):
            first, stop, step = part.indices(length)
            number = len(range(first, stop, step))
            if step < 0 and number:
                first += (number - 1) * step
            start.append(first if number else 0)
            count.append(number)
            stride.append(abs(step) if number > 1 else 1)
            then.append(slice(None, None, -1) if step < 0 and number > 1 else slice(None))
        elif isinstance(part, int):
            start.append(_position(part, length, axis))
            count.append(1)
            stride.append(1)
            then.append(0)
        else:
            return None
    if gap is not None:
        then.append(Ellipsis)  # the result is an array, even if it has no dimensions
    return (start, count, stride), tuple(then)


def owned(array: Any) -> Any:
    """The same values as an array in C order that owns its memory. Scalars of numpy stay."""
    if not isinstance(array, np.ndarray):
        return array
    if array.base is None and array.flags.c_contiguous:
        return array
    return array.copy(order="C")


def is_plain(out: Any) -> bool:
    """Whether values can be read into a caller's array directly, if it has their type and shape."""
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        return False
    return bool(out.flags.c_contiguous and out.flags.writeable)


def store(values: Any, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Copies values into a caller's array of their shape. They are cast if that loses no more than digits of floats."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array of numpy, not {type(out).__name__}")
    if np.shape(values) != out.shape:
        raise SelectionError(
            f"out has shape {out.shape}, but the selection has shape {np.shape(values)}"
        )
    have = np.asanyarray(values).dtype
    if not (np.can_cast(have, out.dtype, "safe") or (have.kind == out.dtype.kind and have.kind in "fc")):
        raise TypeError(f"values of type {have} do not fit out, which has type {out.dtype}")
    if isinstance(values, np.ma.MaskedArray) and not isinstance(out, np.ma.MaskedArray):
        raise TypeError("masked values need a masked array for out")
    out[...] = values
    return out


def read(key: Any, shape: tuple[int, ...], read_slabs: Read, dtype: np.dtype[Any]) -> Any:
    """Reads what numpy would select with this key."""
    basic = slab_of(key, shape)
    if basic is not None:
        return owned(read_slabs([basic[0]])[0][basic[1]])
    parts, gap = expand(key, shape)
    for axis, part in enumerate(parts):
        if isinstance(part, np.ndarray):
            parts[axis] = _positions(part, shape[axis], axis)
        elif isinstance(part, int):
            parts[axis] = _position(part, shape[axis], axis)
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    try:
        points = np.broadcast(*arrays).size
    except ValueError as error:
        raise SelectionError(str(error)) from None
    unique = [np.unique(part) if isinstance(part, np.ndarray) else part for part in parts]
    hull = 1
    for part in unique:
        hull *= part.size if isinstance(part, np.ndarray) else 1
    if len(arrays) > 1 and hull > max(_FEW, _FACTOR * points):
        return owned(_read_points(parts, gap, shape, read_slabs, dtype))
    # Reads all combinations of the indexes, and lets numpy choose from them.
    values = _read_unique(unique, shape, read_slabs, dtype)
    then: list[Any] = [
        np.searchsorted(some, part) if isinstance(part, np.ndarray) else 0 if isinstance(part, int) else _flip(part, n)
        for part, some, n in zip(parts, unique, shape)
    ]
    if gap is not None:  # divides arrays, even where it stands for no dimension
        then.insert(gap, Ellipsis)
    return owned(values[tuple(then)])


def read_outer(key: Any, shape: tuple[int, ...], read_slabs: Read, dtype: np.dtype[Any]) -> Any:
    """Reads what the indexes of each dimension select independently of the others (orthogonal indexing)."""
    parts, _ = expand(key, shape)
    unique: list[Any] = []
    then: list[Any] = []
    for axis, (part, length) in enumerate(zip(parts, shape)):
        if isinstance(part, np.ndarray):
            if part.ndim != 1:
                raise SelectionError("an index of oindex must have one dimension")
            part = _positions(part, length, axis)
            unique.append(np.unique(part))
            then.append(np.searchsorted(unique[-1], part))
        elif isinstance(part, int):
            unique.append(_position(part, length, axis))
            then.append(0)
        else:
            unique.append(part)
            then.append(_flip(part, length))
    values = _read_unique(unique, shape, read_slabs, dtype)
    # Each step selects along one axis; integers, which remove theirs, come last.
    for axis, part in enumerate(then):
        if not isinstance(part, int):
            values = values[(slice(None),) * axis + (part,)]
    return owned(values[tuple(0 if isinstance(part, int) else slice(None) for part in then)])


def _flip(part: slice, length: int) -> slice:
    first, stop, step = part.indices(length)
    return slice(None, None, -1) if step < 0 and len(range(first, stop, step)) > 1 else slice(None)


def _runs(index: np.ndarray[Any, Any]) -> list[tuple[int, int, int]]:
    """Divides ascending positions into (start, count, stride). Positions that are close are read together."""
    if index.size == 0:
        return [(0, 0, 1)]
    steps = np.diff(index)
    if steps.size and (steps == steps[0]).all():
        return [(int(index[0]), index.size, int(steps[0]))]
    breaks = np.flatnonzero(steps > 1) + 1
    return [(int(run[0]), run.size, 1) for run in np.split(index, breaks)]


def _read_unique(parts: list[Any], shape: tuple[int, ...], read_slabs: Read, dtype: np.dtype[Any]) -> Any:
    """Reads all combinations of positions: ints, slices (in ascending order) and ascending arrays."""
    runs: list[list[tuple[int, int, int]]] = []
    keep: list[Any] = []
    divided = False
    for part, length in zip(parts, shape):
        keep.append(slice(None))
        if isinstance(part, slice):
            basic = slab_of(part, (length,))
            assert basic is not None
            runs.append([(basic[0][0][0], basic[0][1][0], basic[0][2][0])])
        elif isinstance(part, int):
            runs.append([(part, 1, 1)])
        else:
            some = _runs(part)
            span = int(part[-1] - part[0]) + 1 if part.size else 0
            if len(some) > 1 and (divided or span <= _FACTOR * part.size):
                keep[-1] = part - part[0]
                some = [(int(part[0]), span, 1)]
            divided = divided or len(some) > 1
            runs.append(some)
    if not divided:
        values = read_slabs([_join(runs, [0] * len(runs))])[0]
    else:
        axis = next(i for i, some in enumerate(runs) if len(some) > 1)
        numbers = [0] * len(runs)
        slabs = []
        for numbers[axis] in range(len(runs[axis])):
            slabs.append(_join(runs, numbers))
        values = np.concatenate(read_slabs(slabs), axis)
        if values.dtype != dtype:  # concatenate() drops metadata
            values = values.astype(dtype)
    for axis, part in enumerate(keep):
        if isinstance(part, np.ndarray):
            values = values.take(part, axis)
    return values


def _join(runs: list[list[tuple[int, int, int]]], numbers: list[int]) -> Slab:
    chosen = [some[number] for some, number in zip(runs, numbers)]
    return [c[0] for c in chosen], [c[1] for c in chosen], [c[2] for c in chosen]


def _read_points(
    parts: list[Any], gap: int | None, shape: tuple[int, ...], read_slabs: Read, dtype: np.dtype[Any]
) -> Any:
    """Reads each point of several arrays of positions alone."""
    axes = [axis for axis, part in enumerate(parts) if not isinstance(part, slice)]
    index = np.broadcast_arrays(*(parts[axis] for axis in axes))
    flat = [one.reshape(-1) for one in index]
    rest = [slab_of(part, (n,)) if isinstance(part, slice) else None for part, n in zip(parts, shape)]
    slabs = []
    for point in zip(*(one.tolist() for one in flat)):
        at = dict(zip(axes, point))
        start, count, stride = [], [], []
        for axis, basic in enumerate(rest):
            start.append(at[axis] if basic is None else basic[0][0][0])
            count.append(1 if basic is None else basic[0][1][0])
            stride.append(1 if basic is None else basic[0][2][0])
        slabs.append((start, count, stride))
    then = tuple(0 if basic is None else basic[1][0] for basic in rest)
    rows = [row[then] for row in read_slabs(slabs)]
    values = np.empty((len(rows), *np.shape(rows[0])), dtype)
    for i, row in enumerate(rows):
        values[i] = row
    values = values.reshape(index[0].shape + values.shape[1:])
    # numpy puts the dimensions of the arrays where they stand, if they are neighbours, and else first.
    if axes == list(range(axes[0], axes[-1] + 1)) and (gap is None or not axes[0] < gap <= axes[-1]):
        order = list(range(index[0].ndim, values.ndim))
        order[axes[0] : axes[0]] = range(index[0].ndim)
        values = values.transpose(order)
    return values
