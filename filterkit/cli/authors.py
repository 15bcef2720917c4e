"""The subcommands for those who write plugins: a new package, and the conformance kit."""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections import Counter

import click

from filterkit._version import __version__
from filterkit.errors import FilterkitError, UsageError, file_error, quoted, suggestion, visible
from filterkit.plugin.parsing import parse_stages
from filterkit.plugin.registry import Registry
from filterkit.stages.base import Stage

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
dependencies = ["arff-filterkit>={version}"]

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
from filterkit.testing import CHECKS, SAMPLES, sample
from filterkit_{module} import {title}


def test_by_hand():
    data = sample("dense-two-classes")
    out = filterkit.Chain([{title}(by=4.0)]).fit(data).transform(data)
    assert out.X.tolist() == (data.X / 4).tolist()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SAMPLES)
def test_conformance(check, name):
    check({title}(), sample(name))
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


def new_plugin(known: Registry, words: list[str], debug: bool) -> None:
    """Write a project with one stage, ``filterkit-NAME/``, that can be installed and passes its own tests; the folder
    appears when it is complete."""
    if len(words) != 1 or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", words[0]):
        raise UsageError("new-plugin takes the name of a stage: lower-case letters, digits and single hyphens")
    name = words[0]
    if name in known.stages:
        raise UsageError(f"new-plugin: there is a stage '{name}' already; take another name")
    folder, module = f"filterkit-{name}", name.replace("-", "_")
    title = "".join(part.capitalize() for part in name.split("-"))
    parts = {"name": name, "module": module, "title": title, "version": __version__}
    if os.path.lexists(folder):
        raise FilterkitError(f"{folder}: File exists")
    aside = f".{folder}.{os.urandom(6).hex()}"
    try:
        os.makedirs(os.path.join(aside, "tests"))
        for path, text in _FILES.items():
            with open(os.path.join(aside, path.format(**parts)), "w", encoding="utf-8") as file:
                file.write(text.format(**parts))
        os.rename(aside, folder)
    except OSError as error:
        raise file_error(f"{folder}: {error.strerror}", error) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)  # most often it has been renamed
    click.echo(f"{folder}: change filterkit_{module}.py, then: pip install -e '{folder}[test]' && pytest {folder}")


def check_plugin(known: Registry, words: list[str], debug: bool) -> None:
    """Hold stages against the conformance kit: all of a plugin, a package or a Python file, or one with its options.

    Raises
    ------
    FilterkitError : a check has found something; all findings are printed before.
    """
    from filterkit.testing import CHECKS, SAMPLES, sample

    if not words:
        raise UsageError(
            "check-plugin takes the name of a plugin or package, a Python file, or a stage with its options"
        )
    samples = {name: sample(name) for name in SAMPLES}
    wrong = 0
    for stage in _stages(known, words):
        found: Counter[str] = Counter()
        for check in CHECKS:
            for data in samples.values():
                try:
                    with warnings.catch_warnings(action="ignore"):
                        check(stage, data)
                except Exception as error:  # an assertion, or what the stage breaks with
                    if debug:
                        raise
                    kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
                    found[f"{check.__name__}: {kind}{error}"] += 1
        for text, count in found.items():
            click.echo(visible(f"{stage.name}: {text} ({count} of {len(samples)} samples)"))
        tried = f"{len(CHECKS)} checks on {len(samples)} samples"
        result = f"{len(found)} findings" if found else "all well"
        click.echo(visible(f"{' '.join(stage.words())}: {result} in {tried}"))
        wrong += bool(found)
    if wrong:
        raise FilterkitError(f"check-plugin: {wrong} {'stage does' if wrong == 1 else 'stages do'} not hold")


def _stages(known: Registry, words: list[str]) -> list[Stage]:
    """The stages that the words of `check_plugin` mean."""
    name = words[0]
    if name.endswith(".py"):
        known.add_file(name, "check-plugin")
        found = known.plugins[-1:]
    else:
        found = [each for each in known.plugins if name in (each.name, each.origin.partition(" ")[0])]
        if len(words) > 1 and name in known.stages:
            found = []  # the stage of this name, with its options
    if not found and name not in known.stages:
        hint = suggestion(name, sorted({*known.stages, *(plugin.name for plugin in known.plugins)}))
        raise UsageError(
            f"check-plugin: no plugin, package or stage {quoted(name)}{hint or '; see: filterkit plugins'}"
        )
    if not found:
        return parse_stages(words, known)
    plugins = found
    if len(words) > 1:
        raise UsageError(f"check-plugin: '{words[1]}' after a plugin; options go with a stage")
    stages = []
    for plugin in plugins:
        if plugin.problem:
            raise FilterkitError(f"plugin {plugin}: {plugin.problem}")
        for stage in plugin.stages:
            try:
                stages.append(stage())
            except UsageError as error:
                hint = f"check it by: check-plugin {stage.name} …"
                click.echo(f"{stage.name}: left out, as it needs options ({error}); {hint}")
    return stages
