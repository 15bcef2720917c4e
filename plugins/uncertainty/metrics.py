"""Metrics of a whole column that compare its entropy with that of the class: gain ratio, symmetrical uncertainty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from filterkit import Metric
from filterkit.plugin import ContingencyTable, mdl_bins, sum_over_classes


class Bits(NamedTuple):
    """Entropies in bits, float64 (n,).

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
    total = pos + neg
    cells = [np.maximum(count, 0.0) / total for count in (tp, fp, pos - tp, neg - fp)]
    values = _surprise(cells[0] + cells[1]) + _surprise(cells[2] + cells[3])
    classes = _surprise(np.full(len(tp), pos / total)) + _surprise(np.full(len(tp), neg / total))
    return _checked(values, classes, sum((_surprise(share) for share in cells), np.zeros(len(tp))))


def _bits(table: ContingencyTable) -> Bits:
    """The entropies of each column of a table, in bins."""
    bins = mdl_bins(table)
    total = max(float(bins.totals.sum()), 1e-300)
    shares = bins.counts_with_missing / total
    column, columns = bins.column_of_cell, len(bins)
    values = np.bincount(column, _surprise(sum_over_classes(shares)), columns)
    joint = sum((np.bincount(column, _surprise(share), columns) for share in shares.T), np.zeros(columns))
    known = np.diff(bins.indptr) > 0
    return _checked(values, np.where(known, _surprise(bins.totals / total).sum(), 0.0), joint)


def _checked(values: np.ndarray, classes: np.ndarray, joint: np.ndarray) -> Bits:
    """`Bits`, where what is 0 but for rounding is 0; `joint` is the entropy of value and class together."""
    return Bits(*(np.where(bits > 1e-12, bits, 0.0) for bits in (values, classes, values + classes - joint)))


def _share(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """numerator / denominator, 0 where the denominator is 0."""
    quotient = np.zeros(len(numerator))
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient


def _surprise(shares: np.ndarray) -> np.ndarray:
    """−p log₂ p, 0 for 0."""
    return np.asarray(-shares * np.log2(np.where(shares > 0, shares, 1.0)))


METRICS = [
    Metric("gainratio", gain_ratio, by_table=gain_ratio_of_columns),
    Metric("su", symmetrical_uncertainty, by_table=symmetrical_uncertainty_of_columns),
]
