"""The local engine: threads, which suffice because numpy and pyarrow release the interpreter lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

from filterkit.engines.engine import PAUSE, Engine

T = TypeVar("T")
R = TypeVar("R")


class LocalEngine(Engine):
    """Applies functions to items in threads; nothing needs to be pickled.

    Parameters
    ----------
    jobs : the number of threads; 1 starts none.
    """

    name = "local"

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """See `Engine.map`."""
        if self.jobs <= 1:
            for item in items:
                yield item if item is PAUSE else function(item)
            return
        failures: list[Exception] = []
        stream = until_failure(items, failures)
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


def until_failure(items: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """Yield items up to an exception that they raise, and append it to `failures`, to raise after their results."""
    try:
        yield from items
    except Exception as failure:
        failures.append(failure)
