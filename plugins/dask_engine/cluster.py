"""Start a Dask cluster, or connect to a running one."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

import dask
from distributed import Client, LocalCluster, WorkerPlugin, as_completed
from distributed.comm.addressing import parse_address, parse_host_port
from threadpoolctl import threadpool_limits

from filterkit import FilterkitError
from filterkit.plugin import KEEPING_ENVIRONMENT, TemporaryFolder, check_may_start, hold_back_signals

from .versions import check_worker_versions

_PATIENCE = 30.0  # seconds to wait without any worker
_PAUSE = 2.0  # seconds between checks whether there are workers
_POLL = 0.01  # seconds between checks whether one of several tasks is done
# By default, Dask lets workers give all freed memory back at once, which takes longer than to count a table.
_WORKER_ENVIRONMENT = {
    **KEEPING_ENVIRONMENT,
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1),
}


class Cluster:
    """Hands tasks to the workers of a Dask scheduler, and waits for their results.

    It works on the scheduler of `client`, else on that which `options` names, else on worker processes that it starts.

    Parameters
    ----------
    jobs : the number of worker processes to start; else not used.
    options : the address of a scheduler, or the path of its file (``.json``); or "".
    client : a client that the caller closes, or None.
    preparations : pairs of a function and the tuple of its arguments, which each worker calls first.

    Attributes
    ----------
    client : the client of the scheduler.

    Raises
    ------
    FilterkitError : no scheduler answers where `options` says, or it has no workers for 30 seconds; a worker has other
        versions than this process; or workers cannot be started.
    UsageError : as for `check_may_start`.
    """

    def __init__(self, jobs: int, options: str, client: Client | None, preparations: Iterable[Any]) -> None:
        self._closing = ExitStack()
        was_running = client is not None or options
        if client is None:
            # Dask's own messages stay off standard error: what matters comes as an error of ours.
            for name in list(logging.root.manager.loggerDict):
                if name.partition(".")[0] == "distributed":
                    logging.getLogger(name).setLevel(logging.CRITICAL)
            client = _connect_to_scheduler(options) if options else self._start_workers(jobs)
            self._closing.callback(client.close)
        self.client = client
        self._plugins: list[str] = []
        if was_running:  # workers that were started here are as this process is
            self._closing.callback(self._undo_preparations)
            check_worker_versions(self.client)
        for function, arguments in [(threadpool_limits, (1,)), *preparations]:  # the tasks themselves use all cores
            self.prepare(function, arguments)

    def _start_workers(self, jobs: int) -> Client:
        """Start a scheduler and worker processes, with a temporary folder of their own, and return a client of them.

        Raise UsageError as `check_may_start` does, and FilterkitError if they cannot be started.
        """
        check_may_start()
        try:
            folder = TemporaryFolder()
            self._closing.callback(folder.remove)
            resource_tracker.ensure_running()  # it would unblock the signals again
            settings = {
                "temporary-directory": folder.path,
                "distributed.nanny.pre-spawn-environ": _WORKER_ENVIRONMENT,
                "distributed.worker.profile.enabled": False,  # a tenth of the time of short runs
            }
            with hold_back_signals(), dask.config.set(settings):
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # of a page on its state, without Dask's dashboard
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                    local_directory=folder.path,
                )
                self._closing.callback(cluster.close)
            return Client(cluster, direct_to_workers=True)  # results need not pass through the scheduler
        except BaseException as error:  # also a signal
            self.close()
            if isinstance(error, (OSError, RuntimeError, TimeoutError)):
                raise FilterkitError(
                    f"--engine dask: the workers cannot be started ({_describe_cause(error)})"
                ) from None
            raise

    def submit(self, function: Callable[..., Any], *arguments: Any, priority: int = 0) -> Any:
        """Start a task that calls ``function(*arguments)`` on a worker, and return its future.

        If the function or an argument is a future, its result stands for it. Of the tasks that can run, those with a
        higher `priority` begin first, and of these the one submitted first.
        """
        return self.client.submit(function, *arguments, pure=False, priority=priority)

    def wait_for_result(self, future: Any) -> Any:
        """Wait for a future, and return its result, or raise what its task raised.

        Raise FilterkitError if all workers are lost, and for 30 seconds no new one comes.
        """
        check = self._make_check_for_lost_workers()
        while True:  # also if it is done: its worker may be lost before the result has been fetched
            with suppress(TimeoutError):
                return future.result(timeout=_PAUSE)
            check()

    def yield_as_done(self, futures: Iterable[Any]) -> Iterator[Any]:
        """Yield each future when it is done, whether its task failed or not, in any order.

        Raise FilterkitError if all workers are lost, and for 30 seconds no new one comes.
        """
        ready, check = as_completed(list(futures)), self._make_check_for_lost_workers()
        while not ready.is_empty():
            if ready.has_ready():
                yield next(ready)
                check = self._make_check_for_lost_workers()
            else:
                time.sleep(_POLL)
                check()

    def _make_check_for_lost_workers(self) -> Callable[[], None]:
        """Return a function to call again and again while waiting.

        It raises FilterkitError if there have been no workers for 30 seconds.
        """
        last_check = last_seen = time.monotonic()

        def raise_if_all_workers_are_lost() -> None:
            nonlocal last_check, last_seen
            if time.monotonic() - last_check < _PAUSE:
                return
            if self.client.nthreads():
                last_seen = time.monotonic()
            last_check = time.monotonic()
            if last_check - last_seen > _PATIENCE:
                raise FilterkitError(
                    f"all Dask workers are lost, and for {_PATIENCE:g} seconds none has come; start some and run again"
                )

        return raise_if_all_workers_are_lost

    def prepare(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Make each worker, and each that joins later, call ``function(*arguments)``."""
        name = f"filterkit-{id(self)}-{len(self._plugins)}"
        self.client.register_plugin(_Preparation(function, arguments), name)
        self._plugins.append(name)

    def _undo_preparations(self) -> None:
        with suppress(OSError):  # the cluster may be lost
            for name in self._plugins:
                self.client.unregister_worker_plugin(name)

    def close(self) -> None:
        """Close a client that was opened here, and end workers that were started here.

        In a cluster that was running before, workers that join later are not prepared any more.
        """
        self._closing.close()


