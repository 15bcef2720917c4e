"""The conformance kit against plugins that break its rules: each check finds its fault and says how to repair it."""

import dataclasses
import os
import re
import threading

import click
import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import filterkit
from filterkit import Attribute, ColumnStage, FilterkitError, Format, Metric, RowStage, StageError, option, testing
from filterkit.engines.processes import ProcessEngine
from filterkit.plugin import PAUSE, ClassSums, LocalEngine, Moments, SelectiveStage, Summary, map_numbers, quantiles
from filterkit.stages.metric_scaling import make_metric_stage
from filterkit.testing import SAMPLES, sample
from filterkit.testing.stages import list_options_without_effect

# ---- stages --------------------------------------------------------------------------------------


def stage(base, **members):
    """A stage called broken with these members; an option has the type of its default value."""
    types = {name: type(each.default) for name, each in members.items() if isinstance(each, dataclasses.Field)}
    members = {"name": "broken", "__doc__": "Do something.", "__annotations__": types} | members
    return type("Broken", (base,), members)()


def row_stage(change, **members):
    """One that does this to a batch."""
    return stage(RowStage, transform=lambda self, batch: change(batch), **members)


def column_stage(apply, learn=lambda table: {}, **members):
    """One that does this to values, given their columns and what is learned from a table."""
    members["apply"] = lambda self, values, columns, state: apply(values, columns, state)
    return stage(ColumnStage, fit_columns=lambda self, table: learn(table), **{"needs_class": False} | members)


class Fitted(filterkit.Fitted):
    """Does a change to each batch, and keeps a state."""

    def __init__(self, schema, change, state):
        self.schema, self.transform, self._state = schema, change, state

    def get_state(self):
        return self._state


def fitted_stage(learn, change, keep=lambda state: state, **members):
    """One that learns a state from the rows, which makes its change, and of which it keeps all or something else."""

    def fit(self, rows, schema):
        state = learn(rows)
        return Fitted(schema, change(state), keep(state))

    members = {"from_state": lambda self, state, schema: Fitted(schema, change(state), state)} | members
    return stage(filterkit.Stage, fit=fit, **members)


def unchanged(batch):
    return batch


def unchanged_values(values, columns, state):
    return values


def subtract(state):
    """Takes off the number of rows that is known."""
    return lambda batch: batch.replace(X=batch.X - state.get("count", 0.0))


def count(rows):
    return {"count": float(sum(len(batch) for batch in rows()))}


def centred(batch):
    return batch.replace(X=batch.X - batch.X.mean(axis=0))


def doubled_in_place(batch):
    batch.X[...] *= 2
    return batch


def refuse(batch, message="not today"):
    raise StageError("broken", message)


def turned(batch):
    """The last digits of a product of matrices depend on how many rows there are."""
    width = batch.schema.width
    turn = np.sin(np.arange(1.0, width * width + 1)).reshape(width, width)
    return batch.replace(X=batch.in_form(False).X @ turn)


def with_roots(batch):
    with np.errstate(invalid="ignore"):
        return map_numbers(batch, np.sqrt)


def zero_for_missing(batch):
    if not batch.sparse:
        return batch.replace(X=np.nan_to_num(batch.X))
    X = batch.X.copy()
    X.data = np.nan_to_num(X.data)
    X.eliminate_zeros()
    return batch.replace(X=X)


def named(form):
    """What a stage puts out whose features have other names."""
    return lambda self, schema: schema.with_features(
        [Attribute(form.format(a.name)) for a in schema.features], np.arange(schema.width), sparse=False, zero=False
    )


class FirstRow(Moments):
    """A statistic that depends on the order of rows: a value of the first."""

    from_tables = False

    @classmethod
    def of(cls, batch, columns, supervised, reader):
        made = super().of(batch, columns, supervised, reader)
        made.value = batch.X[0, 1]
        return made

    @classmethod
    def merge(cls, several, jobs=1):
        made = super().merge(several, jobs)
        made.value = several[0].value
        return made

    def replace(self, **changes):
        made = super().replace(**changes)
        made.value = self.value
        return made


class KeepsOnItself(RowStage):
    """Divide by the number of training rows, which it keeps on itself."""

    name = "broken"
    rows = 1.0

    def fit(self, rows, schema):
        self.rows = count(rows)["count"] or 1.0
        return super().fit(rows, schema)

    def transform(self, batch):
        return batch.replace(X=batch.X / self.rows)


class KeepsOnItsClass(RowStage):
    """Divide by an option, whose inverse the class keeps."""

    name = "broken"
    by: float = option(2.0, "By what.")

    def __post_init__(self):
        super().__post_init__()
        type(self).inverse = 1 / self.by

    def transform(self, batch):
        return batch.replace(X=batch.X * self.inverse)


class ForgetsInCopies(RowStage):
    """Divide by an option, but by 1 in a copy."""

    name = "broken"
    by: float = option(2.0, "By what.")

    def __copy__(self):
        made = object.__new__(type(self))
        made.__dict__.update(by=1.0)
        return made

    def transform(self, batch):
        return batch.replace(X=batch.X / self.by)


class Initializes(RowStage):
    """Take an option as scikit-learn's classes do."""

    name = "broken"

    def __init__(self, base=2):
        super().__init__()
        self.base = base

    def transform(self, batch):
        return batch


def shout(self):
    self.by = self.by.upper()


def stumble(self):
    self.first = ["only"][self.top - 1]


def cross(self):
    if self.low > 0.9:
        raise ValueError("low is larger than high")


def grow(self):
    self.size += 1


