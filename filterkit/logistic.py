"""Logistic regressions on one column each, all columns at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_STEPS = 50  # Newton's method needs about ten


class Points(NamedTuple):
    """Weighted rows of columns, in any order: the `column` (int64) of each point, its `value`, the weight of
    its rows that are `positive`, and of all its `rows`; float64 (points,)."""

    column: np.ndarray
    value: np.ndarray
    positive: np.ndarray
    rows: np.ndarray


def log_losses(columns: int, training: Points, held_out: Points) -> np.ndarray:
    """float64 (columns,): how badly each column alone predicts the class of rows that it was not fitted on.

    Parameters
    ----------
    columns : how many there are.
    training : fits, for each column by itself, a logistic regression on its standardised values with the
        penalty w²/2 and a free intercept: scikit-learn's ``LogisticRegression()`` behind ``StandardScaler()``.
    held_out : rows whose log losses, in nats, are added up by column.
    """
    of = training.column

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(of, values, columns)

    weight = np.maximum(total(training.rows), 1e-300)
    mean = total(training.rows * training.value) / weight
    spread = np.sqrt(total(training.rows * (training.value - mean[of]) ** 2) / weight)
    spread[spread == 0] = 1.0
    z = (training.value - mean[of]) / spread[of]
    share = np.clip(total(training.positive) / weight, 1e-12, 1 - 1e-12)
    intercept, slope = np.log(share / (1 - share)), np.zeros(columns)

    def objective(intercept: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return total(_losses(intercept[of] + slope[of] * z, training)) + slope**2 / 2

    least = objective(intercept, slope)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(intercept[of] + slope[of] * z, -700, 700)))
        error, curve = training.rows * p - training.positive, training.rows * p * (1 - p)
        gradient, bend = (total(error), total(error * z) + slope), total(curve * z)
        first, second = total(curve) + 1e-12, total(curve * z * z) + 1
        determinant = first * second - bend * bend
        down = (gradient[0] * second - gradient[1] * bend) / determinant
        turn = (gradient[1] * first - gradient[0] * bend) / determinant
        part = np.ones(columns)
        for _ in range(30):  # half the step wherever it went too far
            found = objective(intercept - part * down, slope - part * turn)
            worse = found > least + 1e-12 * np.abs(least)
            if not worse.any():
                break
            part[worse] /= 2
        part[worse] = 0
        intercept, slope, least = intercept - part * down, slope - part * turn, np.where(worse, least, found)
        if (np.abs(part * down) + np.abs(part * turn) < 1e-9 * (1 + np.abs(intercept) + np.abs(slope))).all():
            break
    at = held_out.column
    eta = intercept[at] + slope[at] * (held_out.value - mean[at]) / spread[at]
    return np.bincount(at, _losses(eta, held_out), columns)


def _losses(eta: np.ndarray, points: Points) -> np.ndarray:
    """The log loss of all rows of each point whose log odds are predicted as `eta`."""
    losses = points.positive * np.logaddexp(0, -eta) + (points.rows - points.positive) * np.logaddexp(0, eta)
    return np.asarray(losses)
