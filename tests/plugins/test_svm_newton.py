"""Linear SVMs by Newton steps: against libsvm, and against what makes a solution the best."""

import numpy as np
import pytest
from agreement import make
from filterkit_plugins.svm import hyperplanes, newton
from scipy.sparse import csr_array
from sklearn.svm import SVC

import filterkit


def objective(w, b, X, positive, costs):
    return w @ w / 2 + costs @ np.maximum(1 - np.where(positive, 1, -1) * (X @ w + b), 0)


def texts(rows, seed=0, share=0.3):
    """Unit rows of some words, most of them rare, and classes that overlap."""
    random = np.random.default_rng(seed)
    positive = random.random(rows) < share
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
    made = {
        "scales": X * np.logspace(-1, 2, 6),
        "mean": X + 50,
        "correlated": X @ random.normal(size=(6, 6)),
        "repeated": np.repeat(X[: rows // 5], 5, axis=0),
        "grid": np.round(X),
    }
    return made.get(kind, X), np.repeat(positive[: rows // 5], 5) if kind == "repeated" else positive


SETS = ["texts", "rare texts", "plain", "rare", "separable", "scales", "mean", "correlated", "repeated", "grid"]


def data(name, rows):
    if "texts" in name:
        return texts(rows, share=0.02 if "rare" in name else 0.3)
    return numbers(rows, name)


@pytest.mark.filterwarnings("ignore:Solver terminated early")  # libsvm, on columns of different scale
@pytest.mark.parametrize("cost", [0.001, 1.0, 30.0])
@pytest.mark.parametrize("name", SETS)
def test_no_solution_of_libsvm_is_better(name, cost):
    X, positive = data(name, 300)
    costs = np.full(300, cost)
    w, b = newton.solve(X, positive, costs, 1000)
    peer = SVC(kernel="linear", C=cost, max_iter=1_000_000).fit(X, positive)
    coefficients = peer.coef_.toarray()[0] if name.endswith("texts") else peer.coef_[0]
    theirs = objective(coefficients, peer.intercept_[0], X, positive, costs)
    # Both may be from the optimum by 1e-3 of the margin in every row.
    assert objective(w, b, X, positive, costs) <= theirs + 1e-3 * costs.sum()
    if name not in ("scales", "mean"):  # which take libsvm longer
        ours, expected = X @ w + b, peer.decision_function(X)
        np.testing.assert_allclose(ours, expected, atol=0.03 * abs(expected).max())


@pytest.mark.parametrize("name", SETS)
def test_no_row_is_far_from_the_optimum(name):
    """The multipliers of a solution are 0 beyond the margin, the cost inside it, and make up the coefficients."""
    X, positive = data(name, 600)
    random = np.random.default_rng(4)
    costs = random.choice([0.1, 1.0, 5.0], 600)
    w, b = newton.solve(X, positive, costs, 1000)
    sign = np.where(positive, 1, -1)
    margin = sign * (X @ w + b)
    at = abs(margin - 1) <= 2e-3  # there a multiplier may be anything from 0 to the cost
    least = costs * (margin < 1) * ~at
    left = w - X.T @ (least * sign)  # is left to the rows at the margin
    rows = (X[at] if isinstance(X, np.ndarray) else X[np.flatnonzero(at)].toarray()).T * sign[at]
    from scipy.optimize import lsq_linear

    matrix, goal = np.vstack([rows, sign[at]]), np.append(left, -(least @ sign))
    found = lsq_linear(matrix, goal, (0, costs[at]), tol=1e-12, max_iter=500) if at.any() else None
    rest = goal if found is None else matrix @ found.x - goal
    assert abs(rest).max() <= 1e-3 * max(1, abs(w).max(), costs.max())


@pytest.mark.parametrize("seed", range(5))
def test_the_intercept_is_not_penalised(seed):
    X, positive = numbers(200, "rare", seed)
    w, b = newton.solve(X, positive, np.ones(200), 1000)
    moved_w, moved_b = newton.solve(X + 100, positive, np.ones(200), 1000)
    assert moved_w == pytest.approx(w, abs=5e-3)
    assert (X + 100) @ moved_w + moved_b == pytest.approx(X @ w + b, abs=1e-2)
    for step in (-0.1, 0.1):
        assert objective(w, b + step, X, positive, np.ones(200)) > objective(w, b, X, positive, np.ones(200))


def test_sparse_rows_give_what_dense_ones_do():
    X, positive = texts(300)
    one, other = (newton.solve(rows, positive, np.ones(300), 1000) for rows in (X, X.toarray()))
    np.testing.assert_allclose(one[0], other[0], atol=1e-3)


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e100])
def test_rows_of_any_length_end(scale):
    X, positive = numbers(50, "plain")
    try:
        w, b = newton.solve(X * scale, positive, np.ones(50), 300)
    except newton.NoSolution:
        return
    assert np.isfinite(w).all()
    assert np.isfinite(b)


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


@pytest.mark.parametrize("text", ["svm", "svm --c 0.1,1 --folds 2 --calibrate", "aisvm --steps 3", "normal"])
def test_more_rows_than_libsvm_gets(text):
    """Each takes rows beyond the limit."""
    X, positive = texts(hyperplanes._LIBSVM_ROWS + 500)
    X, positive = X[:, :50].toarray(), positive.astype(np.int32)
    batch = make(np.round(X, 2), positive, positive="yes")
    fitted = filterkit.chain(text).fit(batch)
    assert np.isfinite(fitted.transform(batch.rows(0, 100)).X).all()


@pytest.mark.parametrize("text", ["svm", "svm --c 0.1,1 --folds 3 --calibrate", "aisvm", "normal"])
def test_chains_do_what_they_do_by_libsvm(text, monkeypatch):
    X, positive = texts(400)
    batch = make(X.toarray(), positive.astype(np.int32), positive="yes", weights=np.arange(400) % 4)
    chain = filterkit.chain(text)
    expected = chain.fit(batch).transform(batch).X
    monkeypatch.setattr(hyperplanes, "_LIBSVM_ROWS", 0)
    np.testing.assert_allclose(chain.fit(batch).transform(batch).X, expected, atol=5e-3)
