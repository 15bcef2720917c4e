"""Where text goes: standard output, or a file that appears when it is complete, alone or together with others."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from filterkit.errors import PATH, FilterkitError, quoted


def check_output(path: str) -> None:
    """Refuse a path that cannot be written to, before work is begun.

    Raises
    ------
    FilterkitError : names it.
    """
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.access(folder, os.W_OK):
        raise FilterkitError(f"{path}: {'Permission denied' if os.path.isdir(folder) else 'No such file or directory'}")


@contextmanager
def open_output(path: str, onward: bool = False) -> Iterator[IO[bytes]]:
    """A binary stream to write to `path`.

    A regular file is written aside, in the same folder, and renamed when the context ends well, or with the
    others if it is opened inside of `together`; if the context
    ends with an exception, the earlier file is as it was (the disk is not waited for, so a power cut may
    still lose it). Anything else (``-``, a pipe, a device) is
    written straight. The endings ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` compress.

    Parameters
    ----------
    path : the file, or ``-`` for standard output.
    onward : whether the rest of what is written to a pipe that nobody reads on is dropped without an error, because
        other outputs are still to be completed.

    Raises
    ------
    FilterkitError : the file cannot be written; names it.
    BrokenPipeError : nobody reads on.
    """
    try:
        if path == "-":
            if sys.stdout is None:
                raise FilterkitError("standard output is closed")
            with _straight(sys.stdout.fileno(), onward) as out:
                yield out
            return
        target = os.path.realpath(path)
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with _straight(target, onward) as out:
                yield out
            return
        folder, name = os.path.split(target)
        aside = os.path.join(folder, f".{name}.{os.urandom(6).hex()}")  # known before it is made: a signal may come
        try:
            with open(aside, "xb") as raw, _compress(raw, target) as out:
                yield out
            _complete(_Complete(path, aside, target))
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(aside)
            raise
    except BrokenPipeError:
        raise
    except OSError as error:
        name = "standard output" if path == "-" else path
        raise FilterkitError(f"{name}: {error.strerror or error}") from None


class _Complete(NamedTuple):
    """A file that is complete, but still `aside`: it is to be renamed to `target`, which the user calls `path`."""

    path: str
    aside: str
    target: str

    def appear(self) -> None:
        """Rename it."""
        if os.path.exists(self.target):
            os.chmod(self.aside, stat.S_IMODE(os.stat(self.target).st_mode))
        os.replace(self.aside, self.target)


_waiting: list[_Complete] | None = None  # for the others of `together`


@contextmanager
def together() -> Iterator[None]:
    """Let the files opened inside appear together, when the context ends well; if it ends with an exception, none does.

    They are renamed one after the other, so a failure or a signal in that last moment may leave some renamed and
    others not. What goes to standard output, a pipe or a device is written straight and can't be taken back. That
    nobody reads a pipe on is no failure: the files that are complete appear. Inside of another `together` this does
    nothing.

    Raises
    ------
    FilterkitError : a file cannot be renamed; names it.
    """
    global _waiting
    if _waiting is not None:
        yield
        return
    complete = _waiting = []
    try:
        try:
            yield
        except BrokenPipeError:
            _rename(complete)
            raise
        _rename(complete)
    finally:
        _waiting = None
        for file in complete:
            with suppress(OSError):  # most often it has been renamed
                os.unlink(file.aside)


def _complete(file: _Complete) -> None:
    """Let a file appear, now or with the others."""
    if _waiting is None:
        file.appear()
        return
    if any(file.target == other.target for other in _waiting):
        raise FilterkitError(f"two outputs go to {quoted(file.path, PATH)}; name another file for one of them")
    _waiting.append(file)


def _rename(complete: list[_Complete]) -> None:
    for file in complete:
        try:
            file.appear()
        except OSError as error:
            raise FilterkitError(f"{file.path}: {error.strerror or error}") from None


class _Onward(io.FileIO):
    """A file that takes what nobody reads."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def _straight(file: str | int, onward: bool) -> IO[bytes]:
    """A stream to a file or descriptor that is no regular file."""
    kind = _Onward if onward else io.FileIO
    return io.BufferedWriter(kind(file, "wb", closefd=isinstance(file, str)))


def _compress(raw: IO[bytes], path: str) -> Any:
    """A stream that compresses into `raw` by the ending of `path`."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".gz":
        import gzip

        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2File(raw, "wb")
    if ending == ".xz":
        import lzma

        return lzma.LZMAFile(raw, "wb")
    if ending == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
    return open(os.dup(raw.fileno()), "wb")
