"""Sums that do not depend on the order: against exact fractions, in any grouping."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filterkit.counts.exact_sums import (
    BITS,
    MOST_DIGITS,
    ExactSums,
    add,
    add_digits,
    add_entry_digits,
    divide,
    grid,
    multiply,
    two_product,
    unit,
)

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=True) | st.integers(-9, 9).map(float)
PAIRS = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-30)


def sums_of(values, digits=MOST_DIGITS):
    """The sums of one column of values."""
    exponent = grid(np.array([max(map(abs, values), default=0.0)]))
    made = np.zeros((digits, 1))
    add_digits(np.array(values)[:, None] * unit(exponent), made, 1)
    return ExactSums(exponent + 1, made)


def value(sums):
    """The one sum as a fraction."""
    high, low = sums.pair()
    return (Fraction(high[0]) + Fraction(low[0])) * Fraction(2) ** (BITS * int(sums.exponent[0]))


def rounding(values, digits=MOST_DIGITS):
    """What the sum may miss: at most half of the last digit of each value."""
    exponent = int(grid(np.array([max(map(abs, values), default=0.0)]))[0])
    return len(values) * Fraction(2) ** (BITS * (exponent + 2 - digits)) / 2


@given(st.lists(NUMBERS, max_size=20))
def test_a_sum_misses_at_most_half_of_the_last_digit_of_each_number(values):
    exact = sum(map(Fraction, values))
    assert abs(value(sums_of(values)) - exact) <= rounding(values) + abs(exact) / 2**100


@given(st.lists(st.lists(NUMBERS, max_size=5), min_size=1, max_size=6), st.randoms())
def test_sums_are_the_same_in_any_grouping_and_order(groups, random):
    whole = sums_of([v for group in groups for v in group])
    random.shuffle(groups)
    parts = [sums_of(group) for group in groups]
    merged = parts[0]
    for part in parts[1:]:
        merged = ExactSums.merge([merged, part], np.maximum(merged.exponent, part.exponent))
    assert [x.tobytes() for x in merged.pair()] == [x.tobytes() for x in whole.pair()]


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 2), st.integers(1, 9)), max_size=12))
def test_entries_that_occur_several_times_sum_as_rows(entries):
    largest = np.array([max((abs(v) for v, c, _ in entries if c == column), default=0.0) for column in range(3)])
    exponent = grid(largest)
    made = np.zeros((MOST_DIGITS, 3))
    values, columns, times = (np.array([entry[i] for entry in entries], float) for i in range(3))
    columns = columns.astype(int)
    add_entry_digits(values * unit(exponent)[columns], columns, made, 1, times)
    found = ExactSums(exponent + 1, made)
    for column in range(3):
        rows = sums_of([v for v, c, n in entries if c == column for _ in range(n)])
        assert value(found.some(column, column + 1)) == value(rows)


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


@given(PAIRS, PAIRS)
def test_a_product_and_its_rounding_error_are_exact(a, b):
    product, error = two_product(np.array([a]), np.array([b]))
    assert Fraction(product[0]) + Fraction(error[0]) == Fraction(a) * Fraction(b)


def fraction(pair):
    return Fraction(float(pair[0][0])) + Fraction(float(pair[1][0]))


@given(PAIRS, PAIRS, PAIRS)
def test_pairs_carry_a_hundred_bits(a, b, c):
    first, second, third = ((np.array([x]), np.array([x * 1e-17])) for x in (a, b, c))
    for found, exact in (
        (multiply(first, second), fraction(first) * fraction(second)),
        (multiply(multiply(first, second), third), fraction(first) * fraction(second) * fraction(third)),
    ):
        assert abs(fraction(found) - exact) <= abs(exact) / 2**98
    exact = fraction(first) + fraction(second)
    assert abs(fraction(add(first, second)) - exact) <= (abs(fraction(first)) + abs(fraction(second))) / 2**98
    if c:
        exact = fraction(first) / fraction(third)
        assert abs(fraction(divide(first, third)) - exact) <= abs(exact) / 2**98
