"""The local engine: threads, which suffice because numpy and pyarrow release the interpreter lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from filterkit.engines.engine import PAUSE, Engine
from filterkit.engines.signals import LONGEST_WAIT, ending

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")


class LocalEngine(Engine):
    """Applies functions to items in `jobs` threads; if `jobs` is 1, in the calling thread. Nothing is pickled."""

    name = "local"

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item, in order, computed in threads; see `Engine.map`.

        With a single job, or fewer than two items, the calling thread computes each when it is due.
        """
        failures: list[Exception] = []
        stream = yield_until_failure(items, failures)
        ahead = list(islice(stream, 2)) if self.jobs > 1 else []
        items = chain(ahead, stream)
        if len(ahead) > 1:
            from concurrent.futures import ThreadPoolExecutor

            pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="filterkit")
            is_interrupted = False
            try:
                yield from map_ahead(lambda item: pool.submit(function, item), items, wait_for_result, 2 * self.jobs)
            except (KeyboardInterrupt, SystemExit):
                is_interrupted = True
                raise
            finally:  # a signal may also come while the consumer has the control: then this generator is only closed
                pool.shutdown(not is_interrupted and not ending.is_set(), cancel_futures=True)
        else:
            for item in items:
                yield item if item is PAUSE else function(item)
        if failures:
            raise failures[0]


def wait_for_result(future: Future[R]) -> R:
    """Wait for a future, and return its result, or raise its exception; signals are handled while this waits."""
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=LONGEST_WAIT)
    return future.result()


def map_ahead(
    submit: Callable[[T], Any], items: Iterable[T], result: Callable[[Any], R], most: int
) -> Generator[R, None, None]:
    """Yield the result of each item, in order, while tasks work on the next ones; `Engine.map` says more.

    Parameters
    ----------
    submit : starts a task that works on an item, and returns the task. If the map ends early, ``task.cancel()`` is
        called for each task whose result has not been yielded.
    items : the items. `PAUSE` is yielded as it is, after the results of all items before it; an exception that `items`
        raises also comes after these.
    result : waits for a task, and returns its result or raises its exception.
    most : the most tasks whose results have not been yielded.
    """
    failures: list[Exception] = []
    running: deque[Any] = deque()
    try:
        for item in yield_until_failure(items, failures):
            if item is not PAUSE:
                running.append(submit(item))
            while running and (item is PAUSE or len(running) >= most):
                yield result(running.popleft())
            if item is PAUSE:
                yield item
        while running:
            yield result(running.popleft())
    finally:
        for task in running:
            task.cancel()
    if failures:
        raise failures[0]


def yield_until_failure(items: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """Yield items; if `items` raises an exception, end, and append it to `failures`, for the caller to raise."""
    try:
        yield from items
    except Exception as failure:
        failures.append(failure)
