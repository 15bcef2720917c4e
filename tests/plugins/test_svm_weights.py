"""`normal`: the weights of linear classifiers, from all rows or a subset."""

import numpy as np
import pytest
from agreement import make, sample
from cases import run

import filterkit
from filterkit import StageError


def scores(batch, options="", **fit):
    fitted = filterkit.chain(f"normal --score-only {options}").fit(batch, **fit)
    return np.array([dict(a.scores)["normal"] for a in fitted.schema.features])


def test_a_hyperplane_worked_by_hand():
    # Two points a distance of 2 apart along (1, 0): the widest margin is ±1, so w = (1, 0).
    batch = make([[1, 5], [3, 5]], [0, 1])
    assert scores(batch, "--cost 100") == pytest.approx([1, 0], abs=1e-3)


@pytest.mark.parametrize("model", ["svm", "logistic", "perceptron"])
@pytest.mark.parametrize("name", ["breast-cancer", "fortunes"])
def test_weights_equal_those_of_scikit_learn(model, name):
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.svm import SVC

    rows = sample(name)
    rows = rows.take(np.arange(0, len(rows), 4))
    batch = filterkit.chain("l2").fit(rows).transform(rows)
    peers = {
        "svm": SVC(kernel="linear", C=2.0),
        "logistic": LogisticRegression(C=2.0, max_iter=10_000),
        "perceptron": Perceptron(random_state=3),
    }
    expected = []
    classes = np.unique(batch.y)
    for task in classes if len(batch.schema.class_attribute.values) > 2 else [1]:
        w = peers[model].fit(batch.X, batch.y == task).coef_
        expected.append(np.abs(w.toarray() if model == "svm" and batch.sparse else w).ravel())
    got = scores(batch, f"--model {model} --cost 2 --seed 3")
    np.testing.assert_allclose(got, np.max(expected, axis=0), rtol=1e-9, atol=1e-12)


def test_values_are_scaled_as_by_other_scorers():
    batch = sample("iris")
    score, low, high = scores(batch), batch.X.min(axis=0), batch.X.max(axis=0)
    out = filterkit.chain("normal").fit(batch).transform(batch)
    np.testing.assert_allclose(out.X, (batch.X - low) / (high - low) * score, rtol=1e-9, atol=1e-12)


def test_a_subset_is_drawn_from_each_class_and_repeats():
    seen = []

    class Spy:
        def __init__(self, **_):
            pass

        def fit(self, X, positive, sample_weight):
            seen.append((X.copy(), positive.copy()))
            self.coef_ = np.ones((1, X.shape[1]))
            self.fit_status_ = 0

    import sklearn.svm

    batch = make(np.arange(100.0)[:, None], [0] * 80 + [1] * 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn.svm, "SVC", Spy)
        for options in ("--subset 1/4", "--subset 0.25", "--subset 1/4 --seed 1", ""):
            scores(batch, options)
    assert [(len(X), int(y.sum())) for X, y in seen] == [(25, 5), (25, 5), (25, 5), (100, 20)]
    assert (seen[0][0] == seen[1][0]).all()
    assert (seen[0][0] != seen[2][0]).any()
    assert (np.diff(seen[0][0].ravel()) > 0).all()


def test_missing_counts_as_zero_and_nominal_columns_are_ignored():
    batch = make([[1, 0, np.nan], [3, 1, 0], [1, 2, 0], [3, 0, np.nan]], [0, 1, 0, 1], nominal=[1])
    assert scores(batch)[1:].tolist() == [0, 0]
    out = run("normal", batch)
    assert out["a1"] == ["a", "b", "c", "a"] and out["a2"] == [None, 0, 0, None]


def test_weights_count_as_rows():
    X, y = [[0.0, 1], [1, 0], [2, 2], [3, 1], [2.5, 0]], [0, 0, 1, 1, 0]
    weighted = scores(make(X, y, weights=[1, 2, 1, 1, 0]), "--model logistic")
    repeated = scores(make([X[0], X[1], X[1], X[2], X[3]], [0, 0, 0, 1, 1]), "--model logistic")
    assert weighted == pytest.approx(repeated, rel=1e-3)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1], [2]], [1, 1], "the training rows are all of one class"),
        ([[1], [2]], [-1, -1], "there are no training rows"),
        ([[1], [np.inf]], [0, 1], "a value is infinite"),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(X, y, message):
    with pytest.raises(StageError, match=f"^normal: .*{message}"):
        filterkit.chain("normal").fit(make(X, y))
