"""The contract of plugins: an error names the stage, learner, metric or format that returns something invalid."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from command import run

import filterkit
from filterkit import (
    Attribute,
    Batch,
    Chain,
    ColumnStage,
    FilterkitError,
    Fitted,
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
from filterkit.data.batch import empty, same
from filterkit.data.contract import check_arranged, check_batch, check_out, check_read, find_misfit
from filterkit.formats.reader import Reader
from filterkit.formats.simple import Format
from filterkit.plugin import Csr, SelectiveStage
from filterkit.stages.metric_scaling import metric_stage
from filterkit.testing import sample

IRIS = str(Path(__file__).parents[2] / "arff_samples/iris.arff")
NOMINAL = Attribute("n", "nominal", ("a", "b"))
TARGET = Attribute("class", "nominal", ("no", "yes"))


def gives(found):
    """A method that returns the same whatever it is given."""
    return lambda *_, **__: found


def csr(data, indices, indptr, columns=2):
    return Csr(np.array(data, float), np.array(indices, np.int32), np.array(indptr, np.int32), columns)


def scipy_csr(data, indices, indptr, columns=2):
    return sp.csr_array((np.array(data, float), indices, indptr), shape=(len(indptr) - 1, columns))


SCHEMA = Schema("r", [Attribute("a"), NOMINAL, Attribute("s", "string"), TARGET], 3)
SPARSE = SCHEMA.replace(sparse=True)
X, Y = np.array([[1.0, 0], [2.5, 1], [np.nan, np.nan]]), np.array([0, 1, -1], np.int32)
PASSING = pa.table({"s": ["x", None, "y"]})
BATCH = Batch(SCHEMA, X, Y, np.array([1.0, 2, 0]), PASSING)


def sparse(*arrays):
    """The rows with other values of X, sparse."""
    return BATCH.replace(schema=SPARSE, X=csr(*arrays))


SOUND = [
    BATCH,
    BATCH.replace(weights=None),
    BATCH.replace(X=np.asfortranarray(X)),
    BATCH.rows(0, 0),
    sparse([1, 2, 1], [0, 0, 1], [0, 1, 3, 3]),
    sparse([1, 2, 1], [0, 0, 1], [0, 0, 1, 3]),
    sparse([], [], [0, 0, 0, 0]),
    BATCH.replace(schema=SPARSE, X=scipy_csr([1, 2, 1], [0, 0, 1], [0, 1, 3, 3])),
    BATCH.replace(schema=SPARSE, X=sp.csr_array(np.nan_to_num(X))[:, [0, 1]]),  # scipy's wider indices are taken
    sample("all-kinds"),
    sample("multi-label"),
    sample("no-class"),
    sample("no-features"),
    sample("no-rows"),
]
UNSOUND = {
    "expected a Batch, found None": None,
    "expected a Batch, found an ndarray": X,
    "X is None": BATCH.replace(X=None),
    "X is a list": BATCH.replace(X=X.tolist()),
    "X is a matrix; make it an ndarray with np.asarray": BATCH.replace(X=np.matrix(X)),
    "X is a MaskedArray; fill it with NaN": BATCH.replace(X=np.ma.masked_invalid(X)),
    "y is a MaskedArray; fill it with NaN, or with -1": BATCH.replace(y=np.ma.masked_array(Y)),
    "X is float32; make it float64": BATCH.replace(X=X.astype(np.float32)),
    "X has 1 dimensions": BATCH.replace(X=X[:, 0]),
    "X has 1 columns, but the schema 2 features": BATCH.replace(X=X[:, :1]),
    "X has 3 columns, but the schema 2 features": sparse([], [], [0, 0, 0, 0], 3),
    "X is a csr_matrix; make it an ndarray, or a csr_array": BATCH.replace(schema=SPARSE, X=sp.csr_matrix(X)),
    "the indices of a row of X do not ascend": sparse([1, 2, 1], [0, 1, 0], [0, 1, 3, 3]),
    "the indices of a row of X do not ascend; call sort_indices": BATCH.replace(
        schema=SPARSE, X=scipy_csr([1, 2, 1], [0, 1, 0], [0, 0, 1, 3])
    ),
    "the indices of a row of X do not ascend; call sort_indices and sum_duplicates": sparse(
        [1, 2], [1, 1], [0, 2, 2, 2]
    ),
    "an index of X is outside its 2 columns": sparse([1], [2], [0, 1, 1, 1]),
    "an index of X is outside its 2": sparse([1], [-1], [0, 1, 1, 1]),
    "the arrays of X do not fit together": sparse([1, 2], [0], [0, 1, 1, 1]),
    "the arrays of X do not fit": sparse([1, 2], [0, 1], [0, 1, 1, 1]),
    "the indices of X are not integers": BATCH.replace(
        schema=SPARSE, X=csr([1], [0], [0, 1, 1, 1])._replace(indices=np.zeros(1))
    ),
    "X is float32; make": BATCH.replace(
        schema=SPARSE, X=csr([1], [0], [0, 1, 1, 1])._replace(data=np.ones(1, np.float32))
    ),
    "y is None, but the schema has a class": BATCH.replace(y=None),
    "y is an ndarray, but the schema has no class": BATCH.replace(schema=Schema("r", SCHEMA.attributes[:3])),
    "y is an ndarray of shape (2,); expected (3,)": BATCH.replace(y=Y[:2]),
    "y is float64; make it int32": BATCH.replace(y=Y.astype(float)),
    "y is int32; make it float64": Batch(Schema("r", [Attribute("a"), Attribute("b")], 1), X[:, :1], Y),
    "y is an ndarray of shape (5,); expected (5, 2)": sample("multi-label").replace(y=np.zeros(5, np.int8)),
    "a value of y is not an index of the class's 2 values": BATCH.replace(y=Y + 1),
    "a value of y is not an index": BATCH.replace(y=Y - 1),
    "weights are float64 of shape (2,); make them float64 of shape (3,)": BATCH.replace(weights=np.ones(2)),
    "weights are int64 of shape (3,); make them float64": BATCH.replace(weights=np.ones(3, int)),
    "passthrough is None, but the schema has 1 attributes for it": BATCH.replace(passthrough=None),
    "passthrough is a Table, but the schema has 0 attributes for it": sample("no-class").replace(passthrough=PASSING),
    "the columns of passthrough are not those of schema.passthrough": BATCH.replace(
        passthrough=PASSING.rename_columns(["t"])
    ),
    "passthrough has 2 rows, but X has 3": BATCH.replace(passthrough=PASSING.slice(0, 2)),
    "the nominal attribute 'n' has the value 2, which is not an index of its 2 labels": BATCH.replace(X=np.abs(X) * 2),
    "the nominal attribute 'n' has the value -1": BATCH.replace(X=-X),
    "the nominal attribute 'n' has the value 0.5": BATCH.replace(X=X / 2),
    "the nominal attribute 'n' has the value 7": sparse([7], [1], [0, 1, 1, 1]),
}


@pytest.mark.parametrize("batch", SOUND, ids=lambda batch: batch.schema.relation)
def test_a_valid_batch_is_accepted(batch):
    assert find_misfit(batch, batch.schema) is None


@pytest.mark.parametrize("fault", UNSOUND)
def test_the_error_says_what_is_invalid_in_a_batch(fault):
    batch = UNSOUND[fault]
    assert find_misfit(batch, getattr(batch, "schema", SCHEMA)).startswith(fault)


@pytest.mark.parametrize("fault", list(UNSOUND)[::6])
def test_a_stage_that_returns_an_invalid_batch_is_named(fault):
    """The same holds for a training stage and a format, whatever stages come before and after."""
    batch = UNSOUND[fault]

    class Gives(Stage):
        """Return the invalid batch."""

        name = "gives"

        def fit(self, rows, schema):
            return FittedGives(getattr(batch, "schema", SCHEMA), batch)

    class Arranges(TrainingStage):
        """Return the invalid batch as training rows."""

        name = "gives"

        def arrange(self, rows):
            yield batch

    fitted = Chain([Gives()]).fit(BATCH)
    with pytest.raises(PluginError) as caught:
        fitted.transform(BATCH)
    assert str(caught.value).startswith(f"gives: {fault}") and "\n" not in str(caught.value)
    with pytest.raises(PluginError) as caught:
        Chain([*filterkit.chain("impute").stages, Gives(), *filterkit.chain("l2").stages]).fit_transform(BATCH)
    assert str(caught.value).startswith(f"gives: {fault}")
    with pytest.raises(FilterkitError) as caught:
        Chain([Arranges()]).fit_transform(empty(getattr(batch, "schema", SCHEMA)))
    assert str(caught.value).startswith(f"gives: {fault}")
    with pytest.raises(FilterkitError) as caught:
        Reader(Format("Odd", (".odd",), lambda *_: [batch]), "a.odd")
    assert fault in str(caught.value) and str(caught.value).startswith("a.odd: Odd: ")
    refusal = (
        r"^the batch does not fit its schema: " if isinstance(batch, Batch) else "^expected a batch or a data frame"
    )
    with pytest.raises(FilterkitError, match=refusal):
        Chain([]).fit(batch if isinstance(batch, Batch) else [batch])
    if isinstance(batch, Batch):
        with pytest.raises(FilterkitError, match=r"^the batch does not fit its schema: "):
            filterkit.chain("l2").fit(BATCH).transform(batch)


class FittedGives(Fitted):
    def __init__(self, schema, batch):
        self.schema, self.batch = schema, batch

    def transform(self, batch):
        return self.batch


class Columns(ColumnStage):
    """A valid column stage, one method of which the tests replace."""

    name = "columns"
    needs_class = False

    def fit_columns(self, table):
        return {"one": np.ones(len(table))}

    def apply(self, values, columns, state):
        return values * state["one"][columns]


def of_columns(**methods):
    return type("Broken", (Columns,), {"__doc__": "Break.", **methods})()


def of_rows(**methods):
    return type("Broken", (RowStage,), {"__doc__": "Break.", "name": "rows", **methods})()


class Good:
    """A model."""

    threshold = 0.0

    def scores(self, X):
        return np.zeros((X.shape[0], 1))

    def get_state(self):
        return {}


class Learns(Learner):
    """A learner whose model is given by the tests."""

    name = "learns"

    def __init__(self, model):
        self._model = model
        super().__init__()

    def learn(self, training):
        return self._model


def of_model(found):
    return Learns(type("Broken", (Good,), {"scores": lambda self, X: found(X.shape[0])})())


def of_metric(score, **options):
    return metric_stage(Metric("metric", score, **options))()


STAGES = [
    ("rows: transform gives None; return a Batch", of_rows(transform=gives(None))),
    ("rows: transform gives an ndarray", of_rows(transform=lambda self, batch: batch.X)),
    ("rows: the schema of what fit gives is None", of_rows(output=gives(None))),
    ("rows: transform gives 1 rows for 7", of_rows(transform=lambda self, batch: batch.rows(0, 1))),
    ("rows: fit gives None; return a Fitted", of_rows(fit=gives(None))),
    ("rows: fit gives a Schema; return a Fitted", of_rows(fit=lambda self, rows, schema: schema)),
    ("rows: the schema of what fit gives is None", of_rows(fit=gives(Fitted()))),
    (
        "rows: a weight is negative or not finite; make each a number of at least 0",
        of_rows(transform=lambda self, batch: batch.replace(weights=np.full(len(batch), np.nan))),
    ),
    ("rows: X is sparse, but its schema says", of_rows(transform=lambda self, batch: batch.in_form(True))),
    (
        "rows: X has 2 columns, but the schema 3 features",
        of_rows(transform=lambda self, batch: batch.replace(X=batch.X[:, 1:])),
    ),
    ("columns: fit_columns gives None; return a dict", of_columns(fit_columns=gives(None))),
    (
        "columns: the 'one' of fit_columns has 1 entries for 3 columns",
        of_columns(fit_columns=gives({"one": np.ones(1)})),
    ),
    (
        "columns: the 'one' of fit_columns is a float; make it an array",
        of_columns(fit_columns=gives({"one": 1.0})),
    ),
    (
        "columns: the 'one' of fit_columns is an ndarray; make it an array",
        of_columns(fit_columns=gives({"one": np.array(1.0)})),
    ),
    ("columns: apply gives None; return an array", of_columns(apply=gives(None))),
    (
        "columns: apply gives an array of shape (3,); expected (21,)",
        of_columns(apply=lambda self, values, columns, state: state["one"]),
    ),
    (
        "columns: apply gives int64; make it float64",
        of_columns(apply=lambda self, values, columns, state: np.where(values > 0, 1, 0)),
    ),
    ("columns: output gives None; return a Schema", of_columns(output=gives(None))),
    (
        "columns: output_columns gives a list; return an array of column numbers",
        of_columns(output_columns=gives([0])),
    ),
    (
        "columns: output_columns gives an ndarray; return an array of column numbers",
        of_columns(output_columns=gives(np.zeros(1))),
    ),
    (
        "columns: output_columns must give ascending numbers of the 3 columns",
        of_columns(output_columns=gives(np.array([0, 1, 3]))),
    ),
    (
        "columns: output_columns must give ascending numbers",
        of_columns(output_columns=gives(np.array([0, 2, 1]))),
    ),
    (
        "columns: output_attributes gives 1 attributes for 2 columns",
        of_columns(
            output_columns=gives(np.array([0, 1])),
            output_attributes=lambda self, schema, state, columns, totals: [schema.features[0]],
        ),
    ),
    (
        "columns: output_attributes gives None; return a list",
        of_columns(
            output_columns=gives(np.array([0, 1])),
            output_attributes=gives(None),
        ),
    ),
    (
        "columns: output_nominal gives an ndarray; return an array of bool, one for each of 3 columns",
        of_columns(output_nominal=gives(np.zeros(1, bool))),
    ),
    ("learns: learn gives None, which has no scores and no threshold and no get_state; return a model", Learns(None)),
    ("learns: scores gives None; return an array", of_model(gives(None))),
    ("learns: scores gives an array of shape (7,); expected (7, 1)", of_model(lambda rows: np.zeros(rows))),
    ("learns: scores gives float32", of_model(lambda rows: np.zeros((rows, 1), np.float32))),
    ("metric: the metric gives None; return an array", of_metric(gives(None))),
    ("metric: the metric gives a list", of_metric(lambda tp, fp, pos, neg: tp.tolist())),
    ("metric: the metric gives an array of shape (1,); expected (", of_metric(lambda tp, fp, pos, neg: tp[:1])),
    ("metric: the metric gives bool; make it float64", of_metric(lambda tp, fp, pos, neg: tp > fp)),
    (
        "metric: by_table of the metric gives int64",
        of_metric(lambda tp, fp, pos, neg: tp, by_table=lambda table: table.columns),
    ),
    (
        "metric: by_column of the metric gives int64",
        of_metric(lambda tp, fp, pos, neg: tp, by_column=lambda columns, seed: columns),
    ),
]


@pytest.mark.parametrize(("fault", "stage"), STAGES, ids=[fault for fault, _ in STAGES])
def test_a_stage_that_breaks_its_contract_is_named(fault, stage):
    """Attributes are made when they are asked for, so an error in them may come only then."""
    data = sample("dense-two-classes")
    with pytest.raises(PluginError, match="^" + re.escape(fault)) as caught:
        list(Chain([*filterkit.chain("l1").stages, stage]).fit(data).transform(data).schema.attributes)
    assert "\n" not in str(caught.value)
    with pytest.raises(PluginError, match="^" + re.escape(fault).replace("7", r"\d").replace("21", r"\d+")):
        list(Chain([stage]).fit_transform([data.rows(0, 3), data.rows(3, 7)])[1].schema.attributes)


def test_classes_of_a_metric_are_checked():
    data = sample("dense-three-classes")
    for classes, fault in ((lambda counts, totals: counts, r"\(\d+, 3\)"), (lambda counts, totals: None, "None")):
        stage = of_metric(lambda tp, fp, pos, neg: tp, classes=classes)
        with pytest.raises(PluginError, match="^metric: classes of the metric gives .*" + fault):
            Chain([stage]).fit(data)


def test_settings_of_folds_are_checked():
    class Chooses(Columns):
        """Return invalid settings."""

        needs_class = True

        def folds(self):
            return 2

        def choose_columns(self, folds):
            return {"one": np.ones(1)}

    with pytest.raises(PluginError, match="columns: the 'one' of fit_columns has 1 entries for 3 columns"):
        Chain([Chooses()]).fit(sample("dense-two-classes"))


def test_the_result_of_arrange_is_checked():
    class Arranges(TrainingStage):
        """Return nothing."""

        name = "arranges"

        def arrange(self, rows):
            return None

    with pytest.raises(PluginError, match="arranges: arrange gives None; yield batches"):
        Chain([Arranges()]).fit_transform(sample("dense-two-classes"))


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        (None, "Odd: read gives None; yield batches"),
        (BATCH, "Odd: read gives a Batch; yield batches"),
        (
            [BATCH, sample("no-class")],
            "Odd: a batch has the wrong schema: attribute 2 is 'b'; expected 'n'",
        ),
        ([BATCH, None], "Odd: expected a Batch, found None"),
        ([], "read yields no batches; yield at least one, even without rows, because it declares the attributes"),
    ],
)
def test_the_batches_that_a_format_reads_are_checked(found, fault):
    with pytest.raises(FilterkitError, match=f"^a.odd: {fault}"):
        list(Reader(Format("Odd", (".odd",), lambda *_: found), "a.odd").batches())


PLUGIN = """
import filterkit
import numpy as np


