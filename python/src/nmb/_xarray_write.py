"""Writes data sets and trees of xarray as blocks."""

from __future__ import annotations

import json
import os
import re
import uuid
import warnings
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray
from xarray import conventions
from xarray.backends import StoreBackendEntrypoint, locks
from xarray.backends.common import WritableCFDataStore
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder

from . import _stored
from ._errors import ConflictError, MissingError, MissingFileError, RangeError, UnsupportedError, UsageError
from ._file import open as open_file
from ._outputs import Path, path_of
from ._parts import Parts
from ._writer import Writer
from ._writer_block import WriterBlock
from ._xarray_stack import _MEANING
from ._xarray_store import BlockStore

Encoding = Mapping[Hashable, Mapping[str, Any]]

# What an encoding may ask for: what it does to values and attributes. The rest says how other formats store values.
_ENCODING = frozenset(
    "dtype _FillValue missing_value scale_factor add_offset units calendar _Unsigned _Encoding char_dim_name coordinates "
    "grid_mapping".split()
)
# "days since 2000-01-01 00:00:00" means what it means without the time, and xarray leaves it out.
_MIDNIGHT = re.compile(r"[ T]0?0:00(:00(\.0+)?)?$")
_KEPT = _ENCODING - {"coordinates", "grid_mapping"}


class Encoded(NamedTuple):
    """A variable as it is stored. Its values may be an array of dask."""

    dims: tuple[str, ...]
    values: Any
    attrs: dict[str, Any]


def _is_lazy(values: Any) -> bool:
    return hasattr(values, "__dask_graph__")


def encode(
    data: xarray.Dataset, encoding: Encoding | None = None, unlimited_dims: Any = None
) -> tuple[dict[str, Encoded], dict[str, Any], list[str]]:
    """The variables, the attributes and the unlimited dimension of a data set, encoded by the conventions of xarray."""
    for name in data.variables:
        _stored.check_name(name, "variable", "")
    for name, more in (encoding or {}).items():
        if name not in data.variables:
            raise UsageError(f"encoding: found no variable {name!r}")
        wrong = sorted(set(more) - _ENCODING)
        if wrong:
            raise UnsupportedError(f"encoding of {name!r}: {', '.join(wrong)}; expected some of {', '.join(sorted(_ENCODING))}")
    variables, attributes = conventions.encode_dataset_coordinates(data)
    variables = dict(variables)
    for name, more in (encoding or {}).items():
        variables[name] = variables[name].copy(deep=False)
        variables[name].encoding = dict(more)
    plain = variables
    variables, attributes = _by_conventions(plain, attributes)
    out = {}
    for key, variable in variables.items():
        name = str(key)
        variable = _checked(plain[key], variable, name)
        variable = EncodedStringCoder(allows_unicode=False).encode(variable, name=name)  # type: ignore[no-untyped-call,unused-ignore]
        if variable.encoding.get("dtype") in (str, object):
            del variable.encoding["dtype"]
        variable = CharacterArrayCoder().encode(variable, name=name)  # type: ignore[no-untyped-call,unused-ignore]
        values = variable.data if _is_lazy(variable.data) else variable.values
        _stored.storable_dtype(values.dtype, name)
        out[name] = Encoded(tuple(str(dim) for dim in variable.dims), values, dict(variable.attrs))
    return out, dict(attributes), _unlimited(out, data, unlimited_dims)


def _by_conventions(variables: Any, attributes: Any) -> Any:
    return WritableCFDataStore().encode(variables, attributes)  # type: ignore[no-untyped-call,unused-ignore]