def mean(rows):
    """The mean of each column, which one missing value makes missing."""
    batches = list(rows())
    return {"mean": np.vstack([np.zeros((1, batches[0].schema.width)), *(batch.X for batch in batches)]).mean(axis=0)}


def centre(state):
    return lambda batch: batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X - state["mean"]))


def lie_about_columns(self, rows, schema):
    """Fit a stage that passes every row, and says that the columns come in another order."""
    made = Fitted(schema, unchanged, {})
    made.columns = np.arange(schema.width)[::-1]
    return made


def attributes(form, *kind):
    """What a stage puts out whose features have other names or kinds."""
    return lambda self, schema, state, columns, totals: [Attribute(form.format(a.name), *kind) for a in schema.features]


def zeros(values, columns, state):
    return np.where(np.isnan(values), values, 0.0)


def every(self, schema, state, totals):
    """Return the numbers of all columns, which all stay."""
    return np.arange(schema.width)


FITS = iter(range(1, 1 << 30))
# Two columns of each.
PAIRS = {
    "output_columns": lambda self, schema, state, totals: np.repeat(np.arange(schema.width), 2),
    "output_attributes": lambda self, schema, state, columns, totals: [
        Attribute(f"{a.name}{end}") for a in schema.features for end in ("+", "-")
    ],
}
NO_LIMIT = column_stage(
    lambda values, columns, state: np.maximum(values, state["low"][columns]),
    lambda table: {"low": np.full(len(table), np.nan)},
)
LIFTS_ZERO = column_stage(lambda values, columns, state: np.maximum(values, 1.0))
CHANGES_INPUT = row_stage(doubled_in_place)
TAKES_ROOTS = row_stage(with_roots)

