"""The ARFF header: reading relation name and attributes, as Weka's ArffLoader does."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from filterkit.arff.tokens import CLOSE, EOL, OPEN, QUOTED, WORD, Token, tokenize
from filterkit.data.attributes import Attribute, AttributeCollector, ManyOrFew, find_duplicate_name_positions
from filterkit.data.numbers import is_too_large, parse_number
from filterkit.data.schema import DEEPEST, DEFAULT_DATE_FORMAT
from filterkit.data.texts import Texts
from filterkit.errors import ArffError, quoted, suggestion
from filterkit.files.lines import count_lines

_SCORE = re.compile(r"[ \t]*+([\w.-]++)=([-+.\w]++)[ \t]*+", re.A)  # after %, as `filterkit.arff.writer` writes it
_PLAIN = (
    rb"(?i:@attribute)[ \t]++([!#$&(-+\--\[\]-z|~]++)[ \t]++(?i:numeric|real|integer)[ \t]*+"
    rb"((?:%[ \t]*+[\w.-]++=[-+.\w]++[ \t]*+)*)(?:\r\n|\n|\r)"
)
_PLAIN_LINE = re.compile(_PLAIN.decode(), re.A)
_PLAIN_LINES = re.compile(rb"(?:" + _PLAIN + rb")+")  # after ++, Python 3.11.2 ends inside a line that does not match
# A line with its comment. A quoted name or value may continue on the next line after a backslash.
_LINE = re.compile(
    rb"""(?:[^\r\n%'"]++|'[^'\\\r\n]*+(?:\\[\x00-\xff][^'\\\r\n]*+)*+'?|"[^"\\\r\n]*+(?:\\[\x00-\xff][^"\\\r\n]*+)*+"?)*+"""
    rb"""(?:%(?P<comment>[^\r\n]*+))?(?:\r\n|\n|\r|\Z)"""
)
DATA = re.compile(rb"""'@data'|"@data"|@data(?![^\x00-\x20,%'"{}])""", re.I)
_HISTORY = re.compile(rb"^% (filterkit \S+: [^\r\n]*)", re.M)  # as the command line writes it
_LONGEST = 1 << 28  # bytes of a header that can be read again
_NUMERIC = "plain numeric"  # the kind of a token for several lines that declare numeric attributes with plain names
_TYPES = ["numeric", "real", "integer", "string", "date", "relational"]
# The separators and comments that may come before a declaration and before a row.
_BETWEEN = re.compile(rb"(?:[\x00-\x20,]++|%[^\r\n]*+)*+")


def skip_separators_and_comments(text: bytes, position: int = 0) -> int:
    """Return the offset of what follows separators and comments from `position` on; ``len(text)`` if nothing does.

    Separators are blanks, control characters, line ends and commas.
    """
    return _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it matches at any position


class Header(NamedTuple):
    """What the header of an ARFF file declares.

    Attributes
    ----------
    relation : the name of the relation.
    attributes : all attributes, in order.
    history : comments in which filterkit recorded the commands that made the file.
    repairs : the kind of note and the line of each correction by the lenient reader.
    output : the name in KEEL's line ``@outputs``, which only the lenient reader reads; None if there is no such line,
        or if it has several names.
    is_own : whether the file begins with one of the `history` comments; None if the file has no header.
    """

    relation: str
    attributes: ManyOrFew
    history: tuple[str, ...] = ()
    repairs: tuple[tuple[str, int], ...] = ()
    output: str | None = None
    is_own: bool | None = False


@dataclass(eq=False, repr=False)
class HeaderPieces(Iterator[bytes]):
    """Iterates over `pieces` of a header, which are whole lines, and stores them to be read again.

    Attributes
    ----------
    pieces : the pieces to iterate over.
    keeps_all : whether to store all pieces, instead of the latest only; becomes False once they exceed 256 MB.
    recent : the pieces that are stored.
    first : the number of the first line of `recent`.
    """

    pieces: Iterator[bytes]
    keeps_all: bool
    recent: list[bytes] = field(default_factory=list)
    first: int = 1
    _size: int = 0  # bytes of all pieces

    def __next__(self) -> bytes:
        piece = next(self.pieces)
        self._size += len(piece)
        self.keeps_all &= self._size <= _LONGEST
        if not self.keeps_all:
            self.first += sum(map(count_lines, self.recent))
            self.recent.clear()
        self.recent.append(piece)
        return piece


