"""Engine: where work runs.

Work is a function that is applied to items. Function, items and results can be pickled; the function gets all that it
needs, returns all that it finds out, and shares nothing. So it may run in a thread, in another process, or elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, ClassVar, Self, TypeVar

from filterkit.errors import PluginError, UsageError, quoted

T = TypeVar("T")
R = TypeVar("R")

# Stands among the items of a map where the next item will have to be waited for. An engine first gives out the results
# of all items before it, and then PAUSE itself. It is public because engines of plugins meet it too.
PAUSE: Any = type("Pause", (), {"__repr__": lambda self: "PAUSE"})()


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_may_start() -> None:
    """Refuse to start processes in one that is itself just starting, and imports the user's script meanwhile.

    Raises
    ------
    UsageError : says what the script lacks.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise UsageError("processes import the script that starts them: let it do so under if __name__ == '__main__':")


def options_fault(kind: Callable[..., Any]) -> str | None:
    """Why an engine class cannot be made with the text of its options, and what to do; None if it can."""
    import inspect

    try:
        inspect.signature(kind).bind(1, "")
    except TypeError:
        return (
            "takes no text of options: leave __init__ out, or write def __init__(self, jobs, options='') and in it "
            "super().__init__(jobs, options), which refuses options"
        )
    return None


class Engine:
    """Applies functions to items and keeps the order; a context, which closes the engine at its end.

    Write `map`; if the work runs in other processes, `prepare` and `close` too, and perhaps `keep`, `release`
    and `of`.

    Parameters
    ----------
    jobs : how many items are worked on at once.
    options : what follows the name and a colon in ``--engine NAME:OPTIONS``; an engine without options refuses it.

    Attributes
    ----------
    name : what ``--engine`` calls it.
    jobs : as given.
    reads_files : whether the workers read parts of files themselves; otherwise this process sends them the text.

    Raises
    ------
    UsageError : the options mean nothing to the engine, or there are no jobs.
    """

    name: ClassVar[str] = ""
    reads_files: ClassVar[bool] = False

    def __init__(self, jobs: int, options: str = "") -> None:
        if options:
            raise UsageError(f"--engine: {self.name} has no options, and {quoted(options)} is given")
        if jobs < 1:
            raise UsageError(f"jobs must be at least 1, not {jobs}")
        self.jobs = jobs

    @classmethod
    def of(cls, thing: Any) -> Self | None:
        """An engine on what a user of Python holds, such as a client of a cluster; it does not close this.

        None if this engine does not work on things of this kind. It should be found out without an import.
        """
        return None

    def prepare(self, function: Callable[..., None], *given: Any) -> None:
        """Make each further process call ``function(*given)`` before its first item; threads need no preparation."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """``function(item)`` for each item, in order.

        At most ``2 * jobs`` items are taken ahead of the results that have been consumed. An exception that the
        function or `items` raises comes out in its item's place. `PAUSE` among the items comes out as it is.

        A map may begin while another is not done, as where the items of one are the results of the other. All are
        called in one thread; the function never calls the engine.

        Parameters
        ----------
        function, items : can be pickled, unless the engine says that it needs no pickling.
        """
        raise NotImplementedError(f"{type(self).__name__} has no map")

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """``function(item)`` for each item, in any order; by default as `map`. All items may be taken at once."""
        return self.map(function, items)

    def keep(self, function: Callable[[T], R]) -> Callable[[T], Any]:
        """`function` for `map`, whose results stay where they were computed and are merged there.

        By default, results come to this process as ever. An engine whose processes are elsewhere may give out something
        that stands for a result, can be pickled, and has its size in bytes as `nbytes`. It may be part of an item; the
        function then gets the result itself.
        """
        return function

    def reduce(self, merge: Callable[[list[R]], R], kept: Sequence[Any]) -> Any:
        """``merge(results)`` of kept results, at least one, kept as well; `merge` can be pickled. They end with it."""
        results: Any = list(kept)  # the function gets the results instead of what stands for them
        (merged,) = self.map(self.keep(merge), [results])
        for each in kept:
            self.release(each)
        return merged

    def release(self, kept: Any) -> None:
        """Keep a result no more."""

    def close(self) -> None:
        """Give back what the engine holds. It can be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def mapped(engine: Engine, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
    """``engine.map(function, items)``, of which no result may be missing.

    Raises
    ------
    PluginError : the engine gives fewer or more results than there are items.
    """
    taken = given = 0
    left = iter(items)

    def counted() -> Iterator[T]:
        nonlocal taken
        for item in left:
            taken += 1
            yield item

    with closing(engine.map(function, counted())) as results:
        for result in results:
            given += 1
            yield result
    taken += next(left, left) is not left  # an engine may not have asked for all
    if given != taken:
        what = f"map gives {given} results for {taken} items that it has taken or left"
        raise PluginError(f"the engine {engine.name}: {what}; yield one result for each item")
