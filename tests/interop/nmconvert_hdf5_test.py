#!/usr/bin/python3
"""HDF5 and netCDF-4 files through nmconvert, nmcat and nminspect: files come back unchanged, shown values are those of
h5py, and failures leave nothing behind.

    nmconvert_hdf5_test.py --tools FOLDER

Skipped (exit code 77) without h5py or netCDF4-python.
"""

import ctypes
import json
import os
import shutil
import struct
import sys

sys.dont_write_bytecode = True
import compare_files  # noqa: E402
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402
import hdf5_library  # noqa: E402


def check_round_trip(test, name, back):
    test.run("nmconvert", name, "made.nmb", "-f")
    test.run("nmverify", "made.nmb")
    test.run("nmconvert", "made.nmb", back, "-f")
    out = compare_files.compare(test.work / name, test.work / back, raw_chunks=True)
    test.check(not out.found, f"{name}: not the same as {back}: {out.found[:3]}")


def make_hdf5(path):
    """Values of many types, each in another storage."""
    numbers = numpy.arange(600, dtype="<i4").reshape(20, 30) - 300
    with h5py.File(path, "w") as f:
        f["le"] = numbers
        f["be"] = numbers.astype(">i8")
        f["real"] = numbers.astype("<f4") / 7
        f.create_dataset("packed", data=numbers, chunks=(7, 11), shuffle=True, compression="gzip", fletcher32=True)
        f.create_dataset("summed", data=numbers.astype("<f8"), chunks=(20, 3), fletcher32=True)
        f.create_dataset("grows", data=numbers[:, 0], maxshape=(None,), chunks=(8,))
        f.create_dataset("holes", shape=(20, 30), dtype="<i4", chunks=(5, 5), fillvalue=-9)
        f["holes"][0:5, 0:5] = 1
        f.create_dataset("unwritten", shape=(4,), dtype="<i2", fillvalue=7)
        f.create_dataset("text", data=["", "one", "zwölf"], dtype=h5py.string_dtype())
        pair = numpy.dtype([("id", "<i4"), ("at", "<f8", (2,))])
        f["pairs"] = numpy.array([(1, (0.5, 1.5)), (2, (2.5, 3.5))], dtype=pair)
        f["pairs"].attrs["units"] = "m"
        f["ragged"] = numpy.array([numpy.array([1, 2], "<i4"), numpy.array([], "<i4")], dtype=h5py.vlen_dtype("<i4"))
        f["switch"] = numpy.array([0, 1], dtype=h5py.enum_dtype({"off": 0, "on": 1}, basetype="<i1"))
        f["a/b/deep"] = 1.5
        f["a/again"] = f["le"]
        f["a/soft"] = h5py.SoftLink("/nowhere")
        f["a/outside"] = h5py.ExternalLink("other.h5", "/x")
        f["target"] = f["le"].ref
        f["a"].attrs["who"] = f["a/b"].ref


def make_netcdf4(path):
    with netCDF4.Dataset(path, "w") as f:
        f.title = "made"
        f.createDimension("time", None)
        f.createDimension("x", 5)
        time = f.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        tas = f.createVariable("tas", "f4", ("time", "x"), zlib=True, fill_value=-1e20)
        tas[:] = numpy.arange(15).reshape(3, 5)
        time[:] = [0, 1, 2]
        group = f.createGroup("more")
        names = group.createVariable("names", str, ("x",))
        names[0] = "first"


def make_alike(path):
    """Types that differ in little, and by what HDF5 writes late or ends with zeros."""
    with h5py.File(path, "w") as file:
        for name, last in ("a", "<i4"), ("b", "<f4"), ("c", "<i4"):
            fields = numpy.dtype([(f"field_number_{i:02}", "<i4") for i in range(19)] + [("last", last)])
            file[f"compound_{name}"] = numpy.ones(3, fields)
            file[f"compound_{name}"].attrs["one"] = numpy.zeros(1, fields)[0]
        for last in (49, 50):
            values = {f"NAME_OF_{i:03}": i for i in range(49)} | {"LAST": last}
            file.create_dataset(f"enum_{last}", (3,), h5py.enum_dtype(values, basetype="i2"))
        for size in (1, 255, 256, 257, 65536):
            file[f"string_{size}"] = numpy.array([b"q"], f"S{size}")
            file.create_dataset(f"opaque_{size}", (1,), numpy.dtype(f"V{size}"))
            file.create_dataset(f"array_{size}", (1,), numpy.dtype(("<i2", (size,))))


