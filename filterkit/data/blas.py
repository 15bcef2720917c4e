"""BLAS with one thread, where the last digits of a result would depend on how many there are."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

_LOCK = threading.Lock()
_inside = 0  # threads of Python that are in `one_blas_thread`
_limits: Any = None


@lru_cache(1)
def _find_blas_libraries(n_modules: int) -> Any:
    """Find the BLAS libraries that this process has loaded; another number of modules makes it search again."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS and LAPACK use one thread in this context, so that last digits do not depend on the number of cores.

    The command sets this from the start. It matters where filterkit is used from Python, with numpy's own setting.
    """
    global _inside, _limits
    with _LOCK:
        if not _inside:
            _limits = _find_blas_libraries(len(sys.modules)).limit(limits=1, user_api="blas").__enter__()
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                _limits.__exit__(None, None, None)  # which lets other threads of Python set limits, too