def _checked(plain: Any, encoded: Any, name: str) -> Any:
    """The encoded variable, whose values xarray has cast without a look at whether they fit: RangeError if they do not."""
    wanted = plain.encoding.get("dtype")
    if wanted in (None, str, object, "S1") or plain.dtype.kind not in "fiuMm" or "_Unsigned" in plain.encoding:
        return encoded
    dtype = np.dtype(wanted)
    if dtype == plain.dtype or dtype.kind not in "iuf" or encoded.dtype != dtype:
        return encoded
    loose = plain.copy(deep=False)
    loose.encoding = {key: value for key, value in plain.encoding.items() if key != "dtype"}
    if plain.dtype.kind in "Mm":
        if dtype.kind == "f" or dtype == np.int64:
            return encoded
        loose.encoding["dtype"] = np.dtype("i8")
    exact = _by_conventions({name: loose}, {})[0][name].data
    out = encoded.copy(deep=False)
    if _is_lazy(encoded.data) or _is_lazy(exact):
        import dask.array

        out.data = dask.array.map_blocks(_check_fit, encoded.data, exact, name, dtype=dtype)  # type: ignore[attr-defined,no-untyped-call,unused-ignore]
    else:
        _check_fit(encoded.values, np.asarray(exact), name)
    return out


def _check_fit(stored: Any, exact: Any, name: str) -> Any:
    """Fails where a cast has changed more than the last digit."""
    stored_array, exact = np.asarray(stored), np.asarray(exact)
    with np.errstate(invalid="ignore"):
        if stored_array.dtype.kind == "f":
            wrong = np.isinf(stored_array) & np.isfinite(exact)
        elif exact.dtype.kind == "f":
            wrong = ~(np.abs(stored_array.astype("f8") - exact) <= np.maximum(1, np.abs(exact) * 2.0**-50))
        else:
            wrong = stored_array != exact
    if wrong.any():
        raise RangeError(f"{exact[wrong].reshape(-1)[0]} does not fit type {stored_array.dtype}", object=name)
    return stored


def _unlimited(variables: dict[str, Encoded], data: xarray.Dataset, wanted: Any) -> list[str]:
    """The unlimited dimension, which a caller asks for, or the file from which the data set came."""
    is_asked = wanted is not None
    names = data.encoding.get("unlimited_dims", ()) if wanted is None else wanted
    dims = [names] if isinstance(names, str) else [str(one) for one in names]
    known = {dim for one in variables.values() for dim in one.dims}
    wrong = [dim for dim in dims if dim not in known]
    dims = [dim for dim in dims if dim in known]
    later = [name for name, one in variables.items() if set(one.dims[1:]) & set(dims)]
    why = ""
    if wrong:
        why = f"no variable has the dimension {wrong[0]!r}"
    elif len(dims) > 1:
        why = f"a block has at most one unlimited dimension, not {sorted(dims)}"
        dims = []
    elif later:
        why = f"{dims[0]!r} is not the first dimension of {later[0]!r}"
        dims = []
    if why and is_asked:
        raise UnsupportedError(f"unlimited_dims: {why}")
    if why and not wrong:
        warnings.warn(f"encoding['unlimited_dims']: {why}; the dimensions are written with fixed lengths", stacklevel=4)
    return dims


def encoded(data: Any) -> tuple[dict[str, tuple[Any, Any, Any]], dict[str, Any], list[str]]:
    """What ``Writer.block`` takes of a data set."""
    variables, attributes, dims = encode(data)
    return {name: (one.dims, np.asarray(one.values), one.attrs) for name, one in variables.items()}, attributes, dims


class _Node(NamedTuple):
    """A block to write: all of it, or parts of the variables that it has. Without lazy values, which are in parts."""

    name: str
    variables: dict[str, Encoded]
    attrs: dict[str, Any]
    unlimited: list[str]


class _Job(NamedTuple):
    """What a call of to_nmb writes."""

    path: str
    mode: str
    nodes: list[_Node]
    options: dict[str, Any]
    append_dim: str | None
    region: dict[str, tuple[int, int]] | None


class _Shape(NamedTuple):
    """Stands for lazy values in a job that another process ends."""

    shape: tuple[int, ...]
    dtype: Any


