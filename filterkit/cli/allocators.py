"""Settings of the memory allocators. Their defaults are slow when large arrays come and go."""

from __future__ import annotations

import ctypes
import os
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # of glibc's <malloc.h>


def keep_freed_memory() -> None:
    """Let the memory of one batch serve the next one, instead of going back to the system.

    By default glibc and Arrow return large blocks at once, and the system fills them with zeros before it hands them
    out again, which takes a tenth of all time. One allocator for both, and one heap for all threads, also hold a third
    less memory.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if not sys.platform.startswith("linux") or any(name.startswith("MALLOC_") for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        mallopt(_M_TRIM_THRESHOLD, 128 << 20)
