"""`noise`: labels changed at random."""

import numpy as np
import pytest
from agreement import make

import filterkit
from filterkit import StageError, testing


def run(batch, chain, **options):
    fitted, out = filterkit.chain(chain).fit_transform(batch, **options)
    data = batch if isinstance(batch, filterkit.Batch) else batch[0]
    assert testing.same(fitted.transform(data), data), "rows that come later stay as they are"
    return out


def rows(count):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 26, (count, 2)).astype(float)
    return make(X, rng.integers(-1, 3, count), "abc", nominal=[1])


def test_the_share_of_labels_that_change():
    batch = rows(20_000)
    for share in (0, 0.1, 0.5, 1):
        out = run(batch, f"noise --share {share}")
        known = batch.y >= 0
        assert (out.y[~known] == -1).all()
        assert abs((out.y != batch.y)[known].mean() - share) < 0.02
        np.testing.assert_array_equal(out.X, batch.X)
    moved = (out.y - batch.y)[known] % 3  # each other label is as likely
    assert set(moved.tolist()) == {1, 2} and abs((moved == 1).mean() - 0.5) < 0.02


def test_attributes_are_chosen():
    batch = rows(1000)
    out = run(batch, "noise --only a1 --share 0.5")
    np.testing.assert_array_equal(out.y, batch.y)
    assert 0.4 < (out.X[:, 1] != batch.X[:, 1]).mean() < 0.6
    np.testing.assert_array_equal(out.X[:, 0], batch.X[:, 0])


def test_blocks_jobs_and_memory_do_not_matter():
    batch = rows(500)
    whole = run(batch, "noise --seed 3 --only @nominal")
    parts = [batch.rows(i, min(i + 7, 500)) for i in range(0, 500, 7)]
    for options in ({}, {"jobs": 2}, {"memory": 1000}):
        assert testing.same(run(parts, "noise --seed 3 --only @nominal", **options), whole)
    assert not testing.same(run(batch, "noise --seed 4 --only @nominal"), whole)


def test_a_class_is_needed_unless_attributes_are_chosen():
    with pytest.raises(StageError, match="noise: there is no nominal class to change"):
        filterkit.chain("noise").fit_transform(testing.sample("no-class"))
