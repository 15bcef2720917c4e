"""Where text goes: standard output, or a file that appears when it is complete."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from filterkit.errors import FilterkitError, file_error


def check_output(path: str) -> None:
    """Refuse a path that cannot be written to, before work is begun.

    Raises
    ------
    FilterkitError : names it.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if path != "-" and not os.access(folder, os.W_OK):
        number = errno.EACCES if os.path.isdir(folder) else errno.ENOENT
        raise file_error(f"{path}: {os.strerror(number)}", OSError(number, os.strerror(number), path))


@contextmanager
def open_output(path: str) -> Iterator[IO[bytes]]:
    """A binary stream to write to `path`.

    A regular file is written aside, in the same folder, and renamed when the context ends well; if it
    ends with an exception, the earlier file is as it was (the disk is not waited for, so a power cut may
    still lose it). Anything else (``-``, a pipe, a device) is
    written straight. The endings ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` compress.

    Raises
    ------
    FilterkitError : the file cannot be written; names it.
    BrokenPipeError : nobody reads on.
    """
    try:
        if path == "-":
            if sys.stdout is None:
                raise FilterkitError("standard output is closed")
            with open(sys.stdout.fileno(), "wb", closefd=False) as out:
                yield out
            return
        target = os.path.realpath(path)
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as out:
                yield out
            return
        folder, name = os.path.split(target)
        aside = os.path.join(folder, f".{name}.{os.urandom(6).hex()}")  # known before it is made: a signal may come
        try:
            with open(aside, "xb") as raw, _compress(raw, target) as out:
                yield out
            if os.path.exists(target):
                os.chmod(aside, stat.S_IMODE(os.stat(target).st_mode))
            os.replace(aside, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(aside)
            raise
    except (BrokenPipeError, FilterkitError):
        raise
    except OSError as error:
        name = "standard output" if path == "-" else path
        raise file_error(f"{name}: {error.strerror or error}", error) from None


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
