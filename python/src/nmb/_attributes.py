"""Attributes as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _types
from ._errors import MissingError


class Attributes(Mapping[str, Any]):
    """Attributes of a block or a variable: a read-only mapping from names to values. Safe for threads.

    Text is ``str``, one number a scalar of numpy, several values an array. Several texts are an array of ``str``, and so are
    references, which are paths. A name that does not exist raises ``MissingError``, a ``KeyError``::

        >>> f["station/north/temperature"].attrs
        {'units': 'K'}
    """

    def __init__(self, handles: list[Any], owner: str, file: str) -> None:
        self._handles = {handle.name: handle for handle in handles}
        self._owner = owner
        self._file = file

    def __getitem__(self, name: str) -> Any:
        handle = self._handles.get(name)
        if handle is None:
            raise MissingError(f'found no attribute "{name}"', file=self._file, object=self._owner)
        return _value(handle.value())

    def __contains__(self, name: object) -> bool:
        return name in self._handles

    def __iter__(self) -> Iterator[str]:
        return iter(self._handles)

    def __len__(self) -> int:
        return len(self._handles)

    def __repr__(self) -> str:
        return repr(dict(self))


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if value.dtype.kind == "S":
        value = _types.strings_of(value) if value.dtype.itemsize > 1 else value
    if value.size == 1 and value.ndim <= 1:
        return value.reshape(-1)[0]
    if isinstance(value, np.ndarray) and value.dtype.kind == "S":
        return _types.text_of(value.tobytes().rstrip(b"\0"))
    return value
