"""Compressed streams: which compression a file has is told by the ending of its name."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # of Python, imported only when they are needed


def decompress(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return a stream of the bytes of `raw`, decompressed if the ending of `path` says so."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".zst":
        return _Zstd(raw)  # type: ignore[return-value]
    return import_module(_MODULES[ending]).open(raw) if ending in _MODULES else raw


def compress(raw: Any, path: str) -> Any:
    """Return a stream that writes to `raw`, compressed if the ending of `path` says so."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".gz":
        import gzip

        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)
    if ending == ".zst":
        import zstandard

        return zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
    return import_module(_MODULES[ending]).open(raw, "wb") if ending in _MODULES else raw


class _Zstd:
    """The text of zstd frames. Unlike zstandard's own reader, it notices a file that is cut off."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._raw = raw
        self._begin = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None  # the decoder of the current frame
        self._rest = b""  # what has been read after the end of a frame

    def read(self, size: int) -> bytes:
        """Read some text; empty only at the end.

        Raises
        ------
        EOFError : the file is cut off.
        """
        text = b""
        while not text:
            # Little at a time, because four bytes may become 128 kB of text at once.
            data = self._rest or self._raw.read(min(size, 1 << 9))
            if not data:
                if self._frame is not None:
                    raise EOFError
                break
            self._frame = self._frame or self._begin()
            text = self._frame.decompress(data)
            self._rest = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        return text

    def close(self) -> None:
        """Do nothing: the raw stream is closed by its owner."""
