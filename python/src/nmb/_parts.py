"""Parts: many processes write one file, each a part of its own."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, unquote

from ._errors import BusyError, ConflictError, ExistsError, MissingError, MissingFileError, UsageError
from ._file import open as _open
from ._merge import merge
from ._outputs import Path, path_of
from ._reports import PartsReport
from ._tools import digest
from ._writer import _LONG, Writer

Key = Any
"""A number from 0, a text, or a tuple of these."""

_ENDING = ".nmb"
_LONGEST_NAME = 200  # of a file, so that names of temporary files are legal too


class PartWriter(Writer):
    """The writer of a part. Where another process or thread has written the part at the same time, that part stays."""

    def commit(self) -> int:
        """Refused: a part that others see is complete."""
        raise UsageError("a part is committed when it is closed, not before it is complete", file=self.path)

    def close(self) -> None:
        """Writes the part under its key; does nothing if it is closed. Errors: those of ``Writer.close``."""
        try:
            super().close()
        except (BusyError, ExistsError, MissingFileError):
            if not os.path.exists(self.path):
                raise


class Parts:
    """Lets many processes write one file without MPI: tasks of dask, jobs of an array. Each task writes a part under a key, and
    one process then makes one file of all parts, in the order of keys, as one commit::

        >>> parts = nmb.Parts("run.nmb")
        >>> for number in (1, 0):                            # each in a process of its own, which has got `parts`
        ...     if number not in parts:
        ...         with parts.writer(number) as out:
        ...             out[f"event{number}"] = {"x": ("i", np.arange(3.0))}
        >>> parts.commit(keys=range(2)).parts
        2
        >>> list(nmb.open("run.nmb"))
        ['event0', 'event1']

    Parts are files in the folder ``PATH.parts`` beside the file. A part appears when it is complete, so a task that fails or is
    killed leaves none; a task that runs again, or twice at the same time, replaces its own part. A part is a file with blocks;
    parts must not have blocks of the same name. The file does not depend on which process wrote which part.

    Keys are numbers from 0, texts, or tuples of these; numbers come before texts. The object is small: pickle it, or make it
    again in each process. Processes and threads may write parts at the same time.

    Args:
        path: the file to write.
        folder: the folder of the parts, which all processes reach, on the file system of ``path``; None for ``PATH.parts``.
        make: whether to make the folder. A worker that may still run after ``commit`` passes False, so that it fails then.
    """

    def __init__(self, path: Path, folder: Path | None = None, *, make: bool = True) -> None:
        self._path = os.path.abspath(path_of(path))
        self._folder = os.path.abspath(path_of(folder)) if folder is not None else self._path + ".parts"
        if make:
            os.makedirs(self._folder, exist_ok=True)

    @property
    def path(self) -> str:
        """The absolute path of the file to write."""
        return self._path

    @property
    def folder(self) -> str:
        """The absolute path of the folder of the parts."""
        return self._folder

    def part_path(self, key: Key) -> str:
        """The file of a part.

        Args:
            key: the key of the part.
        Errors: ``UsageError`` for a key of another kind, or of more than about 200 characters.
        """
        return os.path.join(self._folder, _name_of(key))

    def writer(self, key: Key, *, sync: bool = True, statistics: str = "none", piece_size: int = 1 << 20) -> Writer:
        """A writer of the part with this key. A part that is there already is replaced when the writer is closed.

        Args:
            key: a number from 0, a text, or a tuple of these.
            sync, statistics, piece_size: as for ``Writer``.
        Errors: those of ``Writer``; ``MissingFileError`` if the folder is gone, because the parts have been committed.
        """
        return PartWriter(
            self.part_path(key), "w", sync=sync, statistics=statistics, piece_size=piece_size, hdf5_view="off"
        )

    def __contains__(self, key: Key) -> bool:
        return os.path.exists(self.part_path(key))

    def keys(self) -> list[Key]:
        """The keys of the parts that are complete, in their order."""
        return self._listed()[0]

    def __len__(self) -> int:
        return len(self.keys())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Key]:
        return iter(self.keys())

    def _listed(self) -> tuple[list[Key], list[str]]:
        """The keys, and the names of temporary files."""
        keys, temporary = [], []
        with suppress(FileNotFoundError):
            for name in os.listdir(self._folder):
                if name.startswith("."):
                    temporary.append(name)
                elif name.endswith(_ENDING):
                    keys.append(_key_of(name))
                else:
                    raise UsageError(f"found {name!r} in the folder, which is no part", file=self._folder)
        return sorted(keys, key=_order), temporary

    def commit(
        self,
        mode: str = "x",
        *,
        keys: Iterable[Key] | None = None,
        wait: float = 0.0,
        sync: bool = True,
        codec: str = "",
        shuffle: bool = False,
        hdf5_view: str = "small",
        statistics: str = "none",
        threads: int | None = None,
    ) -> PartsReport:
        """Makes the file of all parts as one commit, as fast as they can be copied, and removes the parts and the folder. Call it
        when all tasks have ended. If it is killed, call it again: nothing is written twice.

        Args:
            mode: "x" makes a new file, "w" replaces one, "a" adds to a file or makes it.
            keys: the keys that must be there, and no others; None to take what is there.
            wait: mode "a": for how many seconds to wait while another writer has the file.
            sync, codec, shuffle, hdf5_view, statistics, threads: as for ``merge``.
        Errors: ``MissingError`` if keys are missing, ``ConflictError`` if there are others or if parts have blocks of the same
        name; ``ExistsError``; ``BusyError``; ``NoSpaceError``. The file and the parts are then as they were.
        """
        if mode not in ("x", "w", "a"):
            raise UsageError(f'mode: found {mode!r}, expected "x", "w" or "a"')
        if wait and mode != "a":
            raise UsageError('wait: only for mode="a"')
        found, temporary = self._listed()
        if keys is not None:
            self._check_keys(found, keys)
        if not found:
            raise MissingError("found no parts", file=self._folder)
        files = [self.part_path(key) for key in found]
        if mode == "w" or not os.path.exists(self._path) or not self._is_committed(files):
            options = dict(
                block_name="{group}",
                sync=sync,
                codec=codec,
                shuffle=shuffle,
                hdf5_view=hdf5_view,
                statistics=statistics,
                originals=False,
                threads=threads,
            )
            self._merge(files, mode, float(wait), options)
        with _open(self._path) as file:
            totals = file.totals
        for name in [*(os.path.basename(file) for file in files), *temporary]:
            with suppress(FileNotFoundError):
                os.remove(os.path.join(self._folder, name))
        with suppress(FileNotFoundError):
            os.rmdir(self._folder)
        return PartsReport(len(files), len(temporary), totals)

    def _check_keys(self, found: list[Key], keys: Iterable[Key]) -> None:
        wanted = {_name_of(key): key for key in keys}
        have = {_name_of(key): key for key in found}
        missing = [key for name, key in wanted.items() if name not in have]
        if missing:
            raise MissingError(f"found no parts with the keys {_some(missing)}", file=self._folder)
        others = [key for name, key in have.items() if name not in wanted]
        if others:
            raise ConflictError(f"found parts with the keys {_some(others)}, which are not expected", file=self._folder)

    def _merge(self, files: list[str], mode: str, wait: float, options: dict[str, Any]) -> None:
        limit = time.monotonic() + wait
        while True:
            append = mode == "a" and os.path.exists(self._path)
            try:
                merge(files, self._path, to="nmb", append=append, replace=mode == "w", **options)
                return
            except ExistsError:
                if mode != "a" or append:
                    raise
            except BusyError as error:
                left = limit - time.monotonic()
                if left <= 0:
                    text = f"{error.message}; waited {wait:g} s for it" if wait else error.message
                    raise BusyError(text, file=error.file) from None
                time.sleep(min(left, random.uniform(0, _LONG)))

    def _is_committed(self, files: list[str]) -> bool:
        """Whether the file has all blocks of the parts with the same content: an earlier commit was killed before it had removed
        the parts."""
        with _open(self._path) as file:
            if file.kind != "NMB":
                return False
            names = []
            for part in files:
                with _open(part) as one:
                    for name in one:
                        if name not in file.keys():
                            return False
                        names.append(name)
            if not names or len(set(names)) < len(names):
                return False
        wanted: dict[str, str] = {}
        for part in files:
            wanted.update(digest(part).blocks)
        with TemporaryDirectory(dir=self._folder, prefix=".") as folder:
            copy = os.path.join(folder, "copy.nmb")
            merge(self._path, copy, block_name="{group}", blocks=names, hdf5_view="off", originals=False, sync=False)
            return digest(copy).blocks == wanted

    def discard(self) -> int:
        """Removes all parts and the folder, without a commit. Returns how many parts there were."""
        found, temporary = self._listed()
        for name in [*map(_name_of, found), *temporary]:
            with suppress(FileNotFoundError):
                os.remove(os.path.join(self._folder, name))
        with suppress(FileNotFoundError):
            os.rmdir(self._folder)
        return len(found)

    def __reduce__(self) -> Any:
        return _parts_again, (self._path, self._folder)

    def __repr__(self) -> str:
        return f"<nmb.Parts of {self._path!r}: {len(self)} parts>"


def _parts_again(path: str, folder: str) -> Parts:
    """In another process, which does not make the folder: a task that is late finds it gone."""
    return Parts(path, folder, make=False)


def _name_of(key: Key) -> str:
    """The name of a part's file, which says its key."""
    parts = key if isinstance(key, tuple) else (key,)
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append("s" + quote(part, safe="").replace(".", "%2E").replace("~", "%7E"))
        elif hasattr(part, "__index__") and not isinstance(part, bool) and 0 <= part.__index__() < 1 << 63:
            texts.append(f"n{part.__index__():019d}")
        else:
            raise UsageError(f"key: found {key!r}, expected a number from 0, a text, or a tuple of these")
    name = ("t" if isinstance(key, tuple) else "") + ",".join(texts) + _ENDING
    if len(name) > _LONGEST_NAME:
        raise UsageError(f"key: found {key!r}, which is too long for the name of a file")
    return name


def _key_of(name: str) -> Key:
    text = name[: -len(_ENDING)]
    is_tuple = text.startswith("t")
    parts: list[Key] = []
    for one in text[is_tuple:].split(",") if text[is_tuple:] else []:
        if one[:1] == "s":
            parts.append(unquote(one[1:]))
        elif one[:1] == "n" and one[1:].isdecimal():
            parts.append(int(one[1:]))
        else:
            raise UsageError(f"found {name!r} in the folder of the parts, which is no part")
    return tuple(parts) if is_tuple else parts[0]


def _order(key: Key) -> Any:
    parts = key if isinstance(key, tuple) else (key,)
    return [(isinstance(part, str), part) for part in parts], isinstance(key, tuple)


def _some(keys: list[Key]) -> str:
    shown = ", ".join(repr(key) for key in keys[:5])
    return shown + (f" and {len(keys) - 5} more" if len(keys) > 5 else "")