def make_alike_data_sets(path, libver, track_order, userblock_size=0):
    """Data sets in groups, of which many differ in little: of all that nmb-hdf5 tells apart."""
    with h5py.File(path, "w", libver=libver, userblock_size=userblock_size) as file:
        file["named"] = numpy.dtype("<i2")
        scale = file.create_dataset("x", data=numpy.arange(3.0))
        scale.make_scale("x")
        for group in (file.create_group(f"g{n}", track_order=track_order) for n in range(3)):
            for i in range(24):
                values = numpy.arange((i + 1) * 3, dtype=("<f4", ">f4", "<i8")[i % 3]).reshape(-1, 3)
                v = group.create_dataset(f"v{23 - i}", data=values, track_order=track_order)
                v.attrs["units"] = "m" * (i % 5)
                v.attrs["ascii"] = numpy.bytes_(f"{i:05}")
                v.attrs["numbers"] = numpy.arange(3) * i
                v.attrs["at"] = scale.ref if i % 7 else h5py.Reference()
                v.attrs.create("texts", ["a", "", "b" * i], dtype=h5py.string_dtype())
                v.dims[1].attach_scale(scale)
                if i % 11 == 10:
                    v.attrs["texts"] = numpy.array([1.5, i])
                    v.attrs.create("region", v.regionref[0:1, :], dtype=h5py.regionref_dtype)
            for i in range(6):
                group[f"scalar{i}"] = numpy.float32(i)
                group.create_dataset(f"filled{i}", (4, i + 1), "<i4", fillvalue=i % 2)
                group.create_dataset(f"unwritten{i}", (i,), "<i8")
                group.create_dataset(f"typed{i}", data=numpy.arange(i + 1), dtype=file["named"])
                group.create_dataset(f"chunked{i}", data=numpy.arange(9), chunks=(4,))
                group.create_dataset(f"said{i}", data=[i])
                h5py.h5o.set_comment(group[f"said{i}"].id, f"number {i % 2}".encode())
                group[f"nothing{i}"] = h5py.Empty("f4")
                long = group.create_dataset(f"long{i}", data=[i])
                for n in range(7 + i % 3):
                    long.attrs[f"attribute {n}"] = "text of many letters" * 20 + str(i)


def check_alike_data_sets(test):
    for libver in "earliest", "latest":
        for track_order in False, True:
            make_alike_data_sets(test.work / "alike_sets.h5", libver, track_order)
            check_round_trip(test, "alike_sets.h5", "back.h5")
            # Behind a user block all data sets are read by the HDF5 library.
            make_alike_data_sets(test.work / "behind.h5", libver, track_order, 512)
            test.run("nmconvert", "behind.h5", "behind.nmb", "-f")
            headers = [test.run("nminspect", "header", f"{name}.nmb", "--json") for name in ("made", "behind")]
            test.check(headers[0] == headers[1].replace('"behind"', '"made"'), f"{libver}: another header")


def check_dimension_numbers(test):
    """netCDF-4's numbers of dimensions, in any integers."""
    for kind in "<i4", ">i4", "<i8", ">u2", "u1":
        with h5py.File(test.work / "numbers.h5", "w") as file:
            for number, name in enumerate("xy", 3):
                file[name] = numpy.zeros(number)
                file[name].make_scale(name)
                file[name].attrs["_Netcdf4Dimid"] = numpy.array(number, kind)
            file["z"] = numpy.zeros((4, 3))
            file["z"].attrs["_Netcdf4Coordinates"] = numpy.array([4, 3], "<i4")
        test.run("nmconvert", "numbers.h5", "numbers.nmb", "-f")
        said = test.run("nminspect", "header", "numbers.nmb")
        test.check("z(y, x)" in said, f"numbers of dimensions in {kind}: {said}")


def shown(test, name, file="made.nmb"):
    return json.loads(test.run("nminspect", "dump", file, name, "--json"))["values"]


def check_values(test):
    """What nminspect shows are h5py's values."""
    test.run("nmconvert", "many.h5", "made.nmb", "-f")
    with h5py.File(test.work / "many.h5") as f:
        for name in ("le", "be", "real", "packed", "summed", "grows", "holes", "unwritten", "a/b/deep"):
            found = numpy.array(shown(test, name), dtype=f[name].dtype)
            test.check(numpy.array_equal(found, f[name][()]), f"{name}: other values shown")
    for name, expected in (
        ("text", ["", "one", "zwölf"]),
        ("pairs", [{"id": 1, "at": [0.5, 1.5]}, {"id": 2, "at": [2.5, 3.5]}]),
        ("ragged", [[1, 2], []]),
        ("switch", ["off", "on"]),
        ("target", "/le"),
    ):
        found = shown(test, name)
        test.check(found == expected, f"{name}: shown {found}, expected {expected}")
    count = test.run("nminspect", "count", "made.nmb", "--what", "blocks")
    test.check(count.strip() == "3", f"blocks: {count}, expected 3")


