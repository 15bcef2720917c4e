"""Sketches: exact numbers of few distinct values, good estimates of many, and equal prints of equal columns alone."""

import numpy as np
import pyarrow as pa
import pytest
from agreement import make
from hypothesis import given
from hypothesis import strategies as st

from filterkit.counts.cells import find_nonzero_entries
from filterkit.counts.sketches import (
    MOST_HASHES,
    DistinctSketch,
    fingerprint_columns,
    hash_numbers,
    hash_texts,
    merge_fingerprints,
)


def counted(columns):
    column = np.repeat(np.arange(len(columns)), [len(values) for values in columns])
    return DistinctSketch.of(column, hash_numbers(np.concatenate([np.zeros(0), *columns])), len(columns))


@pytest.mark.parametrize("count", [MOST_HASHES - 1, MOST_HASHES, 20_000])
def test_many_distinct_values_are_estimated(count):
    values = np.random.default_rng(count).permutation(np.repeat(np.arange(count) * 0.37 + 1, 2))
    *few, found = counted([values[:1], values[:1], values]).counts.tolist()
    assert few == [1, 1]
    assert found == count if count < MOST_HASHES else abs(found - count) < 0.15 * count


def test_an_estimate_by_hand():
    """The largest of the least 1,024 hashes is the half of the range: 1,023 / (1 / 2)."""
    hashes, column = np.array([*range(1023), 2**63 - 1, 2**63 + 5], np.uint64), np.zeros(1025, np.int64)
    assert DistinctSketch.of(column, hashes, 1).counts.tolist() == [2046]
    assert DistinctSketch.of(column[:1023], hashes[:1023], 1).counts.tolist() == [1023]


def test_a_sketch_does_not_depend_on_the_order_of_rows_or_batches():
    values, merge = np.random.default_rng(0).normal(size=4_000), DistinctSketch.merge
    parts = [counted([part, values[:10]]) for part in np.array_split(values[::-1], 7)]
    for merged in (merge(parts), merge([merge(parts[4:]), merge(parts[:4])])):
        for found, expected in zip(merged, counted([values, values[:10]])):
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("values", [[0.0, -0.0], [np.nan, -np.nan]])
def test_zeros_of_both_signs_and_all_missing_values_have_one_hash(values):
    one, other = hash_numbers(np.array(values)).tolist()
    assert one == other


@given(st.lists(st.text(max_size=8), max_size=40), st.integers(0, 5))
def test_equal_texts_have_equal_hashes_and_others_do_not(texts, skip):
    hashes = hash_texts(pa.array(texts, pa.string()).slice(skip)).tolist()
    texts = texts[skip:]
    assert hashes == hash_texts(pa.array(texts, pa.string())).tolist()
    assert len(hashes) == len(texts) and len(set(hashes)) == len(set(texts))


def prints(X, sparse=False):
    batch = make(X, [0] * len(X), sparse=sparse)
    columns = np.arange(batch.schema.width)
    return fingerprint_columns(*find_nonzero_entries(batch, columns), len(columns))


def test_equal_columns_have_equal_prints(sparse):
    X = np.random.default_rng(1).integers(0, 3, (50, 6)).astype(float)
    X[:, 4], X[:, 5] = X[:, 1], X[::-1, 2]  # the last has the same values in another order
    X[[3, 7], 3] = np.nan
    found = prints(X, sparse).tolist()
    assert found == prints(X).tolist()
    assert found[4] == found[1] and len(set(map(tuple, found))) == 5


@pytest.mark.parametrize(
    "batches",
    [
        [[1, 2], [2, 1]],
        [[1, 2], [1, 2]],
        [[1, 2], [1, 2], [2, 1], [2, 1]],  # the same values in another order
    ],
)
def test_batches_with_the_same_rows_count_each_by_itself(batches):
    first, second = merge_fingerprints([prints([row]) for row in batches]).tolist()
    assert first != second
