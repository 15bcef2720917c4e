"""The choice among chains by an inner cross-validation, which sees the training rows alone.

The choice is part of the training: it is made anew for each training part, and measured on test rows that it has not
seen (M. Stone, *Cross-validatory Choice and Assessment of Statistical Predictions*, 1974).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import numpy as np

from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, quoted
from filterkit.evaluation.comparison import DIGITS
from filterkit.evaluation.folds import Splits
from filterkit.evaluation.measures import LOSSES, OF_PROBABILITIES, OF_SCORES, measures
from filterkit.evaluation.trial import Trial, try_chains

FOLDS = 5  # of the inner cross-validation, or fewer if there are fewer rows or groups


def choose_chain(
    chains: list[tuple[str, Chain]],
    measure: str,
    rows: Batch,
    splits: Splits | None,
    prefix: str,
    costs: np.ndarray | None = None,
) -> int:
    """Return the number of the chain with the best mean of a measure over inner folds, the first of equally good ones.

    Folds are left out whose training rows lack the positive class or a second one, or whose held-out rows have no
    weight, and those on which the measure is undefined for a chain. If no fold is left, it is the first chain.

    Parameters
    ----------
    chains : the names and the chains.
    measure : one of `filterkit.evaluation.measures.MEASURES`.
    rows : the training rows.
    splits : of these rows; None if they cannot be split.
    prefix : the beginning of messages: data, task and fold.
    costs : of predictions, or None.

    Raises
    ------
    FilterkitError : a chain fails on an inner fold, or has no scores or probabilities where the measure needs them.
    """
    merits = []
    for number, training, held_out in _list_inner_parts(rows, splits):
        within = f"{prefix}, inner fold {number + 1}"
        trials = try_chains(chains, training, held_out, within, costs)
        merits.append(
            [
                _compute_merit(trial, measure, f"{within}, chain {quoted(name)}")
                for trial, (name, _) in zip(trials, chains)
            ]
        )
    return find_best_chain(np.array(merits).reshape(-1, len(chains)))


def find_best_chain(merits: np.ndarray) -> int:
    """Return the number of the chain with the largest mean, of float64 (folds, chains); see `choose_chain`."""
    known = merits[~np.isnan(merits).any(axis=1)]
    return int(np.argmax([round(fsum(column) / max(len(known), 1), DIGITS) for column in known.T]))


def _list_inner_parts(rows: Batch, splits: Splits | None) -> Iterator[tuple[int, Batch, Batch]]:
    """Return the number of each inner fold that tells something, the rows of the other folds, and its own."""
    for number in range(splits.count if splits is not None else 0):
        assert splits is not None
        training, held_out = rows.take(splits.training(number)), rows.take(splits.test(number))
        if _can_be_learned(training) and _read_weights(held_out).any():
            yield number, training.replace(start=0), held_out


def _can_be_learned(training: Batch) -> bool:
    """Return whether rows of the positive class, or of several classes, have a weight; of labels, any row."""
    schema, weights = training.schema, _read_weights(training)
    target = schema.class_attribute
    if target is None or target.kind == "numeric":
        return bool(weights.any())
    assert training.y is not None
    totals = np.bincount(training.y, weights, len(target.values))
    lacking = schema.positive is not None and not totals[target.values.index(schema.positive)]
    return bool(np.count_nonzero(totals) > 1 and not lacking)


def _read_weights(rows: Batch) -> np.ndarray:
    return np.ones(len(rows)) if rows.weights is None else rows.weights


def _compute_merit(trial: Trial, measure: str, prefix: str) -> float:
    """Return how good a chain is on an inner fold: larger is better."""
    outcome = trial.outcome
    if measure in OF_SCORES and outcome.scores is None:
        raise FilterkitError(f"{prefix}: {measure} needs scores, but its learner predicts only labels")
    if measure in OF_PROBABILITIES and not outcome.probabilities:
        raise FilterkitError(f"{prefix}: {measure} needs probabilities, but its learner gives scores")
    value = measures(outcome, (measure,))[measure]
    return -value if measure in LOSSES else value
