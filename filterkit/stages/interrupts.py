"""Interrupt long native calls by signals."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TypeVar

from filterkit.engines.local import wait_for_result

T = TypeVar("T")


def call_interruptibly(function: Callable[..., T], *arguments: object) -> T:
    """Return ``function(*arguments)``; handle signals meanwhile, even if the function runs long in native code.

    Python runs signal handlers in the main thread, and native code delays them there. So the function runs in another
    thread, and the main thread waits. If a handler raises, as that of Ctrl-C does, the exception is raised here at
    once. The function cannot be stopped. It runs on in the background until it or the process ends, and its result is
    lost.

    Outside the main thread, or if neither SIGINT nor SIGTERM has a handler in Python, this is a plain call. Exceptions
    of the function are raised as they are.
    """
    import threading
    from concurrent.futures import Future
    from contextvars import copy_context

    handled = any(callable(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM))
    if not handled or threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    future: Future[T] = Future()
    context = copy_context()  # numpy keeps its errstate there

    def call_and_set_result() -> None:
        try:
            future.set_result(context.run(function, *arguments))
        except BaseException as failure:
            future.set_exception(failure)

    threading.Thread(target=call_and_set_result, name="filterkit-native", daemon=True).start()
    return wait_for_result(future)
