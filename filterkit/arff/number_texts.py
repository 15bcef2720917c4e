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
_RARE = 100  # if one in so many numbers is whole, their places are found faster than all of the text is searched
_COMMA, _BLANK, _ROW_END, _NULL = b", ]n"


def spaced_texts(values: np.ndarray, missing: str = "?") -> tuple[Any, np.ndarray | None]:
    """Return the texts of float64 (n,) values, each after a blank; `missing` is that of NaN.

    Returns
    -------
    texts : an Arrow array of strings.
    codes : int32 (n,), the index of the text of each value; None if value i has text i.
    """
    whole, odd = _are_whole(values), _differ_in_json(values)
    whole &= ~(odd | (np.signbit(values) & (values == 0)))
    odd |= (values == 0) & ~whole
    if whole.all():
        return _split_list(_format_json(values.astype(np.int64))), None
    texts = [_split_list(_format_json(values))]
    if not (whole.any() or odd.any()):
        return texts[0], None
    codes = np.arange(len(values), dtype=np.int32)
    if whole.any():
        texts.append(_split_list(_format_json(values[whole].astype(np.int64))))
        codes[whole] = len(values) + np.arange(len(texts[-1]))
    if odd.any():
        codes[odd] = sum(map(len, texts)) + np.arange(np.count_nonzero(odd))
        texts.append(arrow.make_strings([f" {word}" for word in _format_words(values[odd], missing)]))
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
    whole, odd = _are_whole(X), _differ_in_json(X)
    words = _format_words(X[odd], missing)
    if whole.all() and not words and not np.signbit(X).any():
        X, whole = X.astype(np.int64), np.zeros(0, bool)
    text = _format_json(np.where(odd, np.nan, X) if words else X)[2:-2]  # without [[ and ]]
    if whole.any():
        whole &= ~odd
        if np.count_nonzero(whole) * _RARE < whole.size:
            points = _find_points(text, whole)
            cuts = [0, *np.stack([points, points + len(".0")], axis=1).ravel().tolist(), len(text)]
            shorter = b"".join(_cut_slices(text, cuts[::2], cuts[1::2]))
        else:
            shorter = text.tobytes().replace(b".0,", b",").replace(b".0]", b"]").removesuffix(b".0")
        text = np.frombuffer(shorter, np.uint8)
    marks = text == _ROW_END
    if words:
        marks |= text == _NULL
    ends = np.flatnonzero(marks)
    kinds = text[ends]
    if separator != ",":
        text = np.where(text == _COMMA, np.uint8(ord(separator)), text)
    pieces = _replace_words(text, ends, words)
    bounds = arrow.string_offsets(pieces)
    rows = np.zeros(len(X) + 1, np.int32)
    rows[1:-1] = bounds[1:-1:2][kinds == _ROW_END]
    rows[-1] = bounds[-1]
    return arrow.make_string_array(rows, pieces.buffers()[2])


def _format_json(values: np.ndarray) -> np.ndarray:
    """Return a float64 or int64 array as JSON: uint8 (n,)."""
    return np.frombuffer(orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY), np.uint8)


def _are_whole(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of NaN
        return np.asarray(values == np.rint(values))


def _differ_in_json(values: np.ndarray) -> np.ndarray:
    """Find the numbers whose JSON is neither their text nor their text without ``.0``."""
    size = np.abs(values)
    return np.asarray(~((size >= _LEAST) & (size < _TOO_LARGE) | (size == 0)))


def _format_words(values: np.ndarray, missing: str) -> list[str]:
    """Return `format_number` of values whose JSON is another text; `missing` for NaN."""
    if (np.isfinite(values) & (values != 0)).all():  # so all have exponents
        return [repr(value).replace("e-0", "e-") for value in values.tolist()]
    known = {value: format_number(value) for value in set(values[values == values].tolist())}
    return [known.get(value, missing) for value in values.tolist()]


def _split_list(text: np.ndarray) -> Any:
    """Return the numbers of a JSON list, each after a blank."""
    blanked = (text[:-1] == _COMMA).view(np.uint8)
    commas = np.flatnonzero(blanked.view(bool))
    blanked *= np.uint8(_COMMA ^ _BLANK)
    blanked ^= text[:-1]
    blanked[0] = _BLANK
    bounds = np.zeros(len(commas) + 2, np.int32)
    bounds[1:-1], bounds[-1] = commas, len(blanked)
    return arrow.make_string_array(bounds, blanked)


def _find_points(text: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Find the ``.0`` of the few `whole` numbers; only rows that have some are searched."""
    row_of = np.flatnonzero(whole) // whole.shape[1]
    rows = row_of[np.diff(row_of, prepend=-1) > 0]
    ends = np.append(np.flatnonzero(text == _ROW_END), len(text))
    begins = np.append(0, ends[:-1] + len("],["))[rows]
    parts = b",".join([*_cut_slices(text, begins.tolist(), ends[rows].tolist()), b""])
    commas = np.flatnonzero(np.frombuffer(parts, np.uint8) == _COMMA)  # one after each number
    sizes = ends[rows] - begins + 1
    which = np.flatnonzero(whole[rows])
    return np.asarray(commas[which] + (begins - np.cumsum(sizes) + sizes)[which // whole.shape[1]] - len(".0"))


def _cut_slices(text: np.ndarray, begins: list[int], stops: list[int]) -> list[memoryview]:
    return [text.data[begin:stop] for begin, stop in zip(begins, stops)]


def _replace_words(text: np.ndarray, cuts: np.ndarray, words: list[str]) -> Any:
    """Replace the row ends and nulls of JSON.

    Parameters
    ----------
    text : uint8 (n,).
    cuts : int64, where each ``],[`` and each ``null`` begins.
    words : what replaces each ``null``; nothing replaces the others.

    Returns
    -------
    An Arrow array of strings; each piece with an odd number replaces something.
    """
    kinds = text[cuts]
    bounds = np.zeros(2 * len(cuts) + 2, np.int32)
    bounds[1:-1:2], bounds[2:-1:2], bounds[-1] = (
        cuts,
        cuts + np.where(kinds == _NULL, len("null"), len("],[")),
        len(text),
    )
    replaced = np.arange(len(bounds) - 1) % 2 == 1
    which = np.zeros(len(cuts), np.int32)
    which[kinds == _NULL] = np.arange(1, len(words) + 1)
    return arrow.replace(
        arrow.make_string_array(bounds, text), replaced, arrow.take(arrow.make_strings(["", *words]), which)
    )
