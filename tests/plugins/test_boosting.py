"""AdaBoost.MH and MP-Boost: rounds worked by hand, and agreement with the definitions as plain loops."""

from math import exp, fsum, log, sqrt

import numpy as np
import pytest
from agreement import close, make
from filterkit_plugins.boosting import boost

from filterkit import Chain, StageError


def run(X, Y, rounds, multiple_pivots, jobs=1):
    X = np.asarray(X, bool)
    row, column = np.nonzero(X)
    indptr = np.searchsorted(row, np.arange(len(X) + 1)).astype(np.int32)
    return boost(column.astype(np.int32), indptr, X.shape[1], np.asarray(Y, bool), rounds, multiple_pivots, jobs)


def reference(X, Y, rounds, multiple_pivots):
    """What `boost` returns."""
    (rows, features), labels = X.shape, Y.shape[1]
    eps = 1 / rows if multiple_pivots else 1 / (rows * labels)
    D = [[eps] * labels for _ in range(rows)]
    weights, intercept = np.zeros((features, labels)), np.zeros(labels)
    pivots = []

    def sums(label, feature):
        """W by sign, then value."""
        cells = [[[], []], [[], []]]
        for i in range(rows):
            cells[0 if Y[i, label] else 1][int(X[i, feature])].append(D[i][label])
        return [[fsum(cell) for cell in sign] for sign in cells]

    def z(label, feature):
        plus, minus = sums(label, feature)
        return 2 * fsum(sqrt(plus[j] * minus[j]) for j in (0, 1))

    def first(scores):
        return next(t for t, score in enumerate(scores) if score <= min(scores) * (1 + 1e-12))

    for _ in range(rounds):
        of_label = [[z(label, t) for t in range(features)] for label in range(labels)]
        if multiple_pivots:
            taken = [first(scores) for scores in of_label]
        else:
            taken = [first([fsum(scores) for scores in zip(*of_label)])] * labels
        for label, t in enumerate(taken):
            plus, minus = sums(label, t)
            c = [log((plus[j] + eps) / (minus[j] + eps)) / 2 for j in (0, 1)]
            for i in range(rows):
                D[i][label] *= exp(-c[int(X[i, t])] if Y[i, label] else c[int(X[i, t])])
            weights[t, label] += c[1] - c[0]
            intercept[label] += c[0]
        total = np.array([fsum(column) for column in zip(*D)])
        if not multiple_pivots:
            total[:] = fsum(total)
        D = [[d / n for d, n in zip(row, total)] for row in D]
        pivots.append(taken)
    return weights, intercept, np.array(pivots)


def sample(seed, labels=6):
    """Small data with features and labels that are equal, opposite, in no row or in all rows."""
    rng = np.random.default_rng(seed)
    rows, features = int(rng.integers(1, 30)), int(rng.integers(1, 12))
    X = rng.random((rows, features)) < rng.choice([0.1, 0.3, 0.5], features)
    X = np.hstack([X, X[:, :2], ~X[:, :2], np.zeros((rows, 1), bool), np.ones((rows, 1), bool)])
    X = X[:, rng.permutation(X.shape[1])]
    Y = rng.random((rows, labels)) < rng.choice([0.1, 0.3, 0.7], labels)
    Y[:, 0] |= X[:, 0]
    Y[:, -1], Y[:, -2], Y[:, -3] = False, True, X[:, -1]
    return X, Y[:, rng.permutation(labels)]


# ---- by hand -------------------------------------------------------------------------------------


@pytest.mark.parametrize("multiple_pivots", [False, True])
def test_one_round_worked_by_hand(multiple_pivots):
    # The first feature does not help. Z of the second is 2 √(2/4 · 1/4), and of the third, too.
    X = [[1, 1, 1], [0, 1, 0], [1, 1, 0], [0, 0, 0]]
    Y = [[1], [1], [0], [0]]
    weights, intercept, pivots = run(X, Y, 1, multiple_pivots)
    assert pivots.tolist() == [[1]]
    # ε is 1/4: c(1) = ½ ln (3/4 : 2/4), c(0) = ½ ln (1/4 : 2/4).
    assert weights[:, 0].tolist() == close([0, log(3) / 2, 0])
    assert intercept.tolist() == close([-log(2) / 2])


def test_of_equally_good_features_the_first_is_taken():
    X = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]])  # the third and fourth are as good as the first
    for multiple_pivots in (False, True):
        weights, _, pivots = run(X, X[:, :1], 20, multiple_pivots)
        assert not pivots.any()
        assert not weights[1:].any()


def test_without_rounds_all_scores_are_0():
    weights, intercept, pivots = run([[1, 0]], [[1]], 0, True)
    assert weights.tolist() == [[0], [0]] and intercept.tolist() == [0] and pivots.shape == (0, 1)


# ---- against the definitions ---------------------------------------------------------------------


@pytest.mark.parametrize("multiple_pivots", [False, True])
@pytest.mark.parametrize(("seed", "labels", "rounds"), [(0, 6, 20), (1, 6, 20), (2, 6, 20), (3, 37, 6)])
def test_boosting_equals_the_definitions(seed, labels, rounds, multiple_pivots):
    """Of few labels, and of more than fit into a block."""
    X, Y = sample(seed, labels)
    weights, intercept, pivots = run(X, Y, rounds, multiple_pivots)
    expected = reference(X, Y, rounds, multiple_pivots)
    assert pivots.dtype == np.int32
    assert pivots.tolist() == expected[2].tolist()
    np.testing.assert_allclose(weights, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(intercept, expected[1], rtol=1e-9, atol=1e-9)


# ---- the stages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("multiple_pivots", [False, True])
def test_jobs_do_not_change_the_result(multiple_pivots):
    rng = np.random.default_rng(0)
    X, Y = rng.random((300, 500)) < 0.05, rng.random((300, 50)) < 0.1
    one, other = (run(X, Y, 20, multiple_pivots, jobs) for jobs in (1, 3))
    assert len(np.unique(one[2])) > 10
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other))


@pytest.mark.parametrize("name", ["adaboost-mh", "mp-boost"])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_are_not_0_or_1_are_named(name, sparse):
    batch = make([[1, 0], [0, 2.5], [1, 1]], [0, 1, 1], sparse=sparse)
    message = f"^{name}: attribute '{batch.schema.features[1].name}' has the value 2.5, but must be 0 or 1; put binary"
    with pytest.raises(StageError, match=message):
        Chain.parse(f"{name} --rounds 2").fit(batch)
