"""Cells of delimited text that look like codes, such as 00501 or +4915, found by their characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .form import Delimited

_POINT, _ZERO, _NINE, _PLUS = (np.uint8(ord(character)) for character in ".09+")
_WINDOW = 1 << 16  # bytes


def find_columns_with_leading_zero_or_plus(form: Delimited, text: bytes) -> list[int]:
    """Return the ascending positions, from 0, of the columns with a number that begins like 007, +49 or -01.

    The number may begin a cell, or follow a space in it. `text` is whole records of the format `form`.
    """
    # This passes over all bytes, so it compares arrays of a size that the processor's cache holds.
    characters = np.frombuffer(b"\n\n" + text, np.uint8)  # so that two come before each
    found = []
    for first in range(0, len(text), _WINDOW):
        window = characters[first + 1 : first + _WINDOW + 3]
        before, here, after = window[:-2], window[1:-1], window[2:]
        is_code = here == _ZERO
        is_code &= (before - _POINT) > _NINE - _POINT  # a digit or a point before makes it part of a number
        is_code |= here == _PLUS
        is_code &= (after - _ZERO) <= _NINE - _ZERO
        if is_code.any():
            found.append(np.flatnonzero(is_code) + first + 2)
    if not found:
        return []
    offsets = np.concatenate(found)
    before = characters[offsets - 1]
    is_signed = (before == ord("-")) | (before == _PLUS)
    before = np.where(is_signed, characters[offsets - 2], before)
    begins_cell = np.zeros(256, bool)
    begins_cell[list(f"{form.separator}{form.quoting}\r\n ".encode())] = True
    offsets = offsets[begins_cell[before]]
    return _find_columns_at_offsets(form, characters, offsets) if len(offsets) else []


def _find_columns_at_offsets(form: Delimited, characters: np.ndarray, offsets: np.ndarray) -> list[int]:
    """Return the ascending positions, from 0, of the columns that have a character at one of `offsets`.

    `offsets` are positions in `characters`, uint8, which begin with a line end.
    """
    separates = characters == ord(form.separator)
    ends = (characters == ord("\n")) | (characters == ord("\r"))
    if form.quoting:
        quotes = characters == ord(form.quoting)
        if quotes.any():
            is_outside = (np.cumsum(quotes, dtype=np.uint8) & 1) == 0
            separates &= is_outside
            ends &= is_outside
    separators = np.flatnonzero(separates)
    lines = np.flatnonzero(ends)
    before_line = np.searchsorted(separators, lines[np.searchsorted(lines, offsets) - 1])
    return np.unique(np.searchsorted(separators, offsets) - before_line).tolist()  # type: ignore[no-any-return]
