"""Paths, kinds and reports of the functions that write files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ._errors import ConflictError, Error, UsageError
from ._file import open as _open

Path = str | os.PathLike[str]
Progress = Callable[[int, int], Any]

_ENDINGS = {".nmb": "nmb", ".nc3": "cdf2", ".nc4": "nc4", ".h5": "hdf5", ".hdf5": "hdf5", ".he5": "hdf5"}
_CLASSIC = {"CDF-1": "cdf1", "CDF-2": "cdf2", "CDF-5": "cdf5"}


def path_of(path: Path) -> str:
    """The name of a file as text."""
    name = os.fsdecode(path)
    if "\0" in name:
        raise UsageError(f"found a NUL in the name of a file: {name!r}")
    return name


def kind_of(output: str, to: str | None, first: str, packs: bool) -> str:
    """The kind of an output: what the caller says, or what the ending of its name says. A file .nc or .cdf of classic content is
    classic."""
    if to is not None:
        return to
    ending = os.path.splitext(output)[1].lower()
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if ending in (".nc", ".cdf"):
        if packs:
            return "nc4"
        with _open(first) as file:
            if file.kind in _CLASSIC:
                return _CLASSIC[file.kind]
            is_one = len(file) == 1 and file.kind == "NMB" and file.blocks[0]._native().is_classic
            return "cdf5" if is_one or ending == ".cdf" else "nc4"
    raise UsageError(
        f"the ending of {output!r} does not say which kind of file to write: use to=, or one of "
        + ", ".join([*_ENDINGS, ".nc", ".cdf"])
    )


def with_report(failure: Error, report: Any) -> Error:
    if isinstance(failure, ConflictError):
        failure.report = report
    return failure
