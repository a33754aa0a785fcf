"""Reads samples by their numbers."""

from __future__ import annotations

import hashlib
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._block import Block
from ._cached import cached_property
from ._errors import MissingError, SelectionError, UsageError
from ._file import File, open
from ._sample_batches import Chosen
from ._sample_order import Numbers, key_of, keyed
from ._sample_places import Found, Places, Rule
from ._threads import thread_count

# Bytes of definitions of blocks that a process keeps.
_CACHE = 4 << 20
# What Batch is made of: values, offsets and axes by name; samples and seeds.
Parts = tuple[dict[str, Any], dict[str, Any], dict[str, int], Numbers, Numbers]


class SampleReader:
    """The samples of a file, without what is done with them."""

    def __init__(
        self,
        path: str | os.PathLike[str] | File,
        variables: Iterable[str] | None,
        samples: str,
        where: str | Sequence[Any] | npt.NDArray[Any] | None,
        axis: int | Mapping[str, int],
        threads: int | None,
    ) -> None:
        self.file = path if isinstance(path, File) else open(path, cache=_CACHE)
        self.rule = Rule.parse(samples)
        self.places = Places(self.file, self.rule)
        self.threads = None if threads is None else thread_count(threads)
        if isinstance(variables, str):
            raise UsageError(f"variables: found {variables!r}, expected a list of names")
        self._wanted = None if variables is None else list(variables)
        self._axis = axis
        self.chosen = None if where is None else self._choose(where)
        self.total = self.places.total if self.chosen is None else len(self.chosen)

    # --- which samples ---

    def _choose(self, where: Any) -> Numbers:
        if isinstance(where, str):
            return self.places.samples_where(where, thread_count(self.threads))
        some: Any = where if isinstance(where, np.ndarray) else list(where)
        if len(some) and isinstance(some[0], (str, Block)):
            return self._of_blocks(some)
        numbers = np.asarray(some)
        if numbers.size == 0:
            numbers = numbers.astype(np.int64)
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
            raise UsageError(f"where: found {numbers.dtype} of shape {numbers.shape}, expected an expression, numbers, names or blocks")
        self._check(numbers, self.places.total)
        out: Numbers = numbers.astype(np.int64)
        out.flags.writeable = False
        return out

    def _of_blocks(self, blocks: Iterable[str | Block]) -> Numbers:
        native = self.file._native()
        names = (block if isinstance(block, str) else block.name for block in blocks)
        positions = np.fromiter((native.position(name) for name in names), np.int64)
        return self.places.samples_at(positions)

    @staticmethod
    def _check(numbers: Any, total: int) -> None:
        wrong = (numbers < 0) | (numbers >= total)
        if wrong.any():
            raise SelectionError(f"sample {numbers[wrong][0]} is out of range: there are {total} samples")

    @cached_property
    def fingerprint(self) -> str:
        """See Samples.fingerprint."""
        state = self.file._current()
        if state.generation:
            content = f"generation {state.generation} " + "".join(f"{part:016x}" for part in state.stamp)
        else:
            _, size, time = state.stamp
            content = f"{size} bytes changed at {time}"
        choice = "" if self.chosen is None else " chosen " + hashlib.blake2b(self.chosen.data, digest_size=8).hexdigest()
        return f"{self.file.kind} {content} samples={self.rule.text}{choice}"

    # --- which variables ---

    @cached_property
    def names(self) -> list[str]:
        """The variables of the first sample; for vars:N, those that stand at the places of others in other samples."""
        if self.places.total == 0:
            return []
        found = self.places.find(np.zeros(1, np.int64))
        names: list[str] = found.blocks[0].variable_names()
        if self.rule.per:
            return names[: self.rule.per]
        if self.rule.dimension:
            return [name for name in names if self.rule.dimension in self._dims(found.blocks[0], name)]
        return names

    @cached_property
    def variables(self) -> list[str]:
        """The variables that are read."""
        if self._wanted is None:
            return self.names
        for name in self._wanted:
            if self.names and self.rule.per and name not in self.names:
                raise MissingError(f'found no variable "{name}" in the first sample, which has {", ".join(self.names)}', object=name)
        return self._wanted

    @cached_property
    def axes(self) -> dict[str, int]:
        """The axis of each variable."""
        if isinstance(self._axis, Mapping):
            if unknown := set(self._axis) - set(self.variables):
                raise UsageError(f"axis has {sorted(unknown)[0]!r}, which is not one of the variables")
            axes = {name: operator.index(self._axis.get(name, 0)) for name in self.variables}
        else:
            axes = dict.fromkeys(self.variables, operator.index(self._axis))
        if min(axes.values(), default=0) < 0:
            raise UsageError(f"axis: found {min(axes.values())}, expected at least 0")
        if self.rule.dimension and any(axes.values()):
            raise UsageError(f"axis: with samples={self.rule.text!r}, the dimension becomes the first axis")
        return axes

    def _dims(self, block: Any, name: str) -> tuple[str, ...]:
        return tuple(block.variable(name).dimensions())

    # --- reading ---

    @staticmethod
    def is_many(key: Any) -> bool:
        """Whether a key stands for a batch."""
        return isinstance(key, (Chosen, list, np.ndarray, range, slice))

    def read(self, key: Any, threads: int | None = None, allocate: Any = None) -> Parts:
        """Reads a batch, or a batch of one sample. allocate: None, or for samples that are blocks a function that makes the arrays: from
        a list of (dtype, shape) to a list of arrays."""
        samples, seeds = self._numbers(key)
        if not len(samples):
            raise UsageError("a batch needs at least one sample")
        inner = samples if self.chosen is None else self.chosen[samples]
        found = self.places.find(inner)
        count = thread_count(self.threads if threads is None else threads)
        if self.rule.dimension:
            pairs = self._read_rows(found, count)
        elif self.rule.per:
            pairs = self._read_groups(found, count)
        else:
            axes = [self.axes[name] for name in self.variables]
            pairs = _core.read_ragged(self.file._native(), self.variables, axes, found.blocks, count, allocate)
        values = {name: pair[0] for name, pair in zip(self.variables, pairs)}
        offsets = {name: pair[1] for name, pair in zip(self.variables, pairs)}
        return values, offsets, self.axes, inner, seeds

    def _numbers(self, key: Any) -> tuple[Numbers, Numbers]:
        if isinstance(key, Chosen):
            self._check(key.samples, self.total)
            return key
        if isinstance(key, slice):
            key = range(*key.indices(self.total))
        if isinstance(key, (bool, np.bool_)):
            raise UsageError("found True or False for a sample, expected a number")
        numbers = np.asarray(key if self.is_many(key) else [operator.index(key)])
        if numbers.size == 0:
            numbers = numbers.astype(np.int64)
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
            raise UsageError(f"found {numbers.dtype} of shape {numbers.shape} for samples, expected a list of numbers")
        numbers = numbers.astype(np.int64)
        wanted = np.where(numbers < 0, numbers + self.total, numbers)
        if ((wanted < 0) | (wanted >= self.total)).any():
            self._check(numbers[(wanted < 0) | (wanted >= self.total)], self.total)
        return wanted, (keyed(key_of(0, 0, 5), wanted) >> np.uint64(1)).astype(np.int64)

    def _read_groups(self, found: Found, threads: int) -> list[Any]:
        """For vars:N: variables that differ between samples by their names."""
        numbers = [self.names.index(name) for name in self.variables]
        names = {block.name: block.variable_names() for block in found.blocks}
        items = []
        for block, within in zip(found.blocks, found.within.tolist()):
            first = within * self.rule.per
            items += [(block, names[block.name][first + number], None, None) for number in numbers]
        arrays = [np.atleast_1d(array) for array in _core.read_many(self.file._native(), items, threads)]
        return [
            _joined(name, arrays[i :: len(numbers)], self.axes[name], [item[1] for item in items[i :: len(numbers)]])
            for i, name in enumerate(self.variables)
        ]

    def _read_rows(self, found: Found, threads: int) -> list[Any]:
        """For dim:NAME: an index of each variable along the dimension."""
        dimension = self.rule.dimension
        columns: dict[str, list[Any]] = {name: [] for name in self.variables}
        slabs: dict[tuple[str, str], tuple[int, list[int]]] = {}
        for block, row in zip(found.blocks, found.within.tolist()):
            for name in self.variables:
                place = slabs.get((block.name, name))
                if place is None:
                    variable = block.variable(name)
                    dims = list(variable.dimensions())
                    if dims.count(dimension) != 1:
                        raise UsageError(
                            f'variable "{name}" of block "{block.name}" has the dimensions {dims}, expected "{dimension}" once',
                            file=self.file.path,
                        )
                    axis = dims.index(dimension)
                    shape = list(variable.shape)
                    self.places.check_length(block, block.name, shape[axis])
                    place = slabs[block.name, name] = axis, shape
                axis, shape = place
                start, count = [0] * len(shape), list(shape)
                start[axis], count[axis] = row, 1
                columns[name].append((block, name, (start, count, [1] * len(shape)), axis))
        items = [(*item[:3], None) for some in columns.values() for item in some]
        arrays = iter(_core.read_many(self.file._native(), items, threads))
        out = []
        for name, some in columns.items():
            rows = [np.moveaxis(next(arrays), item[3], 0) for item in some]
            out.append(_joined(name, rows, 0, [item[0].name for item in some]))
        return out


def _joined(name: str, arrays: list[Any], axis: int, where: list[str]) -> tuple[Any, Any]:
    """The values of all samples one after the other, and where each begins. where: names for messages."""
    first = arrays[0]
    if axis >= first.ndim:
        raise UsageError(f'variable "{name}" has {first.ndim} dimensions, no axis {axis}')
    for array, place in zip(arrays, where):
        same = array.ndim == first.ndim and all(a == b for d, (a, b) in enumerate(zip(array.shape, first.shape)) if d != axis)
        if array.dtype != first.dtype or not same:
            raise UsageError(
                f'variable "{name}" differs between samples: {first.dtype} of shape {first.shape} in "{where[0]}", '
                f'{array.dtype} of shape {array.shape} in "{place}"'
            )
    offsets = np.zeros(len(arrays) + 1, np.int64)
    np.cumsum([array.shape[axis] for array in arrays], out=offsets[1:])
    return np.ascontiguousarray(np.concatenate(arrays, axis)), offsets
