#!/usr/bin/python3
"""Values in other chunks, through other filters: what nmconvert --compress, --shuffle and --chunk make of an HDF5
file, read back by h5py."""

import re
import sys

sys.dont_write_bytecode = True
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402


def convert(test, *options):
    """The HDF5 file that in.h5 is behind a conversion with the options."""
    test.run("nmconvert", "in.h5", "made.nmb", "-f", *options)
    test.run("nmverify", "made.nmb")
    test.run("nmconvert", "made.nmb", "back.h5", "-f")
    return h5py.File(test.work / "back.h5")


def check_values(test, back, what):
    with h5py.File(test.work / "in.h5") as f:
        for name in f:
            test.check(numpy.array_equal(f[name][()], back[name][()]), f"{what}: values of {name} differ")
            test.check(f[name].maxshape == back[name].maxshape, f"{what}: shape of {name} differs")


def filters(data_set):
    plist = data_set.id.get_create_plist()
    return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]


DEFLATE, SHUFFLE, FLETCHER32, LZF = 1, 2, 3, 32000


def codecs(test):
    """All codecs but none, as the message about an unknown one lists them."""
    test.run("nmconvert", "in.h5", "no.nmb", "--compress", "?", exit_code=2)
    return re.split(", | or ", test.said.splitlines()[0].partition("expected ")[2])[1:]


def make(path):
    noise = numpy.random.default_rng(7)
    table = numpy.cumsum(noise.integers(-2, 3, size=(70, 41, 33)), axis=2).astype("<i4")
    with h5py.File(path, "w") as f:
        f.create_dataset("packed", data=table, chunks=(8, 41, 10), shuffle=True, compression="gzip", fletcher32=True)
        f.create_dataset("plain_chunks", data=table[0].astype(">f8"), chunks=(7, 5), maxshape=(None, 33))
        f.create_dataset("array", data=table.astype("<f8"))
        f.create_dataset("bytes", data=noise.integers(0, 256, size=100_000).astype("u1"))
        f.create_dataset("small", data=table[0, 0])
        f.create_dataset("scalar", data=1.5)
        f.create_dataset("text", data=["", "one", "two"] * 10, dtype=h5py.string_dtype())
        f.create_dataset("holes", shape=(40, 40), dtype="<i2", chunks=(8, 8), fillvalue=-9, compression="gzip")
        f["holes"][3:5, 3:5] = 1
        pair = numpy.dtype([("id", "<i4"), ("at", "<f8", (2,))])
        f.create_dataset("pairs", data=numpy.zeros(9000, pair), chunks=(1000,))
        f.create_dataset("lzf", data=table, chunks=(70, 41, 33), compression="lzf")


def check_codecs(test):
    for level in ("deflate", "deflate:9"):
        with convert(test, "--compress", level, "--shuffle") as back:
            check_values(test, back, level)
            test.check(filters(back["packed"]) == [SHUFFLE, DEFLATE, FLETCHER32], "packed: other filters")
            test.check(filters(back["array"]) == [SHUFFLE, DEFLATE], "array: other filters")
            test.check(filters(back["lzf"]) == [LZF], "lzf: other filters")
            test.check(back["packed"].chunks == (8, 41, 10), "packed: other chunks")
            test.check(back["small"].chunks is None, "small: has chunks")
            test.check(back["bytes"].id.get_storage_size() <= 100_000, "bytes: grew")
            test.check(back["holes"].id.get_num_chunks() == 1, "holes: chunks that were never written are written")
    with convert(test, "--compress", "none") as back:
        check_values(test, back, "none")
        test.check(filters(back["packed"]) == [FLETCHER32], "packed: other filters")
        test.check(back["array"].chunks is None, "array: has chunks")


def check_plugins(test):
    """Codecs whose filters HDF5 programs do not have."""
    names = codecs(test)
    names.remove("deflate")
    test.check("zstd" in names, f"no zstd: {names}")
    for codec in names:
        check_plugin(test, codec)


def check_plugin(test, codec):
    with convert(test, "--compress", codec) as back:
        number = filters(back["array"])[-1]
        test.check(number > 255, f"{codec}: has filter {number}")
        test.check(filters(back["packed"]) == [SHUFFLE, number, FLETCHER32], f"{codec}: packed: other filters")
        test.check(filters(back["array"]) == [number], f"{codec}: array: other filters")
    check_plugin_warning(test, codec, str(number))
    # The library reads chunks that HDF5 cannot read here, and writes chunks that HDF5 reads.
    test.run("nmconvert", "made.nmb", "again.nmb", "-f", "--compress", "deflate:1")
    test.run("nmconvert", "again.nmb", "back.h5", "-f")
    with h5py.File(test.work / "back.h5") as back:
        check_values(test, back, f"{codec}, then deflate")


