"""Missing values and packed numbers (CF conventions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# netCDF's default fill values.
_DEFAULTS = {
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": 9.9692099683868690e36,
    "f8": 9.9692099683868690e36,
}


def default_fill(dtype: np.dtype[Any]) -> Any:
    """netCDF's default fill value for a type, or None."""
    number = _DEFAULTS.get(dtype.str[1:])
    return None if number is None else dtype.type(number)


def _of_type(one: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """A stated missing value in the type of the values: 1e20 as a double means the same float. None if it has no such value."""
    if one.dtype.kind not in "iuf" or dtype.kind not in "iuf":
        return one
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return one.astype(dtype)
    if one.dtype.kind == "f" and not float(one).is_integer():
        return None
    number, limits = int(one), np.iinfo(dtype)
    return np.asarray(number, dtype) if limits.min <= number <= limits.max else None


def is_missing(
    values: np.ndarray[Any, Any], attributes: Mapping[str, Any], fill: Any, fill_from: str
) -> Any:
    """Which values are missing: those that equal the fill value, or one of missing_value.

    The fill value is _FillValue; without this attribute, it is netCDF's default for types of two bytes or more. Smaller types use
    every value. The fill value that an HDF5 data set has without the attribute, often 0, is an ordinary value too."""
    if values.dtype.kind not in "iufS" or values.dtype.names:
        return np.zeros(values.shape, bool)
    some = []
    if fill_from == "attribute":
        some.append(fill)
    elif values.dtype.kind in "iuf" and values.dtype.itemsize > 1:
        some.append(default_fill(values.dtype))
    stated = attributes.get("missing_value")
    if stated is not None and not isinstance(stated, str):
        some.extend(np.asarray(stated).reshape(-1))
    missing = np.zeros(values.shape, bool)
    for one in some:
        one = None if one is None else _of_type(np.asarray(one), values.dtype)
        if one is None:
            continue
        if values.dtype.kind == "f" and one.dtype.kind == "f" and np.isnan(one):
            missing |= np.isnan(values)
        else:
            missing |= values == one
    return missing


def unpack(values: np.ndarray[Any, Any], attributes: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Applies _Unsigned, scale_factor and add_offset. The result has their type, or a wider one that the values need."""
    if values.dtype.kind == "i" and str(attributes.get("_Unsigned", "")).lower() == "true":
        values = values.view(values.dtype.str.replace("i", "u"))
    scale, offset = attributes.get("scale_factor"), attributes.get("add_offset")
    if values.dtype.kind not in "iuf" or (scale is None and offset is None):
        return values
    types = [np.asarray(part).dtype for part in (scale, offset) if part is not None]
    wanted = np.result_type(*types)
    if wanted.kind != "f":
        wanted = np.dtype(np.float64)
    if values.dtype.kind == "f" or values.dtype.itemsize > 2:
        wanted = np.result_type(wanted, values.dtype)
    out = values.astype(wanted)
    if scale is not None:
        out *= wanted.type(scale)
    if offset is not None:
        out += wanted.type(offset)
    return out


def decode(
    values: np.ndarray[Any, Any],
    attributes: Mapping[str, Any],
    fill: Any,
    fill_from: str,
    masked: bool,
    unpacked: bool,
) -> Any:
    """Masks missing values, unpacks numbers, or both. Without a mask, missing numbers become NaN; integers that have a stated fill
    value or missing value become floats for this, as in xarray. The result may be `values`, changed."""
    missing = is_missing(values, attributes, fill, fill_from)
    if unpacked:
        values = unpack(values, attributes)
        if not masked:
            states_missing = fill_from == "attribute" or "missing_value" in attributes
            if values.dtype.kind in "iu" and states_missing:
                values = values.astype(np.float32 if values.dtype.itemsize <= 2 else np.float64)
            if values.dtype.kind == "f":
                values[missing] = np.nan
            return values
    if not masked:
        return values
    out: Any = np.ma.MaskedArray(values, mask=missing)
    if values.dtype.kind in "iuf" and fill is not None and np.can_cast(np.asarray(fill).dtype, values.dtype, "same_kind"):
        out.fill_value = fill
    return out
