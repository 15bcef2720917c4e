"""Missing values replaced by means and modes."""

from __future__ import annotations

import numpy as np

from filterkit import ColumnStage, hookimpl
from filterkit.plugin import ContingencyTable, State


class Impute(ColumnStage):
    """Replace missing values by the mean or, in nominal columns, the mode, as Weka's ReplaceMissingValues does.

    Mean and mode are those of the training values, including zeros. Rows count by weight. Of several most frequent
    labels the first is taken. In a column that is empty in training, missing values become 0 or the first label. The
    class stays as it is.
    """

    name = "impute"
    group = "Rescale and fill columns"
    needs_class = False
    fills_missing = True

    def fit_columns(self, table: ContingencyTable) -> State:
        cells = table.with_zeros()
        rows = cells.rows
        fill = np.zeros(len(cells))
        filled = np.flatnonzero(np.diff(cells.indptr))
        if len(filled):
            start = cells.indptr[filled]
            # Weights are divided first: the sum of large values might overflow, although their mean does not.
            total = np.add.reduceat(rows, start)
            column = np.repeat(np.arange(len(filled)), np.diff(cells.indptr)[filled])
            fill[filled] = np.add.reduceat(cells.values * (rows / total[column]), start)
            most = np.maximum.reduceat(rows, start)
            mode = np.flatnonzero(rows == most[column])  # ascending, so that the first of a column is its mode
            first = mode[np.searchsorted(mode, start)]
            nominal = cells.nominal[filled]
            fill[filled[nominal]] = cells.values[first[nominal]]
        return {"fill": fill}

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return np.where(np.isnan(values), state["fill"][columns], values)


@hookimpl
def filterkit_stages() -> list[type[ColumnStage]]:
    return [Impute]
