"""Which columns to shape: those that predict better when they are shaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from filterkit.plugin import ContingencyTable, Fold, State, sum_over_classes

if TYPE_CHECKING:
    from .logistic import WeightedRows

Shaped = Callable[[np.ndarray, np.ndarray, int, State], np.ndarray]


def predicts_no_better(folds: list[Fold], shaped: Shaped) -> np.ndarray:
    """bool (columns,): whether a column's shaped values predict the held-out rows no better than its own values.

    Parameters
    ----------
    folds : all folds of the training rows.
    shaped : makes shaped values of values, their columns, the number of a task, and a state.
    """
    from .logistic import log_losses  # which few chains need

    table = folds[0].training
    own_losses, shaped_losses = np.zeros(len(table)), np.zeros(len(table))
    for fold in folds:
        training, held_out = _Values(fold.training), _Values(fold.held_out)
        means = training.means()
        for number, task in enumerate(table.tasks()):
            own = [each.rows(each.filled(means), task) for each in (training, held_out)]
            own_losses += log_losses(len(table), *own)
            images = [
                each.rows(shaped(each.values, each.columns, number, fold.state), task) for each in (training, held_out)
            ]
            shaped_losses += log_losses(len(table), *images)
    # Losses equal in theory, as those of a column with two values, may differ by rounding.
    return shaped_losses >= own_losses * (1 - 1e-9)


class _Values:
    """The distinct values of each column of a table, zero and missing among them.

    Attributes
    ----------
    columns : int64 (values,), the column of each value, counted within the table.
    values : float64 (values,), NaN for missing.
    """

    def __init__(self, table: ContingencyTable) -> None:
        full = table.with_zeros()
        missing = np.flatnonzero(full.missing.any(axis=1))
        self.columns = np.concatenate([full.column_of_cell, missing])
        self.values = np.concatenate([full.values, np.full(len(missing), np.nan)])
        self._counts = np.concatenate([full.counts, full.missing[missing]])
        self._width = len(table)

    def means(self) -> np.ndarray:
        """float64 (columns,): the mean of the values that are not missing, 0 if all are."""
        rows = np.where(np.isnan(self.values), 0.0, sum_over_classes(self._counts))
        total = np.bincount(self.columns, rows, self._width)
        values = np.nan_to_num(self.values)
        unit = np.ones(self._width)
        unit[self.columns[np.abs(values) > 1e280]] = 2.0**-64  # the sum may overflow
        sums = np.bincount(self.columns, rows * (values * unit[self.columns]), self._width)
        return np.asarray(np.divide(sums, total, out=np.zeros(self._width), where=total > 0)) / unit

    def filled(self, means: np.ndarray) -> np.ndarray:
        """The values, with the mean of the column in place of a missing one."""
        return np.where(np.isnan(self.values), means[self.columns], self.values)

    def rows(self, values: np.ndarray, task: int) -> WeightedRows:
        """The rows counted, with `values` in place of their own, for the positive class `task`."""
        from .logistic import WeightedRows

        return WeightedRows(self.columns, values, self._counts[:, task], sum_over_classes(self._counts))
