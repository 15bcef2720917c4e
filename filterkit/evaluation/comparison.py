"""Comparing methods over many tasks: tests, ranks, and which method, or which two together, are near the best.

A method is near best on a task if its value is within a tolerance of the best value of any method there. NaN is never
near best, and a task on which all values are NaN counts as a task without a winner. For this, values must be at least
0, and larger values are better.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import NamedTuple

import numpy as np

_MOST_PAIRS = 6  # so many pairs are all tested
DIGITS = 12  # values that differ beyond this decimal place are equal: folds leave differences of about 1e-16


def average_without_nan(values: np.ndarray) -> float:
    """Return the mean of the `values`, float64 (n,), that are not NaN; return NaN if all are."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def compute_mean_and_standard_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of `values`, float64 (n,), and its standard error; NaN values are left out.

    The mean is NaN if no value is left, the standard error if fewer than two are left.
    """
    known = values[~np.isnan(values)]
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
    return average_without_nan(values), float(error)


def compute_corrected_t_test(a: np.ndarray, b: np.ndarray, test_train_ratio: float = 0.0) -> tuple[float, float]:
    """Compute the mean difference of two methods, and the p-value of the two-sided corrected resampled t-test.

    The training parts of folds overlap, so their results are not independent, and the plain paired t-test finds too
    many differences. Nadeau and Bengio (2003) multiply the variance of the mean by 1 + n · `test_train_ratio`:
    t = mean / √((1/n + ratio) · s²) with n − 1 degrees of freedom, as in Weka's Experimenter.

    Parameters
    ----------
    a, b : float64 (n,), the values of the two methods, pair by pair on the same fold. A pair with a NaN is left out.
    test_train_ratio : the number of test rows divided by that of training rows; 0 gives the plain t-test.

    Returns
    -------
    The mean of a − b, NaN if no pair is left; and p, NaN if fewer than two pairs are left, 1 if no pair differs, and
    about 0 if all pairs differ by the same amount.

    Raises
    ------
    ValueError : a and b differ in shape.
    """
    difference = _subtract_without_nan(a, b)
    mean, error = compute_mean_and_standard_error(difference)
    if len(difference) < 2:
        return mean, np.nan
    if not difference.any():
        return 0.0, 1.0
    if not error:
        return mean, 0.0
    from scipy.special import stdtr

    corrected = error * np.sqrt(1 + len(difference) * test_train_ratio)
    return mean, float(2 * stdtr(len(difference) - 1, -abs(mean) / corrected))


def choose_pairs_to_test(n_methods: int) -> list[tuple[int, int]]:
    """List the pairs of methods to test, by index: all pairs of up to 4 methods.

    Of more methods, only the first is compared with each other one, because the more tests there are, the weaker each
    becomes; see `adjust_p_values_by_holm`.
    """
    pairs = list(combinations(range(n_methods), 2))
    return pairs if len(pairs) <= _MOST_PAIRS else pairs[: n_methods - 1]  # those of the first come first


def compute_signed_rank_test(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Compute the mean difference of two methods, and the p-value of Wilcoxon's two-sided signed-rank test.

    Demšar (2006) recommends it for two methods on several data sets: it compares ranks of differences, so data sets
    need not be of one scale. Differences of 0 count half for either method; values are rounded as
    `rank_methods_on_each_task` rounds them.

    Parameters
    ----------
    a, b : float64 (n,), the values of the two methods, pair by pair on the same task. A pair with a NaN is left out.

    Returns
    -------
    The mean of a − b, NaN if no pair is left; and p, NaN if fewer than two pairs are left, and 1 if no pair differs.

    Raises
    ------
    ValueError : a and b differ in shape.
    """
    difference = _subtract_without_nan(a, b)
    mean, _ = compute_mean_and_standard_error(difference)
    if len(difference) < 2:
        return mean, np.nan
    rounded = np.round(difference, DIGITS)
    if not rounded.any():
        return mean, 1.0
    from scipy.stats import wilcoxon

    with warnings.catch_warnings(action="ignore"):  # of small samples with ties, for which it takes the normal one
        return mean, float(wilcoxon(rounded, zero_method="zsplit").pvalue)


def _subtract_without_nan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"expected two arrays of the same length, found the shapes {a.shape} and {b.shape}")
    difference = a - b
    return np.asarray(difference[~np.isnan(difference)])


def adjust_p_values_by_holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted so that the chance of any false finding is that of a single test (Holm 1979).

    The smallest of `p`, float64 (n,), is multiplied by the number of tests, the next by one less, and so on; no result
    is smaller than the one before it, or larger than 1. NaN stays NaN, and does not count as a test.
    """
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


def rank_methods_on_each_task(values: np.ndarray) -> np.ndarray:
    """Return the rank of each method on each task, 1 for the largest value: float64 (tasks without a NaN, methods).

    `values` is float64 (tasks, methods). Equal values get the mean of their ranks. Values are first rounded to 12
    decimal places, because means of folds that are equal in theory may differ in their last digits.
    """
    from scipy.stats import rankdata

    whole = values[~np.isnan(values).any(axis=1)]
    return np.asarray(rankdata(-np.round(whole, DIGITS), axis=1)).reshape(whole.shape)


def compute_friedman_p(values: np.ndarray) -> float:
    """Compute the p-value of Friedman's test that all methods are equal; NaN for fewer than 3 methods or 2 tasks.

    `values` is float64 (tasks, methods); tasks with a NaN are left out.
    """
    ranked = rank_methods_on_each_task(values)
    if len(ranked) < 2 or ranked.shape[1] < 3:
        return np.nan
    if (ranked == ranked[:, :1]).all():
        return 1.0
    from scipy.stats import friedmanchisquare

    return float(friedmanchisquare(*ranked.T).pvalue)


def compute_critical_difference(n_methods: int, n_tasks: int, level: float = 0.05) -> float:
    """Compute how much the mean ranks of two methods must differ to be significantly different (Nemenyi's test).

    The critical difference is q · √(k (k + 1) / (6 n)) for k methods and n tasks, where √2 · q is the quantile
    1 − `level` of the studentized range (Demšar 2006, section 3.2.2).
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - level, n_methods, np.inf)
    return float(quantile / np.sqrt(2) * np.sqrt(n_methods * (n_methods + 1) / (6 * n_tasks)))


