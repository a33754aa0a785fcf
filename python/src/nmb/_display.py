"""What objects look like at a prompt and in a notebook."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import Any

from . import _types

_SHOWN = 12


def printable(name: str) -> str:
    """A name without characters that a terminal would obey."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)


def _dims(variable: Any) -> str:
    return ", ".join(f"{printable(d)}: {n}" for d, n in zip(variable.dims, variable.shape))


def _value(value: Any) -> str:
    text = printable(repr(value) if not isinstance(value, str) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def file_text(file: Any) -> str:
    if file._closed:
        return f"<nmb.File {printable(file.path)} (closed)>"
    totals = file.totals
    generation = f", generation {file.generation}" if file.generation else ""
    lines = [
        f"<nmb.File {printable(file.path)}: {file.kind}{generation}>",
        f"  {totals.blocks} blocks, {totals.variables} variables, {totals.dimensions} dimensions, "
        f"{totals.attributes} attributes, {totals.records} records, {totals.samples} samples",
    ]
    for block in islice(file.blocks, _SHOWN):
        counts = block.counts
        lines.append(f"  {printable(block.name) or '(root)'}  ({counts.variables} variables)")
    if totals.blocks > _SHOWN:
        lines.append(f"  ... and {totals.blocks - _SHOWN} more blocks")
    return "\n".join(lines)


def block_text(block: Any) -> str:
    lines = [f"<nmb.Block {printable(block.name) or '(root)'} of {printable(block.file.path)}>"]
    if block.dims:
        lines.append(
            "  dimensions: "
            + ", ".join(
                f"{printable(d)}: {n}{' (unlimited)' if d in block.unlimited else ''}"
                for d, n in islice(block.dims.items(), _SHOWN)
            )
        )
    for variable in islice(block.variables.values(), _SHOWN):
        lines.append(f"  {printable(variable.name)}  {_types.type_text(variable.dtype)}({_dims(variable)})")
    if len(block.variables) > _SHOWN:
        lines.append(f"  ... and {len(block.variables) - _SHOWN} more variables")
    for name in islice(block.attrs, _SHOWN):
        lines.append(f"  @{printable(name)} = {_value(block.attrs[name])}")
    if len(block.attrs) > _SHOWN:
        lines.append(f"  ... and {len(block.attrs) - _SHOWN} more attributes")
    return "\n".join(lines)


def variable_text(variable: Any) -> str:
    lines = [
        f"<nmb.Variable {printable(variable.full_name)}: {_types.type_text(variable.dtype)}({_dims(variable)})>"
    ]
    for name in islice(variable.attrs, _SHOWN):
        lines.append(f"  @{printable(name)} = {_value(variable.attrs[name])}")
    if len(variable.attrs) > _SHOWN:
        lines.append(f"  ... and {len(variable.attrs) - _SHOWN} more attributes")
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
    return f"<div>... and {number} more {what}</div>" if number > 0 else ""


def _attributes_html(attributes: Any) -> str:
    if not len(attributes):
        return ""
    rows = [[printable(name), _value(attributes[name])] for name in islice(attributes, _SHOWN)]
    return (
        f"<details><summary>{len(attributes)} attributes</summary>"
        + _table(["attribute", "value"], rows)
        + _more(len(attributes) - _SHOWN, "attributes")
        + "</details>"
    )


def file_html(file: Any) -> str:
    if file._closed:
        return f"<div>{escape(file_text(file))}</div>"
    totals = file.totals
    rows = []
    for block in islice(file.blocks, _SHOWN):
        counts = block.counts
        rows.append([printable(block.name) or "(root)", str(counts.variables), str(counts.dimensions), str(counts.records)])
    title = f"{printable(file.path)}: {file.kind}" + (f", generation {file.generation}" if file.generation else "")
    sums = ", ".join(f"{number} {name}" for name, number in totals._asdict().items())
    return (
        f"<div><b>nmb.File</b> {escape(title)}</div><div>{escape(sums)}</div>"
        + _table(["block", "variables", "dimensions", "records"], rows)
        + _more(totals.blocks - _SHOWN, "blocks")
    )


def block_html(block: Any) -> str:
    rows = [
        [printable(v.name), _types.type_text(v.dtype), _dims(v), _value(v.attrs.get("units", ""))]
        for v in islice(block.variables.values(), _SHOWN)
    ]
    dims = ", ".join(f"{printable(d)}: {n}" for d, n in islice(block.dims.items(), _SHOWN))
    return (
        f"<div><b>nmb.Block</b> {escape(printable(block.name) or '(root)')}</div><div>{escape(dims)}</div>"
        + _table(["variable", "type", "dimensions", "units"], rows)
        + _more(len(block.variables) - _SHOWN, "variables")
        + _attributes_html(block.attrs)
    )


def variable_html(variable: Any) -> str:
    what = f"{_types.type_text(variable.dtype)}({_dims(variable)})"
    return (
        f"<div><b>nmb.Variable</b> {escape(printable(variable.full_name))}: {escape(what)}</div>"
        + _attributes_html(variable.attrs)
    )
