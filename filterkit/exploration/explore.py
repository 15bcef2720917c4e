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
from filterkit.chains.queries import Passes, Query, run_passes
from filterkit.chains.rows import Rows
from filterkit.counts.metric import Metric
from filterkit.data.schema import Schema
from filterkit.errors import UsageError
from filterkit.exploration import overview
from filterkit.exploration.account import Account
from filterkit.exploration.details import Chain, details
from filterkit.exploration.extents import extents
from filterkit.exploration.features import Features, agreement, described, isolines, metrics_for, notes_of, tasks_of
from filterkit.exploration.isolines import has_plane, rates
from filterkit.exploration.ranking import BINS, rank
from filterkit.plugin.registry import Registry, find_metric
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


def explore(rows: Rows, request: Request) -> dict[str, Any]:
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
    clock = _Clock(len(stages))
    named = _named(request.metrics)
    passed = fit_each(stages, rows, memory, clock)
    head = next((number for number, stage in enumerate(stages) if isinstance(stage, ColumnStage)), len(stages))
    explored = passed[head - 1].rows if head else rows
    account, looking = Account(rows, passed), overview.Looking(explored)
    choice = _Choice(named, explored.schema, known, looking)
    has_features = bool(explored.schema.width and choice.every)
    _, ranking, before, after = run_passes(
        _run_once([*account.queries(), looking.query()]),
        rank(explored, choice.metrics, choice.supervised, memory) if has_features else _run_once([]),
        extents(explored, memory) if has_features else _run_once([]),
        extents(passed[-1].rows, memory) if has_features and passed[head:] else _run_once([]),
    )
    seen = looking.seen
    about_rows = {
        "head": head,
        "overview": overview.described(seen),
        "warnings": overview.warnings(seen, explored.schema, ranking),
        "stages": account.described(stages, clock.seconds),
    }
    if ranking is None:
        return about_rows | _NO_FEATURES
    features = Features(explored, ranking, request.best)
    tasks, metrics = tasks_of(features), ranking.metrics
    chain = Chain(stages[head:], passed[head:], before, after)
    return (
        about_rows
        | {
            "notes": notes_of(features, choice.left_out()),
            "tasks": tasks,
            "metrics": [
                {"name": metric.name, "summary": metric.summary(), "plane": has_plane(metric, len(tasks))}
                for metric in metrics
            ],
            "features": described(features),
            "isolines": isolines(metrics, tasks),
            "rates": rates(),
            "agreement": agreement(ranking),
        }
        | details(features, chain, known, memory, seen.overview)
    )


def _run_once(queries: list[Query]) -> Passes[None]:
    """Finds out in one pass what others keep."""
    yield queries


def _named(names: Sequence[str]) -> list[Metric]:
    """The metrics of these names.

    Raises
    ------
    UsageError : a metric is unknown, or named twice.
    """
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--by {twice} is given twice")
    return [find_metric(name) for name in names]


class _Choice:
    """Chooses the metrics: those that are named, or all that suit the rows and do not take too long.

    Parameters
    ----------
    named : the metrics that are named.
    schema : of the features.
    known : the plugins.
    looking : looks at the features. What it has seen decides which metrics take too long.

    Attributes
    ----------
    every : the metrics that may be chosen.
    supervised : whether one of them needs a class.
    """

    def __init__(self, named: list[Metric], schema: Schema, known: Registry, looking: overview.Looking) -> None:
        self.every = named or metrics_for(schema, known)
        self.supervised = any(metric.needs_class for metric in self.every)
        self._all = bool(named)
        self._looking = looking

    def metrics(self) -> list[Metric]:
        """Those that are chosen; to be called after the pass that looks at the features."""
        quick = [metric for metric in self.every if not metric.slow]
        return quick if quick and self._is_much() else self.every

    def left_out(self) -> list[str]:
        """The names of the metrics that take too long."""
        chosen = self.metrics()
        return sorted(metric.name for metric in self.every if metric not in chosen)

    def _is_much(self) -> bool:
        return not self._all and overview.thresholds(self._looking.seen) > _MANY_THRESHOLDS


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

    def __call__(self, done: int, rows: Rows) -> None:
        now = time.perf_counter()
        self.seconds[self._done] = now - self._last
        self._done, self._last = done, now
