"""Summary and Moments: statistics of each column that do not need its distinct values.

They take a small, fixed amount of memory for each column, where a contingency table takes some for each distinct value.
All rows count as one class.
"""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np

from filterkit.counts.cells import (
    find_and_check_nonzero_entries,
    find_extremes_by_column,
    find_nonzero_entries,
    include_zeros_in_extremes,
    make_infinite_value_error,
    take_columns,
)
from filterkit.counts.class_parts import sum_over_parts
from filterkit.counts.exact_sums import (
    BITS,
    MOST_DIGITS,
    UNIT_BITS,
    ExactSums,
    add_numbers_as_digits,
    choose_exponent_and_scale,
    multiply_exactly,
)
from filterkit.counts.record import LARGEST, LEAST, MERGED, SUM_FOR_ALL, SUM_OF_PARTS
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, sum_over_classes
from filterkit.counts.weights import CountedRows, sum_parts
from filterkit.data.ragged import Ragged, compute_offsets

_CHUNK = 1 << 14  # numbers that are worked on at once, so that they stay in the processor's cache
_WEIGHT_BITS = 64  # weights are multiples of 2**-64


class Summary(Statistic):
    """Holds the extremes of each column, and how many rows have a zero, a missing value, or each label.

    Rows must count as one class: unless the class is numeric, `supervised` of `Statistic.of` must be False. Weights are
    float64 (..., parts). The parts of a weight add up to it, see `filterkit.counts.weights.exact_parts`.

    Attributes
    ----------
    schema, columns, column_offset : see `Statistic`.
    low, high : float64 (k,), the least and the largest value, perhaps without zeros; inf and -inf where there is none.
    total_parts : float64 (parts,), the weight of all rows.
    missing_parts : float64 (k, parts), the weight of the rows whose value is missing.
    nonzero_parts : float64 (k, parts), the weight of the rows whose value is neither missing nor zero.
    label_parts : float64 (labels, parts), the weight of the rows with each label of each nominal column, one column
        after the other. It is 0 for the first label of a column, whose weight follows from the other arrays, because
        its value is zero.
    """

    title = "extremes and counts"
    from_tables = True
    sized_names = ("label_parts",)
    fields = Statistic.fields | {
        "low": LEAST,
        "high": LARGEST,
        "total_parts": SUM_FOR_ALL,
        "missing_parts": SUM_OF_PARTS,
        "nonzero_parts": SUM_OF_PARTS,
        "label_parts": SUM_FOR_ALL,  # it has no row for each column, so `column_range` cuts it
    }
    low: np.ndarray
    high: np.ndarray
    total_parts: np.ndarray
    missing_parts: np.ndarray
    nonzero_parts: np.ndarray
    label_parts: np.ndarray

    @classmethod
    def of_rows(cls, rows: CountedRows, columns: np.ndarray, reader: str) -> Self:
        """Compute the summary of all `rows`, of whatever class.

        `columns`, int64 (k,), are the ascending numbers of the columns of X to cover. Raise StageError, in the name of
        the stage `reader`, if a value is infinite.
        """
        low, high, missing, nonzero = (_summarize_sparse_rows if rows.batch.sparse else _summarize_dense_rows)(
            rows, columns, reader
        )
        return cls(
            schema=rows.batch.schema,
            columns=columns,
            low=low,
            high=high,
            total_parts=rows.total_parts.sum(axis=0),
            missing_parts=missing,
            nonzero_parts=nonzero,
            label_parts=_sum_weights_by_label(rows, columns),
        )

    @classmethod
    def of_table(cls, table: ContingencyTable) -> Self:
        """Compute the summary from a table that counts all rows as one class, each with weight 1.

        The result is that of `of_rows`, to the last bit.
        """
        low, high = find_extremes_by_column(table.column_of_cell, table.values, len(table))
        parts = table.exact_parts.sum(axis=1)
        starts = compute_offsets(table.schema.label_counts[table.columns])
        nominal = np.flatnonzero(table.nominal[table.column_of_cell])
        label = starts[table.column_of_cell[nominal]] + table.values[nominal].astype(np.int64)
        return cls(
            schema=table.schema,
            columns=table.columns,
            low=low,
            high=high,
            total_parts=table.total_parts.sum(axis=0),
            missing_parts=table.missing_parts.sum(axis=1),
            nonzero_parts=sum_parts(table.column_of_cell, parts, len(table)),
            label_parts=sum_parts(label, parts[nominal], int(starts[-1])),
        )

    def column_range(self, low: int, high: int) -> Self:
        """Return the summary of the covered columns from `low` up to, but not including, `high`, counted from 0.

        Its arrays may be views. If these are all columns covered, it is the summary itself.
        """
        if high - low == len(self):
            return self
        begin, end = compute_offsets(self.schema.label_counts[self.columns])[[low, high]].tolist()
        return super().column_range(low, high).replace(label_parts=self.label_parts[begin:end])

    @property
    def totals(self) -> np.ndarray:
        """float64 (1,): the weight of the rows that count."""
        return sum_over_parts(self.total_parts[None])

    @cached_property
    def missing(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is missing."""
        return sum_over_parts(self.missing_parts)

    @cached_property
    def present(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is not missing."""
        return sum_over_parts(self.total_parts - self.missing_parts)

    @cached_property
    def nonzero(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is neither missing nor zero."""
        return sum_over_parts(self.nonzero_parts)

    @cached_property
    def zeros(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is zero."""
        return sum_over_parts(self._zero_parts)

    @property
    def _zero_parts(self) -> np.ndarray:
        return np.asarray(self.total_parts - self.missing_parts - self.nonzero_parts)

    @cached_property
    def labels(self) -> Ragged:
        """Rows of float64, one for each column: the weight of the rows with each label, in the order declared.

        A numeric column has an empty row.
        """
        starts = compute_offsets(self.schema.label_counts[self.columns])
        parts = self.label_parts.copy()
        nominal = np.flatnonzero(np.diff(starts))
        parts[starts[nominal]] = self._zero_parts[nominal]
        return Ragged(starts, sum_over_parts(parts))

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and the largest value of each column, zeros included: float64 (k,) each.

        Both are 0 if all values are missing.
        """
        return include_zeros_in_extremes(self.low, self.high, np.asarray(self._zero_parts.any(axis=1)))


class Moments(Summary):
    """Adds to a `Summary` the sums from which the mean and the deviation of each column follow.

    They are sums over the rows of products that are exact (see `filterkit.counts.exact_sums`), so they do not depend on
    the order of the rows, and neither large values nor values close together cost digits. In nominal columns, a value
    is the index of a label.

    Attributes
    ----------
    sums : for each column, the sum of its values times the weights of their rows; missing ones count as 0.
    squares : the same of the squares of the values.
    """

    title = "sums and squares"
    work_bytes = 400  # of the Python ints that computing a mean makes of the sums
    fields = Summary.fields | {"sums": MERGED, "squares": MERGED}
    sums: ExactSums
    squares: ExactSums

    @classmethod
    def of_rows(cls, rows: CountedRows, columns: np.ndarray, reader: str) -> Self:
        """Compute the moments of all `rows`, of whatever class.

        `columns`, int64 (k,), are the ascending numbers of the columns of X to cover. Raise StageError, in the name of
        the stage `reader`, if a value is infinite.
        """
        moments = super().of_rows(rows, columns, reader)
        exponent, scale = choose_exponent_and_scale(np.abs(moments.extremes()).max(axis=0))
        weight_exponent, weights = 0, None
        if rows.parts is not None:
            weights = rows.parts.sum(axis=1)
            own_exponent, own_scale = choose_exponent_and_scale(weights.max(initial=1.0))
            weight_exponent = int(own_exponent)
            weights *= own_scale
        digits = np.zeros((2, MOST_DIGITS, len(columns)))
        if rows.batch.sparse:
            column, value, row = find_nonzero_entries(rows.batch, columns)
            value = np.where(np.isnan(value), 0.0, value) * scale[column]
            _add_values_and_squares(digits, value, None if weights is None else weights[row], column)
        elif len(columns):
            height = max(1, _CHUNK // len(columns))
            for begin in range(0, len(rows.batch), height):
                chunk = take_columns(rows.batch.X[begin : begin + height], columns) * scale
                weight = None if weights is None else weights[begin : begin + height, None]
                _add_values_and_squares(digits, np.nan_to_num(chunk, copy=False), weight)
        return moments._set_sums(digits, exponent, weight_exponent)

    @classmethod
    def of_table(cls, table: ContingencyTable) -> Self:
        """Compute the moments from a table that counts all rows as one class, each with weight 1.

        The result is that of `of_rows`, to the last bit.
        """
        moments = super().of_table(table)
        digits = np.zeros((2, MOST_DIGITS, len(table)))
        column = table.column_of_cell
        exponent, scale = choose_exponent_and_scale(np.abs(moments.extremes()).max(axis=0))
        _add_values_and_squares(digits, table.values * scale[column], None, column, sum_over_classes(table.counts))
        return moments._set_sums(digits, exponent, 0)

    def _set_sums(self, digits: np.ndarray, exponent: np.ndarray, weight_exponent: int) -> Self:
        """Set `sums` and `squares` from their digits, float64 (2, digits, k), and their exponents, and return self."""
        self.sums, self.squares = (
            ExactSums(power, exponent, weight_exponent, each) for power, each in enumerate(digits, 1)
        )
        return self

    def mean(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """Return the mean of the values of each column that are not missing, times ``2**scale``: float64 (k,).

        It is 0 for a column without values, and infinite if too large. Values count by the weight of their row.
        """
        return self._multiply_by_power_of_two(self._scaled_mean, scale)

    def mean_remainder(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """Return the exact mean minus `mean`, which is rounded, times ``2**scale``: float64 (k,).

        Subtract `mean` from a value first, and then this: the difference from the exact mean loses no digits.
        """
        # The mean is a whole number of these units, too, because no sum is below one unit.
        mean = np.frompyfunc(int, 1, 1)(np.ldexp(self._scaled_mean, 2 * UNIT_BITS))
        weight, total = self._integer_weight_and_sum
        remainder = ((total << UNIT_BITS + _WEIGHT_BITS) - mean * weight) / (weight << 2 * UNIT_BITS)
        return self._multiply_by_power_of_two(remainder.astype(np.float64), scale)

    def squared_deviations(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """Return the sum of the squared deviations from the mean, as of values times ``2**scale``: float64 (k,).

        It is 0 only if all values are equal, if there are none, or if it is too small for float64; and infinite if too
        large. With an int (k,) `scale` of its own for each column, squares of extreme values stay within float64.
        """
        return self._multiply_by_power_of_two(self._scaled_squared_deviations, scale, power=2)

    def typical_values(self) -> np.ndarray:
        """Return the mean of each column or, of a nominal one, the code of its most frequent label: float64 (k,).

        Of equally frequent labels, it is the first one. It is 0 for a column without values.
        """
        found, labels = self.mean(), self.labels
        for column in np.flatnonzero(labels.lengths).tolist():
            found[column] = labels.get_row(column).argmax()
        return found

    def deviation(self, scale: np.ndarray | int = 0) -> np.ndarray:
        """Return the standard deviation, as of values times ``2**scale``: float64 (k,). Its divisor is n − 1.

        n is the weight of the rows whose value is not missing. A column of equal values, or of none, has 0.
        It is NaN where the values differ and n is at most 1, because so few rows have no deviation.
        """
        low, high = self.extremes()
        divisor = np.where(low < high, np.where(self.present > 1, self.present - 1, np.nan), 1.0)
        return self._multiply_by_power_of_two(np.sqrt(self._scaled_squared_deviations / divisor), scale)

    def _multiply_by_power_of_two(self, numbers: np.ndarray, scale: np.ndarray | int, power: int = 1) -> np.ndarray:
        """Multiply numbers, one for each column, by ``2**(power * (26 * exponent + scale))``: float64 (k,).

        The exponent of each column is in ``sums.column_exponents``; see `ExactSums`. So what follows from values
        divided by ``2**(26 * exponent)`` becomes what follows from values times ``2**scale``. It is infinite where too
        large.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(numbers, (power * (BITS * self.sums.column_exponents + scale)).astype(np.int32)))

    @cached_property
    def _integer_weight_and_sum(self) -> tuple[np.ndarray, np.ndarray]:
        """object (k,) each, Python ints: the weight of the values that are not missing, and the sum of scaled values.

        The weight is in units of 2**-64; instead of 0 it is 1. The sum is what `ExactSums.compute_integers` returns.
        """
        parts = (self.total_parts - self.missing_parts) * 2.0**_WEIGHT_BITS
        weight = np.frompyfunc(int, 1, 1)(parts).sum(axis=1)
        return np.where(weight > 0, weight, 1), self.sums.compute_integers()

    @cached_property
    def _scaled_mean(self) -> np.ndarray:
        """float64 (k,): the mean of each column after its values are scaled; 0 for one that is missing in all rows.

        They are divided by ``2**(26 * exponent)``. The exponent of each column is in ``sums.column_exponents``; see
        `ExactSums`.
        """
        weight, total = self._integer_weight_and_sum
        return np.asarray(total / (weight << UNIT_BITS - _WEIGHT_BITS), np.float64)

    @cached_property
    def _scaled_squared_deviations(self) -> np.ndarray:
        """float64 (k,): the sum of the squared deviations of each column from its mean, after its values are scaled.

        They are divided by ``2**(26 * exponent)``, so that nothing overflows. The exponent of each column is in
        ``sums.column_exponents``; see `ExactSums`. The sum is 0 for a column that is constant, or missing in all rows.
        """
        weight, total = self._integer_weight_and_sum
        found = (self.squares.compute_integers() * weight << UNIT_BITS - _WEIGHT_BITS) - total**2
        found /= weight << 2 * UNIT_BITS - _WEIGHT_BITS
        low, high = self.extremes()
        # What lies below the last digit is lost, so that the difference may be below 0, or not 0 for a constant.
        return np.where(low < high, np.maximum(found.astype(np.float64), 0.0), 0.0)


def _summarize_dense_rows(rows: CountedRows, columns: np.ndarray, reader: str) -> tuple[np.ndarray, ...]:
    """Compute `low`, `high`, `missing_parts` and `nonzero_parts` of a `Summary` of a dense batch.

    Raise StageError if a value is infinite, in the name of the stage `reader`.
    """
    X = take_columns(rows.batch.X, columns)
    low, high = np.fmin.reduce(X, axis=0, initial=np.inf), np.fmax.reduce(X, axis=0, initial=-np.inf)
    if len(X) and not (np.isfinite(low) & np.isfinite(high)).all():
        row, column = np.nonzero(np.isinf(X))
        if len(row):
            raise make_infinite_value_error(rows, int(columns[column[0]]), int(row[0]), reader)
    absent = np.isnan(X)
    flags = absent, (X != 0) & ~absent
    if rows.parts is None:
        return low, high, *(np.count_nonzero(each, axis=0).astype(np.float64)[:, None] for each in flags)
    return low, high, *(np.stack([part @ each for part in rows.parts.T], axis=1) for each in flags)


def _summarize_sparse_rows(rows: CountedRows, columns: np.ndarray, reader: str) -> tuple[np.ndarray, ...]:
    """Compute `low`, `high`, `missing_parts` and `nonzero_parts` of a `Summary` of a sparse batch.

    Zeros do not count for `low` and `high`. Raise StageError if a value is infinite, in the name of the stage `reader`.
    """
    column, value, row = find_and_check_nonzero_entries(rows, columns, reader)
    absent = np.isnan(value)
    missing = rows.sum_weights_by_group(column[absent], row[absent], len(columns))
    if absent.any():
        column, value, row = column[~absent], value[~absent], row[~absent]
    return (
        *find_extremes_by_column(column, value, len(columns)),
        missing,
        rows.sum_weights_by_group(column, row, len(columns)),
    )


def _sum_weights_by_label(rows: CountedRows, columns: np.ndarray) -> np.ndarray:
    """Add up the weights of the rows with each label of each nominal column: float64 (labels, parts).

    The first label of each column, whose value is zero, is left out and has 0; see `Summary.label_parts`.
    """
    starts = compute_offsets(rows.batch.schema.label_counts[columns])
    nominal = np.flatnonzero(np.diff(starts))
    column, value, row = find_nonzero_entries(rows.batch, columns[nominal])
    present = np.flatnonzero(~np.isnan(value))
    label = starts[nominal[column[present]]] + value[present].astype(np.int64)
    return rows.sum_weights_by_group(label, row[present], int(starts[-1]))


def _add_values_and_squares(
    digits: np.ndarray,
    x: np.ndarray,
    weights: np.ndarray | None,
    column: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> None:
    """Add values and their squares, times weights, to the digits of their sums, in place.

    Parameters
    ----------
    digits : float64 (2, digits, k), those of the sums of values, and of squares.
    x : float64 (n, k), or (n,) with `column`: scaled values of at most 2**26 in size. The array is overwritten.
    weights : scaled weights, at most 2**26, of a shape that broadcasts to that of `x`; None if all are 1.
    column, times : as for `add_numbers_as_digits`.
    """
    square, error = multiply_exactly(x, x)
    square *= 2.0**-BITS
    error *= 2.0**-BITS
    if weights is None:
        addends = [(0, x, 1), (1, square, 1), (1, error, 2)]
    else:
        addends = [(0, part, 0) for part in multiply_exactly(x, weights)]
        addends += [(1, part, 0) for factor in (square, error) for part in multiply_exactly(factor, weights)]
    for power, numbers, first in addends:
        add_numbers_as_digits(numbers, digits[power], first, column, times)
