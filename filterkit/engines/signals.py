"""What engines must know of signals: whether one ends the command, and how to hold them back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_TERMINAL_SIGNALS = ("SIGINT", "SIGQUIT", "SIGHUP")

# Python does not notice a signal that comes just before it begins to wait, so no wait is longer. In seconds.
LONGEST_WAIT = 0.5

# Set once a signal ends the command: from then on, nobody waits for work that may take long.
ending = threading.Event()


@contextmanager
def hold_back_signals() -> Iterator[None]:
    """Return a context that holds back the signals that end the command, and handles them at its end.

    Start processes in it: an exception of a signal handler in the middle could leave a process that nobody ends.
    Except on Windows, processes started in it never receive Ctrl-C and the other signals of a terminal: the process
    that waits for them must end them. Signals without a handler in Python are not held back here.
    """
    received: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # the only one that receives signals
        for name in (*_TERMINAL_SIGNALS, "SIGTERM", "SIGXCPU"):
            number = getattr(signal, name, None)
            if number is not None and callable(signal.getsignal(number)):
                handlers[number] = signal.signal(number, lambda number, frame: received.append((number, frame)))
    can_block = hasattr(signal, "pthread_sigmask")
    if can_block:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, name) for name in _TERMINAL_SIGNALS])
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in received:
            handlers[number](number, frame)
