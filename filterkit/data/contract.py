"""Checks of what plugins return, so that an error names the plugin at fault.

A run checks types, shapes, the order of the indices of sparse rows, and the nominal values in the first rows. The
conformance kit makes the same checks here, `describe_batch_misfit` with the nominal values of all rows. What only the
kit checks, such as that a stage gives the same values however rows are cut into batches, is in `filterkit.testing`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from filterkit.data.attributes import (
    Attribute,
    Attributes,
    describe_attribute_difference,
    flag_attributes_of_kinds,
    list_names,
)
from filterkit.data.batch import Batch
from filterkit.data.csr import Csr
from filterkit.data.ragged import Ragged
from filterkit.data.schema import Schema
from filterkit.errors import PATH, FilterkitError, PluginError, find_plugin_that_offers, find_plugin_that_raised, quoted
from filterkit.messages import running_stage

_CHECKED = 16  # rows of a batch whose nominal values are checked; checking all would take as long as some stages do


class Named(Protocol):
    """Anything with a name that messages begin with: a stage or a format."""

    @property
    def name(self) -> str:
        """The name that messages use."""


def make_contract_error(offer: Any, fault: str, error: BaseException | None = None, name: str = "") -> PluginError:
    """Make the error for a fault of a stage, metric or format; its message names the plugin that offers it, if any.

    Parameters
    ----------
    offer : the stage, metric or format.
    fault : what is wrong, and what to do.
    error : an exception that the plugin has raised, whose line the message names; or None.
    name : what the message calls `offer`; "" for its attribute `name`.
    """
    plugin = (find_plugin_that_raised(error) if error is not None else "") or find_plugin_that_offers(offer)
    return PluginError(f"{name or offer.name}: {fault}" + (f" (plugin {plugin})" if plugin else ""))


def check_signature(about: str, function: Callable[..., Any], names: str, written: str = "") -> None:
    """Raise PluginError unless a plugin's function can be called with positional arguments `names`, such as "tp, fp".

    The message begins with `about`, and says how to write the function, under the name `written`; "" stands for its
    ``__name__``. A function in C whose signature is unknown passes.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions in C do not say what they take
        return
    try:
        signature.bind(*names.split(", "))
    except TypeError:
        bare = [p.replace(annotation=p.empty, default=p.empty) for p in signature.parameters.values()]
        found = signature.replace(parameters=bare, return_annotation=signature.empty)
        name = written or getattr(function, "__name__", "function").replace("<lambda>", "score")
        raise PluginError(f"{about} takes {found}; write def {name}({names})") from None


@contextmanager
def blame_stage_for_errors(stage: Named | None) -> Iterator[None]:
    """Let warnings in this context name a stage, and add its name, plugin and line as a note to unexpected errors.

    An error that filterkit raises on purpose gets no note, because its message says what is at fault. If the stage
    raises SystemExit, raise PluginError instead: the program would end as if all rows were done. If `stage` is None,
    warnings name no stage, and all errors pass unchanged.
    """
    before = running_stage.set("" if stage is None else stage.name)
    try:
        yield
    except Exception as error:
        if stage is not None and not isinstance(error, FilterkitError) and not getattr(error, "__notes__", None):
            plugin = find_plugin_that_raised(error) or find_plugin_that_offers(stage)
            error.add_note(f"in the stage {quoted(stage.name)}" + (f" (plugin {plugin})" if plugin else ""))
        raise
    except SystemExit as error:
        if stage is None:
            raise
        fault = f"it exits with the status {error.code}; raise a StageError instead"
        raise make_contract_error(stage, fault, error) from error
    finally:
        running_stage.reset(before)


