"""Ragged: rows of different lengths, which are all searched at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from filterkit.plugin import Ragged


def ragged(rows):
    return Ragged(np.cumsum([0] + [len(row) for row in rows]), np.array([v for row in rows for v in row], float))


COUNTS = st.integers(0, 12).map(float)
WHOLE = st.integers(-3, 9).map(float)
NUMBERS = st.floats(-5, 5) | WHOLE
ROWS = st.lists(st.lists(NUMBERS, max_size=5, unique=True).map(sorted), min_size=1, max_size=5)


@given(ROWS, st.data())
def test_search_equals_searchsorted_in_each_row(rows, data):
    """Where all values are counts, they are looked up; whole numbers below 0 are none."""
    kind = data.draw(st.sampled_from([NUMBERS, WHOLE, COUNTS]))
    asked = data.draw(st.lists(st.tuples(st.integers(0, len(rows) - 1), kind), max_size=12))
    starts = np.cumsum([0] + [len(row) for row in rows])
    expected = [starts[i] + np.searchsorted(rows[i], value) for i, value in asked]
    at, values = np.array([i for i, _ in asked], np.int64), np.array([value for _, value in asked], float)
    assert ragged(rows).search(at, values).tolist() == expected


@given(ROWS, ROWS)
def test_concatenate_gives_all_rows_in_order(some, others):
    found, expected = Ragged.concatenate([ragged(some), ragged(others)]), ragged(some + others)
    assert found.indptr.tolist() == expected.indptr.tolist()
    assert found.values.tolist() == expected.values.tolist()
