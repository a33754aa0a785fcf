"""Reads of many arrays in one call."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, _selection
from ._block import Block
from ._blocks import any_block, iterate
from ._errors import UsageError
from ._threads import thread_count
from ._variable import Variable


class ManyReads:
    """The calls of a file that read many arrays."""

    def read_many(
        self: Any,
        requests: Iterable[Any],
        out: Sequence[np.ndarray[Any, Any] | None] | None = None,
        *,
        threads: int | None = None,
    ) -> list[Any]:
        """Reads many arrays in one call, with few reads of the file and on several threads::

            >>> f.read_many([("station/north", "temperature", slice(2)), (1, "time")])
            [array([280., 281.], dtype=float32), array([0., 1.])]

        Args:
            requests: for each array ``(block, variable)`` or ``(block, variable, slab)``. A block is a ``Block``, a name or a
                position; a slab is what would stand in brackets, or None for all values. A full name ``"block/variable"``, or a
                ``Variable``, stands for itself.
            out: None, or for each request None or an array that gets the values (see ``Variable.read``). An array in C order
                must have the variable's dtype.
            threads: the number of threads; None for all processors.
        Returns:
            the arrays, in the order of the requests.
        Errors: ``MissingError``, ``SelectionError``, ``UsageError``; ``DamagedError`` if a checksum is wrong.
        """
        # Basic indexes are read in one call; what numpy does with the result, or how others are read, is in `then`.
        items: list[Any] = []
        then: list[Any] = []
        outs = None if out is None else list(out)
        wanted = list(requests)
        if outs is not None and len(outs) != len(wanted):
            raise UsageError(f"found {len(outs)} arrays in out for {len(wanted)} requests")
        for i, request in enumerate(wanted):
            block, name, slab = self._request(request)
            after: Any = None
            if slab is not None and slab is not Ellipsis:
                variable = self._variable_of(block, name)
                basic = _selection.slab_of(slab, variable.shape)
                if basic is None:
                    then.append((variable, slab))
                    continue
                slab, part = basic
                if any(one != slice(None) for one in part if one is not Ellipsis):
                    after = part
            else:
                slab = None
            then.append(after)
            place = outs[i] if outs is not None and after is None and _selection.is_plain(outs[i]) else None
            items.append((any_block(block), name, slab, place))
        read = iter(_core.read_many(self._native(), items, thread_count(threads)))
        arrays: list[Any] = []
        for i, after in enumerate(then):
            if after is None:
                array = next(read)
            elif isinstance(after[0], Variable):
                array = after[0][after[1]]
            else:
                array = _selection.owned(next(read)[after])
            place = outs[i] if outs is not None else None
            arrays.append(array if place is None or place is array else _selection.store(array, place))
        return arrays

    def _request(self: Any, request: Any) -> tuple[Any, str, Any]:
        if isinstance(request, Variable):
            return request.block, request.name, None
        if isinstance(request, str):
            above, _, name = request.rpartition("/")
            return above, name, None
        block, name, *slab = request
        if len(slab) > 1:
            raise UsageError("a request is (block, variable) or (block, variable, slab)")
        if not isinstance(block, (str, Block)):
            block = self._number(block)
        return block, name, slab[0] if slab else None

    def _number(self: Any, position: Any) -> int:
        if isinstance(position, (bool, np.bool_)):
            raise UsageError("found True or False for a block, expected a name, a position or a block; masks are not supported")
        number = operator.index(position)
        return number if 0 <= number < 1 << 63 else self.blocks[number].position

    def _variable_of(self: Any, block: Any, name: str) -> Variable:
        if isinstance(block, str):
            block = self.block(block)
        elif not isinstance(block, Block):
            block = self.blocks[block]
        variable: Variable = block[name]
        return variable

    def read_ragged(
        self: Any,
        variables: str | Sequence[str],
        blocks: Any,
        *,
        axis: int | Mapping[str, int] = 0,
        threads: int | None = None,
    ) -> Any:
        """Reads variables of many blocks, one after the other.

        The values of all blocks are concatenated along the first dimension, or along ``axis``, in which blocks may differ; a
        variable without dimensions counts as one row. The values of block ``i`` are ``values[offsets[i]:offsets[i + 1]]``, or
        with ``axis=1`` ``values[:, offsets[i]:offsets[i + 1]]``::

            >>> f.read_ragged("temperature", ["station/south", "station/north"])
            (array([290., 291., 280., 281., 282., 283.], dtype=float32), array([0, 2, 6]))
            >>> both = f.read_ragged(["time", "wind"], "station/*", axis={"wind": 1})
            >>> both["wind"][0].shape
            (2, 6)

        Args:
            variables: a name, or several names.
            blocks: names, positions (also as an array of integers) or blocks; or a glob, as for ``f.blocks.glob``.
            axis: the number of a dimension, from 0; or a dict from names of variables to such numbers, which are 0 for names
                that are not in it: ``{"edge_index": 1}``.
            threads: the number of threads; None for all processors.
        Returns:
            ``(values, offsets)``, with int64 offsets; for several names, a dict of such pairs.
        Errors: ``MissingError`` if a block or a variable does not exist; ``UsageError`` if types or other lengths differ;
            ``DamagedError`` if a checksum is wrong.
        """
        names = [variables] if isinstance(variables, str) else list(variables)
        if isinstance(blocks, str):
            blocks = iterate(self, blocks)
        if isinstance(blocks, np.ndarray):
            blocks = blocks.tolist()
        some = [any_block(block if isinstance(block, (str, Block)) else self._number(block)) for block in blocks]
        if isinstance(axis, Mapping):
            if unknown := set(axis) - set(names):
                raise UsageError(f"axis has {sorted(unknown)[0]!r}, which is not one of the variables")
            axes = [operator.index(axis.get(name, 0)) for name in names]
        else:
            axes = [operator.index(axis)] * len(names)
        if min(axes, default=0) < 0:
            raise UsageError(f"axis: found {min(axes)}, expected at least 0")
        pairs = _core.read_ragged(self._native(), names, axes, some, thread_count(threads), None)
        return pairs[0] if isinstance(variables, str) else dict(zip(names, pairs))
