"""Types of values: which dtype of numpy each type of a file has. ``_core`` calls these functions."""

from __future__ import annotations

from typing import Any

import numpy as np

_COMPLEX = {("r", "i"), ("re", "im"), ("real", "imag")}


def string_dtype() -> np.dtype[Any]:
    """Strings are objects of type str, as with h5py (h5py.check_string_dtype knows the dtype)."""
    return np.dtype(object, metadata={"vlen": str})


def opaque_dtype(size: int, tag: str) -> np.dtype[Any]:
    """Bytes without a meaning."""
    if tag.startswith("NUMPY:"):  # as h5py writes types that HDF5 lacks, for example times
        try:
            dtype = np.dtype(tag[6:])
        except (TypeError, ValueError):
            dtype = np.dtype(object)
        if dtype.itemsize == size and not dtype.hasobject:
            return dtype
    return np.dtype(f"V{size}", metadata={"tag": tag}) if tag else np.dtype(f"V{size}")


def enum_dtype(base: np.dtype[Any], names: dict[str, int]) -> np.dtype[Any]:
    """Integers; the dtype carries the names, as h5py.check_enum_dtype expects. FALSE and TRUE make a bool."""
    if base == np.int8 and names == {"FALSE": 0, "TRUE": 1}:
        return np.dtype(bool)
    return np.dtype(base, metadata={"enum": names})


def sequence_dtype(base: np.dtype[Any]) -> np.dtype[Any]:
    """Sequences are objects: arrays of one dimension."""
    return np.dtype(object, metadata={"vlen": base})


def array_dtype(base: np.dtype[Any], lengths: tuple[int, ...]) -> np.dtype[Any]:
    """An array in an element. An array of such elements has its dimensions behind its own."""
    return np.dtype((base, lengths))


def compound_dtype(
    names: list[str], formats: list[np.dtype[Any]], offsets: list[int], size: int
) -> np.dtype[Any]:
    """A structured dtype, or a complex one for two equal floats r and i."""
    if (
        tuple(names) in _COMPLEX
        and formats[0] == formats[1]
        and formats[0].kind == "f"
        and formats[0].itemsize in (4, 8, 16)
        and offsets == [0, formats[0].itemsize]
        and size == 2 * formats[0].itemsize
    ):
        return np.dtype(f"c{size}")
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def enum_of(dtype: np.dtype[Any]) -> dict[str, int] | None:
    """The names and values of an enum; None for other types."""
    return dict(dtype.metadata["enum"]) if dtype.metadata and "enum" in dtype.metadata else None


def is_string(dtype: np.dtype[Any]) -> bool:
    """Whether elements are objects of type str."""
    return bool(dtype.metadata and dtype.metadata.get("vlen") is str)


def type_text(dtype: np.dtype[Any]) -> str:
    """A short name of a dtype for people."""
    if is_string(dtype):
        return "str"
    if dtype.kind == "O" and dtype.metadata and "vlen" in dtype.metadata:
        return f"sequence of {type_text(dtype.metadata['vlen'])}"
    if enum_of(dtype) is not None:
        return f"enum {dtype.name}"
    if dtype.names:
        return "{" + ", ".join(dtype.names) + "}"
    return str(dtype.str[1:]) if dtype.kind in "SV" else str(dtype)


def text_of(value: bytes) -> str:
    """Bytes as text; what is not UTF-8 becomes lone surrogates, as in names of files."""
    return value.decode("utf-8", "surrogateescape")


def strings_of(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Turns characters, fixed-length texts or strings into an array of str. Characters ('S1') are joined along the last
    dimension."""
    if values.dtype.kind == "O":
        return values
    if values.dtype.kind != "S":
        raise TypeError(f"values of type {type_text(values.dtype)} are not text")
    if values.dtype.itemsize == 1 and values.ndim:
        shape = values.shape[:-1]
        if values.shape[-1] == 0:
            return np.full(shape, "", object)
        values = np.ascontiguousarray(values).view(f"S{values.shape[-1]}").reshape(shape)
    out = np.empty(values.shape, object)
    flat = out.reshape(-1)
    for i, value in enumerate(values.reshape(-1).tolist()):
        flat[i] = text_of(value)
    return out
