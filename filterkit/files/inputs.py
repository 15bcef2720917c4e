"""Input: the protocol of the readers of all formats, and the map that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.engine import PAUSE, Engine
from filterkit.errors import StageError

T = TypeVar("T")

# The numbers of the items of a map whose results nobody wants, with the number of the rows of each.
Done = Mapping[int, int]
NOTHING_DONE: Done = MappingProxyType({})


class Unwanted(NamedTuple):
    """A `part` whose result nobody wants, because an earlier run has it; its number of `rows` is known."""

    part: Any
    rows: int


def marked(parts: Iterable[Any], done: Done) -> Iterator[Any]:
    """Parts, with those that are `done` as `Unwanted`."""
    number = 0
    for part in parts:
        if part is PAUSE:
            yield part
            continue
        yield Unwanted(part, done[number]) if number in done else part
        number += 1


class Input(Protocol):
    """An input whose header has been read; its rows can be read once."""

    @property
    def path(self) -> str:
        """The path, as given by the user."""

    @property
    def name(self) -> str:
        """What messages call the input."""

    @property
    def schema(self) -> Schema:
        """The schema of the batches."""

    @property
    def history(self) -> tuple[str, ...]:
        """The comments that tell what filterkit did to the data before."""

    @property
    def named_class(self) -> int | str | None:
        """The number, from 1, of the attribute that the input itself names as its class; ``none`` if it says that there
        is no class, and None if it says nothing."""

    @property
    def count(self) -> int | None:
        """The number of rows; None until all have been read."""

    @property
    def live(self) -> bool:
        """Whether rows may arrive one by one, and each should be processed before the next is waited for."""

    @property
    def size(self) -> int | None:
        """The number of bytes stored; None if unknown."""

    def position(self) -> int:
        """How many of these bytes have been read."""

    def rereads(self, engine: Engine) -> bool:
        """Whether `map` can be called again with this engine; the batches then say the numbers of their rows."""

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, computed by the engine; None for those that are `done`."""

    def __enter__(self) -> Input: ...

    def __exit__(self, *_: object) -> None: ...


def map_parsed(
    parser: Callable[[Any], Any],
    function: Callable[[Batch], T],
    parts: Iterator[Any],
    engine: Engine,
    note: Callable[[Any], None],
    done: Done = NOTHING_DONE,
    notes: bool = False,
) -> Generator[T, None, int]:
    """``function(batch)`` for the rows of all parts, in order; parsing and `function` run in the engine.

    Parameters
    ----------
    parser : turns a part into a named tuple that has the rows as its `batch`.
    note : is called with each of these tuples, in order, without the rows.
    done : the parts whose result is None instead.
    notes : whether these are parsed nevertheless, because there may be something to note.

    Returns
    -------
    count : of all rows.
    """
    start = 0
    try:
        items = marked(parts, done) if notes else without_unwanted(marked(parts, done))
        with closing(engine.map(partial(_of_parsed, parser, function), items)) as results:
            for found in results:
                if found is not PAUSE:
                    rows, result, parsed = found
                    if parsed is not None:
                        note(parsed)
                    yield result
                    start += rows
    except StageError as error:
        if error.row is not None:
            error.row += start
        raise
    return start


def map_wanted(
    function: Callable[[Any], T], items: Iterable[Any], engine: Engine, done: Done = NOTHING_DONE
) -> Iterator[T]:
    """``function(item)`` for all items, in order, computed by the engine; None for those that are `done`."""
    if not done:
        return engine.map(function, items)
    return engine.map(partial(_of_wanted, function), without_unwanted(marked(items, done)))


def _of_wanted(function: Callable[[Any], Any], item: Any) -> Any:
    return None if isinstance(item, Unwanted) else function(item)


def without_unwanted(parts: Iterator[Any]) -> Iterator[Any]:
    """Parts; of those that nobody wants only the number of rows is left, so that their text goes nowhere."""
    return (Unwanted(None, part.rows) if isinstance(part, Unwanted) else part for part in parts)


def _of_parsed(parser: Callable[[Any], Any], function: Callable[[Batch], T], part: Any) -> tuple[int, Any, Any]:
    """The number of rows of a part, ``function`` of them, and what else the parser says about them."""
    if isinstance(part, Unwanted):
        return part.rows, None, None if part.part is None else parser(part.part)._replace(batch=None)
    parsed = parser(part)
    return len(parsed.batch), function(parsed.batch), parsed._replace(batch=None)
