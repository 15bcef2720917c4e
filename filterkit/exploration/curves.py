"""Curves: what a stage such as ``shape`` makes of the values of each column, or the mean of a numeric class there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.column_fitting import fit_in_passes
from filterkit.chains.queries import Passes
from filterkit.chains.rows import Rows
from filterkit.counts.table import ContingencyTable
from filterkit.data.ragged import Ragged
from filterkit.exploration.extents import MeasuringStage
from filterkit.exploration.short import round_to_four_digits
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage, State
from filterkit.stages.columns import ColumnStage
from filterkit.stages.selective import make_column_selector

_MOST_VALUES = 200  # of a curve
_MOST_CURVES = 6  # of a column


class Curves(NamedTuple):
    """Holds what a stage makes of some values of each column.

    Attributes
    ----------
    values, rows : the distinct values of each column, thinned to `_MOST_VALUES`, and the weight of the rows with a
        value up to each and above the one before.
    columns : int64 (n,), ascending: the incoming column of each outgoing one that has a curve; several classes give
        several.
    images : float64 (most values of a column, n): what each value of the column becomes; NaN after its last value.
    words : the stage and its options; "" without a stage.
    what : what an image is, such as p(v).
    """

    values: Ragged
    rows: Ragged
    columns: np.ndarray
    images: np.ndarray
    words: str
    what: str

    def list_curves(self, column: int) -> list[dict[str, Any]]:
        """Return a dictionary for the page for each of the first six curves of an incoming column.

        It has ``task`` (the number of the curve), ``value``, ``p`` (the images), ``rows``, ``what`` and ``stage``.
        """
        values, rows = self.values.get_row(column), self.rows.get_row(column)
        return [
            {
                "task": number,
                "value": values,
                "p": round_to_four_digits(self.images[: len(values), outgoing]),
                "rows": rows,
                "what": self.what,
                "stage": self.words,
            }
            for number, outgoing in enumerate(np.flatnonzero(self.columns == column).tolist()[:_MOST_CURVES])
        ]


def find_curve_stage(stages: Sequence[Stage], known: Registry) -> ColumnStage | None:
    """Return the first of the `stages` with a `ColumnStage.curve_name` that does not learn from folds.

    Without such a stage, return one that a plugin in `known` offers, with default options; None if none does.
    """
    for stage in stages:
        if isinstance(stage, ColumnStage) and stage.curve_name and not stage.folds():
            return stage
    for each in known.stages.values():
        if issubclass(each, ColumnStage) and each.curve_name is not ColumnStage.curve_name:
            return each()
    return None


def compute_curves(rows: Rows, columns: np.ndarray, stage: ColumnStage, memory: int) -> Passes[Curves]:
    """Fit a stage with a curve on some columns, and compute the curves of at most 200 values of each.

    Outgoing columns without a curve, whose values are all NaN, are left out. The rows have a nominal class; `columns`
    is int64, ascending; `memory` is bytes, as for `Chain.fit`. Raise StageError if the stage cannot be fitted.
    """
    chosen = rows.transform_by(make_column_selector(rows.schema, columns))
    thinned, fitted = yield from fit_in_passes([_ThinningStage(), stage], chosen, memory)
    values, weights = thinned.state["values"], thinned.state["rows"]
    columns = fitted.columns
    grid = _pad_rows_with_nan(values, values.values)[columns]
    column = np.repeat(np.arange(len(grid)), grid.shape[1])
    images = fitted.stage.curve(grid.ravel(), column, fitted.state).reshape(grid.shape).T
    drawn = ~np.isnan(images).all(axis=0) | (values.lengths[columns] == 0)
    return Curves(values, weights, columns[drawn], images[:, drawn], " ".join(stage.words()), stage.curve_name)


def compute_class_mean_curves(rows: Rows, columns: np.ndarray, class_: dict[str, Any], memory: int) -> Passes[Curves]:
    """Compute the mean of a numeric class over at most 200 values of each of some columns.

    `class_` is what `describe_numeric_class` returns. The other parameters are those of `compute_curves`.
    """
    (thinned,) = yield from fit_in_passes(
        [_ThinningStage()], rows.transform_by(make_column_selector(rows.schema, columns)), memory
    )
    state = thinned.state
    means = class_["mean"] + class_["deviation"] * _pad_rows_with_nan(
        state["values"], state["sums"].values / state["rows"].values
    )
    return Curves(state["values"], state["rows"], np.arange(len(columns)), means.T, "", "mean")


def _pad_rows_with_nan(ragged: Ragged, numbers: np.ndarray) -> np.ndarray:
    """Return the numbers of each row of a ragged array as a row that ends with NaN: float64 (rows, n)."""
    grid = np.full((len(ragged), max(ragged.lengths.max(initial=0), 1)), np.nan)
    grid[np.arange(grid.shape[1]) < ragged.lengths[:, None]] = numbers
    return grid


class _ThinningStage(MeasuringStage):
    """Learns `Curves.values` and `Curves.rows`: all values, or up to 200 at equally distant ranks of rows.

    Its `sums` are those of `ContingencyTable.class_sums` of the rows of each value; 0 if the class is not numeric.
    """

    def fit_columns(self, table: ContingencyTable) -> State:
        cells = table.with_zeros()
        numbers = cells.class_sums().counts[:, 0] if cells.numeric_class else np.zeros(len(cells.values))
        thinned = [(np.zeros(0),) * 3]
        for begin, end in pairwise(cells.indptr.tolist()):
            upto = np.cumsum(cells.rows[begin:end])
            chosen = np.arange(len(upto))
            if len(upto) > _MOST_VALUES:
                ranks = np.linspace(0, upto[-1], _MOST_VALUES)
                chosen = np.unique(np.append(np.searchsorted(upto, ranks), len(upto) - 1))
            rows, sums = (np.diff(each[chosen], prepend=0.0) for each in (upto, np.cumsum(numbers[begin:end])))
            thinned.append((cells.values[begin:end][chosen], rows, sums))
        lengths = np.array([len(values) for values, *_ in thinned[1:]], np.int64)
        return {
            name: Ragged.from_lengths(lengths, np.concatenate(arrays))
            for name, arrays in zip(("values", "rows", "sums"), zip(*thinned))
        }
