"""The rows of each file of an input, compared with the number in the last line that filterkit writes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from filterkit.errors import ArffError, visible

_LAST = re.compile(rb"% (\d{1,18})(?: of \d{1,18})? rows")
_LONGEST = 64  # bytes, more than a last line has
_BLANKS = bytes(range(0x21))


class IncompleteWarning(UserWarning):
    """The last line of a file of filterkit, the number of its rows, is missing; so the file may be cut off."""


def find_stated_rows(text: bytes) -> int | None:
    """Return the number of rows that the last line of `text` states; -1 if it states none; None if `text` is blank."""
    end = text.rstrip(_BLANKS)[-_LONGEST:]
    if not end:
        return None
    stated = _LAST.fullmatch(end[max(end.rfind(b"\n"), end.rfind(b"\r")) + 1 :])
    return int(stated[1]) if stated else -1


class FileRows(NamedTuple):
    """How many rows a file, or a part of it, has, and how many its last line states.

    Attributes
    ----------
    name : of the file.
    n_rows : how many there are, with those that are rejected.
    stated : see `find_stated_rows`.
    is_own : whether the file begins with filterkit's own comment; None if it has no header, or if that is not known.
    """

    name: str
    n_rows: int = 0
    stated: int | None = None
    is_own: bool | None = None

    def combine(self, more: FileRows) -> FileRows:
        """Return the rows of this part of a file and of the part `more` behind it as one part, with this name."""
        stated = self.stated if more.stated is None else more.stated
        return FileRows(
            self.name, self.n_rows + more.n_rows, stated, more.is_own if self.is_own is None else self.is_own
        )

    @property
    def is_unfinished(self) -> bool:
        """Whether filterkit wrote the beginning of the file, but its last line is not the number of rows."""
        return bool(self.is_own) and self.stated in (None, -1)


class RowCounts(dict[str, FileRows]):
    """The rows of each file by its name, to compare them with the number that its last line states."""

    def add(self, parts: Iterable[FileRows]) -> None:
        """Add parts of files; parts of one file must come in order."""
        for part in parts:
            self[part.name] = self.get(part.name, FileRows(part.name)).combine(part)

    def check_stated_rows(self, names: Iterable[str], must_state: bool) -> bool:
        """Compare the rows of each file with the number that it states, and say whether a file may be cut off.

        A file without a header continues the file before, as the pieces that ``split`` makes do. Raise ArffError if a
        number is wrong, or if it is missing and `must_state`; otherwise, an `IncompleteWarning` says that it is
        missing.
        """
        whole: list[FileRows] = []
        for name in names:
            rows = self.get(name, FileRows(name))
            if whole and rows.is_own is None and whole[-1].is_unfinished:
                whole[-1] = whole[-1].combine(rows)
            else:
                whole.append(rows)
        for rows in whole:
            if rows.is_unfinished:
                advice = "so it may be cut off; if no row is missing, add that line"
                text = f"its last line, such as '% {rows.n_rows} rows', is missing, {advice}"
                if must_state:
                    raise ArffError(text, source=rows.name)
                warnings.warn(IncompleteWarning(visible(f"{rows.name}: {text}")), stacklevel=2)
            elif rows.is_own and rows.n_rows != rows.stated:
                changed = "removed" if rows.n_rows < (rows.stated or 0) else "added"
                advice = f"make the file again, or remove that line if rows were {changed} on purpose"
                text = f"its last line says {rows.stated} rows, but it has {rows.n_rows}; {advice}"
                raise ArffError(text, source=rows.name)
        return any(rows.is_unfinished for rows in whole)
