"""A linear support vector machine, tuned and calibrated on training rows left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any

import numpy as np

from filterkit import (
    Learner,
    LinearModel,
    Model,
    Outcome,
    Stage,
    StageError,
    Training,
    UsageError,
    hookimpl,
    measures,
    option,
    predicted,
)

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
    folds: int = option(5, "Of the inner cross-validation.", minimum=2)
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
        return self.folds if self.calibrate or len(self._costs) > 1 else 0

    def inner_seed(self) -> int:
        return self.seed

    def learn(self, training: Training) -> Model:
        return Hyperplanes(self.name, training).solve_all(training.truth, self._costs[0])

    def learn_refitting(self, training: Training, refits: Iterator[tuple[Training, Training]]) -> Model:
        trials = []
        for inner, outer in refits:
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
        self._weights = training.weights
        self._products: Any = None
        if 0 < len(training.truth) <= _PRODUCTS:
            from sklearn.metrics.pairwise import linear_kernel

            self._products = linear_kernel(self.X)
            if not np.isfinite(self._products).all():
                raise StageError(stage, "values are too large for their products; put range or l2 before it")

    def solve(self, positive: np.ndarray, costs: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, float64 (features, costs), and intercepts, float64 (costs,), of the SVMs that tell the rows
        that are `positive`, bool, from the others; where all or none are, no coefficients and intercepts of 1 or −1."""
        from sklearn.svm import SVC

        if positive.all() or not positive.any():
            return np.zeros((self.X.shape[1], len(costs))), np.full(len(costs), 1.0 if positive.all() else -1.0)
        multipliers, intercepts = np.zeros((len(positive), len(costs))), np.empty(len(costs))
        for number, cost in enumerate(costs):
            model = SVC(kernel="linear" if self._products is None else "precomputed", C=cost)
            model.fit(self.X if self._products is None else self._products, positive, sample_weight=self._weights)
            dual = model.dual_coef_
            multipliers[model.support_, number] = (dual.toarray() if hasattr(dual, "toarray") else dual)[0]
            intercepts[number] = model.intercept_[0]
        return self.X.T @ multipliers, intercepts

    def solve_all(self, truth: np.ndarray, cost: float) -> LinearModel:
        """The SVMs of all tasks, bool (rows, tasks)."""
        planes = [self.solve(positive, [cost]) for positive in truth.T]
        return LinearModel(np.hstack([w for w, _ in planes]), np.concatenate([b for _, b in planes]))


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
    model.fit(twice, np.repeat([True, False], len(scores)), sample_weight=np.concatenate([target, 1 - target]))
    a = -float(model.coef_[0, 0]) / scale
    return a, -float(model.intercept_[0]) - a * middle


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Svm]
