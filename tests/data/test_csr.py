"""Csr: it computes the same as scipy and numpy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from filterkit.plugin import Csr


@settings(max_examples=40)
@given(st.data(), st.integers(0, 5), st.integers(0, 4))
def test_parts_equal_those_of_a_dense_matrix(data, height, width):
    cells = data.draw(st.lists(st.sampled_from([0, 0, 1, -2.5]), min_size=height * width, max_size=height * width))
    dense = np.array(cells, float).reshape(height, width)
    matrix = Csr.of(csr_array(dense))
    first, stop = sorted([data.draw(st.integers(0, height)), data.draw(st.integers(0, height))])
    chosen = np.array(data.draw(st.lists(st.integers(0, height - 1))) if height else [], np.int64)
    part = matrix.rows(first, stop)
    for found, expected in (
        (matrix, dense),
        (part, dense[first:stop]),
        (matrix.take(chosen), dense[chosen]),
        (Csr.stack([matrix.rows(0, first), part, matrix.rows(stop, height)]), dense),
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
