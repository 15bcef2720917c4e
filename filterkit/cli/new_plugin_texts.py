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
    use : the rest of a command that uses it.
    module : the text of the plugin.
    tests : the text of its tests.
    """

    what: str
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
import numpy as np


class {title}(filterkit.RowStage):
    """Divide every value by a number; nominal values stay."""

    name = "{name}"

    by: float = filterkit.option(2.0, "What to divide by.", minimum=1e-9)

    def transform(self, batch):
        X, nominal = batch.X.copy(), batch.schema.nominal
        values, nominal = (X.data, nominal[X.indices]) if batch.sparse else (X, nominal)
        values[...] = np.where(nominal, values, values / self.by)
        return batch.replace(X=X)


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

import filterkit
from filterkit.plugin import PAUSE


class {title}(filterkit.plugin.LocalEngine):
    """Do one thing after the other, whatever --jobs says."""

    name = "{name}"

    def __init__(self, jobs):
        super().__init__(1)

    def map(self, function, items):
        for item in items:
            yield PAUSE if item is PAUSE else function(item)


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
"""The engine {name}: the conformance kit of filterkit."""

import pytest
from filterkit.testing import ENGINE_CHECKS
from filterkit_{module} import {title}


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
def test_conformance(check):
    check({title})
'''

KINDS = {
    "row": Kind(
        "stage",
        "in.arff {name} --by 10 > out.arff",
        _ROW,
        _STAGE_TESTS.replace("BY_HAND\n", _ROW_BY_HAND),
    ),
    "column": Kind(
        "stage",
        "in.arff {name} --to 100 > out.arff",
        _COLUMN,
        _STAGE_TESTS.replace("BY_HAND\n", _COLUMN_BY_HAND),
    ),
    "metric": Kind("metric", "in.arff select --by {name} --top 10 > out.arff", _METRIC, _METRIC_TESTS),
    "format": Kind("file format", "-o out.{name} in.arff", _FORMAT, _FORMAT_TESTS),
    "subcommand": Kind("subcommand", "{name} in.arff", _SUBCOMMAND, _SUBCOMMAND_TESTS),
    "engine": Kind("engine", "--engine {name} in.arff STAGE > out.arff", _ENGINE, _ENGINE_TESTS),
    "learner": Kind(
        "learner",
        "evaluate in.arff --chain {name}",
        _LEARNER,
        _STAGE_TESTS.replace("BY_HAND\n", _LEARNER_BY_HAND),
    ),
}
