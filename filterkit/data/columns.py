"""The columns of a batch, which conversions to other libraries share.

A numeric column is float64 (rows,) with NaN for missing; a nominal one holds the indices of its labels in the same way.
String, date and relational columns are lists of Python values with None for missing; dates are milliseconds since 1970
UTC. A numeric column that is mostly zero may be `Entries`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from filterkit.data.rearrangement import IN_X, ColumnMap
from filterkit.errors import FilterkitError, quoted

if TYPE_CHECKING:
    from filterkit.data.batch import Batch


class Entries(NamedTuple):
    """A column of numbers, most of which are zero.

    Attributes
    ----------
    rows : int (entries,), ascending, the indices of the rows that have values; the others are zero.
    values : float64 (entries,).
    length : the number of all rows.
    """

    rows: np.ndarray
    values: np.ndarray
    length: int

    def to_dense(self) -> np.ndarray:
        """Return the column, float64 (rows,)."""
        values = np.zeros(self.length)
        values[self.rows] = self.values
        return values


def to_columns(batch: Batch, positions: Sequence[int] | None = None) -> list[Any]:
    """Return the columns of a batch, as the module describes them, all of them dense.

    `positions` are those of the attributes in the schema; None means all.
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
    """Return the columns of a batch as `to_columns` does, but those of a sparse X as `Entries`, and texts and dates as
    Arrow arrays.
    """
    attributes, column_map = batch.schema.attributes, ColumnMap.from_schema(batch.schema)
    X = batch.csr.matrix().tocsc() if batch.sparse else None
    columns: list[Any] = []
    for i in range(len(attributes)) if positions is None else positions:
        if X is not None and column_map.part[i] == IN_X:
            part = slice(*X.indptr[column_map.column[i] :][:2])
            columns.append(Entries(X.indices[part], X.data[part], len(batch)))
            continue
        columns.append(column_map.get_values(batch, i))
    return columns


def make_weight_column(batch: Batch, chosen: str | None) -> dict[str, np.ndarray]:
    """Make a column of the weights of the rows: float64 (rows,), by its name.

    `chosen` is the name. If it is None, the name is ``weight``, with ``_`` after it as long as an attribute has this
    name; and if all weights are 1, the result is empty.

    Raises
    ------
    FilterkitError : an attribute has the name that is chosen.
    """
    if chosen is None and batch.weights is None:
        return {}
    name = "weight" if chosen is None else chosen
    while name in batch.schema.names:
        if chosen is not None:
            raise FilterkitError(f"an attribute is called {quoted(chosen)}; choose another name for the weights")
        name += "_"
    return {name: batch.row_weights}
