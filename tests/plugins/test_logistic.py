"""Logistic regressions on one column each, against scikit-learn's."""

import numpy as np
import pytest
from filterkit_plugins.shape.logistic import RowsByValue, predict_log_odds_by_column
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def points(columns):
    """`RowsByValue` of rows given as (column, value, class)."""
    column, value, positive = (np.array(part) for part in zip(*columns, strict=True))
    return weighted(column, value.astype(float), positive.astype(float), np.ones(len(column)))


def weighted(column, value, positive, total):
    """`RowsByValue` of two classes, of which the second is positive."""
    return RowsByValue(column, value, np.column_stack([total - positive, positive]), total)


def summed(columns, training, held_out):
    """float64 (columns,): the log losses of all held-out rows."""
    log_odds = predict_log_odds_by_column(columns, 1, training, held_out)
    of_values = held_out.counts[:, 1] * np.logaddexp(0, -log_odds) + held_out.counts[:, 0] * np.logaddexp(0, log_odds)
    return np.bincount(held_out.column, of_values, columns)


@pytest.mark.parametrize("seed", range(2))
def test_losses_equal_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    noise, other, skewed = rng.normal(size=(3, 90))
    X = np.column_stack([noise, other * 1e6 + 1e7, other > 0, np.exp(skewed * 4), np.full(90, 3), np.arange(90)])
    y = (np.arange(90) + rng.normal(size=90) * 20 > 45).astype(int)
    parts = []
    for part in (slice(0, 90, 2), slice(1, 90, 2)):
        parts.append(points([(j, x, c) for j in range(6) for x, c in zip(X[part, j], y[part], strict=True)]))
    for j, found in enumerate(summed(6, *parts)):
        model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-9))
        p = model.fit(X[::2, [j]], y[::2]).predict_proba(X[1::2, [j]])[:, 1]
        assert found == pytest.approx(log_loss(y[1::2], p, normalize=False), rel=1e-5)


def test_a_weight_of_2_equals_two_rows():
    heavy = weighted(np.zeros(3, int), np.array([0.0, 1, 2]), np.array([1.0, 2, 5]), np.array([4.0, 4, 6]))
    rows = [(0, v, c) for v, p, n in ((0, 1, 4), (1, 2, 4), (2, 5, 6)) for c in [1] * p + [0] * (n - p)]
    assert summed(1, heavy, heavy) == pytest.approx(summed(1, points(rows), points(rows)), rel=1e-12)


def test_losses_of_corner_cases():
    """No rows at all, one class only, separable classes: a number, and a small one where the class is plain."""
    nothing = weighted(np.empty(0, int), np.empty(0), np.empty(0), np.empty(0))
    assert summed(2, nothing, nothing).tolist() == [0, 0]
    same = points([(0, v, 1) for v in range(5)])
    assert summed(1, same, same) < 1e-6
    apart = points([(0, v, v > 50) for v in range(100)])
    assert 0 < summed(1, apart, apart) / 100 < 0.2
    far = points([(0, 1e300, 1), (0, -1e300, 0), (0, 0, 1)])
    assert np.isfinite(summed(1, apart, far)).all()