class Wide(filterkit.RowStage):
    '''Add a column, and say nothing of it.'''

    name = "wide"

    def transform(self, batch):
        return batch.replace(X=np.hstack([batch.X, batch.X[:, :1]]))



@filterkit.hookimpl
def filterkit_stages():
    return [Wide]


@filterkit.hookimpl
def filterkit_formats():
    return [filterkit.Format("Odd", (".odd",), lambda path, class_, positive: None)]
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.odd", "l2"], "a.odd: Odd: read gives None; yield batches"),
        (["wide"], "wide: X has 5 columns, but the schema 4 features; the schema must describe the output"),
    ],
)
def test_the_command_names_what_breaks_and_its_plugin(words, message, tmp_path):
    (tmp_path / "my.py").write_text(PLUGIN)
    done = run("--plugin", "my.py", *words[:-1], *([] if "a.odd" in words else [IRIS]), words[-1], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, f"filterkit: {message} (plugin my of my.py)\n")


def fails(*_, **__):
    return [][0]


@pytest.mark.parametrize(
    "stage",
    [
        of_rows(transform=fails),
        of_rows(transform=lambda self, batch: batch, output=fails),
        type("Broken", (Stage,), {"__doc__": "Break.", "name": "rows", "fit": fails})(),
        type("Broken", (TrainingStage,), {"__doc__": "Break.", "name": "rows", "arrange": fails})(),
        of_columns(name="rows", fit_columns=fails),
        of_columns(name="rows", apply=fails),
        of_columns(name="rows", output_columns=fails),
        type("Broken", (Learner,), {"__doc__": "Break.", "name": "rows", "learn": fails})(),
    ],
    ids=["transform", "output", "fit", "arrange", "fit_columns", "apply", "output_columns", "learn"],
)
def test_an_unexpected_error_keeps_its_type_and_notes_the_stage(stage):
    errors.record_plugin(type(stage), "mine of mine.py")
    data = sample("dense-two-classes")
    with pytest.raises(IndexError) as caught:
        Chain([*filterkit.chain("range").stages, stage]).fit_transform(data)
    assert caught.value.__notes__ == ["in the stage 'rows' (plugin mine of mine.py)"]


