"""Rows divided into batches that depend on nothing but the rows."""

import numpy as np
import pytest

import filterkit
from filterkit.chains.batch_sizes import resize_batches
from filterkit.data.batch import concatenate

SAMPLES = ["iris", "mixed-sparse"]


def cut(batch, bounds):
    return [batch.rows(first, stop) for first, stop in zip([0, *bounds], [*bounds, len(batch)], strict=True)]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("size", [1, 300, 1000, 1 << 20])
def test_the_division_does_not_depend_on_the_one_before(name, size):
    batch = filterkit.read(f"arff_samples/{name}.arff")
    several = [
        list(resize_batches(cut(batch, bounds), batch.schema, size))
        for bounds in ([], [1], [3, 3, 10], range(1, len(batch)))
    ]
    for found in several:
        assert [len(each) for each in found] == [len(each) for each in several[0]]
        whole = concatenate(found, batch.schema)
        assert np.array_equal(
            whole.csr.toarray() if whole.sparse else whole.X,
            batch.csr.toarray() if batch.sparse else batch.X,
            equal_nan=True,
        )
    assert all(len(each) for each in several[0])
    assert len(several[0]) == (1 if size > 1 << 19 else len(batch) if size == 1 else len(several[0]))


def test_no_rows_are_no_batch():
    batch = filterkit.read("arff_samples/iris.arff")
    assert list(resize_batches([batch.rows(0, 0)], batch.schema, 100)) == []