def check_failures(test):
    with h5py.File(test.work / "type.h5", "w") as file:
        file["t"] = numpy.dtype([("a", "<i4"), ("b", "<f8")])
        file["t"].attrs["x"] = 5
        file.create_dataset("d", (3,), dtype=file["t"])
        del file["t"]
    test.run("nmconvert", "type.h5", "no.h5", exit_code=2, says="attributes of a named datatype without a link")
    work = test.work
    whole = (work / "many.h5").read_bytes()
    (work / "cut.h5").write_bytes(whole[: len(whole) // 2])
    test.run("nmconvert", "cut.h5", "no.nmb", exit_code=1, says="cut.h5")
    test.run("nmconvert", "many.h5", "no.nmb", exit_code=2, says="nmb-hdf5", environment={"NMB_PLUGIN_PATH": "/nowhere"})
    test.run("nmconvert", "many.h5", "no.nc", "--to", "cdf5", exit_code=1, says='variable "ragged"')
    test.run("nmconvert", "cut.h5", "no.nc", "--to", "cdf5", exit_code=1, says="cut.h5")
    test.run("nmconvert", "many.h5", "made.nmb", exit_code=2, says="exists")
    (work / "there.h5").write_text("mine")
    test.run("nmconvert", "made.nmb", "there.h5", exit_code=2, says="exists")
    test.check((work / "there.h5").read_text() == "mine", "an existing file was changed")
    test.run("nmconvert", "made.nmb", "no.nc", "--to", "cdf5", exit_code=1)
    left = [p.name for p in work.iterdir() if p.name.startswith((".", "no."))]
    test.check(not left, f"left behind: {left}")


def check_direct(test):
    """HDF5 from HDF5 and classic files: through an NMB file that goes away."""
    test.run("nmconvert", "many.h5", "direct.h5")
    out = compare_files.compare(test.work / "many.h5", test.work / "direct.h5", raw_chunks=True)
    test.check(not out.found, f"many.h5: not the same as direct.h5: {out.found[:3]}")
    test.run("nmconvert", "many.h5", "direct.h5", exit_code=2, says="the file exists")
    test.run("nmconvert", "four.nc", "classic.nc", "--to", "cdf5", "--lossy")
    test.run("nmconvert", "classic.nc", "direct.nc", "--to", "nc4")
    with netCDF4.Dataset(test.work / "classic.nc") as f, netCDF4.Dataset(test.work / "direct.nc") as g:
        test.check(g.data_model == "NETCDF4", f"direct.nc: {g.data_model}")
        test.check(list(f.variables) == list(g.variables), "direct.nc: other variables")
        for name, variable in f.variables.items():
            same = numpy.ma.allequal(variable[...], g[name][...]) and variable.__dict__.keys() == g[name].__dict__.keys()
            test.check(same, f"direct.nc: {name} differs")
    test.run("nmconvert", "many.h5", "small.h5", "--compress", "deflate:9", "-f")
    with h5py.File(test.work / "many.h5") as f, h5py.File(test.work / "small.h5") as g:
        test.check(numpy.array_equal(f["packed"], g["packed"]), "small.h5: values differ")
        test.check(g["packed"].compression_opts == 9, "small.h5: another level")
    test.run("nmconvert", "many.h5", "many.cdf", exit_code=2, says="use --to with nc4, hdf5")
    (test.work / "cut.h5").write_bytes((test.work / "many.h5").read_bytes()[:3000])
    test.run("nmconvert", "cut.h5", "other.h5", exit_code=1)
    left = [name for name in os.listdir(test.work) if name.startswith(".")]
    test.check(not left, f"left behind: {left}")


def make_old_scaleoffset(path, scale_type):
    """A scaleoffset filter with 7 parameters, as HDF5 before 1.8 wrote it."""
    with h5py.File(path, "w") as f:
        f.create_dataset("old", data=numpy.arange(200, dtype="<i4"), chunks=(50,), scaleoffset=9)
        f["new"] = numpy.arange(3)
    data = bytearray(path.read_bytes())
    at = data.index(b"scaleoffset\0")
    data[at - 2 : at] = struct.pack("<H", 7)
    data[at + 16 : at + 16 + 28] = struct.pack("<7I", scale_type, 50, 0, 4, 7, 0, 1)
    path.write_bytes(data)


def check_old_scaleoffset(test):
    """HDF5 replaces the parameters, and decodes the chunks with neither."""
    what = 'variable "old": HDF5 replaces the parameters of its scaleoffset filter'
    make_old_scaleoffset(test.work / "old.h5", 4)
    test.run("nmconvert", "old.h5", "old.nmb")
    test.run("nmverify", "old.nmb")
    test.run("nmconvert", "old.nmb", "again.h5", says=what)
    test.run("nmconvert", "old.nmb", "no.h5", "--strict", exit_code=1, says="with --strict")
    test.run("nmcat", "old.h5", "many.h5", "-o", "both.h5", says=what.replace("old", "old/old"))
    test.run("nmcat", "old.h5", "many.h5", "-o", "no.h5", "--strict", exit_code=1, says="with --strict")
    with h5py.File(test.work / "old.h5") as f, h5py.File(test.work / "again.h5") as g, h5py.File(test.work / "both.h5") as h:
        for made in (g, h["old"]):
            test.check(numpy.array_equal(made["new"], f["new"]), f"{made.name}: other values")
            chunks = [[d.id.read_direct_chunk((at,)) for at in range(0, 200, 50)] for d in (f["old"], made["old"])]
            test.check(chunks[0] == chunks[1], f"{made.name}: other chunks")
            test.check(made["old"].id.get_create_plist().get_filter(0)[2][:2] == (4, 50), f"{made.name}: another scale type")
            try:
                made["old"][()]
                test.check(False, f"{made.name}: HDF5 decodes what it did not before")
            except OSError:
                pass
    # HDF5 would decode these with its own parameters: to other values, perhaps.
    make_old_scaleoffset(test.work / "known.h5", 2)
    test.run("nmconvert", "known.h5", "known.nmb")
    test.run("nmconvert", "known.nmb", "no.h5", exit_code=1, says="its definitions are different")
    test.check(not (test.work / "no.h5").exists(), "no.h5: written")


def check_values_in_other_files(test):
    """Values of external and virtual data sets."""
    numbers = numpy.arange(60, dtype="<f4")
    numbers.tofile(test.work / "raw.bin")
    for i in range(3):
        with h5py.File(test.work / f"source_{i}.h5", "w") as f:
            f["x"] = numbers[20 * i : 20 * i + 20]
    layout = h5py.VirtualLayout(shape=(3, 20), dtype="<f4")
    for i in range(3):
        layout[i] = h5py.VirtualSource(f"source_{i}.h5", "x", shape=(20,))
    with h5py.File(test.work / "elsewhere.h5", "w") as f:
        f.create_dataset("outside", (60,), "<f4", external=[("raw.bin", 0, 240)])
        f.create_virtual_dataset("rows", layout, fillvalue=-1)
        f["rows"].attrs["units"] = "m"
    test.run("nmconvert", "elsewhere.h5", "kept.nmb")
    test.run("nminspect", "dump", "kept.nmb", "rows", exit_code=2, says="values that are stored in other files")
    test.run("nmconvert", "elsewhere.h5", "whole.nmb", "--external", "any")
    test.run("nmconvert", "whole.nmb", "whole.h5")
    test.run("nmverify", "whole.nmb")
    for name in os.listdir(test.work):
        if name == "raw.bin" or name.startswith("source_"):
            (test.work / name).rename(test.work / ("away_" + name))
    with h5py.File(test.work / "whole.h5") as f:
        test.check(numpy.array_equal(f["outside"], numbers), "outside: other values")
        test.check(numpy.array_equal(f["rows"], numbers.reshape(3, 20)), "rows: other values")
        test.check(not f["rows"].is_virtual and f["rows"].attrs["units"] == "m", "rows: not a data set of its own")
        test.check(f["outside"].external is None, "outside: still outside")
    # Missing content is not filled in.
    test.run("nmconvert", "elsewhere.h5", "no.nmb", "--external", "any", exit_code=2, says="outside")
    (test.work / "away_raw.bin").rename(test.work / "raw.bin")
    test.run("nmconvert", "elsewhere.h5", "no.nmb", "--external", "any", exit_code=2, says="source_0.h5")
    with h5py.File(test.work / "there.h5", "w") as f:
        f["x"] = numbers[:20]
        layout = h5py.VirtualLayout(shape=(20,), dtype="<f4")
        layout[:] = h5py.VirtualSource("source_0.h5", "x", shape=(20,))
        f.create_virtual_dataset("virtual", layout)
    for source, name, said in (("there.h5", "y", "the data set y in the file"), (".", "gone", "the data set gone"),
                               (".", "dangling", "the data set dangling"), ("there.h5", "x", "dimension 0 has length 20, expected at least 21"),
                               ("there.h5", "virtual", "the file source_0.h5")):  # fmt: skip
        layout = h5py.VirtualLayout(shape=(2, 20), dtype="<f4")
        layout[0] = h5py.VirtualSource("there.h5", "x", shape=(20,))
        layout[1] = h5py.VirtualSource(source, name, shape=(21,))[1:] if "21" in said else h5py.VirtualSource(source, name, shape=(20,))
        with h5py.File(test.work / "partly.h5", "w") as f:
            f["dangling"] = h5py.ExternalLink("not_there.h5", "/x")
            f.create_virtual_dataset("rows", layout, fillvalue=-1)
        test.run("nmconvert", "partly.h5", "no.nmb", "--external", "any", exit_code=2, says=said)
    test.check(not (test.work / "no.nmb").exists(), "no.nmb: written")
    # Data sets that may grow.
    with h5py.File(test.work / "growing.h5", "w") as f:
        f.create_dataset("x", data=numbers.reshape(3, 20), maxshape=(None, 20))
    layout = h5py.VirtualLayout((3, 20), "<f4", maxshape=(None, 20))
    source = h5py.VirtualSource("growing.h5", "x", (3, 20), "<f4", maxshape=(None, 20))
    layout[0 : h5py.h5s.UNLIMITED, :] = source[0 : h5py.h5s.UNLIMITED, :]
    with h5py.File(test.work / "elsewhere_growing.h5", "w", libver="latest") as f:
        f.create_virtual_dataset("rows", layout)
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_external(b"raw.bin", 0, h5py.h5f.UNLIMITED)
        h5py.h5d.create(f.id, b"outside", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((12, 5), (h5py.h5s.UNLIMITED, 5)), create)
    test.run("nmconvert", "elsewhere_growing.h5", "growing_at_once.h5", "--external", "any")
    test.run("nmconvert", "elsewhere_growing.h5", "growing.nmb", "--external", "any")
    test.run("nmconvert", "growing.nmb", "growing_later.h5")
    for path in ("growing_at_once.h5", "growing_later.h5"):
        with h5py.File(test.work / path) as f:
            test.check(numpy.array_equal(f["outside"], numbers.reshape(12, 5)), f"{path}: outside: other values")
            test.check(numpy.array_equal(f["rows"], numbers.reshape(3, 20)), f"{path}: rows: other values")
            test.check(f["rows"].maxshape == (None, 20) and f["outside"].maxshape == (None, 5), f"{path}: other lengths")


def check_late(test):
    """Chunks that are allocated with the first value, of a data set that then grew."""
    with h5py.File(test.work / "late.h5", "w") as f:
        for name, deflate, later in (("plain", False, False), ("deflate", True, False), ("later", False, True), ("whole", False, None)):
            create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            create.set_chunk((2,))
            create.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
            create.set_fill_value(numpy.array(7, "<i4"))
            if deflate:
                create.set_deflate(4)
            space = h5py.h5s.create_simple((5,), (h5py.h5s.UNLIMITED,))
            data = h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_I32LE, space, create))
            data[:] = numpy.arange(5)
            if later is not None:
                data.resize((20,))
            if later:
                data[18] = 3
    test.run("nmconvert", "late.h5", "late.nmb")
    test.run("nmconvert", "late.nmb", "late_again.h5")
    with h5py.File(test.work / "late.h5") as before, h5py.File(test.work / "late_again.h5") as after:
        for name in before:
            test.check(numpy.array_equal(before[name], after[name]), f"late: {name}: found {after[name][:]}")
            counts = [file[name].id.get_num_chunks() for file in (before, after)]
            test.check(counts[0] == counts[1] and after[name].id.get_create_plist().get_alloc_time() == h5py.h5d.ALLOC_TIME_LATE,
                       f"late: {name}: found {counts[1]} chunks, expected {counts[0]}")


