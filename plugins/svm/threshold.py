"""Find the threshold of scores with the best F1 on held-out rows."""

from __future__ import annotations

import numpy as np

from filterkit.plugin import Bools, Floats

_EQUAL = 2.0**-40  # scores that differ by less than this share of the largest are equal
_AS_GOOD = 1 - 1e-12  # of the best F1, which sums of weights round


def find_threshold_of_best_f1(scores: Floats, positive: Bools, weights: Floats) -> float:
    """Find the threshold with the best F1 = 2 tp / (2 tp + fp + fn); rows that score above it are predicted positive.

    It is half-way between two neighbouring scores or, if all rows are to be positive, the lowest score less 1; it is 0
    if 0 separates the same rows. Of equally good thresholds the result is the one nearest to 0. Without a positive row
    it is 0. The arrays are (rows,): the score of each row, whether it is positive, and its weight.
    """
    if not positive.any():
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    ends = np.flatnonzero(np.append(ordered[:-1] - ordered[1:] > _EQUAL * np.abs(scores).max(), True))
    weights = weights[order]
    found = np.cumsum(weights * positive[order])
    f1 = 2 * found[ends] / (found[-1] + np.cumsum(weights)[ends])
    lower = np.append(ordered[ends[:-1] + 1], -np.inf)
    thresholds = np.append((ordered[ends[:-1]] + lower[:-1]) / 2, ordered[-1] - 1)
    thresholds[(lower <= 0) & (ordered[ends] > 0)] = 0.0
    best = np.flatnonzero(f1 >= f1.max() * _AS_GOOD)
    return float(thresholds[best[np.abs(thresholds[best]).argmin()]])
