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
from filterkit.counts.class_parts import SparseClassWeights, sum_over_parts
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
    """Holds scores, best tests and a few counts of all features, in the order of the columns of X.

    Missing values do not count as values here.

    Attributes
    ----------
    metrics : the metrics; features are ranked by the first.
    totals : float64 (classes,), the weight of the rows of each class. It is (1,), the weight of all rows, if no metric
        needs a class, or the class is numeric.
    scores : float64 (features, metrics).
    varied : bool (features,), whether a feature has more than one value.
    small_histograms : uint8 (features, 2, `BINS`), those of each feature, see `_compute_bin_shares`. The class is that
        of its best test by the first metric.
    low, high : float64 (features,), the least and the largest value; 0 without values.
    nonzero : float64 (features,), the weight of the rows whose value is neither zero nor missing.
    missing : float64 (features,), the weight of the rows whose value is missing.
    distinct : int64 (features,), the number of distinct values.
    only_whole_numbers : bool (features,), whether all values are whole numbers.
    determines_class : bool (features,), whether all rows with the same value are of one class; it means nothing of a
        numeric class.
    best_tests : the best test of each feature by each metric; its arrays are (features, metrics).
    """

    metrics: list[Metric]
    totals: np.ndarray
    scores: np.ndarray
    varied: np.ndarray
    small_histograms: np.ndarray
    low: np.ndarray
    high: np.ndarray
    nonzero: np.ndarray
    missing: np.ndarray
    distinct: np.ndarray
    only_whole_numbers: np.ndarray
    determines_class: np.ndarray
    best_tests: BestTests


def rank_features(
    rows: Rows, metrics: Callable[[], Sequence[Metric]], supervised: bool, memory: int
) -> Passes[Ranking]:
    """Score all columns of X of some rows by several metrics.

    This is a generator of queries. Run by `run_passes`, it returns the `Ranking`.

    Parameters
    ----------
    rows : the rows.
    metrics : a function that returns the metrics, at least one. It is called once, when the first pass has ended.
    supervised : whether one of the metrics needs a class.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : a value is infinite, a weight cannot be counted, or there is no class although `supervised`.
    PluginError : a metric fails, or a score of it is not finite.
    """
    stage = _RankingStage(metrics, supervised)
    (fitted,) = yield from fit_in_passes([stage], rows, memory)
    state = dict(fitted.state)
    tests = BestTests(*(state.pop(name) for name in BestTests._fields))
    return Ranking(stage.metrics, stage.totals, **state, best_tests=tests)


class _RankingStage(MeasuringStage):
    """Learns what `Ranking` holds of each column; `metrics` and `supervised` are as for `rank_features`."""

    def __init__(self, metrics: Callable[[], Sequence[Metric]], supervised: bool) -> None:
        super().__init__()
        self.needs_class = supervised
        self._choose_metrics = metrics

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (partial(map, find_metric, [metric.name for metric in self.metrics]), self.needs_class)

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics; it must not be read before the first pass has ended, because the first reading asks for them."""
        return list(self._choose_metrics())

    def fit_columns(self, table: ContingencyTable) -> State:
        thresholds = Thresholds(table)
        tests, scores = self._score_by_each_metric(thresholds)
        low, high = table.extremes()
        cells = table.with_zeros()
        parts = SparseClassWeights.from_parts(cells.cell_parts)
        only_whole_numbers, determines_class = (
            np.bincount(cells.column_of_cell[is_other], minlength=len(cells)) == 0
            for is_other in (cells.values != np.rint(cells.values), np.diff(parts.starts) > 1)
        )
        return {
            "scores": np.stack(scores, axis=1),
            "varied": thresholds.varied,
            "small_histograms": _compute_bin_shares(cells, parts, low, high, tests[0].task),
            "low": low,
            "high": high,
            "nonzero": table.nonzero_rows,
            "missing": table.missing_rows,
            "distinct": np.diff(cells.indptr),
            "only_whole_numbers": only_whole_numbers,
            "determines_class": determines_class,
            **{name: np.stack([getattr(each, name) for each in tests], axis=1) for name in BestTests._fields},
        }

    def _score_by_each_metric(self, thresholds: Thresholds) -> tuple[list[BestTests], list[np.ndarray]]:
        """Return two lists with an entry for each metric: the best tests, and the scores, float64 (columns,).

        The best tests by the first metric stand also for those by metrics that do not look at data. With more than 20
        classes to tell from the rest, they stand for those by all metrics.
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
    cells: ContingencyTable, parts: SparseClassWeights, low: np.ndarray, high: np.ndarray, task: np.ndarray
) -> np.ndarray:
    """Return two histograms of each of k columns, first of the rows of one class, then of all others: uint8 (k, 2, 12).

    An entry is the share of these rows that is in a bin: 255 stands for all, 0 for none; what lies between is rounded
    up. Rows without a value do not count. If all rows count as one class, or the class is numeric, the first histogram
    is of all rows, and the second is 0. The 12 bins are of equal width from `low` to `high`. In a nominal column, each
    is for one label, or for several if there are more than 12.

    Parameters
    ----------
    cells : the table of the columns, in which zeros have cells.
    parts : the weights of its cells, `ContingencyTable.cell_parts`.
    low, high : float64 (k,), the least and the largest value of each column.
    task : int64 (k,), the code of the class of the first histogram of each column.
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
