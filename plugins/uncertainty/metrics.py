"""Metrics of a whole column that compare its entropy with that of the class: gain ratio, symmetrical uncertainty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from filterkit import Metric
from filterkit.plugin import ContingencyTable, mdl_bins, sum_over_classes


class Bits(NamedTuple):
    """Entropies, each times the weight of the rows, float64 (n,).

    Attributes
    ----------
    values : of the values of a feature.
    classes : of the classes.
    gain : how much less the classes have once the value is known, at least 0.
    """

    values: np.ndarray
    classes: np.ndarray
    gain: np.ndarray

    def ratio(self) -> np.ndarray:
        """The gain ratio; 0 where there is one value."""
        return _share(self.gain, self.values)

    def symmetrical(self) -> np.ndarray:
        """The symmetrical uncertainty; 0 where there is one value or one class."""
        certain = (self.values <= 0) | (self.classes <= 0)
        return np.where(certain, 0.0, _share(2 * self.gain, self.values + self.classes))


def gain_ratio(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> np.ndarray:
    """The information gain of presence, divided by the entropy of presence."""
    return _bits_of_presence(tp, fp, pos, neg).ratio()


def gain_ratio_of_columns(table: ContingencyTable) -> np.ndarray:
    """Gain ratio, the information gain about the class divided by the entropy of the column.

    The gain alone prefers columns with many values; the ratio does not (J. R. Quinlan, *Induction of Decision Trees*,
    Machine Learning 1, 1986). Numbers are first cut into bins as by ``bins``, but a range of n distinct values counts
    as n − 1 possible cuts (Weka's better encoding). A row whose value is missing counts for each value by the share of
    that value. It is what Weka's GainRatioAttributeEval computes.
    """
    return _bits(table).ratio()


def symmetrical_uncertainty(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> np.ndarray:
    """Twice the information gain of presence, divided by the entropy of presence plus that of the class."""
    return _bits_of_presence(tp, fp, pos, neg).symmetrical()


def symmetrical_uncertainty_of_columns(table: ContingencyTable) -> np.ndarray:
    """Symmetrical uncertainty, 2 · information gain / (entropy of the column + entropy of the class).

    It is 0 if column and class are independent, and 1 if each determines the other (M. A. Hall, *Correlation-based
    Feature Selection for Machine Learning*, 1999). Numbers are first cut into bins as by ``bins``, but a range of n
    distinct values counts as n − 1 possible cuts (Weka's better encoding). A row whose value is missing counts for each
    value by the share of that value. It is what Weka's SymmetricalUncertAttributeEval computes.
    """
    return _bits(table).symmetrical()


def _bits_of_presence(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> Bits:
    """The entropies of features that a row has or lacks."""
    present, absent = tp + fp, np.maximum(pos - tp, 0.0) + np.maximum(neg - fp, 0.0)
    total = pos + neg
    whole = _times_log(np.full(len(tp), total))
    joint = sum((_times_log(np.maximum(count, 0.0)) for count in (tp, fp, pos - tp, neg - fp)), np.zeros(len(tp)))
    values = whole - _times_log(present) - _times_log(absent)
    classes = whole - _times_log(np.full(len(tp), pos)) - _times_log(np.full(len(tp), neg))
    return _checked(values, classes, joint - whole, total)


def _bits(table: ContingencyTable) -> Bits:
    """The entropies of each column of a table, in bins."""
    bins = mdl_bins(table)
    counts = _with_missing(bins)
    column, columns = bins.column_of_cell, len(bins)
    total = float(bins.totals.sum())
    whole = np.where(np.diff(bins.indptr) > 0, _times_log(np.array([total])), 0.0)  # without values, nothing is known
    values = whole - np.bincount(column, _times_log(sum_over_classes(counts)), columns)
    joint = sum((np.bincount(column, _times_log(count), columns) for count in counts.T), np.zeros(columns))
    classes = np.where(whole > 0, whole - _times_log(bins.totals).sum(), 0.0)
    return _checked(values, classes, joint - whole, total)


def _with_missing(bins: ContingencyTable) -> np.ndarray:
    """float64 (cells, classes): the counts, where missing values count for each cell of a column by its share."""
    present = np.bincount(bins.column_of_cell, bins.rows, len(bins))[bins.column_of_cell]
    share = bins.rows / np.where(present > 0, present, 1.0)
    return np.asarray(bins.counts + share[:, None] * bins.missing[bins.column_of_cell])


def _checked(values: np.ndarray, classes: np.ndarray, joint: np.ndarray, total: float) -> Bits:
    """`Bits`, where what is 0 but for rounding is 0; `joint` is minus the entropy of value and class together."""
    least = 1e-12 * total * max(np.log2(max(total, 1.0)), 1.0)
    gain = values + classes + joint
    return Bits(*(np.where(bits > least, bits, 0.0) for bits in (values, classes, gain)))


def _share(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """numerator / denominator, 0 where the denominator is 0."""
    quotient = np.zeros(len(numerator))
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient


def _times_log(numbers: np.ndarray) -> np.ndarray:
    """n log₂ n, 0 for 0."""
    return np.asarray(numbers * np.log2(np.where(numbers > 0, numbers, 1.0)))


METRICS = [
    Metric("gainratio", gain_ratio, by_table=gain_ratio_of_columns),
    Metric("su", symmetrical_uncertainty, by_table=symmetrical_uncertainty_of_columns),
]
