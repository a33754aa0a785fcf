"""Decodes extended bodies (kind 6) and the values that they describe, in the order of section 15 (extended.md).

decode() returns the Header of classic_reference.py with an Extension. If a broken rule prevents reading, it raises
ClassicError, with an offset from the body's first byte. R-XC-1 and R-XV-1 are checked only when values are read, and
R-H5-1 is checked by read_properties(). If R-XC-1, R-XV-1 or R-H5-1 is broken, BrokenValue is raised.
"""

import fractions
import io
import struct
import zlib

import zstandard

import classic_reference as classic

LIMIT = classic.LIMIT
FIRST_TYPE = 256
HEAP_VALUE = 16  # size in bytes of a value of variable length
MAX_DEPTH = 64
MAX_FILTERS = 32
# Limits of this program, not of the format: number of values that it decodes, and bytes in a chunk.
MAX_VALUES = 2**18
MAX_CHUNK = 2**26


class Unsupported(Exception):
    """This reader cannot read a body or a value, but another reader may."""


class BrokenValue(Exception):
    """A value cannot be read, because it breaks a rule."""

    def __init__(self, rule, message):
        super().__init__(message)
        self.rule = rule


def up(n):
    return (n + 7) // 8 * 8


class Items:
    """Reads little-endian items one after the other. An error is reported as broken `rule` at offset `mark`."""

    def __init__(self, data, start, end, rule, trace=lambda *field: None, error=None):
        self.data, self.at, self.start, self.end = data, start, start, end
        self.rule, self.mark, self.trace = rule, start, trace
        self.error = error or classic.ClassicError

    def fail(self, message):
        raise self.error(self.rule, self.mark, message)

    def left(self):
        return self.end - self.at

    def take(self, n, name):
        if n > self.left():
            self.fail(f"{name} of {n} bytes, {self.left()} are left")
        self.at += n
        return bytes(self.data[self.at - n : self.at])

    def number(self, n, name):
        value = int.from_bytes(self.take(n, name), "little")
        self.trace(self.at - n, n, name, value)
        return value

    def numbers(self, n, size, name):
        if n * size > self.left():
            self.fail(f"{n} {name}s, {self.left()} bytes are left")
        return [self.number(size, name) for _ in range(n)]

    def choice(self, last, name):
        value = self.number(1, name)
        if value > last:
            self.fail(f"{name} is {value}, expected at most {last}")
        return value

    def bytes(self, n, name):
        raw = self.take(n, name)
        if n:
            self.trace(self.at - n, n, name, raw)
        return raw

    def text(self, name):
        return self.bytes(self.number(4, name + " length"), name)

    def zero(self, n, name="reserved"):
        if self.bytes(n, name).strip(b"\0"):
            self.fail(f"{name} is not zero")

    def pad(self):
        self.zero(up(self.at - self.start) - (self.at - self.start), "padding")

    def part(self, n, name):
        """Returns Items for the next n bytes, with unchanged offsets. Padding counts from the first of these bytes."""
        out = Items(self.data, self.at, self.at, self.rule, self.trace, self.error)
        out.mark = self.mark
        self.take(n, name)
        out.end = self.at
        return out


# --- 15 The header and its sections ----------------------------------------------------------------

TYPES, DIMENSIONS, HDF5, STORAGE = 2, 3, 4, 5
NOT_A_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
SECTION_FLAGS = {TYPES: 3, DIMENSIONS: 3, HDF5: 2, STORAGE: 3}


class Extension:
    def __init__(self):
        self.types = []
        self.unlimited = {}  # dimension: (whether it is the record dimension, offset of its entry)
        self.storage = {}  # variable: Storage
        self.hdf5 = b""
        self.properties = []  # of the hdf5 section, if it is read and sound
        self.critical_for_writing = False  # there is an unknown section that is critical for writing

    def size_of(self, type_):
        if type_ in classic.SIZES:
            return classic.SIZES[type_]
        number = type_ - FIRST_TYPE
        return self.types[number].size if 0 <= number < len(self.types) else None

    def is_heap(self, type_):
        return type_ >= FIRST_TYPE and self.types[type_ - FIRST_TYPE].heap


