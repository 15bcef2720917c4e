"""Linear SVMs by Newton steps: against libsvm, and against what makes a solution the best."""

import contextlib

import numpy as np
import pytest
from agreement import make
from cases import fit
from filterkit_plugins.svm import hyperplanes, newton
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array

import filterkit


def texts(rows, seed=0):
    """Unit rows of some words, most of them rare, and classes that overlap."""
    random = np.random.default_rng(seed)
    positive = random.random(rows) < 0.3
    words = (random.zipf(1.3, (rows, 40)) + 7 * (positive[:, None] & (random.random((rows, 40)) < 0.2))) % 2000
    starts = np.arange(0, rows * 40 + 1, 40, np.int32)
    X = csr_array((np.ones(rows * 40), words.ravel().astype(np.int32), starts), (rows, 2000))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    return X, positive


def numbers(rows, kind, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 6))
    noise = 0 if kind == "separable" else 2
    positive = X @ random.normal(size=6) + noise * random.normal(size=rows) > (4 if kind == "rare" else 0.5)
    made = {"scales": X * np.logspace(-1, 2, 6), "repeated": np.repeat(X[: rows // 5], 5, axis=0), "grid": np.round(X)}
    return made.get(kind, X), np.repeat(positive[: rows // 5], 5) if kind == "repeated" else positive


SETS = ["texts", "rare", "separable", "scales", "repeated", "grid"]


def data(name, rows):
    return texts(rows) if name == "texts" else numbers(rows, name)


@pytest.mark.parametrize("name", SETS)
def test_no_row_is_far_from_the_optimum(name):
    """The multipliers of a solution are 0 beyond the margin, the cost inside it, and make up the coefficients."""
    X, positive = data(name, 400)
    costs = np.random.default_rng(4).choice([0.1, 1.0, 5.0], 400)
    w, b = newton.solve(X, positive, costs, 1000)
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
    X, positive = numbers(50, "plain")
    with contextlib.suppress(newton.NoSolution):
        w, b = newton.solve(X * scale, positive, np.ones(50), 300)
        assert np.isfinite([*w, b]).all()


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.ones((4, 2)), csr_array((4, 2))], ids=["zeros", "ones", "empty"])
def test_rows_that_are_all_the_same(X):
    """The class of more weight is predicted, at its margin."""
    w, b = newton.solve(X, np.array([True, False, False, False]), np.ones(4), 100)
    assert w == pytest.approx([0, 0])
    assert b == pytest.approx(-1)


def test_costs_that_overflow_have_no_solution():
    X, positive = numbers(50, "plain")
    with np.errstate(all="ignore"), pytest.raises(newton.NoSolution):
        newton.solve(X, positive, np.full(50, 1e308), 100)


@pytest.mark.parametrize("text", ["svm", "aisvm", "normal"])
def test_more_rows_than_libsvm_gets(text, monkeypatch):
    """Each takes rows beyond the limit, and no others."""
    solved = []
    solve = newton.solve
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 20)
    monkeypatch.setattr(newton, "solve", lambda X, *given: solved.append(X.shape[0]) or solve(X, *given))
    X, positive = numbers(21, "plain")
    batch = make(X, positive, positive="yes")
    filterkit.chain(text).fit(batch.rows(0, 20))
    assert not solved
    filterkit.chain(text).fit(batch)
    assert set(solved) == {21}


@pytest.mark.parametrize("text", ["svm --c 0.1,1 --folds 3 --calibrate", "aisvm", "normal"])
def test_chains_do_what_they_do_by_libsvm(text, monkeypatch):
    X, positive = texts(150)
    batch = make(X.toarray(), positive.astype(np.int32), positive="yes", weights=np.arange(150) % 4)
    expected = filterkit.chain(text).fit(batch).transform(batch).X
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 0)
    np.testing.assert_allclose(fit(text, batch)[0].transform(batch).X, expected, atol=5e-3)
