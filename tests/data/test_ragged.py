"""Ragged: rows of different lengths, which are all searched at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from filterkit.data.ragged import begins_run, row_starts, sort_key
from filterkit.plugin import Ragged


def ragged(rows):
    return Ragged(np.cumsum([0] + [len(row) for row in rows]), np.array([v for row in rows for v in row], float))


def searched(rows, at, values):
    """The expected result of `search`, from numpy.searchsorted row by row."""
    starts = np.cumsum([0] + [len(row) for row in rows])
    return [starts[i] + np.searchsorted(rows[i], v) for i, v in zip(at, values, strict=True)]


@st.composite
def rows_and_questions(draw, known, asked):
    rows = draw(st.lists(st.lists(known, max_size=5, unique=True).map(sorted), min_size=1, max_size=5))
    questions = draw(st.lists(st.tuples(st.integers(0, len(rows) - 1), asked), max_size=12))
    at = np.array([i for i, _ in questions], np.int64)
    return rows, at, np.array([v for _, v in questions], float)


NUMBERS = st.floats(-5, 5) | st.integers(-3, 9).map(float)
COUNTS = st.integers(0, 12).map(float)


@given(rows_and_questions(NUMBERS, NUMBERS))
def test_search_equals_searchsorted_in_each_row(case):
    rows, at, values = case
    assert ragged(rows).search(at, values).tolist() == searched(rows, at, values)


@given(rows_and_questions(NUMBERS, COUNTS))
def test_search_finds_counts_by_look_up_as_by_keys(case):
    rows, at, values = case
    assert ragged(rows).search(at, values).tolist() == searched(rows, at, values)
    # One value that is not a count prevents the look-up.
    at, values = np.append(at, 0), np.append(values, 0.5)
    assert ragged(rows).search(at, values).tolist() == searched(rows, at, values)


def test_search_handles_no_values_and_empty_rows():
    none = np.empty(0, np.int64)
    assert ragged([[1, 2]]).search(none, np.empty(0)).tolist() == []
    assert ragged([[], []]).search(np.array([0, 1]), np.array([3.0, 0.5])).tolist() == [0, 0]


@given(st.lists(st.lists(st.lists(COUNTS, max_size=3), max_size=3), min_size=1, max_size=4))
def test_concatenate_gives_all_rows_in_order(parts):
    got = Ragged.concatenate([ragged(rows) for rows in parts])
    expected = ragged([row for rows in parts for row in rows])
    assert got.indptr.tolist() == expected.indptr.tolist()
    assert got.values.tolist() == expected.values.tolist()


def test_sort_key_orders_by_row_and_then_by_value():
    key = sort_key(np.array([1, 0, 1, 0]), np.array([-5.0, 2, -7, 1e300]))
    assert np.argsort(key).tolist() == [1, 3, 2, 0]


def test_runs_begin_where_a_number_differs_from_the_one_before():
    assert begins_run(np.array([3, 3, 1, 1, 1, 3])).tolist() == [True, False, True, False, False, True]
    assert begins_run(np.array([7.5])).tolist() == [True]
    assert begins_run(np.empty(0)).tolist() == []


@given(st.lists(st.integers(0, 5)))
def test_starts_are_the_bounds_of_rows(rows):
    expected = [sum(row < i for row in rows) for i in range(7)]
    assert row_starts(np.array(sorted(rows), np.int64), 6).tolist() == expected
