"""Makes the HDF5 view of a file that nmb_reference.py has read, in the order of hdf5_view.md.

encode(file, position) makes the view. It shares no code with the library.
"""

import struct

import classic_reference as classic

HEADER_LENGTH = 64
NONE = 2**64 - 1
COMPACT, LEAF, NODE = 1024, 32, 64  # most links of a compact group, links of a leaf, children of a node
HEAP, HEAP_OBJECTS = 4096, 170
ALONE = "This is a netCDF dimension but not a netCDF variable. "
OWN_NAMES = {b"CLASS", b"NAME", b"DIMENSION_LIST", b"REFERENCE_LIST", b"_Netcdf4Dimid", b"_Netcdf4Coordinates"}


class NoView(Exception):
    """The blocks cannot have a view (section 7)."""


# --- lookup3 ---------------------------------------------------------------------------------------


def rotate(x, k):
    return (x << k | x >> 32 - k) & 0xFFFFFFFF


def lookup3(data):
    a = b = c = (0xDEADBEEF + len(data)) & 0xFFFFFFFF
    at = 0
    while len(data) - at > 12:
        x, y, z = struct.unpack_from("<3I", data, at)
        a, b, c = a + x & 0xFFFFFFFF, b + y & 0xFFFFFFFF, c + z & 0xFFFFFFFF
        for k, l, m in ((4, 6, 8), (16, 19, 4)):
            a, c = a - c & 0xFFFFFFFF ^ rotate(c, k), c + b & 0xFFFFFFFF
            b, a = b - a & 0xFFFFFFFF ^ rotate(a, l), a + c & 0xFFFFFFFF
            c, b = c - b & 0xFFFFFFFF ^ rotate(b, m), b + a & 0xFFFFFFFF
        at += 12
    if at == len(data):
        return c
    x, y, z = struct.unpack("<3I", data[at:].ljust(12, b"\0"))
    a, b, c = a + x & 0xFFFFFFFF, b + y & 0xFFFFFFFF, c + z & 0xFFFFFFFF
    for k, l, m in ((14, 11, 25), (16, 4, 14)):
        c = (c ^ b) - rotate(b, k) & 0xFFFFFFFF
        a = (a ^ c) - rotate(c, l) & 0xFFFFFFFF
        b = (b ^ a) - rotate(a, m) & 0xFFFFFFFF
    return (c ^ b) - rotate(b, 24) & 0xFFFFFFFF


def superblock(file_length, extension, root):
    head = b"\x89HDF\r\n\x1a\n" + bytes([2, 8, 8, 0]) + struct.pack("<4Q", 0, extension, file_length, root)
    return head + struct.pack("<I", lookup3(head))


# --- 2. Object headers -----------------------------------------------------------------------------


def message(type_, body, flags=0):
    if len(body) > 0xFFFF:
        raise NoView(f"a message of {len(body)} bytes")
    return struct.pack("<BHB", type_, len(body), flags) + body


def object_header(messages):
    body = b"".join(messages)
    head = b"OHDR" + bytes([2, 2]) + struct.pack("<I", len(body)) + body
    return head + struct.pack("<I", lookup3(head))


SCALAR, NULL = bytes([2, 0, 0, 0]), bytes([2, 0, 0, 2])


def simple(lengths, grows=False):
    out = bytes([2, len(lengths), int(grows), 1]) + struct.pack(f"<{len(lengths)}Q", *lengths)
    return out + (struct.pack(f"<{len(lengths)}Q", NONE, *lengths[1:]) if grows else b"")


def datatype(class_, bits, size, properties=b""):
    return bytes([0x10 | class_, bits & 255, bits >> 8, 0]) + struct.pack("<I", size) + properties


def string(length):
    return datatype(3, 0, length)


def integer(size, signed, big):
    return datatype(0, int(big) | (8 if signed else 0), size, struct.pack("<2H", 0, 8 * size))


TYPES = {
    1: integer(1, True, False),
    2: string(1),
    3: integer(2, True, True),
    4: integer(4, True, True),
    5: datatype(1, 0x21 | 31 << 8, 4, struct.pack("<2H4BI", 0, 32, 23, 8, 0, 23, 127)),
    6: datatype(1, 0x21 | 63 << 8, 8, struct.pack("<2H4BI", 0, 64, 52, 11, 0, 52, 1023)),
    7: integer(1, False, False),
    8: integer(2, False, True),
    9: integer(4, False, True),
    10: integer(8, True, True),
    11: integer(8, False, True),
}
INT32 = integer(4, True, False)
REFERENCES = datatype(9, 0, 16, datatype(7, 0, 8))


