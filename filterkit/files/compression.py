"""Compressed streams: the ending of a file name says how the file is compressed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # of Python, imported only when they are needed
_STEP = 1 << 16  # bytes that are read at once; damage takes at most so much sound text before it with it


def decompress(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return a stream of the decompressed bytes of `raw` if `path` ends in .gz, .bz2, .xz or .zst; else `raw` itself.

    The ending may be in capitals. The new stream has only the method `read`. If the data is damaged or cut off, `read`
    raises the error of the decompressor, whose class differs between the compressions.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending == ".zst":
        import pyarrow as pa

        return _Decompressed(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"))  # type: ignore[return-value]
    if ending in _MODULES:
        return _Decompressed(import_module(_MODULES[ending]).open(raw))  # type: ignore[return-value]
    return raw


def compress(raw: Any, path: str) -> Any:
    """Return a stream that compresses into `raw` if `path` ends in .gz, .bz2, .xz or .zst; else `raw` itself.

    The ending may be in capitals. Closing the stream writes the end of the compressed data; for .zst it closes `raw`,
    too.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending == ".gz":
        import gzip

        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)
    if ending == ".zst":
        import pyarrow as pa

        return pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd")
    return import_module(_MODULES[ending]).open(raw, "wb") if ending in _MODULES else raw


@dataclass
class _Decompressed:
    """The decompressed bytes of a file that may be damaged or cut off; most text before the damage can be read.

    At most 64 kB of text right before the damage cannot be read.

    Attributes
    ----------
    stream : what the decompressor returns: a binary stream to read from.
    fault : the error that the next `read` raises; None if there is none.
    """

    stream: Any
    fault: Exception | None = None

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, at least 1, or fewer at the end or before damage; b"" at the end.

        Once the text before the damage has been read, raise the error of the decompressor.
        """
        if self.fault is not None:
            raise self.fault
        text = bytearray()
        try:
            while len(text) < size and (piece := self.stream.read(min(size - len(text), _STEP))):
                text += piece
        except Exception as error:
            if not text:
                raise
            self.fault = error
        return bytes(text)
