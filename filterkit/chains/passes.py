"""Fitting column stages that follow each other, in as few passes over the training rows as possible.

A pass takes the statistic that the first of the stages learns from: a contingency table, or one that takes less memory.

    rows ── pass ──> table of some columns ──> fit stage 1 ── push ──> fit stage 2 ── push ──> …

A table is pushed through each stage as soon as that is fitted, so that one pass serves all stages that learn from
tables. A table of all columns that is larger than the budget is taken in strips of columns, one pass for each strip.
Each strip goes through all stages before the next one is taken. A stage that compares columns, to choose among them,
can only be fitted after the last strip; a new pass then begins behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.rows import MappedRows, TrainingRows
from filterkit.chains.states import StatesByStrip
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.counts.weights import check_sum, sum_of_weights
from filterkit.data.batch import Batch, empty
from filterkit.data.contract import blaming
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine
from filterkit.stages.base import check_class, check_fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, State, learned

# The share of `--memory` that a statistic may take, and how many bytes working on it takes for each of its own.
SHARE = 8
_WORKING = 10


def fit_column_stages(stages: list[ColumnStage], rows: TrainingRows, memory: int) -> list[FittedColumns]:
    """Fit column stages that follow each other.

    Parameters
    ----------
    stages : at least one.
    rows : the training rows as they come to the first of them.
    memory : bytes; an eighth of it bounds a statistic. The result does not depend on it.

    Raises
    ------
    StageError : a stage cannot be fitted on these rows.
    """
    fitted: list[FittedColumns] = []
    while len(fitted) < len(stages):
        for each in _fit_from_one_statistic(stages[len(fitted) :], rows, memory):
            fitted.append(each)
            rows = MappedRows(rows, each)
    return fitted


def _fit_from_one_statistic(stages: list[ColumnStage], rows: TrainingRows, memory: int) -> list[FittedColumns]:
    """The first of `stages`, fitted, and as many more as the same statistic serves."""
    check_class(stages[0], rows.schema)
    taking = Statistics(rows, stages, memory)
    walk: _Walk | None = None
    for part in taking.parts():
        if taking.whole:
            return _fit_from_whole(stages, part, taking)
        walk = walk or _Walk(stages, rows.schema, taking)
        walk.take(part)
        del part  # it may be large, and so may the next one
    assert walk is not None
    return walk.finish()


def _fit_from_whole(stages: list[ColumnStage], statistic: Statistic, taking: Statistics) -> list[FittedColumns]:
    """As `_fit_from_one_statistic`, from the statistic of all columns."""
    fitted: list[FittedColumns] = []
    for stage in stages:
        if fitted:
            if not taking.serves(stage):
                break
            check_class(stage, fitted[-1].schema)
            assert isinstance(statistic, ContingencyTable)
            statistic = fitted[-1].push(statistic)
        view = taking.seen_by(stage, statistic)
        fitted.append(_finished(stage, statistic.schema, learned(stage, view), view.totals))
    return fitted


def _finished(stage: ColumnStage, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
    with blaming(stage):
        fitted = stage.finish(schema, state, totals)
    check_fitted(stage, fitted)
    return fitted


class _Walk:
    """The walk of parts of a statistic, which cover one range of columns after the other, through stages.

    Parameters
    ----------
    stages : that may be fitted; the walk goes as far as the statistic serves.
    schema : of all columns that come to the first of them.
    taking : where the parts come from.
    """

    def __init__(self, stages: list[ColumnStage], schema: Schema, taking: Statistics) -> None:
        count = 1
        while count < len(stages) and taking.serves(stages[count]) and not stages[count - 1].compares_columns():
            count += 1
        self._stages = stages[:count]
        self._schema = schema
        self._taking = taking
        self._states = [StatesByStrip() for _ in self._stages]
        self._totals: list[np.ndarray] = []
        self._widths = [0] * count  # of what has come to each stage

    def take(self, part: Statistic, number: int = 0) -> None:
        """Fit the stages from that with this number on, on the next columns that come to it."""
        stage = self._stages[number]
        check_class(stage, part.schema)
        part.first = self._widths[number]
        self._widths[number] += len(part)
        is_last = number + 1 == len(self._stages)
        cuts = self._taking.cuts(part, [stage]) if number else []  # the first stage gets parts of the right size
        for begin, end in cuts or [(0, len(part))]:
            some = part.some(begin, end) if len(cuts) > 1 else part
            some.first = part.first
            if len(cuts) > 1 and not is_last:
                some = some.alone()
            view = self._taking.seen_by(stage, some)
            state = learned(stage, view)
            self._states[number].add(state)
            if len(self._totals) <= number:
                self._totals.append(view.totals)
            if not is_last:
                assert isinstance(some, ContingencyTable)
                self.take(_finished(stage, some.schema, state, view.totals).push(some), number + 1)

    def finish(self) -> list[FittedColumns]:
        """The stages, fitted on all columns."""
        fitted: list[FittedColumns] = []
        schema = self._schema
        for stage, states, totals in zip(self._stages, self._states, self._totals):
            fitted.append(_finished(stage, schema, states.joined(), totals))
            schema = fitted[-1].schema
        return fitted


class Statistics:
    """The statistic of the training rows that stages learn from, in parts that the budget allows.

    Parameters
    ----------
    rows : the training rows.
    stages : that may be fitted on it, one after the other; the first decides what is taken.
    memory : bytes, of which a statistic takes an eighth.
    kind : the statistic, if not that from which the first stage learns.

    Attributes
    ----------
    whole : whether the part that came last covers all columns.
    """

    def __init__(
        self, rows: TrainingRows, stages: list[ColumnStage], memory: int, kind: type[Statistic] | None = None
    ) -> None:
        stage = stages[0]
        self.whole = False
        self._stages = stages
        self._rows = rows
        self._kind = kind or stage.learns_from
        self._supervised = stage.needs_class
        self._reader = stage.name
        self._budget = memory // SHARE
        self._unlabelled = False  # whether a row was not counted because its class is missing
        self._weighted = False  # whether a row that counts has another weight than 1

    def serves(self, stage: ColumnStage) -> bool:
        """Whether a later stage can be fitted on what is taken, pushed through the stages before it."""
        if not issubclass(self._kind, ContingencyTable):
            return False
        same_rows = self._supervised == stage.needs_class or (self._supervised and not self._unlabelled)
        if stage.learns_from is ContingencyTable:
            return same_rows
        return same_rows and not self._weighted and not stage.needs_class and stage.learns_from.from_tables

    def seen_by(self, stage: ColumnStage, statistic: Statistic) -> Statistic:
        """What `stage`, which is served, learns from."""
        if not isinstance(statistic, ContingencyTable):
            return statistic
        table = statistic.without_classes() if self._supervised and not stage.needs_class else statistic
        return table if stage.learns_from is ContingencyTable else stage.learns_from.of_table(table)

    def parts(self) -> Iterator[Statistic]:
        """Statistics of one range of columns after the other, each small enough to be worked on.

        The schema of each is that of its columns alone.
        """
        width = self._rows.schema.width
        low = 0
        while True:
            strip = self._pass(low, width)
            cuts = self.cuts(strip, self._stages)
            self.whole = len(strip) == width and len(cuts) < 2
            low += len(strip)
            if self.whole:
                yield strip
            else:
                for begin, end in cuts:
                    yield strip.some(begin, end).alone()
            if low >= width:
                return
            del strip

    def cuts(self, statistic: Statistic, stages: list[ColumnStage]) -> list[tuple[int, int]]:
        """Ranges of columns of a statistic, each small enough for `stages` to work on."""
        limit = max(1, self._budget * 2 // _WORKING)
        count = max(1, -(-max(stage.working_bytes(statistic) for stage in stages) // limit))
        return _cuts(statistic, min(count, len(statistic)))

    def _pass(self, low: int, high: int) -> Statistic:
        """One pass over the rows: the statistic of the columns from `low` to as near `high` as the budget allows."""
        engine = self._rows.engine
        count = _Count(self._kind, low, high, self._supervised, self._reader)
        waiting = _Waiting(engine)
        limit = self._budget
        weights, rows = 0.0, 0
        for found in self._rows.map(_Take(engine.keep(count), count)):
            self._unlabelled |= found.unlabelled
            self._weighted |= found.weighted
            weights, rows = weights + found.weights, rows + found.rows
            waiting.add(found.statistic, found.columns)
            if waiting.nbytes > limit:
                waiting.merge_all()
                while waiting.nbytes > self._budget // 2 and count.high - low > 1:
                    # Only this process changes it. Work that began before covers columns that are dropped above.
                    count.high = low + (count.high - low) // 2
                    waiting.narrow(count.high - low)
                limit = max(self._budget, 2 * waiting.nbytes)  # a large column is not merged with every batch
        check_sum(self._reader, weights, rows)
        if not waiting.statistics:
            return count(empty(self._rows.schema))
        waiting.merge_all()
        statistic: Statistic = engine.fetch(waiting.statistics[0])
        return statistic


def _cuts(statistic: Statistic, count: int) -> list[tuple[int, int]]:
    """`count` ranges of columns, which hold about the same number of bytes; fewer if a column is larger than that."""
    wanted = np.arange(1, count) / count
    if isinstance(statistic, ContingencyTable):
        upto = statistic.indptr + np.arange(len(statistic) + 1)
        cuts = np.searchsorted(upto, wanted * int(upto[-1])).tolist()
    else:
        cuts = (wanted * len(statistic)).astype(np.int64).tolist()
    bounds = sorted({0, *cuts, len(statistic)})
    return list(pairwise(bounds))


class _Taken(NamedTuple):
    """What a pass over the rows finds in one batch.

    Attributes
    ----------
    statistic : of the batch, kept by the engine.
    columns : how many columns it covers.
    unlabelled : whether a row was not counted because its class is missing.
    weighted : whether a row has another weight than 1.
    weights : the sum of the instance weights.
    rows : the number of rows with a weight above 0.
    """

    statistic: Any
    columns: int
    unlabelled: bool
    weighted: bool
    weights: float
    rows: int


class _Count:
    """Takes the statistic of a batch; parameters as for `Statistic.of`, and the range of columns to cover."""

    def __init__(self, statistic: type[Statistic], low: int, high: int, supervised: bool, reader: str) -> None:
        self.statistic = statistic
        self.low = low
        self.high = high
        self.supervised = supervised
        self.reader = reader

    def __call__(self, batch: Batch) -> Statistic:
        return self.statistic.of(batch, np.arange(self.low, self.high), self.supervised, self.reader)


class _Take:
    """The work of a pass on one batch: `keeping` counts as `count` does, and keeps the statistic."""

    def __init__(self, keeping: Callable[[Batch], Any], count: _Count) -> None:
        self.keeping, self.count = keeping, count

    def __call__(self, batch: Batch) -> _Taken:
        supervised, columns = self.count.supervised, self.count.high - self.count.low
        return _Taken(
            self.keeping(batch),
            columns,
            supervised and not batch.class_known.all(),
            batch.weights is not None and bool((batch.weights != 1).any()),
            *sum_of_weights(batch, supervised),
        )


class _Waiting:
    """Statistics that an engine keeps, waiting to be merged.

    Eight of one level become one of the next level, so that every cell of a table takes part in few merges. If such a
    merge shows that they share most cells, as with counts of words, all are merged into the first one whenever the
    others take as much memory as it does.
    """

    def __init__(self, engine: Engine) -> None:
        self.statistics: list[Any] = []
        self._engine = engine
        self._width: int | None = None  # how many columns are wanted; None for all
        self._levels: list[int] = []
        self._share_cells = False

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self.statistics)

    def narrow(self, width: int) -> None:
        """Keep only the first columns of all statistics, now and later."""
        self._width = width
        self.statistics = [self._engine.reduce(partial(_first_columns, width), [each]) for each in self.statistics]

    def merge_all(self) -> None:
        self.statistics = [self._merged(self.statistics)]
        self._levels = self._levels[:1]

    def add(self, statistic: Any, columns: int) -> None:
        """Let a statistic of so many columns wait."""
        if self._width is not None and columns > self._width:
            statistic = self._engine.reduce(partial(_first_columns, self._width), [statistic])
        self.statistics.append(statistic)
        if self._share_cells:
            if self.nbytes > 2 * self.statistics[0].nbytes:
                self.merge_all()
            return
        self._levels.append(0)
        while self._levels[-8:] == [self._levels[-1]] * 8:
            merged = self._merged(self.statistics[-8:])
            self._share_cells = 2 * merged.nbytes < sum(each.nbytes for each in self.statistics[-8:])
            self.statistics[-8:] = [merged]
            self._levels[-8:] = [self._levels[-1] + 1]

    def _merged(self, several: list[Any]) -> Any:
        return self._engine.reduce(partial(_merge, self._engine.jobs), several)


def _merge(jobs: int, several: list[Statistic]) -> Statistic:
    return type(several[0]).merge(several, jobs)


def _first_columns(width: int, statistics: list[Statistic]) -> Statistic:
    (statistic,) = statistics
    return statistic.first_columns(width)
