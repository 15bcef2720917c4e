"""Fit logistic regressions on one column each, all columns at once."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from filterkit.plugin import Floats, Ints, choose_scale_exponents

_STEPS = 50  # Newton's method needs about ten


class RowsByValue(NamedTuple):
    """Holds n groups of rows, each of the rows that have the same value in the same column; in any order.

    Attributes
    ----------
    column : int64 (n,), the index of the column of each group.
    value : float64 (n,), the value of each group in this column.
    counts : float64 (n, classes), the weight of the rows of each class in each group.
    total : float64 (n,), the weight of all rows in each group.
    """

    column: Ints
    value: Floats
    counts: Floats
    total: Floats


def predict_log_odds_by_column(n_columns: int, task: int, training: RowsByValue, held_out: RowsByValue) -> Floats:
    """Predict the log odds of the class `task` for each group of held-out rows, from its column alone: float64 (n,).

    Each column has its own logistic regression on the standardised values, with the penalty w²/2 and a free intercept:
    scikit-learn's ``LogisticRegression()`` after ``StandardScaler()``. All values must be finite.
    """
    # Where squares overflow or underflow, multiply values by a power of two. Nothing else changes, because values are
    # standardised.
    largest = np.zeros(n_columns)
    for rows in (training, held_out):
        np.maximum.at(largest, rows.column, np.abs(rows.value))
    exponent = choose_scale_exponents(largest)
    if exponent.any():
        training, held_out = (
            rows._replace(value=np.ldexp(rows.value, -exponent[rows.column])) for rows in (training, held_out)
        )
    weight = np.maximum(np.bincount(training.column, training.total, n_columns), 1e-300)
    mean = np.bincount(training.column, training.total * training.value, n_columns) / weight
    squares = training.total * (training.value - mean[training.column]) ** 2
    spread = np.sqrt(np.bincount(training.column, squares, n_columns) / weight)
    spread[spread == 0] = 1.0
    z = (training.value - mean[training.column]) / spread[training.column]
    intercept, slope = _fit_logistic_regressions(training, z, weight, task)
    column = held_out.column
    return np.asarray(intercept[column] + slope[column] * (held_out.value - mean[column]) / spread[column])


def _fit_logistic_regressions(training: RowsByValue, z: Floats, weight: Floats, task: int) -> tuple[Floats, Floats]:
    """Fit a logistic regression of each column by Newton's method; return intercepts and slopes, float64 (columns,).

    Parameters
    ----------
    training : groups of rows; `z` is used in place of their values.
    z : float64 (n,), the standardised value of each group.
    weight : float64 (columns,), the weight of all rows of each column.
    task : the code of the positive class.
    """
    column, positive, columns = training.column, training.counts[:, task], len(weight)
    sum_by_column = partial(np.bincount, column, minlength=columns)
    share = np.clip(sum_by_column(positive) / weight, 1e-12, 1 - 1e-12)
    intercept, slope = np.log(share / (1 - share)), np.zeros(columns)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(intercept[column] + slope[column] * z, -700, 700)))
        error, curve = training.total * p - positive, training.total * p * (1 - p)
        gradient = sum_by_column(error), sum_by_column(error * z) + slope
        # The Hessian's two diagonal entries and the one beside them.
        first, second, mixed = sum_by_column(curve) + 1e-12, sum_by_column(curve * z * z) + 1, sum_by_column(curve * z)
        determinant = first * second - mixed * mixed
        intercept_step = (gradient[0] * second - gradient[1] * mixed) / determinant
        slope_step = (gradient[1] * first - gradient[0] * mixed) / determinant
        # A step that changes no log odds by more than r changes second derivatives at most by the factor exp(r), so
        # this share of it never goes too far.
        reach = np.zeros(columns)
        np.maximum.at(reach, column, np.abs(intercept_step[column] + slope_step[column] * z))
        length = np.divide(np.log1p(reach), reach, out=np.ones(columns), where=reach > 0)
        intercept, slope = intercept - length * intercept_step, slope - length * slope_step
        moved = length * (np.abs(intercept_step) + np.abs(slope_step))
        if (moved < 1e-9 * (1 + np.abs(intercept) + np.abs(slope))).all():
            break
    return intercept, slope
