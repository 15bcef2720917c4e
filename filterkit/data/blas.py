"""BLAS with one thread, where the last digits of a result would depend on how many there are."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LOCK = threading.Lock()
_inside = 0  # threads of Python that are in `one_blas_thread`
_limits: Any = None
_libraries: Any = None  # the BLAS libraries that this process has loaded, which takes long to find out
_n_modules = 0  # of Python, when they were searched for; further modules may have loaded more


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS and LAPACK use one thread in this context, so that last digits do not depend on the number of cores.

    The command sets this from the start, so the context matters only where filterkit is used from Python, with numpy's
    own setting.
    """
    from threadpoolctl import ThreadpoolController

    global _inside, _libraries, _limits, _n_modules
    with _LOCK:
        if not _inside:
            if _n_modules != len(sys.modules):
                _libraries, _n_modules = ThreadpoolController(), len(sys.modules)
            _limits = _libraries.limit(limits=1, user_api="blas").__enter__()
        _inside += 1
    try:
        yield
    finally:
        with _LOCK:
            _inside -= 1
            if not _inside:
                _limits.__exit__(None, None, None)  # which lets other threads of Python set limits, too
