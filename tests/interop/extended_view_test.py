#!/usr/bin/python3
"""NMB files with a view of blocks from HDF5 and netCDF-4: each kind of storage, type and link is shown as in the source.

    extended_view_test.py --tools FOLDER

Skipped (exit code 77) without h5py and netCDF4-python.
"""

import hashlib
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


def left_out(path):
    with h5py.File(path, "w") as f:
        f["shown"] = numpy.arange(3)
        f["texts"] = numpy.array(["a", "bc"], object)
        f["refs"] = numpy.array([f["shown"].ref], h5py.ref_dtype)
        f["zlink"] = f["texts"]
        layout = h5py.VirtualLayout((3,), "i8")
        layout[:] = h5py.VirtualSource("other.h5", "x", (3,))
        f.create_virtual_dataset("virtual", layout)
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
    for source in (*sources, test.work / "b.h5", test.work / "tracked.h5"):
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
    run.damage()


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
