"""Cross-fitting: each training row is transformed by what was learned from the rows of other folds.

The estimate for a value that few rows have depends on the classes of just these rows, and a classifier trained on them
overfits. With K folds, the rows of each fold are transformed by what was learned from the other folds, and later rows
by what was learned from all training rows.

One pass counts all folds, into a table whose classes are pairs of class and fold. The table of any folds is a sum over
their pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from filterkit.chains.column_fitting import StatesAndTotals, fit_strip_by_strip
from filterkit.chains.queries import run_passes
from filterkit.chains.rows import Rows
from filterkit.counts import class_parts
from filterkit.counts.table import ContingencyTable
from filterkit.counts.weights import select_counted_rows
from filterkit.data.arithmetic import Bools, Ints
from filterkit.data.batch import Batch, concatenate
from filterkit.data.contract import check_state
from filterkit.data.schema import Schema
from filterkit.errors import StageError
from filterkit.stages.base import Fitted, State
from filterkit.stages.columns import ColumnStage, FittedColumns, Fold, learn_state


def draw_folds(y: Ints, folds: int, seed: int) -> Ints:
    """Draw the fold of each row at random: int32 (rows,), from 0; each class is spread evenly over the folds.

    `y`, int (rows,), has the class code of each row, negative for a row that does not count. Such rows, and a row that
    is the only one of its class, are in no fold: they get the number `folds`. Equal arguments give the same folds.
    """
    fold = np.full(len(y), folds, np.int32)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))
    order = order[np.argsort(y[order], kind="stable")]
    fold[order] = np.arange(len(order)) % folds
    alone = np.bincount(y[order]) == 1
    fold[order[alone[y[order]]]] = folds
    return fold


def cross_fit(stage: ColumnStage, rows: Rows, memory: int) -> Fitted:
    """Fit a stage on all rows and, for each of its folds, on the rows outside the fold.

    Return a `CrossFittedColumns`. If the stage does not cross-fit but only compares the folds, return a
    `FittedColumns`, which treats all rows alike; such a stage gets fewer folds if there are more than rows that count.
    A row counts if it has a class and a weight above 0. The rows are read in several passes.

    Parameters
    ----------
    stage : a stage whose `ColumnStage.folds` returns at least 2.
    rows : the training rows as they come to the stage.
    memory : bytes, as for `Chain.fit`.

    Raises
    ------
    StageError : a stage that cross-fits has more folds than there are rows that count; or the stage cannot be fitted on
        these rows.
    """
    classes = read_strata_for_folds(rows)
    n_rows = int(np.count_nonzero(classes >= 0))
    if stage.cross_fits() and stage.folds() > n_rows:
        found = "is only 1 row" if n_rows == 1 else f"are only {n_rows} rows"
        what = "take fewer folds" if n_rows > 1 else "add rows"
        raise StageError(stage.name, f"{stage.folds()} folds: there {found}; {what}")
    n_folds = min(stage.folds(), max(n_rows, 2))
    fold = draw_folds(classes, n_folds, stage.fold_seed())
    count_rows = partial(_count_by_class_and_fold, fold, n_folds, stage.name)
    learn = partial(_learn_from_all_rows_and_folds, stage, n_folds)
    ((fitted, by_fold, _),) = run_passes(fit_strip_by_strip(stage, count_rows, learn, rows, memory))
    return CrossFittedColumns(fitted, by_fold, fold) if stage.cross_fits() else fitted


def _count_by_class_and_fold(fold: Ints, n_folds: int, reader: str, batch: Batch, columns: Ints) -> ContingencyTable:
    """Return a table of the rows of a batch with a class; its classes are pairs of class and fold.

    The code of a pair is ``class * (n_folds + 1) + fold``.

    Parameters
    ----------
    fold : int32 (training rows,), the fold of each row from 0, or `n_folds` for none.
    n_folds : the number of folds.
    reader : the name of the stage, for messages.
    batch : training rows, numbered from `batch.start`.
    columns : int64 (n,), the numbers of the columns of X to count.
    """
    rows = select_counted_rows(batch, True, reader)
    paired = rows._replace(y=rows.y * (n_folds + 1) + fold[rows.numbers], classes=rows.classes * (n_folds + 1))
    table = ContingencyTable.of_rows(paired, columns, reader)
    sparse = class_parts.SparseClassWeights.from_parts(table.cell_parts)
    return table.replace(cell_parts=sparse) if sparse.nbytes < table.cell_parts.nbytes else table


def _learn_from_all_rows_and_folds(
    stage: ColumnStage, n_folds: int, item: tuple[ContingencyTable, int, int]
) -> StatesAndTotals:
    """Let a stage learn from some columns of a table, from all rows, and from the rows outside each fold.

    `item` is ``(table, first, stop)``: a table whose classes are pairs of class and fold, and the range of its columns,
    counted from 0. Return a list of states, and float64 (classes,), the weight of the rows of each class. The first
    state is learned from all rows. If the stage cross-fits, a state for each fold follows, learned from the rows
    outside it. If the stage compares the folds, what it chooses is in every state.
    """
    paired, begin, end = item
    table = paired.column_range(begin, end).without_other_columns()
    target = table.schema.class_attribute
    assert target is not None
    whole = _make_table_of_chosen_folds(table, np.ones(n_folds + 1, bool))
    if table.schema.positive is None and 0 < len(target.values) <= 2:  # the rarer class of all rows, in all folds
        table = table.replace(schema=table.schema.replace(positive=target.values[whole.tasks()[0]]))
    states, totals = [learn_state(stage, whole)], whole.totals
    del whole  # makes room for the folds
    folds: list[Fold] = []
    for number in range(n_folds if stage.compares_folds() or stage.cross_fits() else 0):
        inside = np.arange(n_folds + 1) == number
        outside = _make_table_of_chosen_folds(table, ~inside)
        states.append(learn_state(stage, outside))
        if stage.compares_folds():
            folds.append(Fold(outside, states[-1], _make_table_of_chosen_folds(table, inside)))
    changes = check_state(stage, stage.choose_columns(folds), len(table)) if folds else {}
    return [state | changes for state in (states if stage.cross_fits() else states[:1])], totals


def read_strata_for_folds(rows: Rows) -> Ints:
    """Read the class code of every row in one pass: int (rows,), -1 where the class is unknown or the weight is 0.

    With labels, or a numeric class or targets, the code is 0 where they are all known. The rows must have one of these.
    """
    return np.concatenate([np.empty(0, np.int32), *rows.map(_get_strata_for_folds)])


def _get_strata_for_folds(batch: Batch) -> Ints:
    assert batch.y is not None
    is_class = not batch.schema.labels and not batch.schema.has_numeric_target
    y = batch.y if is_class else np.where(batch.class_known, 0, -1)
    return y if batch.weights is None else np.where(batch.weights > 0, y, -1)


@dataclass(eq=False, repr=False)
class TrainingRowSelector(Fitted):
    """Passes on only some training rows, numbered anew from 0; it cannot transform later rows.

    Attributes
    ----------
    schema : of the rows.
    chosen : bool (training rows,), which rows to pass on.
    """

    schema: Schema
    chosen: Bools

    def transform_training(self, batch: Batch) -> Batch:
        before, chosen = self.chosen[: batch.start], self.chosen[batch.start : batch.start + len(batch)]
        return batch.take(np.flatnonzero(chosen)).replace(start=int(np.count_nonzero(before)))


def _make_table_of_chosen_folds(table: ContingencyTable, chosen_folds: Bools) -> ContingencyTable:
    """Make the table of the rows of some folds, by class, from one whose classes are pairs of class and fold.

    `chosen_folds`, bool (folds + 1,), says which folds to count; its last element stands for the rows in no fold.
    """
    classes = len(table.total_parts) // len(chosen_folds)
    group = np.where(chosen_folds, np.arange(classes)[:, None], -1).ravel()
    table = table.group_classes(group, classes)
    cells = np.flatnonzero(table.rows)
    return table.replace(
        indptr=np.searchsorted(cells, table.indptr),
        values=table.values[cells],
        cell_parts=class_parts.take_positions(table.cell_parts, cells),
    )


class CrossFittedColumns(FittedColumns):
    """Transforms a training row by what a stage learned from other folds, and a later row by what it learned from all.

    Parameters
    ----------
    whole : the stage, fitted on all rows; transforms later rows, and training rows in no fold.
    states : what the stage has learned from the rows outside each fold, in the order of the folds.
    fold : int32 (training rows,), the fold of each row from 0; ``len(states)`` for none.
    """

    def __init__(self, whole: FittedColumns, states: list[State], fold: Ints) -> None:
        vars(self).update(vars(whole))
        self._fold = fold
        self._by_fold = [
            *(FittedColumns(whole.stage, whole.incoming, whole.schema, state, whole.columns) for state in states),
            whole,
        ]

    def transform_training(self, batch: Batch) -> Batch:
        fold = self._fold[batch.start : batch.start + len(batch)]
        bare = batch.replace(passthrough=None)
        rows = [np.flatnonzero(fold == number) for number in range(len(self._by_fold))]
        parts = [fitted.transform(bare.take(own)) for fitted, own in zip(self._by_fold, rows, strict=True) if len(own)]
        joined = concatenate(parts, self.schema).take(np.argsort(np.concatenate(rows)))
        return batch.replace(schema=self.schema, X=joined.csr if joined.sparse else joined.X)
