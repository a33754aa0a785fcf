"""Orders of samples: permutations that are functions, so that none is stored.

A permutation of many numbers is a Feistel network over the least power of two that holds them, applied again while its result is
too large ("cycle walking"); one of few numbers sorts them by a hash. docs/guides/training.md describes what users see of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint64]

FEW = 4096  # numbers that are sorted
_ROUNDS = 6
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(number: int) -> int:
    """Spreads the bits of a number over 64 bits (the finalizer of splitmix64)."""
    number &= _MASK
    number = (number ^ (number >> 30)) * _FIRST & _MASK
    number = (number ^ (number >> 27)) * _SECOND & _MASK
    return number ^ (number >> 31)


def mixed_words(words: Any) -> _Words:
    """``mixed`` of each number of an array."""
    words = np.atleast_1d(np.asarray(words, np.uint64))
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    result: _Words = words ^ (words >> np.uint64(31))
    return result


def key_of(*numbers: int) -> int:
    """A key that depends on all the numbers and on their order."""
    key = 0
    for number in numbers:
        key = mixed(key + number + _GOLDEN)
    return key


def keyed(key: int, numbers: Any) -> _Words:
    """A hash of each number."""
    words = np.asarray(numbers).astype(np.uint64)
    return mixed_words(mixed_words(words * np.uint64(_GOLDEN) + np.uint64(key)) + np.uint64(key))


def permuted(numbers: Numbers, total: int, keys: _Words) -> Numbers:
    """Where a permutation of 0, ..., total - 1 sends each of the numbers. keys: one key for all numbers, or a key for each."""
    if total <= FEW:
        return _sorted_places(numbers, total, keys)
    bits = (total - 1).bit_length()
    low = bits // 2
    right_bits = np.uint64(low)
    right_mask, left_mask = np.uint64((1 << low) - 1), np.uint64((1 << (bits - low)) - 1)
    round_keys = [mixed_words(keys + np.uint64((_GOLDEN * (i + 1)) & _MASK)) for i in range(_ROUNDS)]
    words = numbers.astype(np.uint64)
    walking = np.arange(len(words))
    out = np.empty(len(words), np.int64)
    while walking.size:
        left, right = words >> right_bits, words & right_mask
        for i, key in enumerate(round_keys):
            if i % 2 == 0:
                left = left ^ (mixed_words(right + key) & left_mask)
            else:
                right = right ^ (mixed_words(left + key) & right_mask)
        words = (left << right_bits) | right
        done = words < np.uint64(total)
        out[walking[done]] = words[done].astype(np.int64)
        walking, words = walking[~done], words[~done]
        if len(keys) > 1:
            round_keys = [key[~done] for key in round_keys]
    return out


def _sorted_places(numbers: Numbers, total: int, keys: _Words) -> Numbers:
    unique, which = np.unique(keys, return_inverse=True)
    # A row for each key; the hashes of a row are different, because the rows' numbers are.
    words = np.arange(total, dtype=np.uint64) * np.uint64(_GOLDEN)
    hashes = mixed_words(mixed_words(words + unique[:, None]) + unique[:, None])
    table = np.argsort(hashes, axis=1, kind="stable")
    places: Numbers = table[which.reshape(-1) if len(keys) > 1 else 0, numbers]
    return places


class Order:
    """The order of the samples in each epoch.

    shuffle: False for the order of the file; True for one permutation of all; a number W for windows of W neighbours: the windows
    come in random order, and the samples of a window in random order. Where the first window begins differs between epochs."""

    def __init__(self, total: int, shuffle: bool | int, seed: int) -> None:
        self.total = total
        self.shuffle = shuffle
        self.seed = seed

    def samples(self, epoch: int, positions: Numbers) -> Numbers:
        """The samples at some positions of the order of an epoch."""
        if self.shuffle is False or self.total <= 1:
            return positions
        key = key_of(self.seed, epoch)
        if self.shuffle is True or self.shuffle >= self.total:
            return permuted(positions, self.total, np.array([key], np.uint64))
        width = int(self.shuffle)
        windows, rest = divmod(self.total, width)
        window, place = positions // width, positions % width
        whole = window < windows
        out = np.empty(len(positions), np.int64)
        chosen = permuted(window[whole], windows, np.array([key_of(key, 1)], np.uint64))
        if chosen.size:
            inside = permuted(place[whole], width, keyed(key_of(key, 2), chosen))
            out[whole] = chosen * width + inside
        if not whole.all():  # what is left after the last window
            out[~whole] = windows * width + permuted(place[~whole], rest, np.array([key_of(key, 3)], np.uint64))
        shift = key_of(key, 4) % self.total
        return (out + shift) % self.total

    def seeds(self, epoch: int, samples: Numbers) -> Numbers:
        """A random number, from 0 to 2**63 - 1, for each sample in an epoch; it does not depend on the order."""
        return (keyed(key_of(self.seed, epoch, 5), samples) >> np.uint64(1)).astype(np.int64)
