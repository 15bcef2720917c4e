"""The best features in detail: histograms before and after a chain, shape curves, and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.fitting import FittedStep
from filterkit.chains.queries import Passes, run_passes
from filterkit.counts.overview import Overview
from filterkit.data.schema import Schema
from filterkit.exploration.correlation import correlations
from filterkit.exploration.curves import curves, with_curve
from filterkit.exploration.extents import Extents
from filterkit.exploration.features import Features
from filterkit.exploration.histograms import Histograms, histograms
from filterkit.exploration.short import short
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage

_MOST_COLUMNS = 6  # that come out of one feature
_MOST_CORRELATED = 100


class Chain(NamedTuple):
    """The stages behind the features.

    Attributes
    ----------
    stages : the stages; perhaps none.
    passed : the same, fitted, with what comes out of them.
    before, after : the extents of the features, and of the columns that come out of the last stage; None without
        stages.
    """

    stages: Sequence[Stage]
    passed: Sequence[FittedStep]
    before: Extents
    after: Extents | None


def details(features: Features, chain: Chain, known: Registry, memory: int, overview: Overview) -> dict[str, Any]:
    """``details`` and ``correlation`` of the page, of the best features, in one pass over the rows.

    Parameters
    ----------
    features : the features.
    chain : the stages behind them.
    known : the plugins, one of which may offer a stage with a curve.
    memory : bytes, as for `Chain.fit`.
    overview : of the rows of the features.

    Raises
    ------
    StageError : a stage fails on these rows.
    """
    if not len(features.best):
        return {"details": [], "correlation": {"features": [], "r": []}}
    columns = np.sort(features.best)
    origin = _origins(features.schema, chain.passed)
    outgoing = _chosen(origin, columns)
    stage = with_curve(chain.stages, known) if features.has_curves else None
    before, drawn, after, correlation = run_passes(
        histograms(features.rows, columns, chain.before),
        _nothing() if stage is None else curves(features.rows, columns, stage, memory),
        _nothing()
        if chain.after is None or not len(outgoing)
        else histograms(chain.passed[-1].rows, outgoing, chain.after),
        _correlated(features, overview),
    )
    return {
        "details": [
            {
                "feature": int(features.place(column)),
                "before": before.of(at),
                "curves": [] if drawn is None else drawn.of(at),
                "after": [] if after is None else _columns(after, np.flatnonzero(origin[outgoing] == column)),
            }
            for column, at in zip(features.best, np.searchsorted(columns, features.best).tolist())
        ],
        "correlation": correlation,
    }


def _nothing() -> Passes[None]:
    """Finds nothing out."""
    return
    yield


def _columns(made: Histograms, numbers: np.ndarray) -> list[dict[str, Any]]:
    """Some columns, as the page wants them."""
    names = [attribute.name for attribute in made.schema.features]
    return [{"name": names[number], "histogram": made.of(number)} for number in numbers.tolist()]


def _chosen(origin: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """int64, ascending: the first columns that come out of each of some features."""
    found = np.flatnonzero(np.isin(origin, columns))
    order = np.argsort(origin[found], kind="stable")
    own = origin[found][order]
    rank = np.arange(len(own)) - np.searchsorted(own, own)
    return np.sort(found[order][rank < _MOST_COLUMNS])


def _origins(schema: Schema, passed: Sequence[FittedStep]) -> np.ndarray:
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


def _correlated(features: Features, overview: Overview) -> Passes[dict[str, Any]]:
    """``correlation`` of the page: of the best features that are numbers or have two labels."""
    schema = features.schema
    usable = [i for i in features.best.tolist() if schema.label_counts[i] in (0, 2)][:_MOST_CORRELATED]
    columns = np.array(sorted(usable), np.int64)
    if len(columns) < 2:
        return {"features": [], "r": []}
    found = yield from correlations(features.rows, columns, overview)
    at = np.searchsorted(columns, usable)
    return {"features": features.place(np.array(usable)), "r": short(found[np.ix_(at, at)])}
