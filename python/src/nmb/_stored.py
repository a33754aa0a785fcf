"""Values, attributes and names as a block stores them: numbers and characters of classic netCDF."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _decode, _types
from ._errors import RangeError, UnsupportedError, UsageError

# The types of classic netCDF by their dtype, with their numbers (nmb/types.h).
TYPES = {"i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}
DTYPES = {number: np.dtype(name) for name, number in TYPES.items()}
CHAR = np.dtype("S1")

_HINTS = {
    "b": "use values.astype('i1')",
    "M": "write them with nmb.xarray.to_nmb, which encodes times, or as numbers with units",
    "m": "write them with nmb.xarray.to_nmb, which encodes times, or as numbers with units",
    "c": "write the real and the imaginary part as two variables",
    "f": "use values.astype('f4') or 'f8'",
    "V": "write each field as a variable",
}

Array = np.ndarray[Any, Any]


def number_of(dtype: np.dtype[Any]) -> int:
    """The number of the type that stores a dtype that storable_dtype() has returned."""
    return TYPES[dtype.str[1:]]


def storable_dtype(dtype: Any, name: str) -> np.dtype[Any]:
    """The dtype in the byte order of this machine, if a block can store its values as numbers or characters."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError as error:
        raise UsageError(f"found no type in {dtype!r}", object=name) from error
    if found.names is None and found.subdtype is None and found.str[1:] in TYPES:
        return np.dtype(found.str[1:])
    hint = _HINTS.get(found.kind)
    text = f"values of type {_types.type_text(found)} cannot be written"
    raise UnsupportedError(f"{text}: {hint}" if hint else text, object=name)


def is_text(array: Any) -> bool:
    """Whether elements are texts, which a block stores as characters along one more dimension."""
    return array.dtype.kind in "UOT" or (array.dtype.kind == "S" and array.dtype.itemsize > 1)


def as_array(values: Any, name: str) -> Any:
    """Any values as an array of numpy, which may be a masked one."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise UsageError(f"the values are no array: {error}", object=name) from error
    if array.dtype.kind in "US" and not hasattr(values, "dtype"):
        # numpy cuts zeros at the end, and turns numbers beside texts into texts.
        objects = np.asarray(values, object)
        if array.dtype.kind == "U":
            return objects
        if any(isinstance(one, bytes) and one.endswith(b"\0") for one in objects.reshape(-1).tolist()):
            raise _ends_in_zero(name)
    return array.astype(object) if array.dtype.kind == "T" else array


def _ends_in_zero(name: str) -> UnsupportedError:
    return UnsupportedError("a text that ends in a zero cannot be written, because zeros pad texts", object=name)


def characters_of(array: Any, name: str, length: int | None = None) -> Array:
    """Texts as characters in UTF-8 along a last dimension, padded with zeros. length: that of the dimension; None for the
    longest text."""
    if np.ma.is_masked(array):
        raise UnsupportedError("masked texts cannot be written: use values.filled()", object=name)
    flat = np.asarray(array).reshape(-1).tolist()
    encoded = []
    for one in flat:
        if isinstance(one, str):
            text = one.encode("utf-8", "surrogateescape")
        elif isinstance(one, bytes):
            text = one
        else:
            raise UnsupportedError(f"objects of type {type(one).__name__} cannot be written", object=name)
        if text.endswith(b"\0"):
            raise _ends_in_zero(name)
        encoded.append(text)
    if array.dtype.kind == "O" and not flat:
        raise UnsupportedError("an array of no objects has no type: use values.astype(str)", object=name)
    longest = max((len(one) for one in encoded), default=0)
    if length is not None and longest > length:
        raise RangeError(f"found a text of {longest} bytes, expected at most {length}", object=name)
    wide = max(1, longest) if length is None else length
    out = np.array(encoded, f"S{wide}") if encoded else np.empty(0, f"S{wide}")
    return out.view("S1").reshape((*np.shape(array), wide))


def cast(array: Any, dtype: np.dtype[Any], name: str) -> Array:
    """Numbers in another type. They may lose digits as floats, but nothing else: RangeError."""
    array = np.asarray(array)
    out: Array = array
    if array.dtype == dtype:
        return out
    kinds = array.dtype.kind, dtype.kind
    if "S" in kinds or kinds[0] not in "biufS" or array.dtype.itemsize > 8:
        what = f"values of type {_types.type_text(array.dtype)}"
        raise UnsupportedError(f"{what} cannot be written to a variable of type {_types.type_text(dtype)}", object=name)
    if array.size == 0:
        out = array.astype(dtype)
        return out
    if dtype.kind in "iu" and array.dtype.kind in "iuf":
        limits = np.iinfo(dtype)
        if array.dtype.kind == "f":
            whole = np.isfinite(array) & (np.trunc(array) == array)
            if not whole.all():
                raise _misfit(array[~whole].reshape(-1)[0], dtype, name)
            # 2**63 and 2**64 are floats, their predecessors are not.
            fits = (array >= float(limits.min)) & (array < float(int(limits.max) + 1))
        else:
            least, most = int(array.min()), int(array.max())
            if limits.min <= least and most <= limits.max:
                out = array.astype(dtype)
                return out
            fits = np.array([limits.min <= int(one) <= limits.max for one in array.reshape(-1)]).reshape(array.shape)
        if not fits.all():
            raise _misfit(array[~fits].reshape(-1)[0], dtype, name)
        out = array.astype(dtype)
        return out
    with np.errstate(over="ignore"):
        out = array.astype(dtype)
    if dtype.kind == "f" and array.dtype.kind == "f":
        lost = np.isinf(out) & np.isfinite(array)
        if lost.any():
            raise _misfit(array[lost].reshape(-1)[0], dtype, name)
    return out


def _misfit(value: Any, dtype: np.dtype[Any], name: str) -> RangeError:
    return RangeError(f"{value} does not fit type {_types.type_text(dtype)}", object=name)


def filled(array: Any, dtype: np.dtype[Any], fill: Any, name: str) -> Array:
    """A masked array with fill values. fill: the value of _FillValue, or None for netCDF's default."""
    if not np.ma.is_masked(array):
        data: Array = np.ma.getdata(array)
        return data
    if fill is None:
        fill = _decode.default_fill(dtype) if dtype.itemsize > 1 else None
    if fill is None:
        raise UsageError(f"masked values of type {_types.type_text(dtype)} need an attribute _FillValue", object=name)
    mask = np.ma.getmaskarray(array)
    data = cast(np.where(mask, np.zeros((), array.dtype), np.ma.getdata(array)), dtype, name)
    same = np.isnan(data) if fill != fill else data == fill
    if (same & ~mask).any():
        raise UsageError(f"the value {fill} is not masked, but is the fill value: set another _FillValue", object=name)
    return np.where(mask, dtype.type(fill), data)


