"""Progress on standard error, for work that takes a while: a bar on a terminal, else a line every tenth."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from filterkit.arff.reader import Reader
from filterkit.messages import is_watched, say

if TYPE_CHECKING:
    from filterkit.files.formats import FormatReader

T = TypeVar("T")

_PATIENCE = 1.0  # seconds before anything is shown


class Progress:
    """Shows how much of the input has been read; does nothing unless `enabled`."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._bar: Any = None
        self._shown = 0

    def watch(self, items: Iterable[T], reader: Reader | FormatReader) -> Iterator[T]:
        """The same `items`, whose making reads from `reader`."""
        began = time.monotonic()
        for item in items:
            yield item
            size = reader.source.size
            if self._enabled and size and time.monotonic() - began > _PATIENCE:
                self._show(min(reader.source.position(), size), size)
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
