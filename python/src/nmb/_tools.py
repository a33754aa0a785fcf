"""The tools as functions: convert, verify, recover, diff and digest; merge is in _merge.py.

Each releases the interpreter's lock while it works, so that it may run in a thread, and stops at Ctrl-C."""

from __future__ import annotations

from typing import cast

from . import _core
from ._file import File
from ._file import open as _open
from ._outputs import Path, Progress, kind_of, path_of, with_report
from ._reports import Comparison, ConvertReport, Digest, Recovery, VerifyReport
from ._threads import thread_count


def convert(
    input: Path,  # noqa: A002
    output: Path,
    *,
    to: str | None = None,
    replace: bool = False,
    block: str | None = None,
    lossy: bool = False,
    codec: str = "",
    shuffle: bool = False,
    chunk: str = "",
    hdf5_view: str = "small",
    statistics: str = "none",
    originals: bool | None = None,
    sync: bool = True,
    check: bool = True,
    strict: bool = False,
    external: str = "beneath",
    threads: int | None = None,
    progress: Progress | None = None,
) -> ConvertReport:
    """Writes a file of another kind with the same content, and reads it back to compare (docs/guides/convert.md)::

        >>> nmb.convert("north.nc", "north.h5")
        <nmb.ConvertReport: 0 losses, 0 warnings>

    Args:
        input, output: paths.
        to: "nmb", "cdf1", "cdf2", "cdf5", "nc4" or "hdf5"; None: by the ending of the output's name.
        block: only this block of an NMB file, and those below it.
        lossy: whether content that the output cannot hold is left out and listed. Otherwise, it is an error.
        codec, shuffle, chunk, hdf5_view, statistics, originals, replace, sync, external, threads, progress: as for ``merge``.
        check: whether the result is read back and compared with the input.
        strict: whether a loss or a warning is an error.
    Errors: ``ConflictError`` with ``report`` if the output cannot hold the content; ``ExistsError``; those of ``nmb.open``. A
        failure leaves the output as it was.
    """
    source, target = path_of(input), path_of(output)
    kind = kind_of(target, to, source, False)
    if originals is None:
        originals = kind == "nmb" and not (codec or shuffle or chunk)
    failure, losses, warnings = _core.convert(
        source,
        target,
        dict(
            to=kind,
            block=block,
            lossy=lossy,
            codec=codec,
            shuffle=shuffle,
            chunk=chunk,
            hdf5_view=hdf5_view,
            statistics=statistics,
            originals=originals,
            replace=replace,
            sync=sync,
            check=check,
            strict=strict,
            external=external,
            threads=thread_count(threads),
        ),
        progress,
    )
    report = ConvertReport(losses, warnings)
    if failure is not None:
        raise with_report(failure, report)
    return report


def verify(
    path: Path,
    *,
    level: str = "data",
    originals: bool = False,
    since: int = 0,
    external: str = "beneath",
    threads: int | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """Checks a file against all rules of its format (docs/guides/verify.md). The result is true if the file is sound::

        >>> nmb.verify("stations.nmb")
        <nmb.VerifyReport: sound, NMB, 2 of 2 blocks sound, 0 findings, 0 warnings>
        >>> bool(nmb.verify("damaged.nmb"))
        False

    Args:
        path: a file of any kind.
        level: "index", "blocks" or "data"; each includes those before it.
        originals: whether to check at any level that each original can be written again.
        since: checks only what generations after this one added.
        external, threads, progress: as for ``merge``.
    Errors: ``MissingFileError``, ``UnknownKindError``, ``UsageError``. Damage is not an error, but a finding.
    """
    report = _core.verify(
        path_of(path),
        dict(level=level, originals=originals, since=since, external=external, threads=thread_count(threads)),
        progress,
    )
    return cast(VerifyReport, report)


def recover(
    path: Path,
    output: Path | None,
    *,
    replace: bool = False,
    partial: bool = False,
    unverified: bool = False,
    sync: bool = True,
    external: str = "beneath",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Recovery:
    """Copies the undamaged blocks of a damaged NMB file into a new one. The result is true if nothing was lost::

        >>> report = nmb.recover("damaged.nmb", "saved.nmb")
        >>> report.recovered, [block.name for block in report.blocks if block.state == "left out"]
        (1, ['station/south'])

    Args:
        path: the damaged file.
        output: the new file; None: only says what would be recovered.
        partial, unverified: also recovers blocks with damaged values, which become fill values; with values whose checksums are
            lost.
        replace, sync, external, threads, progress: as for ``merge``.
    Errors: ``ExistsError``, ``MissingFileError``; ``DamagedError`` if no block can be recovered.
    """
    report = _core.recover(
        path_of(path),
        "" if output is None else path_of(output),
        dict(
            replace=replace,
            sync=sync,
            partial=partial,
            unverified=unverified,
            external=external,
            threads=thread_count(threads),
        ),
        progress,
    )
    return cast(Recovery, report)


def diff(
    first: Path | File,
    second: Path | File,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
    most: int = 3,
    threads: int | None = None,
) -> Comparison:
    """Compares the content of two files of any kinds. The result is true if they differ, and says where::

        >>> nmb.diff("north.nc", "copy.nc")
        <nmb.Comparison: same>

    Args:
        first, second: files or their paths.
        absolute, relative: numbers a and b count as the same if ``|a - b| <= absolute + relative * |b|``.
        most: how many different values of a variable are listed.
        threads: the number of threads; None for all processors.
    Errors: those of ``nmb.open`` and of reading.
    """
    report = _core.compare(
        _file_of(first)._native(), _file_of(second)._native(), absolute, relative, most, thread_count(threads)
    )
    return cast(Comparison, report)


def digest(path: Path | File, *, threads: int | None = None) -> Digest:
    """Computes the digest of a file's content. Files with the same content have the same digest, whatever their kinds are::

        >>> nmb.digest("north.nc").file == str(nmb.digest("copy.nc"))
        True

    Args:
        path: a file or its path.
        threads: the number of threads; None for all processors.
    Errors: those of ``nmb.open`` and of reading.
    """
    found = _core.digest(_file_of(path)._native(), thread_count(threads))
    return cast(Digest, found)


def _file_of(path: Path | File) -> File:
    return path if isinstance(path, File) else _open(path)
