"""Lenient reading: rewriting a line that Weka's grammar refuses as proper ARFF, where its meaning is beyond doubt.

The strict reader always goes first, so that nothing that it accepts changes its meaning. It also reads what is
rewritten here; a line that it still refuses is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from filterkit.arff.layout import BatchLayout
from filterkit.arff.row_format import quote_if_needed
from filterkit.arff.tokens import unescape
from filterkit.formats.notes import BLANKS, EMPTY, KEEL_MISSING, NULL, QUOTES

NULLS = frozenset({KEEL_MISSING, "na", "n/a", "nan", "none", "null", "?", ""})  # a missing number or date, lower case

BLANK_CHARACTERS = "".join(map(chr, range(0x21)))
_BLANK = r"[\x00-\x20]*+"
QUOTED_TEXT = r"""'[^'\\\r\n]*+(?:\\[^\r\n][^'\\\r\n]*+)*+'|"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+\""""
_QUOTED = re.compile(QUOTED_TEXT)  # one value in quotes, as Weka reads it
_END = rf"(?:(?P<weight>\{{[^{{}}\r\n]*+\}})?{_BLANK}(?P<comment>%[^\r\n]*+)?\Z)"
_FIELD = re.compile(
    rf"{_BLANK}(?:(?P<quoted>{QUOTED_TEXT})(?={_BLANK}(?:[,{{%]|\Z))|(?P<bare>[^,%{{}}\r\n]*+)){_BLANK}(?:(?P<comma>,)|{_END})"
)
_SPARSE = re.compile(rf"{_BLANK}\{{(?P<inner>[^{{}}\r\n]*+)\}}{_BLANK}{_END}")
_PAIR = re.compile(
    rf"{_BLANK}(?:(?P<index>\+?[0-9]++)[\x00-\x20]++(?:(?P<quoted>{QUOTED_TEXT})(?={_BLANK}(?:,|\Z))|(?P<bare>[^,%{{}}\r\n]++)))?"
    rf"{_BLANK}(?:,|\Z)"
)
BARE_TEXT = re.compile(r"""[^\x00-\x20,%'"{}]+""")
# Text with quotes only inside words, as in "don't". The quotes around a text are not part of it.
_APOSTROPHES = {
    mark: re.compile(rf"""[^{mark}\\]*(?:(?<=[^\x00-\x20'"]){mark}(?=[^\x00-\x20'"])[^{mark}\\]*)*""") for mark in "'\""
}


class MendedRow(NamedTuple):
    """The `text` of a row rewritten as proper ARFF, and its `repairs`: pairs of a kind of note and the value at fault.

    If a value with blanks or quotes has been read as one, it is the value that has been read.
    """

    text: str
    repairs: list[tuple[str, str]]


def mend_row(text: str, layout: BatchLayout) -> MendedRow | None:
    """Rewrite as proper ARFF the line of a row that the strict reader refuses; the reader may refuse the result, too.

    `layout` has the attributes and their labels. Return None if the meaning of the line is in doubt, if it does not fit
    the attributes, or if there is nothing to correct.
    """
    line = text.rstrip("\r\n")
    repairs: list[tuple[str, str]] = []
    mend_line = _mend_sparse_row if line.lstrip(BLANK_CHARACTERS).startswith("{") else _mend_dense_row
    row = mend_line(line, layout, repairs)
    return MendedRow(row, repairs) if row is not None and repairs else None


def _mend_dense_row(line: str, layout: BatchLayout, repairs: list[tuple[str, str]]) -> str | None:
    """Return a dense row as proper ARFF, and append to `repairs` what is corrected, in the form of `MendedRow.repairs`.

    Return None if its meaning is in doubt, or if it has too few or too many values; `repairs` may have grown even so.
    """
    found: list[str] = []
    at, last = 0, None
    while last is None or last["comma"]:
        last = _FIELD.match(line, at)
        if last is None:
            return None
        found.append(last["quoted"] or last["bare"].strip(BLANK_CHARACTERS))
        at = last.end()
    is_last_empty = "" in found and found.index("") == layout.count - 1
    if is_last_empty and any(set(BLANK_CHARACTERS) & set(field) and not _QUOTED.fullmatch(field) for field in found):
        return None  # Weka would take the words of a value for several, and the last comma for a mere end
    if last["weight"] or len(found) == layout.count + 1:  # one comma may come last, or before a weight
        found = found[:-1] if found[-1] == "" else found
    if len(found) != layout.count or not any(found):
        return None
    if last["comment"] and not (last["quoted"] or BARE_TEXT.fullmatch(last["bare"].strip(BLANK_CHARACTERS))):
        return None  # the percent sign may belong to the value
    values = [_mend_value(field, position, layout, repairs) for position, field in enumerate(found)]
    if None in values:
        return None
    return ",".join([*map(str, values), *filter(None, [last["weight"]])])


def _mend_sparse_row(line: str, layout: BatchLayout, repairs: list[tuple[str, str]]) -> str | None:
    """Return a sparse row as proper ARFF, and append to `repairs` what is corrected, as in `MendedRow.repairs`.

    Return None if its meaning is in doubt, or if an index is too large; `repairs` may have grown even so.
    """
    row = _SPARSE.fullmatch(line)
    if row is None:
        return None
    inner, at, pairs = row["inner"], 0, []
    while at < len(inner):
        pair = _PAIR.match(inner, at)
        if pair is None:
            return None
        at = pair.end()
        if pair["index"] is None:
            continue  # commas are blanks there
        position = int("0" + pair["index"].lstrip("+0")[:18])  # more digits are too many even when cut
        if position >= layout.count:
            return None
        value = _mend_value(pair["quoted"] or pair["bare"].strip(BLANK_CHARACTERS), position, layout, repairs)
        if value is None:
            return None
        pairs.append(f"{position} {value}")
    return "{" + ",".join(pairs) + "}" + (row["weight"] or "")


def _mend_value(field: str, position: int, layout: BatchLayout, repairs: list[tuple[str, str]]) -> str | None:
    """Return `field`, which has no blanks around it, as one token of ARFF; None if its meaning is in doubt.

    An empty field becomes ``?``. So do words such as ``null`` for a number or date, and KEEL's ``<null>`` for a label
    unless it is declared. If the field is corrected, add the kind of note and the text to `repairs`.
    """
    kind = layout.schema.attributes[position].kind
    labels = layout.codes.get(position)
    is_quoted = _QUOTED.fullmatch(field) is not None
    bare = unescape(field[1:-1]) if is_quoted else field
    nulls = {KEEL_MISSING} if labels is not None else NULLS if kind in ("numeric", "date") else ()
    if field == "" or (field != "?" and bare.lower() in nulls and bare not in (labels or ())):
        repairs.append((NULL if field else EMPTY, field))
        return "?"
    if BARE_TEXT.fullmatch(field) or is_quoted:
        return field
    value = guess_badly_quoted_value(field, labels)
    if value is None:
        return None
    repairs.append((QUOTES if "'" in field or '"' in field else BLANKS, value))
    return quote_if_needed(value)


def guess_name_or_label(text: str) -> str | None:
    """Return the name or label that `text` means, as an ARFF token; None if that is in doubt.

    `text` is not empty and has no blanks at its ends.
    """
    if BARE_TEXT.fullmatch(text) or _QUOTED.fullmatch(text):
        return text
    value = guess_badly_quoted_value(text)
    return None if value is None else quote_if_needed(value)


def guess_badly_quoted_value(field: str, labels: Mapping[str, int] | None = None) -> str | None:
    """Return the value that an unquoted or wrongly quoted text means; None if that is in doubt.

    The text, `field`, is not empty and has no blanks at its ends. If it is a value of a nominal attribute, the keys of
    `labels` decide whether quotes at an end belong to it. `labels` is None for other texts.
    """
    if labels is not None:
        for reading in (field, field.strip("'\"")):
            if reading in labels:
                return reading
    first, last = field[0], field[-1]
    if first in "'\"" and first == last and len(field) > 1:
        inner = field[1:-1]
        return inner if _APOSTROPHES[first].fullmatch(inner) else None
    if first in "'\"" or last in "'\"" or "\\'" in field or '\\"' in field:
        return None  # a quote that is missing at the other end, or one that belongs to the value
    return field
