"""The subcommand ``new-plugin``."""

from __future__ import annotations

import keyword
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click

from filterkit._version import DISTRIBUTION, __version__
from filterkit.cli.declared import SETTINGS
from filterkit.errors import FilterkitError, UsageError, make_file_error
from filterkit.plugin.registry import Registry


class PluginKind(NamedTuple):
    """A kind of plugin that ``new-plugin`` can write. Each has a template of its module and of its tests.

    Attributes
    ----------
    about : a few words for the help.
    use : the words after ``filterkit`` in an example, with ``{name}`` for the plugin's name.
    what : what messages call such a plugin.
    group : its group of entry points, without ``filterkit.``.
    """

    about: str
    use: str
    what: str = "stage"
    group: str = "stages"


KINDS = {
    "row": PluginKind("a stage that maps rows", "in.arff {name} --by 10 > out.arff"),
    "column": PluginKind("a stage that learns from each column", "in.arff {name} --to 100 > out.arff"),
    "training": PluginKind("a stage that chooses or orders training rows", "in.arff {name} --every 10 > out.arff"),
    "stage": PluginKind("any other stage, which reads the training rows", "in.arff {name} --to 100 > out.arff"),
    "learner": PluginKind("a stage that predicts the class", "evaluate in.arff --chain {name}", "learner"),
    "metric": PluginKind(
        "a metric, for select --by and scores", "in.arff select --by {name} --top 10 > out.arff", "metric", "metrics"
    ),
    "format": PluginKind("a file format of two functions", "-o out.{name} in.arff", "file format", "formats"),
    "text-format": PluginKind(
        "a file format in lines, with an option",
        "--to {name}:separator=semicolon in.arff > out.{name}",
        "file format",
        "formats",
    ),
    "subcommand": PluginKind("a subcommand", "{name} in.arff", "subcommand", "subcommands"),
    "engine": PluginKind(
        "an engine, which runs the work", "--engine {name}:times in.arff STAGE > out.arff", "engine", "engines"
    ),
}

_HELP = """Write a project with a plugin of your own.

The project is the folder filterkit-NAME: an example that works, of the kind that --kind says, with tests, a
pyproject.toml, a licence and a workflow for GitHub. It can be installed, tested and published as it is; change it into
what you need. With several kinds, each plugin is called NAME-KIND. With --file, only the file NAME.py is written.

\b
Kinds:
""" + "\n".join(f"  {name:<12} {kind.about}" for name, kind in KINDS.items())


@click.command("new-plugin", context_settings=SETTINGS, help=_HELP)
@click.argument("name")
@click.option(
    *("--kind", "kinds"),
    type=click.Choice(list(KINDS)),
    multiple=True,
    default=("row",),
    show_default=True,
    help="What the plugin is. Repeatable.",
)
@click.option("--file", "as_file", is_flag=True, help="Write one Python file, for --plugin, instead of a project.")
@click.pass_obj
def write_new_plugin(known: Registry, name: str, kinds: tuple[str, ...], as_file: bool) -> None:
    """Write a project with a plugin of each of `kinds`, keys of `KINDS`; if `as_file`, write one file instead.

    Raise UsageError if a plugin cannot have its name, or FilterkitError if the project or file exists already.
    """
    kinds = tuple(dict.fromkeys(kinds))
    if as_file and len(kinds) > 1:
        raise UsageError("new-plugin: --file writes a plugin of one kind; give --kind once, or leave out --file")
    plugins = {kind: name if len(kinds) == 1 else f"{name}-{kind}" for kind in kinds}
    for kind, each in plugins.items():
        _check_plugin_name(known, each, KINDS[kind].what)
    path = f"{name.replace('-', '_')}.py" if as_file else f"filterkit-{name}"
    if os.path.lexists(path):
        raise FilterkitError(f"{path} exists already; choose another name, or remove it")
    if as_file:
        _write_plugin_file(path, kinds[0], name)
        return
    _write_new_folder(path, dict(_make_project_files(name, plugins)))
    click.echo(f"{path}: change filterkit_*.py, then run: pip install -e '{path}[test]' && pytest {path}")


