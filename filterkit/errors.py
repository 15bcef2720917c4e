"""What can go wrong, as exceptions whose text is fit for a user: one or two lines, no traceback."""

from __future__ import annotations


class FilterkitError(Exception):
    """Base of every error that filterkit raises on purpose; ``str(error)`` is the message to show: one line, without
    control characters, which a terminal would obey."""

    def __str__(self) -> str:
        return visible(self._text())

    def _text(self) -> str:
        """The message, with whatever is in the names and values that it tells."""
        return super().__str__()


class ArffError(FilterkitError):
    """An ARFF text that cannot be read.

    Parameters
    ----------
    message : what is wrong, without the place.
    source : name of the file, or None while it is not known yet.
    line : 1-based number of the physical line, or None.
    attribute : name of the attribute concerned, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        attribute: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line
        self.attribute = attribute

    def _text(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line) if part is not None)
        about = "" if self.attribute is None else f"attribute {quoted(self.attribute)}: "
        return f"{place}: {about}{self.message}" if place else about + self.message


class StageError(FilterkitError):
    """A stage that cannot do its work on the data it was given.

    Parameters
    ----------
    stage : the stage's name.
    message : what is wrong.
    row : number of the row concerned, from 0, or None.
    """

    def __init__(self, stage: str, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message
        self.row = row
        self.source: str | None = None  # the input's name, once known

    def _text(self) -> str:
        source = "" if self.source is None else f"{self.source}: "
        place = "" if self.row is None else f"row {self.row + 1}: "
        return f"{self.stage}: {source}{place}{self.message}"


class UsageError(FilterkitError):
    """A command line, chain text or option that cannot be understood (exit status 2)."""


class PluginError(FilterkitError):
    """A plugin that cannot be loaded, or two that claim one name."""


def quoted(text: str, limit: int = 60) -> str:
    """`text` in single quotes for a message: control characters escaped, cut to `limit` characters."""
    return f"'{visible(text if len(text) <= limit else text[: limit - 1] + '…')}'"


def visible(text: str) -> str:
    """`text` for a terminal: line ends, escape sequences and all else that is not printed as it is, as Python escapes
    it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def suggestion(word: str, known: list[str]) -> str:
    """``"; did you mean 'x'?"`` when a word of `known` is close to `word`, else the empty text."""
    if len(word) > 100:  # no slip of the pen, and comparing takes time that grows with its square
        return ""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {quoted(close[0])}?" if close else ""