class ExtendedDecoder(classic.Decoder):
    kinds = (6,)

    def sections(self):
        out, size = self.out, len(self.data)
        out.extension = Extension()
        self.length_at = self.at
        self.told_length = self.count("header_length")
        if not self.at <= self.told_length <= size // 8 * 8:
            self.error("R-XB-1", self.length_at, f"header_length {self.told_length} of {size}")
        if size % 8:
            self.error("R-XB-1", size, f"a body of {size} bytes")
        begin = up(self.told_length)
        rest = bytes(self.data[self.told_length : begin]).lstrip(b"\0")
        if rest:
            self.error("R-XB-1", begin - len(rest), "padding behind the header that is not zero")
        if begin > self.told_length:
            self.trace(self.told_length, begin - self.told_length, "padding", b"")
        read_sections(out.extension, Items(self.data, begin, size, "R-XB-2", self.trace))

    def size_of(self, type_):
        return self.out.extension.size_of(type_)

    def is_record(self, number, length, length_at):
        if not self.out.extension.unlimited.get(number, (False,))[0]:
            return False
        if length or self.out.record_dimension is not None:
            self.error("R-XD-2", length_at, f"a second record dimension, or its length {length}")
        return True

    def value_bytes(self, type_, count):
        expected = count * self.size_of(type_)
        if type_ in classic.SIZES:
            return expected
        at, heap = self.at, self.out.extension.is_heap(type_)
        length = self.count("attribute length")
        if (
            length < expected
            or not heap
            and length != expected
            or classic.padded(length) > self.left()
        ):
            self.error(
                "R-XB-3",
                at,
                f"{length} bytes of values, expected {'at least ' if heap else ''}{expected}, "
                f"{self.left()} are left",
            )
        return length

    def region_of(self, number):
        storage = self.out.extension.storage.get(number)
        return storage and storage.region_length

    def check_vsize(self, v, type_at, vsize):
        """Checks vsize by R-XS-2."""
        extension, expected = self.out.extension, classic.padded(v.slice_bytes)
        wrong = lambda text: self.error("R-XS-2", type_at, f"variable {v.name[:100]!r}: {text}")
        if vsize != expected:
            wrong(f"vsize {vsize}, expected {expected}")
        heap, storage = extension.is_heap(v.type), extension.storage.get(v.number)
        if storage is None:
            if heap:
                wrong("values of variable length without a heap")
            return
        if v.is_record and storage.kind != NONE:
            wrong("a region of a record variable")
        if v.array_bytes > LIMIT:
            wrong("an array of more than 2^63 - 1 bytes")
        if storage.kind == NONE and storage.region_length:
            wrong(f"a region of {storage.region_length} bytes without values")
        if storage.kind == HEAP and (not heap or storage.region_length < v.array_bytes):
            wrong(f"a heap of {storage.region_length} bytes, the array needs {v.array_bytes}")
        if storage.kind != CHUNKS:
            return
        if heap:
            wrong("chunks of values of variable length")
        if len(storage.chunk) != len(v.dimensions):
            wrong(f"a chunk of {len(storage.chunk)} dimensions, expected {len(v.dimensions)}")
        chunks, chunk_bytes = 1, self.size_of(v.type)
        for d, length in zip(v.dimensions, storage.chunk):
            chunk_bytes *= length
            if not 0 < chunk_bytes < 2**32:
                wrong(f"a chunk of {chunk_bytes} bytes")
            chunks *= -(-self.out.dimensions[d].length // length)
        if 24 * chunks > storage.region_length:
            wrong(f"a region of {storage.region_length} bytes, a table of {chunks} chunks")

    def finish(self, values_follow):
        out = self.out
        if self.told_length != out.header_length:
            self.error(
                "R-XB-1",
                self.length_at,
                f"header_length {self.told_length}, expected {out.header_length}",
            )
        for number, (_, at) in out.extension.unlimited.items():
            if number >= len(out.dimensions):
                self.error("R-XD-1", at, f"dimension {number}, there are {len(out.dimensions)}")
        for number, storage in out.extension.storage.items():
            if number >= len(out.variables):
                self.error(
                    "R-XS-1", storage.at, f"variable {number}, there are {len(out.variables)}"
                )

    def remark_order(self):
        """Adds no remarks, because begins need not follow the order of definition."""


def read_sections(extension, items):
    last = 0
    while items.left():
        items.mark = items.at
        type_, flags, version, codec = (
            items.number(2, name) for name in ("section type", "flags", "version", "codec")
        )
        length = items.number(8, "section length")
        if type_ <= last:
            items.fail(f"section {type_} behind section {last}")
        if version != 1 or codec or flags != SECTION_FLAGS.get(type_, flags & 3):
            items.fail(f"section {type_}: flags {flags}, version {version}, codec {codec}")
        last = type_
        payload = items.part(length, "section")
        items.pad()
        if type_ == TYPES:
            read_types(extension, payload)
        elif type_ == DIMENSIONS:
            read_dimensions(extension, payload)
        elif type_ == STORAGE:
            read_storage(extension, payload)
        elif type_ == HDF5:
            extension.hdf5 = payload.bytes(length, "hdf5")
        elif flags & 1:
            raise Unsupported(f"section {type_} of an extended body is critical and unknown")
        elif flags & 2:
            extension.critical_for_writing = True


def read_dimensions(extension, items):
    items.rule, last = "R-XD-1", -1
    while items.left():
        items.mark = items.at
        number, flags = items.number(4, "dimension"), items.number(4, "flags")
        if number <= last or flags > 1:
            items.fail(f"dimension {number} behind {last}, flags {flags}")
        extension.unlimited[number] = bool(flags), items.mark
        last = number


def fixed_text(extension, variable, name):
    """Returns an attribute that is one string of fixed length, up to the first NUL."""
    found = next((a for a in variable.attributes if a.name == name), None)
    if found is None or found.type < FIRST_TYPE or found.count != 1:
        return b""
    type_ = extension.types[found.type - FIRST_TYPE]
    if type_.class_ != STRING or type_["variable length"]:
        return b""
    return bytes(found.raw).split(b"\0")[0]


def is_dimension_only(extension, variable):
    return (
        extension is not None
        and fixed_text(extension, variable, b"CLASS") == b"DIMENSION_SCALE"
        and fixed_text(extension, variable, b"NAME").startswith(NOT_A_VARIABLE)
    )


# --- 15.1 Types ------------------------------------------------------------------------------------

CLASSES = "integer float time string bitfield opaque compound reference enum sequence array".split()
INTEGER, FLOAT, TIME, STRING, BITFIELD, OPAQUE, COMPOUND, REFERENCE, ENUM, SEQUENCE, ARRAY = range(
    11
)
BIT_CLASSES = (INTEGER, FLOAT, TIME, BITFIELD)
BITS = ["byte order", "signed", "low padding", "high padding"]
FLOAT_PARTS = ["sign position", "exponent position", "exponent size"]
FLOAT_PARTS += ["mantissa position", "mantissa size"]


class Type(dict):
    """The fields of a type's payload by name, and values computed from these fields."""

    def __init__(self, class_, size):
        super().__init__()
        self.class_, self.size, self.name = class_, size, None
        self.heap, self.depth = False, 1


def read_types(extension, items):
    while items.left():
        items.rule, items.mark = "R-XT-1", items.at
        type_ = read_type(extension, items)
        items.rule, items.mark = "R-XT-2", items.at
        check_type(extension, items, type_)
        extension.types.append(type_)


def read_type(extension, items):
    class_, flags = items.number(2, "class"), items.number(2, "flags")
    length, size = items.number(4, "type length"), items.number(8, "size of a value")
    if class_ >= len(CLASSES) or flags > 1:
        items.fail(f"class {class_}, flags {flags}")
    payload = items.part(length, "type")
    items.pad()
    t = Type(class_, size)
    if flags:
        t.name = payload.text("type name")
        if not t.name:
            payload.fail("an empty name")
        payload.pad()
    if class_ in BIT_CLASSES:
        for name, last in zip(BITS, (2, 1, 2, 2)):
            t[name] = payload.choice(last, name)
        t["bit offset"], t["precision"] = payload.numbers(2, 4, "bit offset and precision")
        payload.zero(4)
        if class_ == FLOAT:
            for name in FLOAT_PARTS:
                t[name] = payload.number(4, name)
            t["normalization"] = payload.choice(2, "normalization")
            t["inner padding"] = payload.choice(2, "inner padding")
            payload.zero(2)
            t["exponent bias"] = payload.number(8, "exponent bias")
    elif class_ == STRING:
        for name, last in (("variable length", 1), ("character set", 1), ("padding", 2)):
            t[name] = payload.choice(last, name)
    elif class_ == OPAQUE:
        t["tag"] = payload.bytes(length - (payload.at - payload.start), "tag")
    elif class_ == COMPOUND:
        t["fields"] = []
        for _ in range(payload.number(4, "fields")):
            code, offset = payload.number(4, "field type"), payload.number(8, "field offset")
            t["fields"].append((code, offset, payload.text("field name")))
    elif class_ == REFERENCE:
        t["to a region"] = payload.choice(1, "to a region")
    elif class_ == ENUM:
        read_enum(extension, payload, items, t)
    elif class_ == SEQUENCE:
        t["base"] = payload.number(4, "base")
    else:
        t["base"] = payload.number(4, "base")
        t["lengths"] = payload.numbers(payload.number(4, "rank"), 8, "length")
    if payload.left():
        payload.fail(f"{payload.left()} bytes behind what class {CLASSES[class_]} has")
    return t


def read_enum(extension, payload, items, t):
    t["base"], count = payload.number(4, "base"), payload.number(4, "members")
    size = extension.size_of(t["base"])
    if size is None:  # the length of the values is not known
        items.rule, items.mark = "R-XT-2", items.at
        items.fail(f"base {t['base']} is not there before")
    if count == 0:
        payload.fail("an enum without members")
    raw = payload.bytes(count * size, "values")
    t["values"] = [raw[i : i + size] for i in range(0, len(raw), size)]
    t["names"] = [payload.text("member name") for _ in t["values"]]


def check_type(extension, items, t):
    """Checks R-XT-2."""
    bases = [t["base"]] if "base" in t else [f[0] for f in t.get("fields", [])]
    for base in bases:
        if extension.size_of(base) is None:
            items.fail(f"base {base} is not there before")
        if base >= FIRST_TYPE:
            inner = extension.types[base - FIRST_TYPE]
            t.heap, t.depth = t.heap or inner.heap, max(t.depth, inner.depth + 1)
    if t.depth > MAX_DEPTH:
        items.fail(f"types within types, {t.depth} deep")
    expected = t.size
    if t.class_ in (REFERENCE, SEQUENCE) or t.get("variable length"):
        t.heap, expected = True, HEAP_VALUE
    elif t.class_ == ENUM:
        expected, base = extension.size_of(t["base"]), t["base"]
        if (
            extension.types[base - FIRST_TYPE].class_ != INTEGER
            if base >= FIRST_TYPE
            else classic.TYPES[base] in ("char", "float", "double")
        ):
            items.fail(f"an enum of type {base}")
    elif t.class_ == ARRAY:
        expected = extension.size_of(t["base"])
        for length in t["lengths"]:
            expected *= length
        if not t["lengths"]:
            items.fail("an array without dimensions")
    elif t.class_ in BIT_CLASSES and not 1 <= t["precision"] <= 8 * t.size - t["bit offset"]:
        items.fail(f"{t['precision']} bits from bit {t['bit offset']} on in {t.size} bytes")
    elif t.class_ == COMPOUND:
        if not t["fields"]:
            items.fail("a compound without fields")
        for base, offset, name in t["fields"]:
            if offset + extension.size_of(base) > t.size:
                items.fail(f"field {name[:100]!r} at {offset} of a value of {t.size} bytes")
        end = 0
        for base, offset, name in sorted(t["fields"], key=lambda field: field[1]):
            if offset < end:
                items.fail(f"field {name[:100]!r} at {offset} shares bytes with another field")
            end = offset + extension.size_of(base)
    if t.size != expected or not 1 <= t.size < 2**32:
        items.fail(f"a size of {t.size} bytes, expected {expected}")


# --- 15.2 Storage ----------------------------------------------------------------------------------

HEAP, CHUNKS, NONE = 1, 2, 3
STORAGE_KINDS = {HEAP: "heap", CHUNKS: "chunks", NONE: "none"}


class Storage:
    def __init__(self, at, kind, region_length):
        self.at, self.kind, self.region_length, self.chunk, self.filters = (
            at,
            kind,
            region_length,
            [],
            [],
        )


class Filter:
    def __init__(self, id_, flags, name, parameters):
        self.id, self.flags, self.name, self.parameters = id_, flags, name, parameters


def read_filters(items, count):
    if count > MAX_FILTERS:
        items.fail(f"{count} filters")
    out = []
    for _ in range(count):
        id_, flags, parameters = (items.number(4, n) for n in ("filter", "flags", "parameters"))
        name = items.text("filter name")
        out.append(Filter(id_, flags, name, items.numbers(parameters, 4, "parameter")))
        items.pad()
    return out


def read_storage(extension, items):
    items.rule, last = "R-XS-1", -1
    while items.left():
        items.mark = items.at
        number, kind, rank = (
            items.number(n, name) for n, name in ((4, "variable"), (2, "kind"), (2, "rank"))
        )
        if number <= last or kind not in STORAGE_KINDS or (rank > 0) != (kind == CHUNKS):
            items.fail(f"variable {number} behind {last}, kind {kind}, a chunk of rank {rank}")
        storage = Storage(items.mark, kind, items.number(8, "region length"))
        storage.chunk = items.numbers(rank, 8, "chunk length")
        if kind == CHUNKS:
            storage.filters = read_filters(items, items.number(8, "filters"))
        extension.storage[number] = storage
        last = number


def unfletcher(raw, *_):
    """Checks and removes HDF5's checksum: two sums of big-endian words, modulo 65535.

    A sum is 0 only if all words are zero.
    """
    if len(raw) < 4:
        raise ValueError("a chunk without its checksum")
    raw, told = raw[:-4], int.from_bytes(raw[-4:], "little")
    first = second = 0
    for i in range(0, len(raw), 2):
        first += int.from_bytes(raw[i : i + 2].ljust(2, b"\0"), "big")
        second += first
    fold = lambda n: (n - 1) % 65535 + 1 if n else 0
    expected = fold(second) << 16 | fold(first)
    # Old writers swapped the two bytes in each half of the checksum.
    old = (expected & 0x00FF00FF) << 8 | (expected & 0xFF00FF00) >> 8
    if told not in (expected, old):
        raise ValueError("the checksum of a chunk is not right")
    return raw


def unshuffle(raw, _, value_size, parameters):
    size = (parameters or [value_size])[0]
    if size == 0:
        raise ValueError("elements of 0 bytes to unshuffle")
    n = len(raw) // size
    if n < 2:
        return raw
    out = bytearray(raw)
    for b in range(size):
        out[b : n * size : size] = raw[b * n : (b + 1) * n]
    return bytes(out)


def inflate(raw, limit, *_):
    stream = zlib.decompressobj()
    out = stream.decompress(raw, limit + 1)
    if not stream.eof and len(out) <= limit:
        raise ValueError("a deflate stream that is cut")
    return out


def unzstd(raw, limit, *_):
    stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True)
    return stream.read(limit + 1)


