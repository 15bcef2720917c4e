"""Scores over the ROC plane, for lines of equal score."""

from __future__ import annotations

import numpy as np

from filterkit.counts.metric import Metric

_STEPS = 39  # of normal deviates, from -3.2 to 3.2


def list_isoline_rates() -> np.ndarray:
    """Return the rates of both axes, ascending from 0 to 1: float64 (41,).

    Between the ends, their normal deviates are equally far apart. So they are close to each other near 0 and 1, where
    the scores of rare features change most.
    """
    from scipy.special import ndtr

    return np.concatenate([[0.0], ndtr(np.linspace(-3.2, 3.2, _STEPS)), [1.0]])


def score_plane(metric: Metric, pos: float, neg: float) -> np.ndarray:
    """Score a feature at each point of the ROC plane; raise a `PluginError` if the metric fails.

    Parameters
    ----------
    metric : scores a feature by the rows that have it.
    pos, neg : the weights of all positive and of all negative rows, greater than 0.

    Returns
    -------
    float64 (41, 41), a row for each true-positive rate of `list_isoline_rates`, a column for each false-positive rate.
    """
    fpr, tpr = np.meshgrid(list_isoline_rates(), list_isoline_rates())
    found = metric.call(metric.score, tpr.ravel() * pos, fpr.ravel() * neg, pos, neg)
    return np.asarray(found, np.float64).reshape(fpr.shape)


def has_plane(metric: Metric, classes: int) -> bool:
    """Return whether the score of a feature follows from its point in the ROC plane, with so many `classes` to compare.

    It does not for a metric that needs no class, looks at whole columns or at no data, or, with several classes, has a
    form of its own for them.
    """
    return metric.compares_classes and metric.by_column is None and (classes == 1 or metric.classes is None)
