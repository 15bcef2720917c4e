"""Runs chains by chance, each with several settings, in one process, and compares what comes out and what stays behind.

    python -m trials soak --seconds 1800 --seed 1

Of each chain all settings must write the same bytes, or refuse it with the same words and exit status. No thread, no
open file and no temporary file may stay, and memory may not grow from run to run.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import re
import shlex
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from filterkit.allocators import give_back_freed_memory
from filterkit.formats import text
from trials import ROOT, SAMPLES

STAGES = """
shape | shape --neighbors 3 --no-zero | shape --method isotonic | shape --cross-fit 3 | shape --auto | bns | ig
chi | odds --combine mean | select --by ig --top 5 | select --top 3 | normal | impute | standardize | range | binary
l1 | l2 | max | tfidf | onehot | bins | bins --method frequency | bins --method width | ordinal --levels all
recode --sort | outliers | id | set 'z = ATT1 * 2' | where 'ATT1 > 0' | map 'VALUE + 1' | rows 2-40
head 25 | distinct | sample --fraction 0.5 --seed 3 | balance | split --fold 1/3 | shuffle --seed 2
words --keep 5 | words --hash 16 | words --pattern '[a-z]+' | reorder --first last | rename --find a --replace b
remove --match '.*e.*' | keep --range 1-4 | svd --components 2 | project --components 3 | numeric | nominal
limit --upper 0.9 | svm --c 1 | neighbors --k 2 | mp-boost --rounds 2 | smote | correlation | cfs
relieff --neighbors 3
"""
CHOICES = [text.strip() for line in STAGES.strip().splitlines() for text in line.split("|")]
REFERENCE = ("--jobs", "1")
_VARIES = re.compile(rb"% filterkit ")  # the comment with the options
_LONG = 1.0  # seconds
_MEGABYTES = 60  # by which memory may grow in the second half, when all libraries have been imported


class Setting(NamedTuple):
    """Where and how the work runs.

    Attributes
    ----------
    block : bytes of text in a block; None for the usual ones.
    options : of the command line.
    """

    block: int | None
    options: tuple[str, ...]


class Result(NamedTuple):
    """What a run came to: its exit status; what it said, without warnings, some of which are about memory; and what it
    wrote, without the comment that has its options."""

    status: int
    said: str
    wrote: bytes


def inputs(shared: Path | None = ROOT.parent / "shared" / "data") -> list[Path]:
    """The samples, and the small files of the folder of shared data if it is there."""
    found = sorted(SAMPLES.glob("*.arff"))
    if shared is not None and shared.is_dir():
        found += sorted(p for p in shared.glob("[uw]*/*.arff") if p.stat().st_size < 100_000)
    return found


def settings(rng: random.Random) -> Iterator[Setting]:
    """Two settings by chance."""
    for _ in range(2):
        options = ["--jobs", str(rng.choice((1, 2, 4))), "--memory", rng.choice(("1M", "10M", "1G"))]
        if rng.random() < 0.03:
            options += ["--engine", "processes"]
        yield Setting(rng.choice((300, 5000, None)), tuple(options))


@contextmanager
def blocks_of(size: int | None) -> Iterator[None]:
    """Let readers take blocks of this many bytes unless told otherwise."""
    before = text.BLOCK_SIZE
    text.BLOCK_SIZE = before if size is None else size
    try:
        yield
    finally:
        text.BLOCK_SIZE = before


def run(setting: Setting, words: Sequence[str], folder: Path) -> Result:
    """Run the command in this process; it writes into `folder`."""
    from filterkit.cli.main import main

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    out, said, status = folder / "out.arff", io.StringIO(), 0
    arguments = ["--no-progress", *setting.options, "-o", str(out), *words]
    with blocks_of(setting.block), contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(arguments)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    for number, handler in handlers.items():
        signal.signal(number, handler)
    gc.unfreeze()  # what the command leaves to the end of its process
    gc.collect()
    words_said = [line for line in said.getvalue().splitlines() if not line.startswith("filterkit: warning: ")]
    wrote = b""
    if out.exists():
        wrote = b"".join(line for line in out.read_bytes().splitlines(True) if not _VARIES.match(line))
        out.unlink()
    return Result(status, "\n".join(words_said), wrote)


class Left(NamedTuple):
    """What a process holds: threads, open files, and files in the folder for temporary ones."""

    threads: tuple[str, ...]
    files: tuple[str, ...]
    temporary: tuple[str, ...]


def left(folder: Path) -> Left:
    """What this process holds now."""
    threads = tuple(sorted(thread.name for thread in threading.enumerate()))
    files = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            files.append(os.readlink(f"/proc/self/fd/{number}"))
    kept = sorted(name for name in files if "pipe:" not in name and "/proc/" not in name)
    return Left(threads, tuple(kept), tuple(sorted(os.listdir(folder))))


def memory() -> int:
    """Bytes of memory that this process holds, after a clean-up.

    The command keeps up to 128 MB of freed memory for its next batches (`filterkit.allocators`), which is no growth.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    give_back_freed_memory()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(
    seconds: float, seed: int, chains: Sequence[str] = CHOICES, tries: int | None = None, files: Sequence[Path] = ()
) -> tuple[Counter[str], list[str]]:
    """Run chains on `files`, or on `inputs()`, until the time is over or so many have been tried.

    Returns
    -------
    how many chains there were, how many runs, and with what status; and what is wrong, a line each.
    """
    rng, end = random.Random(seed), time.monotonic() + seconds
    half = end - seconds / 2
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    files, begun, before = files or inputs(), 0, 0
    with tempfile.TemporaryDirectory(prefix="soak-") as base:
        folder, temporary = Path(base, "out"), Path(base, "temporary")
        folder.mkdir()
        temporary.mkdir()
        with _temporary_in(temporary):
            while time.monotonic() < end and counts["chains"] != tries:
                chain = " ".join(rng.choice(chains) for _ in range(rng.randint(1, 4)))
                form = rng.choice((["--sparse"], ["--dense"], []))
                words = [*form, str(rng.choice(files)), *shlex.split(chain)]
                wrong += _chain(words, rng, folder, temporary, counts)
                if not begun and (time.monotonic() > half or counts["chains"] * 2 == tries):
                    begun, before = memory(), counts["chains"]
        grown = (memory() - begun) / 1e6 if begun else 0.0
    if grown > _MEGABYTES:
        wrong.append(f"memory grew by {grown:.0f} MB over the last {counts['chains'] - before} chains")
    counts["MB more"] = round(grown)
    return counts, wrong


