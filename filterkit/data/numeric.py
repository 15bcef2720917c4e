"""Checks for stages that calculate with whole rows, and so need numbers everywhere."""

from __future__ import annotations

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.errors import StageError, quoted


def check_numeric(stage: str, schema: Schema) -> None:
    """Check that there are columns, and that each is numeric or, as nominal with one or two values, is 0 or 1.

    Parameters
    ----------
    stage : the name of the stage.
    schema : of the incoming batches.

    Raises
    ------
    StageError : there is no column, or one is nominal with more values; the message names it.
    """
    schema.need_columns(stage)
    if not schema.width:
        raise StageError(stage, "there are no features to learn from")
    nominal = (schema.features[i] for i in np.flatnonzero(schema.nominal))
    many = next((a for a in nominal if len(a.values) > 2), None)
    if many is not None:
        raise StageError(
            stage,
            f"attribute {quoted(many.name)} is nominal with more than two values; put a "
            "stage before it that makes numbers of it",
        )


def check_finite(stage: str, batch: Batch, chosen: np.ndarray | None = None) -> None:
    """Check that no value is missing or infinite.

    Parameters
    ----------
    stage : the name of the stage.
    batch : the rows.
    chosen : bool (rows,), the rows to check; by default all.

    Raises
    ------
    StageError : a value is missing or infinite; the message names row, attribute and value.
    """
    values = (batch.csr.data if batch.sparse else batch.X).ravel()
    if np.isfinite(values).all():
        return
    bad = np.flatnonzero(~np.isfinite(values))
    if batch.sparse:
        rows, columns = batch.csr.row_of_entry[bad], batch.csr.indices[bad]
    else:
        rows, columns = np.divmod(bad, batch.X.shape[1])
    for row, column, value in zip(rows.tolist(), columns.tolist(), values[bad].tolist()):
        if chosen is None or chosen[row]:
            what = "missing; put a stage before it that fills missing values" if np.isnan(value) else f"{value:g}"
            name = quoted(batch.schema.features[column].name)
            raise StageError(stage, f"attribute {name} is {what}", batch.start + row)
