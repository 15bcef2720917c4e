"""Work in several processes: inputs, results, and what happens when a process is killed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

from filterkit import FilterkitError
from filterkit.engines.processes import ProcessEngine

pytestmark = pytest.mark.posix

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


class Unpicklable(Exception):
    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def fail_oddly(_):
    raise Unpicklable("this", "that")


def process_number(_):
    return os.getpid()


def held_back(_):
    return sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


@pytest.fixture
def engine(quick_processes):
    with ProcessEngine(2) as made:
        made.prepare(take, np.arange(100_000.0), "text")  # much more than a pipe takes
        yield made


@pytest.mark.parametrize("how", ["map", "map_as_done"])
def test_each_item_gives_a_result(engine, how):
    found = getattr(engine, how)(total, range(7))
    assert sorted(found) == [(factor * np.arange(100_000.0).sum(), "text") for factor in range(7)]


def test_the_next_map_has_the_same_process(quick_processes):
    with ProcessEngine(1) as engine:
        first, second = (list(engine.map(process_number, range(3))) for _ in range(2))
    assert len({os.getpid(), *first, *second}) == 2


def touch_slowly(path):
    time.sleep(0.05)
    open(path, "x").close()


def test_items_that_wait_when_a_map_ends_early_are_never_begun(quick_processes, tmp_path):
    with ProcessEngine(1) as engine:
        results = engine.map_as_done(touch_slowly, [str(tmp_path / str(number)) for number in range(20)])
        next(results)
        results.close()
        assert list(engine.map(abs, [-1])) == [1]
        assert len(list(tmp_path.iterdir())) < 10


def test_an_error_in_a_process_is_raised(engine):
    with pytest.raises(FilterkitError, match="is wrong"):
        list(engine.map(fail, range(3)))
    with pytest.raises(RuntimeError, match="Unpicklable: this and that"):
        list(engine.map(fail_oddly, range(3)))
    assert list(engine.map(abs, [-1])) == [1]


@pytest.mark.parametrize("how", ["map", "map_as_done"])
def test_a_process_that_is_killed_is_an_error(engine, how):
    items = [bytes(1 << 22)] * 6  # much is being handed over
    with pytest.raises(FilterkitError, match="a worker process was killed"):
        list(getattr(engine, how)(end, items))
    assert list(engine.map(abs, [-1])) == [1]  # in new processes


def test_much_is_handed_over_and_back(engine):
    items = [bytes([i]) * (1 << 22) for i in range(6)]
    assert list(engine.map(bytes.lower, items)) == [item.lower() for item in items]


def test_a_map_within_a_map_ends_alone(engine):
    """As rows that a stage has chosen, which are taken from rows that are being mapped."""

    def some():
        inner = engine.map(abs, range(-9, 0))
        for _ in range(3):
            yield next(inner)
        inner.close()

    assert list(engine.map(str, some())) == ["9", "8", "7"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("options", ["size=4k", "nr_inodes=1"])
def test_a_full_temporary_folder_is_one_error_and_nothing_stays(options, monkeypatch, tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", tmp_path], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        engine = ProcessEngine(1)
        engine.prepare(take, np.zeros(1000))
        with pytest.raises(FilterkitError, match=f"^temporary folder {tmp_path}: No space left on device"):
            list(engine.map(total, [1]))
        assert not os.listdir(tmp_path)
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_worker_processes_block_signals_of_the_terminal():
    """New processes inherit what the engine blocks; those of `quick_processes` are not started by this one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with ProcessEngine(1) as engine:
        (found,) = engine.map(held_back, [0])
    assert found == sorted((signal.SIGINT, signal.SIGQUIT, signal.SIGHUP))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_an_engine_leaves_no_files_behind(monkeypatch, tmp_path, quick_processes):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ProcessEngine(1) as made:
        assert list(made.map(abs, [-1])) == [1]
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def error_of(*command):
    """What Python prints as it fails at a command."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    return done.stderr


def test_a_process_that_ends_at_its_start_is_an_error():
    """The parent does not wait for the process to read its data, which are more than a pipe holds."""
    code = (
        "import multiprocessing.resource_tracker, multiprocessing.spawn, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "multiprocessing.resource_tracker.ensure_running()\n"
        "multiprocessing.spawn.set_executable(sys.argv[2])\n"
        "from test_processes import *\n"
        "engine = ProcessEngine(2)\n"
        "engine.prepare(take, bytes(1 << 20))\n"
        "list(engine.map(total, range(3)))\n"
    )
    command = ["-c", code, os.path.dirname(__file__), shutil.which("false")]
    assert "filterkit.errors.FilterkitError: a worker process was killed" in error_of(*command)


KILLED_AS_THE_NEXT_STARTS = """
import os, signal, sys, threading
from concurrent.futures import process
from filterkit.engines.processes import ProcessEngine

class Watched(dict):
    def __setitem__(self, pid, started):
        if len(self) == 1:
            os.kill(next(iter(self)), signal.SIGKILL)
            broken.wait(5)  # since 3.12.1, a lock keeps the pool from noticing before this process is known
        super().__setitem__(pid, started)
        if len(self) == 2:
            known.set()

class Executor(process.ProcessPoolExecutor):
    def __init__(self, *given):
        super().__init__(*given)
        self._processes = Watched()

def join(self, *given, **named):  # the thread of the pool does so when it has ended the processes that it knows
    close = self.call_queue.close
    self.call_queue.close = lambda: (broken.set(), known.wait(), close())
    joined(self, *given, **named)

if __name__ == "__main__":
    broken, known = threading.Event(), threading.Event()
    manager = process._ExecutorManagerThread
    name = next(name for name in dir(manager) if name.lstrip("_") == "join_executor_internals")
    joined = getattr(manager, name)
    setattr(manager, name, join)
    process.ProcessPoolExecutor = Executor
    list(getattr(ProcessEngine(2), sys.argv[1])(str, range(5)))
"""


@pytest.mark.parametrize("how", ["map", "map_as_done"])
def test_a_process_that_is_killed_as_the_next_one_starts_is_an_error(how, tmp_path):
    """Nobody waits for the one that is being started, which has no work."""
    (tmp_path / "script.py").write_text(KILLED_AS_THE_NEXT_STARTS)
    said = error_of(tmp_path / "script.py", how)
    assert said.endswith("a worker process was killed, perhaps because memory ran out; fewer --jobs may help\n")


def test_processes_end_when_the_engine_is_closed(tmp_path):
    """They do not finish the work that they have begun."""
    os.mkfifo(tmp_path / "pipe")
    engine = ProcessEngine(2)
    found = engine.map_as_done(read, [None, str(tmp_path / "pipe"), str(tmp_path / "pipe")])
    pid = next(found)
    found.close()
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def read(path):
    if path is None:
        return os.getpid()
    with open(path) as pipe:
        return pipe.read()


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(
        "import filterkit\nfrom filterkit.engines.processes import ProcessEngine\n"
        "print(list(ProcessEngine(1).map(str, [1])))\n"
    )
    assert "put what it runs under: if __name__ == '__main__':" in error_of(script)
