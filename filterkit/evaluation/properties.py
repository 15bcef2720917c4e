"""Describes training rows by what may tell which chain to take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from filterkit.data.batch import Batch


class Properties(NamedTuple):
    """Properties of rows whose class or labels are known.

    Attributes
    ----------
    rows : how many there are.
    positives : the rows of the positive class; without one, of the rarest class or label that has rows. None for
        numbers.
    columns : the number of features.
    nonzeros : the mean number of values in a row that are not zero. Of dense rows all nominal values count.
    """

    rows: int
    positives: int | None
    columns: int
    nonzeros: float


def measure_properties(batches: Iterable[Batch]) -> Properties:
    """Return the properties of all rows, whose class or labels must be known; all 0 if there are none."""
    rows, nonzeros, columns, counts, is_numeric = 0, 0, 0, np.zeros(1, np.int64), False
    for batch in batches:
        is_numeric = batch.schema.has_numeric_target
        rows, columns = rows + len(batch), batch.schema.width
        nonzeros += _count_nonzeros(batch)
        counts = counts if is_numeric else counts + _count_rows(batch)
    positives = None if is_numeric else int(counts[counts > 0].min(initial=rows))
    return Properties(rows, positives, columns, nonzeros / max(rows, 1))


def _count_nonzeros(batch: Batch) -> int:
    if batch.sparse:
        return int(np.count_nonzero(batch.csr.data))
    nominal = batch.schema.nominal
    return int(np.count_nonzero(batch.X[:, ~nominal])) + int(np.count_nonzero(nominal)) * len(batch)


def _count_rows(batch: Batch) -> np.ndarray:
    """Return the rows of the positive class, of each class, or of each label."""
    schema, y = batch.schema, batch.y
    assert y is not None
    if y.ndim > 1:
        known = schema.label_values  # of the schema, so that they are the same in all batches
        return np.asarray(np.count_nonzero(y[:, known.labels] == known.codes, axis=0))
    target = schema.class_attribute
    assert target is not None
    counts = np.bincount(y, minlength=len(target.values))
    return counts if schema.positive is None else counts[[target.values.index(schema.positive)]]
