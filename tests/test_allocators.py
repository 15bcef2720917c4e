"""The settings of the memory allocators, in a process of their own."""

import sys

import pytest
from command import python_output

PROGRAM = """
import sys
from filterkit.allocators import give_back_freed_memory, keep_freed_memory

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

keep_freed_memory()
blocks = [bytearray(b"x" * 100_000) for _ in range(1000)]
last = bytearray(b"x" * 100_000)  # above the others, so that only what is asked back is given back
del blocks
kept = resident()
give_back_freed_memory()
print(kept, resident())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc has these settings")
def test_freed_memory_is_kept_until_it_is_given_back():
    kept, left = map(int, python_output(PROGRAM).split())
    assert kept > 100_000_000 > 2 * left
