"""Scaling by bi-normal separation."""

from __future__ import annotations

import numpy as np

from filterkit import Attribute, ColumnStage, ContingencyTable, Schema, State, hookimpl, option


def separation(tp: np.ndarray, fp: np.ndarray, pos: float, neg: float) -> np.ndarray:
    """BNS = |F⁻¹(tp / pos) − F⁻¹(fp / neg)|, F the standard Normal distribution (Forman 2003, Table 1).

    The rates are held inside exactly [0.0005, 0.9995]. Without positives or without negatives nothing can
    be told apart, and the score is 0.
    """
    if pos <= 0 or neg <= 0:
        return np.zeros(np.shape(tp))
    tpr, fpr = np.clip(tp / pos, 0.0005, 0.9995), np.clip(fp / neg, 0.0005, 0.9995)
    return np.abs(_normal_quantile(tpr) - _normal_quantile(fpr))


def _normal_quantile(rates: np.ndarray) -> np.ndarray:
    """F⁻¹ of each rate: the standard library's, which differs from scipy's `ndtri` by no more than the last
    digits and, unlike it, needs no quarter of a second to be imported."""
    from statistics import NormalDist

    distinct, where = np.unique(rates, return_inverse=True)  # counts of rows: few are different
    return np.array([NormalDist().inv_cdf(rate) for rate in distinct.tolist()])[where]


class Bns(ColumnStage):
    """Scale each column by its bi-normal separation, the best over all thresholds.

    A value v becomes (v − o) · score / (max − min) over the training values; o is 0 where zero is special
    (sparse input, or after ``shape --zero``), so that zeros stay zero, and the least value elsewhere. So a
    0/1 column becomes {0, score}. The score of a threshold t is |F⁻¹(tpr) − F⁻¹(fpr)| for "value ≥ t",
    the column's score the best over its distinct training values, zeros included (Forman, Scholz and
    Rajaram 2009, 3.4; Forman 2003, Table 1). With more than two classes and no ``--positive``, each class
    is held against the rest and the largest score counts.

    Missing values stay missing and are above no threshold. A nominal column is scored by its best single
    value against the others and stays as it is: its values are no numbers. A constant column becomes 0.
    With rows of one class only, every score is 0. The score is left on the attribute.
    """

    name = "bns"

    score_only: bool = option(False, "Leave the score on each attribute and the values as they are.")

    def fit_columns(self, table: ContingencyTable) -> State:
        cells = table.with_zeros()
        scores = best_over_thresholds(cells)
        first, last = cells.indptr[:-1], cells.indptr[1:] - 1
        filled = np.flatnonzero(last >= first)
        low, high = np.zeros(len(cells)), np.zeros(len(cells))
        low[filled], high[filled] = cells.values[first[filled]], cells.values[last[filled]]
        unit = np.where(np.isinf(high / 2 - low / 2 + (high / 2 - low / 2)), 0.5, 1.0)  # a range may overflow
        span = high * unit - low * unit
        offset = np.zeros(len(cells)) if table.schema.zero else low * unit
        factor = np.where(span > 0, scores, 0.0)
        span[span == 0] = 1.0
        for part, identity in ((unit, 1.0), (offset, 0.0), (span, 1.0), (factor, 1.0)):
            part[cells.nominal] = identity
        return {"score": scores, "unit": unit, "offset": offset, "span": span, "factor": factor}

    def outputs(self, schema: Schema, state: State, totals: ContingencyTable) -> tuple[np.ndarray, list[Attribute]]:
        scores = state["score"].tolist()
        return np.arange(len(scores)), [a.scored("bns", s) for a, s in zip(schema.features, scores)]

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        if self.score_only:
            return values.copy()
        if (state["unit"] != 1).any():
            values = values * state["unit"][columns]
        if state["offset"].any():
            values = values - state["offset"][columns]
        image: np.ndarray = values / state["span"][columns] * state["factor"][columns]
        return image


def best_over_thresholds(cells: ContingencyTable) -> np.ndarray:
    """float64 per column: the best BNS of "value ≥ t" (of "value = t" in a nominal column) over the
    distinct values t of `cells`, whose zeros are explicit, and over the table's tasks."""
    counts = cells.counts
    upto = cells.cumulative()
    last = cells.indptr[1:][cells.column_of_cell] - 1
    nominal = cells.nominal[cells.column_of_cell][:, None]
    chosen = np.where(nominal, counts, upto[last] - upto + counts)  # rows that the test on the cell's value selects
    best = np.zeros(len(cells))
    filled = np.flatnonzero(np.diff(cells.indptr))
    for task in cells.tasks():
        pos, neg = cells.totals[task], cells.totals.sum() - cells.totals[task]
        tp = chosen[:, task]
        scores = separation(tp, chosen.sum(axis=1) - tp, pos, neg)
        if len(filled):
            best[filled] = np.maximum(best[filled], np.maximum.reduceat(scores, cells.indptr[filled]))
    return best


@hookimpl
def filterkit_stages() -> list[type[ColumnStage]]:
    return [Bns]
