"""Exceptions. Each carries what the library knows about a failure, and is also one of Python's own exceptions, so that code
written for other libraries catches it."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Base class of all failures.

    Attributes:
        code: what kind of failure it is, for example "damaged", "not_found" or "unsupported".
        message: what is wrong, without the file's name.
        file: the name of the file, or "".
        offset: the byte of the file at which something is wrong, or None.
        rule: the rule of the format's specification that the file breaks, for example "R-EX-6", or "".
        object: the full name of the block or variable that was read, or "".
    """

    code = "error"

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        offset: int | None = None,
        rule: str = "",
        object: str = "",  # noqa: A002
        code: str | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.message = message
        self.file = file
        self.offset = offset
        self.rule = rule
        self.object = object
        self._text = text if text is not None else f"{file}: {message}" if file else message

    def __str__(self) -> str:
        if self.object and self.object not in self._text:
            return f"{self._text} [{self.object}]"
        return self._text

    def __reduce__(self) -> Any:
        return _again, (
            type(self),
            self.message,
            self.file,
            self.offset,
            self.rule,
            self.object,
            self.code,
            self._text,
        )


def _again(
    kind: type[Error],
    message: str,
    file: str,
    offset: int | None,
    rule: str,
    object: str,  # noqa: A002
    code: str,
    text: str,
) -> Error:
    return kind(message, file=file, offset=offset, rule=rule, object=object, code=code, text=text)


class UsageError(Error, ValueError):
    """An argument is wrong."""

    code = "usage"


class SelectionError(UsageError, IndexError):
    """An index is out of range, or has a form that variables do not support."""


class MissingFileError(Error, FileNotFoundError):
    """A file does not exist."""

    code = "not_found"


class MissingError(Error, KeyError):
    """A block, variable, attribute or generation does not exist."""

    code = "not_found"


class ExistsError(Error, FileExistsError):
    """A file or a name exists already."""

    code = "exists"


class ConflictError(Error, ValueError):
    """Inputs do not agree, or an output cannot hold the content. ``report`` has all conflicts and losses."""

    code = "conflict"
    report: Any = None
    """The report of the function that failed: a ``MergeReport`` or a ``ConvertReport``."""


class DamagedError(Error, OSError):
    """A file breaks a rule of its format, for example a checksum is wrong."""

    code = "damaged"


class UnsupportedError(Error, NotImplementedError):
    """The content of a file is legal, but this version does not support it."""

    code = "unsupported"


class UnknownKindError(Error, OSError):
    """A file is neither NMB nor netCDF nor HDF5."""

    code = "unknown_kind"


class InputOutputError(Error, OSError):
    """A system call failed."""

    code = "io"


class NoSpaceError(InputOutputError):
    """There is no space on the device."""

    code = "no_space"


class RangeError(Error, OverflowError):
    """A value does not fit the requested type."""

    code = "range"


class LimitError(Error, MemoryError):
    """Something is too large for memory or for a limit of the library."""

    code = "limit"


class BusyError(Error, OSError):
    """Another program writes to the file."""

    code = "busy"


_KINDS: dict[str, type[Error]] = {
    kind.code: kind
    for kind in (
        UsageError,
        MissingError,
        ExistsError,
        ConflictError,
        DamagedError,
        UnsupportedError,
        UnknownKindError,
        InputOutputError,
        NoSpaceError,
        RangeError,
        LimitError,
        BusyError,
    )
}


def of_failure(
    code: str,
    message: str,
    file: str,
    offset: int | None,
    rule: str,
    object: str,  # noqa: A002
    text: str,
) -> Error:
    """Makes the exception for a failure of the library."""
    kind = _KINDS.get(code, Error)
    no_file = message.startswith(("cannot ", "found an empty name of a file")) or "values cannot be copied from" in message
    if code == "not_found" and no_file:
        kind = MissingFileError
    error = kind(message, file=file, offset=offset, rule=rule, object=object, code=code, text=text)
    if isinstance(error, OSError):
        error.filename = file or None
    return error
