"""Compares two HDF5 files: links, objects, attributes, types, dataspaces, storage and values."""

import math

import numpy
from h5py import h5a, h5o, h5p, h5s, h5t

import hdf5_spaces
import hdf5_storage
import hdf5_types
import hdf5_values
from differences import Unreadable, text

SANE = 64 << 20  # bytes that an attribute may claim whatever the file's size


def compare(a, b, out, raw_chunks=False):
    """Two Hdf5File; what differs goes to `out`, a Differences."""
    Comparison(a, b, out, raw_chunks).run()


class Comparison:
    def __init__(self, a, b, out, raw_chunks):
        self.a, self.b = a, b
        self.out = out
        self.raw_chunks = raw_chunks
        self.types_seen = set()  # names of unlinked named datatypes whose attributes are compared

    def run(self):
        self.out.compare("/", "user block", self.a.user_block(), self.b.user_block())
        for path, kind in self.a.objects.items():
            if path not in self.b.objects:
                continue  # a link to it differs, which is told there
            if self.out.compare(path, "kind of object", kind, self.b.objects[path]):
                try:
                    self.compare_path(path, kind)
                except Exception as error:
                    self.out.uncompared.append((text(path), kind, text(error)))
        for path in {**self.a.errors, **self.b.errors}:
            self.out.of_both(path, "object", lambda file: raise_error(file, path), self.a, self.b)

    def compare_path(self, path, kind):
        if kind == "group":
            self.compare_links(path)
        if kind not in COMPARERS:
            return  # unreadable, or of a kind to come
        objects = self.out.of_both(path, kind, lambda file: file.open(path), self.a, self.b)
        if not objects:
            return
        comments = self.out.of_both(path, "comment", lambda file: file.comment(path), self.a, self.b)
        if comments:
            self.out.compare(path, "comment", *comments)
        counts = self.out.of_both(path, "reference count", lambda one: h5o.get_info(one).rc, *objects)
        if counts:
            self.out.compare(path, "reference count", *counts)
        self.compare_attributes(path, *objects)
        COMPARERS[kind](self, path, *objects)

    # Links

    def compare_links(self, path):
        if path not in self.a.links or path not in self.b.links:
            return  # an error that is told
        a, b = self.a.links[path], self.b.links[path]
        for name in sorted(a.keys() | b.keys()):
            field = f"link {text(name)}"
            if name not in a or name not in b:
                self.out.add(path, field, *(links.get(name, {}).get("kind", "absent") for links in (a, b)))
            else:
                self.out.compare_fields(path, f"{field}: ", a[name], b[name])
        self.compare_order(path, "links", self.a.link_order[path], self.b.link_order[path])

    def compare_order(self, path, what, a, b):
        """Of names that both have, in creation order; None where it is not tracked."""
        if a is None or b is None:
            return  # the flag differs, or there is no order
        both = set(a) & set(b)
        a, b = ([name for name in names if name in both] for names in (a, b))
        for i, pair in enumerate(zip(a, b)):
            if pair[0] != pair[1]:
                self.out.add(path, f"creation order of {what}: number {i}", *pair)
                return

    # Objects

    def compare_group(self, path, a, b):
        self.compare_flags(path, "creation order of links", h5p.PropGCID.get_link_creation_order, a, b)
        self.compare_flags(path, "creation order of attributes", h5p.PropGCID.get_attr_creation_order, a, b)

    def compare_named_datatype(self, path, a, b):
        self.compare_flags(path, "creation order of attributes", h5p.PropTCID.get_attr_creation_order, a, b)
        self.compare_types(path, "type", a, b)

    def compare_dataset(self, path, a, b):
        self.compare_flags(path, "creation order of attributes", h5p.PropDCID.get_attr_creation_order, a, b)
        storage = self.out.of_both(path, "storage", hdf5_storage.describe, a, b)
        same_layout = storage is not None and self.compare_storage(path, *storage)
        if self.same_kind_of_values(path, "", a, b):
            hdf5_storage.DatasetPair(path, self.a, self.b, a, b, self.out, self.raw_chunks).compare(same_layout)

    def compare_storage(self, path, a, b):
        self.out.compare_fields(path, "", a, b)
        return all(a.get(field) == b.get(field) for field in ("layout", "chunk shape"))

    def compare_flags(self, path, field, get, a, b):
        flags = self.out.of_both(path, field, lambda one: get(one.get_create_plist()), a, b)
        if flags:
            self.out.compare(path, f"flags of the {field}", *map(creation_order_words, flags))

    # Types and dataspaces of data sets and attributes

    def same_kind_of_values(self, path, prefix, a, b):
        """Compares types and dataspaces; True if the types and extents are equal, as values need."""
        types = self.out.of_both(path, prefix + "type", lambda one: one.get_type(), a, b)
        spaces = self.out.of_both(path, prefix + "dataspace", lambda one: one.get_space(), a, b)
        if not types or not spaces:
            return False
        self.compare_use_of_named(path, prefix, *types)
        same = self.compare_types(path, prefix + "type", *types)
        described = self.out.of_both(path, prefix + "dataspace", hdf5_spaces.describe, *spaces)
        if not described:
            return False
        self.out.compare_fields(path, prefix, *described)
        extents = [{k: v for k, v in one.items() if k != "maximum dimensions"} for one in described]
        return same and extents[0] == extents[1]

    def compare_types(self, path, field, a, b):
        described = self.out.of_both(path, field, hdf5_types.describe, a, b)
        return described is not None and self.out.compare_fields(path, f"{field}: ", *described)

    def compare_use_of_named(self, path, prefix, a, b):
        names = [file.name_of(t) if t.committed() else None for file, t in ((self.a, a), (self.b, b))]
        same = self.out.compare(path, prefix + "named datatype", *(name or "none" for name in names))
        if same and isinstance(names[0], str) and names[0] not in self.types_seen:
            self.types_seen.add(names[0])  # its attributes are seen nowhere else
            self.compare_attributes(f"{text(path)} {names[0]}", a, b)

    # Attributes

    def compare_attributes(self, path, a, b):
        found = self.out.of_both(path, "attributes", read_attributes, a, b)
        if not found:
            return
        (a, order_a), (b, order_b) = found
        for name in sorted(a.keys() | b.keys()):
            field = f"attribute {text(name)}"
            if name not in a or name not in b:
                self.out.add(path, field, *("present" if name in one else "absent" for one in (a, b)))
            else:
                self.compare_attribute(path, f"{field}: ", *a[name], *b[name])
        self.compare_order(path, "attributes", order_a, order_b)

    def compare_attribute(self, path, prefix, a, cset_a, b, cset_b):
        names = (hdf5_types.named(hdf5_types.CHARACTER_SETS, cset) for cset in (cset_a, cset_b))
        self.out.compare(path, prefix + "character set of the name", *names)
        if not self.same_kind_of_values(path, prefix, a, b):
            return
        if a.get_space().get_simple_extent_type() == h5s.NULL:
            return
        raw = self.out.of_both(path, prefix + "value", lambda i: read_attribute(*((self.a, a), (self.b, b))[i]), 0, 1)
        if not raw:
            return
        try:
            different = hdf5_values.first_difference(a.get_type(), self.a, raw[0], self.b, raw[1])
        except Exception as error:
            self.out.uncompared.append((text(path), prefix + "value", text(error)))
            return
        if different:
            at, value_a, value_b, count = different
            self.out.add(path, f"{prefix}value {at} ({count} differ)", value_a, value_b)