def group_methods_with_close_ranks(mean_ranks: np.ndarray, limit: float) -> list[tuple[int, int]]:
    """Find the largest groups of methods whose mean ranks differ by less than `limit`.

    `mean_ranks` is float64 (methods,), ascending. Return the indices of the first and the last method of each group; a
    method alone is not a group.
    """
    last = np.searchsorted(mean_ranks, mean_ranks + limit, side="left") - 1
    new = np.append(True, last[1:] > last[:-1])  # others are part of the group before
    return [(first, int(last[first])) for first in np.flatnonzero(new & (last > np.arange(len(last)))).tolist()]


class MethodRanks(NamedTuple):
    """Holds the ranks of several methods over tasks, and the groups that Nemenyi's test does not tell apart.

    Attributes
    ----------
    mean_ranks : float64 (methods,), the mean rank of each method, 1 for the best.
    order : the indices of the methods by their mean ranks, the best first.
    friedman_p : the p-value of Friedman's test that all methods are equal; NaN for fewer than 3 methods or 2 tasks.
    critical_difference : the critical difference of Nemenyi's test; NaN for fewer than 2 tasks.
    groups : the indices of the methods of each group, the best first; a method may be in several groups or in none.
    n_tasks : the number of tasks.
    """

    mean_ranks: np.ndarray
    order: list[int]
    friedman_p: float
    critical_difference: float
    groups: list[list[int]]
    n_tasks: int


def rank_and_group_methods(values: np.ndarray) -> MethodRanks:
    """Rank methods by their values on several tasks, and group those that Nemenyi's test at 5 % does not tell apart.

    `values` is float64 (tasks, methods) without NaN; larger values are better. A method that differs from all others is
    in no group. With fewer than two tasks there are no groups and `limit` is NaN; without tasks, the mean ranks are
    NaN, too.
    """
    tasks, methods = values.shape
    mean = rank_methods_on_each_task(values).mean(axis=0) if tasks else np.full(methods, np.nan)
    limit = compute_critical_difference(methods, tasks) if tasks > 1 else np.nan
    order = np.argsort(mean, kind="stable")
    ends = group_methods_with_close_ranks(mean[order], limit) if tasks > 1 else []
    groups = [order[first : last + 1].tolist() for first, last in ends]
    return MethodRanks(mean, order.tolist(), compute_friedman_p(values), limit, groups, tasks)


def find_methods_near_best(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Return whether each method is near the best on each task: bool (tasks, methods).

    A method is near the best if its value is at least best · (1 − tolerance), where best is the largest value of the
    task. NaN is never near the best.

    Parameters
    ----------
    values : float64 (tasks, methods).
    tolerance : from 0 to 1, relative to the best value; with 0 only the best value and its equals are near best.

    Raises
    ------
    ValueError : there is no task or no method, a value is negative, or the tolerance is out of range.
    """
    if values.ndim != 2 or not values.size:
        raise ValueError(f"values must have the shape (tasks, methods) and not be empty, not {values.shape}")
    if (values < 0).any():
        raise ValueError(f"values must not be negative, but the least is {np.nanmin(values)}")
    if not 0 <= tolerance <= 1:
        raise ValueError(f"tolerance must be from 0 to 1, not {tolerance}")
    best = np.fmax.reduce(values, axis=1, keepdims=True)  # passes over NaN
    return np.asarray(values >= best * (1 - tolerance))


def find_best_pair_of_methods(values: np.ndarray, tolerance: float) -> tuple[tuple[int, int], float]:
    """Find the pair of methods of which one or both are near the best on the largest number of tasks.

    This is the "Residual Win Analysis" of Forman (2003).

    Parameters
    ----------
    values, tolerance : see `find_methods_near_best`.

    Returns
    -------
    The indices i < j of the pair, the first of equally good pairs; and the share of tasks on which one or both are near
    the best.

    Raises
    ------
    ValueError : there are fewer than two methods; also as `find_methods_near_best`.
    """
    missed = (~find_methods_near_best(values, tolerance)).astype(np.int64)
    tasks, methods = missed.shape
    if methods < 2:
        raise ValueError(f"values must have at least two methods to make a pair, not {methods}")
    i, j = np.triu_indices(methods, 1)
    both = (missed.T @ missed)[i, j]
    first = int(both.argmin())
    return (int(i[first]), int(j[first])), float((tasks - both[first]) / tasks)
