"""Correlations of some columns with each other."""

from __future__ import annotations

from functools import partial

import numpy as np

from filterkit.chains.gathering import Gathering, Passes
from filterkit.chains.rows import MappedRows, TrainingRows
from filterkit.counts.gram import Gram
from filterkit.data.attributes import Attribute
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.exploration.extents import READER
from filterkit.stages.selective import OnlyColumns

_LEAST = 1e-12  # a variance, as a share of the squared width of the values, below which rounding decides


def correlations(
    rows: TrainingRows, columns: np.ndarray, low: np.ndarray, high: np.ndarray, weight: float
) -> Passes[np.ndarray]:
    """Pearson's correlation of each pair of some columns, over the rows that have both values, in one pass.

    Parameters
    ----------
    rows : the rows.
    columns : int64 (k,), ascending: which columns.
    low, high : float64 (k,), the least and the largest value of each.
    weight : the largest weight of a row.

    Returns
    -------
    float64 (k, k), NaN where a column does not vary.

    Raises
    ------
    StageError : a weight cannot be counted, or there are too many rows.
    """
    chosen = MappedRows(rows, OnlyColumns(rows.schema, columns))
    count = len(low)
    names = [f"{block}{number}" for block in ("value", "square", "present") for number in range(count)]
    schema = Schema("correlation", [Attribute(name, "numeric") for name in names])
    grid = Gram.grid_of(Batch(schema, np.ones((1, len(names))), weights=np.array([weight])), READER)
    summed = _Sum()
    yield [Gathering(chosen, partial(_gram, schema, low, high, grid), summed.add)]
    products = summed.gram().matrix()
    value, square, present = (slice(number * count, (number + 1) * count) for number in range(3))
    number = products[present, present]
    sums, squares = products[value, present], products[square, present]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / number  # of the first column of a pair, over the rows that have both
        variance = squares / number - mean**2
        variance[~(variance > _LEAST)] = np.nan
        covariance = products[value, value] / number - mean * mean.T
        found: np.ndarray = np.clip(covariance / np.sqrt(variance * variance.T), -1.0, 1.0)
    return found


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


def _gram(schema: Schema, low: np.ndarray, high: np.ndarray, grid: np.ndarray, batch: Batch) -> Gram:
    return Gram.of(_three_blocks(schema, low, high, batch), grid, READER)


def _three_blocks(schema: Schema, low: np.ndarray, high: np.ndarray, batch: Batch) -> Batch:
    """The values of a batch from 0 to 1, 0 where they are missing; their squares; and 1 where a value is present."""
    X = batch.in_form(sparse=False).X
    present = ~np.isnan(X)
    width = np.where(high > low, high / 2 - low / 2, 1.0)  # the width itself may be infinite
    value = np.where(present, (X / 2 - low / 2) / width, 0.0)
    return Batch(schema, np.hstack([value, value**2, present]), weights=batch.weights, start=batch.start)
