"""Work in several processes: inputs, results, and what happens when a process is killed."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from filterkit import FilterkitError
from filterkit.engines.processes import in_processes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")

_given = None


def take(*given):
    global _given
    _given = given


def total(factor):
    array, text = _given
    return factor * float(array.sum()), text


def end(_):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number):
    raise FilterkitError(f"{number} is wrong")


def held_back(_):
    return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_each_item_gives_a_result():
    array = np.arange(100_000.0)  # much more than a pipe takes
    found = in_processes(total, range(7), 2, take, array, "text")
    assert sorted(found) == [(factor * array.sum(), "text") for factor in range(7)]


def test_an_error_in_a_process_is_raised():
    with pytest.raises(FilterkitError, match="is wrong"):
        list(in_processes(fail, range(3), 2, take))


def test_a_process_that_is_killed_is_an_error():
    with pytest.raises(FilterkitError, match="a process was killed"):
        list(in_processes(end, range(3), 2, take))


def test_worker_processes_block_signals_of_the_terminal():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    (found,) = in_processes(held_back, [0], 1, take)
    assert found == sorted((signal.SIGINT, signal.SIGQUIT, signal.SIGHUP))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_a_process_that_ends_at_its_start_is_an_error():
    """The parent does not wait for the process to read its data, which are more than a pipe holds."""
    code = (
        "import multiprocessing.resource_tracker, multiprocessing.spawn, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "multiprocessing.resource_tracker.ensure_running()\n"
        "multiprocessing.spawn.set_executable(sys.argv[2])\n"
        "from test_processes import *\n"
        "list(in_processes(total, range(3), 2, take, bytes(1 << 20)))\n"
    )
    command = [sys.executable, "-c", code, os.path.dirname(__file__), shutil.which("false")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "filterkit.errors.FilterkitError: a process was killed" in done.stderr


def test_remaining_processes_end_when_no_more_results_are_wanted(tmp_path):
    """They do not finish the work that they have begun."""
    os.mkfifo(tmp_path / "pipe")
    found = in_processes(read, [None, str(tmp_path / "pipe"), str(tmp_path / "pipe")], 2, take)
    pid = next(found)
    found.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def read(path):
    if path is None:
        return os.getpid()
    with open(path) as pipe:
        return pipe.read()
