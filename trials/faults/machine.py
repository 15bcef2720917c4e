"""Runs jobs with faults by chance, and counts them."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from trials.faults.jobs import JOBS, Job, make_inputs
from trials.faults.kinds import KINDS
from trials.faults.trial import COMMAND, Trials


def faults(
    seconds: float,
    seed: int,
    kinds: Sequence[str] = (),
    jobs: Sequence[str] = (),
    command: str = COMMAND,
    tries: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Counter[str], list[str]]:
    """Run jobs with faults until the time is over, or so many have been tried.

    Parameters
    ----------
    kinds, jobs : names of those to take; all by default.
    command : what is run.
    tell : gets each finding at once.

    Returns
    -------
    how many runs there were of each kind, and what is wrong, a line each.
    """
    rng, end = random.Random(seed), time.monotonic() + seconds
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    some = [job for job in JOBS if (job.name in jobs or not jobs) and _can_run(job)]
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        given = Path(name, "given")
        given.mkdir()
        make_inputs(given)
        trials = Trials(Path(name), given, command)
        while time.monotonic() < end and sum(counts.values()) != tries:
            kind, job = rng.choice([*(kinds or KINDS)]), rng.choice(some)
            fault = KINDS[kind](rng, trials, job)
            if fault is None:
                continue
            counts[kind] += 1
            for each in trials.wrong(job, fault, rng.random() < 0.5):
                wrong.append(each)
                tell(each)
    return counts, wrong


def _can_run(job: Job) -> bool:
    return job.name != "dask" or find_spec("distributed") is not None
