"""Work on items in the workers, and carry items and results to them and back.

The result of a task is a Dask future of a `Done`, which stays on its worker. Parts that `compute_large` marks as
`Large` stay there. The rest comes back, with a `Kept` instead of each of these parts. An item may hold a `Kept`: the
future goes with the item, and on the worker the part itself replaces it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from filterkit.plugin import itself


class Done(NamedTuple):
    """The result of a task, or a `Failure`, and its large parts, in whose positions the result has `Slot`s."""

    result: Any
    large: list[Any]

    def __sizeof__(self) -> int:
        """Return the bytes of the large parts, by which Dask decides where to work and what to move to disk."""
        return sum(map(measure_bytes, self.large)) or sys.getsizeof(self.result)


class Failure(NamedTuple):
    """The `error` that a function raised instead of returning a result, and the text of its `traceback`."""

    error: Exception
    traceback: str


class OnWorker(Exception):
    """The cause of an error that a worker raised: its text is the traceback."""


@dataclass(frozen=True)
class Kept:
    """A handle of a part of a result that stays on the workers: its Dask future, and its size in bytes."""

    future: Any
    nbytes: int


@dataclass(frozen=True)
class Slot:
    """Stands for a part that travels by itself: its index among these parts."""

    number: int


class Large:
    """Marks a part of a result that is to stay on the worker; when it is pickled, it becomes the value itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return itself, (self.value,)


def compute_large(function: Callable[[Any], Any], item: Any) -> Large:
    """Call a function, and mark its result as one that is to stay on the worker."""
    return Large(function(item))


def measure_bytes(value: Any) -> int:
    """Return the bytes of a value: its `nbytes`, or what Python says of the object itself."""
    n_bytes = getattr(value, "nbytes", None)
    return n_bytes if isinstance(n_bytes, int) else sys.getsizeof(value)


def replace_parts(thing: Any, type_: type, replace: Callable[[Any], Any]) -> Any:
    """Return `thing` with ``replace(part)`` for each part of a type in its tuples, lists and dicts, at any depth."""
    if isinstance(thing, type_):
        return replace(thing)
    if isinstance(thing, (tuple, list)):
        parts = [replace_parts(part, type_, replace) for part in thing]
        if all(one is other for one, other in zip(parts, thing)):
            return thing
        return type(thing)(*parts) if hasattr(thing, "_fields") else type(thing)(parts)
    if type(thing) is dict:
        return {key: replace_parts(part, type_, replace) for key, part in thing.items()}
    return thing


def take_parts_out(thing: Any, type_: type) -> tuple[Any, list[Any]]:
    """Replace each part of a type by a `Slot`; return the thing with slots, and the parts by number of their slot."""
    parts: list[Any] = []

    def take_out(part: Any) -> Slot:
        parts.append(part)
        return Slot(len(parts) - 1)

    return replace_parts(thing, type_, take_out), parts


def put_parts_in(thing: Any, parts: list[Any]) -> Any:
    """Replace each `Slot` by its part."""
    return replace_parts(thing, Slot, lambda slot: parts[slot.number])


# On the workers


def run_task(function: Callable[[Any], Any], item: bytes, parts: list[Any], keeps: bool) -> Done:
    """Call a function with a pickled item, in whose slots `parts` go. An error becomes a `Failure` in the result.

    `keeps` says whether large parts of the result may stay here.
    """
    try:
        result = function(put_parts_in(pickle.loads(item), parts))
        if not keeps:
            return Done(replace_parts(result, Large, lambda part: part.value), [])
        result, large = take_parts_out(result, Large)
    except Exception as error:  # returned, not raised: Dask would log it
        import traceback

        text, raised = "".join(traceback.format_exception(error)), error
        try:
            pickle.dumps(error)
        except Exception:  # not every exception can be pickled
            raised = RuntimeError(f"{type(error).__name__}: {error}")
        return Done(Failure(raised, text), [])
    return Done(result, [part.value for part in large])


def get_result(done: Done) -> tuple[Any, list[int]]:
    """Return the result with a `Slot` for each large part, or a `Failure`; and the sizes of these parts in bytes."""
    return done.result, [measure_bytes(part) for part in done.large]


def get_large_part(done: Done, number: int) -> Any:
    """Return large part `number` of a result. As a task of its own, Dask can move and release it without the others."""
    return done.large[number]
