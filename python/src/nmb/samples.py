"""Samples for training programs: batches in a random order that a program can resume. Needs numpy alone; nmb.torch is the same
for PyTorch.

    >>> samples = nmb.samples.Samples("stations.nmb", ["time", "temperature"])
    >>> for batch in nmb.samples.Loader(samples, batch_size=2, shuffle=True, seed=1):
    ...     print(len(batch), batch["temperature"].shape)
    2 (6,)

The guide is docs/guides/training.md."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from ._file import File
from ._sample_batch import Batch
from ._sample_batches import Batches
from ._sample_loader import Loader
from ._sample_reader import SampleReader
from ._sample_split import split

__all__ = ["Batch", "Batches", "Loader", "Samples", "split"]


class Samples:
    """The samples of a file, by their numbers: a data set in the sense of PyTorch (map style), without PyTorch::

        >>> samples = nmb.samples.Samples("stations.nmb", ["time", "temperature"])
        >>> len(samples), samples[1]["temperature"]
        (2, array([290., 291.], dtype=float32))
        >>> samples[[1, 0]]
        <nmb.samples.Batch of 2 samples: time (6,), temperature (6,)>

    ``len()`` reads the index alone. A list or an array of numbers reads a batch in one call. Without ``where=``, memory does not
    grow with the number of samples. May be used by several threads and after a fork, and can be pickled, if ``transform`` can.

    Args:
        path: the path of a file, of any kind; or a ``File``, which is opened with other options, for example an older generation.
        variables: the names of the variables to read; None for all variables of the first sample. A sample must have each.
        samples: what a sample is: "block", a block with variables; "vars:N", N variables that follow each other in a block,
            under the names that those of the first sample have; "dim:NAME", an index along a dimension. They are counted as
            ``nmcat --samples`` has counted them.
        where: which samples: an expression (as for ``File.find``), which keeps 8 bytes a match in memory; a list or an array of
            sample numbers; a list of blocks or their names. None for all.
        axis: along which axis samples differ: a number, or a dict from names to numbers, which are 0 for other names. For "dim:",
            that dimension becomes the first axis.
        transform: a function of a ``Batch``, whose result takes its place; also for a batch of one sample. None: there is none.
        threads: the threads that read a batch; None for all processors.
    Errors: those of ``nmb.open`` and ``File.find``; ``MissingError``; ``UsageError`` if types or other lengths differ between
        samples; ``SelectionError``, an ``IndexError``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | File,
        variables: Iterable[str] | None = None,
        *,
        samples: str = "block",
        where: str | Sequence[Any] | npt.NDArray[Any] | None = None,
        axis: int | Mapping[str, int] = 0,
        transform: Callable[[Any], Any] | None = None,
        threads: int | None = None,
    ) -> None:
        self._reader = SampleReader(path, variables, samples, where, axis, threads)
        self._transform = transform

    @property
    def file(self) -> File:
        """The file."""
        return self._reader.file

    @property
    def variables(self) -> list[str]:
        """The names of the variables that are read."""
        return list(self._reader.variables)

    @property
    def positions(self) -> Any:
        """The numbers in the file of the samples that ``where`` has chosen, int64; None without ``where``."""
        return self._reader.chosen

    @property
    def fingerprint(self) -> str:
        """A text that names the generation of the file and the choice of samples. A resumption compares it."""
        return self._reader.fingerprint

    def __len__(self) -> int:
        return self._reader.total

    def __getitem__(self, key: Any) -> Any:
        batch = self._batch(key)
        if self._transform is not None:
            return self._transform(batch)
        return batch if self._reader.is_many(key) else batch[0]

    def __getitems__(self, keys: Sequence[int]) -> Any:
        return self[list(keys)]

    def _batch(self, key: Any) -> Batch:
        return Batch(*self._reader.read(key))

    def __repr__(self) -> str:
        return f"<nmb.{type(self).__module__.rpartition('.')[2]}.Samples of {self.file.path}: {len(self)} samples>"
