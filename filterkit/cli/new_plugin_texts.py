"""The files that ``new-plugin`` writes.

In each text, ``{name}``, ``{module}``, ``{title}``, ``{what}``, ``{use}``, ``{distribution}`` and ``{version}`` are
replaced; other braces stay.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of plugin.

    Attributes
    ----------
    what : what messages call it.
    about : what it does, for the help.
    use : the rest of a command that uses it.
    module : the text of the plugin.
    tests : the text of its tests.
    """

    what: str
    about: str
    use: str
    module: str
    tests: str


PYPROJECT = """\
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "filterkit-{name}"
version = "0.1.0"
description = "The {what} {name} for filterkit"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["{distribution}>={version}"]

[project.optional-dependencies]
test = ["pytest"]

[project.entry-points.filterkit]
{name} = "filterkit_{module}"

[tool.setuptools]
py-modules = ["filterkit_{module}"]
"""

README = """\
# filterkit-{name}

The {what} `{name}` for filterkit:

    pip install .
    filterkit {use}

To test it:

    pip install -e '.[test]'
    pytest
    filterkit check-plugin {name}
"""

_ROW = '''\
"""The stage {name}."""

import filterkit
from filterkit.plugin import map_numbers


# With --only and --except, too: class {title}(filterkit.plugin.SelectiveStage, filterkit.RowStage)
class {title}(filterkit.RowStage):
    """Divide every number by another one; nominal and missing values stay."""

    name = "{name}"

    by: float = filterkit.option(2.0, "What to divide by.", minimum=1e-9)

    def transform(self, batch):
        return map_numbers(batch, lambda values: values / self.by)


@filterkit.hookimpl
def filterkit_stages():
    return [{title}]
'''

_COLUMN = '''\
"""The stage {name}."""

import filterkit
import numpy as np


class {title}(filterkit.ColumnStage):
    """Divide each column by its largest training value, whatever its sign; nominal values stay."""

    name = "{name}"
    needs_class = False
    learns_from = filterkit.plugin.Summary  # the extremes of each column are enough

    to: float = filterkit.option(1.0, "What the largest training value becomes.", minimum=1e-9)

    def fit_columns(self, table):
        low, high = table.extremes()
        largest = np.maximum(abs(low), abs(high))
        largest = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)  # 1 for a column without values
        return {"factor": np.where(table.nominal, 1.0, self.to / largest)}

    def apply(self, values, columns, state):
        return values * state["factor"][columns]


@filterkit.hookimpl
def filterkit_stages():
    return [{title}]
'''

_TRAINING = '''\
"""The stage {name}."""

import filterkit
import numpy as np
from filterkit.plugin import itself


class {title}(filterkit.TrainingStage):
    """Keep one of every few training rows; later rows pass unchanged."""

    name = "{name}"

    every: int = filterkit.option(2, "Keep one training row of so many.", minimum=1)

    def arrange(self, rows):
        before = 0
        for batch in rows.map(itself, last=True):  # rows.map(function) may be called several times, the last as here
            numbers = np.arange(before, before + len(batch))
            yield batch.take(np.flatnonzero(numbers % self.every == 0))
            before += len(batch)


@filterkit.hookimpl
def filterkit_stages():
    return [{title}]
'''

_STAGE = '''\
"""The stage {name}."""

import filterkit
import numpy as np
from filterkit.plugin import map_numbers


class {title}(filterkit.Stage):
    """Divide every number by the largest one of all training rows; nominal and missing values stay."""

    name = "{name}"

    to: float = filterkit.option(1.0, "What the largest number becomes.", minimum=1e-9)

    def fit(self, rows, schema):
        largest = max((largest_of(batch) for batch in rows()), default=0.0)  # each call of rows reads them again
        return Fitted{title}(schema, largest or 1.0, self.to)

    def from_state(self, state, schema):
        return Fitted{title}(schema, float(state["largest"]), self.to)


class Fitted{title}(filterkit.Fitted):
    def __init__(self, schema, largest, to):
        self.schema = schema  # of the batches that come out
        self.largest, self.to = largest, to

    def get_state(self):  # what --save keeps, for from_state
        return {"largest": self.largest}

    def transform(self, batch):
        return map_numbers(batch, lambda values: values / self.largest * self.to)


def largest_of(batch):
    """The largest number of some rows, whatever its sign; 0 without any. Infinite values do not count."""
    X = batch.X[:, ~batch.schema.nominal]
    values = abs(X.data if batch.sparse else X)
    return float(values.max(initial=0.0, where=np.isfinite(values)))


@filterkit.hookimpl
def filterkit_stages():
    return [{title}]
'''

