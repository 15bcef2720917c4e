"""Checks of missing values: they stay missing unless a stage fills them, and do not make other values missing."""

from __future__ import annotations

import numpy as np

from filterkit.data.batch import Batch, make_missing_targets
from filterkit.errors import StageError
from filterkit.stages.base import Fitted, Stage
from filterkit.stages.columns import FittedColumns
from filterkit.testing.stages import fit, return_refusals


@return_refusals
def check_missing_values_stay(stage: Stage, data: Batch) -> None:
    """Check that missing values of columns stay missing, unless the stage declares `fills_missing`.

    A missing class or label must stay missing, unless the stage declares `reads_class`. The stage is fitted on the
    rows, on rows with some missing values, and on rows with columns that have no value.
    """
    holed = copy_with_missing_values(data)
    X = data.in_form(False).X.copy()
    X[:, ::2] = np.nan
    for training in (data, holed, data.replace(X=X).in_form(data.sparse)):
        fitted = fit(stage, training)
        if fitted is None:
            continue
        try:
            fitted.transform(data)
            out = fitted.transform(holed)
        except StageError:  # it refuses missing values
            continue
        if not stage.fills_missing:
            _check_missing_values_stay_in_columns(stage, fitted.stages[0], holed, out)
        if not stage.reads_class and out.y is not None and holed.y is not None:
            before, after = (np.isnan(y) if y.dtype.kind == "f" else y < 0 for y in (holed.y, out.y))
            assert not (before & ~after).any(), (
                f"{stage.name} gives a row a class that it does not have: keep -1, or NaN of a numeric class"
            )


@return_refusals
def check_missing_values_do_not_spread(stage: Stage, data: Batch) -> None:
    """Check that one missing training value in each column does not make all values of a resulting column missing."""
    if len(data) < 3 or not data.schema.width:
        return
    X = data.in_form(False).X.copy()
    columns = np.arange(data.schema.width)
    X[columns % len(data), columns] = np.nan
    whole, holed = fit(stage, data), fit(stage, data.replace(X=X).in_form(data.sparse))
    if whole is None or holed is None:
        return
    before, after = ((~np.isnan(each.transform(data).in_form(False).X)).sum(axis=0) for each in (whole, holed))
    known = dict(zip((a.name for a in whole.schema.features), before))
    for attribute, count in zip(holed.schema.features, after):
        assert count or not known.get(attribute.name, 0), (
            f"{stage.name}: one missing value among the training rows makes all values of '{attribute.name}' missing: "
            "leave missing values out of what is learned, as np.nanmean does, or refuse them with a StageError"
        )


@return_refusals
def check_numbers_stay_numbers(stage: Stage, data: Batch) -> None:
    """Check that no value becomes missing or infinite, unless the stage declares `makes_missing`.

    A column that is made from one column of X may be missing where that is missing. Any other column may be missing
    where the row has a missing value.
    """
    fitted = None if stage.makes_missing else fit(stage, data)
    if fitted is None:
        return
    out = fitted.transform(data)
    before, after = (batch.in_form(False).X for batch in (data, out))
    unknown = np.isnan(before)
    whole = ~unknown.any(axis=1)
    if data.passthrough is not None:
        for column in data.passthrough.columns:
            whole &= np.asarray(column.is_valid())
    others = set(data.schema.names) - {a.name for a in data.schema.features}  # texts and the class are no numbers
    for column, origin in enumerate(_find_source_columns(fitted.stages[0], data, out)):
        if out.schema.features[column].name in others:
            continue
        expected = whole if origin is None else ~unknown[:, origin]
        rows = np.flatnonzero(expected & ~np.isfinite(after[:, column]))
        if len(rows):
            name, value = out.schema.features[column].name, after[rows[0], column]
            of = f"the row {before[rows[0]].tolist()}" if origin is None else f"{before[rows[0], origin]:g}"
            raise AssertionError(
                f"{stage.name} makes {value:g} of {of} for '{name}': give a number, refuse such values with a "
                "StageError, or declare makes_missing = True if that is what the stage is for"
            )


def copy_with_missing_values(data: Batch) -> Batch:
    """Return a copy of the rows in which a third of X, the whole last row of X, and every other class are missing."""
    X = data.in_form(False).X.copy()
    rows, columns = np.indices(X.shape)
    X[((rows + columns) % 3 == 0) | (rows == len(X) - 1)] = np.nan
    y, missing = data.y, make_missing_targets(data.schema, len(data))
    if y is not None and missing is not None:
        y = y.copy()
        y[::2] = missing[::2]
    return data.replace(X=X, y=y).in_form(data.sparse)


def _check_missing_values_stay_in_columns(stage: Stage, fitted: Fitted, holed: Batch, out: Batch) -> None:
    """Check that no missing value of a column becomes a number in the columns made from it.

    `holed` are the rows before the stage, and `out` the transformed rows. If all columns are new, check instead that a
    row of missing values does not become a row of numbers.
    """
    X = out.in_form(False).X
    before, after = np.isnan(holed.in_form(False).X), np.isnan(X)
    declare = "or declare fills_missing = True if that is what the stage is for"
    origins = _find_source_columns(fitted, holed, out)
    for column, origin in enumerate(origins):
        for row in np.flatnonzero(before[:, origin] & ~after[:, column])[:1] if origin is not None else ():
            raise AssertionError(
                f"{stage.name} turns the missing values of '{out.schema.features[column].name}' into "
                f"{X[row, column]:g}: keep NaN, {declare}"
            )
    are_new = not set(out.schema.names) & {a.name for a in holed.schema.features} and {*origins} == {None}
    for row in np.flatnonzero(before.all(axis=1) & ~after.any(axis=1))[:1] if are_new and holed.schema.width else ():
        raise AssertionError(
            f"{stage.name} turns a row of missing values into numbers, as {X[row, 0]:g} for "
            f"'{out.schema.features[0].name}': keep NaN, {declare}"
        )


def _find_source_columns(fitted: Fitted, before: Batch, after: Batch) -> list[int | None]:
    """Return, for each column of X after a stage, the index of the column before it that it is made from.

    A fitted column stage says which. For other stages, it is the column of the same name, or None if there is none.
    """
    if isinstance(fitted, FittedColumns):
        return list(fitted.columns.tolist())
    column_of_name = {a.name: column for column, a in enumerate(before.schema.features)}
    return [column_of_name.get(a.name) for a in after.schema.features]
