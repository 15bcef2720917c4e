"""ContingencyTable: the value × class counts of every column, from which most column stages learn.

The counts are exact and do not depend on the order or grouping of rows. Instance weights are split into parts on fixed
binary grids (`filterkit.counts.weights.exact_parts`), whose sums are exact in float64; the parts are added last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from filterkit.counts import class_parts
from filterkit.counts.cells import count_rows_by_value_and_class, find_extremes_by_column, include_zeros_in_extremes
from filterkit.counts.class_parts import Parts, SparseClassWeights, sum_over_parts
from filterkit.counts.record import TOGETHER
from filterkit.counts.statistic import Statistic
from filterkit.counts.weights import CountedRows, add_parts, pad_parts, sum_parts
from filterkit.data.ragged import (
    compute_offsets,
    compute_row_offsets,
    find_indptr_and_entries_of_rows,
    find_run_begins,
    list_row_numbers,
    make_sort_keys,
)
from filterkit.engines.local import LocalEngine

# Fewer cells are merged faster without threads.
_WORTH_THREADS = 1 << 18


class ContingencyTable(Statistic):
    """The distinct training values of some columns of X, and the weight of the rows of each class for each value.

    Only rows of a positive weight count and, if the table is supervised, only those of a known class. A table that is
    not supervised counts all rows as one class. With a numeric class, the classes are its bins; see
    `filterkit.counts.numeric_class`. A cell is a value that occurs in a column. Zeros have no cells, except in a table
    of `with_zeros`: their weight is that of all rows less that of all cells and of missing values.

    Attributes
    ----------
    schema, columns, column_offset : see `Statistic`.
    indptr : int64 (k + 1,); the cells of the i-th covered column are ``indptr[i]:indptr[i + 1]``.
    values : float64 (cells,), the value of each cell, finite and ascending within a column; of a nominal column, the
        index of a label. None is 0, except in a table of `with_zeros`.
    cell_parts : the weights of `counts`, an array (cells, classes, parts) or, with many classes, a
        `SparseClassWeights`. The parts of a weight add up to it; see `filterkit.counts.weights.exact_parts`. With a
        numeric class, the weights of `class_sums` follow as one more class, here and wherever there are parts.
    gap_parts : the weights of `missing` in the same way, (k, classes, parts).
    total_parts : float64 (classes, parts), the weights of `totals`.
    """

    title = "table of the distinct values"
    grows = True
    sized_names = ("values", "cell_parts", "gap_parts")
    fields = Statistic.fields | dict.fromkeys(("indptr", "values", "cell_parts", "gap_parts", "total_parts"), TOGETHER)

    indptr: np.ndarray
    values: np.ndarray
    cell_parts: Parts
    gap_parts: Parts
    total_parts: np.ndarray

    @classmethod
    def of_rows(cls, rows: CountedRows, columns: np.ndarray, reader: str) -> Self:
        """Count `rows` by column, value and class; the parameters and errors are those of `Statistic.of_rows`."""
        indptr, values, cells, gaps = count_rows_by_value_and_class(rows, columns, reader)
        return cls(
            schema=rows.batch.schema,
            columns=columns,
            indptr=indptr,
            values=values,
            cell_parts=cells,
            gap_parts=gaps,
            total_parts=rows.total_parts,
        )

    @classmethod
    def merge(cls, several: Sequence[ContingencyTable], jobs: int = 1) -> ContingencyTable:
        """Merge tables of the same columns, at least one, into that of all rows; many cells in up to `jobs` threads."""
        if len(several) == 1:
            return several[0]
        if not 1 < jobs <= len(several[0]) or sum(len(table.values) for table in several) <= _WORTH_THREADS:
            return _merge_tables(several)
        # Each thread merges columns with about as many cells in all tables as the others.
        upto = np.sum([table.indptr for table in several], axis=0)
        cuts = np.searchsorted(upto, upto[-1] * np.arange(1, jobs) / jobs)
        bounds = sorted({0, *cuts.tolist(), len(several[0])})
        spans = [[table.column_range(low, high) for table in several] for low, high in pairwise(bounds)]
        return concatenate_columns(list(LocalEngine(jobs).map(_merge_tables, spans)))

    @property
    def working_bytes(self) -> int:
        """The bytes of the arrays that a stage works with: `nbytes`, but sparse weights count as arrays."""
        if not isinstance(self.cell_parts, SparseClassWeights):
            return self.nbytes
        return self.values.nbytes + (len(self.values) + 2 * len(self)) * self.total_parts.nbytes

    @property
    def exact_parts(self) -> np.ndarray:
        """float64 (cells, classes, parts): `cell_parts` as an array, whose parts add up to `counts`."""
        return self._to_padded_array(self.cell_parts)

    @property
    def missing_parts(self) -> np.ndarray:
        """float64 (k, classes, parts): `gap_parts` as an array, whose parts add up to `missing`."""
        return self._to_padded_array(self.gap_parts)

    def _to_padded_array(self, parts: Parts) -> np.ndarray:
        """Return weights as an array with as many parts as `total_parts` has: float64 (n, classes, parts)."""
        return pad_parts(
            parts.to_array() if isinstance(parts, SparseClassWeights) else parts, self.total_parts.shape[1]
        )

    @property
    def numeric_class(self) -> bool:
        """Whether rows count by the bins of a numeric class."""
        target = self.schema.class_attribute
        return target is not None and target.kind == "numeric" and len(self.total_parts) > 1

    @property
    def _class_slice(self) -> slice:
        """The slice of `total_parts` that has the classes alone, without `class_sums` of a numeric class."""
        return slice(len(self.total_parts) - self.numeric_class)

    @cached_property
    def totals(self) -> np.ndarray:
        """float64 (classes,): the weight of all rows of each class."""
        return sum_over_parts(self.total_parts[self._class_slice])

    @cached_property
    def missing(self) -> np.ndarray:
        """float64 (k, classes): the weight of the rows of each class whose value is missing."""
        return sum_over_parts(self.missing_parts[:, self._class_slice])

    @cached_property
    def counts(self) -> np.ndarray:
        """float64 (cells, classes): the weight of the rows of each class with the cell's value in its column."""
        return sum_over_parts(self.exact_parts[:, self._class_slice])

    @cached_property
    def rows(self) -> np.ndarray:
        """float64 (cells,): the weight of the rows of any class with the cell's value in its column."""
        return sum_over_classes(self._drop_classes_if_many().counts)

    @cached_property
    def zeros(self) -> np.ndarray:
        """float64 (k, classes): the weight of the rows of each class whose value is zero; 0 where zeros have a cell."""
        return sum_over_parts(self._zero_parts[:, self._class_slice])

    @cached_property
    def _zero_parts(self) -> np.ndarray:
        """float64 (k, classes, parts): weights whose parts add up to `zeros`."""
        sums = class_parts.sum_groups_of_positions(self.cell_parts, self.column_of_cell, len(self))
        return np.asarray(self.total_parts - self.missing_parts - self._to_padded_array(sums))

    @cached_property
    def nonzero_rows(self) -> np.ndarray:
        """float64 (k,): the weight of the rows of any class whose value is in a cell, so not missing and not zero."""
        table = self._drop_classes_if_many()
        return sum_over_classes(table.totals - table.zeros - table.missing)

    @cached_property
    def missing_rows(self) -> np.ndarray:
        """float64 (k,): the weight of the rows of any class whose value is missing."""
        return sum_over_classes(self._drop_classes_if_many().missing)

    @cached_property
    def zero_occurs(self) -> np.ndarray:
        """bool (k,): whether a row has the value zero; False if zeros have a cell, as in a table of `with_zeros`."""
        return np.asarray(self._drop_classes_if_many()._zero_parts.any(axis=(1, 2)))

    def _drop_classes_if_many(self) -> ContingencyTable:
        """Return the table itself if its weights are arrays, else the same rows counted as one class."""
        return self.without_classes() if isinstance(self.cell_parts, SparseClassWeights) else self

    @cached_property
    def column_of_cell(self) -> np.ndarray:
        """int64 (cells,): which of the covered columns each cell belongs to, counted from 0; ascending."""
        return list_row_numbers(np.diff(self.indptr))

    def column_range(self, low: int, high: int) -> ContingencyTable:
        """Return the table of the covered columns ``low:high``, as views; if these are all, the table itself."""
        if high - low == len(self):
            return self
        cells = slice(int(self.indptr[low]), int(self.indptr[high]))
        return self._select_columns(slice(low, high), self.indptr[low : high + 1] - cells.start, cells)

    def only(self, numbers: np.ndarray) -> ContingencyTable:
        """Return the table of some covered columns: `numbers`, int64 and ascending, their indices, perhaps repeated."""
        return self._select_columns(numbers, *find_indptr_and_entries_of_rows(self.indptr, numbers))

    def _select_columns(
        self, numbers: np.ndarray | slice, indptr: np.ndarray, cells: np.ndarray | slice
    ) -> ContingencyTable:
        """Return the table of the columns `numbers` and their `cells`; ``indptr[i]:indptr[i + 1]`` are the i-th's."""
        return self.replace(
            columns=self.columns[numbers],
            indptr=indptr,
            values=self.values[cells],
            cell_parts=class_parts.take_positions(self.cell_parts, cells),
            gap_parts=class_parts.take_positions(self.gap_parts, numbers),
        )

    def first_columns(self, count: int) -> ContingencyTable:
        """Return a copy of the first `count` columns, so that the others can be freed; if these are all, the table."""
        return self if count >= len(self) else self.only(np.arange(count))

    def without_classes(self) -> ContingencyTable:
        """Return the table of the same rows counted as one class; without `class_sums` if the class is numeric."""
        is_class = np.arange(len(self.total_parts)) < self._class_slice.stop
        return self.group_classes(np.where(is_class, 0, -1), 1)

    def class_sums(self) -> ContingencyTable:
        """Return the table of the same rows as one class, in which each counts by its weight times a numeric class.

        Only a table with a numeric class has these sums, which may be negative. The class is shifted and scaled: its
        mean is 0, but for rounding, and its squares add up to the weight of all rows. A class that is the same in all
        rows becomes 0.
        """
        is_class = np.arange(len(self.total_parts)) < self._class_slice.stop
        return self.group_classes(np.where(is_class, -1, 0), 1)

    def one_against_rest(self, task: int) -> ContingencyTable:
        """Return the table of the same rows counted as two classes: first all others, then the one with code `task`."""
        return self.group_classes((np.arange(len(self.total_parts)) == task).astype(np.int64), 2)

    def group_classes(self, group: np.ndarray, groups: int) -> ContingencyTable:
        """Return the table of the same rows by groups of classes, which become its classes.

        `group` is int64 (classes,), the group of each class from 0 to `groups` - 1; classes of a negative group are
        left out. With a numeric class, its last entry is for `class_sums`.
        """
        kept = np.flatnonzero(group >= 0)
        return self.replace(
            cell_parts=class_parts.sum_groups_of_classes(self.cell_parts, group, groups),
            gap_parts=class_parts.sum_groups_of_classes(self.gap_parts, group, groups),
            total_parts=sum_parts(group[kept], self.total_parts[kept], groups),
        )

    def with_zeros(self) -> ContingencyTable:
        """Return a table with a cell for zero in each column where zero occurs; the table itself if it occurs in none.

        The `zeros` of the result are 0, because what is in a cell counts as nonzero.
        """
        have = np.flatnonzero(self.zero_occurs)
        if not len(have):
            return self
        column = np.concatenate([self.column_of_cell, have])
        values = np.concatenate([self.values, np.zeros(len(have))])
        parts = class_parts.concatenate_positions([self.cell_parts, self._zero_parts[have]])
        return self.replace(**sort_and_merge_cells(column, values, parts, len(self)))

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and largest value of each column, zeros included: float64 (k,) each; 0 if none is known."""
        return include_zeros_in_extremes(
            *find_extremes_by_column(self.column_of_cell, self.values, len(self)), self.zero_occurs
        )

    def cumulative(self, descending: bool = False) -> np.ndarray:
        """Add up, for each cell, its weights and those of smaller values of its column: float64 (cells, classes).

        If `descending`, those of larger values instead. Missing values never count, and zeros only if `with_zeros` has
        made cells of them. The sums are exact but for the last rounding.
        """
        parts, column = self.exact_parts[:, self._class_slice], self.column_of_cell
        before = np.zeros((len(parts) + 1, *parts.shape[1:]))  # of each cell and, last, all
        np.cumsum(parts, axis=0, out=before[1:])
        if descending:
            return sum_over_parts(before.take(self.indptr[column + 1], axis=0) - before[:-1])
        return sum_over_parts(before[1:] - before.take(self.indptr[column], axis=0))

    def tasks(self) -> list[int]:
        """Return the codes of the classes to compare with the rest, ascending.

        If there is a positive class, it is that alone. Otherwise it is the rarer of two classes, the second if both are
        equal; or, of more classes, each that has rows. With a numeric class, there are none.
        """
        return self.schema.positive_classes(self.totals)


def sum_over_classes(weights: np.ndarray) -> np.ndarray:
    """Add up weights, (n, classes), over the classes: float64 (n,)."""
    return np.asarray(sum(weights.T, np.zeros(len(weights))))  # class by class is ten times faster than row by row


def share_out_missing(table: ContingencyTable) -> np.ndarray:
    """Return the counts after the missing values of each column are divided among its cells: float64 (cells, classes).

    Those of each class are divided in proportion to the rows, of any class, in the cells. Zeros take part only if
    `with_zeros` has made cells of them.
    """
    column = table.column_of_cell
    present = np.bincount(column, table.rows, len(table))[column]
    share = table.rows / np.where(present > 0, present, 1.0)
    return np.asarray(table.counts + share[:, None] * table.missing[column])


def _merge_tables(tables: Sequence[ContingencyTable]) -> ContingencyTable:
    """Merge tables of the same columns, at least one, into that of all rows."""
    column = np.concatenate([table.column_of_cell for table in tables])
    values = np.concatenate([table.values for table in tables])
    parts = class_parts.concatenate_positions([table.cell_parts for table in tables])
    gaps, width = class_parts.concatenate_positions([table.gap_parts for table in tables]), len(tables[0])
    return tables[0].replace(
        gap_parts=class_parts.sum_groups_of_positions(gaps, np.tile(np.arange(width), len(tables)), width),
        total_parts=add_parts([table.total_parts for table in tables]),
        **sort_and_merge_cells(column, values, parts, width),
    )


def merge_cells_into_bins(table: ContingencyTable, begins: np.ndarray) -> ContingencyTable:
    """Return the table with runs of cells merged; each cell where `begins`, bool (cells,), is True begins a run.

    The first cell of each column and every cell of a nominal column begin one, too. The value of a merged cell is its
    least.
    """
    column = table.column_of_cell
    first = np.flatnonzero(begins | table.nominal[column] | find_run_begins(column))
    return table.replace(
        indptr=compute_row_offsets(column[first], len(table)),
        values=table.values[first],
        cell_parts=class_parts.sum_runs_of_positions(table.cell_parts, first) if len(first) else table.cell_parts,
    )


def concatenate_columns(parts: Sequence[ContingencyTable]) -> ContingencyTable:
    """Return the table of the columns of several tables of the same rows, at least one, in their order."""
    return parts[0].replace(
        columns=np.concatenate([part.columns for part in parts]),
        indptr=compute_offsets(np.concatenate([np.diff(part.indptr) for part in parts])),
        values=np.concatenate([part.values for part in parts]),
        cell_parts=class_parts.concatenate_positions([part.cell_parts for part in parts]),
        gap_parts=class_parts.concatenate_positions([part.gap_parts for part in parts]),
    )


def sort_and_merge_cells(column: np.ndarray, values: np.ndarray, parts: Parts, width: int) -> dict[str, Any]:
    """Sort cells by column and value, and add up those of the same column and value.

    Return ``indptr``, ``values`` and ``cell_parts`` of a `ContingencyTable` by name.

    Parameters
    ----------
    column : int64 (cells,), the covered column of each cell, from 0 to `width` - 1.
    values : float64 (cells,), the value of each cell.
    parts : the weights of the cells, (cells, classes, parts), perhaps sparse.
    width : the number of columns.
    """
    order = np.argsort(make_sort_keys(column, values), kind="stable")  # fast, because most cells come in sorted runs
    column, values, parts = column[order], values[order], class_parts.take_positions(parts, order)
    begin = find_run_begins(values, column)
    if not begin.all():
        first = np.flatnonzero(begin)
        column, values, parts = column[first], values[first], class_parts.sum_runs_of_positions(parts, first)
    return {"indptr": compute_row_offsets(column, width), "values": values, "cell_parts": parts}
