"""Cross-fitting: each training row is transformed by what was learned from the rows of other folds.

The estimate for a value that few rows have depends on the classes of just these rows, and a classifier trained on them
overfits. With K folds, the rows of each fold are transformed by what was learned from the other folds, and later rows
by what was learned from all training rows.

One pass counts all folds, into a table whose classes are pairs of class and fold. The table of any folds is a sum of
its parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from filterkit.chains.budget import fold_share
from filterkit.chains.rows import Rows
from filterkit.chains.scratch import Scratch
from filterkit.chains.spool import SpooledBatch, rows_between
from filterkit.chains.states import StatesByStrip
from filterkit.chains.statistics import Statistics
from filterkit.counts import class_parts
from filterkit.counts.table import ContingencyTable
from filterkit.data.attributes import taken
from filterkit.data.batch import Batch
from filterkit.data.contract import check_state
from filterkit.data.csr import Csr
from filterkit.data.schema import Schema
from filterkit.errors import StageError
from filterkit.stages.base import Fitted
from filterkit.stages.columns import ColumnStage, FittedColumns, Fold, State, learned


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


def cross_fit(stage: ColumnStage, rows: Rows, memory: int) -> Fitted:
    """`stage` fitted on all rows, and for each of its folds on the other folds; `memory` as for `Chain.fit`."""
    classes = counted_classes(rows)
    number = int(np.count_nonzero(classes >= 0))
    if stage.cross_fits() and stage.folds() > number:
        raise StageError(stage.name, too_many_folds(stage.folds(), number))
    count = useful_folds(stage.folds(), number)
    fold = draw_folds(classes, count, stage.fold_seed())
    fitting = _FittingByFold(stage, rows, fold, count, memory)
    by_fold = rows.through(_PairedWithFold(rows.schema, fold, count))
    for table in Statistics([stage], memory, _PairTable).parts(by_fold):
        assert isinstance(table, ContingencyTable)
        fitting.take(table)
        del table  # it may be large, and so may the next one
    return fitting.finish()


class _FittingByFold:
    """Fits a stage on tables that cover one range of columns after the other.

    Parameters
    ----------
    stage : the stage.
    rows : the training rows.
    fold, count : the fold of each row, see `draw_folds`, and the number of folds.
    memory : bytes; see `_TrainingRows`.
    """

    def __init__(self, stage: ColumnStage, rows: Rows, fold: np.ndarray, count: int, memory: int) -> None:
        self._stage = stage
        self._schema = rows.schema
        self._count = count
        self._states = StatesByStrip()
        self._training = _TrainingRows(stage, rows, fold, count, memory) if stage.cross_fits() else None

    def take(self, table: ContingencyTable) -> None:
        """Fit the next columns; `table` counts pairs of class and fold."""
        whole = _of_folds(table, _unpaired(table.schema, self._schema), np.ones(self._count + 1, bool))
        schema = _for_folds(whole)
        self._totals = whole.totals
        state = learned(self._stage, whole)
        del whole  # makes room for the folds
        changes, others = self._learned_by_fold(table, schema)
        state = {**state, **changes}
        self._states.add(state)
        if self._training is not None:
            self._training.add([*({**each, **changes} for each in others), state], len(table), self._totals)

    def _learned_by_fold(self, table: ContingencyTable, schema: Schema) -> tuple[State, list[State]]:
        """What comparing the folds changes, and what the stage learns from the rows outside each."""
        stage, every = self._stage, np.arange(self._count + 1)
        if not stage.compares_folds():
            numbers = range(self._count if stage.cross_fits() else 0)
            return {}, [learned(stage, _of_folds(table, schema, every != number)) for number in numbers]
        folds = []
        for number in range(self._count):
            others = _of_folds(table, schema, every != number)
            folds.append(Fold(others, learned(stage, others), _of_folds(table, schema, every == number)))
        return check_state(stage, stage.choose_columns(folds), len(table)), [fold.state for fold in folds]

    def finish(self) -> Fitted:
        """The stage, fitted on all columns."""
        fitted = self._stage.finish(self._schema, self._states.joined(), self._totals)
        if self._training is None:
            return fitted
        return CrossFitted(fitted, self._training.transformed_by(fitted, self._totals))


def _unpaired(pairs: Schema, schema: Schema) -> Schema:
    """The schema `pairs` of `_ByFold`, perhaps of some columns only, with the class that `schema` has."""
    target = schema.class_attribute
    assert target is not None and pairs.class_index is not None
    attributes = list(pairs.attributes)
    attributes[pairs.class_index] = target
    return pairs.replace(attributes=tuple(attributes), positive=schema.positive)


def counted_classes(rows: Rows) -> np.ndarray:
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


class _PairedWithFold(Fitted):
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


class _PairTable(ContingencyTable):
    """Counts pairs of class and fold, in little memory: a value that few rows have goes with few of the pairs."""

    @classmethod
    def of(cls, batch: Batch, columns: np.ndarray, supervised: bool, reader: str) -> Self:
        """See `Statistic.of`."""
        table = super().of(batch, columns, supervised, reader)
        table.cell_parts = class_parts.in_less_memory(table.cell_parts)
        return table


def _for_folds(whole: ContingencyTable) -> Schema:
    """The schema for tables of folds: all rows together, which `whole` counts, decide which class is positive."""
    schema, target = whole.schema, whole.schema.class_attribute
    assert target is not None
    if schema.positive is None and 0 < len(target.values) <= 2:
        schema = schema.replace(positive=target.values[whole.tasks()[0]])
    return schema


def _of_folds(table: ContingencyTable, schema: Schema, chosen: np.ndarray) -> ContingencyTable:
    """The table of the rows of some folds; `chosen`, bool (folds + 1,), says which; `table` counts pairs of class and
    fold."""
    classes = len(table.total_parts) // len(chosen)
    group = np.where(chosen, np.arange(classes)[:, None], -1).ravel()
    parts = class_parts.regrouped(table.cell_parts, group, classes)
    indptr, values = table.indptr, table.values
    present = class_parts.any_weight(parts)
    if not present.all():
        places = np.flatnonzero(present)
        indptr, values, parts = np.searchsorted(places, indptr), values[places], class_parts.take(parts, places)
    gap_parts = class_parts.regrouped(table.gap_parts, group, classes)
    total_parts = class_parts.regrouped(table.total_parts[None], group, classes)
    assert isinstance(total_parts, np.ndarray)
    found = ContingencyTable(schema, table.columns, indptr, values, parts, gap_parts, total_parts[0])
    found.first = table.first
    return found


class CrossFitted(Fitted):
    """A column stage fitted on all rows, and on all but those of each fold.

    Parameters
    ----------
    whole : fitted on all rows; transforms later rows.
    training : transforms the training rows.
    """

    def __init__(self, whole: FittedColumns, training: Fitted) -> None:
        self.schema = whole.schema
        self.growth = whole.growth
        self.columns = whole.columns
        self.whole = whole
        self._training = training

    def get_state(self) -> dict[str, Any]:
        return self.whole.get_state()

    def transform(self, batch: Batch) -> Batch:
        return self.whole.transform(batch)

    def transform_training(self, batch: Batch) -> Batch:
        return self._training.transform(batch)


class _TrainingRows:
    """The training rows of a stage that is cross-fitted on one range of columns after the other.

    What it learns from the folds is large where columns have many values. As soon as that takes more than the budget,
    the rows are transformed by it, and the columns that come out wait in a temporary file.

    Parameters
    ----------
    stage : the stage.
    rows : the training rows.
    fold, count : the fold of each row, see `draw_folds`, and the number of folds.
    memory : bytes, of which what is learned from the folds takes an eighth.
    """

    def __init__(self, stage: ColumnStage, rows: Rows, fold: np.ndarray, count: int, memory: int) -> None:
        self._stage = stage
        self._rows = rows
        self._fold = fold
        self._count = count
        self._budget = fold_share(memory)
        self._file = Scratch()  # for the columns that come out
        self._ranges: list[_Columns] = []
        self._begin(0)

    def _begin(self, column: int) -> None:
        """Collect the states of the columns from this one on."""
        file = Scratch()
        self._states = [StatesByStrip(file) for _ in range(self._count + 1)]
        self._low = self._high = column
        self._nbytes = 0

    def add(self, states: list[State], columns: int, totals: np.ndarray) -> None:
        """Add what was learned of the next columns.

        Parameters
        ----------
        states : from the rows outside each fold, and at last from all rows.
        columns : how many there are.
        totals : as for `ColumnStage.finish`.
        """
        for collected, state in zip(self._states, states, strict=True):
            collected.add(state)
            self._nbytes += sum(value.nbytes for value in state.values())
        self._high += columns
        # If a stage compares columns, nobody knows yet which of them come out.
        if self._nbytes > self._budget and not self._stage.compares_columns():
            self._transform(totals)

    def _transform(self, totals: np.ndarray) -> None:
        """Transform the columns whose states have been collected."""
        some = _SomeColumns(self._rows.schema, self._low, self._high)
        *others, whole = (states.joined() for states in self._states)
        by_fold = _ByFoldStates(self._stage.finish(some.schema, whole, totals), others, self._fold)
        spooled = []
        for batch in self._rows.through(some).through(by_fold).map(_columns_alone):
            batch.write(self._file)
            spooled.append(batch)
        out = by_fold.schema
        alone = Schema(out.relation, out.features, sparse=out.sparse, zero=out.zero)  # holds no state, as `out` may
        self._ranges.append(_Columns(alone, spooled))
        self._begin(self._high)

    def transformed_by(self, fitted: FittedColumns, totals: np.ndarray) -> Fitted:
        """What transforms the training rows; `fitted` is the stage, fitted on all of them."""
        if not self._ranges:
            return _ByFoldStates(fitted, [states.joined() for states in self._states[:-1]], self._fold)
        if self._high > self._low:
            self._transform(totals)
        spooled = _FromFile(fitted.schema, self._ranges)
        self._rows.source.close_with(spooled)
        return spooled


class _SomeColumns(Fitted):
    """Passes on a range of the columns of X."""

    def __init__(self, schema: Schema, low: int, high: int) -> None:
        self._range = np.arange(low, high)
        self.schema = schema.with_features(taken(schema.features, self._range), self._range)

    def transform(self, batch: Batch) -> Batch:
        X: Any = batch.csr.only(self._range) if batch.sparse else batch.X[:, self._range]
        return batch.replace(schema=self.schema, X=X)


class _ByFoldStates(Fitted):
    """Transforms each training row by what a stage has learned from the rows outside its fold.

    Parameters
    ----------
    whole : the stage, fitted on all rows; transforms rows in no fold.
    states : what the stage has learned from the rows outside each fold.
    fold : int32 (rows,), the fold of each training row; ``len(states)`` for none.
    """

    def __init__(self, whole: FittedColumns, states: list[State], fold: np.ndarray) -> None:
        self.schema = whole.schema
        self.growth = whole.growth
        self._fitted = [
            *(FittedColumns(whole.stage, whole.incoming, whole.schema, state, whole.columns) for state in states),
            whole,
        ]
        self._fold = fold

    def transform(self, batch: Batch) -> Batch:
        fold = self._fold[batch.start : batch.start + len(batch)]
        bare = batch.replace(passthrough=None)
        numbers = [np.flatnonzero(fold == number) for number in range(len(self._fitted))]
        parts = [
            fitted.transform(bare.take(own)) for fitted, own in zip(self._fitted, numbers, strict=True) if len(own)
        ]
        if not parts:
            return self._fitted[-1].transform(batch)
        place = np.argsort(np.concatenate(numbers))
        X = (
            Csr.stack([part.csr for part in parts]).take(place)
            if self.schema.sparse
            else np.concatenate([part.X for part in parts])[place]
        )
        return batch.replace(schema=self.schema, X=X)


class _Columns(NamedTuple):
    """Some columns of all training rows.

    Attributes
    ----------
    schema : of batches of these columns.
    batches : in order.
    """

    schema: Schema
    batches: list[SpooledBatch]


def _columns_alone(batch: Batch) -> SpooledBatch:
    """The columns of X of a batch, to be spooled."""
    return SpooledBatch(batch.replace(y=None, weights=None, passthrough=None))


class _FromFile(Fitted):
    """Gives training rows the columns that wait in a temporary file.

    Parameters
    ----------
    schema : of the rows that come out.
    ranges : the columns, one range after the other.
    """

    def __init__(self, schema: Schema, ranges: list[_Columns]) -> None:
        self.schema = schema
        self._ranges = ranges

    def transform(self, batch: Batch) -> Batch:
        stop = batch.start + len(batch)
        parts = [rows_between(each.batches, each.schema, batch.start, stop) for each in self._ranges]
        X: Any = Csr.beside([p.csr for p in parts]) if self.schema.sparse else np.hstack([p.X for p in parts])
        return batch.replace(schema=self.schema, X=X)

    def close(self) -> None:
        """Give back memory and disk."""
        self._ranges = []
