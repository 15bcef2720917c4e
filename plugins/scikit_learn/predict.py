"""Predict by any classifier or regressor with scikit-learn's interface: the stage `predict`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from filterkit import Batch, FilterkitError, Learner, Schema, StageError, UsageError, option
from filterkit.plugin import (
    Floats,
    LearnedTable,
    Model,
    Outcome,
    State,
    Tasks,
    Training,
    check_finite,
    check_measure,
    check_numeric,
    find_best,
    find_repeated,
    make_learned_table,
    measures,
    quoted,
    read_costs,
)

from .estimators import (
    NEEDS_PARAMETER,
    call_estimator,
    check_class_and_parameters,
    convert_sparse_to_csr_matrix,
    declare_set_option,
    decode_fitted_estimator,
    encode_fitted_estimator,
    make_estimator,
    parse_parameter_value,
)
from .names import find_similar_class_of_other_kind, get_sklearn_class_paths

_BLOCK = 256  # rows that a model scores together
_BY_TYPE = "from_dtype"  # the default of `categorical_features`

_CRITERIA = ("accuracy", "f1", "auc", "mae", "rmse", "r2")
_NO_INTERFACE = "predict: {} is not a classifier or regressor with scikit-learn's interface; name another class"


class Predict(Learner):
    """Predict the class or the labels by any classifier or regressor of scikit-learn, or of a package like it.

        filterkit in.arff shape bns l2 predict LogisticRegression --set C=0.1
        filterkit --class first in.arff impute onehot predict RandomForestRegressor

    A numeric class, or several numeric targets that ``--labels`` names, are predicted by regressors.

    A class of scikit-learn has a short name; one of another package is named by its path, as lightgbm.LGBMClassifier.
    ``--set`` gives a parameter as Python would, or names a class: ``predict CalibratedClassifierCV --set
    estimator=LinearSVC --set estimator__C=0.1``, ``predict VotingClassifier --set estimators=GaussianNB,LinearSVC``.
    Parameters that are not set have scikit-learn's defaults, but ``random_state`` is ``--seed``.

    ``--grid C=0.01,0.1,1`` chooses the best of several values by an inner cross-validation on the training rows,
    stratified by a nominal class. Each fold fits the stages before this one again, but not those up to one that sets
    the class. Of several grids all combinations are tried, and the first of equally good ones is taken. Values that are
    lists or texts with commas cannot be in a grid.

    ``--costs`` predicts the class whose expected cost is least by the probabilities, the first of equal ones, as Weka's
    CostSensitiveClassifier with -M does. Classes without training rows are never predicted. The file is a cost matrix
    of Weka.

    The estimator gets sparse rows as sparse rows, missing values if it accepts them, and the instance weights; what it
    does not accept is refused. Classes are numbers, in the order of the header. Nominal attributes of two values are 0
    and 1; `HistGradientBoostingClassifier` gets all nominal attributes as categories. Labels, and numeric targets, are
    learned together if the estimator can learn several at once. Otherwise each has an estimator of its own, as targets
    of more than two values always have. The scores are probabilities, or else decision values; a classifier without
    either predicts, but has no scores.

    The training rows are held in memory. A saved chain needs the package skops.
    """

    name = "predict"
    numeric_class = True

    estimator: str | None = option(
        None,
        "Name of the classifier or regressor, as LogisticRegression, or the path of its class.",
        bare=True,
        completions=lambda options: sorted(
            [*get_sklearn_class_paths("classifier"), *get_sklearn_class_paths("regressor")]
        ),
    )
    set: tuple[str, ...] = declare_set_option()
    grid: tuple[str, ...] = option((), "Values of a parameter to choose from, as C=0.01,0.1,1.")
    criterion: str | None = option(
        None, "Measure by which a grid is searched.  [default: accuracy, or rmse of numbers]", choices=_CRITERIA
    )
    folds: int = option(5, "Number of folds of the inner cross-validation.", minimum=2)
    costs: str | None = option(None, "File of costs of predictions, to predict what costs least.", names="file")
    seed: int = option(0, "Seed for the estimator, and for drawing the folds.", minimum=0, maximum=2**32 - 1)

    @classmethod
    def answer_unknown_stage(cls, name: str) -> str:
        from .weka_learners import make_hint_for_weka_learner  # only mistakes need it

        return make_hint_for_weka_learner(name)

    def __post_init__(self) -> None:
        assert self.estimator is not None
        self.class_name = self.estimator.rpartition(".")[2]
        check_class_and_parameters(self.name, self.estimator, self.set)
        check_class_and_parameters(self.name, self.estimator, self.grid, "--grid")
        twice = find_repeated(pair.partition("=")[0] for pair in (*self.set, *self.grid))
        if twice is not None:
            raise UsageError(f"predict: the parameter {quoted(twice)} is given twice; leave one out")
        if self.estimator in get_sklearn_class_paths("transformer"):
            raise UsageError(f"predict: {self.estimator} transforms rows; write: sklearn --class {self.estimator}")
        if self.class_name in ("ClassifierChain", "MultiOutputClassifier", "MultiOutputRegressor", "RegressorChain"):
            raise UsageError(
                f"predict: {self.class_name} is not needed; name the estimator inside it, and each label gets its own"
            )

    def make_unfitted_estimator(self, chosen: dict[str, Any] | None = None) -> Any:
        """Make the estimator, not yet fitted, with the parameters of ``--set`` and ``--seed``.

        `chosen` are the values of the grid by parameter; None for none. Raise UsageError as `make_estimator` does, and
        if it is not a classifier or regressor with scikit-learn's interface.
        """
        assert self.estimator is not None
        estimator = make_estimator(self.name, self.estimator, self.set, chosen)
        # A method may be there only once the estimator is fitted, as that of StackingClassifier.
        if not hasattr(type(estimator), "predict") or not hasattr(estimator, "__sklearn_tags__"):
            raise UsageError(_NO_INTERFACE.format(self.estimator))
        if estimator.get_params().get("decision_function_shape") == "ovo":
            raise UsageError("predict: decision_function_shape=ovo has scores of pairs of classes; leave it out")
        unset = [name for name, value in estimator.get_params().items() if value is None]
        seeds = {name: self.seed for name in unset if name.rpartition("__")[2] == "random_state"}
        return estimator.set_params(**seeds)

    @cached_property
    def _estimator_tags(self) -> Any:
        """The tags of scikit-learn, which say what the estimator accepts.

        Raise UsageError if it is neither a classifier nor a regressor.
        """
        from sklearn.utils import get_tags

        estimator = self.make_unfitted_estimator()
        try:
            tags = get_tags(estimator)
        except AttributeError:  # of SelfTrainingClassifier and others, whose estimator is missing or a text
            if not isinstance(getattr(estimator, "estimator", self), str | None):
                raise
            raise UsageError(f"predict: {self.class_name} {NEEDS_PARAMETER.format('estimator')}") from None
        if tags.classifier_tags is None and tags.regressor_tags is None:
            raise UsageError(_NO_INTERFACE.format(self.estimator))
        return tags

    def expect_threshold(self) -> float | None:
        return _find_score_method_and_threshold([self.make_unfitted_estimator()])[1]

    def check_target(self, schema: Schema) -> None:
        is_numeric = schema.has_numeric_target
        if is_numeric != (self._estimator_tags.estimator_type == "regressor"):
            what, kind = ("classes", "numeric") if is_numeric else ("numbers", "nominal")
            name = quoted(schema.attributes[schema.targets[0]].name)
            hint = f"write: predict {find_similar_class_of_other_kind(self.class_name, is_numeric)}"
            if is_numeric and not schema.labels:
                hint += (
                    f"; if its numbers stand for classes, make it nominal first, by the stage: nominal --only {name}"
                )
            raise StageError(self.name, f"{self.class_name} predicts {what}, but {name} is {kind}; {hint}")
        if self.grid:
            criterion = self.criterion or ("rmse" if is_numeric else "accuracy")
            check_measure("predict: --criterion", criterion, is_numeric, _CRITERIA)

    def check_columns(self, schema: Schema) -> None:
        if schema.sparse and not self._estimator_tags.input_tags.sparse:
            raise StageError(
                self.name,
                f"{self.class_name} takes no sparse rows; put svd before it, or make a dense file first: "
                "filterkit --dense -o NEW.arff FILE",
            )
        categories = self.make_unfitted_estimator().get_params().get("categorical_features")
        if categories != _BY_TYPE or not schema.width:
            check_numeric(self.name, schema)

    def check_values(self, batch: Batch, rows: np.ndarray | None = None) -> None:
        check_finite(self.name, batch, rows, missing_allowed=self._estimator_tags.input_tags.allow_nan)

    def inner_folds(self) -> int:
        return self.folds if self.grid else 0

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        grid = {}  # the values of each parameter
        for name, text in (pair.partition("=")[::2] for pair in self.grid):
            grid[name] = [parse_parameter_value(self.name, name, each) for each in text.split(",")]
        combinations = [dict(zip(grid, chosen)) for chosen in product(*grid.values())]
        criterion = self.criterion or ("rmse" if training.tasks.is_numeric else "accuracy")
        values: list[list[float]] = []  # of the criterion, for each fold and combination
        for inner, held_out in inner_splits:
            values.append([])
            for chosen in combinations:
                model, tasks = self.learn(inner, chosen), held_out.tasks
                scores = None if model.threshold is None else model.scores(held_out.X)
                parts = held_out.truth, model.predict(held_out.X), scores, tasks.exclusive, held_out.weights
                values[-1].append(measures(Outcome(*parts, means=tasks.means), (criterion,))[criterion])
        best = find_best(values, criterion)
        if best is None:
            raise StageError(self.name, f"--criterion {criterion} is undefined on all inner folds; choose another one")
        return self.learn(training, combinations[best])

    def learn(self, training: Training, chosen: dict[str, Any] | None = None) -> EstimatorModel:
        """Fit an estimator for each target, or one for all; `chosen` is as for `make_unfitted_estimator`.

        Raise StageError if the estimator takes no weights but a row has another weight than 1, if it fails, or if the
        file of ``--costs`` cannot be used.
        """
        from sklearn.utils.validation import has_fit_parameter

        try:
            costs = None if self.costs is None else read_costs(self.costs, training.schema)
        except FilterkitError as error:
            raise StageError(self.name, f"--costs {error}") from None
        truth, tasks, weights = training.truth, training.tasks, training.weights
        is_numeric, tags = tasks.is_numeric, self._estimator_tags
        targets = list(truth.T)
        if not is_numeric:  # values of the class, of each label or of each target: from 0, in the order of the header
            targets = [
                truth[:, first:stop].argmax(axis=1)
                if stop - first > 1
                else (truth[:, first] == _get_code_of_positive(tasks)).astype(int)
                for first, stop in pairwise(tasks.group_bounds)
            ]
        takes_several = tags.target_tags.multi_output if is_numeric else tags.classifier_tags.multi_label
        is_joint = len(targets) > 1 and len(targets) == len(tasks.names)
        if (is_numeric and not tags.target_tags.single_output) or (is_joint and takes_several and np.ptp(targets)):
            targets = [np.column_stack(targets)]
        fitted: list[Any] = []
        X = convert_sparse_to_csr_matrix(training.X)
        for target in targets:
            if not is_numeric and not np.ptp(target):
                fitted.append(int(target.flat[0]))
                continue
            estimator = self.make_unfitted_estimator(chosen)
            categories = estimator.get_params().get("categorical_features")
            if categories == _BY_TYPE and training.schema.nominal.any():
                estimator.set_params(categorical_features=training.schema.nominal)
            fit = estimator.fit
            if weights is not None and (weights != 1).any():
                if not has_fit_parameter(estimator, "sample_weight"):
                    raise StageError(
                        self.name,
                        f"{self.class_name} takes no weights, and a row has the weight {weights[weights != 1][0]:g}; "
                        f"take another one, such as {'Ridge' if is_numeric else 'LogisticRegression'}, or rows without "
                        "weights",
                    )
                fit = partial(fit, sample_weight=weights)
            call_estimator(self.name, self.class_name, fit, X, target, jobs=training.jobs)
            fitted.append(estimator)
        return EstimatorModel(self, fitted, tasks, costs)

    def model(self, state: State, features: int, tasks: Tasks) -> Model:
        estimators = decode_fitted_estimator(self.name, state["estimators"])
        wanted, groups = type(self.make_unfitted_estimator()), len(tasks.group_bounds) - 1
        if not isinstance(estimators, list) or len(estimators) not in (1, groups):
            raise FilterkitError("its saved estimators are neither one nor one for each class or label")
        for each in estimators:
            if type(each) not in (wanted, int):
                raise FilterkitError(f"the estimator in it is not of the class {self.class_name}")
            if getattr(each, "n_features_in_", features) != features:
                raise FilterkitError("the saved estimator expects another number of features")
        costs = state.get("costs")
        if costs is not None and (costs.ndim != 2 or min(costs.shape) <= max(1, *tasks.codes)):
            raise FilterkitError("its saved costs are not a matrix of all its classes")
        return EstimatorModel(self, estimators, tasks, costs)


def _get_code_of_positive(tasks: Tasks) -> int:
    """Return the number that the estimator of a binary task gets for positive rows.

    It is 0 if they are of the first of two class values, so that numbers are in the order of the header; else 1.
    """
    return int(tasks.exclusive is not True or len(tasks.names) > 1 or tasks.codes[0] != 0)


def _get_names_of_binary_codes(tasks: Tasks, task: int, schema: Schema) -> list[str]:
    """Return the names of the classes that an estimator knows as 0 and 1; for a numeric task, only its own name.

    `task` is the index of the task.
    """
    name, target = tasks.names[task], schema.class_attribute
    if tasks.is_numeric:
        return [name]
    rest = f"not {name}" if target is None or len(target.values) > 2 else target.values[1 - tasks.codes[task]]
    return [rest, name] if _get_code_of_positive(tasks) else [name, rest]


def _find_score_method_and_threshold(estimators: list[Any]) -> tuple[str, float | None]:
    """Return the name of the method for scores that all estimators have, and the score above which rows are positive.

    The method is ``predict_proba`` if all have it, else ``decision_function``; "" and None if not all have that either.
    """
    for name, threshold in (("predict_proba", 0.5), ("decision_function", 0.0)):
        if all(hasattr(each, name) for each in estimators):
            return name, threshold
    return "", None


class EstimatorModel:
    """Scores rows by fitted estimators.

    Parameters
    ----------
    stage : the stage, for messages.
    estimators : one for the class, one for each label or target, or a single one for all of them. If all training rows
        have the same class, label or value, an int stands for the estimator: what it would predict.
    tasks : what the estimators predict.
    costs : float64 (classes, classes), what it costs to predict each class (second axis) where another is true (first
        axis). The class with the least expected cost is then predicted. None to leave it to the estimators.

    Raises
    ------
    StageError : there are costs but no probabilities.
    """

    def __init__(self, stage: Predict, estimators: list[Any], tasks: Tasks, costs: Floats | None = None) -> None:
        self._stage, self._estimators, self._tasks, self._costs = stage, estimators, tasks, costs
        fitted = [each for each in estimators if not isinstance(each, int)]
        self._method, self.threshold = _find_score_method_and_threshold(fitted)
        if costs is not None and self._method != "predict_proba":
            raise StageError(
                stage.name,
                f"--costs needs probabilities, which {stage.class_name} does not have; take another classifier, such "
                "as LogisticRegression",
            )

    @property
    def state(self) -> State:
        """The estimators, encoded as text, and the costs, if any.

        Raise NotImplementedError if skops is not installed or cannot store them.
        """
        state = {"estimators": encode_fitted_estimator(self._estimators)}
        return state if self._costs is None else {**state, "costs": self._costs}

    def describe(self, incoming: Schema, tasks: Tasks, top: int | None) -> list[LearnedTable]:
        """List tables of what each estimator has learned, after a table of the parameters chosen from the grid."""
        from .learned import describe_estimator

        tables, names = [], tasks.names
        groups = list(pairwise(tasks.group_bounds))
        if len(self._estimators) != len(groups):
            groups = [(0, len(names))]
        for estimator, (first, stop) in zip(self._estimators, groups):
            prefix = quoted(names[first].partition("=")[0]) if len(groups) > 1 else ""
            if self._stage.grid and hasattr(estimator, "get_params"):
                chosen = [pair.partition("=")[0] for pair in self._stage.grid]
                values = [estimator.get_params()[name] for name in chosen]
                tables.append(make_learned_table(prefix, chosen, {"value": list(map(str, values))}, of="chosen"))
            classes = names[first:stop] if stop - first > 1 else _get_names_of_binary_codes(tasks, first, incoming)
            if isinstance(estimator, int):
                tables.append(make_learned_table(prefix, ["every row"], {"predicted": [classes[estimator]]}, of="rows"))
            else:
                tables += describe_estimator(estimator, incoming, classes, top, prefix)
        return tables

    def scores(self, X: Any) -> Floats:
        """Return the scores of rows, probabilities or else decision values: float64 (rows, tasks).

        For numeric tasks they are the predicted numbers. There must be a row, and `threshold` must not be None unless
        tasks are numeric.
        """
        return self._call_method_on_rows(X, "predict" if self._tasks.is_numeric else self._method)

    def predict(self, X: Any) -> np.ndarray:
        """Return whether each row is predicted positive, bool (rows, tasks); of numeric tasks, predicted numbers.

        There must be a row.
        """
        if self._costs is None:
            response = self._call_method_on_rows(X, "predict")
            return response if self._tasks.is_numeric else response > 0
        codes, p = self._tasks.codes, self._call_method_on_rows(X, "predict_proba")
        if len(codes) == 1:  # of two classes
            codes, p = np.arange(2), np.hstack([1 - p, p] if codes[0] else [p, 1 - p])
        expected = np.einsum("rt,tc->rc", p, self._costs[np.ix_(codes, codes)])  # row by row, unlike a matrix product
        return np.asarray(codes[expected.argmin(axis=1)][:, None] == self._tasks.codes)

    def _call_method_on_rows(self, X: Any, method: str) -> Floats:
        """Call a method of the estimators, given its name, and return the responses: float64 (rows, tasks).

        For ``predict`` they are the predicted numbers, or 1 in the tasks in which a row is predicted positive. Raise
        StageError if an estimator fails, or if X has no rows.
        """
        # The responses are computed for 256 rows at once, so that products of matrices round the same whatever rows
        # come together. The last block is filled up with copies of its last row.
        rows = (np.minimum(np.arange(start, start + _BLOCK), X.shape[0] - 1) for start in range(0, X.shape[0], _BLOCK))
        blocks = (self._call_method_on_block(convert_sparse_to_csr_matrix(X[some]), method) for some in rows)
        response = call_estimator(self._stage.name, self._stage.class_name, lambda: np.concatenate(list(blocks)))
        return np.ascontiguousarray(response[: X.shape[0]])

    def _call_method_on_block(self, X: Any, method: str) -> Floats:
        if self._tasks.is_numeric:
            return np.column_stack([each.predict(X) for each in self._estimators]).astype(np.float64)
        widths = np.diff(self._tasks.group_bounds).tolist()
        # Of each target its values, and the response to each or to the second.
        responses: list[tuple[Any, np.ndarray]] = []
        for estimator in self._estimators:
            if isinstance(estimator, int):
                responses.append(([estimator], np.ones((X.shape[0], 1))))
                continue
            response = getattr(estimator, method)(X)
            if method == "predict" and np.shape(response) == (X.shape[0], 1):  # as catboost does
                response = response[:, 0]
            if len(self._estimators) == len(widths):
                responses.append((estimator.classes_, response))
            elif isinstance(response, list):  # of probabilities of all labels
                responses += zip(estimator.classes_, response)
            else:
                responses += (([0, 1], each) for each in response.T)
        columns = []
        for width, (classes, response) in zip(widths, responses):
            if response.ndim == 1 and method == "predict":
                response = np.equal.outer(response, classes)
            elif response.ndim == 1:
                response = np.column_stack([1 - response if method == "predict_proba" else -response, response])
            unseen = response.min(axis=1, keepdims=True) - 1 if method == "decision_function" else 0.0
            values = np.zeros((len(response), max(width, 2))) + unseen
            if response.shape[1] != len(classes):
                raise ValueError(
                    f"{method} returns {response.shape[1]} columns for {len(classes)} classes; return one for each"
                )
            values[:, np.asarray(classes, np.int64)] = response
            columns.append(values if width > 1 else values[:, [_get_code_of_positive(self._tasks)]])
        return np.hstack(columns)
