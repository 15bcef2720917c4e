"""Scratch: arrays in a temporary file without a name, which disappears with the process."""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

import numpy as np

from filterkit.temporary import name_temporary_errors


class Stored(NamedTuple):
    """Where an array begins in a `Scratch`, in bytes, and its shape and type."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


class Scratch:
    """Stores arrays in a temporary file, which is made for the first one. One thread stores while others read.

    The disk space is freed by `close`, or when nobody holds the object or an array mapped from it any longer.

    Raises
    ------
    FilterkitError : in all methods: the file cannot be used; the message names its folder.
    """

    def __init__(self) -> None:
        self._opened: IO[bytes] | None = None
        self._position = threading.Lock()  # held while the position in the file is used or moved

    @property
    def _file(self) -> IO[bytes]:
        if self._opened is None:
            import tempfile  # takes a few milliseconds, and most runs need no file

            self._opened = tempfile.TemporaryFile(prefix="filterkit-")
            weakref.finalize(self, _close_quietly, self._opened)
        return self._opened

    def store(self, arrays: Sequence[np.ndarray]) -> list[Stored]:
        """Write arrays, one after the other, at the end of the file; return where each is."""
        stored = []
        with name_temporary_errors(), self._position:
            for array in map(np.ascontiguousarray, arrays):
                stored.append(Stored(self._move_to_aligned_end(), array.shape, array.dtype))
                self._file.write(_view_as_bytes(array))
            self._file.flush()
        return stored

    def read(self, stored: Stored) -> np.ndarray:
        """Return a stored array, read into memory."""
        array = np.empty(stored.shape, stored.dtype)
        view, offset = _view_as_bytes(array), stored.offset
        with name_temporary_errors():
            while len(view):
                count = self._read_once(view, offset)
                if not count:
                    raise OSError(
                        "the temporary file is shorter than what was written to it; something else has changed it"
                    )
                view = view[count:]
                offset += count
        return array

    def _read_once(self, view: memoryview, offset: int) -> int:
        """Read from `offset` into `view`; returns the number of bytes read, which may be fewer, and 0 at the end."""
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [view], offset)
        with self._position:  # Windows reads from the position only
            self._file.seek(offset)
            try:
                return int(self._file.readinto(view))  # type: ignore[attr-defined]
            finally:
                self._file.seek(0, os.SEEK_END)

    def join(self, several: Sequence[Stored]) -> Stored:
        """Join stored arrays along the first axis; unless there is only one, they are written again."""
        if len(several) == 1:
            return several[0]
        shape = (sum(each.shape[0] for each in several), *several[0].shape[1:])
        with name_temporary_errors(), self._position:
            offset = self._move_to_aligned_end()
        for each in several:
            array = self.read(each)
            with name_temporary_errors(), self._position:
                self._file.write(_view_as_bytes(array))
        with name_temporary_errors(), self._position:
            self._file.flush()
        return Stored(offset, shape, several[0].dtype)

    def map_arrays(self, several: Sequence[Stored]) -> list[np.ndarray]:
        """Map stored arrays into memory: the system reads what is used of them, and drops it when it needs room.

        They stay when the file is closed. If the disk fails while they are used, the system ends the process.
        """
        with name_temporary_errors():
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return [np.ndarray(each.shape, each.dtype, mapped, each.offset) for each in several]

    def _move_to_aligned_end(self) -> int:
        """Move to the end of the file, to a multiple of 8 bytes, where any array may begin; returns the offset."""
        self._file.write(b"\0" * (-self._file.tell() % 8))
        return self._file.tell()

    def close(self) -> None:
        """Free the disk space."""
        if self._opened is not None:
            _close_quietly(self._opened)


def _view_as_bytes(array: np.ndarray) -> memoryview:
    """Return the bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def _close_quietly(file: IO[bytes]) -> None:
    """Close a file; ignore errors of writing the rest, as on a full disk, because nobody will read it."""
    with suppress(OSError):
        file.close()