def to_nmb(
    data: Any,
    path: Path,
    mode: str | None = None,
    *,
    group: str | None = None,
    region: Mapping[str, slice | str] | str | None = None,
    append_dim: str | None = None,
    encoding: Any = None,
    unlimited_dims: Any = None,
    compute: bool = True,
    wait: float = 0.0,
    sync: bool = True,
    hdf5_view: str = "small",
    statistics: str = "none",
) -> Any:
    """Writes a data set as a block of an NMB file, or a tree as many, as one commit::

        >>> import xarray as xr
        >>> ds = xr.Dataset({"t": (("time", "x"), np.ones((2, 3)))}, {"time": [10, 20]})
        >>> nmb.xarray.to_nmb(ds, "model.nmb", group="run1", unlimited_dims="time")
        >>> nmb.xarray.to_nmb(ds.assign_coords(time=[30, 40]), "model.nmb", group="run1", append_dim="time")
        >>> nmb.xarray.to_nmb(ds[["t"]].isel(time=[0]) * 7, "model.nmb", group="run1", region={"time": slice(3, 4)})
        >>> nmb.open("model.nmb")["run1/t"][:, 0]
        array([1., 1., 1., 7.])

    Values and attributes are encoded as xarray does for netCDF: times, missing values, packed numbers, texts (as characters),
    logical values. Arrays of dask are written chunk by chunk. With threads, or without a scheduler, each chunk goes to the file.
    With processes (distributed), and with ``compute=False``, each chunk becomes a part in a folder beside the file, so that a
    task may run again on another worker; the last task makes the file of the parts and removes them. If the process that calls is
    killed, a folder ``PATH.*.parts`` may remain, which can be removed.

    Args:
        data: a ``Dataset``, ``DataArray`` or ``DataTree``.
        path: the file.
        mode: as for ``nmb.Writer``; None for "a" with ``region`` or ``append_dim``, else "x". With "a", variables must be new.
        group: the name of the block, or of the block above those of a tree; None for the root.
        region: writes into variables that exist: a mapping from dimensions to slices, "auto" for where the values of the index
            are, or "auto" for all dimensions. Variables without any of these dimensions must be dropped before.
        append_dim: the unlimited dimension along which all variables that have it grow. Variables without it must be as they are
            in the file.
        encoding: for each variable (of a tree: for each path, and there for each variable), how it is encoded: "dtype",
            "_FillValue", "scale_factor", "add_offset", "units", "calendar". Variables that exist keep their encoding.
        unlimited_dims: the dimension that may grow later, which must be the first of each variable that has it; None for
            ``data.encoding``. For a tree, a mapping from paths to it.
        compute: False returns an object of dask whose ``compute()`` writes.
        wait: mode "a": for how many seconds to wait while another writer has the file.
        sync, hdf5_view, statistics: as for ``nmb.Writer``.
    Errors: those of ``nmb.Writer``; ``ConflictError`` if values or attributes contradict what is in the file; ``MissingError`` for a
    variable or block that does not exist; ``UnsupportedError`` for values or encodings that a block does not have. The file is then
    as it was.
    """
    target = os.path.abspath(os.path.expanduser(path_of(path)))
    changes = region is not None or append_dim is not None
    mode = ("a" if changes else "x") if mode is None else mode
    if mode not in ("x", "w", "a"):
        raise UsageError(f'mode: found {mode!r}, expected "x", "w" or "a"')
    if changes and mode != "a":
        raise UsageError('region and append_dim: only for mode="a"')
    if region is not None and append_dim is not None:
        raise UsageError("region and append_dim exclude each other")
    if changes and unlimited_dims is not None:
        raise UsageError("unlimited_dims: the variables exist already")
    if wait and mode != "a":
        raise UsageError('wait: only for mode="a"')
    datasets = _datasets_of(data, (group or "").strip("/"), encoding, unlimited_dims)
    if changes and len(datasets) != 1:
        raise UnsupportedError("region and append_dim: not for a tree")
    nodes, places = [], None
    for name, dataset, more, dims in datasets:
        if changes:
            dataset, places = _as_stored(target, name, dataset, more, region)
            more, dims = None, ()
        nodes.append(_Node(name, *encode(dataset, more, dims)))
    if changes:
        _check_changes(target, nodes[0], append_dim, places)
    options = dict(wait=wait, sync=sync, hdf5_view=hdf5_view, statistics=statistics)
    job = _Job(target, mode, nodes, options, append_dim, places)
    lazy = [(n, name) for n, node in enumerate(nodes) for name, one in node.variables.items() if _is_lazy(one.values)]
    if not lazy and compute:
        _write(job, None)
        return None
    if compute and _scheduler() not in ("distributed", "multiprocessing"):
        _write(job, None)
        return None
    return _with_parts(job, lazy, compute)


