"""The engine: tasks for the workers of a Dask cluster, in order, with few in flight."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from filterkit import FilterkitError, UsageError
from filterkit.plugin import PAUSE, Engine, until_failure

from .work import Keeping, Kept, Small, large_of, load, merged, pack, part_of, result_of, small_of, work

if TYPE_CHECKING:
    from .cluster import Cluster

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4  # tasks under way for each thread, because handing out a task takes some milliseconds
_ROOM = 4  # strips of a table for each thread, which leaves half of `--memory` for work on them
_FIRST = 10  # the priority of tasks that make room, above that of tasks on new items
_HEAVY = 1 << 16  # bytes of an item; results made from larger ones do not stay on workers, see `DaskEngine._submit`


class _Running(NamedTuple):
    """A task: the future of its whole result, that of what comes back of it, and what it works on.

    If nothing is to stay, the first two are the same.
    """

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

    @property
    def room(self) -> int:  # type: ignore[override]
        """See `Engine.room`."""
        return _ROOM * self.jobs

    def prepare(self, function: Callable[..., None], *given: Any) -> None:
        """See `Engine.prepare`."""
        self._preparations.append((function, given))
        if self._cluster is not None:
            self._cluster.prepare(function, given)

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """See `Engine.map`."""
        cluster = self._connected()
        call, keeps = self._sent(cluster, function)
        failures: list[Exception] = []
        running: deque[_Running] = deque()
        most = _AHEAD * cluster.threads()
        try:
            for item in until_failure(items, failures):
                if item is not PAUSE:
                    running.append(self._submit(cluster, call, keeps, item))
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
        call, keeps = self._sent(cluster, function)
        tasks = {each.small: each for each in (self._submit(cluster, call, keeps, item) for item in items)}
        try:
            for small in cluster.as_done(tasks):
                yield self._result(tasks.pop(small))
        finally:
            for each in tasks.values():
                each.done.cancel()

    def keep(self, function: Callable[[T], R]) -> Callable[[T], Any]:
        """See `Engine.keep`; results stay in the memory of workers, or on their disks if Dask finds that too small."""
        return Keeping(function)

    def reduce(self, merge: Callable[[list[R]], R], kept: Sequence[Any]) -> Any:
        """See `Engine.reduce`; a worker merges what workers keep, and this process what it has itself."""
        if not all(isinstance(each, Kept) for each in kept):
            return merge([self.fetch(each) for each in kept])
        several = [(each.done, each.place) for each in kept]
        cluster = self._connected()
        done = cluster.submit(merged, merge, several, priority=_FIRST)
        nbytes = self._result(_Running(done, cluster.submit(small_of, done, priority=_FIRST), None))
        return Kept(done, 0, nbytes)

    def fetch(self, kept: Any) -> Any:
        """See `Engine.fetch`."""
        if not isinstance(kept, Kept):
            return kept
        with _told(None):
            return self._connected().result(self._connected().submit(large_of, kept.done, kept.place))

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

    def _sent(self, cluster: Cluster, function: Callable[[T], R]) -> tuple[Any, bool]:
        """The future of a function, which goes to each worker once; and whether it keeps parts of its results.

        The scheduler remembers a small one, such as one that counts. One with a fitted chain goes to all workers; it is
        lost if all of them are.
        """
        packed = pack(function)
        text = cluster.spread(packed.pickle) if len(packed.pickle) > _HEAVY else packed.pickle
        return cluster.submit(load, text, _places(packed.kept)), packed.keeps

    def _submit(self, cluster: Cluster, call: Any, keeps: bool, item: Any) -> _Running:
        """Begin to work on an item.

        Results that stay are computed again if their worker is lost, so the scheduler remembers the item as long as
        they stay. It would fill up with the text of large items. What comes of these goes back to this process.
        """
        packed = pack(item)
        stays = keeps and len(packed.pickle) < _HEAVY
        priority = _FIRST if packed.kept else 0
        done = cluster.submit(work, call, packed.pickle, _places(packed.kept), stays, priority=priority)
        return _Running(done, cluster.submit(small_of, done, priority=priority) if stays else done, item)

    def _result(self, running: _Running) -> Any:
        with _told(running.item):
            found = self._connected().result(running.small)
        several = isinstance(found, Small) and found.parts > 1
        return result_of(found.small, partial(self._kept, running.done, several))

    def _kept(self, done: Any, several: bool, place: int, nbytes: int) -> Kept:
        """What stands for a large part of a result; by itself if there are several, which are not needed as long."""
        if several:
            return Kept(self._connected().submit(part_of, done, place, priority=_FIRST), 0, nbytes)
        return Kept(done, place, nbytes)


def _is_scheduler_named() -> bool:
    """Whether Dask's own configuration or the environment names a scheduler."""
    try:
        import dask
    except ImportError:  # which will be said when there is work
        return False
    return bool(dask.config.get("scheduler-address", None))


def _places(kept: list[Kept]) -> list[tuple[Any, int]]:
    return [(each.done, each.place) for each in kept]


@contextmanager
def _told(item: Any) -> Iterator[None]:
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
