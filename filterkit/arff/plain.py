"""Plain text: a block of rows without quotes, comments, controls and odd separators, for the fast path."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from filterkit.arff.numbers import parse_number
from filterkit.arff.tokens import unescape

# A quoted value that stands between separators, or a comment. The characters that may begin a match come
# first in every alternative, so that the search for them is quick.
_MASKED = re.compile(
    rb"""('(?<![^\x00-\x20,{}]')[^'\\\r\n]*+(?:\\[\x00-\xff][^'\\\r\n]*+)*+'(?![^\x00-\x20,{}%])"""
    rb"""|"(?<![^\x00-\x20,{}]")[^"\\\r\n]*+(?:\\[\x00-\xff][^"\\\r\n]*+)*+"(?![^\x00-\x20,{}%])"""
    rb"""|%[^\r\n]*+)"""
)
_BARE = re.compile(rb"[^\x00-\x20,%'\"{}\\]+")
_CONTROL = bytes(0x20 if c < 0x20 and c != 0x0A else c for c in range(256))
MARK = b'"'  # and a number stand for a quoted value that is no bare word; plain text has no quotes


class Odd(Exception):
    """A block that is not for the fast path."""


class Plain(NamedTuple):
    """Plain text, with line ends as LF, and the values behind its marks, by their numbers."""

    text: bytes
    marked: list[str]


def make_plain(text: bytes) -> Plain:
    """`text` with line ends as LF, without comments, quotes and controls.

    Raises
    ------
    Odd : a quote that does not enclose a value between separators.
    """
    marked: list[str] = []
    if b"'" in text or b'"' in text or b"%" in text:
        pieces = _MASKED.split(text)
        rest = b"".join(pieces[::2])
        if b"'" in rest or MARK in rest:
            raise Odd
        masked = pieces[1::2]
        words = {piece: _word(piece, marked) for piece in dict.fromkeys(masked)}
        pieces[1::2] = [words[piece] for piece in masked]
        text = b"".join(pieces)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not text.endswith(b"\n"):
        text += b"\n"
    characters = np.frombuffer(text, np.uint8)
    if np.count_nonzero(characters < 0x20) != np.count_nonzero(characters == 0x0A):
        text = text.translate(_CONTROL)
    return Plain(text, marked)


def _word(piece: bytes, marked: list[str]) -> bytes:
    """What takes the place of a comment or quoted value: nothing, a bare word, or a mark, whose value joins
    `marked`."""
    if piece.startswith(b"%"):
        return b""
    inner = piece[1:-1]
    if inner != b"?" and _BARE.fullmatch(inner):
        return inner
    marked.append(unescape(inner.decode()))
    return MARK + b"%d" % (len(marked) - 1)


def take_weights(pattern: re.Pattern[bytes], text: bytes) -> tuple[bytes, np.ndarray]:
    """`text`, which has no empty lines, without the instance weights, and the weight of each line."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A)
    weights = np.ones(len(ends))
    matches = list(pattern.finditer(text))
    values = [parse_number(match[1].decode().strip(" ,")) for match in matches]
    if any(value is None or value != value for value in values):
        raise Odd
    weights[np.searchsorted(ends, [match.start() for match in matches])] = values
    return pattern.sub(b"", text), weights


def tidy_blanks(text: bytes) -> bytes:
    """`text` with one comma for every run of blanks and a comma, as Weka separates."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" ,", b",").replace(b", ", b",").replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return text.removeprefix(b" ").replace(b" ", b",")


def no_empty_lines(text: bytes) -> bytes:
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")
