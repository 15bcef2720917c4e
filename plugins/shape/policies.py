"""Choose the columns to shape: those that predict better when they are shaped."""

from __future__ import annotations

import numpy as np

from filterkit.plugin import ContingencyTable, Fold, divide_or_zero, sum_over_classes

from .curves import shape_values
from .logistic import Losses, WeightedRows, compute_log_losses

_MARGIN = 2.0  # standard errors; docs/formulas.md says how many columns of noise exceed it
_ROUNDING = 1e-9  # losses equal in theory, as those of a column with two values, may differ by this part of them
_LEAST = 1e-12  # share of a class that no training row has


def find_columns_to_shape(folds: list[Fold], log_odds: bool) -> np.ndarray:
    """Find the columns whose shaped values predict the class of held-out rows better: bool (columns,).

    They must do better than the column's own values and, by more than chance and a margin, than the shares of the
    classes.

    Parameters
    ----------
    folds : all folds of the training rows.
    log_odds : as of `shape_values`.
    """
    table = folds[0].training
    width, tasks = len(table), table.tasks()
    own_losses, shaped_losses, gain, expected_gain, variance = np.zeros((5, width))
    for fold in folds:
        parts = training, held_out = _DistinctValues(fold.training), _DistinctValues(fold.held_out)
        means = training.compute_means()
        known = [np.where(np.isnan(each.values), means[each.columns], each.values) for each in parts]
        own, image = list[Losses](), list[Losses]()
        for number, task in enumerate(tasks):
            shaped = [shape_values(each.values, each.columns, number, fold.state, log_odds) for each in parts]
            for found, values in ((own, known), (image, shaped)):
                rows = (
                    WeightedRows(each.columns, some, each.counts[:, task], each.rows)
                    for each, some in zip(parts, values)
                )
                found.append(compute_log_losses(width, *rows))
        losses = _sum_task_losses(image, tasks, held_out.counts)
        own_losses += held_out.sum_by_column(_sum_task_losses(own, tasks, held_out.counts))
        shaped_losses += held_out.sum_by_column(losses)
        # By how much losses are lower than by the share of each class, and by how much they would be if a column said
        # nothing: if the class of each row was drawn by these shares.
        shares = fold.training.totals / max(fold.training.totals.sum(), 1e-300)
        clipped = np.clip(shares[tasks], _LEAST, 1 - _LEAST)[:, None]
        of_shares = [Losses(-np.log(share), -np.log1p(-share)) for share in clipped]
        gains = _sum_task_losses(of_shares, tasks, held_out.counts) - losses
        expected = sum_over_classes(gains * shares)[:, None]
        gain += held_out.sum_by_column(gains)
        expected_gain += held_out.sum_by_column(expected)
        variance += held_out.sum_by_column(sum_over_classes((gains - expected) ** 2 * shares)[:, None])
    is_large = (gain - expected_gain > _MARGIN * np.sqrt(variance)) & (gain > shaped_losses * _ROUNDING)
    return (shaped_losses < own_losses * (1 - _ROUNDING)) & is_large


def _sum_task_losses(losses: list[Losses], tasks: list[int], counts: np.ndarray) -> np.ndarray:
    """Add up the losses of all tasks: float64 (values, classes), those of a row of each class with each value.

    Parameters
    ----------
    losses : those of each task.
    tasks : the classes that are positive in each.
    counts : float64 (values, classes), an array of the shape of the result.
    """
    of_class = np.zeros_like(counts)
    for each in losses:
        of_class[:, 0] += each.negative
    of_class[:, 1:] = of_class[:, :1]
    for each, task in zip(losses, tasks):
        of_class[:, task] += each.positive - each.negative
    return of_class


class _DistinctValues:
    """Holds the distinct values of each column of a table, zero and missing among them.

    Attributes
    ----------
    columns : int64 (values,), the column of each value, counted within the table.
    values : float64 (values,), NaN for missing.
    counts : float64 (values, classes), the weight of the rows of each class.
    rows : float64 (values,), the weight of all rows.
    """

    def __init__(self, table: ContingencyTable) -> None:
        full = table.with_zeros()
        missing = np.flatnonzero(full.missing.any(axis=1))
        self.columns = np.concatenate([full.column_of_cell, missing])
        self.values = np.concatenate([full.values, np.full(len(missing), np.nan)])
        self.counts = np.concatenate([full.counts, full.missing[missing]])
        self.rows = sum_over_classes(self.counts)
        self._width = len(table)

    def compute_means(self) -> np.ndarray:
        """Return the mean of the values of each column that are not missing, float64 (columns,); 0 if all are."""
        rows = np.where(np.isnan(self.values), 0.0, self.rows)
        total = np.bincount(self.columns, rows, self._width)
        values = np.nan_to_num(self.values)
        unit = np.ones(self._width)
        unit[self.columns[np.abs(values) > 1e280]] = 2.0**-64  # the sum may overflow
        sums = np.bincount(self.columns, rows * (values * unit[self.columns]), self._width)
        return divide_or_zero(sums, total) / unit

    def sum_by_column(self, of_rows: np.ndarray) -> np.ndarray:
        """Add up a number of each row by column: float64 (columns,).

        `of_rows` has the number of a row of each class with each value, float64 (values, classes); (values, 1) if all
        classes have the same.
        """
        return np.bincount(self.columns, sum_over_classes(self.counts * of_rows), self._width)
