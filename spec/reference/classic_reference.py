"""Decodes classic netCDF headers (CDF-1, CDF-2, CDF-5), and checks rules in the order that classic_header.md gives.

decode() returns a Header. The remarks of this Header are deviations from the canonical form. If a broken rule
prevents reading, decode() raises ClassicError. Each remark and each error has a rule id and an offset from
the header's start. extended_reference.py replaces the methods of Decoder that differ for kind 6.
"""

CHAR = 2
TYPES = {
    1: "byte",
    2: "char",
    3: "short",
    4: "int",
    5: "float",
    6: "double",
    7: "ubyte",
    8: "ushort",
    9: "uint",
    10: "int64",
    11: "uint64",
}
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
CODES = {1: "b", 2: "c", 3: "h", 4: "i", 5: "f", 6: "d", 7: "B", 8: "H", 9: "I", 10: "q", 11: "Q"}
DEFAULT_FILL = {
    1: b"\x81",
    2: b"\0",
    3: b"\x80\x01",
    4: b"\x80\0\0\x01",
    5: b"\x7c\xf0\0\0",
    6: b"\x47\x9e\0\0\0\0\0\0",
    7: b"\xff",
    8: b"\xff\xff",
    9: b"\xff\xff\xff\xff",
    10: b"\x80\0\0\0\0\0\0\x02",
    11: b"\xff\xff\xff\xff\xff\xff\xff\xfe",
}
DIMENSION, VARIABLE, ATTRIBUTE = 10, 11, 12
# Size in bytes of the smallest possible item, for each kind of header.
SMALLEST = {
    DIMENSION: {1: 12, 2: 12, 5: 20, 6: 20},
    ATTRIBUTE: {1: 16, 2: 16, 5: 24, 6: 24},
    VARIABLE: {1: 32, 2: 36, 5: 52, 6: 52},
}
LIMIT = 2**63 - 1


def padded(n):
    return (n + 3) // 4 * 4


class ClassicError(Exception):
    def __init__(self, rule, offset, message):
        super().__init__(message)
        self.rule, self.offset = rule, offset


class Dimension:
    def __init__(self, name, length):
        self.name, self.length, self.is_record = name, length, False


class Attribute:
    def __init__(self, name, type_, count, raw):
        self.name, self.type, self.count, self.raw = name, type_, count, raw


class Variable:
    def __init__(self, name, dimensions, attributes, type_):
        self.name, self.dimensions, self.attributes, self.type = name, dimensions, attributes, type_
        self.begin = self.slice_bytes = self.is_record = None
        self.array_bytes = None  # bytes of a slice stored as a plain array; in kind 6 it may be stored otherwise
        self.vsize_at = self.begin_at = None  # offsets of these fields

    @property
    def end(self):
        return self.begin + self.slice_bytes


class Header:
    def __init__(self):
        self.kind = self.header_length = self.record_dimension = None
        self.base = 0  # offset that begins count from: the header's length, or 0 in kind 6
        self.extension = None  # Extension of a body of kind 6
        self.records = None  # None: STREAMING
        self.dimensions, self.attributes, self.variables, self.remarks = [], [], [], []
        self.record_size = self.record_begin = 0

    def values_end(self, records):
        """Returns the offset of the first byte after the last value, without padding."""
        end = self.base
        for v in self.variables:
            if not v.is_record:
                end = max(end, v.end)
            elif records:
                end = max(end, v.end + (records - 1) * self.record_size)
        return end


