"""Quantiles of tables: those of numpy, with and without weights."""

import numpy as np
import pytest
from agreement import make
from hypothesis import given
from hypothesis import strategies as st

from filterkit.plugin import ContingencyTable, quantiles

NAN = np.nan
VALUES = st.integers(-4, 4).map(float) | st.floats(-1e3, 1e3) | st.just(NAN)
SHARES = [0, 0.1, 0.25, 1 / 3, 0.5, 0.55, 0.9, 1]


def table_of(X, weights=None, **options):
    batch = make(X, [i % 2 for i in range(len(X))], weights=weights, **options)
    return ContingencyTable.of(batch, np.arange(batch.schema.width), True, "test")


@given(st.lists(st.tuples(VALUES, VALUES, st.integers(1, 4)), min_size=1, max_size=25), st.booleans())
def test_they_are_those_of_numpy(rows, sparse):
    """For the method of numpy that takes no weights, each row comes as often as its weight says."""
    *columns, times = np.array(rows).T
    X = np.column_stack(columns)
    found = quantiles(table_of(X, times, sparse=sparse), SHARES)
    steps = quantiles(table_of(X, times / 8, sparse=sparse), SHARES, "inverted_cdf")
    assert found.shape == steps.shape == (2, len(SHARES))
    for column, own, step in zip(columns, found, steps):
        known = ~np.isnan(column)
        column, weights = (column[known], times[known]) if known.any() else (np.full(1, NAN), np.ones(1))
        repeated = np.repeat(column, weights.astype(int))
        np.testing.assert_allclose(own, np.quantile(repeated, SHARES), rtol=1e-12, atol=1e-12)
        expected = np.quantile(column, SHARES, method="inverted_cdf", weights=weights / 8)
        np.testing.assert_array_equal(step, expected)


@pytest.mark.parametrize(
    ("share", "method", "message"),
    [
        (0.5, "nearest", "no method 'nearest'; choose linear or inverted_cdf"),
        (50, "linear", "quantiles must be from 0 to 1, not"),
    ],
)
def test_wrong_arguments_are_refused(share, method, message):
    with pytest.raises(ValueError, match=message):
        quantiles(table_of([[1]]), [share], method)
