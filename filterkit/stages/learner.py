"""Learners: stages at the end of a chain that predict the class, or the labels of multi-label data.

A learner fits a model to the training rows (`filterkit.stages.models`) and adds its predictions and scores to each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from filterkit.counts.weights import check_sum, check_weights
from filterkit.data.arithmetic import Bools, Floats
from filterkit.data.batch import Batch
from filterkit.data.contract import check_returned_numbers, describe_type, make_contract_error
from filterkit.data.csr import Csr
from filterkit.data.numeric import check_finite, check_numeric
from filterkit.data.schema import Attribute, Schema
from filterkit.errors import NAME_A_TARGET, FilterkitError, StageError, explain_not_nominal, quoted
from filterkit.stages.all_rows import join_all_rows
from filterkit.stages.base import Batches, Fitted, Stage, State, make_missing_member_error
from filterkit.stages.learned import LearnedTable, make_state_tables
from filterkit.stages.models import (
    LinearModel,
    Model,
    Outcome,
    Tasks,
    Training,
    choose_label_tasks,
    make_label_tasks,
    make_numeric_tasks,
    predict_positives,
)
from filterkit.stages.nothing_learned import warn_nothing_learned, warn_of_fit
from filterkit.stages.options import get_seed_option

REST = "rest"  # predicted for rows that are not of the positive class, if there are several others


class Learner(Stage):
    """A stage that predicts the class, or the labels of multi-label data, at the end of a chain.

    Write `learn`, and other methods as needed:

    - `model`, if the model is not a `LinearModel`;
    - `check_columns` and `check_values`, if the learner takes more than finite numbers;
    - `expect_threshold`, if scores are probabilities, or there are none;
    - `inner_folds` and `learn_with_inner_cv`, if the learner tries itself on held-out training rows, for which all
      stages before it are fitted again. `learn_with_inner_cv` is then called instead of `learn`.

    Attributes
    ----------
    numeric_class : whether it also predicts a numeric class, and numeric targets.
    regressor : the stage that messages advise for a numeric class, such as ``predict LinearSVR``; "" for none.
    """

    group = "Predict"
    regressor: ClassVar[str] = ""

    def check_target(self, schema: Schema) -> None:
        """Raise a `StageError` if the learner cannot predict a class, or labels, of the types in `schema`.

        By default it can predict nominal ones, and also numeric ones if `numeric_class` is True.
        """
        if schema.has_numeric_target and not self.numeric_class:
            found = explain_not_nominal(schema.attributes[schema.targets[0]].name, "numeric")
            hint = f"for numbers write: {self.regressor}; " if self.regressor else ""
            raise StageError(self.name, f"it predicts classes and labels, but {found.replace('; ', f'; {hint}', 1)}")

    def check_columns(self, schema: Schema) -> None:
        """Raise a `StageError` if the learner cannot work on the columns of X.

        By default, that is if there are none, or one is nominal with more than two labels.
        """
        check_numeric(self.name, schema)

    def check_values(self, batch: Batch, rows: Bools | None = None) -> None:
        """Raise a `StageError` if the learner cannot work on a value of X: by default, if it is missing or infinite.

        `rows`, bool (rows,), says which rows to check; None for all.
        """
        check_finite(self.name, batch, rows)

    def learn(self, training: Training) -> Model:
        """Learn a model from the training rows, and return it; raise StageError if that is impossible."""
        raise make_missing_member_error(self, "learn")

    def model(self, state: State, features: int, tasks: Tasks) -> Model:
        """Rebuild the model from a saved state; by default a `LinearModel`, so any other model needs its own `model`.

        Parameters
        ----------
        state : a `Model.state`; check it, because the file may be damaged.
        features : the number of features.
        tasks : the tasks of the model.
        """
        return LinearModel.from_state(state, features, tasks)

    def expect_threshold(self) -> float | None:
        """Return the `Model.threshold` that the model will have: by default 0; None if it will have no scores."""
        return 0.0

    inner_seed = get_seed_option  # for drawing the folds of `inner_folds`

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        """Learn a model from the training rows, after trials on held-out rows; by default call `learn`, without trials.

        It is called instead of `learn` unless `inner_folds` is 0.

        Parameters
        ----------
        training : all training rows.
        inner_splits : yields a pair for each fold that has rows to learn from: the training rows of the other folds,
            and those of the fold itself. Both come out of the earlier stages, which are fitted on the other folds alone
            when the pair is asked for. Their `tasks` are those of `training`. It can be read only once.
        """
        return self.learn(training)

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        self._check_schema(schema)
        unused = schema.passthrough
        if unused:
            others = f" and {len(unused) - 1} more" if unused[1:] else ""
            advice = {"string": "put words or nominal before it, or ", "date": "put numeric before it, or "}
            what = f"it learns nothing from the {unused[0].kind} attribute {quoted(unused[0].name)}{others}"
            warn_nothing_learned(self.name, f"{what}; {advice.get(unused[0].kind, '')}remove it")
        known = join_all_rows(self.name, map(self._check_and_take_usable_rows, rows()), schema, rows.memory)
        check_sum(self.name, known.row_weights.sum(), int(np.count_nonzero(known.row_weights)))
        tasks = self._choose_tasks(known)
        training = self._make_training(known, tasks)._replace(jobs=rows.jobs)

        def yield_inner_splits() -> Iterator[tuple[Training, Training]]:
            for inner, outer in rows.inner_splits():
                if len(held_out := self._check_and_take_usable_rows(outer)):
                    yield (
                        self._make_training(self._check_and_take_usable_rows(inner), tasks),
                        self._make_training(held_out, tasks),
                    )

        model = self.learn_with_inner_cv(training, yield_inner_splits()) if self.inner_folds() else self.learn(training)
        if isinstance(model, LinearModel):
            fault = model.find_array_fault(schema.width, len(tasks.names))
            if fault is not None:
                raise make_contract_error(self, f"learn returns {fault}")
            if np.isnan(model.coefficients).any() or np.isnan(model.intercepts).any():
                raise StageError(self.name, "it learns weights that are NaN; bring the values to a smaller range first")
        return FittedLearner(self, schema, tasks, model)

    def from_state(self, state: State, schema: Schema) -> Fitted:
        self._check_schema(schema)
        if schema.has_numeric_target:
            means = np.asarray(state["means"], np.float64)
            tasks = make_numeric_tasks(schema, means)
            if means.shape != tasks.codes.shape:
                raise FilterkitError("it was saved for other numeric targets than those of its schema")
        else:
            names, codes = state["names"], np.asarray(state["codes"])
            target, labels = schema.class_attribute, schema.label_values
            known = labels.names if target is None else target.values
            if not len(names) or min(codes.tolist(), default=0) < 0 or [known[c] for c in codes.tolist()] != names:
                raise FilterkitError(f"{self.name} predicts a class or label that the schema does not have")
            if target is not None:
                tasks = Tasks(tuple(names), codes, True)
            elif (np.diff(codes) > 0).all() and np.array_equal(
                np.unique(labels.labels[codes]), np.arange(len(schema.labels))
            ):
                tasks = make_label_tasks(schema, codes.tolist())
            else:
                raise FilterkitError(f"{self.name} does not predict every label once")
        return FittedLearner(self, schema, tasks, self.model(state, schema.width, tasks))

    def _check_schema(self, schema: Schema) -> None:
        if not schema.targets:
            raise StageError(self.name, f"there is nothing to predict; {NAME_A_TARGET}")
        self.check_target(schema)
        self.check_columns(schema)

    def _choose_tasks(self, known: Batch) -> Tasks:
        """Choose the tasks to learn: the classes or labels to separate from the rest, or the numbers to predict.

        `known` are all training rows with a known class or labels and a weight above 0. Raise StageError if there are
        none. For a nominal class, raise it also if all are of one class, or none is of the positive class.
        """
        schema = known.schema
        target = schema.class_attribute
        if not len(known):
            raise StageError(self.name, "there are no training rows with a known class or labels; add some")
        if schema.has_numeric_target:
            assert known.y is not None
            y = known.y.reshape(len(known), -1)
            means = np.average(y, axis=0, weights=known.weights)
            return make_numeric_tasks(schema, np.clip(means, y.min(axis=0), y.max(axis=0)))  # rounding may leave them
        if target is None:
            return choose_label_tasks(known)
        totals = np.bincount(known.y, known.weights, len(target.values))  # type: ignore[arg-type]
        if np.count_nonzero(totals) < 2:
            raise StageError(
                self.name, "the training rows are all of one class, which leaves nothing to learn; add rows of another"
            )
        codes = np.array(schema.positive_classes(totals))
        names = tuple(target.values[code] for code in codes)
        if not totals[codes].all():  # it is the positive one
            raise StageError(self.name, f"no training row is of the positive class {quoted(names[0])}; name another")
        return Tasks(names, codes, True)

    def _make_training(self, known: Batch, tasks: Tasks) -> Training:
        return Training(known.X, tasks.truth(known), known.weights, tasks, known.schema)

    def _check_and_take_usable_rows(self, batch: Batch) -> Batch:
        """Return the usable rows, those with a known class or labels and a weight above 0, without texts and dates.

        Raise StageError if the weight of any row of `batch` is negative, NaN, infinite or above 2**43. Raise it also if
        `check_values` refuses a value of a usable row, or a number to predict in a usable row is infinite.
        """
        check_weights(self.name, batch)
        counted = counted_rows(batch)
        self.check_values(batch, counted)
        if batch.schema.has_numeric_target:
            is_infinite = counted & np.isinf(np.asarray(batch.y)).reshape(len(batch), -1).any(axis=1)
            if is_infinite.any():
                name = quoted(batch.schema.attributes[batch.schema.targets[0]].name)
                text = f"attribute {name}, which is to be predicted, has an infinite value; remove such rows"
                raise StageError(self.name, text, batch.start + int(is_infinite.argmax()))
        return take_usable_rows(batch.replace(passthrough=None))


def counted_rows(batch: Batch) -> Bools:
    """Return bool (rows,), whether learners use a row: its class or labels are known, and its weight is above 0."""
    return batch.class_known if batch.weights is None else batch.class_known & (batch.weights > 0)


def take_usable_rows(batch: Batch) -> Batch:
    """Return the rows of a batch whose class or labels are known and whose weight is above 0."""
    counts = counted_rows(batch)
    return batch if counts.all() else batch.take(np.flatnonzero(counts))


def read_counted(stage: str, batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield for each batch its rows whose class or labels are known and whose weight is above 0, perhaps none.

    `stage` is the name of the stage, for messages. Raise StageError if the weight of any row is negative, NaN, infinite
    or above 2**43. After the last batch, raise it if there were no such rows, or if their weights are so large or small
    that rounding would matter in their sum.
    """
    weights, rows = 0.0, 0
    for batch in batches:
        check_weights(stage, batch)
        batch = take_usable_rows(batch)
        weights, rows = weights + float(batch.row_weights.sum()), rows + len(batch)
        yield batch
    check_sum(stage, weights, rows)
    if not rows:
        raise StageError(stage, "there are no training rows with a known class or labels; add some")


