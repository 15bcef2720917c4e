"""Boost decision stumps for multi-label data: AdaBoost.MH and MP-Boost.

Schapire and Singer, "BoosTexter: A boosting-based system for text categorization", Machine Learning 39, 2000;
Esuli, Fagni and Sebastiani, "MP-Boost: A multiple-pivot boosting algorithm and its application to text
categorization", SPIRE 2006.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit import FilterkitError, Learner, Schema, StageError, option
from filterkit.plugin import (
    Bools,
    Floats,
    Ints,
    LearnedTable,
    LinearModel,
    Model,
    State,
    Tasks,
    Training,
    list_feature_names,
    make_learned_table,
    offer,
    quoted,
)

# The number of labels in a block, whose weights then stay in the processor's cache.
_BLOCK = 16

# Scores that exceed the smallest by this share count as equal to it, because rounding makes equal scores differ.
_AS_SMALL = 1e-12


def boost_stumps(
    X: Any, Y: Bools, rounds: int, multiple_pivots: bool, jobs: int = 1, row_weights: Floats | None = None
) -> tuple[Floats, Floats, Ints]:
    """Boost decision stumps, each on the presence of one feature, and return their sum as a linear function.

    Every pair of a row i and a label l has a weight D(i, l). All start at ε or, with `row_weights`, proportional to the
    weight of the row. W(s, j, l, t) is the sum of D over the rows where label l has the sign s (+ or −) and feature t
    has the value j (0 or 1). Where feature t has the value j, the stump on t gives label l the score

        c(j, l) = ½ ln((W(+, j, l, t) + ε) / (W(−, j, l, t) + ε)).

    D(i, l) is then multiplied by exp(−c) if row i has the label and by exp(c) if not, and normalised.

    In each round, AdaBoost.MH ("with real-valued predictions", section 4.1 of BoosTexter) takes the one feature with
    the smallest Σ_l Z(l, t), where Z(l, t) = 2 Σ_j √(W(+, j, l, t) W(−, j, l, t)); D sums to 1 over all pairs.
    MP-Boost takes for each label the feature with the smallest Z(l, t); D sums to 1 for each label, so labels do not
    depend on each other. Of features whose values differ by less than one part in 10¹², the first is taken.

    ε is 1 / (rows · labels) for AdaBoost.MH, as in BoosTexter. For MP-Boost it is 1 / rows. That equals the ε of its
    authors' program (MP-Boost++), which is 1 / (rows · labels) while D sums to 1 / labels for each label.

    Parameters
    ----------
    X : `csr_array` (rows, features) of ones, at least one feature: the features that each row has.
    Y : bool (rows, labels), whether the row has the label; at least one row and one label.
    rounds : the number of stumps; with MP-Boost, for each label.
    multiple_pivots : whether to use MP-Boost instead of AdaBoost.MH.
    jobs : the number of threads; the result does not depend on it.
    row_weights : float64 (rows,), above 0; or None for equal weights.

    Returns
    -------
    weights, intercept : float64 (features, labels) and (labels,); a row x of zeros and ones is predicted to have the
        labels where ``x @ weights + intercept > 0``.
    pivots : int32 (rounds, labels), the index of the feature chosen in each round for each label; with AdaBoost.MH the
        same for all labels.
    """
    from scipy import sparse

    rows, labels = Y.shape
    epsilon = 1 / rows if multiple_pivots else 1 / (rows * labels)
    table = X.T.tocsr()
    seen: dict[bytes, int] = {}  # the features that differ from all features before them, by their rows
    for feature in range(X.shape[1]):
        seen.setdefault(table.indices[table.indptr[feature] : table.indptr[feature + 1]].tobytes(), feature)
    first = np.fromiter(seen.values(), np.int32)
    table = sparse.vstack([table[first], np.ones((1, rows))], format="csr")  # the last row is full
    begin = np.full(rows, epsilon) if row_weights is None else row_weights * (rows * epsilon / row_weights.sum())
    blocks = [_LabelBlock(table, Y[:, at : at + _BLOCK], begin) for at in range(0, labels, _BLOCK)]
    cuts = range(_BLOCK, labels, _BLOCK)
    weights, intercept = np.zeros((X.shape[1], labels)), np.zeros(labels)
    pivots = np.empty((rounds, labels), np.int32)
    from concurrent.futures import ThreadPoolExecutor  # imported here, because few chains need it

    with ThreadPoolExecutor(jobs) as pool:
        each: Any = map if jobs == 1 else pool.map
        for pivot in pivots:
            if multiple_pivots:
                best = each(
                    lambda block: _find_features_of_least_loss(block.compute_loss_by_feature_and_label()), blocks
                )
                taken = np.concatenate(list(best))
            else:
                z = sum(
                    each(lambda block: block.compute_loss_by_feature_and_label().sum(axis=1, keepdims=True), blocks)
                )
                taken = np.repeat(_find_features_of_least_loss(z), labels)
            sums = np.concatenate(
                list(each(_LabelBlock.sum_weights_by_sign_and_value, blocks, np.split(taken, cuts))), axis=2
            )
            odds = np.sqrt((sums[0] + epsilon) / (sums[1] + epsilon))  # exp(c)
            factors = np.stack([1 / odds, odds])
            total = (factors * sums).sum(axis=(0, 1))
            factors /= total if multiple_pivots else total.sum()
            list(each(_LabelBlock.multiply_weights, blocks, np.split(factors, cuts, axis=2)))
            absent, present = np.log(odds)
            pivot[:] = first[taken]
            weights[pivot, np.arange(labels)] += present - absent
            intercept += absent
    return weights, intercept, pivots


def _find_features_of_least_loss(losses: Floats) -> Ints:
    """Return the index of the feature with the least loss for each label: int64 (labels,).

    `losses` are float64 (features, labels). Of features whose losses differ only by rounding, the first is taken.
    """
    return np.asarray((losses <= losses.min(axis=0) * (1 + _AS_SMALL)).argmax(axis=0))


class _LabelBlock:
    """Holds the weights D of `boost_stumps` for all rows and some of the labels.

    In each round, call `compute_loss_by_feature_and_label`, `sum_weights_by_sign_and_value` and `multiply_weights`, in
    this order.

    Parameters
    ----------
    table : `csr_array` (features + 1, rows) of ones, the rows that have each feature; the last one is for all rows.
    Y : bool (rows, labels), whether a row has a label.
    initial_weights : float64 (rows,), the weight with which all pairs of a row start.
    """

    def __init__(self, table: Any, Y: Bools, initial_weights: Floats) -> None:
        self.table = table
        # The weights of pairs of a row and a label that it has are stored apart from those of the other pairs. So W of
        # the rows that have a feature is a plain sum, exactly 0 if there are no such rows. W of the rows that lack it
        # is the difference from the sum over all rows. Because all sums run in the order of the rows and rounding is
        # monotone, this difference is never below 0, and exactly 0 if there are no such rows.
        self.weights = (
            np.hstack([Y, ~Y]) * initial_weights[:, None]
        )  # of the pairs of each sign and label, by row; 0 of others
        self.sums: Floats  # (features + 1, 2, labels): of the rows that have each feature, and last of all rows
        self.present = np.zeros(Y.shape, bool)  # whether the row has the feature taken for the label

    def compute_loss_by_feature_and_label(self) -> Floats:
        """Compute the loss ½ Z(l, t) of each feature t for each label l: float64 (features, labels)."""
        self.sums = (self.table @ self.weights).reshape(len(self.table.indptr) - 1, 2, -1)
        present, whole = self.sums[:-1], self.sums[-1]
        plus, minus = whole[0] - present[:, 0], whole[1] - present[:, 1]
        plus *= minus
        np.sqrt(plus, out=plus)
        np.multiply(present[:, 0], present[:, 1], out=minus)
        plus += np.sqrt(minus, out=minus)
        return np.asarray(plus)

    def sum_weights_by_sign_and_value(self, features: Ints) -> Floats:
        """Compute W of `boost_stumps` for the feature chosen for each label: float64 (2 signs, 2 values, labels).

        `features`, int64 (labels,), are the indices of the chosen features in `table`; `multiply_weights` will use
        them, too. The first sign is plus, and the first value 0.
        """
        self.present[:] = False
        for label, feature in enumerate(features.tolist()):
            self.present[self.table.indices[self.table.indptr[feature] : self.table.indptr[feature + 1]], label] = True
        present = self.sums[features, :, np.arange(len(features))].T
        return np.stack([self.sums[-1] - present, present], axis=1)

    def multiply_weights(self, factors: Floats) -> None:
        """Multiply each weight, in place, by its factor.

        `factors`, float64 (2 signs, 2 values, labels), has one for each sign, label, and value of the feature that was
        chosen for the label, as `sum_weights_by_sign_and_value` orders them.
        """
        for weights, (absent, present) in zip(np.split(self.weights, 2, axis=1), factors):
            weights *= np.where(self.present, present, absent)


class Boosting(Learner):
    """Base of learners that predict by boosted decision stumps.

    `multiple_pivots` says whether each label has a feature of its own in each round, or all labels have the same one.
    """

    regressor = "predict GradientBoostingRegressor"
    multiple_pivots = False

    rounds: int = option(
        1000, "Number of decision stumps; with mp-boost, for each label.", minimum=1, maximum=1_000_000
    )

    def learn(self, training: Training) -> Model:
        from scipy.sparse import csr_array

        X = csr_array(training.X)
        if (X.data != 1).any():
            at = (X.data != 1).argmax()
            name = training.schema.features[X.indices[at]].name
            raise StageError(
                self.name,
                f"attribute '{name}' has the value {X.data[at]:g}, but must be 0 or 1; put binary or ordinal before it",
            )
        truth, weights = training.truth, training.weights
        return BoostedStumps(*boost_stumps(X, truth, self.rounds, self.multiple_pivots, training.jobs, weights))

    def model(self, state: State, features: int, tasks: Tasks) -> Model:
        linear, pivots = LinearModel.from_state(state, features, tasks), state["pivots"]
        if pivots.ndim != 2 or pivots.shape[1] != len(tasks.names) or not np.isin(pivots, np.arange(features)).all():
            raise FilterkitError("its saved pivots do not name a feature for each label in each round")
        return BoostedStumps(linear.coefficients, linear.intercepts, pivots)


class BoostedStumps(LinearModel):
    """Scores rows by the sum of decision stumps; its parameters are what `boost_stumps` returns."""

    def __init__(self, coefficients: Floats, intercepts: Floats, pivots: Ints) -> None:
        super().__init__(coefficients, intercepts)
        self.pivots = pivots

    @property
    def state(self) -> State:
        """The arrays from which `Boosting.model` makes the model again."""
        return super().state | {"pivots": self.pivots}

    def describe(self, incoming: Schema, tasks: Tasks, top: int | None) -> list[LearnedTable]:
        """Make a table of the intercepts and, for each task, a table of features.

        The latter have the weight and the number of stumps of each feature; without stumps, the weight is NaN. They
        have at most `top` rows; None for all features.
        """
        tables, names = super().describe(incoming, tasks, top)[:1], list_feature_names(incoming)
        for task, (weights, pivots) in zip(tasks.names, zip(self.coefficients.T, self.pivots.T)):
            stumps = np.bincount(pivots, minlength=len(names))
            columns = {"weight": np.where(stumps > 0, weights, np.nan), "stumps": stumps}
            tables.append(make_learned_table(f"for {quoted(task)}", names, columns, top, ranked=True))
        return tables


class AdaBoostMh(Boosting):
    """Predict by AdaBoost.MH: boosted decision stumps on 0/1 features, each for all classes or labels at once.

        filterkit in.arff binary adaboost-mh --rounds 100

    Each round takes the one feature that predicts all labels together best, and gives real-valued scores to rows that
    have it and rows that do not (Schapire and Singer 2000). `binary` or `ordinal` make 0/1 features of counts. The
    training rows are held in memory.
    """

    name = "adaboost-mh"


class MpBoost(Boosting):
    """Predict by MP-Boost: boosted decision stumps on 0/1 features, one for each class or label in each round.

        filterkit in.arff binary mp-boost --rounds 100

    It works as adaboost-mh, but each round takes for every label the feature that predicts this label best (Esuli and
    others 2006).
    """

    name = "mp-boost"
    multiple_pivots = True


filterkit_stages = offer(AdaBoostMh, MpBoost)