def check_groups_below(test):
    """A block from netCDF-4, with groups below, as a classic file."""
    with netCDF4.Dataset(test.work / "nested.nc", "w") as out:
        out.createDimension("x", 3)
        out.createVariable("v", "f4", ("x",))[:] = [1, 2, 3]
        out.createGroup("below").createVariable("w", "f4", ("x",))[:] = [4, 5, 6]
        out.createGroup("empty")
    test.run("nmcat", "nested.nc", "-o", "nested.nmb")
    test.run("nmconvert", "nested.nmb", "nested_v.nc", "--extract", "nested", "--to", "cdf5", exit_code=1,
             says='group "/nested/below": found 1 variable')
    test.check(not (test.work / "nested_v.nc").exists(), "nested_v.nc: written")
    test.run("nmconvert", "nested.nmb", "nested_w.nc", "--extract", "nested/below", "--to", "cdf5")
    test.run("nmconvert", "nested.nmb", "nested_v.nc", "--extract", "nested", "--to", "cdf5", "--lossy")
    # "/" is the root block, as listings show it.
    test.run("nmconvert", "nested.nc", "nested_root.nmb")
    test.run("nmconvert", "nested_root.nmb", "nested_root.nc", "--extract", "/", "--to", "cdf5", "--lossy")
    for path, name, values in (("nested_v.nc", "v", [1, 2, 3]), ("nested_w.nc", "w", [4, 5, 6]), ("nested_root.nc", "v", [1, 2, 3])):
        with netCDF4.Dataset(test.work / path) as file:
            test.check(list(file.variables) == [name] and numpy.array_equal(file[name], values), f"{path}: found {file}")


