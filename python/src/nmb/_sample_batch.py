"""Batches of samples of different lengths: one array a variable."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any, overload

from ._errors import MissingError, SelectionError


class Batch:
    """A batch of samples: ``batch["x"]`` has the values of all samples, one after the other, and ``batch.offsets["x"]`` says where
    each begins. As a sequence, it has a dict of arrays for each sample, which share the batch's memory::

        >>> batch = nmb.samples.Samples("stations.nmb", axis={"wind": 1})[[1, 0]]
        >>> batch["temperature"], batch.offsets["temperature"]
        (array([290., 291., 280., 281., 282., 283.], dtype=float32), array([0, 2, 6]))
        >>> len(batch), batch[0]["wind"].shape, batch.owner("temperature")
        (2, (2, 2), array([0, 0, 1, 1, 1, 1]))

    The values of sample ``i`` are ``batch["x"][offsets[i]:offsets[i + 1]]``, or the same along another axis. A variable without
    dimensions has one row. Several threads may use a batch that none changes.

    Attributes:
        values: the arrays by name.
        offsets: for each name len(batch) + 1 numbers, int64.
        axes: for each name the axis along which samples follow each other.
        samples: the number of each sample in the file, int64.
        seeds: a random number for each sample, from 0 to 2**63 - 1, that depends on the seed, the epoch and the sample alone:
            for augmentations that are the same after a resumption. int64.
    """

    def __init__(
        self, values: Mapping[str, Any], offsets: Mapping[str, Any], axes: Mapping[str, int], samples: Any, seeds: Any
    ) -> None:
        self.values = dict(values)
        self.offsets = dict(offsets)
        self.axes = dict(axes)
        self.samples = samples
        self.seeds = seeds

    def _missing(self, name: str) -> MissingError:
        return MissingError(f'found no variable "{name}" in the batch, which has {", ".join(self.values)}', object=name)

    def __len__(self) -> int:
        return len(self.samples)

    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            if key not in self.values:
                raise self._missing(key)
            return self.values[key]
        i = operator.index(key)
        if not -len(self) <= i < len(self):
            raise SelectionError(f"index {i} is out of range: the batch has {len(self)} samples")
        i %= len(self)
        out = {}
        for name, values in self.values.items():
            begin, end = int(self.offsets[name][i]), int(self.offsets[name][i + 1])
            out[name] = values[(slice(None),) * self.axes[name] + (slice(begin, end),)]
        return out

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for i in range(len(self)):
            yield self[i]

    def lengths(self, name: str) -> Any:
        """The number of rows of each sample. name: a variable."""
        if name not in self.offsets:
            raise self._missing(name)
        offsets = self.offsets[name]
        return offsets[1:] - offsets[:-1]

    def owner(self, name: str) -> Any:
        """For each row of a variable, the number of its sample in the batch. name: a variable."""
        import numpy as np

        return np.repeat(np.arange(len(self)), self.lengths(name))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {tuple(values.shape)}" for name, values in self.values.items())
        kind = "torch" if type(self).__module__.endswith("torch") else "samples"
        return f"<nmb.{kind}.Batch of {len(self)} samples: {parts}>"
