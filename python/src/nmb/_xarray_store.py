"""What xarray reads from a block: variables with lazy values, attributes, and the encoding that the engine netcdf4 gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from xarray import Variable as XarrayVariable
from xarray.backends.common import AbstractDataStore
from xarray.core import indexing

from . import _types
from ._block import Block
from ._xarray_array import VariableArray, is_text, shown_dtype

# Values that are not stored in chunks are read in parts of some MiB. They are checked in pieces of 1 MiB by default, so that
# few pieces are read twice.
PART_BYTES = 8 << 20

# Attributes of HDF5 objects that netCDF uses for itself.
_HIDDEN = frozenset(
    "CLASS DIMENSION_LIST NAME REFERENCE_LIST _NCProperties _Netcdf4Coordinates _Netcdf4Dimid _nc3_strict".split()
)

# HDF5's numbers of filters.
_DEFLATE, _SHUFFLE, _FLETCHER32, _SZIP, _BZIP2, _LZF, _BLOSC, _ZSTD = 1, 2, 3, 4, 307, 32000, 32001, 32015
_BLOSC_NAMES = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_snappy", "blosc_zlib", "blosc_zstd")


def filters_encoding(filters: Any) -> dict[str, Any]:
    """Filters as ``netCDF4.Variable.filters()`` names them."""
    found = {number: parameters for number, _, parameters in filters}
    out: dict[str, Any] = {
        "zlib": _DEFLATE in found,
        "szip": False,
        "zstd": _ZSTD in found,
        "bzip2": _BZIP2 in found,
        "blosc": False,
        "shuffle": _SHUFFLE in found,
        "complevel": 0,
        "fletcher32": _FLETCHER32 in found,
    }
    for number in (_DEFLATE, _ZSTD, _BZIP2):
        if found.get(number):
            out["complevel"] = found[number][0]
    if _SZIP in found and len(found[_SZIP]) > 1:
        mask, pixels = found[_SZIP][:2]
        out["szip"] = {"coding": "nn" if mask & 32 else "ec", "pixels_per_block": pixels}
    if _BLOSC in found and len(found[_BLOSC]) > 6:
        level, shuffle, compressor = found[_BLOSC][4:7]
        name = _BLOSC_NAMES[compressor] if compressor < len(_BLOSC_NAMES) else str(compressor)
        out["blosc"] = {"compressor": name, "shuffle": shuffle}
        out["complevel"] = level
    if _LZF in found:  # as the engine h5netcdf names it, because netCDF does not have it
        out["compression"], out["compression_opts"] = "lzf", None
    return out


def parts_of(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...] | None:
    """The lengths of parts of at most PART_BYTES of values that are stored one after the other; None for few values."""
    size = itemsize
    lengths = list(shape)
    for axis in range(len(shape) - 1, -1, -1):
        if size * shape[axis] > PART_BYTES:
            lengths[axis] = max(1, PART_BYTES // size)
            lengths[:axis] = [1] * axis
            return tuple(lengths)
        size *= max(1, shape[axis])
    return None


def attribute_value(value: Any) -> Any:
    """An attribute as the engine netcdf4 gives it: several texts are a list, and bytes that are not UTF-8 are replaced."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return value.tolist() if value.ndim == 1 else value
    return value


def shown_name(name: str) -> str:
    """A name as netCDF programs show it: without a zero, and what is behind it."""
    return name.partition("\0")[0]


def attributes_of(owner: Any, is_classic: bool) -> dict[str, Any]:
    """Attributes of a block or variable as the engine netcdf4 gives them."""
    hidden = () if is_classic else _HIDDEN
    return {shown_name(name): attribute_value(value) for name, value in owner.attrs.items() if name not in hidden}


class BlockStore(AbstractDataStore):
    """The content of a block; of an empty data set without a block."""

    def __init__(self, block: Block | None, source: str) -> None:
        self._block = block
        self._source = source
        self._above: dict[str, int] = {}
        self._unnamed: dict[Any, str] = {}  # names of enums by type, enumerators and values
        self._is_classic = block is None or block._native().is_classic

    def _length(self, dim: str, stored: int) -> int:
        """The length of a dimension, which a block above this one may define."""
        assert self._block is not None
        if dim in self._block.dims:
            return self._block.dims[dim]
        if dim not in self._above:
            self._above[dim] = stored
            name = self._block.name
            while name:
                name = name.rpartition("/")[0]
                try:
                    dims = self._block.file.block(name).dims
                except KeyError:
                    continue
                if dim in dims:
                    self._above[dim] = dims[dim]
                    break
        return max(self._above[dim], stored)

    def _variable(self, name: str) -> Any:
        assert self._block is not None
        found = self._block[name]
        stored, dims = found.shape, found.dims
        shape = tuple(self._length(dim, length) for dim, length in zip(dims, stored))
        array = VariableArray(found, shape, stored)
        attributes = attributes_of(found, self._is_classic)
        encoding: dict[str, Any] = {"dtype": self._encoded_dtype(found)}
        if array.dtype.kind == "S" and isinstance(attributes.get("_FillValue"), str):
            attributes["_FillValue"] = np.bytes_(attributes["_FillValue"].encode("utf-8", "surrogateescape"))
        if array.dtype.kind == "V" or (array.dtype.kind == "O" and not is_text(array.dtype)):
            for key in attributes.keys() & {"_FillValue", "missing_value"}:  # xarray compares numbers and text only
                encoding[key] = attributes.pop(key)
        storage = found.storage
        if not self._is_classic:
            encoding.update(filters_encoding(storage.filters))
            encoding["contiguous"] = storage.chunks is None
            encoding["chunksizes"] = storage.chunks
        chunks = storage.chunks or parts_of(shape, array.dtype.itemsize)
        if chunks:
            encoding["preferred_chunks"] = {shown_name(dim): length for dim, length in zip(dims, chunks)}
        if "least_significant_digit" in attributes:
            encoding["least_significant_digit"] = attributes.pop("least_significant_digit")
        encoding["source"] = self._source
        encoding["original_shape"] = shape
        return XarrayVariable([shown_name(dim) for dim in dims], indexing.LazilyIndexedArray(array), attributes, encoding)

    def _encoded_dtype(self, variable: Any) -> Any:
        shown = shown_dtype(variable.dtype)
        if is_text(shown):
            return str
        names = _types.enum_of(variable.dtype)
        if names is not None:
            name = variable._native().type_name.rpartition("/")[2]
            if not name:  # netCDF gives such types names, because variables of other files need one
                name = self._unnamed.setdefault((shown, *names.items()), f"_AnonymousEnum{len(self._unnamed) + 1}")
            return np.dtype(shown, metadata={"enum": names, "enum_name": name})
        if shown.kind == "O":
            return variable.dtype.metadata["vlen"]
        if not self._is_classic and shown.kind in "iuf" and variable.storage.byteorder == "big":
            return shown.newbyteorder(">")
        return shown

    def get_variables(self) -> dict[str, Any]:
        return {} if self._block is None else {shown_name(name): self._variable(name) for name in self._block.variables}

    def get_attrs(self) -> dict[str, Any]:
        return {} if self._block is None else attributes_of(self._block, self._is_classic)

    def get_dimensions(self) -> dict[str, int]:
        return {} if self._block is None else {shown_name(name): length for name, length in self._block.dims.items()}

    def get_encoding(self) -> dict[str, Any]:
        return {"unlimited_dims": set() if self._block is None else {shown_name(name) for name in self._block.unlimited}}

    def close(self) -> None:
        """Does nothing: values can be read, also by other processes, as long as arrays refer to the file, which is closed with
        the last of them."""
