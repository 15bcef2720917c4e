"""Which columns to shape: those that predict better when they are shaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from filterkit.plugin import ContingencyTable, Fold, State, divide_or_zero, sum_over_classes

if TYPE_CHECKING:
    from .logistic import Losses, WeightedRows

Shaped = Callable[["np.ndarray", "np.ndarray", int, State], "np.ndarray"]

_MARGIN = 2.0  # standard errors; docs/formulas.md says how many columns of noise exceed it
_ROUNDING = 1e-9  # losses equal in theory, as those of a column with two values, may differ by this part of them
_LEAST = 1e-12  # share of a class that no training row has


def predicts_better(folds: list[Fold], shaped: Shaped) -> np.ndarray:
    """bool (columns,): whether a column's shaped values predict the held-out rows better than its own values do, and
    better than the share of each class does, by more than chance and the margin.

    Parameters
    ----------
    folds : all folds of the training rows.
    shaped : makes shaped values of values, their columns, the number of a task, and a state.
    """
    from .logistic import compute_log_losses  # which few chains need

    table = folds[0].training
    width, tasks = len(table), table.tasks()
    own_losses, shaped_losses, gain = np.zeros(width), np.zeros(width), _Gain(width)
    for fold in folds:
        parts = training, held_out = _Values(fold.training), _Values(fold.held_out)
        means = training.means()
        own, image = [], []
        for number, task in enumerate(tasks):
            own.append(compute_log_losses(width, *(each.rows(each.filled(means), task) for each in parts)))
            images = (shaped(each.values, each.columns, number, fold.state) for each in parts)
            image.append(compute_log_losses(width, *(each.rows(some, task) for each, some in zip(parts, images))))
        losses = _by_class(image, tasks, held_out.counts)
        own_losses += held_out.total(_by_class(own, tasks, held_out.counts))
        shaped_losses += held_out.total(losses)
        of_shares = _by_class(_of_shares(fold.training, tasks), tasks, held_out.counts)
        gain.add(held_out, of_shares, losses, fold.training.totals)
    return np.asarray((shaped_losses < own_losses * (1 - _ROUNDING)) & gain.is_large())


class _Gain:
    """By how much the losses of held-out rows are lower than by the share of each class, and by how much they would be
    if a column said nothing: if the class of each row was drawn by these shares.

    Parameters
    ----------
    width : how many columns there are.
    """

    def __init__(self, width: int) -> None:
        self._losses, self._found, self._expected, self._variance = (np.zeros(width) for _ in range(4))

    def add(self, held_out: _Values, of_shares: np.ndarray, losses: np.ndarray, totals: np.ndarray) -> None:
        """Count the rows of a fold.

        Parameters
        ----------
        of_shares, losses : float64 (values, classes), the losses of a row of each class with each value.
        totals : float64 (classes,), the weight of the training rows of each class.
        """
        gain, shares = of_shares - losses, totals / max(totals.sum(), 1e-300)
        expected = sum_over_classes(gain * shares)[:, None]
        variance = sum_over_classes((gain - expected) ** 2 * shares)[:, None]
        self._losses += held_out.total(losses)
        self._found += held_out.total(gain)
        self._expected += held_out.total(expected)
        self._variance += held_out.total(variance)

    def is_large(self) -> np.ndarray:
        """bool (columns,)."""
        beyond_chance = self._found - self._expected > _MARGIN * np.sqrt(self._variance)
        return np.asarray(beyond_chance & (self._found > self._losses * _ROUNDING))


def _by_class(losses: list[Losses], tasks: list[int], counts: np.ndarray) -> np.ndarray:
    """float64 (values, classes): the loss of a row of each class, summed over the tasks.

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


def _of_shares(training: ContingencyTable, tasks: list[int]) -> list[Losses]:
    """The losses by the share of each class among the training rows; arrays of one value, for all."""
    from .logistic import Losses

    shares = np.clip(training.totals[tasks] / max(training.totals.sum(), 1e-300), _LEAST, 1 - _LEAST)
    return [Losses(-np.log(share), -np.log1p(-share)) for share in shares[:, None]]


class _Values:
    """The distinct values of each column of a table, zero and missing among them.

    Attributes
    ----------
    columns : int64 (values,), the column of each value, counted within the table.
    values : float64 (values,), NaN for missing.
    counts : float64 (values, classes), the weight of the rows of each class.
    """

    def __init__(self, table: ContingencyTable) -> None:
        full = table.with_zeros()
        missing = np.flatnonzero(full.missing.any(axis=1))
        self.columns = np.concatenate([full.column_of_cell, missing])
        self.values = np.concatenate([full.values, np.full(len(missing), np.nan)])
        self.counts = np.concatenate([full.counts, full.missing[missing]])
        self._width = len(table)

    def means(self) -> np.ndarray:
        """float64 (columns,): the mean of the values that are not missing, 0 if all are."""
        rows = np.where(np.isnan(self.values), 0.0, sum_over_classes(self.counts))
        total = np.bincount(self.columns, rows, self._width)
        values = np.nan_to_num(self.values)
        unit = np.ones(self._width)
        unit[self.columns[np.abs(values) > 1e280]] = 2.0**-64  # the sum may overflow
        sums = np.bincount(self.columns, rows * (values * unit[self.columns]), self._width)
        return divide_or_zero(sums, total) / unit

    def total(self, of_rows: np.ndarray) -> np.ndarray:
        """float64 (columns,): the sum over all rows of what is given for a row of each class with each value, float64
        (values, classes), or (values, 1) for all classes alike."""
        return np.bincount(self.columns, sum_over_classes(self.counts * of_rows), self._width)

    def filled(self, means: np.ndarray) -> np.ndarray:
        """The values, with the mean of the column in place of a missing one."""
        return np.where(np.isnan(self.values), means[self.columns], self.values)

    def rows(self, values: np.ndarray, task: int) -> WeightedRows:
        """The rows counted, with `values` in place of their own, for the positive class `task`."""
        from .logistic import WeightedRows

        return WeightedRows(self.columns, values, self.counts[:, task], sum_over_classes(self.counts))
