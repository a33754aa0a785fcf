#!/usr/bin/python3
"""nmconvert --layout cmip7: where metadata and chunks lie, by h5py; what users of netCDF4-python see, compared with the
source."""

import shutil
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402
from users_view import netcdf_view  # noqa: E402

LEAST = 4 << 20
DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3


class CountedFile:
    """A file that notes where HDF5 reads."""

    def __init__(self, path):
        self.file, self.reads = open(path, "rb"), []

    def seek(self, offset, whence=0):
        return self.file.seek(offset, whence)

    def tell(self):
        return self.file.tell()

    def read(self, size=-1):
        self.reads.append(self.file.tell())
        return self.file.read(size)

    def readinto(self, buffer):
        self.reads.append(self.file.tell())
        return self.file.readinto(buffer)


def data_sets(file):
    found = []
    file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found


def chunks_of(data_set):
    return [data_set.id.get_chunk_info(i) for i in range(data_set.id.get_num_chunks())]


def raw_chunks(data_set):
    return [
        (info.chunk_offset, *data_set.id.read_direct_chunk(info.chunk_offset))
        for info in map(data_set.id.get_chunk_info, range(data_set.id.get_num_chunks()))
    ]


def filters(data_set):
    plist = data_set.id.get_create_plist()
    return {plist.get_filter(i)[0]: plist.get_filter(i)[2] for i in range(plist.get_nfilters())}


def check_metadata_first(test, path, what):
    """Opens all objects, attributes and chunk indexes; none may lie behind the first values."""
    counted = CountedFile(path)
    first = counted.seek(0, 2)
    counted.reads.clear()
    with h5py.File(counted, "r") as file:
        for owner in [file, *data_sets(file)]:
            for name in owner.attrs:
                owner.attrs.get(name)
            if isinstance(owner, h5py.Dataset):
                owner.dims
                if owner.chunks:
                    first = min([first, *(info.byte_offset for info in chunks_of(owner))])
                elif owner.id.get_offset() is not None:
                    first = min(first, owner.id.get_offset())
        reads = list(counted.reads)
    test.check(max(reads) < first, f"{what}: metadata at {max(reads)}, values from {first} on")
    test.check(first - max(reads) < 32768, f"{what}: {first - max(reads)} bytes between metadata and values")


def check_chunks(test, path, what, time=("time", "time_bnds")):
    with h5py.File(path) as file:
        for one in data_sets(file):
            if one.chunks is None or one.id.get_num_chunks() == 0:
                test.check(one.size * one.dtype.itemsize <= 65536 or one.name[1:] in time, f"{what}: {one.name}: no chunks")
                continue
            count, size = one.id.get_num_chunks(), int(numpy.prod(one.chunks)) * one.dtype.itemsize
            is_time = one.name[1:] in time
            test.check(count == 1 or (size >= LEAST and not is_time), f"{what}: {one.name}: {count} chunks of {size} bytes")
            if one.size * one.dtype.itemsize > 65536 and not is_time and one.dtype.kind != "O":
                wanted, found = {DEFLATE: (4,), FLETCHER32: (), SHUFFLE: (one.dtype.itemsize,)}, filters(one)
                # Values of one byte need no shuffle.
                test.check(found == wanted or (one.dtype.itemsize == 1 and found | {SHUFFLE: (1,)} == wanted),
                           f"{what}: {one.name}: filters {found}")


