"""The errors that filterkit raises, and the parts that their messages are made of."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any


class FilterkitError(Exception):
    """Base of filterkit's own errors, which a wrong input, chain, option or plugin, for example, causes.

    ``str(error)`` is the message to show: one line, in which control characters are escaped.
    """

    def __str__(self) -> str:
        return visible(Exception.__str__(self))  # `OSError` has a text of its own, see `make_file_error`

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with `args` alone, without the other arguments that some errors need.
        return _remake_pickled_error, (type(self), None, self.args), vars(self)


class RowError(FilterkitError):
    """A row, or another part of a file, that cannot be read.

    Its text is ``source:line: attribute 'name': message``, without what is not known.

    Parameters
    ----------
    message : what is wrong, without file and line.
    source : name of the file; None while it is unknown.
    line : number of the physical line, from 1, or None.
    attribute : name of the attribute concerned, or None.
    """

    def __init__(
        self, message: str, *, source: str | None = None, line: int | None = None, attribute: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line
        self.attribute = attribute

    def __str__(self) -> str:
        location = ":".join(str(part) for part in (self.source, self.line) if part is not None)
        attribute = "" if self.attribute is None else f"attribute {quoted(self.attribute)}"
        return visible(": ".join(filter(None, (location, attribute, self.message))))


class ArffError(RowError):
    """ARFF text that cannot be read; the parameters are those of `RowError`."""


class StageError(FilterkitError):
    """A stage that cannot work on its data.

    Its text is ``stage: source: row N: message``, where N is from 1, without what is not known.

    Parameters
    ----------
    stage : the stage's name.
    message : what is wrong, and what to do.
    row : number of the row concerned in the input, from 0, or None.
    lacks : what the stage refuses, such as ``missing values``, if other stages mend it: those whose `Stage.mends` is
        the same text. "" if none does.

    Attributes
    ----------
    stage, message, row, lacks : as given.
    source : the name of the input; None while it is unknown.
    """

    def __init__(self, stage: str, message: str, row: int | None = None, lacks: str = "") -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message
        self.row = row
        self.lacks = lacks
        self.source: str | None = None  # the name of the input, once it is known

    def __str__(self) -> str:
        source = "" if self.source is None else f"{self.source}: "
        row = "" if self.row is None else f"row {self.row + 1}: "
        return visible(f"{self.stage}: {source}{row}{self.message}")


class UsageError(FilterkitError):
    """A command line, chain text, option or argument that cannot be understood or used (exit status 2)."""


class PluginError(FilterkitError):
    """A plugin that cannot be loaded, fails or returns something wrong, or two plugins that claim the same name."""


PATH = 4096  # the limit to give to `quoted` for a path, which it should not cut


def make_file_error(message: str, error: OSError, kind: type[FilterkitError] = FilterkitError) -> FilterkitError:
    """Make an error that is both a `kind` and, like `error`, a `FileNotFoundError` or another kind of `OSError`.

    `message` names the file. The ``errno``, ``strerror`` and ``filename`` of `error` are copied. `kind` is
    `FilterkitError`, or a subclass that takes only a message.
    """
    system = next((each for each in _SYSTEM_CLASSES if isinstance(error, each)), OSError)
    merged: FilterkitError = _get_merged_error_class(kind, system)(message)
    for name in _COPIED:
        setattr(merged, name, getattr(error, name))
    return merged


def make_read_or_write_error(name: str, error: OSError, use: str = "writing") -> FilterkitError:
    """Make an error, as `make_file_error` does, whose message is the `name` of a file and the reason.

    `use`, ``writing`` or ``reading``, is what the file was to be open for. It is shown if the file is closed or not
    open for that.
    """
    if error.errno == errno.EBADF:  # "Bad file descriptor" does not tell what to do
        return make_file_error(f"{name}: it is closed or not open for {use}; open it, or name a file", error)
    return make_file_error(f"{name}: {error.strerror or _REASONS.get(type(error)) or error}", error)


_SYSTEM_CLASSES = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
_COPIED = ("errno", "strerror", "filename")
_REASONS: dict[type, str] = {FileNotFoundError: os.strerror(errno.ENOENT)}  # some file systems of URLs leave it out
_CLASSES: dict[tuple[type, type], type[Any]] = {}  # by `_get_merged_error_class`


def _get_merged_error_class(kind: type[FilterkitError], system: type[OSError]) -> type[Any]:
    """Return the class that derives from both `kind` and `system`. The same two always give the same class."""

    def reduce_error(error: Any) -> tuple[Any, ...]:
        return (
            _remake_pickled_error,
            (kind, system, error.args),
            vars(error) | {n: getattr(error, n) for n in _COPIED},
        )

    if (kind, system) not in _CLASSES:
        members = {"__module__": __name__, "__reduce__": reduce_error}
        _CLASSES.setdefault((kind, system), type(system.__name__, (kind, system), members))
    return _CLASSES[kind, system]


def _remake_pickled_error(
    kind: type[FilterkitError], system: type[OSError] | None, args: tuple[Any, ...]
) -> FilterkitError:
    """Make an error for pickle, which sets its attributes afterwards; its own constructor is not called.

    Its class is `kind`, or the class that derives from `kind` and `system`, unless the latter is None.
    """
    merged = kind if system is None else _get_merged_error_class(kind, system)
    return merged.__new__(merged, *args)


def quoted(text: str, limit: int = 60) -> str:
    """Return a text in single quotes for a message, cut to `limit` characters, with unprintable ones then escaped."""
    return f"'{visible(text if len(text) <= limit else text[: limit - 1] + '…')}'"


def visible(text: str) -> str:
    """Escape the unprintable characters of a text, such as line ends and terminal codes, as ``repr`` does."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def suggestion(word: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown word: ``"; did you mean 'x'?"``, where x is similar to it.

    x is the most similar word of `known`. Without a similar one, or for a `word` of more than 100 characters, return
    "". If `word` is several words of `known`, joined by commas, the text says to write them separately.
    """
    if {*word.split(",")} <= {*known}:
        return "; give each of them separately, without commas"
    if len(word) > 100:  # not a typing error; and the time to compare grows with the square of the length
        return ""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1)
    return f"; did you mean {quoted(close[0])}?" if close else ""


def find_repeated(names: Iterable[str]) -> str | None:
    """Return the first of the names that occurs more than once; None if all are distinct."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def add_plugin_hint(hint: str, in_python: bool) -> str:
    """Return the end of a message about an unknown name: `hint`, and how to load a plugin file that may offer the name.

    A hint that ends in "?", as a suggestion does, is returned unchanged. `in_python` is False if the name comes from
    the command line.
    """
    if hint.endswith("?"):
        return hint
    how = "load the file by filterkit.load_plugin" if in_python else "name the file with --plugin FILE"
    return f"{hint}; if a plugin file offers it, {how}"


