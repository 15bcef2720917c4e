"""The engine of processes, which end when the process that waits for them ends.

Functions, items and results go to the processes and back in files. Only their names go through Python's own pipes: a
process that writes much into a pipe, or reads it, waits forever if the process at the other end is killed meanwhile.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import shutil
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, as_completed, process
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import count
from typing import Any, TypeVar

from filterkit.allocators import keep_freed_memory
from filterkit.engines.engine import Engine, check_may_start, make_picklable
from filterkit.engines.local import map_ahead
from filterkit.engines.signals import LONGEST_WAIT, hold_back_signals
from filterkit.errors import FilterkitError
from filterkit.temporary import TemporaryFolder, convert_temporary_file_errors

T = TypeVar("T")
R = TypeVar("R")


class ProcessEngine(Engine):
    """Applies functions to items in other processes of this machine.

    This suits work that holds the interpreter lock, as training does. For the rows of a chain, threads are faster,
    because all batches have to go to the processes and back. Processes start as items need them, up to `jobs`, and run
    until `close`.
    """

    name = "processes"
    reads_files = True
    _folder: TemporaryFolder  # of the processes that run
    _file_numbers: Iterator[int]
    _pool: process.ProcessPoolExecutor | None = None

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item, in order; raise a `FilterkitError` if a process is killed.

        `Engine.map` says more. Raise UsageError as `check_may_start` does.
        """
        pool = self._get_running_pool()
        submit = partial(self._submit_item, pool, self._write_new_file(function))
        with self._end_processes_on_failure():
            yield from map_ahead(
                submit,
                items,
                lambda future: _unpickle_and_remove_file(next(_yield_futures_as_done(pool, [future])).result()),
                2 * self.jobs,
            )

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item in any order; raise a `FilterkitError` if a process is killed.

        All items are read and written to files before the first result is yielded.
        """
        pool = self._get_running_pool()
        path = self._write_new_file(function)
        with self._end_processes_on_failure():
            with hold_back_signals():
                working = [self._submit_item(pool, path, item) for item in items]
            try:
                for done in _yield_futures_as_done(pool, working):
                    yield _unpickle_and_remove_file(done.result())
            finally:  # the consumer may end early
                for each in working:
                    each.cancel()

    def close(self) -> None:
        """End the processes, even if they are at work, and remove their files; another map would start new ones."""
        if self._pool is None:
            return
        # A broken pool waits for a process that it was starting as it broke.
        if self._pool._pending_work_items or self._pool._broken:
            for each in list((self._pool._processes or {}).values()):
                each.kill()
        self._pool.shutdown(cancel_futures=True)
        gc.collect()  # frees the pool's semaphores; a command does not wait for Python's clean-up at exit
        self._folder.remove()
        self._pool = None

    def _get_running_pool(self) -> process.ProcessPoolExecutor:
        """Return the executor, which starts processes as it gets items; make it if there is none.

        Raise UsageError as `check_may_start` does.
        """
        if self._pool is None:
            check_may_start()
            self._folder, self._file_numbers = TemporaryFolder(), count(1)
            try:
                _pickle_to_file(self.preparations, os.path.join(self._folder.path, "preparations"))
                with hold_back_signals():
                    context = multiprocessing.get_context("spawn")
                    self._pool = process.ProcessPoolExecutor(self.jobs, context, _prepare_worker, (self._folder.path,))
            except BaseException:
                self._folder.remove()
                raise
        return self._pool

    @contextmanager
    def _end_processes_on_failure(self) -> Iterator[None]:
        """Return a context that ends all processes if one of them is killed, or if a signal stops this process.

        It raises a `FilterkitError` in the first case, and in the second what the signal raises.
        """
        try:
            yield
        except process.BrokenProcessPool:
            self.close()
            raise FilterkitError(
                "a worker process was killed, perhaps because memory ran out; fewer --jobs may help"
            ) from None
        except (KeyboardInterrupt, SystemExit):  # from a signal
            self.close()
            raise

    def _write_new_file(self, thing: Any) -> str:
        """Pickle a function or an item into a new file, and return its path."""
        path = os.path.join(self._folder.path, str(next(self._file_numbers)))
        _pickle_to_file(thing, path)
        return path

    def _submit_item(self, pool: process.ProcessPoolExecutor, function_path: str, item: Any) -> Future[str]:
        """Write an item to a file, and start work on it; the future gives the path of a file with the result.

        The function is in the file `function_path`. Raise BrokenProcessPool if a process has been killed.
        """
        path = self._write_new_file(item)
        with hold_back_signals():
            try:
                return pool.submit(_call_and_write_result, function_path, path)
            except (OSError, ValueError):
                if pool._broken:  # its pipes may be closed while an item is put into it, or a process started
                    raise process.BrokenProcessPool from None
                raise


def _yield_futures_as_done(pool: process.ProcessPoolExecutor, futures: Iterable[Future[str]]) -> Iterator[Future[str]]:
    """Yield futures of a pool as they are done; raise `BrokenProcessPool` if a killed process leaves some undone."""
    left = set(futures)
    while left:
        was_broken = pool._broken
        try:
            for done in as_completed(left, timeout=LONGEST_WAIT):
                left.discard(done)
                yield done
        except TimeoutError:
            if was_broken:
                raise process.BrokenProcessPool from None


def _call_and_write_result(function_path: str, item_path: str) -> str:
    """Call the function in one file with the item in another, write the result to the latter, and return its path.

    The file of the item is removed before the call. An exception is raised as it is, or as `make_picklable` changes it.
    """
    try:
        _pickle_to_file(_unpickle_function(function_path)(_unpickle_and_remove_file(item_path)), item_path)
    except Exception as error:
        picklable = make_picklable(error)
        raise picklable from (None if picklable is error else error)
    return item_path


def _pickle_to_file(thing: Any, path: str) -> None:
    with convert_temporary_file_errors(), open(path, "wb") as file:
        pickle.dump(thing, file, pickle.HIGHEST_PROTOCOL)


def _unpickle_file(path: str) -> Any:
    with convert_temporary_file_errors(), open(path, "rb") as file:
        return pickle.load(file)


_unpickle_function = lru_cache(maxsize=2)(_unpickle_file)  # two, because a map may run within another


def _unpickle_and_remove_file(path: str) -> Any:
    thing = _unpickle_file(path)
    with convert_temporary_file_errors():
        os.unlink(path)
    return thing


def _prepare_worker(folder: str) -> None:
    """Prepare this worker process: make it end with its parent, keep to one thread, and call `Engine.preparations`.

    `folder` is that of the temporary files of the engine.
    """
    from threadpoolctl import threadpool_limits

    threading.Thread(target=_exit_after_parent, args=(folder,), daemon=True).start()
    keep_freed_memory()
    threadpool_limits(1)  # the processes themselves use all cores
    gc.freeze()  # as the command line does
    gc.set_threshold(100_000, 50, 100)
    for function, arguments in _unpickle_file(os.path.join(folder, "preparations")):
        function(*arguments)


def _exit_after_parent(folder: str) -> None:
    """Wait until the process that this one works for ends; then remove `folder`, and end this process at once."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
