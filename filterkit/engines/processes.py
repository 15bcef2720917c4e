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
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.reduction import DupFd
from typing import Any, TypeVar

from filterkit.errors import FilterkitError, system_error

T = TypeVar("T")
R = TypeVar("R")


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
    # A thread starts the processes: an interrupt in this one could leave a process half started.
    with ThreadPoolExecutor(1) as starter:
        pool = starter.submit(_pool, jobs, _Shared((prepare, given))).result()
    working: list[Future[R]] = []
    try:
        with ThreadPoolExecutor(1, initializer=_hold_back) as starter:
            working += (starter.submit(pool.submit, function, item).result() for item in items)
        for done in as_completed(working):
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


def _pool(jobs: int, shared: _Shared) -> ProcessPoolExecutor:
    """Start a pool, and with it Python's process that keeps track of semaphores."""
    _hold_back()
    begin: Callable[[Any], None] = _begin  # the process receives what `shared` holds, not `shared` itself
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), begin, (shared,))


def _hold_back() -> None:
    """Block the signals of a terminal in this thread and in the processes that it starts.

    The process that waits for them ends them.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP))


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
