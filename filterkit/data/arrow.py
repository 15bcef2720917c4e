"""Arrow arrays: converting them to and from numpy without a copy, and computing with texts.

These functions avoid slow imports. `pyarrow.array` and `to_numpy` import pandas where it is installed, and methods such
as `take` import `pyarrow.compute`, which wraps every function of Arrow. Either takes longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from filterkit.data.losses import InexactNumber, find_inexact_int

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
    """Return an Arrow array of numpy `values`, float64, int64 or int32, null where bool `missing` is true.

    If `missing` is None, no element is null. The array shares the memory of `values` if this is contiguous.
    """
    values = np.ascontiguousarray(values)
    validity = None if missing is None or not missing.any() else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), [validity, pa.py_buffer(values)])


def convert_to_exact_floats(array: Any, may_round: bool = False) -> Any:
    """Convert an Arrow array of numbers, decimals or booleans to one of the nearest float64; null stays null.

    Parameters
    ----------
    array : of any type that `pyarrow.types` calls integer, floating, decimal, boolean or null. It may be a
        `ChunkedArray`, but not of decimals.
    may_round : whether integers and decimals that float64 cannot represent are rounded; otherwise, they are errors.

    Raises
    ------
    InexactNumber : only without `may_round`. An integer is not exactly a float64; or a decimal is neither exactly a
        float64 nor, like 0.1, the shortest text of one.
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
    if not may_round and not _converts_back_to(rounded, array):
        raise InexactNumber(str(find_inexact_int(array.to_pylist())))
    return rounded


def _convert_decimals(array: Any, may_round: bool) -> Any:
    """Convert an Arrow array of decimals, not chunked, as `convert_to_exact_floats` does."""
    # Arrow's own conversion often misses the nearest float64 by one.
    scale = array.type.scale
    if len(array) and pa.types.is_decimal128(array.type) and 0 <= scale <= 22:
        missing = make_null_mask(array)
        words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
        low, high = words[::2], words[1::2]
        if (missing | ((low >= -_SMALL) & (low <= _SMALL) & (high == low >> 63))).all():
            return make_number_array(low / 10.0**scale, missing)  # both are exact, so that the quotient is the nearest
    found = array.cast(pa.string()).cast(pa.float64())
    if not may_round and not _converts_back_to(found.cast(pa.string()), array):
        for number, value in zip(array.to_pylist(), found.to_pylist()):
            if number is not None and number not in (Decimal(value), Decimal(repr(value))):
                raise InexactNumber(str(number))
    return found


def _converts_back_to(converted: Any, original: Any) -> bool:
    """Return whether `converted`, cast to the type of `original`, equals it; False if the cast fails."""
    try:
        return bool(converted.cast(original.type).equals(original))
    except pa.ArrowInvalid:
        return False


def make_text_array(words: Sequence[str | None]) -> Any:
    """Return an Arrow array of strings, null for None; raise UnicodeEncodeError for a lone surrogate."""
    validity = None
    if None in words:
        present = np.array([word is not None for word in words], bool)
        validity = pa.py_buffer(np.packbits(present, bitorder="little"))
    encoded = [(word or "").encode() for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum(list(map(len, encoded)), out=offsets[1:])
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def wrap_text_buffer(offsets: np.ndarray, text: Any) -> Any:
    """Return an Arrow array of n strings whose UTF-8 bytes `text` holds one after the other, without a copy.

    `offsets` says where each of them begins in `text`, and where the last one ends: int32 (n + 1,) for an array of
    ``string``, int64 for ``large_string``.
    """
    kind = pa.string() if offsets.dtype == np.int32 else pa.large_string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(text)])


def join_elementwise(*parts: Any, separator: str = "") -> Any:
    """Join Arrow arrays of strings: element i of the result is element i of each of `parts`, `separator` between them.

    Some of `parts`, but not all, may be a `str` instead, which stands in every element. An element is null if it is
    null in one of `parts`.
    """
    parts = (*parts, separator)
    words = list({part for part in parts if isinstance(part, str)})  # wide rows have very many commas
    scalars = dict(zip(words, make_text_array(words)))
    columns = [scalars[part] if isinstance(part, str) else part for part in parts]
    return call_function("binary_join_element_wise", columns, compute.JoinOptions())


def take(array: Any, positions: Any) -> Any:
    """Return the elements of an Arrow array, not chunked, at `positions`; raise IndexError if one is out of bounds.

    `positions` are an Arrow array of integers, in which null gives null, or a numpy array of int32 or int64.
    """
    positions = make_number_array(positions) if isinstance(positions, np.ndarray) else positions
    return call_function("array_take", [array, positions])


def dictionary_encode(array: Any) -> Any:
    """Return an Arrow array as a `DictionaryArray` of its distinct elements, in the order of their appearance.

    The indices are int32; null stays null.
    """
    return call_function("dictionary_encode", [array])