@dataclass
class _Preparation(WorkerPlugin):
    """Calls a function on each worker: when the worker starts, or at once if it runs already.

    Attributes
    ----------
    function, arguments : the function, and the tuple of its arguments.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def setup(self, worker: Any) -> None:
        self.function(*self.arguments)


def _connect_to_scheduler(options: str) -> Client:
    """Return a client of a running scheduler; wait up to 30 seconds until it has a worker.

    `options` is its address, or the path of its file (``.json``). Raise FilterkitError if there is no such file, or the
    scheduler does not answer, has no workers, or needs certificates that Dask's settings do not name.
    """
    try:
        address = _read_scheduler_address(options) if options.endswith(".json") else options
        scheme, location = parse_address(address)
        if scheme in ("tcp", "tls"):  # find out at once whether somebody listens: Dask would wait
            socket.create_connection(parse_host_port(location), timeout=10).close()
        client = Client(address, timeout=10)
    except (TypeError, FileNotFoundError):  # what Dask raises without certificates
        raise FilterkitError(
            f"--engine dask: {options} needs certificates; Dask's settings distributed.comm.tls name their files"
        ) from None
    except (OSError, TimeoutError, ValueError) as error:
        raise FilterkitError(
            f"--engine dask: no scheduler answers at {options} ({_describe_cause(error)}); start one there"
        ) from None
    try:
        client.wait_for_workers(1, timeout=30)
    except TimeoutError:
        client.close()
        raise FilterkitError(f"--engine dask: the scheduler at {options} has no workers; start one") from None
    return client


def _read_scheduler_address(path: str) -> str:
    """Return the address that the file of a scheduler holds.

    Raise FilterkitError if there is no such file, OSError if it cannot be read, and ValueError if it is not that of a
    scheduler.
    """
    try:
        with open(path, "rb") as file:
            return str(json.load(file)["address"])
    except FileNotFoundError:
        raise FilterkitError(f"--engine dask: there is no scheduler file {path}; name that of a running one") from None
    except (KeyError, TypeError, RecursionError):
        raise ValueError("it has no address") from None


def _describe_cause(error: BaseException) -> str:
    """Return the message of the exception that first caused `error`, on one line; its type if it has no message."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__
