"""Scratch: arrays in a temporary file without a name, which disappears with the process."""

from __future__ import annotations

import mmap
import threading
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from io import BufferedRandom
from typing import Any, NamedTuple

import numpy as np

from filterkit.temporary import convert_temporary_file_errors


class Stored(NamedTuple):
    """An array in a `Scratch`: the `offset` in bytes where it begins in the file, its shape and its dtype."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(eq=False, repr=False)
class Scratch:
    """Stores arrays in a temporary file, which is made for the first one. One thread may store while others read.

    `close` frees the disk space, and so does garbage collection of the object and of all arrays mapped from it. All
    methods raise FilterkitError, which names the folder, if the file cannot be used.
    """

    _end: int = field(default=0, init=False)  # bytes that are stored
    _position: Any = field(default_factory=threading.Lock, init=False)  # locked while the file's position is used

    @cached_property
    def _file(self) -> BufferedRandom:
        """The temporary file; it is made at the first use, and closed with this object."""
        import tempfile  # takes a few milliseconds, and most runs need no file

        file = tempfile.TemporaryFile(prefix="filterkit-")
        weakref.finalize(self, _close_quietly, file)
        return file

    def store(self, arrays: Sequence[np.ndarray]) -> list[Stored]:
        """Write arrays at the end of the file, and return them as `Stored`, in the same order."""
        return [self._write_joined([array]) for array in arrays]

    def join(self, several: Sequence[Stored]) -> Stored:
        """Join stored arrays, at least one, along the first axis; return where the result is.

        A single array is not copied.
        """
        return several[0] if len(several) == 1 else self._write_joined(map(self.read, several))

    def _write_joined(self, parts: Iterable[np.ndarray]) -> Stored:
        """Write arrays, at least one, joined along the first axis as a single array; return where that is."""
        offset = self._end = -(-self._end // 8) * 8  # where any array may begin
        length = 0
        for part in map(np.ascontiguousarray, parts):
            with convert_temporary_file_errors(), self._position:
                self._file.seek(self._end)
                self._end += self._file.write(part)  # type: ignore[arg-type]  # an array is a buffer
                self._file.truncate(self._end)  # an empty array at the end may begin beyond what is written
            length += len(part)
        return Stored(offset, (length, *part.shape[1:]), part.dtype)

    def read(self, stored: Stored) -> np.ndarray:
        """Read a stored array into memory, and return it."""
        array = np.empty(stored.shape, stored.dtype)
        with convert_temporary_file_errors(), self._position:
            self._file.seek(stored.offset)
            if self._file.readinto(array) < array.nbytes:  # type: ignore[arg-type]
                raise OSError("something has cut the temporary file short; run the command again")
        return array

    def map_arrays(self, several: Sequence[Stored]) -> list[np.ndarray]:
        """Return read-only arrays that map stored ones into memory: the system reads the pages that are used.

        They can be used after `close`. Raise ValueError if the whole file is empty. If the disk fails while they
        are used, the system ends the process.
        """
        with convert_temporary_file_errors():
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return [np.ndarray(each.shape, each.dtype, mapped, each.offset) for each in several]

    def close(self) -> None:
        """Close the file, which frees the disk space once no array is mapped from it."""
        if "_file" in vars(self):
            _close_quietly(self._file)


def _close_quietly(file: BufferedRandom) -> None:
    """Close a file, and ignore errors of writing the rest, as on a full disk, because nobody will read it."""
    with suppress(OSError):
        file.close()
