"""Summary and Moments: against a plain reference, and the same to the last bit however they are taken."""

from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from agreement import make, sparsely
from hypothesis import given
from hypothesis import strategies as st

from filterkit import StageError
from filterkit.counts.summary import Moments, Summary
from filterkit.counts.table import ContingencyTable

VALUES = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float) | st.just(np.nan) | st.sampled_from([1e200, -1e-200])
CLOSE = [(0.1, 0.10000000000000002), (1.0, 0.9999999999999999), (1e16, 1e16 + 2), (5e-324, -5e-324), (1 / 3, np.nan)]
WEIGHTS = st.sampled_from([1.0, 2.0, 0.5, 1 / 3, 1e-5, 1e9, 0.0])


@st.composite
def rows(draw, weighted=True):
    """A batch of two numeric columns and one nominal one."""
    size = draw(st.integers(0, 12))
    close = st.sampled_from(draw(st.sampled_from(CLOSE)))
    kinds = (VALUES, draw(st.sampled_from([close, VALUES | close])), st.sampled_from([0.0, 1.0, 2.0, np.nan]))
    X = np.array([draw(st.lists(kind, min_size=size, max_size=size)) for kind in kinds]).T.reshape(size, 3)
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=size, max_size=size)) if weighted else None
    return make(X, [0] * size, weights=weights, nominal=(2,))


def plain(batch, column):
    """Mean and squared deviations of the values of a column, as fractions."""
    pairs = [
        (Fraction(v), Fraction(round(Fraction(w) * 2**64), 2**64))  # what a weight has below counts for nothing
        for v, w in zip(batch.X[:, column].tolist(), batch.row_weights.tolist())
        if v == v and w > 0
    ]
    total = sum(w for _, w in pairs)
    mean = sum(v * w for v, w in pairs) / total if total else Fraction(0)
    return mean, sum(w * (v - mean) ** 2 for v, w in pairs)


def taken(kind, batch):
    return kind.of(batch, np.arange(batch.schema.width), False, "test")


def content(found):
    """All that a statistic says, to the last bit."""
    said = [found.totals, found.missing, found.present, found.zeros, found.nonzero, found.labels.values]
    said += found.extremes()
    if isinstance(found, Moments):
        said += [found.mean(), found.mean_remainder(), found.deviation()]
    return [array.tobytes() for array in said]


@given(rows())
def test_moments_are_those_of_fractions(batch):
    found = taken(Moments, batch)
    for column in range(2):
        mean, squares = plain(batch, column)
        largest = float(np.abs(found.extremes())[:, column].max())
        scale = -600 if largest > 1e100 else 600 if largest < 1e-100 else 0  # no square overflows or underflows
        up = Fraction(2) ** scale
        rounding = float(largest * up) * 1e-60  # what lies so far below the largest value is rounded off
        got = found.mean(scale)[column]
        np.testing.assert_allclose(got, float(mean * up), rtol=3e-16, atol=rounding)
        rest = float(mean * up - Fraction(got))
        lost = max(rounding, abs(got) / 2**96)
        np.testing.assert_allclose(found.mean_remainder(scale)[column], rest, rtol=1e-12, atol=lost)
        expected = float(squares * up * up)
        np.testing.assert_allclose(found.squared_deviations(scale)[column], expected, rtol=1e-15, atol=rounding**2)


@given(rows())
def test_summaries_count_rows_and_find_extremes(batch):
    found, X, weights = taken(Summary, batch), batch.X, batch.row_weights
    for name, chosen in (
        ("missing", np.isnan(X)),
        ("zeros", X == 0),
        ("nonzero", (X != 0) & ~np.isnan(X)),
    ):
        np.testing.assert_allclose(getattr(found, name), weights @ chosen, rtol=1e-12, atol=1e-18)
    expected = [weights @ (X[:, 2] == code) for code in range(26)]
    np.testing.assert_allclose(found.labels.values, expected, rtol=1e-12, atol=1e-18)
    for values, *ends in zip(X.T, *found.extremes()):
        counted = values[(weights > 0) & ~np.isnan(values)]
        assert ends == ([counted.min(), counted.max()] if len(counted) else [0, 0])


@pytest.mark.parametrize("kind", [Summary, Moments])
@given(batch=rows(), cuts=st.lists(st.integers(0, 12), max_size=4), random=st.randoms())
def test_they_are_the_same_in_any_grouping_order_and_form(kind, batch, cuts, random):
    bounds = [0, *sorted(min(cut, len(batch)) for cut in cuts), len(batch)]
    parts = [batch.rows(low, high) for low, high in pairwise(bounds)]
    parts = [taken(kind, random.choice([part, sparsely(part)])) for part in parts]
    random.shuffle(parts)
    for merged in (kind.merge(parts), reduce(lambda one, other: kind.merge([one, other]), parts)):
        assert content(merged) == content(taken(kind, batch))


@pytest.mark.parametrize("kind", [Summary, Moments])
@given(batch=rows(weighted=False))
def test_a_table_gives_the_same(kind, batch):
    columns = np.arange(batch.schema.width)
    assert content(kind.of_table(ContingencyTable.of(batch, columns, False, "test"))) == content(taken(kind, batch))


@given(batch=rows(), low=st.integers(0, 2), high=st.integers(1, 3))
def test_some_columns_are_those_of_all(batch, low, high):
    high = max(low + 1, high)
    alone = Moments.of(batch, np.arange(low, high), False, "test")
    assert content(taken(Moments, batch).column_range(low, high)) == content(alone)


def test_an_infinite_value_is_an_error_that_names_it():
    with pytest.raises(StageError, match="attribute 'a1' has an infinite value") as caught:
        taken(Moments, make([[1, 2], [3, np.inf]], [0, 1], sparse=True))
    assert caught.value.row == 1


@pytest.mark.parametrize("kind", [Summary, Moments])
def test_the_first_columns_are_a_copy_so_that_the_others_can_be_freed(kind):
    whole = taken(kind, make([[1.0, 2.0, 0.0], [np.nan, 5.0, 1.0]], [0, 1], nominal=(0, 2)))
    few = whole.first_columns(2)
    assert content(few) == content(whole.column_range(0, 2))
    names = ("low", "high", "missing_parts", "nonzero_parts", "label_parts")
    assert not any(np.shares_memory(getattr(few, name), getattr(whole, name)) for name in names)
    assert whole.first_columns(3) is whole


def test_rows_that_are_counted_by_class_all_count():
    found = Moments.of(make([[1.0], [2.0], [4.5]], [0, 1, 1]), np.arange(1), True, "test")
    assert (found.totals, found.mean()) == (3, 2.5)
