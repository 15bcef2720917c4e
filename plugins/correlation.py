"""Score columns by how well a straight line relates them to the class: Pearson's correlation, and the F test."""

from __future__ import annotations

import numpy as np

from filterkit import Metric
from filterkit.plugin import ContingencyTable, Floats, divide_or_zero, offer, sum_over_classes


def score_by_correlation(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Compute |r| of the presence of each feature and the class: the square root of chi-squared / number of rows."""
    total = pos + neg
    spread = np.maximum(tp + fp, 0.0) * np.maximum(total - tp - fp, 0.0) * pos * neg
    return _compute_absolute_r(tp * neg - fp * pos, spread)


def score_columns_by_correlation(table: ContingencyTable) -> Floats:
    """|r|, Pearson's correlation with the class; of a nominal class, the mean over the classes.

    Each class is a 0/1 column, and the mean over the classes is weighted by their rows. Each label of a nominal column
    is a 0/1 column, too; the nominal column has the mean of their scores, weighted by their rows. A missing value
    counts as the mean of the column, or as its most frequent label. The score is that of Weka's
    CorrelationAttributeEval, with a numeric class, too.
    """
    return _compute_correlations_and_degrees_of_freedom(table)[0]


def score_by_f_test(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Compute the F statistic of the presence of each feature and the class."""
    return _compute_f_statistic(score_by_correlation(tp, fp, pos, neg) ** 2, np.ones(len(tp)), pos + neg)


def score_columns_by_f_test(table: ContingencyTable) -> Floats:
    """F statistic of column and class: R² / (1 − R²), times residual degrees of freedom / those of R².

    If column and class are numeric, R² is the square of Pearson's correlation (scikit-learn's `f_regression`). If one
    is numeric and the other nominal, R² is the share of the variance of the numbers that is between the labels
    (analysis of variance, `f_classif`). If both are nominal, it is the square of Cramér's V. A missing value counts as
    the mean of the column, or as its most frequent label. R² counts as at most 1 − 10⁻¹².
    """
    return _compute_f_statistic(*_compute_correlations_and_degrees_of_freedom(table)[1:], table.totals.sum())


def _compute_f_statistic(r_squared: Floats, degrees: Floats, n_rows: float) -> Floats:
    """Compute the F statistic of each column; 0 where no residual degrees of freedom are left: float64 (columns,).

    `r_squared` and `degrees`, float64 (columns,), are R² and its degrees of freedom, at least 1.
    """
    left = np.maximum(n_rows - degrees - 1, 0.0)
    return r_squared / np.maximum(1 - r_squared, 1e-12) * left / degrees


def _compute_correlations_and_degrees_of_freedom(table: ContingencyTable) -> tuple[Floats, Floats, Floats]:
    """Compute for each column the mean |r|, R², and the degrees of freedom of R²: float64 (columns,) each.

    `score_columns_by_correlation` and `score_columns_by_f_test` say what these are.
    """
    cells = table.with_zeros()
    column, columns, total = cells.column_of_cell, len(cells), max(cells.totals.sum(), 1e-300)
    nominal, counts = cells.nominal[column], _count_rows_after_filling_missing_labels(cells)
    rows = counts[:, 0] if cells.numeric_class else sum_over_classes(counts)
    share, values = rows / total, np.where(nominal, 1.0, _center_and_scale_values(cells))
    # Each label of a nominal column is compared with each class, and then the first cell of a numeric one for all.
    entry = np.where(nominal, np.arange(len(column)), cells.indptr[column])
    weight, rest = np.where(nominal, [share, np.maximum(1 - share, 0.0)], 1.0)
    squares = np.bincount(entry, values**2 * rows * rest, len(column))
    if cells.numeric_class:  # whose squared distances from the mean add up to the number of rows
        classes = [(counts[:, 1], cells.class_sums().totals[0] / total, total, 1.0, 1.0)]
    else:
        parts = [(size / total, 1 - size / total) for size in cells.totals.tolist() if size]
        classes = [(count, p, p * q * total, p, q) for count, (p, q) in zip(counts.T[cells.totals > 0], parts)]
    found = np.zeros((2, columns))
    for sums, mean, spread, of_class, of_others in classes:
        r = _compute_absolute_r(np.bincount(entry, values * (sums - rows * mean), len(column)), squares * spread)
        found[0] += of_class * np.bincount(column, r * weight, columns)
        found[1] += of_others * np.bincount(column, r**2 * rest, columns)
    degrees = np.where(cells.nominal, np.bincount(column, rows > 0, columns) - 1, 1), max(len(classes) - 1, 1)
    return found[0], found[1] / np.maximum(np.minimum(*degrees), 1), np.maximum(*degrees)


def _center_and_scale_values(cells: ContingencyTable) -> Floats:
    """Return the value of each cell less the mean of its column, divided by a power of two: float64 (cells,).

    A cell is a value of a column. The power is about as large as the largest absolute value of the column, so that no
    square overflows. Such a division is exact, so values that are near each other lose no digits. The values of a
    constant column become 0. Those of nominal columns mean nothing.
    """
    column, columns, rows = cells.column_of_cell, len(cells), cells.rows
    low, high = cells.extremes()
    exponents = -np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    # The difference of values near each other is exact.
    values = np.ldexp(cells.values, exponents[column]) - np.ldexp(low, exponents)[column]
    mean = divide_or_zero(np.bincount(column, values * rows, columns), np.bincount(column, rows, columns))
    return np.where((low == high)[column], 0.0, values - mean[column])


def _count_rows_after_filling_missing_labels(cells: ContingencyTable) -> Floats:
    """Count rows by cell and class: float64 (cells, classes); a missing label counts as the column's most frequent one.

    A cell is a value of a column. Rows with a missing number are left out. With a numeric class return float64 (cells,
    2): the number of rows, and the sum of their classes as `class_sums` shifts them.
    """
    counts, missing = cells.counts.copy(), cells.missing
    if cells.numeric_class:
        sums = cells.class_sums()
        counts = np.column_stack([cells.rows, sums.counts])
        missing = np.column_stack([cells.missing_rows, sums.missing])
    order = np.lexsort((np.arange(len(counts)), -cells.rows, cells.column_of_cell))
    filled = np.flatnonzero(cells.nominal & (np.diff(cells.indptr) > 0))
    counts[order[cells.indptr[:-1][filled]]] += missing[filled]
    return counts


def _compute_absolute_r(product: np.ndarray, squares: Floats) -> Floats:
    """Compute |product| / √squares, at most 1; 0 where `squares` is 0."""
    return np.minimum(divide_or_zero(np.abs(product), np.sqrt(np.maximum(squares, 0.0))), 1.0)


filterkit_metrics = offer(
    Metric("correlation", score_by_correlation, by_table=score_columns_by_correlation, numeric_class=True),
    Metric("ftest", score_by_f_test, by_table=score_columns_by_f_test, numeric_class=True),
)
