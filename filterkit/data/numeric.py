"""The numbers of a batch: a function for each of them, and checks for stages that need numbers everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.errors import StageError, quoted


def map_numbers(batch: Batch, function: Callable[[np.ndarray], np.ndarray]) -> Batch:
    """Return a batch in which each number of X is replaced by what a function returns for it.

    Nominal and missing values stay, and so does everything beside X. Zeros of a sparse X are not stored, and stay, so
    the function must return 0 for 0. If it does not, pass dense rows, ``batch.in_form(False)``, and return
    ``schema.replace(sparse=False, zero=False)`` from `RowStage.output`.

    Parameters
    ----------
    batch : the rows, which do not change.
    function : gets float64 (n,), numbers of any rows and columns, none of them missing, in an array that it may change.
        It returns n numbers, each of which depends on the number at its position alone. To check that it returns 0 for
        0, it is called once more for a sparse X.

    Raises
    ------
    ValueError : the function returns something else than one number for each, or X is sparse and it does not return 0
        for 0.
    """
    nominal, entries = batch.schema.nominal, batch.csr if batch.sparse else None
    image = (batch.X if entries is None else entries.data).flatten()
    changes = ~np.isnan(image)
    if nominal.any():
        changes &= np.tile(~nominal, len(batch)) if entries is None else ~nominal[entries.indices]
    if changes.all():
        image = _apply_and_check(function, image)
    else:
        image[changes] = _apply_and_check(function, image[changes])
    if entries is None:
        return batch.replace(X=image.reshape(batch.X.shape))
    with np.errstate(all="ignore"):
        zero = float(_apply_and_check(function, np.zeros(1))[0])
    if zero != 0:
        raise ValueError(
            f"map_numbers: the function returns {zero:g} for 0, but zeros of sparse rows are not stored; pass "
            "batch.in_form(False), and return schema.replace(sparse=False, zero=False) from output"
        )
    return batch.replace(X=entries._replace(data=image).without_zeros())


def _apply_and_check(function: Callable[[np.ndarray], np.ndarray], numbers: np.ndarray) -> np.ndarray:
    """Call a function with n numbers; return its result as float64 (n,), or raise ValueError if it is not n numbers."""
    count = len(numbers)
    found = function(numbers)
    if np.shape(found) != (count,):
        raise ValueError(
            f"map_numbers: the function returns an array of shape {np.shape(found)} for {count} numbers; return as many"
        )
    kind = np.asarray(found).dtype
    if kind.kind not in "biufO":
        raise ValueError(f"map_numbers: the function returns numbers as {kind}; make them float64")
    return np.array(found, np.float64)


def check_numeric(stage: str, schema: Schema) -> None:
    """Raise StageError, which names the `stage`, if X has no columns, or a nominal column with more than two labels.

    Nominal columns with at most two labels pass, because their values 0 and 1 can serve as numbers.
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
            lacks="nominal columns",
        )


def check_finite(stage: str, batch: Batch, chosen: np.ndarray | None = None, missing_allowed: bool = False) -> None:
    """Raise StageError if a value of X is missing or infinite; it names the `stage`, the row and the attribute.

    Check only the rows where `chosen`, bool (rows,), is true, or all rows if it is None. If `missing_allowed`, only
    infinite values are errors.
    """
    values = batch.stored_values.ravel()
    if np.isfinite(values).all():
        return
    bad = np.flatnonzero(np.isinf(values) if missing_allowed else ~np.isfinite(values))
    if batch.sparse:
        rows, columns = batch.csr.row_of_entry[bad], batch.csr.indices[bad]
    else:
        rows, columns = np.divmod(bad, batch.X.shape[1])
    for row, column, value in zip(rows.tolist(), columns.tolist(), values[bad].tolist()):
        if chosen is None or chosen[row]:
            what, lacks = f"{value:g}; make it finite", ""
            if np.isnan(value):
                what, lacks = "missing; put a stage before it that fills missing values", "missing values"
            name = quoted(batch.schema.features[column].name)
            raise StageError(stage, f"attribute {name} is {what}", batch.start + row, lacks)
