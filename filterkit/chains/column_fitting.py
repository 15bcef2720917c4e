"""Fit column stages that follow each other, in as few passes over the training rows as possible.

    rows ── pass ──> strip ──> fit stage 1 ── push ──> strip ──> fit stage 2 ── push ──> …

A *strip* is the statistic that a stage learns from, of a range of columns, taken in one pass. If it outgrows its share
of `--memory`, columns are cut away until the rest fits, and the next pass goes on from there. A contingency table that
holds all columns is *pushed* through the stage once that is fitted, and serves the next stage, so that one pass serves
several. Narrower strips are not pushed, so each stage then takes passes of its own.

Statistics stay where the engine has computed them. What is learned from them comes to this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.chains.budget import statistic_share
from filterkit.chains.queries import Passes, Query, merge_records
from filterkit.chains.rows import Rows
from filterkit.counts.numeric_class import NumericClass, count_class
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, join_columns
from filterkit.counts.weights import check_sum, sum_weights
from filterkit.data.batch import Batch, empty
from filterkit.data.contract import blame_errors
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.engines.engine import map_checked
from filterkit.files.scratch import Scratch, Stored
from filterkit.stages.base import State, check_class, check_fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, learn_state

T = TypeVar("T")

# What a stage learns from a range of columns: one state or several, and the totals of `ColumnStage.finish`.
Learned = tuple[list[State], np.ndarray]

_WORKING = 5  # bytes that a stage works with for each byte of a statistic that it gets at once, besides the statistic
_FEW = 8  # statistics of batches that wait before they are merged, unless they are large


def fit_in_passes(stages: Sequence[ColumnStage], rows: Rows, memory: int) -> Passes[list[FittedColumns]]:
    """Fit column stages that follow each other: yield the queries of each pass, and return the fitted stages, in order.

    `run_passes` answers the queries.

    Parameters
    ----------
    stages : at least one.
    rows : the training rows as they come to the first of them.
    memory : bytes, as for `Chain.fit`. The result does not depend on it.

    Raises
    ------
    StageError : a stage cannot be fitted on these rows.
    """
    all_fitted: list[FittedColumns] = []
    strip: Strip | None = None
    for stage, following in zip(stages, [*stages[1:], None]):
        check_class(stage, rows.schema)
        if strip is None:
            values = (yield from count_numeric_class(rows, stage.name)) if stage.needs_class else None
            count = None if values is None else NumericClass.of(values).count_rows
            counting = Counting(stage.learns_from, stage.needs_class, stage.name, count)
            learning = Learning(partial(_learn_columns, stage, counting))
            strip = yield from learn_in_strips(counting, stage, rows, memory, learning)
        else:
            learning = Learning(partial(_learn_columns, stage, strip.counting))
            strip.let_learn(learning)
        fitted, _ = learning.make_fitted(stage, rows.schema)
        all_fitted.append(fitted)
        rows = rows.transform_by(fitted)
        strip = None if strip is None else strip.push_through(fitted, following)
    return all_fitted


def learn_in_strips(
    counting: Counting, stage: ColumnStage, rows: Rows, memory: int, learning: Learning
) -> Passes[Strip | None]:
    """Take a statistic of all columns, one strip in each pass, and let a stage learn from each strip.

    The queries of each pass are yielded, for `run_passes` to answer.

    Parameters
    ----------
    counting : which statistic to take.
    stage : learns from it.
    rows : the training rows as they come to the stage.
    memory : bytes, as for `Chain.fit`; they bound a strip.
    learning : collects what the stage learns.

    Returns
    -------
    The strip, if it has all columns; None if there were several.
    """
    low = 0
    high = width = rows.schema.width
    while True:
        strip = Strip(counting, stage, rows, low, high, statistic_share(memory))
        yield from strip.take_statistic()
        strip.let_learn(learning)
        if strip.high == width:
            return strip if strip.low == 0 else None
        low, high = strip.high, min(strip.high + strip.estimate_columns_that_fit(), width)


class Counting(NamedTuple):
    """Says which statistic a pass takes of the rows.

    Attributes
    ----------
    kind : the class of the statistic.
    supervised : whether to count only rows of a known class, each class by itself.
    reader : the name of the stage that needs the statistic, for messages.
    count_rows : takes it from a batch, as `Statistic.of` does, but by other classes than those of the rows; for a
        numeric class, and for folds. None: `Statistic.of` itself takes it.
    """

    kind: type[Statistic]
    supervised: bool
    reader: str
    count_rows: Callable[[Batch, np.ndarray, str], Statistic] | None = None

    def can_serve(self, stage: ColumnStage, n_unlabelled: float = 0, n_weighted: float = 0) -> bool:
        """Return whether a later stage can learn from this statistic, pushed through the stages before that stage.

        `n_unlabelled` is the number of rows without a class, and `n_weighted` of those with another weight than 1.
        """
        if not issubclass(self.kind, ContingencyTable):
            return False
        same_rows = self.supervised == stage.needs_class or (self.supervised and not n_unlabelled)
        if stage.learns_from is ContingencyTable:
            return same_rows
        return same_rows and not n_weighted and not stage.needs_class and stage.learns_from.from_tables

    def make_statistic_for(self, stage: ColumnStage, statistic: Statistic) -> Statistic:
        """Make the statistic that a stage learns from out of one that `can_serve` it, and return it."""
        if not isinstance(statistic, ContingencyTable):
            return statistic
        table = statistic.without_classes() if self.supervised and not stage.needs_class else statistic
        return table if stage.learns_from is ContingencyTable else stage.learns_from.of_table(table)


def count_numeric_class(rows: Rows, reader: str) -> Passes[ContingencyTable | None]:
    """Count the values of a numeric class in one pass, as `count_class` does; return None without a numeric class.

    The query of the pass is yielded, for `run_passes` to answer.
    """
    target = rows.schema.class_attribute
    if target is None or target.kind != "numeric":
        return None
    return (yield from merge_records(rows, partial(count_class, reader)))


class Strip:
    """Takes the statistic of a range of columns over all training rows, in one pass.

    If it takes too much memory, the last columns are cut away. The statistics of batches wait until together they take
    as much memory as what has been merged, so that each cell of a table takes part in few merges.

    Parameters
    ----------
    counting : which statistic to take.
    stage : learns from it next.
    rows : the training rows as they come to the stage.
    low, high : the range of columns; the pass may lower `high`.
    budget : bytes that the statistic may take.
    """

    def __init__(self, counting: Counting, stage: ColumnStage, rows: Rows, low: int, high: int, budget: int) -> None:
        self.counting = counting
        self.low = low
        self.high = high
        self._stage = stage
        self._rows = rows
        self._engine = rows.engine
        self._budget = budget
        self._held: list[Any] = []  # by the engine: statistics of batches, of which those at the beginning are merged
        self._counts = np.zeros(4)  # see `_take_statistic_and_counts`

    def take_statistic(self) -> Passes[None]:
        """Yield the query of the pass, and merge the statistics of all batches; without a batch, take that of no rows.

        Raises
        ------
        StageError : the sum of all weights cannot be counted exactly.
        """
        take = self._engine.keep(partial(_take_statistic, self.counting, self.low, self.high))
        yield [Query(self._rows, partial(_take_statistic_and_counts, take, self.counting.supervised), self._add)]
        weights, n_rows = self._counts[:2].tolist()
        check_sum(self.counting.reader, weights, n_rows)
        if not self._held:
            self._held = list(map_checked(self._engine, take, [empty(self._rows.schema)]))
        self._merge()

    def _add(self, result: tuple[Any, np.ndarray]) -> None:
        """Add the statistic and the counts of a batch; merge the statistics that wait if they are many or large."""
        statistic, counts = result
        self._counts += counts
        self._held.append(statistic)
        first, *waiting = (each.nbytes for each in self._held)
        is_much = len(waiting) >= _FEW or first + sum(waiting) > self._budget
        if is_much and (sum(waiting) >= first or not waiting):
            self._merge()

    def _merge(self) -> None:
        """Merge all statistics into one, and halve its columns until it takes half the budget, or only one is left."""
        while True:
            merge = partial(_merge_columns, self.high - self.low, self._engine.jobs)
            self._held = [self._engine.reduce(merge, self._held)]
            if self._held[0].nbytes <= self._budget // 2 or self.high - self.low <= 1:
                return
            self.high = (self.low + self.high) // 2

    def estimate_columns_that_fit(self) -> int:
        """Estimate how many further columns fit into the budget, if they are like those of this strip; at least two."""
        n_bytes: int = self._held[0].nbytes
        return max(2, (self.high - self.low) * self._budget * 7 // 16 // max(n_bytes, 1))

    def let_learn(self, learning: Learning) -> None:
        """Let the stage learn from one range of columns after the other, each small enough to work on in the budget."""
        (cuts,) = map_checked(self._engine, partial(_split_columns, self._stage, self._budget), self._held)
        for begin, end in cuts:
            learning.add(map_checked(self._engine, learning.learn, [(self._held[0], begin, end)]))

    def push_through(self, fitted: FittedColumns, following: ColumnStage | None) -> Strip | None:
        """Return the strip of the rows that come out of a fitted stage, computed without reading rows.

        Returns None if there is no following stage, if that cannot learn from the strip, or if the strip takes too much
        memory.
        """
        if following is None or not self.counting.can_serve(following, *self._counts[2:]):
            return None
        pushed = copy(self)
        push = self._engine.keep(partial(_push_table, fitted, self._budget))
        pushed._held = list(map_checked(self._engine, push, self._held))
        pushed._stage, pushed.high = following, fitted.schema.width
        return pushed if pushed._held[0].nbytes <= self._budget else None


class Learning:
    """Collects what a stage learns from one range of columns after the other, and makes the fitted stage of that.

    The states of a single range stay in memory. Those of several wait in a scratch file, because joining them in memory
    would take them twice. Ragged arrays, which may be large, are mapped from there.

    Parameters
    ----------
    learn : a function for the engine, which learns from ``(statistic, first column, stop)``.
    """

    def __init__(self, learn: Callable[[tuple[Any, int, int]], Learned]) -> None:
        self.learn = learn
        self._totals = np.empty(0)
        self._held: list[list[State]] = []  # of the first range, until there is another
        self._stored: list[list[dict[str, list[Stored]]]] = []  # of each range
        self._scratch = Scratch()

    def add(self, results: Iterable[Learned]) -> None:
        """Add the results of `learn` for the next ranges of columns, in order."""
        for states, self._totals in results:
            self._held.append(states)
            if self._stored or len(self._held) > 1:
                for each in self._held:
                    self._stored.append([{key: self._store(value) for key, value in state.items()} for state in each])
                self._held.clear()

    def _store(self, value: np.ndarray | Ragged) -> list[Stored]:
        return self._scratch.store([value.lengths, value.values] if isinstance(value, Ragged) else [value])

    def make_fitted(self, stage: ColumnStage, schema: Schema) -> tuple[FittedColumns, list[State]]:
        """Return the fitted stage of the first state, and the other states; `schema` is that of the incoming rows."""
        if self._held:
            (states,) = self._held
        else:
            give_back_freed_memory()  # of fitting, which may be as large
            states = [self._join(parts) for parts in zip(*self._stored)]
        with blame_errors(stage):
            fitted = stage.finish(schema, states[0], self._totals)
        check_fitted(stage, fitted)
        return fitted, states[1:]

    def _join(self, parts: tuple[dict[str, list[Stored]], ...]) -> State:
        """Join the stored parts of a state, and return it."""
        joined: State = {}
        for key in parts[0]:
            arrays, *values = zip(*(part[key] for part in parts))  # arrays; or the lengths and the values of `Ragged`s
            joined[key] = np.concatenate([self._scratch.read(each) for each in arrays])
            if values:
                mapped = self._scratch.map_arrays([self._scratch.join(values[0])])[0]
                joined[key] = Ragged.from_lengths(joined[key], mapped)
        return joined


# What the engine calls: each of these can be pickled, and gets all that it needs.


def _take_statistic(counting: Counting, low: int, high: int, batch: Batch) -> Statistic:
    """Take the statistic of the columns of a batch from `low` up to, but not including, `high`."""
    columns = np.arange(low, high)
    if counting.count_rows is not None:
        return counting.count_rows(batch, columns, counting.reader)
    return counting.kind.of(batch, columns, counting.supervised, counting.reader)


def _take_statistic_and_counts(take: Callable[[Batch], Any], supervised: bool, batch: Batch) -> tuple[Any, np.ndarray]:
    """Call `take`, which takes the statistic of a batch, and return its result with four numbers, float64 (4,).

    These are the two of `sum_weights`, how many rows have no class (0 if not `supervised`), and how many do not have
    the weight 1.
    """
    n_unlabelled = np.count_nonzero(~batch.class_known) if supervised else 0
    n_weighted = 0 if batch.weights is None else np.count_nonzero(batch.weights != 1)
    return take(batch), np.array([*sum_weights(batch, supervised), n_unlabelled, n_weighted])


def _merge_columns(n_columns: int, jobs: int, several: list[Statistic]) -> Statistic:
    """Cut several statistics, at least one, to their first `n_columns`, and merge them."""
    return type(several[0]).merge([each.first_columns(n_columns) for each in several], jobs)


def _learn_columns(stage: ColumnStage, counting: Counting, item: tuple[Statistic, int, int]) -> Learned:
    """Let a stage learn from the columns of an item, ``(statistic, first column, stop)``; see `Learning`."""
    view = counting.make_statistic_for(stage, cut_columns(*item))
    return [learn_state(stage, view)], view.totals


def _push_table(fitted: FittedColumns, budget: int, table: ContingencyTable) -> ContingencyTable:
    """Compute the table of the rows that come out of a fitted stage from that of the rows that come in.

    One range of columns is worked on after the other. If the result exceeds the budget, it has only the first columns,
    because nobody learns from it.
    """
    pushed: list[ContingencyTable] = []
    n_bytes = 0
    for begin, end in _split_columns(fitted.stage, budget, table):
        pushed.append(fitted.transform_table(table.column_range(begin, end)))
        n_bytes += pushed[-1].nbytes
        if n_bytes > budget:
            pushed = [join_columns(pushed)]  # takes less, as each table has totals of its own
            n_bytes = pushed[0].nbytes
            if n_bytes > budget:
                break
    return join_columns(pushed)


def cut_columns(statistic: T, begin: int, end: int) -> T:
    """Return the statistic of a range of its columns, with a schema of these alone; itself if these are all columns."""
    assert isinstance(statistic, Statistic)
    if end - begin == statistic.schema.width:
        return statistic
    return statistic.column_range(begin, end).without_other_columns()


def _split_columns(stage: ColumnStage, budget: int, statistic: Statistic) -> list[tuple[int, int]]:
    """Split the columns of a statistic into ranges of about equal bytes, on which a stage can work within the budget.

    Returns
    -------
    Ranges (begin, end) within the statistic, in order; (0, 0) without columns. A range of one column may take more.
    """
    count = max(1, -(-stage.working_bytes(statistic) * _WORKING // max(budget, 1)))
    wanted = np.arange(1, min(count, len(statistic))) / min(count, max(len(statistic), 1))
    upto = np.arange(len(statistic) + 1)
    if isinstance(statistic, ContingencyTable):
        upto += statistic.indptr
    cuts = np.searchsorted(upto, wanted * int(upto[-1])).tolist()
    return list(pairwise(sorted({0, *cuts, len(statistic)}))) or [(0, 0)]
