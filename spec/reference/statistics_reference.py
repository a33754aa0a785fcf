"""Decodes rows of statistics, and computes statistics from values (tables.md, section 9.3).

This module is a part of nmb_reference.py. The module is slow, because it handles only one value at a time.
"""

import itertools
import math
import struct

import classic_reference as classic
import extended_reference as extended

ELEMENTS, MISSING, NAN = range(3)
NO_RANGE, RANGE = range(2)
MOST_BITS = 24
MOST_PARTS = 1024
NULL_SPACE = 2  # class of a space in the hdf5 section
RUN = 4096  # number of values in a unit of a variable that is not stored in chunks
TEXT, INT64, UINT64, DOUBLE = range(1, 5)  # kinds of tags and of results of functions
NAMES_OF_STATISTICS = (b"elements", b"missing", b"nan", b"min", b"max")


class Broken(Exception):
    """The row breaks `rule`."""

    def __init__(self, rule, message):
        super().__init__(message)
        self.rule = rule


class Row:
    """Statistics of one variable."""

    def __init__(self, kind):
        self.kind = kind
        self.counts = [0, 0, 0]
        self.range = None  # minimum and maximum in external form
        self.histogram = None  # (bits, [(code, count)])

    def __eq__(self, other):
        return vars(self) == vars(other)


class Parts:
    """Ranges of the parts of one variable."""

    def __init__(self, shift, ranges, ordered):
        self.shift = shift
        self.ranges = ranges  # minimum and maximum of each part, in external form
        self.ordered = ordered  # number of ordered values in each part

    def __eq__(self, other):
        return other is not None and vars(self) == vars(other)


class Function:
    """The result of a function: a number in external form, or text."""

    def __init__(self, name, kind, result):
        self.name, self.kind, self.result = name, kind, result


def width_of(largest):
    return (largest.bit_length() + 7) // 8


