"""The rows of a batch that count, and their instance weights as parts whose sums are exact.

Sums of floating-point numbers depend on their order. Each weight is therefore split into parts on fixed binary grids.
The sums of each part are exact in float64, and the parts are added last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from filterkit.data.batch import Batch
from filterkit.errors import StageError

# The parts of a weight are multiples of 2**-10, 2**-37 and 2**-64. The sums of each part are exact up to a total weight
# of 2**43 and 2**27 (134 million) rows. A single weight is rounded to a multiple of 2**-64.
_GRIDS = (2.0**-10, 2.0**-37, 2.0**-64)
_LARGEST = 2.0**43
_LOST = 2.0**-65  # a weight of at most this is rounded to 0
_LEAST_MEAN = 2.0**-40  # rounding changes a weight by less than a ten-millionth of this


def exact_parts(weights: np.ndarray) -> np.ndarray:
    """Split each weight into parts that add up to it, and whose sums over many weights are exact: float64 (n, 3).

    If all are multiples of 2**-10, there is one part: (n, 1). `weights` is float64 (n,). Each weight is rounded to a
    multiple of 2**-64, and must be at most 2**43 in size; it may be negative.
    """
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
    """Raise StageError, in the name of the stage `reader`, if a weight is negative, NaN, infinite, or above 2**43."""
    if batch.weights is None:
        return
    bad = np.flatnonzero(~((batch.weights >= 0) & (batch.weights <= _LARGEST)))
    if len(bad):
        weight = float(batch.weights[bad[0]])
        why = "it must be finite and at least 0; correct it, or remove the row"
        if _LARGEST < weight < np.inf:
            why = f"weights may add up to 2^43, about {_LARGEST:.2g}; divide all of them by the same number"
        raise StageError(reader, f"the instance weight {weight:g} cannot be counted; {why}", batch.start + int(bad[0]))


class CountedRows(NamedTuple):
    """The rows of a batch that count: those of a positive weight and, if a class is needed, of a known class.

    Attributes
    ----------
    batch : these rows.
    y : int64 (rows,), the code of the class of each row; all 0 if rows are not counted by class.
    parts : float64 (rows, parts), their weights as `exact_parts` splits them; None if all are 1.
    classes : the number of classes; 1 if rows are not counted by class.
    numbers : int64 (rows,), the number of each row in its source, from 0.
    """

    batch: Batch
    y: np.ndarray
    parts: np.ndarray | None
    classes: int
    numbers: np.ndarray

    @property
    def total_parts(self) -> np.ndarray:
        """float64 (classes, parts): the weight of all rows of each class, split as by `exact_parts`."""
        return sum_parts(self.y, self.parts, self.classes)

    def sum_weights_by_group(self, group: np.ndarray, row: np.ndarray, groups: int) -> np.ndarray:
        """Add up, by group, the weights of the rows that entries, such as values of X, are in: float64 (groups, parts).

        `group`, int (entries,), is the group of each entry, from 0 to `groups` - 1. `row`, int (entries,), is the index
        of its row. The parts of a sum add up to it; see `exact_parts`.
        """
        return sum_parts(group, None if self.parts is None else self.parts[row], groups)


def select_counted_rows(batch: Batch, supervised: bool, reader: str) -> CountedRows:
    """Choose the rows of `batch` that count, and split their weights into parts.

    A row of weight 0, or of one that rounds to 0, does not count.

    Parameters
    ----------
    batch : some rows.
    supervised : whether to count only the rows whose class is known, by class if it is nominal; the batch must have a
        class. If False, all rows count as one class.
    reader : the name of the stage that counts, for messages.

    Raises
    ------
    StageError : the weight of a row, even of one without a class, is negative, NaN, infinite, or above 2**43.
    """
    known, y, classes = np.ones(len(batch), bool), np.zeros(len(batch), np.int32), 1
    if supervised:
        target = batch.schema.class_attribute
        assert target is not None and batch.y is not None
        known = batch.class_known
        if target.kind == "nominal":
            y, classes = batch.y, len(target.values)
    parts = None
    if batch.weights is not None:
        check_weights(reader, batch)
        known &= batch.weights > _LOST
        parts = exact_parts(batch.weights[known])
        if parts.shape[1] == 1 and (parts == 1).all():
            parts = None
    numbers = np.arange(len(batch))
    if not known.all():
        numbers = np.flatnonzero(known)
        batch, y = batch.take(numbers), y[numbers]
    return CountedRows(batch, y.astype(np.int64), parts, classes, batch.start + numbers)


def sum_parts(at: np.ndarray, weights: np.ndarray | None, length: int) -> np.ndarray:
    """Add up the weights of entries by group: float64 (length, parts).

    The parts of a weight add up to it, see `exact_parts`; each part is summed separately.

    Parameters
    ----------
    at : int (entries,), the group of each entry, from 0 to `length` - 1.
    weights : float64 (entries, parts), the weight of each entry. None counts the entries, in one part.
    length : the number of groups; an empty one has 0.
    """
    if weights is None:
        return np.bincount(at, minlength=length).astype(np.float64)[:, None]
    sums = [np.bincount(at, part, minlength=length) for part in weights.T]
    return np.stack(sums, axis=1).astype(np.float64, copy=False)  # bincount gives integers for no entries


def pad_parts(parts: np.ndarray, width: int) -> np.ndarray:
    """Append parts of 0 to weights, float64 (..., parts), until they have `width` parts, at least as many as before.

    If they have as many already, they are returned themselves.
    """
    if parts.shape[-1] == width:
        return parts
    return np.pad(parts, [(0, 0)] * (parts.ndim - 1) + [(0, width - parts.shape[-1])])


def add_parts(several: list[np.ndarray]) -> np.ndarray:
    """Add up arrays of weights, (..., parts), at least one; those with fewer parts than others get parts of 0."""
    width = max(parts.shape[-1] for parts in several)
    return np.asarray(sum(pad_parts(parts, width) for parts in several))


def check_sum(reader: str, weights: float, rows: int) -> None:
    """Raise StageError, in the name of the stage `reader`, if weights are too large or too small to add up exactly.

    That is so if their sum, `weights`, is above 2**43, or their mean below 2**-40. `rows` is the number of rows whose
    weight is not 0.
    """
    if weights > _LARGEST:
        raise StageError(
            reader,
            f"the instance weights add up to {weights:g}, but no more than 2^43, about {_LARGEST:.2g}, can be counted "
            "exactly; divide all of them by the same number",
        )
    if weights < rows * _LEAST_MEAN:
        raise StageError(
            reader,
            f"the instance weights are {weights / rows:g} on average, which is too little to be counted exactly; "
            "multiply all of them by the same large number",
        )