def test_what_a_stage_returns_is_checked_if_it_is_confined_to_some_columns():
    members = {"name": "wide", "transform": lambda self, batch: batch.replace(X=np.hstack([batch.X, batch.X]))}
    wide = type("Wide", (SelectiveStage, RowStage), {"__doc__": "Add columns.", **members})
    with pytest.raises(PluginError, match="wide: X has 4 columns, but the schema 2 features; the schema must"):
        Chain([wide(except_=("1",))]).fit_transform(sample("dense-two-classes"))


def test_the_command_names_the_stage_of_an_unexpected_error(tmp_path):
    text = PLUGIN.replace('name = "wide"', 'name = "crash"').replace("np.hstack([batch.X, batch.X[:, :1]])", "[][0]")
    (tmp_path / "my.py").write_text(text)
    for options in ([], ["--engine", "processes", "--jobs", "2"]):
        done = run("--plugin", "my.py", *options, IRIS, "crash", cwd=tmp_path)
        message = "unexpected IndexError in the stage 'crash' (plugin my of my.py, line 12): list index out of range"
        assert (done.returncode, done.stderr) == (1, f"filterkit: {message} (--debug shows where)\n")


def test_weights_that_were_unsound_before_are_not_the_fault_of_a_stage():
    data = sample("dense-two-classes").replace(weights=np.full(7, np.nan))
    halve = of_rows(transform=lambda self, batch: batch.replace(weights=batch.weights / 2))
    assert np.isnan(Chain([halve]).fit(data).transform(data).weights).all()


