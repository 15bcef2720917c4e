"""The base class of engines, which apply a function to items.

Function, items and results can be pickled. The function depends on its item alone, has no effect but its result, and
shares no state. So it may run in a thread, in another process, or on another machine.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

from filterkit.errors import PluginError, UsageError, quoted

T = TypeVar("T")
R = TypeVar("R")

# Stands among the items of a map if the next item has not arrived yet. An engine first yields the results of all items
# before it, and then PAUSE itself. It is public for the engines of plugins.
PAUSE: Any = type("Pause", (), {"__repr__": lambda self: "PAUSE"})()

# The items that an earlier run has done: the number of each, from 0, and how many rows it has.
Done = Mapping[int, int]
NOTHING_DONE: Done = MappingProxyType({})


def count_available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_may_start() -> None:
    """Check that this process may start worker processes; call this before starting any.

    Raise UsageError in a worker that is still importing the user's script: without ``if __name__ == '__main__':``, the
    script itself starts processes as it is imported.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise UsageError(
            "worker processes import the script that starts them; put what it runs under: if __name__ == '__main__':"
        )


def make_picklable(error: Exception) -> Exception:
    """Return an error that can be pickled and unpickled: `error` itself, or a `RuntimeError` with its type and text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def find_engine_constructor_fault(engine_class: Callable[..., Any]) -> str | None:
    """Return why an engine class cannot be called with `jobs` and `options`, and what to do; None if it can be."""
    import inspect

    try:
        inspect.signature(engine_class).bind(1, "")
    except TypeError:
        return (
            "takes no text of options: leave __init__ out, or write def __init__(self, jobs, options='') and in it "
            "super().__init__(jobs, options), which refuses options"
        )
    return None


class Engine:
    """Applies functions to items, and returns results in order; as a context, it closes at the end.

    A subclass writes `map`; if the work runs in other processes, also `prepare` and `close`, and perhaps `keep`,
    `reduce` and `of`. Raise UsageError if there are options, but the engine has none; or if `jobs` is no whole number
    of at least 1.

    Parameters
    ----------
    jobs : the number of items to work on at once, at least 1.
    options : the text after the name and a colon in ``--engine NAME:OPTIONS``; "" for none.

    Attributes
    ----------
    name : its name for ``--engine``.
    jobs : as the parameter.
    preparations : what `prepare` was called with: a tuple of pairs of a function and the tuple of its arguments.
    reads_files : whether the workers read parts of files themselves; otherwise this process reads all text.
    """

    name: ClassVar[str] = ""
    reads_files: ClassVar[bool] = False
    preparations: tuple[Any, ...] = ()

    def __init__(self, jobs: int, options: str = "") -> None:
        if options:
            raise UsageError(f"--engine: {self.name} has no options; leave out {quoted(options)}")
        if not hasattr(jobs, "__index__") or jobs < 1:
            raise UsageError(f"jobs must be a whole number of at least 1, not {quoted(str(jobs))}")
        self.jobs = jobs

    @classmethod
    def of(cls, thing: Any) -> Self | None:
        """Make an engine that uses an object of the caller, such as a `distributed.Client`, and does not close it.

        Return None if this engine does not support the object. Decide that without an import, which may take long.
        """
        return None

    def prepare(self, function: Callable[..., None], *args: Any) -> None:
        """Make each worker process call ``function(*args)`` before its first item; threads need no preparation.

        Call this before the first `map`, because an engine need not reach workers that already run. The default only
        appends to `preparations`, which an engine with processes passes to each.
        """
        self.preparations = (*self.preparations, (function, args))

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item, in order.

        The engine takes about ``2 * jobs`` items ahead of the results that have been consumed, not all of them. An
        exception of the function or of `items` is raised when the result of that item is due. An item that is `PAUSE`
        is not passed to the function: it is yielded as it is, once all results before it have been.

        A map may begin while another is not done: the items of one may be the results of the other. One thread consumes
        all maps; the function never calls the engine.

        Parameters
        ----------
        function, items : picklable, as the results are, unless the engine says that it needs no pickling.
        """
        raise NotImplementedError(f"{type(self).__name__} must define the method map")

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item, in any order; by default as `map`. It may take all items at once."""
        return self.map(function, items)

    def keep(self, function: Callable[[T], R]) -> Callable[[T], Any]:
        """Return a function for `map` that computes what `function` does, but may leave the result on the worker.

        By default it is `function` itself, and results come to this process. An engine with other processes may make
        `map` yield a handle of the result instead, which can be pickled, and whose `nbytes` is the size of the result
        in bytes. Later items of a map may be handles, or contain some in lists and tuples; the function then gets the
        results themselves. The function of a map may also call the function that `keep` returned, and return what that
        returns in lists and tuples. The engine may drop a result once its handle is gone.
        """
        return function

    def reduce(self, merge: Callable[[list[R]], R], kept: Sequence[Any]) -> Any:
        """Call `merge` with the list of some kept results, at least one, and return its result, which is kept, too.

        A kept result is one that a function of `keep` gave, or the handle of it. By default this process calls `merge`;
        if the engine overrides `keep`, a worker does. `merge` must be picklable. The results that are merged must not
        be used again.
        """
        if type(self).keep is Engine.keep:
            return merge(list(kept))
        (merged,) = self.map(self.keep(merge), [list(kept)])
        return merged

    def close(self) -> None:
        """Release the threads, processes and memory of the engine; the default does nothing. It can be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def map_and_check_result_count(
    engine: Engine, function: Callable[[T], R], items: Iterable[T], done: Done = NOTHING_DONE
) -> Generator[R, None, None]:
    """Yield the results of ``engine.map(function, items)``, and check at the end that there is one for each item.

    An item whose number, from 0, is in `done` is not passed to the function: its result is None. `PAUSE` has no number.
    Raise PluginError if the engine returns no generator, or yields fewer or more results than there are items.
    """
    n_items = n_results = 0
    remaining: Iterator[Any] = iter(items)
    if done:
        numbers = count()
        remaining = (item if item is PAUSE or next(numbers) not in done else None for item in items)
        function = partial(_call_unless_none, function)

    def yield_counted_items() -> Iterator[T]:
        nonlocal n_items
        for item in remaining:
            n_items += 1
            yield item

    generator = engine.map(function, yield_counted_items())
    if not hasattr(generator, "close"):
        fault = f"map returns {type(generator).__name__} instead of a generator"
        raise PluginError(f"the engine {engine.name}: {fault}; write it with yield")
    with closing(generator) as results:
        for result in results:
            n_results += 1
            yield result
    n_items += next(remaining, remaining) is not remaining  # an engine may not have asked for all
    if n_results != n_items:
        fault = f"map gives {n_results} results for {n_items} items"
        raise PluginError(f"the engine {engine.name}: {fault}; yield one result for each item")


def _call_unless_none(function: Callable[[Any], Any], item: Any) -> Any:
    return None if item is None else function(item)
