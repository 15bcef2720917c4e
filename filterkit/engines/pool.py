"""A pool of processes, which end when the process that waits for them ends.

Functions, items and results go to the processes and back in files. Python's own pipes hold no more than their names:
who writes much into a pipe, or reads it, waits forever if the process at the other end is killed meanwhile.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import shutil
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import IO, Any, NamedTuple, TypeVar
from uuid import uuid4

from filterkit.allocators import keep_freed_memory
from filterkit.engines.engine import PAUSE, check_may_start
from filterkit.engines.local import until_failure
from filterkit.engines.signals import hold_back_signals
from filterkit.errors import FilterkitError
from filterkit.temporary import TemporaryFolder, temporary_errors

T = TypeVar("T")
R = TypeVar("R")

_PATIENCE = 0.5  # seconds


class Pool:
    """Processes that apply functions to items.

    Parameters
    ----------
    jobs : how many processes.
    preparations : functions, with their arguments, that each process calls first.

    Attributes
    ----------
    closed : whether the processes have ended.
    """

    def __init__(self, jobs: int, preparations: list[tuple[Callable[..., None], tuple[Any, ...]]]) -> None:
        check_may_start()
        self.closed = False
        self._jobs = jobs
        self._numbers = count(1)  # of files
        self._working_on: set[Future[Any]] = set()
        self._folder = TemporaryFolder()
        try:
            _write(preparations, os.path.join(self._folder.path, "preparations"))
            with hold_back_signals():
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(jobs, context, _begin, (self._folder.path,))
        except BaseException:
            self._folder.remove()
            raise

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """See `filterkit.engines.engine.Engine.map`."""
        failures: list[Exception] = []
        running: deque[Future[str]] = deque()
        call = self._stored(function)
        with self._working():
            try:
                for item in until_failure(items, failures):
                    if item is not PAUSE:
                        running.append(self._submit(call, item))
                    while running and (item is PAUSE or len(running) >= 2 * self._jobs):
                        yield self._result(running.popleft())
                    if item is PAUSE:
                        yield item
                while running:
                    yield self._result(running.popleft())
            finally:
                for future in running:  # nobody waits for their results
                    future.cancel()
        if failures:
            raise failures[0]

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """See `filterkit.engines.engine.Engine.map_as_done`."""
        call = self._stored(function)
        with self._working():
            with hold_back_signals():
                working = [self._submit(call, item) for item in items]
            for done in self._as_completed(working):
                yield _read(done.result())

    def keep(self, function: Callable[[T], R]) -> Callable[[T], Kept]:
        """See `filterkit.engines.engine.Engine.keep`."""
        return partial(_kept, function, self._folder.path)

    def close(self) -> None:
        """End the processes, even if they are at work."""
        self.closed = True
        if self._working_on or self._broken:  # a broken pool waits for a process that it was starting as it broke
            for process in list((self._pool._processes or {}).values()):
                process.kill()
        self._pool.shutdown(cancel_futures=True)
        gc.collect()  # frees the pool's semaphores; a command does not wait for Python's clean-up at exit
        self._folder.remove()

    @property
    def _broken(self) -> bool:
        """Whether one of the processes has been killed."""
        return bool(self._pool._broken)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """End the processes if one of them or this one is stopped."""
        try:
            yield
        except BrokenProcessPool:
            self.close()
            raise FilterkitError("a process was killed; with less memory, fewer --jobs may help") from None
        except (KeyboardInterrupt, SystemExit):  # from a signal
            self.close()
            raise

    def _stored(self, function: Callable[[T], R]) -> _Call:
        """A call of `function`, which each process reads once."""
        path = self._path()
        _write(function, path)
        return _Call(path)

    def _path(self) -> str:
        """The path of a new file."""
        return os.path.join(self._folder.path, str(next(self._numbers)))

    def _submit(self, call: _Call, item: Any) -> Future[str]:
        path = self._path()
        with temporary_errors(), open(path, "wb") as file:
            _ItemPickler(file).dump(item)
        with hold_back_signals():
            try:
                future = self._pool.submit(call, path)
            except (OSError, ValueError):
                if self._broken:  # its pipes may be closed while an item is put into it, or a process started
                    raise BrokenProcessPool from None
                raise
            self._working_on.add(future)
            future.add_done_callback(self._working_on.discard)
            return future

    def _result(self, future: Future[str]) -> Any:
        """The result whose file a future names."""
        (done,) = self._as_completed([future])
        return _read(done.result())

    def _as_completed(self, futures: Iterable[Future[R]]) -> Iterator[Future[R]]:
        """The futures, as they are done.

        Python does not notice a signal that comes just before it begins to wait, so no wait is long. A future that was
        submitted as the pool broke is never done.
        """
        left = set(futures)
        while left:
            broken = self._broken
            try:
                for done in as_completed(left, timeout=_PATIENCE):
                    left.discard(done)
                    yield done
            except TimeoutError:
                if broken:
                    raise BrokenProcessPool from None


class Kept(NamedTuple):
    """A result in a file at `path`, of `nbytes` bytes."""

    path: str
    nbytes: int

    def remove(self) -> None:
        """Remove the file."""
        with suppress(FileNotFoundError), temporary_errors():
            os.unlink(self.path)


def _kept(function: Callable[[T], R], folder: str, item: T) -> Kept:
    """The result of a function, in a file of the folder."""
    path = os.path.join(folder, f"kept-{uuid4().hex}")
    _write(function(item), path)
    return Kept(path, os.path.getsize(path))


@dataclass(frozen=True)
class _Call:
    """A call of the function in the file at `function`.

    It takes the path of a file that holds the item, and returns that of a file with the result.
    """

    function: str

    def __call__(self, path: str) -> str:
        result = _function(self.function)(_read(path))
        _write(result, path)
        return path


def _write(thing: Any, path: str) -> None:
    """Write anything to a new file."""
    with temporary_errors(), open(path, "wb") as file:
        pickle.dump(thing, file, pickle.HIGHEST_PROTOCOL)


class _ItemPickler(pickle.Pickler):
    """Pickles an item; kept results in it become the results themselves."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)

    def reducer_override(self, thing: Any) -> Any:
        return (_loaded, (thing.path,)) if type(thing) is Kept else NotImplemented


def _loaded(path: str) -> Any:
    """What is in a file, which stays."""
    with temporary_errors(), open(path, "rb") as file:
        return pickle.load(file)


def _read(path: str) -> Any:
    """What is in a file, which is removed."""
    with temporary_errors():
        with open(path, "rb") as file:
            thing = pickle.load(file)
        os.unlink(path)
    return thing


@lru_cache(maxsize=2)  # a map may be within another
def _function(path: str) -> Callable[[Any], Any]:
    """The function in a file, in a process that works for an engine."""
    with open(path, "rb") as file:
        found: Callable[[Any], Any] = pickle.load(file)
        return found


def _begin(folder: str) -> None:
    """Begin a process that works for the engine whose temporary files are in `folder`."""
    from threadpoolctl import threadpool_limits

    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    keep_freed_memory()
    threadpool_limits(1)  # the processes themselves use all cores
    gc.freeze()  # as the command line does
    gc.set_threshold(100_000, 50, 100)
    with open(os.path.join(folder, "preparations"), "rb") as file:
        preparations = pickle.load(file)
    for function, given in preparations:
        function(*given)


def _end_with_parent(folder: str) -> None:
    """End this process when the one that it works for has been killed, and remove what that one left."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
