"""The beginning of an ARFF input: its header, and the text read past it."""

from __future__ import annotations

import re

import numpy as np

from filterkit.arff.header import Header, find_data, parse_header
from filterkit.arff.source import Source
from filterkit.errors import ArffError

# What may stand before a row.
BEFORE_ROW = re.compile(rb"(?:[\x00-\x20,]|%[^\r\n]*[\r\n])*")


def read_header(source: Source, block_size: int) -> tuple[Header, int, bytes]:
    """The header, the number of the line where rows begin, and the text read past it."""
    text = source.read(block_size if block_size > 4096 else 4096)
    try:
        _check_begin(text)
        position = 0
        while True:
            start, stop = find_data(text, position)
            if start >= 0:
                more = source.read(1) if stop == len(text) else b""
                if not more:
                    break
                text += more
                continue
            position = stop
            more = source.read(block_size)
            if not more:
                parse_header(text.decode("utf-8", "surrogateescape"))
                raise ArffError("there is no @data line", line=count_lines(text) or 1)
            text += more
        header = parse_header(text[:start].decode("utf-8", "surrogateescape"))
    except ArffError as error:
        error.source = source.name
        source.close()
        raise
    return header, count_lines(text[:stop]) + 1, text[stop:]


def _check_begin(text: bytes) -> None:
    """Refuse what is no ARFF at all before a large file of it has been read."""
    if text.startswith(b"\x1f\x8b"):
        raise ArffError("this is compressed by gzip, which the name of a file must show by the ending .gz")
    begin = BEFORE_ROW.match(text)
    assert begin is not None
    line = text[begin.end() : begin.end() + 200].decode("utf-8", "surrogateescape")
    if len(line) > 10 and not line.lower().startswith(("%", "@relation", "'@relation", '"@relation')):
        start = count_lines(text[: begin.end()]) + 1
        parse_header("\n" * (start - 1) + next(iter(line.splitlines()), ""))
        raise ArffError("expected @relation", line=start)


def count_lines(text: bytes) -> int:
    """The number of line ends in `text`: LF, CRLF and CR count once each."""
    lines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == 0x0A))
    return lines + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else lines
