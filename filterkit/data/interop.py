"""Making batches of numbers that are each in a row and of an attribute, as entries or as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.rearrangement import convert_to_codes
from filterkit.data.schema import Schema


def from_entries(
    schema: Schema,
    rows: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    n_rows: int,
    passthrough: Any = None,
) -> Batch:
    """Make a batch of entries in any order, but only one for each row and attribute; what has none is 0.

    It is sparse or dense, as its schema says.

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