class _HeaderTokens:
    """Reads the tokens of a header, and collects what its comments say.

    Attributes
    ----------
    line : the number of the line of the last token that was read, or of the end of the header.
    scores : the (metric, score) pairs in the comment after a declaration, by the line of the declaration. Those in a
        token of the kind `_NUMERIC` are not here.
    history : the comments in which filterkit recorded its commands.
    is_own : whether the text begins with such a comment.
    begun : the text after ``@data`` that has been read; None until ``@data`` is found.
    next_line : the number of the line where the text to be read next begins.
    """

    def __init__(self, lines: Iterator[bytes], line: int) -> None:
        self.scores: dict[int, tuple[tuple[str, float], ...]] = {}
        self.history: list[str] = []
        self.is_own = False
        self.begun: bytes | None = None
        self.line = self.next_line = line
        self._stream = self._read_tokens(lines)

    def _read_tokens(self, lines: Iterator[bytes]) -> Iterator[Token]:
        """Yield the tokens up to ``@data``, and update the attributes; `lines` yields text in pieces of whole lines.

        Adjacent lines that declare numeric attributes with unquoted names are one token, of the kind `_NUMERIC`, with
        their comments and line ends.
        """
        for text in lines:
            self.is_own |= self.next_line == 1 and _HISTORY.match(text) is not None
            position = 0
            while True:
                begin = skip_separators_and_comments(text, position)
                self.next_line += count_lines(text[position:begin])
                position, data = begin, DATA.match(text, begin)
                if data or position == len(text):
                    break
                run = _PLAIN_LINES.match(text, position)
                match = run or _LINE.match(text, position)
                assert match is not None  # every part of the pattern is optional
                words = match[0].decode("utf-8", "surrogateescape")
                if run:
                    yield Token(_NUMERIC, words, self.next_line, 0)
                else:
                    if match["comment"] and (scores := _parse_scores(match["comment"].decode("ascii", "replace"))):
                        self.scores[self.next_line] = scores
                    yield from tokenize(words, self.next_line)
                self.next_line += count_lines(match[0])
                position = match.end()
            if b"% filterkit " in text:
                found = _HISTORY.findall(text, 0, position)
                self.history += [comment.decode("utf-8", "surrogateescape") for comment in found]
            if data:
                self.begun = text[data.end() :]
                return

    def read_token(self, skip_line_ends: bool = False) -> Token | None:
        """Return the next token, or if `skip_line_ends`, the next that is not an EOL; None at the end of the header."""
        token = next(self._stream, None)
        while skip_line_ends and token is not None and token.kind == EOL:
            token = next(self._stream, None)
        self.line = self.next_line if token is None else token.line
        return token

    def read_token_in_line(self, expected: str) -> Token:
        """Return the next token of this line; raise ArffError, "`expected` is missing", at the end of the line."""
        token = self.read_token()
        if token is None or token.kind == EOL:
            raise ArffError(f"{expected} is missing at the end of the line", line=self.line)
        return token

    def read_name(self, expected: str) -> str:
        """Return the text of the next word or quoted text of this line; `expected` describes it in messages.

        Raise ArffError if a brace or the end of the line comes instead.
        """
        token = self.read_token_in_line(expected)
        if token.kind not in (WORD, QUOTED):
            raise token.make_error(f"expected {expected}, found {token.describe()}; put a name with braces in quotes")
        return token.text

    def read_rest_of_line(self) -> list[Token]:
        """Read the rest of this line and its end; return its first four tokens, or all if there are fewer."""
        rest: list[Token] = []
        while (token := self.read_token()) is not None and token.kind != EOL:
            if len(rest) < 4:
                rest.append(token)
        return rest


