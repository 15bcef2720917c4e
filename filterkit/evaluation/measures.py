"""Measures of how good the predictions for one test fold are."""

from __future__ import annotations

import numpy as np

from filterkit.stages.models import Outcome, group_ends

_TOP = 20  # the number of rows that p20 takes into account

# One line about each measure, in the order in which they are shown.
MEANINGS: dict[str, str] = {
    "accuracy": "share of the predictions that are right",
    "precision": "share of the rows predicted positive that are; mean over tasks",
    "recall": "share of the positive rows that are predicted so; mean over tasks",
    "f1": "harmonic mean of precision and recall; mean over tasks",
    "micro_precision": "precision of the predictions for all tasks together",
    "micro_recall": "recall of the predictions for all tasks together",
    "micro_f1": "F1 of the predictions for all tasks together",
    "sensitivity": "another name of recall",
    "specificity": "share of the negative rows that are predicted so; mean over tasks",
    "auc": "area under the ROC curve: how often a positive row scores above a negative one; mean over tasks",
    "p20": "share of positive rows among the 20 with the highest scores; mean over tasks",
    "bep": "break-even point: precision among as many of the highest scores as rows are positive; mean over tasks",
}

MEASURES: tuple[str, ...] = tuple(MEANINGS)
EARLY_MEASURES = MEASURES[:12]  # those in results files of all versions
LOSSES = frozenset[str]()  # of which smaller values are better


def measures(outcome: Outcome, names: tuple[str, ...] = MEASURES) -> dict[str, float]:
    """The measures `names` of an outcome, in that order: each a number from 0 to 1, or NaN.

    ``accuracy`` is the share of rows that are predicted right if tasks are exclusive. Otherwise it is the share of
    right cells, one for each row and label or target, which with several labels is 1 − Hamming loss. For ``micro_``
    measures, tp, fp and fn are added up over tasks. All other measures are computed for each task and averaged over
    tasks.

    - precision = tp / (tp + fp), 0 if nothing is predicted positive; recall = sensitivity = tp / (tp + fn);
      f1 = 2 tp / (2 tp + fp + fn); specificity = tn / (tn + fp).
    - auc: the share of the pairs of a positive and a negative row in which the positive one scores higher; equal
      scores count half.
    - p20: precision among the 20 highest scores, or among all rows if there are fewer.
    - bep: the break-even point (Brank and others 2002, section 5): precision among as many of the highest scores as
      rows are positive, where it equals recall. It is also known as R-precision.

    For rows with equal scores, p20 and bep are the means over all their orders.

    If the fold has no positive row of a task, only its specificity is defined; without a negative row, specificity and
    auc are undefined. The average is over the other tasks, and NaN if there are none. So a class that is absent from
    the fold does not lower the precision, where scikit-learn would count a 0. ``micro_`` measures do count its false
    positives; they are NaN only if no task has a positive row.

    Raises
    ------
    ValueError : the arrays differ in shape or are empty, `truth` or `predicted` is not bool, or a score is NaN.
    """
    truth, predicted, scores, _ = outcome
    if truth.ndim != 2 or not truth.shape == predicted.shape == scores.shape:
        raise ValueError(f"not of one shape (rows, tasks): {truth.shape}, {predicted.shape}, {scores.shape}")
    if truth.dtype != bool or predicted.dtype != bool:
        raise ValueError(f"not bool: {truth.dtype}, {predicted.dtype}")
    if not truth.size:
        raise ValueError("no rows or no tasks to measure")
    if np.isnan(scores).any():
        raise ValueError("a score is NaN")
    found: dict[str, float] = {}
    for group, measure in _GROUPS.items():
        if any(name in group for name in names):
            found.update(zip(group, map(float, measure(outcome)), strict=True))
    return {name: found[name] for name in names}


def _accuracy(outcome: Outcome) -> tuple[float]:
    right = outcome.truth == outcome.predicted
    return (np.logical_and.reduceat(right, group_ends(outcome.exclusive, right.shape[1])[:-1], axis=1).mean(),)


def _counted(outcome: Outcome) -> tuple[float, ...]:
    truth, predicted = outcome.truth, outcome.predicted
    counts = np.stack([(a & b).sum(axis=0) for a in (truth, ~truth) for b in (predicted, ~predicted)])
    precision, recall, f1, specificity = map(_mean, _rates(*counts))
    micro_precision, micro_recall, micro_f1, _ = map(float, _rates(*counts.sum(axis=1)))
    return precision, recall, f1, micro_precision, micro_recall, micro_f1, recall, specificity


def _ordered(outcome: Outcome) -> tuple[float, ...]:
    return tuple(map(_mean, np.array([_ranked(*task) for task in zip(outcome.truth.T, outcome.scores.T)]).T))


# The functions that compute each range of MEASURES.
_GROUPS = {MEASURES[:1]: _accuracy, MEASURES[1:9]: _counted, MEASURES[9:]: _ordered}


def _rates(tp: np.ndarray, fn: np.ndarray, fp: np.ndarray, tn: np.ndarray) -> tuple[np.ndarray, ...]:
    """Precision, recall, f1 and specificity of counts of any shape; NaN where they are undefined."""
    positive, negative = tp + fn, fp + tn
    some = np.where(positive > 0, 1.0, np.nan)
    precision = some * tp / np.maximum(tp + fp, 1)
    recall = some * tp / np.maximum(positive, 1)
    f1 = some * 2 * tp / np.maximum(2 * tp + fp + fn, 1)
    specificity = np.where(negative > 0, tn / np.maximum(negative, 1), np.nan)
    return precision, recall, f1, specificity


def _ranked(truth: np.ndarray, scores: np.ndarray) -> tuple[float, float, float]:
    """auc, p20 and bep of one task; `truth` is bool (rows,), `scores` float64 (rows,)."""
    if not truth.any():
        return np.nan, np.nan, np.nan
    _, group = np.unique(-scores, return_inverse=True)
    # The numbers of rows and of positive rows retrieved after each group of equal scores. Within a group, the expected
    # number of positive rows grows evenly, so the curve is straight between these points.
    rows = np.append(0, np.bincount(group).cumsum())
    found = np.append(0, np.bincount(group, truth).cumsum())
    positive, negative = int(found[-1]), int(rows[-1] - found[-1])
    auc = np.trapezoid(found, rows - found) / (positive * negative) if negative else np.nan
    top = min(_TOP, len(truth))
    p20, bep = np.interp([top, positive], rows, found) / [top, positive]
    return float(auc), float(p20), float(bep)


def _mean(values: np.ndarray) -> float:
    """The mean of those of `values` that are not NaN; NaN if all are."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
