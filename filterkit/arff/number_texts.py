"""Many numbers as text at once: the same text as `filterkit.data.numbers.format_number`, made by orjson.

JSON spells some numbers in another way: ``1.0`` for 1, and exponents. Their texts are replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from filterkit.data import arrow
from filterkit.data.numbers import format_number, round_to_digits

_LEAST, _TOO_LARGE = 1e-4, 1e16  # absolute values between them, and 0, have an exponent in neither spelling
_RARE = 100  # if fewer than one in so many numbers are whole, each is replaced; else ".0" is sought in the whole text
_COMMA, _ROW_END, _NULL = b",]n"


def spaced_texts(values: np.ndarray, missing: str = "?", mark: str = " ") -> tuple[Any, np.ndarray | None]:
    """Return the shortest exact texts of float64 (n,) numbers, each after the ASCII character `mark`.

    `missing` is the text of NaN. Return an Arrow array of texts, and int32 (n,) codes: the index of the text of each
    number. Return None instead of the codes if the index of each text is that of its number.
    """
    text, odd, words = _format_as_json_with_nulls(values, missing)
    characters = np.frombuffer(text, np.uint8)[:-1].copy()
    commas = np.flatnonzero(characters == _COMMA)
    characters[0] = characters[commas] = ord(mark)
    texts = arrow.wrap_text_buffer(np.concatenate([[0], commas, [len(characters)]]).astype(np.int32), characters)
    if not words:
        return texts, None
    codes = np.arange(len(values), dtype=np.int32)
    codes[odd] = len(texts) + np.arange(len(words))
    return pa.concat_arrays([texts, arrow.make_text_array([mark + word for word in words])]), codes


def row_texts(X: np.ndarray, separator: str = ",", missing: str = "?") -> Any:
    """Return an Arrow array with one text for each row of a float64 matrix: the shortest exact texts of its numbers.

    Parameters
    ----------
    X : the matrix, with at least one column.
    separator : the ASCII character between two numbers; one that no number contains.
    missing : the text of NaN.
    """
    if not len(X):
        return arrow.make_text_array([])
    text, _, words = _format_as_json_with_nulls(X, missing)
    characters = np.frombuffer(text, np.uint8)
    marks = characters == _ROW_END
    if words:
        marks |= characters == _NULL
    cuts = np.flatnonzero(marks)[:-1]  # at each null and at the end of each row; the last bracket ends the matrix
    is_null = characters[cuts[:-1]] == _NULL
    if separator != ",":
        text = text.replace(b",", separator.encode())
    bounds = np.full(2 * len(cuts), len("[["), np.int32)
    bounds[1::2] = cuts
    bounds[2::2] = cuts[:-1] + np.where(is_null, len("null"), len("],["))
    texts = pa.concat_arrays([arrow.wrap_text_buffer(bounds, text), arrow.make_text_array(words)])
    chosen = np.insert(2 * np.arange(len(cuts)), np.flatnonzero(is_null) + 1, len(bounds) - 1 + np.arange(len(words)))
    pieces = arrow.take(texts, chosen)
    begins = (np.arange(1, len(cuts)) + np.cumsum(is_null))[~is_null]  # the first pieces of rows but the first
    rows = arrow.string_offsets(pieces)[np.concatenate([[0], begins, [len(pieces)]])]
    return arrow.wrap_text_buffer(rows, pieces.buffers()[2])


def _format_as_json_with_nulls(values: np.ndarray, missing: str) -> tuple[bytes, np.ndarray, list[str]]:
    """Format float64 `values` as JSON, with null for each number that JSON spells otherwise than ARFF.

    Whole numbers are written without ``.0``; if they are rare, null stands for them, too. `missing` is the text of NaN.

    Returns
    -------
    text : the JSON: an array, or an array of arrays if `values` have two dimensions.
    odd : bool in the shape of `values`, true where null stands.
    words : the ARFF texts of the values where null stands, in order.
    """
    values = np.ascontiguousarray(values)
    with np.errstate(invalid="ignore"):  # of NaN
        whole = values == np.rint(values)
    size = np.abs(values)
    odd = ~((size >= _LEAST) & (size < _TOO_LARGE) | (size == 0))  # JSON has exponents where ARFF has none, or reverse
    is_rare = bool(np.count_nonzero(whole) * _RARE < whole.size)
    if is_rare:
        odd |= whole
    words = [missing if value != value else format_number(value) for value in values[odd].tolist()]
    if whole.all() and not words and not np.signbit(values).any():
        values, is_rare = values.astype(np.int64), True
    if words:
        values = np.where(odd, np.nan, values)
    text = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
    return (text if is_rare else text.replace(b".0,", b",").replace(b".0]", b"]")), odd, words


def format_numbers_as_dictionary(
    values: np.ndarray, precision: int | None, missing: str = "?", mark: str = " "
) -> tuple[Any, np.ndarray]:
    """Return an Arrow array of texts of float64 (n,) numbers, and int32 (n,) codes: the index of each number's text.

    Each text begins with the ASCII character `mark`. Numbers have `precision` significant digits; None for the shortest
    exact texts. `missing` is the text of NaN. Equal numbers may share a text.
    """
    # To look a number up costs a fifth of formatting it. So equal numbers share a text if a sample has many of them.
    values = round_significant(values, precision)
    places, bits = np.arange(len(values), dtype=np.int32), arrow.make_number_array(values.view(np.int64))
    sample = len(values) // 16
    if 2 * len(arrow.dictionary_encode(bits[:sample]).dictionary) <= sample:
        encoded = arrow.dictionary_encode(bits)
        values = arrow.view_numbers(encoded.dictionary).view(np.float64)
        places = arrow.view_numbers(encoded.indices)
    texts, codes = spaced_texts(values, missing, mark)
    return texts, places if codes is None else codes[places]


def round_significant(values: np.ndarray, digits: int | None) -> np.ndarray:
    """Return float64 `values` rounded to `digits` significant digits, as ``f"{value:.{digits}g}"`` rounds.

    If `digits` is None or at least 17, return `values` themselves. A number that rounding would make infinite stays.
    """
    if digits is None or digits >= 17:
        return values
    bits = np.ascontiguousarray(values).view(np.int64).ravel()  # which tell -0 from 0
    distinct, which = np.unique(bits, return_inverse=True)
    return np.array([round_to_digits(value, digits) for value in distinct.view(np.float64).tolist()])[which].reshape(
        values.shape
    )