class FittedLearner(Fitted):
    """A fitted learner: adds columns with predictions, and with scores if there are any, at the end of X.

    Making one raises PluginError if the model lacks a method or attribute. If a name of a new column is
    taken, all new names begin with that of the learner, as in ``svm.prediction``; it raises StageError if one is still
    taken. It gives a FutureWarning for a model with
    `get_state` instead of `state`.

    Attributes
    ----------
    tasks : the tasks of the model.
    model : the model.
    added : the attributes of the new columns: first a prediction of the class, or of each label; then a score for each
        task. There are no scores if numbers are predicted, or the threshold of the model is None.
    predicts_rest : whether it only separates the positive class from two or more others. It then predicts the positive
        class or ``rest``.
    """

    def __init__(self, learner: Learner, schema: Schema, tasks: Tasks, model: Model) -> None:
        members = ("scores", "threshold", "get_state" if hasattr(model, "get_state") else "state")
        missing = [name for name in members if name not in dir(model)]  # hasattr would compute the state
        if missing:
            fault = f"learn returns {describe_type(model)}, which has no {' and no '.join(missing)}; return a model"
            raise make_contract_error(learner, fault)
        if "state" not in dir(model):
            text = f"{describe_type(model)} has get_state, an older form; turn it into a property called state"
            warn_of_fit(learner.name, text, FutureWarning)
        self._learner = learner
        self.tasks = tasks
        self.model = model
        self._has_scores = tasks.is_numeric or model.threshold is not None
        prefix = "probability" if model.threshold else "score"
        targets = [schema.attributes[position] for position in schema.targets]
        self.predicts_rest = not schema.labels and len(tasks.names) == 1 and len(targets[0].values) > 2
        added = [
            Attribute(f"prediction@{a.name}" if schema.labels else "prediction", a.kind, a.values) for a in targets
        ]
        if self.predicts_rest:
            rest = REST if tasks.names[0] != REST else "other"
            added = [added[0]._replace(values=(rest, *tasks.names))]
        self._n_predictions = len(added)
        if self._has_scores and not tasks.is_numeric:
            added += [Attribute(f"{prefix}@{name}") for name in tasks.names]
        if any(a.name in schema.names for a in added):  # from another learner, or from a word such as prediction
            added = [a._replace(name=f"{learner.name}.{a.name}") for a in added]
        twice = next((a.name for a in added if a.name in schema.names), None)
        if twice is not None:
            raise StageError(learner.name, f"there is an attribute {quoted(twice)} already; rename or remove it")
        self._incoming = schema
        self.added = added

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        """The incoming schema with predictions and scores added; `zero` is False. It is built when first used."""
        schema = self._incoming.with_added_features(self.added)
        return schema.replace(zero=False)  # a score of zero does not mean absent

    @property
    def state(self) -> State:  # type: ignore[override]
        """What `Learner.from_state` needs: names and codes of the tasks, means of numeric ones, state of the model."""
        means = {"means": self.tasks.means} if self.tasks.is_numeric else {}
        return {"names": list(self.tasks.names), "codes": self.tasks.codes, **means, **self._get_model_state()}

    def _get_model_state(self) -> State:
        # Models of older plugins have `get_state` instead.
        return self.model.get_state() if hasattr(self.model, "get_state") else self.model.state

    def describe(self, incoming: Schema, top: int | None = None) -> list[LearnedTable]:
        if hasattr(self.model, "describe"):
            found: list[LearnedTable] = self.model.describe(incoming, self.tasks, top)
            return found
        return make_state_tables(self._get_model_state(), incoming, top)

    def predict_outcome(self, batch: Batch) -> Outcome:
        """Predict the rows with a known class or labels and a weight above 0; return the predictions with the truth.

        `batch` is one that comes to this stage. Raise StageError as `scores` does, if the weight of any row is
        negative, NaN, infinite or above 2**43, or if a number to predict is infinite.
        """
        batch = self._learner._check_and_take_usable_rows(batch)
        return self._make_outcome(batch, *self._predict_codes_and_scores(batch))

    def read_outcome_from_transformed(self, batch: Batch) -> Outcome:
        """Return the true and the predicted values of rows that this stage has transformed, read from its columns.

        Rows whose class or labels are not all known, and rows of the weight 0, are left out.
        """
        batch = take_usable_rows(batch)
        return self._make_outcome(batch, *self.read_predictions_and_scores(batch))

    def _make_outcome(self, batch: Batch, codes: Any, scores: Floats) -> Outcome:
        """Make the `Outcome` of rows; `codes` and `scores` are as from `read_predictions_and_scores`."""
        tasks = self.tasks
        if tasks.is_numeric:
            chosen = scores = codes
        elif self.predicts_rest:
            chosen = codes == 1
        else:
            target, value = tasks.find_task_values(self._incoming)
            chosen = codes[:, target] == value
        return Outcome(
            tasks.truth(batch),
            chosen,
            scores if self._has_scores else None,
            tasks.exclusive,
            batch.weights,
            bool(self.model.threshold),
            tasks.means,
        )

    def read_predictions_and_scores(self, batch: Batch) -> tuple[Floats, Floats]:
        """Return the columns that this stage has added to the rows of a batch that it has transformed.

        Returns
        -------
        predictions : float64 (rows, targets), the predicted numbers, or the indices of the predicted values. With
            `predicts_rest`, 0 is ``rest``, and 1 the positive class.
        scores : float64 (rows, tasks); (rows, 0) if the stage adds no scores.
        """
        columns = np.arange(batch.schema.width)[-len(self.added) :]  # the stage adds the last columns
        values = batch.csr.select_columns(columns).matrix().toarray() if batch.sparse else batch.X[:, columns]
        return values[:, : self._n_predictions], values[:, self._n_predictions :]

    def scores(self, batch: Batch) -> Floats:
        """Compute the scores of the model, or the numbers that it predicts, for the rows of a batch.

        Return float64 (rows, tasks), or (rows, 0) if the model has no scores. Raise StageError if a value is one that
        `Learner.check_values` refuses, or so large that a score is NaN. Raise PluginError if the model returns
        something else than such an array.
        """
        self._learner.check_values(batch)
        shape = (len(batch), len(self.tasks.names) * self._has_scores)
        if 0 in shape:
            return np.empty(shape)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.model.scores(batch.X)
        scores = check_returned_numbers(scores, shape, "scores", self._learner)
        if np.isnan(scores).any():
            row = int(np.isnan(scores).any(axis=1).argmax())
            raise StageError(
                self._learner.name,
                "values are too large for a score; bring them to a smaller range first",
                batch.start + row,
            )
        return scores

    def _predict_codes_and_scores(self, batch: Batch) -> tuple[Any, Floats]:
        """Predict rows; return what `read_predictions_and_scores` reads later; indices may still be int or bool."""
        scores = self.scores(batch)
        if self.tasks.is_numeric:
            return scores, scores[:, :0]
        if not len(batch):
            chosen = np.empty((0, len(self.tasks.names)), bool)
        elif hasattr(self.model, "predict"):
            chosen = np.asarray(self.model.predict(batch.X), bool)
        else:
            chosen = predict_positives(scores, self.tasks.exclusive, self.model.threshold or 0.0)
        return (chosen if self.predicts_rest else self.tasks.decode_targets(chosen, self._incoming)), scores

    def transform(self, batch: Batch) -> Batch:
        columns = np.hstack(self._predict_codes_and_scores(batch))
        X: Any = Csr.hstack([batch.csr, Csr.from_scipy(columns)]) if batch.sparse else np.hstack([batch.X, columns])
        return batch.replace(schema=self.schema, X=X)
