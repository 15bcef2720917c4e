"""Models that learners learn from training rows, and that score rows.

A learner learns one or several *tasks*. Each separates some rows, the *positive* ones, from all others: those of the
positive class, those of one of several classes, or those that have a label. Each target of multi-target data is
separated as a class is. A model gives each row a score for each task. A numeric class, and each numeric target, is a
task whose scores are the predicted numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Union

import numpy as np

from filterkit.data.arithmetic import Bools, Floats, Ints
from filterkit.data.batch import Batch
from filterkit.data.products import multiply_rows
from filterkit.data.schema import Schema
from filterkit.data.targets import choose_positive_codes
from filterkit.errors import FilterkitError, quoted
from filterkit.stages.base import State
from filterkit.stages.learned import LearnedTable, list_feature_names, make_learned_table

# Which tasks are values of one nominal attribute: all (True), no two of them (False), or those with the same number,
# int (tasks,), ascending. Of several such tasks, a row is positive in exactly one.
Exclusive = Union[bool, "np.ndarray"]


class Tasks(NamedTuple):
    """Names the tasks that a model learns, and says which values of the class or labels they separate.

    Attributes
    ----------
    names : the names of the classes or labels to separate from all others; ``target=value`` in multi-target data. Of
        numeric tasks, the names of the class or the targets.
    codes : int64 (tasks,), the index of each class among the values of the class attribute, or of each label among
        `Schema.label_values`. Of numeric tasks, 0, 1, and so on.
    exclusive : True if they are values of a nominal class: of several tasks, each row is then positive in exactly one.
        False if they are labels or numeric. In multi-target data, int64 (tasks,), ascending, the index of the target
        that each is a value of: of several tasks of one target, each row is positive in exactly one.
    means : float64 (tasks,), the weighted mean of the numeric class, or of each numeric target, over the training rows.
        None unless numbers are predicted.
    """

    names: tuple[str, ...]
    codes: Ints
    exclusive: Exclusive
    means: Floats | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether numbers are predicted."""
        return self.means is not None

    @property
    def group_bounds(self) -> list[int]:
        """The index of the first task of the class or of each target; last, the number of tasks."""
        return find_group_bounds(self.exclusive, len(self.names))

    def truth(self, batch: Batch) -> np.ndarray:
        """Return bool (rows, tasks), which rows are positive in which tasks.

        Of numeric tasks, return float64 (rows, tasks), the true numbers, which share the memory of `batch.y`. `batch.y`
        must be known in all rows.
        """
        assert batch.y is not None
        y = batch.y if batch.y.ndim > 1 else batch.y[:, None]
        if self.is_numeric:
            return y
        target, value = self.find_task_values(batch.schema)
        return np.asarray(y[:, target] == value)

    def find_task_values(self, schema: Schema) -> tuple[Ints, Ints]:
        """Return two int (tasks,) that say which target each task is about, and which value the target has if positive.

        The first has 0 for the class of `schema`, or an index in ``schema.labels``. The second has an index among the
        values of this class or label. The tasks must not be numeric.
        """
        if not schema.labels:
            return np.zeros_like(self.codes), self.codes
        known = schema.label_values
        return known.labels[self.codes], known.codes[self.codes]

    def decode(self, chosen: Bools) -> Ints:
        """Return int64 (rows,), the index of the class that each row is predicted as.

        `chosen`, bool (rows, tasks), says in which tasks each row is predicted as positive. If there are several tasks,
        it must be exactly one of them. A single task must be that of one of two classes.
        """
        if len(self.names) > 1:
            return np.asarray(self.codes[chosen.argmax(axis=1)])
        return np.asarray(np.where(chosen[:, 0], self.codes[0], 1 - self.codes[0]))

    def decode_targets(self, chosen: Bools, schema: Schema) -> Ints:
        """Return int (rows, targets), the index of the predicted value of the class of `schema`, or of each label.

        `chosen`, bool (rows, tasks), says in which tasks each row is predicted as positive. Of several tasks of one
        target, it must be exactly one. If a target of two values has a single task, rows that are not positive get the
        other value. Any other target with a single task gets the value of this task in all rows.
        """
        target, value = self.find_task_values(schema)
        sizes = np.array([len(schema.attributes[position].values) for position in schema.targets])
        first = np.searchsorted(target, np.arange(len(sizes)))
        # A target with two values has one task.
        found: Ints = np.where(chosen[:, first], value[first], 1 - value[first])
        for number in np.flatnonzero((np.bincount(target) > 1) | (sizes != 2)).tolist():
            own = slice(first[number], first[number] + np.count_nonzero(target == number))
            found[:, number] = value[own][chosen[:, own].argmax(axis=1)]
        return found


