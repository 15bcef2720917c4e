"""Input: the protocol of the readers of all formats, and the map that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from typing import Any, Protocol, TypeVar

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.engines.engine import PAUSE, Engine
from filterkit.errors import StageError

T = TypeVar("T")


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

    def map(self, function: Callable[[Batch], T], engine: Engine) -> Iterator[T]:
        """``function(batch)`` for all batches, in order, computed by the engine."""

    def __enter__(self) -> Input: ...

    def __exit__(self, *_: object) -> None: ...


def map_parsed(
    parser: Callable[[Any], Any],
    function: Callable[[Batch], T],
    parts: Iterator[Any],
    engine: Engine,
    note: Callable[[Any], None],
) -> Generator[T, None, int]:
    """``function(batch)`` for the rows of all parts, in order; parsing and `function` run in the engine.

    Parameters
    ----------
    parser : turns a part into a named tuple that has the rows as its `batch`.
    note : is called with each of these tuples, in order, without the rows.

    Returns
    -------
    count : of all rows.
    """
    start = 0
    try:
        with closing(engine.map(partial(_of_parsed, parser, function), parts)) as results:
            for done in results:
                if done is not PAUSE:
                    rows, result, parsed = done
                    note(parsed)
                    yield result
                    start += rows
    except StageError as error:
        if error.row is not None:
            error.row += start
        raise
    return start


def _of_parsed(parser: Callable[[Any], Any], function: Callable[[Batch], T], part: Any) -> tuple[int, T, Any]:
    """The number of rows of a part, ``function`` of them, and what else the parser says about them."""
    parsed = parser(part)
    return len(parsed.batch), function(parsed.batch), parsed._replace(batch=None)
