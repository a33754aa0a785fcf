"""Sections 12.8 and 12.9 (hdf5_view.md): how an HDF5 view shows blocks of kind 6. view_reference.py calls this module."""

import struct

import extended_reference as extended

NONE = 2**64 - 1
HEAP = 4096
MOST_CHUNK, MOST_CHUNKS, MOST_PARTS, MOST_MESSAGE, MOST_RANK = 2**32 - 1, 2**24, 65536, 0xFFFF, 32
RANKS = (2, 4, 8, 16, 32)
MOST_VALUE = 2**28


def chunk_keys(lengths, counts, chunks):
    """Returns a function that makes the keys of a B-tree of chunks: that of chunk i, or that after the last chunk."""

    def key_bytes(i, last):
        n, _, stored, mask = chunks[-1 if last else i]
        first = []
        for count, length in zip(reversed(counts), reversed(lengths)):
            first.insert(0, n % count * length)
            n //= count
        if last:
            first = [first[0] + lengths[0]] + [0] * (len(first) - 1)
        return struct.pack("<2I", 0 if last else stored, 0 if last else mask) + struct.pack(f"<{len(first)}Q", *first) + bytes(8)

    return key_bytes


class LeftOut(Exception):
    """The view leaves an object out (section 12.9)."""


class Source:
    """Blocks that share a range of numbers of dimensions."""

    def __init__(self, order):
        self.order, self.numbers, self.length = order, set(), 0


class Numbers:
    """The table of a view: for each source that needs numbers, the order of its first block and its first number."""

    def __init__(self, rows=(), next_number=0):
        self.rows, self.next = dict(rows), next_number

    def of(self, sources):
        """Returns the numbers of `sources` in the view that comes after the view with the numbers `self`."""
        begins = sorted([*self.rows.values(), self.next])
        out = Numbers((), self.next)
        for source in sorted(sources, key=lambda s: s.order):
            first = self.rows.get(source.order)
            if source.length == 0:
                continue
            if first is None or first + source.length > next((b for b in begins if b > first), 0):
                first, out.next = out.next, out.next + source.length
            out.rows[source.order] = first
        return out

    def table(self):
        return b"".join(struct.pack("<2I", *row) for row in sorted(self.rows.items()))


class Known:
    """Facts that a pass has collected about objects that are written later."""

    def __init__(self, earlier=None):
        self.earlier = earlier or Numbers()  # the numbers of the earlier view
        self.first_numbers = Numbers()
        self.addresses, self.targets, self.uses, self.linked = {}, {}, {}, {}
        self.sources, self.trees, self.heap, self.extended_dimensions = [], [], 0, 0
        self.references, self.absent, self.unlinked, self.chunk_rank = {}, set(), set(), 2
        self.heap_begin, self.heap_objects = None, 0  # offset and number of objects of the newest heap
        # For each block of kind 6: source, numbers of scales, whether the order of links is tracked, groups below it.
        self.blocks, self.numbers = {}, {}

    def add_source(self, order):
        self.sources.append(Source(order))
        return len(self.sources) - 1

    def first(self, source):
        """Returns the first number of a source; 0 in the first pass."""
        return self.first_numbers.rows.get(self.sources[source].order, 0) if self.sources else 0

    def number_sources(self):
        self.first_numbers = self.earlier.of(self.sources)

    def renumbers(self):
        """Returns whether the view may give a scale another number than netCDF does."""
        return len(self.sources) > 1 or any(self.first_numbers.rows.values())

    def number_scales(self):
        """Numbers scales as netCDF-C does when it reads the source."""
        for name in self.reading_order():
            source, own = self.blocks[name][:2]
            for number in own:
                number = self.sources[source].length if number is None else number
                self.numbers.setdefault(name, []).append(number)
                self.sources[source].length = max(self.sources[source].length, number + 1)

    def reading_order(self):
        """Returns the blocks of kind 6, each before the blocks below it, and groups in the order of their links."""
        below = {}  # the parts of names below each name
        for name in sorted(self.blocks):
            parts = name.split(b"/") if name else []
            for i in range(len(parts)):
                below.setdefault(b"/".join(parts[:i]), {})[parts[i]] = None
        order, waiting = [], [b""]
        while waiting:
            name = waiting.pop()
            _, _, tracked, linked = self.blocks.get(name, (None, None, not name, ()))
            if name in self.blocks:
                order.append(name)
            parts = below.get(name, {})
            parts = [p for p in dict.fromkeys(linked) if p in parts] + [p for p in parts if p not in linked]
            if not tracked:
                parts.sort()
            waiting += [b"/".join(p for p in (name, part) if p) for part in reversed(list(parts))]
        return order

    def settle(self, heap):
        self.heap = heap
        self.number_scales()
        self.number_sources()
        for target, count in self.targets.items():
            if target in self.addresses:
                self.references[target] = count + 1
            else:
                self.absent.add(target)
        for type_ in self.uses.keys() | self.linked.keys():
            links = sum(1 + self.targets.get(path, 0) for path in self.linked.get(type_, ()))
            self.references[type_] = self.uses.get(type_, 0) + links
        self.unlinked = self.uses.keys() - self.linked.keys()
        self.chunk_rank = min(RANKS, key=lambda k: sum(tree_bytes(n, rank, k) for n, rank in self.trees))

    def sizes(self):
        return self.references, self.absent, self.unlinked, self.chunk_rank, self.renumbers(), self.extended_dimensions


