"""Small files with every feature that compare_files.py knows, and changed copies of them.

Each builder makes one file. Where it asks `vary(NAME, normal, changed, LINES...)` it gets `normal`, or
`changed` in the one copy that NAME names; LINES are how the lines of the difference begin, none of them
left out and no others to be found.
"""

import contextlib
import ctypes
import zlib

import h5py
import netCDF4
import numpy
from h5py import h5a, h5d, h5f, h5g, h5p, h5r, h5s, h5t

import hdf5_library

BUILDERS = []


def builder(function):
    BUILDERS.append(function)
    return function


class Vary:
    """Chooses between what is normal and what is changed in a copy, and remembers what it was asked."""

    def __init__(self, name=None):
        self.name = name
        self.expected = {}

    def __call__(self, name, normal, changed, *lines):
        assert name not in self.expected, name
        self.expected[name] = lines
        return changed if name == self.name else normal


# Calls that h5py lacks, on the library it has loaded.


HDF5 = hdf5_library.LIBRARY
for returns_an_identifier in (HDF5.H5Acreate2, HDF5.H5Pcreate):
    returns_an_identifier.restype = ctypes.c_int64


def call(name, *arguments):
    """Integers go as 64 bits: identifiers are."""
    result = getattr(HDF5, name)(*(ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments))
    assert result >= 0, name
    return result


NEVER_FOLLOWED = hdf5_library.Traverse(lambda: -1)


def create_user_defined_link(group, name, number, value):
    link_class = hdf5_library.LinkClass(version=0, id=number, comment=b"", traverse=NEVER_FOLLOWED)
    call("H5Lregister", ctypes.byref(link_class))
    HDF5.H5Lcreate_ud(
        ctypes.c_int64(group.id), name, number, value, ctypes.c_size_t(len(value)), ctypes.c_int64(0), ctypes.c_int64(0)
    )


# Short words for h5py's low-level interface.


def access_odd_numbers(access, **_):
    access.set_fapl_sec2()
    hdf5_library.allow_odd_numbers(access)


h5py.register_driver("odd numbers", access_odd_numbers)


@contextlib.contextmanager
def new_file(path, order=False, **options):
    with h5py.File(path, "w", driver="odd numbers", track_order=order, **options) as file:
        yield file.id


def simple(*dims, maximum=None):
    return h5s.create_simple(dims, maximum)


SCALAR = h5s.create(h5s.SCALAR)
I4 = h5t.STD_I32LE


def plist(*calls, kind=h5p.DATASET_CREATE):
    """plist(("set_chunk", (4,)), ..)"""
    out = h5p.create(kind)
    for name, *arguments in calls:
        getattr(out, name)(*arguments)
    return out


def dataset(file, name, type_id=I4, space=SCALAR, values=None, create=None):
    """`values`: an array, or bytes as they are in memory for this type."""
    out = h5d.create(file, name, type_id, space, create)
    if isinstance(values, bytes):
        out.write(h5s.ALL, h5s.ALL, numpy.frombuffer(values, "u1"), type_id)
    elif values is not None:
        out.write(h5s.ALL, h5s.ALL, numpy.asarray(values))
    return out


def attribute(owner, name, type_id=I4, space=SCALAR, values=None):
    out = h5a.create(owner, name, type_id, space)
    if values is not None:
        out.write(numpy.asarray(values))
    return out


def changed_type(base, *calls):
    """A copy of a type; calls by name of the C library's H5Tset_*."""
    out = base.copy()
    for name, *arguments in calls:
        call(f"H5Tset_{name}", out.id, *arguments)
    return out


def string_type(size=8, padding=h5t.STR_NULLTERM, cset=h5t.CSET_ASCII):
    out = h5t.C_S1.copy()
    out.set_size(size)
    out.set_strpad(padding)
    out.set_cset(cset)
    return out


def enum_type(*members, base=h5t.STD_I16LE):
    out = h5t.enum_create(base)
    for name, value in members:
        out.enum_insert(name, value)
    return out


def compound_type(size, *members):
    out = h5t.create(h5t.COMPOUND, size)
    for name, offset, type_id in members:
        out.insert(name, offset, type_id)
    return out


def opaque_type(size, tag):
    out = h5t.create(h5t.OPAQUE, size)
    out.set_tag(tag)
    return out


class Memory:
    """Sequences and strings as the library has them in memory; keeps them alive."""

    def __init__(self):
        self.buffers = []

    def pointer(self, content):
        self.buffers.append(ctypes.create_string_buffer(content, max(1, len(content))))
        return ctypes.addressof(self.buffers[-1]).to_bytes(8, "little")

    def sequence(self, *elements):
        return len(elements).to_bytes(8, "little") + self.pointer(b"".join(elements))

    def string(self, content):
        return bytes(8) if content is None else self.pointer(content + b"\0")


def little(*numbers, size=4):
    return b"".join(n.to_bytes(size, "little", signed=n < 0) for n in numbers)


# The builders


