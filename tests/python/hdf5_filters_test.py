"""Chunks with filters of HDF5 and h5py: nbit, scaleoffset, szip and lzf, alone and with others. Values are those that h5py reads,
from the HDF5 file and from NMB files that were made from it."""

import itertools
import os
import signal
import threading
import time
import unittest
from pathlib import Path

import numpy as np
from support import FolderTest, h5py, needs_h5py, nmb

LZF, NBIT, NOBODYS = 32000, 5, 405
SHAPE, CHUNK = (50, 37), (16, 10)  # chunks go beyond both edges


def numbers(dtype, rng):
    if dtype.kind == "f":
        return (rng.integers(-500, 500, SHAPE) / 8).astype(dtype)
    low = 0 if dtype.kind == "u" else -100
    return rng.integers(low, 100, SHAPE).astype(dtype)


def types():
    return [np.dtype(order + kind) for order in "<>" for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")]


def creation(*filters, fill=None, dtype=None, chunk=CHUNK):
    """A list of properties. filters: (number, parameters), or functions that set something on it."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(chunk)
    if fill is not None:
        plist.set_fill_value(np.array(fill, dtype))
    for one in filters:
        if callable(one):
            one(plist)
        else:
            # lzf leaves out chunks that it would make longer
            plist.set_filter(one[0], h5py.h5z.FLAG_OPTIONAL if one[0] == LZF else h5py.h5z.FLAG_MANDATORY, one[1])
    return plist


def scale(way, factor):
    return lambda plist: plist.set_scaleoffset(way, factor)


def szip(plist):
    plist.set_szip(h5py.h5z.SZIP_NN_OPTION_MASK, 8)


def deflate(plist):
    plist.set_deflate(4)


def shuffle(plist):
    plist.set_shuffle()


def fletcher(plist):
    plist.set_fletcher32()


def add(file, name, values, plist, h5type=None, skipped=()):
    """Writes a data set; the chunks at offsets in `skipped` are written without any filter."""
    space = h5py.h5s.create_simple(values.shape, (h5py.h5s.UNLIMITED,) * values.ndim)
    h5type = h5type or h5py.h5t.py_create(values.dtype)
    made = h5py.h5d.create(file.id, name.encode(), h5type, space, plist)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))
    for at in skipped:
        part = np.zeros(CHUNK, values.dtype)
        inside = values[at[0] : at[0] + CHUNK[0], at[1] : at[1] + CHUNK[1]]
        part[: inside.shape[0], : inside.shape[1]] = inside
        made.write_direct_chunk(at, part.tobytes(), (1 << plist.get_nfilters()) - 1)


def nbit_type(dtype):
    """A type of fewer bits, for which nbit stores these bits alone."""
    out = h5py.h5t.py_create(dtype).copy()
    if dtype.kind != "f" and dtype.itemsize > 1:
        out.set_precision(dtype.itemsize * 8 - 5)
        out.set_offset(3)
    return out


def has_szip():
    return h5py is not None and h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP) and bool(
        h5py.h5z.get_filter_info(h5py.h5z.FILTER_SZIP) & h5py.h5z.FILTER_CONFIG_ENCODE_ENABLED
    )


def children_of(parent):
    out = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        if fields[1] == str(parent):
            out.append(int(path.parent.name))
    return out


@needs_h5py
class Hdf5FiltersTest(FolderTest):
    def compare(self, path, skip=()):
        with h5py.File(path) as file:
            expected = {name: file[name][...] for name in file if name not in skip}
        for form in self.forms(path):
            with nmb.open(form) as ours:
                for name, values in expected.items():
                    found = ours[name][...]
                    self.same(found, values, f"{form}: {name}")
                    if values.ndim == 2:
                        self.same(ours[name][3:40:4, 5:30], values[3:40:4, 5:30], f"{form}: {name}: a part")
        return expected

    def test_all_types(self):
        rng = np.random.default_rng(1)
        path = self.path("types.h5")
        with h5py.File(path, "w") as file:
            for dtype in types():
                values, name = numbers(dtype, rng), dtype.str.replace("<", "le_").replace(">", "be_").replace("|", "one_")
                if "scale_" + name in file:
                    continue
                way = h5py.h5z.SO_FLOAT_DSCALE if dtype.kind == "f" else h5py.h5z.SO_INT
                factor = 3 if dtype.kind == "f" else h5py.h5z.SO_INT_MINBITS_DEFAULT
                add(file, "scale_" + name, values, creation(scale(way, factor)))
                add(file, "scale_fill_" + name, np.where(values > 90, 17, values).astype(dtype),
                    creation(scale(way, factor), fill=17, dtype=dtype))
                add(file, "nbit_" + name, values, creation((NBIT, ())), nbit_type(dtype))
                add(file, "lzf_" + name, values, creation(shuffle, (LZF, ())))
                if has_szip():
                    add(file, "szip_" + name, values, creation(szip))
        self.compare(path)

    def test_several_filters(self):
        rng = np.random.default_rng(2)
        values = numbers(np.dtype("<i4"), rng)
        path = self.path("pipelines.h5")
        one = {"scale": scale(h5py.h5z.SO_INT, 0), "lzf": (LZF, ()), "shuffle": shuffle, "deflate": deflate, "sum": fletcher}
        if has_szip():
            one["szip"] = szip
        with h5py.File(path, "w") as file:
            for names in itertools.chain(itertools.permutations(one, 2), [("shuffle", "lzf", "deflate", "sum"), ("scale", "deflate", "sum")]):
                if "scale" in names[1:] or "szip" in names[1:]:
                    continue  # HDF5 makes parameters for the values themselves
                add(file, "_".join(names), values, creation(*(one[name] for name in names)))
                skipped = [(16, 10), (48, 30)]
                add(file, "_".join(names) + "_skipped", values, creation(*(one[name] for name in names)), skipped=skipped)
            add(file, "few", values, creation(*(one[name] for name in ("scale", "deflate"))))
            file["few"].resize((200, 40))  # chunks that were never written
        self.compare(path)

    def test_compound_nbit(self):
        dtype = np.dtype([("a", "<i4"), ("b", ">u2", (3,)), ("c", [("d", "<f8"), ("e", "i1")])])
        values = np.zeros(100, dtype)
        values["a"] = np.arange(100)
        values["b"] = np.arange(300).reshape(100, 3)
        values["c"]["d"] = np.arange(100) / 3
        values["c"]["e"] = np.arange(100)
        path = self.path("compound.h5")
        with h5py.File(path, "w") as file:
            add(file, "v", values, creation((NBIT, ()), chunk=(33,)))
            add(file, "l", values, creation((LZF, ()), chunk=(33,)))
        self.compare(path)

    def test_equal_values_take_few_bytes(self):
        """scaleoffset stores a chunk of equal values in 21 bytes, however long it is."""
        path = self.path("equal.h5")
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=np.full(1 << 21, 7, "i4"), chunks=(1 << 20,), scaleoffset=0)
        self.compare(path)

    def test_numbers_with_unused_bits(self):
        path = self.path("bits.h5")
        rng = np.random.default_rng(5)
        values = np.concatenate([rng.normal(size=90), [0, -0.0, 1, -2.5, 2**-20, 1e3, -1e-3, 0.1, 7, 1 / 3]]).astype("f4")
        with h5py.File(path, "w") as file:
            for order in "LE", "BE":
                # 13 bits of mantissa, 6 of exponent and the sign, from bit 7 on
                kind = getattr(h5py.h5t, f"IEEE_F32{order}").copy()
                kind.set_fields(26, 20, 6, 7, 13)
                kind.set_offset(7)
                kind.set_precision(20)
                kind.set_ebias(31)
                for name, filters in (("plain", ()), ("nbit", (5,))):
                    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                    if filters:
                        layout.set_chunk((32,))
                        layout.set_filter(5, 0, ())
                    made = h5py.h5d.create(file.id, f"{name}_{order}".encode(), kind, h5py.h5s.create_simple((100,)), layout)
                    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
        with h5py.File(path) as file:
            expected = {name: file[name][...].astype("f4") for name in file}  # h5py takes a wider type
        for form in self.forms(path):
            with nmb.open(form) as ours:
                for name, right in expected.items():
                    self.assertLess(np.abs(right - values).max(), 1e-3)
                    self.same(ours[name][...], right, f"{form}: {name}")

    def test_threads_and_forks(self):
        path = self.path("threads.h5")
        values = np.arange(40000, dtype="i8").reshape(400, 100)
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=values, chunks=(10, 100), scaleoffset=0)
        failed = []

        def read(file):
            try:
                if not np.array_equal(file["v"][...], values):
                    failed.append("other values")
            except Exception as error:  # noqa: BLE001
                failed.append(error)

        threads = [threading.Thread(target=read, args=(nmb.open(path),)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        file = nmb.open(path)
        read(file)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            read(file)
            os._exit(1 if failed else 0)
        read(nmb.open(path))
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(failed, [])
        # Processes that somebody killed while they waited for work are replaced.
        children = children_of(os.getpid())
        self.assertTrue(children)
        for waiting in children:
            os.kill(waiting, signal.SIGKILL)
        time.sleep(0.2)
        for _ in range(4):
            read(nmb.open(path))
        self.assertEqual(failed, [])

    def test_killed_processes(self):
        """A process of nmb-hdf5 that somebody kills is no damage of the file."""
        path = self.path("killed.h5")
        values = np.arange(1 << 22, dtype="i8").reshape(64, -1)
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=values, chunks=(1, values.shape[1]), scaleoffset=0)
        stopped = threading.Event()

        def kill():
            while not stopped.wait(0.003):
                for server in children_of(os.getpid()):
                    for child in children_of(server):
                        try:
                            os.kill(child, signal.SIGKILL)
                        except ProcessLookupError:
                            pass

        killer = threading.Thread(target=kill)
        killer.start()
        ended = 0
        with nmb.open(path) as file:
            for _ in range(50):
                try:
                    self.same(file["v"][...], values)
                except nmb.InputOutputError as error:
                    self.assertIn("ended by signal 9 while it decoded a chunk", str(error))
                    ended += 1
                if ended == 3:
                    break
            stopped.set()
            killer.join()
            self.same(file["v"][...], values)
        self.assertGreater(ended, 0)

    def test_damage_is_of_one_variable(self):
        """Chunks that HDF5 cannot decode, or on which it crashes, are damage of their variable alone."""
        path = self.path("damaged.h5")
        values = np.arange(1000, dtype="i4")
        with h5py.File(path, "w") as file:
            for name in "good", "bad", "cut":
                file.create_dataset(name, data=values, chunks=(100,), scaleoffset=0)
            # minbits and the minimum's length: more than a chunk has
            file["bad"].id.write_direct_chunk((300,), b"\xff" * 50)
            file["cut"].id.write_direct_chunk((300,), file["cut"].id.read_direct_chunk((300,))[1][:7])
        with nmb.open(path) as file:
            for name in "bad", "cut":
                try:
                    file[name][...]  # HDF5 may read bytes behind a chunk
                except nmb.DamagedError as error:
                    self.assertIn("R-XC-1", str(error))
                self.same(file["good"][...], values)
        nmb.convert(path, self.path("damaged.nmb"), sync=False)
        with nmb.open(self.path("damaged.nmb")) as file:
            self.same(file["good"][...], values)
            self.same(file["bad"][:300], values[:300])

    def test_scaleoffset_that_keeps_all_bits(self):
        """Chunks whose values need all bits, which HDF5 1.14.5 refuses to read."""
        path = self.path("all_bits.h5")
        with h5py.File(path, "w") as file:
            for dtype in types():
                if dtype.kind == "f":
                    continue
                info = np.iinfo(dtype)
                name = dtype.str.replace("<", "le_").replace(">", "be_").replace("|", "one_")
                if name in file:
                    continue
                values = np.resize(np.array([info.min, info.max, 1, info.max // 3], dtype), SHAPE)
                add(file, name, values, creation(scale(h5py.h5z.SO_INT, 0)))
                file[name].attrs["values"] = values
        with h5py.File(path) as file:
            expected = {name: file[name].attrs["values"] for name in file}
        for form in self.forms(path):
            with nmb.open(form) as ours:
                for name, values in expected.items():
                    self.same(ours[name][...], values, f"{form}: {name}")

    def test_a_filter_that_nobody_has(self):
        path = self.path("nobody.h5")
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=np.arange(1000, dtype="i4"), chunks=(100,), compression="lzf")
        content = bytearray((self.folder / "nobody.h5").read_bytes())
        at = content.index(b"lzf\0")
        content[at - 8 : at - 6] = NOBODYS.to_bytes(2, "little")
        (self.folder / "nobody.h5").write_bytes(content)
        for form in self.forms(path):
            with nmb.open(form) as file, self.assertRaisesRegex(nmb.UnsupportedError, r"filter 405 \(lzf\).*finds no plug-in"):
                file["v"][...]


if __name__ == "__main__":
    unittest.main()
