"""Stages that `--only` and `--except` confine to some columns."""

import numpy as np
import pytest
from agreement import dense, feature_names, make
from cases import fit

import filterkit

STAGES = [
    "standardize",
    "l2",
    "onehot",
    "bns",
    "shape --cross-fit 3",
    "bins --method width",
    "select --by ig --top 1",
    "tfidf",
]


@pytest.mark.parametrize("text", STAGES)
def test_chosen_columns_change_as_though_they_were_alone(text, sparse):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (40, 5)).astype(float)
    batch = make(X, rng.integers(0, 2, 40), sparse=sparse)
    _, out = fit(f"{text} --only a1 --only 4", batch)
    alone = filterkit.chain(f"remove --range 1,3,5 {text}").fit_transform(batch)[1]
    names = feature_names(out)
    stay = [names.index(name) for name in ("a0", "a2", "a4")]
    np.testing.assert_array_equal(dense(out)[:, stay], X[:, [0, 2, 4]])
    others = [j for j in range(len(names)) if j not in stay]
    np.testing.assert_array_equal(dense(out)[:, others], dense(alone))
    assert [names[j] for j in others] == feature_names(alone)
    assert out.sparse == (sparse and alone.sparse)
    assert names[0] == "a0" and names[-1] == "a4"  # columns that come out stand where those that went in stood
