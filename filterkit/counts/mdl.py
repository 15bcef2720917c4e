"""Cut points of numeric columns by the minimum description length (U. Fayyad, K. Irani, *Multi-Interval Discretization
of Continuous-Valued Attributes for Classification Learning*, IJCAI 1993)."""

from __future__ import annotations

import numpy as np

from filterkit.counts.table import ContingencyTable, merge_cells_into_bins, sum_over_classes
from filterkit.data.arithmetic import compute_n_log2_n
from filterkit.data.ragged import expand_ranges, list_row_numbers


def find_mdl_cuts(cells: ContingencyTable, by_values: bool = False) -> np.ndarray:
    """Find where to cut the values of numeric columns into bins: where the entropy of the classes is least.

    A range of values is cut only if the cut gains more than it costs, and then both sides may be cut in turn. Missing
    values do not count. Of equally good cuts, the first is taken.

    Parameters
    ----------
    cells : a table with a cell for zeros; see `ContingencyTable.with_zeros`.
    by_values : whether the number of possible cuts of a range, with which the cost of a cut rises, is that of its
        distinct values less one. If False, it is that of its rows less one, as in the paper. Weka's Discretize calls
        True the better encoding (-E), and its evaluators of attributes use it.

    Returns
    -------
    int64 (cuts,), the indices of the cells after which there is a cut, in no particular order.
    """
    upto = cells.cumulative()
    is_first = np.zeros(len(upto) + 1, bool)
    is_first[cells.indptr] = True
    starts, stops = cells.indptr[:-1][~cells.nominal], cells.indptr[1:][~cells.nominal]
    ends = [np.empty(0, np.int64)]
    while True:
        is_open = stops - starts > 1
        starts, stops = starts[is_open], stops[is_open]
        if not len(starts):
            return np.concatenate(ends)
        lengths = stops - starts - 1  # how many cuts to try: one after each cell but the last
        first = np.cumsum(lengths) - lengths
        span = list_row_numbers(lengths)
        at = expand_ranges(starts, lengths)
        before = np.where(is_first[starts, None], 0.0, upto[starts - 1])
        left = upto.take(at, axis=0) - before.take(span, axis=0)
        whole = upto[stops - 1] - before
        right = whole.take(span, axis=0) - left
        rows = sum_over_classes(whole)
        entropy = (_compute_entropy_times_total(left) + _compute_entropy_times_total(right)) / rows[span]
        least = np.minimum.reduceat(entropy, first)
        # Of equally good cuts the first, as in Weka.
        hit = np.flatnonzero(entropy <= least[span] + 1e-15)
        best = hit[np.searchsorted(hit, first)]
        possible = lengths if by_values else np.maximum(rows - 1, 1.0)
        worth = _is_worth_cutting(whole, left[best], right[best], rows, possible)
        cut = at[best][worth]
        ends.append(cut)
        starts, stops = np.concatenate([starts[worth], cut + 1]), np.concatenate([cut + 1, stops[worth]])


def bin_by_mdl(table: ContingencyTable) -> ContingencyTable:
    """Return the table with a cell for each bin between the cuts of `find_mdl_cuts`; nominal columns keep their labels.

    The cuts are those of ``by_values=True``. Zeros are in cells, too. The value of a cell is the least value in its
    bin, or the index of the label.
    """
    cells = table.with_zeros()
    begins = np.zeros(len(cells.values), bool)
    begins[find_mdl_cuts(cells, by_values=True) + 1] = True
    return merge_cells_into_bins(cells, begins)


def _compute_entropy_times_total(counts: np.ndarray) -> np.ndarray:
    """Return the entropy in bits of the shares of `counts`, float64 (n, classes), times their sum: float64 (n,)."""
    total = sum_over_classes(counts)
    bits = compute_n_log2_n(total)
    for count in counts.T:
        bits = bits - compute_n_log2_n(count)
    return bits


def _is_worth_cutting(
    whole: np.ndarray, left: np.ndarray, right: np.ndarray, rows: np.ndarray, possible: np.ndarray
) -> np.ndarray:
    """Return whether the gain of each cut exceeds its cost (section 3 of the paper): bool (n,).

    Parameters
    ----------
    whole, left, right : float64 (n, classes), the weights of the rows of each range, and of its two sides.
    rows : float64 (n,), the weight of all rows of the range.
    possible : (n,), how many cuts of the range are possible.
    """
    entropies, kinds = [], []
    for counts in (whole, left, right):
        entropies.append(_compute_entropy_times_total(counts) / sum_over_classes(counts))
        kinds.append(sum_over_classes(counts > 0))
    shares = sum_over_classes(left) / rows, sum_over_classes(right) / rows
    gain = entropies[0] - shares[0] * entropies[1] - shares[1] * entropies[2]
    k = kinds[0]
    with np.errstate(over="ignore"):  # from 647 classes on infinite, as in Weka, which then makes no cut
        choices = np.log2(3.0**k - 2)
    delta = choices - (k * entropies[0] - kinds[1] * entropies[1] - kinds[2] * entropies[2])
    cost = (np.log2(possible) + delta) / rows
    return np.asarray((gain > 1e-15) & (gain > cost))
