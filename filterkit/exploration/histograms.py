"""Histograms of some columns by class."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.queries import Passes, Query
from filterkit.chains.rows import Rows
from filterkit.counts.cells import entries, infinite_value
from filterkit.counts.weights import add_parts, rows_that_count, sum_parts
from filterkit.data.attributes import Attribute
from filterkit.data.batch import Batch
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.exploration.extents import READER, Extents, is_supervised
from filterkit.stages.selective import OnlyColumns

_BINS = 40
_MOST_CLASSES = 10  # of a histogram; the classes with the fewest rows are taken together
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
    """

    schema: Schema
    classes: list[str]
    edges: np.ndarray
    counts: np.ndarray
    zero: np.ndarray
    missing: np.ndarray

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


def histograms(rows: Rows, columns: np.ndarray, extents: Extents) -> Passes[Histograms]:
    """Count the values of some columns by class, where there is a nominal one, in one pass.

    Parameters
    ----------
    rows : the rows.
    columns : int64, ascending, at least one: which columns.
    extents : those of all columns.

    Raises
    ------
    StageError : a value is infinite.
    """
    chosen = rows.through(OnlyColumns(rows.schema, columns))
    schema, reach = chosen.schema, extents.some(columns)
    order, most = _order_of_classes(schema, extents.totals)
    group = np.empty(len(order), np.int64)
    group[order] = np.minimum(np.arange(len(order)), most - 1)
    bins = _Bins(schema, reach, group)
    counted = _Counted(bins)
    yield [Query(chosen, bins, counted.add)]
    classes = _classes(schema.class_attribute, order, most) if is_supervised(schema) else [""]
    return Histograms(schema, classes, bins.edges, *counted.by_bin())


def _order_of_classes(schema: Schema, totals: np.ndarray) -> tuple[np.ndarray, int]:
    """The codes of the classes, those with most rows first, or the positive one; and how many to count at most."""
    order = np.argsort(-totals, kind="stable")
    if not is_supervised(schema) or schema.positive is None:
        return order, _MOST_CLASSES
    (first,) = schema.positive_classes(totals)
    return np.concatenate([[first], order[order != first]]), 2


def _classes(target: Attribute | None, order: np.ndarray, most: int) -> list[str]:
    """The names of the classes counted: those with most rows by themselves, or only the positive one."""
    assert target is not None
    found = [target.values[code] for code in order[:most].tolist()]
    if len(order) > most:
        found[-1] = f"{len(order) - most + 1:,} {_OTHERS}"
    return found


class _Part(NamedTuple):
    """What is counted in some rows: float64, the weights of rows in parts whose sums are exact.

    Attributes
    ----------
    filled : (columns, groups, bins + 1, parts), of the values that are not zero; the last bin is for missing ones.
    totals : (groups, parts), of all rows.
    """

    filled: np.ndarray
    totals: np.ndarray


