"""Explores a table and what a chain makes of it: gathers what the page of ``filterkit explore`` shows.

rows ── stages that make features ──> features ── the other stages ──> columns that come out
 │                                       │                                │
 └── overview, warnings                  ├── scores, best tests           └── histograms after
                                         └── of the best: histograms, shape curves, correlations
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from filterkit.chains.fitting import fit_each
from filterkit.chains.rows import TrainingRows
from filterkit.errors import UsageError
from filterkit.exploration import account, overview
from filterkit.exploration.details import correlated, details
from filterkit.exploration.features import Features, agreement, described, isolines, metrics_for, notes_of, tasks_of
from filterkit.exploration.isolines import has_plane, rates
from filterkit.exploration.ranking import BINS, rank
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage
from filterkit.stages.columns import ColumnStage

_MANY_THRESHOLDS = 200_000  # of all features; slow metrics take seconds for so many


class Request(NamedTuple):
    """What to explore.

    Attributes
    ----------
    stages : the chain; perhaps empty.
    metrics : the names of the metrics to rank by; empty for all.
    best : how many of the best features to show in detail.
    known : the plugins.
    memory : bytes, as for `Chain.fit`.
    """

    stages: Sequence[Stage]
    metrics: Sequence[str]
    best: int
    known: Registry
    memory: int


def explore(rows: TrainingRows, request: Request) -> dict[str, Any]:
    """What the page shows of some rows; see the first comment of ``explore.js``.

    Parameters
    ----------
    rows : the rows.
    request : what to explore. The features are those that come to the first stage that learns from columns, so stages
        such as ``words`` may make them.

    Raises
    ------
    UsageError : a metric is unknown, or named twice.
    StageError : a stage or a metric fails on these rows.
    """
    stages, known, memory = request.stages, request.known, request.memory
    twice = next((name for name in request.metrics if request.metrics.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--by {twice} is given twice")
    clock = _Clock(len(stages))
    passed = fit_each(stages, rows, memory, clock)
    head = next((number for number, stage in enumerate(stages) if isinstance(stage, ColumnStage)), len(stages))
    explored = passed[head - 1].rows if head else rows
    found = account.account(rows, passed, head)
    seen = found.seen
    quick = not request.metrics and overview.thresholds(seen) > _MANY_THRESHOLDS
    names = list(request.metrics) or metrics_for(explored.schema, known, quick)
    features = None
    if explored.schema.width and names:
        features = Features(explored, rank(explored, names, memory), request.best)
    about_rows = {
        "head": head,
        "overview": overview.described(seen),
        "warnings": overview.warnings(seen, explored.schema, None if features is None else features.ranking),
        "stages": account.described(found, rows, stages, passed, clock.seconds),
    }
    if features is None:
        return about_rows | _NO_FEATURES
    tasks = tasks_of(features)
    metrics = features.ranking.metrics
    slow = sorted({*metrics_for(explored.schema, known, quick=False)} - {*names}) if quick else []
    return about_rows | {
        "notes": notes_of(features, slow),
        "tasks": tasks,
        "metrics": [
            {"name": metric.name, "summary": metric.summary(), "plane": has_plane(metric, len(tasks))}
            for metric in metrics
        ],
        "features": described(features),
        "isolines": isolines(metrics, tasks),
        "rates": rates(),
        "agreement": agreement(features.ranking),
        "correlation": correlated(features, float(seen.overview.weights[1])),
        "details": details(features, stages[head:], passed[head:], known, memory),
    }


_NO_FEATURES: dict[str, Any] = {
    "notes": ["There are no features to rank. Stages such as words make some of texts."],
    "tasks": [],
    "metrics": [],
    "features": {
        "total": 0,
        **{name: [] for name in ("name", "kind", "nonzero", "missing", "low", "high")},
        "scores": {},
        "points": {"start": [0], "task": [], "threshold": [], "tp": [], "fp": [], "label": {}},
        "point": {},
        "strips": {"bins": BINS, "counts": ""},
    },
    "isolines": {},
    "rates": rates(),
    "agreement": {"metrics": [], "spearman": []},
    "correlation": {"features": [], "r": []},
    "details": [],
}


class _Clock:
    """Says how long fitting each stage took; call it as `fit_each` calls ``tell``.

    Attributes
    ----------
    seconds : of each stage; None if it was fitted together with the one before it.
    """

    def __init__(self, stages: int) -> None:
        self.seconds: list[float | None] = [None] * stages
        self._done = 0
        self._last = time.perf_counter()

    def __call__(self, done: int, rows: TrainingRows) -> None:
        now = time.perf_counter()
        self.seconds[self._done] = now - self._last
        self._done, self._last = done, now
