"""The features of a table, as the page of ``filterkit explore`` shows them all: names, scores, best tests, pictures."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from scipy.special import ndtr

from filterkit.chains.rows import Rows
from filterkit.counts.metric import Metric
from filterkit.data.ragged import find_run_begins
from filterkit.data.schema import Schema
from filterkit.exploration.ranking import BINS, Ranking
from filterkit.exploration.short import round_to_four_digits
from filterkit.plugin.registry import Registry

_MOST_FEATURES = 30_000  # of the page
_PLANES = 6  # tasks that have isolines
MOST_CURVES = 50  # of a feature; each takes as much work as a table of two classes
# The rates at which both axes of the ROC plane are divided, from 0 to 1. Between the ends, their normal deviates are
# equally far apart. So they are close to each other near 0 and 1, where the scores of rare features change most.
ROC_AXIS_RATES = np.concatenate([[0.0], ndtr(np.linspace(-3.2, 3.2, 39)), [1.0]])


def list_usable_metrics(schema: Schema, known: Registry) -> list[Metric]:
    """List the metrics to show where none is asked for: those that the class of `schema` allows, without random ones.

    Metrics that lead come first, then by name. `known` has all plugins.
    """
    target = schema.class_attribute
    kind = "" if target is None else target.kind
    usable = [
        metric
        for metric in known.metrics.values()
        if metric.by_column is None
        and (not metric.needs_class or kind == "nominal" or (kind == "numeric" and metric.numeric_class))
    ]
    return sorted(usable, key=lambda metric: (not metric.leads, metric.name))


class Features:
    """Holds the features of some rows, ranked, and which of them the page shows.

    Parameters
    ----------
    rows : the rows.
    ranking : the ranking of their features.
    best : how many of the best features are shown in detail.

    Attributes
    ----------
    rows, ranking : as the parameters.
    schema : of the rows.
    shown : int64 (shown,), ascending: the features that the page has, at most 30,000 of the best.
    best : int64 (best,), the features shown in detail, the best first; without those that do not vary.
    supervised : whether one of the metrics needs a class.
    tasks : the codes of the classes to tell from the rest, see `ContingencyTable.tasks`; none if no metric needs one.
    """

    def __init__(self, rows: Rows, ranking: Ranking, best: int) -> None:
        self.rows = rows
        self.schema = rows.schema
        self.ranking = ranking
        order = np.lexsort((-ranking.scores[:, 0], ~ranking.varied))  # the best first; what does not vary comes last
        self.shown = np.sort(order[:_MOST_FEATURES])
        self.best = order[: min(best, int(np.count_nonzero(ranking.varied)))]
        self.supervised = any(metric.needs_class for metric in ranking.metrics)
        self.tasks = self.schema.positive_classes(ranking.totals) if self.supervised else []


def describe_features(features: Features) -> dict[str, Any]:
    """Return ``features`` of the page: names, extremes, scores, best tests and small pictures of the features shown."""
    ranking, shown, schema = features.ranking, features.shown, features.schema
    attributes = [schema.features[i] for i in shown.tolist()]
    varied = ranking.varied[shown]
    points, point = _list_distinct_best_tests(features)
    nominal = schema.nominal[shown]
    low, high = (np.where(nominal, np.nan, round_to_four_digits(each[shown])) for each in (ranking.low, ranking.high))
    scores = np.where(varied[:, None], ranking.scores[shown], np.nan)
    return {
        "total": len(ranking.varied),
        "name": [a.name for a in attributes],
        "kind": [a.kind for a in attributes],
        "nonzero": round_to_four_digits(ranking.nonzero[shown]),
        "missing": round_to_four_digits(ranking.missing[shown]),
        "low": low,
        "high": high,
        "scores": {metric.name: round_to_four_digits(scores[:, i]) for i, metric in enumerate(ranking.metrics)},
        "points": points,
        "point": {metric.name: point[:, i] for i, metric in enumerate(ranking.metrics)},
        "strips": {"bins": BINS, "counts": base64.b64encode(ranking.strips[shown].tobytes()).decode()},
    }


def _list_distinct_best_tests(features: Features) -> tuple[dict[str, Any], np.ndarray]:
    """Return ``points`` of the page, the distinct best tests of each feature shown, by feature, class and threshold.

    Also return int64 (features, metrics): which test of a feature is best by each metric; -1 for a feature without
    tests, because it does not vary or the class is numeric.
    """
    ranking, shown = features.ranking, features.shown
    count = len(ranking.metrics)
    has_tests = bool(features.tasks) or not features.supervised  # none by a numeric class
    columns = np.repeat(np.flatnonzero(ranking.varied[shown] & has_tests), count)
    every = shown[columns[::count]]
    task, threshold, tp, fp = (each[every].ravel() for each in ranking.tests[:4])
    order = np.lexsort((threshold, task, columns))
    first = find_run_begins(columns[order], task[order], threshold[order])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(first) - 1
    chosen = order[first]
    own = columns[chosen]
    start = np.searchsorted(own, np.arange(len(shown) + 1))
    point = np.full((len(shown), count), -1)
    point[columns[::count]] = (number - start[columns]).reshape(-1, count)
    threshold = threshold[chosen]
    nominal = features.schema.nominal[shown][own]
    labels = {
        str(i): features.schema.features[shown[own[i]]].values[int(threshold[i])]
        for i in np.flatnonzero(nominal).tolist()
    }
    tasks = np.array(features.tasks or [0])
    return {
        "start": start,
        "task": np.searchsorted(tasks, task[chosen]),
        "threshold": np.where(nominal, np.nan, threshold),
        "tp": round_to_four_digits(tp[chosen]),
        "fp": round_to_four_digits(fp[chosen]),
        "label": labels,
    }, point


def describe_tasks(features: Features) -> list[dict[str, Any]]:
    """Return ``tasks`` of the page: label and weights of each class to tell from the rest; empty without a class."""
    target, totals = features.schema.class_attribute, features.ranking.totals
    if target is None:
        return []
    total = float(totals.sum())
    return [
        {"label": target.values[code], "pos": float(totals[code]), "neg": total - float(totals[code])}
        for code in features.tasks
    ]


def compute_isoline_scores(metrics: list[Metric], tasks: list[dict[str, Any]]) -> dict[str, list[np.ndarray]]:
    """Return ``isolines`` of the page: scores over the ROC plane by metric, for each of the first six tasks with rows.

    They are those of a feature at each point of `ROC_AXIS_RATES`, by true-positive and then by false-positive rate.
    Metrics whose score does not follow from its point are left out: those that need no class, look at whole columns or
    at no data, or have a form of their own for several classes where there are several. Raise PluginError if a metric
    fails, or returns something else than float64 (n,).
    """
    fpr, tpr = (each.ravel() for each in np.meshgrid(ROC_AXIS_RATES, ROC_AXIS_RATES))
    weights = [(task["pos"], task["neg"]) for task in tasks[:_PLANES] if task["pos"] > 0 and task["neg"] > 0]
    return {
        metric.name: [
            round_to_four_digits(metric.compute("score", fpr.shape, tpr * pos, fpr * neg, pos, neg))
            for pos, neg in weights
        ]
        for metric in metrics
        if metric.compares_class_with_rest and metric.by_column is None and (len(tasks) == 1 or metric.classes is None)
    }


def correlate_metrics(ranking: Ranking) -> dict[str, Any]:
    """Return ``agreement`` of the page: Spearman's correlation of the scores of each pair of metrics.

    Only features that vary count; with fewer than two, all are NaN.
    """
    scores = ranking.scores[ranking.varied]
    names = [metric.name for metric in ranking.metrics]
    found = np.full((len(names), len(names)), np.nan)
    if len(scores) > 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            # Importing scipy.stats for ranks would take longer than all else for a page of some thousand features.
            ranks = []
            for each in scores.T:
                _, number, counts = np.unique(each, return_inverse=True, return_counts=True)
                ranks.append((np.cumsum(counts) - (counts - 1) / 2)[number])  # equal scores have the mean rank
            found = np.asarray(np.corrcoef(ranks))
    return {"metrics": names, "spearman": round_to_four_digits(found).reshape(len(names), -1)}


def list_notes_on_omissions(features: Features, slow: list[str]) -> list[str]:
    """Return ``notes`` of the page, a sentence for each thing left out; `slow` are the names of metrics left out."""
    found = []
    if slow:
        flags = " ".join(f"--by {name}" for name in slow)
        found.append(f"There are many thresholds, so metrics that take long are left out; to see them: {flags}.")
    count, total = len(features.shown), len(features.ranking.varied)
    if total > count:
        metric = features.ranking.metrics[0].name
        found.append(f"The page has the {count:,} features that are best by {metric}, of {total:,}.")
    if len(features.tasks) > _PLANES:
        found.append(f"Isolines are drawn for the first {_PLANES} classes.")
    if len(features.tasks) > MOST_CURVES:
        found.append(f"With more than {MOST_CURVES} classes there are no curves.")
    return found