def _check_plugin_name(known: Registry, name: str, kind: str) -> None:
    """Raise UsageError if a plugin cannot have this name: it is malformed, a keyword of Python, or used already.

    `kind` is the `PluginKind.what` of the plugin, such as "file format".
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(
            f"new-plugin: the name of a {kind} must be of lower-case letters, digits and single hyphens, not {name!r}"
        )
    if keyword.iskeyword(name):
        raise UsageError(f"new-plugin: {name!r} is a keyword of Python; choose another name")
    others: dict[str, Mapping[str, object]] = {
        "file format": known.formats,
        "engine": known.engines,
        "subcommand": known.subcommands,
    }
    taken = others.get(kind, known.stages)
    if name in taken or (kind == "file format" and f".{name}" in taken):
        raise UsageError(f"new-plugin: another {kind} is called '{name}'; choose another name")


def _make_project_files(name: str, plugins: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of a project.

    `name` is the name of the project, and `plugins` has the names of its plugins by key of `KINDS`.
    """
    import datetime

    points: dict[str, list[str]] = {}
    modules, uses, called = [], [], []
    for kind, plugin in plugins.items():
        _, use, what, group = KINDS[kind]
        values = _make_template_values(plugin) | {"what": what}
        module = f"filterkit_{values['module']}"
        yield f"{module}.py", _fill_template(f"{kind}.py", values)
        yield f"tests/test_{values['module']}.py", _fill_template(f"test_{kind}.py", values)
        for point in (plugin, f'".{plugin}"')[: 1 + (group == "formats")]:
            points.setdefault(group, []).append(f'{point} = "{module}"\n')
        modules.append(f'"{module}"')
        uses.append(f"    filterkit {use.replace('{name}', plugin)}")
        called.append(f"the {what} {plugin}")
    about = " and ".join(called)
    values = {
        "name": name,
        "description": about[0].upper() + about[1:],
        "points": "\n".join(
            f'[project.entry-points."filterkit.{group}"]\n{"".join(of)}' for group, of in points.items()
        ),
        "modules": ", ".join(modules),
        "uses": "\n".join(uses),
        "year": str(datetime.date.today().year),
        "distribution": DISTRIBUTION,
        "version": __version__,
    }
    for path in ("pyproject.toml", "README.md", "LICENSE"):
        yield path, _fill_template(path, values)
    yield os.path.join(".github", "workflows", "tests.yml"), _fill_template("tests.yml", values)


def _make_template_values(plugin_name: str) -> dict[str, str]:
    """Return the values for a template: ``name``, ``module`` (name with underscores) and ``title`` (in CamelCase)."""
    title = "".join(part.capitalize() for part in plugin_name.split("-"))
    return {"name": plugin_name, "module": plugin_name.replace("-", "_"), "title": title}


def _fill_template(template_name: str, values: Mapping[str, str]) -> str:
    """Return the text of a template in which each name of `values`, in braces, is replaced by its value."""
    from importlib.resources import files

    text = files("filterkit.cli.subcommands").joinpath("templates", f"{template_name}.txt").read_text("utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def _write_new_folder(folder: str, text_by_path: dict[str, str]) -> None:
    """Write files, by path in the folder, into a new folder, which appears under its name when it is complete.

    Raise FilterkitError if a file cannot be written.
    """
    unfinished = f".{folder}.{os.urandom(6).hex()}"  # until it is complete
    try:
        for path, text in text_by_path.items():
            file = Path(unfinished, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        os.rename(unfinished, folder)
    except OSError as error:
        raise make_file_error(f"{folder}: {error.strerror}", error) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # there is nothing left if it was renamed


def _write_plugin_file(path: str, kind: str, name: str) -> None:
    """Write a new Python file with a plugin of one kind, and print how to use it.

    Raise UsageError if the file would hide an installed module of its name, and FilterkitError if it cannot be written.
    """
    from importlib.util import find_spec

    values = _make_template_values(name)
    if find_spec(values["module"]) is not None:
        raise UsageError(f"new-plugin: {path} would hide the Python module {values['module']!r}; choose another name")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(_fill_template(f"{kind}.py", values))
    except OSError as error:
        raise make_file_error(f"{path}: {error.strerror}", error) from None
    click.echo(f"{path}: change it, then run: filterkit check-plugin {path}")
    click.echo(f"to use it: filterkit --plugin {path} {KINDS[kind].use.replace('{name}', name)}")
