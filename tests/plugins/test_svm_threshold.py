"""`svm --threshold f1`: the threshold is tuned on held-out training rows, against scikit-learn and a plain loop."""

import numpy as np
import pytest
from agreement import make, sample
from cases import fit
from counted import rows_in_memory
from filterkit_plugins.svm.threshold import find_threshold
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from sklearn.model_selection import PredefinedSplit
from sklearn.svm import SVC

import filterkit
from filterkit import Attribute, Batch, Schema, StageError
from filterkit.chains.crossfit import draw_folds, read_classes


def model(text, batch):
    return filterkit.chain(text).fit(batch).stages[-1].model


def shift(text, batch):
    """By how much `--threshold f1` moves the scores of each task down."""
    moved, plain = model(f"{text} --threshold f1", batch), model(text, batch)
    assert (moved.coefficients == plain.coefficients).all() and moved.threshold == plain.threshold == 0
    return plain.intercepts - moved.intercepts


# ---- the threshold ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "positive", "threshold"),
    [
        ([3, 1, -1, -3], [1, 1, 0, 0], 0),  # between the classes, where 0 is
        ([-1, -2, -3, -4], [1, 0, 1, 0], -3.5),  # F1 is 2/3 with one positive found, 4/5 with both
        ([1, -1, -2], [0, 0, 1], -3),  # all are predicted positive: the lowest less 1
        ([1, 2, 3], [0, 0, 0], 0),
        ([-1, -1, -1], [1, 0, 0], -2),
        ([4, 3, 2, 1], [1, 0, 0, 1], 0),  # both alone or all: F1 is 2/3, and 0 is nearer
        ([0, -1], [1, 0], -0.5),  # a score of 0 is not above 0
        ([-1, 0.1 + 0.2 - 2, 0.3 - 2, -3], [1, 0, 1, 0], -2.35),  # equal but for rounding: not told apart
    ],
)
def test_thresholds_worked_by_hand(scores, positive, threshold):
    assert find_threshold(np.array(scores, float), np.array(positive, bool)) == pytest.approx(threshold)


def by_loop(scores, positive, weights):
    """The F1 of each threshold; no code is shared."""
    weights = np.ones(len(scores)) if weights is None else weights
    values = np.unique(scores)
    found = {}
    for threshold in [0.0, values[0] - 1, *((values[:-1] + values[1:]) / 2)]:
        hit = weights[(scores > threshold) & positive].sum()
        found[threshold] = 2 * hit / (weights[scores > threshold].sum() + weights[positive].sum() or 1)
    return found


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(-6, 6), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=15),
    st.booleans(),
)
def test_no_threshold_is_better(rows, weighted):
    scores, positive, weights = (np.array(each) for each in zip(*rows))
    scores = scores / 2
    weights = weights if weighted else None
    found = find_threshold(scores, positive, weights)
    tried = by_loop(scores, positive, weights)
    best = max(tried.values())
    assert f1_score(positive, scores > found, sample_weight=weights, zero_division=0) == pytest.approx(best, rel=1e-12)
    assert abs(found) == min(abs(t) for t, f1 in tried.items() if f1 > best - 1e-9)


# ---- the learner --------------------------------------------------------------------------------------


SETS = [("breast-cancer", None), ("fortunes", "food")]


def data(name, positive):
    """Real rows in a scale that an SVM takes; text rows are few, so that positive ones are rare."""
    batch = sample(name, positive=positive)
    batch = batch.take(np.random.default_rng(3).permutation(len(batch))[:300])
    return filterkit.chain("l2" if batch.sparse else "standardize").fit(batch).transform(batch)


def positives(batch):
    target = batch.schema.class_attribute
    name = batch.schema.positive or target.values[int(np.bincount(batch.y).argmin())]
    return batch.y == target.values.index(name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "positive"), SETS)
def test_the_threshold_is_that_of_a_plain_loop_over_held_out_scores(name, positive, weighted):
    batch = data(name, positive)
    truth, weights = positives(batch), 1.0 + np.arange(len(batch)) % (3 if weighted else 1)
    split = PredefinedSplit(draw_folds(read_classes(rows_in_memory([batch])), 5, 1))
    scores = np.empty(len(batch))
    for train, test in split.split():
        peer = SVC(kernel="linear", C=0.1).fit(batch.X[train], truth[train], weights[train])
        scores[test] = peer.decision_function(batch.X[test])
    (found,) = shift("svm --c 0.1 --seed 1", batch.replace(weights=weights))
    tried = by_loop(scores, truth, weights)
    best = max(tried.values())
    reached = f1_score(truth, scores > found, sample_weight=weights)
    assert found and reached == pytest.approx(best, abs=5e-3)  # libsvm stops at 1e-3
    if reached > best - 1e-9:
        assert found == pytest.approx(min((t for t, f1 in tried.items() if f1 > best - 1e-9), key=abs), abs=0.02)


def test_earlier_stages_are_fitted_without_the_held_out_rows():
    """Shaped noise looks perfect to whoever has seen its rows, and the threshold would stay where it is."""
    rng = np.random.default_rng(0)
    batch = make(rng.normal(size=(90, 12)), rng.random(90) < 0.25)
    (found,) = shift("shape --neighbors 1 svm", batch)
    shaped = filterkit.chain("shape --neighbors 1").fit(batch).transform(batch)
    (seen,) = shift("svm", shaped)
    assert found < -0.1 and found != pytest.approx(seen, abs=0.1)


def test_the_c_is_chosen_first_by_the_criterion():
    batch = data("fortunes", "food")
    several = model("svm --c 0.1,1,10 --criterion f1", batch)
    moved = model("svm --c 0.1,1,10 --criterion f1 --threshold f1", batch)
    assert (several.coefficients == moved.coefficients).all()
    cost = next(c for c in (0.1, 1, 10) if (model(f"svm --c {c}", batch).coefficients == several.coefficients).all())
    assert (several.intercepts - moved.intercepts == shift(f"svm --c {cost}", batch)).all()


def test_each_label_has_its_threshold():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 4))
    y = (X[:, :2] + rng.normal(size=(80, 2)) > [0.3, 1.2]).astype(np.int8)
    names = [Attribute(f"a{j}") for j in range(4)] + [Attribute(n, "nominal", ("0", "1")) for n in "pq"]
    found = shift("svm --c 0.05", Batch(Schema("s", names, labels=(4, 5)), X, y))
    assert found.shape == (2,) and found[1] < -0.1 and found[0] != found[1]


def test_several_classes_have_no_threshold_of_their_own():
    y = np.column_stack([np.arange(24) % 3, np.arange(24) % 2]).astype(np.int8)
    names = [Attribute("a"), Attribute("t", "nominal", tuple("xyz")), Attribute("u", "nominal", ("0", "1"))]
    target = Batch(Schema("s", names, labels=(1, 2)), np.arange(24.0)[:, None] % 7, y)
    for batch in (sample("iris"), target):
        with pytest.raises(StageError, match=r"^svm: --threshold needs two classes, or labels: of several"):
            model("svm --threshold f1", batch)
    assert shift("svm", sample("iris", positive="versicolor")).shape == (1,)


def test_the_threshold_is_part_of_the_model():
    fit("svm --c 0.03 --threshold f1", data("breast-cancer", None).rows(0, 60))