# How each filter is reversed, by its number: deflate, shuffle, fletcher32, zstd. The arguments are
# the bytes, a limit, the size of a value and the filter's parameters. A result has at most limit + 1
# bytes, which is enough to see that there are too many.
FILTERS = {1: inflate, 2: unshuffle, 3: unfletcher, 32015: unzstd}


def chunk_of(storage, region, number, length, value_size):
    """Returns the decoded bytes of one chunk, or None if the chunk was never written."""
    row = region[24 * number : 24 * number + 24]
    offset, stored, mask = struct.unpack("<QQI", row[:20])
    wrong = lambda text: BrokenValue("R-XC-1", f"chunk {number}: {text}")
    if stored == 0:
        return None
    if offset + stored > len(region):
        raise wrong(f"{stored} bytes at {offset} of a region of {len(region)}")
    if length > 2**20 and length > 131072 * stored:
        raise wrong(f"{stored} bytes that make {length}")
    raw, limit = bytes(region[offset : offset + stored]), length + 4 * len(storage.filters)
    for n, filter_ in reversed(list(enumerate(storage.filters))):
        if mask >> n & 1:
            continue
        try:
            raw = FILTERS[filter_.id](raw, limit, value_size, filter_.parameters)
        except (ValueError, zlib.error, zstandard.ZstdError, MemoryError) as error:
            raise wrong(str(error)) from error
    if len(raw) != length:
        raise wrong(f"{len(raw)} bytes, expected {length}")
    return raw


