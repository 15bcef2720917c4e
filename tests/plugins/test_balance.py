"""`balance`: classes of equal weight or size."""

import numpy as np
import pytest
from agreement import DATA, SAMPLES, make
from cases import fit
from hypothesis import given
from hypothesis import strategies as st
from weka import weka_filter

import filterkit
from filterkit import StageError, UsageError, testing


def run(batch, chain):
    return fit(chain, batch)[1]


def numbered(classes, weights=None):
    return make(np.arange(len(classes))[:, None], classes, "abcd", weights=weights)


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=40), st.booleans())
def test_classes_get_the_same_weight(classes, weighted):
    weights = np.random.default_rng(0).random(len(classes)) + 0.1 if weighted else np.ones(len(classes))
    out = run(numbered(classes, weights), "balance")
    found = [out.weights[np.array(classes) == c].sum() for c in set(classes) - {-1}]
    if found:
        np.testing.assert_allclose(found, found[0])
    np.testing.assert_allclose(out.weights.sum(), weights.sum())
    np.testing.assert_array_equal(out.weights[np.array(classes) < 0], weights[np.array(classes) < 0])


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=40), st.sampled_from([0, 1, 1.5, 3]), st.integers(0, 5))
def test_no_class_has_too_many_rows(classes, spread, seed):
    out = run(numbered(classes), f"balance --by drop --spread {spread} --seed {seed}")
    counts = {c: classes.count(c) for c in set(classes) - {-1}}
    limit = int(spread * min(counts.values(), default=0)) if spread else len(classes)
    assert {c: out.y.tolist().count(c) for c in counts} == {c: min(n, limit) for c, n in counts.items()}
    assert out.y.tolist().count(-1) == classes.count(-1)
    assert (np.diff(out.X.ravel()) > 0).all()


def test_a_class_has_at_most_so_many_rows():
    out = run(numbered([0] * 5 + [1] * 3 + [-1]), "balance --by drop --spread 0 --max-count 4")
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


def test_a_spread_that_no_classes_have_keeps_all_rows():
    batch = make([[1], [1], [1], [5]], [0, 0, 0, 1])
    assert len(filterkit.chain("balance --by drop --spread 1e308").fit_transform(batch)[1]) == 4


def test_mistakes_are_reported():
    with pytest.raises(UsageError, match=r"balance: --spread must be 0 or at least 1, not 0\.5"):
        filterkit.chain("balance --spread 0.5")
    with pytest.raises(UsageError, match="balance: --spread must be a finite number, not inf"):
        filterkit.chain("balance --spread inf")
    with pytest.raises(StageError, match="balance: there is no class attribute"):
        filterkit.chain("balance").fit(testing.sample("no-class"))


PATHS = [DATA / "uci/glass.arff", DATA / "weka/labor.arff", SAMPLES / "breast-cancer.arff"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
@pytest.mark.parametrize("spread", ["1", "1.5"])
def test_as_many_rows_stay_as_in_weka(path, spread, weka36):
    if not path.exists():
        pytest.skip(f"needs {path}")
    _, rows = weka_filter(weka36, "supervised.instance.SpreadSubsample", ["-M", spread, "-c", "last"], path)
    out = run(filterkit.read(str(path), class_="last"), f"balance --by drop --spread {spread}")
    theirs = sorted(row.split(",")[-1].strip("'") for row in rows)
    assert sorted(out.labels().tolist()) == theirs


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_weights_are_those_of_weka(path, weka39):
    if not path.exists():
        pytest.skip(f"needs {path}")
    _, rows = weka_filter(weka39, "supervised.instance.ClassBalancer", ["-c", "last"], path)
    out = run(filterkit.read(str(path), class_="last"), "balance")
    theirs = [float(row.rpartition("{")[2].rstrip("}")) if row.endswith("}") else 1.0 for row in rows]
    declared = len(out.schema.class_attribute.values)
    ratio = len(set(out.y.tolist())) / declared  # Weka gives classes without rows their share, which nobody has
    np.testing.assert_allclose(out.weights * ratio, theirs, atol=1e-6)