def parse_header(lines: Iterator[bytes], line: int = 1) -> tuple[Header, int, bytes]:
    """Read an ARFF header as Weka does; `lines` yields UTF-8 text in pieces of whole lines, the first numbered `line`.

    Return the header, the number of the line where the text after ``@data`` begins, and this text up to the end of its
    piece. Raise ArffError if Weka refuses the header, or if a quote is not closed.
    """
    tokens = _HeaderTokens(lines, line)
    token = tokens.read_token(skip_line_ends=True)
    if token is None and tokens.begun is None:
        raise ArffError("the file has no declarations; an ARFF file starts with @relation", line=line)
    if token is None or token.text.lower() != "@relation":
        found = "'@data'" if token is None else "'@attribute'" if token.kind == _NUMERIC else token.describe()
        raise ArffError(f"expected @relation, found {found}", line=tokens.line)
    relation = tokens.read_name("the name of the relation")
    extra = tokens.read_rest_of_line()
    if extra:
        raise extra[0].make_error(
            f"unexpected {extra[0].describe()} after the relation name; put a name with blanks in quotes"
        )
    attributes, lines_of, end = _read_attributes(tokens, None, 0)
    if end is not None:
        raise end.make_error(
            f"expected @attribute or @data, found {end.describe()}"
            + suggestion(end.text.lower(), ["@attribute", "@data"])
        )
    if not attributes:
        message = "no attribute is declared before @data; add lines such as @attribute NAME numeric"
        raise ArffError(message, line=tokens.line)
    _refuse_duplicate_names(attributes, lines_of)
    if tokens.begun is None:
        raise ArffError("there is no @data line; add one before the rows", line=max(tokens.next_line - 1, 1))
    header = Header(relation, attributes, tuple(tokens.history), is_own=tokens.is_own)
    return header, tokens.next_line, tokens.begun


def _read_attributes(
    tokens: _HeaderTokens, relational_name: str | None, depth: int
) -> tuple[ManyOrFew, array[int], Token | None]:
    """Read the declarations of attributes; `depth` is the number of relational attributes that they are inside of.

    If `relational_name` is None, read up to the end of the header, or up to a line that declares something else.
    Otherwise, read up to the ``@end`` of the relational attribute of this name. Return the attributes, the numbers of
    their lines, and the first token of the line that declares something else, or None. Raise ArffError if Weka refuses
    a declaration, or if the ``@end`` is missing.
    """
    attributes = AttributeCollector()
    lines = array("q")  # a list would take five times the memory
    while True:
        token = tokens.read_token(skip_line_ends=True)
        if token is not None and token.kind == _NUMERIC:
            if "%" in token.text:
                declarations = _PLAIN_LINE.findall(token.text)
                for name, comments in declarations:
                    attributes.add(Attribute(name, scores=_parse_scores(comments)))
                count = len(declarations)
            else:
                characters = np.frombuffer(token.text.encode("ascii"), np.uint8)
                inside = characters > 0x20
                edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1  # the first word begins without an edge
                # The name is the second of the three words of each line.
                names = Texts.cut_out(characters, edges[1::6], edges[2::6])
                attributes.add_numeric(names)
                count = len(names)
            lines.frombytes(np.arange(token.line, token.line + count).tobytes())
        elif token is not None and token.text.lower() == "@attribute":
            lines.append(token.line)
            attribute = _read_attribute(tokens, depth)
            if token.line in tokens.scores:
                attribute = attribute._replace(scores=tokens.scores[token.line])
            attributes.add(attribute)
        elif relational_name is None:
            return attributes.join_collected_attributes(), lines, token
        elif token is not None and token.text.lower() == "@end":
            name = tokens.read_token_in_line(f"the name {quoted(relational_name)} after @end")
            if name.text.lower() != relational_name.lower():
                raise name.make_error(f"expected @end {relational_name}, found @end {name.text}")
            if extra := tokens.read_rest_of_line():
                raise name.make_error(f"remove {extra[0].describe()} after @end {relational_name}")
            return attributes.join_collected_attributes(), lines, None
        else:
            found = "the end of the header" if token is None else token.describe()
            raise ArffError(
                f"the relational attribute must be closed by @end {relational_name}; found {found}",
                line=tokens.line,
                attribute=relational_name,
            )


def _parse_scores(comment: str) -> tuple[tuple[str, float], ...]:
    """Return the (metric, score) pairs at the end of a comment such as ``% bns=1.5 % ig=0.25``; () if it has none.

    Scores that are not finite numbers are left out.
    """
    pairs = []
    for part in reversed(comment.split("%")):
        match = _SCORE.fullmatch(part)
        if match is None:
            break
        number = parse_number(match[2])
        if number is not None and math.isfinite(number):
            pairs.append((match[1], number))
    return tuple(reversed(pairs))


def _refuse_duplicate_names(attributes: ManyOrFew, lines: array[int]) -> None:
    """Raise ArffError if two attributes have the same name; `lines` are the numbers of the lines that declare them."""
    if (twins := find_duplicate_name_positions(attributes)) is not None:
        before, again = twins
        raise ArffError(
            f"declared a second time (first in line {lines[before]}); rename one of them",
            line=lines[again],
            attribute=attributes[again].name,
        )


