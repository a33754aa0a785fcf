"""Section 14, the classic netCDF header (CDF-1, CDF-2, CDF-5), for nmb_reference.py.

decode() returns a Header, whose remarks are departures from the canonical form; what hinders reading
is raised as ClassicError. Both carry rule ids of classic_header.md and offsets from the header's start.
"""

CHAR = 2
TYPES = {1: "byte", 2: "char", 3: "short", 4: "int", 5: "float", 6: "double", 7: "ubyte", 8: "ushort", 9: "uint",
         10: "int64", 11: "uint64"}
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
CODES = {1: "b", 2: "c", 3: "h", 4: "i", 5: "f", 6: "d", 7: "B", 8: "H", 9: "I", 10: "q", 11: "Q"}
DEFAULT_FILL = {
    1: b"\x81", 2: b"\0", 3: b"\x80\x01", 4: b"\x80\0\0\x01", 5: b"\x7c\xf0\0\0", 6: b"\x47\x9e\0\0\0\0\0\0", 7: b"\xff",
    8: b"\xff\xff", 9: b"\xff\xff\xff\xff", 10: b"\x80\0\0\0\0\0\0\x02", 11: b"\xff\xff\xff\xff\xff\xff\xff\xfe"}
DIMENSION, VARIABLE, ATTRIBUTE = 10, 11, 12
LIMIT = 2**63 - 1


class ClassicError(Exception):
    def __init__(self, rule, offset, message):
        super().__init__(message)
        self.rule, self.offset = rule, offset


class Dimension:
    def __init__(self, name, length):
        self.name, self.length, self.is_record = name, length, length == 0


class Attribute:
    def __init__(self, name, type_, count, raw):
        self.name, self.type, self.count, self.raw = name, type_, count, raw


class Variable:
    def __init__(self, name, dimensions, attributes, type_):
        self.name, self.dimensions, self.attributes, self.type = name, dimensions, attributes, type_
        self.begin = self.slice_bytes = self.is_record = None


class Header:
    def __init__(self):
        self.kind = self.records = self.header_length = self.record_dimension = None
        self.dimensions, self.attributes, self.variables, self.remarks = [], [], [], []
        self.record_size = self.record_begin = 0

    def values_end(self, records):
        """First byte behind the last value, padding not counted."""
        end = self.header_length
        for v in self.variables:
            if not v.is_record:
                end = max(end, v.begin + v.slice_bytes)
            elif records:
                end = max(end, v.begin + (records - 1) * self.record_size + v.slice_bytes)
        return end


