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
    """The warning that a file that filterkit wrote may be cut off, because its last line is missing.

    The message names the file, and the line to add if no row is missing, such as ``% 150 rows``.
    """


def parse_stated_row_count(text: bytes) -> int | None:
    """Return the number of rows that the last line of a text, such as ``% 150 rows``, states; -1 if it states none.

    Of ``% 150 of 200 rows``, this is 150. Blank lines at the end do not count. Return None if `text` is blank or b"".
    """
    end = text.rstrip(_BLANKS)[-_LONGEST:]
    if not end:
        return None
    stated = _LAST.fullmatch(end[max(end.rfind(b"\n"), end.rfind(b"\r")) + 1 :])
    return int(stated[1]) if stated else -1


class FileRowCount(NamedTuple):
    """How many rows a file, or a part of it, has, and how many its last line states.

    Attributes
    ----------
    name : the name of the file.
    n_rows : the number of rows, with those that are rejected.
    stated : the number of rows that the last line states; -1 if it states none; None if there is no line that is not
        blank.
    is_own : whether the file begins with filterkit's own comment; None if it has no header, or if that is not known.
    """

    name: str
    n_rows: int = 0
    stated: int | None = None
    is_own: bool | None = None

    def merge_with(self, following: FileRowCount) -> FileRowCount:
        """Return this part of a file and the `following` part as one part, with the name of this."""
        stated = self.stated if following.stated is None else following.stated
        is_own = following.is_own if self.is_own is None else self.is_own
        return FileRowCount(self.name, self.n_rows + following.n_rows, stated, is_own)

    @property
    def lacks_last_line(self) -> bool:
        """Whether filterkit wrote the beginning of the file, but its last line is not the number of rows."""
        return bool(self.is_own) and self.stated in (None, -1)


class RowCounts(dict[str, FileRowCount]):
    """What is known of the number of rows of each file of an input, by the name of the file."""

    def add(self, parts: Iterable[FileRowCount]) -> None:
        """Add the rows of parts of files; parts of one file must come in order, but files in any order."""
        for part in parts:
            self[part.name] = self.get(part.name, FileRowCount(part.name)).merge_with(part)

    def warn_or_raise_if_cut_off(self, names: Iterable[str], requires_last_line: bool) -> bool:
        """Return whether the last line of any file that filterkit wrote, the number of its rows, is missing.

        A file without a header continues the file before, if that has no such last line. Give an `IncompleteWarning`
        for each file that lacks it.

        Parameters
        ----------
        names : the names of the files, in the order of the input.
        requires_last_line : whether to raise ArffError instead of warning.

        Raises
        ------
        ArffError : the last line of a file that filterkit wrote states another number of rows, or is missing and
            required.
        """
        whole: list[FileRowCount] = []
        for name in names:
            rows = self.get(name, FileRowCount(name))
            if whole and rows.is_own is None and whole[-1].lacks_last_line:
                whole[-1] = whole[-1].merge_with(rows)
            else:
                whole.append(rows)
        for rows in whole:
            if rows.lacks_last_line:
                advice = "so it may be cut off; if no row is missing, add that line"
                text = f"its last line, such as '% {rows.n_rows} rows', is missing, {advice}"
                if requires_last_line:
                    raise ArffError(text, source=rows.name)
                warnings.warn(IncompleteWarning(visible(f"{rows.name}: {text}")), stacklevel=2)
            elif rows.is_own and rows.n_rows != rows.stated:
                changed = "removed" if rows.n_rows < (rows.stated or 0) else "added"
                advice = f"make the file again, or remove that line if rows were {changed} on purpose"
                text = f"its last line says {rows.stated} rows, but it has {rows.n_rows}; {advice}"
                raise ArffError(text, source=rows.name)
        return any(rows.lacks_last_line for rows in whole)
