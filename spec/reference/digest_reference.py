#!/usr/bin/python3
"""Computes the digest of content (digest.md) of NMB, classic netCDF, netCDF-4 and HDF5 files.

    digest_reference.py FILE...  prints the lines that `nminspect digest FILE` prints

The program shares no code with the library. It reads NMB and classic files with the reference reader, netCDF-4
files with netCDF4-python, and HDF5 files without dimension scales and comments with h5py. It is not fast, and holds all values
in memory. Blocks of an NMB file that have marks of netCDF are not supported: compute the digest of the netCDF file.
"""

import math
import os
import struct
import sys

import xxhash

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import classic_reference as classic  # noqa: E402
import extended_reference as extended  # noqa: E402
import nmb_reference  # noqa: E402

ELSEWHERE = 2**32 - 1
MARKS = (b"_NCProperties", b"_nc3_strict", b"_Netcdf4Dimid", b"_Netcdf4Coordinates", b"DIMENSION_LIST")


class Unsupported(Exception):
    """Content that this program does not read."""


# --- 3. Types ---------------------------------------------------------------------------------------
# A type is a tuple: ("number", name of CDF-5), ("bits", text, size, is VAX), ("string",), ("fixed", size, padding),
# ("opaque", size, tag), ("compound", [(name, type)]), ("enum", type, [(name, canonical value)]), ("reference",),
# ("region",), ("sequence", type), ("array", lengths, type).

NUMPY = {
    "byte": "i1",
    "char": "S1",
    "short": "i2",
    "int": "i4",
    "float": "f4",
    "double": "f8",
    "ubyte": "u1",
    "ushort": "u2",
    "uint": "u4",
    "int64": "i8",
    "uint64": "u8",
}
OF_NUMPY = {code: name for name, code in NUMPY.items()}
NAN = {"float": bytes.fromhex("7fc00000"), "double": bytes.fromhex("7ff8000000000000")}


def counted(name):
    return b"%d:%s" % (len(name), name)


def type_text(t):
    kind = t[0]
    if kind == "number":
        return t[1].encode()
    if kind == "bits":
        return t[1].encode()
    if kind == "fixed":
        return b"string(%d,%d)" % t[1:]
    if kind == "opaque":
        return b"opaque(%d,%s)" % (t[1], counted(t[2]))
    if kind == "compound":
        fields = (counted(name) + b"=" + type_text(field) + b";" for name, field in t[1])
        return b"compound(" + b"".join(fields) + b")"
    if kind == "enum":
        members = (b";" + counted(n) + b"=" + v.hex().encode() for n, v in sorted(t[2]))
        return b"enum(" + type_text(t[1]) + b"".join(members) + b")"
    if kind == "sequence":
        return b"sequence(" + type_text(t[1]) + b")"
    if kind == "array":
        return b"array(" + b"".join(b"%d," % n for n in t[1]) + type_text(t[2]) + b")"
    return kind.encode()


def element_bytes(t):
    """Returns the number of canonical bytes of a value, or None if it varies."""
    kind = t[0]
    if kind == "number":
        return int(NUMPY[t[1]][1])
    if kind == "bits":
        return t[2]
    if kind in ("fixed", "opaque"):
        return t[1]
    if kind == "enum":
        return element_bytes(t[1])
    if kind == "compound":
        sizes = [element_bytes(field) for _, field in t[1]]
        return None if None in sizes else sum(sizes)
    if kind == "array":
        size = element_bytes(t[2])
        return size and size * math.prod(t[1])
    return None


# --- 4. Values --------------------------------------------------------------------------------------


def heap(value):
    return b"\0" + struct.pack(">Q", 0) if value is None else b"\1" + struct.pack(">Q", len(value)) + value


def numbers(name, array):
    """Returns the canonical bytes of an array of numbers."""
    import numpy

    if name == "char":
        return numpy.asarray(array).tobytes()
    out = numpy.ascontiguousarray(array).astype(">" + NUMPY[name])
    if name in NAN:
        raw = out.view(f"V{out.itemsize}").copy()
        raw[numpy.isnan(out)] = numpy.void(NAN[name])
        return raw.tobytes()
    return out.tobytes()


