"""The contract of plugins: an error names the stage, learner, metric or format that returns something invalid."""

import re

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from command import run
from content import open_reader

import filterkit
from filterkit import (
    Attribute,
    Batch,
    Chain,
    ColumnStage,
    FilterkitError,
    Learner,
    Metric,
    PluginError,
    RowStage,
    Schema,
    Stage,
    StageError,
    TrainingStage,
    errors,
)
from filterkit.data.contract import (
    arrange_and_check_batches,
    check_batch,
    check_output_batch,
    check_read_batches,
    describe_batch_misfit,
    describe_schema_difference,
)
from filterkit.formats.simple import Format
from filterkit.plugin import Csr, LinearModel, SelectiveStage
from filterkit.stages.metric_scaling import make_metric_stage
from filterkit.testing import sample

NOMINAL = Attribute("n", "nominal", ("a", "b"))
TARGET = Attribute("class", "nominal", ("no", "yes"))


def gives(found):
    """A method that returns the same whatever it is given."""
    return lambda *_, **__: found


SCHEMA = Schema("r", [Attribute("a"), NOMINAL, Attribute("s", "string"), TARGET], 3)
SPARSE = SCHEMA.replace(sparse=True)
X, Y = np.array([[1.0, 0], [2.5, 1], [np.nan, np.nan]]), np.array([0, 1, -1], np.int32)
PASSING = pa.table({"s": ["x", None, "y"]})
BATCH = Batch(SCHEMA, X, Y, np.array([1.0, 2, 0]), PASSING)
changed = BATCH.replace


def sparse(data, indices, indptr):
    """The rows with other values of X, sparse."""
    X = Csr(np.array(data, float), np.array(indices, np.int32), np.array(indptr, np.int32), 2)
    return changed(schema=SPARSE, X=X)


SOUND = [
    BATCH,
    changed(weights=None),
    changed(X=np.asfortranarray(X)),
    BATCH.rows(0, 0),
    sparse([1, 2, 1], [0, 0, 1], [0, 1, 3, 3]),
    sparse([1, 2, 1], [0, 0, 1], [0, 0, 1, 3]),
    sparse([], [], [0, 0, 0, 0]),
    changed(schema=SPARSE, X=sp.csr_array(np.nan_to_num(X))[:, [0, 1]]),  # scipy's wider indices are taken
    sample("all-kinds"),
    sample("multi-label"),
    sample("no-features"),
]
UNSOUND = {
    "expected a Batch, found None": None,
    "X is None": changed(X=None),
    "X is a list": changed(X=X.tolist()),
    "X is a matrix; make it an ndarray with np.asarray": changed(X=np.matrix(X)),
    "X is a MaskedArray; fill it with NaN": changed(X=np.ma.masked_invalid(X)),
    "y is a MaskedArray; fill it with NaN, or with -1": changed(y=np.ma.masked_array(Y)),
    "X is float32; make it float64": changed(X=X.astype(np.float32)),
    "X has 1 dimensions": changed(X=X[:, 0]),
    "X has 1 columns, but the schema 2 features": changed(X=X[:, :1]),
    "X is a csr_matrix; make it an ndarray, or a csr_array": changed(schema=SPARSE, X=sp.csr_matrix(X)),
    "the indices of a row of X do not ascend": sparse([1, 2, 1], [0, 1, 0], [0, 1, 3, 3]),
    "the indices of a row of X do not ascend; call sort_indices and sum_duplicates": sparse(
        [1, 2], [1, 1], [0, 2, 2, 2]
    ),
    "an index of X is outside its 2 columns": sparse([1], [2], [0, 1, 1, 1]),
    "an index of X is outside its 2": sparse([1], [-1], [0, 1, 1, 1]),
    "the arrays of X do not fit together": sparse([1, 2], [0], [0, 1, 1, 1]),
    "the indices of X are not integers": changed(
        schema=SPARSE, X=Csr(np.ones(1), np.zeros(1), np.array([0, 1, 1, 1]), 2)
    ),
    "y is None, but the schema has a class": changed(y=None),
    "y is an ndarray, but the schema has no class": changed(schema=Schema("r", SCHEMA.attributes[:3])),
    "y is an ndarray of shape (2,); expected (3,)": changed(y=Y[:2]),
    "y is float64; make it int32": changed(y=Y.astype(float)),
    "y is int32; make it float64": Batch(Schema("r", [Attribute("a"), Attribute("b")], 1), X[:, :1], Y),
    "y is an ndarray of shape (5,); expected (5, 2)": sample("multi-label").replace(y=np.zeros(5, np.int8)),
    "a value of y is not an index of the class's 2 values": changed(y=Y + 1),
    "a value of y is not an index": changed(y=Y - 1),
    "weights are float64 of shape (2,); make them float64 of shape (3,)": changed(weights=np.ones(2)),
    "weights are int64 of shape (3,); make them float64": changed(weights=np.ones(3, int)),
    "passthrough is None, but the schema has 1 attributes that pass through": changed(passthrough=None),
    "passthrough is a Table, but the schema has 0 attributes that pass through": sample("no-class").replace(
        passthrough=PASSING
    ),
    "the columns of passthrough are not those of schema.passthrough": changed(
        passthrough=PASSING.rename_columns(["t"])
    ),
    "passthrough has 2 rows, but X has 3": changed(passthrough=PASSING.slice(0, 2)),
    "the nominal attribute 'n' has the value 2, which is not an index of its 2 labels": changed(X=np.abs(X) * 2),
    "the nominal attribute 'n' has the value -1": changed(X=-X),
    "the nominal attribute 'n' has the value 0.5": changed(X=X / 2),
    "the nominal attribute 'n' has the value 7": sparse([7], [1], [0, 1, 1, 1]),
}


