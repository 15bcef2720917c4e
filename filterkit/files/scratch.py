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
    """Where an array is in a `Scratch`: the `offset` in bytes where it begins in the file, its shape and its dtype."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(eq=False, repr=False)
class Scratch:
    """Stores arrays in a temporary file, which is made when it is first used.

    One thread may store or join arrays while others read. The disk space is free once `close` has been called or the
    object has been garbage-collected, and no array that `map_arrays` returned is left. If the file cannot be used,
    methods raise a FilterkitError that names the system's temporary folder; after `close`, they raise ValueError.
    """

    _end: int = field(default=0, init=False)  # bytes that are stored
    _position_lock: Any = field(default_factory=threading.Lock, init=False)  # locked while the file's position is used

    @cached_property
    def _file(self) -> BufferedRandom:
        """The temporary file; it is made at the first use, and closed by `close` or when this object is collected."""
        import tempfile  # takes a few milliseconds, and most runs need no file

        file = tempfile.TemporaryFile(prefix="filterkit-")
        weakref.finalize(self, _close_quietly, file)
        return file

    def store(self, arrays: Sequence[np.ndarray]) -> list[Stored]:
        """Write arrays at the end of the file, and return where each of them is, in the same order."""
        return [self._write_joined([array]) for array in arrays]

    def join(self, several: Sequence[Stored]) -> Stored:
        """Write stored arrays, at least one, again as a single one, joined along the first axis; return where that is.

        They have the same dtype, and the same shape except for the first axis. A single array is not copied.
        """
        return several[0] if len(several) == 1 else self._write_joined(map(self.read, several))

    def _write_joined(self, parts: Iterable[np.ndarray]) -> Stored:
        """Write arrays, at least one, joined along the first axis as a single array; return where that is.

        They have the same dtype, and the same shape except for the first axis.
        """
        offset = self._end = -(-self._end // 8) * 8  # where any array may begin
        length = 0
        for part in map(np.ascontiguousarray, parts):
            with convert_temporary_file_errors(), self._position_lock:
                self._file.seek(self._end)
                self._end += self._file.write(part)  # type: ignore[arg-type]  # an array is a buffer
                self._file.truncate(self._end)  # an empty array at the end may begin beyond what is written
            length += len(part)
        return Stored(offset, (length, *part.shape[1:]), part.dtype)

    def read(self, stored: Stored) -> np.ndarray:
        """Read a stored array into memory, and return it as a new array."""
        array = np.empty(stored.shape, stored.dtype)
        with convert_temporary_file_errors(), self._position_lock:
            self._file.seek(stored.offset)
            if self._file.readinto(array) < array.nbytes:  # type: ignore[arg-type]
                raise OSError("something has cut the temporary file short; run the command again")
        return array

    def map_arrays(self, several: Sequence[Stored]) -> list[np.ndarray]:
        """Return read-only arrays, in the same order, that map stored ones into memory.

        The system reads what is used of them from the disk; if the disk then fails, the system ends the process. The
        arrays can be used after `close`. Raise ValueError if no byte has been stored.
        """
        with convert_temporary_file_errors():
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return [np.ndarray(each.shape, each.dtype, mapped, each.offset) for each in several]

    def close(self) -> None:
        """Close the file, if it has been made; its disk space is free once no array is mapped from it."""
        if "_file" in vars(self):
            _close_quietly(self._file)


def _close_quietly(file: BufferedRandom) -> None:
    """Close a file, and ignore errors of writing the rest, as on a full disk, because nobody will read it."""
    with suppress(OSError):
        file.close()