class Decoder:
    def __init__(self, data, trace):
        self.data, self.at, self.out, self.trace = data, 0, Header(), trace or (lambda *field: None)

    def error(self, rule, offset, message):
        raise ClassicError(rule, offset, message)

    def remark(self, rule, offset, message):
        self.out.remarks.append((rule, offset, message))

    def take(self, n, name):
        if n > len(self.data) - self.at:
            self.error("R-CH-CUT", self.at, f"{name}: {n} bytes expected, {len(self.data) - self.at} are left")
        self.at += n
        return bytes(self.data[self.at - n : self.at])

    def number(self, n, name):
        value = int.from_bytes(self.take(n, name), "big")
        self.trace(self.at - n, n, name, value)
        return value

    def count(self, name, item):
        """NON_NEG: a count of things of at least `item` bytes each."""
        at = self.at
        value = self.number(self.wide, name)
        if value > (LIMIT if self.wide == 8 else 2**31 - 1):
            self.error("R-CH-NEG", at, f"{name} {value} is negative")
        if item and value > (len(self.data) - self.at) // item:
            self.error("R-CH-COUNT", at, f"{name} {value}: {len(self.data) - self.at} bytes are left")
        return value

    def padded(self, n, name):
        at = self.at
        raw = self.take(n, name)
        if n:
            self.trace(at, n, name, raw)
        padding_at = self.at
        padding = self.take(-n % 4, name + " padding")
        if padding:
            self.trace(padding_at, len(padding), "padding", padding)
        if padding.strip(b"\0"):
            self.remark("R-CH-PAD", self.at - len(padding), f"{name}: padding {padding.hex(' ')}, expected zero")
        return raw

    def name(self, what):
        at = self.at
        name = self.padded(self.count(what + " name length", 1), what + " name")
        return at, name

    def list_of(self, tag, what, item):
        at = self.at
        found = self.number(4, what + " list tag")
        if found not in (0, tag):
            self.error("R-CH-TAG", at, f"tag {found} of the list of {what}s, expected {tag} or 0")
        at_count = self.at
        n = self.count(f"number of {what}s", item)
        if found == 0 and n:
            self.error("R-CH-ABSENT", at_count, f"an absent list of {n} {what}s")
        return range(n)

    def unique(self, seen, at, name, what):
        if name in seen:
            self.error("R-CH-DUP", at, f"{what} {name!r} is there twice")
        seen.add(name)

    def attributes(self, what):
        out, seen = [], set()
        for _ in self.list_of(ATTRIBUTE, what + " attribute", 2 * self.wide + 4):
            at, name = self.name("attribute")
            self.unique(seen, at, name, "attribute")
            type_ = self.type()
            count = self.count("attribute values", SIZES[type_])
            out.append(Attribute(name, type_, count, self.padded(count * SIZES[type_], "attribute value")))
        return out

    def type(self):
        at = self.at
        type_ = self.number(4, "type")
        if type_ not in SIZES or self.out.kind != 5 and type_ > 6:
            self.error("R-CH-TYPE", at, f"type {type_}")
        return type_

    def decode(self, values_follow):
        out = self.out
        magic = self.take(4, "magic")
        if magic[:3] != b"CDF" or magic[3] not in (1, 2, 5):
            self.error("R-CH-MAGIC", 0, f"magic {magic.hex(' ')}")
        self.trace(0, 4, "magic", magic)
        out.kind = magic[3]
        self.wide = 8 if out.kind == 5 else 4
        records_at = self.at
        out.records = self.number(self.wide, "numrecs")
        if out.records == 2 ** (8 * self.wide) - 1:
            out.records = None  # STREAMING
        elif out.records >> (8 * self.wide - 1):
            self.error("R-CH-NEG", records_at, f"numrecs {out.records} is negative")
        self.dimensions()
        out.attributes = self.attributes("global")
        self.variables()
        out.header_length = self.at
        self.layout(values_follow)
        return out

    def dimensions(self):
        out, seen = self.out, set()
        for i in self.list_of(DIMENSION, "dimension", 2 * self.wide):
            at, name = self.name("dimension")
            self.unique(seen, at, name, "dimension")
            at = self.at
            out.dimensions.append(Dimension(name, self.count("dimension length", 0)))
            if out.dimensions[-1].is_record:
                if out.record_dimension is not None:
                    self.error("R-CH-RECDIM", at, "a second record dimension")
                out.record_dimension = i

    def variables(self):
        out, seen = self.out, set()
        self.begins = []
        for _ in self.list_of(VARIABLE, "variable", 16 if self.wide == 4 else 32):
            at, name = self.name("variable")
            self.unique(seen, at, name, "variable")
            rank = self.count("variable rank", self.wide)
            ids = []
            for place in range(rank):
                at = self.at
                ids.append(self.number(self.wide, "dimension id"))
                if ids[-1] >= len(out.dimensions):
                    self.error("R-CH-DIMID", at, f"dimension id {ids[-1]} of {len(out.dimensions)}")
                if place and out.dimensions[ids[-1]].is_record:
                    self.error("R-CH-RECPOS", at, "the record dimension is not the first")
            v = Variable(name, ids, self.attributes("variable"), self.type())
            v.is_record = bool(ids) and out.dimensions[ids[0]].is_record
            v.slice_bytes = SIZES[v.type]
            for d in ids:
                if not out.dimensions[d].is_record and v.slice_bytes <= LIMIT:
                    v.slice_bytes *= out.dimensions[d].length
            vsize_at = self.at
            vsize = self.number(self.wide, "vsize")
            padded = v.slice_bytes + -v.slice_bytes % 4
            if v.slice_bytes > LIMIT:
                self.error("R-CH-SIZE", vsize_at, f"variable {name!r} of {v.slice_bytes} bytes")
            top = 2 ** (8 * self.wide) - 1
            if vsize != (padded if padded <= top - 3 else top):
                self.remark("R-CH-VSIZE", vsize_at, f"vsize {vsize}, expected {padded}")
            begin_at = self.at
            v.begin = self.number(4 if out.kind == 1 else 8, "begin")
            self.begins.append(begin_at)
            out.variables.append(v)

    def layout(self, values_follow):
        out = self.out
        record = [v for v in out.variables if v.is_record]
        if len(record) == 1:
            out.record_size = record[0].slice_bytes
        else:
            out.record_size = sum(v.slice_bytes + -v.slice_bytes % 4 for v in record)
        out.record_begin = min((v.begin for v in record), default=0)
        for v, at in zip(out.variables, self.begins):
            if v.begin < out.header_length or v.begin > LIMIT:
                self.error("R-CH-BEGIN", at, f"begin {v.begin}, the header is {out.header_length} long")
        # TODO rules of classic_header.md on overlap and on values past the end of the file


def decode(data, values_follow=True, trace=None):
    return Decoder(data, trace).decode(values_follow)