@pytest.mark.parametrize("batch", SOUND)
def test_a_valid_batch_is_accepted(batch):
    assert describe_batch_misfit(batch, batch.schema) is None


@pytest.mark.parametrize(("fault", "batch"), UNSOUND.items())
def test_the_error_says_what_is_invalid_in_a_batch(fault, batch):
    assert describe_batch_misfit(batch, getattr(batch, "schema", SCHEMA)).startswith(fault)


@pytest.mark.parametrize("fault", ["X is None", "y is None, but the schema has a class"])
def test_an_invalid_batch_of_a_user_is_refused(fault):
    for use in (Chain([]).fit, filterkit.chain("l2").fit(BATCH).transform):
        with pytest.raises(FilterkitError, match=f"^the batch does not fit its schema: {fault}"):
            use(UNSOUND[fault])


class Columns(ColumnStage):
    """A valid column stage."""

    needs_class = False

    def fit_columns(self, table):
        return {"one": np.ones(len(table))}

    def apply(self, values, columns, state):
        return values * state["one"][columns]


class Model:
    """A valid model."""

    threshold = 0.0

    def scores(self, X):
        return np.zeros((X.shape[0], 1))

    def get_state(self):
        return {}


def of(base, **members):
    """A stage in which some members are invalid."""
    return type("Broken", (base,), {"__doc__": "Break.", "name": "broken", **members})()


def of_model(scores):
    model = type("Broken", (Model,), {"scores": scores})()
    return of(Learner, learn=gives(model))


def of_metric(score=lambda tp, fp, pos, neg: tp, **options):
    return make_metric_stage(Metric("broken", score, **options))()


TWO = gives(np.array([0, 1]))


def exit_early(self, batch):
    raise SystemExit(0)


