"""Blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _core, _display
from ._attributes import Attributes
from ._cached import cached_property
from ._errors import MissingError
from ._handles import Epoch, State
from ._reports import BlockCounts
from ._threads import thread_count
from ._variable import Variable

if TYPE_CHECKING:
    from ._file import File


class Variables(Mapping[str, Variable]):
    """The variables of a block: a mapping from names to variables, in the order of definition. Safe for threads."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def __getitem__(self, name: str) -> Variable:
        return self._block[name]

    def __contains__(self, name: object) -> bool:
        return name in self._block._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._block._names)

    def __len__(self) -> int:
        return len(self._block._names)

    def __repr__(self) -> str:
        return f"<nmb.Variables {list(self)}>"


class Block:
    """A block: a small netCDF dataset with dimensions, variables and attributes, under a name that is a path::

        >>> block = f["station/north"]
        >>> list(block)
        ['time', 'temperature', 'wind']
        >>> block["temperature"].shape
        (4,)

    A variable that hard or soft links of HDF5 give several names is shown under each, as other programs show it.

    Blocks may be used by several threads and after a fork, and can be pickled. Errors: ``MissingError``, a ``KeyError``, for a
    variable that does not exist; ``DamagedError``."""

    __slots__ = ("_file", "_state", "_name", "_handle", "_epoch", "__dict__")

    def __init__(self, file: File, state: State, name: str, handle: Any) -> None:
        self._file = file
        self._state = state
        self._name = name
        self._handle = handle
        self._epoch = Epoch.now

    def _native(self) -> Any:
        if self._epoch != Epoch.now:
            self._handle = self._state.native().block(self._name)
            self._epoch = Epoch.now
        return self._handle

    @property
    def name(self) -> str:
        """The name; that of the root block is empty."""
        return self._name

    @property
    def file(self) -> File:
        """The file of the block."""
        return self._file

    @property
    def position(self) -> int:
        """The position in the order of all names, from 0."""
        position: int = self._state.native().position(self._name)
        return position

    @property
    def variables(self) -> Variables:
        """The variables, by name."""
        return Variables(self)

    @cached_property
    def _names(self) -> dict[str, None]:
        return dict.fromkeys(self._native().variable_names())

    @cached_property
    def dims(self) -> dict[str, int]:
        """The present lengths of the dimensions, by name. Those of groups above that variables use are among them."""
        return {name: length for name, length, _ in self._native().dimensions()}

    @cached_property
    def _other_blocks(self) -> list[tuple[str, str]]:
        """The links of HDF5 that give a block another name: their names, and the names of the blocks."""
        return list(self._native().other_blocks())

    @cached_property
    def unlimited(self) -> frozenset[str]:
        """The names of the dimensions that may grow."""
        return frozenset(name for name, _, grows in self._native().dimensions() if grows)

    @cached_property
    def attrs(self) -> Attributes:
        """The attributes of the block: a mapping from names to values of numpy or ``str``."""
        return Attributes(self._native().attributes(), self._name, self._file.path)

    @property
    def tags(self) -> dict[str, Any]:
        """The tags: ``str``, ``int`` or ``float`` by name. Reads all tags of the file."""
        tags: dict[str, Any] = self._native().tags()
        return tags

    @property
    def counts(self) -> BlockCounts:
        """The numbers of objects, from the index alone (for files other than NMB files, from the definitions)."""
        return BlockCounts(*self._native().counts())

    def cdl(self) -> str:
        """The definitions as they are stored, as text in the form of ``ncdump -h`` (CDL)."""
        text: str = self._native().cdl()
        return text

    def read(
        self, variables: Iterable[str] | None = None, *, threads: int | None = 1
    ) -> dict[str, Any]:
        """Reads several variables in one call: a dict from names to new arrays in C order and native byte order::

            >>> f["station/south"].read(["time", "temperature"])
            {'time': array([0., 1.]), 'temperature': array([290., 291.], dtype=float32)}

        Args:
            variables: the names; None for all variables.
            threads: the number of threads; None for all processors. More than one helps only with very large variables.
        Errors: ``MissingError``; ``DamagedError`` if a checksum is wrong; ``UnsupportedError`` for a filter that HDF5 does not have.
        """
        names = None if variables is None else [variables] if isinstance(variables, str) else list(variables)
        values: dict[str, Any] = _core.read_block(
            self._native(), names, threads if threads == 1 else thread_count(threads)
        )
        return values

    def __getitem__(self, name: str) -> Variable:
        try:
            return Variable(self, name, self._native().variable(name))
        except MissingError as error:
            below = f"{self._name}/{name}" if self._name else name
            if below in self._file:
                text = f'{error.message}; use f["{below}"]'
                raise MissingError(text, file=error.file, object=error.object) from None
            raise

    def get(self, name: str, default: Any = None) -> Any:
        """The variable of this name, or ``default`` if there is none."""
        try:
            return Variable(self, name, self._native().variable(name))
        except MissingError:
            return default

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def keys(self) -> Any:
        """The names of the variables."""
        return self.variables.keys()

    def values(self) -> Any:
        """The variables."""
        return self.variables.values()

    def items(self) -> Any:
        """The names and the variables."""
        return self.variables.items()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and (self._state, self._name) == (other._state, other._name)

    def __hash__(self) -> int:
        return hash((self._state, self._name))

    def __reduce__(self) -> Any:
        return _block_again, (self._file, self._state, self._name)

    def __repr__(self) -> str:
        return _display.block_text(self)

    def _repr_html_(self) -> str:
        return _display.block_html(self)


def _block_again(file: File, state: State, name: str) -> Block:
    return Block(file, state, name, state.native().block(name))
