"""Scaling by a score: numbers by hand, and which stage a metric becomes."""

import warnings

import numpy as np
import pytest
from cases import rows, view

from filterkit import Chain, Metric, NothingLearnedWarning, PluginError, UsageError
from filterkit.plugin import ClassSums
from filterkit.stages.metric_scaling import (
    ClassAgainstRestScaling,
    MetricScaling,
    Scaling,
    SeededMetricScaling,
    compute_scaling_state,
    make_metric_stage,
    rescale,
)


def image(values, score, low, high, zero=False, nominal=False, multiply=False):
    """One column of values, scaled."""
    state = compute_scaling_state(
        np.array([score]), np.array([low]), np.array([high]), zero, np.array([nominal]), multiply
    )
    return rescale(np.array(values), np.zeros(len(values), np.int64), state).tolist()


@pytest.mark.parametrize(
    ("values", "score", "low", "high", "options", "expected"),
    [
        # (v - 1) * 6 / (4 - 1), also beyond the range
        ([1.0, 2.0, 4.0, 7.0], 6.0, 1.0, 4.0, {}, [0, 2, 6, 12]),
        # v * 6 / (4 - 1)
        ([0.0, 1.0, 4.0], 6.0, 1.0, 4.0, {"zero": True}, [0, 2, 8]),
        ([5.0, 9.0], 2.0, 5.0, 5.0, {}, [0, 0]),  # constant in training
        ([np.nan], 2.0, 1.0, 4.0, {}, [np.nan]),
        ([0.0, 2.0], 3.0, 0.0, 2.0, {"nominal": True}, [0, 2]),
        # Ranges whose width would overflow.
        ([-1.5e308, 0.0, 1.5e308], 2.0, -1.5e308, 1.5e308, {}, [0, 1, 2]),
        ([1.0, 2.0, 0.0, -7.0], 6.0, 1.0, 4.0, {"multiply": True, "zero": True}, [6, 12, 0, -42]),
        ([-1.5e308, 1.5e308], 0.5, -1.5e308, 1.5e308, {"multiply": True}, [-7.5e307, 7.5e307]),
        ([5.0, 9.0, np.nan], 2.0, 5.0, 5.0, {"multiply": True}, [0, 0, np.nan]),
        ([0.0, 2.0], 3.0, 0.0, 2.0, {"multiply": True, "nominal": True}, [0, 2]),
    ],
)
def test_values_are_scaled_to_the_score_or_multiplied_by_it(values, score, low, high, options, expected):
    assert image(values, score, low, high, **options) == pytest.approx(expected, nan_ok=True)


class Place(Scaling):
    """Score a column by its number."""

    name = "place"
    needs_class = False

    def scores(self, table):
        return table.columns + 1.0


@pytest.mark.parametrize(("score_only", "b"), [(False, [0, 2]), (True, [3, 5])])
def test_a_scorer_leaves_its_score_on_the_attribute(score_only, b):
    fitted, out = Chain([Place(score_only=score_only)]).fit_transform(rows({"a": [0, 1], "b": [3, 5]}))
    assert [a.scores for a in fitted.schema.features] == [(("place", 1.0),), (("place", 2.0),)]
    assert view(out) == {"a": [0, 1], "b": b}


def test_a_scorer_multiplies_or_leaves_values_alone():
    with pytest.raises(UsageError, match=r"^place: --score-only changes no values, and --multiply does; leave"):
        Place(score_only=True, multiply=True)


def acc(tp, fp, pos, neg):
    """Half of the difference."""
    return (tp - fp) / 2


def test_a_metric_becomes_a_stage_that_needs_what_it_uses():
    by_column = Metric("rnd", acc, needs_class=False, by_column=lambda columns, seed: columns + float(seed))
    made = [make_metric_stage(each) for each in (Metric("half", acc), Metric("all", acc, needs_class=False), by_column)]
    assert [stage.__bases__[0] for stage in made] == [ClassAgainstRestScaling, MetricScaling, SeededMetricScaling]
    assert [(stage.name, stage().needs_class) for stage in made] == [("half", True), ("all", False), ("rnd", False)]
    assert made[0].summary() == "Scale by a score: Half of the difference."


TWO = {"class": ["no", "no", "yes", "yes"]}


def scale(data, *, positive=None, **metric):
    """The scores of the columns, and the rows, that a metric of these functions puts out."""
    stage = make_metric_stage(Metric(**({"name": "mine", "score": acc} | metric)))
    fitted, out = Chain([stage()]).fit_transform(rows(data, positive=positive))
    return [dict(a.scores)["mine"] for a in fitted.schema.features], view(out)


def test_a_metric_scores_the_best_threshold():
    # Of the thresholds of a, "at least 2" has 2 of 2 positives and 1 of 2 negatives: (2 - 1) / 2; "at least 3" has 2
    # and 0: 1. Then (v - 1) * 1 / (4 - 1).
    scores, out = scale({"a": [1, 2, 3, 4], **TWO}, positive="yes")
    assert scores == [1] and out["a"] == pytest.approx([0, 1 / 3, 2 / 3, 1])


def values(table):
    """The number of values."""
    return np.diff(table.indptr).astype(float)


def test_a_metric_of_whole_columns_gets_the_table():
    stage = make_metric_stage(Metric("values", acc, by_table=values))
    assert stage.__bases__[0] is MetricScaling  # nothing compares one class with the rest
    assert scale({"a": [1, 2, 0, 2], **TWO}, by_table=values) == ([2], {"a": [1, 2, 0, 2], **TWO})


def test_a_metric_of_whole_columns_sees_the_positive_class_and_the_rest():
    seen = []
    data = {"x": [1, 2, 0, None], "class": ["a", "b", "c", "b"]}
    scale(data, positive="b", by_table=lambda table: seen.append(table) or np.ones(1))
    (table,) = seen
    assert table.totals.tolist() == [2, 2]
    assert table.counts.tolist() == [[1, 0], [0, 1]]


def test_a_metric_of_labels_gets_no_table_of_one_class():
    tables = []
    with pytest.warns(NothingLearnedWarning):
        scores, _ = scale({"a": ["x", "y"], "class": ["no"] * 2}, by_labels=lambda table: tables.append(table))
    assert scores == [0] and not tables


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


FUNCTIONS = ("score", "classes", "by_table", "by_column")


def fails(*given):
    raise ZeroDivisionError("by zero")


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        *(({field: fails}, "^mine: the metric fails with ZeroDivisionError: by zero$") for field in FUNCTIONS),
        ({"by_table": lambda table: np.array([np.nan])}, "^mine: 'x': the score is nan; a metric must be finite"),
    ],
)
def test_a_function_of_a_metric_that_fails_is_named(metric, message):
    with pytest.raises(PluginError, match=message):
        scale({"x": [0, 1, 2], "class": ["a", "b", "c"]}, **metric)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": ["x", "y"]}, {}, "none: all columns are nominal, so none is scaled; put a stage before it"),
        ({"a": ["x", "y"], "b": [1, 0]}, {}, "none: the score of the only numeric column is 0, so all values become 0"),
        ({"a": [0, 1], "b": [1, 0]}, {"multiply": True}, "none: the score of all 2 numeric columns is 0"),
    ],
)
def test_a_stage_that_scales_nothing_says_so(columns, options, message):
    batch = rows(columns | {"class": ["no", "yes"]})
    stage = make_metric_stage(Metric("none", lambda tp, fp, pos, neg: np.zeros(len(tp))))
    with pytest.warns(NothingLearnedWarning, match=message):
        Chain([stage(**options)]).fit(batch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Chain([stage(score_only=True)]).fit(batch)
