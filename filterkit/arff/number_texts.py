"""Many numbers as text at once: the same text as `filterkit.arff.numbers.format_number`, made by orjson.

JSON spells some numbers otherwise: ``1.0`` for 1, and an exponent in another way. What differs is cut out of the JSON
and replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from filterkit.arff.numbers import format_number
from filterkit.data import arrow

_LEAST, _TOO_LARGE = 1e-4, 1e16  # absolute values between them, and 0, have no exponent in either spelling
_ROW_END, _NULL, _POINT = b"]n."
_LENGTHS = np.zeros(256, np.int32)
_LENGTHS[[_ROW_END, _NULL, _POINT]] = len("],["), len("null"), len(".0")


def row_texts(X: np.ndarray) -> Any:
    """An Arrow array of the rows of a float64 matrix with at least one row and column, each with commas between."""
    text, marks, words = _json(np.ascontiguousarray(X))
    text, ends = text[2:-2], text[2:-2] == _ROW_END  # without [[ and ]]
    pieces, cuts = _replaced(text, ends if marks is None else ends | marks[2:-2], words)
    offsets = np.zeros(len(X) + 1, np.int32)
    bounds = arrow.bounds(pieces)
    offsets[1:-1] = bounds[1:-1:2][text[cuts] == _ROW_END]
    offsets[-1] = bounds[-1]
    return arrow.strings_at(offsets, pieces.buffers()[2])


def spaced_texts(values: np.ndarray) -> Any:
    """An Arrow array of the texts of float64 (n,) values, each after a blank."""
    text, marks, words = _json(values)
    if marks is not None:
        text = np.frombuffer(arrow.text_of(_replaced(text, marks, words)[0]), np.uint8)
    text = text[:-1].copy()
    commas = np.flatnonzero(text == ord(","))
    text[0] = text[commas] = ord(" ")
    offsets = np.zeros(len(values) + 1, np.int32)
    offsets[1:-1], offsets[-1] = commas, len(text)
    return arrow.strings_at(offsets, text)


def are_whole(values: np.ndarray) -> bool:
    """Whether all of some float64 values are whole numbers from 0 to 10^15, none of them -0."""
    return bool(_whole(values).all() and values.max(initial=0) < 1e15) and not np.signbit(values).any()


def _whole(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of NaN
        return np.asarray(values == np.rint(values))


def _json(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """A float64 array as JSON, and what has to be replaced in it.

    Returns
    -------
    text : uint8 (n,), the JSON.
    marks : bool (n,), where each ``null`` and ``.0`` begins that has to be replaced; None if none has.
    words : what replaces each ``null``; nothing replaces ``.0``.
    """
    if are_whole(values):
        return _dumped(values.astype(np.int64)), None, []
    size = np.abs(values)
    differs = ~((size >= _LEAST) & (size < _TOO_LARGE) | (size == 0))
    words = _words(values[differs])
    text = _dumped(np.where(differs, np.nan, values) if words else values)
    marks = text == _NULL if words else None
    if _whole(values).any():
        points = np.zeros(len(text), bool)
        next_ = text[2:]
        points[:-2] = (text[:-2] == _POINT) & (text[1:-1] == ord("0")) & ((next_ == ord(",")) | (next_ == _ROW_END))
        marks = points if marks is None else marks | points
    return text, marks, words


def _dumped(values: np.ndarray) -> np.ndarray:
    return np.frombuffer(orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY), np.uint8)


def _words(values: np.ndarray) -> list[str]:
    """`format_number` of each value, which is called once for each distinct one."""
    known = {value: format_number(value) for value in set(values[values == values].tolist())}
    return [known.get(value, "?") for value in values.tolist()]


def _replaced(text: np.ndarray, marks: np.ndarray, words: list[str]) -> tuple[Any, np.ndarray]:
    """JSON with something else in place of what is marked.

    Parameters
    ----------
    text : uint8 (n,).
    marks : bool (n,), true where a ``null``, a ``.0`` or the end of a row begins.
    words : what replaces each ``null``.

    Returns
    -------
    pieces : an Arrow array of strings; each piece with an odd number replaces something, and is empty unless that
        was a ``null``.
    cuts : int64, where that was in `text`.
    """
    cuts = np.flatnonzero(marks)
    kinds = text[cuts]
    offsets = np.zeros(2 * len(cuts) + 2, np.int32)
    offsets[1:-1:2], offsets[2:-1:2], offsets[-1] = cuts, cuts + _LENGTHS[kinds], len(text)
    odd = np.zeros(2 * len(cuts) + 1, bool)
    odd[1::2] = True
    which = np.zeros(len(cuts), np.int32)
    which[kinds == _NULL] = np.arange(1, len(words) + 1)
    found = arrow.take(arrow.strings(["", *words]), which)
    return arrow.replace(arrow.strings_at(offsets, text), odd, found), cuts
