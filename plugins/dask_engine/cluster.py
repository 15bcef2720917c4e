"""A Dask cluster: one that is started here, or a running one that this process connects to."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import Any

from distributed import Client, LocalCluster, WorkerPlugin
from distributed.comm.addressing import parse_address, parse_host_port

from filterkit import FilterkitError
from filterkit.plugin import TemporaryFolder, check_may_start, hold_back_signals

from .versions import check_versions

_PATIENCE = 30.0  # seconds without any worker
_PAUSE = 2.0  # seconds between looks at whether there are workers
_POLL = 0.01  # seconds between looks at whether one of several tasks is done
# Of workers. By default Dask lets them give all freed memory back at once, which takes longer than to count a table.
_ENVIRONMENT = {
    "MALLOC_ARENA_MAX": 1,
    "MALLOC_MMAP_THRESHOLD_": 32 << 20,
    "MALLOC_TRIM_THRESHOLD_": 128 << 20,
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1),
}
Preparation = tuple[Callable[..., None], tuple[Any, ...]]


class Cluster:
    """The workers of a scheduler.

    Parameters
    ----------
    jobs : how many worker processes to start, if no scheduler is named here or in Dask's configuration.
    options : the address of a scheduler, the path of its file, or nothing.
    client : one that somebody else opened and closes, or None.
    preparations : functions, with their arguments, that each worker calls first.

    Raises
    ------
    FilterkitError : there is no such scheduler, it has no workers, or their versions are others.
    """

    def __init__(self, jobs: int, options: str, client: Client | None, preparations: list[Preparation]) -> None:
        import dask

        self._own: LocalCluster | None = None
        self._folder: TemporaryFolder | None = None
        self._is_ours = client is None
        if self._is_ours:
            _silence()
        if client is not None:
            self._client = client
        elif options or dask.config.get("scheduler-address", None):
            self._client = _connected(options)
        else:
            self._client = self._started(jobs)
        self._plugins: list[str] = []
        check_versions(self._client)
        self.prepare(_begin, ())
        for function, given in preparations:
            self.prepare(function, given)

    def _started(self, jobs: int) -> Client:
        """A client of new worker processes.

        Raises
        ------
        FilterkitError : they cannot be started.
        """
        check_may_start()
        try:
            self._folder = TemporaryFolder()
            return self._client_of_own(jobs)
        except BaseException as error:  # also a signal
            self._end_own()
            if isinstance(error, (OSError, RuntimeError, TimeoutError)):
                raise FilterkitError(f"--engine dask: the workers cannot be started ({_reason(error)})") from None
            raise

    def _client_of_own(self, jobs: int) -> Client:
        import dask

        assert self._folder is not None
        resource_tracker.ensure_running()  # it would unblock the signals again
        settings = {"temporary-directory": self._folder.path, "distributed.nanny.pre-spawn-environ": _ENVIRONMENT}
        with hold_back_signals(), dask.config.set(settings):
            self._own = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # of a page that says how it is, without Dask's dashboard
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
                local_directory=self._folder.path,
            )
        return Client(self._own)

    def threads(self) -> int:
        """How many tasks run at once."""
        return max(1, sum(map(int, self._client.nthreads().values())))

    def submit(self, function: Callable[..., Any], *given: Any, priority: int = 0) -> Any:
        """The future of ``function(*given)``; futures among `given` stand for their results.

        Of the tasks that can run, those with a higher `priority` begin first, and then those submitted first.
        """
        return self._client.submit(function, *given, pure=False, priority=priority)

    def result(self, future: Any) -> Any:
        """The result of a future.

        Raises
        ------
        FilterkitError : all workers are lost, and no new ones come.
        """
        look = self._patience()
        while True:  # also if it is done: its worker may be lost before the result has been fetched
            with suppress(TimeoutError):
                return future.result(timeout=_PAUSE)
            look()

    def as_done(self, futures: Iterable[Any]) -> Iterator[Any]:
        """Futures, as they are done; errors as of `result`."""
        from distributed import as_completed

        ready, look = as_completed(list(futures)), self._patience()
        while not ready.is_empty():
            if ready.has_ready():
                yield next(ready)
                look = self._patience()
            else:
                time.sleep(_POLL)
                look()

    def _patience(self) -> Callable[[], None]:
        """A function that is to be called again and again, and refuses to wait any longer without any worker."""
        looked = alive = time.monotonic()

        def look() -> None:
            nonlocal looked, alive
            if time.monotonic() - looked < _PAUSE:
                return
            if self._client.nthreads():
                alive = time.monotonic()
            looked = time.monotonic()
            if looked - alive > _PATIENCE:
                raise FilterkitError(
                    f"all Dask workers are lost, and for {_PATIENCE:g} seconds none has come; start some and run again"
                )

        return look

    def spread(self, text: bytes) -> Any:
        """The future of some bytes, which go to all workers, past the scheduler."""
        return self._client.scatter(text, broadcast=True, hash=False)

    def prepare(self, function: Callable[..., None], given: tuple[Any, ...]) -> None:
        """Make each worker, and each that joins later, call ``function(*given)``."""
        plugin = _Preparation(function, given)
        name = f"filterkit-{id(self)}-{len(self._plugins)}"
        self._client.register_plugin(plugin, name)
        self._plugins.append(name)

    def close(self) -> None:
        """End what was started."""
        if self._own is None:
            with suppress(OSError):  # it may be lost
                for name in self._plugins:
                    self._client.unregister_worker_plugin(name)
        if self._is_ours:
            self._client.close()
        self._end_own()

    def _end_own(self) -> None:
        """End the workers that were started here."""
        if self._own is not None:
            self._own.close()
        if self._folder is not None:
            self._folder.remove()


class _Preparation(WorkerPlugin):
    """Calls a function on each worker."""

    def __init__(self, function: Callable[..., None], given: tuple[Any, ...]) -> None:
        self.function, self.given = function, given

    def setup(self, worker: Any) -> None:
        self.function(*self.given)


def _begin() -> None:
    """Begin to work in this process."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # the tasks themselves use all cores


