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


class ColumnCurves(NamedTuple):
    """Holds curves: what a stage makes of some values of each column, or the mean of a numeric class there.

    Attributes
    ----------
    values : the distinct values of each column, ascending; of more than `_MOST_VALUES`, about so many of them.
    rows : the weight of the rows with a value up to each of `values` and above the one before.
    columns : int64 (curves,), ascending: the column that each curve is of, an index in `values`. A column has several
        curves if the stage makes several columns of it, one for each class.
    images : float64 (most values of a column, curves): what each value becomes. After the last value of the column,
        NaN.
    stage_words : the stage and its options; "" without a stage.
    image_name : what an image is, such as p(v).
    """

    values: Ragged
    rows: Ragged
    columns: np.ndarray
    images: np.ndarray
    stage_words: str
    image_name: str

    def list_curves(self, column: int) -> list[dict[str, Any]]:
        """Return the first six curves of a column as dictionaries for the page; [] if it has none.

        Each has ``task`` (the number of the curve, from 0), ``value``, ``p`` (the images), ``rows``, ``what`` and
        ``stage``. `column` is an index in `values`.
        """
        values, rows = self.values.get_row(column), self.rows.get_row(column)
        return [
            {
                "task": number,
                "value": values,
                "p": round_to_four_digits(self.images[: len(values), outgoing]),
                "rows": rows,
                "what": self.image_name,
                "stage": self.stage_words,
            }
            for number, outgoing in enumerate(np.flatnonzero(self.columns == column).tolist()[:_MOST_CURVES])
        ]


def find_curve_stage(stages: Sequence[Stage], known: Registry) -> ColumnStage | None:
    """Return the first of `stages` whose curves can be drawn: it has a `ColumnStage.curve_name`, and no folds.

    Without one, return a stage with default options, of the first class in `known` that sets a `curve_name`; None
    without such a class.
    """
    for stage in stages:
        if isinstance(stage, ColumnStage) and stage.curve_name and not stage.folds():
            return stage
    for each in known.stages.values():
        if issubclass(each, ColumnStage) and each.curve_name is not ColumnStage.curve_name:
            return each()
    return None


def compute_curves(rows: Rows, columns: np.ndarray, stage: ColumnStage, memory: int) -> Passes[ColumnCurves]:
    """Fit a stage on some columns, and compute its curves, each at about 200 values at most.

    This is a generator of queries. Run by `run_passes`, it returns the curves. Those that are NaN at all values are
    left out, but not those of a column without values.

    Parameters
    ----------
    rows : rows with a nominal class.
    columns : int64 (n,), ascending, which columns of X.
    stage : a stage with a `ColumnStage.curve_name`.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : the stage cannot be fitted.
    """
    chosen = rows.transform_by(make_column_selector(rows.schema, columns))
    thinned, fitted = yield from fit_in_passes([_CurvePointsStage(), stage], chosen, memory)
    values, weights = thinned.state["values"], thinned.state["rows"]
    columns = fitted.columns
    grid = _pad_rows_with_nan(values, values.values)[columns]
    column = np.repeat(np.arange(len(grid)), grid.shape[1])
    images = fitted.stage.curve(grid.ravel(), column, fitted.state).reshape(grid.shape).T
    drawn = ~np.isnan(images).all(axis=0) | (values.lengths[columns] == 0)
    return ColumnCurves(values, weights, columns[drawn], images[:, drawn], " ".join(stage.words()), stage.curve_name)


def compute_class_mean_curves(
    rows: Rows, columns: np.ndarray, class_: dict[str, Any], memory: int
) -> Passes[ColumnCurves]:
    """Compute the curve of each of some columns that shows the mean of a numeric class, at about 200 values at most.

    The mean at a value is that of the rows with a value up to it and above the one before. `class_` has the ``mean``
    and ``deviation`` that `describe_numeric_class` returns. `rows` have a numeric class. All else is as for
    `compute_curves`.
    """
    (thinned,) = yield from fit_in_passes(
        [_CurvePointsStage()], rows.transform_by(make_column_selector(rows.schema, columns)), memory
    )
    state = thinned.state
    means = class_["mean"] + class_["deviation"] * _pad_rows_with_nan(
        state["values"], state["sums"].values / state["rows"].values
    )
    return ColumnCurves(state["values"], state["rows"], np.arange(len(columns)), means.T, "", "mean")


def _pad_rows_with_nan(ragged: Ragged, numbers: np.ndarray) -> np.ndarray:
    """Return numbers, one for each value of `ragged`, as float64 (rows, n): its rows, with NaN after their last number.

    n is the length of the longest row, at least 1.
    """
    grid = np.full((len(ragged), max(ragged.lengths.max(initial=0), 1)), np.nan)
    grid[np.arange(grid.shape[1]) < ragged.lengths[:, None]] = numbers
    return grid


class _CurvePointsStage(MeasuringStage):
    """Learns `values` and `rows` of `ColumnCurves`; of more than 200, those at 200 equally distant ranks of rows.

    Its state also has `sums`: the sum of `ContingencyTable.class_sums` over the rows that `rows` counts; 0 if the class
    is not numeric.
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
