"""What runs on the workers, and how items and results travel to them and back.

The result of a task stays on its worker as `Done`, a Dask future. Its large parts, which `Keeping` marks, are taken
out; what comes back is the rest, in which a `Kept` stands for each of them. An item may hold a `Kept`: its future goes
with the item, and on the worker the part itself takes its place.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Done(NamedTuple):
    """The result of a task, or a `Failure`, and its large parts, for which the result has `Slot`s."""

    result: Any
    large: list[Any]

    def __sizeof__(self) -> int:
        """The bytes of the large parts, by which Dask decides where to work and what to move to disk."""
        return sum(map(size_of, self.large)) or sys.getsizeof(self.result)


class Failure(NamedTuple):
    """The `error` that a function raised instead of returning a result, and the text of its `traceback`."""

    error: Exception
    traceback: str


class OnWorker(Exception):
    """The cause of an error that came up on a worker: its text is the traceback."""


@dataclass(frozen=True)
class Kept:
    """Stands for a part of a result that stays on the workers: its Dask future, and its size in bytes."""

    future: Any
    nbytes: int


@dataclass(frozen=True)
class Slot:
    """Stands for what travels by itself, until that is there."""

    number: int


class Large:
    """A part of a result that is to stay; where nothing can stay, its pickle is that of the value itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.value,)


@dataclass(frozen=True)
class Keeping:
    """A function whose results stay on the workers."""

    function: Callable[[Any], Any]

    def __call__(self, item: Any) -> Large:
        return Large(self.function(item))


def _itself(value: Any) -> Any:
    return value


def size_of(value: Any) -> int:
    """The bytes of a value, as well as it knows."""
    n_bytes = getattr(value, "nbytes", None)
    return n_bytes if isinstance(n_bytes, int) else sys.getsizeof(value)


def replace_parts(thing: Any, kind: type, replace: Callable[[Any], Any]) -> Any:
    """`thing` with ``replace(part)`` in place of each part of a kind that is in its tuples, lists and dicts."""
    if isinstance(thing, kind):
        return replace(thing)
    if isinstance(thing, (tuple, list)):
        parts = [replace_parts(part, kind, replace) for part in thing]
        if all(one is other for one, other in zip(parts, thing)):
            return thing
        return type(thing)(*parts) if hasattr(thing, "_fields") else type(thing)(parts)
    if type(thing) is dict:
        return {key: replace_parts(part, kind, replace) for key, part in thing.items()}
    return thing


def take_parts_out(thing: Any, kind: type) -> tuple[Any, list[Any]]:
    """`thing` with a `Slot` in place of each part of a kind, and these parts."""
    parts: list[Any] = []

    def take_out(part: Any) -> Slot:
        parts.append(part)
        return Slot(len(parts) - 1)

    return replace_parts(thing, kind, take_out), parts


def put_parts_in(thing: Any, parts: list[Any]) -> Any:
    """`thing` with the parts in place of their slots."""
    return replace_parts(thing, Slot, lambda slot: parts[slot.number])


# On the workers


def work(function: Callable[[Any], Any], item: bytes, parts: list[Any], keeps: bool) -> Done:
    """The result of a function for a pickled item; `parts` go into its slots.

    `keeps` says whether large parts of the result may stay here.
    """
    try:
        result = function(put_parts_in(pickle.loads(item), parts))
        if not keeps:
            return Done(replace_parts(result, Large, lambda part: part.value), [])
        result, large = take_parts_out(result, Large)
    except Exception as error:  # as a result: Dask would log it
        return Done(_describe_failure(error), [])
    return Done(result, [part.value for part in large])


def _describe_failure(error: Exception) -> Failure:
    import traceback

    text = "".join(traceback.format_exception(error))
    try:
        pickle.dumps(error)
    except Exception:  # not every exception can be pickled
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return Failure(error, text)


def small_of(done: Done) -> tuple[Any, list[int]]:
    """What comes back of a result, and the sizes of what stays."""
    return done.result, [size_of(part) for part in done.large]


def large_of(done: Done, number: int) -> Any:
    """A part that stays, by itself: it can be moved without the others, and can be kept when they no longer are."""
    return done.large[number]
