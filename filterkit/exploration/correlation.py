"""Correlations of some columns with each other."""

from __future__ import annotations

import numpy as np

from filterkit.chains.queries import Passes, Query
from filterkit.chains.rows import Rows
from filterkit.counts.gram import Gram
from filterkit.counts.overview import Overview
from filterkit.data.attributes import Attribute
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.exploration.extents import READER
from filterkit.stages.selective import OnlyColumns

_LEAST = 1e-12  # a variance, as a share of the squared width of the values, below which rounding decides


def correlations(rows: Rows, columns: np.ndarray, overview: Overview) -> Passes[np.ndarray]:
    """Pearson's correlation of each pair of some columns, over the rows that have both values, in one pass.

    Parameters
    ----------
    rows : the rows.
    columns : int64 (k,), ascending: which columns.
    overview : of the rows.

    Returns
    -------
    float64 (k, k), NaN where a column does not vary.

    Raises
    ------
    StageError : a weight cannot be counted, or there are too many rows.
    """
    low, high = (each[columns] for each in overview.moments.extremes())
    complete = not (overview.missing[columns].any() or overview.infinite[columns].any())
    blocks = _Blocks(low, high, complete, float(overview.weights[1]))
    summed = _Sum()
    yield [Query(rows.through(OnlyColumns(rows.schema, columns)), blocks, summed.add)]
    number, sums, squares, products = (_sums_of_all if complete else _sums_of_both)(summed.gram(), len(columns))
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / number  # of the first column of a pair, over the rows that have both
        variance = squares / number - mean**2
        variance[~(variance > _LEAST)] = np.nan
        covariance = products / number - mean * mean.T
        found: np.ndarray = np.clip(covariance / np.sqrt(variance * variance.T), -1.0, 1.0)
    return found


def _sums_of_all(gram: Gram, count: int) -> tuple[np.ndarray, ...]:
    """As `_sums_of_both`, of values of which none is missing."""
    products = gram.matrix()
    shape = (count, count)
    sums, squares = (np.broadcast_to(each[:, None], shape) for each in (gram.sums, products.diagonal()))
    return np.full(shape, gram.total), sums, squares, products


def _sums_of_both(gram: Gram, count: int) -> tuple[np.ndarray, ...]:
    """For each pair of columns, over the rows that have both values, float64 (count, count) each.

    They are the weight of these rows; the sum of the values of the first column, and of their squares; and the sum of
    the products of both.
    """
    products = gram.matrix()
    value, square, present = (slice(number * count, (number + 1) * count) for number in range(3))
    return products[present, present], products[value, present], products[square, present], products[value, value]


class _Blocks:
    """Finds, in a batch, the Gram of the values; and, unless all are there, of their squares and of what is there.

    Parameters
    ----------
    low, high : float64 (k,), the least and the largest value of each column.
    complete : whether no value is missing.
    weight : the largest of a row.
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, complete: bool, weight: float) -> None:
        self._low = low
        self._width = np.where(high > low, high / 2 - low / 2, 1.0)  # the width itself may be infinite
        self._complete = complete
        names = [f"{block}{number}" for block in range(1 if complete else 3) for number in range(len(low))]
        self._schema = Schema("correlation", [Attribute(name, "numeric") for name in names])
        self._grid = Gram.grid_of(Batch(self._schema, np.ones((1, len(names))), weights=np.array([weight])), READER)

    def __call__(self, batch: Batch) -> Gram:
        X = batch.in_form(sparse=False).X
        present = np.isfinite(X)
        with np.errstate(invalid="ignore"):
            value = np.where(present, (X / 2 - self._low / 2) / self._width, 0.0)  # from 0 to 1
        blocks = value if self._complete else np.hstack([value, value**2, present])
        return Gram.of(Batch(self._schema, blocks, weights=batch.weights, start=batch.start), self._grid, READER)


class _Sum:
    """The sum of the Grams of batches."""

    def __init__(self) -> None:
        self._gram: Gram | None = None

    def add(self, gram: Gram) -> None:
        """Add that of a batch."""
        self._gram = gram if self._gram is None else Gram.merge([self._gram, gram])

    def gram(self) -> Gram:
        """The sum of at least one."""
        assert self._gram is not None
        return self._gram
