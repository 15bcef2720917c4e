"""Models: what learners make of training rows, and what they make of others.

What is to be learned is a number of *tasks*, each to tell some rows from all others: those of the positive class,
of each of several classes, or that have a label. A model gives each row a score for each task.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from filterkit.data.batch import Batch
from filterkit.data.schema import Schema
from filterkit.errors import FilterkitError


class Tasks(NamedTuple):
    """What is to be learned.

    Attributes
    ----------
    names : of the classes or labels to tell from all others.
    codes : int64 (tasks,), the code of each class among the class's values, or the place of each label.
    exclusive : whether a row is of exactly one of them: they are the classes of a nominal class.
    """

    names: tuple[str, ...]
    codes: np.ndarray
    exclusive: bool

    def truth(self, batch: Batch) -> np.ndarray:
        """bool (rows, tasks): whether each row is of each class, or has each label."""
        assert batch.y is not None
        if batch.schema.labels:
            return np.asarray(batch.y[:, self.codes] == 1)
        return np.asarray(batch.y[:, None] == self.codes)


class Training(NamedTuple):
    """Training rows in memory: those whose class or labels are known and whose weight is above 0.

    Attributes
    ----------
    X : float64 (rows, features), ndarray or `scipy.sparse.csr_array`, without missing and infinite values.
    truth : bool (rows, tasks).
    weights : float64 (rows,), or None when all are 1.
    tasks : what the columns of `truth` are.
    schema : what the columns of X are: its `features`.
    jobs : threads that may be used; what is learned must not depend on them.
    """

    X: Any
    truth: np.ndarray
    weights: np.ndarray | None
    tasks: Tasks
    schema: Schema
    jobs: int = 1


class Model(Protocol):
    """What a learner has learned.

    Attributes
    ----------
    threshold : the score above which a row is taken for one of a task.
    """

    threshold: float

    def scores(self, X: Any) -> np.ndarray:
        """float64 (rows, tasks) of the rows of a `csr_array` or ndarray; each row by itself, to the last bit."""

    def get_state(self) -> dict[str, Any]:
        """As `Fitted.get_state`."""


class Outcome(NamedTuple):
    """What a test fold holds and what was said of it; a task is one question of yes or no.

    Attributes
    ----------
    truth : bool (rows, tasks), whether a row is positive.
    predicted : bool (rows, tasks), whether it is predicted so.
    scores : float64 (rows, tasks), the higher, the more positive; only their order counts.
    exclusive : whether the tasks are the values of one nominal class, of which a row has one.
    """

    truth: np.ndarray
    predicted: np.ndarray
    scores: np.ndarray
    exclusive: bool


class LinearModel:
    """Scores that are linear in the features.

    Parameters
    ----------
    coefficients : float64 (features, tasks).
    intercepts : float64 (tasks,).
    sigmoids : None, or float64 (2, tasks): a score s becomes the probability 1 / (1 + exp(a s + b)) (Platt), and the
        probabilities of exclusive tasks, if there are several, are divided by their sum.
    exclusive : whether tasks are.
    """

    def __init__(
        self,
        coefficients: np.ndarray,
        intercepts: np.ndarray,
        sigmoids: np.ndarray | None = None,
        exclusive: bool = False,
    ) -> None:
        self.coefficients = coefficients
        self.intercepts = intercepts
        self.sigmoids = sigmoids
        self.exclusive = exclusive
        self.threshold = 0.0 if sigmoids is None else 0.5

    @classmethod
    def from_state(cls, kept: dict[str, Any], features: int, tasks: Tasks) -> LinearModel:
        """The model that `kept` has, which may be damaged."""
        model = cls(kept["coefficients"], kept["intercepts"], kept.get("sigmoids"), tasks.exclusive)
        parts = [model.coefficients, model.intercepts, *([] if model.sigmoids is None else [model.sigmoids])]
        shapes = [(features, len(tasks.names)), (len(tasks.names),), (2, len(tasks.names))]
        if any(part.shape != shape or part.dtype != np.float64 for part, shape in zip(parts, shapes)):
            raise FilterkitError("a model in it does not fit its features")
        return model

    def get_state(self) -> dict[str, Any]:
        """As `Fitted.get_state`."""
        kept = {"coefficients": self.coefficients, "intercepts": self.intercepts}
        return kept if self.sigmoids is None else {**kept, "sigmoids": self.sigmoids}

    def scores(self, X: Any) -> np.ndarray:
        """As `Model.scores`: a sparse product adds up each row in the order of its columns, which BLAS does not."""
        if isinstance(X, np.ndarray):
            from scipy.sparse import csr_array

            X = csr_array(X)
        scores = np.asarray(X @ self.coefficients + self.intercepts)
        if self.sigmoids is None:
            return scores
        from scipy.special import expit

        probabilities = np.asarray(expit(-(scores * self.sigmoids[0] + self.sigmoids[1])))
        if self.exclusive and probabilities.shape[1] > 1:
            total = probabilities.sum(axis=1, keepdims=True)
            probabilities = np.divide(
                probabilities, total, out=np.full_like(probabilities, 1 / probabilities.shape[1]), where=total > 0
            )
        return probabilities


def predicted(scores: np.ndarray, exclusive: bool, threshold: float) -> np.ndarray:
    """bool (rows, tasks): of exclusive tasks the one of the highest score, the first on a tie; of one task or of
    labels all above the threshold."""
    if exclusive and scores.shape[1] > 1:
        return np.asarray(np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None])
    return np.asarray(scores > threshold)
