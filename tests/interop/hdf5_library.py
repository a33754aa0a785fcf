"""The HDF5 library that h5py has loaded, for the few things that h5py has no call for."""

import ctypes

Query = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t
)
Traverse = ctypes.CFUNCTYPE(ctypes.c_int64)


class LinkClass(ctypes.Structure):
    """H5L_class_t of version 0."""

    _fields_ = [("version", ctypes.c_int), ("id", ctypes.c_int), ("comment", ctypes.c_char_p)]
    _fields_ += [(name, ctypes.c_void_p) for name in ("create", "move", "copy")]
    _fields_ += [("traverse", Traverse), ("delete", ctypes.c_void_p), ("query", Query)]


def load():
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "/libhdf5" in line and "_hl" not in line}
    return ctypes.CDLL(min(paths))


LIBRARY = load()


def allow_odd_numbers(access):
    """HDF5 1.14.4 and later refuse numbers that leave most of their bits unused, unless they are asked."""
    if hasattr(LIBRARY, "H5Pset_relax_file_integrity_checks"):
        LIBRARY.H5Pset_relax_file_integrity_checks(ctypes.c_int64(access.id), ctypes.c_uint64(1))


PLAIN_EDGES = 2  # a chunk option: chunks at the edge are not filtered


def chunk_options(plist):
    """H5Pget_chunk_opts: 0 or PLAIN_EDGES."""
    out = ctypes.c_uint()
    if LIBRARY.H5Pget_chunk_opts(ctypes.c_int64(plist.id), ctypes.byref(out)) < 0:
        raise RuntimeError("no chunk options")
    return out.value


def set_fill_value(plist, datatype, value):
    """H5Pset_fill_value, for a value of any type. value: its bytes in memory."""
    if LIBRARY.H5Pset_fill_value(ctypes.c_int64(plist.id), ctypes.c_int64(datatype.id), value) < 0:
        raise RuntimeError("no fill value")


class UserDefinedLinks:
    """Values of user-defined links: the library shows them only to the query function of their class, so
    the class of every one that is met is registered with one that takes notes."""

    def __init__(self):
        self.value = None
        self._classes = {}  # number -> the registered one

    def value_of(self, group, name, number):
        link_class = LinkClass(0, number, b"", None, None, None, Traverse(lambda: -1), None, Query(self._query))
        if LIBRARY.H5Lregister(ctypes.byref(link_class)) < 0:
            raise RuntimeError(f"class {number} of links: cannot be registered")
        self._classes[number] = link_class  # its functions must stay
        self.value = None
        group.links.get_info(name)
        return self.value

    def _query(self, name, data, size, buffer, room):
        self.value = ctypes.string_at(data, size)
        return size
