"""Signals that end the command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU")
_heeded: list[int] = []  # the signals that are not ignored, as SIGHUP is under nohup
_came: list[int] = []  # the signal that came; at most one
_clean_up: list[Callable[[], None]] = []


def end_process_on_signal() -> None:
    """Let SIGINT, SIGTERM and the like end the process at once, unless they were ignored when it started.

    Use it while there is nothing to clean up but temporary folders, which are removed if `raise_interrupt_on_signal`
    was called before. An exception would not be reliable: a module that is being imported may swallow it.
    """
    if not _heeded:
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        _heeded.extend(number for number in numbers if signal.getsignal(number) != signal.SIG_IGN)
    for number in _heeded:
        signal.signal(number, _clean_up_and_end_process)


def raise_interrupt_on_signal() -> None:
    """Let a signal from now on raise a `KeyboardInterrupt`, so that everything is cleaned up.

    A second signal ends the process. Call `end_process_on_signal` before, which chooses the signals.
    """
    from threading import Timer  # here, as a handler must not import

    from filterkit.engines.signals import ending
    from filterkit.temporary import remove_own_folders

    def raise_interrupt(number: int, frame: FrameType | None) -> None:
        if _came:
            _clean_up_and_end_process(number, frame)
        _came.append(number)
        ending.set()
        raise KeyboardInterrupt

    def resend_swallowed_signal(unraisable: Any) -> None:
        """Send a signal again whose exception Python swallowed, as it does in ``__del__``."""
        if unraisable.exc_type is KeyboardInterrupt and _came:
            Timer(0.01, os.kill, (os.getpid(), _came.pop())).start()
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = resend_swallowed_signal
    _clean_up[:] = [remove_own_folders]
    for number in _heeded:
        signal.signal(number, raise_interrupt)


def find_signal_exit_status() -> int | None:
    """Return the exit status for the signal that raised an interrupt, 128 plus its number; None if none did."""
    return 128 + _came[0] if _came else None


def _clean_up_and_end_process(number: int, _: FrameType | None) -> None:
    for clean_up in _clean_up:
        clean_up()
    os._exit(find_signal_exit_status() or 128 + number)
