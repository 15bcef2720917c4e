"""Score columns by the nearest rows: ReliefF and, for a numeric class, RReliefF."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from filterkit import Batch, Schema, StageError, option
from filterkit.plugin import (
    Batches,
    Bools,
    Floats,
    Ints,
    Scaling,
    State,
    compute_scaling_state,
    concatenate,
    offer,
    read_counted,
)

_ROWS = 50_000  # the most training rows; the time grows with the square of their number
_VALUES = 1 << 26  # the most values of them, which are held dense
_AT_ONCE = 1 << 22  # distances, and differences, that are held at once
_EQUAL = 1e-9  # distances that differ by no more are equal


class ReliefF(Scaling):
    """Scale each column by ReliefF: how much more it differs between near rows of two classes than of one.

        filterkit in.arff relieff --score-only select --top 2

    For each training row, the nearest rows of its own class (hits) and of each other class (misses) are found. The
    score is the mean difference of the column to the misses, less that to the hits: from −1 to 1. The misses of each
    class count by its share of the rows of all classes but the row's own (I. Kononenko, *Estimating Attributes:
    Analysis and Extensions of RELIEF*, ECML 1994). Thus columns can score that matter only together, as in an exclusive
    or. With ``--positive``, all other classes count as one.

    With a numeric class, the score is that of RReliefF: how much more the column differs between near rows of different
    class values than between near rows of similar ones (M. Robnik-Šikonja and I. Kononenko, *An Adaptation of Relief
    for Attribute Estimation in Regression*, ICML 1997).

    The distance of two rows is the sum of the differences over all columns. Two numbers differ by their distance
    divided by the range of the column, and two labels by 0 or 1. A missing number differs from a number by the largest
    possible difference, and from another missing number by 1. A missing label differs from each label, and from another
    missing one, by 1 − 1/n, if there are n labels. All this is as in Weka's ReliefFAttributeEval. But equally distant
    rows share the last places among the neighbors, where Weka depends on their order.

    The training rows are held in memory, zeros too, and each is compared with all others. At most 50,000 rows and 67
    million values are possible; put ``sample`` before it if there are more. Columns are scaled as by every scorer, see
    ``bns --help``.
    """

    name = "relieff"
    needs_class = True
    numeric_class = True
    mends = "a numeric class"

    neighbors: int = option(10, "Number of nearest rows of each class; of all, if it is numeric.", minimum=1)
    rows: int | None = option(None, "Score by N rows drawn at random, each compared with all.", minimum=1)
    seed: int = option(0, "Seed for drawing them.", minimum=0)

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        schema.need_columns(self.name)
        parts: list[Batch] = []
        most = min(_ROWS, _VALUES // max(schema.width, 1))
        for batch in read_counted(self.name, rows()):
            parts.append(batch.replace(passthrough=None).in_form(sparse=False))
            if sum(map(len, parts)) > most:
                raise StageError(
                    self.name,
                    f"there are more than {most} training rows of {schema.width} columns, too many to compare each "
                    f"with all; put sample --rows {most} before it",
                )
            if np.isinf(parts[-1].X).any() or np.isinf(np.asarray(batch.y)).any():
                raise StageError(self.name, "a value is infinite, so it has no distance to others; remove its row")
        training = concatenate(parts, schema)
        parts.clear()  # frees the batches
        # The least and the largest value of each column; 0 if all values are missing.
        low, high = (np.nan_to_num(extreme.reduce(training.X, axis=0)) for extreme in (np.fmin, np.fmax))
        drawn = np.arange(len(training))
        if self.rows is not None and self.rows < len(drawn):
            drawn = np.sort(np.random.default_rng(self.seed).choice(drawn, self.rows, replace=False))
        y, target = np.asarray(training.y), schema.class_attribute
        if schema.positive is not None and target is not None:
            y = (y == target.values.index(schema.positive)).astype(np.int32)
        score = score_by_rrelieff if y.dtype.kind == "f" else score_by_relieff
        comparable = ComparableRows.from_rows(training.X, low, high, schema)
        scores = score(comparable, y, training.row_weights, drawn, self.neighbors)
        return compute_scaling_state(scores, low, high, schema.zero, schema.nominal, self.multiply)


class ComparableRows(NamedTuple):
    """Holds rows in a form in which their differences can be computed.

    Attributes
    ----------
    values : float64 (rows, columns), numbers scaled to [0, 1], or codes of labels; 0 for a missing number, and −1 for a
        missing label.
    missing : bool (rows, columns), where a value is missing.
    difference_from_missing : float64 (rows, columns), how much each value differs from a missing one; meaningless
        where it is missing itself.
    difference_of_two_missing : float64 (columns,), how much two missing values differ.
    nominal : bool (columns,), which columns are nominal.
    """

    values: Floats
    missing: Bools
    difference_from_missing: Floats
    difference_of_two_missing: Floats
    nominal: Bools

    @staticmethod
    def from_rows(X: Floats, low: Floats, high: Floats, schema: Schema) -> ComparableRows:
        """Scale the numbers of X, float64 (rows, columns), to [0, 1] in each column, and make comparable rows of them.

        `low` and `high`, float64 (columns,), are the least and the largest value of each column. A constant column
        becomes 0.
        """
        nominal, missing = schema.nominal, np.isnan(X)
        low, high = low / 2, high / 2  # of halves, no range overflows
        values = np.where(nominal, X, (X / 2 - low) / np.where(high > low, high - low, np.inf))
        unlike = 1 - 1 / np.maximum(schema.label_counts, 1)
        difference_from_missing = np.where(nominal, unlike, np.maximum(values, 1 - values))
        values = np.where(missing, np.where(nominal, -1.0, 0.0), values)
        return ComparableRows(values, missing, difference_from_missing, np.where(nominal, unlike, 1.0), nominal)

    def compute_distances(self, some: Ints, others: Ints) -> Floats:
        """Compute the distance of each row of `some` from each row of `others`: float64 (some, others).

        `some` and `others` are int64 numbers of rows, from 0. A distance is the sum of the differences over all
        columns.
        """
        from scipy.spatial.distance import cdist

        distances = np.zeros((len(some), len(others)))
        one, other, labels = self.values[some], self.values[others], np.count_nonzero(self.nominal)
        if labels < len(self.nominal):
            distances += cdist(one[:, ~self.nominal], other[:, ~self.nominal], "cityblock")
        if labels:
            distances += np.rint(cdist(one[:, self.nominal], other[:, self.nominal], "hamming") * labels)
        if self.missing.any():
            # What one missing value adds to the difference of its stand-in; 0 where both are missing.
            more = np.where(self.missing, 0.0, self.difference_from_missing - np.where(self.nominal, 1.0, self.values))
            one, other = self.missing[some].astype(float), self.missing[others].astype(float)
            distances += one @ more[others].T + more[some] @ other.T + (one * self.difference_of_two_missing) @ other.T
        return distances

    def compute_differences(self, some: Ints, others: Ints) -> Floats:
        """Compute how much the two rows of each pair differ in each column, from 0 to 1: float64 (pairs, columns).

        `some` and `others`, int64 (pairs,), are the numbers of the first and of the second row of each pair, from 0.
        """
        one, other = self.values[some], self.values[others]
        found: Floats = np.where(self.nominal, one != other, np.abs(one - other))
        if self.missing.any():
            gone, away = self.missing[some], self.missing[others]
            found = np.where(
                gone, self.difference_from_missing[others], np.where(away, self.difference_from_missing[some], found)
            )
            found = np.where(gone & away, self.difference_of_two_missing, found)
        return found


def score_by_relieff(rows: ComparableRows, y: np.ndarray, weights: Floats, drawn: Ints, n_neighbors: int) -> Floats:
    """Score columns by ReliefF, for a nominal class: float64 (columns,).

    Parameters
    ----------
    rows : all training rows.
    y : int32 (rows,), the class of each row.
    weights : float64 (rows,), the weight of each row.
    drawn : int64 (n,), the numbers, from 0, of the rows to score by.
    n_neighbors : with how many nearest rows of each class each row of `drawn` is compared.
    """
    share = np.bincount(y, weights) / weights.sum()
    members = {label: np.flatnonzero(y == label) for label in np.flatnonzero(share).tolist()}
    scores = np.zeros(len(rows.nominal))
    for own in members:
        queries = drawn[y[drawn] == own]
        for label, others in members.items():
            sign = -1.0 if label == own else share[label] / (1 - share[own])
            for some, near in _yield_neighbor_weights(rows, queries, others, n_neighbors, weights):
                scores += sign * _sum_weighted_differences(rows, some, others, near)
    return np.asarray(scores / weights[drawn].sum())


def score_by_rrelieff(rows: ComparableRows, y: np.ndarray, weights: Floats, drawn: Ints, n_neighbors: int) -> Floats:
    """Score columns by RReliefF, for a numeric class: float64 (columns,).

    The score is mean(c a) / mean(c) − mean((1 − c) a) / mean(1 − c), with weighted means over the pairs of near rows. a
    is the difference of a pair in the column, and c that in the class, as a share of the range of the class. If all c
    are 0, or all are 1, each column scores 0. The parameters are those of `score_by_relieff`, but `y` is float64, and
    the nearest rows are chosen among all rows.
    """
    low, high = y.min() / 2, y.max() / 2  # of halves, no range overflows
    y = (y / 2 - low) / (high - low if high > low else np.inf)
    everyone = np.arange(len(y))
    unlike, total = 0.0, 0.0
    of_unlike, of_all = np.zeros((2, len(rows.nominal)))
    for some, near in _yield_neighbor_weights(rows, drawn, everyone, n_neighbors, weights):
        apart = near * np.abs(y[some][:, None] - y)
        unlike, total = unlike + apart.sum(), total + near.sum()
        of_unlike += _sum_weighted_differences(rows, some, everyone, apart)
        of_all += _sum_weighted_differences(rows, some, everyone, near)
    if not 0 < unlike < total:  # one side of the comparison is empty
        return np.zeros(len(of_all))
    return of_unlike / unlike - (of_all - of_unlike) / (total - unlike)


def _yield_neighbor_weights(
    rows: ComparableRows, queries: Ints, others: Ints, n_neighbors: int, weights: Floats
) -> Iterator[tuple[Ints, Floats]]:
    """Yield blocks of the rows `queries`, each with the weights of the rows `others` as neighbors of its queries.

    A block is int64 (n,), numbers of rows, and its weights are float64 (n, others). The `n_neighbors` rows that are
    nearest to a query have equal weights, which add up to the weight of the query in `weights`, float64 (rows,). The
    other rows have 0. Rows at the same distance share the places that are left. A row is no neighbor of itself; a block
    without any other row is left out. Either all `queries` are among `others`, or none.
    """
    step = max(_AT_ONCE // len(others), 1)
    for first in range(0, len(queries), step):
        some = queries[first : first + step]
        distances = rows.compute_distances(some, others)
        itself = some[:, None] == others
        distances[itself] = np.inf
        count = min(n_neighbors, len(others) - int(itself[0].any()))
        if not count:
            continue
        last = np.partition(distances, count - 1, axis=1)[:, [count - 1]]
        nearer = distances < last - _EQUAL
        equal = ~nearer & (distances <= last + _EQUAL)
        left = count - np.count_nonzero(nearer, axis=1, keepdims=True)
        shares = (nearer + equal * (left / np.count_nonzero(equal, axis=1, keepdims=True))) / count
        yield some, shares * weights[some][:, None]


def _sum_weighted_differences(rows: ComparableRows, some: Ints, others: Ints, weights: Floats) -> Floats:
    """Add up the differences in each column over all pairs of a row of `some` and one of `others`: float64 (columns,).

    `some` and `others` are int64 numbers of rows. A difference counts by the weight of its pair in `weights`, float64
    (some, others).
    """
    one, other = np.nonzero(weights)
    total = np.zeros(len(rows.nominal))
    step = max(_AT_ONCE // max(len(total), 1), 1)
    for first in range(0, len(one), step):
        i, j = one[first : first + step], other[first : first + step]
        # Without BLAS, whose last digits depend on the number of threads.
        total += np.einsum("p,pc->c", weights[i, j], rows.compute_differences(some[i], others[j]))
    return total


filterkit_stages = offer(ReliefF)
