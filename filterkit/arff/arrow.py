"""Arrays to and from Arrow without a copy.

`pyarrow.array` and `to_numpy` import pandas where it is installed, which takes longer than many a file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.int64): pa.int64(), np.dtype(np.int32): pa.int32()}


def numbers(values: np.ndarray) -> Any:
    """An Arrow array of contiguous float64, int64 or int32 `values`, none of them null."""
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), [None, pa.py_buffer(values)])


def flags(values: np.ndarray) -> Any:
    """An Arrow array of bool `values`."""
    packed = np.packbits(values, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(packed)])


def strings(words: list[str]) -> Any:
    """An Arrow array of `words`."""
    texts = [word.encode() for word in words]
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))])


def text_of(array: Any) -> bytes:
    """All strings of an Arrow array, one after the other."""
    offsets = values_of(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    return bytes(memoryview(array.buffers()[2])[int(offsets[0]) : int(offsets[-1])])


def values_of(buffer: Any, dtype: Any) -> np.ndarray:
    """The elements of an Arrow buffer."""
    return np.frombuffer(buffer, dtype)


def plain_values(array: Any, dtype: Any) -> np.ndarray:
    """The elements of a number array, whatever they are where it is null; see `nulls`."""
    return values_of(array.buffers()[1], dtype)[array.offset : array.offset + len(array)]


def nulls(array: Any) -> np.ndarray:
    """bool per element: whether it is null."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    bits = np.unpackbits(values_of(array.buffers()[0], np.uint8), bitorder="little")
    return np.asarray(bits[array.offset : array.offset + len(array)] == 0)
