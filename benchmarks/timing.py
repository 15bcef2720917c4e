"""Runs a command as a whole process, and measures its time from start to end and its peak memory.

This process imports nothing large: on Linux, a child's peak memory is at least what its parent held when
it was started.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple


class Run(NamedTuple):
    """One run of a process.

    Attributes
    ----------
    seconds : by the wall clock.
    cpu : seconds on all cores.
    memory : its largest resident set, in bytes.
    others : how many cores all other processes kept busy meanwhile, on average.
    """

    seconds: float
    cpu: float
    memory: int
    others: float


class Failed(Exception):
    """A command that should have succeeded ended with another status than 0."""


def pin(cores: int) -> list[int]:
    """Keep this process and all that it starts on that many of its cores; returns their numbers."""
    chosen = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, chosen)
    return chosen


def run(command: Sequence[str]) -> tuple[Run, str]:
    """Run `command` to its end.

    Returns
    -------
    run, said : the measurement, and what the process wrote on standard output and standard error.

    Raises
    ------
    Failed : its exit status is not 0.
    """
    with tempfile.TemporaryFile() as said:
        busy, began = _busy(), time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        busy = _busy() - busy
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        words = said.read().decode(errors="replace").strip()
    if process.returncode:
        last = words.splitlines()[-1:] or ["it said nothing"]
        raise Failed(f"status {process.returncode} from {' '.join(map(os.path.basename, command))[:200]}: {last[0]}")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(seconds, cpu, usage.ru_maxrss * 1024, max(busy - cpu, 0.0) / seconds), words


def _busy() -> float:
    """The seconds that all cores together have been busy since the system started."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
