"""Samples for PyTorch: packed batches of tensors, in a random order that a program can resume. Needs torch, 1.13 or later.

    samples = nmb.torch.Samples("all.nmb", ["x", "edge_index", "y"], axis={"edge_index": 1})
    loader = nmb.torch.Loader(samples, batch_size=64, shuffle=True, seed=1, num_workers=2)
    while loader.epoch < 10:
        for batch in loader:
            loss = model(batch["x"], batch["edge_index"], batch.owner("x"))
            ...
            torch.save({"loader": loader.state_dict(), ...}, "checkpoint.pt")

The guide is docs/guides/training.md."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils import data

from . import samples as _samples
from ._errors import UsageError
from ._file import File
from ._sample_batches import Batches, Chosen, whole_number
from ._sample_loader import Resumable, read_ahead
from ._sample_order import key_of

__all__ = ["Batch", "Loader", "Samples"]

# Where a tensor begins in the memory of a batch that a worker sends.
_ALIGNED = 64


class Batch(_samples.Batch):
    """A batch whose values, offsets, samples and seeds are tensors; else as ``nmb.samples.Batch``. A worker process sends all of
    them in one piece of shared memory, so that a batch takes one file descriptor. Several threads may use a batch that none changes."""

    def owner(self, name: str) -> Any:
        """For each row of a variable, the number of its sample in the batch: what PyTorch Geometric calls ``batch``. name: a
        variable."""
        lengths = self.lengths(name)
        return torch.repeat_interleave(torch.arange(len(self), device=lengths.device), lengths)

    def _tensors(self) -> list[Any]:
        return [*self.values.values(), *self.offsets.values(), self.samples, self.seeds]

    def _with(self, tensors: Sequence[Any]) -> Batch:
        count = len(self.values)
        values, offsets = dict(zip(self.values, tensors)), dict(zip(self.offsets, tensors[count:]))
        return Batch(values, offsets, self.axes, tensors[-2], tensors[-1])

    def to(self, device: Any, non_blocking: bool = False) -> Batch:
        """The batch on a device. non_blocking: as for ``torch.Tensor.to``."""
        return self._with([tensor.to(device, non_blocking=non_blocking) for tensor in self._tensors()])

    def pin_memory(self) -> Batch:
        """The batch in page-locked memory; data loaders call this for ``pin_memory=True``."""
        return self._with([tensor.pin_memory() for tensor in self._tensors()])

    def __reduce__(self) -> Any:
        if data.get_worker_info() is None:
            return Batch, (self.values, self.offsets, self.axes, self.samples, self.seeds)
        tensors = self._tensors()
        if self._memory is None or any(one is not other for one, other in zip(tensors, self._memory.parts)):
            self._memory = _Memory([(tensor.dtype, tuple(tensor.shape)) for tensor in tensors])
            for part, tensor in zip(self._memory.parts, tensors):
                part.copy_(tensor)
        return _unpacked, (self._memory.whole, self._memory.layout, list(self.values), self.axes)

    _memory: _Memory | None = None  # that its tensors were read into


class _Memory:
    """One piece of memory that processes share, and its parts: tensors of some types and shapes."""

    def __init__(self, wanted: Sequence[tuple[Any, tuple[int, ...]]]) -> None:
        self.layout, size = [], 0
        for dtype, shape in wanted:
            self.layout.append((size, dtype, shape))
            size += -(-torch.Size(shape).numel() * torch.empty(0, dtype=dtype).element_size() // _ALIGNED) * _ALIGNED
        self.whole = _shared_memory(size)
        self.parts = _parts(self.whole, self.layout)


def _shared_memory(size: int) -> Any:
    """New memory that several processes share, as ``torch.utils.data.default_collate`` allocates it in a worker."""
    empty = torch.empty(0, dtype=torch.uint8)
    storage = empty._typed_storage() if hasattr(empty, "_typed_storage") else empty.storage()
    return empty.new(storage._new_shared(size)).resize_(size)


def _parts(memory: Any, layout: Sequence[tuple[int, Any, tuple[int, ...]]]) -> list[Any]:
    parts = []
    for begin, dtype, shape in layout:
        count = torch.Size(shape).numel()
        end = begin + count * torch.empty(0, dtype=dtype).element_size()
        parts.append(memory[begin:end].view(dtype).view(shape) if count else torch.empty(shape, dtype=dtype))
    return parts


def _unpacked(memory: Any, layout: Any, names: Sequence[str], axes: Mapping[str, int]) -> Batch:
    tensors, count = _parts(memory, layout), len(names)
    return Batch(dict(zip(names, tensors)), dict(zip(names, tensors[count:])), axes, tensors[-2], tensors[-1])


class Samples(_samples.Samples):
    """As ``nmb.samples.Samples``, with tensors: a map-style data set. Tensors use the memory of the arrays that were read.

    With a ``DataLoader`` of PyTorch's own, use ``batch_size=None`` and ``sampler=nmb.samples.Batches(...)``: the data set then
    reads a batch in one call. ``Loader`` does so, and can be resumed. Safe for threads.

    Args:
        path, variables, samples, where, axis: as for ``nmb.samples.Samples``. torch has no type for text, compounds and, before
            2.3, unsigned integers of more than 8 bits: such variables are an error if they are read.
        transform: a function of a ``Batch`` of tensors, whose result takes its place; for PyTorch Geometric, one that makes its
            ``Data``. It runs where the batch is read: in a worker or, without workers, in a thread.
        threads: the threads that read a batch; None for all processors, and 1 in a worker.
    Errors: those of ``nmb.samples.Samples``.
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
        super().__init__(path, variables, samples=samples, where=where, axis=axis, transform=transform, threads=threads)

    def _batch(self, key: Any) -> Batch:
        if data.get_worker_info() is not None:
            return self._batch_of_worker(key)
        values, offsets, axes, samples, seeds = self._reader.read(key)
        self._types([array.dtype for array in values.values()])
        tensors, places = ({name: torch.from_numpy(array) for name, array in arrays.items()} for arrays in (values, offsets))
        return Batch(tensors, places, axes, torch.from_numpy(samples), torch.from_numpy(seeds))

    def _batch_of_worker(self, key: Any) -> Batch:
        """Reads into memory that the process of the training loop will share."""
        memory: _Memory | None = None
        count = len(key.samples) if isinstance(key, Chosen) else 0

        def allocate(wanted: list[Any]) -> list[Any]:
            nonlocal memory
            types = self._types([dtype for dtype, _ in wanted])
            parts = list(zip(types, [tuple(shape) for _, shape in wanted]))
            memory = _Memory(parts + len(parts) * [(torch.int64, (count + 1,))] + 2 * [(torch.int64, (count,))])
            return [part.numpy() for part in memory.parts[: len(parts)]]

        threads = 1 if self._reader.threads is None else None
        values, offsets, axes, samples, seeds = self._reader.read(key, threads, allocate if count else None)
        self._types([array.dtype for array in values.values()])
        arrays = [*values.values(), *offsets.values(), samples, seeds]
        if memory is None:  # arrays of which one was made of many
            tensors = [torch.from_numpy(array) for array in arrays]
        else:
            tensors = memory.parts
            for part, array in zip(tensors[len(values) :], arrays[len(values) :]):
                part.copy_(torch.from_numpy(array))
        batch = Batch(dict(zip(values, tensors)), dict(zip(offsets, tensors[len(values) :])), axes, tensors[-2], tensors[-1])
        batch._memory = memory
        return batch

    def _types(self, dtypes: Sequence[Any]) -> list[Any]:
        """The types of torch for those of the variables."""
        found = []
        for name, dtype in zip(self._reader.variables, dtypes):
            try:
                found.append(torch.from_numpy(np.empty(0, dtype)).dtype)
            except TypeError:
                raise UsageError(
                    f'variable "{name}" has the type {dtype}, which torch does not have; choose others with variables=',
                    file=self.file.path,
                ) from None
        return found


