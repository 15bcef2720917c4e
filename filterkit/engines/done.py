"""Map over items but those that an earlier run has done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from filterkit.engines.engine import PAUSE, Engine, map_checked

T = TypeVar("T")

# The items that an earlier run has done: the number of each, from 0, and how many rows it has.
Done = Mapping[int, int]
NOTHING_DONE: Done = MappingProxyType({})


def map_wanted(
    function: Callable[[Any], T], items: Iterable[Any], engine: Engine, done: Done = NOTHING_DONE
) -> Generator[T, None, None]:
    """Yield ``function(item)`` for all items, in order, computed by the engine; None for those that are `done`."""
    if not done:
        return map_checked(engine, function, items)
    return map_checked(engine, partial(_call_unless_none, function), _skip_done(items, done))


def _call_unless_none(function: Callable[[Any], Any], item: Any) -> Any:
    return None if item is None else function(item)


def _skip_done(items: Iterable[Any], done: Done) -> Iterator[Any]:
    number = 0
    for item in items:
        yield None if item is not PAUSE and number in done else item
        number += item is not PAUSE
