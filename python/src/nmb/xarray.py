"""xarray reads and writes NMB files, and reads many blocks as one data set::

    import xarray as xr

    ds = xr.open_dataset("all.nmb", group="station/north")      # one block
    tree = xr.open_datatree("all.nmb", select="station/*")      # some blocks
    many = nmb.xarray.stack("all.nmb", ["x", "edges"])          # a variable of all blocks as one array
    nmb.xarray.to_nmb(ds, "new.nmb", group="station/south")     # a data set, or a tree of them

The guide is docs/guides/xarray.md."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import xarray
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from ._block import Block
from ._blocks import iterate
from ._errors import LimitError, MissingError, UnsupportedError
from ._file import File
from ._file import open as open_file
from ._xarray_stack import stack
from ._xarray_store import BlockStore
from ._xarray_write import to_nmb

__all__ = ["NmbBackendEntrypoint", "stack", "to_nmb"]

# Where an NMB file has a magic; any of them is enough.
_HEAD_BYTES = 16388
_MAGICS = (
    (512, b"\x89NMB\r\n\x1a\n"),
    (0, b"\x89NMB\r\n\x1a\n"),
    (256, b"\x89NMBMARK"),
    (4096, b"\x89NMBSLOT"),
    (8192, b"\x89NMBSLOT"),
    (16384, b"\x89NMB"),
)


def _is_nmb(path: str | os.PathLike[str]) -> bool:
    try:
        with open(os.path.expanduser(path), "rb") as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return False
    if head[:3] == b"CDF" and head[3:4] in (b"\x01", b"\x02", b"\x05"):
        return False
    return any(head[at : at + len(magic)] == magic for at, magic in _MAGICS)


def _literal(name: str) -> str:
    """A glob that matches this name only."""
    return "".join("\\" + letter if letter in "*?[]{}\\" else letter for letter in name)


class NmbBackendEntrypoint(BackendEntrypoint):
    """The engine "nmb". xarray chooses it for NMB files; with ``engine="nmb"`` it also opens classic netCDF, netCDF-4 and HDF5
    files. netCDF4 or h5netcdf, if installed, come first for a file with an HDF5 view, so that ``engine="nmb"`` is needed there.

    A path may also be an ``nmb.File``, or an ``nmb.Block`` for one group.

    Keywords of ``xr.open_dataset``, besides those that decode:
        group: the name of a block; None for the root.
        verify, generation, external: as in ``nmb.open``.

    Keywords of ``xr.open_datatree`` and ``xr.open_groups``, besides these:
        group: opens this group and those below it, with names relative to it.
        select: a glob that names of groups must match: ``*`` matches within a part of a path, ``**`` across parts. It is
            relative to ``group``. Without it, a group that links of HDF5 give several names is there under each, except
            within itself.
        max_groups: more groups than this are refused with a ``LimitError``, because xarray needs a millisecond or two for each.
    """

    description = "Open NMB files, and netCDF and HDF5 files, using nmb in xarray"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether it is an NMB file, by its content."""
        if isinstance(filename_or_obj, (File, Block)):
            return True
        return isinstance(filename_or_obj, (str, os.PathLike)) and _is_nmb(filename_or_obj)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        verify: bool = True,
        generation: int | None = None,
        external: str = "beneath",
    ) -> xarray.Dataset:
        """Opens one block. Errors: those of ``nmb.open``; ``MissingError`` (a ``KeyError``) without such a block."""
        file, base = _file_of(filename_or_obj, verify, generation, external)
        name = _joined(base, group)
        try:
            block = file.block(name)
        except MissingError as error:
            raise _without_group(file, name, error) from None
        return _decoded(
            block,
            file.path,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        select: str = "**",
        max_groups: int = 1000,
        verify: bool = True,
        generation: int | None = None,
        external: str = "beneath",
    ) -> dict[str, xarray.Dataset]:
        """Opens blocks: a dict from paths to data sets, with "/" first."""
        file, base = _file_of(filename_or_obj, verify, generation, external)
        top = _joined(base, group)
        blocks = _selected(file, top, select, max_groups)
        out = {}
        for path, block in blocks.items():
            out[path] = _decoded(
                block,
                file.path,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
        return out

    def open_datatree(self, filename_or_obj: Any, **keywords: Any) -> Any:
        """Opens blocks as a tree; the keywords are those of ``open_groups_as_dict``."""
        if not hasattr(xarray, "DataTree"):
            raise UnsupportedError(f"xarray {xarray.__version__} has no DataTree; it needs version 2024.10 or later")
        return xarray.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **keywords))