def _scheduler() -> Any:
    """The scheduler of dask, as xarray names it."""
    name = "get_dask_scheduler" if hasattr(locks, "get_dask_scheduler") else "_get_scheduler"  # xarray before 2025
    return getattr(locks, name)()


def _datasets_of(data: Any, group: str, encoding: Any, unlimited: Any) -> list[tuple[str, xarray.Dataset, Any, Any]]:
    """(name of the block, data set, encoding, unlimited dimension) of each block to write."""
    if isinstance(data, xarray.DataArray):
        name = data.name
        if name is None:
            raise UsageError("the DataArray has no name")
        return [(group, data.to_dataset(), encoding, unlimited)]
    if isinstance(data, xarray.Dataset):
        return [(group, data, encoding, unlimited)]
    if not hasattr(data, "subtree"):
        raise TypeError(f"expected a Dataset, DataArray or DataTree, not {type(data).__name__}")
    for what, found in (("encoding", encoding), ("unlimited_dims", unlimited)):
        if found is not None and (not isinstance(found, Mapping) or set(found) - set(data.groups)):
            raise UsageError(f"{what}: expected a mapping from paths of the tree, such as {data.groups[-1]!r}")
    out = []
    for node in data.subtree:
        relative = node.path if data.path == "/" else node.path[len(data.path) :] or "/"
        name = "/".join(part for part in (group, relative.strip("/")) if part)
        dataset = node.to_dataset(inherit=node is data)
        if not name and not dataset.variables and not dataset.attrs:
            continue
        out.append((name, dataset, (encoding or {}).get(node.path), (unlimited or {}).get(node.path)))
    return out


# --- into what exists ---


def _as_stored(
    path: str, name: str, data: xarray.Dataset, encoding: Any, region: Any
) -> tuple[xarray.Dataset, dict[str, tuple[int, int]] | None]:
    """The data set with the encodings of the variables that exist, and where the region is."""
    with open_file(path) as file:
        block = file.block(name)
        have = StoreBackendEntrypoint().open_dataset(BlockStore(block, path), decode_coords=False)
        places = None
        if region is not None:
            places = _places(region, data, have, path, name)
            outside = [str(key) for key, one in data.variables.items() if not set(one.dims) & set(places)]
            autos = {dim for dim in places if region == "auto" or region.get(dim) == "auto"}
            data = data.drop_vars(autos & set(data.variables))
            outside = [key for key in outside if key in data.variables]
            if outside:
                raise UsageError(f"region: variables without its dimensions must be dropped: {outside}", object=name)
        data = data.copy(deep=False)
        for key in data.variables:
            if key not in have.variables:
                raise MissingError(f'found no variable "{key}"', file=path, object=name)
            if encoding and key in encoding:
                raise UsageError(f"encoding: variable {key!r} exists already and keeps its own", object=name)
            kept = {what: value for what, value in have[key].encoding.items() if what in _KEPT}
            if have[key].dtype == bool or (have[key].dtype.kind in "iu" and data[key].dtype.kind == "f"):
                # Logical values are encoded with an attribute. xarray rounds floats without a word.
                kept.pop("dtype", None)
            variable = data.variables[key].copy(deep=False)
            variable.encoding = {"_FillValue": None, **kept}
            data = _replaced(data, key, variable)
        data.attrs = {}
        data.encoding = {}
    return data, places


def _replaced(data: xarray.Dataset, key: Hashable, variable: Any) -> xarray.Dataset:
    if key in data.dims and key in data.coords:
        data[key].variable.encoding = variable.encoding
        data.variables[key].encoding = variable.encoding
        return data
    return data.assign_coords({key: variable}) if key in data.coords else data.assign({key: variable})


