"""Thresholds: all tests that turn a column into a yes-or-no feature, and the rows that they select.

A numeric column has a threshold between any two neighbouring training values, zeros included. A test selects the rows
whose value is at least the threshold (Forman, Scholz and Rajaram 2009, section 3.4). A nominal column has a test for
each of its values, which selects the rows with that value; a metric with `Metric.by_labels` scores all of them at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from filterkit.counts.class_parts import SparseClassWeights
from filterkit.counts.class_runs import ClassCells, sort_cells_by_column_and_class
from filterkit.counts.table import ContingencyTable, sum_over_classes
from filterkit.data.ragged import find_run_begins


class ConfusionCounts(NamedTuple):
    """Holds the counts of all tests for one class against the rest.

    Attributes
    ----------
    tp, fp : float64 (n,), pairs of counts: the weight of the rows that a test selects, of the class and of the rest.
        Tests with equal pairs may share one.
    pair : int64 (tests,), the index of the pair of each test.
    pos, neg : the weight of all rows of the class, and of the rest.
    """

    tp: np.ndarray
    fp: np.ndarray
    pair: np.ndarray
    pos: float
    neg: float


class Thresholds:
    """Finds the tests of all columns that a table covers, and counts the rows that they select.

    A test selects the rows whose value is at least a threshold or, in a nominal column, is one label.

    Attributes
    ----------
    table : the table, as given.
    column : int64 (tests,), ascending: the covered column of each test, from 0.
    values : float64 (tests,): the threshold, or the index of the nominal value.
    cells : the table with the cells from which the tests come, perhaps with some of zeros.
    is_test : bool (cells,): from which of these cells a test comes.
    first_tests : int64, the index of the first test of each column that has one.
    varied : bool (columns,), which covered columns have a test, that is, at least two distinct training values.
    many_classes : whether there are so many classes that the table holds their weights as `SparseClassWeights`.
    """

    def __init__(self, table: ContingencyTable) -> None:
        self.table = table
        self.many_classes = isinstance(table.cell_parts, SparseClassWeights)
        # If zero can only be the least value of a column, it is not a threshold itself, and needs no cell. But it makes
        # the least value above it a threshold.
        least = not table.nominal.any() and bool((table.values > 0).all())
        cells = table if least else table.with_zeros()
        column = cells.column_of_cell
        is_test = ~find_run_begins(column)
        if least:
            is_test |= table.zero_occurs[column]
        if cells.nominal.any():
            is_test = np.where(cells.nominal[column], np.diff(cells.indptr)[column] > 1, is_test)
        self.cells = cells
        self.is_test = is_test
        self.column = column[is_test]
        self.values = cells.values[is_test]
        self.first_tests = np.flatnonzero(find_run_begins(self.column))
        self.varied = np.zeros(len(table), bool)
        self.varied[self.column[self.first_tests]] = True
        self._against: dict[int | None, ConfusionCounts] = {}

    @cached_property
    def selected_class_weights(self) -> np.ndarray:
        """float64 (tests, classes): the weight of the rows of each class that each test selects."""
        return self._sum_selected_weights(self.cells)

    @cached_property
    def selected_weights(self) -> np.ndarray:
        """float64 (tests,): the weight of the rows of any class that each test selects."""
        if self.many_classes:
            return np.asarray(self._sum_selected_weights(self.cells.without_classes())[:, 0])
        return sum_over_classes(self.selected_class_weights)

    def _sum_selected_weights(self, cells: ContingencyTable) -> np.ndarray:
        """Return the weight of the rows of each class that each test selects: float64 (tests, classes of `cells`).

        `cells` is the attribute of this name, or that table with its classes grouped.
        """
        selected = cells.cumulative(descending=True)
        nominal = cells.nominal[cells.column_of_cell]
        if nominal.any():
            selected = np.where(nominal[:, None], cells.counts, selected)
        # Sums of fractional weights may be rounded.
        return np.asarray(np.clip(selected.compress(self.is_test, axis=0), 0.0, cells.totals))

    @cached_property
    def class_cells(self) -> ClassCells:
        """The cells in which each class has rows, and their weights, from `cells`."""
        parts = self.cells.cell_parts
        return sort_cells_by_column_and_class(SparseClassWeights.from_parts(parts), self.cells.column_of_cell)

    def find_best(self, scores: np.ndarray, constant: float) -> np.ndarray:
        """Return the largest of the scores of the tests of each covered column: float64 (columns,).

        `scores` is float64 (tests,). A column without a test has `constant`.
        """
        best = np.full(len(self.table), constant)
        if len(self.first_tests):
            best[self.varied] = np.maximum.reduceat(scores, self.first_tests)
        return best

    def count_against_rest(self, task: int | None) -> ConfusionCounts:
        """Count the rows that each test selects, of the class with code `task` and of the rest.

        With None, all rows are positive, as if of the class. The result is cached.
        """
        if task not in self._against:
            tp = self.selected_weights
            pos = total = float(self.table.totals.sum())
            if task is not None:
                pos = float(self.table.totals[task])
                if self.many_classes:
                    is_task = np.arange(len(self.table.totals)) == task
                    tp = self._sum_selected_weights(self.cells.group_classes(np.where(is_task, 0, -1), 1))[:, 0]
                else:
                    tp = self.selected_class_weights[:, task]
            fp = np.minimum(self.selected_weights - tp, total - pos)  # weights not whole may round
            self._against[task] = merge_equal_counts(tp, fp, pos, total - pos)
        return self._against[task]


def merge_equal_counts(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> ConfusionCounts:
    """Make `ConfusionCounts` of the counts of tests, float64 (tests,) each; tests with equal pairs of counts share one.

    If they are not all whole numbers, or too many pairs are possible, each test keeps a pair of its own.
    """
    width = np.floor(neg) + 1  # greater than any whole fp
    n_pairs = (np.floor(pos) + 1) * width
    if not len(tp) or n_pairs >= 1 << 53 or (tp != np.rint(tp)).any() or (fp != np.rint(fp)).any():
        return ConfusionCounts(tp, fp, np.arange(len(tp)), pos, neg)
    key = (tp * width + fp).astype(np.int64)
    if n_pairs > 32 * len(key):
        _, at, pair = np.unique(key, return_index=True, return_inverse=True)
        return ConfusionCounts(tp[at], fp[at], pair, pos, neg)
    seen = np.zeros(int(n_pairs), bool)  # a table takes a fifth of the time of sorting
    seen[key] = True
    pair = (np.cumsum(seen) - 1)[key]
    at = np.empty(np.count_nonzero(seen), np.int64)
    at[pair] = np.arange(len(key))
    return ConfusionCounts(tp[at], fp[at], pair, pos, neg)
