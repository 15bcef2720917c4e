"""Score columns by their entropy and that of the class."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from filterkit import Metric
from filterkit.plugin import (
    ContingencyTable,
    Floats,
    bin_by_mdl,
    bin_by_quantiles,
    compute_n_log2_n,
    divide_or_zero,
    share_out_missing,
    sum_over_classes,
)


class _Scores(NamedTuple):
    """Holds the scores of features by all metrics of this module, float64 (features,) each.

    `symmetrical_uncertainty` is 0 where the feature or the class has a single value.
    """

    gain_ratio: Floats
    symmetrical_uncertainty: Floats
    mutual_information: Floats


def score_by_gain_ratio(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Compute the information gain of the presence of each feature, divided by the entropy of its presence."""
    return _score_presence(tp, fp, pos, neg).gain_ratio


def score_columns_by_gain_ratio(table: ContingencyTable) -> Floats:
    """Gain ratio, the information gain about the class divided by the entropy of the column.

    The gain alone prefers columns with many values; the ratio does not (J. R. Quinlan, *Induction of Decision Trees*,
    Machine Learning 1, 1986). Numbers are first cut into bins as by ``bins``, but a range of n distinct values counts
    as n − 1 possible cuts (Weka's better encoding). A row whose value is missing counts for each value by the share of
    that value. It is what Weka's GainRatioAttributeEval computes.
    """
    return _score_bins(bin_by_mdl(table)).gain_ratio


def score_by_symmetrical_uncertainty(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Compute twice the information gain of the presence of each feature, divided by its entropy plus the class's."""
    return _score_presence(tp, fp, pos, neg).symmetrical_uncertainty


def score_columns_by_symmetrical_uncertainty(table: ContingencyTable) -> Floats:
    """Symmetrical uncertainty, 2 · information gain / (entropy of the column + entropy of the class).

    It is 0 if column and class are independent, and 1 if each determines the other (M. A. Hall, *Correlation-based
    Feature Selection for Machine Learning*, 1999). Numbers are first cut into bins as by ``bins``, but a range of n
    distinct values counts as n − 1 possible cuts (Weka's better encoding). A row whose value is missing counts for each
    value by the share of that value. It is what Weka's SymmetricalUncertAttributeEval computes.
    """
    return _score_bins(bin_by_mdl(table)).symmetrical_uncertainty


def score_by_mutual_information(tp: Floats, fp: Floats, pos: float, neg: float) -> Floats:
    """Compute the information gain of the presence of each feature, in nats."""
    return _score_presence(tp, fp, pos, neg).mutual_information


def score_columns_by_mutual_information(table: ContingencyTable) -> Floats:
    """Mutual information of column and class in nats, where numbers are in bins of equal frequency.

    Numbers, and those of a numeric class, are cut at their quantiles 0.2, 0.4, 0.6 and 0.8 into up to five bins; a bin
    includes the quantile at its end, which is the least value with at least that share of the rows up to it
    (`numpy.quantile` with `inverted_cdf`). Labels stay as they are. The score is that of scikit-learn's
    `mutual_info_score` of these bins. A row whose value is missing counts for each bin by the share of that bin.
    """
    return _score_bins(bin_by_quantiles(table)).mutual_information


def _score_presence(tp: Floats, fp: Floats, pos: float, neg: float) -> _Scores:
    """Score features that a row has or lacks; the parameters are those of `Metric.score`."""
    total = pos + neg
    cells = [np.maximum(count, 0.0) / total for count in (tp, fp, pos - tp, neg - fp)]
    values = compute_n_log2_n(cells[0] + cells[1]) + compute_n_log2_n(cells[2] + cells[3])
    classes = compute_n_log2_n(np.array([pos, neg]) / total).sum() + np.zeros(len(tp))
    return _score_by_negated_entropies(values, classes, sum(map(compute_n_log2_n, cells), np.zeros(len(tp))))


def _score_bins(bins: ContingencyTable) -> _Scores:
    """Score columns of bins and labels; a row with a missing value counts for each value by the share of that value."""
    total = max(bins.totals.sum(), 1e-300)
    shares = share_out_missing(bins) / total
    column, columns = bins.column_of_cell, len(bins)
    values = np.bincount(column, compute_n_log2_n(sum_over_classes(shares)), columns)
    joint = sum((np.bincount(column, compute_n_log2_n(share), columns) for share in shares.T), np.zeros(columns))
    known = np.diff(bins.indptr) > 0
    return _score_by_negated_entropies(values, np.where(known, compute_n_log2_n(bins.totals / total).sum(), 0.0), joint)


def _score_by_negated_entropies(values: np.ndarray, classes: Floats, joint: np.ndarray) -> _Scores:
    """Compute all scores of features from entropies in bits, each with a minus sign: float64 (features,).

    `values`, `classes` and `joint` are minus the entropies of the values, of the classes, and of pairs of both. What is
    0 but for rounding becomes 0.
    """
    negated = (values, classes, values + classes - joint)
    of_values, of_classes, gain = (np.where(bits < -1e-12, -bits, 0.0) for bits in negated)
    certain = (of_values <= 0) | (of_classes <= 0)
    uncertainty = np.where(certain, 0.0, divide_or_zero(2 * gain, of_values + of_classes))
    return _Scores(divide_or_zero(gain, of_values), uncertainty, math.log(2) * gain)


METRICS = [
    Metric("gainratio", score_by_gain_ratio, by_table=score_columns_by_gain_ratio),
    Metric("mi", score_by_mutual_information, by_table=score_columns_by_mutual_information, numeric_class=True),
    Metric("su", score_by_symmetrical_uncertainty, by_table=score_columns_by_symmetrical_uncertainty),
]
