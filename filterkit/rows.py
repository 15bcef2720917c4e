"""Rows: training rows that can be mapped over any number of times, though they may come only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar

from filterkit.batch import Batch
from filterkit.engine.local import LocalEngine
from filterkit.errors import FilterkitError
from filterkit.schema import Schema
from filterkit.spool import Kept, Spool

T = TypeVar("T")


class Rows(Protocol):
    """Training rows: a schema, and a map over their batches that works in parallel and keeps the order."""

    schema: Schema

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """``function(batch)`` for every batch; `last` promises that the rows are not asked for again."""


class Mapping(Protocol):
    """A function that maps another over batches."""

    def __call__(self, function: Callable[[Batch], T]) -> Iterator[T]: ...


class SpooledRows:
    """Rows that come once, and again from a spool.

    Parameters
    ----------
    schema : of the batches.
    once : maps a function over the batches, the first time; may be called once.
    engine : maps the other times.
    memory : bytes of budget for the spool.
    """

    def __init__(
        self,
        schema: Schema,
        once: Mapping,
        engine: LocalEngine,
        memory: int,
    ) -> None:
        self.schema = schema
        self._once = once
        self._engine = engine
        self._spool: Spool | None = None
        self._memory = memory

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """See `Rows`."""
        if self._spool is not None:
            return self._engine.map(lambda kept: function(kept.load()), self._spool)
        if last:
            return self._once(function)
        return self._first(function)

    def _first(self, function: Callable[[Batch], T]) -> Iterator[T]:
        self._spool = Spool(self._memory)
        start = 0

        def keep(batch: Batch) -> tuple[Kept, T]:
            return Kept(batch), function(batch)

        for kept, result in self._once(keep):
            kept.start = start
            self._spool.append(kept)
            start += kept.rows
            yield result

    def close(self) -> None:
        """Give back the spool's memory and disk."""
        if self._spool is not None:
            self._spool.close()


class KeptRows:
    """Rows of batches that are in memory anyway."""

    def __init__(self, schema: Schema, batches: list[Batch], engine: LocalEngine) -> None:
        self.schema = schema
        self._batches = batches
        self._engine = engine

    def map(self, function: Callable[[Batch], T], last: bool = False) -> Iterator[T]:
        """See `Rows`."""
        return self._engine.map(function, self._batches)


@contextmanager
def rows_of(batches: Iterable[Batch], engine: LocalEngine, memory: int) -> Iterator[Rows]:
    """`Rows` of some batches, at least one."""
    stream = iter(batches)
    first = next(stream, None)
    if first is None:
        raise FilterkitError("there is no batch to fit on; one of no rows would do")
    if isinstance(batches, list):
        yield KeptRows(first.schema, batches, engine)
        return
    with closing(SpooledRows(first.schema, partial(engine.map, items=chain([first], stream)), engine, memory)) as rows:
        yield rows