def _places(region: Any, data: xarray.Dataset, have: xarray.Dataset, path: str, name: str) -> dict[str, tuple[int, int]]:
    """The first position and the length of a region along its dimensions."""
    if isinstance(region, str):
        if region != "auto":
            raise UsageError(f'region: found {region!r}, expected "auto" or a mapping')
        region = {dim: "auto" for dim in data.dims if dim in data.indexes}
    if not isinstance(region, Mapping):
        raise UsageError(f'region: found {region!r}, expected "auto" or a mapping')
    out = {}
    for dim, where in region.items():
        if dim not in data.dims:
            raise UsageError(f"region: the data set has no dimension {dim!r}", object=name)
        if dim not in have.sizes:
            raise MissingError(f'found no dimension "{dim}"', file=path, object=name)
        count, length = data.sizes[dim], have.sizes[dim]
        if isinstance(where, str):
            start = _position(where, dim, data, have, name)
        elif isinstance(where, slice):
            start, stop, step = where.indices(length)
            if (where.step or 1) != 1 or (where.stop is not None and where.stop > length) or stop - start != count:
                raise UsageError(f"region: {where} of {dim!r}, which has {length} positions, does not fit {count}", object=name)
        else:
            raise UsageError(f'region: found {where!r} for {dim!r}, expected a slice or "auto"', object=name)
        out[str(dim)] = (start, count)
    return out


def _position(where: str, dim: Hashable, data: xarray.Dataset, have: xarray.Dataset, name: str) -> int:
    if where != "auto":
        raise UsageError(f'region: found {where!r} for {dim!r}, expected a slice or "auto"', object=name)
    if dim not in data.indexes or dim not in have.variables:
        raise UsageError(f'region: "auto" needs an index for {dim!r}', object=name)
    index = have[dim].variable.to_index()
    at = index.get_indexer(data.indexes[dim]) if index.is_unique else np.array([-1])
    if not at.size or (at < 0).any() or (np.diff(at) != 1).any():
        raise ConflictError(f"region: the values of {dim!r} are not neighbours in the file", object=name)
    return int(at[0])


def _check_changes(path: str, node: _Node, append_dim: str | None, places: Any) -> None:
    """Fails if variables do not go with those of the file."""
    with open_file(path) as file:
        block = file.block(node.name)
        if append_dim is not None and append_dim not in block.unlimited:
            grows = ", ".join(sorted(block.unlimited)) or "none"
            raise UnsupportedError(
                f"append_dim: {append_dim!r} is not unlimited (unlimited: {grows}); write the data set first with unlimited_dims",
                file=path,
                object=node.name,
            )
        for name, one in list(node.variables.items()):
            have = block[name]
            what = have.full_name
            if have.dtype == _stored.CHAR:
                one = node.variables[name] = _padded(one, have.dims, have.shape, what)
            if one.dims != have.dims:
                raise ConflictError(f"found the dimensions {one.dims}, expected {have.dims}", file=path, object=what)
            for axis, dim in enumerate(one.dims):
                if dim != append_dim and dim not in (places or ()) and one.values.shape[axis] != have.shape[axis]:
                    raise ConflictError(
                        f'dimension "{dim}" has {one.values.shape[axis]} positions, in the file {have.shape[axis]}', file=path, object=what
                    )
            for key in _MEANING:
                pair = [_MIDNIGHT.sub("", found) if isinstance(found, str) else found for found in (one.attrs.get(key), have.attrs.get(key))]
                lost = key == "units" and pair[0] is None  # computing with xarray drops attributes
                if not lost and not _is_equal(*pair):
                    text = f"attribute {key} is {one.attrs.get(key)!r}, in the file {have.attrs.get(key)!r}"
                    raise ConflictError(text, file=path, object=what)
            if append_dim is not None and append_dim not in one.dims:
                if not _is_equal(np.asarray(one.values), have[...]):
                    raise ConflictError(f"the values differ from those in the file, and do not have {append_dim!r}", file=path, object=what)
                del node.variables[name]
        grows_too = [name for name in block if append_dim in block[name].dims and name not in node.variables]
        if append_dim is not None and grows_too:
            raise MissingError(f"append_dim: the data set lacks {grows_too[0]!r}, which grows too", file=path, object=node.name)


