"""How HDF5 data sets are stored: layout, filters, fill value, chunks; and their values, in slabs.

Not compared, since a faithful copy may differ: addresses, which chunks are allocated, and values that lie in
other files (virtual data sets and external storage: their mappings are compared).
"""

import collections
import math

import numpy
from h5py import h5d, h5s, h5z

import hdf5_library
import hdf5_spaces
import hdf5_values
from differences import Unreadable, text

LAYOUTS = {h5d.COMPACT: "compact", h5d.CONTIGUOUS: "contiguous", h5d.CHUNKED: "chunked", h5d.VIRTUAL: "virtual"}
FILL_TIMES = {h5d.FILL_TIME_ALLOC: "at allocation", h5d.FILL_TIME_NEVER: "never", h5d.FILL_TIME_IFSET: "if set"}
ALLOC_TIMES = {h5d.ALLOC_TIME_EARLY: "early", h5d.ALLOC_TIME_LATE: "late", h5d.ALLOC_TIME_INCR: "incremental"}
FILL_STATES = {
    h5d.FILL_VALUE_UNDEFINED: "undefined",
    h5d.FILL_VALUE_DEFAULT: "default",
    h5d.FILL_VALUE_USER_DEFINED: "user-defined",
}
SLAB = 4 << 20  # bytes of values read at once from either file, or one chunk if that is more
NOT_ALLOCATED = ("storage is not allocated", "storage is not initialized", "buf cannot be NULL")  # what reading a chunk says then
PLACES = 1_000_000  # for chunks, where they have to be tried one by one
SPARSE = 64 << 20  # from so many bytes on only allocated chunks are read, where they are the smaller part
DECODES = 2  # of a filter's configuration: it can decode


def describe(dataset):
    """Everything but the fill value's bytes and the chunks."""
    plist = dataset.get_create_plist()
    layout = plist.get_layout()
    out = {"layout": LAYOUTS.get(layout, layout)}
    if layout == h5d.CHUNKED:
        out["chunk shape"] = tuple(plist.get_chunk())
        out["chunk options"] = hdf5_library.chunk_options(plist)
    for i in range(plist.get_nfilters()):
        code, flags, values, name = plist.get_filter(i)
        if code == h5z.FILTER_SCALEOFFSET:
            values = used_values(values)
        out |= {f"filter {i} id": code, f"filter {i} flags": flags, f"filter {i} values": tuple(values)}
        out[f"filter {i} name"] = name
    out["fill value state"] = FILL_STATES[plist.fill_value_defined()]
    out["fill time"] = FILL_TIMES[plist.get_fill_time()]
    out["allocation time"] = ALLOC_TIMES[plist.get_alloc_time()]
    for i in range(plist.get_external_count()):
        out[f"external file {i} (name, offset, size)"] = plist.get_external(i)
    if layout == h5d.VIRTUAL:
        for i in range(plist.get_virtual_count()):
            out |= describe_mapping(plist, i)
    return out


def describe_mapping(plist, i):
    source = plist.get_virtual_srcspace(i)
    return {
        f"mapping {i} file": plist.get_virtual_filename(i),
        f"mapping {i} data set": plist.get_virtual_dsetname(i),
        f"mapping {i} selection": hdf5_spaces.describe_selection(plist.get_virtual_vspace(i)),
        f"mapping {i} source selection": hdf5_spaces.describe_selection(source),
    }


Chunk = collections.namedtuple("Chunk", "filter_mask size")


