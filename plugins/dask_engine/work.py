"""Work on items in the workers, and carry items and results to them and back.

The result of a task is a Dask future of a `TaskResult`, which stays on its worker. Parts that are marked as `LargePart`
stay there. The rest comes back, with a `KeptPart` instead of each of these parts. An item may hold a `KeptPart`: the
future goes with the item, and on the worker the part itself replaces it.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from filterkit.plugin import itself, make_picklable


class TaskResult(NamedTuple):
    """Holds what a task has made, a result or a `Failure`, pickled without its large parts; and these parts."""

    result: bytes
    large: list[Any]

    def __sizeof__(self) -> int:
        """Return the bytes of the large parts, by which Dask decides where to work and what to move to disk."""
        return sum(map(measure_bytes, self.large)) or sys.getsizeof(self.result)


class Failure(NamedTuple):
    """Holds the `error` that a function raised instead of returning a result, and the text of its `traceback`."""

    error: Exception
    traceback: str


class WorkerTraceback(Exception):
    """The cause of an error that a worker raised: its text is the traceback."""


class KeptPart(NamedTuple):
    """A handle of a part of a result that stays on the workers: its Dask future, and its size in bytes."""

    future: Any
    nbytes: int


class LargePart:
    """Marks a part of a result that is to stay on the worker; when it is pickled, it becomes the value itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return itself, (self.value,)


def compute_large_result(function: Callable[[Any], Any], item: Any) -> LargePart:
    """Call a function, and mark its result as one that is to stay on the worker."""
    return LargePart(function(item))


def measure_bytes(value: Any) -> int:
    """Return the bytes of a value: its `nbytes`, or what Python says of the object itself."""
    n_bytes = getattr(value, "nbytes", None)
    return n_bytes if isinstance(n_bytes, int) else sys.getsizeof(value)


def pickle_without(thing: Any, types: type | tuple[type, ...]) -> tuple[bytes, list[Any]]:
    """Pickle a thing without its parts of some types, which `unpickle_with` needs; return both."""
    parts: list[Any] = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, part: Any) -> int | None:
            if not isinstance(part, types):
                return None
            parts.append(part)
            return len(parts) - 1

    out = io.BytesIO()
    Pickler(out, pickle.HIGHEST_PROTOCOL).dump(thing)
    return out.getvalue(), parts


def unpickle_with(pickled: bytes, parts: list[Any]) -> Any:
    """Return the thing that `pickle_without` has pickled, with other `parts` in place of those that it left out."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: int) -> Any:
            return parts[number]

    return Unpickler(io.BytesIO(pickled)).load()


# On the workers


def run_task(function: Callable[[Any], Any], item: bytes, parts: list[Any], keeps: bool) -> TaskResult:
    """Call a function with an item, pickled without its `parts`. An error becomes a `Failure` in the result.

    `keeps` says whether large parts of the result may stay here.
    """
    try:
        result = function(unpickle_with(item, parts))
        pickled, large = pickle_without(result, LargePart if keeps else ())
        return TaskResult(pickled, [part.value for part in large])
    except Exception as error:  # returned, not raised: Dask would log it
        import traceback

        text = "".join(traceback.format_exception(error))
        return TaskResult(pickle.dumps(Failure(make_picklable(error), text)), [])


def get_result(done: TaskResult) -> tuple[bytes, list[int]]:
    """Return the pickled result without its large parts, or a `Failure`; and the sizes of these parts in bytes."""
    return done.result, [measure_bytes(part) for part in done.large]


def get_large_part(done: TaskResult, number: int) -> Any:
    """Return large part `number` of a result. As a task of its own, Dask can move and release it without the others."""
    return done.large[number]
