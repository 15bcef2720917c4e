"""Linear SVMs of many rows: how near Newton steps come to libsvm, and the time of both.

    python -m benchmarks.many_rows

The rows are made: 50,000 texts of 20,000 words, each some 60 tf-idf weights, a unit vector; 30 % are positive, and the
classes overlap. The first 5,000 and 10,000 of them are solved by both, all by Newton steps. C is 1.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import linear_kernel
from sklearn.svm import SVC

_ROWS, _WORDS = 50_000, 20_000
newton: Any = importlib.import_module("filterkit_plugins.svm.newton")


def made() -> tuple[Any, np.ndarray]:
    """The rows, float64 (rows, words), and whether each is positive."""
    random = np.random.default_rng(0)
    share = 1 / np.arange(1, _WORDS + 1)
    share_of_positive = share * np.exp(random.normal(0, 0.5, _WORDS))
    positive = random.random(_ROWS) < 0.3
    row = np.repeat(np.arange(_ROWS), random.integers(60, 100, _ROWS))
    place = random.random(len(row))
    own = positive[row] & (random.random(len(row)) < 0.6)
    word, word_of_positive = (np.searchsorted(np.cumsum(s / s.sum()), place) for s in (share, share_of_positive))
    word = np.minimum(np.where(own, word_of_positive, word), _WORDS - 1)
    X = csr_array((np.ones(len(row)), (row, word)), shape=(_ROWS, _WORDS))
    X.sum_duplicates()
    X.data *= (np.log(_ROWS / np.maximum(np.bincount(X.indices, minlength=_WORDS), 1)) + 1)[X.indices]
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1))), np.diff(X.indptr))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, positive


def by_newton(X: Any, positive: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients and intercept."""
    w, b = newton.fit_hyperplane_by_newton(X, positive, np.ones(len(positive)), 2_000)
    return w, b


def by_libsvm(X: Any, positive: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients and intercept."""
    model = SVC(kernel="precomputed").fit(linear_kernel(X), positive)
    return X[model.support_].T @ model.dual_coef_[0], float(model.intercept_[0])


def main() -> None:
    X, positive = made()
    for rows in (5_000, 10_000, _ROWS):
        solved = []
        for solve in (by_newton, by_libsvm)[: 2 if rows < _ROWS else 1]:
            solved.append(timed(solve, X[:rows], positive[:rows]))
        if len(solved) == 2:
            compare(solved, X[-10_000:])


def timed(
    solve: Callable[[Any, np.ndarray], tuple[np.ndarray, float]], X: Any, positive: np.ndarray
) -> tuple[np.ndarray, float]:
    """What `solve` returns; prints its time and the minimum that it has found."""
    began = time.process_time()
    w, b = solve(X, positive)
    seconds = time.process_time() - began
    least = w @ w / 2 + np.maximum(1 - np.where(positive, 1, -1) * (X @ w + b), 0).sum()
    print(f"{len(positive):6} rows, {solve.__name__}: {seconds:5.2f} s of CPU, minimum {least:.4f}")
    return w, b


def compare(solved: list[tuple[np.ndarray, float]], rows: Any) -> None:
    """Print how near the decision values of two solutions are on rows that neither has learned from."""
    one, other = (rows @ w + b for w, b in solved)
    print(
        f"       on {len(one)} other rows {np.mean((one > 0) == (other > 0)):.2%} of the decisions are equal; values "
        f"differ by up to {abs(one - other).max():.1e} and correlate by 1 - {1 - np.corrcoef(one, other)[0, 1]:.0e}"
    )


if __name__ == "__main__":
    main()