def make_unwritten(path):
    """Data sets with values of variable length and a fill value. Some chunks were never written."""
    text, ragged = h5py.string_dtype(), h5py.vlen_dtype("<i4")
    pair = numpy.dtype([("id", "<i4"), ("word", text)])
    with h5py.File(path, "w") as f:
        f.create_dataset("words", (10,), text, chunks=(3,), maxshape=(None,), fillvalue="never")[4] = "x"
        f.create_dataset("grid", (5, 7, 4), text, chunks=(2, 3, 3), fillvalue="fill")[1, 2:6, 3] = "some"
        f.create_dataset("long", (90_000,), text, chunks=(1000,), fillvalue="f")[::4000] = "w"
        f.create_dataset("packed", (10,), text, chunks=(3,), compression="gzip", fillvalue="z")[9] = "last"
        f.create_dataset("default", (10,), text, chunks=(3,))[4] = "x"
        f.create_dataset("whole", (4,), text, chunks=(2,), fillvalue="f")[:] = ["a", "", "c", "d"]
        f.create_dataset("none", (4,), text, chunks=(2,), fillvalue="f")
        # h5py sets no fill values of these types.
        numbers, letters = numpy.array([7, 8], "<i4"), ctypes.create_string_buffer(b"eight")
        for name, dtype, fill, value in (
            ("ragged", ragged, struct.pack("QQ", 2, numbers.ctypes.data), numpy.array([1, 2, 3], "<i4")),
            ("pairs", pair, struct.pack("=iQ", 9, ctypes.addressof(letters)), numpy.array([(5, "five")], pair)[0]),
        ):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((2,))
            datatype = h5py.h5t.py_create(dtype, logical=True)
            hdf5_library.set_fill_value(plist, datatype, fill)
            h5py.Dataset(h5py.h5d.create(f.id, name.encode(), datatype, h5py.h5s.create_simple((5,)), plist))[2] = value


