"""Gram: the products of all pairs of columns, summed over the rows to the same bits whatever the order of the rows.

The values of each column are cut into three digits of 18 bits on a binary grid, which is fixed by the largest value of
the column alone. Products of digits are whole numbers, and so are their sums, which are below 2**53 for some hundred
thousand rows. So BLAS adds them up without rounding, in any order and with any number of threads, and int64 takes the
sums of all (K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, *Error-free transformations of matrix multiplication by using
fast routines of matrix multiplication*, Numerical Algorithms 59, 2012). Each value is rounded to 2**-54 of the largest
of its column, and of each product at most 2**-50 of the largest is left out: as much as float64 loses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from filterkit.counts.record import SAME, SUM, Record
from filterkit.counts.weights import check_sum, select_counted_rows
from filterkit.data.batch import Batch, concatenate, empty
from filterkit.data.blas import one_blas_thread
from filterkit.data.csr import Csr
from filterkit.data.numeric import check_finite
from filterkit.data.schema import Schema
from filterkit.errors import StageError

MOST_COLUMNS = 2000  # 100 MB of sums, and as much to work with
_BITS, _DIGITS = 18, 3
_MOST_ROWS = 1 << 27  # the sums of so many products stay in int64
_LEAST = -970  # the exponent of a column without values; scaling by it does not overflow
_AT_ONCE = 1 << 18  # numbers of dense rows that are cut into digits at once
_MOST_SPARSE_ROWS = 1 << 16  # that are cut into digits at once
_FEW_ROWS = 512  # batches of fewer are put together, because each costs a walk over all pairs of columns
_SPARSE = 8  # sparse rows of which more than this fraction is stored are multiplied faster as dense ones


class Gram(Record):
    """Holds the sums, over the rows, of the products of all pairs of columns of X, and of the columns themselves.

    The result is the same, to the last bit, for any order and grouping of the rows. Rows count by weight: each value is
    multiplied by the root of the weight of its row.

    Attributes
    ----------
    grid : int64 (columns + 1,), exponents: no absolute value of a column is larger than 2 to its exponent, nor is the
        root of a weight larger than 2 to the last one.
    digits : int64 (3, columns + 1, columns + 1), the sums, as three symmetric matrices. The second counts in units
        2**18 times smaller than the first, and the third in units 2**18 times smaller than the second. The last row and
        column of each belong to a column of ones.
    rows : the number of rows of a positive weight.
    """

    fields = Record.fields | {"grid": SAME, "digits": SUM, "rows": SUM}
    grid: np.ndarray
    digits: np.ndarray
    rows: int

    @staticmethod
    def of_all(batches: Callable[[], Iterable[Batch]], schema: Schema, reader: str) -> Gram:
        """Compute the `Gram` of all rows, which are read twice: to find the grid, and to add up.

        Parameters
        ----------
        batches : returns the batches from the first one on at each call, such as the `rows` of `Stage.fit`.
        schema : the schema of the batches.
        reader : the name of the stage that asks, for messages.

        Raises
        ------
        StageError : a value is missing or infinite in a row of a positive weight; a weight is negative, NaN, infinite
            or too large; the weights are too large or too small to add up exactly; or there are more than 2,000 columns
            or 2**27 rows.
        """
        if schema.width > MOST_COLUMNS:
            raise StageError(
                reader,
                f"there are {schema.width:,} columns, but at most {MOST_COLUMNS:,} are possible; put a stage before it "
                "that chooses some of them",
            )
        grid = np.full(schema.width + 1, _LEAST)
        for batch in batches():
            grid = np.maximum(grid, Gram.find_grid(batch, reader))
        gram = Gram.of(empty(schema), grid, reader)
        for batch in _join_short_batches(batches(), schema):
            gram._add_batch(batch, reader)
            gram.check_rows(reader)
        check_sum(reader, gram.total, gram.rows)
        return gram

    @staticmethod
    def find_grid(batch: Batch, reader: str) -> np.ndarray:
        """Return the attribute `grid` of one batch; that of several batches is the `np.maximum` of theirs.

        Raise StageError, in the name of the stage `reader`, if a value is missing or infinite in a row of a positive
        weight, or a weight is negative, NaN, infinite or too large.
        """
        rows = select_counted_rows(batch, False, reader)
        counts = np.zeros(len(batch), bool)
        counts[rows.numbers - batch.start] = True
        check_finite(reader, batch, counts)
        batch = rows.batch
        largest = np.zeros(batch.schema.width + 1)
        if batch.sparse:
            np.maximum.at(largest, batch.csr.indices, np.abs(batch.csr.data))
        elif len(batch):
            largest[:-1] = np.maximum(batch.X.max(axis=0), -batch.X.min(axis=0))
        if len(batch):
            largest[-1] = 1.0 if batch.weights is None else np.sqrt(batch.weights.max())
        fraction, exponent = np.frexp(largest)
        exponent = exponent.astype(np.int64) - (fraction == 0.5)  # a power of two is not larger than itself
        return np.where(largest > 0, np.maximum(exponent, _LEAST), _LEAST)

    @staticmethod
    def of(batch: Batch, grid: np.ndarray, reader: str) -> Gram:
        """Compute the `Gram` of one batch of finite values. It can be merged with others of the same `grid`.

        `grid` must be at least that of the batch; see `find_grid`. Raise StageError, in the name of the stage `reader`,
        if a weight is negative, NaN, infinite or too large. Call `check_rows` after merging.
        """
        gram = Gram(grid=grid, digits=np.zeros((_DIGITS, len(grid), len(grid)), np.int64), rows=0)
        gram._add_batch(batch, reader)
        return gram

    def _add_batch(self, batch: Batch, reader: str) -> None:
        batch = select_counted_rows(batch, False, reader).batch
        unit = np.ldexp(1.0, (_BITS - 1 - np.append(self.grid[:-1], 0)).astype(np.int32))
        root = None
        if batch.weights is not None or self.grid[-1]:
            root = np.sqrt(batch.row_weights) * 2.0 ** -float(self.grid[-1])
        stays_sparse = batch.sparse and len(batch.csr.data) * _SPARSE < len(batch) * batch.schema.width
        height = _MOST_SPARSE_ROWS if stays_sparse else max(_FEW_ROWS, _AT_ONCE // len(unit))
        for first in range(0, len(batch), height):
            chunk = batch.rows(first, first + height)
            factor = None if root is None else root[first : first + height]
            _add_products_of_digits(self.digits, _cut_rows_into_digits(chunk.in_form(stays_sparse), unit, factor))
        self.rows += len(batch)

    def check_rows(self, reader: str) -> None:
        """Raise StageError, in the name of the stage `reader`, if there are more than 2**27 rows.

        The sums of more might not stay in int64.
        """
        if self.rows > _MOST_ROWS:
            raise StageError(
                reader,
                f"there are more than {_MOST_ROWS:,} rows; put a stage before it that chooses some, such as sample",
            )

    def matrix(self, scale: int = 0) -> np.ndarray:
        """Return the sums of the products of all pairs of columns: float64 (columns, columns).

        All values are multiplied by ``2**scale`` before, so the sums by ``4**scale``. Sums that are too large for
        float64 are infinite.
        """
        return self._to_floats(slice(None, -1), slice(None, -1), scale)

    @property
    def sums(self) -> np.ndarray:
        """float64 (columns,): the sum of the values of each column times the weights of their rows."""
        return np.asarray(self._to_floats(slice(None, -1), slice(-1, None))[:, 0])

    @property
    def total(self) -> float:
        """The sum of the weights of the rows."""
        return float(self._to_floats(slice(-1, None), slice(-1, None))[0, 0])

    def find_axes(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the axes along which the rows, uncentered, are longest: their leading singular values and vectors.

        Parameters
        ----------
        most : how many to find, at least 1. There are fewer if the rows have a lower rank. A singular value at most
            ``sqrt(columns * 2**-52)`` times the largest is left out, because it cannot be told from rounding.

        Returns
        -------
        float64 (k,), the singular values, which descend, infinite if too large for float64; and float64 (columns, k), a
        vector in each column. The component of a vector that is largest in size is positive.
        """
        from scipy.linalg import eigh

        width = len(self.grid) - 1
        if not width or not self.rows:
            return np.zeros(0), np.zeros((width, 0))
        scale = -int((self.grid[:-1] + self.grid[-1]).max())  # no square overflows, and the largest does not underflow
        squares = self.matrix(scale)
        first = max(width - most, 0)
        with one_blas_thread():
            values, vectors = eigh(squares, subset_by_index=(first, width - 1), overwrite_a=True, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        count = int(np.count_nonzero(values > width * np.finfo(np.float64).eps * values[0]))
        with np.errstate(over="ignore"):  # a singular value may be too large for float64, while the axes are sound
            lengths = np.asarray(np.ldexp(np.sqrt(values[:count]), -scale))
        return lengths, fix_signs(vectors[:, :count])

    def _to_floats(self, rows: slice, columns: slice, scale: int = 0) -> np.ndarray:
        """Return the sums of some `rows` and `columns` of the matrix of sums: float64 (rows, columns).

        All values are multiplied by ``2**scale`` before. Sums that are too large are infinite.
        """
        high, middle, low = self.digits[:, rows, columns]
        numbers = low * 2.0**-_BITS
        numbers += middle
        numbers *= 2.0**-_BITS
        numbers += high
        # No value times the root of its weight is larger than 2 to the sum of its grid and of the last one.
        exponent = (np.append(self.grid[:-1], 0) + (self.grid[-1] + scale - _BITS + 1)).astype(np.int32)
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(numbers, exponent[rows, None] + exponent[columns], out=numbers))