@builder
def links(path, vary):
    options = {"userblock_size": vary("user block: size", 512, 1024, "/: user block")}
    with new_file(path, **options) as file:
        dataset(file, b"a", values=1)
        tracked = h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED
        flags = vary("link order: flag", tracked, h5p.CRT_ORDER_TRACKED, "/g: flags of the creation order of links")
        g = h5g.create(file, b"g", gcpl=plist(("set_link_creation_order", flags), kind=h5p.GROUP_CREATE))
        if vary("hard link made a copy", False, True, "/g: link again: target: /a, /g/again", "/a: reference count: 2, 1"):
            dataset(g, b"again", values=1)
        else:
            g.links.create_hard(b"again", file, b"a")
        g.links.create_hard(b"cycle", file, vary("cycle: target", b"/", b"/g", "/g: link cycle: target: /, /g", "/: reference count: 2, 1", "/g: reference count: 1, 2"))
        names = vary("links: order", (b"s", b"t"), (b"t", b"s"), "/g: creation order of links: number 2: s, t")
        for name in names:
            g.links.create_soft(name, b"nowhere")
        file.links.create_soft(b"soft", vary("soft link: target", b"/a", b"/b", "/: link soft: target: /a, /b"))
        file.links.create_external(
            b"external",
            vary("external link: file", b"f.h5", b"g.h5", "/: link external: file: f.h5, g.h5"),
            vary("external link: path", b"/x", b"/y", "/: link external: target: /x, /y"),
        )
        if vary("link: kind", False, True, "/: link maybe: kind: soft, external", "/: link maybe: file"):
            file.links.create_external(b"maybe", b"f.h5", b"/x")
        else:
            file.links.create_soft(b"maybe", b"/x")
        cset = vary("link: character set", h5t.CSET_ASCII, h5t.CSET_UTF8, "/: link text: character set of the name")
        file.links.create_soft(b"text", b"/x", lcpl=plist(("set_char_encoding", cset), kind=h5p.LINK_CREATE))
        if vary("link: absent", True, False, "/: link here: soft, absent"):
            file.links.create_soft(b"here", b"/x")
        name = vary("link: name", b"\xff\n", b"\xfe\n", "/: link \\xfe\\x0a: absent", "/: link \\xff\\x0a: soft")
        file.links.create_soft(name, b"/x")
        number = vary("user-defined link: class", 187, 188, "/: link user: kind: user-defined 187, user-defined 188")
        value = vary("user-defined link: value", b"one", b"two", "/: link user: value: one, two")
        create_user_defined_link(file, b"user", number, value)
        if vary("object: kind", True, False, "/kind: kind of object: group, data set"):
            h5g.create(file, b"kind")
        else:
            dataset(file, b"kind", values=1)
        comment = vary("comment", b"a word", b"a world", "/kind: comment: a word, a world")
        file.set_comment(b"kind", comment)
    with open(path, "r+b") as stream:
        stream.write(vary("user block: bytes", b"user block", b"user Block", "/: user block"))


@builder
def attributes(path, vary):
    with new_file(path) as file:
        tracked = h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED
        flags = vary("attribute order: flag", tracked, h5p.CRT_ORDER_TRACKED, "/g: flags of the creation order of attr")
        group = h5g.create(file, b"g", gcpl=plist(("set_attr_creation_order", flags), kind=h5p.GROUP_CREATE))
        order = vary(
            "attributes: order", (b"x", b"y"), (b"y", b"x"), "/g: creation order of attributes: number 0: x, y"
        )
        for name in order:
            attribute(group, name, values=1)
        flags = vary("data set: attribute order flag", tracked, 0, "/d: flags of the creation order of attributes")
        d = dataset(file, b"d", values=1, create=plist(("set_attr_creation_order", flags)))
        if vary("attribute: absent", True, False, "/d: attribute here: present, absent"):
            attribute(d, b"here", values=1)
        wrong = vary("attribute: type", I4, h5t.STD_I32BE, "/d: attribute a: type: byte order: little-endian, big")
        attribute(d, b"a", wrong, values=5)
        attribute(d, b"v", values=vary("attribute: value", 5, 6, "/d: attribute v: value 0 (1 differ): 5 (0x05000"))
        dims = vary("attribute: dimensions", (2, 3), (3, 2), "/d: attribute n: dimensions: (2, 3), (3, 2)",
                    "/d: attribute n: maximum dimensions")  # fmt: skip
        attribute(d, b"n", space=simple(*dims), values=numpy.zeros(dims, "i4"))
        kind = vary("attribute: scalar", SCALAR, simple(1), "/d: attribute s: class", "/d: attribute s: dimensions",
                    "/d: attribute s: maximum dimensions")  # fmt: skip
        attribute(d, b"s", space=kind, values=numpy.ones(kind.shape, "i4"))
        kind = vary("attribute: null", h5s.create(h5s.NULL), SCALAR, "/d: attribute z: class: null, scalar")
        attribute(d, b"z", space=kind)
        cset = vary("attribute: character set", 0, 1, "/d: attribute named: character set of the name: ASCII, UTF-8")
        create_attribute_with_cset(d, b"named", cset)
        words = vary("attribute: strings", ["a", "bc"], ["a", "bd"], "/d: attribute words: value 1 (1 differ): b'bc'")
        h5py.Dataset(d).attrs["words"] = words
        target = vary("attribute: reference", b"/g", b"/d", "/d: attribute ref: value 0 (1 differ): /g, /d")
        h5py.Dataset(d).attrs["ref"] = h5r.create(file, target, h5r.OBJECT)