def test_a_schema_that_cannot_be_made_names_the_stage():
    twice = of_rows(output=lambda self, schema: schema.with_more([Attribute("new"), Attribute("new")]))
    with pytest.raises(StageError, match=r"^rows: two attributes are named 'new'$"):
        Chain([twice]).fit(sample("dense-two-classes"))


def test_an_x_in_another_order_is_copied_to_c_order_wherever_batches_come_in():
    schema = Schema("r", [Attribute("a"), Attribute("b")])
    columns = Batch(schema, np.asfortranarray([[1.0, 2], [3, 4]]))
    stage = filterkit.chain("shuffle").stages[0]
    out = check_out(stage, schema, columns, Batch(schema, np.zeros((2, 2))))
    read = next(check_read(Format("F", (".f",)), iter([columns])))
    arranged = next(check_arranged(stage, lambda: [columns], schema))
    for batch in (out, check_batch(columns), read, arranged):
        assert batch.X.flags.c_contiguous
        assert batch.X.tolist() == [[1, 2], [3, 4]]


def test_zeros_that_are_stored_are_dropped_wherever_batches_come_in():
    schema = Schema("r", [Attribute("a"), Attribute("b")], sparse=True)
    stored = Batch(schema, sp.csr_array((np.array([0.0, 2.0, 0.0]), np.array([0, 1, 1]), np.array([0, 2, 3]))))
    dropped = Batch(schema, sp.csr_array([[0.0, 2.0], [0.0, 0.0]]))
    assert same(check_batch(stored), dropped)
    assert [len(each.csr.data) for each in check_read(Format("F", (".f",)), iter([stored]))] == [1]
    stage = filterkit.chain("shuffle").stages[0]
    assert [len(each.csr.data) for each in check_arranged(stage, lambda: [stored], schema)] == [1]