def check_table(storage, region, shape):
    """Checks R-XC-2."""
    chunks = 1
    for n, c in zip(shape, storage.chunk):
        chunks *= -(-n // c)
    taken = 24 * chunks + sum(struct.unpack_from("<Q", region, 24 * n + 8)[0] for n in range(chunks))
    if taken > len(region):
        raise BrokenValue("R-XC-2", f"a table and chunks of {taken} bytes in a region of {len(region)}")


def array_of_chunks(storage, region, shape, value_size, fill):
    """Returns the values of all chunks as a plain array."""
    for filter_ in storage.filters:
        if filter_.id not in FILTERS:
            raise Unsupported(f"filter {filter_.id}")
    length, total, counts = value_size, value_size, []
    for n, c in zip(shape, storage.chunk):
        length, total = length * c, total * n
        counts.append(-(-n // c))
    if length > MAX_CHUNK:
        raise Unsupported(f"chunks of {length} bytes are more than this reader takes")
    out = bytearray(fill * (total // value_size))
    chunks = 1 if total else 0
    for n in counts:
        chunks *= n
    row_bytes = storage.chunk[-1] * value_size
    for number in range(chunks):
        raw = chunk_of(storage, region, number, length, value_size)
        if raw is None:
            continue
        first, rest = [], number
        for n, c in zip(reversed(counts), reversed(storage.chunk)):
            first.insert(0, rest % n * c)
            rest //= n
        take = min(row_bytes, (shape[-1] - first[-1]) * value_size)
        for row in range(length // row_bytes):
            at, rest = list(first), row
            for d in range(len(shape) - 2, -1, -1):
                at[d] += rest % storage.chunk[d]
                rest //= storage.chunk[d]
            if any(a >= n for a, n in zip(at, shape)):
                continue
            place = 0
            for a, n in zip(at, shape):
                place = place * n + a
            place *= value_size
            out[place : place + take] = raw[row * row_bytes : row * row_bytes + take]
    return out


# --- Values in JSON --------------------------------------------------------------------------------


def text_of(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"hex": raw.hex()}


class Values:
    """Converts values of a block to JSON. region: the bytes to which values of variable length lead."""

    def __init__(self, extension, region):
        self.extension, self.region, self.taken = extension, region, 0
        self.left = len(region)  # bytes that values of variable length may still lead to (R-XV-2)

    def list(self, type_, raw):
        size = self.extension.size_of(type_)
        if type_ == classic.CHAR:
            return text_of(raw)
        return [self.value(type_, raw[i : i + size]) for i in range(0, len(raw), size)]

    def content(self, raw, size):
        """Returns the bytes of the elements to which a value leads, or None if it leads to no elements."""
        count, offset = struct.unpack("<QQ", raw)
        if offset == 0:
            return None
        if offset + count * size > len(self.region):
            raise BrokenValue(
                "R-XV-1",
                f"{count} elements of {size} bytes at {offset} of {len(self.region)}",
            )
        self.left -= count * size
        if self.left < 0:
            raise BrokenValue("R-XV-2", f"values that together lead to more than the {len(self.region)} bytes")
        return bytes(self.region[offset : offset + count * size])

    def value(self, type_, raw):
        # Values are counted, because even values without bytes, for example null sequences, take memory in the list.
        self.taken += 1
        if self.taken > MAX_VALUES:
            raise Unsupported("more values than this reader takes")
        if type_ == classic.CHAR:
            return text_of(raw)
        if type_ < FIRST_TYPE:
            return number_of(struct.unpack(">" + classic.CODES[type_], raw)[0])
        t = self.extension.types[type_ - FIRST_TYPE]
        if t.class_ == STRING:
            if t["variable length"]:
                content = self.content(raw, 1)
                return None if content is None else text_of(content)
            if t["padding"] == 0:
                return text_of(raw.split(b"\0")[0])
            return text_of(raw.rstrip(b"\0" if t["padding"] == 1 else b" "))
        if t.class_ == REFERENCE:
            return self.reference(t, self.content(raw, 1))
        if t.class_ == SEQUENCE:
            size = self.extension.size_of(t["base"])
            return self.list(t["base"], self.content(raw, size) or b"")
        if t.class_ == ARRAY:
            return self.list(t["base"], raw)
        if t.class_ == COMPOUND:
            return {
                str(text_of(name)): self.value(base, raw[at : at + self.extension.size_of(base)])
                for base, at, name in t["fields"]
            }
        if t.class_ == ENUM:
            if raw in t["values"]:
                return text_of(t["names"][t["values"].index(raw)])
            return self.value(t["base"], raw)
        if t.class_ == INTEGER and t["byte order"] < 2:
            return integer_of(t, raw)
        if t.class_ == FLOAT and t["byte order"] < 2 and t["normalization"] == 2:
            return float_of(t, raw)
        return "0x" + raw.hex()

    def reference(self, t, content):
        if content is None or not t["to a region"]:
            return content and text_of(content)
        length = int.from_bytes(content[:4], "little")
        if 4 + length > len(content):
            raise BrokenValue("R-XV-1", f"a reference of {len(content)} bytes, path of {length}")
        return {
            "path": text_of(content[4 : 4 + length]),
            "selection": content[4 + length :].hex(),
        }


def number_of(value):
    return value if not isinstance(value, float) or value - value == 0 else str(value)


def bits_of(t, raw):
    return int.from_bytes(raw, "big" if t["byte order"] else "little")


def integer_of(t, raw):
    precision = t["precision"]
    value = bits_of(t, raw) >> t["bit offset"] & (1 << precision) - 1
    return value - (1 << precision) if t["signed"] and value >> precision - 1 else value


def float_of(t, raw):
    bits = bits_of(t, raw)
    part = lambda what: bits >> t[what + " position"] & (1 << t[what + " size"]) - 1
    sign = -1 if bits >> t["sign position"] & 1 else 1
    exponent, mantissa, size = part("exponent"), part("mantissa"), t["mantissa size"]
    if exponent == (1 << t["exponent size"]) - 1:
        return "nan" if mantissa else str(sign * float("inf"))
    if exponent:
        mantissa += 1 << size
    power = max(exponent, 1) - t["exponent bias"] - size
    if abs(power) > 2**12:
        return "0x" + raw.hex()
    try:
        return float(sign * mantissa * fractions.Fraction(2) ** power)
    except OverflowError:
        return "0x" + raw.hex()


# --- The hdf5 section (hdf5_section.md) ------------------------------------------------------------

NO_OWNER = NO_ATTRIBUTE = 2**32 - 1
(SPACE, CREATION, ORDER, LINKS, TYPE_ATTRIBUTES, EXTERNAL, VIRTUAL) = range(1, 8)
(USER_BLOCK, CHARACTER_SET, COMMENT, TYPE_COMMENT, DIMENSIONS_ABOVE, UNDECODED, DAMAGED_CHUNKS) = range(8, 15)
ABSENT = {EXTERNAL, VIRTUAL, UNDECODED}  # properties of variables whose values the block does not have
REPEATED = (TYPE_ATTRIBUTES, TYPE_COMMENT)


class Creation:
    """Property 2. fill is None if the user set no fill value."""

    def __init__(self):
        self.layout, self.allocation, self.fill_time, self.state = 1, 2, 2, 1
        self.fill, self.chunk, self.filters = None, [], []


class Link:
    def __init__(self, kind, character_set, number, name, content):
        self.kind, self.character_set, self.number = kind, character_set, number
        self.name, self.content = name, content


def read_properties(section):
    """Returns a list of (number, owner, attribute, content) with one item for each property.

    read_property() describes the content.
    """
    wrong = lambda rule, offset, text: BrokenValue(rule, f"hdf5 section at {offset}: {text}")
    items, out, last = Items(section, 0, len(section), "R-H5-1", error=wrong), [], None
    while items.left():
        items.mark = items.at
        number = items.number(2, "number")
        items.zero(2)
        owner, attribute, length = (items.number(4, n) for n in ("owner", "attribute", "length"))
        payload = items.part(length, "property")
        items.pad()
        place = (owner + 1) % 2**32, (attribute + 1) % 2**32, number
        if last is not None and (place < last or place == last and number not in REPEATED):
            items.fail(f"property {number} of {owner}, {attribute} is not in order")
        last = place
        if SPACE <= number <= DAMAGED_CHUNKS:
            content = read_property(payload, number)
            if payload.left():
                payload.fail(f"{payload.left()} bytes behind what property {number} has")
            out.append((number, owner, attribute, content))
    return out


def above_levels(c, properties):
    """Returns {dimension: level} for a classic dataset of kind 6, otherwise None."""
    if c.extension is None or not properties or properties[0][0] != DIMENSIONS_ABOVE:
        return None
    section = c.extension.hdf5
    length = struct.unpack_from("<I", section, 12)[0]
    return dict(struct.iter_unpack("<II", section[16 : 16 + length]))


def read_property(items, number):
    """Returns the content of a property, or None.

    SPACE: (class, lengths, maximum lengths). CREATION: a Creation. ORDER: (order of links, order of
    attributes). LINKS: a list of Link. TYPE_ATTRIBUTES and TYPE_COMMENT: (type, bytes). USER_BLOCK
    and COMMENT: bytes. UNDECODED: the number of the filter. Other properties: None.
    """
    if number == SPACE:
        class_ = items.choice(2, "class")
        items.zero(3)
        rank = items.number(4, "rank")
        lengths = items.numbers(2 * rank, 8, "length")
        return class_, lengths[:rank], lengths[rank:]
    if number == CREATION:
        c = Creation()
        c.layout, c.allocation, c.fill_time, c.state = (
            items.choice(last, name)
            for name, last in (("layout", 3), ("allocation", 3), ("fill time", 2), ("fill value", 2))
        )
        fill = items.text("fill value")
        c.fill = fill if c.state == 2 else None
        items.pad()
        rank, filters = items.number(4, "rank"), items.number(4, "filters")
        c.chunk = items.numbers(rank, 8, "chunk length")
        c.filters = read_filters(items, filters)
        return c
    if number == ORDER:
        order = items.number(4, "order of links"), items.number(4, "order of attributes")
        if order[0] | order[1] > 3:
            items.fail("unknown flags of an order")
        return order
    if number == LINKS:
        out = []
        while items.left():
            kind, character_set = items.choice(6, "kind"), items.choice(1, "character set")
            items.zero(2)
            to = items.number(4, "number")
            lengths = items.number(4, "name length"), items.number(4, "content length")
            out.append(Link(kind, character_set, to, *(items.bytes(n, "link") for n in lengths)))
        return out
    if number in (TYPE_ATTRIBUTES, TYPE_COMMENT):
        type_ = items.number(4, "type")
        if type_ > 0xFFFF:
            items.fail(f"type {type_}")
        items.zero(4)
        return type_, items.bytes(items.left(), "bytes")
    if number in (EXTERNAL, VIRTUAL):
        count = items.number(4, "count")
        items.zero(4)
        for _ in range(count):
            if number == EXTERNAL:
                items.numbers(2, 8, "offset and size")
                items.text("file")
            else:
                for name in ("file", "data set", "selection here", "selection there"):
                    items.text(name)
        return None
    if number in (USER_BLOCK, COMMENT):
        return items.bytes(items.left(), "bytes")
    if number == CHARACTER_SET:
        return items.choice(1, "character set")
    if number == UNDECODED:
        number = items.number(4, "filter")
        items.text("name")
        return number
    if number == DAMAGED_CHUNKS:
        return None
    last = -1
    while items.left():
        dimension, levels = items.number(4, "dimension"), items.number(4, "groups above")
        if dimension <= last:
            items.fail("dimensions that do not ascend")
        if levels == 0:
            items.fail("0 groups above, expected at least 1")
        last = dimension
    return None


def decode(data, trace=None):
    return ExtendedDecoder(data, trace).decode(values_follow=False)
