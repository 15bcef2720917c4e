"""Work in several processes, which end when the process that waits for them ends."""

from __future__ import annotations

import gc
import mmap
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.reduction import DupFd
from types import FrameType
from typing import Any, TypeVar

from filterkit.errors import FilterkitError, system_error

T = TypeVar("T")
R = TypeVar("R")

_PATIENCE = 0.5  # seconds
_OF_A_TERMINAL = ("SIGINT", "SIGQUIT", "SIGHUP")


def in_processes(
    function: Callable[[T], R], items: Iterable[T], jobs: int, prepare: Callable[..., None], *given: Any
) -> Generator[R, None, None]:
    """``function(item)`` for each item, in the order in which they are done, in worker processes.

    Parameters
    ----------
    function, items : must be picklable.
    jobs : how many processes.
    prepare, given : each process calls ``prepare(*given)`` before its first item.

    Raises
    ------
    FilterkitError : a process was killed.
    """
    with _signals_held_back():
        begin: Callable[[Any], None] = _begin  # the process receives what `_Shared` holds, not the `_Shared` itself
        shared = _Shared((prepare, given))
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), begin, (shared,))
    working: list[Future[R]] = []
    try:
        with _signals_held_back():
            try:
                working += [pool.submit(function, item) for item in items]
            except OSError:
                if pool._broken:  # its pipes may be closed while an item is put into it
                    raise BrokenProcessPool from None
                raise
        for done in _as_completed(working):
            yield done.result()
    except BrokenProcessPool:
        raise FilterkitError("a process was killed; with less memory, fewer --jobs may help") from None
    except BaseException:  # nobody waits for the results any more
        for process in list((pool._processes or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        del pool, working
        gc.collect()  # frees the pool's semaphores; a command does not wait for Python's clean-up at exit


def _as_completed(futures: Iterable[Future[R]]) -> Iterator[Future[R]]:
    """The futures, as they are done.

    Python does not notice a signal that comes just before it begins to wait, so no wait is long.
    """
    left = set(futures)
    while left:
        try:
            for done in as_completed(left, timeout=_PATIENCE):
                left.discard(done)
                yield done
        except TimeoutError:
            continue


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Hold back the signals that end the command until the processes that are being started are known.

    An exception in the middle could leave a process that nobody ends. The processes themselves block the signals of a
    terminal for good: whoever waits for them ends them.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone receives signals
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before: dict[int, Any] = {}
    for name in (*_OF_A_TERMINAL, "SIGTERM", "SIGXCPU"):
        number = getattr(signal, name, None)
        handler = None if number is None else signal.getsignal(number)
        if number is not None and callable(handler):
            before[number] = handler
            signal.signal(number, lambda number, frame: came.append((number, frame)))
    mask = _block()
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in came:
            before[number](number, frame)


def _block() -> set[Any] | None:
    """Block the signals of a terminal, where that can be done; the signals that were blocked before."""
    if not hasattr(signal, "pthread_sigmask"):
        return None
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in _OF_A_TERMINAL]))


class _Shared:
    """Data for the processes, in a temporary file that each reads as it starts.

    Python itself would write it into a pipe, and wait forever if the process at the other end was killed.
    """

    def __init__(self, what: Any) -> None:
        try:
            self._file = tempfile.TemporaryFile(prefix="filterkit-")
            pickle.dump(what, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            raise system_error(f"temporary folder {tempfile.gettempdir()}", error) from None

    def __reduce__(self) -> Any:
        return _taken, (DupFd(self._file.fileno()),)


def _taken(duplicate: Any) -> Any:
    """The data of a `_Shared`, read in a process from its file."""
    with open(duplicate.detach(), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return pickle.loads(text)


def _begin(shared: tuple[Callable[..., None], tuple[Any, ...]]) -> None:
    from threadpoolctl import threadpool_limits

    prepare, given = shared
    threadpool_limits(1)  # the processes themselves use all cores
    gc.freeze()  # as the command line does
    gc.set_threshold(100_000, 50, 100)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare(*given)


def _end_with_parent() -> None:
    """End this process when the one that it works for has been killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
