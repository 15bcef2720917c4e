"""Chain: stages in order; fitting them in as few passes as possible; transforming batches.

    training rows ── first pass ──> table ──> fit stage 1 ── push ──> table ──> fit stage 2 ── …
          │                                                                          │
          └── spool ── last pass ──> transform by stage 1, 2, … ──> rows put out <───┘

As long as column stages follow each other, the table is taken once and pushed through each of them as it
is fitted. A stage of another kind ends that: for a column stage after it, a new pass takes a new table.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar

import numpy as np

from filterkit.batch import Batch, empty
from filterkit.contingency import ContingencyTable, merge, tabulate
from filterkit.engine.local import LocalEngine
from filterkit.errors import FilterkitError, StageError
from filterkit.plugins import Registry, registry
from filterkit.schema import Schema
from filterkit.spool import Spool
from filterkit.stage import ColumnStage, Fitted, FittedColumns, Stage, State

T = TypeVar("T")

DEFAULT_MEMORY = 1 << 30


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

        def keep(batch: Batch) -> tuple[Batch, T]:
            return batch, function(batch)

        for batch, result in self._once(keep):
            self._spool.append(batch.replace(start=start))
            start += len(batch)
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
def _rows_of(batches: Iterable[Batch], engine: LocalEngine, memory: int) -> Iterator[Rows]:
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


class Chain:
    """Stages in order."""

    def __init__(self, stages: Iterable[Stage]) -> None:
        self.stages = list(stages)

    @classmethod
    def parse(cls, text: str | list[str], plugins: Registry | None = None) -> Chain:
        """The chain that `text`, as on the command line, or its words describe.

        Raises
        ------
        UsageError : an unknown stage or option, with a suggestion where one is likely.
        """
        from filterkit.cli.stages import parse_stages

        words = shlex.split(text) if isinstance(text, str) else text
        return cls(parse_stages(words, plugins or registry()))

    def __str__(self) -> str:
        return shlex.join(word for stage in self.stages for word in stage.words())

    def fit(self, rows: Batch | Iterable[Batch] | Rows, *, jobs: int = 1, memory: int = DEFAULT_MEMORY) -> FittedChain:
        """Fit every stage on the training rows.

        Parameters
        ----------
        rows : one batch, several of one schema in a list or as a stream, or `Rows`. Of a stream, a quarter
            of `memory` is kept between passes and the rest in a temporary file.
        jobs : threads to use for batches.
        memory : bytes; half of it bounds the contingency tables, which beyond it are taken in strips of
            columns. The result does not depend on it.

        Raises
        ------
        StageError : a stage cannot be fitted on these rows.
        """
        if isinstance(rows, Batch):
            rows = [rows]
        if isinstance(rows, Iterable):
            with _rows_of(rows, LocalEngine(jobs), memory // 4) as made:
                return self.fit(made, memory=memory)
        fitted: list[Fitted] = []
        tables: _Tables | None = None
        schema = rows.schema
        for stage in self.stages:
            check_class(stage, schema)
            if isinstance(stage, ColumnStage):
                if tables is None or tables.supervised != stage.needs_class:
                    tables = _Tables(rows, list(fitted), schema, stage, memory // 2)
                columns = tables.fit(stage, schema)
                fitted.append(columns)
            else:
                tables = None
                fitted.append(stage.fit(_batches(rows, list(fitted)), schema))
            schema = fitted[-1].schema
        return FittedChain(self, rows.schema, fitted)


def check_class(stage: Stage, schema: Schema) -> None:
    """Raise a `StageError` if `stage` needs a nominal class and `schema` has none."""
    if not stage.needs_class:
        return
    target = schema.class_attribute
    if target is None:
        raise StageError(stage.name, "there is no class attribute, which it needs; name one with --class")
    if target.kind != "nominal":
        raise StageError(stage.name, f"it needs a nominal class, and '{target.name}' is {target.kind}; see --class")


def _batches(rows: Rows, fitted: list[Fitted]) -> Callable[[], Iterator[Batch]]:
    return lambda: rows.map(lambda batch: _apply(fitted, batch))


def _apply(fitted: list[Fitted], batch: Batch) -> Batch:
    for step in fitted:
        batch = step.transform(batch)
    return batch


class _Tables:
    """The table of the training rows as some fitted stages put them out, whole or strip by strip.

    Parameters
    ----------
    rows : the training rows.
    before : fitted stages that rows pass through before they are counted.
    schema : of the rows counted.
    stage : the first that asks.
    budget : bytes for a table.
    """

    def __init__(self, rows: Rows, before: list[Fitted], schema: Schema, stage: ColumnStage, budget: int) -> None:
        self.supervised = stage.needs_class
        self._rows = rows
        self._before = before
        self._schema = schema
        self._budget = budget
        self._through: list[FittedColumns] = []  # the tables have to go through these stages
        self._whole: ContingencyTable | None = None

    def fit(self, stage: ColumnStage, schema: Schema) -> FittedColumns:
        """Fit `stage`, then take the tables on through it."""
        states: list[State] = []
        totals = None
        for table in self._strips(stage.name):
            states.append(stage.fit_columns(table))
            totals = table
        assert totals is not None
        fitted = stage.finish(schema, states[0] if len(states) == 1 else stage.join(states), totals)
        self._through.append(fitted)
        return fitted

    def _strips(self, reader: str) -> Iterator[ContingencyTable]:
        """Tables of as many columns at a time as the budget allows, pushed through the stages so far."""
        if self._whole is not None:
            self._whole = _push(self._through, self._whole)
            self._through = []
            yield self._whole
            return
        width = len(self._schema.features)
        low = 0
        while True:
            table = self._take(low, width, reader)
            if len(table) == width:
                self._whole = table
                yield from self._strips(reader)
                return
            low += len(table)
            yield _push(self._through, table)
            if low >= width:
                return

    def _take(self, low: int, high: int, reader: str) -> ContingencyTable:
        """One pass over the rows: the table of the columns from `low` to as near `high` as the budget allows."""
        stop = [high]  # shared with the threads, which need not count what has been given up

        def count(batch: Batch) -> ContingencyTable:
            return tabulate(_apply(self._before, batch), np.arange(low, stop[0]), self.supervised, reader)

        pile = _Pile()
        for table in self._rows.map(count):
            pile.add(table.first(stop[0] - low))
            while pile.nbytes > self._budget and stop[0] - low > 1:
                stop[0] = low + (stop[0] - low) // 2
                pile.tables = [table.first(stop[0] - low) for table in pile.tables]
        if not pile.tables:
            pile.add(count(empty(self._rows.schema)))
        return merge(pile.tables)


def _push(through: list[FittedColumns], table: ContingencyTable) -> ContingencyTable:
    for fitted in through:
        table = fitted.push(table)
    return table


class _Pile:
    """Tables waiting to be merged: eight of a kind become one of the next, so that every cell takes part in
    few merges, and tables of the same words shrink early."""

    def __init__(self) -> None:
        self.tables: list[ContingencyTable] = []
        self._levels: list[int] = []

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)

    def add(self, table: ContingencyTable) -> None:
        self.tables.append(table)
        self._levels.append(0)
        while self._levels[-8:] == [self._levels[-1]] * 8:
            self.tables[-8:] = [merge(self.tables[-8:])]
            self._levels[-8:] = [self._levels[-1] + 1]


class FittedChain:
    """A fitted chain: maps batches of the training schema to batches of `schema`.

    Attributes
    ----------
    chain : the stages and their options.
    incoming : the schema fitted on.
    stages : the fitted stages.
    schema : the schema put out.
    """

    def __init__(self, chain: Chain, incoming: Schema, stages: list[Fitted]) -> None:
        self.chain = chain
        self.incoming = incoming
        self.stages = stages
        self.schema = stages[-1].schema if stages else incoming

    def transform(self, batch: Batch) -> Batch:
        """The batch that comes out for `batch`.

        Raises
        ------
        FilterkitError : the batch's attributes are not those fitted on.
        """
        if batch.schema is not self.incoming:
            if batch.schema.attributes != self.incoming.attributes:
                raise FilterkitError("the attributes of these rows are not those that the chain was fitted on")
            batch = batch.in_form(self.incoming.sparse).replace(schema=self.incoming)
        return _apply(self.stages, batch)