def check_unwritten(test):
    """HDF5 reads such data sets only from a file that it may change."""
    make_unwritten(test.work / "unwritten.h5")
    shutil.copy(test.work / "unwritten.h5", test.work / "changed.h5")
    with h5py.File(test.work / "changed.h5", "r+") as f:
        expected = {name: f[name][()].tolist() for name in f}
    for tool in ("nmconvert", "nmcat"):
        for output in ("unwritten.nmb", "unwritten_back.h5"):
            test.run(*((tool, "unwritten.h5", output) if tool == "nmconvert" else (tool, "unwritten.h5", "-o", output)), "-f")
        with h5py.File(test.work / "unwritten_back.h5", "r+") as f:
            for name, values in expected.items():
                test.check(repr(f[name if name in f else f"unwritten/{name}"][()].tolist()) == repr(values), f"{tool}: {name}: other values")
    test.run("nmverify", "unwritten.nmb")


def check_deleted(test):
    """References to data sets that were deleted, in the lists that belong to dimension scales."""

    def scales(path, users):
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("x", 4)
            for name in ("x", *users):
                file.createVariable(name, "f8", ("x",))[:] = range(4)

    def delete(path, name):
        with h5py.File(path, "r+") as file:
            address = h5py.h5o.get_info(file[name].id).addr
            del file[name]
        return address

    work = test.work
    scales(work / "first.nc", "vw")
    delete(work / "first.nc", "v")
    scales(work / "last.nc", "vw")
    delete(work / "last.nc", "w")
    # The data set of an entry may also lie behind the end of the file. This file has no checksums.
    with h5py.File(work / "far.nc", "w") as file:
        for name in "xvw":
            file[name] = numpy.arange(4.0)
        file["x"].make_scale("x")
        for name in "vw":
            file[name].dims[0].attach_scale(file["x"])
    entry = struct.pack("<QI", delete(work / "far.nc", "v"), 0)
    content = (work / "far.nc").read_bytes()
    test.check(entry in content, "far.nc: no entry of a user")
    (work / "far.nc").write_bytes(content.replace(entry, struct.pack("<QI", 1 << 40, 0)))
    scales(work / "unused.nc", "v")
    delete(work / "unused.nc", "v")
    scales(work / "scale.nc", "vw")
    delete(work / "scale.nc", "x")
    for name, users in ("first", ["/w"]), ("last", ["/v"]), ("far", ["/w"]), ("unused", []), ("scale", None):
        for back in f"{name}_back.nc", f"{name}_direct.nc":
            if back.endswith("_back.nc"):
                test.run("nmcat", f"{name}.nc", "-o", f"{name}.nmb")
                test.run("nmverify", f"{name}.nmb")
                test.run("nmconvert", f"{name}.nmb", f"{name}_original.nc", "--original", name)
                original = (work / f"{name}_original.nc").read_bytes()
                test.check(original == (work / f"{name}.nc").read_bytes(), f"{name}.nc: another original")
                test.run("nmconvert", f"{name}.nc", f"{name}.nmb", "-f")
                test.run("nmconvert", f"{name}.nmb", back, "--to", "nc4")
            else:
                test.run("nmconvert", f"{name}.nc", back, "--to", "hdf5")
            with h5py.File(work / f"{name}.nc") as before, h5py.File(work / back) as after:
                test.check(list(before) == list(after), f"{back}: has {list(after)}")
                for one in after:
                    test.check(numpy.array_equal(before[one], after[one]), f"{back}: {one} has other values")
                if users is None:
                    lists = [len(after[one].attrs["DIMENSION_LIST"][0]) for one in after]
                    test.check(lists == [0, 0], f"{back}: the dimensions have {lists} scales")
                else:
                    found = [after[user].name for user, _ in after["x"].attrs.get("REFERENCE_LIST", ())]
                    test.check(found == users, f"{back}: the scale has the users {found}")