def _chain(words: list[str], rng: random.Random, folder: Path, temporary: Path, counts: Counter[str]) -> list[str]:
    """What is wrong with one chain."""
    wrong = []
    began = time.monotonic()
    expected = run(Setting(None, REFERENCE), words, folder)
    counts["chains"] += 1
    counts[f"exit {expected.status}"] += 1
    if time.monotonic() - began > _LONG:  # small blocks would take minutes
        counts["too slow for more"] += 1
        return []
    before = left(temporary)
    for setting in settings(rng):
        found = run(setting, words, folder)
        counts["runs"] += 1
        what = next((name for name in Result._fields if getattr(found, name) != getattr(expected, name)), None)
        if what is not None:
            one, other = (str(getattr(result, what))[:300] for result in (expected, found))
            wrong.append(f"{shlex.join(words)}, {setting}: {what}: {one!r} and then {other!r}")
        after = left(temporary)
        for name in Left._fields:
            more = Counter(getattr(after, name)) - Counter(getattr(before, name))
            if more:
                wrong.append(f"{shlex.join(words)}, {setting}: {name} left: {', '.join(more)}")
        before = after
    if "unexpected" in expected.said:
        wrong.append(f"{shlex.join(words)}: {expected.said.strip()}")
    return wrong


@contextmanager
def _temporary_in(folder: Path) -> Iterator[None]:
    before = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
