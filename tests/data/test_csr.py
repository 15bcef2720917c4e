"""Csr: it computes the same as scipy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from filterkit.plugin import Csr


def csr_of(dense):
    row, column = np.nonzero(dense)
    indptr = np.searchsorted(row, np.arange(len(dense) + 1)).astype(np.int32)
    return Csr(dense[row, column], column.astype(np.int32), indptr, dense.shape[1])


@st.composite
def matrices(draw):
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(0, 4))
    cells = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.5]), min_size=rows * columns, max_size=rows * columns))
    return np.array(cells, float).reshape(rows, columns)


@given(matrices(), st.data())
def test_rows_taken_in_any_way_equal_those_of_a_dense_matrix(dense, data):
    matrix = csr_of(dense)
    assert matrix.shape == dense.shape
    assert np.array_equal(matrix.toarray(), dense)
    assert np.array_equal(matrix.matrix().toarray(), dense)
    assert matrix.row_of_entry.tolist() == np.nonzero(dense)[0].tolist()
    first = data.draw(st.integers(0, len(dense)))
    stop = data.draw(st.integers(first, len(dense)))
    part = matrix.rows(first, stop)
    assert np.array_equal(part.toarray(), dense[first:stop])
    assert part.indptr[0] == 0
    changed = matrix._replace(data=np.where(matrix.data > 0, 0.0, matrix.data))  # which stores zeros
    kept = changed.without_zeros()
    assert kept.data.all() and np.array_equal(kept.toarray(), changed.toarray()) and kept.indices.dtype == np.int32
    assert kept is not changed or changed.data.all()
    chosen = np.array(data.draw(st.lists(st.integers(0, max(len(dense) - 1, 0)), max_size=4 * len(dense))), np.int64)
    assert np.array_equal(matrix.take(chosen).toarray(), dense[chosen])
    whole = Csr.stack([matrix.rows(0, first), part, matrix.rows(stop, len(dense))])
    assert np.array_equal(whole.toarray(), dense)
    for each in (part, matrix.take(chosen), whole):
        assert (each.indices.dtype, each.indptr.dtype) == (np.int32, np.int32)


def test_the_scipy_matrix_shares_the_arrays_and_is_marked_as_sorted():
    data, indices, indptr = np.array([1.0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([0, 2, 2, 3], np.int32)
    matrix = Csr(data, indices, indptr, 4).matrix()
    assert matrix.toarray().tolist() == [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]]
    assert np.shares_memory(matrix.data, data)
    assert np.shares_memory(matrix.indices, indices)
    assert matrix.has_canonical_format
    back = Csr.of(matrix)
    assert back.columns == 4
    assert back.data is matrix.data
