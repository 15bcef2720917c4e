"""Input: the protocol of the readers of all formats, and the parts of one whose result nobody wants."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from filterkit.data.batch import Batch, itself
from filterkit.data.schema import Schema
from filterkit.engines.engine import PAUSE, Engine, map_checked
from filterkit.files.stretches import Stretch

T = TypeVar("T")

# The numbers of the items of a map whose results nobody wants, with the number of the rows of each.
Done = Mapping[int, int]
NOTHING_DONE: Done = MappingProxyType({})


class Unwanted(NamedTuple):
    """A `part` whose result nobody wants, because an earlier run has it; its number of `rows` is known."""

    part: Any
    rows: int


def marked(parts: Iterable[Any], done: Done, number: int = 0) -> Iterator[Any]:
    """Parts, with those that are `done` as `Unwanted`; `number` is that of the first."""
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
    def may_be_cut(self) -> bool:
        """Whether it has been read to its end, which was not there where it should be."""

    @property
    def live(self) -> bool:
        """Whether rows may arrive one by one, and each should be processed before the next is waited for."""

    @property
    def size(self) -> int | None:
        """The number of bytes stored; None if unknown."""

    @property
    def rows(self) -> int:
        """The number of rows read so far, in this pass."""

    def position(self) -> int:
        """How many of these bytes have been read."""

    def rereads(self, engine: Engine) -> bool:
        """Whether `map` can be called again with this engine; the batches then say the numbers of their rows."""

    def map(self, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, computed by the engine; None for those that are `done`."""

    def __enter__(self) -> Input: ...

    def __exit__(self, *_: object) -> None: ...


def map_numbered(
    reader: Input, function: Callable[[Batch], T], engine: Engine, done: Done = NOTHING_DONE
) -> Iterator[T]:
    """As `Input.map`, of batches that say the numbers of their rows; so the function is computed here, in order."""
    start = 0
    batches: Iterator[Any] = reader.map(itself, engine, done)
    for number, batch in enumerate(batches):
        if number in done:
            yield batch  # None
            start += done[number]
        else:
            yield function(batch.replace(start=start))
            start += len(batch)


def map_wanted(
    function: Callable[[Any], T], items: Iterable[Any], engine: Engine, done: Done = NOTHING_DONE
) -> Generator[T, None, None]:
    """``function(item)`` for all items, in order, computed by the engine; None for those that are `done`."""
    if not done:
        return map_checked(engine, function, items)
    return map_checked(engine, partial(_of_wanted, function), without_unwanted(marked(items, done)))


def _of_wanted(function: Callable[[Any], Any], item: Any) -> Any:
    return None if isinstance(item, Unwanted) else function(item)


def without_unwanted(parts: Iterator[Any]) -> Iterator[Any]:
    """Parts; of those that nobody wants only the number of rows is left, so that their text goes nowhere."""
    return (Unwanted(None, part.rows) if isinstance(part, Unwanted) else part for part in parts)


def without_text(parts: Iterator[Any]) -> Iterator[Any]:
    """Parts; of those that nobody wants or reads, only stretches are left."""
    for part in parts:
        is_text = isinstance(part, Unwanted) and not isinstance(part.part, Stretch)
        yield part._replace(part=None) if is_text else part