def _read_attribute(tokens: _HeaderTokens, depth: int) -> Attribute:
    """Return the attribute that the tokens after ``@attribute`` declare; raise ArffError if Weka refuses them.

    `depth` is the number of relational attributes that the declaration is inside of. Raise ArffError, too, if it is
    `DEEPEST`, and the attribute is relational again. Scores in the comment after a declaration are not read.
    """
    name = tokens.read_name("the name of the attribute")
    token = tokens.read_token_in_line("the type of an attribute")
    kind = token.text.lower() if token.kind in (WORD, QUOTED) and not token.is_missing else ""
    values: tuple[str, ...] = ()
    if token.kind == OPEN:
        kind, values = "nominal", _read_nominal_values(tokens, name)
    elif kind not in _TYPES:
        hint = suggestion(kind, _TYPES) or "; put a name with blanks in quotes"
        raise token.make_error(f"there is no type {token.describe()}{hint}", name)
    elif kind == "relational" and depth == DEEPEST:
        raise token.make_error(f"relational attributes are nested more than {DEEPEST} deep", name)
    rest = tokens.read_rest_of_line()
    pattern, rest = _parse_date_format(rest, token.line, name) if kind == "date" else ("", rest)
    kind = "numeric" if kind in ("real", "integer") else kind
    attribute = Attribute(name, kind, values, pattern, weight=_parse_attribute_weight(rest, name))
    if kind != "relational":
        return attribute
    attributes, lines, _ = _read_attributes(tokens, name, depth + 1)
    if not attributes:
        raise ArffError("declare at least one attribute before its @end", line=tokens.line, attribute=name)
    _refuse_duplicate_names(attributes, lines)
    return attribute._replace(attributes=tuple(attributes))


def _read_nominal_values(tokens: _HeaderTokens, name: str) -> tuple[str, ...]:
    """Return the labels of the nominal attribute `name`, whose opening brace has been read.

    Raise ArffError if the line has no closing brace, or another opening one, or if a label occurs twice.
    """
    values: list[str] = []
    while True:
        token = tokens.read_token()
        if token is None or token.kind == EOL:
            raise ArffError("the list of values must end with '}' in this line", line=tokens.line, attribute=name)
        if token.kind == CLOSE:
            break
        if token.kind == OPEN:
            raise token.make_error("a '{' inside the list of values needs quotes", name)
        values.append(token.text)
    if len(set(values)) != len(values):
        seen: set[str] = set()
        twin = next(v for v in values if v in seen or seen.add(v))  # type: ignore[func-returns-value]
        message = f"the value {quoted(twin)} is declared twice; remove one of them"
        raise ArffError(message, line=tokens.line, attribute=name)
    return tuple(values)


def _parse_date_format(tokens: list[Token], line: int, name: str) -> tuple[str, list[Token]]:
    """Return the format of the date attribute `name`, or the default, and the tokens after the format.

    `tokens` follow the word ``date`` in line `line`. Raise ArffError if the format is not valid, or if a closing brace
    comes instead.
    """
    pattern = DEFAULT_DATE_FORMAT
    if tokens and tokens[0].kind == CLOSE:
        raise ArffError(
            f"expected a date format such as yyyy-MM-dd, found {tokens[0].describe()}", line=line, attribute=name
        )
    if tokens and tokens[0].kind in (WORD, QUOTED):
        pattern, tokens = tokens[0].text, tokens[1:]
    from filterkit.data.dates import DateFormat  # only few files have dates

    try:
        DateFormat(pattern)
    except ArffError as error:
        raise ArffError(error.message, line=line, attribute=name) from None
    return pattern, tokens


def _parse_attribute_weight(tokens: list[Token], name: str) -> float:
    """Return the weight ``{w}`` that `tokens`, the end of a declaration, begin with; 1 if they have no ``{`` first.

    Raise ArffError if the brace is not followed by a number that float64 holds, and a closing brace.
    """
    if not tokens or tokens[0].kind != OPEN:
        return 1.0
    weight = parse_number(tokens[1].text) if len(tokens) >= 3 and tokens[2].kind == CLOSE else None
    if weight is None or math.isnan(weight) or is_too_large(tokens[1].text):
        found = tokens[1].describe() if len(tokens) > 1 else "the end of the line"
        raise tokens[0].make_error(f"expected a weight such as {{2.5}}, found {found}", name)
    return weight