def check_plugin_warning(test, codec, number):
    """Other programs need a plug-in: one line for each output that has such chunks, by its name."""
    with h5py.File(test.work / "other.h5", "w") as f:
        f.create_dataset("g/w", data=numpy.zeros(50_000), chunks=(5000,))
    for call in (["nmconvert", "in.h5", "coded.h5", "-f"], ["nmcat", "in.h5", "other.h5", "-o", "coded.nc", "-f"]):
        output = next(word for word in call if word.startswith("coded."))
        test.run(*call, "--compress", codec, says=f"{output}: values are compressed with HDF5 filter {number} ({codec})")
        test.check(test.said.count(number) == 1 and test.said.count("HDF5_PLUGIN_PATH") == 1, f"{call}: {test.said}")
        test.run(*call, "--compress", codec, "--strict", exit_code=1, says=number)
        for others in (["--compress", "deflate"], []):
            test.run(*call, *others)
            test.check(number not in test.said, f"{call}, {others}: {test.said}")
    test.run("nmconvert", "in.h5", "coded.nmb", "-f", "--compress", codec)
    test.check(number not in test.said, f"coded.nmb: {test.said}")


def make_allocated(path):
    """Chunks that HDF5 allocates at once: small ones, which no codec makes smaller, and large ones."""
    times = {"early": h5py.h5d.ALLOC_TIME_EARLY, "late": h5py.h5d.ALLOC_TIME_LATE, "incr": h5py.h5d.ALLOC_TIME_INCR}
    with h5py.File(path, "w") as f:
        for name, time in times.items():
            for filters in ("", "summed", "shuffled"):
                for chunk in (1, 2, 40):
                    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                    plist.set_chunk((chunk, chunk))
                    plist.set_alloc_time(time)
                    if filters == "shuffled":
                        plist.set_shuffle()
                    if filters == "summed":
                        plist.set_fletcher32()
                    space = h5py.h5s.create_simple((5, 5) if chunk < 40 else (50, 50))
                    d = h5py.h5d.create(f.id, f"{name}{chunk}{filters}".encode(), h5py.h5t.STD_I32LE, space, plist)
                    h5py.Dataset(d)[...] = numpy.arange(h5py.Dataset(d).size).reshape(d.shape)


def chunks_of(data_set):
    return [(info.filter_mask, info.size) for info in map(data_set.id.get_chunk_info, range(data_set.id.get_num_chunks()))]


def check_allocated(test):
    """A chunk that HDF5 has allocated gets the filter mask of the one that is written over it."""
    make_allocated(test.work / "in.h5")
    for codec in codecs(test):
        for shuffle in ((), ("--shuffle",)):
            with convert(test, "--compress", codec, *shuffle) as back:
                if codec == "deflate":
                    check_values(test, back, "allocated")
                for name in back:
                    expected = chunks_of(back[name.replace("early", "incr").replace("late", "incr")])
                    test.check(chunks_of(back[name]) == expected, f"{codec}: {name}: {chunks_of(back[name])} of {expected}")
                test.check({mask & 1 for mask, _ in chunks_of(back["early2"])} == {0 if shuffle else 1}, "early2: has a codec")
            test.run("nmconvert", "in.h5", "no_check.h5", "-f", "--compress", codec, *shuffle, "--no-check")
            with h5py.File(test.work / "no_check.h5") as a, h5py.File(test.work / "back.h5") as b:
                test.check(all(chunks_of(a[name]) == chunks_of(b[name]) for name in a), f"{codec}: --no-check: other chunks")
    make_masked(test.work / "in.h5")
    with convert(test) as back:
        check_values(test, back, "masked")


def make_masked(path):
    """Chunks that lack a filter, written over allocated ones of their length, and the other way round."""
    with h5py.File(path, "w") as f:
        for allocated in (h5py.h5d.ALLOC_TIME_EARLY, h5py.h5d.ALLOC_TIME_LATE):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((4,))
            plist.set_alloc_time(allocated)
            plist.set_shuffle()
            d = h5py.h5d.create(f.id, f"masked{allocated}".encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((9,)), plist)
            h5py.Dataset(d)[...] = numpy.arange(9) * 1000
            d.write_direct_chunk((0,), b"x", 1)  # another length, so that the mask is stored
            d.write_direct_chunk((0,), numpy.arange(4, dtype="<i4").tobytes(), 1)


