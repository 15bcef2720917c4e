"""A progress bar on standard error, for work that takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from filterkit.arff.reader import Reader

T = TypeVar("T")

_PATIENCE = 1.0  # seconds before a bar appears


class Progress:
    """Shows how much of the input has been read; does nothing unless `enabled`."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._bar: Any = None

    def watch(self, items: Iterable[T], reader: Reader) -> Iterator[T]:
        """The same `items`, whose making reads from `reader`."""
        if not self._enabled or not reader.source.size:
            yield from items
            return
        began, shown = time.monotonic(), 0
        for item in items:
            yield item
            if self._bar is None and time.monotonic() - began > _PATIENCE:
                import click

                self._bar = click.progressbar(length=reader.source.size, label="filterkit", file=sys.stderr)
            if self._bar is not None:
                position = min(reader.source.position(), reader.source.size or 0)
                self._bar.update(max(position - shown, 0))
                shown = max(position, shown)
        self.close()

    def close(self) -> None:
        """End the line of the bar."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None
