"""Extents: what decides into which bins a histogram of each column has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from filterkit.chains.column_fitting import fit_in_passes
from filterkit.chains.queries import Passes
from filterkit.chains.rows import Rows
from filterkit.counts.cells import entries
from filterkit.counts.statistic import Statistic
from filterkit.counts.weights import add_parts, rows_that_count, sum_parts
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.stages.columns import ColumnStage, FittedColumns, State

READER = "explore"  # whom messages name


class Extents(NamedTuple):
    """How far the values of each column reach.

    Only rows of a positive weight count; if there is a nominal class, only those whose class is known.

    Attributes
    ----------
    low, high : float64 (columns,), the least and the largest value that is neither zero nor missing; inf and -inf if
        there is none.
    whole : bool (columns,), whether all values are whole numbers.
    zero : float64 (columns,), the weight of the rows whose value is zero.
    totals : float64 (classes,), the weight of the rows of each class, or of all rows without a nominal class.
    """

    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    zero: np.ndarray
    totals: np.ndarray

    def some(self, columns: np.ndarray) -> Extents:
        """Those of some columns."""
        return Extents(self.low[columns], self.high[columns], self.whole[columns], self.zero[columns], self.totals)


def extents(rows: Rows, memory: int) -> Passes[Extents]:
    """Find out how far the values of each column reach.

    Parameters
    ----------
    rows : the rows.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : a weight cannot be counted.
    """
    stage = _Reaching(is_supervised(rows.schema))
    (fitted,) = yield from fit_in_passes([stage], rows, memory)
    return Extents(**fitted.state, totals=stage.totals)


def is_supervised(schema: Schema) -> bool:
    """Whether histograms of such rows count classes."""
    target = schema.class_attribute
    return target is not None and target.kind == "nominal"


class _Measured(Statistic):
    """The statistic from which `Extents` come: `low`, `high` and `whole` as there.

    Attributes
    ----------
    schema, columns, first : see `Statistic`.
    total_parts : float64 (classes, parts), the weight of the rows of each class in parts whose sums are exact.
    given_parts : float64 (k, parts), the weight of the rows whose value is missing or not zero.
    """

    title = "extremes"

    def __init__(
        self,
        schema: Schema,
        columns: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        whole: np.ndarray,
        total_parts: np.ndarray,
        given_parts: np.ndarray,
    ) -> None:
        self.schema = schema
        self.columns = columns
        self.low = low
        self.high = high
        self.whole = whole
        self.total_parts = total_parts
        self.given_parts = given_parts

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """See `Statistic.of`; an infinite value counts, and is beyond all extremes."""
        rows = rows_that_count(batch, supervised, reader)
        column, value, row = entries(rows.batch, columns)
        given = sum_parts(column, None if rows.parts is None else rows.parts[row], len(columns))
        finite = np.isfinite(value)
        if not finite.all():
            column, value = column[finite], value[finite]
        low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
        np.minimum.at(low, column, value)
        np.maximum.at(high, column, value)
        whole = np.ones(len(columns), bool)
        whole[column[value != np.rint(value)]] = False
        return cls(batch.schema, columns, low, high, whole, rows.totals, given)

    @classmethod
    def merge(cls, several: Sequence[Self], jobs: int = 1) -> Self:
        """See `Statistic.merge`."""
        first = several[0]
        if len(several) == 1:
            return first
        low = np.minimum.reduce([each.low for each in several])
        high = np.maximum.reduce([each.high for each in several])
        whole = np.logical_and.reduce([each.whole for each in several])
        parts = (add_parts([getattr(each, name) for each in several]) for name in ("total_parts", "given_parts"))
        return cls(first.schema, first.columns, low, high, whole, *parts)

    @property
    def nbytes(self) -> int:
        """See `Statistic.nbytes`."""
        return self.low.nbytes + self.high.nbytes + self.whole.nbytes + self.given_parts.nbytes

    @property
    def totals(self) -> np.ndarray:
        """See `Statistic.totals`."""
        return np.asarray(self.total_parts.sum(axis=1))

    @property
    def zero(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is zero."""
        return np.asarray(add_parts([self.total_parts.sum(axis=0)[None], -self.given_parts]).sum(axis=1))

    def some(self, low: int, high: int) -> Self:
        """See `Statistic.some`."""
        span = slice(low, high)
        arrays = (self.columns[span], self.low[span], self.high[span], self.whole[span])
        return type(self)(self.schema, *arrays, self.total_parts, self.given_parts[span])


class _Reaching(ColumnStage):
    """Learns `Extents`."""

    name = READER
    learns_from = _Measured

    def __init__(self, supervised: bool) -> None:
        self._supervised = supervised
        self.totals = np.zeros(0)  # until it is fitted

    def __reduce__(self) -> tuple[Any, ...]:
        return _Reaching, (self._supervised,)

    @property
    def needs_class(self) -> bool:
        return self._supervised

    def fit_columns(self, table: _Measured) -> State:
        return {name: getattr(table, name) for name in ("low", "high", "whole", "zero")}

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return values.copy()

    def finish(self, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
        self.totals = totals
        return super().finish(schema, state, totals)
