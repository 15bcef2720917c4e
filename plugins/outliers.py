"""Values far from the others: limited to a range, or their rows flagged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from filterkit import (
    Attribute,
    Batch,
    ColumnStage,
    FilterkitError,
    Fitted,
    Schema,
    Stage,
    StageError,
    UsageError,
    hookimpl,
    option,
)
from filterkit.plugin import (
    ContingencyTable,
    Rearrangement,
    SelectiveStage,
    SortedValues,
    State,
    attribute_values,
    quantiles,
)


class Limit(ColumnStage):
    """Limit values to a range, given by numbers or by quantiles of the training values, as Weka's NumericCleaner can.

        filterkit in.arff limit --lower 0.01 --upper 0.99

    A value outside becomes the nearest one inside, or, with ``--outside missing``, missing. If there are a number and a
    quantile, the range is the narrower one. A quantile lies between two training values in proportion, as in numpy;
    zeros count, missing values do not, and rows count by weight. Where zero is special (sparse input), it is always
    inside. Nominal columns stay as they are.
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
        super().__post_init__()
        least, largest, lower, upper = self.min, self.max, self.lower, self.upper
        if least is largest is lower is upper is None:
            raise UsageError(f"{self.name}: say the range, with --min, --max, --lower or --upper")
        if least is not None and largest is not None and least > largest:
            raise UsageError(f"{self.name}: --min {least:g} is above --max {largest:g}, so no value is inside")
        if lower is not None and upper is not None and lower > upper:
            raise UsageError(f"{self.name}: --lower {lower:g} is above --upper {upper:g}, so no value is inside")

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

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        low, high = state["low"][columns], state["high"][columns]
        if self.outside == "missing":
            return np.where((values < low) | (values > high), np.nan, values)
        return np.asarray(np.minimum(np.maximum(values, low), high))


class Outliers(SelectiveStage):
    """Flag rows with values far from the others, as Weka's InterquartileRange does.

        filterkit in.arff outliers where "ExtremeValue = 'no'"

    Q1 and Q3 are the quartiles of the training values of a numeric attribute, and IQR is Q3 − Q1. A value is extreme if
    it is below Q1 − E · IQR or above Q3 + E · IQR, and an outlier if it is not, but is beyond the same limits with O in
    place of E. Two attributes are added, before a class that comes last: ``Outlier`` and ``ExtremeValue``, which say
    whether a row has such a value. ``where "Outlier = 'no'"`` then leaves rows out.

    Missing values do not count. Rows count by weight. The stage takes some 30 bytes of memory for each distinct value
    of a column.
    """

    name = "outliers"
    group = "Compute attributes"

    outlier_factor: float = option(3.0, "O, the factor of outliers.", minimum=0)
    extreme_factor: float = option(6.0, "E, the factor of extreme values.", minimum=0)

    def fit(self, rows: Callable[[], Iterator[Batch]], schema: Schema) -> Fitted:
        columns = np.flatnonzero(~schema.nominal)
        waiting: list[ContingencyTable] = []
        for batch in rows():
            waiting.append(ContingencyTable.of(batch, columns, False, self.name))
            # Merged when the others have grown as large as the first, so that no cell is merged often.
            if len(waiting) > _TOGETHER and sum(each.nbytes for each in waiting[1:]) > waiting[0].nbytes:
                waiting = [ContingencyTable.merge(waiting)]
        if not waiting:
            return FittedOutliers(self, schema, np.full((4, schema.width), np.nan))
        first, third = _quartiles(SortedValues(ContingencyTable.merge(waiting)))
        limits = np.full((4, schema.width), np.nan)
        for number, factor in enumerate((self.outlier_factor, self.extreme_factor)):
            limits[2 * number, columns] = first - factor * (third - first)
            limits[2 * number + 1, columns] = third + factor * (third - first)
        return FittedOutliers(self, schema, limits)

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        limits = state["limits"]
        if not isinstance(limits, np.ndarray) or limits.shape != (4, schema.width) or limits.dtype != np.float64:
            raise FilterkitError("the limits of outliers are not those of its columns")
        return FittedOutliers(self, schema, limits)


def _quartiles(values: SortedValues) -> tuple[np.ndarray, np.ndarray]:
    """The first and third quartile of each column, as Weka's InterquartileRange takes them."""
    half = np.floor(values.count / 2)
    quarter = np.floor(half / 2)
    even = half % 2 == 0
    first = (values.at(quarter) + values.at(quarter + even)) / 2
    third = (values.at(values.count - quarter - 1) + values.at(values.count - quarter - 1 + even)) / 2
    return first, third


_TOGETHER = 16  # tables that are merged at once


class FittedOutliers(Fitted):
    """Flags rows.

    Parameters
    ----------
    limits : float64 (4, columns): the least and the largest value that is no outlier, then that is not extreme; NaN
        for a column that is not looked at.
    """

    def __init__(self, stage: Outliers, schema: Schema, limits: np.ndarray) -> None:
        self._limits = limits
        flags = [Attribute(name, "nominal", ("no", "yes")) for name in ("Outlier", "ExtremeValue")]
        try:
            self.schema = schema.with_more(flags)
        except FilterkitError as error:
            raise StageError(stage.name, str(error)) from None
        known = {a.name: i for i, a in enumerate(schema.attributes)}
        source = [known.get(a.name, -1) for a in self.schema.attributes]
        self._places = [i for i, origin in enumerate(source) if origin < 0]
        self._rearrangement = Rearrangement(schema, self.schema, source)
        self.columns = np.append(np.arange(schema.width), np.full(2, max(schema.width - 1, 0)))

    def get_state(self) -> dict[str, Any]:
        return {"limits": self._limits}

    def transform(self, batch: Batch) -> Batch:
        if batch.sparse and _outside(np.zeros(1), *self._limits[:2]).any():  # a zero, which is not stored, is far off
            dense = self.transform(batch.in_form(False))
            return self._rearrangement.apply(batch, {i: attribute_values(dense, i) for i in self._places})
        beyond = [self._beyond(batch, *self._limits[first : first + 2]) for first in (0, 2)]
        extreme = self._rows_with(batch, beyond[1])
        outlier = self._rows_with(batch, beyond[0] & ~beyond[1])
        flags = (outlier, extreme)
        return self._rearrangement.apply(batch, {i: flag.astype(np.float64) for i, flag in zip(self._places, flags)})

    def _beyond(self, batch: Batch, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """bool: which entries of X, of the sparse ones those that are stored, are outside limits."""
        if not batch.sparse:
            return _outside(batch.X, low, high)
        entries = batch.csr
        return _outside(entries.data, low[entries.indices], high[entries.indices])

    def _rows_with(self, batch: Batch, entries: np.ndarray) -> np.ndarray:
        """bool (rows,): which rows have one of some entries."""
        if not batch.sparse:
            return np.asarray(entries.any(axis=1))
        found = np.zeros(len(batch), bool)
        found[batch.csr.row_of_entry[entries]] = True
        return found


def _outside(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.asarray((values < low) | (values > high))


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Limit, Outliers]
