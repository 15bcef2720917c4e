"""Work on items in the workers, and carry items and results to them and back.

The result of a task is a Dask future, which stays on its worker: the pickled result, followed by the parts of it that
are marked as `PartToKeep`. Only the first comes back, with a `KeptPart` instead of each of the others. An item may hold
a `KeptPart`: its future goes with the item, and on the worker the part itself replaces it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from filterkit.plugin import make_picklable


class Failure(NamedTuple):
    """Holds the `error` that a function raised instead of returning a result, and the text of its `traceback`."""

    error: Exception
    traceback: str


class WorkerTraceback(Exception):
    """The cause of an error that a worker raised: its text is the traceback."""


class KeptPart(NamedTuple):
    """A handle of a part of a result that stays on the workers.

    Attributes
    ----------
    part : its Dask future. On the way to a worker: its index in the list of parts that goes with the item. On the way
        back: its index in what `run_task` returns.
    nbytes : its size in bytes.
    """

    part: Any
    nbytes: int


@dataclass(eq=False)
class PartToKeep:
    """Marks a part of a result that is to stay on the worker."""

    value: Any

    def __sizeof__(self) -> int:
        """Return the bytes of the part, by which Dask decides where to work and what to move to disk."""
        n_bytes = getattr(self.value, "nbytes", None)
        return n_bytes if isinstance(n_bytes, int) else sys.getsizeof(self.value)


def compute_part_to_keep(function: Callable[[Any], Any], item: Any) -> PartToKeep:
    """Call a function, and return its result marked as a part that is to stay on the worker."""
    return PartToKeep(function(item))


def replace_parts(thing: Any, part_class: type, replace: Callable[[Any], Any]) -> Any:
    """Replace each instance of `part_class` by ``replace(part)``, and return the result: `thing` itself may be one, and
    so may elements of its lists and tuples, at any depth. These are copied."""
    if isinstance(thing, part_class):
        return replace(thing)
    if not isinstance(thing, (list, tuple)):
        return thing
    return getattr(thing, "_make", type(thing))([replace_parts(each, part_class, replace) for each in thing])


def run_task(function: Callable[[Any], Any], item: bytes, parts: list[PartToKeep], keeps_large_parts: bool) -> Any:
    """Call a function with a pickled item on a worker; return the pickled result, or a pickled `Failure` on an error.

    Parameters
    ----------
    parts : the parts that replace the `KeptPart`s in the item, by their index.
    keeps_large_parts : whether large parts of the result stay on the worker. If so, a list is returned: the rest of the
        result, pickled, followed by these parts.
    """
    large: list[PartToKeep] = []

    def replace_large_part(part: PartToKeep) -> Any:
        if not keeps_large_parts:
            return part.value
        large.append(part)
        return KeptPart(len(large), part.__sizeof__())

    try:
        result = function(replace_parts(pickle.loads(item), KeptPart, lambda kept: parts[kept.part].value))
        pickled = pickle.dumps(replace_parts(result, PartToKeep, replace_large_part), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # returned, not raised: Dask would log it
        import traceback

        pickled = pickle.dumps(Failure(make_picklable(error), "".join(traceback.format_exception(error))))
    return [pickled, *large] if keeps_large_parts else pickled
