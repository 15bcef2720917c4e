"""The kinds of faults, each by a real means of the system."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path

from trials.faults.jobs import Job
from trials.faults.trial import COMMAND, Fault, Place, Trials, children

ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU")
HARMLESS = ("SIGPIPE", "SIGXFSZ", "SIGWINCH", "SIGCHLD", "SIGCONT", "SIGURG")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")


def _signal(name: str) -> int:
    return int(getattr(signal, name))


def _statuses(number: int) -> frozenset[int]:
    """The statuses of a command that ends by a signal, or has just ended."""
    return frozenset([0, -number if number == signal.SIGKILL else 128 + number])


def event(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """A signal at one of the events of a run."""
    name = rng.choice([*ENDING, "SIGKILL", *HARMLESS])
    number, at = _signal(name), rng.randint(1, max(trials.events(job), 1))
    statuses = frozenset([0]) if name in HARMLESS else _statuses(number)
    return Fault(
        f"{name} at event {at}", statuses, event=(at, number), killed=name == "SIGKILL", at_once=name == "SIGKILL"
    )


def moment(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """A signal at some moment, to the process or to its whole group; perhaps a second soon after."""
    name = rng.choice([*ENDING, "SIGKILL"])
    group = rng.random() < 0.5 and name != "SIGXCPU"  # which the system sends to single processes
    delay, again = rng.uniform(0, trials.seconds(job)), rng.choice((None, None, 0.0, 0.05, 0.3))
    number = _signal(name)

    def act(process: subprocess.Popen[bytes], _: Place) -> None:
        time.sleep(delay)
        _send(process, number, group)
        if again is not None:
            time.sleep(again)
            _send(process, number, group)

    words = f"{name} to the {'group' if group else 'process'} after {delay:.3f} s"
    words += "" if again is None else f" and {again} s later"
    killed = name == "SIGKILL"
    return Fault(words, _statuses(number), act=act, killed=killed, at_once=killed or again is not None)


def _send(process: subprocess.Popen[bytes], number: int, group: bool) -> None:
    with suppress(ProcessLookupError):
        if group:
            os.killpg(process.pid, number)
        elif process.poll() is None:
            os.kill(process.pid, number)


def stopped(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """Stopped by the terminal and continued."""
    name, delay = rng.choice(("SIGTSTP", "SIGSTOP", "SIGTTOU")), rng.uniform(0, trials.seconds(job))

    def act(process: subprocess.Popen[bytes], _: Place) -> None:
        time.sleep(delay)
        _send(process, _signal(name), True)
        time.sleep(0.2)
        _send(process, signal.SIGCONT, True)

    return Fault(f"{name} after {delay:.3f} s, and SIGCONT", frozenset([0]), act=act)


def worker(rng: random.Random, trials: Trials, job: Job) -> Fault | None:
    """A further process that is killed, some time after it has appeared."""
    if not job.workers:
        return None
    name, which = rng.choice(("SIGKILL", "SIGKILL", "SIGTERM", "SIGSEGV")), rng.randrange(4)
    delay = rng.choice((0.0, rng.uniform(0, 0.1), rng.uniform(0, trials.seconds(job))))

    def act(process: subprocess.Popen[bytes], _: Place) -> None:
        seen: list[int] = []
        end = time.monotonic() + 60
        while process.poll() is None and len(seen) <= which and time.monotonic() < end:
            seen += [each for each in children(process.pid) if each not in seen]
            time.sleep(0.002)
        if len(seen) > which:
            time.sleep(delay)
            with suppress(ProcessLookupError):
                os.kill(seen[which], _signal(name))

    return Fault(f"{name} to worker {which + 1} after {delay:.3f} s", frozenset([0, 1]), act=act)


def full(rng: random.Random, trials: Trials, job: Job) -> Fault | None:
    """A disk that becomes full: a tmpfs for the outputs, temporary files or the cache."""
    if not IS_ROOT:
        return None
    which = rng.choice(("work", "temporary", "cache"))
    need = sum(map(len, trials.usual(job).values())) if which == "work" else 500_000
    files = len(trials.usual(job)) if which == "work" else 0  # so many may be there before, each in 4 kB
    kilobytes = 4 * files + rng.choice((4, 8, int(rng.uniform(4, 2.5 * need / 1000 + 8))))
    options = f"size={kilobytes}k" if rng.random() < 0.8 else f"nr_inodes={1 + files + rng.randint(0, 3)}"
    return Fault(f"{which} is a tmpfs of {options}", frozenset([0, 1]), within=partial(_tmpfs, which, options))


@contextmanager
def _tmpfs(which: str, options: str, place: Place) -> Iterator[None]:
    folder = place.base / which
    earlier = {path.name: path.read_bytes() for path in folder.iterdir()}
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"{options},mode=777", "tmpfs", folder], check=True)
    try:
        for name, content in earlier.items():
            with suppress(OSError):
                (folder / name).write_bytes(content)
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def limited(rng: random.Random, trials: Trials, job: Job) -> Fault | None:
    """A limit of the system on a process."""
    what = rng.choice(("fsize", "nofile", "as", "cpu", "nproc" if IS_ROOT else "fsize"))
    before: tuple[str, ...] = ()
    if what == "fsize":
        before = ("prlimit", f"--fsize={rng.choice((4096, rng.randint(4096, 300_000)))}")
    elif what == "nofile":
        before = ("prlimit", f"--nofile={rng.randint(6, 30)}")
    elif what == "as":
        before = ("prlimit", f"--as={rng.randint(150, 1500) * 1_000_000}")
    elif what == "cpu":
        before = ("prlimit", "--cpu=1:100")
    else:
        if not nobody_can_run(job.workers):
            return None
        before = ("prlimit", f"--nproc={rng.randint(1, 6)}", *NOBODY)
    more = {"cpu": 128 + signal.SIGXCPU, "nproc": -signal.SIGABRT}  # Arrow aborts without threads
    statuses = frozenset([0, 1, more.get(what, 0)])
    return Fault(" ".join(before), statuses, before=before)


def closed(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """Standard streams that are closed or full."""
    ways = {0: ("<&-", "0>/dev/null"), 1: (">&-", ">/dev/full", "1</dev/null"), 2: ("2>&-", "2>/dev/full")}
    numbers = rng.sample(range(3), rng.randint(1, 3))
    if job.feed and 0 in numbers:
        numbers.remove(0)
    redirections = " ".join(rng.choice(ways[number]) for number in numbers)
    statuses = frozenset([1] if job.prints and 1 in numbers else [0])
    return Fault(f"redirected: {redirections}", statuses, redirections=redirections, mute="2>" in redirections)


def read_only(rng: random.Random, trials: Trials, job: Job) -> Fault | None:
    """Folders that another user owns, or that nobody may write."""
    which = rng.sample(("work", "temporary", "cache", "home"), rng.randint(1, 2))
    statuses = frozenset([0, 1] if "work" in which or "temporary" in which else [0])
    if IS_ROOT and not nobody_can_run(job.workers):
        return None
    environment: tuple[tuple[str, str | None], ...] = ()
    if "home" in which:
        environment = (("HOME", rng.choice((None, "/nonexistent", "", "relative"))), ("XDG_CACHE_HOME", None))
    folders = [each for each in which if each != "home"]
    before = NOBODY if IS_ROOT else ()
    name = f"read-only: {', '.join(which)} {environment[:1]}"
    return Fault(name, statuses, before, environment=environment, within=partial(_unwritable, folders))


@cache
def nobody_can_run(workers: bool = False) -> bool:
    """Whether nobody may run filterkit, which may lie in a folder that is private, and processes of theirs may, too."""
    words = ("sh", "-c", f"exec '{COMMAND}' --version") if workers else (COMMAND, "--version")
    return subprocess.run([*NOBODY, *words], capture_output=True).returncode == 0


@contextmanager
def _unwritable(which: list[str], place: Place) -> Iterator[None]:
    for each in which:
        (place.base / each).chmod(0o555)
    try:
        yield
    finally:
        for each in which:
            (place.base / each).chmod(0o777)


def changed(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """Inputs that change while they are read."""
    how = rng.choice(("unlink", "half", "nothing", "longer", "folder", "other", "in the middle"))
    delay = rng.uniform(0, trials.seconds(job))

    def act(_: subprocess.Popen[bytes], place: Place) -> None:
        time.sleep(delay)
        for path in list(place.given.iterdir()):
            _change(path, how)

    return Fault(f"inputs: {how} after {delay:.3f} s", frozenset([0, 1]), act=act, same=how == "unlink")


def _change(path: Path, how: str) -> None:
    size = path.stat().st_size
    if how in ("unlink", "folder"):
        path.unlink()
        if how == "folder":
            path.mkdir()
    elif how in ("half", "nothing"):
        os.truncate(path, size // 2 if how == "half" else 0)
    elif how == "longer":
        with open(path, "ab") as file:
            file.write(b"\n1,2,3\n" * 1000)
    elif how == "other":
        path.write_bytes(b"@relation o\n@attribute z numeric\n@data\n1\n")
    else:
        with open(path, "r+b") as file:
            file.seek(size // 2)
            file.write(b"{,'" * 50)


def cut(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """Inputs that are cut off from the beginning."""
    share = rng.random()

    @contextmanager
    def within(place: Place) -> Iterator[None]:
        for path in place.given.iterdir():
            os.truncate(path, int(path.stat().st_size * share))
        yield

    return Fault(f"inputs cut off at {share:.3f}", frozenset([0, 1]), within=within, same=False)


def unread(rng: random.Random, trials: Trials, job: Job) -> Fault:
    """A reader of the printed result that leaves."""
    count = rng.choice((0, 1, rng.randint(1, 100_000)))
    words = f"> >(head -c {count} > /dev/null)"
    return Fault(f"printed {words}", frozenset([0]), redirections=words)


Kind = Callable[[random.Random, Trials, Job], Fault | None]
KINDS: dict[str, Kind] = {
    function.__name__: function
    for function in (event, moment, stopped, worker, full, limited, closed, read_only, changed, cut, unread)
}