def check_deleted_targets(test):
    """References to deleted objects become null, and a warning names each place. All else comes back."""
    work = test.work
    pair = numpy.dtype([("n", "<i4"), ("to", h5py.ref_dtype)])
    with h5py.File(work / "value.h5", "w") as file:
        for name in "a", "v", "w":  # "w" lies behind "v", so that the file does not become shorter
            file[name] = numpy.arange(5.0)
        v, w = file["v"], file["w"]
        file["g/values"] = numpy.array([v.ref, w.ref], h5py.ref_dtype)
        file.create_dataset("g/regions", data=[v.regionref[1:3], w.regionref[1:3]], dtype=h5py.regionref_dtype)
        file.create_dataset("pairs", data=numpy.array([(1, v.ref), (2, w.ref)], pair))
        lists = file.create_dataset("lists", (2,), h5py.vlen_dtype(h5py.ref_dtype))
        lists[0], lists[1] = numpy.array([v.ref, w.ref], h5py.ref_dtype), numpy.array([w.ref], h5py.ref_dtype)
        file["g"].attrs["one"] = v.ref
        file["a"].attrs["two"] = numpy.array([w.ref, v.ref], h5py.ref_dtype)
        file["a"].attrs["sound"] = w.ref
        v.make_scale("v")
        w.dims[0].attach_scale(v)
        del file["v"]
    places = ['attribute "one" of group /g', 'attribute "two" of data set /a', 'attribute "DIMENSION_LIST" of data set /w']
    places += [f"values of data set {path}" for path in ("/g/values", "/g/regions", "/pairs", "/lists")]
    for words in (
        ["nmcat", "value.h5", "-o", "value.nmb", "-f", "--block-name", "{group}"],
        ["nmcat", "value.h5", "-o", "value.nmb", "-f", "--block-name", "{group}", "--no-originals"],
        ["nmconvert", "value.h5", "value.nmb", "-f"],
    ):
        test.run(*words)
        named = sorted(line.split("value.h5: ")[1] for line in test.said.splitlines() if "a deleted object" in line)
        expected = sorted(f"{place}: a reference to a deleted object is not kept" for place in places)
        test.check(named == expected, f"{words}: says {named}, expected {expected}")
        test.run(*words, "--strict", exit_code=1)
        test.run(*words)
        test.run("nmverify", "value.nmb")
        test.run("nmconvert", "value.nmb", "value_back.h5", "-f")
        with h5py.File(work / "value_back.h5") as file:
            test.check(sorted(file) == ["a", "g", "lists", "pairs", "w"], f"has {sorted(file)}")
            w = file["w"]
            test.check(not file["g/values"][0] and file[file["g/values"][1]] == w, "other values")
            test.check(not file["g/regions"][0] and file[file["g/regions"][1]] == w, "other regions")
            test.check(not file["pairs"]["to"][0] and file[file["pairs"]["to"][1]] == w, "other members")
            test.check(file["pairs"]["n"].tolist() == [1, 2], "other numbers")
            found = [[bool(one) for one in file["lists"][i]] for i in range(2)]
            test.check(found == [[False, True], [True]], f"lists: {found}")
            test.check(not file["g"].attrs["one"] and file[file["a"].attrs["sound"]] == w, "other attributes")
            test.check([bool(one) for one in file["a"].attrs["two"]] == [True, False], "other elements of an attribute")
            test.check([len(one) for one in w.attrs["DIMENSION_LIST"]] == [0], "the deleted scale is in the list")
    test.run("nminspect", "ls", "value.h5")
    test.run("nmconvert", "value.h5", "no.nc4", "--layout", "cmip7", exit_code=2, says="a reference to a deleted object")


