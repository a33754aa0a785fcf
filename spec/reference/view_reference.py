"""Makes the HDF5 view of a file that nmb_reference.py has read, in the order of hdf5_view.md.

encode(file, position) makes the view. This module shares no code with the library.
"""

import struct

import classic_reference as classic
import extended_view_reference as extended_view
import xxhash
from extended_view_reference import Known, Numbers

HEADER_LENGTH = 64
NO_DIMENSIONS, COPIES = 1, 2  # flags
DEFLATE = 3  # codec of a piece
FILTERS = struct.pack("<2B3HI", 2, 1, 1, 1, 1, 6)  # a pipeline of one filter, deflate
NONE = 2**64 - 1
COMPACT, LEAF, NODE = 1024, 32, 64  # most links of a compact group, links of a leaf, children of a node
ORDERED = 16384  # most links of a compact group if a symbol table cannot hold its links as they are
HEAP, HEAP_OBJECTS = 4096, 170
ALONE = "This is a netCDF dimension but not a netCDF variable. "
OWN_NAMES = {b"CLASS", b"NAME", b"DIMENSION_LIST", b"REFERENCE_LIST", b"_Netcdf4Dimid", b"_Netcdf4Coordinates"}


class NoView(Exception):
    """The blocks cannot have a view (section 12.7)."""


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


# --- 12.2 Object headers ---------------------------------------------------------------------------


def message(type_, body, flags=0, order=None):
    if len(body) > 0xFFFF:
        raise NoView(f"a message of {len(body)} bytes")
    return struct.pack("<BHB", type_, len(body), flags) + (b"" if order is None else struct.pack("<H", order)) + body


def object_header(messages, attribute_order=0):
    body = b"".join(messages)
    head = b"OHDR" + bytes([2, 2 | attribute_order << 2]) + struct.pack("<I", len(body)) + body
    return head + struct.pack("<I", lookup3(head))


SCALAR, NULL = bytes([2, 0, 0, 0]), bytes([2, 0, 0, 2])


def simple(lengths, grows=False):
    return simple_of(lengths, [NONE, *lengths[1:]] if grows else lengths)


def simple_of(lengths, maximum):
    grows = list(lengths) != list(maximum)
    out = bytes([2, len(lengths), int(grows), 1]) + struct.pack(f"<{len(lengths)}Q", *lengths)
    return out + (struct.pack(f"<{len(lengths)}Q", *maximum) if grows else b"")


def datatype(class_, bits, size, properties=b"", version=1):
    return bytes([version << 4 | class_, bits & 255, bits >> 8, 0]) + struct.pack("<I", size) + properties


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


# --- 12.5 Attributes -------------------------------------------------------------------------------


def attribute_body(name, type_, space, data):
    head = struct.pack("<2B3HB", 3, 0, (len(name) + 1) % 65536, len(type_), len(space), int(is_utf8(name)))
    return head + name + b"\0" + type_ + space + data


def attribute(name, type_, space, data):
    return message(0x0C, attribute_body(name, type_, space, data))


# HDF5 counts the attributes of an object only if the object has this message.
ATTRIBUTE_INFO = message(0x15, struct.pack("<2B2Q", 0, 0, NONE, NONE))


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


class Group:
    """A group that is not complete."""

    def __init__(self, name):
        self.name, self.links, self.messages, self.extended = name, [], b"", False
        self.link_order, self.attribute_order, self.order = 1, 0, {}
        self.source, self.numbers, self.above = None, set(), []  # above: groups of blocks of kind 6, nearest first
        self.dimensions = {}  # those that a classic dataset defines itself, by name

    def add(self, name, address, characters=None, kind=0, content=b""):
        self.links.append((name, address, is_utf8(name) if characters is None else bool(characters), kind, content))


