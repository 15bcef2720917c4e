"""Learners: stages at the end of a chain that predict the class, or the labels of multi-label data.

A learner fits a model to the training rows (`filterkit.stages.models`) and adds its predictions and scores to each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from filterkit.counts.weights import check_sum, check_weights, sum_of_weights
from filterkit.data.batch import Batch
from filterkit.data.contract import broken, check_numbers, kind_of
from filterkit.data.csr import Csr, Matrix
from filterkit.data.numeric import check_finite, check_numeric
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import NAME_A_CLASS, FilterkitError, StageError, not_nominal, quoted
from filterkit.stages.all_rows import all_rows
from filterkit.stages.base import Batches, Fitted, Stage, missing_method
from filterkit.stages.models import (
    LinearModel,
    Model,
    Outcome,
    Tasks,
    Training,
    label_tasks,
    predicted,
    tasks_of_labels,
)

REST = "rest"  # predicted for rows that are not of the positive class, if there are several others


class Learner(Stage):
    """A stage that predicts the class or the labels.

    Write `learn`, and `model` if the model is not a `LinearModel`. A learner that evaluates itself on held-out training
    rows, with all stages before it fitted again, also writes `inner_folds` and `learn_with_inner_cv`.
    """

    group = "Predict"

    def learn(self, training: Training) -> Model:
        """Learn a model from the training rows."""
        raise missing_method(self, "learn")

    def model(self, state: dict[str, Any], features: int, tasks: Tasks) -> Model:
        """The model again from a file.

        Parameters
        ----------
        state : what its `Model.get_state` returned; check it, because the file may be damaged.
        features : the number of features.
        tasks : the tasks that it has learned.
        """
        return LinearModel.from_state(state, features, tasks)

    def inner_folds(self) -> int:
        """The number of folds for `learn_with_inner_cv`; with 0, `learn` is called instead."""
        return 0

    def inner_seed(self) -> int:
        """The seed for drawing the folds."""
        return 0

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        """Learn a model from the training rows, after trials on held-out rows.

        Parameters
        ----------
        training : all training rows.
        inner_splits : for each fold that has rows, the training rows of the other folds and those of the fold itself.
            Both come out of the earlier stages, which are fitted on the rows of the other folds alone.
        """
        return self.learn(training)

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        self._check(schema)
        known = all_rows(self.name, map(self._usable, rows()), schema, rows.memory)
        check_sum(self.name, *sum_of_weights(known, supervised=False))
        tasks = self._tasks(known)
        training = self._training(known, tasks)._replace(jobs=rows.jobs)
        if not self.inner_folds():
            return FittedLearner(self, schema, tasks, self.learn(training))

        def trials() -> Iterator[tuple[Training, Training]]:
            for inner, outer in rows.inner_splits():
                if len(held_out := self._usable(outer)):
                    yield self._training(self._usable(inner), tasks), self._training(held_out, tasks)

        return FittedLearner(self, schema, tasks, self.learn_with_inner_cv(training, trials()))

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        self._check(schema)
        names, codes = state["names"], np.asarray(state["codes"])
        target = schema.class_attribute
        known = schema.label_values.names if target is None else target.values
        if not len(names) or min(codes.tolist(), default=0) < 0 or [known[code] for code in codes.tolist()] != names:
            raise FilterkitError("what it predicts is not one of the classes or labels")
        tasks = Tasks(tuple(names), codes, True) if target is not None else label_tasks(schema, codes.tolist())
        if target is None and (
            not (np.diff(codes) > 0).all()
            or not np.array_equal(np.unique(schema.label_values.labels[codes]), np.arange(len(schema.labels)))
        ):
            raise FilterkitError("what it predicts is not every label once")
        return FittedLearner(self, schema, tasks, self.model(state, schema.width, tasks))

    def _check(self, schema: Schema) -> None:
        target = schema.class_attribute
        if not schema.labels and target is None:
            raise StageError(self.name, f"there is nothing to predict; {NAME_A_CLASS}, or give --labels")
        if target is not None and target.kind != "nominal":
            raise StageError(self.name, f"it predicts a nominal class, and {not_nominal(target.name, target.kind)}")
        check_numeric(self.name, schema)

    def _tasks(self, known: Batch) -> Tasks:
        """The tasks to be learned from the training rows."""
        schema = known.schema
        target = schema.class_attribute
        if not len(known):
            raise StageError(self.name, "there are no training rows")
        if target is None:
            return tasks_of_labels(known)
        totals = np.bincount(known.y, known.weights, len(target.values))  # type: ignore[arg-type]
        if np.count_nonzero(totals) < 2 or (schema.positive and not totals[target.values.index(schema.positive)]):
            raise StageError(self.name, "the training rows are all of one class, which leaves nothing to learn")
        codes = schema.positive_classes(totals)
        return Tasks(tuple(target.values[code] for code in codes), np.array(codes), True)

    def _training(self, known: Batch, tasks: Tasks) -> Training:
        return Training(known.X, tasks.truth(known), known.weights, tasks, known.schema)

    def _usable(self, batch: Batch) -> Batch:
        """The rows with a known class or labels and a weight above 0; all their values must be finite."""
        check_weights(self.name, batch)
        chosen = counted_rows(batch)
        check_finite(self.name, batch, chosen)
        batch = batch.replace(passthrough=None)
        return batch if chosen.all() else batch.take(np.flatnonzero(chosen))


def counted_rows(batch: Batch) -> np.ndarray:
    """bool (rows,): whether a row counts in learning: its class or labels are known, and its weight is above 0."""
    return batch.class_known if batch.weights is None else batch.class_known & (batch.weights > 0)


class FittedLearner(Fitted):
    """A model, ready to predict.

    Attributes
    ----------
    tasks : the tasks of the model.
    model : the model.
    """

    def __init__(self, learner: Learner, schema: Schema, tasks: Tasks, model: Model) -> None:
        missing = [name for name in ("scores", "threshold", "get_state") if not hasattr(model, name)]
        if missing:
            fault = f"learn gives {kind_of(model)}, which has no {' and no '.join(missing)}; return a model"
            raise broken(learner.name, fault, type(learner))
        self._learner = learner
        self.tasks = tasks
        self.model = model
        kind = "probability" if model.threshold else "score"
        target = schema.class_attribute
        if target is None:
            made = [Attribute(f"prediction@{a.name}", "nominal", a.values) for a in schema.label_attributes]
        elif len(tasks.names) == 1 and len(target.values) > 2:
            rest = REST if tasks.names[0] != REST else "other"
            made = [Attribute("prediction", "nominal", (rest, *tasks.names))]
        else:
            made = [Attribute("prediction", "nominal", target.values)]
        made += [Attribute(f"{kind}@{name}") for name in tasks.names]
        if any(a.name in schema.names for a in made):  # from another learner, or from a word such as prediction
            made = [a._replace(name=f"{learner.name}.{a.name}") for a in made]
        twice = next((a.name for a in made if a.name in schema.names), None)
        if twice is not None:
            raise StageError(learner.name, f"there is an attribute {quoted(twice)} already")
        self._incoming = schema
        self._made = made

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        """The incoming schema with predictions and scores added; made on demand, because evaluations do not need it."""
        schema = self._incoming.with_more(self._made)
        return schema.replace(zero=False)  # a score of zero does not mean absent

    def get_state(self) -> dict[str, Any]:
        return {"names": list(self.tasks.names), "codes": self.tasks.codes, **self.model.get_state()}

    def outcome(self, batch: Batch) -> Outcome:
        """The true and the predicted classes or labels of the rows where they are known."""
        batch = self._learner._usable(batch)
        scores = self.scores(batch)
        truth, chosen = self.tasks.truth(batch), self._predicted(scores)
        return Outcome(truth, chosen, scores, self.tasks.exclusive, batch.weights, bool(self.model.threshold))

    def outcome_of(self, batch: Batch) -> Outcome:
        """As `outcome`, of rows that it has transformed already; there may be none whose class or labels are known."""
        batch = batch.take(np.flatnonzero(counted_rows(batch)))
        columns = np.arange(batch.schema.width)[-len(self.tasks.names) :]  # the scores are the last columns
        scores = batch.csr.only(columns).matrix().toarray() if batch.sparse else batch.X[:, columns]
        truth, chosen = self.tasks.truth(batch), self._predicted(scores)
        return Outcome(truth, chosen, scores, self.tasks.exclusive, batch.weights, bool(self.model.threshold))

    def scores(self, batch: Batch) -> np.ndarray:
        """float64 (rows, tasks): the scores of the model."""
        check_finite(self._learner.name, batch)
        shape = (len(batch), len(self.tasks.names))
        if not len(batch):
            return np.empty(shape)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.model.scores(batch.X)
        scores = check_numbers(scores, shape, self._learner.name, "scores", type(self._learner))
        if np.isnan(scores).any():
            row = int(np.flatnonzero(np.isnan(scores).any(axis=1))[0])
            raise StageError(
                self._learner.name,
                "values are too large for a score; bring them to a smaller range first",
                batch.start + row,
            )
        return scores

    def _predicted(self, scores: np.ndarray) -> np.ndarray:
        """bool (rows, tasks): see `filterkit.stages.models.predicted`."""
        return predicted(scores, self.tasks.exclusive, self.model.threshold)

    def transform(self, batch: Batch) -> Batch:
        scores = self.scores(batch)
        chosen = self._predicted(scores)
        target = batch.schema.class_attribute
        if target is None:
            codes = self._predicted_labels(chosen)
        elif len(self.tasks.names) > 1:
            codes = self.tasks.codes[chosen.argmax(axis=1)][:, None].astype(np.float64)
        elif len(target.values) > 2:
            codes = chosen.astype(np.float64)
        else:
            codes = np.where(chosen, self.tasks.codes[0], 1 - self.tasks.codes[0]).astype(np.float64)
        return batch.replace(schema=self.schema, X=_beside(batch, np.hstack([codes, scores])))

    def _predicted_labels(self, chosen: np.ndarray) -> np.ndarray:
        """float64 (rows, labels): the predicted value of each label, from those that are `chosen` of all tasks."""
        schema = self._incoming
        known, codes = schema.label_values, self.tasks.codes
        sizes = np.array([len(a.values) for a in schema.label_attributes])
        of_label, value = known.labels[codes], known.codes[codes].astype(np.float64)
        first = np.searchsorted(of_label, np.arange(len(sizes)))
        found: np.ndarray = np.where(chosen[:, first], value[first], 1 - value[first])
        for number in np.flatnonzero((np.bincount(of_label) > 1) | (sizes != 2)).tolist():
            own = slice(first[number], first[number] + np.count_nonzero(of_label == number))
            found[:, number] = value[own][chosen[:, own].argmax(axis=1)]
        return found


def _beside(batch: Batch, columns: np.ndarray) -> Matrix | Csr:
    """X of `batch` with further columns."""
    if not batch.sparse:
        return np.hstack([batch.X, columns])
    X = batch.csr
    row, column = np.nonzero(columns)
    rows = np.concatenate([X.row_of_entry, row])
    places = np.concatenate([X.indices, X.columns + column])
    values = np.concatenate([X.data, columns[row, column]])
    return Csr.from_entries(rows, places, values, (len(batch), X.columns + columns.shape[1]))
