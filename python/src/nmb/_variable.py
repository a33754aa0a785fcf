"""Variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _decode, _display, _selection, _types
from ._attributes import Attributes
from ._cached import cached_property
from ._errors import SelectionError
from ._handles import Epoch
from ._reports import Statistics, Storage
from ._threads import thread_count

if TYPE_CHECKING:
    from ._block import Block


class OuterIndex:
    """``v.oindex[...]``: each index selects along its own dimension, whatever the others are (as in zarr). Safe for threads."""

    __slots__ = ("_variable",)

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def __getitem__(self, key: Any) -> Any:
        v = self._variable
        try:
            return _selection.read_outer(key, v.shape, v._read_slabs, v.dtype)
        except SelectionError as error:
            v._name_in(error)
            raise


class Variable:
    """A variable of a block. Indexing reads values as numpy would select them: with slices, negative steps, integers, arrays of
    integers and masks, but not with ``newaxis``::

        >>> v = f["station/north/wind"]
        >>> v.shape, v.dims, str(v.dtype)
        ((2, 4), ('component', 'time'), 'float32')
        >>> v[0, ::-1]
        array([3., 2., 1., 0.], dtype=float32)
        >>> v[:, [3, 0]]
        array([[3., 0.],
               [7., 4.]], dtype=float32)

    Every result is a new array in C order that owns its memory, in the byte order of this machine; a single value is a scalar
    of numpy. Text of fixed length has dtype ``S``; strings and references are objects of type ``str``, sequences are objects of
    type array.

    Variables may be used by several threads and after a fork, and can be pickled. Errors: ``SelectionError``, an
    ``IndexError``; ``DamagedError`` if a checksum is wrong; ``UnsupportedError`` for a filter that is not known."""

    def __init__(self, block: Block, name: str, handle: Any) -> None:
        self._block = block
        self._name = name
        self._handle = handle
        self._epoch = Epoch.now

    def _native(self) -> Any:
        if self._epoch != Epoch.now:
            self._handle = self._block._native().variable(self._name)
            self._epoch = Epoch.now
        return self._handle

    # --- what the definitions say ---

    @property
    def name(self) -> str:
        """The name without that of the block."""
        return self._name

    @property
    def full_name(self) -> str:
        """``BLOCK/NAME``; in the root block ``NAME``."""
        return f"{self._block.name}/{self._name}" if self._block.name else self._name

    @property
    def block(self) -> Block:
        """The block of the variable."""
        return self._block

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions, slowest first."""
        shape: tuple[int, ...] = self._native().shape
        return shape

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values that are read, in the byte order of this machine."""
        dtype: np.dtype[Any] = self._native().dtype
        return dtype

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions, slowest first."""
        dims: tuple[str, ...] = self._native().dimensions()
        return dims

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values."""
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def nbytes(self) -> int:
        """The number of bytes of all values in memory."""
        return self.size * self.dtype.itemsize

    @cached_property
    def attrs(self) -> Attributes:
        """The attributes: a mapping from names to values of numpy or ``str``."""
        return Attributes(self._native().attributes(), self.full_name, self._block.file.path)

    @cached_property
    def _fill(self) -> tuple[Any, str]:
        fill: tuple[Any, str] = self._native().fill()
        return fill

    @property
    def fill_value(self) -> Any:
        """The value that stands for missing ones: ``_FillValue``, or the fill value that an HDF5 data set has, or the default
        (netCDF's; zero for variables from HDF5)."""
        return self._fill[0]

    @property
    def enum(self) -> dict[str, int] | None:
        """The names of an enum's values; None for other types."""
        return _types.enum_of(self.dtype)

    @cached_property
    def storage(self) -> Storage:
        """How the file stores the values: chunks, filters, byte order."""
        little, chunk, filters, is_null = self._native().stored()
        return Storage("little" if little else "big", chunk or None, filters, is_null)

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The lengths of a chunk; None if the values are not stored in chunks."""
        return self.storage.chunks

    # --- values ---

    def _read_slabs(self, slabs: list[_selection.Slab]) -> list[Any]:
        if len(slabs) == 1:
            start, count, stride = slabs[0]
            return [self._native().read(start, count, stride, None)]
        block = self._block._native()
        items = [(block, self._name, slab, None) for slab in slabs]
        out: list[Any] = _core.read_many(self._block._state.native(), items, 1)
        return out

    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis:
            return self._native().read(None, [], [], None)
        if isinstance(key, str):
            return self[...][key]
        try:
            return _selection.read(key, self.shape, self._read_slabs, self.dtype)
        except SelectionError as error:
            self._name_in(error)
            raise

    def _name_in(self, error: SelectionError) -> None:
        error.file, error.object = self._block.file.path, self.full_name

    @property
    def oindex(self) -> OuterIndex:
        """Indexes each dimension by itself::

            >>> f["station/north/wind"].oindex[[0, 1], [0, 3]]
            array([[0., 3.],
                   [4., 7.]], dtype=float32)
        """
        return OuterIndex(self)

    def read(
        self,
        slab: Any = None,
        *,
        out: np.ndarray[Any, Any] | None = None,
        masked: bool = False,
        decode: bool = False,
    ) -> Any:
        """Reads all values, or those that ``slab`` selects as in ``v[slab]``::

            >>> v = f["station/north/temperature"]
            >>> v.read(slice(0, 2), out=np.empty(2))
            array([280., 281.])
            >>> v.read(masked=True).sum().tolist()
            1126.0

        Args:
            slab: what would stand in brackets; None for all values.
            out: an array of the result's shape, which gets the values and is returned. Values are cast if that loses no more than
                digits of floats. An array in C order with the variable's dtype is filled without a copy.
            masked: returns a masked array, which ``out`` must be, too. Missing are ``_FillValue`` and the values of
                ``missing_value``; without ``_FillValue``, netCDF's default for types of two bytes or more. ``valid_min``,
                ``valid_max`` and ``valid_range`` are not applied.
            decode: applies ``_Unsigned``, ``scale_factor`` and ``add_offset``. Without ``masked``, missing values become NaN;
                integers with ``_FillValue`` or ``missing_value`` become floats for this. Times stay numbers; xarray decodes them.

        Errors: ``SelectionError``, ``UsageError``; ``DamagedError`` if a checksum is wrong; ``UnsupportedError`` for a filter
        that is not known.
        """
        if out is not None and not (masked or decode):
            basic = _selection.slab_of(Ellipsis if slab is None else slab, self.shape)
            if (
                basic is not None
                and all(part == slice(None) for part in basic[1] if part is not Ellipsis)
                and _selection.is_plain(out)
                and out.dtype == self.dtype
                and out.shape == tuple(basic[0][1])
            ):
                return self._native().read(*basic[0], out)
        values = self[...] if slab is None else self[slab]
        if masked or decode:
            fill, fill_from = self._fill
            values = _decode.decode(np.asarray(values), self.attrs, fill, fill_from, masked, decode)
        if out is None:
            return values
        return _selection.store(values, out)

    def strings(self, slab: Any = None) -> Any:
        """Reads text as an array of ``str`` (dtype object). Characters are joined along the last dimension, which the result does
        not have; zeros at the end are left out. Raises ``TypeError`` if the values are not text."""
        values = np.asarray(self[...] if slab is None else self[slab])
        return _types.strings_of(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a variable is read from a file; an array of it is always a copy")
        values: np.ndarray[Any, Any] = self[...]
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a variable without dimensions has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Any:
        for i in range(len(self)):
            yield self[i]

    @property
    def stats(self) -> Statistics | None:
        """The statistics that the file has of the values, without reading them; None if it has none::

            >>> f["station/north/temperature"].stats
            <nmb.Statistics: elements=4, missing=0, nans=0, minimum=280.0, maximum=283.0>
        """
        found: Statistics | None = self._native().statistics()
        return found

    def compute_stats(self, level: str = "basic", threads: int | None = None) -> Statistics:
        """Computes statistics from the values, with their mean and standard deviation::

            >>> f["station/north/temperature"].compute_stats().mean
            281.5

        Args:
            level: "basic", "histogram" or "parts"; each includes those before it.
            threads: the number of threads; None for all processors.
        Errors: those of reading.
        """
        levels = ("none", "basic", "histogram", "parts")
        if level not in levels[1:]:
            raise SelectionError(f"found level {level!r}, expected one of {levels[1:]}")
        found: Statistics = self._native().compute_statistics(levels.index(level), thread_count(threads))
        return found

    # --- other ---

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variable) and (self._block, self._name) == (other._block, other._name)

    def __hash__(self) -> int:
        return hash((self._block, self._name))

    def __reduce__(self) -> Any:
        return _variable_again, (self._block, self._name)

    def __repr__(self) -> str:
        return _display.variable_text(self)

    def _repr_html_(self) -> str:
        return _display.variable_html(self)


def _variable_again(block: Block, name: str) -> Variable:
    return Variable(block, name, block._native().variable(name))
