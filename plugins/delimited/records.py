"""Records of delimited text: where each ends, and the cells of one.

A quote opens a quoted value only at the beginning of a cell. Inside, it is doubled, and line ends belong to the value.
The quote that closes it ends the cell.
"""

from __future__ import annotations

import re

import numpy as np

from filterkit.plugin import RowError, quoted

_TAIL = rb"[^%(d)s\r\n]*+"
_QUOTED = rb"%(q)s(?:[^%(q)s]|%(q)s%(q)s)*+"  # without the closing quote
_PLAIN = rb"[^%(q)s%(d)s\r\n]" + _TAIL
_CELL = rb"(?:" + _QUOTED + rb"%(q)s" + _TAIL + rb"|" + _PLAIN + rb"|)"
_SOUND = rb"(?:" + _QUOTED + rb"%(q)s(?=[%(d)s\r\n]|\Z)|" + _PLAIN + rb"|)"


class RecordSplitter:
    """Splits delimited text into records, and a record into cells.

    Parameters
    ----------
    delimiter : one ASCII character.
    quote : one ASCII character; empty for no quoting.
    newline : the byte at the end of lines: a line feed, or a carriage return in files that have no line feed.
    strip : whether `strip_cells` drops spaces and tabs around cells; otherwise, it changes nothing.
    """

    def __init__(self, delimiter: str, quote: str, newline: bytes = b"\n", strip: bool = False) -> None:
        self.delimiter, self.quote, self.newline, self.strip = delimiter, quote, newline, strip
        # What the patterns above have in place of %(d)s and %(q)s.
        self._marks = {b"d": re.escape(delimiter.encode()), b"q": re.escape(quote.encode())}
        # Whether each byte is a delimiter, a quote or a line end, which may stand beside a quote.
        self._is_cell_border = np.zeros(256, bool)
        self._is_cell_border[list(f"{delimiter}{quote}\r\n".encode())] = True

    def find_last_record_end(self, text: bytes) -> int:
        """Return the offset just after the last whole record of `text`, which begins with a record; 0 without one."""
        if not self.quote or self.quote.encode() not in text:
            return text.rfind(self.newline) + 1
        ends = self.find_record_ends(text)
        return int(ends[-1]) if len(ends) else 0

    def find_record_ends(self, text: bytes) -> np.ndarray:
        """Return the ascending offsets just after each whole record of `text`, int64 (records,).

        `text` begins with a record.
        """
        characters = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(characters == self.newline[0])
        if self.quote and self.quote.encode() in text:
            quotes = np.flatnonzero(characters == ord(self.quote))
            opening = quotes[::2]
            before = characters[opening[opening > 0] - 1]
            if not self._is_cell_border[before].all():  # a quote inside a cell is no more than a character
                record = re.compile((rb"(?:" + _CELL + rb"%(d)s)*+" + _CELL + rb"(?:\r\n|\n|\r)") % self._marks)
                one_by_one, position = [], 0
                while match := record.match(text, position):
                    position = match.end()
                    one_by_one.append(position)
                return np.array(one_by_one, np.int64)
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        return np.asarray(ends + 1)

    def check_quotes(self, text: bytes, format_name: str) -> None:
        """Check that each quoted value of whole records is closed, and that its cell ends there.

        Parameters
        ----------
        text : whole records.
        format_name : the name of the format, for messages.

        Raises
        ------
        RowError : a quoted value is not closed, or its cell goes on. `line` is the number, from 1, of the line of
            `text` in which the value begins.
        """
        if not self.quote or self.quote.encode() not in text:
            return
        characters = np.frombuffer(text, np.uint8)
        quotes = np.flatnonzero(characters == ord(self.quote))
        opening, closing = quotes[::2], quotes[1::2]
        beside = np.append(opening[opening > 0] - 1, closing[closing < len(text) - 1] + 1)
        if len(quotes) % 2 == 0 and self._is_cell_border[characters[beside]].all():
            return
        sound = re.match((rb"(?:" + _SOUND + rb"[%(d)s\r\n])*+" + _SOUND) % self._marks, text)
        assert sound is not None
        begin = sound.end()
        if begin < len(text):
            raise RowError(
                self._describe_quote_fault(text[begin:], format_name), line=1 + text.count(self.newline, 0, begin)
            )

    def _describe_quote_fault(self, text: bytes, format_name: str) -> str:
        """Return what is wrong with the quoted value that begins `text`, and what to do.

        `format_name` is the name of the format, for the message.
        """
        match = re.match((rb"(" + _QUOTED + rb")%(q)s?+(" + _TAIL + rb")") % self._marks, text)
        assert match is not None
        value, end = (quoted(each.decode("utf-8", "replace"), 30) for each in match.groups())
        hint = f"write a quote inside a value twice, or say --from {format_name}:quote=none"
        if match.end(1) == len(text):
            return f"a quote is not closed: {value}; {hint}"
        return f"{end} comes after the closing quote of {value}; {hint}"

    def strip_cells(self, records: bytes) -> bytes:
        """Return `records` without spaces and tabs around cells; unchanged unless the splitter strips.

        If the delimiter is a space, several become one; if it is a tab, all tabs stay. Quoted values stay as they are,
        with the spaces inside.
        """
        if not self.strip:
            return records
        blanks = b"[ ]*+" if self.delimiter == "\t" else rb"[ \t]*+"
        before = b"" if self.delimiter == " " else blanks
        quoted_value = _QUOTED + b"%(q)s" if self.quote else b""
        # The groups are a line end, a delimiter, and the quoted value that follows.
        border = rb"(?:\A|" + blanks + rb"(\r?\n|\r|\Z)|" + before + rb"(%(d)s))"
        return re.sub((border + blanks + b"(" + quoted_value + b")?") % self._marks, rb"\1\2\3", records)

    def split_cells(self, record: bytes, format_name: str) -> list[tuple[bytes, bool]]:
        """Return a pair for each cell of a record: its text without quotes, and whether it was in quotes.

        Raise RowError as `check_quotes` does. `format_name` is the name of the format, for the message.
        """
        self.check_quotes(record, format_name)
        record, found = record.rstrip(b"\r\n"), []
        position = len(record) - len(record.lstrip(b"\r\n"))
        cell, quote = re.compile((_CELL if self.quote else _TAIL) % self._marks), self.quote.encode()
        while True:
            match = cell.match(record, position)
            assert match is not None
            text = match[0]
            is_quoted = bool(quote) and text.startswith(quote)
            if is_quoted:
                text = text[1:-1].replace(quote * 2, quote)
            found.append((text, is_quoted))
            position = match.end()
            if record[position : position + 1] != self.delimiter.encode():
                return found
            position += 1
