"""Csr: it computes the same as scipy and numpy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from filterkit.plugin import Csr


@pytest.mark.parametrize("shape", [(9, 4), (9, 0), (3, 50)])
def test_parts_equal_those_of_a_dense_matrix(shape):
    random = np.random.default_rng(0)
    dense = random.choice([0, 0, 0, 1, -2.5], shape)
    matrix, chosen = Csr.of(csr_array(dense)), random.integers(0, shape[0], 5)
    for found, expected in (
        (matrix, dense),
        (matrix.rows(1, 3), dense[1:3]),
        (matrix.rows(2, 2), dense[2:2]),
        (matrix.take(chosen), dense[chosen]),
        (Csr.vstack([matrix.rows(0, 2), matrix.rows(2, 2), matrix.rows(2, len(dense))]), dense),
        (matrix._replace(data=np.maximum(matrix.data, 0)).without_zeros(), np.maximum(dense, 0)),
    ):
        assert np.array_equal(found.toarray(), expected) and np.array_equal(found.matrix().toarray(), expected)
        assert found.row_of_entry.tolist() == np.nonzero(expected)[0].tolist()
        assert (found.shape, found.indptr[0]) == (expected.shape, 0)
        assert found.indices.dtype == found.indptr.dtype == np.int32


def test_the_scipy_matrix_shares_the_arrays_and_is_marked_as_sorted():
    csr = Csr(np.array([1.0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([0, 2, 2, 3], np.int32), 4)
    matrix = csr.matrix()
    assert np.shares_memory(matrix.data, csr.data) and np.shares_memory(matrix.indices, csr.indices)
    assert matrix.has_canonical_format and Csr.of(matrix).data is matrix.data


def test_the_arrays_of_a_scipy_matrix_stay_as_they_are():
    matrix = csr_array((np.array([1.0, 0.0, 2.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), (2, 3))
    before = [array.copy() for array in (matrix.data, matrix.indices, matrix.indptr)]
    assert Csr.from_scipy(matrix).toarray().tolist() == [[0, 0, 1], [0, 2, 0]]
    for one, other in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        np.testing.assert_array_equal(one, other)
