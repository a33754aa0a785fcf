"""Makes HDF5 files of any size, one for each way in which HDF5 stores values. The tests and benchmarks of originals use
these files."""

import h5py
import numpy as np

DATA_SETS = 32000  # of data_sets()
CHUNK = 1 << 14  # bytes of a chunk


def random_floats(rng, count):
    return rng.standard_normal(count, dtype="f4")


def contiguous(path, size, rng):
    """Four arrays, each stored in one run."""
    with h5py.File(path, "w") as file:
        for i in range(4):
            file[f"v{i}"] = random_floats(rng, size // 16)


def deflate(path, size, rng):
    """Compressed chunks, as netCDF-4 and most programs write them."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset("v", (0, 256), "i4", maxshape=(None, 256), chunks=(64, 256), compression="gzip",
                                   compression_opts=1, shuffle=True)
        # These values take about 2.6 bytes.
        rows = max(64, size * 10 // 26 // 256 // 8)
        for _ in range(8):
            data.resize(data.shape[0] + rows, 0)
            data[-rows:] = rng.integers(0, 1 << 20, (rows, 256))


def paged(path, size, rng):
    """Pages and an extensible array of the newest format, with small chunks."""
    with h5py.File(path, "w", libver="latest", fs_strategy="page", fs_persist=True, fs_page_size=1 << 16) as file:
        count = size // 4
        file.create_dataset("v", data=random_floats(rng, count), maxshape=(None,), chunks=(CHUNK // 4,))


def user_block(path, size, rng):
    """Bytes before the HDF5 data, and a B-tree of small chunks."""
    with h5py.File(path, "w", userblock_size=4096) as file:
        count = size // 4
        file.create_dataset("v", data=random_floats(rng, count), maxshape=(None,), chunks=(CHUNK // 4,))
    with open(path, "r+b") as file:
        file.write(b"bytes of another program\n" * 100)


def data_sets(path, size, rng):
    """Many small data sets with an attribute, in a group for each hundred."""
    count = size // DATA_SETS // 8 * 2
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        for i in range(DATA_SETS):
            if i % 100 == 0:
                group = file.create_group(f"event_{i // 100:04}")
            data = group.create_dataset(f"hit_{i % 100:02}", data=random_floats(rng, count))
            data.attrs["sample"] = i


def strings(path, size, rng):
    """Strings of variable length."""
    with h5py.File(path, "w") as file:
        count = size // 128  # a string takes about 96 bytes, and 32 bytes that refer to it
        lengths = rng.integers(32, 160, count)
        letters = "".join(map(chr, rng.integers(97, 123, 1 << 16)))
        data = file.create_dataset("v", (count,), h5py.string_dtype(), chunks=(4096,))
        for first in range(0, count, 4096):
            starts = rng.integers(0, len(letters) - 160, 4096)
            data[first : first + 4096] = [
                letters[start : start + length]
                for start, length in zip(starts, lengths[first : first + 4096], strict=False)
            ]


KINDS = {maker.__name__: maker for maker in (contiguous, deflate, paged, user_block, data_sets, strings)}


def make(kind, path, size):
    """Makes a file of about `size` bytes. The same arguments make the same values."""
    KINDS[kind](path, size, np.random.default_rng(list(KINDS).index(kind)))