def make_numeric_tasks(schema: Schema, means: Floats) -> Tasks:
    """Make the tasks of the numeric class, or of all numeric targets, of `schema`.

    `means`, float64 (targets,), are their weighted means over the training rows.
    """
    names = tuple(schema.attributes[position].name for position in schema.targets)
    return Tasks(names, np.arange(len(names)), False, means)


def make_label_tasks(schema: Schema, codes: Sequence[int]) -> Tasks:
    """Make the tasks that separate some of the `Schema.label_values`; `codes` are their indices, ascending."""
    known, numbers = schema.label_values, np.array(codes, np.int64)
    is_multi_label = len(known.names) == len(schema.labels)
    exclusive = False if is_multi_label else known.labels[numbers]
    return Tasks(tuple(known.names[code] for code in codes), numbers, exclusive)


def choose_label_tasks(known: Batch) -> Tasks:
    """Choose the tasks to learn from rows whose labels are known: one task for each label of multi-label data.

    In multi-target data, a target with the values 0 and 1 has a task for 1. Another target with two values has a task
    for the value with the smaller weight of rows; one with more values, a task for each value that occurs.
    """
    schema, y = known.schema, known.y
    assert y is not None
    values = schema.label_values
    first = np.searchsorted(values.labels, np.arange(len(schema.labels) + 1)).tolist()
    codes: list[int] = []
    for number, (start, stop) in enumerate(pairwise(first)):
        chosen = [0]
        if stop - start > 1:
            chosen = choose_positive_codes(np.bincount(y[:, number], known.weights, stop - start))
        codes += [start + code for code in chosen]
    return make_label_tasks(schema, codes)


class Training(NamedTuple):
    """Holds training rows in memory, all with a known class or labels and a weight above 0.

    Attributes
    ----------
    X : float64 (rows, features), ndarray or `scipy.sparse.csr_array`, without missing and infinite values unless
        `Learner.check_values` accepts them.
    truth : bool (rows, tasks), whether each row is positive in each task; of numeric tasks the numbers, float64.
    weights : float64 (rows,), or None if all are 1.
    tasks : the tasks, which are the columns of `truth`.
    schema : its `features` are the columns of X.
    jobs : the number of threads that may be used; the result must not depend on it.
    """

    X: Any
    truth: np.ndarray
    weights: Floats | None
    tasks: Tasks
    schema: Schema
    jobs: int = 1

    @property
    def row_weights(self) -> Floats:
        """Float64 (rows,), the weight of each row; 1 where `weights` is None."""
        return np.ones(len(self.truth)) if self.weights is None else self.weights