def most_buckets(elements):
    return min(256, max(16, elements // 16))


def classic_type(c, code):
    """Returns (classic type of the values, whether their bytes are little-endian).

    Returns None if values of this type are not counted.
    """
    if code in classic.SIZES:
        return code, False
    t = c.extension.types[code - extended.FIRST_TYPE]
    if t.class_ == extended.STRING:
        return (classic.CHAR, False) if t.size == 1 and not t["variable length"] else None
    if t.class_ not in (extended.INTEGER, extended.FLOAT):
        return None
    if t["bit offset"] or t["precision"] != 8 * t.size or t["byte order"] > 1:
        return None
    little = t["byte order"] == 0 and t.size > 1
    if t.class_ == extended.INTEGER:
        found = {1: (7, 1), 2: (8, 3), 4: (9, 4), 8: (11, 10)}.get(t.size)
        return (found[t["signed"]], little) if found else None
    parts = ("sign position", "exponent position", "exponent size", "mantissa position", "mantissa size")
    layout = tuple(t[part] for part in (*parts, "exponent bias", "normalization"))
    if (t.size, *layout) == (4, 31, 23, 8, 0, 23, 127, 2):
        return 5, little
    if (t.size, *layout) == (8, 63, 52, 11, 0, 52, 1023, 2):
        return 6, little
    return None


# --- Rows ------------------------------------------------------------------------------------------


def variable_of(name):
    """Returns the name of the variable that a row of this name is about."""
    return name.partition(b"\0")[0]


def decode(name, row, data):
    """Returns the Row, Parts or Function for the name, the columns `row` and the bytes `data` of a row.

    Raises Broken if the row breaks R-ST-1, R-ST-4 or R-ST-5.
    """
    if b"\0" not in name:
        return decode_row(row, data)
    function = name.partition(b"\0")[2]
    return decode_function(function, row, data) if function else decode_parts(row, data)


def decode_row(row, data):
    broken = lambda message: Broken("R-ST-1", message)
    code, out = row["kind"], Row(NO_RANGE)
    out.counts = [row["elements"], row["missing"], row["NaN"]]
    elements, missing, nan = out.counts
    left = elements - missing - nan
    if code not in classic.SIZES:
        raise broken(f"type {code}")
    if left < 0 or elements >> 63 or nan and code not in (5, 6):
        raise broken(f"counts {out.counts} of type {code}")
    bits = row["minimum"], row["maximum"]
    if code == classic.CHAR or left == 0:
        if any(bits) or data:
            raise broken("a range or a histogram of no values")
        return out
    size = classic.SIZES[code]
    if max(bits) >> 8 * size:
        raise broken(f"a range of more than {size} bytes")
    out.kind, out.range = RANGE, tuple(value.to_bytes(size, "big") for value in bits)
    numbers = [number_of(code, value) for value in out.range]
    if any(map(is_nan, numbers)) or order_of(numbers[0]) > order_of(numbers[1]):
        raise broken(f"minimum {numbers[0]}, maximum {numbers[1]}")
    if data:
        items = Payload(data, "R-ST-1")
        out.histogram = decode_histogram(items, out.counts)
        if items.at != len(data):
            raise broken(f"{len(data) - items.at} bytes behind the last count")
    return out


def decode_histogram(items, counts):
    broken = lambda message: Broken("R-ST-1", message)
    bits, width, count = items.number(1), items.number(1), items.number(2)
    if not (1 <= bits <= MOST_BITS and 1 <= width <= 8 and 1 <= count <= most_buckets(counts[ELEMENTS])):
        raise broken(f"a histogram of {bits} bits, width {width}, {count} buckets")
    codes = [items.number(3) for _ in range(count)]
    values = [items.number(width) for _ in range(count)]
    if codes != sorted(set(codes)) or codes[-1] >> bits or min(values) == 0:
        raise broken("buckets that do not ascend, or are empty")
    if width_of(max(values)) != width or sum(values) != counts[ELEMENTS] - counts[MISSING] - counts[NAN]:
        raise broken("buckets that do not hold what was counted")
    return bits, list(zip(codes, values))


def decode_parts(row, data):
    broken = lambda message: Broken("R-ST-4", message)
    code, count, items = row["kind"], row["elements"], Payload(data, "R-ST-4")
    if code not in classic.SIZES or code == classic.CHAR:
        raise broken(f"type {code}")
    if not 2 <= count <= MOST_PARTS:
        raise broken(f"{count} parts")
    if any(row[column] for column in ("missing", "NaN", "minimum", "maximum")):
        raise broken("other columns that are not 0")
    shift, width = items.number(1), items.number(1)
    if shift > 63 or not 1 <= width <= 8:
        raise broken(f"shift {shift}, width {width}")
    minima, maxima = ([items.take(classic.SIZES[code]) for _ in range(count)] for _ in range(2))
    ordered = [items.number(width) for _ in range(count)]
    if items.at != len(data):
        raise broken(f"{len(data) - items.at} bytes behind the last number")
    if width_of(max(ordered)) != width or sum(ordered) >> 63:
        raise broken(f"width {width}, the largest number is {max(ordered)}")
    for number, ends in zip(ordered, zip(minima, maxima)):
        if number == 0 and any(b"".join(ends)):
            raise broken("a range of no values")
        low, high = (number_of(code, value) for value in ends)
        if is_nan(low) or is_nan(high) or order_of(low) > order_of(high):
            raise broken(f"minimum {low}, maximum {high}")
    return Parts(shift, list(zip(minima, maxima)), ordered)


def decode_function(name, row, data):
    broken = lambda message: Broken("R-ST-5", message)
    if not is_tag_value(row, data):
        raise broken(f"kind {row['kind']}, {len(data)} bytes")
    if any(row[column] for column in ("elements", "missing", "NaN", "maximum")):
        raise broken("other columns that are not 0")
    if not is_text(name) or name in NAMES_OF_STATISTICS:
        raise broken(f"a function of the name {name!r}")
    return Function(name, row["kind"], data if row["kind"] == TEXT else row["minimum"].to_bytes(8, "big"))


def is_tag_value(row, data):
    """Returns whether kind, value and bytes of a row are those of a tag (section 9.4)."""
    if row["kind"] == TEXT:
        return row["minimum"] == 0 and is_text(data)
    return row["kind"] in (INT64, UINT64, DOUBLE) and not data


def is_text(data):
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


class Payload:
    def __init__(self, data, rule):
        self.data, self.at, self.rule = data, 0, rule

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Broken(self.rule, f"{len(self.data) - self.at} bytes, expected at least {n}")
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")


# --- Values ----------------------------------------------------------------------------------------


def number_of(code, external):
    return struct.unpack(">" + classic.CODES[code], external)[0]


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def order_of(value):
    """Returns a key for sorting values, in which -0 is less than 0."""
    return (value, math.copysign(1, value)) if isinstance(value, float) else (value, 0)


def equal(a, b):
    return a == b or is_nan(a) and is_nan(b)


def has_type(c, attribute, code):
    """Returns whether the values of an attribute have a classic type, in either byte order."""
    return (classic_type(c, attribute.type) or (None,))[0] == code


def missing_of(c, variable, code, little, fill_set):
    """Returns the values that count as missing.

    fill_set: the stored fill value from the hdf5 section, or None.
    """
    size = classic.SIZES[code]
    one = lambda raw, swapped: number_of(code, raw[::-1] if swapped else raw)
    stated = {
        a.name: one(a.raw[:size], classic_type(c, a.type)[1])
        for a in variable.attributes
        if has_type(c, a, code) and a.count == 1 and a.name in (b"_FillValue", b"missing_value")
    }
    out = [stated[b"missing_value"]] if b"missing_value" in stated else []
    if b"_FillValue" in stated:
        out.append(stated[b"_FillValue"])
    elif size > 1 and fill_set and len(fill_set) == size:
        out.append(one(fill_set, little))
    elif size > 1:
        out.append(number_of(code, classic.DEFAULT_FILL[code]))
    return out


def values_of(c, variable, raw):
    """Returns the values of a variable, given their stored bytes `raw`."""
    code, little = classic_type(c, variable.type)
    return [v[0] for v in struct.iter_unpack(("<" if little else ">") + classic.CODES[code], raw)]


def is_counted(c, variable):
    """Returns whether the values of a variable of a countable type are counted."""
    code = classic_type(c, variable.type)[0]
    same = [a for a in variable.attributes if a.name == b"missing_value" and has_type(c, a, code)]
    if any(a.count > 1 for a in same):
        return False
    if not c.extension or variable.number not in c.extension.storage:
        return True
    mine = [p for p in c.extension.properties if p[1:3] == (variable.number, extended.NO_ATTRIBUTE)]
    return not any(
        number in extended.ABSENT or number == extended.SPACE and content[0] == NULL_SPACE
        for number, _, _, content in mine
    )


def count(c, variable, raw, fill_set, with_histogram):
    """Computes the Row of a variable from the stored bytes `raw` of its values."""
    code, little = classic_type(c, variable.type)
    values = values_of(c, variable, raw)
    missing = missing_of(c, variable, code, little, fill_set)
    row, left = Row(NO_RANGE), []
    for value in values:
        if any(equal(value, m) for m in missing):
            row.counts[MISSING] += 1
        elif is_nan(value):
            row.counts[NAN] += 1
        else:
            left.append(value)
    row.counts[ELEMENTS] = len(values)
    if left and code != classic.CHAR:
        row.kind = RANGE
        pack = struct.Struct(">" + classic.CODES[code]).pack
        row.range = pack(min(left, key=order_of)), pack(max(left, key=order_of))
        if with_histogram:
            row.histogram = histogram_of(left, most_buckets(len(values)))
    return row


def parts_of(c, variable, raw, fill_set, shape, chunk):
    """Computes the Parts of a variable from the stored bytes `raw` of its values.

    shape: lengths of the dimensions. chunk: lengths of a chunk, or None if the variable is not stored in chunks.
    Returns None if the variable has no row of parts.
    """
    code, little = classic_type(c, variable.type)
    missing = missing_of(c, variable, code, little, fill_set)
    is_ordered = lambda value: not is_nan(value) and not any(equal(value, m) for m in missing)
    units = units_of(values_of(c, variable, raw), shape, chunk)
    shift = 0
    while -(-len(units) >> shift) > MOST_PARTS:
        shift += 1
    parts, out = [], Parts(shift, [], [])
    for first in range(0, len(units), 2**shift):
        parts.append([value for unit in units[first : first + 2**shift] for value in unit])
    pack = struct.Struct(">" + classic.CODES[code]).pack
    for values in parts:
        ordered = [value for value in values if is_ordered(value)]
        ends = (f(ordered, key=order_of, default=0) for f in (min, max))
        out.ranges.append(tuple(map(pack, ends)))
        out.ordered.append(len(ordered))
    return out if len(parts) >= 2 and any(out.ordered) else None


def units_of(values, shape, chunk):
    """Divides values, which are in row-major order, into the values of each chunk, or into runs."""
    if chunk is None:
        return [values[i : i + RUN] for i in range(0, len(values), RUN)]
    units = []
    for corner in itertools.product(*(range(0, n, step) for n, step in zip(shape, chunk))):
        inside = [range(at, min(at + step, n)) for at, step, n in zip(corner, chunk, shape)]
        unit = []
        for index in itertools.product(*inside):
            number = 0
            for i, n in zip(index, shape):
                number = number * n + i
            unit.append(values[number])
        units.append(unit)
    return units


def histogram_of(values, most):
    bits, counts = MOST_BITS, {}
    for value in values:
        code = code_of(value)
        counts[code] = counts.get(code, 0) + 1
    while len(counts) > most:
        bits, coarser = bits - 1, {}
        for code, n in counts.items():
            coarser[code >> 1] = coarser.get(code >> 1, 0) + n
        counts = coarser
    return bits, sorted(counts.items())


def code_of(value):
    """Returns the histogram code of a value, with MOST_BITS bits.

    The value is converted to binary64, rounded toward zero. If the sign bit is set, all bits are inverted; otherwise
    only the sign bit is inverted. The code is the first MOST_BITS bits of the result.
    """
    if isinstance(value, int):
        excess = max(0, abs(value).bit_length() - 53)
        magnitude = abs(value) >> excess << excess
        value = -magnitude if value < 0 else magnitude
    bits = struct.unpack(">Q", struct.pack(">d", float(value) + 0.0))[0]
    bits = bits ^ (2**64 - 1) if bits >> 63 else bits | 1 << 63
    return bits >> 64 - MOST_BITS