COMPARERS = {
    "group": Comparison.compare_group,
    "data set": Comparison.compare_dataset,
    "named datatype": Comparison.compare_named_datatype,
}


def raise_error(file, path):
    if path in file.errors:
        raise Unreadable(file.errors[path])
    return "readable"


def creation_order_words(flags):
    if flags & h5p.CRT_ORDER_INDEXED:
        return "tracked and indexed"
    return "tracked" if flags & h5p.CRT_ORDER_TRACKED else "not tracked"


def read_attributes(object_id):
    """({name: (attribute, character set of the name)}, names in creation order or None)."""
    names = []
    h5a.iterate(object_id, names.append)
    if len(set(names)) != h5a.get_num_attrs(object_id):
        raise Unreadable(f"found {len(set(names))} names, expected {h5a.get_num_attrs(object_id)}")
    infos = {name: h5a.get_info(object_id, name) for name in names}
    attributes = {name: (h5a.open(object_id, name), info.cset) for name, info in infos.items()}
    if isinstance(object_id, h5t.TypeID) and not object_id.committed():
        return attributes, None
    tracked = object_id.get_create_plist().get_attr_creation_order() & h5p.CRT_ORDER_TRACKED
    return attributes, sorted(infos, key=lambda name: infos[name].corder) if tracked else None


def read_attribute(file, attribute):
    """Unconverted bytes."""
    type_id, shape = attribute.get_type(), attribute.shape
    claimed = math.prod(shape) * type_id.get_size()
    if claimed > max(SANE, 4 * file.size):
        raise Unreadable(f"found {claimed} bytes of values in a file of {file.size}")
    out = numpy.zeros(shape, f"V{type_id.get_size()}")
    if claimed:
        attribute.read(out, type_id)
    return out.tobytes()
