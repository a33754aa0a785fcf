"""Where samples lie: from the number of a sample to its block, and to its number in the block."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._errors import UsageError
from ._sample_order import Numbers

if TYPE_CHECKING:
    from ._file import File

# Files of more blocks are counted from the index alone, where a dimension divides blocks.
_FEW_BLOCKS = 1 << 16


class Rule(NamedTuple):
    """What a sample is, in the words of nmcat's --samples: a block, ``per`` variables, or an index of a dimension."""

    text: str
    per: int = 0
    dimension: str = ""

    @classmethod
    def parse(cls, text: str) -> Rule:
        if text == "block":
            return cls(text)
        if match := re.fullmatch(r"vars:([1-9][0-9]{0,17})", text):
            return cls(text, per=int(match[1]))
        if text.startswith("dim:") and len(text) > 4:
            return cls(text, dimension=text[4:])
        raise UsageError(f'samples: found {text!r}, expected "block", "vars:N" or "dim:NAME"')


class Found(NamedTuple):
    """Some samples: the native handles of their blocks, and their numbers in these blocks."""

    blocks: list[Any]
    within: Numbers


def _ranges(firsts: Any, counts: Any) -> Numbers:
    """The numbers from each of ``firsts`` on, one after the other."""
    out: Numbers = firsts
    if not (counts == 1).all():
        out = np.repeat(firsts - (counts.cumsum() - counts), counts) + np.arange(counts.sum(), dtype=np.int64)
    out.flags.writeable = False
    return out


class Places:
    """The samples of a file. Memory does not grow with their number; but files that are no NMB files, and NMB files of few blocks
    for ``dim:``, are counted by their definitions."""

    def __init__(self, file: File, rule: Rule) -> None:
        self.rule = rule
        self._file = file
        # For blocks with samples that were counted: their positions, and the number of samples up to the end of each.
        self._table: tuple[Numbers, Numbers] | None = None
        totals, counts = file.totals, None
        if rule.per and totals.variables % rule.per:
            raise self._wrong(f"{totals.variables} variables cannot be divided into samples of {rule.per}")
        if rule.dimension and (totals.blocks <= _FEW_BLOCKS or file.kind != "NMB"):
            counts = np.fromiter((self._length(block) for block in file.blocks), np.int64, totals.blocks)
            if not counts.any():
                raise self._wrong(f'no block has the dimension "{rule.dimension}"')
        elif file.kind != "NMB":  # the definitions of all blocks are in memory, without an index
            counts = self.counts()
        if counts is not None:
            blocks = np.flatnonzero(counts)
            self._table = blocks, counts[blocks].cumsum()
        self.total = totals.variables // rule.per if rule.per else totals.samples if counts is None else int(counts.sum())
        if totals.blocks and not self.total:
            raise self._wrong("the file has no such samples" if counts is not None else "its index counts no samples; nmcat --samples counts them")

    def _wrong(self, text: str) -> UsageError:
        return UsageError(f"samples={self.rule.text!r}: {text}", file=self._file.path)

    def _length(self, block: Any) -> int:
        length: int = block.dims.get(self.rule.dimension, 0) if len(block) else 0
        return length

    def counts(self) -> Numbers:
        """The number of samples of each block of the file. Reads the index."""
        if self._table is not None:
            counts = np.zeros(self._file.totals.blocks, np.int64)
            counts[self._table[0]] = np.diff(self._table[1], prepend=0)
            return counts
        _, samples, variables = _core.block_table(self._file._native())
        if not self.rule.per:
            return samples  # type: ignore[no-any-return]
        if (variables % self.rule.per).any():
            raise self._wrong(f"the variables of some blocks cannot be divided into samples of {self.rule.per}")
        return variables // self.rule.per  # type: ignore[no-any-return]

    def samples_where(self, expression: str, threads: int) -> Numbers:
        """The samples of the blocks for which an expression holds."""
        positions, firsts, counts = _core.matches(self._file._native(), expression, bool(self.rule.per), threads)
        if self._table is not None:
            return self.samples_at(positions)
        per = self.rule.per or 1
        return _ranges(firsts // per, counts // per)

    def samples_at(self, positions: Numbers) -> Numbers:
        """The samples of the blocks at some positions."""
        counts = self.counts()
        return _ranges((counts.cumsum() - counts)[positions], counts[positions])

    def hashes(self) -> Any:
        """A hash of the name of each block of the file. Reads the index."""
        return _core.block_table(self._file._native())[0]

    def find(self, samples: Numbers) -> Found:
        """Finds samples by their numbers, which must be less than ``total``."""
        native = self._file._native()
        if self._table is not None:
            blocks, ends = self._table
            which = np.searchsorted(ends, samples, side="right")
            within = samples - np.where(which > 0, ends[which - 1], 0)
            made = {place: native.block_at(int(blocks[place])) for place in np.unique(which).tolist()}
            return Found([made[place] for place in which.tolist()], within)
        per = self.rule.per or 1
        handles, within, counts = _core.blocks_with(native, samples * per, bool(self.rule.per))
        if self.rule.per:
            wrong = counts % per != 0
        elif self.rule.dimension:
            wrong = np.zeros(len(counts), bool)  # compared with the dimension when values are read
        else:
            wrong = counts != 1
        if wrong.any():
            first = int(wrong.argmax())
            what = "variables" if self.rule.per else "samples"
            hint = f", not a multiple of {per}" if self.rule.per else '; samples="dim:NAME" or "vars:N" divides it'
            raise self._wrong(f'block "{handles[first].name}" has {counts[first]} {what}{hint}')
        return Found(handles, within // per)

    def check_length(self, block: Any, name: str, length: int) -> None:
        """Fails if the index counts other samples than the dimension of a block has. For ``dim:`` alone."""
        if self._table is None and block.counts()[-1] != length:
            raise self._wrong(
                f'block "{name}" has {length} along the dimension, but its index counts {block.counts()[-1]} samples; pack the '
                f"file with nmcat --samples {self.rule.text}"
            )
