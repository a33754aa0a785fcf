"""Writes tables of statistics and tags (format.md, section 9.2) for assemble.py."""

import struct

TYPES = ["byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64"]
KINDS = {"statistics": TYPES, "tags": ["text", "int64", "uint64", "double"]}
FEATURES = {"statistics": 4, "tags": 8}  # read-only compatible feature bits
MAGIC = {"statistics": b"STAT", "tags": b"TAGS"}
WORD = {"statistics": "statistics", "tag": "tags"}
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
    tag NAME of BLOCK text TEXT | bytes BYTES | int64 N | uint64 N | double X
    tag gone of BLOCK
    """
    table, name, of, block = WORD[words[0]], words[1], words[2], words[3]
    if of != "of":
        raise ValueError("a row without its block")
    block = int(block, 0) if block.isdigit() and not is_text(block) else str(block)
    if name == "gone" and not is_text(name):
        return table, None, block, {}, b""
    type_, rest = str(words[4]), words[5:]
    columns, data = {"kind": (KINDS[table] + ["bytes"]).index(type_) + 1}, b""
    if table == "tags":
        if type_ == "text":
            data = str(rest[0]).encode()
        elif type_ == "bytes":
            columns["kind"], data = 1, encode_bytes(rest)
        else:
            columns["minimum"] = int.from_bytes(encode_values(type_, rest), "big")
        return table, str(name), block, columns, data
    if "histogram" in rest:
        at = rest.index("histogram")
        rest, data = rest[:at], encode_bytes(rest[at + 1 :])
    columns |= dict(zip(("elements", "missing", "NaN"), (int(word, 0) for word in rest[:3])))
    for column, word in zip(("minimum", "maximum"), rest[3:]):
        columns[column] = int.from_bytes(encode_values(type_, [word]), "big")
    return table, str(name), block, columns, data


def is_text(word):
    return type(word) is not str


def write(a, tables, rows, takes, quote, sum64):
    """Writes one tree.

    rows: the results of parse_row().
    takes: the number of earlier trees that are dead, because the new tree has their rows.
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
        label = f"{word} {'gone' if name is None else quote(name)} of {where}"
        state = GONE if name is None else ROW
        out.append({"label": label, "state": state, "order": order, "name": (name or "").encode(), "bytes": data} | columns)
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
