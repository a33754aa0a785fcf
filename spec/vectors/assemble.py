#!/usr/bin/python3
"""Turns the text of a test vector into the bytes of a file. README.md describes the syntax.

    assemble.py VECTOR.txt OUT

The program is written only from the specification: it shares no code with the library or the reference reader.
"""

import hashlib
import os
import re
import struct
import sys
import zlib

import xxhash
import zstandard

import assemble_extended
import assemble_tables

# --- Text ------------------------------------------------------------------------------------------

TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"(\*\d+)?|([()=,])|([^\s"()=,]+))')


class VectorError(Exception):
    pass


class Text(str):
    """A token that was quoted."""


def unescape(quoted):
    return re.sub(
        r"\\(x[0-9a-fA-F]{2}|.)",
        lambda m: chr(int(m[1][1:], 16) + (0xDC00 if int(m[1][1:], 16) > 127 else 0))
        if m[1][0] == "x" and len(m[1]) == 3
        else m[1],
        quoted,
    )


def tokens(line):
    """Splits a line into words, and quoted texts as Text. "ab"*3 repeats a text; # or | starts a comment."""
    out, at = [], 0
    line = line.rstrip()
    while at < len(line):
        if line[at:].lstrip().startswith(("#", "|")):
            break
        m = TOKEN.match(line, at)
        if not m:
            raise VectorError(f"cannot read {line[at:]!r}")
        if m[1] is not None:
            out.append(Text(unescape(m[1]) * int((m[2] or "*1")[1:])))
        else:
            out.append(m[3] or m[4])
        at = m.end()
    return out


def raw(name):
    return name.encode("utf-8", "surrogateescape")


def quote(name):
    return '"' + name + '"'


TYPES = {
    "byte": (1, "b"),
    "char": (2, "c"),
    "short": (3, "h"),
    "int": (4, "i"),
    "float": (5, "f"),
    "double": (6, "d"),
    "ubyte": (7, "B"),
    "ushort": (8, "H"),
    "uint": (9, "I"),
    "int64": (10, "q"),
    "uint64": (11, "Q"),
}
SIZES = {name: struct.calcsize(code) for name, (_, code) in TYPES.items()}


def encode_values(type_, words):
    """Returns the external form of numbers or, for char, of texts.

    `range N` means 0 to N - 1, and `N of V` repeats a value.
    """
    if type_ == "char":
        return b"".join(raw(word) for word in words)
    code = TYPES[type_][1]
    number = float if code in "fd" else lambda word: int(word, 0)
    if words[:1] == ["range"]:
        bits = 8 * SIZES[type_] - (code.islower() and code not in "fd")
        count = int(words[1])
        return struct.pack(f">{count}{code}", *(i % 2**bits for i in range(count)))
    if words[1:2] == ["of"]:
        return struct.pack(f">{code}", number(words[2])) * int(words[0])
    return struct.pack(f">{len(words)}{code}", *map(number, words))


LITTLE = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}


def encode_bytes(words):
    """Encodes a sequence of `hex ..`, `zero N`, `TYPE values`, `u32 values`, quoted texts and `text ..`."""
    out, i = b"", 0
    while i < len(words):
        start = i = i + 1
        word = words[i - 1]
        if isinstance(word, Text):
            out += raw(word)
            continue
        while (
            i < len(words)
            and (
                isinstance(words[i], Text)
                or words[i] not in TYPES
                and words[i] not in LITTLE
                and words[i] not in ("hex", "zero", "text")
            )
            and not (isinstance(words[i], Text) and word not in ("char", "hex", "text"))
        ):
            i += 1
        if word == "zero":
            out += bytes(int(words[start]))
        elif word == "hex":
            out += encode_hex(words[start:i])
        elif word in TYPES:
            out += encode_values(word, words[start:i])
        elif word in LITTLE:
            values = [int(w, 0) for w in words[start:i]]
            out += struct.pack(f"<{len(values)}{LITTLE[word]}", *values)
        elif word == "text":  # a text after its length, as in sections
            out += b"".join(assemble_extended.text(raw(w)) for w in words[start:i])
        else:
            raise VectorError(f"bytes expected, found {word!r}")
    return out


def encode_hex(words):
    out = b""
    for word in words:
        if isinstance(word, Text):
            out += raw(word)
            continue
        digits, _, times = word.partition("*")
        out += bytes.fromhex(digits) * int(times or 1)
    return out


REPEATED = re.compile(r"\{i(\+\d+)?(:\d+)?\}")


def expand(lines):
    """Repeats the lines between `repeat N` and `end repeat` N times, and replaces {i}, {i:04} and {i+256}."""
    out = []
    lines = list(lines)
    i = 0
    while i < len(lines):
        number, line = lines[i]
        words = line.split()
        if words[:1] == ["repeat"] and len(words) == 2:
            stop = next(
                j for j in range(i + 1, len(lines)) if lines[j][1].split()[:2] == ["end", "repeat"]
            )
            for k in range(int(words[1])):
                out += [
                    (n, REPEATED.sub(lambda m: format(k + int(m[1] or 0), (m[2] or ":")[1:]), s))
                    for n, s in lines[i + 1 : stop]
                ]
            i = stop
        else:
            out.append((number, line))
        i += 1
    return out


# --- Sums and tables of fields (format.md 1, 4, 5, 6, 8) -------------------------------------------


def sum64(data):
    return xxhash.xxh3_64_intdigest(data)


def digest128(data):
    return xxhash.xxh3_128_intdigest(data)