STAGES = [
    ("it exits with the status 0; raise a StageError instead", of(RowStage, transform=exit_early)),
    (
        "learn returns coefficients of the type float64 and shape (3,); make them float64 of shape (3, 1)",
        of(Learner, learn=gives(LinearModel(np.zeros(3), np.zeros(1)))),
    ),
    (
        "learn returns coefficients of the type int64 and shape (3, 1); make them float64 of shape (3, 1)",
        of(Learner, learn=gives(LinearModel(np.zeros((3, 1), np.int64), np.zeros(1)))),
    ),
    (
        "learn returns intercepts of the type list and shape (1,); make them float64 of shape (1,)",
        of(Learner, learn=gives(LinearModel(np.zeros((3, 1)), [0.0]))),
    ),
    ("transform returns None; return a Batch", of(RowStage, transform=gives(None))),
    ("transform returns 1 rows for 7", of(RowStage, transform=lambda self, batch: batch.rows(0, 1))),
    ("the schema of what fit returns is None", of(RowStage, output=gives(None))),
    ("fit returns a Schema; return a Fitted", of(RowStage, fit=lambda self, rows, schema: schema)),
    (
        "a weight is negative or not finite; make each a number of at least 0",
        of(RowStage, transform=lambda self, batch: batch.replace(weights=np.full(len(batch), np.nan))),
    ),
    ("X is sparse, but its schema says", of(RowStage, transform=lambda self, batch: batch.in_form(True))),
    ("fit_columns returns None; return a dict", of(Columns, fit_columns=gives(None))),
    ("the 'one' of fit_columns has 1 entries for 3 columns", of(Columns, fit_columns=gives({"one": np.ones(1)}))),
    ("the 'one' of fit_columns is a float; make it an array", of(Columns, fit_columns=gives({"one": 1.0}))),
    ("the 'one' of fit_columns is an ndarray; make it", of(Columns, fit_columns=gives({"one": np.array(1.0)}))),
    ("apply returns None; return an array", of(Columns, apply=gives(None))),
    (
        "apply returns an array of shape (3,); expected (21,)",
        of(Columns, apply=lambda self, values, columns, state: state["one"]),
    ),
    ("apply returns bool; make it float64", of(Columns, apply=lambda self, values, columns, state: values > 0)),
    ("output returns None; return a Schema", of(Columns, output=gives(None))),
    ("output_columns returns a list; return an array of column numbers", of(Columns, output_columns=gives([0]))),
    ("output_columns returns an ndarray; return an array", of(Columns, output_columns=gives(np.zeros(1)))),
    (
        "output_columns must return ascending column numbers from 0 to 2",
        of(Columns, output_columns=gives(np.array([0, 1, 3]))),
    ),
    ("output_columns must return ascending column numbers", of(Columns, output_columns=gives(np.array([0, 2, 1])))),
    (
        "output_columns must return ascending column numbers",
        of(Columns, output_columns=gives(np.array([0, 2, 1], np.uint64))),
    ),
    (
        "output_attributes returns 1 attributes for 2 columns",
        of(Columns, output_columns=TWO, output_attributes=gives([Attribute("a")])),
    ),
    ("output_attributes returns None; return a list", of(Columns, output_columns=TWO, output_attributes=gives(None))),
    (
        "output_nominal returns an ndarray; return an array of bool, one for each of 3 columns",
        of(Columns, output_nominal=gives(np.zeros(1, bool))),
    ),
    (
        "the 'one' of fit_columns has 1 entries for 3 columns",
        of(Columns, needs_class=True, folds=gives(2), choose_columns=gives({"one": np.ones(1)})),
    ),
    (
        "learn returns None, which has no scores and no threshold and no state; return a model",
        of(Learner, learn=gives(None)),
    ),
    ("scores returns an array of shape (7,); expected (7, 1)", of_model(lambda self, X: np.zeros(X.shape[0]))),
    ("the metric returns None; return an array", of_metric(gives(None))),
    ("the metric returns an array of shape (1,); expected (", of_metric(lambda tp, fp, pos, neg: tp[:1])),
    ("by_table of the metric returns int64", of_metric(by_table=lambda table: table.columns)),
    ("by_column of the metric returns int64", of_metric(by_column=lambda columns, seed: columns)),
]


@pytest.mark.parametrize(("fault", "stage"), STAGES)
def test_a_stage_that_breaks_its_contract_is_named(fault, stage):
    """Attributes are made when they are asked for, so an error in them may come only then."""
    data = sample("dense-two-classes")
    with pytest.raises(PluginError, match="^broken: " + re.escape(fault)) as caught:
        list(Chain([*filterkit.chain("l1").stages, stage]).fit(data).transform(data).schema.attributes)
    assert "\n" not in str(caught.value)
    with pytest.raises(PluginError, match=r"^broken: "):
        list(Chain([stage]).fit_transform([data.rows(0, 3), data.rows(3, 7)])[1].schema.attributes)