class Model(Protocol):
    """The result of `Learner.learn`, which scores rows.

    It may have two more methods:

    - ``predict(X)``, if its predictions do not follow from its scores: returns bool (rows, tasks), whether each row is
      predicted as positive. Without it, `predict_positives` decides by the scores.
    - ``describe(incoming, tasks, top)``, which returns tables of what it has learned, as `Fitted.describe` does.
      Without it, the tables show its state.

    Attributes
    ----------
    threshold : the score above which a row is predicted as positive in a task. Of several tasks that are values of one
        attribute, the highest score decides instead. It is 0 unless scores are probabilities, and never 0 if they are.
        None: the model has no scores. Of numeric tasks it means nothing.
    """

    @property
    def threshold(self) -> float | None:
        """The score above which a row is predicted as positive; 0 unless scores are probabilities; None without any."""

    def scores(self, X: Any) -> Floats:
        """Return float64 (rows, tasks), the scores of the rows of a `csr_array` or ndarray.

        Of numeric tasks they are the predicted numbers. The score of a row must not depend on the other rows, not even
        in its last bit. This method is not called if `threshold` is None, unless tasks are numeric.
        """

    @property
    def state(self) -> State:
        """What `Learner.model` needs to rebuild the model, of the types of `Fitted.state`."""


