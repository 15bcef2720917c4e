"""The learner `svm`: a linear support vector machine, tuned and calibrated on held-out training rows."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import numpy as np

from filterkit import Learner, StageError, UsageError, option
from filterkit.plugin import LinearModel, Model, Outcome, Training, measures, predicted

from .calibration import sigmoid
from .hyperplanes import Hyperplanes


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
            if not np.isfinite(scores).all():
                raise StageError(self.name, "values are too large for scores; put standardize or range before it")
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
