"""Compressed streams: the ending of a file's name says how it is compressed."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # of Python, imported only when they are needed


def decompress(raw: IO[bytes], path: str) -> IO[bytes]:
    """Return a stream of the bytes of `raw`, decompressed if the ending of `path` says so."""
    ending = os.path.splitext(path)[1].lower()
    if ending == ".zst":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")  # type: ignore[no-any-return]
    return import_module(_MODULES[ending]).open(raw) if ending in _MODULES else raw


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
