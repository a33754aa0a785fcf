"""The structure of an HDF5 datatype, as a dictionary of field and value.

Time, bitfield and enumeration types have getters that h5py lacks or that lose values: those fields come
from the type's encoded form (HDF5 file format, "Datatype Message").
"""

import struct

from h5py import h5t

CLASSES = {
    h5t.INTEGER: "integer", h5t.FLOAT: "float", h5t.TIME: "time", h5t.STRING: "string",
    h5t.BITFIELD: "bitfield", h5t.OPAQUE: "opaque", h5t.COMPOUND: "compound", h5t.REFERENCE: "reference",
    h5t.ENUM: "enum", h5t.VLEN: "vlen", h5t.ARRAY: "array",
}  # fmt: skip
ORDERS = {h5t.ORDER_LE: "little-endian", h5t.ORDER_BE: "big-endian", h5t.ORDER_VAX: "VAX", h5t.ORDER_NONE: "none"}
PADS = {h5t.PAD_ZERO: "zero", h5t.PAD_ONE: "one", h5t.PAD_BACKGROUND: "background"}
STRING_PADS = {h5t.STR_NULLTERM: "null-terminated", h5t.STR_NULLPAD: "null-padded", h5t.STR_SPACEPAD: "space-padded"}
CHARACTER_SETS = {h5t.CSET_ASCII: "ASCII", h5t.CSET_UTF8: "UTF-8"}
SIGNS = {h5t.SGN_NONE: "unsigned", h5t.SGN_2: "two's complement"}
NORMS = {h5t.NORM_IMPLIED: "implied", h5t.NORM_MSBSET: "most significant bit set", h5t.NORM_NONE: "none"}

# Encoded: message number, version of the encoding; class and version, 3 bytes of flags, size; properties.
FLAGS, PROPERTIES = 3, 10


def named(names, number):
    return names.get(number, number)


def describe(type_id, prefix=""):
    """A dictionary, in order, of every field of the type and of the types in it."""
    kind = type_id.get_class()
    out = {prefix + "class": named(CLASSES, kind), prefix + "size": type_id.get_size()}
    fields, parts = DESCRIBERS[kind](type_id) if kind in DESCRIBERS else ({}, {})
    out.update((prefix + name, value) for name, value in fields.items())
    for name, part in parts.items():
        out.update(describe(part, f"{prefix}{name}."))
    return out


def base_type(type_id):
    return type_id.get_super()


def members(type_id):
    """(name, offset, type) of a compound's members, in order."""
    return [
        (type_id.get_member_name(i), type_id.get_member_offset(i), type_id.get_member_type(i))
        for i in range(type_id.get_nmembers())
    ]


def is_object_reference(type_id):
    return bool(type_id.equal(h5t.STD_REF_OBJ))


def is_region_reference(type_id):
    return bool(type_id.equal(h5t.STD_REF_DSETREG))


def describe_bits(type_id):
    return {
        "byte order": named(ORDERS, type_id.get_order()),
        "precision": type_id.get_precision(),
        "offset": type_id.get_offset(),
        "low pad": named(PADS, type_id.get_pad()[0]),
        "high pad": named(PADS, type_id.get_pad()[1]),
    }


def describe_integer(type_id):
    return describe_bits(type_id) | {"sign": named(SIGNS, type_id.get_sign())}, {}


def describe_float(type_id):
    sign, exponent, exponent_size, mantissa, mantissa_size = type_id.get_fields()
    out = describe_bits(type_id) | {
        "sign position": sign,
        "exponent position": exponent,
        "exponent size": exponent_size,
        "exponent bias": type_id.get_ebias(),
        "mantissa position": mantissa,
        "mantissa size": mantissa_size,
        "normalisation": named(NORMS, type_id.get_norm()),
        "inner pad": named(PADS, type_id.get_inpad()),
    }
    return out, {}


def describe_string(type_id):
    return {
        "variable length": bool(type_id.is_variable_str()),
        "padding": named(STRING_PADS, type_id.get_strpad()),
        "character set": named(CHARACTER_SETS, type_id.get_cset()),
    }, {}


def describe_bitfield(type_id):
    encoded = type_id.encode()
    flags = encoded[FLAGS]
    offset, precision = struct.unpack_from("<HH", encoded, PROPERTIES)
    return {
        "byte order": "big-endian" if flags & 1 else "little-endian",
        "precision": precision,
        "offset": offset,
        "low pad": "one" if flags & 2 else "zero",
        "high pad": "one" if flags & 4 else "zero",
    }, {}


def describe_time(type_id):
    encoded = type_id.encode()
    return {
        "byte order": "big-endian" if encoded[FLAGS] & 1 else "little-endian",
        "precision": struct.unpack_from("<H", encoded, PROPERTIES)[0],
    }, {}


def describe_opaque(type_id):
    return {"tag": type_id.get_tag()}, {}


def describe_reference(type_id):
    kind = "object" if is_object_reference(type_id) else "region" if is_region_reference(type_id) else "unknown"
    return {"kind": kind}, {}


def describe_enum(type_id):
    """Values are the last bytes of the encoded form: h5py's getter cuts them to signed 64 bits."""
    base = base_type(type_id)
    count, size = type_id.get_nmembers(), base.get_size()
    values = type_id.encode()[-count * size :] if count else b""
    out = {"members": count}
    for i in range(count):
        out[f"member {i}"] = (type_id.get_member_name(i), values[i * size : (i + 1) * size].hex())
    return out, {"base": base}


def describe_compound(type_id):
    out, parts = {"members": type_id.get_nmembers()}, {}
    for i, (name, offset, part) in enumerate(members(type_id)):
        out[f"member {i} name"] = name
        out[f"member {i} offset"] = offset
        parts[f"member {i}"] = part
    return out, parts


def describe_array(type_id):
    return {"dimensions": tuple(type_id.get_array_dims())}, {"base": base_type(type_id)}


def describe_vlen(type_id):
    return {}, {"base": base_type(type_id)}


DESCRIBERS = {
    h5t.INTEGER: describe_integer,
    h5t.FLOAT: describe_float,
    h5t.STRING: describe_string,
    h5t.BITFIELD: describe_bitfield,
    h5t.TIME: describe_time,
    h5t.OPAQUE: describe_opaque,
    h5t.REFERENCE: describe_reference,
    h5t.ENUM: describe_enum,
    h5t.COMPOUND: describe_compound,
    h5t.ARRAY: describe_array,
    h5t.VLEN: describe_vlen,
}
