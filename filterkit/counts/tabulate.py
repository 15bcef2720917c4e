"""Counting the rows of a batch in a contingency table."""

from __future__ import annotations

import numpy as np

from filterkit.counts.table import ContingencyTable
from filterkit.data.batch import Batch
from filterkit.data.ragged import begins_run, row_starts
from filterkit.errors import StageError, quoted

# The parts of a weight are multiples of 2**-10, 2**-37 and 2**-64. The sums of each part are exact up to a total weight
# of 2**43 and 2**27 (134 million) rows. A single weight is rounded to a multiple of 2**-64.
_GRIDS = (2.0**-10, 2.0**-37, 2.0**-64)
_LARGEST = 2.0**43
_LOST = 2.0**-65  # a weight of at most this is rounded to 0
_LEAST_MEAN = 2.0**-40  # rounding changes a weight by less than a ten-millionth of this


def exact_parts(weights: np.ndarray) -> np.ndarray:
    """Split `weights`, float64 (n,) and at least 0, into parts (n, 1) or (n, 3) that can be summed exactly."""
    rest = weights.astype(np.float64)
    parts = []
    for grid in _GRIDS:
        part = np.rint(rest / grid) * grid
        parts.append(part)
        rest = rest - part
        if len(parts) == 1 and not rest.any():
            break
    return np.stack(parts, axis=1)


def check_weights(reader: str, batch: Batch) -> None:
    """Raise a `StageError` that names the first row whose weight cannot be counted, if any; `reader` is the stage."""
    if batch.weights is None:
        return
    bad = np.flatnonzero(~((batch.weights >= 0) & (batch.weights <= _LARGEST)))
    if len(bad):
        weight = float(batch.weights[bad[0]])
        why = "it must be finite and at least 0"
        if _LARGEST < weight < np.inf:
            why = f"weights may add up to 2^43, about {_LARGEST:.2g}; divide all of them by the same number"
        raise StageError(reader, f"the instance weight {weight:g} cannot be counted; {why}", batch.start + int(bad[0]))


def sum_of_weights(batch: Batch, supervised: bool) -> tuple[float, int]:
    """The approximate sum of the weights that `tabulate` counts, and the number of rows whose weight is above 0."""
    known = batch.class_known if supervised else np.ones(len(batch), bool)
    if batch.weights is None:
        rows = int(np.count_nonzero(known))
        return float(rows), rows
    return float(batch.weights[known].sum()), int(np.count_nonzero(batch.weights[known]))


def check_sum(reader: str, weights: float, rows: int) -> None:
    """Raise a `StageError` if the sum of weights is too large to be counted exactly, or so small that rounding matters.

    Parameters
    ----------
    reader : the name of the stage, for the message.
    weights, rows : as `sum_of_weights` returns them.
    """
    if weights > _LARGEST:
        raise StageError(
            reader,
            f"the instance weights add up to {weights:g}, and no more than 2^43, about {_LARGEST:.2g}, can be counted "
            "exactly; divide all of them by the same number",
        )
    if weights < rows * _LEAST_MEAN:
        raise StageError(
            reader,
            f"the instance weights are {weights / rows:g} on average, which is too little to be counted exactly; "
            "multiply all of them by the same number",
        )