def check_options(test):
    test.run("nmconvert", "many.nmb", "again.nmb", "--repack")
    test.check((test.work / "many.nmb").read_bytes() == (test.work / "again.nmb").read_bytes(), "again.nmb: other bytes")
    test.run("nmconvert", "many.h5", "no.nmb", "--repack", exit_code=2, says="--repack needs an NMB input")
    test.run("nmconvert", "many.nmb", "no.nc", "--to", "cdf5", "--compress", "zstd", exit_code=2, says="need an NMB or HDF5 output")
    test.run("nmconvert", "many.nmb", "no.h5", "--inline", "0", exit_code=2, says="--inline needs an NMB output")
    test.run("nmconvert", "many.h5", "apart.nmb", "--inline", "0")
    test.run("nmverify", "apart.nmb")
    test.run("nmconvert", "many.h5", "no.nmb", "--inline", "65537", exit_code=2)


def check_columns(test):
    """More record variables than are written at once, of all sizes, with records of several windows."""
    records, kinds = 5000, ("i1", "i2", "i4", "f4", "f8", "i8")
    columns = {}
    with netCDF4.Dataset(test.work / "columns.nc", "w", format="NETCDF3_64BIT_DATA") as out:
        out.createDimension("time", None)
        out.createDimension("x", 7)
        out.createDimension("large", 1000)
        out.createVariable("fixed", "i4", ("x",))[:] = range(7)
        for i in range(150):
            name, shape = f"v{i:03}", ("time", "x") if i % 5 == 0 else ("time",)
            columns[name] = (numpy.arange(records * (7 if i % 5 == 0 else 1)) * (i + 1) % 101).astype(kinds[i % 6])
            columns[name] = columns[name].reshape((records, 7) if i % 5 == 0 else (records,))
            out.createVariable(name, kinds[i % 6], shape)[:] = columns[name]
        columns["wide"] = numpy.arange(records * 1000, dtype="f4").reshape(records, 1000)
        out.createVariable("wide", "f4", ("time", "large"))[:] = columns["wide"]
    for kind in ("nc4", "hdf5"):
        test.run("nmconvert", "columns.nc", f"columns.{kind}", "--to", kind)
        with h5py.File(test.work / f"columns.{kind}") as file:
            for name, values in columns.items():
                test.check(numpy.array_equal(file[name][...], values), f"columns.{kind}: {name}: other values")


def check_many(test):
    """Chunks' places of several inputs, which one process reads one after the other and then moves all values."""
    for i in range(3):
        with h5py.File(test.work / f"part_{i}.h5", "w") as f:
            f.create_dataset("a", data=numpy.arange(5000 + i) * (i + 1), chunks=(1000 + 7 * i,), maxshape=(None,))
    for jobs in ("1", "2"):
        test.run("nmcat", *[f"part_{i}.h5" for i in range(3)], "-o", "parts.nmb", "-f", "-j", jobs)
        test.run("nmverify", "parts.nmb")
        for i in range(3):
            found = shown(test, f"part_{i}/a", "parts.nmb")
            expected = [one * (i + 1) for one in range(5000 + i)]
            test.check(found == expected, f"-j {jobs}, part {i}: other values than the input's")


def check(test):
    make_hdf5(test.work / "many.h5")
    make_netcdf4(test.work / "four.nc")
    make_alike(test.work / "alike.h5")
    check_round_trip(test, "alike.h5", "alike_back.h5")
    check_dimension_numbers(test)
    check_alike_data_sets(test)
    check_round_trip(test, "many.h5", "back.h5")
    check_round_trip(test, "four.nc", "back.nc")
    check_values(test)
    check_failures(test)
    check_direct(test)
    check_old_scaleoffset(test)
    check_values_in_other_files(test)
    check_groups_below(test)
    check_late(test)
    check_unwritten(test)
    check_deleted(test)
    check_deleted_targets(test)
    test.run("nmconvert", "many.h5", "many.nmb", "-f")
    check_options(test)
    check_many(test)
    check_columns(test)
    test.run("nmcat", "many.h5", "four.nc", "-o", "both.nmb")
    test.run("nmverify", "both.nmb")
    blocks = test.run("nminspect", "ls", "both.nmb").split()
    test.check(blocks == ["four", "four/more", "many", "many/a", "many/a/b"], f"blocks of two inputs: {blocks}")


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
