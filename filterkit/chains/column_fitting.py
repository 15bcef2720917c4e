"""Fit column stages that follow each other, in as few passes over the training rows as possible.

    rows ── pass ──> strip ──> fit stage 1 ── push ──> strip ──> fit stage 2 ── push ──> …

A *strip* is the statistic that a stage learns from, of a range of columns, taken in one pass. If it outgrows its share
of `--memory`, columns are cut away until the rest fits, and the next pass goes on from there. A contingency table that
holds all columns is *pushed* through the stage once that is fitted, and serves the next stage, so that one pass serves
several. Narrower strips are not pushed, so each stage then takes passes of its own.

Statistics stay where the engine has computed them. What is learned from them comes to this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from filterkit.allocators import give_back_freed_memory
from filterkit.chains.budget import STATISTIC_DIVISOR
from filterkit.chains.queries import Passes, Query, compute_merged_record
from filterkit.chains.rows import Rows
from filterkit.counts.numeric_class import NumericClass, count_rows_by_class_value
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, concatenate_columns
from filterkit.counts.weights import check_sum
from filterkit.data.arithmetic import Floats
from filterkit.data.batch import Batch, empty
from filterkit.data.contract import blame_stage_for_errors
from filterkit.data.ragged import Ragged
from filterkit.engines.engine import map_and_check_result_count
from filterkit.files.scratch import Scratch, Stored
from filterkit.stages.base import State, check_class, check_fitted_and_set_made_by
from filterkit.stages.columns import ColumnStage, FittedColumns, learn_state

# What a stage learns from a range of columns: one state or several, and the totals of `ColumnStage.finish`.
StatesAndTotals = tuple[list[State], Floats]

_WORKING = 5  # bytes that a stage works with for each byte of a statistic that it gets at once, besides the statistic
_FEW = 8  # statistics of batches that wait before they are merged, unless they are large


def fit_in_passes(stages: Sequence[ColumnStage], rows: Rows, memory: int) -> Passes[list[FittedColumns]]:
    """Fit column stages that follow each other, and return the fitted stages, in order.

    This is a generator, which yields the queries of each pass. Run it by `run_passes`. Raise StageError if a stage
    cannot be fitted on these rows.

    Parameters
    ----------
    stages : at least one; each learns by `fit_columns`.
    rows : the training rows as they come to the first of them.
    memory : bytes, as for `Chain.fit`. The result does not depend on it.
    """
    all_fitted: list[FittedColumns] = []
    strip: Strip | None = None
    for stage, following in zip(stages, [*stages[1:], None]):
        check_class(stage, rows.schema)
        if strip is None:
            counted_for = stage
            count_rows: Callable[..., Statistic] = partial(
                stage.learns_from.of, supervised=stage.needs_class, reader=stage.name
            )
            if stage.needs_class and rows.schema.has_numeric_target:
                table = yield from compute_merged_record(rows, partial(count_rows_by_class_value, stage.name))
                count_rows = partial(NumericClass.from_table(table).count_rows_by_bin, reader=stage.name)
        learn = partial(_learn_from_column_range, counted_for, stage)
        fitted, _, strip = yield from fit_strip_by_strip(stage, count_rows, learn, rows, memory, strip)
        all_fitted.append(fitted)
        rows = rows.transform_by(fitted)
        if (
            strip is not None
            and following is not None
            and can_share_statistic(counted_for, following, *strip.counts[2:])
        ):
            budget = memory // STATISTIC_DIVISOR
            push = rows.source.engine.keep(partial(_push_table_within_budget, fitted, budget))
            (pushed,) = map_and_check_result_count(rows.source.engine, push, [strip.statistic])
            strip = Strip(pushed, 0, fitted.schema.width, strip.counts) if pushed.nbytes <= budget else None
        else:
            strip = None
    return all_fitted


def can_share_statistic(
    earlier: ColumnStage, later: ColumnStage, n_unlabelled: float = 0, n_weighted: float = 0
) -> bool:
    """Return whether a later stage can learn from the table of an earlier one, pushed through the stages in between.

    It then needs no pass of its own. Return False if `earlier` learns from another statistic than a table.

    Parameters
    ----------
    earlier, later : the stages.
    n_unlabelled : the number of training rows without a class.
    n_weighted : the number of training rows with another weight than 1.
    """
    if not issubclass(earlier.learns_from, ContingencyTable):
        return False
    same_rows = earlier.needs_class == later.needs_class or (earlier.needs_class and not n_unlabelled)
    if later.learns_from is ContingencyTable:
        return same_rows
    return same_rows and not n_weighted and not later.needs_class and later.learns_from.from_tables


class Strip(NamedTuple):
    """Holds the statistic of a range of columns over all training rows, computed in one pass.

    Attributes
    ----------
    statistic : the statistic, or the handle of it that `Engine.keep` gives.
    low, high : the number of the first column, and of the one after the last.
    counts : float64 (4,). Of the rows that count for the stage, which are those with a class if it needs one: the sum
        of their weights, and how many have another weight than 0. Then, of all rows: how many have no class, and how
        many have another weight than 1.
    """

    statistic: Any
    low: int
    high: int
    counts: Floats


def fit_strip_by_strip(
    stage: ColumnStage,
    count_rows: Callable[..., Statistic],
    learn: Callable[[tuple[Any, int, int]], StatesAndTotals],
    rows: Rows,
    memory: int,
    strip: Strip | None = None,
) -> Passes[tuple[FittedColumns, list[State], Strip | None]]:
    """Fit a stage by a statistic, which each pass computes for one range of columns: a strip.

    This is a generator, which yields the queries of each pass. Run it by `run_passes`. The stage learns from each strip
    in ranges of columns, so small that it can work on one within an eighth of `memory`, but of at least one column.
    Raise StageError if it cannot be fitted on these rows.

    Parameters
    ----------
    stage : the stage.
    count_rows : ``count_rows(batch, columns=columns)`` returns the statistic of some columns of a batch; it must be
        picklable.
    learn : ``learn((statistic, first, stop))`` lets the stage learn from a range of the columns in the statistic,
        counted from 0. It returns a list of one or more states, and float64 (classes,), the weight of the rows of each
        class. The engine calls it, so it must be picklable.
    rows : the training rows as they come to the stage.
    memory : bytes, as for `Chain.fit`; an eighth bounds a strip of more than one column.
    strip : the strip of all columns, if it is known; None to compute strips.

    Returns
    -------
    fitted : the fitted stage, made from the first state of each list that `learn` returned, joined for all columns.
    others : the other states, each joined in the same way.
    strip : the strip of all columns; None if there were several strips.
    """
    engine, budget, width = rows.source.engine, memory // STATISTIC_DIVISOR, rows.schema.width
    stored: list[Any] = []  # where the states of each range of columns are in the file, if there are several
    scratch = Scratch()
    low, high = 0, width
    while True:
        if strip is None:
            strip = yield from _compute_strip(stage, count_rows, rows, low, high, budget)
        (cuts,) = map_and_check_result_count(
            engine, partial(_divide_into_column_ranges, stage, budget), [strip.statistic]
        )
        for begin, end in cuts:
            ((states, totals),) = map_and_check_result_count(engine, learn, [(strip.statistic, begin, end)])
            if end - begin < width:
                stored.append(store_states(scratch, states))
        if strip.high == width:
            first, *others = join_states(scratch, stored) if stored else states
            strip = strip if strip.low == 0 else None  # nobody needs another one any longer
            with blame_stage_for_errors(stage):
                fitted = stage.finish(rows.schema, first, totals)
            check_fitted_and_set_made_by(stage, fitted)
            return fitted, others, strip
        n_fitting = (strip.high - strip.low) * budget * 7 // 16 // max(strip.statistic.nbytes, 1)  # further columns
        low, high, strip = strip.high, min(strip.high + max(2, n_fitting), width), None


def _compute_strip(
    stage: ColumnStage, count_rows: Callable[..., Statistic], rows: Rows, low: int, high: int, budget: int
) -> Passes[Strip]:
    """Compute the strip that begins at column `low` and ends before column `high`, in one pass.

    The strip ends earlier if its statistic would take more than half of `budget` bytes: as often as needed, the later
    half of the columns is cut away, until one is left. If there are no batches, the statistic is that of no rows. Raise
    StageError if the sum of all weights cannot be computed exactly. This is a generator; run it by `run_passes`.
    """
    engine, counts = rows.source.engine, np.zeros(4)
    # Statistics, or handles of them that the engine keeps: what has been merged, and those of batches after that.
    held: list[Any] = []

    def merge_statistics_within_budget() -> None:
        """Merge the statistics in `held` into one, and halve its columns while it takes more than half of `budget`."""
        nonlocal high
        while True:
            held[:] = [engine.reduce(partial(_merge_first_columns, high - low, engine.jobs), held)]
            if held[0].nbytes <= budget // 2 or high - low <= 1:
                return
            high = (low + high) // 2

    def add_batch_statistic(result: tuple[Any, Floats]) -> None:
        """Add the statistic and counts of a batch to `held` and `counts`; merge if many or large statistics wait.

        They wait until together they take as much memory as what has been merged, so that each cell of a table takes
        part in few merges.
        """
        held.append(result[0])
        np.add(counts, result[1], out=counts)
        first, *waiting = (each.nbytes for each in held)
        is_much = len(waiting) >= _FEW or first + sum(waiting) > budget
        if is_much and (sum(waiting) >= first or not waiting):
            merge_statistics_within_budget()

    take = engine.keep(partial(count_rows, columns=np.arange(low, high)))
    yield [Query(rows, partial(_compute_statistic_and_counts, take, stage.needs_class), add_batch_statistic)]
    check_sum(stage.name, *counts[:2].tolist())
    if not held:
        held += map_and_check_result_count(engine, take, [empty(rows.schema)])
    merge_statistics_within_budget()
    return Strip(held[0], low, high, counts)


def store_states(scratch: Scratch, states: list[State]) -> list[dict[str, list[Stored]]]:
    """Store the arrays of states in a file; return a dict for each state that says where they are.

    Under the name of each entry it has a list of one `Stored` for an array, or of two for a `Ragged`: its lengths and
    its values.
    """
    return [
        {
            key: scratch.store([value.lengths, value.values] if isinstance(value, Ragged) else [value])
            for key, value in state.items()
        }
        for state in states
    ]


def join_states(scratch: Scratch, stored: list[Any]) -> list[State]:
    """Join the states that were stored for each range of columns; return the same number of states, for all columns.

    `stored` is a list of what `store_states` returned for each range, in order. Arrays are read into memory; the values
    of `Ragged` arrays, which may be large, stay in the file, and are mapped into memory.
    """
    give_back_freed_memory()  # of fitting, which may be as large
    joined: list[State] = []
    for parts in zip(*stored):
        state: State = {}
        for key in parts[0]:
            arrays, *values = zip(*(part[key] for part in parts))  # arrays; or the lengths and the values of `Ragged`s
            state[key] = np.concatenate([scratch.read(each) for each in arrays])
            if values:
                state[key] = Ragged.from_lengths(state[key], scratch.map_arrays([scratch.join(values[0])])[0])
        joined.append(state)
    return joined


# What the engine calls: each of these can be pickled, and gets all that it needs.


def _compute_statistic_and_counts(
    compute_statistic: Callable[[Batch], Any], supervised: bool, batch: Batch
) -> tuple[Any, Floats]:
    """Return the statistic of a batch, as `compute_statistic` computes it, and the batch's part of `Strip.counts`.

    `supervised` says whether only rows with a class count.
    """
    is_known, weights = batch.class_known, batch.row_weights
    counted = weights[is_known] if supervised else weights
    sums = [counted.sum(), *map(np.count_nonzero, (counted, ~is_known, weights != 1))]
    return compute_statistic(batch), np.array(sums)


def _merge_first_columns(n_columns: int, jobs: int, statistics: list[Statistic]) -> Statistic:
    return type(statistics[0]).merge([each.first_columns(n_columns) for each in statistics], jobs)


def _learn_from_column_range(
    counted_for: ColumnStage, stage: ColumnStage, item: tuple[Statistic, int, int]
) -> StatesAndTotals:
    """Let a stage learn from some columns: `item` is ``(statistic, first, stop)``, counted from 0 in the statistic.

    Return a list with the state as its only element, and float64 (classes,), the weight of the rows of each class; (1,)
    if the stage needs no class. The statistic was computed for `counted_for`, which is this stage or an earlier one; in
    the second case it is a table that has been pushed through the stages from there.
    """
    statistic, begin, end = item
    view = statistic.column_range(begin, end).without_other_columns()
    if isinstance(view, ContingencyTable):
        table = view.without_classes() if counted_for.needs_class and not stage.needs_class else view
        view = table if stage.learns_from is ContingencyTable else stage.learns_from.of_table(table)
    return [learn_state(stage, view)], view.totals


def _push_table_within_budget(fitted: FittedColumns, budget: int, table: ContingencyTable) -> ContingencyTable:
    """Push a table: compute that of the rows that come out of a fitted stage from that of the rows that come in.

    Once the result takes more than `budget` bytes, further columns are left out, so check its `nbytes` before use.
    """
    pushed: list[ContingencyTable] = []
    n_bytes = 0
    for begin, end in _divide_into_column_ranges(fitted.stage, budget, table):
        pushed.append(fitted.transform_table(table.column_range(begin, end)))
        n_bytes += pushed[-1].nbytes
        if n_bytes > budget:
            pushed = [concatenate_columns(pushed)]  # takes less, as each table has totals of its own
            n_bytes = pushed[0].nbytes
            if n_bytes > budget:
                break
    return concatenate_columns(pushed)


def _divide_into_column_ranges(stage: ColumnStage, budget: int, statistic: Statistic) -> list[tuple[int, int]]:
    """Divide the columns of a statistic into ranges (first, stop) of about equal bytes, in order, counted from 0.

    The stage can work on each within `budget` bytes, unless it is a single column. Without columns, the only range is
    (0, 0).
    """
    count = max(1, min(-(-stage.working_bytes(statistic) * _WORKING // max(budget, 1)), len(statistic)))
    upto = np.arange(len(statistic) + 1)
    if isinstance(statistic, ContingencyTable):
        upto += statistic.indptr
    cuts = np.searchsorted(upto, np.linspace(0, upto[-1], count + 1))
    return list(pairwise(sorted({*cuts.tolist()}))) or [(0, 0)]  # np.unique would import numpy.ma
