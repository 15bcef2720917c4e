"""Products of rows with a matrix, where a row's result depends on no other row."""

from __future__ import annotations

import numpy as np

from filterkit.data.csr import Csr, Matrix

_AT_ONCE = 1 << 20  # entries of a dense matrix that become sparse at once


def multiply_rows(X: Matrix | Csr, matrix: np.ndarray) -> np.ndarray:
    """Multiply X, float64 (rows, columns), by a dense float64 `matrix` (columns, k) of finite numbers.

    Return float64 (rows, k), in which a row depends on the same row of X alone, to the last bit: not on how many rows
    there are, on its position, on whether X is sparse, or on threads. ``X @ matrix`` does not promise that, because
    BLAS sums in another order for another number of rows. Here each row is summed in the order of its columns.
    """
    if isinstance(X, Csr):
        X = X.matrix()
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ matrix)
    rows, width = X.shape
    result = np.empty((rows, matrix.shape[1]))
    height = max(1, _AT_ONCE // max(width, 1))
    for first in range(0, rows, height):
        some = X[first : first + height]
        # All entries are stored, zeros too: three times as fast as to look for zeros.
        indptr = np.arange(len(some) + 1, dtype=np.int32) * np.int32(width)
        columns = np.tile(np.arange(width, dtype=np.int32), len(some))
        result[first : first + height] = Csr(some.ravel(), columns, indptr, width).matrix() @ matrix
    return result


# The names of these functions in older plugins.
rows_times = multiply_rows