def tabulate(batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> ContingencyTable:
    """The table of the rows of `batch`.

    Parameters
    ----------
    batch : some rows.
    columns : int64 (k,), the ascending numbers of the columns of X to cover.
    supervised : True counts the rows whose class is known by their nominal class. False counts all rows as one class.
    reader : the name of the stage that needs the table, for messages.

    Raises
    ------
    StageError : a weight is negative or too large, or a value is infinite.
    """
    schema = batch.schema
    if supervised:
        target = schema.class_attribute
        assert target is not None and batch.y is not None
        classes = len(target.values)
    else:
        classes = 1
        batch = batch.replace(y=np.zeros(len(batch), np.int32))
    known = batch.class_known
    weights = None
    if batch.weights is not None:
        check_weights(reader, batch)
        known &= batch.weights > _LOST
        weights = exact_parts(batch.weights[known])
        if weights.shape[1] == 1 and (weights == 1).all():
            weights = None
    if not known.all():
        batch = batch.take(np.flatnonzero(known))
    y = np.asarray(batch.y, np.int64)
    total_parts = _sums(y, weights, classes)
    column, value, row = (_sparse_entries if batch.sparse else _dense_entries)(batch, columns)
    infinite = np.flatnonzero(np.isinf(value))
    if len(infinite):
        name = schema.features[columns[column[infinite[0]]]].name
        raise StageError(
            reader,
            f"attribute {quoted(name)} has an infinite value, which cannot be counted",
            batch.start + int(np.flatnonzero(known)[row[infinite[0]]]),
        )
    absent = np.isnan(value)
    missing_parts = np.zeros((len(columns), *total_parts.shape))
    if absent.any():
        at = column[absent].astype(np.int64) * classes + y[row[absent]]
        missing_parts = _sums(at, None if weights is None else weights[row[absent]], len(columns) * classes)
        missing_parts = missing_parts.reshape(len(columns), *total_parts.shape)
        keep = ~absent
        column, value, row = column[keep], value[keep], row[keep]
    code, distinct = _codes(value)
    number = np.int32 if len(columns) * len(distinct) * classes < 1 << 31 else np.int64  # half the size, half the time
    key = (column.astype(number) * len(distinct) + code.astype(number)) * classes + y.astype(number)[row]
    cell_column, cell_value, parts = _cells(key, None if weights is None else weights[row], classes, distinct)
    indptr = row_starts(cell_column, len(columns))
    return ContingencyTable(schema, columns, indptr, cell_value, parts, missing_parts, total_parts)


def _sparse_entries(batch: Batch, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The column (its place in `columns`), value and row of each entry in some columns of a sparse batch."""
    X = batch.csr
    column, value, row = X.indices, X.data, X.row_of_entry
    if len(columns) == X.columns:
        return column, value, row
    place = np.full(X.columns, -1)
    place[columns] = np.arange(len(columns))
    column = place[column]
    keep = column >= 0
    return column[keep], value[keep], row[keep]


def _dense_entries(batch: Batch, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_sparse_entries`, for a dense batch; zeros are left out."""
    X = batch.X if len(columns) == batch.X.shape[1] else batch.X[:, columns]
    value = X.T.ravel()
    column = np.repeat(np.arange(X.shape[1]), X.shape[0])
    row = np.tile(np.arange(X.shape[0]), X.shape[1])
    keep = value != 0
    return (column, value, row) if keep.all() else (column[keep], value[keep], row[keep])


def _sums(at: np.ndarray, weights: np.ndarray | None, length: int) -> np.ndarray:
    """float64 (length, parts): the sum of the weights of the entries with each number in `at`."""
    if weights is None:
        return np.bincount(at, minlength=length).astype(np.float64)[:, None]
    return np.stack([np.bincount(at, part, minlength=length) for part in weights.T], axis=1)


def _codes(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int (n,): the place of each value among the distinct values; and these, ascending, perhaps with others."""
    if len(value) and value.min() >= 0 and value.max() < 4096:
        whole = value.astype(np.int32)
        if (whole == value).all():
            return whole, np.arange(int(whole.max()) + 1, dtype=np.float64)
    distinct, code = np.unique(value, return_inverse=True)
    return code, distinct


def _cells(
    key: np.ndarray, weights: np.ndarray | None, classes: int, distinct: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The column, value and parts of each cell.

    `key` is int (entries,), ``(column * len(distinct) + code) * classes + class`` for each entry; code is the place of
    its value in `distinct`.
    """
    if weights is None and key.max(initial=0) < len(key):
        count = np.bincount(key)
        key = np.flatnonzero(count)
        amounts = count[key].astype(np.float64)[:, None]
    elif weights is None:
        key = np.sort(key)
        first = np.flatnonzero(begins_run(key))
        amounts = np.diff(first, append=len(key)).astype(np.float64)[:, None]
        key = key[first]
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(begins_run(key))
        amounts = np.add.reduceat(weights[order], first, axis=0) if len(first) else np.empty((0, weights.shape[1]))
        key = key[first]
    key = key.astype(np.int64)
    cell = key // max(classes, 1)
    begin = begins_run(cell)
    number = np.cumsum(begin) - 1
    parts = np.zeros((np.count_nonzero(begin), classes, amounts.shape[1]))
    at = number * classes + (key - cell * classes)
    for part, amount in zip(parts.reshape(-1, amounts.shape[1]).T, amounts.T):
        part[at] = amount
    cell = cell[np.flatnonzero(begin)]
    column = cell // max(len(distinct), 1)
    return column, distinct[cell - column * len(distinct)], parts
