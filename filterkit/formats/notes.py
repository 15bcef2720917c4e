"""Notes: corrections and guesses of readers, counted by kind, with one warning for each kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from filterkit.errors import quoted, visible

# The kinds of corrections, in rows and in headers, and what else is told.
EMPTY, NULL, BLANKS, QUOTES = "empty", "null", "blanks", "quotes"
DECLARATION, KEEL = "declaration", "keel"
UNSEEN, ADDED, TOO_LARGE, ROUNDED = "unseen", "added", "too large", "rounded"

KEEL_MISSING = "<null>"  # how KEEL writes a missing value

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
    kind : what happened, a constant of this module such as `EMPTY`.
    line : the number of the line of the first value, from 1; if `attribute` is not "", that of its row, from 1; 0 for
        labels that were added.
    number : how many values there are; 0 if they are not counted.
    position : the index of the attribute of an undeclared value, or of a number that is too large; otherwise -1.
    text : the first value, "" if it is not told; for added labels, a list of some. Undeclared values that differ have a
        note each.
    name : the name of the file; "" while it is not known.
    attribute : the name of the attribute, if the note is about one alone; otherwise "".
    """

    kind: str
    line: int
    number: int = 1
    position: int = -1
    text: str = ""
    name: str = ""
    attribute: str = ""


class LenientWarning(UserWarning):
    """The warning that a reader corrected or guessed values, or declarations in the header, of an input.

    The message names the file and, as far as they apply and are known, the option that allows this, such as
    ``--lenient``, how often it happened, and where first.
    """


def merge_notes(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return one note for all of the same kind and attribute, and of the same text if it is an undeclared value.

    It is the first of them, with the sum of their numbers.
    """
    merged = Notes()
    merged.add(notes, lambda note: (note.kind, note.position, note.text if note.kind == UNSEEN else ""))
    return tuple(merged.values())


class Notes(dict[Any, Note]):
    """The notes about an input, by file, kind and attribute; `warn_and_clear` turns them into warnings."""

    def add(
        self, notes: Iterable[Note], make_key: Callable[[Note], Any] = attrgetter("name", "kind", "attribute")
    ) -> None:
        """Add notes, in the order of the input; of those with the same key, keep the first, and add up their numbers.

        `make_key` returns the key of a note; by default, its file, kind and attribute.
        """
        for note in notes:
            key = make_key(note)
            first = self.setdefault(key, note._replace(number=0))
            self[key] = first._replace(number=first.number + note.number)

    def warn_and_clear(self) -> None:
        """Give one `LenientWarning` for each of these notes, and remove them."""
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
