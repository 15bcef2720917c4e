"""`normal`: the weights of linear classifiers, from all rows or a subset."""

import numpy as np
import pytest
import sklearn.svm
from agreement import make, sample, scored, transformed
from cases import run
from sklearn.linear_model import LogisticRegression, Perceptron


@pytest.mark.parametrize("model", ["svm", "logistic", "perceptron"])
@pytest.mark.parametrize("name", ["breast-cancer", "fortunes"])
def test_weights_equal_those_of_scikit_learn(model, name):
    rows = sample(name)
    rows = rows.take(np.arange(0, len(rows), 4))
    batch = transformed("l2", rows)
    peers = {
        "svm": sklearn.svm.SVC(kernel="linear", C=2.0),
        "logistic": LogisticRegression(C=2.0, max_iter=10_000),
        "perceptron": Perceptron(random_state=3),
    }
    expected = []
    for task in [1] if name == "breast-cancer" else range(6):
        w = peers[model].fit(batch.X, batch.y == task).coef_
        expected.append(np.abs(w.toarray() if model == "svm" and batch.sparse else w).ravel())
    got = scored(batch, f"normal --model {model} --cost 2 --seed 3")
    np.testing.assert_allclose(got, np.max(expected, axis=0), rtol=1e-9, atol=1e-12)


def test_a_subset_is_drawn_from_each_class_and_repeats(monkeypatch):
    seen = []

    class Spy:
        fit_status_ = 0

        def __init__(self, **_):
            pass

        def fit(self, X, positive, sample_weight):
            seen.append((X.ravel().tolist(), sum(positive)))
            self.coef_ = np.ones((1, 1))

    monkeypatch.setattr(sklearn.svm, "SVC", Spy)
    batch = make(np.arange(100)[:, None], [0] * 80 + [1] * 20)
    for options in ("--subset 1/4", "--subset 0.25", "--subset 1/4 --seed 1", ""):
        scored(batch, f"normal {options}")
    assert [(len(X), positive) for X, positive in seen] == [(25, 5), (25, 5), (25, 5), (100, 20)]
    assert seen[0] == seen[1] != seen[2]
    assert all(sorted(set(X)) == X for X, _ in seen)


def test_missing_counts_as_zero_and_nominal_columns_are_ignored():
    batch = make([[1, 0, np.nan], [3, 1, 0], [1, 2, 0], [3, 0, np.nan]], [0, 1, 0, 1], nominal=[1])
    assert scored(batch, "normal")[1:] == [0, 0]
    out = run("normal", batch)
    assert out["a1"] == ["a", "b", "c", "a"] and out["a2"] == [None, 0, 0, None]


def test_weights_count_as_rows():
    X, y = [[0, 1], [1, 0], [2, 2], [3, 1], [2.5, 0]], [0, 0, 1, 1, 0]
    weighted = scored(make(X, y, weights=[1, 2, 1, 1, 0]), "normal --model logistic")
    repeated = scored(make(X[:2] + X[1:4], [0, 0, 0, 1, 1]), "normal --model logistic")
    assert weighted == pytest.approx(repeated, rel=1e-3)
