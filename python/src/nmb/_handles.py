"""Native handles that several objects share: after a fork, and in processes to which objects were sent.

A native handle may not be used in a forked child, because another thread of the parent may have held a lock in it. An object
therefore remembers in which process its handle was opened (``epoch``), and opens its file again in another process."""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from . import _core
from ._errors import DamagedError, MissingError

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
atexit.register(_shared.clear)


class Options(NamedTuple):
    """How a file is opened, with its absolute path."""

    path: bytes
    verify: bool
    external: int
    cache: int
    request: int


def _stamp_of(path: bytes) -> tuple[int, int, int] | None:
    """Identifies a file and its content, for files that have no generations; the same on all machines that share the file."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


class State:
    """One state of a file, which never changes: a generation of an NMB file, or a file as it was when it was opened. Opens it
    again in another process, and fails if the path has something else by then."""

    __slots__ = ("options", "generation", "stamp", "_handle", "_epoch")

    def __init__(self, options: Options, generation: int, stamp: Any, handle: Any = None) -> None:
        self.options = options
        self.generation = generation
        self.stamp = stamp
        self._handle = handle
        self._epoch = Epoch.now if handle is not None else -1

    def native(self) -> Any:
        """The native handle of this process."""
        if self._epoch != Epoch.now:
            self._handle = _reopen(self)
            self._epoch = Epoch.now
        return self._handle

    @property
    def key(self) -> tuple[Options, int, Any]:
        """The parts by which states are compared."""
        return self.options, self.generation, self.stamp

    def without_handle(self) -> State:
        """The same state, which opens the file when it needs it."""
        return State(*self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and (self is other or self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> Any:
        return _state_again, self.key


def _state_again(options: Options, generation: int, stamp: Any) -> State:
    state = State(options, generation, stamp)
    state.native()
    return state


def open_state(options: Options, generation: int = 0) -> State:
    """Opens a file."""
    # Before the file is opened: if it is replaced in between, the stamp is that of another file, and fits none.
    stamp = _stamp_of(options.path)
    handle = _open_native(options, generation)
    return State(options, handle.generation, handle.digest or stamp, handle)


def _open_native(options: Options, generation: int) -> Any:
    return _core.open_file(
        options.path, options.verify, options.external, options.cache, options.request, generation
    )


def _reopen(state: State) -> Any:
    """Objects of one state share the handle."""
    with _lock:
        found = _shared.get(state.key)
        if found is not None:
            _shared.move_to_end(state.key)
            return found
    changed = DamagedError(
        "the file has changed since the object was made; open it again", file=os.fsdecode(state.options.path)
    )
    try:
        again = open_state(state.options, state.generation)
    except MissingError:  # it does not have the generation
        raise changed from None
    if again.stamp != state.stamp:
        raise changed
    with _lock:
        made = _shared.setdefault(state.key, again.native())
        while len(_shared) > _MOST:
            _shared.popitem(last=False)
    return made
