"""Outputs: standard output, pipes, devices, and files that appear once they are complete, alone or together.

A file is written aside (`filterkit.files.aside`) and renamed at the end.
"""

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
    """Refuse a path that cannot be written to, before any work is done.

    Raises
    ------
    FilterkitError : it cannot be written to; the message names it.
    """
    with _failures(path):
        number = _descriptor(path)
        if number is not None:
            if is_read_only(number):
                raise OSError(errno.EBADF, "")
            return
        kind = _kind(path)
    if not path:
        raise FilterkitError("the name of an output is empty")
    if kind == stat.S_IFDIR or not os.path.basename(path):
        example = os.path.join(path, "out.arff")
        raise FilterkitError(f"{path}: this names a folder; name a file, such as {example}")
    folder = os.path.dirname(os.path.realpath(path))
    if kind == 0 and not os.path.isdir(folder):
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        raise file_error(f"{path}: {missing.strerror}; make the folder first", missing)
    if kind in (0, stat.S_IFREG) and not os.access(folder, os.W_OK):
        with _failures(path):
            FileAside(folder).remove()  # only the attempt has the system say why it refuses


@contextmanager
def open_output(path: str, onward: bool = False) -> Iterator[IO[bytes]]:
    """A binary stream that writes to `path`.

    A regular file is written aside, in the same folder. It is renamed when the context ends without an exception, or
    together with others inside `together`. An exception leaves the earlier file as it was. (filterkit does not wait for
    the disk, so a power cut may still lose the file.) Anything else, such as ``-``, an open descriptor like
    ``/dev/stdout``, a pipe or a device, is written to directly. Text is compressed if the path ends in ``.gz``,
    ``.bz2``, ``.xz`` or ``.zst``.

    Parameters
    ----------
    path : the file, or ``-`` for standard output.
    onward : whether text for a pipe that nobody reads any more is dropped without an error, so that other outputs can
        be completed.

    Raises
    ------
    FilterkitError : the file cannot be written; the message names it.
    BrokenPipeError : nobody reads the pipe any more.
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


@contextmanager
def new_file(path: str, name: str) -> Iterator[IO[bytes]]:
    """A binary stream that writes to a new file, compressed as the ending of `name` says; `path` may be an fsspec URL.

    Raises
    ------
    FilterkitError : the file cannot be written; the message calls it `name`.
    """
    if "://" in path:
        from filterkit.files.remote_folder import new_remote_file

        with new_remote_file(path, name) as raw, _compress(raw, name) as out:
            yield out
        return
    with _failures(name):
        sink = Sink(path, name)
    with io.BufferedWriter(sink) as raw, _compress(raw, name) as out:
        yield out


class _Complete(NamedTuple):
    """A complete file that is still `aside`, and will be renamed to `target`; the user calls it `path`."""

    path: str
    aside: FileAside
    target: str

    def appear(self) -> None:
        """Rename the file."""
        with _failures(self.path):
            self.aside.appear_as(self.target)


_waiting: list[_Complete] | None = None  # complete files inside `together`


@contextmanager
def together() -> Iterator[None]:
    """Let the files opened inside appear together when the context ends; if it ends with an exception, none appears.

    The files are renamed one after the other, so a failure or a signal in that last moment may leave only some of them
    renamed. What was written to standard output, a pipe or a device cannot be taken back. If nobody reads a pipe any
    more, the files that are complete appear nevertheless. A `together` inside another one does nothing.

    Raises
    ------
    FilterkitError : a file cannot be renamed; the message names it.
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
    """Let a file appear, now or together with others."""
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
    """Turn an error of the system into a `FilterkitError` that names `path`."""
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
    """The type bits of the file at `path`; 0 if there is none."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        return 0


def _compress(raw: Any, path: str) -> Any:
    """A stream that writes to `raw`, compressed if the ending of `path` says so."""
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
