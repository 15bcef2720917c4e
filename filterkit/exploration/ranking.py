"""Ranks all features by several metrics: scores, best tests, and a small picture of each feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from filterkit.chains.column_fitting import fit_in_passes
from filterkit.chains.queries import Passes
from filterkit.chains.rows import Rows
from filterkit.counts.best_tests import BestTests, best_tests
from filterkit.counts.class_parts import SparseParts
from filterkit.counts.metric import Metric
from filterkit.counts.table import ContingencyTable
from filterkit.counts.thresholds import Thresholds, score_columns
from filterkit.data.schema import Schema
from filterkit.plugin.registry import find_metric
from filterkit.stages.columns import ColumnStage, FittedColumns, State

BINS = 12  # of the small picture of a feature
_MANY_TASKS = 20  # with more, the tests that are best by the first metric stand for those by the others


class Ranking:
    """All features, scored.

    Attributes
    ----------
    metrics : the metrics, the first decides.
    scores : float64 (features, metrics).
    varied : bool (features,), whether a feature has more than one value.
    tests : `BestTests` of each metric.
    strips : uint8 (features, 2, `BINS`), see `_strips`.
    low, high : float64 (features,), the least and the largest value.
    nonzero, missing : float64 (features,), weights of rows.
    distinct : int64 (features,), the number of distinct values.
    whole : bool (features,), whether all values are whole numbers.
    pure : bool (features,), whether all rows with the same value are of one class.
    totals : float64 (classes,), the weight of the rows of each class, or of all rows if no metric needs a class.
    """

    def __init__(self, metrics: list[Metric], state: State, totals: np.ndarray) -> None:
        self.metrics = metrics
        self.totals = totals
        self.scores: np.ndarray = state["scores"]
        self.varied: np.ndarray = state["varied"]
        self.tests = [
            BestTests(*(state[name][:, number] for name in BestTests._fields)) for number in range(len(metrics))
        ]
        self.strips: np.ndarray = state["strips"]
        self.low: np.ndarray = state["low"]
        self.high: np.ndarray = state["high"]
        self.nonzero: np.ndarray = state["nonzero"]
        self.missing: np.ndarray = state["missing"]
        self.distinct: np.ndarray = state["distinct"]
        self.whole: np.ndarray = state["whole"]
        self.pure: np.ndarray = state["pure"]

    def __len__(self) -> int:
        return len(self.varied)

    def order(self, number: int = 0) -> np.ndarray:
        """int64 (features,): the features by a metric, the best first; those that do not vary come last."""
        return np.lexsort((-self.scores[:, number], ~self.varied))


def rank(rows: Rows, metrics: Callable[[], Sequence[Metric]], supervised: bool, memory: int) -> Passes[Ranking]:
    """Score the features of some rows by several metrics.

    Parameters
    ----------
    rows : the rows.
    metrics : gives the metrics, at least one; it is called once after the first pass.
    supervised : whether one of them needs a class.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : a value is infinite, or a metric needs a class and there is none.
    """
    stage = _Ranked(metrics, supervised)
    (fitted,) = yield from fit_in_passes([stage], rows, memory)
    return Ranking(stage.metrics, fitted.state, stage.totals)


class _Ranked(ColumnStage):
    """Learns what `Ranking` holds; parameters as for `rank`."""

    name = "explore"

    def __init__(self, metrics: Callable[[], Sequence[Metric]], supervised: bool) -> None:
        self._chosen = metrics
        self._supervised = supervised
        self.totals = np.zeros(0)  # until it is fitted

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, ([metric.name for metric in self.metrics], self._supervised)

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics, from the end of the first pass on."""
        return list(self._chosen())

    @property
    def needs_class(self) -> bool:
        return self._supervised

    def fit_columns(self, table: ContingencyTable) -> State:
        thresholds = Thresholds(table)
        tests, scores = self._looked_up(thresholds)
        low, high = table.extremes()
        cells = table.with_zeros()
        return {
            "scores": np.stack(scores, axis=1),
            "varied": thresholds.varied,
            "strips": _strips(cells, low, high, tests[0].task),
            "low": low,
            "high": high,
            "nonzero": table.nonzero_rows,
            "missing": table.missing_rows,
            "distinct": np.diff(cells.indptr),
            "whole": _of_all_cells(cells, cells.values == np.rint(cells.values)),
            "pure": _of_all_cells(cells, _classes_of_cells(cells) < 2),
            **{name: np.stack([getattr(each, name) for each in tests], axis=1) for name in BestTests._fields},
        }

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return values.copy()

    def finish(self, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
        self.totals = totals
        return super().finish(schema, state, totals)

    def _looked_up(self, thresholds: Thresholds) -> tuple[list[BestTests], list[np.ndarray]]:
        """The best tests, and float64 (columns,) scores, of each metric."""
        tasks = thresholds.table.tasks() if self.needs_class else []
        tests: list[BestTests] = []
        scores = []
        for metric in self.metrics:
            own = not tests or (metric.by_column is None and len(tasks) <= _MANY_TASKS)
            tests.append(best_tests(thresholds, metric) if own else tests[0])
            if own and _scores_tests(metric, len(tasks), thresholds.table):
                scores.append(np.where(thresholds.varied, tests[-1].score, 0.0))
            else:
                scores.append(score_columns(thresholds, metric))
        return tests, scores


def _scores_tests(metric: Metric, tasks: int, table: ContingencyTable) -> bool:
    """Whether the score of a column is that of its best test, with so many classes against the rest."""
    one_test = metric.by_column is None and metric.by_table is None
    one_test = one_test and (metric.by_labels is None or not table.nominal.any())
    return one_test and (tasks < 2 or metric.classes is None)


def _named(names: list[str], supervised: bool) -> _Ranked:
    return _Ranked(lambda: [find_metric(name) for name in names], supervised)


def _of_all_cells(cells: ContingencyTable, flags: np.ndarray) -> np.ndarray:
    """bool (columns,): whether a flag holds of all cells of a column."""
    return np.asarray(np.bincount(cells.column_of_cell[~flags], minlength=len(cells)) == 0)


def _classes_of_cells(cells: ContingencyTable) -> np.ndarray:
    """int64 (cells,): how many classes have rows with the value of each cell."""
    if isinstance(cells.cell_parts, SparseParts):
        return np.diff(cells.cell_parts.starts)
    return np.asarray(np.count_nonzero(cells.counts, axis=1))


def weights_of(cells: ContingencyTable, code: np.ndarray) -> np.ndarray:
    """float64 (cells,): the weight of the rows of one class with the value of each cell; `code` is int (cells,)."""
    if not isinstance(cells.cell_parts, SparseParts):
        return np.asarray(cells.counts[np.arange(len(code)), code])
    parts = cells.cell_parts
    own = parts.code == code[parts.place]
    return np.bincount(parts.place[own], parts.weights[own], len(code))


def _strips(cells: ContingencyTable, low: np.ndarray, high: np.ndarray, task: np.ndarray) -> np.ndarray:
    """uint8 (columns, 2, `BINS`): the shares, from 0 to 255, of the rows of a class of each column, and of the rest.

    They go by value: from `low` to `high` in parts of equal width, or by label. Without classes the second is 0.
    """
    column = cells.column_of_cell
    at = _places(cells, low, high)
    if len(cells.totals) == 1:
        both = [cells.rows, np.zeros(len(column))]
    else:
        own = weights_of(cells, task[column])
        both = [own, np.maximum(cells.rows - own, 0.0)]
    found = np.zeros((len(cells), 2, BINS), np.uint8)
    for number, weights in enumerate(both):
        counts = np.bincount(column * BINS + at, weights, len(cells) * BINS).reshape(-1, BINS)
        total = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
        found[:, number] = np.ceil(shares * 255)  # a single row shows
    return found


def _places(cells: ContingencyTable, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """int64 (cells,): the bin of each cell."""
    column, labels = cells.column_of_cell, cells.schema.label_counts[cells.columns]
    half = high / 2 - low / 2  # the width itself may be infinite
    share = np.divide(
        cells.values / 2 - low[column] / 2, half[column], out=np.zeros(len(column)), where=half[column] > 0
    )
    nominal = cells.nominal[column]
    share[nominal] = cells.values[nominal] / np.maximum(labels[column[nominal]], BINS)
    return np.asarray(np.clip((share * BINS).astype(np.int64), 0, BINS - 1))
