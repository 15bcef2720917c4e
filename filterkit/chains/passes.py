"""Passes over the training rows that count them into a contingency table, whole or in strips of columns."""

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
    """What a pass over the rows finds in one batch.

    Attributes
    ----------
    table : its contingency table.
    unlabelled : whether a row was not counted because its class is missing.
    weights : the sum of the instance weights.
    rows : the number of rows with a weight above 0.
    """

    table: ContingencyTable
    unlabelled: bool
    weights: float
    rows: int


class Tables:
    """The contingency table of the training rows, whole or strip by strip, as it is after the stages fitted so far.

    Parameters
    ----------
    rows : the training rows.
    stage : the first stage to be fitted; it decides whether classes are counted.
    budget : bytes of memory for a table.
    """

    def __init__(self, rows: TrainingRows, stage: ColumnStage, budget: int) -> None:
        self.supervised = stage.needs_class
        self._rows = rows
        self._budget = budget
        self._unlabelled = False  # whether a row was not counted because its class is missing
        self._through: list[FittedColumns] = []  # fitted stages through which the table still has to be pushed
        self._whole: ContingencyTable | None = None

    def serves(self, stage: ColumnStage) -> bool:
        """Whether `stage` can be fitted on the rows that are counted."""
        return self.supervised == stage.needs_class or (self.supervised and not self._unlabelled)

    def fit(self, stage: ColumnStage, schema: Schema) -> FittedColumns:
        """Fit `stage`, for which `serves` must hold; later tables are pushed through it."""
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
        """Tables of as many columns at a time as the budget allows, pushed through the stages fitted so far.

        Parameters
        ----------
        reader : the name of the stage that needs them, for messages.
        """
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
        stop = [high]  # shared with the threads, so that they stop counting columns that no longer fit

        def count(batch: Batch) -> _Counted:
            unlabelled = self.supervised and not batch.class_known.all()
            table = tabulate(batch, np.arange(low, stop[0]), self.supervised, reader)
            return _Counted(table, unlabelled, *sum_of_weights(batch, self.supervised))

        waiting = _WaitingTables(self._rows.jobs)
        weights, rows = 0.0, 0
        for found in self._rows.map(count):
            self._unlabelled |= found.unlabelled
            weights, rows = weights + found.weights, rows + found.rows
            waiting.add(found.table.first_columns(stop[0] - low))
            while waiting.nbytes > self._budget and (len(waiting.tables) > 1 or stop[0] - low > 1):
                if len(waiting.tables) > 1:
                    waiting.merge_all()
                else:
                    stop[0] = low + (stop[0] - low) // 2
                    waiting.tables = [waiting.tables[0].first_columns(stop[0] - low)]
        check_sum(reader, weights, rows)
        if not waiting.tables:
            waiting.add(count(empty(self._rows.schema)).table)
        return merge(waiting.tables, waiting.jobs)


def _push(through: list[FittedColumns], table: ContingencyTable) -> ContingencyTable:
    for fitted in through:
        table = fitted.push(table)
    return table


class _WaitingTables:
    """Tables waiting to be merged.

    Eight tables of one level become one of the next level, so that every cell takes part in few merges. If such a merge
    shows that the tables share most cells, as with counts of words, all tables are merged into the first one whenever
    the others take as much memory as it does.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.tables: list[ContingencyTable] = []
        self._levels: list[int] = []
        self._share_cells = False

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self.tables)

    def merge_all(self) -> None:
        self.tables = [merge(self.tables, self.jobs)]
        self._levels = self._levels[:1]

    def add(self, table: ContingencyTable) -> None:
        self.tables.append(table)
        if self._share_cells:
            if self.nbytes > 2 * self.tables[0].nbytes:
                self.merge_all()
            return
        self._levels.append(0)
        while self._levels[-8:] == [self._levels[-1]] * 8:
            merged = merge(self.tables[-8:], self.jobs)
            self._share_cells = 2 * merged.nbytes < sum(each.nbytes for each in self.tables[-8:])
            self.tables[-8:] = [merged]
            self._levels[-8:] = [self._levels[-1] + 1]
