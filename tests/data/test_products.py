"""Products of rows with a matrix: right, and the same bits for a row whatever rows are beside it."""

import numpy as np
import pytest
from agreement import make

from filterkit import plugin
from filterkit.data import products


@pytest.mark.parametrize("width", [0, 1, 50, 700])
@pytest.mark.parametrize("k", [1, 33])
def test_a_row_has_the_same_bits_whatever_rows_are_beside_it(width, k, monkeypatch):
    random = np.random.default_rng(width + k)
    X = random.normal(size=(60, width)) * 10.0 ** random.integers(-6, 6, size=(60, width))
    X[random.random(X.shape) < 0.3] = 0
    matrix = random.normal(size=(width, k))
    whole = plugin.multiply_rows(X, matrix)
    np.testing.assert_allclose(whole, X @ matrix, rtol=1e-10)
    order, sparse = random.permutation(60), make(X, [0] * 60, sparse=True)
    parts = [plugin.multiply_rows(X[first : first + 7], matrix) for first in range(0, 60, 7)]
    monkeypatch.setattr(products, "_AT_ONCE", 5 * width)
    for same in (
        np.concatenate(parts),
        plugin.multiply_rows(X[order], matrix)[np.argsort(order)],
        plugin.multiply_rows(sparse.csr, matrix),
        plugin.multiply_rows(sparse.X, matrix),
    ):
        assert same.tobytes() == whole.tobytes()