def up(n, unit=8):
    return -(-n // unit) * unit


def layout(*fields):
    """Returns {name: (offset, size)} for consecutive fields, given as (size, name)."""
    out, at = {}, 0
    for size, name in fields:
        out[name] = (at, size)
        at += size
    return out


def place(name):
    return [(8, name + ".position"), (8, name + ".length"), (8, name + ".sum")]


MAGIC = {
    "identity": b"\x89NMB\r\n\x1a\n",
    "superblock": b"\x89NMBSLOT",
    "mark": b"\x89NMBMARK",
    "block": b"\x89NMBBLCK",
}
GUARD = b"\x89HDF\r\n\x1a\n\xff" + bytes(7)
IDENTITY = layout(
    (8, "magic"),
    (2, "major version"),
    (2, "size"),
    (2, "sum algorithm"),
    (2, "slots"),
    (4, "slot unit"),
    (4, "first slot"),
    (16, "file id"),
    (208, "reserved"),
    (8, "sum"),
)
MARK = layout(
    (8, "magic"),
    (8, "generation"),
    (8, "file length"),
    (8, "superblock sum"),
    (16, "file id"),
    (8, "reserved"),
    (8, "sum"),
)
SUPERBLOCK = layout(
    (8, "magic"),
    (2, "version"),
    (2, "used"),
    (4, "flags"),
    (8, "generation"),
    (8, "file length"),
    (8, "compatible features"),
    (8, "read-only compatible features"),
    (8, "incompatible features"),
    (8, "needs"),
    (16, "file id"),
    (8, "stamp"),
    (8, "root position"),
    (4, "root length"),
    (4, "height"),
    (16, "root digest"),
    (8, "blocks"),
    (8, "dimensions"),
    (8, "variables"),
    (8, "attributes"),
    (8, "records"),
    (8, "samples"),
    *place("previous trailer"),
    *place("dead map"),
    *place("file table"),
    *place("growth"),
    *place("global sections"),
    *place("statistics"),
    *place("tags"),
    *place("dictionary"),
    *place("view"),
    (48, "HDF5 superblock"),
    (8, "index position"),
    (8, "index length"),
    (8, "next order"),
    (4, "piece size"),
    (4, "inline limit"),
    (4, "leaf rows"),
    (4, "node rows"),
    (4, "map rows"),
    (36, "reserved"),
    (3576, "later places"),
    (8, "sum"),
)
assert (SUPERBLOCK["stamp"][0], SUPERBLOCK["index position"][0], SUPERBLOCK["sum"][0]) == (80, 432, 4088)
PAGE = layout(
    (8, "magic"),
    (2, "version"),
    (2, "level"),
    (4, "flags"),
    (4, "rows"),
    (4, "length"),
    (2, "columns"),
    (2, "reserved"),
    (4, "heap length"),
    (16, "file id"),
    (8, "own position"),
    (8, "generation"),
    (8, "owner"),
    (8, "stamp"),
    (8, "sum"),
)
PAGE_HEADER = 88
BLOCK = layout(
    (8, "magic"),
    (1, "version"),
    (1, "codec"),
    (2, "kind"),
    (2, "flags"),
    (2, "name length"),
    (16, "file id"),
    (8, "own position"),
    (8, "generation"),
    (8, "stored length"),
    (8, "raw length"),
    (8, "extent position"),
    (8, "extent length"),
    (8, "extent sum"),
    (8, "records"),
    (8, "samples"),
    (8, "order"),
    (16, "digest"),
    (8, "body sum"),
    (8, "stamp"),
    (8, "sum"),
)
BLOCK_HEADER = 152
# The columns: for each id its name, and the pages of the index that have it.
COLUMN_TABLE = {
    1: ("name end", "leaf node"),
    2: ("kind", "leaf"),
    3: ("codec", "leaf"),
    4: ("flags", "leaf"),
    5: ("position", "leaf node"),
    6: ("stored length", "leaf node"),
    7: ("raw length", "leaf"),
    8: ("digest", "leaf"),
    9: ("sum", "leaf node"),
    10: ("extent position", "leaf"),
    11: ("extent length", "leaf"),
    12: ("extent sum", "leaf"),
    13: ("blocks", "node"),
    14: ("dimensions", "leaf node"),
    15: ("variables", "leaf node"),
    16: ("attributes", "leaf node"),
    17: ("records", "leaf node"),
    18: ("samples", "leaf node"),
    19: ("data map position", "leaf"),
    20: ("data map length", "leaf"),
    21: ("data map sum", "leaf"),
    25: ("file digest", "leaf"),
    26: ("file SHA-256 begin", "leaf"),
    27: ("file SHA-256 end", "leaf"),
    31: ("order", "leaf"),
    32: ("logical offset", ""),
    33: ("file number", ""),
    34: ("state", ""),
    35: ("needs", "leaf node"),
    48: ("elements", ""),
    49: ("missing", ""),
    50: ("NaN", ""),
    51: ("minimum", ""),
    52: ("maximum", ""),
    53: ("bytes end", ""),
}
WIDE_COLUMNS = ("digest", "file digest", "file SHA-256 begin", "file SHA-256 end")
COLUMNS = [""] + [
    COLUMN_TABLE.get(id_, (f"column {id_}", ""))[0] for id_ in range(1, max(COLUMN_TABLE) + 1)
]


def index_columns(level):
    """Returns the names of the columns of a leaf (level 0) or a node of the index."""
    page = "node" if level else "leaf"
    return [name for name, pages in COLUMN_TABLE.values() if page in pages.split()]


TOTALS = ["blocks", "dimensions", "variables", "attributes", "records", "samples"]


# --- Classic headers (format.md 14) ----------------------------------------------------------------


class Dataset:
    """Definitions and values of a block, which are encoded as a canonical header and an extent."""

    def __init__(self):
        self.dims, self.atts, self.vars = [], [], []
        self.values = {}

    def encode(self, kind, records):
        wide = 8 if kind == 5 else 4
        number = lambda n: n.to_bytes(wide, "big")
        padded = lambda b: b + bytes(-len(b) % 4)
        string = lambda name: number(len(raw(name))) + padded(raw(name))
        listed = lambda tag, items: (
            struct.pack(">I", tag if items else 0) + number(len(items)) + b"".join(items)
        )
        att = (
            lambda a: string(a[0])
            + struct.pack(">I", TYPES[a[1]][0])
            + number(len(a[2]) // SIZES[a[1]])
            + padded(a[2])
        )
        lengths = dict(self.dims)
        ids = {name: i for i, (name, _) in enumerate(self.dims)}
        slices, is_record = [], []
        for _, type_, dims, _ in self.vars:
            size = SIZES[type_]
            for d in dims:
                size *= lengths[d] or 1
            slices.append(size)
            is_record.append(bool(dims) and lengths[dims[0]] == 0)
        lone = sum(is_record) == 1

        def header(begins):
            variables = []
            for (name, type_, dims, atts), begin, size in zip(self.vars, begins, slices):
                vsize = min(up(size, 4), 2 ** (8 * wide) - 1)
                variables.append(
                    string(name)
                    + number(len(dims))
                    + b"".join(number(ids[d]) for d in dims)
                    + listed(12, list(map(att, atts)))
                    + struct.pack(">I", TYPES[type_][0])
                    + number(vsize)
                    + begin.to_bytes(4 if kind == 1 else 8, "big")
                )
            return (
                b"CDF"
                + bytes([kind])
                + number(records)
                + listed(10, [string(n) + number(length) for n, length in self.dims])
                + listed(12, list(map(att, self.atts)))
                + listed(11, variables)
            )

        at = len(header([0] * len(self.vars)))
        length, begins, record_size = at, [0] * len(self.vars), 0
        for fixed in (True, False):
            for i, size in enumerate(slices):
                if is_record[i] != fixed:
                    begins[i] = at
                    at += size if lone and is_record[i] else up(size, 4)
                    record_size += 0 if fixed else (size if lone else up(size, 4))
        extent = bytearray(at - record_size + records * record_size - length)
        for i, (name, type_, _, _) in enumerate(self.vars):
            values = self.values.get(name)
            count = records if is_record[i] else 1
            if values is None or len(values) != slices[i] * count:
                raise VectorError(
                    f"variable {name!r}: {len(values or b'')} bytes of values, expected {slices[i] * count}"
                )
            for r in range(count):
                start = begins[i] - length + r * record_size
                extent[start : start + slices[i]] = values[r * slices[i] : (r + 1) * slices[i]]
        return header(begins), bytes(extent)

    def counts(self):
        return {
            "dimensions": len(self.dims),
            "variables": len(self.vars),
            "attributes": len(self.atts) + sum(len(v[3]) for v in self.vars),
        }


# --- The file --------------------------------------------------------------------------------------


class Entry:
    """A block that exists: its index row, and the parts of the file that belong to it."""

    def __init__(self, name):
        self.name, self.row = name, {}
        self.block = None  # (position, length)
        self.extent = b""
        self.pieces = []  # Piece
        self.maps = []  # (position, length) of each data map page
        self.stored = []  # (position, sum) of each stored piece
        self.others = []  # (position, length) of sections and structures of later versions


class Piece:
    def __init__(self, logical, raw, position=0, state=0):
        self.logical, self.raw, self.position, self.state = logical, raw, position, state
        self.codec, self.stored = 0, 0 if state else raw
        self.file, self.bytes = 0, None  # for a piece in another file: the file number, and the stored bytes
        self.content = None  # for a piece of a growth page: its bytes
        self.pattern = None  # the bytes of the row of a pattern


class Tree:
    """A page of the index: its items are the entries of a leaf, or the children of a node."""

    def __init__(self, level, items, separator=b""):
        self.level, self.items, self.separator = level, items, separator
        self.place = None  # position, length, sum; None: not written yet
        self.rows = None

    def first(self):
        return raw(self.items[0].name) if self.level == 0 else self.items[0].first()

    def last(self):
        return raw(self.items[-1].name) if self.level == 0 else self.items[-1].last()


FIRST_STRUCTURE, SUPERBLOCK_LENGTH = 16384, 4096
CONTINUES = struct.pack("<4HQ", 9, 0, 1, 0, 24)  # the head of a section of type 9


class Assembler:
    def __init__(self):
        self.data = bytearray(FIRST_STRUCTURE)
        self.places = {}  # symbolic name: offset
        self.entries = {}
        self.tree = None
        self.generation = 0
        self.options = {
            "piece size": 1 << 20,
            "inline limit": 65536,
            "codec": 0,
            "leaf rows": 64,
            "node rows": 128,
            "map rows": 128,
            "table leaf rows": 256,
            "table node rows": 128,
        }
        self.dictionary = None
        self.next_order = 0
        self.dead_segment = None
        self.trailer = None
        self.dictionary_place = (0, 0, 0)
        self.sets, self.pokes, self.column_changes = [], [], []
        self.used = {
            "incompatible features": 0,
            "compatible features": 0,
            "read-only compatible features": 0,
        }
        self.file_id = 0
        self.identity = b""
        self.global_sections = self.file_table = self.view = self.growth = (0, 0, 0)
        self.statistics = self.tags = (0, 0, 0)
        self.tables = {name: assemble_tables.Tables(name) for name in ("statistics", "tags")}
        self.files = []  # for each row of the file table: True for an original
        self.originals = []  # for each original: (position, sum) of its pieces
        self.hdf5 = bytes(48)
        self.later_places = []  # places of later versions in the superblock
        self.later_rows = {}  # columns of later versions, as {label of a row: {id: value}}
        self.growth_rows = {}  # rows of growth pages as written, by order
        self.growth_pieces = {}  # [(records, Piece)] by name of the block
        self.growth_pages = []
        # The stamp is a sum over bytes that are written after the stamp, so it is known only from an earlier pass.
        self.stamps, self.found_stamps = {}, {}

    @property
    def stamp(self):
        return self.stamps.get(self.generation, 0)

    def find_stamp(self, first):
        """Computes the stamp (section 18.5) from the rows as they are written.

        first: file length of the previous generation.
        """
        pieces = [row for o in self.originals for row in o]
        for leaf in leaves(self.tree):
            for entry, row in zip(leaf.items, leaf.rows):
                if row.get("data map position"):
                    pieces += entry.stored
                elif row.get("extent position"):
                    pieces.append((row["extent position"], row.get("extent sum", 0)))
        for rows in self.growth_rows.values():
            pieces += [(row["position"], row["sum"]) for row in rows]
        self.found_stamps[self.generation] = sum(s for at, s in pieces if at >= first) % 2**64

    # Overrides. A change with `keep sums` is made after the sums are computed.
    # A change without `keep sums` is made before the sums are computed.

    def override(self, label, fields, keep):
        return {
            field: value
            for target, field, value, kept in self.sets
            if target == label and field in fields and kept == keep
        }

    def structure(self, label, fields, values, tail, position, covered):
        """Encodes one structure. covered(bytes) returns the bytes that its sum covers. Returns (bytes, sum)."""
        size = max(offset + length for offset, length in fields.values())
        out = bytearray(size) + tail

        def put(name, value):
            offset, length = fields[name]
            out[offset : offset + length] = (
                value
                if isinstance(value, bytes)
                else (value % (1 << 8 * length)).to_bytes(length, "little")
            )

        for name, value in values.items():
            put(name, value)
        for keep in (False, True):
            for name, value in self.override(label, fields, keep).items():
                if name != "sum":
                    put(name, value)
            for target, offset, data, kept in self.pokes:
                if target == label and kept == keep:
                    out[offset : offset + len(data)] = data
            if not keep:
                put("sum", sum64(covered(out)))
                for value in (
                    self.override(label, fields, False).get("sum"),
                    self.override(label, fields, True).get("sum"),
                ):
                    if value is not None:
                        put("sum", value)
                total = int.from_bytes(out[fields["sum"][0] : fields["sum"][0] + 8], "little")
        self.name_place(label, position)
        for name, (offset, _) in fields.items():
            self.name_place(label, position + offset, name)
        return bytes(out), total

    def name_place(self, structure, offset, field=""):
        """Records the offset of a structure or field under its name.

        The name means the newest structure; `structure@G` means that of generation G.
        """
        dot = "." if field else ""
        self.places[f"{structure}{dot}{field}"] = offset
        self.places[f"{structure}@{self.generation}{dot}{field}"] = offset

    def allocate(self, length, unit=8):
        position = up(len(self.data), unit)
        self.data += bytes(position + up(length) - len(self.data))
        return position

    def write(self, position, data):
        self.data[position : position + len(data)] = data

    # Section 6

    def page(self, label, magic, level, rows, columns, names=None, owner=0, position=None):
        """Writes a page. rows: dictionaries by column name. Returns position, length, sum, and the rows as written."""
        rows = [dict(row) for row in rows]
        names = list(names) if names is not None else None
        if any(target == label and action == "empty" for target, action, _ in self.column_changes):
            rows, names = [], names and []
        for number, row in enumerate(rows):
            for target, field, value, kept in self.sets:
                if target == row.get("label") or target == f"{label} row {number}":
                    if field == "name":
                        names[number] = raw(value)
                    elif field in COLUMNS:
                        row[field] = value
            for label_ in (row.get("label"), f"{label} row {number}"):
                row.update(self.later_rows.get(label_, {}))
        heap = b""
        if names is not None:
            for row, name in zip(rows, names):
                heap += name
                row.setdefault("name end", len(heap))
                if not any(t == row.get("label") and f == "name end" for t, f, _, _ in self.sets):
                    row["name end"] = len(heap)
        bytes_of_rows = b""
        for row in rows:
            bytes_of_rows += row.get("bytes", b"")
            row.setdefault("bytes end", len(bytes_of_rows))
        heap += bytes_of_rows
        table = []
        for column in columns:
            values = [row.get(column, 0) for row in rows]
            if any(values):
                width = 16 if column in WIDE_COLUMNS else (max(values).bit_length() + 7) // 8
                table.append([COLUMNS.index(column), width, values])
        for id_ in sorted({key for row in rows for key in row if isinstance(key, int)}):
            values = [row.get(id_, 0) for row in rows]
            table.append([id_, (max(values).bit_length() + 7) // 8, values])
        for target, action, words in self.column_changes:
            if target == label:
                change_columns(table, action, words, len(rows))
        body = b"".join(struct.pack("<HH", id_, width) for id_, width, _ in table)
        body += (
            b"".join(
                value.to_bytes(width, "little") for _, width, values in table for value in values
            )
            + heap
        )
        body += bytes(-(PAGE_HEADER + len(body)) % 8)
        length = PAGE_HEADER + len(body)
        position = self.allocate(length)
        data, total = self.structure(
            label,
            PAGE,
            {
                "magic": b"\x89NMB" + magic,
                "version": 1,
                "level": level,
                "rows": len(rows),
                "length": length,
                "columns": len(table),
                "heap length": len(heap),
                "file id": self.file_id,
                "own position": position,
                "generation": self.generation,
                "owner": owner,
                "stamp": self.stamp,
            },
            body,
            position,
            lambda page: page[:80] + page[88:],
        )
        self.write(position, data)
        at = position + PAGE_HEADER + 4 * len(table)
        for number, (id_, width, values) in enumerate(table):
            self.name_place(label, position + PAGE_HEADER + 4 * number, f"column {id_}")
            for r, row in enumerate(rows):
                for name in filter(None, (row.get("label"), f"{label} row {r}")):
                    column = COLUMNS[id_] if id_ < len(COLUMNS) else f"column {id_}"
                    self.name_place(name, at + r * width, column)
            at += len(values) * width
        self.name_place(label, at, "heap")
        self.name_place(label, at + len(heap), "padding")
        for r, name in enumerate(names or []):
            for where in filter(None, (rows[r].get("label"), f"{label} row {r}")):
                self.name_place(where, at, "name")
            at += len(name)
        return position, len(data), total, rows

    # Section 8

    def block(self, entry, spec, tombstone=False):
        label = f"block {quote(entry.name)}"
        name = raw(
            next(
                (
                    value
                    for target, field, value, _ in self.sets
                    if (target, field) == (label, "name")
                ),
                entry.name,
            )
        )
        body, extent = spec["body"], spec["extent"]
        for target, offset, data, _ in self.pokes:
            if target == f"body {quote(entry.name)}":
                body = body[:offset] + data + body[offset + len(data) :]
        codec = spec["codec"]
        stored = spec["stored"] if spec.get("stored") is not None else self.compress(codec, body)
        stored_at = BLOCK_HEADER + up(len(name))
        position = self.allocate(stored_at + len(stored))
        padded = name + bytes(-len(name) % 8)
        stored_padded = bytearray(stored + bytes(-len(stored) % 8))
        for target, offset, data, _ in self.pokes:
            if target == f"stored {quote(entry.name)}":
                stored_padded[offset : offset + len(data)] = data
        for target, offset, data, _ in self.pokes:
            if target == f"padding {quote(entry.name)}":
                padded = (
                    padded[: len(name) + offset] + data + padded[len(name) + offset + len(data) :]
                )
        coded = any(spec["piece codecs"]) or bool(spec.get("pieces elsewhere"))
        length, one_run = len(extent), not (spec["hole"] or spec["holes"] or coded)
        entry.block, entry.body = (position, stored_at + len(stored_padded)), body
        extent_position, extent_sum = spec.get("kept extent", 0), 0
        if length and spec["hole"] is False and not extent_position:
            self.place_extent(entry, spec)
            extent_position = entry.pieces[0].position if one_run else 0
        elif spec["hole"]:
            entry.pieces = [Piece(0, length, 0, 1)]
        mapped = spec["pieces"] or spec["holes"] or spec.get("patterns") or coded or length > self.options["piece size"]
        mapped = bool(length and not spec["hole"] and mapped and not spec.get("no map") and not tombstone)
        if extent_position and not mapped:
            extent_sum = sum64(extent)
        flags = (1 if tombstone else 0) | (2 if spec["hole"] else 0) | (4 if mapped else 0)
        values = {
            "magic": MAGIC["block"],
            "version": 1,
            "kind": spec["kind"],
            "codec": codec,
            "flags": flags,
            "file id": self.file_id,
            "own position": position,
            "generation": self.generation,
            "stored length": len(stored),
            "raw length": len(body),
            "name length": len(name),
            "extent position": extent_position,
            "extent length": length,
            "extent sum": extent_sum,
            "records": spec["records"],
            "samples": spec["samples"],
            "order": spec["order"],
            "digest": digest128(body) if body else 0,
            "body sum": sum64(bytes(stored_padded)) if stored else 0,
            "stamp": self.stamp,
        }
        data, total = self.structure(
            label, BLOCK, values, bytes(padded), position, lambda b: b[:144] + b[152:]
        )
        self.write(position, data + stored_padded)
        self.name_place(label, position + BLOCK_HEADER, "name")
        self.name_place(label, position + BLOCK_HEADER + len(name), "name padding")
        self.name_place(f"body {quote(entry.name)}", position + stored_at)
        self.name_place(f"stored {quote(entry.name)}", position + stored_at)
        self.name_place(f"body {quote(entry.name)}", position + stored_at + len(stored), "padding")
        for place_name, offset in spec.get("body places", {}).items():
            self.name_place(f"body {quote(entry.name)}", position + stored_at + offset, place_name)
        digest = values["digest"]
        for target, field, value, _ in self.sets:
            if target == label and field == "digest":
                digest = value
        entry.row = {
            "label": f"entry {quote(entry.name)}",
            "kind": spec["kind"],
            "codec": codec,
            "flags": 1 if spec["hole"] else 0,
            "position": position,
            "stored length": len(stored),
            "raw length": len(body),
            "digest": digest,
            "sum": total,
            "extent length": length,
            "records": spec["records"],
            "samples": spec["samples"],
            "order": spec["order"],
            **spec["counts"],
        }
        entry.extent, entry.later_needs = extent, spec["needs"]
        if tombstone:
            return
        if mapped:
            self.write_map(entry)
        elif length and not spec["hole"]:
            entry.row |= {"extent position": extent_position, "extent sum": extent_sum}
        entry.row |= self.file_digests(body + extent, spec.get("file digests", ()))
        self.find_needs(entry)

    @staticmethod
    def file_digests(content, wanted):
        """Returns the columns with the digests of a classic file (section 10.5)."""
        row = {"file digest": digest128(content)} if "digest" in wanted else {}
        if "sha256" in wanted:
            sha256 = hashlib.sha256(content).digest()
            halves = {"begin": sha256[:16], "end": sha256[16:]}
            row |= {f"file SHA-256 {name}": int.from_bytes(half, "little") for name, half in halves.items()}
        return row

    def find_needs(self, entry):
        """Sets the needs of a block (section 13): the bits that it uses, and the bits that its text adds."""
        row, pieces = entry.row, entry.pieces
        kinds = {self.is_original(p.file) for p in pieces if p.file}
        needs = entry.later_needs
        needs |= (1 if row["codec"] in (1, 2) else 0) | (2 if row["codec"] == 2 else 0)
        needs |= 4 if row["kind"] == 6 else 0
        needs |= (16 if False in kinds else 0) | (64 if True in kinds else 0)
        needs |= 32 if any(p.codec in (1, 3) for p in pieces) else 0
        entry.row["needs"] = needs

    def is_original(self, number):
        return 0 < number <= len(self.files) and self.files[number - 1]

    def compress(self, codec, body):
        if codec == 0:
            return body
        if codec == 3:
            return zlib.compress(body)
        if codec > 3:
            return body  # codecs of later versions are not known, so the body stays as it is
        dictionary = zstandard.ZstdCompressionDict(self.dictionary) if codec == 2 else None
        return zstandard.ZstdCompressor(level=3, dict_data=dictionary).compress(body)

    def place_extent(self, entry, spec):
        """Cuts the extent into pieces and writes them, in one run except for holes."""
        extent, size = spec["extent"], self.options["piece size"]
        cuts = set(range(0, len(extent), size)) | {0, len(extent)}
        if spec["pieces"]:
            cuts = set(spec["pieces"]) | {0, len(extent)}
        for start, length in spec["holes"]:
            cuts = {c for c in cuts if not start < c < start + length} | {start, start + length}
        cuts = sorted(cuts)
        if spec["piece codecs"] or spec["stored pieces"] or spec.get("pieces elsewhere") or spec.get("patterns"):
            return self.place_pieces(entry, spec, cuts)
        run = None
        entry.pieces = []
        for start, stop in zip(cuts, cuts[1:]):
            if any(h == start for h, _ in spec["holes"]):
                entry.pieces.append(Piece(start, stop - start, 0, 1))
                run = None
                continue
            if run is None:
                rest = (
                    next((h for h, _ in sorted(spec["holes"]) if h >= start), len(extent)) - start
                )
                run = self.allocate(rest, 4096 if len(extent) >= 1 << 20 else 8) - start
                self.write(run + start, extent[start : start + rest])
            entry.pieces.append(Piece(start, stop - start, run + start))
        self.name_pieces(entry)

    def place_pieces(self, entry, spec, cuts):
        """Writes coded pieces one after the other, each at a multiple of 8."""
        entry.pieces = []
        for number, (start, stop) in enumerate(zip(cuts, cuts[1:])):
            piece = Piece(start, stop - start)
            entry.pieces.append(piece)
            if any(h == start for h, _ in spec["holes"]):
                piece.state, piece.stored = 1, 0
                continue
            if number in spec.get("patterns", {}):
                piece.state, piece.bytes, piece.pattern = 2, spec["extent"][start:stop], spec["patterns"][number]
                continue
            codecs = spec["piece codecs"]
            piece.codec = codecs[number] if number < len(codecs) else 0
            stored = self.compress(piece.codec, spec["extent"][start:stop])
            stored = spec["stored pieces"].get(number, stored)
            piece.stored = len(stored)
            if number in spec.get("pieces elsewhere", {}):
                piece.file, piece.position = spec["pieces elsewhere"][number]
                piece.bytes = stored
                continue
            piece.position = self.allocate(len(stored))
            self.write(piece.position, stored)
        self.name_pieces(entry)

    def name_pieces(self, entry):
        self.name_place(
            f"extent {quote(entry.name)}", next((p.position for p in entry.pieces if p.position), 0)
        )
        for number, piece in enumerate(entry.pieces):
            self.name_place(f"piece {quote(entry.name)} {number}", piece.position)

    def write_map(self, entry):
        """Writes the data map of entry.pieces (section 10.1)."""
        pieces = entry.pieces
        root, entry.maps, entry.stored = self.map_pages(quote(entry.name), pieces, entry.block[0])
        run = all(not p.state and not p.codec and not p.file for p in pieces) and all(
            a.position + a.raw == b.position for a, b in zip(pieces, pieces[1:])
        )
        entry.row |= {
            **root,
            "extent position": pieces[0].position if run else 0,
            "extent sum": 0,
        }

    def map_pages(self, name, pieces, owner):
        """Writes the pages of a data map.

        Returns (columns that place the root page, pages, (position, sum) of each stored piece).
        """
        rows = []
        for number, p in enumerate(pieces):
            self.name_place(f"piece {name} {number}", p.position)
            row = {
                "label": f"piece {name} {number}",
                "logical offset": p.logical,
                "raw length": p.raw,
                "state": p.state,
            }
            if p.pattern is not None:
                row |= {"sum": sum64(p.bytes), "bytes": p.pattern}
            if not p.state:
                row |= {
                    "codec": p.codec,
                    "position": p.position,
                    "stored length": p.stored,
                    "sum": sum64(p.bytes or self.data[p.position : p.position + p.stored]),
                    "file number": p.file,
                }
            rows.append(row)
        level, maps, stored = 0, [], []
        leaf = ["codec", "position", "stored length", "raw length", "sum", "logical offset", "file number", "state", "bytes end"]
        node = ["position", "stored length", "sum", "logical offset"]
        while True:
            parents = []
            size = self.options["map rows"]
            groups = [rows[i : i + size] for i in range(0, len(rows), size)]
            for number, group in enumerate(groups):
                label = f"map {name}" if len(groups) == 1 else f"map {name} {level}.{number}"
                position, length, total, written = self.page(
                    label, b"DMAP", level, group, node if level else leaf, owner=owner
                )
                maps.append((position, length))
                if level == 0:
                    stored += [
                        (row["position"], row["sum"])
                        for row in written
                        if not row.get("state") and not row.get("file number")
                    ]
                parents.append(
                    {
                        "position": position,
                        "stored length": length,
                        "sum": total,
                        "logical offset": written[0].get("logical offset", 0),
                    }
                )
            rows, level = parents, level + 1
            if len(rows) == 1:
                break
        columns = ("data map position", "data map length", "data map sum")
        root = dict(zip(columns, (rows[0][c] for c in ("position", "stored length", "sum"))))
        return root, maps, stored

    # Section 7

    def index_page(self, tree, label):
        """Writes a page. Before it, writes those of its children that are not written yet."""
        if tree.place:
            return
        if tree.level == 0:
            rows, names = [e.row for e in tree.items], [raw(e.name) for e in tree.items]
        else:
            for child in tree.items:
                self.counters[child.level] = self.counters.get(child.level, -1) + 1
                self.index_page(child, index_label(child.level, self.counters[child.level]))
            rows = [
                {
                    "position": c.place[0],
                    "stored length": c.place[1],
                    "sum": c.place[2],
                    **totals(c),
                    "needs": needs_of(c),
                }
                for c in tree.items
            ]
            names = [c.separator for c in tree.items]
        position, length, total, tree.rows = self.page(
            label, b"INDX", tree.level, rows, index_columns(tree.level), names
        )
        tree.place = (position, length, total)

    def build_tree(self, changed):
        """Builds the index (section 7), divided by leaf rows and node rows. Pages that lead to no change stay."""
        dying = []
        entries = self.entries
        if self.tree is None:
            top = self.cut(0, sorted(entries.values(), key=lambda e: raw(e.name)), b"")
        else:
            top = self.rebuild(self.tree, changed, None, dying)
        while len(top) > 1:
            top = self.cut(top[0].level + 1, top, b"")
        tree = top[0] if top else None
        while tree is not None and tree.level and len(tree.items) == 1:
            if tree.place:
                dying.append(tree.place[:2])
            tree = tree.items[0]
        self.tree = tree
        if tree is None:
            return dying
        fix_separators(tree, b"", dying)
        self.counters = {}
        self.index_page(tree, "root")
        return dying

    def cut(self, level, items, separator):
        size = self.options["node rows" if level else "leaf rows"]
        pages = [Tree(level, items[i : i + size], separator) for i in range(0, len(items), size)]
        for before, page in zip(pages, pages[1:]):
            page.separator = (
                page.items[0].separator if level else separator_of(page.first(), before.last())
            )
        return pages

    def rebuild(self, tree, changed, high, dying):
        """Returns the pages that replace `tree`. The names in `tree` are less than `high`."""
        if tree.level == 0:
            mine = [
                n for n in changed if raw(n) >= tree.separator and (high is None or raw(n) < high)
            ]
            if not mine:
                return [tree]
            kept = {e.name for e in tree.items} | set(mine)
            items = sorted(
                (self.entries[n] for n in kept if n in self.entries), key=lambda e: raw(e.name)
            )
        else:
            items = []
            for i, child in enumerate(tree.items):
                below = tree.items[i + 1].separator if i + 1 < len(tree.items) else high
                items += self.rebuild(child, changed, below, dying)
            if items == tree.items:
                return [tree]
        dying.append(tree.place[:2])
        return self.cut(tree.level, items, tree.separator)

    # Section 5

    def commit(self, text_):
        changed, dead = set(), []
        self.generation += 1
        first = self.trailer[0] + SUPERBLOCK_LENGTH if self.trailer else FIRST_STRUCTURE
        if self.generation == 1:
            self.begin_file(text_)
        if text_.abandoned is not None:
            self.data += text_.abandoned + bytes(-len(text_.abandoned) % 8)
            self.name_place("abandoned", first)
        self.files += [is_original for _, _, is_original, _ in text_.files]
        self.later_rows = {}
        for action in text_.actions:
            action(self, changed, dead)
        for label, number, data in text_.later:
            columns, where = self.later_structure(f"later {number} of {label}", number, data)
            entry = next((e for e in self.entries.values() if e.row["label"] == label), None)
            if entry:
                entry.row |= columns
                entry.others.append(where)
            else:
                self.later_rows[label] = columns
        had_tree = self.tree is not None
        if self.generation == 1 or changed:
            dying = self.build_tree(changed)
            dead += dying if had_tree else []
        for name in ("statistics", "tags"):
            rows = [row for row in text_.rows if row[0] == name]
            if rows:
                place_, dying = assemble_tables.write(self, self.tables[name], rows, text_.takes.get(name, 0), quote, sum64)
                setattr(self, name, place_)
                dead += dying
                self.used["read-only compatible features"] |= assemble_tables.FEATURES[name]
        for label, data in text_.extra:
            position = self.allocate(len(data))
            self.write(position, data)
            self.name_place(label, position)
        for rows in text_.growth:
            if rows:
                self.write_growth(rows)
        if text_.sections is not None:
            if self.global_sections[0] and not text_.sections.startswith(CONTINUES):
                dead.append((self.global_sections[0], up(self.global_sections[1])))
            self.global_sections = self.place_of("sections", self.continued(text_.sections))
            self.used["compatible features"] |= 4
        for number, data in enumerate(text_.later_places, len(self.later_places)):
            self.later_places.append(self.place_of(f"later place {number}", data))
        if text_.files:
            self.write_file_table(text_.files)
        if text_.view is not None and self.view[0]:
            dead.append((self.view[0], up(self.view[1])))
            self.view, self.hdf5 = (0, 0, 0), bytes(48)
            self.used["read-only compatible features"] &= ~1
        dead_place = self.write_dead(dead, (first, up(len(text_.abandoned or b""))))
        if text_.view:
            self.view = self.place_of("view", text_.view)
            self.used["read-only compatible features"] |= 1
        self.find_stamp(first)
        self.write_superblock(dead_place, text_.missing)

    def place_of(self, label, data):
        position = self.allocate(len(data))
        self.write(position, data)
        self.name_place(label, position)
        return (position, len(data), sum64(data))

    def later_structure(self, label, number, data):
        """Writes a structure of a later version (section 6). Returns its columns and (position, length)."""
        place_ = self.place_of(label, data)
        return dict(zip(range(256 + 3 * number, 259 + 3 * number), place_)), (place_[0], up(len(data)))

    def continued(self, sections):
        """Adds the place of the earlier sections, if the first section has type 9 and no payload yet."""
        if not sections.startswith(CONTINUES):
            return sections
        return CONTINUES + struct.pack("<3Q", *self.global_sections) + sections[len(CONTINUES) :]

    def write_growth(self, rows):
        """Writes one growth page (section 10.4). rows: (name, records, codec, bytes)."""
        table = []
        for name, records, codec, data in rows:
            entry, grown = self.entries[name], self.growth_pieces.setdefault(name, [])
            logical = grown[-1][1].logical + grown[-1][1].raw if grown else entry.row["extent length"]
            stored = self.compress(codec, data)
            piece = Piece(logical, len(data), self.allocate(len(stored)))
            piece.codec, piece.stored, piece.content = codec, len(stored), data
            self.write(piece.position, stored)
            self.name_place(f"growth piece {quote(name)} {len(grown)}", piece.position)
            table.append(
                {
                    "label": f"growth {quote(name)} {len(grown)}",
                    "codec": codec,
                    "position": piece.position,
                    "stored length": len(stored),
                    "raw length": len(data),
                    "sum": sum64(stored),
                    "records": records,
                    "order": entry.row["order"],
                    "logical offset": logical,
                }
            )
            grown.append((records, piece))
        table.sort(key=lambda row: (row["order"], row["logical offset"]))
        before = self.growth_pages[-1:]
        if before:
            position, length, field_sum = before[0]
            table.insert(0, {"state": 1, "position": position, "stored length": length, "sum": field_sum})
        columns = ["codec", "position", "stored length", "raw length", "sum", "records", "order", "logical offset", "state"]
        position, length, total, written = self.page("growth", b"GROW", 0, table, columns)
        for row in written[1:] if before else written:
            self.growth_rows.setdefault(row["order"], []).append(row)
        if before:
            where = self.places["growth row 0.position"]
            self.name_place(f"growth page {len(self.growth_pages)}", where, "page before")
        self.growth_pages.append((position, length, total))
        self.growth = (position, length, sum64(self.data[position : position + length]))
        self.used["read-only compatible features"] |= 2

    def begin_file(self, text_):
        # The file id depends on the bodies of all blocks, so it is computed before a block is written.
        sum_ = 0
        codec = 2 if self.dictionary is not None else self.options["codec"]
        for name, spec in text_.new_blocks():
            record = (
                struct.pack("<I", len(raw(name)))
                + raw(name)
                + struct.pack("<H", spec["kind"])
                + digest128(spec["body"]).to_bytes(16, "little")
            )
            sum_ += digest128(record)
        self.file_id = digest128(
            struct.pack("<HQIH", 1, self.options["piece size"], self.options["inline limit"], codec)
            + (sum_ % 2**128).to_bytes(16, "little")
        )
        self.identity, _ = self.structure(
            "identity",
            IDENTITY,
            {
                "magic": MAGIC["identity"],
                "major version": 1,
                "size": 256,
                "sum algorithm": 1,
                "slots": 2,
                "slot unit": 4096,
                "first slot": 4096,
                "file id": self.file_id,
            },
            b"",
            512,
            lambda b: b[:248],
        )
        self.write(512, self.identity)
        self.name_place("guard", 1024)
        self.write(1024, GUARD)
        if self.dictionary is not None:
            self.write(12288, self.dictionary)
            body = self.dictionary
            position = self.allocate(BLOCK_HEADER + len(body))
            padded = body + bytes(-len(body) % 8)
            data, _ = self.structure(
                "dictionary block",
                BLOCK,
                {
                    "magic": MAGIC["block"],
                    "version": 1,
                    "kind": 255,
                    "codec": 0,
                    "file id": self.file_id,
                    "own position": position,
                    "generation": 1,
                    "stored length": len(body),
                    "raw length": len(body),
                    "digest": digest128(body),
                    "body sum": sum64(padded),
                    "stamp": self.stamp,
                },
                b"",
                position,
                lambda b: b[:144],
            )
            self.write(position, data + padded)
            self.dictionary_place = (position, len(body), sum64(body))

    def write_file_table(self, files):
        """Writes a page of the file table (section 10.3): the place of the previous page, then the new rows."""
        number = len(self.files) - len(files)
        rows, names = [], []
        if self.file_table[0]:
            position, length, _ = self.file_table
            rows.append({"state": 1, "position": position, "stored length": length, "sum": self.file_table_sum})
            names.append(b"")
        for path, size, is_original, content in files:
            number += 1
            row = {"label": f"file {number}", "stored length": size}
            if is_original == "part":
                row |= {"state": 3, "digest": content}
            elif is_original:
                row |= self.original(number, *content)
                self.used["compatible features"] |= 8
            rows.append(row)
            names.append(raw(path))
        columns = ["name end", "position", "stored length", "digest", "sum"]
        columns += ["data map position", "data map length", "data map sum", "order", "state", "bytes end"]
        position, length, self.file_table_sum, _ = self.page("file table", b"FILE", 0, rows, columns, names)
        self.file_table = (position, length, sum64(self.data[position : position + length]))

    def original(self, number, data, every, codecs, order, of_row):
        """Writes the pieces and the data map of an original, and returns the columns of its row."""
        pieces = []
        for start in range(0, len(data), every or max(1, len(data))):
            part = data[start : start + (every or len(data))]
            codec = codecs[len(pieces)] if len(pieces) < len(codecs) else 0
            stored = self.compress(codec, part)
            pieces.append(Piece(start, len(part), self.allocate(len(stored))))
            pieces[-1].codec, pieces[-1].stored = codec, len(stored)
            self.write(pieces[-1].position, stored)
        row = {"state": 2, "stored length": len(data), "digest": digest128(data), "order": order, "bytes": of_row}
        if pieces:
            root, _, stored = self.map_pages(f"file {number}", pieces, 1 << 63 | number)
            self.originals.append(stored)
            row |= root
        return row

    def write_dead(self, dead, abandoned):
        """Writes a dead-space segment.

        abandoned: position and length of the bytes after the previous generation; length 0 if there are none.
        """
        if not dead and not abandoned[1]:
            return self.dead_segment and self.dead_segment[:3] or (0, 0, 0)
        rows = []
        if self.dead_segment:
            position, length, _, field_sum = self.dead_segment
            rows.append(
                {"state": 1, "position": position, "stored length": length, "sum": field_sum}
            )
        for position, length in dead + ([abandoned] if abandoned[1] else []):
            rows.append(
                {
                    "position": position,
                    "stored length": length,
                    "sum": sum64(self.data[position : position + length]),
                }
            )
        if abandoned[1]:
            rows[-1] |= {"state": 2}
        position, length, total, _ = self.page(
            "dead", b"DEAD", 0, rows, ["position", "stored length", "sum", "state"]
        )
        for number, row in enumerate(rows):
            self.name_place(f"dead range {number}", row["position"])
        self.dead_segment = (
            position,
            length,
            sum64(self.data[position : position + length]),
            total,
        )
        return self.dead_segment[:3]

    def index_run(self):
        """Returns (position, length) of the run that holds the whole index, or (0, 0) if there is none."""
        if not self.tree or self.generation != 1:
            return 0, 0
        places = sorted(page.place[:2] for page in pages_of(self.tree))
        if any(a[0] + a[1] != b[0] for a, b in zip(places, places[1:])):
            return 0, 0
        return places[0][0], sum(length for _, length in places)

    def write_superblock(self, dead_place, missing):
        """Writes trailer, slot, mark and cover.

        missing: those of `trailer`, `slot` and `mark` that the commit did not write before it ended.
        """
        position = self.allocate(0, 4096)
        self.allocate(4096)
        file_length = position + SUPERBLOCK_LENGTH
        index_position, index_length = self.index_run()
        values = {
            "magic": MAGIC["superblock"],
            "version": 1,
            "used": 512 + 24 * len(self.later_places),
            "generation": self.generation,
            "file length": file_length,
            **self.used,
            "file id": self.file_id,
            "stamp": self.stamp,
            "HDF5 superblock": self.hdf5,
            "index position": index_position,
            "index length": index_length,
            **{name: self.options[name] for name in ("piece size", "inline limit", "leaf rows", "node rows", "map rows")},
            "next order": self.next_order,
            "later places": b"".join(struct.pack("<3Q", *p) for p in self.later_places).ljust(3576, b"\0"),
        }
        if self.tree:
            root_position, root_length, _ = self.tree.place
            values |= {
                "root position": root_position,
                "root length": root_length,
                "height": self.tree.level + 1,
                "root digest": digest128(
                    bytes(self.data[root_position : root_position + root_length])
                ),
                **totals(self.tree),
                "needs": needs_of(self.tree),
            }
            for name, grown in self.growth_pieces.items():
                values["records"] += grown[-1][0] - self.entries[name].row["records"]
        for name, where in (
            ("previous trailer", self.trailer or (0, 0, 0)),
            ("dead map", dead_place),
            ("file table", self.file_table),
            ("growth", self.growth),
            ("global sections", self.global_sections),
            ("statistics", self.statistics),
            ("tags", self.tags),
            ("dictionary", self.dictionary_place),
            ("view", self.view),
        ):
            values |= {
                f"{name}.{part}": value for part, value in zip(("position", "length", "sum"), where)
            }
        slot = (self.generation - 1) % 2
        sets, pokes, trailer = self.sets, self.pokes, b""
        for label, at in (("trailer", position), (f"slot{slot}", 4096 * (slot + 1))):
            self.sets = [(label if s[0] == "superblock" else s[0], *s[1:]) for s in sets]
            self.pokes = [(label if p[0] == "superblock" else p[0], *p[1:]) for p in pokes]
            data, _ = self.structure(label, SUPERBLOCK, values, b"", at, lambda b: b[:4088])
            if label.rstrip("01") not in missing:
                self.write(at, data)
            trailer = data if label == "trailer" else trailer
        self.sets, self.pokes = sets, pokes
        self.trailer = (position, 4096, sum64(trailer))
        at = SUPERBLOCK["HDF5 superblock"][0]
        self.hdf5 = trailer[at : at + 48]
        mark, _ = self.structure(
            "mark",
            MARK,
            {
                "magic": MAGIC["mark"],
                "generation": int.from_bytes(trailer[16:24], "little"),
                "file length": int.from_bytes(trailer[24:32], "little"),
                "superblock sum": sum64(trailer),
                "file id": self.file_id,
            },
            b"",
            256,
            lambda b: b[:56],
        )
        self.name_place("cover", 0)
        if "mark" not in missing:
            self.write(0, (self.hdf5 + bytes(208) if any(self.hdf5) else self.identity) + mark)


def index_label(level, number):
    return f"leaf {number}" if level == 0 else f"node {level}.{number}"


def pages_of(tree):
    yield tree
    for child in tree.items if tree.level else []:
        yield from pages_of(child)


def leaves(tree):
    return [page for page in pages_of(tree) if page.level == 0] if tree else []


def needs_of(tree):
    out = 0
    for row in tree.rows:
        out |= row.get("needs", 0)
    return out


def totals(tree):
    out = {name: sum(row.get(name, 0) for row in tree.rows) for name in TOTALS}
    if tree.level == 0:
        out["blocks"] = len(tree.rows)
    return out


def separator_of(name, before):
    """Returns the shortest prefix of `name` that is greater than `before`."""
    return next(name[:n] for n in range(len(name) + 1) if name[:n] > before)


def fix_separators(tree, separator, dying):
    """Gives each first child its parent's separator, because the page that was first may have been dropped."""
    tree.separator = separator
    if tree.level:
        if tree.items[0].separator != separator and tree.items[0].level and tree.items[0].place:
            dying.append(tree.items[0].place[:2])
            tree.items[0].place = None
        fix_separators(tree.items[0], separator, dying)


def change_columns(table, action, words, rows):
    ids = {name: i for i, name in enumerate(COLUMNS)}
    id_ = lambda word: ids[word] if word in ids else int(word, 0)
    if action == "widen":  # words: column, width
        for column in table:
            if column[0] == id_(words[0]):
                column[1] = int(words[1])
    elif action == "add":  # words: column, width, one value for all rows
        table.append([id_(words[0]), int(words[1]), [int(words[2], 0)] * rows])
        if "unsorted" not in words:
            table.sort(key=lambda c: c[0])


# --- Reading the text of a vector ------------------------------------------------------------------


class GenerationText:
    def __init__(self):
        # (path, size, is an original, content); content of an original: (bytes, length of a piece, codecs)
        self.files = []
        self.actions, self.blocks, self.extra, self.sections, self.view = [], [], [], None, None
        self.abandoned, self.rows, self.takes = None, [], {}
        self.growth = [[]]  # for each growth page its rows: (name, records, codec, bytes)
        self.later, self.later_places, self.missing = [], [], set()
        self.sets, self.pokes, self.columns = [], [], []

    def new_blocks(self):
        return [(name, builder.spec) for name, builder in self.blocks]


class BlockText:
    """The lines after `block`. finish() makes of them the specification for Assembler.block."""

    def __init__(self, name):
        self.name, self.dataset, self.header, self.extent_bytes = name, Dataset(), None, None
        self.spec = {
            "kind": 5,
            "codec": None,
            "records": 0,
            "samples": 0,
            "hole": False,
            "holes": [],
            "pieces": None,
            "piece codecs": [],
            "stored pieces": {},
            "needs": 0,
        }
        self.counts = {}
        self.extended = None  # ExtendedBlock, if the kind is 6

    def line(self, words):
        key, rest = words[0], words[1:]
        if words == ["kind", "6"]:
            self.extended = assemble_extended.ExtendedBlock()
        if self.extended and self.extended_line(key, rest):
            return True
        if key in ("kind", "codec", "records", "samples", "needs"):
            self.spec[key] = int(rest[0], 0)
        elif key == "counts":
            self.counts = dict(zip(("dimensions", "variables", "attributes"), map(int, rest)))
        elif key == "dim":
            self.dataset.dims.append((rest[0], 0 if rest[1] == "unlimited" else int(rest[1])))
        elif key == "att":
            owner = self.dataset.vars[-1][3] if self.dataset.vars else self.dataset.atts
            owner.append((rest[0], rest[1], encode_values(rest[1], rest[2:])))
        elif key == "var":
            self.variable(rest)
        elif key == "values":
            name = self.dataset.vars[-1][0]
            self.dataset.values[name] = self.dataset.values.get(name, b"") + encode_values(
                self.dataset.vars[-1][1], rest
            )
        elif key == "hole" and not rest:
            self.spec["hole"] = True
        elif key == "hole":
            self.spec["holes"].append((int(rest[0]), int(rest[1])))
        elif key == "pieces":
            self.spec["pieces"] = rest
        elif key == "piece" and rest[0] == "codecs":
            self.spec["piece codecs"] = [int(word) for word in rest[1:]]
        elif key == "piece" and rest[1] == "in":  # piece K in N at POSITION
            self.spec.setdefault("pieces elsewhere", {})[int(rest[0])] = (int(rest[2]), int(rest[4]))
        elif key == "piece" and rest[1] == "pattern":
            self.spec.setdefault("patterns", {})[int(rest[0])] = encode_bytes(rest[2:])
        elif key == "piece" and rest[1] == "stored":
            self.spec["stored pieces"][int(rest[0])] = encode_bytes(rest[2:])
        elif key in ("digest", "sha256") and rest == ["of", "file"]:
            self.spec.setdefault("file digests", set()).add(key)
        elif key == "no" and rest == ["map"]:
            self.spec["no map"] = True
        elif key == "header":
            self.header = (self.header or b"") + encode_bytes(rest)
        elif key == "extent":
            self.extent_bytes = (self.extent_bytes or b"") + encode_bytes(rest)
        elif key == "stored":
            self.spec["stored"] = encode_bytes(rest)
        else:
            return False
        return True

    def extended_line(self, key, rest):
        block = self.extended
        variable = block.variables[-1] if block.variables else None
        if key == "dim":
            length = None if rest[1] == "unlimited" else int(rest[1])
            block.add_dimension(raw(rest[0]), length, "grows" in rest)
        elif key == "att":
            code = type_code(rest[1])
            if code >= 256:  # count, bytes
                block.add_attribute(raw(rest[0]), code, int(rest[2]), encode_bytes(rest[3:]))
            else:
                values = encode_values(rest[1], rest[2:])
                block.add_attribute(raw(rest[0]), code, len(values) // SIZES[rest[1]], values)
        elif key == "var":
            stop = rest.index(")") if ")" in rest else 1
            dimensions = [raw(w) for w in rest[3:stop] if w != ","]
            block.variables.append(
                assemble_extended.Variable(raw(rest[0]), type_code(rest[1]), dimensions)
            )
            if "=" in rest:
                block.variables[-1].array = encode_values(rest[1], rest[rest.index("=") + 1 :])
        elif key == "bytes":
            variable.array += encode_bytes(rest)
        elif key == "heap":
            variable.kind = assemble_extended.HEAP
            variable.heap += encode_bytes(rest)
        elif key == "chunks":
            variable.kind, variable.chunk = assemble_extended.CHUNKS, list(map(int, rest))
        elif key == "never":
            variable.kind = assemble_extended.NONE
        elif key == "filter":  # ID FLAGS NAME PARAMETERS
            block.add_filter(int(rest[0]), int(rest[1]), raw(rest[2]), list(map(int, rest[3:])))
        elif key == "chunk":
            mask, rest = (int(rest[1]), rest[2:]) if rest[:1] == ["mask"] else (0, rest)
            variable.chunks.append((mask, encode_bytes(rest)))
        elif key == "type":  # CLASS SIZE [named NAME] BYTES
            name, tail = (raw(rest[3]), rest[4:]) if rest[2:3] == ["named"] else (b"", rest[2:])
            block.add_type(rest[0], int(rest[1], 0), name, encode_bytes(tail))
        elif key == "property":  # NUMBER OWNER ATTRIBUTE BYTES
            owner, attribute = (
                assemble_extended.ALL_BITS if w in ("group", "none") else int(w) for w in rest[1:3]
            )
            block.add_property(int(rest[0]), owner, attribute, encode_bytes(rest[3:]))
        elif key == "behind":  # the last section
            block.behind += encode_bytes(rest)
        elif key == "section":  # TYPE FLAGS BYTES
            block.sections[int(rest[0])] = int(rest[1]), encode_bytes(rest[2:])
        else:
            return False
        return True

    def variable(self, words):
        name, type_ = words[0], words[1]
        dims = []
        if words[2:3] == ["("]:
            stop = words.index(")")
            dims = [w for w in words[3:stop] if w != ","]
            words = words[stop + 1 :]
        else:
            words = words[2:]
        self.dataset.vars.append((name, type_, dims, []))
        if words[:1] == ["="]:
            self.dataset.values[name] = encode_values(type_, words[1:])

    def finish(self, assembler):
        spec = self.spec
        spec["codec"] = assembler.options["codec"] if spec["codec"] is None else spec["codec"]
        if self.extended and self.header is None:
            body, extent = self.extended.encode(spec["records"])
            spec["records"] = self.extended.record_count(spec["records"])
            spec["body"], spec["extent"] = body, extent
            spec["counts"], spec["body places"] = self.extended.counts(), self.extended.places
            if self.extent_bytes is not None:
                spec["extent"] = self.extent_bytes
        elif self.header is not None:
            spec["body"], spec["extent"], spec["counts"] = (
                self.header,
                self.extent_bytes or b"",
                self.counts,
            )
        else:
            if spec["hole"]:
                self.fill_missing()
            spec["body"], spec["extent"] = self.dataset.encode(spec["kind"], spec["records"])
            spec["counts"] = self.dataset.counts()
            if self.extent_bytes is not None:
                spec["extent"] = self.extent_bytes
        if spec["pieces"]:
            words, total = spec["pieces"], len(spec["extent"])
            if words[0] == "every":
                spec["pieces"] = list(range(0, total, int(words[1])))
            else:
                spec["pieces"] = [sum(map(int, words[:i])) for i in range(len(words))]

    def fill_missing(self):
        lengths = dict(self.dataset.dims)
        for name, type_, dims, _ in self.dataset.vars:
            size = SIZES[type_]
            for d in dims:
                size *= lengths[d] or self.spec["records"]
            self.dataset.values.setdefault(name, bytes(size))


def type_code(word):
    return TYPES[word][0] if word in TYPES else int(word)


def act_block(name, builder):
    def action(a, changed, dead):
        old = a.entries.get(name)
        if old:
            dead += dead_of(old, with_extent=True)
        spec = builder.spec
        spec["order"] = old.row["order"] if old else a.next_order
        a.next_order += 0 if old else 1
        entry = Entry(name)
        a.block(entry, spec)
        a.entries[name] = entry
        changed.add(name)

    return action


def dead_of(entry, with_extent):
    out = [entry.block] + entry.maps + entry.others
    if with_extent:
        out += [(p.position, up(p.stored)) for p in entry.pieces if p.position and not p.file]
    return out


def tombstone(a, name, row, dead):
    grave = Entry(name)
    a.block(
        grave,
        {
            "body": b"",
            "extent": b"",
            "codec": 0,
            "hole": False,
            "holes": [],
            "kind": row["kind"],
            "records": 0,
            "samples": 0,
            "order": row["order"],
            "counts": {},
            "pieces": None,
            "piece codecs": [],
            "stored pieces": {},
            "needs": 0,
        },
        tombstone=True,
    )
    dead.append(grave.block)


def act_remove(name):
    def action(a, changed, dead):
        old = a.entries.pop(name)
        dead += dead_of(old, with_extent=True)
        tombstone(a, name, old.row, dead)
        changed.add(name)

    return action


def act_rename(name, new):
    """Writes the block again under its new name. An extent without data map stays where it is."""

    def action(a, changed, dead):
        old = a.entries.pop(name)
        if old.maps:
            raise VectorError("rename: a block with data map")
        dead += dead_of(old, with_extent=False)
        tombstone(a, name, old.row, dead)
        entry = Entry(new)
        a.block(
            entry,
            {
                "body": old.body,
                "extent": old.extent,
                "codec": old.row["codec"],
                "hole": bool(old.row["flags"]),
                "holes": [],
                "kind": old.row["kind"],
                "records": old.row["records"],
                "samples": old.row["samples"],
                "order": old.row["order"],
                "counts": {k: old.row.get(k, 0) for k in ("dimensions", "variables", "attributes")},
                "pieces": None,
                "piece codecs": [],
                "stored pieces": {},
                "needs": 0,
                "kept extent": old.row.get("extent position", 0),
            },
        )
        entry.pieces = old.pieces
        a.find_needs(entry)
        a.entries[new] = entry
        changed |= {name, new}

    return action


def act_change(name, start, data, keep_end, records):
    """Puts new bytes at offset `start` of the extent, to change values or add records.

    The pieces that these bytes touch are written again, divided at multiples of the piece size.
    keep_end: bytes of the extent after the new bytes stay.
    """

    def action(a, changed, dead):
        entry, size = a.entries[name], a.options["piece size"]
        stop = start + len(data)
        extent = entry.extent[:start] + data + (entry.extent[stop:] if keep_end else b"")
        touched = [
            p
            for p in entry.pieces
            if p.logical + p.raw > start and (not keep_end or p.logical < stop)
        ]
        kept = [p for p in entry.pieces if p not in touched]
        dead += [(p.position, up(p.stored)) for p in touched if p.position and not p.file]
        dead += entry.maps
        low = min([p.logical for p in touched] + [start])
        high = max([p.logical + p.raw for p in touched] + [stop]) if keep_end else len(extent)
        new, at = [], low
        while at < high:
            end = min((at // size + 1) * size, high)
            position = a.allocate(end - at)
            a.write(position, extent[at:end])
            new.append(Piece(at, end - at, position))
            at = end
        entry.pieces = sorted(kept + new, key=lambda p: p.logical)
        entry.extent = extent
        entry.row |= {
            "extent length": len(extent),
            "records": entry.row["records"] if records is None else records,
            "flags": 0,
        }
        a.write_map(entry)
        a.find_needs(entry)
        changed.add(name)

    return action


def act_fold(a, changed, dead):
    """Moves the pieces of all growth pages into data maps, and their records into entries (section 10.4)."""
    for name, grown in a.growth_pieces.items():
        entry = a.entries[name]
        dead += entry.maps
        entry.pieces = entry.pieces + [piece for _, piece in grown]
        entry.extent += b"".join(piece.content for _, piece in grown)
        entry.row |= {"extent length": len(entry.extent), "records": grown[-1][0]}
        a.write_map(entry)
        a.find_needs(entry)
        changed.add(name)
    dead += [page[:2] for page in a.growth_pages]
    a.growth, a.growth_pages, a.growth_rows, a.growth_pieces = (0, 0, 0), [], {}, {}
    a.used["read-only compatible features"] &= ~2


WITH = re.compile(r"^(.*?)\bwith\b(.*)$")


def growth_row(line):
    """Parses `growth NAME records N [codec C] with BYTES`."""
    head, data = (tokens(part) for part in WITH.match(line).groups())
    options = dict(zip(head[2::2], head[3::2]))
    return head[1], int(options["records"]), int(options.get("codec", 0)), encode_bytes(data)


def original_row(line):
    """Parses `original NAME [order N] [sha256 | bytes N] [every N] [codecs C ..] with BYTES`."""
    head, data = (tokens(part) for part in WITH.match(line).groups())
    every = int(head[head.index("every") + 1]) if "every" in head else 0
    codecs = [int(word) for word in head[head.index("codecs") + 1 :]] if "codecs" in head else []
    content = encode_bytes(data)
    order = int(head[head.index("order") + 1]) if "order" in head else 0
    of_row = hashlib.sha256(content).digest() if "sha256" in head else b""
    if "bytes" in head:
        of_row = bytes(range(1, int(head[head.index("bytes") + 1]) + 1))
    return head[1], len(content), True, (content, every, codecs, order, of_row)


def later_structure(line):
    """Parses `later N for LABEL with BYTES`."""
    head, data = WITH.match(line).groups()
    number, label = re.match(r"\s*later (\d+) for (.*)$", head).groups()
    return label.strip(), int(number), encode_bytes(tokens(data))


def parse(lines):
    """Parses the text of a vector. Returns (options, generations, damage lines, expectations)."""
    options, generations, damage, expects = [], [], [], []
    builder = None
    for number, line in expand(enumerate(lines, 1)):
        try:
            words = tokens(line)
            if not words:
                continue
            key = words[0]
            if key == "expect":
                expects.append(line.strip()[len("expect") :].split("#")[0].strip())
            elif key == "generation":
                generations.append(GenerationText())
                builder = None
            elif key in ("flip", "write", "cut", "append"):
                damage.append(line.split("#")[0].strip())
            elif not generations:
                options.append(words)
            elif key == "block":
                builder = BlockText(words[1])
                generations[-1].blocks.append((words[1], builder))
                generations[-1].actions.append(act_block(words[1], builder))
            elif key in ("set", "poke", "column"):
                parse_override(generations[-1], line)
            elif key == "remove":
                generations[-1].actions.append(act_remove(words[1]))
            elif key == "rename":
                generations[-1].actions.append(act_rename(words[1], words[2]))
            elif key == "grow":  # grow "a" records N from OFFSET with BYTES
                at = words.index("with")
                generations[-1].actions.append(
                    act_change(
                        words[1], int(words[5]), encode_bytes(words[at + 1 :]), False, int(words[3])
                    )
                )
            elif key == "change":  # change "a" at OFFSET with BYTES
                generations[-1].actions.append(
                    act_change(words[1], int(words[3]), encode_bytes(words[5:]), True, None)
                )
            elif key == "sections":
                generations[-1].sections = (generations[-1].sections or b"") + encode_bytes(
                    words[1:]
                )
            elif key == "file":
                generations[-1].files.append((words[1], int(words[2], 0), False, None))
            elif key == "part":
                nonce = int.from_bytes(encode_bytes(words[3:]), "little")
                generations[-1].files.append((words[1], int(words[2], 0), "part", nonce))
            elif key == "original":
                generations[-1].files.append(original_row(line))
            elif key == "growth":
                generations[-1].growth[-1].append(growth_row(line))
            elif words == ["next", "growth", "page"]:
                generations[-1].growth.append([])
            elif words == ["fold", "growth"]:
                generations[-1].actions.append(act_fold)
            elif key == "abandoned":
                generations[-1].abandoned = (generations[-1].abandoned or b"") + encode_bytes(words[1:])
            elif key == "later" and words[1] == "place":
                generations[-1].later_places.append(encode_bytes(words[2:]))
            elif key == "later":
                generations[-1].later.append(later_structure(line))
            elif key in assemble_tables.WORD:
                generations[-1].rows.append(assemble_tables.parse_row(words, encode_values, encode_bytes))
            elif key == "take":  # take N statistics
                generations[-1].takes[words[2]] = int(words[1])
            elif key == "without":
                generations[-1].missing |= set(words[1:])
            elif words == ["no", "view"]:
                generations[-1].view = b""
            elif key == "view":
                generations[-1].view = (generations[-1].view or b"") + encode_bytes(words[1:])
            elif key == "stray":
                generations[-1].extra.append(("stray", encode_bytes(words[1:])))
            elif builder is None or not builder.line(words):
                raise VectorError(f"unknown word {key!r}")
        except (
            VectorError,
            ValueError,
            IndexError,
            KeyError,
            StopIteration,
            struct.error,
        ) as error:
            raise VectorError(f"line {number}: {line.strip()!r}: {error!r}") from error
    return options, generations, damage, expects


NUMBER = re.compile(r"^(\d+|0x[0-9a-fA-F]+)$")


def parse_override(generation, line):
    """Parses an override, which is one of these statements.

    set TARGET FIELD VALUE [keep sums]
    poke TARGET offset N hex ..
    column TARGET ACTION ..
    """
    line = line.split("#")[0].strip()
    keep = line.endswith("keep sums")
    line = line.removesuffix("keep sums").strip()
    word, rest = line.split(None, 1)
    if word == "poke":
        target, by, where, data = re.match(
            r"(.*?) (offset|at) (.*?) (hex .*|zero .*)$", rest
        ).groups()
        offset = int(where) if by == "offset" else ("place", where)
        generation.pokes.append((target, offset, encode_bytes(tokens(data)), keep))
    elif word == "column":
        target, action, tail = re.match(r"(.*?) (widen|add|empty)\b(.*)", rest).groups()
        names = tokens(tail)
        generation.columns.append((target, action, names))
    else:
        target, field, value = split_set(rest)
        generation.sets.append((target, field, value, keep))


FIELD_NAMES = sorted(
    {*IDENTITY, *SUPERBLOCK, *MARK, *PAGE, *BLOCK, *COLUMNS[1:], "name"}, key=len, reverse=True
)


def split_set(rest):
    for field in FIELD_NAMES:
        m = re.match(r"(.*?[^\s])\s+" + re.escape(field) + r"\s+(\S.*)$", rest)
        if m:
            value = m[2].strip()
            if NUMBER.match(value):
                return m[1], field, int(value, 0)
            words = tokens(value)
            if isinstance(words[0], Text):
                return m[1], field, str(words[0])
            if words[0] == "hex":
                return m[1], field, encode_hex(words[1:])
            if words[0] == "position":  # the position of another structure, given by its symbolic name
                return m[1], field, ("place", value[len("position") :].strip())
            return m[1], field, int(words[0], 0)
    raise VectorError(f"no field in {rest!r}")


def resolve(places, text_, length):
    """Returns the offset of a symbolic place: NAME[+N], a number, or `end`."""
    text_ = text_.strip()
    base, _, plus = text_.rpartition("+") if re.search(r"\+\d+$", text_) else (text_, "", "0")
    base = base.strip()
    if base == "end":
        return length + int(plus)
    if NUMBER.match(base):
        return int(base, 0) + int(plus)
    base = re.sub(r"\s+", " ", base)
    if base not in places:
        near = [p for p in places if p.split(".")[0] == base.split(".")[0]][:40]
        raise VectorError(f"no place {base!r}; near: {near}")
    return places[base] + int(plus)


def assemble(text_):
    """Assembles a vector. Returns (bytes, symbolic places, expectations)."""
    options, generations, damage, expects = parse(text_.splitlines())
    if options[:1] == [["classic"]]:
        data, places = assemble_classic(options[1:])
        return data, places, expects
    # The value of an override may be a position. The first pass finds these positions.
    known, stamps = {}, {}
    by_place = [s[2] for g in generations for s in g.sets] + [
        p[1] for g in generations for p in g.pokes
    ]
    by_place = any(isinstance(value, tuple) for value in by_place)
    while True:
        a = Assembler()
        a.stamps = stamps
        for words in options:
            if words[0] == "beside":
                continue
            if words[0] == "dictionary":
                a.dictionary = (a.dictionary or b"") + encode_bytes(words[1:])
            else:
                key = " ".join(words[:-1])
                if key not in a.options:
                    raise VectorError(f"unknown option {key!r}")
                a.options[key] = int(words[-1], 0)
        if a.dictionary is not None:
            a.options["codec"] = 2
        for g in generations:
            at = (
                lambda value, base=None: value
                if not isinstance(value, tuple)
                else (resolve(known, value[1], 0) - (known[base] if base else 0) if known else 0)
            )
            a.sets = [(target, field, at(value), keep) for target, field, value, keep in g.sets]
            a.pokes = [
                (target, at(offset, target), data, keep) for target, offset, data, keep in g.pokes
            ]
            a.column_changes = g.columns
            fresh = [b for _, b in g.blocks]
            for builder in fresh:
                if "body" not in builder.spec:
                    builder.finish(a)
            a.commit(g)
        if a.found_stamps == {g: stamps.get(g, 0) for g in a.found_stamps} and (known or not by_place):
            break
        known, stamps = a.places, a.found_stamps
    data = bytearray(a.data)
    for line in damage:
        apply_damage(data, a.places, line)
    return bytes(data), a.places, expects


def beside(text_):
    """Returns {name: bytes} of the other files that the text of a vector describes."""
    out = {}
    for words in parse(text_.splitlines())[0]:
        if words[0] == "beside":
            out[words[1]] = out.get(words[1], b"") + encode_bytes(words[2:])
    return out


def write_beside(text_, folder):
    for name, data in beside(text_).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)


def apply_damage(data, places, line):
    word, _, rest = line.partition(" ")
    if word == "flip":
        where, _, bit = rest.rpartition(" bit ")
        data[resolve(places, where, len(data))] ^= 1 << int(bit)
    elif word == "write":
        where, hexword, tail = re.match(r"(.*?) (hex|zero) (.*)$", rest).groups()
        at, new = resolve(places, where, len(data)), encode_bytes(tokens(f"{hexword} {tail}"))
        data[at : at + len(new)] = new
    elif word == "cut":
        del data[resolve(places, rest, len(data)) :]
    elif word == "append":
        data += encode_bytes(tokens(rest))


def assemble_classic(lines):
    """Assembles a classic file from statements `header` and `bytes`. `mark NAME` names a place."""
    out, places = b"", {}
    for words in lines:
        if words[0] == "mark":
            places[" ".join(words[1:])] = len(out)
        elif words[0] in ("header", "bytes"):
            out += encode_bytes(words[1:])
        else:
            raise VectorError(f"classic file: unknown word {words[0]!r}")
    return out, places


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as stream:
        text_ = stream.read()
    data, _, _ = assemble(text_)
    write_beside(text_, os.path.dirname(arguments[1]))
    with open(arguments[1], "wb") as stream:
        stream.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
