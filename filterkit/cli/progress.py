"""Shows progress on standard error, for work that takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from filterkit.files.inputs import Input
from filterkit.messages import draw, is_watched, say

T = TypeVar("T")

_PATIENCE = 1.0  # seconds before anything is shown


class ReadingProgress:
    """Shows how much of an input has been read: as a bar on a terminal, otherwise as a line for every tenth.

    Parameters
    ----------
    wanted : whether to show anything; None for only on a terminal.
    """

    def __init__(self, wanted: bool | None) -> None:
        self._enabled = is_watched() if wanted is None else wanted
        self._bar: Any = None
        self._shown = 0

    def watch(self, items: Iterable[T], reader: Input) -> Iterator[T]:
        """Yield `items`, which are made while `reader` is read."""
        began = time.monotonic()
        for item in items:
            yield item
            size = reader.size
            if self._enabled and size and time.monotonic() - began > _PATIENCE:
                self._show(min(reader.position(), size), size)
        self.close()

    def _show(self, position: int, size: int) -> None:
        if not is_watched():
            if position * 10 // size > self._shown * 10 // size:
                say(f"filterkit: {position * 100 // size}% read")
        else:
            if self._bar is None:
                import click

                self._bar = click.progressbar(length=size, label="filterkit", file=sys.stderr)
            self._bar.update(position - self._shown)
        self._shown = position

    def close(self) -> None:
        """End the line of the bar."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None


class FoldProgress:
    """Shows how many folds of an evaluation are done, and about how long the rest will take.

    Parameters
    ----------
    wanted : whether to show anything; None for only on a terminal.
    """

    def __init__(self, wanted: bool | None) -> None:
        self._terminal = is_watched()
        self._enabled = self._terminal if wanted is None else wanted
        self._began = time.monotonic()
        self._done = 0
        self._share_shown = 0.0

    def show(self, left: int) -> None:
        """Count another fold as done; `left` folds remain."""
        self._done += 1
        share = self._done / (self._done + left)
        passed = time.monotonic() - self._began
        if not self._enabled or passed < 1 or (not self._terminal and share < self._share_shown + 0.1):
            return
        self._share_shown = share
        rest = _duration(passed / self._done * left)
        text = f"filterkit: {self._done} of {self._done + left} folds, about {rest} left"
        draw(f"\r{text}\033[K" if self._terminal else f"{text}\n")

    def close(self) -> None:
        """End the line on a terminal."""
        if self._terminal and self._share_shown:
            draw("\n")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
