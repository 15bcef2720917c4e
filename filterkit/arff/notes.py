"""Notes: what reading made of an input beyond what it says, counted by kind, and told in a warning for each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from filterkit.errors import quoted, visible

# The kinds of corrections, in rows and in headers, and what else is told.
EMPTY, NULL, BLANKS, QUOTES = "empty", "null", "blanks", "quotes"
DECLARATION, KEEL = "declaration", "keel"
UNSEEN, TOO_LARGE, ROUNDED = "unseen", "too large", "rounded"

KEELS = "<null>"  # how KEEL writes a missing value

_SHOWN = 5  # of the values that are added to an attribute

# What happened, for one and for several.
_TOLD = {
    EMPTY: ("empty value is missing", "empty values are missing"),
    NULL: ("value is taken as missing", "values are taken as missing"),
    BLANKS: ("value with blanks is read as one", "values with blanks are each read as one"),
    QUOTES: ("value with a stray quote is read as it stands", "values with stray quotes are read as they stand"),
    DECLARATION: ("declaration is corrected", "declarations are corrected"),
    KEEL: ("line of KEEL, @inputs or @outputs, is understood", "lines of KEEL, @inputs and @outputs, are understood"),
    UNSEEN: ("undeclared value is missing", "undeclared values are missing"),
    TOO_LARGE: ("number is too large and read as Infinity", "numbers are too large and read as Infinity"),
    ROUNDED: ("", "whole numbers have more digits than float64 holds, and are rounded"),
}
_OPTIONS = {UNSEEN: "--unseen missing: ", TOO_LARGE: "", ROUNDED: ""}  # why that happened, if not because of --lenient


class Note(NamedTuple):
    """What was made of one value, or of several of the same kind in a block.

    Attributes
    ----------
    kind : a key of the table above.
    line : of the first.
    number : how many there are; 0 if they are not counted.
    position : of the attribute, for an undeclared value.
    text : the value, or the first of them; undeclared values that differ have a note each.
    """

    kind: str
    line: int
    number: int = 1
    position: int = -1
    text: str = ""


class LenientWarning(UserWarning):
    """A reader has made something else of values than the input says; the message says what."""


def merged(notes: Iterable[Note]) -> tuple[Note, ...]:
    """One note, in the place of the first, for all of the same kind or, for undeclared values, of the same value."""
    found: dict[tuple[str, int, str], Note] = {}
    for note in notes:
        key = note.kind, note.position, note.text if note.kind == UNSEEN else ""
        first = found.get(key)
        found[key] = note if first is None else first._replace(number=first.number + note.number)
    return tuple(found.values())


class Notes:
    """Counts the notes about an input and its parts."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Note] = {}
        self._added: list[str] = []

    def add(self, name: str, notes: Iterable[Note]) -> None:
        """Count notes about the part called `name`, which follow those before in order."""
        for note in notes:
            first = self._found.get((name, note.kind))
            self._found[name, note.kind] = note if first is None else first._replace(number=first.number + note.number)

    def add_values(self, name: str, values: Mapping[str, Sequence[str]]) -> None:
        """Note the values that have been added to attributes, which are given by name."""
        for attribute, texts in values.items():
            shown = ", ".join([quoted(text) for text in texts[:_SHOWN]] + ["…"] * (len(texts) > _SHOWN))
            what = "value is" if len(texts) == 1 else "values are"
            about = f"{len(texts)} {what} added to attribute {quoted(attribute)}: {shown}"
            self._added.append(f"{name}: --unseen extend: {about}")

    def warn(self) -> None:
        """Warn once of each kind in each part."""
        for text in self._added:
            warnings.warn(LenientWarning(visible(text)), stacklevel=2)
        self._added.clear()
        for (name, kind), note in self._found.items():
            option = _OPTIONS.get(kind, "--lenient: ")
            what = _TOLD[kind][note.number != 1]
            where = f"the first in line {note.line}" if note.number != 1 else f"in line {note.line}"
            example = f" ({quoted(note.text)})" if note.text else ""
            text = f"{name}: {option}{f'{note.number} ' * bool(note.number)}{what}, {where}{example}"
            warnings.warn(LenientWarning(visible(text)), stacklevel=2)
        self._found.clear()
