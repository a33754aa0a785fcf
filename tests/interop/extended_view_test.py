#!/usr/bin/python3
"""NMB files with a view of blocks from HDF5 and netCDF-4: each kind of storage, type and link is shown as in the source.

    extended_view_test.py --tools FOLDER

Skipped (exit code 77) without h5py and netCDF4-python.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
REFERENCE = Path(__file__).resolve().parents[2] / "spec" / "reference" / "nmb_reference.py"
from tool_runs import h5py, main, netCDF4, numpy  # noqa: E402
import compare_files  # noqa: E402


def netcdf(path, records=5, shift=0):
    with netCDF4.Dataset(path, "w") as d:
        d.title = "a netCDF-4 file"
        for name, length in (("t", None), ("s", None), ("x", 4), ("alone", 7)):
            d.createDimension(name, length)
        d.createVariable("t", "f8", ("t",))[:] = numpy.arange(records) + shift
        tas = d.createVariable("tas", "f4", ("t", "x"), zlib=True, shuffle=True, fletcher32=True, chunksizes=(2, 3), fill_value=-1)
        tas[:] = numpy.arange(4 * records).reshape(records, 4)
        tas.setncatts({"units": "K", "range": numpy.array([1, 2], "i2"), "\u00fcnits": "gr\u00fcn"})
        tas.setncattr_string("texts", ["one", "", "three"])
        two = d.createVariable("two", "i8", ("t", "s"), chunksizes=(2, 2))
        two[0:records, 0:3] = numpy.arange(3 * records).reshape(records, 3)
        d.createVariable("never", "u2", ("x",))
        d.createVariable("scalar", "i1", ())[...] = 3
        g = d.createGroup("g/below").createVariable("v", "i4", ("x",), endian="big", contiguous=True)
        g[:] = [4, 3, 2, 1]
        kind = d.createEnumType("i2", "kind", {"clear": 0, "rain": 7})
        d.createVariable("sky", kind, ("x",), fill_value=0)[:] = [0, 7, 0, 7]
        pair = d.createCompoundType(numpy.dtype([("a", "f8"), ("b", "i4", (2,))]), "pair")
        d.createVariable("pairs", pair, ("x",))[0] = numpy.array((1.5, [2, 3]), pair.dtype)


def hdf5(path):
    with h5py.File(path, "w") as f:
        f["le"], f["be"] = numpy.arange(10, dtype="<i4"), numpy.arange(10, dtype=">u8")
        f["half"], f["text"] = numpy.arange(3, dtype="<f2"), numpy.array([b"ab", b"cde"])
        f["opaque"] = numpy.array([b"12345678"] * 3, "V8")
        f["bool"], f["complex"] = numpy.array([True, False]), numpy.array([1 + 2j, 3])
        f["nested"] = numpy.zeros(2, [("in", [("x", "<f4"), ("y", ">i2")]), ("e", h5py.enum_dtype({"A": 1, "B": 2})), ("arr", "<i8", (2, 3))])
        f["empty"] = h5py.Empty("f4")
        f["none"] = numpy.zeros((0, 3), "f4")
        f.create_dataset("sparse", (100, 100), "f8", chunks=(7, 9), fillvalue=2.5, maxshape=(None, 200))[20:30, 40:50] = 1
        f.create_dataset("gzip", data=numpy.arange(10000).reshape(100, 100), chunks=(10, 100), compression="gzip", shuffle=True)
        f.create_dataset("scaled", data=numpy.arange(100), chunks=(10,), scaleoffset=0)
        f.create_dataset("many", data=numpy.arange(3000, dtype="i2"), chunks=(1,))
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((6,))
        h5py.h5d.create(f.id, b"compact", h5py.h5t.STD_I16LE, space, compact).write(space, space, numpy.arange(6, dtype="<i2"))
        f["named"] = numpy.dtype("<f8")
        f["named"].attrs["of a type"] = 5
        f.create_dataset("uses", (2,), f["named"])[:] = [1, 2]
        f["again"], f["g/hard"], f["g/loop"] = f["le"], f["le"], f["/"]
        f["soft"], f["dangling"] = h5py.SoftLink("/g/hard"), h5py.SoftLink("nowhere")
        f["external"] = h5py.ExternalLink("other.h5", "/data")
        a = f["le"].attrs
        a["text"], a["texts"], a["none"] = "hi", numpy.array(["a", "", "ccc"], object), h5py.Empty("i4")
        a["ref"], a["region"], a["null"] = f["g"].ref, f["le"].regionref[2:5], h5py.Reference()
        a["list"] = numpy.arange(6).reshape(2, 3)
        a.create("ragged", numpy.array([numpy.arange(3), numpy.arange(1)], object), dtype=h5py.vlen_dtype("i4"))
        f["g"].attrs["long"] = numpy.arange(7000)
        with h5py.File(path.with_name("tracked.h5"), "w", track_order=True) as t:
            for name in ("z", "a", "m"):
                t.create_group(name, track_order=True).attrs.update({"second": 1, "first": 2})


def untracked(path):
    """Attributes in an order that is not tracked, few and many, and objects with several references."""
    with h5py.File(path, "w") as f:
        f["v"] = numpy.arange(3)
        for i in range(12):
            f["v"].attrs[chr(97 + 7 * i % 26) + str(i)] = i
            f.attrs[chr(97 + 5 * i % 26)] = i
        f["few"] = 1
        for name in ("z", "a", "m"):
            f["few"].attrs[name] = name
        f["t"] = numpy.dtype([("a", "<i4")])
        f["t2"] = f["t"]
        f["t"].attrs.update({"b": 1, "a": 2})
        for name in ("u1", "u2"):
            f.create_dataset(name, (2,), f["t"])
        f["u1"].attrs.create("named", numpy.zeros(2, f["t"].dtype), dtype=f["t"])
        f["gone"] = numpy.dtype([("b", "<i4")])
        for name in ("g1", "g2", "g3"):
            f.create_dataset(name, (2,), f["gone"])
        del f["gone"]


def of_variable_length(path):
    with h5py.File(path, "w") as f:
        f["numbers"] = numpy.arange(3)
        f["texts"] = numpy.array(["a", "", "\u00fcber" * 3000] + [f"text {i}" for i in range(9000)], object)
        f.create_dataset("filled", (3,), h5py.string_dtype(), chunks=(2,), maxshape=(None,), fillvalue="none")[:] = ["a", "some", "c"]
        f.create_dataset("never", (4,), h5py.string_dtype())
        f.create_dataset("table", data=numpy.array([["x", "yy"], ["", "z"], ["1", "2"]], object), chunks=(2, 1), compression="gzip")
        ragged = f.create_dataset("ragged", (2, 3), h5py.vlen_dtype("<i2"))
        ragged[0, 1], ragged[1, 2] = [1, 2, 3], [4]
        f["refs"] = numpy.array([f["numbers"].ref, f.ref, h5py.Reference(), f["ragged"].ref], h5py.ref_dtype)
        f["regions"] = numpy.array([f["numbers"].regionref[1:2], h5py.RegionReference()], h5py.regionref_dtype)
        f.create_dataset("lists", (2,), h5py.vlen_dtype(h5py.ref_dtype))[0] = numpy.array([f["refs"].ref, f["numbers"].ref], h5py.ref_dtype)
        mixed = numpy.dtype([("n", "<i2"), ("name", h5py.string_dtype()), ("to", h5py.ref_dtype), ("x", "<f8", (2,))])
        f.create_dataset("mixed", (3,), mixed)[1] = (7, "seven", f["refs"].ref, [1, 2])
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        made = h5py.h5d.create(f.id, b"compact", h5py.h5t.py_create(h5py.string_dtype(), logical=True), h5py.h5s.create_simple((2,)), compact)
        h5py.Dataset(made)[...] = ["short", "values"]


def strings(path):
    with netCDF4.Dataset(path, "w") as d:
        d.createDimension("x", 3)
        d.createDimension("t", None)
        d.createVariable("x", str, ("x",))[:] = numpy.array(["one", "", "drei"], object)
        d.createVariable("records", str, ("t", "x"))[0:2] = numpy.array([["a", "b", "c"], ["d", "", "f"]], object)
        hits = d.createVariable("hits", d.createVLType("<i4", "hits_t"), ("x",))
        for i in range(3):
            hits[i] = numpy.arange(i, dtype="i4")


def left_out(path):
    with h5py.File(path, "w") as f:
        f["shown"] = numpy.arange(3)
        f["texts"] = numpy.array(["a", "bc"], object)
        f["zlink"] = f["texts"]
        layout = h5py.VirtualLayout((3,), "i8")
        layout[:] = h5py.VirtualSource("other.h5", "x", (3,))
        f.create_virtual_dataset("virtual", layout)
        f["refs"] = numpy.array([f["shown"].ref, f["virtual"].ref], h5py.ref_dtype)
        f.create_dataset("elsewhere", (3,), "i4", external=[("values.bin", 0, 12)])


EXPECTED = """link\tlink "zlink"
values elsewhere\tvariable "elsewhere"
variable length\tvariable "refs"
variable length\tvariable "texts"
virtual data set\tvariable "virtual\""""


