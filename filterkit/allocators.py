"""Settings of the memory allocators. Their defaults are slow when large arrays come and go."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # of glibc's <malloc.h>


def keep_freed_memory() -> None:
    """Let the memory of one batch serve the next one, instead of going back to the system.

    By default glibc and Arrow return large blocks at once, and the system fills them with zeros before it hands them
    out again, which takes a tenth of all time. One allocator for both, and one heap for all threads, also hold a third
    less memory.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    mallopt = _of_glibc("mallopt")
    if mallopt is not None and not any(name.startswith("MALLOC_") for name in os.environ):
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        mallopt(_M_TRIM_THRESHOLD, 128 << 20)


def give_back_freed_memory() -> None:
    """Give freed memory back to the system, before something large is made that stays.

    It takes some milliseconds for each 100 MB.
    """
    malloc_trim = _of_glibc("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


def _of_glibc(function: str) -> Callable[..., int] | None:
    """A function of glibc; None where another library takes its place."""
    return getattr(ctypes.CDLL(None), function, None) if sys.platform.startswith("linux") else None