# On these samples a stage of numbers learns something.
NUMBERS = ("dense-two-classes", "dense-three-classes", "no-class", "one-row")
# Stages with a fault each, and what the only finding says; on other samples where these are named.
BROKEN = [
    (row_stage(turned), "check_blocks_do_not_matter: broken gives other values when the rows come", "many-digits"),
    (
        stage(filterkit.TrainingStage, arrange=lambda self, rows: rows.map(lambda batch: batch.rows(0, 1), last=True)),
        "check_blocks_do_not_matter: broken makes other training rows when they come in blocks of 1: identify rows by",
    ),
    (
        row_stage(lambda batch: refuse(batch) if len(batch) > 1 else batch),
        "check_blocks_do_not_matter: broken refuses these rows in one block or in blocks of 1, but not in both: decide",
    ),
    (
        column_stage(unchanged_values, most_columns=lambda self, width: width, **PAIRS),
        "check_columns_are_not_too_many: broken gives 6 columns, and most_columns says at most 3 of 3",
    ),
    (
        fitted_stage(lambda rows: {"count": float(min(rows.memory // 8, count(rows)["count"]))}, subtract),
        "check_memory_does_not_matter: broken gives other values with less memory: let nothing depend on rows.memory",
    ),
    (CHANGES_INPUT, "check_input_is_left_alone: broken changes the batch that it is given: work on a copy"),
    (
        column_stage(
            lambda values, columns, state: values + state["shift"][columns],
            lambda table: {"shift": np.full(len(table), float(next(FITS)))},
        ),
        "check_fitting_again_is_the_same: broken fits differently each time: seed what is random, and count nothing",
    ),
    (
        KeepsOnItself(),
        "check_fitting_again_is_the_same: broken gives other values once it has been fitted again",
    ),
    (
        KeepsOnItsClass(),
        "check_other_instances_have_no_effect: broken gives other values once there are stages with other opt",
    ),
    (
        ForgetsInCopies(),
        "check_other_instances_have_no_effect: broken: a copy of a stage with by=3.0 gives other values: make",
    ),
    (
        row_stage(lambda batch: batch.replace(X=csr_array(batch.X.toarray() + 1) if batch.sparse else batch.X + 1)),
        "check_zeros_stay_zeros: broken turns a zero into something else",
        "sparse-two-classes",
    ),
    (
        row_stage(lambda batch: print("hello") or batch),
        "check_nothing_is_printed: broken prints to standard output, where the table goes: warn by the module",
    ),
    (
        column_stage(zeros, output_columns=every, output_attributes=attributes("{}", "nominal", ("u", "u"))),
        "check_schema_is_what_comes_out: broken gives the nominal 'a' a label twice: give each value a label of its",
    ),
    (
        column_stage(zeros, output_columns=every, output_attributes=attributes("{}", "nominal", (1, 2))),
        "check_schema_is_what_comes_out: broken gives the nominal 'a' labels that are not texts: make them texts",
    ),
    (
        row_stage(lambda batch: batch.replace(X=batch.X[:, :-1])),
        "check_schema_is_what_comes_out: broken: X has 2 columns, but the schema 3 features; the schema must describe",
    ),
    (
        fitted_stage(count, subtract, keep=lambda state: {}),
        "check_a_saved_chain_is_the_same: broken gives other values after it was saved and loaded: put all that",
    ),
    (
        fitted_stage(count, subtract, from_state=filterkit.Stage.from_state),
        "check_a_saved_chain_is_the_same: broken has no from_state: write it, to make the fitted stage again from",
    ),
    (
        fitted_stage(lambda rows: {"rows": 1, "seen": [{1, 2}]}, lambda state: unchanged),
        r"check_a_saved_chain_is_the_same: the stage broken cannot be saved: .* \(Object of type set .*: let `state`",
    ),
    (
        row_stage(lambda batch: batch if batch.y is None else batch.replace(X=batch.X + batch.y[:, None])),
        "check_column_order_and_class_are_unused: broken gives other values when the class is not known: "
        "only fit may use",
    ),
    (fitted_stage(mean, centre), "check_missing_values_do_not_spread: broken: one missing value among the training r"),
    (TAKES_ROOTS, "check_numbers_stay_numbers: broken makes nan of -0.5 for 'b': give a number, refuse such values"),
    (
        stage(SelectiveStage, fit=lie_about_columns),
        "check_excepted_columns_are_left_alone: broken --except gives other values than without these columns: let",
    ),
    (
        row_stage(lambda batch: refuse(batch, "one line\nand another")),
        r"check_refusal_is_one_line_stage_error: broken: an error must be one line, not 'one line\\nand another'",
    ),
    (
        row_stage(lambda batch: {}[batch.schema.width]),
        r"check_refusal_is_one_line_stage_error: broken fails with KeyError: 3 \(test_checks\.py, line \d+\); "
        "if the rows",
    ),
    (
        row_stage(lambda batch: batch.replace(X=batch.Y)),
        r"check_refusal_is_one_line_stage_error: broken fails with AttributeError: .* 'Y' \(.*\); "
        "this is a mistake in its code",
    ),
    (
        row_stage(lambda batch: batch.replace(X=batch.X + [0][len(batch) == 1])),
        "check_refusal_is_one_line_stage_error: broken fails with IndexError: list index out of range",
        "dense-two-classes",
        "one-row",
    ),
    (
        fitted_stage(lambda rows: next(filterkit.plugin.equal_blocks(rows, None)), lambda state: unchanged),
        r"check_refusal_is_one_line_stage_error: broken fails with TypeError: .*; "
        r"call it, as in: for batch in rows\(\)",
    ),
    (
        column_stage(
            unchanged_values, lambda summary: {"middle": quantiles(summary, [0.5])[:, 0]}, learns_from=Summary
        ),
        "check_refusal_is_one_line_stage_error: broken fails .*; learns_from = Summary gives a Summary, "
        "which has other methods",
    ),
    (
        column_stage(
            lambda values, columns, state: values + state["low"],
            lambda table: {"low": np.full(len(table), float(table.totals.sum()))},
        ),
        r"check_.*: broken: apply fails with ValueError: .*; look up the state by column: state\[name\]\[columns\]",
    ),
    (
        column_stage(
            lambda values, columns, state: np.where(state["nominal"][columns], values, values + 1),
            lambda table: {"nominal": table.nominal},
            **PAIRS,
        ),
        "check_.*: broken: apply fails with IndexError: .*; it gets the numbers of outgoing columns, and the state",
        "dense-two-classes",
        "one-row",
        "no-rows",
    ),
    (
        column_stage(unchanged_values, output_attributes=attributes("new {}")),
        "check_.*: broken: output_attributes gives columns new names; write output_columns, too, which returns the",
    ),
    (
        column_stage(unchanged_values, output_attributes=attributes("{}", "nominal", ("a", "b"))),
        "check_.*: broken: output_attributes makes columns nominal or numeric; write output_nominal, too",
    ),
    (
        column_stage(unchanged_values, most_colums=lambda self, width: width),
        r"check_stage_method_names_and_arguments: broken: filterkit does not use Broken\.most_colums; "
        r"did you mean most_columns\?",
    ),
    (
        stage(ColumnStage, fit_columns=lambda self, table: {}, apply=lambda self, values, columns: values),
        r"check_.*: broken: Broken.apply takes \(self, values, columns\); write def apply\(self, values,",
    ),
    (
        Initializes(),
        r"check_stage_can_be_remade_from_options: broken: Initializes has an __init__; declare an option as in size",
    ),
    (
        row_stage(unchanged, size=option(1.0, "How much."), __post_init__=grow),
        "check_stage_can_be_remade_from_options: broken: its options, given once more, make another stage: "
        "keep options as they were",
    ),
    (
        row_stage(unchanged, by=option("X", "By what."), __post_init__=shout),
        "check_options_are_stored: broken: of by='a b', 'A B' is kept: keep options as they were given",
    ),
    (
        row_stage(unchanged, top=option(1, "How many."), __post_init__=stumble),
        "check_options_are_stored: broken: top=-1000000000 fails with IndexError: .*; raise a UsageError that says",
    ),
    (
        row_stage(unchanged, low=option(0.1, "The least.", minimum=0, maximum=1), __post_init__=cross),
        "check_options_are_stored: broken: low=1.0 fails with ValueError: .*; raise a UsageError that",
    ),
    (
        row_stage(unchanged, __doc__=None),
        "check_stage_name_and_help: broken: begin the docstring with one line that",
    ),
    (row_stage(unchanged, size=option(1.0, "")), "check_stage_name_and_help: broken: the option size has no help"),
    (
        row_stage(unchanged, name="two words"),
        "check_stage_name_and_help: the name 'two words' cannot be written in a chain",
    ),
]


def findings(stage, names=SAMPLES):
    found = testing.Findings(testing.BASIC_CHECKS)
    found.run(testing.DECLARATION_CHECKS, stage)
    found.run(testing.CHECKS, stage, {name: sample(name) for name in names})
    return list(found.lines()), found


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize(("stage", "said", "names"), [(each, said, names) for each, said, *names in BROKEN])
def test_a_fault_of_a_stage_gives_one_finding(stage, said, names):
    """On all samples, whatever else it leads to."""
    lines, found = findings(stage, names or NUMBERS)
    assert len(lines) == len(found) == 1 and re.match(said, lines[0]), lines


def test_a_statistic_that_depends_on_the_order_of_rows_is_found():
    stage = column_stage(
        lambda values, columns, state: values - state["shift"][columns],
        lambda table: {"shift": np.full(len(table), table.value)},
        learns_from=FirstRow,
    )
    with pytest.raises(AssertionError, match=r"^broken learns something else from the rows in another order: use not"):
        testing.check_the_order_of_rows_does_not_matter(stage, sample("dense-two-classes"))


def test_all_findings_are_raised_at_once():
    """Those of the declaration, and those on data."""
    with pytest.raises(AssertionError, match=r"^check_stage_name_and_help: broken: begin the docstring"):
        testing.check_declaration(row_stage(unchanged, __doc__=None))
    with pytest.raises(
        AssertionError, match=r"(?m)^check_refusal_is_one_line_stage_error: broken fails with KeyError: 'what'"
    ):
        testing.check_stage(row_stage(lambda batch: {}["what"]), sample("one-row"))


def test_a_column_stage_that_moves_a_special_zero_is_refused():
    """Otherwise sparse rows would keep zeros that the table has not."""
    for name in ("sparse-two-classes", "sparse-many-classes"):
        with pytest.raises(
            AssertionError,
            match=r"^broken: apply turns zero into something else where zero is special; return 0 for 0",
        ):
            testing.check_zeros_stay_zeros(LIFTS_ZERO, sample(name))
    testing.check_zeros_stay_zeros(LIFTS_ZERO, sample("dense-two-classes"))
    with pytest.raises(AssertionError, match=r"^broken: apply gives NaN for 0 .*; is NaN in its state\?"):
        testing.check_zeros_stay_zeros(NO_LIMIT, sample("sparse-two-classes"))


def test_rows_of_another_header_are_refused_even_if_the_stage_would_take_them(monkeypatch):
    """The chain refuses them; the check would find a chain that does not."""
    monkeypatch.setattr("filterkit.chains.chain.FittedChain.transform", lambda self, batch: batch)
    with pytest.raises(AssertionError, match="broken transforms rows of another schema"):
        testing.check_missing_first_column_is_refused(row_stage(unchanged), sample("dense-two-classes"))


def test_a_refusal_is_returned():
    data, refusing = sample("dense-two-classes"), row_stage(refuse)
    assert str(testing.check_stage(refusing, data)) == str(testing.refusal(refusing, data)) == "broken: not today"
    assert testing.check_stage(row_stage(unchanged), data) is testing.refusal(row_stage(unchanged), data) is None


def test_a_stage_may_refuse_later_rows():
    def needs_class(batch):
        return refuse(batch, "a class is missing") if batch.y is None or (batch.y < 0).any() else batch

    data = sample("dense-two-classes")
    assert testing.check_stage(row_stage(needs_class), data) is None
    refusals = [check(row_stage(needs_class), data) for check in testing.CHECKS]
    assert {str(each) for each in refusals if each} == {"broken: a class is missing"}


def test_zeros_that_a_stage_stores_are_dropped():
    def lowered(batch):
        if not batch.sparse:
            return batch.replace(X=np.where(batch.X != 0, batch.X - 1, 0.0))
        X = batch.X.copy()
        X.data -= 1
        return batch.replace(X=X)

    data = sample("zeros-and-ones")
    assert testing.check_stage(row_stage(lowered), data) is None
    _, out = filterkit.Chain([row_stage(lowered)]).fit_transform(data)
    assert out.sparse and not len(out.csr.data) and out.csr.indptr.tolist() == [0] * (len(data) + 1)


def test_no_check_writes_a_file_of_another_name(tmp_path, monkeypatch):
    def transform(self, batch):
        with open(self.path, "w") as file:
            file.write("something")
        return batch

    monkeypatch.chdir(tmp_path)
    writing = stage(RowStage, path=option(os.devnull, "Where to.", output=True), transform=transform)
    lines, _ = findings(writing)
    assert lines == [] == list_options_without_effect(writing, [sample("one-row")]) == list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_two_causes_give_two_findings():
    lines, found = findings(row_stage(centred, size=option(1.0, "")), NUMBERS)
    assert [line.partition(":")[0] for line in lines] == ["check_stage_name_and_help", "check_blocks_do_not_matter"]
    assert lines[1].endswith(" (dense-two-classes, dense-three-classes, no-class)") and found.left_out


def test_a_finding_does_not_spoil_the_samples_of_later_checks():
    data = sample("dense-two-classes")
    found = testing.Findings()
    found.run(testing.CHECKS, CHANGES_INPUT, {"x": data})
    assert len(found) > 1 and testing.same(data, sample("dense-two-classes"))


# ---- missing values ------------------------------------------------------------------------------


def inverted(batch):
    with np.errstate(divide="ignore"):
        return batch.replace(X=1 / batch.in_form(False).X)


VANISHES = "^broken turns the missing values of '.*' into .*: keep NaN, or declare fills_missing = True"
# Stages that make numbers of missing values, and what is said of them.
FILLING = [
    (row_stage(zero_for_missing), VANISHES),
    (column_stage(lambda values, columns, state: (values > 0).astype(np.float64), **PAIRS), VANISHES),
    (
        row_stage(
            zero_for_missing,
            output=lambda self, schema: schema.with_features(
                [Attribute(f"new {a.name}") for a in schema.features], np.arange(schema.width)
            ),
        ),
        "^broken turns a row of missing values into numbers, as 0 for 'new ",
    ),
    (
        row_stage(lambda batch: batch if batch.y is None else batch.replace(y=np.abs(batch.y))),
        "^broken gives a row a class that it does not have",
    ),
]


@pytest.mark.parametrize(("stage", "message"), FILLING)
def test_missing_values_that_vanish_are_found(stage, message):
    for name in ("dense-two-classes", "sparse-two-classes", "all-kinds", "multi-label"):
        with pytest.raises(AssertionError, match=message):
            testing.check_missing_values_stay(stage, sample(name))


def test_a_stage_that_says_so_may_fill_missing_values_or_make_them():
    for name in SAMPLES:
        testing.check_missing_values_stay(row_stage(zero_for_missing, fills_missing=True), sample(name))
    blanking = row_stage(with_roots, makes_missing=True)
    testing.check_numbers_stay_numbers(blanking, sample("dense-two-classes"))


def test_infinite_numbers_under_new_names_are_found():
    with pytest.raises(AssertionError, match=r"^broken makes inf of the row \[0.0, 0.0, 3.0\] for '1/a': give"):
        testing.check_numbers_stay_numbers(row_stage(inverted, output=named("1/{}")), sample("dense-two-classes"))


# ---- metrics -------------------------------------------------------------------------------------


def metric(formula, **options):
    """A stage of a metric, whose score is this formula of counts."""
    score = eval(f"lambda tp, fp, pos, neg: {formula}", {"np": np})
    return make_metric_stage(Metric("broken", score, **options))()


METRICS = [
    (metric("tp / (tp + fp)"), "score of the metric is nan for tp=0, fp=0, pos=1, neg=1: return"),
    (metric("tp / (pos - tp)"), "score of the metric is inf for tp=1, fp=0, pos=1, neg=1"),
    (metric("(pos - tp) / (pos + neg - tp - fp)"), "score of the metric is nan for tp=1, fp=1, pos=1, neg=1"),
    (metric("tp / np.floor(pos)"), r"score of the metric is nan for tp=0, fp=0, pos=0\.5, neg=0\.2"),
    (metric("tp / max(tp.max(), 1.0)"), "depends on the other features"),
    (metric("np.divide(tp, pos, out=tp)"), "fails with ValueError: .*read-only; work on copies"),
    (metric("tp > fp"), "score of the metric returns bool; make it float64"),
    (metric("tp / neg", needs_class=False), "is nan for tp=0, fp=0, pos=1, neg=0"),
    (
        metric("-((fp - neg / 2) ** 2)", best_at_ends=True),
        r"the score at fp=\d+ is larger than at lower and at higher fp: leave best_at_ends False",
    ),
    (
        metric("tp", classes=lambda counts, totals: counts[:, 0] / counts.sum(axis=1)),
        r"classes of the metric is nan for counts=\[0\.0, 0\.0, 0\.0\] of totals=\[2\.0, 3\.0, 4\.0\]",
    ),
    (
        metric(
            "tp",
            classes=lambda counts, totals: counts.max(axis=1),
            class_sums=ClassSums(lambda counts, totals: counts, lambda sums, rows, totals: sums),
        ),
        r"for counts=\[0\.0, 1\.0, 1\.0\] of totals=\[2\.0, 3\.0, 4\.0\], class_sums gives 2 and classes 1: let both",
    ),
    (
        metric("tp", by_column=lambda columns, seed: np.log(columns)),
        "by_column of the metric is -inf for column 0 and seed 0",
    ),
    (
        metric("tp", bound=lambda t, tp, f, fp, pos, neg: t + 0),
        r"the score of tp=1, fp=0, pos=1 and neg=1 is larger than the bound of ranges with these counts, which is 0",
    ),
]


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize(("stage", "message"), METRICS)
def test_a_metric_that_is_no_number_is_found(stage, message):
    with pytest.raises(AssertionError, match="^broken: .*" + message):
        testing.check_metric_of_stage(stage)


# ---- formats -------------------------------------------------------------------------------------


def columns(batch):
    """An Arrow table that has all that a batch has."""
    return filterkit.to_arrow(batch, weights="the weight")


def read(path, class_, positive):
    with pa.ipc.open_file(path) as file:
        for number in range(file.num_record_batches):
            yield batch_of(pa.table(file.get_batch(number)), class_, positive)


def batch_of(table, class_, positive):
    return filterkit.from_arrow(table, class_=class_, positive=positive, weights="the weight")


def write(batches, out):
    writer = None
    for batch in batches:
        table = columns(batch).combine_chunks()
        writer = writer or pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True))
        (record,) = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
        writer.write_batch(record)
    writer.close()


def form(read=read, write=write, **options):
    return Format("Broken", (".broken",), read, write, **options)


def reading(change):
    """The format with what it reads changed."""
    return form(read=lambda *arguments: map(change, read(*arguments)))


def writing(change):
    """The format with what it writes changed."""
    return form(write=lambda batches, out: write(map(change, batches), out))


@pytest.mark.parametrize("check", testing.FORMAT_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_format_conforms(check):
    """It may lose what it says that it loses, refuse rows, and be only read or only written."""

    def refuse_rows(batches, out):
        raise FilterkitError("it holds none of these")

    losing = form(read=lambda *arguments: map(renamed, map(unlabelled, read(*arguments))), losses=("names", "kinds"))
    light = form(read=lambda *a: (batch.replace(weights=None) for batch in read(*a)), losses=("weights",))
    for name in ("all-kinds", "all-kinds-sparse", "multi-label", "no-rows"):
        check(form(), sample(name))
        check(losing, sample(name))
    for each in (light, form(write=refuse_rows), form(write=None), form(read=None)):
        check(each, sample("all-kinds"))


def renamed(batch):
    attributes = [a._replace(name=f"x{i}") for i, a in enumerate(batch.schema.attributes)]
    passing = batch.passthrough
    if passing is not None:
        passing = passing.rename_columns([a.name for a in attributes if a.kind in ("string", "date", "relational")])
    return batch.replace(schema=batch.schema.replace(attributes=attributes), passthrough=passing)


def unlabelled(batch):
    """All attributes that are no numbers as strings."""
    table = filterkit.to_arrow(batch.replace(weights=None))
    arrays = [c if pa.types.is_floating(c.type) else c.cast(pa.string()) for c in table.columns]
    kinds = {name: "string" for name, array in zip(table.column_names, arrays) if not pa.types.is_floating(array.type)}
    strings = filterkit.from_arrow(pa.table(arrays, names=table.column_names), class_="none", kinds=kinds)
    return strings.replace(weights=batch.weights)


def closing(batches, out):
    write(batches, out)
    out.close()


def first_only(batches, out):
    write(iter([next(batches)]), out)


COUNT = iter(range(1 << 30))


def numbered(batches, out):
    write(batches, out)
    out.write(str(next(COUNT)).encode())


def failing(batches, out):
    raise KeyError("x")


def greets(batches, out):
    list(batches)
    out.write(b"hello")


def rambling(batches, out):
    raise FilterkitError("two\nlines")


def changed(batch):
    return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X * (1 + 1e-15)))


def against_rest(batch):
    """The rows with the classes 0 and 1, if one is positive."""
    schema = batch.schema
    if schema.positive is None:
        return batch
    target = schema.class_attribute._replace(values=("rest", schema.positive))
    attributes = [*schema.attributes[:-1], target]
    return batch.replace(schema=schema.replace(attributes=attributes), y=batch.y)


POSITIVE = testing.check_a_positive_class_is_written
ROWS, CLASS, BLOCKS = (
    testing.check_rows_come_back,
    testing.check_class_and_positive_are_read,
    testing.check_write_batch_size_does_not_matter,
)
WRITTEN, AGAIN, MISSING, DECLARED = (
    testing.check_file_differs_without_rows,
    testing.check_writing_twice_gives_same_bytes,
    testing.check_a_missing_file_is_an_error,
    testing.check_format_is_declared,
)


class WritesNothing(filterkit.plugin.FileFormat):
    """A format whose method is misspelt."""

    name, title, endings = "kv", "Kv", (".kv",)

    def open(self, opening):
        return opening

    def write(self, schema, precision):
        return schema


FORMATS = [
    (DECLARED, WritesNothing(), r"kv: filterkit does not use WritesNothing\.write; did you mean writer"),
    (DECLARED, Format("", (".x",), read), "a format needs a name"),
    (DECLARED, Format("Broken", (), read), r"endings must be like \('\.parquet',\), not \(\)"),
    (DECLARED, Format("Broken", (".X",), read), "endings must be like"),
    (DECLARED, Format("Broken", ".x", read), "endings must be like"),
    (DECLARED, Format("Broken", (".x",)), "is neither read nor written"),
    (DECLARED, Format("Broken", (".x",), write), "write does not take path, class_, positive; give Format the"),
    (DECLARED, form(write=read), "read does not take batches, out; give Format the function that reads before"),
    (DECLARED, form(losses=("rows",)), "losses may be names, kinds, labels, weights, columns, not rows"),
    (ROWS, reading(lambda batch: batch.rows(0, 1)), "1 rows come back of 6"),
    (ROWS, reading(lambda batch: batch.replace(weights=None)), "instance weights are lost: keep them, refuse rows"),
    (ROWS, reading(renamed), "'n' comes back as 'x0': keep it, refuse it"),
    (ROWS, reading(unlabelled), "the nominal 'c' is string: keep it"),
    (ROWS, reading(lambda batch: batch.replace(X=np.nan_to_num(batch.X))), "the values of 'n' come back changed"),
    (
        ROWS,
        reading(lambda batch: batch.replace(X=np.round(batch.X, 3))),
        "the values of 'n' come back changed where numbers have many digits",
    ),
    (ROWS, writing(changed), "the values of 'n' come back changed"),
    (
        ROWS,
        form(write=failing),
        r"write fails with KeyError: 'x' \(test_checks\.py, line \d+\); if the format",
    ),
    (ROWS, form(write=rambling), "an error must be one line"),
    (ROWS, form(write=closing), "write closes the stream"),
    (ROWS, form(read=lambda *_: []), "reading with the class none fails with FilterkitError: .*read yields no batches"),
    (
        CLASS,
        form(read=lambda path, class_, positive: read(path, "none", None)),
        "asked for the class 'class' and gives",
    ),
    (CLASS, form(read=lambda path, class_, positive: read(path, class_, None)), "does not pass the positive class on"),
    (CLASS, reading(lambda batch: batch.replace(y=np.zeros_like(batch.y))), "other classes come back"),
    (POSITIVE, writing(against_rest), "the labels of 'class' are .*rest.*yes.* where one class is positive: keep it"),
    (BLOCKS, form(write=first_only), "write does not ask for all batches"),
    (BLOCKS, form(read=lambda *a: [next(read(*a))]), "2 rows come back of 6 when they were written in several"),
    (AGAIN, form(write=numbered), "writing the same rows twice gives other bytes"),
    (AGAIN, form(write=lambda batches, out: list(batches)), "write leaves the file empty"),
    (WRITTEN, form(write=greets, read=None), "write gives the same bytes for 6 rows as for none: write every row"),
    (
        MISSING,
        form(read=lambda *_: [sample("one-row")]),
        "opening a file that does not exist raises no error: raise a FileNotFoundError",
    ),
]


@pytest.mark.parametrize(("check", "broken", "message"), FORMATS, ids=lambda value: getattr(value, "__name__", None))
def test_a_broken_format_is_found(check, broken, message):
    with pytest.raises(AssertionError, match=message):
        check(broken, sample("all-kinds"))


def drifting(batch):
    return batch.replace(X=np.where(batch.schema.nominal, batch.X, batch.X + next(COUNT)))


def test_a_read_only_format_is_checked_with_a_file(tmp_path):
    path = str(tmp_path / "a.broken")
    with open(path, "wb") as out:
        write(iter([sample("all-kinds")]), out)
    testing.check_reading_twice_and_without_class(form(write=None), path)
    for found, message in (
        (lambda *a: map(drifting, read(*a)), "twice gives other rows"),
        (lambda path, class_, positive: read(path, "class", None), "gives a class though it was asked for none"),
        (lambda path, class_, positive: [next(read(path, class_, None)).rows(0, 5 + (class_ is None))], "other rows"),
        (lambda *_: None, "fails with FilterkitError: .*read returns None; yield batches"),
    ):
        with pytest.raises(AssertionError, match=message):
            testing.check_reading_twice_and_without_class(form(read=found, write=None), path)


# ---- engines -------------------------------------------------------------------------------------


def engine(map=None, **members):
    """An engine whose `map` is another."""
    return type("Broken", (LocalEngine,), {"name": "broken", **({"map": map} if map else {}), **members})


def as_ready(self, function, items):
    results = [function(item) for item in items]
    yield from results[1::2] + results[::2]


def all_at_once(self, function, items):
    results = [item if item is PAUSE else function(item) for item in items]
    yield from results


def a_list(self, function, items):
    return [function(item) for item in items]


def swallows(self, function, items):
    for item in items:
        try:
            yield item if item is PAUSE else function(item)
        except Exception:
            return


def fails_at_once(self, function, items):
    taken = []
    try:
        for item in items:
            taken.append(item if item is PAUSE else function(item))
    except Exception as error:
        raise error
    yield from taken


def other_failure(self, function, items):
    try:
        for item in items:
            yield item if item is PAUSE else function(item)
    except Exception as error:
        raise RuntimeError("lost") from error


def works_on_pauses(self, function, items):
    for item in items:
        yield function(item)


def forgets_pauses(self, function, items):
    for item in items:
        if item is not PAUSE:
            yield function(item)


def goes_on(self, function, items):
    items = iter(items)
    try:
        for item in items:
            yield item if item is PAUSE else function(item)
    finally:
        for _ in zip(range(3), items):
            threading.Event().wait(0)


def without_the_last(self, function, items):
    waiting = []
    for item in items:
        yield from waiting
        waiting = [item if item is PAUSE else function(item)]


ORDER, FAILURES, PAUSES = (
    testing.check_order_is_kept,
    testing.check_exceptions_follow_earlier_results,
    testing.check_pauses_are_passed_on,
)


def only_jobs(self, jobs):
    LocalEngine.__init__(self, jobs)


def counts(self, jobs, options="1"):
    LocalEngine.__init__(self, int(options))


def one_at_a_time(self, function, items):
    self.function = function  # that of the map which began last
    yield from (self.function(item) for item in items)


AHEAD, KEPT, OUTPUT, ENGINE = (
    testing.check_few_items_are_taken_ahead,
    testing.check_kept_results_map_and_merge,
    testing.check_output_is_that_of_local,
    testing.check_engine_is_declared,
)
ENGINES = [
    (ENGINE, engine(name="a b"), "needs a name without blanks"),
    (
        ENGINE,
        type("Bare", (), {"name": "broken", "map": a_list}),
        r"cannot be made with a number of jobs \(.*derive",
    ),
    (ENGINE, engine(__init__=lambda self, jobs: None), "broken: jobs is None"),
    (
        ENGINE,
        engine(lambda self, function: function),
        r"Broken.map takes \(self, function\); write def map\(self, function, it",
    ),
    (ENGINE, engine(__init__=only_jobs), r"broken takes no text of options: leave __init__ out, or write def __init__"),
    (ENGINE, engine(__init__=counts), r"with the options 'no such option' it fails with ValueError.*; raise a filterk"),
    (ENGINE, engine(a_list), "broken: map gives no generator; write it with yield"),
    (ORDER, engine(as_ready), "results of 2 items are not in their order"),
    (ORDER, engine(without_the_last), "map gives 0 results for 1 items: yield function"),
    (
        ORDER,
        engine(one_at_a_time),
        r"with 1 jobs a map whose items are the results of another gives .* and not \[0, -1, ",
    ),
    (ORDER, engine(lambda self, function, items: (item for item in items)), "whose squares are asked for: yield"),
    (FAILURES, engine(swallows), "with 1 jobs an error raised by the function is lost"),
    (FAILURES, engine(fails_at_once), "an exception of the function is raised after 0 results instead of 7"),
    (FAILURES, engine(other_failure), "an error raised by the function becomes RuntimeError"),
    (PAUSES, engine(works_on_pauses), "the engine passes PAUSE to the function: yield"),
    (PAUSES, engine(forgets_pauses), r"map yields \[-1, -2, -3.* instead of \[-1, -2, PAUSE"),
    (PAUSES, engine(all_at_once), "the item after a PAUSE is requested before the results before it"),
    (AHEAD, engine(all_at_once), "5000 items are taken before the second result is asked for"),
    (AHEAD, engine(goes_on), "items are taken after the map was closed"),
    (KEPT, engine(keep=lambda self, function: lambda item: 1), "a stored result has no nbytes"),
    (KEPT, engine(reduce=lambda self, merge, kept: merge(kept[1:])), r"with 1 jobs stored results are merged to array"),
    (OUTPUT, engine(without_the_last), r"fails with 1 jobs: PluginError: the engine broken: map gives \d+ results for"),
    (OUTPUT, engine(as_ready), "the sample .* with 1 jobs"),
]


@pytest.mark.parametrize("sound", [LocalEngine, ProcessEngine])
@pytest.mark.parametrize("check", testing.ENGINE_CHECKS, ids=lambda check: check.__name__)
def test_engines_of_filterkit_pass_all_checks(check, sound, quick_processes, monkeypatch):
    if sound is ProcessEngine:  # whose processes take a while to start
        monkeypatch.setattr("filterkit.testing.engines._JOBS", (2,))
        texts = {name: SAMPLES[name] for name in ("all-kinds", "all-kinds-sparse", "multi-label", "no-rows")}
        monkeypatch.setattr("filterkit.testing.engines.SAMPLES", texts)
    check(sound)


# ---- subcommands ---------------------------------------------------------------------------------


def command(name="mine", help="Do what it does.", options=(), **settings):
    return click.Command(name, params=list(options), help=help, callback=lambda **_: 1 / 0, **settings)


class Failing(click.Command):
    """A command that cannot show its help."""

    def format_help(self, context, formatter):
        raise KeyError("what")


GROUP = click.Group("mine", help="Do things.", commands=[command("first"), command("second", help=None)])
NAME, HELP, UNKNOWN, BODY = (
    testing.check_click_command_has_one_word_name,
    testing.check_command_has_help,
    testing.check_command_refuses_unknown_options,
    testing.check_command_body_and_parameters,
)


@click.command("idle")
@click.option("--size", help="How much.")
def idle(size):
    """Do nothing."""


SIZE = click.Option(["--size"], help="How much.")
COMMANDS = [
    (
        BODY,
        click.Command("mine", help="Do it.", params=[SIZE], callback=lambda path: print(path)),
        r"mine: its function takes \(path\) and no size, which --size gives",
    ),
    (BODY, idle, "idle does nothing: its function has no body; write one"),
    (BODY, click.Command("mine", help="Do it."), "mine does nothing"),
    (BODY, click.Group("mine", help="Do things."), "mine is a group without commands"),
    (BODY, click.Group("mine", help="Do things.", commands=[idle]), "mine idle does nothing"),
    (NAME, len, "is not a click command: decorate it"),
    (NAME, command("two words"), "the name 'two words' is not one word"),
    (NAME, command("--flag"), "the name '--flag' is not one word"),
    (HELP, command(help=None), "mine does not say what it does: give the function a docstring"),
    (HELP, command(options=[click.Option(["--size"])]), "mine: the option --size has no help"),
    (HELP, Failing("mine", help="Do it."), "mine --help fails with KeyError: 'what'"),
    (HELP, command(add_help_option=False), "mine --help fails with NoSuchOption"),
    (HELP, GROUP, "mine second does not say what it does"),
    (
        UNKNOWN,
        command(options=[click.Option(["--no-such-option-at-all"], is_flag=True)]),
        "mine accepts the unknown option",
    ),
]


@pytest.mark.parametrize(("check", "broken", "message"), ENGINES + COMMANDS)
def test_a_broken_engine_or_subcommand_is_found(check, broken, message):
    with pytest.raises(AssertionError, match=message):
        check(broken)


@pytest.mark.parametrize("check", testing.SUBCOMMAND_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_subcommand_conforms_and_is_not_run(check):
    check(command(options=[SIZE, click.Argument(["path"])]))
    check(click.Command("mine", help="Do it.", params=[SIZE], callback=lambda size: print(size)))
    check(click.Group("mine", help="Do things.", commands=[command("first"), command("second")]))


def running(function, **settings):
    """A command that takes paths and calls a function with them."""
    arguments = [click.Argument(["paths"], nargs=-1)]
    return click.Command("mine", help="Do it.", params=arguments, callback=lambda paths: function(paths), **settings)


def refuse_it(paths):
    raise FilterkitError("there are no rows")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (len, "^mine a.arff: prints nothing, and changes no file among its arguments: print what it finds"),
        (lambda paths: 1 / 0, "^mine a.arff: fails with ZeroDivisionError: .*; raise a FilterkitError that says"),
        (refuse_it, "^mine a.arff: ends with the error: there are no rows; check it with other arguments$"),
        (lambda paths: click.get_current_context().exit(3), "^mine a.arff: ends with status 3"),
    ],
)
def test_a_run_of_a_broken_subcommand_is_found(function, message):
    with pytest.raises(AssertionError, match=message):
        testing.check_command_runs(running(function), ["a.arff"])


def test_a_run_of_a_sound_subcommand_prints_or_writes(tmp_path):
    path = tmp_path / "out.txt"
    assert testing.check_command_runs(running(lambda paths: click.echo(paths[0])), ["a.arff"]) == "a.arff\n"
    assert testing.check_command_runs(running(lambda paths: path.write_text("x")), [str(path)]) == ""


def test_every_check_is_tried_on_something_broken():
    found = {check.__name__ for table in (FORMATS, ENGINES, COMMANDS) for check, *_ in table}
    found |= {said.partition(":")[0] for _, said, *_ in BROKEN}
    found |= {"check_missing_values_stay", "check_metric_of_stage", "check_the_order_of_rows_does_not_matter"}
    found |= {"check_missing_first_column_is_refused", "check_.*"}  # the first is broken by a broken chain alone
    of_stages = (testing.DECLARATION_CHECKS, testing.CHECKS)
    others = (testing.FORMAT_CHECKS, testing.ENGINE_CHECKS, testing.SUBCOMMAND_CHECKS)
    assert found == {"check_.*", *(check.__name__ for checks in (*of_stages, *others) for check in checks)}
