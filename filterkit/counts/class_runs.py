"""Scoring the tests of many classes in time that grows with the cells, not with cells times classes.

Along the thresholds of a column, from the largest value down, the weight that a test selects of one class changes only
at the class's own cells. The tests in between are a *run*: they select the same weight of the class. A class that has
no cell in a column is in no test of it, and then the score depends only on the rows selected and on the weight of the
class. All runs of classes of the same weight are scored together, and each pair of counts once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from filterkit.counts.class_parts import SparseClassWeights, sum_over_parts
from filterkit.data.ragged import (
    compute_offsets,
    expand_ranges,
    find_indptr_and_entries_of_rows,
    find_run_begins,
    list_row_numbers,
)

_PAIRS = 1 << 20  # pairs of a run and a test that are scored at once, to save memory

# A function of tp and fp, float64 (n,) each, pos, neg, and the column of each test, int64 (n,). It returns the scores
# of the tests, float64 (n,), and the score of a feature that no row has.
Score = Callable[["np.ndarray", "np.ndarray", float, float, "np.ndarray"], tuple["np.ndarray", float]]


class Runs(NamedTuple):
    """The runs of tests of each pair of a column and a class that has cells in the column.

    A run is a range of consecutive tests of a column that select the same weight of the class. Tests are numbered over
    all columns.

    Attributes
    ----------
    column, code : int64 (pairs,), the covered column and the code of the class of each pair.
    first : int64 (pairs,), the first run of each pair; its runs end before the first run of the next pair.
    low, high : int64 (runs,), the tests of each run are those from `low` up to, but not including, `high`.
    tp : float64 (runs,), the weight of the class that each of these tests selects.
    ordered : bool (runs,), whether the rows selected become fewer from test to test, as in a numeric column. In a
        nominal column, they may become more or fewer.
    """

    column: np.ndarray
    code: np.ndarray
    first: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tp: np.ndarray
    ordered: np.ndarray

    def select_pairs(self, chosen: np.ndarray) -> Runs:
        """Return the runs of some pairs of a column and a class.

        `chosen`, int64, are the indices of the pairs; the result has them in this order.
        """
        first, runs = find_indptr_and_entries_of_rows(np.append(self.first, len(self.low)), chosen)
        return Runs(self.column[chosen], self.code[chosen], first[:-1], *(each[runs] for each in self[3:]))


class ClassCells(NamedTuple):
    """The cells in which each class has rows: an entry for each cell and class.

    Entries are sorted by column, then by class, then from the largest value down.

    Attributes
    ----------
    cell, code : int64 (entries,), the cell and the code of the class of each entry.
    weight : float64 (entries,), the weight of the rows of the class in the cell.
    begins : bool (entries,), whether the entry is the first one of its column and class.
    upto : float64 (entries,), the weight of the rows of the class in this cell and in the cells of larger values of the
        column.
    """

    cell: np.ndarray
    code: np.ndarray
    weight: np.ndarray
    begins: np.ndarray
    upto: np.ndarray


def sort_cells_by_column_and_class(parts: SparseClassWeights, column_of_cell: np.ndarray) -> ClassCells:
    """List the cells in which each class has rows.

    `parts` are the weights of all cells of a table. `column_of_cell` is int64 (cells,), the column of each, ascending;
    within a column, values must ascend.
    """
    cell, code, weights = parts.position_of_entry[::-1], parts.code[::-1].astype(np.int64), parts.parts[::-1]
    key = column_of_cell[cell] * parts.classes + code
    order = np.argsort(key, kind="stable")
    key, weights = key[order], weights[order]
    begins = find_run_begins(key)
    running = np.cumsum(weights, axis=0)
    first = np.flatnonzero(begins)
    before = np.repeat(running[first] - weights[first], np.diff(first, append=len(key)), axis=0)
    return ClassCells(cell[order], code[order], sum_over_parts(weights), begins, sum_over_parts(running - before))


def find_runs_by_class(
    cells: ClassCells, indptr: np.ndarray, column_of_cell: np.ndarray, is_test: np.ndarray, nominal: np.ndarray
) -> Runs:
    """Find the runs of tests of each class in each column where it has cells, if the column has a test.

    The pairs of a column and a class are sorted by column, then by class.

    Parameters
    ----------
    cells : the cells of each class.
    indptr, column_of_cell : those of the `ContingencyTable` that the cells come from.
    is_test : bool (cells of the table,), which cells have a test.
    nominal : bool (k,), which columns are nominal. A test of these selects the rows with one value; a test of the
        others, those with at least this value.
    """
    before = compute_offsets(is_test)  # tests before each cell
    column = column_of_cell[cells.cell]
    one_value = nominal[column]
    begin = np.flatnonzero(cells.begins)
    # Below each cell of the class, down to its next one, the tests select what this cell and those above have.
    following = np.append(cells.cell[1:] + 1, 0)
    ends = np.append(cells.begins, True)[1:]
    floor = before[np.where(ends, indptr[column], following)]
    own, above = before[cells.cell], before[cells.cell + 1]
    # Three runs for each cell: those tests, in a nominal column those that the cell is not in, and, for the first cell
    # of a class, the tests above it.
    top = np.where(cells.begins, before[indptr[column + 1]], above)
    nothing = np.zeros(len(column))
    low = np.stack([above, np.where(one_value, own, floor), floor], axis=1)
    high = np.stack([top, above, np.where(one_value, own, floor)], axis=1)
    tp = np.stack([nothing, np.where(one_value, cells.weight, cells.upto), nothing], axis=1)
    filled = (high > low).ravel()
    count = compute_offsets(filled)
    first = count[begin * 3]
    some = np.diff(first, append=count[-1]) > 0
    ordered = np.repeat(~one_value, 3)
    return Runs(
        column[begin][some],
        cells.code[begin][some],
        first[some],
        *(each.ravel()[filled] for each in (low, high, tp, ordered)),
    )


def find_best_score_of_each_pair(
    runs: Runs, rows: np.ndarray, pos: float, neg: float, score: Score, ends: bool
) -> np.ndarray:
    """Return the best score of each pair of a column and a class, over the tests of its runs: float64 (pairs,).

    Parameters
    ----------
    runs : of classes that all have the weight `pos`.
    rows : float64 (tests,), the weight of the rows that each test selects.
    pos, neg : the weight of each of the classes, and of its rest.
    score : the function that scores tests.
    ends : whether to score only the first two and the last two tests of each run that is ordered. It must be so that
        the best is among them; see `Metric.best_at_ends`.
    """
    best = np.empty(len(runs.first))
    if ends:
        runs = _cut_runs_to_ends(runs)
    upto = compute_offsets(runs.high - runs.low)[np.append(runs.first, len(runs.low))]
    first = 0
    while first < len(best):  # about a million tests at once, to save memory
        stop = max(int(np.searchsorted(upto, upto[first] + _PAIRS, "right")) - 1, first + 1)
        part = runs.select_pairs(np.arange(first, stop))
        lengths = part.high - part.low
        tp = np.minimum(np.repeat(part.tp, lengths), pos)
        fp = np.minimum(rows[expand_ranges(part.low, lengths)] - tp, neg)
        begin = (np.cumsum(lengths) - lengths)[part.first]
        column = np.repeat(part.column, np.diff(begin, append=len(tp)))
        best[first:stop] = np.maximum.reduceat(score(tp, np.maximum(fp, 0.0), pos, neg, column)[0], begin)
        first = stop
    return best


def _cut_runs_to_ends(runs: Runs) -> Runs:
    """Replace each ordered run of more than four tests by two, of its first two and its last two tests; keep others."""
    long = runs.ordered & (runs.high - runs.low > 4)
    copies = np.where(long, 2, 1)
    run = list_row_numbers(copies)
    second = ~find_run_begins(run)
    low, high = runs.low[run], runs.high[run]
    cut = long[run]
    low, high = np.where(cut & second, high - 2, low), np.where(cut & ~second, low + 2, high)
    before = compute_offsets(copies)
    return Runs(runs.column, runs.code, before[runs.first], low, high, runs.tp[run], runs.ordered[run])


def sum_from_each_cell_to_column_end(values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Add up, for each cell, its value and those of the cells after it in the same column: float64 (cells,).

    `values` is float64 (cells,). The cells of column i are ``indptr[i]:indptr[i + 1]``. The sums depend on no other
    column. Each value is rounded to about 2**-80 of the sum of the absolute values of its column, and the sums of the
    rounded values are exact but for the last rounding.
    """
    columns = len(indptr) - 1
    column = list_row_numbers(np.diff(indptr))
    _, exponent = np.frexp(np.bincount(column, np.abs(values), columns))
    total = np.zeros(len(values))
    rest = values
    for shift in (51, 81):
        grid = np.ldexp(1.0, exponent - shift)[column]
        part = np.rint(rest / grid) * grid
        rest = rest - part
        sums = np.bincount(column, part, columns)
        at = np.arange(len(values)) + column  # after each column, its sum is taken off again
        running = np.zeros(len(values) + columns + 1)
        running[at + 1] = part
        running[indptr[1:] + np.arange(1, columns + 1)] = -sums
        total = total + (sums[column] - np.cumsum(running)[at])
    return total