def contiguous(array: Any, dtype: np.dtype[Any]) -> Array:
    """The array in C order and this type, which equals its own but for the byte order. Never the object that was passed."""
    out: Array = np.asarray(array, dtype, order="C")
    return out.view() if out.flags.c_contiguous else np.ascontiguousarray(out).reshape(out.shape)


def attribute_of(name: str, value: Any, dtype: np.dtype[Any] | None, owner: str) -> tuple[int, Any]:
    """The type of an attribute, and its text or an array. dtype: that of the variable, whose _FillValue has it."""
    what = f"{owner}:{name}" if owner else name
    if name == "_FillValue" and dtype is not None:
        if dtype == CHAR and isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        fill = np.asarray(value)
        if fill.size != 1:
            raise UsageError("expected one value", object=what)
        exact = cast(fill.reshape(1), dtype, what)
        if dtype.kind in "iuf" and fill.dtype.kind in "iuf" and not (exact == fill).all() and not np.isnan(fill).all():
            if fill.dtype.kind != "f" or dtype.kind != "f":
                raise _misfit(value, dtype, what)
        return number_of(dtype), exact
    if isinstance(value, (bytes, np.bytes_)):
        value = bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        if value.endswith("\0"):
            raise _ends_in_zero(what)
        return TYPES["S1"], str(value)
    if value is None:
        raise UnsupportedError("None cannot be written as an attribute", object=what)
    array = as_array(value, what)
    if array.dtype.kind in "UO" and array.ndim == 0 and isinstance(array.item(), str):
        return attribute_of(name, array.item(), dtype, owner)
    if array.ndim > 1 or array.dtype.kind not in "iuf":
        raise _no_attribute(array, what)
    stored = storable_dtype(array.dtype, what)
    if np.ma.is_masked(array):
        raise UnsupportedError("a masked value cannot be written as an attribute", object=what)
    return number_of(stored), contiguous(np.atleast_1d(np.ma.getdata(array)), stored)


def _no_attribute(array: Any, what: str) -> UnsupportedError:
    found = f"{_types.type_text(array.dtype)} of shape {array.shape}" if array.ndim else _types.type_text(array.dtype)
    return UnsupportedError(
        f"a value of type {found} cannot be written as an attribute: use a text, a number, or numbers in one dimension",
        object=what,
    )


def check_name(name: Any, kind: str, owner: str) -> str:
    """The name of a new dimension, variable or attribute."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a {kind} must be a str, not {name!r}")
    wrong = not name or name in (".", "..") or "/" in name or "\0" in name or not _is_utf8(name)
    if wrong:
        raise UsageError(f'found the name {name!r} of a {kind}, expected UTF-8 without "/" and zeros', object=owner)
    return name


def check_block_name(name: Any) -> str:
    """The name of a new block."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a block must be a str, not {name!r}")
    if name and (any(part in ("", ".", "..") for part in name.split("/")) or "\0" in name or not _is_utf8(name)):
        raise UsageError(f'found the name {name!r} of a block, expected a path such as "station/north"', object=name)
    return name


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
