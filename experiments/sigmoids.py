"""Sigmoids as seed 000 fits them: on scores of two halves, or, as the lesion "Platt − CV" of section 4.3, on scores of
rows that the SVM has seen."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from filterkit_plugins.svm.calibration import fit_sigmoid
from filterkit_plugins.svm.learner import Svm

from filterkit import Stage, hookimpl
from filterkit.plugin import LinearModel, Model, Training


class Halved(Svm):
    """Predict by an SVM whose sigmoid is fitted on the scores of each half of its training rows by an SVM of the other.

    Weka's SMO does it in this way (option -V 2): C is chosen before, and the stages before the learner have seen both
    halves.
    """

    name = "svm-halved"

    def learn(self, training: Training) -> Model:
        return self._halved(super().learn(training), training, self.c)

    def _move_threshold_or_calibrate(
        self, model: LinearModel, training: Training, trials: list[Any], best: int
    ) -> LinearModel:
        return self._halved(model, training, self.c.split(",")[best])

    def _halved(self, model: Model, training: Training, c: str) -> LinearModel:
        assert isinstance(model, LinearModel)
        learner = Svm(c=c)
        scores = np.empty(training.truth.shape)
        halves = _halves(training.truth, self.seed)
        for half in (True, False):
            other = learner.learn(_rows(training, halves != half))
            scores[halves == half] = other.scores(training.X[halves == half])
        return _calibrated(model, training, scores)


class Uncrossed(Svm):
    """Predict by an SVM whose sigmoid is fitted on the scores of its own training rows.

    This is `svm --calibrate` without cross-validation of the sigmoid. C is still chosen on held-out rows.
    """

    name = "svm-uncrossed"

    def learn(self, training: Training) -> Model:
        return _of_own_rows(super().learn(training), training)

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        return _of_own_rows(super().learn_with_inner_cv(training, inner_splits), training)


def _halves(truth: np.ndarray, seed: int) -> np.ndarray:
    """bool (rows,): two halves with equally many of each class, but for one row, drawn with this seed."""
    drawn = np.random.default_rng(seed).permutation(len(truth))
    ordered = drawn[np.argsort(truth[drawn].argmax(axis=1) if truth.shape[1] > 1 else truth[drawn, 0], kind="stable")]
    halves = np.empty(len(truth), bool)
    halves[ordered] = np.arange(len(truth)) % 2 == 0
    return halves


def _rows(training: Training, chosen: np.ndarray) -> Training:
    weights = training.weights if training.weights is None else training.weights[chosen]
    return training._replace(X=training.X[chosen], truth=training.truth[chosen], weights=weights)


def _of_own_rows(model: Model, training: Training) -> LinearModel:
    assert isinstance(model, LinearModel)
    return _calibrated(model, training, model.scores(training.X))


def _calibrated(model: LinearModel, training: Training, scores: np.ndarray) -> LinearModel:
    weights, pairs = training.row_weights, zip(scores.T, training.truth.T, strict=True)
    sigmoids = np.array([fit_sigmoid(s, t, weights) for s, t in pairs]).T
    return LinearModel(model.coefficients, model.intercepts, sigmoids, training.tasks.exclusive)


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Halved, Uncrossed]
