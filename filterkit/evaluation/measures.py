"""Measures: how good the predictions of one test fold are."""

from __future__ import annotations

import numpy as np

from filterkit.stages.models import Outcome

_TOP = 20  # the rows that p20 looks at

# What each measure is, in a line; the order is the one in which they are shown.
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


def measures(outcome: Outcome, names: tuple[str, ...] = MEASURES) -> dict[str, float]:
    """How good the predictions are: a number from 0 to 1 for each of `names`, in that order, or NaN.

    ``accuracy`` is the share of rows predicted right as a whole where tasks are exclusive, and the share of right
    cells otherwise, with several tasks 1 − Hamming loss. ``micro_`` stands for tp, fp and fn added up over tasks.
    Everything else is taken for each task and averaged over tasks.

    - precision = tp / (tp + fp), 0 if nothing is predicted positive; recall = sensitivity = tp / (tp + fn);
      f1 = 2 tp / (2 tp + fp + fn); specificity = tn / (tn + fp).
    - auc: the share of the pairs of a positive and a negative row in which the positive one scores higher,
      equal scores counting half.
    - p20: precision among the 20 highest scores, or all rows if there are fewer.
    - bep: where as many rows are retrieved as are positive, precision and recall are the same number; that
      number, also known as R-precision, is the break-even point (Brank and others 2002, section 5).

    Rows of equal scores are in random order: p20 and bep are the means over all their orders.

    A task without a positive row in the fold has none of these but specificity, and one without a negative row
    neither specificity nor auc: the average is over the other tasks, NaN if there are none. So a class that is
    absent from the fold costs no precision, where scikit-learn would count a 0; ``micro_`` does count its false
    positives, and is NaN only if no task has a positive row.

    Raises
    ------
    ValueError : if the arrays differ in shape or have no cell, truth or predicted is not bool, or a score is NaN.
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
    return ((right.all(axis=1) if outcome.exclusive else right).mean(),)


def _counted(outcome: Outcome) -> tuple[float, ...]:
    truth, predicted = outcome.truth, outcome.predicted
    counts = np.stack([(a & b).sum(axis=0) for a in (truth, ~truth) for b in (predicted, ~predicted)])
    precision, recall, f1, specificity = map(_mean, _rates(*counts))
    micro_precision, micro_recall, micro_f1, _ = map(float, _rates(*counts.sum(axis=1)))
    return precision, recall, f1, micro_precision, micro_recall, micro_f1, recall, specificity


def _ordered(outcome: Outcome) -> tuple[float, ...]:
    return tuple(map(_mean, np.array([_ranked(*task) for task in zip(outcome.truth.T, outcome.scores.T)]).T))


# What gives the measures of these places in MEASURES.
_GROUPS = {MEASURES[:1]: _accuracy, MEASURES[1:9]: _counted, MEASURES[9:]: _ordered}


def _rates(tp: np.ndarray, fn: np.ndarray, fp: np.ndarray, tn: np.ndarray) -> tuple[np.ndarray, ...]:
    """Precision, recall, f1 and specificity of counts of any shape; NaN where there is none."""
    positive, negative = tp + fn, fp + tn
    some = np.where(positive > 0, 1.0, np.nan)
    precision = some * tp / np.maximum(tp + fp, 1)
    recall = some * tp / np.maximum(positive, 1)
    f1 = some * 2 * tp / np.maximum(2 * tp + fp + fn, 1)
    specificity = np.where(negative > 0, tn / np.maximum(negative, 1), np.nan)
    return precision, recall, f1, specificity


def _ranked(truth: np.ndarray, scores: np.ndarray) -> tuple[float, float, float]:
    """auc, p20 and bep of one task: bool and float64 (rows,)."""
    if not truth.any():
        return np.nan, np.nan, np.nan
    _, group = np.unique(-scores, return_inverse=True)
    # How many rows, and positive ones, are retrieved with each further group of equal scores. Within a group
    # positive rows come evenly in expectation: between these points the curve is straight.
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
