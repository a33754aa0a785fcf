"""NMB: files with very many arrays, and netCDF and HDF5 files, in Python.

    import nmb

    f = nmb.open("all.nmb")                      # also classic netCDF, netCDF-4 and HDF5
    v = f["station/north/temperature"][:100]     # an array of numpy
    for block in f.blocks.glob("station/*"):
        print(block.name, block.counts.records)

The guide is docs/guides/python.md."""

from ._block import Block, Variables
from ._blocks import Blocks, BlockSelection
from ._attributes import Attributes
from ._errors import (
    BusyError,
    ConflictError,
    DamagedError,
    Error,
    ExistsError,
    InputOutputError,
    LimitError,
    MissingError,
    MissingFileError,
    NoSpaceError,
    RangeError,
    SelectionError,
    UnknownKindError,
    UnsupportedError,
    UsageError,
)
from ._file import File, open  # noqa: A004
from ._reports import (
    BlockCounts,
    ComparedVariable,
    Comparison,
    Conflict,
    ConvertReport,
    DefinitionDifference,
    DifferentValue,
    Digest,
    Finding,
    FoundBlock,
    LostBlock,
    MergeReport,
    Recovery,
    Statistics,
    Storage,
    Totals,
    VerifyReport,
)
from ._merge import merge
from ._tools import convert, diff, digest, recover, verify
from ._variable import OuterIndex, Variable

__version__ = "1.0.0"

__all__ = [name for name in dir() if not name.startswith("_")]