class ViewTest:
    def __init__(self, test):
        self.test = test

    def sound(self, view):
        self.test.run("nmverify", view)
        found = subprocess.run([sys.executable, REFERENCE, "--findings", view], capture_output=True, text=True)
        self.test.check(found.returncode == 0, f"{view.name}: the reference reader: {found.stdout}{found.stderr}")

    def shown(self, source, view):
        self.sound(view)
        self.test.check(self.test.run("nminspect", "view", view) == "", f"{view.name}: something is left out")
        for where, field, a, b in compare_files.compare(source, view).found:
            self.test.check(False, f"{view.name}: {where}: {field}: {a!s:.200} in the source, {b!s:.200} in the view")
        if shutil.which("ncdump") and source.suffix == ".nc":
            a, b = (subprocess.run(["ncdump", "-n", "x", path], capture_output=True, text=True).stdout for path in (source, view))
            self.test.check(a == b and a, f"{view.name}: ncdump shows\n{b}\nexpected\n{a}")

    def several(self, sources):
        """Dimensions of several files get different numbers."""
        test, packed = self.test, self.test.work / "packed.nmb"
        test.run("nmcat", *sources, "-o", packed, "--hdf5-view", "on", "-j", "1")
        test.run("nmcat", *sources, "-o", "threads.nmb", "--hdf5-view", "on", "-j", "3")
        test.check(packed.read_bytes() == (test.work / "threads.nmb").read_bytes(), "other bytes on three threads")
        test.run("nmverify", packed)
        with netCDF4.Dataset(packed) as file:
            for source in sources:
                with netCDF4.Dataset(source) as expected:
                    for name, b in expected.variables.items():
                        a = file[f"{source.stem}/{name}"]
                        b.set_auto_mask(False)
                        a.set_auto_mask(False)
                        test.check(a.dimensions == b.dimensions and a.shape == b.shape, f"{name}: {a.dimensions} {a.shape}")
                        test.check(a[...].tobytes() == b[...].tobytes(), f"packed.nmb: other values of {source.stem}/{name}")

    def nested(self):
        """A file that is added below another file has dimensions of its own, and does not change earlier numbers."""
        test = self.test
        for name, lengths in (("upper", (2, 3, 4)), ("lower", (5, 7, 8))):
            with netCDF4.Dataset(test.work / f"{name}.nc", "w") as d:
                for dimension, length in zip("abc", lengths):
                    d.createDimension(dimension, length)
                d.createVariable("v", "i4", ("a", "b", "c"))[:] = lengths[0]
                inner = d.createGroup("inner")
                inner.createDimension("z", lengths[0])
                inner.createVariable("w", "i4", ("c", "z", "a"))[:] = 1
        test.run("nmconvert", "upper.nc", "nested.nmb", "--hdf5-view", "on")
        for block in ("lower", "inner-2", "inner/more"):
            test.run("nmcat", "lower.nc", "-o", "nested.nmb", "--append", "--block-name", block + "/{group}")
            self.sound(test.work / "nested.nmb")
        shapes = {"v": ("a", "b", "c"), "inner/w": ("c", "z", "a")}
        with netCDF4.Dataset(test.work / "nested.nmb") as file:
            for prefix, source in (("", "upper"), ("lower/", "lower"), ("inner-2/", "lower"), ("inner/more/", "lower")):
                with netCDF4.Dataset(test.work / f"{source}.nc") as expected:
                    for name, dimensions in shapes.items():
                        shown = file[prefix + name]
                        lengths = [len(d) for d in shown.get_dims()]
                        test.check(shown.dimensions == dimensions and lengths == list(expected[name].shape),
                                   f"{prefix}{name}: dimensions {shown.dimensions} {lengths}")
        with h5py.File(test.work / "nested.nmb") as file:
            numbers = [int(file[name].attrs["_Netcdf4Dimid"]) for name in ("a", "b", "c", "inner/z")]
            test.check(numbers == [0, 1, 2, 3], f"nested.nmb: numbers {numbers}")

    def omissions(self):
        test, source, view = self.test, self.test.work / "left_out.h5", self.test.work / "left_out.nmb"
        left_out(source)
        test.run("nmconvert", source, view, "--hdf5-view", "on", says='the HDF5 view leaves out variable "texts" (variable length)')
        test.run("nmverify", view)
        lines = [line.split("\t")[:2] for line in test.run("nminspect", "view", view).splitlines()]
        test.check(sorted("\t".join(line) for line in lines) == EXPECTED.splitlines(), f"left out: {lines}")
        with h5py.File(view) as file:
            test.check(sorted(file) == ["shown"], f"left_out.nmb shows {sorted(file)}")
        test.run("nmconvert", source, "strict.nmb", "--hdf5-view", "on", "--strict", exit_code=1)

    def originals(self, sources):
        """A view shows values that lie only in an original, and the original still comes back."""
        test = self.test
        for source in sources:
            views = []
            for option in ((), ("--no-originals",)):
                view = test.work / f"{len(option)}_{source.stem}.nmb"
                test.run("nmconvert", source, view, "--hdf5-view", "on", *option)
                self.shown(source, view)
                views.append(view)
            test.run("nmverify", "--originals", views[0])
            test.run("nmconvert", views[0], "--original", source.name, "-o", "back", "-f")
            digests = [hashlib.sha256((test.work / name).read_bytes()).hexdigest() for name in ("back", source)]
            test.check(digests[0] == digests[1], f"{source.name}: other bytes came back")

    def usual(self):
        """Without --hdf5-view, a file gets a view if the view takes at most 2 % of it."""
        test, small, large = self.test, self.test.work / "a.nc", self.test.work / "big.h5"
        note = "no HDF5 view was made: a view would take more than 2 % of the file; nmconvert --add-hdf5-view adds one"
        has_view = lambda name: (test.work / name).read_bytes()[:8] == b"\x89HDF\r\n\x1a\n"
        for tool in (("nmcat", "-f", "-o", "usual.nmb"), ("nmconvert", "-f", "-o", "usual.nmb")):
            test.run(*tool, small, "--strict", says=f"usual.nmb: {note}")
            test.check(not has_view("usual.nmb"), f"{tool[0]}: a view that takes more than 2 %")
            test.run(*tool, small, "-q")
            test.check(test.said == "", f"{tool[0]} -q: {test.said}")
            test.run(*tool, large)
            test.check(has_view("usual.nmb") and test.said == "", f"{tool[0]}: no small view: {test.said}")
            test.run(*tool, large, "--hdf5-view", "off")
            test.check(not has_view("usual.nmb"), f"{tool[0]}: a view with --hdf5-view off")
            test.run(*tool, test.work / "texts.h5", "--strict", says="the HDF5 view leaves out 1 object; nminspect view lists")
            test.check(has_view("usual.nmb"), f"{tool[0]}: no view that leaves out an object")
        test.run("nmcat", "-f", large, "-o", "usual.nmb")
        test.run("nmcat", small, "-o", "usual.nmb", "--append")
        with h5py.File(test.work / "usual.nmb") as file:
            test.check(sorted(file) == ["a", "big"], f"usual.nmb shows {sorted(file)}")
        test.run("nmverify", "usual.nmb")
        test.run("nmconvert", "usual.nmb", "copy.nmb")
        test.check(has_view("copy.nmb"), "a copy without the view")
        test.run("nmcat", "-f", large, "-o", "usual.nmb", "--link")
        test.run("nmcat", "-f", large, "-o", "usual.nmb", "--dry-run")
        test.run("nmcat", "-f", large, "-o", "usual.nmb", "--hdf5-view", "off")
        test.run("nmconvert", "-f", "usual.nmb", "copy.nmb")
        test.check(not has_view("copy.nmb"), "a copy of a file without a view has a view")
        # A file without a view gets one if the added blocks come from HDF5 and the view is small.
        test.run("nmcat", test.work / "texts.h5", "-o", "usual.nmb", "--append")
        test.check(has_view("usual.nmb"), "no view after --append")

    def copies(self, sources):
        """With --view-copies, views show values of variable length and references."""
        test = self.test
        for source in sources:
            view = test.work / f"copies_{source.stem}.nmb"
            test.run("nmconvert", source, view, "--view-copies")
            self.sound(view)
            test.check(test.run("nminspect", "view", view) == "", f"{view.name}: something is left out")
            for where, field, a, b in compare_files.compare(source, view).found:
                # Values without filters are in chunks of whole rows.
                if field not in ("chunk shape", "netCDF chunks"):
                    test.check(False, f"{view.name}: {where}: {field}: {a!s:.200} in the source, {b!s:.200} in the view")
        packed = test.work / "copies.nmb"
        test.run("nmcat", *sources, "-o", packed, "--view-copies", "-j", "1")
        test.run("nmcat", *sources, "-o", "threads.nmb", "--view-copies", "-j", "3", "-f")
        test.check(packed.read_bytes() == (test.work / "threads.nmb").read_bytes(), "copies: other bytes on three threads")
        self.sound(packed)
        with h5py.File(packed) as file:
            group = file[sources[0].stem]
            test.check(file[group["refs"][3]] == group["ragged"] and file[group["refs"][1]] == group, "copies.nmb: references")
            test.check(list(file[group["regions"][0]][group["regions"][0]]) == [1], "copies.nmb: region")
        # Later views keep the option, whatever makes them.
        test.run("nmcat", test.work / "left_out.h5", "-o", packed, "--append", says="leaves out")
        self.sound(packed)
        lines = [line.split("\t")[:2] for line in test.run("nminspect", "view", packed).splitlines()]
        expected = [["values elsewhere", 'variable "left_out/elsewhere"'], ["virtual data set", 'variable "left_out/virtual"'],
                    ["reference", 'variable "left_out/refs"']]
        test.check(sorted(lines) == sorted(expected), f"copies.nmb leaves out {lines}")
        with h5py.File(packed) as file:
            refs = file["left_out/refs"][...]
            test.check(file[refs[0]] == file["left_out/shown"] and not refs[1], f"copies.nmb: left_out/refs: {refs}")
        found = json.loads(test.run("nminspect", "view", "--json", packed))["left_out"]
        test.check({"reason", "kind", "path", "explanation"} == set(found[0]), f"nminspect view --json: {found}")
        test.run("nmconvert", packed, "repacked.nmb", "--repack")
        with h5py.File(test.work / "repacked.nmb") as file:
            test.check("texts" in file[sources[0].stem], "repacked.nmb has no copies")
        before = packed.read_bytes()
        test.run("nmconvert", "--add-hdf5-view", packed)
        test.check(packed.read_bytes() == before, "the same view was made again")
        test.run("nmconvert", "--add-hdf5-view", packed, "--no-view-copies", says="variable length")
        self.sound(packed)
        with h5py.File(packed) as file:
            test.check("texts" not in file[sources[0].stem], "copies.nmb has copies with --no-view-copies")

    def no_dimensions(self):
        """With --view-dimensions none, classic blocks have no scales; blocks from netCDF-4 keep them."""
        test = self.test
        for name, kind in (("classic.nc", "NETCDF3_CLASSIC"), ("new.nc", "NETCDF4")):
            with netCDF4.Dataset(test.work / name, "w", format=kind) as d:
                d.createDimension("t", None)
                d.createDimension("x", 3)
                d.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
                d.createVariable("t", "f4", ("x",))[:] = 5
                d.createVariable("v", "i4", ("t", "x"))[0:2] = numpy.arange(6).reshape(2, 3)
                d["v"].units = "m"
                d.createVariable("s", "i4", ())[...] = 3
        test.run("nmcat", "classic.nc", "new.nc", "-o", "none.nmb", "--view-dimensions", "none")
        test.run("nmcat", "classic.nc", "new.nc", "-o", "all.nmb", "--hdf5-view", "on", "--view-dimensions", "all")
        test.run("nmconvert", "classic.nc", "one.nmb", "--view-dimensions", "none")
        for name in ("none.nmb", "all.nmb", "one.nmb"):
            self.sound(test.work / name)
        sizes = [(test.work / name).stat().st_size for name in ("none.nmb", "all.nmb")]
        test.check(sizes[0] < sizes[1], f"--view-dimensions none: {sizes}")
        with h5py.File(test.work / "none.nmb") as file:
            test.check(list(file["classic"]) == ["x", "t", "v", "s"] and set(file["new"]) == {"x", "_nc4_non_coord_t", "t", "v", "s"},
                       f"none.nmb shows {list(file['classic'])}, {list(file['new'])}")
            test.check([list(v.attrs) for v in file["classic"].values()] == [[], [], ["units"], []], "none.nmb: attributes")
            test.check(file["classic/v"].maxshape == (None, 3) and file["classic/v"][1, 2] == 5, "none.nmb: classic/v")
        with netCDF4.Dataset(test.work / "none.nmb") as file:
            test.check(file["new/v"].dimensions == ("t", "x"), f"none.nmb: new/v: {file['new/v'].dimensions}")
            test.check(file["classic/v"][...].tolist() == [[0, 1, 2], [3, 4, 5]], "none.nmb: netCDF: classic/v")
        test.run("nmcat", "classic.nc", "-o", "none.nmb", "--append", "--block-name", "more")
        with h5py.File(test.work / "none.nmb") as file:
            test.check(not file["more/v"].attrs.keys() - {"units"}, "none.nmb: a later view has scales")
        generation = '"hdf5_view_generation": 3'
        test.run("nmconvert", "--add-hdf5-view", "none.nmb", "--view-dimensions", "all")
        test.check(generation in test.run("nminspect", "--json", "none.nmb"), "no new view with other dimensions")
        self.sound(test.work / "none.nmb")
        with netCDF4.Dataset(test.work / "none.nmb") as file:
            test.check(file["more/v"].dimensions == ("t", "x"), "none.nmb: no dimensions with --view-dimensions all")
        for call in (("nmcat", "classic.nc", "-o", "no.nc4", "--view-dimensions", "none"),
                     ("nmcat", "classic.nc", "-o", "no.nmb", "--view-copies", "--hdf5-view", "off"),
                     ("nmcat", "classic.nc", "-o", "no.nmb", "--view-copies", "--link"),
                     ("nmconvert", "classic.nc", "no.h5", "--view-copies")):
            test.run(*call, exit_code=2, says="needs an NMB output with an HDF5 view")

    def damage(self):
        whole = (self.test.work / "b.nmb").read_bytes()
        at = whole.rindex(b"\x89NMBVIEW")
        for offset in range(at, len(whole) - 4096, 211):
            data = bytearray(whole)
            data[offset] ^= 1
            (self.test.work / "bad.nmb").write_bytes(data)
            self.test.run("nmverify", "bad.nmb", exit_code=1)


