"""The types of the columns of delimited text, found by looking at its first rows."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from filterkit import Attribute, UsageError, option
from filterkit.plugin import DateFormat, FileFormat, matching_names, quoted

_DAY, _HOURS, _SECONDS = "yyyy-MM-dd", "HH:mm", "HH:mm:ss"
DATE_FORMATS = (
    _DAY,
    *(f"{_DAY}{t}{time}" for t in (" ", "'T'") for time in (_HOURS, _SECONDS, f"{_SECONDS}.SSS")),
    *(f"{_DAY}{t}{time}XXX" for t in ("'T'", " ") for time in (_SECONDS, f"{_SECONDS}.SSS")),
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgG]?)[iI]?[bB]?")
_MAYBE_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_ZEROS = re.compile(r"(:\d\d\.\d{3})0{3}(?:000)?(?!\d)")
_ROWS = 20  # that are looked at, however long they are
_LONGEST = 1 << 28  # bytes, beyond which no more are read for them
_EXACT = 2.0**53  # whole numbers beyond it are not all exact


class Typed(FileFormat):
    """Text whose columns have types that are found out."""

    nominal: tuple[str, ...] = option((), "Columns that are nominal, by name or pattern such as a*.")
    string: tuple[str, ...] = option((), "Columns that are strings.")
    numeric: tuple[str, ...] = option((), "Columns that are numeric.")
    order: str = option(
        "appearance", "The order of labels: as they appear, or sorted.", choices=("appearance", "sorted")
    )
    most: int = option(
        100, "A column of text is nominal if it has at most so many distinct texts, each twice on average.", minimum=0
    )
    look: str = option("1MB", "How much text is read to find out types and labels: a size such as 10MB, or all.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.bytes = size_of(self, self.look)
        self.rows = _ROWS if self.look == type(self).look else 1

    def needed(self, text: bytes, ends: Callable[[bytes], np.ndarray]) -> int:
        """How many bytes types are found in; more than `text` has if that depends on what comes next.

        Parameters
        ----------
        text : the rows as far as they have been read.
        ends : a function that gives where whole rows end.
        """
        if len(text) < self.bytes:
            return self.bytes
        found = ends(text[:_LONGEST])[: self.rows]
        missing = len(found) < self.rows and len(text) < _LONGEST
        return len(text) + 1 if missing else max(self.bytes, int(found[-1]) if len(found) else 0)


def chosen_kinds(form: Typed, names: list[str]) -> dict[str, str]:
    """The kinds of columns that the options of a format say, by name.

    Raises
    ------
    UsageError : a name or pattern matches no column, or two options say different kinds.
    """
    kinds: dict[str, str] = {}
    for kind in ("nominal", "string", "numeric"):
        for pattern in getattr(form, kind):
            for name in matching_names(form, kind, pattern, names):
                if kinds.setdefault(name, kind) != kind:
                    raise UsageError(f"{form.name}: {quoted(name)} is given both as {kinds[name]} and as {kind}")
    return kinds


def is_told_numeric(form: Typed, name: str) -> bool:
    """Whether the options of a format say that a column is numeric, so that whole numbers may be rounded."""
    return any(pattern == name or fnmatch.fnmatchcase(name, pattern) for pattern in form.numeric)


def inferred(
    table: Any, names: list[str], kinds: dict[str, str], form: Typed, needed: Iterable[str] = ()
) -> list[Attribute]:
    """The attributes of columns.

    Parameters
    ----------
    table : an Arrow table of the first rows: numbers, or dictionaries of texts.
    names : of the columns.
    kinds : those that are known, by name.
    form : has the limits for nominal attributes.
    needed : names of columns of text that must be nominal.
    """
    needed = set(needed)
    found = []
    for name, column in zip(names, table.columns, strict=True):
        kind = kinds.get(name)
        if kind == "numeric" or kind == "string":
            found.append(Attribute(name, kind))
        elif kind is None and not _is_text(column):
            found.append(Attribute(name))
        else:
            found.append(_of_text(name, column, kind or ("nominal" if name in needed else None), form))
    return found


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(column.type))


def _of_text(name: str, column: Any, kind: str | None, form: Typed) -> Attribute:
    """The attribute of a column of text."""
    column = column.combine_chunks()
    known = len(column) - column.null_count
    words = column.dictionary.to_pylist() if known else []
    if kind is None and (pattern := date_format(words)):
        return Attribute(name, "date", format=pattern)
    if kind is None and not (len(words) <= form.most and 2 * len(words) <= known):
        return Attribute(name, "string")
    return Attribute(name, "nominal", tuple(sorted(words) if form.order == "sorted" else words))


def date_format(words: list[str]) -> str:
    """The format that all texts follow, which are dates; empty if there is none."""
    if not words or not all(map(_MAYBE_DATE.match, words)):
        return ""
    words = list(map(in_milliseconds, words))
    for pattern in DATE_FORMATS:
        form = DateFormat(pattern)
        if all(len(word) == len(form.format(0)) or form.has_zone for word in words) and all(
            form.parse(word) is not None for word in words
        ):
            return pattern
    return ""


def in_milliseconds(word: str) -> str:
    """A date without zeros behind its milliseconds, as other programs write them."""
    return _ZEROS.sub(r"\1", word)


def with_all_labels(
    attributes: list[Attribute],
    sure: set[str],
    form: Typed,
    labels: Callable[[list[int]], Iterable[list[Any]]],
) -> list[Attribute]:
    """Attributes whose nominal ones have the labels of a whole file.

    Parameters
    ----------
    attributes : those of the first rows.
    sure : the names of attributes whose kinds are told; others with too many labels become strings.
    form : has the limit.
    labels : a function of the places of attributes, which gives an Arrow array of texts for each, again and again; it
        may leave out labels that the attributes have already.
    """
    places = [place for place, a in enumerate(attributes) if a.kind == "nominal"]
    found: dict[int, dict[str, None]] = {place: dict.fromkeys(attributes[place].values) for place in places}
    for columns in labels(places) if places else ():
        for place, words in zip(places, columns):
            found[place] |= dict.fromkeys(words.to_pylist())
    made = list(attributes)
    for place, words in found.items():
        name = attributes[place].name
        if len(words) > form.most and name not in sure:
            made[place] = Attribute(name, "string")
        else:
            every = tuple(sorted(words) if form.order == "sorted" else words)
            made[place] = Attribute(name, "nominal", every)
    return made


def are_exact(table: Any) -> np.ndarray:
    """bool (columns,): which columns of an Arrow table of int64 and float64 have only whole numbers that are exact."""
    (part,) = table.combine_chunks().to_batches()
    with np.errstate(invalid="ignore"):
        return np.asarray(~(np.abs(part.to_tensor(null_to_nan=True).to_numpy()) >= _EXACT).any(axis=0))


def size_of(form: FileFormat, text: str) -> int:
    """The number of bytes that `look` asks for."""
    if text.lower() == "all":
        return 1 << 62
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{form.name}: look must be a size such as 10MB, or all, not {quoted(text)}")
    return int(min(float(match[1]) * 1024 ** " kmg".index(match[2].lower() or " "), 1 << 62))


def is_number(word: str, point: str = ".") -> bool:
    """Whether a text of a cell is a number, with this character before its decimals."""
    if "_" in word or (point != "." and "." in word):
        return False
    try:
        float(word.replace(point, "."))
    except ValueError:
        return False
    return word.isascii()
