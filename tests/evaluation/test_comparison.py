"""Methods compared over tasks: by hand, against scipy and against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_rel

from filterkit.evaluation.comparison import (
    adjust_p_values_by_holm,
    choose_pairs_to_test,
    compute_corrected_t_test,
    compute_critical_difference,
    compute_friedman_p,
    compute_signed_rank_test,
    find_best_pair_of_methods,
    find_methods_near_best,
    group_methods_with_close_ranks,
    rank_methods_on_each_task,
)

NAN = float("nan")

TABLES = arrays(
    float,
    st.tuples(st.integers(1, 8), st.integers(2, 5)),
    elements=st.sampled_from([0.0, 0.5, 0.9, 0.95, 1.0, NAN]),
)
TOLERANCES = st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0])


def near(row, tolerance):
    """Plain reference for one task: the numbers of the methods that are near best."""
    known = [value for value in row if value == value]
    return {j for j, value in enumerate(row) if known and value >= max(known) * (1 - tolerance)}


def pairs(values, tolerance):
    """Plain reference: each pair of methods and its share of tasks, in order."""
    rows = [near(row, tolerance) for row in values.tolist()]
    return {
        pair: sum(bool(row & set(pair)) for row in rows) / len(rows) for pair in combinations(range(values.shape[1]), 2)
    }


def test_shares_of_wins_worked_by_hand():
    """Methods 0 and 3 win most often, but on the same tasks; on the last, none wins."""
    values = np.array(
        [[0.9, 0.8, 0.1, 0.895], [0.5, 0.8, 0.1, 0.2], [0.7, 0.6, NAN, 0.7], [0.2, 0.1, 0.4, 0.3], [NAN] * 4]
    )
    assert find_methods_near_best(values, 0.01).mean(axis=0).tolist() == [2 / 5, 1 / 5, 1 / 5, 2 / 5]


@given(TABLES, TOLERANCES)
def test_the_best_pair_is_the_first_of_all_that_win_most(values, tolerance):
    shares = pairs(values, tolerance)
    best = max(shares, key=shares.get)
    assert find_best_pair_of_methods(values, tolerance) == (best, shares[best])


@pytest.mark.parametrize(
    ("values", "tolerance", "message"),
    [
        (np.ones(3), 0.1, "shape"),
        (np.ones((0, 3)), 0.1, "empty"),
        (np.array([[1, -0.1]]), 0.1, "negative"),
        (np.ones((2, 2)), -0.1, "tolerance"),
        (np.ones((2, 2)), NAN, "tolerance"),
        (np.ones((3, 1)), 0.1, "two methods"),
    ],
)
def test_values_that_cannot_be_compared_are_refused(values, tolerance, message):
    with pytest.raises(ValueError, match=message):
        find_best_pair_of_methods(values, tolerance)


def test_the_signed_rank_test_worked_by_hand():
    """Of the differences 1, −2, 3, 4, 5 the negative one has rank 2. Of the 32 ways to give signs to ranks, three have
    a sum of at most 2 (none; 1; 2), and as many on the other side."""
    a, b = np.array([1.0, 0, 3, 4, 5, NAN]), np.array([0.0, 2, 0, 0, 0, 1])
    assert compute_signed_rank_test(a, b) == pytest.approx((11 / 5, 6 / 32), rel=1e-12)
    assert compute_signed_rank_test(b, a) == pytest.approx((-11 / 5, 6 / 32), rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_the_signed_rank_test_of_equal_or_few_differences():
    assert compute_signed_rank_test(np.ones(3), np.ones(3)) == (0, 1)
    assert compute_signed_rank_test(np.full(3, 0.1 + 0.2), np.full(3, 0.3))[1] == 1
    assert compute_signed_rank_test(np.ones(1), np.zeros(1)) == pytest.approx((1, NAN), nan_ok=True)


def test_p_values_are_adjusted_by_holm():
    """Sorted: .01 · 4, .02 · 3, .03 · 2, .3 · 1; .06 stays, though .03 · 2 is not above it."""
    assert adjust_p_values_by_holm(np.array([0.03, 0.01, NAN, 0.3, 0.02])).tolist() == pytest.approx(
        [0.06, 0.04, NAN, 0.3, 0.06], nan_ok=True
    )
    assert adjust_p_values_by_holm(np.array([0.7, 0.6])).tolist() == [1, 1]
    assert adjust_p_values_by_holm(np.array([0.2])).tolist() == [0.2]


def test_ranks_and_friedmans_test_worked_by_hand():
    """Rank sums 5, 6.5 and 12.5 over four tasks; χ² = (12 / (4·3·4) · Σ R² − 3·4·4) / (1 − 6 / (4·24)) for one tie."""
    values = np.array([[3, 2, 1.0], [0.1 + 0.2, 0.3, 0.2], [9, 8, 7], [5, 6, 4], [NAN, 1, 1]])
    assert rank_methods_on_each_task(values).tolist() == [[1, 2, 3], [1.5, 1.5, 3], [1, 2, 3], [2, 1, 3]]
    sums = rank_methods_on_each_task(values).sum(axis=0)
    statistic = (12 / 48 * (sums**2).sum() - 48) / (1 - 6 / 96)
    assert compute_friedman_p(values) == pytest.approx(np.exp(-statistic / 2), rel=1e-12)
    assert compute_friedman_p(np.ones((4, 3))) == 1
    assert np.isnan(compute_friedman_p(values[:, :2])) and np.isnan(compute_friedman_p(values[:1]))


def test_critical_differences_are_those_of_demsar():
    """Table 5 (a) has 1.960, 2.343, 2.569 and 3.164 for 2, 3, 4 and 10 methods at 0.05; 2.291 for 4 at 0.10."""
    for methods, quantile in [(2, 1.960), (3, 2.343), (4, 2.569), (10, 3.164)]:
        scale = (methods * (methods + 1) / 84) ** 0.5
        assert compute_critical_difference(methods, 14) == pytest.approx(quantile * scale, abs=5e-4)
    assert compute_critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)  # the example of section 3.2.4
    assert compute_critical_difference(4, 14, 0.1) == pytest.approx(2.291 * (20 / 84) ** 0.5, abs=5e-4)


def test_methods_whose_ranks_are_near_form_groups():
    assert group_methods_with_close_ranks(np.array([1.0, 1.5, 2.4, 4.0]), 1.0) == [(0, 1), (1, 2)]
    assert group_methods_with_close_ranks(np.array([1.0, 1.5, 1.9, 4.0]), 1.0) == [(0, 2)]
    assert group_methods_with_close_ranks(np.array([1.0, 2.0, 3.0]), 1.0) == []


def test_the_paired_t_test_equals_that_of_scipy():
    rng = np.random.default_rng(0)
    a = rng.random(12)
    b = a + rng.normal(0.05, 0.1, 12)
    difference, p = compute_corrected_t_test(a, b)
    assert difference == pytest.approx((a - b).mean(), rel=1e-12)
    assert p == pytest.approx(ttest_rel(a, b).pvalue, rel=1e-12)
    assert compute_corrected_t_test(b, a) == pytest.approx((-difference, p), rel=1e-12)
    with_gaps = np.column_stack([np.insert(a, 4, [NAN, 8]), np.insert(b, 4, [7, NAN])]).T
    assert compute_corrected_t_test(*with_gaps) == (difference, p)
    with pytest.raises(ValueError, match="the same length"):
        compute_corrected_t_test(a, b[1:])


@pytest.mark.filterwarnings("error")
def test_the_paired_t_test_of_equal_or_few_differences():
    one, two = np.array([0.5]), np.array([0.5, 0.7])
    assert compute_corrected_t_test(np.full(3, NAN), np.ones(3)) == pytest.approx((NAN, NAN), nan_ok=True)
    assert compute_corrected_t_test(one, one - 0.25) == pytest.approx((0.25, NAN), nan_ok=True)
    assert (compute_corrected_t_test(two, two), compute_corrected_t_test(two + 1, two)) == ((0, 1), (1, 0))
    difference, p = compute_corrected_t_test(np.array([0.3, 0.4, 0.7]), np.array([0.2, 0.3, 0.6]))
    assert difference == pytest.approx(0.1) and p < 1e-20


def test_of_more_than_four_methods_only_pairs_with_the_first_are_tested():
    assert choose_pairs_to_test(1) == []
    assert choose_pairs_to_test(4) == list(combinations(range(4), 2))
    assert choose_pairs_to_test(5) == [(0, 1), (0, 2), (0, 3), (0, 4)]
