"""AdaBoost.MH and MP-Boost agree with the definitions as plain loops."""

from math import fsum, log, sqrt

import numpy as np
import pytest
from filterkit_plugins.boosting import boost_stumps
from scipy.sparse import csr_array


def run(X, Y, rounds, multiple_pivots, jobs=1):
    X = csr_array(X)
    return boost_stumps(X, np.asarray(Y, bool), rounds, multiple_pivots, jobs)


def reference(X, Y, rounds, multiple_pivots):
    """What `boost_stumps` returns."""
    (rows, features), labels = X.shape, Y.shape[1]
    eps = 1 / rows if multiple_pivots else 1 / (rows * labels)
    D = np.full((rows, labels), eps)
    weights, intercept, pivots = np.zeros((features, labels)), np.zeros(labels), []

    def sums(label, feature):
        """W of the rows with the label and of those without, each by the value of the feature."""
        values = X[:, feature].astype(int)
        return [[fsum(D[own & (values == v), label]) for v in (0, 1)] for own in (Y[:, label], ~Y[:, label])]

    def z(label, feature):
        plus, minus = sums(label, feature)
        return 2 * fsum(sqrt(plus[v] * minus[v]) for v in (0, 1))

    def first(scores):
        return next(t for t, score in enumerate(scores) if score <= min(scores) * (1 + 1e-12))

    for _ in range(rounds):
        of_label = [[z(label, t) for t in range(features)] for label in range(labels)]
        joint = [fsum(scores) for scores in zip(*of_label)]
        pivots.append([first(scores if multiple_pivots else joint) for scores in of_label])
        for label, t in enumerate(pivots[-1]):
            plus, minus = sums(label, t)
            c = np.array([log((plus[v] + eps) / (minus[v] + eps)) / 2 for v in (0, 1)])
            D[:, label] *= np.exp(np.where(Y[:, label], -1, 1) * c[X[:, t].astype(int)])
            weights[t, label] += c[1] - c[0]
            intercept[label] += c[0]
        D /= [fsum(column) for column in D.T] if multiple_pivots else fsum(D.ravel())
    return weights, intercept, np.array(pivots)


def draw(seed, labels):
    """Small data with features and labels that are equal, opposite, in no row or in all rows."""
    rng = np.random.default_rng(seed)
    X = rng.random((25, 8)) < rng.choice([0.1, 0.3, 0.5], 8)
    X = np.hstack([X, X[:, :2], ~X[:, :2], np.zeros((25, 1), bool), np.ones((25, 1), bool)])
    X = X[:, rng.permutation(X.shape[1])]
    Y = rng.random((25, labels)) < rng.choice([0.1, 0.3, 0.7], labels)
    Y[:, 0] |= X[:, 0]
    Y[:, -1], Y[:, -2], Y[:, -3] = False, True, X[:, -1]
    return X, Y[:, rng.permutation(labels)]


def test_without_rounds_all_scores_are_0():
    weights, intercept, pivots = run([[1, 0]], [[1]], 0, True)
    assert weights.tolist() == [[0], [0]] and intercept.tolist() == [0] and pivots.shape == (0, 1)


@pytest.mark.parametrize("multiple_pivots", [False, True])
@pytest.mark.parametrize(("seed", "labels", "rounds"), [(0, 6, 20), (1, 6, 20), (3, 37, 6)])
def test_boosting_equals_the_definitions(seed, labels, rounds, multiple_pivots):
    """Of few labels, and of more than fit into a block."""
    X, Y = draw(seed, labels)
    found = run(X, Y, rounds, multiple_pivots)
    for one, other in zip(found, reference(X, Y, rounds, multiple_pivots), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
