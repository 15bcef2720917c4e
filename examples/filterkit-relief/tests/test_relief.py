"""Relief: scores by hand, what it is for, and the conformance kit of filterkit."""

import numpy as np
import pytest
from filterkit_relief import Relief, scores

import filterkit
from filterkit.testing import SAMPLES, check_declaration, check_stage, sample


def test_by_hand():
    # Rows 0 and 1 are of one class, 2 and 3 of the other; the first column tells them apart, the second does not.
    X = np.array([[0, 0], [1, 4], [9, 0], [10, 4]], float)
    y = np.array([0, 0, 1, 1])
    # The hit of each row differs by 1/10 and 4/4; the nearest miss by 9/10 and 0 (rows 0 and 2, 1 and 3).
    assert scores(X, y, np.array([False, False])).tolist() == pytest.approx([0.9 - 0.1, 0 - 1])


def test_features_that_matter_only_together():
    """Exclusive or: each column alone says nothing, which any metric of single columns would say."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 6)).astype(float)
    y = (X[:, 1] != X[:, 4]).astype(np.int32)
    found = scores(X, y, np.zeros(6, bool))
    assert set(np.argsort(found)[-2:]) == {1, 4}


def test_in_a_chain():
    data = sample("sparse-two-classes")
    out = filterkit.Chain([Relief(), *filterkit.chain("select --top 2").stages]).fit(data).transform(data)
    assert len(out.schema.features) == 2 and out.sparse


def test_declaration():
    check_declaration(Relief())


@pytest.mark.parametrize("name", SAMPLES)
def test_conformance(name):
    refusal = check_stage(Relief(), sample(name))
    if refusal:
        pytest.skip(str(refusal))