def _file_of(source: Any, verify: bool, generation: int | None, external: str) -> tuple[File, str]:
    """The file and the name of the block from which on names count."""
    if isinstance(source, Block):
        return File(source._state), source.name  # which may be older than what source.file is now
    if isinstance(source, File):
        return source, ""
    path = os.path.expanduser(source)
    return open_file(path, verify=verify, generation=generation, external=external), ""


def _joined(base: str, group: str | None) -> str:
    return "/".join(part for part in (base, (group or "").strip("/")) if part)


def _decoded(block: Block | None, source: str, **keywords: Any) -> xarray.Dataset:
    return StoreBackendEntrypoint().open_dataset(BlockStore(block, source), **keywords)


def _without_group(file: File, name: str, error: MissingError) -> MissingError:
    if name:
        text = error.message.replace("use f.blocks.glob", "use xr.open_datatree(..., group=...) or f.blocks.glob")
    else:
        first = next(iterate(file, "**"), None)
        if first is None:
            text = "the file has no blocks"
        else:
            text = (
                f"the file has no root group; use group= for one of its {len(file)} blocks, for example "
                f"group={first.name!r}, xr.open_datatree for several, or nmb.xarray.stack for many of equal variables"
            )
    return MissingError(text, file=file.path, object=name)


def _selected(file: File, top: str, select: str, most: int) -> dict[str, Block | None]:
    """The blocks at and below `top` whose relative names match, by path."""
    found: dict[str, Block | None] = {"/": None}
    count = 0
    matches_top = select == "**"
    try:
        if matches_top:
            block = file.block(top)
            found["/"] = block
            top = block.name  # a link may have led to it
            count = 1
    except MissingError:
        if top and not file.totals_of(top + "/").blocks:
            raise
    pattern = (_literal(top) + "/" if top else "") + select
    for block in iterate(file, pattern):
        if block.name == top:
            continue
        count += 1
        if count > most:
            number = f"more than {most}"
            if matches_top:
                number = str(file.totals_of(top + "/").blocks if top else len(file))
            raise _too_many(file, top, number, most, block.name[len(top) :].lstrip("/"))
        found[block.name[len(top) :].lstrip("/") if top else "/" + block.name] = block
    if count == 0:
        raise MissingError(f"found no group that matches select={select!r}", file=file.path, object=top)
    if matches_top:
        _add_other_names(file, top, found, most)
    return found


def _too_many(file: File, top: str, number: str, most: int, example: str) -> LimitError:
    return LimitError(
        f"found {number} groups, but max_groups is {most}: xarray needs 1 to 2 ms for each. Choose some with select=, "
        f"for example select={_example(example)!r}, or give a higher max_groups=",
        file=file.path,
        object=top,
    )


def _names_above(name: str) -> list[str]:
    """The name, and those of all blocks above."""
    parts = name.split("/") if name else []
    return ["/".join(parts[:i]) for i in range(len(parts) + 1)]


def _add_other_names(file: File, top: str, found: dict[str, Block | None], most: int) -> None:
    """Adds the blocks to which links lead, and those below them, under the names of the links. A link to a group that the path
    has passed would lead in a circle, and is left out."""
    waiting = [(path, block, frozenset(_names_above(block.name))) for path, block in found.items() if block is not None]
    while waiting:
        path, block, passed = waiting.pop()
        for name, target in block._other_blocks:
            at = (name if top else "/" + name) if path == "/" else f"{path}/{name}"
            if target in passed or at in found:
                continue
            below = iterate(file, _literal(target) + "/**")
            for other in (file.block(target), *below):
                there = at + other.name[len(target) :]
                if len(found) >= most:
                    raise _too_many(file, top, f"more than {most}", most, there.lstrip("/"))
                found[there] = other
                waiting.append((there, other, passed.union(_names_above(other.name))))


def _example(name: str) -> str:
    above, slash, last = name.rpartition("/")
    return f"{above}/*" if slash else f"{last[: (len(last) + 1) // 2]}*"