def tree_bytes(chunks, rank, k):
    nodes = 0
    while chunks:
        chunks = -(-chunks // (2 * k))
        nodes += chunks
        if chunks == 1:
            break
    return nodes * ((24 + (2 * k + 1) * (16 + 8 * rank) + 16 * k + 7) // 8 * 8)


# --- 12.8.5 Values of variable length --------------------------------------------------------------


def close_heap(view):
    heap = view.heaps_of_attributes
    if view.now.heap_begin is not None:
        length = max(len(heap) - view.now.heap_begin, HEAP)
        heap[view.now.heap_begin + 8 : view.now.heap_begin + 16] = struct.pack("<Q", length)
        free = length - (len(heap) - view.now.heap_begin)
        heap += struct.pack("<2Q", 0, free).ljust(free, b"\0") if free >= 16 else bytes(free)
        view.now.heap_begin = None


def add_to_heap(view, data):
    """Adds an object to the global heaps, and returns (address of its heap, number of the object)."""
    heap, now = view.heaps_of_attributes, view.now
    needed = 16 + extended.up(len(data))
    begin = now.heap_begin
    if begin is not None and (needed > max(HEAP - (len(heap) - begin), 0) or now.heap_objects == 0xFFFF):
        close_heap(view)
        begin = None
    if begin is None:
        now.heap_begin, now.heap_objects = len(heap), 0
        heap += b"GCOL" + struct.pack("<IQ", 1, 0)
    now.heap_objects += 1
    heap += struct.pack("<2HIQ", now.heap_objects, 0, 0, len(data)) + data + bytes(-len(data) % 8)
    return struct.pack("<QI", view.before.heap + now.heap_begin, now.heap_objects)


class Block:
    refuses_unwritten = True

    def __init__(self, view, entry, c, group):
        from view_reference import NoView, runs_of

        self.view, self.entry, self.c, self.types, self.group = view, entry, c, c.extension.types, group
        try:
            properties = extended.read_properties(c.extension.hdf5)
        except extended.BrokenValue as broken:
            raise NoView(str(broken)) from broken
        self.properties = properties
        self.by_place = {p[:3]: p[3] for p in properties}
        try:
            self.runs = runs_of(entry.pieces, view.file)
        except NoView:
            self.runs = None
        self.make()

    def make(self):
        group, c, entry = self.group, self.c, self.entry
        order = self.get(extended.ORDER) or (0, 0)
        group.created = entry["order"]
        group.extended, (group.link_order, group.attribute_order) = True, order
        self.links = self.get(extended.LINKS) or []
        self.find_source()
        self.gone = set()  # names of links that are left out
        for link in self.links:
            if link.kind == 2:
                self.named_type(link)
        self.shown = [self.variable(v) for v in c.variables]
        self.arrange()
        track = 0 if order[1] & 1 else None
        messages = self.shared_messages(extended.NO_OWNER, entry.name, track)
        messages += self.attributes(c.attributes, extended.NO_OWNER, order[1], True)
        group.messages = b"".join(messages)

    def get(self, number, owner=extended.NO_OWNER, attribute=extended.NO_ATTRIBUTE):
        return self.by_place.get((number, owner, attribute))

    def path(self, name):
        return b"/".join(p for p in (self.entry.name, name) if p)

    # --- 12.8.1 Object headers ---------------------------------------------------------------------

    def comment(self, text, order):
        from view_reference import message

        return [message(0x0D, text + b"\0", order=order)] if text is not None and len(text) < MOST_MESSAGE else []

    def reference_count(self, key, order):
        from view_reference import message

        count = self.view.before.references.get(key, 1)
        return [message(0x16, struct.pack("<BI", 0, count), order=order)] if count > 1 else []

    def shared_messages(self, owner, path, order):
        return self.comment(self.get(extended.COMMENT, owner), order) + self.reference_count(path, order)

    # --- 12.8.2 Groups -----------------------------------------------------------------------------

    def arrange(self):
        names = []
        for link in self.links:
            if link.kind == 0:
                if self.shown[link.number]:
                    names.append((self.c.variables[link.number].name, link.character_set))
                continue
            self.link(link)
            if link.name not in self.gone:
                names.append((link.name, link.character_set))
        for name, characters in names:
            self.group.order.setdefault(name, (len(self.group.order), bool(characters)))

    def link(self, link):
        before, now = self.view.before, self.view.now
        if len(link.content) + len(link.name) > MOST_MESSAGE // 2:
            self.gone.add(link.name)
        elif link.kind == 3:
            self.group.add(link.name, 0, link.character_set, 1, link.content)
        elif link.kind == 4:
            self.group.add(link.name, 0, link.character_set, 64, bytes([link.number & 15]) + link.content + b"\0")
        elif link.kind == 5:
            target = link.content.lstrip(b"/")
            now.targets[target] = now.targets.get(target, 0) + 1
            if target in before.absent:
                self.gone.add(link.name)
            else:
                self.group.add(link.name, before.addresses.get(target, 0), link.character_set)
        elif link.kind == 6:
            self.group.add(link.name, 0, link.character_set, link.number, link.content)

    def named_type(self, link):
        try:
            key = self.type_key(link.number)
        except LeftOut:
            self.gone.add(link.name)
            return
        self.view.now.linked.setdefault(key, []).append(self.path(link.name))
        address = self.view.now.addresses.get(key)
        if address is None:
            attributes = [p[3][1] for p in self.properties if p[0] == extended.TYPE_ATTRIBUTES and p[3][0] == link.number]
            address = self.write_type(link.number, key, attributes[-1] if attributes else None)
        self.view.now.addresses[self.path(link.name)] = address
        self.group.add(link.name, address, link.character_set)

    def type_key(self, type_):
        return self.types[type_ - extended.FIRST_TYPE].name, self.datatype(type_)

    def write_type(self, type_, key, attributes):
        from view_reference import message, object_header

        messages = [message(0x03, key[1], 1)]
        for p in self.properties:
            if p[0] == extended.TYPE_COMMENT and p[3][0] == type_:
                messages += self.comment(p[3][1], None)
        messages += self.reference_count(key, None)
        if attributes is not None:
            header = TypeAttributes(attributes, self.types).decode(values_follow=False)
            messages += self.attributes(header.attributes, extended.NO_OWNER, 0, False)
        self.view.now.addresses[key] = self.view.append(object_header(messages))
        return self.view.now.addresses[key]

    # --- 12.8.3 Data sets --------------------------------------------------------------------------

    def space(self, v):
        told = self.get(extended.SPACE, v.number)
        if told:
            return told
        lengths, maximum = [], []
        for d in v.dimensions:
            dimension = self.c.dimensions[d]
            lengths.append(self.entry["records"] if dimension.is_record else dimension.length)
            maximum.append(NONE if dimension.is_record or d in self.c.extension.unlimited else lengths[-1])
        return (1 if lengths else 0), lengths, maximum

    def space_bytes(self, space):
        from view_reference import NULL, SCALAR, simple_of

        return simple_of(space[1], space[2]) if space[0] == 1 else SCALAR if space[0] == 0 else NULL

    def integers(self, v, name):
        """Returns (values, byte order) of an attribute of 32-bit integers, or None for any other attribute."""
        a = next((a for a in v.attributes if a.name == name), None)
        if a is None:
            return None
        order = ">"
        if a.type >= extended.FIRST_TYPE:
            t = self.types[a.type - extended.FIRST_TYPE]
            plain = t.class_ == extended.INTEGER and t.size == 4 and t["precision"] == 32 and t["bit offset"] == 0
            if not plain or not t["signed"] or t["byte order"] > 1 or t["low padding"] or t["high padding"]:
                return None
            order = "<>"[t["byte order"]]
        elif a.type != 4:
            return None
        return list(struct.unpack(f"{order}{a.count}i", a.raw[: 4 * a.count])), order

    def is_scale(self, v):
        return extended.fixed_text(self.c.extension, v, b"CLASS") == b"DIMENSION_SCALE"

    def number_of(self, v):
        found = self.integers(v, b"_Netcdf4Dimid")
        return found[0][0] if found and len(found[0]) == 1 and found[0][0] >= 0 else None

    def find_source(self):
        group, now = self.group, self.view.now
        self.scales = [v.number for v in self.c.variables if self.is_scale(v)]
        own = [self.number_of(self.c.variables[n]) for n in self.scales]
        numbers = set(own) - {None}
        group.numbers = set(self.view.before.numbers.get(self.entry.name, numbers))
        group.source = group.above[0].source if group.above else None
        if group.source is None or numbers & now.sources[group.source].numbers:
            group.source = now.add_source(self.entry["order"])
        now.sources[group.source].numbers |= numbers
        groups = [link.name for link in self.links if link.kind == 1]
        now.blocks[self.entry.name] = group.source, own, bool(group.link_order & 1), groups

    def added_number(self, v):
        """Returns the number that the view gives to a scale without one, or None."""
        before = self.view.before
        if not before.renumbers() or v.number not in self.scales or any(a.name == b"_Netcdf4Dimid" for a in v.attributes):
            return None
        return before.numbers[self.entry.name][self.scales.index(v.number)] + before.first(self.group.source)

    def number_in_view(self, number, is_reference=True):
        """Returns the number of a dimension in the view. A reference leads to the nearest block that has the number."""
        if number < 0:
            return number
        groups = [g for g in [self.group, *self.group.above] if is_reference and number in g.numbers]
        return number + self.view.before.first((groups or [self.group])[0].source)

    def variable(self, v):
        """Writes the data set of a variable. Returns whether a link leads to it."""
        try:
            messages, order = self.data_set(v)
        except LeftOut:
            return self.is_scale(v) and self.dimension(v)
        self.place(v, messages, order)
        return True

    def place(self, v, messages, order):
        from view_reference import object_header

        path = self.path(v.name)
        self.view.now.addresses[path] = self.view.append(object_header(messages, order))
        self.group.add(v.name, self.view.now.addresses[path])

    def dimension(self, v):
        from view_reference import ALONE, INT32, SCALAR, TYPES, attribute, message, simple, string

        _, lengths, maximum = self.space(v)
        if not lengths or lengths[0] > 2**60:
            return False
        length, grows, number = lengths[0], maximum[0] == NONE, self.number_of(v)
        text = (ALONE + f"{length:10}").encode()
        layout = struct.pack("<3BQ2I", 3, 2, 2, NONE, 1, 4) if grows else struct.pack("<2B2Q", 3, 1, NONE, 4 * length)
        messages = [
            message(0x01, simple([length], grows)),
            message(0x03, TYPES[5], 1),
            message(0x05, bytes([3, 11 if grows else 10])),
            message(0x08, layout),
            *self.reference_count(self.path(v.name), None),
            message(0x15, struct.pack("<2B2Q", 0, 0, NONE, NONE)),
            attribute(b"CLASS", string(16), SCALAR, b"DIMENSION_SCALE\0"),
            attribute(b"NAME", string(len(text) + 1), SCALAR, text + b"\0"),
        ]
        number = self.added_number(v) if number is None else self.number_in_view(number, False)
        if number is not None:
            messages.append(attribute(b"_Netcdf4Dimid", INT32, SCALAR, struct.pack("<I", number)))
        self.place(v, messages, 0)
        return True

    def creation(self, v, storage):
        told = self.get(extended.CREATION, v.number)
        c = extended.Creation()
        chunks = storage and storage.kind == extended.CHUNKS
        if told:
            c.__dict__.update(told.__dict__)
        elif chunks:
            c.layout, c.allocation = 2, 3
        if chunks:
            c.chunk, c.filters = storage.chunk, storage.filters
        return c

    def data_set(self, v):
        flags = (self.get(extended.ORDER, v.number) or (0, 0))[1]
        order = 0 if flags & 1 else None
        messages, named = self.storage_messages(v, order)
        messages += self.shared_messages(v.number, self.path(v.name), order)
        messages += self.attributes(v.attributes, v.number, flags, True, self.added_number(v))
        self.count_use(named)
        return messages, flags

    def storage_messages(self, v, order):
        """Returns (messages up to the filter pipeline, key of the named datatype or None)."""
        from view_reference import message

        space, storage = self.space(v), self.c.extension.storage.get(v.number)
        self.copy = None
        if self.c.extension.is_heap(v.type) and not self.view.copies or extended.ABSENT & {
            p[0] for p in self.properties if p[1] == v.number
        }:
            raise LeftOut
        if len(space[1]) > MOST_RANK:
            raise LeftOut
        creation = self.creation(v, storage)
        type_, named = self.stored_type(v.type)
        state = {0: 16, 1: 0, 2: 32}[creation.state] | creation.allocation | creation.fill_time << 2
        fill = bytes([3, state])
        if creation.fill is not None:
            value = Converter(self, creation.fill).all(v.type, 1)
            fill += struct.pack("<I", len(value)) + value
        if len(fill) > MOST_MESSAGE:
            raise LeftOut
        messages = [
            message(0x01, self.space_bytes(space), order=order),
            message(0x03, type_, 3 if named else 1, order),
            message(0x05, fill, order=order),
            message(0x08, self.layout(v, space, storage, creation), order=order),
        ]
        if creation.layout == 2 and space[0] == 1 and creation.filters:
            messages.append(message(0x0B, self.filters(creation.filters), order=order))
        return messages, named

    def layout(self, v, space, storage, creation):
        from view_reference import NoView
        import nmb_reference as nmb

        size = self.size_in_file(v.type)
        total = 0 if space[0] == 2 else size
        for n in space[1]:
            total *= n
        if total >= 2**64:
            raise LeftOut
        chunked, grows = creation.layout == 2 and space[0] == 1, list(space[1]) != list(space[2])
        if storage and storage.kind == extended.CHUNKS:
            return self.stored_chunks(v, space, storage, size)
        heap = bool(storage) and storage.kind == extended.HEAP
        stored = total > 0 and (not storage or heap)
        if stored and heap:
            compact = not chunked and not grows and creation.layout == 0
            self.copy_values(v, storage, total // size, compact)
        elif stored and self.runs is None:
            raise LeftOut
        if stored and (chunked or grows):
            return self.rows(v, space, creation, size)
        if chunked or grows:
            return self.chunked(v, [], creation.chunk if chunked else [1] * len(space[1]), None, size)
        if creation.layout == 0 and (stored or total == 0):
            if total + 4 > MOST_MESSAGE:
                raise LeftOut
            fill = nmb.fill_of(self.c, v)
            data = nmb.stretch(self.view.file, self.entry, v.begin, v.begin + total, fill) if total and not heap else b""
            if stored and heap:
                data = Converter(self, self.region(v, storage)).all(v.type, total // size)
            return struct.pack("<2BH", 3, 0, total) + bytes(data)
        at = self.find(v, creation, v.begin, total, NoView) if stored else NONE
        return struct.pack("<2B2Q", 3, 1, at, total)

    def region(self, v, storage):
        import nmb_reference as nmb

        return bytes(nmb.stretch(self.view.file, self.entry, v.begin, v.begin + storage.region_length, b"\0"))

    def copy_values(self, v, storage, count, compact):
        region = self.region(v, storage)
        Converter(self, region, None).all(v.type, count)
        if not compact:
            self.copy = self.view.append(Converter(self, region).all(v.type, count))

    def find(self, v, creation, begin, length, no_view):
        from view_reference import find

        if self.copy is not None:
            return self.copy + begin - v.begin
        try:
            at = find(self.runs, begin, length)
        except no_view as why:
            raise LeftOut from why
        if at:
            return at
        if self.refuses_unwritten and (v.type < extended.FIRST_TYPE or (creation.fill or b"").strip(b"\0")):
            raise LeftOut
        return NONE

    def rows(self, v, space, creation, size):
        from view_reference import NoView

        rows, row = space[1][0], size
        for n in space[1][1:]:
            row *= n
        if row > MOST_CHUNK:
            raise LeftOut
        parts = rows if v.is_record else -(-rows // (MOST_CHUNK // row))
        while parts <= MOST_PARTS and rows % parts:
            parts += 1
        if parts > (MOST_CHUNKS if v.is_record else MOST_PARTS):
            raise LeftOut
        length = rows // parts * row
        step = self.c.record_size if v.is_record else length
        mask = (1 << (len(creation.filters) if creation.layout == 2 else 0)) - 1
        chunks = []
        for n in range(parts):
            at = self.find(v, creation, v.begin + n * step, length, NoView)
            if at != NONE:
                chunks.append((n, at, length, mask))
        return self.chunked(v, chunks, [rows // parts, *space[1][1:]], [parts] + [1] * (len(space[1]) - 1), size)

    def stored_chunks(self, v, space, storage, size):
        from view_reference import NoView, find
        import nmb_reference as nmb

        counts, count = [-(-n // c) for n, c in zip(space[1], storage.chunk)], 1
        for n in counts:
            count *= n
        table = nmb.stretch(self.view.file, self.entry, v.begin, v.begin + 24 * count, b"\0") if count else b""
        chunks = []
        for n in range(count):
            offset, stored, mask = struct.unpack_from("<QQI", table, 24 * n)
            if not stored:
                continue
            if offset + stored > storage.region_length:
                raise NoView(f"chunk {n} outside of its region")
            if self.runs is None or stored > MOST_CHUNK or len(chunks) == MOST_CHUNKS:
                raise LeftOut
            try:
                at = find(self.runs, v.begin + offset, stored)
            except NoView as why:
                raise LeftOut from why
            if not at:
                raise LeftOut
            chunks.append((n, at, stored, mask))
        return self.chunked(v, chunks, storage.chunk, counts, size)

    # --- 12.8.6 Trees ------------------------------------------------------------------------------

    def chunked(self, v, chunks, lengths, counts, size):
        total = size
        for n in lengths:
            total *= n
        if total > MOST_CHUNK:
            raise LeftOut
        self.view.now.trees.append((len(chunks), len(lengths)))

        key_bytes = chunk_keys(lengths, counts, chunks)
        children = [(i, chunk[1]) for i, chunk in enumerate(chunks)]
        tree = self.view.tree(1, children, len(chunks), 2 * self.view.chunk_rank, key_bytes) if chunks else NONE
        lengths = [max(n, 1) for n in lengths]
        return struct.pack(f"<3BQ{len(lengths) + 1}I", 3, 2, len(lengths) + 1, tree, *lengths, size)

    def filters(self, filters):
        out = bytes([2, len(filters)])
        for f in filters:
            name = f.name.split(b"\0")[0]
            if f.id > MOST_MESSAGE or len(f.parameters) > MOST_MESSAGE or len(name) >= MOST_MESSAGE:
                raise LeftOut
            name = name + b"\0" if f.id >= 256 and f.name else b""
            out += struct.pack("<H", f.id) + (struct.pack("<H", len(name)) if f.id >= 256 else b"")
            out += struct.pack("<2H", f.flags & 0xFFFF, len(f.parameters)) + name
            out += struct.pack(f"<{len(f.parameters)}I", *f.parameters)
        if len(out) > MOST_MESSAGE:
            raise LeftOut
        return out

    # --- 12.8.4 Attributes -------------------------------------------------------------------------

    def attributes(self, attributes, owner, flags, has_properties, dimension=None):
        from view_reference import INT32, SCALAR, attribute_body, message

        order = 0 if flags & 1 else None
        out = []
        count = len(attributes) + (dimension is not None)
        if count:
            info = bytes([0, flags]) + (struct.pack("<H", min(count, MOST_MESSAGE)) if flags & 1 else b"")
            out.append(message(0x15, info + struct.pack("<Q", NONE) * (3 if flags & 2 else 2), order=order))
        for number, a in enumerate(attributes):
            try:
                data = self.attribute(a, owner, number, has_properties)
            except LeftOut:
                continue
            out.append(message(0x0C, data, order=None if order is None else number))
        if dimension is not None:
            data = attribute_body(b"_Netcdf4Dimid", INT32, SCALAR, struct.pack("<I", dimension))
            out.append(message(0x0C, data, order=None if order is None else len(attributes)))
        return out

    def attribute(self, a, owner, number, has_properties, space=None):
        space = self.get(extended.SPACE, owner, number) if has_properties else space
        if not space:
            space = (0, [], []) if a.count == 1 else (1, [a.count], [a.count])
        characters = self.get(extended.CHARACTER_SET, owner, number) if has_properties else None
        if characters is None:
            characters = int(max(a.name, default=0) > 127)
        if not a.name or b"\0" in a.name or len(a.name) >= MOST_MESSAGE or len(a.raw) > 16 * MOST_MESSAGE:
            raise LeftOut
        if number > MOST_MESSAGE or len(space[1]) > MOST_RANK:
            raise LeftOut
        type_, named = self.stored_type(a.type)
        space = self.space_bytes(space)
        if a.count * self.size_in_file(a.type) > MOST_MESSAGE:
            raise LeftOut
        raw = bytes(a.raw)
        if owner != extended.NO_OWNER and has_properties and a.name in (b"_Netcdf4Dimid", b"_Netcdf4Coordinates"):
            found = self.integers(self.c.variables[owner], a.name)
            if found and self.view.before.sources:
                numbers = [self.number_in_view(n, a.name != b"_Netcdf4Dimid") for n in found[0]]
                raw = struct.pack(f"{found[1]}{a.count}I", *(n % 2**32 for n in numbers))
        values = Converter(self, raw).all(a.type, a.count)
        head = struct.pack("<2B3HB", 3, int(named is not None), len(a.name) + 1, len(type_), len(space), characters)
        data = head + a.name + b"\0" + type_ + space + values
        if len(data) > MOST_MESSAGE:
            raise LeftOut
        self.count_use(named)
        return data

    # --- 12.8.7 Datatypes --------------------------------------------------------------------------

    def count_use(self, named):
        if named:
            self.view.now.uses[named] = self.view.now.uses.get(named, 0) + 1

    def stored_type(self, type_):
        """Returns (bytes of the type, key of the named datatype to which these bytes refer, or None)."""
        if type_ < extended.FIRST_TYPE or not self.types[type_ - extended.FIRST_TYPE].name:
            return self.datatype(type_), None
        key, view = self.type_key(type_), self.view
        if key in view.before.unlinked and key not in view.now.addresses:
            self.write_type(type_, key, None)
        return struct.pack("<2BQ", 3, 2, view.before.addresses.get(key, 0)), key

    def size_in_file(self, type_):
        """Returns the size of a value in an HDF5 file: a reference to an object has 8 bytes, to a region 12."""
        if not self.c.extension.is_heap(type_):
            return self.c.extension.size_of(type_)
        t = self.types[type_ - extended.FIRST_TYPE]
        if t.class_ == extended.REFERENCE:
            return 12 if t["to a region"] else 8
        if t.class_ == extended.ARRAY:
            size = self.size_in_file(t["base"])
            for n in t["lengths"]:
                size *= n
            return size
        if t.class_ == extended.COMPOUND:
            return t.size - sum(self.less(f[0]) for f in t["fields"])
        return t.size

    def less(self, type_):
        return self.c.extension.size_of(type_) - self.size_in_file(type_)

    def offset_in_file(self, t, offset):
        return offset - sum(self.less(f[0]) for f in t["fields"] if f[1] < offset)

    def datatype(self, type_):
        out = self.any_datatype(type_)
        if len(out) > MOST_MESSAGE:
            raise LeftOut
        return out

    def any_datatype(self, type_):
        from view_reference import TYPES, datatype, integer

        if type_ < extended.FIRST_TYPE:
            return integer(1, type_ == 1, True) if type_ in (1, 7) else TYPES[type_]
        t = self.types[type_ - extended.FIRST_TYPE]
        size = self.size_in_file(type_)
        if t.class_ in extended.BIT_CLASSES:
            return self.number_type(t)
        if t.class_ == extended.STRING:
            if not t["variable length"]:
                return datatype(3, t["padding"] | t["character set"] << 4, size)
            return datatype(9, 1 | t["padding"] << 4 | t["character set"] << 8, 16, TYPES[7])
        if t.class_ == extended.OPAQUE:
            tag = t["tag"]
            if len(tag) > 248 or b"\0" in tag:
                raise LeftOut
            length = extended.up(len(tag))
            return datatype(5, length, size, tag.ljust(length, b"\0"))
        if t.class_ == extended.REFERENCE:
            return datatype(7, t["to a region"], size)
        if t.class_ == extended.SEQUENCE:
            return datatype(9, 0, size, self.any_datatype(t["base"]))
        if t.class_ == extended.ARRAY:
            if len(t["lengths"]) > MOST_RANK:
                raise LeftOut
            lengths = struct.pack(f"<B{len(t['lengths'])}I", len(t["lengths"]), *t["lengths"])
            return datatype(10, 0, size, lengths + self.any_datatype(t["base"]), 3)
        names = t["names"] if t.class_ == extended.ENUM else [f[2] for f in t["fields"]]
        if len(names) > MOST_MESSAGE or any(b"\0" in name for name in names):
            raise LeftOut
        if t.class_ == extended.ENUM:
            members = b"".join(name + b"\0" for name in names) + b"".join(t["values"])
            return datatype(8, len(names), size, self.any_datatype(t["base"]) + members, 3)
        if t.heap:
            end = 0
            for begin, type_ in sorted((f[1], f[0]) for f in t["fields"]):
                if begin < end:
                    raise LeftOut
                end = begin + self.c.extension.size_of(type_)
        out, width = b"", max((size.bit_length() + 7) // 8, 1)
        for base, offset, name in t["fields"]:
            out += name + b"\0" + self.offset_in_file(t, offset).to_bytes(width, "little") + self.any_datatype(base)
            if len(out) > MOST_MESSAGE:
                raise LeftOut
        return datatype(6, len(names), size, out, 3)

    def number_type(self, t):
        from view_reference import datatype

        is_float, vax = t.class_ == extended.FLOAT, t["byte order"] == 2
        if max(t["bit offset"], t["precision"]) > 0xFFFF or 2 in (t["low padding"], t["high padding"]) or vax and not is_float:
            raise LeftOut
        bits = (t["byte order"] == 1) | t["low padding"] << 1 | t["high padding"] << 2
        body = struct.pack("<2H", t["bit offset"], t["precision"])
        if is_float:
            parts = [t[name] for name in extended.FLOAT_PARTS]
            if max(parts) > 255 or t["exponent bias"] >= 2**32 or t["inner padding"] == 2:
                raise LeftOut
            bits |= (0x41 if vax else 0) | t["inner padding"] << 3 | t["normalization"] << 4 | parts[0] << 8
            return datatype(1, bits, t.size, body + bytes(parts[1:]) + struct.pack("<I", t["exponent bias"]), 3 if vax else 1)
        if t.class_ == extended.TIME:
            if t["bit offset"]:
                raise LeftOut
            return datatype(2, bits & 1, t.size, struct.pack("<H", t["precision"]))
        if t.class_ == extended.INTEGER:
            bits |= t["signed"] << 3
        return datatype(t.class_, bits, t.size, body)


def is_classic_dataset(c):
    """Returns whether a block of kind 6 is a classic dataset (hdf5_section.md)."""
    properties = c.extension.properties
    return (
        [p[0] for p in properties[:1]] == [extended.DIMENSIONS_ABOVE]
        and all(
            p[0] in (extended.CREATION, extended.DAMAGED_CHUNKS)
            or p[0] == extended.SPACE
            and p[2] != extended.NO_ATTRIBUTE
            and p[3][0] == 0
            for p in properties[1:]
        )
        and all(t.class_ != extended.REFERENCE for t in c.extension.types)
        and all(s.kind in (extended.CHUNKS, extended.HEAP) for s in c.extension.storage.values())
    )


class ClassicDataset(Block):
    """Section 12.11: a classic dataset of kind 6."""

    refuses_unwritten = False

    def make(self):
        from view_reference import ATTRIBUTE_INFO

        view, c, now = self.view, self.c, self.view.now
        self.dimensions = [] if view.flags & 1 else c.dimensions
        self.above = self.dimensions_above()
        self.first = view.next_dimension
        view.next_dimension += len(self.dimensions)
        view.scales += [0] * len(self.dimensions)
        now.extended_dimensions += len(self.dimensions)
        source = now.add_source(self.entry["order"])
        now.sources[source].length += len(self.dimensions)
        first = view.before.first(source)
        self.numbers = [self.above[d].number if d in self.above else first + d for d in range(len(self.dimensions))]
        for d, there in self.above.items():
            view.scales[self.first + d] = view.scales[there.reference]
        by_name = {d.name: i for i, d in enumerate(self.dimensions) if i not in self.above}
        self.of_name = [by_name.get(v.name) for v in c.variables]
        self.coordinates = {d for d, v in zip(self.of_name, c.variables) if d is not None and v.dimensions[:1] == [d]}
        self.linked_types(by_name)
        for v, d in zip(c.variables, self.of_name):
            self.variable(v, d)
        for d in range(len(self.dimensions)):
            if d not in self.coordinates and d not in self.above:
                self.dimension(d)
        self.group.dimensions = {
            self.dimensions[d].name: Dimension(self.length(d), self.grows(d), self.numbers[d], self.first + d)
            for d in range(len(self.dimensions))
            if d not in self.above
        }
        for link in self.group.links:
            now.addresses[self.path(link[0])] = link[1]
        self.group.messages = (ATTRIBUTE_INFO if c.attributes else b"") + self.attributes_of(
            c.attributes, extended.NO_OWNER
        )

    def length(self, d):
        return self.entry["records"] if self.c.dimensions[d].is_record else self.c.dimensions[d].length

    def grows(self, d):
        return self.c.dimensions[d].is_record or d in self.c.extension.unlimited

    def dimensions_above(self):
        """Returns {dimension: Dimension of a block above} for the dimensions that the block does not define itself."""
        levels, above = extended.above_levels(self.c, self.properties), {}
        parts = self.entry.name.split(b"/") if self.entry.name else []
        for d, level in levels.items():
            group = self.view.groups.get(b"/".join(parts[: len(parts) - level])) if level <= len(parts) else None
            there = group.dimensions.get(self.c.dimensions[d].name) if group and d < len(self.dimensions) else None
            if level and there and (there.length, there.grows) == (self.length(d), self.grows(d)):
                above[d] = there
        return above

    def linked_types(self, dimensions):
        objects = {v.name for v in self.c.variables} | {d.name for d in self.c.dimensions}
        for i, t in enumerate(self.types):
            path = t.name[1:] if t.name and t.name.startswith(b"/") else t.name
            parent, _, name = (path or b"").rpartition(b"/")
            if not path or parent != self.entry.name or not name or name in objects:
                continue
            try:
                key = self.type_key(extended.FIRST_TYPE + i)
            except LeftOut:
                continue
            now = self.view.now
            if self.path(name) in now.addresses:
                continue
            now.linked.setdefault(key, []).append(self.path(name))
            address = now.addresses.get(key)
            if address is None:
                address = self.write_type(extended.FIRST_TYPE + i, key, None)
            now.addresses[self.path(name)] = address
            self.group.add(name, address)

    def creation(self, v, storage):
        import nmb_reference as nmb

        c = super().creation(v, storage)
        if not storage and v.type < extended.FIRST_TYPE:
            c.state, c.fill = 2, bytes(nmb.fill_of(self.c, v))
            if any(self.grows(d) for d in v.dimensions):
                c.allocation = 3
        return c

    def stored_type(self, type_):
        from view_reference import TYPES

        return (TYPES[type_], None) if type_ < extended.FIRST_TYPE else super().stored_type(type_)

    def variable(self, v, d):
        from view_reference import object_header

        is_scale = d is not None and v.dimensions[:1] == [d]
        try:
            messages, named = self.storage_messages(v, None)
        except LeftOut:
            self.coordinates -= {d} if is_scale else set()
            return
        messages += self.dimension_messages(v, d if is_scale else None)
        messages.append(self.attributes_of(v.attributes, v.number))
        address = self.view.append(object_header(messages))
        self.count_use(named)
        if is_scale:
            self.view.scales[self.first + d] = address
        self.group.add(v.name if d is None or is_scale else b"_nc4_non_coord_" + v.name, address)

    def dimension_messages(self, v, dimension):
        return self.view.dimension_messages(v, dimension, self.numbers if self.dimensions else [], self.first)

    def dimension(self, d):
        name = self.dimensions[d].name
        messages = self.view.dimension_messages_of(self.grows(d), self.length(d), self.numbers[d])
        address = self.view.append_scale(self.first + d, messages)
        self.group.add(name, address)

    def attributes_of(self, attributes, owner):
        from view_reference import NULL, OWN_NAMES, NoView, message, own_attributes, simple

        out = b""
        of_variable = owner != extended.NO_OWNER
        for number, a in enumerate(attributes):
            scalar = self.get(extended.SPACE, owner, number)
            if not a.name or b"\0" in a.name or len(a.name) > 255 or of_variable and a.name in OWN_NAMES:
                continue
            try:
                if a.type < extended.FIRST_TYPE and not scalar:
                    out += own_attributes([a], of_variable)
                else:
                    space = scalar or ((1, [a.count], [a.count]) if a.count else (2, [], []))
                    out += message(0x0C, self.attribute(a, extended.NO_OWNER, number, False, space))
            except (LeftOut, NoView):
                continue
        return out


class Dimension:
    """A dimension that blocks below its block may use."""

    def __init__(self, length, grows, number, reference):
        self.length, self.grows, self.number, self.reference = length, grows, number, reference


class TypeAttributes(extended.ExtendedDecoder):
    """Property 5: a header without sections."""

    def __init__(self, data, types):
        super().__init__(data, None)
        self.types = types

    def sections(self):
        self.out.extension = extended.Extension()
        self.out.extension.types = self.types
        self.length_at = self.at
        self.told_length = self.count("header_length")


class Converter:
    """The values of an attribute as they are in an HDF5 file."""

    def __init__(self, block, region, heap=add_to_heap):
        """heap: adds an object to a heap; None: values are only checked."""
        self.block, self.view, self.extension = block, block.view, block.c.extension
        self.heap = heap or (lambda view, data: bytes(12))
        self.region, self.left = region, len(region)

    def all(self, type_, count):
        if not self.extension.is_heap(type_):
            return bytes(self.region)
        size = self.extension.size_of(type_)
        return b"".join(self.one(type_, self.region[i * size : i * size + size]) for i in range(count))

    def content(self, raw, size):
        from view_reference import NoView

        count, offset = struct.unpack("<QQ", raw)
        if count * size > len(self.region):
            raise NoView("a value of variable length without its bytes")
        if offset == 0:
            return b""
        if count * size > self.left:
            raise NoView("values of variable length that share bytes (R-XV-2)")
        if count * size > MOST_VALUE:
            raise LeftOut
        self.left -= count * size
        if offset + count * size > len(self.region):
            raise NoView("a value of variable length without its bytes")
        return self.region[offset : offset + count * size]

    def one(self, type_, raw):
        if not self.extension.is_heap(type_):
            return raw
        block, t = self.block, self.extension.types[type_ - extended.FIRST_TYPE]
        if t.class_ == extended.ARRAY:
            size = self.extension.size_of(t["base"])
            return b"".join(self.one(t["base"], raw[i : i + size]) for i in range(0, t.size, size))
        if t.class_ == extended.COMPOUND:
            out = bytearray(block.size_in_file(type_))
            for base, offset, _ in t["fields"]:
                value = self.one(base, raw[offset : offset + self.extension.size_of(base)])
                at = block.offset_in_file(t, offset)
                out[at : at + len(value)] = value
            return bytes(out)
        if t.class_ == extended.STRING:
            if raw[8:] == bytes(8):
                return bytes(16)
            text = self.content(raw, 1)
            return struct.pack("<I", len(text)) + self.heap(self.view, text)
        if t.class_ == extended.SEQUENCE:
            size = self.extension.size_of(t["base"])
            elements = self.content(raw, size)
            if not elements:
                return bytes(16)
            count = len(elements) // size
            elements = b"".join(self.one(t["base"], elements[i : i + size]) for i in range(0, len(elements), size))
            return struct.pack("<I", count) + self.heap(self.view, elements)
        content = self.content(raw, 1)
        if not t["to a region"]:
            return struct.pack("<Q", self.view.before.addresses.get(content.lstrip(b"/"), 0) if content else 0)
        return self.region_reference(content) if content else bytes(12)

    def region_reference(self, content):
        length = int.from_bytes(content[:4], "little")
        path, rest = content[4 : 4 + length].lstrip(b"/"), content[4 + length :]
        if len(content) < 4 + length + 7 or len(rest) < 7 + int.from_bytes(rest[3:7], "little"):
            raise LeftOut
        selection = rest[7 + int.from_bytes(rest[3:7], "little") :]
        address = self.view.before.addresses.get(path, 0)
        place = self.heap(self.view, struct.pack("<Q", address) + selection)
        return place if address else bytes(12)