def create_attribute_with_cset(owner, name, cset):
    create = call("H5Pcreate", ctypes.c_int64.in_dll(HDF5, "H5P_CLS_ATTRIBUTE_CREATE_ID_g").value)
    call("H5Pset_char_encoding", create, cset)
    made = HDF5.H5Acreate2(*map(ctypes.c_int64, (owner.id,)), name, *map(ctypes.c_int64, (I4.id, SCALAR.id, create, 0)))
    call("H5Aclose", made)


@builder
def named_types(path, vary):
    with new_file(path) as file:
        named = {}
        for name in (b"t", b"same"):
            named[name] = I4.copy()
            named[name].commit(file, name)
        attribute(named[b"t"], b"a", values=vary("named type: attribute", 1, 2, "/t: attribute a: value 0"))
        other = vary("named type: type", I4, h5t.STD_I64LE, "/other: type: size: 4, 8", "/other: type: precision")
        other.copy().commit(file, b"other")
        use = vary("data set: which named type", b"t", b"same", "/d: named datatype: /t, /same", "/same: reference count: 1, 2", "/t: reference count: 4, 3")
        d = dataset(file, b"d", named[use])
        use = vary("data set: named type or not", named[b"t"], I4, "/e: named datatype: /t, none", "/t: reference count: 4, 3")
        dataset(file, b"e", use)
        use = vary("attribute: which named type", b"t", b"same", "/d: attribute a: named datatype: /t, /same", "/same: reference count: 1, 2", "/t: reference count: 4, 3")
        attribute(d, b"a", named[use], values=1)
        for i, name in enumerate((b"gone", b"gone too")):
            gone = I4.copy()
            gone.commit(file, name)
            value = vary(f"unlinked named type {i}", 1, 2, f"/u{i} <not linked {i}>: attribute a: value 0")
            attribute(gone, b"a", values=value)
            dataset(file, b"u%d" % i, gone)
            named[name] = gone
        use = vary(
            "which unlinked named type", b"gone", b"gone too", "/v: named datatype: <not linked 0>, <not linked 1"
        )
        dataset(file, b"v", named[use])
        for name in (b"gone", b"gone too"):
            file.unlink(name)


