"""Arrow arrays: converting them to and from numpy without a copy, and computing with texts.

These functions avoid slow imports. `pyarrow.array` and `to_numpy` import pandas where it is installed, and methods such
as `take` import `pyarrow.compute`, which wraps every function of Arrow. Either takes longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.data.losses import Inexact, is_exact

try:
    import pyarrow._compute as _compute
    from pyarrow._compute import ArraySortOptions, JoinOptions, SetLookupOptions  # noqa: F401  # whether it has them
except ImportError:  # pyarrow has moved them from this private module; the public one is slower to import
    import pyarrow.compute as _compute

compute: Any = _compute
call_function = compute.call_function

_SMALL = 10**15  # decimals of so many digits are the shortest texts of float64
_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.int64): pa.int64(), np.dtype(np.int32): pa.int32()}


def make_number_array(values: np.ndarray, missing: np.ndarray | None = None) -> Any:
    """Return an Arrow array of float64, int64 or int32 `values`, null where bool `missing` is true."""
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), [_make_validity(missing), pa.py_buffer(values)])


def convert_to_exact_floats(array: Any, may_round: bool = False) -> Any:
    """Convert an array of numbers, decimals or flags to float64, each to the nearest; null stays null.

    Parameters
    ----------
    array : with any type that `pyarrow.types` calls integer, floating, decimal, boolean or null.
    may_round : whether numbers that float64 does not have are rounded.

    Raises
    ------
    Inexact : float64 does not have a whole number, or a decimal is not the shortest text of any float64.
    """
    kind = array.type
    if pa.types.is_decimal(kind):
        return _convert_decimals(array, may_round)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    try:
        return array.cast(pa.float64())
    except pa.ArrowInvalid:  # a whole number is beyond 2**53, which float64 may have all the same
        rounded = array.cast(pa.float64(), safe=False)
    if not may_round and not _equals_converted_back(rounded, array):
        raise Inexact(str(next(n for n in array.to_pylist() if n is not None and not is_exact(n))))
    return rounded


def _convert_decimals(array: Any, may_round: bool) -> Any:
    """Convert decimals as `convert_to_exact_floats` does; Arrow itself often misses the nearest float64 by a bit."""
    scale = array.type.scale
    if len(array) and pa.types.is_decimal128(array.type) and 0 <= scale <= 22:
        missing = find_nulls(array)
        words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
        low, high = words[::2], words[1::2]
        if (missing | ((low >= -_SMALL) & (low <= _SMALL) & (high == low >> 63))).all():
            return make_number_array(low / 10.0**scale, missing)  # both are exact, so that the quotient is the nearest
    found = array.cast(pa.string()).cast(pa.float64())
    if not may_round and not _equals_converted_back(found.cast(pa.string()), array):
        for number, value in zip(array.to_pylist(), found.to_pylist()):
            if number is not None and number not in (Decimal(value), Decimal(repr(value))):
                raise Inexact(str(number))
    return found


def _equals_converted_back(found: Any, array: Any) -> bool:
    """Return whether `found`, which `array` was converted to, equals `array` when it is converted back."""
    try:
        return bool(found.cast(array.type).equals(array))
    except pa.ArrowInvalid:
        return False


def make_text_array(words: Sequence[str | None]) -> Any:
    """Make an Arrow array of texts, null for None."""
    missing = np.array([word is None for word in words], bool) if None in words else None
    filled = [word or "" for word in words]
    text = "".join(filled).encode()
    sizes = list(map(len, filled))
    if len(text) > sum(sizes):  # not all are ASCII
        sizes = [len(word.encode()) for word in filled]
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    buffers = [_make_validity(missing), pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), len(sizes), buffers)


def wrap_texts(offsets: np.ndarray, text: Any) -> Any:
    """Make an Arrow array of the strings between int32 or int64 `offsets` in a buffer of UTF-8, without a copy."""
    kind = pa.string() if offsets.dtype == np.int32 else pa.large_string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)])


def join_texts(*parts: Any, separator: str = "") -> Any:
    """Join the texts of several arrays element by element; a part that is a single text is the same in every result."""
    scalars = [_make_text_scalar(part) if isinstance(part, str) else part for part in (*parts, separator)]
    return call_function("binary_join_element_wise", scalars, compute.JoinOptions())


@lru_cache(maxsize=64)  # wide rows have very many commas
def _make_text_scalar(text: str) -> Any:
    return make_text_array([text])[0]


def take(array: Any, positions: Any) -> Any:
    """Return the elements of `array` at `positions`, an Arrow array of integers or a numpy array of int32 or int64."""
    positions = make_number_array(positions) if isinstance(positions, np.ndarray) else positions
    return call_function("array_take", [array, positions])


def dictionary_encode(array: Any) -> Any:
    """Encode an array as a `DictionaryArray`."""
    return call_function("dictionary_encode", [array])


def map_codes(encoded: Any, image: np.ndarray) -> np.ndarray:
    """Replace each code of an int32 `DictionaryArray` by the element of `image` there, and null by the last one."""
    codes = view_values(encoded.indices)
    if encoded.null_count:
        codes = np.where(find_nulls(encoded.indices), len(image) - 1, codes)
    return image.take(codes)


def make_timestamp_array(values: Sequence[int | None]) -> Any:
    """Make an Arrow array of ``timestamp[ms]`` from milliseconds since 1970 UTC, null for None."""
    missing = np.array([value is None for value in values], bool)
    return make_dates(np.array([value or 0 for value in values], np.int64), missing)


def encode_values(array: Any) -> tuple[list[Any], np.ndarray]:
    """Encode an array of texts or of ``timestamp[ms]`` by its distinct elements, in the order of their appearance.

    Return them, as `str` or as milliseconds since 1970 UTC; and int64 (n,), the index of each element of `array` among
    them, -1 for null.
    """
    encoded = dictionary_encode(array.view(pa.int64()) if pa.types.is_timestamp(array.type) else array)
    codes = view_values(encoded.indices).astype(np.int64)
    codes[find_nulls(encoded.indices)] = -1
    return encoded.dictionary.to_pylist(), codes


def make_code_array(codes: np.ndarray) -> Any:
    """Make an Arrow array of int32 from codes of labels, null where a code is NaN or below 0."""
    missing = ~(codes >= 0)
    return make_number_array(np.where(missing, 0, codes).astype(np.int32), missing)


def pick_texts(texts: Sequence[str], codes: np.ndarray) -> Any:
    """Make an Arrow array of the texts at the positions `codes`; null where a code is NaN or below 0."""
    return take(make_text_array(texts or ("",)), make_code_array(codes))


def read_dates(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """Read an array of ``timestamp[ms]``: int64 (n,) milliseconds since 1970 UTC, and bool (n,), which are null."""
    return view_values(array.view(pa.int64())), find_nulls(array)


def make_dates(milliseconds: np.ndarray, missing: np.ndarray) -> Any:
    """Make an Arrow array of ``timestamp[ms]``, null where bool `missing` is true; fractions are cut off."""
    return make_number_array(np.where(missing, 0, milliseconds).astype(np.int64), missing).view(pa.timestamp("ms"))


def _make_validity(missing: np.ndarray | None) -> Any:
    """Make the validity buffer of an array; None if nothing is missing."""
    return None if missing is None or not missing.any() else pa.py_buffer(np.packbits(~missing, bitorder="little"))


def get_text_bytes(array: Any) -> memoryview:
    """Return the bytes of all strings of an Arrow array, concatenated, without a copy."""
    offsets = string_offsets(array)
    return memoryview(array.buffers()[2])[int(offsets[0]) : int(offsets[-1])]


def string_offsets(array: Any) -> np.ndarray:
    """Return where each string begins in the buffer, and the last ends: int32 (n + 1,), int64 of large strings."""
    return _view_buffer(array, np.int64 if array.type == pa.large_string() else np.int32)[: len(array) + 1]


def join_chunks(column: Any) -> Any:
    """Join the chunks of a column of a table to one array; return an array as it is."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def view_values(array: Any) -> np.ndarray:
    """Return the elements of a float64, int64 or int32 array without a copy; those that are null are arbitrary."""
    return _view_buffer(array, next(dtype for dtype, kind in _TYPES.items() if kind == array.type))[: len(array)]


def _view_buffer(array: Any, dtype: Any) -> np.ndarray:
    """View the second buffer of an array from the first element on; a single zero if the array is empty."""
    return np.frombuffer(array.buffers()[1], dtype)[array.offset :] if len(array) else np.zeros(1, dtype)


def read_matrix(table: Any) -> np.ndarray:
    """Return the columns of a table of float64, which has rows, as a matrix in C order; NaN for null."""
    (part,) = table.combine_chunks().to_batches()
    return np.asarray(part.to_tensor(null_to_nan=True, row_major=True).to_numpy())


def to_floats(array: Any) -> np.ndarray:
    """Return the elements of a float64 array, NaN for null; without a copy if none is."""
    values = view_values(array)
    return np.where(find_nulls(array), np.nan, values) if array.null_count else values


def find_nulls(array: Any) -> np.ndarray:
    """Return whether each element is null: bool (n,)."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return ~bits[array.offset : array.offset + len(array)].view(bool)


# The names of these functions in older plugins.
exact_numbers = convert_to_exact_floats
