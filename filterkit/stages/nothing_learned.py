"""Warnings of stages about what they learn from their training rows, above all that it is of no use."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from filterkit.errors import visible


class NothingLearnedWarning(UserWarning):
    """Given when what a stage learned from the training rows is of no use, in whole or in part.

    For example, all scores are 0, a learner ignores a text attribute, or only the input order decides between columns.
    The message names the stage, and says what was found, and what the stage does instead or what the user can change.

    `filterkit.evaluate` gives one for each chain with such stages, which names the chain, too. It gives one that names
    several chains if they all predict the same for every test row.
    """


_collected: ContextVar[list[str] | None] = ContextVar("_collected", default=None)


def warn_nothing_learned(stage: str, text: str) -> None:
    """Give a `NothingLearnedWarning` with the message ``STAGE: TEXT``.

    Inside `collect_stage_warnings`, the message is appended to its list instead.

    Parameters
    ----------
    stage : the name of the stage.
    text : what was found, and what the stage does instead or what the user can change.
    """
    warn_of_fit(stage, text, NothingLearnedWarning)


def warn_of_fit(stage: str, text: str, category: type[Warning]) -> None:
    """Give a warning of the class `category` about the fitting of a stage, with the message ``STAGE: TEXT``.

    Inside `collect_stage_warnings`, the message is appended to its list instead. `stage` is the name of the stage.
    """
    message = visible(f"{stage}: {text}")
    collected = _collected.get()
    if collected is None:
        warnings.warn(category(message), stacklevel=3)
    elif message not in collected:
        collected.append(message)


@contextmanager
def collect_stage_warnings() -> Iterator[list[str]]:
    """Return a context in which `warn_nothing_learned` and `warn_of_fit` append messages to a list instead of warning.

    The context gives this list. Equal messages are appended only once.
    """
    messages: list[str] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)
