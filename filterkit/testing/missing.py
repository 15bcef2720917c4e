"""Missing values, which stay missing unless a stage says that it fills them."""

from __future__ import annotations

import numpy as np

from filterkit.chains.chain import FittedChain
from filterkit.data.batch import Batch
from filterkit.errors import StageError
from filterkit.stages.base import Stage
from filterkit.stages.columns import FittedColumns
from filterkit.testing.stages import fit


def check_missing_values_stay(stage: Stage, data: Batch) -> None:
    """A missing value comes out as missing, unless `Stage.fills_missing` says that filling is what the stage is for; so
    does a missing class or label. A column is followed by its `source`, or else by its name."""
    holed = with_holes(data)
    for training in (data, holed):
        fitted = fit(stage, training)
        if fitted is None:
            continue
        try:
            out = fitted.transform(holed)
        except StageError:  # it takes none
            continue
        if not stage.fills_missing:
            _check_columns(stage, fitted, holed, out)
        assert out.y is None or holed.y is None or not (_unknown(holed) & ~_unknown(out)).any(), (
            f"{stage.name} gives a row a class that it does not have: keep -1, or NaN of a numeric class"
        )


def with_holes(data: Batch) -> Batch:
    """The same rows with a third of their values missing, all of the last row, and the class of every other row."""
    X = data.in_form(False).X.copy()
    rows, columns = np.indices(X.shape)
    X[((rows + columns) % 3 == 0) | (rows == len(X) - 1)] = np.nan
    y = data.y
    if y is not None:
        y = y.copy()
        y[::2] = np.nan if y.dtype.kind == "f" else -1
    return data.replace(X=X, y=y).in_form(data.sparse)


def _check_columns(stage: Stage, fitted: FittedChain, holed: Batch, out: Batch) -> None:
    before, after = (np.isnan(batch.in_form(False).X) for batch in (holed, out))
    place = {a.name: column for column, a in enumerate(holed.schema.features)}
    made = getattr(fitted.stages[0], "whole", fitted.stages[0])
    source = made.columns if isinstance(made, FittedColumns) else None
    for column, attribute in enumerate(out.schema.features):
        origin = place.get(attribute.name) if source is None else int(source[column])
        if origin is None:
            continue
        rows = np.flatnonzero(before[:, origin] & ~after[:, column])
        if len(rows):
            value = out.in_form(False).X[rows[0], column]
            raise AssertionError(
                f"{stage.name} turns the missing values of '{attribute.name}' into {value:g}: keep NaN, or declare "
                "fills_missing = True if that is what the stage is for"
            )


def _unknown(batch: Batch) -> np.ndarray:
    """bool, of the shape of y: whether the class or label is missing."""
    assert batch.y is not None
    return np.asarray(np.isnan(batch.y) if batch.y.dtype.kind == "f" else batch.y < 0)
