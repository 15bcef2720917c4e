"""Cells of delimited text that look like codes, such as 00501 or +4915, found by their characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .form import Delimited

_POINT, _ZERO, _NINE = np.uint8(ord(".")), np.uint8(ord("0")), np.uint8(ord("9"))


def find_code_columns(form: Delimited, text: bytes) -> list[int]:
    """Return the positions of the columns with a cell that begins with a zero before a digit, or with a plus sign.

    This passes over the bytes of all rows, so it compares whole arrays and stops early where there is no such cell.
    """
    characters = np.frombuffer(b"\n" + text + b"\n\n", np.uint8)
    here, after = characters[1:-2], characters[2:-1]
    is_code = here == _ZERO
    is_code &= (characters[:-3] - _POINT) > _NINE - _POINT  # a digit or a point before makes it part of a number
    if b"+" in text:
        is_code |= here == ord("+")
    is_code &= (after - _ZERO) <= _NINE - _ZERO
    places = np.flatnonzero(is_code) + 1
    if not len(places):
        return []
    before = characters[places - 1]
    is_signed = (before == ord("-")) | (before == ord("+"))
    before[is_signed] = characters[places[is_signed] - 2]
    begins_cell = np.zeros(256, bool)
    begins_cell[list(f"{form.separator}{form.quoting}\r\n ".encode())] = True
    places = places[begins_cell[before]]
    return _find_columns(form, characters, places) if len(places) else []


def _find_columns(form: Delimited, characters: np.ndarray, places: np.ndarray) -> list[int]:
    """Return the positions of the columns of the cells at these places, ascending."""
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
    starts = lines[np.searchsorted(lines, places) - 1]
    columns: list[int] = np.unique(np.searchsorted(separators, places) - np.searchsorted(separators, starts)).tolist()
    return columns
