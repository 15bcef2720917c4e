"""`svm --threshold f1`: the threshold is tuned on held-out training rows, against scikit-learn and a plain loop."""

import numpy as np
import pytest
from agreement import make, sample, shared
from counted import rows_in_memory
from filterkit_plugins.svm import learner
from filterkit_plugins.svm.threshold import best_threshold
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from sklearn.model_selection import PredefinedSplit, TunedThresholdClassifierCV, cross_val_predict
from sklearn.svm import SVC

import filterkit
from filterkit import Attribute, Batch, Schema, StageError, UsageError
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
        ([-1, -2, -4, -5], [1, 1, 0, 0], -3),
        ([5, 4, 2, 1], [1, 1, 0, 0], 3),
        ([-1, -2, -3, -4], [1, 0, 1, 0], -3.5),  # F1 is 2/3 with one positive found, 4/5 with both
        ([1, -1, -2], [0, 0, 1], -3),  # all are predicted positive: the lowest less 1
        ([1, 2, 3], [1, 1, 1], 0),
        ([1, 2, 3], [0, 0, 0], 0),
        ([2.5], [1], 0),
        ([1, 1, 1], [1, 0, 0], 0),  # one cut only
        ([-1, -1, -1], [1, 0, 0], -2),
        ([4, 3, 2, 1], [1, 0, 0, 1], 0),  # both alone or all: F1 is 2/3, and 0 is nearer
        ([-1, -4], [1, 0], -2.5),
        ([2, -1, -3, -4, -5], [1, 0, 1, 0, 0], -3.5),  # 4/5 against 2/3 at 0
        ([0.0, -1.0], [1, 0], -0.5),  # a score of 0 is not above 0
    ],
)
def test_thresholds_worked_by_hand(scores, positive, threshold):
    assert best_threshold(np.array(scores, float), np.array(positive, bool)) == threshold


def test_scores_that_are_equal_but_for_rounding_are_not_told_apart():
    scores = np.array([1.0, 0.1 + 0.2, 0.3, -1.0]) - 2
    assert best_threshold(scores, np.array([True, True, False, False])) == pytest.approx(-2.35)
    assert best_threshold(scores, np.array([True, False, True, False])) == pytest.approx(-2.35)


def by_loop(scores, positive, weights):
    """The best F1 of any threshold, and that of each; no code is shared."""
    values = np.unique(scores)
    tried = [0.0, values[0] - 1, *((values[:-1] + values[1:]) / 2)]
    return {t: f1_score(positive, scores > t, sample_weight=weights, zero_division=0) for t in tried}


@given(
    st.lists(st.tuples(st.integers(-6, 6), st.booleans(), st.sampled_from([0.5, 1.0, 3.0])), min_size=1, max_size=30),
    st.booleans(),
)
def test_no_threshold_is_better(rows, weighted):
    scores, positive, weights = (np.array(each) for each in zip(*rows))
    scores = scores / 2
    weights = weights if weighted else None
    found = best_threshold(scores, positive, weights)
    if not positive.any():
        assert found == 0
        return
    tried = by_loop(scores, positive, weights)
    best = max(tried.values())
    reached = f1_score(positive, scores > found, sample_weight=weights)
    assert reached == pytest.approx(best, rel=1e-12)
    assert abs(found) == min(abs(t) for t, f1 in tried.items() if f1 > best - 1e-9)


def test_a_row_of_weight_w_counts_like_w_rows():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, positive, weights = rng.normal(size=30), rng.random(30) < 0.3, rng.integers(1, 5, 30)
        repeated = best_threshold(np.repeat(scores, weights), np.repeat(positive, weights))
        assert best_threshold(scores, positive, weights.astype(float)) == repeated


# ---- the learner --------------------------------------------------------------------------------------


SETS = [("breast-cancer", None), ("fortunes", "food"), ("diabetes", None), ("oh0", "Ethics")]


def data(name, positive):
    """Real rows in a scale that an SVM takes; text rows are few, so that positive ones are rare."""
    if name in ("breast-cancer", "fortunes"):
        batch = sample(name, positive=positive)
    else:
        batch = shared("uci/diabetes.arff" if name == "diabetes" else "text/oh0.wc.arff.gz", positive=positive)
    batch = batch.take(np.random.default_rng(3).permutation(len(batch))[:300])
    return filterkit.chain("l2" if batch.sparse else "standardize").fit(batch).transform(batch)


def folds_of(batch, seed):
    return draw_folds(read_classes(rows_in_memory([batch])), 5, seed)


def positives(batch):
    target = batch.schema.class_attribute
    name = batch.schema.positive or target.values[int(np.bincount(batch.y).argmin())]
    return batch.y == target.values.index(name)


@pytest.mark.parametrize(("name", "positive"), SETS)
def test_the_threshold_is_that_of_a_plain_loop_over_held_out_scores(name, positive):
    batch = data(name, positive)
    truth = positives(batch)
    moved = []
    for seed, cost in ((0, 0.03), (1, 1.0)):
        split = PredefinedSplit(folds_of(batch, seed))
        svc = SVC(kernel="linear", C=cost)
        scores = cross_val_predict(svc, batch.X, truth, cv=split, method="decision_function")
        (found,) = shift(f"svm --c {cost} --seed {seed}", batch)
        tried = by_loop(scores, truth, None)
        best = max(tried.values())
        assert f1_score(truth, scores > found) == pytest.approx(best, abs=5e-3)  # libsvm stops at 1e-3
        nearest = min((t for t, f1 in tried.items() if f1 > best - 1e-9), key=abs)
        if f1_score(truth, scores > found) > best - 1e-9:
            assert found == pytest.approx(nearest, abs=0.02)
        moved.append(found)
    assert any(moved)


