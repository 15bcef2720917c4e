"""Scratch: arrays in a temporary file without a name, of which nothing is left behind."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

import numpy as np

from filterkit.temporary import temporary_errors


class Scratch:
    """A temporary file, made when the first array comes. One thread appends arrays while others read any of them.

    The disk space is freed by `close`, or when nobody holds the object any longer.

    Raises
    ------
    FilterkitError : in all methods: the file cannot be used; the message names its folder.
    """

    def __init__(self) -> None:
        self._made: IO[bytes] | None = None
        self._position = threading.Lock()  # held while the position in the file is used or moved

    @property
    def _file(self) -> IO[bytes]:
        if self._made is None:
            import tempfile  # takes a few milliseconds, and most runs need no file

            self._made = tempfile.TemporaryFile(prefix="filterkit-")
            weakref.finalize(self, _drop, self._made)
        return self._made

    def append(self, arrays: Sequence[np.ndarray]) -> list[int]:
        """Write arrays, each in one piece, at the end; returns the offset of each."""
        offsets = []
        with temporary_errors(), self._position:
            for array in arrays:
                offsets.append(self._file.tell())
                self._file.write(array.data.cast("B") if array.size else b"")
            self._file.flush()
        return offsets

    def read(self, offset: int, array: np.ndarray) -> None:
        """Fill `array`, which is in one piece, with what was written at `offset`."""
        view = array.data.cast("B") if array.size else memoryview(b"")
        with temporary_errors():
            while len(view):
                count = self.read_into(view, offset)
                if not count:
                    raise OSError("the temporary file is shorter than what was written to it")
                view = view[count:]
                offset += count

    def read_into(self, view: memoryview, offset: int) -> int:
        """Read from `offset` into `view`; returns the number of bytes read, which may be fewer, and 0 at the end."""
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [view], offset)
        with self._position:  # Windows reads from the position only
            self._file.seek(offset)
            try:
                return int(self._file.readinto(view))  # type: ignore[attr-defined]
            finally:
                self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        """Free the disk space."""
        if self._made is not None:
            _drop(self._made)


def _drop(file: IO[bytes]) -> None:
    """Close a file that nobody needs any more, though what is left to write may find no room."""
    with suppress(OSError):
        file.close()
