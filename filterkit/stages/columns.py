"""ColumnStage: stages that fit each column by itself, from its part of a contingency table."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from filterkit.counts.table import ContingencyTable, from_cells, sum_over_classes
from filterkit.data.batch import Batch
from filterkit.data.contract import broken, check_numbers, check_outputs, check_state, kind_of
from filterkit.data.csr import Csr
from filterkit.data.ragged import Ragged, ranges
from filterkit.data.schema import Attribute, LazyAttributes, Schema
from filterkit.data.schema_json import attribute_from_json, attribute_to_json
from filterkit.errors import FilterkitError, StageError
from filterkit.stages.base import Fitted, Stage

State = dict[str, Any]  # of ndarray and Ragged, by name


class Fold(NamedTuple):
    """A part of the training rows that is left out: the table of the `others`, the `state` fitted on it, and the
    table of its `own` rows."""

    others: ContingencyTable
    state: State
    own: ContingencyTable


class ColumnStage(Stage):
    """A stage that fits each column of X by itself, from the column's part of a contingency table.

    Write `fit_columns` and `apply`. Where one column becomes several, or none, or another kind, write
    `outputs` too.
    """

    needs_class: ClassVar[bool] = True

    def fit_columns(self, table: ContingencyTable) -> State:
        """What must be known of each column to transform it.

        Parameters
        ----------
        table : of all training rows, and some or all columns.

        Returns
        -------
        dict of arrays or `Ragged` arrays whose first axis runs over the covered columns in order. It may
        not depend on which other columns the table covers.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fit_columns")

    def outputs(
        self, schema: Schema, state: State, totals: ContingencyTable
    ) -> tuple[np.ndarray, list[Attribute] | LazyAttributes]:
        """The columns put out, for the state of all columns.

        Parameters
        ----------
        schema : of the batches that come in.
        state : what `fit_columns` returned.
        totals : a table of the training rows, for the class totals and tasks; its columns are not all.

        Returns
        -------
        source, attributes : for each output column, the column of X it comes from, ascending, and its attribute; or
            `LazyAttributes` if every column stays one of its name. The default keeps every column as it is.
        """
        return np.arange(schema.width), LazyAttributes(lambda: schema.features, schema.nominal)

    def output(self, schema: Schema) -> Schema:
        """The schema put out, apart from the columns of X: override to change `zero`."""
        return schema

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        """The new values of some entries.

        Parameters
        ----------
        values : float64 (n,), entries of X; NaN is missing.
        columns : int64 (n,), the column put out that each is for.
        state : what `fit_columns` returned, by column of X that comes in.

        Returns
        -------
        float64 (n,), a new array.
        """
        raise NotImplementedError(f"{type(self).__name__} has no apply")

    def folds(self) -> int:
        """Into how many folds to split the training rows, for `choose_columns` and `cross_fits`; 0 for neither."""
        return 0

    def fold_seed(self) -> int:
        """The seed that rows are drawn into folds with."""
        return 0

    def cross_fits(self) -> bool:
        """Whether training rows are to get what the rows outside their fold say (`filterkit.chains.crossfit`)."""
        return True

    def choose_columns(self, folds: list[Fold]) -> State:
        """Parts of the state that a comparison of folds decides; they replace those of `fit_columns`."""
        return {}

    def join(self, states: list[State]) -> State:
        """One state from those of strips of columns, in order."""
        return {
            key: Ragged.concatenate([s[key] for s in states])
            if isinstance(states[0][key], Ragged)
            else np.concatenate([s[key] for s in states])
            for key in states[0]
        }

    def finish(self, schema: Schema, state: State, totals: ContingencyTable) -> FittedColumns:
        """The fitted stage from the state of all columns."""
        source, attributes = check_outputs(self, self.outputs(schema, state, totals), schema.width)
        return FittedColumns(self, schema, state, source, attributes)

    def from_state(self, state: dict[str, Any], schema: Schema) -> FittedColumns:
        return FittedColumns.from_state(self, state, schema)


def learned(stage: ColumnStage, table: ContingencyTable) -> State:
    """What `stage` learns of the columns of a table.

    Raises
    ------
    PluginError : it gives something else than arrays with an entry for each column.
    """
    return check_state(stage, stage.fit_columns(table), len(table))


