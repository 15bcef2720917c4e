"""What all tests share: places of data, the Wekas, both ways to read rows, and a guard against hanging."""

import functools
import gc
import multiprocessing.spawn
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import quick_python
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The tests start Python hundreds of times. Without bytecode, each start would compile filterkit again, which takes
# longer than most commands, and each process of pytest would compile the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Several processes of pytest share the processors, and threads of OpenMP and BLAS would keep them busy with waiting for
# each other. Numpy is imported later; a test of such threads sets their number itself.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ["FILTERKIT_DEFAULTS"] = ""  # no defaults file of whoever runs the tests
sys.dont_write_bytecode = False

gc.disable()  # until all tests are collected

# No test depends on how fast the machine is. Few examples show most; a test that needs more says so.
settings.register_profile("filterkit", deadline=None, max_examples=50)
settings.load_profile("filterkit")


def pytest_configure():
    """Let the commands that tests start heed signals, even if the tests run in the background or under nohup."""
    for name in ("SIGINT", "SIGQUIT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


def pytest_collection_finish():
    """Keep what was imported and collected, which lives to the end, out of each collection of garbage."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # as the command does
    gc.enable()


def pytest_ignore_collect(collection_path, config):
    """Do not import modules of separate tests alone, and what these import, unless such tests are asked for."""
    if config.option.markexpr != "not separate" or collection_path.suffix != ".py":
        return None
    return "\npytestmark = pytest.mark.separate\n" in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(items):
    """Skip what needs POSIX on other systems."""
    if os.name == "posix":
        return
    for item in items:
        if item.get_closest_marker("posix"):
            item.add_marker(pytest.mark.skip(reason="needs a POSIX system"))


@pytest.fixture(autouse=True)
def names_are_looked_up_from_python(monkeypatch):
    """Undo what a command that a test runs in this process says of later messages: that there is a command line."""
    from filterkit.plugin.registry import get_registry

    monkeypatch.setattr(get_registry(), "flags", frozenset())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let processes of pytest work on tests that follow each other, and share what is left, unless --dist says else.

    So few modules have their fixtures made twice, and all are busy to the end.
    """
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture(scope="session")
def arff_samples():
    """The folder of small ARFF files that belongs to the project."""
    return ROOT / "arff_samples"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of larger and odd data sets that lies beside the project."""
    return _existing(ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def weka39(shared_tmp):
    """The Java class path of Weka 3.9 and of the programs here."""
    script = _existing(ROOT.parent / "shared" / "peers" / "get-weka")
    _need_java()
    run = subprocess.run([script, "3.9"], capture_output=True, text=True, timeout=300)
    if run.returncode:
        pytest.skip(f"{script} 3.9 failed: {run.stderr.strip()[-200:]}")
    return _with_programs(run.stdout.strip(), shared_tmp / "weka39")


@pytest.fixture(scope="session")
def weka36(shared_tmp):
    """The Java class path of Weka 3.6, as Debian installs it, and of the programs here."""
    _need_java()
    return _with_programs(str(_existing(Path("/usr/share/java/weka.jar"))), shared_tmp / "weka36")


@pytest.fixture(scope="session")
def shared_tmp(tmp_path_factory):
    """A temporary folder that all processes of the tests share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _existing(path):
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def _with_programs(class_path, folder):
    from weka import add_programs  # which imports numpy

    return add_programs(class_path, folder)


def _need_java():
    if shutil.which("java") is None:
        pytest.skip("java is not installed")


def take_the_exact_path_alone(monkeypatch):
    """Make readers read all rows by the exact path."""
    monkeypatch.setattr("filterkit.arff.blocks.SMALL", 1 << 62)
    monkeypatch.setattr("filterkit.arff.blocks._FAST_PATH", "")  # no module has this name


@pytest.fixture(params=["exact", "fast"])
def way(request, monkeypatch):
    """Both ways to read rows: the exact path alone, and the fast path wherever it takes a block."""
    monkeypatch.setattr("filterkit.arff.blocks.SMALLEST_HALF", 0)
    monkeypatch.setattr("filterkit.arff.blocks._SMALLEST_FAST", 0)
    if request.param == "exact":
        take_the_exact_path_alone(monkeypatch)
    else:
        monkeypatch.setattr("filterkit.arff.blocks.SMALL", 0)
    return request.param


@pytest.fixture(params=[False, True])
def sparse(request):
    """Both forms of rows: whether they are sparse."""
    return request.param


@pytest.fixture
def quick_processes(monkeypatch):
    """Processes that `multiprocessing` starts are forks of one that has imported filterkit, which takes less time."""
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", os.fsencode(quick_python()))


@pytest.fixture
def guard():
    """Ends a test that would take hours: what takes time that grows with the square of a text of some megabytes."""

    def end(*_):
        raise TimeoutError("this takes far too long")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def spy(monkeypatch):
    """Gives the list of the arguments of every call of a method or function from here on."""

    def watch(owner, name):
        seen, function = [], getattr(owner, name)

        @functools.wraps(function)  # other processes find a method by its name
        def call(*arguments):
            seen.append(arguments)
            return function(*arguments)

        monkeypatch.setattr(owner, name, call)
        return seen

    return watch