class Chunks:
    """The allocated chunks of a data set, by offset."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.at = dict(self._by_place() if offsets_may_be_wrong(dataset) else self._by_number())

    def read(self, offset):
        return self.dataset.read_direct_chunk(offset)[1]

    def _by_number(self):
        for i in range(self.dataset.get_num_chunks()):
            info = self.dataset.get_chunk_info(i)
            yield tuple(info.chunk_offset), Chunk(info.filter_mask, info.size)

    def _by_place(self):
        dims, unit = self.dataset.shape, self.dataset.get_create_plist().get_chunk()
        if math.prod(-(-dim // n) for dim, n in zip(dims, unit)) > PLACES:
            raise Unreadable(f"more than {PLACES} places for chunks")
        for offset, _ in blocks(dims, unit, 1):
            try:
                mask, raw = self.dataset.read_direct_chunk(offset)
            except Exception as error:  # of h5py: the class depends on the index of chunks
                if not any(words in str(error) for words in NOT_ALLOCATED):
                    raise
            else:
                yield offset, Chunk(mask, len(raw))


def offsets_may_be_wrong(dataset):
    """HDF5 1.10 numbers the chunks of an extensible array (one unlimited dimension) with that dimension first,
    and forgets it when it tells of their offsets."""
    most = dataset.get_space().get_simple_extent_dims(True)
    return most.count(h5s.UNLIMITED) == 1 and most[0] != h5s.UNLIMITED


class DatasetPair:
    """A data set of file A and one of file B with equal types and dataspaces, to be compared."""

    def __init__(self, path, file_a, file_b, a, b, out, raw_chunks):
        self.path = path
        self.files = file_a, file_b
        self.datasets = a, b
        self.out = out
        self.raw_chunks = raw_chunks
        self.type = a.get_type()
        self.fixed = hdf5_values.is_fixed(self.type)
        self.plists = [dataset.get_create_plist() for dataset in self.datasets]

    def compare(self, same_layout):
        """Fill value, filter masks and values; raw chunks if asked for or if there is no other way."""
        self.compare_fill_value()
        null = self.datasets[0].get_space().get_simple_extent_type() == h5s.NULL
        if null or any(values_lie_elsewhere(plist) for plist in self.plists):
            return
        chunked = same_layout and self.plists[0].get_layout() == h5d.CHUNKED
        chunks = None
        if chunked:
            chunks = self.out.of_both(self.path, "chunks", Chunks, *self.datasets)
            if chunks is None:
                return
            self.compare_masks(*chunks)
            if self.raw_chunks and self.fixed:  # else they hold places in the file
                self.compare_raw_chunks(*chunks)
        missing = sorted({code for plist in self.plists for code in missing_filters(plist)})
        why = f"filters {missing} are not installed"
        if not missing:
            try:
                return self.compare_values(chunks)
            except Unreadable as error:
                why = str(error)
        if not chunked or not self.fixed:
            self.out.uncompared.append((text(self.path), "values", why))
        elif not self.raw_chunks:
            self.compare_raw_chunks(*chunks)

    def compare_fill_value(self):
        if any(plist.fill_value_defined() != h5d.FILL_VALUE_USER_DEFINED for plist in self.plists):
            return
        raw = self.out.of_both(
            self.path, "fill value", lambda i: self.files[i].fill_value(self.datasets[i], self.plists[i]), 0, 1
        )
        if raw:
            self.report_values("fill value", lambda at: "", *raw)

    def report_values(self, field, where, raw_a, raw_b):
        """The number of elements that differ; a line for the first."""
        file_a, file_b = self.files
        found = hdf5_values.first_difference(self.type, file_a, raw_a, file_b, raw_b)
        if not found:
            return 0
        at, a, b, count = found
        self.out.add(self.path, field + where(at), a, b)
        return count

    def compare_masks(self, a, b):
        for offset in sorted(a.at.keys() & b.at.keys()):
            masks = a.at[offset].filter_mask, b.at[offset].filter_mask
            self.out.compare(self.path, f"filter mask of chunk {offset}", *map(hex, masks))

    def compare_raw_chunks(self, a, b):
        """Offsets, sizes and bytes; of pointers into the file (variable length, references) no bytes."""
        for offset in sorted(a.at.keys() | b.at.keys()):
            if not all(offset in chunks.at for chunks in (a, b)):
                stored = ["stored" if offset in chunks.at else "not stored" for chunks in (a, b)]
                self.out.add(self.path, f"chunk {offset}", *stored)
                continue
            sizes = [chunks.at[offset].size for chunks in (a, b)]
            if self.out.compare(self.path, f"size of chunk {offset}", *sizes) and self.fixed:
                self.compare_raw_chunk(offset, a, b)

    def compare_raw_chunk(self, offset, a, b):
        raw = self.out.of_both(self.path, f"bytes of chunk {offset}", lambda chunks: chunks.read(offset), a, b)
        if raw and raw[0] != raw[1]:
            at = next(i for i, pair in enumerate(zip(*raw)) if pair[0] != pair[1])
            self.out.add(self.path, f"byte {at} of chunk {offset}", raw[0][at], raw[1][at])

    def compare_values(self, chunks):
        dims = self.datasets[0].shape
        differ = 0
        for start, count in self.slabs(dims, chunks):
            raw = []
            for dataset in self.datasets:
                try:
                    raw.append(read_slab(dataset, start, count))
                except Exception as error:
                    raw.append(error)
            errors = [one for one in raw if isinstance(one, Exception)]
            if len(errors) == 2:
                raise Unreadable(f"values from {start}: {errors[0]}")
            if errors:
                readable = ["unreadable" if isinstance(one, Exception) else "readable" for one in raw]
                self.out.add(self.path, f"values from {start}", *readable)
                return
            if differ:
                differ += self.count_differences(*raw)
            else:
                differ = self.report_values("value", lambda at: f" at {index_of(at, start, count)}", *raw)
        if differ > 1:
            self.out.add(self.path, "values that differ", differ, f"of {math.prod(dims)}")

    def count_differences(self, raw_a, raw_b):
        found = hdf5_values.first_difference(self.type, self.files[0], raw_a, self.files[1], raw_b)
        return found[3] if found else 0

    def slabs(self, dims, chunks):
        size = self.type.get_size()
        total = math.prod(dims) * size
        if total == 0:
            return
        unit = [1] * len(dims)
        if chunks:
            unit = self.plists[0].get_chunk()
            offsets = chunks[0].at.keys() | chunks[1].at.keys()
            if total > SPARSE and len(offsets) * math.prod(unit) * size * 2 < total:
                for offset in sorted(offsets):
                    # A chunk may have been left behind when the data set was made smaller.
                    if any(at >= dim for at, dim in zip(offset, dims)):
                        continue
                    yield offset, tuple(min(n, dim - at) for n, dim, at in zip(unit, dims, offset))
                return
        elif total > SPARSE and all(dataset.get_storage_size() == 0 for dataset in self.datasets):
            return  # nothing but fill values, which are compared
        yield from blocks(dims, unit, max(1, SLAB // size))


def values_lie_elsewhere(plist):
    return plist.get_layout() == h5d.VIRTUAL or plist.get_external_count() > 0


def used_values(values):
    """Of the scale-offset filter: HDF5 leaves those that it does not use as they happen to be."""
    if len(values) < 9:
        return values
    (_, _, _, type_class, size, sign, _, has_fill), rest = values[:8], values[8:]
    used = (min(size, 256) + 3) // 4 if has_fill else 0
    return (*values[:5], sign if type_class == 0 else 0, *values[6:8], *rest[:used])


def missing_filters(plist):
    for i in range(plist.get_nfilters()):
        code = plist.get_filter(i)[0]
        if not h5z.filter_avail(code) or not h5z.get_filter_info(code) & DECODES:
            yield code


def blocks(dims, unit, elements):
    """(start, count) of blocks that cover `dims`, of whole units, of about so many elements at most."""
    shape = [min(n, dim) for n, dim in zip(unit, dims)]
    for axis in reversed(range(len(dims))):
        fit = elements // max(1, math.prod(shape))
        shape[axis] = min(dims[axis], shape[axis] * max(1, fit))
        if shape[axis] < dims[axis]:
            break
    for index in numpy.ndindex(*(-(-dim // n) for dim, n in zip(dims, shape))):
        start = tuple(i * n for i, n in zip(index, shape))
        yield start, tuple(min(n, dim - at) for n, dim, at in zip(shape, dims, start))


def read_slab(dataset, start, count):
    """Unconverted bytes; elements that nothing was written to and no fill value is set for are 0."""
    type_id, space = dataset.get_type(), dataset.get_space()
    elements = math.prod(count)
    if start:
        space.select_hyperslab(start, count)
    out = numpy.zeros(elements * type_id.get_size(), "u1")
    if dataset.get_space_status() == h5d.SPACE_STATUS_NOT_ALLOCATED:
        if dataset.get_create_plist().fill_value_defined() == h5d.FILL_VALUE_UNDEFINED:
            return out.tobytes()  # which the library refuses to read
    dataset.read(h5s.create_simple((elements,)), space, out, type_id)
    return out.tobytes()


def index_of(at, start, count):
    """Of element `at` of a block."""
    out = []
    for first, n in zip(reversed(start), reversed(count)):
        out.append(first + at % n)
        at //= n
    return tuple(reversed(out))
