"""Decodes rows of statistics, and computes statistics from values (format.md, section 9.3).

This module is a part of nmb_reference.py. It is slow, because it handles one value after the other.
"""

import math
import struct

import classic_reference as classic
import extended_reference as extended

ELEMENTS, MISSING, NAN = range(3)
NO_RANGE, RANGE = range(2)
MOST_BITS = 24


class Broken(Exception):
    """The row breaks R-ST-1."""


class Row:
    """Statistics of one variable."""

    def __init__(self, kind):
        self.kind = kind
        self.counts = [0, 0, 0]
        self.range = None  # minimum and maximum in external form
        self.histogram = None  # (bits, [(code, count)])

    def __eq__(self, other):
        return vars(self) == vars(other)


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


def decode(row, data):
    """Returns the Row for the columns `row` and the bytes `data`. Raises Broken if the row breaks R-ST-1."""
    code, out = row["kind"], Row(NO_RANGE)
    out.counts = [row["elements"], row["missing"], row["NaN"]]
    elements, missing, nan = out.counts
    left = elements - missing - nan
    if code not in classic.SIZES:
        raise Broken(f"type {code}")
    if left < 0 or elements >> 63 or nan and code not in (5, 6):
        raise Broken(f"counts {out.counts} of type {code}")
    bits = row["minimum"], row["maximum"]
    if code == classic.CHAR or left == 0:
        if any(bits) or data:
            raise Broken("a range or a histogram of no values")
        return out
    size = classic.SIZES[code]
    if max(bits) >> 8 * size:
        raise Broken(f"a range of more than {size} bytes")
    out.kind, out.range = RANGE, tuple(value.to_bytes(size, "big") for value in bits)
    numbers = [number_of(code, value) for value in out.range]
    if any(map(is_nan, numbers)) or order_of(numbers[0]) > order_of(numbers[1]):
        raise Broken(f"minimum {numbers[0]}, maximum {numbers[1]}")
    if data:
        items = Payload(data)
        out.histogram = decode_histogram(items, out.counts)
        if items.at != len(data):
            raise Broken(f"{len(data) - items.at} bytes behind the last count")
    return out


def decode_histogram(items, counts):
    bits, width, count = items.number(1), items.number(1), items.number(2)
    if not (1 <= bits <= MOST_BITS and 1 <= width <= 8 and 1 <= count <= most_buckets(counts[ELEMENTS])):
        raise Broken(f"a histogram of {bits} bits, width {width}, {count} buckets")
    codes = [items.number(3) for _ in range(count)]
    values = [items.number(width) for _ in range(count)]
    if codes != sorted(set(codes)) or codes[-1] >> bits or min(values) == 0:
        raise Broken("buckets that do not ascend, or are empty")
    if width_of(max(values)) != width or sum(values) != counts[ELEMENTS] - counts[MISSING] - counts[NAN]:
        raise Broken("buckets that do not hold what was counted")
    return bits, list(zip(codes, values))


class Payload:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Broken(f"{len(self.data) - self.at} bytes, expected at least {n}")
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


def missing_of(c, variable, code, little, fill_set):
    """Returns the values that count as missing.

    fill_set: the stored fill value from the hdf5 section, or None.
    """
    size = classic.SIZES[code]
    one = lambda raw: number_of(code, raw[::-1] if little else raw)
    stated = {
        a.name: a.raw[:size]
        for a in variable.attributes
        if a.type == variable.type and a.count == 1 and a.name in (b"_FillValue", b"missing_value")
    }
    out = [one(stated[b"missing_value"])] if b"missing_value" in stated else []
    if b"_FillValue" in stated:
        out.append(one(stated[b"_FillValue"]))
    elif size > 1 and fill_set and len(fill_set) == size:
        out.append(one(fill_set))
    elif size > 1 and variable.type in classic.SIZES:
        out.append(number_of(code, classic.DEFAULT_FILL[code]))
    return out


def count(c, variable, raw, fill_set, with_histogram):
    """Computes the Row of a variable from the stored bytes `raw` of its values."""
    code, little = classic_type(c, variable.type)
    size = classic.SIZES[code]
    values = [v[0] for v in struct.iter_unpack(("<" if little else ">") + classic.CODES[code], raw)]
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
    """Returns the first MOST_BITS bits of the value as binary64, rounded toward zero.

    All bits of a negative value are inverted, and only the sign bit of any other value.
    """
    if isinstance(value, int):
        excess = max(0, abs(value).bit_length() - 53)
        magnitude = abs(value) >> excess << excess
        value = -magnitude if value < 0 else magnitude
    bits = struct.unpack(">Q", struct.pack(">d", float(value) + 0.0))[0]
    bits = bits ^ (2**64 - 1) if bits >> 63 else bits | 1 << 63
    return bits >> 64 - MOST_BITS
