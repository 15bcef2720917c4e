"""Rescale columns to a common range or spread."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from filterkit import ColumnStage, Schema, StageError
from filterkit.plugin import (
    Floats,
    Moments,
    State,
    Summary,
    choose_scale_exponents,
    compute_scaling_state,
    offer,
    quoted,
    rescale,
)

_UNSEEN = 2.0**-44  # of a deviation; no result shows that the mean is off by less


class RescalingStage(ColumnStage):
    """Base of stages that subtract a number from each column, unless zero is special, and divide it by another number.

    `shown_names_and_divisor_key` are three texts: the name to show for the number that is subtracted, the name to show
    for the divisor, and the key of the divisor in the state.
    """

    group = "Rescale and fill columns"
    needs_class = False
    cancels_weights = True
    shown_names_and_divisor_key: ClassVar[tuple[str, str, str]]

    def describe_columns(self, schema: Schema, state: State) -> State:
        subtracted, divided, divisor = self.shown_names_and_divisor_key
        found = {} if schema.zero else {subtracted: state["offset"]}
        found[divided] = state[divisor] * state["factor"]  # 0 for a constant
        return {name: np.where(schema.nominal, np.nan, values / state["unit"]) for name, values in found.items()}

    def apply(self, values: Floats, columns: np.ndarray, state: State) -> Floats:
        return rescale(values, columns, {**state, "span": state[self.shown_names_and_divisor_key[-1]]})


class RescaleToUnitRange(RescalingStage):
    """Rescale each column so that its training values run from 0 to 1, as Weka's attribute Normalize does.

        filterkit in.arff range svm

    v becomes (v − min) / (max − min). Where zero is special (sparse input) it stays zero: v becomes v / (max − min),
    where min and max take zeros into account; for counts that is the same. Values beyond the training range go below 0
    or above 1. A constant column becomes 0. Missing values stay missing; nominal columns stay as they are.
    """

    name = "range"
    known_as = "minmax rescale"
    learns_from = Summary
    shown_names_and_divisor_key = ("minimum", "range", "span")

    def fit_columns(self, summary: Summary) -> State:
        return compute_scaling_state(np.ones(len(summary)), *summary.extremes(), summary.schema.zero, summary.nominal)


class Standardize(RescalingStage):
    """Give each column mean 0 and standard deviation 1 over its training values, as Weka's Standardize does.

        filterkit in.arff standardize svm

    v becomes (v − mean) / s, where s² is the variance with the denominator n − 1. Where zero is special (sparse input)
    it stays zero: v becomes v / s. Rows count by weight. A constant column becomes 0; values that differ, however
    little, are no constant. Missing values do not count and stay missing; nominal columns stay as they are. It is an
    error if values differ, but the weights of their rows add up to at most 1.
    """

    name = "standardize"
    known_as = "scale zscore"
    learns_from = Moments
    shown_names_and_divisor_key = ("mean", "deviation", "divisor")

    def fit_columns(self, moments: Moments) -> State:
        low, high = moments.extremes()
        exponents = choose_scale_exponents(np.maximum(np.abs(low), np.abs(high)))
        scale = np.clip(-exponents, -1000, 1000).astype(np.int32)
        spread, keep = moments.deviation(scale), moments.nominal
        for column in np.flatnonzero(np.isnan(spread) & ~keep)[:1].tolist():
            name = quoted(moments.schema.features[moments.columns[column]].name)
            total = moments.present[column]
            what = f"the weights of the rows of {name} add up to {total:g}, but its deviation needs more than 1"
            raise StageError(self.name, f"{what}; multiply all weights by the same number, so that they count rows")
        moved = ~keep & (not moments.schema.zero)
        remainder = moments.mean_remainder(scale) if moved.any() else np.zeros(len(moments))
        return {
            "unit": np.where(keep, 1.0, np.ldexp(1.0, scale)),
            "offset": np.where(moved, moments.mean(scale), 0.0),
            "remainder": np.where(moved & (np.abs(remainder) > spread * _UNSEEN), remainder, 0.0),
            "divisor": np.where((spread > 0) & ~keep, spread, 1.0),
            "factor": np.where((spread > 0) | keep, 1.0, 0.0),
        }


filterkit_stages = offer(RescaleToUnitRange, Standardize)
