"""Lenient reading of headers: declarations that Weka refuses are rewritten, and lines of KEEL's format are skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from filterkit.arff.header import DATA, Header, HeaderPieces, parse_header, skip_separators_and_comments
from filterkit.arff.lenient import BARE_TEXT, BLANK_CHARACTERS, QUOTED_TEXT, guess_name_or_label
from filterkit.errors import ArffError
from filterkit.formats.notes import DECLARATION, KEEL

_KEYWORD = re.compile(rb"[\x00-\x20,]*+@(relation|attribute|inputs?|outputs?)(?![^\x00-\x20])", re.I)
_BLANK = r"[\x00-\x20]"
_TAIL = rf"{_BLANK}*+(?P<weight>\{{[^{{}}]*+\}})?{_BLANK}*+(?P<comment>%.*+)?"
_FORMAT = r"""(?:'[^'\\]*+'|"[^"\\]*+"|[^\x00-\x20,%'"{}]++)"""
# A name ends before a blank, so that the blanks behind it are gone through once.
_NAME = rf"(?P<name>{QUOTED_TEXT}|[^%{{}}]+?(?<!{_BLANK}))"
_ATTRIBUTE = re.compile(
    rf"[\x00-\x20,]*+@attribute{_BLANK}++{_NAME}(?:{_BLANK}++(?:(?P<type>numeric|real|integer|string|unknown)"
    rf"(?:{_BLANK}*+\[[^\][]*+\])?|(?P<date>date(?:{_BLANK}++{_FORMAT})?))|{_BLANK}*+(?P<labels>\{{[^{{}}]*+\}})){_TAIL}",
    re.I,
)
_RELATION = re.compile(
    rf"[\x00-\x20,]*+@relation{_BLANK}++(?P<name>[^%{{}}]+?(?<!{_BLANK})){_BLANK}*+(?P<comment>%.*+)?", re.I
)
_IN_OUT = re.compile(rf"{_BLANK}*+@(?P<what>inputs?|outputs?)(?:{_BLANK}(?P<names>.*+))?", re.I)
_LABEL = rf"(?:{QUOTED_TEXT}|[^][()\x00-\x20,%'\"{{}}]++)"  # brackets would be those of a range
_UNBRACED = re.compile(
    rf"[\x00-\x20,]*+@attribute{_BLANK}++(?P<name>{QUOTED_TEXT}|{BARE_TEXT.pattern}){_BLANK}++"
    rf"(?P<labels>{_LABEL}(?:{_BLANK}*+,{_BLANK}*+{_LABEL})++){_BLANK}*+(?P<comment>%.*+)?",
    re.I,
)
_ITEM = re.compile(rf"{_BLANK}*+(?:(?P<quoted>{QUOTED_TEXT})(?={_BLANK}*+(?:,|\Z))|(?P<bare>[^,]*+)){_BLANK}*+(?:,|\Z)")
_TYPES = re.compile(r"(?<![^\x00-\x20,])(?:numeric|real|integer|string|date|relational)(?![^\x00-\x20,])", re.I)


class MendedDeclaration(NamedTuple):
    """A header line rewritten as proper ARFF: its `text` without line end, and the `kind` of note about it.

    KEEL's lines ``@inputs`` and ``@outputs`` become "". `output` is the name in a line ``@outputs`` that has just one;
    otherwise None.
    """

    text: str
    kind: str
    output: str | None = None


def read_header_leniently(pieces: HeaderPieces, error: ArffError) -> tuple[Header, int, bytes]:
    """Correct a header that `parse_header` refused with `error`; return what `parse_header` returns for the new text.

    `pieces` has stored what `parse_header` read, and yields the rest. Raise `error` if there is nothing to correct, or
    if the header is too long to be stored, and another ArffError if the corrected header is refused, too.
    """
    lines: list[bytes] = []
    found: list[tuple[int, MendedDeclaration]] = []
    for piece in chain([*pieces.recent], pieces):
        if pieces.first > 1:
            raise error  # it is too long
        begun = False
        for line in piece.splitlines(keepends=True):
            begun = begun or DATA.match(line, skip_separators_and_comments(line)) is not None
            mended = None if begun else _mend_declaration(line)
            if mended is not None:
                found.append((len(lines) + 1, mended))
                line = mended.text.encode("utf-8", "surrogateescape") + line[len(line.rstrip(b"\r\n")) :]
            lines.append(line)
        if begun:
            break
    if not found:
        raise error
    header, number, text = parse_header(iter([b"".join(lines)]))
    outputs = [mended.output for _, mended in found if mended.output is not None]
    repairs = tuple((mended.kind, line) for line, mended in found)
    return header._replace(repairs=repairs, output=outputs[0] if len(outputs) == 1 else None), number, text


