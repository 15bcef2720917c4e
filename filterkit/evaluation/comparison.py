"""Which of several methods is best over many tasks, and which two methods together.

A method is near best on a task if its value is within a tolerance of the best value of any method there. NaN is never
near best, and a task on which all values are NaN counts as a task without a winner. Values are at least 0, and larger
values are better.
"""

from __future__ import annotations

import warnings

import numpy as np


def spread(values: np.ndarray) -> tuple[float, float]:
    """The mean of `values`, float64 (n,), and its standard error, without NaN.

    The mean is NaN if no value is left, the standard error if fewer than two are left.
    """
    known = values[~np.isnan(values)]
    mean = known.mean() if len(known) else np.nan
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    return float(mean), float(error)


def paired(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The mean difference of two methods, and the p-value of the two-sided paired t-test.

    Parameters
    ----------
    a, b : float64 (n,), the values of the two methods, pair by pair on the same task or fold. A pair with a NaN is left
        out. Folds of one data set share training rows, which makes p too small; tasks do not.

    Returns
    -------
    The mean of a − b, NaN if no pair is left; and p, NaN if fewer than two pairs are left, 1 if no pair differs, and
    about 0 if all pairs differ by the same amount.

    Raises
    ------
    ValueError : a and b differ in shape.
    """
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"not two arrays of one length: {a.shape}, {b.shape}")
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    difference = a - b
    if len(difference) < 2:
        return (float(difference[0]) if len(difference) else np.nan), np.nan
    if not difference.any():
        return 0.0, 1.0
    from scipy.stats import ttest_rel

    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of equal differences
        return float(difference.mean()), float(ttest_rel(a, b).pvalue)


def near_best(values: np.ndarray, tolerance: float) -> np.ndarray:
    """bool (tasks, methods): whether a method's value is at least best · (1 − tolerance) of its task.

    Parameters
    ----------
    values : float64 (tasks, methods).
    tolerance : from 0 to 1, relative to the best value; with 0 only the best value and its equals are near best.

    Raises
    ------
    ValueError : there is no task or no method, a value is negative, or the tolerance is out of range.
    """
    if values.ndim != 2 or not values.size:
        raise ValueError(f"not of the shape (tasks, methods), or empty: {values.shape}")
    if (values < 0).any():
        raise ValueError("a value is negative")
    if not 0 <= tolerance <= 1:
        raise ValueError(f"the tolerance is not from 0 to 1: {tolerance}")
    best = np.fmax.reduce(values, axis=1, keepdims=True)  # passes over NaN
    return np.asarray(values >= best * (1 - tolerance))


def share_near_best(values: np.ndarray, tolerance: float) -> np.ndarray:
    """float64 (methods,): the share of all tasks on which each method is near best; see `near_best`."""
    return np.asarray(near_best(values, tolerance).mean(axis=0))


def residual_wins(values: np.ndarray, tolerance: float, leader: int) -> np.ndarray:
    """float64 (methods,): the share of all tasks on which the leader or the method is near best.

    It shows which method to try besides the leader: one that wins where the leader does not (Forman 2003, "Residual Win
    Analysis"). The leader's own entry is its own share.

    Parameters
    ----------
    values, tolerance : see `near_best`, also for errors.
    leader : the number of a method, from 0.
    """
    near = near_best(values, tolerance)
    return np.asarray((near | near[:, [leader]]).mean(axis=0))


def best_pair(values: np.ndarray, tolerance: float) -> tuple[tuple[int, int], float]:
    """The two methods of which at least one is near best on most tasks (Forman 2003, "Residual Win Analysis").

    Parameters
    ----------
    values, tolerance : see `near_best`.

    Returns
    -------
    Their numbers i < j, for equal pairs the first in order; and the share of all tasks on which one is near best.

    Raises
    ------
    ValueError : there are fewer than two methods; also as `near_best`.
    """
    missed = (~near_best(values, tolerance)).astype(np.int64)
    tasks, methods = missed.shape
    if methods < 2:
        raise ValueError("a pair takes two methods")
    i, j = np.triu_indices(methods, 1)
    both = (missed.T @ missed)[i, j]
    first = int(both.argmin())
    return (int(i[first]), int(j[first])), float((tasks - both[first]) / tasks)