def _silence() -> None:
    """Keep Dask's own messages off standard error; what matters comes as an error of ours."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _connected(options: str) -> Client:
    """A client of a running scheduler.

    Raises
    ------
    FilterkitError : it does not answer, has no workers, or wants other certificates.
    """
    import dask

    place = options or str(dask.config.get("scheduler-address"))
    try:
        address = _address_in(options) if options.endswith(".json") else place
        _check_answers(address)
        client = Client(address, timeout=10)
    except (TypeError, FileNotFoundError):  # what Dask raises without certificates
        raise FilterkitError(
            f"--engine dask: {place} needs certificates; Dask's settings distributed.comm.tls name their files"
        ) from None
    except (OSError, TimeoutError, ValueError) as error:
        raise FilterkitError(f"--engine dask: no scheduler answers at {place} ({_reason(error)})") from None
    try:
        client.wait_for_workers(1, timeout=30)
    except TimeoutError:
        client.close()
        raise FilterkitError(f"--engine dask: the scheduler at {place} has no workers") from None
    return client


def _address_in(path: str) -> str:
    """The address in the file of a scheduler.

    Raises
    ------
    FilterkitError : there is no such file.
    ValueError : it is no file of a scheduler.
    """
    try:
        with open(path, "rb") as file:
            return str(json.load(file)["address"])
    except FileNotFoundError:
        raise FilterkitError(f"--engine dask: there is no scheduler file {path}") from None
    except (KeyError, TypeError, RecursionError):
        raise ValueError("it has no address") from None


def _check_answers(address: str) -> None:
    """Find out at once whether somebody listens at an address, for which Dask itself waits.

    Raises
    ------
    OSError : nobody does, or there is no such host.
    ValueError : it is no address.
    """
    scheme, place = parse_address(address)
    if scheme in ("tcp", "tls"):
        socket.create_connection(parse_host_port(place), timeout=10).close()


def _reason(error: BaseException) -> str:
    """What is behind an error of Dask, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__
