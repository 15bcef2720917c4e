"""Thresholds: all tests that turn a column into a yes-or-no feature, and the best score over them.

A numeric column has a threshold between any two neighbouring training values, zeros included. A test selects the rows
whose value is at least the threshold (Forman, Scholz and Rajaram 2009, section 3.4). A nominal column has a test for
each of its values, which selects the rows with that value; a metric with `Metric.by_labels` scores all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from filterkit.counts.class_parts import SparseParts, take_class
from filterkit.counts.class_runs import ClassCells, find_runs, list_class_cells, score_runs, sum_from_each_cell
from filterkit.counts.metric import Metric
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, sum_over_classes
from filterkit.data.contract import check_numbers, make_contract_error
from filterkit.data.ragged import find_run_begins
from filterkit.errors import quoted

COMBINATIONS = ("max", "mean", "weighted")
_MUCH_MORE = 2.0**24  # about half of the digits of a float64
_VALUES_AT_ONCE = 1 << 22  # of tests × classes, 32 MB
_FEW = 1 << 12  # pairs of counts, all of which are scored
_BLOCKS = (512, 64, 8)  # tests that `Metric.bound` bounds together, first many and then few


class Counts(NamedTuple):
    """Holds the counts of all tests for one class against the rest.

    Attributes
    ----------
    tp, fp : float64 (n,), the distinct pairs of counts.
    pair : int64 (tests,), which of the pairs each test has.
    pos, neg : the weight of all rows of the class, and of the rest.
    """

    tp: np.ndarray
    fp: np.ndarray
    pair: np.ndarray
    pos: float
    neg: float


class Thresholds:
    """Finds the tests of all columns that a table covers, and scores them.

    Attributes
    ----------
    table : the table.
    column : int64 (tests,), ascending: the covered column of each test, from 0.
    values : float64 (tests,): the threshold, or the index of the nominal value. A test selects the rows whose value is
        at least the threshold, or is the nominal value.
    """

    def __init__(self, table: ContingencyTable) -> None:
        self.table = table
        # If zero can only be the least value of a column, it is not a threshold itself, and needs no cell. But it makes
        # the least value above it a threshold.
        least = not table.nominal.any() and bool((table.values > 0).all())
        cells = table if least else table.with_zeros()
        column = cells.column_of_cell
        is_test = np.arange(len(column)) > cells.indptr[column]
        if least:
            is_test |= table.zero_occurs[column]
        if cells.nominal.any():
            is_test = np.where(cells.nominal[column], np.diff(cells.indptr)[column] > 1, is_test)
        self._cells = cells
        self._is_test = is_test
        self._tests = np.flatnonzero(is_test)
        self.column = column[self._tests]
        self.values = cells.values[self._tests]
        self._against: dict[int, Counts] = {}

    @property
    def many_classes(self) -> bool:
        """Whether there are so many classes that the table holds their weights as `SparseParts`."""
        return isinstance(self.table.cell_parts, SparseParts)

    @cached_property
    def selected(self) -> np.ndarray:
        """float64 (tests, classes): the weight of the rows of each class that each test selects."""
        return self._select_rows(self._cells)

    @cached_property
    def rows(self) -> np.ndarray:
        """float64 (tests,): the weight of the rows of any class that each test selects."""
        if self.many_classes:
            return np.asarray(self._select_rows(self._cells.without_classes())[:, 0])
        return sum_over_classes(self.selected)

    def _select_rows(self, cells: ContingencyTable) -> np.ndarray:
        """Return the weight of the rows of each class that each test selects: float64 (tests, classes of `cells`).

        `cells` are `_cells`, perhaps with other classes.
        """
        selected = cells.cumulative(descending=True)
        nominal = cells.nominal[cells.column_of_cell]
        if nominal.any():
            selected = np.where(nominal[:, None], cells.counts, selected)
        # Sums of fractional weights may be rounded.
        return np.asarray(np.clip(selected.take(self._tests, axis=0), 0.0, cells.totals))

    @cached_property
    def _class_cells(self) -> ClassCells:
        parts = self._cells.cell_parts
        return list_class_cells(SparseParts.from_parts(parts), self._cells.column_of_cell)

    def _select_class_rows(self, task: int) -> np.ndarray:
        """Return the weight of the rows of the class with code `task` that each test selects: float64 (tests,)."""
        if not self.many_classes:
            return self.selected[:, task]
        cells = self._cells
        alone = cells.replace(cell_parts=take_class(cells.cell_parts, task), total_parts=cells.total_parts[[task]])
        return self._select_rows(alone)[:, 0]

    @cached_property
    def _starts(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (columns that have a test,) each: these columns, and the first test of each."""
        begin = np.flatnonzero(find_run_begins(self.column))
        return self.column[begin], begin

    @property
    def varied(self) -> np.ndarray:
        """bool (columns,): which covered columns have a test, that is, at least two distinct training values."""
        varied = np.zeros(len(self.table), bool)
        varied[self._starts[0]] = True
        return varied

    def find_best(self, scores: np.ndarray, constant: float) -> np.ndarray:
        """Return the best of `scores`, float64 (tests,), of each covered column: float64 (columns,).

        A column without a test has `constant`.
        """
        best = np.full(len(self.table), constant)
        columns, begin = self._starts
        if len(columns):
            best[columns] = np.maximum.reduceat(scores, begin)
        return best

    def count_against_rest(self, task: int | None) -> Counts:
        """Count each test for the class with code `task` against the rest; with None, all rows are positive.

        The result is cached.
        """
        key = -1 if task is None else task
        if key not in self._against:
            rows = self.rows
            total = float(self.table.totals.sum())
            tp = rows if task is None else self._select_class_rows(task)
            pos = total if task is None else float(self.table.totals[task])
            fp = np.minimum(rows - tp, total - pos)  # weights not whole may round
            self._against[key] = _merge_equal_counts(tp, fp, pos, total - pos)
        return self._against[key]

    def score(self, metric: Metric, task: int | None, alpha: float | None = None) -> tuple[np.ndarray, float]:
        """Score all tests for one class against the rest.

        Parameters
        ----------
        metric : what to score by.
        task : the code of the class; None for a metric that needs no class, for which all rows are positive.
        alpha : the weight of features that go with the class; others weigh 1 - alpha. None leaves scores as they are.

        Returns
        -------
        scores : float64 (tests,). All are 0 if there are no positive rows or, for a class, no negative ones. With
            `Metric.bound` and no `alpha`, tests that are not the best of their column may have -inf.
        constant : the score of a feature that is in no row, which is that of a column without a test.

        Raises
        ------
        PluginError : a score is not finite.
        PluginError : the metric returns something else than float64 (n,).
        """
        counts = self.count_against_rest(task)
        if counts.pos <= 0 or (counts.neg <= 0 and task is not None):
            return np.zeros(len(counts.pair)), 0.0
        if metric.bound is not None and alpha is None and len(counts.tp) > _FEW:
            return self._score_possible_best(metric, task)
        return self._score_tests(metric, counts, self.column, alpha)

    def _score_tests(
        self, metric: Metric, counts: Counts, column: np.ndarray, alpha: float | None
    ) -> tuple[np.ndarray, float]:
        """Do as `score` with the counts of some tests, and the covered column of each, int64 (tests,)."""
        tp, fp, pair, pos, neg = counts
        scores, constant = self._score_counts(
            metric, tp, fp, pos, neg, lambda at: column[np.flatnonzero(pair == at)], alpha
        )
        return scores[pair], constant

    def _score_possible_best(self, metric: Metric, task: int | None) -> tuple[np.ndarray, float]:
        """Do as `score`, for the tests that may be the best of their column; others may have -inf.

        A block of neighbouring tests is left out if `Metric.bound` of the smallest and largest counts in it is below
        a score of the same column. What is left is cut into smaller blocks. So a best test is never left out.
        """
        assert metric.bound is not None
        tp, fp, pair, pos, neg = self.count_against_rest(task)
        scores, constant = np.full(len(tp), -np.inf), 0.0

        def score_tests(tests: np.ndarray) -> None:
            nonlocal constant
            new = np.zeros(len(tp), bool)
            new[pair[tests]] = True
            at = np.flatnonzero(new & (scores == -np.inf))
            scores[at], constant = self._score_counts(
                metric, tp[at], fp[at], pos, neg, lambda i: self.column[np.isin(pair, at[i : i + 1])]
            )

        counts = np.stack([np.append(tp[pair], 0.0), np.append(fp[pair], 0.0)])
        _, first = self._starts
        size = np.diff(np.append(first, len(pair)))
        for most in _BLOCKS:
            blocks = -(-size // most)
            block = np.arange(blocks.sum()) - np.repeat(np.cumsum(blocks) - blocks, blocks)
            stop = np.repeat(first + size, blocks)
            first = np.repeat(first, blocks) + block * most
            size = np.minimum(stop - first, most)
            score_tests(first + size // 2)
            ends = np.stack([first, first + size], axis=1).ravel()
            low, high = (reduce.reduceat(counts, ends, axis=1)[:, ::2] for reduce in (np.minimum, np.maximum))
            found = metric.call(metric.bound, low[0], high[0], low[1], high[1], pos, neg)
            bound = check_numbers(found, first.shape, metric.name, "bound of the metric", metric)
            is_open = ~(bound < self.find_best(scores[pair], -np.inf)[self.column[first]])
            first, size = first[is_open], size[is_open]
        score_tests(np.repeat(first - np.cumsum(size) + size, size) + np.arange(size.sum()))
        return scores[pair], constant

    def _score_counts(
        self,
        metric: Metric,
        tp: np.ndarray,
        fp: np.ndarray,
        pos: float,
        neg: float,
        find_columns: Callable[[int], np.ndarray],
        alpha: float | None = None,
    ) -> tuple[np.ndarray, float]:
        """Return the score of each pair of counts, float64 (n,), and that of a feature that no row has.

        ``find_columns(i)`` returns the indices, among the covered columns, of those with pair i; none for i = n. Only a
        message about a score that is not finite needs it. `alpha` is as for `score`.

        Raises
        ------
        PluginError : as for `score`.
        """
        tp, fp = np.append(tp, 0.0), np.append(fp, 0.0)
        scores = check_numbers(metric.call(metric.score, tp, fp, pos, neg), tp.shape, metric.name, "the metric", metric)
        for at in np.flatnonzero(~np.isfinite(scores))[:1].tolist():
            columns = find_columns(at)[:1]
            name = "".join(quoted(self.table.schema.features[self.table.columns[c]].name) + ": " for c in columns)
            counts = f"tp={tp[at]:g}, fp={fp[at]:g}, pos={pos:g}, neg={neg:g}"
            raise make_contract_error(metric.name, f"{name}the score is {scores[at]:g} for {counts}; {_FINITE}", metric)
        if alpha is not None:
            scores = scores * np.where(tp * neg >= fp * pos, alpha, 1 - alpha)
        return scores[:-1], float(scores[-1])

    def score_each_class(self, metric: Metric, tasks: list[int], alpha: float | None = None) -> np.ndarray:
        """Return the best score of each column for each class of `tasks` against the rest: float64 (columns, tasks).

        It is what `find_best` and `score` give class by class, faster where there are many. Classes of the same weight
        are scored together, and the time grows with the number of cells; see `filterkit.counts.class_runs`.
        """
        totals, total = self.table.totals, float(self.table.totals.sum())
        cells = self._cells
        runs = find_runs(self._class_cells, cells.indptr, cells.column_of_cell, self._is_test, cells.nominal)
        ends = metric.best_at_ends and alpha is None

        def score(
            tp: np.ndarray, fp: np.ndarray, pos: float, neg: float, column: np.ndarray
        ) -> tuple[np.ndarray, float]:
            return self._score_tests(metric, _merge_equal_counts(tp, fp, pos, neg), column, alpha)

        found = np.zeros((len(totals), len(self.table)))
        weights, group = np.unique(totals[tasks], return_inverse=True)
        group_of = np.full(len(totals), -1)
        group_of[tasks] = group
        pair_group = group_of[runs.code]
        order = np.argsort(pair_group, kind="stable")
        bounds = np.searchsorted(pair_group[order], np.arange(len(weights) + 1))
        rows, row = np.unique(self.rows, return_inverse=True)
        somewhere = np.zeros(len(rows), np.int64)
        somewhere[row] = self.column
        codes = np.asarray(tasks)
        for number, pos in enumerate(weights.tolist()):
            neg = total - pos
            if pos <= 0 or neg <= 0:
                continue
            scores, none = score(np.zeros(len(rows)), np.minimum(rows, neg), pos, neg, somewhere)
            found[codes[group == number]] = self.find_best(scores[row], none)
            own = order[bounds[number] : bounds[number + 1]]
            if len(own):
                best = score_runs(runs.select(own), self.rows, pos, neg, score, ends)
                found[runs.code[own], runs.column[own]] = best
        return np.ascontiguousarray(found[codes].T)

    def score_all_classes(self, metric: Metric) -> np.ndarray:
        """Return the best score of each column by the metric's own form for several classes: float64 (columns,).

        The metric must have `Metric.classes`; with many classes, its `class_sums` save time. Classes without rows are
        left out.

        Raises
        ------
        PluginError : the metric returns something else than float64 (n,).
        """
        assert metric.classes is not None
        totals = self.table.totals
        present = np.flatnonzero(totals > 0)
        # Sums over classes lose digits where a class weighs very much more than another.
        if self.many_classes and metric.class_sums is not None and totals.max() < _MUCH_MORE * totals[present].min():
            rows = np.append(self.rows, 0.0)
            sums = self._sums_over_classes(partial(metric.call, metric.class_sums.term))
            found = metric.call(metric.class_sums.score, sums, rows, totals[present])
            scores = check_numbers(found, rows.shape, metric.name, "class_sums of the metric", metric)
            return self.find_best(scores[:-1], float(scores[-1]))
        if not self.many_classes:
            return self._score_dense_classes(metric, present)
        values = np.cumsum(np.diff(self._cells.indptr) + 1) * len(totals)
        blocks = np.split(np.arange(len(self.table)), np.flatnonzero(np.diff(values // _VALUES_AT_ONCE)) + 1)
        parts = (Thresholds(self.table.only(columns)) for columns in blocks)
        return np.concatenate([part._score_dense_classes(metric, present) for part in parts])

    def _score_dense_classes(self, metric: Metric, present: np.ndarray) -> np.ndarray:
        """Do as `score_all_classes`, by `Metric.classes`; `present`, int64, has the codes of the classes with rows."""
        assert metric.classes is not None
        counts = np.append(self.selected[:, present], np.zeros((1, len(present))), axis=0)
        found = metric.call(metric.classes, counts, self.table.totals[present])
        scores = check_numbers(found, (len(counts),), metric.name, "classes of the metric", metric)
        return self.find_best(scores[:-1], float(scores[-1]))

    def _sums_over_classes(self, term: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Add up over classes the `term` of the rows that each test selects, and last of none: float64 (tests + 1,)."""
        cells, own, totals = self._cells, self._class_cells, self.table.totals
        totals_of = totals[own.code]
        nominal = cells.nominal[cells.column_of_cell[own.cell]]
        upto = np.minimum(np.where(nominal, own.weight, own.upto), totals_of)
        before = np.where(own.begins | nominal, 0.0, np.append(0.0, upto)[:-1])
        change = term(upto, totals_of) - term(before, totals_of)
        changes = np.bincount(own.cell, change, len(cells.values))
        sums = np.where(cells.nominal[cells.column_of_cell], changes, sum_from_each_cell(changes, cells.indptr))
        present = totals[totals > 0]
        nothing = float(term(np.zeros(len(present)), present).sum())
        return np.append(sums[self._tests] + nothing, nothing)


_FINITE = "a metric must be finite for all counts; take care of 0 / 0"


def _score_table_columns(table: ContingencyTable, metric: Metric, field: str) -> np.ndarray:
    """Score the columns of a table by ``by_table`` or ``by_labels``, whichever `field` names: float64 (columns,).

    Raises
    ------
    PluginError : as for `Thresholds.score`.
    """
    found = metric.call(getattr(metric, field), table)
    scores = check_numbers(found, table.columns.shape, metric.name, f"{field} of the metric", metric)
    for column in np.flatnonzero(~np.isfinite(scores))[:1].tolist():
        name = quoted(table.schema.features[table.columns[column]].name)
        raise make_contract_error(metric.name, f"{name}: the score is {scores[column]:g}; {_FINITE}", metric)
    return scores


def _set_scores_of_nominal(scores: np.ndarray, table: ContingencyTable, metric: Metric, task: int | None) -> None:
    """Replace the scores of nominal columns in `scores`, float64 (columns,), if the metric has a form for all labels.

    `task` is the code of the class that is compared with the rest; None compares all classes. Nothing changes if only
    one of the classes compared has rows.
    """
    nominal = np.flatnonzero(table.nominal)
    if metric.by_labels is not None and len(nominal):
        table = table.only(nominal)
        table = table if task is None else table.one_against_rest(task)
        if np.count_nonzero(table.totals > 0) > 1:
            scores[nominal] = _score_table_columns(table, metric, "by_labels")


def scoring_bytes(statistic: Statistic, metric: Metric | None = None) -> int:
    """Estimate the bytes of the arrays that scoring by `metric` works with; see `ColumnStage.working_bytes`.

    It is `Statistic.working_bytes` unless the classes are so many that their weights are sparse. None stands for a
    metric that scores one test after the other.
    """
    if not isinstance(statistic, ContingencyTable) or not isinstance(statistic.cell_parts, SparseParts):
        return statistic.working_bytes
    if metric is not None and (metric.by_table or (metric.by_labels and statistic.nominal.any())):
        return statistic.working_bytes
    scores = len(statistic) * len(statistic.totals) * 8  # one for each column and class
    if not (statistic.values > 0).all():
        scores *= 4  # zeros are cells
    return min(2 * statistic.nbytes + scores, statistic.working_bytes)


def _merge_equal_counts(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> Counts:
    """Return `Counts` with each distinct pair of `tp` and `fp` once; all pairs if they are not small whole numbers.

    Most tests of rare words have equal counts.
    """
    width = np.floor(neg) + 1  # greater than any whole fp
    n_pairs = (np.floor(pos) + 1) * width
    if not len(tp) or n_pairs >= 1 << 53 or (tp != np.rint(tp)).any() or (fp != np.rint(fp)).any():
        return Counts(tp, fp, np.arange(len(tp)), pos, neg)
    key = (tp * width + fp).astype(np.int64)
    if n_pairs > 32 * len(key):
        _, at, pair = np.unique(key, return_index=True, return_inverse=True)
        return Counts(tp[at], fp[at], pair, pos, neg)
    seen = np.zeros(int(n_pairs), bool)
    seen[key] = True
    pair = (np.cumsum(seen) - 1)[key]
    at = np.empty(np.count_nonzero(seen), np.int64)
    at[pair] = np.arange(len(key))
    return Counts(tp[at], fp[at], pair, pos, neg)


def one_against_rest(
    thresholds: Thresholds, metric: Metric, alpha: float | None = None
) -> tuple[np.ndarray, list[int]]:
    """Score each class of `ContingencyTable.tasks` against the rest.

    Parameters
    ----------
    thresholds : the tests of a table.
    metric : what to score by.
    alpha : as for `score_columns`. If it is None, a metric with `Metric.by_labels` scores nominal columns by that.

    Returns
    -------
    float64 (columns, tasks), the best score of each column for each class; and the codes of these classes.

    Raises
    ------
    PluginError : as for `Thresholds.score`.
    """
    tasks = thresholds.table.tasks()
    if thresholds.many_classes and len(tasks) > 1:
        scores = thresholds.score_each_class(metric, tasks, alpha)
    else:
        each = [thresholds.find_best(*thresholds.score(metric, task, alpha)) for task in tasks]
        scores = np.stack(each, axis=1) if each else np.zeros((len(thresholds.table), 0))
    if alpha is None:
        for i, task in enumerate(tasks):
            _set_scores_of_nominal(scores[:, i], thresholds.table, metric, task)
    return scores, tasks


def score_columns(
    thresholds: Thresholds, metric: Metric, *, alpha: float | None = None, combine: str | None = None, seed: int = 0
) -> np.ndarray:
    """Score each covered column: float64 (columns,), for most metrics the score of its best test.

    A column without a test scores as a feature that no row has.

    Parameters
    ----------
    thresholds : the tests of a table. If the metric needs no class, the table counts all rows as one class.
    metric : what to score by.
    alpha : the weight of features that go with the positive class; others weigh 1 - alpha (Forman 2003, lesion study).
        None leaves all scores as they are.
    combine : how the scores of several classes, each against the rest, become one: ``max``, ``mean``, or ``weighted``,
        the mean weighted by the shares of the classes. None takes the metric's own form for several classes if it has
        one and `alpha` is None, else ``max``.
    seed : for metrics that are random.

    Raises
    ------
    PluginError : as for `Thresholds.score`.
    """
    table = thresholds.table
    if metric.by_column is not None:
        scores = metric.call(metric.by_column, table.column_offset + table.columns, seed)
        return check_numbers(scores, table.columns.shape, metric.name, "by_column of the metric", metric)
    if metric.by_table is not None:
        if metric.needs_class and table.schema.positive is not None:
            table = table.one_against_rest(*table.tasks())
        return _score_table_columns(table, metric, "by_table")
    if not metric.needs_class:
        return thresholds.find_best(*thresholds.score(metric, None))
    several = table.schema.positive is None and table.totals.shape[0] > 2
    if several and metric.classes is not None and combine is None and alpha is None:
        if np.count_nonzero(table.totals > 0) < 2:
            return np.zeros(len(table))
        scores = thresholds.score_all_classes(metric)
        _set_scores_of_nominal(scores, table, metric, None)
        return scores
    scores, tasks = one_against_rest(thresholds, metric, alpha)
    return combine_scores(scores, table.totals[tasks], combine or "max")


def combine_scores(scores: np.ndarray, totals: np.ndarray, how: str) -> np.ndarray:
    """Combine the scores of several classes into one: float64 (n,); 0 if there are no classes.

    Parameters
    ----------
    scores : float64 (n, tasks).
    totals : float64 (tasks,), the weights of the classes.
    how : one of `COMBINATIONS`.
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
