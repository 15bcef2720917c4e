"""Trials of chains: each is fitted on some rows, and predicts others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from filterkit.chains.budget import DEFAULT_MEMORY
from filterkit.chains.chain import Chain, add_remedies, open_training_rows
from filterkit.chains.fitting import Fitting
from filterkit.data.batch import Batch
from filterkit.engines.local import LocalEngine
from filterkit.errors import FilterkitError, StageError, explain_unexpected, quoted
from filterkit.stages.base import Stage, transform
from filterkit.stages.learner import FittedLearner, counted_rows
from filterkit.stages.models import Outcome
from filterkit.stages.nothing_learned import collect_warnings


class Trial(NamedTuple):
    """A chain fitted on training rows, and its predictions of test rows.

    Attributes
    ----------
    learner : the fitted learner at its end.
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
    training, test : the rows.
    prefix : the beginning of messages: data, task and fold.
    costs : of predictions, as `read_costs` returns them; None if there are none.

    Raises
    ------
    FilterkitError : a chain fails; the message names it, the first of those that share the stage that failed.
    """
    stages = [chain.stages for _, chain in chains]
    has_trials = any(stage.inner_folds() for several in stages for stage in several)
    trials: dict[int, Trial] = {}
    with open_training_rows(training, LocalEngine.name, 1, DEFAULT_MEMORY) as rows:
        waiting = [_Branch(range(len(chains)), 0, Fitting(rows, DEFAULT_MEMORY, has_trials), test, [], 0.0)]
        while waiting:
            branch = waiting.pop()
            # Chains with the same next stage go on together; one that has only its learner left goes on alone.
            groups: dict[object, list[int]] = {}
            for number in branch.numbers:
                left = stages[number][branch.depth :]
                groups.setdefault(tuple(left[0].words()) if len(left) > 1 else number, []).append(number)
            for numbers in groups.values():
                try:
                    grown = branch.fit_next_stages(stages, numbers)
                    if len(numbers) == 1:
                        trials[numbers[0]] = grown.predict_test_rows(stages[numbers[0]][-1].name, costs)
                    else:
                        waiting.append(grown)
                except (MemoryError, OSError):
                    raise
                except Exception as error:
                    if isinstance(error, StageError):
                        error.row = None  # a number within the part, which means nothing to the user
                    text = str(error) if isinstance(error, FilterkitError) else explain_unexpected(error)
                    raise FilterkitError(f"{prefix}, chain {quoted(chains[numbers[0]][0])}: {text}") from error
    return [trials[number] for number in range(len(chains))]


class _Branch(NamedTuple):
    """Several chains that begin with the same stages, of which these are fitted so far.

    Attributes
    ----------
    numbers : the indices of the chains.
    depth : how many stages of each are fitted.
    fitting : has fitted these stages.
    test : the test rows that come to the next stage; to the learner, if that is fitted.
    warnings, seconds : as of `Trial`, so far.
    """

    numbers: Sequence[int]
    depth: int
    fitting: Fitting
    test: Batch
    warnings: list[str]
    seconds: float

    def fit_next_stages(self, stages: Sequence[Sequence[Stage]], numbers: Sequence[int]) -> _Branch:
        """Fit the next stages that some of the chains share, or all that a single chain has left, and return the new
        branch of these chains.

        `stages` are those of every chain, and `numbers` the indices of some chains of this branch.
        """
        began = time.perf_counter()
        own = [stages[number][self.depth :] for number in numbers]
        following = own[0]
        if len(own) > 1:  # without the learner at the end of any
            level = zip(*(several[:-1] for several in own))
            shared = takewhile(lambda each: all(stage.words() == each[0].words() for stage in each), level)
            following = [each[0] for each in shared]
        with collect_warnings() as messages, add_remedies():
            fitting = self.fitting.fork()
            fitting.fit(following)
            fitted = [step.fitted for step in fitting.steps[self.depth :]]
            test = transform(fitted[:-1] if len(own) == 1 else fitted, self.test)
        seconds = self.seconds + time.perf_counter() - began
        warnings = list(dict.fromkeys([*self.warnings, *messages]))
        return _Branch(numbers, self.depth + len(following), fitting, test, warnings, seconds)

    def predict_test_rows(self, name: str, costs: np.ndarray | None) -> Trial:
        """Predict the test rows by the fitted learner at the end of the only chain, and return the trial.

        Parameters
        ----------
        name : of the learner, for messages.
        costs : as for `fit_and_predict_chains`.
        """
        began = time.perf_counter()
        learner = self.fitting.steps[-1].fitted
        assert isinstance(learner, FittedLearner)
        with collect_warnings() as messages:
            outcome = learner.predict_outcome(self.test)
        if not len(outcome.truth):
            raise StageError(name, "all rows to test on have the weight 0, so there is nothing to measure")
        if costs is not None:
            target, y = self.test.schema.class_attribute, self.test.y
            if y is None or target is None or len(target.values) != len(costs):
                raise StageError(
                    name,
                    f"there are costs for {len(costs)} classes, but the chain changes the class; leave out the "
                    "costs, or the stage that changes it",
                )
            predicted = learner.tasks.decode(outcome.predicted, self.test.schema)[:, 0]
            outcome = outcome._replace(costs=costs[y[counted_rows(self.test)], predicted])
        warnings = list(dict.fromkeys([*self.warnings, *messages]))
        if outcome.scores is None:
            warnings.append(
                f"{name}: it predicts labels without scores, so measures of scores, such as auc, are unknown"
            )
        return Trial(learner, outcome, warnings, self.seconds + time.perf_counter() - began)
