"""Explores a table and what a chain makes of it: gathers what the page of ``filterkit explore`` shows.

rows ── stages that make features ──> features ── the other stages ──> columns that come out
 │                                       │                                │
 └── overview, warnings                  ├── scores, best tests           └── histograms after
                                         └── of the best: histograms, shape curves, correlations
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any, Self

import numpy as np

from filterkit.chains.fitting import ChainFitter
from filterkit.chains.queries import Query, compute_merged_record, run_passes
from filterkit.chains.rows import Rows
from filterkit.counts.metric import Metric
from filterkit.counts.numeric_class import count_rows_by_class_value
from filterkit.counts.overview import Overview
from filterkit.counts.record import SUM, Record, RecordMerger
from filterkit.data.batch import Batch
from filterkit.errors import UsageError, find_repeated
from filterkit.exploration.details import LaterStages, describe_best_features
from filterkit.exploration.extents import READER, ColumnExtents
from filterkit.exploration.features import (
    ROC_AXIS_RATES,
    Features,
    compute_isoline_scores,
    correlate_metrics,
    describe_features,
    describe_tasks,
    list_notes_on_omissions,
    list_usable_metrics,
)
from filterkit.exploration.overview import describe_numeric_class, describe_overview, list_warnings
from filterkit.exploration.ranking import BINS, rank_features
from filterkit.plugin.lookup import find_metric
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage
from filterkit.stages.columns import learns_from_statistic

_MANY_TESTS = 200_000  # of all features, for each of three or more classes; slow metrics take seconds for so many


def explore(
    rows: Rows, stages: Sequence[Stage], by: Sequence[str], best: int, known: Registry, memory: int
) -> dict[str, Any]:
    """Fit a chain on some rows, and return what the page of ``filterkit explore`` shows, by name.

    The first comment of ``explore.js`` lists the entries; those from ``made`` to ``chain`` are left to the caller. Also
    return ``head``, the number of stages before the features.

    Parameters
    ----------
    rows : the rows.
    stages : the chain; perhaps empty. The features are the columns that come to the first stage that learns from
        columns, so stages such as ``words`` may make them. Without such a stage, they are what comes out of the chain.
    by : the names of the metrics to rank by. If empty, all that the class allows, but no random ones, and none that
        would take too long.
    best : how many of the best features to show in detail.
    known : the plugins.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    UsageError : a metric is unknown, or named twice.
    StageError : a stage fails on these rows.
    PluginError : a metric or stage fails, or returns something invalid.
    """
    repeated = find_repeated(by)
    if repeated is not None:
        raise UsageError(f"--by {repeated} is given twice; leave one out")
    chosen = [find_metric(name) for name in by]
    ends = {0: time.perf_counter()}
    fitting = ChainFitter(stages, rows, memory, lambda done, _: ends.update({done: time.perf_counter()}))
    head = next((number for number, stage in enumerate(stages) if learns_from_statistic(stage)), len(stages))
    each_rows = fitting.rows
    explored = each_rows[head]
    target = explored.schema.class_attribute
    has_numeric_class = target is not None and target.kind == "numeric"
    overviews = RecordMerger(Overview.of, explored.schema)
    metrics = chosen or list_usable_metrics(explored.schema, known)

    def leave_out_slow_metrics() -> list[Metric]:
        """Return `metrics`, without slow ones if there are too many thresholds.

        But keep slow ones that the user asks for, or if there are no others. Call it after the pass of `overviews`.
        """
        quick = [metric for metric in metrics if not metric.slow]
        if chosen or not quick:
            return metrics
        seen = overviews.merge()
        n_tests = min(int(seen.distinct_counts.sum()), (seen.rows // 2) ** 2)  # about as many differ in their counts
        n_classes = len(seen.class_rows)
        return quick if n_tests * (1 if n_classes < 3 else n_classes) > _MANY_TESTS else metrics

    is_supervised = any(metric.needs_class for metric in metrics)
    has_features = bool(explored.schema.width and metrics)
    _, numbers, ranking, before, after, *counts = run_passes(
        iter([[Query(explored, overviews.compute, overviews.add)]]),
        compute_merged_record(explored, partial(count_rows_by_class_value, READER)) if has_numeric_class else iter(()),
        rank_features(explored, leave_out_slow_metrics, is_supervised, memory) if has_features else iter(()),
        compute_merged_record(explored, ColumnExtents.of) if has_features else iter(()),
        compute_merged_record(each_rows[-1], ColumnExtents.of) if has_features and stages[head:] else iter(()),
        *(compute_merged_record(each, CellCounts.of) for each in each_rows),
    )
    overview = overviews.merge()
    described = describe_overview(overview)
    if numbers is not None:
        described["class"] |= describe_numeric_class(numbers)
    seconds = {begin: end - start for (begin, start), end in zip(ends.items(), [*ends.values()][1:])}
    about_rows = {
        "head": head,
        "overview": described,
        "warnings": list_warnings(overview, explored.schema, ranking),
        "stages": [
            {"words": words, "columns": each.schema.width}
            | vars(each_counts)
            | {"seconds": seconds.get(number)}  # None if the stage was fitted together with the one before it
            for number, words, each, each_counts in zip(
                count(-1), ["", *(" ".join(stage.words()) for stage in stages)], each_rows, counts
            )
        ],
    }
    if ranking is None:
        return about_rows | _NO_FEATURES
    features = Features(explored, ranking, best)
    tasks = describe_tasks(features)
    isolines = compute_isoline_scores(ranking.metrics, tasks)
    later = LaterStages(stages[head:], fitting.fitted[head:], each_rows[-1], before, after)
    left_out = sorted({metric.name for metric in metrics} - {metric.name for metric in ranking.metrics})
    return (
        about_rows
        | {
            "notes": list_notes_on_omissions(features, left_out),
            "tasks": tasks,
            "metrics": [
                {"name": metric.name, "summary": metric.summary(), "plane": metric.name in isolines}
                for metric in ranking.metrics
            ],
            "features": describe_features(features),
            "isolines": isolines,
            "rates": ROC_AXIS_RATES,
            "agreement": correlate_metrics(ranking),
        }
        | describe_best_features(features, later, known, memory, overview, described["class"])
    )


class CellCounts(Record):
    """Counts rows, and the cells of X in them, without regard to weights.

    Attributes
    ----------
    rows : how many rows there are.
    nonzero : how many cells are neither zero nor missing.
    missing : how many cells are missing.
    """

    fields = dict.fromkeys(("rows", "nonzero", "missing"), SUM)

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """Count the rows and cells of one batch."""
        values = batch.stored_values
        missing = int(np.count_nonzero(np.isnan(values)))
        return cls(rows=len(batch), nonzero=int(np.count_nonzero(values)) - missing, missing=missing)


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
    "rates": ROC_AXIS_RATES,
    "agreement": {"metrics": [], "spearman": []},
    "correlation": {"features": [], "r": []},
    "details": [],
}
