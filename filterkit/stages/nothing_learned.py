"""Warnings of stages that have learned nothing from their training rows."""

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

    Inside `collect_warnings`, the message joins its list instead.
    """
    message = visible(f"{stage}: {text}")
    collected = _collected.get()
    if collected is None:
        warnings.warn(NothingLearnedWarning(message), stacklevel=2)
    elif message not in collected:
        collected.append(message)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the messages of `warn_nothing_learned` in a list, instead of warning; each different message once."""
    messages: list[str] = []
    token = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(token)
