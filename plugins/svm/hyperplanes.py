"""Solve linear SVMs by libsvm or, for many rows, by Newton steps; refuse rows for which neither can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from filterkit import StageError
from filterkit.plugin import Bools, Floats, call_interruptibly

from . import newton

# libsvm solves up to this many rows. Its time grows with their square, and so does the memory for their products, here
# 128 MB. The limit does not depend on `--memory`, because what comes out must not.
_LIBSVM_ROWS = 4_000
_LIBSVM_STEPS = 10_000_000
_LIBSVM_WORK = 2_000_000_000  # steps times rows; some ten seconds
_NEWTON_STEPS = 2_000  # hard problems with scaled values take some hundred


class SvmSolver:
    """Solves linear SVMs on the same training rows.

    Parameters
    ----------
    stage : the name of the stage, for messages.
    X : float64 (rows, features), ndarray or `csr_array`, finite.
    weights : float64 (rows,), instance weights; None if all are 1.

    Raises
    ------
    StageError : products of rows overflow. Or values are so large, and rows so close to each other, that the rounding
        of their products, which libsvm stores in single precision, is larger than their differences.
    """

    def __init__(self, stage: str, X: Any, weights: Floats | None) -> None:
        self.X = X
        self._stage = stage
        self.weights = weights
        if not X.shape[0]:
            return
        with np.errstate(over="ignore", under="ignore"):
            longest = (X * X).sum(axis=1).max()
            low, high = (e.toarray() if hasattr(e, "toarray") else e for e in (X.min(axis=0), X.max(axis=0)))
            apart = ((high - low) ** 2).sum()  # at least the largest squared distance of two rows
        if not np.isfinite(longest):
            raise StageError(stage, "values are too large for their products; put standardize, range or l2 before it")
        if 0 < apart < longest * np.finfo(np.float32).eps / 2:
            raise StageError(
                stage,
                "values are so large that the differences between rows are lost in their products; "
                "put standardize or range before it",
            )

    @cached_property
    def _row_products(self) -> Any:
        """The products of all pairs of rows, float64 (rows, rows), computed once for all classes and values of C."""
        from sklearn.metrics.pairwise import linear_kernel

        return linear_kernel(self.X)

    def fit_hyperplanes(self, positive: Bools, costs: Sequence[float]) -> tuple[Floats, Floats]:
        """Separate the positive rows from the others, once for each C.

        Parameters
        ----------
        positive : bool (rows,). If all rows are positive, coefficients are 0 and intercepts 1; if none is, 0 and −1.
        costs : the values of C.

        Returns
        -------
        Coefficients, float64 (features, costs), and intercepts, float64 (costs,).

        Raises
        ------
        StageError : neither libsvm nor Newton's method finds a solution.
        """
        if positive.all() or not positive.any():
            return np.zeros((self.X.shape[1], len(costs))), np.full(len(costs), 1.0 if positive.all() else -1.0)
        multipliers, intercepts = np.zeros((len(positive), len(costs))), np.empty(len(costs))
        unsolved = []  # by libsvm
        for number, cost in enumerate(costs):
            model = self._fit_svc("precomputed", positive, cost)
            if model is None:
                unsolved.append(number)
                continue
            multipliers[model.support_, number] = model.dual_coef_[0]
            intercepts[number] = model.intercept_[0]
            if self.weights is not None:
                signed = multipliers[:, number]
                middle = _find_middle_intercept(
                    self._row_products @ signed, np.abs(signed), positive, cost * self.weights
                )
                if middle is not None:
                    intercepts[number] = middle
        coefficients = self.X.T @ multipliers
        for number in unsolved:
            coefficients[:, number], intercepts[number] = self._fit_hyperplane_by_newton(positive, costs[number])
        return coefficients, intercepts

    def fit_normal_vector(self, positive: Bools, cost: float) -> Floats:
        """Separate the positive rows from the others with C `cost`; return the coefficients alone: float64 (features,).

        `positive`, bool (rows,), must have some True and some False. Unlike `fit_hyperplanes`, this does not store the
        products of all pairs of rows. Raise StageError if neither libsvm nor Newton's method finds a solution.
        """
        model = self._fit_svc("linear", positive, cost)
        if model is None:
            return self._fit_hyperplane_by_newton(positive, cost)[0]
        w = model.coef_
        return np.asarray(w.toarray() if hasattr(w, "toarray") else w).ravel()

    def _fit_hyperplane_by_newton(self, positive: Bools, cost: float) -> tuple[Floats, float]:
        """Do what `newton.fit_hyperplane_by_newton` does with C `cost`; raise StageError if it finds no solution."""
        costs = np.full(len(positive), cost) if self.weights is None else cost * self.weights
        try:
            with np.errstate(all="ignore"):
                return newton.fit_hyperplane_by_newton(self.X, positive, costs, _NEWTON_STEPS)
        except newton.NoSolution:
            raise StageError(
                self._stage,
                f"no solution for C={cost:g} in {_NEWTON_STEPS:,} Newton steps; "
                "choose a smaller C, or put standardize, range or l2 before it",
            ) from None

    def _fit_svc(self, kernel: str, positive: Bools, cost: float) -> Any | None:
        """Fit a `sklearn.svm.SVC`, and return it; None if there are too many rows, or libsvm needs too many steps.

        `kernel` is ``linear``, or ``precomputed`` to use the stored products of all pairs of rows.
        """
        # Values that are not scaled need many steps. With a very large C the multipliers grow until their rounding
        # hides the margin, and most steps lead nowhere.
        if len(positive) > _LIBSVM_ROWS:
            return None
        from sklearn.svm import SVC

        rows = self._row_products if kernel == "precomputed" else self.X
        most = min(_LIBSVM_STEPS, _LIBSVM_WORK // len(positive))
        # gamma is of other kernels, and by default of a variance that may overflow.
        model = SVC(kernel=kernel, C=cost, gamma=1.0, max_iter=most)
        with ignore_convergence_warning():
            call_interruptibly(partial(model.fit, sample_weight=self.weights), rows, positive)
        return None if model.fit_status_ else model


def _find_middle_intercept(scores: Floats, multipliers: Floats, positive: Bools, costs: Floats) -> float | None:
    """Return the middle of the interval of the best intercepts; None if there is only one, or no end to the interval.

    If the costs of the positive rows inside the margin have the same sum as those of the others, all intercepts of an
    interval are equally good. libsvm takes its middle, but not if rounding has made one sum smaller: then one
    multiplier is not quite at its bound, and its row puts the intercept at an end.

    Parameters
    ----------
    scores : float64 (rows,), without an intercept.
    multipliers : float64 (rows,), Lagrange multipliers of the solution, from 0 to the cost of the row.
    positive : bool (rows,).
    costs : float64 (rows,), C times the weight of each row.
    """
    rounding = newton.ROUNDING * costs.sum()
    above, below = multipliers > rounding, multipliers < costs - rounding
    if (above & below).any():  # such a row is at its margin, and so there is one intercept
        return None
    exact = np.where(positive, 1.0, -1.0) - scores  # the intercept with which a row would be at its margin
    least, most = newton.compute_intercept_bounds(exact, positive, above, below)
    return (least + most) / 2 if least < most and np.isfinite(most - least) else None


@contextmanager
def ignore_convergence_warning() -> Iterator[None]:
    """Ignore `ConvergenceWarning` of scikit-learn inside a ``with`` block; the caller checks convergence itself."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
