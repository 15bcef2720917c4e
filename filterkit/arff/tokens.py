"""Weka's ARFF tokenizer, as one regular expression for header and rows.

Weka 3.9 splits a file with Java's StreamTokenizer: characters up to U+0020 and commas separate tokens; ``%`` starts a
comment anywhere outside quotes; a quoted token ends at the same quote; each brace is a token; everything else is part
of a word. filterkit differs in two ways, because Weka would silently lose data. A missing end quote is an error. The
commas between two tokens are counted, so that an empty field can be refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from filterkit.errors import ArffError, quoted

WORD, QUOTED, OPEN, CLOSE, EOL = "word", "quoted", "{", "}", "end of line"

# Repeats are possessive where possible, so that time and memory do not grow with the square of a text that does not
# match. (A group that can fail after its first character must not be repeated possessively: Python before 3.11.5 has a
# bug there.)
_TOKEN = re.compile(
    r"""(?P<separators>[\x00-\x09\x0b\x0c\x0e-\x20,]*+)(?:%[^\r\n]*+)?(?:
        (?P<eol>[\r\n]++)
      | (?P<brace>[{}])
      | (?P<word>[^\x00-\x20,%'"{}]++)
      | '(?P<single>[^'\\\r\n]*+(?:\\[\s\S][^'\\\r\n]*+)*+)(?P<single_end>'?)
      | "(?P<double>[^"\\\r\n]*+(?:\\[\s\S][^"\\\r\n]*+)*+)(?P<double_end>"?)
    )?""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([0-3][0-7]{2}|[0-7]{1,2})|([\s\S]))")
_SURROGATE = re.compile("[\ud800-\udfff]")  # stands for a byte that is not valid in the encoding
_NAMED_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Token(NamedTuple):
    """A token of ARFF: a word, a text in quotes, a brace, or the end of a line.

    Attributes
    ----------
    kind : `WORD`, `QUOTED`, `OPEN`, `CLOSE` or `EOL`.
    text : its text, without quotes and with escapes resolved.
    line : the number of the line where it begins, from 1.
    commas : how many commas are between the token before and this one.
    """

    kind: str
    text: str
    line: int
    commas: int

    @property
    def is_missing(self) -> bool:
        """Whether this is the bare ``?`` of a missing value."""
        return self.kind == WORD and self.text == "?"

    def describe(self) -> str:
        """Return what messages call the token: its text or brace in quotes, or "the end of the line"."""
        return "the end of the line" if self.kind == EOL else quoted(self.text)

    def make_error(self, message: str, attribute: str | None = None) -> ArffError:
        """Return, without raising it, an error in the line of this token and in the `attribute` of this name."""
        return ArffError(message, line=self.line, attribute=attribute)


def unescape(text: str) -> str:
    """Return the text inside quotes with its backslash escapes resolved, as StreamTokenizer does."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1], 8)) if m[1] else _NAMED_ESCAPES.get(m[2], m[2]), text)


def tokenize(text: str, line: int = 1) -> Iterator[Token]:
    """Yield the tokens of `text`, whose first line has the number `line`.

    Adjacent line ends are one EOL, and the last line has an EOL even without a line end. Raise ArffError if a quote is
    not closed in its line, which a backslash before the line end continues. Raise it, too, if a token has a surrogate,
    which stands for a byte that is not valid in the encoding.
    """
    commas = 0
    kind = EOL
    for match in _TOKEN.finditer(text):  # without a gap: the pattern matches whatever character comes next
        commas += match["separators"].count(",")
        group = match.lastgroup
        if group == "eol":
            kind, value, raw = EOL, "", match["eol"]
        elif group == "brace":
            kind = value = match["brace"]
        elif group == "word":
            kind, value = WORD, match["word"]
        elif group in ("single_end", "double_end"):
            raw = match[group[:6]]
            if not match[group]:
                raise ArffError(
                    f"the quote before {quoted(raw, 30)} is not closed; close it, or put a backslash before it",
                    line=line,
                )
            kind, value = QUOTED, unescape(raw)
        else:
            continue  # only separators or a comment, at the end of the text
        if not value.isascii() and _SURROGATE.search(value):
            shown = quoted(value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), 30)
            raise ArffError(f"{shown} is not valid in this encoding; try --encoding latin-1", line=line)
        yield Token(kind, value, line, commas)
        commas = 0
        if kind in (EOL, QUOTED):
            line += raw.count("\n") + raw.count("\r") - raw.count("\r\n")
    if kind != EOL or commas:
        yield Token(EOL, "", line, commas)
