"""The engine of processes, which end when the process that waits for them ends."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from filterkit.engines.engine import Engine

if TYPE_CHECKING:
    from filterkit.engines.pool import Pool

T = TypeVar("T")
R = TypeVar("R")


class ProcessEngine(Engine):
    """Applies functions to items in processes of their own.

    It suits work that holds the interpreter lock, as training does. For the rows of a chain, threads are faster,
    because all batches have to go to the processes and back.

    Parameters
    ----------
    jobs : the number of processes. The first map starts them.
    """

    name = "processes"
    reads_files = True

    def __init__(self, jobs: int, options: str = "") -> None:
        super().__init__(jobs, options)
        self._preparations: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._pool: Pool | None = None

    def prepare(self, function: Callable[..., None], *args: Any) -> None:
        """Make each process call ``function(*args)`` when it starts; processes that already run do not."""
        self._preparations.append((function, args))

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Implement `Engine.map`."""
        yield from self._start().map(function, items)

    def map_as_done(self, function: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
        """Implement `Engine.map_as_done`."""
        yield from self._start().map_as_done(function, items)

    def reduce(self, merge: Callable[[list[R]], R], kept: Sequence[Any]) -> R:
        """Implement `Engine.reduce` in this process, to which results come anyway."""
        return merge(list(kept))

    def close(self) -> None:
        """Implement `Engine.close`; another map would start new processes."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _start(self) -> Pool:
        """Return the processes, which are started unless they run."""
        if self._pool is None or self._pool.closed:
            from filterkit.engines.pool import Pool

            self._pool = Pool(self.jobs, self._preparations)
        return self._pool
