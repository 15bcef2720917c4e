"""The subcommand ``new-plugin``."""

from __future__ import annotations

import os
import re
import shutil

import click

from filterkit._version import DISTRIBUTION, __version__
from filterkit.cli.options import SETTINGS
from filterkit.errors import FilterkitError, UsageError, file_error
from filterkit.plugin.registry import Registry

_FILES = {
    "pyproject.toml": """\
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "filterkit-{name}"
version = "0.1.0"
description = "The stage {name} for filterkit"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["{distribution}>={version}"]

[project.optional-dependencies]
test = ["pytest"]

[project.entry-points.filterkit]
{name} = "filterkit_{module}"

[tool.setuptools]
py-modules = ["filterkit_{module}"]
""",
    "filterkit_{module}.py": """\
\"\"\"The stage {name}.\"\"\"

import filterkit
import numpy as np


class {title}(filterkit.RowStage):
    \"\"\"Divide every value by a number; nominal values stay.\"\"\"

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
""",
    "tests/test_{module}.py": """\
\"\"\"The stage {name}: numbers by hand, and the conformance kit of filterkit.\"\"\"

import filterkit
import pytest
from filterkit.testing import SAMPLES, check_declaration, check_stage, sample
from filterkit_{module} import {title}


def test_by_hand():
    data = sample("dense-two-classes")
    out = filterkit.Chain([{title}(by=4.0)]).fit(data).transform(data)
    assert out.X.tolist() == (data.X / 4).tolist()


def test_declaration():
    check_declaration({title}())


@pytest.mark.parametrize("name", SAMPLES)
def test_conformance(name):
    refusal = check_stage({title}(), sample(name))
    if refusal:
        pytest.skip(str(refusal))
""",
    "README.md": """\
# filterkit-{name}

The stage `{name}` for filterkit:

    pip install .
    filterkit in.arff {name} --by 10 > out.arff

To test it:

    pip install -e '.[test]'
    pytest
    filterkit check-plugin {name}
""",
}


@click.command("new-plugin", context_settings=SETTINGS)
@click.argument("name")
@click.pass_obj
def new_plugin(known: Registry, name: str) -> None:
    """Write a project with a stage of your own.

    The folder filterkit-NAME holds a stage, its tests and a pyproject.toml. It can be installed and passes its own
    tests as it is.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError("new-plugin takes the name of a stage: lower-case letters, digits and single hyphens")
    if name in known.stages:
        raise UsageError(f"new-plugin: there is a stage '{name}' already; take another name")
    folder, module = f"filterkit-{name}", name.replace("-", "_")
    title = "".join(part.capitalize() for part in name.split("-"))
    values = {"name": name, "module": module, "title": title, "distribution": DISTRIBUTION, "version": __version__}
    if os.path.lexists(folder):
        raise FilterkitError(f"{folder}: File exists")
    aside = f".{folder}.{os.urandom(6).hex()}"  # until it is complete
    try:
        os.makedirs(os.path.join(aside, "tests"))
        for path, text in _FILES.items():
            with open(os.path.join(aside, path.format(**values)), "w", encoding="utf-8") as file:
                file.write(text.format(**values))
        os.rename(aside, folder)
    except OSError as error:
        raise file_error(f"{folder}: {error.strerror}", error) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)  # there is nothing left if it was renamed
    click.echo(f"{folder}: change filterkit_{module}.py, then: pip install -e '{folder}[test]' && pytest {folder}")