@pytest.mark.parametrize(("found", "fault"), [(lambda counts, totals: counts, r"\(\d+, 3\)"), (gives(None), "None")])
def test_classes_of_a_metric_are_checked(found, fault):
    with pytest.raises(PluginError, match="^broken: classes of the metric returns .*" + fault):
        Chain([of_metric(classes=found)]).fit(sample("dense-three-classes"))


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (None, "arrange returns None; yield batches"),
        ([changed(y=None)], "y is None, but the schema has a class"),
    ],
)
def test_the_batches_that_a_training_stage_arranges_are_checked(found, fault):
    with pytest.raises(PluginError, match=f"^broken: {fault}"):
        Chain([of(TrainingStage, arrange=gives(found))]).fit_transform(BATCH)


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (None, "Odd: read returns None; yield batches"),
        (BATCH, "Odd: read returns a Batch; yield batches"),
        ([BATCH, sample("no-class")], "Odd: a batch has the wrong schema: attribute 2 is 'b'; expected 'n'"),
        ([BATCH, None], "Odd: expected a Batch, found None"),
        ([], "read yields no batches; yield at least one, even without rows, because it declares the attributes"),
    ],
)
def test_the_batches_that_a_format_reads_are_checked(found, fault):
    with pytest.raises(FilterkitError, match=f"^a.odd: {fault}"):
        list(open_reader(Format("Odd", (".odd",), gives(found)), "a.odd").batches())


def fails(*_, **__):
    return [][0]


@pytest.mark.parametrize(
    ("base", "methods"),
    [
        (RowStage, ["transform"]),
        (RowStage, ["transform", "output"]),
        (Stage, ["fit"]),
        (TrainingStage, ["arrange"]),
        (Columns, ["fit_columns"]),
        (Columns, ["apply"]),
        (Columns, ["output_columns"]),
        (Learner, ["learn"]),
    ],
)
def test_an_unexpected_error_keeps_its_type_and_notes_the_stage(base, methods):
    stage = of(base, **dict.fromkeys(methods, fails))
    errors.record_plugin(type(stage), "mine of mine.py")
    with pytest.raises(IndexError) as caught:
        Chain([*filterkit.chain("range").stages, stage]).fit_transform(sample("dense-two-classes"))
    assert caught.value.__notes__ == ["in the stage 'broken' (plugin mine of mine.py)"]


def test_what_a_stage_returns_is_checked_if_it_is_confined_to_some_columns():
    class Wide(SelectiveStage, RowStage):
        """Double the columns."""

        name = "wide"

        def transform(self, batch):
            return batch.replace(X=np.hstack([batch.X, batch.X]))

    with pytest.raises(PluginError, match="wide: X has 4 columns, but the schema 2 features; the schema must"):
        Chain([Wide(except_=("1",))]).fit_transform(sample("dense-two-classes"))


def test_weights_that_were_unsound_before_are_not_the_fault_of_a_stage():
    data = sample("dense-two-classes").replace(weights=np.full(7, np.nan))
    halve = of(RowStage, transform=lambda self, batch: batch.replace(weights=batch.weights / 2))
    assert np.isnan(Chain([halve]).fit(data).transform(data).weights).all()


def test_a_schema_that_cannot_be_made_names_the_stage():
    twice = of(RowStage, output=lambda self, schema: schema.with_added_features([Attribute("new"), Attribute("new")]))
    with pytest.raises(StageError, match=r"^broken: two attributes are named 'new'$"):
        Chain([twice]).fit(sample("dense-two-classes"))


def let_in(batch):
    """The batch as each check returns it."""
    stage = filterkit.chain("shuffle").stages[0]
    yield check_batch(batch)
    yield check_output_batch(stage, batch.schema, batch, batch.replace(X=batch.X.copy()))
    yield from check_read_batches(Format("F", (".f",)), iter([batch]))
    yield from arrange_and_check_batches(stage, lambda: [batch], batch.schema)


def test_an_x_in_another_order_is_copied_to_c_order_wherever_batches_come_in():
    schema = Schema("r", [Attribute("a"), Attribute("b")])
    for batch in let_in(Batch(schema, np.asfortranarray([[1.0, 2], [3, 4]]))):
        assert batch.X.flags.c_contiguous
        assert batch.X.tolist() == [[1, 2], [3, 4]]


def test_zeros_that_are_stored_are_dropped_wherever_batches_come_in():
    schema = Schema("r", [Attribute("a"), Attribute("b")], sparse=True)
    stored = sp.csr_array((np.array([0.0, 2.0, 0.0]), np.array([0, 1, 1]), np.array([0, 2, 3])))
    for batch in let_in(Batch(schema, stored)):
        assert batch.csr.data.tolist() == [2] and batch.X.toarray().tolist() == [[0, 2], [0, 0]]