def replace_codes(encoded: Any, replacements: np.ndarray) -> np.ndarray:
    """Return ``replacements[i]`` for each element of a `DictionaryArray`, where i is its int32 index in the dictionary.

    An element that is null becomes the last of `replacements`, which is beyond those of the dictionary.
    """
    codes = view_numbers(encoded.indices)
    if encoded.null_count:
        codes = np.where(make_null_mask(encoded.indices), len(replacements) - 1, codes)
    return replacements.take(codes)


def make_timestamp_array(values: Sequence[int | None]) -> Any:
    """Return an Arrow array of ``timestamp[ms]`` from milliseconds since 1970 UTC, null for None."""
    missing = np.array([value is None for value in values], bool)
    return make_dates(np.array([value or 0 for value in values], np.int64), missing)


def encode_values(array: Any) -> tuple[list[Any], np.ndarray]:
    """Find the distinct elements of an Arrow array of texts or of ``timestamp[ms]``, in the order of their appearance.

    Return a list of them, as `str` or as milliseconds since 1970 UTC; and int64 (n,), the index in this list of each
    element of `array`, -1 for null.
    """
    encoded = dictionary_encode(array.view(pa.int64()) if pa.types.is_timestamp(array.type) else array)
    codes = view_numbers(encoded.indices).astype(np.int64)
    codes[make_null_mask(encoded.indices)] = -1
    return encoded.dictionary.to_pylist(), codes


def make_code_array(codes: np.ndarray) -> Any:
    """Return an Arrow array of int32 from codes of labels, null where a code is NaN or below 0."""
    missing = ~(codes >= 0)
    return make_number_array(np.where(missing, 0, codes).astype(np.int32), missing)


def pick_texts(texts: Sequence[str], codes: np.ndarray) -> Any:
    """Return an Arrow array of ``texts[code]`` for each of `codes`, null where a code is NaN or below 0."""
    return take(make_text_array(texts or ("",)), make_code_array(codes))


def read_dates(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the milliseconds since 1970 UTC of an Arrow array of ``timestamp[ms]``, and whether each element is null.

    They are int64 (n,) and bool (n,). Where an element is null, its milliseconds are arbitrary. The milliseconds share
    the memory of `array`, so do not change them.
    """
    return view_numbers(array.view(pa.int64())), make_null_mask(array)


def make_dates(milliseconds: np.ndarray, missing: np.ndarray) -> Any:
    """Return an Arrow array of ``timestamp[ms]`` from milliseconds since 1970 UTC, null where bool `missing` is true.

    Both are (n,). `milliseconds` may be of any numeric dtype; fractions are cut off.
    """
    return make_number_array(np.where(missing, 0, milliseconds).astype(np.int64), missing).view(pa.timestamp("ms"))


def get_text_bytes(array: Any) -> memoryview:
    """Return the UTF-8 bytes of all strings of an Arrow array, one after the other, without a copy; null has none."""
    offsets = string_offsets(array)
    return memoryview(array.buffers()[2])[int(offsets[0]) : int(offsets[-1])]


def string_offsets(array: Any) -> np.ndarray:
    """Return where each of the n strings of an Arrow array begins in its buffer of bytes, and where the last one ends.

    The result is int32 (n + 1,), or int64 for ``large_string``, and shares the memory of the array. Of an array of
    ``list``, the offsets are those of the lists in the array of their elements.
    """
    dtype = np.int64 if array.type == pa.large_string() else np.int32
    if not len(array):  # it may have no buffers
        return np.zeros(1, dtype)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset :][: len(array) + 1]


def join_chunks(column: Any) -> Any:
    """Return the chunks of a `ChunkedArray` as one Arrow array; return an array unchanged."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def view_numbers(array: Any) -> np.ndarray:
    """Return an Arrow array of float64, int64 or int32 as a numpy array; null becomes an arbitrary number.

    The result shares the memory of `array`, so do not change it; only a `ChunkedArray` of several chunks is copied.
    """
    array = join_chunks(array)
    dtype: Any = next(dtype for dtype, kind in _TYPES.items() if kind == array.type)
    if not len(array):  # it may have no buffer
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype)[array.offset :][: len(array)]


def convert_table_to_matrix(table: Any) -> np.ndarray:
    """Convert an Arrow table of float64 to a matrix in C order, float64 (rows, columns), NaN for null.

    The table must have at least one row.
    """
    (part,) = table.combine_chunks().to_batches()
    return np.asarray(part.to_tensor(null_to_nan=True, row_major=True).to_numpy())


def make_null_mask(array: Any) -> np.ndarray:
    """Return whether each element of an Arrow array, of any type but ``null``, is null: bool (n,)."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return ~bits[array.offset : array.offset + len(array)].view(bool)


# The names of these functions in older plugins.
exact_numbers, plain_numbers = convert_to_exact_floats, view_numbers
