"""The shares of `--memory`, which bounds what is held between passes over the rows.

The batches in work, two for each thread, come on top, and so does what stages have learned.
"""

from __future__ import annotations

DEFAULT_MEMORY = 1 << 30  # bytes


def spool_share(memory: int) -> int:
    """Return the bytes of batches that a spool holds in memory; later batches go to a temporary file."""
    return memory // 8


def statistic_share(memory: int) -> int:
    """Return the bytes of the statistic of one strip of columns; the columns beyond it need another pass."""
    return memory // 8


def stage_share(memory: int) -> int:
    """Return the bytes that a stage may hold that reads the batches itself."""
    return memory // 4
