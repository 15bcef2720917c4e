"""Quantiles of the training values of each column, from a contingency table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from filterkit.counts.table import ContingencyTable, merge_cells_into_bins, sum_over_classes
from filterkit.data.ragged import find_run_begins

BINS = 5  # of equal frequency


def quantiles(table: ContingencyTable, shares: Sequence[float], method: str = "linear") -> np.ndarray:
    """Compute quantiles of each column, as `numpy.quantile` gives them; zeros count, and missing values do not.

    Parameters
    ----------
    table : the counts of the values, which are added up over the classes.
    shares : the quantiles to find, numbers from 0 to 1, such as 0.5 for the median.
    method : ``linear`` lies between two values in proportion, and a row of weight w counts like w rows. Where weights
        are not whole numbers, take ``inverted_cdf``: the least value for which the rows up to it have at least that
        share of the weight.

    Returns
    -------
    float64 (columns, shares); NaN in a column without values. Nominal values are the index of their label.

    Raises
    ------
    ValueError : a share is below 0, above 1 or NaN, or there is no such method.
    """
    if method not in ("linear", "inverted_cdf"):
        raise ValueError(f"no method {method!r}; choose linear or inverted_cdf")
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"quantiles must be from 0 to 1, not {list(shares)}")
    values = SortedValues(table)
    return np.array([values.find_at_share(share, method) for share in shares]).reshape(len(shares), len(table)).T


def bin_by_quantiles(table: ContingencyTable) -> ContingencyTable:
    """Return the table with a cell for each of up to five bins between quantiles; nominal columns keep labels.

    A bin ends with one of the quantiles 0.2, 0.4, 0.6 and 0.8, as the method ``inverted_cdf`` of `quantiles` gives
    them. Zeros are in cells, too. The value of a cell is the least value in its bin, or the index of the label.
    """
    cells = table.with_zeros()
    column = cells.column_of_cell
    upto = sum_over_classes(cells.cumulative())
    before = np.where(find_run_begins(column), 0.0, np.append(0.0, upto)[:-1])  # the rows with a lower value
    share = before / SortedValues(table).count[column]
    return merge_cells_into_bins(
        cells, find_run_begins(np.searchsorted(np.arange(1, BINS) / BINS, share, side="right"))
    )


class SortedValues:
    """Finds training values of each column by their rank among all in ascending order, or by their share.

    Zeros count, and missing values do not; a row of weight w counts w times. Nominal values are the index of their
    label.

    Attributes
    ----------
    count : float64 (columns,), how many values each column has: the weight of their rows.
    """

    def __init__(self, table: ContingencyTable) -> None:
        self._cells = table.with_zeros()
        self._upto = np.asarray(sum_over_classes(self._cells.cumulative()))
        # The cells of all columns, in ascending order of the column and of the number of values so far.
        self._column = self._cells.column_of_cell
        self.count = np.zeros(len(table))
        np.maximum.at(self.count, self._column, self._upto)

    def find_at_rank(self, rank: np.ndarray) -> np.ndarray:
        """Return the value at a rank of each column: float64 (columns,); NaN in a column without values.

        `rank` is float64 (columns,), from 0. A value is the least for which the rows up to it weigh more than the rank.
        A rank below 0 counts as 0, and one above ``count - 1`` as that.
        """
        rank = np.clip(rank, 0, np.maximum(self.count - 1, 0))
        offset = np.cumsum(self.count) - self.count  # makes the numbers of values ascend over all columns
        return self._get_values_of_cells(
            np.searchsorted(self._upto + offset[self._column], rank + offset, side="right")
        )

    def find_at_share(self, share: float, method: str = "linear") -> np.ndarray:
        """Return a quantile of each column: float64 (columns,); NaN in a column without values.

        `share` is from 0 to 1, such as 0.5 for the median. `method` is one of those of `quantiles`.
        """
        if method == "inverted_cdf":
            before = self._column[self._upto / self.count[self._column] < share]
            return self._get_values_of_cells(self._cells.indptr[:-1] + np.bincount(before, minlength=len(self.count)))
        rank = np.maximum(self.count - 1, 0) * share
        below = np.floor(rank)
        low, high = self.find_at_rank(below), self.find_at_rank(below + 1)
        return np.asarray(low + (high - low) * np.where(rank > below, rank - below, 0.0))

    def _get_values_of_cells(self, cell: np.ndarray) -> np.ndarray:
        """Return the value of one cell of each column: float64 (columns,); NaN in a column without values.

        `cell`, int (columns,), are the indices of the cells. If one is not in its column, the column's first or last
        cell is taken, whichever is nearer.
        """
        found = np.full(len(cell), np.nan)
        filled = np.flatnonzero(self.count > 0)
        first, last = self._cells.indptr[:-1], self._cells.indptr[1:] - 1
        found[filled] = self._cells.values[np.clip(cell, first, last)[filled]]
        return found
