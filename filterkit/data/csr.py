"""Csr, a sparse matrix as its three arrays, so that scipy need not be imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from filterkit.data.ragged import compute_offsets, find_indptr_and_entries_of_rows, list_row_numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# X: float64 (rows, columns), dense or sparse.
Matrix: TypeAlias = "np.ndarray | csr_array"


class Csr(NamedTuple):
    """The arrays of a `scipy.sparse.csr_array`, without scipy.

    With ``s = slice(indptr[i], indptr[i + 1])``, row i has ``data[s]`` in the columns ``indices[s]``, and zeros
    elsewhere.

    Attributes
    ----------
    data : float64 (entries,). None should be zero; `without_zeros` removes zeros that a caller has stored.
    indices : int32 (entries,), ascending within a row.
    indptr : int32 (rows + 1,).
    columns : the number of columns.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    columns: int

    @staticmethod
    def of(matrix: csr_array) -> Csr:
        """Return a sorted `csr_array` as a Csr that shares its arrays; indices that are not int32 are copied."""
        indices, indptr = (array.astype(np.int32, copy=False) for array in (matrix.indices, matrix.indptr))
        return Csr(matrix.data, indices, indptr, matrix.shape[1])

    @staticmethod
    def from_scipy(matrix: Any) -> Csr:
        """Convert a sparse scipy matrix or a numpy array to a new Csr: sorted, duplicates summed, and without zeros."""
        from scipy.sparse import csr_array

        matrix = csr_array(matrix, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return Csr.of(matrix)

    @staticmethod
    def from_entries(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> Csr:
        """Make a matrix of entries in any order, at most one for each row and column.

        Parameters
        ----------
        rows, columns : int (entries,), the row and the column of each entry.
        values : float64 (entries,). Zeros are stored; `without_zeros` removes them.
        shape : (rows, columns) of the matrix.
        """
        height, width = shape
        position = rows.astype(np.int64) * width + columns
        if (position[1:] < position[:-1]).any():
            order = np.argsort(position, kind="stable")  # fast, because most entries come in sorted runs
            rows, columns, values = rows[order], columns[order], values[order]
        indptr = np.searchsorted(rows, np.arange(height + 1)).astype(np.int32)
        return Csr(values, columns.astype(np.int32), indptr, width)

    @staticmethod
    def vstack(parts: Sequence[Csr]) -> Csr:
        """Stack the rows of at least one matrix; all have the same number of columns."""
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        return Csr(
            np.concatenate([part.data for part in parts]),
            np.concatenate([part.indices for part in parts]),
            compute_offsets(lengths).astype(np.int32),
            parts[0].columns,
        )

    @staticmethod
    def hstack(parts: Sequence[Csr], order: np.ndarray | None = None) -> Csr:
        """Put the columns of at least one matrix side by side; all have the same number of rows.

        If `order`, int (all columns,), is not None, column i of the result is column ``order[i]`` of those side by
        side; it has each column once.
        """
        if len(parts) == 1 and order is None:
            return parts[0]
        first = np.cumsum([0, *(part.columns for part in parts)])
        columns = np.concatenate([part.indices + begin for part, begin in zip(parts, first.tolist())])
        return Csr.from_entries(
            np.concatenate([part.row_of_entry for part in parts]),
            columns if order is None else np.argsort(order)[columns],
            np.concatenate([part.data for part in parts]),
            (len(parts[0].indptr) - 1, int(first[-1])),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.indptr) - 1, self.columns

    @property
    def row_of_entry(self) -> np.ndarray:
        """int64 (entries,): the row of each stored entry."""
        return list_row_numbers(np.diff(self.indptr))

    def rows(self, first: int, stop: int) -> Csr:
        """Return the rows from `first` up to, but not including, `stop`."""
        indptr = self.indptr[first : stop + 1]
        begin, end = int(indptr[0]), int(indptr[-1])
        return Csr(self.data[begin:end], self.indices[begin:end], indptr - indptr[0], self.columns)

    def take(self, rows: np.ndarray) -> Csr:
        """Return the rows with these indices, int (n,), in this order; they may repeat."""
        indptr, entries = find_indptr_and_entries_of_rows(self.indptr, rows)
        return Csr(self.data[entries], self.indices[entries], indptr.astype(np.int32), self.columns)

    def get_column(self, column: int) -> np.ndarray:
        """Return all values of one column, zeros too: float64 (rows,)."""
        own = np.flatnonzero(self.indices == column)
        values = np.zeros(len(self.indptr) - 1)
        values[np.searchsorted(self.indptr, own, side="right") - 1] = self.data[own]
        return values

    def select_columns(self, columns: np.ndarray) -> Csr:
        """Return the columns with these indices, int (n,), ascending and distinct."""
        position = np.full(self.columns, -1, np.int32)
        position[columns] = np.arange(len(columns), dtype=np.int32)
        column = position[self.indices]
        stays = column >= 0
        indptr = compute_offsets(stays)[self.indptr].astype(np.int32)
        return Csr(self.data[stays], column[stays], indptr, len(columns))

    def take_columns(self, columns: np.ndarray) -> Csr:
        """Return `select_columns(columns)`, under the name that older plugins know."""
        return self.select_columns(columns)

    def without_zeros(self) -> Csr:
        """Return the same matrix without stored zeros; the same object if there are none."""
        if self.data.all():
            return self
        keep = np.flatnonzero(self.data != 0)  # faster than of `data` itself
        indptr = np.searchsorted(keep, self.indptr).astype(np.int32)
        return Csr(self.data[keep], self.indices[keep], indptr, self.columns)

    def toarray(self) -> np.ndarray:
        """Return the same matrix as a dense array: float64 (rows, columns)."""
        dense = np.zeros(self.shape)
        dense[self.row_of_entry, self.indices] = self.data
        return dense

    def matrix(self) -> csr_array:
        """Return the same matrix as a `csr_array` of scipy that shares the arrays."""
        from scipy.sparse import csr_array

        matrix = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix
