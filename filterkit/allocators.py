"""Settings of the memory allocators. Their defaults are slow when large arrays come and go."""

from __future__ import annotations

import ctypes
import os
import sys

# The C library of the process; another one than glibc lacks the functions that are called here.
_GLIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
_OPTIONS = {"MALLOC_ARENA_MAX": -8, "MALLOC_MMAP_THRESHOLD_": -3, "MALLOC_TRIM_THRESHOLD_": -1}  # of <malloc.h>
# The environment of a process that keeps freed memory from its start.
KEEPING_ENVIRONMENT = {
    "MALLOC_ARENA_MAX": 1,
    "MALLOC_MMAP_THRESHOLD_": 32 << 20,
    "MALLOC_TRIM_THRESHOLD_": 128 << 20,
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def keep_freed_memory() -> None:
    """Let the allocators reuse the memory of one batch for the next, instead of returning it to the system.

    Call this before Arrow is imported: it sets the environment variable ``ARROW_DEFAULT_MEMORY_POOL``, unless the user
    has. glibc is left as it is if the user has set a ``MALLOC_…`` variable; other C libraries always are.
    """
    # By default, glibc and Arrow return large blocks at once, and the system fills them with zeros before it hands them
    # out again, which takes a tenth of all time. One allocator for both, and one heap for all threads, also use a third
    # less memory.
    pool = "ARROW_DEFAULT_MEMORY_POOL"
    os.environ.setdefault(pool, str(KEEPING_ENVIRONMENT[pool]))
    mallopt = getattr(_GLIBC, "mallopt", None)
    if mallopt is not None and not any(name.startswith("MALLOC_") for name in os.environ):
        for name, option in _OPTIONS.items():
            mallopt(option, KEEPING_ENVIRONMENT[name])


def give_back_freed_memory() -> None:
    """Return freed memory to the system. Call it before a large object is made that will live long.

    It takes some milliseconds for each 100 MB. Without glibc it does nothing.
    """
    malloc_trim = getattr(_GLIBC, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
