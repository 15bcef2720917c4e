"""Extents: how far the values of each column reach, which decides the bins of its histogram."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from filterkit.chains.column_fitting import fit_in_passes
from filterkit.chains.queries import Passes
from filterkit.chains.rows import Rows
from filterkit.counts.cells import find_entries
from filterkit.counts.record import EVERY, LARGEST, LEAST, SUM_FOR_ALL, SUM_OF_PARTS
from filterkit.counts.statistic import Statistic
from filterkit.counts.summary import extremes_of_entries
from filterkit.counts.weights import add_parts, select_counted_rows
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.stages.columns import ColumnStage, FittedColumns, State

READER = "explore"  # whom messages name


class Extents(NamedTuple):
    """Says how far the values of each column reach.

    Only rows of a positive weight count; if there is a nominal class, only those whose class is known.

    Attributes
    ----------
    low, high : float64 (columns,), the least and the largest value that is neither zero nor missing; inf and -inf if
        there is none.
    whole : bool (columns,), whether all finite values are whole numbers.
    zero : float64 (columns,), the weight of the rows whose value is zero.
    totals : float64 (classes,), the weight of the rows of each class, or of all rows without a nominal class.
    """

    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    zero: np.ndarray
    totals: np.ndarray


def measure_extents(rows: Rows, memory: int) -> Passes[Extents]:
    """Find how far the values of each column reach.

    Parameters
    ----------
    rows : the rows.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : a weight cannot be counted.
    """
    stage = _MeasureExtents(has_nominal_class(rows.schema))
    (fitted,) = yield from fit_in_passes([stage], rows, memory)
    return Extents(**fitted.state, totals=stage.totals)


def has_nominal_class(schema: Schema) -> bool:
    """Return whether there is a nominal class, by which histograms then count."""
    target = schema.class_attribute
    return target is not None and target.kind == "nominal"


class ColumnExtents(Statistic):
    """Measures columns for `Extents`: `low`, `high` and `whole` as there.

    Attributes
    ----------
    schema, columns, column_offset : see `Statistic`.
    total_parts : float64 (classes, parts), the weight of the rows of each class in parts whose sums are exact.
    stored_parts : float64 (k, parts), the weight of the rows whose value is missing or not zero.
    """

    title = "extremes"
    fields = Statistic.fields | {
        "low": LEAST,
        "high": LARGEST,
        "whole": EVERY,
        "total_parts": SUM_FOR_ALL,
        "stored_parts": SUM_OF_PARTS,
    }
    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    total_parts: np.ndarray
    stored_parts: np.ndarray

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """Implement `Statistic.of`; an infinite value is no error, and does not change `low`, `high` and `whole`."""
        rows = select_counted_rows(batch, supervised, reader)
        column, value, row = find_entries(rows.batch, columns)
        stored_parts = rows.sum_by(column, row, len(columns))
        finite = np.isfinite(value)
        if not finite.all():
            column, value = column[finite], value[finite]
        low, high = extremes_of_entries(column, value, len(columns))
        whole = np.ones(len(columns), bool)
        whole[column[value != np.rint(value)]] = False
        return cls(
            schema=batch.schema,
            columns=columns,
            low=low,
            high=high,
            whole=whole,
            total_parts=rows.totals,
            stored_parts=stored_parts,
        )

    @property
    def totals(self) -> np.ndarray:
        """Implement `Statistic.totals`."""
        return np.asarray(self.total_parts.sum(axis=1))

    @property
    def zero(self) -> np.ndarray:
        """float64 (k,): the weight of the rows whose value is zero."""
        return np.asarray(add_parts([self.total_parts.sum(axis=0)[None], -self.stored_parts]).sum(axis=1))


class MeasuringStage(ColumnStage):
    """Learns something about each column, and leaves the values as they are.

    Parameters
    ----------
    needs_class : whether it learns from the rows with a class, by class, or from all rows.

    Attributes
    ----------
    totals : float64 (classes,), see `ColumnStage.finish`; empty until it is fitted.
    """

    name = READER
    needs_class = True
    numeric_class = True

    def __init__(self, needs_class: bool) -> None:
        self.needs_class = needs_class
        self.totals = np.zeros(0)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.needs_class,)

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return values.copy()

    def finish(self, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
        self.totals = totals
        return super().finish(schema, state, totals)


class _MeasureExtents(MeasuringStage):
    learns_from = ColumnExtents

    def fit_columns(self, table: ColumnExtents) -> State:
        return {name: getattr(table, name) for name in ("low", "high", "whole", "zero")}
