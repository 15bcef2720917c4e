"""A work is a comparison: two contenders that do the same, a target for their ratio, and checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from benchmarks.timing import Run

Command = tuple[str, ...]


@dataclass(frozen=True)
class Input:
    """A file that a work needs, and the command that makes it (none if it must be there)."""

    path: Path
    command: Command = ()


@dataclass(frozen=True)
class Contender:
    """A command to time.

    Attributes
    ----------
    label : what the report calls it.
    command : the whole command line.
    output : the file it writes; it is removed before every run, so that none overwrites an earlier one.
    says : must occur in what it prints, which guards works without an output file.
    """

    label: str
    command: Command
    output: Path | None = None
    says: str = ""


@dataclass(frozen=True)
class Target:
    """A bound on the ratio of two contenders.

    ``at least`` bounds other / subject ("the other takes at least so many times as long"), ``at most``
    bounds subject / other ("the subject takes at most so many times as much").

    Attributes
    ----------
    limit : of the ratio; None to measure it for information.
    quantity : that is compared, an attribute of `Run`.
    peak : how many MB the subject may hold at most; None for no limit.
    """

    bound: Literal["at least", "at most"]
    limit: float | None = None
    quantity: Literal["seconds", "cpu", "memory"] = "seconds"
    peak: float | None = None

    def ratios(self, subject: list[Run], other: list[Run]) -> list[float]:
        """The ratio of each pair of runs."""
        pairs = [(getattr(s, self.quantity), getattr(o, self.quantity)) for s, o in zip(subject, other, strict=True)]
        return [o / s if self.bound == "at least" else s / o for s, o in pairs]

    def met(self, subject: list[Run], other: list[Run]) -> bool | None:
        """Whether the median ratio and the median peak are within their bounds; None without any."""
        kept = []
        if self.limit is not None:
            ratio = median(self.ratios(subject, other))
            kept.append(ratio >= self.limit if self.bound == "at least" else ratio <= self.limit)
        if self.peak is not None:
            kept.append(median(run.memory for run in subject) <= self.peak * 1e6)
        return all(kept) if kept else None

    def __str__(self) -> str:
        ratio = [] if self.limit is None else [f"{'≥' if self.bound == 'at least' else '≤'} {self.limit:g}"]
        peak = [] if self.peak is None else [f"≤ {self.peak:,.0f} MB"]
        return ", ".join([*ratio, *peak]) or "for information"


@dataclass(frozen=True)
class Work:
    """One comparison.

    Attributes
    ----------
    name : to choose it by.
    what : the work, in a few words.
    subject, other : the contenders, filterkit first.
    target : which ratio is reported, and its bound.
    inputs : what must be there.
    prepare : commands that run once before the warm-up, not timed.
    checks : commands that run once after the runs and fail unless the outputs are of the same work.
    scraps : files that `prepare` makes, to remove when done.
    slow : whether ``--slow-runs`` holds.
    times : how many times the usual number of runs, for very short works.
    """

    name: str
    what: str
    subject: Contender
    other: Contender
    target: Target
    inputs: tuple[Input, ...] = ()
    prepare: tuple[Command, ...] = ()
    checks: tuple[Command, ...] = ()
    scraps: tuple[Path, ...] = ()
    slow: bool = False
    times: int = 1

    @property
    def files(self) -> list[Path]:
        """All files to remove when done."""
        return [*self.scraps, *(one.output for one in (self.subject, self.other) if one.output)]


@dataclass(frozen=True)
class Skipped:
    """A work that cannot be done here, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """The runs of a work, in pairs, and what its checks said; `failure` says what went wrong, if anything."""

    work: Work
    subject: list[Run]
    other: list[Run]
    said: str
    failure: str = ""