# ---- the command -----------------------------------------------------------------------------------

PLUGIN = """
import click
import filterkit
import numpy as np


class Low(filterkit.RowStage):
    "Refuse an option in the wrong way."

    name = "low"
    low: float = filterkit.option(0.1, "The least.")

    def __post_init__(self):
        super().__post_init__()
        if self.low > 1:
            raise ValueError("too large")

    def transform(self, batch):
        return batch


class Crash(filterkit.RowStage):
    "Fail in a stage."

    name = "crash"

    def transform(self, batch):
        return {}["lost"]


class Wide(filterkit.RowStage):
    "Add a column, and say nothing of it."

    name = "wide"

    def transform(self, batch):
        return batch.replace(X=np.hstack([batch.X, batch.X[:, :1]]))


class Root(filterkit.RowStage):
    "Take square roots."

    name = "root"

    def transform(self, batch):
        return filterkit.plugin.map_numbers(batch, np.sqrt)


class Odd(filterkit.plugin.LocalEngine):
    "Fail in a map."

    name = "odd"

    def map(self, function, items):
        raise KeyError("lost")
        yield


class Kv(filterkit.plugin.FileFormat):
    "A format whose writer fails."

    name, title, endings = "kv", "Kv", (".kv",)

    def writer(self, schema, precision):
        return [][0]


@click.command("count")
def count():
    "Fail in a function of numpy."
    np.concatenate([np.ones(2), np.ones((2, 2))])


@filterkit.hookimpl
def filterkit_stages():
    return [Low, Crash, Wide, Root]


@filterkit.hookimpl
def filterkit_engines():
    return [Odd]


@filterkit.hookimpl
def filterkit_formats():
    return [Kv, filterkit.Format("None", (".none",), lambda path, class_, positive: None)]


@filterkit.hookimpl
def filterkit_subcommands():
    return [count]
"""


def run_broken(words, folder):
    (folder / "my.py").write_text(PLUGIN)
    filterkit.write(sample("dense-two-classes"), folder / "in.arff")
    return run("--plugin", "my.py", *words.split(), cwd=folder)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a.none l2", "a.none: None: read returns None; yield batches (plugin my of my.py)"),
        ("in.arff wide", "wide: X has 4 columns, but the schema 3 features; the schema must describe the output (p"),
        ("in.arff low --low 2", "unexpected ValueError in the plugin my of my.py, line 16: too large (--debug"),
        ("in.arff crash", "unexpected KeyError in the stage 'crash' (plugin my of my.py, line 28): 'lost' (--debug"),
        (
            "--engine processes --jobs 2 in.arff crash",
            "unexpected KeyError in the stage 'crash' (plugin my of my.py, line 28): 'lost' (--debug",
        ),
        ("--engine odd in.arff low", "unexpected KeyError in the plugin my of my.py, line 55: 'lost' (--debug"),
        ("-o out.kv in.arff", "unexpected IndexError in the plugin my of my.py, line 65: list index out of range (--d"),
        ("count", "unexpected ValueError in the plugin my of my.py, line 71: all the input array"),
    ],
)
def test_the_command_names_what_breaks_and_its_plugin(words, message, tmp_path):
    done = run_broken(words, tmp_path)
    assert done.returncode == 1 and done.stderr.startswith(f"filterkit: {message}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_a_warning_of_numpy_names_the_stage(tmp_path, engine):
    done = run_broken(f"--engine {engine} in.arff standardize root l2", tmp_path)
    assert (done.returncode, done.stderr) == (0, "filterkit: warning: root: invalid value encountered in sqrt\n")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"relation": "other"}, "its relation is 'other'; expected 'r'"),
        ({"class_index": None}, "its class_index is None; expected 1"),
        ({"positive": "no"}, "its positive is 'no'; expected None"),
        ({"sparse": True}, "its sparse is True; expected False"),
        ({"zero": True}, "its zero is True; expected False"),
        (
            {"attributes": (NOMINAL, TARGET._replace(values=("yes", "no")))},
            "attribute 'class' declares its values in another order",
        ),
    ],
)
def test_the_first_difference_of_schemas_is_named(changes, fault):
    schema = Schema("r", (NOMINAL, TARGET), 1)
    assert describe_schema_difference(schema.replace(**changes), schema).startswith(fault)
