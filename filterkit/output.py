"""Where text goes: standard output, a pipe or device, or a file that appears when it is complete.

A file is written aside, in the same folder, under a hidden name, and held by a lock meanwhile. By this the files that a
killed run has left are told from those that another run is writing, and the next run in the folder removes them.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count, islice
from typing import IO, Any

from filterkit.descriptors import Sink, descriptor_of, failure
from filterkit.errors import FilterkitError, quoted


def check_output(path: str) -> None:
    """Refuse a path that cannot be written to, before work is begun.

    Raises
    ------
    FilterkitError : names it.
    """
    with _failures(path):
        number = _descriptor(path)
        if number is not None:
            if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise OSError(errno.EBADF, "")
            return
        kind = _kind(path)
    if kind == stat.S_IFDIR or not os.path.basename(path):
        example = os.path.join(path, "out.arff")
        raise FilterkitError(f"{path or quoted(path)}: this names a folder; name a file, such as {example}")
    folder = os.path.dirname(os.path.realpath(path))
    if kind == 0 and not os.path.isdir(folder):
        raise FilterkitError(f"{path}: No such file or directory; make the folder first")
    if kind in (0, stat.S_IFREG) and not os.access(folder, os.W_OK):
        raise FilterkitError(f"{path}: Permission denied")


def place_of(path: str) -> object:
    """What two outputs must not have in common: a descriptor, or a file; None where they may, as ``/dev/null``.

    Raises
    ------
    FilterkitError : there can be no file of this name.
    """
    with _failures(path):
        number = _descriptor(path)
        if number is None and _kind(path) not in (0, stat.S_IFREG):
            return None
    return os.path.realpath(path) if number is None else number


@contextmanager
def open_output(path: str) -> Iterator[IO[bytes]]:
    """A binary stream to write to `path`.

    A regular file is written aside, in the same folder, and renamed when the context ends well; if it
    ends with an exception, the earlier file is as it was (the disk is not waited for, so a power cut may
    still lose it). Anything else (``-``, an open descriptor such as ``/dev/stdout``, a pipe, a device) is
    written straight. The endings ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` compress.

    Raises
    ------
    FilterkitError : the file cannot be written; names it.
    BrokenPipeError : nobody reads on.
    """
    check_output(path)
    number = _descriptor(path)
    if number is not None:
        with io.BufferedWriter(Sink(number, _title(path))) as out:
            yield out
        return
    with _failures(path):
        straight = None if _kind(path) in (0, stat.S_IFREG) else Sink(path, path)
    if straight is not None:
        with io.BufferedWriter(straight) as raw, _compress(raw, path) as out:
            yield out
        return
    target = os.path.realpath(path)
    with _failures(path):
        aside, held = _held_file(os.path.dirname(target))
    try:
        with _failures(path):
            sink = Sink(aside, path)
        with io.BufferedWriter(sink) as raw, _compress(raw, target) as out:
            yield out
        with _failures(path):
            with suppress(FileNotFoundError):
                os.chmod(aside, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(aside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
    finally:
        held.close()
        _held[aside] = None


def clear_away() -> None:
    """Remove the files aside that this process still has, as it is going to end."""
    for path, held in list(_held.items()):
        if held is None:
            _remove_abandoned(path)
        elif not held.closed and _is_at(held.fileno(), path):
            with suppress(OSError):
                os.unlink(path)


@contextmanager
def _failures(path: str) -> Iterator[None]:
    """Turn what the system refuses into an error that names `path`."""
    try:
        yield
    except OSError as error:
        raise failure(_title(path), error) from None


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


# Files aside

_NUMBERS = 16  # of hidden names, which are looked at each time; there are more if so many runs write at once
_held: dict[str, IO[bytes] | None] = {}  # files aside, with what holds them; None where one may have been made


def _hidden(folder: str) -> Iterator[str]:
    """Names for files aside: of this machine, as a lock may not be seen from another, and of this user."""
    mark = zlib.crc32(f"{os.uname().nodename} {os.geteuid()}".encode("utf-8", "surrogateescape"))
    return (os.path.join(folder, f".filterkit-{mark:08x}-{number}") for number in count())


def _held_file(folder: str) -> tuple[str, IO[bytes]]:
    """A new file in `folder`, and a stream that holds its lock until it is closed; what nobody holds is removed.

    Raises
    ------
    OSError : no file can be made there.
    """
    for path in islice(_hidden(folder), _NUMBERS):
        _remove_abandoned(path)
    names = _hidden(folder)
    while True:
        path = next(names)
        _held.setdefault(path, None)
        try:
            held = open(path, "xb")
        except FileExistsError:
            continue
        if _lock(held, path):
            _held[path] = held
            return path, held
        held.close()


def _lock(held: IO[bytes], path: str) -> bool:
    """Whether a new file is held from now on; not so if another run has just taken it for one that nobody holds."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # this folder has no locks, so nobody can take it for one that is not held
        return True
    return _is_at(held.fileno(), path)


def _remove_abandoned(path: str) -> None:
    """Remove a file of this user that no process holds, if it is there."""
    try:
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with suppress(OSError):
            about = os.fstat(number)
            if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid():
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(number, path):
                    os.unlink(path)
    finally:
        os.close(number)


def _is_at(number: int, path: str) -> bool:
    """Whether an open file is still the one that `path` names."""
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except FileNotFoundError:
        return False


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
