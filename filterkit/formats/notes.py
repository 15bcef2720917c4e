"""Notes: corrections and guesses of readers, counted by kind, with one warning for each kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from filterkit.errors import quoted, visible

# The kinds of corrections, in rows and in headers, and what else is told.
EMPTY, NULL, BLANKS, QUOTES = "empty", "null", "blanks", "quotes"
DECLARATION, KEEL = "declaration", "keel"
UNSEEN, ADDED, TOO_LARGE, ROUNDED = "unseen", "added", "too large", "rounded"

KEEL_MISSING = "<null>"  # how KEEL writes a missing value

_SHOWN = 5  # of the values that are added to an attribute

# What happened, for one and for several.
_MESSAGES = {
    EMPTY: ("empty value is missing", "empty values are missing"),
    NULL: ("value is taken as missing", "values are taken as missing"),
    BLANKS: ("value with blanks is read as one", "values with blanks are each read as one"),
    QUOTES: ("value with a stray quote is read as it stands", "values with stray quotes are read as they stand"),
    DECLARATION: ("declaration is corrected", "declarations are corrected"),
    KEEL: ("line of KEEL, @inputs or @outputs, is understood", "lines of KEEL, @inputs and @outputs, are understood"),
    UNSEEN: ("undeclared value is missing", "undeclared values are missing"),
    ADDED: ("value is added", "values are added"),
    TOO_LARGE: ("number is too large and read as Infinity", "numbers are too large and read as Infinity"),
    ROUNDED: ("", "whole numbers have more digits than float64 holds, and are rounded"),
}
# Why that happened, if not because of --lenient.
_OPTIONS = {UNSEEN: "--unseen missing: ", ADDED: "--unseen extend: ", TOO_LARGE: "", ROUNDED: ""}


class Note(NamedTuple):
    """A correction or guess of a reader about one value, or about several of the same kind in a block.

    Attributes
    ----------
    kind : a key of the table above.
    line : of the first; of a value that a row of a table lacks, the number of the row, if `attribute` is not empty.
    number : how many there are; 0 if they are not counted.
    position : of the attribute, for an undeclared value.
    text : the value, or the first of them; undeclared values that differ have a note each.
    name : of the file.
    attribute : the name of the attribute, if the note is about one alone.
    """

    kind: str
    line: int
    number: int = 1
    position: int = -1
    text: str = ""
    name: str = ""
    attribute: str = ""


class LenientWarning(UserWarning):
    """A reader has made something else of values than the input says; the message says what."""


def merge_notes(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Merge all notes of one kind, or of one undeclared value, into one at the position of the first."""
    found: dict[Any, Note] = {}
    _count_notes(found, notes, lambda note: (note.kind, note.position, note.text if note.kind == UNSEEN else ""))
    return tuple(found.values())


def _count_notes(found: dict[Any, Note], notes: Iterable[Note], make_key: Callable[[Note], Any]) -> None:
    """Add notes to those found, by their keys; of those with one key, only the numbers."""
    for note in notes:
        key = make_key(note)
        first = found.setdefault(key, note._replace(number=0))
        found[key] = first._replace(number=first.number + note.number)


def note_added_labels(name: str, attribute: str, values: Sequence[str]) -> Note:
    """Return a note that these values, which the header does not declare, were added to an attribute of a file."""
    shown = ", ".join([quoted(text) for text in values[:_SHOWN]] + ["…"] * (len(values) > _SHOWN))
    return Note(ADDED, 0, len(values), text=shown, name=name, attribute=attribute)


class Notes(dict[tuple[str, str, str], Note]):
    """The notes about an input by file, kind and attribute, which become warnings at the end."""

    def add(self, notes: Iterable[Note]) -> None:
        """Count notes; they must come in the order of the input."""
        _count_notes(self, notes, lambda note: (note.name, note.kind, note.attribute))

    def warn(self) -> None:
        """Give one `LenientWarning` for each kind of note in each file, and forget the notes."""
        for note in self.values():
            about, unit = (f"attribute {quoted(note.attribute)}: ", "row") if note.attribute else ("", "line")
            text = f"{note.number} " * bool(note.number) + _MESSAGES[note.kind][note.number != 1]
            if note.kind == ADDED:
                text += f" to attribute {quoted(note.attribute)}: {note.text}"
            else:
                text = f"{about}{text}, {'the first ' * (note.number != 1)}in {unit} {note.line}"
                text += f" ({quoted(note.text)})" if note.text else ""
            option = _OPTIONS.get(note.kind, "--lenient: ")
            warnings.warn(LenientWarning(visible(f"{note.name}: {option}{text}")), stacklevel=2)
        self.clear()
