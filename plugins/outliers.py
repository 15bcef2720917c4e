"""Limit values that are far from the others, or flag their rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from filterkit import Attribute, Batch, Built, ColumnStage, FilterkitError, Schema, UsageError, option
from filterkit.plugin import (
    Batches,
    ContingencyTable,
    Edit,
    Floats,
    RecordMerger,
    SelectiveStage,
    SortedValues,
    State,
    offer,
    quantiles,
)


class LimitColumnValues(ColumnStage):
    """Limit values to a range, given by numbers or by quantiles of the training values, as Weka's NumericCleaner can.

        filterkit in.arff limit --lower 0.01 --upper 0.99

    A value outside becomes the nearer end of the range or, with ``--outside missing``, missing. If a number and a
    quantile are given for one end, the one that makes the range narrower counts. Quantiles are interpolated between
    training values, as in numpy; zeros count, missing values do not, and rows count by weight. Where zero is special
    (sparse input), the range is extended to zero. Nominal columns stay as they are.
    """

    name = "limit"
    group = "Rescale and fill columns"
    needs_class = False
    makes_missing = True  # with --outside missing

    min: float | None = option(None, "The least value.")
    max: float | None = option(None, "The largest value.")
    lower: float | None = option(None, "The quantile that is the least value, from 0 to 1.", minimum=0, maximum=1)
    upper: float | None = option(None, "The quantile that is the largest value, from 0 to 1.", minimum=0, maximum=1)
    outside: str = option("limit", "What becomes of a value outside.", choices=("limit", "missing"))

    def __post_init__(self) -> None:
        limits = {"--min": self.min, "--max": self.max, "--lower": self.lower, "--upper": self.upper}
        if all(limit is None for limit in limits.values()):
            raise UsageError(f"{self.name}: give the range with --min, --max, --lower or --upper")
        for least, largest in (("--min", "--max"), ("--lower", "--upper")):
            low, high = limits[least], limits[largest]
            if low is not None and high is not None and low > high:
                raise UsageError(
                    f"{self.name}: {least} {low:g} is above {largest} {high:g}, so no value is inside; swap them"
                )

    def fit_columns(self, table: ContingencyTable) -> State:
        low = np.full(len(table), -np.inf if self.min is None else self.min)
        high = np.full(len(table), np.inf if self.max is None else self.max)
        if self.lower is not None:
            low = np.fmax(low, quantiles(table, [self.lower])[:, 0])
        if self.upper is not None:
            high = np.fmin(high, quantiles(table, [self.upper])[:, 0])
        if table.schema.zero:
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        low[table.nominal], high[table.nominal] = -np.inf, np.inf
        return {"low": low, "high": high}

    def apply(self, values: Floats, columns: np.ndarray, state: State) -> Floats:
        low, high = state["low"][columns], state["high"][columns]
        if self.outside == "missing":
            return np.where((values < low) | (values > high), np.nan, values)
        return np.asarray(np.minimum(np.maximum(values, low), high))


_LIMITS = ("outlier below", "outlier above", "extreme below", "extreme above")


class Outliers(SelectiveStage):
    """Flag rows with values far from the others, as Weka's InterquartileRange does.

        filterkit in.arff outliers where "ExtremeValue = 'no'"

    Q1 and Q3 are the quartiles of the training values of a numeric attribute, and IQR is Q3 − Q1. A value is extreme if
    it is below Q1 − E · IQR or above Q3 + E · IQR. A value is an outlier if it is not extreme, but beyond the same
    limits with O in place of E. E is ``--extreme-factor`` and O is ``--outlier-factor``. Two attributes are added,
    before a class that comes last: ``Outlier`` and ``ExtremeValue`` are ``yes`` if a row has such a value, else ``no``.
    ``where "Outlier = 'no'"`` then leaves rows out.

    Missing values do not count. Rows count by weight. The stage takes some 30 bytes of memory for each distinct value
    of a column.
    """

    name = "outliers"
    group = "Compute attributes"

    outlier_factor: float = option(3.0, "O, the factor of outliers.", minimum=0)
    extreme_factor: float = option(6.0, "E, the factor of extreme values.", minimum=0)

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        columns = np.flatnonzero(~schema.nominal)
        tables = RecordMerger(lambda batch: ContingencyTable.of(batch, columns, False, self.name), schema)
        for batch in rows():
            tables.add(tables.compute(batch))
        values = SortedValues(tables.merge())
        half = np.floor(values.count / 2)
        quarter, even = np.floor(half / 2), half % 2 == 0
        # The quartiles, as Weka's InterquartileRange computes them.
        first, third = (
            (values.find_at_rank(rank) + values.find_at_rank(rank + even)) / 2
            for rank in (quarter, values.count - quarter - 1)
        )
        limits = np.full((4, schema.width), np.nan)
        for number, factor in enumerate((self.outlier_factor, self.extreme_factor)):
            beyond = factor * (third - first)
            limits[2 * number : 2 * number + 2, columns] = first - beyond, third + beyond
        return dict(zip(_LIMITS, limits))

    def build(self, schema: Schema, state: State) -> Built:
        if any(state[name].shape != (schema.width,) or state[name].dtype != np.float64 for name in _LIMITS):
            raise FilterkitError("the saved limits of outliers are not one float64 for each column")
        limits = np.stack([state[name] for name in _LIMITS])
        edit = Edit(schema)
        for name, is_extreme in (("Outlier", False), ("ExtremeValue", True)):
            flag = partial(_flag_rows_beyond_limits, limits, is_extreme)
            edit.append(Attribute(name, "nominal", ("no", "yes")), flag)
        columns = np.append(np.arange(schema.width), np.full(2, max(schema.width - 1, 0)))
        return edit.build()._replace(columns=columns)


def _flag_rows_beyond_limits(limits: Floats, is_extreme: bool, batch: Batch) -> Floats:
    """Return 1 for each row with an extreme value, or with an outlier if not `is_extreme`, and else 0: float64 (rows,).

    `limits`, float64 (4, columns), are the least and the largest value that is not an outlier, then the least and the
    largest that is not extreme; NaN for a nominal column, which does not count.
    """
    if batch.sparse and ((limits[0] > 0) | (limits[1] < 0)).any():  # a zero, which is not stored, is far off
        batch = batch.in_form(False)
    values = batch.stored_values
    low, high, least, most = limits[:, batch.csr.indices] if batch.sparse else limits
    found = (values < least) | (values > most)
    if not is_extreme:
        found = ((values < low) | (values > high)) & ~found
    if not batch.sparse:
        return np.asarray(found.any(axis=1), np.float64)
    flags = np.zeros(len(batch))
    flags[batch.csr.row_of_entry[found]] = 1.0
    return flags


filterkit_stages = offer(LimitColumnValues, Outliers)
