"""Many numbers as text at once: the same text as `filterkit.data.numbers.format_number`, made by orjson.

JSON spells some numbers in another way: ``1.0`` for 1, and exponents. Their texts are replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from filterkit.data import arrow
from filterkit.data.numbers import format_number

_LEAST, _TOO_LARGE = 1e-4, 1e16  # absolute values between them, and 0, have an exponent in neither spelling
_RARE = 100  # of whole numbers, at most one in so many is replaced by itself; more are sought in the whole text
_COMMA, _BLANK, _ROW_END, _NULL = b", ]n"


def spaced_texts(values: np.ndarray, missing: str = "?") -> tuple[Any, np.ndarray | None]:
    """Return the texts of float64 (n,) numbers, each after a blank; `missing` is the text of NaN.

    Returns
    -------
    texts : an Arrow array of strings.
    codes : int32 (n,), the index of the text of each value; None if value i has text i.
    """
    whole, odd = _find_whole_numbers(values), _find_odd_spellings(values)
    whole &= ~(odd | (np.signbit(values) & (values == 0)))
    odd |= (values == 0) & ~whole
    if whole.all():
        return _split_json_list(_format_as_json(values.astype(np.int64))), None
    texts = [_split_json_list(_format_as_json(values))]
    if not (whole.any() or odd.any()):
        return texts[0], None
    codes = np.arange(len(values), dtype=np.int32)
    if whole.any():
        texts.append(_split_json_list(_format_as_json(values[whole].astype(np.int64))))
        codes[whole] = len(values) + np.arange(len(texts[-1]))
    if odd.any():
        codes[odd] = sum(map(len, texts)) + np.arange(np.count_nonzero(odd))
        texts.append(arrow.make_text_array([f" {word}" for word in _format_odd_numbers(values[odd], missing)]))
    return pa.concat_arrays(texts), codes


def row_texts(X: np.ndarray, separator: str = ",", missing: str = "?") -> Any:
    """Return an Arrow array of the rows of a float64 matrix, each the shortest exact texts of its numbers.

    Parameters
    ----------
    X : with at least one row and column; NaN is missing.
    separator : stands between numbers: an ASCII character that is not part of one.
    missing : the text of a missing value.
    """
    X = np.ascontiguousarray(X)
    whole, odd = _find_whole_numbers(X), _find_odd_spellings(X)
    is_rare = bool(np.count_nonzero(whole) * _RARE < whole.size)
    if is_rare:
        odd |= whole
    words = _format_odd_numbers(X[odd], missing)
    if whole.all() and not words and not np.signbit(X).any():
        X, is_rare = X.astype(np.int64), True
    text = _format_as_json(np.where(odd, np.nan, X) if words else X)
    if not is_rare:
        text = text.replace(b".0,", b",").replace(b".0]", b"]")
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
    which = np.zeros(len(is_null), np.int32)
    which[is_null] = np.arange(1, len(words) + 1)
    replaced = arrow.take(arrow.make_text_array(["", *words]), which)
    pieces = arrow.replace_texts(arrow.wrap_texts(bounds, text), np.arange(len(bounds) - 1) % 2 == 1, replaced)
    offsets = arrow.string_offsets(pieces)
    rows = np.append(offsets[::2][np.append(True, ~is_null)], offsets[-1])
    return arrow.wrap_texts(rows, pieces.buffers()[2])


def _format_as_json(values: np.ndarray) -> bytes:
    """Return a float64 or int64 array as JSON."""
    return orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)


def _find_whole_numbers(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of NaN
        return np.asarray(values == np.rint(values))


def _find_odd_spellings(values: np.ndarray) -> np.ndarray:
    """Return whether each number is written otherwise in JSON than in ARFF, apart from ``.0`` at its end."""
    size = np.abs(values)
    return np.asarray(~((size >= _LEAST) & (size < _TOO_LARGE) | (size == 0)))


def _format_odd_numbers(values: np.ndarray, missing: str) -> list[str]:
    """Return `format_number` of values whose JSON is another text; `missing` for NaN."""
    if (np.isfinite(values) & (values != 0)).all():  # repr takes half the time
        return [repr(value).replace("e-0", "e-").removesuffix(".0") for value in values.tolist()]
    return [missing if value != value else format_number(value) for value in values.tolist()]


def _split_json_list(text: bytes) -> Any:
    """Return an Arrow array of the texts of the numbers in a JSON list, each after a blank."""
    characters = np.frombuffer(text, np.uint8)[:-1]
    blanked = (characters == _COMMA).view(np.uint8)
    commas = np.flatnonzero(blanked.view(bool))
    blanked *= np.uint8(_COMMA ^ _BLANK)
    blanked ^= characters
    blanked[0] = _BLANK
    bounds = np.zeros(len(commas) + 2, np.int32)
    bounds[1:-1], bounds[-1] = commas, len(blanked)
    return arrow.wrap_texts(bounds, blanked)
