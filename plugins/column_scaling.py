"""Columns rescaled to a common range or spread."""

from __future__ import annotations

import numpy as np

from filterkit import ColumnStage, hookimpl
from filterkit.plugin import ContingencyTable, State, rescaled, scaling_state


class Range(ColumnStage):
    """Rescale each column so that its training values run from 0 to 1, as Weka's attribute Normalize does.

    v becomes (v − min) / (max − min). Where zero is special (sparse input) it stays zero: v becomes v / (max − min),
    where min and max take zeros into account; for counts that is the same. Values beyond the training range go below 0
    or above 1. A constant column becomes 0. Missing values stay missing; nominal columns stay as they are.
    """

    name = "range"
    group = "Rescale and fill columns"
    needs_class = False

    def fit_columns(self, table: ContingencyTable) -> State:
        return scaling_state(np.ones(len(table)), *table.extremes(), table.schema.zero, table.nominal)

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return rescaled(values, columns, state)


class Standardize(ColumnStage):
    """Give each column mean 0 and standard deviation 1 over its training values, as Weka's Standardize does.

    v becomes (v − mean) / s, where s² is the variance with the denominator n − 1. Where zero is special (sparse input)
    it stays zero: v becomes v / s. Rows count by weight. A constant column becomes 0. Missing values do not count and
    stay missing; nominal columns stay as they are.
    """

    name = "standardize"
    group = "Rescale and fill columns"
    needs_class = False

    def fit_columns(self, table: ContingencyTable) -> State:
        cells = table.with_zeros()
        rows = cells.rows
        total = by_column(rows, cells)
        largest = np.maximum(*map(np.abs, cells.extremes()))
        extreme = (largest > 1e100) | ((largest < 1e-100) & (largest > 0))  # their squares overflow or underflow
        unit = np.where(extreme, 1 / np.clip(largest, 1e-300, 1e300), 1.0)
        values = cells.values * unit[cells.column_of_cell]
        mean = by_column(values * rows, cells) / np.where(total > 0, total, 1.0)
        squares = by_column((values - mean[cells.column_of_cell]) ** 2 * rows, cells)
        spread = np.sqrt(squares / np.where(total > 1, total - 1, 1.0))
        varied = np.diff(cells.indptr) > 1
        keep = cells.nominal
        offset = np.zeros(len(cells)) if table.schema.zero else mean
        return {
            "unit": np.where(keep, 1.0, unit),
            "offset": np.where(keep, 0.0, offset),
            "divisor": np.where(varied & ~keep & (spread > 0), spread, 1.0),
            "factor": np.where(varied | keep, 1.0, 0.0),
        }

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        image: np.ndarray = values * state["unit"][columns] - state["offset"][columns]
        return np.asarray(image / state["divisor"][columns] * state["factor"][columns])


def by_column(amounts: np.ndarray, cells: ContingencyTable) -> np.ndarray:
    """float64 (columns,): the sum of `amounts` over the cells of each column, in the order of its values."""
    sums = np.zeros(len(cells))
    filled = np.flatnonzero(np.diff(cells.indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(amounts, cells.indptr[filled])
    return sums


@hookimpl
def filterkit_stages() -> list[type[ColumnStage]]:
    return [Range, Standardize]
