"""The report: one line for each work, as plain text or Markdown."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median

from benchmarks.timing import Run
from benchmarks.work import Outcome, Skipped
from benchmarks.works import Places

PACKAGES = ("arff-filterkit", "numpy", "scipy", "pyarrow", "liac-arff")
COLUMNS = ("work", "contenders", "runs", "seconds", "CPU seconds", "peak MB", "ratio (min-max)", "target", "met")


def versions(places: Places, cores: list[int]) -> list[str]:
    """The versions of the programs that were measured."""
    lines = [
        ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]),
        f"every process on {'one core' if len(cores) == 1 else f'the same {len(cores)} cores'}",
    ]
    wekas = [name for name, path in (("3.9", places.weka39), ("3.6", places.weka36)) if path]
    if wekas:
        java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
        lines.append(f"Weka {' and '.join(wekas)} under {java.splitlines()[0] if java else 'Java'}, its default heap")
    return lines


def disturbance(results: list[Outcome | Skipped]) -> str:
    """How busy other processes kept the cores; it makes ratios of wall clocks doubtful."""
    runs = [run for result in results if isinstance(result, Outcome) for run in (*result.subject, *result.other)]
    if not runs:
        return "nothing was run"
    others = [run.others for run in runs]
    return f"other processes kept {mean(others):.1f} cores busy on average, {max(others):.1f} in the worst run"


def markdown(results: list[Outcome | Skipped], notes: list[str]) -> str:
    """The report as Markdown."""
    rows = [_cells(result, "<br>") for result in results if isinstance(result, Outcome)]
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]  # no folders of this machine
    lines = [f"Command: `{shlex.join(['python', '-m', 'benchmarks', *words])}`", ""]
    lines += [f"- {note}" for note in notes]
    lines += ["", f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines += ["", _summary(results), "", "What the outputs were checked for:", ""]
    lines += [f"- {line}" for line in _checks(results)]
    return "\n".join(lines)


def plain(results: list[Outcome | Skipped], notes: list[str]) -> str:
    """The report as text for a terminal."""
    rows = [list(COLUMNS)]
    for result in results:
        if isinstance(result, Outcome):
            cells = [cell.split("\n") for cell in _cells(result, "\n")]
            height = max(map(len, cells))
            rows += [[cell[i] if i < len(cell) else "" for cell in cells] for i in range(height)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*notes, "", *table, "", _summary(results), "", *_checks(results)])


def _cells(outcome: Outcome, end: str) -> list[str]:
    """The table row of a work; `end` separates lines within a cell."""
    work, target = outcome.work, outcome.work.target
    subject, other = work.subject.label, work.other.label
    what = f"{other} / {subject}" if target.bound == "at least" else f"{subject} / {other}"
    ratio, met = "—", "failed"
    if not outcome.failure:
        ratios = target.ratios(outcome.subject, outcome.other)
        ratio = f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        met = {True: "yes", False: "**no**" if end != "\n" else "NO", None: "—"}[
            target.met(outcome.subject, outcome.other)
        ]
    ratio += {"seconds": "", "cpu": " of CPU", "memory": " of memory"}[target.quantity]
    both = outcome.subject, outcome.other
    return [
        f"{work.name}{end}{work.what}",
        f"{subject}{end}{other}",
        str(len(outcome.subject)),
        end.join(_median(runs, "seconds", 1, 2) for runs in both),
        end.join(_median(runs, "cpu", 1, 2) for runs in both),
        end.join(_median(runs, "memory", 1e6, 0) for runs in both),
        f"{ratio}{end}{what}" if end == "\n" else ratio,
        str(target),
        met,
    ]


def _median(runs: list[Run], quantity: str, unit: float, digits: int) -> str:
    return f"{median(getattr(run, quantity) for run in runs) / unit:,.{digits}f}" if runs else "—"


def _summary(results: list[Outcome | Skipped]) -> str:
    """Which targets were met, missed, and not measured."""
    found: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for result in results:
        if isinstance(result, Outcome) and not result.failure:
            found[result.work.target.met(result.subject, result.other)].append(result.work.name)
    failed = [result.work.name for result in results if isinstance(result, Outcome) and result.failure]
    skipped = [result.name for result in results if isinstance(result, Skipped)]
    groups = {"met": found[True], "missed": found[False], "failed": failed, "skipped": skipped}
    return "Targets " + "; ".join(f"{word}: {', '.join(names) or 'none'}" for word, names in groups.items()) + "."


def _checks(results: list[Outcome | Skipped]) -> list[str]:
    return [
        f"{result.name}: skipped: {result.reason}"
        if isinstance(result, Skipped)
        else f"{result.work.name}: {f'FAILED: {result.failure}' if result.failure else result.said}"
        for result in results
    ]
