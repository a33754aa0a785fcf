"""Which samples each batch has: for each rank, in each epoch, from any position of the order on."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ._errors import UsageError
from ._sample_order import Numbers, Order

_UNEVEN = ("pad", "drop", "exact")
# Positions whose samples are computed together.
_MANY = 8192
_VERSION = 1


class Counted(Protocol):
    """What Batches needs to know of samples: how many there are, and a text that differs if they are others."""

    def __len__(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...


class Chosen(NamedTuple):
    """The samples of a batch.

    Attributes:
        samples: their numbers.
        seeds: a random number for each.
    """

    samples: Numbers
    seeds: Numbers


class Steps(NamedTuple):
    """Divides the positions of an order. In a step, each rank takes a batch; the batches of a step are neighbours."""

    total: int
    batch_size: int
    rank: int
    ranks: int
    uneven: str
    drop_last: bool

    def of_last(self, left: int) -> int:
        """How many samples each rank gets in the last step, if fewer than whole batches are left; with "exact", at least."""
        share = -(-left // self.ranks) if self.uneven == "pad" else left // self.ranks
        return 0 if self.drop_last and share < self.batch_size else share

    def is_over(self, position: int) -> bool:
        """Whether no rank gets another batch."""
        left = self.total - position
        return left <= 0 or (self.uneven != "exact" and self.of_last(left) == 0)

    def next(self, position: int) -> tuple[Numbers, int] | None:
        """The positions of the next batch of this rank, and the position after the step."""
        if self.is_over(position):
            return None
        left, together = self.total - position, self.ranks * self.batch_size
        if left >= together:
            begin, count = position + self.rank * self.batch_size, self.batch_size
        elif self.uneven == "exact":
            share, more = divmod(left, self.ranks)
            begin = position + self.rank * share + min(self.rank, more)
            count = share + (self.rank < more)
        else:
            count = self.of_last(left)
            begin = position + self.rank * count
        if count == 0:
            return None
        return np.arange(begin, begin + count, dtype=np.int64) % self.total, min(position + together, self.total)

    def batches(self) -> int:
        """The number of batches of this rank in an epoch."""
        whole, left = divmod(self.total, self.ranks * self.batch_size)
        return whole + (self.next(self.total - left) is not None)


def whole_number(what: str, number: Any, least: int, most: int = (1 << 63) - 1) -> int:
    """Checks an argument."""
    if isinstance(number, (bool, np.bool_)):
        raise UsageError(f"{what}: found {number}, expected a number")
    value = operator.index(number)
    if not least <= value <= most:
        raise UsageError(f"{what}: found {value}, expected {least} to {most}" if most < 1 << 62 else f"{what}: found {value}, expected at least {least}")
    return value


class Batches:
    """The samples of each batch of a rank, in the order of training: what ``sampler=`` of a data loader can be.

    The order depends on ``seed``, the epoch and the number of samples alone. In each step, ``ranks`` ranks take the next
    ``ranks * batch_size`` samples of it. Iterating gives the batches of one epoch; the next iteration is the next epoch. Objects
    are not safe for threads.

    Args:
        samples: ``Samples``.
        batch_size: the samples of a batch on each rank.
        shuffle: False for the order of the file; True for a random order of all samples; a number W for windows of W neighbours,
            which come in random order, as do the samples in each: for disks that read neighbours faster.
        seed: of the order, at least 0.
        uneven: what happens in the last step, if the samples do not fill the batches of all ranks. Its samples are divided
            evenly. "pad" repeats fewer samples than there are ranks, from the beginning of the order; "drop" leaves out fewer
            samples than there are ranks: every rank has as many batches and samples as the others. "exact" gives each sample
            once, so that a batch has a sample more or less on some ranks, and some may have a batch less.
        drop_last: whether a last step is left out if its batches would have fewer than ``batch_size`` samples.
        rank, ranks: this process of a job, from 0, and the number of its processes.
    Errors: ``UsageError``, a ``ValueError``.
    """

    def __init__(
        self,
        samples: Counted,
        batch_size: int,
        *,
        shuffle: bool | int = False,
        seed: int = 0,
        uneven: str = "pad",
        drop_last: bool = False,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if not isinstance(shuffle, bool):
            shuffle = whole_number("shuffle", shuffle, 1)
        if uneven not in _UNEVEN:
            raise UsageError(f"uneven: found {uneven!r}, expected one of {list(_UNEVEN)}")
        if uneven == "exact" and drop_last:
            raise UsageError('uneven="exact" and drop_last exclude each other')
        ranks = whole_number("ranks", ranks, 1)
        self._samples = samples
        self._order = Order(len(samples), shuffle, whole_number("seed", seed, 0))
        self._steps = Steps(
            len(samples), whole_number("batch_size", batch_size, 1), whole_number("rank", rank, 0, ranks - 1), ranks, uneven, bool(drop_last)
        )
        # Where the next iteration begins, and what the last one has given.
        self._next = self._given = (0, 0)

    @property
    def epoch(self) -> int:
        """The epoch of the next iteration, from 0."""
        return self._next[0]

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration begin this epoch. epoch: at least 0."""
        self._next = self._given = (whole_number("epoch", epoch, 0), 0)

    def __len__(self) -> int:
        return self._steps.batches()

    def __iter__(self) -> BatchesIterator:
        return BatchesIterator(self)

    def state_dict(self) -> dict[str, Any]:
        """What ``load_state_dict`` needs to go on after the last batch that an iteration has given. A data loader with workers
        asks for batches ahead of the training loop: take the state from the loader."""
        return self._state_at(*self._given)

    def _state_at(self, epoch: int, position: int) -> dict[str, Any]:
        """The state after ``position`` samples of an epoch, counted over all ranks."""
        if position > 0 and self._steps.is_over(position):
            position = self._order.total  # samples that were left out count, whatever the number of ranks is later
        return {
            "nmb_samples": _VERSION,
            "epoch": epoch,
            "position": position,
            "seed": self._order.seed,
            "shuffle": self._order.shuffle,
            "samples": self._order.total,
            "fingerprint": self._samples.fingerprint,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next iteration go on from a state, of any number of ranks and any batch size.

        Args:
            state: what ``state_dict`` returned; or the state of a ``StatefulDataLoader``, which has it inside.
        Errors: ``UsageError`` if samples, seed or shuffle were others.
        """
        self._next = self._given = self._begin_of(state)

    def _begin_of(self, state: Mapping[str, Any]) -> tuple[int, int]:
        """Where an iteration begins that goes on from a state."""
        epoch, position = self._checked(state)
        return (epoch + 1, 0) if 0 < position == self._order.total else (epoch, position)

    def _checked(self, state: Mapping[str, Any]) -> tuple[int, int]:
        """The epoch and the position of a state, if it is one of these batches."""
        inner = _find(state)
        if inner is None:
            raise UsageError("found no state of samples in the dict, expected what state_dict() returned")
        if inner["nmb_samples"] != _VERSION:
            raise UsageError(f"found a state of version {inner['nmb_samples']}, expected {_VERSION}")
        here = self._state_at(0, 0)
        if inner["fingerprint"] != here["fingerprint"]:
            raise UsageError(
                f"the state does not fit: it is of the samples {inner['fingerprint']}, these are {here['fingerprint']}; open the "
                "same generation of the same file, with the same samples="
            )
        for name, what in (("samples", "samples"), ("seed", "the seed"), ("shuffle", "shuffle")):
            if inner[name] != here[name] or isinstance(inner[name], bool) != isinstance(here[name], bool):
                raise UsageError(f"the state does not fit: {what} was {inner[name]}, and is now {here[name]}")
        return whole_number("epoch", inner["epoch"], 0), whole_number("position", inner["position"], 0, self._order.total)


def _find(state: Any) -> Mapping[str, Any] | None:
    if not isinstance(state, Mapping):
        return None
    if "nmb_samples" in state:
        return state
    for value in state.values():
        found = _find(value)
        if found is not None:
            return found
    return None


class BatchesIterator(Iterator[Chosen]):
    """The batches of one epoch, or of the rest of one. ``position`` is how many samples of the epoch all ranks have got with the
    last batch."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._computed: list[tuple[Chosen, int]] = []
        self.epoch, self.position = batches._next
        self._over = False

    def __iter__(self) -> BatchesIterator:
        return self

    def __next__(self) -> Chosen:
        if self._over:
            raise StopIteration
        batches = self._batches
        batches._next = (self.epoch + 1, 0)
        if not self._computed:
            self._compute()
        if not self._computed:
            self._over = True
            batches._given = (self.epoch, batches._order.total)
            raise StopIteration
        chosen, self.position = self._computed.pop()
        batches._given = (self.epoch, self.position)
        return chosen

    def _compute(self) -> None:
        """Finds the samples of the next batches."""
        steps, order = self._batches._steps, self._batches._order
        found: list[tuple[Numbers, int]] = []
        position, count = self.position, 0
        while count < _MANY and (one := steps.next(position)) is not None:
            found.append(one)
            position, count = one[1], count + len(one[0])
        if not found:
            return
        ends = np.cumsum([len(positions) for positions, _ in found])[:-1]
        samples = order.samples(self.epoch, np.concatenate([positions for positions, _ in found]))
        seeds = order.seeds(self.epoch, samples)
        chosen = map(Chosen, np.split(samples, ends), np.split(seeds, ends))
        self._computed = [(one, after) for one, (_, after) in zip(chosen, found)][::-1]

    def state_dict(self) -> dict[str, Any]:
        """The state after the last batch."""
        return self._batches._state_at(self.epoch, self._batches._order.total if self._over else self.position)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state; after the end of an epoch, there are no more batches."""
        self.epoch, self.position = self._batches._checked(state)
        self._batches._next = self._batches._begin_of(state)
        self._computed, self._over = [], False
