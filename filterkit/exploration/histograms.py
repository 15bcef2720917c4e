"""Histograms of some columns by class."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from filterkit.chains.queries import Passes, compute_merged_record
from filterkit.chains.rows import Rows
from filterkit.counts.cells import find_and_check_nonzero_entries
from filterkit.counts.class_parts import sum_over_parts
from filterkit.counts.record import SUM_OF_PARTS, Record
from filterkit.counts.weights import add_parts, select_counted_rows, sum_parts
from filterkit.data.batch import Batch
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.exploration.extents import READER, ColumnExtents, has_nominal_class
from filterkit.stages.selective import make_column_selector

_BINS = 40
_MOST_CLASSES = 10  # of a histogram; the classes with the fewest rows are taken together
_SPECIAL = 0.25  # zeros of more than this share of the rows are counted apart
_OTHERS = "others"


class Histograms(NamedTuple):
    """Holds the histograms of some columns by class.

    Attributes
    ----------
    schema : the schema of the columns.
    classes : the names of the classes; the last may stand for several, as ``3 others``. ``[""]`` without a nominal
        class.
    edges : the edges of the bins of each column, ascending, one more than bins. A column has none if it is nominal, or
        has no values besides missing ones and zeros that are counted apart.
    counts : float64 (columns, classes, 40), the weight of the rows in each bin; 0 after the last bin of a column. A
        nominal column has a bin for each label; of more than 40 labels, the last bin holds all from the 40th on.
    zero : float64 (columns, classes), the weight of the zeros that are counted apart; NaN if `counts` has them.
    missing : float64 (columns, classes), the weight of the rows whose value is missing.
    """

    schema: Schema
    classes: list[str]
    edges: Ragged
    counts: np.ndarray
    zero: np.ndarray
    missing: np.ndarray

    def describe_column(self, column: int) -> dict[str, Any]:
        """Return the histogram of one column for the page: ``classes``, ``missing``, ``counts``, and what bins are.

        A nominal column has ``labels``, a text for each bin; of more than 40 labels, the last text stands for all from
        the 40th on. A numeric column has ``edges``, and ``zero``, which is None if zeros are not counted apart.
        """
        found = {"classes": self.classes, "missing": self.missing[column]}
        attribute = self.schema.features[column]
        if attribute.kind == "nominal":
            labels = list(attribute.values)
            if len(labels) > _BINS:
                labels = [*labels[: _BINS - 1], f"{len(labels) - _BINS + 1:,} {_OTHERS}"]
            return found | {"labels": labels, "counts": self.counts[column, :, : len(labels)]}
        edges, zero = self.edges.get_row(column), self.zero[column]
        return found | {
            "edges": edges,
            "counts": self.counts[column, :, : max(len(edges) - 1, 0)],
            "zero": None if np.isnan(zero).any() else zero,
        }


def compute_histograms(rows: Rows, columns: np.ndarray, extents: ColumnExtents) -> Passes[Histograms]:
    """Compute the histograms of some columns, by class if there is a nominal one, in one pass over the rows.

    This is a generator of queries. Run by `run_passes`, it returns the histograms.

    Parameters
    ----------
    rows : the rows.
    columns : int64 (n,), ascending, at least one, which columns of X.
    extents : the extents of all columns of `rows`.

    Raises
    ------
    StageError : a value is infinite, or a weight cannot be counted.
    """
    chosen = rows.transform_by(make_column_selector(rows.schema, columns))
    schema = chosen.schema
    group, names = _group_classes(schema, sum_over_parts(extents.total_parts))
    by_column = {
        name: getattr(extents, name)[columns] for name in ("low", "high", "only_whole_numbers", "stored_parts")
    }
    bins = _BinCounter(schema, extents.replace(**by_column), group)
    counts = yield from compute_merged_record(chosen, bins.count_values)
    totals = sum_parts(group, extents.total_parts, counts.stored_parts.shape[1])
    zeros = add_parts([totals[None], -counts.stored_parts.sum(axis=2)])
    apart = bins.apart[:, None]
    filled = counts.stored_parts[:, :, :_BINS]
    filled[np.arange(len(columns)), :, bins.zero] += np.where(apart[..., None], 0.0, zeros)
    return Histograms(
        schema,
        names,
        bins.edges,
        filled.sum(axis=-1),
        np.where(apart, zeros.sum(axis=-1), np.nan),
        counts.stored_parts[:, :, _BINS].sum(axis=-1),
    )


def _group_classes(schema: Schema, totals: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Group the classes, so that a histogram has at most ten groups, or two if there is a positive class.

    Classes with the most rows, or the positive class alone, are groups of their own; all others are the last group.
    Without a nominal class, there is one group. `totals`, float64 (classes,), are the weights of the rows of each
    class. Return the number of the group of each class, int64 (classes,), and `Histograms.classes`.
    """
    target = schema.class_attribute
    if target is None or target.kind != "nominal":
        return np.zeros(len(totals), np.int64), [""]
    order, most = np.argsort(-totals, kind="stable"), _MOST_CLASSES
    if schema.positive is not None:
        (first,), most = schema.positive_classes(totals), 2
        order = np.concatenate([[first], order[order != first]])
    group = np.empty(len(order), np.int64)
    group[order] = np.minimum(np.arange(len(order)), most - 1)
    names = [target.values[code] for code in order[:most].tolist()]
    if len(order) > most:
        names[-1] = f"{len(order) - most + 1:,} {_OTHERS}"
    return group, names


