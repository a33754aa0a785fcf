"""Native handles that several objects share: after a fork, and in processes to which objects were sent.

A native handle may not be used in a forked child, because another thread of the parent may have held a lock in it. An object
therefore remembers in which process its handle was opened (``epoch``), and opens its file again in another process."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from . import _core
from ._errors import DamagedError

# Files that were opened for objects from other processes; the last ones stay open.
_MOST = 16
_shared: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


class Epoch:
    """Counts the forks that led to this process."""

    now = 0


def _forked() -> None:
    global _lock
    Epoch.now += 1
    _lock = threading.Lock()
    _shared.clear()


os.register_at_fork(after_in_child=_forked)


class Options(NamedTuple):
    """How a file is opened, with its absolute path."""

    path: bytes
    verify: bool
    external: int
    cache: int
    request: int


def open_native(options: Options, generation: int = 0) -> Any:
    """Opens a file."""
    return _core.open_file(
        options.path, options.verify, options.external, options.cache, options.request, generation
    )


def stamp_of(path: bytes) -> tuple[int, int, int, int]:
    """Identifies a file and its content, for files that have no generations."""
    info = os.stat(path)
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


def reopen(options: Options, generation: int, stamp: tuple[int, int, int, int] | None) -> Any:
    """Opens the same state of a file as another process did. Objects of one file share the handle."""
    key = (options, generation, stamp)
    with _lock:
        found = _shared.get(key)
        if found is not None:
            _shared.move_to_end(key)
            return found
    if stamp is not None and stamp_of(options.path) != stamp:
        raise DamagedError(
            "the file has changed since the object was made; open it again",
            file=os.fsdecode(options.path),
        )
    made = open_native(options, generation)
    with _lock:
        made = _shared.setdefault(key, made)
        while len(_shared) > _MOST:
            _shared.popitem(last=False)
    return made