class Loader(Resumable):
    """Gives the batches of an epoch each time it is iterated: a ``DataLoader`` that can be resumed, with packed batches.

    Which batches a rank gets does not depend on ``num_workers``. ``state_dict()`` counts the batches that the loop has got, not
    those that workers have read ahead. An iteration that was left by ``break`` stops its workers; the next one begins the next
    epoch. Random numbers of torch's global generator are not used. Not safe for threads.

    Args:
        samples: ``Samples``.
        batch_size, shuffle, seed, uneven, drop_last: as for ``nmb.samples.Batches``.
        num_workers: the number of processes that read; 0 for a thread of this one.
        rank, ranks: this process of a job, from 0, and the number of its processes; None for those of ``torch.distributed``.
        prefetch_factor: batches that each worker, or the thread, reads ahead; 0 is possible without workers.
        options: further options of ``DataLoader``: ``pin_memory``, ``persistent_workers``, ``multiprocessing_context``,
            ``worker_init_fn``, ``timeout`` and so on. Without workers, ``pin_memory`` alone.
    Errors: ``UsageError``; those of reading, raised where the loop gets the batch.
    """

    def __init__(
        self,
        samples: Samples,
        batch_size: int,
        *,
        shuffle: bool | int = False,
        seed: int = 0,
        num_workers: int = 0,
        uneven: str = "pad",
        drop_last: bool = False,
        rank: int | None = None,
        ranks: int | None = None,
        prefetch_factor: int = 2,
        **options: Any,
    ) -> None:
        rank, ranks = _place(rank, ranks)
        super().__init__(
            Batches(samples, batch_size, shuffle=shuffle, seed=seed, uneven=uneven, drop_last=drop_last, rank=rank, ranks=ranks)
        )
        for name in ("sampler", "batch_sampler", "collate_fn", "generator", "in_order"):
            if name in options:
                raise UsageError(f"{name}: the loader decides it; use a DataLoader with sampler=nmb.samples.Batches(...) instead")
        self._samples = samples
        self._num_workers = whole_number("num_workers", num_workers, 0)
        self._ahead = whole_number("prefetch_factor", prefetch_factor, 1 if self._num_workers else 0)
        self._pinned = bool(options.get("pin_memory")) and not self._num_workers and torch.cuda.is_available()
        self._chosen: Iterator[Chosen] = iter(())
        self._generator = torch.Generator()  # of the seeds of workers
        self._loader: Any = None
        if self._num_workers:
            self._loader = data.DataLoader(
                samples, batch_size=None, sampler=_Current(self), collate_fn=_same, num_workers=self._num_workers,
                prefetch_factor=self._ahead, generator=self._generator, **options,
            )  # fmt: skip
        elif unused := sorted(set(options) - {"pin_memory"}):
            raise UsageError(f"{unused[0]}: needs num_workers of at least 1")

    def _read(self, chosen: Iterator[Chosen]) -> Iterator[Any]:
        if self._loader is None:
            for batch in read_ahead(self._samples, chosen, self._ahead):
                yield data._utils.pin_memory.pin_memory(batch) if self._pinned else batch
            return
        self._chosen = chosen
        self._generator.manual_seed(key_of(self._batches._order.seed, self.epoch) >> 1)
        yield from self._loader


class _Current:
    """The batches of the current iteration of a loader."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[Chosen]:
        return self._loader._chosen

    def __len__(self) -> int:
        return len(self._loader)


def _same(batch: Any) -> Any:
    return batch


def _place(rank: int | None, ranks: int | None) -> tuple[int, int]:
    """This process of a job, and the number of processes."""
    if (rank is None) != (ranks is None):
        raise UsageError("rank and ranks belong together")
    if rank is not None and ranks is not None:
        return rank, ranks
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise UsageError("WORLD_SIZE is set, but torch.distributed is not initialised: do so first, or give rank and ranks")
    return 0, 1
