"""Shows progress of work that takes a while: on standard error, or in the notebook that runs it."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from filterkit.messages import is_stderr_terminal, write_message, write_unescaped

if TYPE_CHECKING:
    from filterkit.formats.reader import Reader

T = TypeVar("T")

_PATIENCE = 1.0  # seconds before anything is shown
_PAUSE = 0.1  # seconds between two pictures of a bar in a notebook


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


# Each of the next three classes has the method `show`, which shows that `done` of `total` are done: `text` says so in
# words, and `rate` says how fast, or is "". The method `close` shows the latest state, and ends the line.


class _TenthLines:
    """Shows progress as a line on standard error whenever another tenth is done."""

    _tenths = 0

    def show(self, done: int, total: int, text: str, rate: str = "") -> None:
        tenths = done * 10 // total
        if tenths > self._tenths:
            write_message(f"filterkit: {text}{rate and f', {rate}'}")
        self._tenths = tenths

    def close(self) -> None:
        pass


class _TerminalBar:
    """Shows progress as a bar on a terminal."""

    _bar: Any = None
    _done = 0

    def show(self, done: int, total: int, text: str, rate: str = "") -> None:
        if self._bar is None:
            import click

            self._bar = click.progressbar(
                length=total,
                label="filterkit",
                file=sys.stderr,
                show_eta=False,
                width=0,
                item_show_func=lambda text: text,
            )
        self._bar.update(done - self._done, rate)
        self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.render_finish()


class _NotebookBar:
    """Shows progress as a bar in the output of a notebook's cell, drawn at most ten times a second."""

    _handle: Any = None
    _pending: dict[str, str] | None = None  # what is not drawn yet
    _drawn = -math.inf

    def show(self, done: int, total: int, text: str, rate: str = "") -> None:
        text += rate and f", {rate}"
        bar = f'<progress max="{total}" value="{done}"></progress>'
        self._pending = {"text/plain": f"filterkit: {text}", "text/html": f"<div>{bar} {text}</div>"}
        if time.monotonic() - self._drawn >= _PAUSE:
            self._draw_pending()

    def _draw_pending(self) -> None:
        if not self._pending:
            return
        import IPython.display

        display: Any = IPython.display.display
        if self._handle is None:
            self._handle = display(self._pending, raw=True, display_id=True)
        else:
            self._handle.update(self._pending, raw=True)
        self._pending, self._drawn = None, time.monotonic()

    close = _draw_pending


_Bar = _TenthLines | _TerminalBar | _NotebookBar


def _choose_bar() -> _Bar:
    """Return a new bar for a notebook, a terminal or neither."""
    if in_notebook():
        return _NotebookBar()
    return _TerminalBar() if is_stderr_terminal() else _TenthLines()


class ReadingProgress:
    """Shows how much of an input has been read, once that takes longer than a second.

    It is a bar in a notebook or on a terminal, and elsewhere a line for every tenth.

    Parameters
    ----------
    wanted : whether to show anything; None means only if standard error is a terminal.
    """

    def __init__(self, wanted: bool | None) -> None:
        self._enabled = is_stderr_terminal() if wanted is None else wanted
        self._bar = _choose_bar()
        self._passes = 0

    def watch(self, items: Iterable[T], reader: Reader) -> Iterator[T]:
        """Yield `items`, and after each show how much of the input of `reader` has been read, if its size is known.

        From the second call on, the pass is numbered.
        """
        self._passes += 1
        began = time.monotonic()
        for item in items:
            yield item
            passed = time.monotonic() - began
            if self._enabled and passed > _PATIENCE and (progress := reader.files.measure_progress()):
                position, size = progress
                self._show_share_read(position, size, passed, {"MB": position / 1e6, "rows": reader.rows})
        self.close()

    def watch_with_row_counts(self, items: Iterable[T], rows: Sequence[int]) -> Iterator[T]:
        """Yield `items`, and after each show the share of rows done; `rows` has the number of rows of each item.

        From the second call on, the pass is numbered.
        """
        self._passes += 1
        began, done, total = time.monotonic(), 0, sum(rows)
        for item, count in zip(items, rows):
            yield item
            done += count
            passed = time.monotonic() - began
            if self._enabled and total and passed > _PATIENCE:
                self._show_share_read(done, total, passed, {"rows": done})
        self.close()

    def _show_share_read(self, done: int, total: int, passed: float, amounts: dict[str, float]) -> None:
        """Show that `done` of `total`, both bytes or rows, are read after `passed` seconds, and the time left.

        `amounts` has what was read so far by unit, such as "rows", for the rates per second.
        """
        which = f"pass {self._passes}: " if self._passes > 1 else ""
        rates = [
            f"{amount / passed:{',.0f' if amount / passed >= 100 else '.3g'}} {unit}/s"
            for unit, amount in amounts.items()
            if amount
        ]
        left = [f"about {_format_duration(passed / done * (total - done))} left"] if 0 < done < total else []
        self._bar.show(done, total, f"{which}{done * 100 // total}% read", ", ".join([*rates, *left]))

    def close(self) -> None:
        self._bar.close()
        self._bar = _choose_bar()


