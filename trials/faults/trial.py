"""One run of a job with a fault: what it does, and what is wrong with it."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple
from uuid import uuid4

from trials.faults.jobs import Job

COMMAND = str(Path(sys.executable).with_name("filterkit"))
_MARK = "FILTERKIT_TRIAL"  # an environment variable, by which all processes of a run are known
_SIGTERM = 1 << (signal.SIGTERM - 1)
_TROUBLE = re.compile(r"Traceback|Exception ignored|unexpected|Fatal Python|  File \"|leaked")
_SEMAPHORES = re.compile(  # what Python's resource tracker says
    r".*leaked semaphore objects.*\n  warnings\.warn.*\n"
    r"|Traceback .*\n  File .*resource_tracker\.py.*\n.*\nKeyError: .*\n"
)
_WARNING = re.compile(r"(filterkit: warning|<jemalloc>|OpenBLAS error): .*\n")  # of filterkit, or of libraries

# What the command sends itself, at the moment that Python reports its n-th event of these kinds (PEP 578).
_EVENTS = """
import os, signal, sys

path, at, number = os.environ.pop("FILTERKIT_EVENTS", "/dev/null:0:0").split(":")
seen, file = 0, os.open(path, os.O_WRONLY | os.O_APPEND)
kinds = ("open", "os.", "shutil.", "tempfile.", "fcntl.", "subprocess.")

def hook(event, _):
    global seen
    if event.startswith(kinds) or (event == "import" and seen % 8 == 0):
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            return
        seen += 1
        os.write(file, b".")
        if seen == int(at):
            os.kill(os.getpid(), int(number))

