"""Sums that do not depend on the order: against exact fractions, in any grouping."""

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filterkit.counts.exact_sums import (
    BITS,
    MOST_DIGITS,
    UNIT_BITS,
    ExactSums,
    add_numbers_as_digits,
    choose_exponent_and_scale,
    multiply_exactly,
)

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=True) | st.integers(-9, 9).map(float)
FACTORS = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-30)


def sums_of(values):
    """The sums of one column of values."""
    exponent, scale = exponent_and_scale_of(values)
    made = np.zeros((MOST_DIGITS, 1))
    add_numbers_as_digits(np.array(values)[:, None] * scale, made, 1)
    return ExactSums(1, exponent, 0, made)


def value(sums):
    """The one sum as a fraction."""
    (whole,) = sums.compute_integers()
    return whole * Fraction(2) ** (BITS * int(sums.column_exponents[0]) - UNIT_BITS)


def exponent_and_scale_of(values):
    return choose_exponent_and_scale(np.array([max(map(abs, values), default=0.0)]))


@given(st.lists(NUMBERS, max_size=20))
def test_a_sum_misses_less_than_one_in_the_last_digit_of_each_number(values):
    last = Fraction(2) ** (BITS * (int(exponent_and_scale_of(values)[0][0]) + 2 - MOST_DIGITS))
    assert abs(value(sums_of(values)) - sum(map(Fraction, values))) <= len(values) * last


@given(st.lists(st.lists(NUMBERS, max_size=5), min_size=1, max_size=6), st.randoms())
@example([[2251799813685249.0], [1.2433080910244666e86]], Random(1))
@example([[0.6 * 2.0**260], [2.0**520]], Random(1))
def test_sums_are_the_same_in_any_grouping_and_order(groups, random):
    whole = sums_of([v for group in groups for v in group])
    random.shuffle(groups)
    parts = [sums_of(group) for group in groups]
    merged = parts[0]
    for part in parts[1:]:
        merged = ExactSums.merge([merged, part])
    assert (
        merged.compute_integers().tolist()
        == ExactSums.merge(parts).compute_integers().tolist()
        == whole.compute_integers().tolist()
    )


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 2), st.integers(1, 9)), max_size=12))
def test_entries_that_occur_several_times_sum_as_rows(entries):
    largest = np.array([max((abs(v) for v, c, _ in entries if c == column), default=0.0) for column in range(3)])
    exponent, scale = choose_exponent_and_scale(largest)
    made = np.zeros((MOST_DIGITS, 3))
    values, columns, times = (np.array([entry[i] for entry in entries], float) for i in range(3))
    columns = columns.astype(int)
    add_numbers_as_digits(values * scale[columns], made, 1, columns, times)
    found = ExactSums(1, exponent, 0, made)
    for column in range(3):
        rows = sums_of([v for v, c, n in entries if c == column for _ in range(n)])
        assert value(found[column : column + 1]) == value(rows)


@pytest.mark.parametrize(
    "values",
    [
        [1e16, 1.0, -1e16] * 1000,  # cancellation
        list(1e9 + np.random.default_rng(0).random(5000)),  # a large mean
        list(10.0 ** np.arange(-20, 20)),
        [5e-324, 1e-310, -3e-308],
        [1.7e308, -1.7e308, 1.7e308, 1e250],
    ],
)
def test_hard_columns_have_the_sum_of_fsum(values):
    assert float(value(sums_of(values))) == math.fsum(values)


@given(FACTORS, FACTORS)
def test_a_product_and_its_rounding_error_are_exact(a, b):
    product, error = multiply_exactly(np.array([a]), np.array([b]))
    assert Fraction(product[0]) + Fraction(error[0]) == Fraction(a) * Fraction(b)
