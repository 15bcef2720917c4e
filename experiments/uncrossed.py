"""The lesion "Platt − CV" of seed 000, section 4.3: a sigmoid fitted on scores of the rows that the SVM has seen."""

from collections.abc import Iterator

import numpy as np
from filterkit_plugins.svm.calibration import sigmoid
from filterkit_plugins.svm.learner import Svm

from filterkit import Stage, hookimpl
from filterkit.plugin import LinearModel, Model, Training


class Uncrossed(Svm):
    """Predict by an SVM whose sigmoid is fitted on the scores of its own training rows.

    This is `svm --calibrate` without cross-validation of the sigmoid. C is still chosen on held-out rows.
    """

    name = "svm-uncrossed"

    def learn(self, training: Training) -> Model:
        return _calibrated(super().learn(training), training)

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        return _calibrated(super().learn_with_inner_cv(training, inner_splits), training)


def _calibrated(model: Model, training: Training) -> Model:
    assert isinstance(model, LinearModel)
    scores = model.scores(training.X)
    sigmoids = np.array([sigmoid(s, t) for s, t in zip(scores.T, training.truth.T, strict=True)]).T
    return LinearModel(model.coefficients, model.intercepts, sigmoids, training.tasks.exclusive)


@hookimpl
def filterkit_stages() -> list[type[Stage]]:
    return [Uncrossed]