def suggest_lenient_reading(pieces: HeaderPieces, error: ArffError) -> str:
    """Return advice to add to the message of `error` if the lenient reader accepts its line; "" if it does not."""
    if error.line is None or error.line < pieces.first:
        return ""
    lines = b"".join(pieces.recent).splitlines()[error.line - pieces.first :][:1]
    return "; --lenient reads it" if lines and _mend_declaration(lines[0]) is not None else ""


def _mend_declaration(line: bytes) -> MendedDeclaration | None:
    """Rewrite a header line that the strict reader refuses; KEEL's lines ``@inputs`` and ``@outputs`` become empty.

    Return None if the strict reader accepts the line, if it declares nothing, or if its meaning is in doubt.
    """
    keyword = _KEYWORD.match(line)
    if keyword is None:
        return None
    text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    if keyword[1].lower() not in (b"attribute", b"relation"):
        inout = _IN_OUT.fullmatch(text)
        if inout is None:
            return None
        names = [name.strip(BLANK_CHARACTERS) for name in (inout["names"] or "").split(",")]
        is_output = inout["what"].lower().startswith("output") and len(names) == 1 and names[0]
        return MendedDeclaration("", KEEL, names[0] if is_output else None)
    if _is_valid_declaration(text, keyword[1].lower()):
        return None
    sound = (reading for reading in _guess_declarations(text) if _is_valid_declaration(reading, keyword[1].lower()))
    return next((MendedDeclaration(reading, DECLARATION) for reading in sound), None)


def _is_valid_declaration(text: str, keyword: bytes) -> bool:
    """Return whether the strict reader accepts `text` as the line that declares an attribute, or the relation.

    `keyword` says which of them: b"attribute" or b"relation".
    """
    line = text.encode("utf-8", "surrogateescape")
    around = (b"@relation r\n%s\n@data\n" if keyword == b"attribute" else b"%s\n@attribute a numeric\n@data\n") % line
    try:
        header, _, _ = parse_header(iter([around]))
    except ArffError:
        return False
    return len(header.attributes) == 1


def _guess_declarations(text: str) -> Iterator[str]:
    """Yield the proper declarations, of an attribute or the relation, that a line may mean, the likeliest first."""
    relation = _RELATION.fullmatch(text)
    if relation is not None and (name := _guess_name(relation["name"])) is not None:
        yield " ".join(["@relation", name, *filter(None, (relation["comment"],))])
    unbraced = _UNBRACED.fullmatch(text)
    if unbraced is not None and not _TYPES.search(unbraced["labels"]):
        yield f"@attribute {unbraced['name']} {{{unbraced['labels']}}} {unbraced['comment'] or ''}"
    match = _ATTRIBUTE.fullmatch(text)
    name = None if match is None else _guess_name(match["name"])
    if match is None or name is None:
        return
    kinds: list[str | None] = [match["date"]]
    if match["labels"]:
        kinds = [match["labels"], _correct_label_list(match["labels"][1:-1])]
    elif match["type"]:
        kinds = ["string" if match["type"].lower() == "unknown" else match["type"]]
    for kind in kinds:
        if kind is not None:
            yield " ".join(["@attribute", name, kind, *filter(None, (match["weight"], match["comment"]))])


def _guess_name(text: str) -> str | None:
    """Return the name that a text means, as one token; None if that is in doubt.

    Blanks and commas at the ends of the text are ignored. If one of several words without quotes is a type, such as
    ``numeric``, the name is in doubt.
    """
    text = text.strip(BLANK_CHARACTERS + ",")
    is_token = BARE_TEXT.fullmatch(text) or re.fullmatch(QUOTED_TEXT, text)
    return guess_name_or_label(text) if is_token or (text and not _TYPES.search(text)) else None


def _correct_label_list(text: str) -> str | None:
    """Rewrite `text`, which was between braces, as a proper list of labels in braces; leave out empty labels.

    Return None if the meaning of a label is in doubt.
    """
    labels = []
    for item in _ITEM.finditer(text):  # without a gap: a text up to the next comma always matches
        text = item["quoted"] or item["bare"].strip(BLANK_CHARACTERS)
        label = guess_name_or_label(text) if text else ""
        if label is None:
            return None
        labels += [label] if label else []
    return "{" + ",".join(labels) + "}"
