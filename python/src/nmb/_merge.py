"""merge: makes one file of many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _core
from ._errors import UsageError
from ._outputs import Path, Progress, kind_of, path_of, with_report
from ._reports import MergeReport
from ._threads import thread_count


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

        >>> nmb.merge(["north.nc", "south.nc"], "all.nmb", block_name="station/{stem}").totals.blocks
        2
        >>> nmb.merge(["north.nc", "south.nc"], "joined.nc", mode="join", along="time").conflicts
        []

    Unlike nmcat, it records no provenance in an NMB file.

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
        sync: whether to wait until the output is on the device.
        external: which other files may be read if an input refers to them: "none", "beneath" its folder, or "any".
        threads: the number of threads; None for all processors.
        progress: a function that is called with (bytes done, bytes in total), about ten times a second.
    Errors:
        ``ConflictError`` with ``report``, and all others of ``nmb.Error``. A failure, Ctrl-C, or an exception of ``progress``
        leaves the output as it was.
    """
    files = [path_of(inputs)] if isinstance(inputs, (str, os.PathLike)) else [path_of(one) for one in inputs]
    target = path_of(output)
    if not files:
        raise UsageError("merge needs at least one input")
    kind = kind_of(target, to, files[0], mode == "pack")
    if originals is None:
        originals = mode == "pack" and kind == "nmb" and not (block_by or codec or shuffle or chunk or link)
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
        raise with_report(failure, report)
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
