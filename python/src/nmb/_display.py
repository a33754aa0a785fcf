"""Texts and HTML of objects, for a prompt and a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import islice
from typing import Any

import numpy as np

from . import _types

_SHOWN = 12


def printable(name: str) -> str:
    """A name without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)


def _dims(variable: Any) -> str:
    return ", ".join(f"{printable(d)}: {n}" for d, n in zip(variable.dims, variable.shape))


def _lengths(block: Any) -> str:
    shown = [
        f"{printable(d)}: {n}{' (unlimited)' if d in block.unlimited else ''}" for d, n in islice(block.dims.items(), _SHOWN)
    ]
    return ", ".join(shown + ["..."] * (len(block.dims) > _SHOWN))


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = np.array2string(value, separator=", ", threshold=12)
    text = printable(str(value))
    return text if len(text) <= 60 else text[:57] + "..."


def counted(number: int, one: str, more: str = "") -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def summary(kind: str, text: str, lines: Iterable[Any] = ()) -> str:
    """The text of a result: a line, and the first of its items."""
    items = list(lines)
    shown = [f"  {printable(str(one))}" for one in items[:_SHOWN]]
    if len(items) > _SHOWN:
        shown.append(f"  ... and {len(items) - _SHOWN} more")
    return "\n".join([f"<nmb.{kind}: {text}>", *shown])


def names_text(kind: str, names: Iterable[str], total: int) -> str:
    """The text of a sequence of names."""
    shown = [repr(name) for name in islice(names, _SHOWN)]
    return f"{kind}([{', '.join(shown)}])" + (f" and {total - _SHOWN} more" if total > _SHOWN else "")


def _block_line(block: Any) -> str:
    return f"  {printable(block.name) or '(root)'}  ({counted(block.counts.variables, 'variable')})"


def _sums(totals: Any) -> str:
    return ", ".join(counted(number, name[:-1]) for name, number in totals._asdict().items())


def blocks_text(blocks: Any) -> str:
    total = len(blocks)
    lines = [f"<nmb.Blocks: {counted(total, 'block')} of {printable(blocks._file.path)}>"]
    lines += map(_block_line, islice(blocks, _SHOWN))
    if total > _SHOWN:
        lines.append(f"  ... and {counted(total - _SHOWN, 'more block')}")
    return "\n".join(lines)


def selection_text(selection: Any) -> str:
    """Does not count the blocks, which would read the whole index."""
    lines = [f"<nmb.BlockSelection {printable(selection._glob)!r} of {printable(selection._file.path)}>"]
    some = list(islice(selection, _SHOWN + 1))
    lines += map(_block_line, some[:_SHOWN])
    return "\n".join(lines + ["  ..."] * (len(some) > _SHOWN))


def file_text(file: Any) -> str:
    if file._closed:
        return f"<nmb.File {printable(file.path)} (closed)>"
    totals = file.totals
    generation = f", generation {file.generation}" if file.generation else ""
    lines = [
        f"<nmb.File {printable(file.path)}: {file.kind}{generation}>",
        f"  {_sums(totals)}",
        *map(_block_line, islice(file.blocks, _SHOWN)),
    ]
    if totals.blocks > _SHOWN:
        lines.append(f"  ... and {counted(totals.blocks - _SHOWN, 'more block')}")
    return "\n".join(lines)


def block_text(block: Any) -> str:
    lines = [f"<nmb.Block {printable(block.name) or '(root)'} of {printable(block.file.path)}>"]
    if block.dims:
        lines.append("  dimensions: " + _lengths(block))
    for variable in islice(block.variables.values(), _SHOWN):
        lines.append(f"  {printable(variable.name)}  {_types.type_text(variable.dtype)}({_dims(variable)})")
    if len(block.variables) > _SHOWN:
        lines.append(f"  ... and {counted(len(block.variables) - _SHOWN, 'more variable')}")
    for name in islice(block.attrs, _SHOWN):
        lines.append(f"  @{printable(name)} = {_value(block.attrs[name])}")
    if len(block.attrs) > _SHOWN:
        lines.append(f"  ... and {counted(len(block.attrs) - _SHOWN, 'more attribute')}")
    return "\n".join(lines)


def variable_text(variable: Any) -> str:
    lines = [
        f"<nmb.Variable {printable(variable.full_name)}: {_types.type_text(variable.dtype)}({_dims(variable)})>"
    ]
    for name in islice(variable.attrs, _SHOWN):
        lines.append(f"  @{printable(name)} = {_value(variable.attrs[name])}")
    if len(variable.attrs) > _SHOWN:
        lines.append(f"  ... and {counted(len(variable.attrs) - _SHOWN, 'more attribute')}")
    return "\n".join(lines)


# --- notebooks ---


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th style='text-align:left'>{escape(one)}</th>" for one in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _more(number: int, what: str) -> str:
    return f"<div>... and {counted(number, 'more ' + what)}</div>" if number > 0 else ""


def _blocks_table(blocks: Iterable[Any], total: int) -> str:
    rows = []
    for block in islice(blocks, _SHOWN):
        counts = block.counts
        rows.append([printable(block.name) or "(root)", str(counts.variables), str(counts.dimensions), str(counts.records)])
    return _table(["block", "variables", "dimensions", "records"], rows) + _more(total - _SHOWN, "block")


def _attributes_html(attributes: Any) -> str:
    if not len(attributes):
        return ""
    rows = [[printable(name), _value(attributes[name])] for name in islice(attributes, _SHOWN)]
    return (
        f"<details><summary>{counted(len(attributes), 'attribute')}</summary>"
        + _table(["attribute", "value"], rows)
        + _more(len(attributes) - _SHOWN, "attribute")
        + "</details>"
    )


def file_html(file: Any) -> str:
    if file._closed:
        return f"<div>{escape(file_text(file))}</div>"
    totals = file.totals
    title = f"{printable(file.path)}: {file.kind}" + (f", generation {file.generation}" if file.generation else "")
    return f"<div><b>nmb.File</b> {escape(title)}</div><div>{_sums(totals)}</div>" + _blocks_table(file.blocks, totals.blocks)


def blocks_html(blocks: Any) -> str:
    title = f"{counted(len(blocks), 'block')} of {printable(blocks._file.path)}"
    return f"<div><b>nmb.Blocks</b> {escape(title)}</div>" + _blocks_table(blocks, len(blocks))


def selection_html(selection: Any) -> str:
    some = list(islice(selection, _SHOWN + 1))
    title = f"{printable(selection._glob)!r} of {printable(selection._file.path)}"
    more = "<div>...</div>" if len(some) > _SHOWN else ""
    return f"<div><b>nmb.BlockSelection</b> {escape(title)}</div>" + _blocks_table(some, 0) + more


def block_html(block: Any) -> str:
    rows = [
        [printable(v.name), _types.type_text(v.dtype), _dims(v), _value(v.attrs.get("units", ""))]
        for v in islice(block.variables.values(), _SHOWN)
    ]
    return (
        f"<div><b>nmb.Block</b> {escape(printable(block.name) or '(root)')}</div><div>{escape(_lengths(block))}</div>"
        + _table(["variable", "type", "dimensions", "units"], rows)
        + _more(len(block.variables) - _SHOWN, "variable")
        + _attributes_html(block.attrs)
    )


def variable_html(variable: Any) -> str:
    what = f"{_types.type_text(variable.dtype)}({_dims(variable)})"
    return (
        f"<div><b>nmb.Variable</b> {escape(printable(variable.full_name))}: {escape(what)}</div>"
        + _attributes_html(variable.attrs)
    )
