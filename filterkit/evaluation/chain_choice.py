"""Chooses one of several chains by an inner cross-validation, which sees the training rows alone.

The choice is part of the training: it is made anew for each training part, and measured on test rows that it has not
seen (M. Stone, *Cross-validatory Choice and Assessment of Statistical Predictions*, 1974).
"""

from __future__ import annotations

import numpy as np

from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, quoted
from filterkit.evaluation.folds import DrawnFolds
from filterkit.evaluation.measure_names import OF_PROBABILITIES, OF_SCORES
from filterkit.evaluation.measures import find_best, measures
from filterkit.evaluation.trial import fit_and_predict_chains

INNER_FOLDS = 5  # fewer if there are fewer rows or groups


def choose_chain(
    chains: list[tuple[str, Chain]],
    measure: str,
    rows: Batch,
    folds: DrawnFolds | None,
    prefix: str,
    costs: np.ndarray | None = None,
) -> int:
    """Choose the chain with the best mean of a measure over inner folds, and return its index in `chains`.

    Of equally good chains, it is the first. Folds are left out whose training rows lack the positive class or a second
    one, or whose held-out rows have no weight, and those on which the measure is undefined for a chain. If no fold is
    left, it is the first chain.

    Parameters
    ----------
    chains : the names and the chains.
    measure : one of `filterkit.evaluation.measure_names.MEASURES`.
    rows : the training rows.
    folds : of these rows; None if they cannot be split.
    prefix : the beginning of messages: data, task and fold.
    costs : of predictions, or None.

    Raises
    ------
    FilterkitError : a chain fails on an inner fold, or has no scores or probabilities where the measure needs them.
    """
    if folds is None:
        return 0
    values: list[list[float]] = []
    for number in range(folds.count):
        fold = folds.make_fold(number)
        training, held_out = rows.take(fold.training[0]).replace(start=0), rows.take(fold.test)
        if not _has_classes_to_learn(training) or not held_out.row_weights.any():
            continue
        within = f"{prefix}, inner fold {number + 1}"
        values.append([])
        for trial, (name, _) in zip(fit_and_predict_chains(chains, training, held_out, within, costs), chains):
            needs = ""
            if measure in OF_SCORES and trial.outcome.scores is None:
                needs = "scores, but its learner predicts only labels"
            elif measure in OF_PROBABILITIES and not trial.outcome.probabilities:
                needs = "probabilities, but its learner gives scores"
            if needs:
                advice = "choose by another measure, or leave out this chain"
                raise FilterkitError(f"{within}, chain {quoted(name)}: {measure} needs {needs}; {advice}")
            values[-1].append(measures(trial.outcome, (measure,))[measure])
    return find_best(values, measure) or 0


def _has_classes_to_learn(training: Batch) -> bool:
    """Return whether rows are enough to learn from: those with a weight are of the positive class and another one.

    Without a positive class, they are of any two classes; with labels or a numeric class, any row with a weight.
    """
    schema, weights = training.schema, training.row_weights
    target = schema.class_attribute
    if target is None or target.kind == "numeric":
        return bool(weights.any())
    assert training.y is not None
    totals = np.bincount(training.y, weights, len(target.values))
    lacking = schema.positive is not None and not totals[target.values.index(schema.positive)]
    return bool(np.count_nonzero(totals) > 1 and not lacking)