def check_other_layouts(test):
    """Values that HDF5 keeps beside the definitions, or gives space at once: in chunks afterwards, and written back."""
    values = numpy.arange(240_000, dtype="i4").reshape(600, 400)
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    for name, plist, data in (("early", early, values), ("compact", compact, values[:6, :4])):
        with h5py.File(test.work / f"{name}.h5", "w") as f:
            space = h5py.h5s.create_simple(data.shape)
            h5py.Dataset(h5py.h5d.create(f.id, b"v", h5py.h5t.STD_I32LE, space, plist))[...] = data
        for options in (["--chunk", "phony_dim_0:2"], ["--compress", "deflate"], ["--compress", "deflate", "--chunk", "phony_dim_1:3"]):
            test.run("nmconvert", f"{name}.h5", "layout.nmb", "-f", *options)
            test.run("nmconvert", "layout.nmb", "back.h5", "-f")
            test.run("nmconvert", f"{name}.h5", "direct.h5", "-f", *options)
            for written in ("back.h5", "direct.h5"):
                with h5py.File(test.work / written) as f:
                    chunks = f["v"].chunks
                    test.check((f["v"][...] == data).all(), f"{name}, {options}, {written}: values")
                wanted = (chunks or (0, 0))[0] == 2 if options[-1] == "phony_dim_0:2" else options[-1] == "deflate" or (chunks or (0, 0))[1] == 3
                test.check(wanted, f"{name}, {options}, {written}: {chunks}")


def check_made_up_names(test):
    """Dimensions without scales have the numbers that netCDF-C and `nminspect header` give them, in all groups."""
    with h5py.File(test.work / "plain.h5", "w") as f:
        f["a/d"] = numpy.arange(12).reshape(4, 3)
        f["v"] = numpy.arange(3000).reshape(50, 60)
    test.run("nmconvert", "plain.h5", "plain.nmb", "-f")
    for source in ("plain.h5", "plain.nmb"):
        for asked, wanted in (("phony_dim_0:2", ((2, 3), None)), ("phony_dim_2:7", (None, (7, 60)))):
            test.run("nmconvert", source, "cut.h5", "-f", "--chunk", asked)
            with h5py.File(test.work / "cut.h5") as f:
                test.check((f["a/d"].chunks, f["v"].chunks) == wanted, f"{source}, {asked}: {f['a/d'].chunks}, {f['v'].chunks}")
        test.run("nmconvert", source, "cut.h5", "-f", "--chunk", "phony_dim_4:1", exit_code=2, says="phony_dim_4")


def check_chunks(test):
    dims = ["--chunk", "phony_dim_0:16,phony_dim_2:7"]
    with convert(test, *dims) as back:
        check_values(test, back, "chunks")
        test.check(back["array"].chunks == (16, 41, 7), f"array: chunks {back['array'].chunks}")
        test.check(filters(back["array"]) == [], "array: has filters")
        test.check(back["packed"].chunks == (16, 41, 7), f"packed: chunks {back['packed'].chunks}")
        test.check(filters(back["packed"]) == [SHUFFLE, DEFLATE, FLETCHER32], "packed: lost its filters")


def make_filtered(path):
    """Filters in each order and combination. The second of two variables gets other chunks."""
    orders = [(SHUFFLE,), (FLETCHER32,), (FLETCHER32, SHUFFLE, DEFLATE), (SHUFFLE, FLETCHER32), (DEFLATE, SHUFFLE), ()]
    with h5py.File(path, "w") as f:
        for number, order in enumerate(orders):
            for name in ("same", "cut"):
                plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                plist.set_chunk((8, 9))
                for one in order:
                    {SHUFFLE: plist.set_shuffle, FLETCHER32: plist.set_fletcher32, DEFLATE: lambda: plist.set_deflate(3)}[one]()
                d = h5py.h5d.create(f.id, f"{name}{number}".encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((20, 30)), plist)
                h5py.Dataset(d)[...] = numpy.arange(600).reshape(20, 30) // 7 + number
    return range(len(orders))


