"""Cross-fitting: each training row is transformed by what was learned from the rows of other folds.

The estimate for a value that few rows have depends on the classes of just these rows, and a classifier trained on them
overfits. With K folds, the rows of each fold are transformed by what was learned from the other folds, and later rows
by what was learned from all training rows.

One pass counts all folds, into a table whose classes are pairs of class and fold. The table of any folds is a sum of
its parts.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from filterkit.chains.budget import fold_share
from filterkit.chains.column_fitting import Counting, Learning, cut_columns, take_strips
from filterkit.chains.queries import run_passes
from filterkit.chains.rows import Rows
from filterkit.chains.spool import Spool, SpooledBatch, load_rows
from filterkit.chains.states import States
from filterkit.counts import class_parts
from filterkit.counts.table import ContingencyTable
from filterkit.data.attributes import taken
from filterkit.data.batch import Batch, concatenate
from filterkit.data.contract import check_state
from filterkit.data.csr import Csr
from filterkit.data.schema import Schema
from filterkit.errors import StageError
from filterkit.files.scratch import Scratch
from filterkit.stages.base import Fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, Fold, State, learn_state
from filterkit.stages.selective import OnlyColumns


def draw_folds(y: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Draw the fold of each row, int32 (rows,), from 0, so that each class and all rows are spread evenly.

    Rows that do not count, and the only row of a class, are in no fold, so they are never held out; their number is
    `folds`.

    Parameters
    ----------
    y : int (rows,), class codes, negative for rows that do not count.
    folds : the number of folds.
    seed : the seed for drawing.
    """
    fold = np.full(len(y), folds, np.int32)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))
    order = order[np.argsort(y[order], kind="stable")]
    fold[order] = np.arange(len(order)) % folds
    alone = np.bincount(y[order]) == 1
    fold[order[alone[y[order]]]] = folds
    return fold


def limit_folds(folds: int, rows: int) -> int:
    """Return `folds`, or fewer if there are fewer rows, because the others would be empty; but at least 2."""
    return min(folds, max(rows, 2))


def explain_too_many_folds(folds: int, rows: int) -> str:
    """Return the message for more folds than rows."""
    return f"{folds} folds: there {'is' if rows == 1 else 'are'} only {rows} row{'s' * (rows != 1)}"


def cross_fit(stage: ColumnStage, rows: Rows, memory: int) -> Fitted:
    """Fit `stage` on all rows, and for each of its folds on the other folds; `memory` as for `Chain.fit`.

    The result is a `CrossFitted`, or a plain fitted stage if the stage only compares folds.

    Raises
    ------
    StageError : a cross-fitting stage has more folds than rows count, or it cannot be fitted on these rows.
    """
    classes = read_classes(rows)
    n_rows = int(np.count_nonzero(classes >= 0))
    if stage.cross_fits() and stage.folds() > n_rows:
        raise StageError(stage.name, explain_too_many_folds(stage.folds(), n_rows))
    n_folds = limit_folds(stage.folds(), n_rows)
    fold = draw_folds(classes, n_folds, stage.fold_seed())
    scratch = Scratch()
    n_states = n_folds if stage.cross_fits() else 0
    by_fold = [States(scratch) for _ in range(n_states)]
    learning = Learning(partial(_learn_by_fold, stage, rows.schema, n_folds), [States(scratch), *by_fold])
    paired = rows.through(_PairedWithFold(rows.schema, fold, n_folds))
    run_passes(take_strips(Counting(_PairTable, stage.needs_class, stage.name), stage, paired, memory, learning))
    fitted = learning.finish(stage, rows.schema)
    if not by_fold:
        return fitted
    n_bytes = sum(sum(states.sizes) for states in learning.states)
    if n_bytes > fold_share(memory) and len(by_fold[0].sizes) > 1:
        return transform_ahead(fitted, learning.states, fold, rows, fold_share(memory))
    return CrossFitted(fitted, [states.join() for states in by_fold], fold)


