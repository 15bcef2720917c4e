"""The columns of a batch, which conversions to other libraries share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit.data.rearrangement import get_attribute_values
from filterkit.data.targets import IN_X
from filterkit.errors import FilterkitError, quoted

if TYPE_CHECKING:
    from filterkit.data.batch import Batch


class Entries(NamedTuple):
    """A sparse column of numbers: ``values[i]`` in row ``rows[i]``, and 0 in all other rows.

    Attributes
    ----------
    rows : int (entries,), ascending.
    values : float64 (entries,), NaN for missing.
    length : the number of all rows.
    """

    rows: np.ndarray
    values: np.ndarray
    length: int

    def to_dense(self) -> np.ndarray:
        """Return the values of all rows: float64 (rows,)."""
        values = np.zeros(self.length)
        values[self.rows] = self.values
        return values


def to_columns(batch: Batch, positions: Sequence[int] | None = None) -> list[Any]:
    """Return the columns of a batch as numpy arrays and lists, one for each attribute, class and labels included.

    Numbers, and nominal values as the indices of their labels, are float64 (rows,) with NaN for missing. Texts, bags,
    and dates in milliseconds since 1970 UTC, are lists with None for missing. `positions` are those of the wanted
    attributes in the schema; None means all. Arrays may share the memory of the batch, so do not change them.
    """
    columns = []
    for column in list_columns(batch, positions):
        if isinstance(column, Entries):
            column = column.to_dense()
        elif not isinstance(column, np.ndarray):
            column = (column.cast("int64") if column.type == "timestamp[ms]" else column).to_pylist()
        columns.append(column)
    return columns


def list_columns(batch: Batch, positions: Sequence[int] | None = None) -> list[Any]:
    """Return the columns of a batch as numpy and Arrow arrays, one for each attribute, class and labels included.

    Numbers, and nominal values as the indices of their labels, are float64 (rows,) with NaN for missing, but `Entries`
    if they come from a sparse X. Texts and bags are Arrow arrays of ``string``, dates of ``timestamp[ms]``.
    `positions` are those of the wanted attributes in the schema; None means all. Arrays may share the memory of the
    batch, so do not change them.
    """
    parts, numbers = batch.schema.locations
    X = batch.csr.matrix().tocsc() if batch.sparse else None
    columns: list[Any] = []
    for i in range(len(parts)) if positions is None else positions:
        if X is not None and parts[i] == IN_X:
            part = slice(*X.indptr[numbers[i] :][:2])
            columns.append(Entries(X.indices[part], X.data[part], len(batch)))
            continue
        columns.append(get_attribute_values(batch, i))
    return columns


def make_weight_column(batch: Batch, chosen_name: str | None) -> dict[str, np.ndarray]:
    """Return the name of the column for the weights of the rows, and the weights: {name: float64 (rows,)}.

    If `chosen_name` is None, the name is ``weight``, with ``_`` after it as long as an attribute has this name; but if
    the batch has no weights, return {}. With a `chosen_name`, such a batch has a column of 1. Raise FilterkitError if
    an attribute has the name `chosen_name`.
    """
    if chosen_name is None and batch.weights is None:
        return {}
    name = "weight" if chosen_name is None else chosen_name
    while name in batch.schema.names:
        if chosen_name is not None:
            raise FilterkitError(f"an attribute is called {quoted(chosen_name)}; choose another name for the weights")
        name += "_"
    return {name: batch.row_weights}