sys.addaudithook(hook)
"""


class Fault(NamedTuple):
    """What goes wrong while a job runs.

    Attributes
    ----------
    name : for findings.
    statuses : which exit statuses are right; -N is the death by signal N.
    before : a command that starts the job, such as ``prlimit --nofile=9``.
    redirections : of the shell.
    environment : variables and their values; None takes one away.
    act : is called with the process once it heeds signals, or ends before.
    event : the number of an event at which the process gets a signal, and the signal.
    within : a context around the run, which gets the folder of the trial.
    killed : whether the process cannot clean up.
    at_once : whether it ends without cleaning up further processes, so that Python itself speaks of semaphores.
    mute : whether messages may be lost.
    same : whether outputs must be the usual ones if the status is 0.
    """

    name: str
    statuses: frozenset[int]
    before: tuple[str, ...] = ()
    redirections: str = ""
    environment: tuple[tuple[str, str | None], ...] = ()
    act: Callable[[subprocess.Popen[bytes], Place], None] | None = None
    event: tuple[int, int] | None = None
    within: Callable[[Place], object] | None = None
    killed: bool = False
    at_once: bool = False
    mute: bool = False
    same: bool = True


class Place(NamedTuple):
    """The folders of a trial: the one with what is `given`, and those for outputs, temporary files and the cache."""

    base: Path
    given: Path
    work: Path
    temporary: Path
    cache: Path

    @classmethod
    def make(cls, base: Path, given: Path) -> Place:
        """Make the folders in `base`, with copies of the files in `given`."""
        base.mkdir()
        shutil.copytree(given, base / "given")
        place = cls(base, *(base / name for name in ("given", "work", "temporary", "cache")))
        for folder in place[2:]:
            folder.mkdir()
        for folder in (base, *place[1:]):
            folder.chmod(0o777)
        return place

    def files(self) -> dict[str, bytes]:
        """The outputs, by their names."""
        return {path.name: path.read_bytes() for path in self.work.iterdir() if path.is_file()}


class Ended(NamedTuple):
    """How a run ended: its status, None if it had to be killed; what it said; and its seconds."""

    status: int | None
    said: str
    seconds: float


class Trials:
    """Runs jobs in a folder.

    Parameters
    ----------
    base : the folder.
    given : the folder with the inputs.
    command : what is run, and expected to write what filterkit writes.
    patience : seconds after which a run hangs.
    grace : seconds for processes to end after the one that started them.
    """

    def __init__(
        self, base: Path, given: Path, command: str = COMMAND, patience: float = 120.0, grace: float = 10.0
    ) -> None:
        self._base, self._given, self._command = base, given, command
        self._patience, self._grace = patience, grace
        self._usual: dict[str, dict[str, bytes]] = {}
        self._events: dict[str, int] = {}
        self._seconds: dict[str, float] = {}
        (base / "hook").mkdir()
        (base / "hook" / "sitecustomize.py").write_text(_EVENTS)
        base.chmod(0o755)

    def usual(self, job: Job) -> dict[str, bytes]:
        """What a job writes if nothing goes wrong.

        Raises
        ------
        AssertionError : it fails.
        """
        if job.name not in self._usual:
            place = Place.make(self._base / f"usual-{job.name}", self._given)
            ended = self._run(job, Fault("none", frozenset([0]), event=(0, 0)), place, COMMAND)
            assert ended.status == 0, (job, ended)
            self._usual[job.name] = place.files()
            self._seconds[job.name] = ended.seconds
            self._events[job.name] = (place.base / "events").stat().st_size
            shutil.rmtree(place.base)
        return self._usual[job.name]

    def events(self, job: Job) -> int:
        """How many events a run of a job has."""
        self.usual(job)
        return self._events[job.name]

    def seconds(self, job: Job) -> float:
        """How long a job takes if nothing goes wrong."""
        self.usual(job)
        return self._seconds[job.name]

    def wrong(self, job: Job, fault: Fault, earlier: bool) -> list[str]:
        """What is wrong with a run of a job with a fault.

        Parameters
        ----------
        earlier : whether files with the names of the outputs are there before.
        """
        usual = self.usual(job)
        place = Place.make(self._base / "trial", self._given)
        before = {name: b"earlier" for name in usual if earlier and not job.stays}
        for name, content in before.items():
            (place.work / name).write_bytes(content)
            (place.work / name).chmod(0o666)
        try:
            with _context(fault, place):
                ended = self._run(job, fault, place, self._command)
                found = _of_ending(ended, fault, self._patience)
                if _was_aborted(ended):
                    fault = fault._replace(killed=True)
                found += _of_outputs(place, before, usual, ended.status, job, fault)
            if fault.killed and not found:
                found = self._after(job, place, usual, fault)
        finally:
            shutil.rmtree(place.base)
        words = f"{job.name}, {fault.name}{', earlier files' if before else ''}"
        return [f"{words}: {each}" for each in found]

    def _after(self, job: Job, place: Place, usual: dict[str, bytes], before: Fault) -> list[str]:
        """What is wrong with the next run of the same user, after one that could not clean up."""
        fault = Fault("none", frozenset([0]), before=before.before[2:])  # without prlimit and what it limits
        ended = self._run(job, fault, place, self._command)
        found = _of_ending(ended, fault, self._patience)
        found += _of_outputs(place, {}, usual, ended.status, job._replace(stays=()), fault)
        return [f"the next run: {each}" for each in found]

    def _run(self, job: Job, fault: Fault, place: Place, command: str) -> Ended:
        """Run a job; all its processes have ended then."""
        mark = uuid4().hex
        environment: dict[str, str | None] = {
            **os.environ,
            _MARK: mark,
            "TMPDIR": str(place.temporary),
            "XDG_CACHE_HOME": str(place.cache),
            "FILTERKIT_DEFAULTS": "",
        }
        if fault.event is not None:
            (place.base / "events").touch()
            paths = [str(self._base / "hook"), os.environ.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
            environment["FILTERKIT_EVENTS"] = ":".join(map(str, (place.base / "events", *fault.event)))
        environment.update(fault.environment)
        words = shlex.join([*fault.before, command])
        began = time.monotonic()
        with open(place.base / "said", "w+b") as said:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {words} {job.words} {fault.redirections}"],
                cwd=place.work,
                env={name: value for name, value in environment.items() if value is not None},
                stdin=subprocess.PIPE if job.feed else subprocess.DEVNULL,
                stdout=open(place.base / "printed", "wb"),
                stderr=said,
                start_new_session=True,
            )
            if job.feed:
                threading.Thread(target=_feed, args=(process.stdin, place.given / job.feed), daemon=True).start()
            try:
                if fault.act is not None and _heeds_signals(process, self._patience):
                    fault.act(process, place)
                status: int | None = process.wait(self._patience)
            except subprocess.TimeoutExpired:
                status = None
            seconds = time.monotonic() - began
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
        left = _processes_left(mark, self._grace if status is not None else 0)
        for number in left:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.wait()
        if left and status is not None:
            text += f"left: {len(left)} processes"
            status = None
        return Ended(status, text, seconds)


def _was_aborted(ended: Ended) -> bool:
    """Whether a library has ended the process: Arrow, which aborts, or OpenBLAS, which exits with a warning."""
    by_library = ended.status == 1 and ended.said != "" and _WARNING.sub("", ended.said) == ""
    return ended.status == -signal.SIGABRT or by_library


def _of_ending(ended: Ended, fault: Fault, patience: float) -> list[str]:
    """What is wrong with how a run ended."""
    said = _WARNING.sub("", ended.said)
    if fault.at_once:
        said = _SEMAPHORES.sub("", said)
    if ended.status is None:
        return [said.splitlines()[-1] if "left: " in said else f"it has not ended after {patience} s: {said}"]
    found = []
    if ended.status in fault.statuses and (_was_aborted(ended) or (fault.mute and not said)):
        return []  # or nobody can read the message
    if ended.status not in fault.statuses:
        found.append(f"status {ended.status} and not {sorted(fault.statuses)}: {said[-500:]!r}")
    elif _TROUBLE.search(said):
        found.append(f"status {ended.status}: {said[-500:]!r}")
    elif ended.status == 1:
        if not 1 <= said.count("\n") <= 2 or not said.startswith("filterkit: "):
            found.append(f"the message is {said!r}")
    elif ended.status > 2 or ended.status < 0:
        found += [f"a signal ended it, and it said {said!r}"] if said else []
    return found


def _of_outputs(
    place: Place, before: dict[str, bytes], usual: dict[str, bytes], status: int | None, job: Job, fault: Fault
) -> list[str]:
    """What is wrong with the files of a run that has ended."""
    found, files = [], place.files()
    for name in sorted(usual):
        is_usual, is_earlier = _is_usual(files.get(name), usual[name], job), files.get(name) == before.get(name)
        if any(fnmatch.fnmatch(name, pattern) for pattern in job.stays) and status != 0:
            continue
        if status == 0 and fault.same and not is_usual:
            found.append(f"status 0, and {name} is {_short(files.get(name))}")
        elif status == 1 and not is_earlier and not (job.varies and is_usual):
            found.append(f"status 1, and {name} is {_short(files.get(name))}")
        elif status != 0 and not is_usual and not is_earlier:
            found.append(f"status {status}, and {name} is {_short(files.get(name))}")
    if not fault.killed:
        other = [name for name in files if name not in usual]
        other = [name for name in other if not any(fnmatch.fnmatch(name, pattern) for pattern in job.stays)]
        found += [f"{name} is left" for name in other]
        found += [f"{path.name} is left in the temporary folder" for path in place.temporary.iterdir()]
    return found


def _is_usual(content: bytes | None, usual: bytes, job: Job) -> bool:
    """Whether an output is as usual, or at least complete if it differs from run to run."""
    if content is None or not job.varies:
        return content == usual
    return content.count(b"\n") == usual.count(b"\n") and content[-8:] == usual[-8:]


def _short(content: bytes | None) -> str:
    return "missing" if content is None else f"{len(content)} bytes: {content[:40]!r} … {content[-40:]!r}"


@contextmanager
def _context(fault: Fault, place: Place) -> Iterator[None]:
    if fault.within is None:
        yield
        return
    with fault.within(place):  # type: ignore[attr-defined]
        yield


def _feed(pipe: IO[bytes], path: Path) -> None:
    with suppress(OSError), pipe:
        pipe.write(path.read_bytes())


def _heeds_signals(process: subprocess.Popen[bytes], patience: float) -> bool:
    """Wait until a process handles signals; False if it ends before, or does not within so many seconds."""
    end = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError, IndexError, ValueError):
            about = Path("/proc", str(process.pid), "status").read_text()
            caught = int(about.partition("SigCgt:")[2].split()[0], 16)
            if caught & _SIGTERM:
                return True
        time.sleep(0.002)
    return False


def _processes_left(mark: str, patience: float) -> list[int]:
    """The processes with this mark that have not ended after so many seconds."""
    end = time.monotonic() + patience
    while (found := _processes(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _processes(mark: str) -> list[int]:
    found, wanted = [], f"{_MARK}={mark}".encode()
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):
                if wanted in (path / "environ").read_bytes().split(b"\0"):
                    found.append(int(path.name))
    return found


def children(number: int) -> list[int]:
    """The processes that a process has started and that live, and those that they have started.

    Python's resource tracker is left out: without it Python itself speaks. So is a process whose command line is still
    that of its parent, as it may become the tracker.
    """
    parents: dict[int, int] = {}
    commands: dict[int, bytes] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                words = (path / "stat").read_text().rpartition(")")[2].split()
                commands[int(path.name)] = (path / "cmdline").read_bytes()
                if words[0] != "Z" and b"resource_tracker" not in commands[int(path.name)]:
                    parents[int(path.name)] = int(words[1])
    found, wave = [], [number]
    while wave:
        wave = [child for child, parent in parents.items() if parent in wave]
        found += wave
    return [child for child in found if commands[child] != commands.get(parents[child])]
