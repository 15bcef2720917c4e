"""Score columns by a metric: each by the best of its tests, or by a form that the metric has for whole columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from filterkit.counts.class_parts import SparseClassWeights
from filterkit.counts.class_runs import (
    find_best_score_of_each_pair,
    find_runs_by_class,
    sum_from_each_cell_to_column_end,
)
from filterkit.counts.metric import Metric
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import ConfusionCounts, Thresholds, merge_equal_counts
from filterkit.data.contract import make_contract_error
from filterkit.data.ragged import expand_ranges
from filterkit.errors import quoted

COMBINATIONS = ("max", "mean", "weighted")
_FINITE = "a metric must be finite for all counts; take care of 0 / 0"
_MUCH_MORE = 2.0**24  # about half of the digits of a float64
_VALUES_AT_ONCE = 1 << 22  # of tests × classes, 32 MB
_FEW = 1 << 12  # pairs of counts, all of which are scored
_BLOCKS = (512, 64, 8)  # tests that `Metric.bound` bounds together, first many and then few


def one_against_rest(
    thresholds: Thresholds, metric: Metric, alpha: float | None = None
) -> tuple[np.ndarray, list[int]]:
    """Score each column for each class of `ContingencyTable.tasks` against the rest.

    Parameters
    ----------
    thresholds : the tests of a table.
    metric : what to score by.
    alpha : as for `score_columns`. If it is None, a metric with `Metric.by_labels` scores nominal columns by that.

    Returns
    -------
    float64 (columns, tasks), the score of the best test of each column for each class; and the codes of these classes.
    There are none with a numeric class.

    Raises
    ------
    PluginError : as for `score_tests`.
    """
    tasks = thresholds.table.tasks()
    if thresholds.many_classes and len(tasks) > 1:
        scores = score_columns_by_each_class(thresholds, metric, tasks, alpha)
    else:
        each = [thresholds.find_best(*score_tests(thresholds, metric, task, alpha)) for task in tasks]
        scores = np.stack(each, axis=1) if each else np.zeros((len(thresholds.table), 0))
    if alpha is None:
        for i, task in enumerate(tasks):
            _replace_scores_of_nominal_columns(scores[:, i], thresholds.table, metric, task)
    return scores, tasks


def score_columns(
    thresholds: Thresholds, metric: Metric, *, alpha: float | None = None, combine: str | None = None, seed: int = 0
) -> np.ndarray:
    """Score each covered column: float64 (columns,), for most metrics the score of its best test.

    For these, a column without a test scores as a feature that no row has. A metric with `Metric.by_table` or
    `Metric.by_column` scores all columns by that, and `alpha` and `combine` do not matter.

    Parameters
    ----------
    thresholds : the tests of a table. If the metric needs no class, the table counts all rows as one class.
    metric : what to score by.
    alpha : the weight, from 0 to 1, of features that go with the positive class; others weigh 1 - alpha (Forman 2003,
        lesion study). None leaves all scores as they are. It does not matter for a metric that needs no class.
    combine : how the scores of several classes, each against the rest, become one: ``max``, ``mean``, or ``weighted``,
        the mean weighted by the shares of the classes. None takes the metric's own form for several classes if it has
        one and `alpha` is None, else ``max``.
    seed : for metrics that are random.

    Raises
    ------
    PluginError : as for `score_tests`.
    """
    table = thresholds.table
    if metric.by_column is not None:
        return metric.compute("by_column", table.columns.shape, table.column_offset + table.columns, seed)
    if metric.by_table is not None:
        if metric.needs_class and table.schema.positive is not None:
            table = table.one_against_rest(*table.tasks())
        return _score_table_columns(table, metric, "by_table")
    if not metric.needs_class:
        return thresholds.find_best(*score_tests(thresholds, metric, None))
    several = table.schema.positive is None and table.totals.shape[0] > 2
    if several and metric.classes is not None and combine is None and alpha is None:
        if np.count_nonzero(table.totals > 0) < 2:
            return np.zeros(len(table))
        scores = score_columns_by_all_classes(thresholds, metric)
        _replace_scores_of_nominal_columns(scores, table, metric, None)
        return scores
    scores, tasks = one_against_rest(thresholds, metric, alpha)
    return combine_scores(scores, table.totals[tasks], combine or "max")


def combine_scores(scores: np.ndarray, totals: np.ndarray, how: str) -> np.ndarray:
    """Combine the scores of several classes into one for each column: float64 (columns,); 0 if there are no classes.

    Parameters
    ----------
    scores : float64 (columns, tasks), where a task is one class against the rest.
    totals : float64 (tasks,), the weights of the rows of these classes.
    how : one of `COMBINATIONS`: ``max``, ``mean``, or ``weighted``, the mean weighted by `totals`.
    """
    if not scores.shape[1]:
        return np.zeros(len(scores))
    if scores.shape[1] == 1 or how == "max":
        return np.asarray(scores.max(axis=1))
    if how == "mean":
        return np.asarray(scores.mean(axis=1))
    # Added class by class, so that the sum does not depend on the number of columns.
    share = totals / totals.sum()
    return np.asarray(sum(scores[:, i] * share[i] for i in range(len(share))))


def _score_table_columns(table: ContingencyTable, metric: Metric, function_name: str) -> np.ndarray:
    """Score the columns of a table by ``by_table`` or ``by_labels``, whichever `function_name` is: float64 (columns,).

    Raise PluginError if the metric fails, or returns something else than float64 (columns,), finite.
    """
    scores = metric.compute(function_name, table.columns.shape, table)
    for column in np.flatnonzero(~np.isfinite(scores))[:1].tolist():
        name = quoted(table.schema.features[table.columns[column]].name)
        raise make_contract_error(metric, f"{name}: the score is {scores[column]:g}; {_FINITE}")
    return scores


def _replace_scores_of_nominal_columns(
    scores: np.ndarray, table: ContingencyTable, metric: Metric, task: int | None
) -> None:
    """Replace the scores of nominal columns in `scores`, float64 (columns,), in place, if the metric has `by_labels`.

    `task` is the code of the class that is compared with the rest; None compares all classes. Nothing changes if fewer
    than two of the classes compared have rows. Raise PluginError as `score_tests` does.
    """
    nominal = np.flatnonzero(table.nominal)
    if metric.by_labels is not None and len(nominal):
        table = table.only(nominal)
        table = table if task is None else table.one_against_rest(task)
        if np.count_nonzero(table.totals > 0) > 1:
            scores[nominal] = _score_table_columns(table, metric, "by_labels")


def scoring_bytes(statistic: Statistic, metric: Metric | None = None) -> int:
    """Estimate the bytes of the arrays that scoring by `metric` works with, for `ColumnStage.working_bytes`.

    They are `Statistic.working_bytes`, or less if the weights of a table are sparse and the metric scores no column as
    a whole. None stands for such a metric.
    """
    if not isinstance(statistic, ContingencyTable) or not isinstance(statistic.cell_parts, SparseClassWeights):
        return statistic.working_bytes
    if metric is not None and (metric.by_table or (metric.by_labels and statistic.nominal.any())):
        return statistic.working_bytes
    scores = len(statistic) * len(statistic.totals) * 8  # one for each column and class
    if not (statistic.values > 0).all():
        scores *= 4  # zeros are cells
    return min(2 * statistic.nbytes + scores, statistic.working_bytes)


def score_tests(
    thresholds: Thresholds, metric: Metric, task: int | None, alpha: float | None = None
) -> tuple[np.ndarray, float]:
    """Score all tests for one class against the rest.

    Parameters
    ----------
    thresholds : the tests of a table.
    metric : what to score by.
    task : the code of the class; None for a metric that needs no class, for which all rows are positive.
    alpha : the weight, from 0 to 1, of features that go with the class; others weigh 1 - alpha. None leaves scores as
        they are.

    Returns
    -------
    scores : float64 (tests,). All are 0 if there are no positive rows or, for a class, no negative ones. With
        `Metric.bound` and no `alpha`, tests that are not the best of their column may have -inf.
    constant : the score of a feature that is in no row, which is that of a column without a test.

    Raises
    ------
    PluginError : the metric fails, or returns something else than float64 (n,), finite.
    """
    counts = thresholds.count_against_rest(task)
    if counts.pos <= 0 or (counts.neg <= 0 and task is not None):
        return np.zeros(len(counts.pair)), 0.0
    if metric.bound is not None and alpha is None and len(counts.tp) > _FEW:
        return _score_tests_that_may_be_best(thresholds, metric, task)
    return _score_counts(thresholds.table, metric, counts, thresholds.column, alpha)


def _score_tests_that_may_be_best(thresholds: Thresholds, metric: Metric, task: int | None) -> tuple[np.ndarray, float]:
    """Score only the tests that may be the best of their column; return what `score_tests` does, with -inf for others.

    The metric must have `Metric.bound`. A block of neighbouring tests is left out if the bound for the smallest and
    largest counts in it is below a score of the same column. What is left is cut into smaller blocks. So a best test is
    never left out.
    """
    tp, fp, pair, pos, neg = thresholds.count_against_rest(task)
    scores, constant = np.full(len(tp), -np.inf), 0.0

    def score_unscored_tests(tests: np.ndarray) -> None:
        nonlocal constant
        new = tests[scores[pair[tests]] == -np.inf]
        at, number = np.unique(pair[new], return_inverse=True)
        counts = ConfusionCounts(tp[at], fp[at], number, pos, neg)
        scores[pair[new]], constant = _score_counts(thresholds.table, metric, counts, thresholds.column[new])

    tp_and_fp = np.stack([np.append(tp[pair], 0.0), np.append(fp[pair], 0.0)])
    first = thresholds.first_tests
    size = np.diff(first, append=len(pair))
    for most in _BLOCKS:
        blocks = -(-size // most)
        stop = np.repeat(first + size, blocks)
        first = np.repeat(first, blocks) + expand_ranges(np.zeros_like(blocks), blocks) * most
        size = np.minimum(stop - first, most)
        score_unscored_tests(first + size // 2)
        ends = np.stack([first, first + size], axis=1).ravel()
        low, high = (reduce.reduceat(tp_and_fp, ends, axis=1)[:, ::2] for reduce in (np.minimum, np.maximum))
        bound = metric.compute("bound", first.shape, low[0], high[0], low[1], high[1], pos, neg)
        is_open = ~(bound < thresholds.find_best(scores[pair], -np.inf)[thresholds.column[first]])
        first, size = first[is_open], size[is_open]
    score_unscored_tests(expand_ranges(first, size))
    return scores[pair], constant


def _score_counts(
    table: ContingencyTable, metric: Metric, counts: ConfusionCounts, column: np.ndarray, alpha: float | None = None
) -> tuple[np.ndarray, float]:
    """Return the score of each test, float64 (tests,), and that of a feature that no row has, from their counts.

    `counts` are those of some tests of `table`. `column` is int64 (tests,), the covered column of each, for messages.
    `alpha` and errors are as for `score_tests`.
    """
    pos, neg = counts.pos, counts.neg
    tp, fp = np.append(counts.tp, 0.0), np.append(counts.fp, 0.0)
    scores = metric.compute("score", tp.shape, tp, fp, pos, neg)
    for at in np.flatnonzero(~np.isfinite(scores))[:1].tolist():
        columns = column[counts.pair == at][:1]  # none for the feature that no row has
        name = "".join(quoted(table.schema.features[table.columns[c]].name) + ": " for c in columns)
        shown = f"tp={tp[at]:g}, fp={fp[at]:g}, pos={pos:g}, neg={neg:g}"
        raise make_contract_error(metric, f"{name}the score is {scores[at]:g} for {shown}; {_FINITE}")
    if alpha is not None:
        scores = scores * np.where(tp * neg >= fp * pos, alpha, 1 - alpha)
    return scores[counts.pair], float(scores[-1])


def score_columns_by_each_class(
    thresholds: Thresholds, metric: Metric, tasks: list[int], alpha: float | None = None
) -> np.ndarray:
    """Return the best score of each column for each class of `tasks` against the rest: float64 (columns, tasks).

    It is what `Thresholds.find_best` and `score_tests` give class by class, faster where there are many. Classes of the
    same weight are scored together, and the time grows with the number of cells; see `filterkit.counts.class_runs`.
    `tasks` must have the code of each class that has rows. Raise PluginError as `score_tests` does.
    """
    totals, total = thresholds.table.totals, float(thresholds.table.totals.sum())
    cells = thresholds.cells
    runs = find_runs_by_class(
        thresholds.class_cells, cells.indptr, cells.column_of_cell, thresholds.is_test, cells.nominal
    )
    ends = metric.best_at_ends and alpha is None

    def score_pairs_of_counts(
        tp: np.ndarray, fp: np.ndarray, pos: float, neg: float, column: np.ndarray
    ) -> tuple[np.ndarray, float]:
        return _score_counts(thresholds.table, metric, merge_equal_counts(tp, fp, pos, neg), column, alpha)

    found = np.zeros((len(totals), len(thresholds.table)))
    weights, group = np.unique(totals[tasks], return_inverse=True)
    weight = totals[runs.code]  # of each class that has runs, which are all among `tasks`
    order = np.argsort(weight, kind="stable")
    bounds = np.append(np.searchsorted(weight[order], weights), len(order))
    rows, row = np.unique(thresholds.selected_weights, return_inverse=True)
    somewhere = np.zeros(len(rows), np.int64)
    somewhere[row] = thresholds.column
    codes = np.asarray(tasks)
    for number, pos in enumerate(weights.tolist()):
        neg = total - pos
        if pos <= 0 or neg <= 0:
            continue
        scores, none = score_pairs_of_counts(np.zeros(len(rows)), np.minimum(rows, neg), pos, neg, somewhere)
        found[codes[group == number]] = thresholds.find_best(scores[row], none)
        own = order[bounds[number] : bounds[number + 1]]
        if len(own):
            best = find_best_score_of_each_pair(
                runs.select_pairs(own), thresholds.selected_weights, pos, neg, score_pairs_of_counts, ends
            )
            found[runs.code[own], runs.column[own]] = best
    return np.ascontiguousarray(found[codes].T)


def score_columns_by_all_classes(thresholds: Thresholds, metric: Metric) -> np.ndarray:
    """Return the best score of each column by the metric's own form for several classes: float64 (columns,).

    The metric must have `Metric.classes`; with many classes, its `class_sums` save time. Classes without rows are left
    out, and at least one must have rows. Raise PluginError if the metric fails, or returns something else than float64
    (n,).
    """
    totals = thresholds.table.totals
    present = np.flatnonzero(totals > 0)
    # Sums over classes lose digits where a class weighs very much more than another.
    if thresholds.many_classes and metric.class_sums is not None and totals.max() < _MUCH_MORE * totals[present].min():
        rows = np.append(thresholds.selected_weights, 0.0)
        sums = _sum_term_over_classes(thresholds, partial(metric.call, metric.class_sums.term))
        scores = metric.compute("class_sums", rows.shape, sums, rows, totals[present])
        return thresholds.find_best(scores[:-1], float(scores[-1]))
    blocks: Iterable[Thresholds] = [thresholds]
    if thresholds.many_classes:
        values = np.cumsum(np.diff(thresholds.cells.indptr) + 1) * len(totals)
        columns = np.split(np.arange(len(thresholds.table)), np.flatnonzero(np.diff(values // _VALUES_AT_ONCE)) + 1)
        blocks = (Thresholds(thresholds.table.only(own)) for own in columns)
    found = []
    for block in blocks:
        counts = np.append(block.selected_class_weights[:, present], np.zeros((1, len(present))), axis=0)
        scores = metric.compute("classes", (len(counts),), counts, totals[present])
        found.append(block.find_best(scores[:-1], float(scores[-1])))
    return np.concatenate(found)


def _sum_term_over_classes(thresholds: Thresholds, term: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the sum of `ClassSums.term` over all classes that have rows, for each test: float64 (tests + 1,).

    The last sum is that of a test that selects no row.
    """
    cells, own, totals = thresholds.cells, thresholds.class_cells, thresholds.table.totals
    totals_of = totals[own.code]
    nominal = cells.nominal[cells.column_of_cell[own.cell]]
    upto = np.minimum(np.where(nominal, own.weight, own.upto), totals_of)
    before = np.where(own.begins | nominal, 0.0, np.append(0.0, upto)[:-1])
    change = term(upto, totals_of) - term(before, totals_of)
    changes = np.bincount(own.cell, change, len(cells.values))
    sums = np.where(
        cells.nominal[cells.column_of_cell], changes, sum_from_each_cell_to_column_end(changes, cells.indptr)
    )
    present = totals[totals > 0]
    nothing = float(term(np.zeros(len(present)), present).sum())
    return np.append(sums[thresholds.is_test] + nothing, nothing)
