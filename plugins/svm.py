"""A linear support vector machine, tuned and calibrated on training rows left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import fsum
from typing import Any

import numpy as np

from filterkit import Learner, Stage, StageError, UsageError, hookimpl, option
from filterkit.plugin import LinearModel, Model, Outcome, Training, interruptible, measures, predicted

# Up to so many rows all their products are held at once, in 8 bytes each.
_PRODUCTS = 11_000


class Svm(Learner):
    """Predict the class or the labels by a linear support vector machine with hinge loss.

    The intercept is free, as in Weka's SMO and SVM-light: not penalised, as it is in LinearSVC. Each of several classes
    is held against the rest, and so is each label. The score is the decision value, positive for the positive class.

    Of several values of C, ``--c 0.01,0.1,1,10,100``, the best by a stratified inner cross-validation on the training
    rows is taken, for all tasks the same, and the smallest on a tie (Weka's rule); all stages before this one are
    fitted anew in each of its folds. ``--calibrate`` makes probabilities of scores by Platt's sigmoid, fitted on the
    scores of the rows left out. The training rows are held in memory, and up to 11,000 of them the products of all
    pairs; the time grows with the square of their number.
    """

    name = "svm"

    c: str = option("1", "C, the cost of training errors, or several values to choose from.")
    criterion: str = option("accuracy", "What the best C is best in.", choices=("accuracy", "f1", "auc"))
    calibrate: bool = option(False, "Put out probabilities, and predict what has more than a half.")
    folds: int | None = option(None, "Of the inner cross-validation.  [default: 5]", minimum=2)
    seed: int = option(0, "For drawing the folds.", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._costs = sorted({float(text) for text in self.c.split(",")})
        except ValueError:
            self._costs = []
        if not self._costs or not all(0 < cost < np.inf for cost in self._costs):
            raise UsageError(f"svm: --c must be a number above 0, or several as 0.1,1,10, not '{self.c}'")

    def inner_folds(self) -> int:
        return (self.folds or 5) if self.calibrate or len(self._costs) > 1 else 0

    def inner_seed(self) -> int:
        return self.seed

    def learn(self, training: Training) -> Model:
        return Hyperplanes(self.name, training).solve_all(training.truth, self._costs[0])

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        if self.folds is not None and self.folds > (rows := len(training.truth)):
            raise StageError(self.name, f"{self.folds} folds: there are only {rows} rows")
        trials = []
        for inner, outer in inner_splits:
            planes = Hyperplanes(self.name, inner)
            scores = np.empty((len(self._costs), *outer.truth.shape))
            for task, positive in enumerate(inner.truth.T):
                scores[:, :, task] = LinearModel(*planes.solve(positive, self._costs)).scores(outer.X).T
            trials.append((outer.truth, scores))
        if not trials:
            raise StageError(self.name, "no class has two training rows, one of which could be left out for a trial")
        exclusive = training.tasks.exclusive
        merits = np.array(
            [[_merit(truth, each, exclusive, self.criterion) for each in scores] for truth, scores in trials]
        )
        told = ~np.isnan(merits).any(axis=1)  # a fold without positive rows may tell nothing
        best = int(np.argmax([fsum(column) for column in merits[told].T]))  # exactly, for the sake of ties
        model = Hyperplanes(self.name, training).solve_all(training.truth, self._costs[best])
        if not self.calibrate:
            return model
        truth = np.concatenate([truth for truth, _ in trials])
        scores = np.concatenate([scores[best] for _, scores in trials])
        sigmoids = np.array([sigmoid(s, t) for s, t in zip(scores.T, truth.T)]).T
        return LinearModel(model.coefficients, model.intercepts, sigmoids, exclusive)


def _merit(truth: np.ndarray, scores: np.ndarray, exclusive: bool, criterion: str) -> float:
    return measures(Outcome(truth, predicted(scores, exclusive, 0.0), scores, exclusive), (criterion,))[criterion]


class Hyperplanes:
    """Linear SVMs on some training rows, which share the products of all pairs of rows if these are few enough."""

    def __init__(self, stage: str, training: Training) -> None:
        self.X = training.X
        self._stage = stage
        self._weights = training.weights
        self._products: Any = None
        check_products(stage, self.X)
        if 0 < len(training.truth) <= _PRODUCTS:
            from sklearn.metrics.pairwise import linear_kernel

            self._products = linear_kernel(self.X)

    def solve(self, positive: np.ndarray, costs: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, float64 (features, costs), and intercepts, float64 (costs,), of the SVMs that tell the rows
        that are `positive`, bool, from the others; where all or none are, no coefficients and intercepts of 1 or −1."""
        if positive.all() or not positive.any():
            return np.zeros((self.X.shape[1], len(costs))), np.full(len(costs), 1.0 if positive.all() else -1.0)
        multipliers, intercepts = np.zeros((len(positive), len(costs))), np.empty(len(costs))
        for number, cost in enumerate(costs):
            kernel, rows = ("linear", self.X) if self._products is None else ("precomputed", self._products)
            model = fitted_svc(self._stage, kernel, rows, positive, cost, self._weights)
            dual = model.dual_coef_
            multipliers[model.support_, number] = (dual.toarray() if hasattr(dual, "toarray") else dual)[0]
            intercepts[number] = model.intercept_[0]
        return self.X.T @ multipliers, intercepts

    def solve_all(self, truth: np.ndarray, cost: float) -> LinearModel:
        """The SVMs of all tasks, bool (rows, tasks)."""
        planes = [self.solve(positive, [cost]) for positive in truth.T]
        return LinearModel(np.hstack([w for w, _ in planes]), np.concatenate([b for _, b in planes]))


def check_products(stage: str, X: Any) -> None:
    """Raise a `StageError` where libsvm could only compute noise: the products of rows overflow, or no two rows differ
    by as much as the rounding of their products, which libsvm keeps in single precision.

    Parameters
    ----------
    stage : the name of the stage that asks.
    X : float64 (rows, features), ndarray or `csr_array`, finite.
    """
    if not X.shape[0]:
        return
    sparse = hasattr(X, "tocsr")
    with np.errstate(over="ignore", under="ignore"):
        longest = float((X.multiply(X) if sparse else X * X).sum(axis=1).max())
        low, high = (each.toarray() if sparse else each for each in (X.min(axis=0), X.max(axis=0)))
        apart = float(((high - low) ** 2).sum())  # no two rows are farther
    if not np.isfinite(longest):
        raise StageError(stage, "values are too large for their products; put standardize, range or l2 before it")
    if 0 < apart < longest * np.finfo(np.float32).eps / 2:
        raise StageError(
            stage,
            "values are so large that the differences between rows are lost in their products; "
            "put standardize or range before it",
        )


def fitted_svc(
    stage: str, kernel: str, rows: Any, positive: np.ndarray, cost: float, weights: np.ndarray | None
) -> Any:
    """A fitted `sklearn.svm.SVC`.

    Parameters
    ----------
    stage : the name of the stage that asks.
    kernel : ``linear``, and `rows` is X; or ``precomputed``, and `rows` has their products.
    positive, cost, weights : bool (rows,), C, and float64 (rows,) or None.

    Raises
    ------
    StageError : libsvm finds no solution in so many steps as would take some minutes.
    """
    from sklearn.svm import SVC

    model = SVC(kernel=kernel, C=cost, max_iter=_most_steps(len(positive)))
    with quietly():
        interruptible(partial(model.fit, sample_weight=weights), rows, positive)
    if model.fit_status_:
        raise StageError(
            stage,
            f"no solution for C={cost:g} in {model.max_iter:,} steps, because values are large or columns of very "
            "different size; put standardize, range or l2 before it",
        )
    return model


@contextmanager
def quietly() -> Iterator[None]:
    """scikit-learn does not warn that it has not converged, which the caller finds out by itself."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def _most_steps(rows: int) -> int:
    """The steps that libsvm may take. Its own program allows the larger of ten million and 100 a row, of which scaled
    values need few; values that are not scaled may need more, so a few rows, whose steps are short, get more."""
    return max(10_000_000, 100 * rows, min(200_000_000, 100_000_000_000 // max(rows, 1)))


def sigmoid(scores: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """a and b of the sigmoid 1 / (1 + exp(a s + b)) that fits scores best, by maximum likelihood against Platt's
    targets, (n₊ + 1) / (n₊ + 2) for positive rows and 1 / (n₋ + 2) for others (J. Platt 1999, section 2.2).

    Parameters
    ----------
    scores, positive : float64 and bool, (rows,).
    """
    from sklearn.linear_model import LogisticRegression

    many = np.count_nonzero(positive)
    target = np.where(positive, (many + 1) / (many + 2), 1 / (len(positive) - many + 2))
    middle, scale = float(scores.mean()), float(scores.std())
    if not scale > 1e-12 * abs(middle):  # they say nothing
        return 0.0, float(np.log(len(target) / target.sum() - 1))
    twice = (np.concatenate([scores, scores])[:, None] - middle) / scale
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    with quietly():  # it warns of steps that change nothing any more
        model.fit(twice, np.repeat([True, False], len(scores)), sample_weight=np.concatenate([target, 1 - target]))
    a = -float(model.coef_[0, 0]) / scale
    return a, -float(model.intercept_[0]) - a * middle


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Svm]
