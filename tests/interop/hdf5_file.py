"""An HDF5 file as a graph: every object under its canonical path, every link of every group.

Objects are the same where their addresses are. An object's canonical path is the first that a walk in
breadth, links by name, leads to it; so cycles end, and two files have the same graph if their links lead
to the same canonical paths. Addresses themselves are never compared.
"""

import collections
import ctypes

import numpy
from h5py import h5d, h5f, h5l, h5o, h5p, h5r, h5s, h5t, regionref_dtype

import hdf5_library
import hdf5_spaces
import hdf5_types
from differences import Unreadable, text

LINKS = {h5l.TYPE_HARD: "hard", h5l.TYPE_SOFT: "soft", h5l.TYPE_EXTERNAL: "external"}
OBJECTS = {h5o.TYPE_GROUP: "group", h5o.TYPE_DATASET: "data set", h5o.TYPE_NAMED_DATATYPE: "named datatype"}
# A link as h5py returns it; `value` is the address of a hard link's object.
Link = collections.namedtuple("Link", "name type cset order value")
USER_DEFINED_LINKS = hdf5_library.UserDefinedLinks()


class Hdf5File:
    """Open until the end of a `with`, and then closed with whatever is open in it."""

    def __init__(self, path):
        self.path = path
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_fclose_degree(h5f.CLOSE_STRONG)
        hdf5_library.allow_odd_numbers(access)
        self.id = h5f.open(bytes(path), h5f.ACC_RDONLY, access)
        self.size = path.stat().st_size
        self.objects = {}  # canonical path -> kind, in the order of the walk
        self.links = {}  # canonical path of a group -> {name: fields of the link}
        self.link_order = {}  # the same -> names in creation order, None where that is not tracked
        self.errors = {}  # canonical path -> why its links cannot be read
        self._paths = {}  # address -> canonical path
        self._unlinked = {}  # address -> name of an object that no link leads to
        self._scratch = None
        self._root = h5o.open(self.id, b"/")
        try:
            self._walk()
        except BaseException:
            self.id.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._scratch is not None:
            self._scratch.close()
        self.id.close()

    def open(self, path):
        return h5o.open(self.id, path)

    def comment(self, path):
        return self._root.get_comment(path)

    def user_block(self):
        with self.path.open("rb") as stream:
            return stream.read(self.id.get_create_plist().get_userblock())

    # Names of objects and regions

    def name_of(self, object_id):
        return self.name_of_address(h5o.get_info(object_id).addr)

    def name_of_address(self, address):
        """The canonical path (bytes), or a number in the order in which unlinked objects are met (text)."""
        if address in self._paths:
            return self._paths[address]
        if address not in self._unlinked:
            self._unlinked[address] = f"<not linked {len(self._unlinked)}>"
        return self._unlinked[address]

    def name_of_object(self, reference):
        """Of an object reference as it is in memory: an address, 0 for null."""
        return self.name_of_address(reference) if reference else "<null reference>"

    def name_of_region(self, raw, type_id):
        """Of a region reference as it is in memory: (name of the data set, selection)."""
        if not any(raw):
            return "<null reference>"
        reference = region_reference(raw, type_id)
        try:
            target = h5r.dereference(reference, self.id)
            space = h5r.get_region(reference, self.id)
        except Exception as error:
            raise Unreadable(f"region reference {raw.hex()}: {text(error)}") from error
        return (self.name_of(target), hdf5_spaces.describe_selection(space))

    # Fill values

    def fill_value(self, dataset, plist):
        """The bytes of a data set's fill value, unconverted: what a data set of the same type and fill value
        in a file in memory holds before it is written. (h5py's own getter converts to NumPy's types.)"""
        type_id, scalar = dataset.get_type(), h5s.create(h5s.SCALAR)
        if plist.get_external_count():
            value = numpy.zeros((), type_id.dtype)  # external files cannot be taken out of the list
            plist.get_fill_value(value)
            return value.tobytes()
        plist = plist.copy()
        if plist.get_nfilters():
            plist.remove_filter(0)
        plist.set_layout(h5d.CONTIGUOUS)
        plist.set_alloc_time(h5d.ALLOC_TIME_DEFAULT)
        plist.set_fill_time(h5d.FILL_TIME_ALLOC)
        out = numpy.zeros(type_id.get_size(), "u1")
        unwritten = h5d.create(self._memory_file(), None, type_id.copy(), scalar, plist)
        unwritten.read(scalar, scalar, out, type_id)
        return out.tobytes()

    def _memory_file(self):
        if self._scratch is None:
            access = h5p.create(h5p.FILE_ACCESS)
            access.set_fapl_core(1 << 16, False)
            self._scratch = h5f.create(f"memory-{id(self)}".encode(), h5f.ACC_TRUNC, fapl=access)
        return self._scratch

    # The walk

    def _walk(self):
        self._paths[h5o.get_info(self._root).addr] = b"/"
        self.objects[b"/"] = "group"
        groups = collections.deque([b"/"])
        while groups:
            path = groups.popleft()
            try:
                self._read_links(path, groups)
            except Exception as error:
                self.errors[path] = text(error)
        for links in self.links.values():
            for fields in links.values():
                if fields["kind"] == "hard":
                    fields["target"] = self._paths[fields["target"]]

    def _read_links(self, path, groups):
        group = self.open(path)
        found = []
        # The same `info` comes with every name.
        group.links.iterate(
            lambda name, info: found.append(Link(name, info.type, info.cset, info.corder, info.u)), info=True
        )
        found.sort(key=lambda link: link.name)
        links = {link.name: self._link(group, link) for link in found}
        if len(links) != group.get_num_objs():
            raise Unreadable(f"found {len(links)} names of links, expected {group.get_num_objs()}")
        for link in found:
            if link.type == h5l.TYPE_HARD and link.value not in self._paths:
                child = path.rstrip(b"/") + b"/" + link.name
                self._paths[link.value] = child
                self.objects[child] = self._kind(group, link, child)
                if self.objects[child] == "group":
                    groups.append(child)
        tracked = group.get_create_plist().get_link_creation_order() & h5p.CRT_ORDER_TRACKED
        in_order = sorted(found, key=lambda link: link.order)
        self.links[path] = links
        self.link_order[path] = [link.name for link in in_order] if tracked else None

    def _link(self, group, link):
        out = {"kind": LINKS.get(link.type, f"user-defined {link.type}")}
        out["character set of the name"] = hdf5_types.named(hdf5_types.CHARACTER_SETS, link.cset)
        if link.type == h5l.TYPE_HARD:
            out["target"] = link.value  # replaced by a path once all are known
        elif link.type == h5l.TYPE_SOFT:
            out["target"] = group.links.get_val(link.name)
        elif link.type == h5l.TYPE_EXTERNAL:
            out["file"], out["target"] = group.links.get_val(link.name)
        else:
            out["value"] = USER_DEFINED_LINKS.value_of(group, link.name, link.type)
        return out

    def _kind(self, group, link, path):
        try:
            info = h5o.get_info(group, link.name)
            if info.addr != link.value:
                raise Unreadable("the link cannot be looked up by its name")
            return OBJECTS.get(info.type, info.type)
        except Exception as error:
            self.errors[path] = text(error)
            return "unreadable"


def region_reference(raw, type_id):
    """The h5py object, made by the conversion that h5py uses while reading."""
    memory = numpy.zeros(16, "u1")
    memory[: len(raw)] = numpy.frombuffer(raw, "u1")
    h5t.convert(type_id, h5t.py_create(regionref_dtype), 1, memory, numpy.zeros(16, "u1"))
    return ctypes.py_object.from_buffer(memory).value
