"""The beginning of an ARFF input: its header, and the text read past it."""

from __future__ import annotations

import re

import numpy as np

from filterkit.arff.header import Header, find_data, parse_header
from filterkit.arff.source import Source
from filterkit.endings import other_format
from filterkit.errors import ArffError

# What may stand before a row.
BEFORE_ROW = re.compile(rb"(?:[\x00-\x20,]|%[^\r\n]*[\r\n])*")
# How files begin that are no text in the encoding asked for: what they are, and what to do.
_BEGINNINGS = (
    (b"\x1f\x8b", "compressed by gzip, which the name of a file must show by the ending .gz"),
    (b"BZh", "compressed by bzip2, which the name of a file must show by the ending .bz2"),
    (b"\xfd7zXZ\x00", "compressed by xz, which the name of a file must show by the ending .xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd, which the name of a file must show by the ending .zst"),
    (b"PK\x03\x04", "a zip archive: unpack it, or give a saved chain to --load"),
    (b"\xff\xfe", "text in UTF-16: say --encoding utf-16"),
    (b"\xfe\xff", "text in UTF-16: say --encoding utf-16"),
)


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
        other = other_format(source.name)
        if other is not None and error.line is not None:
            error.message += f"; its ending is that of {other}, but it is read as ARFF: convert it first, or load a "
            error.message += f"plugin that reads {other}"
        error.source = source.name
        source.close()
        raise
    return header, count_lines(text[:stop]) + 1, text[stop:]


def _check_begin(text: bytes) -> None:
    """Refuse what is no ARFF at all before a large file of it has been read."""
    for begin, what in _BEGINNINGS:
        if text.startswith(begin):
            raise ArffError(f"this is {what}")
    before = BEFORE_ROW.match(text)
    assert before is not None
    line = text[before.end() : before.end() + 200].decode("utf-8", "surrogateescape")
    if len(line) > 10 and not line.lower().startswith(("%", "@relation", "'@relation", '"@relation')):
        start = count_lines(text[: before.end()]) + 1
        parse_header("\n" * (start - 1) + next(iter(line.splitlines()), ""))
        raise ArffError("expected @relation", line=start)


def count_lines(text: bytes) -> int:
    """The number of line ends in `text`: LF, CRLF and CR count once each."""
    lines = int(np.count_nonzero(np.frombuffer(text, np.uint8) == 0x0A))
    return lines + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else lines
