"""Pearson's correlation of a column with the class."""

from __future__ import annotations

import numpy as np

from filterkit import Metric, hookimpl
from filterkit.plugin import ContingencyTable, sum_over_classes


def correlation(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> np.ndarray:
    """|r| of presence and class, which is the square root of chi-squared divided by the number of rows."""
    total = pos + neg
    spread = np.maximum(tp + fp, 0.0) * np.maximum(total - tp - fp, 0.0) * pos * neg
    r = np.zeros(len(tp))
    np.divide(np.abs(tp * neg - fp * pos), np.sqrt(spread), out=r, where=spread > 0)
    return np.minimum(r, 1.0)


def correlation_of_columns(table: ContingencyTable) -> np.ndarray:
    """Mean |r| over the classes, where r is Pearson's correlation with being of the class.

    The classes weigh by their rows. Of a nominal column, each label is a 0/1 column of its own, and their means are
    averaged by the rows that have the label. A missing value counts as the mean of the column, or as its most frequent
    label. It is what Weka's CorrelationAttributeEval computes for a nominal class.
    """
    cells = table.with_zeros()
    nominal = cells.nominal[cells.column_of_cell]
    values, counts = _centred(cells), cells.counts
    counts = np.where(nominal[:, None], _with_missing_labels(cells), counts)
    rows, column, columns = sum_over_classes(counts), cells.column_of_cell, len(cells)
    total = max(float(cells.totals.sum()), 1e-300)
    squares = np.bincount(column, values**2 * rows, columns)
    of_columns, of_labels = np.zeros(columns), np.zeros(len(rows))
    for count, size in zip(counts.T, cells.totals.tolist()):
        share = size / total
        spread = size * (1 - share)
        products = np.bincount(column, values * count, columns)
        of_columns += share * _r(products, squares * spread)
        of_labels += share * _r(count - rows * share, rows * np.maximum(1 - rows / total, 0.0) * spread)
    labels = np.bincount(column, of_labels * rows, columns) / np.maximum(np.bincount(column, rows, columns), 1e-300)
    return np.where(cells.nominal, labels, of_columns)


def _centred(cells: ContingencyTable) -> np.ndarray:
    """float64 (cells,): the distance of each value from the mean of its column, divided by a power of two.

    Its size is that of the largest value, so no square overflows. Such a division is exact, so values that are near
    each other lose no digits. A constant column has none but zeros.
    """
    column, columns, rows = cells.column_of_cell, len(cells), cells.rows
    low, high = cells.extremes()
    largest = np.maximum(np.abs(low), np.abs(high))
    values = np.ldexp(cells.values, -np.frexp(largest)[1][column])
    weight = np.bincount(column, rows, columns)
    first = np.zeros(columns)  # the difference of values near each other is exact
    filled = np.diff(cells.indptr) > 0
    first[filled] = values[cells.indptr[:-1][filled]]
    values = values - first[column]
    mean = np.bincount(column, values * rows, columns) / np.where(weight > 0, weight, 1.0)
    return np.asarray(np.where((low == high)[column], 0.0, values - mean[column]))


def _with_missing_labels(cells: ContingencyTable) -> np.ndarray:
    """float64 (cells, classes): the counts, with the missing values of each column in its first most frequent cell."""
    counts = cells.counts.copy()
    order = np.lexsort((np.arange(len(counts)), -cells.rows, cells.column_of_cell))
    filled = np.flatnonzero(np.diff(cells.indptr) > 0)
    counts[order[cells.indptr[:-1][filled]]] += cells.missing[filled]
    return counts


def _r(product: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """|product| / √squares, at most 1; 0 where there is no spread."""
    r = np.zeros(len(product))
    np.divide(np.abs(product), np.sqrt(squares), out=r, where=squares > 0)
    return np.asarray(np.minimum(r, 1.0))


@hookimpl
def filterkit_metrics() -> list[Metric]:
    return [Metric("correlation", correlation, by_table=correlation_of_columns)]