_METRIC = '''\
"""The metric {name}."""

import filterkit
import numpy as np


def {module}(tp, fp, pos, neg):
    """How much more often the rows of one class have the feature than the other rows."""
    return abs(tp / np.maximum(pos, 1e-300) - fp / np.maximum(neg, 1e-300))


@filterkit.hookimpl
def filterkit_metrics():
    return [filterkit.Metric("{name}", {module})]
'''

_FORMAT = '''\
"""The file format {name}: here, a stream of Arrow tables."""

import filterkit
import pyarrow as pa


def read(path, class_, positive):
    table = pa.ipc.open_stream(path).read_all()
    yield filterkit.from_arrow(table, class_=class_, positive=positive, weights="weight")


def write(batches, out):
    writer = None
    for batch in batches:  # at least one
        table = filterkit.to_arrow(batch, weights="weight")
        writer = writer or pa.ipc.new_stream(out, table.schema)
        writer.write_table(table)
    writer.close()


@filterkit.hookimpl
def filterkit_formats():
    return [filterkit.Format("{name}", (".{name}",), read, write)]
'''

_TEXT_FORMAT = '''\
"""The text format {name}: a row on each line, and what the columns are in the first line."""

from urllib.parse import quote, unquote

import filterkit
import pyarrow as pa
from filterkit import plugin

SEPARATORS = {"tab": "\\t", "semicolon": ";", "bar": "|"}
KINDS = ("numeric", "nominal", "string")


class {title}(plugin.FileFormat):
    """Cells with separators between them, and the columns in the first line.

    A column is name:numeric, name:string or name:nominal:LABEL:LABEL, with a * before the name of the class. All texts
    are written as in URLs. A missing value is a question mark.
    """

    name = "{name}"
    title = "{title}"
    endings = (".{name}",)
    losses = ("weights",)
    textual = True  # --encoding and --rejects apply
    rounds = True  # --precision applies

    separator: str = filterkit.option("tab", "What stands between cells.", choices=tuple(SEPARATORS))

    def open(self, opening):
        source = opening.text()
        line, rest = plugin.first_line(source)
        columns = [cell.split(":") for cell in line.split(SEPARATORS[self.separator])]
        if any(len(column) < 2 or column[1] not in KINDS for column in columns):
            raise filterkit.FilterkitError("its first line has something else than columns such as length:numeric")
        attributes, class_ = [], None
        for name, kind, *labels in columns:
            if name.startswith("*"):
                name = class_ = name[1:]
            attributes.append(filterkit.Attribute(unquote(name), kind, tuple(map(unquote, labels))))
        return {title}Table(opening, attributes, source, rest, class_, SEPARATORS[self.separator])

    def writer(self, schema, precision):
        return {title}Writer(schema, precision, SEPARATORS[self.separator])


class {title}Table(plugin.TextTable):
    def __init__(self, opening, attributes, source, rest, class_, separator):
        super().__init__(plugin.relation_of(opening.path), attributes, source, rest, 2, opening.block_size)
        self.rejects, self.separator = opening.rejects, separator
        self.class_, self.classless = class_ and unquote(class_), class_ is None

    def parser(self, schema):
        return Rows(schema, self.rejects, self.separator)


class Rows(plugin.TextParser):
    """Turns whole lines into batches, on all workers."""

    def __init__(self, schema, rejects, separator):
        super().__init__(schema, rejects)
        self.separator = separator

    def parse(self, text):  # whole lines; after any exception filterkit looks for the line at fault
        attributes = self.schema.attributes
        rows = [line.split(self.separator) for line in text.decode().splitlines()]
        wrong = next((row for row in rows if len(row) != len(attributes)), None)
        if wrong is not None:
            raise plugin.RowError(f"it has {len(wrong)} cells, and there are {len(attributes)} columns")
        columns = [column_of(attribute, cells) for attribute, cells in zip(attributes, zip(*rows))]
        return plugin.from_table(pa.table(columns, names=[a.name for a in attributes]), self.schema)


def column_of(attribute, cells):
    known = (None if cell == "?" else cell for cell in cells)
    if attribute.kind == "numeric":
        return pa.array([None if cell is None else float(cell) for cell in known], pa.float64())
    return pa.array([None if cell is None else unquote(cell) for cell in known], pa.string())


class {title}Writer(plugin.Writer):
    advice = "; write ARFF to keep them"  # the weights of rows

    def __init__(self, schema, precision, separator):
        super().__init__(schema)
        self.precision, self.separator = precision, separator
        other = next((a for a in schema.attributes if a.kind not in KINDS), None)
        if other is not None:
            raise filterkit.FilterkitError(f"{title} has no {other.kind} columns, such as {other.name!r}")

    def header(self):
        columns = []
        for place, attribute in enumerate(self.schema.attributes):
            name, *labels = (quote(text, safe="") for text in (attribute.name, *attribute.values))
            mark = "*" if place == self.schema.class_index else ""
            columns.append(mark + ":".join([name, attribute.kind, *labels]))
        return (self.separator.join(columns) + "\\n").encode()

    def converter(self):
        return Lines(self.precision, self.separator)


class Lines:
    """Turns batches into text, on all workers: an object of a class can be pickled, a function in a method cannot."""

    def __init__(self, precision, separator):
        self.precision, self.separator = precision, separator

    def __call__(self, batch):
        table = plugin.to_table(batch)  # a column for each attribute, with null where a value is missing
        columns = [map(self.cell, column.to_pylist()) for column in table.columns]
        return [(self.separator.join(cells) + "\\n").encode() for cells in zip(*columns)]

    def cell(self, value):
        if value is None:
            return "?"
        return quote(value, safe="") if isinstance(value, str) else plugin.format_number(value, self.precision)


@filterkit.hookimpl
def filterkit_formats():
    return [{title}]
'''