class _Bins:
    """Counts the values that batches have by column, group of classes, and bin.

    Parameters
    ----------
    schema : of the batches.
    extents : of their columns.
    group : int64 (classes,), the group of each class.

    Attributes
    ----------
    edges : see `Histograms`.
    apart : bool (columns,), whether zeros are counted apart.
    zero : int64 (columns,), the bin of zero.
    """

    def __init__(self, schema: Schema, extents: Extents, group: np.ndarray) -> None:
        every = np.arange(schema.width)
        self._nominal = schema.nominal
        self._supervised = is_supervised(schema)
        self._group = group
        self._groups = int(group.max(initial=0)) + 1
        self.apart = ~self._nominal & (extents.zero > 0)
        self.apart &= schema.zero | (extents.zero > _SPECIAL * extents.totals.sum())
        self.edges = _edges(extents, self._nominal, self.apart)
        known = ~np.isnan(self.edges)
        count = np.count_nonzero(known, axis=1)
        self._ragged = Ragged(np.concatenate([[0], np.cumsum(count)]), self.edges[known])
        self._last = np.maximum(count - 2, 0)
        self._low = np.nan_to_num(self.edges[:, 0]) / 2
        half = self.edges[every, self._last + 1] / 2 - self._low  # the width itself may be infinite
        self._first = np.where(half > 0, 0, self._last)  # the bin of the lowest value
        with np.errstate(over="ignore"):
            scale = np.divide(self._last + 1, half, out=np.zeros(len(half)), where=half > 0)
        self._scale = np.minimum(scale, np.finfo(np.float64).max)
        self.zero = self._at(every, np.zeros(schema.width))

    def __call__(self, batch: Batch) -> _Part:
        rows = rows_that_count(batch, self._supervised, READER)
        column, value, row = entries(rows.batch, np.arange(len(self._nominal)))
        infinite = np.flatnonzero(np.isinf(value))
        if len(infinite):
            raise infinite_value(rows, int(column[infinite[0]]), int(row[infinite[0]]), READER)
        at = np.full(len(value), _BINS)
        present = np.flatnonzero(~np.isnan(value))
        at[present] = self._at(column[present], value[present])
        group = self._group[rows.y]
        flat = (column.astype(np.int64) * self._groups + group[row]) * (_BINS + 1) + at
        shape = (len(self._nominal), self._groups, _BINS + 1)
        filled = sum_parts(flat, None if rows.parts is None else rows.parts[row], prod(shape))
        return _Part(filled.reshape(*shape, -1), sum_parts(group, rows.parts, self._groups))

    def nothing(self) -> _Part:
        """What is counted in no rows."""
        return _Part(np.zeros((len(self._nominal), self._groups, _BINS + 1, 1)), np.zeros((self._groups, 1)))

    def _at(self, column: np.ndarray, value: np.ndarray) -> np.ndarray:
        """int64 (n,): the bin of each value that is not missing."""
        nominal, last = self._nominal[column], self._last[column]
        with np.errstate(over="ignore"):
            share = self._first[column] + (value / 2 - self._low[column]) * self._scale[column]
        share[nominal] = value[nominal]
        found = np.clip(share, 0, np.where(nominal, _BINS - 1, last)).astype(np.int64)
        # Rounding may have put a value beside its bin, or far from it if the values of the column hardly differ.
        flat, edges = column.astype(np.int64) * (_BINS + 1) + found, self.edges.ravel()
        beside = np.flatnonzero((value < edges[flat]) | ((value >= edges[flat + 1]) & (found < last)))
        found[beside] = np.clip(self._sought(column[beside], value[beside]), 0, last[beside])
        return np.asarray(found)

    def _sought(self, column: np.ndarray, value: np.ndarray) -> np.ndarray:
        """int64 (n,): the last edge that is not greater than each value of a column that is not nominal."""
        after = self._ragged.search(column, np.nextafter(value, np.inf))  # what is greater is no less than the next
        return np.asarray(after - self._ragged.indptr[column] - 1)


class _Counted:
    """Adds up what `bins` count in batches."""

    def __init__(self, bins: _Bins) -> None:
        self._bins = bins
        self._sum = bins.nothing()

    def add(self, part: _Part) -> None:
        """Add what was counted in a batch."""
        self._sum = _Part(*(add_parts([*both]) for both in zip(self._sum, part)))

    def by_bin(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`counts`, `zero` and `missing` of `Histograms`."""
        bins, (filled, totals) = self._bins, self._sum
        zeros = add_parts([totals[None], -filled.sum(axis=2)])
        counts = filled[:, :, :_BINS]
        among = np.flatnonzero(~bins.apart)
        counts[among, :, bins.zero[among]] += zeros[among]
        zero = np.where(bins.apart[:, None], zeros.sum(axis=-1), np.nan)
        return counts.sum(axis=-1), zero, filled[:, :, _BINS].sum(axis=-1)


def _edges(extents: Extents, nominal: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """`Histograms.edges`: around whole numbers that are not far apart, else of equal widths."""
    found = np.full((len(nominal), _BINS + 1), np.nan)
    among = ~apart & (extents.zero > 0)
    low = np.where(among, np.minimum(extents.low, 0.0), extents.low)
    high = np.where(among, np.maximum(extents.high, 0.0), extents.high)
    for number in np.flatnonzero(~nominal & (low <= high)).tolist():
        first, last = float(low[number]), float(high[number])
        if last - first < _BINS and extents.whole[number]:
            edges = np.arange(first - 0.5, last + 1)
        else:
            edges = np.linspace(first / 2, last / 2, _BINS + 1) * 2  # the width itself may be infinite
        found[number, : len(edges)] = edges
    return found