class Outcome(NamedTuple):
    """Holds the true and the predicted classes, labels or numbers of some rows.

    Attributes
    ----------
    truth : bool (rows, tasks), whether a row is positive; of numeric tasks the numbers, float64.
    predicted : bool (rows, tasks), whether it is predicted as positive; of numeric tasks the predicted numbers.
    scores : float64 (rows, tasks), higher for rows more likely positive; unless they are `probabilities`, only their
        order matters. None: there are none. Of numeric tasks they are the predicted numbers, too.
    exclusive, means : as in `Tasks`.
    weights : float64 (rows,), instance weights above 0; or None if all are 1.
    probabilities : whether the scores are probabilities.
    costs : float64 (rows,), what each prediction costs; None if there are no costs.
    """

    truth: np.ndarray
    predicted: np.ndarray
    scores: Floats | None
    exclusive: Exclusive
    weights: Floats | None = None
    probabilities: bool = False
    means: Floats | None = None
    costs: Floats | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether numbers are predicted."""
        return self.means is not None

    @property
    def row_weights(self) -> Floats:
        """Float64 (rows,), the weight of each row; 1 where `weights` is None."""
        return np.ones(len(self.truth)) if self.weights is None else self.weights


class LinearModel:
    """A model whose scores are linear in the features.

    Parameters
    ----------
    coefficients : float64 (features, tasks).
    intercepts : float64 (tasks,).
    sigmoids : float64 (2, tasks), a and b of each task: a score s becomes the probability 1 / (1 + exp(a s + b))
        (Platt 1999). The probabilities of tasks that exclude each other are divided by their sum. None: scores stay as
        they are.
    exclusive : see `Tasks`.
    chosen : other numbers that were chosen for each task, such as C, by name: float64 (tasks,) each. They are only
        shown.
    """

    def __init__(
        self,
        coefficients: Floats,
        intercepts: Floats,
        sigmoids: Floats | None = None,
        exclusive: Exclusive = False,
        chosen: Mapping[str, Floats] | None = None,
    ) -> None:
        self.coefficients = coefficients
        self.intercepts = intercepts
        self.sigmoids = sigmoids
        self.exclusive = exclusive
        self.chosen = dict(chosen or {})
        self.threshold = 0.0 if sigmoids is None else 0.5

    @classmethod
    def from_state(cls, state: State, features: int, tasks: Tasks) -> LinearModel:
        """Rebuild the model from its state.

        Raise FilterkitError if an array does not fit `tasks` and the number of `features`, and KeyError if
        `coefficients` or `intercepts` are missing.
        """
        chosen = {key.removeprefix("chosen."): value for key, value in state.items() if key.startswith("chosen.")}
        model = cls(state["coefficients"], state["intercepts"], state.get("sigmoids"), tasks.exclusive, chosen)
        if model.find_array_fault(features, len(tasks.names)) is not None:
            raise FilterkitError("a model in it does not fit its features")
        return model

    def find_array_fault(self, features: int, n_tasks: int) -> str | None:
        """Return a text on the first array that is not float64 of the right shape, and what to do; None without one."""
        sized = {"coefficients": (self.coefficients, (features, n_tasks)), "intercepts": (self.intercepts, (n_tasks,))}
        sized |= {f"chosen {quoted(name)}": (values, (n_tasks,)) for name, values in self.chosen.items()}
        if self.sigmoids is not None:
            sized["sigmoids"] = (self.sigmoids, (2, n_tasks))
        for name, (values, shape) in sized.items():
            kind = getattr(values, "dtype", type(values).__name__)
            if not isinstance(values, np.ndarray) or values.shape != shape or kind != np.float64:
                return f"{name} of the type {kind} and shape {np.shape(values)}; make them float64 of shape {shape}"
        return None

    @property
    def state(self) -> State:
        """What `from_state` needs to rebuild the model: its arrays by name."""
        state = {"coefficients": self.coefficients, "intercepts": self.intercepts}
        state |= {f"chosen.{name}": values for name, values in self.chosen.items()}
        return state if self.sigmoids is None else {**state, "sigmoids": self.sigmoids}

    def get_state(self) -> State:
        """Return `state`, for older plugins whose models derive from this class and extend its `get_state`."""
        return self.state

    def describe(self, incoming: Schema, tasks: Tasks, top: int | None) -> list[LearnedTable]:
        """Make a table with a row for each task, and for each task a table of the coefficients, called weights.

        The first table has the intercepts, the numbers in `chosen`, and the sigmoids. The weights of the largest
        absolute value come first. `incoming` and `top` are as for `Fitted.describe`.
        """
        own = {"intercept": self.intercepts, **self.chosen}
        if self.sigmoids is not None:
            own |= {"a of sigmoid": self.sigmoids[0], "b of sigmoid": self.sigmoids[1]}
        names, weights = list_feature_names(incoming), zip(tasks.names, self.coefficients.T)
        return [
            make_learned_table("", tasks.names, own, top, of="class" if tasks.exclusive is True else "label"),
            *(make_learned_table(f"for {quoted(of)}", names, {"weight": w}, top, ranked=True) for of, w in weights),
        ]

    def scores(self, X: Any) -> Floats:
        """Return float64 (rows, tasks), the scores of the rows of a matrix; with `sigmoids`, their probabilities."""
        scores = np.asarray(multiply_rows(X, self.coefficients) + self.intercepts)
        if self.sigmoids is None:
            return scores
        from scipy.special import expit

        probabilities = np.asarray(expit(-(scores * self.sigmoids[0] + self.sigmoids[1])))
        for first, stop in pairwise(find_group_bounds(self.exclusive, probabilities.shape[1])):
            if stop - first > 1:
                part = probabilities[:, first:stop]
                total = part.sum(axis=1, keepdims=True)
                even = np.full_like(part, 1 / (stop - first))
                probabilities[:, first:stop] = np.divide(part, total, out=even, where=total > 0)
        return probabilities


def find_group_bounds(exclusive: Exclusive, tasks: int) -> list[int]:
    """Return the index of the first task of each group of tasks that are values of one attribute, in order.

    `exclusive` is as in `Tasks`. A label, or a numeric task, is a group by itself. The last number is `tasks`, how many
    tasks there are.
    """
    if not isinstance(exclusive, np.ndarray):
        return [0, tasks] if exclusive else list(range(tasks + 1))
    return [0, *(np.flatnonzero(np.diff(exclusive)) + 1).tolist(), tasks]


def predict_positives(scores: Floats, exclusive: Exclusive, threshold: float) -> Bools:
    """Return bool (rows, tasks), whether each row is predicted as positive.

    Of several tasks that exclude each other, a row is positive in the one with the highest score, in the first of them
    on a tie. In any other task it is positive if its score is above the threshold. `scores` are float64 (rows, tasks),
    and `exclusive` is as in `Tasks`.
    """
    chosen = np.asarray(scores > threshold)
    for first, stop in pairwise(find_group_bounds(exclusive, scores.shape[1])):
        if stop - first > 1:
            chosen[:, first:stop] = np.arange(stop - first) == scores[:, first:stop].argmax(axis=1)[:, None]
    return chosen
