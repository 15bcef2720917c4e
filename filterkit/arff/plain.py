"""Plain text for the fast path: rows without quotes, comments and control characters."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

from filterkit.arff import exact
from filterkit.arff.layout import Layout
from filterkit.arff.tokens import QUOTED, WORD, Token, unescape
from filterkit.data.numbers import parse_number

# A quoted value between separators, or a comment. Every alternative starts with the character that begins the match,
# so that the search is quick.
_MASKED = re.compile(
    rb"""('(?<![^\x00-\x20,{}]')[^'\\\r\n]*+(?:\\[\x00-\xff][^'\\\r\n]*+)*+'(?![^\x00-\x20,{}%])"""
    rb"""|"(?<![^\x00-\x20,{}]")[^"\\\r\n]*+(?:\\[\x00-\xff][^"\\\r\n]*+)*+"(?![^\x00-\x20,{}%])"""
    rb"""|%[^\r\n]*+)"""
)
_BARE = re.compile(rb"[^\x00-\x20,%'\"{}\\]+")
_CONTROL = bytes(0x20 if c < 0x20 and c != 0x0A else c for c in range(256))
MARK = b'"'  # begins a mark, such as "12, which stands for a quoted value that cannot be a bare word


class NotPlain(Exception):
    """A block that only the exact path can read."""


class Plain(NamedTuple):
    """Plain text, whose lines end in LF, and the list of the values that its marks stand for."""

    text: bytes
    marked: list[str]


def make_plain(text: bytes) -> Plain:
    """Return `text` with LF as line end, without comments, quotes and control characters.

    Raises
    ------
    NotPlain : a quote does not enclose a value between separators.
    """
    marked: list[str] = []
    if b"'" in text or b'"' in text or b"%" in text:
        pieces = _MASKED.split(text)
        rest = b"".join(pieces[::2])
        if b"'" in rest or MARK in rest:
            raise NotPlain
        masked = pieces[1::2]
        words = {piece: _replace_piece(piece, marked) for piece in dict.fromkeys(masked)}
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


def _replace_piece(piece: bytes, marked: list[str]) -> bytes:
    """Return the replacement of a comment or quoted value: nothing, a bare word, or a mark, added to `marked`."""
    if piece.startswith(b"%"):
        return b""
    inner = piece[1:-1]
    if inner != b"?" and _BARE.fullmatch(inner):
        return inner
    marked.append(unescape(inner.decode()))
    return MARK + b"%d" % (len(marked) - 1)


def read_word(word: str, position: int, layout: Layout, marked: list[str]) -> Any:
    """Return the value of the attribute at `position` that a word or mark is, in the form of `exact.Row.values`.

    Raises
    ------
    NotPlain, ArffError : only the exact path can say what the value is, or what is wrong.
    """
    if not word:
        raise NotPlain  # an empty field; an empty value in quotes would be a mark
    is_mark = word.startswith(MARK.decode())
    token = Token(QUOTED, marked[int(word[1:])], 1, 0) if is_mark else Token(WORD, word, 1, 0)
    odd = exact.NotedValues([], [])
    value = exact.read_value(token, position, layout, odd)
    if odd.unseen or odd.too_large:
        raise NotPlain
    return value


def take_weights(pattern: re.Pattern[bytes], text: bytes) -> tuple[bytes, np.ndarray]:
    """Split text without empty lines into the rows without weights, and float64 (lines,), the weight of each."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A)
    weights = np.ones(len(ends))
    matches = list(pattern.finditer(text))
    values = [parse_number(match[1].decode().strip(" ,")) for match in matches]
    if any(value is None or not math.isfinite(value) for value in values):
        raise NotPlain
    weights[np.searchsorted(ends, [match.start() for match in matches])] = values
    return pattern.sub(b"", text), weights


def tidy_blanks(text: bytes) -> bytes:
    """Return `text` with one comma in place of every run of blanks with at most one comma: Weka's separators."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    text = text.replace(b" ,", b",").replace(b", ", b",").replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return text.removeprefix(b" ").replace(b" ", b",")


def drop_empty_lines(text: bytes) -> bytes:
    """Return `text` without its empty lines."""
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")
