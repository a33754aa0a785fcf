"""Divides samples into sets for training, validation and test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ._errors import UsageError
from ._sample_batches import whole_number
from ._sample_order import Numbers, key_of, keyed

if TYPE_CHECKING:
    from .samples import Samples


def split(samples: Samples | int, parts: Mapping[str, float], *, seed: int = 0, by: str = "sample") -> dict[str, Numbers]:
    """Divides samples at random: a dict from the names of the parts to ascending numbers of samples, for ``where=``::

        >>> parts = nmb.samples.split(nmb.samples.Samples("stations.nmb"), {"train": 0.5, "test": 0.5}, seed=3)
        >>> sorted(n for numbers in parts.values() for n in numbers.tolist())
        [0, 1]
        >>> len(nmb.samples.Samples("stations.nmb", where=parts["train"])) == len(parts["train"])
        True

    A hash of the seed, of the name of a sample's block and of its number in the block decides. So a sample stays in its part
    when the file grows, is packed again or is merged with others, as long as the names of blocks stay. The parts have about the
    sizes that are asked for; the numbers of samples vary as those of independent draws do.

    Args:
        samples: ``Samples``; those that ``where`` has chosen are divided. Or a number of samples that have no names: their
            positions decide.
        parts: the names of the parts, and the share of each. The shares are at most 1 together; samples beyond are left out.
        seed: at least 0.
        by: "sample"; or "block", which keeps all samples of a block in one part.
    Returns: for each part int64 numbers, ascending, 8 bytes a sample.
    Errors: ``UsageError``.
    """
    shares = np.array([float(share) for share in parts.values()])
    if not len(shares) or not (shares >= 0).all() or shares.sum() > 1 + 1e-9:
        raise UsageError(f"parts: found {dict(parts)}, expected shares of at least 0, at most 1 together")
    if by not in ("sample", "block"):
        raise UsageError(f'by: found {by!r}, expected "sample" or "block"')
    key = key_of(whole_number("seed", seed, 0), 6)
    if hasattr(samples, "_reader"):
        reader = samples._reader
        counts = reader.places.counts()
        hashes = np.repeat(reader.places.hashes(), counts)
        if by == "sample":
            within = np.arange(len(hashes)) - np.repeat(counts.cumsum() - counts, counts)
            hashes += keyed(0, within)
        numbers = np.arange(len(hashes)) if reader.chosen is None else np.sort(reader.chosen)
        hashes = hashes[numbers]
    else:
        if by == "block":
            raise UsageError('by="block" needs Samples')
        numbers = np.arange(whole_number("samples", samples, 0))
        hashes = keyed(0, numbers)
    # From 0 to 1, exactly the same on all machines.
    places = (keyed(key, hashes) >> np.uint64(11)).astype(np.float64) / (1 << 53)
    ends = np.cumsum(shares)
    if abs(ends[-1] - 1) < 1e-9:
        ends[-1] = 1
    which = np.searchsorted(ends, places, side="right")
    return {name: numbers[which == i].astype(np.int64, copy=False) for i, name in enumerate(parts)}


