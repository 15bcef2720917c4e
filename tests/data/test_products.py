"""Products of rows with a matrix: right, and the same bits for a row whatever rows are beside it."""

import numpy as np
import pytest
from agreement import make
from hypothesis import given
from hypothesis import strategies as st

from filterkit import plugin
from filterkit.data import products

NUMBERS = st.floats(-1e3, 1e3) | st.sampled_from([0.0, -0.0, 1.0])


def plain(X, matrix):
    """Each sum in the order of the columns, number by number."""
    return [[sum((x * m for x, m in zip(row, column)), 0.0) for column in matrix.T.tolist()] for row in X.tolist()]


@given(st.data(), st.integers(0, 9), st.integers(0, 6), st.integers(1, 70))
def test_sums_are_in_the_order_of_the_columns(data, rows, width, k):
    X, matrix = (
        np.array(data.draw(st.lists(NUMBERS, min_size=a * b, max_size=a * b)), np.float64).reshape(a, b)
        for a, b in ((rows, width), (width, k))
    )
    found = plugin.rows_times(X, matrix)
    assert found.shape == (rows, k) and found.dtype == np.float64
    np.testing.assert_allclose(found, np.array(plain(X, matrix)).reshape(rows, k), rtol=1e-13, atol=1e-9)
    sparse = make(X, [0] * rows, sparse=True)
    for same in (plugin.rows_times(sparse.csr, matrix), plugin.rows_times(sparse.X, matrix)):
        assert same.tobytes() == found.tobytes()


@pytest.mark.parametrize("width", [1, 50, 700])
@pytest.mark.parametrize("k", [1, 8, 33])
def test_a_row_has_the_same_bits_in_blocks_of_any_size(width, k, monkeypatch):
    random = np.random.default_rng(width + k)
    X = random.normal(size=(60, width)) * 10.0 ** random.integers(-6, 6, size=(60, width))
    X[random.random(X.shape) < 0.3] = 0
    matrix = random.normal(size=(width, k))
    whole = plugin.rows_times(X, matrix)
    for size in (1, 7, 60):
        parts = [plugin.rows_times(X[first : first + size], matrix) for first in range(0, 60, size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    order = random.permutation(60)
    assert plugin.rows_times(X[order], matrix).tobytes() == whole[order].tobytes()
    monkeypatch.setattr(products, "_AT_ONCE", 5 * width)
    assert plugin.rows_times(X, matrix).tobytes() == whole.tobytes()
