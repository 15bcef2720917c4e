"""Column stages: each column is fitted by itself, from a statistic of the training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeGuard

import numpy as np

from filterkit.counts import class_parts
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable, sort_and_merge_cells
from filterkit.data.arithmetic import Bools, Floats, Ints
from filterkit.data.attributes import Attribute, take_attributes
from filterkit.data.batch import Batch
from filterkit.data.contract import (
    blame_stage_for_errors,
    check_attributes_keep_names_and_kinds,
    check_output_attributes,
    check_output_columns,
    check_output_nominal,
    check_returned_numbers,
    check_state,
    describe_type,
    make_contract_error,
)
from filterkit.data.csr import Csr
from filterkit.data.ragged import Ragged, find_indptr_and_entries_of_rows, list_row_numbers
from filterkit.data.schema import Schema
from filterkit.data.schema_json import attributes_from_json, attributes_to_json
from filterkit.errors import FilterkitError, StageError, quoted, to_one_line
from filterkit.stages.base import Batches, Fitted, Stage, State, make_missing_member_error, name_stage_in_errors
from filterkit.stages.learned import LearnedTable, list_feature_names, make_learned_table, make_score_tables
from filterkit.stages.options import get_seed_option
from filterkit.stages.selective import SelectiveStage


class Fold(NamedTuple):
    """Holds the table of one fold of the training rows, that of all other rows, and what was learned from the latter.

    Attributes
    ----------
    training : the table of all rows outside the fold. The only row of a class is in no fold, so it is always here.
    state : what `ColumnStage.fit_columns` learned from `training`.
    held_out : the table of the rows in the fold; it may count no rows.
    """

    training: ContingencyTable
    state: State
    held_out: ContingencyTable


class ColumnStage(SelectiveStage):
    """A stage that fits each column of X by itself, from a statistic of the training rows.

    Write `fit_columns` and `apply`. If one column becomes several or none, write `output_columns` too; if attributes
    change, `output_attributes`. A stage that learns from whole rows writes `fit_rows` instead of `fit_columns`; its
    state has an entry for each column, too.

    The arrays of the state have an entry for each incoming column, but `columns` of `apply` are indices of outgoing
    columns. The indices are the same unless one column becomes several or none. In that case put a `Ragged` into the
    state. Let it have a row for each incoming column, and in this row a value for each column that it becomes. Then
    ``state[name].values[columns]`` are the values of the outgoing columns.

    Attributes
    ----------
    learns_from : the class of the statistic. The default is the contingency table, which takes some 30 bytes for each
        distinct value of a column. `Summary` (extremes, and numbers of zeros, missing values and labels) and `Moments`
        (mean and deviation besides) take a fixed number of bytes for each column, and less time.
    needs_class : whether the table counts the rows of each class, which must be nominal unless `numeric_class`. If
        False, all rows count as one class; most stages declare that: ``needs_class = False``.
    curve_name : the name of the curve that ``filterkit explore`` draws of `curve`, such as p(v); "" for none.
    """

    group = "Change columns"
    learns_from: ClassVar[type[Statistic]] = ContingencyTable
    needs_class = True
    curve_name = ""

    def working_bytes(self, statistic: Statistic) -> int:
        """Estimate the bytes of the arrays that `fit_columns` works with when it learns from `statistic`.

        If they exceed the memory for it, `fit_columns` is called several times, each time with fewer columns.
        """
        return statistic.working_bytes

    def fit_columns(self, table: Any) -> State:
        """Learn what `apply` needs to transform each column; called several times if the columns take much memory.

        Parameters
        ----------
        table : a statistic of the class `learns_from` of the training rows, for some or all columns.

        Returns
        -------
        dict of arrays or `Ragged` arrays whose first axis runs over the columns of the table, in order. What is
        learned of one column must not depend on which other columns the table covers.
        """
        raise make_missing_member_error(self, "fit_columns")

    def apply(self, values: Floats, columns: Ints, state: State) -> Floats:
        """Transform some entries of X.

        Parameters
        ----------
        values : float64 (n,), entries of X; NaN is missing. Do not change them.
        columns : int64 (n,), the index of the outgoing column that each entry goes to.
        state : what `fit_columns` returned, of all incoming columns.

        Returns
        -------
        float64 (n,), a new array. The default, a copy of `values`, is only for stages that write `output_columns`;
        others raise NotImplementedError.
        """
        if type(self).output_columns is ColumnStage.output_columns:
            raise make_missing_member_error(self, "apply")
        return values.copy()

    def output(self, schema: Schema) -> Schema:
        """Return a schema whose `zero` says whether 0 is still the value that sparse rows omit; only `zero` is used.

        The default is `schema`, that of the incoming batches. A stage whose `apply` maps 0 to another number returns
        ``schema.replace(zero=False)``.
        """
        return schema

    def most_columns(self, width: int | None) -> int | None:
        return width if type(self).output_columns is ColumnStage.output_columns else None

    def output_columns(self, schema: Schema, state: State, totals: Floats) -> Ints | None:
        """Return the incoming column that each outgoing column comes from.

        Parameters
        ----------
        schema : of the incoming batches.
        state : what `fit_columns` or `fit_rows` returned, of all columns.
        totals : float64 (classes,), the weight of the training rows of each class. It is (1,) if the statistic does not
            count classes, and (0,) for a stage that writes `fit_rows`.

        Returns
        -------
        int64 (outgoing columns,), indices of incoming columns, ascending; an index may be repeated. Or None, the
        default, if every column gives one column of the same name.
        """
        return None

    def output_attributes(self, schema: Schema, state: State, columns: Ints, totals: Floats) -> Sequence[Attribute]:
        """Return the attributes of the outgoing columns; by default those of the columns that they come from.

        `schema`, `state` and `totals` are as for `output_columns`, and `columns` is what it returned. If it returned
        None, `columns` are all columns, the names must stay, and the chain calls this method only when it needs the
        attributes.
        """
        return take_attributes(schema.features, columns)

    def output_nominal(self, schema: Schema, state: State) -> Bools:
        """Return bool (columns,), which outgoing columns are nominal: by default, those that come in as nominal.

        It is called only if `output_columns` returns None, before any attributes are made.
        """
        return schema.nominal

    def describe_columns(self, schema: Schema, state: State) -> State:
        """Return what was learned, as columns of a table for the user: by default the state without arrays of bool.

        `schema` and `state` are as for `output_columns`. The keys of the result are the headings. Its values are
        arrays, `Ragged` arrays or lists, with an entry for each incoming column. The table leaves out an incoming
        column whose entry in the first of these values is NaN, or a list that is empty or has only NaN.
        """
        return {key: value for key, value in state.items() if isinstance(value, Ragged) or value.dtype.kind != "b"}

    def curve(self, values: Floats, columns: Ints, state: State) -> Floats:
        """Return the height of the curve at some values, float64 (n,): by default what `apply` returns for them.

        The parameters are those of `apply`. Override it if `apply` subtracts what the curve must show, for example so
        that zero stays zero; or to return NaN for outgoing columns without a curve.
        """
        return self.apply(values, columns, state)

    def folds(self) -> int:
        """Return the number of folds of training rows, at least 2, for `choose_columns` and cross-fitting; 0 for none.

        A stage that does not cross-fit gets fewer folds if there are fewer rows.
        """
        return 0

    fold_seed = get_seed_option  # for drawing the folds

    def cross_fits(self) -> bool:
        """Return whether each training row is transformed by what was learned from the rows of other folds.

        It is asked only if `folds` is not 0. `filterkit.chains.crossfit` says how this works.
        """
        return True

    def choose_columns(self, folds: list[Fold]) -> State:
        """Compare the folds, and return the entries of the state that replace those of `fit_columns`; {} for none.

        `folds` has all folds, for the same columns, which are some or all. The result is as that of `fit_columns`.
        """
        return {}

    def compares_folds(self) -> bool:
        """Return whether to call `choose_columns`, for which the tables of all folds must be in memory.

        The default is True for a stage that writes `choose_columns`. Return False if `choose_columns` would return {}.
        """
        return type(self).choose_columns is not ColumnStage.choose_columns

    def fit(self, rows: Batches, schema: Schema) -> FittedColumns:
        state = check_state(self, self.fit_rows(rows, schema), schema.width, "fit_rows")
        return self.finish(schema, state, np.zeros(0))

    def finish(self, schema: Schema, state: State, totals: Floats) -> FittedColumns:
        """Make the fitted stage from the state that was learned.

        The parameters are those of `output_columns`. If that returns None, `output_attributes` is called, and its
        result is checked, only when the attributes are first read.

        Raises
        ------
        PluginError : one of the methods ``output...`` returns something invalid, or `apply` gives something else than 0
            for 0 although `output` says that sparse rows omit 0.
        StageError : two attributes would have the same name.
        """
        columns = self.output_columns(schema, state, totals)
        if columns is not None:
            check_output_columns(self, columns, schema.width)
            attributes = self.output_attributes(schema, state, columns, totals)
            check_output_attributes(self, attributes, len(columns))
            return self._make_fitted(schema, attributes, state, columns)
        columns = np.arange(schema.width)

        def make_attributes() -> Sequence[Attribute]:
            with blame_stage_for_errors(self):
                attributes = self.output_attributes(schema, state, columns, totals)
            return check_attributes_keep_names_and_kinds(self, attributes, schema, nominal)

        nominal = check_output_nominal(self, self.output_nominal(schema, state), schema.width)
        outgoing = schema.with_renewed_features(make_attributes, nominal, **self._choose_zero_and_sparse(schema))
        return FittedColumns(self, schema, outgoing, state, columns)

    def _make_fitted(
        self, schema: Schema, attributes: Sequence[Attribute], state: State, columns: Ints
    ) -> FittedColumns:
        """Make the fitted stage whose outgoing columns, made of the incoming `columns`, have these attributes.

        Raise StageError if two attributes of the outgoing schema have the same name.
        """
        with name_stage_in_errors(self):
            outgoing = schema.with_features(attributes, columns, **self._choose_zero_and_sparse(schema))
        return FittedColumns(self, schema, outgoing, state, columns)

    def _choose_zero_and_sparse(self, schema: Schema) -> dict[str, bool]:
        """Return `zero` and `sparse` of the outgoing schema, by name.

        Raise PluginError if `output` returns something else than a schema.
        """
        outgoing = self.output(schema)
        if not isinstance(outgoing, Schema):
            raise make_contract_error(self, f"output returns {describe_type(outgoing)}; return a Schema")
        return {"zero": outgoing.zero, "sparse": schema.sparse and outgoing.zero}

    def from_state(self, state: State, schema: Schema) -> FittedColumns:
        """Rebuild the fitted stage from what `FittedColumns.get_state` returned.

        Raise FilterkitError if the entries of the state contradict each other or the schema. The state of another stage
        may lead to any exception.
        """
        columns, attributes = state["source"], attributes_from_json(state["attributes"])
        own_state = {key.removeprefix("state."): value for key, value in state.items() if key.startswith("state.")}
        width = schema.width
        for key, value in own_state.items():
            is_array = isinstance(value, (np.ndarray, Ragged)) and getattr(value, "ndim", 1) > 0
            if not is_array or len(value) != width:
                raise FilterkitError(f"the {key} of {self.name} does not match its columns")
        is_ascending = (
            isinstance(columns, np.ndarray) and columns.dtype == np.int64 and bool((np.diff(columns) >= 0).all())
        )
        if not is_ascending or len(columns) != len(attributes) or ((columns < 0) | (columns >= width)).any():
            raise FilterkitError(f"the columns of {self.name} do not match its attributes")
        fitted = self._make_fitted(schema, attributes, own_state, columns)
        fitted.check_apply_gives_label_codes()
        return fitted


def learns_from_statistic(stage: Stage) -> TypeGuard[ColumnStage]:
    """Return whether a stage is a column stage that learns by `fit_columns` and not, from whole rows, by `fit_rows`."""
    return isinstance(stage, ColumnStage) and type(stage).fit_rows is Stage.fit_rows


def learn_state(stage: ColumnStage, table: Statistic) -> State:
    """Call `ColumnStage.fit_columns` of a stage with the statistic `table`; check what it returns, and return it.

    Raise PluginError if that is not a dict of arrays or `Ragged` arrays with an entry for each column of `table`.
    """
    with blame_stage_for_errors(stage):
        return check_state(stage, stage.fit_columns(table), len(table))


class FittedColumns(Fitted):
    """A fitted column stage: transforms batches, and also contingency tables, without reading rows.

    If `zero` of the outgoing schema is true, making one calls `apply` for zeros, and raises PluginError unless each
    stays 0.

    Parameters
    ----------
    stage : the stage, whose `apply` is used.
    incoming, outgoing : the schemas of the incoming and outgoing batches.
    state : what `ColumnStage.fit_columns` returned, of all columns.
    columns : int64 (outgoing columns,), ascending: the index of the incoming column that each comes from.
    """

    columns: Ints

    def __init__(self, stage: ColumnStage, incoming: Schema, outgoing: Schema, state: State, columns: Ints) -> None:
        self.stage = stage
        self.incoming = incoming
        self.schema = outgoing
        self.state = state
        self.columns = columns
        self.growth = max(1.0, len(columns) / max(incoming.width, 1))
        # The outgoing columns of the incoming column i are those from _first[i] to _first[i + 1] - 1.
        self._first = np.searchsorted(columns, np.arange(incoming.width + 1))
        self._is_one_to_one = np.array_equal(columns, np.arange(incoming.width))
        zeros = self._transform_zeros() if outgoing.zero else np.zeros(0)
        if zeros.any():
            # Sparse rows would keep the zero that the table and dense rows lose. The data are not at fault, so this is
            # not a StageError.
            fault = (
                "apply gives NaN for 0 where zero is special; is NaN in its state? Put a number there in fit_columns"
                if np.isnan(zeros).any()
                else "apply turns zero into something else where zero is special; return 0 for 0 if table.schema.zero "
                "is true, or override output to return schema.replace(zero=False)"
            )
            raise make_contract_error(stage, fault)

    def _transform_zeros(self) -> Floats:
        """Return what zero becomes in each outgoing column: float64 (outgoing columns,)."""
        return self._transform_values(np.zeros(len(self.columns)), np.arange(len(self.columns)))

    def get_state(self) -> State:
        state = {f"state.{key}": value for key, value in self.state.items()}
        return {"source": self.columns, "attributes": attributes_to_json(self.schema.features), **state}

    def describe(self, incoming: Schema, top: int | None = None) -> list[LearnedTable]:
        scores = make_score_tables(self.schema, incoming, top, of_earlier=len(self.columns) < incoming.width)
        if scores:
            return scores
        found = self.stage.describe_columns(incoming, self.state)
        chosen = list_feature_names(self.schema) if len(self.columns) < incoming.width else []
        return [make_learned_table("", list_feature_names(incoming) if found else chosen, found, top)]

    def _transform_values(self, values: Floats, columns: Ints, find_row: Callable[[int], int] | None = None) -> Floats:
        """Return what `ColumnStage.apply` of the stage returns for some entries of X, float64 (n,), after checks.

        Parameters
        ----------
        values, columns : as for `apply`.
        find_row : returns the row number of an entry, given its index in `values`, for messages. None if the values are
            not of rows.

        Raises
        ------
        StageError : a number becomes infinite or NaN by overflow or division by 0; the message names the attribute.
        PluginError : `apply` looks up the state by wrong indices, or returns something else than float64 (n,). Other
            exceptions of `apply` are passed on.
        """
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return self._call_apply(values, columns)
        except FloatingPointError:  # raised also where the stage makes NaN or infinity on purpose: look at the images
            with np.errstate(all="ignore"):
                image = self._call_apply(values, columns)
            lost = np.flatnonzero(~np.isfinite(image) & np.isfinite(values))
            lost = lost if len(lost) else np.flatnonzero(np.isnan(image) & ~np.isnan(values))
            if len(lost):
                name = self.schema.features[int(columns[lost[0]])].name
                raise StageError(
                    self.stage.name,
                    f"attribute {quoted(name)} has the value {values[lost[0]]:g}, for which the result is not a "
                    "finite number; put range before it",
                    None if find_row is None else find_row(int(lost[0])),
                ) from None
            return image

    def _call_apply(self, values: Floats, columns: Ints) -> Floats:
        try:
            image = self.stage.apply(values, columns, self.state)
        except (IndexError, ValueError) as error:
            if isinstance(error, IndexError) and not self._is_one_to_one:
                hint = "it gets the numbers of outgoing columns, and the state has an entry for each incoming one"
            elif isinstance(error, ValueError) and "broadcast" in str(error):
                hint = "look up the state by column: state[name][columns]"
            else:
                raise
            fault = f"apply fails with {type(error).__name__}: {to_one_line(error)}; {hint}"
            raise make_contract_error(self.stage, fault, error) from error
        return check_returned_numbers(image, values.shape, "apply", self.stage)

    def check_apply_gives_label_codes(self) -> None:
        """Raise FilterkitError if `apply` gives a nominal outgoing column a value that is no index of its labels.

        A state from a damaged file may do so. NaN is allowed. All labels of nominal incoming columns are tried, and for
        numeric ones a few numbers that are far apart. A stage that refuses them by a `StageError` passes.
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
                codes = self._transform_values(np.concatenate(tried), columns)
        except StageError:  # the stage refuses such values
            return
        is_label = (codes >= 0) & (codes < self.schema.label_counts[columns]) & (codes == np.rint(codes))
        for column in columns[~(is_label | np.isnan(codes))][:1].tolist():
            name = self.schema.features[column].name
            raise FilterkitError(
                f"{self.stage.name} gives the nominal '{name}' values that are not codes of its labels"
            )

    def transform(self, batch: Batch) -> Batch:
        if not batch.sparse:
            X = batch.X
            if not self._is_one_to_one:
                X = X[:, self.columns]
            rows, width = X.shape
            # Column by column, because the state of one column lies together in memory.
            columns = np.repeat(np.arange(width), rows)
            image = self._transform_values(X.T.ravel(), columns, lambda at: batch.start + at % rows)
            return batch.replace(schema=self.schema, X=np.ascontiguousarray(image.reshape(width, rows).T))
        values, columns, indptr = batch.csr.data, batch.csr.indices.astype(np.int64), batch.csr.indptr
        if not self._is_one_to_one:  # each entry becomes one entry in each outgoing column of its column
            offsets, made = find_indptr_and_entries_of_rows(self._first, columns)
            values, columns, indptr = np.repeat(values, np.diff(offsets)), made, offsets[indptr]
        image = self._transform_values(
            values, columns, lambda at: batch.start + int(np.searchsorted(indptr, at, side="right")) - 1
        )
        if not self.schema.sparse:
            X = np.tile(self._transform_zeros(), (len(batch), 1))
            X[list_row_numbers(np.diff(indptr)), columns] = image
            return batch.replace(schema=self.schema, X=X)
        matrix = Csr(image, columns.astype(np.int32), indptr.astype(np.int32), len(self.columns))
        return batch.replace(schema=self.schema, X=matrix.without_zeros())

    def transform_table(self, table: ContingencyTable) -> ContingencyTable:
        """Return the table of the transformed rows, computed from the table of the rows.

        It covers the outgoing columns that are made of the columns in `table`. It is exactly what counting the
        transformed rows gives; NaN counts as missing. Raise StageError if a number becomes infinite or NaN by overflow
        or division by 0; the message names the attribute.
        """
        # Each cell of an incoming column becomes a cell of each of its outgoing columns. Missing values become cells
        # first, and so do zeros unless they stay zero.
        full = table if self.schema.zero else table.with_zeros()
        outputs = table.columns
        if not self._is_one_to_one:
            _, outputs = find_indptr_and_entries_of_rows(self._first, table.columns)
            full = full.only(np.searchsorted(table.columns, self.columns[outputs]))
        output, values, parts = full.column_of_cell, full.values, full.cell_parts
        gaps = np.flatnonzero(full.missing_rows)
        if len(gaps):
            output, values = np.append(output, gaps), np.append(values, np.full(len(gaps), np.nan))
            parts = class_parts.concatenate_positions([parts, class_parts.take_positions(full.gap_parts, gaps)])
        image = self._transform_values(values, outputs[output])
        absent = np.flatnonzero(np.isnan(image))
        gap_parts = class_parts.sum_groups_of_positions(
            class_parts.take_positions(parts, absent), output[absent], len(outputs)
        )
        is_cell = (image != 0) & ~np.isnan(image)
        if not is_cell.all():
            present = np.flatnonzero(is_cell)
            output, image, parts = output[present], image[present], class_parts.take_positions(parts, present)
        cells = sort_and_merge_cells(output, image, parts, len(outputs))
        return full.replace(schema=self.schema, columns=outputs, gap_parts=gap_parts, **cells)
