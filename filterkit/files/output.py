"""Where text goes: standard output, a pipe or device, or a file that appears when it is complete, alone or together
with others. A file is written aside (`filterkit.files.aside`) and renamed."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from filterkit.errors import PATH, FilterkitError, file_error, quoted, system_error
from filterkit.files.aside import FileAside
from filterkit.files.descriptors import Sink, descriptor_of, is_read_only


def check_output(path: str) -> None:
    """Refuse a path that cannot be written to, before work is begun.

    Raises
    ------
    FilterkitError : names it.
    """
    with _failures(path):
        number = _descriptor(path)
        if number is not None:
            if is_read_only(number):
                raise OSError(errno.EBADF, "")
            return
        kind = _kind(path)
    if kind == stat.S_IFDIR or not os.path.basename(path):
        example = os.path.join(path, "out.arff")
        raise FilterkitError(f"{path or quoted(path)}: this names a folder; name a file, such as {example}")
    folder = os.path.dirname(os.path.realpath(path))
    if kind == 0 and not os.path.isdir(folder):
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        raise file_error(f"{path}: {missing.strerror}; make the folder first", missing)
    if kind in (0, stat.S_IFREG) and not os.access(folder, os.W_OK):
        refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        raise file_error(f"{path}: {refused.strerror}", refused)


@contextmanager
def open_output(path: str, onward: bool = False) -> Iterator[IO[bytes]]:
    """A binary stream to write to `path`.

    A regular file is written aside, in the same folder, and renamed when the context ends well, or with the
    others if it is opened inside `together`. If the context ends with an exception, the earlier file is as it was (the
    disk is not waited for, so a power cut may still lose it). Anything else (``-``, an open descriptor such as
    ``/dev/stdout``, a pipe, a device) is written straight. The endings ``.gz``, ``.bz2``, ``.xz`` and ``.zst``
    compress.

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
    check_output(path)
    number = _descriptor(path)
    if number is not None:
        with io.BufferedWriter(Sink(number, _title(path), onward)) as out:
            yield out
        return
    with _failures(path):
        straight = None if _kind(path) in (0, stat.S_IFREG) else Sink(path, path, onward)
    if straight is not None:
        with io.BufferedWriter(straight) as raw, _compress(raw, path) as out:
            yield out
        return
    target = os.path.realpath(path)
    with _failures(path):
        aside = FileAside(os.path.dirname(target))
    try:
        with _failures(path):
            sink = Sink(aside.path, path)
        with io.BufferedWriter(sink) as raw, _compress(raw, target) as out:
            yield out
        _complete(_Complete(path, aside, target))
    except BaseException:
        aside.remove()
        raise


class _Complete(NamedTuple):
    """A file that is complete, but still `aside`: it is to be renamed to `target`, which the user calls `path`."""

    path: str
    aside: FileAside
    target: str

    def appear(self) -> None:
        """Rename it."""
        with _failures(self.path):
            self.aside.appear_as(self.target)


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
            file.aside.remove()


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
        file.appear()


@contextmanager
def _failures(path: str) -> Iterator[None]:
    """Turn what the system refuses into an error that names `path`."""
    try:
        yield
    except FilterkitError:
        raise
    except OSError as error:
        raise system_error(_title(path), error) from None


def _title(path: str) -> str:
    return "standard output" if path == "-" else path


def _descriptor(path: str) -> int | None:
    if path != "-":
        return descriptor_of(path)
    if sys.stdout is None:
        raise FilterkitError("standard output is closed")
    return sys.stdout.fileno()


def _kind(path: str) -> int:
    """The type bits of what `path` leads to, 0 if there is nothing yet."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        return 0


def _compress(raw: Any, path: str) -> Any:
    """A stream that compresses into `raw` by the ending of `path`; `raw` itself if there is nothing to compress."""
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
    return raw
