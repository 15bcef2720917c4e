"""The local engine: threads, which suffice because numpy and pyarrow release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Stands among the items of a map where the next item will have to be waited for. An engine first gives out the results
# of all items before it, and then PAUSE itself. It is public because engines of plugins meet it too.
PAUSE: Any = type("Pause", (), {"__repr__": lambda self: "PAUSE"})()


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """Runs functions on items with `jobs` threads and keeps the order.

    Parameters
    ----------
    jobs : how many items are worked on at once; 1 starts no thread.

    Attributes
    ----------
    name : what ``--engine`` calls it.
    """

    name = "local"

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """``function(item)`` for each item, in order.

        At most ``2 * jobs`` items are taken ahead of the results that have been consumed. An exception that the
        function or `items` raises comes out in its item's place. `PAUSE` among the items comes out as it is.
        """
        if self.jobs <= 1:
            for item in items:
                yield item if item is PAUSE else function(item)
            return
        failures: list[Exception] = []
        stream = _until_failure(items, failures)
        ahead = list(islice(stream, 2))
        if len(ahead) < 2:  # one item needs no thread
            yield from (item if item is PAUSE else function(item) for item in ahead)
        else:
            yield from self._map_in_threads(function, chain(ahead, stream))
        if failures:
            raise failures[0]

    def _map_in_threads(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        from concurrent.futures import Future, ThreadPoolExecutor

        pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="filterkit")
        running: deque[Future[R]] = deque()
        wait = True
        try:
            for item in items:
                if item is PAUSE:
                    while running:
                        yield running.popleft().result()
                    yield item
                    continue
                running.append(pool.submit(function, item))
                if len(running) >= 2 * self.jobs:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except (KeyboardInterrupt, SystemExit):  # from a signal: do not wait for work that may take long
            wait = False
            raise
        finally:
            pool.shutdown(wait, cancel_futures=True)


def _until_failure(items: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """`items` up to an exception that they raise; it goes into `failures`, to be raised after their results."""
    try:
        yield from items
    except Exception as failure:
        failures.append(failure)