def test_it_is_near_the_threshold_of_scikit_learn():
    """TunedThresholdClassifierCV averages F1 over folds on a grid; here all held-out rows count together."""
    batch = data("diabetes", None)
    truth = positives(batch)
    peer = TunedThresholdClassifierCV(
        SVC(kernel="linear", C=1.0),
        scoring="f1",
        response_method="decision_function",
        thresholds=400,
        cv=PredefinedSplit(folds_of(batch, 0)),
    ).fit(batch.X, truth)
    (found,) = shift("svm", batch)
    assert found != 0
    assert found == pytest.approx(peer.best_threshold_, abs=0.25)
    fitted = filterkit.chain("svm --threshold f1").fit(batch).transform(batch)
    said = np.asarray(fitted.X)[:, [a.name for a in fitted.schema.features].index("prediction")]
    code = batch.schema.class_attribute.values.index("tested_positive")
    assert (said == code).mean() == pytest.approx(peer.predict(batch.X).mean(), abs=0.05)


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
    for criterion in ("accuracy", "f1", "auc"):
        several = model(f"svm --c 0.1,1,10 --criterion {criterion}", batch)
        moved = model(f"svm --c 0.1,1,10 --criterion {criterion} --threshold f1", batch)
        assert (several.coefficients == moved.coefficients).all()
        cost = next(
            c for c in (0.1, 1, 10) if (model(f"svm --c {c}", batch).coefficients == several.coefficients).all()
        )
        assert (several.intercepts - moved.intercepts == shift(f"svm --c {cost}", batch)).all()


def test_each_label_has_its_threshold():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 4))
    y = (X[:, :2] + rng.normal(size=(80, 2)) > [0.3, 1.2]).astype(np.int8)
    names = [Attribute(f"a{j}") for j in range(4)] + [Attribute(n, "nominal", ("0", "1")) for n in "pq"]
    found = shift("svm --c 0.05", Batch(Schema("s", names, labels=(4, 5)), X, y))
    assert found.shape == (2,) and found[1] < -0.1 and found[0] != found[1]


def test_several_classes_have_no_threshold_of_their_own():
    with pytest.raises(
        StageError, match=r"^svm: --threshold needs two classes, or labels: of several classes the high"
    ):
        model("svm --threshold f1", sample("iris"))
    assert shift("svm", sample("iris", positive="versicolor")).shape == (1,)


def test_several_values_of_a_target_are_several_classes():
    y = np.column_stack([np.arange(24) % 3, np.arange(24) % 2]).astype(np.int8)
    names = [Attribute("a"), Attribute("t", "nominal", tuple("xyz")), Attribute("u", "nominal", ("0", "1"))]
    batch = Batch(Schema("s", names, labels=(1, 2)), np.arange(24.0)[:, None] % 7, y)
    with pytest.raises(StageError, match="--threshold needs two classes"):
        model("svm --threshold f1", batch)


def test_probabilities_keep_their_threshold():
    with pytest.raises(UsageError, match=r"^svm: --calibrate .* and --threshold .*; leave one out$"):
        learner.Svm(calibrate=True, threshold="f1")


def test_one_c_has_trials_for_the_threshold():
    assert filterkit.chain("svm --threshold f1").stages[0].inner_folds() == 5
    assert filterkit.chain("svm --threshold f1 --folds 3").stages[0].inner_folds() == 3


def test_a_saved_chain_keeps_the_threshold(tmp_path):
    batch = data("breast-cancer", None)
    fitted = filterkit.chain("svm --c 0.03 --threshold f1").fit(batch)
    filterkit.save(fitted, tmp_path / "kept.chain")
    assert (filterkit.load(tmp_path / "kept.chain").transform(batch).X == fitted.transform(batch).X).all()
    parts = [batch.rows(i, min(i + 7, len(batch))) for i in range(0, len(batch), 7)]
    again = filterkit.chain("svm --c 0.03 --threshold f1").fit(iter(parts), jobs=2, memory=1 << 16)
    assert (again.transform(batch).X == fitted.transform(batch).X).all()


def test_weights_count_in_the_threshold():
    batch = data("diabetes", None)
    weights = 1.0 + np.arange(len(batch)) % 3
    truth = positives(batch)
    split = PredefinedSplit(folds_of(batch, 0))
    scores = np.empty(len(batch))
    for train, test in split.split():
        peer = SVC(kernel="linear", C=1.0).fit(batch.X[train], truth[train], sample_weight=weights[train])
        scores[test] = peer.decision_function(batch.X[test])
    (found,) = shift("svm", batch.replace(weights=weights))
    best = max(by_loop(scores, truth, weights).values())
    assert f1_score(truth, scores > found, sample_weight=weights) == pytest.approx(best, abs=5e-3)
