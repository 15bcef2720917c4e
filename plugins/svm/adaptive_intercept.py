"""Learn an SVM that adapts C and then its intercept (Anghelescu and Muchnik): the learner `aisvm`."""

from __future__ import annotations

import numpy as np

from filterkit import Learner, StageError, option
from filterkit.plugin import Bools, Floats, LinearModel, Model, Training

from .hyperplanes import SvmSolver

_LEAST = 1e-300  # less is no exact square


class AiSvm(Learner):
    """Predict by a linear SVM whose C and intercept are chosen to find the positive rows of a rare class.

        filterkit in.arff standardize aisvm

    The first C is 1 / the mean length of the rows. The stage then tries two, three and more times as much, up to
    ``--steps`` times, until the recall of the rarer class on the training rows is at least ``--high`` (Algorithm 1 of
    A. Anghelescu and I. Muchnik, *Optimization of SVM in a Space of Two Parameters*). The text of that paper asks only
    for a recall of 0.3, which is ``--high 0.3``. If the recall of the last C is 1, the C before it is taken, if there
    is one.

    Rows that score above a threshold are positive. From where the SVM has it, the threshold only goes down: to the
    middle between each two neighbouring training scores and, at last, to the lowest score less 1/2. It is put where the
    sensitivity is largest while the specificity is at least ``--specificity``. It stays where it is if no lower one
    finds more positive rows within this limit. Both measures are those of the training rows, where the specificity is
    far too good. If the limit is reached before all positive training rows are found, the specificity on other rows is
    therefore much lower than the limit.

    With several classes, each is compared with the rest; so is each label. Up to 4,000 rows are solved by libsvm, and
    more rows by Newton steps, as in the stage `svm`.
    """

    name = "aisvm"
    regressor = "predict LinearSVR"

    length: str = option(
        "norm",
        "Default C: 1 / the mean Euclidean norm of the rows, as in the paper, or 1 / the mean squared norm, as in "
        "SVM-light; for rows of length 1 both are the same.",
        choices=("norm", "squared"),
    )
    high: float = option(0.75, "Training recall at which C stops growing.", minimum=0, maximum=1)
    steps: int = option(20, "Upper limit for C, as a multiple of the default.", minimum=1, maximum=1_000_000)
    specificity: float = option(0.85, "Lower limit for the training specificity.", minimum=0, maximum=1)

    def learn(self, training: Training) -> Model:
        X = training.X
        with np.errstate(over="ignore"):
            squares = (X * X).sum(axis=1)
            lengths = squares if self.length == "squared" else np.sqrt(squares)
            mean = float(np.average(lengths, weights=training.weights))
        if not np.isfinite(mean):
            raise StageError(self.name, "values are too large for their squares; put range or l2 before it")
        if squares.max() < _LEAST and (X.data if hasattr(X, "multiply") else X).any():
            raise StageError(self.name, "values are too small for their squares; put range or l2 before it")
        if not mean:
            raise StageError(self.name, "all training rows are zero, which leaves nothing to learn; add other rows")
        solver = SvmSolver(self.name, X, training.weights)
        planes, intercepts = [], []
        for positive in training.truth.T:
            planes.append(self._fit_with_adapted_cost(solver, training, positive, 1 / mean))
            coefficients, intercept, _ = planes[-1]
            scores = LinearModel(coefficients, np.zeros(1)).scores(X)[:, 0]
            weights = training.row_weights
            intercepts.append(-find_most_sensitive_threshold(scores, positive, -intercept, self.specificity, weights))
        every, _, costs = zip(*planes)
        return LinearModel(np.hstack(every), np.array(intercepts), chosen={"C": np.array(costs)})

    def _fit_with_adapted_cost(
        self, solver: SvmSolver, training: Training, positive: Bools, default_cost: float
    ) -> tuple[Floats, float, float]:
        """Fit SVMs with C = 1, 2, … times `default_cost`, until training recall is at least ``--high`` (Algorithm 1).

        Stop at ``--steps`` times. Return the coefficients, float64 (features, 1), the intercept and C of the last SVM;
        or of the one before, if there is one and the recall of the last is 1. The recall is that of the rarer side: the
        rows where `positive`, bool (rows,), is True, or the other rows.
        """
        X, weights = training.X, training.row_weights
        target = positive if 2 * weights[positive].sum() <= weights.sum() else ~positive
        planes: list[tuple[Floats, float, float]] = []
        for step in range(1, self.steps + 1):
            coefficients, intercepts = solver.fit_hyperplanes(positive, [step * default_cost])
            planes = [*planes[-1:], (coefficients, float(intercepts[0]), step * default_cost)]
            found = (X @ coefficients[:, 0] + intercepts[0] > 0) == positive
            if target.any() and found[target].all():
                return planes[0]
            recall = weights[found & target].sum() / weights[target].sum() if target.any() else 0.0
            if recall >= self.high:
                break
        return planes[-1]


def find_most_sensitive_threshold(
    scores: Floats, positive: Bools, current: float, min_specificity: float, weights: Floats
) -> float:
    """Find the threshold with the largest sensitivity whose specificity is at least `min_specificity` (section 2.2).

    Rows that score above a threshold are predicted as positive. The thresholds to try are `current`, the present one,
    and lower ones: half-way between neighbouring scores, and the lowest score less 1/2. Of those with the largest
    sensitivity, the result is the highest. It may be `current` even if that is not specific enough, and is `current` if
    all rows are positive.

    `scores`, `positive` and `weights` are float64, bool and float64 (rows,): the score of each row, whether it is
    positive, and its weight.
    """
    values = np.unique(scores[scores <= current])[::-1]
    if not len(values) or positive.all():
        return current
    below = (values + np.append(values[1:], values[-1] - 1)) / 2  # each of the values
    thresholds = np.append(current, below)
    order = np.argsort(scores, kind="stable")
    at = np.searchsorted(scores[order], thresholds, side="right")
    # The weights of the positive rows, and of the others, that score at most each threshold.
    missed, rejected = (np.append(0.0, np.cumsum((weights * own)[order]))[at] for own in (positive, ~positive))
    found = weights[positive].sum() - missed
    found[1:][rejected[1:] / weights[~positive].sum() < min_specificity] = 0
    return float(thresholds[found.argmax()])