def format_chain_that_makes_class(attribute: str) -> str:
    """Return the text of a chain that makes an attribute nominal, if it is numeric or a string, and then the class."""
    return f"nominal --only {attribute} class {attribute}"


# What to do where there is no class, in a chain and before chains.
NAME_A_CLASS = (
    "name a nominal one with --class (in Python class_=), or begin the chain with: "
    f"{format_chain_that_makes_class('NAME')}"
)

# What to do where there is nothing to predict.
NAME_A_TARGET = "name the class with --class (in Python class_=), or labels with --labels"


def explain_not_nominal(name: str, kind: str) -> str:
    """Return a clause that says that the class `name` is of `kind` and not nominal, and what to do about it."""
    name = quoted(name)
    if kind not in ("numeric", "string"):
        return f"{name} is {kind}; name a nominal one with --class"
    condition = "if its numbers stand for classes, " * (kind == "numeric")
    return f"{name} is {kind}; {condition}make it nominal first, by the stage: nominal --only {name}"


# The name and origin of each plugin, for messages, by the name of its module or package.
plugin_by_module: dict[str, str] = {}

# The plugins of stage classes, metrics and formats, by the id of the thing. The thing itself is kept with its plugin,
# because the id of an object that is gone may be given to another.
_plugins: dict[int, tuple[Any, str]] = {}


def record_plugin(thing: Any, plugin: str) -> None:
    """Record for `find_plugin_that_offers` that a plugin offers a stage class, metric or format.

    `plugin` is the plugin's name and origin, for messages. If several plugins offer the same object, the first counts.
    """
    _plugins.setdefault(id(thing), (thing, plugin))


def find_plugin_that_offers(thing: Any) -> str:
    """Return the name and origin of the plugin that offers `thing`, such as a metric, or the class of `thing`.

    Return "" if `record_plugin` recorded neither.
    """
    return next((_plugins[id(each)][1] for each in (thing, type(thing)) if id(each) in _plugins), "")


def find_plugin_that_raised(error: BaseException) -> str:
    """Return the plugin in whose code an error was raised, with the file and line, for a message; "" if in none.

    Of several plugins in the traceback, it is the one that was called last.
    """
    found, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__") or ""
        while module and module not in plugin_by_module:
            module = module.rpartition(".")[0]
        if module:
            plugin, file = plugin_by_module[module], os.path.basename(trace.tb_frame.f_code.co_filename)
            found = f"{plugin}, {'' if plugin.endswith(file) else f'{file}, '}line {trace.tb_lineno}"
        trace = trace.tb_next
    return found


def explain_unexpected_error(error: BaseException) -> str:
    """Return the message about an error that is not filterkit's: its type, where it was raised, and its text.

    The notes of the error say where; without notes, it is the plugin in whose code it was raised, if there is one. If a
    file was not found because the current folder has been deleted, the message says only that.
    """
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except OSError:
            return "the current folder has been deleted; change to another folder"
    where = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
    plugin = "" if where else find_plugin_that_raised(error)
    where = f" in the plugin {plugin}" if plugin else where
    return f"unexpected {type(error).__name__}{where}: {error} (--debug shows where)"


def to_one_line(error: BaseException | str, limit: int = 300) -> str:
    """Return the text of an error or warning as one line, cut to `limit` characters.

    Then unprintable characters are escaped, which may make it longer.
    """
    return quoted(" ".join(str(error).split()), limit)[1:-1]
