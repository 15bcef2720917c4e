"""Predict by the nearest training rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from filterkit import FilterkitError, Learner, Schema, StageError, option
from filterkit.plugin import (
    Csr,
    Floats,
    Ints,
    LearnedTable,
    Model,
    State,
    Tasks,
    Training,
    call_interruptibly,
    choose_scale_exponents,
    divide_or_zero,
    find_csr_misfit,
    make_learned_table,
    offer,
)

_DISTANCES = 1 << 20  # that are held in memory at once
_DIGITS = 70  # of numbers whose products of two squares neither overflow nor underflow
_TREE_ROWS, _TREE_SHARE = 1_000, 32  # the fewest training rows, in all and for each neighbour, that a tree is for


class Neighbors(Learner):
    """Predict by the votes of the nearest training rows, and of a numeric class by their mean.

        filterkit in.arff range neighbors --k 3

    After `range`, `--distance euclidean` predicts as Weka's IBk does, if all attributes are numeric and no two training
    rows are equally near. The default distance, 1 less the cosine of two rows, suits texts.

    Votes count by the weight of the training row. The probability of a class or label is its share of the votes, and a
    predicted number is the mean of the voters' numbers. A label with more than half of the votes is predicted, and of
    several classes the one with most votes. Of training rows at the same distance the first ones vote. A row of zeros
    has the cosine distance 1 from all others. The Euclidean distance of sparse rows is computed from their lengths and
    products; that is exact for counts and loses digits where large numbers are close. The training rows are held in
    memory, and `--save` stores them.
    """

    name = "neighbors"
    known_as = "knn nearestneighbors"
    numeric_class = True

    k: int = option(1, "Number of neighbors that vote.", minimum=1)
    distance: str = option("cosine", "The distance to use.", choices=("cosine", "euclidean"))

    def expect_threshold(self) -> float:
        return NeighborModel.threshold

    def learn(self, training: Training) -> Model:
        return NeighborModel(self, training.X, training.truth, training.row_weights)

    def model(self, state: State, features: int, tasks: Tasks) -> Model:
        values: Any = state.get("rows")
        X, truth, weights = values, state["truth"], state["weights"]
        if X is None:
            stored = Csr(state["data"], state["indices"], state["indptr"], features)
            fault = find_csr_misfit(stored, features)
            if fault is not None:
                raise FilterkitError(f"the saved training rows are damaged: {fault}")
            X, values = stored.matrix(), stored.data
        if X.shape != (len(truth), features) or truth.shape != (len(weights), len(tasks.names)) or not len(truth):
            raise FilterkitError("the saved training rows, classes and weights have different lengths")
        kinds = (values.dtype, weights.dtype, truth.dtype)
        if kinds != (np.float64, np.float64, np.float64 if tasks.is_numeric else bool):
            raise FilterkitError("the saved training rows, classes or weights are of the wrong type")
        if not (all(np.isfinite(part).all() for part in (values, truth, weights)) and (weights > 0).all()):
            raise FilterkitError("a saved training row is not finite, or its weight is not above 0")
        return NeighborModel(self, X, truth, weights)


class NeighborModel:
    """Scores rows by the votes of the nearest training rows.

    Parameters
    ----------
    stage : the stage, for its options.
    X : float64 (training rows, features), ndarray or `csr_array`, finite.
    truth : (training rows, tasks), the classes, labels or numbers of these rows, as in `Training.truth`.
    weights : float64 (training rows,), above 0.
    """

    threshold = 0.5

    def __init__(self, stage: Neighbors, X: Any, truth: np.ndarray, weights: Floats) -> None:
        self._k = min(stage.k, len(truth))
        self._cosine = stage.distance == "cosine"
        self._truth = np.ascontiguousarray(truth)
        self._weights = weights
        rows = {"data": X.data, "indices": X.indices, "indptr": X.indptr} if hasattr(X, "tocsr") else {"rows": X}
        self.state: State = {"truth": self._truth, "weights": weights, **rows}  # what `Neighbors.model` needs
        self._exponent = int(choose_scale_exponents(abs(X).max(), _DIGITS))
        self._near = self._scale_rows_against_overflow(X)
        self._columns = self._near.T.tocsr() if hasattr(X, "tocsr") else None
        self._squares: Floats = (self._near * self._near).sum(axis=1)

    def _scale_rows_against_overflow(self, X: Any) -> Any:
        """Return the rows of X times powers of two, so that squares do not overflow or underflow; X if none is needed.

        For the cosine distance, which does not depend on the length of a row, each row has its own power. For the
        Euclidean distance all rows have one power, which suits the training rows; squares of much larger rows may still
        overflow.
        """
        exponents = np.full(X.shape[0], self._exponent)
        if self._cosine:
            largest = abs(X).max(axis=1)
            largest = largest.toarray().ravel() if hasattr(largest, "toarray") else largest
            exponents = choose_scale_exponents(largest, _DIGITS)
        if not exponents.any():
            return X
        if isinstance(X, np.ndarray):
            return np.ldexp(X, -exponents[:, None])
        scaled = X.copy()
        scaled.data = np.ldexp(X.data, -np.repeat(exponents, np.diff(X.indptr)))
        return scaled

    def describe(self, incoming: Schema, tasks: Tasks, top: int | None) -> list[LearnedTable]:
        """Return one table, which has only the number of training rows; the parameters are not used."""
        return [make_learned_table("", ["training rows"], {"value": [f"{len(self._truth):,}"]})]

    def scores(self, X: Any) -> Floats:
        """Return shares of votes or, for numeric tasks, means of numbers: float64 (rows, tasks).

        X must have a row. Raise StageError if values are too large for distances.
        """
        step = max(_DISTANCES // (self._k + 1 if self._kd_tree else len(self._truth)), 1)
        blocks = (X[first : first + step] for first in range(0, X.shape[0], step))
        return np.concatenate([call_interruptibly(self._score_by_votes, block) for block in blocks])

    def _score_by_votes(self, X: Any) -> Floats:
        neighbors = np.empty((X.shape[0], self._k), np.int64)
        left: Ints = np.arange(len(neighbors))
        if self._kd_tree:
            left = self._search_tree_and_list_undecided_rows(X, neighbors)
        step = max(_DISTANCES // len(self._truth), 1)
        for first in range(0, len(left), step):
            some = left[first : first + step]
            neighbors[some] = self._find_neighbors_by_all_distances(X[some])
        votes = self._weights[neighbors][:, :, None]
        return np.asarray((votes * self._truth[neighbors]).sum(axis=1) / votes.sum(axis=1))

    @cached_property
    def _kd_tree(self) -> Any:
        """A k-d tree of the training rows, for the cosine divided by their lengths; None if there is none.

        There is none where it would not save time, for sparse rows, and for the cosine if a training row is zero.
        """
        count, columns = self._near.shape
        if self._columns is not None or not columns or count < _TREE_ROWS:
            return None
        if max(_TREE_SHARE, 2**columns) * self._k > count:
            return None  # a search would visit most of the tree
        if self._cosine and not self._squares.all():
            return None  # a row of zeros has no direction
        from scipy.spatial import cKDTree

        return cKDTree(self._near / np.sqrt(self._squares)[:, None] if self._cosine else self._near)

    def _search_tree_and_list_undecided_rows(self, X: Floats, neighbors: Ints) -> Ints:
        """Write the nearest training rows of each row to `neighbors`; return the rows for which the tree cannot decide.

        `neighbors`, int64 (rows, k), is changed in place: it gets ascending indices of training rows, which mean
        nothing for the undecided rows. The result, int64 (n,), are the indices of the undecided rows in X. The tree
        rounds distances differently from `_compute_distances`. So it decides only where the training row after the k
        nearest ones is farther away by more than rounding, and never between ties.
        """
        X = self._scale_rows_against_overflow(X)
        largest = np.abs(X).max(axis=1)
        is_open = ~((largest > 0) & (largest < 1e140))
        rows = np.flatnonzero(~is_open)
        points = X[rows]
        if self._cosine:
            points = points / np.sqrt((points * points).sum(axis=1, keepdims=True))
        distances, found = self._kd_tree.query(points, self._k + 1)
        last, following = (distances[:, -2:] ** 2).T
        is_open[rows] = ~(following > last * (1 + 1e-9) + (1e-12 if self._cosine else 1e-290))
        neighbors[rows] = np.sort(found[:, :-1], axis=1)
        return np.flatnonzero(is_open)

    def _find_neighbors_by_all_distances(self, X: Any) -> Ints:
        """Return the indices of the k nearest training rows of each row: int64 (rows, k), ascending.

        Raise StageError if a distance overflows.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            distances = self._compute_distances(X)
        if not np.isfinite(distances).all():
            raise StageError(
                Neighbors.name,
                "values are too large for distances; put standardize or range before it",
            )
        farthest = np.partition(distances, self._k - 1, axis=1)[:, self._k - 1 : self._k]
        nearer, as_far = distances < farthest, distances == farthest
        left = self._k - np.count_nonzero(nearer, axis=1, keepdims=True)
        _, neighbor = np.nonzero(nearer | (as_far & (np.cumsum(as_far, axis=1) <= left)))
        return neighbor.reshape(-1, self._k)

    def _compute_distances(self, X: Any) -> Floats:
        """Return 1 − cosine, or the squared Euclidean distance, from all training rows: float64 (rows, training rows).

        Euclidean distances are those of rows scaled by `_scale_rows_against_overflow`. A distance that overflows is
        infinite or NaN.
        """
        # BLAS is not used, because the last digits of its products depend on the number of rows.
        X = self._scale_rows_against_overflow(X)
        if self._columns is None:
            from scipy.spatial.distance import cdist

            distances = cdist(X, self._near, "cosine" if self._cosine else "sqeuclidean")
            return np.where(np.isnan(distances), 1.0, distances)  # of rows of zeros
        products, squares = (X @ self._columns).toarray(), (X * X).sum(axis=1)
        if not self._cosine:
            return np.asarray(squares[:, None] + self._squares - 2 * products)
        return 1 - divide_or_zero(products, np.sqrt(np.outer(squares, self._squares)))


filterkit_stages = offer(Neighbors)
