"""Text in whole lines or records: where to cut it, and the blocks that a source is read in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from filterkit.engines.engine import PAUSE
from filterkit.errors import ArffError, RowError
from filterkit.files.source import Source

LINE_END = re.compile(rb"(?<!\\)(?:\r\n|\n|\r)")  # a certain one, see `find_last_line_end`
LONGEST = 1 << 28  # bytes of a line or record; a longer one is taken for an error, so that memory stays bounded


class Block(NamedTuple):
    """Whole lines or records of an input; only the last line of the input may have no line end.

    Attributes
    ----------
    text : their UTF-8 text.
    line : the number of the first line, from 1, counted from the beginning of the input; in a `Stretch`, from its
        beginning.
    name : the name of the input.
    """

    text: bytes
    line: int
    name: str

    @property
    def location(self) -> str:
        """The name of the input and the first line, for messages: "a.arff, line 7"."""
        return f"{self.name}, line {self.line}"


def count_lines(text: bytes) -> int:
    """Return the number of line ends in `text`: LF, CR, and CRLF, which counts once."""
    lines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == 0x0A))
    return lines + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else lines


def find_last_line_end(text: bytes | bytearray, start: int = 0) -> int:
    """Return the offset after the last certain LF of `text` from `start` on; without one, after the last certain CR.

    Offsets count from the beginning of `text`. Return 0 if there is neither. An LF or CR right after a backslash is not
    certain, because it may be in a quoted value. Neither is a CR at the very end, which may be half of a CRLF.
    """
    for mark, end in ((b"\n", len(text)), (b"\r", len(text) - 1)):
        position = text.rfind(mark, start, end)
        while position > 0 and text[position - 1] == 0x5C:
            position = text.rfind(mark, start, position)
        if position >= 0:
            return position + 1
    return 0


def find_first_line_end(text: bytes, start: int = 0, newline: bytes = b"") -> int:
    """Return the offset after the first line end of `text` from `start` on; ``len(text)`` if there is none.

    Offsets count from the beginning of `text`. `newline` is the byte that ends lines; b"" for LF, CRLF or CR, but not
    right after a backslash.
    """
    if newline:
        return text.find(newline, start) + 1 or len(text)
    end = LINE_END.search(text, start)
    return end.end() if end else len(text)


@dataclass(eq=False, repr=False)
class WholeLinePieces(Iterator[bytes]):
    """Iterates over the text of a source in pieces of whole lines or records; the last piece may have no line end.

    If the source is live, a whole line that has arrived is yielded before the source is read again. Raise RowError if a
    line or record is longer than 256 MB, and FilterkitError if the source cannot be read.

    Attributes
    ----------
    source : the input to read.
    rest : text that has been read from the source already, but not yielded; each step changes it.
    size : how many bytes a piece should have; it is longer if a line or record is.
    find_last_end : a function that returns the offset after the last certain end of a line or record in a text; 0 if
        there is none.
    """

    source: Source
    rest: bytes
    size: int
    find_last_end: Callable[[bytes], int] = find_last_line_end

    def __next__(self) -> bytes:
        text, size, end = self.rest, self.size, 0
        if self.source.live or len(text) >= size:
            end = self.find_last_end(text)
        while not end and (more := self.source.read(size - len(text) if len(text) < size else len(text))):
            text += more
            end = self.find_last_end(text)
            if not end and len(text) > LONGEST:
                raise RowError(
                    f"a line is longer than {LONGEST >> 20} MB; close its quote, or name the right format with --from",
                    source=self.source.name,
                )
        if not text:
            raise StopIteration
        if end > 2 * size:  # `rest` was longer than a block
            end = self.find_last_end(text[:size]) or end
        self.rest = text[end:] if end else b""
        return text[:end] if end else text


def read_blocks(
    source: Source, rest: bytes, line: int, size: int, find_last_end: Callable[[bytes], int] = find_last_line_end
) -> Iterator[Block]:
    """Yield blocks of whole lines or records of a source, and `PAUSE` before a read that may wait for a live source.

    Raise RowError if a line or record is longer than 256 MB, and FilterkitError if the source cannot be read.

    Parameters
    ----------
    source : the input to read.
    rest : text that has been read from the source already; the first block begins with it.
    line : the number of the line where `rest` begins, from 1.
    size : how many bytes a block should have; it is longer if a line or record is.
    find_last_end : a function that returns the offset after the last certain end of a line or record in a text; 0 if
        there is none.
    """
    lines = WholeLinePieces(source, rest, size, find_last_end)
    while True:
        if source.must_wait():
            yield PAUSE
        try:
            text = next(lines, b"")
        except RowError as error:
            if not isinstance(error, ArffError):  # that is of the source, which cannot be read on
                error.line = line + (error.line or 1) - 1
            raise
        if not text:
            return
        yield Block(text, line, source.name)
        line += count_lines(text)
