"""Estimates of the probability of the positive class at each training value.

In all of them, `cells` is a table of k columns, with zero among its values unless zero is special. `tasks` are the
codes of the classes that count as positive, one after the other. `prior`, float64 (tasks,), is the number of positive
rows, of 2, with which each estimate starts.
"""

from __future__ import annotations

import numpy as np

from filterkit.plugin import ContingencyTable, Ragged, sum_over_classes

_ALL = 1 << 43  # more rows are never counted
_CHUNK = 1 << 16  # cells that are worked on at once, to save memory


def prior_counts(table: ContingencyTable, tasks: list[int], prior: str) -> np.ndarray:
    """float64 (tasks,): the positive rows, of 2, with which each estimate starts.

    Parameters
    ----------
    prior : ``laplace`` for 1; ``class`` for twice the share of the class among all rows, or 1 if that is 0 or 1.
    """
    total = table.totals.sum()
    if prior == "laplace" or total <= 0:
        return np.ones(len(tasks))
    share = table.totals[tasks] / total
    return np.where((share > 0) & (share < 1), 2 * share, 1.0)


def corrected(counts: np.ndarray, tasks: list[int], prior: np.ndarray) -> np.ndarray:
    """float64 (n, tasks): (positives + prior) / (rows + 2) of the class weights `counts`, float64 (n, classes)."""
    return np.asarray((counts[:, tasks] + prior) / (sum_over_classes(counts)[:, None] + 2))


def log_odds(p: np.ndarray) -> np.ndarray:
    """log p − log(1 − p)."""
    return np.asarray(np.log(p) - np.log1p(-p))


def local_estimates(cells: ContingencyTable, tasks: list[int], prior: np.ndarray, neighbors: int) -> np.ndarray:
    """float64 (cells, tasks): p of each training value (section 3.2).

    A window is a range of ranks, the running count of rows in the order of values: `neighbors` below and above those of
    the value itself. It holds some values whole and, at either end, a part of one. Numerator and denominator are made
    whole numbers, so that with whole weights p is the float64 nearest to the fraction, and equal fractions are equal.
    """
    upto = cells.cumulative()
    ranks = Ragged(cells.indptr, sum_over_classes(upto))
    upto, positives = upto[:, tasks], cells.counts[:, tasks]
    estimates = np.empty((len(cells.values), len(tasks)))
    for begin in range(0, len(estimates), _CHUNK):
        some = slice(begin, begin + _CHUNK)
        estimates[some] = _in_windows(cells, some, upto, positives, ranks, prior, neighbors)
    return estimates


def _in_windows(
    cells: ContingencyTable,
    some: slice,
    upto: np.ndarray,
    positives: np.ndarray,
    ranks: Ragged,
    prior: np.ndarray,
    neighbors: int,
) -> np.ndarray:
    """The estimates of some cells.

    Parameters
    ----------
    cells, prior, neighbors : as for `local_estimates`.
    some : which cells.
    upto, positives : float64 (cells, tasks), the positive rows up to each cell of a column, and of each cell.
    ranks : all rows up to each cell of each column.
    """
    rows_upto, all_of_rows = ranks.values, cells.rows
    rows, column = all_of_rows[some], cells.column_of_cell[some]
    last = cells.indptr[1:][column] - 1
    all_rows = rows_upto[last]
    reach = np.where(cells.nominal[column], 0.0, float(min(neighbors, _ALL)))
    low = np.maximum(rows_upto[some] - rows - reach, 0.0)
    high = np.minimum(rows_upto[some] + reach, all_rows)
    # The window of a rare word's value holds its whole column.
    estimates: np.ndarray = (upto.take(last, axis=0) + prior) / (all_rows + 2)[:, None]
    own = np.flatnonzero((low > 0) | (high < all_rows))
    narrower = own + some.start
    column, last, low, high = column[own], last[own], low[own], high[own]
    rows = all_of_rows
    inside = positives.take(narrower, axis=0)  # positive rows of the values that the window holds whole
    before = upto.take(narrower, axis=0) - inside
    through = before + inside
    taken, size, part_positives = [], [], []  # of the value cut by each end: rows inside, all rows, positive rows
    for rank, is_low in ((low, True), (high, False)):
        cut = np.minimum(ranks.search(column, rank), last)
        rows_cut, positives_cut, upto_cut = rows[cut], positives.take(cut, axis=0), upto.take(cut, axis=0)
        rows_inside = rows_upto[cut] - rank if is_low else rank - rows_upto[cut] + rows_cut
        is_whole = rows_inside == rows_cut
        inside += before - upto_cut if is_low else upto_cut - positives_cut - through
        inside += np.where(is_whole[:, None], positives_cut, 0.0)
        is_part = ~is_whole & (rows_inside > 0)
        taken.append(np.where(is_part, rows_inside, 0.0)[:, None])
        size.append(np.where(is_part, rows_cut, 1.0)[:, None])
        part_positives.append(positives_cut)
    denominator = (high - low + 2)[:, None] * size[0] * size[1]
    numerator = (inside + prior) * size[0] * size[1]
    numerator += taken[0] * part_positives[0] * size[1] + taken[1] * part_positives[1] * size[0]
    estimates[own] = numerator / denominator
    return estimates