def _join_short_batches(batches: Iterable[Batch], schema: Schema) -> Iterator[Batch]:
    """Yield the same rows, in order, in batches of at least 512 rows, without class and passthrough columns.

    Only the last batch may have fewer. Without batches, yield none.
    """
    waiting: list[Batch] = []
    for batch in batches:
        waiting.append(batch.replace(y=None, passthrough=None))
        if sum(map(len, waiting)) >= _FEW_ROWS:
            yield concatenate(waiting, schema)
            waiting = []
    if waiting:
        yield concatenate(waiting, schema)


def _cut_rows_into_digits(batch: Batch, unit: np.ndarray, root: np.ndarray | None) -> list[Any]:
    """Scale rows, with a column of ones after theirs, and cut them into up to three digits of 18 bits.

    Return them from the highest: whole numbers of at most 2**17 in size, (rows, columns + 1) each. Later digits are
    left out if they are all 0.

    Parameters
    ----------
    batch : the rows; if they are sparse, so are the digits.
    unit : float64 (columns + 1,), what to multiply each column by, so that no number is above 2**17 in size.
    root : float64 (rows,), what to multiply each row by then, at most 1; None if by 1.
    """
    digits: list[Any] = []
    if batch.sparse:
        X = batch.csr
        ends, indptr = X.indptr[1:], X.indptr + np.arange(len(X.indptr), dtype=np.int32)
        indices = np.insert(X.indices, ends, X.columns)
        numbers = np.insert(X.data, ends, 1.0) * unit[indices]
        scale = None if root is None else np.repeat(root, np.diff(indptr))
    else:
        numbers = np.empty((len(batch), len(unit)))
        np.multiply(batch.X, unit[:-1], out=numbers[:, :-1])
        numbers[:, -1] = unit[-1]
        scale = None if root is None else root[:, None]
    if scale is not None:
        numbers *= scale
    for _ in range(_DIGITS):
        digits.append(np.rint(numbers))
        numbers -= digits[-1]
        if not numbers.any():
            break
        numbers *= 2.0**_BITS
    return [Csr(digit, indices, indptr, len(unit)).matrix() for digit in digits] if batch.sparse else digits


def _add_products_of_digits(sums: np.ndarray, digits: Sequence[Any]) -> None:
    """Add the products of digits, over all pairs of columns, to `sums`, int64 (3, columns, columns), in place.

    The product of digits i and j of `digits` goes to ``sums[i + j]``; products with i + j above 2 are left out.
    """
    for i, one in enumerate(digits):
        for j in range(i, min(len(digits), _DIGITS - i)):
            product = one.T @ digits[j]
            whole = (product if isinstance(product, np.ndarray) else product.toarray()).astype(np.int64)
            sums[i + j] += whole
            if i != j:
                sums[i + j] += whole.T


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors in the columns of float64 (n, k), each with the sign that makes one component positive.

    It is the component that is largest in size. Of several that are about equally large, it is the first, so that
    rounding does not decide.
    """
    size = np.abs(vectors)
    at = (size >= size.max(axis=0) * (1 - 1e-9)).argmax(axis=0)
    return np.ascontiguousarray(vectors * np.sign(vectors[at, np.arange(vectors.shape[1])]))
