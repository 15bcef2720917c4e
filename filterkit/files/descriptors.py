"""Descriptors, the numbers of open files: which one a path means, and writing to it with errors that name it."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from filterkit.errors import FilterkitError, make_read_or_write_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LINKS = 40  # the most links that the system follows
moved_descriptors: dict[int, int] = {}  # where a descriptor is while another has its number


def find_descriptor(path: str) -> int | None:
    """Return the descriptor that ``/dev/stdout``, ``/dev/fd/3`` or a link to one means; None for any other path.

    If filterkit has moved the file to another descriptor, return that one. The descriptor need not be open.
    """
    for _ in range(_LINKS):
        folder, name = os.path.split(path)
        digits = name.isascii() and name.isdigit()
        if digits and os.path.realpath(folder) in ("/dev/fd", os.path.realpath("/proc/self/fd")):
            return moved_descriptors.get(int(name), int(name))
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def identify_pipe(path: str) -> tuple[int, int] | None:
    """Return the numbers of device and inode of the pipe or device at `path`, or of standard input for ``-``.

    Return None for a regular file or a folder, and for what does not exist or cannot be looked up.
    """
    try:
        about = os.fstat(0) if path == "-" else os.stat(path)
    except OSError:
        return None
    is_read_again = stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)
    return None if is_read_again else (about.st_dev, about.st_ino)


def find_path_of_descriptor(number: int) -> str:
    """Return the path of the regular file that is open as descriptor `number`; "" if it is no such file.

    Return "" also if the system does not tell the path; only Linux does. For a deleted file, `` (deleted)`` is
    appended.
    """
    try:
        is_file = stat.S_ISREG(os.fstat(number).st_mode)
        return os.readlink(f"/proc/self/fd/{number}") if is_file else ""
    except OSError:
        return ""


def is_descriptor_read_only(number: int) -> bool:
    """Return whether a descriptor can be read but not written to; False on Windows. Raise OSError if it is closed."""
    if fcntl is None:
        os.fstat(number)
        return False
    return bool(fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY)


@contextmanager
def convert_write_errors(title: str) -> Iterator[None]:
    """Turn an OSError inside this context into a FilterkitError whose message begins with `title`.

    The new error is an OSError, too. An error that is a FilterkitError already stays as it is.
    """
    try:
        yield
    except FilterkitError:
        raise
    except OSError as error:
        raise make_read_or_write_error(title, error) from None


class Sink(io.FileIO):
    """An unbuffered binary stream to a file or descriptor, which raises a FilterkitError if writing fails.

    This error tells failures of the output from those of other code that runs while the stream is open. Raise OSError
    if the file cannot be opened.

    Parameters
    ----------
    file : a path, whose file is created or emptied; or the number of a descriptor, which stays open.
    title : the name of the output in messages.
    ignore_broken_pipe : whether `write` ignores data, without an error, once nobody reads the pipe any more; otherwise,
        it raises BrokenPipeError.

    Attributes
    ----------
    drops_data_on_interrupt : whether `write` ignores data while a KeyboardInterrupt is handled; True unless it is set
        to False.
    """

    drops_data_on_interrupt = True

    def __init__(self, file: str | int, title: str, ignore_broken_pipe: bool = False) -> None:
        self._title = title
        self._ignore_broken_pipe = ignore_broken_pipe
        super().__init__(file, "wb", closefd=isinstance(file, str))

    def write(self, data: Any) -> int:
        """Write the bytes of `data`, or only the first of them; return how many. Wait while a pipe is full.

        Data that is ignored counts as written, see `Sink`. Raise BrokenPipeError if nobody reads the pipe any more,
        unless this is ignored, and FilterkitError if writing fails otherwise.
        """
        if self.drops_data_on_interrupt and isinstance(sys.exception(), KeyboardInterrupt):
            return len(data)  # closing writes what is left, and a full pipe would delay the interrupt
        try:
            while (count := super().write(data)) is None:  # a full pipe that does not block
                select.select([], [self], [])
            return count
        except BrokenPipeError:
            if self._ignore_broken_pipe:
                return memoryview(data).nbytes
            raise
        except OSError as error:
            raise make_read_or_write_error(self._title, error) from None

    def close(self) -> None:
        """Close the stream, and the file unless it was given as a descriptor.

        Raise FilterkitError if that fails, because some file systems write only now.
        """
        with convert_write_errors(self._title):
            super().close()
