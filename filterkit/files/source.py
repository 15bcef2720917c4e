"""Sources of UTF-8 text: files, globs, standard input and URLs, decompressed."""

from __future__ import annotations

import codecs
import errno
import glob
import io
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from filterkit.errors import ArffError, FilterkitError, UsageError, make_file_error, make_read_or_write_error, quoted
from filterkit.files.compression import decompress
from filterkit.files.descriptors import find_descriptor
from filterkit.files.endings import COMPRESSIONS
from filterkit.files.urls import (
    find_file_system_and_path,
    find_matching_url_sizes,
    is_url,
    make_url_error,
)

_CUT_OFF = "the compressed data ends too early: the file is cut off; copy or download it again"


def find_input_file_sizes(path: str) -> dict[str, int | None]:
    """Return the sizes in bytes of the inputs that `path` names, by their paths; None for an unknown size.

    If `path` is a pattern, such as ``*.arff``, the inputs are the sorted files or URLs that it matches, unless a file
    has the pattern itself as its name. Otherwise, `path` is the only input, even if it does not exist. Sizes are those
    of the stored, perhaps compressed, bytes; that of a URL is known only if a pattern matches it. No input is opened,
    because a pipe could not be opened again. Raise FilterkitError if a pattern matches nothing, or if fsspec cannot
    find out what a pattern of URLs matches.
    """
    found: dict[str, int | None] = {path: None}
    if is_url(path):
        with convert_read_errors(path, path):
            found = find_matching_url_sizes(path)
    elif path != "-" and glob.has_magic(path) and not os.path.exists(path):
        found = dict.fromkeys(sorted(glob.glob(path)))
    if not found:
        said = FileNotFoundError(errno.ENOENT, "no file matches this pattern", path)
        raise make_file_error(f"{path}: {said.strerror}", said)
    for each, size in found.items():
        with suppress(OSError):
            status = os.stat(each)
            found[each] = status.st_size if size is None and stat.S_ISREG(status.st_mode) else size
    return found


@contextmanager
def convert_read_errors(name: str, path: str) -> Iterator[None]:
    """Turn errors of reading `path` inside this context into a FilterkitError whose message begins with `name`.

    An OSError becomes a FilterkitError that is an OSError, too. Damaged or truncated compressed data and text in
    another encoding give an ArffError. If `path` is a URL, other exceptions are turned, too. A MemoryError, a
    FilterkitError, and any other exception without a URL stay as they are.
    """
    try:
        yield
    except (FilterkitError, MemoryError):
        raise
    except EOFError:
        raise ArffError(_CUT_OFF, source=name) from None
    except UnicodeDecodeError as error:
        raise ArffError(
            f"this is not {error.encoding} text ({error.reason}); name another --encoding", source=name
        ) from None
    except UnicodeError as error:
        raise ArffError(f"this is not text in the encoding that --encoding names ({error})", source=name) from None
    except Exception as error:
        is_damaged = isinstance(error, zlib.error) or type(error).__name__ in ("LZMAError", "BadGzipFile")
        if type(error) is OSError and not error.errno and path.lower().endswith(COMPRESSIONS):  # bz2 and pyarrow
            is_damaged = True
        if is_damaged:
            what = f"the compressed data is damaged ({error}); copy or download it again"
            raise ArffError(_CUT_OFF if str(error).startswith("Truncated") else what, source=name) from None
        if is_url(path):
            raise make_url_error(name, error) from error
        if isinstance(error, OSError):
            raise make_read_or_write_error(name, error, "reading") from None
        raise


