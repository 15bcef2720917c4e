"""The check of metrics: finite scores for all counts that real data may have."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from filterkit.counts.metric import Metric
from filterkit.data.contract import check_returned_numbers
from filterkit.stages.base import Stage
from filterkit.testing.findings import convert_plugin_errors_to_assertions

# The weights of all positive and of all negative rows: whole numbers, equal and very unequal, and then fractions, as
# instance weights give them.
_WHOLE = ((1.0, 1.0), (3.0, 5.0), (5.0, 3.0), (4.0, 4.0), (1.0, 2000.0), (2000.0, 1.0))
_TOTALS = (*_WHOLE, (0.5, 0.25), (0.001, 7.25), (0.1, 0.1), (1000000.5, 3.75))
_SHARES = (0.0, 0.25, 0.5, 1.0)


def check_metric_of_stage(stage: Stage) -> None:
    """Check that the metric of a stage returns a finite float64 for any counts; a stage without a metric passes.

    Among the counts are those of features in no row, in all rows, and in all rows of one class. The score of a feature
    must depend on its own counts alone, and the metric must not change its arguments. The other functions of a metric
    must agree with it.
    """
    metric = getattr(stage, "metric", None)
    if not isinstance(metric, Metric):
        return
    totals_of_classes = _TOTALS if metric.needs_class else tuple((pos, 0.0) for pos, _ in _TOTALS)
    for pos, neg in totals_of_classes if metric.by_column is None else ():
        tp, fp = (np.array(counts) for counts in zip(*product(_list_weights_up_to(pos), _list_weights_up_to(neg))))
        shown = [f"tp={t:g}, fp={f:g}, pos={pos:g}, neg={neg:g}" for t, f in zip(tp.tolist(), fp.tolist())]
        _check_scores(metric, "score", [tp, fp], shown, pos, neg)
    if metric.classes is not None:
        for totals in ((2.0, 3.0, 4.0), (1.0, 1.0, 1.0), (0.5, 7.25, 0.001, 3.0)):
            counts = np.array(list(product(*map(_list_weights_up_to, totals))))
            shown = [f"counts={row} of totals={list(totals)}" for row in counts.tolist()]
            _check_scores(metric, "classes", [counts], shown, np.array(totals))
        _check_class_sums_give_same_scores(metric)
    if metric.best_at_ends:
        _check_best_score_at_ends_of_fp_range(metric)
    if metric.bound is not None:
        _check_bound(metric)
    for seed in (0, 1) if metric.by_column is not None else ():
        columns = np.array([0, 1, 5, 100_000])
        shown = [f"column {column} and seed {seed}" for column in columns.tolist()]
        _check_scores(metric, "by_column", [columns], shown, seed)


def _check_class_sums_give_same_scores(metric: Metric) -> None:
    """Check that `Metric.class_sums` gives the same scores as `Metric.classes`."""
    if metric.class_sums is None:
        return
    assert metric.classes is not None
    term, score = metric.class_sums
    for given in ((2.0, 3.0, 4.0), (1.0, 1.0, 1.0, 7.0)):
        totals = np.array(given)
        counts = np.array(list(product(*map(_list_weights_up_to, given))))
        sums = np.zeros(len(counts))
        for column, total in zip(counts.T, given):
            sums += _call_and_check_metric(metric, "term of class_sums", term, [column, np.full(len(column), total)])
        found = _call_and_check_metric(metric, "score of class_sums", score, [sums, counts.sum(axis=1)], totals)
        due = metric.classes(counts, totals)
        for at in np.flatnonzero(~np.isclose(found, due, rtol=1e-9, atol=1e-9))[:1].tolist():
            raise AssertionError(
                f"{metric.name}: for counts={counts[at].tolist()} of totals={list(given)}, class_sums gives "
                f"{found[at]:g} and classes {due[at]:g}: let both give the same"
            )


def _check_best_score_at_ends_of_fp_range(metric: Metric) -> None:
    """Check the promise `Metric.best_at_ends`: in a range of fp, no score exceeds the larger one of both ends.

    All ranges from fp = 1 to fp = neg − 1 are tried, for some tp.
    """
    for pos, neg in ((3.0, 40.0), (20.0, 40.0), (200.0, 40.0), (40.0, 700.0)):
        fp = np.arange(1.0, neg)
        for tp in {0.0, 1.0, np.rint(pos / 2), pos - 1, pos}:
            scores = metric.score(np.full(len(fp), tp), fp, pos, neg)
            before = np.minimum.accumulate(scores)[:-2]
            after = np.minimum.accumulate(scores[::-1])[::-1][2:]
            ends = np.maximum(before, after)
            inside = np.flatnonzero(scores[1:-1] > ends + 1e-9 * np.maximum(1, np.abs(ends)))
            for at in inside[:1].tolist():
                raise AssertionError(
                    f"{metric.name}: for tp={tp:g}, pos={pos:g} and neg={neg:g}, the score at fp={fp[at + 1]:g} is "
                    "larger than at lower and at higher fp: leave best_at_ends False"
                )


def _check_bound(metric: Metric) -> None:
    """Check that no score is larger than the `Metric.bound` of ranges that contain its counts."""
    for pos, neg in _TOTALS:
        ranges = [
            [(low, high) for low in parts for high in parts if low <= high]
            for parts in map(_list_weights_up_to, (pos, neg))
        ]
        ends = np.array([(*t, *f) for t, f in product(*ranges)]).T
        found = _call_and_check_metric(metric, "bound", metric.bound, list(ends), pos, neg)
        for tp_share, fp_share in product((0.0, 0.5, 1.0), repeat=2):
            tp = np.minimum(ends[0] + np.rint((ends[1] - ends[0]) * tp_share), ends[1])
            fp = np.minimum(ends[2] + np.rint((ends[3] - ends[2]) * fp_share), ends[3])
            for at in np.flatnonzero(~(metric.score(tp, fp, pos, neg) <= found))[:1].tolist():
                raise AssertionError(
                    f"{metric.name}: the score of tp={tp[at]:g}, fp={fp[at]:g}, pos={pos:g} and neg={neg:g} is larger "
                    f"than the bound of ranges with these counts, which is {found[at]:g}; return at least that"
                )


def _list_weights_up_to(total: float) -> list[float]:
    """List some weights from 0 to `total` (0, a quarter, half and all), ascending; rounded if `total` is whole."""
    parts = {total * share for share in _SHARES}
    return sorted({float(np.rint(part)) for part in parts} if total == int(total) else parts)


def _check_scores(metric: Metric, what: str, counts: list[np.ndarray], shown: list[str], *others: Any) -> None:
    """Check that a function of a metric returns finite scores, and that none depends on the other features.

    `what` is the name of the function. `counts` and `others` are as for `_call_and_check_metric`. `shown` describes
    each feature for messages.
    """
    function = getattr(metric, what)
    scores = _call_and_check_metric(metric, what, function, counts, *others)
    about = f"{metric.name}: {what} of the metric"
    for i in np.flatnonzero(~np.isfinite(scores))[:1].tolist():
        raise AssertionError(
            f"{about} is {scores[i]:g} for {shown[i]}: return a finite number for all counts; take care of 0 / 0"
        )
    halves = zip(*(np.array_split(array, 2) for array in counts))
    alone = [_call_and_check_metric(metric, what, function, list(half), *others) for half in halves]
    assert np.allclose(np.concatenate(alone), scores, rtol=1e-9), (
        f"{about} depends on the other features: compute each score from its own counts"
    )


def _call_and_check_metric(
    metric: Metric, what: str, function: Any, counts: list[np.ndarray], *others: Any
) -> np.ndarray:
    """Call a function of a metric with read-only counts, and return its result, float64 (features,).

    The `counts` are arrays with an entry, or a row, for each feature; `others` are the other arguments. Raise
    AssertionError if the function fails or returns something else; `what` is its name for the message.
    """
    given = [array.copy() for array in counts]
    for array in given:
        array.setflags(write=False)
    about = f"{what} of the metric"
    try:
        with np.errstate(all="ignore"):
            found = function(*given, *others)
    except Exception as error:
        repair = "; work on copies" if "read-only" in str(error) else ""
        raise AssertionError(f"{metric.name}: {about} fails with {type(error).__name__}: {error}{repair}") from error
    with convert_plugin_errors_to_assertions():
        return check_returned_numbers(found, counts[0].shape[:1], about, metric)
