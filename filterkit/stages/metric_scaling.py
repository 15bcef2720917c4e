"""Stages that scale each column by its score, and the stages that metrics become."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul, sub, truediv
from typing import Any, ClassVar

import numpy as np

from filterkit.counts.metric import Metric
from filterkit.counts.scoring import COMBINATIONS, score_columns, scoring_bytes
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import Thresholds
from filterkit.data.arithmetic import Bools, Floats, Ints
from filterkit.data.attributes import Attribute, Attributes
from filterkit.data.schema import Schema
from filterkit.errors import UsageError
from filterkit.stages.base import NUMERIC_CLASS, Stage, State, make_missing_member_error
from filterkit.stages.columns import ColumnStage, FittedColumns
from filterkit.stages.nothing_learned import warn_nothing_learned
from filterkit.stages.options import get_option_values, option

# Help on how every scorer scales by its scores.
SCALING_HELP = """\
A value v becomes (v − o) · score / (max − min), where max and min are those of the training values, zeros
included. Where zero is special, o is 0, so that zeros stay zero; elsewhere, o is min. A 0/1 column thus
becomes {0, score}, and a constant column 0. Missing values stay missing. A nominal column is scored, but
keeps its values, which are not numbers. The score is left on the attribute.

The division by the range cancels weights that a stage just before gave the columns, such as inverse
document frequencies. With ``--multiply``, v becomes v · score instead, so that both weights count; a
constant column becomes 0 here, too."""

# Help on how a metric scores a column, if it scores features that a row has or lacks.
METRIC_HELP = f"""\
A column of numbers gets the best score of all its thresholds. A row has the feature if its value is at
least the threshold; thresholds lie between neighboring training values, zeros included, and missing values
are above none. A nominal column gets the best score of one of its values against the others, unless the
metric scores all of its values at once. A column that does not vary gets the score of a feature that no row
has.

{SCALING_HELP}"""

# Help on how a metric scores a column, if it looks at whole columns.
TABLE_HELP = f"""\
A column is scored as a whole, by the rows of each class with each of its values. With ``--positive``, all
other classes count as one.

