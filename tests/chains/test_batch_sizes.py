"""Rows divided into batches that depend on nothing but the rows."""

import pytest
from agreement import sample

from filterkit.chains.batch_sizes import resize_batches
from filterkit.data.batch import concatenate, same


def cut(batch, bounds):
    return [batch.rows(first, stop) for first, stop in zip([0, *bounds], [*bounds, len(batch)], strict=True)]


@pytest.mark.parametrize(("size", "batches"), [(1, 50), (1 << 20, 1)])
def test_the_division_does_not_depend_on_the_one_before(sparse, size, batches):
    batch = sample("iris").rows(0, 50).in_form(sparse)
    lengths = set()
    for bounds in ([], [1], [3, 3, 10], range(1, 50)):
        found = list(resize_batches(cut(batch, bounds), batch.schema, size))
        lengths.add(tuple(map(len, found)))
        assert same(concatenate(found, batch.schema), batch)
    (length,) = lengths
    assert all(length) and len(length) == batches


def test_no_rows_are_no_batch():
    batch = sample("iris")
    assert list(resize_batches([batch.rows(0, 0)], batch.schema, 100)) == []