def check_chunk_filters(test):
    """Chunk lengths of one variable change no filter of any variable, and no byte of other variables."""
    numbers = make_filtered(test.work / "in.h5")
    asked = ",".join(f"cut{number}:phony_dim_0:5" for number in numbers)
    for output in ("made.nmb", "back.h5"):
        test.run("nmconvert", "in.h5", output, "-f", "--chunk", asked)
        if output == "made.nmb":
            test.run("nmconvert", "made.nmb", "back.h5", "-f")
        with h5py.File(test.work / "in.h5") as f, h5py.File(test.work / "back.h5") as back:
            check_values(test, back, asked)
            for name in f:
                test.check(filters(back[name]) == filters(f[name]), f"{output}: {name}: filters {filters(back[name])}")
                is_cut = name.startswith("cut")
                test.check(back[name].chunks == ((5, 9) if is_cut else (8, 9)), f"{output}: {name}: chunks {back[name].chunks}")
                if not is_cut:
                    same = all(f[name].id.read_direct_chunk(at) == back[name].id.read_direct_chunk(at)
                               for at in ((y, x) for y in (0, 8, 16) for x in (0, 9, 18, 27)))
                    test.check(same, f"{output}: {name}: other bytes of chunks")


def check_chunk_names(test):
    """A dimension that no variable has is refused; one by which nothing is cut is told."""
    test.run("nmconvert", "in.h5", "no.nmb", "--chunk", "nope:1", exit_code=2, says='dimension "nope"')
    test.run("nmconvert", "in.h5", "no.h5", "--chunk", "phony_dim_0:16,nope:1", exit_code=2, says='dimension "nope"')
    with h5py.File(test.work / "tiny.h5", "w") as f:
        f.create_dataset("v", (3,), "<i4", external=[("raw.bin", 0, 12)])
        f.create_dataset("z", (0, 2), "<i4")
    for output in ("no.nmb", "no.h5"):
        test.run("nmconvert", "tiny.h5", output, "--chunk", "phony_dim_0:1,phony_dim_1:1", "--strict", exit_code=1,
                 says=f'{output}: no variable is cut into chunks along "phony_dim_0"')
        said = test.said
        for reason in ("variable v: its values are stored in other files", "variable z: a dimension that cannot grow"):
            test.check(reason in said, f"{output}: {said}")
        test.check(".part" not in said, f"{output}: names a temporary file: {said}")
    left = [path.name for path in test.work.iterdir() if path.name.startswith(("no.", "."))]
    test.check(not left, f"left behind: {left}")


def make_records(test):
    """Variables with an unlimited dimension that has no coordinate variable, in and below its group, and without records."""
    with netCDF4.Dataset(test.work / "rec.nc", "w") as f:
        f.createDimension("time", None)
        f.createDimension("none", None)
        f.createDimension("lat", 6)
        f.createVariable("rec", "f4", ("time", "lat"), fill_value=-5, chunksizes=(1, 6))[:] = numpy.arange(30).reshape(5, 6)
        f.createVariable("packed", "i2", ("time", "lat"), zlib=True, chunksizes=(1, 6))[:] = numpy.arange(30).reshape(5, 6)
        f.createVariable("names", str, ("time",))[:] = numpy.array([f"n{i}" for i in range(5)], object)
        f.createVariable("words", str, ("lat",))[:] = numpy.array([f"w{i}" for i in range(6)], object)
        f.createVariable("fixed", "f8", ("lat",))[:] = numpy.arange(6)
        f.createVariable("unwritten", "f8", ("lat",))
        f.createVariable("empty", "f4", ("none", "lat"), chunksizes=(1, 6))
        f.createGroup("g").createVariable("short", "f4", ("time", "lat"), fill_value=-5)[:3] = numpy.ones((3, 6))
    with netCDF4.Dataset(test.work / "old.nc", "w", format="NETCDF3_64BIT_DATA") as f:
        f.createDimension("time", None)
        f.createDimension("lat", 6)
        f.createVariable("rec", "f4", ("time", "lat"))[:] = numpy.arange(30).reshape(5, 6)
        f.createVariable("fixed", "f8", ("lat",))[:] = numpy.arange(6)


def chunks_seen(test, name):
    """By netCDF4-python; h5py must see the same."""
    with netCDF4.Dataset(test.work / name) as f:
        variables = {**f.variables, **{f"{g}/{n}": v for g in f.groups for n, v in f[g].variables.items()}}
        seen = {n: v.chunking() for n, v in variables.items()}
    with h5py.File(test.work / name) as f:
        for n, chunks in seen.items():
            test.check(f[n].chunks == (None if chunks == "contiguous" else tuple(chunks)), f"{name}: {n}: {f[n].chunks}, {chunks}")
    return seen


