"""NMB: files with very many arrays, and netCDF and HDF5 files, in Python.

    >>> import nmb
    >>> f = nmb.open("stations.nmb")                 # also classic netCDF, netCDF-4 and HDF5
    >>> f["station/north/temperature"][:2]           # an array of numpy
    array([280., 281.], dtype=float32)
    >>> for block in f.blocks.glob("station/*"):
    ...     print(block.name, block.dims["time"])
    station/north 4
    station/south 2

Where to look:

    open, File                     open a file; blocks, find(), read_many(), read_ragged()
    Block, Variable                one sample or group; one array
    Writer, Parts                  write a file; write it by many processes
    merge, convert                 make files of files
    verify, recover, diff, digest  check, repair and compare files
    Error                          the base of all exceptions, each of which is also one of Python's own
    nmb.xarray, nmb.pandas         data sets of xarray; tables of pandas (import them)
    nmb.samples, nmb.torch         batches for training programs (import them)

The guides are docs/guides/python.md, docs/guides/xarray.md and docs/guides/training.md."""

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
    PartsReport,
    Recovery,
    Statistics,
    Storage,
    Totals,
    VerifyReport,
)
from ._merge import merge
from ._parts import Parts
from ._tools import convert, diff, digest, recover, verify
from ._variable import OuterIndex, Variable
from ._writer import Writer
from ._writer_block import WriterAttributes, WriterBlock, WriterVariable

__version__ = "1.0.0"

__all__ = [
    "Attributes",
    "Block",
    "BlockCounts",
    "BlockSelection",
    "Blocks",
    "BusyError",
    "ComparedVariable",
    "Comparison",
    "Conflict",
    "ConflictError",
    "ConvertReport",
    "DamagedError",
    "DefinitionDifference",
    "DifferentValue",
    "Digest",
    "Error",
    "ExistsError",
    "File",
    "Finding",
    "FoundBlock",
    "InputOutputError",
    "LimitError",
    "LostBlock",
    "MergeReport",
    "MissingError",
    "MissingFileError",
    "NoSpaceError",
    "OuterIndex",
    "Parts",
    "PartsReport",
    "RangeError",
    "Recovery",
    "SelectionError",
    "Statistics",
    "Storage",
    "Totals",
    "UnknownKindError",
    "UnsupportedError",
    "UsageError",
    "Variable",
    "Variables",
    "VerifyReport",
    "Writer",
    "WriterAttributes",
    "WriterBlock",
    "WriterVariable",
    "convert",
    "diff",
    "digest",
    "merge",
    "open",
    "recover",
    "verify",
]
