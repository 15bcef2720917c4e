"""Sums that do not depend on the order: against exact fractions, in any grouping."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filterkit.counts.exact_sums import (
    BITS,
    MOST_DIGITS,
    UNIT_BITS,
    ExactSums,
    add_digits,
    choose_exponent,
    compute_scale,
    two_product,
)

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=True) | st.integers(-9, 9).map(float)
few = settings(max_examples=40)
FACTORS = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-30)


def sums_of(values):
    """The sums of one column of values."""
    exponent = exponent_of(values)
    made = np.zeros((MOST_DIGITS, 1))
    add_digits(np.array(values)[:, None] * compute_scale(exponent), made, 1)
    return ExactSums(1, exponent, 0, made)


def value(sums):
    """The one sum as a fraction."""
    (whole,) = sums.whole()
    return whole * Fraction(2) ** (BITS * int(sums.values[0]) - UNIT_BITS)


def exponent_of(values):
    return choose_exponent(np.array([max(map(abs, values), default=0.0)]))


@few
@given(st.lists(NUMBERS, max_size=20))
def test_a_sum_misses_at_most_half_of_the_last_digit_of_each_number(values):
    last = Fraction(2) ** (BITS * (int(exponent_of(values)[0]) + 2 - MOST_DIGITS))
    assert abs(value(sums_of(values)) - sum(map(Fraction, values))) <= len(values) * last / 2


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


@few
@given(FACTORS, FACTORS)
def test_a_product_and_its_rounding_error_are_exact(a, b):
    product, error = two_product(np.array([a]), np.array([b]))
    assert Fraction(product[0]) + Fraction(error[0]) == Fraction(a) * Fraction(b)
