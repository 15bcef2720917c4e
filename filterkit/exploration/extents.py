"""Extents: how far the values of each column reach, which decides the bins of its histogram."""

from __future__ import annotations

from typing import Self

import numpy as np

from filterkit.counts.cells import find_extremes_by_column, find_nonzero_entries
from filterkit.counts.record import EVERY, LARGEST, LEAST, SUM_FOR_ALL, SUM_OF_PARTS, Record
from filterkit.counts.weights import select_counted_rows
from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.stages.base import State
from filterkit.stages.columns import ColumnStage, FittedColumns

READER = "explore"  # whom messages name


class ColumnExtents(Record):
    """Says how far the values of each column of X reach, and how much weight its rows have.

    Only rows of a positive weight count; if there is a nominal class, only those whose class is known. Weights are
    split into parts, as `filterkit.counts.weights.exact_parts` does; the sum over the last axis is the weight.

    Attributes
    ----------
    low, high : float64 (columns,), the least and the largest value that is neither zero nor missing nor infinite; inf
        and -inf if there is none.
    only_whole_numbers : bool (columns,), whether all finite values are whole numbers.
    stored_parts : float64 (columns, parts), the weight of the rows whose value is missing or not zero.
    total_parts : float64 (classes, parts), the weight of the rows of each class; (1, parts), that of all rows, without
        a nominal class.
    """

    fields = Record.fields | {
        "low": LEAST,
        "high": LARGEST,
        "only_whole_numbers": EVERY,
        "stored_parts": SUM_OF_PARTS,
        "total_parts": SUM_FOR_ALL,
    }
    low: np.ndarray
    high: np.ndarray
    only_whole_numbers: np.ndarray
    stored_parts: np.ndarray
    total_parts: np.ndarray

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """Return the extents of one batch; raise StageError if a weight cannot be counted."""
        rows, width = select_counted_rows(batch, has_nominal_class(batch.schema), READER), batch.schema.width
        column, value, row = find_nonzero_entries(rows.batch, np.arange(width))
        stored_parts = rows.sum_weights_by_group(column, row, width)
        finite = np.isfinite(value)
        if not finite.all():
            column, value = column[finite], value[finite]
        low, high = find_extremes_by_column(column, value, width)
        whole = np.ones(width, bool)
        whole[column[value != np.rint(value)]] = False
        return cls(
            low=low, high=high, only_whole_numbers=whole, stored_parts=stored_parts, total_parts=rows.total_parts
        )


def has_nominal_class(schema: Schema) -> bool:
    target = schema.class_attribute
    return target is not None and target.kind == "nominal"


class MeasuringStage(ColumnStage):
    """A base for stages that measure each column in the way of `ColumnStage`, and leave the values as they are.

    Write `fit_columns`. What it returns is the measurement, the state of the fitted stage.

    Attributes
    ----------
    totals : float64 (classes,), see `ColumnStage.output_columns`; the attribute does not exist until the stage is
        fitted.
    """

    name = READER
    needs_class = True
    numeric_class = True

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return values.copy()

    def finish(self, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
        self.totals = totals
        return super().finish(schema, state, totals)
