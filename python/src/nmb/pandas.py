"""Tables of NMB files for pandas::

    import nmb.pandas

    f = nmb.open("all.nmb")
    nmb.pandas.tags(f)                                  # a row for each block, a column for each tag
    nmb.pandas.statistics(f, "temperature")             # a row for each block
    nmb.pandas.find(f, "temperature.max > 300")         # the same for the blocks that are found
    nmb.pandas.values(f, ["time", "temperature"])       # the values themselves, a row for each

A file is an ``nmb.File`` or a path. The index has the names of the blocks. Blocks are given as for ``nmb.xarray.stack``: None for
all blocks that have variables, a glob, names, positions, or blocks. The functions may be called from several threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas

from . import _decode
from ._block import Block
from ._blocks import BlockSelection, iterate
from ._errors import ConflictError, MissingError, UsageError
from ._file import File
from ._file import open as open_file
from ._reports import BlockCounts
from ._types import strings_of

__all__ = ["blocks", "find", "statistics", "tags", "values"]

_STATISTICS = ("elements", "missing", "nans", "minimum", "maximum", "mean", "deviation")


def _file_of(file: File | str | os.PathLike[str]) -> File:
    return file if isinstance(file, File) else open_file(os.path.expanduser(file))


def _blocks_of(file: File, wanted: Any, empty: bool = False) -> list[Block]:
    """`empty`: whether None includes blocks without variables."""
    if wanted is None:
        return [block for block in iterate(file, "**") if empty or block.counts.variables]
    if isinstance(wanted, str):
        return list(iterate(file, wanted))
    if isinstance(wanted, BlockSelection):
        return list(wanted)
    return [one if isinstance(one, Block) else file.block(one) if isinstance(one, str) else file.blocks[one] for one in wanted]


def _index(some: list[Block]) -> pandas.Index:
    return pandas.Index([block.name for block in some], dtype=object, name="block")


def _frame(rows: list[dict[Any, Any]], some: list[Block], columns: Sequence[Any] = ()) -> pandas.DataFrame:
    """`columns` are those of a table without rows."""
    if not rows:
        return pandas.DataFrame(columns=list(columns), index=_index(some))
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return pandas.DataFrame({key: [row.get(key) for row in rows] for key in keys}, index=_index(some))


def blocks(file: File | str | os.PathLike[str], blocks: Any = None) -> pandas.DataFrame:  # noqa: A002
    """A row for each block: its position and the numbers of its variables, dimensions, attributes, records and samples. Reads
    the index only::

        >>> nmb.pandas.blocks(f)["variables"].to_dict()
        {'station/north': 3, 'station/south': 3}

    Args:
        file: a file or its path.
        blocks: a glob, names, positions or blocks. None for all; in functions that take variables, for all that have any.
    """
    file = _file_of(file)
    some = _blocks_of(file, blocks, True)
    rows = [{"position": block.position, **block.counts._asdict()} for block in some]
    return _frame(rows, some, ("position", *BlockCounts._fields))


def tags(file: File | str | os.PathLike[str], blocks: Any = None) -> pandas.DataFrame:  # noqa: A002
    """A row for each block and a column for each tag; NaN or None where a block does not have a tag::

        >>> nmb.pandas.tags(f, "station/n*")["site"].to_dict()
        {'station/north': 'north'}

    Args:
        file, blocks: as for ``nmb.pandas.blocks``.
    """
    file = _file_of(file)
    some = _blocks_of(file, blocks, True)
    return _frame([block.tags for block in some], some)


def statistics(
    file: File | str | os.PathLike[str],
    variables: str | Sequence[str],
    blocks: Any = None,  # noqa: A002
    *,
    compute: bool = False,
) -> pandas.DataFrame:
    """A row for each block with the stored statistics of a variable: elements, missing, nans, minimum, maximum, mean, deviation
    and the results of functions. For several variables, the columns are (variable, statistic)::

        >>> nmb.pandas.statistics(f, "temperature")["maximum"].to_dict()
        {'station/north': 283.0, 'station/south': 291.0}

    Args:
        file, blocks: as for ``nmb.pandas.blocks``.
        variables: a name, or several names.
        compute: whether statistics that are not stored are computed from the values. Otherwise, they are NaN.
    Errors: ``MissingError`` if a block does not have a variable.
    """
    file = _file_of(file)
    some = _blocks_of(file, blocks)
    names = [variables] if isinstance(variables, str) else list(variables)
    rows = []
    for block in some:
        row: dict[Any, Any] = {}
        for name in names:
            variable = block[name]
            found = variable.stats
            if found is None and compute:
                found = variable.compute_stats()
            one = {} if found is None else {**{key: getattr(found, key) for key in _STATISTICS}, **found.functions}
            for key in (*_STATISTICS, *(key for key in one if key not in _STATISTICS)):
                value = one.get(key)
                row[key if isinstance(variables, str) else (name, key)] = np.nan if value is None else value
        rows.append(row)
    columns = _STATISTICS if isinstance(variables, str) else [(name, key) for name in names for key in _STATISTICS]
    frame = _frame(rows, some, columns)
    if not isinstance(variables, str):
        keys: list[Any] = list(frame.columns)
        frame.columns = pandas.MultiIndex.from_tuples(keys, names=["variable", "statistic"])
    return frame


def find(
    file: File | str | os.PathLike[str], expression: str, variables: str | Sequence[str] | None = None, **options: Any
) -> pandas.DataFrame:
    """The blocks for which an expression holds: their positions and tags and, for ``variables``, their stored statistics::

        >>> found = nmb.pandas.find(f, "temperature.max > 285", "temperature")
        >>> found["temperature.minimum"].to_dict()
        {'station/south': 290.0}

    Args:
        file: a file or its path.
        expression: docs/guides/find.md.
        variables: a name, several names, or None.
        options: keywords of ``File.find``: ``read_values``, ``threads``, ``undecided``.
    Errors: those of ``File.find``; ``MissingError`` if a block does not have a variable.
    """
    file = _file_of(file)
    some = file.find(expression, **options)
    parts = [_frame([{"position": block.position} for block in some], some, ["position"]), tags(file, some)]
    if variables is not None:
        found = statistics(file, [variables] if isinstance(variables, str) else variables, some)
        keys: list[Any] = list(found.columns)
        found.columns = pandas.Index([f"{name}.{key}" for name, key in keys])
        parts.append(found)
    return pandas.concat(parts, axis=1)


def values(
    file: File | str | os.PathLike[str],
    variables: str | Sequence[str] | None = None,
    blocks: Any = None,  # noqa: A002
    *,
    decode: bool = True,
    threads: int | None = None,
) -> pandas.DataFrame:
    """The values of variables with one dimension, one block after the other: a row for each value, with the index (block, row)::

        >>> nmb.pandas.values(f, ["time", "temperature"]).loc["station/south", "temperature"].tolist()
        [290.0, 291.0]

    In a block, the variables must have equal lengths; blocks may differ. Variables without dimensions are repeated in each row.

    Args:
        file, blocks: as for ``nmb.pandas.blocks``.
        variables: names; None for all variables of the first block that have the dimension of its first one.
        decode: whether missing values become NaN, and ``scale_factor`` and ``add_offset`` are applied. Times stay numbers.
        threads: the number of threads; None for all processors.
    Errors: ``MissingError`` if a block does not have a variable; ``ConflictError`` if lengths differ in a block;
        ``UsageError`` for a variable with more dimensions; those of reading.
    """
    file = _file_of(file)
    some = _blocks_of(file, blocks)
    if not some:
        raise MissingError("found no blocks", file=file.path)
    if variables is None:
        first = [v for v in some[0].values() if v.ndim == 1]
        names = [v.name for v in first if v.dims == first[0].dims]
    else:
        names = [variables] if isinstance(variables, str) else list(variables)
    if not names:
        raise UsageError("found no variables with one dimension", file=file.path)
    read = file.read_many([(block, name) for block in some for name in names], threads=threads)
    columns: dict[str, list[Any]] = {name: [] for name in names}
    lengths = []
    for number, block in enumerate(some):
        arrays = read[number * len(names) : (number + 1) * len(names)]
        length: int | None = None
        for name, array in zip(names, arrays):
            if np.ndim(array) > 1:
                raise UsageError(f'variable "{name}" has {np.ndim(array)} dimensions in block "{block.name}"; expected 0 or 1')
            if np.ndim(array) == 1 and length is None:
                length = len(array)
            elif np.ndim(array) == 1 and length != len(array):
                raise ConflictError(
                    f'found {len(array)} values, but {length} of other variables', file=file.path, object=f"{block.name}/{name}"
                )
        rows = 1 if length is None else length
        lengths.append(rows)
        for name, array in zip(names, arrays):
            one = _decoded(block, name, np.asarray(array), decode)
            columns[name].append(one if one.ndim else np.repeat(one, rows))
    index = pandas.MultiIndex.from_arrays(
        [
            np.repeat(np.array([block.name for block in some], object), lengths),
            np.concatenate([np.arange(n) for n in lengths]) if lengths else np.arange(0),
        ],
        names=["block", "row"],
    )
    return pandas.DataFrame({name: np.concatenate(parts) for name, parts in columns.items()}, index=index)


def _decoded(block: Block, name: str, array: np.ndarray[Any, Any], decode: bool) -> np.ndarray[Any, Any]:
    if array.dtype.kind == "S":
        return strings_of(array[..., np.newaxis] if array.dtype.itemsize == 1 else array)
    if not decode or array.dtype.kind not in "iuf":
        return array
    variable = block[name]
    fill, fill_from = variable._fill
    if fill_from != "attribute" and array.dtype.itemsize == 1 and not variable.attrs.keys() & {"missing_value", "scale_factor", "add_offset", "_Unsigned"}:
        return array
    masked = _decode.decode(array, variable.attrs, fill, fill_from, True, True)
    if not np.ma.getmaskarray(masked).any():
        return np.asarray(masked.data)
    wide = masked.astype(np.float64) if masked.dtype.kind != "f" else masked
    return np.asarray(wide.filled(np.nan))