# --- 5. Digests -------------------------------------------------------------------------------------


def u64(number):
    return struct.pack(">Q", number)


def text(value):
    return u64(len(value)) + value


def items(values, encode):
    return u64(len(values)) + b"".join(map(encode, values))


def by_name(values):
    return sorted(values, key=lambda v: v.name)


class Attribute:
    def __init__(self, name, type_, count, values, shape=()):
        self.name, self.type, self.count, self.values, self.shape = name, type_, count, values, shape

    def encode(self):
        shape = self.shape if len(self.shape) > 1 else ()
        out = text(self.name) + text(type_text(self.type)) + items(shape, u64)
        return out + u64(self.count) + text(self.values)


def text_attribute(name, value, shape=()):
    return Attribute(name, ("number", "char"), len(value), value, shape)


class Axis:
    def __init__(self, name, level, length, unlimited, maximum=0):
        self.name, self.level, self.length = name, level, length
        self.unlimited, self.maximum = unlimited, maximum

    def encode(self):
        out = text(self.name) + u64(self.level) + u64(self.length)
        return out + u64(int(self.unlimited)) + u64(self.maximum)


class Variable:
    """A variable. values: the canonical bytes of all elements; for a type of variable length, a list with an item for each."""

    def __init__(self, name, type_, axes, attributes, values, null=False, comment=b""):
        self.name, self.type, self.axes, self.attributes = name, type_, axes, attributes
        self.values, self.null, self.comment = values, null, comment

    def windows(self):
        size = element_bytes(self.type)
        if size is None:
            step = 65536
            parts = (b"".join(self.values[i : i + step]) for i in range(0, len(self.values), step))
        else:
            step = max(1, 2**20 // size) * size
            parts = (self.values[i : i + step] for i in range(0, len(self.values), step))
        return b"".join(xxhash.xxh3_128_digest(part) for part in parts)

    def encode(self):
        out = text(self.name) + text(type_text(self.type)) + u64(int(self.null))
        out += items(self.axes, Axis.encode)
        out += items(by_name(self.attributes), Attribute.encode) + text(self.comment)
        return out + xxhash.xxh3_128_digest(self.windows())


class Dimension:
    def __init__(self, name, length, unlimited):
        self.name, self.length, self.unlimited = name, length, unlimited

    def encode(self):
        return text(self.name) + u64(self.length) + u64(int(self.unlimited))


class NamedType:
    def __init__(self, name, type_, attributes=(), comment=b""):
        self.name, self.type, self.attributes, self.comment = name, type_, attributes, comment

    def encode(self):
        out = text(self.name) + text(type_text(self.type))
        return out + items(by_name(self.attributes), Attribute.encode) + text(self.comment)


class Link:
    def __init__(self, name, kind, number, target):
        self.name, self.kind, self.number, self.target = name, kind, number, target

    def encode(self):
        return text(self.name) + text(self.kind) + u64(self.number) + text(self.target)


class Block:
    def __init__(self, name):
        self.name, self.comment = name, b""
        self.dimensions, self.types, self.links, self.attributes, self.variables = [], [], [], [], []

    def is_empty(self):
        lists = self.dimensions, self.types, self.links, self.attributes, self.variables
        return not any(lists) and not self.comment

    def digest(self):
        out = text(b"nmb/digest/1 block")
        out += items(by_name(self.dimensions), Dimension.encode)
        out += items(by_name(self.types), NamedType.encode)
        out += items(by_name(self.links), Link.encode)
        out += items(by_name(self.attributes), Attribute.encode) + text(self.comment)
        out += items(by_name(self.variables), Variable.encode)
        return xxhash.xxh3_128_digest(out)


def digests(blocks):
    """Returns (a list of (name, digest) of the blocks, the digest of the file)."""
    listed, whole = [], text(b"nmb/digest/1 file")
    for block in by_name(blocks):
        digest = block.digest()
        listed.append((block.name, digest))
        if not block.is_empty():
            whole += text(block.name) + digest
    return listed, xxhash.xxh3_128_digest(whole)


# --- NMB files --------------------------------------------------------------------------------------


class NmbTypes:
    """Types and values of a block of an NMB file."""

    def __init__(self, extension):
        self.extension = extension

    def of(self, code):
        if code in classic.TYPES:
            return "number", classic.TYPES[code]
        t = self.extension.types[code - extended.FIRST_TYPE]
        if t.class_ == extended.STRING:
            if t["variable length"]:
                return ("string",)
            return ("number", "char") if t.size == 1 else ("fixed", t.size, t["padding"])
        if t.class_ in extended.BIT_CLASSES:
            return self.bits(t)
        if t.class_ == extended.OPAQUE:
            return "opaque", t.size, bytes(t["tag"])
        if t.class_ == extended.COMPOUND:
            return "compound", [(bytes(name), self.of(base)) for base, _, name in t["fields"]]
        if t.class_ == extended.REFERENCE:
            return ("region",) if t["to a region"] else ("reference",)
        if t.class_ == extended.ENUM:
            members = [(bytes(n), self.value(t["base"], v, b"")) for n, v in zip(t["names"], t["values"])]
            return "enum", self.of(t["base"]), members
        if t.class_ == extended.SEQUENCE:
            return "sequence", self.of(t["base"])
        return "array", t["lengths"], self.of(t["base"])

    def bits(self, t):
        whole = t["bit offset"] == 0 and t["precision"] == 8 * t.size and t["byte order"] < 2
        class_ = extended.CLASSES[t.class_]
        if whole and class_ == "integer" and t.size in (1, 2, 4, 8):
            return "number", OF_NUMPY[("i" if t["signed"] else "u") + str(t.size)]
        words = [t.size, "signed" if t["signed"] else "unsigned", t["bit offset"], t["precision"]]
        words += [t["low padding"], t["high padding"]] + ["vax"] * (t["byte order"] == 2)
        if t.class_ == extended.FLOAT:
            parts = [t[name] for name in extended.FLOAT_PARTS]
            ieee = {(31, 23, 8, 0, 23, 127): "float", (63, 52, 11, 0, 52, 1023): "double"}
            name = ieee.get((*parts, t["exponent bias"]))
            size = t.size * 8 - 1
            if whole and name and t["normalization"] == 2 and parts[0] == size:
                return "number", name
            words += parts + [t["exponent bias"], t["normalization"], t["inner padding"]]
        word = {"bit field": "bitfield"}.get(class_, class_)
        return "bits", f"{word}({','.join(map(str, words))})", t.size

    def value(self, code, raw, region):
        """Returns the canonical bytes of a value."""
        if code in classic.TYPES:
            return self.number(classic.TYPES[code], bytes(raw))
        t = self.extension.types[code - extended.FIRST_TYPE]
        content = extended.Values(self.extension, region).content
        if t.class_ in extended.BIT_CLASSES:
            canonical = self.bits(t)
            raw = bytes(raw) if t["byte order"] else bytes(raw[::-1])
            return self.number(canonical[1], raw) if canonical[0] == "number" else raw
        if t.class_ == extended.REFERENCE or t.class_ == extended.STRING and t["variable length"]:
            return heap(content(raw, 1))
        if t.class_ == extended.COMPOUND:
            size = self.extension.size_of
            return b"".join(self.value(b, raw[at : at + size(b)], region) for b, at, _ in t["fields"])
        if t.class_ == extended.ENUM:
            return self.value(t["base"], raw, region)
        if t.class_ == extended.SEQUENCE:
            size = self.extension.size_of(t["base"])
            elements = content(raw, size) or b""
            return u64(len(elements) // size) + self.list(t["base"], elements, region)
        if t.class_ == extended.ARRAY:
            return self.list(t["base"], raw, region)
        if t.class_ == extended.STRING and t["padding"] == 0:
            return bytes(raw).split(b"\0")[0].ljust(t.size, b"\0")
        return bytes(raw)

    def number(self, name, raw):
        if name in NAN and math.isnan(struct.unpack({"float": ">f", "double": ">d"}[name], raw)[0]):
            return NAN[name]
        return raw

    def elements(self, code, raw, region):
        """Returns a list of the canonical bytes of each value."""
        size = self.extension.size_of(code) if self.extension else classic.SIZES[code]
        return [self.value(code, raw[i : i + size], region) for i in range(0, len(raw), size)]

    def list(self, code, raw, region):
        return b"".join(self.elements(code, raw, region))


def nmb_attribute(types, attribute, space=None):
    name, code = bytes(attribute.name), attribute.type
    shape = space[1] if space else ()
    if code in classic.TYPES:
        values = types.list(code, bytes(attribute.raw), b"")
        return Attribute(name, types.of(code), attribute.count, values, shape)
    t = types.extension.types[code - extended.FIRST_TYPE]
    array = attribute.raw[: attribute.count * t.size]
    if t.class_ == extended.STRING and attribute.count <= 1:
        value = types.list(code, array, b"") if not t["variable length"] else b""
        if t["variable length"] and attribute.count:
            value = extended.Values(types.extension, attribute.raw).content(array, 1)
            value = value if value is not None and b"\0" not in value else None
        if value is not None:
            return text_attribute(name, value, shape)
    values = types.list(code, array, attribute.raw)
    return Attribute(name, types.of(code), attribute.count, values, shape)


LINKS = {3: b"soft", 4: b"external", 5: b"hard", 6: b"user-defined"}


def nmb_block(file, entry, c):
    if any(a.name in MARKS for owner in [c, *c.variables] for a in owner.attributes) and c.extension:
        raise Unsupported("a block with marks of netCDF")
    for v in c.variables:
        if c.extension and any(a.name == b"CLASS" for a in v.attributes):
            raise Unsupported("a block with dimension scales")
    block, types = Block(bytes(entry.name)), NmbTypes(c.extension)
    properties = c.extension.properties if c.extension else []
    found = {p[:3]: p[3] for p in properties}
    none = extended.NO_ATTRIBUTE
    above = extended.above_levels(c, properties)
    is_classic = c.extension is None or above is not None
    unlimited = lambda d: c.dimensions[d].is_record or bool(c.extension and d in c.extension.unlimited)
    phony = lambda d: not is_classic and is_made_up(c.dimensions[d].name)
    length = lambda d: entry["records"] if c.dimensions[d].is_record else c.dimensions[d].length
    level = lambda d: above.get(d, 0) if above else 0
    for d, dimension in enumerate(c.dimensions):
        if not phony(d) and level(d) == 0:
            block.dimensions.append(Dimension(bytes(dimension.name), length(d), unlimited(d)))
    for i, a in enumerate(c.attributes):
        block.attributes.append(nmb_attribute(types, a, found.get((extended.SPACE, none, i))))
    block.comment = bytes(found.get((extended.COMMENT, none, none)) or b"")
    for link in found.get((extended.LINKS, none, none)) or []:
        if link.kind == 2:
            block.types.append(nmb_named_type(types, link, properties))
        elif link.kind in LINKS:
            block.links.append(Link(bytes(link.name), LINKS[link.kind], link.number, bytes(link.content)))
    for v in c.variables:
        space = found.get((extended.SPACE, v.number, none))
        null = bool(space) and space[0] == 2
        axes = []
        for i, d in enumerate(v.dimensions):
            maximum = space[2][i] if space and space[2] else 0
            maximum = 0 if maximum == 2**64 - 1 or space and maximum == space[1][i] else maximum
            name = b"" if phony(d) else bytes(c.dimensions[d].name)
            axes.append(Axis(name, level(d) if name else 0, length(d), unlimited(d), maximum))
        attributes = [
            nmb_attribute(types, a, found.get((extended.SPACE, v.number, i)))
            for i, a in enumerate(v.attributes)
        ]
        t = types.of(v.type)
        values = [] if null else nmb_elements(file, entry, c, v, properties, types)
        if element_bytes(t) is not None:
            values = b"".join(values)
        comment = bytes(found.get((extended.COMMENT, v.number, none)) or b"")
        block.variables.append(Variable(bytes(v.name), t, axes, attributes, values, null, comment))
    return block


def nmb_named_type(types, link, properties):
    out = NamedType(bytes(link.name), types.of(link.number), [])
    for number, _, _, content in properties:
        if number == extended.TYPE_COMMENT and content[0] == link.number:
            out.comment = bytes(content[1])
        if number == extended.TYPE_ATTRIBUTES and content[0] == link.number:
            raise Unsupported("attributes of a named type")
    return out


def nmb_elements(file, entry, c, v, properties, types):
    storage = c.extension and c.extension.storage.get(v.number)
    if storage:
        found = nmb_reference.region_bytes(file, entry, c, v, storage, properties)
        raw, region = found or (None, b"")
    else:
        raw, region = nmb_reference.variable_bytes(file, entry, c, v), b""
    if raw is None:
        raise Unsupported("values that the reference reader does not read")
    return types.elements(v.type, bytes(raw), region)


def is_made_up(name):
    return name.startswith(b"phony_dim_") and name[10:].isdigit()


def nmb_blocks(file, findings):
    """file: a File of the reference reader. findings: its findings."""
    if findings or file.reading or any(c is None for _, _, c in file.blocks):
        raise Unsupported("a file that is not sound")
    return [nmb_block(file, entry, c) for entry, _, c in file.blocks]


# --- Classic files ----------------------------------------------------------------------------------


def classic_blocks(data):
    c = classic.decode(data, values_follow=True)
    block, types, records = Block(b""), NmbTypes(None), c.records or 0
    length = lambda d: records if d.is_record else d.length
    block.dimensions = [Dimension(bytes(d.name), length(d), d.is_record) for d in c.dimensions]
    block.attributes = [nmb_attribute(types, a) for a in c.attributes]
    for v in c.variables:
        dimensions = [c.dimensions[d] for d in v.dimensions]
        axes = [Axis(bytes(d.name), 0, length(d), d.is_record) for d in dimensions]
        begins = [v.begin + i * c.record_size for i in range(records if v.is_record else 1)]
        raw = b"".join(data[begin : begin + v.slice_bytes] for begin in begins)
        attributes = [nmb_attribute(types, a) for a in v.attributes]
        values = types.list(v.type, raw, b"")
        block.variables.append(Variable(bytes(v.name), types.of(v.type), axes, attributes, values))
    return [block]


# --- netCDF-4 files, by netCDF4-python ----------------------------------------------------------------


def netcdf_type(t):
    """Returns the type of a dtype or user-defined type of netCDF4-python."""
    import netCDF4
    import numpy

    if t is str:
        return ("string",)
    if isinstance(t, netCDF4.EnumType):
        base = netcdf_type(t.dtype)
        return "enum", base, [(n.encode(), numbers(base[1], [v])) for n, v in t.enum_dict.items()]
    if isinstance(t, netCDF4.VLType):
        return "sequence", netcdf_type(t.dtype)
    t = t.dtype if isinstance(t, netCDF4.CompoundType) else numpy.dtype(t)
    if t.subdtype:
        return "array", list(t.shape), netcdf_type(t.subdtype[0])
    if t.names:
        return "compound", [(n.encode(), netcdf_type(t[n])) for n in t.names]
    return "number", OF_NUMPY[t.str[1:]]


def numpy_value(t, value):
    """Returns the canonical bytes of a value of numpy."""
    import numpy

    kind = t[0]
    if kind == "number":
        return numbers(t[1], [value])
    if kind == "enum":
        return numpy_value(t[1], value)
    if kind == "string":
        return heap(value if isinstance(value, bytes) else value.encode())
    if kind == "compound":
        if isinstance(value, numpy.complexfloating):  # h5py returns a compound of r and i as a complex number
            value = {"r": value.real, "i": value.imag}
        return b"".join(numpy_value(field, value[name.decode()]) for name, field in t[1])
    if kind == "array":
        return b"".join(numpy_value(t[2], v) for v in numpy.asarray(value).reshape(-1))
    if kind == "sequence":
        return u64(len(value)) + b"".join(numpy_value(t[1], v) for v in value)
    if kind == "fixed":
        return bytes(value).ljust(t[1], b" " if t[2] == 2 else b"\0")
    if kind in ("bits", "opaque"):
        raw = numpy.asarray(value)
        return raw.astype(raw.dtype.newbyteorder(">")).tobytes() if kind == "bits" else raw.tobytes()
    raise Unsupported(kind)


def numpy_values(t, array):
    import numpy

    array = numpy.asarray(array)
    if t[0] == "number":
        return numbers(t[1], array)
    if t[0] == "enum":
        return numbers(t[1][1], array)
    elements = [numpy_value(t, v) for v in array.reshape(-1)]
    return elements if element_bytes(t) is None else b"".join(elements)


def text_bytes(file, group, variable, name):
    """Returns a text attribute with all its bytes, because netCDF4-python drops each byte 0.

    file: the file, opened with h5py. variable: name of the variable, or None for the group.
    """
    import h5py
    import numpy

    owner = file[group.path]
    if variable:
        hidden = f"_nc4_non_coord_{variable}"
        owner = owner[hidden if hidden in owner else variable]
    attribute = h5py.h5a.open(owner.id, name.encode())
    t = attribute.get_type()
    if t.is_variable_str() or attribute.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        return hdf5_attribute(file, owner, name).values
    values = numpy.zeros(attribute.shape, f"V{t.get_size()}")
    attribute.read(values, mtype=t)
    return values.tobytes()


def netcdf_attribute(group, variable, name, file):
    import numpy

    value = (group.variables[variable] if variable else group).getncattr(name)
    raw = name.encode()
    if isinstance(value, str):
        return text_attribute(raw, text_bytes(file, group, variable, name))
    if isinstance(value, list):
        return Attribute(raw, ("string",), len(value), b"".join(heap(v.encode()) for v in value))
    value = numpy.atleast_1d(value)
    t = netcdf_type(value.dtype)
    return Attribute(raw, t, value.size, numpy_values(t, value))


def netcdf_blocks(path):
    import h5py
    import netCDF4

    with h5py.File(path) as file, netCDF4.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        return list(netcdf_groups(dataset, file))


def scales_of(file, group, v):
    """Returns the paths of the scales of each axis, or None for a variable that is a scale itself."""
    path = f"{group.rstrip('/')}/{v.name}"
    stored = f"{group.rstrip('/')}/_nc4_non_coord_{v.name}"
    item = file[stored if stored in file else path]
    if item.attrs.get("CLASS") == b"DIMENSION_SCALE":
        return [None] * v.ndim
    lists = item.attrs["DIMENSION_LIST"] if "DIMENSION_LIST" in item.attrs else [[]] * v.ndim
    return [[file[reference].name for reference in references] for references in lists]


def netcdf_groups(group, file):
    block = Block(group.path.strip("/").encode())
    for d in group.dimensions.values():
        if f"{group.path.rstrip('/')}/{d.name}" in file:
            block.dimensions.append(Dimension(d.name.encode(), len(d), d.isunlimited()))
    for types in (group.cmptypes, group.enumtypes, group.vltypes):
        block.types += [NamedType(name.encode(), netcdf_type(t)) for name, t in types.items()]
    block.attributes = [netcdf_attribute(group, None, name, file) for name in group.ncattrs()]
    for v in group.variables.values():
        axes = []
        for d, scales in zip(v.get_dims(), scales_of(file, group.path, v)):
            level, holder = 0, group
            while d.name not in holder.dimensions:
                level, holder = level + 1, holder.parent
            path = f"{holder.path.rstrip('/')}/{d.name}"
            usual, name = ([path], d.name.encode()) if path in file else ([], b"")
            if scales is not None and scales != usual:
                name += b"\0" + b"".join(scale.encode() + b"\0" for scale in scales)
            axes.append(Axis(name, level, len(d), d.isunlimited()))
        t = netcdf_type(v.datatype)
        values = numpy_values(t, v[...])
        attributes = [netcdf_attribute(group, v.name, name, file) for name in v.ncattrs()]
        block.variables.append(Variable(v.name.encode(), t, axes, attributes, values))
    yield block
    for inner in group.groups.values():
        yield from netcdf_groups(inner, file)


# --- HDF5 files, by h5py ----------------------------------------------------------------------------


def hdf5_type(t):
    """Returns the type of a TypeID of h5py."""
    import h5py

    h5t, class_ = h5py.h5t, t.get_class()
    if class_ == h5t.STRING:
        if t.is_variable_str():
            return ("string",)
        return ("number", "char") if t.get_size() == 1 else ("fixed", t.get_size(), t.get_strpad())
    if class_ in (h5t.INTEGER, h5t.FLOAT, h5t.BITFIELD):
        return hdf5_bits(t)
    if class_ == h5t.OPAQUE:
        return "opaque", t.get_size(), t.get_tag()
    if class_ == h5t.COMPOUND:
        fields = range(t.get_nmembers())
        return "compound", [(t.get_member_name(i), hdf5_type(t.get_member_type(i))) for i in fields]
    if class_ == h5t.ENUM:
        base, members = hdf5_type(t.get_super()), range(t.get_nmembers())
        return "enum", base, [
            (t.get_member_name(i), numbers(base[1], [t.get_member_value(i)])) for i in members
        ]
    if class_ == h5t.VLEN:
        return "sequence", hdf5_type(t.get_super())
    if class_ == h5t.ARRAY:
        return "array", list(t.get_array_dims()), hdf5_type(t.get_super())
    if class_ == h5t.REFERENCE:
        return ("reference",) if t.equal(h5t.STD_REF_OBJ) else ("region",)
    raise Unsupported(f"class {class_}")


def hdf5_bits(t):
    import h5py

    h5t, size = h5py.h5t, t.get_size()
    whole = t.get_offset() == 0 and t.get_precision() == 8 * size
    class_ = {h5t.INTEGER: "integer", h5t.FLOAT: "float", h5t.BITFIELD: "bitfield"}[t.get_class()]
    signed = class_ == "integer" and t.get_sign() == h5t.SGN_2
    if whole and class_ == "integer":
        return "number", OF_NUMPY[("i" if signed else "u") + str(size)]
    words = [size, "signed" if signed else "unsigned", t.get_offset(), t.get_precision(), *t.get_pad()]
    if class_ == "float":
        for ieee, name in ((h5t.IEEE_F32BE, "float"), (h5t.IEEE_F64BE, "double")):
            if t.get_size() == ieee.get_size() and t.get_fields() == ieee.get_fields():
                return "number", name
        norm = {h5t.NORM_NONE: 0, h5t.NORM_MSBSET: 1, h5t.NORM_IMPLIED: 2}[t.get_norm()]
        words += [*t.get_fields(), t.get_ebias(), norm, t.get_inpad()]
    return "bits", f"{class_}({','.join(map(str, words))})", size


def hdf5_values(t, array, file):
    import numpy

    if t[0] == "reference":
        names = [file[r].name if r else None for r in numpy.asarray(array).reshape(-1)]
        return [heap(n and n.encode()) for n in names]
    return numpy_values(t, array)


def hdf5_attribute(file, owner, name):
    import h5py
    import numpy

    a, raw = h5py.h5a.open(owner.id, name.encode()), name.encode()
    null = a.get_space().get_simple_extent_type() == h5py.h5s.NULL
    t, shape = hdf5_type(a.get_type()), () if null else a.shape
    count = 0 if null else int(numpy.prod(shape, dtype=int))
    if t[0] in ("fixed", "string") or t == ("number", "char"):
        if count == 0:
            return text_attribute(raw, b"", shape)
    elif count == 0:
        return Attribute(raw, t, 0, b"", shape)
    value = owner.attrs.get(name)
    if t[0] == "string" and count == 1:
        value = numpy.asarray(value).reshape(-1)[0]
        return text_attribute(raw, value if isinstance(value, bytes) else value.encode(), shape)
    if t[0] == "fixed" and count == 1:
        return text_attribute(raw, numpy_value(t, numpy.asarray(value).reshape(-1)[0]), shape)
    values = hdf5_values(t, value, file)
    values = values if isinstance(values, bytes) else b"".join(values)
    return Attribute(raw, t, count, values, shape)


def hdf5_blocks(path):
    import h5py

    with h5py.File(path) as file:
        return list(hdf5_groups(file, file, {}))


def hdf5_groups(file, group, seen):
    import h5py

    block, inner = Block(group.name.strip("/").encode()), []
    block.attributes = [hdf5_attribute(file, group, name) for name in group.attrs]
    for name in sorted(group, key=str.encode):
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            block.links.append(Link(name.encode(), b"soft", 0, link.path.encode()))
            continue
        if isinstance(link, h5py.ExternalLink):
            target = link.filename.encode() + b"\0" + link.path.encode()
            block.links.append(Link(name.encode(), b"external", 0, target))
            continue
        item = group[name]
        key = h5py.h5o.get_info(item.id).addr
        if key in seen:
            block.links.append(Link(name.encode(), b"hard", 0, seen[key].encode()))
            continue
        seen[key] = item.name
        if isinstance(item, h5py.Group):
            inner.append(item)
        elif isinstance(item, h5py.Datatype):
            attributes = [hdf5_attribute(file, item, a) for a in item.attrs]
            block.types.append(NamedType(name.encode(), hdf5_type(item.id), attributes))
        else:
            block.variables.append(hdf5_variable(file, name, item))
    yield block
    for item in inner:
        yield from hdf5_groups(file, item, seen)


def hdf5_variable(file, name, item):
    import h5py
    import numpy

    if "CLASS" in item.attrs or "DIMENSION_LIST" in item.attrs:
        raise Unsupported("dimension scales: use netCDF4-python")
    attributes = [hdf5_attribute(file, item, a) for a in item.attrs]
    t = hdf5_type(item.id.get_type())
    if item.shape is None:
        return Variable(name.encode(), t, [], attributes, b"", True)
    axes = []
    for length, maximum in zip(item.shape, item.maxshape):
        grows = maximum is None
        axes.append(Axis(b"", 0, length, grows, 0 if grows or maximum == length else maximum))
    values = hdf5_values(t, item[...] if item.size else numpy.zeros(0), file)
    if item.size == 0:
        values = b"" if element_bytes(t) is not None else []
    return Variable(name.encode(), t, axes, attributes, values)


# --- Files ------------------------------------------------------------------------------------------


def has_scales(path):
    import h5py

    found = []
    with h5py.File(path) as file:
        found.append("_NCProperties" in file.attrs or "_nc3_strict" in file.attrs)
        file.visititems(lambda _, item: found.append("CLASS" in item.attrs or "DIMENSION_LIST" in item.attrs))
    return any(found)


def blocks_of(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:3] == b"CDF":
        return classic_blocks(data)
    file = nmb_reference.reader_of(data, folder=os.path.dirname(path) or ".")
    if file:
        return nmb_blocks(file, nmb_reference.document_of_reader(file, data)["findings"])
    return netcdf_blocks(path) if has_scales(path) else hdf5_blocks(path)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for path in arguments:
        try:
            blocks, whole = digests(blocks_of(path))
        except (Unsupported, extended.Unsupported) as error:
            print(f"{path}: {error} cannot be read by this program", file=sys.stderr)
            return 2
        for name, digest in blocks:
            print(f"{digest.hex()}  /{name.decode(errors='backslashreplace')}")
        print(f"{whole.hex()}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
