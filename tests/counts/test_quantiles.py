"""Quantiles of tables: those of numpy, with and without weights."""

import numpy as np
import pytest
from agreement import make
from hypothesis import given, settings
from hypothesis import strategies as st

from filterkit.plugin import ContingencyTable, SortedValues, quantiles

NAN = np.nan
VALUES = st.integers(-4, 4).map(float) | st.floats(-1e3, 1e3) | st.just(NAN)
SHARES = [0, 0.1, 0.25, 1 / 3, 0.5, 0.55, 0.9, 1]


def table_of(X, weights=None, sparse=False, supervised=False):
    batch = make(X, [i % 2 for i in range(len(X))], weights=weights, sparse=sparse)
    return ContingencyTable.of(batch, np.arange(batch.schema.width), supervised, "test")


@st.composite
def columns(draw):
    size = draw(st.integers(1, 25))
    return np.array(draw(st.lists(VALUES, min_size=2 * size, max_size=2 * size))).reshape(size, 2)


@settings(max_examples=50)
@given(columns(), st.booleans(), st.booleans())
def test_they_are_those_of_numpy(X, sparse, supervised):
    table = table_of(X, sparse=sparse, supervised=supervised)
    for method in ("linear", "inverted_cdf"):
        found = quantiles(table, SHARES, method)
        assert found.shape == (2, len(SHARES))
        for column, own in zip(X.T, found):
            known = column[~np.isnan(column)]
            # With weights of 1, numpy divides the numbers of rows, which rounds fewer shares across a row.
            more = {"weights": np.ones(len(known))} if method == "inverted_cdf" else {}
            expected = np.quantile(known, SHARES, method=method, **more) if len(known) else np.full(len(SHARES), NAN)
            np.testing.assert_allclose(own, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=40)
@given(columns(), st.data())
def test_rows_count_by_weight(X, data):
    times = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(X), max_size=len(X))))
    found = quantiles(table_of(X, times), SHARES)
    np.testing.assert_array_equal(found, quantiles(table_of(np.repeat(X, times, axis=0)), SHARES))
    weights = times / 8  # whose sums are exact in numpy, too
    found = quantiles(table_of(X, weights), SHARES, "inverted_cdf")
    for column, own in zip(X.T, found):
        known = ~np.isnan(column)
        if known.any():
            expected = np.quantile(column[known], SHARES, method="inverted_cdf", weights=weights[known])
            np.testing.assert_array_equal(own, expected)


def test_by_hand():
    table = table_of([[1, NAN], [2, NAN], [4, NAN], [0, NAN]])
    found = quantiles(table, [0.5, 0.25])
    np.testing.assert_array_equal(found, [[1.5, 0.75], [NAN, NAN]])
    np.testing.assert_array_equal(quantiles(table, [0.5, 0.51], "inverted_cdf"), [[1, 2], [NAN, NAN]])
    assert quantiles(table, []).shape == (2, 0)
    values = SortedValues(table)
    assert values.count.tolist() == [4, 0]
    np.testing.assert_array_equal(values.at(np.array([3, 3])), [4, NAN])


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="no method 'nearest'; choose linear or inverted_cdf"):
        quantiles(table_of([[1]]), [0.5], "nearest")
    with pytest.raises(ValueError, match="quantiles must be from 0 to 1, not"):
        quantiles(table_of([[1]]), [50])