class StageProgress:
    """Shows how many stages of a chain are done, once that takes longer than a second. Use it in a ``with`` statement.

    In a notebook, the bar also appears while the first stage still runs.

    Parameters
    ----------
    wanted : whether to show anything; None means only in a notebook.
    stages : the number of stages; nothing is shown for 0.
    what : the end of the text ``2 of 3 stages …``, such as ``fitted``.
    """

    def __init__(self, wanted: bool | None, stages: int, what: str) -> None:
        self._enabled = bool(stages) and (in_notebook() if wanted is None else wanted)
        self._stages, self._what = stages, what
        self._done = 0
        self._is_open = True
        self._bar: _Bar | None = None
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Callable[..., None]:
        """Return a function to call with the number of stages that are done; it ignores other arguments."""
        if not self._enabled:
            return lambda *_: None
        self._began = time.monotonic()
        if in_notebook():
            import contextvars

            context = contextvars.copy_context()  # it knows the cell of the notebook
            self._timer = threading.Timer(_PATIENCE, context.run, [self._show_done, 0])
            self._timer.daemon = True
            self._timer.start()
        return self._show_done

    def _show_done(self, done: int, *_: object) -> None:
        """Show the largest number of stages done so far, `done` included; other arguments are ignored.

        Show nothing before a second has passed, or after the ``with`` statement has ended.
        """
        with self._lock:
            self._done = max(self._done, done)
            if self._is_open and time.monotonic() - self._began >= _PATIENCE:
                self._bar = self._bar or _choose_bar()
                text = f"{self._done} of {self._stages} stages {self._what}"
                self._bar.show(self._done, self._stages, text)

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._is_open = False
            if self._bar is not None:
                self._bar.close()


class FoldProgress:
    """Shows how many folds of an evaluation are done, and about how long the rest will take.

    It is a line on a terminal that is written over, and elsewhere a line for every tenth; nothing in the first second.

    Parameters
    ----------
    wanted : whether to show anything; None means only if standard error is a terminal.
    size : the bytes of data of all folds in all, by which the time left is estimated.
    """

    def __init__(self, wanted: bool | None, size: int) -> None:
        self._terminal = is_stderr_terminal()
        self._enabled = self._terminal if wanted is None else wanted
        self._began = time.monotonic()
        self._done = 0
        self._size, self._size_done = size, 0
        self._share_shown = 0.0

    def count_fold(self, left: int, size: int) -> None:
        """Count another fold as done, whose data has `size` bytes, and show it when the next line is due.

        `left` folds remain.
        """
        self._done += 1
        self._size_done += size
        share = self._done / (self._done + left)
        passed = time.monotonic() - self._began
        if not self._enabled or passed < _PATIENCE or (not self._terminal and share < self._share_shown + 0.1):
            return
        self._share_shown = share
        text = f"filterkit: {self._done} of {self._done + left} folds"
        if self._size_done * 10 >= self._size:  # before that, the time to import would count too much
            text += f", about {_format_duration(passed / self._size_done * (self._size - self._size_done))} left"
        write_unescaped(f"\r{text}\033[K" if self._terminal else f"{text}\n")

    def close(self) -> None:
        if self._terminal and self._share_shown:
            write_unescaped("\n")


def _format_duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
