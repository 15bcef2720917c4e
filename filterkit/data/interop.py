"""Making batches of columns of numbers and texts, or of entries of a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from filterkit.data.batch import Batch, make_passthrough_table
from filterkit.data.csr import Csr
from filterkit.data.rearrangement import convert_to_codes
from filterkit.data.schema import Schema


def from_columns(schema: Schema, columns: Sequence[Any], weights: np.ndarray | None = None) -> Batch:
    """Make a dense batch of columns in the form that `to_columns` returns, one for each attribute of `schema`.

    `weights` are those of the rows, float64; None if all are 1.
    """
    n_rows = len(columns[0]) if columns else 0
    X = np.array([columns[i] for i in schema.feature_indices], np.float64).reshape(schema.width, n_rows)
    y = None
    if schema.class_index is not None:
        y = convert_to_codes(np.array(columns[schema.class_index], np.float64), schema.target_dtype)
    passthrough = make_passthrough_table(schema, [list(columns[i]) for i in schema.passthrough_indices])
    return Batch(schema, np.ascontiguousarray(X.T), y, weights, passthrough)


def from_entries(
    schema: Schema,
    rows: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    n_rows: int,
    passthrough: Any = None,
) -> Batch:
    """Make a sparse batch of entries in any order, but only one for each row and attribute; what has none is 0.

    Parameters
    ----------
    schema : without labels.
    rows, positions : int (entries,), the row of each entry, and the position of its attribute in the schema.
    values : float64 (entries,): numbers and codes of labels, NaN for missing.
    n_rows : how many rows there are.
    passthrough : the other columns, see `Batch`.
    """
    column = np.full(len(schema.attributes), -1)
    column[schema.feature_indices] = np.arange(schema.width)
    columns = column[positions]
    in_X = (columns >= 0) & (values != 0)
    X = Csr.from_entries(rows[in_X], columns[in_X], values[in_X], (n_rows, schema.width))
    y = None
    if schema.class_index is not None:
        y, of_class = np.zeros(n_rows), positions == schema.class_index
        y[rows[of_class]] = values[of_class]
        y = convert_to_codes(y, schema.target_dtype)
    return Batch(schema, X, y, None, passthrough)
