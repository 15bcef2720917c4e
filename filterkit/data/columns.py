"""The columns of a batch, which conversions to other libraries share.

A numeric column is float64 (rows,) with NaN for missing; a nominal one holds the indices of its labels in the same way.
String, date and relational columns are lists of Python values with None for missing; dates are milliseconds since 1970
UTC. A numeric column that is mostly zero may be `Entries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit.errors import FilterkitError, quoted

if TYPE_CHECKING:
    from filterkit.data.batch import Batch


class Entries(NamedTuple):
    """A column of numbers, most of which are zero.

    Attributes
    ----------
    rows : int (entries,), ascending, the rows that are given; the others are zero.
    values : float64 (entries,).
    length : the number of all rows.
    """

    rows: np.ndarray
    values: np.ndarray
    length: int

    @staticmethod
    def of(column: Any) -> Entries:
        """The entries of a column of either form that are not zero."""
        if isinstance(column, Entries):
            there = column.values != 0
            return Entries(column.rows[there], column.values[there], column.length)
        rows = np.flatnonzero(column)
        return Entries(rows, np.asarray(column, np.float64)[rows], len(column))

    def dense(self) -> np.ndarray:
        """float64 (rows,): the column."""
        values = np.zeros(self.length)
        values[self.rows] = self.values
        return values


def to_columns(batch: Batch, places: Sequence[int] | None = None) -> list[Any]:
    """One column for each attribute, in the form that the module describes. A sparse batch is made dense by column.

    `places` are those of the attributes in the schema, by default of all.
    """
    return [column.dense() if isinstance(column, Entries) else column for column in columns_of(batch, places)]


def columns_of(batch: Batch, places: Sequence[int] | None = None) -> list[Any]:
    """Do what `to_columns` does, but return the columns of a sparse X as `Entries`."""
    schema = batch.schema
    X: Any = batch.csr.matrix().tocsc() if batch.sparse else batch.X
    chosen = range(len(schema.attributes)) if places is None else places
    features = np.searchsorted(schema.feature_indices, chosen).tolist()
    targets = {place: number for number, place in enumerate(schema.targets)}
    passthrough = {place: number for number, place in enumerate(schema.passthrough_indices)}
    columns: list[Any] = []
    for i, j in zip(chosen, features, strict=True):
        attribute = schema.attributes[i]
        if i in targets:
            assert batch.y is not None
            y = batch.y if batch.y.ndim == 1 else batch.y[:, targets[i]]
            columns.append(np.where(y < 0, np.nan, y) if attribute.kind == "nominal" else y)
        elif attribute.kind in ("numeric", "nominal"):
            part = slice(X.indptr[j], X.indptr[j + 1]) if batch.sparse else slice(0)
            columns.append(Entries(X.indices[part], X.data[part], len(batch)) if batch.sparse else X[:, j])
        else:
            assert batch.passthrough is not None
            column = batch.passthrough.column(passthrough[i])
            columns.append((column.cast("int64") if attribute.kind == "date" else column).to_pylist())
    return columns


def codes_of(values: np.ndarray) -> np.ndarray:
    """int32 codes, -1 for missing, from float64 with NaN for missing."""
    return np.where(np.isnan(values), -1, values).astype(np.int32)


def weight_name(batch: Batch, chosen: str | None) -> str | None:
    """Return the name of the column of weights; None if there is to be none.

    Raises
    ------
    FilterkitError : an attribute has the name that is chosen.
    """
    if chosen is not None:
        if chosen in batch.schema.names:
            raise FilterkitError(f"an attribute is called {quoted(chosen)}; choose another name for the weights")
        return chosen
    name = "weight"
    while name in batch.schema.names:
        name += "_"
    return None if batch.weights is None else name


def weights_of(batch: Batch) -> np.ndarray:
    """The weights of the rows, float64."""
    return np.ones(len(batch)) if batch.weights is None else batch.weights
