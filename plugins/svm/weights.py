"""Score columns by the normal of a linear classifier's hyperplane (Brank and others 2002)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from filterkit import Schema, StageError, UsageError, option
from filterkit.plugin import (
    COMBINATIONS,
    Batches,
    Ints,
    Scaling,
    State,
    Summary,
    call_interruptibly,
    combine_scores,
    compute_scaling_state,
    concatenate,
    parse_share,
    quoted,
    read_counted,
)

from .hyperplanes import SvmSolver, ignore_convergence_warning


class LinearWeightScaling(Scaling):
    """Scale each column by |w|, the size of its weight in a linear classifier trained on the rows.

        filterkit in.arff standardize normal --score-only select --top 2

    The classifier is trained on all training rows, or on a share of them that is drawn at random from each class (Brank
    and others 2002, 2 and 3.1.1); only these rows are held in memory. The scale of the columns matters: the rows of the
    paper are unit vectors of tf-idf weights. With more than two classes and no ``--positive``, each class is compared
    with the rest. All models have an intercept that is not penalised. The ranking is like that of Weka's
    SVMAttributeEval if it eliminates no attributes step by step.

    ``--model svm``, the default, has hinge loss, as in the paper. Up to 4,000 rows are solved by libsvm, whose time
    grows with the square of the number of rows, and more rows by Newton steps, as in the stage `svm`. Missing values
    count as zeros. Nominal columns are left out and score 0. Columns are scaled as by every scorer, see ``bns --help``.
    """

    name = "normal"
    needs_class = True

    subset: str = option("1", "Share of the rows to train on, as 1/4 or 0.25.", names="share")
    model: str = option("svm", "The linear classifier.", choices=("svm", "logistic", "perceptron"))
    cost: float = option(1.0, "C, the cost of training errors relative to the size of w (not for perceptron).")
    combine: str = option("max", "How the weights of several classes become one.", choices=COMBINATIONS)
    seed: int = option(0, "Seed for drawing the subset and for perceptron.", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._share = parse_share(self.name, "--subset", self.subset)
        if not self._share:
            raise UsageError(
                f"normal: --subset must be a share such as 1/4 or 0.25, above 0, not {quoted(self.subset)}"
            )
        if not 0 < self.cost < np.inf:
            raise UsageError(f"normal: --cost must be above 0, not {self.cost:g}")

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        schema.need_columns(self.name)
        target = schema.class_attribute
        assert target is not None
        labels, summaries, every = [], list[Summary](), np.arange(schema.width)
        for batch in read_counted(self.name, rows()):
            labels.append((batch.y, batch.row_weights))
            summaries = [Summary.merge([*summaries, Summary.of(batch, every, False, self.name)])]
        y, weight = (np.concatenate(each) for each in zip(*labels))
        totals = np.bincount(y, weight, len(target.values))
        tasks = schema.positive_classes(totals)
        if schema.positive is None and len(totals) == 2:
            tasks = [1]  # both classes give the same |w| apart from its last digits
        scores = np.zeros((schema.width, len(tasks)))
        if not schema.nominal.all():
            numbers, start, parts = self._draw_row_numbers(y), 0, []
            for batch in read_counted(self.name, rows()):
                first, stop = np.searchsorted(numbers, [start, start + len(batch)])
                parts.append(batch.replace(passthrough=None).take(numbers[first:stop] - start))
                start += len(batch)
            training = concatenate(parts, schema)
            # Zeros stand for missing values and in nominal columns.
            values, nominal = training.stored_values, schema.nominal
            if training.sparse:
                nominal = nominal[training.csr.indices]
            X: Any = np.where(np.isnan(values) | nominal, 0.0, values)
            X = training.csr._replace(data=X).matrix() if training.sparse else X
            solver = SvmSolver(self.name, X, training.row_weights)
            for i, task in enumerate(tasks):
                scores[:, i] = np.abs(self._fit_normal_vector(solver, np.asarray(training.y == task)))
        score = combine_scores(np.where(schema.nominal[:, None], 0.0, scores), totals[tasks], self.combine)
        return compute_scaling_state(score, *summaries[0].extremes(), schema.zero, schema.nominal, self.multiply)

    def _draw_row_numbers(self, y: Ints) -> Ints:
        """Draw the share ``--subset`` of the rows of each class, at least one; return their numbers, ascending.

        The numbers count from 0. `y`, int (rows,), is the class of each row.
        """
        drawn = []
        for code in np.unique(y).tolist():
            numbers = np.flatnonzero(y == code)
            count = max(round(self._share * len(numbers)), 1)
            drawn.append(np.random.default_rng([self.seed, code]).choice(numbers, count, replace=False))
        return np.sort(np.concatenate(drawn))

    def _fit_normal_vector(self, solver: SvmSolver, positive: np.ndarray) -> np.ndarray:
        """Return the weights of the classifier of ``--model`` that separates positive rows from others: (features,).

        `positive` is bool (rows,). Raise StageError if all rows or none are positive, or there is no solution.
        """
        if positive.all() or not positive.any():
            raise StageError(
                self.name, "the training rows are all of one class, which leaves nothing to learn; add rows of another"
            )
        if self.model == "svm":
            return solver.fit_normal_vector(positive, self.cost)
        from sklearn.linear_model import LogisticRegression, Perceptron

        model: Any = Perceptron(random_state=self.seed % (1 << 32))
        if self.model == "logistic":
            model = LogisticRegression(C=self.cost, max_iter=10_000)
        with ignore_convergence_warning(), np.errstate(over="ignore", invalid="ignore"):
            try:
                call_interruptibly(partial(model.fit, sample_weight=solver.weights), solver.X, positive)
            except ValueError:  # its numbers became infinite
                model.coef_ = np.full(solver.X.shape[1], np.nan)
        if not np.isfinite(model.coef_).all() or np.max(model.n_iter_) >= model.max_iter:
            raise StageError(
                self.name,
                f"{self.model} finds no solution, because values are large or columns of very different size; "
                "put standardize, range or l2 before it",
            )
        return np.asarray(model.coef_).ravel()
