"""Column stages, which fit each column by itself from its part of a contingency table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from filterkit.counts import class_parts
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, from_cells
from filterkit.data.attributes import Attribute, taken
from filterkit.data.batch import Batch
from filterkit.data.contract import (
    blaming,
    broken,
    check_attributes,
    check_columns,
    check_nominal,
    check_numbers,
    check_renewed,
    check_state,
    kind_of,
)
from filterkit.data.csr import Csr
from filterkit.data.ragged import Ragged, ranges
from filterkit.data.schema import Schema
from filterkit.data.schema_json import attributes_from_json, attributes_to_json
from filterkit.errors import FilterkitError, StageError, one_line, quoted
from filterkit.stages.base import Fitted, unwritten
from filterkit.stages.selective import SelectiveStage

_AT_ONCE = 1 << 16  # columns whose image of zero is computed together

State = dict[str, Any]  # np.ndarray and Ragged by name, each with one entry for every column of X


class Fold(NamedTuple):
    """One fold of the training rows that is held out.

    Attributes
    ----------
    training : the table of the rows of the other folds.
    state : what `ColumnStage.fit_columns` learned from them.
    held_out : the table of the rows of this fold.
    """

    training: ContingencyTable
    state: State
    held_out: ContingencyTable


class ColumnStage(SelectiveStage):
    """A stage that fits each column of X by itself, from the column's part of a statistic of the training rows.

    Write `fit_columns` and `apply`. If one column becomes several or none, write `output_columns` too; if attributes
    change, `output_attributes`.

    State goes by the column that comes in, and `apply` by the column that goes out: `fit_columns` learns an entry for
    each incoming column, and `apply` is given the numbers of outgoing columns. Both are the same unless one column
    becomes several or none. In that case keep a `Ragged` with a row for each incoming column, and in it a value for
    each column that it becomes; ``state[name].values[columns]`` are those of the outgoing columns.

    Attributes
    ----------
    learns_from : the statistic. The default is the contingency table, which takes some 30 bytes for each distinct value
        of a column. `Summary` (extremes, and numbers of zeros, missing values and labels) and `Moments` (mean and
        deviation besides) take a fixed number of bytes for each column, and less time.
    """

    group = "Change columns"
    learns_from: ClassVar[type[Statistic]] = ContingencyTable

    @property
    def needs_class(self) -> bool:
        """Whether the table counts the rows of each class, which then must be nominal.

        If not, all rows count as one class. Most stages declare it as a class variable: ``needs_class = False``.
        """
        return True

    def working_bytes(self, statistic: Statistic) -> int:
        """The bytes of the arrays that `fit_columns` works with, which decide how many columns it gets at once."""
        return statistic.working_bytes

    def fit_columns(self, table: Any) -> State:
        """Learn what is needed to transform each column.

        Parameters
        ----------
        table : the statistic `learns_from` of all training rows, for some or all columns.

        Returns
        -------
        dict of arrays or `Ragged` arrays whose first axis runs over the columns of the table, in order. They must not
        depend on which other columns the table covers.
        """
        raise unwritten(self, "fit_columns")

    def apply(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        """Transform some entries of X.

        Parameters
        ----------
        values : float64 (n,), entries of X; NaN is missing.
        columns : int64 (n,), the number of the outgoing column that each entry goes to.
        state : what `fit_columns` returned, by the number of the incoming column.

        Returns
        -------
        float64 (n,), a new array.
        """
        raise unwritten(self, "apply")

    def output(self, schema: Schema) -> Schema:
        """The outgoing schema apart from its columns; override it to change `zero`."""
        return schema

    def most_columns(self, width: int | None) -> int | None:
        return width if type(self).output_columns is ColumnStage.output_columns else None

    def output_columns(self, schema: Schema, state: State, totals: np.ndarray) -> np.ndarray | None:
        """Say which incoming column each outgoing column comes from.

        Parameters
        ----------
        schema : of the incoming batches.
        state : what `fit_columns` returned, of all columns.
        totals : float64 (classes,), the weight of the training rows of each class, or of all rows without classes.

        Returns
        -------
        int64 (outgoing columns,), ascending; or None, the default, if every column gives one column of the same name.
        """
        return None

    def output_attributes(
        self, schema: Schema, state: State, columns: np.ndarray, totals: np.ndarray
    ) -> Sequence[Attribute]:
        """The attributes of the outgoing columns; by default those of the columns that they come from.

        The parameters are those of `output_columns`; `columns` is what it returned, or all columns if that is None. In
        this case the method is called only when the attributes are needed.
        """
        return taken(schema.features, columns)

    def output_nominal(self, schema: Schema, state: State) -> np.ndarray:
        """bool (columns,): which columns are nominal afterwards, if `output_columns` returns None and kinds change."""
        return schema.nominal

    @property
    def curve_name(self) -> str:
        """What a value becomes, in symbols such as p(v), if ``filterkit explore`` is to draw it as a curve.

        The default is the empty text: there is no curve.
        """
        return ""

    def curve(self, values: np.ndarray, columns: np.ndarray, state: State) -> np.ndarray:
        """The curve at some values; parameters and result as for `apply`, which is the default.

        Override it if `apply` moves the curve so that zero stays zero, or if some of the outgoing columns have none:
        their values become NaN.
        """
        return self.apply(values, columns, state)

    def folds(self) -> int:
        """The number of folds of the training rows for `choose_columns` and `cross_fits`; 0 for neither."""
        return 0

    def fold_seed(self) -> int:
        """The seed for drawing the folds."""
        return 0

    def cross_fits(self) -> bool:
        """Whether each training row is transformed by what was learned from the other folds, if there are `folds`.

        See `filterkit.chains.crossfit`.
        """
        return True

    def choose_columns(self, folds: list[Fold]) -> State:
        """Entries of the state that depend on a comparison of the folds; they replace those of `fit_columns`."""
        return {}

    def compares_folds(self) -> bool:
        """Whether `choose_columns` compares the folds, whose tables are then all in memory; if not, it is not called.

        The default is True for a stage that writes `choose_columns`, which is always right.
        """
        return type(self).choose_columns is not ColumnStage.choose_columns

    def finish(self, schema: Schema, state: State, totals: np.ndarray) -> FittedColumns:
        """Make the fitted stage; parameters as for `output_columns`."""
        columns = self.output_columns(schema, state, totals)
        if columns is not None:
            check_columns(self, columns, schema.width)
            attributes = self.output_attributes(schema, state, columns, totals)
            check_attributes(self, attributes, len(columns))
            return FittedColumns(self, schema, self._outgoing(schema, attributes, columns), state, columns)
        columns = np.arange(schema.width)

        def attributes_when_asked() -> Sequence[Attribute]:
            with blaming(self):
                made = self.output_attributes(schema, state, columns, totals)
            return check_renewed(self, made, schema, nominal)

        nominal = check_nominal(self, self.output_nominal(schema, state), schema.width)
        outgoing = schema.with_renewed_features(attributes_when_asked, nominal, **self._form(schema))
        return FittedColumns(self, schema, outgoing, state, columns)

    def _outgoing(self, schema: Schema, attributes: Sequence[Attribute], columns: np.ndarray) -> Schema:
        try:
            return schema.with_features(attributes, columns, **self._form(schema))
        except FilterkitError as error:
            raise StageError(self.name, str(error)) from None

    def _form(self, schema: Schema) -> dict[str, bool]:
        outgoing = self.output(schema)
        if not isinstance(outgoing, Schema):
            raise broken(self.name, f"output gives {kind_of(outgoing)}; return a Schema", type(self))
        return {"zero": outgoing.zero, "sparse": schema.sparse and outgoing.zero}

    def from_state(self, state: dict[str, Any], schema: Schema) -> FittedColumns:
        """As `Stage.from_state`, from what `FittedColumns.get_state` returned.

        Raises
        ------
        FilterkitError : the entries of the state do not fit together.
        """
        columns, attributes = state["source"], attributes_from_json(state["attributes"])
        learned = {key.removeprefix("state."): value for key, value in state.items() if key.startswith("state.")}
        width = schema.width
        for key, value in learned.items():
            if not _is_by_column(value, width):
                raise FilterkitError(f"the {key} of {self.name} is not that of its columns")
        ascending = (
            isinstance(columns, np.ndarray) and columns.dtype == np.int64 and bool((np.diff(columns) >= 0).all())
        )
        if not ascending or len(columns) != len(attributes) or ((columns < 0) | (columns >= width)).any():
            raise FilterkitError(f"the columns of {self.name} are not those of its attributes")
        fitted = FittedColumns(self, schema, self._outgoing(schema, attributes, columns), learned, columns)
        fitted.check_codes()
        return fitted


def _is_by_column(value: object, width: int) -> bool:
    """Whether `value` is an array whose first axis has the length `width`."""
    return isinstance(value, (np.ndarray, Ragged)) and getattr(value, "ndim", 1) > 0 and len(value) == width


def learned(stage: ColumnStage, table: Statistic) -> State:
    """What `stage` learns from a statistic.

    Raises
    ------
    PluginError : it does not return arrays with an entry for each column.
    """
    with blaming(stage):
        return check_state(stage, stage.fit_columns(table), len(table))


class FittedColumns(Fitted):
    """A fitted column stage, which transforms batches, and the table of some rows into that of the transformed rows.

    Parameters
    ----------
    stage : the stage, whose `apply` is used.
    incoming, outgoing : the schemas of the incoming and outgoing batches.
    state : what `ColumnStage.fit_columns` returned, of all columns.
    columns : int64 (outgoing columns,), ascending: the incoming column that each comes from.
    """

    columns: np.ndarray

    def __init__(
        self, stage: ColumnStage, incoming: Schema, outgoing: Schema, state: State, columns: np.ndarray
    ) -> None:
        self.stage = stage
        self.incoming = incoming
        self.schema = outgoing
        self.state = state
        self.columns = columns
        self.growth = max(1.0, len(columns) / max(incoming.width, 1))
        every = np.arange(incoming.width + 1)
        self._same = np.array_equal(columns, every[:-1])
        self._first = every if self._same else np.searchsorted(columns, every)
        moved = (
            {bool(np.isnan(image).any()) for image in self._images_of_zero() if image.any()} if outgoing.zero else ()
        )
        if True in moved:
            fault = (
                "apply gives NaN for 0 where zero is special; is NaN in its state? Put a number there in fit_columns"
            )
            raise broken(stage.name, fault, type(stage))
        if moved:
            # Sparse rows would keep the zero that the table and dense rows lose. The data are not at fault, so this is
            # not a StageError.
            raise broken(
                stage.name,
                "apply turns zero into something else where zero is special; return 0 for 0 if table.schema.zero is "
                "true, or override output to return schema.replace(zero=False)",
                type(stage),
            )

    def _images_of_zero(self) -> Iterator[np.ndarray]:
        """What a zero of each outgoing column becomes, some columns at a time."""
        for first in range(0, len(self.columns), _AT_ONCE):
            columns = np.arange(first, min(first + _AT_ONCE, len(self.columns)))
            yield self._apply(np.zeros(len(columns)), columns)

    def get_state(self) -> dict[str, Any]:
        state = {f"state.{key}": value for key, value in self.state.items()}
        return {"source": self.columns, "attributes": attributes_to_json(self.schema.features), **state}

    def _apply(self, values: np.ndarray, columns: np.ndarray, row: Callable[[int], int] | None = None) -> np.ndarray:
        """The images of entries; `row` gives the number of the row that an entry is in.

        Raises
        ------
        StageError : the image of a number is too large for float64; names the attribute.
        """
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return self._image(values, columns)
        except FloatingPointError:
            with np.errstate(all="ignore"):
                image = self._image(values, columns)
            lost = np.flatnonzero(~np.isfinite(image) & np.isfinite(values))
            lost = lost if len(lost) else np.flatnonzero(np.isnan(image) & ~np.isnan(values))
            if len(lost):
                name = self.schema.features[int(columns[lost[0]])].name
                raise StageError(
                    self.stage.name,
                    f"attribute {quoted(name)} has the value {values[lost[0]]:g}, and what becomes of it is no number; "
                    "put range before it",
                    None if row is None else row(int(lost[0])),
                ) from None
            return image

    def _image(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        try:
            image = self.stage.apply(values, columns, self.state)
        except (IndexError, ValueError) as error:
            hint = self._lookup(error)
            if hint is None:
                raise
            fault = f"apply fails with {type(error).__name__}: {one_line(error)}; {hint}"
            raise broken(self.stage.name, fault, type(self.stage), error) from error
        return check_numbers(image, values.shape, self.stage.name, "apply", type(self.stage))

    def _lookup(self, error: Exception) -> str | None:
        """How `apply` should look the state up, if that may be why it fails."""
        if isinstance(error, IndexError):
            outgoing = "it gets the numbers of outgoing columns, and the state has an entry for each incoming one"
            return None if self._same else outgoing
        return "look up the state by column: state[name][columns]" if "broadcast" in str(error) else None

    def check_codes(self) -> None:
        """Check that a state from a file gives nominal columns only labels that they have.

        It tries all labels that may come in, and a few numbers that are far apart.

        Raises
        ------
        FilterkitError : a value that comes out is not the index of a label.
        """
        nominal = np.flatnonzero(self.schema.nominal)
        tried = [
            np.arange(float(count)) if is_nominal else np.array([-1e300, -1.5, 0.5, 1e300])
            for count, is_nominal in zip(
                self.incoming.label_counts[self.columns[nominal]].tolist(),
                self.incoming.nominal[self.columns[nominal]].tolist(),
            )
        ]
        if not tried:
            return
        columns = np.repeat(nominal, [len(values) for values in tried])
        try:
            with np.errstate(all="ignore"):
                codes = self._apply(np.concatenate(tried), columns)
        except StageError:  # it refuses such values
            return
        is_label = (codes >= 0) & (codes < self.schema.label_counts[columns]) & (codes == np.rint(codes))
        for column in columns[~(is_label | np.isnan(codes))][:1].tolist():
            name = self.schema.features[column].name
            raise FilterkitError(f"{self.stage.name} gives the nominal '{name}' values that are not among its labels")

    def transform(self, batch: Batch) -> Batch:
        if not batch.sparse:
            X = batch.X
            if not self._same:
                X = X[:, self.columns]
            rows, width = X.shape
            # Column by column, because the state of one column lies together in memory.
            columns = np.repeat(np.arange(width), rows)
            image = self._apply(X.T.ravel(), columns, lambda at: batch.start + at % rows).reshape(width, rows)
            return batch.replace(schema=self.schema, X=np.ascontiguousarray(image.T))
        values, columns, indptr = batch.csr.data, batch.csr.indices.astype(np.int64), batch.csr.indptr
        if not self._same:
            entry, columns = self._fan_out(columns)
            values = values[entry]
            repeats = np.diff(self._first)[batch.csr.indices]
            indptr = np.concatenate([[0], np.cumsum(repeats)])[indptr]
        image = self._apply(
            values, columns, lambda at: batch.start + int(np.searchsorted(indptr, at, side="right")) - 1
        )
        if not self.schema.sparse:
            return batch.replace(schema=self.schema, X=self._dense(image, columns, indptr))
        matrix = Csr(image, columns.astype(np.int32), indptr.astype(np.int32), len(self.columns))
        return batch.replace(schema=self.schema, X=matrix.without_zeros())

    def _dense(self, image: np.ndarray, columns: np.ndarray, indptr: np.ndarray) -> np.ndarray:
        """The dense matrix of sparse entries, where zeros become something else."""
        zeros = np.concatenate([np.zeros(0), *self._images_of_zero()])
        X = np.tile(zeros, (len(indptr) - 1, 1))
        X[np.repeat(np.arange(len(X)), np.diff(indptr)), columns] = image
        return X

    def _fan_out(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For entries in incoming `columns`: the entry and the outgoing column of each value that they become."""
        repeats = np.diff(self._first)[columns]
        return np.repeat(np.arange(len(columns)), repeats), ranges(self._first[columns], repeats)

    def push(self, table: ContingencyTable) -> ContingencyTable:
        """The table of the transformed rows, from the table of the rows, for the columns that `table` covers.

        It is exactly the table that counting the transformed rows gives.
        """
        # Each cell of an incoming column becomes a cell of each of its outgoing columns. Missing values become cells
        # first, and so do zeros unless they stay zero.
        full = table if self.schema.zero else table.with_zeros()
        if self._same:
            outputs, place = table.columns, np.arange(len(table))
            output, values, parts = full.column_of_cell, full.values, full.cell_parts
        else:
            outputs = ranges(self._first[table.columns], np.diff(self._first)[table.columns])
            place = np.searchsorted(table.columns, self.columns[outputs])
            sizes = np.diff(full.indptr)[place]
            output, cell = np.repeat(np.arange(len(outputs)), sizes), ranges(full.indptr[place], sizes)
            values, parts = full.values[cell], class_parts.take(full.cell_parts, cell)
        gaps = np.flatnonzero(full.missing_rows[place])
        if len(gaps):
            output, values = np.append(output, gaps), np.append(values, np.full(len(gaps), np.nan))
            parts = class_parts.concatenate([parts, class_parts.take(full.gap_parts, place[gaps])])
        image = self._apply(values, outputs[output])
        absent = np.flatnonzero(np.isnan(image))
        gap_parts = class_parts.sum_by(class_parts.take(parts, absent), output[absent], len(outputs))
        if len(absent):
            present = np.flatnonzero(~np.isnan(image))
            output, image, parts = output[present], image[present], class_parts.take(parts, present)
        return from_cells(
            self.schema,
            outputs,
            output,
            image,
            parts,
            gap_parts,
            full.total_parts,
        )
