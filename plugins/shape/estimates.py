"""Estimate the probability of the positive class at each training value.

In all functions, `cells` is a contingency table, and a cell is a value of a column. Zero is among the values of numeric
columns unless it is special. `tasks` are codes of classes; there are estimates with each of these as the positive one.
"""

from __future__ import annotations

import math
import re
from math import ceil, lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from filterkit import UsageError
from filterkit.plugin import Bools, ContingencyTable, Floats, Ints, Ragged, quoted, sum_over_classes

if TYPE_CHECKING:
    from fractions import Fraction

_CHUNK = 1 << 16  # cells that are worked on at once, to save memory
_EXACT = 1 << 53  # whole numbers up to here are float64
_LONGEST = 1000  # characters of a number of rows
_LEAST, _LARGEST = math.nextafter(0, 1), math.nextafter(1, 0)  # estimates that have log odds


def parse_neighbor_count(neighbors: int | str, rows: float) -> Fraction:
    """Return how many rows a window has on each side of a value, as ``--neighbors`` says: 15, or ``5%`` of all rows.

    `rows` is the number of all rows. A percentage gives at least one row; the result need not be a whole number. Raise
    a UsageError if `neighbors` is neither a whole number nor a percentage up to 100.
    """
    from fractions import Fraction  # imported where it is used, because it takes as long as a small stage

    text = str(neighbors)
    number = text.removesuffix("%")
    plain = re.fullmatch(r"[0-9]+|(?=.*[0-9])[0-9]*[.]?[0-9]*%", text) and len(number) <= _LONGEST
    if not plain or (number != text and Fraction(number) > 100):
        raise UsageError(
            "shape: --neighbors must be a number of rows such as 15, or a share of all rows such as 5%, "
            f"not {quoted(text)}"
        )
    if number == text:
        return Fraction(number)
    return max(Fraction(1), Fraction(number) / 100 * Fraction(rows))


class Smoothing(NamedTuple):
    """Holds the width of windows, and the prior to which estimates from few rows shrink.

    Numbers of rows are counted in units. A unit is a fraction of a row, chosen so that all numbers are whole where
    possible. Then numerators and denominators of estimates are whole, too, and equal fractions are equal float64.

    Attributes
    ----------
    units_per_row : the number of units of one row.
    window : the units of rows that a window has on each side of a value.
    prior_positives : float64 (tasks,), the units of positive rows that the prior adds to each estimate.
    prior_rows : the units of rows that the prior adds.
    """

    units_per_row: float
    window: float
    prior_positives: Floats
    prior_rows: float


def make_smoothing(
    table: ContingencyTable, tasks: list[int], neighbors: int | str, prior: str, strength: float
) -> Smoothing:
    """Make the windows and the prior for a table, from the options `neighbors`, `prior` and `strength` of `shape`.

    With ``laplace`` the prior is 1/2; with ``class``, the share of the class among all rows, or 1/2 if that is 0 or 1.
    It counts as `strength` rows. Raise UsageError as `parse_neighbor_count` does.
    """
    from fractions import Fraction

    total = Fraction(table.totals.sum())
    reach = min(parse_neighbor_count(neighbors, float(total)), Fraction(ceil(total)))  # a wider window has no more rows
    rows = Fraction(strength)
    half = Fraction(1, 2)
    shares = [half] * len(tasks)
    if prior == "class" and total > 0:
        shares = [Fraction(count) / total for count in table.totals[tasks].tolist()]
        shares = [share if 0 < share < 1 else half for share in shares]
    positives = [rows * share for share in shares]
    unit = lcm(*(number.denominator for number in (reach, rows, *positives)))
    if unit * (2 * total + reach + rows) > _EXACT:
        unit = 1
    return Smoothing(
        float(unit), float(unit * reach), np.array([float(unit * p) for p in positives]), float(unit * rows)
    )


def estimate_positive_shares(counts: Floats, tasks: list[int], smoothing: Smoothing) -> Floats:
    """Estimate the share of positive rows in each group of rows: float64 (n, tasks).

    `counts`, float64 (n, classes), are the weights of the rows of each class in each group. The estimate of an empty
    group is the prior.
    """
    numerator = counts[:, tasks] * smoothing.units_per_row + smoothing.prior_positives
    return numerator / (sum_over_classes(counts)[:, None] * smoothing.units_per_row + smoothing.prior_rows)


def compute_log_odds(p: Floats) -> Floats:
    """Compute log p − log(1 − p) of each probability; 0 and 1 count as the next float64 between 0 and 1."""
    p = np.clip(p, _LEAST, _LARGEST)
    return np.log(p) - np.log1p(-p)