class Decoder:
    kinds = (1, 2, 5)

    def __init__(self, data, trace):
        self.data, self.at, self.out, self.trace = data, 0, Header(), trace or (lambda *field: None)

    def error(self, rule, offset, message):
        raise ClassicError(rule, offset, message)

    def remark(self, rule, offset, message):
        if len(self.out.remarks) < 100:
            self.out.remarks.append((rule, offset, message))

    def left(self):
        return len(self.data) - self.at

    # Fields

    def take(self, n, name):
        if n > self.left():
            self.error(
                "R-CH-2",
                len(self.data),
                f"{name} at {self.at}: {n} bytes expected, {self.left()} are left",
            )
        self.at += n
        return bytes(self.data[self.at - n : self.at])

    def number(self, n, name):
        value = int.from_bytes(self.take(n, name), "big")
        self.trace(self.at - n, n, name, value)
        return value

    def count(self, name):
        return self.number(self.wide, name)

    def padded(self, n, name):
        at = self.at
        raw = self.take(n, name)
        if n:
            self.trace(at, n, name, raw)
        padding = self.take(padded(n) - n, name + " padding")
        if padding:
            self.trace(at + n, len(padding), "padding", padding)
        if padding.strip(b"\0"):
            self.remark(
                "R-CH-6",
                self.at - len(padding.lstrip(b"\0")),
                f"{name}: padding {padding.hex(' ')}, expected zero",
            )
        return raw

    def name(self, what, seen):
        length_at = self.at
        length = self.count(what + " name length")
        if length == 0 or padded(length) > self.left():
            self.error(
                "R-CH-5", length_at, f"a {what}'s name of {length} bytes, {self.left()} are left"
            )
        at = self.at
        name = self.padded(length, what + " name")
        if name in seen:
            self.error("R-CH-12", at, f"{what} {name[:100]!r} is there twice")
        seen.add(name)
        if not is_new_name(name):
            self.remark(
                "R-CH-25", at, f"{what} {name[:100]!r}: not a name that a new object may have"
            )
        return name

    def items(self, tag, what):
        """Reads the head of a list and returns a range with one number for each item."""
        at = self.at
        found = self.number(4, what + " list tag")
        count_at = self.at
        n = self.count(f"number of {what}s")
        if found != tag and (found or n):
            self.error(
                "R-CH-3",
                at,
                f"tag {found} and count {n} of the list of {what}s, expected tag {tag} or all zero",
            )
        if found and not n:
            self.remark("R-CH-19", at, f"an empty list of {what}s with a tag")
        if n * SMALLEST[tag][self.out.kind] > self.left():
            self.error("R-CH-4", count_at, f"{n} {what}s, {self.left()} bytes are left")
        return range(n)

    def type(self):
        at = self.at
        type_ = self.number(4, "type")
        if self.size_of(type_) is None:
            self.error("R-CH-9", at, f"type {type_}")
        return type_

    # --- methods that differ for kind 6 ---

    def size_of(self, type_):
        """Returns the size in bytes of a value, or None if the type does not exist."""
        return None if self.out.kind < 5 and type_ > 6 else SIZES.get(type_)

    def sections(self):
        """Reads the sections, and what lies between numrecs and the list of dimensions; a classic header has neither."""

    def is_record(self, number, length, length_at):
        """Returns whether a dimension is the record dimension."""
        if length == 0 and self.out.record_dimension is not None:
            self.error("R-CH-8", length_at, "a second record dimension")
        return length == 0

    def value_bytes(self, type_, count):
        """Returns the number of bytes of an attribute's values, which are read next."""
        return count * SIZES[type_]

    def check_vsize(self, v, type_at, vsize):
        expected = padded(v.slice_bytes)
        if self.out.kind != 5 and expected > 2**32 - 4:
            expected = 2**32 - 1
        if vsize != expected:
            self.remark("R-CH-20", v.vsize_at, f"vsize {vsize}, expected {expected}")

    def region_of(self, number):
        """Returns the length of a variable's region, or None if its values are a plain array."""
        return None

    def finish(self, values_follow):
        """Checks what follows the header, after the whole header has been read."""
        self.out.base = self.out.header_length
        if not values_follow and self.left():
            self.error("R-CH-18", self.at, f"{self.left()} bytes behind the header")

    # The grammar

    def decode(self, values_follow):
        out = self.out
        magic = bytes(self.data[:4])
        if magic[:3] != b"CDF" or magic[3:] not in map(bytes, zip(self.kinds)):
            self.error("R-CH-1", 0, f"magic {magic.hex(' ')}")
        self.take(4, "magic")
        self.trace(0, 4, "magic", magic)
        out.kind = magic[3]
        self.wide = 8 if out.kind >= 5 else 4
        out.records = self.count("numrecs")
        if out.records == 2 ** (8 * self.wide) - 1:
            out.records = None
            self.remark("R-CH-24", 4, "numrecs is STREAMING")
        self.sections()
        self.dimensions()
        out.attributes = self.attributes()
        self.variables()
        out.header_length = self.at
        self.finish(values_follow)
        self.check_sizes()
        self.check_begins()
        self.check_overlap()
        self.check_values(values_follow)
        self.remark_order()
        return out

    def dimensions(self):
        out, seen = self.out, set()
        for i in self.items(DIMENSION, "dimension"):
            name = self.name("dimension", seen)
            at = self.at
            out.dimensions.append(Dimension(name, self.count("dimension length")))
            dimension = out.dimensions[-1]
            if dimension.length > LIMIT:
                self.error("R-CH-7", at, f"dimension length {dimension.length}")
            dimension.is_record = self.is_record(i, dimension.length, at)
            if dimension.is_record:
                out.record_dimension = i

    def attributes(self):
        out, seen = [], set()
        for _ in self.items(ATTRIBUTE, "attribute"):
            name, type_, at = self.name("attribute", seen), self.type(), self.at
            count = self.count("attribute values")
            left = self.left() - (0 if type_ in SIZES else self.wide)
            if padded(count * self.size_of(type_)) > left:
                self.error(
                    "R-CH-4",
                    at,
                    f"{count} values of {TYPES.get(type_, f'type {type_}')}, {left} bytes are left",
                )
            size = self.value_bytes(type_, count)
            out.append(Attribute(name, type_, count, self.padded(size, "attribute value")))
        return out

    def variables(self):
        out, seen = self.out, set()
        for number in self.items(VARIABLE, "variable"):
            name, at = self.name("variable", seen), self.at
            rank = self.count("variable rank")
            if rank * self.wide > self.left():
                self.error("R-CH-4", at, f"{rank} dimensions, {self.left()} bytes are left")
            ids = [self.dimension_id(place) for place in range(rank)]
            attributes, type_at = self.attributes(), self.at
            v = Variable(name, ids, attributes, self.type())
            v.is_record = bool(ids) and out.dimensions[ids[0]].is_record
            v.array_bytes = self.size_of(v.type)
            for d in ids[1 if v.is_record else 0 :]:
                v.array_bytes *= out.dimensions[d].length
                if v.array_bytes > LIMIT:
                    break
            region = self.region_of(number)
            v.slice_bytes = v.array_bytes if region is None else region
            v.vsize_at = self.at
            vsize = self.count("vsize")
            if padded(v.slice_bytes) > LIMIT:
                self.error(
                    "R-CH-14",
                    v.vsize_at,
                    f"variable {name[:100]!r}: a slice of more than 2^63 - 1 bytes",
                )
            v.number = number
            self.check_vsize(v, type_at, vsize)
            v.begin_at = self.at
            v.begin = self.number(4 if out.kind == 1 else 8, "begin")
            out.variables.append(v)

    def dimension_id(self, place):
        at, dimensions = self.at, self.out.dimensions
        id_ = self.count("dimension id")
        if id_ >= len(dimensions):
            self.error("R-CH-10", at, f"dimension id {id_}, there are {len(dimensions)}")
        if place and dimensions[id_].is_record:
            self.error("R-CH-11", at, "the record dimension is not the first")
        return id_

    # --- checks that follow when the whole header has been read ---

    def check_sizes(self):
        """Checks R-CH-15."""
        out = self.out
        if out.kind >= 5:
            return
        limit = 2**31 - 4 if out.kind == 1 else 2**32 - 4
        last = max(
            (i for i, v in enumerate(out.variables) if v.is_record), default=len(out.variables) - 1
        )
        for i, v in enumerate(out.variables):
            if v.slice_bytes > limit and i != last:
                self.error(
                    "R-CH-15",
                    v.vsize_at,
                    f"variable {v.name[:100]!r}: a slice of {v.slice_bytes} bytes, at most {limit}",
                )

    def check_begins(self):
        """Checks R-CH-13 and R-CH-14, and computes the record size and the begin of the first record."""
        out = self.out
        record = [v for v in out.variables if v.is_record]
        limit = 2**31 - 1 if out.kind == 1 else LIMIT
        for v in out.variables:
            if not out.base <= v.begin <= limit:
                self.error(
                    "R-CH-13",
                    v.begin_at,
                    f"variable {v.name[:100]!r}: begin {v.begin}, expected {out.base} to {limit}",
                )
            if v.is_record:
                out.record_size += v.slice_bytes if len(record) == 1 else padded(v.slice_bytes)
            if v.begin + padded(v.slice_bytes) > LIMIT or out.record_size > LIMIT:
                self.error(
                    "R-CH-14", v.begin_at, f"variable {v.name[:100]!r}: ends behind 2^63 - 1"
                )
        out.record_begin = min((v.begin for v in record), default=0)

    def check_overlap(self):
        """Checks R-CH-16."""
        out, end, before = self.out, 0, None
        has_records = any(v.is_record for v in out.variables)
        for v in sorted(out.variables, key=lambda v: v.begin):
            reason = None
            if before and v.begin < end:
                reason = f"{before.name[:100]!r} ends at {end}"
            elif v.is_record and v.end > out.record_begin + out.record_size:
                reason = f"it ends outside of its record of {out.record_size} bytes"
            elif not v.is_record and has_records and v.begin >= out.record_begin:
                reason = f"the records begin at {out.record_begin}"
            if reason:
                self.error("R-CH-16", v.begin_at, f"variable {v.name[:100]!r} at {v.begin}: {reason}")
            end, before = v.end, v

    def check_values(self, values_follow):
        """Checks R-CH-14 for the records, R-CH-17 and R-CH-23."""
        out, size = self.out, len(self.data)
        records = out.records
        if records is None:
            last = max((v.end for v in out.variables if v.is_record), default=0)
            records = (
                max(0, (size - last) // out.record_size + 1)
                if values_follow and out.record_size
                else 0
            )
        if records > LIMIT or out.record_begin + records * out.record_size > LIMIT:
            self.error(
                "R-CH-14", 4, f"{records} records of {out.record_size} bytes end behind 2^63 - 1"
            )
        if not values_follow:
            return
        out.records = records
        end = out.values_end(records)
        if size < end:
            self.error("R-CH-17", size, f"a file of {size} bytes, the values end at {end}")
        lone = sum(v.is_record for v in out.variables) == 1
        padded_end = end if lone and records else padded(end)
        if size < padded_end:
            self.remark(
                "R-CH-17", size, f"a file of {size} bytes, the padding ends at {padded_end}"
            )
        if not records:
            padded_end = max(padded_end, out.record_begin)
        if size > padded_end:
            self.remark("R-CH-23", padded_end, f"{size - padded_end} bytes behind the values")

    def remark_order(self):
        """Adds remarks for R-CH-21 and R-CH-22."""
        out = self.out
        fixed_end = max(
            [out.header_length] + [padded(v.end) for v in out.variables if not v.is_record]
        )
        expected = {False: out.header_length, True: fixed_end}
        for v in out.variables:
            if v.begin > expected[v.is_record]:
                self.remark(
                    "R-CH-21",
                    v.begin_at,
                    f"variable {v.name[:100]!r}: begin {v.begin}, expected {expected[v.is_record]}",
                )
            elif v.begin < expected[v.is_record]:
                self.remark(
                    "R-CH-22",
                    v.begin_at,
                    f"variable {v.name[:100]!r}: begin {v.begin}, expected {expected[v.is_record]}",
                )
            expected[v.is_record] = v.begin + padded(v.slice_bytes)


def is_new_name(name):
    """Returns whether a new dimension, variable or attribute may have this name (section 5.6)."""
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return (
        len(name) <= 65535
        and name not in (b"", b".", b"..")
        and b"/" not in name
        and b"\0" not in name
    )


def decode(data, values_follow=True, trace=None):
    """Decodes a header.

    values_follow: True if the data are a file, False if they are a body, which has only the header.
    """
    return Decoder(data, trace).decode(values_follow)
