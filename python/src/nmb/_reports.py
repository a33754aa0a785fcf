"""Results: small classes with fields, which do not change. Their ``repr`` is a summary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._display import counted, summary


class Totals(NamedTuple):
    """Sums over all blocks of a file or of some of them.

    Attributes:
        blocks, variables, dimensions, attributes: numbers of objects. Attributes are those of blocks and of variables.
        records: the sum of the lengths of the blocks' record dimensions.
        samples: the number of samples, as the writer counted them; by default, a block with variables is a sample.
    """

    blocks: int
    variables: int
    dimensions: int
    attributes: int
    records: int
    samples: int


class PartsReport(NamedTuple):
    """The result of ``Parts.commit``.

    Attributes:
        parts: the number of parts that became blocks of the file.
        abandoned: the number of temporary files of killed processes that were removed.
        totals: numbers of objects of the whole file.
    """

    parts: int
    abandoned: int
    totals: Totals


class BlockCounts(NamedTuple):
    """Numbers of objects in a block.

    Attributes:
        variables, dimensions, attributes: numbers of objects. Attributes are those of the block and of its variables.
        records: the length of the record dimension. For blocks from HDF5 and netCDF-4, the stored length of the first
            unlimited dimension, which is 0 if netCDF wrote it without a coordinate variable.
        samples: the number of samples, as the writer counted them.
    """

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
    """Statistics of a variable's stored numbers: ``scale_factor`` and ``add_offset`` are not applied.

    Attributes:
        elements, missing, nans: the number of all values, of missing ones, and of NaNs that are not missing; None if only
            results of functions are known.
        minimum, maximum: ``int`` or ``float``, without missing values and NaN; None if there are no others.
        mean, deviation: the mean and the standard deviation of the population; None in stored statistics.
        histogram: (least, greatest, count) of each bucket.
        parts: (minimum, maximum, number of values) of each part of the values.
        functions: results of the writing program's own functions, by name.
    """

    elements: int | None
    missing: int | None
    nans: int | None
    minimum: Any
    maximum: Any
    mean: float | None
    deviation: float | None
    histogram: list[tuple[float, float, int]]
    parts: list[tuple[Any, Any, int]]
    functions: dict[str, Any]

    def __repr__(self) -> str:
        known = ("elements", "missing", "nans", "minimum", "maximum", "mean", "deviation")
        parts = [f"{name}={value!r}" for name in known if (value := getattr(self, name)) is not None]
        parts += [f"{name}={value!r}" for name, value in self.functions.items()]
        parts += [f"{name} of {len(some)}" for name in ("histogram", "parts") if (some := getattr(self, name))]
        return summary("Statistics", ", ".join(parts))


@dataclass(frozen=True)
class Finding:
    """A place where a file breaks a rule of its format. ``str()`` is ``text``.

    Attributes:
        rule: the rule that is broken, for example "R-EX-6" (spec/format.md).
        offset: the byte of the file, or None.
        object: what is at this place, for example a block.
        found, expected: what the file has, and what it should have.
        severity: "finding", "warning" or "unsupported".
        text: all of this as one line.
    """

    rule: str
    offset: int | None
    object: str
    found: str
    expected: str
    severity: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class VerifyReport:
    """The result of ``verify``: true if the file is sound.

    Attributes:
        is_sound: whether everything was checked and no defect was found.
        kind: "NMB", "CDF-1", "CDF-2", "CDF-5" or "HDF5".
        findings: defects and warnings.
        recorded_blocks: the blocks that the index lists.
        sound_blocks, damaged_blocks: blocks without and with defects.
        unchanged_blocks: blocks that were not checked, because ``since`` leaves them out.
        bytes_read: bytes that were read from the file.
        originals, whole_originals: originals that were checked, and those that can be written again.
        reads_other_files: whether values lie in other files.
        incomplete: why something was not checked, or None.
    """

    is_sound: bool
    kind: str
    findings: list[Finding]
    recorded_blocks: int
    sound_blocks: int
    damaged_blocks: int
    unchanged_blocks: int
    bytes_read: int
    originals: int
    whole_originals: int
    reads_other_files: bool
    incomplete: Exception | None

    def __bool__(self) -> bool:
        return self.is_sound

    def __repr__(self) -> str:
        state = "sound" if self.is_sound else "not completely checked" if self.incomplete else "damaged"
        warnings = sum(one.severity == "warning" for one in self.findings)
        text = (
            f"{state}, {self.kind}, {self.sound_blocks} of {counted(self.recorded_blocks, 'block')} sound, "
            f"{counted(len(self.findings) - warnings, 'finding')}, {counted(warnings, 'warning')}"
        )
        return summary("VerifyReport", text, [*self.findings, *([self.incomplete] if self.incomplete else [])])


@dataclass(frozen=True)
class FoundBlock:
    """A block whose definitions ``recover`` found undamaged.

    Attributes:
        name: the name of the block.
        state: "whole", "partial", "unverified" or "left out".
        doubt: why it may not be the newest version of the block, or "".
        position: the byte of the damaged file at which the block begins.
        generation: the commit that wrote it.
        lost: (variable, first element, count, whether only checksums are lost).
        reason: why something is lost, or "".
    """

    name: str
    state: str
    doubt: str
    position: int
    generation: int
    lost: list[tuple[str, int, int, bool]]
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.state}" + "".join(f"; {part}" for part in (self.doubt, self.reason) if part)


@dataclass(frozen=True)
class LostBlock:
    """A block that cannot be recovered.

    Attributes:
        name: the name of the block.
        reason: why it is lost.
        perhaps_removed: whether the newest commit may not have it.
    """

    name: str
    reason: str
    perhaps_removed: bool

    def __str__(self) -> str:
        return f"{self.name}: lost; {self.reason}"


@dataclass(frozen=True)
class Recovery:
    """The result of ``recover``: true if nothing was lost.

    Attributes:
        is_loss: whether something is lost or doubtful.
        recovered: the number of blocks in the new file.
        blocks: the blocks that were found.
        lost: the blocks that are known by name, but were not found.
        lost_without_name: how many more blocks are lost at least; their names are lost too.
        may_lack_blocks: whether other blocks may be lost.
        other_losses: a line for each other loss, for example of an original.
        generation: the newest commit that is known; 0 if none is.
        recorded_blocks: the number of blocks of this commit; None if it is lost.
        bytes_out: bytes of the new file; 0 if nothing was written.
    """

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

    def __repr__(self) -> str:
        of = "" if self.recorded_blocks is None else f" of {self.recorded_blocks}"
        text = f"recovered {self.recovered}{of} block{'s' if (self.recorded_blocks or self.recovered) != 1 else ''}"
        damaged = [block for block in self.blocks if block.state != "whole" or block.doubt]
        return summary("Recovery", text, [*damaged, *self.lost, *self.other_losses])


@dataclass(frozen=True)
class Conflict:
    """Why inputs cannot be merged, or how one of them differs. ``str()`` is ``text``.

    Attributes:
        kind: what differs, for example "type" or "values" (docs/reference/merging.md).
        object: "BLOCK/VARIABLE", "BLOCK/DIMENSION" or "BLOCK/VARIABLE@ATTRIBUTE".
        first_file, second_file: the two inputs; the second is "" if the conflict is in one file.
        found, expected: what the second input has, and what the first one has.
        text: all of this as one line.
    """

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
    """The result of ``merge``. A merge with conflicts raises ``ConflictError``, whose ``report`` is this.

    Attributes:
        conflicts: why nothing was written.
        differing: attributes that differ; the first value was kept.
        left_out, filled, widened, rebased: what the options ``on_mismatch``, ``fill_missing`` and ``rebase_times`` changed.
        losses: content of the inputs that the output lacks.
        unreadable: an exception for each input that cannot be used.
        warnings: other remarks.
        inputs: the number of inputs.
        bytes_in, bytes_out: bytes of the inputs and of the output.
        totals: numbers of objects of the output.
    """

    conflicts: list[Conflict]
    differing: list[Conflict]
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

    def __repr__(self) -> str:
        text = (
            f"{counted(self.inputs, 'input')}, {counted(self.totals.blocks, 'block')}, "
            f"{counted(self.totals.variables, 'variable')}, {self.bytes_out} bytes"
        )
        lists = ("conflicts", "differing", "left_out", "filled", "widened", "rebased", "losses", "unreadable", "warnings")
        lines: list[Any] = [f"{name}: {one}" for name in lists for one in getattr(self, name)]
        return summary("MergeReport", text, lines)


@dataclass(frozen=True)
class ConvertReport:
    """The result of ``convert``.

    Attributes:
        losses: content of the input that the output lacks.
        warnings: other remarks.
    """

    losses: list[str]
    warnings: list[str]

    def __repr__(self) -> str:
        text = f"{counted(len(self.losses), 'loss', 'losses')}, {counted(len(self.warnings), 'warning')}"
        return summary("ConvertReport", text, [*self.losses, *self.warnings])


@dataclass(frozen=True)
class DefinitionDifference:
    """A difference between two files that is not one of values.

    Attributes:
        kind: "only in first", "only in second" or "differs".
        block, object: where, for example variable "v", attribute "v:units"; object is "" for the block itself.
        property: what differs, for example "type" or "value"; "" unless the kind is "differs".
        first, second: what the files have, as text.
    """

    kind: str
    block: str
    object: str
    property: str
    first: str
    second: str

    def __str__(self) -> str:
        where = " of ".join(part for part in (self.object, f'block "{self.block}"' if self.block else "") if part)
        what = f"{self.property} {self.kind}: {self.first} -> {self.second}" if self.property else self.kind
        return f"{where or 'the root block'}: {what}"


@dataclass(frozen=True)
class DifferentValue:
    """An element that differs.

    Attributes:
        index: its index, one number for each dimension.
        first, second: the values in the two files, as text.
    """

    index: tuple[int, ...]
    first: str
    second: str


@dataclass(frozen=True)
class ComparedVariable:
    """A variable whose values differ.

    Attributes:
        block, variable: its name.
        values: the number of its values.
        different: how many differ.
        missing, nans: how many of these are a fill value, or NaN, in one of the files.
        first: the first ones that differ.
        largest: the one with the largest difference, or None if none of them has a number in both files.
        largest_difference: this difference.
    """

    block: str
    variable: str
    values: int
    different: int
    missing: int
    nans: int
    first: list[DifferentValue]
    largest: DifferentValue | None
    largest_difference: float

    def __str__(self) -> str:
        name = f"{self.block}/{self.variable}" if self.block else self.variable
        return f"{name}: {self.different} of {counted(self.values, 'value')} differ"


@dataclass(frozen=True)
class Comparison:
    """The result of ``diff``: true if the files differ.

    Attributes:
        same: whether the files have the same content.
        definitions: differences that are not of values.
        variables: the variables whose values differ.
    """

    same: bool
    definitions: list[DefinitionDifference]
    variables: list[ComparedVariable]

    def __bool__(self) -> bool:
        return not self.same

    def __repr__(self) -> str:
        return summary("Comparison", "same" if self.same else "different", [*self.definitions, *self.variables])


@dataclass(frozen=True)
class Digest:
    """Digests of content, 32 hexadecimal digits each. ``str()`` is that of the file.

    Attributes:
        file: the digest of the file.
        blocks: the digests of its blocks, by name.
    """

    file: str
    blocks: dict[str, str]

    def __str__(self) -> str:
        return self.file

    def __repr__(self) -> str:
        return summary("Digest", self.file, [f"{digest}  {name or '(root)'}" for name, digest in self.blocks.items()])