def _padded(one: Encoded, dims: tuple[str, ...], shape: tuple[int, ...], what: str) -> Encoded:
    """Texts of the length that the file has."""
    if one.dims[:-1] != dims[:-1] or one.values.dtype != _stored.CHAR or not dims:
        return one
    missing = shape[-1] - one.values.shape[-1]
    if missing < 0:
        raise RangeError(f"found a text of {one.values.shape[-1]} bytes, expected at most {shape[-1]}", object=what)
    values = one.values
    if missing:
        if _is_lazy(values):
            import dask.array

            zeros = dask.array.zeros((*values.shape[:-1], missing), dtype="S1")  # type: ignore[attr-defined,no-untyped-call,unused-ignore]
            values = dask.array.concatenate([values, zeros], axis=-1).rechunk({values.ndim - 1: -1})  # type: ignore[attr-defined,no-untyped-call,unused-ignore]
        else:
            values = np.concatenate([values, np.zeros((*values.shape[:-1], missing), "S1")], axis=-1)
    return Encoded(dims, values, one.attrs)


def _is_equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    if isinstance(a, str) or isinstance(b, str):
        return bool(isinstance(a, str) and isinstance(b, str) and a == b)
    first, second = np.asarray(a), np.asarray(b)
    if first.dtype.kind == "f" and second.dtype.kind == "f":
        return bool(np.array_equal(first, second, equal_nan=True))
    return bool(np.array_equal(first, second))


# --- writing ---


def _write(job: _Job, parts: Parts | None) -> None:
    """Writes everything as one commit."""
    with Writer(job.path, job.mode, **job.options) as out:
        todo = []
        for node in job.nodes:
            block = out.block(node.name)
            if job.append_dim is None and job.region is None:
                _define(block, node)
            starts = _starts(job, block)
            for name, one in node.variables.items():
                todo.append((block[name], one, [starts.get(dim, 0) for dim in one.dims]))
        if parts is not None:
            _write_marker(parts, {name: variable[2] for variable in todo for name in [variable[0].full_name]})
        lazy = []
        for variable, one, start in todo:
            if isinstance(one.values, _Shape):
                continue
            if _is_lazy(one.values):
                lazy.append((variable, one, start))
            elif one.values.size:
                variable[_slices(start, one.values.shape)] = one.values
        if lazy:
            _store(lazy)
        if parts is not None:
            _put_parts(parts, {variable.full_name: (variable, one, start) for variable, one, start in todo})


def _define(block: WriterBlock, node: _Node) -> None:
    for key, value in node.attrs.items():
        block.attrs[key] = value
    for name, one in node.variables.items():
        lengths = {dim: None if dim in node.unlimited else n for dim, n in zip(one.dims, one.values.shape)}
        for dim in set(one.dims) & block.unlimited - set(node.unlimited):
            if block.dims[dim] != lengths[dim]:
                text = f'dimension "{dim}" has {lengths[dim]} positions, in the file {block.dims[dim]}'
                raise ConflictError(text, file=block.writer.path, object=f"{block.name}/{name}")
            lengths[dim] = None
        block.variable(name, one.values.dtype, lengths, one.attrs)


def _starts(job: _Job, block: WriterBlock) -> dict[str, int]:
    """Where the values begin along the dimensions that are not written from their beginning."""
    if job.append_dim is not None:
        return {job.append_dim: block.dims[job.append_dim]}
    return {dim: start for dim, (start, _) in (job.region or {}).items()}


def _slices(start: list[int], shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(first, first + length) for first, length in zip(start, shape))


def _store(lazy: list[Any]) -> None:
    import dask.array

    # The writer takes one chunk after the other.
    dask.array.store(  # type: ignore[attr-defined,no-untyped-call,unused-ignore]
        [one.values for _, one, _ in lazy],
        [variable for variable, _, _ in lazy],
        regions=[_slices(start, one.values.shape) for _, one, start in lazy],
        lock=False,
        compute=True,
    )


# --- by several processes ---

_MARKER = ".begun"


class _PartTarget:
    """Gets the chunks of a lazy variable, each of which becomes a part."""

    def __init__(self, parts: Parts, number: int, name: str) -> None:
        self._parts = parts
        self._number = number
        self._name = name

    def __setitem__(self, key: Any, values: Any) -> None:
        array = np.asarray(values)
        start = [part.start or 0 for part in (key if isinstance(key, tuple) else (key,)) if isinstance(part, slice)]
        if not array.size:
            return
        attrs = {"variable": self._name, **({"start": np.array(start, "i8")} if start else {})}
        with self._parts.writer((self._number, *start), sync=False) as out:
            out.block("part", {"values": array}, attrs=attrs)