def check_records(test):
    make_records(test)
    for chunk, time, lat, none in (
        ("time:2", 2, None, 1), ("time:2,lat:4", 2, 4, 1), ("lat:4,none:3,time:100", 100, 4, 3), ("none:7", 1, None, 7),
    ):
        along = lat or 6
        for output in ("rec.h5", "made.nc4"):
            test.run("nmconvert", "rec.nc", output, "-f", "--strict", "--chunk", chunk)
            seen = chunks_seen(test, output)
            of_fixed = [lat] if lat else "contiguous"
            expected = {
                "rec": [time, along], "packed": [time, along], "empty": [none, along], "g/short": [time, along],
                "words": of_fixed, "fixed": of_fixed, "unwritten": of_fixed,
            }
            if "time" in chunk:
                expected["names"] = [time]
            for name, chunks in expected.items():
                test.check(seen[name] == chunks, f"--chunk {chunk}: {output}: {name}: {seen[name]}, expected {chunks}")
            with netCDF4.Dataset(test.work / "rec.nc") as a, netCDF4.Dataset(test.work / output) as b:
                for name in ("rec", "packed", "names", "words", "fixed", "unwritten", "empty", "g/short"):
                    test.check(a[name].shape == b[name].shape, f"--chunk {chunk}: {name}: {b[name].shape}")
                    test.check(numpy.array_equal(numpy.ma.getdata(a[name][...]), numpy.ma.getdata(b[name][...])),
                               f"--chunk {chunk}: {name}: other values")
    # Values of a chunk after the last record would show up if there were more records.
    test.run("nmconvert", "rec.nc", "rec.h5", "-f", "--chunk", "time:4")
    with h5py.File(test.work / "rec.h5", "a") as f:
        f["rec"].resize(8, axis=0)
        test.check((f["rec"][5:] == -5).all(), f"values behind the last record: {f['rec'][5:]}")
    # Of a classic dataset, written as HDF5.
    for options in ((), ("--compress", "deflate")):
        test.run("nmconvert", "old.nc", "old.h5", "-f", "--strict", "--chunk", "time:2,lat:4", *options)
        test.check(chunks_seen(test, "old.h5") == {"rec": [2, 4], "fixed": [4]}, f"old.h5: {chunks_seen(test, 'old.h5')}")
        with h5py.File(test.work / "old.h5") as f:
            test.check((f["rec"][...].ravel() == numpy.arange(30)).all(), "old.h5: other values")
    test.run("nmconvert", "old.nc", "no.nmb", "--chunk", "time:2", exit_code=2, says="classic dataset")
    for source in ("rec.nc", "old.nc"):
        test.run("nmconvert", source, "long.h5", "-f", "--chunk", "lat:7", says='long.h5: a chunk length of 7 is more than the length of dimension "lat"')
        test.check(chunks_seen(test, "long.h5")["fixed"] == [6], "lat:7: other chunks")
        test.run("nmconvert", source, "no.h5", "--chunk", "time:2,nope:1", exit_code=2, says='dimension "nope"')
        test.run("nmconvert", source, "no.h5", "--chunk", "time:1000000000", exit_code=2)
        test.check(not (test.work / "no.h5").exists(), "wrote a file")


def check_same_bytes(test):
    made = []
    for threads in ("1", "2", "5"):
        test.run("nmconvert", "in.h5", "made.nmb", "-f", "--compress", "zstd", "-j", threads)
        made.append((test.work / "made.nmb").read_bytes())
    test.check(made[0] == made[1] == made[2], "other bytes for other numbers of threads")


def check_usage(test):
    for option, text in (
        ("--compress", "gzip"), ("--compress", "zstd:20"), ("--compress", "none:1"), ("--compress", "deflate:0"),
        ("--chunk", "time"), ("--chunk", "time:0"), ("--chunk", ":3"), ("--chunk", "a:1,"),
    ):
        test.run("nmconvert", "in.h5", "no.nmb", option, text, exit_code=2, says="expected")
        test.check(not (test.work / "no.nmb").exists(), f"{option} {text}: wrote a file")
    test.run("nmconvert", "in.h5", "no.nmb", "--compress", "zstd", "--strict", exit_code=1, says="lzf")


def check(test):
    make(test.work / "in.h5")
    check_codecs(test)
    check_plugins(test)
    check_chunks(test)
    check_chunk_names(test)
    check_records(test)
    check_same_bytes(test)
    check_usage(test)
    check_chunk_filters(test)
    check_allocated(test)
    check_other_layouts(test)
    check_made_up_names(test)


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