def is_utf8(name):
    if max(name, default=0) < 128:
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- 5. Attributes ---------------------------------------------------------------------------------


def attribute(name, type_, space, data):
    head = struct.pack("<2B3HB", 3, 0, (len(name) + 1) % 65536, len(type_), len(space), int(is_utf8(name)))
    return message(0x0C, head + name + b"\0" + type_ + space + data)


def own_attributes(attributes, of_variable):
    out = []
    for a in attributes:
        if not a.name or b"\0" in a.name or len(a.name) > 255 or of_variable and a.name in OWN_NAMES:
            raise NoView(f"attribute {a.name[:80]!r}")
        if a.type == 2:
            out.append(attribute(a.name, string(max(len(a.raw), 1)), SCALAR if a.raw else NULL, bytes(a.raw)))
        else:
            out.append(attribute(a.name, TYPES[a.type], simple([a.count]) if a.count else NULL, bytes(a.raw)))
    return b"".join(out)


class View:
    def __init__(self, file, position):
        self.file, self.start, self.data = file, position, bytearray()
        sb = file.superblock
        records = min(sb["records"] // sb["blocks"], 64) if sb["blocks"] else 0
        self.chunk_rank = 2
        while self.chunk_rank < 32 and self.chunk_rank * 2 <= records:
            self.chunk_rank *= 2
        self.next_dimension = 0
        self.scales = [0] * sum(len(c.dimensions) for _, _, c in file.blocks)
        self.make()

    # --- 1. Order ----------------------------------------------------------------------------------

    def append(self, structure):
        """Appends a structure and returns its address."""
        at = self.here()
        self.data += structure + bytes(-len(structure) % 8)
        return at

    def here(self):
        return self.start + len(self.data)

    def make(self):
        sb = self.file.superblock
        head = b"\x89NMBVIEW" + struct.pack("<2HI", 1, HEADER_LENGTH, 0) + self.file.file_id.to_bytes(16, "little")
        self.append(head + struct.pack("<2Q", self.start, sb["generation"]) + bytes(16))
        ranks = struct.pack("<B3H", 0, self.chunk_rank, NODE // 2, LEAF // 2)
        self.extension = self.append(object_header([message(0x13, ranks), message(0xE0, b"NMB1", 8)]))
        self.heaps = len(self.data)
        self.data += bytes((len(self.scales) + HEAP_OBJECTS - 1) // HEAP_OBJECTS * HEAP)
        groups = {b"": ([], b"")}  # groups that are not complete, by name: (links, messages of attributes)
        for entry, _, c in self.file.blocks:
            for name in sorted((g for g in groups if g and entry.name >= g + b"0"), key=len, reverse=True):
                self.complete(groups, name)
            parts = entry.name.split(b"/") if entry.name else []
            if len(parts) > 256:
                raise NoView("a path of more than 256 groups")
            for i in range(len(parts)):
                groups.setdefault(b"/".join(parts[: i + 1]), ([], b""))
            links = groups[entry.name][0]
            self.block(entry, c, links)
            groups[entry.name] = (links, own_attributes(c.attributes, False))
        for name in sorted((g for g in groups if g), key=len, reverse=True):
            self.complete(groups, name)
        self.root = self.group(*groups[b""])
        self.fill_heaps()

    def complete(self, groups, name):
        address = self.group(*groups.pop(name))
        above, _, own = name.rpartition(b"/")
        groups[above][0].append((own, address))

    # --- 3. Groups ---------------------------------------------------------------------------------

    def group(self, links, attributes):
        names = [name for name, _ in links]
        for name in names:
            if name in (b"", b".") or b"/" in name or b"\0" in name or len(name) > 255:
                raise NoView(f"name {name[:80]!r}")
        if len(set(names)) < len(names):
            raise NoView("two objects of one name")
        messages = []
        if len(links) <= COMPACT:
            messages.append(message(0x02, struct.pack("<2B3Q", 0, 1, len(links), NONE, NONE)))
            messages.append(message(0x0A, bytes(2)))
            for i, (name, address) in enumerate(links):
                utf8 = is_utf8(name)
                body = struct.pack("<2BQ", 1, 4 | (16 if utf8 else 0), i) + (b"\1" if utf8 else b"")
                body += struct.pack("<B", len(name)) + name + struct.pack("<Q", address)
                messages.append(message(0x06, body))
        else:
            names, tree = self.symbols(sorted(links))
            messages.append(message(0x11, struct.pack("<2Q", tree, names)))
        return self.append(object_header(messages + [attributes]))

    def symbols(self, links):
        heap, offsets = bytearray(8), []
        for name, _ in links:
            offsets.append(len(heap))
            heap += name + bytes(8 - len(name) % 8)
        names = self.append(b"HEAP" + struct.pack("<I3Q", 0, len(heap), 1, self.here() + 32) + heap)
        children = []
        for i in range(0, len(links), LEAF):
            part = list(zip(offsets, links))[i : i + LEAF]
            leaf = b"SNOD" + struct.pack("<BBH", 1, 0, len(part))
            for offset, (_, address) in part:
                leaf += struct.pack("<2Q", offset, address) + bytes(24)
            children.append((offsets[i - 1] if i else 0, self.append(leaf.ljust(8 + 40 * LEAF, b"\0"))))
        return names, self.tree(0, children, offsets[-1], NODE, lambda key, last: struct.pack("<Q", key))

    # --- 6. Trees ----------------------------------------------------------------------------------

    def tree(self, type_, children, last_key, room, key_bytes):
        length = 24 + (room + 1) * len(key_bytes(0, False)) + room * 8
        step, level = (length + 7) // 8 * 8, 0
        while True:
            nodes = []
            for i in range(0, len(children), room):
                part, last = children[i : i + room], i + room >= len(children)
                own = self.here()
                node = b"TREE" + struct.pack("<2BH", type_, level, len(part))
                node += struct.pack("<2Q", own - step if i else NONE, NONE if last else own + step)
                for key, address in part:
                    node += key_bytes(key, False) + struct.pack("<Q", address)
                node += key_bytes(last_key if last else children[i + room][0], last)
                nodes.append((part[0][0], self.append(node.ljust(length, b"\0"))))
            if len(nodes) == 1:
                return nodes[0][1]
            children, level = nodes, level + 1

    # --- 4. Dimensions and variables ---------------------------------------------------------------

    def block(self, entry, c, links):
        if c.kind == 6:
            raise NoView("a block of kind 6")
        if any(p.codec or getattr(p, "file_number", 0) for p in entry.pieces):
            raise NoView("coded pieces, or pieces in other files")
        runs = runs_of(entry.pieces)
        lengths = [entry["records"] if d.is_record else d.length for d in c.dimensions]
        by_name = {d.name: i for i, d in enumerate(c.dimensions)}
        own = [by_name.get(v.name) for v in c.variables]
        coordinates = {d for d, v in zip(own, c.variables) if d is not None and v.dimensions[:1] == [d]}
        first = self.next_dimension
        self.next_dimension += len(c.dimensions)
        for i, d in enumerate(c.dimensions):
            if i not in coordinates:
                links.append((d.name, self.dimension(d.is_record, lengths[i], first + i)))
        for v, d in zip(c.variables, own):
            is_scale = d is not None and v.dimensions[:1] == [d]
            name = v.name if d is None or is_scale else b"_nc4_non_coord_" + v.name
            address = self.variable(entry, c, v, runs, lengths, first, d if is_scale else None)
            links.append((name, address))

    def scale(self, name, number):
        return [
            attribute(b"CLASS", string(16), SCALAR, b"DIMENSION_SCALE\0"),
            attribute(b"NAME", string(len(name) + 1), SCALAR, name + b"\0"),
            attribute(b"_Netcdf4Dimid", INT32, SCALAR, struct.pack("<I", number)),
        ]

    def dimension(self, grows, length, number):
        if length > 2**60:
            raise NoView(f"a dimension of length {length}")
        layout = struct.pack("<3BQ2I", 3, 2, 2, NONE, 1, 4) if grows else struct.pack("<2B2Q", 3, 1, NONE, 4 * length)
        self.scales[number] = self.append(object_header([
            message(0x01, simple([length], grows)),
            message(0x03, TYPES[5], 1),
            message(0x05, bytes([3, 11 if grows else 10])),
            message(0x08, layout),
            *self.scale((ALONE + f"{length:10}").encode(), number),
        ]))
        return self.scales[number]

    def variable(self, entry, c, v, runs, lengths, first, dimension):
        from nmb_reference import fill_of

        if len(v.dimensions) > 31:
            raise NoView(f"{len(v.dimensions)} dimensions")
        shape = [lengths[d] for d in v.dimensions]
        fill = fill_of(c, v)
        if v.is_record:
            layout = self.chunks(entry, c, v, runs, shape)
        else:
            at = find(runs, v.begin - c.base, v.slice_bytes) if v.slice_bytes else 0
            layout = struct.pack("<2B2Q", 3, 1, at or NONE, v.slice_bytes)
        messages = [
            message(0x01, simple(shape, v.is_record) if shape else SCALAR),
            message(0x03, TYPES[v.type], 1),
            message(0x05, struct.pack("<2BI", 3, 43 if v.is_record else 42, len(fill)) + fill),
            message(0x08, layout),
        ]
        rank = len(shape)
        if dimension is not None:
            messages += self.scale(v.name, first + dimension)
        if rank > 1 or rank and dimension is None:
            numbers = [first + d for d in v.dimensions]
            messages.append(attribute(b"_Netcdf4Coordinates", INT32, simple([rank]), struct.pack(f"<{rank}I", *numbers)))
            if dimension is None:
                places = b"".join(
                    struct.pack("<IQI", 1, self.start + self.heaps + n // HEAP_OBJECTS * HEAP, n % HEAP_OBJECTS + 1)
                    for n in numbers
                )
                messages.append(attribute(b"DIMENSION_LIST", REFERENCES, simple([rank]), places))
        messages.append(own_attributes(v.attributes, True))
        address = self.append(object_header(messages))
        if dimension is not None:
            self.scales[first + dimension] = address
        return address

    def chunks(self, entry, c, v, runs, shape):
        if v.slice_bytes >= 2**32:
            raise NoView(f"records of {v.slice_bytes} bytes")
        children = []
        for record in range(entry["records"] if v.slice_bytes else 0):
            at = find(runs, v.begin - c.base + record * c.record_size, v.slice_bytes)
            if at:
                children.append((record, at))
        if len(children) > 2**24:
            raise NoView("more than 2^24 records")

        def key_bytes(record, last):
            return struct.pack("<2IQ", 0 if last else v.slice_bytes, 0, record) + bytes(8 * len(shape))

        tree = self.tree(1, children, children[-1][0] + 1, 2 * self.chunk_rank, key_bytes) if children else NONE
        return struct.pack(f"<3BQ{len(shape) + 1}I", 3, 2, len(shape) + 1, tree, 1, *shape[1:], classic.SIZES[v.type])

    def fill_heaps(self):
        for i in range(0, len(self.scales), HEAP_OBJECTS):
            heap = b"GCOL" + struct.pack("<IQ", 1, HEAP)
            for k, address in enumerate(self.scales[i : i + HEAP_OBJECTS]):
                heap += struct.pack("<2HI2Q", k + 1, 0, 0, 8, address)
            if len(heap) < HEAP:
                heap += struct.pack("<2Q", 0, HEAP - len(heap))
            at = self.heaps + i // HEAP_OBJECTS * HEAP
            self.data[at : at + HEAP] = heap.ljust(HEAP, b"\0")


def runs_of(pieces):
    """Returns [begin, end, position] of each run that is contiguous in extent and file.

    Position 0 means that the run is not stored.
    """
    runs = []
    for p in pieces:
        if runs and p.position == (runs[-1][2] and runs[-1][2] + p.logical - runs[-1][0]):
            runs[-1][1] = p.logical + p.raw
        else:
            runs.append([p.logical, p.logical + p.raw, p.position])
    return runs


def find(runs, start, length):
    """Returns the position of these bytes of an extent in the file, or 0 if none of them is stored."""
    for begin, end, position in runs:
        if begin <= start < end:
            if start + length > end:
                raise NoView("values of which a part is stored, or in several places")
            return position and position + start - begin
    raise NoView("values that the extent lacks")


def encode(file, position):
    """Returns (bytes of the view, the HDF5 superblock) for a file that was read without findings."""
    view = View(file, position)
    return bytes(view.data), superblock(file.superblock["file length"], view.extension, view.root)
