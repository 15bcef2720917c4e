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
    shape = (n_rows, len(schema.attributes))
    return from_attribute_matrix(schema, Csr.from_entries(rows, positions, values, shape), None, passthrough)


def from_attribute_matrix(schema: Schema, matrix: Csr, weights: np.ndarray | None, passthrough: Any) -> Batch:
    """Make a batch, sparse or dense as its schema says, of a sparse matrix with a column for each attribute.

    Parameters
    ----------
    schema : without labels.
    matrix : numbers and codes of labels, NaN for missing; it may store zeros. Columns of texts are ignored.
    weights, passthrough : as for `Batch`.
    """
    y = None
    if schema.class_index is not None:
        y = convert_to_codes(matrix.get_column(schema.class_index), schema.target_dtype)
    X = matrix.select_columns(schema.feature_indices)
    return Batch(schema, X.without_zeros() if schema.sparse else X.toarray(), y, weights, passthrough)
