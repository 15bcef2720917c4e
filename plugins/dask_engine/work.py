"""What runs on the workers, and how functions, items and results travel to them and back.

The result of a task stays on its worker as `Done`. What comes back is the small part of it. The large parts, which
`keeping` marks, are replaced by numbers in what comes back; there they become `Kept`. An item may hold `Kept`; on the
worker these are the results themselves again.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Done(NamedTuple):
    """The result of a task.

    Attributes
    ----------
    small : the pickled result, or a pickled `Failure`.
    large : the parts that stay.
    """

    small: bytes
    large: list[Any]

    def __sizeof__(self) -> int:
        """The bytes of all parts, by which Dask decides where to work and what to move to disk."""
        return sum(map(size_of, [self.small, *self.large]))


class Small(NamedTuple):
    """What comes back of a `Done`: its small part, and how many large ones there are."""

    small: bytes
    parts: int


class Failure(NamedTuple):
    """The `error` that a function raised instead of returning a result, and the text of its `traceback`."""

    error: Exception
    traceback: str


class OnWorker(Exception):
    """The cause of an error that came up on a worker: its text is the traceback."""


@dataclass(frozen=True)
class Kept:
    """Stands for a part of a result that stays on the workers.

    Attributes
    ----------
    done : the Dask future of the `Done`, which lives as long as this.
    place : the number of the part.
    nbytes : its size.
    """

    done: Any
    place: int
    nbytes: int


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


def _itself(value: T) -> T:
    return value


def size_of(value: Any) -> int:
    """The bytes of a value, as well as it knows."""
    found = getattr(value, "nbytes", None)
    return found if isinstance(found, int) else sys.getsizeof(value)


# In the process that asks


class _Pickler(pickle.Pickler):
    """Notes what is kept, and whether anything is to be kept."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.kept: list[Kept] = []
        self.keeps = False

    def persistent_id(self, thing: Any) -> int | None:
        if type(thing) is Keeping:
            self.keeps = True
        if type(thing) is not Kept:
            return None
        self.kept.append(thing)
        return len(self.kept) - 1


class Packed(NamedTuple):
    """A pickled function or item.

    Attributes
    ----------
    pickle : of it.
    kept : what it holds of earlier results.
    keeps : whether it is a function that keeps parts of its results.
    """

    pickle: bytes
    kept: list[Kept]
    keeps: bool


def pack(thing: Any) -> Packed:
    """Pickle a function or an item."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(thing)
    return Packed(file.getvalue(), pickler.kept, pickler.keeps)


class _ResultUnpickler(pickle.Unpickler):
    def __init__(self, text: bytes, kept: Callable[[int, int], Kept]) -> None:
        super().__init__(io.BytesIO(text))
        self._kept = kept

    def persistent_load(self, found: Any) -> Kept:
        return self._kept(*found)


def result_of(small: bytes, kept: Callable[[int, int], Kept]) -> Any:
    """The result of a task, from its small part; `kept` gives what stands for a large part, by its number and size.

    Raises
    ------
    Exception : what the function raised.
    """
    result = _ResultUnpickler(small, kept).load()
    if type(result) is Failure:
        raise result.error from OnWorker(result.traceback)
    return result


# On the workers


class _ItemUnpickler(pickle.Unpickler):
    def __init__(self, text: bytes, kept: list[Any]) -> None:
        super().__init__(io.BytesIO(text))
        self._kept = kept

    def persistent_load(self, number: Any) -> Any:
        return self._kept[number]


class _ResultPickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.large: list[Any] = []

    def persistent_id(self, thing: Any) -> tuple[int, int] | None:
        if type(thing) is not Large:
            return None
        self.large.append(thing.value)
        return len(self.large) - 1, size_of(thing.value)


def load(text: bytes, kept: list[tuple[Done, int]]) -> Any:
    """A function or item that was packed; `kept` holds what it needs of earlier results."""
    return _ItemUnpickler(text, [done.large[place] for done, place in kept]).load()


def work(function: Callable[[Any], Any], item: bytes, kept: list[tuple[Done, int]], keeps: bool) -> Done:
    """The result of a function for a packed item; `keeps` says whether parts of it may stay here."""
    try:
        result = function(load(item, kept))
        if not keeps:
            return Done(pickle.dumps(result, pickle.HIGHEST_PROTOCOL), [])
        file = io.BytesIO()
        pickler = _ResultPickler(file)
        pickler.dump(result)
    except Exception as error:  # as a result: Dask would log it
        return Done(_failure(error), [])
    return Done(file.getvalue(), pickler.large)


def _failure(error: Exception) -> bytes:
    import traceback

    text = "".join(traceback.format_exception(error))
    try:
        return pickle.dumps(Failure(error, text))
    except Exception:  # not every exception can be pickled
        return pickle.dumps(Failure(RuntimeError(f"{type(error).__name__}: {error}"), text))


def merged(merge: Callable[[list[Any]], Any], several: list[tuple[Done, int]]) -> Done:
    """What `merge` makes of kept results, kept as well; what comes back is its size."""
    try:
        value = merge([done.large[place] for done, place in several])
    except Exception as error:
        return Done(_failure(error), [])
    return Done(pickle.dumps(size_of(value)), [value])


def small_of(done: Done) -> Small:
    """What comes back of a result."""
    return Small(done.small, len(done.large))


def part_of(done: Done, place: int) -> Done:
    """A large part by itself: it can be moved without the others, and can be kept when they no longer are."""
    return Done(b"", [done.large[place]])


def large_of(done: Done, place: int) -> Any:
    """A part that has stayed so far."""
    return done.large[place]
