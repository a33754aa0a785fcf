"""Batches of samples for a training loop, read ahead, with a state to resume from."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ._sample_batches import Batches, BatchesIterator, Chosen, whole_number

if TYPE_CHECKING:
    from .samples import Samples


class Resumable:
    """A loop over the batches of epochs, which counts the batches that the loop has got."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._received = (batches.epoch, 0)

    @property
    def epoch(self) -> int:
        """The epoch of the batches that an iteration gives; after its end, the next one. From 0."""
        return self._received[0]

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration begin this epoch, which else counts the iterations. epoch: at least 0."""
        self._batches.set_epoch(epoch)
        self._received = (epoch, 0)

    def state_dict(self) -> dict[str, Any]:
        """What ``load_state_dict`` needs to go on after the last batch that the loop has got; batches that were read ahead do
        not count. A small dict of numbers and text, the same on all ranks: one rank's suffices."""
        return self._batches._state_at(*self._received)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next iteration go on from a state, exactly where the loop was; numbers of workers and ranks and the batch
        size may be others.

        Args:
            state: what ``state_dict`` returned.
        Errors: ``UsageError`` if it is the state of other samples, or seed or shuffle differ.
        """
        self._batches.load_state_dict(state)
        self._received = self._batches._begin_of(state)

    def __len__(self) -> int:
        """The batches of a whole epoch on this rank."""
        return len(self._batches)

    def __iter__(self) -> Generator[Any, None, None]:
        return self._loop(iter(self._batches))

    def _loop(self, iterator: BatchesIterator) -> Generator[Any, None, None]:
        after: deque[int] = deque()
        epoch = iterator.epoch

        def chosen() -> Iterator[Chosen]:
            for one in iterator:
                after.append(iterator.position)
                yield one

        self._received = (epoch, iterator.position)
        for batch in self._read(chosen()):
            self._received = (epoch, after.popleft())
            yield batch
        self._received = (epoch + 1, 0)

    def _read(self, chosen: Iterator[Chosen]) -> Iterator[Any]:
        raise NotImplementedError


def read_ahead(samples: Any, chosen: Iterator[Chosen], ahead: int) -> Generator[Any, None, None]:
    """Reads batches in a thread, at most ``ahead`` of them before they are wanted."""
    if ahead == 0:
        for one in chosen:
            yield samples[one]
        return
    pool = ThreadPoolExecutor(1, "nmb_samples")
    waiting: deque[Future[Any]] = deque()
    try:
        for one in chosen:
            waiting.append(pool.submit(samples.__getitem__, one))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class Loader(Resumable):
    """Gives the batches of an epoch each time it is iterated, and reads the next ones meanwhile::

        >>> samples = nmb.samples.Samples("stations.nmb", ["time", "temperature"])
        >>> loader = nmb.samples.Loader(samples, batch_size=1, shuffle=True, seed=1)
        >>> for batch in loader:
        ...     state = loader.state_dict()          # for a checkpoint
        ...     break
        >>> resumed = nmb.samples.Loader(samples, batch_size=1, shuffle=True, seed=1)
        >>> resumed.load_state_dict(state)
        >>> len(list(resumed)), resumed.epoch
        (1, 1)

    The order depends on ``seed``, the epoch and the number of samples alone (see ``Batches``). An iteration that was left by
    ``break`` stops its thread; the next one begins the next epoch. Not safe for threads.

    Args:
        samples: ``Samples``. Its ``transform`` runs in the thread that reads ahead.
        batch_size, shuffle, seed, uneven, drop_last, rank, ranks: as for ``Batches``.
        ahead: batches that are read before the loop asks for them, each of which is in memory; 0 for none, and no thread.
    Errors: ``UsageError``; those of reading, raised where the loop gets the batch.
    """

    def __init__(
        self,
        samples: Samples,
        batch_size: int,
        *,
        shuffle: bool | int = False,
        seed: int = 0,
        uneven: str = "pad",
        drop_last: bool = False,
        rank: int = 0,
        ranks: int = 1,
        ahead: int = 2,
    ) -> None:
        super().__init__(
            Batches(samples, batch_size, shuffle=shuffle, seed=seed, uneven=uneven, drop_last=drop_last, rank=rank, ranks=ranks)
        )
        self._samples = samples
        self._ahead = whole_number("ahead", ahead, 0)

    def _read(self, chosen: Iterator[Chosen]) -> Iterator[Any]:
        return read_ahead(self._samples, chosen, self._ahead)


