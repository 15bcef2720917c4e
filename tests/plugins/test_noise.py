"""`noise`: labels changed at random."""

import numpy as np
import pytest
from agreement import make
from cases import training_rows

from filterkit import testing


def labelled(count):
    rng = np.random.default_rng(0)
    return make(rng.integers(0, 26, (count, 2)), rng.integers(-1, 3, count), "abc", nominal=[1])


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_the_share_of_labels_that_change(share):
    batch = labelled(900)
    out = training_rows(f"noise --share {share}", batch)
    known = batch.y >= 0
    assert (out.y[~known] == -1).all()
    assert abs((out.y != batch.y)[known].mean() - share) <= 0.05 * (0 < share < 1)
    np.testing.assert_array_equal(out.X, batch.X)
    if share == 1:
        moved = (out.y - batch.y)[known] % 3  # each other label is as likely
        assert set(moved.tolist()) == {1, 2} and abs((moved == 1).mean() - 0.5) < 0.09


def test_attributes_are_chosen():
    batch = labelled(300)
    out = training_rows("noise --only a1 --share 0.5 --seed 3", batch)
    np.testing.assert_array_equal(out.y, batch.y)
    assert 0.35 < (out.X[:, 1] != batch.X[:, 1]).mean() < 0.65
    np.testing.assert_array_equal(out.X[:, 0], batch.X[:, 0])
    assert not testing.same(training_rows("noise --only a1 --share 0.5 --seed 4", batch), out)