@builder
def types(path, vary):
    """Data sets without values, one a kind of type."""
    with new_file(path) as file:

        def one(name, normal, *changes):
            """changes: (name, type, fields...)"""
            for what, changed, *fields in changes:
                lines = [f"/{name}: type: {field}" for field in fields]
                if what == "variable":
                    lines.append(f"/{name}: fill time: if set, at allocation")  # HDF5 sees to that
                normal = vary(f"{name}: {what}", normal, changed, *lines)
            dataset(file, name.encode(), normal)

        narrow = changed_type(I4, ("precision", 16))
        one(
            "integer",
            narrow,
            ("size", changed_type(h5t.STD_I64LE, ("precision", 16)), "size: 4, 8"),
            ("order", changed_type(h5t.STD_I32BE, ("precision", 16)), "byte order"),
            ("precision", changed_type(I4, ("precision", 24)), "precision: 16, 24"),
            ("offset", changed_type(narrow, ("offset", 8)), "offset: 0, 8"),
            ("low pad", changed_type(narrow, ("pad", 1, 0)), "low pad: zero, one"),
            ("high pad", changed_type(narrow, ("pad", 0, 1)), "high pad: zero, one"),
            ("sign", changed_type(narrow, ("sign", 0)), "sign: two's complement, unsigned"),
            ("class", changed_type(h5t.STD_B32LE, ("precision", 16)), "class: integer, bitfield", "sign"),
        )
        small = h5t.IEEE_F32LE.copy()
        small.set_fields(20, 15, 5, 0, 15)
        one(
            "float",
            small,
            ("order", with_fields(h5t.IEEE_F32BE, 20, 15, 5, 0, 15), "byte order"),
            ("sign position", with_fields(h5t.IEEE_F32LE, 21, 15, 5, 0, 15), "sign position: 20, 21"),
            ("exponent", with_fields(h5t.IEEE_F32LE, 20, 16, 4, 0, 15), "exponent position", "exponent size"),
            ("mantissa", with_fields(h5t.IEEE_F32LE, 20, 15, 5, 1, 14), "mantissa position", "mantissa size"),
            ("bias", changed_type(small, ("ebias", 15)), "exponent bias: 127, 15"),
            ("normalisation", changed_type(small, ("norm", 2)), "normalisation: implied, none"),
            ("inner pad", changed_type(small, ("inpad", 1)), "inner pad: zero, one"),
        )
        one(
            "string",
            string_type(),
            ("size", string_type(9), "size: 8, 9"),
            ("padding", string_type(padding=h5t.STR_SPACEPAD), "padding: null-terminated, space-padded"),
            ("character set", string_type(cset=h5t.CSET_UTF8), "character set: ASCII, UTF-8"),
            ("variable", string_type(h5t.VARIABLE), "variable length: False, True"),
        )
        one(
            "variable string",
            string_type(h5t.VARIABLE),
            ("character set", string_type(h5t.VARIABLE, cset=h5t.CSET_UTF8), "character set"),
            ("padding", string_type(h5t.VARIABLE, h5t.STR_NULLPAD), "padding"),
        )
        one(
            "enum",
            enum_type((b"a", 1), (b"b", 2)),
            ("value", enum_type((b"a", 1), (b"b", 3)), "member 1: (b'b', '0200'), (b'b', '0300')"),
            ("name", enum_type((b"a", 1), (b"c", 2)), "member 1: (b'b', '0200'), (b'c', '0200')"),
            ("order", enum_type((b"b", 2), (b"a", 1)), "member 0", "member 1"),
            ("more", enum_type((b"a", 1), (b"b", 2), (b"c", 3)), "members: 2, 3", "member 2: absent"),
            ("base", enum_type((b"a", 1), (b"b", 2), base=h5t.STD_U16LE), "base.sign"),
        )
        huge = [h5t.enum_create(h5t.STD_U64LE) for _ in range(2)]
        for i, made in enumerate(huge):
            call("H5Tenum_insert", made.id, b"max", ctypes.byref(ctypes.c_uint64(2**64 - 1 - i)))
        one("huge enum", huge[0], ("value", huge[1], "member 0: (b'max', 'ffffffffffffffff'), (b'max', 'feff"))
        one(
            "compound",
            compound_type(16, (b"x", 0, I4), (b"y", 8, h5t.IEEE_F32LE)),
            ("size", compound_type(20, (b"x", 0, I4), (b"y", 8, h5t.IEEE_F32LE)), "size: 16, 20"),
            ("offset", compound_type(16, (b"x", 0, I4), (b"y", 12, h5t.IEEE_F32LE)), "member 1 offset: 8, 12"),
            ("name", compound_type(16, (b"x", 0, I4), (b"z", 8, h5t.IEEE_F32LE)), "member 1 name: y, z"),
            ("member", compound_type(16, (b"x", 0, I4), (b"y", 8, h5t.IEEE_F32BE)), "member 1.byte order"),
            ("fewer", compound_type(16, (b"x", 0, I4)), "members: 2, 1", "member 1"),
        )
        swapped = compound_type(8, (b"y", 4, I4), (b"x", 0, I4))
        lines = [f"member {i} {what}" for i in (0, 1) for what in ("name", "offset")]
        one("order", compound_type(8, (b"x", 0, I4), (b"y", 4, I4)), ("of members", swapped, *lines))
        one(
            "array",
            h5t.array_create(I4, (2, 3)),
            ("dimensions", h5t.array_create(I4, (3, 2)), "dimensions: (2, 3), (3, 2)"),
            ("base", h5t.array_create(h5t.STD_U32LE, (2, 3)), "base.sign"),
        )
        one("vlen", h5t.vlen_create(I4), ("base", h5t.vlen_create(h5t.STD_U32LE), "base.sign"))
        deep = [h5t.vlen_create(compound_type(16, (b"v", 0, h5t.vlen_create(base)))) for base in (I4, h5t.STD_U32LE)]
        one("deep", deep[0], ("base", deep[1], "base.member 0.base.sign"))
        one(
            "opaque",
            opaque_type(4, b"tag"),
            ("tag", opaque_type(4, b"tug"), "tag: tag, tug"),
            ("size", opaque_type(5, b"tag"), "size: 4, 5"),
        )
        one("reference", h5t.STD_REF_OBJ, ("kind", h5t.STD_REF_DSETREG, "size: 8, 12", "kind: object, region"))
        half = changed_type(h5t.STD_B16LE, ("precision", 8))
        one(
            "bitfield",
            half,
            ("order", changed_type(h5t.STD_B16BE, ("precision", 8)), "byte order"),
            ("precision", changed_type(h5t.STD_B16LE, ("precision", 9)), "precision: 8, 9"),
            ("offset", changed_type(half, ("offset", 3)), "offset: 0, 3"),
            ("low pad", changed_type(half, ("pad", 1, 0)), "low pad"),
            ("high pad", changed_type(half, ("pad", 0, 1)), "high pad"),
        )
        one(
            "time",
            h5t.UNIX_D32LE,
            ("order", h5t.UNIX_D32BE, "byte order"),
            ("size", h5t.UNIX_D64LE, "size", "precision"),
        )


def with_fields(base, *fields):
    out = base.copy()
    out.set_fields(*fields)
    return out