def describe_type(value: Any) -> str:
    """Return the type of a value with its article, such as ``an ndarray``, for a message."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'AEIOUaeiou' or name == 'ndarray' else 'a'} {name}"


def describe_wrong_rows(rows: Any) -> str:
    """Return the end of a message about an object that cannot be read as rows: its type, and how to convert it."""
    kind = describe_type(rows)
    if isinstance(rows, (str, os.PathLike)):
        path = quoted(os.fsdecode(rows), PATH)
        return f"{kind}; if {path} is a file, pass filterkit.read of it, or filterkit.batches for a stream"
    if type(rows).__name__ == "Series":
        return f"{kind}; use its to_frame()"
    if hasattr(rows, "collect"):
        return f"{kind}; collect() it first"
    if hasattr(rows, "dtype"):
        return f"{kind}; make it a data frame, or pass it to filterkit.sklearn.ChainTransformer"
    if isinstance(rows, dict):
        return f"{kind}; convert it by {'filterkit.from_liac' if 'attributes' in rows else 'pandas.DataFrame'} first"
    return kind


def check_output_batch(stage: Named, schema: Schema, out: Any, incoming: Batch) -> Batch:
    """Check what a fitted stage made of the batch `incoming`; return it after `make_contiguous_or_drop_stored_zeros`.

    Raise PluginError if `out` does not fit `schema`, that of the fitted stage, has another number of rows than
    `incoming`, or has a weight that is negative or not finite although `incoming` has none. X must be sparse or dense
    as `schema` says, unless X of `incoming` is not as its own schema says.
    """
    if (fault := describe_batch_misfit(out, schema)) is not None:
        raise make_contract_error(stage, fault)
    if len(out) != len(incoming):
        raise make_contract_error(
            stage, f"transform returns {len(out)} rows for {len(incoming)}; return a row for each"
        )
    if out.sparse != schema.sparse and incoming.sparse == incoming.schema.sparse:
        found = "sparse" if out.sparse else "dense"
        fault = f"X is {found}, but its schema says otherwise; keep X as it is, or set sparse and zero in output"
        raise make_contract_error(stage, fault)
    if out.weights is not incoming.weights:
        pair = (incoming.row_weights, out.row_weights)
        if [bool(((weights >= 0) & (weights < np.inf)).all()) for weights in pair] == [True, False]:
            raise make_contract_error(stage, "a weight is negative or not finite; make each a number of at least 0")
    return out if out._X is incoming._X else make_contiguous_or_drop_stored_zeros(out)


def make_contiguous_or_drop_stored_zeros(batch: Batch) -> Batch:
    """Return the batch with a dense X in C order, or a sparse X without stored zeros; the same batch if X is so."""
    X = batch._X
    if isinstance(X, np.ndarray):
        # The last digits of sums over X, such as those of scikit-learn, depend on its order.
        return batch if X.flags.c_contiguous else batch.replace(X=np.ascontiguousarray(X))
    return batch if batch.csr.data.all() else batch.replace(X=batch.csr.without_zeros())


def arrange_and_check_batches(stage: Named, arrange: Callable[[], Any], schema: Schema) -> Iterator[Batch]:
    """Call `arrange` of a training stage; yield its batches with X as `make_contiguous_or_drop_stored_zeros` makes it.

    Raise PluginError if it does not return an iterable, or if a batch does not fit `schema`.
    """
    with blame_stage_for_errors(stage):
        batches = arrange()
        if not hasattr(batches, "__iter__"):
            raise make_contract_error(stage, f"arrange returns {describe_type(batches)}; yield batches")
        for batch in batches:
            if (fault := describe_batch_misfit(batch, schema)) is not None:
                raise make_contract_error(stage, fault)
            yield make_contiguous_or_drop_stored_zeros(batch)


def check_batch(batch: Any) -> Batch:
    """Check what a user passed as a batch; return it with X as `make_contiguous_or_drop_stored_zeros` makes it.

    Raise FilterkitError if it is no batch, or does not fit its schema.
    """
    fault = describe_batch_misfit(batch, getattr(batch, "schema", None))
    if fault is not None:
        raise FilterkitError(f"the batch does not fit its schema: {fault}")
    return make_contiguous_or_drop_stored_zeros(batch)


def check_read_batches(form: Named, batches: Any) -> Iterator[Batch]:
    """Yield the batches that `read` of a format returned, with X as `make_contiguous_or_drop_stored_zeros` makes it.

    Raise PluginError if they are not an iterable, or if one does not fit the schema of the first.
    """
    if isinstance(batches, Batch) or not hasattr(batches, "__iter__"):
        raise make_contract_error(form, f"read returns {describe_type(batches)}; yield batches")
    schema = None
    for batch in batches:
        schema = schema or getattr(batch, "schema", None)
        if (fault := describe_batch_misfit(batch, schema)) is not None:
            raise make_contract_error(form, fault)
        yield make_contiguous_or_drop_stored_zeros(batch)


def check_state(stage: Named, state: Any, columns: int, method: str = "fit_columns") -> dict[str, Any]:
    """Check the `state` that a stage's method returned, and return it; `method` is the name of that method.

    Raise PluginError unless the state is a dict of arrays and `Ragged`s with an entry for each of `columns` columns.
    """
    if not isinstance(state, dict):
        raise make_contract_error(stage, f"{method} returns {describe_type(state)}; return a dict of arrays")
    for key, value in state.items():
        name = f"the {quoted(str(key))} of {method}"
        if not isinstance(value, (np.ndarray, Ragged)) or not getattr(value, "ndim", 1):
            raise make_contract_error(stage, f"{name} is {describe_type(value)}; make it an array or a Ragged")
        if len(value) != columns:
            raise make_contract_error(
                stage, f"{name} has {len(value)} entries for {columns} columns; return one for each"
            )
    return state


def check_output_columns(stage: Named, columns: Any, width: int) -> None:
    """Raise PluginError unless `columns`, which `output_columns` of a stage returned, are columns of X, ascending.

    They must be an array of integers from 0 to `width` - 1, which may repeat.
    """
    if not isinstance(columns, np.ndarray) or columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise make_contract_error(
            stage, f"output_columns returns {describe_type(columns)}; return an array of column numbers"
        )
    if len(columns) and (columns.min() < 0 or columns.max() >= width or (columns[1:] < columns[:-1]).any()):
        raise make_contract_error(stage, f"output_columns must return ascending column numbers from 0 to {width - 1}")


def check_output_attributes(stage: Named, attributes: Any, columns: int) -> Sequence[Attribute]:
    """Check the attributes that `output_attributes` of a stage returned, and return them.

    Raise PluginError unless they are a list, tuple or `Attributes` with one for each of `columns` columns.
    """
    if not isinstance(attributes, (list, tuple, Attributes)):
        raise make_contract_error(stage, f"output_attributes returns {describe_type(attributes)}; return a list")
    if len(attributes) != columns:
        raise make_contract_error(
            stage, f"output_attributes returns {len(attributes)} attributes for {columns} columns; return one for each"
        )
    return attributes


def check_attributes_keep_names_and_kinds(
    stage: Named, attributes: Any, schema: Schema, nominal: np.ndarray
) -> Sequence[Attribute]:
    """Check the attributes that `output_attributes` of a stage returned for the columns of `schema`, and return them.

    Raise PluginError unless there is one for each column of X, with its name, and nominal exactly where `nominal`, bool
    (columns,), is true.
    """
    made = check_output_attributes(stage, attributes, schema.width)
    names, others = list_names(made), list_names(schema.features)
    if names != others if type(names) is type(others) else list(names) != list(others):
        raise make_contract_error(
            stage,
            "output_attributes gives columns new names; write output_columns, too, which returns the column that each "
            "comes from",
        )
    if not np.array_equal(flag_attributes_of_kinds(made, "nominal"), nominal):
        fault = "output_attributes makes columns nominal or numeric; write output_nominal, too, which says which are"
        raise make_contract_error(stage, fault)
    return made


def check_output_nominal(stage: Named, nominal: Any, width: int) -> np.ndarray:
    """Check the array that `output_nominal` of a stage returned, and return it.

    Raise PluginError unless it is bool (width,).
    """
    if not isinstance(nominal, np.ndarray) or nominal.shape != (width,) or nominal.dtype != np.bool_:
        found = describe_type(nominal)
        raise make_contract_error(
            stage, f"output_nominal returns {found}; return an array of bool, one for each of {width} columns"
        )
    return nominal


def check_returned_numbers(found: Any, shape: tuple[int, ...], function: str, offer: Named) -> np.ndarray:
    """Check the array that a function of the stage or metric `offer` returned, and return it.

    Raise PluginError, whose message calls the function `function`, unless it is float64 of this `shape`.
    """
    if not isinstance(found, np.ndarray):
        fault = f"returns {describe_type(found)}; return an array of float64"
    elif found.shape != shape:
        fault = f"returns an array of shape {found.shape}; expected {shape}"
    elif found.dtype != np.float64:
        fault = f"returns {found.dtype}; make it float64"
    else:
        return found
    raise make_contract_error(offer, f"{function} {fault}")


def describe_batch_misfit(batch: Any, schema: Any, n_checked: int = _CHECKED) -> str | None:
    """Return a message that says what in a batch does not fit `schema`, and what to do; None if everything fits.

    `batch` and `schema` may be of any type. X may be sparse or dense, whatever `schema` says; see `Batch.in_form`.
    Nominal values in X are checked in the first `n_checked` rows only.
    """
    if not isinstance(batch, Batch):
        return f"expected a Batch, found {describe_type(batch)}"
    if not isinstance(schema, Schema):
        return f"its schema is {describe_type(schema)}; make it a Schema"
    if batch.schema is not schema and batch.schema != schema:
        return f"a batch has the wrong schema: {describe_schema_difference(batch.schema, schema)}"
    for name, array in (("X", batch._X), ("y", batch.y), ("weights", batch.weights)):
        # Importing numpy.ma takes longer than a small file; there are masked arrays only if somebody else has.
        if "numpy.ma" in sys.modules and isinstance(array, np.ma.MaskedArray):
            return f"{name} is a MaskedArray; fill it with NaN, or with -1 where it is codes of a class"
    return (
        _describe_matrix_misfit(batch, schema)
        or _describe_misfit_of_y_weights_or_passthrough(batch, schema)
        or _describe_code_misfit(batch, schema, n_checked)
    )


def describe_schema_difference(found: Any, expected: Schema) -> str:
    """Describe the first difference between two schemas that differ, such as ``attribute 2 is 'a'; expected 'b'``.

    `found` may also be something else than a schema; then say what it is.
    """
    if not isinstance(found, Schema):
        return f"it is {describe_type(found)}"
    if difference := describe_attribute_difference(found.attributes, expected.attributes):
        return difference
    for name in ("relation", "class_index", "positive", "sparse", "zero", "labels"):
        if getattr(found, name) != getattr(expected, name):
            return f"its {name} is {getattr(found, name)!r}; expected {getattr(expected, name)!r}"
    return "it differs"


def _describe_matrix_misfit(batch: Batch, schema: Schema) -> str | None:
    X = batch._X
    if isinstance(X, np.ndarray):
        if type(X) is not np.ndarray and not isinstance(X, np.memmap):
            return f"X is {describe_type(X)}; make it an ndarray with np.asarray"
        if X.ndim != 2:
            return f"X has {X.ndim} dimensions; make it (rows, columns)"
    elif not isinstance(X, Csr):
        from scipy.sparse import csr_array

        if not isinstance(X, csr_array):
            return f"X is {describe_type(X)}; make it an ndarray, or a csr_array for sparse rows"
    data = X if isinstance(X, np.ndarray) else X.data
    if data.dtype != np.float64:
        return f"X is {data.dtype}; make it float64"
    if X.shape[1] != schema.width:
        return (
            f"X has {X.shape[1]} columns, but the schema {schema.width} features; the schema must describe the output"
        )
    return find_csr_misfit(batch.csr, schema.width) if batch.sparse else None


def find_csr_misfit(X: Csr, width: int) -> str | None:
    """Return a message that says what is wrong with the arrays of a sparse X of `width` columns; None if nothing is."""
    indices, indptr = X.indices, X.indptr
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        return "the indices of X are not integers; make them int32"
    if indptr[0] != 0 or indptr[-1] != len(indices) or len(indices) != len(X.data) or (np.diff(indptr) < 0).any():
        return "the arrays of X do not fit together; indptr must go from 0 to the number of entries"
    if not len(indices):
        return None
    if indices.min() < 0 or indices.max() >= width:
        return f"an index of X is outside its {width} columns"
    begins = indptr[1:-1]
    begins = begins[(begins > 0) & (begins < len(indices)) & (np.diff(indptr[:-1]) > 0)]  # each row that has entries
    falls = np.count_nonzero(indices[1:] <= indices[:-1])
    if falls != np.count_nonzero(indices[begins] <= indices[begins - 1]):
        return "the indices of a row of X do not ascend; call sort_indices and sum_duplicates"
    return None


def _describe_misfit_of_y_weights_or_passthrough(batch: Batch, schema: Schema) -> str | None:
    """Return a message that says what is wrong with y, weights or passthrough of a batch; None if nothing is."""
    rows, y, weights, passthrough = len(batch), batch.y, batch.weights, batch.passthrough
    if (y is None) != (not schema.targets):
        return f"y is {describe_type(y)}, but the schema has {'a' if schema.targets else 'no'} class"
    if y is not None:
        shape = (rows, len(schema.labels)) if schema.labels else (rows,)
        kind = "f" if schema.has_numeric_target else "i"
        if not isinstance(y, np.ndarray) or y.shape != shape:
            return f"y is {describe_type(y)} of shape {np.shape(y)}; expected {shape}"
        if y.dtype.kind != kind:
            return f"y is {y.dtype}; make it {schema.target_dtype}"
    if weights is not None and (
        not isinstance(weights, np.ndarray) or weights.shape != (rows,) or weights.dtype != np.float64
    ):
        found = f"{getattr(weights, 'dtype', describe_type(weights))} of shape {np.shape(weights)}"
        return f"weights are {found}; make them float64 of shape ({rows},)"
    if (passthrough is None) != (not schema.passthrough):
        count = len(schema.passthrough)
        return f"passthrough is {describe_type(passthrough)}, but the schema has {count} attributes that pass through"
    if passthrough is not None:
        if list(getattr(passthrough, "column_names", ())) != [a.name for a in schema.passthrough]:
            return "the columns of passthrough are not those of schema.passthrough; name them so, in this order"
        if passthrough.num_rows != rows:
            return f"passthrough has {passthrough.num_rows} rows, but X has {rows}"
    return None


def _describe_code_misfit(batch: Batch, schema: Schema, n_checked: int) -> str | None:
    """Return a message about a value that is not the index of a label; None if there is none.

    The values are those of a nominal y, and of the nominal columns of X in the first `n_checked` rows.
    """
    y, target = batch.y, schema.class_attribute
    if y is not None and y.size and y.dtype.kind == "i":
        sizes = [len(a.values) for a in (schema.label_attributes if target is None else (target,))]
        bad = np.flatnonzero((y.min(axis=0) < -1) | (y.max(axis=0) >= sizes))
        if len(bad):
            return f"a value of y is not an index of the class's {sizes[bad[0]]} values; make it one, or -1 for missing"
    if "attributes" not in vars(schema) or not schema.nominal.any():  # this must not make attributes that nobody uses
        return None
    first = batch.rows(0, min(n_checked, len(batch)))
    if first.sparse:
        found, columns = first.csr.data, first.csr.indices
    else:
        found, columns = first.X.ravel(), np.tile(np.arange(schema.width), len(first))
    outside = ~((found >= 0) & (found < schema.label_counts[columns]) & (found == np.rint(found)))
    at = np.flatnonzero(outside & schema.nominal[columns] & ~np.isnan(found))[:1]
    for value, column in zip(found[at].tolist(), columns[at].tolist()):
        attribute = schema.features[column]
        about = f"the value {value:g}, which is not an index of its {len(attribute.values)} labels"
        repair = "leave nominal columns as they are, or declare what they become"
        return f"the nominal attribute {quoted(attribute.name)} has {about}; {repair}"
    return None
