"""Checks of stages: each raises an `AssertionError` whose message says how to repair the stage."""

from __future__ import annotations

import copy
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import Field
from functools import wraps
from io import StringIO
from typing import Any

import numpy as np

from filterkit.chains.budget import DEFAULT_MEMORY
from filterkit.chains.chain import Chain, FittedChain
from filterkit.chains.saved import load, save
from filterkit.counts.statistic import Statistic
from filterkit.counts.table import ContingencyTable
from filterkit.data.batch import Batch, concatenate, make_missing_targets, make_passthrough_table, same
from filterkit.data.contract import describe_batch_misfit
from filterkit.data.rearrangement import Rearrangement
from filterkit.errors import FilterkitError, PluginError, StageError, quoted
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage
from filterkit.stages.columns import FittedColumns, learns_from_statistic
from filterkit.stages.options import (
    DECLARE,
    INT_OR_TEXT,
    get_option_types,
    get_option_values,
    list_option_fields,
    make_flag,
)
from filterkit.stages.selective import SelectiveStage
from filterkit.testing.findings import convert_plugin_errors_to_assertions, copy_batch_arrays, format_error_location
from filterkit.testing.methods import check_method_names_and_arguments, list_classes_outside_filterkit


def return_refusals(check: Callable[[Stage, Batch], None]) -> Callable[[Stage, Batch], StageError | None]:
    """Decorate a check of a stage on a sample, so that it returns the `StageError` that it would raise.

    The stage raises one if it refuses the training rows, or later rows that it cannot transform. Without one the check
    returns None. A `PluginError` becomes an `AssertionError`.
    """

    @wraps(check)
    def check_and_return_refusal(stage: Stage, data: Batch) -> StageError | None:
        try:
            with convert_plugin_errors_to_assertions():
                check(stage, data)
        except StageError as error:
            return error
        return None

    return check_and_return_refusal


def fit(stage: Stage, data: Batch, step: int | None = None) -> FittedChain | None:
    """Return a chain of one stage, fitted on batches of `step` rows; None if the stage refuses them by a `StageError`.

    None for `step` means one batch.
    """
    both = fit_transform(stage, data, step)
    return both and both[0]


def fit_transform(
    stage: Stage, data: Batch, step: int | None = None, memory: int = DEFAULT_MEMORY
) -> tuple[FittedChain, Batch] | None:
    """Fit a chain of one stage; return it and the transformed training rows.

    Return None if the stage refuses the rows by a `StageError`. `step` is as for `cut`, and `memory` as for
    `Chain.fit`.
    """
    try:
        return Chain([stage]).fit_transform(cut(data, step), memory=memory)
    except StageError:
        return None


def refusal(stage: Stage, data: Batch) -> StageError | None:
    """Return the `StageError` by which a stage refuses to be fitted on the rows, or None if it does not."""
    try:
        Chain([stage]).fit_transform(data)
    except StageError as error:
        return error
    return None


def cut(data: Batch, step: int | None) -> list[Batch]:
    """Cut `data` into a list of batches of `step` rows, the last of which may have fewer.

    The list has only `data` itself if `step` is None, or without rows.
    """
    if step is None or not len(data):
        return [data]
    return [data.rows(i, min(i + step, len(data))) for i in range(0, len(data), step)]


@return_refusals
def check_blocks_do_not_matter(stage: Stage, data: Batch) -> None:
    """Check that the same rows come out, training rows and later ones, however the rows are cut into batches."""
    all_at_once = fit_transform(stage, data)
    together = None if all_at_once is None else _transform_batches(all_at_once[0], [data])
    for step in (1, 3):
        in_steps = fit_transform(stage, data, step)
        assert (in_steps is None) == (all_at_once is None), (
            f"{stage.name} refuses these rows in one block or in blocks of {step}, but not in both: "
            "decide from all rows, not from one batch"
        )
        if all_at_once is None or in_steps is None:
            continue
        fitted, training_in_steps = in_steps
        parts = _transform_batches(fitted, cut(data, step))
        assert (parts is None) == (together is None), (
            f"{stage.name} refuses to transform these rows in one block or in blocks of {step}, but not in both: "
            "decide for each row by itself"
        )
        assert parts is None or together is None or same(parts, together), (
            f"{stage.name} gives other values when the rows come in blocks of {step}: in transform, use nothing of the "
            "other rows of the batch; in fit, let sums not depend on how rows are grouped"
        )
        assert same(training_in_steps, all_at_once[1]), (
            f"{stage.name} makes other training rows when they come in blocks of {step}: identify rows by their "
            "number, which starts at batch.start, and never by their place in a batch"
        )


