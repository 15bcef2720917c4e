"""The adaptive-intercept SVM (Anghelescu and Muchnik): C and intercept from the training rows alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit import Learner, StageError, UsageError, option
from filterkit.plugin import LinearModel, Model, Training

from .hyperplanes import Hyperplanes

_LEAST = 1e-300  # less is no exact square


class AiSvm(Learner):
    """Predict by a linear SVM whose C and intercept favour finding the positive rows, for classes of few rows.

    C grows in steps of a default, 1 / the mean length of the rows, until the training recall of the rarer class is at
    least ``--high`` (Algorithm 1 of the paper); with ``--until low`` until it is at least ``--low``, as soon as it is
    inside the range, which is what the paper's text says. If the last recall is 1, the C before it is taken.

    Then the intercept moves from one training score to the next, half-way between them, for the largest sensitivity
    with a specificity of at least ``--specificity``, and stops where all positive training rows are found. Both are
    measured on the training rows, where the specificity is far too good: a bound that is reached before all positive
    rows are found gives away much of it on other rows.

    Each of several classes is held against the rest, and so is each label.
    """

    name = "aisvm"

    length: str = option(
        "norm",
        "The default C is 1 / the mean of the rows' Euclidean norms, as the paper has it, or of their squares, "
        "as SVM-light does; the same for rows of length 1.",
        choices=("norm", "squared"),
    )
    low: float = option(0.3, "The training recall from which --until low stops.", minimum=0, maximum=1)
    high: float = option(0.75, "The training recall from which C grows no more.", minimum=0, maximum=1)
    until: str = option("high", "Which of the two ends it.", choices=("high", "low"))
    steps: int = option(20, "C is at most so many times the default.", minimum=1, maximum=1_000_000)
    specificity: float = option(0.85, "The least training specificity.", minimum=0, maximum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise UsageError(f"aisvm: --low {self.low:g} is above --high {self.high:g}")

    def learn(self, training: Training) -> Model:
        X = training.X
        with np.errstate(over="ignore"):
            squares = np.asarray(X.multiply(X).sum(axis=1)) if hasattr(X, "multiply") else (X * X).sum(axis=1)
            mean = float(np.mean(squares.ravel() if self.length == "squared" else np.sqrt(squares.ravel())))
        if not np.isfinite(mean):
            raise StageError(self.name, "values are too large for their squares; put range or l2 before it")
        if squares.max() < _LEAST and (X.data if hasattr(X, "multiply") else X).any():
            raise StageError(self.name, "values are too small for their squares; put range or l2 before it")
        if not mean:
            raise StageError(self.name, "all training rows are zero, which leaves nothing to learn")
        solver = Hyperplanes(self.name, training)
        coefficients = np.zeros((X.shape[1], len(training.tasks.names)))
        intercepts = np.zeros(len(training.tasks.names))
        for task, positive in enumerate(training.truth.T):
            coefficients[:, task], intercept = self._adapted(solver, X, positive, 1 / mean)
            scores = LinearModel(coefficients[:, task : task + 1], np.zeros(1)).scores(X)[:, 0]
            intercepts[task] = -adapted_threshold(scores, positive, -intercept, self.specificity)
        return LinearModel(coefficients, intercepts)

    def _adapted(self, solver: Hyperplanes, X: Any, positive: np.ndarray, unit: float) -> tuple[np.ndarray, float]:
        """Coefficients and intercept of the SVM with the effective C: Algorithm 1 of the paper and the text before."""
        target = positive if 2 * np.count_nonzero(positive) <= len(positive) else ~positive
        bound = self.high if self.until == "high" else self.low

        def solved(step: int) -> tuple[np.ndarray, float]:
            coefficients, intercepts = solver.solve(positive, [step * unit])
            return coefficients[:, 0], float(intercepts[0])

        before = plane = solved(1)
        for step in range(1, self.steps + 1):
            if step > 1:
                before, plane = plane, solved(step)
            found = (X @ plane[0] + plane[1] > 0) == positive
            recall = np.count_nonzero(found & target) / max(int(np.count_nonzero(target)), 1)
            if recall >= bound:
                return before if recall == 1 else plane
        return plane


def adapted_threshold(scores: np.ndarray, positive: np.ndarray, threshold: float, least: float) -> float:
    """The threshold with the largest sensitivity and a specificity of at least `least` (2.2 of the paper), or the
    present one if there is nothing to gain.

    Tried are thresholds half-way between neighbouring scores below the present one, from the top; of those with the
    largest sensitivity the first is taken, which has the largest specificity.

    Parameters
    ----------
    scores, positive : float64 and bool, (rows,), of the training rows.
    threshold : the present one; rows that score above it are taken for positive.
    least : share of the other rows.
    """
    values = np.unique(scores[scores <= threshold])[::-1]
    if not len(values) or positive.all():
        return threshold
    thresholds = (values + np.append(values[1:], values[-1] - 1)) / 2  # below each of the values
    found, kept = np.sort(scores[positive]), np.sort(scores[~positive])
    sensitivity = len(found) - np.searchsorted(found, thresholds, side="right")
    specificity = np.searchsorted(kept, thresholds, side="right") / len(kept)
    sensitivity[specificity < least] = 0
    best = int(sensitivity.argmax())
    return float(thresholds[best]) if sensitivity[best] > np.count_nonzero(found > threshold) else threshold
