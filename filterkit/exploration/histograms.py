"""Histograms of some columns by class, and the distinct values of each with the numbers of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.passes import fit_column_stages
from filterkit.chains.rows import TrainingRows
from filterkit.counts.table import ContingencyTable
from filterkit.data.attributes import Attribute
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.stages.columns import ColumnStage, FittedColumns, State

_BINS = 40
_MOST_CLASSES = 10  # of a histogram; the classes with the fewest rows are taken together
_MOST_VALUES = 200  # of a curve
_SPECIAL = 0.25  # zeros of more than this share of the rows are counted apart
_OTHERS = "others"


class Histograms(NamedTuple):
    """Some columns, by class.

    Attributes
    ----------
    schema : of the columns.
    classes : the names of the classes counted, of which the last may be all others; ``[""]`` without a nominal class.
    edges : float64 (columns, bins + 1), NaN behind the last edge of a column, and all NaN for a nominal one.
    counts : float64 (columns, classes, bins), the weights of rows; of a nominal column by label, where the last bin
        holds all labels from there on.
    zero : float64 (columns, classes), of the zeros that are counted apart; NaN if they are in `counts`.
    missing : float64 (columns, classes).
    values, rows : the distinct values of each column, thinned to `_MOST_VALUES`, and the weight of the rows with a
        value up to each and above the one before.
    """

    schema: Schema
    classes: list[str]
    edges: np.ndarray
    counts: np.ndarray
    zero: np.ndarray
    missing: np.ndarray
    values: Ragged
    rows: Ragged

    def of(self, column: int) -> dict[str, Any]:
        """One column, as the page wants it."""
        found = {"classes": self.classes, "missing": self.missing[column]}
        attribute = self.schema.features[column]
        if attribute.kind == "nominal":
            labels = list(attribute.values)
            if len(labels) > _BINS:
                labels = [*labels[: _BINS - 1], f"{len(labels) - _BINS + 1:,} {_OTHERS}"]
            return found | {"labels": labels, "counts": self.counts[column, :, : len(labels)]}
        edges = self.edges[column]
        edges = edges[~np.isnan(edges)]
        zero = self.zero[column]
        return found | {
            "edges": edges,
            "counts": self.counts[column, :, : max(len(edges) - 1, 0)],
            "zero": None if np.isnan(zero).any() else zero,
        }


def histograms(
    rows: TrainingRows, memory: int, stages: Sequence[ColumnStage] = ()
) -> tuple[Histograms, list[FittedColumns]]:
    """Count the values of all columns by class, where there is a nominal one.

    Parameters
    ----------
    rows : of few columns.
    memory : bytes, as for `Chain.fit`.
    stages : that are fitted on the same rows, in the same pass.

    Returns
    -------
    The histograms, and the fitted stages.

    Raises
    ------
    StageError : a value is infinite, or a stage cannot be fitted.
    """
    target = rows.schema.class_attribute
    supervised = target is not None and target.kind == "nominal"
    counted, *fitted = fit_column_stages([_Counted(supervised), *stages], rows, memory)
    state = counted.state
    classes = [""]
    if supervised and target is not None:
        order = state["order"][0].tolist() if len(state["order"]) else [*range(len(target.values))]
        classes = _classes(target, order, rows.schema.positive)
    names = ("edges", "counts", "zero", "missing", "values", "rows")
    return Histograms(rows.schema, classes, *(state[name] for name in names)), fitted


def _classes(target: Attribute, order: list[int], positive: str | None) -> list[str]:
    """The names of the classes counted: those with most rows by themselves, or only the positive one."""
    most = _MOST_CLASSES if positive is None else 2
    found = [target.values[code] for code in order[:most]]
    if len(order) > most:
        found[-1] = f"{len(order) - most + 1:,} {_OTHERS}"
    return found


class _Counted(ColumnStage):
    """Learns what `Histograms` holds."""

    name = "explore"

    def __init__(self, supervised: bool) -> None:
        self._supervised = supervised

    def __reduce__(self) -> tuple[Any, ...]:
        return _Counted, (self._supervised,)

    @property
    def needs_class(self) -> bool:
        return self._supervised

    def fit_columns(self, table: ContingencyTable) -> State:
        order = np.argsort(-table.totals, kind="stable")
        positive, most = table.schema.positive, _MOST_CLASSES
        if self._supervised and positive is not None:
            first, most = table.tasks()[0], 2
            order = np.concatenate([[first], order[order != first]])
        group = np.empty(len(order), np.int64)
        group[order] = np.minimum(np.arange(len(order)), most - 1)
        groups = int(group.max(initial=0)) + 1
        apart = ~table.nominal & (table.zero_rows > 0)
        apart &= table.schema.zero | (table.zero_rows > _SPECIAL * table.totals.sum())
        zero = np.where(apart[:, None], _grouped(table.zeros, group, groups), np.nan)
        cells = table.with_zeros()
        shown = np.flatnonzero((cells.values != 0) | ~apart[cells.column_of_cell])
        edges = _edges(cells, shown)
        column = cells.column_of_cell[shown]
        at = _bins(cells, shown, edges)
        counts = np.zeros((len(table), groups, _BINS))
        weights = _grouped(cells.counts[shown], group, groups)
        for number in range(groups):
            flat = np.bincount(column * _BINS + at, weights[:, number], len(table) * _BINS)
            counts[:, number] = flat.reshape(len(table), _BINS)
        values, number_of_rows = _curve(cells)
        return {
            "order": np.tile(order, (len(table), 1)),
            "edges": edges,
            "counts": counts,
            "zero": zero,
            "missing": _grouped(table.missing, group, groups),
            "values": values,
            "rows": number_of_rows,
        }

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        return values.copy()


def _grouped(weights: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """float64 (n, groups): weights (n, classes), added up by the group of each class."""
    found = np.zeros((len(weights), groups))
    np.add.at(found.T, group, weights.T)
    return found


def _edges(cells: ContingencyTable, shown: np.ndarray) -> np.ndarray:
    """`Histograms.edges` of the cells `shown`: around whole numbers that are not far apart, else of equal widths."""
    found = np.full((len(cells), _BINS + 1), np.nan)
    column, values = cells.column_of_cell[shown], cells.values[shown]
    bounds = np.searchsorted(column, np.arange(len(cells) + 1))
    for number, (begin, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist())):
        if begin == end or cells.nominal[number]:
            continue
        own = values[begin:end]
        low, high = float(own[0]), float(own[-1])
        if high - low < _BINS and (own == np.rint(own)).all():
            edges = np.arange(low - 0.5, high + 1)
        else:
            edges = np.linspace(low / 2, high / 2, _BINS + 1) * 2  # the width itself may be infinite
        found[number, : len(edges)] = edges
    return found


def _bins(cells: ContingencyTable, shown: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """int64 (shown,): the bin of each cell `shown`."""
    column, values = cells.column_of_cell[shown], cells.values[shown]
    found = np.minimum(values, _BINS - 1)
    bounds = np.searchsorted(column, np.arange(len(cells) + 1))
    for number in np.flatnonzero(~cells.nominal).tolist():
        own = slice(int(bounds[number]), int(bounds[number + 1]))
        known = edges[number][~np.isnan(edges[number])]
        found[own] = np.clip(np.searchsorted(known, values[own], "right") - 1, 0, max(len(known) - 2, 0))
    return np.asarray(found).astype(np.int64)


def _curve(cells: ContingencyTable) -> tuple[Ragged, Ragged]:
    """`Histograms.values` and `Histograms.rows`: all values, or those at ranks of rows that are equally far apart."""
    starts, values, rows = [0], [], []
    for own, upto in _columns(cells):
        keep = np.arange(len(own))
        if len(own) > _MOST_VALUES:
            ranks = np.linspace(0, upto[-1], _MOST_VALUES)
            keep = np.unique(np.append(np.searchsorted(upto, ranks), len(own) - 1).clip(0, len(own) - 1))
        values.append(own[keep])
        rows.append(np.diff(upto[keep], prepend=0.0))
        starts.append(starts[-1] + len(keep))
    indptr = np.array(starts)
    return Ragged(indptr, np.concatenate([np.zeros(0), *values])), Ragged(indptr, np.concatenate([np.zeros(0), *rows]))


def _columns(cells: ContingencyTable) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The values of each column, and the weight of the rows up to each."""
    for begin, end in zip(cells.indptr[:-1].tolist(), cells.indptr[1:].tolist()):
        yield cells.values[begin:end], np.cumsum(cells.rows[begin:end])
