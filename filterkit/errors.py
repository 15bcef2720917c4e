"""What can go wrong, as exceptions whose text is fit for a user: one or two lines, no traceback."""

from __future__ import annotations

from typing import Any


class FilterkitError(Exception):
    """Base of every error that filterkit raises on purpose; ``str(error)`` is the message to show: one line, without
    control characters, which a terminal would obey."""

    def __str__(self) -> str:
        return visible(self._text())

    def _text(self) -> str:
        """The message, with whatever is in the names and values that it tells."""
        return Exception.__str__(self)  # not that of the system's errors, see `file_error`

    def __reduce__(self) -> tuple[Any, ...]:
        # Python's own way calls the class with `args` alone, and what else an error takes would be missing.
        return _again, (type(self), self.args), vars(self)


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
    """A plugin that cannot be loaded or gives what does not fit, or two plugins that claim one name."""


PATH = 4096  # the limit for `quoted` that leaves a path whole


def file_error(message: str, error: OSError, kind: type[FilterkitError] = FilterkitError) -> FilterkitError:
    """An error with this message that is of `kind` and of the system's kind too: whoever expects a `FileNotFoundError`
    catches it.

    Parameters
    ----------
    message : names the file.
    error : what the system said; its ``errno``, ``strerror`` and ``filename`` are taken over.
    kind : `FilterkitError`, or a class derived from it that takes a message alone.
    """
    system = next((each for each in _OF_FILES if isinstance(error, each)), OSError)
    made: FilterkitError = _both(kind, system)(message)
    for name in _TAKEN_OVER:
        setattr(made, name, getattr(error, name))
    return made


_OF_FILES = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
_TAKEN_OVER = ("errno", "strerror", "filename")


_KINDS: dict[tuple[type, type], type[Any]] = {}  # what `_both` has made


def _both(kind: type[FilterkitError], system: type[OSError]) -> type[Any]:
    """The class of errors that are of both kinds."""

    def reduced(error: Any) -> tuple[Any, ...]:
        return _both_again, (kind, system, error.args), vars(error) | {n: getattr(error, n) for n in _TAKEN_OVER}

    if (kind, system) not in _KINDS:
        members = {"__module__": __name__, "__reduce__": reduced}
        _KINDS.setdefault((kind, system), type(system.__name__, (kind, system), members))
    return _KINDS[kind, system]


def _both_again(kind: type[FilterkitError], system: type[OSError], args: tuple[Any, ...]) -> FilterkitError:
    return _again(_both(kind, system), args)


def _again(kind: type[FilterkitError], args: tuple[Any, ...]) -> FilterkitError:
    """An error without its attributes, for pickle, which then sets them."""
    return kind.__new__(kind, *args)


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


def not_nominal(name: str, kind: str) -> str:
    """What to say of a class of this name and kind that has to be nominal."""
    if kind not in ("numeric", "string"):
        return f"{quoted(name)} is {kind}; name a nominal one with --class"
    return f"{quoted(name)} is {kind}; declare its values in the header, as @attribute {quoted(name)} {{0,1}}"


def one_line(error: BaseException | str, limit: int = 300) -> str:
    """The text of a foreign error or warning as a line of at most `limit` characters."""
    return quoted(" ".join(str(error).split()), limit)[1:-1]
