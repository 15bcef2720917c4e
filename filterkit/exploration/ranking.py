"""Ranks all features by several metrics: scores, best tests, and a small picture of each feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from filterkit.chains.column_fitting import fit_in_passes
from filterkit.chains.queries import Passes
from filterkit.chains.rows import Rows
from filterkit.counts.best_tests import BestTests, find_best_tests
from filterkit.counts.class_parts import SparseParts, sum_over_parts
from filterkit.counts.metric import Metric
from filterkit.counts.scoring import score_columns
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import Thresholds
from filterkit.exploration.extents import MeasuringStage
from filterkit.plugin.lookup import find_metric
from filterkit.stages.base import State

BINS = 12  # of the small picture of a feature
_MANY_TASKS = 20  # with more, the tests that are best by the first metric stand for those by the others


@dataclass(eq=False)
class Ranking:
    """Holds scores, best tests and a few counts of all features.

    Attributes
    ----------
    metrics : the metrics; features are ranked by the first.
    totals : float64 (classes,), the weight of the rows of each class, or of all rows if no metric needs a class.
    scores : float64 (features, metrics).
    varied : bool (features,), whether a feature has more than one value.
    strips : uint8 (features, 2, `BINS`), see `_compute_bin_shares`.
    low, high : float64 (features,), the least and the largest value.
    nonzero, missing : float64 (features,), the weights of the rows whose value is neither zero nor missing, or missing.
    distinct : int64 (features,), the number of distinct values.
    whole : bool (features,), whether all values are whole numbers.
    pure : bool (features,), whether all rows with the same value are of one class.
    tests : the best test of each feature by each metric; its arrays are (features, metrics).
    """

    metrics: list[Metric]
    totals: np.ndarray
    scores: np.ndarray
    varied: np.ndarray
    strips: np.ndarray
    low: np.ndarray
    high: np.ndarray
    nonzero: np.ndarray
    missing: np.ndarray
    distinct: np.ndarray
    whole: np.ndarray
    pure: np.ndarray
    tests: BestTests


def rank_features(
    rows: Rows, metrics: Callable[[], Sequence[Metric]], supervised: bool, memory: int
) -> Passes[Ranking]:
    """Return the `Ranking` of the columns of some rows by several metrics; `supervised` if one of them needs a class.

    `metrics` returns them, at least one, and is called once, after the first pass; `memory` is as for `Chain.fit`.
    Raise StageError if a value is infinite, a weight cannot be counted, or there is no class, and PluginError if a
    metric fails, or a score of it is not finite.
    """
    stage = _RankColumns(metrics, supervised)
    (fitted,) = yield from fit_in_passes([stage], rows, memory)
    state = dict(fitted.state)
    tests = BestTests(*(state.pop(name) for name in BestTests._fields))
    return Ranking(stage.metrics, stage.totals, **state, tests=tests)


class _RankColumns(MeasuringStage):
    """Learns what `Ranking` holds; parameters as for `rank_features`."""

    def __init__(self, metrics: Callable[[], Sequence[Metric]], supervised: bool) -> None:
        super().__init__()
        self.needs_class = supervised
        self._choose_metrics = metrics

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (partial(map, find_metric, [metric.name for metric in self.metrics]), self.needs_class)

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics, from the end of the first pass on."""
        return list(self._choose_metrics())

    def fit_columns(self, table: ContingencyTable) -> State:
        thresholds = Thresholds(table)
        tests, scores = self._score_by_each_metric(thresholds)
        low, high = table.extremes()
        cells = table.with_zeros()
        parts = SparseParts.from_parts(cells.cell_parts)
        whole, pure = (
            np.bincount(cells.column_of_cell[is_other], minlength=len(cells)) == 0
            for is_other in (cells.values != np.rint(cells.values), np.diff(parts.starts) > 1)
        )
        return {
            "scores": np.stack(scores, axis=1),
            "varied": thresholds.varied,
            "strips": _compute_bin_shares(cells, parts, low, high, tests[0].task),
            "low": low,
            "high": high,
            "nonzero": table.nonzero_rows,
            "missing": table.missing_rows,
            "distinct": np.diff(cells.indptr),
            "whole": whole,
            "pure": pure,
            **{name: np.stack([getattr(each, name) for each in tests], axis=1) for name in BestTests._fields},
        }

    def _score_by_each_metric(self, thresholds: Thresholds) -> tuple[list[BestTests], list[np.ndarray]]:
        """Return the best tests, and float64 (columns,) scores, by each metric.

        With many classes, and for metrics that do not look at data, the best tests are those by the first metric.
        """
        tasks = thresholds.table.tasks() if self.needs_class else []
        tests: list[BestTests] = []
        scores = []
        for metric in self.metrics:
            own = not tests or (metric.by_column is None and len(tasks) <= _MANY_TASKS)
            tests.append(find_best_tests(thresholds, metric) if own else tests[0])
            # Where the score of a column is that of its best test, it is known.
            one_test = metric.by_table is None and (metric.by_labels is None or not thresholds.table.nominal.any())
            if own and one_test and metric.by_column is None and (len(tasks) < 2 or metric.classes is None):
                scores.append(np.where(thresholds.varied, tests[-1].score, 0.0))
            else:
                scores.append(score_columns(thresholds, metric))
        return tests, scores


def _compute_bin_shares(
    cells: ContingencyTable, parts: SparseParts, low: np.ndarray, high: np.ndarray, task: np.ndarray
) -> np.ndarray:
    """Return the shares of rows of each column in 12 bins, of a class and of the rest: uint8 (k, 2, 12).

    255 is a share of 1; shares are rounded up. `task` is int64 (k,), the class of each column, and `parts` are the
    weights of the cells. The bins are of equal width from `low` to `high`, or of labels. If all rows count as one
    class, or the class is numeric, the second share is 0.
    """
    column = cells.column_of_cell
    half = (high / 2 - low / 2)[column]  # the width itself may be infinite
    share = np.divide(cells.values / 2 - low[column] / 2, half, out=np.zeros(len(column)), where=half > 0)
    labels = np.maximum(cells.schema.label_counts[cells.columns], BINS)[column]
    share = np.where(cells.nominal[column], cells.values / labels, share)
    at = column * BINS + np.clip((share * BINS).astype(np.int64), 0, BINS - 1)
    own = cells.rows
    if len(cells.totals) > 1 and not cells.numeric_class:
        is_own = parts.code == task[column][parts.position_of_entry]
        own = np.bincount(parts.position_of_entry[is_own], sum_over_parts(parts.parts)[is_own], len(column))
    strips = np.zeros((len(cells), 2, BINS), np.uint8)
    for number, weights in enumerate((own, np.maximum(cells.rows - own, 0.0))):
        counts = np.bincount(at, weights, len(cells) * BINS).reshape(-1, BINS)
        total = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
        strips[:, number] = np.ceil(shares * 255)  # a single row shows
    return strips