_SUBCOMMAND = '''\
"""The subcommand {name}."""

import click
import filterkit


@click.command("{name}")
@click.argument("path")
@click.option("--class", "class_", help="The class attribute.")
def {module}(path, class_):
    """Count the rows of each class."""
    data = filterkit.read(path, class_=class_)
    target = data.schema.class_attribute
    if target is None or target.kind != "nominal":
        raise filterkit.FilterkitError(f"{path}: there is no nominal class; name one with --class")
    labels = data.labels().tolist()
    for label in target.values:
        click.echo(f"{label} {labels.count(label)}")


@filterkit.hookimpl
def filterkit_subcommands():
    return [{module}]
'''

_ENGINE = '''\
"""The engine {name}."""

import sys
import time

import filterkit
from filterkit.plugin import PAUSE


class {title}(filterkit.plugin.Engine):
    """Do one thing after the other, whatever --jobs says; as {name}:times, say how long each pass takes."""

    name = "{name}"

    def __init__(self, jobs, options=""):  # what follows the colon in --engine {name}:OPTIONS
        if options not in ("", "times"):
            raise filterkit.UsageError(f"--engine: {name} has the option times, and {options!r} is given")
        super().__init__(1)
        self.times = options == "times"

    def map(self, function, items):  # yields the result of each item in order, and PAUSE for PAUSE
        count, spent = 0, 0.0
        for item in items:
            begin = time.perf_counter()
            result = PAUSE if item is PAUSE else function(item)
            count, spent = count + 1, spent + time.perf_counter() - begin
            yield result
        if self.times:
            print(f"{count} items took {spent:.3f} s", file=sys.stderr)


@filterkit.hookimpl
def filterkit_engines():
    return [{title}]
'''

