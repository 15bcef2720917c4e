"""Solve linear SVMs of many rows by the augmented Lagrangian method of Yan and Li (2020), with a free intercept.

Each round puts a parabola in place of the corner of every row's hinge loss, moved by the row's multiplier and steeper
from round to round. What is left to minimise has a first derivative everywhere, and Newton's method finds its minimum
in few steps. A step costs some products with the rows inside their parabola, and in the end these are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.plugin import Bools, Floats

_TOLERANCE = 1e-3  # libsvm's: how far two rows may be from the optimum, a margin being 1
_STEEPEST = 1e4  # times the largest cost; steeper parabolas are not needed for the tolerance
_STEEPER = 3.0  # from round to round
ROUNDING = 1e-10  # of a sum of costs
_UNBALANCED = 1e-6  # of the sum of all multipliers
_STEPS_OF_ROUND = 50
_PRODUCTS_OF_STEP = 500
_LEFT_BY_STEP = 1e-4  # of the squared residual of the equation of a step


class NoSolution(Exception):
    """Raised, without a message, if the allowed steps are not enough, or numbers become infinite."""


def fit_hyperplane_by_newton(X: Any, positive: Bools, costs: Floats, most_steps: int) -> tuple[Floats, float]:
    """Separate the positive rows from the others, and return coefficients, float64 (features,), and the intercept.

    They minimise the sum of hinge losses times `costs` plus half the squared length of the coefficients. As in libsvm,
    the intercept is not penalised, and the solution is exact but for 1e-3 of the margin.

    Parameters
    ----------
    X : float64 (rows, features), ndarray or `csr_array`.
    positive : bool (rows,), some True and some False.
    costs : float64 (rows,), above 0: C times the weight of each row.
    most_steps : how many Newton steps to allow.

    Raises
    ------
    NoSolution : the steps were not enough, or numbers became infinite.
    """
    rows, transposed = len(positive), X.T.tocsr() if hasattr(X, "tocsr") else X.T
    # The rows are taken relative to their mean, and the intercept makes up for it: that saves digits and steps.
    mean = X.mean(axis=0).ravel()
    values = (X.data if hasattr(X, "tocsr") else X).ravel()
    spread = max(float(values @ values) / rows - float(mean @ mean), 1e-300)
    sign = np.where(positive, 1.0, -1.0)

    def compute_normal_vector(multipliers: Floats) -> Floats:
        signed = multipliers * sign
        return np.asarray(transposed @ signed - signed.sum() * mean)

    w, scores, multipliers = np.zeros(X.shape[1]), np.zeros(rows), np.zeros(rows)
    steepest = _STEEPEST * float(costs.max())
    steepness = min(1 / spread, steepest)  # the second derivative of the parabolas
    steps, precision = 0, 1e-4
    while True:
        shift = multipliers / steepness
        for _ in range(_STEPS_OF_ROUND):
            intercept = _find_balancing_intercept(1 - sign * scores + shift, positive, costs, steepness)
            lack = 1 - sign * (scores + intercept) + shift
            multipliers = np.clip(steepness * lack, 0, costs)
            gradient = w - compute_normal_vector(multipliers)
            if not np.linalg.norm(gradient) > precision * (1 + np.linalg.norm(w)):
                break
            inside = X[np.flatnonzero((multipliers > 0) & (multipliers < costs))]
            step = _compute_newton_step(inside, gradient, steepness)
            gain = X @ step - mean @ step
            change = (inside @ step - mean @ step).mean() if inside.shape[0] else 0.0
            length = _choose_step_length(
                lack, sign * (gain - change), costs, steepness, float(w @ step), float(step @ step)
            )
            if not length:  # no more digits
                break
            w, scores, steps = w + length * step, scores + length * gain, steps + 1
        w = compute_normal_vector(multipliers)
        scores = X @ w - mean @ w
        if not np.isfinite(scores).all() or steps >= most_steps:
            raise NoSolution
        exact = sign - scores  # the intercept with which a row would be at its margin
        above, below = multipliers > 0, multipliers < costs
        least, most = compute_intercept_bounds(exact, positive, above, below)
        # Numbers that are too large lose the balance of the two sums, which the best intercept has, by rounding.
        balance = abs(float(multipliers @ sign)) <= _UNBALANCED * float(multipliers.sum())
        if balance and least - most <= _TOLERANCE:
            free = exact[above & below]
            return w, float(free.mean() if len(free) else (least + most) / 2) - float(mean @ w)
        steepness = min(steepness * _STEEPER, steepest)
        precision, steps = max(precision / 2, 1e-7), steps + 1


def compute_intercept_bounds(
    exact: Floats, positive: Bools, is_above_zero: Bools, is_below_cost: Bools
) -> tuple[float, float]:
    """Return the least and the largest value that the best intercept may have; −∞ or ∞ where no row bounds it.

    Parameters
    ----------
    exact : float64 (rows,), the intercept with which each row would be at its margin.
    positive : bool (rows,).
    is_above_zero, is_below_cost : bool (rows,), whether the Lagrange multiplier of each row is above 0, and below its
        upper bound, the cost of the row.
    """
    least = exact[np.where(positive, is_below_cost, is_above_zero)].max(
        initial=-np.inf
    )  # of rows that want no smaller intercept
    most = exact[np.where(positive, is_above_zero, is_below_cost)].min(
        initial=np.inf
    )  # of rows that want no larger one
    return float(least), float(most)


def _find_balancing_intercept(lack: Floats, positive: Bools, costs: Floats, steepness: float) -> float:
    """Find the intercept at which the multipliers of the positive rows and those of the others have the same sum.

    A row that lacks v to its margin has the multiplier v times `steepness`, but at least 0 and at most its cost. As the
    intercept grows, the difference of the two sums falls along straight lines, which bend where a multiplier reaches or
    leaves one of these limits. `lack`, float64 (rows,), is what each row lacks while the intercept is 0.
    """
    width = costs / steepness
    enter = np.where(positive, lack - width, -lack)
    bends = np.concatenate([enter, enter + width])
    order = np.argsort(bends)
    bends = bends[order]
    inside = np.cumsum(np.repeat([1, -1], len(lack))[order])[:-1]
    fall = np.cumsum(steepness * inside * np.diff(bends))
    difference = float(costs[positive].sum())  # before the first bend
    line = int(np.searchsorted(fall, difference * (1 - ROUNDING)))
    if line == len(fall):  # by rounding alone
        return float(bends[-1])
    beyond = int(np.searchsorted(fall, difference * (1 + ROUNDING), side="right"))
    if beyond > line:  # it is 0 from a bend to another, and libsvm takes the middle too
        return float(bends[line + 1] + bends[beyond]) / 2
    before = float(fall[line - 1]) if line else 0.0
    return float(bends[line] + (difference - before) / (steepness * inside[line]))


def _compute_newton_step(inside: Any, gradient: Floats, steepness: float) -> Floats:
    """Compute the Newton step to add to the coefficients, minus Hessian⁻¹ times gradient: float64 (features,).

    `inside`, float64 (n, features), are the rows in the curved part of their loss, perhaps none. The Hessian is the
    unit matrix plus `steepness` times the scatter matrix of these rows about their mean, because the intercept moves
    along.
    """
    # Conjugate gradients, preconditioned by the diagonal, need only products with the rows.
    rows = inside.shape[0]
    if not rows:
        return -gradient
    transposed = inside.T.tocsr() if hasattr(inside, "tocsr") else inside.T
    squares, sums = (inside * inside).sum(axis=0), inside.sum(axis=0)
    inverse = 1 / (1 + steepness * np.maximum(squares - sums * sums / rows, 0))
    step, residual = np.zeros(len(gradient)), -gradient
    towards = scaled = inverse * residual
    size = residual @ scaled
    enough = _LEFT_BY_STEP * size
    for _ in range(_PRODUCTS_OF_STEP):
        scores = inside @ towards
        curved = towards + steepness * (transposed @ (scores - scores.mean()))
        length = size / (towards @ curved)
        step, residual = step + length * towards, residual - length * curved
        scaled = inverse * residual
        before, size = size, residual @ scaled
        if not size > enough:
            break
        towards = scaled + size / before * towards
    return step


def _choose_step_length(
    lack: Floats, gain: Floats, costs: Floats, steepness: float, slope: float, curvature: float
) -> float:
    """Return the share of a step, up to 1, that leads near the lowest point along it; 0 if the step does not lead down.

    Parameters
    ----------
    lack : float64 (rows,), what each row lacks to its margin before the step.
    gain : float64 (rows,), how much less each row lacks after the whole step.
    costs : float64 (rows,), the largest multiplier of each row.
    steepness : the second derivative of the loss of a row in its curved part.
    slope, curvature : the first and the second derivative of half the squared length of the coefficients along the
        step.
    """

    def compute_slope_at(length: float) -> float:
        return slope + length * curvature - float(np.clip(steepness * (lack - length * gain), 0, costs) @ gain)

    low, high = 0.0, 1.0
    low_slope, high_slope = compute_slope_at(low), compute_slope_at(high)
    if not low_slope < 0:
        return 0.0
    if not high_slope > 0:
        return 1.0
    flat = -0.01 * low_slope
    while True:
        share = low_slope / (low_slope - high_slope)
        middle = low + (high - low) * min(max(share, 0.05), 0.95)
        there = compute_slope_at(middle)
        if abs(there) <= flat or not low < middle < high:
            return middle
        if there > 0:
            high, high_slope = middle, there
        else:
            low, low_slope = middle, there
