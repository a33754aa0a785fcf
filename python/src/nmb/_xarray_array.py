"""Lazy arrays for xarray: they read from a variable what an indexer selects, from any thread."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.coding.strings import create_vlen_dtype
from xarray.core import indexing

from . import _decode, _types
from ._variable import Variable


def shown_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that xarray shows for a dtype of this package. Texts of fixed length become strings, as in netCDF4."""
    if _types.is_string(dtype) or (dtype.kind == "S" and dtype.itemsize > 1):
        text: np.dtype[Any] = create_vlen_dtype(str)  # type: ignore[no-untyped-call,unused-ignore]
        return text
    if dtype.metadata and dtype.names is None:
        return np.dtype(dtype.str)
    return dtype


def is_text(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype that is shown is that of strings."""
    return bool(dtype.kind == "O" and dtype.metadata and "element_type" in dtype.metadata)


def shown_values(values: Any, stored: np.dtype[Any], shown: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Converts values that were read to the dtype that xarray shows."""
    if not isinstance(values, np.ndarray):
        array = np.empty((), stored)
        array[()] = values
        values = array
    if stored.kind == "S" and shown.kind == "O":
        return _types.strings_of(values)
    out: np.ndarray[Any, Any] = values if values.dtype == shown else values.view(shown)
    return out


class LazyArray(BackendArray):
    """An array whose values are read when they are indexed. Subclasses define ``_basic``, ``_outer`` and ``_vectorized``."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, indexing.VectorizedIndexer):
            return self._vectorized(key.tuple)
        if isinstance(key, indexing.OuterIndexer):
            return self._outer(key.tuple)
        return self._basic(key.tuple)

    async def async_getitem(self, key: Any) -> Any:
        return await asyncio.to_thread(self.__getitem__, key)

    def _basic(self, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def _outer(self, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def _vectorized(self, key: tuple[Any, ...]) -> Any:
        raise NotImplementedError


def new_dimensions_first(values: Any, key: tuple[Any, ...]) -> Any:
    """Moves the dimensions of the index arrays to the front, where xarray expects them. numpy puts them where the arrays stand
    in the key if these are neighbours."""
    at = [axis for axis, part in enumerate(key) if not isinstance(part, slice)]
    if not at or at[-1] - at[0] + 1 != len(at):
        return values
    count = max(np.ndim(key[axis]) for axis in at)
    return np.moveaxis(values, range(at[0], at[0] + count), range(count))


class OuterArray(LazyArray):
    """An array that reads what a key of ints, slices and arrays of one dimension selects, each by itself."""

    def _basic(self, key: tuple[Any, ...]) -> Any:
        return self._outer(key)

    def _vectorized(self, key: tuple[Any, ...]) -> Any:
        # Reads all combinations of the positions, and lets numpy choose from them.
        key = tuple(
            part if isinstance(part, slice) else np.where(np.asarray(part) < 0, np.asarray(part) + length, part)
            for part, length in zip(key, self.shape)
        )
        some = tuple(part if isinstance(part, slice) else np.unique(part) for part in key)
        then: tuple[Any, ...] = tuple(
            slice(None) if isinstance(part, slice) else np.searchsorted(one, part)  # type: ignore[arg-type]
            for one, part in zip(some, key)
        )
        return new_dimensions_first(self._outer(some)[then], key)


class VariableArray(OuterArray):
    """The values of one variable. Has the shape of the dimensions: behind the values that an HDF5 data set with unlimited
    dimensions has, there are fill values, as in netCDF."""

    __slots__ = ("variable", "shape", "dtype", "stored")

    def __init__(self, variable: Variable, shape: tuple[int, ...], stored: tuple[int, ...]) -> None:
        self.variable = variable
        self.shape = shape
        self.stored = stored
        self.dtype = shown_dtype(variable.dtype)

    def _shown(self, values: Any) -> Any:
        return shown_values(values, self.variable.dtype, self.dtype)

    def _basic(self, key: tuple[Any, ...]) -> Any:
        if self.shape != self.stored:
            return self._outer(key)
        if self.variable.dtype.kind != "O":
            return self._shown(self.variable[key])
        # One element may be an array itself.
        wide = tuple(part if isinstance(part, slice) else slice(part, part + 1 or None) for part in key)
        lengths = [len(range(*p.indices(n))) for p, n in zip(key, self.shape) if isinstance(p, slice)]
        return self._shown(self.variable[(*wide, ...)].reshape(lengths))

    def _outer(self, key: tuple[Any, ...]) -> Any:
        if self.shape == self.stored:
            return self._shown(self.variable.oindex[key])
        return self._padded(key)

    def _vectorized(self, key: tuple[Any, ...]) -> Any:
        if self.shape == self.stored:
            return self._shown(new_dimensions_first(self.variable[key], key))
        return OuterArray._vectorized(self, key)

    def _padded(self, key: tuple[Any, ...]) -> Any:
        inner: list[Any] = []
        place: list[Any] = []
        shape: list[int] = []
        single: list[Any] = []
        for part, length, stored in zip(key, self.shape, self.stored):
            is_one = isinstance(part, (int, np.integer))
            single.append(0 if is_one else slice(None))
            if is_one:
                at = np.array([part])
            elif isinstance(part, slice):
                at = np.arange(*part.indices(length))
            else:
                at = np.asarray(part)
            at = np.where(at < 0, at + length, at)
            have = np.flatnonzero(at < stored)
            inner.append(at[have])
            place.append(have)
            shape.append(at.size)
        values = np.full(shape, self._fill(), self.dtype)
        if all(one.size for one in place):
            values[np.ix_(*place)] = self._shown(self.variable.oindex[tuple(inner)])
        return values[tuple(single)] if any(one == 0 for one in single) else values

    def _fill(self) -> Any:
        if self.dtype.kind == "O":
            return ""
        fill = self.variable.fill_value
        if self.variable._fill[1] == "default":
            default = _decode.default_fill(self.dtype)
            fill = fill if default is None else default
        return fill
