"""Records of delimited text: where they end, and the cells of one.

A quote opens a quoted value only at the beginning of a cell. Inside, it is doubled, and line ends belong to the value.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np

_TAIL = rb"[^%(d)s\r\n]*+"
_CELL = rb"(?:%(q)s(?:[^%(q)s]|%(q)s%(q)s)*+%(q)s" + _TAIL + rb"|[^%(q)s%(d)s\r\n]" + _TAIL + rb"|)"


class Records:
    """How records and cells are separated.

    Parameters
    ----------
    delimiter : one ASCII character.
    quote : one ASCII character; empty for no quoting.
    newline : the byte at the end of lines: a line feed, or a carriage return in files that have no line feed.
    """

    def __init__(self, delimiter: str, quote: str, newline: bytes = b"\n") -> None:
        self.delimiter, self.quote, self.newline = delimiter, quote, newline

    def __getstate__(self) -> dict[str, Any]:
        return {"delimiter": self.delimiter, "quote": self.quote, "newline": self.newline}

    @cached_property
    def _record(self) -> re.Pattern[bytes]:
        """A record with its line end."""
        cell = self._cell
        return re.compile(b"(?:" + cell + re.escape(self.delimiter.encode()) + b")*+" + cell + rb"(?:\r\n|\n|\r)")

    @cached_property
    def _cell(self) -> bytes:
        if not self.quote:
            return _TAIL % {b"d": re.escape(self.delimiter.encode())}
        return _CELL % {b"d": re.escape(self.delimiter.encode()), b"q": re.escape(self.quote.encode())}

    def last(self, text: bytes) -> int:
        """Where the last whole record of `text` ends; 0 if there is none."""
        if not self.quote or self.quote.encode() not in text:
            return text.rfind(self.newline) + 1
        ends = self.ends(text)
        return int(ends[-1]) if len(ends) else 0

    def ends(self, text: bytes) -> np.ndarray:
        """Where each whole record of `text` ends, int64, ascending."""
        characters = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(characters == self.newline[0])
        if self.quote and self.quote.encode() in text:
            quotes = np.flatnonzero(characters == ord(self.quote))
            before = characters[quotes[::2] - 1]
            if quotes[0] == 0:
                before[0] = self.newline[0]
            opens = (before == ord(self.delimiter)) | (before == 0x0A) | (before == 0x0D) | (before == ord(self.quote))
            if not opens.all():  # a quote inside a cell is no more than a character
                return self._ends_one_by_one(text)
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        return np.asarray(ends + 1)

    def _ends_one_by_one(self, text: bytes) -> np.ndarray:
        ends, position = [], 0
        while match := self._record.match(text, position):
            position = match.end()
            ends.append(position)
        return np.array(ends, np.int64)

    def cells(self, record: bytes) -> list[tuple[bytes, bool]] | None:
        """The text of each cell of a record, and whether it is quoted; None if a quote is not closed."""
        record, found, position = record.rstrip(b"\r\n"), [], 0
        cell = re.compile(self._cell)
        if self.quote and (record.count(self.quote.encode()) and self._is_open(record)):
            return None
        while True:
            match = cell.match(record, position)
            assert match is not None
            text = match[0]
            quote = self.quote.encode()
            is_quoted = bool(quote) and text.startswith(quote)
            if is_quoted:
                inner, _, tail = text[1:].rpartition(quote)
                text = inner.replace(quote * 2, quote) + tail
            found.append((text, is_quoted))
            position = match.end()
            if record[position : position + 1] != self.delimiter.encode():
                return found
            position += 1

    def _is_open(self, record: bytes) -> bool:
        """Whether a quoted value of a record does not end."""
        return self._record.fullmatch(record + b"\n") is None