def _transform_batches(fitted: FittedChain, batches: list[Batch]) -> Batch | None:
    """Transform batches, and join the results; return None if the chain refuses a batch by a `StageError`."""
    try:
        return concatenate([fitted.transform(batch) for batch in batches], fitted.schema)
    except StageError:
        return None


@return_refusals
def check_memory_does_not_matter(stage: Stage, data: Batch) -> None:
    """Check that the same rows come out with a ``--memory`` of 0, for which columns are fitted one by one."""
    plenty = fit_transform(stage, data, 3)
    none = fit_transform(stage, data, 3, memory=0)
    hint = "let nothing depend on rows.memory, or on which other columns a table covers"
    assert (none is None) == (plenty is None), (
        f"{stage.name} refuses these rows only with little or much memory: {hint}"
    )
    if plenty is None or none is None:
        return
    transformed = (none[0].transform(data), plenty[0].transform(data))
    assert same(*transformed), f"{stage.name} gives other values with less memory: {hint}"
    assert same(none[1], plenty[1]), f"{stage.name} makes other training rows with less memory: {hint}"


@return_refusals
def check_input_is_left_alone(stage: Stage, data: Batch) -> None:
    """Check that neither fitting nor transforming changes the batch that it is given."""
    before = copy_batch_arrays(data)
    with suppress(Exception):  # which other checks report
        Chain([stage]).fit_transform(data)[0].transform(data)
    assert same(before, data), f"{stage.name} changes the batch that it is given: work on a copy, as of batch.X.copy()"


@return_refusals
def check_nothing_is_printed(stage: Stage, data: Batch) -> None:
    """Check that neither fitting nor transforming prints to standard output, where the rows may go."""
    with redirect_stdout(StringIO()) as printed, suppress(Exception):  # which other checks report
        Chain([stage]).fit_transform(data)[0].transform(data)
    assert not printed.getvalue(), (
        f"{stage.name} prints to standard output, where the table goes: warn by the module warnings, or print to "
        "sys.stderr"
    )


