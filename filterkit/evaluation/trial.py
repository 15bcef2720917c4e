"""One trial of a chain: it is fitted on some rows, and predicts others."""

from __future__ import annotations

from filterkit.chains.chain import Chain
from filterkit.data.batch import Batch
from filterkit.errors import FilterkitError, StageError, unexpected
from filterkit.stages.base import transform
from filterkit.stages.learner import FittedLearner
from filterkit.stages.models import Outcome
from filterkit.stages.nothing_learned import collect_warnings


def try_chain(chain: Chain, training: Batch, test: Batch, place: str) -> tuple[FittedLearner, Outcome, list[str]]:
    """The learner at the end of a chain that is fitted on training rows, what it predicts of test rows, and warnings.

    The warnings are those of stages that have learned nothing, and one if the learner has no scores.

    Raises
    ------
    FilterkitError : the chain fails; the message begins with `place`.
    """
    try:
        with collect_warnings() as messages:
            fitted = chain.fit(training)
        learner = fitted.stages[-1]
        assert isinstance(learner, FittedLearner)
        outcome = learner.outcome(transform(fitted.stages[:-1], test))
        if not len(outcome.truth):
            raise StageError(chain.stages[-1].name, "all rows to test on have the weight 0")
        if outcome.scores is None:
            messages.append(
                f"{chain.stages[-1].name}: it predicts labels without scores, so measures of scores are unknown"
            )
    except (MemoryError, OSError):
        raise
    except Exception as error:
        raise _placed(error, place) from error
    return learner, outcome, messages


def _placed(error: Exception, place: str) -> FilterkitError:
    """An error of a chain that names where it happened; one of a plugin that nobody foresaw also says its kind."""
    if isinstance(error, StageError):
        error.row = None  # a number within the part, which means nothing to the user
    if isinstance(error, FilterkitError):
        return FilterkitError(f"{place}: {error}")
    return FilterkitError(f"{place}: {unexpected(error)}")
