"""Text in whole lines or records: where to cut it, and the blocks that a source is read in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from filterkit.engines.engine import PAUSE
from filterkit.errors import RowError
from filterkit.files.source import Source

LINE_END = re.compile(rb"(?<!\\)(?:\r\n|\n|\r)")  # a certain one: not after a backslash, see `cut`
_IDLE = re.compile(rb"[\x00-\x09\x0b\x0c\x0e-\x20]*+(%[^\r\n]*+)?")  # an empty line, or one with a comment alone
_LONG = 1 << 24  # bytes; longer than any command line kept in a comment


class Block(NamedTuple):
    """Whole lines or records: UTF-8 `text`, the number of its first `line`, and the `name` of the input."""

    text: bytes
    line: int
    name: str

    @property
    def place(self) -> str:
        """Name the file and line for messages."""
        return f"{self.name}, line {self.line}"


def count_lines(text: bytes) -> int:
    """The number of line ends in `text`: LF, CRLF or CR."""
    lines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == 0x0A))
    return lines + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else lines


def cut(text: bytes | bytearray, start: int = 0) -> int:
    """Return the offset after the last certain line end of `text` from `start` on; 0 without one.

    A line end after a backslash is not certain, because it may belong to a quoted value. Neither is a CR at the very
    end, which may be half of a CRLF.
    """
    for mark, end in ((b"\n", len(text)), (b"\r", len(text) - 1)):
        position = text.rfind(mark, start, end)
        while position > 0 and text[position - 1] == 0x5C:
            position = text.rfind(mark, start, position)
        if position >= 0:
            return position + 1
    return 0


def first_line(text: bytes, start: int = 0) -> int:
    """Return the offset after the first certain line end of `text` from `start` on; its length if there is none."""
    end = LINE_END.search(text, start)
    return end.end() if end else len(text)


def read_to_line_end(source: Source, text: bytes, size: int) -> tuple[bytes, int]:
    """Read on until `text`, which has no certain line end, has one.

    Of a long line that so far has only blanks and a comment, only the ``%`` is kept.

    Returns
    -------
    text : with what has been read.
    end : where to cut it; 0 if the input ends first.
    """
    grown, end, idle = bytearray(text), 0, True
    while not end and (more := source.read(size)):
        if idle and len(grown) > _LONG:
            match = _IDLE.fullmatch(grown)
            idle = match is not None
            if match:
                grown[:] = b"%" if match[1] else b" "
        start = len(grown) - 1
        grown += more
        end = cut(grown, max(start, 0))
    return bytes(grown), end


class Lines:
    """Iterates over pieces of whole lines, each as soon as it has been read; the last line may have no line end.

    Parameters
    ----------
    source : what to read.
    rest : text that has been read from it already.
    size : bytes to read at once.

    Attributes
    ----------
    rest : the text that has been read, but not yielded.
    """

    def __init__(self, source: Source, rest: bytes, size: int) -> None:
        self._source, self.rest, self._size = source, rest, size

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> bytes:
        text, end = self.rest, cut(self.rest)
        if not end:
            text, end = read_to_line_end(self._source, text, self._size)
        if not text:
            raise StopIteration
        self.rest = text[end:] if end else b""
        return text[:end] if end else text


def blocks(
    source: Source,
    rest: bytes,
    line: int,
    size: int,
    end_of: Callable[[bytes], int] = cut,
    lengthen: Callable[[Source, bytes, int], tuple[bytes, int]] = read_to_line_end,
) -> Iterator[Block]:
    """Yield whole lines or records of `source`, about `size` bytes at a time; the last one may have no end.

    `PAUSE` is yielded where the next text of a live source has not arrived yet.

    Parameters
    ----------
    source : what to read.
    rest : text that has been read from it already.
    line : the number of the line where `rest` begins.
    size : bytes.
    end_of : where to cut a text, which is an offset after the last certain end of a line or record; 0 if it has none.
    lengthen : reads on until a text that has no such end has one, as `read_to_line_end` does.
    """
    texts = _texts(source, rest, size, end_of, lengthen)
    while True:
        try:
            text = next(texts, b"")
        except RowError as error:
            error.line = None if error.line is None else line + error.line - 1
            raise
        if not text:
            return
        if text is PAUSE:
            yield PAUSE  # type: ignore[misc]
            continue
        yield Block(text, line, source.name)
        line += count_lines(text)


def _texts(
    source: Source,
    rest: bytes,
    size: int,
    end_of: Callable[[bytes], int],
    lengthen: Callable[[Source, bytes, int], tuple[bytes, int]],
) -> Iterator[bytes]:
    """The texts of `blocks`."""
    if source.live and (end := end_of(rest)):
        yield rest[:end]
        rest = rest[end:]
    while True:
        if source.waits():
            yield PAUSE
        text = source.read(max(size - len(rest), 1)) if len(rest) < size else b""
        if not text and len(rest) < size:
            break
        whole = rest + text
        end = end_of(whole)
        if not end:
            whole, end = lengthen(source, whole, size)
        if not end:
            rest = whole
            break
        if end > 2 * size:  # `rest` was longer than a block
            end = end_of(whole[:size]) or end
        yield whole[:end]
        rest = whole[end:]
    if rest:
        yield rest