@builder
def spaces(path, vary):
    with new_file(path) as file:
        chunked = plist(("set_chunk", (2, 2)))
        most = vary("maximum dimensions", (4, h5s.UNLIMITED), (5, h5s.UNLIMITED), "/max: maximum dimensions: (4, 'unl")
        dataset(file, b"max", space=simple(4, 4, maximum=most), create=chunked)
        most = vary("unlimited", (4, h5s.UNLIMITED), (4, 4), "/unlimited: maximum dimensions: (4, 'unlimited'), (4, 4)")
        dataset(file, b"unlimited", space=simple(4, 4, maximum=most), create=chunked)
        dims = vary("dimensions", (3, 4), (4, 3), "/dims: dimensions: (3, 4), (4, 3)", "/dims: maximum dimensions")
        dataset(file, b"dims", space=simple(*dims))
        dims = vary("rank", (12,), (3, 4), "/rank: dimensions: (12,), (3, 4)", "/rank: maximum dimensions")
        dataset(file, b"rank", space=simple(*dims))
        lines = [f"/scalar: {field}" for field in ("class: scalar, simple", "dimensions", "maximum dimensions")]
        dataset(file, b"scalar", space=vary("scalar", SCALAR, simple(1), *lines))
        dataset(file, b"null", space=vary("null", h5s.create(h5s.NULL), SCALAR, "/null: class: null, scalar"))
        fill = vary("null: fill value", 1, 2, "/null too: fill value: 1")
        fill = plist(("set_fill_value", numpy.array(fill, "i4")))
        dataset(file, b"null too", space=h5s.create(h5s.NULL), create=fill)
        empty = vary("no elements", (0, 4), (0, 5), "/empty: dimensions: (0, 4), (0, 5)", "/empty: maximum dimensions")
        dataset(file, b"empty", space=simple(*empty))


@builder
def storage(path, vary):
    with new_file(path) as file:

        def one(name, *calls, dims=(8,), values=None):
            return dataset(file, name, space=simple(*dims), values=values, create=plist(*calls))

        layout = vary("layout", h5d.CONTIGUOUS, h5d.COMPACT, "/layout: layout: contiguous, compact")
        one(b"layout", ("set_layout", layout), ("set_alloc_time", h5d.ALLOC_TIME_EARLY), values=numpy.arange(8))
        chunk = vary("chunk shape", (2, 4), (4, 2), "/chunks: chunk shape: (2, 4), (4, 2)")
        one(b"chunks", ("set_chunk", chunk), dims=(8, 8), values=numpy.arange(64).reshape(8, 8))
        chunked = "set_chunk", (4,)
        level = vary("filter: value", 3, 4, "/level: filter 0 values: (3,), (4,)")
        one(b"level", chunked, ("set_deflate", level), values=numpy.arange(8))
        filters = vary(
            "filters: order",
            (("set_shuffle",), ("set_fletcher32",)),
            (("set_fletcher32",), ("set_shuffle",)),
            *(f"/filters: filter {i} {what}" for i in (0, 1) for what in ("id", "flags", "values", "name")),
        )
        one(b"filters", chunked, *filters)
        more = vary("filter: one more", (), (("set_shuffle",),), *absent_filter("/more", 0))
        one(b"more", chunked, *more)
        flags = vary("filter: flags", h5py.h5z.FLAG_OPTIONAL, 0, "/flags: filter 0 flags: 1, 0")
        one(b"flags", chunked, ("set_filter", h5py.h5z.FILTER_DEFLATE, flags, (3,)))
        fill = vary("fill value", 7, 8, "/fill: fill value: 7 (0x07000000), 8 (0x08000000)",
                    "/fill: value")  # fmt: skip
        one(b"fill", ("set_fill_value", numpy.array(fill, "i4")))
        state = vary(
            "fill value: state",
            (),
            (("set_fill_value", numpy.array(0, "i4")),),
            "/state: fill value state: default, us",
        )
        one(b"state", *state)
        undefined = plist()
        if vary("fill value: undefined", False, True, "/undefined: fill value state: default, undefined"):
            call("H5Pset_fill_value", undefined.id, I4.id, None)
        dataset(file, b"undefined", create=undefined)
        times = h5d.FILL_TIME_IFSET, h5d.FILL_TIME_NEVER
        one(b"fill time", ("set_fill_time", vary("fill time", *times, "/fill time: fill time: if set, never")))
        times = h5d.ALLOC_TIME_INCR, h5d.ALLOC_TIME_LATE
        allocation = vary("allocation time", *times, "/allocation: allocation time: incremental, late")
        one(b"allocation", chunked, ("set_alloc_time", allocation))
        external(one, vary)
        virtual(file, vary)
        lines = "/strings: fill value: b'fill', b'full'", "/strings: value"
        word = numpy.array(vary("fill value: string", "fill", "full", *lines), h5py.string_dtype())
        strings = plist(("set_fill_value", word))
        dataset(file, b"strings", string_type(h5t.VARIABLE, cset=h5t.CSET_UTF8), simple(2), create=strings)
        odd = changed_type(I4, ("precision", 20))
        d = plist()
        value = vary("fill value: odd type", 5, 6, "/odd: fill value: 5 (0x05000000), 6 (0x0600", "/odd: value")
        call("H5Pset_fill_value", d.id, odd.id, ctypes.byref(ctypes.c_int32(value)))
        dataset(file, b"odd", odd, create=d)


