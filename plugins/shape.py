"""Feature shaping (Forman, Scholz and Rajaram, KDD 2009)."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from filterkit import Attribute, ColumnStage, Schema, StageError, hookimpl, option
from filterkit.plugin import (
    ContingencyTable,
    Fold,
    LazyAttributes,
    Points,
    Ragged,
    State,
    log_losses,
    suggestion,
    sum_over_classes,
)

_ALL = 1 << 43  # more rows are never counted


class Shape(ColumnStage):
    """Replace each value by the local probability of the positive class around it.

    p(v) is the share of positives among all training rows equal to v, up to `--neighbors` rows nearest
    below and as many nearest above, taken value by value, the last pro rata; Laplace-corrected,
    (positives + 1) / (rows + 2). Between training values p is interpolated linearly, beyond them it is
    held (sections 3.2 and 3.3 of the paper).

    Where zero is special it is a bin of its own that is no one's neighbour, and p(0) is subtracted, so
    that zero stays zero and sparse rows stay sparse (section 3.5). If no training row has a zero, p(0) is
    the estimate of the training value nearest zero. Missing is a bin of its own; nominal values have no
    neighbours. A missing or nominal value that training did not see gets the share of positives in all
    training rows. A column that is empty in training becomes 0.

    `--method logodds` puts out log p − log(1 − p) instead (section 3.3); `isotonic` the monotone function of the
    value that fits the share of positives best by squared error, rising or falling, whichever fits better (pool
    adjacent violators; no neighbours and no correction, but nominal values, zero and missing are as above).
    `--prior class` draws estimates to the share π of positives, (positives + 2π) / (rows + 2), not to 1/2.

    With more than two classes and no ``--positive``, each column becomes one column a class that has
    rows, named ``attribute@class``. With rows of one class only, the estimates hold no information but
    are still defined.

    Values that few rows have overfit small training sets (section 4.3). `--cross-fit K` draws the rows of each
    class into K folds and gives each row what the rows of the other folds say; rows that come later, as with
    ``--test``, get what all training rows say. The only row of a class is in no fold and gets that too.

    `--only` and `--except` are attribute names or patterns with ``*`` and ``?``; other columns stay as they are.
    `--auto` also leaves a numeric column as it is unless its shaped values predict the class better: by the log
    loss, over the rows left out of each of K folds (5 without `--cross-fit`), of a logistic regression on this
    column alone, standardised and with scikit-learn's default penalty, missing values being the mean (the
    automated policies that section 5 asks for).
    """

    name = "shape"
    fills_missing = True  # a missing value has a probability, too

    method: str = option("lp", "What a value becomes.", choices=("lp", "logodds", "isotonic"))
    neighbors: int = option(15, "Rows to take in on each side of a value.", minimum=0)
    prior: str = option("laplace", "What estimates from few rows are drawn to.", choices=("laplace", "class"))
    zero: bool | None = option(None, "Whether zero is special; by default it is for sparse input.")
    cross_fit: int | None = option(
        None, "Folds for estimates of training rows from others; none by default.", minimum=2
    )
    only: tuple[str, ...] = option((), "Shape the attributes of this name or pattern and leave the others.")
    except_: tuple[str, ...] = option((), "Leave the attributes of this name or pattern as they are.")
    auto: bool = option(False, "Leave columns as they are that shaping makes no better.")
    seed: int = option(0, "For drawing folds.", minimum=0)

    def folds(self) -> int:
        return self.cross_fit or (5 if self.auto else 0)

    def fold_seed(self) -> int:
        return self.seed

    def cross_fits(self) -> bool:
        return self.cross_fit is not None

    def output(self, schema: Schema) -> Schema:
        return schema.replace(zero=self._special(schema))

    def _special(self, schema: Schema) -> bool:
        return schema.zero if self.zero is None else self.zero

    def fit_columns(self, table: ContingencyTable) -> State:
        special = self._special(table.schema)
        cells = table if special else table.with_zeros()
        tasks = table.tasks()
        prior = self._prior(table, tasks)
        share = (table.totals[tasks] + prior) / (table.totals.sum() + 2)
        knots = Ragged(cells.indptr, cells.values)
        estimates = self._estimates(cells, tasks, prior)
        if self.method == "isotonic":
            estimates = np.where(cells.nominal[cells.column_of_cell][:, None], estimates, _isotonic(cells, tasks))
        missing = _corrected(table.missing, tasks, prior)
        missing[sum_over_classes(table.missing) == 0] = share
        zero = np.zeros((len(table), len(tasks)))
        if special:
            zero = self._zero_estimates(cells, knots, tasks, estimates, share, prior)
        # From here on T(p) for p, but for what is interpolated first.
        if self.method == "logodds":
            share, missing = _log_odds(share), _log_odds(missing)
            zero = _log_odds(zero) if special else zero
        empty = (np.diff(cells.indptr) == 0) & ~(special & (sum_over_classes(table.zeros) > 0))
        missing[empty] = zero[empty] = 0.0
        images = estimates if self.method == "logodds" else estimates - zero[cells.column_of_cell]
        return {
            "kept": ~self._chosen(table),
            "knots": knots,
            "images": Ragged(cells.indptr * len(tasks), images.ravel()),  # those of all tasks together
            "zero": zero,
            "missing": missing - zero,
            "unseen": np.where(table.nominal[:, None] & ~empty[:, None], share - zero, 0.0),
            "nominal": table.nominal,
            "special": np.full(len(table), special),
        }

    def _prior(self, table: ContingencyTable, tasks: list[int]) -> np.ndarray:
        """float64 (tasks,): the positives that each estimate starts with, of 2 rows. Where all rows are of one
        class, or none is, its share says nothing and is taken for a half."""
        total = table.totals.sum()
        if self.prior == "laplace" or total <= 0:
            return np.ones(len(tasks))
        share = table.totals[tasks] / total
        return np.where((share > 0) & (share < 1), 2 * share, 1.0)

    def _estimates(self, cells: ContingencyTable, tasks: list[int], prior: np.ndarray) -> np.ndarray:
        """float64 (cells, tasks): p of each training value (section 3.2).

        A window takes whole values, and of one value on each side a part: `taken` of its `size` rows, read
        off the running count of rows. Numerator and denominator are brought to whole numbers, so that with
        whole weights p is the nearest float64, and estimates that are equal come out equal.
        """
        upto, rows_own, column = cells.cumulative(), cells.rows, cells.column_of_cell
        rows_upto = sum_over_classes(upto)
        last = cells.indptr[1:][column] - 1
        all_rows = rows_upto[last]
        reach = np.where(cells.nominal[column], 0.0, float(min(self.neighbors, _ALL)))
        low = np.maximum(rows_upto - rows_own - reach, 0.0)
        high = np.minimum(rows_upto + reach, all_rows)
        # The windows of a rare word hold its whole column.
        estimates: np.ndarray = (upto.take(last, axis=0)[:, tasks] + prior) / (all_rows + 2)[:, None]
        within = np.flatnonzero((low > 0) | (high < all_rows))
        column, last, low, high = column[within], last[within], low[within], high[within]
        upto, own = upto[:, tasks], cells.counts[:, tasks]
        ranks = Ragged(cells.indptr, rows_upto)
        whole = own.take(within, axis=0)  # positives in whole values of the window, for each task
        before = upto.take(within, axis=0) - whole
        after = before + whole
        taken, size, at = [], [], []
        for rank, below in ((low, True), (high, False)):
            cut = np.minimum(ranks.search(column, rank), last)
            rows_cut, own_cut, upto_cut = rows_own[cut], own.take(cut, axis=0), upto.take(cut, axis=0)
            inside = rows_upto[cut] - rank if below else rank - rows_upto[cut] + rows_cut
            all_of_it = inside == rows_cut
            whole += before - upto_cut if below else upto_cut - own_cut - after
            whole += np.where(all_of_it[:, None], own_cut, 0.0)
            part = ~all_of_it & (inside > 0)
            taken.append(np.where(part, inside, 0.0)[:, None])
            size.append(np.where(part, rows_cut, 1.0)[:, None])
            at.append(own_cut)
        denominator = (high - low + 2)[:, None] * size[0] * size[1]
        numerator = (whole + prior) * size[0] * size[1]
        numerator += taken[0] * at[0] * size[1] + taken[1] * at[1] * size[0]
        estimates[within] = numerator / denominator
        return estimates

    def _zero_estimates(
        self,
        cells: ContingencyTable,
        knots: Ragged,
        tasks: list[int],
        estimates: np.ndarray,
        share: np.ndarray,
        prior: np.ndarray,
    ) -> np.ndarray:
        """float64 (columns, tasks): p(0) where zero is special."""
        zero = _corrected(cells.zeros, tasks, prior)
        absent = sum_over_classes(cells.zeros) == 0
        zero[absent] = share  # of a nominal column, and of an empty one until it is seen to be empty
        lengths = np.diff(cells.indptr)
        chosen = np.flatnonzero(absent & ~cells.nominal & (lengths > 0))
        if len(chosen):
            # The first value that is not negative and the one before it: one of them is nearest.
            after = knots.search(chosen, np.zeros(len(chosen)))
            before = np.maximum(after - 1, cells.indptr[chosen])
            after = np.minimum(after, cells.indptr[chosen + 1] - 1)
            nearest = np.where(np.abs(cells.values[before]) < np.abs(cells.values[after]), before, after)
            zero[chosen] = estimates[nearest]
        return zero

    def _chosen(self, table: ContingencyTable) -> np.ndarray:
        """bool (columns,): which attributes --only and --except leave to be shaped."""
        if not (self.only or self.except_):
            return np.ones(len(table), bool)
        names = [table.schema.features[column].name for column in table.columns.tolist()]
        only, without = _matcher(self.only), _matcher(self.except_)
        return np.array([(not self.only or only(name)) and not without(name) for name in names], bool)

    def choose_columns(self, folds: list[Fold]) -> State:
        if not self.auto:
            return {}
        table, kept = folds[0].others, folds[0].state["kept"]
        as_it_is, shaped = np.zeros(len(table)), np.zeros(len(table))
        for fold in folds:
            training, held_out = _Values(fold.others), _Values(fold.own)
            means = training.means()
            for i, task in enumerate(table.tasks()):
                plain = (each.points(each.filled(means), task) for each in (training, held_out))
                as_it_is += log_losses(len(table), *plain)
                images = (
                    each.points(self._shaped(each.values, each.columns, i, fold.state), task)
                    for each in (training, held_out)
                )
                shaped += log_losses(len(table), *images)
        # What is equal in theory, as for a column of two values, may differ in the last digits.
        no_better = shaped >= as_it_is * (1 - 1e-9)
        return {"kept": kept | (no_better & ~table.nominal)}

    def outputs(
        self, schema: Schema, state: State, totals: ContingencyTable
    ) -> tuple[np.ndarray, list[Attribute] | LazyAttributes]:
        self._check_names(schema)
        target = schema.class_attribute
        assert target is not None
        tasks = totals.tasks()
        several = len(target.values) > 2 and schema.positive is None
        if not several and tasks:
            return np.arange(schema.width), LazyAttributes(
                lambda: [
                    a if a.kind == "numeric" or kept else Attribute(a.name, weight=a.weight, scores=a.scores)
                    for a, kept in zip(schema.features, state["kept"].tolist(), strict=True)
                ],
                schema.nominal & state["kept"],
            )
        suffixes = [f"@{target.values[task]}" for task in tasks]
        source: list[int] = []
        attributes: list[Attribute] = []
        for number, (attribute, kept) in enumerate(zip(schema.features, state["kept"].tolist(), strict=True)):
            if kept:
                attributes.append(attribute)
            else:
                attributes += [
                    Attribute(attribute.name + suffix, weight=attribute.weight, scores=attribute.scores)
                    for suffix in suffixes
                ]
            source += [number] * (len(attributes) - len(source))
        return np.array(source, np.int64), attributes

    def _check_names(self, schema: Schema) -> None:
        for flag, patterns in (("--only", self.only), ("--except", self.except_)):
            names = [attribute.name for attribute in schema.features] if patterns else []
            for pattern in patterns:
                if not any(map(_matcher((pattern,)), names)):
                    raise StageError(
                        self.name, f"{flag}: no attribute is named '{pattern}'{suggestion(pattern, names)}"
                    )

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        kept, tasks = state["kept"], state["unseen"].shape[1]
        if not kept.any():
            column, task = (columns, 0) if tasks == 1 else np.divmod(columns, tasks)
            return self._shaped(values, column, task, state)
        first = np.concatenate([[0], np.cumsum(np.where(kept, 1, tasks))])
        column = np.searchsorted(first, columns, "right") - 1
        image = self._shaped(values, column, columns - first[column], state)
        return np.where(kept[column], values, image)

    def _shaped(self, values: np.ndarray, column: np.ndarray, task: np.ndarray | int, state: State) -> np.ndarray:
        """The images of entries of the incoming `column` for a task."""
        held = values == 0
        if held.any():
            held &= state["special"][column]
            if held.all():
                return np.zeros(len(values))
        knots, images, unseen = state["knots"], state["images"], state["unseen"]
        tasks = unseen.shape[1]
        if len(knots.values):
            right = np.minimum(knots.search(column, values), (knots.indptr[1:] - 1)[column])
            at = knots.values[right]
            image: np.ndarray = images.values[right if tasks == 1 else right * tasks + task]
            between = np.flatnonzero(at > values)
            between = between[right[between] > knots.indptr[column[between]]]
            if len(between):
                left = right[between] - 1
                lower = images.values[left * tasks + (task[between] if isinstance(task, np.ndarray) else task)]
                part = _part(values[between], knots.values[left], at[between])
                image[between] = lower + part * (image[between] - lower)
            if self.method == "logodds":
                image = _log_odds(image) - state["zero"][column, task]
            outside = (knots.lengths == 0)[column]
            if state["nominal"].any():
                outside |= state["nominal"][column] & (at != values)
            if outside.any():
                image = np.where(outside, unseen[column, task], image)
        else:
            image = unseen[column, task]
        absent = np.isnan(values)
        if absent.any():
            image = np.where(absent, state["missing"][column, task], image)
        image[held] = 0.0
        return image


class _Values:
    """The values of a table, zero and missing among them, as points of columns."""

    def __init__(self, table: ContingencyTable) -> None:
        full = table.with_zeros()
        self._missing = np.flatnonzero(full.missing.any(axis=1))
        self.columns = np.concatenate([full.column_of_cell, self._missing])
        self.values = np.concatenate([full.values, np.full(len(self._missing), np.nan)])
        self._counts = np.concatenate([full.counts, full.missing[self._missing]])
        self._width = len(table)

    def means(self) -> np.ndarray:
        """The mean value of each column where it is known, 0 where it never is."""
        rows = np.where(np.isnan(self.values), 0.0, sum_over_classes(self._counts))
        total = np.bincount(self.columns, rows, self._width)
        sums = np.bincount(self.columns, rows * np.nan_to_num(self.values), self._width)
        return np.asarray(np.divide(sums, total, out=np.zeros(self._width), where=total > 0))

    def filled(self, means: np.ndarray) -> np.ndarray:
        """The values with the mean of the column in the place of missing ones."""
        return np.where(np.isnan(self.values), means[self.columns], self.values)

    def points(self, values: np.ndarray, task: int) -> Points:
        """With other `values` in the place of these, for the positive class `task`."""
        return Points(self.columns, values, self._counts[:, task], sum_over_classes(self._counts))


def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a name is one of `patterns`, or matches one of those with ``*`` and ``?``."""
    wild = [p for p in patterns if "*" in p or "?" in p]
    expression = "|".join(re.escape(p).replace(r"\*", ".*").replace(r"\?", ".") for p in wild)
    whole = re.compile(expression or r"(?!)", re.DOTALL)
    return lambda name: name in patterns or whole.fullmatch(name) is not None