{SCALING_HELP}"""


class ScalingOptions(Stage):
    """The base of every stage that scales columns by a score: declares `--score-only` and `--multiply`.

    `SCALING_HELP` says what they do. Raise UsageError if both are given.
    """

    group = "Scale by a score"
    scores_columns = True

    score_only: bool = option(False, "Leave the score on each attribute, and do not change values.")
    multiply: bool = option(False, "Multiply values by the score, and do not divide them by their range.")

    def __post_init__(self) -> None:
        if self.score_only and self.multiply:
            raise UsageError(f"{self.name}: --score-only changes no values, and --multiply does; leave one out")
        self.weighs_columns = not self.score_only
        self.cancels_weights = not self.score_only and not self.multiply


class Scaling(ScalingOptions, ColumnStage):
    """The base of stages that divide each numeric column by its range and multiply it by its score.

    The method is that of Forman, Scholz and Rajaram (2009, sections 2.2 and 3.4); `SCALING_HELP` describes it exactly.
    Write `scores`, which says how columns are scored.
    """

    def scores(self, table: ContingencyTable) -> Floats:
        """Return the score of each column of the table, in order: float64 (columns,), finite."""
        raise make_missing_member_error(self, "scores")

    def fit_columns(self, table: ContingencyTable) -> State:
        table.schema.need_columns(self.name)
        return compute_scaling_state(
            self.scores(table), *table.extremes(), table.schema.zero, table.nominal, self.multiply
        )

    def finish(self, schema: Schema, state: State, totals: Floats) -> FittedColumns:
        """Make the fitted stage, see `ColumnStage.finish`; warn if it leaves no number other than 0, or scales nothing.

        Give a `NothingLearnedWarning` if the scores in `state` are 0 for all numeric columns, or no column is numeric.
        With `score_only`, or without any columns, there is no warning.
        """
        numeric = ~schema.nominal
        count = int(np.count_nonzero(numeric))
        if self.score_only or not schema.width:
            pass
        elif not count:
            text = "all columns are nominal, so none is scaled; put a stage before it that makes numbers of them"
            warn_nothing_learned(self.name, text)
        elif not state["score"][numeric].any():
            columns = "the only numeric column" if count == 1 else f"all {count:,} numeric columns"
            warn_nothing_learned(self.name, f"the score of {columns} is 0, so all values become 0")
        return super().finish(schema, state, totals)

    def output_attributes(self, schema: Schema, state: State, columns: Ints, totals: Floats) -> Sequence[Attribute]:
        if isinstance(schema.features, Attributes):
            return schema.features.scored(self.name, state["score"])
        return [a.scored(self.name, score) for a, score in zip(schema.features, state["score"].tolist())]

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        return values.copy() if self.score_only else rescale(values, columns, state)


# The entries of a state in the order in which they change values, how, and the number that changes nothing.
_RESCALING = (("unit", mul, 1), ("offset", sub, 0), ("remainder", sub, 0), ("span", truediv, 1))


def rescale(values: Floats, columns: Ints, state: State) -> Floats:
    """Return values scaled as a state from `compute_scaling_state` says: float64 (n,), a new array.

    The parameters are those of `ColumnStage.apply`. The state may also have a `remainder`, float64 (columns,), which is
    subtracted after `offset`.
    """
    for name, operate, neutral in _RESCALING:
        if name in state and (state[name] != neutral).any():  # the span of 0/1 columns is 1
            values = operate(values, state[name][columns])
    factor = state["factor"][columns]
    values = np.asarray(values * factor)
    if not state["factor"].all():
        values[factor == 0] += 0.0  # a negative number times 0 is -0
    return values


def compute_scaling_state(
    score: Floats, low: Floats, high: Floats, zero: bool, nominal: Bools, multiply: bool = False
) -> State:
    """Compute the state that `rescale` needs: `score`, `unit`, `offset`, `span` and `factor`, float64 (columns,) each.

    A value v becomes (v · unit − offset) / span · factor. The unit is 1, or 0.5 where the range would overflow.
    Whatever `zero` and `multiply` say, a numeric column whose `low` is its `high` becomes 0.

    Parameters
    ----------
    score : float64 (columns,), the length that the range of each column gets, or the factor if `multiply`.
    low, high : float64 (columns,), the least and the largest training value.
    zero : whether sparse rows omit 0, so that it must stay 0; the offset is then 0. Otherwise it is `low`.
    nominal : bool (columns,), whether a column keeps its values.
    multiply : whether to multiply values by `score`, and neither divide them by the range nor subtract `low`.
    """
    unit = np.where(high / 2 - low / 2 > np.finfo(np.float64).max / 2, 0.5, 1.0)  # a range may overflow
    span = high * unit - low * unit
    stays = nominal | multiply
    return {
        "score": score,
        "unit": np.where(stays, 1.0, unit),
        "offset": np.where(stays | zero, 0.0, low * unit),
        "span": np.where(stays | (span == 0), 1.0, span),
        "factor": np.where(nominal, 1.0, np.where(span > 0, score, 0.0)),
    }


class MetricScaling(Scaling):
    """A stage that divides each numeric column by its range and multiplies it by its score, which a metric computes.

    With ``--multiply`` it does not divide. `make_metric_stage` makes a subclass for each metric.

    Attributes
    ----------
    metric : computes the scores; set by the subclass of each metric.
    """

    metric: ClassVar[Metric]

    def working_bytes(self, statistic: Statistic) -> int:
        return scoring_bytes(statistic, self.metric)

    def scores(self, table: ContingencyTable) -> Floats:
        own = {name: value for name, value in get_option_values(self).items() if name in ("alpha", "combine", "seed")}
        return score_columns(Thresholds(table), self.metric, **own)


def declare_alpha() -> float | None:
    """Declare the option ``--alpha``, a number from 0 to 1; None, the default, leaves scores as they are.

    It multiplies the score of a feature that is at least as frequent in the positive class as in the others. 1 - alpha
    multiplies the score of any other feature.
    """
    help_ = "Multiply the scores of features of the positive class by X, and the others by 1 − X."
    return option(None, help_, minimum=0, maximum=1)


class SeededMetricScaling(MetricScaling):
    """A `MetricScaling` whose scores do not depend on the data, such as random numbers; adds ``--seed``."""

    seed: int = option(0, "Seed of the random numbers.", minimum=0)


class ClassAgainstRestScaling(MetricScaling):
    """A `MetricScaling` whose metric scores a class against the rest; adds ``--alpha`` and ``--combine``."""

    alpha: float | None = declare_alpha()
    combine: str | None = option(
        None,
        "With more than two classes, combine the scores of each class against the rest in this way; by default, the "
        "metric's own form for many classes is used if it has one, and max if not.",
        choices=COMBINATIONS,
    )


def make_metric_stage(metric: Metric) -> type[MetricScaling]:
    """Make the stage class that scales each column by its score by `metric`: a subclass of `MetricScaling`.

    It has the name of the metric, and its help is that of the metric and then that on scaling. It has ``--seed`` if the
    metric has `Metric.by_column`, else ``--alpha`` and ``--combine`` if the metric can score a class against the rest.
    """
    base: type[MetricScaling] = ClassAgainstRestScaling if metric.compares_class_with_rest else MetricScaling
    if metric.by_column is not None:
        base = SeededMetricScaling
    first, _, rest = metric.help().partition("\n")
    shared_help = METRIC_HELP if metric.by_table is None else TABLE_HELP
    example = f"    filterkit in.arff {metric.name} > out.arff"
    doc = "\n\n".join(filter(None, [f"Scale by a score: {first}", example, rest.strip("\n"), shared_help]))
    namespace: dict[str, Any] = {
        "name": metric.name,
        "metric": metric,
        "needs_class": metric.needs_class,
        "numeric_class": metric.numeric_class,
        "mends": NUMERIC_CLASS * metric.numeric_class,
        "__doc__": doc,
        "__module__": metric.score.__module__,
        "__annotations__": {},
    }
    return type(metric.name.capitalize(), (base,), namespace)