def check(test):
    run, sources = ViewTest(test), [test.work / "a.nc", test.work / "c.nc"]
    netcdf(sources[0])
    netcdf(sources[1], 2, 100)
    hdf5(test.work / "b.h5")
    untracked(test.work / "untracked.nc")
    for source in (*sources, test.work / "b.h5", test.work / "tracked.h5", test.work / "untracked.nc"):
        view = source.with_suffix(".nmb")
        test.run("nmconvert", source, view, "--hdf5-view", "on")
        run.shown(source, view)
    # A view that is added later shows the same.
    test.run("nmconvert", "a.nc", "later.nmb")
    test.run("nmconvert", "--add-hdf5-view", "later.nmb")
    run.shown(test.work / "a.nc", test.work / "later.nmb")
    run.several(sources)
    with h5py.File(test.work / "big.h5", "w") as f:
        f["big"] = numpy.arange(1 << 20)
        f.create_dataset("chunks", data=numpy.arange(1 << 20), chunks=(1 << 16,), compression="gzip")
    run.originals([*sources, test.work / "b.h5", test.work / "big.h5"])
    with h5py.File(test.work / "texts.h5", "w") as f:
        f["texts"], f["values"] = numpy.array(["a", "bc"], object), numpy.arange(1 << 18)
    run.nested()
    run.usual()
    run.omissions()
    texts = [test.work / "variable.h5", test.work / "strings.nc"]
    of_variable_length(texts[0])
    strings(texts[1])
    run.copies(texts)
    run.no_dimensions()
    run.damage()


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
