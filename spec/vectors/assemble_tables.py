"""Writes tables of statistics and tags (tables.md, section 9.2) for assemble.py."""

import struct

TYPES = ["byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64"]
TAGS = {"text": 1, "int64": 2, "uint64": 3, "double": 4}  # kinds of tags and of results of functions
FEATURES = {"statistics": 4, "tags": 8}  # read-only compatible feature bits
MAGIC = {"statistics": b"STAT", "tags": b"TAGS"}
WORD = {"statistics": "statistics", "parts": "statistics", "function": "statistics", "tag": "tags"}
ROW, BEFORE, GONE = range(3)  # state
LEAF = ["name end", "kind", "position", "stored length", "sum", "order", "state"]
NUMBERS = ["elements", "missing", "NaN", "minimum", "maximum", "bytes end"]
NODE = ["name end", "position", "stored length", "sum", "blocks", "order"]


class Tables:
    """The trees of one table; the newest tree is the last one."""

    def __init__(self, name):
        self.name, self.trees = name, []


def parse_row(words, encode_values, encode_bytes):
    """Returns (table, name or None, block or order, columns, bytes) for one of these statements.

    statistics NAME of BLOCK TYPE ELEMENTS MISSING NAN [MINIMUM MAXIMUM] [histogram BYTES]
    statistics gone of BLOCK
    parts NAME of BLOCK TYPE PARTS BYTES
    function FUNCTION of NAME of BLOCK VALUE
    tag NAME of BLOCK VALUE
    tag gone of BLOCK

    VALUE: text TEXT | bytes BYTES | int64 N | uint64 N | double X
    """
    word, name, of, block = words[:4]
    if word == "function":
        name, of, block, words = f"{words[3]}\0{name}", words[4], words[5], words[2:]
    elif word == "parts":
        name += "\0"
    table = WORD[word]
    if of != "of":
        raise ValueError("a row without its block")
    block = int(block, 0) if block.isdigit() and not is_text(block) else str(block)
    if name == "gone" and not is_text(name):
        return table, None, block, {}, b""
    type_, rest = str(words[4]), words[5:]
    if word in ("tag", "function"):
        columns, data = tag_value(type_, rest, encode_values, encode_bytes)
        return table, str(name), block, columns, data
    columns, data = {"kind": TYPES.index(type_) + 1}, b""
    if word == "parts":
        return table, str(name), block, columns | {"elements": int(rest[0], 0)}, encode_bytes(rest[1:])
    if "histogram" in rest:
        at = rest.index("histogram")
        rest, data = rest[:at], encode_bytes(rest[at + 1 :])
    columns |= dict(zip(("elements", "missing", "NaN"), (int(word, 0) for word in rest[:3])))
    for column, word in zip(("minimum", "maximum"), rest[3:]):
        columns[column] = int.from_bytes(encode_values(type_, [word]), "big")
    return table, str(name), block, columns, data


def tag_value(type_, words, encode_values, encode_bytes):
    """Returns (columns, bytes) of a tag or of the result of a function."""
    kind = TAGS["text" if type_ == "bytes" else type_]
    if type_ in ("text", "bytes"):
        return {"kind": kind}, str(words[0]).encode() if type_ == "text" else encode_bytes(words)
    return {"kind": kind, "minimum": int.from_bytes(encode_values(type_, words), "big")}, b""


def is_text(word):
    return type(word) is not str


def label_of(word, name, quote):
    """Returns how the places of a row are named, without its block."""
    if name is None:
        return f"{word} gone"
    variable, nul, function = name.partition("\0")
    if function:
        return f"function {quote(function)} of {quote(variable)}"
    return f"{'parts' if nul else word} {quote(variable)}"


def write(a, tables, rows, takes, quote, sum64):
    """Writes one tree.

    rows: the results of parse_row().
    takes: the number of earlier trees whose rows are now in the new tree; these trees become dead.
    Returns (place of the table in the superblock, dead ranges).
    """
    word = {"statistics": "statistics", "tags": "tag"}[tables.name]
    dead = []
    for _ in range(takes):
        dead += tables.trees.pop()[1]
    out = []
    for _, name, block, columns, data in rows:
        order = block if isinstance(block, int) else a.entries[block].row["order"]
        where = block if isinstance(block, int) else quote(block)
        row = {"label": f"{label_of(word, name, quote)} of {where}", "state": GONE if name is None else ROW}
        row |= {"order": order, "name": (name or "").encode("utf-8", "surrogateescape"), "bytes": data}
        out.append(row | columns)
    out.sort(key=lambda row: (row["state"] == ROW, row["name"], row["order"]))
    if tables.trees:
        position, length, total = tables.trees[-1][0]
        out.insert(0, {"label": f"{word} before", "state": BEFORE, "order": 0, "name": b"", "bytes": b""}
                   | {"position": position, "stored length": length, "sum": total})
    if not out:
        return (0, 0, 0), dead
    places, level, items = [], 0, out
    while level == 0 or len(items) > 1:
        size = a.options["table node rows" if level else "table leaf rows"]
        above = []
        for number, begin in enumerate(range(0, len(items), size)):
            rows_ = items[begin : begin + size]
            names = [row["name"] if i == 0 or row["name"] != rows_[i - 1]["name"] else b"" for i, row in enumerate(rows_)]
            label = f"{tables.name} {'leaf' if level == 0 else f'node {level}'}{' ' if level == 0 else '.'}{number}"
            columns = LEAF + NUMBERS if level == 0 else NODE
            position, length, total, _ = a.page(label, MAGIC[tables.name], level, rows_, columns, names)
            places.append((position, length))
            above.append(
                {
                    "label": f"child {label}",
                    "name": rows_[0]["name"],
                    "order": rows_[0]["order"],
                    "position": position,
                    "stored length": length,
                    "sum": total,
                    "blocks": len(rows_) if level == 0 else sum(row["blocks"] for row in rows_),
                }
            )
        items, level = above, level + 1
    root = items[0]
    position, length = root["position"], root["stored length"]
    tables.trees.append(((position, length, root["sum"]), places))
    return (position, length, sum64(a.data[position : position + length])), dead
