"""Arrays to and from Arrow without a copy.

`pyarrow.array` and `to_numpy` import pandas where it is installed, which takes longer than many a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.int64): pa.int64(), np.dtype(np.int32): pa.int32()}


def numbers(values: np.ndarray, missing: np.ndarray | None = None) -> Any:
    """An Arrow array of contiguous float64, int64 or int32 `values`, null where `missing` is true."""
    values = np.ascontiguousarray(values)
    buffers = [_valid(missing), pa.py_buffer(values)]
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), buffers)


def flags(values: np.ndarray) -> Any:
    """An Arrow array of bool `values`."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, _bits(values)])


def strings(words: Sequence[str | None]) -> Any:
    """An Arrow array of `words`, null where one is None."""
    texts = [b"" if word is None else word.encode() for word in words]
    offsets = np.zeros(len(texts) + 1, np.int32)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    missing = np.array([word is None for word in words], bool)
    buffers = [_valid(missing), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def join(*parts: Any, separator: str = "") -> Any:
    """The texts of several arrays, or single words, joined element by element."""
    scalars = [strings([part])[0] if isinstance(part, str) else part for part in (*parts, separator)]
    return pc.binary_join_element_wise(*scalars)


def moments(values: Sequence[int | None]) -> Any:
    """An Arrow array of ``timestamp[ms]`` from milliseconds, null where one is None."""
    missing = np.array([value is None for value in values], bool)
    filled = np.array([value or 0 for value in values], np.int64)
    return numbers(filled, missing).cast(pa.timestamp("ms"))


def _bits(values: np.ndarray) -> Any:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def _valid(missing: np.ndarray | None) -> Any:
    """The validity buffer of an array, None where nothing is missing."""
    return None if missing is None or not missing.any() else _bits(~missing)


def text_of(array: Any) -> memoryview:
    """All strings of an Arrow array, one after the other, without a copy."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    return memoryview(array.buffers()[2])[int(offsets[0]) : int(offsets[-1])]


def plain_values(array: Any) -> np.ndarray:
    """The elements of a float64, int64 or int32 array without a copy, whatever they are where it is null."""
    dtype: Any = next(dtype for dtype, kind in _TYPES.items() if kind == array.type)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset : array.offset + len(array)]


def nulls(array: Any) -> np.ndarray:
    """bool per element: whether it is null."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return np.asarray(bits[array.offset : array.offset + len(array)] == 0)
