"""Curves: what a stage such as ``shape`` makes of the values of each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from filterkit.data.ragged import Ragged
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage
from filterkit.stages.columns import ColumnStage, FittedColumns


class Curves(NamedTuple):
    """What a stage makes of some values.

    Attributes
    ----------
    columns : int64 (n,), ascending: the incoming column of each outgoing one; several classes give several.
    images : float64 (most values of a column, n), by the number of the value.
    words : the stage and its options.
    what : what an image is, such as p(v).
    """

    columns: np.ndarray
    images: np.ndarray
    words: str
    what: str


def with_curve(stages: Sequence[Stage], known: Registry) -> ColumnStage | None:
    """The first stage with a `ColumnStage.curve_name`, of a chain or else of those that are known.

    Stages that learn from folds are left out, because each row has a curve of its own.
    """
    for stage in stages:
        if isinstance(stage, ColumnStage) and stage.curve_name and not stage.folds():
            return stage
    for each in known.stages.values():
        if issubclass(each, ColumnStage) and each.curve_name is not ColumnStage.curve_name:
            return each()
    return None


def curves_of(fitted: FittedColumns, values: Ragged) -> Curves:
    """What a fitted stage with a curve makes of some values of each column."""
    stage, columns = fitted.stage, fitted.columns
    longest = max(values.lengths.max(initial=0), 1)
    grid = np.full((len(values), longest), np.nan)
    grid[np.repeat(np.arange(len(values)), values.lengths), _counted(values)] = values.values
    images = stage.curve(grid[columns].ravel(), np.repeat(np.arange(len(columns)), longest), fitted.state)
    return Curves(columns, images.reshape(-1, longest).T, " ".join(stage.words()), stage.curve_name)


def _counted(ragged: Ragged) -> np.ndarray:
    """int64 (values,): the place of each value within its row."""
    return np.arange(len(ragged.values)) - np.repeat(ragged.indptr[:-1], ragged.lengths)
