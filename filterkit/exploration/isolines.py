"""Scores over the ROC plane, for lines of equal score."""

from __future__ import annotations

import numpy as np

from filterkit.counts.metric import Metric

_STEPS = 39  # of normal deviates, from -3.2 to 3.2


def list_roc_axis_rates() -> np.ndarray:
    """Return the rates at which both axes of the ROC plane are divided, ascending from 0 to 1: float64 (41,).

    Between the ends, their normal deviates are equally far apart. So they are close to each other near 0 and 1, where
    the scores of rare features change most.
    """
    from scipy.special import ndtr

    return np.concatenate([[0.0], ndtr(np.linspace(-3.2, 3.2, _STEPS)), [1.0]])


def score_roc_plane(metric: Metric, pos: float, neg: float) -> np.ndarray:
    """Score a feature at each point of the ROC plane: float64 (41, 41).

    It has a row for each true-positive rate of `list_roc_axis_rates`, and a column for each false-positive rate. `pos`
    and `neg` are the weights of all positive and negative rows, greater than 0. Raise PluginError if the metric fails.
    """
    fpr, tpr = np.meshgrid(list_roc_axis_rates(), list_roc_axis_rates())
    found = metric.call(metric.score, tpr.ravel() * pos, fpr.ravel() * neg, pos, neg)
    return np.asarray(found, np.float64).reshape(fpr.shape)


def can_score_roc_plane(metric: Metric, classes: int) -> bool:
    """Return whether the score of a feature follows from its point in the ROC plane, with so many `classes` to compare.

    It does not follow for a metric that needs no class, looks at whole columns or at no data, or has a form of its own
    for several classes where there are several.
    """
    return metric.compares_class_with_rest and metric.by_column is None and (classes == 1 or metric.classes is None)
