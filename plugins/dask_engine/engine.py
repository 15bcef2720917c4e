"""The engine: tasks for the workers of a Dask cluster, in order, with few in flight."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from functools import partial
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from filterkit import FilterkitError, UsageError
from filterkit.plugin import Engine, map_ahead

from .work import Failure, KeptPart, WorkerTraceback, compute_part_to_keep, replace_parts, run_task

if TYPE_CHECKING:
    from .cluster import Cluster

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # tasks under way for each thread, because handing out a task takes some milliseconds
_FIRST = 10  # the priority of tasks that make room, above that of tasks on new items
_HEAVY = 1 << 16  # bytes of an item; results of larger items do not stay on workers, see `DaskEngine._submit_item`


class _Task(NamedTuple):
    """A call of `run_task` on an item.

    Attributes
    ----------
    future : the Dask future of what `run_task` returns.
    pickled : the Dask future of the first element of that, the pickled result; `future` itself if no parts are to stay
        on the worker.
    item : the item, which messages locate.
    """

    future: Any
    pickled: Any
    item: Any

    def cancel(self) -> None:
        self.future.cancel()


class DaskEngine(Engine):
    """Applies functions to items on the workers of a Dask cluster.

    ``--engine dask`` starts worker processes on this machine, unless Dask's own configuration names a scheduler;
    ``--engine dask:tcp://HOST:PORT`` and ``--engine dask:FILE.json`` connect to a running one. The workers read files
    and merge statistics. If a worker is lost, Dask computes its results again on others.

    Parameters
    ----------
    jobs : the number of worker processes to start; a running cluster works with all its workers.
    options : the address of a scheduler, or the path of its file (``.json``); "" for the scheduler that Dask's
        configuration names, or else for new workers.
    client : a client that the caller closes; None to start a cluster, or to connect to one.

    Raises
    ------
    UsageError : `jobs` is no whole number of at least 1; or a scheduler is named, and the package distributed is not
        installed.
    FilterkitError : as for `Cluster`, if a scheduler is named. Otherwise the first map raises these errors.
    """

    name = "dask"
    reads_files = True

    def __init__(self, jobs: int, options: str = "", client: Any = None) -> None:
        self._wanted = Engine(jobs).jobs  # refuses what is no number of jobs
        self._options = options
        if not options and client is None:
            with suppress(ImportError):  # `_get_cluster` reports that
                import dask

                self._options = str(dask.config.get("scheduler-address", None) or "")
        self._cluster: Cluster | None = None
        self._client = client
        if self._options:
            self._get_cluster()  # now, so that a wrong address is an error at once

    @classmethod
    def of(cls, thing: Any) -> Self | None:
        """Make an engine on the cluster of a `distributed.Client`, which stays open; return None for any other object.

        Raise UsageError if the client is asynchronous, or not running.
        """
        distributed = sys.modules.get("distributed")
        if distributed is None or not isinstance(thing, distributed.Client):
            return None
        if thing.asynchronous:
            raise UsageError("engine: the client of Dask is asynchronous; make one with asynchronous=False")
        if thing.status != "running":
            raise UsageError(f"engine: the client of Dask is {thing.status}, not running; pass one that is connected")
        return cls(1, client=thing)

    @property
    def jobs(self) -> int:  # type: ignore[override]
        """The number of threads of all workers, at least 1; before workers are started, the number asked for."""
        if self._cluster is None and self._client is None:
            return self._wanted
        return max(1, sum(map(int, self._get_cluster().client.nthreads().values())))

    def prepare(self, function: Callable[..., None], *args: Any) -> None:
        """Make each worker call ``function(*args)`` before its first item; those that already run call it now."""
        super().prepare(function, *args)
        if self._cluster is not None:
            self._cluster.prepare(function, args)

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item, in order, computed by the workers.

        Up to ``4 * jobs`` items are taken ahead. Raise FilterkitError if the workers or the cluster are lost.
        """
        submit = self._make_submit_function(function)
        yield from map_ahead(submit, items, self._wait_for_result, _AHEAD * self.jobs)

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Yield ``function(item)`` for each item once a worker has computed it, in any order.

        All items are taken before the first result is yielded. Raise FilterkitError if the workers or the cluster are
        lost.
        """
        cluster = self._get_cluster()
        tasks = {task.pickled: task for task in map(self._make_submit_function(function), items)}
        try:
            for future in cluster.yield_as_done(tasks):
                yield self._wait_for_result(tasks.pop(future))
        finally:
            for task in tasks.values():
                task.cancel()

    def keep(self, function: Callable[[T], R]) -> Callable[[T], Any]:
        """Return a function for `map` whose results stay in the memory of workers, or on their disks if that is full.

        `map` yields a `KeptPart` for such a result. If a pickled item takes 64 KB or more, its result comes to this
        process nevertheless; `_submit_item` says why.
        """
        return partial(compute_part_to_keep, function)

    def close(self) -> None:
        """End a cluster that this engine has started, or leave one that was running before; another map opens one."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None

    def _get_cluster(self) -> Cluster:
        """Return the cluster; the first call starts it, or connects to it.

        Raise UsageError if the package distributed is not installed, and FilterkitError as `Cluster` does.
        """
        if self._cluster is None:
            try:
                from .cluster import Cluster
            except ImportError:
                raise UsageError(
                    f"--engine {self.name} needs the package distributed: pip install 'arff-filterkit[dask]'"
                ) from None
            self._cluster = Cluster(self._wanted, self._options, self._client, self.preparations)
        return self._cluster

    def _make_submit_function(self, function: Callable[[T], R]) -> Callable[[T], _Task]:
        """Send a function to the workers; return a function of an item, which starts the work and returns its `_Task`.

        The scheduler remembers a function of up to 64 KB, such as one that counts. A larger one, such as a fitted
        chain, goes to all workers past the scheduler, and is lost if all of them are.
        """
        cluster = self._get_cluster()
        pickled = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
        sent = cluster.client.scatter(pickled, broadcast=True, hash=False) if len(pickled) > _HEAVY else pickled
        keeps = b"compute_part_to_keep" in pickled  # the function of `keep`; else one task is enough for an item
        return partial(self._submit_item, cluster, cluster.submit(pickle.loads, sent), keeps)

    def _submit_item(self, cluster: Cluster, function_future: Any, keeps_parts_on_worker: bool, item: Any) -> _Task:
        """Start a function, which is the result of `function_future`, on an item; return the task.

        Items with a `KeptPart` go before others. `keeps_parts_on_worker` says whether parts of the result that are
        marked as `PartToKeep` are to stay on the worker. If the worker is lost, Dask computes them again, so the
        scheduler remembers their items. Large items would fill up its memory; therefore results of pickled items of
        64 KB or more do not stay on workers.
        """
        futures: list[Any] = []

        def replace_future_by_number(kept: KeptPart) -> KeptPart:
            futures.append(kept.part)
            return kept._replace(part=len(futures) - 1)

        pickled = pickle.dumps(replace_parts(item, KeptPart, replace_future_by_number), pickle.HIGHEST_PROTOCOL)
        priority = _FIRST if futures else 0
        keeps = keeps_parts_on_worker and len(pickled) < _HEAVY
        future = cluster.submit(run_task, function_future, pickled, futures, keeps, priority=priority)
        return _Task(future, cluster.submit(getitem, future, 0, priority=priority) if keeps else future, item)

    def _wait_for_result(self, task: _Task) -> Any:
        """Wait for a task; return its result or raise its error; a part that stays on the worker is a `KeptPart`.

        If workers are killed or the cluster is lost, raise FilterkitError. If workers are killed, its message names the
        attribute `location` of the item, if there is one.
        """
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        cluster = self._get_cluster()
        try:
            result = pickle.loads(cluster.wait_for_result(task.pickled))
        except KilledWorker as error:
            location = getattr(task.item, "location", "")
            about = f"{location}: " if location else ""
            raise FilterkitError(
                f"{about}the Dask workers that worked on this were killed, {error.allowed_failures + 1} of them one "
                "after the other; give each more memory"
            ) from None
        except (FutureCancelledError, OSError) as error:
            raise FilterkitError(
                f"lost the Dask cluster ({error}); check that its scheduler and workers run, and start again"
            ) from None
        if isinstance(result, Failure):
            raise result.error from WorkerTraceback(result.traceback)
        # Each kept part is a task of its own, so that Dask can move and release it without the others.
        return replace_parts(
            result,
            KeptPart,
            lambda kept: kept._replace(part=cluster.submit(getitem, task.future, kept.part, priority=_FIRST)),
        )
