"""Scaling by a score: numbers by hand, and which stage a metric becomes."""

import warnings

import numpy as np
import pytest

from filterkit import Attribute, Batch, Chain, Metric, NothingLearnedWarning, PluginError, Schema, UsageError
from filterkit.plugin import ClassSums
from filterkit.stages.metric_scaling import (
    ClassScaling,
    MetricScaling,
    RandomScaling,
    Scaling,
    metric_stage,
    rescaled,
    scaling_state,
)

CLASS = Attribute("class", "nominal", ("no", "yes"))


def image(values, score, low, high, zero=False, nominal=False, multiply=False):
    """One column of values, scaled."""
    state = scaling_state(np.array([score]), np.array([low]), np.array([high]), zero, np.array([nominal]), multiply)
    return rescaled(np.array(values), np.zeros(len(values), np.int64), state).tolist()


def test_the_range_of_the_training_values_becomes_the_score():
    # (v - 1) * 6 / (4 - 1), also beyond the range
    assert image([1.0, 2.0, 4.0, 7.0], 6.0, 1.0, 4.0) == [0.0, 2.0, 6.0, 12.0]


def test_a_special_zero_stays_zero():
    # v * 6 / (4 - 1)
    assert image([0.0, 1.0, 4.0], 6.0, 1.0, 4.0, zero=True) == [0.0, 2.0, 8.0]


def test_a_column_of_zeros_and_ones_becomes_zero_and_the_score():
    assert image([0.0, 1.0], 0.3, 0.0, 1.0) == [0.0, 0.3]


def test_a_constant_column_becomes_zero_and_missing_values_stay():
    assert image([5.0, 9.0], 2.0, 5.0, 5.0) == [0.0, 0.0]
    assert np.isnan(image([np.nan], 2.0, 1.0, 4.0)).all()


def test_a_nominal_column_keeps_its_values():
    assert image([0.0, 2.0], 3.0, 0.0, 2.0, nominal=True) == [0.0, 2.0]


@pytest.mark.parametrize(("low", "high"), [(-1.5e308, 1.5e308), (-0.25e308, 1.75e308), (-1.75e308, 0.25e308)])
def test_a_range_that_would_overflow_is_scaled(low, high):
    assert image([low, low / 2 + high / 2, high], 2.0, low, high) == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize("zero", [False, True])
def test_values_can_be_multiplied_by_the_score_whatever_their_range(zero):
    assert image([1.0, 2.0, 0.0, -7.0], 6.0, 1.0, 4.0, zero=zero, multiply=True) == [6.0, 12.0, 0.0, -42.0]
    assert image([-1.5e308, 1.5e308], 0.5, -1.5e308, 1.5e308, zero=zero, multiply=True) == [-7.5e307, 7.5e307]
    assert image([5.0, 9.0], 2.0, 5.0, 5.0, zero=zero, multiply=True) == [0.0, 0.0]  # constant in training
    assert image([0.0, 2.0], 3.0, 0.0, 2.0, zero=zero, nominal=True, multiply=True) == [0.0, 2.0]
    assert np.isnan(image([np.nan], 2.0, 1.0, 4.0, zero=zero, multiply=True)).all()


class Place(Scaling):
    """Score a column by its number."""

    name = "place"
    needs_class = False

    def scores(self, table):
        return table.columns + 1.0


@pytest.mark.parametrize("score_only", [False, True])
def test_a_scorer_leaves_its_score_on_the_attribute(score_only):
    schema = Schema("r", [Attribute("a"), Attribute("b"), CLASS], 2)
    batch = Batch(schema, np.array([[0.0, 3.0], [2.0, 5.0]]), np.array([0, 1], np.int32))
    out = Chain([Place(score_only=score_only)]).fit(batch).transform(batch)
    assert [a.scores for a in out.schema.features] == [(("place", 1.0),), (("place", 2.0),)]
    assert out.X.tolist() == (batch.X.tolist() if score_only else [[0.0, 0.0], [1.0, 2.0]])


def test_a_scorer_multiplies_or_leaves_values_alone():
    with pytest.raises(UsageError, match=r"^place: --score-only changes no values, and --multiply does; leave"):
        Place(score_only=True, multiply=True)


def acc(tp, fp, pos, neg):
    """Half of the difference.

    The rest of the text.
    """
    return (tp - fp) / 2


def test_a_metric_becomes_a_stage_that_needs_what_it_uses():
    by_column = Metric("rnd", acc, needs_class=False, by_column=lambda columns, seed: columns + float(seed))
    made = [metric_stage(each) for each in (Metric("half", acc), Metric("all", acc, needs_class=False), by_column)]
    assert [stage.__bases__[0] for stage in made] == [ClassScaling, MetricScaling, RandomScaling]
    assert [(stage.name, stage().needs_class) for stage in made] == [("half", True), ("all", False), ("rnd", False)]
    assert made[0].summary() == "Scale by a score: Half of the difference."
    assert "\n\nThe rest of the text.\n\nA column of numbers" in made[0].__doc__


def test_a_metric_scores_the_best_threshold():
    # Of the thresholds of a, "at least 2" has 2 of 2 positives and 1 of 2 negatives: (2 - 1) / 2; "at least 3" has 2
    # and 0: 1. Then (v - 1) * 1 / (4 - 1).
    schema = Schema("r", [Attribute("a"), CLASS], 1, "yes")
    batch = Batch(schema, np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1], np.int32))
    out = Chain([metric_stage(Metric("half", acc))()]).fit(batch).transform(batch)
    assert out.schema.features[0].scores == (("half", 1.0),)
    assert out.X.ravel().tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])


