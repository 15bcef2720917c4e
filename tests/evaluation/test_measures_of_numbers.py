"""Measures of predicted numbers: by hand, against scikit-learn and scipy, and in parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from sklearn import metrics

from filterkit import UsageError
from filterkit.evaluation.measure_names import OF_NUMBERS
from filterkit.evaluation.measures import (
    check_measure,
    compute_error_measures,
    list_true_and_predicted_numbers,
    measures,
    sum_error_terms,
)
from filterkit.stages.models import Outcome

NAN = float("nan")


def outcome(true, said, means=(2.0,), weights=None):
    """An outcome of numbers for one target, or of rows with one for each target."""
    true, said = (np.array(each, float).reshape(len(each), -1) for each in (true, said))
    return Outcome(
        true, said, None, False, None if weights is None else np.array(weights, float), False, np.array(means)
    )


def drawn(rows=60, targets=1, seed=1):
    rng = np.random.default_rng(seed)
    true = rng.normal(50, 9, (rows, targets)).round(1)
    return outcome(true, (true + rng.normal(0, 4, true.shape)).round(1), np.full(targets, 48.5))


@pytest.mark.parametrize(("mean", "spread"), [(0, 1e-9), (5e3, 1e-9), (-1e6, 1e3), (5e3 * (1 + 1e-9), 1e-9)])
def test_numbers_that_lie_close_together_have_measures(mean, spread):
    given = drawn()
    true, said = (5e3 * (1 + spread * each) for each in (given.truth, given.predicted))
    found = measures(outcome(true, said, [mean]))
    assert found["r2"] == pytest.approx(metrics.r2_score(true, said), rel=1e-9)
    assert found["pearson"] == pytest.approx(pearsonr(true[:, 0], said[:, 0])[0], rel=1e-9)


# The deviations from the mean 7/3 are -4, -1 and 5 thirds; those from the training mean -1, 0 and 2; ranks 1 2 3 and
# 1 2.5 2.5.
BY_HAND = {
    "mae": 2 / 3,
    "rmse": (2 / 3) ** 0.5,
    "r2": 1 - 2 / (42 / 9),
    "medae": 1,
    "rae": 2 / 3,
    "rrse": (2 / 5) ** 0.5,
}
BY_HAND |= {"pearson": (16 - 2 + 10) / (42 * 24) ** 0.5, "spearman": 3**0.5 / 2}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (outcome([1, 2, 4], [1, 3, 3]), BY_HAND),
        (outcome([0.1, 0.7, 0.3], [0.1 + 0.2] * 3), {"pearson": 0, "spearman": 0}),
        (outcome([3], [5]), dict.fromkeys(OF_NUMBERS, 2) | dict.fromkeys(("r2", "pearson", "spearman"), NAN)),
    ],
)
def test_measures_worked_by_hand(given, expected):
    assert tuple(measures(given)) == OF_NUMBERS
    assert measures(given, tuple(expected)) == pytest.approx(expected, rel=1e-14, nan_ok=True)


@given(st.lists(st.integers(1, 4), min_size=4, max_size=12), st.integers(0, 99))
def test_a_row_of_weight_w_counts_like_w_rows(weights, seed):
    given = drawn(len(weights), 2, seed)
    given = given._replace(truth=given.truth.round(-1), predicted=given.predicted.round(-1))  # so that some are equal
    times = np.repeat(np.arange(len(weights)), weights)
    repeated = given._replace(truth=given.truth[times], predicted=given.predicted[times])
    weighted = given._replace(weights=np.array(weights, float))
    assert measures(weighted) == pytest.approx(measures(repeated), rel=1e-9, abs=1e-12, nan_ok=True)


def test_measures_of_targets_are_means_over_those_for_which_they_are_defined():
    """The second target is constant in the test rows, and equal to its training mean."""
    both = measures(outcome([[1, 5], [2, 5], [4, 5]], [[1, 5], [3, 6], [3, 4]], (2.0, 5.0)))
    one, other = measures(outcome([1, 2, 4], [1, 3, 3])), measures(outcome([5, 5, 5], [5, 6, 4], (5.0,)))
    for name in ("r2", "pearson", "spearman", "rae", "rrse"):
        assert np.isnan(other[name]) and both[name] == one[name]
    for name in ("mae", "rmse", "medae"):
        assert both[name] == (one[name] + other[name]) / 2


def test_errors_can_be_summed_in_parts():
    given = drawn(targets=2)._replace(weights=np.random.default_rng(3).random(60) + 0.1)
    names = ("truth", "predicted", "weights")
    parts = [given._replace(**{n: getattr(given, n)[rows] for n in names}) for rows in (slice(20), slice(20, None))]
    whole = compute_error_measures(sum_error_terms(given))
    for name, values in compute_error_measures(sum(map(sum_error_terms, parts))).items():
        np.testing.assert_allclose(values, whole[name], rtol=1e-13)


def test_points_of_many_rows_are_some():
    given = outcome(np.arange(2500), np.arange(2500) + 1)
    ((name, true, said),) = list_true_and_predicted_numbers(["price"], given)
    assert name == "price" and true[:2] == [0, 3] and len(true) == len(said) == 834
    assert list_true_and_predicted_numbers(["p"], outcome([1, 2], [3, 4])) == [["p", [1, 2], [3, 4]]]


@pytest.mark.parametrize(
    ("name", "is_numeric", "message"),
    [
        ("f1", True, "f1 is a measure of classes, but a number is predicted; choose one of mae, rmse, r2"),
        ("mae", False, "mae is a measure of numbers, but classes are predicted; choose one of accuracy, precision"),
    ],
)
def test_a_measure_of_the_other_kind_is_refused(name, is_numeric, message):
    check_measure("--choose", name, not is_numeric)
    with pytest.raises(UsageError, match=f"^--choose {message}"):
        check_measure("--choose", name, is_numeric)


def test_errors_that_are_too_large_for_numbers_are_undefined(recwarn):
    found = measures(outcome([1e308, -1e308, 1.0], [-1e308, 1e308, 1.0]))
    assert all(np.isnan(found[name]) for name in ("mae", "rmse", "r2", "pearson"))
    assert found["spearman"] == pytest.approx(-1) and not recwarn.list
