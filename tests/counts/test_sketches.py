"""Sketches: exact numbers of few distinct values, good estimates of many, and equal prints of equal columns alone."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from filterkit.counts.cells import find_entries
from filterkit.counts.sketches import (
    MOST_HASHES,
    DistinctSketch,
    fingerprint_columns,
    hash_numbers,
    hash_texts,
    merge_fingerprints,
)
from filterkit.data.batch import Batch
from filterkit.data.schema import Attribute, Schema


def counted(columns):
    column = np.repeat(np.arange(len(columns)), [len(values) for values in columns])
    return DistinctSketch.of(column, hash_numbers(np.concatenate([np.zeros(0), *columns])), len(columns))


@given(st.lists(st.lists(st.sampled_from([1.0, -1.0, 2.5, 1e300, 5e-324, 7.0]), max_size=30), min_size=1, max_size=4))
def test_few_distinct_values_are_counted_exactly(columns):
    assert counted(columns).counts.tolist() == [len(set(values)) for values in columns]


@pytest.mark.parametrize("count", [MOST_HASHES - 1, MOST_HASHES, 20_000])
def test_many_distinct_values_are_estimated(count):
    values = np.random.default_rng(count).permutation(np.repeat(np.arange(count) * 0.37 + 1, 2))
    found = int(counted([values, values[:1]]).counts[0])
    assert found == count if count < MOST_HASHES else abs(found - count) < 0.15 * count


def test_an_estimate_by_hand():
    hashes = np.append(np.arange(1023, dtype=np.uint64), np.uint64(2**63 - 1))
    # The largest of the least 1,024 hashes is the half of the range: 1,023 / (1 / 2).
    later = np.array([2**63 + 5], np.uint64)
    column = np.zeros(1025, np.int64)
    assert DistinctSketch.of(column, np.append(hashes, later), 1).counts.tolist() == [2046]
    assert DistinctSketch.of(column[:1023], hashes[:1023], 1).counts.tolist() == [1023]


def test_a_sketch_does_not_depend_on_the_order_of_rows_or_batches():
    values = np.random.default_rng(0).normal(size=4_000)
    whole = counted([values, values[:10]])
    parts = [counted([part, values[:10]]) for part in np.array_split(values[::-1], 7)]
    for merged in (
        DistinctSketch.merge(parts),
        DistinctSketch.merge([DistinctSketch.merge(parts[4:]), DistinctSketch.merge(parts[:4])]),
    ):
        assert merged.hashes.tolist() == whole.hashes.tolist()
        assert merged.starts.tolist() == whole.starts.tolist()


def test_zeros_of_both_signs_and_all_missing_values_have_one_hash():
    assert len(set(hash_numbers(np.array([0.0, -0.0])).tolist())) == 1
    assert len(set(hash_numbers(np.array([np.nan, -np.nan])).tolist())) == 1


@settings(max_examples=30)
@given(st.lists(st.text(max_size=8), max_size=40), st.integers(0, 5))
def test_equal_texts_have_equal_hashes_and_others_do_not(texts, skip):
    hashes = hash_texts(pa.array(texts, pa.string()).slice(skip)).tolist()
    assert len(hashes) == len(texts[skip:])
    assert len(set(hashes)) == len(set(texts[skip:]))
    assert hashes == hash_texts(pa.array(texts[skip:], pa.string())).tolist()


def prints(X, sparse=False):
    schema = Schema("r", [Attribute(f"a{i}") for i in range(X.shape[1])], sparse=sparse)
    batch = Batch(Schema("r", schema.attributes), X).in_form(sparse)
    return fingerprint_columns(*find_entries(batch, np.arange(X.shape[1])), X.shape[1])


@pytest.mark.parametrize("sparse", [False, True])
def test_equal_columns_have_equal_prints(sparse):
    X = np.random.default_rng(1).integers(0, 3, (50, 6)).astype(float)
    X[:, 4] = X[:, 1]
    X[:, 5] = X[::-1, 2]  # the same values in another order
    X[[3, 7], 3] = np.nan
    found = [tuple(each) for each in prints(X, sparse).tolist()]
    assert found == [tuple(each) for each in prints(X).tolist()]
    assert found[4] == found[1] and len(set(found)) == 5


def test_batches_with_the_same_rows_count_each_by_itself():
    one, two = np.array([[1.0, 2.0]]), np.array([[2.0, 1.0]])
    for batches in ([one, two], [one, one], [one, one, two, two]):
        first, second = merge_fingerprints([prints(batch) for batch in batches]).tolist()
        assert first != second  # also of the same values in another order
    assert len(set(map(tuple, merge_fingerprints([prints(one[:, [0, 0]]), prints(two[:, [1, 1]])]).tolist()))) == 1
