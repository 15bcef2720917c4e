"""Reads the beginning of a text, in which the types of its columns are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from filterkit.plugin import Source, TypedFormat

_ROWS = 20  # that are looked at, however long they are
_LONGEST = 1 << 28  # bytes, beyond which no more are read for them


class FirstRows(NamedTuple):
    """The first rows of a text, from which filterkit infers the types of its columns.

    Attributes
    ----------
    text : all rows that have been read, and perhaps the beginning of the next one.
    rows : the beginning of `text` that is used to infer types: whole rows.
    is_whole : whether `rows` are all rows of the file.
    """

    text: bytes
    rows: bytes
    is_whole: bool


def read_first_rows(
    form: TypedFormat, source: Source, text: bytes, find_ends: Callable[[bytes], np.ndarray]
) -> FirstRows:
    """Read on from `source` until there are enough rows to infer the types of columns, and return them.

    Parameters
    ----------
    form : the format, whose option ``look`` says how much is needed; by default, there must be 20 rows, too.
    source : the text after `text`.
    text : the rows that have been read from `source` before.
    find_ends : returns the ascending offsets just after each whole row of a text.
    """
    n_rows = _ROWS if form.look == type(form).look else 1
    while True:
        needed = form.look_bytes
        if len(text) >= needed:
            ends = find_ends(text[:_LONGEST])[:n_rows]
            has_rows = len(ends) == n_rows or len(text) >= _LONGEST
            needed = max(needed, int(ends[-1]) if len(ends) else 0) if has_rows else len(text)
        if needed < len(text):
            ends = find_ends(text[:needed])
            return FirstRows(text, text[: int(ends[-1]) if len(ends) else 0], False)
        more = source.read(max(1 << 16, min(len(text), 1 << 24)))
        if not more:
            return FirstRows(text, text, True)
        text += more


def is_utf8(text: bytes) -> bool:
    """Return whether `text` is UTF-8."""
    try:
        return text.isascii() or text.decode() is not None
    except UnicodeDecodeError:
        return False


def drop_lines_not_in_utf8(text: bytes) -> bytes:
    """Return `text` without the lines that are not UTF-8."""
    return text if is_utf8(text) else b"".join(line for line in text.splitlines(keepends=True) if is_utf8(line))
