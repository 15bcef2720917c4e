"""`balance`: classes of equal weight or size."""

import numpy as np
import pytest
from agreement import make
from cases import fit, numbered
from hypothesis import given, settings
from hypothesis import strategies as st

import filterkit


def run(batch, chain):
    return fit(chain, batch)[1]


@settings(max_examples=15)
@given(st.lists(st.integers(-1, 3), min_size=1, max_size=40), st.booleans())
def test_classes_get_the_same_weight(classes, weighted):
    weights = np.random.default_rng(0).random(len(classes)) + 0.1 if weighted else np.ones(len(classes))
    out = run(numbered(classes, weights=weights), "balance")
    found = [out.weights[np.array(classes) == c].sum() for c in set(classes) - {-1}]
    if found:
        np.testing.assert_allclose(found, found[0])
    np.testing.assert_allclose(out.weights.sum(), weights.sum())
    np.testing.assert_array_equal(out.weights[np.array(classes) < 0], weights[np.array(classes) < 0])


@settings(max_examples=15)
@given(st.lists(st.integers(-1, 3), min_size=1, max_size=40), st.sampled_from([0, 1, 1.5, 3]), st.integers(0, 5))
def test_no_class_has_too_many_rows(classes, spread, seed):
    out = run(numbered(classes), f"balance --by drop --spread {spread} --seed {seed}")
    counts = {c: classes.count(c) for c in set(classes) - {-1}}
    limit = int(spread * min(counts.values(), default=0)) if spread else len(classes)
    assert {c: out.y.tolist().count(c) for c in counts} == {c: min(n, limit) for c, n in counts.items()}
    assert out.y.tolist().count(-1) == classes.count(-1)
    assert (np.diff(out.X.ravel()) > 0).all()


@pytest.mark.parametrize("options", ["--spread 0 --max-count 4", "--spread 1e308 --max-count 4"])
def test_a_class_has_at_most_so_many_rows(options):
    out = run(numbered([0] * 5 + [1] * 3 + [-1]), f"balance --by drop {options}")
    assert [out.y.tolist().count(c) for c in (0, 1, -1)] == [4, 3, 1]


def test_the_seed_decides_which_rows_stay():
    one, other = (
        run(numbered([0] * 50 + [1] * 5), f"balance --by drop --seed {seed}").X.ravel().tolist() for seed in (0, 1)
    )
    assert one != other


def test_stages_after_it_take_the_weights():
    batch = make([[1], [1], [1], [5]], [0, 0, 0, 1])
    fitted = filterkit.chain("balance standardize").fit(batch)
    np.testing.assert_allclose(fitted.stages[1].state["offset"], [3])
