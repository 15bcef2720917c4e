"""The best features in detail: histograms before and after a chain, shape curves, and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.queries import Passes, run_passes
from filterkit.chains.rows import Rows
from filterkit.counts.overview import Overview
from filterkit.data.schema import Schema
from filterkit.exploration.correlation import correlate_columns
from filterkit.exploration.curves import compute_class_mean_curves, compute_curves, find_curve_stage
from filterkit.exploration.extents import ColumnExtents
from filterkit.exploration.features import MOST_CURVES, Features
from filterkit.exploration.histograms import compute_histograms
from filterkit.exploration.short import round_to_four_digits
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Fitted, Stage

_MOST_COLUMNS = 6  # that come out of one feature
_MOST_CORRELATED = 100


class LaterStages(NamedTuple):
    """Holds the later stages of a chain: the first that learns from columns, and those after it.

    The columns that come to the first of them are the features.

    Attributes
    ----------
    stages : the later stages; perhaps none.
    fitted : the same stages, fitted.
    rows : the rows that come out of the last of them; without any, those of the features.
    before : the extents of the features.
    after : the extents of the columns that come out of the last stage; None without later stages.
    """

    stages: Sequence[Stage]
    fitted: Sequence[Fitted]
    rows: Rows
    before: ColumnExtents
    after: ColumnExtents | None


def describe_best_features(
    features: Features, later: LaterStages, known: Registry, memory: int, overview: Overview, class_: Any
) -> dict[str, Any]:
    """Return two entries of the page: ``details``, histograms and curves of the best features, and ``correlation``.

    Both are empty if there are no best features. It reads the rows.

    Parameters
    ----------
    features : the features.
    later : the stages after the features.
    known : the plugins, one of which may offer a stage whose curves are drawn.
    memory : bytes, as for `Chain.fit`.
    overview : the overview of the rows of the features.
    class_ : what ``overview`` of the page says of the class; None without a class.

    Raises
    ------
    StageError : a stage fails on these rows.
    """
    if not len(features.best):
        return {"details": [], "correlation": {"features": [], "r": []}}
    columns = np.sort(features.best)
    origin = _find_source_features(features.schema, later.fitted)
    # The first six columns made of each of the best features.
    order = np.argsort(origin, kind="stable")
    own = origin[order]
    rank = np.arange(len(own)) - np.searchsorted(own, own)
    outgoing = np.sort(order[np.isin(own, columns) & (rank < _MOST_COLUMNS)])
    stage = find_curve_stage(later.stages, known) if 0 < len(features.tasks) <= MOST_CURVES else None
    curves: Any = iter(()) if stage is None else compute_curves(features.rows, columns, stage, memory)
    if features.supervised and "mean" in class_:
        curves = compute_class_mean_curves(features.rows, columns, class_, memory)
    before, curves, after, correlation = run_passes(
        compute_histograms(features.rows, columns, later.before),
        curves,
        compute_histograms(later.rows, outgoing, later.after) if later.after and len(outgoing) else iter(()),
        _correlate_best_features(features, overview),
    )
    return {
        "details": [
            {
                "feature": int(np.searchsorted(features.shown, column)),
                "before": before.describe_column(at),
                "curves": [] if curves is None else curves.list_curves(at),
                "after": []
                if after is None
                else [
                    {"name": after.schema.features[number].name, "histogram": after.describe_column(number)}
                    for number in np.flatnonzero(origin[outgoing] == column).tolist()
                ],
            }
            for column, at in zip(features.best, np.searchsorted(columns, features.best).tolist())
        ],
        "correlation": correlation,
    }


def _find_source_features(schema: Schema, stages: Sequence[Fitted]) -> np.ndarray:
    """Find the feature that each column after the last of `stages` is made of: int64 (columns,), -1 if unknown.

    `schema` is that of the features. If `Fitted.columns` of a stage is None, each column that comes out of it counts as
    made of the incoming column of the same name; without one, its feature is unknown.
    """
    origin = np.arange(schema.width)
    for fitted in stages:
        if fitted.columns is not None:
            origin = origin[fitted.columns]
        else:
            number = {attribute.name: number for number, attribute in enumerate(schema.features)}
            incoming = np.array([number.get(attribute.name, -1) for attribute in fitted.schema.features], np.int64)
            origin = np.append(origin, -1)[incoming]  # the last stands for -1
        schema = fitted.schema
    return origin


def _correlate_best_features(features: Features, overview: Overview) -> Passes[dict[str, Any]]:
    """Compute ``correlation`` of the page: ``features``, and the correlation ``r`` of each pair of them.

    ``features`` are those in `Features.best` that are numeric or have two labels, at most 100, as indices in
    `Features.shown`, the best first. ``r`` is float32 (n, n). With fewer than two such features, both are empty. This
    is a generator of queries; run it by `run_passes`.
    """
    usable = features.best[np.isin(features.schema.label_counts[features.best], (0, 2))][:_MOST_CORRELATED]
    if len(usable) < 2:
        return {"features": [], "r": []}
    columns = np.sort(usable)
    r = yield from correlate_columns(features.rows, columns, overview)
    at = np.searchsorted(columns, usable)
    return {"features": np.searchsorted(features.shown, usable), "r": round_to_four_digits(r[np.ix_(at, at)])}