def zero_estimates(
    cells: ContingencyTable, tasks: list[int], prior: np.ndarray, estimates: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """float64 (k, tasks): p(0) where zero is special (section 3.5).

    Parameters
    ----------
    estimates : float64 (cells, tasks), of the other training values.
    share : float64 (tasks,), the estimate from all rows, for nominal columns without zeros.
    """
    zero = corrected(cells.zeros, tasks, prior)
    absent = sum_over_classes(cells.zeros) == 0
    zero[absent] = share  # of empty columns too, which the caller takes care of
    columns = np.flatnonzero(absent & ~cells.nominal & (np.diff(cells.indptr) > 0))
    if len(columns):
        # Nearest zero is the first value above it or the one before that.
        after = Ragged(cells.indptr, cells.values).search(columns, np.zeros(len(columns)))
        before = np.maximum(after - 1, cells.indptr[columns])
        after = np.minimum(after, cells.indptr[columns + 1] - 1)
        nearest = np.where(np.abs(cells.values[before]) < np.abs(cells.values[after]), before, after)
        zero[columns] = estimates[nearest]
    return zero


def isotonic_estimates(cells: ContingencyTable, tasks: list[int]) -> np.ndarray:
    """float64 (cells, tasks): the monotone fit of the share of positives on the values of each column, rising or
    falling, whichever has the smaller squared error."""
    rows = cells.rows
    fits = np.zeros((len(rows), len(tasks)))
    columns = np.flatnonzero(np.diff(cells.indptr))
    for i, task in enumerate(tasks if len(rows) else []):
        positives = cells.counts[:, task]
        share = positives / rows
        both = [_pooled(s, positives, rows, cells.column_of_cell) for s in (share, -share)]
        errors = [np.add.reduceat(rows * (fit - share) ** 2, cells.indptr[columns]) for fit in both]
        falls = np.zeros(len(cells), bool)
        falls[columns] = errors[1] < errors[0] * (1 - 1e-9) - 1e-12  # errors equal but for rounding: it rises
        fits[:, i] = np.where(falls[cells.column_of_cell], both[1], both[0])
    return fits


def _pooled(share: np.ndarray, positives: np.ndarray, rows: np.ndarray, column: np.ndarray) -> np.ndarray:
    """positives / rows in the blocks into which a rising fit of `share`, weighted by `rows`, pools each column.

    One call fits all columns: each is lifted above the one before it, so that no block spans two. Lifting costs digits,
    so only the blocks are taken from that fit.
    """
    from scipy.optimize import isotonic_regression

    blocks = isotonic_regression(share + 2.0 * column, weights=rows).blocks
    starts = np.asarray(blocks[:-1])
    means = np.add.reduceat(positives, starts) / np.add.reduceat(rows, starts)
    return np.asarray(np.repeat(means, np.diff(blocks)))


def shapes_curve(images: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """bool (cells,): which values a curve needs as knots, so that interpolation between them gives all images exactly.

    It does not need a value whose neighbors on both sides have the same images.

    Parameters
    ----------
    images : float64 (cells, tasks), of the values of each column, one column after the other.
    indptr : int64 (columns + 1,); the cells of column i are ``indptr[i]:indptr[i + 1]``.
    """
    changes = np.ones(len(images) + 1, bool)  # whether the curve changes before each cell, and after the last
    changes[1:-1] = (images[1:] != images[:-1]).any(axis=1)
    changes[indptr] = True
    return changes[1:] | changes[:-1]
