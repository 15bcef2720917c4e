"""Scratch: arrays in a temporary file without a name, which disappears with the process."""

from __future__ import annotations

import mmap
import threading
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import BufferedRandom
from typing import Any, NamedTuple

import numpy as np

from filterkit.temporary import name_temporary_errors


class Stored(NamedTuple):
    """Where an array begins in a `Scratch`, in bytes, and its shape and type."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Scratch:
    """Stores arrays in a temporary file, which is made for the first one. One thread stores while others read.

    The disk space is freed by `close`, or when nobody holds the object or an array mapped from it any longer. All
    methods raise FilterkitError, which names the folder, if the file cannot be used.
    """

    def __init__(self) -> None:
        self._opened: BufferedRandom | None = None
        self._end = 0  # of what is stored
        self._position = threading.Lock()  # held while the position in the file is used

    @property
    def _file(self) -> BufferedRandom:
        if self._opened is None:
            import tempfile  # takes a few milliseconds, and most runs need no file

            self._opened = tempfile.TemporaryFile(prefix="filterkit-")
            weakref.finalize(self, _close_quietly, self._opened)
        return self._opened

    def store(self, arrays: Sequence[np.ndarray]) -> list[Stored]:
        """Write arrays, one after the other, at the end of the file; return where each is."""
        return [self._write([array]) for array in arrays]

    def join(self, several: Sequence[Stored]) -> Stored:
        """Join stored arrays along the first axis; unless there is only one, they are written again."""
        return several[0] if len(several) == 1 else self._write(map(self.read, several))

    def _write(self, parts: Iterable[np.ndarray]) -> Stored:
        """Write arrays, at least one, as a single array that is joined along the first axis; return where it is."""
        offset = self._end = -(-self._end // 8) * 8  # where any array may begin
        length = 0
        for part in map(np.ascontiguousarray, parts):
            with name_temporary_errors(), self._position:
                self._file.seek(self._end)
                self._end += self._file.write(part)  # type: ignore[arg-type]  # an array is a buffer
                self._file.truncate(self._end)  # an empty array at the end may begin beyond what is written
            length += len(part)
        return Stored(offset, (length, *part.shape[1:]), part.dtype)

    def read(self, stored: Stored) -> np.ndarray:
        """Return a stored array, read into memory."""
        array = np.empty(stored.shape, stored.dtype)
        with name_temporary_errors(), self._position:
            self._file.seek(stored.offset)
            if self._file.readinto(array) < array.nbytes:  # type: ignore[arg-type]
                raise OSError("something has cut the temporary file short; run the command again")
        return array

    def map_arrays(self, several: Sequence[Stored]) -> list[np.ndarray]:
        """Map stored arrays into memory: the system reads what is used of them, and drops it when it needs room.

        They stay when the file is closed. If the disk fails while they are used, the system ends the process.
        """
        with name_temporary_errors():
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return [np.ndarray(each.shape, each.dtype, mapped, each.offset) for each in several]

    def close(self) -> None:
        """Free the disk space."""
        if self._opened is not None:
            _close_quietly(self._opened)


def _close_quietly(file: BufferedRandom) -> None:
    """Close a file; ignore errors of writing the rest, as on a full disk, because nobody will read it."""
    with suppress(OSError):
        file.close()