class View:
    def __init__(self, file, position, flags, before):
        self.flags, self.copies = flags, bool(flags & COPIES)
        self.file, self.start, self.data = file, position, bytearray()
        self.before, self.now, self.heaps_of_attributes = before, Known(before.earlier), bytearray()
        sb = file.superblock
        records = min(sb["records"] // sb["blocks"], 64) if sb["blocks"] else 0
        self.chunk_rank = 2
        while self.chunk_rank < 32 and self.chunk_rank * 2 <= records:
            self.chunk_rank *= 2
        if before:
            self.chunk_rank = before.chunk_rank or self.chunk_rank
        self.next_dimension = 0
        with_scales = not flags & NO_DIMENSIONS
        self.scales = []  # the addresses of the data sets of dimensions
        self.scale_count = sum(len(c.dimensions) for _, _, c in file.blocks if c.kind != 6 and with_scales)
        self.scale_count += before.extended_dimensions
        self.make()

    # --- 12.1 Order --------------------------------------------------------------------------------

    def append(self, structure):
        """Appends a structure and returns its address."""
        at = self.here()
        self.data += structure + bytes(-len(structure) % 8)
        return at

    def here(self):
        return self.start + len(self.data)

    def make(self):
        sb = self.file.superblock
        head = b"\x89NMBVIEW" + struct.pack("<2HI", 1, HEADER_LENGTH, self.flags) + self.file.file_id.to_bytes(16, "little")
        numbers = self.before.first_numbers
        table = numbers.table()
        head += struct.pack("<2Q2I", self.start, sb["generation"], numbers.next, len(numbers.rows))
        self.append(head + struct.pack("<Q", xxhash.xxh3_64_intdigest(table) if table else 0))
        ranks = struct.pack("<B3H", 0, self.chunk_rank, NODE // 2, LEAF // 2)
        self.extension = self.append(object_header([message(0x13, ranks), message(0xE0, b"NMB1", 8)]))
        self.heaps = len(self.data)
        self.data += bytes((self.scale_count + HEAP_OBJECTS - 1) // HEAP_OBJECTS * HEAP)
        groups = self.groups = {b"": Group(b"")}  # groups that are not complete, by name
        for entry, _, c in self.file.blocks:
            for name in sorted((g for g in groups if g and entry.name >= g + b"0"), key=len, reverse=True):
                self.complete(groups, name)
            parts = entry.name.split(b"/") if entry.name else []
            if len(parts) > 256:
                raise NoView("a path of more than 256 groups")
            for i in range(len(parts)):
                groups.setdefault(b"/".join(parts[: i + 1]), Group(b"/".join(parts[: i + 1])))
            group = groups[entry.name]
            if c.kind == 6 and extended_view.is_classic_dataset(c):
                extended_view.ClassicDataset(self, entry, c, group)
            elif c.kind == 6:
                is_above = lambda name: not name or entry.name.startswith(name + b"/")
                above = [g for name, g in groups.items() if g.extended and name != entry.name and is_above(name)]
                above = [g for g in above if g.created < entry["order"]]
                group.above = sorted(above, key=lambda g: len(g.name), reverse=True)
                extended_view.Block(self, entry, c, group)
            else:
                self.block(entry, c, group)
                group.messages = (ATTRIBUTE_INFO if c.attributes else b"") + own_attributes(c.attributes, False)
        for name in sorted((g for g in groups if g), key=len, reverse=True):
            self.complete(groups, name)
        self.root = self.group(groups[b""])
        self.fill_heaps()
        self.now.settle(self.here())
        extended_view.close_heap(self)
        self.data += self.heaps_of_attributes + table

    def complete(self, groups, name):
        address = self.group(groups.pop(name))
        above, _, own = name.rpartition(b"/")
        groups[above].add(own, address)

    # --- 12.3 Groups -------------------------------------------------------------------------------

    def group(self, group):
        links, tracked = group.links, group.link_order & 1
        if group.extended:
            links.sort(key=lambda link: group.order.get(link[0], (len(group.order),))[0])
            links = [link[:2] + (group.order.get(link[0], (0, link[2]))[1],) + link[3:] for link in links]
            if len(links) > ORDERED:
                links = [link for link in links if link[3] == 0]
        names = [link[0] for link in links]
        for name in names:
            if name in (b"", b".") or b"/" in name or b"\0" in name or len(name) > (32767 if group.extended else 255):
                raise NoView(f"name {name[:80]!r}")
        if len(set(names)) < len(names):
            raise NoView("two objects of one name")
        messages, order = [], 0 if group.attribute_order & 1 else None
        only_messages = group.extended and (tracked or any(link[3] for link in links))
        if len(links) <= (ORDERED if only_messages else COMPACT):
            info = struct.pack("<2B", 0, group.link_order) + (struct.pack("<Q", len(links)) if tracked else b"")
            info += struct.pack("<Q", NONE) * (3 if group.link_order & 2 else 2)
            messages += [message(0x02, info, order=order), message(0x0A, bytes(2), order=order)]
            for i, (name, address, utf8, kind, content) in enumerate(links):
                long = len(name) > 255
                flags = (1 if long else 0) | (4 if tracked else 0) | (8 if kind else 0) | (16 if utf8 else 0)
                body = bytes([1, flags]) + (bytes([kind]) if kind else b"")
                body += (struct.pack("<Q", i) if tracked else b"") + (b"\1" if utf8 else b"")
                body += struct.pack("<H" if long else "<B", len(name)) + name
                body += struct.pack("<H", len(content)) + content if kind else struct.pack("<Q", address)
                messages.append(message(0x06, body, order=order))
        else:
            names, tree = self.symbols(sorted(link[:2] for link in links))
            messages.append(message(0x11, struct.pack("<2Q", tree, names), order=order))
        address = self.append(object_header(messages + [group.messages], group.attribute_order))
        self.now.addresses[group.name] = address
        return address

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

    # --- 12.6 Trees --------------------------------------------------------------------------------

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

    # --- 12.4 Dimensions and variables -------------------------------------------------------------

    def block(self, entry, c, group):
        runs = runs_of(entry.pieces, self.file)
        lengths = [entry["records"] if d.is_record else d.length for d in c.dimensions]
        dimensions = [] if self.flags & NO_DIMENSIONS else c.dimensions
        by_name = {d.name: i for i, d in enumerate(dimensions)}
        own = [by_name.get(v.name) for v in c.variables]
        shown = [self.is_shown(entry, c, v, runs, lengths) for v in c.variables]
        coordinates = {d for d, v, s in zip(own, c.variables, shown) if s and d is not None and v.dimensions[:1] == [d]}
        self.first = self.next_dimension
        self.next_dimension += len(dimensions)
        self.scales += [0] * len(dimensions)
        source = self.now.add_source(entry["order"])
        self.now.sources[source].length += len(dimensions)
        self.first_number = self.before.first(source)
        for i, d in enumerate(dimensions):
            if i not in coordinates:
                group.add(d.name, self.dimension(d.is_record, lengths[i], i))
        for v, d, s in zip(c.variables, own, shown):
            if not s:
                continue
            is_scale = d is not None and v.dimensions[:1] == [d]
            name = v.name if d is None or is_scale else b"_nc4_non_coord_" + v.name
            group.add(name, self.variable(entry, c, v, runs, lengths, d if is_scale else None))
        for link in group.links:
            self.now.addresses[b"/".join(p for p in (entry.name, link[0]) if p)] = link[1]
        group.dimensions = {
            d.name: extended_view.Dimension(lengths[i], d.is_record, self.first_number + i, self.first + i)
            for i, d in enumerate(dimensions)
        }

    def scale(self, name, number):
        return [
            ATTRIBUTE_INFO,
            attribute(b"CLASS", string(16), SCALAR, b"DIMENSION_SCALE\0"),
            attribute(b"NAME", string(len(name) + 1), SCALAR, name + b"\0"),
            attribute(b"_Netcdf4Dimid", INT32, SCALAR, struct.pack("<I", number)),
        ]

    def dimension(self, grows, length, number):
        return self.append_scale(
            self.first + number, self.dimension_messages_of(grows, length, self.first_number + number)
        )

    def dimension_messages_of(self, grows, length, number):
        """The messages of the data set of a dimension without a coordinate variable."""
        if length > 2**60:
            raise NoView(f"a dimension of length {length}")
        layout = struct.pack("<3BQ2I", 3, 2, 2, NONE, 1, 4) if grows else struct.pack("<2B2Q", 3, 1, NONE, 4 * length)
        return [
            message(0x01, simple([length], grows)),
            message(0x03, TYPES[5], 1),
            message(0x05, bytes([3, 11 if grows else 10])),
            message(0x08, layout),
            *self.scale((ALONE + f"{length:10}").encode(), number),
        ]

    def append_scale(self, reference, messages):
        self.scales[reference] = self.append(object_header(messages))
        return self.scales[reference]

    def dimension_messages(self, v, dimension, numbers, first):
        """The messages that give the dimensions of a variable, and attribute info.

        dimension: the one whose coordinate variable it is. numbers: those of the block's dimensions, or []. first: the
        first object of the block in the heaps.
        """
        messages, rank = [], len(v.dimensions) if numbers else 0
        if dimension is None and (rank or v.attributes):
            messages.append(ATTRIBUTE_INFO)
        if dimension is not None:
            messages += self.scale(v.name, numbers[dimension])
        if rank > 1 or rank and dimension is None:
            used = struct.pack(f"<{rank}I", *(numbers[d] for d in v.dimensions))
            messages.append(attribute(b"_Netcdf4Coordinates", INT32, simple([rank]), used))
        if rank and dimension is None:
            places = b"".join(
                struct.pack("<IQI", 1, self.start + self.heaps + n // HEAP_OBJECTS * HEAP, n % HEAP_OBJECTS + 1)
                for n in (first + d for d in v.dimensions)
            )
            messages.append(attribute(b"DIMENSION_LIST", REFERENCES, simple([rank]), places))
        return messages

    def variable(self, entry, c, v, runs, lengths, dimension):
        from nmb_reference import fill_of

        if len(v.dimensions) > 31:
            raise NoView(f"{len(v.dimensions)} dimensions")
        shape = [lengths[d] for d in v.dimensions]
        fill = fill_of(c, v)
        piece = self.piece_length(entry, c, v, runs)
        if piece:
            layout = self.layout_of(*self.piece_chunks(entry, c, v, runs, shape, piece), v)
        elif v.is_record:
            layout = self.chunks(entry, c, v, runs, shape)
        else:
            at = find(runs, v.begin - c.base, v.slice_bytes) if v.slice_bytes else 0
            layout = struct.pack("<2B2Q", 3, 1, at or NONE, v.slice_bytes)
        messages = [
            message(0x01, simple(shape, v.is_record) if shape else SCALAR),
            message(0x03, TYPES[v.type], 1),
            message(0x05, struct.pack("<2BI", 3, 43 if v.is_record or piece else 42, len(fill)) + fill),
            message(0x08, layout),
            *([message(0x0B, FILTERS)] if piece else []),
        ]
        numbers = [] if self.flags & NO_DIMENSIONS else [self.first_number + d for d in range(len(c.dimensions))]
        messages += self.dimension_messages(v, dimension, numbers, self.first)
        messages.append(own_attributes(v.attributes, True))
        if dimension is not None:
            return self.append_scale(self.first + dimension, messages)
        return self.append(object_header(messages))

    def slices(self, entry, c, v):
        """Returns the offset in the extent of each record of a variable, or of the whole variable."""
        return [v.begin - c.base + i * c.record_size for i in range(entry["records"] if v.is_record else 1)]

    def piece_length(self, entry, c, v, runs):
        """Returns the length of the first coded piece of a variable, or 0."""
        if not v.slice_bytes or not any(run[3] for run in runs):
            return 0
        for start in self.slices(entry, c, v):
            for begin, end, _, codec, _ in runs:
                if codec and begin < start + v.slice_bytes and start < end:
                    return end - begin
        return 0

    def is_shown(self, entry, c, v, runs, lengths):
        piece = self.piece_length(entry, c, v, runs)
        if not any(run[3] for run in runs) or not v.slice_bytes:
            return True
        try:
            if piece:
                self.piece_chunks(entry, c, v, runs, [lengths[d] for d in v.dimensions], piece)
            else:
                for start in self.slices(entry, c, v):
                    find(runs, start, v.slice_bytes)
        except NoView:
            return False
        return True

    def piece_chunks(self, entry, c, v, runs, shape, piece):
        """(lengths of a chunk, numbers of chunks, [(number, position, stored length, mask)]) of coded pieces."""
        cut, size = None, classic.SIZES[v.type]
        for i in reversed(range(len(shape))):
            if size > piece:
                break
            if piece % size == 0 and piece // size <= shape[i] and shape[i] % (piece // size) == 0:
                cut, row = i, size
            size *= shape[i]
        if cut is None or v.is_record and cut == 0 and row != piece:
            raise NoView("pieces that are not chunks")
        lengths = [1] * cut + [piece // row] + list(shape[cut + 1 :])
        slices, in_slice = self.slices(entry, c, v), v.slice_bytes // piece
        if in_slice * len(slices) > 2**24:
            raise NoView("too many chunks")
        chunks = []
        for n in range(in_slice * len(slices)):
            at, stored, mask = find_chunk(runs, slices[n // in_slice] + n % in_slice * piece, piece)
            if at:
                chunks.append((n, at, stored, mask))
        return lengths, [n // k for n, k in zip(shape, lengths)], chunks

    def layout_of(self, lengths, counts, chunks, v):
        key_bytes = extended_view.chunk_keys(lengths, counts, chunks)
        children = [(i, chunk[1]) for i, chunk in enumerate(chunks)]
        tree = self.tree(1, children, len(chunks), 2 * self.chunk_rank, key_bytes) if chunks else NONE
        return struct.pack(f"<3BQ{len(lengths) + 1}I", 3, 2, len(lengths) + 1, tree, *lengths, classic.SIZES[v.type])

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


def runs_of(pieces, file):
    """Returns [begin, end, position, codec, stored length] of each run that is contiguous in extent and file.

    Position 0 means that the run is not stored. A coded piece is a run of its own.
    """
    runs = []
    for p in pieces:
        position = place_in_original(file, p) if getattr(p, "file_number", 0) else p.position
        if p.codec:
            runs.append([p.logical, p.logical + p.raw, position, p.codec, p.stored])
            continue
        last = runs[-1] if runs and not runs[-1][3] else None
        if last and last[1] == p.logical and position == (last[2] and last[2] + p.logical - last[0]):
            last[1] = p.logical + p.raw
        else:
            runs.append([p.logical, p.logical + p.raw, position, 0, 0])
    return runs


def place_in_original(file, piece):
    """Returns the position in the file of a piece that lies in an original."""
    original = file.files[piece.file_number - 1]
    if not original.is_original:
        raise NoView("a piece in another file")
    runs = runs_of([p for p in original.pieces if not p.codec], file)
    return find(runs, piece.position, piece.stored if piece.codec else piece.raw)


def find(runs, start, length):
    """Returns the position of these bytes of an extent in the file, or 0 if none of them is stored."""
    for begin, end, position, codec, _ in runs:
        if codec and begin < start + length and start < end:
            raise NoView("compressed values")
        if begin <= start < end:
            if start + length > end:
                raise NoView("values of which a part is stored, or in several places")
            return position and position + start - begin
    raise NoView("values that the extent lacks")


def find_chunk(runs, start, length):
    """Returns (position, stored length, mask) of a chunk."""
    for begin, end, position, codec, stored in runs:
        if codec and begin <= start < end:
            if (begin, end) != (start, start + length) or codec != DEFLATE:
                raise NoView("a piece that is not a chunk")
            return position, stored, 0
    return find(runs, start, length), length, 1


def encode(file, position, flags, numbers=None):
    """Returns (bytes of the view, the HDF5 superblock) for a file that was read without findings.

    numbers: the Numbers of the earlier view or, to check a view, its own.
    """
    before = Known(numbers)
    if any(c.kind == 6 for _, _, c in file.blocks):
        now = None
        while now is None or now.sizes() != before.sizes():
            before = now or before
            now = View(file, position, flags, before).now
        before = now
    else:
        before.chunk_rank = None
        for entry, _, c in file.blocks:
            before.add_source(entry["order"])
            before.sources[-1].length = 0 if flags & NO_DIMENSIONS else len(c.dimensions)
        before.number_sources()
    if before.first_numbers.next > 2**31 - 1 or any(order >= 2**32 for order in before.first_numbers.rows):
        raise NoView("too many dimensions or blocks")
    view = View(file, position, flags, before)
    return bytes(view.data), superblock(file.superblock["file length"], view.extension, view.root)
