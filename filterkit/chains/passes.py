"""Tables: the contingency table of training rows, whole or in strips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from filterkit.chains.rows import TrainingRows
from filterkit.counts.table import ContingencyTable, merge
from filterkit.counts.tabulate import check_sum, sum_of_weights, tabulate
from filterkit.data.batch import Batch, empty
from filterkit.data.schema import Schema
from filterkit.stages.columns import ColumnStage, FittedColumns, State, learned


class _Counted(NamedTuple):
    """What a pass over the rows finds out of a batch: its `table`, whether a row is `unlabelled`, so not counted, and
    the sum of the instance `weights` of how many `rows` of weights above 0."""

    table: ContingencyTable
    unlabelled: bool
    weights: float
    rows: int


class Tables:
    """The table of the training rows, whole or strip by strip.

    Parameters
    ----------
    rows : the training rows.
    stage : the first that asks.
    budget : bytes for a table.
    """

    def __init__(self, rows: TrainingRows, stage: ColumnStage, budget: int) -> None:
        self.supervised = stage.needs_class
        self._rows = rows
        self._budget = budget
        self._unlabelled = False  # whether a row was not counted because its class is missing
        self._through: list[FittedColumns] = []  # the tables have to go through these stages
        self._whole: ContingencyTable | None = None

    def serves(self, stage: ColumnStage) -> bool:
        """Whether the rows counted are those that `stage` is to be fitted on."""
        return self.supervised == stage.needs_class or (self.supervised and not self._unlabelled)

    def fit(self, stage: ColumnStage, schema: Schema) -> FittedColumns:
        """Fit `stage`, then take the tables on through it; a stage that `serves` says can be fitted."""
        states: list[State] = []
        totals = None
        for table in self.strips(stage.name):
            totals = table.without_classes() if self.supervised and not stage.needs_class else table
            states.append(learned(stage, totals))
        assert totals is not None
        fitted = stage.finish(schema, states[0] if len(states) == 1 else stage.join(states), totals.totals)
        self._through.append(fitted)
        return fitted

    def strips(self, reader: str) -> Iterator[ContingencyTable]:
        """Tables of as many columns at a time as the budget allows, pushed through the stages so far."""
        if self._whole is not None:
            self._whole = _push(self._through, self._whole)
            self._through = []
            yield self._whole
            return
        width = self._rows.schema.width
        low = 0
        while True:
            table = self._take(low, width, reader)
            if len(table) == width:
                self._whole = table
                yield from self.strips(reader)
                return
            low += len(table)
            yield _push(self._through, table)
            if low >= width:
                return

    def _take(self, low: int, high: int, reader: str) -> ContingencyTable:
        """One pass over the rows: the table of the columns from `low` to as near `high` as the budget allows."""
        stop = [high]  # shared with the threads, which need not count what has been given up

        def count(batch: Batch) -> _Counted:
            unlabelled = self.supervised and not batch.class_known.all()
            table = tabulate(batch, np.arange(low, stop[0]), self.supervised, reader)
            return _Counted(table, unlabelled, *sum_of_weights(batch, self.supervised))

        pile = _Pile(self._rows.jobs)
        weights, rows = 0.0, 0
        for found in self._rows.map(count):
            self._unlabelled |= found.unlabelled
            weights, rows = weights + found.weights, rows + found.rows
            pile.add(found.table.first_columns(stop[0] - low))
            while pile.nbytes > self._budget and (len(pile.tables) > 1 or stop[0] - low > 1):
                if len(pile.tables) > 1:
                    pile.merge_all()
                else:
                    stop[0] = low + (stop[0] - low) // 2
                    pile.tables = [pile.tables[0].first_columns(stop[0] - low)]
        check_sum(reader, weights, rows)
        if not pile.tables:
            pile.add(count(empty(self._rows.schema)).table)
        return merge(pile.tables, pile.jobs)


def _push(through: list[FittedColumns], table: ContingencyTable) -> ContingencyTable:
    for fitted in through:
        table = fitted.push(table)
    return table


class _Pile:
    """Tables waiting to be merged. Eight of a kind become one of the next, so that every cell takes part in few
    merges. Where that makes them much smaller, as with counts of words, few cells are new in any table: from then on
    all become one as soon as those that wait take as much memory as the first."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.tables: list[ContingencyTable] = []
        self._levels: list[int] = []
        self._alike = False

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)

    def merge_all(self) -> None:
        self.tables = [merge(self.tables, self.jobs)]
        self._levels = self._levels[:1]

    def add(self, table: ContingencyTable) -> None:
        self.tables.append(table)
        if self._alike:
            if self.nbytes > 2 * self.tables[0].nbytes:
                self.merge_all()
            return
        self._levels.append(0)
        while self._levels[-8:] == [self._levels[-1]] * 8:
            merged = merge(self.tables[-8:], self.jobs)
            self._alike = 2 * merged.nbytes < sum(each.nbytes for each in self.tables[-8:])
            self.tables[-8:] = [merged]
            self._levels[-8:] = [self._levels[-1] + 1]
