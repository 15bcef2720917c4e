"""Measures of predicted numbers: of a numeric class, or of numeric targets.

Most of them follow from sums over rows, so rows can be measured part by part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from filterkit.evaluation.comparison import average_without_nan
from filterkit.evaluation.measure_names import OF_NUMBERS
from filterkit.stages.models import Outcome

_EQUAL = 2.0**-40  # the variance of equal numbers is rounded to less than this share of their squares
_MOST_POINTS = 1000  # of a fold


def measure_number_predictions(outcome: Outcome) -> dict[str, float]:
    """Compute the measures `OF_NUMBERS`, each the mean over targets for which it is defined, or NaN.

    For errors e = prediction − number, means over rows by weight, and the means m of the numbers of the training rows:

    - mae = mean |e|; rmse = √(mean e²); medae: the median of |e|.
    - r2 = 1 − Σ e² / Σ (number − mean of the test rows)²; pearson and spearman: the correlation of predictions and
      numbers, and of their ranks, where equal ones have their mean rank. They are NaN if all numbers are equal. The
      correlations are 0 if all predictions are, as in Weka.
    - rae = Σ |e| / Σ |number − m|; rrse = √(Σ e² / Σ (number − m)²), as in Weka, which prints them in percent.

    With several targets rmse is the aRMSE, and rrse the aRRMSE, of Mulan (Spyromitros-Xioufis and others 2016). A row
    of weight w counts like w rows.
    """
    from sklearn.metrics import median_absolute_error  # few need it

    weights = outcome.row_weights
    pair = outcome.truth, outcome.predicted
    with np.errstate(over="ignore", invalid="ignore"):
        # Distances from means of their own lose no digits, however narrow the numbers of the fold are.
        found = compute_error_measures(
            sum_errors(outcome, [np.average(each, axis=0, weights=weights) for each in pair])
        )
        found["medae"] = median_absolute_error(*pair, sample_weight=weights, multioutput="raw_values")
    truth, predicted = (_rank_columns(each, weights) for each in pair)
    ranks = outcome._replace(truth=truth, predicted=predicted, means=weights.sum() / 2)
    found["spearman"] = compute_error_measures(sum_errors(ranks))["pearson"]
    # A measure that is too large for a number, of any target, has no mean.
    return {name: np.nan if np.isinf(found[name]).any() else average_without_nan(found[name]) for name in OF_NUMBERS}


def sum_errors(outcome: Outcome, centers: Sequence[np.ndarray] | None = None) -> np.ndarray:
    """Compute the sums over rows that `compute_error_measures` needs: float64 (10, targets).

    The sums of several parts of the rows may be added up.

    They are the weighted sums of 1, a, b, a², b², ab, |e|, e², |d| and d². Here a is the distance of the true number
    from the first of the `centers`, b that of the prediction from the second, e = prediction − number and
    d = number − m.

    Parameters
    ----------
    outcome : the numbers, the predictions and the means m of the training rows.
    centers : two arrays, float64 (targets,) each, the same for all parts; None for m twice.
    """
    of_true, of_said = (outcome.means, outcome.means) if centers is None else centers
    with np.errstate(over="ignore", invalid="ignore"):
        a, b, d = outcome.truth - of_true, outcome.predicted - of_said, outcome.truth - outcome.means
        error = outcome.predicted - outcome.truth
        terms = (np.ones_like(a), a, b, a * a, b * b, a * b, np.abs(error), error * error, np.abs(d), d * d)
        return np.stack([outcome.row_weights @ each for each in terms])


def compute_error_measures(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Compute measures from the sums of `sum_errors`: by name, float64 (targets,), NaN where undefined.

    These are the `OF_NUMBERS` without spearman and medae; `measure_number_predictions` has their formulas.
    """
    weight, a, b, aa, bb, ab, absolute, squares, absolute_of_mean, squares_of_mean = sums
    with np.errstate(all="ignore"):
        of_true, of_said, absolute_of_mean, squares_of_mean = (
            np.where(each > _EQUAL * whole, each, np.nan)
            for each, whole in (
                (aa - a * a / weight, aa),
                (bb - b * b / weight, bb),
                (absolute_of_mean, 0),
                (squares_of_mean, 0),
            )
        )
        correlation = (ab - a * b / weight) / np.sqrt(of_true) / np.sqrt(of_said)
        return {
            "mae": absolute / weight,
            "rmse": np.sqrt(squares / weight),
            "r2": 1 - squares / of_true,
            "pearson": np.where(np.isnan(of_said), of_true * 0, correlation),
            "rae": absolute / absolute_of_mean,
            "rrse": np.sqrt(squares / squares_of_mean),
        }


def list_number_predictions(names: Iterable[str], outcome: Outcome) -> list[Any]:
    """List the name, the true numbers and the predicted numbers of each target, as `Result.points` holds them.

    If there are more than 1000 rows, only some are listed, at equal distances. `names` are those of the targets.
    """
    rows = slice(None, None, -(-len(outcome.truth) // _MOST_POINTS))
    columns = zip(names, outcome.truth[rows].T.tolist(), outcome.predicted[rows].T.tolist())
    return [list(column) for column in columns]


def _rank_columns(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rank the numbers of each column: a rank is the weight of all rows with smaller numbers, and half the weight of
    those with the same number."""
    ranks = np.empty(values.shape)
    for column, own in enumerate(values.T):
        _, group = np.unique(own, return_inverse=True)
        size = np.bincount(group, weights)
        ranks[:, column] = (np.cumsum(size) - size / 2)[group]
    return ranks