_LEARNER = '''\
"""The learner {name}."""

import filterkit


class {title}(filterkit.Learner):
    """Predict the class whose training rows' mean is nearest."""

    name = "{name}"

    def learn(self, training):
        own = training.truth / training.truth.sum(axis=0).clip(1)  # (rows, tasks)
        other = ~training.truth / (~training.truth).sum(axis=0).clip(1)
        near, far = training.X.T @ own, training.X.T @ other
        return filterkit.plugin.LinearModel(2 * (near - far), (far**2 - near**2).sum(axis=0))


@filterkit.hookimpl
def filterkit_stages():
    return [{title}]
'''

_STAGE_TESTS = '''\
"""The {what} {name}: numbers by hand, and the conformance kit of filterkit."""

import filterkit
import pytest
from filterkit.testing import SAMPLES, check_declaration, check_stage, sample
from filterkit_{module} import {title}


BY_HAND
def test_declaration():
    check_declaration({title}())


@pytest.mark.parametrize("name", SAMPLES)
def test_conformance(name):
    refusal = check_stage({title}(), sample(name))
    if refusal:
        pytest.skip(str(refusal))
'''

_ROW_BY_HAND = """\
def test_by_hand():
    data = sample("dense-two-classes")
    out = filterkit.Chain([{title}(by=4.0)]).fit(data).transform(data)
    assert out.X.tolist() == (data.X / 4).tolist()


"""

_COLUMN_BY_HAND = """\
def test_by_hand():
    data = sample("dense-two-classes")  # the largest values are 7, 2.5 and 3
    out = filterkit.Chain([{title}(to=10.0)]).fit(data).transform(data)
    assert abs(out.X).max(axis=0).tolist() == pytest.approx([10, 10, 10])


"""

_TRAINING_BY_HAND = """\
def test_by_hand():
    data = sample("dense-two-classes")
    _, out = filterkit.Chain([{title}(every=3)]).fit_transform(data)
    assert out.X.tolist() == data.X[::3].tolist()


"""

_GENERAL_BY_HAND = """\
def test_by_hand():
    data = sample("dense-two-classes")  # the largest value is 7
    out = filterkit.Chain([{title}(to=10.0)]).fit(data).transform(data)
    assert out.X.ravel().tolist() == pytest.approx((data.X / 7 * 10).ravel().tolist())


"""

_LEARNER_BY_HAND = """\
def test_by_hand():
    data = sample("dense-two-classes")
    fitted = filterkit.Chain([{title}()]).fit(data)
    out = fitted.transform(data)
    assert [a.name for a in out.schema.features][-2:] == ["prediction", "score@yes"]
    assert out.X[-2:, -2].tolist() == [1, 0]  # 7,2.5,3 is nearer to the class yes, 1,-0.5,3 to no


"""

_METRIC_TESTS = '''\
"""The metric {name}: numbers by hand, and the conformance kit of filterkit."""

import filterkit
import numpy as np
import pytest
from filterkit.testing import SAMPLES, check_declaration, check_stage, sample
from filterkit_{module} import {module}


def stage():
    """The stage that the metric becomes, once this package is installed."""
    return filterkit.chain("{name}").stages[0]


def test_by_hand():
    assert {module}(np.array([3.0, 0.0]), np.array([1.0, 5.0]), 4.0, 5.0).tolist() == pytest.approx([0.55, 1.0])


def test_declaration():
    check_declaration(stage())


@pytest.mark.parametrize("name", SAMPLES)
def test_conformance(name):
    refusal = check_stage(stage(), sample(name))
    if refusal:
        pytest.skip(str(refusal))
'''

_FORMAT_TESTS = '''\
"""The file format {name}: the conformance kit of filterkit."""

import pytest
from filterkit.testing import FORMAT_CHECKS, SAMPLES, sample
from filterkit_{module} import filterkit_formats


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("check", FORMAT_CHECKS, ids=lambda check: check.__name__)
def test_conformance(check, name):
    (form,) = filterkit_formats()
    check(form, sample(name))
'''