class Source:
    """One input as a stream of UTF-8 text, without byte order mark; call `close` at the end.

    Raise FilterkitError if the input cannot be opened, and UsageError if the encoding is unknown.

    Parameters
    ----------
    path : a file name, ``-`` for standard input, or an fsspec URL. It is decompressed if it ends in ``.gz``, ``.bz2``,
        ``.xz`` or ``.zst``.
    encoding : the encoding of the text. Most bytes that are not valid in it are passed on as they are; parsers refuse
        them where they matter, but a Latin-1 letter in a comment does no harm.
    name : its name in messages; None for the path, or "<standard input>".

    Attributes
    ----------
    path, name : see the parameters.
    size : the number of stored bytes of a local file; None for other inputs.
    live : whether it is standard input, or an uncompressed pipe or device, whose text should be processed as it
        arrives.
    """

    def __init__(self, path: str, encoding: str = "utf-8", name: str | None = None) -> None:
        self.path = path
        self.name = name or ("<standard input>" if path == "-" else path)
        self.size: int | None = None
        self.live = path == "-"
        self._remote: tuple[Any, str] | None = None  # the file system of a URL, and the path there
        try:
            codec = codecs.lookup(encoding).name
            "".encode(encoding)  # fails if it encodes bytes, not text
            decoder = codecs.getincrementaldecoder(codec)("surrogateescape")
            decoder.decode(b"")  # fails if it has no surrogates
        except (LookupError, UnicodeError):
            what = f"no encoding {quoted(encoding)}; name one that Python knows, such as latin-1"
            raise UsageError(f"--encoding: {what}") from None
        with convert_read_errors(self.name, self.path):
            self._raw = self._open(path)
            self._stream = decompress(self._raw, path)
        self.live &= self._stream is self._raw
        self._decoder = None if codec in ("utf-8", "ascii", "utf-8-sig") else decoder
        self._begun = self._ended = False
        self._n_arrived = 0  # bytes that the last read found

    def _open(self, path: str) -> IO[bytes]:
        """Open the input, and return the stream of its stored bytes; set `live` and `size`."""
        if path == "-":
            if sys.stdin is None:
                raise FilterkitError("standard input is closed; name a file")
            return sys.stdin.buffer
        if is_url(path):
            self._remote = system, at = find_file_system_and_path(path, f"{path}: reading")
            return system.open(at, "rb")  # type: ignore[no-any-return]
        number = find_descriptor(path)
        if os.path.isfile(path) or number is None:
            file = open(path, "rb")
        else:  # opening it again could fail: it may be a socket, or was opened by a process with more rights
            file = open(os.dup(number), "rb")
        about = os.fstat(file.fileno())
        self.live = not stat.S_ISREG(about.st_mode)
        if not self.live:
            self.size = about.st_size
        return file

    def position(self) -> int:
        """Return the number of stored bytes that have been read; 0 if `size` is None."""
        return self._raw.tell() if self.size is not None else 0

    def read(self, size: int) -> bytes:
        """Read and return about `size` bytes of UTF-8 text, fewer from a live input; b"" at the end.

        Wait until something has arrived. Raise FilterkitError if reading fails.
        """
        text = b""
        with convert_read_errors(self.name, self.path):
            while not text and not self._ended:  # a terminal would wait for input again after its end
                data = _read_available(self._stream, size) if self.live else self._stream.read(size)
                self._n_arrived = len(data)
                if self._decoder is None:
                    text = data
                else:
                    text = self._decoder.decode(data, final=not data).encode("utf-8", "surrogateescape")
                self._ended = not data
                if text and not self._begun:
                    self._begun = True
                    text = text.removeprefix(codecs.BOM_UTF8)
        return text

    def peek(self) -> bytes:
        """Return some of the next stored bytes without reading on; wait for the first bytes of a live input.

        They may begin with a byte order mark. Return b"" at the end, and always if the input is compressed, a URL, or
        not in UTF-8 by its `encoding`. Raise FilterkitError if reading fails.
        """
        if self._stream is not self._raw or self._decoder is not None or not isinstance(self._raw, io.BufferedReader):
            return b""
        with convert_read_errors(self.name, self.path):
            return self._raw.peek(16)

    def length(self) -> int | None:
        """Return the size in bytes of a file or URL; None if it is live, compressed or not in UTF-8.

        Return None also for a URL whose size is unknown.
        """
        if self.offset() is None:
            return None
        return self.size if self._remote is None else getattr(self._raw, "size", None)

    def read_range(self, begin: int, end: int) -> bytes:
        """Return the stored bytes from offset `begin` up to `end`, or up to the end of the input.

        The input must have a `length`, and a URL must serve ranges, see `serves_ranges`. Call `seek` before the next
        `read`, because the position may have changed. Raise FilterkitError if reading fails.
        """
        with convert_read_errors(self.name, self.path):
            if self._remote is not None:  # its file would read ahead
                system, path = self._remote
                return system.cat_file(path, start=begin, end=end)  # type: ignore[no-any-return]
            self._raw.seek(begin)
            return self._raw.read(end - begin)

    def seek(self, offset: int) -> None:
        """Set the position of the next `read` to an offset in bytes; the input must have a `length`.

        A byte order mark is not removed any more. Raise FilterkitError if that fails.
        """
        with convert_read_errors(self.name, self.path):
            self._raw.seek(offset)
        self._begun, self._ended = True, False

    def offset(self) -> int | None:
        """Return the offset in bytes of the next `read` in a file or URL; None if live, compressed or not in UTF-8."""
        if self.live or self._stream is not self._raw or self._decoder is not None:
            return None
        return self._raw.tell()

    def must_wait(self) -> bool:
        """Return whether the next `read` of a live input may have to wait; always False for any other input.

        If so, finish the work on the rows that have been read before. If the last `read` found 4 kB or more, this
        method waits for further text, at most 0.02 s.
        """
        return self.live and not _has_more_text(self._stream, self._n_arrived)

    def close(self) -> None:
        """Close the input, unless it is standard input."""
        if self.path != "-":
            self._raw.close()


_FLOOD = 1 << 12  # bytes that arrive at once in a flood; who waits for the answer to each row rarely writes as many
_WORK = 0.00025  # seconds, roughly, that work on `_FLOOD` bytes takes
_LONGEST = 0.02  # seconds for which a flood is gathered


def _read_available(stream: IO[bytes], size: int) -> bytes:
    """Wait for the first bytes in a pipe, and return up to `size` bytes that have arrived; b"" only at its end.

    Fewer than 4 kB are returned at once, because the writer may wait for the answer. After more, wait some hundredths
    of a second for further text: a few large blocks take less time than many small ones.
    """
    more: bytes = stream.read1(size)  # type: ignore[attr-defined]
    is_blocking = True
    with suppress(OSError):  # it has no descriptor
        is_blocking = os.get_blocking(stream.fileno())
    if not more and not is_blocking:  # another owner of the pipe has made it so; this is not the end
        select.select([stream], [], [])
        more = stream.read1(size)  # type: ignore[attr-defined]
    pieces, missing, end = [more], size - len(more), time.monotonic() + _LONGEST
    while more and missing and time.monotonic() < end and _has_more_text(stream, size - missing):
        more = stream.read1(missing)  # type: ignore[attr-defined]
        pieces.append(more)
        missing -= len(more)
    return b"".join(pieces)


def _has_more_text(stream: IO[bytes], n_bytes: int) -> bool:
    """Return whether a read of `stream` would find text, or the end, without waiting; before that, wait a little.

    `n_bytes` is how much has just been read. Below 4 kB, do not wait at all; else about as long as work on so many
    bytes takes, at most 0.02 s. Return False if the stream has no descriptor.
    """
    try:
        return bool(select.select([stream], [], [], min(n_bytes // _FLOOD * _WORK, _LONGEST))[0])
    except (OSError, ValueError):
        return False
