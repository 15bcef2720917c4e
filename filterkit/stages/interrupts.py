"""Native calls that may take long, and signals that are to end them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interruptible(function: Callable[..., T], *arguments: object) -> T:
    """``function(*arguments)``, so that a signal is noticed while native code runs in it.

    Python runs signal handlers in the main thread, between two of its own instructions. A call into native code holds
    up both, so the call runs in another thread, and the main thread waits. When a handler raises, as that of Ctrl-C
    does, the exception comes out here at once. The native code cannot be stopped: it goes on in the background until it
    ends or the process does, and nobody sees its result.

    Called outside the main thread, or where nothing handles signals, this is a plain call.

    Raises
    ------
    Whatever the function or a signal handler raises.
    """
    import threading
    from contextvars import copy_context

    handled = any(callable(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM))
    if not handled or threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    results: list[T] = []
    failures: list[BaseException] = []
    done = threading.Event()
    context = copy_context()  # numpy keeps its errstate there

    def work() -> None:
        try:
            results.append(context.run(function, *arguments))
        except BaseException as failure:
            failures.append(failure)
        finally:
            done.set()

    threading.Thread(target=work, name="filterkit-native", daemon=True).start()
    done.wait()
    if failures:
        raise failures[0]
    return results[0]
