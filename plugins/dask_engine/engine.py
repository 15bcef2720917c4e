"""The engine: tasks for the workers of a Dask cluster, in order, with few in flight."""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from filterkit import FilterkitError, UsageError
from filterkit.plugin import PAUSE, Engine, until_failure

from .work import Failure, Keeping, Kept, OnWorker, large_of, put_parts_in, small_of, take_parts_out, work

if TYPE_CHECKING:
    from .cluster import Cluster

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # tasks under way for each thread, because handing out a task takes some milliseconds
_FIRST = 10  # the priority of tasks that make room, above that of tasks on new items
_HEAVY = 1 << 16  # bytes of an item; results made from larger ones do not stay on workers, see `DaskEngine._submit`


class _Running(NamedTuple):
    """A task: the future of its whole result, that of what comes back of it, and what it works on."""

    done: Any
    small: Any
    item: Any


class DaskEngine(Engine):
    """Applies functions to items on the workers of a Dask cluster.

    ``--engine dask`` starts worker processes on this machine, unless Dask's own configuration names a scheduler;
    ``dask:tcp://HOST:PORT`` and ``dask:FILE.json`` connect to a running one. Files are read by the workers, statistics
    are merged there, and a worker that is lost is replaced by others: Dask computes again what it held.

    Parameters
    ----------
    jobs : the number of worker processes to start; of a running cluster all workers are used.
    options : the address of a scheduler, or the path of its file.
    client : one that somebody else closes, or None.
    """

    name = "dask"
    reads_files = True

    def __init__(self, jobs: int, options: str = "", client: Any = None) -> None:
        self._wanted = jobs
        self._options = options
        self._preparations: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._cluster: Cluster | None = None
        self._client = client
        if client is None and (options or _is_scheduler_named()):
            self._connected()  # an address may be wrong, which should be said at once

    @classmethod
    def of(cls, thing: Any) -> Self | None:
        """An engine on the cluster of a `distributed.Client`, which is not closed with it; see `Engine.of`."""
        distributed = sys.modules.get("distributed")
        if distributed is None or not isinstance(thing, distributed.Client):
            return None
        if thing.asynchronous:
            raise UsageError("engine: this client is asynchronous; make one with asynchronous=False")
        if thing.status != "running":
            raise UsageError(f"engine: this client is {thing.status}, not running")
        return cls(1, client=thing)

    @property
    def jobs(self) -> int:  # type: ignore[override]
        """How many items are worked on at once."""
        return self._wanted if self._cluster is None and self._client is None else self._connected().threads()

    def prepare(self, function: Callable[..., None], *given: Any) -> None:
        """See `Engine.prepare`."""
        self._preparations.append((function, given))
        if self._cluster is not None:
            self._cluster.prepare(function, given)

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """See `Engine.map`."""
        cluster = self._connected()
        call = self._send(cluster, function)
        failures: list[Exception] = []
        running: deque[_Running] = deque()
        most = _AHEAD * cluster.threads()
        try:
            for item in until_failure(items, failures):
                if item is not PAUSE:
                    running.append(self._submit(cluster, call, item))
                while running and (item is PAUSE or len(running) >= most):
                    yield self._result(running.popleft())
                if item is PAUSE:
                    yield item
            while running:
                yield self._result(running.popleft())
        finally:
            for each in running:  # nobody waits for their results
                each.done.cancel()
        if failures:
            raise failures[0]

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """See `Engine.map_as_done`."""
        cluster = self._connected()
        call = self._send(cluster, function)
        tasks = {each.small: each for each in (self._submit(cluster, call, item) for item in items)}
        try:
            for small in cluster.as_done(tasks):
                yield self._result(tasks.pop(small))
        finally:
            for each in tasks.values():
                each.done.cancel()

    def keep(self, function: Callable[[T], R]) -> Callable[[T], Any]:
        """See `Engine.keep`; results stay in the memory of workers, or on their disks if Dask finds that too small."""
        return Keeping(function)

    def close(self) -> None:
        """See `Engine.close`; a cluster that this engine has started ends."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None

    def _connected(self) -> Cluster:
        if self._cluster is None:
            try:
                from .cluster import Cluster
            except ImportError:
                raise UsageError(
                    f"--engine {self.name} needs the package distributed: pip install 'arff-filterkit[dask]'"
                ) from None
            self._cluster = Cluster(self._wanted, self._options, self._client, self._preparations)
        return self._cluster

    def _send(self, cluster: Cluster, function: Callable[[T], R]) -> Any:
        """The future of a function, which goes to each worker once.

        The scheduler remembers a small one, such as one that counts. One with a fitted chain goes to all workers; it is
        lost if all of them are.
        """
        pickled = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
        return cluster.submit(pickle.loads, cluster.spread(pickled) if len(pickled) > _HEAVY else pickled)

    def _submit(self, cluster: Cluster, call: Any, item: Any) -> _Running:
        """Begin to work on an item.

        Results that stay are computed again if their worker is lost, so the scheduler remembers the item as long as
        they stay. It would fill up with the text of large items. All that comes of these goes back to this process.
        """
        item, kept = take_parts_out(item, Kept)
        pickled = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        futures, priority = [each.future for each in kept], _FIRST if kept else 0
        done = cluster.submit(work, call, pickled, futures, len(pickled) < _HEAVY, priority=priority)
        return _Running(done, cluster.submit(small_of, done, priority=priority), item)

    def _result(self, running: _Running) -> Any:
        cluster = self._connected()
        with _dask_errors(running.item):
            result, sizes = cluster.result(running.small)
        if isinstance(result, Failure):
            raise result.error from OnWorker(result.traceback)
        kept = [
            Kept(cluster.submit(large_of, running.done, number, priority=_FIRST), size)
            for number, size in enumerate(sizes)
        ]
        return put_parts_in(result, kept)


def _is_scheduler_named() -> bool:
    """Whether Dask's own configuration or the environment names a scheduler."""
    try:
        import dask
    except ImportError:  # which will be said when there is work
        return False
    return bool(dask.config.get("scheduler-address", None))


@contextmanager
def _dask_errors(item: Any) -> Iterator[None]:
    """Turn the errors of Dask itself into a `FilterkitError`; that of a lost worker says what it worked on."""
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        place = getattr(item, "place", "")
        about = f"{place}: " if place else ""
        raise FilterkitError(
            f"{about}the Dask workers that worked on this were killed, {error.allowed_failures + 1} of them one after "
            "the other; give each more memory"
        ) from None
    except (FutureCancelledError, OSError) as error:
        raise FilterkitError(f"the Dask cluster is lost ({error})") from None