def native(value):
    """A line of a view, whatever the byte order in the file."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], bytes) and str(value[0])[:1] in "<>":
        dtype = numpy.dtype(value[0])
        return (str(value[0])[1:], value[1], numpy.frombuffer(value[2], dtype).astype(dtype.newbyteorder("=")).tobytes())
    return value[1:] if isinstance(value, str) and value[:1] in ("<", ">") else value


def check_same(test, source, result, what):
    """Chunks and filters may differ."""
    found, expected = netcdf_view(test.work / result), netcdf_view(test.work / source)
    storage = ("chunks", "filters", "endian")
    for key in expected.keys() | found.keys():
        if key[1] not in storage and key[1] != "attribute _NCProperties":
            same = repr(native(found.get(key))) == repr(native(expected.get(key)))
            test.check(same, f"{what}: {key}: {str(found.get(key))[:80]}, expected {str(expected.get(key))[:80]}")


def make_model_output(path, kind, steps=40):
    rng = numpy.random.default_rng(3)
    with netCDF4.Dataset(path, "w", format=kind) as f:
        f.title = "one step a chunk"
        f.createDimension("time", None)
        for name, length in (("lat", 120), ("lon", 180), ("bnds", 2), ("lev", 3)):
            f.createDimension(name, length)
        time = f.createVariable("time", "f8", ("time",), **({"chunksizes": (1,)} if kind == "NETCDF4" else {}))
        time.units, time.calendar, time.bounds = "days since 1850-01-01", "noleap", "time_bnds"
        f.createVariable("time_bnds", "f8", ("time", "bnds"))
        for name in ("lat", "lon"):
            f.createVariable(name, "f8", (name,))[:] = numpy.arange(f.dimensions[name].size)
        packed = {"zlib": True, "complevel": 1, "chunksizes": (1, 120, 180)} if kind == "NETCDF4" else {}
        tas = f.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=1e20, **packed)
        tas.units, tas.coordinates, tas.valid_range = "K", "lat lon", numpy.array([0, 400], "f4")
        tiles = {"chunksizes": (1, 2, 60, 90), "shuffle": True, "zlib": True} if kind == "NETCDF4" else {}
        ta = f.createVariable("ta", "i2", ("time", "lev", "lat", "lon"), **tiles)
        ta.scale_factor = 0.01
        ta.set_auto_maskandscale(False)
        area = f.createVariable("area", "f8", ("lat", "lon"))
        area[:] = rng.random((120, 180))
        f.createVariable("scalar", "i4", ())[...] = 7
        time[:] = numpy.arange(steps) + 0.5
        f["time_bnds"][:] = numpy.arange(steps)[:, None] + [0.0, 1.0]
        tas[:] = rng.normal(280, 10, (steps, 120, 180)).astype("f4")
        tas[2, 3:9] = numpy.ma.masked
        ta[:] = rng.integers(-500, 500, (steps, 3, 120, 180))
        if kind == "NETCDF4":
            f.createVariable("names", str, ("lev",))[:] = numpy.array(["a", "", "ccc"], object)
            group = f.createGroup("deep")
            group.comment = "a group"
            more = group.createVariable("more", "i4", ("time", "lat"), chunksizes=(7, 11), endian="big")
            more[:] = numpy.arange(steps * 120).reshape(steps, 120)
            f.createVariable("late", "f4", ("time", "lat", "lon"), chunksizes=(1, 120, 180))[3] = 1.5


def make_plain(path):
    table = numpy.arange(300 * 90 * 50, dtype="<i4").reshape(300, 90, 50)
    with h5py.File(path, "w", userblock_size=512) as f:
        f.create_dataset("table", data=table, chunks=(7, 20, 50), maxshape=(None, 90, 50), fillvalue=-3)
        f.create_dataset("early", data=table[:50].astype("u1"), chunks=(2, 90, 50), fletcher32=True)
        f.create_dataset("array", data=table.astype(">f8"))
        holes = f.create_dataset("holes", (400, 100, 100), "<f4", chunks=(1, 100, 100), fillvalue=2.5)
        holes[100:102] = 1
        pair = numpy.dtype([("id", "<i4"), ("at", "<f8", (2,))])
        f.create_dataset("pairs", data=numpy.zeros(300000, pair), chunks=(1000,))
        f.create_dataset("words", data=["x", "yy"] * 500, dtype=h5py.string_dtype(), chunks=(50,))
        f.attrs["words"] = ["many", "words"] * 300
        f.attrs["table"] = f["table"].ref
        f.create_dataset("lzf", data=table, chunks=(10, 90, 50), compression="lzf")


def check(test):
    for kind, source in (("NETCDF4", "model.nc"), ("NETCDF3_64BIT_DATA", "classic.nc")):
        make_model_output(test.work / source, kind)
        out = "cmip7_" + source
        test.run("nmconvert", source, "-o", out, "--layout", "cmip7")
        check_metadata_first(test, test.work / out, source)
        check_chunks(test, test.work / out, source)
        check_same(test, source, out, source)
        for threads in ("1", "3"):
            test.run("nmconvert", source, "again.nc", "-f", "--layout", "cmip7", "-j", threads, "--mem", "200M")
            test.check(
                (test.work / "again.nc").read_bytes() == (test.work / out).read_bytes(), f"{source}: -j {threads}: other bytes")
        # All is right now: the chunks stay as they are.
        test.run("nmconvert", out, "again.nc", "-f", "--layout", "cmip7")
        with h5py.File(test.work / out) as a, h5py.File(test.work / "again.nc") as b:
            for one in data_sets(a):
                if one.chunks:
                    test.check(raw_chunks(one) == raw_chunks(b[one.name]), f"{source}: {one.name}: other chunks")
                    test.check(one.chunks == b[one.name].chunks, f"{source}: {one.name}: other shape of chunks")
    check_plain(test)
    check_refusals(test)


def check_plain(test):
    make_plain(test.work / "plain.h5")
    test.run("nmconvert", "plain.h5", "plain.nc", "--layout", "cmip7", says="lzf")
    test.run("nmconvert", "plain.h5", "strict.nc", "--layout", "cmip7", "--strict", exit_code=1)
    test.check(not (test.work / "strict.nc").exists(), "--strict: wrote a file")
    with h5py.File(test.work / "plain.h5") as a, h5py.File(test.work / "plain.nc") as b:
        test.check(b.userblock_size == 512, "plain: no user block")
        test.check(b[b.attrs["table"]].name == "/table", "plain: a reference leads elsewhere")
        for one in data_sets(a):
            other = b[one.name]
            test.check(numpy.array_equal(one[()], other[()]), f"plain: values of {one.name} differ")
            test.check(one.dtype == other.dtype and one.maxshape == other.maxshape, f"plain: {one.name} has another type or shape")
            # h5py crashes on fill values of variable length.
            same = one.dtype.kind == "O" or numpy.array_equal(one.fillvalue, other.fillvalue)
            test.check(same, f"plain: {one.name} has another fill value")
        test.check(b["holes"].id.get_num_chunks() == 1, "holes: chunks that were never written are written")
        test.check(raw_chunks(a["lzf"]) == raw_chunks(b["lzf"]), "lzf: other chunks")
        test.check(filters(b["early"]) == {DEFLATE: (4,), FLETCHER32: (), SHUFFLE: (1,)}, f"early: filters {filters(b['early'])}")
        for name in ("table", "early", "array", "pairs"):
            size = int(numpy.prod(b[name].chunks)) * b[name].dtype.itemsize
            test.check(size >= LEAST or b[name].id.get_num_chunks() == 1, f"plain: {name}: chunks of {size} bytes")
    check_metadata_first(test, test.work / "plain.nc", "plain")


def check_refusals(test):
    test.run("nmconvert", "model.nc", "made.nmb")
    test.run("nmconvert", "made.nmb", "x.nc", "--layout", "cmip7", exit_code=2, says="--layout needs")
    test.run("nmconvert", "model.nc", "x.nmb", "--layout", "cmip7", exit_code=2, says="--layout needs")
    test.run("nmconvert", "model.nc", "x.nc", "--layout", "cmip7", "--compress", "zstd", exit_code=2, says="exclude each other")
    test.run("nmconvert", "model.nc", "cmip7_model.nc", "--layout", "cmip7", exit_code=2, says="-f")
    # A chunk that does not decode is found, and an existing output stays.
    shutil.copy(test.work / "model.nc", test.work / "bad.nc")
    with h5py.File(test.work / "bad.nc") as f:
        place = f["tas"].id.get_chunk_info(5)
    with open(test.work / "bad.nc", "r+b") as f:
        f.seek(place.byte_offset + place.size // 2)
        f.write(b"\xff" * 40)
    before = (test.work / "cmip7_model.nc").read_bytes()
    test.run("nmconvert", "bad.nc", "cmip7_model.nc", "-f", "--layout", "cmip7", exit_code=1, says="tas")
    test.check((test.work / "cmip7_model.nc").read_bytes() == before, "a failure changed the output")
    left = [p.name for p in test.work.iterdir() if p.name.startswith(".")]
    test.check(not left, f"left behind: {left}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