def absent_filter(path, i):
    return [f"{path}: filter {i} {what}: absent" for what in ("id", "flags", "values", "name")]


def external(one, vary):
    field = "external file 0 (name, offset, size)"
    name = vary("external file: name", b"f.raw", b"g.raw", f"/external: {field}")
    at = vary("external file: offset", 0, 4, f"/external: {field}: (b'f.raw', 0, 16), (b'f.raw', 4, 16)")
    size = vary("external file: size", 16, 20, f"/external: {field}")
    fill = vary("external files: fill value", 1, 2, "/external: fill value: 1 (0x01000000), 2 (0x02000000)")
    one(
        b"external",
        ("set_fill_value", numpy.array(fill, "i4")),
        ("set_external", name, at, size),
        ("set_external", b"rest.raw", 0, h5f.UNLIMITED),
    )


def virtual(file, vary):
    fill = vary("virtual: fill value", 1, 2, "/virtual: fill value: 1 (0x01000000), 2 (0x02000000)")
    create, here, there = plist(("set_fill_value", numpy.array(fill, "i4"))), simple(4, 8), simple(8)
    for row in range(2):
        line = "/virtual: mapping 1 "
        first = row + vary("virtual: selection", 0, 1, line + "selection") if row else row
        here.select_hyperslab((first, 0), (1, 8))
        begin = vary("virtual: source selection", 0, 1, line + "source selection") if row else 0
        there.select_hyperslab((begin,), (4,))
        here.select_hyperslab((first, 0), (1, 4))
        name = vary("virtual: file", b"f.h5", b"g.h5", line + "file: f.h5, g.h5") if row else b"f.h5"
        source = vary("virtual: data set", b"x", b"y", line + "data set: x, y") if row else b"x"
        create.set_virtual(here, name, source, there)
    if vary("virtual: one mapping more", False, True, *(f"/virtual: mapping 2 {what}: absent" for what in
            ("file", "data set", "selection", "source selection"))):  # fmt: skip
        here.select_hyperslab((3, 0), (1, 4))
        create.set_virtual(here, b"h.h5", b"z", there)
    dataset(file, b"virtual", space=simple(4, 8), create=create)


@builder
def chunks(path, vary):
    """Chunks written as they are stored."""
    with new_file(path) as file:
        raw = numpy.arange(4, dtype="<i4").tobytes()
        create = plist(("set_chunk", (4,)), ("set_deflate", 6))
        d = dataset(file, b"mask", space=simple(8), create=create)
        mask, stored = vary("chunk: filter mask", (0, zlib.compress(raw)), (1, raw), "/mask: filter mask of chunk (4,)")
        d.write_direct_chunk((0,), zlib.compress(raw))
        d.write_direct_chunk((4,), stored, mask)
        unknown = plist(("set_chunk", (4,)), ("set_filter", 32123, h5py.h5z.FLAG_OPTIONAL, (1,)))
        d = dataset(file, b"unknown", space=simple(8), create=unknown)
        for offset in (0, 4):
            content = b"stored" + bytes([offset])
            if offset:
                content = vary("unknown filter: byte", content, b"stoned\4", "/unknown: byte 3 of chunk (4,): 114, 110")
                content = vary("unknown filter: size", content, b"long\4", "/unknown: size of chunk (4,): 7, 5")
            if not offset or vary("unknown filter: chunk", True, False, "/unknown: chunk (4,): stored, not stored"):
                d.write_direct_chunk((offset,), content)


@builder
def extensible_array(path, vary):
    """Chunks of a data set whose second dimension alone is unlimited, in HDF5's latest format."""
    with new_file(path, libver="latest") as file:
        create = plist(("set_chunk", (2, 3)), ("set_deflate", 1))
        raw = numpy.arange(6, dtype="<i4").tobytes()
        d = dataset(file, b"d", space=simple(4, 9, maximum=(10, h5s.UNLIMITED)), create=create)
        for offset in ((0, 0), (0, 6), (2, 3)):
            mask, stored = 0, zlib.compress(raw)
            if offset == (2, 3):
                mask, stored = vary("extensible array: mask", (0, stored), (1, raw), "/d: filter mask of chunk (2, 3)")
            d.write_direct_chunk(offset, stored, mask)
        options = vary("chunk options", 0, 2, "/edge: chunk options: 0, 2")
        create = plist(("set_chunk", (3,)), ("set_deflate", 1))
        call("H5Pset_chunk_opts", create.id, options)
        dataset(file, b"edge", space=simple(4), values=numpy.arange(4), create=create)
        more = vary("extensible array: value", False, True, "/d: value at (2, 7): 0 (0x00000000), 1 (0x01000000)",
                    "/d: values that differ: 5, of 36")  # fmt: skip
        if more:
            d.write_direct_chunk((2, 6), zlib.compress(raw))


