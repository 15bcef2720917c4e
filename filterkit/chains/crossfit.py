"""Cross-fitting: each training row is transformed by what was learned from the rows of other folds.

The estimate for a value that few rows have depends on the classes of just these rows, and a classifier trained on them
overfits. With K folds, the rows of each fold are transformed by what was learned from the other folds, and later rows
by what was learned from all training rows.

One pass counts all folds, into a table whose classes are pairs of class and fold. The table of any folds is a sum of
its parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from filterkit.chains.passes import Statistics
from filterkit.chains.rows import MappedRows, TrainingRows
from filterkit.chains.states import StatesByStrip
from filterkit.counts.table import ContingencyTable
from filterkit.data.batch import Batch
from filterkit.data.contract import check_state
from filterkit.data.csr import Csr
from filterkit.data.schema import Schema
from filterkit.errors import StageError
from filterkit.stages.base import Fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, Fold, learned


def draw_folds(y: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """The fold of each row, int32 (rows,), from 0, drawn so that each class and all rows are spread evenly.

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


def useful_folds(folds: int, rows: int) -> int:
    """The number of folds, at most as many as there are rows, because the others would be empty; at least 2."""
    return min(folds, max(rows, 2))


def too_many_folds(folds: int, rows: int) -> str:
    """The message for more folds than rows."""
    return f"{folds} folds: there {'is' if rows == 1 else 'are'} only {rows} row{'s' * (rows != 1)}"


def cross_fit(stage: ColumnStage, rows: TrainingRows, memory: int) -> Fitted:
    """`stage` fitted on all rows, and for each of its folds on the other folds; `memory` as for `Chain.fit`."""
    classes = counted_classes(rows)
    number = int(np.count_nonzero(classes >= 0))
    if stage.cross_fits() and stage.folds() > number:
        raise StageError(stage.name, too_many_folds(stage.folds(), number))
    count = useful_folds(stage.folds(), number)
    fold = draw_folds(classes, count, stage.fold_seed())
    wholes = StatesByStrip()
    parts = [StatesByStrip() for _ in range(count)]
    totals = None
    by_fold = MappedRows(rows, _ByFold(rows.schema, fold, count))
    for table in Statistics(by_fold, [stage], memory).parts():
        assert isinstance(table, ContingencyTable)
        totals = _of_folds(table, _unpaired(table.schema, rows.schema), np.ones(count + 1, bool))
        whole = learned(stage, totals)
        folds = [_fold(stage, table, totals, number, count) for number in range(count)]
        changes = check_state(stage, stage.choose_columns(folds), len(totals))
        wholes.add({**whole, **changes})
        for states, each in zip(parts, folds, strict=True):
            states.add({**each.state, **changes})
    assert totals is not None
    fitted = stage.finish(rows.schema, wholes.joined(), totals.totals)
    if not stage.cross_fits():
        return fitted
    others = [FittedColumns(stage, rows.schema, fitted.schema, states.joined(), fitted.columns) for states in parts]
    return CrossFitted(fitted, others, fold)


def _unpaired(pairs: Schema, schema: Schema) -> Schema:
    """The schema `pairs` of `_ByFold`, perhaps of some columns only, with the class that `schema` has."""
    target = schema.class_attribute
    assert target is not None and pairs.class_index is not None
    attributes = list(pairs.attributes)
    attributes[pairs.class_index] = target
    return pairs.replace(attributes=tuple(attributes), positive=schema.positive)


def counted_classes(rows: TrainingRows) -> np.ndarray:
    """int32 (rows,): the class of every row, -1 for rows that do not count; with labels, 0 for rows that count."""
    return np.concatenate([np.empty(0, np.int32), *rows.map(_counted_classes)])


def _counted_classes(batch: Batch) -> np.ndarray:
    """As `counted_classes`, of one batch."""
    assert batch.y is not None
    y = np.where(batch.class_known, 0, -1) if batch.schema.labels else batch.y
    return y if batch.weights is None else np.where(batch.weights > 0, y, -1)


class Chosen(Fitted):
    """Keeps some of the training rows; `chosen`, bool (rows,), says which."""

    def __init__(self, schema: Schema, chosen: np.ndarray) -> None:
        self.schema = schema
        self._chosen = chosen
        self._before = np.concatenate([[0], np.cumsum(chosen)])

    def transform_training(self, batch: Batch) -> Batch:
        chosen = np.flatnonzero(self._chosen[batch.start : batch.start + len(batch)])
        return batch.take(chosen).replace(start=int(self._before[batch.start]))


class _ByFold(Fitted):
    """Replaces the class by the pair of class and fold."""

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


def _fold(stage: ColumnStage, table: ContingencyTable, whole: ContingencyTable, number: int, count: int) -> Fold:
    # All rows together decide which class is positive.
    schema, target = whole.schema, whole.schema.class_attribute
    assert target is not None
    if schema.positive is None and 0 < len(target.values) <= 2:
        schema = schema.replace(positive=target.values[whole.tasks()[0]])
    own = np.arange(count + 1) == number
    others = _of_folds(table, schema, ~own)
    return Fold(others, learned(stage, others), _of_folds(table, schema, own))


def _of_folds(table: ContingencyTable, schema: Schema, chosen: np.ndarray) -> ContingencyTable:
    """The table of the rows of some folds; `chosen`, bool (folds + 1,), says which; `table` counts pairs of class and
    fold."""

    def added(parts: np.ndarray) -> np.ndarray:
        pairs, width = parts.shape[-2:]
        by_fold = parts.reshape(*parts.shape[:-2], pairs // len(chosen), len(chosen), width)
        return np.asarray(by_fold[..., chosen, :].sum(axis=-2))

    parts = added(table.exact_parts)
    present = (parts != 0).any(axis=(1, 2))
    before = np.concatenate([[0], np.cumsum(present)])
    found = ContingencyTable(
        schema,
        table.columns,
        before[table.indptr],
        table.values[present],
        parts[present],
        added(table.missing_parts),
        added(table.total_parts),
    )
    found.first = table.first
    return found


class CrossFitted(Fitted):
    """A column stage fitted on all rows, and on all but those of each fold.

    Parameters
    ----------
    whole : fitted on all rows; transforms later rows and training rows in no fold.
    others : for each fold, fitted on the rows outside it.
    fold : int32 (rows,), the fold of each training row; ``len(others)`` for none.
    """

    def __init__(self, whole: FittedColumns, others: list[FittedColumns], fold: np.ndarray) -> None:
        self.schema = whole.schema
        self.growth = whole.growth
        self.columns = whole.columns
        self.whole = whole
        self._fitted = [*others, whole]
        self._fold = fold

    def get_state(self) -> dict[str, Any]:
        return self.whole.get_state()

    def transform(self, batch: Batch) -> Batch:
        return self.whole.transform(batch)

    def transform_training(self, batch: Batch) -> Batch:
        fold = self._fold[batch.start : batch.start + len(batch)]
        bare = batch.replace(passthrough=None)
        numbers = [np.flatnonzero(fold == number) for number in range(len(self._fitted))]
        parts = [
            fitted.transform(bare.take(own)) for fitted, own in zip(self._fitted, numbers, strict=True) if len(own)
        ]
        if not parts:
            return self.transform(batch)
        place = np.argsort(np.concatenate(numbers))
        X = (
            Csr.stack([part.csr for part in parts]).take(place)
            if self.schema.sparse
            else np.concatenate([part.X for part in parts])[place]
        )
        return batch.replace(schema=self.schema, X=X)
