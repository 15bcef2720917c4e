"""Learn a linear support vector machine, tuned and calibrated on held-out training rows: the learner `svm`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from filterkit import Learner, StageError, UsageError, option
from filterkit.plugin import LinearModel, Model, Outcome, Training, find_best, measures, predict_positives, quoted

from .hyperplanes import SvmSolver


class Svm(Learner):
    """Predict the class or the labels by a linear support vector machine with hinge loss.

        filterkit in.arff standardize svm --c 0.1,1,10

    It learns a weight for each column and an intercept. The score of a row is the sum of its weighted values and the
    intercept; a row with a positive score is predicted positive. A larger C fits the training rows more closely, and a
    smaller one keeps the weights small. Several classes are each compared with the rest, and so is each label. The
    intercept is not penalised, as in Weka's SMO and SVM-light, and unlike in LinearSVC.

    ``--c 0.01,0.1,1,10,100`` chooses the best C by cross-validation within the training rows: the same for all classes,
    and the smallest on a tie, as in Weka. Each inner fold fits all stages before this one again; if one of them sets
    the class, it is fitted only once, with all before it. The held-out rows serve two more options. ``--calibrate``
    turns scores into probabilities by Platt's sigmoid. ``--threshold f1`` moves the threshold to where F1 is best, for
    each label by itself, and subtracts it from the scores. Rare classes, of which an SVM predicts too few rows, gain
    most. ``--criterion auc`` then chooses a C whose scores rank well, wherever their threshold is.

    The training rows are held in memory. Up to 4,000 rows are solved by libsvm, from the products of all pairs of
    rows: 8 bytes each, so up to 128 MB, whatever `--memory` is. More rows are solved by Newton steps on the same
    problem, which take a few copies of the rows. There the scores differ from libsvm's by some thousandths of the
    margin.

    libsvm may take 2 · 10⁹ steps divided by the number of rows, at most ten million, which is some ten seconds. If they
    are not enough, Newton's method solves the problem, in at most 2,000 steps. If these are not enough either, as with
    a very large C, the stage says so and has no solution.
    """

    name = "svm"
    regressor = "predict LinearSVR"

    c: str = option("1", "C, the cost of training errors, or several to choose from.", names="numbers")
    criterion: str = option("accuracy", "Measure by which C is chosen.", choices=("accuracy", "f1", "auc"))
    calibrate: bool = option(False, "Produce probabilities, and predict what has more than one half.")
    threshold: str | None = option(
        None, "Move the threshold from 0 to where this measure is best on held-out rows.", choices=("f1",)
    )
    folds: int | None = option(None, "Number of folds of the inner cross-validation.  [default: 5]", minimum=2)
    seed: int = option(0, "Seed for drawing the folds.", minimum=0)
    class_weights: str | None = option(
        None, "Multiply the weights of rows by that of their class: balanced, or VALUE=W,VALUE=W.", names="weights"
    )

    def __post_init__(self) -> None:
        try:
            self._costs = sorted({float(text) for text in self.c.split(",")})
        except ValueError:
            self._costs = []
        if not self._costs or not all(0 < cost < np.inf for cost in self._costs):
            raise UsageError(f"svm: --c must be a number above 0, or several as 0.1,1,10, not {quoted(self.c)}")

        self._class_weights = _parse_class_weights(self.class_weights)
        if self.calibrate and self.threshold is not None:
            raise UsageError(
                "svm: --calibrate predicts classes of a probability above 0.5, and --threshold moves that limit; "
                "use only one"
            )

    def inner_folds(self) -> int:
        has_trials = self.calibrate or self.threshold is not None or len(self._costs) > 1
        return (self.folds or 5) if has_trials else 0

    def expect_threshold(self) -> float:
        return 0.5 if self.calibrate else 0.0

    def learn(self, training: Training) -> Model:
        return self._fit_model(training, self._costs[0])

    def _fit_model(self, training: Training, cost: float) -> LinearModel:
        """Fit an SVM for each task, which separates its positive rows from the others, with C `cost`."""
        solver = self._make_class_weighted_solver(training)
        planes = [solver.fit_hyperplanes(positive, [cost]) for positive in training.truth.T]
        coefficients, intercepts = zip(*planes)
        return LinearModel(np.hstack(coefficients), np.concatenate(intercepts))

    def _make_class_weighted_solver(self, training: Training) -> SvmSolver:
        """Make the solver for training rows, whose weights are multiplied by ``--class-weights`` if it is given.

        With ``balanced``, all classes get the same sum of weights. If ``--class-weights`` is given, raise StageError if
        there are labels in place of a class, or if it names a class that does not exist. Raise StageError as
        `SvmSolver` does.
        """
        if self.class_weights is None:
            return SvmSolver(self.name, training.X, training.weights)
        target, names = training.schema.class_attribute, list(training.tasks.names)
        if target is None:
            raise StageError(self.name, "--class-weights needs a class, but there are labels; leave it out")
        code = training.truth.argmax(axis=1)
        if len(names) == 1:
            code = 1 - training.truth[:, 0]
            names += [value for value in target.values if value != names[0]] if len(target.values) == 2 else ["rest"]
        weights = training.row_weights
        totals = np.bincount(code, weights, len(names))
        factor = totals.sum() / (len(names) * np.where(totals > 0, totals, np.inf))
        if self._class_weights is not None:
            unknown = [value for value in self._class_weights if value not in names]
            if unknown:
                raise StageError(
                    self.name, f"--class-weights: {quoted(unknown[0])} is not a class; name one of {', '.join(names)}"
                )
            factor = np.array([self._class_weights.get(name, 1.0) for name in names])
        return SvmSolver(self.name, training.X, weights * factor[code])

    def learn_with_inner_cv(self, training: Training, inner_splits: Iterator[tuple[Training, Training]]) -> Model:
        if self.folds is not None and self.folds > (rows := len(training.truth)):
            raise StageError(
                self.name, f"--folds {self.folds}: there are only {rows} training rows; use at most as many folds"
            )
        tasks = training.tasks
        if self.threshold is not None and len(tasks.group_bounds) <= len(tasks.names):
            raise StageError(
                self.name,
                "--threshold needs two classes, or labels: of several classes the highest score is predicted; "
                "name one of them with --positive",
            )
        trials = []  # the rows of each fold, and their scores by the SVMs of the other folds: (costs, rows, tasks)
        values = []  # the criterion of each fold and C, NaN where it is undefined
        criterion, exclusive = self.criterion, tasks.exclusive
        for inner, outer in inner_splits:
            solver = self._make_class_weighted_solver(inner)
            scores = np.empty((len(self._costs), *outer.truth.shape))
            for task, positive in enumerate(inner.truth.T):
                scores[:, :, task] = LinearModel(*solver.fit_hyperplanes(positive, self._costs)).scores(outer.X).T
            if not np.isfinite(scores).all():
                raise StageError(self.name, "values are too large for scores; put standardize or range before it")
            trials.append((outer._replace(X=None), scores))
            outcomes = [
                Outcome(outer.truth, predict_positives(s, exclusive, 0.0), s, exclusive, outer.weights) for s in scores
            ]
            values.append([measures(outcome, (criterion,))[criterion] for outcome in outcomes])
        if not trials:
            raise StageError(self.name, "no class has two training rows, of which one could be held out; add rows")
        best = find_best(values, criterion) or 0
        model = self._fit_model(training, self._costs[best])
        if len(self._costs) > 1:
            model.chosen["C"] = np.full(len(model.intercepts), self._costs[best])
        return self._move_threshold_or_calibrate(model, training, trials, best)

    def _move_threshold_or_calibrate(
        self, model: LinearModel, training: Training, trials: list[tuple[Training, np.ndarray]], best_cost: int
    ) -> LinearModel:
        """Return the model as ``--threshold`` or ``--calibrate`` changes it, by held-out rows; without both, as it is.

        `trials` are the held-out rows of each fold, and their scores with each C, float64 (costs, rows, tasks).
        `best_cost` is the index of the C of the model among these.
        """
        truth = np.concatenate([held_out.truth for held_out, _ in trials])
        scores = np.concatenate([scores[best_cost] for _, scores in trials])
        weights = np.concatenate([held_out.row_weights for held_out, _ in trials])
        if self.threshold is not None:
            from .threshold import find_threshold_of_best_f1

            thresholds = np.array([find_threshold_of_best_f1(s, t, weights) for s, t in zip(scores.T, truth.T)])
            chosen = model.chosen | {"threshold": thresholds}
            return LinearModel(model.coefficients, model.intercepts - thresholds, chosen=chosen)
        if self.calibrate:
            from .calibration import fit_sigmoid

            sigmoids = np.array([fit_sigmoid(s, t, weights) for s, t in zip(scores.T, truth.T)]).T
            return LinearModel(model.coefficients, model.intercepts, sigmoids, training.tasks.exclusive, model.chosen)
        return model


def _parse_class_weights(text: str | None) -> dict[str, float] | None:
    """Parse ``--class-weights``: the weights of classes by name, as in ``yes=5,no=1``.

    Return None if there are none to parse, for ``balanced`` and for None. Raise UsageError if the text is invalid.
    """
    if text in (None, "balanced"):
        return None
    try:
        pairs = [pair.rpartition("=")[::2] for pair in text.split(",")]
        weights = {value.strip(): float(weight) for value, weight in pairs}
    except ValueError:
        weights = {}
    # Each class has one weight.
    if len(weights) <= text.count(",") or not all(value and 0 < weight < np.inf for value, weight in weights.items()):
        raise UsageError(
            "svm: --class-weights must be balanced, or one weight above 0 for each class, as in yes=5,no=1, not "
            f"{quoted(text)}"
        )
    return weights