class FittedColumns(Fitted):
    """A fitted column stage: maps rows, and also the table of its input to the table of its output.

    Parameters
    ----------
    stage, state : what to apply.
    incoming : the schema of batches that come in.
    source : int64, ascending: the column that each column put out comes from.
    attributes : of the columns put out.
    """

    def __init__(
        self,
        stage: ColumnStage,
        incoming: Schema,
        state: State,
        source: np.ndarray,
        attributes: list[Attribute] | LazyAttributes,
    ) -> None:
        self.stage = stage
        self.incoming = incoming
        self.state = state
        self.source = source
        outgoing = stage.output(incoming)
        if not isinstance(outgoing, Schema):
            raise broken(stage.name, f"output gives {kind_of(outgoing)}; return a Schema", type(stage))
        try:
            self.schema = incoming.with_features(
                attributes, source, zero=outgoing.zero, sparse=incoming.sparse and outgoing.zero
            )
        except FilterkitError as error:
            raise StageError(stage.name, str(error)) from None
        every = np.arange(incoming.width + 1)
        self._same = np.array_equal(source, every[:-1])
        self._first = every if self._same else np.searchsorted(source, every)
        if self.schema.zero and len(source) and self._apply(np.zeros(len(source)), np.arange(len(source))).any():
            # Sparse rows would keep the zero that the table and dense rows lose. No StageError: it is not the data.
            raise FilterkitError(
                f"{stage.name} turns zero into something else where zero is special: let apply return 0 for 0 if "
                "table.schema.zero is true, or override output to return schema.replace(zero=False)"
            )

    def get_state(self) -> dict[str, Any]:
        state = {f"state.{key}": value for key, value in self.state.items()}
        return {"source": self.source, "attributes": [attribute_to_json(a) for a in self.schema.features], **state}

    @staticmethod
    def from_state(stage: ColumnStage, kept: dict[str, Any], schema: Schema) -> FittedColumns:
        """A fitted `stage` from what `kept` gave.

        Raises
        ------
        FilterkitError : the parts do not fit together.
        """
        state = {key.removeprefix("state."): value for key, value in kept.items() if key.startswith("state.")}
        source, attributes = kept["source"], [attribute_from_json(note) for note in kept["attributes"]]
        width = schema.width
        for key, value in state.items():
            if not isinstance(value, (np.ndarray, Ragged)) or len(value) not in (width, len(source)):
                raise FilterkitError(f"the {key} of {stage.name} is not that of its columns")
        ascending = isinstance(source, np.ndarray) and source.dtype == np.int64 and bool((np.diff(source) >= 0).all())
        if not ascending or len(source) != len(attributes) or ((source < 0) | (source >= width)).any():
            raise FilterkitError(f"the columns of {stage.name} are not those of its attributes")
        return FittedColumns(stage, schema, state, source, attributes)

    def _apply(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        image = self.stage.apply(values, columns, self.state)
        return check_numbers(image, values.shape, self.stage.name, "apply", type(self.stage))

    def transform(self, batch: Batch) -> Batch:
        if not batch.sparse:
            X = batch.X
            if not self._same:
                X = X[:, self.source]
            rows, width = X.shape
            # Column by column, because what is looked up for one column lies together.
            image = self._apply(X.T.ravel(), np.repeat(np.arange(width), rows)).reshape(width, rows)
            return batch.replace(schema=self.schema, X=np.ascontiguousarray(image.T))
        values, columns, indptr = batch.csr.data, batch.csr.indices.astype(np.int64), batch.csr.indptr
        if not self._same:
            entry, columns = self._fan_out(columns)
            values = values[entry]
            repeats = np.diff(self._first)[batch.csr.indices]
            indptr = np.concatenate([[0], np.cumsum(repeats)])[indptr]
        image = self._apply(values, columns)
        if not self.schema.sparse:
            return batch.replace(schema=self.schema, X=self._dense(image, columns, indptr))
        if not image.all():
            keep = np.flatnonzero(image)
            indptr, image, columns = np.searchsorted(keep, indptr), image[keep], columns[keep]
        matrix = Csr(image, columns.astype(np.int32), indptr.astype(np.int32), len(self.source))
        return batch.replace(schema=self.schema, X=matrix)

    def _dense(self, image: np.ndarray, columns: np.ndarray, indptr: np.ndarray) -> np.ndarray:
        """The dense matrix of sparse entries where zeros have an image of their own."""
        zeros = self._apply(np.zeros(len(self.source)), np.arange(len(self.source)))
        X = np.tile(zeros, (len(indptr) - 1, 1))
        X[np.repeat(np.arange(len(X)), np.diff(indptr)), columns] = image
        return X

    def _fan_out(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For entries in incoming `columns`: which entry, and for which outgoing column, each image is."""
        repeats = np.diff(self._first)[columns]
        return np.repeat(np.arange(len(columns)), repeats), ranges(self._first[columns], repeats)

    def push(self, table: ContingencyTable) -> ContingencyTable:
        """The table of the output for the table of the input, for the columns that `table` covers.

        Exactly the table of the transformed rows.
        """
        # Every cell of the input, missing and, unless it stays, zero made explicit, times every output of its column.
        full = table if self.schema.zero else table.with_zeros()
        if self._same:
            outputs, place = table.columns, np.arange(len(table))
            output, values, parts = full.column_of_cell, full.values, full.parts
        else:
            outputs = ranges(self._first[table.columns], np.diff(self._first)[table.columns])
            place = np.searchsorted(table.columns, self.source[outputs])
            sizes = np.diff(full.indptr)[place]
            output, cell = np.repeat(np.arange(len(outputs)), sizes), ranges(full.indptr[place], sizes)
            values, parts = full.values[cell], full.parts.take(cell, axis=0)
        gaps = np.flatnonzero(sum_over_classes(full.missing)[place])
        if len(gaps):
            output, values = np.append(output, gaps), np.append(values, np.full(len(gaps), np.nan))
            parts = np.append(parts, full.missing_parts[place[gaps]], axis=0)
        image = self._apply(values, outputs[output])
        missing_parts = np.zeros((len(outputs), *full.missing_parts.shape[1:]))
        absent = np.isnan(image)
        if absent.any():
            np.add.at(missing_parts, output[absent], parts[absent])
            present = np.flatnonzero(~absent)
            output, image, parts = output[present], image[present], parts.take(present, axis=0)
        return from_cells(
            self.schema,
            outputs,
            output,
            image,
            parts,
            missing_parts,
            full.total_parts,
        )
