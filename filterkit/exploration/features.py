"""The features of a table, as the page of ``filterkit explore`` shows them: names, scores, best tests, pictures."""

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

    Without a class, those that need none. Metrics with `Metric.leads` come first; otherwise they are sorted by name.
    `known` has all plugins.
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
    """Holds the features of some rows, which are the columns of X, and says which of them the page shows.

    Parameters
    ----------
    rows : the rows.
    ranking : the ranking of their features.
    best : how many of the best features to show in detail.

    Attributes
    ----------
    rows, ranking : as the parameters.
    schema : of the rows.
    shown : int64 (n,), ascending: the features that the page shows, the 30,000 best by the first metric, or all.
    best : int64 (n,), the features shown in detail, the best by the first metric first; without those that do not vary.
    supervised : whether one of the metrics needs a class.
    tasks : the codes of the classes to tell from the rest, see `ContingencyTable.tasks`; [] if no metric needs a class,
        or the class is numeric.
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
    """Return ``features`` of the page: names, extremes, scores, best tests and small pictures of the features shown.

    Scores are NaN where a feature does not vary, and extremes where it is nominal.
    """
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
        "strips": {"bins": BINS, "counts": base64.b64encode(ranking.small_histograms[shown].tobytes()).decode()},
    }


def _list_distinct_best_tests(features: Features) -> tuple[dict[str, Any], np.ndarray]:
    """Return ``points`` of the page, and which point of each feature shown is best by each metric.

    The points of a feature are its best tests by all metrics, each once, sorted by class and threshold. A feature that
    does not vary has none. If a metric needs a class, and the class is numeric, no feature has any.

    The second result is int64 (features shown, metrics), the number of the point among those of the feature, from 0;
    -1 for a feature without points.
    """
    ranking, shown = features.ranking, features.shown
    count = len(ranking.metrics)
    has_tests = bool(features.tasks) or not features.supervised  # none by a numeric class
    columns = np.repeat(np.flatnonzero(ranking.varied[shown] & has_tests), count)
    every = shown[columns[::count]]
    task, threshold, tp, fp = (each[every].ravel() for each in ranking.best_tests[:4])
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
    """Return ``tasks`` of the page: a dictionary for each class to tell from the rest; [] without any.

    It has ``label``, the name of the class, ``pos``, the weight of its rows, and ``neg``, that of the rows of all other
    classes.
    """
    target, totals = features.schema.class_attribute, features.ranking.totals
    if target is None:
        return []
    total = float(totals.sum())
    return [
        {"label": target.values[code], "pos": float(totals[code]), "neg": total - float(totals[code])}
        for code in features.tasks
    ]


def compute_isoline_scores(metrics: list[Metric], tasks: list[dict[str, Any]]) -> dict[str, list[np.ndarray]]:
    """Return ``isolines`` of the page: the scores of features at the points of a grid in the ROC plane.

    The keys are names of metrics. A value is a list of arrays, one for each of the first six tasks, without tasks in
    which all rows or none are positive. An array is float32 (k²,), where k is the length of `ROC_AXIS_RATES`: the rates
    are the true-positive rates of its k blocks, and the false-positive rates of the k scores in each block.

    A metric is left out if its score does not follow from the two rates: because it needs no class, looks at whole
    columns or at no data, or has `Metric.classes` while there are several tasks.

    Parameters
    ----------
    metrics : the metrics.
    tasks : what `describe_tasks` returns.

    Raises
    ------
    PluginError : a metric fails, or returns something else than float64 (n,).
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
    """Return ``agreement`` of the page: the names of the metrics, and ``spearman``, which says how alike they rank.

    ``spearman`` is float32 (metrics, metrics), Spearman's correlation of the scores of each pair of metrics. Only
    features that vary count. It is NaN with fewer than two, and for a metric that scores all alike.
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
    """Return ``notes`` of the page, a sentence for each thing left out; `slow` names the slow metrics left out."""
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
