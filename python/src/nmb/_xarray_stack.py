"""Many blocks of equal variables as one data set of xarray."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np
import xarray
from xarray.backends.common import AbstractDataStore
from xarray.core import indexing

from . import _core, _decode
from ._block import Block
from ._blocks import iterate
from ._errors import ConflictError, MissingError, UsageError
from ._file import File
from ._file import open as open_file
from ._threads import thread_count
from ._xarray_array import is_text, shown_dtype
from ._xarray_ragged import PaddedArray, RaggedArray, RowNumbers, Selected
from ._xarray_store import PART_BYTES, attributes_of, shown_name

# Attributes that say what stored numbers mean; they must be equal in all blocks. xarray writes "dtype" for logical values.
_MEANING = ("_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned", "units", "calendar", "dtype")


def stack(
    source: str | os.PathLike[str] | File | Iterable[Block],
    variables: str | Sequence[str] | None = None,
    *,
    blocks: str | Iterable[Any] | None = None,
    form: str = "ragged",
    dim: str = "block",
    names: bool = True,
    fill_value: Any = None,
    chunks: Any = None,
    threads: int | None = None,
    **decoding: Any,
) -> xarray.Dataset:
    """Makes one data set of many blocks that have equal variables. Values are read when they are used::

        >>> ds = nmb.xarray.stack("stations.nmb", ["temperature", "time"])
        >>> ds.temperature.shape, ds.time_offset.values
        ((6,), array([0, 4, 6]))
        >>> nmb.xarray.stack("stations.nmb", "temperature", form="padded").temperature.dims
        ('block', 'time')

    In the form "ragged", values of all blocks are concatenated along the first dimension of a variable, in which blocks may
    differ. ``NODE_offset`` has the places where blocks begin along a dimension ``NODE``: the rows of block ``i`` are
    ``ds.x[at[i] : at[i + 1]]`` with ``at = ds.NODE_offset.values``. ``NODE_block`` is the number of the block of each row. If other
    variables have ``NODE`` as a later dimension, the dimension of the rows is ``NODE_row``. Variables without dimensions
    become variables of ``dim``.

    In the form "padded", variables get ``dim`` as first dimension, and each other dimension has its greatest length; behind
    the values of a block are missing values. ``NODE_count`` has the lengths of a dimension ``NODE`` that differs.

    Lengths come from the definitions of the blocks, which are all read once, on all processors; no values are read. For 35,000
    blocks of classic files and four variables, this takes less than a second.

    Args:
        source: a file, its path, or blocks of a file, for example from ``f.find()``.
        variables: names; None for the variables of the first block.
        blocks: which blocks of a file: a glob, or names, positions or blocks. None for all that have variables.
        dim: the name of the dimension of blocks.
        names: whether the names of the blocks become the coordinate ``dim``.
        fill_value: what stands behind the values in the form "padded". By default, it is the variable's ``_FillValue``, or NaN,
            or netCDF's default fill value, which then becomes its ``_FillValue``: decoding makes NaN of it.
        chunks: as in ``xr.open_dataset``: {} for arrays of dask, in chunks of some MiB that end where blocks end.
        threads: the number of threads of one read; None for all processors, or one with ``chunks``.
        decoding: keywords of ``xr.open_dataset``: ``mask_and_scale``, ``decode_times``, ``drop_variables`` and others.
    Errors:
        ``MissingError`` if a block does not have a variable; ``ConflictError`` if types, later dimensions, or attributes such
        as ``units`` or ``scale_factor`` differ between blocks; ``UsageError``; those of reading, when values are used. Other attributes that
        differ are left out.

    The data set may be used by several threads, and pickled.
    """
    if form not in ("ragged", "padded"):
        raise UsageError(f'form: found {form!r}, expected "ragged" or "padded"')
    file, some = _blocks_of(source, blocks)
    if not some:
        raise MissingError("stack() needs at least one block", file=file.path)
    wanted = [variables] if isinstance(variables, str) else list(some[0].variables if variables is None else variables)
    selected = Selected(file, _places_of(file, some, blocks), threads if threads or chunks is None else 1)
    columns = [_Column(some, name, dim) for name in wanted]
    handles = [block._native() for block in some]
    compared = _core.compare_variables(file._native(), wanted, handles, thread_count(threads))
    for column, (shapes, others) in zip(columns, compared):
        column.shapes = shapes
        for number in others:
            column.add(number, handles[number].variable(column.name))
    made, added = _ragged(columns, selected, dim) if form == "ragged" else _padded(columns, selected, dim, fill_value)
    if names:
        added[dim] = xarray.Variable((dim,), np.array([block.name for block in some], object))
    for name in made.keys() & added.keys():
        raise UsageError(
            f'stack() makes a variable "{name}": leave that of the blocks out of variables=, or give another name with dim=',
            file=file.path,
        )
    made.update(added)
    store = _StackStore(made, (file, form, dim, wanted, selected.places, fill_value))
    return xarray.open_dataset(store, engine="store", chunks=chunks, **decoding)


class _StackStore(AbstractDataStore):
    """Variables that are made already."""

    def __init__(self, variables: dict[str, xarray.Variable], token: Any) -> None:
        self._variables = variables
        self._token = token

    def get_variables(self) -> dict[str, xarray.Variable]:
        return self._variables

    def get_attrs(self) -> dict[str, Any]:
        return {}

    def get_dimensions(self) -> dict[str, int]:
        return {str(name): n for variable in self._variables.values() for name, n in zip(variable.dims, variable.shape)}

    def __dask_tokenize__(self) -> Any:
        return self._token


def _blocks_of(source: Any, blocks: Any) -> tuple[File, list[Block]]:
    if isinstance(source, (str, os.PathLike)):
        source = open_file(os.path.expanduser(source))
    if not isinstance(source, File):
        some = list(source)
        if blocks is not None:
            raise UsageError("blocks= selects blocks of a file; the source is blocks already")
        if not some or not all(isinstance(block, Block) for block in some):
            raise UsageError("the source must be a file, a path, or at least one block")
        if any(block._state != some[0]._state for block in some):
            raise UsageError("the blocks must be of one file and generation")
        return File(some[0]._state), some
    source = File(source._current())  # refresh() and close() leave the data set as it is
    if blocks is None:
        return source, [block for block in iterate(source, "**") if block.counts.variables]
    if isinstance(blocks, str):
        return source, list(iterate(source, blocks))
    some = [
        one if isinstance(one, Block) else source.block(one) if isinstance(one, str) else source.blocks[one] for one in blocks
    ]
    if any(block._state != source._state for block in some):
        raise UsageError("blocks: found a block of another file or generation", file=source.path)
    return source, some


def _places_of(file: File, some: list[Block], blocks: Any) -> np.ndarray[Any, Any]:
    """The positions of blocks; names in files without an index, where positions must be counted."""
    if isinstance(blocks, (str, type(None))) and blocks in (None, "**") and len(some) == len(file):
        return np.arange(len(some))
    if file.kind != "NMB":
        return np.array([block.name for block in some], object)
    return np.array([block.position for block in some], np.int64)


def _dims_of(name: str, dims: Iterable[str]) -> tuple[str, ...]:
    """The names of a variable's dimensions. Those that have no name in the file get the variable's: the numbers that netCDF gives
    them depend on the lengths in one block."""
    return tuple(
        f"{name}_dim_{axis}" if re.fullmatch(r"phony_dim_\d+", one) else shown_name(one) for axis, one in enumerate(dims)
    )


class _Column:
    """A variable of all blocks: what is equal, and the shapes."""

    def __init__(self, blocks: list[Block], name: str, dim: str) -> None:
        first = blocks[0][name]
        self.name = name
        self.dims = _dims_of(name, first.dims)
        self.dtype = first.dtype
        if dim in self.dims:
            raise UsageError(f'variable "{name}" has a dimension "{dim}": give another name with dim=')
        if len(set(self.dims)) != len(self.dims):
            raise UsageError(f'variable "{name}" has a dimension twice: {self.dims}')
        self.attributes = attributes_of(first, blocks[0]._native().is_classic)
        self.compared = _comparable(first._native().attributes(), self.attributes)
        self.blocks = blocks
        self.shapes = np.empty((0, 0), np.int64)

    def add(self, number: int, handle: Any) -> None:
        """Adds the variable of a block that differs in more than lengths."""
        shape = handle.shape
        if len(shape) != len(self.dims):
            raise self._differs(number, "another number of dimensions")
        if handle.dtype != self.dtype or handle.dtype.metadata != self.dtype.metadata:
            raise self._differs(number, "another type")
        dims = _dims_of(self.name, handle.dimensions())
        if dims != self.dims and sorted(dims) == sorted(self.dims):
            raise self._differs(number, "another order of dimensions")
        found = _comparable(handle.attributes(), self.compared)
        if found != self.compared:
            for name in _MEANING:
                if found.get(name) != self.compared.get(name):
                    raise self._differs(number, f"another {name}")
            for name in [name for name, value in self.compared.items() if found.get(name) != value]:
                del self.compared[name], self.attributes[name]
        self.shapes[number] = shape

    def _differs(self, number: int, what: str) -> ConflictError:
        block = self.blocks[number]
        return ConflictError(
            f'variable "{self.name}" has {what} in block "{block.name}" than in block "{self.blocks[0].name}"',
            file=block.file.path,
            object=f"{block.name}/{self.name}",
        )

    def same_later_lengths(self) -> None:
        """Fails unless blocks differ in the first dimension only."""
        wrong = np.flatnonzero((self.shapes[:, 1:] != self.shapes[:1, 1:]).any(axis=1))
        if wrong.size:
            number = int(wrong[0])
            raise self._differs(
                number,
                f'other lengths after the first dimension (form="padded" allows this), {tuple(self.shapes[number].tolist())},',
            )

    @property
    def row_bytes(self) -> int:
        """The bytes of a row, at least 1."""
        return max(1, int(self.dtype.itemsize * np.prod(self.shapes[0, 1:], dtype=np.int64)))


def _comparable(handles: list[Any], names: Container[str]) -> dict[str, Any]:
    """The values of attributes with these names, and of those that give numbers a meaning, so that NaN equals NaN."""
    out: dict[str, Any] = {}
    for handle in handles:
        if handle.name in names or handle.name in _MEANING:
            value = handle.value()
            if isinstance(value, np.ndarray):
                some = value.reshape(-1).tolist() if value.dtype.hasobject else [value.tobytes()]
                value = (value.dtype.str, value.shape, [one.tolist() if isinstance(one, np.ndarray) else one for one in some])
            out[handle.name] = value
    return out


def _chunks(offsets: np.ndarray[Any, Any], row_bytes: int) -> tuple[int, ...]:
    """Divides rows into chunks of some MiB, where blocks end."""
    rows = max(1, PART_BYTES // row_bytes)
    ends = [0]
    while ends[-1] < offsets[-1]:
        at = int(np.searchsorted(offsets, ends[-1] + rows, "right")) - 1
        end = int(offsets[at])
        if end <= ends[-1]:  # one block is longer
            end = min(ends[-1] + rows, int(offsets[at + 1]) if at + 1 < len(offsets) else int(offsets[-1]))
        ends.append(end)
    return tuple(np.diff(ends).tolist()) or (0,)


_Made = tuple[dict[str, xarray.Variable], dict[str, xarray.Variable]]


def _ragged(columns: list[_Column], selected: Selected, dim: str) -> _Made:
    """The variables of the blocks, and those that say where blocks begin."""
    later = {name for column in columns for name in column.dims[1:]}
    offsets: dict[str, np.ndarray[Any, Any]] = {}
    bytes_of: dict[str, int] = {}
    for column in columns:
        column.same_later_lengths()
        if not column.dims:
            continue
        name = column.dims[0]
        ends = np.concatenate([[0], np.cumsum(column.shapes[:, 0])])
        if name in offsets and not np.array_equal(offsets[name], ends):
            raise ConflictError(f'variable "{column.name}" has other lengths of "{name}" than others', file=selected.file.path)
        offsets[name] = ends
        bytes_of[name] = max(bytes_of.get(name, 1), column.row_bytes)
    made: dict[str, xarray.Variable] = {}
    added: dict[str, xarray.Variable] = {}
    chunks = {name: _chunks(ends, bytes_of[name]) for name, ends in offsets.items()}
    for column in columns:
        row = column.dims[0] if column.dims else dim
        ends = offsets[row] if column.dims else np.arange(len(selected.places) + 1)
        array = RaggedArray(selected, column.name, ends, tuple(column.shapes[0, 1:].tolist()), column.dtype, bool(column.dims))
        rows = f"{row}_row" if row in later else row
        encoding: dict[str, Any] = {"dtype": str if is_text(array.dtype) else array.dtype}
        if column.dims:
            encoding["preferred_chunks"] = {rows: chunks[row]}
        made[column.name] = xarray.Variable(
            (rows, *column.dims[1:]), indexing.LazilyIndexedArray(array), column.attributes, encoding
        )
    for row, ends in offsets.items():
        rows = f"{row}_row" if row in later else row
        added[f"{row}_offset"] = xarray.Variable((f"{dim}_bound",), ends, {"long_name": f"first row of each {dim} along {rows}"})
        numbers = indexing.LazilyIndexedArray(RowNumbers(ends))
        added[f"{row}_{dim}"] = xarray.Variable(
            (rows,), numbers, {"long_name": f"number of the {dim} of each row"}, {"preferred_chunks": {rows: chunks[row]}}
        )
    return made, added


def _padded(columns: list[_Column], selected: Selected, dim: str, fill_value: Any) -> _Made:
    """The variables of the blocks, and the lengths of dimensions that differ."""
    made: dict[str, xarray.Variable] = {}
    added: dict[str, xarray.Variable] = {}
    count = len(selected.places)
    lengths: dict[str, np.ndarray[Any, Any]] = {}
    for column in columns:
        for axis, name in enumerate(column.dims):
            have = lengths.setdefault(name, column.shapes[:, axis])
            lengths[name] = np.maximum(have, column.shapes[:, axis])
    for column in columns:
        shape = tuple(int(lengths[name].max()) for name in column.dims)
        attributes = dict(column.attributes)
        fill = fill_value
        if fill is not None:
            _check_fill(column, fill)
        elif not (column.shapes == shape).all():
            fill = _fill_of(column, attributes)
        array = PaddedArray(selected, column.name, (count, *shape), column.shapes, column.dtype, fill)
        encoding: dict[str, Any] = {"dtype": str if is_text(array.dtype) else array.dtype}
        size = max(1, int(np.prod(shape, dtype=np.int64)) * array.dtype.itemsize)
        encoding["preferred_chunks"] = {dim: min(count, max(1, PART_BYTES // size))}
        made[column.name] = xarray.Variable((dim, *column.dims), indexing.LazilyIndexedArray(array), attributes, encoding)
    for name, have in lengths.items():
        if (have != have[0]).any():
            added[f"{name}_count"] = xarray.Variable((dim,), have, {"long_name": f"length of {name} in each {dim}"})
    return made, added


def _check_fill(column: _Column, fill: Any) -> None:
    """Fails unless the variable can hold a fill value that the caller gives."""
    dtype = shown_dtype(column.dtype)
    if dtype.kind not in "iufc":
        return
    try:
        if dtype.kind in "iu":
            fits = int(fill) == fill and np.iinfo(dtype).min <= fill <= np.iinfo(dtype).max
        else:
            fits = np.ndim(dtype.type(fill)) == 0 and not isinstance(fill, (str, bytes))
    except (OverflowError, TypeError, ValueError):
        fits = False
    if not fits:
        raise UsageError(f'fill_value: variable "{column.name}" of type {dtype} cannot hold {fill!r}')


def _fill_of(column: _Column, attributes: dict[str, Any]) -> Any:
    """What stands for missing values; becomes the variable's _FillValue if it has none."""
    dtype = shown_dtype(column.dtype)
    if "_FillValue" in attributes:
        return attributes["_FillValue"]
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind == "O":
        return ""
    fill = _decode.default_fill(dtype) if dtype.itemsize > 1 else None  # a byte has no value to spare
    if fill is None:
        if dtype.kind == "S":
            return b""
        raise UsageError(f'variable "{column.name}" has no fill value: give one with fill_value=')
    attributes["_FillValue"] = fill
    return fill
