"""Scores by the normal of a linear classifier's hyperplane (Brank and others 2002)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from filterkit import Batch, Fitted, Schema, StageError, UsageError, option
from filterkit.plugin import (
    COMBINATIONS,
    Csr,
    Scaling,
    ScalingOptions,
    check_sum,
    check_weights,
    combined,
    counted_rows,
    interruptible,
    quoted,
    scaling_state,
    share,
)

from .hyperplanes import check_products, normal_vector, quietly

Batches = Callable[[], Iterator[Batch]]


class Normal(ScalingOptions):
    """Scale each column by |w|, its weight in a linear classifier trained on the rows.

        filterkit in.arff standardize normal --score-only select --top 2

    The classifier is trained on all training rows, or on a share of them that is drawn at random from each class (Brank
    and others 2002, 2 and 3.1.1); only these rows are held in memory. The scale of the columns matters: the rows of the
    paper are unit vectors of tf-idf weights. With more than two classes and no ``--positive``, each class is compared
    with the rest. All models have an intercept that is not penalised. The ranking is like
    that of Weka's SVMAttributeEval without its elimination.

    `svm` has hinge loss, as in the paper. Up to 4,000 rows are solved by libsvm, whose time grows with the square of
    the number of rows, and more rows by Newton steps, as in the stage `svm`. Missing values count as zeros. Nominal
    columns are left out and score 0. Columns are scaled as by every scorer, see ``bns --help``.
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
        self._share = share(self.name, "--subset", self.subset)
        if not self._share:
            raise UsageError(
                f"normal: --subset must be a share such as 1/4 or 0.25, above 0, not {quoted(self.subset)}"
            )
        if not 0 < self.cost < np.inf:
            raise UsageError(f"normal: --cost must be above 0, not {self.cost:g}")

    def fit(self, rows: Batches, schema: Schema) -> Fitted:
        schema.need_columns(self.name)
        summary = _Summary(schema)
        for batch in rows():
            summary.add(_training(batch))
        check_sum(self.name, float(summary.totals.sum()), int(summary.rows_of_class.sum()))
        if not summary.rows_of_class.any():
            raise StageError(self.name, "there are no training rows")
        drawn = [
            np.sort(np.random.default_rng([self.seed, c]).choice(n, max(round(self._share * n), 1), replace=False))
            if n
            else np.empty(0, np.int64)
            for c, n in enumerate(summary.rows_of_class.tolist())
        ]
        tasks = summary.tasks()
        scores = np.zeros((schema.width, len(tasks)))
        if not schema.nominal.all():
            X, y, weights = _collect(rows, drawn, schema)
            check_products(self.name, X)
            for i, task in enumerate(tasks):
                scores[:, i] = self._weights(X, y == task, weights)
        score = combined(np.where(schema.nominal[:, None], 0.0, scores), summary.totals[tasks], self.combine)
        low, high = summary.ranges()
        state = scaling_state(score, low, high, schema.zero, schema.nominal, self.multiply)
        return _ByWeights(score_only=self.score_only).finish(schema, state, summary.totals)

    def from_state(self, state: dict[str, Any], schema: Schema) -> Fitted:
        return _ByWeights(score_only=self.score_only).from_state(state, schema)

    def _weights(self, X: Any, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """float64 (columns,): |w| of the classifier that separates the positive rows from the others."""
        if positive.all() or not positive.any():
            raise StageError(self.name, "the training rows are all of one class, which leaves nothing to learn")
        if self.model == "svm":
            w = normal_vector(self.name, X, positive, self.cost, weights)
        else:
            w = self._fitted(X, positive, weights).coef_.ravel()
        return np.asarray(np.abs(w))

    def _fitted(self, X: Any, positive: np.ndarray, weights: np.ndarray) -> Any:
        """The logistic regression or perceptron that separates the positive rows from the others."""
        from sklearn.linear_model import LogisticRegression, Perceptron

        model: Any = Perceptron(random_state=self.seed % (1 << 32))
        if self.model == "logistic":
            model = LogisticRegression(C=self.cost, max_iter=10_000)
        with quietly(), np.errstate(over="ignore", invalid="ignore"):
            try:
                interruptible(partial(model.fit, sample_weight=weights), X, positive)
            except ValueError:  # its numbers became infinite
                model.coef_ = np.full(X.shape[1], np.nan)
        if not np.isfinite(model.coef_).all() or np.max(model.n_iter_) >= model.max_iter:
            raise StageError(
                self.name,
                f"{self.model} finds no solution, because values are large or columns of very different size; "
                "put standardize, range or l2 before it",
            )
        return model


class _ByWeights(Scaling):
    """Scaling by scores that are already known."""

    name = Normal.name


def _training(batch: Batch) -> Batch:
    """The rows of `batch` to learn from."""
    check_weights(Normal.name, batch)
    counted = counted_rows(batch)
    return batch if counted.all() else batch.take(np.flatnonzero(counted))


class _Summary:
    """The number of rows of each class and their weight, and the least and largest value of each column."""

    def __init__(self, schema: Schema) -> None:
        target = schema.class_attribute
        assert target is not None
        self._schema = schema
        self.rows_of_class = np.zeros(len(target.values), np.int64)
        self.totals = np.zeros(len(target.values))
        self._low = np.full(schema.width, np.inf)
        self._high = np.full(schema.width, -np.inf)

    def add(self, batch: Batch) -> None:
        """Add some training rows."""
        classes = len(self.rows_of_class)
        assert batch.y is not None
        self.rows_of_class += np.bincount(batch.y, minlength=classes)
        self.totals += np.bincount(batch.y, batch.weights, minlength=classes)
        if batch.sparse:
            X = batch.csr
            np.fmin.at(self._low, X.indices, X.data)
            np.fmax.at(self._high, X.indices, X.data)
            somewhere_zero = np.bincount(X.indices, minlength=X.columns) < len(batch)
            self._low[somewhere_zero] = np.minimum(self._low[somewhere_zero], 0)
            self._high[somewhere_zero] = np.maximum(self._high[somewhere_zero], 0)
        elif len(batch):
            self._low = np.fmin(self._low, np.fmin.reduce(batch.X, axis=0))
            self._high = np.fmax(self._high, np.fmax.reduce(batch.X, axis=0))

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 (columns,) twice: the least and the largest value of each column, 0 where there is none."""
        empty = self._low > self._high
        return np.where(empty, 0.0, self._low), np.where(empty, 0.0, self._high)

    def tasks(self) -> list[int]:
        """Return the codes of the classes to separate from the rest; of two classes only the second."""
        if self._schema.positive is None and len(self.totals) == 2:
            return [1]  # both classes give the same |w| apart from its last digits
        return self._schema.positive_classes(self.totals)


def _collect(rows: Batches, drawn: list[np.ndarray], schema: Schema) -> tuple[Any, np.ndarray, np.ndarray]:
    """X, class and weights of the rows drawn; `drawn` has for each class the numbers of its rows, ascending."""
    seen = [0] * len(drawn)
    parts: list[Any] = []
    ys: list[np.ndarray] = []
    ws: list[np.ndarray] = []
    for batch in rows():
        batch = _training(batch)
        assert batch.y is not None
        chosen = []
        for c, numbers in enumerate(drawn):
            of_class = np.flatnonzero(batch.y == c)
            first, stop = np.searchsorted(numbers, [seen[c], seen[c] + len(of_class)])
            chosen.append(of_class[numbers[first:stop] - seen[c]])
            seen[c] += len(of_class)
        here = np.sort(np.concatenate(chosen))
        taken = batch.take(here)
        ys.append(batch.y[here])
        ws.append(np.ones(len(taken)) if taken.weights is None else taken.weights)
        parts.append(_clean(taken.csr if taken.sparse else taken.X, schema))
    X = Csr.stack(parts).matrix() if isinstance(parts[0], Csr) else np.concatenate(parts)
    return X, np.concatenate(ys), np.concatenate(ws)


def _clean(X: Any, schema: Schema) -> Any:
    """X with zeros in place of missing values and in nominal columns."""
    values = X.data if isinstance(X, Csr) else X
    if np.isinf(values).any():
        raise StageError(Normal.name, "an infinite value, which no classifier can take")
    nominal = schema.nominal[X.indices] if isinstance(X, Csr) else schema.nominal
    values = np.where(np.isnan(values) | nominal, 0.0, values)
    return X._replace(data=values) if isinstance(X, Csr) else values
