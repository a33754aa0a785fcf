"""Encodes bodies of kind 6 and their extents from the lines of a block (extended.md, section 15).

assemble.py reads the lines. This module and assemble.py are written only from the specification, not from the library.
"""

import struct

HEAP, CHUNKS, NONE = 1, 2, 3
CLASSES = "integer float time string bitfield opaque compound reference enum sequence array".split()
SECTION_FLAGS = {2: 3, 3: 3, 4: 2, 5: 3}
ALL_BITS = 2**32 - 1


def up(n, unit=8):
    return -(-n // unit) * unit


def padded(data, unit=8):
    return data + bytes(-len(data) % unit)


def text(raw):
    return struct.pack("<I", len(raw)) + raw


class Attribute:
    def __init__(self, name, type_, count, raw):
        self.name, self.type, self.count, self.raw = name, type_, count, raw


class Variable:
    def __init__(self, name, type_, dimensions):
        self.name, self.type, self.dimensions, self.attributes = name, type_, dimensions, []
        self.array, self.heap = b"", b""
        self.kind, self.chunk, self.filters, self.chunks = None, [], [], []

    def is_dimension_only(self):
        texts = {a.name: a.raw for a in self.attributes}
        is_scale = texts.get(b"CLASS") == b"DIMENSION_SCALE"
        return is_scale and texts.get(b"NAME", b"").startswith(b"This is a netCDF dimension but not")

    def region(self):
        """Returns the bytes of the variable from its begin; for a record variable, the bytes of all records."""
        if self.kind != CHUNKS:
            return self.array + self.heap
        at, rows, data = 24 * len(self.chunks), b"", b""
        for mask, stored in self.chunks:
            rows += struct.pack("<QQII", at + len(data) if stored else 0, len(stored), mask, 0)
            data += padded(stored)
        return rows + data


class ExtendedBlock:
    """A block of kind 6. Names and values are bytes, and types are codes."""

    def __init__(self):
        self.dims, self.attributes, self.variables = [], [], []
        self.types, self.properties, self.sections = [], [], {}
        self.behind = b""  # bytes after the last section
        self.places = {}  # offsets in the body, by name

    # Lines

    def add_dimension(self, name, length, grows):
        """Adds a dimension. The record dimension has the length None."""
        self.dims.append((name, length, grows or length is None))

    def add_attribute(self, *attribute):
        owner = self.variables[-1] if self.variables else self
        owner.attributes.append(Attribute(*attribute))

    def add_type(self, class_, size, name, payload):
        payload = (padded(text(name)) if name else b"") + payload
        head = struct.pack("<HHIQ", CLASSES.index(class_), bool(name), len(payload), size)
        self.types.append(padded(head + payload))

    def add_property(self, number, owner, attribute, payload):
        head = struct.pack("<HHIII", number, 0, owner, attribute, len(payload))
        self.properties.append(padded(head + payload))

    def add_filter(self, id_, flags, name, parameters):
        head = struct.pack("<III", id_, flags, len(parameters)) + text(name)
        self.variables[-1].filters.append(
            padded(head + struct.pack(f"<{len(parameters)}I", *parameters))
        )

    # Encoding

    def is_record(self, variable):
        ids = self.ids(variable)
        return bool(ids) and self.dims[ids[0]][1] is None

    def ids(self, variable):
        names = [name for name, _, _ in self.dims]
        return [names.index(d) for d in variable.dimensions]

    def record_count(self, records):
        """Returns the number of records in the entry."""
        if any(length is None for _, length, _ in self.dims):
            return records
        return next((length for _, length, grows in self.dims if grows), 0)

    def counts(self):
        attributes = len(self.attributes) + sum(len(v.attributes) for v in self.variables)
        return {
            "dimensions": len(self.dims),
            "variables": sum(not v.is_dimension_only() for v in self.variables),
            "attributes": attributes,
        }

    def encode(self, records):
        """Returns body and extent. The extent has the regions in order, at multiples of 8, then the records."""
        begins, slices, extent = {}, {}, b""
        recorded = [v for v in self.variables if self.is_record(v)]
        for v in self.variables:
            if v not in recorded:
                extent = padded(extent)
                begins[v], slices[v] = len(extent), len(v.region())
                extent += v.region()
        extent = padded(extent) if recorded else extent
        record_size = 0
        for v in recorded:
            slices[v] = len(v.region()) // records if records else 0
            begins[v] = len(extent) + record_size
            record_size += slices[v] if len(recorded) == 1 else up(slices[v], 4)
        for r in range(records if recorded else 0):
            for v in recorded:
                part = v.region()[r * slices[v] : (r + 1) * slices[v]]
                extent += part if len(recorded) == 1 else padded(part, 4)
        return self.body(records, begins, slices), extent

    def body(self, records, begins, slices):
        out = bytearray(b"CDF\6" + struct.pack(">QQ", records, 0))
        self.places["header_length"] = 12

        def mark(name):
            self.places[name] = len(out)

        def put(value, code="Q"):
            out.extend(struct.pack(">" + code, value))

        def name(raw):
            put(len(raw))
            out.extend(padded(raw, 4))

        def head(tag, items):
            put(tag if items else 0, "I")
            put(len(items))

        def attributes(items):
            head(12, items)
            for a in items:
                name(a.name)
                put(a.type, "I")
                put(a.count)
                if a.type >= 256:
                    mark(f"length of attribute {a.name.decode()}")
                    put(len(a.raw))
                out.extend(padded(a.raw, 4))

        head(10, self.dims)
        for number, (dim_name, length, _) in enumerate(self.dims):
            name(dim_name)
            mark(f"length of dimension {number}")
            put(length or 0)
        attributes(self.attributes)
        head(11, self.variables)
        for number, v in enumerate(self.variables):
            name(v.name)
            put(len(v.dimensions))
            for id_ in self.ids(v):
                put(id_)
            attributes(v.attributes)
            mark(f"type of variable {number}")
            put(v.type, "I")
            mark(f"vsize of variable {number}")
            put(up(slices[v], 4))
            mark(f"begin of variable {number}")
            put(begins[v])
        struct.pack_into(">Q", out, 12, len(out))
        mark("padding of the header")
        out.extend(bytes(-len(out) % 8))
        for type_, (flags, items) in sorted(self.all_sections().items()):
            mark(f"section {type_}")
            length = sum(len(raw) for _, raw in items)
            out.extend(struct.pack("<HHHHQ", type_, flags, 1, 0, length))
            for what, raw in items:
                mark(what)
                out.extend(raw)
            out.extend(bytes(-len(out) % 8))
        mark("end")
        return bytes(out) + self.behind

    def all_sections(self):
        """Returns all sections of the body as {type: (flags, [(place, bytes)])}."""
        growing = [
            (f"dimension {n}", struct.pack("<II", n, length is None))
            for n, (_, length, grows) in enumerate(self.dims)
            if grows
        ]
        storage = [
            (f"storage {n}", self.storage(n, v))
            for n, v in enumerate(self.variables)
            if v.kind is not None
        ]
        types = [(f"type {n}", raw) for n, raw in enumerate(self.types)]
        properties = [(f"property {n}", raw) for n, raw in enumerate(self.properties)]
        known = {2: types, 3: growing, 4: properties, 5: storage}
        out = {t: (SECTION_FLAGS[t], items) for t, items in known.items() if items}
        for type_, (flags, raw) in self.sections.items():
            out[type_] = (flags, [(f"payload of section {type_}", raw)])
        return out

    def storage(self, number, v):
        out = struct.pack("<IHHQ", number, v.kind, len(v.chunk), len(v.region()))
        out += struct.pack(f"<{len(v.chunk)}Q", *v.chunk)
        if v.kind == CHUNKS:
            out += struct.pack("<Q", len(v.filters)) + b"".join(v.filters)
        return out
