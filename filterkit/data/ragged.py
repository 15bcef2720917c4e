"""Ragged: float64 arrays of different lengths in one object, and searching in all of them at once."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np


def make_sort_keys(row: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Combine row numbers and values, both (n,), into complex128 keys, which numpy sorts by row, then by value."""
    key = np.empty(len(values), np.complex128)
    key.real = row
    key.imag = values
    return key


def expand_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return ``start, …, start + length - 1`` of each range, one range after the other: int64 (sum of lengths,).

    `starts` and `lengths` are int (n,).
    """
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def find_indptr_and_entries_of_rows(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select `rows`, int (m,), from a matrix in CSR format; they may be in any order, and repeat.

    `offsets`, int (all rows + 1,), is the ``indptr`` of the matrix. Return two arrays: the ``indptr`` of the selected
    rows, int64 (m + 1,); and for each of their entries its index among all entries of the matrix, int64 (entries,).
    """
    lengths = np.diff(offsets)[rows]
    return compute_offsets(lengths), expand_ranges(offsets[rows], lengths)


def list_row_numbers(lengths: np.ndarray) -> np.ndarray:
    """Return the row number of each entry, int64 (entries,), if row i has ``lengths[i]`` entries."""
    return np.repeat(np.arange(len(lengths)), lengths)


def find_run_begins(*keys: np.ndarray) -> np.ndarray:
    """Return bool (n,): whether entry i is the first, or differs from entry i - 1 in one of the `keys`, arrays (n,)."""
    begins = np.zeros(len(keys[0]), bool)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    return begins


def compute_offsets(lengths: np.ndarray) -> np.ndarray:
    """Return 0 and the cumulative sums of int (n,) `lengths`: int64 (n + 1,), as ``indptr`` of a CSR matrix."""
    return np.concatenate([[0], np.cumsum(lengths)])


def compute_row_offsets(row_of_entry: np.ndarray, n_rows: int) -> np.ndarray:
    """Return ``indptr`` of a CSR matrix, int64 (n_rows + 1,), from the row number of each entry, int (entries,)."""
    return compute_offsets(np.bincount(row_of_entry, minlength=n_rows))


class Ragged:
    """Immutable rows of float64 values, of different lengths; row i is ``values[indptr[i]:indptr[i + 1]]``.

    Parameters
    ----------
    indptr : int64 (n + 1,).
    values : float64 (entries,).

    Attributes
    ----------
    indptr, values : as given; arrays of these dtypes are not copied.
    nbytes : the number of bytes of both arrays.
    """

    def __init__(self, indptr: np.ndarray, values: np.ndarray) -> None:
        self.indptr = np.asarray(indptr, np.int64)
        self.values = np.asarray(values, np.float64)
        self.nbytes = self.indptr.nbytes + self.values.nbytes

    @classmethod
    def from_lengths(cls, lengths: np.ndarray, values: np.ndarray) -> Ragged:
        """Divide float64 `values` into rows of these lengths, int (rows,), one after the other."""
        return cls(compute_offsets(lengths), values)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def get_row(self, number: int) -> np.ndarray:
        """Return the values of one row: float64 (n,)."""
        return self.values[self.indptr[number] : self.indptr[number + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """int64 (n,): the length of each row."""
        return np.diff(self.indptr)

    @staticmethod
    def concatenate(parts: list[Ragged]) -> Ragged:
        """Return the rows of all parts, at least one, in order."""
        lengths = np.concatenate([part.lengths for part in parts])
        return Ragged.from_lengths(lengths, np.concatenate([part.values for part in parts]))

    def search(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Find each value in a row, as `numpy.searchsorted` does; the entries of each row must ascend.

        Parameters
        ----------
        rows : int (n,), the row to search for each value.
        values : float64 (n,).

        Returns
        -------
        int64 (n,): the index in `self.values` of the first entry of the row that is not less than the value; if all are
        less, the index after the last one.
        """
        if not len(values):
            return np.empty(0, np.int64)
        found = self._search_in_table(rows, values)
        if found is not None:
            return found
        changes = np.flatnonzero(rows[1:] != rows[:-1]) + 1
        # Searching row by row is faster for few long runs, and saves the keys of rows that are long themselves.
        if max(len(values), len(self.values) // 2) <= 256 * (len(changes) + 1):
            return np.searchsorted(self._sort_keys, make_sort_keys(rows, values))
        found = np.empty(len(values), np.int64)
        for begin, end in pairwise([0, *changes.tolist(), len(values)]):  # each run of values for one row
            first, stop = self.indptr[rows[begin]], self.indptr[rows[begin] + 1]
            order = np.argsort(values[begin:end]) + begin  # neighbors in a long row are found in the same cache lines
            found[order] = np.searchsorted(self.values[first:stop], values[order]) + first
        return found

    def _search_in_table(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray | None:
        """Return the result of `search` by `_lookup_table`, or None.

        It is None if there is no table, or if some of `values` are not whole numbers from 0 to 2**31 - 1.
        """
        low, high = values.min(), values.max()
        if not (low >= 0 and high < 1 << 31):  # also if there is a NaN
            return None
        whole = values.astype(np.int64)
        if (whole != values).any() or self._lookup_table is None:
            return None
        start, largest, table = self._lookup_table
        found: np.ndarray = table[start[rows] + np.minimum(whole, largest[rows])]
        return found

    @cached_property
    def _sort_keys(self) -> np.ndarray:
        """complex128 (entries,): the sort key of each entry, by which `search` finds values in all rows at once."""
        return make_sort_keys(list_row_numbers(self.lengths), self.values)

    @cached_property
    def _lookup_table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """(start, largest, table): ``table[start[i] + min(v, largest[i])]`` is the result of `search` for v in row i.

        This holds for whole numbers v from 0. `start` and `largest` are int64 (rows,), and `table` is int64. The result
        is None if there are no values, one exceeds 2**20, or the table would be much larger than they are.
        """
        if not len(self.values) or self.values.max() > 1 << 20:
            return None
        lengths = self.lengths
        # The least whole number that is greater than each value.
        step = np.clip(np.floor(self.values) + 1, 0, None).astype(np.int64)
        largest = np.zeros(len(self), np.int64)
        filled = lengths > 0
        largest[filled] = step[self.indptr[1:][filled] - 1]
        start = compute_offsets(largest + 1)
        if start[-1] > 8 * (len(self.values) + len(self)):
            return None
        steps = np.concatenate([[0], np.repeat(start[:-1], lengths) + step, start[-1:]])
        return start[:-1], largest, list_row_numbers(np.diff(steps))