def estimate_local_probabilities(cells: ContingencyTable, tasks: list[int], smoothing: Smoothing) -> Floats:
    """Estimate the probability at each training value from the rows around it (section 3.2): float64 (cells, tasks).

    The rows around a value are a window, a range in the order of values. It has all rows of the value, and reaches
    `smoothing.window` units beyond them on both sides. If an end cuts through the rows of another value, a share of
    these rows counts. The window of a nominal value has only its own rows. Numerator and denominator are whole if
    weights are, so that the result is the float64 nearest to the fraction.
    """
    rows, counts = cells.rows, cells.cumulative()
    units_upto = sum_over_classes(counts) * smoothing.units_per_row
    ranks = Ragged(cells.indptr, units_upto)
    upto, positives = counts[:, tasks], cells.counts[:, tasks]
    estimates = np.empty((len(rows), len(tasks)))
    for begin in range(0, len(rows), _CHUNK):
        some = np.arange(begin, min(begin + _CHUNK, len(rows)))
        column = cells.column_of_cell[some]
        last = cells.indptr[1:][column] - 1
        all_units = units_upto[last]
        reach = np.where(cells.nominal[column], 0.0, smoothing.window)
        low = np.maximum(units_upto[some] - rows[some] * smoothing.units_per_row - reach, 0.0)
        high = np.minimum(units_upto[some] + reach, all_units)
        # The window of a rare word's value holds its whole column.
        whole = upto.take(last, axis=0) * smoothing.units_per_row + smoothing.prior_positives
        estimates[some] = whole / (all_units + smoothing.prior_rows)[:, None]
        narrower = np.flatnonzero((low > 0) | (high < all_units))
        some, column, last, low, high = (each[narrower] for each in (some, column, last, low, high))
        inside = positives.take(some, axis=0)  # positive rows of the values that the window holds whole
        before = upto.take(some, axis=0) - inside
        through = before + inside
        taken, size, part_positives = [], [], []  # of the value cut by each end: units inside, all rows, positive rows
        for rank, is_low in ((low, True), (high, False)):
            cut = np.minimum(ranks.search(column, rank), last)
            positives_cut, upto_cut = positives.take(cut, axis=0), upto.take(cut, axis=0)
            units_cut = rows[cut] * smoothing.units_per_row
            units_inside = units_upto[cut] - rank if is_low else rank - units_upto[cut] + units_cut
            is_whole = units_inside == units_cut
            inside += before - upto_cut if is_low else upto_cut - positives_cut - through
            inside += np.where(is_whole[:, None], positives_cut, 0.0)
            is_part = ~is_whole & (units_inside > 0)
            taken.append(np.where(is_part, units_inside, 0.0)[:, None])
            size.append(np.where(is_part, rows[cut], 1.0)[:, None])
            part_positives.append(positives_cut)
        denominator = (high - low + smoothing.prior_rows)[:, None] * size[0] * size[1]
        numerator = (inside * smoothing.units_per_row + smoothing.prior_positives) * size[0] * size[1]
        numerator += taken[0] * part_positives[0] * size[1] + taken[1] * part_positives[1] * size[0]
        estimates[some] = numerator / denominator
    return estimates


def estimate_probabilities_at_zero(
    cells: ContingencyTable, tasks: list[int], smoothing: Smoothing, estimates: Floats, share: Floats
) -> Floats:
    """Estimate the probability at zero of each column, where zero is special (section 3.5): float64 (columns, tasks).

    Parameters
    ----------
    estimates : float64 (cells, tasks), those at the other training values. A numeric column without zeros gets the one
        nearest zero.
    share : float64 (tasks,), the estimate from all rows, for nominal columns without zeros and for empty columns.
    """
    zero = estimate_positive_shares(cells.zeros, tasks, smoothing)
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


def fit_monotone_curves(cells: ContingencyTable, tasks: list[int]) -> Floats:
    """Fit the share of positives in each column by a rising or a falling function of the value: float64 (cells, tasks).

    The function with the smaller squared error is chosen, or the rising one if both are as good. Codes of labels count
    as numbers.
    """
    from scipy.optimize import isotonic_regression

    rows = cells.rows
    fits = np.zeros((len(rows), len(tasks)))
    columns = np.flatnonzero(np.diff(cells.indptr))
    for i, task in enumerate(tasks if len(rows) else []):
        positives = cells.counts[:, task]
        share = positives / rows
        both = []
        for rising in (share, -share):
            # One call fits all columns: each is lifted above the one before it, so that no block spans two. Lifting
            # costs digits, so only the blocks are taken from that fit.
            blocks = isotonic_regression(rising + 2.0 * cells.column_of_cell, weights=rows).blocks
            starts = blocks[:-1]
            means = np.add.reduceat(positives, starts) / np.add.reduceat(rows, starts)
            both.append(np.repeat(means, np.diff(blocks)))
        errors = [np.add.reduceat(rows * (fit - share) ** 2, cells.indptr[columns]) for fit in both]
        falls = np.zeros(len(cells), bool)
        falls[columns] = errors[1] < errors[0] * (1 - 1e-9) - 1e-12  # errors equal but for rounding: it rises
        fits[:, i] = np.where(falls[cells.column_of_cell], both[1], both[0])
    return fits


def flag_knots(images: Floats, indptr: Ints) -> Bools:
    """Flag the values from which linear interpolation returns all `images` exactly: bool (cells,).

    A value is not flagged if it and the values before and after it in its column have the same images. `images`,
    float64 (cells, tasks), are what the values become; column i has the cells ``indptr[i]:indptr[i + 1]``.
    """
    changes = np.ones(len(images) + 1, bool)  # whether the curve changes before each cell, and after the last
    changes[1:-1] = (images[1:] != images[:-1]).any(axis=1)
    changes[indptr] = True
    return changes[1:] | changes[:-1]
