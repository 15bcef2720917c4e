"""The local engine: threads, which suffice because numpy and pyarrow release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """Runs functions on items with `jobs` threads and keeps the order.

    Parameters
    ----------
    jobs : how many items are worked on at once; 1 starts no thread.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """``function(item)`` for each item, in order.

        At most ``2 * jobs`` items are taken ahead of what has been consumed. If the function raises, the
        exception comes out in its item's place; so does one that `items` raises.
        """
        if self.jobs <= 1:
            yield from map(function, items)
            return
        from concurrent.futures import Future, ThreadPoolExecutor

        with ThreadPoolExecutor(self.jobs, thread_name_prefix="filterkit") as pool:
            running: deque[Future[R]] = deque()
            failure: Exception | None = None
            stream = iter(items)
            try:
                while True:
                    try:
                        item = next(stream)
                    except StopIteration:
                        break
                    except Exception as error:  # what came before it is put out first
                        failure = error
                        break
                    running.append(pool.submit(function, item))
                    if len(running) >= 2 * self.jobs:
                        yield running.popleft().result()
                while running:
                    yield running.popleft().result()
                if failure is not None:
                    raise failure
            finally:
                for future in running:
                    future.cancel()
