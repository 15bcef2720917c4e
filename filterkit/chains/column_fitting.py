"""Fitting column stages that follow each other, in as few passes over the training rows as possible.

    rows ── pass ──> table ──> fit stage 1 ── push ──> table ──> fit stage 2 ── push ──> …

A pass takes the statistic that a stage learns from. A contingency table that holds all columns is *pushed* through the
stage once that is fitted, and serves the stages after it, so that one pass serves them all. A statistic that outgrows
its share of `--memory` is taken in *strips*: columns are cut away until the rest fits, and the next pass goes on from
there. Strips are not pushed, so each stage then takes passes of its own.

Statistics stay where the engine has taken them. What is learned from them comes to this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from filterkit.chains.budget import statistic_share
from filterkit.chains.gathering import Gathering, Passes, gather
from filterkit.chains.rows import Rows
from filterkit.chains.scratch import Scratch
from filterkit.chains.states import States
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, side_by_side
from filterkit.counts.weights import check_sum, sum_of_weights
from filterkit.data.batch import Batch, empty
from filterkit.data.contract import blaming
from filterkit.data.schema import Schema
from filterkit.engines.engine import Engine, mapped
from filterkit.stages.base import check_class, check_fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, State, learned

T = TypeVar("T")

_WORKING = 5  # bytes that a stage works with for each byte of a statistic that it gets at once, besides the statistic
_FEW = 8  # statistics of batches that wait before they are merged, unless they are large


def fit_column_stages(stages: Sequence[ColumnStage], rows: Rows, memory: int) -> list[FittedColumns]:
    """Fit column stages that follow each other.

    Parameters
    ----------
    stages : at least one.
    rows : the training rows as they come to the first of them.
    memory : bytes, as for `Chain.fit`. The result does not depend on it.

    Raises
    ------
    StageError : a stage cannot be fitted on these rows.
    """
    (fitted,) = gather(fitting_column_stages(stages, rows, memory))
    return list(fitted)


def fitting_column_stages(stages: Sequence[ColumnStage], rows: Rows, memory: int) -> Passes[list[FittedColumns]]:
    """As `fit_column_stages`, in passes that may be shared."""
    fitted: list[FittedColumns] = []
    counted: Counted | None = None
    for stage, following in zip(stages, [*stages[1:], None]):
        check_class(stage, rows.schema)
        learning = _Learning(stage)
        if counted is None:
            counted = yield from taking_strips(Counting.of_stage(stage), stage, rows, memory, learning.add)
        else:
            learning.add(counted)
        made = learning.finish(rows.schema)
        fitted.append(made)
        rows = rows.through(made)
        counted = None if counted is None else counted.pushed_through(made, following)
    return fitted


class _Learning:
    """A stage that learns from one range of columns after the other."""

    def __init__(self, stage: ColumnStage) -> None:
        self._stage = stage
        self._states = States(Scratch())
        self._totals = np.empty(0)

    def add(self, counted: Counted) -> None:
        """Learn from the statistic of the next columns."""
        for state, totals in counted.learn(_Learn(self._stage, counted.counting)):
            self._states.add(state)
            self._totals = totals

    def finish(self, schema: Schema) -> FittedColumns:
        """The stage, fitted on all columns."""
        with blaming(self._stage):
            fitted = self._stage.finish(schema, self._states.joined(), self._totals)
        check_fitted(self._stage, fitted)
        return fitted


def taking_strips(
    counting: Counting, stage: ColumnStage, rows: Rows, memory: int, use: Callable[[Counted], None]
) -> Passes[Counted | None]:
    """Take a statistic of all columns, in as many strips as the budget makes necessary.

    Parameters
    ----------
    counting : what to take.
    stage : learns from it.
    rows : the training rows as they come to the stage.
    memory : bytes, as for `Chain.fit`.
    use : called with the statistic of one range of columns after the other.

    Returns
    -------
    The statistic, if it has been taken in one strip; None if there were several.
    """
    low = 0
    high = width = rows.schema.width
    while True:
        strip = _Strip(counting, stage, rows, low, high, statistic_share(memory))
        yield [strip.gathering()]
        counted = strip.finish()
        use(counted)
        if counted.has_all_columns:
            return counted
        counted.release()
        if counted.high == width:
            return None
        low, high = counted.high, min(counted.high + strip.n_columns_that_fit(), width)


class Counting(NamedTuple):
    """What a pass takes of the rows: arguments of `Statistic.of`.

    Attributes
    ----------
    kind : the statistic.
    supervised : whether only rows of a known class count, by class.
    reader : the name of the stage that needs it, for messages.
    """

    kind: type[Statistic]
    supervised: bool
    reader: str

    @classmethod
    def of_stage(cls, stage: ColumnStage) -> Counting:
        """What a stage needs to learn."""
        return cls(stage.learns_from, stage.needs_class, stage.name)

    def serves(self, stage: ColumnStage, unlabelled: bool = False, weighted: bool = False) -> bool:
        """Whether a later stage can learn from it, once it is pushed through the stages before.

        `unlabelled` says whether a row has no class, and `weighted` whether one has another weight than 1.
        """
        if not issubclass(self.kind, ContingencyTable):
            return False
        same_rows = self.supervised == stage.needs_class or (self.supervised and not unlabelled)
        if stage.learns_from is ContingencyTable:
            return same_rows
        return same_rows and not weighted and not stage.needs_class and stage.learns_from.from_tables

    def view_for(self, stage: ColumnStage, statistic: Statistic) -> Statistic:
        """What a stage that is served learns from."""
        if not isinstance(statistic, ContingencyTable):
            return statistic
        table = statistic.without_classes() if self.supervised and not stage.needs_class else statistic
        return table if stage.learns_from is ContingencyTable else stage.learns_from.of_table(table)


class Counted(NamedTuple):
    """A statistic of a range of columns over all training rows.

    Attributes
    ----------
    counting : what was taken.
    stage : learns from it next.
    statistic : kept by the engine.
    engine : keeps it.
    low, high : the range of columns.
    width : how many columns there are.
    unlabelled, weighted : see `Counting.serves`.
    budget : bytes that a statistic may take.
    """

    counting: Counting
    stage: ColumnStage
    statistic: Any
    engine: Engine
    low: int
    high: int
    width: int
    unlabelled: bool
    weighted: bool
    budget: int

    @property
    def has_all_columns(self) -> bool:
        return self.low == 0 and self.high == self.width

    def learn(self, learn: Callable[[tuple[Any, int, int]], T]) -> Iterator[T]:
        """``learn((statistic, begin, end))`` for one range of columns after the other, each small enough to work on."""
        (cuts,) = mapped(self.engine, partial(_cut_for, self.stage, self.budget), [self.statistic])
        for begin, end in cuts:
            yield from mapped(self.engine, learn, [(self.statistic, begin, end)])

    def pushed_through(self, fitted: FittedColumns, following: ColumnStage | None) -> Counted | None:
        """The statistic of the rows that come out of a fitted stage.

        None if it does not serve the following stage, or takes too much memory. This one is used up.
        """
        pushed = None
        if following is not None and self.counting.serves(following, self.unlabelled, self.weighted):
            push = self.engine.keep(_Push(fitted, self.budget))
            (pushed,) = mapped(self.engine, push, [self.statistic])
        self.release()
        if following is None or pushed is None:
            return None
        width = fitted.schema.width
        counted = self._replace(stage=following, statistic=pushed, high=width, width=width)
        if pushed.nbytes > self.budget:
            counted.release()
            return None
        return counted

    def release(self) -> None:
        """Give back what the engine keeps."""
        self.engine.release(self.statistic)


class _Strip:
    """Takes the statistic of a range of columns in one pass, and cuts columns away while it takes too much memory.

    The statistics of batches wait until together they take as much memory as what has been merged, so that each cell of
    a table takes part in few merges.
    """

    def __init__(self, counting: Counting, stage: ColumnStage, rows: Rows, low: int, high: int, budget: int) -> None:
        self._counting = counting
        self._stage = stage
        self._rows = rows
        self._low = low
        self._high = high
        self._budget = budget
        self._count = _Count(counting, low, high)
        self._merged: Any = None
        self._waiting: list[Any] = []
        self._unlabelled = self._weighted = False
        self._weights, self._n_rows = 0.0, 0

    def gathering(self) -> Gathering:
        """What the pass has to find out."""
        return Gathering(self._rows, _Take(self._rows.engine.keep(self._count), self._counting.supervised), self._add)

    def _add(self, taken: _Taken) -> None:
        self._unlabelled |= taken.unlabelled
        self._weighted |= taken.weighted
        self._weights, self._n_rows = self._weights + taken.weights, self._n_rows + taken.n_rows
        self._waiting.append(taken.statistic)
        n_bytes = sum(each.nbytes for each in self._waiting)
        is_much = len(self._waiting) >= _FEW or n_bytes > self._budget // 2
        if is_much and (self._merged is None or n_bytes >= self._merged.nbytes):
            self._merge()

    def _merge(self) -> None:
        self._waiting = [each for each in (self._merged, *self._waiting) if each is not None]
        self._reduce_waiting()
        while self._merged.nbytes > self._budget // 2 and self._high - self._low > 1:
            self._high = (self._low + self._high) // 2
            self._waiting = [self._merged]
            self._reduce_waiting()

    def _reduce_waiting(self) -> None:
        engine = self._rows.engine
        merge = partial(_merge_columns, self._high - self._low, engine.jobs)
        self._merged, self._waiting = engine.reduce(merge, self._waiting), []

    def finish(self) -> Counted:
        """The statistic, after the pass."""
        check_sum(self._counting.reader, self._weights, self._n_rows)
        engine = self._rows.engine
        if self._merged is None and not self._waiting:
            self._waiting = list(mapped(engine, engine.keep(self._count), [empty(self._rows.schema)]))
        if self._waiting:
            self._merge()
        return Counted(
            self._counting,
            self._stage,
            self._merged,
            engine,
            self._low,
            self._high,
            self._rows.schema.width,
            self._unlabelled,
            self._weighted,
            self._budget,
        )

    def n_columns_that_fit(self) -> int:
        """How many columns probably fit, if they are like those of this strip; at least two, to find out."""
        n_bytes: int = max(self._merged.nbytes, 1)
        return max(2, (self._high - self._low) * self._budget * 7 // 16 // n_bytes)


# What the engine calls: each of these can be pickled, and gets all that it needs.


class _Taken(NamedTuple):
    """What a pass takes of one batch; see `Counted` and `sum_of_weights`."""

    statistic: Any
    unlabelled: bool
    weighted: bool
    weights: float
    n_rows: int


@dataclass(frozen=True)
class _Count:
    """Takes the statistic of the columns of a batch from `low` up to, but not including, `high`."""

    counting: Counting
    low: int
    high: int

    def __call__(self, batch: Batch) -> Statistic:
        counting = self.counting
        return counting.kind.of(batch, np.arange(self.low, self.high), counting.supervised, counting.reader)


@dataclass(frozen=True)
class _Take:
    """Takes the statistic of a batch, which the engine keeps, and looks at the classes and weights."""

    count: Callable[[Batch], Any]
    supervised: bool

    def __call__(self, batch: Batch) -> _Taken:
        return _Taken(
            self.count(batch),
            self.supervised and not batch.class_known.all(),
            batch.weights is not None and bool((batch.weights != 1).any()),
            *sum_of_weights(batch, self.supervised),
        )


def _merge_columns(n_columns: int, jobs: int, several: list[Statistic]) -> Statistic:
    """One statistic of several, of the first columns only."""
    return type(several[0]).merge([each.first_columns(n_columns) for each in several], jobs)


@dataclass(frozen=True)
class _Learn:
    """Learns from a range of columns: the state, and the totals of `ColumnStage.finish`."""

    stage: ColumnStage
    counting: Counting

    def __call__(self, item: tuple[Statistic, int, int]) -> tuple[State, np.ndarray]:
        view = self.counting.view_for(self.stage, columns_alone(*item))
        return learned(self.stage, view), view.totals


@dataclass(frozen=True)
class _Push:
    """Pushes a table of all columns through a fitted stage, one range of columns after the other."""

    fitted: FittedColumns
    budget: int

    def __call__(self, table: ContingencyTable) -> ContingencyTable:
        cuts = _cut_for(self.fitted.stage, self.budget, table)
        return side_by_side([self.fitted.push(table.some(begin, end)) for begin, end in cuts])


def columns_alone(statistic: T, begin: int, end: int) -> T:
    """The statistic of a range of columns, as though there were no others."""
    assert isinstance(statistic, Statistic)
    if end - begin == statistic.schema.width:
        return statistic
    return statistic.some(begin, end).alone()


def _cut_for(stage: ColumnStage, budget: int, statistic: Statistic) -> list[tuple[int, int]]:
    """Ranges of columns that a stage can work on within the budget; all have about the same number of bytes."""
    count = max(1, -(-stage.working_bytes(statistic) * _WORKING // max(budget, 1)))
    wanted = np.arange(1, min(count, len(statistic))) / min(count, max(len(statistic), 1))
    if isinstance(statistic, ContingencyTable):
        upto = statistic.indptr + np.arange(len(statistic) + 1)
        cuts = np.searchsorted(upto, wanted * int(upto[-1])).tolist()
    else:
        cuts = (wanted * len(statistic)).astype(np.int64).tolist()
    return list(pairwise(sorted({0, *cuts, len(statistic)}))) or [(0, 0)]