@builder
def values(path, vary):
    with new_file(path) as file:

        def one(name, type_id, normal, changed, shown, dims=(3,), lines=()):
            """The value at (1,) changes; `shown` is how it is told."""
            lines = lines or (f"/{name}: value at (1,): {shown}",)
            made = vary(f"value: {name}", normal, changed, *lines)
            dataset(file, name.encode(), type_id, simple(*dims), made)

        memory = Memory()
        one("integer", I4, little(1, 2, 3), little(1, -2, 3), "2 (0x02000000), -2 (0xfeffffff)")
        one("big-endian", h5t.STD_U16BE, b"\0\1\0\2\0\3", b"\0\1\1\0\0\3", "2 (0x0002), 256 (0x0100)")
        nans = (numpy.array([0, n, 0], "<u8").tobytes() for n in (0x7FF8000000000000, 0x7FF8000000000001))
        one("NaN", h5t.IEEE_F64LE, *nans, "nan (0x000000000000f87f), nan (0x010000000000f87f)")
        zeros = (numpy.array([1, zero, 1], "<f4").tobytes() for zero in (0.0, -0.0))
        one("zero", h5t.IEEE_F32LE, *zeros, "0.0 (0x00000000), -0.0 (0x00000080)")
        one("behind the end", string_type(4), b"abc\0a\0b\0abc\0", b"abc\0a\0c\0abc\0", r"b'a\x00b\x00', b'a\x00c\x00'")
        one("opaque", opaque_type(2, b"t"), b"aabbcc", b"aabdcc", "0x6262, 0x6264")
        one("bitfield", h5t.STD_B8LE, b"\1\2\3", b"\1\4\3", "0x02, 0x04")
        one("enum", enum_type((b"a", 1), (b"b", 2)), little(1, 2, 1, size=2), little(1, 1, 1, size=2), "2 (0x0200), 1")
        one("time", h5t.UNIX_D32LE, little(1, 2, 3), little(1, 5, 3), "0x02000000, 0x05000000")
        gap = compound_type(8, (b"x", 0, h5t.STD_I8LE), (b"y", 4, I4))
        one("gap", gap, bytes(24), bytes(10) + b"\1" + bytes(13), "{x=0 (0x00), y=0 (0x00000000)}")
        pair = h5t.array_create(h5t.STD_I8LE, (2,))
        one("array", pair, b"aabbcc", b"aabccc", "[98 (0x62), 98 (0x62)], [98 (0x62), 99 (0x63)]")

        words = (b"".join(map(memory.string, (b"a", word, b""))) for word in (b"word", b"ward"))
        one("string", string_type(h5t.VARIABLE), *words, "b'word', b'ward'")
        sequence = h5t.vlen_create(h5t.STD_I8LE)
        rows = (memory.sequence(b"a") + memory.sequence(b"b", last) + memory.sequence() for last in (b"b", b"c"))
        one("sequence", sequence, *rows, "[98 (0x62), 98 (0x62)], [98 (0x62), 99 (0x63)]")
        rows = (memory.sequence(b"a") + memory.sequence(*[b"b"] * n) + memory.sequence() for n in (1, 2))
        one("length of a sequence", sequence, *rows, "[98 (0x62)], [98 (0x62), 98 (0x62)]")
        nested(one, memory)
        references(file, vary)


def nested(one, memory):
    """{n, [{word, [i1]}]}: a sequence of compounds with a string and a sequence, in a compound with a gap."""
    inner = compound_type(24, (b"w", 0, string_type(h5t.VARIABLE)), (b"v", 8, h5t.vlen_create(h5t.STD_I8LE)))
    outer = compound_type(32, (b"n", 0, h5t.STD_I8LE), (b"s", 8, h5t.vlen_create(inner)))

    def row(number, word, *numbers):
        element = memory.string(word) + memory.sequence(*numbers)
        return number + bytes(7) + memory.sequence(memory.string(b"first") + memory.sequence(), element) + bytes(8)

    def rows(word, *numbers):
        return row(b"\1", b"x", b"y") + row(b"\2", word, *numbers) + row(b"\3", b"x", b"y")

    told = "{n=2 (0x02), s=[{w=b'first', v=[]}, {w=b'w', v=[97 (0x61), 98 (0x62)]}]}, {n=2"
    one("nested sequence", outer, rows(b"w", b"a", b"b"), rows(b"w", b"a", b"c"), told)
    one("nested string", outer, rows(b"w", b"a", b"b"), rows(b"v", b"a", b"b"), told)
    one("nested length", outer, rows(b"w", b"a", b"b"), rows(b"w", b"a", b"b", b"b"), told)