FAILS = '''
import click
import filterkit
import numpy as np


class Low(filterkit.RowStage):
    """Refuse an option in the wrong way."""

    name = "low"
    low: float = filterkit.option(0.1, "The least.")

    def __post_init__(self):
        super().__post_init__()
        if self.low > 1:
            raise ValueError("too large")

    def transform(self, batch):
        return batch


class Odd(filterkit.plugin.LocalEngine):
    """Fail in a map."""

    name = "odd"

    def map(self, function, items):
        raise KeyError("lost")
        yield


class Kv(filterkit.plugin.FileFormat):
    """A format whose writer fails."""

    name, title, endings = "kv", "Kv", (".kv",)

    def writer(self, schema, precision):
        return [][0]


@click.command("count")
def count():
    """Fail in a function of numpy."""
    np.concatenate([np.ones(2), np.ones((2, 2))])


@filterkit.hookimpl
def filterkit_stages():
    return [Low]


@filterkit.hookimpl
def filterkit_engines():
    return [Odd]


@filterkit.hookimpl
def filterkit_formats():
    return [Kv]


@filterkit.hookimpl
def filterkit_subcommands():
    return [count]
'''


@pytest.mark.parametrize(
    ("words", "kind", "line", "said"),
    [
        ([IRIS, "low", "--low", "2"], "ValueError", "raise ValueError", "too large"),
        (["--engine", "odd", IRIS, "low"], "KeyError", "raise KeyError", "'lost'"),
        (["-o", "out.kv", IRIS], "IndexError", "return [][0]", "list index out of range"),
        (["count"], "ValueError", "np.concatenate", "all the input arrays"),
    ],
)
def test_the_command_names_plugin_and_line_of_any_unexpected_error(words, kind, line, said, tmp_path):
    (tmp_path / "fails.py").write_text(FAILS)
    number = FAILS[: FAILS.index(line)].count("\n") + 1
    done = run("--plugin", "fails.py", *words, cwd=tmp_path)
    begin = f"filterkit: unexpected {kind} in the plugin fails of fails.py, line {number}: {said}"
    assert done.returncode == 1 and done.stderr.startswith(begin)
    assert done.stderr.endswith(" (--debug shows where)\n") and done.stderr.count("\n") == 1


ROOT = """
import filterkit, numpy


class Root(filterkit.RowStage):
    \"\"\"Take square roots.\"\"\"

    name = "root"

    def transform(self, batch):
        return filterkit.plugin.map_numbers(batch, numpy.sqrt)


@filterkit.hookimpl
def filterkit_stages():
    return [Root]
"""


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_a_warning_of_numpy_names_the_stage(tmp_path, engine):
    (tmp_path / "root.py").write_text(ROOT)
    done = run("--plugin", "root.py", "--engine", engine, IRIS, "standardize", "root", "l2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "filterkit: warning: root: invalid value encountered in sqrt\n")