@return_refusals
def check_fitting_again_is_the_same(stage: Stage, data: Batch) -> None:
    """Check that fitting twice, and transforming twice, gives the same bits.

    Fitting on other rows must not change a stage that is fitted already.
    """
    one = fit(stage, data)
    first = None if one is None else one.transform(data)
    other = fit(stage, data)
    if one is None or other is None or first is None:
        assert one is other, f"{stage.name} refuses these rows only sometimes: decide from the rows alone"
        return
    assert same(first, one.transform(data)), (
        f"{stage.name} gives other values when it transforms again: seed what is random, and change nothing that "
        "outlives transform"
    )
    assert same(first, other.transform(data)), (
        f"{stage.name} fits differently each time: seed what is random, and count nothing that outlives fit"
    )
    fit(stage, data.rows(0, len(data) // 2))
    assert same(first, one.transform(data)), (
        f"{stage.name} gives other values once it has been fitted again on other rows: keep what it learns in what fit "
        "returns, and not in the stage itself"
    )


@return_refusals
def check_other_instances_have_no_effect(stage: Stage, data: Batch) -> None:
    """Check that making stages of the same class with other options does not change the output of this stage.

    A copy of each must also give the same values as the original. Searches over options make such stages and copies.
    """
    twin = type(stage)(**get_option_values(stage))
    before = fit_transform(twin, data)
    for field, given in iterate_option_variations(stage, of_plugin=True):
        made = type(stage)(**given)
        shown = f"{field.name}={given[field.name]!r}"
        assert _have_same_training_rows(fit_transform(made, data), fit_transform(copy.copy(made), data)), (
            f"{stage.name}: a copy of a stage with {shown} gives other values: make what depends on an option from the "
            "option, in __post_init__ or later"
        )
    assert _have_same_training_rows(before, fit_transform(twin, data)), (
        f"{stage.name} gives other values once there are stages with other options: keep what depends on an option on "
        "self, and not on the class or in the module"
    )


def _have_same_training_rows(one: tuple[FittedChain, Batch] | None, other: tuple[FittedChain, Batch] | None) -> bool:
    """Return whether two results of `fit_transform` have the same training rows, or are both None."""
    return one is other if one is None or other is None else same(one[1], other[1])


def _select_columns(data: Batch, columns: np.ndarray) -> Batch:
    """Return the rows with some columns of X only; `columns` are their indices, int64 and ascending."""
    return data.replace(
        schema=data.schema.with_features([data.schema.features[j] for j in columns.tolist()], columns),
        X=data.csr.select_columns(columns) if data.sparse else np.ascontiguousarray(data.X[:, columns]),
    )


@return_refusals
def check_zeros_stay_zeros(stage: Stage, data: Batch) -> None:
    """Check that a row of zeros stays a row of zeros, if `Schema.zero` is True before and after the stage.

    Nominal attributes are left out, because their zero is their first label. So are columns with a new name, unless the
    fitted stage says from which columns they come (`Fitted.columns`).
    """
    data = _select_columns(data, np.flatnonzero(~data.schema.nominal))
    fitted = fit(stage, data)
    if fitted is None or not (data.schema.zero and fitted.schema.zero):
        return
    row = Batch(
        data.schema,
        np.zeros((1, data.schema.width)),
        data.y[:1] if data.y is not None and len(data) else make_missing_targets(data.schema, 1),
        passthrough=make_passthrough_table(data.schema, [[None] for _ in data.schema.passthrough]),
    )
    image = fitted.transform(row.in_form(data.sparse)).in_form(False).X
    others = {a.name for a in (*data.schema.passthrough, *(data.schema.attributes[i] for i in data.schema.targets))}
    if fitted.stages[0].columns is None:  # a column of a new name may hold anything
        others |= {a.name for a in fitted.schema.features} - set(data.schema.names)
    numbers = [a.kind == "numeric" and a.name not in others for a in fitted.schema.features]
    assert not image[:, numbers].any(), (
        f"{stage.name} turns a zero into something else, though zero is special in its schema: keep zeros, or set "
        "sparse and zero to False in output"
    )


@return_refusals
def check_schema_is_what_comes_out(stage: Stage, data: Batch) -> None:
    """Check that transformed rows fit the schema that the fitted stage declares, and that labels are distinct texts."""
    fitted = fit(stage, data)
    if fitted is None:
        return
    out = fitted.transform(data)  # the chain checks some of this itself
    for made in fitted.stages:
        try:
            if isinstance(made, FittedColumns):
                made.check_apply_gives_label_codes()
        except PluginError:
            raise
        except FilterkitError as error:
            raise AssertionError(f"{error}: leave nominal columns as they are, or declare what they become") from None
    fault = describe_batch_misfit(out, fitted.schema, len(out))
    assert fault is None, f"{stage.name}: {fault}"
    for attribute in fitted.schema.attributes:
        labels, about = attribute.values, f"{stage.name} gives the nominal {quoted(attribute.name)}"
        assert all(isinstance(label, str) for label in labels), f"{about} labels that are not texts: make them texts"
        assert len(set(labels)) == len(labels), f"{about} a label twice: give each value a label of its own"


@return_refusals
def check_columns_are_not_too_many(stage: Stage, data: Batch) -> None:
    """Check that the fitted stage returns no more columns than `Stage.most_columns` says.

    A stage that chooses attributes passes.
    """
    fitted = fit(stage, data)
    if fitted is None or (isinstance(stage, SelectiveStage) and stage.chooses_attributes):
        return
    most = stage.most_columns(data.schema.width)
    assert most is None or fitted.schema.width <= most, (
        f"{stage.name} gives {fitted.schema.width} columns, and most_columns says at most {most} of "
        f"{data.schema.width}: let it return a larger number, or None"
    )


@return_refusals
def check_a_saved_chain_is_the_same(stage: Stage, data: Batch) -> None:
    """Check that a fitted stage that was saved to a file and loaded again transforms rows to the same bits."""
    fitted = fit(stage, data)
    if fitted is None:
        return
    known = _make_registry_of_stage(stage)
    is_built = type(stage).fit is Stage.fit
    state = None
    with suppress(Exception):  # which saving reports
        state = fitted.stages[0].get_state()
    assert is_built or type(stage).from_state is not Stage.from_state or not state, (
        f"{stage.name} has no from_state: write it, to make the fitted stage again from its state"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chain")
        try:
            save(fitted, path, known)
        except FilterkitError as error:
            said = str(error).removeprefix("--save: ")
            raise AssertionError(
                f"{said}: let `state` of the fitted stage be what it has learned, and rebuild the stage in from_state"
                "; a stage with fit_rows and build needs neither"
            ) from None
        try:
            loaded = load(path, known)
        except FilterkitError as error:
            if isinstance(error.__context__, PluginError):  # what the file was refused for
                raise error.__context__ from None
            raise AssertionError(
                f"{stage.name} cannot be loaded again ({str(error).rpartition(': ')[2]}): let build or from_state make "
                "what the state describes"
            ) from error
    assert same(loaded.transform(data), fitted.transform(data)), (
        f"{stage.name} gives other values after it was saved and loaded: put all that transform uses into its state"
    )


@return_refusals
def check_column_order_and_class_are_unused(stage: Stage, data: Batch) -> None:
    """Check that later rows get the same values in any order of columns, with or without a class, and row by row.

    A stage that declares `reads_class` may give other values without a class.
    """
    fitted = fit(stage, data.rows(0, (len(data) + 1) // 2))
    if fitted is None:
        return
    schema = data.schema
    order = [*schema.feature_indices[::-1].tolist(), *schema.passthrough_indices]
    attributes = [schema.attributes[position] for position in order]
    turned = schema.replace(attributes=attributes, class_index=None, positive=None, labels=())
    other = Rearrangement(schema, turned, order).rearrange(data)
    unknown = data.replace(y=make_missing_targets(schema, len(data)))
    expected = fitted.transform(unknown)
    assert stage.reads_class or same(fitted.transform(data).replace(y=expected.y), expected), (
        f"{stage.name} gives other values when the class is not known: only fit may use the class, or declare "
        "reads_class = True"
    )
    assert same(fitted.transform(other), expected), (
        f"{stage.name} gives other values when columns come in another order: use nothing but the schema fitted on"
    )
    row_by_row = concatenate([fitted.transform(row) for row in cut(unknown, 1)], fitted.schema)
    assert same(row_by_row, expected), (
        f"{stage.name} transforms later rows one by one to other values than together: use nothing of the other rows"
    )


@return_refusals
def check_the_order_of_rows_does_not_matter(stage: Stage, data: Batch) -> None:
    """Check that a column stage learns the same from the rows in another order, because it learns from a table.

    A cross-fitted stage is left out, because rows are drawn into folds by their number.
    """
    if not learns_from_statistic(stage) or stage.folds():
        return
    fitted = fit(stage, data)
    other = fit(stage, data.take(np.arange(len(data))[::-1]), 2)
    assert (fitted is None) == (other is None), (
        f"{stage.name} refuses these rows in one order and not in another: decide from the table alone"
    )
    if fitted is None or other is None:
        return
    assert same(other.transform(data), fitted.transform(data)), (
        f"{stage.name} learns something else from the rows in another order: use nothing but the table"
    )


@return_refusals
def check_missing_first_column_is_refused(stage: Stage, data: Batch) -> None:
    """Check that a fitted stage refuses rows that lack the first column, by a `FilterkitError`."""
    fitted = fit(stage, data)
    if fitted is None or not data.schema.features:
        return
    try:
        fitted.transform(_select_columns(data, np.arange(1, data.schema.width)))
    except FilterkitError:
        return
    raise AssertionError(
        f"{stage.name} transforms rows of another schema: leave out code that accepts them, because the chain "
        "checks the schema"
    )


@return_refusals
def check_refusal_is_one_line_stage_error(stage: Stage, data: Batch) -> None:
    """Check that a stage that refuses these rows raises a `StageError` of one line, under its own name."""
    try:
        error = refusal(stage, data)
    except PluginError:  # check_schema_is_what_comes_out reports it
        return
    except Exception as raised:
        found = f"{type(raised).__name__}: {raised}{format_error_location(raised)}"
        raise AssertionError(f"{stage.name} fails with {found}; {_suggest_repair(raised)}") from raised
    if error is None:
        return
    one_line = error.message.strip() and "\n" not in error.message
    assert one_line, f"{stage.name}: an error must be one line, not {error.message!r}"
    assert error.stage == stage.name, (
        f"{stage.name} raises an error in the name of {error.stage}: begin StageError with self.name"
    )


def _suggest_repair(error: Exception) -> str:
    """Return the end of a message about an unexpected error of a stage: what its author can do."""
    statistic = getattr(error, "obj", None)  # of an AttributeError: what lacks the attribute
    if isinstance(statistic, Statistic) and not isinstance(statistic, ContingencyTable):
        kind = type(statistic).__name__
        return f"learns_from = {kind} gives a {kind}, which has other methods; leave learns_from out for a table"
    if isinstance(error, (AttributeError, NameError, TypeError, ImportError)):
        return "this is a mistake in its code, whatever the rows are"
    return "if the rows are at fault, raise a StageError that says what is wrong"


@return_refusals
def check_excepted_columns_are_left_alone(stage: Stage, data: Batch) -> None:
    """Check that the columns that `--except` names pass unchanged, and do not change the values of the others."""
    width = data.schema.width
    if not isinstance(stage, SelectiveStage) or stage.chooses_attributes or not width:
        return
    left = np.arange(0, width, 3)
    rest = np.setdiff1d(np.arange(width), left)
    names = tuple(data.schema.features[column].name for column in left.tolist())
    confined = type(stage)(**get_option_values(stage) | {"except_": names})
    fitted = fit_transform(confined, data)
    alone = fit_transform(stage, _select_columns(data, rest)) if len(rest) else None
    if fitted is None or (alone is None and len(rest)):
        return
    given, out = data.in_form(False).X, fitted[1].in_form(False).X
    column_of = {a.name: column for column, a in enumerate(fitted[1].schema.features)}
    for column, name in zip(left.tolist(), names):
        assert fitted[1].schema.features[column_of[name]] == data.schema.features[column], (
            f"{stage.name} changes the attribute '{name}', which --except leaves out: return it as it is"
        )
        assert np.array_equal(out[:, column_of[name]], given[:, column], equal_nan=True), (
            f"{stage.name} changes values of '{name}', which --except leaves out: return them as they are"
        )
    if alone is not None:
        others = [column for name, column in column_of.items() if name not in names]
        assert np.array_equal(out[:, others], alone[1].in_form(False).X, equal_nan=True), (
            f"{stage.name} --except gives other values than without these columns: let Fitted.columns say where each "
            "column comes from"
        )


def check_stage_can_be_remade_from_options(stage: Stage) -> None:
    """Check that the stage can be made again from its options, and from the words that describe it in outputs.

    Its class must not define ``__init__``.
    """
    for kind in list_classes_outside_filterkit(type(stage)):
        assert "__init__" not in vars(kind), (
            f"{stage.name}: {kind.__name__} has an __init__; {DECLARE}, and check options in __post_init__"
        )
    assert type(stage)(**get_option_values(stage)) == stage, (
        f"{stage.name}: its options, given once more, make another stage: keep options as they were given"
    )
    made = parse_stages(stage.words(), _make_registry_of_stage(stage))
    assert made == [stage] and get_option_values(made[0]) == get_option_values(stage), (
        f"{stage.name}: '{' '.join(stage.words())}' makes another stage: keep options as they were given"
    )


def check_options_are_stored(stage: Stage) -> None:
    """Check that a stage with another value of an option stores all options unchanged.

    The words that describe this stage must make an equal one. A value that the stage refuses by a `UsageError` passes.
    The least and the largest number that an option allows must be accepted or refused by a `UsageError`, too; without
    limits, minus and plus a billion.
    """
    known = _make_registry_of_stage(stage)
    for field in list_option_fields(stage):
        kind = get_option_types(type(stage))[field.name]
        for end, number in (("minimum", -1e9), ("maximum", 1e9)) if kind in (int, float) else ():
            limit = field.metadata[end]
            _accepts_value(stage, field, kind(number if limit is None else limit))
    for field, given in iterate_option_variations(stage):
        made = type(stage)(**given)
        kept = get_option_values(made)
        assert kept == given, (
            f"{stage.name}: of {field.name}={given[field.name]!r}, {kept[field.name]!r} is kept: keep options as they "
            "were given, and what is made of them under another name"
        )
        again = parse_stages(made.words(), known)
        assert [get_option_values(each) for each in again] == [given], (
            f"{stage.name}: '{' '.join(made.words())}' does not give {field.name}={given[field.name]!r} again"
        )


def iterate_option_variations(stage: Stage, of_plugin: bool = False) -> Iterator[tuple[Field[Any], dict[str, Any]]]:
    """Yield each option that can have another value, and the values of all options with this other value.

    With `of_plugin`, yield only options that the plugin itself declares, and none that names a file to be written,
    because fitting would write it. Raise AssertionError if a value is refused by an error that is not filterkit's.
    """
    own = {name for kind in list_classes_outside_filterkit(type(stage)) for name in vars(kind)}
    for field in list_option_fields(stage):
        if of_plugin and (field.name not in own or field.metadata["output"]):
            continue
        other = _choose_other_value(stage, field)
        if _accepts_value(stage, field, other):
            yield field, get_option_values(stage) | {field.name: other}


def _accepts_value(stage: Stage, field: Field[Any], value: Any) -> bool:
    """Return whether the stage can be made with this value of an option.

    Raise AssertionError if that fails by an error that is not a `FilterkitError`.
    """
    try:
        type(stage)(**get_option_values(stage) | {field.name: value})
    except FilterkitError:
        return False
    except Exception as error:
        found = f"{type(error).__name__}: {error}{format_error_location(error)}"
        raise AssertionError(
            f"{stage.name}: {field.name}={value!r} fails with {found}; raise a UsageError that says what is wrong"
        ) from error
    return True


def list_options_without_effect(stage: Stage, samples: Iterable[Batch]) -> list[str]:
    """List the flags of options that, with another value, do not change the training rows of any sample.

    One other value of each option that the plugin itself declares is tried.
    """
    left = {make_flag(field): given for field, given in iterate_option_variations(stage, of_plugin=True)}
    for data in samples:
        if not left:
            break
        before = fit_transform(stage, data)
        after = {flag: fit_transform(type(stage)(**given), data) for flag, given in left.items()}
        left = {flag: given for flag, given in left.items() if _have_same_training_rows(before, after[flag])}
    return list(left)


def _make_registry_of_stage(stage: Stage) -> Registry:
    """Make a registry that has the class of a stage and no plugins, so that its words can be parsed."""
    known = Registry()
    known.add_stage(type(stage))
    return known


def _choose_other_value(stage: Stage, field: Field[Any]) -> Any:
    """Return another value for an option, of its type and within its limits; the same value if it has only one."""
    value, kind = getattr(stage, field.name), get_option_types(type(stage))[field.name]
    if field.metadata["choices"]:
        return next((choice for choice in field.metadata["choices"] if choice != value), value)
    if kind is bool:
        return not value
    if kind is tuple:
        return ("a b", "c'd")
    if kind is str:
        return "a b"
    if kind is INT_OR_TEXT:
        return value + 1 if isinstance(value, int) else 1
    least, most = field.metadata["minimum"], field.metadata["maximum"]
    start = value if value is not None else least if least is not None else 1
    if most is None or start + 1 <= most:
        return kind(start + 1)
    return kind((start + (least if least is not None else start - 1)) / 2)


def check_stage_name_and_help(stage: Stage) -> None:
    """Check that the stage's name can be written in a chain, and that the stage and its options have help."""
    assert re.fullmatch(r"[a-z0-9]+([._-][a-z0-9]+)*", stage.name), (
        f"the name {stage.name!r} cannot be written in a chain: take a word of lower-case letters, digits and hyphens"
    )
    summary = (vars(type(stage)).get("__doc__") or "").strip().partition("\n")[0]
    assert summary.endswith("."), f"{stage.name}: begin the docstring with one line that says what happens to the data"
    for field in list_option_fields(stage):
        assert field.metadata["help"].strip(), (
            f"{stage.name}: the option {field.name} has no help: pass option a text that says what it does"
        )


def check_stage_method_names_and_arguments(stage: Stage) -> None:
    """Check that the stage has no misspelt member, which filterkit would ignore.

    A misspelt member has almost the name of one that filterkit uses. Methods that filterkit calls must take the
    arguments that it passes.
    """
    check_method_names_and_arguments(stage.name, type(stage))