def _part(values: np.ndarray, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """How far each value is on the way from `below` to `above`, from 0 to 1."""
    with np.errstate(over="ignore"):
        step = above - below
    if np.isinf(step).any():  # numbers so large that their difference is none
        values, below, step = values / 2, below / 2, above / 2 - below / 2
    return np.asarray((values - below) / step)


def _corrected(counts: np.ndarray, tasks: list[int], prior: np.ndarray) -> np.ndarray:
    """(positives + prior) / (rows + 2) of class weights (n, classes), for each task: (n, tasks)."""
    return np.asarray((counts[:, tasks] + prior) / (sum_over_classes(counts)[:, None] + 2))


def _log_odds(p: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(p) - np.log1p(-p))


def _isotonic(cells: ContingencyTable, tasks: list[int]) -> np.ndarray:
    """float64 (cells, tasks): the monotone fit of the share of positives on the values of each column."""
    rows = cells.rows
    fits = np.zeros((len(rows), len(tasks)))
    columns = np.flatnonzero(np.diff(cells.indptr))
    for i, task in enumerate(tasks if len(rows) else []):
        positives = cells.counts[:, task]
        share = positives / rows
        both = [_pooled(s, positives, rows, cells.column_of_cell) for s in (share, -share)]
        errors = [np.add.reduceat(rows * (fit - share) ** 2, cells.indptr[columns]) for fit in both]
        falls = np.zeros(len(cells), bool)
        falls[columns] = errors[1] < errors[0] * (1 - 1e-9) - 1e-12  # what is equal in theory rises
        fits[:, i] = np.where(falls[cells.column_of_cell], both[1], both[0])
    return fits


def _pooled(share: np.ndarray, positives: np.ndarray, rows: np.ndarray, column: np.ndarray) -> np.ndarray:
    """positives / rows in the blocks into which a rising fit of `share`, weighted by `rows`, pools each column.

    All columns are fitted in one go: each is lifted above the one before it, so that none is pooled with the
    next. Lifted numbers have fewer digits, so only the blocks are taken from the fit.
    """
    from scipy.optimize import isotonic_regression

    blocks = isotonic_regression(share + 2.0 * column, weights=rows).blocks
    starts = np.asarray(blocks[:-1])
    means = np.add.reduceat(positives, starts) / np.add.reduceat(rows, starts)
    return np.asarray(np.repeat(means, np.diff(blocks)))


@hookimpl
def filterkit_stages() -> list[type[ColumnStage]]:
    return [Shape]
