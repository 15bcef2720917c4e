"""`range`, `standardize`, `impute` and `tfidf` by hand; test_coming_from_scikit_learn.py has its counterparts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from agreement import dense, make
from cases import fit, rows, run, view

import filterkit
from filterkit import StageError

NAN = np.nan
HALF = 1 / np.sqrt(2)


def scale(batch, text, train=None):
    fitted = filterkit.chain(text).fit(batch if train is None else batch.rows(0, train))
    return dense(fitted.transform(batch))


@pytest.mark.parametrize(
    ("chain", "columns", "expected"),
    [
        (
            "range",
            {"a": [2, 4, 3], "c": [None, 1, 3], "n": ["y", "x", "z"]},
            {"a": [0, 1, 0.5], "c": [None, 0, 1], "n": ["y", "x", "z"]},
        ),
        (
            "standardize",
            {"a": [2, 4, 6], "c": [None, 1, 3], "n": ["y", "x", "z"]},
            {"a": [-1, 0, 1], "c": [None, -HALF, HALF], "n": ["y", "x", "z"]},
        ),
        (
            "impute",
            {"a": [1, None, 4], "n": ["y", None, "x"], "e": [None] * 3},
            {"a": [1, 2.5, 4], "n": ["y", "y", "x"], "e": [0] * 3},
        ),
        ("tfidf --idf none --tf binary", {"a": [5, 0, None], "n": list("yxz")}, {"a": [1, 0, None], "n": list("yxz")}),
    ],
)
def test_numbers_worked_by_hand(chain, columns, expected):
    assert run(chain, columns) == {name: pytest.approx(values) for name, values in expected.items()}


@pytest.mark.parametrize(
    ("chain", "columns", "expected"),
    [
        ("range", {"a": [2, 4, 3], "b": [-1, 0, 3]}, {"a": [1, 2, 1.5], "b": [-0.25, 0, 0.75]}),
        ("standardize", {"a": [0, 2], "b": [1, 1]}, {"a": [0, np.sqrt(2)], "b": [0, 0]}),
    ],
)
def test_zero_stays_where_it_is_special(chain, columns, expected):
    assert run(chain, columns, sparse=True, zero=True) == {name: pytest.approx(v) for name, v in expected.items()}


def test_instance_weights_count():
    data = {"a": [1, 4, None]}
    assert run("impute", data, weights=[3, 1, 1]) == {"a": [1, 4, 1.75]}
    # variance (3 · .75² + 2.25²) / 3
    assert run("standardize", data, weights=[3, 1, 1])["a"][:2] == pytest.approx([-0.75 / 1.5, 2.25 / 1.5])


def exactly(training, value):
    """What `standardize` makes of a value, rounded once."""
    numbers = [Fraction(v) for v in training]
    mean = sum(numbers) / len(numbers)
    variance = sum((v - mean) ** 2 for v in numbers) / (len(numbers) - 1)
    # The root of n / d is that of n * d, divided by d.
    root = Fraction(math.isqrt(variance.numerator * variance.denominator << 256), variance.denominator << 128)
    return float((Fraction(value) - mean) / root)


@pytest.mark.parametrize(
    ("training", "later"),
    [
        ([0.1, 0.1, 0.10000000000000002], 0.3),
        ([1700000000000.1, 1700000000000.1003, 1700000000000.1], 0.0),
        ([5e-324, -5e-324, 5e-324], 1e-310),
        ([1e308, 1e308 * (1 + 2e-16), 1e308], 1.5e308),
        ([-1.7e308, 0, 1.7e308], 1.0),
        ([1e9 + 0.1, 1e9 + 0.3, 1e9 + 0.2, 1e9], -1e9),
        ([0.1] * 99 + [0.10000000000000002], 0.09999999999999999),
    ],
)
def test_standardize_and_range_lose_no_digits_of_close_values(training, later):
    values = sorted({*training, later})
    batch, low = make([[v] for v in [*training, *values]], [0] * len([*training, *values])), Fraction(min(training))
    standard, ranged = (scale(batch, text, len(training))[len(training) :, 0] for text in ("standardize", "range"))
    np.testing.assert_allclose(standard, [exactly(training, v) for v in values], rtol=1e-15)
    expected = [float((Fraction(v) - low) / (Fraction(max(training)) - low)) for v in values]
    np.testing.assert_allclose(ranged, expected, rtol=1e-15)


@pytest.mark.parametrize("value", [0.1, 1e16, 5e-324, -1e308])
def test_every_value_of_a_constant_column_becomes_0(value):
    for text in ("standardize", "range"):
        image = scale(make([[value]] * 7 + [[-1.0], [1.0], [NAN]], [0] * 10), text, 7)
        assert image.ravel()[:9].tobytes() == np.zeros(9).tobytes() and np.isnan(image[9])  # not -0


def test_weights_that_add_up_to_one_row_have_no_deviation():
    batch = make([[1, 5], [2, 5]] * 10, [0, 1] * 10, weights=[1 / 20] * 20)
    with pytest.raises(
        StageError,
        match=r"the weights of the rows of 'a0' add up to 1, but its deviation needs more than 1; multiply all weights",
    ):
        scale(batch, "standardize")
    assert np.isnan(scale(batch, "map 'VALUE / SD'")[:, 0]).all()
    assert not scale(batch, "standardize --only a1")[:, 1].any()
    more = batch.replace(weights=np.full(20, 0.075))
    np.testing.assert_allclose(scale(more, "standardize --only a0")[:2, 0], [-(3**-0.5), 3**-0.5])


def test_plain_idf_of_a_word_in_no_row_is_1_whatever_the_weights():
    fitted, _ = fit("tfidf --idf plain", rows({"a": [0, 0], "b": [1, 0]}, weights=[0.25, 0.25], sparse=True, zero=True))
    assert view(fitted.transform(rows({"a": [1], "b": [0]}, sparse=True, zero=True))) == {"a": [1], "b": [0]}
