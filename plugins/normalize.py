"""Row normalisers."""

from __future__ import annotations

import numpy as np

from filterkit import Batch, RowStage, StageError, hookimpl


class L2(RowStage):
    """Divide each row by its Euclidean length, so that rows become unit vectors.

    Only numeric attributes count and change; nominal ones and the class stay, as in Weka's instance
    Normalize. Missing values stay missing and do not count. A row of zeros stays as it is. Zeros stay
    zero. (Forman, Scholz and Rajaram 2009, section 3.5.)
    """

    name = "l2"

    def transform(self, batch: Batch) -> Batch:
        nominal = batch.schema.nominal
        if batch.sparse:
            X = batch.csr
            values = X.data
            counted = values if not nominal.any() else np.where(nominal[X.indices], 0.0, values)
            lengths = _lengths(counted, X.indptr, batch)
            data = values / lengths[X.row_of_entry]
            if nominal.any():
                data = np.where(nominal[X.indices], values, data)
            return batch.replace(X=X._replace(data=data))
        X = batch.X
        counted = X if not nominal.any() else np.where(nominal, 0.0, X)
        indptr = np.arange(len(batch) + 1) * X.shape[1]
        image = X / _lengths(counted.ravel(), indptr, batch)[:, None]
        image[:, nominal] = X[:, nominal]
        return batch.replace(X=image)


def _lengths(values: np.ndarray, indptr: np.ndarray, batch: Batch) -> np.ndarray:
    """The Euclidean length of each row, 1 for a row of zeros, without overflow or underflow."""
    with np.errstate(over="ignore", under="ignore"):
        lengths = np.sqrt(_row_sums(values * values, indptr))
    doubtful = np.flatnonzero(~((lengths > 1e-140) & (lengths < 1e140)))
    for row in doubtful.tolist():  # zero, missing, tiny or huge: few, and each by itself
        part = values[indptr[row] : indptr[row + 1]]
        part = np.abs(part[~np.isnan(part)])
        largest = part.max(initial=0.0)
        if np.isinf(largest):
            raise StageError("l2", "an infinite value, so the row has no length", batch.start + row)
        lengths[row] = largest * np.sqrt(np.sum((part / largest) ** 2)) if largest > 0 else 1.0
    return lengths


def _row_sums(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """The sum of each row's entries, which does not depend on the rows around it."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if len(filled):
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


@hookimpl
def filterkit_stages() -> list[type[RowStage]]:
    return [L2]
