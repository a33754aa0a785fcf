"""The tools as functions: merge, convert, verify, recover, diff and digest.

Each releases the interpreter's lock while it works, uses all processors unless ``threads`` says otherwise, and stops at Ctrl-C;
an output then stays as it was. ``progress(done, total)`` is called with numbers of bytes, about ten times a second."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _core
from ._errors import ConflictError, Error, UsageError
from ._file import File
from ._file import open as _open
from ._reports import Comparison, ConvertReport, Digest, MergeReport, Recovery, VerifyReport

Path = str | os.PathLike[str]
Progress = Callable[[int, int], Any]

_ENDINGS = {".nmb": "nmb", ".nc3": "cdf2", ".nc4": "nc4", ".h5": "hdf5", ".hdf5": "hdf5", ".he5": "hdf5"}
_CLASSIC = {"CDF-1": "cdf1", "CDF-2": "cdf2", "CDF-5": "cdf5"}


def thread_count(threads: int | None) -> int:
    """The number of threads: None for the processors that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0))
    if threads < 1:
        raise UsageError(f"threads: found {threads}, expected at least 1, or None")
    return int(threads)


def _kind_of(output: str, to: str | None, first: str, packs: bool) -> str:
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


def merge(
    inputs: Iterable[Path] | Path,
    output: Path,
    *,
    mode: str = "pack",
    to: str | None = None,
    replace: bool = False,
    block_name: str = "",
    block_by: str = "",
    keep_unmatched: bool = False,
    samples: str = "",
    tags: Sequence[str] = (),
    tag_names: str = "",
    sort_by: str = "",
    codec: str = "",
    shuffle: bool = False,
    chunk: str = "",
    hdf5_view: str = "small",
    statistics: str = "none",
    originals: bool | None = None,
    append: bool = False,
    replace_blocks: bool = False,
    link: bool = False,
    digests: str = "none",
    along: str = "",
    key: str = "",
    history: str = "",
    drop_tracking_id: bool = False,
    monotonic: bool = False,
    rebase_times: bool = False,
    fill_missing: bool = False,
    strict_attributes: bool = False,
    first_values: bool = False,
    on_mismatch: str = "error",
    blocks: Iterable[str] | None = None,
    exclude: Callable[[str], bool] | None = None,
    where: str | None = None,
    shard: tuple[int, int] | None = None,
    dry_run: bool = False,
    check: bool = False,
    strict: bool = False,
    sync: bool = True,
    external: str = "beneath",
    threads: int | None = None,
    progress: Progress | None = None,
) -> MergeReport:
    """Merges files of any kinds into one, as nmcat does (docs/guides/merge.md, docs/guides/join.md)::

        nmb.merge(glob("run*.h5"), "all.nmb")
        nmb.merge(months, "year.nc", mode="join", along="time")

    Args:
        inputs: the files, in this order.
        output: the new file. Its ending says what it becomes, or ``to``: "nmb", "cdf1", "cdf2", "cdf5", "nc4", "hdf5".
        mode: "pack" (each input becomes a block, or one for each of its groups), "union", "join" or "tiles".
        replace: whether the output may replace a file.
        block_name: template of names, with {stem}, {path}, {index} and {group}.
        block_by: how inputs are divided: "prefix:REGEX", "vars:N", "one", "dim:NAME" or "key:ATT". keep_unmatched: whether
            variables that do not match stay in their block.
        samples, tags, tag_names: how samples are counted ("vars:N", "dim:NAME", "group", "none"); tags "NAME=TEMPLATE"; the
            expression whose captures they use.
        sort_by: a variable BLOCK/VARIABLE, by whose first value the inputs are ordered.
        codec, shuffle, chunk: how values are stored: "zstd", "zstd:3", "deflate:6", "none", or "" as in the input.
        hdf5_view, statistics: "off", "small", "auto" or "on"; "none", "basic", "histogram" or "parts".
        originals: whether HDF5 and netCDF-4 inputs are stored byte for byte too; None: where that is possible.
        append, replace_blocks, link, digests: pack only: adds a generation to an NMB file; replaces blocks of the same name;
            leaves values in the inputs; records "xxh3" or "sha256" of classic files.
        along, key, history, drop_tracking_id, monotonic, rebase_times: join only.
        fill_missing, strict_attributes, first_values, on_mismatch: how blocks of the same name must agree; "error", "skip" or
            "widen".
        blocks, exclude, where, shard: which blocks are taken: names; a function that returns True for those that are not; an
            expression as for ``File.find``; (K, N) for part K of N, from 1.
        dry_run, check, strict: only checks; reads the output back; makes warnings errors.
        sync, external, threads, progress: see the module.
    Errors:
        ``ConflictError`` with ``report``, and all others of ``nmb.Error``; a failure leaves the output as it was.
    """
    files = [os.fspath(inputs)] if isinstance(inputs, (str, os.PathLike)) else [os.fspath(one) for one in inputs]
    target = os.fspath(output)
    if not files:
        raise UsageError("merge needs at least one input")
    kind = _kind_of(target, to, files[0], mode == "pack")
    if originals is None:
        originals = mode == "pack" and kind == "nmb" and not (block_by or codec or shuffle or chunk or link)
    if kind != "nmb":
        hdf5_view = "off"
    options = dict(
        mode=mode,
        to=kind,
        replace=replace,
        block_name=block_name,
        block_by=block_by,
        keep_unmatched=keep_unmatched,
        samples=samples,
        tags=list(tags),
        tag_names=tag_names,
        sort_by=sort_by,
        codec=codec,
        shuffle=shuffle,
        chunk=chunk,
        hdf5_view=hdf5_view,
        statistics=statistics,
        originals=originals,
        append=append,
        replace_blocks=replace_blocks,
        link=link,
        digests=digests,
        along=along,
        key=key,
        history=history,
        drop_tracking_id=drop_tracking_id,
        monotonic=monotonic,
        rebase_times=rebase_times,
        fill_missing=fill_missing,
        strict_attributes=strict_attributes,
        first_values=first_values,
        on_mismatch=on_mismatch,
        blocks=None if blocks is None else list(blocks),
        exclude=exclude,
        where=where,
        shard=shard,
        dry_run=dry_run,
        check=check,
        strict=strict,
        sync=sync,
        external=external,
        threads=thread_count(threads),
    )
    _refuse_unused(mode, options)
    failure, report = _core.merge(files, target, options, progress)
    if failure is not None:
        raise _with_report(failure, report)
    result: MergeReport = report
    return result


