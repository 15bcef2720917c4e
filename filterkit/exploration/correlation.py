"""Correlations of some columns with each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.chains.queries import Passes, compute_merged_record
from filterkit.chains.rows import Rows
from filterkit.counts.gram import Gram
from filterkit.counts.overview import Overview
from filterkit.data.attributes import Attribute
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.exploration.extents import READER
from filterkit.stages.selective import make_column_selector

_LEAST = 1e-12  # a variance, as a share of the squared width of the values, below which rounding decides


def correlate_columns(rows: Rows, columns: np.ndarray, overview: Overview) -> Passes[np.ndarray]:
    """Compute Pearson's correlation of each pair of some columns, over the rows that have both values, in one pass.

    This is a generator of queries. Run by `run_passes`, it returns float64 (k, k). An entry is NaN if one of its
    columns does not vary in these rows, or so little that rounding would decide. Rows count by weight, nominal values
    as the indices of their labels, and infinite values as missing.

    Parameters
    ----------
    rows : the rows.
    columns : int64 (k,), ascending.
    overview : the overview of `rows`.

    Raises
    ------
    StageError : a weight cannot be counted, or there are too many rows.
    """
    low, high = (each[columns] for each in overview.moments.extremes())
    complete = not (overview.missing[columns].any() or overview.infinite[columns].any())
    chosen = rows.transform_by(make_column_selector(rows.schema, columns))
    gram = yield from compute_merged_record(
        chosen, _PairProducts(low, high, complete, float(overview.largest_weight)).compute_gram
    )
    gram.check_rows(READER)
    # For each pair of columns: the weight of the rows that have both values; the sum of the values of the first column,
    # and of their squares; and the sum of the products of both.
    products = gram.matrix()
    number: Any = gram.total
    sums, squares = gram.sums[:, None], products.diagonal()[:, None]
    if not complete:
        value, square, present = (slice(i * len(columns), (i + 1) * len(columns)) for i in range(3))
        number, sums, squares = (products[block, present] for block in (present, value, square))
        products = products[value, value]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / number
        variance = squares / number - mean**2
        variance[~(variance > _LEAST)] = np.nan
        covariance = products / number - mean * mean.T
        return np.asarray(np.clip(covariance / np.sqrt(variance * variance.T), -1.0, 1.0))


class _PairProducts:
    """Computes a `Gram`, the sums of products that the correlations of k columns follow from.

    The `Gram` has k columns of values, scaled to lie from 0 to 1. If values are missing, it has 2k more: the squares of
    the scaled values, and k columns that are 1 where a value is known, else 0.

    Parameters
    ----------
    low, high : float64 (k,), the least and the largest value of each column, which become 0 and 1.
    complete : whether no value is missing or infinite.
    weight : the largest weight of a row.
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, complete: bool, weight: float) -> None:
        self._low = low
        self._width = np.where(high > low, high / 2 - low / 2, 1.0)  # the width itself may be infinite
        self._complete = complete
        names = [f"{block}{number}" for block in range(1 if complete else 3) for number in range(len(low))]
        self._schema = Schema("correlation", [Attribute(name, "numeric") for name in names])
        self._grid = Gram.find_grid(Batch(self._schema, np.ones((1, len(names))), weights=np.array([weight])), READER)

    def compute_gram(self, batch: Batch) -> Gram:
        """Return the `Gram` of one batch with k columns, whose values are first scaled to lie from 0 to 1."""
        X = batch.in_form(sparse=False).X
        present = np.isfinite(X)
        with np.errstate(invalid="ignore"):
            value = np.where(present, (X / 2 - self._low / 2) / self._width, 0.0)  # from 0 to 1
        blocks = value if self._complete else np.hstack([value, value**2, present])
        return Gram.of(Batch(self._schema, blocks, weights=batch.weights, start=batch.start), self._grid, READER)
