"""Compute the shares of `--memory`, which bounds what is held between passes over the rows.

The batches in work, two for each thread, come on top, and so does what stages have learned.
"""

from __future__ import annotations

DEFAULT_MEMORY = 1 << 30  # bytes


def spool_share(memory: int) -> int:
    """Return how many bytes of batches a spool holds in memory, before later batches go to a temporary file."""
    return memory // 8


def statistic_share(memory: int) -> int:
    """Return how many bytes the statistic of columns may take in one pass; columns beyond that need another pass."""
    return memory // 8


def stage_share(memory: int) -> int:
    """Return how many bytes a stage may hold that reads the batches itself, such as a learner."""
    return memory // 4