def _begin(parts: Parts) -> Parts:
    os.makedirs(parts.folder, exist_ok=True)
    return parts


def _finish(job: _Job, parts: Parts, stored: Any) -> None:
    """Makes the file of the parts. Runs again if its worker was killed, and then finds what it had done."""
    if not _is_done(job, parts):
        _write(job, parts)
    parts.discard()


def _with_parts(job: _Job, lazy: list[tuple[int, str]], compute: bool) -> Any:
    import dask
    import dask.array

    folder = f"{job.path}.{uuid.uuid4().hex[:12]}.parts"
    parts = Parts(job.path, folder, make=False)
    begun = dask.delayed(_begin, pure=False)(parts)  # type: ignore[attr-defined,unused-ignore]
    sources, targets = [], []
    for number, (n, name) in enumerate(lazy):
        node = job.nodes[n]
        one = node.variables[name]
        sources.append(one.values)
        full = f"{node.name}/{name}" if node.name else name
        targets.append(dask.delayed(_PartTarget, pure=False)(begun, number, full))  # type: ignore[attr-defined,unused-ignore]
        node.variables[name] = one._replace(values=_Shape(one.values.shape, one.values.dtype))
    stored = None
    if sources:
        stored = dask.array.store(sources, targets, lock=False, compute=False)  # type: ignore[attr-defined,no-untyped-call,unused-ignore]
    finished = dask.delayed(_finish, pure=False)(job, begun, stored)  # type: ignore[attr-defined,unused-ignore]
    if not compute:
        return finished
    try:
        finished.compute()
    except BaseException:
        parts.discard()
        raise
    return None


def _write_marker(parts: Parts, starts: dict[str, list[int]]) -> None:
    """Says that a commit may follow, and where its values begin."""
    path = os.path.join(parts.folder, _MARKER)
    with open(path + ".new", "w") as file:
        json.dump(starts, file)
    os.replace(path + ".new", path)


def _parts_of(parts: Parts) -> Any:
    """The values of each part, the name of its variable, and where they begin."""
    for key in parts.keys():
        with open_file(parts.part_path(key)) as file:
            block = file["part"]
            values = block["values"][...]
            start = np.atleast_1d(block.attrs.get("start", [])).astype(int).tolist()
            yield str(block.attrs["variable"]), start, np.asarray(values)


def _put_parts(parts: Parts, variables: dict[str, Any]) -> None:
    written = dict.fromkeys(variables, 0)
    for name, start, values in _parts_of(parts):
        variable, _, first = variables[name]
        variable[_slices([a + b for a, b in zip(start, first)], values.shape)] = values
        written[name] += values.size
    for name, (_, one, _) in variables.items():
        if isinstance(one.values, _Shape) and written[name] != int(np.prod(one.values.shape)):
            expected = int(np.prod(one.values.shape))
            raise MissingError(f"found {written[name]} of {expected} values in the parts", file=parts.folder, object=name)


def _is_done(job: _Job, parts: Parts) -> bool:
    """Whether an earlier run committed: the file has all values at the places where that run would have put them."""
    if job.mode == "w":
        return False  # what is there may be the file that is to be replaced
    try:
        with open(os.path.join(parts.folder, _MARKER)) as marker:
            starts = json.load(marker)
        with open_file(job.path) as file:
            for node in job.nodes:
                block = file.block(node.name)
                for name, one in node.variables.items():
                    variable = block[name]
                    if isinstance(one.values, _Shape):
                        continue
                    slab = _slices(starts[variable.full_name], one.values.shape)
                    if not _is_equal(variable[slab], one.values):
                        return False
            for name, start, values in _parts_of(parts):
                first = starts[name]
                if not _is_equal(file.variable(name)[_slices([a + b for a, b in zip(start, first)], values.shape)], values):
                    return False
            return True
    except (FileNotFoundError, MissingFileError, MissingError):
        return False


__all__ = ["encoded", "to_nmb"]
