"""Choose the columns to shape: those that predict better when they are shaped."""

from __future__ import annotations

import numpy as np

from filterkit.plugin import Bools, ContingencyTable, Floats, Fold, divide_or_zero, sum_over_classes

from .curves import shape_values
from .logistic import RowsByValue, predict_log_odds_by_column

_MARGIN = 2.0  # standard errors; docs/formulas.md says how many columns of noise exceed it
_ROUNDING = 1e-9  # losses equal in theory, as those of a column with two values, may differ by this part of them
_LEAST = 1e-12  # share of a class that no training row has


def flag_columns_to_shape(folds: list[Fold], log_odds: bool) -> Bools:
    """Flag the columns that predict the class of held-out rows better if they are shaped: bool (columns,).

    Shaped values must predict better than the values of the column, by log loss. They must also predict better than the
    shares of the classes, by two standard errors more than is expected by chance. `folds` are all folds of the training
    rows. `log_odds` is as for `shape_values`.
    """
    table = folds[0].training
    width, tasks = len(table), table.tasks()
    sums = np.zeros((5, width))
    for fold in folds:
        parts = training, held_out = _group_rows_by_value(fold.training), _group_rows_by_value(fold.held_out)
        means = _compute_column_means(training, width)
        known = [each._replace(value=np.where(np.isnan(each.value), means[each.column], each.value)) for each in parts]
        own, shaped = list[Floats](), list[Floats]()
        for number, task in enumerate(tasks):
            images = (shape_values(each.value, each.column, number, fold.state, log_odds) for each in parts)
            own.append(predict_log_odds_by_column(width, task, *known))
            shaped.append(
                predict_log_odds_by_column(width, task, *(e._replace(value=v) for e, v in zip(parts, images)))
            )

        losses = _compute_losses_by_value_and_class(shaped, table)
        # By how much losses are lower than by the share of each class, and by how much they would be if a column said
        # nothing: if the class of each row was drawn by these shares.
        shares = fold.training.totals / max(fold.training.totals.sum(), 1e-300)
        clipped = np.clip(shares[tasks], _LEAST, 1 - _LEAST)[:, None]
        of_shares = list(np.log(clipped) - np.log1p(-clipped))
        gains = _compute_losses_by_value_and_class(of_shares, table) - losses
        expected = sum_over_classes(gains * shares)[:, None]
        variances = sum_over_classes((gains - expected) ** 2 * shares)[:, None]
        of_rows = _compute_losses_by_value_and_class(own, table), losses, gains, expected, variances
        sums += [np.bincount(held_out.column, sum_over_classes(held_out.counts * each), width) for each in of_rows]
    own_losses, shaped_losses, gain, expected_gain, variance = sums
    is_large = (gain - expected_gain > _MARGIN * np.sqrt(variance)) & (gain > shaped_losses * _ROUNDING)
    return (shaped_losses < own_losses * (1 - _ROUNDING)) & is_large


def _compute_losses_by_value_and_class(log_odds: list[Floats], table: ContingencyTable) -> Floats:
    """Compute the log loss, in nats, of a row of each class with each value, added up over the tasks.

    `log_odds` has an array for each of ``table.tasks()``, float64 (values,): what is predicted for a row with each
    value. Return float64 (values, classes).
    """
    losses = np.tile(sum((np.logaddexp(0, each) for each in log_odds), np.zeros(1))[:, None], len(table.totals))
    for each, task in zip(log_odds, table.tasks()):
        losses[:, task] += np.logaddexp(0, -each) - np.logaddexp(0, each)
    return losses


def _group_rows_by_value(table: ContingencyTable) -> RowsByValue:
    """Return the groups of rows with the same value in the same column; zeros are groups, and so are missing values."""
    full = table.with_zeros()
    missing = np.flatnonzero(full.missing.any(axis=1))
    counts = np.concatenate([full.counts, full.missing[missing]])
    column = np.concatenate([full.column_of_cell, missing])
    value = np.concatenate([full.values, np.full(len(missing), np.nan)])
    return RowsByValue(column, value, counts, sum_over_classes(counts))


def _compute_column_means(rows: RowsByValue, n_columns: int) -> Floats:
    """Compute the mean of the known values of each column, float64 (columns,); 0 if all are missing."""
    weights = np.where(np.isnan(rows.value), 0.0, rows.total)
    values = np.nan_to_num(rows.value)
    unit = np.ones(n_columns)
    unit[rows.column[np.abs(values) > 1e280]] = 2.0**-64  # the sum may overflow
    sums = np.bincount(rows.column, weights * (values * unit[rows.column]), n_columns)
    return divide_or_zero(sums, np.bincount(rows.column, weights, n_columns)) / unit
