"""Values of HDF5 attributes and data sets, typed.

Values are read with the file's own type as memory type, so that nothing is converted: a value of fixed size
is its bytes. Behind variable lengths and strings are pointers, which are followed and freed here; references
become names. A decoder turns the bytes of an element into its *content*: bytes, None (a null string), the name of
what a reference refers to, or a tuple of contents (members, array elements, elements of a sequence).
"""

import ctypes
import struct

import numpy
from h5py import h5t

import hdf5_types
from differences import text

LIBC = ctypes.CDLL(None)
LIBC.free.argtypes = [ctypes.c_void_p]


def is_fixed(type_id):
    """Whether the bytes of a value are the value: no pointer and no reference in it."""
    kind = type_id.get_class()
    if kind in (h5t.VLEN, h5t.REFERENCE):
        return False
    if kind == h5t.STRING:
        return not type_id.is_variable_str()
    if kind == h5t.ARRAY:
        return is_fixed(type_id.get_super())
    if kind == h5t.COMPOUND:
        return all(is_fixed(part) for _, _, part in hdf5_types.members(type_id))
    return True


def decoder(type_id, file):
    """A function (bytes, offset) -> content; frees what it follows, so it runs once on what was read.

    Gaps between the members of a compound count only where the whole compound is of fixed size."""
    size = type_id.get_size()
    if is_fixed(type_id):
        return lambda raw, at: raw[at : at + size]
    return DECODERS[type_id.get_class()](type_id, file)


def decode_string(type_id, file):
    def decode(raw, at):
        (pointer,) = struct.unpack_from("P", raw, at)
        if not pointer:
            return None
        content = ctypes.string_at(pointer)
        LIBC.free(pointer)
        return content

    return decode


def decode_vlen(type_id, file):
    base = type_id.get_super()
    part, size = decoder(base, file), base.get_size()
    fixed = is_fixed(base)

    def decode(raw, at):
        length, pointer = struct.unpack_from("NP", raw, at)
        if not pointer or not length:
            return ()
        sequence = ctypes.string_at(pointer, length * size)
        LIBC.free(pointer)
        # The bytes alone would do where they are the values, but the count of elements is then not told.
        if fixed:
            return (length, sequence)
        return tuple(part(sequence, i * size) for i in range(length))

    return decode


def decode_reference(type_id, file):
    size = type_id.get_size()
    if hdf5_types.is_object_reference(type_id):
        return lambda raw, at: file.name_of_object(struct.unpack_from("Q", raw, at)[0])
    return lambda raw, at: file.name_of_region(raw[at : at + size], type_id)


def decode_compound(type_id, file):
    parts = [(offset, decoder(part, file)) for _, offset, part in hdf5_types.members(type_id)]
    return lambda raw, at: tuple(part(raw, at + offset) for offset, part in parts)


def decode_array(type_id, file):
    base = type_id.get_super()
    part, size = decoder(base, file), base.get_size()
    count = type_id.get_size() // size
    return lambda raw, at: tuple(part(raw, at + i * size) for i in range(count))


DECODERS = {
    h5t.STRING: decode_string,
    h5t.VLEN: decode_vlen,
    h5t.REFERENCE: decode_reference,
    h5t.COMPOUND: decode_compound,
    h5t.ARRAY: decode_array,
}


def contents(type_id, file, raw):
    """The contents of all elements in `raw`."""
    decode, size = decoder(type_id, file), type_id.get_size()
    return [decode(raw, at) for at in range(0, len(raw), size)]


def first_difference(type_id, file_a, raw_a, file_b, raw_b):
    """None, or (index, A-text, B-text, how many elements differ) of two runs of elements of equal types."""
    size = type_id.get_size()
    if is_fixed(type_id):
        unequal = numpy.frombuffer(raw_a, "u1") != numpy.frombuffer(raw_b, "u1")
        if not unequal.any():
            return None
        where = numpy.flatnonzero(unequal.reshape(-1, size).any(axis=1))
        at = int(where[0])
        elements = (bytes(raw[at * size : (at + 1) * size]) for raw in (raw_a, raw_b))
        count = len(where)
    else:
        a, b = contents(type_id, file_a, raw_a), contents(type_id, file_b, raw_b)
        where = [i for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]]
        if not where:
            return None
        at, count = where[0], len(where)
        elements = a[at], b[at]
    return (at, *(show(type_id, element) for element in elements), count)


def show(type_id, content):
    """Text of a content, for the reader of a difference; bytes where text would be ambiguous."""
    kind = type_id.get_class()
    if kind == h5t.COMPOUND:
        return "{" + ", ".join(show_members(type_id, content)) + "}"
    if kind in (h5t.ARRAY, h5t.VLEN):
        base = type_id.get_super()
        return "[" + ", ".join(show(base, part) for part in parts_of(base, content)) + "]"
    if kind == h5t.REFERENCE:
        return " ".join(map(text, content if isinstance(content, tuple) else [content]))
    if content is None:
        return "null"
    if kind == h5t.STRING:
        return repr(content)
    if kind in (h5t.INTEGER, h5t.ENUM):
        base = type_id.get_super() if kind == h5t.ENUM else type_id
        order = "big" if base.get_order() == h5t.ORDER_BE else "little"
        return f"{int.from_bytes(content, order, signed=base.get_sign() == h5t.SGN_2)} (0x{content.hex()})"
    if kind == h5t.FLOAT and len(content) in (4, 8):
        order = ">" if type_id.get_order() == h5t.ORDER_BE else "<"
        return f"{struct.unpack(order + {4: 'f', 8: 'd'}[len(content)], content)[0]!r} (0x{content.hex()})"
    return "0x" + content.hex()


def show_members(type_id, content):
    for i, (name, offset, part) in enumerate(hdf5_types.members(type_id)):
        value = content[offset : offset + part.get_size()] if isinstance(content, bytes) else content[i]
        yield f"{name.decode('utf-8', 'backslashreplace')}={show(part, value)}"


def parts_of(base, content):
    """Elements of an array or a sequence."""
    if not isinstance(content, bytes) and is_fixed(base) and content:
        content = content[1]  # (length, bytes) of a sequence
    if isinstance(content, bytes):
        size = base.get_size()
        return [content[at : at + size] for at in range(0, len(content), size)]
    return content
