"""Warnings of stages about what they learn from their training rows, above all that it is nothing."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from filterkit.errors import visible


class NothingLearnedWarning(UserWarning):
    """A stage has learned nothing from the training rows; the message says what it does instead."""


_collected: ContextVar[list[str] | None] = ContextVar("_collected", default=None)


def warn_nothing_learned(stage: str, text: str) -> None:
    """Warn that the stage named `stage` has learned nothing; `text` says why, and what the stage does instead.

    Inside `collect_stage_warnings`, the message is appended to its list instead.
    """
    warn_of_fit(stage, text, NothingLearnedWarning)


def warn_of_fit(stage: str, text: str, category: type[Warning]) -> None:
    """Warn by `text` of something that was found while the stage named `stage` was fitted; see `warn_nothing_learned`.

    `category` is the class of the warning.
    """
    message = visible(f"{stage}: {text}")
    collected = _collected.get()
    if collected is None:
        warnings.warn(category(message), stacklevel=3)
    elif message not in collected:
        collected.append(message)


@contextmanager
def collect_stage_warnings() -> Iterator[list[str]]:
    """Return a context that gives a list. In it, `warn_nothing_learned` and `warn_of_fit` append their messages to this
    list instead of warning, each different message once."""
    messages: list[str] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)