def references(file, vary):
    for name in (b"one", b"two"):
        dataset(file, name, space=simple(6), values=numpy.arange(6))

    def region(name, start, count):
        space = simple(6)
        space.select_hyperslab((start,), (count,))
        return h5r.create(file, name, h5r.DATASET_REGION, space)

    def points(*at):
        space = simple(6)
        space.select_elements([(i,) for i in at])
        return h5r.create(file, b"one", h5r.DATASET_REGION, space)

    target = vary("reference: target", b"one", b"two", "/ref: value at (0,): /one, /two")
    second = vary(
        "reference: null", None, h5r.create(file, b"one", h5r.OBJECT), "/ref: value at (1,): <null reference>, /one"
    )
    file_of = h5py.File(file)
    long = [b"long" * 50 + end for end in (b"1", b"2")]
    for name in long:
        dataset(file, name)
    end = vary("reference: end of a long path", *long, "/long ref: value at (): /longlong")
    file_of["long ref"] = h5r.create(file, end, h5r.OBJECT)
    file_of.create_dataset("ref", data=numpy.array([h5r.create(file, target, h5r.OBJECT), second], h5py.ref_dtype))
    regions = [
        region(vary("region: target", b"one", b"two", "/region: value at (0,): /one ("), 1, 2),
        region(b"one", vary("region: start", 1, 2, "/region: value at (1,): /one ('hyperslab"), 2),
        vary("region: null", None, region(b"one", 0, 1), "/region: value at (2,): <null reference>, /one"),
        points(*vary("region: order of points", (1, 4), (4, 1), "/region: value at (3,): /one ('points'")),
    ]
    file_of.create_dataset("region", data=numpy.array(regions, h5py.regionref_dtype))
    dtype = numpy.dtype([("r", h5py.ref_dtype), ("n", "i4")])
    inner = vary("reference: in a compound", b"one", b"two", "/in compound: value at (0,): {r=/one, n=5")
    d = file_of.create_dataset("in compound", (1,), dtype)
    d[0] = (h5r.create(file, inner, h5r.OBJECT), 5)


@builder
def slabs(path, vary):
    """More values than are read at once."""
    with new_file(path) as file:
        dims = 3000, 700
        chunked = plist(("set_chunk", (130, 70)), ("set_deflate", 1))
        for name, create in (("many", None), ("chunked", chunked)):
            many = numpy.zeros(dims, "<i4")
            lines = f"/{name}: value at (2999, 698): 0 (0x00000000), 1", f"/{name}: values that differ: 2, of 2100000"
            if vary(f"value: in a later slab, {name}", False, True, *lines):
                many[2999, 698:] = 1
            dataset(file, name.encode(), space=simple(*dims), values=many, create=create)
        sparse = plist(("set_chunk", (1000,)), ("set_deflate", 1))
        d = dataset(file, b"sparse", space=simple(10**12), create=sparse)
        at = vary("value: in a sparse data set", 5 * 10**11, 5 * 10**11 + 1, "/sparse: value at (500000000000,): 1",
                  "/sparse: values that differ: 2")  # fmt: skip
        space = d.get_space()
        space.select_hyperslab((at,), (1,))
        d.write(simple(1), space, numpy.array([1], "i4"))


@builder
def netcdf4(path, vary):
    """Differences of HDF5 come first: only the view's own lines are told of here."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", vary("netCDF: length", 4, 5, "/: netCDF dimension x: (4, False), (5, False)"))
        unlimited = vary("netCDF: unlimited", None, 2, "/: netCDF dimension t: (2, True), (2, False)")
        file.createDimension("t", unlimited)
        names = vary("netCDF: order of variables", ("p", "q"), ("q", "p"), "/: netCDF order of variables")
        for name in names:
            file.createVariable(name, "f4")[...] = 1
        order = vary("netCDF: byte order", "<little", ">big", "/v: netCDF byte order: little, big")
        shape = vary("netCDF: chunks", (1, 4), (2, 4), "/v: netCDF chunks: [1, 4], [2, 4]")
        v = file.createVariable(
            "v", order[0] + "i4", ("t", "x"), endian=order[1:], chunksizes=shape, zlib=True, complevel=2
        )
        v[...] = numpy.arange(2 * len(file.dimensions["x"])).reshape(2, -1)
        v.units = vary("netCDF: attribute", "K", "C", "/v: netCDF attribute units: ('str', 'K'), ('str', 'C')")
        v[1, 1] = vary("netCDF: value", 5, 6, "/v: netCDF values of")
        enum = file.createEnumType(
            "u1", "colour", {"red": 0, "blue": vary("netCDF: enum", 1, 2, "/: netCDF type colour")}
        )
        file.createVariable("e", enum)[...] = 0
        rows = file.createVariable("rows", file.createVLType("i4", "row"), ("x",))
        rows[0] = numpy.array([1, vary("netCDF: vlen", 2, 3, "/rows: netCDF values of")], "i4")
        words = file.createVariable("words", str, ("x",))
        words[0] = vary("netCDF: string", "word", "ward", "/words: netCDF values of")
        group = file.createGroup(vary("netCDF: group", "g", "h", "/: netCDF order of groups: ['g'], ['h']"))
        group.createVariable("in_group", "f8")[...] = vary(
            "netCDF: value in a group", 1.5, 2.5, "/g/in_group: netCDF val"
        )


@builder
def classic(path, vary):
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "i4", ("x",))[:] = range(4)
    content = bytearray(path.read_bytes())
    content[-1] = vary("classic: byte", 3, 4, f"/: byte {len(content) - 1}: 3, 4")
    path.write_bytes(content + vary("classic: length", b"", b"\0", f"/: length: {len(content)}, {len(content) + 1}"))
