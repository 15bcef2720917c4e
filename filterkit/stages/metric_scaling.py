"""Scaling: stages that multiply each column by its score, and the ones that metrics become."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np

from filterkit.counts.metric import Metric
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import COMBINATIONS, Thresholds, score_columns
from filterkit.data.schema import Attribute, LazyAttributes, Schema
from filterkit.stages.columns import ColumnStage, State
from filterkit.stages.options import option


class Scaling(ColumnStage):
    """Scale each column by its score.

    A value v becomes (v − o) · score / (max − min) over the training values; o is 0 where zero is special
    (sparse input, or after ``shape --zero``), so that zeros stay zero, and the least value elsewhere. So a
    0/1 column becomes {0, score} (Forman, Scholz and Rajaram 2009, 2.2 and 3.4). Missing values stay missing.
    A nominal column is scored and stays as it is: its values are no numbers. A constant column becomes 0.
    """

    score_only: bool = option(False, "Leave the score on each attribute and the values as they are.")

    def scores(self, table: ContingencyTable) -> np.ndarray:
        """float64 per covered column: its score; write this."""
        raise NotImplementedError(f"{type(self).__name__} has no scores")

    def fit_columns(self, table: ContingencyTable) -> State:
        return scaling_state(self.scores(table), *table.extremes(), table.schema.zero, table.nominal)

    def outputs(self, schema: Schema, state: State, totals: ContingencyTable) -> tuple[np.ndarray, LazyAttributes]:
        def attributes() -> list[Attribute]:
            return [a.scored(self.name, score) for a, score in zip(schema.features, state["score"].tolist())]

        return np.arange(schema.width), LazyAttributes(attributes, schema.nominal)

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return values.copy() if self.score_only else rescaled(values, columns, state)


def rescaled(values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
    """The values of some columns, shifted and stretched as `scaling_state` says."""
    if (state["unit"] != 1).any():
        values = values * state["unit"][columns]
    if state["offset"].any():
        values = values - state["offset"][columns]
    if (state["span"] != 1).any():  # not of presence and absence
        values = values / state["span"][columns]
    return np.asarray(values * state["factor"][columns])


def scaling_state(score: np.ndarray, low: np.ndarray, high: np.ndarray, zero: bool, nominal: np.ndarray) -> State:
    """What `rescaled` needs, from each column's score and least and largest training value.

    `zero` says whether zero is special and stays zero; `nominal` columns stay as they are.
    """
    unit = np.where(np.isinf(high / 2 - low / 2 + (high / 2 - low / 2)), 0.5, 1.0)  # a range may overflow
    span = high * unit - low * unit
    offset = np.zeros(len(score)) if zero else low * unit
    factor = np.where(span > 0, score, 0.0)
    span[span == 0] = 1.0
    for part, identity in ((unit, 1.0), (offset, 0.0), (span, 1.0), (factor, 1.0)):
        part[nominal] = identity
    return {"score": score, "unit": unit, "offset": offset, "span": span, "factor": factor}


class MetricScaling(Scaling):
    """A stage that scales by a metric."""

    metric: ClassVar[Metric]

    def scores(self, table: ContingencyTable) -> np.ndarray:
        return score_columns(Thresholds(table), self.metric)


class RandomScaling(MetricScaling):
    """A stage that scales by a metric of chance."""

    seed: int = option(0, "Which random numbers.", minimum=0)

    def scores(self, table: ContingencyTable) -> np.ndarray:
        return score_columns(Thresholds(table), self.metric, seed=self.seed)


class ClassScaling(MetricScaling):
    """A stage that scales by a metric of how classes differ."""

    needs_class: ClassVar[bool] = True

    alpha: float | None = option(
        None, "Weigh features that go with the positive class by X, the others by 1 − X.", minimum=0, maximum=1
    )
    combine: str | None = option(
        None,
        "With more than two classes, score each against the rest and take this; by default the metric's own "
        "form for many classes, or else max.",
        choices=COMBINATIONS,
    )

    def scores(self, table: ContingencyTable) -> np.ndarray:
        return score_columns(Thresholds(table), self.metric, alpha=self.alpha, combine=self.combine)


def metric_stage(metric: Metric) -> type[MetricScaling]:
    """The stage that scales by `metric`."""
    base: type[MetricScaling] = ClassScaling if metric.needs_class else MetricScaling
    if metric.by_column is not None:
        base = RandomScaling
    about = inspect.getdoc(metric.score) or ""
    first, _, rest = about.partition("\n")
    doc = "\n\n".join(filter(None, [f"Scale by a score: {first}", rest.strip("\n"), _DOC]))
    namespace: dict[str, Any] = {
        "name": metric.name,
        "metric": metric,
        "needs_class": metric.needs_class,
        "__doc__": doc,
        "__module__": metric.score.__module__,
        "__annotations__": {},
    }
    return type(metric.name.capitalize(), (base,), namespace)


_DOC = """The score of a column of numbers is the best over all thresholds between two of its training values, zeros
included; that of a nominal column the best of one value against the others; a column that does not vary
has the score of a word that no row contains. It is left on the attribute.

A value v becomes (v − o) · score / (max − min) over the training values; o is 0 where zero is special
(sparse input, or after ``shape --zero``), so that zeros stay zero, and the least value elsewhere. So a
0/1 column becomes {0, score}. Missing values stay missing and are above no threshold. A nominal column
stays as it is: its values are no numbers. A constant column becomes 0."""
