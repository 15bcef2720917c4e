"""Summary and Moments: what is known of each column without its distinct values.

They take a small, fixed amount of memory for each column, where a contingency table takes some for each distinct value.
All rows count as one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from filterkit.counts.cells import entries, infinite_value
from filterkit.counts.exact_sums import (
    BITS,
    MOST_DIGITS,
    ExactSums,
    Pair,
    add,
    add_digits,
    add_entry_digits,
    divide,
    grid,
    multiply,
    sum_of,
    two_product,
    unit,
)
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, sum_over_classes
from filterkit.counts.weights import CountedRows, add_parts, rows_that_count, sum_parts
from filterkit.data.ragged import Ragged

if TYPE_CHECKING:
    from filterkit.data.batch import Batch
    from filterkit.data.schema import Schema

_CANCELLED = 2.0**-40  # a share of the squares; sums of squared deviations below it are taken from fractions
_CHUNK = 1 << 14  # numbers that are worked on at once, so that they stay in the processor's cache


class Summary(Statistic):
    """The extremes of each column, and how many rows have a zero, a missing value, or each label.

    Attributes
    ----------
    schema, columns, first : see `Statistic`.
    low, high : float64 (k,), the least and the largest value, perhaps without zeros; infinite where there is none.
    total_parts, missing_parts, nonzero_parts : float64 (parts,), (k, parts) and (k, parts): the weight of all rows, of
        those whose value is missing, and of those whose value is neither missing nor zero, in parts whose sums are
        exact.
    label_parts : float64 (labels, parts), the weight of the rows with each label of each nominal column but its first,
        which is zero.
    """

    title = "extremes and counts"
    from_tables = True

    def __init__(
        self,
        schema: Schema,
        columns: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        total_parts: np.ndarray,
        missing_parts: np.ndarray,
        nonzero_parts: np.ndarray,
        label_parts: np.ndarray,
    ) -> None:
        self.schema = schema
        self.columns = columns
        self.low = low
        self.high = high
        self.total_parts = total_parts
        self.missing_parts = missing_parts
        self.nonzero_parts = nonzero_parts
        self.label_parts = label_parts

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """See `Statistic.of`; `supervised` must be false."""
        rows = rows_that_count(batch, supervised, reader)
        found = (_of_sparse if batch.sparse else _of_dense)(rows, columns, reader)
        more = cls._more(rows, columns, *found[:2])
        found += (_labels_of(rows, columns),)
        return cls(batch.schema, columns, *found, **more)

    @classmethod
    def of_table(cls, table: ContingencyTable) -> Self:
        """The same, to the last bit, from a table whose rows all have the weight 1."""
        filled = np.flatnonzero(np.diff(table.indptr))
        low, high = np.full(len(table), np.inf), np.full(len(table), -np.inf)
        low[filled], high[filled] = table.values[table.indptr[filled]], table.values[table.indptr[filled + 1] - 1]
        parts = table.exact_parts.sum(axis=1)
        taken = (low, high, table.total_parts.sum(axis=0), table.missing_parts.sum(axis=1))
        nonzero = sum_parts(table.column_of_cell, parts, len(table))
        sizes = table.schema.label_counts[table.columns]
        starts = np.cumsum(sizes) - sizes
        nominal = np.flatnonzero(table.nominal[table.column_of_cell])
        label = starts[table.column_of_cell[nominal]] + table.values[nominal].astype(np.int64)
        labels = sum_parts(label, parts[nominal], int(sizes.sum()))
        return cls(table.schema, table.columns, *taken, nonzero, labels, **cls._more_of_table(table, low, high))

    @classmethod
    def merge(cls, several: Sequence[Self], jobs: int = 1) -> Self:
        """See `Statistic.merge`."""
        if len(several) == 1:
            return several[0]
        low = np.minimum.reduce([each.low for each in several])
        high = np.maximum.reduce([each.high for each in several])
        names = ("total_parts", "missing_parts", "nonzero_parts", "label_parts")
        parts = [add_parts([getattr(each, name) for each in several]) for name in names]
        more = cls._more_merged(several, low, high)
        return cls(several[0].schema, several[0].columns, low, high, *parts, **more)

    def some(self, low: int, high: int) -> Self:
        """See `Statistic.some`."""
        span = slice(low, high)
        sizes = np.cumsum([0, *self._label_counts])
        return type(self)(
            self.schema,
            self.columns[span],
            self.low[span],
            self.high[span],
            self.total_parts,
            self.missing_parts[span],
            self.nonzero_parts[span],
            self.label_parts[sizes[low] : sizes[high]],
            **self._some_more(low, high),
        )

    @property
    def nbytes(self) -> int:
        """See `Statistic.nbytes`."""
        arrays = (self.low, self.high, self.missing_parts, self.nonzero_parts, self.label_parts)
        return sum(array.nbytes for array in arrays)

    @property
    def totals(self) -> np.ndarray:
        """float64 (1,): the weight of all rows."""
        return np.asarray(self.total_parts.sum(keepdims=True))

    @cached_property
    def missing(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is missing."""
        return np.asarray(self.missing_parts.sum(axis=1))

    @cached_property
    def present(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is not missing."""
        return np.asarray((self.total_parts - self.missing_parts).sum(axis=1))

    @cached_property
    def nonzero(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is neither missing nor zero."""
        return np.asarray(self.nonzero_parts.sum(axis=1))

    @cached_property
    def zeros(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is zero."""
        return np.asarray(self._zero_parts.sum(axis=1))

    @property
    def _zero_parts(self) -> np.ndarray:
        """float64 (k, parts)."""
        return np.asarray(self.total_parts - self.missing_parts - self.nonzero_parts)

    @property
    def _label_counts(self) -> np.ndarray:
        """int64 (k,): how many labels each column declares, 0 if it is numeric."""
        return np.asarray(self.schema.label_counts[self.columns])

    @cached_property
    def labels(self) -> Ragged:
        """The weight of the rows with each label of each column, in the order declared; none if it is numeric."""
        starts = np.cumsum([0, *self._label_counts])
        parts = self.label_parts.copy()
        nominal = np.flatnonzero(self._label_counts)
        parts[starts[nominal]] = self._zero_parts[nominal]
        return Ragged(starts, parts.sum(axis=1))

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest value of each column, zeros included: float64 (k,) each; 0 if all are missing."""
        zero = self._zero_parts.any(axis=1)
        low = np.where(np.isinf(self.low), 0.0, self.low)
        high = np.where(np.isinf(self.high), 0.0, self.high)
        return np.where(zero, np.minimum(low, 0.0), low), np.where(zero, np.maximum(high, 0.0), high)

    # What a class that knows more than the summary adds: arguments of its constructor.

    @classmethod
    def _more(cls, rows: CountedRows, columns: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
        return {}

    @classmethod
    def _more_of_table(cls, table: ContingencyTable, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
        return {}

    @classmethod
    def _more_merged(cls, several: Sequence[Self], low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
        return {}

    def _some_more(self, low: int, high: int) -> dict[str, Any]:
        return {}


class Moments(Summary):
    """A summary with the mean of each column and the squared deviations from it.

    They are sums over the rows of products that are exact (see `filterkit.counts.exact_sums`), so they do not depend on
    the order of the rows, and neither large values nor values close together cost digits. In nominal columns, a value
    is the index of a label.

    Attributes
    ----------
    sums, squares : the sums of the values, and of their squares, times the weights of the rows.
    weight_exponent : the exponent of the grid for weights, 0 if all are 1.
    """

    title = "sums and squares"

    def __init__(self, *summary: Any, sums: ExactSums, squares: ExactSums, weight_exponent: int) -> None:
        super().__init__(*summary)
        self.sums = sums
        self.squares = squares
        self.weight_exponent = weight_exponent

    @property
    def nbytes(self) -> int:
        """See `Statistic.nbytes`."""
        return super().nbytes + self.sums.digits.nbytes + self.squares.digits.nbytes

    def mean(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """float64 (k,): the mean of the values that are not missing, times ``2**scale``; 0 if all are missing."""
        return _scaled(self._center[0][0], BITS * self._exponent + scale)

    def mean_remainder(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """float64 (k,): what rounding takes from `mean`. A value minus `mean` minus this loses no digits."""
        return _scaled(self._center[0][1], BITS * self._exponent + scale)

    def squared_deviations(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """float64 (k,): the sum of the squared deviations from the mean, as of values times ``2**scale``.

        It is 0 only if all values are equal, or if it is too small for float64. With an int (k,) `scale` of its own for
        each column, squares of extreme values stay within float64.
        """
        return _scaled(self._center[1], 2 * (BITS * self._exponent + scale))

    def deviation(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """float64 (k,): the standard deviation, as of values times ``2**scale``; its divisor is n − 1.

        n is the weight of the rows whose value is not missing. A column of one value, or of none, has the deviation 0.
        It is NaN where the values differ and n is at most 1, because so few rows have no deviation.
        """
        low, high = self.extremes()
        divisor = np.where(low < high, np.where(self.present > 1, self.present - 1, np.nan), 1.0)
        return _scaled(np.sqrt(self._center[1] / divisor), BITS * self._exponent + scale)

    @property
    def _exponent(self) -> np.ndarray:
        """int64 (k,): that of the grid for the values."""
        return _grid_of(self.low, self.high)

    def _of_unit(self, sums: ExactSums, power: int) -> Pair:
        """`sums` of values, or of squares if `power` is 2, as of values divided by ``2**(26 * exponent)``."""
        high, low = sums.pair()
        up = 2.0 ** (BITS * (self.weight_exponent + power))
        return high * up, low * up

    @cached_property
    def _center(self) -> tuple[Pair, np.ndarray]:
        """The means, as pairs, and the sums of the squared deviations; of values divided by ``2**(26 * exponent)``."""
        weight_parts = self.total_parts - self.missing_parts
        sums, squares = self._of_unit(self.sums, 1), self._of_unit(self.squares, 2)
        high, low = sum_of(weight_parts)
        mean = divide(sums, (np.where(high > 0, high, 1.0), low))
        of_mean = multiply(mean, sums)
        total = add(squares, (-of_mean[0], -of_mean[1]))
        least, largest = self.extremes()
        deviations = np.where(least < largest, np.maximum(total[0] + total[1], 0.0), 0.0)
        # Values that are close together cancel most of the 100 bits of a pair.
        close = (least < largest) & (deviations <= squares[0] * _CANCELLED)
        up = Fraction(2) ** (BITS * (self.weight_exponent + 1))
        for column in np.flatnonzero(close).tolist():
            exact_sum = self.sums.fraction(column) * up
            exact_mean = exact_sum / sum(map(Fraction, weight_parts[column].tolist()))
            mean[0][column] = float(exact_mean)
            mean[1][column] = float(exact_mean - Fraction(float(exact_mean)))
            exact_squares = self.squares.fraction(column) * up * 2**BITS
            deviations[column] = float(exact_squares - exact_sum * exact_mean)
        return mean, deviations

    @classmethod
    def _more(cls, rows: CountedRows, columns: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
        exponent = _grid_of(low, high)
        weights = None if rows.parts is None else rows.parts.sum(axis=1)
        weight_exponent = 0
        if weights is not None:
            weight_exponent = int(grid(np.array([weights.max(initial=1.0)]))[0])
            weights = weights * unit(np.array([weight_exponent]))
        sums, squares = np.zeros((2, MOST_DIGITS, len(columns)))
        if rows.batch.sparse:
            column, value, row = entries(rows.batch, columns)
            value = np.where(np.isnan(value), 0.0, value) * unit(exponent)[column]
            _add_entries(value, column, None if weights is None else weights[row], sums, squares)
        elif len(columns):
            height = max(1, _CHUNK // len(columns))
            whole = len(columns) == rows.batch.X.shape[1]
            for begin in range(0, len(rows.batch), height):
                chunk = rows.batch.X[begin : begin + height]
                chunk = (chunk if whole else chunk[:, columns]) * unit(exponent)
                weight = None if weights is None else weights[begin : begin + height]
                _add_rows(np.nan_to_num(chunk, copy=False), weight, sums, squares)
        return _grown(sums, squares, exponent, weight_exponent)

    @classmethod
    def _more_of_table(cls, table: ContingencyTable, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
        exponent = _grid_of(low, high)
        sums, squares = np.zeros((2, MOST_DIGITS, len(table)))
        column = table.column_of_cell
        _add_entries(table.values * unit(exponent)[column], column, None, sums, squares, sum_over_classes(table.counts))
        return _grown(sums, squares, exponent, 0)

    @classmethod
    def _more_merged(cls, several: Sequence[Self], low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
        exponent, of_weights = _grid_of(low, high), max(each.weight_exponent for each in several)
        return {
            "sums": ExactSums.merge([each.sums for each in several], exponent + of_weights + 1),
            "squares": ExactSums.merge([each.squares for each in several], 2 * exponent + of_weights + 2),
            "weight_exponent": of_weights,
        }

    def _some_more(self, low: int, high: int) -> dict[str, Any]:
        sums, squares = self.sums.some(low, high), self.squares.some(low, high)
        return {"sums": sums, "squares": squares, "weight_exponent": self.weight_exponent}


def _of_dense(rows: CountedRows, columns: np.ndarray, reader: str) -> tuple[np.ndarray, ...]:
    """`low`, `high` and the parts of all, of missing and of non-zero values, of a dense batch."""
    X = rows.batch.X if len(columns) == rows.batch.X.shape[1] else rows.batch.X[:, columns]
    low, high = np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
    if len(X) and not (np.isfinite(low) & np.isfinite(high)).all():
        row, column = np.nonzero(np.isinf(X))
        if len(row):
            raise infinite_value(rows, int(columns[column[0]]), int(row[0]), reader)
    absent = np.isnan(X)
    missing, nonzero = (_sums_by_column(rows, flags) for flags in (absent, (X != 0) & ~absent))
    return low, high, rows.totals[0], missing, nonzero


def _sums_by_column(rows: CountedRows, flags: np.ndarray) -> np.ndarray:
    """float64 (k, parts): for each column of `flags`, bool (rows, k), the weight of the rows that are True."""
    if rows.parts is None:
        return np.asarray(np.count_nonzero(flags, axis=0), np.float64)[:, None]
    return np.stack([np.asarray(part @ flags) for part in rows.parts.T], axis=1)


def _of_sparse(rows: CountedRows, columns: np.ndarray, reader: str) -> tuple[np.ndarray, ...]:
    """As `_of_dense`, of a sparse batch."""
    column, value, row = entries(rows.batch, columns)
    infinite = np.flatnonzero(np.isinf(value))
    if len(infinite):
        raise infinite_value(rows, int(columns[column[infinite[0]]]), int(row[infinite[0]]), reader)
    absent = np.isnan(value)
    parts, width = rows.parts, len(columns)
    missing = sum_parts(column[absent], None if parts is None else parts[row[absent]], width)
    if absent.any():
        keep = ~absent
        column, value, row = column[keep], value[keep], row[keep]
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    np.minimum.at(low, column, value)
    np.maximum.at(high, column, value)
    return low, high, rows.totals[0], missing, sum_parts(column, None if parts is None else parts[row], width)


def _labels_of(rows: CountedRows, columns: np.ndarray) -> np.ndarray:
    """`label_parts` of a batch."""
    sizes = rows.batch.schema.label_counts[columns]
    nominal = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[nominal]
    column, value, row = entries(rows.batch, columns[nominal])
    present = np.flatnonzero(~np.isnan(value))
    label = starts[column[present]] + value[present].astype(np.int64)
    return sum_parts(label, None if rows.parts is None else rows.parts[row[present]], int(sizes.sum()))


def _scaled(numbers: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """float64 (k,): numbers times ``2**exponent``, infinite where that is too large."""
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(numbers, exponent.astype(np.int32)))


def _grid_of(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """int64 (k,): the exponents of the grid for columns with these extremes, infinite where there is no value."""
    return grid(np.where(np.isinf(low), 0.0, np.maximum(np.abs(low), np.abs(high))))


def _grown(sums: np.ndarray, squares: np.ndarray, exponent: np.ndarray, of_weights: int) -> dict[str, Any]:
    return {
        "sums": ExactSums.of_digits(exponent + of_weights + 1, sums),
        "squares": ExactSums.of_digits(2 * exponent + of_weights + 2, squares),
        "weight_exponent": of_weights,
    }


def _addends(x: np.ndarray, weights: np.ndarray | None) -> tuple[list[tuple[np.ndarray, int]], ...]:
    """What is to be added up for the sums and for the squares: numbers, and the first digit that they may have.

    Parameters
    ----------
    x : float64, values of at most 2**26 in size.
    weights : of a shape that fits, at most 2**26; None if all are 1.
    """
    square, error = two_product(x, x)
    square *= 2.0**-BITS
    error *= 2.0**-BITS
    if weights is None:
        return [(x, 1)], [(square, 1), (error, 2)]
    weights = np.broadcast_to(weights, x.shape)
    products = [two_product(factor, weights) for factor in (x, square, error)]
    return [(products[0][0], 0), (products[0][1], 1)], [(part, 0) for pair in products[1:] for part in pair]


def _add_rows(x: np.ndarray, weights: np.ndarray | None, sums: np.ndarray, squares: np.ndarray) -> None:
    """Add the digits of values and of their squares, times the weights (n,) of the rows; uses up `x` (n, k)."""
    for digits, addends in zip((sums, squares), _addends(x, None if weights is None else weights[:, None])):
        for numbers, first in addends:
            add_digits(numbers, digits, first)


def _add_entries(
    x: np.ndarray,
    column: np.ndarray,
    weights: np.ndarray | None,
    sums: np.ndarray,
    squares: np.ndarray,
    times: np.ndarray | None = None,
) -> None:
    """As `_add_rows`, for values `x` (n,) in the columns `column`, each of which occurs `times` times, or once."""
    for digits, addends in zip((sums, squares), _addends(x, weights)):
        for numbers, first in addends:
            add_entry_digits(numbers, column, digits, first, times)
