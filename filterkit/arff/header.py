"""The ARFF header: from text to relation name and attributes, as Weka's ArffLoader reads it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from filterkit.arff.numbers import parse_number
from filterkit.arff.tokens import CLOSE, EOL, OPEN, QUOTED, WORD, Token, count_lines, tokenize
from filterkit.errors import ArffError, quoted, suggestion
from filterkit.schema import DEFAULT_DATE_FORMAT, Attribute

_SCORE = r"%[ \t]*([\w.-]+)=([-+.\w]+)[ \t]*"  # as `filterkit.arff.writer` leaves it behind a declaration
_SCORES = r"((?:%[ \t]*[\w.-]+=[-+.\w]+[ \t]*)+)"
_PLAIN = (
    r"@attribute[ \t]+([!#$&(-+\--\[\]-z|~]+)[ \t]+(?:numeric|real|integer)[ \t]*"
    rf"(?:{_SCORES})?(?:\r\n|\n|\r)"
)
_PLAIN_LINE = re.compile(_PLAIN, re.I | re.A)
_PLAIN_LINES = re.compile(f"(?:(?<=[\\r\\n])(?<!\\\\[\\r\\n])(?<!\\\\\\r\\n){_PLAIN})+", re.I | re.A)
_SCORED_LINE = re.compile(rf"(?<=[ \t}}]){_SCORES}(?=[\r\n])", re.A)
_DATA = re.compile(rb"[\r\n][\x00-\x20,]*(?:'@data'|\"@data\"|@data(?![^\x00-\x20,%'\"{}]))", re.I)
_HISTORY = re.compile(r"^% (filterkit \S+: [^\r\n]*)", re.M)  # as the command line writes it
_NUMERIC = "plain numeric"  # kind of a token that stands for lines that declare numeric attributes of plain names


class Header(NamedTuple):
    """What stands before the rows: relation name, attributes, and the comments in which filterkit says what it did."""

    relation: str
    attributes: tuple[Attribute, ...]
    history: tuple[str, ...] = ()


def find_data(text: bytes, position: int = 0) -> tuple[int, int]:
    """Look for the ``@data`` keyword at the start of a line of `text`, from the line end at `position` on.

    Returns
    -------
    (start, stop) : the byte offsets of the line end before the keyword and of the end of the keyword,
        where the first row may begin; or (-1, p) if it is not there, p being where to go on with more text.
    """
    match = _DATA.search(text, position)
    if match:
        return match.start(), match.end()
    return -1, max(text.rfind(b"\n"), text.rfind(b"\r"), 0)


class _Tokens:
    """The token stream with one token of look-ahead, skipping nothing."""

    def __init__(self, text: str) -> None:
        self.scores: dict[int, str] = {}  # the comment with scores that ends a line
        self._stream = self._read(text + "\n")
        self._ahead: list[Token] = []
        self.line = 1

    def _read(self, text: str) -> Iterator[Token]:
        """The tokens of a header; a run of lines that declare numeric attributes of plain names is one token."""
        line, position = 1, 0
        for run in _PLAIN_LINES.finditer(text):
            before = text[position : run.start()]
            yield from self._tokenize(before, line)
            line += count_lines(before)
            yield Token(_NUMERIC, run[0], line, 0)
            line += count_lines(run[0])
            position = run.end()
        yield from self._tokenize(text[position:], line)

    def _tokenize(self, text: str, line: int) -> Iterator[Token]:
        position, at = 0, line
        for match in _SCORED_LINE.finditer(text):
            at += count_lines(text[position : match.start()])
            position = match.start()
            self.scores[at] = match[1]
        return tokenize(text, line)

    def next(self) -> Token | None:
        token = self._ahead.pop() if self._ahead else next(self._stream, None)
        if token is not None:
            self.line = token.line
        return token

    def push_back(self, token: Token) -> None:
        self._ahead.append(token)

    def first_of_line(self) -> Token | None:
        token = self.next()
        while token is not None and token.kind == EOL:
            token = self.next()
        return token

    def need(self, what: str) -> Token:
        """The next token of this line; `what` says what should have been there."""
        token = self.next()
        if token is None or token.kind == EOL:
            raise ArffError(f"{what} is missing", line=self.line)
        return token

    def keyword(self, token: Token | None, word: str) -> bool:
        return token is not None and token.kind in (WORD, QUOTED) and token.text.lower() == word

    def rest_of_line(self) -> list[Token]:
        rest = []
        token = self.next()
        while token is not None and token.kind != EOL:
            rest.append(token)
            token = self.next()
        return rest


def parse_header(text: str) -> Header:
    """The header in `text`, which ends before the ``@data`` keyword.

    Raises
    ------
    ArffError : with the line, for whatever Weka refuses too, and for a quote that is not closed.
    """
    tokens = _Tokens(text)
    token = tokens.first_of_line()
    if token is None:
        raise ArffError("this is empty: an ARFF file starts with @relation", line=1)
    if not tokens.keyword(token, "@relation"):
        found = "'@attribute'" if token.kind == _NUMERIC else token.describe()
        raise ArffError(f"expected @relation, found {found}", line=token.line)
    relation = tokens.need("the name of the relation")
    if relation.kind not in (WORD, QUOTED):
        raise ArffError(f"expected the name of the relation, found {relation.describe()}", line=relation.line)
    extra = tokens.rest_of_line()
    if extra:
        raise ArffError(
            f"unexpected {extra[0].describe()} after the relation name; put a name with blanks in quotes",
            line=extra[0].line,
        )
    attributes, lines, end = _attributes(tokens, None)
    if end is not None:
        raise ArffError(
            f"expected @attribute or @data, found {end.describe()}"
            + suggestion(end.text.lower(), ["@attribute", "@data"]),
            line=end.line,
        )
    if not attributes:
        raise ArffError("no attribute is declared before @data", line=tokens.line)
    _refuse_twins(attributes, lines)
    return Header(relation.text, tuple(attributes), tuple(_HISTORY.findall(text) if "% filterkit " in text else ()))


def _attributes(tokens: _Tokens, bag: str | None) -> tuple[list[Attribute], list[int], Token | None]:
    """Attribute declarations up to the end of the header or, inside a bag named `bag`, its ``@end``.

    Returns the attributes, their lines, and the token that is no declaration (None at the end).
    """
    attributes: list[Attribute] = []
    lines: list[int] = []
    while True:
        token = tokens.first_of_line()
        if token is not None and token.kind == _NUMERIC:
            plain = _PLAIN_LINE.findall(token.text)
            lines += range(token.line, token.line + len(plain))
            attributes += [Attribute(name, scores=_scores(text)) if text else Attribute(name) for name, text in plain]
        elif tokens.keyword(token, "@attribute"):
            assert token is not None
            lines.append(token.line)
            attribute = _attribute(tokens)
            if token.line in tokens.scores:
                attribute = attribute._replace(scores=_scores(tokens.scores[token.line]))
            attributes.append(attribute)
        elif bag is None:
            return attributes, lines, token
        elif tokens.keyword(token, "@end"):
            name = tokens.need(f"the name of the relational attribute {quoted(bag)} after @end")
            if name.text.lower() != bag.lower():
                raise ArffError(f"expected @end {bag}, found @end {name.text}", line=name.line)
            if extra := tokens.rest_of_line():
                raise ArffError(f"unexpected {extra[0].describe()} after @end {bag}", line=name.line)
            return attributes, lines, None
        else:
            found = "the end of the header" if token is None else token.describe()
            raise ArffError(
                f"the relational attribute must be closed by @end {bag}; found {found}", line=tokens.line, attribute=bag
            )


def _scores(comment: str) -> tuple[tuple[str, float], ...]:
    """The scores in a comment behind a declaration."""
    pairs = [(name, parse_number(text)) for name, text in re.findall(_SCORE, comment)]
    return tuple((name, number) for name, number in pairs if number is not None and math.isfinite(number))


def _refuse_twins(attributes: list[Attribute], lines: list[int]) -> None:
    if len({attribute.name for attribute in attributes}) == len(attributes):
        return
    first: dict[str, int] = {}
    for attribute, line in zip(attributes, lines, strict=True):
        if attribute.name in first:
            raise ArffError(
                f"declared a second time (first in line {first[attribute.name]})", line=line, attribute=attribute.name
            )
        first[attribute.name] = line


def _attribute(tokens: _Tokens) -> Attribute:
    """The declaration after an ``@attribute`` keyword, through the end of its line."""
    token = tokens.need("the name of the attribute")
    if token.kind not in (WORD, QUOTED):
        raise ArffError(f"expected the name of an attribute, found {token.describe()}", line=token.line)
    name = token.text
    kind = tokens.need("the type of an attribute")
    if kind.kind == OPEN:
        values = _nominal_values(tokens, name)
        return Attribute(name, "nominal", values, weight=_weight(tokens, name))
    word = kind.text.lower() if kind.kind in (WORD, QUOTED) and not kind.missing else ""
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "numeric", weight=_weight(tokens, name))
    if word == "string":
        return Attribute(name, "string", weight=_weight(tokens, name))
    if word == "date":
        return _date(tokens, name)
    if word == "relational":
        weight = _weight(tokens, name)
        attributes, lines, _ = _attributes(tokens, name)
        if not attributes:
            raise ArffError("no attribute is declared inside", line=tokens.line, attribute=name)
        _refuse_twins(attributes, lines)
        return Attribute(name, "relational", attributes=tuple(attributes), weight=weight)
    hint = suggestion(word, ["numeric", "real", "integer", "string", "date", "relational"])
    raise ArffError(
        f"no type {kind.describe()}{hint or '; put a name with blanks in quotes'}", line=kind.line, attribute=name
    )


def _nominal_values(tokens: _Tokens, name: str) -> tuple[str, ...]:
    values: list[str] = []
    while True:
        token = tokens.next()
        if token is None or token.kind == EOL:
            raise ArffError("the list of values is not closed by '}'", line=tokens.line, attribute=name)
        if token.kind == CLOSE:
            break
        if token.kind == OPEN:
            raise ArffError("a '{' inside the list of values needs quotes", line=token.line, attribute=name)
        values.append(token.text)
    if len(set(values)) != len(values):
        seen: set[str] = set()
        twin = next(v for v in values if v in seen or seen.add(v))  # type: ignore[func-returns-value]
        raise ArffError(f"the value {quoted(twin)} is declared twice", line=tokens.line, attribute=name)
    return tuple(values)


def _date(tokens: _Tokens, name: str) -> Attribute:
    token = tokens.next()
    pattern = DEFAULT_DATE_FORMAT
    if token is not None and token.kind in (WORD, QUOTED):
        pattern = token.text
    elif token is not None and token.kind != CLOSE:
        tokens.push_back(token)
    elif token is not None:
        raise ArffError(f"expected a date format, found {token.describe()}", line=token.line, attribute=name)
    line = tokens.line
    try:
        from filterkit.arff.dates import DateFormat  # only few files have dates

        DateFormat(pattern)
    except ArffError as error:
        raise ArffError(error.message, line=line, attribute=name) from None
    return Attribute(name, "date", format=pattern, weight=_weight(tokens, name))


def _weight(tokens: _Tokens, name: str) -> float:
    """The attribute weight ``{w}`` that may end a declaration; other text after a type means nothing to Weka."""
    rest = tokens.rest_of_line()
    if not rest or rest[0].kind != OPEN:
        return 1.0
    weight = parse_number(rest[1].text) if len(rest) >= 3 and rest[2].kind == CLOSE else None
    if weight is None or math.isnan(weight):
        found = rest[1].describe() if len(rest) > 1 else "the end of the line"
        raise ArffError(f"expected a weight such as {{2.5}}, found {found}", line=rest[0].line, attribute=name)
    return weight
