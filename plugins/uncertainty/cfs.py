"""Select a set of columns by their correlations (CFS)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import pairwise

import numpy as np

from filterkit import Attribute, Batch, ColumnStage, Schema, StageError, option
from filterkit.plugin import (
    Batches,
    ContingencyTable,
    FittedColumns,
    Floats,
    Gram,
    Ints,
    Moments,
    Ragged,
    State,
    add_parts,
    compute_n_log2_n,
    divide_or_zero,
    exact_parts,
    find_mdl_cuts,
    read_counted,
    sum_parts,
)

from .metrics import score_columns_by_symmetrical_uncertainty

_ENTRY = 64  # bytes that counting takes for each entry that is counted at once, and for each cell
_FEWEST = 1 << 14  # so many entries are counted at once, however little memory there is
_MOST_LABELS = 2000
_BETTER = 1e-5  # by how much the merit of a set must grow, as in Weka
_MOST_NUMBERS = 2000
_NOTHING = 1e-6  # an uncertainty below this is none, as in Weka


class Cfs(ColumnStage):
    """Keep a set of columns that tell much about the class and little about each other, as Weka's CfsSubsetEval does.

        filterkit in.arff cfs

    The merit of k columns is Σ r(column, class) / √(k + 2 Σ r(column, other column)), where r is the symmetrical
    uncertainty, see ``su --help`` (M. A. Hall, *Correlation-based Feature Selection for Machine Learning*, 1999).
    Numbers are first cut into bins, as for ``su``; the values of the rows stay as they are. Columns that tell nothing
    about each other at all, as constant ones do, count as if they told everything.

    With a numeric class, r is the absolute value of Pearson's correlation. Each label of a nominal column is then a 0/1
    column, and the column has the mean of their r, weighted by their rows. A missing value counts as the mean of the
    column, or as its most frequent label. The merit is Σ s r(column, class) / √(Σ s² + 2 Σ s s' r(column, other
    column)), where s is the standard deviation of a column. At most 2,000 numbers and labels are possible, if each
    numeric column counts as one number, and so does the class.

    The search is best-first, as in Weka's BestFirst. It starts without columns, and tries to add each column to the
    best set found so far that it has not tried. It ends after `--stale` sets in a row that led to nothing better. Then
    it adds locally predictive columns: those that tell at least as much about the class as about each column chosen.

    With a nominal class, a column may have at most 2,000 labels or bins. Each column of a set that the search goes on
    from then takes a pass over the rows, or several if `--memory` is small. Memory does not grow with the number of
    rows.
    """

    name = "cfs"
    group = "Select attributes"
    needs_class = True
    numeric_class = True

    stale: int = option(5, "End after N sets in a row that led to nothing better.", minimum=1)
    locally_predictive: bool = option(True, "Add locally predictive columns.")

    def fit_rows(self, rows: Batches, schema: Schema) -> State:
        schema.need_columns(self.name)
        for _ in read_counted(self.name, rows()):
            pass  # it checks all weights before they are added up
        target = schema.class_attribute
        assert target is not None
        between: Floats | UncertaintyCache
        if target.kind == "numeric":
            between, spread = compute_correlations_and_deviations(rows, schema)
            with_class = between[schema.width]
        else:
            from filterkit import Chain  # lists of stages do not need it

            (bins,) = Chain([_BinningStage()]).fit(rows(), memory=rows.memory).stages
            assert isinstance(bins, FittedColumns)
            with_class, spread = bins.state["su"].astype(np.float32).astype(np.float64), np.ones(schema.width)
            with_class[with_class < _NOTHING] = 0.0
            between = UncertaintyCache(rows, bins)
        chosen = search_best_column_set(with_class, spread, between, self.stale)
        if self.locally_predictive:
            chosen = add_locally_predictive_columns(chosen, with_class, between)
        kept = np.zeros(schema.width, bool)
        kept[chosen] = True
        return {"kept": kept}

    def output_columns(self, schema: Schema, state: State, totals: Floats) -> Ints:
        columns = np.flatnonzero(state["kept"])
        if schema.width and not len(columns):
            raise StageError(
                self.name, "no column tells anything about the class, so none is left; leave cfs out to keep all"
            )
        return columns


class _BinningStage(ColumnStage):
    """Replaces each number by the number of its bin, and learns the uncertainty of each column with the class.

    The state of the fitted stage has the uncertainty, ``su``, and the ``cuts`` between bins of each column.
    """

    name = Cfs.name

    def output(self, schema: Schema) -> Schema:
        return schema.replace(zero=False)

    def fit_columns(self, table: ContingencyTable) -> State:
        if table.schema.positive is not None:
            table = table.one_against_rest(*table.tasks())
        cells = table.with_zeros()
        at = np.sort(find_mdl_cuts(cells, by_values=True))
        starts = np.searchsorted(cells.column_of_cell[at], np.arange(len(cells) + 1))
        su = score_columns_by_symmetrical_uncertainty(table)
        rows = np.bincount(cells.column_of_cell, cells.rows, len(cells))
        return {"cuts": Ragged(starts, cells.values[at]), "su": su, "rows": rows, "nominal": table.nominal}

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        cuts, is_code = state["cuts"], state["nominal"][columns] | np.isnan(values)
        return np.where(is_code, values, cuts.search(columns, values) - cuts.indptr[columns])


class UncertaintyCache(dict[int, "Floats"]):
    """Maps the index of a column to its symmetrical uncertainties with all columns, float64 (columns,).

    They are computed when they are first looked up, in one or more passes over the rows. They are rounded to single
    precision, as in Weka, so that columns that say the same have equal uncertainties. Those below 1e-6, and those of
    columns with a single value, become 1.

    `rows` are the training rows, and `bins` is the fitted `_BinningStage`. Raise StageError if a column has more than
    2,000 labels or bins.
    """

    def __init__(self, rows: Batches, bins: FittedColumns) -> None:
        self._rows, self._bins, schema = rows, bins, bins.incoming
        labels = np.where(schema.nominal, schema.label_counts, bins.state["cuts"].lengths + 1)
        # The columns that have two values at least.
        self._columns = np.flatnonzero((labels > 1) & (bins.state["rows"] > 0))
        self._sizes = labels[self._columns] + 1  # how many codes each has; the last one stands for a missing value
        for column in self._columns[self._sizes > _MOST_LABELS + 1].tolist():
            raise StageError(
                Cfs.name,
                f"attribute '{schema.features[column].name}' has {labels[column]} labels, and columns of more than "
                f"{_MOST_LABELS} cannot be compared with others; remove it",
            )
        # How many entries to count at once, and about how many cells to count them in.
        self._counted = max(rows.memory // _ENTRY, _FEWEST)
        self._stored: list[tuple[Ints, Floats | None]] | None = None

    def __missing__(self, column: int) -> Floats:
        found = np.ones(len(self._bins.columns))  # also of columns of one value
        sizes = self._sizes
        for number in np.flatnonzero(self._columns == column).tolist():
            bounds = [0]
            while bounds[-1] < len(sizes):  # as many columns in a pass as their tables take memory
                upto = np.cumsum(sizes[bounds[-1] :]) * sizes[number]
                bounds.append(bounds[-1] + max(int(np.searchsorted(upto, self._counted, side="right")), 1))
            some = [self._compute_uncertainties_with_columns(number, low, high) for low, high in pairwise(bounds)]
            found[self._columns] = np.concatenate(some).astype(np.float32).astype(np.float64)
        self[column] = np.where(found < _NOTHING, 1.0, found)
        return self[column]

    def _compute_uncertainties_with_columns(self, number: int, start: int, stop: int) -> Floats:
        """Compute the uncertainties of the column `number` with those from `start` up to `stop`: float64 (n,).

        The three are indices of `_columns`, the columns with at least two values; `stop` is not included. The method
        reads the rows once.
        """
        sizes, own = self._sizes[start:stop], self._sizes[number]
        starts = np.cumsum(sizes) - sizes
        width = sizes.sum()
        sums = np.zeros((own * width, 1))
        for codes, weights in self._yield_bin_codes_and_weights():
            cell = (codes[:, [number]].astype(np.int64) * width + starts + codes[:, start:stop]).ravel()
            parts = None if weights is None else np.repeat(weights, stop - start, axis=0)
            sums = add_parts([sums, sum_parts(cell, parts, own * width)])
        return compute_symmetrical_uncertainties(sums.sum(axis=1).reshape(own, width), starts)

    def _yield_bin_codes_and_weights(self) -> Iterator[tuple[Ints, Floats | None]]:
        """Yield blocks of rows: codes, uint16 (rows, columns), and weights as `exact_parts` splits them.

        A code is the number of a bin or label, or the one after the last for a missing value. The columns are those of
        `_columns`. The weights are None if all are 1. The first pass stores the blocks, unless they exceed the memory.
        """
        if self._stored is not None:
            yield from self._stored
            return
        stored: list[tuple[Ints, Floats | None]] = []
        size = 0
        for batch in read_counted(Cfs.name, self._rows()):
            step = max(self._counted // len(self._bins.columns), 1)
            for first in range(0, len(batch), step):
                some = self._bins.transform(batch.rows(first, first + step))
                X = some.X[:, self._columns]
                codes = np.where(np.isnan(X), self._sizes - 1, X).astype(np.uint16, order="C")
                weights = None if some.weights is None else exact_parts(some.weights)
                yield codes, weights
                size += codes.nbytes
                if size <= self._rows.memory:
                    stored.append((codes, weights))
                else:
                    stored.clear()
        self._stored = stored if size <= self._rows.memory else None


def compute_correlations_and_deviations(rows: Batches, schema: Schema) -> tuple[Floats, Floats]:
    """Compute the correlations of columns with each other and with a numeric class, as Weka's CfsSubsetEval does.

    Return two arrays. The first is float64 (columns + 1, columns): |r| of each column with each column and, in the last
    row, of the class with each column. The second is float64 (columns,): the standard deviation of each column, 1 for a
    constant one. Raise StageError if there are too many columns, or values are too large.
    """
    target = schema.class_attribute
    assert target is not None
    schema = Schema("", [*schema.features, target])
    sizes = np.maximum(schema.label_counts, 1)
    starts, column = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    if len(column) > _MOST_NUMBERS:
        raise StageError(
            Cfs.name,
            f"there are {len(column):,} columns and labels, but with a numeric class at most "
            f"{_MOST_NUMBERS:,} are possible; put select --by correlation --top {_MOST_NUMBERS} before it",
        )

    def read_dense_rows_with_class() -> Iterator[Batch]:
        """Yield the rows with a known class and a weight, dense, with the class as the last column."""
        for batch in read_counted(Cfs.name, rows()):
            known = batch.in_form(sparse=False)
            X = np.column_stack([known.X, np.asarray(known.y)])
            yield known.replace(schema=schema, X=X, y=None, passthrough=None)

    parts = (Moments.of(batch, np.arange(len(sizes)), False, Cfs.name) for batch in read_dense_rows_with_class())
    fill = reduce(lambda *two: Moments.merge(two), parts).typical_values()
    nominal, label = schema.nominal[column], np.arange(len(column)) - starts[column]
    numbers = Schema("", [Attribute(str(number)) for number in range(len(column))])

    def read_rows_with_indicator_columns() -> Iterator[Batch]:
        for batch in read_dense_rows_with_class():
            X = np.where(np.isnan(batch.X), fill, batch.X)[:, column]
            yield batch.replace(schema=numbers, X=np.where(nominal, label == X, X - fill[column]))

    gram = Gram.of_all(read_rows_with_indicator_columns, numbers, Cfs.name)
    mean = gram.sums / gram.total
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = gram.matrix() / gram.total - np.outer(mean, mean)
    if not np.isfinite(covariance).all():
        raise StageError(Cfs.name, "the products of some values are too large for numbers; put range before it")
    variance = np.diagonal(covariance)
    varied = variance > 0
    deviation = np.sqrt(np.where(varied, variance, np.inf))
    r = np.where(np.outer(varied, varied), np.abs(covariance) / deviation / deviation[:, None], 1.0)
    r[-1] *= varied & varied[-1]
    share = np.where(nominal, mean, 1.0)
    r = np.add.reduceat(np.add.reduceat(r * share * share[:, None], starts), starts, axis=1)
    variances = np.add.reduceat(share * variance, starts)[:-1]
    return r[:, :-1].astype(np.float32).astype(np.float64), np.sqrt(np.where(variances > 0, variances, 1.0))


def compute_symmetrical_uncertainties(counts: Floats, starts: Ints) -> Floats:
    """Compute the symmetrical uncertainties of one column with k others: float64 (k,).

    They are 0 if either column has no known values or a single one.

    A row with a missing value counts for each value by its share, and a row where both are missing for each pair.

    Parameters
    ----------
    counts : float64 (values, width), the weight of the rows with each value of the column (first axis) and each value
        of the others, one column after the other. The last value of each column stands for a missing one.
    starts : int64 (k,), the index on the second axis of the first value of each other column.
    """
    ends = np.append(starts[1:], counts.shape[1]) - 1  # the missing values
    column = np.repeat(np.arange(len(starts)), ends - starts + 1)
    own, others = np.add.reduceat(counts, starts, axis=1)[:, 0], counts.sum(axis=0)
    total = own.sum()
    known = total - own[-1], total - others[ends]
    if not known[0]:
        return np.zeros(len(starts))
    of_missing, both = counts[:-1, ends], counts[-1, ends]
    pairs = total - own[-1] - others[ends] + both  # rows in which both are known
    filled = counts[:-1] + np.outer(own[:-1] / known[0], counts[-1])
    filled += of_missing[:, column] * divide_or_zero(others, known[1][column])
    filled += counts[:-1] * divide_or_zero(both, pairs)[column]
    filled[:, ends] = 0.0
    apart = np.where(pairs > 0, 0.0, both)  # nothing says how to share these out
    whole, rest = compute_n_log2_n(total), compute_n_log2_n(apart)
    joint = np.add.reduceat(compute_n_log2_n(filled).sum(axis=0), starts) + rest
    rows = compute_n_log2_n(np.add.reduceat(filled, starts, axis=1)).sum(axis=0) + rest
    columns = np.add.reduceat(compute_n_log2_n(filled.sum(axis=0)), starts) + rest
    found = divide_or_zero(2 * (whole - rows - columns + joint), 2 * whole - rows - columns)
    certain = (known[1] <= 0) | (whole - np.maximum(rows, columns) <= 1e-12 * whole)
    return np.where(certain, 0.0, found)


def search_best_column_set(
    class_correlations: Floats, spread: Floats, column_correlations: Floats | UncertaintyCache, max_stale: int
) -> list[int]:
    """Search for the set of columns with the best merit, see `Cfs`, and return their indices, ascending.

    Parameters
    ----------
    class_correlations : float64 (columns,), the correlation or uncertainty of each column with the class.
    spread : float64 (columns,), the standard deviation of each column; 1 with a nominal class.
    column_correlations : for the index of a column, its correlation or uncertainty with each column, float64
        (columns,).
    max_stale : the search ends after this number of sets in a row that led to nothing better. At most as many sets wait
        for their turn.
    """
    best: tuple[float, list[int]] = (0.0, [])  # the merit of a set, and its columns in the order in which they came
    waiting, vain = [best], 0
    while waiting and vain < max_stale:
        _, chosen = waiting.pop(0)
        above, below, with_chosen = 0.0, 0.0, np.zeros(len(class_correlations))
        for column in chosen:
            above += spread[column] * class_correlations[column]
            below = below + spread[column] ** 2 + 2 * spread[column] * with_chosen[column]
            with_chosen += spread[column] * column_correlations[column]
        merits = (above + spread * class_correlations) / np.sqrt(below + spread**2 + 2 * spread * with_chosen)
        merits[chosen] = -np.inf
        vain += 1
        for column, merit in enumerate(merits.tolist()):  # in turn, if it is better than the best before
            if merit - best[0] > _BETTER:
                best, vain = (merit, [*chosen, column]), 0
        first = [column for column in np.argsort(-merits, kind="stable")[:max_stale].tolist() if column not in chosen]
        waiting += [(merits[column], [*chosen, column]) for column in first]
        waiting = sorted(waiting, key=lambda each: -each[0])[:max_stale]  # equal ones as they were found
    return sorted(best[1])


def add_locally_predictive_columns(
    chosen: list[int], class_correlations: Floats, column_correlations: Floats | UncertaintyCache
) -> list[int]:
    """Add columns that tell at least as much about the class as about each column chosen so far, the best ones first.

    Return the indices of all chosen columns, ascending, in a new list; see `search_best_column_set` for the parameters.
    """
    chosen, most = list(chosen), np.zeros(len(class_correlations))
    for column in chosen:
        most = np.maximum(most, column_correlations[column])
    for column in np.argsort(-class_correlations, kind="stable").tolist():
        if column not in chosen and most[column] <= class_correlations[column]:
            chosen.append(column)
            most = np.maximum(most, column_correlations[column])
    return sorted(chosen)