class BinCounts(Record):
    """Counts the values of rows that are not zero, by column, group of classes and bin.

    Attributes
    ----------
    stored_parts : float64 (columns, groups, 41, parts), the weight of the rows in each of 40 bins and, last, of those
        whose value is missing. It is split into parts, as in `ColumnExtents`.
    """

    fields = Record.fields | {"stored_parts": SUM_OF_PARTS}
    stored_parts: np.ndarray


class _BinCounter:
    """Chooses the bins of each column, and counts the values of batches by column, group of classes and bin.

    Parameters
    ----------
    schema : the schema of the batches.
    extents : the extents of their columns.
    group : int64 (classes,), the number of the group of each class, from 0.

    Attributes
    ----------
    edges : the edges of the bins of each column, as in `Histograms`.
    apart : bool (columns,), whether zeros are counted apart.
    zero : int64 (columns,), the bin of zero; it means nothing where zeros are counted apart, or do not occur.
    """

    def __init__(self, schema: Schema, extents: ColumnExtents, group: np.ndarray) -> None:
        self._nominal = schema.nominal
        self._supervised = has_nominal_class(schema)
        self._group = group
        self._groups = int(group.max(initial=0)) + 1
        zeros = sum_over_parts(add_parts([extents.total_parts.sum(axis=0)[None], -extents.stored_parts]))  # by column
        is_many = zeros > _SPECIAL * sum_over_parts(extents.total_parts).sum()
        self.apart = ~self._nominal & (zeros > 0) & (schema.zero | is_many)
        self.edges = _choose_bin_edges(extents, self._nominal, ~self.apart & (zeros > 0))
        self._last = np.where(self._nominal, _BINS - 1, np.maximum(self.edges.lengths - 2, 0))
        self.zero = self._find_bins(np.arange(schema.width), np.zeros(schema.width))

    def count_values(self, batch: Batch) -> BinCounts:
        """Count the values of one batch that are not zero.

        Raise StageError if a value is infinite, or a weight cannot be counted.
        """
        rows = select_counted_rows(batch, self._supervised, READER)
        column, value, row = find_and_check_nonzero_entries(rows, np.arange(len(self._nominal)), READER)
        at = np.full(len(value), _BINS)
        present = np.flatnonzero(~np.isnan(value))
        at[present] = self._find_bins(column[present], value[present])
        group = self._group[rows.y]
        flat = (column.astype(np.int64) * self._groups + group[row]) * (_BINS + 1) + at
        shape = (len(self._nominal), self._groups, _BINS + 1)
        filled = rows.sum_weights_by_group(flat, row, prod(shape)).reshape(*shape, -1)
        return BinCounts(stored_parts=filled)

    def _find_bins(self, column: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Find the bin of each value: int64 (n,), from 0. No value is missing; `column`, int (n,), is that of each."""
        above = np.nextafter(value, np.inf)  # an edge above the value is no less than this
        after = self.edges.search(column, above)
        numeric = np.maximum(after - self.edges.indptr[column] - 1, 0)
        bins = np.where(self._nominal[column], value, numeric)
        return np.asarray(np.minimum(bins, self._last[column]).astype(np.int64))


def _choose_bin_edges(extents: ColumnExtents, nominal: np.ndarray, zeros_are_values: np.ndarray) -> Ragged:
    """Choose `Histograms.edges` of each numeric column, from its least to its largest value.

    If all values are whole numbers, and less than 40 apart, there is a bin for each whole number; else there are 40
    bins of equal width. `nominal`, bool (columns,), flags columns without edges. `zeros_are_values`, bool (columns,),
    flags those whose zeros count as values.
    """
    edges = [np.zeros(0)] * len(nominal)
    low = np.where(zeros_are_values, np.minimum(extents.low, 0.0), extents.low)
    high = np.where(zeros_are_values, np.maximum(extents.high, 0.0), extents.high)
    for number in np.flatnonzero(~nominal & (low <= high)).tolist():
        first, last = float(low[number]), float(high[number])
        if last - first < _BINS and extents.only_whole_numbers[number]:
            edges[number] = np.arange(first - 0.5, last + 1)
        else:
            edges[number] = np.linspace(first / 2, last / 2, _BINS + 1) * 2  # the width itself may be infinite
    return Ragged.from_lengths(np.array([len(each) for each in edges]), np.concatenate(edges))
