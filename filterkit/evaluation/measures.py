"""Measures of how good the predictions of one test fold are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np

from filterkit.data.arithmetic import divide_or_zero
from filterkit.errors import UsageError
from filterkit.evaluation.comparison import average_without_nan
from filterkit.evaluation.measure_names import LOSSES, MEASURES, OF_CLASSES, OF_NUMBERS
from filterkit.stages.models import Outcome, find_group_bounds

_TOP = 20  # the number of rows that p20 takes into account
_TIED = 2.0**-40  # scores, and means, that differ by less than this share of their size are equal
_EQUAL = 2.0**-40  # the variance of equal numbers is rounded to less than this share of their squares
_MOST_POINTS = 1000  # of a fold


def check_measure(flag: str, name: str, is_numeric: bool, choices: tuple[str, ...] = MEASURES) -> None:
    """Raise UsageError if a measure does not suit what is predicted: classes or, if `is_numeric`, numbers.

    The message begins with `flag`, and lists those of the `choices` that are suitable.
    """
    if (name in OF_NUMBERS) != is_numeric:
        of = "classes" if is_numeric else "numbers"
        fit = [each for each in choices if (each in OF_NUMBERS) == is_numeric]
        what = "a number is" if is_numeric else "classes are"
        raise UsageError(f"{flag} {name} is a measure of {of}, but {what} predicted; choose one of {', '.join(fit)}")


def find_best(values: Any, measure: str) -> int | None:
    """Find the candidate with the best mean of a measure over folds, the first of equally good ones.

    Means are equal if they differ by less than 2⁻⁴⁰ of their size.

    Parameters
    ----------
    values : float64 (folds, candidates), NaN where the measure is undefined; a fold with such a value does not count.
    measure : the name of the measure, which may be a loss.

    Returns
    -------
    The index of the candidate; None if no fold counts.
    """
    folds = np.asarray(values, np.float64)
    defined = folds[~np.isnan(folds).any(axis=1)] if folds.size else folds
    if not len(defined):
        return None
    sums = np.array([fsum(column) for column in defined.T])  # exact, whatever the order of the folds
    sums = -sums if measure in LOSSES else sums
    best = sums.max()
    return int(np.argmax(sums >= best - _TIED * np.abs(best)))


def measures(outcome: Outcome, names: tuple[str, ...] | None = None) -> dict[str, float]:
    """Compute measures of predictions; return a number or NaN by name, from 0 to 1 unless said otherwise.

    `names` are the measures, in order; by default all of `OF_CLASSES` or, of predicted numbers, all of `OF_NUMBERS`,
    see `measure_predicted_numbers`.

    ``accuracy`` is the share of rows that are predicted right if tasks are exclusive. Otherwise it is the share of
    right cells, one for each row and label or target, which is 1 − ``hamming_loss``. ``subset_accuracy`` is the share
    of rows of which all cells are right, as scikit-learn's ``accuracy_score``. For ``micro_`` measures, tp, fp and fn
    are added up over tasks. All other measures are computed for each task and averaged over tasks.

    - precision = tp / (tp + fp), 0 if nothing is predicted positive; recall = sensitivity = tp / (tp + fn);
      f1 = 2 tp / (2 tp + fp + fn); specificity = tn / (tn + fp).
    - auc: the share of the pairs of a positive and a negative row in which the positive one scores higher; equal
      scores count half.
    - p20: precision among the 20 highest scores, or among all rows if there are fewer.
    - bep: the break-even point (Brank and others 2002, section 5): precision among as many of the highest scores as
      rows are positive, where it equals recall. It is also known as R-precision.
    - pr_auc: average precision, the precision at each different score weighted by the rise of the recall.

    For rows with equal scores, p20 and bep are the means over all their orders. Scores are equal if they differ by less
    than 2⁻⁴⁰, about 10⁻¹², of their own size or, unless they are probabilities, of the median size of a score: scores
    that are equal in theory differ by about as much when sums of some thousand terms are rounded.

    For these, tasks that exclude each other are one class of several values, and the mean is over classes and labels:

    - kappa = (o − e) / (1 − e), for the share o of right predictions and the share e expected by chance.
    - mcc: from −1 to 1; 0 if all predictions are alike. kappa and mcc are NaN if all rows are of one class.
    - log_loss: the mean of −ln p of the true class, where p is at least 2⁻⁵²; brier: the mean squared difference of p
      and 1 or 0, for several classes summed over classes. Both are NaN unless scores are probabilities.

    Others are of the order of the scores of two or more labels in each row (Tsoumakas and others, *Mining Multi-label
    Data*, 2010, section 7), and NaN for other tasks. A wrong label counts as before a right one of the same score, as
    in scikit-learn:

    - one_error: the share of rows that lack a label of the highest score, as do rows without labels (MEKA's one-error).
    - coverage: the number of labels that score at least as high as the lowest right one, less that one; 0 for rows
      without labels. It is scikit-learn's ``coverage_error`` − 1, as MULAN counts.
    - ranking_loss: the share of pairs of a right and a wrong label in which the wrong one scores at least as high; 0
      for rows without pairs (``label_ranking_loss``).
    - lrap: for each right label, the share of right ones among those that score at least as high; 1 for rows
      without labels (``label_ranking_average_precision_score``).

    ``cost`` is the mean of `Outcome.costs`, NaN without them.

    A row of weight w counts like w rows; rows without weights have the weight 1.

    If the fold has no positive row of a task, only its specificity is defined; without a negative row, specificity and
    auc are undefined. The average is over the other tasks, and NaN if there are none. So a class that is absent from
    the fold does not lower the precision, where scikit-learn would count a 0. ``micro_`` measures do count its false
    positives; they are NaN only if no task has a positive row. Without scores, the measures of scores are NaN.

    Raise ValueError if the arrays differ in shape or are empty or, unless numbers are predicted, if `truth` or
    `predicted` is not bool, or a score is NaN.
    """
    truth, predicted = outcome.truth, outcome.predicted
    scores = np.zeros(truth.shape) if outcome.scores is None else outcome.scores
    if truth.ndim != 2 or not truth.shape == predicted.shape == scores.shape:
        raise ValueError(
            f"arrays must have one shape (rows, tasks), not {truth.shape}, {predicted.shape}, {scores.shape}"
        )
    if not truth.size:
        raise ValueError(f"arrays must have at least one row and one task, not the shape {truth.shape}")
    if outcome.is_numeric:
        found = measure_predicted_numbers(outcome)
        return {name: found[name] for name in names or OF_NUMBERS}
    if truth.dtype != bool or predicted.dtype != bool:
        raise ValueError(f"truth and predicted must be bool, not {truth.dtype} and {predicted.dtype}")
    if np.isnan(scores).any():
        raise ValueError("a score is NaN; all scores must be numbers")
    found, names = {}, names or OF_CLASSES
    for group, measure in _GROUPS.items():
        if any(name in group for name in names):
            found.update(zip(group, map(average_without_nan, map(np.asarray, measure(outcome))), strict=True))
    return {name: found[name] for name in names}


# Each of these functions returns several measures: one number each, or that of each task, which are then averaged.


def _measure_accuracy_and_cost(outcome: Outcome) -> Iterable[Any]:
    right = outcome.truth == outcome.predicted
    whole = np.logical_and.reduceat(right, find_group_bounds(outcome.exclusive, right.shape[1])[:-1], axis=1)
    subset = np.average(whole.all(axis=1), weights=outcome.weights)
    cost = np.nan if outcome.costs is None else np.average(outcome.costs, weights=outcome.weights)
    if outcome.weights is None:  # a product would copy all cells as numbers
        return whole.mean(), (~whole).mean(), subset, cost
    total = outcome.weights.sum() * whole.shape[1]
    accuracy, loss = ((outcome.weights @ cells).sum() / total for cells in (whole, ~whole))
    return accuracy, loss, subset, cost


def _measure_ranking_of_labels(outcome: Outcome) -> Iterable[Any]:
    truth = outcome.truth
    if outcome.scores is None or outcome.exclusive is not False or truth.shape[1] < 2:
        return (np.nan,) * 4
    from scipy.stats import rankdata

    # For each label, how many labels score at least as high; and for each right label, how many right ones do.
    labels = rankdata(-outcome.scores, "max", axis=1)
    rights = rankdata(np.where(truth, labels, np.inf), "max", axis=1)
    right, wrong = truth.sum(axis=1), (~truth).sum(axis=1)
    found = (
        ~(truth & (labels == rights)).any(axis=1),
        np.where(truth, labels - 1, 0).max(axis=1),
        np.where(truth, labels - rights, 0).sum(axis=1) / np.maximum(right * wrong, 1),
        np.where(right > 0, np.where(truth, rights / labels, 0).sum(axis=1) / np.maximum(right, 1), 1),
    )
    return (np.average(each, weights=outcome.weights) for each in found)


def _measure_precision_and_recall(outcome: Outcome) -> Iterable[Any]:
    truth, predicted = outcome.truth, outcome.predicted
    cells = [a & b for a in (truth, ~truth) for b in (predicted, ~predicted)]  # tp, fn, fp and tn
    weights = outcome.weights
    counts = np.stack([cell.sum(axis=0) if weights is None else weights @ cell for cell in cells])
    *rates, specificity = _compute_precision_recall_f1_specificity(*counts)
    *micro_rates, _ = _compute_precision_recall_f1_specificity(*counts.sum(axis=1))
    return *rates, *micro_rates, rates[1], specificity


def _measure_auc_and_top_precision(outcome: Outcome) -> Iterable[Any]:
    if outcome.scores is None:
        return (np.nan,) * 4
    truth, scores = outcome.truth.T, outcome.scores.T
    weights, are_probabilities = outcome.row_weights, outcome.probabilities
    return np.transpose(
        [_compute_auc_and_precisions_of_task(*task, weights, are_probabilities) for task in zip(truth, scores)]
    )


def _measure_kappa_and_mcc(outcome: Outcome) -> Iterable[Any]:
    """Compute Cohen's kappa of each confusion matrix, and Matthews' correlation for several classes (Gorodkin 2004).

    Return float64 (2, matrices). Both are NaN if all rows are of one true class.
    """
    found = []
    for matrix in compute_confusion_matrices(outcome):
        rows, true, guess = matrix.sum(), matrix.sum(axis=1), matrix.sum(axis=0)
        if np.count_nonzero(true) < 2:
            found.append((np.nan, np.nan))
            continue
        right, chance = np.trace(matrix) * rows, true @ guess
        spread = (rows * rows - true @ true) * (rows * rows - guess @ guess)
        mcc = (right - chance) / np.sqrt(spread) if np.count_nonzero(guess) > 1 else 0.0
        found.append(((right - chance) / (rows * rows - chance), mcc))
    return np.transpose(found)


def _measure_log_loss_and_brier(outcome: Outcome) -> Iterable[Any]:
    truth, scores = outcome.truth, outcome.scores
    if scores is None or not outcome.probabilities or scores.min() < 0 or scores.max() > 1:
        return np.nan, np.nan
    losses, errors = [], []
    least = np.finfo(np.float64).eps
    for first, stop in pairwise(find_group_bounds(outcome.exclusive, truth.shape[1])):
        p, true = scores[:, first:stop], truth[:, first:stop]
        of_true = (p * true).sum(axis=1) if stop - first > 1 else np.where(true, p, 1 - p)[:, 0]
        losses.append(np.average(-np.log(np.clip(of_true, least, 1 - least)), weights=outcome.weights))
        # A class that no training row has got the probability 0.
        error = ((p - true) ** 2).sum(axis=1) + (~true.any(axis=1) if stop - first > 1 else 0)
        errors.append(np.average(error, weights=outcome.weights))
    return losses, errors


# The functions, and the measures that each computes, in the order in which it returns them.
_GROUPS = {
    ("accuracy", "hamming_loss", "subset_accuracy", "cost"): _measure_accuracy_and_cost,
    (
        *("precision", "recall", "f1", "micro_precision", "micro_recall", "micro_f1"),
        *("sensitivity", "specificity"),
    ): _measure_precision_and_recall,
    ("auc", "p20", "bep", "pr_auc"): _measure_auc_and_top_precision,
    ("kappa", "mcc"): _measure_kappa_and_mcc,
    ("log_loss", "brier"): _measure_log_loss_and_brier,
    ("one_error", "coverage", "ranking_loss", "lrap"): _measure_ranking_of_labels,
}


def compute_confusion_matrices(outcome: Outcome) -> list[np.ndarray]:
    """Compute the confusion matrix of the class, or of each label or target: weights by true and predicted value.

    For a single task, a matrix is float64 (2, 2): the positive rows and the others. For k tasks that exclude each
    other, it is float64 (k + 1, k + 1): the tasks in order, and last the classes that are not among the tasks.
    """
    found = []
    for first, stop in pairwise(find_group_bounds(outcome.exclusive, outcome.truth.shape[1])):
        count = stop - first + 1
        true, guess = (
            np.where(each[:, first:stop].any(axis=1), each[:, first:stop].argmax(axis=1), count - 1)
            for each in (outcome.truth, outcome.predicted)
        )
        counts = np.bincount(true * count + guess, outcome.row_weights, count * count)
        found.append(counts.reshape(count, count))
    return found


def _compute_precision_recall_f1_specificity(
    tp: np.ndarray, fn: np.ndarray, fp: np.ndarray, tn: np.ndarray
) -> tuple[np.ndarray, ...]:
    positive, negative = tp + fn, fp + tn
    shares = divide_or_zero(tp, tp + fp), divide_or_zero(tp, positive), divide_or_zero(2 * tp, 2 * tp + fp + fn)
    precision, recall, f1 = (np.where(positive > 0, share, np.nan) for share in shares)
    return precision, recall, f1, np.where(negative > 0, divide_or_zero(tn, negative), np.nan)


def _compute_auc_and_precisions_of_task(
    truth: np.ndarray, scores: np.ndarray, weights: np.ndarray, are_probabilities: bool
) -> tuple[float, float, float, float]:
    """Compute auc, p20, bep and pr_auc of one task; all are NaN if no row is positive, and auc if all rows are.

    `truth`, bool, `scores` and `weights` have an entry for each row.
    """
    if not truth.any():
        return np.nan, np.nan, np.nan, np.nan
    typical = 0.0  # of scores that are not probabilities, the median size of those that are finite and not 0
    if not are_probabilities and len(sizes := np.abs(scores[np.isfinite(scores) & (scores != 0)])):
        typical = float(np.median(sizes))
    group = _rank_scores_descending(scores, typical)
    # The numbers of rows and of positive rows retrieved after each group of equal scores. Within a group, the expected
    # number of positive rows grows evenly, so the curve is straight between these points.
    rows = np.append(0, np.bincount(group, weights).cumsum())
    found = np.append(0, np.bincount(group, truth * weights).cumsum())
    positive, negative = found[-1], rows[-1] - found[-1]
    auc = np.trapezoid(found, rows - found) / (positive * negative) if not truth.all() else np.nan
    top = min(_TOP, rows[-1])
    p20, bep = np.interp([top, positive], rows, found) / [top, positive]
    precision = found[1:] / rows[1:]
    return auc, p20, bep, np.diff(found) @ precision / positive


def _rank_scores_descending(scores: np.ndarray, typical_size: float) -> np.ndarray:
    """Return the rank of each score, int64 (rows,): 0 for the highest, 1 for the next lower one; equal scores tie.

    Neighbouring scores are equal if they differ by at most 2⁻⁴⁰ of `typical_size`, or of the size of the smaller.
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    size = np.abs(ordered)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = ordered[:-1] - ordered[1:] > _TIED * np.maximum(np.minimum(size[:-1], size[1:]), typical_size)
    group = np.empty(len(scores), np.int64)
    group[order] = np.append(0, np.cumsum(apart))
    return group


# Predicted numbers: most measures follow from sums over rows, so rows can be measured part by part.


def measure_predicted_numbers(outcome: Outcome) -> dict[str, float]:
    """Compute the measures `OF_NUMBERS` by name, each the mean over the targets for which it is defined.

    A measure is NaN if it is defined for no target, or too large for a number for one.

    For errors e = prediction − number, means over rows by weight, and the means m of the numbers of the training rows:

    - mae = mean |e|; rmse = √(mean e²); medae: the median of |e|.
    - r2 = 1 − Σ e² / Σ (number − mean of the test rows)²; pearson and spearman: the correlation of predictions and
      numbers, and of their ranks, where equal ones have their mean rank. They are NaN if all numbers are equal. The
      correlations are 0 if all predictions are equal, as in Weka.
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
            sum_error_terms(outcome, [np.average(each, axis=0, weights=weights) for each in pair])
        )
        found["medae"] = median_absolute_error(*pair, sample_weight=weights, multioutput="raw_values")
    truth, predicted = (_rank_values_in_each_column(each, weights) for each in pair)
    ranks = outcome._replace(truth=truth, predicted=predicted, means=weights.sum() / 2)
    found["spearman"] = compute_error_measures(sum_error_terms(ranks))["pearson"]
    # A measure that is too large for a number, of any target, has no mean.
    return {name: np.nan if np.isinf(found[name]).any() else average_without_nan(found[name]) for name in OF_NUMBERS}


def sum_error_terms(outcome: Outcome, centers: Sequence[np.ndarray] | None = None) -> np.ndarray:
    """Compute the sums over rows that `compute_error_measures` needs: float64 (10, targets).

    They are the weighted sums of 1, a, b, a², b², ab, |e|, e², |d| and d². For the true number t, the prediction p and
    the mean m of the training rows, these are a = t − c₁, b = p − c₂, e = p − t and d = t − m. The sums of several
    batches of rows may be added up if the centers are the same.

    Parameters
    ----------
    outcome : the true and the predicted numbers.
    centers : c₁ and c₂, float64 (targets,) each; the closer to the means of t and p, the fewer digits are lost. None
        means m for both.
    """
    of_true, of_said = (outcome.means, outcome.means) if centers is None else centers
    with np.errstate(over="ignore", invalid="ignore"):
        a, b, d = outcome.truth - of_true, outcome.predicted - of_said, outcome.truth - outcome.means
        error = outcome.predicted - outcome.truth
        terms = (np.ones_like(a), a, b, a * a, b * b, a * b, np.abs(error), error * error, np.abs(d), d * d)
        return np.stack([outcome.row_weights @ each for each in terms])


def compute_error_measures(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Compute mae, rmse, r2, pearson, rae and rrse from the sums of `sum_error_terms`, for each target.

    Return float64 (targets,) by name, NaN where undefined; `measure_predicted_numbers` has the formulas.
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


def list_true_and_predicted_numbers(names: Iterable[str], outcome: Outcome) -> list[Any]:
    """Return a list for each target: its name, the list of its true numbers, and the list of the predicted ones.

    Of more than 1000 rows at most 1000 are listed, at equal distances. `names` are those of the targets.
    """
    rows = slice(None, None, -(-len(outcome.truth) // _MOST_POINTS))
    columns = zip(names, outcome.truth[rows].T.tolist(), outcome.predicted[rows].T.tolist())
    return [list(column) for column in columns]


def _rank_values_in_each_column(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the rank of each number in its column, float64 (rows, columns).

    A rank is the weight of the rows with smaller numbers, and half the weight of those with the same number. `weights`
    are those of the rows, float64 (rows,).
    """
    ranks = np.empty(values.shape)
    for column, own in enumerate(values.T):
        _, group = np.unique(own, return_inverse=True)
        size = np.bincount(group, weights)
        ranks[:, column] = (np.cumsum(size) - size / 2)[group]
    return ranks
