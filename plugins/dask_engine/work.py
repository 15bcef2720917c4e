"""Work on items in the workers, and carry items and results to them and back.

If parts of results are to stay on the worker, a task returns a list, which Dask holds there: the pickled result, and
then the parts of it that are marked as `PartToKeep`. Only the pickled result comes back, with a `KeptPart` in the place
of each part. An item may hold a `KeptPart`: its future goes with the item, and on the worker the part replaces it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from filterkit.plugin import make_picklable


class Failure(NamedTuple):
    """Comes back instead of a result: the `error` that a function raised, and the text of its `traceback`."""

    error: Exception
    traceback: str


class WorkerTraceback(Exception):
    """The cause (``__cause__``) of an error that comes from a worker; its message is the traceback there."""


class KeptPart(NamedTuple):
    """A handle of a result, or a part of one, that stays on a worker.

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
    """Marks a result, or a part of one, as one that is to stay on the worker.

    Attributes
    ----------
    value : the result or part itself.
    """

    value: Any

    def __sizeof__(self) -> int:
        """Return the number of bytes of `value`, by which Dask decides where to work and what to move to disk."""
        n_bytes = getattr(self.value, "nbytes", None)
        return n_bytes if isinstance(n_bytes, int) else sys.getsizeof(self.value)


def compute_part_to_keep(function: Callable[[Any], Any], item: Any) -> PartToKeep:
    """Call a function, and return its result marked as a part that is to stay on the worker."""
    return PartToKeep(function(item))


def replace_parts(thing: Any, part_class: type, replace: Callable[[Any], Any]) -> Any:
    """Replace each instance of `part_class` by ``replace(part)``, and return the result.

    `thing` itself may be an instance, and so may elements of its lists and tuples, at any depth. Lists and tuples are
    copied, never changed; anything else is returned as it is.
    """
    if isinstance(thing, part_class):
        return replace(thing)
    if not isinstance(thing, (list, tuple)):
        return thing
    return getattr(thing, "_make", type(thing))([replace_parts(each, part_class, replace) for each in thing])


def run_task(function: Callable[[Any], Any], item: bytes, parts: list[PartToKeep], keeps_parts_on_worker: bool) -> Any:
    """Call a function with a pickled item, on a worker; return the pickled result, or a pickled `Failure` on an error.

    Parameters
    ----------
    parts : replace the `KeptPart`s in the item, whose `part` is an index in this list.
    keeps_parts_on_worker : whether parts of the result that are marked as `PartToKeep` stay on the worker. If so,
        return a list: the pickled result, with a `KeptPart` for each of these parts, and then the parts. If not, the
        parts themselves are in the result.
    """
    to_keep: list[PartToKeep] = []

    def replace_part_to_keep(part: PartToKeep) -> Any:
        if not keeps_parts_on_worker:
            return part.value
        to_keep.append(part)
        return KeptPart(len(to_keep), part.__sizeof__())

    try:
        result = function(replace_parts(pickle.loads(item), KeptPart, lambda kept: parts[kept.part].value))
        pickled = pickle.dumps(replace_parts(result, PartToKeep, replace_part_to_keep), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # returned, not raised: Dask would log it
        import traceback

        pickled = pickle.dumps(Failure(make_picklable(error), "".join(traceback.format_exception(error))))
    return [pickled, *to_keep] if keeps_parts_on_worker else pickled
