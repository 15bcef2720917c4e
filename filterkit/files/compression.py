"""Compressed streams: the ending of a file's name says how it is compressed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # of Python, imported only when they are needed
_STEP = 1 << 16  # bytes that are read at once; damage takes at most so much sound text before it with it


def decompress(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return a stream of the bytes of `raw`, decompressed if the ending of `path` says so."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".zst":
        import pyarrow as pa

        return _Decompressed(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"))  # type: ignore[return-value]
    if ending in _MODULES:
        return _Decompressed(import_module(_MODULES[ending]).open(raw))  # type: ignore[return-value]
    return raw


def compress(raw: Any, path: str) -> Any:
    """Return a stream that writes to `raw`, compressed if the ending of `path` says so."""
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
    """A decompressed stream whose text before damage, or before the end of a cut file, is read before the error."""

    stream: Any
    fault: Exception | None = None

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer before damage and at the end; raise what the stream raises if there is no text."""
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

    def close(self) -> None:
        """Close the stream, but not the compressed one that it reads."""
        self.stream.close()
