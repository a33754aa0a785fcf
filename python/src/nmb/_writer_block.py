"""Blocks that are written, their variables and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _region, _selection, _stored
from ._attributes import Attributes
from ._errors import ConflictError, ExistsError, MissingError, SelectionError, UnsupportedError, UsageError
from ._variable import Variable

if TYPE_CHECKING:
    from ._writer import Writer

Values = Any


class WriterAttributes(MutableMapping[str, Any]):
    """Attributes that can be set: a mapping from names to values. Text, numbers of numpy and Python, and arrays and lists of
    numbers in one dimension; numbers keep their type (a Python int is an int64). Safe for threads::

        >>> block = out.block("station/east")
        >>> block.attrs["title"] = "east"
        >>> block.attrs["levels"] = np.array([1, 2], "i2")
        >>> dict(block.attrs)
        {'title': 'east', 'levels': array([1, 2], dtype=int16)}

    Errors: ``UnsupportedError`` for other values; ``MissingError``, a ``KeyError``."""

    def __init__(self, block: WriterBlock, variable: WriterVariable | None = None) -> None:
        self._block = block
        self._variable = variable

    @property
    def _owner(self) -> str:
        return self._block.name if self._variable is None else self._variable.full_name

    def _all(self) -> Attributes:
        with self._block.writer._use() as native:
            name = None if self._variable is None else self._variable.name
            handles = native.attributes(self._block._number, name)
        return Attributes(handles, self._owner, self._block.writer.path)

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        _stored.check_name(name, "attribute", self._owner)
        dtype = None if self._variable is None else self._variable.dtype
        kind, stored = _stored.attribute_of(name, value, dtype, self._owner)
        with self._block.writer._use() as native:
            number = None if self._variable is None else self._variable._number
            native.set_attribute(self._block._number, number, name, kind, stored)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise MissingError(f'found no attribute "{name}"', file=self._block.writer.path, object=self._owner)
        with self._block.writer._use() as native:
            number = None if self._variable is None else self._variable._number
            native.remove_attribute(self._block._number, number, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(dict(self))


class WriterVariable:
    """A variable that is written. An assignment to integers and slices writes values, which are broadcast as numpy does. Along
    an unlimited dimension it adds records; ``v[3:] = values`` writes as many records as there are values::

        >>> t = out.block("station/east").variable("t", "f4", {"time": None, "x": 2})
        >>> t[0:2] = [[1, 2], [3, 4]]
        >>> t.append([5, 6])
        >>> t[1:, 0]
        array([3., 5.], dtype=float32)

    Values are converted to the type of the variable. Floats may lose digits; any other number that does not fit is a
    ``RangeError``, an ``OverflowError``, and then nothing is written. Masked values become fill values. Texts go to characters
    (``S1``) along the last dimension, and are not indexed there. The values are copied or written when the call returns.

    Several threads may write to the same variable; their calls take turns. Errors: ``SelectionError``, an ``IndexError``;
    ``RangeError``; ``UnsupportedError`` for values of another kind; ``NoSpaceError``."""

    def __init__(self, block: WriterBlock, name: str, number: int, dtype: np.dtype[Any], dims: tuple[str, ...]) -> None:
        self._block = block
        self._name = name
        self._number = number
        self._dtype = dtype
        self._dims = dims

    @property
    def name(self) -> str:
        """The name without that of the block."""
        return self._name

    @property
    def full_name(self) -> str:
        """``BLOCK/NAME``; in the root block ``NAME``."""
        return f"{self._block.name}/{self._name}" if self._block.name else self._name

    @property
    def block(self) -> WriterBlock:
        """The block of the variable."""
        return self._block

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._dtype

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions, slowest first."""
        return self._dims

    @property
    def shape(self) -> tuple[int, ...]:
        """The present lengths of the dimensions, slowest first."""
        lengths = self._block.dims
        return tuple(lengths[dim] for dim in self._dims)

    @property
    def attrs(self) -> WriterAttributes:
        """The attributes; they can be set."""
        return WriterAttributes(self._block, self)

    @property
    def _grows(self) -> bool:
        return bool(self._dims) and self._block._dimensions()[self._dims[0]] is None

    def _prepared(self, values: Values) -> tuple[Any, int]:
        """The values in the type of the variable, and the number of dimensions that an index has."""
        array = _stored.as_array(values, self.full_name)
        if self._dtype == _stored.CHAR and _stored.is_text(array):
            if not self._dims:
                raise UnsupportedError("a variable of one character holds no texts", object=self.full_name)
            last = self._block.dims[self._dims[-1]]
            if len(self._dims) == 1 and self._grows:
                raise UnsupportedError("a record of one character holds no texts", object=self.full_name)
            return _stored.characters_of(array, self.full_name, last), len(self._dims) - 1
        if np.ma.is_masked(array):
            fill = self.attrs.get("_FillValue")
            array = _stored.filled(array, self._dtype, fill, self.full_name)
        elif array.dtype.kind not in "biufS":
            if array.size == 0 and array.dtype.kind == "O":
                array = array.astype(self._dtype)
            else:
                _stored.storable_dtype(array.dtype, self.full_name)
        return _stored.cast(np.ma.getdata(array), self._dtype, self.full_name), len(self._dims)

    def _slab_for(self, key: Any, values: Values) -> tuple[list[int], list[int], list[int], Any]:
        try:
            array, rank = self._prepared(values)
            shape = self.shape
            region = _region.region_of(key, shape[:rank], self._grows)
            text = array.shape[-1:] if rank < len(shape) else ()
            have = array.shape[: array.ndim - len(text)]
            counts, target = _region.with_values(region, have, shape[0] if shape else 0, self.full_name)
        except SelectionError as error:
            error.file, error.object = self._block.writer.path, self.full_name
            raise
        extra = len(have) - len(target)
        array = array.reshape(array.shape[extra:]) if extra > 0 else array
        array = np.broadcast_to(array, target + text)
        start, stride = region.starts + [0] * len(text), region.strides + [1] * len(text)
        return start, counts + list(text), stride, _stored.contiguous(array, self._dtype)

    def __setitem__(self, key: Any, values: Values) -> None:
        writer = self._block.writer
        with writer._use():
            start, count, stride, array = self._slab_for(key, values)
            self._note_end(start, count, stride)
            if array.size:
                writer._put(self, start, count, stride, array)

    def append(self, values: Values) -> None:
        """Writes records behind the last one of this variable: one, or several if ``values`` has the first dimension too.

        The last record is that which the block had when the writer first wrote records to it, or a later one that was written to
        this variable, so that several variables grow side by side. Not with several ranks, none of which knows what the others
        append: assign to ``v[i]`` there.

        Args:
            values: an array of the shape of a record, or of several.
        Errors: those of an assignment; ``UsageError`` if the variable has no unlimited dimension.
        """
        writer = self._block.writer
        with writer._use():
            if not self._grows:
                raise UsageError("the variable has no unlimited dimension", file=writer.path, object=self.full_name)
            if writer._is_shared:
                raise UsageError("several ranks do not append: assign to v[i]", file=writer.path, object=self.full_name)
            array = _stored.as_array(values, self.full_name)
            rank = len(self._dims) - (1 if self._dtype == _stored.CHAR and _stored.is_text(array) else 0)
            if array.ndim not in (rank - 1, rank) or array.shape[array.ndim - rank + 1 :] != self.shape[1:rank]:
                raise SelectionError(
                    f"values of shape {array.shape} are no records of shape {self.shape[1:rank]}",
                    file=writer.path,
                    object=self.full_name,
                )
            at = self._end()
            self[at if array.ndim < rank else slice(at, at + array.shape[0])] = array

    def _end(self) -> int:
        writer, key = self._block.writer, (self._block.name, self._name)
        if key not in writer._ends:
            writer._ends[key] = self._block._first_records()
        return writer._ends[key]

    def _note_end(self, start: list[int], count: list[int], stride: list[int]) -> None:
        if self._grows and not self._block.writer._is_shared and all(count):
            end = start[0] + (count[0] - 1) * stride[0] + 1
            self._block.writer._ends[self._block.name, self._name] = max(self._end(), end)

    def put_all(self, key: Any = None, values: Values = None) -> None:
        """Writes values together with the other ranks: collective. Each rank passes its own part, or nothing. Where parts
        overlap, those of the highest rank stay; values that are the same on all ranks are written once.

        Args:
            key: what stands in brackets in an assignment.
            values: the values; None for a rank that has none.
        Errors: those of an assignment, on all ranks.
        """
        writer = self._block.writer
        with writer._use() as native:
            writer._put_waiting()
            kind = _stored.number_of(self._dtype)
            if values is None:
                native.put(self._number, kind, [], [], [], None, True, self.full_name)
                return
            with writer._collective():
                start, count, stride, array = self._slab_for(key, values)
            self._note_end(start, count, stride)
            native.put(self._number, kind, start, count, stride, array, True, self.full_name)

    def __getitem__(self, key: Any) -> Any:
        """Reads what has been written so far, also without a commit, with integers and slices."""
        writer = self._block.writer
        with writer._use() as native:
            found = _selection.slab_of(key, self.shape)
            if found is None:
                raise SelectionError("a writer reads integers and slices", file=writer.path, object=self.full_name)
            writer._put_waiting()
            kind = _stored.number_of(self._dtype)
            array = native.get(self._number, kind, *found[0], self.full_name)
        return array[found[1]]

    def __len__(self) -> int:
        if not self._dims:
            raise TypeError("a variable without dimensions has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Any:
        for i in range(len(self)):
            yield self[i]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{dim}: {length}" for dim, length in zip(self._dims, self.shape))
        return f"<nmb.WriterVariable {self.full_name} ({sizes}) {self._dtype}>"


class WriterBlock:
    """A block that is written: a mapping from names to variables, like ``nmb.Block``. ``block[name] = values`` defines a variable
    and writes it; ``values`` is an array, or a tuple of names of dimensions, array and attributes, as for xarray::

        >>> block = out.block("station/east")
        >>> block["height"] = ("level", [10.0, 50.0], {"units": "m"})
        >>> block["code"] = np.int32(7)
        >>> block.dims, block["height"].dtype
        ({'level': 2}, dtype('float64'))

    An array alone gets dimensions of its own: ``NAME_0``, ``NAME_1`` and so on. Texts are stored as characters in UTF-8 along a
    last dimension ``stringN``, and ``v.strings()`` reads them. The dimensions and variables of a block have at least one value;
    only the unlimited dimension may have no records.

    Several threads may use the same block; their calls take turns. Errors: ``ExistsError`` for a variable that exists already;
    ``ConflictError`` if a dimension would have two lengths; ``UnsupportedError`` for types that cannot be written."""

    def __init__(self, writer: Writer, name: str, number: int) -> None:
        self._writer = writer
        self._name = name
        self._number = number
        self._lengths: dict[str, int | None] | None = None
        self._variables: dict[str, WriterVariable] | None = None

    @property
    def name(self) -> str:
        """The name; that of the root block is empty."""
        return self._name

    @property
    def writer(self) -> Writer:
        """The writer of the block."""
        return self._writer

    @property
    def attrs(self) -> WriterAttributes:
        """The attributes of the block; they can be set."""
        return WriterAttributes(self)

    def _dimensions(self) -> dict[str, int | None]:
        """The lengths of the dimensions; None for the unlimited one."""
        if self._lengths is None:
            with self._writer._use() as native:
                dims = native.dimensions(self._number)
            self._lengths = {name: None if grows else length for name, length, grows in dims}
        return self._lengths

    @property
    def dims(self) -> dict[str, int]:
        """The present lengths of the dimensions, by name."""
        return {name: self._records() if length is None else length for name, length in self._dimensions().items()}

    @property
    def unlimited(self) -> frozenset[str]:
        """The name of the dimension that may grow, if there is one."""
        return frozenset(name for name, length in self._dimensions().items() if length is None)

    def _records(self) -> int:
        with self._writer._use() as native:
            waiting = self._writer._waiting_records.get(self._number, 0)
            return max(waiting, int(native.records(self._number)))

    def _present(self, dim: str) -> int:
        """The records of the block if this is its unlimited dimension; 0 for a new one."""
        return self._records() if dim in self._dimensions() else 0

    def _first_records(self) -> int:
        """The records that the block had before this writer wrote any."""
        return self._writer._first_records.setdefault(self._name, self._records())

    def _all(self) -> dict[str, WriterVariable]:
        if self._variables is None:
            with self._writer._use() as native:
                found = native.variables(self._number)
            self._variables = {
                name: WriterVariable(self, name, number, _stored.DTYPES[kind], dims) for name, number, kind, dims in found
            }
        return self._variables

    # --- definitions ---

    def dimension(self, name: str, length: int | None) -> None:
        """Defines a dimension.

        Args:
            name: the name.
            length: at least 1; None for the unlimited dimension, of which a block has at most one.
        Errors: ``ExistsError``, ``UsageError``.
        """
        _stored.check_name(name, "dimension", self._name)
        with self._writer._use() as native:
            lengths = self._dimensions()
            native.define_dim(self._number, name, None if length is None else _length(name, length, self._name))
            lengths[name] = length

    def variable(
        self,
        name: str,
        dtype: Any,
        dims: Iterable[str] | Mapping[str, int | None] | str = (),
        attrs: Mapping[str, Any] | None = None,
    ) -> WriterVariable:
        """Defines a variable without values; what is never written is the fill value.

        Args:
            name: the name.
            dtype: a type of numbers, or "S1" for characters. "S12" adds a dimension ``string12`` for texts of at most 12 bytes.
            dims: names of dimensions, slowest first; or a mapping to their lengths, which defines those that do not exist, with
                None for the unlimited one, which must be the first.
            attrs: the attributes.
        Errors: ``ExistsError``; ``MissingError`` for an unknown dimension; ``ConflictError`` for another length than it has;
        ``UnsupportedError`` for a type that cannot be written.
        """
        full = f"{self._name}/{name}" if self._name else name
        found = np.dtype(dtype)
        lengths: dict[str, int | None] = dict(dims) if isinstance(dims, Mapping) else {}
        names = [dims] if isinstance(dims, str) else list(dims)
        if found.kind == "S" and found.itemsize > 1 or found.kind == "U":
            if not found.itemsize:
                raise UnsupportedError('texts need a length: use "S12" for at most 12 bytes', object=full)
            wide = found.itemsize
            names.append(f"string{wide}")
            lengths[names[-1]] = wide
            found = _stored.CHAR
            attrs = {**(attrs or {}), "_Encoding": "utf-8"}
        found = _stored.storable_dtype(found, full)
        plan = _Plan(self, ())
        plan.add(name, found, names, lengths, None, attrs or {})
        return plan.define()[0]

    def __setitem__(self, name: str, values: Values) -> None:
        self._write({name: values}, ())

    def _write(self, variables: Mapping[str, Any], unlimited: Iterable[str]) -> None:
        """Defines variables and writes their values. Nothing changes if some of them cannot be written."""
        with self._writer._use():
            plan = _Plan(self, unlimited)
            for name, one in variables.items():
                plan.add_values(name, one)
            plan.check_unlimited()
            plan.write()

    # --- what it has ---

    def __getitem__(self, name: str) -> WriterVariable:
        found = self._all().get(name)
        if found is None:
            raise MissingError(f'found no variable "{name}"', file=self._writer.path, object=self._name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def keys(self) -> Any:
        """The names of the variables."""
        return self._all().keys()

    def values(self) -> Any:
        """The variables."""
        return self._all().values()

    def items(self) -> Any:
        """The names and the variables."""
        return self._all().items()

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<nmb.WriterBlock {self._name!r}: {', '.join(self._all())}>"


class _Plan:
    """Definitions and values that are checked before any of them is written."""

    def __init__(self, block: WriterBlock, unlimited: Iterable[str]) -> None:
        self._block = block
        self._unlimited = [unlimited] if isinstance(unlimited, str) else list(unlimited)
        self._known = block._dimensions()
        self._lengths: dict[str, int | None] = {}
        self._records: dict[str, int] = {}
        self._variables: list[tuple[str, np.dtype[Any], list[str], list[Any], Any]] = []

    def _full(self, name: str) -> str:
        return f"{self._block.name}/{name}" if self._block.name else name

    def add_values(self, name: str, values: Any) -> None:
        dims, data, attrs = _parts_of_values(name, values, self._full(str(name)))
        full = self._full(name)
        array = _stored.as_array(data, full)
        if dims is None:
            dims = [f"{name}_{i}" for i in range(array.ndim)]
        if len(dims) != array.ndim:
            raise UsageError(f"found {len(dims)} names for {array.ndim} dimensions", object=full)
        lengths: dict[str, int | None] = dict(zip(dims, array.shape))
        if _stored.is_text(array):
            array = _stored.characters_of(array, full)
            dims = [*dims, f"string{array.shape[-1]}"]
            lengths[dims[-1]] = array.shape[-1]
            attrs = {**attrs, "_Encoding": "utf-8"}
        dtype = _stored.storable_dtype(array.dtype, full)
        if np.ma.is_masked(array):
            fill = attrs.get("_FillValue")
            if fill is not None:
                fill = _stored.cast(np.asarray(fill), dtype, full).reshape(-1)[0]
            array = _stored.filled(array, dtype, fill, full)
        for dim in dims:
            if dim in self._unlimited or (dim in self._known and self._known[dim] is None):
                have = self._records.setdefault(dim, self._block._present(dim) or int(lengths[dim] or 0))
                if have != lengths[dim]:
                    raise ConflictError(f'dimension "{dim}" has the lengths {have} and {lengths[dim]}', object=full)
                lengths[dim] = None
        self.add(name, dtype, dims, lengths, np.ma.getdata(array), attrs)

    def add(
        self, name: str, dtype: np.dtype[Any], dims: list[str], lengths: Mapping[str, int | None], array: Any, attrs: Any
    ) -> None:
        block, full = self._block, self._full(str(name))
        _stored.check_name(name, "variable", block.name)
        if name in block or any(name == one[0] for one in self._variables):
            raise ExistsError("the variable exists", file=block.writer.path, object=full)
        if len(set(dims)) != len(dims):
            raise UsageError(f"a dimension stands twice in {tuple(dims)}", object=full)
        known = self._known
        for axis, dim in enumerate(dims):
            _stored.check_name(dim, "dimension", full)
            have = known[dim] if dim in known else self._lengths.get(dim, lengths.get(dim, _UNKNOWN))
            if have is _UNKNOWN:
                raise MissingError(f'found no dimension "{dim}"', file=block.writer.path, object=full)
            length = lengths.get(dim, have)
            if length != have:
                raise ConflictError(f'dimension "{dim}" has the lengths {_shown(have)} and {_shown(length)}', object=full)
            if dim not in known:
                self._lengths[dim] = None if length is None else _length(dim, length, full)
            if length is None and axis:
                raise UnsupportedError(f'the unlimited dimension "{dim}" must be the first of {tuple(dims)}', object=full)
        unlimited = {dim for dim, length in {**known, **self._lengths}.items() if length is None}
        if len(unlimited) > 1:
            raise UnsupportedError(f"a block has at most one unlimited dimension, not {sorted(unlimited)}", object=full)
        if not isinstance(attrs, Mapping):
            raise UsageError("attributes are a mapping from names to values", object=full)
        stored = []
        for key, value in attrs.items():
            stored.append((_stored.check_name(key, "attribute", full), *_stored.attribute_of(key, value, dtype, full)))
        self._variables.append((name, dtype, dims, stored, array))

    def check_unlimited(self) -> None:
        """Fails for a name that no variable has."""
        for dim in self._unlimited:
            if dim not in self._lengths and dim not in self._block._dimensions():
                raise MissingError(f'found no dimension "{dim}"', file=self._block.writer.path, object=self._block.name)

    def define(self) -> list[WriterVariable]:
        block = self._block
        out = []
        with block.writer._use() as native:
            all_lengths, all_variables = block._dimensions(), block._all()
            for dim, length in self._lengths.items():
                native.define_dim(block._number, dim, length)
                all_lengths[dim] = length
            for name, dtype, dims, attrs, _ in self._variables:
                number = native.define_variable(block._number, name, _stored.number_of(dtype), dims)
                for key, kind, value in attrs:
                    native.set_attribute(block._number, number, key, kind, value)
                all_variables[name] = WriterVariable(block, name, number, dtype, tuple(dims))
                out.append(all_variables[name])
        return out

    def write(self) -> None:
        for variable, (_, dtype, _, _, array) in zip(self.define(), self._variables):
            count = list(array.shape)
            start = [0] * len(count)
            variable._note_end(start, count, [1] * len(count))
            if array.size:
                stored = _stored.contiguous(array, dtype)
                variable.block.writer._put(variable, start, count, [1] * len(count), stored, may_wait=True)


_UNKNOWN: Any = object()


def _shown(length: Any) -> str:
    return "unlimited" if length is None else str(length)


def _length(name: str, length: Any, owner: str) -> int:
    number = int(length)
    if number != length or number < 1:
        text = f'dimension "{name}" has the length {length}; it must be at least 1'
        raise UnsupportedError(text + (", or unlimited" if number == 0 else ""), object=owner)
    return number


def _parts_of_values(name: Any, values: Any, full: str) -> tuple[list[str] | None, Any, Mapping[str, Any]]:
    """The names of the dimensions (None: of its own), the array and the attributes of what a caller passes."""
    if isinstance(values, tuple):
        if not 2 <= len(values) <= 4:
            raise UsageError("expected an array, or a tuple of dimensions, array and attributes", object=full)
        dims, data = values[0], values[1]
        attrs = values[2] if len(values) > 2 and values[2] is not None else {}
        if len(values) > 3 and values[3]:
            raise UnsupportedError("an encoding is applied by nmb.xarray.to_nmb", object=full)
        if not isinstance(dims, (str, tuple, list)):
            raise UsageError("expected the names of dimensions before the array, and (dims, array) as a tuple", object=full)
        return [dims] if isinstance(dims, str) else list(dims), data, attrs
    if isinstance(values, Variable):
        return list(values.dims), values[...], values.attrs
    if all(hasattr(values, part) for part in ("dims", "attrs", "values")):  # a DataArray or a Variable of xarray
        return [str(dim) for dim in values.dims], values.values, dict(values.attrs)
    if isinstance(values, Mapping):
        raise UsageError("expected an array, found a mapping: a block has no blocks inside; use a name with /", object=full)
    return None, values, {}
