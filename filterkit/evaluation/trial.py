"""Trials of chains, each fitted on some rows to predict others; and the choice of one by trials on training rows alone.

The choice is part of the training: it is made anew for each training part, and measured on test rows that it has not
seen (M. Stone, *Cross-validatory Choice and Assessment of Statistical Predictions*, 1974).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.budget import DEFAULT_MEMORY
from filterkit.chains.chain import Chain, open_training_rows, suggest_stages_in_errors
from filterkit.chains.fitting import ChainFitter
from filterkit.data.batch import Batch
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError, StageError, explain_unexpected_error, quoted
from filterkit.evaluation.folds import DrawnFolds
from filterkit.evaluation.measure_names import OF_PROBABILITIES, OF_SCORES
from filterkit.evaluation.measures import find_best, measures
from filterkit.stages.base import Stage, transform
from filterkit.stages.learner import FittedLearner, counted_rows
from filterkit.stages.models import Outcome
from filterkit.stages.nothing_learned import collect_stage_warnings

INNER_FOLDS = 5  # fewer if there are fewer rows or groups


class Trial(NamedTuple):
    """Holds what a chain, fitted on training rows, predicts for test rows.

    Attributes
    ----------
    learner : the fitted learner at the end of the chain.
    outcome : its predictions, and the truth.
    warnings : the messages of stages that have learned nothing, and one if the learner has no scores.
    seconds : the time that fitting and predicting took, or would have taken without other chains that begin alike.
    """

    learner: FittedLearner
    outcome: Outcome
    warnings: list[str]
    seconds: float


def fit_and_predict_chains(
    chains: Sequence[tuple[str, Chain]], training: Batch, test: Batch, prefix: str, costs: np.ndarray | None = None
) -> list[Trial]:
    """Fit chains on training rows, and predict test rows; return a trial of each chain, in order.

    Chains that begin with the same stages fit these once.

    Parameters
    ----------
    chains : the name of each chain, and the chain, which ends in a learner.
    training, test : the rows to fit on, and those to predict.
    prefix : the beginning of messages: data, task and fold.
    costs : what it costs to predict each class (second axis) where another is true, float64 (classes, classes); None
        without costs.

    Raises
    ------
    FilterkitError : a chain fails; the message names it, the first of those that share the stage that failed.
    """
    beginnings = [tuple(tuple(stage.words()) for stage in chain.stages[:-1]) for _, chain in chains]
    has_trials = any(stage.inner_folds() for _, chain in chains for stage in chain.stages)
    trials: list[Trial] = []
    with open_training_rows(training, LocalEngine.name, 1, DEFAULT_MEMORY) as rows:
        nothing = _FittedPrefix(ChainFitter([], rows, DEFAULT_MEMORY, has_trials=has_trials), test, [], 0.0)
        fitted: dict[tuple[Any, ...], _FittedPrefix] = {(): nothing}
        for number, (name, chain) in enumerate(chains):
            own, later = beginnings[number], beginnings[number + 1 :]
            others = (*beginnings[:number], *later)
            shared = {len(list(takewhile(lambda two: two[0] == two[1], zip(own, other)))) for other in others}
            reached = nothing
            try:
                for end in sorted(shared):
                    if own[:end] not in fitted:
                        fitted[own[:end]] = reached.extend_to_stages(chain.stages[:end], end)
                    reached = fitted[own[:end]]
                whole = reached.extend_to_stages(chain.stages, len(own))
                trials.append(whole.make_trial_on_test_rows(costs))
            except (MemoryError, OSError):
                raise
            except Exception as error:
                if isinstance(error, StageError):
                    error.row = None  # a number within the part, which means nothing to the user
                text = str(error) if isinstance(error, FilterkitError) else explain_unexpected_error(error)
                raise FilterkitError(f"{prefix}, chain {quoted(name)}: {text}") from error
            needed = {other[:end] for other in later for end in range(len(other) + 1)}
            fitted = {words: each for words, each in fitted.items() if words in needed}  # frees the rows of the others
    return trials


class _FittedPrefix(NamedTuple):
    """Holds the fitted stages with which one or several chains begin.

    Attributes
    ----------
    fitting : the training rows, and the stages fitted on them.
    test : the test rows, transformed by these stages, but not by a learner.
    warnings, seconds : those of `Trial` so far.
    """

    fitting: ChainFitter
    test: Batch
    warnings: list[str]
    seconds: float

    def extend_to_stages(self, stages: Sequence[Stage], n_applied_to_test: int) -> _FittedPrefix:
        """Fit those of `stages` that are not fitted yet; return the longer prefix.

        `stages` begin with the fitted ones. The first `n_applied_to_test` of them transform the test rows.
        """
        began, n_fitted = time.perf_counter(), len(self.fitting.fitted)
        with collect_stage_warnings() as messages, suggest_stages_in_errors():
            fitting = self.fitting.copy()
            fitting.fit_further_stages(stages[n_fitted:])
            test = transform(fitting.fitted[n_fitted:n_applied_to_test], self.test)
        seconds = self.seconds + time.perf_counter() - began
        return _FittedPrefix(fitting, test, [*self.warnings, *messages], seconds)

    def make_trial_on_test_rows(self, costs: np.ndarray | None) -> Trial:
        """Predict the test rows by the learner, the last fitted stage; see `fit_and_predict_chains` for `costs`.

        Raise StageError if all test rows have the weight 0, or the chain changes the class that the costs are of.
        """
        began = time.perf_counter()
        stage, learner = self.fitting.stages[-1], self.fitting.fitted[-1]
        assert isinstance(learner, FittedLearner)
        with collect_stage_warnings() as messages:
            outcome = learner.predict_outcome(self.test)
        if not len(outcome.truth):
            raise StageError(stage.name, "all rows to test on have the weight 0; give one of them a larger weight")
        if costs is not None:
            target, y = self.test.schema.class_attribute, self.test.y
            if y is None or target is None or len(target.values) != len(costs):
                raise StageError(
                    stage.name,
                    f"there are costs for {len(costs)} classes, but the chain changes the class; leave out the "
                    "costs, or the stage that changes it",
                )
            predicted = learner.tasks.decode(outcome.predicted)
            outcome = outcome._replace(costs=costs[y[counted_rows(self.test)], predicted])
        warnings = list(dict.fromkeys([*self.warnings, *messages]))
        if outcome.scores is None:
            warnings.append(
                f"{stage.name}: it predicts labels without scores, so measures of scores, such as auc, are unknown"
            )
        return Trial(learner, outcome, warnings, self.seconds + time.perf_counter() - began)


def choose_chain_by_inner_folds(
    chains: list[tuple[str, Chain]],
    measure: str,
    rows: Batch,
    folds: DrawnFolds | None,
    prefix: str,
    costs: np.ndarray | None = None,
) -> int:
    """Find the chain with the best mean of a measure over inner folds, the first of equally good ones.

    A fold is left out if its training rows lack the positive class or a second one, if its held-out rows have no
    weight, or if the measure is undefined for a chain.

    Parameters
    ----------
    chains : the names and the chains.
    measure : one of `filterkit.evaluation.measure_names.MEASURES`.
    rows : the training rows.
    folds : the inner folds of these rows; None if the rows cannot be split.
    prefix : the beginning of messages: data, task and fold.
    costs : see `fit_and_predict_chains`.

    Returns
    -------
    The index of the chain in `chains`; 0 if no fold is left.

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
    """Return whether the rows with a weight above 0 are of classes that a chain can learn to tell apart.

    They must be of the positive class and another one or, without a positive class, of two classes. With labels or a
    numeric class, there must be at least one row.
    """
    schema, weights = training.schema, training.row_weights
    target = schema.class_attribute
    if target is None or target.kind == "numeric":
        return bool(weights.any())
    assert training.y is not None
    totals = np.bincount(training.y, weights, len(target.values))
    return bool(np.count_nonzero(totals) > 1 and totals[schema.positive_classes(totals)].all())
