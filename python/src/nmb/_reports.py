"""Results: small classes with fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Totals(NamedTuple):
    """Sums over all blocks of a file or of some of them."""

    blocks: int
    variables: int
    dimensions: int
    attributes: int
    records: int
    samples: int


class BlockCounts(NamedTuple):
    """Numbers of objects in a block."""

    variables: int
    dimensions: int
    attributes: int
    records: int
    samples: int


class Storage(NamedTuple):
    """How a file stores the values of a variable.

    Attributes:
        byteorder: "big" or "little".
        chunks: the lengths of a chunk, or None.
        filters: (HDF5's number, name, parameters) of each filter, in the order in which a writer applies them.
        is_null: whether the variable is an HDF5 data set without values (null dataspace).
    """

    byteorder: str
    chunks: tuple[int, ...] | None
    filters: tuple[tuple[int, str, tuple[int, ...]], ...]
    is_null: bool


@dataclass(frozen=True)
class Statistics:
    """Statistics of a variable's stored numbers. Minimum and maximum ignore missing values and NaN; they are None if there are no
    other values. Counts are None if only results of functions are known."""

    elements: int | None
    missing: int | None
    nans: int | None
    minimum: Any
    maximum: Any
    mean: float | None
    deviation: float | None
    histogram: list[tuple[float, float, int]]
    """(least, greatest, count) of each bucket."""
    parts: list[tuple[Any, Any, int]]
    """(minimum, maximum, number of values) of each part of the values."""
    functions: dict[str, Any]
    """Results of the writing program's own functions."""


@dataclass(frozen=True)
class Finding:
    """A place where a file breaks a rule of its format."""

    rule: str
    offset: int | None
    object: str
    found: str
    expected: str
    severity: str
    """"finding", "warning" or "unsupported"."""
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class VerifyReport:
    """The result of ``verify``: true if the file is sound."""

    is_sound: bool
    kind: str
    findings: list[Finding]
    """Defects and warnings."""
    recorded_blocks: int
    sound_blocks: int
    damaged_blocks: int
    unchanged_blocks: int
    bytes_read: int
    originals: int
    whole_originals: int
    reads_other_files: bool
    incomplete: Exception | None
    """Why something was not checked."""

    def __bool__(self) -> bool:
        return self.is_sound


@dataclass(frozen=True)
class FoundBlock:
    """A block whose definitions ``recover`` found undamaged."""

    name: str
    state: str
    """"whole", "partial", "unverified" or "left out"."""
    doubt: str
    position: int
    generation: int
    lost: list[tuple[str, int, int, bool]]
    """(variable, first element, count, whether only checksums are lost)."""
    reason: str


@dataclass(frozen=True)
class LostBlock:
    """A block that cannot be recovered."""

    name: str
    reason: str
    perhaps_removed: bool


@dataclass(frozen=True)
class Recovery:
    """The result of ``recover``: true if nothing was lost."""

    is_loss: bool
    recovered: int
    blocks: list[FoundBlock]
    lost: list[LostBlock]
    lost_without_name: int
    may_lack_blocks: bool
    other_losses: list[str]
    generation: int
    recorded_blocks: int | None
    bytes_out: int

    def __bool__(self) -> bool:
        return not self.is_loss


@dataclass(frozen=True)
class Conflict:
    """Why inputs cannot be merged, or how one of them differs."""

    kind: str
    object: str
    first_file: str
    second_file: str
    found: str
    expected: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class MergeReport:
    """The result of ``merge``. A merge with conflicts raises ``ConflictError``, whose ``report`` is this."""

    conflicts: list[Conflict]
    differing: list[Conflict]
    """Attributes that differ; the first value was kept."""
    left_out: list[Conflict]
    filled: list[Conflict]
    widened: list[Conflict]
    rebased: list[Conflict]
    losses: list[str]
    unreadable: list[Exception]
    warnings: list[str]
    inputs: int
    bytes_in: int
    bytes_out: int
    totals: Totals = field(default_factory=lambda: Totals(0, 0, 0, 0, 0, 0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "totals", Totals(*self.totals))


@dataclass(frozen=True)
class ConvertReport:
    """The result of ``convert``."""

    losses: list[str]
    """Content that the output lacks."""
    warnings: list[str]


@dataclass(frozen=True)
class DefinitionDifference:
    """A difference between two files that is not one of values."""

    kind: str
    """"only in first", "only in second" or "differs"."""
    block: str
    object: str
    property: str
    first: str
    second: str


@dataclass(frozen=True)
class DifferentValue:
    """An element that differs."""

    index: tuple[int, ...]
    first: str
    second: str


@dataclass(frozen=True)
class ComparedVariable:
    """A variable whose values differ."""

    block: str
    variable: str
    values: int
    different: int
    missing: int
    nans: int
    first: list[DifferentValue]
    largest: DifferentValue | None
    largest_difference: float


@dataclass(frozen=True)
class Comparison:
    """The result of ``diff``: true if the files differ."""

    same: bool
    definitions: list[DefinitionDifference]
    variables: list[ComparedVariable]

    def __bool__(self) -> bool:
        return not self.same


@dataclass(frozen=True)
class Digest:
    """The digest of a file's content, and those of its blocks: 32 hexadecimal digits each."""

    file: str
    blocks: dict[str, str]

    def __str__(self) -> str:
        return self.file
