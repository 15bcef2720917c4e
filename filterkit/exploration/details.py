"""The best features in detail: histograms before and after a chain, shape curves, and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from filterkit.chains.fitting import Passed
from filterkit.chains.rows import MappedRows
from filterkit.data.schema import Schema
from filterkit.exploration.correlation import correlations
from filterkit.exploration.curves import Curves, curves_of, with_curve
from filterkit.exploration.features import Features
from filterkit.exploration.histograms import Histograms, histograms
from filterkit.exploration.short import short
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage
from filterkit.stages.selective import OnlyColumns

_MOST_COLUMNS = 6  # that come out of one feature
_MOST_CORRELATED = 100


def details(
    features: Features, stages: Sequence[Stage], passed: Sequence[Passed], known: Registry, memory: int
) -> list[dict[str, Any]]:
    """``details`` of the page: the best features, the best first.

    Parameters
    ----------
    features : the features.
    stages : those behind the features.
    passed : the same, fitted, with what comes out of them.
    known : the plugins, one of which may offer a stage with a curve.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : a stage fails on these rows.
    """
    if not len(features.best):
        return []
    columns = np.sort(features.best)
    chosen = MappedRows(features.rows, OnlyColumns(features.schema, columns))
    stage = with_curve(stages, known) if features.has_curves else None
    before, fitted = histograms(chosen, memory, [] if stage is None else [stage])
    curves = curves_of(fitted[0], before.values) if fitted else None
    after = _after(columns, features.schema, passed, memory)
    return [
        {
            "feature": int(features.place(column)),
            "before": before.of(at),
            "curves": [] if curves is None else _curves(curves, before, at),
            "after": after.get(int(column), []),
        }
        for column, at in zip(features.best, np.searchsorted(columns, features.best).tolist())
    ]


def _curves(curves: Curves, before: Histograms, at: int) -> list[dict[str, Any]]:
    """The curves of one column, one for each task."""
    span = slice(*before.values.indptr[at : at + 2].tolist())
    return [
        {
            "task": number,
            "value": before.values.values[span],
            "p": short(curves.images[: span.stop - span.start, place]),
            "rows": before.rows.values[span],
            "what": curves.what,
            "stage": curves.words,
        }
        for number, place in enumerate(np.flatnonzero(curves.columns == at).tolist()[:_MOST_COLUMNS])
    ]


def _after(
    columns: np.ndarray, schema: Schema, passed: Sequence[Passed], memory: int
) -> dict[int, list[dict[str, Any]]]:
    """By number, the columns that come out of some features."""
    found: dict[int, list[dict[str, Any]]] = {}
    if not passed:
        return found
    rows, origin = passed[-1].rows, _origins(schema, passed)
    chosen = np.flatnonzero(np.isin(origin, columns))
    if not len(chosen):
        return found
    made, _ = histograms(MappedRows(rows, OnlyColumns(rows.schema, chosen)), memory)
    for number, column in enumerate(chosen.tolist()):
        of_feature = found.setdefault(int(origin[column]), [])
        if len(of_feature) < _MOST_COLUMNS:
            of_feature.append({"name": rows.schema.features[column].name, "histogram": made.of(number)})
    return found


def _origins(schema: Schema, passed: Sequence[Passed]) -> np.ndarray:
    """int64 (columns that come out,): the feature that each comes from, -1 if nothing says so."""
    origin, before = np.arange(schema.width), schema
    for fitted, _ in passed:
        after = fitted.schema
        if fitted.columns is not None:
            origin = origin[fitted.columns]
        else:
            place = {attribute.name: number for number, attribute in enumerate(before.features)}
            known = np.array([place.get(attribute.name, -1) for attribute in after.features], np.int64)
            origin = np.append(origin, -1)[known]  # the last stands for -1
        before = after
    return origin


def correlated(features: Features, weight: float) -> dict[str, Any]:
    """``correlation`` of the page: of the best features that are numbers or have two labels.

    `weight` is the largest of a row.
    """
    schema = features.schema
    usable = [i for i in features.best.tolist() if schema.label_counts[i] in (0, 2)][:_MOST_CORRELATED]
    columns = np.array(sorted(usable), np.int64)
    if len(columns) < 2:
        return {"features": [], "r": []}
    chosen = MappedRows(features.rows, OnlyColumns(schema, columns))
    found = correlations(chosen, features.ranking.low[columns], features.ranking.high[columns], weight)
    at = np.searchsorted(columns, usable)
    return {"features": features.place(np.array(usable)), "r": short(found[np.ix_(at, at)])}