_TEXT_FORMAT_TESTS = '''\
"""The text format {name}: a file by hand, and the conformance kit of filterkit."""

import filterkit
import pytest
from filterkit.testing import FORMAT_CHECKS, SAMPLES, sample
from filterkit_{module} import {title}


def test_by_hand(tmp_path):
    path = str(tmp_path / "some.{name}")
    filterkit.write(sample("dense-two-classes"), path, format="{name}:separator=semicolon")
    with open(path) as file:
        first, second, *_ = file.read().splitlines()
    assert first.endswith(";*class:nominal:no:yes")
    assert second.count(";") == 3
    assert filterkit.read(path, format="{name}:separator=semicolon").schema.class_attribute.name == "class"


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("check", FORMAT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("separator", ["tab", "bar"])
def test_conformance(check, name, separator):
    check({title}(separator=separator), sample(name))
'''

_SUBCOMMAND_TESTS = '''\
"""The subcommand {name}: a run by hand, and the conformance kit of filterkit."""

import filterkit
import pytest
from filterkit.testing import SUBCOMMAND_CHECKS, check_command_runs, sample
from filterkit_{module} import {module}


def test_by_hand(tmp_path):
    path = str(tmp_path / "some.arff")
    filterkit.write(sample("dense-two-classes"), path)
    assert check_command_runs({module}, [path]) == "no 4\\nyes 3\\n"


@pytest.mark.parametrize("check", SUBCOMMAND_CHECKS, ids=lambda check: check.__name__)
def test_conformance(check):
    check({module})
'''

_ENGINE_TESTS = '''\
"""The engine {name}: its option, and the conformance kit of filterkit."""

import pytest
from filterkit import UsageError
from filterkit.testing import ENGINE_CHECKS
from filterkit_{module} import {title}


def test_the_option():
    assert {title}(4, "times").times and not {title}(4).times
    with pytest.raises(UsageError, match="has the option times, and 'tims' is given"):
        {title}(4, "tims")


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
def test_conformance(check):
    check({title})
'''

KINDS = {
    "row": Kind(
        "stage",
        "a stage that maps rows",
        "in.arff {name} --by 10 > out.arff",
        _ROW,
        _STAGE_TESTS.replace("BY_HAND\n", _ROW_BY_HAND),
    ),
    "column": Kind(
        "stage",
        "a stage that learns from each column",
        "in.arff {name} --to 100 > out.arff",
        _COLUMN,
        _STAGE_TESTS.replace("BY_HAND\n", _COLUMN_BY_HAND),
    ),
    "training": Kind(
        "stage",
        "a stage that chooses or orders training rows",
        "in.arff {name} --every 10 > out.arff",
        _TRAINING,
        _STAGE_TESTS.replace("BY_HAND\n", _TRAINING_BY_HAND),
    ),
    "stage": Kind(
        "stage",
        "any other stage, which reads the training rows",
        "in.arff {name} --to 100 > out.arff",
        _STAGE,
        _STAGE_TESTS.replace("BY_HAND\n", _GENERAL_BY_HAND),
    ),
    "learner": Kind(
        "learner",
        "a stage that predicts the class",
        "evaluate in.arff --chain {name}",
        _LEARNER,
        _STAGE_TESTS.replace("BY_HAND\n", _LEARNER_BY_HAND),
    ),
    "metric": Kind(
        "metric",
        "a metric, for select --by and scores",
        "in.arff select --by {name} --top 10 > out.arff",
        _METRIC,
        _METRIC_TESTS,
    ),
    "format": Kind(
        "file format",
        "a file format of two functions",
        "-o out.{name} in.arff",
        _FORMAT,
        _FORMAT_TESTS,
    ),
    "text-format": Kind(
        "file format",
        "a file format in lines, with an option",
        "--to {name}:separator=semicolon in.arff > out.{name}",
        _TEXT_FORMAT,
        _TEXT_FORMAT_TESTS,
    ),
    "subcommand": Kind(
        "subcommand",
        "a subcommand",
        "{name} in.arff",
        _SUBCOMMAND,
        _SUBCOMMAND_TESTS,
    ),
    "engine": Kind(
        "engine",
        "an engine, which runs the work",
        "--engine {name}:times in.arff STAGE > out.arff",
        _ENGINE,
        _ENGINE_TESTS,
    ),
}
