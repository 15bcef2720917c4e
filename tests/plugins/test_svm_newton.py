"""Linear SVMs by Newton steps: against libsvm, and against what makes a solution the best."""

import contextlib

import numpy as np
import pytest
from agreement import make, sample, transformed
from filterkit_plugins.svm import hyperplanes, newton
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array


def numbers(kind="plain", rows=400):
    """Rows of two classes, and which are positive."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 6))
    noise = 0 if kind == "separable" else 2
    positive = X @ random.normal(size=6) + noise * random.normal(size=rows) > (4 if kind == "rare" else 0.5)
    if kind == "scales":
        return X * np.logspace(-1, 2, 6), positive
    if kind == "repeated":
        return np.repeat(X[: rows // 5], 5, axis=0), np.repeat(positive[: rows // 5], 5)
    return np.round(X) if kind == "grid" else X, positive


def texts():
    """Unit rows of words, most of them rare."""
    batch = sample("fortunes").take(np.arange(0, 1307, 3))
    return transformed("l2", batch).X, batch.y == 0


@pytest.mark.parametrize("kind", ["texts", "rare", "separable", "scales", "repeated", "grid"])
def test_no_row_is_far_from_the_optimum(kind):
    """The multipliers of a solution are 0 beyond the margin, the cost inside it, and make up the coefficients."""
    X, positive = texts() if kind == "texts" else numbers(kind)
    costs = np.random.default_rng(4).choice([0.1, 1.0, 5.0], len(positive))
    w, b = newton.fit_hyperplane_by_newton(X, positive, costs, 1000)
    sign = np.where(positive, 1, -1)
    margin = sign * (X @ w + b)
    at = abs(margin - 1) <= 2e-3  # there a multiplier may be anything from 0 to the cost
    least = costs * (margin < 1) * ~at
    left = w - X.T @ (least * sign)  # is left to the rows at the margin
    rows = (X[at] if isinstance(X, np.ndarray) else X[np.flatnonzero(at)].toarray()).T * sign[at]
    matrix, goal = np.vstack([rows, sign[at]]), np.append(left, -(least @ sign))
    found = lsq_linear(matrix, goal, (0, costs[at]), tol=1e-12, max_iter=500)
    assert abs(matrix @ found.x - goal).max() <= 1e-3 * max(1, abs(w).max(), costs.max())


@pytest.mark.parametrize("scale", [1e-150, 1e100])
def test_rows_of_any_length_end(scale):
    X, positive = numbers(rows=50)
    with contextlib.suppress(newton.NoSolution):
        w, b = newton.fit_hyperplane_by_newton(X * scale, positive, np.ones(50), 300)
        assert np.isfinite([*w, b]).all()


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.ones((4, 2)), csr_array((4, 2))], ids=["zeros", "ones", "empty"])
def test_of_equal_rows_the_class_of_more_weight_is_predicted(X):
    w, b = newton.fit_hyperplane_by_newton(X, np.array([True, False, False, False]), np.ones(4), 100)
    assert [*w, b] == pytest.approx([0, 0, -1])


def test_costs_that_overflow_have_no_solution():
    X, positive = numbers(rows=50)
    with np.errstate(all="ignore"), pytest.raises(newton.NoSolution):
        newton.fit_hyperplane_by_newton(X, positive, np.full(50, 1e308), 100)


@pytest.mark.parametrize("text", ["svm --c 0.1,1 --folds 3 --calibrate", "aisvm", "normal"])
def test_rows_beyond_the_limit_are_solved_as_by_libsvm(text, monkeypatch):
    solved = []
    solve = newton.fit_hyperplane_by_newton
    monkeypatch.setattr(newton, "fit_hyperplane_by_newton", lambda X, *given: solved.append(len(X)) or solve(X, *given))
    X, positive = numbers(rows=90)
    batch = make(X, positive, positive="yes", weights=1 + np.arange(90) % 4)
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 90)
    expected = transformed(text, batch).X
    assert not solved
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 89)
    np.testing.assert_allclose(transformed(text, batch).X, expected, atol=5e-3)
    assert 90 in solved
