"""`svm --threshold f1`: the threshold is tuned on held-out training rows, against scikit-learn and a plain loop."""

import numpy as np
import pytest
from agreement import make, make_labels, sample, transformed
from counted import rows_in_memory
from filterkit_plugins.svm.threshold import find_threshold_of_best_f1
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import PredefinedSplit
from sklearn.svm import SVC

import filterkit
from filterkit.chains.crossfit import draw_folds, read_strata_for_folds


def shift(text, batch):
    """By how much `--threshold f1` moves the scores of each task down."""
    moved, plain = (filterkit.chain(each).fit(batch).stages[-1].model for each in (f"{text} --threshold f1", text))
    assert (moved.coefficients == plain.coefficients).all() and moved.threshold == plain.threshold == 0
    return plain.intercepts - moved.intercepts


def test_scores_that_are_equal_but_for_rounding_are_not_told_apart():
    scores = np.array([-1, 0.1 + 0.2 - 2, 0.3 - 2, -3])
    assert find_threshold_of_best_f1(scores, np.array([True, False] * 2), np.ones(4)) == pytest.approx(-2.35)


def by_loop(scores, positive, weights):
    """The F1 of each threshold; no code is shared."""
    values = np.unique(scores)
    found = {}
    for threshold in [0.0, values[0] - 1, *((values[:-1] + values[1:]) / 2)]:
        hit = weights[(scores > threshold) & positive].sum()
        found[threshold] = 2 * hit / (weights[scores > threshold].sum() + weights[positive].sum() or 1)
    return found


@given(
    st.lists(st.tuples(st.integers(-6, 6), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=15),
    st.booleans(),
)
def test_no_threshold_is_better(rows, weighted):
    scores, positive, weights = (np.array(each) for each in zip(*rows))
    weights = weights if weighted else np.ones(len(scores))
    found = find_threshold_of_best_f1(scores / 2, positive, weights)
    tried = by_loop(scores / 2, positive, weights)
    best = max(tried.values())
    assert tried[found] == pytest.approx(best, rel=1e-12)
    assert abs(found) == min(abs(t) for t, f1 in tried.items() if f1 > best - 1e-9)


def real(name):
    """Real rows in a scale that an SVM takes; text rows are few, so that positive ones are rare."""
    batch = sample(name, positive="food" if name == "fortunes" else "malignant")
    batch = batch.take(np.random.default_rng(3).permutation(len(batch))[:300])
    return transformed("l2" if batch.sparse else "standardize", batch)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["breast-cancer", "fortunes"])
def test_the_threshold_is_that_of_a_plain_loop_over_held_out_scores(name, weighted):
    batch = real(name)
    truth = batch.labels() == batch.schema.positive
    weights = 1.0 + np.arange(len(batch)) % (3 if weighted else 1)
    split = PredefinedSplit(draw_folds(read_strata_for_folds(rows_in_memory([batch])), 5, 1))
    scores = np.empty(len(batch))
    for train, test in split.split():
        peer = SVC(kernel="linear", C=0.1).fit(batch.X[train], truth[train], weights[train])
        scores[test] = peer.decision_function(batch.X[test])
    (found,) = shift("svm --c 0.1 --seed 1", batch.replace(weights=weights))
    tried = by_loop(scores, truth, weights)
    best = max(tried.values())
    reached = by_loop(scores - found, truth, weights)[0.0]
    assert found and reached == pytest.approx(best, abs=5e-3)  # libsvm stops at 1e-3
    if reached > best - 1e-9:
        assert found == pytest.approx(min((t for t, f1 in tried.items() if f1 > best - 1e-9), key=abs), abs=0.02)


def test_the_c_is_chosen_first_by_the_criterion():
    text, batch = "svm --c 0.1,1,10 --criterion f1", real("fortunes")
    (cost,) = filterkit.chain(text).fit(batch).stages[0].model.chosen["C"]
    assert cost > 0.1 and shift(text, batch) == shift(f"svm --c {cost}", batch)


def test_earlier_stages_are_fitted_without_the_held_out_rows():
    """Shaped noise looks perfect to whoever has seen its rows, and the threshold would stay where it is."""
    rng = np.random.default_rng(0)
    batch = make(rng.normal(size=(90, 12)), rng.random(90) < 0.25)
    (found,) = shift("shape --neighbors 1 svm", batch)
    (seen,) = shift("svm", transformed("shape --neighbors 1", batch))
    assert found < -0.1 and found != pytest.approx(seen, abs=0.1)


def test_each_label_has_its_threshold():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 4))
    first, second = shift("svm --c 0.05", make_labels(X, X[:, :2] + rng.normal(size=(80, 2)) > [0.3, 1.2]))
    assert second < -0.1 and first != second