def values(table):
    """The number of values.

    Zero is none.
    """
    return np.diff(table.indptr).astype(float)


def test_a_metric_of_whole_columns_gets_the_table():
    schema = Schema("r", [Attribute("a"), CLASS], 1)
    batch = Batch(schema, np.array([[1.0], [2.0], [0.0], [2.0]]), np.array([0, 0, 1, 1], np.int32))
    stage = metric_stage(Metric("values", acc, by_table=values))
    assert stage.__bases__[0] is MetricScaling  # nothing compares one class with the rest
    assert stage.summary() == "Scale by a score: The number of values."
    assert "\n\nZero is none.\n\nA column is scored as a whole" in stage.__doc__
    out = Chain([stage()]).fit(batch).transform(batch)
    assert out.schema.features[0].scores == (("values", 2.0),)
    assert out.X.ravel().tolist() == [1, 2, 0, 2]


def test_a_metric_of_whole_columns_sees_the_positive_class_and_the_rest():
    target = Attribute("class", "nominal", ("a", "b", "c"))
    schema = Schema("r", [Attribute("x"), target], 1, "b")
    batch = Batch(schema, np.array([[1.0], [2.0], [0.0], [np.nan]]), np.array([0, 1, 2, 1], np.int32))
    seen = []
    Chain([metric_stage(Metric("seen", acc, by_table=lambda table: seen.append(table) or np.zeros(1)))()]).fit(batch)
    (table,) = seen
    assert table.totals.tolist() == [2, 2]
    assert table.counts.tolist() == [[1, 0], [0, 1]]
    assert table.missing.tolist() == [[0, 1]]
    assert table.zeros.tolist() == [[1, 0]]


def test_a_metric_of_labels_gets_no_table_of_one_class():
    nominal = Attribute("a", "nominal", ("x", "y"))
    batch = Batch(Schema("r", [nominal, CLASS], 1), np.array([[0.0], [1.0]]), np.array([1, 1], np.int32))
    tables = []
    metric = Metric("m", acc, by_labels=lambda table: tables.append(table) or np.ones(1))
    with pytest.warns(NothingLearnedWarning):
        out = Chain([metric_stage(metric)()]).fit(batch).transform(batch)
    assert out.schema.features[0].scores == (("m", 0.0),)
    assert not tables


def test_a_score_of_a_whole_column_that_is_no_number_is_an_error():
    schema = Schema("r", [Attribute("a"), CLASS], 1)
    batch = Batch(schema, np.array([[1.0], [2.0]]), np.array([0, 1], np.int32))
    with pytest.raises(PluginError, match=r"^broken: 'a': the score is nan; a metric must be finite"):
        Chain([metric_stage(Metric("broken", acc, by_table=lambda table: np.array([np.nan])))()]).fit(batch)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"score": lambda tp, fp, pos: tp}, r"score takes \(tp, fp, pos\); write def score\(tp, fp, pos, neg\)"),
        ({"score": values}, r"score takes \(table\); write def values\(tp, fp, pos, neg\)"),
        ({"classes": lambda counts: counts}, r"classes takes \(counts\); write def score\(counts, totals\)"),
        ({"by_table": acc}, r"by_table takes \(tp, fp, pos, neg\); write def acc\(table\)"),
        ({"by_column": values}, r"by_column takes \(table\); write def values\(columns, seed\)"),
        ({"class_sums": ClassSums(values, acc)}, r"term of class_sums takes \(table\); write def values\(counts, tot"),
    ],
)
def test_a_function_of_a_metric_that_takes_something_else_is_refused(fields, message):
    with pytest.raises(PluginError, match=rf"^the metric mine: {message}"):
        Metric(**({"name": "mine", "score": acc} | fields))


def test_an_optional_argument_of_a_metric_is_no_fault():
    Metric("mine", lambda tp, fp, pos, neg, prior=1.0: tp * prior)
    Metric("mine", max)  # which does not say what it takes


@pytest.mark.parametrize("field", ["score", "classes", "by_table", "by_column"])
def test_a_function_of_a_metric_that_fails_is_named(field):
    def fails(*given):
        raise ZeroDivisionError("by zero")

    target = Attribute("class", "nominal", ("a", "b", "c"))
    batch = Batch(Schema("r", [Attribute("x"), target], 1), np.arange(3.0)[:, None], np.array([0, 1, 2], np.int32))
    stage = metric_stage(Metric(**({"name": "mine", "score": acc} | {field: fails})))
    with pytest.raises(PluginError, match=r"^mine: the metric fails with ZeroDivisionError: by zero$"):
        Chain([stage()]).fit(batch)


@pytest.mark.parametrize(
    ("kinds", "options", "message"),
    [
        (["nominal", "nominal"], {}, "none: all columns are nominal, so none is scaled; put a stage before it"),
        (["nominal", "numeric"], {}, "none: the score of the only numeric column is 0, and so is every value now"),
        (["numeric", "numeric"], {"multiply": True}, "none: the score of all 2 numeric columns is 0"),
    ],
)
def test_a_stage_that_scales_nothing_says_so(kinds, options, message):
    features = [Attribute(f"a{i}", kind, ("x", "y") if kind == "nominal" else ()) for i, kind in enumerate(kinds)]
    batch = Batch(Schema("made", [*features, CLASS], 2), np.eye(2), np.array([0, 1], np.int32))
    stage = metric_stage(Metric("none", lambda tp, fp, pos, neg: np.zeros(len(tp))))
    with pytest.warns(NothingLearnedWarning, match=message):
        Chain([stage(**options)]).fit(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Chain([stage(score_only=True)]).fit(batch)
