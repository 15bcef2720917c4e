"""Lenient reading: rewriting a line that Weka's grammar refuses as proper ARFF, where its meaning is beyond doubt.

The strict reader always goes first, so that nothing that it accepts changes its meaning. It also reads what is
rewritten here; a line that it still refuses is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from filterkit.arff.layout import Layout
from filterkit.arff.row_format import quote
from filterkit.arff.tokens import unescape
from filterkit.errors import quoted
from filterkit.formats.notes import BLANKS, EMPTY, KEEL_MISSING, NULL, QUOTES

NULLS = frozenset({KEEL_MISSING, "na", "n/a", "nan", "none", "null", "?", ""})  # for a missing number, in lower case

_BLANKS = "".join(map(chr, range(0x21)))
_BLANK = r"[\x00-\x20]*+"
_QUOTED = r"""'[^'\\\r\n]*+(?:\\[^\r\n][^'\\\r\n]*+)*+'|"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+\""""
_END = rf"(?:(?P<weight>\{{[^{{}}\r\n]*+\}})?{_BLANK}(?P<comment>%[^\r\n]*+)?\Z)"
_FIELD = re.compile(
    rf"{_BLANK}(?:(?P<quoted>{_QUOTED})(?={_BLANK}(?:[,{{%]|\Z))|(?P<bare>[^,%{{}}\r\n]*+)){_BLANK}(?:(?P<comma>,)|{_END})"
)
_SPARSE = re.compile(rf"{_BLANK}\{{(?P<inner>[^{{}}\r\n]*+)\}}{_BLANK}{_END}")
_PAIR = re.compile(
    rf"{_BLANK}(?:(?P<index>\+?[0-9]++)[\x00-\x20]++(?:(?P<quoted>{_QUOTED})(?={_BLANK}(?:,|\Z))|(?P<bare>[^,%{{}}\r\n]++)))?"
    rf"{_BLANK}(?:,|\Z)"
)
_WORD = re.compile(r"""[^\x00-\x20,%'"{}]+""")
# Text with quotes only inside words, as in "don't". The quotes around a text are not part of it.
_APOSTROPHES = {
    mark: re.compile(rf"""[^{mark}\\]*(?:(?<=[^\x00-\x20'"]){mark}(?=[^\x00-\x20'"])[^{mark}\\]*)*""") for mark in "'\""
}


class MendedRow(NamedTuple):
    """A row as proper ARFF.

    Attributes
    ----------
    text : without a line end.
    repairs : the kind of each note, see `filterkit.formats.notes`, and the value that it is about.
    hint : how the lenient reader reads the first mistake, such as "it as missing", for the message of an error.
    """

    text: str
    repairs: list[tuple[str, str]]
    hint: str


def mend_row(text: str, layout: Layout) -> MendedRow | None:
    """Rewrite a row that the strict reader refuses; return None if its meaning is in doubt.

    Parameters
    ----------
    text : one line.
    layout : says of what kinds the values are, and which labels the header declares.
    """
    line = text.rstrip("\r\n")
    mender = _Mender(layout)
    row = mender.mend_sparse(line) if line.lstrip(_BLANKS).startswith("{") else mender.mend_dense(line)
    return MendedRow(row, mender.repairs, mender.hint) if row is not None and mender.repairs else None


class _Mender:
    """Rewrites one row.

    Attributes
    ----------
    repairs, hint : as in `MendedRow`.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.repairs: list[tuple[str, str]] = []
        self.hint = ""

    def mend_dense(self, line: str) -> str | None:
        """Return the row, or None if its meaning is in doubt."""
        found: list[str] = []
        at, last = 0, None
        while last is None or last["comma"]:
            last = _FIELD.match(line, at)
            if last is None:
                return None
            found.append(last["quoted"] or last["bare"].strip(_BLANKS))
            at = last.end()
        is_last_empty = "" in found and found.index("") == self._layout.count - 1
        if is_last_empty and any(set(_BLANKS).intersection(field) and not _is_quoted(field) for field in found):
            return None  # Weka would take the words of a value for several, and the last comma for a mere end
        if last["weight"] or len(found) == self._layout.count + 1:  # one comma may come last, or before a weight
            found = found[:-1] if found[-1] == "" else found
        if len(found) != self._layout.count or not any(found):
            return None
        if last["comment"] and not (last["quoted"] or _WORD.fullmatch(last["bare"].strip(_BLANKS))):
            return None  # the percent sign may belong to the value
        values = [self._mend_value(field, position) for position, field in enumerate(found)]
        if None in values:
            return None
        return ",".join([*map(str, values), *([last["weight"]] if last["weight"] else [])])

    def mend_sparse(self, line: str) -> str | None:
        """Return the row, or None if its meaning is in doubt."""
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
            position = int(pair["index"][:18])
            value = (
                self._mend_value(pair["quoted"] or pair["bare"].strip(_BLANKS), position)
                if position < self._layout.count
                else None
            )
            if value is None:
                return None
            pairs.append(f"{position} {value}")
        return "{" + ",".join(pairs) + "}" + (row["weight"] or "")

    def _mend_value(self, field: str, position: int) -> str | None:
        """Return a value, which has no blanks around it, as one token; None if its meaning is in doubt."""
        kind = self._layout.schema.attributes[position].kind
        labels = self._layout.codes.get(position)
        if field == "":
            return self._add_repair(EMPTY, "", "it as missing", "?")
        bare = unescape(field[1:-1]) if _is_quoted(field) else field
        nulls = {KEEL_MISSING} if labels is not None else NULLS if kind in ("numeric", "date") else ()
        if field != "?" and bare.lower() in nulls and bare not in (labels or ()):
            return self._add_repair(NULL, field, "it as missing", "?")
        if _WORD.fullmatch(field) or _is_quoted(field):
            return field
        value = guess_value(field, labels)
        if value is None:
            return None
        kind_of_repair = QUOTES if "'" in field or '"' in field else BLANKS
        return self._add_repair(kind_of_repair, value, f"{quoted(value, 30)} as one value", quote(value))

    def _add_repair(self, kind: str, found: str, hint: str, text: str) -> str:
        """Add a repair of the value `found`; return `text`, which replaces it."""
        self.repairs.append((kind, found))
        self.hint = self.hint or hint
        return text


def _is_quoted(field: str) -> bool:
    """Return whether a field is one value in quotes, as Weka reads it."""
    return re.fullmatch(_QUOTED, field) is not None


def guess_value(field: str, labels: Mapping[str, int] | None = None) -> str | None:
    """Return the value that an unquoted or wrongly quoted text means; None if that is in doubt.

    Parameters
    ----------
    field : without blanks around it.
    labels : those that a nominal attribute declares. They decide whether quotes at an end belong to the label.
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