_ONLY = {
    "pack": ("append", "replace_blocks", "link", "digests"),
    "join": ("along", "key", "history", "drop_tracking_id", "monotonic", "rebase_times"),
}


def _refuse_unused(mode: str, options: dict[str, Any]) -> None:
    """An option that has no effect is an error."""
    for of, names in _ONLY.items():
        for name in names:
            if mode != of and options[name] not in (False, "", "none"):
                raise UsageError(f'{name}: only for mode="{of}"')
    if mode == "pack":
        for name in ("strict_attributes", "first_values", "fill_missing"):
            if options[name]:
                raise UsageError(f'{name}: not for mode="pack"')
        if options["on_mismatch"] != "error":
            raise UsageError('on_mismatch: not for mode="pack"')


def _with_report(failure: Error, report: Any) -> Error:
    if isinstance(failure, ConflictError):
        failure.report = report
    return failure


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
    """Writes a file of another kind with the same content, and reads it back to compare (docs/guides/convert.md).

    Args:
        to: "nmb", "cdf1", "cdf2", "cdf5", "nc4" or "hdf5"; None: by the ending of the output's name.
        block: only this block of an NMB file, and those below it.
        lossy: whether content that the output cannot hold is left out and listed. Otherwise, it is an error.
        codec, shuffle, chunk, hdf5_view, statistics, originals, replace, sync, external, threads, progress: as for ``merge``.
        check: whether the result is read back and compared with the input.
        strict: whether a loss or a warning is an error.
    """
    source, target = os.fspath(input), os.fspath(output)
    kind = _kind_of(target, to, source, False)
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
            hdf5_view=hdf5_view if kind == "nmb" else "off",
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
        raise _with_report(failure, report)
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
    """Checks a file against all rules of its format: ``if not nmb.verify("all.nmb"): ...`` (docs/guides/verify.md).

    Args:
        level: "index", "blocks" or "data"; each includes those before it.
        originals: whether to check at any level that each original can be written again.
        since: checks only what generations after this one added.
    """
    report: VerifyReport = _core.verify(
        os.fspath(path),
        dict(level=level, originals=originals, since=since, external=external, threads=thread_count(threads)),
        progress,
    )
    return report


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
    """Copies the undamaged blocks of a damaged NMB file into a new one. The result is true if nothing was lost.

    Args:
        output: the new file; None: only says what would be recovered.
        partial, unverified: also recovers blocks with damaged values, which become fill values; with values whose checksums are
            lost.
    """
    report: Recovery = _core.recover(
        os.fspath(path),
        "" if output is None else os.fspath(output),
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
    return report


def diff(
    first: Path | File,
    second: Path | File,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
    most: int = 3,
    threads: int | None = None,
) -> Comparison:
    """Compares the content of two files of any kinds. The result is true if they differ, and says where.

    Args:
        absolute, relative: numbers a and b count as the same if ``|a - b| <= absolute + relative * |b|``.
        most: how many different values of a variable are listed.
    """
    report: Comparison = _core.compare(
        _file_of(first)._native(), _file_of(second)._native(), absolute, relative, most, thread_count(threads)
    )
    return report


def digest(path: Path | File, *, threads: int | None = None) -> Digest:
    """Computes the digest of a file's content. Files with the same content have the same digest, whatever their kinds are."""
    found: Digest = _core.digest(_file_of(path)._native(), thread_count(threads))
    return found


def _file_of(path: Path | File) -> File:
    return path if isinstance(path, File) else _open(path)
