"""Counting the rows of a batch by column, value and class: the cells of a contingency table."""

from __future__ import annotations

import numpy as np

from filterkit.counts.class_parts import FEW, Parts, SparseClassWeights, sum_weights_by_position_and_class
from filterkit.counts.weights import CountedRows, sum_parts
from filterkit.data.batch import Batch
from filterkit.data.ragged import compute_row_offsets, find_run_begins
from filterkit.errors import StageError, quoted

_FEW_KEYS = 6  # for each entry


def count_rows_by_value_and_class(
    rows: CountedRows, columns: np.ndarray, reader: str
) -> tuple[np.ndarray, np.ndarray, Parts, Parts]:
    """Add up the weights of rows by column, value and class; return four attributes of a `ContingencyTable`.

    They are ``indptr``, ``values``, ``cell_parts`` and ``gap_parts``. `columns`, int64 (k,), are the ascending numbers
    of the columns of X to cover. Raise StageError, in the name of the stage `reader`, if a value is infinite.
    """
    weights, classes = rows.parts, rows.classes
    column, value, row = find_and_check_nonzero_entries(rows, columns, reader)
    absent = np.isnan(value)
    gaps = row[absent]
    missing = sum_weights_by_position_and_class(
        column[absent], rows.y[gaps], None if weights is None else weights[gaps], len(columns), classes
    )
    if len(gaps):
        keep = ~absent
        column, value, row = column[keep], value[keep], row[keep]
    code, distinct = _find_codes_and_distinct_values(value)
    number = np.int32 if len(columns) * len(distinct) * classes < 1 << 31 else np.int64  # half the size, half the time
    key = (column.astype(number) * len(distinct) + code.astype(number)) * classes + rows.y.astype(number)[row]
    cell_column, cell_value, cells = _count_rows_by_cell(
        key, None if weights is None else weights[row], classes, distinct
    )
    return compute_row_offsets(cell_column, len(columns)), cell_value, cells, missing


def find_and_check_nonzero_entries(
    rows: CountedRows, columns: np.ndarray, reader: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the values in some columns that are not zero, and check that none is infinite.

    Parameters and result are those of `find_nonzero_entries`, for the batch of `rows`. Raise StageError, in the name of
    the stage `reader`, if a value is infinite.
    """
    column, value, row = find_nonzero_entries(rows.batch, columns)
    for at in np.flatnonzero(np.isinf(value))[:1]:
        raise make_infinite_value_error(rows, int(columns[column[at]]), int(row[at]), reader)
    return column, value, row


def make_infinite_value_error(rows: CountedRows, column: int, row: int, reader: str) -> StageError:
    """Return the error, in the name of the stage `reader`, for an infinite value in a column of X and a row of `rows`.

    `column` and `row` count from 0. The error gives the number that the row has in its source.
    """
    name = rows.batch.schema.features[column].name
    return StageError(
        reader,
        f"attribute {quoted(name)} has an infinite value, which cannot be counted; remove such rows",
        int(rows.numbers[row]),
    )


def find_nonzero_entries(batch: Batch, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the values in some columns of a batch that are not zero, missing ones (NaN) included.

    `columns`, int64 (k,), are ascending column numbers of X. Return three arrays (n,): the column of each value, an int
    from 0 to k - 1 that is an index into `columns`; the value, float64; and the number of its row in the batch, int.
    They are in the order of rows if the batch is sparse, else in that of columns. They may share memory with the batch.
    """
    if batch.sparse:
        column, value, row = batch.csr.indices, batch.csr.data, batch.csr.row_of_entry
        if len(columns) == batch.csr.columns:
            return column, value, row
        index = np.full(batch.csr.columns, -1)
        index[columns] = np.arange(len(columns))
        column = index[column]
        keep = column >= 0
        return column[keep], value[keep], row[keep]
    X = take_columns(batch.X, columns)
    value = X.T.ravel()
    column = np.repeat(np.arange(X.shape[1]), X.shape[0])
    row = np.tile(np.arange(X.shape[0]), X.shape[1])
    keep = value != 0
    return (column, value, row) if keep.all() else (column[keep], value[keep], row[keep])


def take_columns(X: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return some columns of X by their ascending numbers, int64 (k,); if these are all, X itself."""
    return X if len(columns) == X.shape[1] else X[:, columns]


def find_extremes_by_column(column: np.ndarray, value: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the least and the largest of the values in each of `width` columns: float64 (width,) each.

    A column without values has inf and -inf. `column` is int (n,), the column of each value, from 0; `value` is float64
    (n,), without NaN.
    """
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    np.minimum.at(low, column, value)
    np.maximum.at(high, column, value)
    return low, high


def include_zeros_in_extremes(
    low: np.ndarray, high: np.ndarray, zero_occurs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest value of each column, zeros included: float64 (columns,) each.

    `low` and `high` are the extremes of the other values, inf and -inf where there are none. `zero_occurs`, bool
    (columns,), says which columns have a zero. Both results are 0 for a column without values.
    """
    low, high = np.where(np.isinf(low), 0.0, low), np.where(np.isinf(high), 0.0, high)
    return np.where(zero_occurs, np.minimum(low, 0.0), low), np.where(zero_occurs, np.maximum(high, 0.0), high)


def _find_codes_and_distinct_values(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Encode `value`, float64 (n,) without NaN: return indices, int (n,), and the values that they stand for.

    The latter ascend. They are the values that occur; but if all of these are whole numbers from 0 to 4095, every whole
    number from 0 to the largest of them.
    """
    if len(value) and value.min() >= 0 and value.max() < 4096:
        whole = value.astype(np.int32)
        if (whole == value).all():
            return whole, np.arange(int(whole.max()) + 1, dtype=np.float64)
    distinct, code = np.unique(value, return_inverse=True)
    return code, distinct


def _count_rows_by_cell(
    key: np.ndarray, weights: np.ndarray | None, classes: int, distinct: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Parts]:
    """Add up the weights of entries by cell and class; return the column, the value and the weights of each cell.

    A cell is a value that occurs in a column. Cells are sorted by column, then by value. The results are int64
    (cells,), float64 (cells,), and float64 (cells, classes, parts), a `SparseClassWeights` if classes exceed `FEW`.

    Parameters
    ----------
    key : int (entries,), ``(column * len(distinct) + code) * classes + class`` of each entry, where ``code`` is the
        index of its value in `distinct`.
    weights : float64 (entries, parts), as `exact_parts` splits them; None if all are 1.
    classes : the number of classes.
    distinct : float64, the distinct values, ascending.
    """
    if weights is None and key.max(initial=0) < _FEW_KEYS * len(key):  # counting them is faster than sorting them
        count = np.bincount(key)
        key = np.flatnonzero(count != 0)  # faster than of the counts themselves
        amounts = count[key].astype(np.float64)[:, None]
    elif weights is None:
        key, count = np.unique(key, return_counts=True)
        amounts = count.astype(np.float64)[:, None]
    else:
        key, number = np.unique(key, return_inverse=True)
        amounts = sum_parts(number, weights, len(key))
    key = key.astype(np.int64)
    cell = key // max(classes, 1)
    first = np.flatnonzero(find_run_begins(cell))
    parts = SparseClassWeights(np.append(first, len(key)), (key - cell * classes).astype(np.int32), amounts, classes)
    cell = cell[first]
    column = cell // max(len(distinct), 1)
    return column, distinct[cell - column * len(distinct)], parts if classes > FEW else parts.to_array()