def cut_evenly(sizes: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Cut a list of things into ranges (first, stop) of about `most` bytes; `sizes` holds the bytes of each thing.

    A thing belongs to the range in whose `most` bytes it begins.
    """
    number = (np.cumsum(sizes) - sizes) // max(most, 1)
    return list(pairwise([*np.flatnonzero(np.diff(number, prepend=-1)).tolist(), len(sizes)]))


def _learn_by_fold(
    stage: ColumnStage, schema: Schema, n_folds: int, item: tuple[ContingencyTable, int, int]
) -> tuple[list[State], np.ndarray]:
    """Learn from a range of columns of a table that counts pairs of class and fold; see `Learning`.

    The first state is that of all rows, the others are those of the rows outside each fold.
    """
    table = cut_columns(*item)
    whole = _select_folds(table, _restore_class(table.schema, schema), np.ones(n_folds + 1, bool))
    schema, totals = _choose_positive_class(whole), whole.totals
    state = learn_state(stage, whole)
    del whole  # makes room for the folds
    if not stage.compares_folds() and not stage.cross_fits():
        return [state], totals
    folds: list[Fold] = []
    others: list[State] = []
    for number in range(n_folds):
        inside = np.arange(n_folds + 1) == number
        outside = _select_folds(table, schema, ~inside)
        others.append(learn_state(stage, outside))
        if stage.compares_folds():
            folds.append(Fold(outside, others[-1], _select_folds(table, schema, inside)))
    changes = check_state(stage, stage.choose_columns(folds), len(table)) if folds else {}
    return [each | changes for each in (state, *others)], totals


def _restore_class(pairs: Schema, schema: Schema) -> Schema:
    """Give a schema of `_PairedWithFold`, perhaps of some columns only, the class that `schema` has."""
    target = schema.class_attribute
    assert target is not None and pairs.class_index is not None
    attributes = list(pairs.attributes)
    attributes[pairs.class_index] = target
    return pairs.replace(attributes=tuple(attributes), positive=schema.positive)


def read_classes(rows: Rows) -> np.ndarray:
    """Return the class of every row, int32 (rows,), from a pass over them: -1 for rows that do not count.

    With labels or numbers to predict, it is 0 for those that do.
    """
    return np.concatenate([np.empty(0, np.int32), *rows.map(_read_classes)])


def _read_classes(batch: Batch) -> np.ndarray:
    assert batch.y is not None
    is_class = not batch.schema.labels and not batch.schema.has_numeric_target
    y = batch.y if is_class else np.where(batch.class_known, 0, -1)
    return y if batch.weights is None else np.where(batch.weights > 0, y, -1)


class Chosen(Fitted):
    """Passes on some of the training rows, numbered anew from 0; `chosen`, bool (rows,), says which."""

    def __init__(self, schema: Schema, chosen: np.ndarray) -> None:
        self.schema = schema
        self._chosen = chosen
        self._before = np.concatenate([[0], np.cumsum(chosen)])

    def transform_training(self, batch: Batch) -> Batch:
        chosen = np.flatnonzero(self._chosen[batch.start : batch.start + len(batch)])
        return batch.take(chosen).replace(start=int(self._before[batch.start]))


class _PairedWithFold(Fitted):
    """Replaces the class of training rows by the pair of class and fold, of which ``label@fold`` is the name."""

    def __init__(self, schema: Schema, fold: np.ndarray, count: int) -> None:
        target = schema.class_attribute
        assert target is not None and schema.class_index is not None
        pairs = [f"{label}@{number}" for label in range(len(target.values)) for number in range(count + 1)]
        attributes = list(schema.attributes)
        attributes[schema.class_index] = target._replace(values=tuple(pairs))
        self.schema = schema.replace(attributes=tuple(attributes), positive=None)
        self._fold = fold
        self._count = count

    def transform_training(self, batch: Batch) -> Batch:
        assert batch.y is not None
        fold = self._fold[batch.start : batch.start + len(batch)]
        return batch.replace(schema=self.schema, y=np.where(batch.y < 0, -1, batch.y * (self._count + 1) + fold))


class _PairTable(ContingencyTable):
    """Counts pairs of class and fold, in little memory: a value that few rows have goes with few of the pairs."""

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """See `Statistic.of`."""
        table = super().of(batch, columns, supervised, reader)
        table.cell_parts = class_parts.compress(table.cell_parts)
        return table


def _choose_positive_class(whole: ContingencyTable) -> Schema:
    """Return the schema for the tables of folds: that of `whole`, with a positive class if there are two classes.

    If none is positive yet, the rarer one in all rows becomes it, so that it is the same in all folds.
    """
    schema, target = whole.schema, whole.schema.class_attribute
    assert target is not None
    if schema.positive is None and 0 < len(target.values) <= 2:
        schema = schema.replace(positive=target.values[whole.tasks()[0]])
    return schema


def _select_folds(table: ContingencyTable, schema: Schema, chosen: np.ndarray) -> ContingencyTable:
    """Return the table, by class, of the rows of the `chosen` folds, from one that counts pairs of class and fold.

    `chosen` is bool (folds + 1,), last for rows in no fold. `schema` is that of the result.
    """
    classes = len(table.total_parts) // len(chosen)
    group = np.where(chosen, np.arange(classes)[:, None], -1).ravel()
    parts = class_parts.group_classes(table.cell_parts, group, classes)
    indptr, values = table.indptr, table.values
    present = class_parts.have_weight(parts)
    if not present.all():
        cells = np.flatnonzero(present)
        indptr, values, parts = np.searchsorted(cells, indptr), values[cells], class_parts.take(parts, cells)
    gap_parts = class_parts.group_classes(table.gap_parts, group, classes)
    total_parts = class_parts.group_classes(table.total_parts[None], group, classes)
    assert isinstance(total_parts, np.ndarray)
    return table.replace(
        schema=schema,
        indptr=indptr,
        values=values,
        cell_parts=parts,
        gap_parts=gap_parts,
        total_parts=total_parts[0],
    )


class CrossFitted(Fitted):
    """A column stage fitted on all rows, and on all but those of each fold, to transform the training rows of the fold.

    Parameters
    ----------
    whole : fitted on all rows; transforms later rows, and training rows in no fold.
    states : what the stage has learned from the rows outside each fold.
    fold : int32 (rows,), the fold of each training row; ``len(states)`` for none.
    """

    def __init__(self, whole: FittedColumns, states: list[State], fold: np.ndarray) -> None:
        self.schema = whole.schema
        self.growth = whole.growth
        self.columns = whole.columns
        self.whole = whole
        self._by_fold = [
            *(FittedColumns(whole.stage, whole.incoming, whole.schema, state, whole.columns) for state in states),
            whole,
        ]
        self._fold = fold

    def get_state(self) -> dict[str, Any]:
        return self.whole.get_state()

    def transform(self, batch: Batch) -> Batch:
        return self.whole.transform(batch)

    def transform_training(self, batch: Batch) -> Batch:
        fold = self._fold[batch.start : batch.start + len(batch)]
        bare = batch.replace(passthrough=None)
        rows = [np.flatnonzero(fold == number) for number in range(len(self._by_fold))]
        parts = [fitted.transform(bare.take(own)) for fitted, own in zip(self._by_fold, rows, strict=True) if len(own)]
        if not parts:
            return self.whole.transform(batch)
        joined = concatenate(parts, self.schema).take(np.argsort(np.concatenate(rows)))
        return batch.replace(schema=self.schema, X=joined.csr if joined.sparse else joined.X)


class TransformedAhead(CrossFitted):
    """Training rows that were transformed at once, because too much was learned from the folds.

    Parameters
    ----------
    whole : fitted on all rows; transforms later rows.
    ranges : the schema of some of the columns that come out, and the batches of these columns; range by range.
    """

    def __init__(self, whole: FittedColumns, ranges: list[tuple[Schema, list[SpooledBatch]]]) -> None:
        super().__init__(whole, [], np.empty(0))
        self._ranges = ranges

    def transform_training(self, batch: Batch) -> Batch:
        stop = batch.start + len(batch)
        parts = [load_rows(spooled, schema, batch.start, stop) for schema, spooled in self._ranges]
        is_sparse = self.schema.sparse
        X: Any = Csr.beside([part.csr for part in parts]) if is_sparse else np.hstack([part.X for part in parts])
        return batch.replace(schema=self.schema, X=X)


def transform_ahead(
    whole: FittedColumns, states: list[States], fold: np.ndarray, rows: Rows, n_bytes: int
) -> TransformedAhead:
    """Transform all training rows as `CrossFitted` does, but some columns at a time.

    So only what was learned of these columns is in memory. The columns that come out wait in a temporary file.

    Parameters
    ----------
    whole, fold : as for `CrossFitted`.
    states : what the stage has learned from all rows, and from the rows outside each fold.
    rows : the training rows that come to the stage.
    n_bytes : the most bytes of what was learned of the columns that are transformed together.
    """
    outgoing, ranges, low = whole.schema, [], 0
    for first, stop in cut_evenly(np.sum([each.sizes for each in states], axis=0), n_bytes):
        high = low + sum(states[0].widths[first:stop])
        some = OnlyColumns(rows.schema, np.arange(low, high))
        begin, end = np.searchsorted(whole.columns, [low, high]).tolist()
        attributes = taken(outgoing.features, np.arange(begin, end))
        schema = Schema(outgoing.relation, attributes, sparse=outgoing.sparse, zero=outgoing.zero)
        state, *others = (each.load(first, stop) for each in states)
        fitted = FittedColumns(whole.stage, some.schema, schema, state, whole.columns[begin:end] - low)
        spool = Spool(0)
        rows.source.close_with(spool)
        for spooled in rows.through(some).through(CrossFitted(fitted, others, fold)).map(_pack_columns):
            spool.append(spooled)
        ranges.append((schema, list(spool)))
        low = high
    return TransformedAhead(whole, ranges)


def _pack_columns(batch: Batch) -> SpooledBatch:
    return SpooledBatch(batch.replace(y=None, weights=None))
