"""Plain text for the fast path: rows without quotes, comments and control characters."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from filterkit.arff import exact
from filterkit.arff.layout import BatchLayout
from filterkit.arff.tokens import QUOTED, WORD, Token, unescape
from filterkit.data.numbers import parse_number
from filterkit.data.tables import convert_to_numbers

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


class NeedsExactPath(Exception):
    """Raised by the fast path for a block that only the exact path can read."""


def make_plain_text(text: bytes) -> tuple[bytes, list[str]]:
    """Return `text` without comments and quotes, and a list of the quoted values that cannot be bare words.

    A mark such as ``"12`` stands for item 12 of the list, counted from 0. Each line ends in LF, the last one, too, and
    other control characters become blanks. Raise NeedsExactPath if a quote does not enclose a value between separators,
    and UnicodeDecodeError if a value of the list is not UTF-8.
    """
    quoted_values: list[str] = []
    if b"'" in text or b'"' in text or b"%" in text:
        pieces = _MASKED.split(text)
        rest = b"".join(pieces[::2])
        if b"'" in rest or MARK in rest:
            raise NeedsExactPath
        masked = pieces[1::2]
        words = dict.fromkeys(masked, b"")  # what replaces each: nothing for a comment
        for piece in words:
            inner = piece[1:-1]
            if inner != b"?" and _BARE.fullmatch(inner) and not piece.startswith(b"%"):
                words[piece] = inner
            elif not piece.startswith(b"%"):
                words[piece] = MARK + b"%d" % len(quoted_values)
                quoted_values.append(unescape(inner.decode()))
        pieces[1::2] = [words[piece] for piece in masked]
        text = b"".join(pieces)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not text.endswith(b"\n"):
        text += b"\n"
    characters = np.frombuffer(text, np.uint8)
    if np.count_nonzero(characters < 0x20) != np.count_nonzero(characters == 0x0A):
        text = text.translate(_CONTROL)
    return text, quoted_values


def parse_plain_word(word: str, position: int, layout: BatchLayout, quoted_values: list[str]) -> Any:
    """Return the value that `word` means for the attribute at `position`, in the form of `exact.Row.values`.

    The word may be a mark for one of `quoted_values`. Raise NeedsExactPath or ArffError if only the exact path can read
    it.
    """
    if not word:
        raise NeedsExactPath  # an empty field; an empty value in quotes would be a mark
    is_mark = word.startswith(MARK.decode())
    token = Token(QUOTED, quoted_values[int(word[1:])], 1, 0) if is_mark else Token(WORD, word, 1, 0)
    collector = exact.OddValuePolicy([], unseen=True)
    value = exact.parse_value(token, position, layout, collector)
    if collector.notes:
        raise NeedsExactPath
    return value


def split_off_weights(pattern: re.Pattern[bytes], text: bytes) -> tuple[bytes, np.ndarray | None]:
    """Return the lines of `text` without weights, and float64 (lines,) weights; None for the weights if all are 1.

    `text` has no empty lines. `pattern` matches the weight of a line with what is around it; its first group is the
    weight itself. Raise NeedsExactPath if a weight is not a finite number.
    """
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A)
    weights = np.ones(len(ends))
    matches = list(pattern.finditer(text))
    values = [parse_number(match[1].decode().strip(" ,")) for match in matches]
    if any(value is None or not math.isfinite(value) for value in values):
        raise NeedsExactPath
    weights[np.searchsorted(ends, [match.start() for match in matches])] = values
    return pattern.sub(b"", text), None if (weights == 1).all() else weights


def drop_blanks(text: bytes, pairs: Sequence[bytes]) -> bytes:
    """Return `text` with one blank for several, none at its beginning, and none in `pairs`.

    Each pair is a character with one blank before or after it, such as ``" ,"``.
    """
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    for pair in pairs:
        text = text.replace(pair, pair.strip(b" "))
    return text.removeprefix(b" ")


def drop_empty_lines(text: bytes) -> bytes:
    """Return `text` without its empty lines; all lines end in LF."""
    while b"\n\n" in text:
        text = text.replace(b"\n\n", b"\n")
    return text.removeprefix(b"\n")


def read_csv(text: bytes, types: dict[str, Any], delimiter: str, null_values: list[str]) -> Any:
    """Return the Arrow table in a CSV without a header; `types` are the names and Arrow types of its columns.

    A field that is one of `null_values` is null, of any type; quotes are ordinary characters. Raise ArrowInvalid if a
    row has another number of fields, or if a field does not have its type.
    """
    return pyarrow.csv.read_csv(
        pa.py_buffer(text),
        read_options=pyarrow.csv.ReadOptions(column_names=list(types), use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types, null_values=null_values, strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def convert_to_finite_floats(array: Any) -> np.ndarray:
    """Return the float64 values of an Arrow array, NaN for null; raise NeedsExactPath if a value is not finite."""
    values = convert_to_numbers(array)
    if np.count_nonzero(np.isfinite(values)) != len(values) - array.null_count:
        raise NeedsExactPath
    return values
