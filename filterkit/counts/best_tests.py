"""The test of each column that is best by a metric, with its counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from filterkit.counts.metric import Metric
from filterkit.counts.scoring import score_tests
from filterkit.counts.thresholds import Thresholds
from filterkit.data.ragged import find_run_begins


class BestTests(NamedTuple):
    """The best test of each covered column of a table, and the class that it separates best from the rest.

    A test selects rows by the value of one column; see `Thresholds`. A column with fewer than two distinct values has
    none. If the metric needs a class, and there is none to compare with the rest, as with a numeric class, each column
    is as one without a test.

    Attributes
    ----------
    task : int64 (columns,), the code of the class; 0 if the metric needs none, and for a column without a test.
    threshold : float64 (columns,), the threshold, or the index of the nominal value; NaN for a column without a test.
    tp, fp : float64 (columns,), the weights of the rows that the test selects: of the class, and of the rest. If the
        metric needs no class, all rows count as the class. Both are 0 for a column without a test.
    pos, neg : float64 (columns,), the weights of all rows of the class, and of the rest; 0 for a column without a test.
    score : float64 (columns,), the score of the test; -inf for a column without a test.
    """

    task: np.ndarray
    threshold: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    pos: np.ndarray
    neg: np.ndarray
    score: np.ndarray


def find_best_tests(thresholds: Thresholds, metric: Metric, alpha: float | None = None) -> BestTests:
    """Find the best test of each column by a metric, and the class that the test separates best from the rest.

    If several tests are equally good, the class with the lowest code counts, and of its tests the first.

    Parameters
    ----------
    thresholds : the tests of a table; if the metric needs no class, of one that counts all rows as one class.
    metric : what to score by: its `Metric.score`, even if it also scores whole columns. Only with `Metric.by_column`,
        which looks at no data, all scores are 0, and so the first test of each column is the best.
    alpha : the weight, from 0 to 1, of features that go with the class; others weigh 1 - alpha. None leaves scores as
        they are.

    Raises
    ------
    PluginError : the metric fails, or returns something else than float64 (n,), finite.
    """
    table = thresholds.table
    k = len(table)
    tp, fp, pos, neg = np.zeros((4, k))
    found = BestTests(np.zeros(k, np.int64), np.full(k, np.nan), tp, fp, pos, neg, np.full(k, -np.inf))
    for task in table.tasks() if metric.needs_class else [None]:
        counts = thresholds.count_against_rest(task)
        if metric.by_column is not None:
            scores = np.zeros(len(thresholds.column))
        else:
            scores, _ = score_tests(thresholds, metric, task, alpha)
        # The first threshold with its column's best score, if that is better than for the classes before.
        at = np.flatnonzero(scores == thresholds.find_best(scores, -np.inf)[thresholds.column])
        at = at[find_run_begins(thresholds.column[at])]
        at = at[scores[at] > found.score[thresholds.column[at]]]
        columns, pair = thresholds.column[at], counts.pair[at]
        values = (
            task or 0,
            thresholds.values[at],
            counts.tp[pair],
            counts.fp[pair],
            counts.pos,
            counts.neg,
            scores[at],
        )
        for array, value in zip(found, values):
            array[columns] = value
    return found
